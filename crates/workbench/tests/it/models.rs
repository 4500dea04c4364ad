//! Who answers for a graph's models: chosen for a run, asked about like everything else that a graph reaches, and kept by
//! the thread whatever continues it.

use std::path::Path;

use serde_json::{Value, json};
use superstep::checkpoint::{CheckpointHead, ListQuery};
use superstep_acceptance::App;

use crate::exchanges;

const ANSWER: &str = "From the script.";

/// Asks a scripted model, then a person, then the model again.
async fn graph(app: &App, folder: &Path) -> String {
    let helper = json!({"kind": "agent", "config": {
        "messages": "messages", "model": "scripted", "script": [{"say": ANSWER}], "max_tokens": 200,
        "tools": [{"name": "get_weather", "description": "Tells the weather in a town.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            "javascript": {"source": "return {city: args.city, degrees: args.city.length};"}}]}});
    let graph = app
        .draft(
            "Stand-in",
            json!({
                "key:messages": {"type": "array", "reducer": "add_messages"},
                "key:ok": {"type": "boolean"},
                "node:first": helper,
                "node:check": {"kind": "ask", "config": {
                    "question": "Go on?", "answer": {"type": "boolean"}, "into": "ok"}},
                "node:second": helper,
                "edge:1": {"from": "__start__", "to": "first"},
                "edge:2": {"from": "first", "to": "check"},
                "edge:3": {"from": "check", "to": "second"},
                "edge:4": {"from": "second", "to": "__end__"}
            }),
        )
        .await;
    // Answers are kept beside the file.
    app.ok(
        "graph.save",
        json!({"graphId": graph, "path": folder.join("stand-in.json")}),
    )
    .await;
    graph
}

/// The answers of models in the thread.
async fn answers_of(app: &App, thread: &str) -> Vec<String> {
    let messages = app.state(thread, None).await["messages"].clone();
    let messages = messages.as_array().cloned().unwrap_or_default();
    let answers = messages.iter().filter(|message| message["type"] == "ai");
    let texts = answers.filter_map(|message| message["content"].as_str());
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

async fn answered(app: &mut App, thread: &str, more: Value) -> Value {
    let inbox = app.ok("inbox.list", json!({})).await;
    let questions = inbox["questions"].as_array().unwrap();
    let question = questions.iter().find(|one| one["threadId"] == thread).unwrap();
    let id = question["interruptId"].as_str().unwrap();
    let mut request = json!({"threadId": thread, "action": {"type": "resume", "answers": {id: true}}});
    if !more.is_null() {
        request["models"] = more;
    }
    app.run(request).await.0
}

async fn heads(dir: &Path, thread: &str) -> Vec<CheckpointHead> {
    let url = format!("sqlite:{}", dir.join("threads.db").display());
    let storage = superstep_storage::open(&url).await.unwrap();
    let query = ListQuery::new().thread(thread).ns("");
    storage.checkpointer.heads(&query).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_answers_for_the_scripted_ones_for_as_long_as_the_thread_lasts() {
    let dir = tempfile::tempdir().unwrap();
    let address = exchanges::model_server("openai-agent").await;
    let mut app = exchanges::app(dir.path(), &address).await;
    let graph = graph(&app, dir.path()).await;
    let input = json!({"type": "input", "input": exchanges::question()});
    let real = json!({"scripted": "proxy::scripted-1"});

    // The graph itself wants nothing; the model that is to answer for it does.
    let start = json!({"graphId": graph, "action": input, "models": real});
    let refused = app.refused("run.start", start.clone()).await;
    let needed = refused.trust.expect("what is to be allowed");
    assert_eq!(
        serde_json::to_value(&needed.wants[0].access).unwrap(),
        json!({"what": "connection", "name": "proxy"})
    );
    let accesses: Vec<&_> = needed.wants.iter().map(|want| &want.access).collect();
    app.ok(
        "trust.grant",
        json!({"project": needed.project, "accesses": accesses}),
    )
    .await;
    let unknown = json!({"graphId": graph, "action": input, "models": {"scripted": "nobody::x"}});
    let refused = app.refused("run.start", unknown).await;
    assert!(refused.message.contains("nobody"), "{}", refused.message);

    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let once = answers_of(&app, &thread).await;
    let twice = [&once[..], &once[..]].concat();
    assert!(!once.is_empty() && !once.contains(&ANSWER.to_owned()), "{once:?}");
    assert_eq!(
        app.ok("thread.get", json!({"threadId": thread})).await["models"],
        real
    );
    // A node that is tried by itself asks whom the thread asks, or whom the run form names, and else its own script.
    let tried = async |app: &App, more: Value| {
        let mut request = json!({"graphId": graph, "node": "second"});
        for (name, value) in more.as_object().unwrap() {
            request[name] = value.clone();
        }
        app.ok("node.test", request).await["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let at = json!({"threadId": thread});
    let fresh = json!(exchanges::question());
    assert!(
        !tried(&app, json!({"at": at, "state": fresh}))
            .await
            .contains(ANSWER)
    );
    assert_eq!(
        tried(&app, json!({"at": at, "state": fresh, "models": {}})).await,
        ANSWER
    );
    assert_eq!(tried(&app, json!({"state": fresh})).await, ANSWER);
    assert!(
        !tried(&app, json!({"state": fresh, "models": real}))
            .await
            .contains(ANSWER)
    );

    // The scripted model has no need of a choice, and a thread without one shows none.
    let (plain, _) = app.run(json!({"graphId": graph, "action": input})).await;
    let plain = plain["threadId"].as_str().unwrap().to_owned();
    assert_eq!(answers_of(&app, &plain).await, [ANSWER]);
    assert!(app.ok("thread.get", json!({"threadId": plain})).await["models"].is_null());

    // Another process that only knows the thread goes on with the same model.
    app.close().await;
    let mut app = App::open(dir.path()).await;
    let done = answered(&mut app, &thread, Value::Null).await;
    assert_eq!(done["status"], "done", "{done}");
    assert_eq!(answers_of(&app, &thread).await, twice);

    // So does a fork from a past checkpoint, and one behind an edit; a choice of its own takes the place of the old one.
    let list = app
        .ok("thread.checkpoints", json!({"threadId": thread, "limit": 0}))
        .await;
    let list = list["checkpoints"].as_array().unwrap();
    let asked = list.iter().find(|one| one["next"] == json!(["check"])).unwrap();
    let edit = json!({"threadId": thread, "checkpointId": asked["id"], "values": {"ok": true}, "asNode": "check",
        "overwrite": [], "preview": false});
    app.ok("thread.update", edit).await;
    let (forked, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(forked["status"], "done", "{forked}");
    assert_eq!(answers_of(&app, &thread).await, twice);
    let replay = json!({"threadId": thread, "action": {"type": "replay", "checkpointId": asked["id"]}});
    let (again, _) = app.run(replay).await;
    assert_eq!(again["status"], "asking", "{again}");
    let done = answered(&mut app, &thread, json!({})).await;
    assert_eq!(done["status"], "done", "{done}");
    assert_eq!(
        answers_of(&app, &thread).await,
        [&once[..], &[ANSWER.to_owned()]].concat()
    );
    assert!(app.ok("thread.get", json!({"threadId": thread})).await["models"].is_null());
    app.close().await;

    // Every checkpoint of a run bears its id, under the name that other programs look for.
    let heads = heads(dir.path(), &thread).await;
    assert!(heads.len() > 6);
    let last = heads[0]
        .metadata
        .user
        .get("run_id")
        .and_then(|id| id.as_str())
        .unwrap();
    assert_eq!(done["runId"], last);
    let runs = heads.iter().filter_map(|head| head.metadata.user.get("run_id"));
    assert_eq!(
        runs.count(),
        heads.len(),
        "an edit has that of the run it changes"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_were_kept_serve_a_later_run_without_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let address = exchanges::model_server("openai-agent").await;
    let mut app = exchanges::app(dir.path(), &address).await;
    let graph = graph(&app, dir.path()).await;
    let input = json!({"type": "input", "input": exchanges::question()});
    let with = |recording: &str| json!({"graphId": graph, "action": input, "models": {"scripted": "proxy::scripted-1", "recording": recording}});
    let refused = app.refused("run.start", with("record")).await;
    let needed = refused.trust.expect("what is to be allowed");
    let accesses: Vec<&_> = needed.wants.iter().map(|want| &want.access).collect();
    app.ok(
        "trust.grant",
        json!({"project": needed.project, "accesses": accesses}),
    )
    .await;
    let (run, _) = app.run(with("record")).await;
    assert_eq!(run["status"], "asking", "{run}");
    let kept = answers_of(&app, run["threadId"].as_str().unwrap()).await;
    assert!(dir.path().join("recordings/models.jsonl").exists());

    // Nobody listens there any more.
    let gone =
        json!({"connections": {"proxy": {"provider": "openai", "base_url": "http://127.0.0.1:1/v1/"}}});
    std::fs::write(dir.path().join("models.json"), gone.to_string()).unwrap();
    let (run, _) = app.run(with("replay")).await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    assert_eq!(answers_of(&app, &thread).await, kept);
    // The second model is asked what was never asked: the thread still asks nobody, and says so.
    let failed = answered(&mut app, &thread, Value::Null).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    let message = failed["problem"]["message"].as_str().unwrap();
    assert!(message.contains("no recorded answer"), "{message}");
}
