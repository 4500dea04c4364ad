//! The real provider path: genai's client against an OpenAI-compatible server on loopback, over real HTTP.

use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use superstep::{Input, RunConfig, RunError, StreamMode};
use superstep_nodes::{Environment, Grants, ModelSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::exchange::read_request;
use crate::support::{build, one_node, run, tokens};

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Script {
    /// Streams these pieces and ends properly.
    Say(Vec<&'static str>),
    /// Fails.
    Fail(u16, &'static str),
    /// Streams one piece, then waits until the client goes away.
    Hang(&'static str),
    /// Streams one piece and then breaks the protocol.
    Break(&'static str),
    /// Streams one piece and goes away.
    Cut(&'static str),
    /// Refuses, with a header.
    Refuse(u16, &'static str),
    /// Answers this body of this type.
    Raw(&'static str, String),
}

pub(crate) struct Server {
    url: String,
    requests: Arc<Mutex<Vec<(String, Json)>>>,
    gone: Option<oneshot::Receiver<()>>,
}

impl Server {
    pub(crate) async fn start(script: Script) -> Server {
        Self::playing(vec![script]).await
    }

    /// Does one thing after the other; the last one for all further requests.
    pub(crate) async fn playing(scripts: Vec<Script>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (left, gone) = oneshot::channel();
        let log = requests.clone();
        tokio::spawn(async move {
            let mut left = Some(left);
            let mut place = 0;
            while let Ok((mut socket, _)) = listener.accept().await {
                let (head, body) = read_request(&mut socket).await;
                log.lock()
                    .unwrap()
                    .push((head, serde_json::from_str(&body).unwrap_or_default()));
                let script = &scripts[place.min(scripts.len() - 1)];
                place += 1;
                answer(&mut socket, script).await;
                if let (Script::Hang(_), Some(left)) = (script, left.take()) {
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

    pub(crate) fn environment(&self) -> Environment {
        let url = self.url.clone();
        Environment::default()
            .with_variables(move |name| match name {
                "OPENAI_BASE_URL" => Some(url.clone()),
                "OPENAI_API_KEY" => Some("sk-test".into()),
                _ => None,
            })
            .with_grants(Grants::all())
    }

    /// A connection `mine` to this server, beside a key that is not its own.
    pub(crate) fn connection(&self, provider: &str) -> Environment {
        let url = match provider {
            "openai" => self.url.clone(),
            _ => self.url.trim_end_matches("/v1").to_owned(),
        };
        let models: ModelSettings =
            serde_json::from_value(json!({"connections": {"mine": {"provider": provider, "base_url": url}}}))
                .unwrap();
        let keys = |name: &str| name.ends_with("_API_KEY").then(|| "sk-secret".to_owned());
        Environment::default()
            .with_variables(keys)
            .with_models(models)
            .with_grants(Grants::all())
    }

    pub(crate) fn bodies(&self) -> Vec<Json> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(_, body)| body.clone()).collect()
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
        Script::Cut(piece) => format!("{HEAD}{}", chunk(piece)),
        Script::Refuse(status, header) => {
            format!("HTTP/1.1 {status} No\r\n{header}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        Script::Raw(ty, body) => {
            format!("HTTP/1.1 200 OK\r\nContent-Type: {ty}\r\nConnection: close\r\n\r\n{body}")
        }
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
        &text_graph(json!({"system": "Be brief.", "temperature": 0.5, "max_tokens": 20, "reasoning": "low"})),
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
        ["Good", " mor", "ning", ""],
        "pieces arrive as they were sent, and at last what the answer used"
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
    assert_eq!(body["reasoning_effort"], "low");
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
    let environment = Environment::default()
        .with_variables(move |name| (name == "OPENAI_BASE_URL").then(|| url.clone()))
        .with_grants(Grants::all());
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
    let config = RunConfig::on("t").modes([StreamMode::Messages]);
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
    let granted = crate::support::no_keys().with_grants(Grants::all());
    let graph = build(&text_graph(json!({})), &granted);
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelSetupError") && text.contains("OPENAI_API_KEY"),
        "{text}"
    );
}

#[tokio::test]
async fn a_busy_server_is_asked_again_after_the_time_it_says() {
    let retrying = |attempts: u32| {
        let mut graph = text_graph(json!({}));
        graph["nodes"]["n"]["retry"] =
            json!({"attempts": attempts, "initial_interval": 0.001, "max_interval": 10, "jitter": false});
        graph
    };
    let hello = || Input::value(superstep::json!({"word": "x"}));
    let server = Server::playing(vec![
        Script::Refuse(429, "Retry-After: 0.3"),
        Script::Refuse(529, "retry-after-ms: 100"),
        Script::Say(vec!["there"]),
    ])
    .await;
    let begun = std::time::Instant::now();
    let (_, result) = run(&build(&retrying(3), &server.environment()), hello(), &[]).await;
    assert_eq!(
        result.unwrap().value.get("answer").unwrap(),
        &superstep::json!("there")
    );
    assert_eq!(server.bodies().len(), 3);
    assert!(
        begun.elapsed().as_millis() >= 400,
        "both waits were kept to: {:?}",
        begun.elapsed()
    );

    let server = Server::start(Script::Refuse(429, "Retry-After: 3600")).await;
    let (_, result) = run(&build(&retrying(3), &server.environment()), hello(), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(text.contains("It asks to wait 3600 s"), "{text}");
    assert_eq!(server.bodies().len(), 1, "nobody waits for an hour");

    let server = Server::start(Script::Refuse(400, "X: y")).await;
    let (_, result) = run(&build(&retrying(3), &server.environment()), hello(), &[]).await;
    assert!(result.unwrap_err().to_string().contains("ModelInputError"));
    assert_eq!(server.bodies().len(), 1, "a wrong request stays wrong");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_sent_back() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let wrong = || Script::Say(vec!["{\"n\": ", "\"seven\"}"]);
    let server = Server::playing(vec![wrong(), Script::Say(vec!["{\"n\": 7}"])]).await;
    let graph = build(&text_graph(json!({"output": schema})), &server.environment());
    let word = || Input::value(superstep::json!({"word": "x"}));
    let (events, result) = run(&graph, word(), &[StreamMode::Messages]).await;
    assert_eq!(
        result.unwrap().value.get("answer").unwrap(),
        &superstep::json!({"n": 7})
    );
    let second = &server.bodies()[1]["messages"];
    let roles: Vec<&str> = second
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(second[1]["content"], "{\"n\": \"seven\"}");
    assert!(
        second[2]["content"].as_str().unwrap().contains("at /n"),
        "{second}"
    );
    let ids: std::collections::BTreeSet<String> = tokens(&events)
        .iter()
        .map(|chunk| chunk.get("id").unwrap().to_string())
        .collect();
    assert_eq!(ids.len(), 2, "the second answer does not run on from the first");

    for (repairs, requests) in [(0, 1), (2, 3)] {
        let server = Server::start(wrong()).await;
        let graph = text_graph(json!({"output": schema, "repairs": repairs}));
        let (_, result) = run(&build(&graph, &server.environment()), word(), &[]).await;
        assert!(result.unwrap_err().to_string().contains("ModelOutputError"));
        assert_eq!(server.bodies().len(), requests, "the loop is bounded");
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_is_left() {
    let mut server = Server::start(Script::Hang("Good")).await;
    let graph = build(&text_graph(json!({"timeout_s": 4})), &server.environment());
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelTimeoutError") && text.contains("within 4 s"),
        "{text}"
    );
    server
        .gone
        .take()
        .unwrap()
        .await
        .expect("the connection was closed");
}

/// A reader adds pieces with the same id to each other: what a failed attempt said is taken back before the next one speaks.
#[tokio::test]
async fn a_new_attempt_takes_back_what_the_failed_one_said() {
    let server = Server::playing(vec![
        Script::Cut("One two "),
        Script::Say(vec!["One two", " three."]),
    ])
    .await;
    let mut graph = text_graph(json!({}));
    graph["nodes"]["n"]["retry"] = json!({"attempts": 2, "initial_interval": 0.001, "jitter": false});
    let (events, result) = run(
        &build(&graph, &server.environment()),
        Input::value(superstep::json!({"word": "x"})),
        &[StreamMode::Messages],
    )
    .await;
    assert_eq!(
        result.unwrap().value.get("answer").unwrap(),
        &superstep::json!("One two three.")
    );
    let chunks: Vec<Json> = tokens(&events).iter().map(Json::from).collect();
    assert!(
        chunks.iter().all(|chunk| chunk["id"] == chunks[0]["id"]),
        "{chunks:?}"
    );
    let mut shown = String::new();
    for chunk in &chunks {
        match chunk["type"].as_str() {
            Some("remove") => shown.clear(),
            _ => shown += chunk["content"].as_str().unwrap(),
        }
    }
    assert_eq!(shown, "One two three.");
    assert_eq!(chunks[1]["type"], "remove");
}

#[tokio::test]
async fn half_an_answer_is_no_answer() {
    let server = Server::start(Script::Cut("Good")).await;
    let graph = build(&text_graph(json!({})), &server.environment());
    let (_, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(text.contains("ended before the answer did"), "{text}");
}

/// A key as a model spells it out, token by token, in what it says, thinks and gives to a tool.
#[tokio::test]
async fn a_key_that_comes_in_pieces_is_taken_out_of_the_stream() {
    const KEY: &str = "sk-in-many-pieces";
    let delta = |delta: Json| {
        let event = json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        format!("data: {event}\n\n")
    };
    // Each letter by itself, so that no piece holds any of it for sure.
    let letters = |text: &str, piece: &dyn Fn(String) -> Json| -> String {
        text.chars()
            .map(|letter| delta(piece(letter.to_string())))
            .collect()
    };
    let call = |args: String| json!({"tool_calls": [{"index": 0, "function": {"arguments": args}}]});
    let mut body = letters(
        &format!("Is it {KEY}?"),
        &|text| json!({"reasoning_content": text}),
    );
    body += &letters(
        &format!("It is {KEY}, I think. sk-i"),
        &|text| json!({"content": text}),
    );
    body += &delta(json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function",
        "function": {"name": "weather", "arguments": ""}}]}));
    body += &letters(&format!("{{\"city\": \"{KEY}\"}}"), &call);
    let last = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    body += &format!("data: {last}\n\ndata: [DONE]\n\n");

    let server = Server::start(Script::Raw("text/event-stream", body)).await;
    let mut graph = text_graph(json!({"tools": weather()["tools"]}));
    graph["state"] =
        json!({"word": {"type": "string"}, "messages": {"type": "array", "reducer": "add_messages"}});
    graph["nodes"]["n"]["config"]["into"] = "messages".into();
    let url = server.url.clone();
    let environment = server.environment().with_variables(move |name| match name {
        "OPENAI_BASE_URL" => Some(url.clone()),
        "OPENAI_API_KEY" => Some(KEY.into()),
        _ => None,
    });
    let registry = superstep_nodes::Registry::standard();
    let graph = registry
        .build(&crate::support::document(&graph), &environment)
        .unwrap()
        .graph;
    let modes = [StreamMode::Messages, StreamMode::Tasks];
    let (events, result) = run(&graph, Input::value(superstep::json!({"word": "x"})), &modes).await;
    let message = Json::from(result.unwrap().value.get("messages").unwrap().at(0).unwrap());
    let (mut text, mut reasoning, mut args) = (String::new(), String::new(), String::new());
    for chunk in tokens(&events).iter().map(Json::from) {
        if chunk["type"] == "AIMessageChunk" {
            text += chunk["content"].as_str().unwrap();
            reasoning += chunk["additional_kwargs"]["reasoning_content"]
                .as_str()
                .unwrap_or_default();
            args += chunk["tool_call_chunks"][0]["args"].as_str().unwrap_or_default();
        }
    }
    assert_eq!(
        text, "It is [secret], I think. sk-i",
        "also what was held back at the end"
    );
    assert_eq!(reasoning, "Is it [secret]?");
    assert_eq!(args, "{\"city\": \"[secret]\"}");
    assert_eq!(message["content"], text);
    assert_eq!(message["additional_kwargs"]["reasoning_content"], reasoning);
    assert_eq!(message["tool_calls"][0]["args"], json!({"city": "[secret]"}));
    let task = events.iter().find_map(|event| match &event.payload {
        superstep::stream::Payload::TaskStart(task) => Some(task.id.to_string()),
        _ => None,
    });
    let exchange = &registry.exchanges().take(&task.unwrap())[0];
    assert!(
        exchange.response.contains("spelled out over several of them")
            && !exchange.response.contains("choices"),
        "{exchange:?}"
    );
    let body = exchange.body.as_ref().unwrap();
    assert_eq!(body["stream"], true, "as it was sent: {body}");
    let text = body.to_string();
    assert!(text.contains("\"messages\"") && !text.contains("sk-"), "{text}");
}

fn own_server(extra: Json) -> Json {
    let mut config = json!({"model": "mine::llama3", "messages": "messages", "into": "messages"});
    config
        .as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    one_node(
        json!({"messages": {"type": "array", "reducer": "add_messages"}}),
        "model",
        config,
    )
}

#[tokio::test]
async fn a_connection_is_sent_no_key_of_others() {
    let server = Server::start(Script::Say(vec!["Hi"])).await;
    let graph = build(&own_server(json!({})), &server.connection("openai"));
    let (_, result) = run(
        &graph,
        Input::value(superstep::json!({"messages": ["Hello"]})),
        &[],
    )
    .await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    assert_eq!(messages[1]["response_metadata"]["connection"], "mine");
    let (head, body) = server.request();
    assert!(!head.contains("sk-secret"), "{head}");
    assert_eq!(body["model"], "llama3");
}

#[tokio::test]
async fn a_missing_connection_says_what_to_do() {
    let document = crate::support::document(&own_server(json!({"model": "elsewhere::llama3"})));
    let registry = superstep_nodes::Registry::standard();
    let problems = registry.check_in(&document, &crate::support::no_keys());
    let problem = problems
        .iter()
        .find(|problem| problem.code == "unknown-model")
        .expect("it is said");
    assert!(
        problem
            .message
            .contains("\"elsewhere\": {\"provider\": \"openai\""),
        "{problem}"
    );
    assert!(
        registry
            .check(&document)
            .iter()
            .all(|problem| problem.code != "unknown-model"),
        "where connections are not known, none is missing"
    );
}

fn weather() -> Json {
    json!({"tools": [{"name": "weather", "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]})
}

/// Ollama's lines of JSON, as its API documentation shows them.
#[tokio::test]
async fn the_protocol_of_ollama() {
    let lines = [
        json!({"model": "llama3", "message": {"role": "assistant", "content": "", "thinking": "Hm."}, "done": false}),
        json!({"model": "llama3", "message": {"role": "assistant", "content": "I look."}, "done": false}),
        json!({"model": "llama3", "message": {"role": "assistant", "content": "",
            "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Oslo"}}}]}, "done": false}),
        json!({"model": "llama3", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 26, "eval_count": 9}),
    ];
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let server = Server::start(Script::Raw("application/x-ndjson", body)).await;
    let graph = build(&own_server(weather()), &server.connection("ollama"));
    let (_, result) = run(
        &graph,
        Input::value(superstep::json!({"messages": ["Weather?"]})),
        &[],
    )
    .await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    let answer = &messages[1];
    assert_eq!(
        (&answer["content"], &answer["tool_calls"][0]["args"]),
        (&json!("I look."), &json!({"city": "Oslo"}))
    );
    assert_eq!(answer["additional_kwargs"]["reasoning_content"], "Hm.");
    assert_eq!(
        answer["usage_metadata"],
        json!({"input_tokens": 26, "output_tokens": 9, "total_tokens": 35})
    );
    let (head, body) = server.request();
    assert!(head.starts_with("POST /api/chat "), "{head}");
    assert_eq!(body["tools"][0]["function"]["name"], "weather");
}

/// Gemini's events, as its API documentation shows them: its signatures go back with the calls they came with.
#[tokio::test]
async fn the_protocol_of_gemini() {
    let events = [
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "I look."}]}}], "modelVersion": "g-1"}),
        json!({"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 42,
                "cachedContentTokenCount": 10}, "modelVersion": "g-1"}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let server = Server::start(Script::Raw("text/event-stream", body)).await;
    let graph = build(&own_server(weather()), &server.connection("gemini"));
    let (_, result) = run(
        &graph,
        Input::value(superstep::json!({"messages": ["Weather?"]})),
        &[],
    )
    .await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    let answer = &messages[1];
    assert_eq!(
        (&answer["content"], &answer["tool_calls"][0]["name"]),
        (&json!("I look."), &json!("weather"))
    );
    assert_eq!(answer["response_metadata"]["model_name"], "g-1");
    assert_eq!(answer["usage_metadata"]["input_token_details"]["cache_read"], 10);
    assert_eq!(answer["usage_metadata"]["output_token_details"]["reasoning"], 7);

    let id = answer["tool_calls"][0]["id"].as_str().unwrap();
    let next = superstep::json!({"messages": [
        {"type": "tool", "content": "cold", "tool_call_id": id, "name": "weather", "id": "t"}]});
    run(&graph, Input::value(next), &[]).await.1.unwrap();
    let second = &server.bodies()[1];
    assert!(second.to_string().contains("c2ln"), "{second}");
    assert!(second.to_string().contains("functionResponse"), "{second}");
}
