//! The chain of what people answered: an entry for each answer, withdrawal and delegation that is history, with the hash of its
//! content and of the entry before. An answer that is changed, left out or slipped in afterwards does not fit its entry,
//! and an entry that is changed or left out does not fit the one after it. Somebody who may write the file can write the whole
//! chain again: against that helps only a hash that was noted elsewhere.

use std::fmt::Write;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};

use super::Ledger;
use crate::base::files;
use crate::wire::{AnswersVerified, ChainFault, Problem};

/// Faults that are listed; all are counted.
const MAX_FAULTS: usize = 200;

/// Reason for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryOf {
    /// An answer became history.
    Answer,
    /// It came with its thread from a file, or from the original of a copy.
    Carried,
    /// It is older than the chain.
    Before,
    /// It was deleted with its thread.
    Gone,
}

impl EntryOf {
    fn word(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Carried => "carried",
            Self::Before => "before",
            Self::Gone => "gone",
        }
    }
}

fn hex(parts: &[&str]) -> String {
    // As JSON, no two lists of texts are the same text.
    let text = serde_json::Value::from(parts).to_string();
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Columns of an answer that are hashed, as texts.
const CONTENT: &str =
    "json_array(thread_id, checkpoint_id, interrupt_id, node, question, answer, person, note, at, state)";

fn content(text: &str) -> String {
    hex(&[text])
}

/// An entry as it is stored.
struct ChainEntry {
    seq: i64,
    what: String,
    answer: i64,
    at: String,
    content: String,
    previous: String,
    hash: String,
}

impl ChainEntry {
    fn own_hash(&self) -> String {
        let (seq, answer) = (self.seq.to_string(), self.answer.to_string());
        hex(&[&seq, &self.what, &answer, &self.at, &self.content, &self.previous])
    }
}

/// Returns number and hash of the last entry.
fn head(connection: &Connection) -> rusqlite::Result<(i64, String)> {
    let last = connection
        .prepare_cached("SELECT seq, hash FROM answer_chain ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(last.unwrap_or_default())
}

/// Appends an entry for each of these answers, in the transaction that changes them. The last entry is compared once more as
/// each is stored: where another program has appended meanwhile, the whole transaction fails.
pub(super) fn append(transaction: &Transaction<'_>, of: EntryOf, ids: &[i64]) -> rusqlite::Result<()> {
    let at = files::now();
    for id in ids {
        let stored: Option<String> = transaction
            .prepare_cached(&format!("SELECT {CONTENT} FROM answers WHERE id = ?1"))?
            .query_row([id], |row| row.get(0))
            .optional()?;
        let Some(stored) = stored else { continue };
        let (seq, previous) = head(transaction)?;
        let mut entry = ChainEntry {
            seq: seq + 1,
            what: of.word().to_owned(),
            answer: *id,
            at: at.clone(),
            content: content(&stored),
            previous,
            hash: String::new(),
        };
        entry.hash = entry.own_hash();
        let appended = transaction
            .prepare_cached(
                "INSERT INTO answer_chain (seq, what, answer, at, content, previous, hash)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?6 =
                     coalesce((SELECT hash FROM answer_chain ORDER BY seq DESC LIMIT 1), '')",
            )?
            .execute(params![
                entry.seq,
                entry.what,
                entry.answer,
                entry.at,
                entry.content,
                entry.previous,
                entry.hash
            ])?;
        if appended != 1 {
            return Err(rusqlite::Error::StatementChangedRows(appended));
        }
    }
    Ok(())
}

/// Appends an entry for each answer of the past of a thread.
pub(super) fn append_all(
    transaction: &Transaction<'_>,
    of: EntryOf,
    thread_id: Option<&str>,
) -> rusqlite::Result<()> {
    let ids: Vec<i64> = transaction
        .prepare_cached(
            "SELECT id FROM answers WHERE state NOT IN ('held', 'giving') AND (?1 IS NULL OR thread_id = ?1) ORDER BY id",
        )?
        .query_map([thread_id], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    append(transaction, of, &ids)
}

/// Faults of a chain as they are found.
#[derive(Default)]
struct FoundFaults {
    listed: Vec<ChainFault>,
    all: u32,
}

impl FoundFaults {
    fn add(&mut self, fault: ChainFault) {
        self.all = self.all.saturating_add(1);
        if self.listed.len() < MAX_FAULTS {
            self.listed.push(fault);
        }
    }
}

impl Ledger {
    /// Checks every entry against the one before and against its answer, and every answer of the past for an entry; `noted` is
    /// the hash of an entry that somebody wrote down elsewhere.
    pub(crate) fn verify_answers(&self, noted: Option<&str>) -> Result<AnswersVerified, Problem> {
        self.with(|c| {
            // One moment, also while another program appends.
            let transaction = c.transaction()?;
            let mut faults = FoundFaults::default();
            let (entries, head, is_there) = check_entries(&transaction, &mut faults, noted)?;
            let unlisted = "SELECT id FROM answers WHERE state NOT IN ('held', 'giving')
                 AND id NOT IN (SELECT answer FROM answer_chain) ORDER BY id";
            for id in transaction.prepare(unlisted)?.query_map([], |row| row.get(0))? {
                faults.add(ChainFault::AnswerAdded { answer: id? });
            }
            if !is_there && let Some(hash) = noted {
                faults.add(ChainFault::HashNotThere {
                    hash: hash.to_owned(),
                });
            }
            Ok(AnswersVerified {
                entries,
                head,
                faults: faults.listed,
                fault_count: faults.all,
            })
        })
    }
}

/// Checks the entries; returns their number, the hash of the last, and whether one has the noted hash.
fn check_entries(
    transaction: &Transaction<'_>,
    faults: &mut FoundFaults,
    noted: Option<&str>,
) -> rusqlite::Result<(u32, String, bool)> {
    let mut statement = transaction.prepare(&format!(
        "SELECT seq, what, answer, entry_at, content, previous, hash,
             (SELECT {CONTENT} FROM answers WHERE id = entry.answer),
             EXISTS (SELECT 1 FROM answer_chain AS gone WHERE gone.answer = entry.answer AND gone.what = 'gone')
         FROM (SELECT seq, what, answer, at AS entry_at, content, previous, hash FROM answer_chain) AS entry ORDER BY seq"
    ))?;
    let mut rows = statement.query([])?;
    let (mut entries, mut last, mut is_there) = (0_u32, (0_i64, String::new()), noted == Some(""));
    while let Some(row) = rows.next()? {
        let entry = ChainEntry {
            seq: row.get(0)?,
            what: row.get(1)?,
            answer: row.get(2)?,
            at: row.get(3)?,
            content: row.get(4)?,
            previous: row.get(5)?,
            hash: row.get(6)?,
        };
        let (stored, is_gone): (Option<String>, bool) = (row.get(7)?, row.get(8)?);
        let of = entry.seq;
        if entry.hash != entry.own_hash() {
            faults.add(ChainFault::EntryChanged { entry: of });
        }
        if entry.previous != last.1 || of != last.0 + 1 {
            faults.add(ChainFault::EntriesMissing { before: of });
        }
        match stored {
            Some(_) if is_gone => faults.add(ChainFault::AnswerAdded { answer: entry.answer }),
            Some(stored) if content(&stored) != entry.content => faults.add(ChainFault::AnswerChanged {
                entry: of,
                answer: entry.answer,
                at: entry.at.clone(),
            }),
            None if !is_gone => faults.add(ChainFault::AnswerMissing {
                entry: of,
                answer: entry.answer,
                at: entry.at.clone(),
            }),
            _ => {}
        }
        is_there |= noted.is_some_and(|noted| noted.eq_ignore_ascii_case(&entry.hash));
        entries = entries.saturating_add(1);
        last = (of, entry.hash);
    }
    Ok((entries, last.1, is_there))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::{AnswerRow, ThreadRow};
    use crate::wire::AnswerState;

    fn row(thread: &str, number: u32) -> AnswerRow {
        AnswerRow {
            id: 0,
            thread_id: thread.into(),
            checkpoint_id: "c".into(),
            interrupt_id: format!("q{number}"),
            node: "review".into(),
            question: "Pay?".into(),
            answer: json!({"pay": number}),
            person: Some("Ada".into()),
            note: None,
            at: "2026-01-01T00:00:00Z".into(),
            due: 0,
            instance: "i".into(),
            state: AnswerState::Held,
            start: String::new(),
            problem: None,
        }
    }

    fn give(ledger: &Ledger, thread: &str, number: u32) -> i64 {
        let id = ledger.keep_answers(&[row(thread, number)]).unwrap().unwrap()[0];
        let (held, giving) = (AnswerState::Held, AnswerState::Giving);
        ledger.move_answers(&[id], held, giving, None).unwrap();
        ledger.answers_stored(thread, "i").unwrap();
        id
    }

    #[test]
    fn each_answer_that_is_history_has_an_entry_and_a_change_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("workbench.db");
        let ledger = Ledger::open(&path).unwrap();
        let ids: Vec<i64> = (1..=4).map(|number| give(&ledger, "t", number)).collect();
        ledger.keep_answers(&[row("t", 5)]).unwrap();
        let whole = ledger.verify_answers(None).unwrap();
        assert_eq!(
            (whole.entries, whole.fault_count),
            (4, 0),
            "a held answer is none yet"
        );
        assert_eq!(whole.head.len(), 64);
        drop(ledger);

        // Each damage is done to a file of its own.
        let damage = |sql: &str| {
            let copy = dir.path().join("damaged.db");
            let _ = std::fs::remove_file(&copy);
            Connection::open(&path)
                .unwrap()
                .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
                .unwrap();
            let ledger = Ledger::open(&copy).unwrap();
            ledger.with(|c| c.execute_batch(sql)).unwrap();
            ledger.verify_answers(Some(&whole.head)).unwrap().faults
        };
        let at = |fault: &ChainFault| match fault {
            ChainFault::AnswerChanged { entry, .. } => format!("changed {entry}"),
            ChainFault::AnswerMissing { entry, .. } => format!("missing {entry}"),
            ChainFault::AnswerAdded { answer } => format!("added {answer}"),
            ChainFault::EntryChanged { entry } => format!("entry {entry}"),
            ChainFault::EntriesMissing { before } => format!("gap {before}"),
            ChainFault::HashNotThere { .. } => "hash".to_owned(),
        };
        let second = ids[1];
        let added = ids[3] + 2;
        for (sql, want) in [
            (format!("UPDATE answers SET answer = '1' WHERE id = {second}"), vec!["changed 2".to_owned()]),
            (format!("UPDATE answers SET person = 'Bob' WHERE id = {second}"), vec!["changed 2".into()]),
            (format!("UPDATE answers SET note = 'x' WHERE id = {second}"), vec!["changed 2".into()]),
            (format!("UPDATE answers SET state = 'lost' WHERE id = {second}"), vec!["changed 2".into()]),
            (format!("DELETE FROM answers WHERE id = {second}"), vec!["missing 2".into()]),
            ("UPDATE answer_chain SET content = 'x' WHERE seq = 2".into(), vec!["entry 2".into(), "changed 2".into()]),
            ("UPDATE answer_chain SET at = 'x' WHERE seq = 2".into(), vec!["entry 2".into()]),
            (
                format!("DELETE FROM answer_chain WHERE seq = 2; DELETE FROM answers WHERE id = {second}"),
                vec!["gap 3".into()],
            ),
            ("DELETE FROM answer_chain WHERE seq = 4".into(), vec![format!("added {}", ids[3]), "hash".into()]),
            (
                "INSERT INTO answers (thread_id, checkpoint_id, interrupt_id, node, question, answer, at, due, instance, state, start)
                 VALUES ('t', 'c', 'q', 'n', '?', '1', '', 0, '', 'given', '')".into(),
                vec![format!("added {added}")],
            ),
            (String::new(), vec![]),
        ] {
            assert_eq!(damage(&sql).iter().map(at).collect::<Vec<_>>(), want, "{sql}");
        }
    }

    #[test]
    fn copies_have_entries_of_their_own_and_deleting_a_thread_leaves_its() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        give(&ledger, "t", 1);
        let copy = ThreadRow {
            thread_id: "copy".into(),
            title: "Copy".into(),
            graph_name: "Desk".into(),
            graph_key: String::new(),
            created_at: String::new(),
        };
        ledger.thread_copied("t", &copy, "").unwrap();
        ledger.delete_thread("t").unwrap();
        let whole = ledger.verify_answers(None).unwrap();
        assert_eq!(
            (whole.entries, whole.fault_count),
            (3, 0),
            "given, copied, deleted"
        );
        ledger.delete_thread("copy").unwrap();
        let noted = ledger.verify_answers(Some(&whole.head)).unwrap();
        assert_eq!((noted.entries, noted.fault_count), (4, 0));
    }

    #[test]
    fn answers_that_are_older_than_the_chain_get_entries_when_it_begins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("workbench.db");
        let ledger = Ledger::open(&path).unwrap();
        give(&ledger, "t", 1);
        let before = "DROP TABLE answer_chain; DROP TABLE IF EXISTS snoozes; PRAGMA user_version = 19;";
        ledger.with(|c| c.execute_batch(before)).unwrap();
        drop(ledger);
        let ledger = Ledger::open(&path).unwrap();
        let whole = ledger.verify_answers(None).unwrap();
        assert_eq!((whole.entries, whole.fault_count), (1, 0));
    }
}
