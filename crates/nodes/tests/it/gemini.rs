//! Gemini's protocol as somebody else's server speaks it: exchanges with aimock.

use serde_json::json;
use superstep::Input;

use crate::exchange::Exchange;
use crate::ollama::{agent_works, environment, thinks_and_is_busy};
use crate::support::{build, one_node, run};

#[tokio::test]
async fn an_agent_calls_tools_and_reads_their_results() {
    agent_works("gemini-agent", "cloud::gemini-2.5-flash", "gemini").await;
}

#[tokio::test]
async fn reasoning_is_streamed_apart_and_a_limit_is_one() {
    thinks_and_is_busy("gemini-thinks", "cloud::gemini-2.5-flash").await;
}

/// The server has no answer to this, and says so with a status of its own.
#[tokio::test]
async fn what_the_server_refuses_is_reported_in_its_words() {
    let exchange = Exchange::start("gemini-refused").await;
    let graph = build(
        &one_node(
            json!({"answer": {"type": "string"}}),
            "model",
            json!({"model": "cloud::gemini-2.5-flash", "prompt": "nobody prepared this", "into": "answer"}),
        ),
        &environment(&exchange),
    );
    let (_, result) = run(&graph, Input::value(superstep::json!({})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ModelNotFoundError") && text.contains("No fixture matched"),
        "{text}"
    );
    assert!(!text.contains("key-of-the-cloud"), "{text}");
    exchange.finish();
}
