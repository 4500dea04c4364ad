//! The query desk: words, conditions, nodes that were passed, probes.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::Options;

use crate::threads::{begin, only, thread_of};

/// Counts to a number in a loop, and leaves by `refund` when it is even; then a note is written.
fn counting() -> Value {
    json!({
        "key:n": {"type": "integer", "default": 0},
        "key:until": {"type": "integer", "default": 3},
        "key:order": {"type": "object"},
        "key:log": {"type": "array", "reducer": "append"},
        "node:count": {"kind": "assign", "config": {"set": {"n": "state.n + 1", "log": "'round ' ~ (state.n + 1)"}}},
        "node:refund": {"kind": "assign", "config": {"set": {"log": "'Refunded to ' ~ state.order.name"}}},
        "node:note": {"kind": "assign", "config": {"set": {"log": "'closed'"}}},
        "edge:1": {"from": "__start__", "to": "count"},
        "edge:2": {"from": "count", "to": "count", "when": "state.n < state.until"},
        "edge:3": {"from": "count", "to": "refund", "when": "state.n >= state.until and state.n is even"},
        "edge:4": {"from": "count", "to": "note", "when": "state.n >= state.until and state.n is odd"},
        "edge:5": {"from": "refund", "to": "note"},
        "edge:6": {"from": "note", "to": "__end__"}
    })
}

async fn count(app: &mut App, graph: &str, until: u32, name: &str) -> String {
    let input = json!({"until": until, "order": {"name": name}});
    thread_of(
        app,
        json!({"graphId": graph, "action": {"type": "input", "input": input}}),
    )
    .await
}

/// All answers of a search, one after the other.
async fn all(app: &App, command: &str, list: &str, mut request: Value) -> Vec<Value> {
    let mut found = Vec::new();
    loop {
        let answer = app.ok(command, request.clone()).await;
        found.extend(answer[list].as_array().unwrap().iter().cloned());
        match answer["progress"].get("next") {
            Some(next) => request["after"] = next.clone(),
            None => return found,
        }
    }
}

async fn find(app: &App, request: Value) -> Vec<Value> {
    all(app, "moments.find", "moments", request).await
}

fn threads(moments: &[Value]) -> Vec<&str> {
    moments
        .iter()
        .map(|moment| moment["threadId"].as_str().unwrap())
        .collect()
}

fn text(moment: &Value) -> String {
    let parts = moment["snippet"].as_array().unwrap().iter();
    let mark = |part: &Value| match part["hit"] == true {
        true => format!("[{}]", part["text"].as_str().unwrap()),
        false => part["text"].as_str().unwrap().to_owned(),
    };
    parts.map(mark).collect()
}

/// A data folder whose threads are kept at an address made from it.
async fn at(dir: &std::path::Path, storage: &str) -> App {
    App::open_with(Options::new(dir.join("data")).storage(storage.replace("DIR", dir.to_str().unwrap())))
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_and_conditions_lead_to_moments_on_every_backend() {
    for storage in ["sqlite:DIR/threads.db", "file:DIR/threads", "memory:"] {
        let dir = tempfile::tempdir().unwrap();
        let mut app = at(dir.path(), storage).await;
        let graph = app.draft("Counting", counting()).await;
        let ada = count(&mut app, &graph, 4, "Ada Lovelace").await;
        let bob = count(&mut app, &graph, 3, "Bob").await;

        let found = find(&app, json!({"words": "refunded"})).await;
        assert_eq!(threads(&found), [ada.as_str()], "{storage}");
        let moment = &found[0];
        assert_eq!(text(moment), "[Refunded] to Ada Lovelace");
        assert_eq!(
            (
                &moment["step"],
                &moment["pointer"],
                &moment["nodes"],
                &moment["reason"]
            ),
            (&json!(5), &json!("/log/4"), &json!(["refund"]), &json!("state"))
        );
        let value = json!({
            "threadId": ada, "checkpointId": moment["checkpointId"], "pointer": moment["pointer"],
        });
        let there = app.ok("thread.value", value).await;
        assert_eq!(
            there["value"], "Refunded to Ada Lovelace",
            "the pointer leads to the text"
        );
        // A step is found once by what it wrote, not again by what it left as it was.
        let rounds = find(&app, json!({"words": "round"})).await;
        let of_bob: Vec<&Value> = rounds
            .iter()
            .filter(|moment| moment["threadId"] == bob.as_str())
            .collect();
        let steps: Vec<&Value> = of_bob.iter().map(|moment| &moment["step"]).collect();
        assert_eq!(
            steps,
            [&json!(3), &json!(2), &json!(1)],
            "{storage}: the newest first"
        );
        assert!(find(&app, json!({"words": "lovelace bob"})).await.is_empty());

        let first = find(
            &app,
            json!({"firstWhere": "state.n > 1", "columns": ["state.n * 10", "task.node", "run.id"]}),
        )
        .await;
        assert_eq!(
            threads(&first),
            [bob.as_str(), ada.as_str()],
            "{storage}: the newest thread first"
        );
        assert_eq!(
            (&first[0]["step"], &first[0]["reason"]),
            (&json!(2), &json!("condition"))
        );
        let columns = &first[0]["columns"];
        assert_eq!(
            (&columns[0]["value"]["value"], &columns[1]["value"]["value"]),
            (&json!(20), &json!("count"))
        );
        assert_ne!(columns[2]["value"]["value"], "");
        assert_ne!(
            columns[2]["value"], first[1]["columns"][2]["value"],
            "each was made by a run of its own"
        );

        let passed = |nodes: Value| json!({"passed": nodes});
        let through = find(&app, passed(json!(["refund", "note"]))).await;
        assert_eq!(threads(&through), [ada.as_str()]);
        assert_eq!(
            (&through[0]["step"], &through[0]["nodes"]),
            (&json!(6), &json!(["note"]))
        );
        assert!(
            find(&app, passed(json!(["note", "refund"]))).await.is_empty(),
            "the order counts"
        );
        assert_eq!(
            find(&app, passed(json!(["count", "count", "count"]))).await.len(),
            2
        );
        assert_eq!(
            find(&app, passed(json!(["count", "count", "count", "count"])))
                .await
                .len(),
            1
        );

        let ends = find(&app, json!({"atEnd": "state.n == 3"})).await;
        assert_eq!(threads(&ends), [bob.as_str()]);
        let both = find(&app, json!({"atEnd": "state.n == 3", "words": "refunded"})).await;
        assert!(both.is_empty(), "every condition must hold");

        let probe = json!({"node": "count", "expression": "state.n - before.n * 10 + writes.n"});
        let visits = all(&app, "node.probe", "visits", probe).await;
        assert_eq!(visits.len(), 7, "{storage}: every visit in all threads");
        let values: Vec<&Value> = visits
            .iter()
            .map(|visit| &visit["result"]["value"]["value"])
            .collect();
        assert_eq!(
            values[..3],
            [&json!(-14), &json!(-6), &json!(2)],
            "{storage}: the newest first"
        );
        app.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_come_in_parts_that_go_on_where_the_last_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Counting", counting()).await;
    let other = app.draft("Other", counting()).await;
    let mut made = Vec::new();
    for place in 0..5 {
        made.push(count(&mut app, if place == 2 { &other } else { &graph }, 3, "Bob").await);
    }
    made.reverse();
    let mut one = app
        .ok("moments.find", json!({"words": "closed", "limit": 1}))
        .await;
    assert_eq!(one["progress"]["total"], 5);
    // The time of an answer may be over before it has found anything.
    while one["progress"]["searched"] == 0 {
        let more = json!({"words": "closed", "limit": 1, "after": one["progress"]["next"]});
        one = app.ok("moments.find", more).await;
        assert_eq!(one["progress"].get("total"), None, "it was counted before");
    }
    assert_eq!(one["progress"]["searched"], 1);
    let rest = app
        .ok(
            "moments.find",
            json!({"words": "closed", "after": one["progress"]["next"]}),
        )
        .await;
    assert_eq!(rest["progress"].get("total"), None, "it was counted before");
    let found = find(&app, json!({"words": "closed", "limit": 1})).await;
    assert_eq!(threads(&found), made, "each once, the newest first");
    let own = find(&app, json!({"words": "closed", "graphId": other})).await;
    assert_eq!(threads(&own), [made[2].as_str()]);

    // Moments in a time, and threads that are older than it are not read.
    let middle = find(&app, json!({"passed": ["note"]})).await;
    let at = middle[1]["at"].as_str().unwrap();
    let (mut late, mut searched) = (json!({"passed": ["note"], "since": at}), 0);
    let mut moments = 0;
    loop {
        let answer = app.ok("moments.find", late.clone()).await;
        moments += answer["moments"].as_array().unwrap().len();
        searched += answer["progress"]["searched"].as_u64().unwrap();
        match answer["progress"].get("next") {
            Some(next) => late["after"] = next.clone(),
            None => break,
        }
    }
    assert_eq!((moments, searched), (2, 2));
    let early = find(&app, json!({"passed": ["note"], "until": at})).await;
    assert_eq!(threads(&early), made[2..]);
    for next in ["nonsense", "", "/"] {
        app.workbench
            .call("moments.find", json!({"words": "closed", "after": next}))
            .await
            .ok();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn titles_questions_and_errors_are_texts_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let asking = json!({"kind": "ask", "config": {"question": "Which marmot?", "into": "word"}});
    let failing = json!({"kind": "code", "config": {"source": "throw new Error('The marmot sleeps.');"}});
    let asks = app.draft("Asks", only(asking)).await;
    let fails = app.draft("Fails", only(failing)).await;
    let asks = thread_of(&mut app, begin(&asks)).await;
    let fails = thread_of(&mut app, begin(&fails)).await;
    let found = find(&app, json!({"words": "marmot"})).await;
    let reasons: Vec<(&str, &Value)> = threads(&found)
        .into_iter()
        .zip(found.iter().map(|moment| &moment["reason"]))
        .collect();
    assert_eq!(
        reasons,
        [(&*fails, &json!("error")), (&*asks, &json!("question"))]
    );
    assert!(text(&found[0]).contains("The [marmot] sleeps"), "{}", found[0]);
    let failed = find(&app, json!({"words": "marmot", "status": "failed"})).await;
    assert_eq!(threads(&failed), [fails.as_str()]);
    app.ok(
        "thread.rename",
        json!({"threadId": asks, "title": "Groundhog day"}),
    )
    .await;
    let titled = find(&app, json!({"words": "groundhog"})).await;
    assert_eq!(
        (threads(&titled), &titled[0]["reason"]),
        (vec![asks.as_str()], &json!("title"))
    );
    assert_eq!(text(&titled[0]), "[Groundhog] day");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expression_that_cannot_be_evaluated_is_counted_and_a_wrong_one_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Counting", counting()).await;
    count(&mut app, &graph, 3, "Bob").await;
    let odd = app
        .ok("moments.find", json!({"firstWhere": "state.nowhere.deep > 2"}))
        .await;
    assert_eq!(odd["moments"], json!([]));
    assert!(odd["progress"]["unknown"].as_u64().unwrap() > 0, "{odd}");
    assert!(
        odd["progress"]["reason"].as_str().unwrap().contains("nowhere"),
        "{odd}"
    );
    for (request, says) in [
        (json!({"firstWhere": "state.n >"}), "unexpected"),
        (json!({"firstWhere": "total > 2"}), "there is no `total` here"),
        (json!({"columns": ["old"]}), "there is no `old` here"),
    ] {
        let refused = app.refused("moments.find", request).await;
        assert!(refused.message.contains(says), "{}", refused.message);
    }
    let nothing = app
        .refused("node.probe", json!({"node": " ", "expression": "1"}))
        .await;
    assert!(nothing.message.contains("names no node"), "{}", nothing.message);
    let never = all(
        &app,
        "node.probe",
        "visits",
        json!({"node": "nobody", "expression": "1"}),
    )
    .await;
    assert!(never.is_empty());
}

/// Waits until the files of the index hold a word, or do not hold it any more.
async fn index_holds(dir: &Path, word: &str, wanted: bool) {
    let began = Instant::now();
    let holds = || {
        let files = std::fs::read_dir(dir.join("search")).into_iter().flatten();
        let read = |file: std::io::Result<std::fs::DirEntry>| std::fs::read(file.ok()?.path()).ok();
        files
            .filter_map(read)
            .any(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
    };
    while holds() != wanted {
        assert!(began.elapsed() < Duration::from_secs(120), "{word}: not {wanted}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_deletes_leaves_the_index() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Counting", counting()).await;
    let thread = count(&mut app, &graph, 2, "xylophone").await;
    count(&mut app, &graph, 2, "marimba").await;
    for word in ["xylophone", "marimba"] {
        index_holds(dir.path(), word, true).await;
    }
    // The first one writes the index, the second one deletes.
    let other = App::open(dir.path()).await;
    other.ok("thread.delete", json!({"threadId": thread})).await;
    index_holds(dir.path(), "xylophone", false).await;
    index_holds(dir.path(), "marimba", true).await;
    other.close().await;
    app.close().await;
}
