//! Graphs as the threads of a LangGraph program show them: opened like a file, only read, drawn again when the program goes on.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

fn copy(name: &str, folder: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../storage/tests/langgraph")
        .join(name);
    let to = folder.join("agent.sqlite");
    fs::copy(from, &to).unwrap();
    to
}

async fn opened(app: &App, file: &Path) -> Value {
    app.ok("graph.open", json!({"path": file.display().to_string()}))
        .await
}

/// The records of a section, by their names, without the section's.
fn section<'a>(view: &'a Value, prefix: &str) -> Vec<(&'a str, &'a Value)> {
    let records = view["records"].as_array().unwrap().iter();
    let mut found: Vec<(&str, &Value)> = records
        .filter_map(|record| Some((record["id"].as_str()?.strip_prefix(prefix)?, &record["value"])))
        .collect();
    found.sort_by_key(|(name, _)| *name);
    found
}

fn names<'a>(view: &'a Value, prefix: &str) -> Vec<&'a str> {
    section(view, prefix).into_iter().map(|(name, _)| name).collect()
}

/// The ways that a state of a thread shows as taken, as `from>to times`.
fn taken(snapshot: &Value) -> Vec<String> {
    let mut all: Vec<String> = snapshot["taken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| {
            format!(
                "{}>{} {}",
                way["from"].as_str().unwrap(),
                way["to"].as_str().unwrap(),
                way["times"]
            )
        })
        .collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_opened_like_a_graph_and_shows_what_its_threads_did() {
    let edges = [
        "__start__>read",
        "cost>join",
        "decide>__end__",
        "join>review",
        "read>cost",
        "review>decide",
    ];
    for release in ["0.2.60", "0.6.11", "1.0.5", "1.2.24"] {
        let dir = tempfile::tempdir().unwrap();
        let file = copy(&format!("sqlite-{release}.db"), dir.path());
        let before = fs::read(&file).unwrap();
        let app = App::open(&dir.path().join("data")).await;
        let graph = opened(&app, &file).await;
        assert_eq!(graph["name"], "agent", "{release}");
        assert_eq!(
            (&graph["seen"]["looked"], &graph["seen"]["threads"]),
            (&json!(4), &json!(4))
        );
        assert_eq!(graph["seen"]["graphs"].as_array().unwrap().len(), 1);
        assert_eq!(
            names(&graph, "node:"),
            ["cost", "decide", "join", "read", "review"],
            "{release}"
        );
        assert_eq!(names(&graph, "edge:"), edges, "{release}");
        assert_eq!(graph["diagnostics"], json!([]));
        let places = section(&graph, "layout:");
        assert_eq!(places.len(), 7, "every node, start and end have a place");
        let kind = |node: &str| {
            section(&graph, "node:")
                .iter()
                .find(|(name, _)| *name == node)
                .unwrap()
                .1["kind"]
                .clone()
        };
        assert_eq!((kind("review"), kind("read")), (json!("graph"), json!("seen")));
        let packets = section(&graph, "edge:")
            .iter()
            .find(|(id, _)| *id == "read>cost")
            .unwrap()
            .1
            .clone();
        assert_eq!(
            packets["each"].as_str().map(|text| &text[.."×".len()]),
            Some("×"),
            "{packets}"
        );

        let id = &graph["graphId"];
        let inside = app
            .ok("graph.inside", json!({"graphId": id, "path": ["review"]}))
            .await;
        assert_eq!(names(&inside, "node:"), ["ask", "write"]);
        assert_eq!(
            names(&inside, "edge:"),
            ["__start__>write", "ask>__end__", "write>ask"]
        );

        let list = app.ok("thread.list", json!({"graphId": id})).await;
        assert_eq!(list["total"], 4);
        let thread = &list["threads"][0];
        assert_eq!(
            (&thread["graphName"], &thread["graphPath"]),
            (&json!("agent"), id)
        );
        let shown = app.ok("thread.snapshot", json!({"threadId": "done"})).await;
        assert_eq!(
            taken(&shown),
            [
                "__start__>read 1",
                "cost>join 2",
                "decide>__end__ 1",
                "join>review 1",
                "read>cost 2",
                "review>decide 1"
            ],
            "{release}"
        );
        let visits: Vec<String> = (shown["visits"].as_array().unwrap().iter())
            .map(|visit| format!("{} {}", visit["node"].as_str().unwrap(), visit["runs"]))
            .collect();
        assert_eq!(
            visits,
            ["cost 2", "decide 1", "join 1", "read 1", "review 1"],
            "{release}"
        );

        let inbox = app.ok("inbox.list", json!({})).await;
        assert_eq!(inbox["questions"][0]["graphName"], "agent");
        assert_eq!(&inbox["questions"][0]["graphPath"], id);
        assert!(before == fs::read(&file).unwrap(), "no byte was written");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_of_a_debugger_are_answered_without_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    opened(&app, &copy("sqlite-1.2.24.db", dir.path())).await;
    let why = app
        .ok(
            "thread.provenance",
            json!({"threadId": "done", "pointer": "/verdict"}),
        )
        .await;
    assert_eq!(why["writes"][0]["writers"][0]["node"], "decide");

    let list = app.ok("thread.checkpoints", json!({"threadId": "done"})).await;
    let nested = list["checkpoints"].as_array().unwrap();
    let at = nested
        .iter()
        .find(|moment| moment["next"] == json!(["review"]))
        .unwrap()["id"]
        .clone();
    let shown = app
        .ok("thread.snapshot", json!({"threadId": "done", "checkpointId": at}))
        .await;
    let task = &shown["tasks"][0];
    let detail = app
        .ok(
            "thread.task",
            json!({"threadId": "done", "checkpointId": at, "taskId": task["id"]}),
        )
        .await;
    assert!(detail["input"].is_object(), "{detail}");
    let within = app
        .ok("thread.within", json!({"threadId": "done", "ns": task["within"]}))
        .await;
    let ran: Vec<&Value> = (within["steps"].as_array().unwrap().iter().rev())
        .flat_map(|step| step["tasks"].as_array().unwrap())
        .map(|task| &task["node"])
        .collect();
    assert_eq!(ran, ["__start__", "write", "ask"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_that_was_seen_is_only_read_and_can_be_made_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let graph = opened(&app, &copy("more-1.2.24.db", dir.path())).await;
    let id = graph["graphId"].clone();
    let ops = json!([{"id": "node:x", "from": null, "to": {"kind": "assign"}}]);
    let save = dir.path().join("x.json").display().to_string();
    for (command, request) in [
        (
            "graph.apply",
            json!({"graphId": id, "baseRev": graph["rev"], "ops": ops}),
        ),
        (
            "graph.save",
            json!({"graphId": id, "path": save, "overwrite": true}),
        ),
    ] {
        assert_eq!(app.refused(command, request).await.code, "only-seen", "{command}");
    }
    assert!(!Path::new(&save).exists());
    let text = app.ok("graph.export", json!({"graphId": id})).await["json"].clone();
    let own = app.ok("graph.new", json!({"name": "Mine", "text": text})).await;
    assert_eq!(own.get("seen"), None);
    let errors = own["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|found| found["severity"] == "error");
    assert_eq!(errors.count(), 0, "{}", own["diagnostics"]);
    assert_eq!(names(&own, "node:"), names(&graph, "node:"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_several_graphs_are_listed_by_graph() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let graph = opened(&app, &copy("more-1.2.24.db", dir.path())).await;
    let graphs = graph["seen"]["graphs"].as_array().unwrap();
    // joins, deltas, deep, parallel, command, fails: none shares a node with another.
    assert_eq!(graphs.len(), 6, "{graphs:?}");
    let mut threads = Vec::new();
    for each in graphs {
        let list = app.ok("thread.list", json!({"graphId": each["graphId"]})).await;
        let own = list["threads"].as_array().unwrap();
        assert_eq!((own.len(), &list["total"]), (1, &json!(1)));
        assert_eq!(own[0]["graphName"], each["name"]);
        threads.push(own[0]["threadId"].as_str().unwrap().to_owned());
    }
    threads.sort();
    assert_eq!(
        threads,
        ["command", "deep", "deltas", "fails", "joins", "parallel"]
    );
    // A join is drawn as one, a loop leads back, an edge that only some took says how many.
    let of = |thread: &str| {
        let place = graphs
            .iter()
            .find(|each| each["name"].as_str().unwrap().contains(thread));
        place.unwrap_or_else(|| panic!("{thread} in {graphs:?}"))["graphId"].clone()
    };
    let joins = app.ok("graph.get", json!({"graphId": of("a, b, c")})).await;
    let join = section(&joins, "edge:")
        .iter()
        .find(|(id, _)| *id == "a+slow>c")
        .unwrap()
        .1
        .clone();
    assert_eq!((&join["from"], &join["to"]), (&json!(["a", "slow"]), &json!("c")));
    let loops = app.ok("graph.get", json!({"graphId": of("talk")})).await;
    let again = section(&loops, "edge:")
        .iter()
        .find(|(id, _)| *id == "talk>talk")
        .unwrap()
        .1["when"]
        .clone();
    assert_eq!(again, "6/7");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_live_program_stores_is_told_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let file = copy("sqlite-1.2.24.db", dir.path());
    let writer = Connection::open(&file).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let graph = opened(&app, &file).await;
    let id = graph["graphId"].as_str().unwrap().to_owned();
    // A thread that takes another way: its newest checkpoint says that a node comes next which nobody knew.
    writer
        .execute_batch(
            "BEGIN;
             INSERT INTO checkpoints SELECT 'live', checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
               FROM checkpoints WHERE thread_id = 'done' AND checkpoint_ns = '';
             INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value, task_path)
               SELECT 'live', checkpoint_ns, checkpoint_id, task_id, idx,
               replace(channel, 'branch:to:decide', 'branch:to:refuse'), type, value, task_path
               FROM writes WHERE thread_id = 'done' AND checkpoint_ns = '';
             COMMIT;",
        )
        .unwrap();
    let told = app.until(|event| match event {
        AppEvent::Diagnostics { graph_id, rev, .. } if *graph_id == id => Some(*rev),
        _ => None,
    });
    assert!(told.await > 0);
    let now = app.ok("graph.get", json!({"graphId": id})).await;
    assert!(
        names(&now, "node:").contains(&"refuse"),
        "{:?}",
        names(&now, "node:")
    );
    assert_eq!(now["savedRev"], now["rev"], "nothing of it waits to be saved");
    let list = app.ok("thread.list", json!({"graphId": id})).await;
    assert_eq!(list["total"], 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_no_database_is_opened_as_a_graph_and_ours_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let own = dir.path().join("data/threads.db").display().to_string();
    let refused = app
        .refused("graph.open", json!({"path": format!("langgraph:{own}")}))
        .await;
    assert!(!refused.message.is_empty());
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(info["kind"], "sqlite", "the database in use stays");
    assert_eq!(app.refused("graph.seen", json!({})).await.code, "not-found");
}

/// A graph file of our own, in which two nodes are called otherwise.
fn own_graph(folder: &Path) -> PathBuf {
    let node = json!({"kind": "assign", "config": {"set": {}}});
    let graph = json!({
        "format": "superstep/1", "name": "Mine",
        "nodes": {"read": node, "price": node, "join": node, "check": node, "decide": node, "archive": node},
        "edges": [
            {"from": "__start__", "to": "read"}, {"from": "read", "to": "price"}, {"from": "price", "to": "join"},
            {"from": "join", "to": "check"}, {"from": "check", "to": "decide"}, {"from": "decide", "to": "archive"}
        ],
        "layout": {"price": [320, 40]}
    });
    let file = folder.join("mine.json");
    fs::write(&file, graph.to_string()).unwrap();
    fs::canonicalize(file).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_are_shown_on_a_graph_of_our_own_with_nodes_matched_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let (data, file) = (dir.path().join("data"), own_graph(dir.path()));
    let app = App::open(&data).await;
    let id = opened(&app, &copy("sqlite-1.2.24.db", dir.path())).await["graphId"].clone();
    let path = file.display().to_string();

    // Equal names are the same at once.
    let laid = app.ok("graph.lay", json!({"graphId": id, "path": path})).await;
    assert_eq!(laid["nodes"], json!(["cost", "decide", "join", "read", "review"]));
    assert_eq!(
        laid["names"],
        json!({"decide": "decide", "join": "join", "read": "read"})
    );
    let names_of = json!({"cost": "price", "review": "check"});
    let laid = app
        .ok(
            "graph.lay",
            json!({"graphId": id, "path": path, "names": names_of}),
        )
        .await;
    assert_eq!(laid["names"].as_object().unwrap().len(), 5, "{laid}");

    let drawn = app.ok("graph.get", json!({"graphId": id})).await;
    assert_eq!(
        names(&drawn, "node:"),
        ["archive", "cost", "decide", "join", "read", "review"]
    );
    let cost = section(&drawn, "node:")
        .into_iter()
        .find(|(name, _)| *name == "cost")
        .unwrap()
        .1
        .clone();
    assert_eq!(
        (&cost["title"], &cost["kind"]),
        (&json!("price"), &json!("assign"))
    );
    assert_eq!(
        section(&drawn, "layout:")
            .iter()
            .find(|(name, _)| *name == "cost")
            .unwrap()
            .1,
        &json!([320, 40])
    );
    let on = &drawn["seen"]["graphs"][0]["laid"];
    assert_eq!(
        (&on["path"], &on["found"], &on["nodes"]),
        (&json!(path), &json!(5), &json!(5))
    );
    // What ran is found on it by the names of the threads.
    let shown = app.ok("thread.snapshot", json!({"threadId": "done"})).await;
    assert!(taken(&shown).contains(&"cost>join 2".to_owned()));
    assert_eq!(
        app.ok("thread.list", json!({"graphId": id})).await["threads"][0]["graphPath"],
        id
    );

    // Our graph does not say what their program would do.
    let inbox = app.ok("inbox.list", json!({})).await;
    let question = &inbox["questions"][0];
    let preview = json!({"threadId": question["threadId"], "checkpointId": question["checkpointId"],
        "interruptId": question["interruptId"], "answers": [true]});
    assert_eq!(app.refused("question.preview", preview).await.code, "only-read");

    // It is only read, and kept with the database.
    let ops = json!([{"id": "node:x", "from": null, "to": {"kind": "assign"}}]);
    let patch = json!({"graphId": id, "baseRev": drawn["rev"], "ops": ops});
    assert_eq!(app.refused("graph.apply", patch).await.code, "only-seen");
    drop(app);
    let app = App::open(&data).await;
    let again = app.ok("graph.seen", json!({})).await;
    assert_eq!(names(&again, "node:"), names(&drawn, "node:"));

    // A file that is gone leaves what was seen, with the reason; taking it off leads back.
    fs::remove_file(&file).unwrap();
    let gone = app.ok("graph.seen", json!({"more": true})).await;
    assert_eq!(
        names(&gone, "node:"),
        ["cost", "decide", "join", "read", "review"]
    );
    let problem = gone["seen"]["graphs"][0]["laid"]["problem"].as_str().unwrap();
    assert!(problem.contains("mine.json"), "{problem}");
    app.ok("graph.lay", json!({"graphId": id})).await;
    let seen = app.ok("graph.get", json!({"graphId": id})).await;
    assert_eq!(seen["seen"]["graphs"][0].get("laid"), None);
    assert!(!data.join("laid.json").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_matched_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let id = opened(&app, &copy("sqlite-1.2.24.db", dir.path())).await["graphId"].clone();
    let path = own_graph(dir.path()).display().to_string();
    let other = dir.path().join("list.json");
    fs::write(&other, "[1]").unwrap();
    for (request, code, word) in [
        (
            json!({"graphId": id, "path": other}),
            "invalid-request",
            "no graph",
        ),
        (
            json!({"graphId": id, "path": dir.path().join("none.json")}),
            "not-found",
            "none.json",
        ),
        (
            json!({"graphId": id, "path": path, "names": {"cost": "nobody"}}),
            "invalid-request",
            "nobody",
        ),
        (
            json!({"graphId": id, "path": path, "names": {"cost": "price", "review": "price"}}),
            "invalid-request",
            "twice",
        ),
        (
            json!({"graphId": "seen-x", "path": path}),
            "not-found",
            "not seen",
        ),
    ] {
        let refused = app.refused("graph.lay", request).await;
        assert_eq!(refused.code, code, "{refused}");
        assert!(refused.message.contains(word), "{refused}");
    }
    let drawn = app.ok("graph.get", json!({"graphId": id})).await;
    assert_eq!(
        drawn["seen"]["graphs"][0].get("laid"),
        None,
        "nothing was changed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_are_copied_among_our_own_and_can_be_deleted_there() {
    let dir = tempfile::tempdir().unwrap();
    let file = copy("sqlite-1.2.24.db", dir.path());
    let before = fs::read(&file).unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let graph = opened(&app, &file).await;
    let one = app
        .ok(
            "thread.copyOwn",
            json!({"threadId": "done", "graphId": graph["graphId"]}),
        )
        .await;
    assert_eq!(
        (&one["threads"], &one["known"], &one["leftOut"]),
        (&json!(1), &json!(0), &json!(0))
    );
    assert_eq!(one["first"]["threadId"], "done");
    assert!(one["database"].as_str().unwrap().contains("threads.db"));
    // All of them: the one that is there is brought on.
    let all = app.ok("thread.copyOwn", json!({})).await;
    assert_eq!(
        (&all["threads"], &all["known"], &all["stopped"]),
        (&json!(3), &json!(1), &json!(false))
    );
    assert_eq!(
        all["first"]["graph"], one["first"]["graph"],
        "one draft for one graph"
    );
    assert!(before == fs::read(&file).unwrap(), "no byte was written");

    // Among our own they are threads of a draft with the nodes that they show.
    app.ok("storage.use", json!({})).await;
    let draft = app
        .ok("graph.get", json!({"graphId": one["first"]["graph"]}))
        .await;
    assert_eq!(
        names(&draft, "node:"),
        ["cost", "decide", "join", "read", "review"]
    );
    let list = app.ok("thread.list", json!({"graphId": draft["graphId"]})).await;
    assert_eq!(list["total"], 4, "{list}");
    let shown = app.ok("thread.snapshot", json!({"threadId": "done"})).await;
    let visits: Vec<&str> = (shown["visits"].as_array().unwrap().iter())
        .map(|visit| visit["node"].as_str().unwrap())
        .collect();
    assert!(visits.contains(&"cost"), "{visits:?}");
    app.ok("thread.delete", json!({"threadId": "done"})).await;
    let list = app.ok("thread.list", json!({"graphId": draft["graphId"]})).await;
    assert_eq!(list["total"], 3);
    let refused = app.refused("thread.copyOwn", json!({})).await;
    assert!(refused.message.contains("our own already"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_of_the_graph_that_it_is_shown_on_and_names_what_was_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let file = copy("sqlite-1.2.24.db", dir.path());
    let writer = Connection::open(&file).unwrap();
    writer
        .execute(
            "UPDATE checkpoints SET checkpoint = x'c1' WHERE thread_id = 'waiting' AND checkpoint_ns = '' AND \
             checkpoint_id = (SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = 'waiting' AND checkpoint_ns = '')",
            [],
        )
        .unwrap();
    drop(writer);
    let app = App::open(&dir.path().join("data")).await;
    let id = opened(&app, &file).await["graphId"].clone();
    let path = own_graph(dir.path()).display().to_string();
    app.ok("graph.lay", json!({"graphId": id, "path": path})).await;
    let copied = app
        .ok("thread.copyOwn", json!({"threadId": "waiting", "graphId": id}))
        .await;
    assert_eq!(
        (&copied["leftOut"], &copied["first"]["graph"]),
        (&json!(1), &json!(path)),
        "{copied}"
    );
    let left = &copied["skipped"][0];
    assert!(
        left["message"].as_str().unwrap().starts_with("waiting: "),
        "{copied}"
    );
    assert!(left["texts"]["message"]["pattern"].is_string(), "{left}");
    let nobody = app.refused("thread.copyOwn", json!({"threadId": "nobody"})).await;
    assert_eq!(nobody.code, "not-found");
    app.ok("storage.use", json!({})).await;
    let own = app.ok("graph.open", json!({"path": path})).await;
    let list = app.ok("thread.list", json!({"graphId": own["graphId"]})).await;
    assert_eq!(list["threads"][0]["threadId"], "waiting");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_that_lead_to_no_langgraph_threads_are_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let unreachable = format!("postgres://reader:hunter4@127.0.0.1:{port}/app");
    for (path, word) in [
        (unreachable.as_str(), "refused"),
        ("redis://:hunter4@h/0", "keeps in Redis are not read"),
        ("langgraph:redis://:hunter4@h/0", "keeps in Redis are not read"),
        ("mongodb://u:hunter4@h/d", "MongoDB are not read"),
        (
            "host=h dbname=d password=hunter4",
            "settings of a PostgreSQL connection",
        ),
    ] {
        let refused = app.refused("graph.open", json!({"path": path})).await;
        let said = format!("{refused} {:?}", refused.remedy);
        assert!(
            said.to_lowercase().contains(&word.to_lowercase()),
            "{path}: {said}"
        );
        assert!(!said.contains("hunter4"), "{said}");
    }
    let schemas = app.ok("storage.schemas", json!({"url": "sqlite:x.db"})).await;
    assert_eq!(schemas["schemas"], json!([]));
}
