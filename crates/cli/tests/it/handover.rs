//! A folder of threads that another program has open: what is asked here is done there, and shown as if it were done here.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep_workbench::{Options, Workbench};

use crate::elsewhere::talk;
use crate::{Done, User, example};

/// The app with a folder of threads open.
async fn app(user: &User) -> (Arc<Workbench>, String) {
    let db = format!("file:{}", user.dir.path().join("threads").display());
    let options = Options::new(user.dir.path().join("data")).storage(db.clone());
    (Workbench::open(options).await.unwrap(), db)
}

/// What was printed, without what is another one in each run.
fn shape(done: &Done) -> Vec<Json> {
    let mut events = done.events();
    for event in &mut events {
        for name in ["run_id", "checkpoint_id", "thread_id"] {
            if let Some(data) = event["data"].as_object_mut() {
                data.remove(name);
            }
        }
    }
    events
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_handed_over_is_shown_like_any_other() {
    let user = User::new();
    let (app, db) = app(&user).await;
    let counter = example("counter");
    let run = ["run", &counter, "--input", r#"{"limit": 3}"#];
    let own = user.expect(0, &[&run[..], &["--db", "memory:"]].concat());
    let there = user.expect(0, &[&run[..], &["--db", &db, "--thread", "t"]].concat());
    assert_eq!(there.out, own.out);
    assert!(
        there.err.contains("the Superstep app") && there.err.contains("handed to it"),
        "{}",
        there.err
    );
    let tasks = |done: &Done| done.err.lines().filter(|line| line.contains(" ms")).count();
    assert!(
        tasks(&own) > 0 && tasks(&own) == tasks(&there),
        "{}\n{}",
        own.err,
        there.err
    );
    let thread = app.call("thread.get", json!({"threadId": "t"})).await.unwrap();
    assert_eq!(thread["status"], "done", "{thread}");

    for modes in ["values,tasks", "updates", "checkpoints,custom,messages"] {
        // Ids of checkpoints and tasks are of their run.
        let names = |done: &Done| -> Vec<String> {
            (done.events().iter())
                .map(|event| event["event"].to_string())
                .collect()
        };
        let own = user.expect(0, &[&run[..], &["--db", "memory:", "--stream", modes]].concat());
        let there = user.expect(0, &[&run[..], &["--db", &db, "--stream", modes]].concat());
        assert_eq!(names(&own), names(&there), "{modes}");
    }
    let own = user.expect(0, &[&run[..], &["--db", "memory:", "--json"]].concat());
    let there = user.expect(0, &[&run[..], &["--db", &db, "--json"]].concat());
    assert_eq!(shape(&own), shape(&there));

    let failing = user.graph(
        "failing.json",
        &json!({
            "format": "superstep/1", "name": "Failing", "state": {"n": {"type": "integer"}},
            "nodes": {"fail": {"kind": "code", "config": {"source": "throw new Error('no luck')"}}},
            "edges": [{"from": "__start__", "to": "fail"}, {"from": "fail", "to": "__end__"}]
        }),
    );
    let failed = user.expect(1, &["run", &failing, "--input", "{}", "--db", &db]);
    assert!(
        failed.err.contains("no luck") && failed.err.contains("go on with: superstep resume"),
        "{}",
        failed.err
    );
    let unknown = user.expect(2, &["run", &counter, "--input", r#"{"nothing": 3}"#, "--db", &db]);
    assert!(unknown.err.contains("nothing"), "{}", unknown.err);
    app.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_edits_are_handed_over() {
    let user = User::new();
    let (app, db) = app(&user).await;
    let desk = example("refund-desk");
    let input = r#"{"request": "The lamp arrived broken.", "price": 40, "days": 3}"#;
    let asked = user.expect(3, &["run", &desk, "--thread", "t", "--input", input, "--db", &db]);
    assert!(asked.err.contains("superstep resume t"), "{}", asked.err);
    let refused = user.expect(
        2,
        &[
            "resume",
            "t",
            "--id",
            &"0".repeat(32),
            "--text",
            "yes",
            "--db",
            &db,
        ],
    );
    assert!(refused.err.contains("does not wait any more"), "{}", refused.err);
    let unfit = r#"{"price": "dear"}"#;
    user.expect(2, &["update", "t", "--values", unfit, "--db", &db]);
    let inbox = app.call("inbox.list", json!({"threadId": "t"})).await.unwrap();
    let choice = inbox["questions"][0]["value"]["choices"][0]["value"].to_string();
    let edited = user.expect(
        0,
        &[
            "update",
            "t",
            "--values",
            r#"{"price": 41}"#,
            "--preview",
            "--db",
            &db,
        ],
    );
    assert!(edited.out.starts_with("nothing stored; as "), "{}", edited.out);
    let resumed = user.expect(0, &["resume", "t", "--answer", &choice, "--db", &db]);
    assert_eq!(resumed.json()["price"], 40);
    let edited = user.expect(
        0,
        &[
            "update",
            "t",
            "--values",
            r#"{"price": 41}"#,
            "--json",
            "--db",
            &db,
        ],
    );
    assert_eq!(edited.json()["thread_id"], "t");
    let state = app
        .call("thread.value", json!({"threadId": "t", "pointer": "/price"}))
        .await
        .unwrap();
    assert_eq!(state["value"], 41, "{state}");
    let listed = user.expect(0, &["threads", "--json", "--db", &db]).json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(
        (&listed[0]["thread_id"], &listed[0]["graph"]),
        (&json!("t"), &json!("Refund desk"))
    );
    let shown = user
        .expect(0, &["threads", "show", "t", "--json", "--db", &db])
        .json();
    assert_eq!(shown, listed[0]);
    for (more, count) in [
        (&["--status", "asking"][..], "0"),
        (&["--search", "t"], "1"),
        (&["--graph", &desk], "1"),
        (&["--graph", "Refund desk"], "1"),
    ] {
        let counted = user.expect(0, &[&["threads", "list", "--count", "--db", &db], more].concat());
        assert_eq!(counted.out.trim(), count, "{more:?}");
    }
    let unknown = user.expect(2, &["threads", "list", "--graph", "other.json", "--db", &db]);
    assert!(unknown.err.contains("other.json"), "{}", unknown.err);
    user.expect(0, &["delete", "t", "--yes", "--db", &db]);
    let gone = user.expect(2, &["threads", "show", "t", "--db", &db]);
    assert!(gone.err.contains("There is no thread t"), "{}", gone.err);
    let missing = user.expect(2, &["resume", "other", "--db", &db]);
    assert!(
        missing.err.contains("There is no thread other"),
        "{}",
        missing.err
    );
    app.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_other_program_would_do_otherwise_is_refused() {
    let user = User::new();
    let (app, db) = app(&user).await;
    let graph = user.graph("talk.json", &talk());
    let run = ["run", &graph, "--input", "{}", "--db", &db];
    let held = user.expect(1, &[&run[..], &["--no-handover"]].concat());
    let process = format!("process {}", std::process::id());
    assert!(
        held.err.contains(&process) && held.err.contains("has it open"),
        "{}",
        held.err
    );
    let trusted = user.expect(2, &[&run[..], &["--trust"]].concat());
    assert!(trusted.err.contains("superstep trust"), "{}", trusted.err);

    let open = app.call("graph.open", json!({"path": graph})).await.unwrap();
    let record = json!({"id": "key:more", "from": null, "to": {"type": "string"}});
    let apply = json!({"graphId": open["graphId"], "baseRev": open["rev"], "ops": [record]});
    app.call("graph.apply", apply).await.unwrap();
    let changed = user.expect(2, &run);
    assert!(
        changed.err.contains("changes that are not in the file"),
        "{}",
        changed.err
    );
    let threads = app.call("thread.list", json!({})).await.unwrap();
    assert_eq!(threads["threads"], json!([]), "nothing was begun");

    let reaching = user.graph(
        "reaching.json",
        &json!({
            "format": "superstep/1", "name": "Reaching", "state": {"n": {"type": "string"}},
            "nodes": {"ask": {"kind": "http", "config": {"url": "https://example.com/", "into": "n"}}},
            "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}]
        }),
    );
    let untrusted = user.expect(2, &["run", &reaching, "--input", "{}", "--db", &db]);
    assert!(untrusted.err.contains("allow"), "{}", untrusted.err);
    // Another folder, and another data folder, are none of its business.
    let elsewhere = user.expect(
        0,
        &[
            "run",
            &example("counter"),
            "--input",
            r#"{"limit": 1}"#,
            "--db",
            "file:elsewhere",
        ],
    );
    assert!(!elsewhere.err.contains("handed"), "{}", elsewhere.err);
    app.shutdown().await;
}

fn speaking(user: &User, db: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let graph = user.graph("talk.json", &talk());
    let mut child = user
        .command(&[
            "run", &graph, "--thread", "t", "--input", "{}", "--db", db, "--stream", "messages",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.map(|line| line.unwrap()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_stops_the_run_where_it_is() {
    let user = User::new();
    let (app, db) = app(&user).await;
    let (mut child, mut lines) = speaking(&user, &db);
    assert!(
        lines.any(|line| line.contains("word1 ")),
        "tokens come while the model answers"
    );
    interrupt(&child);
    let last = lines.last().unwrap();
    assert!(last.contains(r#""code":"cancelled""#), "{last}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let thread = app.call("thread.get", json!({"threadId": "t"})).await.unwrap();
    assert_eq!(thread["status"], "stopped", "{thread}");
    app.shutdown().await;
}

#[test]
fn a_server_that_is_killed_ends_the_command() {
    let user = User::new();
    let db = format!("file:{}", user.dir.path().join("threads").display());
    let mut server = user
        .command(&["serve", "--port", "0", "--db", &db])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let address = BufReader::new(server.stdout.take().unwrap()).lines().next();
    assert!(address.unwrap().unwrap().starts_with("http://"));
    let (child, mut lines) = speaking(&user, &db);
    assert!(
        lines.any(|line| line.contains("word1 ")),
        "tokens come while the model answers"
    );
    server.kill().unwrap();
    server.wait().unwrap();
    let done = child.wait_with_output().unwrap();
    let message = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{message}");
    assert!(message.contains("does not answer any more"), "{message}");
    // Nobody holds the folder now, and the thread goes on here.
    user.expect(0, &["threads", "show", "t", "--db", &db]);
}

/// Whatever else opens the folder goes to the program that has it open, and says the same as when nobody has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_reads_a_folder_that_another_program_has_open() {
    let user = User::new();
    let (app, db) = app(&user).await;
    let desk = example("refund-desk");
    let input = r#"{"request": "The lamp arrived broken.", "price": 40, "days": 3}"#;
    user.expect(3, &["run", &desk, "--thread", "t", "--input", input, "--db", &db]);
    let file = user.dir.path().join("t.jsonl");
    let file = file.to_str().unwrap();
    for (change, printed) in [
        (
            &["store", "put", "people/ada", "likes", r#"{"food": "figs"}"#][..],
            "",
        ),
        (
            &["store", "put", "people/ada", "hates", r#"{"food": "dates"}"#],
            "",
        ),
        (&["store", "delete", "people/ada", "hates", "--yes"], ""),
        (&["threads", "copy", "t", "other"], "other"),
        (&["threads", "export", "t", "--output", file], ""),
        (&["threads", "import", file, "--as", "third"], "third"),
        (&["threads", "prune", "third", "--keep", "latest", "--yes"], ""),
        (&["threads", "withdraw", "other", "--why", "a copy"], ""),
    ] {
        let done = user.expect(0, &[change, &["--db", &db]].concat());
        assert!(done.err.contains("handed to it"), "{change:?}: {}", done.err);
        assert_eq!(done.out.trim(), printed, "{change:?}");
    }
    let thread = app
        .call("thread.get", json!({"threadId": "third"}))
        .await
        .unwrap();
    assert_eq!(
        (&thread["checkpoints"], &thread["status"]),
        (&json!(1), &json!("asking"))
    );
    let other = app
        .call("thread.get", json!({"threadId": "other"}))
        .await
        .unwrap();
    assert_eq!(other["questions"], 0, "{other}");
    let refused = user.expect(2, &["store", "get", "people/ada", "hates", "--db", &db]);
    assert!(refused.err.contains("There is no item"), "{}", refused.err);

    let filter = r#"{"source": "loop"}"#;
    let reads: [&[&str]; 13] = [
        &["state", "t"],
        &["state", "t", "--json"],
        &["state", "t", "price"],
        &["history", "t"],
        &["history", "t", "--json"],
        &["history", "t", "--filter", filter],
        &["threads", "list", "--filter", filter, "--json"],
        &["threads", "waiting", "--json"],
        &["threads", "export", "t"],
        &["threads", "usage", "t", "--json"],
        &["store", "list", "--json"],
        &["store", "search", "people", "--query", "figs", "--json"],
        &["store", "get", "people/ada", "likes"],
    ];
    let read = |args: &[&str]| user.expect(0, &[args, &["--db", &db]].concat());
    let there: Vec<Done> = reads.iter().map(|args| read(args)).collect();
    let sound = read(&["threads", "verify"]);
    assert!(sound.err.contains("handed to it"), "{}", sound.err);
    app.shutdown().await;
    drop(app);
    for (args, there) in reads.iter().zip(there) {
        let here = read(args);
        assert!(there.err.contains("handed to it") && !here.err.contains("handed to it"));
        assert_eq!(there.out, here.out, "{args:?}");
        assert!(!here.out.trim().is_empty(), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tags_and_metadata_are_handed_over_and_asked_for_there() {
    let user = User::new();
    let (_app, db) = app(&user).await;
    let counter = example("counter");
    let run = ["run", &counter, "--input", r#"{"limit": 3}"#, "--db", &db];
    user.expect(
        0,
        &[
            &run[..],
            &["--thread", "t", "--tag", "eval", "--meta", "customer=acme"],
        ]
        .concat(),
    );
    user.expect(0, &[&run[..], &["--thread", "u"]].concat());
    user.expect(0, &[&run[..], &["--thread", "t", "--tag", "again"]].concat());
    let list = user
        .expect(0, &["threads", "--db", &db, "--json", "--tag", "eval"])
        .json();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!(
        (&list[0]["thread_id"], &list[0]["tags"], &list[0]["metadata"]),
        (
            &json!("t"),
            &json!(["again", "eval"]),
            &json!({"customer": "acme"})
        )
    );
}
