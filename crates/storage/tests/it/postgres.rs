//! The engine's suite on a real PostgreSQL server, and what only a server can do to us.

use std::sync::Arc;

use superstep::checkpoint::{Checkpoint, Keep, ListQuery, Maintenance, Pruning, StorageError};
use superstep::store::{StoreConfig, StoreQuery};
use superstep::{Checkpointer, Store, ThreadId, json};
use superstep_storage::PostgresSaver;
use superstep_suites::{Draft, id};
use superstep_test_servers::Postgres;

fn accepted(backend: &str, report: &superstep_suites::Report) {
    println!("{backend}\n{report}");
    assert!(report.is_ok(), "{backend} does not pass:\n{report}");
    assert!(
        report.passed.len() > 50,
        "the suite has shrunk: {} cases",
        report.passed.len()
    );
}

/// A schema of its own for each case.
struct Schemas<'a> {
    server: &'a Postgres,
    next: std::sync::atomic::AtomicUsize,
}

impl<'a> Schemas<'a> {
    fn new(server: &'a Postgres) -> Self {
        Self {
            server,
            next: Default::default(),
        }
    }

    fn url(&self) -> String {
        let n = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("{}?schema=case_{n}", self.server.url())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite() {
    let Some(server) = Postgres::start() else { return };
    let schemas = Schemas::new(&server);
    let make =
        async || Arc::new(PostgresSaver::open(&schemas.url()).await.expect("opens")) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted("postgres", &report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims() {
    let Some(server) = Postgres::start() else { return };
    let schemas = Schemas::new(&server);
    let report = superstep_suites::run_claims(async || {
        Arc::new(PostgresSaver::open(&schemas.url()).await.expect("opens")) as Arc<dyn Checkpointer>
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 20, "the suite has shrunk: {report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes() {
    let Some(server) = Postgres::start() else { return };
    let schemas = Schemas::new(&server);
    let program = async |url: &str| {
        let saver = PostgresSaver::open(url).await.expect("opens");
        let store = Arc::new(saver.store(StoreConfig::default()));
        superstep_suites::Program {
            saver: Arc::new(saver),
            store,
        }
    };
    let report = superstep_suites::run_two_programs(async || {
        let url = schemas.url();
        [program(&url).await, program(&url).await]
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 5, "the suite has shrunk: {report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_suite() {
    let Some(server) = Postgres::start() else { return };
    let schemas = Schemas::new(&server);
    let report = superstep_suites::store::run(async |config| {
        let saver = PostgresSaver::open(&schemas.url()).await.expect("opens");
        Arc::new(saver.store(config)) as Arc<dyn Store>
    });
    let report = report.await;
    println!("postgres\n{report}");
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 40, "the suite has shrunk: {report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_suite_with_the_extension_vector() {
    let Some(server) = Postgres::start_with_extension("vector") else {
        return;
    };
    let schemas = Schemas::new(&server);
    // The host makes it, not we: that takes rights which the user of an application need not have.
    sql(server.url(), "CREATE EXTENSION vector").await;
    let report = superstep_suites::store::run(async |config| {
        let saver = PostgresSaver::open(&schemas.url()).await.expect("opens");
        Arc::new(saver.store(config)) as Arc<dyn Store>
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
}

/// Runs SQL as somebody else would.
async fn sql(url: &str, statements: &str) {
    let (address, schema) = url.split_once("?schema=").unwrap_or((url, "public"));
    let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls)
        .await
        .expect("connects");
    let connection = tokio::spawn(connection);
    client
        .batch_execute(&format!("SET search_path = {schema}; {statements}"))
        .await
        .expect("the statements are right");
    drop(client);
    let _ = connection.await;
}

fn at_schema(url: &str, schema: &str) -> String {
    format!("{url}?schema={schema}")
}

async fn open(url: &str) -> PostgresSaver {
    PostgresSaver::open(url).await.expect("opens")
}

/// Stores a line of checkpoints, each appending to a list.
async fn line(saver: &PostgresSaver, thread: &str, count: u64) -> Vec<Checkpoint> {
    let first = Draft::root(id(1)).set("log", json!([])).set("x", "first");
    let mut made = vec![first.store(saver, thread, "").await.expect("stores")];
    for n in 2..=count {
        let draft = Draft::after(&made[made.len() - 1], id(n)).append("log", vec![json!({"n": n})]);
        made.push(draft.store(saver, thread, "").await.expect("stores"));
    }
    made
}

async fn newest(saver: &PostgresSaver, thread: &str) -> Option<Checkpoint> {
    let found = saver.get(&thread.into(), "", None).await.expect("readable");
    found.map(|tuple| tuple.checkpoint)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_or_crashes_and_comes_back_loses_nothing() {
    let Some(server) = Postgres::start() else { return };
    let saver = Arc::new(open(server.url()).await);
    let store = saver.store(StoreConfig::default());
    store.put(&["a"], "k", json!({"v": 1})).await.expect("puts");
    let made = line(&saver, "t", 5).await;
    // In good order, while idle sessions are open: they are replaced.
    server.restart();
    assert_eq!(newest(&saver, "t").await.as_ref(), made.last());
    let changes = async || {
        let coordination = saver.coordination().expect("is offered");
        coordination
            .changes()
            .await
            .expect("is read")
            .expect("may be read")
    };
    let before = changes().await;
    server.restart();
    assert_eq!(changes().await, before, "a lost connection is no error");
    let sixth = Draft::after(&made[4], id(6)).append("log", vec![json!(6)]);
    let sixth = sixth.store(&*saver, "t", "").await.expect("goes on");
    // A crash while a line of commits is under way: each is acknowledged or fails, and what is acknowledged is there.
    let busy = saver.clone();
    let going = tokio::spawn(async move {
        let mut last = sixth;
        for n in 7..400 {
            let draft = Draft::after(&last, id(n)).append("log", vec![json!(n)]);
            last = draft
                .store(&*busy, "t", "")
                .await
                .expect("the server comes back in time");
        }
        last
    });
    tokio::task::block_in_place(|| {
        for _ in 0..2 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            server.kill();
            server.restart();
        }
    });
    let last = going.await.expect("goes on");
    let all = saver.heads(&ListQuery::new().thread("t")).await.expect("lists");
    assert_eq!(all.len(), 399, "each once");
    assert_eq!(newest(&saver, "t").await, Some(last));
    let item = store.get(&["a"], "k").await.expect("reads").expect("there");
    assert_eq!(item.value.get("v"), Some(&json!(1)));
    let found = saver.verify(false).await.expect("checks");
    assert!(found.is_sound(), "{found:?}");
    assert_eq!((found.threads, found.checkpoints), (1, 399));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_say_what_to_do() {
    let Some(server) = Postgres::start() else { return };
    let refused = async |url: String, wanted: &str| {
        let error = PostgresSaver::open(&url).await.expect_err("refused").to_string();
        assert!(error.contains(wanted), "{error}");
        let password = server.url().split([':', '@']).nth(2).expect("a password");
        assert!(!error.contains(password), "the password is shown: {error}");
    };
    let (address, _) = server.url().rsplit_once('/').expect("a database");
    refused(format!("{address}/nowhere"), "createdb").await;
    refused(
        server.url().replace("superstep:", "nobody:"),
        "Check the user and the password",
    )
    .await;
    refused(format!("{}?schema=No", server.url()), "small letters").await;
    refused(format!("{}?sslmode=verify-full", server.url()), "TLS").await;
    refused("postgres://[".to_owned(), "Give a URL").await;
    // Another program's tables.
    let url = at_schema(server.url(), "theirs");
    sql(
        server.url(),
        "CREATE SCHEMA theirs; CREATE TABLE theirs.checkpoints (id int)",
    )
    .await;
    refused(url, "another program").await;
    // A newer schema is not touched.
    let url = at_schema(server.url(), "newer");
    drop(open(&url).await);
    sql(
        &url,
        "INSERT INTO migrations (version, name) VALUES (99, 'later')",
    )
    .await;
    let error = PostgresSaver::open(&url).await.expect_err("refused");
    assert!(
        matches!(error, StorageError::NewerSchema { found: 99, .. }),
        "{error}"
    );
    // A user who may only read.
    let url = at_schema(server.url(), "locked");
    let saver = open(&url).await;
    let made = line(&saver, "t", 2).await;
    sql(
        &url,
        "CREATE ROLE reader LOGIN PASSWORD 'reads'; GRANT USAGE ON SCHEMA locked TO reader;
         GRANT SELECT ON ALL TABLES IN SCHEMA locked TO reader",
    )
    .await;
    let (_, place) = server.url().split_once('@').expect("a user");
    let reader = open(&format!("postgres://reader:reads@{place}?schema=locked")).await;
    assert_eq!(newest(&reader, "t").await.as_ref(), made.last());
    let error = Draft::after(&made[1], id(3))
        .store(&reader, "t", "")
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("Grant the user"), "{error}");
    let changes = async || {
        let coordination = reader.coordination().expect("is offered");
        coordination.changes().await.expect("is no error")
    };
    // What was stored above is reported a moment later, at the latest when its saver is dropped.
    drop(saver);
    let before = changes().await.expect("may be read");
    let saver = open(&url).await;
    Draft::after(&made[1], id(4))
        .store(&saver, "t", "")
        .await
        .expect("stores");
    drop(saver);
    assert_eq!(
        changes().await,
        Some(before + 1),
        "a saver that is dropped has reported its last change"
    );
    // A role whose rights are from an older schema does without, and so does one that writes.
    sql(
        &url,
        "GRANT ALL ON ALL TABLES IN SCHEMA locked TO reader;
         GRANT ALL ON ALL SEQUENCES IN SCHEMA locked TO reader; REVOKE ALL ON changes FROM reader",
    )
    .await;
    assert_eq!(changes().await, None);
    Draft::after(&made[1], id(5))
        .store(&reader, "t", "")
        .await
        .expect("stores");
    let saver = open(&url).await;
    // Nobody there any more.
    server.stop();
    let began = std::time::Instant::now();
    let error = saver
        .get(&"t".into(), "", None)
        .await
        .expect_err("nobody is there")
        .to_string();
    assert!(error.contains("Check that the server runs"), "{error}");
    let error = Draft::after(&made[1], id(3))
        .store(&saver, "t", "")
        .await
        .expect_err("refused");
    assert!(
        error.to_string().contains("Check that the server runs"),
        "{error}"
    );
    assert!(
        began.elapsed() < std::time::Duration::from_secs(30),
        "callers wait too long"
    );
}

/// How many schemas and tables of ours there are.
async fn made(url: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .expect("connects");
    let connection = tokio::spawn(connection);
    let sql = "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = 'superstep')
                    + (SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname = 'checkpoints')";
    let count = client.query_one(sql, &[]).await.expect("counts").get(0);
    drop(client);
    let _ = connection.await;
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_only_looks_makes_nothing_and_needs_no_right_to_write() {
    let Some(server) = Postgres::start() else { return };
    let url = server.database();
    let nothing = superstep_storage::open_existing(&url).await.expect("reachable");
    assert!(
        nothing.is_none() && made(&url).await == 0,
        "looking makes nothing"
    );
    let reader = |name: &str| {
        let (_, host) = url.split_once('@').expect("a user");
        format!("postgres://{name}:secret@{host}")
    };
    sql(&url, "CREATE ROLE reader LOGIN PASSWORD 'secret'").await;
    let nothing = superstep_storage::open_existing(&reader("reader")).await;
    assert!(nothing.expect("reachable").is_none());

    let storage = superstep_storage::open(&url).await.expect("opens");
    let thread = "t".into();
    let mut last = Draft::root(id(1)).set("log", json!([]));
    for n in 2..5 {
        let text = format!("{n} of a length that is worth its own place, ").repeat(30);
        let parent = last.store(&*storage.checkpointer, "t", "").await.expect("stores");
        last = Draft::after(&parent, id(n)).append("log", vec![json!(text)]);
    }
    let last = last.store(&*storage.checkpointer, "t", "").await.expect("stores");
    let namespace = ["notes"];
    let put = storage
        .store
        .put(&namespace, "mortal", json!({"text": "a word"}))
        .await;
    put.expect("puts");
    sql(
        &url,
        "UPDATE superstep.store_items SET ttl = 100000000, expires_at = 4000000000000",
    )
    .await;
    drop(storage);

    let no_rights = superstep_storage::open_existing(&reader("reader")).await;
    let error = no_rights.expect_err("it may not look").to_string();
    assert!(
        error.contains("permission denied") && error.contains("Grant the user"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
    sql(
        &url,
        "GRANT USAGE ON SCHEMA superstep TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA superstep TO reader",
    )
    .await;
    // Anyone who opens it to work in it finds it made, and may read as well.
    for storage in [
        superstep_storage::open_existing(&reader("reader"))
            .await
            .expect("opens"),
        superstep_storage::open(&reader("reader"))
            .await
            .map(Some)
            .expect("opens"),
    ] {
        let storage = storage.expect("something is there");
        let saver = &*storage.checkpointer;
        let found = saver.get(&thread, "", None).await.expect("reads").expect("there");
        assert_eq!(found.checkpoint, last);
        assert_eq!(saver.threads(&Default::default()).await.expect("lists").len(), 1);
        assert_eq!(saver.heads(&ListQuery::default()).await.expect("lists").len(), 4);
        assert_eq!(saver.usage().await.expect("measures").threads.len(), 1);
        assert_eq!(
            saver
                .breakdown(&thread)
                .await
                .expect("measures")
                .checkpoints
                .len(),
            4
        );
        let dry = Pruning::threads([thread.clone()], Keep::Latest).dry_run();
        assert_eq!(
            superstep::inspect::prune(saver, &dry)
                .await
                .expect("looks")
                .checkpoints,
            3
        );
        assert!(saver.verify(false).await.expect("checks").is_sound());
        let item = storage.store.get(&namespace, "mortal").await.expect("reads");
        assert!(item.is_some(), "reading would prolong its life, and may not");
        let query = StoreQuery::under(&namespace).query("word".to_owned());
        let items = storage.store.search(query).await.expect("finds");
        assert_eq!(items.len(), 1);
        let stored = Draft::after(&last, id(9)).store(saver, "t", "").await;
        let deleted = saver.delete_thread(&thread).await;
        for error in [
            stored.expect_err("it may not write").to_string(),
            deleted.expect_err("it may not write").to_string(),
        ] {
            assert!(error.contains("Grant the user the rights"), "{error}");
        }
        let put = storage.store.put(&namespace, "new", json!({})).await;
        assert!(put.is_err(), "{put:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_on_one_database() {
    let Some(server) = Postgres::start() else { return };
    let (a, b) = (
        Arc::new(open(server.url()).await),
        Arc::new(open(server.url()).await),
    );
    // Both build on each other's checkpoints.
    let mut last = line(&a, "t", 1).await.remove(0);
    for n in 2..60 {
        let saver = if n % 2 == 0 { &b } else { &a };
        let draft = Draft::after(&last, id(n)).append("log", vec![json!(n)]);
        last = draft.store(&**saver, "t", "").await.expect("stores");
    }
    assert_eq!(newest(&a, "t").await.as_ref(), Some(&last));
    // Both at the same time in one thread, and with the same long text.
    let text = "the same words ".repeat(200);
    let both = [(a.clone(), 100), (b.clone(), 200)].map(|(saver, from)| {
        let text = text.clone();
        tokio::spawn(async move {
            for n in from..from + 40 {
                let draft = Draft::root(id(n)).set("text", text.as_str()).set("n", n);
                draft.store(&*saver, "shared", "").await.expect("stores");
            }
        })
    });
    for one in both {
        one.await.expect("stores");
    }
    let shared = ListQuery::new().thread("shared");
    assert_eq!(b.heads(&shared).await.expect("lists").len(), 80);
    assert!(a.verify(false).await.expect("checks").is_sound());
    // What one deletes, the other must not build on from memory.
    b.delete_thread(&"t".into()).await.expect("deletes");
    let late = Draft::after(&last, id(900)).append("log", vec![json!("late")]);
    let late = late.store(&*a, "t", "").await.expect("stores whole");
    assert_eq!(newest(&b, "t").await, Some(late.clone()));
    let pruning = Pruning::threads(["t".into()], Keep::Latest);
    b.prune(&pruning).await.expect("prunes");
    // The same checkpoint by both is stored once, and its writes are kept.
    let next = Draft::after(&late, id(901)).set("x", "twice");
    for saver in [&a, &b] {
        next.clone().store(&**saver, "t", "").await.expect("stores");
    }
    assert_eq!(newest(&a, "t").await.map(|c| c.id), Some(id(901)));
    a.delete_thread(&"shared".into()).await.expect("deletes");
    b.delete_thread(&"t".into()).await.expect("deletes");
    let usage = a.usage().await.expect("measures");
    assert!(usage.threads.is_empty() && usage.shared == 0, "{usage:?}");
    let found = a.verify(false).await.expect("checks");
    assert!(found.is_sound() && found.checkpoints == 0, "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_another_program_removed_begins_again() {
    let Some(server) = Postgres::start() else { return };
    let (ours, theirs) = (open(server.url()).await, open(server.url()).await);
    for _ in 0..3 {
        let made = line(&ours, "t", 3).await;
        assert_eq!(newest(&theirs, "t").await.as_ref(), made.last());
        theirs.delete_thread(&"t".into()).await.expect("deletes");
    }
    let made = line(&ours, "t", 3).await;
    theirs.delete_thread(&"t".into()).await.expect("deletes");
    // A step of a run whose thread is gone: what it builds on is not there, and what it says is.
    let next = Draft::after(&made[2], id(4)).append("log", vec![json!({"n": 4})]);
    let next = next.store(&ours, "t", "").await.expect("stores");
    assert_eq!(newest(&theirs, "t").await, Some(next));
    let found = theirs.verify(false).await.expect("checks");
    assert!(found.is_sound(), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_is_named_and_repaired() {
    let Some(server) = Postgres::start() else { return };
    let damages = [
        (
            "delta",
            "UPDATE checkpoints SET delta = 'x' WHERE step = 1 AND space = sick",
            3,
        ),
        (
            "value",
            "DELETE FROM items WHERE id = (SELECT max(id) FROM items WHERE space = sick)",
            1,
        ),
        ("metadata", "DELETE FROM metas WHERE space = sick", 5),
        (
            "json",
            "UPDATE items SET data = '{' WHERE id = (SELECT max(id) FROM items WHERE space = sick)",
            1,
        ),
        ("count", "UPDATE parts SET refs = refs + 1", 0),
        ("head", "UPDATE spaces SET checkpoints = 77", 0),
    ];
    for (name, damage, lost) in damages {
        let url = at_schema(server.url(), name);
        let saver = open(&url).await;
        let well = line(&saver, "well", 3).await;
        line(&saver, "sick", 4).await;
        let last = newest(&saver, "sick").await.expect("there");
        let long = Draft::after(&last, id(5)).append("log", vec![json!("long ".repeat(400))]);
        long.store(&saver, "sick", "").await.expect("stores");
        let damage = damage.replace("= sick", "= (SELECT id FROM spaces WHERE thread = 'sick')");
        sql(&url, &damage).await;
        drop(saver);
        let saver = open(&url).await;
        // What cannot be read of one thread does not hide the others.
        let of_well = |threads: Vec<ThreadId>| threads.iter().filter(|one| one.as_str() == "well").count();
        let all = ListQuery::default();
        let listed = saver.threads(&Default::default()).await.expect("lists");
        assert_eq!(
            of_well(listed.into_iter().map(|one| one.thread).collect()),
            1,
            "{name}"
        );
        let tuples = saver.list(&all).await.expect("lists");
        let readable = tuples.len();
        assert_eq!(
            of_well(tuples.into_iter().map(|one| one.thread).collect()),
            3,
            "{name}"
        );
        assert_eq!(
            readable,
            8 - lost,
            "{name}: the rest of a damaged thread is listed"
        );
        assert!(saver.heads(&all).await.expect("lists").len() >= 3, "{name}");
        let found = saver.verify(false).await.expect("checks");
        assert!(!found.is_sound() && !found.repaired, "{name}: {found:?}");
        let named = found
            .damage
            .iter()
            .filter(|damage| damage.thread == Some("sick".into()));
        assert_eq!(named.count(), lost, "{name}: {found:?}");
        assert_eq!(newest(&saver, "well").await.as_ref(), well.last(), "{name}");
        let repaired = saver.verify(true).await.expect("repairs");
        assert!(repaired.repaired, "{name}: {repaired:?}");
        let after = saver.verify(false).await.expect("checks");
        assert!(after.is_sound(), "{name}: {after:?}");
        assert_eq!(after.checkpoints, 8 - lost as u64, "{name}");
        assert_eq!(newest(&saver, "well").await.as_ref(), well.last(), "{name}");
        // The thread goes on from what is left.
        if let Some(left) = newest(&saver, "sick").await {
            let next = Draft::after(&left, id(50)).append("log", vec![json!("on")]);
            let next = next.store(&saver, "sick", "").await.expect("stores");
            assert_eq!(newest(&saver, "sick").await, Some(next), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_cannot_be_read_are_found_and_quarantined() {
    let Some(server) = Postgres::start() else { return };
    let saver = open(server.url()).await;
    let store = saver.store(StoreConfig::default());
    for n in 0..250 {
        let namespace = if n % 2 == 0 { ["a", "b"] } else { ["a", "c"] };
        store
            .put(&namespace, &format!("key {n}"), json!({"n": n}))
            .await
            .expect("stores");
    }
    let found = saver.verify(false).await.expect("checks");
    assert!(found.is_sound() && found.items == 250, "{found:?}");
    for broken in ["{", "[1]"] {
        store
            .put(&["a", "b"], "key 8", json!({"n": 8}))
            .await
            .expect("stores");
        let damage = format!("UPDATE store_items SET value = '{broken}' WHERE key = 'key 8' AND ns[1] = 'a'");
        sql(&at_schema(server.url(), "superstep"), &damage).await;
        assert!(store.search(StoreQuery::under(&["a"])).await.is_err());
        let found = saver.verify(true).await.expect("repairs");
        assert!(found.repaired && found.damage.len() == 1, "{found:?}");
        assert!(found.damage[0].what.contains("key 8"), "{found:?}");
        assert!(saver.verify(false).await.expect("checks").is_sound());
    }
    let all = StoreQuery::under(&["a"]).limit(2000);
    assert_eq!(store.search(all).await.expect("searches").len(), 249);
    let quarantined = store
        .search(StoreQuery::under(&["damaged", "a", "b"]))
        .await
        .expect("reads");
    assert_eq!(quarantined.len(), 2, "{quarantined:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_parts_are_stored_once_and_go_with_their_last_use() {
    let Some(server) = Postgres::start() else { return };
    let saver = open(server.url()).await;
    let text = "a long text of many words ".repeat(400);
    let made = line(&saver, "t", 2).await;
    let holding = Draft::after(&made[1], id(3))
        .set("document", json!({"text": text.as_str()}))
        .append("log", vec![json!({"text": text.as_str()})]);
    holding.store(&saver, "t", "").await.expect("stores");
    saver
        .copy_thread(&"t".into(), &"copy".into())
        .await
        .expect("copies");
    let usage = saver.usage().await.expect("measures");
    assert!(usage.shared > 0 && usage.threads.len() == 2, "{usage:?}");
    let breakdown = saver.breakdown(&"t".into()).await.expect("measures");
    assert!(
        breakdown
            .keys
            .iter()
            .any(|key| &*key.key == "log" && key.versions == 3),
        "{breakdown:?}"
    );
    assert_eq!(breakdown.checkpoints.len(), 3);
    let all: u64 = breakdown
        .checkpoints
        .iter()
        .map(|checkpoint| checkpoint.bytes)
        .sum();
    assert!(
        all < text.len() as u64,
        "compressed and once: {all} of {}",
        text.len()
    );
    // A dry run says what then goes.
    let pruning = Pruning::threads(["t".into()], Keep::Nothing);
    let would = saver.prune(&pruning.clone().dry_run()).await.expect("looks");
    assert_eq!(newest(&saver, "t").await.map(|c| c.id), Some(id(3)));
    let went = saver.prune(&pruning).await.expect("prunes");
    assert_eq!(would, went);
    assert_eq!((went.threads, went.checkpoints), (1, 3));
    let copy = newest(&saver, "copy").await.expect("there");
    assert_eq!(
        copy.channel_values.get("document"),
        Some(&json!({"text": text.as_str()}))
    );
    saver.delete_thread(&"copy".into()).await.expect("deletes");
    let usage = saver.usage().await.expect("measures");
    assert_eq!((usage.shared, usage.threads.len()), (0, 0));
    assert!(saver.verify(false).await.expect("checks").is_sound());
    for table in ["parts", "items", "writes", "metas", "checkpoints", "spaces"] {
        let empty = format!("DO $$ BEGIN ASSERT NOT EXISTS (SELECT 1 FROM {table}), 'rows are left'; END $$");
        sql(&at_schema(server.url(), "superstep"), &empty).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_encrypted_and_servers_known_when_asked() {
    let Some((server, certificate)) = Postgres::start_with_tls() else {
        return;
    };
    let encrypted = async || {
        let (client, connection) = tokio_postgres::connect(server.url(), tokio_postgres::NoTls)
            .await
            .expect("connects");
        let connection = tokio::spawn(connection);
        let row = client
            .query_one(
                "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a ON a.pid = s.pid
                 WHERE s.ssl AND a.application_name = 'superstep'",
                &[],
            )
            .await
            .expect("counts");
        drop(client);
        let _ = connection.await;
        row.get::<_, i64>(0)
    };
    let plain = open(&format!("{}?sslmode=disable", server.url())).await;
    line(&plain, "plain", 1).await;
    assert_eq!(encrypted().await, 0);
    drop(plain);
    // Encrypted without being asked, as the server offers it; nobody looks at the certificate.
    let saver = open(server.url()).await;
    line(&saver, "t", 2).await;
    assert!(encrypted().await > 0);
    // Nobody we know has signed it.
    let strict = format!("{}?sslmode=verify-full", server.url());
    let error = PostgresSaver::open(&strict)
        .await
        .expect_err("refused")
        .to_string();
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    let known = open(&format!("{strict}&sslrootcert={}", certificate.display())).await;
    assert!(newest(&known, "t").await.is_some());
}
