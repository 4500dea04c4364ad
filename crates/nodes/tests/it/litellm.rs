//! Models over the protocols as somebody else's server speaks them: exchanges with LiteLLM's proxy.

use serde_json::{Value as Json, json};
use superstep::{Input, StreamEvent, StreamMode};
use superstep_nodes::{Access, Environment, Grants, ModelSettings};

use crate::exchange::Exchange;
use crate::support::{build, one_node, run, tokens};

fn environment(exchange: &Exchange, key: &'static str) -> Environment {
    let url = |path: &str| format!("http://{}{path}", exchange.address);
    let models: ModelSettings = serde_json::from_value(json!({
        "connections": {
            "proxy": {"provider": "openai", "base_url": url("/v1"), "key_variable": "PROXY_KEY"},
            "claude": {"provider": "anthropic", "base_url": url("/v1/"), "key_variable": "PROXY_KEY"},
        },
        "prices": {"proxy::scripted-1": {"input": 1.0, "output": 10.0}},
    }))
    .unwrap();
    Environment::default()
        .with_variables(move |name| (name == "PROXY_KEY").then(|| key.to_owned()))
        .with_models(models)
        .with_grants(Grants::these(
            ["proxy", "claude"].map(|name| Access::Connection(name.into())),
        ))
}

/// A model that may call a tool, and the tool; they take turns until the model makes no call.
pub(crate) fn agent(model: &str) -> Json {
    json!({
        "format": "superstep/1", "name": "agent",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}},
        "nodes": {
            "think": {"kind": "model", "config": {
                "model": model, "messages": "messages", "into": "messages", "tools_of": "act", "max_tokens": 200}},
            "act": {"kind": "tools", "config": {"messages": "messages", "tools": [{
                "name": "get_weather", "description": "Tells the weather in a town.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                "javascript": {"source": "return {city: args.city, degrees: args.city.length};"}}]}},
        },
        "edges": [
            {"from": "__start__", "to": "think"},
            {"from": "think", "to": "act", "when": "state.messages[-1].tool_calls"},
            {"from": "act", "to": "think"},
        ],
    })
}

/// The pieces of calls, joined as a reader joins them: `(id, name, arguments)` per call.
pub(crate) fn joined_calls(events: &[StreamEvent]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for chunk in tokens(events) {
        for piece in Json::from(&chunk)["tool_call_chunks"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let text = |name: &str| piece[name].as_str().unwrap_or_default().to_owned();
            let index = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
            if index == calls.len() {
                calls.push((text("id"), text("name"), String::new()));
            }
            calls[index].2.push_str(&text("args"));
        }
    }
    calls
}

async fn agent_works(recording: &str, model: &str, stops: [&str; 2]) -> Json {
    let exchange = Exchange::start(recording).await;
    let graph = build(&agent(model), &environment(&exchange, "sk-test-master"));
    let question =
        superstep::json!({"messages": [{"type": "human", "content": "Where is it warmer?", "id": "q"}]});
    let (events, result) = run(&graph, Input::value(question), &[StreamMode::Messages]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());

    let reasoning: String = tokens(&events)
        .iter()
        .filter_map(|chunk| {
            let chunk = Json::from(chunk);
            // The whole message follows its pieces.
            if chunk["type"] != "AIMessageChunk" {
                return None;
            }
            Some(
                chunk["additional_kwargs"]["reasoning_content"]
                    .as_str()?
                    .to_owned(),
            )
        })
        .collect();
    assert_eq!(reasoning, "Two towns, two calls.");
    let args = |city: &str| format!("{{\"city\": \"{city}\"}}");
    assert_eq!(
        joined_calls(&events),
        [
            ("call_a".into(), "get_weather".into(), args("Oslo")),
            ("call_b".into(), "get_weather".into(), args("Bergen")),
        ]
    );
    let types: Vec<&str> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["human", "ai", "tool", "tool", "ai"]);
    let call = &messages[1];
    assert_eq!(call["content"], "I look.");
    assert_eq!(
        call["additional_kwargs"]["reasoning_content"],
        "Two towns, two calls."
    );
    assert_eq!(
        call["tool_calls"],
        json!([
            {"name": "get_weather", "args": {"city": "Oslo"}, "id": "call_a", "type": "tool_call"},
            {"name": "get_weather", "args": {"city": "Bergen"}, "id": "call_b", "type": "tool_call"},
        ])
    );
    assert_eq!(call["response_metadata"]["stop_reason"], stops[0]);
    assert_eq!(call["response_metadata"]["model_name"], "scripted-1");
    for (message, id, city) in [
        (&messages[2], "call_a", "Oslo"),
        (&messages[3], "call_b", "Bergen"),
    ] {
        assert_eq!(message["tool_call_id"], id);
        assert_eq!(message["status"], "success");
        let content: Json = serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
        assert_eq!(content, json!({"city": city, "degrees": city.len()}));
    }
    assert_eq!(messages[4]["content"], "It is warmer in Oslo.");
    assert_eq!(messages[4]["response_metadata"]["stop_reason"], stops[1]);
    exchange.finish();
    messages
}

#[tokio::test]
async fn an_agent_over_the_openai_protocol() {
    let messages = agent_works("openai-agent", "proxy::scripted-1", ["tool_calls", "stop"]).await;
    let call = &messages[1];
    let usage = &call["usage_metadata"];
    assert!(usage["input_tokens"].as_u64().unwrap() > 0 && usage["output_tokens"].as_u64().unwrap() > 0);
    assert_eq!(usage["output_token_details"]["reasoning"], 6, "{usage}");
    let price = |name: &str| usage[name].as_f64().unwrap();
    let cost = (price("input_tokens") * 1.0 + price("output_tokens") * 10.0) / 1e6;
    let facts = &call["response_metadata"];
    assert!(
        (facts["cost"]["amount"].as_f64().unwrap() - cost).abs() < 1e-12,
        "{facts}"
    );
    assert_eq!(facts["cost"]["prices"], "own");
    assert_eq!(
        (&facts["provider"], &facts["connection"]),
        (&json!("openai"), &json!("proxy"))
    );
}

#[tokio::test]
async fn an_agent_over_the_anthropic_protocol() {
    let messages = agent_works("anthropic-agent", "claude::scripted-1", ["tool_use", "end_turn"]).await;
    let usage = &messages[1]["usage_metadata"];
    assert!(usage["input_tokens"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(messages[1]["response_metadata"]["provider"], "anthropic");
}

fn question(model: &str) -> Json {
    one_node(
        json!({"answer": {"type": "string"}}),
        "model",
        json!({"model": model, "prompt": "Hello", "into": "answer"}),
    )
}

#[tokio::test]
async fn a_limit_says_how_long_to_wait() {
    let exchange = Exchange::start("openai-limited").await;
    let graph = build(
        &question("proxy::limited"),
        &environment(&exchange, "sk-test-master"),
    );
    let (_, first) = run(&graph, Input::value(superstep::json!({})), &[]).await;
    assert_eq!(
        first.unwrap().value.get("answer").unwrap(),
        &superstep::json!("once a minute")
    );
    let (_, second) = run(&graph, Input::value(superstep::json!({})), &[]).await;
    let text = second.unwrap_err().to_string();
    assert!(
        text.contains("ModelBusyError") && text.contains("RPM limit=1") && text.contains("wait 60 s"),
        "{text}"
    );
    exchange.finish();
}

#[tokio::test]
async fn refusals_are_distinguished() {
    let exchange = Exchange::start("openai-refused").await;
    // Without a database the proxy cannot tell another key from a wrong one, and says so with status 400.
    let wrong = build(&question("proxy::echo"), &environment(&exchange, "sk-wrong"));
    let (_, result) = run(&wrong, Input::value(superstep::json!({})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelInputError") && text.contains("No connected db"),
        "{text}"
    );
    assert!(!text.contains("sk-wrong"), "a key never shows: {text}");
    let unknown = build(
        &question("proxy::nobody"),
        &environment(&exchange, "sk-test-master"),
    );
    let (_, result) = run(&unknown, Input::value(superstep::json!({})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelInputError") && text.contains("nobody"),
        "{text}"
    );
    exchange.finish();
}

#[tokio::test]
async fn pictures_are_sent_as_the_protocol_wants_them() {
    let exchange = Exchange::start("openai-picture").await;
    let graph = build(
        &one_node(
            json!({"messages": {"type": "array", "reducer": "add_messages"}}),
            "model",
            json!({"model": "proxy::echo", "messages": "messages", "into": "messages"}),
        ),
        &environment(&exchange, "sk-test-master"),
    );
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let question = superstep::json!({"messages": [{"type": "human", "id": "q", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "base64": pixel, "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}]});
    let (_, result) = run(&graph, Input::value(question), &[]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    assert_eq!(messages[1]["content"], "Good morning from the proxy");
    let sent = &exchange.requests()[0]["body"]["messages"][0]["content"];
    assert_eq!(
        sent[1]["image_url"]["url"],
        format!("data:image/png;base64,{pixel}")
    );
    assert_eq!(sent[2]["image_url"]["url"], "https://example.org/a.png");
    exchange.finish();
}

#[tokio::test]
async fn limits_and_refusals_over_the_anthropic_protocol() {
    let exchange = Exchange::start("anthropic-refused").await;
    for (model, class, part) in [
        ("claude::busy", "ModelBusyError", "too fast"),
        ("claude::nobody", "ModelInputError", "nobody"),
    ] {
        let graph = build(&question(model), &environment(&exchange, "sk-test-master"));
        let (_, result) = run(&graph, Input::value(superstep::json!({})), &[]).await;
        let text = result.unwrap_err().to_string();
        assert!(text.contains(class) && text.contains(part), "{text}");
    }
    exchange.finish();
}
