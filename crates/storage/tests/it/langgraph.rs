//! Databases of LangGraph programs: every thread, checkpoint, value, parent, task and question of four releases is what the
//! library itself reads, no byte of a file changes, and what is damaged or hostile is named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Map, Value as Json, json};
use superstep::checkpoint::{
    ChannelVersions, CheckpointAddress, Commit, Coordination as _, Foreign as _, ListQuery, Sealed,
    StorageError, ThreadQuery, ThreadStatus, WaitingQuery,
};
use superstep::inspect::{StateSnapshot, TaskState, WriteOrigin, questions};
use superstep::run::StateRef;
use superstep::{CheckpointId, Checkpointer, ThreadId, Value};
use superstep_storage::{AesKey, LanggraphSaver};

pub(crate) const RELEASES: [&str; 4] = ["sqlite-0.2.60", "sqlite-0.6.11", "sqlite-1.0.5", "sqlite-1.2.24"];
/// Joins, delta channels, two levels of nesting, parallel questions.
pub(crate) const MORE: &str = "more-1.2.24";
/// Entry points, deep agents, what is stored at the end, cancelled runs and time travel.
const KINDS: &str = "kinds-1.2.24";
/// Twenty programs that were drawn.
const DRAWN: &str = "random-1.2.24";

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/langgraph")
}

/// A copy of a release's database, in a folder of its own.
pub(crate) struct Copy {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Copy {
    pub(crate) fn of(release: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("checkpoints.sqlite");
        fs::copy(fixtures().join(format!("{release}.db")), &path).expect("copied");
        Self { folder, path }
    }

    pub(crate) fn saver(&self) -> Arc<dyn Checkpointer> {
        Arc::new(LanggraphSaver::open(&self.path).expect("opens"))
    }

    pub(crate) fn write(&self) -> Connection {
        Connection::open(&self.path).expect("opens")
    }

    /// Names and bytes of everything in the folder.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.folder.path()).expect("listed");
        let read = entries.map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(path).expect("read"))
        });
        read.collect()
    }
}

/// Brings a value of `expected.json` into a form that is compared.
fn of_library(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(of_library).collect(),
        Json::Object(object) => {
            let class = object.get("$class").and_then(Json::as_str);
            if let Some(float) = object.get("$float") {
                return json!({"float": float});
            }
            if let Some(hex) = object.get("$bytes") {
                return json!({"bytes": hex});
            }
            match class {
                Some("tuple") => of_library(&object["value"]),
                Some("set" | "frozenset") => json!({"class": class, "items": of_library(&object["value"])}),
                Some(class) if class.starts_with("langchain_core.messages.") => {
                    let mut fields = stripped(&object["fields"], of_library);
                    let kind = fields.remove("type");
                    json!({"message": kind, "fields": fields})
                }
                Some(class) if object.contains_key("fields") => {
                    json!({"class": class, "fields": stripped(&object["fields"], of_library)})
                }
                Some("datetime.datetime") => {
                    let text = object["text"].as_str().expect("a text").replacen(' ', "T", 1);
                    json!({"class": class, "is": text})
                }
                Some(class) => {
                    let is = object.get("text").or_else(|| object.get("value"));
                    json!({"class": class, "is": is.map(of_library)})
                }
                None => object
                    .iter()
                    .map(|(key, value)| (key.clone(), of_library(value)))
                    .collect(),
            }
        }
        plain => plain.clone(),
    }
}

/// Leaves out what says nothing, as `expect.py` does.
fn stripped(fields: &Json, each: fn(&Json) -> Json) -> Map<String, Json> {
    let fields = fields.as_object().expect("fields").iter();
    let kept = fields.filter(|(key, value)| {
        let is_empty = match value {
            Json::Null => true,
            Json::String(text) => text.is_empty(),
            Json::Array(items) => items.is_empty(),
            Json::Object(members) => members.is_empty(),
            _ => false,
        };
        *key == "content" || !is_empty
    });
    kept.map(|(key, value)| (key.clone(), each(value))).collect()
}

/// Brings a value that the saver read into the same form.
fn of_saver(value: &Json) -> Json {
    const MESSAGES: [&str; 4] = ["human", "ai", "system", "tool"];
    match value {
        Json::Array(items) => items.iter().map(of_saver).collect(),
        Json::Object(object) => {
            let class = object.get("$class").and_then(Json::as_str);
            let kind = object.get("type").and_then(Json::as_str);
            match class {
                Some("float") => json!({"float": object["value"]}),
                Some("bytes") => json!({"bytes": object["hex"]}),
                Some("set" | "frozenset") => {
                    let mut items: Vec<Json> = object["items"]
                        .as_array()
                        .expect("items")
                        .iter()
                        .map(of_saver)
                        .collect();
                    items.sort_by_key(ToString::to_string);
                    json!({"class": class, "items": items})
                }
                Some(class) if object.len() == 2 && object.contains_key("value") => {
                    json!({"class": class, "is": of_saver(&object["value"])})
                }
                Some(class) => {
                    let mut fields = object.clone();
                    fields.remove("$class");
                    json!({"class": class, "fields": stripped(&Json::Object(fields), of_saver)})
                }
                None if kind.is_some_and(|kind| MESSAGES.contains(&kind))
                    && object.contains_key("content") =>
                {
                    let mut fields = stripped(value, of_saver);
                    fields.remove("type");
                    json!({"message": kind, "fields": fields})
                }
                None => object
                    .iter()
                    .map(|(key, value)| (key.clone(), of_saver(value)))
                    .collect(),
            }
        }
        plain => plain.clone(),
    }
}

fn saved(value: &Value) -> Json {
    of_saver(&Json::from(value))
}

pub(crate) fn expected(release: &str) -> Json {
    let path = fixtures().join(format!("{release}.expected.json"));
    serde_json::from_slice(&fs::read(path).expect("read")).expect("JSON")
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// Returns the values of a state without those that no step has written: with which value a reducer begins only the graph
/// says.
fn known(library: &Json, versions: &ChannelVersions) -> Json {
    let begins = [json!([]), json!({}), json!(0), json!("")];
    let values = library["values"].as_object().expect("values").iter();
    values
        .filter(|(key, value)| versions.contains_key(key) || !begins.contains(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Returns whether a thread is of an entry point, as `make_kinds.py` names them.
fn is_entry_point(library: &Json) -> bool {
    let names = ["flow", "asks"];
    let next = library["next"].as_array().into_iter().flatten();
    next.filter_map(Json::as_str).any(|name| names.contains(&name))
        || library["values"].get("answer").is_some()
}

fn assert_state(state: &StateSnapshot, library: &Json, versions: &ChannelVersions, place: &str) {
    let head = state.checkpoint.as_ref().expect("a checkpoint");
    assert_eq!(head.id.as_str(), library["config"]["id"], "{place}");
    assert_eq!(
        head.parent.as_ref().map(CheckpointId::as_str),
        library["parent"]["id"].as_str(),
        "{place}: parent"
    );
    assert_eq!(head.ts, library["created_at"], "{place}: time");
    assert_eq!(json!(head.metadata.step), library["step"], "{place}: step");
    assert_eq!(
        head.metadata.source.as_str(),
        library["source"],
        "{place}: source"
    );
    let next = library["next"].as_array().expect("a list").iter();
    let next = sorted(
        next.map(|name| name.as_str().expect("a name").to_owned())
            .collect(),
    );
    assert_eq!(
        sorted(state.next.iter().map(ToString::to_string).collect()),
        next,
        "{place}: next"
    );
    match library["values"].as_object().filter(|_| !is_entry_point(library)) {
        Some(_) => assert_eq!(
            saved(&state.values),
            of_library(&known(library, versions)),
            "{place}: values"
        ),
        // Of an entry point the library shows what it returned last; what its next run is given is beside it here.
        None => {
            let returned = state.values.get("__end__").map_or(Json::Null, saved);
            assert_eq!(returned, of_library(&library["values"]), "{place}: value");
        }
    }
    let tasks = library["tasks"].as_array().expect("a list");
    assert_eq!(state.tasks.len(), tasks.len(), "{place}: {:?}", state.tasks);
    for task in tasks {
        let id = task["id"].as_str().expect("an id");
        let found = state.tasks.iter().find(|found| found.id.as_str() == id);
        let found =
            found.unwrap_or_else(|| panic!("{place}: no task {id} ({}) in {:?}", task["name"], state.tasks));
        assert_eq!(*found.name, *task["name"].as_str().expect("a name"), "{place}");
        assert_eq!(
            json!(found.error),
            task["error"],
            "{place}: error of {}",
            found.name
        );
        let asked: Vec<Json> = found.interrupts.iter().map(|asked| saved(&asked.value)).collect();
        assert_eq!(
            json!(asked),
            of_library(&task["interrupts"]),
            "{place}: questions of {}",
            found.name
        );
        let nested = match &found.state {
            Some(TaskState::Ns(ns)) => Some(&**ns),
            _ => None,
        };
        let library = task["state"]["ns"].as_str();
        // A graph that goes on from task to task is where it keeps its checkpoints, and not where the library says.
        let is_kept = nested.is_some_and(|ns| !ns.contains(':'));
        match library.filter(|_| is_kept) {
            Some(library) => assert_eq!(nested, library.split(':').next(), "{place}"),
            None => assert_eq!(nested, library, "{place}: graph of {}", found.name),
        }
    }
}

/// Compares every thread, checkpoint, value, parent, task and question with what the library itself reads.
pub(crate) async fn assert_library(saver: &dyn Checkpointer, library: &Json, release: &str) {
    let threads = library.as_object().expect("threads");
    let found = saver.threads(&ThreadQuery::new()).await.expect("lists");
    let ids = sorted(found.iter().map(|thread| thread.thread.to_string()).collect());
    assert_eq!(ids, sorted(threads.keys().cloned().collect()), "{release}");
    for (thread, library) in threads {
        assert_thread(saver, thread, library, release).await;
    }
}

/// Compares a thread with what the library itself reads of it.
async fn assert_thread(saver: &dyn Checkpointer, thread: &str, library: &Json, release: &str) {
    let id = ThreadId::from(thread);
    let history = library["history"].as_array().expect("a history");
    let query = ListQuery::new().thread(id.clone()).ns("");
    let states = saver.foreign_history(&query).await.expect("reads");
    assert_eq!(states.len(), history.len(), "{release} {thread}");
    let heads = saver.heads(&query).await.expect("reads");
    for ((state, head), library) in states.iter().zip(&heads).zip(history) {
        let place = format!("{release} {thread} step {}", library["step"]);
        let tuple = saver
            .get(&id, "", Some(&head.id))
            .await
            .expect("reads")
            .expect("there");
        assert_state(state, library, &tuple.checkpoint.channel_versions, &place);
        // Only what reads values knows which of them were rebuilt.
        let mut read = state.checkpoint.clone().expect("a checkpoint");
        read.metadata.user.remove("rebuilt");
        assert_eq!(&read, head, "{place}");
        let one = StateRef::at(id.clone(), head.id.clone());
        let one = saver.foreign_state(&one).await.expect("reads").expect("there");
        assert_eq!(&one, state, "{place}: read by itself");
    }
    let nested = library["nested"].as_object().expect("namespaces");
    let all = saver
        .heads(&ListQuery::new().thread(id.clone()))
        .await
        .expect("reads");
    let mut spaces: Vec<&str> = all
        .iter()
        .map(|head| &*head.ns)
        .filter(|ns| !ns.is_empty())
        .collect();
    spaces.sort_unstable();
    spaces.dedup();
    // The other file says nothing of nested graphs but where they are.
    assert!(
        spaces.len() == nested.len() || release.starts_with("more"),
        "{release} {thread}: {spaces:?}"
    );
    for (ns, checkpoints) in nested {
        let query = ListQuery::new().thread(id.clone()).ns(ns.as_str());
        let states = saver.foreign_history(&query).await.expect("reads");
        let checkpoints = checkpoints.as_array().expect("a list");
        assert_eq!(states.len(), checkpoints.len(), "{release} {thread} {ns}");
        for (state, library) in states.iter().zip(checkpoints) {
            let place = format!("{release} {thread} {ns} step {}", library["step"]);
            let head = state.checkpoint.as_ref().expect("a checkpoint");
            assert_eq!(head.id.as_str(), library["config"]["id"], "{place}");
            assert_eq!(
                head.parent.as_ref().map(CheckpointId::as_str),
                library["parent"]["id"].as_str(),
                "{place}"
            );
            assert_eq!(json!(head.metadata.step), library["step"], "{place}");
            assert_eq!(head.metadata.source.as_str(), library["source"], "{place}");
            let mut values = library["values"].clone();
            // Of nested graphs the library gives delta keys to their graph only.
            let mut shown = Json::from(&state.values);
            let deltas = head
                .metadata
                .user
                .get("counters_since_delta_snapshot")
                .and_then(Value::as_object);
            if let Some(shown) = shown.as_object_mut() {
                shown.retain(|key, _| {
                    values.get(key).is_some()
                        || !(key == "grown" || deltas.is_some_and(|deltas| deltas.contains_key(key)))
                });
            }
            // Releases of before 2025 mark in channels of their own which nodes ran.
            let members = values.as_object_mut().expect("values");
            members.retain(|key, value| !key.starts_with("start:") && value.as_str() != Some(key));
            assert_eq!(of_saver(&shown), of_library(&values), "{place}");
            assert!(
                state.tasks.iter().all(|task| !task.name.is_empty()),
                "{place}: {:?}",
                state.tasks
            );
        }
    }
}

#[tokio::test]
async fn every_checkpoint_of_every_release_is_what_the_library_reads() {
    for release in RELEASES.into_iter().chain([MORE, KINDS]) {
        let copy = Copy::of(release);
        let before = copy.files();
        let saver = copy.saver();
        assert_library(&*saver, &expected(release), release).await;
        drop(saver);
        assert_eq!(
            before,
            copy.files(),
            "{release}: no byte was written, and nothing was made"
        );
    }
}

/// Compares each thread by itself and lists those that differ.
async fn differences(saver: Arc<dyn Checkpointer>, library: Json, release: &str) -> Vec<String> {
    let Json::Object(threads) = library else {
        panic!("{release}: no threads")
    };
    let mut differ = Vec::new();
    for (thread, library) in threads {
        let (saver, place, name) = (saver.clone(), release.to_owned(), thread.clone());
        let compared = tokio::spawn(async move { assert_thread(&*saver, &name, &library, &place).await });
        if compared.await.is_err() {
            differ.push(format!("{release} {thread}"));
        }
    }
    differ
}

/// Programs that `make_random.py` drew. `SUPERSTEP_LANGGRAPH_DRAWN` names a folder with more: NAME.expected.json beside
/// NAME.db, or beside NAME.url with the address of a server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drawn_programs_are_read_as_the_library_reads_them() {
    let copy = Copy::of(DRAWN);
    let library = expected(DRAWN);
    let (mut count, mut differ) = (library.as_object().expect("threads").len(), Vec::new());
    differ.extend(differences(copy.saver(), library, DRAWN).await);
    let folder = std::env::var_os("SUPERSTEP_LANGGRAPH_DRAWN").map(PathBuf::from);
    for entry in folder
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder"))
    {
        let path = entry.expect("an entry").path();
        let saver = match path.extension().and_then(|ending| ending.to_str()) {
            Some("db") => LanggraphSaver::open(&path),
            Some("url") => LanggraphSaver::connect(fs::read_to_string(&path).expect("read").trim()).await,
            _ => continue,
        };
        let saver: Arc<dyn Checkpointer> = Arc::new(saver.expect("opens"));
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let library = fs::read(path.with_extension("expected.json")).expect("read");
        let library: Json = serde_json::from_slice(&library).expect("JSON");
        count += library.as_object().expect("threads").len();
        differ.extend(differences(saver, library, &name).await);
    }
    println!("{count} programs, {} differ", differ.len());
    assert!(
        count >= 20 && differ.is_empty(),
        "{} of {count} differ: {differ:?}",
        differ.len()
    );
}

#[tokio::test]
async fn threads_and_questions_are_listed_with_their_status() {
    for release in RELEASES {
        let copy = Copy::of(release);
        let saver = copy.saver();
        let threads = saver.threads(&ThreadQuery::new()).await.expect("lists");
        let status = |name: &str| {
            let found = threads.iter().find(|thread| thread.thread.as_str() == name);
            found.expect("listed").status()
        };
        assert_eq!(status("done"), ThreadStatus::Idle, "{release}");
        assert_eq!(status("waiting"), ThreadStatus::Interrupted, "{release}");
        // It failed before its first node, of which the library stores nothing.
        assert_eq!(status("failed"), ThreadStatus::Pending, "{release}");
        assert!(
            threads.is_sorted_by(|a, b| a.head.id >= b.head.id),
            "{release}: the newest first"
        );
        let asking = ThreadQuery::new().status(ThreadStatus::Interrupted);
        assert!(
            saver.count_threads(&asking).await.expect("counts") >= 1,
            "{release}"
        );
        assert_eq!(
            saver.count_threads(&ThreadQuery::new()).await.expect("counts"),
            4,
            "{release}"
        );
        let mut pages = Vec::new();
        let mut after = None;
        while let Some(thread) = saver
            .threads(&ThreadQuery::new().after(after.clone()).limit(1))
            .await
            .expect("lists")
            .pop()
        {
            after = Some(thread.place());
            pages.push(thread);
        }
        assert_eq!(pages, threads, "{release}: page by page");
        let waiting = WaitingQuery::new().thread(ThreadId::from("waiting"));
        let waiting = saver.waiting(&waiting).await.expect("lists");
        assert_eq!(waiting.len(), 1, "{release}");
        assert!(
            waiting[0].is_newest && waiting[0].tasks == 1,
            "{release}: {waiting:?}"
        );
        let address = CheckpointAddress::new("waiting", "", waiting[0].checkpoint.clone());
        let writes = saver.writes_of(address).await.expect("reads");
        let asked = questions(&writes);
        assert_eq!(
            Json::from(&asked[0].value),
            json!({"question": "Pay 43.50?", "draft": "Dear customer, 43.50 EUR."}),
            "{release}"
        );
        assert_eq!(asked[0].id.as_str().len(), 32, "{release}: {asked:?}");
        assert!(
            writes
                .iter()
                .any(|row| &*row.task_path == "~__pregel_pull, review"),
            "{release}: a path that no row has is made: {writes:?}"
        );
    }
}

#[tokio::test]
async fn failures_and_questions_of_parallel_tasks_are_told_apart() {
    let copy = Copy::of(MORE);
    let saver = copy.saver();
    let thread = async |id: &str| saver.thread(&id.into()).await.expect("reads").expect("there");
    let fails = thread("fails").await;
    assert_eq!((fails.status(), fails.head.failed), (ThreadStatus::Error, 1));
    let parallel = thread("parallel").await;
    assert_eq!(parallel.head.interrupted, 3, "one of four was answered");
    let now = saver
        .foreign_state(&StateRef::live("parallel"))
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(now.next.len(), 3, "{:?}", now.next);
    assert_eq!(now.interrupts.len(), 3, "{:?}", now.interrupts);
    let waiting = saver.waiting(&WaitingQuery::new()).await.expect("lists");
    let places: Vec<(&str, u32)> = waiting.iter().map(|at| (at.thread.as_str(), at.tasks)).collect();
    assert_eq!(places, [("deep", 1), ("parallel", 3)], "the oldest first");
    assert_eq!(saver.count_waiting().await.expect("counts"), 4);
    let deltas = saver
        .get(&"deltas".into(), "", None)
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(
        Json::from(deltas.checkpoint.metadata.user.get("rebuilt").expect("named")),
        json!(["messages"])
    );
    let messages = deltas.checkpoint.channel_values["messages"]
        .as_array()
        .expect("a list")
        .len();
    assert_eq!(messages, 15);
    let keys = ["messages".into()];
    let values = saver
        .values(&"deltas".into(), "", None, &keys)
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(values["messages"], deltas.checkpoint.channel_values["messages"]);
}

#[tokio::test]
async fn who_wrote_a_value_is_told_without_the_graph() {
    for release in RELEASES {
        let copy = Copy::of(release);
        let saver = copy.saver();
        let why = async |pointer: &str| {
            let at = StateRef::live("done");
            let found = saver.foreign_provenance(&at, pointer, 5).await.expect("found");
            found.writes.into_iter().next().expect("a write")
        };
        let verdict = why("/verdict").await;
        assert_eq!(verdict.origin, WriteOrigin::Task, "{release}");
        assert_eq!(&*verdict.writers[0].node, "decide", "{release}");
        assert_eq!(
            Json::from(&verdict.after.expect("a value")),
            json!("paid"),
            "{release}"
        );
        let total = why("/total").await;
        let nodes: Vec<&str> = total.writers.iter().map(|writer| &*writer.node).collect();
        assert_eq!(nodes, ["cost", "cost"], "{release}: both packets");
        assert!(total.writers.iter().all(|writer| writer.packet), "{release}");
        let first = why("/messages/0/content").await;
        assert_eq!(first.origin, WriteOrigin::Input, "{release}");
        let what = why("/values/policy/limit").await;
        assert_eq!(&*what.writers[0].node, "read", "{release}");
    }
}

#[tokio::test]
async fn what_takes_space_is_measured() {
    let copy = Copy::of("sqlite-1.2.24");
    let saver = copy.saver();
    let usage = saver.usage().await.expect("measures");
    assert_eq!(usage.bytes, fs::metadata(&copy.path).expect("there").len());
    assert_eq!(usage.threads.len(), 4);
    let done = usage
        .threads
        .iter()
        .find(|thread| thread.thread.as_str() == "done")
        .expect("listed");
    assert!(done.bytes > 10_000 && done.checkpoints == 11, "{done:?}");
    let lens = saver.breakdown(&"done".into()).await.expect("measures");
    assert_eq!(lens.checkpoints.len(), 11);
    let keys: Vec<&str> = lens.keys.iter().map(|key| &*key.key).collect();
    assert!(keys.contains(&"messages") && keys.contains(&"values"), "{keys:?}");
    assert!(saver.verify(false).await.expect("reads").is_sound());
}

#[tokio::test]
async fn nothing_can_be_changed() {
    let copy = Copy::of("sqlite-1.2.24");
    let (before, saver) = (copy.files(), copy.saver());
    let commit = Commit {
        thread: "new".into(),
        ns: "".into(),
        writes: Vec::new(),
        put: None,
        claim: None,
    };
    let done = ThreadId::from("done");
    for refused in [
        saver.commit(commit.clone()).await,
        saver.commit_all(vec![commit]).await,
        saver.delete_thread(&done).await,
        saver.copy_thread(&done, &"copy".into()).await,
    ] {
        let error = refused.expect_err("refused");
        assert!(matches!(error, StorageError::OnlyRead { .. }), "{error:?}");
        assert!(
            error.to_string().contains("alone runs, answers, edits"),
            "{error}"
        );
    }
    let foreign = saver.foreign().expect("says that it is another program's");
    assert!(matches!(foreign.refusal(), StorageError::OnlyRead { .. }));
    let latest = superstep::checkpoint::Pruning::threads([done], superstep::checkpoint::Keep::Latest);
    assert!(saver.prune(&latest).await.is_err());
    drop(saver);
    assert_eq!(before, copy.files());
}

/// Leaves a file in WAL mode with commits in its log that are not in the file, as a program that was killed does.
fn with_log(copy: &Copy) {
    let conn = copy.write();
    conn.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    conn.pragma_update(None, "wal_autocheckpoint", 0).expect("set");
    conn.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .expect("set");
    copy_thread(&conn, "done", "from the log");
}

pub(crate) fn copy_thread(conn: &Connection, from: &str, to: &str) {
    for (table, columns) in [
        (
            "checkpoints",
            "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
        ),
        (
            "writes",
            "checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value",
        ),
    ] {
        let sql = format!(
            "INSERT INTO {table} (thread_id, {columns}) SELECT ?2, {columns} FROM {table} WHERE thread_id = ?1"
        );
        conn.execute(&sql, [from, to]).expect("copied");
    }
}

#[tokio::test]
async fn a_log_is_read_and_stays_when_ours_is_the_last_to_close() {
    let copy = Copy::of("sqlite-1.2.24");
    with_log(&copy);
    let bytes = |ending: &str| fs::read(format!("{}{ending}", copy.path.display())).unwrap_or_default();
    let before = (bytes(""), bytes("-wal"));
    assert!(!before.1.is_empty(), "there is a log");
    let saver = copy.saver();
    assert!(
        saver
            .thread(&"from the log".into())
            .await
            .expect("reads")
            .is_some()
    );
    let all = saver.list(&ListQuery::new()).await.expect("reads");
    assert!(all.len() > 20);
    drop(saver);
    assert!(
        before == (bytes(""), bytes("-wal")),
        "no byte of the file or of its log was written"
    );
    // With nothing in the log and nobody there, nothing is made either.
    let conn = copy.write();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("folded");
    drop(conn);
    let before = copy.files();
    assert_eq!(
        before.len(),
        1,
        "the log went with its last user: {:?}",
        before.keys()
    );
    let saver = copy.saver();
    assert_eq!(saver.count_threads(&ThreadQuery::new()).await.expect("counts"), 5);
    let opened = copy.files();
    drop(saver);
    assert!(before == opened && before == copy.files(), "{:?}", opened.keys());
}

#[tokio::test]
async fn a_program_that_writes_is_followed_and_never_waits() {
    let copy = Copy::of("sqlite-1.2.24");
    let conn = copy.write();
    conn.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    conn.busy_timeout(std::time::Duration::ZERO).expect("set");
    let saver = copy.saver();
    let mut last = saver
        .coordination()
        .expect("offered")
        .changes()
        .await
        .expect("looks");
    for number in 0..50 {
        let thread = format!("live {number}");
        // A writer that waits for nobody would fail here if one of our reads were still open to it.
        copy_thread(&conn, "done", &thread);
        let now = saver
            .coordination()
            .expect("offered")
            .changes()
            .await
            .expect("looks");
        assert_ne!(now, last, "{number}: the change is seen");
        last = now;
        let found = saver
            .thread(&thread.as_str().into())
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(found.checkpoints, 7, "{number}");
        assert_eq!(
            saver.count_threads(&ThreadQuery::new()).await.expect("counts"),
            5 + number
        );
    }
    assert_eq!(
        saver
            .coordination()
            .expect("offered")
            .changes()
            .await
            .expect("looks"),
        last,
        "and nothing is seen where nothing was stored"
    );
    let folded: i64 = conn
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .expect("folds");
    assert_eq!(folded, 0, "no read holds the log");
    // A program that begins while ours looks at a file which nobody had open.
    drop(conn);
    let before = saver.count_threads(&ThreadQuery::new()).await.expect("counts");
    let conn = copy.write();
    copy_thread(&conn, "done", "one more");
    assert_eq!(
        saver.count_threads(&ThreadQuery::new()).await.expect("counts"),
        before + 1
    );
}

#[tokio::test]
async fn chains_that_do_not_sort_and_chains_that_are_round_end() {
    let copy = Copy::of("sqlite-1.0.5");
    let conn = copy.write();
    let ids: Vec<String> = {
        let mut statement = conn
            .prepare("SELECT checkpoint_id FROM checkpoints WHERE thread_id = 'done' AND checkpoint_ns = '' ORDER BY 1")
            .expect("sound");
        let rows = statement.query_map([], |row| row.get(0)).expect("read");
        rows.map(|id| id.expect("text")).collect()
    };
    // The newest by its id is the parent of the one before it.
    let (oldest, middle, newest) = (&ids[0], &ids[ids.len() - 2], &ids[ids.len() - 1]);
    let parent = |of: &str, to: &str| {
        let sql = "UPDATE checkpoints SET parent_checkpoint_id = ?2 WHERE thread_id = 'done' AND checkpoint_id = ?1";
        conn.execute(sql, [of, to]).expect("set");
    };
    parent(middle, newest);
    parent(newest, oldest);
    let saver = copy.saver();
    let heads = saver
        .heads(&ListQuery::new().thread("done").ns(""))
        .await
        .expect("reads");
    let head = heads
        .iter()
        .find(|head| head.id.as_str() == middle)
        .expect("there")
        .clone();
    let thread = ThreadId::from("done");
    let mut lineage = superstep::inspect::Lineage::from(&*saver, &thread, [head.clone()]);
    let (line, _) = lineage.line(&head, 100).await.expect("reads");
    let line: Vec<&str> = line.iter().map(|head| head.id.as_str()).collect();
    assert_eq!(line, [newest, oldest], "the parents are followed");
    let met = lineage
        .common_ancestor(&head.id, &CheckpointId::from(&*ids[1]))
        .await
        .expect("reads");
    assert_eq!(met.as_ref().map(CheckpointId::as_str), Some(&**oldest));
    // Round: the oldest continues the newest.
    parent(oldest, middle);
    let mut lineage = superstep::inspect::Lineage::from(&*saver, &thread, [head.clone()]);
    let (line, more) = lineage.line(&head, usize::MAX).await.expect("ends");
    assert_eq!((line.len(), more), (2, false));
    let found = saver
        .foreign_provenance(&StateRef::at("done", head.id.clone()), "/log", 3)
        .await;
    assert!(found.is_ok(), "{found:?}");
}

#[tokio::test]
async fn damaged_rows_are_named_and_the_rest_is_shown() {
    let copy = Copy::of("sqlite-1.2.24");
    let conn = copy.write();
    let newest = |thread: &str| -> String {
        let sql = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ''";
        conn.query_row(sql, [thread], |row| row.get(0)).expect("there")
    };
    let set = |thread: &str, column: &str, value: &dyn rusqlite::ToSql| {
        let sql = format!("UPDATE checkpoints SET {column} = ?3 WHERE thread_id = ?1 AND checkpoint_id = ?2");
        conn.execute(&sql, params![thread, newest(thread), value])
            .expect("set");
    };
    let all = copy
        .saver()
        .heads(&ListQuery::new().thread("done").ns(""))
        .await
        .expect("reads")
        .len();
    let damage = async |thread: &str| {
        let saver = copy.saver();
        let heads = saver
            .heads(&ListQuery::new().thread(thread).ns(""))
            .await
            .expect("lists the rest");
        assert!(
            heads[1..]
                .iter()
                .all(|head| !head.metadata.user.contains_key("damage"))
        );
        let named = heads[0]
            .metadata
            .user
            .get("damage")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        (heads.len(), named)
    };
    for (column, value, word) in [
        (
            "checkpoint",
            &5_i64 as &dyn rusqlite::ToSql,
            "its checkpoint is an integer",
        ),
        ("checkpoint", &"words", "no dictionary"),
        (
            "checkpoint",
            &[0x81_u8, 0xa1].as_slice(),
            "in the middle of a value",
        ),
        ("checkpoint", &rusqlite::types::Null, "its checkpoint is null"),
        ("type", &"pickle", "never followed"),
        ("type", &"msgpack+aes", "encrypted"),
        ("type", &"yaml", "not known"),
    ] {
        let copied = format!("{column} {word}");
        copy_thread(&conn, "done", &copied);
        set(&copied, column, value);
        let (count, named) = damage(&copied).await;
        assert_eq!(count, all, "{word}");
        assert!(named.contains(word), "{word}: {named}");
        let error = copy
            .saver()
            .get(&copied.as_str().into(), "", None)
            .await
            .expect_err("it cannot be read");
        let text = error.to_string();
        assert!(
            matches!(error, StorageError::Corrupt { .. }) && text.contains(&copied),
            "{text}"
        );
    }
    for (value, word) in [
        (&7_i64 as &dyn rusqlite::ToSql, "its metadata is an integer"),
        (&"{", "its metadata: "),
    ] {
        let copied = format!("metadata {word}");
        copy_thread(&conn, "done", &copied);
        set(&copied, "metadata", value);
        let (_, named) = damage(&copied).await;
        assert!(named.contains(word), "{word}: {named}");
        let read = copy
            .saver()
            .get(&copied.as_str().into(), "", None)
            .await
            .expect("its values can be read");
        assert_eq!(
            Json::from(&read.expect("there").checkpoint.channel_values["verdict"]),
            json!("paid")
        );
    }
    // A value of a write by itself.
    let sql = "UPDATE writes SET value = ?1 WHERE thread_id = 'done' AND channel = 'verdict'";
    conn.execute(sql, [&[0xc1_u8][..]]).expect("set");
    let states = copy
        .saver()
        .foreign_history(&ListQuery::new().thread("done").ns(""))
        .await
        .expect("reads");
    let decided = states
        .iter()
        .flat_map(|state| &state.tasks)
        .find(|task| &*task.name == "decide")
        .expect("there");
    let shown = decided.result.as_ref().expect("finished")["verdict"].clone();
    assert_eq!(Json::from(&shown["$class"]), json!("unreadable"), "{shown}");
    let threads = copy.saver().threads(&ThreadQuery::new()).await.expect("lists");
    assert_eq!(threads.len(), 4 + 9, "every thread is listed");
    conn.execute(
        "UPDATE checkpoints SET thread_id = x'00' WHERE thread_id = 'failed'",
        [],
    )
    .expect("set");
    let saver = copy.saver();
    let found = saver.verify(false).await.expect("reads everything");
    let named = |word: &str| found.damage.iter().any(|damage| damage.what.contains(word));
    for word in [
        "an integer",
        "pickled",
        "encrypted",
        "verdict of task",
        "thread_id is no text",
    ] {
        assert!(named(word), "{word}: {:?}", found.damage);
    }
    assert!(saver.verify(true).await.is_err(), "nothing is repaired");
}

#[tokio::test]
async fn other_files_and_what_stands_in_a_tables_place_are_refused() {
    let refused = |path: &Path, word: &str| {
        let error = LanggraphSaver::open(path).map(drop).expect_err(word).to_string();
        assert!(error.contains(word), "{word}: {error}");
    };
    let changed = |sql: &str, word: &str| {
        let copy = Copy::of("sqlite-1.2.24");
        copy.write().execute_batch(sql).expect("made");
        let before = copy.files();
        refused(&copy.path, word);
        assert!(before == copy.files(), "{word}");
    };
    changed(
        "ALTER TABLE writes RENAME TO w; CREATE VIEW writes AS SELECT * FROM w",
        "\"writes\" is a view",
    );
    changed("DROP TABLE writes", "no table \"writes\"");
    changed(
        "ALTER TABLE checkpoints DROP COLUMN metadata",
        "no column \"metadata\"",
    );
    changed(
        "ALTER TABLE checkpoints DROP COLUMN metadata; ALTER TABLE checkpoints ADD COLUMN metadata AS (zeroblob(1000))",
        "is calculated",
    );
    changed(
        "CREATE TRIGGER t AFTER INSERT ON writes BEGIN DELETE FROM checkpoints; END",
        "the trigger \"t\"",
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    refused(&folder.path().join("none.db"), "there is no such file");
    refused(folder.path(), "it is no file");
    let words = folder.path().join("words.txt");
    fs::write(&words, "words ".repeat(1000)).expect("written");
    refused(&words, "no SQLite file");
    let copy = Copy::of("sqlite-1.2.24");
    let whole = fs::read(&copy.path).expect("read");
    // Cut off, the rest of the file says more than it has.
    fs::write(&copy.path, &whole[..whole.len() / 3]).expect("written");
    match LanggraphSaver::open(&copy.path) {
        Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
        Ok(saver) => {
            let error = saver
                .list(&ListQuery::new())
                .await
                .expect_err("pages are missing")
                .to_string();
            assert!(error.contains("damaged"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_page_of_noise_is_named_and_the_file_stays() {
    let copy = Copy::of("sqlite-1.2.24");
    let size: u32 = copy
        .write()
        .query_row("PRAGMA page_size", [], |row| row.get(0))
        .expect("a size");
    let size = size as usize;
    let whole = fs::read(&copy.path).expect("read");
    let mut named = 0;
    for page in 1..whole.len() / size {
        let mut noisy = whole.clone();
        for (place, byte) in noisy[page * size..(page + 1) * size].iter_mut().enumerate() {
            *byte = (place * 131 % 251) as u8;
        }
        fs::write(&copy.path, &noisy).expect("written");
        let Ok(saver) = LanggraphSaver::open(&copy.path) else {
            named += 1;
            continue;
        };
        // Whatever is read is read, or refused with a word; nothing panics and nothing is written.
        for thread in ["done", "waiting", "forked", "failed"] {
            let query = ListQuery::new().thread(thread).ns("");
            if let Err(error) = saver.foreign_history_of(&query).await {
                assert!(!error.is_empty());
                named += 1;
            }
        }
        assert!(fs::read(&copy.path).expect("read") == noisy, "page {page}");
    }
    assert!(named > 5, "{named} damaged pages were met");
}

/// Reads a history for its word only.
trait Histories {
    async fn foreign_history_of(&self, query: &ListQuery) -> Result<usize, String>;
}

impl Histories for LanggraphSaver {
    async fn foreign_history_of(&self, query: &ListQuery) -> Result<usize, String> {
        let saver: &dyn Checkpointer = self;
        let states = saver.foreign_history(query).await;
        states
            .map(|states| states.len())
            .map_err(|error| error.to_string())
    }
}

/// Encodes a checkpoint with one value.
fn checkpoint(id: &str, value: &[u8]) -> Vec<u8> {
    let text = |text: &str| {
        [
            &[0xa0 | u8::try_from(text.len()).expect("short")][..],
            text.as_bytes(),
        ]
        .concat()
    };
    let long = |text: &str| {
        [
            &[0xd9, u8::try_from(text.len()).expect("short")][..],
            text.as_bytes(),
        ]
        .concat()
    };
    [
        &[0x84][..],
        &text("v"),
        &[4],
        &text("ts"),
        &long("2026-03-01T09:30:00+00:00"),
        &text("id"),
        &long(id),
        &text("channel_values"),
        &[0x81],
        &text("big"),
        value,
    ]
    .concat()
}

#[tokio::test]
async fn deep_and_huge_values_are_bounded() {
    let copy = Copy::of("sqlite-1.2.24");
    let conn = copy.write();
    let store = |thread: &str, value: &[u8]| {
        let id = "1f1ec1b5-b30e-6d35-8005-4e465a8c52c2";
        let sql = "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata) \
                   VALUES (?1, '', ?2, 'msgpack', ?3, '{\"source\": \"loop\", \"step\": 1}')";
        conn.execute(sql, params![thread, id, checkpoint(id, value)])
            .expect("stored");
    };
    let mut deep = vec![0x91; 1_000_000];
    deep.push(0xc0);
    store("deep", &deep);
    let mut bytes = vec![0xc6];
    bytes.extend(8_000_000_u32.to_be_bytes());
    bytes.resize(8_000_005, 7);
    store("long", &bytes);
    let mut many = vec![0xdd];
    many.extend(4_000_000_u32.to_be_bytes());
    many.resize(4_000_005, 1);
    store("many", &many);
    let saver = copy.saver();
    for (thread, word) in [
        ("deep", "deeper than 96 levels"),
        ("long", "\"length\":8000000"),
        ("many", "more than 2000000 values"),
    ] {
        let tuple = saver
            .get(&thread.into(), "", None)
            .await
            .expect("reads")
            .expect("there");
        let shown = tuple.checkpoint.channel_values["big"].to_string();
        assert!(
            shown.contains(word) && shown.len() < 10_000,
            "{thread}: {}",
            &shown[..shown.len().min(300)]
        );
    }
    conn.execute(
        "UPDATE checkpoints SET checkpoint = zeroblob(70000000) WHERE thread_id = 'long'",
        [],
    )
    .expect("set");
    let error = saver
        .get(&"long".into(), "", None)
        .await
        .expect_err("not read")
        .to_string();
    assert!(error.contains("70000000 bytes, more than"), "{error}");
    assert_eq!(saver.count_threads(&ThreadQuery::new()).await.expect("counts"), 7);
}

#[tokio::test]
async fn a_file_is_recognized_by_its_content() {
    let copy = Copy::of("sqlite-0.6.11");
    let path = copy.path.display().to_string();
    let own = copy.folder.path().join("own.db");
    superstep_storage::open(&format!("sqlite:{}", own.display()))
        .await
        .expect("a new one");
    let recognized = superstep_storage::recognized;
    assert_eq!(recognized(&path), format!("langgraph:{path}"));
    assert_eq!(recognized(&format!("sqlite:{path}")), format!("langgraph:{path}"));
    for other in [
        own.display().to_string(),
        "sqlite:none.db".to_owned(),
        "memory:".to_owned(),
        "nonsense:x".to_owned(),
    ] {
        assert_eq!(recognized(&other), other);
    }
    let storage = superstep_storage::open(&recognized(&path)).await.expect("opens");
    assert!(storage.checkpointer.foreign().is_some());
    let put = superstep::store::StoreOp::put(&["n"], "k", superstep::json!({"a": 1})).expect("sound");
    let refused = storage
        .store
        .batch(vec![put])
        .await
        .expect_err("no memory")
        .to_string();
    assert!(refused.contains("LangGraph keeps it elsewhere"), "{refused}");
    let missing = superstep_storage::open("langgraph:none.db")
        .await
        .expect_err("not made")
        .to_string();
    assert!(missing.contains("no such file"), "{missing}");
    assert!(
        superstep_storage::open_existing("langgraph:none.db")
            .await
            .expect("looks")
            .is_none()
    );
    let read_only = Connection::open_with_flags(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("opens");
    drop(read_only);
}

/// The table of `SqliteStore`, in the file in which the threads are.
#[tokio::test]
async fn what_the_program_remembers_across_threads_is_read() {
    let copy = Copy::of("sqlite-1.2.24");
    copy.write()
        .execute_batch(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, \
             created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, \
             expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key)); \
             INSERT INTO store (prefix, key, value, created_at, updated_at) VALUES \
             ('users.ada', 'likes', CAST('{\"text\":\"cats\",\"n\":1}' AS BLOB), '2026-03-01 09:30:00', '2026-03-02 09:30:00'), \
             ('users.ada', 'home', CAST('{\"city\":\"Zürich\"}' AS BLOB), '2026-03-01 09:30:00', '2026-03-01 09:30:01'), \
             ('users.bob', 'likes', '{\"text\":\"dogs\"}', '2026-03-01 09:30:00', '2026-03-03 09:30:00'), \
             ('notes', 'broken', '{', '2026-03-01 09:30:00', '2026-03-01 09:30:00')",
        )
        .expect("made");
    let before = copy.files();
    let storage = superstep_storage::open(&format!("langgraph:{}", copy.path.display()))
        .await
        .expect("opens");
    let store = storage.store;
    let home = store
        .get(&["users", "ada"], "home")
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(Json::from(&Value::Object(home.value)), json!({"city": "Zürich"}));
    assert_eq!(
        (home.created_at, home.updated_at),
        (1_772_357_400_000, 1_772_357_401_000)
    );
    let found = async |query: superstep::store::StoreQuery| {
        let items = store.search(query).await.expect("searches");
        items
            .into_iter()
            .map(|item| format!("{}/{}", item.namespace.join("."), item.key))
            .collect::<Vec<_>>()
    };
    let under = superstep::store::StoreQuery::under;
    assert_eq!(
        found(under(&["users"])).await,
        ["users.bob/likes", "users.ada/likes", "users.ada/home"]
    );
    assert_eq!(found(under(&["users"]).query("cats")).await, ["users.ada/likes"]);
    let broken = store
        .get(&["notes"], "broken")
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(
        broken.value.get("$class").and_then(Value::as_str),
        Some("unreadable")
    );
    let found = copy.saver().verify(false).await.expect("reads everything");
    assert_eq!(found.items, 4);
    let damaged: Vec<&str> = found.damage.iter().map(|damage| &*damage.what).collect();
    assert!(
        matches!(damaged[..], [what] if what.starts_with("item broken of notes: ")),
        "{damaged:?}"
    );
    let refused = store
        .put(&["a"], "k", superstep::json!({"n": 1}))
        .await
        .expect_err("only read");
    assert!(refused.to_string().contains("alone runs"), "{refused}");
    assert!(before == copy.files(), "nothing was written");
}

/// What savers of before 2024-09 and those of JavaScript store: JSON, with classes as constructors, and versions as numbers.
#[tokio::test]
async fn checkpoints_in_json_are_read() {
    let copy = Copy::of("sqlite-0.6.11");
    let conn = copy.write();
    let message = |class: &str, kwargs: Json| json!({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", class], "kwargs": kwargs});
    let stored = |id: &str, values: Json, versions: Json, seen: Json, sends: Json| {
        json!({
            "v": 1, "id": id, "ts": "2024-06-01T10:00:00.000Z", "channel_values": values,
            "channel_versions": versions, "versions_seen": seen, "pending_sends": sends,
        })
        .to_string()
    };
    let (one, two) = (
        "1ef1ec1b-0000-6000-8000-000000000001",
        "1ef1ec1b-0000-6000-8001-000000000002",
    );
    let first = stored(
        one,
        json!({"messages": [message("HumanMessage", json!({"content": "Hi"}))], "start:agent": "__start__"}),
        json!({"messages": 2, "start:agent": 2, "__start__": 2}),
        json!({"__start__": {"__start__": 1}}),
        json!([]),
    );
    let called = json!([{"name": "price", "args": {"what": "lamp"}, "id": "call_1", "type": "tool_call"}]);
    let second = stored(
        two,
        json!({
            "messages": [message("HumanMessage", json!({"content": "Hi"})),
                message("AIMessage", json!({"content": "", "tool_calls": called}))],
            "policy": {"lc": 2, "type": "constructor", "id": ["shop", "Policy"], "kwargs": {"limit": 5}},
            "agent": "agent",
        }),
        json!({"messages": 3, "start:agent": 3, "__start__": 2, "agent": 3, "policy": 3}),
        json!({"__start__": {"__start__": 1}, "agent": {"start:agent": 2}}),
        json!([{"lc": 2, "type": "constructor", "id": ["langgraph", "types", "Send"], "args": ["tools", {"what": "lamp"}], "kwargs": {}}]),
    );
    for (id, parent, checkpoint, step) in [(one, None, first, 0), (two, Some(one), second, 1)] {
        let sql = "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, \
                   metadata) VALUES ('js', '', ?1, ?2, 'json', ?3, ?4)";
        let metadata = json!({"source": "loop", "step": step, "writes": {"agent": {"n": 1}}}).to_string();
        conn.execute(sql, params![id, parent, checkpoint, metadata])
            .expect("stored");
    }
    let saver = copy.saver();
    let states = saver
        .foreign_history(&ListQuery::new().thread("js").ns(""))
        .await
        .expect("reads");
    let next: Vec<Vec<&str>> = states
        .iter()
        .map(|state| state.next.iter().map(|name| &**name).collect())
        .collect();
    assert_eq!(
        next,
        [vec!["tools"], vec!["agent"]],
        "a packet, and a node whose trigger is newer"
    );
    assert_eq!(
        Json::from(&states[0].values),
        json!({
            "messages": [{"type": "human", "content": "Hi"}, {"type": "ai", "content": "", "tool_calls": called}],
            "policy": {"$class": "shop.Policy", "limit": 5},
        })
    );
    assert_eq!(Json::from(&states[0].tasks[0].input), json!({"what": "lamp"}));
    let head = states[0].checkpoint.as_ref().expect("a checkpoint");
    assert_eq!(
        head.metadata.user.get("writes").map(Json::from),
        Some(json!({"agent": {"n": 1}}))
    );
    let mut updated: Vec<&str> = head
        .updated_channels
        .iter()
        .flatten()
        .map(|name| &**name)
        .collect();
    updated.sort_unstable();
    assert_eq!(
        updated,
        ["messages", "policy"],
        "told by the versions where it is not stored"
    );
}

#[tokio::test]
async fn a_file_that_a_newer_saver_gave_a_column_is_read_on() {
    let copy = Copy::of("sqlite-0.2.60");
    let saver = copy.saver();
    let read = async || {
        saver
            .foreign_history(&ListQuery::new().thread("done").ns(""))
            .await
            .expect("reads")
    };
    let before = read().await;
    copy.write()
        .execute_batch("ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''")
        .expect("added");
    assert_eq!(before, read().await);
}

/// The key of what `make_encrypted.py` makes.
pub(crate) const KEY: &[u8] = b"a key of thirty-two bytes, 12345";

#[tokio::test]
async fn encrypted_checkpoints_are_read_with_their_key_and_named_without() {
    let release = "encrypted-1.2.24";
    let copy = Copy::of(release);
    let with = |key: Option<AesKey>| -> Arc<dyn Checkpointer> {
        Arc::new(LanggraphSaver::open(&copy.path).expect("opens").with_key(key))
    };
    assert_library(&*with(Some(AesKey::new(KEY))), &expected(release), release).await;
    assert!(
        !format!(
            "{:?}",
            LanggraphSaver::open(&copy.path)
                .expect("opens")
                .with_key(AesKey::new(KEY))
        )
        .contains("thirty"),
        "the key is not shown"
    );
    // Another key takes effect at once, and is a change.
    let saver = LanggraphSaver::open(&copy.path).expect("opens").with_key(None);
    let mut last = saver.changes().await.expect("looks");
    for (number, (key, sealed)) in [
        (None, Some(Sealed::NoKey)),
        (Some("a key of thirty-two bytes, 12346"), Some(Sealed::WrongKey)),
        (
            Some("a key of thirty bytes, 1234567"),
            Some(Sealed::KeyLength(30)),
        ),
        (Some("a key of thirty-two bytes, 12345"), None),
        (None, Some(Sealed::NoKey)),
    ]
    .into_iter()
    .enumerate()
    {
        saver.set_key(key);
        assert_eq!(saver.sealed(), None, "nothing was read with it yet");
        assert_eq!(
            saver.get(&"sealed".into(), "", None).await.is_ok(),
            sealed.is_none()
        );
        assert_eq!(saver.sealed(), sealed);
        let now = saver.changes().await.expect("looks");
        assert_eq!(now != last, number > 0, "{key:?}");
        last = now;
        saver.set_key(key);
        assert_eq!(
            saver.changes().await.expect("looks"),
            last,
            "the same key is no change"
        );
    }
    let mut wrong = KEY.to_vec();
    wrong[31] = b'6';
    for (key, word) in [
        (None, "in the variable LANGGRAPH_AES_KEY or as a secret"),
        (Some(&wrong[..]), "is not its key"),
        (Some(&KEY[..16]), "is not its key"),
        (Some(&KEY[..31]), "31 bytes, where 16, 24 or 32 are needed"),
    ] {
        let saver = with(key.map(AesKey::new));
        let threads = saver.threads(&ThreadQuery::new()).await.expect("lists");
        assert_eq!(threads.len(), 1, "{word}");
        let query = ListQuery::new().thread("sealed").ns("");
        let heads = saver.heads(&query).await.expect("lists");
        assert_eq!(heads.len(), 3, "{word}");
        for head in &heads {
            let user = &head.metadata.user;
            assert_eq!(
                user.get("customer").and_then(Value::as_str),
                Some("c-17"),
                "{word}"
            );
            let named = user.get("damage").and_then(Value::as_str).unwrap_or_default();
            assert!(named.contains(word), "{word}: {named}");
        }
        assert_eq!(heads[0].interrupted, 1, "{word}: who asked is not encrypted");
        let error = saver.get(&"sealed".into(), "", None).await.expect_err("closed");
        assert!(error.to_string().contains(word), "{word}: {error}");
        assert!(!error.to_string().contains("thirty"), "{error}");
        let address = CheckpointAddress::new("sealed", "", heads[0].id.clone());
        let rows = saver.writes_of(address).await.expect("reads");
        let shown = Json::from(&rows[0].write.value).to_string();
        assert!(shown.contains(word), "{word}: {shown}");
    }
    // A byte that was changed is noticed.
    copy.write()
        .execute(
            "UPDATE checkpoints SET checkpoint = CAST(substr(checkpoint, 1, 40) || x'00' || substr(checkpoint, 42) AS BLOB)",
            [],
        )
        .expect("changed");
    let error = with(Some(AesKey::new(KEY)))
        .get(&"sealed".into(), "", None)
        .await
        .expect_err("damaged");
    assert!(error.to_string().contains("its bytes are damaged"), "{error}");
}

/// Compares a thread of a JavaScript program with what its library reads.
pub(crate) async fn assert_javascript(saver: &dyn Checkpointer, library: &Json, release: &str) {
    let threads = library.as_object().expect("threads");
    assert_eq!(
        saver.count_threads(&ThreadQuery::new()).await.expect("counts"),
        threads.len() as u64,
        "{release}"
    );
    for (thread, history) in threads {
        let query = ListQuery::new().thread(thread.as_str()).ns("");
        let states = saver.foreign_history(&query).await.expect("reads");
        let history = history.as_array().expect("a history");
        assert_eq!(states.len(), history.len(), "{release} {thread}");
        for (state, library) in states.iter().zip(history) {
            let place = format!("{release} {thread} step {}", library["step"]);
            let head = state.checkpoint.as_ref().expect("a checkpoint");
            assert_eq!(head.id.as_str(), library["config"]["id"], "{place}");
            assert_eq!(
                head.parent.as_ref().map(CheckpointId::as_str),
                library["parent"]["id"].as_str(),
                "{place}"
            );
            assert_eq!(head.ts, library["created_at"], "{place}");
            assert_eq!(json!(head.metadata.step), library["step"], "{place}");
            assert_eq!(head.metadata.source.as_str(), library["source"], "{place}");
            let names = |names: &Json| {
                let names = names.as_array().expect("a list").iter();
                sorted(
                    names
                        .map(|name| name.as_str().expect("a name").to_owned())
                        .collect(),
                )
            };
            assert_eq!(
                names(&json!(state.next.iter().map(|name| &**name).collect::<Vec<_>>())),
                names(&library["next"]),
                "{place}"
            );
            let values = Json::from(&state.values);
            for key in ["log", "verdict", "total"] {
                // With what a reducer begins only the graph says.
                let begins = [json!([]), json!(0)].contains(&library[key]);
                if !(begins && values[key].is_null()) {
                    assert_eq!(values[key], library[key], "{place} {key}");
                }
            }
            let messages = values["messages"].as_array().cloned().unwrap_or_default();
            let messages: Vec<Json> = messages
                .iter()
                .map(|message| json!({"type": message["type"], "content": message["content"], "id": message["id"]}))
                .collect();
            assert_eq!(json!(messages), library["messages"], "{place}");
            let tasks = library["tasks"].as_array().expect("a list");
            assert_eq!(state.tasks.len(), tasks.len(), "{place}: {:?}", state.tasks);
            for task in tasks {
                let found = state.tasks.iter().find(|found| found.id.as_str() == task["id"]);
                let found = found.unwrap_or_else(|| panic!("{place}: no {task} in {:?}", state.tasks));
                assert_eq!(*found.name, *task["name"].as_str().expect("a name"), "{place}");
                let error = task["error"].as_str();
                assert_eq!(found.error.is_some(), error.is_some(), "{place}: {found:?}");
                assert!(
                    error.is_none_or(|error| found.error.as_deref().unwrap_or_default().contains(error)),
                    "{place}: {found:?}"
                );
                let asked: Vec<Json> = found
                    .interrupts
                    .iter()
                    .map(|asked| json!({"id": asked.id.as_str(), "value": Json::from(&asked.value)}))
                    .collect();
                assert_eq!(json!(asked), task["interrupts"], "{place}");
                let nested = match &found.state {
                    Some(TaskState::Ns(ns)) => Some(&**ns),
                    _ => None,
                };
                assert_eq!(nested, task["state"]["ns"].as_str(), "{place}");
            }
        }
    }
    let read = saver
        .foreign_history(&ListQuery::new().thread("done").ns(""))
        .await
        .expect("reads");
    assert_eq!(
        Json::from(&read[0].values["values"]),
        json!({
            "when": "2026-03-01T09:30:00.000Z",
            "tags": {"$class": "Set", "items": ["a", "b"]},
            "sizes": {"$class": "Map", "entries": [["s", 1], [2, "m"]]},
            "raw": {"$class": "bytes", "length": 2, "hex": "0001"},
            "pattern": {"$class": "RegExp", "pattern": "^a+$", "flags": "i"},
            "error": {"$class": "Error", "value": "too far"},
            "doc": {"pageContent": "text", "metadata": {"page": 3}, "id": {"$class": "undefined"}},
            "big": 1_152_921_504_606_847_000_u64, "none": null, "text": "Grüße 日 😀", "nested": [[1, {"a": []}]],
            "flag": false, "half": 0.5,
        }),
        "{release}"
    );
    let cost = read
        .iter()
        .flat_map(|state| &state.tasks)
        .find(|task| &*task.name == "cost");
    assert_eq!(
        Json::from(&cost.expect("a packet").input),
        json!({"line": {"what": "lamp", "cents": 4000}})
    );
    assert!(saver.verify(false).await.expect("reads").is_sound(), "{release}");
}

#[tokio::test]
async fn threads_of_a_javascript_program_are_what_its_library_reads() {
    let copy = Copy::of("javascript-1.7.3");
    let before = copy.files();
    let saver = copy.saver();
    assert_javascript(&*saver, &expected("javascript-1.7.3"), "sqlite").await;
    drop(saver);
    assert_eq!(before, copy.files(), "no byte was written");
}
