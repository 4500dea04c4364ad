//! Documents on a disk that other programs write to as well.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

const GRAPH: &str = r#"{
  "format": "superstep/1",
  "name": "One",
  "x-kept": [1, 2],
  "state": { "n": { "type": "integer", "reducer": "add" } },
  "nodes": { "a": { "kind": "assign", "config": { "set": { "n": "1" } } } },
  "edges": [{ "from": "__start__", "to": "a" }, { "from": "a", "to": "__end__" }]
}
"#;

fn rename(to: &str, from: Value) -> Value {
    let mut head = from.clone();
    head["name"] = to.into();
    json!([{"id": "doc", "from": from, "to": head}])
}

fn head(view: &Value) -> Value {
    view["records"][0]["value"].clone()
}

/// On one thread, so that whatever does not go out of the way is waited for.
#[tokio::test(flavor = "current_thread")]
async fn a_long_check_of_a_document_does_not_hold_up_other_requests() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("one.json");
    let mut graph: Value = serde_json::from_str(GRAPH).unwrap();
    for n in 0..3_000 {
        let set = format!("(state.n + {n}) * 2 if state.n > {n} else [state.n, {n}]|sum");
        graph["nodes"][format!("n{n}")] = json!({"kind": "assign", "config": {"set": {"n": set}}});
    }
    fs::write(&path, graph.to_string()).unwrap();
    let view = app.ok("graph.open", json!({"path": path})).await;
    let ops = rename("Two", head(&view));
    let request = json!({"graphId": view["graphId"], "baseRev": 0, "ops": ops});

    let mut apply = std::pin::pin!(app.ok("graph.apply", request));
    let mut turns = 0;
    loop {
        tokio::select! {
            biased;
            _ = &mut apply => break,
            _ = tokio::time::sleep(Duration::from_millis(1)) => turns += 1,
        }
    }
    // The one before the check begins, and the one when it has ended, say nothing.
    assert!(turns > 4, "others had {turns} turns");
}

#[tokio::test]
async fn saving_never_writes_over_what_was_not_seen() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("one.json");
    fs::write(&path, GRAPH).unwrap();
    let graph = app.ok("graph.open", json!({"path": path})).await;
    let id = &graph["graphId"];
    assert_eq!(
        (&graph["rev"], &graph["savedRev"], &graph["name"]),
        (&json!(0), &json!(0), &json!("One"))
    );

    app.ok(
        "graph.apply",
        json!({"graphId": id, "baseRev": 0, "ops": rename("Two", head(&graph))}),
    )
    .await;
    let stale = app
        .refused(
            "graph.apply",
            json!({"graphId": id, "baseRev": 0, "ops": rename("Three", head(&graph))}),
        )
        .await;
    assert_eq!(stale.code, "conflict");

    let theirs = GRAPH.replace("One", "Theirs");
    fs::write(&path, &theirs).unwrap();
    let changed = app.refused("graph.save", json!({"graphId": id})).await;
    assert_eq!(changed.code, "changed-on-disk");
    assert!(changed.remedy.is_some());
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        theirs,
        "a refused save writes nothing"
    );

    let saved = app
        .ok("graph.save", json!({"graphId": id, "overwrite": true}))
        .await;
    assert_eq!(saved["savedRev"], 1);
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\"Two\"") && text.contains("\"x-kept\""),
        "unknown fields are kept: {text}"
    );
    let copies = app.ok("graph.versions", json!({"graphId": id})).await;
    let copies = copies["versions"].as_array().unwrap();
    assert!(
        copies.len() >= 2,
        "what was written over is among the earlier versions: {copies:?}"
    );
    assert_eq!((&copies[0]["nodes"], &copies[0]["edges"]), (&json!(1), &json!(2)));

    // The version of the other program comes back as a new revision.
    let mut found = false;
    for copy in copies {
        let view = app
            .ok("graph.restore", json!({"graphId": id, "version": copy["id"]}))
            .await;
        found |= view["name"] == "Theirs";
    }
    assert!(found, "the overwritten version can be restored");
    let view = app.ok("graph.get", json!({"graphId": id})).await;
    assert!(view["rev"].as_u64().unwrap() > 1);

    let other = dir.path().join("other.json");
    fs::write(&other, "{}").unwrap();
    let exists = app
        .refused("graph.save", json!({"graphId": id, "path": other}))
        .await;
    assert_eq!(exists.code, "file-exists");
    assert_eq!(fs::read_to_string(&other).unwrap(), "{}");
    let third = dir.path().join("third");
    let saved = app.ok("graph.save", json!({"graphId": id, "path": third})).await;
    assert!(saved["path"].as_str().unwrap().ends_with("third.json"));
    let info = app.ok("app.info", json!({})).await;
    assert_eq!(info["recents"][0]["path"], saved["path"]);
    assert_eq!(info["recents"][0]["exists"], true);
}

#[tokio::test]
async fn a_file_that_is_no_graph_opens_as_text_and_only_its_text_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("file.json");
    let graph = r#"{"format": "superstep/1", "name": "G", "state": {}, "nodes": {}, "edges": []}"#;
    let comma = graph.replacen(',', "", 1);
    for (text, code) in [
        (comma.as_str(), "not-json"),
        ("", "not-json"),
        ("[1, 2, 3]", "not-an-object"),
        ("\u{feff}\"text\"\r\n", "not-an-object"),
        (r#"{"hello": 1}"#, "not-a-graph"),
        ("{}", "not-a-graph"),
        (
            r#"{"nodes": [{"typeVersion": 1}], "connections": {}}"#,
            "not-a-graph",
        ),
        (r#"{"nodes": [], "edges": []}"#, "not-a-graph"),
        (
            r#"{"graphs": {"agent": "./agent.py:graph"}, "dependencies": ["."]}"#,
            "not-a-graph",
        ),
        (r#"{"format": "other/1", "nodes": {"a": {}}}"#, "not-a-graph"),
        (
            r#"{"format": "superstep/clip/1", "nodes": {"a": {}}}"#,
            "not-a-graph",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let opened = app.ok("graph.open", json!({"path": path})).await;
        let id = opened["graphId"].clone();
        assert_eq!(
            (&opened["text"], opened["diagnostics"][0]["code"].as_str()),
            (&json!(text), Some(code))
        );
        assert_eq!(opened["records"].as_array().unwrap().len(), 1, "{text}");

        let ops = json!([{"id": "node:a", "from": null, "to": {"kind": "code"}, "at": 0}]);
        let edit = json!({"graphId": id, "baseRev": 0, "ops": ops});
        assert_eq!(
            app.refused("graph.apply", edit).await.code,
            "not-a-graph",
            "{text}"
        );
        app.ok("graph.save", json!({"graphId": id})).await;
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            text,
            "saving it changes nothing"
        );

        // Half corrected it is text still, which a crash does not take.
        let half = format!("{text} //");
        let typed = app
            .ok(
                "graph.writeText",
                json!({"graphId": id, "baseRev": 0, "text": half}),
            )
            .await;
        assert_eq!(
            (&typed["rev"], typed["diagnostics"][0]["severity"].as_str()),
            (&json!(1), Some("error"))
        );
        let stale = json!({"graphId": id, "baseRev": 0, "text": "x"});
        assert_eq!(app.refused("graph.writeText", stale).await.code, "conflict");
        app.ok("graph.close", json!({"graphId": id})).await;
        let again = app.ok("graph.open", json!({"path": path})).await;
        assert_eq!(
            (&again["text"], again["recoveredAt"].is_string()),
            (&json!(half), true)
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "nobody has saved");

        // It is a graph when it is saved as one, and what was there before can be had back, to the byte.
        let id = again["graphId"].clone();
        let whole = json!({"graphId": id, "baseRev": again["rev"], "text": graph});
        let typed = app.ok("graph.writeText", whole).await;
        assert_eq!(typed["diagnostics"], json!([]), "{typed}");
        app.ok("graph.save", json!({"graphId": id})).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), graph);
        let view = app.ok("graph.get", json!({"graphId": id})).await;
        assert_eq!((&view["name"], view.get("text")), (&json!("G"), None));
        let versions = app.ok("graph.versions", json!({"graphId": id})).await;
        let mut found = Vec::new();
        for version in versions["versions"].as_array().unwrap() {
            let read = json!({"graphId": id, "id": version["id"]});
            let content = app.ok("graph.version", read).await;
            if content["text"] == text {
                found.push(version["id"].clone());
            }
        }
        assert_eq!(found.len(), 1, "{text}: {versions}");
        let back = app
            .ok("graph.restore", json!({"graphId": id, "version": found[0]}))
            .await;
        assert_eq!(back["text"], text);
        app.ok("graph.save", json!({"graphId": id})).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        app.ok("graph.close", json!({"graphId": id, "discard": true}))
            .await;
    }
}

#[tokio::test]
async fn a_broken_file_opens_with_its_problems_and_does_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("broken.json");
    fs::write(&path, "{ \"nodes\": { \"a\": ").unwrap();
    let graph = app.ok("graph.open", json!({"path": path})).await;
    assert_eq!(graph["diagnostics"][0]["code"], "not-json");
    app.ok("graph.save", json!({"graphId": graph["graphId"]})).await;
    let run = json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {}}});
    assert_eq!(app.refused("run.start", run).await.code, "graph-invalid");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"nodes\": { \"a\": ");
    assert_eq!(
        app.refused("graph.open", json!({"path": dir.path().join("none.json")}))
            .await
            .code,
        "not-found"
    );
}

#[tokio::test]
async fn unsaved_changes_and_drafts_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let path = dir.path().join("one.json");
    fs::write(&path, GRAPH).unwrap();
    let draft = {
        let app = App::open(&data).await;
        let graph = app.ok("graph.open", json!({"path": path})).await;
        app.ok(
            "graph.apply",
            json!({"graphId": graph["graphId"], "baseRev": 0, "ops": rename("Two", head(&graph))}),
        )
        .await;
        let draft = app.draft("Scratch", json!({"key:x": {"type": "string"}, "node:a": {"kind": "assign", "config": {"set": {"x": "'y'"}}},
            "edge:1": {"from": "__start__", "to": "a"}})).await;
        app.workbench.shutdown().await;
        draft
    };
    let app = App::open(&data).await;
    assert_eq!(
        app.ok("app.info", json!({})).await["open"],
        json!([{"graphId": draft}]),
        "the draft is open again"
    );
    let view = app.ok("graph.get", json!({"graphId": draft})).await;
    assert_eq!(
        (&view["name"], view["records"].as_array().unwrap().len()),
        (&json!("Scratch"), 4)
    );
    assert!(view["recoveredAt"].is_string() && view["rev"] != view["savedRev"]);
    let graph = app.ok("graph.open", json!({"path": path})).await;
    assert_eq!(
        (&graph["name"], graph["recoveredAt"].is_string()),
        (&json!("Two"), true)
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        GRAPH,
        "the user's file is untouched until it is saved"
    );

    // Closing with `discard` forgets, closing without keeps.
    app.ok(
        "graph.close",
        json!({"graphId": graph["graphId"], "discard": true}),
    )
    .await;
    app.ok("graph.close", json!({"graphId": draft})).await;
    assert_eq!(app.ok("graph.open", json!({"path": path})).await["name"], "One");
    assert_eq!(
        app.ok("graph.get", json!({"graphId": draft})).await["name"],
        "Scratch"
    );
    app.ok("graph.close", json!({"graphId": draft, "discard": true}))
        .await;
    assert_eq!(
        app.refused("graph.get", json!({"graphId": draft})).await.code,
        "not-found"
    );
}

#[tokio::test]
async fn requests_that_make_no_sense_are_refused_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let problem = app
        .refused(
            "graph.apply",
            json!({"graphId": "g", "baseRev": 0, "ops": [{"id": 7}]}),
        )
        .await;
    assert_eq!(problem.code, "invalid-request");
    assert!(problem.message.contains("ops[0].id"), "{}", problem.message);
    assert_eq!(
        app.refused("graph.nothing", json!({})).await.code,
        "invalid-request"
    );
    assert_eq!(
        app.refused("graph.get", json!({"graphId": "g"})).await.code,
        "not-found"
    );
    assert_eq!(
        app.refused("graph.openExample", json!({"id": "../secret"}))
            .await
            .code,
        "not-found"
    );
    assert_eq!(
        app.refused("graph.versions", json!(null)).await.code,
        "invalid-request"
    );
    let info = app.ok("app.info", json!(null)).await;
    let kinds: Vec<&str> = info["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["kind"].as_str().unwrap())
        .collect();
    for kind in ["assign", "model", "tools", "code", "ask", "retrieve", "graph"] {
        assert!(kinds.contains(&kind), "{kind} is missing in {kinds:?}");
    }
    assert!(info["examples"].as_array().unwrap().len() >= 5);
    let alone = |id: &str| {
        let examples = info["examples"].as_array().unwrap();
        examples.iter().find(|example| example["id"] == id).unwrap()["alone"] == true
    };
    assert!(alone("service-desk") && alone("refund-desk"));
    assert!(!alone("supervisor"), "its agents are files of their own");
}

#[tokio::test]
async fn a_failing_autosave_is_reported_and_saving_still_works() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut app = App::open(&data).await;
    // Where the folder should be stands a file, as on a broken or full disk.
    fs::write(data.join("autosave"), "in the way").unwrap();
    let graph = app.ok("graph.new", json!({"name": "A"})).await;
    let id = graph["graphId"].clone();
    let reported = |event: &AppEvent| match event {
        AppEvent::Diagnostics { diagnostics, .. } => {
            Some(diagnostics.iter().any(|d| d.code == "autosave-failed"))
        }
        _ => None,
    };
    app.ok(
        "graph.apply",
        json!({"graphId": id, "baseRev": 0, "ops": rename("B", head(&graph))}),
    )
    .await;
    assert!(
        app.until(reported).await,
        "it is reported that changes are not kept"
    );
    let view = app.ok("graph.get", json!({"graphId": id})).await;
    assert!(
        view["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .any(|d| d["code"] == "autosave-failed")
    );
    fs::remove_file(data.join("autosave")).unwrap();
    app.ok(
        "graph.apply",
        json!({"graphId": id, "baseRev": 1, "ops": rename("C", head(&view))}),
    )
    .await;
    assert!(
        !app.until(reported).await,
        "the warning goes when changes are kept again"
    );
    let saved = app
        .ok(
            "graph.save",
            json!({"graphId": id, "path": dir.path().join("c.json")}),
        )
        .await;
    assert!(
        fs::read_to_string(saved["path"].as_str().unwrap())
            .unwrap()
            .contains("\"C\"")
    );
}
