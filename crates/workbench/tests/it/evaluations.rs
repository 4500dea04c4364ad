//! Evaluations of an open graph: listed, run with progress, stopped, and fed by threads.

use serde_json::{Value, json};
use superstep_acceptance::App;

/// A graph that doubles a number after a while, in a folder with an evaluation of `rows` rows.
async fn desk(app: &App, folder: &std::path::Path, rows: u32, wait_ms: u32) -> String {
    let evaluations = folder.join("evaluations");
    std::fs::create_dir_all(&evaluations).unwrap();
    let source = format!(
        "const until = Date.now() + {wait_ms}; while (Date.now() < until) {{}} return {{n: state.n * 2}};"
    );
    let graph = json!({
        "format": "superstep/1", "name": "Desk",
        "state": {"n": {"type": "integer"}},
        "nodes": {"double": {"kind": "code", "config": {"source": source}}},
        "edges": [{"from": "__start__", "to": "double"}, {"from": "double", "to": "__end__"}]
    });
    std::fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let lines: Vec<String> = (1..=rows)
        .map(|n| json!({"input": {"n": n}, "expect": {"n": n * 2}}).to_string())
        .collect();
    std::fs::write(evaluations.join("numbers.jsonl"), lines.join("\n")).unwrap();
    let file = json!({"about": "Is it doubled?", "rows": "numbers.jsonl", "concurrency": 1});
    std::fs::write(evaluations.join("numbers.json"), file.to_string()).unwrap();
    std::fs::write(evaluations.join("broken.json"), "{\"rows\": 3}").unwrap();
    let opened = app
        .ok("graph.open", json!({"path": folder.join("graph.json")}))
        .await;
    opened["graphId"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_evaluation_is_listed_run_kept_and_given_a_thread() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let graph = desk(&app, dir.path(), 3, 0).await;
    let list = app.ok("evaluation.list", json!({"graphId": graph})).await;
    let [broken, numbers] = list["evaluations"].as_array().unwrap().as_slice() else {
        panic!("{list}")
    };
    assert!(broken["error"].as_str().unwrap().contains("rows"), "{broken}");
    assert_eq!(
        (&numbers["rows"], &numbers["variants"], &numbers["history"]),
        (&json!(3), &json!(["as it is"]), &json!([]))
    );
    let run = async |again: bool| {
        let request = json!({"graphId": graph, "name": "numbers", "again": again});
        app.ok("evaluation.run", request).await
    };
    let first = run(false).await;
    assert_eq!(first["variants"][0]["passed"], json!(3), "{first}");
    assert_eq!(run(false).await["variants"][0]["reused"], json!(3));
    assert_eq!(run(true).await["variants"][0]["reused"], json!(0));
    let list = app.ok("evaluation.list", json!({"graphId": graph})).await;
    assert_eq!(list["evaluations"][1]["history"].as_array().unwrap().len(), 3);
    let row = app
        .ok(
            "evaluation.row",
            json!({"graphId": graph, "name": "numbers", "row": 2}),
        )
        .await;
    assert_eq!(row["inputs"], json!([{"n": 2}]));
    for (name, row) in [("numbers", 4), ("numbers", 0), ("other", 1)] {
        let request = json!({"graphId": graph, "name": name, "row": row});
        assert_eq!(app.refused("evaluation.row", request).await.code, "not-found");
    }

    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {"n": 21}}}))
        .await;
    let added = json!({"graphId": graph, "name": "numbers", "threadId": run["threadId"], "row": "mine"});
    app.ok("evaluation.add", added).await;
    let row = app
        .ok(
            "evaluation.row",
            json!({"graphId": graph, "name": "numbers", "row": 4}),
        )
        .await;
    assert_eq!(
        row,
        json!({"name": "mine", "inputs": [{"n": 21}], "expect": {"n": 42}})
    );
    let list: Value = app.ok("thread.list", json!({})).await;
    assert_eq!(
        list["threads"].as_array().unwrap().len(),
        1,
        "rows leave no threads"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_evaluation_answers_with_what_has_run_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let graph = desk(&app, dir.path(), 200, 50).await;
    let request = json!({"graphId": graph, "name": "numbers", "work": "w"});
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        app.ok("work.cancel", json!({"work": "w"})).await;
    };
    let (stopped, ()) = tokio::join!(app.ok("evaluation.run", request), stop);
    assert_eq!(stopped["stopped"], json!(true));
    let one = &stopped["variants"][0];
    let (passed, cut) = (one["passed"].as_u64().unwrap(), one["cut"].as_u64().unwrap());
    assert!(passed > 0 && cut > 0 && passed + cut == 200, "{one}");
    let list = app.ok("evaluation.list", json!({"graphId": graph})).await;
    assert_eq!(list["evaluations"][1]["history"], json!([]), "it did not end");
    let rest = app
        .ok("evaluation.run", json!({"graphId": graph, "name": "numbers"}))
        .await;
    assert_eq!(rest["variants"][0]["passed"], json!(200));
    assert_eq!(rest["variants"][0]["reused"].as_u64(), Some(passed));
}
