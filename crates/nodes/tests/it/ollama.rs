//! Ollama's protocol, Gemini's, and OpenAI's for embeddings, as somebody else's server speaks them: exchanges with aimock.

use serde_json::{Value as Json, json};
use superstep::{Input, StreamMode};
use superstep_nodes::{Environment, Grants, ModelSettings};

use crate::exchange::Exchange;
use crate::litellm::{agent, joined_calls};
use crate::support::{build, one_node, run, tokens};

pub(crate) fn environment(exchange: &Exchange) -> Environment {
    let models: ModelSettings = serde_json::from_value(json!({"connections": {
        "attic": {"provider": "ollama", "base_url": format!("http://{}/", exchange.address)},
        "cloud": {"provider": "gemini", "base_url": format!("http://{}/v1beta/", exchange.address), "key_variable": "CLOUD_KEY"},
        "vectors": {"provider": "openai", "base_url": format!("http://{}/v1/", exchange.address)}}}))
    .unwrap();
    Environment::default()
        .with_variables(|name| (name == "CLOUD_KEY").then(|| "key-of-the-cloud".to_owned()))
        .with_models(models)
        .with_grants(Grants::all())
}

#[tokio::test]
async fn an_agent_calls_tools_and_reads_their_results() {
    agent_works("ollama-agent", "attic::llama3", "ollama").await;
}

pub(crate) async fn agent_works(recording: &str, model: &str, provider: &str) {
    let exchange = Exchange::start(recording).await;
    let graph = build(&agent(model), &environment(&exchange));
    let question =
        superstep::json!({"messages": [{"type": "human", "content": "Where is it warmer?", "id": "q"}]});
    let (events, result) = run(&graph, Input::value(question), &[StreamMode::Messages]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    let types: Vec<&str> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["human", "ai", "tool", "tool", "ai"]);
    let call = &messages[1];
    assert_eq!(call["content"], "I look.");
    let cities: Vec<&Json> = call["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["args"]["city"])
        .collect();
    assert_eq!(cities, ["Oslo", "Bergen"]);
    assert_ne!(call["tool_calls"][0]["id"], call["tool_calls"][1]["id"]);
    let streamed: Vec<String> = joined_calls(&events)
        .into_iter()
        .map(|(_, name, _)| name)
        .collect();
    assert_eq!(streamed, ["get_weather", "get_weather"]);
    assert_eq!(messages[2]["tool_call_id"], call["tool_calls"][0]["id"]);
    assert_eq!(messages[4]["content"], "It is warmer in Oslo.");
    assert_eq!(messages[4]["response_metadata"]["provider"], provider);
    exchange.finish();
}

fn asking(model: &str, prompt: &str) -> Json {
    one_node(
        json!({"messages": {"type": "array", "reducer": "add_messages"}}),
        "model",
        json!({"model": model, "prompt": prompt, "into": "messages"}),
    )
}

#[tokio::test]
async fn reasoning_is_streamed_apart_and_a_limit_is_one() {
    thinks_and_is_busy("ollama-thinks", "attic::llama3").await;
}

pub(crate) async fn thinks_and_is_busy(recording: &str, model: &str) {
    let exchange = Exchange::start(recording).await;
    let graph = build(&asking(model, "think"), &environment(&exchange));
    let (events, result) = run(
        &graph,
        Input::value(superstep::json!({})),
        &[StreamMode::Messages],
    )
    .await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    assert_eq!(messages[0]["content"], "Four.");
    assert_eq!(
        messages[0]["additional_kwargs"]["reasoning_content"],
        "Two and two."
    );
    let reasoning: String = tokens(&events)
        .iter()
        .map(Json::from)
        .filter(|chunk| chunk["type"] == "AIMessageChunk")
        .filter_map(|chunk| {
            let text = chunk["additional_kwargs"]["reasoning_content"].as_str();
            text.map(str::to_owned)
        })
        .collect();
    assert_eq!(reasoning, "Two and two.");
    let busy = build(&asking(model, "busy"), &environment(&exchange));
    let (_, result) = run(&busy, Input::value(superstep::json!({})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelBusyError") && text.contains("too many requests"),
        "{text}"
    );
    exchange.finish();
}

#[tokio::test]
async fn documents_are_searched_by_the_embeddings_of_the_same_server() {
    let exchange = Exchange::start("ollama-embeddings").await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "The bell rings.\n").unwrap();
    std::fs::write(folder.path().join("b.md"), "Oil the chain.\n").unwrap();
    let graph = one_node(
        json!({"found": {"type": "array"}}),
        "retrieve",
        json!({"folder": ".", "query": "'a\nThe bell rings.'", "mode": "vectors", "embedding": "vectors::text-embedding-3-small",
            "into": "found"}),
    );
    let environment = Environment {
        folder: Some(folder.path().to_owned()),
        ..environment(&exchange)
    };
    let (_, result) = run(
        &build(&graph, &environment),
        Input::value(superstep::json!({})),
        &[],
    )
    .await;
    let found = Json::from(result.unwrap().value.get("found").unwrap());
    assert_eq!(
        found[0]["path"], "a.md",
        "the same text has the same vector: {found}"
    );
    assert_eq!(found[0]["similarity"], 1.0);
    exchange.finish();
}
