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
