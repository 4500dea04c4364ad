//! What of a model's answer outlives it: recordings that answer in its place, what it used, and what was sent and came.

use serde_json::{Value as Json, json};
use superstep::{Graph, Input, StreamMode};
use superstep_nodes::models::{Ended, RECORDINGS, Recording};
use superstep_nodes::{Environment, Registry};

use crate::provider::{Script, Server};
use crate::support::{document, no_keys, one_node, run, tokens};

fn asking(extra: Json) -> Json {
    let mut config =
        json!({"model": "openai::gpt-4o-mini", "prompt": "Say {{ state.what }}", "into": "answer"});
    config
        .as_object_mut()
        .unwrap()
        .extend(extra.as_object().cloned().unwrap_or_default());
    one_node(
        json!({"what": {"type": "string"}, "answer": {"type": "string"}, "used": {"type": "object"},
            "messages": {"type": "array", "reducer": "add_messages"}, "made": {"type": "object"}}),
        "model",
        config,
    )
}

fn built(registry: &Registry, graph: &Json, environment: &Environment) -> Graph {
    registry.build(&document(graph), environment).unwrap().graph
}

/// The pieces of text, joined, and the answer that was written.
async fn answered(graph: &Graph, what: &str) -> Result<(String, Json), String> {
    let input = Input::value(superstep::json!({"what": what}));
    let (events, result) = run(graph, input, &[StreamMode::Messages]).await;
    let pieces = tokens(&events);
    let text = pieces
        .iter()
        .map(Json::from)
        .filter(|chunk| chunk["type"] == "AIMessageChunk");
    let text = text
        .map(|chunk| chunk["content"].as_str().unwrap().to_owned())
        .collect();
    result
        .map(|result| (text, Json::from(&result.value)))
        .map_err(|e| e.to_string())
}

#[tokio::test]
async fn a_recorded_graph_runs_again_without_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::playing(vec![
        Script::Say(vec!["Hel", "lo ", "there"]),
        Script::Say(vec!["Bye"]),
    ])
    .await;
    let registry = Registry::standard();
    let graph = asking(json!({"recording": "record", "into": "messages", "usage_into": "used"}));
    let live = Environment {
        folder: Some(folder.path().to_owned()),
        ..server.environment()
    };
    let recording = built(&registry, &graph, &live);
    let (text, hello) = answered(&recording, "hello").await.unwrap();
    assert_eq!(text, "Hello there");
    answered(&recording, "bye").await.unwrap();
    assert_eq!(server.bodies().len(), 2);
    let file = std::fs::read_to_string(folder.path().join(RECORDINGS)).unwrap();
    assert_eq!(file.lines().count(), 2);
    assert!(!file.contains("sk-test"), "no key is recorded");
    let first: Json = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!(first["asked"], "Say hello");

    // No key, no grant, no server; the host's wish goes before what the node says.
    let offline = Environment {
        folder: Some(folder.path().to_owned()),
        ..no_keys()
    }
    .with_recording(Recording::Replay);
    assert_eq!(registry.accesses(&document(&graph), &offline), Default::default());
    let replaying = built(&registry, &graph, &offline);
    let (text, again) = answered(&replaying, "hello").await.unwrap();
    assert_eq!(text, "Hello there");
    let without_id = |mut value: Json| {
        value["messages"][0]["id"] = Json::Null;
        value
    };
    assert_eq!(without_id(again.clone()), without_id(hello));
    assert_eq!(again["used"]["total_tokens"], 15);
    assert!(
        answered(&replaying, "bye").await.unwrap().1["messages"]
            .to_string()
            .contains("Bye")
    );
    let unknown = answered(&replaying, "something else").await.unwrap_err();
    assert!(
        unknown.contains("ModelRecordingError")
            && unknown.contains("2 answers of this node, to other requests"),
        "{unknown}"
    );
    assert_eq!(server.bodies().len(), 2, "the model was not asked again");
}

#[tokio::test]
async fn structured_output_says_what_it_used_repairs_included() {
    let server = Server::playing(vec![
        Script::Say(vec!["no json"]),
        Script::Say(vec!["{\"n\": ", "1}"]),
    ])
    .await;
    let graph = asking(
        json!({"into": "made", "usage_into": "used", "output": {"type": "object", "required": ["n"]}}),
    );
    let graph = built(&Registry::standard(), &graph, &server.environment());
    let input = Input::value(superstep::json!({"what": "one"}));
    let (events, result) = run(&graph, input, &[StreamMode::Messages]).await;
    let value = Json::from(&result.unwrap().value);
    assert_eq!(value["made"], json!({"n": 1}));
    let used = &value["used"];
    assert_eq!(
        (
            &used["requests"],
            &used["input_tokens"],
            &used["output_tokens"],
            &used["total_tokens"]
        ),
        (&json!(2), &json!(22), &json!(8), &json!(30))
    );
    assert_eq!(used["model"], "openai::gpt-4o-mini");
    let ends: Vec<Json> = tokens(&events)
        .iter()
        .map(Json::from)
        .filter(|chunk| chunk["chunk_position"] == "last")
        .collect();
    assert_eq!(ends.len(), 2, "each answer ends with what it used");
    assert_eq!(ends[1]["usage_metadata"]["total_tokens"], 15);
    assert_eq!(ends[1]["response_metadata"]["stop_reason"], "stop");
}

#[tokio::test]
async fn pictures_of_the_project_are_shown_with_the_prompt() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.png"), b"\x89PNG rest").unwrap();
    let server = Server::start(Script::Say(vec!["a picture"])).await;
    let environment = Environment {
        folder: Some(folder.path().to_owned()),
        ..server.environment()
    };
    let graph = asking(json!({"images": ["{{ state.what }}", "{% if false %}b.png{% endif %}"]}));
    let graph = built(&Registry::standard(), &graph, &environment);
    answered(&graph, "a.png\n  https://example.org/b.png")
        .await
        .unwrap();
    let content = &server.bodies()[0]["messages"][0]["content"];
    assert_eq!(
        content[1]["image_url"]["url"],
        "data:image/png;base64,iVBORyByZXN0"
    );
    assert_eq!(content[2]["image_url"]["url"], "https://example.org/b.png");
    assert_eq!(content.as_array().unwrap().len(), 3, "{content}");
    let missing = answered(&graph, "../b.png").await.unwrap_err();
    assert!(
        missing.contains("ModelInputError") && missing.contains("b.png"),
        "{missing}"
    );
}

#[tokio::test]
async fn what_was_sent_and_came_waits_for_the_trace() {
    let echo = format!(
        "data: {}\n\ndata: [DONE]\n\n",
        json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "you sent sk-test"}, "finish_reason": "stop"}]})
    );
    let server = Server::playing(vec![
        Script::Raw("text/event-stream", echo),
        Script::Fail(500, "{\"error\": {\"message\": \"no sk-test here\"}}"),
    ])
    .await;
    let registry = Registry::standard();
    let graph = built(
        &registry,
        &asking(json!({"system": "Be brief."})),
        &server.environment(),
    );
    let mut exchanges = Vec::new();
    for _ in 0..2 {
        let input = Input::value(superstep::json!({"what": "hi"}));
        let (events, _) = run(&graph, input, &[StreamMode::Tasks]).await;
        let task = events.iter().find_map(|event| match &event.payload {
            superstep::stream::Payload::TaskStart(task) => Some(task.id.to_string()),
            _ => None,
        });
        exchanges.extend(registry.exchanges().take(&task.unwrap()));
    }
    assert_eq!(exchanges.len(), 2);
    let [good, bad] = &exchanges[..] else {
        unreachable!()
    };
    assert_eq!(
        good.request["messages"][0],
        json!({"type": "system", "content": "Be brief."})
    );
    assert_eq!(good.ended, Ended::Done);
    assert!(
        good.response.contains("\"delta\"") && good.response.contains("you sent [secret]"),
        "{}",
        good.response
    );
    assert_eq!(bad.ended, Ended::Failed);
    assert!(bad.response.contains("no [secret] here"), "{}", bad.response);
    assert!(!format!("{exchanges:?}").contains("sk-test"), "no key is kept");
}

#[tokio::test]
async fn by_default_a_failing_server_is_asked_again_and_a_refusing_one_is_not() {
    let retry = |graph: Json| {
        let mut graph = graph;
        graph["nodes"]["n"]["retry"] = json!({"attempts": 3, "initial_interval": 0.001, "jitter": false});
        graph
    };
    for (status, header, asked) in [
        (503, "X: y", 2),
        (500, "X: y", 2),
        (429, "Retry-After: 0", 2),
        (400, "X: y", 1),
        (401, "X: y", 1),
        (402, "X: y", 1),
        (404, "X: y", 1),
    ] {
        let server =
            Server::playing(vec![Script::Refuse(status, header), Script::Say(vec!["at last"])]).await;
        let graph = built(
            &Registry::standard(),
            &retry(asking(json!({}))),
            &server.environment(),
        );
        let result = answered(&graph, "hi").await;
        assert_eq!(server.bodies().len(), asked, "{status}: {result:?}");
        assert_eq!(result.is_ok(), asked == 2, "{status}");
    }
}
