//! What the data folder holds beside threads and documents: settings, permissions, connections, the list of files.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::{Secrets, connection_key};

use crate::memory::keys;

#[tokio::test]
async fn settings_are_kept_as_they_are_meant() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let usual = app.ok("app.info", json!({})).await["settings"].clone();
    assert_eq!(usual["theme"], "system");
    let mut chosen = usual.clone();
    chosen["theme"] = "dark".into();
    chosen["name"] = "  Ada ".into();
    chosen["retention"] = json!({"idleDays": 30, "keep": {"type": "newest", "count": 3}});
    let kept = app.ok("settings.set", chosen.clone()).await;
    chosen["name"] = "Ada".into();
    assert_eq!(kept, chosen, "what is answered is what is kept");
    assert_eq!(superstep_workbench::person(dir.path()).as_deref(), Some("Ada"));
    app.close().await;
    let app = App::open(dir.path()).await;
    assert_eq!(app.ok("app.info", json!({})).await["settings"], chosen);
    assert_eq!(
        app.refused("settings.set", json!({"theme": "loud"})).await.code,
        "invalid-request"
    );
    assert_eq!(app.ok("app.info", json!({})).await["settings"], chosen);
}

/// Threads, prompts and settings of one user are nothing for the others of the machine.
#[cfg(unix)]
#[tokio::test]
async fn a_new_data_folder_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let made = dir.path().join("new/data");
    App::open(&made).await.close().await;
    assert_eq!((mode(&made), mode(&dir.path().join("new"))), (0o700, 0o700));
    let shared = dir.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
    App::open(&shared).await.close().await;
    assert_eq!(mode(&shared), 0o755, "its owner has decided that");
}

#[tokio::test]
async fn recent_graphs_are_bounded_and_the_newest_come_first() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    for n in 0..42 {
        let path = dir.path().join(format!("g{n}.json"));
        fs::write(&path, r#"{"format": "superstep/1", "nodes": {}, "edges": []}"#).unwrap();
        let view = app.ok("graph.open", json!({"path": path})).await;
        app.ok("graph.close", json!({"graphId": view["graphId"]})).await;
    }
    fs::remove_file(dir.path().join("g41.json")).unwrap();
    let recents = app.ok("app.info", json!({})).await["recents"].clone();
    let recents = recents.as_array().unwrap();
    assert_eq!(recents.len(), 40);
    let shown = |at: usize| (recents[at]["name"].clone(), recents[at]["exists"].clone());
    assert_eq!(shown(0), (json!("g41"), json!(false)));
    assert_eq!(shown(39), (json!("g2"), json!(true)));
}

#[tokio::test]
async fn files_are_listed_from_where_graphs_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let graphs = dir.path().join("graphs");
    assert!(graphs.is_dir(), "the folder is made with the workbench");
    fs::create_dir(graphs.join("b")).unwrap();
    fs::write(graphs.join("c.JSON"), r#"{"format": "superstep/1"}"#).unwrap();
    fs::write(graphs.join("a.jsonl"), "{}").unwrap();
    fs::write(graphs.join("notes.txt"), "").unwrap();
    fs::create_dir(graphs.join(".git")).unwrap();
    let list = app.ok("files.list", json!({})).await;
    assert_eq!(list["dir"], json!(graphs));
    assert_eq!(list["parent"], json!(dir.path()));
    let seen: Vec<(&Value, &Value, &Value)> = (list["entries"].as_array().unwrap().iter())
        .map(|entry| (&entry["name"], &entry["isDir"], &entry["isGraph"]))
        .collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(
        seen,
        [
            (&json!("b"), &yes, &no),
            (&json!("a.jsonl"), &no, &no),
            (&json!("c.JSON"), &no, &yes)
        ]
    );
    let modified = list["entries"][0]["modified"].as_str().unwrap();
    assert!(modified > "2020" && modified < "2100", "{modified}");
    let up = app.ok("files.list", json!({"dir": dir.path()})).await;
    assert_eq!(up["dir"], json!(dir.path()));
    for (wrong, code) in [("", "invalid-request"), ("/none/at/all", "not-found")] {
        let refused = app.refused("files.list", json!({"dir": wrong})).await;
        assert_eq!(refused.code, code, "{wrong:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_runs_what_was_allowed_until_it_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Caller",
            json!({
                "key:answer": {},
                "node:call": {"kind": "http", "config": {"url": "http://127.0.0.1:9/x", "into": "answer"}},
                "edge:1": {"from": "__start__", "to": "call"},
                "edge:2": {"from": "call", "to": "__end__"}
            }),
        )
        .await;
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let refused = app.refused("run.start", start.clone()).await;
    assert_eq!(refused.code, "trust-needed");
    let needed = serde_json::to_value(refused.trust.unwrap()).unwrap();
    assert_eq!(
        (&needed["name"], &needed["wants"][0]["granted"]),
        (&json!("Caller"), &json!(false))
    );
    assert_eq!(needed["wants"][0]["nodes"], json!(["call"]));
    let of = json!({"graphId": graph});
    let shown = app.ok("trust.show", of.clone()).await;
    assert_eq!(
        (&shown["name"], &shown["wants"], &shown["project"]["granted"]),
        (&json!("Caller"), &needed["wants"], &json!([]))
    );
    assert_eq!(shown["project"]["exists"], true);
    assert_eq!(app.ok("trust.list", json!({})).await["projects"], json!([]));

    let accesses = json!([needed["wants"][0]["access"]]);
    let grant = json!({"project": needed["project"], "accesses": accesses});
    let granted = app.ok("trust.grant", grant).await;
    assert_eq!(granted["granted"][0]["access"], accesses[0]);
    let shown = app.ok("trust.show", of.clone()).await;
    assert_eq!(shown["wants"][0]["granted"], true);
    assert_eq!(app.ok("trust.list", json!({})).await["projects"][0], granted);
    // It may begin now; nobody answers at that address.
    assert_eq!(app.run(start.clone()).await.0["status"], "failed");

    let other = json!([{"what": "variable", "name": "KEY"}]);
    let none = json!({"project": needed["project"], "accesses": other});
    let left = app.ok("trust.revoke", none).await;
    assert_eq!(
        left["granted"], granted["granted"],
        "only what is named is taken back"
    );
    let back = json!({"project": needed["project"], "accesses": accesses});
    assert_eq!(app.ok("trust.revoke", back).await["granted"], json!([]));
    assert_eq!(app.refused("run.start", start).await.code, "trust-needed");
    assert_eq!(app.ok("trust.list", json!({})).await["projects"], json!([]));
}

#[tokio::test]
async fn a_graph_that_wants_much_names_some_of_it_and_counts_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    for (hosts, more) in [(3, false), (5, true)] {
        let mut records = json!({"key:answer": {}});
        let mut from = "__start__".to_owned();
        for n in 0..hosts {
            let node = format!("n{n}");
            records[format!("node:{node}")] =
                json!({"kind": "http", "config": {"url": format!("http://h{n}.example/"), "into": "answer"}});
            records[format!("edge:{n}")] = json!({"from": from, "to": node});
            from = node;
        }
        let graph = app.draft("Caller", records).await;
        let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
        let refused = app.refused("run.start", start).await;
        assert_eq!(
            refused.message.matches(".example").count(),
            3,
            "{}",
            refused.message
        );
        assert_eq!(
            refused.message.contains(" and 2 more"),
            more,
            "{}",
            refused.message
        );
        assert_eq!(refused.trust.unwrap().wants.len(), hosts);
    }
}

#[tokio::test]
async fn a_database_that_is_not_there_refuses_and_says_which() {
    let dir = tempfile::tempdir().unwrap();
    let url = r#"{"url": "sqlite:/nowhere/at/all.db"}"#;
    fs::write(dir.path().join("database.json"), url).unwrap();
    let app = App::open(dir.path()).await;
    let of = json!({"threadId": "t"});
    let graph = app.draft("Line", crate::threads::line()).await;
    for (command, request) in [
        ("thread.list", json!({})),
        ("thread.get", of.clone()),
        ("thread.checkpoints", of.clone()),
        ("thread.snapshot", of.clone()),
        ("thread.value", json!({"threadId": "t", "pointer": ""})),
        ("inbox.list", json!({})),
        ("store.namespaces", json!({})),
        ("store.items", json!({"namespace": []})),
        ("store.put", json!({"namespace": ["a"], "key": "k", "value": {}})),
        (
            "run.start",
            json!({"threadId": "t", "action": {"type": "continue"}}),
        ),
    ] {
        let refused = app.refused(command, request).await;
        assert_eq!(refused.code, "storage", "{command}: {refused}");
    }
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(
        (&info["kind"], &info["chosenBy"], info.get("threads")),
        (&json!("sqlite"), &json!("settings"), None)
    );
    // Documents need no database.
    app.ok("graph.get", json!({"graphId": graph})).await;
}

#[tokio::test]
async fn connections_have_names_that_can_be_written_in_a_graph() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let save = |name: &str, variable: &str| {
        json!({
            "name": name, "provider": "openai", "baseUrl": " http://127.0.0.1:9/v1 ",
            "key": {"type": "variable", "name": variable}
        })
    };
    let long = "n".repeat(65);
    for (name, variable) in [
        ("", "KEY"),
        ("a/b", "KEY"),
        ("a b", "KEY"),
        (&*long, "KEY"),
        ("scripted", "KEY"),
        ("office", " "),
        ("office", "A=B"),
        ("office", "A B"),
    ] {
        let refused = app.refused("connections.save", save(name, variable)).await;
        assert_eq!(refused.code, "invalid-request", "{name:?} {variable:?}");
    }
    assert_eq!(
        app.ok("connections.list", json!({})).await["connections"],
        json!([])
    );
    let kept = app
        .ok("connections.save", save(&long[..64], "SUPERSTEP_NO_SUCH_KEY"))
        .await;
    let of = &kept["connections"][0];
    assert_eq!(
        (&of["name"], &of["baseUrl"], &of["hasKey"]),
        (&json!(long[..64]), &json!("http://127.0.0.1:9/v1"), &json!(false))
    );
    assert_eq!(
        of["key"],
        json!({"type": "variable", "name": "SUPERSTEP_NO_SUCH_KEY"})
    );
    let again = app.refused("connections.save", save(&long[..64], "KEY")).await;
    assert_eq!(again.code, "conflict");
    let gone = app.ok("connections.remove", json!({"name": long[..64]})).await;
    assert_eq!(gone["connections"], json!([]));
}

#[tokio::test]
async fn examples_are_named_by_their_folders_alone() {
    let dir = tempfile::tempdir().unwrap();
    let graph = r#"{"format": "superstep/1", "name": "Found", "nodes": {}, "edges": []}"#;
    let examples = dir.path().join("examples");
    for folder in [
        "",
        "examples",
        "examples/one",
        "examples/.hidden",
        "examples/one/two",
    ] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        fs::write(dir.path().join(folder).join("graph.json"), graph).unwrap();
    }
    let options = superstep_workbench::Options::new(dir.path().join("data")).examples_dir(examples);
    let workbench = superstep_workbench::Workbench::open(options).await.unwrap();
    let open = async |id: &str| workbench.call("graph.openExample", json!({"id": id})).await;
    for id in ["", ".", "..", ".hidden", "one/two", "one\\two", "none"] {
        assert_eq!(open(id).await.unwrap_err().code, "not-found", "{id:?}");
    }
    let view = open("one").await.unwrap();
    let copy = dir.path().join("data/graphs/one/graph.json");
    assert_eq!(
        (&view["name"], &view["path"]),
        (&json!("Found"), &json!(copy.canonicalize().unwrap()))
    );
    // What the user made of it is not replaced.
    fs::write(&copy, graph.replace("Found", "Mine")).unwrap();
    workbench
        .call("graph.close", json!({"graphId": view["graphId"]}))
        .await
        .unwrap();
    assert_eq!(open("one").await.unwrap()["name"], "Mine");
    workbench.shutdown().await;
}

#[tokio::test]
async fn items_and_namespaces_come_in_pages() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    for n in 0..12 {
        let place = format!("n{n:02}");
        let item = json!({"namespace": ["all", place], "key": place, "value": {"n": n}});
        app.ok("store.put", item).await;
    }
    app.ok(
        "store.put",
        json!({"namespace": ["other"], "key": "x", "value": {}}),
    )
    .await;
    let all = app.ok("store.namespaces", json!({})).await;
    assert_eq!(
        (all["namespaces"].as_array().unwrap().len(), &all["more"]),
        (13, &json!(false))
    );
    let rest = app.ok("store.namespaces", json!({"offset": 11})).await;
    assert_eq!(rest["namespaces"].as_array().unwrap().len(), 2);
    let page = async |request: Value| {
        let page = app.ok("store.items", request).await;
        (keys(&page), page["more"].as_bool().unwrap())
    };
    let (found, more) = page(json!({"namespace": ["all"], "limit": 5})).await;
    assert_eq!((found.len(), more), (5, true));
    let (found, more) = page(json!({"namespace": ["all"], "limit": 5, "offset": 10})).await;
    assert_eq!((found.len(), more), (2, false));
    let (found, more) = page(json!({"namespace": ["all"], "limit": 12})).await;
    assert_eq!((found.len(), more), (12, false), "exactly all of them are all");
    assert_eq!(
        page(json!({"namespace": ["all", "n03"]})).await,
        (vec!["n03/n03".to_owned()], false)
    );
    assert_eq!(page(json!({"namespace": ["none"]})).await, (vec![], false));
}

/// A keychain in memory.
#[derive(Debug, Default)]
struct Keys(Mutex<BTreeMap<String, String>>);

impl Secrets for Keys {
    fn problem(&self) -> Option<String> {
        None
    }
    fn get(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.0.lock().unwrap().get(name).cloned())
    }
    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        self.0.lock().unwrap().insert(name.into(), secret.into());
        Ok(())
    }
    fn remove(&self, name: &str) -> Result<(), String> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }
}

#[tokio::test]
async fn a_key_goes_where_its_connection_goes() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Arc::new(Keys::default());
    let app =
        App::open_with(superstep_workbench::Options::new(dir.path().to_owned()).secrets(keys.clone())).await;
    let save = |name: &str, previous: Option<&str>, key: Value, secret: Option<&str>| {
        json!({
            "name": name, "previous": previous, "provider": "openai",
            "baseUrl": "http://127.0.0.1:9/v1", "key": key, "secret": secret
        })
    };
    let keychain = json!({"type": "keychain"});
    let of = |name: &str| connection_key(&*keys, name);
    let keyless = save("office", None, keychain.clone(), Some("  "));
    assert_eq!(
        app.refused("connections.save", keyless).await.code,
        "invalid-request"
    );
    app.ok(
        "connections.save",
        save("office", None, keychain.clone(), Some(" sk-1 ")),
    )
    .await;
    assert_eq!(of("office").as_deref(), Some("sk-1"));
    let again = save("office", Some("office"), keychain.clone(), None);
    let list = app.ok("connections.save", again).await;
    assert_eq!(list["connections"][0]["hasKey"], true);
    assert_eq!(
        of("office").as_deref(),
        Some("sk-1"),
        "a change without a key keeps the key"
    );
    app.ok(
        "connections.save",
        save("home", Some("office"), keychain.clone(), None),
    )
    .await;
    assert_eq!((of("home").as_deref(), of("office")), (Some("sk-1"), None));
    let variable = json!({"type": "variable", "name": "SUPERSTEP_NO_SUCH_KEY"});
    let list = app
        .ok("connections.save", save("home", Some("home"), variable, None))
        .await;
    assert_eq!(list["connections"][0]["hasKey"], false);
    assert_eq!(of("home"), None, "a key that nobody uses is not kept");
    app.ok(
        "connections.save",
        save("home", Some("home"), keychain, Some("sk-2")),
    )
    .await;
    app.ok("connections.remove", json!({"name": "home"})).await;
    assert_eq!(of("home"), None);
}

#[tokio::test]
async fn another_window_reads_settings_that_were_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (one, mut two) = (App::open(dir.path()).await, App::open(dir.path()).await);
    one.ok("settings.set", json!({"theme": "dark"})).await;
    two.settled(dir.path()).await;
    assert_eq!(two.ok("app.info", json!({})).await["settings"]["theme"], "dark");
}
