//! What the workbench knows beside the checkpoints: titles of threads, runs, how long tasks took and where they led,
//! and which file a draft became. One small SQLite file of its own, so that a backend for checkpoints needs to know
//! nothing of windows.

mod answer_chain;
mod answers;
mod background_writer;
mod breakpoints;
mod desk;
mod events;
mod overview;
mod pins;
mod run_records;
mod runs;
mod spans;
mod threads;
mod what_ifs;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;

use crate::wire::Problem;
use superstep_document::text;

use answer_chain::EntryOf;
pub(crate) use answers::{AnswerRow, PastAnswer, not_taken};
pub use answers::{past_answers, verify_answers};
pub(crate) use background_writer::BackgroundWriter;
pub(crate) use events::{RunLog, StoredEvents};
pub(crate) use overview::{RunOfThread, StoredSpan};
pub(crate) use run_records::Carried;
pub(crate) use run_records::RUN_RECORDS;
pub use run_records::{run_records, take_run_records};
pub(crate) use runs::{RunRow, TaskRow};
pub(crate) use threads::{Bookmark, ThreadRow};

/// How long another program may hold the file before writing fails; on a busy machine it may not come to let go.
const BUSY_WITHIN: std::time::Duration = std::time::Duration::from_secs(20);

/// One entry per schema version; never change one that was released.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE threads (
    thread_id  TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    graph_name TEXT NOT NULL,
    graph_key  TEXT NOT NULL,
    created_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    run_id     TEXT PRIMARY KEY,
    thread_id  TEXT NOT NULL,
    instance   TEXT NOT NULL,
    status     TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    problem    TEXT
) WITHOUT ROWID;
CREATE INDEX runs_of_thread ON runs (thread_id, started_at);
CREATE TABLE tasks (
    thread_id     TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    node          TEXT NOT NULL,
    millis        INTEGER NOT NULL,
    finished      INTEGER NOT NULL,
    targets       TEXT NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_id, task_id)
) WITHOUT ROWID;
CREATE TABLE moved (
    draft TEXT PRIMARY KEY,
    path  TEXT NOT NULL
) WITHOUT ROWID;
",
    "
CREATE TABLE bookmarks (
    thread_id     TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    name          TEXT NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_id)
) WITHOUT ROWID;
CREATE INDEX moved_to ON moved (path);
",
    "
CREATE TABLE exchanges (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL,
    task_id   TEXT NOT NULL,
    size      INTEGER NOT NULL,
    body      TEXT NOT NULL
);
CREATE INDEX exchanges_of_task ON exchanges (thread_id, task_id);
CREATE INDEX exchanges_by_size ON exchanges (size);
",
    "
ALTER TABLE threads ADD COLUMN place TEXT NOT NULL DEFAULT '';
CREATE INDEX threads_by_place ON threads (place);
",
    "
CREATE TABLE attempts (
    thread_id TEXT NOT NULL,
    task_id   TEXT NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (thread_id, task_id)
) WITHOUT ROWID;
",
    "
CREATE TABLE run_events (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    first     INTEGER NOT NULL,
    events    INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    body      BLOB NOT NULL
);
CREATE INDEX run_events_of_thread ON run_events (thread_id);
CREATE INDEX run_events_by_size ON run_events (size);
",
    "
CREATE TABLE breakpoints (
    graph TEXT PRIMARY KEY,
    body  TEXT NOT NULL
) WITHOUT ROWID;
",
    "
ALTER TABLE threads ADD COLUMN context TEXT;
",
    "
ALTER TABLE runs ADD COLUMN stop TEXT;
",
    "
CREATE TABLE spans (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id     TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    size          INTEGER NOT NULL,
    body          TEXT NOT NULL
);
CREATE INDEX spans_of_thread ON spans (thread_id);
CREATE INDEX spans_by_size ON spans (size);
",
    "
CREATE TABLE what_ifs (
    id        TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    body      TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX what_ifs_of_thread ON what_ifs (thread_id, id);
",
    "
CREATE TABLE pins (
    graph  TEXT NOT NULL,
    node   TEXT NOT NULL,
    output TEXT NOT NULL,
    PRIMARY KEY (graph, node)
) WITHOUT ROWID;
",
    "
ALTER TABLE tasks ADD COLUMN status INTEGER;
",
    "
ALTER TABLE runs ADD COLUMN summary TEXT;
",
    // What overviews of many runs read: a span that is no JSON, which nobody can read, has no time.
    "
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX spans_by_end ON spans (iif(json_valid(body), json_extract(body, '$.ended'), NULL));
",
    "
ALTER TABLE bookmarks ADD COLUMN note TEXT NOT NULL DEFAULT '';
",
    "
ALTER TABLE tasks ADD COLUMN ways TEXT;
",
    // Questions that wait: when each was asked first. A run that answers another one of its step asks it again.
    "
CREATE TABLE asked (
    thread_id    TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    interrupt_id TEXT NOT NULL,
    at           TEXT NOT NULL,
    PRIMARY KEY (thread_id, task_id, interrupt_id)
) WITHOUT ROWID;
",
    // Answers of people: those that no thread has yet (held, giving), and all others.
    "
CREATE TABLE answers (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id     TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    interrupt_id  TEXT NOT NULL,
    node          TEXT NOT NULL,
    question      TEXT NOT NULL,
    answer        TEXT NOT NULL,
    person        TEXT,
    note          TEXT,
    at            TEXT NOT NULL,
    due           INTEGER NOT NULL,
    instance      TEXT NOT NULL,
    state         TEXT NOT NULL,
    start         TEXT NOT NULL,
    problem       TEXT
);
CREATE INDEX answers_of_thread ON answers (thread_id, checkpoint_id, interrupt_id);
CREATE INDEX answers_open ON answers (state) WHERE state IN ('held', 'giving');
",
    // An entry for each answer that became history, with the hash of the entry before.
    "
CREATE TABLE answer_chain (
    seq      INTEGER PRIMARY KEY,
    what     TEXT NOT NULL,
    answer   INTEGER NOT NULL,
    at       TEXT NOT NULL,
    content  TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE,
    hash     TEXT NOT NULL
);
CREATE INDEX answer_chain_of ON answer_chain (answer);
",
    // Questions that are put off, until when: milliseconds since the epoch.
    "
CREATE TABLE snoozes (
    thread_id     TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    interrupt_id  TEXT NOT NULL,
    until         INTEGER NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_id, interrupt_id)
) WITHOUT ROWID;
",
];
/// The schema that has the chain of answers.
const CHAINED: usize = 20;

/// The open ledger.
#[derive(Debug)]
pub(crate) struct Ledger {
    connection: Mutex<Connection>,
}

/// Joins several ids into one parameter.
fn list(ids: &[&str]) -> String {
    serde_json::Value::from(ids).to_string()
}

/// Returns the checkpoints that were bookmarked in the app of a data folder, by thread: for hosts that remove
/// checkpoints without the app.
pub fn bookmarks(data_dir: &Path) -> Result<HashMap<String, HashSet<String>>, Problem> {
    let Some(ledger) = Ledger::existing(data_dir)? else {
        return Ok(HashMap::new());
    };
    let marked = ledger.bookmarks(None)?;
    let checkpoints =
        |(thread, marked): (String, HashMap<String, Bookmark>)| (thread, marked.into_keys().collect());
    Ok(marked.into_iter().map(checkpoints).collect())
}

impl Ledger {
    /// Opens the ledger at a path, which is made when it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, Problem> {
        Self::prepare(path).map_err(|error| error.of(path))
    }

    /// Opens the ledger of a data folder that has one, for programs that only read it: also where nothing may be written.
    pub(crate) fn existing(data_dir: &Path) -> Result<Option<Self>, Problem> {
        let path = Self::of(data_dir);
        if !path.exists() {
            return Ok(None);
        }
        // Asked first: SQLite tries for seconds to make the files beside one that it cannot write.
        let opened = match superstep_storage::may_be_written(&path) {
            false => Self::read(&path),
            true => Self::prepare(&path).or_else(|error| match error {
                Opening::Sqlite(_) if superstep_storage::refusal_to_write(&path).is_some() => {
                    Self::read(&path)
                }
                other => Err(other),
            }),
        };
        opened.map(Some).map_err(|error| error.of(&path))
    }

    /// Returns the path of the ledger of a data folder.
    pub(crate) fn of(data_dir: &Path) -> PathBuf {
        data_dir.join("workbench.db")
    }

    /// Opens a file that may only be read.
    fn read(path: &Path) -> Result<Self, Opening> {
        let connection = superstep_storage::open_to_read(path)?;
        connection.busy_timeout(BUSY_WITHIN)?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version.cmp(&(MIGRATIONS.len() as i64)) {
            Ordering::Less => Err(Opening::Older),
            Ordering::Greater => Err(Opening::Newer(version)),
            Ordering::Equal => Ok(Self {
                connection: Mutex::new(connection),
            }),
        }
    }

    fn prepare(path: &Path) -> Result<Self, Opening> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_WITHIN)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // What was sent to models must not be read in the file after it was deleted.
        connection.pragma_update(None, "secure_delete", "ON")?;
        // Two processes that start at once must not both migrate.
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let known = usize::try_from(version)
            .ok()
            .filter(|known| *known <= MIGRATIONS.len());
        let Some(known) = known else {
            return Err(Opening::Newer(version));
        };
        for migration in &MIGRATIONS[known..] {
            transaction.execute_batch(migration)?;
        }
        if known < CHAINED {
            answer_chain::append_all(&transaction, EntryOf::Before, None)?;
        }
        transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        transaction.commit()?;
        Ok(Ledger {
            connection: Mutex::new(connection),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }

    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Problem> {
        work(&mut self.lock()).map_err(Problem::from)
    }

    /// Works in a transaction that writes from its beginning on.
    fn write<T>(
        &self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Problem> {
        self.with(|c| {
            let transaction = c.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    /// Returns a number that changes after another process changed anything.
    pub(crate) fn changes(&self) -> Result<i64, Problem> {
        self.with(|c| {
            c.prepare_cached("PRAGMA data_version")?
                .query_row([], |row| row.get(0))
        })
    }
}

#[derive(Debug)]
enum Opening {
    Sqlite(rusqlite::Error),
    Newer(i64),
    /// The schema is an older one, and may not be brought up to date.
    Older,
}

impl Opening {
    /// Converts the failure into the problem with the file at a path.
    fn of(self, path: &Path) -> Problem {
        let place = path.display().to_string();
        match self {
            Opening::Newer(found) => Problem::new(
                "newer-version",
                text!(
                    "{path} has schema {found}; this release reads up to {supported}.",
                    path = place,
                    found,
                    supported = MIGRATIONS.len()
                ),
            )
            .remedy(text!(
                "Install a newer release, or start with another data folder."
            )),
            Opening::Older => Problem::new(
                "file-error",
                text!(
                    "{path} was written by an older release, and may not be written to bring it up to date.",
                    path = place
                ),
            )
            .remedy(text!(
                "Copy the data folder to a place that may be written, and name the copy with SUPERSTEP_DATA."
            )),
            // SQLite says only that it could not open the file.
            Opening::Sqlite(error) => match superstep_storage::refusal_to_write(path) {
                Some(refused) => Problem::file(text!("write"), path, &refused),
                None => error.into(),
            },
        }
    }
}

impl From<rusqlite::Error> for Opening {
    fn from(error: rusqlite::Error) -> Self {
        Opening::Sqlite(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{RunStatus, TakenWay};

    #[test]
    fn a_newer_ledger_is_refused_and_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("workbench.db");
        drop(Ledger::open(&path).unwrap());
        Connection::open(&path)
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        assert_eq!(Ledger::open(&path).unwrap_err().code, "newer-version");
        let version: i64 = Connection::open(&path)
            .unwrap()
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        assert_eq!(version, 99);
    }

    #[test]
    fn a_ledger_that_may_only_be_read_is_read_unless_it_is_an_older_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = Ledger::of(dir.path());
        Ledger::open(&path)
            .unwrap()
            .moved("draft-1", "/graphs/a.json")
            .unwrap();
        let read = Ledger::read(&path).unwrap();
        assert_eq!(read.followed("draft-1").unwrap(), "/graphs/a.json");
        assert!(read.moved("draft-2", "/graphs/b.json").is_err());
        drop(read);
        Connection::open(&path)
            .unwrap()
            .pragma_update(None, "user_version", 3)
            .unwrap();
        let older = Ledger::read(&path).unwrap_err().of(&path);
        assert!(older.message.contains("an older release"), "{older:?}");
        assert!(
            older
                .remedy
                .is_some_and(|remedy| remedy.contains("SUPERSTEP_DATA"))
        );
    }

    #[test]
    fn the_last_run_and_the_last_attempt_count() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        let run = |id: &str, at: &str| RunRow {
            run_id: id.into(),
            thread_id: "t".into(),
            instance: "i".into(),
            status: RunStatus::Running,
            started_at: at.into(),
            ended_at: None,
            problem: None,
            stop: None,
            summary: None,
        };
        ledger.run_began(&run("1", "2026-01-01")).unwrap();
        ledger.run_began(&run("2", "2026-01-02")).unwrap();
        let problem = Problem::new("task-failed", "no").remedy("yes");
        ledger
            .run_ended(&RunRow {
                status: RunStatus::Failed,
                problem: Some(problem),
                summary: Some("**Half** done".into()),
                ..run("2", "2026-01-02")
            })
            .unwrap();
        let last = &ledger.last_runs(&["t", "u"]).unwrap()["t"];
        assert_eq!((last.run_id.as_str(), last.status), ("2", RunStatus::Failed));
        assert_eq!(last.problem.as_ref().unwrap().remedy.as_deref(), Some("yes"));
        assert_eq!(last.summary.as_deref(), Some("**Half** done"));
        assert!(ledger.last_runs(&["other"]).unwrap().is_empty());

        let task = |millis, targets: &[&str]| TaskRow {
            checkpoint_id: "c".into(),
            task_id: "x".into(),
            node: "n".into(),
            millis,
            finished: true,
            targets: targets.iter().map(|t| (*t).to_owned()).collect(),
            status: Some(429),
            ways: Some(vec![TakenWay {
                to: "a".into(),
                way: Some("r|=x".into()),
                times: 2,
            }]),
            questions: Vec::new(),
            at: "2026-01-01".into(),
        };
        ledger
            .tasks_ended("t", &[task(5, &[]), task(7, &["a", "a"])])
            .unwrap();
        let tasks = ledger.tasks("t", "c", "c").unwrap();
        assert_eq!(
            (
                tasks["c"].len(),
                tasks["c"][0].millis,
                tasks["c"][0].targets.len(),
                tasks["c"][0].status
            ),
            (1, 7, 2, Some(429))
        );
        assert_eq!(tasks["c"][0].ways, task(7, &[]).ways);
        ledger.delete_thread("t").unwrap();
        assert!(ledger.tasks("t", "", "z").unwrap().is_empty());
    }

    #[test]
    fn a_question_is_asked_when_it_was_asked_first() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        let ended = |task_id: &str, questions: &[&str], at: &str| {
            let task = TaskRow {
                checkpoint_id: "c".into(),
                task_id: task_id.into(),
                node: "n".into(),
                millis: 1,
                finished: questions.is_empty(),
                targets: Vec::new(),
                status: None,
                ways: None,
                questions: questions.iter().map(|id| (*id).to_owned()).collect(),
                at: at.into(),
            };
            ledger.tasks_ended("t", &[task]).unwrap();
        };
        let asked = |id: &str| {
            ledger
                .asked(&["t"])
                .unwrap()
                .remove(&("t".to_owned(), id.to_owned()))
        };
        ended("x", &["x1"], "1");
        ended("y", &["y1", "y2"], "1");
        // Another one of the step was answered.
        ended("y", &["y1", "y2"], "2");
        assert_eq!(
            (asked("x1").as_deref(), asked("y1").as_deref()),
            (Some("1"), Some("1"))
        );
        // One of two was answered; the next question of the same task is a new one.
        ended("y", &["y2"], "3");
        assert_eq!((asked("y1"), asked("y2").as_deref()), (None, Some("1")));
        ended("x", &["x2"], "4");
        assert_eq!((asked("x1"), asked("x2").as_deref()), (None, Some("4")));
        ended("x", &[], "5");
        assert_eq!(asked("x2"), None);
        ledger.delete_thread("t").unwrap();
        assert!(ledger.asked(&["t"]).unwrap().is_empty());
    }

    #[test]
    fn a_draft_is_followed_to_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        ledger.moved("draft-1", "/graphs/a.json").unwrap();
        assert_eq!(ledger.followed("draft-1").unwrap(), "/graphs/a.json");
        assert_eq!(ledger.followed("draft-2").unwrap(), "draft-2");
    }
}
