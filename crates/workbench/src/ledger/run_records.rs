//! What a file of a thread carries of its runs: how long tasks took and where they led, what ran when, attempts that failed,
//! what was published while they ran, answers, and bookmarks. It travels in what a host says about the thread, so that a release that does not
//! know it reads the file all the same. What was sent to models stays in the data folder.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::params;
use serde::{Deserialize, Serialize};
use superstep::Value;
use superstep::value::Object;

use super::answers::CarriedAnswer;
use super::{Bookmark, Ledger, TaskRow};
use crate::wire::{AttemptView, Json, Problem, TraceSpan};

/// What the file of a thread calls them, among what a host says about it.
pub(crate) const RUN_RECORDS: &str = "records";

/// Spans that a file takes along.
const MAX_SPANS: usize = 20_000;

/// Records of the runs of a thread. What is missing was not known.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Carried {
    tasks: Vec<TaskRow>,
    attempts: BTreeMap<String, Vec<AttemptView>>,
    events: Vec<StoredBatch>,
    spans: Vec<TraceSpan>,
    /// Names by checkpoint.
    bookmarks: BTreeMap<String, String>,
    /// Notes of bookmarks, by checkpoint: apart from their names, which earlier releases read.
    notes: BTreeMap<String, String>,
    /// What people answered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<CarriedAnswer>,
}

/// Events that were written together.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StoredBatch {
    run_id: String,
    /// Events of the run before these.
    first: i64,
    /// Milliseconds at which they were written.
    until: i64,
    events: Vec<Json>,
}

impl Carried {
    /// Reads the records in a file. Those of an unknown form are omitted: the thread is complete without them.
    pub(crate) fn of(about: &Object) -> Option<Self> {
        let records = about.get(RUN_RECORDS)?;
        let read = serde_json::from_value(records.into());
        read.inspect_err(|error| tracing::warn!(%error, "records of runs were left out"))
            .ok()
    }
}

impl Ledger {
    /// Reads the records of a thread.
    pub(crate) fn carried(&self, thread_id: &str) -> Result<Carried, Problem> {
        // From the first id to one that comes after every id.
        let tasks = self.tasks(thread_id, "", "\u{10ffff}")?;
        let mut tasks: Vec<TaskRow> = tasks.into_values().flatten().collect();
        tasks.sort_by(|a, b| (&a.checkpoint_id, &a.task_id).cmp(&(&b.checkpoint_id, &b.task_id)));
        let (attempts, batches) = self.with(|c| {
            let mut statement =
                c.prepare_cached("SELECT task_id, body FROM attempts WHERE thread_id = ?1")?;
            let rows = statement.query_map([thread_id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let attempts = rows.collect::<rusqlite::Result<Vec<(String, String)>>>()?;
            let mut statement = c.prepare_cached(
                "SELECT run_id, first, until, body FROM run_events WHERE thread_id = ?1 ORDER BY id",
            )?;
            let rows = statement.query_map([thread_id], |row| {
                let body: Vec<u8> = row.get(3)?;
                let json = zstd::decode_all(&body[..]).unwrap_or_default();
                Ok(StoredBatch {
                    run_id: row.get(0)?,
                    first: row.get(1)?,
                    until: row.get(2)?,
                    events: serde_json::from_slice(&json).unwrap_or_default(),
                })
            })?;
            Ok((attempts, rows.collect::<rusqlite::Result<Vec<StoredBatch>>>()?))
        })?;
        let read = |body: String| serde_json::from_str(&body).unwrap_or_default();
        let marked = self
            .bookmarks(Some(thread_id))?
            .remove(thread_id)
            .unwrap_or_default();
        let (mut bookmarks, mut notes) = (BTreeMap::new(), BTreeMap::new());
        for (checkpoint, bookmark) in marked {
            if !bookmark.note.is_empty() {
                notes.insert(checkpoint.clone(), bookmark.note);
            }
            bookmarks.insert(checkpoint, bookmark.name);
        }
        Ok(Carried {
            tasks,
            attempts: attempts
                .into_iter()
                .map(|(task, body)| (task, read(body)))
                .collect(),
            events: batches,
            spans: self.spans(thread_id, 0, MAX_SPANS)?.spans,
            bookmarks,
            notes,
            answers: self.carried_answers(thread_id)?,
        })
    }

    /// Gives a thread that has just come the records of its file. Events that the ledger still has of a deleted thread of
    /// that name give way to them.
    pub(crate) fn take_in(&self, thread_id: &str, carried: &Carried) -> Result<(), Problem> {
        self.tasks_ended(thread_id, &carried.tasks)?;
        for (task_id, attempts) in &carried.attempts {
            self.keep_attempts(thread_id, task_id, attempts)?;
        }
        self.keep_spans(thread_id, &carried.spans)?;
        self.take_in_answers(thread_id, &carried.answers)?;
        for (checkpoint_id, name) in &carried.bookmarks {
            let bookmark = Bookmark {
                name: name.clone(),
                note: carried.notes.get(checkpoint_id).cloned().unwrap_or_default(),
            };
            self.bookmark(thread_id, checkpoint_id, Some(&bookmark))?;
        }
        self.with(|c| {
            let transaction = c.transaction()?;
            if !carried.events.is_empty() {
                transaction.execute("DELETE FROM run_events WHERE thread_id = ?1", [thread_id])?;
            }
            for batch in &carried.events {
                let json = serde_json::to_vec(&batch.events).unwrap_or_default();
                let Ok(body) = zstd::encode_all(&json[..], 1) else {
                    continue;
                };
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO run_events (thread_id, run_id, first, events, size, until, body)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?;
                insert.execute(params![
                    thread_id,
                    batch.run_id,
                    batch.first,
                    batch.events.len() as i64,
                    json.len() as i64,
                    batch.until,
                    body
                ])?;
            }
            transaction.commit()
        })?;
        self.trim_events()
    }
}

/// Reads the records that the data folder has of a thread, for a host that writes its file without the app.
pub fn run_records(data_dir: &Path, thread_id: &str) -> Result<Object, Problem> {
    let carried = match Ledger::existing(data_dir)? {
        Some(ledger) => ledger.carried(thread_id)?,
        None => Carried::default(),
    };
    if carried == Carried::default() {
        return Ok(Object::new());
    }
    let records = Value::from(serde_json::to_value(carried).unwrap_or_default());
    Ok([(RUN_RECORDS, records)].into_iter().collect())
}

/// Gives a thread the records that its file has of it, where the app has a data folder.
pub fn take_run_records(data_dir: &Path, thread_id: &str, about: &Object) -> Result<(), Problem> {
    let path = Ledger::of(data_dir);
    match Carried::of(about).filter(|_| path.exists()) {
        Some(carried) => Ledger::open(&path)?.take_in(thread_id, &carried),
        None => Ok(()),
    }
}
