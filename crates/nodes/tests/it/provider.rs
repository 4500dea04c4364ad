//! The real provider path: genai's client against an OpenAI-compatible server on loopback, over real HTTP.

use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use superstep::{Input, RunConfig, RunError, StreamMode};
use superstep_nodes::Environment;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::support::{build, one_node, run, tokens};

/// What the server does with a request.
#[derive(Clone)]
enum Script {
    /// Streams these pieces and ends properly.
    Say(Vec<&'static str>),
    /// Fails.
    Fail(u16, &'static str),
    /// Streams one piece, then waits until the client goes away.
    Hang(&'static str),
    /// Streams one piece and then breaks the protocol.
    Break(&'static str),
}

struct Server {
    url: String,
    requests: Arc<Mutex<Vec<(String, Json)>>>,
    gone: Option<oneshot::Receiver<()>>,
}

impl Server {
    async fn start(script: Script) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (left, gone) = oneshot::channel();
        let log = requests.clone();
        tokio::spawn(async move {
            let mut left = Some(left);
            while let Ok((mut socket, _)) = listener.accept().await {
                let (head, body) = request(&mut socket).await;
                log.lock().unwrap().push((head, body));
                answer(&mut socket, &script).await;
                if let (Script::Hang(_), Some(left)) = (&script, left.take()) {
                    // Reading ends when the client closes the connection.
                    let mut rest = [0; 64];
                    while matches!(socket.read(&mut rest).await, Ok(n) if n > 0) {}
                    let _ = left.send(());
                }
            }
        });
        Server {
            url,
            requests,
            gone: Some(gone),
        }
    }

    fn environment(&self) -> Environment {
        let url = self.url.clone();
        Environment::default().with_variables(move |name| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "OPENAI_API_KEY" => Some("sk-test".into()),
            _ => None,
        })
    }

    fn request(&self) -> (String, Json) {
        self.requests
            .lock()
            .unwrap()
            .first()
            .cloned()
            .expect("the server was asked")
    }
}

async fn request(socket: &mut TcpStream) -> (String, Json) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase()
                        .strip_prefix("content-length:")
                        .map(|n| n.trim().parse::<usize>().unwrap())
                })
                .unwrap_or(0);
            if body.len() >= length {
                return (head.to_owned(), serde_json::from_str(body).unwrap_or_default());
            }
        }
        let n = socket.read(&mut buffer).await.unwrap();
        assert!(n > 0, "the request is complete");
        bytes.extend_from_slice(&buffer[..n]);
    }
}

fn chunk(content: &str) -> String {
    let event = json!({"id": "c1", "object": "chat.completion.chunk", "model": "test",
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": null}]});
    format!("data: {event}\n\n")
}

async fn answer(socket: &mut TcpStream, script: &Script) {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let text = match script {
        Script::Say(pieces) => {
            let last = json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            let usage = json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15}});
            let pieces: String = pieces.iter().map(|piece| chunk(piece)).collect();
            format!("{HEAD}{pieces}data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
        }
        Script::Fail(status, body) => format!(
            "HTTP/1.1 {status} No\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
        Script::Hang(piece) => format!("{HEAD}{}", chunk(piece)),
        Script::Break(piece) => format!("{HEAD}{}data: {{not json\n\n", chunk(piece)),
    };
    socket.write_all(text.as_bytes()).await.unwrap();
    socket.flush().await.unwrap();
}

fn text_graph(extra: Json) -> Json {
    let mut config =
        json!({"model": "openai::gpt-4o-mini", "prompt": "Say {{ state.word }}", "into": "answer"});
    config
        .as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    one_node(json!({"word": {"type": "string"}, "answer": {}}), "model", config)
}

#[tokio::test]
async fn an_answer_is_streamed_and_written() {
    let server = Server::start(Script::Say(vec!["Good", " mor", "ning"])).await;
    let graph = build(
        &text_graph(json!({"system": "Be brief.", "temperature": 0.5, "max_tokens": 20})),
        &server.environment(),
    );
    let (events, result) = run(
        &graph,
        Input::value(superstep::json!({"word": "hello"})),
        &[StreamMode::Messages],
    )
    .await;
    assert_eq!(
        result.unwrap().value.get("answer").unwrap(),
        &superstep::json!("Good morning")
    );
    let chunks = tokens(&events);
    let pieces: Vec<&str> = chunks
        .iter()
        .map(|chunk| chunk.get("content").unwrap().as_str().unwrap())
        .collect();
    assert_eq!(
        pieces,
        ["Good", " mor", "ning"],
        "pieces arrive as they were sent"
    );
    assert!(
        chunks.iter().all(|chunk| chunk.get("id") == chunks[0].get("id")),
        "one id per answer"
    );
    assert_eq!(chunks[0].get("type").unwrap().as_str(), Some("AIMessageChunk"));
    assert_eq!(
        chunks[0]
            .get("response_metadata")
            .unwrap()
            .get("provider")
            .unwrap()
            .as_str(),
        Some("openai")
    );

    let (head, body) = server.request();
    assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    assert!(
        head.to_lowercase().contains("authorization: bearer sk-test"),
        "{head}"
    );
    assert_eq!(body["model"], "gpt-4o-mini");
    assert_eq!(body["stream"], true);
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(
        body["messages"][0],
        json!({"role": "system", "content": "Be brief."})
    );
    assert_eq!(body["messages"][1]["role"], "user");
    assert!(body["messages"][1].to_string().contains("Say hello"), "{body}");
}

#[tokio::test]
async fn a_conversation_is_sent_and_continued() {
    let server = Server::start(Script::Say(vec!["Ada", "."])).await;
    let graph = build(
        &one_node(
            json!({"messages": {"type": "array", "reducer": "add_messages"}}),
            "model",
            json!({"model": "openai::gpt-4o-mini", "messages": "messages", "into": "messages"}),
        ),
        &server.environment(),
    );
    let input = superstep::json!({"messages": [
        {"type": "human", "content": "My name is Ada"}, {"type": "ai", "content": "Hello!"}, {"type": "human", "content": "My name?"}]});
    let (_, result) = run(&graph, Input::value(input), &[]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    assert_eq!(messages.as_array().unwrap().len(), 4);
    let last = &messages[3];
    assert_eq!(
        (last["type"].as_str(), last["content"].as_str()),
        (Some("ai"), Some("Ada."))
    );
    assert_eq!(
        last["usage_metadata"],
        json!({"input_tokens": 11, "output_tokens": 4, "total_tokens": 15})
    );
    assert_eq!(
        last["response_metadata"],
        json!({"provider": "openai", "model_name": "test", "stop_reason": "stop"}),
        "the model is the one that says it answered; no price is known for another server"
    );
    let (_, body) = server.request();
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

#[tokio::test]
async fn structured_output_is_asked_for_and_checked() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let server = Server::start(Script::Say(vec!["{\"n\"", ": 7}"])).await;
    let graph = build(&text_graph(json!({"output": schema})), &server.environment());
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    assert_eq!(
        result.unwrap().value.get("answer").unwrap(),
        &superstep::json!({"n": 7})
    );
    assert_eq!(server.request().1["response_format"]["type"], "json_schema");

    let list = json!({"type": "array", "items": {"type": "string"}});
    let server = Server::start(Script::Say(vec!["{\"answer\": [\"a\"]}"])).await;
    let graph = build(&text_graph(json!({"output": list})), &server.environment());
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    assert_eq!(
        result.unwrap().value.get("answer").unwrap(),
        &superstep::json!(["a"]),
        "a list travels in an object"
    );
    let format = &server.request().1["response_format"]["json_schema"]["schema"];
    assert_eq!(
        (&format["type"], &format["properties"]["answer"]["type"]),
        (&json!("object"), &json!("array"))
    );

    let server = Server::start(Script::Say(vec!["{\"n\": \"seven\"}"])).await;
    let graph = build(&text_graph(json!({"output": schema})), &server.environment());
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelOutputError") && text.contains("at /n") && text.contains("seven"),
        "{text}"
    );
}

#[tokio::test]
async fn failures_say_what_to_do() {
    const KEY: &str =
        r#"{"error": {"message": "Incorrect API key provided: sk-test", "type": "invalid_request_error"}}"#;
    for (status, body, class, part) in [
        (
            401,
            KEY,
            "ModelAuthError",
            "Check the environment variable OPENAI_API_KEY",
        ),
        (
            404,
            r#"{"error": {"message": "no such model"}}"#,
            "ModelNotFoundError",
            "no such model",
        ),
        (
            429,
            r#"{"error": {"message": "Rate limit reached"}}"#,
            "ModelBusyError",
            "Rate limit reached",
        ),
        (500, "oops", "ModelError", "oops"),
    ] {
        let server = Server::start(Script::Fail(status, body)).await;
        let graph = build(&text_graph(json!({})), &server.environment());
        let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
        let text = result.unwrap_err().to_string();
        assert!(
            text.contains(class) && text.contains(part) && text.contains("node n"),
            "{status}: {text}"
        );
        assert!(!text.contains("sk-test"), "a key never shows: {text}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_an_error() {
    // A port that was free a moment ago.
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/v1/", listener.local_addr().unwrap())
    };
    let environment =
        Environment::default().with_variables(move |name| (name == "OPENAI_BASE_URL").then(|| url.clone()));
    let graph = build(&text_graph(json!({})), &environment);
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelConnectionError") && text.contains("could not be reached"),
        "{text}"
    );
}

#[tokio::test]
async fn a_broken_stream_is_an_error() {
    let server = Server::start(Script::Break("Good")).await;
    let graph = build(&text_graph(json!({})), &server.environment());
    let (events, result) = run(
        &graph,
        Input::value(superstep::json!({"word": "x"})),
        &[StreamMode::Messages],
    )
    .await;
    assert_eq!(tokens(&events).len(), 1, "what came before is shown");
    assert!(
        result.unwrap_err().to_string().contains("Model"),
        "half an answer is not written"
    );
}

#[tokio::test]
async fn cancelling_ends_the_request() {
    let mut server = Server::start(Script::Hang("Good")).await;
    let graph = build(&text_graph(json!({})), &server.environment());
    let config = RunConfig {
        modes: vec![StreamMode::Messages],
        ..RunConfig::on("t")
    };
    let mut stream = graph.stream(Input::value(superstep::json!({"word": "x"})), config);
    let first = stream.next().await.expect("the first piece arrives");
    assert_eq!(first.mode(), StreamMode::Messages);
    stream.cancel();
    assert!(matches!(stream.finish().await, Err(RunError::Cancelled)));
    server
        .gone
        .take()
        .unwrap()
        .await
        .expect("the connection was closed");
}

#[tokio::test]
async fn without_a_key_the_variable_is_named() {
    let graph = build(&text_graph(json!({})), &crate::support::no_keys());
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelSetupError") && text.contains("OPENAI_API_KEY"),
        "{text}"
    );
}
