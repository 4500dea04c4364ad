//! One task in full, the visits of its node, and a model that is asked by itself.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::effects::{Counting, grant, opened};

/// A loop of three, packets that log, two nodes that are waited for, and a scripted model.
fn desk() -> Value {
    json!({
        "key:n": {"type": "integer", "default": 0},
        "key:items": {"type": "array"},
        "key:done": {"type": "array", "reducer": "append"},
        "key:text": {"type": "string"},
        "node:count": {"kind": "assign", "config": {"set": {"n": "state.n + 1", "items": "[4, 5, 6]"}}},
        "node:item": {"kind": "code", "effect": "reads",
            "config": {"source": "console.log('item', state.item); return {done: [state.item]};"}},
        "node:other": {"kind": "assign", "config": {"set": {"done": "'other'"}}},
        "node:late": {"kind": "assign", "config": {"set": {"done": "'late'"}}},
        "node:both": {"kind": "assign", "config": {"set": {"done": "'both'"}}},
        "node:write": {"kind": "model", "config": {"model": "scripted", "prompt": "About {{ state.n }}", "into": "text",
            "pace_ms": 0, "script": [{"say": "Three, or {{ state.n }}."}]}},
        "edge:1": {"from": "__start__", "to": "count"},
        "edge:2": {"from": "count", "route": "state.n < 3", "paths": {"true": "count", "false": "other"}},
        "edge:3": {"from": "other", "each": "state.items", "as": "item", "to": "item"},
        "edge:4": {"from": "other", "to": "late"},
        "edge:5": {"from": "late", "to": "write"},
        "edge:6": {"from": ["other", "write"], "to": "both"}
    })
}

struct Ran {
    app: App,
    graph: String,
    thread: String,
    _dir: tempfile::TempDir,
}

async fn ran() -> Ran {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
        .await;
    assert_eq!(run["status"], "done");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    Ran {
        app,
        graph,
        thread,
        _dir: dir,
    }
}

impl Ran {
    /// The checkpoint of a step, by what comes next.
    async fn before(&self, node: &str) -> String {
        let list = json!({"threadId": self.thread, "limit": 100});
        let list = self.app.ok("thread.checkpoints", list).await;
        let found = list["checkpoints"].as_array().unwrap().iter().find(|checkpoint| {
            checkpoint["next"]
                .as_array()
                .unwrap()
                .iter()
                .any(|next| next == node)
        });
        found.unwrap()["id"].as_str().unwrap().to_owned()
    }

    async fn tasks(&self, at: &str, node: &str) -> Vec<Value> {
        let snapshot = json!({"threadId": self.thread, "checkpointId": at});
        let snapshot = self.app.ok("thread.snapshot", snapshot).await;
        let tasks = snapshot["tasks"].as_array().unwrap().iter();
        tasks.filter(|task| task["node"] == node).cloned().collect()
    }

    async fn detail(&self, at: &str, task: &Value) -> Value {
        let asked = json!({"threadId": self.thread, "checkpointId": at, "taskId": task["id"]});
        self.app.ok("thread.task", asked).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_is_known_by_its_task_with_what_it_logged() {
    let ran = ran().await;
    let at = ran.before("item").await;
    let tasks = ran.tasks(&at, "item").await;
    let packets: Vec<&Value> = tasks.iter().map(|task| &task["packet"]["value"]).collect();
    assert_eq!(
        packets,
        [&json!({"item": 4}), &json!({"item": 5}), &json!({"item": 6})]
    );
    let detail = ran.detail(&at, &tasks[1]).await;
    assert_eq!(detail["input"]["kind"], "packet");
    assert_eq!(detail["input"]["value"]["value"], json!({"item": 5}));
    let logged: Vec<&Value> = detail["emitted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|emitted| &emitted["value"]["log"])
        .collect();
    assert_eq!(logged, ["item 5"], "and not what its siblings logged");
    assert_eq!(detail["effect"], "reads");
    assert_eq!(detail["spans"].as_array().unwrap().len(), 1);
    assert!(detail.get("unworked").is_none());

    let at = ran.before("late").await;
    let late = ran.tasks(&at, "late").await;
    assert!(late[0].get("packet").is_none(), "it sees the state");
    let detail = ran.detail(&at, &late[0]).await;
    assert_eq!(detail["input"]["kind"], "state");
    assert_eq!(detail["input"]["value"]["n"]["value"], 3);
    let nobody = json!({"threadId": ran.thread, "checkpointId": at, "taskId": "nobody"});
    assert_eq!(ran.app.refused("thread.task", nobody).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visits_are_counted_along_the_branch_and_joins_say_whom_they_wait_for() {
    let ran = ran().await;
    let visits = |node: &str, at: Option<String>| {
        let mut asked = json!({"threadId": ran.thread, "node": node});
        if let Some(at) = at {
            asked["checkpointId"] = at.into();
        }
        ran.app.ok("node.visits", asked)
    };
    let now = visits("count", None).await;
    assert_eq!((&now["total"], &now["at"]), (&json!(3), &json!(3)));
    assert_eq!(now["here"], now["last"]);
    let second = now["previous"]["checkpointId"].as_str().unwrap().to_owned();
    let second = visits("count", Some(second)).await;
    assert_eq!(second["at"], 2);
    assert_eq!(second["previous"], second["first"]);
    assert_eq!(second["next"], now["here"]);

    let never = visits("nowhere", None).await;
    assert_eq!((&never["total"], &never["at"]), (&json!(0), &json!(0)));
    assert!(never.get("here").is_none() && never.get("next").is_none());

    let between = visits("both", Some(ran.before("late").await)).await;
    let other = ran.before("other").await;
    let came = json!({"node": "other", "visit": {"checkpointId": other, "step": 4}});
    assert_eq!(between["waits"], json!([{"came": [came], "missing": ["write"]}]));
    assert_eq!(between["at"], 0, "it comes later");
    assert_eq!(between["next"], between["last"]);

    // It has run: who came, and when, is still known.
    let at = ran.before("both").await;
    let both = visits("both", Some(at)).await;
    let write = json!({"checkpointId": ran.before("write").await, "step": 6});
    let waits = json!([{"came": [came, {"node": "write", "visit": write}], "missing": []}]);
    assert_eq!(both["waits"], waits);
    assert!(both.get("notTaken").is_none(), "it has a task there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scripted_answer_leaves_what_would_have_been_asked() {
    let ran = ran().await;
    let at = ran.before("write").await;
    let task = &ran.tasks(&at, "write").await[0];
    let read = json!({"threadId": ran.thread, "taskId": task["id"]});
    let exchanges = ran.app.ok("thread.exchanges", read).await;
    let exchange = &exchanges["exchanges"][0];
    assert_eq!(exchange["by"], "script");
    assert_eq!(exchange["answer"], "Three, or 3.");
    assert_eq!(
        exchange["request"]["messages"],
        json!([{"type": "human", "content": "About 3"}])
    );
    assert_eq!(
        task["record"]["reads"],
        json!({"kind": "keys", "keys": ["n"]}),
        "what the script read, once"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_is_asked_by_itself_as_its_node_would() {
    let mut ran = ran().await;
    let ask = json!({
        "graphId": ran.graph, "node": "write", "state": {"n": 8}, "model": "scripted", "work": "w1",
        "request": {"messages": [{"type": "human", "content": "Say it"}]}
    });
    let answer = ran.app.ok("model.ask", ask.clone()).await;
    assert_eq!(
        answer["value"]["content"], "Three, or 8.",
        "the script of the node"
    );
    assert_eq!(answer["value"]["type"], "ai");
    assert_eq!(answer["exchanges"][0]["by"], "script");
    assert_eq!(
        answer["exchanges"][0]["request"]["messages"][0]["content"],
        "Say it"
    );
    let reported = ran.app.until(|event| match event {
        AppEvent::Answer { work, piece } if work == "w1" => Some(piece.text().to_owned()),
        _ => None,
    });
    assert_eq!(reported.await, "Three, ", "it comes word by word");

    let mut nobody = ask.clone();
    nobody["node"] = Value::Null;
    let problem = ran.app.refused("model.ask", nobody).await;
    assert!(problem.message.contains("has nothing to say"), "{problem}");

    let mut unknown = ask;
    unknown["model"] = "nowhere::small".into();
    let problem = ran.app.refused("model.ask", unknown).await;
    assert!(problem.message.contains("nowhere"), "{problem}");
    let threads = ran.app.ok("thread.list", json!({})).await;
    assert_eq!(
        threads["threads"].as_array().unwrap().len(),
        1,
        "nothing of it is kept"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_keeps_the_status_that_its_server_answered() {
    let dir = tempfile::tempdir().unwrap();
    let server = Counting::start().await;
    for (status, retryable) in [(429, true), (404, false)] {
        let mut app = opened(dir.path(), &server).await;
        let graph = app
            .draft(
                "Refused",
                json!({
                    "key:answer": {},
                    "node:get": {"kind": "http", "config": {
                        "url": format!("http://{}/status/{status}", server.address()), "into": "answer"}},
                    "edge:1": {"from": "__start__", "to": "get"},
                    "edge:2": {"from": "get", "to": "__end__"}
                }),
            )
            .await;
        grant(&app, &graph).await;
        let (run, events) = app
            .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
            .await;
        assert_eq!(run["status"], "failed", "{run}");
        let emitted = events.iter().find_map(|event| match event {
            AppEvent::TaskEnded { failure, .. } => failure.clone(),
            _ => None,
        });
        let emitted = json!(emitted);
        assert_eq!(
            (&emitted["status"], &emitted["retryable"]),
            (&json!(status), &json!(retryable)),
            "{emitted}"
        );
        // The checkpoint keeps the text alone; after a restart the status is still there.
        app.close().await;
        let app = opened(dir.path(), &server).await;
        let snapshot = json!({"threadId": run["threadId"]});
        let snapshot = app.ok("thread.snapshot", snapshot).await;
        assert_eq!(snapshot["tasks"][0]["failure"], emitted);
        app.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_did_not_run_says_where_the_edges_to_it_led() {
    let ran = ran().await;
    let at = ran.before("other").await;
    let asked = json!({"threadId": ran.thread, "node": "count", "checkpointId": at});
    let visits = ran.app.ok("node.visits", asked).await;
    let way = &visits["notTaken"];
    assert_eq!(
        (&way[0]["edge"], &way[0]["from"], &way[0]["ran"]),
        (&json!("2"), &json!("count"), &json!(true)),
        "{visits}"
    );
    let decision = &way[0]["decision"];
    assert_eq!(
        (&decision["to"], &decision["expression"], &decision["result"]),
        (&json!(["other"]), &json!("state.n < 3"), &json!({"value": false}))
    );
    assert_eq!(decision["values"], json!([{"key": "n", "value": {"value": 3}}]));
    // A node whose sources did not run.
    let asked = json!({"threadId": ran.thread, "node": "write", "checkpointId": at});
    let visits = ran.app.ok("node.visits", asked).await;
    assert_eq!(
        visits["notTaken"],
        json!([{"edge": "5", "from": "late", "ran": false}])
    );
}
