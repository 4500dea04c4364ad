//! The first two minutes of a newcomer, without the window: open an example, change it, run it, answer its question,
//! look at an old checkpoint, edit the state there, fork, run on, compare, and take the change back.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::{AppEvent, TokenPiece};

fn key<'a>(snapshot: &'a Value, name: &str) -> &'a Value {
    snapshot["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["key"] == name)
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_an_example_to_a_fork() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;

    // Open an example: it is copied, and the copy is the user's.
    let graph = app.ok("graph.openExample", json!({"id": "refund-desk"})).await;
    let id = graph["graphId"].as_str().unwrap().to_owned();
    assert!(
        graph["path"]
            .as_str()
            .unwrap()
            .starts_with(dir.path().canonicalize().unwrap().to_str().unwrap())
    );
    assert_eq!(graph["diagnostics"], json!([]), "an example has no problems");
    let again = app.ok("graph.open", json!({"path": graph["path"]})).await;
    assert_eq!(
        again["graphId"], graph["graphId"],
        "the same path is the same document"
    );

    // Change it: another default.
    let record = |view: &Value, id: &str| -> Value {
        view["records"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["id"] == id)
            .unwrap()["value"]
            .clone()
    };
    let before = record(&graph, "node:decline");
    let mut after = before.clone();
    after["title"] = "Say no".into();
    let change = json!({"id": "node:decline", "from": before, "to": after});
    let applied = app
        .ok(
            "graph.apply",
            json!({"graphId": id, "baseRev": 0, "ops": [change]}),
        )
        .await;
    assert_eq!(applied["rev"], 1);

    // Run it: it streams a model's text and stops at the question.
    let input = graph["sampleInput"].clone();
    let (run, happened) = app
        .run(json!({"graphId": id, "action": {"type": "input", "input": input}}))
        .await;
    assert_eq!(
        (&run["status"], &run["problem"]),
        (&json!("asking"), &Value::Null)
    );
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let text: String = happened
        .iter()
        .filter_map(|event| match event {
            AppEvent::Token {
                node,
                piece: TokenPiece::Text { text },
                ..
            } if node == "draft" => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let state = app.state(&thread, None).await;
    assert_eq!(
        state["draft"],
        Value::String(text),
        "the streamed text is the text in the state"
    );
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["questions"], &view["next"]),
        (&json!("asking"), &json!(1), &json!(["review"]))
    );
    assert!(
        view["title"]
            .as_str()
            .unwrap()
            .starts_with("The lamp arrived broken")
    );

    // Answer: a revision goes round the loop, with the question asked again.
    let question = |inbox: Value| inbox["questions"][0].clone();
    let asked = question(app.ok("inbox.list", json!({})).await);
    assert_eq!(
        (&asked["node"], &asked["threadId"]),
        (&json!("review"), &json!(thread))
    );
    assert_eq!(asked["choices"].as_array().unwrap().len(), 3);
    assert_eq!(asked["schema"]["required"], json!(["decision"]));
    let answer = |question: &Value, answer: Value| json!({"threadId": thread, "action": {"type": "resume", "answers": {question["interruptId"].as_str().unwrap(): answer}}});
    let (run, _) = app.run(answer(&asked, json!({"decision": "maybe"}))).await;
    assert_eq!(
        run["status"], "asking",
        "an answer that does not fit is asked for again"
    );
    let refused = question(app.ok("inbox.list", json!({})).await);
    assert!(
        refused["refused"].as_str().unwrap().contains("maybe"),
        "and the reason is shown: {refused}"
    );
    let (run, _) = app
        .run(answer(
            &refused,
            json!({"decision": "revise", "note": "be kinder"}),
        ))
        .await;
    assert_eq!(run["status"], "asking");
    let late = app
        .refused("run.start", answer(&asked, json!({"decision": "approve"})))
        .await;
    assert_eq!(late.code, "already-answered", "nothing is answered twice");
    let asked = question(app.ok("inbox.list", json!({})).await);
    let (run, _) = app.run(answer(&asked, json!({"decision": "approve"}))).await;
    assert_eq!(run["status"], "done");
    assert_eq!(app.ok("inbox.list", json!({})).await["questions"], json!([]));
    let first_end = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&first_end["status"], &first_end["next"]),
        (&json!("done"), &json!([]))
    );
    assert_eq!(app.state(&thread, None).await["outcome"], "paid");

    // Where it went: round the loop once.
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let times = |from: &str, to: &str| {
        let edge = snapshot["taken"]
            .as_array()
            .unwrap()
            .iter()
            .find(|e| e["from"] == from && e["to"] == to);
        edge.map_or(0, |edge| edge["times"].as_u64().unwrap())
    };
    assert_eq!(
        (
            times("review", "propose"),
            times("review", "pay"),
            times("review", "decline")
        ),
        (1, 1, 0)
    );
    assert_eq!(
        (
            times("__start__", "classify"),
            times("propose", "draft"),
            times("close", "__end__")
        ),
        (1, 2, 1)
    );

    // Look at an old checkpoint: the one before the first draft.
    let listed = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let checkpoints = listed["checkpoints"].as_array().unwrap();
    let old = checkpoints
        .iter()
        .rev()
        .find(|c| c["next"] == json!(["draft"]))
        .unwrap();
    let old_id = old["id"].as_str().unwrap();
    let snapshot = app
        .ok(
            "thread.snapshot",
            json!({"threadId": thread, "checkpointId": old_id}),
        )
        .await;
    assert_eq!(
        (&snapshot["isHead"], &snapshot["next"]),
        (&json!(false), &json!(["draft"]))
    );
    let amount = key(&snapshot, "amount");
    assert_eq!(
        (&amount["change"], &amount["value"]["value"]),
        (&json!("added"), &json!(40))
    );
    assert_eq!(amount["writers"], json!(["propose"]));
    assert_eq!(key(&snapshot, "category")["change"], "same");
    assert_eq!(key(&snapshot, "attempts")["reducer"], "add");
    let task = &snapshot["tasks"][0];
    assert_eq!(
        (&task["node"], &task["status"], &task["targets"]),
        (&json!("draft"), &json!("done"), &json!(["review"]))
    );
    assert!(task["millis"].is_u64(), "durations are kept: {task}");

    // Edit the state there, as the node that had just run: a preview first, then the fork.
    let edit = |preview: bool| {
        json!({"threadId": thread, "checkpointId": old_id, "asNode": "propose", "overwrite": ["attempts"],
               "values": {"amount": 5, "attempts": 2}, "preview": preview})
    };
    let preview = app.ok("thread.update", edit(true)).await;
    assert_eq!(
        (&preview["next"], preview.get("checkpointId")),
        (&json!(["draft"]), None)
    );
    let count = app.ok("thread.checkpoints", json!({"threadId": thread})).await["checkpoints"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(count, checkpoints.len(), "a preview stores nothing");
    let fork = app.ok("thread.update", edit(false)).await;
    let fork_id = fork["checkpointId"].as_str().unwrap();
    let listed = app
        .ok("thread.checkpoints", json!({"threadId": thread, "limit": 1}))
        .await;
    let head = &listed["checkpoints"][0];
    assert_eq!(
        (&head["id"], &head["parent"]),
        (&json!(fork_id), &old["id"]),
        "the fork continues the old checkpoint"
    );
    assert_eq!(
        (&head["source"], &head["asNode"], &listed["more"]),
        (&json!("update"), &json!("propose"), &json!(true))
    );
    assert_eq!(
        head["updated"],
        json!(["amount", "attempts"]),
        "the list says what was edited"
    );
    for (values, says) in [
        (json!({"amount": "much"}), "amount"),
        (json!({"amuont": 1}), "amuont"),
    ] {
        let edit = json!({"threadId": thread, "asNode": "propose", "values": values});
        let refused = app.refused("thread.update", edit).await;
        assert_eq!(refused.code, "does-not-fit");
        assert!(refused.message.contains(says), "{}", refused.message);
    }
    let wrong = json!({"threadId": thread, "action": {"type": "input", "input": {"request": 5}}});
    assert_eq!(app.refused("run.start", wrong).await.code, "does-not-fit");
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    assert_eq!(
        key(&snapshot, "attempts")["value"]["value"],
        2,
        "overwritten, not added to"
    );
    assert_eq!(key(&snapshot, "amount")["previous"]["value"], 40);
    assert_eq!(key(&snapshot, "amount")["writers"], json!(["propose"]));

    // Run on from there, one super-step and then to the question.
    let (run, _) = app
        .run(json!({"threadId": thread, "singleStep": true, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "paused");
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["next"]),
        (&json!("paused"), &json!(["review"]))
    );
    assert!(
        app.state(&thread, None).await["draft"]
            .as_str()
            .unwrap()
            .contains("5 EUR")
    );
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "asking");

    // Compare the two ends.
    let request = json!({"left": {"threadId": thread, "checkpointId": first_end["head"]}, "right": {"threadId": thread}});
    let comparison = app.ok("thread.compare", request).await;
    assert_eq!(comparison["commonAncestor"], json!(old_id));
    let differs = |pointer: &str| {
        comparison["differences"]
            .as_array()
            .unwrap()
            .iter()
            .find(|d| d["pointer"] == pointer)
            .map(|d| d["change"].clone())
    };
    assert_eq!(differs("/amount"), Some(json!("changed")));
    assert_eq!(differs("/payment"), Some(json!("removed")));
    assert!(
        comparison["equalKeys"]
            .as_array()
            .unwrap()
            .contains(&json!("request"))
    );

    // Nothing of the first branch is lost.
    assert_eq!(
        app.state(&thread, first_end["head"].as_str()).await["outcome"],
        "paid"
    );

    // Take the change back.
    let undo = json!({"id": "node:decline", "from": after, "to": before});
    app.ok("graph.apply", json!({"graphId": id, "baseRev": 1, "ops": [undo]}))
        .await;
    let view = app.ok("graph.get", json!({"graphId": id})).await;
    assert_eq!(view["records"], graph["records"]);
    app.workbench.shutdown().await;
}
