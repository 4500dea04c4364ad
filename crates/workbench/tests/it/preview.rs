//! What an answer would lead to, asked before it is given.

use serde_json::{Value, json};
use superstep_acceptance::App;

use crate::effects::{Counting, opened};
use crate::inbox::{answer, waiting};

/// review → pay → close | propose → draft → review | pick → (depends) | close
fn claims() -> Value {
    let model = |into: &str| {
        json!({"kind": "model", "config": {
            "model": "scripted", "prompt": "Say", "into": into, "script": [{"say": "a"}]
        }})
    };
    json!({
        "key:verdict": {"type": "string"},
        "key:proposal": {"type": "string"},
        "key:text": {"type": "string"},
        "key:who": {"type": "string"},
        "key:closed": {"type": "boolean"},
        "key:receipt": {},
        "node:review": {"kind": "ask", "config": {
            "question": "Pay?", "into": "verdict",
            "choices": [
                {"label": "Approve", "value": "approve"}, {"label": "Change", "value": "change"},
                {"label": "Escalate", "value": "escalate"}, {"label": "Reject", "value": "reject"},
                {"label": "Odd", "value": "odd"}
            ]
        }},
        "node:pay": {"kind": "http", "effect": "once", "config": {
            "method": "POST", "url": "http://127.0.0.1:9/pay", "into": "receipt"
        }},
        "node:propose": model("proposal"),
        "node:draft": {"kind": "assign", "config": {"set": {"text": "state.proposal|upper"}}},
        "node:pick": model("who"),
        "node:close": {"kind": "assign", "config": {"set": {"closed": "true"}}},
        "edge:1": {"from": "__start__", "to": "review"},
        "edge:2": {"from": "review", "route": "state.verdict", "paths": {
            "approve": "pay", "change": "propose", "escalate": "pick", "reject": "close"
        }},
        "edge:3": {"from": "pay", "to": "close"},
        "edge:4": {"from": "propose", "to": "draft"},
        "edge:5": {"from": "draft", "to": "review"},
        "edge:6": {"from": "pick", "to": "close", "when": "state.who == 'a'"},
        "edge:7": {"from": "close", "to": "__end__"}
    })
}

/// A question's previews, by the labels of its choices: the nodes of each step, and the end.
async fn previews(app: &App, question: &Value, answers: Value) -> Vec<(Value, Vec<String>, Value)> {
    let request = json!({
        "threadId": question["threadId"], "checkpointId": question["checkpointId"],
        "interruptId": question["interruptId"], "answers": answers
    });
    let found = app.ok("question.preview", request).await;
    let nodes = |step: &Value| {
        let nodes = step.as_array().unwrap().iter();
        nodes
            .map(|node| node["node"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join("+")
    };
    let previews = found["previews"].as_array().unwrap().iter();
    previews
        .map(|preview| {
            let steps = preview["steps"].as_array().unwrap().iter().map(nodes).collect();
            (preview["label"].clone(), steps, preview["end"].clone())
        })
        .collect()
}

async fn asked(app: &mut App) -> Value {
    asked_by(app, claims()).await
}

async fn asked_by(app: &mut App, records: Value) -> Value {
    let (graph, problems) = app.draft_with_problems("Claims", records).await;
    let problems: Vec<&Value> = problems
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| &problem["code"])
        .collect();
    assert_eq!(
        problems,
        ["label-without-path"],
        "an answer leads nowhere on purpose"
    );
    let trust = app.ok("trust.show", json!({"graphId": graph})).await;
    let accesses: Vec<&Value> = trust["wants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|want| &want["access"])
        .collect();
    let project = &trust["project"]["project"];
    app.ok("trust.grant", json!({"project": project, "accesses": accesses}))
        .await;
    let input = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let (run, _) = app.run(input).await;
    assert_eq!(run["status"], "asking", "{run}");
    waiting(app).await.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_choice_says_what_would_follow_and_nothing_happens() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let question = asked(&mut app).await;
    let thread = json!({"threadId": question["threadId"]});
    let before = app.ok("thread.checkpoints", thread.clone()).await;
    let found = previews(&app, &question, json!([])).await;
    let row = |label: &str| {
        let found = found.iter().find(|(known, ..)| known == label).unwrap();
        (found.1.clone(), found.2.clone())
    };
    assert_eq!(
        row("Approve"),
        (vec!["pay".into(), "close".into()], json!({"type": "done"}))
    );
    assert_eq!(
        row("Change"),
        (
            vec!["propose".into(), "draft".into()],
            json!({"type": "asks", "node": "review"})
        ),
        "what it will say may depend on the draft"
    );
    assert_eq!(
        row("Escalate"),
        (
            vec!["pick".into()],
            json!({"type": "depends", "node": "pick", "keys": ["who"], "targets": ["close"]})
        )
    );
    assert_eq!(row("Reject"), (vec!["close".into()], json!({"type": "done"})));
    let (steps, end) = row("Odd");
    assert_eq!(
        (steps, &end["type"], &end["node"]),
        (vec![], &json!("fails"), &json!("review")),
        "{end}"
    );
    assert_eq!(
        waiting(&app).await,
        std::slice::from_ref(&question),
        "it still waits"
    );
    assert_eq!(
        app.ok("thread.checkpoints", thread).await,
        before,
        "nothing was stored"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_ones_own_is_looked_at_and_a_bad_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let question = asked(&mut app).await;
    let found = previews(&app, &question, json!(["reject", 7])).await;
    assert_eq!(found[0].1, ["close"]);
    assert_eq!(found[1].1, Vec::<String>::new());
    assert_eq!(found[1].2["type"], "asks");
    assert!(found[1].2["refused"].is_string(), "{}", found[1].2);
    let request = json!({
        "threadId": question["threadId"], "interruptId": question["interruptId"], "answers": vec![1; 21]
    });
    assert_eq!(
        app.refused("question.preview", request).await.code,
        "invalid-request"
    );
    let gone = json!({"threadId": question["threadId"], "interruptId": "0".repeat(32)});
    assert_eq!(
        app.refused("question.preview", gone).await.code,
        "already-answered"
    );
    let nobody = json!({"threadId": "nobody", "interruptId": "0".repeat(32)});
    assert_eq!(app.refused("question.preview", nobody).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_effects_on_the_way_and_what_nodes_took_before_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let question = asked(&mut app).await;
    let request = |question: &Value, answer: &str| {
        json!({
            "threadId": question["threadId"], "interruptId": question["interruptId"], "answers": [answer]
        })
    };
    let found = app.ok("question.preview", request(&question, "approve")).await;
    let steps = &found["previews"][0]["steps"];
    assert_eq!(steps[0][0]["effect"], "once");
    assert_eq!(steps[0][0]["kind"], "http");
    assert_eq!(steps[1][0].get("effect"), None);
    assert_eq!(steps[0][0].get("earlier"), None, "it never ran");
    let (run, _) = app.run(answer(&question, "change")).await;
    assert_eq!(run["status"], "asking");
    let again = waiting(&app).await.remove(0);
    let found = app.ok("question.preview", request(&again, "change")).await;
    let earlier = &found["previews"][0]["steps"][0][0]["earlier"];
    assert_eq!(earlier["runs"], 1, "{found}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_inside_a_nested_graph_leads_on_through_it() {
    let dir = tempfile::tempdir().unwrap();
    let inner = json!({
        "format": "superstep/1", "name": "Inner",
        "state": {"verdict": {"type": "string"}, "note": {"type": "string"}},
        "nodes": {
            "ask": {"kind": "ask", "config": {"question": "Inside?", "into": "verdict"}},
            "note": {"kind": "assign", "config": {"set": {"note": "state.verdict|upper"}}}
        },
        "edges": [
            {"from": "__start__", "to": "ask"}, {"from": "ask", "to": "note"}, {"from": "note", "to": "__end__"}
        ]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer",
        "state": {"verdict": {"type": "string"}, "note": {"type": "string"}, "loud": {"type": "boolean"}},
        "nodes": {
            "desk": {"kind": "graph", "config": {"graph": "inner.json"}},
            "shout": {"kind": "assign", "config": {"set": {"loud": "true"}}},
            "rest": {"kind": "assign", "config": {"set": {"loud": "false"}}},
            "pay": {"kind": "graph", "config": {"graph": "pay.json"}}
        },
        "edges": [
            {"from": "__start__", "to": "desk"},
            {"from": "desk", "to": "shout", "when": "state.note == 'YES'"},
            {"from": "desk", "to": "rest", "when": "state.note != 'YES'"},
            {"from": "shout", "to": "pay"}, {"from": "pay", "to": "__end__"}, {"from": "rest", "to": "__end__"}
        ]
    });
    let pay = json!({
        "format": "superstep/1", "name": "Pay", "state": {"loud": {"type": "boolean"}},
        "nodes": {"send": {"kind": "code", "effect": "once", "config": {
            "language": "javascript", "source": "return {loud: false}"
        }}},
        "edges": [{"from": "__start__", "to": "send"}, {"from": "send", "to": "__end__"}]
    });
    std::fs::write(dir.path().join("pay.json"), pay.to_string()).unwrap();
    std::fs::write(dir.path().join("inner.json"), inner.to_string()).unwrap();
    std::fs::write(dir.path().join("outer.json"), outer.to_string()).unwrap();
    let mut app = App::open(dir.path()).await;
    let opened = app
        .ok("graph.open", json!({"path": dir.path().join("outer.json")}))
        .await;
    let input = json!({"graphId": opened["graphId"], "action": {"type": "input", "input": {}}});
    let (run, _) = app.run(input).await;
    assert_eq!(run["status"], "asking", "{run}");
    let question = waiting(&app).await.remove(0);
    let found = previews(&app, &question, json!(["yes", "no"])).await;
    assert_eq!(found[0].1, ["shout", "pay"], "{found:?}");
    assert_eq!(found[1].1, ["rest"], "{found:?}");
    let request = json!({
        "threadId": question["threadId"], "interruptId": question["interruptId"], "answers": ["yes"]
    });
    let found = app.ok("question.preview", request).await;
    let paid = &found["previews"][0]["steps"][1][0];
    assert_eq!(paid["effect"], "once", "the worst that is inside: {paid}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_on_another_branch_is_marked_before_an_answer_repeats_it() {
    let dir = tempfile::tempdir().unwrap();
    let server = Counting::start().await;
    let mut app = opened(dir.path(), &server).await;
    let mut records = claims();
    records["node:pay"]["config"]["url"] = format!("http://{}/pay", server.address()).into();
    let question = asked_by(&mut app, records).await;
    let thread = question["threadId"].clone();
    let marks = async |app: &App, question: &Value| {
        let request = json!({
            "threadId": thread, "checkpointId": question["checkpointId"],
            "interruptId": question["interruptId"], "answers": ["approve", "reject"]
        });
        let found = app.ok("question.preview", request).await;
        let previews = found["previews"].as_array().unwrap().iter();
        let nodes = previews.flat_map(|preview| preview["steps"].as_array().unwrap().iter());
        let nodes = nodes.flat_map(|step| step.as_array().unwrap().iter());
        nodes
            .map(|node| (node["node"].as_str().unwrap().to_owned(), node["done"].clone()))
            .collect::<Vec<_>>()
    };
    let before = marks(&app, &question).await;
    assert!(before.iter().all(|(_, done)| done.is_null()), "{before:?}");
    app.run(answer(&question, "approve")).await;
    assert_eq!(server.requests("/pay"), 1);
    let again = json!({"type": "replay", "checkpointId": question["checkpointId"]});
    let (run, _) = app.run(json!({"threadId": thread, "action": again})).await;
    assert_eq!(run["status"], "asking", "{run}");
    let question = waiting(&app).await.remove(0);
    let after = marks(&app, &question).await;
    let paid: Vec<&(String, Value)> = after.iter().filter(|(_, done)| !done.is_null()).collect();
    assert_eq!(paid.len(), 1, "{after:?}");
    let (node, done) = paid[0];
    assert_eq!(
        (node.as_str(), &done[0]["times"], &done[0]["reusable"]),
        ("pay", &json!(1), &json!(true))
    );
    assert_eq!(server.requests("/pay"), 1, "looking does nothing");
}
