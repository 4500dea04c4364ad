//! Answers of people to questions: those that are not in their threads yet, and all that were.

use std::path::Path;

use rusqlite::{OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use superstep_document::text;

use super::answer_chain::{EntryOf, append};
use super::{Ledger, list};
use crate::wire::{AnswerState, AnswerView, AnswersVerified, ChainFault, Json, ListAnswers, Problem};

/// An answer to one question.
#[derive(Clone, Debug)]
pub(crate) struct AnswerRow {
    /// 0 until it is stored.
    pub(crate) id: i64,
    pub(crate) thread_id: String,
    pub(crate) checkpoint_id: String,
    pub(crate) interrupt_id: String,
    pub(crate) node: String,
    pub(crate) question: String,
    pub(crate) answer: Json,
    pub(crate) person: Option<String>,
    pub(crate) note: Option<String>,
    /// ISO-8601, UTC.
    pub(crate) at: String,
    /// When it is to be given: milliseconds since the epoch.
    pub(crate) due: u64,
    /// The program that gives it.
    pub(crate) instance: String,
    pub(crate) state: AnswerState,
    /// The request for the run that it begins, as JSON; empty where somebody else began it.
    pub(crate) start: String,
    pub(crate) problem: Option<Problem>,
}

pub(super) const COLUMNS: &str = "id, thread_id, checkpoint_id, interrupt_id, node, question, answer, person, note, at, due, \
                       instance, state, start, problem";

/// Returns the word of a state in the table.
fn word(state: AnswerState) -> &'static str {
    match state {
        AnswerState::Held => "held",
        AnswerState::Giving => "giving",
        AnswerState::Given => "given",
        AnswerState::Returned => "returned",
        AnswerState::Lost => "lost",
        AnswerState::Withdrawn => "withdrawn",
        AnswerState::Delegated => "delegated",
        AnswerState::Escalated => "escalated",
    }
}

fn state_of(word: &str) -> AnswerState {
    match word {
        "held" => AnswerState::Held,
        "giving" => AnswerState::Giving,
        "returned" => AnswerState::Returned,
        "lost" => AnswerState::Lost,
        "withdrawn" => AnswerState::Withdrawn,
        "delegated" => AnswerState::Delegated,
        "escalated" => AnswerState::Escalated,
        _ => AnswerState::Given,
    }
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<AnswerRow> {
    let problem: Option<String> = row.get(14)?;
    let (answer, state): (String, String) = (row.get(6)?, row.get(12)?);
    Ok(AnswerRow {
        id: row.get(0)?,
        thread_id: row.get(1)?,
        checkpoint_id: row.get(2)?,
        interrupt_id: row.get(3)?,
        node: row.get(4)?,
        question: row.get(5)?,
        answer: serde_json::from_str(&answer).unwrap_or_default(),
        person: row.get(7)?,
        note: row.get(8)?,
        at: row.get(9)?,
        due: u64::try_from(row.get::<_, i64>(10)?).unwrap_or_default(),
        instance: row.get(11)?,
        state: state_of(&state),
        start: row.get(13)?,
        problem: problem.and_then(|problem| serde_json::from_str(&problem).ok()),
    })
}

/// An answer of the past with its thread.
#[derive(Debug)]
pub(crate) struct PastAnswer {
    pub(crate) row: AnswerRow,
    pub(crate) title: String,
    pub(crate) graph_name: String,
}

/// An answer of the past as the file of its thread has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CarriedAnswer {
    checkpoint_id: String,
    interrupt_id: String,
    node: String,
    question: String,
    answer: Json,
    person: Option<String>,
    note: Option<String>,
    at: String,
    state: AnswerState,
}

/// Returns whether an answer in this state is history.
fn is_past(state: AnswerState) -> bool {
    !matches!(state, AnswerState::Held | AnswerState::Giving)
}

/// Returns the problem of an answer whose run ended too early.
pub(crate) fn not_taken() -> Problem {
    Problem::new(
        "not-taken",
        text!("The run ended before its thread took this answer."),
    )
    .remedy(text!("The question waits still: answer it again."))
}

/// Returns what people answered in the programs of a data folder, of every database: the newest first, at most `limit`.
pub fn past_answers(data_dir: &Path, which: &ListAnswers, limit: usize) -> Result<Vec<AnswerView>, Problem> {
    let Some(ledger) = Ledger::existing(data_dir)? else {
        return Ok(Vec::new());
    };
    let words = which.words.as_deref().unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().collect();
    let found = ledger.past_answers(None, &words, which.thread_id.as_deref(), which.before, limit)?;
    Ok(found.into_iter().map(Into::into).collect())
}

/// Checks the chain of what people answered in the programs of a data folder; `noted` is the hash of an entry that was
/// written down elsewhere.
pub fn verify_answers(data_dir: &Path, noted: Option<&str>) -> Result<AnswersVerified, Problem> {
    match Ledger::existing(data_dir)? {
        Some(ledger) => ledger.verify_answers(noted),
        None => Ok(AnswersVerified {
            entries: 0,
            head: String::new(),
            faults: noted
                .map(|hash| ChainFault::HashNotThere {
                    hash: hash.to_owned(),
                })
                .into_iter()
                .collect(),
            fault_count: noted.map_or(0, |_| 1),
        }),
    }
}

fn ids_of(ids: &[i64]) -> String {
    serde_json::Value::from(ids).to_string()
}

impl Ledger {
    /// Stores answers, all or none; returns `None` when one of the questions has been answered already. An earlier answer
    /// that came back is history from now on.
    pub(crate) fn keep_answers(&self, answers: &[AnswerRow]) -> Result<Option<Vec<i64>>, Problem> {
        self.with(|c| {
            let transaction = c.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let mut ids = Vec::with_capacity(answers.len());
            for row in answers {
                let kept = transaction
                    .prepare_cached(
                        "INSERT INTO answers (thread_id, checkpoint_id, interrupt_id, node, question, answer, person, note,
                             at, due, instance, state, start)
                         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
                         WHERE NOT EXISTS (SELECT 1 FROM answers WHERE thread_id = ?1 AND checkpoint_id = ?2
                             AND interrupt_id = ?3 AND state IN ('held', 'giving'))",
                    )?
                    .execute(params![
                        row.thread_id,
                        row.checkpoint_id,
                        row.interrupt_id,
                        row.node,
                        row.question,
                        row.answer.to_string(),
                        row.person,
                        row.note,
                        row.at,
                        row.due.cast_signed(),
                        row.instance,
                        word(row.state),
                        row.start,
                    ])?;
                if kept == 0 {
                    return Ok(None);
                }
                ids.push(transaction.last_insert_rowid());
                if is_past(row.state) {
                    append(&transaction, EntryOf::Answer, &ids[ids.len() - 1..])?;
                }
            }
            transaction.commit()?;
            Ok(Some(ids))
        })
    }

    /// Returns the answers of the database at a place that no thread has yet, in the order in which they came.
    pub(crate) fn open_answers(&self, place: &str) -> Result<Vec<AnswerRow>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM answers WHERE state IN ('held', 'giving')
                 AND thread_id IN (SELECT thread_id FROM threads WHERE place = ?1) ORDER BY id"
            ))?;
            let rows = statement.query_map([place], read)?;
            rows.collect()
        })
    }

    /// Returns the last answer to each question of these threads, where it came back.
    pub(crate) fn returned_answers(&self, thread_ids: &[&str]) -> Result<Vec<AnswerRow>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM answers AS one WHERE state = 'returned'
                 AND thread_id IN (SELECT value FROM json_each(?1))
                 AND NOT EXISTS (SELECT 1 FROM answers AS later WHERE later.thread_id = one.thread_id AND
                     later.checkpoint_id = one.checkpoint_id AND later.interrupt_id = one.interrupt_id AND later.id > one.id
                     AND later.state NOT IN ('delegated', 'escalated'))"
            ))?;
            let rows = statement.query_map([list(thread_ids)], read)?;
            rows.collect()
        })
    }

    /// Moves answers from one state to another; returns those that were in it.
    pub(crate) fn move_answers(
        &self,
        ids: &[i64],
        from: AnswerState,
        to: AnswerState,
        problem: Option<&Problem>,
    ) -> Result<Vec<i64>, Problem> {
        let problem = problem.and_then(|problem| serde_json::to_string(problem).ok());
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached(
                "UPDATE answers SET state = ?3, problem = ?4
                 WHERE state = ?2 AND id IN (SELECT value FROM json_each(?1)) RETURNING id",
            )?;
            let rows = statement.query_map(params![ids_of(ids), word(from), word(to), problem], |row| {
                row.get(0)
            })?;
            let moved: Vec<i64> = rows.collect::<rusqlite::Result<_>>()?;
            if is_past(to) {
                append(transaction, EntryOf::Answer, &moved)?;
            }
            Ok(moved)
        })
    }

    /// Notes that the answers of a run of this program are stored in its thread.
    pub(crate) fn answers_stored(&self, thread_id: &str, instance: &str) -> Result<(), Problem> {
        self.write(|transaction| {
            let stored: Vec<i64> = transaction
                .prepare_cached(
                    "UPDATE answers SET state = 'given'
                     WHERE thread_id = ?1 AND instance = ?2 AND state = 'giving' RETURNING id",
                )?
                .query_map([thread_id, instance], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            append(transaction, EntryOf::Answer, &stored)
        })
    }

    /// Notes that a run of this program ended before its thread took the answers to these questions.
    pub(crate) fn answers_returned(
        &self,
        thread_id: &str,
        instance: &str,
        interrupt_ids: &[String],
    ) -> Result<(), Problem> {
        let ids: Vec<i64> = self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT id FROM answers WHERE thread_id = ?1 AND instance = ?2 AND state = 'giving'
                 AND interrupt_id IN (SELECT value FROM json_each(?3))",
            )?;
            let asked = serde_json::Value::from(interrupt_ids).to_string();
            let rows = statement.query_map(params![thread_id, instance, asked], |row| row.get(0))?;
            rows.collect()
        })?;
        self.move_answers(
            &ids,
            AnswerState::Giving,
            AnswerState::Returned,
            Some(&not_taken()),
        )
        .map(drop)
    }

    /// Takes over the answers of a program that ended: its held ones, and those that it had begun to give.
    pub(crate) fn adopt_answers(&self, from: &str, to: &str) -> Result<(), Problem> {
        self.with(|c| {
            c.prepare_cached(
                "UPDATE answers SET instance = ?2 WHERE instance = ?1 AND state IN ('held', 'giving')",
            )?
            .execute([from, to])
            .map(drop)
        })
    }

    /// Gives these held answers no more time; returns their number.
    pub(crate) fn hasten_answers(&self, ids: &[i64], now: u64) -> Result<usize, Problem> {
        self.with(|c| {
            c.prepare_cached(
                "UPDATE answers SET due = ?2 WHERE state = 'held' AND id IN (SELECT value FROM json_each(?1))",
            )?
            .execute(params![ids_of(ids), now.cast_signed()])
        })
    }

    /// Takes held answers back, as if they had never been given; returns the number of them.
    pub(crate) fn take_back_answers(&self, ids: &[i64]) -> Result<usize, Problem> {
        self.with(|c| {
            c.prepare_cached(
                "DELETE FROM answers WHERE state = 'held' AND id IN (SELECT value FROM json_each(?1))",
            )?
            .execute([ids_of(ids)])
        })
    }

    /// Returns whether somebody has answered this question, and the answer is not in the thread yet.
    pub(crate) fn is_held(
        &self,
        thread_id: &str,
        checkpoint_id: &str,
        interrupt_id: &str,
    ) -> Result<bool, Problem> {
        self.with(|c| {
            let found = c
                .prepare_cached(
                    "SELECT 1 FROM answers WHERE thread_id = ?1 AND checkpoint_id = ?2 AND interrupt_id = ?3
                     AND state = 'held'",
                )?
                .query_row([thread_id, checkpoint_id, interrupt_id], |_| Ok(()))
                .optional()?;
            Ok(found.is_some())
        })
    }

    /// Returns answers of the past of the database at a place, or of any, the newest first: those that have all words, of a thread where
    /// it is named, and given before the one with this number.
    pub(crate) fn past_answers(
        &self,
        place: Option<&str>,
        words: &[&str],
        thread_id: Option<&str>,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<PastAnswer>, Problem> {
        let words: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT {COLUMNS}, coalesce(title, ''), coalesce(graph_name, '') FROM answers LEFT JOIN threads USING (thread_id)
                 WHERE (?1 IS NULL OR place = ?1) AND state NOT IN ('held', 'giving')
                 AND (?2 IS NULL OR thread_id = ?2) AND (?3 IS NULL OR id < ?3)
                 AND NOT EXISTS (SELECT 1 FROM json_each(?4) AS word WHERE instr(lower(
                     question || char(10) || answer || char(10) || node || char(10) || coalesce(title, '') || char(10)
                     || coalesce(graph_name, '')
                     || char(10) || coalesce(person, '') || char(10) || coalesce(note, '')), word.value) = 0)
                 ORDER BY id DESC LIMIT ?5"
            ))?;
            let words = serde_json::Value::from(words).to_string();
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![place, thread_id, before, words, limit], |row| {
                Ok(PastAnswer {
                    row: read(row)?,
                    title: row.get(15)?,
                    graph_name: row.get(16)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Returns the answers of the past of a thread, for its file.
    pub(super) fn carried_answers(&self, thread_id: &str) -> Result<Vec<CarriedAnswer>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM answers WHERE thread_id = ?1 AND state NOT IN ('held', 'giving') ORDER BY id"
            ))?;
            let rows = statement.query_map([thread_id], read)?;
            rows.map(|row| {
                row.map(|row| CarriedAnswer {
                    checkpoint_id: row.checkpoint_id,
                    interrupt_id: row.interrupt_id,
                    node: row.node,
                    question: row.question,
                    answer: row.answer,
                    person: row.person,
                    note: row.note,
                    at: row.at,
                    state: row.state,
                })
            })
            .collect()
        })
    }

    /// Gives a thread the answers of its file, all of the past: a file gives nothing.
    pub(super) fn take_in_answers(&self, thread_id: &str, answers: &[CarriedAnswer]) -> Result<(), Problem> {
        self.write(|transaction| {
            for one in answers {
                let state = match one.state {
                    AnswerState::Held | AnswerState::Giving => AnswerState::Given,
                    other => other,
                };
                transaction
                    .prepare_cached(
                        "INSERT INTO answers (thread_id, checkpoint_id, interrupt_id, node, question, answer, person, note,
                             at, due, instance, state, start)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, '', ?10, '')",
                    )?
                    .execute(params![
                        thread_id,
                        one.checkpoint_id,
                        one.interrupt_id,
                        one.node,
                        one.question,
                        one.answer.to_string(),
                        one.person,
                        one.note,
                        one.at,
                        word(state),
                    ])?;
                append(transaction, EntryOf::Carried, &[transaction.last_insert_rowid()])?;
            }
            Ok(())
        })
    }
}
