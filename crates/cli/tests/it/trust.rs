//! What a graph may touch: nothing before it was allowed, by name or for one run.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value as Json, json};

use crate::User;

/// Answers every request and counts them.
fn server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let _ = socket.read(&mut [0; 4096]);
            let _ =
                socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nsome");
        }
    });
    (address, asked)
}

fn graph(address: &str) -> Json {
    json!({
        "format": "superstep/1", "name": "Fetches",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}},
        "nodes": {
            "ask": {"kind": "model", "config": {"model": "scripted", "pace_ms": 0, "messages": "messages",
                "into": "messages", "tools_of": "act", "script": [{"say": "", "calls": [{"tool": "get"}]}]}},
            "act": {"kind": "tools", "config": {"messages": "messages", "tools": [{
                "name": "get", "description": "Fetches.", "http": {"url": format!("http://{address}/x")}}]}},
        },
        "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "act"}, {"from": "act", "to": "__end__"}],
    })
}

const INPUT: &str = r#"{"messages": [{"role": "user", "content": "go"}]}"#;

#[test]
fn a_graph_reaches_what_was_allowed_and_nothing_before() {
    let (address, asked) = server();
    let user = User::new();
    let path = user.graph("graph.json", &graph(&address));
    let host = format!("host:{address}");
    let run = ["run", &path, "--input", INPUT];

    let refused = user.expect(2, &run);
    for part in [
        host.as_str(),
        "inside the own network",
        "node act",
        "superstep trust",
        "--trust",
    ] {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    assert!(
        user.expect(0, &["threads", "--json"]).out.trim() == "[]",
        "no thread was begun"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 0);

    let once: Vec<&str> = run.iter().copied().chain(["--trust"]).collect();
    let answer = user.expect(0, &once).json();
    assert_eq!(answer["messages"][2]["content"], "some");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    user.expect(2, &run);

    let shown = user.expect(0, &["trust", &path]);
    assert!(
        shown.out.contains("asks") && shown.err.contains("--all"),
        "{}{}",
        shown.out,
        shown.err
    );
    user.expect(2, &["trust", &path, "--allow", "hosts:x"]);
    user.expect(0, &["trust", &path, "--allow", "host:example.org"]);
    user.expect(2, &run);
    user.expect(0, &["trust", &path, "--all"]);
    user.expect(0, &run);
    assert_eq!(asked.load(Ordering::SeqCst), 2);

    let listed = user.expect(0, &["trust", "--json"]).json();
    let project = listed.as_object().unwrap().values().next().unwrap();
    let names: Vec<&str> = project
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["access"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(
        names.contains(&host.as_str()) && names.contains(&"host:example.org"),
        "{names:?}"
    );

    // A changed graph that wants more is asked about, and only for what is new.
    let mut more = graph(&address);
    more["nodes"]["act"]["config"]["tools"][0]["http"]["url"] = json!(format!("http://{address}/y"));
    more["nodes"]["ask"]["config"]["model"] = json!("openai::gpt-4o-mini");
    user.graph("graph.json", &more);
    let refused = user.expect(2, &run);
    assert!(
        refused.err.contains("host:api.openai.com")
            && refused.err.contains("key:OPENAI_API_KEY@api.openai.com")
            && !refused.err.contains(&host),
        "{}",
        refused.err
    );
    user.graph("graph.json", &graph(&address));
    user.expect(0, &["trust", &path, "--revoke", "--allow", &host]);
    user.expect(2, &run);
    user.expect(0, &["trust", &path, "--revoke"]);
    assert_eq!(user.expect(0, &["trust", "--json"]).out.trim(), "{}");
    // Of what is broken nobody says that it touches nothing.
    let mut broken = graph(&address);
    broken["nodes"]["act"]["config"]["tools"] = json!("none");
    user.graph("graph.json", &broken);
    let reported = user.expect(0, &["trust", &path]).err;
    assert!(
        reported.contains("has an error") || reported.contains("has 1 error"),
        "{reported}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}
