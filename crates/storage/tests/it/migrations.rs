//! Databases of every released schema open, read as they did, and go on.
//!
//! A fixture is written by the release that had its schema: `SUPERSTEP_WRITE_FIXTURE=FILE cargo test -p
//! superstep-storage --test it migrations` stores the history below with the code of the day. (`schema-2.db` is a database of
//! schema 3 without the tables of the store, which is all that schema 3 added, `schema-5.db` one of schema 6 without the
//! table of questions that wait, and `schema-6.db` one of schema 7 without the table of claims.)

use std::path::{Path, PathBuf};

use superstep::checkpoint::{
    Checkpoint, CheckpointTuple, Commit, Coordination, Keep, ListQuery, Maintenance, Pruning, Source, TaskId,
    TaskWrites, WaitingQuery, Write,
};
use superstep::store::StoreConfig;
use superstep::{Checkpointer, MemorySaver, Store, json};
use superstep_storage::{FileSaver, PostgresSaver, RedisSaver, SqliteSaver};
use superstep_suites::{Draft, id};
use superstep_test_servers::{Postgres, Redis};

async fn writes(
    saver: &dyn Checkpointer,
    of: &Checkpoint,
    task: &str,
    rows: &[(i32, &str, superstep::Value)],
) {
    let writes = rows.iter().map(|(idx, channel, value)| Write {
        idx: *idx,
        channel: (*channel).into(),
        value: value.clone(),
    });
    let task = TaskWrites {
        checkpoint_id: of.id.clone(),
        task_id: TaskId::new(task),
        task_path: "~__pregel_pull, node".into(),
        writes: writes.collect(),
    };
    let commit = Commit {
        claim: None,
        thread: "talk".into(),
        ns: "".into(),
        writes: vec![task],
        put: None,
    };
    saver.commit(commit).await.expect("stores writes");
}

/// A conversation with long and short messages, forks, a nested graph, questions, errors, and a second thread.
async fn history(saver: &dyn Checkpointer) {
    let long = "a long message, ".repeat(80);
    let mut last = Draft::root(id(1))
        .set("messages", json!([]))
        .set("document", json!({"title": "t", "text": long.as_str()}))
        .meta("run_id", "first")
        .store(saver, "talk", "")
        .await
        .expect("stores");
    let mut made = vec![last.clone()];
    for n in 2..150_u64 {
        let text = if n % 9 == 0 {
            json!(long.as_str())
        } else {
            json!(n)
        };
        let draft = Draft::after(&last, id(n)).append("messages", vec![json!({"id": n, "content": text})]);
        last = draft
            .sees("node", &["messages"])
            .set("count", n)
            .store(saver, "talk", "")
            .await
            .expect("stores");
        made.push(last.clone());
    }
    for (n, at) in [(200, 3), (201, 70), (202, 148)] {
        let draft = Draft::after(&made[at], id(n)).append("messages", vec![json!("another way")]);
        let fork = draft.meta("run_id", format!("fork {n}"));
        fork.store(saver, "talk", "").await.expect("stores");
    }
    let inner = Draft::root(id(300)).set("inner", json!({"deep": [1, 2.5, null, "é"]}));
    inner.store(saver, "talk", "sub:1").await.expect("stores");
    writes(
        saver,
        &made[148],
        "0190a000-0000-8000-8000-00000000000a",
        &[(0, "messages", json!([long.as_str()])), (1, "count", json!(7))],
    )
    .await;
    writes(
        saver,
        &made[148],
        "asks",
        &[(-3, "__interrupt__", json!(["how?"]))],
    )
    .await;
    writes(saver, &made[100], "fails", &[(-1, "__error__", json!("broken"))]).await;
    let other = Draft::root(id(400)).set("messages", json!([long.as_str(), long.as_str()]));
    other
        .clear("gone")
        .store(saver, "other", "")
        .await
        .expect("stores");
}

async fn everything(saver: &dyn Checkpointer) -> Vec<CheckpointTuple> {
    saver.list(&ListQuery::default()).await.expect("a list")
}

async fn go_on(savers: &[&dyn Checkpointer]) {
    // It goes on: lists that were begun by the old release grow, and what is removed takes nothing else away.
    for saver in savers {
        let head = saver.get(&"talk".into(), "", Some(&id(149))).await;
        let mut last = head.expect("readable").expect("there").checkpoint;
        for n in 500..580 {
            let text = "a long message, ".repeat(80);
            let draft =
                Draft::after(&last, id(n)).append("messages", vec![json!({"id": n, "content": text})]);
            last = draft.store(*saver, "talk", "").await.expect("stores");
        }
        saver
            .copy_thread(&"talk".into(), &"copy".into())
            .await
            .expect("copies");
        let pruning = Pruning::threads(["talk".into()], Keep::Branches);
        saver.prune(&pruning).await.expect("prunes");
        saver.delete_thread(&"other".into()).await.expect("deletes");
    }
}

/// A copy of a fixture: the test must not change the original.
fn fixture(name: &str, folder: &Path) -> PathBuf {
    let original = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let copy = folder.join(name);
    std::fs::copy(original, &copy).expect("the fixture is there");
    copy
}

#[tokio::test]
async fn databases_of_older_schemas_read_as_they_did_and_go_on() {
    if let Some(file) = std::env::var_os("SUPERSTEP_WRITE_FIXTURE") {
        history(&SqliteSaver::open(file).expect("a new database")).await;
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "schema-1.db",
        "schema-2.db",
        "schema-3.db",
        "schema-4.db",
        "schema-5.db",
        "schema-6.db",
    ] {
        let memory = MemorySaver::new();
        history(&memory).await;
        let saver = SqliteSaver::open(fixture(name, folder.path())).expect("an old database opens");
        let (found, wanted) = (everything(&saver).await, everything(&memory).await);
        assert_eq!(found.len(), wanted.len(), "{name}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "{name}");
        }
        let conn = rusqlite::Connection::open(folder.path().join(name)).expect("opens");
        let count = |sql: &str| {
            conn.query_row(sql, [], |row| row.get::<_, i64>(0))
                .expect("counts")
        };
        let index = "SELECT count(*) FROM sqlite_master WHERE name = 'checkpoints_by_step'";
        assert_eq!(count(index), 0, "{name}");
        // Where there is no index to move, the last checkpoints are not in the table yet.
        if !matches!(name, "schema-5.db" | "schema-6.db") {
            assert_eq!(count("SELECT count(*) FROM steps"), wanted.len() as i64, "{name}");
            assert_eq!(
                count("SELECT stepped FROM epochs"),
                count("SELECT max(seq) FROM checkpoints")
            );
        }
        let all = WaitingQuery::default();
        assert_eq!(
            saver.waiting(&all).await.expect("lists"),
            memory.waiting(&all).await.expect("lists"),
            "{name}"
        );
        assert!(saver.verify(false).await.expect("checks").is_sound(), "{name}");
        go_on(&[&saver, &memory]).await;
        assert_eq!(
            everything(&saver).await,
            everything(&memory).await,
            "{name}, gone on"
        );
    }
}

/// Schema 5 drops an index after it was brought up to date: who was stopped between does so when it opens the next time.
#[tokio::test]
async fn an_index_that_was_not_dropped_yet_is_dropped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = fixture("schema-4.db", folder.path());
    let conn = rusqlite::Connection::open(&file).expect("opens");
    conn.execute_batch(include_str!("../../src/sqlite/migrations/0005_fewer_pages.sql"))
        .expect("migrates");
    conn.pragma_update(None, "user_version", 5).expect("says so");
    let memory = MemorySaver::new();
    history(&memory).await;
    let saver = SqliteSaver::open(&file).expect("opens");
    assert_eq!(everything(&saver).await, everything(&memory).await);
    let count = |sql: &str| {
        conn.query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect("counts")
    };
    assert_eq!(
        count("SELECT count(*) FROM sqlite_master WHERE name = 'checkpoints_by_step'"),
        0
    );
    let (filled, all) = ("SELECT count(*) FROM steps", "SELECT count(*) FROM checkpoints");
    assert_eq!(count(filled), count(all));
    assert!(saver.verify(false).await.expect("checks").is_sound());
}

/// Schema 5 drops an index: where a page of it is damaged, everything else is read as before.
#[tokio::test]
async fn a_damaged_index_that_is_dropped_hides_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = fixture("schema-4.db", folder.path());
    let number = |sql: &str| -> usize {
        let conn = rusqlite::Connection::open(&file).expect("opens");
        conn.query_row(sql, [], |row| row.get::<_, u32>(0))
            .expect("a number") as usize
    };
    let page = number("SELECT rootpage FROM sqlite_master WHERE name = 'checkpoints_by_step'");
    let size = number("PRAGMA page_size");
    let mut bytes = std::fs::read(&file).expect("readable");
    bytes[(page - 1) * size..page * size].fill(0x5a);
    std::fs::write(&file, bytes).expect("writable");
    let memory = MemorySaver::new();
    history(&memory).await;
    let saver = SqliteSaver::open(&file).expect("opens");
    assert_eq!(everything(&saver).await, everything(&memory).await);
    let third = ListQuery::new().filter([("step", json!(3))].into_iter().collect());
    let (found, wanted) = (saver.list(&third).await, memory.list(&third).await);
    let wanted = wanted.expect("lists");
    assert!(!wanted.is_empty());
    assert_eq!(found.expect("lists"), wanted);
}

/// The tables of schema 1 that hold something.
const TABLES: [&str; 7] = [
    "names",
    "spaces",
    "metas",
    "checkpoints",
    "items",
    "parts",
    "writes",
];

/// Connects to a schema of its own.
async fn session(server: &Postgres, schema: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(server.url(), tokio_postgres::NoTls)
        .await
        .expect("connects");
    tokio::spawn(connection);
    let path = format!("CREATE SCHEMA IF NOT EXISTS {schema}; SET search_path = {schema}");
    client.batch_execute(&path).await.expect("a schema");
    client
}

/// The rows of the tables as SQL that puts them there again.
async fn dump(client: &tokio_postgres::Client) -> String {
    let mut sql = String::new();
    for table in TABLES {
        let rows = client
            .simple_query(&format!("SELECT * FROM {table} ORDER BY 1, 2"))
            .await;
        for row in rows.expect("reads") {
            let tokio_postgres::SimpleQueryMessage::Row(row) = row else {
                continue;
            };
            let cells: Vec<String> = (0..row.len())
                .map(|n| {
                    row.get(n).map_or_else(
                        || "NULL".to_owned(),
                        |text| format!("'{}'", text.replace('\'', "''")),
                    )
                })
                .collect();
            sql += &format!(
                "INSERT INTO {table} OVERRIDING SYSTEM VALUE VALUES ({});\n",
                cells.join(", ")
            );
        }
    }
    sql + "SELECT setval('numbers', 1000000);\n"
}

/// `SUPERSTEP_WRITE_FIXTURE=FILE` writes the fixture with the code of the day: what schema 2 added are the tables of the
/// store, which stay empty here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_database_of_the_first_schema_reads_as_it_did_and_goes_on() {
    let Some(server) = Postgres::start() else { return };
    if let Some(file) = std::env::var_os("SUPERSTEP_WRITE_FIXTURE") {
        history(
            &PostgresSaver::open(&format!("{}?schema=old", server.url()))
                .await
                .expect("opens"),
        )
        .await;
        let text = dump(&session(&server, "old").await).await;
        std::fs::write(file, text).expect("writable");
        return;
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/postgres-1.sql");
    let fixture = std::fs::read_to_string(fixture).expect("the fixture is there");
    let old = session(&server, "old").await;
    let tables = include_str!("../../src/postgres/migrations/0001_checkpoints.sql");
    let applied = "CREATE TABLE migrations (version bigint PRIMARY KEY, name text NOT NULL,
                       applied timestamptz NOT NULL DEFAULT now());
                   INSERT INTO migrations (version, name) VALUES (1, '0001_checkpoints');";
    for sql in [tables, applied, &fixture] {
        old.batch_execute(sql)
            .await
            .expect("a database of the first schema");
    }
    let memory = MemorySaver::new();
    history(&memory).await;
    let saver = PostgresSaver::open(&format!("{}?schema=old", server.url()))
        .await
        .expect("an old database opens");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    assert_eq!(everything(&saver).await, everything(&memory).await);
    go_on(&[&saver, &memory]).await;
    assert_eq!(everything(&saver).await, everything(&memory).await, "gone on");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    let store = saver.store(StoreConfig::default());
    store.put(&["a"], "k", json!({"n": 1})).await.expect("stores");
    assert!(store.get(&["a"], "k").await.expect("reads").is_some());
}

/// Counts two letters.
#[derive(Debug)]
struct Letters;

#[async_trait::async_trait]
impl superstep::store::Embedding for Letters {
    fn name(&self) -> &str {
        "letters"
    }
    fn dims(&self) -> usize {
        2
    }
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, superstep::store::StoreError> {
        let count = |text: &String, letter: char| text.chars().filter(|c| *c == letter).count() as f32;
        let vector = |text: &String| vec![count(text, 'a'), count(text, 'e')];
        Ok(texts.iter().map(vector).collect())
    }
}

/// The rows are as schema 2 stored them, which did not note whose vectors they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_database_of_the_second_schema_keeps_its_items_and_embeds_them_again() {
    let Some(server) = Postgres::start() else { return };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/postgres-2.sql");
    let fixture = std::fs::read_to_string(fixture).expect("the fixture is there");
    let old = session(&server, "old").await;
    let applied = "CREATE TABLE migrations (version bigint PRIMARY KEY, name text NOT NULL,
                       applied timestamptz NOT NULL DEFAULT now());
                   INSERT INTO migrations (version, name) VALUES (1, '0001_checkpoints'), (2, '0002_store');";
    for sql in [
        include_str!("../../src/postgres/migrations/0001_checkpoints.sql"),
        include_str!("../../src/postgres/migrations/0002_store.sql"),
        applied,
        &fixture,
    ] {
        old.batch_execute(sql)
            .await
            .expect("a database of the second schema");
    }
    let saver = PostgresSaver::open(&format!("{}?schema=old", server.url()))
        .await
        .expect("an old database opens");
    let store = saver.store(
        StoreConfig::default()
            .index(superstep::store::VectorIndex::new(std::sync::Arc::new(Letters)).fields(["text"]))
            .ttl(superstep::store::TtlConfig::default().refresh_on_read(false)),
    );
    let found = async |query: &str, by| {
        let query = superstep::store::StoreQuery::under(&["a"]).query(query).by(by);
        let items = store.search(query).await.expect("searches");
        items.into_iter().map(|item| item.key).collect::<Vec<_>>()
    };
    let before = store
        .get(&["a", "b"], "words")
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(
        before.value,
        *json!({"text": "aae"}).as_object().expect("an object")
    );
    assert_eq!(found("bb", superstep::store::Ranking::Words).await, ["two"]);
    // Nobody knows who made these vectors, so they are compared with none.
    assert!(found("a", superstep::store::Ranking::Vectors).await.is_empty());
    let progress = superstep::checkpoint::Progress::default();
    assert_eq!(store.reembed(&progress).await.expect("embeds"), 2);
    // A list is one text, and what was excluded stays so.
    assert_eq!(found("aae", superstep::store::Ranking::Vectors).await[0], "words");
    assert_eq!(found("a", superstep::store::Ranking::Vectors).await.len(), 2);
    assert_eq!(
        store.get(&["a", "b"], "words").await.expect("reads"),
        Some(before)
    );
    assert_eq!(store.reembed(&progress).await.expect("looks"), 0);
}

/// `SUPERSTEP_WRITE_FIXTURE=FOLDER` writes the fixture with the code of the day.
#[tokio::test]
async fn a_folder_of_the_first_schema_reads_as_it_did_and_goes_on() {
    if let Some(folder) = std::env::var_os("SUPERSTEP_WRITE_FIXTURE") {
        history(&FileSaver::open(folder).expect("a new folder")).await;
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("threads")).expect("writable");
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/file-1");
    for name in ["superstep.json", "threads/talk.jsonl", "threads/other.jsonl"] {
        std::fs::copy(original.join(name), folder.path().join(name)).expect("the fixture is there");
    }
    let memory = MemorySaver::new();
    history(&memory).await;
    let saver = FileSaver::open(folder.path()).expect("an old folder opens");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    assert_eq!(everything(&saver).await, everything(&memory).await);
    go_on(&[&saver, &memory]).await;
    drop(saver);
    let saver = FileSaver::open(folder.path()).expect("opens again");
    assert_eq!(everything(&saver).await, everything(&memory).await, "gone on");
    assert!(saver.verify(false).await.expect("checks").is_sound());
}

/// A command with the bytes of its words, each as the character of that number.
type Command = Vec<String>;

async fn connection(server: &Redis) -> redis::aio::MultiplexedConnection {
    let client = redis::Client::open(server.url()).expect("a URL");
    client.get_multiplexed_async_connection().await.expect("connects")
}

async fn send<T: redis::FromRedisValue>(to: &mut redis::aio::MultiplexedConnection, words: &Command) -> T {
    let mut command = redis::Cmd::new();
    for word in words {
        let bytes: Vec<u8> = word.chars().map(|c| u8::try_from(c).expect("a byte")).collect();
        command.arg(bytes);
    }
    command.query_async(to).await.expect("works")
}

/// Commands that make everything on the server again.
async fn commands(server: &Redis) -> Vec<Command> {
    let mut to = connection(server).await;
    let word = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    let mut keys: Vec<Vec<u8>> = send(&mut to, &vec!["KEYS".into(), "*".into()]).await;
    keys.sort();
    let mut made = Vec::new();
    for key in keys.iter().map(|key| word(key)) {
        let kind: String = send(&mut to, &vec!["TYPE".into(), key.clone()]).await;
        let ask = |words: &[&str]| -> Command {
            let mut asked = vec![words[0].to_owned(), key.clone()];
            asked.extend(words[1..].iter().map(|word| (*word).to_owned()));
            asked
        };
        if kind == "string" {
            let value: Vec<u8> = send(&mut to, &ask(&["GET"])).await;
            made.push(vec!["SET".into(), key.clone(), word(&value)]);
        } else if kind == "hash" {
            let pairs: Vec<(Vec<u8>, Vec<u8>)> = send(&mut to, &ask(&["HGETALL"])).await;
            let mut pairs: Vec<_> = pairs.iter().map(|(a, b)| (word(a), word(b))).collect();
            pairs.sort();
            made.extend(
                pairs
                    .into_iter()
                    .map(|(a, b)| vec!["HSET".into(), key.clone(), a, b]),
            );
        } else {
            assert_eq!(kind, "zset");
            let members: Vec<(Vec<u8>, f64)> =
                send(&mut to, &ask(&["ZRANGE", "0", "-1", "WITHSCORES"])).await;
            let words = members
                .iter()
                .map(|(a, score)| vec!["ZADD".into(), key.clone(), score.to_string(), word(a)]);
            made.extend(words);
        }
    }
    made
}

/// `SUPERSTEP_WRITE_FIXTURE=FILE` writes the fixture with the code of the day.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_of_the_first_schema_reads_as_it_did_and_goes_on() {
    let Some(server) = Redis::start() else { return };
    if let Some(file) = std::env::var_os("SUPERSTEP_WRITE_FIXTURE") {
        history(&RedisSaver::open(server.url()).await.expect("opens")).await;
        let lines: Vec<String> = commands(&server)
            .await
            .iter()
            .map(|command| serde_json::to_string(command).expect("text"))
            .collect();
        std::fs::write(file, lines.join("\n") + "\n").expect("writable");
        return;
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/redis-1.jsonl");
    let fixture = std::fs::read_to_string(fixture).expect("the fixture is there");
    let mut to = connection(&server).await;
    for line in fixture.lines() {
        let _: redis::Value = send(&mut to, &serde_json::from_str(line).expect("a command")).await;
    }
    let memory = MemorySaver::new();
    history(&memory).await;
    // Anyone who only looks finds it too.
    let storage = superstep_storage::open_existing(server.url())
        .await
        .expect("opens");
    let found = everything(&*storage.expect("it is there").checkpointer).await;
    assert_eq!(found, everything(&memory).await);
    let saver = RedisSaver::open(server.url()).await.expect("an old place opens");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    assert_eq!(everything(&saver).await, everything(&memory).await);
    go_on(&[&saver, &memory]).await;
    assert_eq!(everything(&saver).await, everything(&memory).await, "gone on");
    assert!(saver.verify(false).await.expect("checks").is_sound());
}

/// What schema 6 added to a SQLite file.
const WITHOUT_WAITING: &str = "DROP TRIGGER writes_ask; DROP TRIGGER writes_ask_again; DROP TRIGGER writes_ask_no_more;
    DROP TRIGGER writes_gone; DROP TABLE waiting; DROP TABLE claims; ALTER TABLE epochs DROP COLUMN asked; PRAGMA user_version = 5";

/// Threads whose questions were answered, left behind by a new input, or left on another branch.
async fn questions(saver: &dyn Checkpointer) {
    let store = async |draft: Draft, thread: &str, ns: &str, source: Source| {
        let draft = draft
            .set("x", 1)
            .with(|checkpoint| checkpoint.metadata.source = source);
        draft.store(saver, thread, ns).await.expect("stores")
    };
    let ask = async |of: &Checkpoint, thread: &str, ns: &str, task: &str, rows: &[(i32, &str)]| {
        let writes = rows.iter().map(|(idx, channel)| Write {
            idx: *idx,
            channel: (*channel).into(),
            value: json!(["how?"]),
        });
        let task = TaskWrites {
            checkpoint_id: of.id.clone(),
            task_id: TaskId::new(task),
            task_path: format!("path {task}").as_str().into(),
            writes: writes.collect(),
        };
        let commit = Commit {
            claim: None,
            thread: thread.into(),
            ns: ns.into(),
            writes: vec![task],
            put: None,
        };
        saver.commit(commit).await.expect("stores writes");
    };
    let question = (-3, "__interrupt__");
    let first = store(Draft::root(id(1)), "left", "", Source::Input).await;
    ask(&first, "left", "", "a", &[question]).await;
    ask(&first, "left", "", "b", &[question, (-4, "__resume__")]).await;
    ask(&first, "left", "", "c", &[question, (0, "x")]).await;
    let second = store(Draft::after(&first, id(2)), "left", "", Source::Input).await;
    ask(&second, "left", "", "a", &[question]).await;
    saver
        .copy_thread(&"left".into(), &"copy".into())
        .await
        .expect("copies");
    let first = store(Draft::root(id(11)), "forked", "", Source::Input).await;
    ask(&first, "forked", "", "a", &[question]).await;
    ask(&first, "forked", "", "b", &[question]).await;
    let second = store(Draft::after(&first, id(12)), "forked", "", Source::Fork).await;
    ask(&second, "forked", "", "a", &[question]).await;
    let third = store(Draft::after(&first, id(13)), "forked", "", Source::Update).await;
    ask(&third, "forked", "", "a", &[(-1, "__error__")]).await;
    let first = store(Draft::root(id(21)), "done", "", Source::Input).await;
    ask(&first, "done", "", "a", &[question, (0, "x")]).await;
    store(Draft::after(&first, id(22)), "done", "", Source::Loop).await;
    let inner = store(Draft::root(id(31)), "done", "inner:1", Source::Input).await;
    ask(&inner, "done", "inner:1", "a", &[question]).await;
    store(Draft::after(&inner, id(32)), "done", "inner:1", Source::Input).await;
}

/// An old place has just been opened: what was left behind waits no longer, and everything else is as it was.
async fn is_settled(saver: &dyn Checkpointer, what: &str) {
    let memory = MemorySaver::new();
    questions(&memory).await;
    for thread in ["left", "copy"] {
        let note = [("why", "a new input came after it")].into_iter().collect();
        let withdrawn = superstep::inspect::withdraw(&memory, &thread.into(), &id(1), None, note, None).await;
        assert_eq!(withdrawn.expect("withdraws"), 2);
    }
    let all = WaitingQuery::default();
    let found = saver.waiting(&all).await.expect("lists");
    assert_eq!(found, memory.waiting(&all).await.expect("lists"), "{what}");
    assert_eq!(found.len(), 4, "{what}");
    assert_eq!(saver.count_waiting().await.expect("counts"), 5, "{what}");
    assert_eq!(everything(saver).await, everything(&memory).await, "{what}");
    let integrity = saver.verify(false).await.expect("checks");
    assert!(integrity.is_sound(), "{what}: {integrity:?}");
}

#[tokio::test]
async fn questions_that_a_new_input_came_after_are_withdrawn_in_sqlite() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("old.db");
    questions(&SqliteSaver::open(&file).expect("a new database")).await;
    let conn = rusqlite::Connection::open(&file).expect("opens");
    conn.execute_batch(WITHOUT_WAITING)
        .expect("as an older release left it");
    drop(conn);
    is_settled(&SqliteSaver::open(&file).expect("opens"), "SQLite").await;
    is_settled(&SqliteSaver::open(&file).expect("opens"), "SQLite, opened again").await;
    // Who was stopped between the migration and the filling of its table fills it the next time.
    let conn = rusqlite::Connection::open(&file).expect("opens");
    conn.execute_batch("DELETE FROM waiting; UPDATE epochs SET asked = 0")
        .expect("empties");
    drop(conn);
    is_settled(
        &SqliteSaver::open(&file).expect("opens"),
        "SQLite, stopped between",
    )
    .await;
    // A table that says something else is found and put right.
    let conn = rusqlite::Connection::open(&file).expect("opens");
    conn.execute_batch(
        "UPDATE waiting SET tasks = 7 WHERE checkpoint = (SELECT min(checkpoint) FROM waiting);
         DELETE FROM waiting WHERE checkpoint = (SELECT max(checkpoint) FROM waiting)",
    )
    .expect("damages");
    let saver = SqliteSaver::open(&file).expect("opens");
    let found = saver.verify(true).await.expect("repairs");
    assert!(found.repaired && found.damage.len() == 1, "{found:?}");
    is_settled(&saver, "SQLite, repaired").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_that_a_new_input_came_after_are_withdrawn_in_postgres() {
    let Some(server) = Postgres::start() else { return };
    let url = format!("{}?schema=old", server.url());
    questions(&PostgresSaver::open(&url).await.expect("opens")).await;
    let conn = session(&server, "old").await;
    conn.batch_execute(
        "DROP TRIGGER writes_gone ON writes; DROP FUNCTION ask_no_more, ask, answer; DROP VIEW asked; DROP TABLE waiting;
         DROP TABLE changes, claims; DROP FUNCTION claim_clock, refuse_claim, show_claim, show_claims;
         DELETE FROM migrations WHERE version >= 4",
    )
    .await
    .expect("as an older release left it");
    is_settled(&PostgresSaver::open(&url).await.expect("opens"), "PostgreSQL").await;
    conn.batch_execute("DELETE FROM waiting WHERE thread = 'forked'")
        .await
        .expect("damages");
    let saver = PostgresSaver::open(&url).await.expect("opens");
    let found = saver.verify(true).await.expect("repairs");
    assert!(found.repaired && found.damage.len() == 1, "{found:?}");
    is_settled(&saver, "PostgreSQL, repaired").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_that_a_new_input_came_after_are_withdrawn_in_redis() {
    let Some(server) = Redis::start() else { return };
    questions(&RedisSaver::open(server.url()).await.expect("opens")).await;
    let mut to = connection(&server).await;
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Command>();
    for old in [
        "DEL superstep:waiting superstep:asking superstep:asked",
        "SET superstep:schema 2",
    ] {
        let _: redis::Value = send(&mut to, &words(old)).await;
    }
    is_settled(&RedisSaver::open(server.url()).await.expect("opens"), "Redis").await;
    let _: redis::Value = send(&mut to, &words("DEL superstep:waiting superstep:asking")).await;
    let saver = RedisSaver::open(server.url()).await.expect("opens");
    let found = saver.verify(true).await.expect("repairs");
    assert!(found.repaired && found.damage.len() == 3, "{found:?}");
    is_settled(&saver, "Redis, repaired").await;
}

#[tokio::test]
async fn questions_that_a_new_input_came_after_are_withdrawn_in_folders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let about = folder.path().join("superstep.json");
    questions(&FileSaver::open(folder.path()).expect("a new folder")).await;
    let old = r#"{"format": "superstep threads", "schema": 2}"#;
    std::fs::write(&about, old).expect("writable");
    // An older release remembered threads without what waits.
    let list = folder.path().join("threads.jsonl");
    let text = std::fs::read_to_string(&list).expect("it is there");
    assert!(text.contains("asking"), "{text}");
    std::fs::remove_file(&list).expect("removes");
    is_settled(&FileSaver::open(folder.path()).expect("opens"), "a folder").await;
    let sizes = || -> Vec<u64> {
        let threads = std::fs::read_dir(folder.path().join("threads")).expect("a folder");
        threads
            .map(|file| file.expect("a file").metadata().expect("a file").len())
            .collect()
    };
    let before = sizes();
    is_settled(
        &FileSaver::open(folder.path()).expect("opens"),
        "a folder, opened again",
    )
    .await;
    assert_eq!(sizes(), before, "once is enough");
}
