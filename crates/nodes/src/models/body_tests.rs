//! Requests that are written here hold the same as those that the provider layer writes for the same question.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use serde_json::{Value as Json, json};
use superstep::Value;

use super::body::{WireRequest, WireTarget};
use super::error::{KeyPlace, RequestTarget};
use super::request::{ModelRequest, Reasoning, ToolChoice, ToolSpec};
use super::wire::WireForm;
use super::{ModelRoute, Service, made_client, messages};

/// Starts a server that says what it is sent and refuses it.
fn listener() -> (String, mpsc::Receiver<(String, Json)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let (mut bytes, mut buffer) = (Vec::new(), [0; 65536]);
            let sent = loop {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let head = head.to_lowercase();
                    let length = head
                        .lines()
                        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                    if body.len() >= length.unwrap_or(0) {
                        break (head, serde_json::from_str(body).unwrap());
                    }
                }
                let count = socket.read(&mut buffer).unwrap();
                assert!(count > 0, "the request is whole");
                bytes.extend_from_slice(&buffer[..count]);
            };
            socket
                .write_all(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .unwrap();
            if tell.send(sent).is_err() {
                return;
            }
        }
    });
    (url, told)
}

fn conversation() -> Vec<Value> {
    let picture = json!({"type": "image", "base64": "QUJD", "mime_type": "image/png"});
    let thinking = json!([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}]);
    let call = |id: &str, args: Json| json!({"name": "f", "args": args, "id": id, "type": "tool_call"});
    let messages = [
        json!({"type": "system", "content": "Be brief."}),
        json!({"type": "system", "content": "Be kind."}),
        json!({"type": "human", "content": ["look", picture, {"type": "file", "base64": "QUJD", "mime_type": "application/pdf", "filename": "a.pdf"}]}),
        json!({"type": "ai", "content": "I look.", "response_metadata": {"provider": "x"},
            "additional_kwargs": {"reasoning_content": "hm", "thinking_blocks": thinking, "thought_signatures": {"b": ["sb"]}},
            "tool_calls": [call("a", json!({"x": 1})), call("b", json!({}))]}),
        json!({"type": "tool", "tool_call_id": "a", "name": "f", "content": "one"}),
        json!({"type": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "two"}, picture]}),
        json!({"type": "ai", "content": "Done.", "response_metadata": {"provider": "x"}, "additional_kwargs": {"reasoning_content": "so"}}),
        json!({"type": "ai", "content": "", "tool_calls": [call("call#f#0", json!({"y": [1, null]}))]}),
        json!({"type": "tool", "tool_call_id": "call#f#0", "content": "three"}),
        json!({"type": "human", "content": "and?"}),
    ];
    messages.into_iter().map(Value::from).collect()
}

fn requests() -> Vec<ModelRequest> {
    let plain = ModelRequest {
        messages: conversation(),
        ..ModelRequest::default()
    };
    let tools: Vec<ToolSpec> = ["f", "g"]
        .map(|name| ToolSpec {
            name: name.to_owned(),
            description: "Does it.".to_owned(),
            parameters: json!({"type": "object", "properties": {"x": {"type": "integer"}}, "$defs": {"a": {}}}),
        })
        .into();
    let mut requests = vec![plain.clone()];
    for tool_choice in [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None] {
        requests.push(ModelRequest {
            tools: tools.clone(),
            tool_choice,
            temperature: Some(0.25),
            max_tokens: Some(77),
            ..plain.clone()
        });
    }
    for reasoning in [
        Reasoning::None,
        Reasoning::Minimal,
        Reasoning::Low,
        Reasoning::Medium,
        Reasoning::High,
    ] {
        requests.push(ModelRequest {
            reasoning: Some(reasoning),
            output: Some(json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}, "o": {"type": "string"}}, "required": ["n"]})),
            ..plain.clone()
        });
    }
    requests
}

const MODELS: &[(AdapterKind, &[&str])] = &[
    (
        AdapterKind::OpenAI,
        &[
            "gpt-4o-mini",
            "gpt-5-mini",
            "gpt-5.6",
            "gpt-6-astra",
            "o3",
            "gpt-5-high",
            "llama3",
            "gpt-oss-20b",
        ],
    ),
    (AdapterKind::DeepSeek, &["deepseek-chat", "deepseek-r1-zero"]),
    (AdapterKind::Mistral, &["mistral-large", "magistral-medium"]),
    (AdapterKind::Xai, &["grok-4"]),
    (AdapterKind::Groq, &["llama-3.3-70b"]),
    (AdapterKind::Moonshot, &["kimi-k2"]),
    (AdapterKind::OpenRouter, &["openai/gpt-4.1"]),
    (
        AdapterKind::Anthropic,
        &[
            "claude-sonnet-4-5",
            "claude-sonnet-4-6",
            "claude-sonnet-5",
            "claude-opus-4-20250514",
            "claude-opus-4-1",
            "claude-opus-4-5",
            "claude-opus-4-6",
            "claude-opus-4-7",
            "claude-opus-4-8-20260101",
            "claude-opus-5",
            "claude-haiku-4-5",
            "claude-haiku-5",
            "claude-3-5-sonnet-20241022",
            "claude-3-7-sonnet-latest",
            "claude-3-opus-20240229",
            "claude-3-haiku",
            "claude-fable-5-1",
            "claude-mythos-1",
            "scripted-1",
            "proxy.claude-opus-4-7",
            "claude-opus-4-6-max",
            "claude-opus-4-7-xhigh",
            "claude-sonnet-4-5-low",
        ],
    ),
    (AdapterKind::MiniMax, &["MiniMax-M2"]),
    (
        AdapterKind::Gemini,
        &[
            "gemini-2.5-flash",
            "gemini-3-pro",
            "gemini-2.5-pro-high",
            "gemini-2.5-flash-none",
            "gemma-4-27b",
        ],
    ),
    (AdapterKind::Ollama, &["llama3", "qwen3-high"]),
];

/// Removes what the provider layer does not send: signatures of calls, which it loses.
fn without_signatures(mut body: Json) -> Json {
    let messages = body.get_mut("messages").and_then(Json::as_array_mut);
    for message in messages.into_iter().flatten() {
        let calls = message.get_mut("tool_calls").and_then(Json::as_array_mut);
        for call in calls.into_iter().flatten() {
            call.as_object_mut().unwrap().remove("extra_content");
        }
    }
    body
}

#[tokio::test]
async fn what_is_sent_is_what_the_provider_layer_sends() {
    let (url, told) = listener();
    let client = made_client().unwrap();
    for (kind, models) in MODELS {
        let form = WireForm::of(*kind).unwrap();
        for model in *models {
            for request in requests() {
                let name = format!("{}::{model}", kind.as_lower_str());
                let chat = || messages::chat_messages(&request.messages, *kind, "x").unwrap();
                let service = Service {
                    client: &client,
                    target: ServiceTarget {
                        endpoint: Endpoint::from_owned(url.as_str()),
                        auth: AuthData::from_single("the-key"),
                        model: ModelIden::new(*kind, name.as_str()),
                    },
                    key: Some("the-key".to_owned()),
                    route: ModelRoute {
                        kind: *kind,
                        name: name.clone(),
                        label: String::new(),
                        connection: None,
                        base_url: Some(url.clone()),
                        keychain: false,
                        variable: None,
                    },
                    asked: RequestTarget {
                        model: name.clone(),
                        provider: String::new(),
                        key: KeyPlace::Variable("KEY".to_owned()),
                    },
                };
                let mut theirs = service.provided(chat(), &request, false).await.unwrap();
                theirs.drained().await;
                let (their_head, their_body) = told.recv().unwrap();
                assert!(
                    service.sent(form, chat(), &request, None).await.is_err(),
                    "it is refused"
                );
                let (our_head, our_body) = told.recv().unwrap();
                assert_eq!(without_signatures(our_body), their_body, "{name} {request:?}");
                let lines = |head: &str| {
                    let is_ours = |line: &&str| {
                        [
                            "post ",
                            "content-type",
                            "authorization",
                            "x-api-key",
                            "anthropic-version",
                            "x-goog-api-key",
                        ]
                        .iter()
                        .any(|start| line.starts_with(start))
                    };
                    let mut lines: Vec<String> = head.lines().filter(is_ours).map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                assert_eq!(lines(&our_head), lines(&their_head), "{name}");
            }
        }
    }
}

#[test]
fn the_address_keeps_its_query() {
    let target = WireTarget {
        kind: AdapterKind::OpenAI,
        base_url: "https://x.azure.com/openai/deployments/d/?api-version=1",
        model: "m",
        key: "k",
    };
    let made = WireRequest::new(WireForm::OpenAi, target, Vec::new(), &ModelRequest::default()).unwrap();
    assert_eq!(
        made.url,
        "https://x.azure.com/openai/deployments/d/chat/completions?api-version=1"
    );
}
