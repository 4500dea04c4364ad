//! Long-term memory by hand: found, read, changed, removed, and never over somebody else's change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use superstep::store::{StoreOp, Ttl};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

/// A graph that remembers who asked, in the namespace of the person.
fn records() -> Value {
    json!({
        "key:who": {"type": "string"},
        "key:likes": {"type": "string"},
        "node:remember": {"kind": "store", "config": {
            "do": "put", "namespace": ["people", "{{ state.who }}"], "key": "likes",
            "value": "{'drink': state.likes}",
        }},
        "edge:1": {"from": "__start__", "to": "remember"},
        "edge:2": {"from": "remember", "to": "__end__"}
    })
}

pub(crate) fn keys(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            format!(
                "{}/{}",
                item["namespace"]
                    .as_array()
                    .unwrap()
                    .last()
                    .unwrap()
                    .as_str()
                    .unwrap(),
                item["key"].as_str().unwrap()
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_graphs_remember_is_listed_changed_and_removed_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let empty = app.ok("store.namespaces", json!({})).await;
    assert_eq!(empty, json!({"namespaces": [], "more": false}));

    let graph = app.draft("Memory", records()).await;
    for (who, likes) in [("ada", "green tea"), ("ben", "coffee")] {
        let input =
            json!({"graphId": graph, "action": {"type": "input", "input": {"who": who, "likes": likes}}});
        assert_eq!(app.run(input).await.0["status"], "done");
    }
    let spaces = app.ok("store.namespaces", json!({})).await;
    assert_eq!(
        spaces["namespaces"],
        json!([["people", "ada"], ["people", "ben"]])
    );
    let all = app.ok("store.items", json!({"namespace": ["people"]})).await;
    assert_eq!(
        (keys(&all), &all["more"]),
        (vec!["ben/likes".into(), "ada/likes".into()], &json!(false))
    );
    let first = app
        .ok("store.items", json!({"namespace": ["people"], "limit": 1}))
        .await;
    assert_eq!((keys(&first).len(), &first["more"]), (1, &json!(true)));
    let found = app
        .ok("store.items", json!({"namespace": [], "query": "tea"}))
        .await;
    assert_eq!(keys(&found), ["ada/likes"]);

    let ada = json!({"namespace": ["people", "ada"], "key": "likes"});
    let read = app.ok("store.get", ada.clone()).await;
    assert_eq!(read["value"]["value"], json!({"drink": "green tea"}));

    let change = |value: Value, replaces: Value| json!({"namespace": ["people", "ada"], "key": "likes", "value": value, "replaces": replaces});
    let changed = app
        .ok(
            "store.put",
            change(json!({"drink": "mate"}), read["updatedAt"].clone()),
        )
        .await;
    assert_eq!(changed["value"]["value"], json!({"drink": "mate"}));
    assert_eq!(changed["createdAt"], read["createdAt"]);

    // Anyone who looked before that change, or believes that there is none, does not undo it.
    let late = app
        .refused(
            "store.put",
            change(json!({}), json!("2020-01-01T00:00:00.000+00:00")),
        )
        .await;
    assert_eq!(late.code, "conflict");
    let twice = app.refused("store.put", change(json!({}), Value::Null)).await;
    assert_eq!(twice.code, "conflict");
    let text = app
        .refused("store.put", change(json!("text"), changed["updatedAt"].clone()))
        .await;
    assert!(text.message.contains("a store keeps objects"), "{}", text.message);
    let place = json!({"namespace": ["a.b"], "key": "k", "value": {}});
    assert!(app.refused("store.put", place).await.message.contains("period"));
    assert_eq!(
        app.ok("store.get", ada.clone()).await["value"]["value"],
        json!({"drink": "mate"})
    );

    app.ok("store.delete", ada.clone()).await;
    assert_eq!(app.refused("store.get", ada.clone()).await.code, "not-found");
    let stale = app
        .refused("store.put", change(json!({}), changed["updatedAt"].clone()))
        .await;
    assert_eq!(
        stale.code, "not-found",
        "an item that is gone is not brought back by a late edit"
    );
    let again = app
        .ok("store.put", change(json!({"drink": "mate"}), Value::Null))
        .await;
    assert_eq!(again["value"]["value"], json!({"drink": "mate"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_expired_takes_no_space_after_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut records = records();
    // A tenth of a second.
    records["node:remember"]["config"]["ttl_minutes"] = (0.1 / 60.0).into();
    let graph = app.draft("Memory", records).await;
    let input =
        json!({"graphId": graph, "action": {"type": "input", "input": {"who": "ada", "likes": "tea"}}});
    assert_eq!(app.run(input).await.0["status"], "done");
    let seen = async |app: &App| {
        let items = app.ok("store.items", json!({"namespace": ["people"]})).await;
        items["items"].as_array().unwrap().len()
    };
    while seen(&app).await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let stored = async |app: &App| {
        app.ok("storage.verify", json!({})).await["items"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(stored(&app).await, 1, "nobody sees it, and it is still there");
    app.close().await;

    let app = App::open(dir.path()).await;
    let gone = async {
        while stored(&app).await > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), gone)
        .await
        .expect("it is removed soon");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_expired_items_are_never_seen_while_they_are_removed_beside_the_work() {
    const MANY: usize = 2_600;
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("threads.db").display());
    let storage = superstep_storage::open(&url).await.unwrap();
    let put = |n: usize| {
        let op = StoreOp::put(
            &["people", "old"],
            n.to_string(),
            superstep::json!({"drink": "tea"}),
        )
        .unwrap();
        op.living(Ttl::For(Duration::from_millis(1)))
    };
    storage.store.batch((0..MANY).map(put).collect()).await.unwrap();
    drop(storage);
    tokio::time::sleep(Duration::from_millis(20)).await;

    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Memory", records()).await;
    let mut people = Vec::new();
    loop {
        // Neither by their place nor by their words, however far the removal is.
        for query in [Value::Null, json!("tea")] {
            let items = app
                .ok(
                    "store.items",
                    json!({"namespace": ["people"], "query": query, "limit": 500}),
                )
                .await;
            assert_eq!(keys(&items).len(), people.len(), "{items}");
        }
        let stored = app.ok("storage.verify", json!({})).await["items"]
            .as_u64()
            .unwrap();
        if stored == people.len() as u64 && !people.is_empty() {
            break;
        }
        let who = format!("person-{}", people.len());
        assert_eq!(remembers(&mut app, &graph, &who, "tea").await["status"], "done");
        people.push(who);
    }
}

/// What a model server was asked, and for how long it answers.
struct Server {
    /// Texts that it was asked for.
    asked: AtomicUsize,
    /// Texts that it still answers.
    answers: AtomicUsize,
    /// Whether it says no from then on, or nothing.
    refuses: AtomicBool,
    /// How often that was said; who waits from before waits no more.
    turn: AtomicUsize,
}

impl Server {
    fn answers(&self, texts: usize, refuses: bool) {
        self.refuses.store(refuses, Ordering::SeqCst);
        self.turn.fetch_add(1, Ordering::SeqCst);
        self.answers.store(texts, Ordering::SeqCst);
    }

    /// Its status once it answers.
    async fn answer(&self, texts: usize) -> &'static str {
        self.asked.fetch_add(texts, Ordering::SeqCst);
        let turn = self.turn.load(Ordering::SeqCst);
        loop {
            if self.turn.load(Ordering::SeqCst) != turn {
                return "400 Bad Request";
            }
            let enough = |left: usize| left.checked_sub(texts);
            let answered = self
                .answers
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, enough);
            match answered {
                Ok(_) => return "200 OK",
                Err(_) if self.refuses.load(Ordering::SeqCst) => return "400 Bad Request",
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }
}

/// A model server that makes embeddings as OpenAI's protocol has them: a dimension for each meaning that it knows.
async fn meanings() -> (String, Arc<Server>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let server = Arc::new(Server {
        asked: AtomicUsize::new(0),
        answers: AtomicUsize::new(usize::MAX),
        refuses: AtomicBool::new(false),
        turn: AtomicUsize::new(0),
    });
    let this = server.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let mut socket = BufReader::new(socket);
            let (mut line, mut length) = (String::new(), 0);
            while socket.read_line(&mut line).await.unwrap() > 2 {
                if let Some(given) = line.to_lowercase().strip_prefix("content-length:") {
                    length = given.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            socket.read_exact(&mut body).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let inputs: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
            let status = this.answer(inputs.len()).await;
            let vector = |text: &str| {
                let means =
                    |words: &[&str]| f64::from(u8::from(words.iter().any(|word| text.contains(word))));
                json!([
                    means(&["tea", "mate", "beverage"]),
                    means(&["rain", "umbrella"]),
                    0.01
                ])
            };
            let data: Vec<Value> = inputs
                .iter()
                .enumerate()
                .map(
                    |(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}),
                )
                .collect();
            let usage = json!({"prompt_tokens": 1, "total_tokens": 1});
            let body = json!({"object": "list", "model": "m", "data": data, "usage": usage}).to_string();
            let head = "Content-Type: application/json\r\nConnection: close\r\n";
            let answer = format!(
                "HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            // Who asked may be gone.
            socket.write_all(answer.as_bytes()).await.ok();
            socket.shutdown().await.ok();
        }
    });
    (address, server)
}

async fn remembers(app: &mut App, graph: &str, who: &str, likes: &str) -> Value {
    let input = json!({"graphId": graph, "action": {"type": "input", "input": {"who": who, "likes": likes}}});
    app.run(input).await.0
}

async fn found(app: &App, query: &str, by: Value) -> Vec<String> {
    keys(
        &app.ok(
            "store.items",
            json!({"namespace": ["people"], "query": query, "by": by}),
        )
        .await,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_chosen_in_the_settings_finds_by_meaning_what_is_put_from_then_on() {
    let dir = tempfile::tempdir().unwrap();
    let (address, server) = meanings().await;
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Memory", records()).await;
    remembers(&mut app, &graph, "ada", "green tea").await;

    // A model that gives no vector is not taken, and nothing changes.
    let choice = |embedding: &str| json!({"memory": {"embedding": embedding}});
    let unknown = app.refused("settings.set", choice("office::embed")).await;
    assert_eq!(unknown.code, "embedding");
    assert!(
        unknown.message.contains("office") && unknown.remedy.is_some(),
        "{unknown:?}"
    );
    assert!(app.ok("app.info", json!({})).await["settings"]["memory"].is_null());
    assert_eq!(found(&app, "tea", Value::Null).await, ["ada/likes"]);

    let office =
        json!({"name": "office", "provider": "openai", "baseUrl": address, "key": {"type": "usual"}});
    app.ok("connections.save", office).await;
    let settings = app.ok("settings.set", choice(" office::embed ")).await;
    assert_eq!(
        settings["memory"],
        json!({"embedding": "office::embed", "dims": 3, "refreshOnRead": true})
    );
    assert_eq!(
        server.asked.load(Ordering::SeqCst),
        1,
        "it is asked how long its vectors are"
    );

    // The graph that was built before puts with vectors, too. What is older is found by its words.
    assert_eq!(remembers(&mut app, &graph, "ben", "mate").await["status"], "done");
    assert_eq!(found(&app, "a hot beverage", Value::Null).await, ["ben/likes"]);
    assert_eq!(found(&app, "tea", json!("words")).await, ["ada/likes"]);
    remembers(&mut app, &graph, "cleo", "an umbrella").await;
    assert_eq!(
        found(&app, "rain", json!("vectors")).await,
        ["cleo/likes", "ben/likes"],
        "the nearest first"
    );

    // Other settings leave it alone, and the next start knows it without asking.
    let requests = server.asked.load(Ordering::SeqCst);
    let mut other = app.ok("app.info", json!({})).await["settings"].clone();
    other["theme"] = "dark".into();
    app.ok("settings.set", other).await;
    app.close().await;
    let app = App::open(dir.path()).await;
    assert_eq!(server.asked.load(Ordering::SeqCst), requests);
    assert_eq!(found(&app, "a hot beverage", Value::Null).await[0], "ben/likes");

    // A server that is gone is reported to anyone who searches, with what to do; words still find.
    app.ok("connections.remove", json!({"name": "office"})).await;
    let query = json!({"namespace": ["people"], "query": "tea"});
    let gone = app.refused("store.items", query).await;
    assert_eq!(gone.code, "embedding");
    assert!(gone.remedy.unwrap().contains("Settings"));
    assert_eq!(found(&app, "tea", json!("words")).await, ["ada/likes"]);

    // By spelling, without a model: vectors of the other kind are not compared.
    app.ok("settings.set", choice("ngrams")).await;
    assert!(found(&app, "umbrela", Value::Null).await.is_empty());
    let back = json!({"memory": {"refreshOnRead": true}});
    assert!(
        app.ok("settings.set", back).await["memory"].is_null(),
        "as usual is not reported"
    );
    assert_eq!(found(&app, "umbrella", Value::Null).await, ["cleo/likes"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_keeps_items_as_long_as_the_settings_say_on_every_database_of_this_computer() {
    for url in ["sqlite:memory.db", "file:memory", "memory:"] {
        let dir = tempfile::tempdir().unwrap();
        let mut app = App::open(dir.path()).await;
        app.ok("storage.use", json!({"url": url})).await;
        let graph = app.draft("Memory", records()).await;
        remembers(&mut app, &graph, "ada", "tea").await;
        let chosen = json!({"memory": {"ttlMinutes": 90, "refreshOnRead": false, "embedding": "ngrams"}});
        app.ok("settings.set", chosen.clone()).await;
        remembers(&mut app, &graph, "ben", "mate").await;
        let lives = |at: &str| json!({"namespace": ["people", at], "key": "likes"});
        let ada = app.ok("store.get", lives("ada")).await;
        assert!(ada["expiresAt"].is_null(), "{url}: what was there keeps its time");
        let ben = app.ok("store.get", lives("ben")).await;
        let minutes = |time: &Value| {
            let time = time.as_str().unwrap();
            let of = |from: usize| time[from..from + 2].parse::<i64>().unwrap();
            60 * of(11) + of(14)
        };
        let after = (minutes(&ben["expiresAt"]) - minutes(&ben["updatedAt"])).rem_euclid(24 * 60);
        assert_eq!(after, 90, "{url}: {ben}");
        assert_eq!(found(&app, "matee", Value::Null).await, ["ben/likes"], "{url}");
        // It holds for the database that is chosen next.
        app.ok("storage.use", json!({"url": "file:other"})).await;
        remembers(&mut app, &graph, "cleo", "juice").await;
        assert!(app.ok("store.get", lives("cleo")).await["expiresAt"].is_string());
        assert_eq!(
            app.ok("app.info", json!({})).await["settings"]["memory"],
            chosen["memory"]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_of_another_embedding_are_counted_and_embedded_again_until_that_is_stopped_or_fails() {
    // Each has a text of its own: texts that are the same are embedded once.
    const MANY: usize = 1_050;
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("threads.db").display());
    let storage = superstep_storage::open(&url).await.unwrap();
    let put = |n: usize| {
        StoreOp::put(
            &["people", &n.to_string()],
            "likes",
            superstep::json!({"drink": format!("tea {n}")}),
        )
    };
    let puts = (0..MANY).map(|n| put(n).unwrap()).collect();
    storage.store.batch(puts).await.unwrap();
    drop(storage);

    let (address, server) = meanings().await;
    let mut app = App::open(dir.path()).await;
    let outdated = async |app: &App| {
        let outdated = app.ok("store.outdated", json!({})).await;
        (
            outdated["items"].as_u64().unwrap(),
            outdated["more"] == true,
            outdated["work"].clone(),
        )
    };
    let embed = |app: &App, work: &str| {
        let (workbench, request) = (app.workbench.clone(), json!({"work": work}));
        tokio::spawn(async move { workbench.call("store.embed", request).await })
    };
    // By words there are no vectors that could be of another kind.
    assert_eq!(outdated(&app).await, (0, false, Value::Null));
    assert!(
        app.refused("store.embed", json!({"work": "w0"}))
            .await
            .message
            .contains("by words")
    );

    let choice = |embedding: &str| json!({"memory": {"embedding": embedding}});
    app.ok("settings.set", choice("ngrams")).await;
    assert!(found(&app, "teaa", Value::Null).await.is_empty());
    assert_eq!(outdated(&app).await, (1_000, true, Value::Null), "and more");
    assert_eq!(app.ok("store.embed", json!({"work": "w1"})).await["items"], MANY);
    assert_eq!(outdated(&app).await, (0, false, Value::Null));
    assert!(!found(&app, "teaa", Value::Null).await.is_empty());

    // A model that answers no more is not waited for; a second work is not begun beside the first.
    let office =
        json!({"name": "office", "provider": "openai", "baseUrl": address, "key": {"type": "usual"}});
    app.ok("connections.save", office).await;
    app.ok("settings.set", choice("office::embed")).await;
    let reached = async |app: &App, left: u64, work: &str| {
        let reached = async {
            while outdated(app).await != (left, false, json!(work)) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(120), reached)
            .await
            .expect("it gets so far");
    };
    server.answers(64, false);
    let embedding = embed(&app, "w2");
    reached(&app, 986, "w2").await;
    assert_eq!(
        app.refused("store.embed", json!({"work": "w3"})).await.code,
        "busy"
    );
    app.ok("work.cancel", json!({"work": "w2"})).await;
    assert_eq!(embedding.await.unwrap().unwrap_err().code, "stopped");
    assert_eq!(
        outdated(&app).await,
        (986, false, Value::Null),
        "what was done stays"
    );

    // Nor does one that fails lose what it did.
    server.answers(64, true);
    let failed = app.refused("store.embed", json!({"work": "w4"})).await;
    assert_eq!(failed.code, "embedding");
    assert!(
        failed.message.contains("office") && failed.message.contains("stay"),
        "{failed:?}"
    );
    assert!(failed.remedy.unwrap().contains("Settings"));
    assert_eq!(outdated(&app).await, (922, false, Value::Null));
    let requests = app.until(|event| match event {
        AppEvent::Work { work, done, total } if work == "w4" => Some((*done, *total)),
        _ => None,
    });
    assert_eq!(
        requests.await,
        (0, 986),
        "the progress names what is done and the whole"
    );

    // Who chooses another embedding wants no more vectors of this one.
    server.answers(64, false);
    let embedding = embed(&app, "w5");
    reached(&app, 858, "w5").await;
    app.ok("settings.set", choice("ngrams")).await;
    assert_eq!(embedding.await.unwrap().unwrap_err().code, "stopped");
    assert_eq!(outdated(&app).await, (3 * 64, false, Value::Null));
    assert_eq!(
        app.ok("store.embed", json!({"work": "w6"})).await["items"],
        3 * 64
    );
    assert_eq!(outdated(&app).await, (0, false, Value::Null));
}

/// Remembers what somebody likes, looks at it in a graph of its own, and forgets it.
fn using() -> Value {
    json!({
        "key:likes": {"type": "string"},
        "key:seen": {},
        "node:remember": {"kind": "store", "config": {
            "do": "put", "namespace": ["people"], "key": "ada", "value": "{'drink': state.likes}",
        }},
        "node:look": {"kind": "code", "config": {"source":
            "const item = await store.get(['people'], 'ada'); return {seen: item.value.drink};"}},
        "edge:1": {"from": "__start__", "to": "remember"},
        "edge:2": {"from": "remember", "to": "look"},
        "edge:3": {"from": "look", "to": "__end__"}
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_steps_that_used_an_item_are_found_in_all_threads() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Using", using()).await;
    let mut threads = Vec::new();
    let long = "x".repeat(300);
    for likes in ["tea", &long] {
        let input = json!({"graphId": graph, "action": {"type": "input", "input": {"likes": likes}}});
        let (run, _) = app.run(input).await;
        assert_eq!(run["status"], "done");
        threads.push(run["threadId"].as_str().unwrap().to_owned());
    }
    let found = app
        .ok("store.uses", json!({"namespace": ["people"], "key": "ada"}))
        .await;
    assert_eq!(found["progress"].get("next"), None);
    let uses = found["uses"].as_array().unwrap();
    let rows: Vec<(&str, &str, &str, i64)> = (uses.iter())
        .map(|used| {
            let text = |name: &str| used[name].as_str().unwrap();
            (
                text("threadId"),
                text("node"),
                text("action"),
                used["step"].as_i64().unwrap(),
            )
        })
        .collect();
    let (first, second) = (threads[0].as_str(), threads[1].as_str());
    assert_eq!(
        rows,
        [
            (second, "look", "read", 2),
            (second, "remember", "written", 1),
            (first, "look", "read", 2),
            (first, "remember", "written", 1),
        ],
        "the thread that changed last first"
    );
    assert_eq!(uses[3]["value"], json!({"value": {"drink": "tea"}}));
    assert_eq!(
        uses[0]["value"]["size"], 312,
        "of a large value the size and a hash"
    );
    assert_eq!(uses[0]["value"]["hash"], uses[1]["value"]["hash"]);
    let other = app
        .ok("store.uses", json!({"namespace": ["people"], "key": "ben"}))
        .await;
    assert_eq!(other["uses"], json!([]));

    // The place of a use is the checkpoint whose task it is.
    let at = json!({"threadId": first, "checkpointId": uses[2]["checkpointId"]});
    let shown = app.ok("thread.snapshot", at).await;
    let tasks = shown["tasks"].as_array().unwrap();
    let task = tasks.iter().find(|task| task["id"] == uses[2]["taskId"]).unwrap();
    assert_eq!(
        task["record"]["memory"],
        json!([{"action": "read", "namespace": ["people"], "key": "ada", "value": {"value": {"drink": "tea"}}}])
    );

    // Answers come in pages, thread by thread.
    let page = json!({"namespace": ["people"], "key": "ada", "limit": 1});
    let page = app.ok("store.uses", page).await;
    assert_eq!(page["uses"].as_array().unwrap().len(), 2);
    let rest = json!({"namespace": ["people"], "key": "ada", "after": page["progress"]["next"]});
    let rest = app.ok("store.uses", rest).await;
    assert_eq!(rest["uses"].as_array().unwrap().len(), 2);
    assert_eq!(rest["uses"][0]["threadId"], first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_graph_within_another_did_is_found_at_the_outer_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let inner = json!({
        "format": "superstep/1", "name": "Inner",
        "nodes": {"remember": {"kind": "store", "config": {
            "do": "put", "namespace": ["people"], "key": "ada", "value": "{'drink': 'tea'}"}}},
        "edges": [{"from": "__start__", "to": "remember"}]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer",
        "nodes": {"sub": {"kind": "graph", "config": {"graph": "inner.json"}}},
        "edges": [{"from": "__start__", "to": "sub"}]
    });
    std::fs::write(dir.path().join("inner.json"), inner.to_string()).unwrap();
    let path = dir.path().join("outer.json");
    std::fs::write(&path, outer.to_string()).unwrap();
    let outer = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let (run, _) = app
        .run(json!({"graphId": outer, "action": {"type": "input", "input": {}}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    let found = app
        .ok("store.uses", json!({"namespace": ["people"], "key": "ada"}))
        .await;
    let used = &found["uses"][0];
    assert_eq!(
        (&used["node"], &used["within"]),
        (&json!("remember"), &json!(["sub"]))
    );
    let outer = app
        .ok("thread.checkpoints", json!({"threadId": run["threadId"]}))
        .await;
    let outer = outer["checkpoints"].as_array().unwrap();
    let at = outer
        .iter()
        .find(|checkpoint| checkpoint["id"] == used["checkpointId"]);
    assert_eq!(at.unwrap()["next"], json!(["sub"]));
}
