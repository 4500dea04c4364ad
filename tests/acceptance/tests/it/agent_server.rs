//! A LangGraph server in the workbench: opened by its address like a graph, drawn, run, asked, answered and left.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_test_servers::AgentServerReplay;
use superstep_workbench::wire::{AppEvent, RunStatus};

fn names<'a>(view: &'a Value, prefix: &str) -> Vec<&'a str> {
    let records = view["records"].as_array().unwrap().iter();
    records
        .filter_map(|record| record["id"].as_str()?.strip_prefix(prefix))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_opened_run_answered_and_left() {
    let server = AgentServerReplay::shop_with(&json!([]));
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let several = app.refused("graph.open", json!({"path": server.url()})).await;
    assert_eq!(several.code, "server-assistant");
    assert!(several.remedy.unwrap().contains("#shop"));
    let address = format!("{}#shop", server.url());
    let graph = app.ok("graph.open", json!({"path": address})).await;
    assert_eq!(names(&graph, "node:"), ["check", "pay", "done"]);
    assert_eq!(names(&graph, "key:"), ["n", "log"]);
    let attached = &graph["seen"]["attached"];
    assert_eq!(
        (&attached["server"], &attached["named"]),
        (&json!(true), &json!(address))
    );
    let id = graph["graphId"].clone();
    let inside = app
        .ok("graph.inside", json!({"graphId": id, "path": ["pay"]}))
        .await;
    assert_eq!(names(&inside, "node:"), ["charge", "ask"]);
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(
        (&info["kind"], &info["attached"]),
        (&json!("agent-server"), &json!(address))
    );
    let recents = app.ok("app.info", json!({})).await["recents"].clone();
    assert_eq!(recents[0]["exists"], true, "{recents}");

    let action = json!({"type": "input", "input": {"n": 1}});
    let (run, events) = app.run(json!({"graphId": id, "action": action})).await;
    assert_eq!(run["status"], "asking", "{run}");
    let began: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            AppEvent::TaskStarted { node, .. } => Some(&**node),
            _ => None,
        })
        .collect();
    assert!(began.starts_with(&["check", "pay"]), "{began:?}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    assert_eq!(server.thread(), thread);
    let threads = app.ok("thread.list", json!({"graphId": id})).await;
    assert_eq!(threads["threads"][0]["status"], "asking", "{threads}");

    let asked = app.ok("inbox.list", json!({})).await["questions"][0].clone();
    assert_eq!(asked["value"]["question"], "Pay 2?", "{asked}");
    let answers = json!({asked["interruptId"].as_str().unwrap(): "yes"});
    let action = json!({"type": "resume", "answers": answers, "checkpointId": asked["checkpointId"]});
    let request = json!({"graphId": id, "threadId": thread, "action": action});
    let given = app
        .ok("answer.give", json!({"starts": [request], "holdMs": 0}))
        .await;
    assert_eq!(given["refused"], json!([]));
    let ended = |event: &AppEvent| match event {
        AppEvent::Run { run } if run.status != RunStatus::Running => Some(run.status),
        _ => None,
    };
    assert_eq!(app.until(ended).await, RunStatus::Done);
    let log = app.state(&thread, None).await["log"].clone();
    assert!(log.as_array().unwrap().contains(&json!("done")), "{log}");
    let steps = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    assert_eq!(steps["checkpoints"].as_array().unwrap().len(), 5, "{steps}");

    app.ok("storage.use", json!({})).await;
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(info.get("attached"), None);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_elsewhere_is_asked_about_first() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let address = json!({"path": "http://10.255.255.1:2024#shop"});
    let refused = app.refused("graph.open", address).await;
    assert_eq!(refused.code, "trust-needed");
    let needed = refused.trust.unwrap();
    assert_eq!(
        (&*needed.project, needed.wants.len()),
        ("http://10.255.255.1:2024", 1)
    );
    let unfit = app
        .refused("graph.open", json!({"path": "http://h?x-api-key=hunter4"}))
        .await;
    assert_eq!(unfit.code, "server-address");
    assert!(!unfit.to_string().contains("hunter4"));
    let gone = { AgentServerReplay::shop_with(&json!([])).url() };
    let gone = app.refused("graph.open", json!({"path": gone})).await;
    assert_eq!(gone.code, "server-unreachable");
    app.close().await;
}
