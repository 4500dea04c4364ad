//! Traces leave the program when a collector is named, and only then.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use crate::{User, example};

const RUN: [&str; 4] = ["--input", r#"{"limit": 3}"#, "--thread", "nobody-elses"];

fn run(user: &User, endpoint: &str) -> std::process::Output {
    user.command(&["run", &example("counter")])
        .args(RUN)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .output()
        .unwrap()
}

#[test]
fn a_run_sends_its_spans_to_the_collector_that_the_environment_names() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let got = std::thread::spawn(move || {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap()];
        reader.read_exact(&mut body).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        reader.get_mut().write_all(answer).unwrap();
        (head, body)
    });
    let done = run(&User::new(), &endpoint);
    assert!(done.status.success());
    let (head, body) = got.join().unwrap();
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    let holds = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    for expected in [
        "run",
        "step",
        "task",
        "attempt",
        "increment",
        "superstep.outcome",
        "done",
    ] {
        assert!(holds(expected), "{expected} was not sent");
    }
    assert!(!holds("limit"), "inputs stay here unless asked for");
}

/// Serves one request on a port of its own, as `answer` says; returns its address and what came.
fn served(
    answer: &'static str,
    content_type: &'static str,
) -> (String, std::thread::JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let got = std::thread::spawn(move || {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap()];
        reader.read_exact(&mut body).unwrap();
        let (length, stream) = (answer.len(), reader.get_mut());
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{answer}"
        )
        .unwrap();
        (head, body)
    });
    (address, got)
}

#[test]
fn a_call_of_a_model_has_the_attributes_of_the_conventions() {
    let (model, asked) = served(
        "data: {\"model\":\"m-0613\",\"choices\":[{\"delta\":{\"content\":\"secret answer\"},\"finish_reason\":\"stop\"}],\
         \"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18}}\n\ndata: [DONE]\n\n",
        "text/event-stream",
    );
    let (endpoint, got) = served("", "text/plain");
    let user = User::new();
    let graph = user.graph(
        "ask.json",
        &serde_json::json!({
            "format": "superstep/1", "name": "Ask", "state": {"answer": {"type": "string"}},
            "nodes": {"ask": {"kind": "model", "config": {"model": "mine::m-1", "prompt": "secret question", "into": "answer"}}},
            "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}]
        }),
    );
    let models = serde_json::json!({"connections": {"mine": {"provider": "openai", "base_url": format!("{model}/v1/")}}});
    let data = user.dir.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("models.json"), models.to_string()).unwrap();
    let done = user
        .command(&["run", &graph, "--input", "{}", "--thread", "talk-7", "--trust"])
        .env(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            format!("{endpoint}/v1/traces"),
        )
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    asked.join().unwrap();
    let (_, body) = got.join().unwrap();
    let holds = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    for expected in [
        "chat m-1",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "openai",
        "gen_ai.request.model",
        "gen_ai.conversation.id",
        "talk-7",
        "gen_ai.response.model",
        "m-0613",
        "gen_ai.response.finish_reasons",
        "gen_ai.response.time_to_first_chunk",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "server.address",
        "server.port",
    ] {
        assert!(holds(expected), "{expected} was not sent");
    }
    assert!(!holds("superstep.gen_ai"), "viewers know the names as they are");
    assert!(!holds("secret"), "what is asked and answered stays here");
}

#[test]
fn a_collector_that_is_gone_costs_a_warning_and_no_result() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let done = run(&User::new(), &format!("http://{gone}"));
    assert!(done.status.success());
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        message.contains("warning: traces were not delivered to") && message.contains(&gone.to_string()),
        "{message}"
    );
    let wrong = run(&User::new(), "collector:4318");
    assert_eq!(wrong.status.code(), Some(1));
    let message = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        message.contains("OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"),
        "{message}"
    );
}
