//! Threads over time: list, state, history, edits, forks, replay, deletion, places.

use serde_json::{Value as Json, json};

use crate::{User, example};

/// Runs the refund desk to its question and gives the id of the checkpoint that asks.
fn asking(user: &User) -> String {
    user.expect(
        3,
        &["run", &example("refund-desk"), "--example", "1", "--thread", "t"],
    );
    let history = user.expect(0, &["history", "t", "--json"]).json();
    history[0]["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn threads_say_how_they_stand() {
    let user = User::new();
    assert!(
        user.expect(0, &["threads"])
            .err
            .contains("There are no threads yet.")
    );
    asking(&user);
    user.expect(
        0,
        &["run", &example("counter"), "--example", "1", "--thread", "u"],
    );
    let table = user.expect(0, &["threads"]).out;
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["THREAD", "STATUS", "STEP", "GRAPH", "UPDATED", "NEXT"]);
    let counted = |graph: &str| user.expect(0, &["threads", "--graph", graph, "--count"]).out;
    assert_eq!(counted("Counter").trim(), "1", "by its name");
    assert_eq!(counted(&example("counter")).trim(), "1", "by its folder");
    assert_eq!(counted(&example("chat")).trim(), "0", "a graph that nothing ran");
    let nothing = user.expect(
        2,
        &["threads", "--graph", "Access desk", "--status", "done", "--count"],
    );
    assert!(nothing.err.contains("Access desk"), "{}", nothing.err);
    assert_eq!(lines[1][..4], ["u", "done", "6", "Counter"]);
    assert_eq!(
        (lines[2][..5].to_vec(), lines[2].last()),
        (vec!["t", "asking", "3", "Refund", "desk"], Some(&"review"))
    );
    let list = user
        .expect(0, &["threads", "--json", "--status", "asking"])
        .json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(
        list[0]["graph_path"],
        format!("{}/graph.json", example("refund-desk"))
    );
    assert_eq!(
        (&list[0]["checkpoints"], &list[0]["next"]),
        (&json!(5), &json!(["review"]))
    );
    let of_graph = user
        .expect(0, &["threads", "--json", "--graph", &example("counter")])
        .json();
    assert_eq!(of_graph[0]["thread_id"], "u");
    assert_eq!(
        user.expect(0, &["threads", "--json", "--limit", "1"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn state_now_and_then() {
    let user = User::new();
    let checkpoint = asking(&user);
    let shown = user.expect(0, &["state", "t"]);
    assert_eq!(shown.json()["amount"], 40);
    assert!(
        shown.err.contains("next: review") && shown.err.contains("superstep resume t --answer"),
        "{}",
        shown.err
    );
    let snapshot = user.expect(0, &["state", "t", "--json"]).json();
    let names: Vec<&String> = snapshot.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "values",
            "next",
            "config",
            "metadata",
            "created_at",
            "parent_config",
            "tasks",
            "interrupts"
        ]
    );
    user.expect(0, &["resume", "t", "--answer", r#"{"decision": "approve"}"#]);
    assert_eq!(
        user.expect(0, &["state", "t", "--json"]).json()["next"],
        json!([])
    );
    let then = user
        .expect(0, &["state", "t", "--checkpoint", &checkpoint, "--json"])
        .json();
    assert_eq!(
        (&then["next"], &then["values"]["payment"]),
        (&json!(["review"]), &Json::Null)
    );
    assert!(
        user.expect(2, &["state", "nobody"])
            .err
            .contains("There is no thread nobody in sqlite:")
    );
    assert!(
        user.expect(2, &["state", "t", "--checkpoint", "x"])
            .err
            .contains("superstep history t")
    );
}

#[test]
fn history_shows_steps_and_forks() {
    let user = User::new();
    let checkpoint = asking(&user);
    let table = user.expect(0, &["history", "t"]).out;
    let steps: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|line| line.trim_start_matches('*').split_whitespace().collect())
        .collect();
    let column = |index: usize| steps.iter().map(|step| step[index]).collect::<Vec<_>>();
    assert_eq!(column(1), ["3", "2", "1", "0", "-1"]);
    assert_eq!(column(2), ["loop", "loop", "loop", "loop", "input"]);
    assert_eq!(steps[0][4..], ["asking", "review"]);
    assert_eq!(steps[1][4..], ["draft"]);
    assert!(table.lines().nth(1).unwrap().starts_with('*'));
    assert_eq!(
        user.expect(0, &["history", "t", "--limit", "2", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let older = user
        .expect(0, &["history", "t", "--before", &checkpoint, "--json"])
        .json();
    assert_eq!(older[0]["next"], json!(["draft"]));
    assert_eq!(
        older[0]["tasks"][0]["result"]["draft"].as_str().unwrap()[..5],
        *"Dear "
    );
}

#[test]
fn an_edit_in_the_past_is_a_fork_that_runs_on() {
    let user = User::new();
    let checkpoint = asking(&user);
    user.expect(0, &["resume", "t", "--answer", r#"{"decision": "approve"}"#]);
    let values = r#"{"amount": 5}"#;
    let preview = user.expect(
        0,
        &[
            "update",
            "t",
            "--values",
            values,
            "--checkpoint",
            &checkpoint,
            "--preview",
        ],
    );
    assert_eq!(
        preview.out,
        "nothing stored; as draft the next would be: review\n"
    );
    assert_eq!(
        user.expect(0, &["state", "t", "--json"]).json()["values"]["amount"],
        40
    );

    let args = [
        "update",
        "t",
        "--values",
        values,
        "--as-node",
        "draft",
        "--checkpoint",
        &checkpoint,
        "--json",
    ];
    let made = user.expect(0, &args).json();
    assert_eq!(
        (&made["as_node"], &made["next"]),
        (&json!("draft"), &json!(["review"]))
    );
    let edit = user.expect(0, &["state", "t", "--json"]).json();
    assert_eq!(
        edit["metadata"]["edited"], "amount",
        "an edit says which keys it wrote, as one of the app does"
    );
    let asked = user.expect(3, &["resume", "t"]);
    assert!(asked.err.contains("Refund 5 EUR of 40 EUR?"), "{}", asked.err);
    let done = user.expect(0, &["resume", "t", "--answer", r#"{"decision": "approve"}"#]);
    assert_eq!(done.json()["payment"]["amount"], 5);
    let fork = made["checkpoint_id"].as_str().unwrap();
    let table = user.expect(0, &["history", "t"]).out;
    let row = table.lines().find(|line| line.contains(fork)).unwrap();
    assert!(
        row.trim_end().ends_with(&checkpoint),
        "the fork shows where it begins: {row}"
    );

    let wrong = user.expect(2, &["update", "t", "--values", r#"{"amount": -3}"#]);
    assert!(
        wrong.err.contains("does not fit the state key `amount`"),
        "{}",
        wrong.err
    );
    assert!(
        user.expect(2, &["update", "t", "--values", r#"{"amont": 3}"#])
            .err
            .contains("no state key")
    );
    let unknown = user.expect(2, &["update", "t", "--values", "null", "--as-node", "nobody"]);
    assert!(unknown.err.contains("The nodes are classify"), "{}", unknown.err);
}

#[test]
fn a_replay_runs_again_from_a_checkpoint() {
    let user = User::new();
    let counter = example("counter");
    user.expect(
        0,
        &["run", &counter, "--input", r#"{"limit": 3}"#, "--thread", "t"],
    );
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let second = history
        .as_array()
        .unwrap()
        .iter()
        .find(|snapshot| snapshot["metadata"]["step"] == 2)
        .unwrap();
    let id = second["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap();
    let replay = user
        .expect(
            0,
            &["run", &counter, "--thread", "t", "--checkpoint", id, "--json"],
        )
        .events();
    let updates: Vec<&Json> = replay
        .iter()
        .filter(|event| event["event"] == "updates")
        .collect();
    assert_eq!(updates.len(), 2, "one turn and the end: {replay:?}");
    let longer = user.expect(0, &["history", "t", "--json"]).json();
    assert!(
        longer.as_array().unwrap().len() > history.as_array().unwrap().len(),
        "nothing overwrites history"
    );
    let skipped = user
        .expect(0, &["update", "t", "--skip-step", "--checkpoint", id, "--json"])
        .json();
    assert_eq!(
        (&skipped["as_node"], &skipped["next"]),
        (&json!("increment"), &json!(["increment"])),
        "the loop goes on from the state before"
    );
    let done = user.expect(0, &["resume", "t"]).json();
    assert_eq!(
        (&done["count"], done["log"].as_array().map(Vec::len)),
        (&json!(3), Some(3))
    );
    user.expect(2, &["update", "t", "--skip-step", "--values", "{}"]);
    user.expect(2, &["update", "t"]);
}

#[test]
fn the_graph_is_found_from_the_thread_or_named() {
    let user = User::new();
    std::fs::create_dir(user.dir.path().join("g")).unwrap();
    let text = std::fs::read_to_string(format!("{}/graph.json", example("refund-desk"))).unwrap();
    let path = user.dir.path().join("g/graph.json");
    std::fs::write(&path, text).unwrap();
    user.expect(
        3,
        &[
            "run",
            "g",
            "--example",
            "1",
            "--thread",
            "t",
            "--db",
            "sqlite:other.db",
        ],
    );
    let asked = user.expect(0, &["state", "t", "--db", "sqlite:other.db"]);
    assert!(
        asked
            .err
            .contains("superstep resume t --db sqlite:other.db --answer"),
        "{}",
        asked.err
    );
    assert!(user.dir.path().join("other.db").exists());
    assert!(!user.dir.path().join("data").exists());
    std::fs::rename(&path, user.dir.path().join("moved.json")).unwrap();
    let gone = user.expect(2, &["resume", "t", "--db", "sqlite:other.db", "--text", "x"]);
    assert!(
        gone.err
            .contains("not there any more. Name its file with --graph."),
        "{}",
        gone.err
    );
    user.expect(0, &["history", "t", "--db", "sqlite:other.db"]);
    let answer = r#"{"decision": "reject"}"#;
    let args = [
        "resume",
        "t",
        "--db",
        "sqlite:other.db",
        "--graph",
        "moved.json",
        "--answer",
        answer,
    ];
    assert_eq!(user.expect(0, &args).json()["outcome"], "declined");
    let refused = user.expect(1, &["threads", "--db", "mysql:x"]);
    assert!(
        refused.err.contains("no backend is called \"mysql\"") && refused.err.contains("sqlite:PATH"),
        "{}",
        refused.err
    );
}

#[test]
fn deleting_asks_first_and_is_all_or_nothing() {
    let user = User::new();
    for thread in ["a", "b"] {
        user.expect(
            0,
            &["run", &example("counter"), "--example", "1", "--thread", thread],
        );
    }
    let unasked = user.expect(2, &["delete", "a"]);
    assert!(unasked.err.contains("--yes"), "{}", unasked.err);
    assert!(
        user.expect(2, &["delete", "a", "x", "--yes"])
            .err
            .contains("Nothing was deleted.")
    );
    assert_eq!(
        user.expect(0, &["threads", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    user.expect(0, &["delete", "a", "--yes"]);
    let left = user.expect(0, &["threads", "--json"]).json();
    assert_eq!(
        (left.as_array().unwrap().len(), &left[0]["thread_id"]),
        (1, &json!("b"))
    );
}

#[test]
fn threads_are_shown_copied_and_travel_as_files() {
    let user = User::new();
    let checkpoint = asking(&user);
    let shown = user.expect(0, &["threads", "show", "t"]).out;
    assert!(
        shown.contains("status      asking") && shown.contains("next        review"),
        "{shown}"
    );
    let json = user.expect(0, &["threads", "show", "t", "--json"]).json();
    assert_eq!(
        (&json["status"], &json["checkpoint_id"]),
        (&json!("asking"), &json!(checkpoint))
    );
    assert!(
        user.expect(2, &["threads", "show", "x"])
            .err
            .contains("There is no thread x")
    );

    assert_eq!(user.expect(0, &["threads", "copy", "t", "u"]).out.trim(), "u");
    user.expect(0, &["resume", "u", "--answer", r#"{"decision": "approve"}"#]);
    let taken = user.expect(2, &["threads", "copy", "t", "u"]).err;
    assert!(taken.contains("There is a thread u already"), "{taken}");
    let found = user
        .expect(0, &["threads", "list", "--search", "U", "--json"])
        .json();
    assert_eq!(found[0]["thread_id"], "u");
    assert_eq!(found.as_array().unwrap().len(), 1);

    let file = user.dir.path().join("t.jsonl");
    let file = file.to_str().unwrap();
    user.expect(0, &["threads", "export", "t", "-o", file]);
    let piped = user.expect(0, &["threads", "export", "t"]).out;
    assert_eq!(piped, std::fs::read_to_string(file).unwrap());
    let other = format!("sqlite:{}", user.dir.path().join("other.db").display());
    assert_eq!(
        user.expect(0, &["threads", "import", file, "--db", &other])
            .out
            .trim(),
        "t"
    );
    let state = |db: &[&str]| user.expect(0, &[&["state", "t", "--json"], db].concat()).json();
    assert_eq!(state(&["--db", &other])["values"], state(&[])["values"]);
    let again = user.expect(2, &["threads", "import", file]).err;
    assert!(again.contains("another name with --as"), "{again}");
    assert_eq!(
        user.expect(0, &["threads", "import", file, "--as", "v"])
            .out
            .trim(),
        "v"
    );
    assert_eq!(
        user.expect(0, &["threads", "copy", "u", "--to", &other])
            .out
            .trim(),
        "u"
    );
    std::fs::write(file, &piped[..piped.len() - 20]).unwrap();
    let cut = user.expect(2, &["threads", "import", file, "--as", "w"]).err;
    assert!(
        cut.contains("cut off") && cut.contains("Nothing was changed"),
        "{cut}"
    );
    user.expect(2, &["threads", "show", "w"]);
}

#[test]
fn the_past_of_threads_is_removed_when_asked_for() {
    let user = User::new();
    asking(&user);
    let plan = user
        .expect(
            0,
            &["threads", "prune", "t", "--keep", "latest", "--dry-run", "--json"],
        )
        .json();
    assert_eq!(
        (&plan["checkpoints"], &plan["threads"], &plan["dry_run"]),
        (&json!(4), &json!(0), &json!(true))
    );
    let unasked = user.expect(2, &["threads", "prune", "t", "--keep", "latest"]).err;
    assert!(unasked.contains("--yes"), "{unasked}");
    assert_eq!(
        user.expect(0, &["history", "t", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        5
    );
    let went = user
        .expect(0, &["threads", "prune", "t", "--keep", "2", "--yes"])
        .err;
    assert!(went.contains("Removed 3 checkpoints"), "{went}");
    user.expect(0, &["resume", "t", "--answer", r#"{"decision": "approve"}"#]);
    let young = user
        .expect(
            0,
            &["threads", "prune", "--idle", "30", "--keep", "nothing", "--yes"],
        )
        .err;
    assert!(young.contains("There is nothing to remove."), "{young}");
    assert!(
        user.expect(2, &["threads", "prune", "x", "--keep", "latest"])
            .err
            .contains("There is no thread x")
    );
    assert!(
        user.expect(2, &["threads", "prune", "t", "--keep", "some"])
            .err
            .contains("say latest, branches, nothing")
    );
}

#[test]
fn a_database_that_was_chosen_in_the_app_counts_here() {
    let user = User::new();
    asking(&user);
    let list = || {
        user.expect(0, &["threads", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(list(), 1);
    let choice = user.dir.path().join("data/database.json");
    let other = user.dir.path().join("other.db");
    std::fs::write(
        &choice,
        json!({"url": format!("sqlite:{}", other.display())}).to_string(),
    )
    .unwrap();
    assert_eq!(list(), 0);
    std::fs::write(&choice, "{").unwrap();
    assert!(
        user.expect(1, &["threads"])
            .err
            .contains("database.json is broken")
    );
}

#[test]
fn a_question_is_answered_by_those_it_is_for_and_ends_at_its_deadline() {
    let user = User::new();
    let graph = |wait: u64| {
        user.graph(
            "ask.json",
            &json!({
                "format": "superstep/1", "name": "Ask", "state": {"out": {"type": "string"}},
                "nodes": {"ask": {"kind": "ask", "config": {
                    "question": "Pay?", "into": "out", "who": ["Ada", "Grace"], "wait_s": wait, "otherwise": "nobody"}}},
                "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}],
            }),
        )
    };
    let path = graph(3600);
    let asked = user.expect(3, &["run", &path, "--thread", "a", "--input", "{}"]);
    assert!(asked.err.contains("Pay?"), "{}", asked.err);
    for args in [
        &["resume", "a", "--text", "yes"][..],
        &["resume", "a", "--text", "yes", "--as", "Bob"],
    ] {
        let refused = user.expect(2, args);
        assert!(
            refused.err.contains("The question is for Ada, Grace"),
            "{}",
            refused.err
        );
    }
    let state = user.expect(0, &["state", "a", "--json"]).json();
    let id = state["interrupts"][0]["id"].as_str().unwrap();
    let answers = json!({id: "yes"}).to_string();
    user.expect(2, &["resume", "a", "--answers", &answers, "--as", "Bob"]);
    let done = user.expect(0, &["resume", "a", "--answers", &answers, "--as", " ada "]);
    assert_eq!(done.json()["out"], "yes");
    // Who one is in the app counts here too.
    user.expect(3, &["run", &path, "--thread", "b", "--input", "{}"]);
    std::fs::create_dir_all(user.dir.path().join("data")).unwrap();
    let settings = json!({"theme": "system", "follow": true, "welcomed": true, "name": "Grace"});
    std::fs::write(user.dir.path().join("data/settings.json"), settings.to_string()).unwrap();
    assert_eq!(
        user.expect(0, &["resume", "b", "--text", "no"]).json()["out"],
        "no"
    );
    // Before its deadline the question is asked again, then the thread goes on without an answer.
    let path = graph(2);
    let began = std::time::Instant::now();
    user.expect(3, &["run", &path, "--thread", "c", "--input", "{}"]);
    let last = loop {
        let done = user.call(&["resume", "c"]);
        if done.code != 3 {
            let waited = began.elapsed();
            assert!(
                waited > std::time::Duration::from_secs(2),
                "{waited:?} {}",
                done.err
            );
            break done;
        }
        assert!(
            began.elapsed() < std::time::Duration::from_secs(60),
            "it waits for ever"
        );
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    assert_eq!(
        (last.code, last.json()["out"].as_str()),
        (0, Some("nobody")),
        "{}",
        last.err
    );
}

#[test]
fn what_is_answered_here_is_in_the_history() {
    let user = User::new();
    let ask = |name: &str| json!({"kind": "ask", "config": {"question": format!("{name}?"), "into": name}});
    let path = user.graph(
        "two.json",
        &json!({
            "format": "superstep/1", "name": "Two", "state": {"pay": {}, "tell": {}},
            "nodes": {"p": ask("pay"), "t": ask("tell")},
            "edges": [{"from": "__start__", "to": "p"}, {"from": "__start__", "to": "t"},
                {"from": "p", "to": "__end__"}, {"from": "t", "to": "__end__"}],
        }),
    );
    std::fs::create_dir_all(user.dir.path().join("data")).unwrap();
    user.expect(3, &["run", &path, "--thread", "a", "--input", "{}"]);
    let state = user.expect(0, &["state", "a", "--json"]).json();
    let questions = state["interrupts"].as_array().unwrap();
    let id_of = |word: &str| {
        let asked = questions
            .iter()
            .find(|asked| asked["value"].to_string().contains(word));
        asked.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let answers = json!({id_of("pay"): "forty"}).to_string();
    user.expect(3, &["resume", "a", "--answers", &answers, "--as", "Ada"]);
    let answers = json!({id_of("tell"): "yes"}).to_string();
    user.expect(0, &["resume", "a", "--answers", &answers]);
    let history = user.expect(0, &["threads", "history", "--json"]).json();
    let told = |one: &Json| {
        let field = |name: &str| one[name].clone();
        json!([
            field("thread_id"),
            field("node"),
            field("question"),
            field("answer"),
            field("who"),
            field("state")
        ])
    };
    let history: Vec<Json> = history.as_array().unwrap().iter().map(told).collect();
    assert_eq!(
        history,
        [
            json!(["a", "t", "tell?", "yes", null, "given"]),
            json!(["a", "p", "pay?", "forty", "Ada", "given"]),
        ],
        "the newest first"
    );
    let checked = user
        .expect(0, &["threads", "history", "--verify", "--json"])
        .json();
    assert_eq!(checked["entries"], 2, "{checked}");
    let found = user
        .expect(0, &["threads", "history", "--search", "ada pay", "--json"])
        .json();
    assert_eq!(found.as_array().unwrap().len(), 1);
}

#[test]
fn a_wait_for_a_time_goes_on_in_another_process() {
    let user = User::new();
    let path = user.graph(
        "wait.json",
        &json!({
            "format": "superstep/1", "name": "Wait", "state": {"due": {}, "out": {"type": "string"}},
            "nodes": {
                "wait": {"kind": "delay", "config": {"until": "state.due"}},
                "after": {"kind": "assign", "config": {"set": {"out": "'after'"}}},
            },
            "edges": [{"from": "__start__", "to": "wait"}, {"from": "wait", "to": "after"}, {"from": "after", "to": "__end__"}],
        }),
    );
    let due = std::time::SystemTime::now() + std::time::Duration::from_secs(45);
    let due = due.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let input = json!({"due": due}).to_string();
    let mut first = user.command(&["run", &path, "--thread", "w", "--input", &input]);
    let mut first = first.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut reported = std::io::BufReader::new(first.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("Waits until") {
        line.clear();
        assert!(
            std::io::BufRead::read_line(&mut reported, &mut line).unwrap() > 0,
            "it ended"
        );
    }
    first.kill().unwrap();
    first.wait().unwrap();
    // It is written where the thread is, so another process waits for what is left, and ends it early when asked to.
    let state = user.expect(0, &["state", "w", "--json"]).json();
    assert_eq!(state["interrupts"][0]["value"]["waits"], true, "{state}");
    let copy = user.expect(0, &["threads", "copy", "w", "v"]);
    let early = user.expect(0, &["resume", "v", "--answer", "true"]);
    assert_eq!(early.json()["out"], "after", "{}", copy.err);
    let rest = user.expect(0, &["resume", "w"]);
    assert!(
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs()
            >= due
    );
    assert_eq!(rest.json()["out"], "after");
}

/// Checkpoints of a thread, the newest first.
fn checkpoints(user: &User, thread: &str) -> Vec<String> {
    let history = user.expect(0, &["history", thread, "--json"]).json();
    let id = |snapshot: &Json| {
        snapshot["config"]["configurable"]["checkpoint_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    history.as_array().unwrap().iter().map(id).collect()
}

/// Marks a checkpoint as the app does.
fn bookmark(user: &User, thread: &str, checkpoint: &str) {
    let data_dir = user.dir.path().join("data");
    let options = superstep_workbench::Options::new(data_dir.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    // It makes its tables.
    drop(
        runtime
            .block_on(superstep_workbench::Workbench::open(options))
            .unwrap(),
    );
    let conn = rusqlite::Connection::open(data_dir.join("workbench.db")).unwrap();
    let sql = "INSERT INTO bookmarks (thread_id, checkpoint_id, name) VALUES (?1, ?2, 'mine')";
    conn.execute(sql, [thread, checkpoint]).unwrap();
}

#[test]
fn pruning_leaves_what_was_bookmarked() {
    let user = User::new();
    for thread in ["t", "u"] {
        user.expect(
            0,
            &["run", &example("counter"), "--example", "1", "--thread", thread],
        );
    }
    let all = checkpoints(&user, "t");
    bookmark(&user, "t", &all[3]);
    let went = user.expect(0, &["threads", "prune", "t", "--keep", "latest", "--yes"]);
    assert!(went.err.contains("1 bookmarked checkpoint"), "{}", went.err);
    assert_eq!(checkpoints(&user, "t"), [all[0].clone(), all[3].clone()]);
    // What one run wrote; the bookmark stays here too.
    let list = user.expect(0, &["history", "u", "--json"]).json();
    let run = list[0]["metadata"]["run_id"].as_str().unwrap().to_owned();
    let plan = user
        .expect(0, &["threads", "prune", "--run", &run, "--dry-run", "--json"])
        .json();
    // The graph version that the thread keeps goes with its last run.
    assert_eq!(plan["checkpoints"], list.as_array().unwrap().len() + 1);
    user.expect(0, &["threads", "prune", "--run", &run, "--yes"]);
    user.expect(2, &["threads", "show", "u"]);
    user.expect(2, &["threads", "prune", "t", "--run", &run, "--yes"]);
    user.expect(2, &["threads", "prune", "t", "--yes"]);
    // Who names the thread and keeps nothing is shown what goes with it.
    let whole = user.expect(0, &["threads", "prune", "t", "--keep", "nothing", "--yes"]);
    assert!(
        whole.err.contains("what was marked: 1 bookmarked"),
        "{}",
        whole.err
    );
    user.expect(2, &["threads", "show", "t"]);
}

#[test]
fn who_only_looks_makes_no_database() {
    let user = User::new();
    for url in ["sqlite:typo.db", "typo.db", "file:typofolder"] {
        for command in [
            &["threads"][..],
            &["threads", "verify"],
            &["threads", "usage"],
            &["state", "t"],
            &["history", "t"],
            &["delete", "t", "--yes"],
            &["resume", "t"],
            &["store"],
            &["store", "search"],
            &["threads", "export", "t"],
            &["threads", "prune", "t", "--keep", "latest", "--dry-run"],
        ] {
            let done = user.expect(2, &[command, &["--db", url]].concat());
            assert!(
                done.err.contains("There is nothing at"),
                "{command:?}: {}",
                done.err
            );
        }
    }
    user.expect(0, &["threads", "verify"]);
    let made: Vec<_> = std::fs::read_dir(user.dir.path()).unwrap().flatten().collect();
    assert!(made.iter().all(|entry| entry.file_name() == "data"), "{made:?}");
    assert!(!user.dir.path().join("data/threads.db").exists());
    for (url, expected) in [
        (" ", "names no file"),
        ("a.db?mode=ro", "synchronous=full or synchronous=normal"),
        ("sqlite::memory:", "Use memory:"),
        ("host=localhost password=hunter4", "postgres://USER"),
    ] {
        let done = user.expect(1, &["threads", "--db", url]);
        assert!(
            done.err.contains(expected) && !done.err.contains("hunter4"),
            "{}",
            done.err
        );
    }
}

#[test]
fn a_password_is_not_repeated() {
    let user = User::new();
    for (command, url) in [
        (&["threads", "show", "nope"][..], "redis://:hunter2@127.0.0.1:1/0"),
        (
            &["store", "get", "a", "b"],
            "postgres://me:hunter2@127.0.0.1:1/db?user=me&password=hunter2",
        ),
    ] {
        let done = user.expect(1, &[command, &["--db", url]].concat());
        assert!(
            !done.err.contains("hunter2") && done.err.contains("127.0.0.1"),
            "{}",
            done.err
        );
    }
    // The place can be named where no list of processes shows it.
    user.expect(
        0,
        &[
            "run",
            &example("counter"),
            "--example",
            "1",
            "--thread",
            "t",
            "--db",
            "other.db",
        ],
    );
    let with = |args: &[&str]| {
        user.command(args)
            .env("SUPERSTEP_DB", "other.db")
            .output()
            .unwrap()
    };
    let shown = with(&["threads", "show", "t"]);
    assert!(shown.status.success());
    let wrong = String::from_utf8(with(&["threads", "show", "nope"]).stderr).unwrap();
    assert!(
        wrong.contains("`superstep threads`") && wrong.contains("other.db"),
        "{wrong}"
    );
}

#[test]
fn an_export_replaces_its_target_and_touches_nothing_else() {
    let user = User::new();
    user.expect(
        0,
        &["run", &example("counter"), "--example", "1", "--thread", "t"],
    );
    let write = |name: &str, text: &str| std::fs::write(user.dir.path().join(name), text).unwrap();
    write("keep.partial", "precious");
    write("keep.jsonl", "old");
    user.expect(0, &["threads", "export", "t", "-o", "keep.jsonl"]);
    user.expect(0, &["threads", "export", "t", "-o", "mine.partial"]);
    let read = |name: &str| std::fs::read_to_string(user.dir.path().join(name)).unwrap();
    assert_eq!(read("keep.partial"), "precious");
    let one = read("keep.jsonl");
    assert_eq!(one.lines().count(), read("mine.partial").lines().count());
    user.expect(2, &["threads", "export", "nobody", "-o", "keep.jsonl"]);
    assert_eq!(read("keep.jsonl"), one);
    // One file holds one thread.
    write("twice.jsonl", &one.repeat(2));
    let twice = user.expect(2, &["threads", "import", "twice.jsonl", "--as", "again"]);
    assert!(twice.err.contains("a file holds one thread"), "{}", twice.err);
    user.expect(2, &["threads", "show", "again"]);
    write("spaced.jsonl", &format!("{one}\n\n"));
    user.expect(0, &["threads", "import", "spaced.jsonl", "--as", "again"]);
    for wrong in [
        &["threads", "import", "keep.jsonl", "--as", ""][..],
        &["run", &example("counter"), "--example", "1", "--thread", ""],
        &["threads", "copy", "t", ""],
    ] {
        user.expect(2, wrong);
    }
}

#[test]
fn lists_have_pages_counts_and_filters() {
    let user = User::new();
    for thread in ["a", "b", "c"] {
        user.expect(
            0,
            &["run", &example("counter"), "--example", "1", "--thread", thread],
        );
    }
    let list = |more: &[&str]| {
        let list = user.expect(0, &[&["threads", "--json"], more].concat()).json();
        let names = list
            .as_array()
            .unwrap()
            .iter()
            .map(|thread| thread["thread_id"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(list(&["--limit", "2"]), ["c", "b"]);
    assert_eq!(list(&["--limit", "2", "--after", "b"]), ["a"]);
    assert_eq!(
        user.expect(0, &["threads", "--count", "--status", "done"]).out,
        "3\n"
    );
    let shown = user.expect(0, &["history", "b", "--json", "--limit", "1"]).json();
    let run = shown[0]["metadata"]["run_id"].as_str().unwrap();
    assert_eq!(list(&["--filter", &json!({"run_id": run}).to_string()]), ["b"]);
    user.expect(2, &["threads", "--filter", "[1]"]);
    user.expect(2, &["threads", "--limit", "0"]);
    let inputs = user
        .expect(
            0,
            &["history", "b", "--filter", r#"{"source": "input"}"#, "--json"],
        )
        .json();
    assert_eq!(inputs.as_array().unwrap().len(), 1);
    // One key, and what is in it.
    let n = user.expect(0, &["state", "b", "count"]).json();
    assert_eq!(
        n,
        user.expect(0, &["state", "b", "--json"]).json()["values"]["count"]
    );
    assert!(user.expect(2, &["state", "b", "nope"]).err.contains("It has:"));
    // What the thread takes, over time.
    let growth = user
        .expect(0, &["threads", "usage", "b", "--growth", "--json"])
        .json();
    let steps = growth["growth"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["total"], growth["bytes"]);
    assert!(user.expect(0, &["threads", "usage", "--json"]).json()["store"].is_u64());
}

#[test]
fn names_cannot_give_the_terminal_orders() {
    let user = User::new();
    let name = "a\u{1b}[31m\nb";
    user.expect(
        0,
        &["run", &example("counter"), "--example", "1", "--thread", name],
    );
    user.expect(0, &["store", "put", "a", name, "{}"]);
    for args in [
        &["threads"][..],
        &["threads", "show", name],
        &["threads", "usage"],
        &["store", "search"],
    ] {
        let done = user.expect(0, args);
        assert!(
            !done.out.contains('\u{1b}') && done.out.contains(r"a\u{1b}[31m\nb"),
            "{args:?}: {}",
            done.out
        );
    }
    let missing = user.expect(2, &["threads", "show", "\u{1b}[2J"]);
    assert!(!missing.err.contains('\u{1b}'), "{:?}", missing.err);
}

#[test]
fn a_whole_place_is_copied_and_what_is_new_later() {
    let user = User::new();
    let run = |thread: &str| {
        user.expect(
            0,
            &["run", &example("counter"), "--example", "1", "--thread", thread],
        );
    };
    run("a");
    run("b");
    user.expect(0, &["store", "put", "x/y", "k", r#"{"n": 1}"#]);
    user.expect(0, &["store", "put", "x/y", "mortal", "{}", "--minutes", "60"]);
    let copied = user.expect(0, &["threads", "copy", "--all", "--to", "file:other"]);
    assert!(
        copied.err.contains("2 threads and 2 items to file:other"),
        "{}",
        copied.err
    );
    run("c");
    let again = user.expect(0, &["threads", "copy", "--all", "--to", "file:other"]);
    assert!(
        again.err.contains("1 thread and 0 items") && again.err.contains("There already: 2 threads"),
        "{}",
        again.err
    );
    let list = user
        .expect(0, &["threads", "--db", "file:other", "--json"])
        .json();
    assert_eq!(list.as_array().unwrap().len(), 3);
    let there = |key: &str| {
        let args = ["store", "get", "x/y", key, "--json", "--db", "file:other"];
        user.expect(0, &args).json()
    };
    assert_eq!(
        (there("k")["value"]["n"].as_i64(), &there("k")["expires_at"]),
        (Some(1), &Json::Null)
    );
    assert!(there("mortal")["expires_at"].is_string());
    user.expect(2, &["threads", "copy", "--all"]);
    user.expect(2, &["threads", "copy"]);

    // One that is damaged is named, and the others go on.
    let journal = user.dir.path().join("other/threads/a.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.remove(bytes.len() - 40);
    std::fs::write(&journal, bytes).unwrap();
    let list = user.expect(0, &["threads", "--db", "file:other", "--json"]);
    assert_eq!(list.json().as_array().unwrap().len(), 3);
    assert!(
        list.err.contains("a list goes on") && list.err.contains("Thread a"),
        "{}",
        list.err
    );
    let copied = user.expect(
        1,
        &[
            "threads",
            "copy",
            "--all",
            "--db",
            "file:other",
            "--to",
            "third.db",
        ],
    );
    for expected in [
        "2 threads and 2 items to",
        "Thread a was not copied",
        "verify --db file:other",
    ] {
        assert!(copied.err.contains(expected), "{}", copied.err);
    }
}

#[test]
fn questions_of_every_branch_wait_and_are_withdrawn() {
    let user = User::new();
    let checkpoint = asking(&user);
    let waiting = || user.expect(0, &["threads", "waiting", "--json"]).json();
    let first = waiting()[0].clone();
    assert_eq!(
        (&first["thread_id"], &first["node"], &first["newest"]),
        (&json!("t"), &json!("review"), &json!(true))
    );
    assert_eq!(first["checkpoint_id"], checkpoint.as_str());
    let question = first["question_id"].as_str().unwrap();
    let table = user.expect(0, &["threads", "waiting"]).out;
    assert!(table.contains(question) && table.contains("review"), "{table}");

    // A fork of an earlier checkpoint leaves it.
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let earlier = history
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["next"] == json!(["draft"]))
        .unwrap();
    let earlier = earlier["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap();
    user.expect(
        0,
        &[
            "update",
            "t",
            "--values",
            r#"{"amount": 5}"#,
            "--checkpoint",
            earlier,
        ],
    );
    user.expect(3, &["resume", "t"]);
    assert_eq!(user.expect(0, &["threads", "waiting", "--count"]).out, "2\n");
    for rest in [None, Some("--count"), Some("--json")] {
        let mut named = vec!["threads", "waiting", "--thread", "nobody"];
        named.extend(rest);
        assert!(user.expect(2, &named).err.contains("There is no thread nobody"));
    }
    let answer = ["--answer", r#"{"decision": "approve"}"#, "--id", question];
    let elsewhere = user.expect(2, &[&["resume", "t"], &answer[..]].concat());
    assert!(
        elsewhere.err.contains(&format!("--checkpoint {checkpoint}")),
        "{}",
        elsewhere.err
    );
    user.expect(
        0,
        &[&["resume", "t", "--checkpoint", &checkpoint], &answer[..]].concat(),
    );
    assert_eq!(
        user.expect(0, &["state", "t"]).json()["amount"],
        40,
        "the branch that was answered is the newest"
    );

    let left = waiting();
    assert_eq!(
        (left.as_array().unwrap().len(), &left[0]["newest"]),
        (1, &json!(false))
    );
    let withdrawn = user.expect(
        0,
        &["threads", "withdraw", "t", "--why", "paid already", "--as", "Ada"],
    );
    assert!(
        withdrawn.err.contains(left[0]["question_id"].as_str().unwrap()),
        "{}",
        withdrawn.err
    );
    assert!(
        user.expect(0, &["threads", "waiting"])
            .err
            .contains("No question waits")
    );
    let none = user.expect(2, &["threads", "withdraw", "t"]);
    assert!(none.err.contains("No such question waits"), "{}", none.err);
}

#[test]
fn threads_are_found_by_the_tags_and_metadata_of_their_runs() {
    let user = User::new();
    let (counter, desk) = (example("counter"), example("refund-desk"));
    let tagged = ["--tag", "nightly", "--tag", "eval", "--meta", "customer=acme"];
    user.expect(
        3,
        &[&["run", &desk, "--example", "1", "--thread", "t"][..], &tagged].concat(),
    );
    user.expect(
        0,
        &[
            "run",
            &counter,
            "--example",
            "1",
            "--thread",
            "u",
            "--tag",
            "eval",
        ],
    );
    user.expect(0, &["run", &counter, "--example", "1", "--thread", "v"]);

    let ids = |filter: &[&str]| {
        let list = user
            .expect(0, &[&["threads", "--json"][..], filter].concat())
            .json();
        let ids = list.as_array().unwrap().iter();
        let mut ids: Vec<String> = ids
            .map(|row| row["thread_id"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&["--tag", "eval"]), ["t", "u"]);
    assert_eq!(ids(&["--tag", "eval", "--tag", "nightly"]), ["t"]);
    assert_eq!(ids(&["--meta", "customer=acme"]), ["t"]);
    assert_eq!(ids(&["--tag", "eval", "--graph", &counter]), ["u"]);
    assert!(ids(&["--meta", "customer=globex"]).is_empty());
    assert_eq!(
        user.expect(0, &["threads", "--tag", "eval", "--count"])
            .out
            .trim(),
        "2"
    );
    let table = user.expect(0, &["threads"]).out;
    assert!(
        table.lines().next().unwrap().contains("TAGS") && table.contains("eval, nightly"),
        "{table}"
    );

    // What goes on keeps them; what is given joins them, and a key without a value is taken away.
    user.expect(
        0,
        &[
            "resume",
            "t",
            "--answer",
            r#"{"decision": "approve"}"#,
            "--tag",
            "paid",
            "--meta",
            "customer=",
        ],
    );
    let shown = user.expect(0, &["threads", "show", "t", "--json"]).json();
    assert_eq!(
        (&shown["tags"], &shown["metadata"]),
        (&json!(["eval", "nightly", "paid"]), &json!({}))
    );
    let refused = user
        .expect(2, &["run", &counter, "--example", "1", "--meta", "run_id=mine"])
        .err;
    assert!(
        refused.contains("\"run_id\"") && refused.contains("Choose another key."),
        "{refused}"
    );
    assert!(
        user.expect(2, &["run", &counter, "--meta", "acme"])
            .err
            .contains("customer=acme")
    );
}

#[test]
fn a_new_input_says_which_questions_it_leaves() {
    let user = User::new();
    let checkpoint = asking(&user);
    let left = format!("resume t --checkpoint {checkpoint}");
    let again = user.expect(
        3,
        &["run", &example("refund-desk"), "--example", "1", "--thread", "t"],
    );
    let says = again.err.find("1 question of thread t is left without an answer");
    let runs = again.err.find("classify");
    assert!(says.is_some() && says < runs, "{}", again.err);
    assert!(again.err.contains(&left), "{}", again.err);
    // What it names answers, and a thread that asks nothing is not spoken of.
    user.expect(
        0,
        &[
            "resume",
            "t",
            "--checkpoint",
            &checkpoint,
            "--answer",
            r#"{"decision": "approve"}"#,
        ],
    );
    let quiet = user.expect(
        3,
        &["run", &example("refund-desk"), "--example", "1", "--thread", "t"],
    );
    assert!(!quiet.err.contains("without an answer"), "{}", quiet.err);
}

#[test]
fn a_history_without_answers_is_sound_and_has_no_noted_hash() {
    let user = User::new();
    let empty = user.expect(0, &["threads", "history"]);
    assert!(empty.err.contains("Nobody has answered"), "{}", empty.err);
    let whole = user
        .expect(0, &["threads", "history", "--verify", "--json"])
        .json();
    assert_eq!((&whole["entries"], &whole["fault_count"]), (&json!(0), &json!(0)));
    let other = user.expect(1, &["threads", "history", "--verify", "--noted", "abc"]);
    assert!(
        other.out.contains("no entry has the noted hash abc"),
        "{}",
        other.out
    );
}
