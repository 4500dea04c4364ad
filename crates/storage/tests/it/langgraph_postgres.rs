//! PostgreSQL databases of LangGraph programs: all schema versions of the saver's tables, several schemas, a role that may
//! only select, and what is refused.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use futures::SinkExt as _;
use serde_json::{Value as Json, json};
use superstep::checkpoint::{ListQuery, StorageError, ThreadQuery, WaitingQuery};
use superstep::{Checkpointer, Value};
use superstep_storage::{AesKey, LanggraphSaver};
use superstep_test_servers::Postgres;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::langgraph::{KEY, assert_javascript, assert_library, expected, fixtures};

const RELEASES: [&str; 4] = [
    "postgres-0.2.60",
    "postgres-0.6.11",
    "postgres-1.0.5",
    "postgres-1.2.24",
];
const MORE: &str = "more-postgres-1.2.24";

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// Executes what `pg_dump` wrote, with the tables in a schema.
async fn restore(url: &str, release: &str, schema: &str) {
    let text =
        std::fs::read_to_string(fixtures().join(format!("{release}.sql"))).expect("the fixture is there");
    let client = client(url).await;
    let create = format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\"");
    client.batch_execute(&create).await.expect("a schema");
    let text = text.replace("public.", &format!("\"{schema}\"."));
    let mut statements = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('\\') {
            continue;
        }
        if !line.starts_with("COPY ") {
            statements.push_str(line);
            statements.push('\n');
            continue;
        }
        client
            .batch_execute(&std::mem::take(&mut statements))
            .await
            .expect("SQL");
        let rows: String = lines
            .by_ref()
            .take_while(|row| *row != "\\.")
            .flat_map(|row| [row, "\n"])
            .collect();
        let sink = client.copy_in(line).await.expect("a table");
        let mut sink = std::pin::pin!(sink);
        sink.send(Cursor::new(rows.into_bytes())).await.expect("rows");
        sink.as_mut().finish().await.expect("rows");
    }
    client.batch_execute(&statements).await.expect("SQL");
}

async fn database(server: &Postgres, release: &str) -> String {
    let url = server.database();
    restore(&url, release, "public").await;
    url
}

/// Rows of every table, as text.
async fn content(url: &str) -> BTreeMap<String, Vec<String>> {
    let client = client(url).await;
    let tables = "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                  WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema)'";
    let mut content = BTreeMap::new();
    for row in client.query(tables, &[]).await.expect("reads") {
        let table: String = row.get(0);
        let rows = client
            .simple_query(&format!(
                "SELECT t::text, xmin::text FROM {table} AS t ORDER BY 1"
            ))
            .await
            .expect("reads");
        let rows = rows.into_iter().filter_map(|row| match row {
            SimpleQueryMessage::Row(row) => Some(format!("{:?} {:?}", row.get(0), row.get(1))),
            _ => None,
        });
        content.insert(table, rows.collect());
    }
    content
}

async fn open(url: &str) -> Arc<dyn Checkpointer> {
    Arc::new(LanggraphSaver::connect(url).await.expect("opens"))
}

async fn refusal(url: &str) -> String {
    let error = LanggraphSaver::connect(url).await.map(drop);
    error.expect_err("refused").to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_a_javascript_program_are_what_its_library_reads() {
    let Some(server) = Postgres::start() else { return };
    let release = "javascript-postgres-1.7.3";
    let url = database(&server, release).await;
    assert_javascript(&*open(&url).await, &expected(release), release).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encrypted_values_are_read_with_their_key_and_named_without() {
    let Some(server) = Postgres::start() else { return };
    let release = "encrypted-postgres-1.2.24";
    let url = database(&server, release).await;
    let with = async |key: Option<AesKey>| {
        let saver = LanggraphSaver::connect(&url).await.expect("opens");
        let saver: Arc<dyn Checkpointer> = Arc::new(saver.with_key(key));
        saver
    };
    let saver = with(Some(AesKey::new(KEY))).await;
    assert_library(&*saver, &expected(release), release).await;
    // Here only what is no plain text or number is encrypted, value by value: the rest is shown.
    for (key, class, word) in [
        (
            None,
            "encrypted",
            "in the variable LANGGRAPH_AES_KEY or as a secret",
        ),
        (Some(AesKey::new(&KEY[..24])), "unreadable", "is not its key"),
    ] {
        let saver = with(key).await;
        let tuple = saver
            .get(&"sealed".into(), "", None)
            .await
            .expect("reads")
            .expect("there");
        let values = &tuple.checkpoint.channel_values;
        for name in ["log", "secret", "messages"] {
            let shown = Json::from(&values[name]);
            assert_eq!(shown["$class"], json!(class), "{name}: {shown}");
            assert!(
                shown["reason"]
                    .as_str()
                    .is_some_and(|reason| reason.contains(word)),
                "{shown}"
            );
        }
        let thread = saver
            .thread(&"sealed".into())
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(thread.head.interrupted, 1);
        assert_eq!(thread.head.next.len(), 1, "{:?}", thread.head);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_checkpoint_of_every_release_is_what_the_library_reads() {
    let Some(server) = Postgres::start() else { return };
    for release in RELEASES.into_iter().chain([MORE]) {
        let url = database(&server, release).await;
        let before = content(&url).await;
        let saver = open(&url).await;
        assert_library(&*saver, &expected(release), release).await;
        assert!(
            saver.verify(false).await.expect("reads everything").is_sound(),
            "{release}"
        );
        let usage = saver.usage().await.expect("measures");
        assert!(
            usage.bytes > 10_000 && usage.threads.iter().all(|thread| thread.bytes > 0),
            "{release}: {usage:?}"
        );
        drop(saver);
        assert!(before == content(&url).await, "{release}: no row was written");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_may_only_select_reads_everything_and_nothing_can_be_changed() {
    let Some(server) = Postgres::start() else { return };
    let url = database(&server, MORE).await;
    let owner = client(&url).await;
    owner
        .batch_execute(
            "CREATE ROLE reads LOGIN PASSWORD 'word'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reads; \
             CREATE ROLE blind LOGIN PASSWORD 'word'",
        )
        .await
        .expect("roles");
    let (_, rest) = url.split_once("://").expect("an address");
    let (_, place) = rest.rsplit_once('@').expect("a login");
    let saver = open(&format!("postgres://reads:word@{place}")).await;
    assert_library(&*saver, &expected(MORE), MORE).await;
    for error in [
        saver.delete_thread(&"deep".into()).await,
        saver.copy_thread(&"deep".into(), &"copy".into()).await,
    ] {
        let error = error.expect_err("refused");
        assert!(matches!(error, StorageError::OnlyRead { .. }), "{error:?}");
        assert!(
            !error.to_string().contains("word"),
            "no password is shown: {error}"
        );
    }
    let blind = refusal(&format!("postgres://blind:word@{place}")).await;
    assert!(
        blind.contains("may not read") && blind.contains("GRANT"),
        "{blind}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_schemas_is_chosen_by_the_address() {
    let Some(server) = Postgres::start() else { return };
    let url = server.database();
    restore(&url, MORE, "team a").await;
    let alone = open(&url).await;
    assert_eq!(alone.count_threads(&ThreadQuery::new()).await.expect("counts"), 6);
    restore(&url, "postgres-1.2.24", "b").await;
    let several = refusal(&url).await;
    assert!(
        several.contains("b, team a") && several.contains("?schema=NAME"),
        "{several}"
    );
    let unknown = refusal(&format!("{url}?schema=c")).await;
    assert!(
        unknown.contains("\"c\"") && unknown.contains("b, team a"),
        "{unknown}"
    );
    for (chosen, threads) in [
        ("?schema=b", 4),
        ("?schema=team%20a", 6),
        ("?options=-c%20search_path%3Db", 4),
    ] {
        let saver = open(&format!("{url}{chosen}")).await;
        let count = saver.count_threads(&ThreadQuery::new()).await.expect("counts");
        assert_eq!(count, threads, "{chosen}");
    }
    let owner = client(&url).await;
    owner
        .batch_execute(
            "CREATE ROLE of_b LOGIN PASSWORD 'word'; ALTER ROLE of_b SET search_path = b; \
                        GRANT USAGE ON SCHEMA b TO of_b; GRANT SELECT ON ALL TABLES IN SCHEMA b TO of_b",
        )
        .await
        .expect("a role");
    let (_, rest) = url.split_once("://").expect("an address");
    let (_, place) = rest.rsplit_once('@').expect("a login");
    let saver = open(&format!("postgres://of_b:word@{place}")).await;
    assert_eq!(saver.count_threads(&ThreadQuery::new()).await.expect("counts"), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_recognized_by_its_tables() {
    let Some(server) = Postgres::start() else { return };
    let url = database(&server, "postgres-1.2.24").await;
    let before = content(&url).await;
    for address in [
        url.clone(),
        format!("langgraph:{url}"),
        format!("{url}?schema=public"),
    ] {
        let storage = superstep_storage::open(&address).await.expect("opens");
        assert!(storage.checkpointer.foreign().is_some(), "{address}");
        let found = superstep_storage::open_existing(&address).await.expect("opens");
        assert!(
            found.expect("there").checkpointer.foreign().is_some(),
            "{address}"
        );
        assert!(
            superstep_storage::path_of(&address)
                .expect("an address")
                .is_none()
        );
    }
    assert!(before == content(&url).await, "nothing was made");
    // Whoever names a schema of their own has one.
    let own = format!("{url}?schema=mine");
    assert!(
        superstep_storage::open_existing(&own)
            .await
            .expect("looks")
            .is_none()
    );
    let storage = superstep_storage::open(&own).await.expect("opens");
    assert!(storage.checkpointer.foreign().is_none());
    // Where both are, the address without a prefix means ours.
    let both = database(&server, "postgres-1.2.24").await;
    let ours = superstep_storage::open(&format!("{both}?schema=superstep"))
        .await
        .expect("opens");
    assert!(ours.checkpointer.foreign().is_none());
    let ours = superstep_storage::open(&both).await.expect("opens");
    assert!(ours.checkpointer.foreign().is_none());
    let theirs = superstep_storage::open(&format!("langgraph:{both}"))
        .await
        .expect("opens");
    assert!(theirs.checkpointer.foreign().is_some());
    let empty = server.database();
    let refused = refusal(&empty).await;
    assert!(refused.contains("no tables of LangGraph"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_tables_in_the_place_of_langgraphs_are_refused() {
    let Some(server) = Postgres::start() else { return };
    for (sql, word) in [
        (
            "ALTER TABLE checkpoint_writes RENAME TO w; CREATE VIEW checkpoint_writes AS SELECT * FROM w",
            "something else than a table",
        ),
        ("DROP TABLE checkpoint_blobs", "no table \"checkpoint_blobs\""),
        (
            "ALTER TABLE checkpoints DROP COLUMN metadata",
            "no column \"metadata\"",
        ),
        (
            "ALTER TABLE checkpoint_writes ALTER COLUMN idx TYPE bigint",
            "\"idx\" of LangGraph's table \"checkpoint_writes\" in \"public\" is bigint and not integer",
        ),
        (
            "ALTER TABLE checkpoints DROP COLUMN checkpoint_id CASCADE; ALTER TABLE checkpoints DROP COLUMN parent_checkpoint_id",
            "ShallowPostgresSaver",
        ),
    ] {
        let url = database(&server, "postgres-1.2.24").await;
        client(&url).await.batch_execute(sql).await.expect(sql);
        let refused = refusal(&url).await;
        assert!(refused.contains(word), "{word}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_writes_is_followed() {
    let Some(server) = Postgres::start() else { return };
    let url = database(&server, "postgres-1.2.24").await;
    let program = client(&url).await;
    let saver = open(&url).await;
    let changes = async || {
        saver
            .coordination()
            .expect("offered")
            .changes()
            .await
            .expect("looks")
    };
    let mut last = changes().await;
    let asked = saver.count_waiting().await.expect("counts");
    assert_eq!(saver.count_threads(&ThreadQuery::new()).await.expect("counts"), 4);
    for number in 0..5 {
        for table in ["checkpoints", "checkpoint_blobs", "checkpoint_writes"] {
            let sql = format!(
                "CREATE TEMP TABLE t AS SELECT * FROM {table} WHERE thread_id = 'waiting'; \
                 UPDATE t SET thread_id = 'live {number}'; INSERT INTO {table} SELECT * FROM t; DROP TABLE t"
            );
            program.batch_execute(&sql).await.expect("stored");
        }
        let now = changes().await;
        assert_ne!(now, last, "{number}: the change is seen");
        last = now;
        assert_eq!(
            saver.count_threads(&ThreadQuery::new()).await.expect("counts"),
            5 + number
        );
        assert_eq!(saver.count_waiting().await.expect("counts"), asked + 1 + number);
    }
    let waiting = saver.waiting(&WaitingQuery::new().limit(3)).await.expect("lists");
    assert_eq!(waiting.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_and_many_rows_are_read_in_pieces() {
    let Some(server) = Postgres::start() else { return };
    let url = database(&server, "postgres-1.2.24").await;
    let program = client(&url).await;
    // A value of 3 MB that is neither text nor a number, another one that is text and stands inline, one that is too large,
    // and more writes than one statement reads.
    program
        .batch_execute(
            "UPDATE checkpoint_blobs SET type = 'bytes', blob = decode(repeat('0badcafe', 800000), 'hex') \
             WHERE thread_id = 'done' AND channel = 'values'; \
             UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{channel_values,draft}', to_jsonb(repeat('word ', 400000))) \
             WHERE thread_id = 'done' AND checkpoint -> 'channel_values' ? 'draft'; \
             UPDATE checkpoint_blobs SET type = 'bytes', blob = decode(repeat('00', 70000000), 'hex') \
             WHERE thread_id = 'forked' AND channel = 'lines'; \
             INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path) \
             SELECT thread_id, checkpoint_ns, checkpoint_id, 'many', n, 'log', 'msgpack', '\\xc0', '' \
             FROM (SELECT * FROM checkpoints WHERE thread_id = 'waiting' AND checkpoint_ns = '' \
             ORDER BY checkpoint_id DESC LIMIT 1) AS c, generate_series(1, 5000) AS n",
        )
        .await
        .expect("stored");
    let saver = open(&url).await;
    let read = async |thread: &str| {
        saver
            .get(&thread.into(), "", None)
            .await
            .expect("reads")
            .expect("there")
    };
    let done = read("done").await.checkpoint.channel_values;
    assert_eq!(Json::from(&done["values"]["length"]), json!(3_200_000));
    assert_eq!(done["draft"].as_str().map(str::len), Some(2_000_000));
    let forked = read("forked").await.checkpoint.channel_values;
    let reason = forked["lines"]
        .get("reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    assert!(reason.contains("70000000 bytes"), "{:?}", forked["lines"]);
    let waiting = read("waiting").await;
    let many = waiting
        .pending_writes
        .iter()
        .filter(|row| row.task_id.as_str() == "many");
    assert_eq!(many.count(), 5000);
    let all = saver.list(&ListQuery::new().thread("done")).await.expect("reads");
    assert!(all.len() > 10);
}
