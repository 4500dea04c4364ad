//! What goes wrong is reported clearly, and costs nobody else anything.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use superstep::checkpoint::{
    Commit, ListQuery, Maintenance, StorageError, TaskId, TaskWrites, Write, reserved,
};
use superstep::{Checkpointer, Value, json};
use superstep_storage::{SqliteOptions, SqliteSaver, open};
use superstep_suites::{Draft, id};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("threads.db");
    (folder, file)
}

fn sql(file: &Path, sql: &str) {
    rusqlite::Connection::open(file)
        .expect("opens")
        .execute_batch(sql)
        .expect("runs");
}

fn refused(file: &Path) -> String {
    SqliteSaver::open(file).expect_err("must not open").to_string()
}

#[test]
fn databases_of_others_are_refused_and_left_alone() {
    let (_folder, file) = folder();
    sql(
        &file,
        "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x');",
    );
    let before = std::fs::read(&file).expect("readable");
    assert!(
        refused(&file).contains("belongs to another program"),
        "{}",
        refused(&file)
    );
    assert_eq!(
        std::fs::read(&file).expect("readable"),
        before,
        "the file was changed"
    );

    std::fs::write(
        &file,
        "Dear diary, this is not a database, and it is long enough to look at.".repeat(20),
    )
    .expect("writable");
    assert!(
        refused(&file).contains("not a Superstep database"),
        "{}",
        refused(&file)
    );
}

/// What somebody else put into the schema would work along with every commit of every thread.
#[tokio::test]
async fn a_file_with_triggers_or_views_of_others_is_refused_and_left_alone() {
    for (made, name) in [
        (
            "CREATE TRIGGER spy AFTER INSERT ON checkpoints BEGIN DELETE FROM writes; END",
            "trigger \"spy\"",
        ),
        ("CREATE VIEW shown AS SELECT * FROM checkpoints", "view \"shown\""),
        (
            "DROP TRIGGER writes_gone; CREATE TRIGGER writes_gone AFTER DELETE ON writes BEGIN DELETE FROM waiting; END",
            "trigger \"writes_gone\"",
        ),
    ] {
        let (_folder, file) = folder();
        sick_and_well(&file).await;
        SqliteSaver::open(&file).expect("our own triggers are no others'");
        sql(&file, made);
        let before = std::fs::read(&file).expect("readable");
        let text = refused(&file);
        assert!(text.contains(name) && text.contains("DROP"), "{text}");
        assert_eq!(std::fs::read(&file).expect("readable"), before, "{made}");
    }
}

/// A file whose list of tables cannot be read opens for nobody, so no remedy may need it open.
#[tokio::test]
async fn a_file_that_does_not_open_is_not_to_be_exported() {
    let (_folder, file) = folder();
    sick_and_well(&file).await;
    let mut bytes = std::fs::read(&file).expect("readable");
    // Behind the header of the file stands the first page of the list of tables.
    bytes[100..4096].fill(0x5a);
    std::fs::write(&file, bytes).expect("writable");
    let text = refused(&file);
    assert!(text.contains("restore a backup"), "{text}");
    assert!(!text.contains("export"), "nothing opens it: {text}");
}

#[test]
fn newer_schemas_are_refused() {
    let (_folder, file) = folder();
    drop(SqliteSaver::open(&file).expect("a new database"));
    sql(&file, "PRAGMA user_version = 99");
    let error = SqliteSaver::open(&file).expect_err("must not open");
    assert!(
        matches!(error, StorageError::NewerSchema { found: 99, .. }),
        "{error}"
    );
    let version: i64 = rusqlite::Connection::open(&file)
        .and_then(|conn| conn.query_row("PRAGMA user_version", [], |row| row.get(0)))
        .expect("readable");
    assert_eq!(version, 99, "the version was changed");
}

#[test]
fn places_that_cannot_be_opened_say_what_to_do() {
    let (folder, _) = folder();
    let error = refused(&folder.path().join("no/such/folder.db"));
    assert!(error.contains("Check that the folder exists"), "{error}");
    let error = refused(folder.path());
    assert!(error.contains("Check that the folder exists"), "{error}");
}

#[tokio::test]
async fn urls_choose_the_backend() {
    let (_folder, file) = folder();
    for url in [
        format!("sqlite:{}", file.display()),
        file.display().to_string(),
        "memory:".to_owned(),
    ] {
        let storage = open(&url).await.expect("opens");
        Draft::root(id(1))
            .store(&*storage.checkpointer, "t", "")
            .await
            .expect("stores");
    }
    for (url, expected) in [
        ("oracle:x", "no backend is called"),
        ("sqlite:", "names no file"),
        ("", "names no file"),
    ] {
        let error = open(url).await.expect_err("must not open").to_string();
        assert!(error.contains(expected), "{url}: {error}");
    }
}

/// A value that is too long for a delta and too short for a part.
fn padded(thread: &str) -> String {
    format!("{thread:<200}")
}

/// Two threads of two checkpoints, of which the second has a write, a question and a long value of its own.
async fn sick_and_well(file: &Path) {
    let saver = SqliteSaver::open(file).expect("a new database");
    for thread in ["sick", "well"] {
        let first = Draft::root(id(1))
            .set("x", "first")
            .meta("m", thread)
            .store(&saver, thread, "")
            .await
            .expect("stores");
        let second = Draft::after(&first, id(2))
            .set("x", padded(thread))
            .set("own", format!("{thread} ").repeat(200))
            .store(&saver, thread, "")
            .await
            .expect("stores");
        let task = |name: &str, idx, channel: &str| TaskWrites {
            checkpoint_id: second.id.clone(),
            task_id: TaskId::new(name),
            task_path: "".into(),
            writes: vec![Write {
                idx,
                channel: channel.into(),
                value: json!(1),
            }],
        };
        saver
            .commit(Commit {
                claim: None,
                thread: thread.into(),
                ns: "".into(),
                writes: vec![task("task", 0, "x"), task("asks", -3, reserved::INTERRUPT)],
                put: None,
            })
            .await
            .expect("stores");
    }
}

/// What is done to the thread `sick`: its name, the statement, and what the error speaks of.
fn damages() -> Vec<(&'static str, String, &'static str)> {
    let newest = "(SELECT max(c.seq) FROM checkpoints c JOIN spaces s ON s.id = c.space JOIN threads t ON t.id = s.thread WHERE t.name = 'sick')";
    vec![
        (
            "items data",
            "UPDATE items SET data = CAST('{not json' AS BLOB) WHERE CAST(data AS TEXT) LIKE '\"sick %'"
                .to_owned(),
            "Channel x",
        ),
        (
            "items gone",
            "DELETE FROM items WHERE CAST(data AS TEXT) LIKE '\"sick %'".to_owned(),
            "Channel x",
        ),
        (
            "delta",
            format!("UPDATE checkpoints SET delta = x'ffff' WHERE seq = {newest}"),
            "Checkpoint",
        ),
        (
            "parent",
            format!("UPDATE checkpoints SET parent = 4711 WHERE seq = {newest}"),
            "Checkpoint",
        ),
        (
            "a cycle",
            format!("UPDATE checkpoints SET parent = seq, depth = 1 WHERE seq = {newest}"),
            "Checkpoint",
        ),
        (
            "metadata",
            "UPDATE metas SET json = 'x' WHERE json LIKE '%sick%'".to_owned(),
            "Checkpoint",
        ),
        (
            "source",
            format!("UPDATE checkpoints SET source = 9 WHERE seq = {newest}"),
            "Checkpoint",
        ),
        (
            "writes",
            format!("UPDATE writes SET data = x'05' WHERE checkpoint = {newest}"),
            "writes of task asks",
        ),
        (
            "short writes",
            format!("UPDATE checkpoints SET tasks = x'05' WHERE seq = {newest}"),
            "writes of tasks of",
        ),
        (
            "a short write",
            format!("UPDATE checkpoints SET tasks = x'057461736b000105' WHERE seq = {newest}"),
            "writes of task task",
        ),
        (
            "id",
            format!("UPDATE checkpoints SET id = x'ff' WHERE seq = {newest}"),
            "checkpoint",
        ),
        (
            "a part",
            "UPDATE parts SET data = x'2278797a22' WHERE id = 1".to_owned(),
            "Channel own",
        ),
        (
            "a part gone",
            "DELETE FROM parts WHERE id = 1".to_owned(),
            "Channel own",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_is_named_and_stays_where_it_is() {
    let (_folder, file) = folder();
    sick_and_well(&file).await;
    for (name, damage, place) in damages() {
        let copy = file.with_file_name(format!("{name}.db"));
        std::fs::copy(&file, &copy).expect("copies");
        sql(&copy, &damage);
        let saver = SqliteSaver::open(&copy).expect("opens");
        let error = saver.get(&"sick".into(), "", None).await.expect_err(name);
        assert!(matches!(error, StorageError::Corrupt { .. }), "{name}: {error}");
        let text = error.to_string();
        assert!(
            text.contains(place) && text.contains("thread sick"),
            "{name}: {text}"
        );
        let well = saver
            .get(&"well".into(), "", None)
            .await
            .expect("readable")
            .expect("there");
        assert_eq!(
            well.checkpoint.channel_values["x"],
            Value::from(padded("well")),
            "{name}"
        );
        assert!(
            saver
                .threads(&superstep::checkpoint::ThreadQuery::default())
                .await
                .expect("lists")
                .iter()
                .any(|t| t.thread.as_str() == "well"),
            "{name}"
        );
        let all = superstep::checkpoint::ThreadQuery::default();
        let listed = saver.threads(&all).await.expect("lists").len() as u64;
        let counted = saver.count_threads(&all).await.expect("counts");
        assert_eq!(counted, listed, "{name}: a list and its count say the same");
        if !place.eq_ignore_ascii_case("checkpoint") {
            let query = ListQuery::new().thread("sick");
            assert_eq!(
                saver.heads(&query).await.expect("heads need no values").len(),
                2,
                "{name}"
            );
            assert!(
                saver
                    .get(&"sick".into(), "", Some(&id(1)))
                    .await
                    .expect("readable")
                    .is_some(),
                "{name}"
            );
        }
        saver
            .delete_thread(&"sick".into())
            .await
            .expect("a damaged thread can be deleted");
        assert_eq!(
            saver
                .threads(&superstep::checkpoint::ThreadQuery::default())
                .await
                .expect("lists")
                .len(),
            1,
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_damaged_is_found_and_repaired() {
    let (_folder, file) = folder();
    sick_and_well(&file).await;
    let others = [
        ("counts", "INSERT INTO shares VALUES (1, 5)".to_owned(), "counted wrong"),
        (
            "strays",
            "INSERT INTO items (level, run, data) VALUES (0, 0, x'31'); INSERT INTO metas (json) VALUES ('[]')".to_owned(),
            "belong to no checkpoint",
        ),
        (
            "an index",
            "INSERT INTO writes (checkpoint, task, path, status, data) VALUES (1, 'x', '', 0, x'00');
             PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'WHERE status > 0', '')
             WHERE name = 'writes_open'; PRAGMA writable_schema = RESET"
                .to_owned(),
            "index writes_open",
        ),
        (
            "steps",
            "UPDATE epochs SET stepped = 3; INSERT INTO steps VALUES (7, 0, 1), (1, 7, 9)".to_owned(),
            "5 entries of the table of steps",
        ),
        (
            "steps to come",
            "UPDATE epochs SET stepped = 100; INSERT INTO steps SELECT space, step, seq FROM checkpoints".to_owned(),
            "1 entries of the table of steps",
        ),
    ];
    for (name, damage, place) in damages().into_iter().chain(others) {
        let copy = file.with_file_name(format!("{name}.db"));
        std::fs::copy(&file, &copy).expect("copies");
        sql(&copy, &damage);
        let saver = SqliteSaver::open(&copy).expect("opens");
        let found = saver.verify(false).await.expect("checks");
        assert!(!found.is_sound() && !found.repaired, "{name}: {found:?}");
        let reported = found
            .damage
            .iter()
            .find(|damage| damage.what.contains(place))
            .unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!(reported.repair.is_some(), "{name}: {reported:?}");
        let of_a_thread = reported.what.contains("thread sick");
        let named = reported.thread.as_ref().map(superstep::ThreadId::as_str);
        assert_eq!(named, of_a_thread.then_some("sick"), "{name}");
        assert!(saver.verify(true).await.expect("repairs").repaired, "{name}");
        let again = saver.verify(true).await.expect("checks again");
        assert!(again.is_sound() && !again.repaired, "{name}: {again:?}");
        let query = |thread: &str| ListQuery::new().thread(thread);
        let well = saver.list(&query("well")).await.expect("reads");
        assert_eq!(well.len(), 2, "{name}");
        assert_eq!(well[0].pending_writes.len(), 2, "{name}");
        let sick = saver.list(&query("sick")).await.expect("reads again");
        // Both checkpoints have the same metadata; without it neither can be read.
        let left = match name {
            "metadata" => 0,
            "writes" | "short writes" | "a short write" | "counts" | "strays" | "an index" | "steps"
            | "steps to come" => 2,
            _ => 1,
        };
        assert_eq!(sick.len(), left, "{name}");
        assert!(
            !name.contains("write") || sick[0].pending_writes.len() == 1,
            "{name}"
        );
        // What was repaired is an ordinary thread again.
        if let Some(last) = sick.first() {
            let draft = Draft::after(&last.checkpoint, id(9)).set("own", "sick ".repeat(200));
            let next = draft.store(&saver, "sick", "").await.expect("goes on");
            let read = saver
                .get(&"sick".into(), "", None)
                .await
                .expect("reads")
                .expect("there");
            assert_eq!(read.checkpoint, next, "{name}");
        }
        assert!(saver.verify(false).await.expect("checks").is_sound(), "{name}");
    }
}

/// Nobody needs the table of steps but who looks for a step.
#[tokio::test]
async fn a_damaged_table_of_steps_keeps_nobody_from_storing() {
    let (_folder, file) = folder();
    let saver = SqliteSaver::open(&file).expect("a new database");
    let stores = async |saver: &SqliteSaver, ids: std::ops::Range<u64>| {
        let mut last = None;
        for n in ids {
            let draft = match &last {
                Some(last) => Draft::after(last, id(n)),
                None => Draft::root(id(n)),
            };
            let stored = draft.set("n", n).store(saver, "t", "").await;
            last = Some(stored.expect("stores"));
        }
        last
    };
    let before = stores(&saver, 1..200).await;
    drop(saver);
    let page = |sql: &str| -> usize {
        let conn = rusqlite::Connection::open(&file).expect("opens");
        let number: u32 = conn.query_row(sql, [], |row| row.get(0)).expect("a number");
        number as usize
    };
    let (page, size) = (
        page("SELECT rootpage FROM sqlite_master WHERE name = 'steps'"),
        page("PRAGMA page_size"),
    );
    let mut bytes = std::fs::read(&file).expect("readable");
    bytes[(page - 1) * size..page * size].fill(0x5a);
    std::fs::write(&file, bytes).expect("writable");
    let saver = SqliteSaver::open(&file).expect("opens");
    let newest = async || {
        let newest = saver.get(&"t".into(), "", None).await.expect("readable");
        newest.map(|tuple| tuple.checkpoint)
    };
    assert_eq!(newest().await, before);
    let after = stores(&saver, 1000..1300).await;
    assert_eq!(newest().await, after);
    let checked = saver.verify(false).await;
    assert!(
        !checked.is_ok_and(|found| found.is_sound()),
        "nobody says that all is well"
    );
    assert_eq!(newest().await, after);
    saver.delete_thread(&"t".into()).await.expect("deletes");
    assert_eq!(newest().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_is_waited_for_and_then_reported() {
    let (_folder, file) = folder();
    let options = SqliteOptions::default().busy_timeout(Duration::from_secs(1));
    let saver = SqliteSaver::open_with(&file, options).expect("a new database");
    let first = Draft::root(id(1))
        .set("x", 1)
        .store(&saver, "t", "")
        .await
        .expect("stores");
    let other = rusqlite::Connection::open(&file).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let error = Draft::after(&first, id(2))
        .store(&saver, "t", "")
        .await
        .expect_err("locked")
        .to_string();
    assert!(error.contains("Another program is writing"), "{error}");
    assert!(
        saver
            .get(&"t".into(), "", None)
            .await
            .expect("readers do not wait")
            .is_some()
    );
    // What is stored at the same time waits together, and not each for the one before it.
    let began = Instant::now();
    let all = (0..40).map(|n| {
        let (saver, thread) = (&saver, format!("t{n}"));
        async move { Draft::root(id(1)).store(saver, &thread, "").await.is_err() }
    });
    assert!(
        futures::future::join_all(all)
            .await
            .into_iter()
            .all(|refused| refused)
    );
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    other.execute_batch("ROLLBACK").expect("unlocks");
    Draft::after(&first, id(2))
        .store(&saver, "t", "")
        .await
        .expect("goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_on_one_file() {
    let (_folder, file) = folder();
    let (a, b) = (
        SqliteSaver::open(&file).expect("opens"),
        SqliteSaver::open(&file).expect("opens"),
    );
    let mut last = Draft::root(id(1))
        .set("log", json!([]))
        .store(&a, "t", "")
        .await
        .expect("stores");
    for n in 0..60 {
        let saver = if n % 2 == 0 { &b } else { &a };
        last = Draft::after(&last, id(2 + n))
            .append("log", vec![json!(n)])
            .store(saver, "t", "")
            .await
            .expect("stores");
    }
    let line = |saver: &'static str, own: bool| {
        let saver = SqliteSaver::open(&file).map(|s| (s, saver)).expect("opens");
        async move {
            let (saver, name) = saver;
            let thread = if own { name } else { "shared" };
            for n in 0..30 {
                let n = if own {
                    n
                } else {
                    n + if name == "left" { 100 } else { 200 }
                };
                Draft::root(id(n))
                    .set("x", n)
                    .store(&saver, thread, "")
                    .await
                    .map_err(|e| e.to_string())?;
            }
            Ok::<_, String>(())
        }
    };
    let outcomes = tokio::join!(
        line("left", true),
        line("right", true),
        line("left", false),
        line("right", false)
    );
    assert_eq!(outcomes, (Ok(()), Ok(()), Ok(()), Ok(())));
    assert_eq!(
        a.get(&"t".into(), "", None)
            .await
            .expect("readable")
            .map(|t| t.checkpoint),
        Some(last.clone())
    );
    let shared = ListQuery::new().thread("shared");
    assert_eq!(b.heads(&shared).await.expect("lists").len(), 60);
    // What one deletes, the other must not build on from memory.
    b.delete_thread(&"t".into()).await.expect("deletes");
    let late = Draft::after(&last, id(900))
        .append("log", vec![json!("late")])
        .store(&a, "t", "")
        .await
        .expect("stores whole");
    assert_eq!(
        b.get(&"t".into(), "", None)
            .await
            .expect("readable")
            .map(|t| t.checkpoint),
        Some(late)
    );
}

#[tokio::test]
async fn what_cannot_be_read_back_is_not_accepted() {
    let (_folder, file) = folder();
    let saver = SqliteSaver::open(&file).expect("a new database");
    let mut deep = json!(1);
    for _ in 0..500 {
        deep = vec![deep].into();
    }
    let error = Draft::root(id(1))
        .set("x", deep)
        .store(&saver, "t", "")
        .await
        .expect_err("too deep")
        .to_string();
    assert!(error.contains("nested") && error.contains("flatter"), "{error}");
    let brackets = Draft::root(id(1))
        .set("x", "[\"".repeat(500))
        .store(&saver, "t", "")
        .await
        .expect("only text");
    assert_eq!(
        saver
            .get(&"t".into(), "", None)
            .await
            .expect("readable")
            .map(|t| t.checkpoint),
        Some(brackets)
    );
}

#[cfg(unix)]
mod unwritable {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;
    use superstep::Store;
    use superstep::checkpoint::{Keep, Pruning};
    use superstep::store::{StoreConfig, StoreQuery, Ttl};

    const NOBODY: u32 = 65534;

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    }

    /// Does the test in a process of a user that may not write everything, as root may.
    fn as_somebody(test: &str, folder: &Path) {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["--exact", test, "--nocapture"])
            .env("SUPERSTEP_TEST_FOLDER", folder);
        if chown(folder, Some(NOBODY), None).is_ok() {
            chown(folder, Some(0), None).expect("ours again");
            command.uid(NOBODY);
        }
        match command.output() {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout);
                // A name that no test has would run none, successfully.
                assert!(
                    output.status.success() && said.contains("test result: ok. 1 passed"),
                    "{test}: {said}"
                );
            }
            // Another user may not look into the folder of this program.
            Err(error) => println!("skipped: {error}"),
        }
    }

    async fn made(file: &Path) -> SqliteSaver {
        let saver = SqliteSaver::open(file).expect("a new database");
        let first = Draft::root(id(1))
            .set("x", 1)
            .store(&saver, "t", "")
            .await
            .expect("stores");
        Draft::after(&first, id(2))
            .set("x", 2)
            .store(&saver, "t", "")
            .await
            .expect("stores");
        let store = saver.store(StoreConfig::default());
        let put = superstep::store::StoreOp::put(&["a"], "k", json!({"t": "word"})).expect("an object");
        let put = put.living(Ttl::For(Duration::from_hours(1)));
        store.batch(vec![put]).await.expect("stores");
        saver
    }

    /// Everything that reads works, everything that writes says why it does not.
    async fn only_reads(file: &Path) {
        let saver = SqliteSaver::open(file).expect("can be read");
        let newest = saver
            .get(&"t".into(), "", None)
            .await
            .expect("readable")
            .expect("there");
        assert_eq!(newest.checkpoint.id, id(2));
        // It is not in the table of steps, and cannot be put there.
        let of_step = ListQuery::new().filter(
            [("step", json!(newest.checkpoint.metadata.step))]
                .into_iter()
                .collect(),
        );
        let found = saver.heads(&of_step).await.expect("finds it by its step");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id, id(2));
        assert_eq!(
            saver
                .threads(&superstep::checkpoint::ThreadQuery::default())
                .await
                .expect("lists")
                .len(),
            1
        );
        assert!(saver.verify(false).await.expect("checks").is_sound());
        assert_eq!(saver.usage().await.expect("measures").threads.len(), 1);
        let latest = Pruning::threads(["t".into()], Keep::Latest);
        let plan = saver
            .prune(&latest.clone().dry_run())
            .await
            .expect("looks what would go");
        assert_eq!(plan.checkpoints, 1);
        let store = saver.store(StoreConfig::default());
        assert!(
            store
                .get(&["a"], "k")
                .await
                .expect("reads what would live longer")
                .is_some()
        );
        let found = store
            .search(StoreQuery::under(&["a"]).query("word"))
            .await
            .expect("searches");
        assert_eq!(found.len(), 1);
        assert_eq!(store.sweep().await.expect("nothing to sweep"), 0);
        let task = TaskWrites {
            checkpoint_id: newest.checkpoint.id,
            task_id: TaskId::new("task"),
            task_path: "".into(),
            writes: vec![],
        };
        let write = Commit {
            claim: None,
            thread: "t".into(),
            ns: "".into(),
            writes: vec![task],
            put: None,
        };
        let refused = [
            saver.commit_all(vec![write]).await.err(),
            saver.delete_thread(&"t".into()).await.err(),
            saver.prune(&latest).await.map(drop).err(),
            saver.verify(true).await.map(drop).err(),
        ];
        for error in refused {
            let error = error.expect("nothing may be written").to_string();
            assert!(
                error.contains("writable") && error.contains("threads.db"),
                "{error}"
            );
        }
    }

    fn beside(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("our folder").flatten();
        let mut names: Vec<String> = entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn a_file_that_may_only_be_read_is_read() {
        let (folder, file) = folder();
        if let Some(folder) = std::env::var_os("SUPERSTEP_TEST_FOLDER") {
            let folder = Path::new(&folder);
            return only_reads(&folder.join("threads.db")).await;
        }
        drop(made(&file).await);
        assert_eq!(
            beside(folder.path()),
            ["threads.db"],
            "closing folds the log back into the file"
        );
        let test = "faults::unwritable::a_file_that_may_only_be_read_is_read";
        // The file only, the folder only, both.
        for (file_mode, folder_mode) in [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555)] {
            mode(&file, file_mode);
            mode(folder.path(), folder_mode);
            as_somebody(test, folder.path());
            assert_eq!(
                beside(folder.path()),
                ["threads.db"],
                "{file_mode:o} {folder_mode:o}"
            );
        }
        mode(folder.path(), 0o755);
        mode(&file, 0o644);
    }

    #[tokio::test]
    async fn what_another_program_is_writing_is_read_as_it_is() {
        let (folder, file) = folder();
        if let Some(folder) = std::env::var_os("SUPERSTEP_TEST_FOLDER") {
            let folder = Path::new(&folder);
            return only_reads(&folder.join("threads.db")).await;
        }
        // The newest commits are in the log, and its owner has it open.
        let saver = made(&file).await;
        for name in beside(folder.path()) {
            mode(&folder.path().join(name), 0o444);
        }
        mode(folder.path(), 0o555);
        as_somebody(
            "faults::unwritable::what_another_program_is_writing_is_read_as_it_is",
            folder.path(),
        );
        mode(folder.path(), 0o755);
        drop(saver);
    }
}
