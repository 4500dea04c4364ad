//! Invariants at a moment and over all threads, what another condition would have decided, watches over time, saved searches.

use serde_json::{Value, json};
use superstep_acceptance::App;

use crate::threads::thread_of;

/// Two nodes at once: `left` adds 1 to the total, `right` adds 10, and each has an edge that asks for it.
fn beside() -> Value {
    let adds = |n: &str| json!({"kind": "assign", "config": {"set": {"total": n}}});
    json!({
        "key:total": {"type": "integer", "reducer": "add", "default": 0, "invariants": [{"must": "new < 20"}]},
        "key:steps": {"type": "integer", "reducer": "add", "default": 0},
        "key:by": {"type": "integer", "default": 1},
        "node:left": {"kind": "assign", "config": {"set": {"total": "state.by", "steps": "1"}}},
        "node:right": adds("10"),
        "node:after": {"kind": "assign", "config": {"set": {"total": "100"}}, "invariants": [
            {"must": "state.total < 100", "message": "Small"}
        ]},
        "edge:1": {"from": "__start__", "to": "left"},
        "edge:2": {"from": "__start__", "to": "right"},
        "edge:again": {"from": "left", "to": "left", "when": "state.total < 3"},
        "edge:on": {"from": "right", "to": "after", "when": "state.total >= 10"},
        "edge:3": {"from": "after", "to": "__end__"}
    })
}

async fn run(app: &mut App, graph: &str, by: u32) -> String {
    let action = json!({"type": "input", "input": {"by": by}});
    thread_of(app, json!({"graphId": graph, "action": action})).await
}

/// The answers of a command that goes on, one after the other.
/// Returns the decisions of all answers that would be others.
fn changed_of(answers: &[Value]) -> Vec<&Value> {
    let changed = answers.iter().map(|answer| answer["changed"].as_array());
    changed.flat_map(Option::unwrap).collect()
}

async fn all(app: &App, command: &str, mut request: Value) -> Vec<Value> {
    let mut answers = Vec::new();
    loop {
        let answer = app.ok(command, request.clone()).await;
        let next = answer["progress"].get("next").cloned();
        answers.push(answer);
        match next {
            Some(next) => request["after"] = next,
            None => return answers,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_is_asked_again_with_the_state_that_the_edge_saw() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Beside", beside()).await;
    let thread = run(&mut app, &graph, 1).await;
    // `left` decided with 1, not with the 11 that the step left: what runs beside a node is not seen by its edges.
    let ask = |edge: &str, expression: &str| json!({"graphId": graph, "edge": edge, "expression": expression, "limit": 0});
    let answers = all(&app, "edge.reconsider", ask("again", "state.total == 1")).await;
    let sum = |name: &str| {
        answers
            .iter()
            .map(|answer| answer[name].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((sum("threads"), sum("decisions"), sum("notRecorded")), (1, 2, 0));
    assert_eq!(
        changed_of(&answers),
        Vec::<&Value>::new(),
        "it holds at 1, as the edge's own does, and no more at 12"
    );
    let answers = all(&app, "edge.reconsider", ask("again", "state.total > 5")).await;
    let changed = changed_of(&answers);
    let shown: Vec<_> = changed
        .iter()
        .map(|one| (&one["step"], &one["was"]["to"], &one["now"]["to"]))
        .collect();
    let (none, left) = (json!([]), json!(["left"]));
    assert_eq!(shown, [(&json!(2), &none, &left), (&json!(1), &left, &none)]);
    assert_eq!(changed[0]["threadId"], thread.as_str());
    let on = all(&app, "edge.reconsider", ask("on", "state.total >= 11")).await;
    assert_eq!(changed_of(&on).len(), 1, "`right` saw its own 10 alone");
    let refused = app.refused("edge.reconsider", ask("3", "true")).await;
    assert!(refused.message.contains("decides nothing"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invariants_are_checked_at_a_moment_and_over_all_threads() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Beside", beside()).await;
    let thread = run(&mut app, &graph, 5).await;
    let other = app.draft("Other", beside()).await;
    run(&mut app, &other, 5).await;

    let answers = all(&app, "invariants.check", json!({"graphId": graph, "limit": 0})).await;
    let moments: Vec<_> = answers
        .iter()
        .flat_map(|answer| answer["moments"].as_array().unwrap())
        .collect();
    let shown: Vec<_> = moments
        .iter()
        .map(|one| (one["invariant"].as_str().unwrap(), &one["step"]))
        .collect();
    assert_eq!(shown, [("node:after#1", &json!(2)), ("key:total#1", &json!(2))]);
    assert!(
        moments.iter().all(|one| one["threadId"] == thread.as_str()),
        "those of this graph alone"
    );
    assert_eq!(moments[0]["says"], "Small");
    let only = json!({"graphId": graph, "only": "key:total#1", "limit": 0});
    let answers = all(&app, "invariants.check", only).await;
    let moments = answers
        .iter()
        .flat_map(|answer| answer["moments"].as_array().unwrap());
    assert_eq!(moments.count(), 1);
    let gone = app
        .refused(
            "invariants.check",
            json!({"graphId": graph, "only": "key:total#9", "limit": 0}),
        )
        .await;
    assert!(gone.message.contains("key:total#9"), "{gone}");

    let checkpoints = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let mut stands = Vec::new();
    for checkpoint in checkpoints["checkpoints"].as_array().unwrap().iter().rev() {
        let at = json!({"graphId": graph, "threadId": thread, "checkpointId": checkpoint["id"]});
        let answer = app.ok("invariants.at", at).await;
        let states = answer["invariants"].as_array().unwrap().iter();
        let states: Vec<&str> = states.map(|one| one["state"].as_str().unwrap()).collect();
        stands.push(states.join(" "));
    }
    assert_eq!(stands.last().unwrap(), "broken broken");
    assert_eq!(stands[stands.len() - 2], "holds elsewhere", "{stands:?}");
    let newest = app
        .ok("invariants.at", json!({"graphId": graph, "threadId": thread}))
        .await;
    assert_eq!(
        newest["invariants"][0]["state"], "broken",
        "without a checkpoint it is the newest"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_is_shown_over_the_steps_of_its_branch() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Beside", beside()).await;
    let thread = run(&mut app, &graph, 1).await;
    let history = |expression: &str| json!({"threadId": thread, "expression": expression});
    let answer = app.ok("watch.history", history("state.total")).await;
    let changes = answer["changes"].as_array().unwrap();
    let shown: Vec<_> = changes
        .iter()
        .map(|one| (one["step"].as_i64().unwrap(), &one["result"]["value"]["value"]))
        .collect();
    assert_eq!(
        shown
            .iter()
            .map(|(_, value)| (*value).clone())
            .collect::<Vec<_>>(),
        [json!(0), json!(11), json!(112)]
    );
    assert_eq!(shown.last().unwrap().0, 2);
    let steady = app.ok("watch.history", history("state.by")).await;
    assert!(steady["changes"].as_array().unwrap().len() <= 1 + 1, "{steady}");
    let refused = app.refused("watch.history", history("state.")).await;
    assert!(refused.remedy.is_some(), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn saved_searches_and_shortcuts_are_kept_with_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let mut settings = app.ok("app.info", json!({})).await["settings"].clone();
    let query = json!({"name": "Refunds", "words": "refund", "conditions": [{"kind": "where", "value": "state.n > 2"}]});
    settings["queries"] = json!([query]);
    settings["shortcuts"] = json!({"run.start": ["Mod+R"], "view.minimap": []});
    app.ok("settings.set", settings).await;
    app.close().await;
    let app = App::open(dir.path()).await;
    let kept = app.ok("app.info", json!({})).await["settings"].clone();
    assert_eq!(kept["queries"], json!([query]));
    assert_eq!(
        kept["shortcuts"],
        json!({"run.start": ["Mod+R"], "view.minimap": []})
    );
}
