//! Runs, and the tasks that ended in them.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{Ledger, list};
use crate::wire::{Json, Problem, RunStatus, RunStop, RunView, TakenWay};

/// A run, as the log has it.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) run_id: String,
    pub(crate) thread_id: String,
    pub(crate) instance: String,
    pub(crate) status: RunStatus,
    pub(crate) started_at: String,
    pub(crate) ended_at: Option<String>,
    pub(crate) problem: Option<Problem>,
    /// Where a breakpoint stopped it.
    pub(crate) stop: Option<RunStop>,
    /// Markdown in which the author of the graph says what the run did.
    pub(crate) summary: Option<String>,
}

impl RunRow {
    pub(crate) fn view(&self) -> RunView {
        RunView {
            run_id: self.run_id.clone(),
            thread_id: self.thread_id.clone(),
            status: self.status,
            started_at: self.started_at.clone(),
            ended_at: self.ended_at.clone(),
            problem: self.problem.clone(),
            stop: self.stop.clone(),
            summary: self.summary.clone(),
            program: None,
        }
    }
}

/// A task that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskRow {
    pub(crate) checkpoint_id: String,
    pub(crate) task_id: String,
    pub(crate) node: String,
    pub(crate) millis: u32,
    /// It wrote its result; false when it failed or asked.
    pub(crate) finished: bool,
    pub(crate) targets: Vec<String>,
    /// The wires that it followed; none of tasks that an older release noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ways: Option<Vec<TakenWay>>,
    /// The HTTP status that it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// Questions that it asks, by interrupt id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<String>,
    /// When it ended: ISO-8601, UTC. Kept of questions only.
    #[serde(default)]
    pub(crate) at: String,
}

/// Returns when a checkpoint was created, in milliseconds, as our ids say; 0 for one that another program named.
fn made_at(checkpoint_id: &str) -> i64 {
    let id = uuid::Uuid::parse_str(checkpoint_id).ok();
    let made = id.filter(|id| id.get_version_num() == 7);
    let millis = made.map(|id| id.as_u128() >> 80);
    millis
        .and_then(|millis| i64::try_from(millis).ok())
        .unwrap_or_default()
}

fn status_text(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Done => "done",
        RunStatus::Asking => "asking",
        RunStatus::Paused => "paused",
        RunStatus::Failed => "failed",
        RunStatus::Stopped => "stopped",
    }
}

fn status_of(text: &str) -> RunStatus {
    match text {
        "running" => RunStatus::Running,
        "done" => RunStatus::Done,
        "asking" => RunStatus::Asking,
        "paused" => RunStatus::Paused,
        "failed" => RunStatus::Failed,
        _ => RunStatus::Stopped,
    }
}

pub(super) fn run_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRow> {
    let status: String = row.get(3)?;
    let (problem, stop): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
    Ok(RunRow {
        run_id: row.get(0)?,
        thread_id: row.get(1)?,
        instance: row.get(2)?,
        status: status_of(&status),
        started_at: row.get(4)?,
        ended_at: row.get(5)?,
        problem: problem.and_then(|text| serde_json::from_str(&text).ok()),
        stop: stop.and_then(|text| serde_json::from_str(&text).ok()),
        summary: row.get(8)?,
    })
}

impl Ledger {
    /// Forgets what happened before a checkpoint: nothing older is left of the thread.
    pub(crate) fn forget_before(&self, thread_id: &str, checkpoint_id: &str) -> Result<(), Problem> {
        let made_at = made_at(checkpoint_id);
        self.with(|c| {
            let transaction = c.transaction()?;
            transaction.execute(
                "DELETE FROM attempts WHERE thread_id = ?1 AND task_id IN
                 (SELECT task_id FROM tasks WHERE thread_id = ?1 AND checkpoint_id < ?2)",
                [thread_id, checkpoint_id],
            )?;
            for table in ["tasks", "spans", "bookmarks"] {
                transaction.execute(
                    &format!("DELETE FROM {table} WHERE thread_id = ?1 AND checkpoint_id < ?2"),
                    [thread_id, checkpoint_id],
                )?;
            }
            // A checkpoint's tasks begin after it was made.
            transaction.execute(
                "DELETE FROM exchanges WHERE thread_id = ?1 AND json_extract(body, '$.at') < ?2",
                params![thread_id, made_at],
            )?;
            transaction.execute(
                "DELETE FROM run_events WHERE thread_id = ?1 AND until < ?2",
                params![thread_id, made_at],
            )?;
            transaction.commit()
        })
    }

    /// Returns the context of a thread's last run.
    pub(crate) fn context(&self, thread_id: &str) -> Result<Option<Json>, Problem> {
        let kept: Option<Option<String>> = self.with(|c| {
            c.prepare_cached("SELECT context FROM threads WHERE thread_id = ?1")?
                .query_row([thread_id], |row| row.get(0))
                .optional()
        })?;
        Ok(kept.flatten().and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps the context of a run for those that go on with its thread.
    pub(crate) fn keep_context(&self, thread_id: &str, context: Option<&Json>) -> Result<(), Problem> {
        let text = context.map(Json::to_string);
        self.with(|c| {
            c.prepare_cached("UPDATE threads SET context = ?2 WHERE thread_id = ?1")?
                .execute(params![thread_id, text])?;
            Ok(())
        })
    }

    pub(crate) fn run_began(&self, run: &RunRow) -> Result<(), Problem> {
        self.with(|c| {
            c.prepare_cached("INSERT INTO runs (run_id, thread_id, instance, status, started_at) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![run.run_id, run.thread_id, run.instance, status_text(run.status), run.started_at])?;
            Ok(())
        })
    }

    pub(crate) fn run_ended(&self, run: &RunRow) -> Result<(), Problem> {
        let problem = run
            .problem
            .as_ref()
            .and_then(|problem| serde_json::to_string(problem).ok());
        let stop = run
            .stop
            .as_ref()
            .and_then(|stop| serde_json::to_string(stop).ok());
        self.with(|c| {
            c.prepare_cached(
                "UPDATE runs SET status = ?2, ended_at = ?3, problem = ?4, stop = ?5, summary = ?6
                 WHERE run_id = ?1",
            )?
            .execute(params![
                run.run_id,
                status_text(run.status),
                run.ended_at,
                problem,
                stop,
                run.summary,
            ])?;
            Ok(())
        })
    }

    /// Returns a run.
    pub(crate) fn run(&self, run_id: &str) -> Result<Option<RunRow>, Problem> {
        self.with(|c| {
            c.prepare_cached(
                "SELECT run_id, thread_id, instance, status, started_at, ended_at, problem, stop, summary
                 FROM runs WHERE run_id = ?1",
            )?
            .query_row([run_id], run_row)
            .optional()
        })
    }

    /// Returns the last run of each of these threads.
    pub(crate) fn last_runs(&self, thread_ids: &[&str]) -> Result<HashMap<String, RunRow>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                // With max() SQLite gives the other columns of the row that has it.
                "SELECT run_id, thread_id, instance, status, started_at, ended_at, problem, stop, summary, max(started_at || run_id)
                 FROM runs WHERE thread_id IN (SELECT value FROM json_each(?1)) GROUP BY thread_id",
            )?;
            let rows = statement.query_map([list(thread_ids)], run_row)?;
            rows.map(|row| row.map(|row| (row.thread_id.clone(), row))).collect()
        })
    }

    /// Adds tasks that ended; the last attempt at a task counts.
    pub(crate) fn tasks_ended(&self, thread_id: &str, tasks: &[TaskRow]) -> Result<(), Problem> {
        self.with(|c| {
            let transaction = c.transaction()?;
            {
                let mut statement = transaction.prepare_cached(
                    "INSERT OR REPLACE INTO tasks (thread_id, checkpoint_id, task_id, node, millis, finished, targets, status, ways)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )?;
                for task in tasks {
                    let targets = task.targets.join("\n");
                    let ways = (task.ways.as_ref()).and_then(|ways| serde_json::to_string(ways).ok());
                    statement.execute(params![
                        thread_id,
                        task.checkpoint_id,
                        task.task_id,
                        task.node,
                        task.millis,
                        task.finished,
                        targets,
                        task.status,
                        ways
                    ])?;
                }
                let mut answered = transaction.prepare_cached(
                    "DELETE FROM asked WHERE thread_id = ?1 AND task_id = ?2
                     AND interrupt_id NOT IN (SELECT value FROM json_each(?3))",
                )?;
                let mut asked = transaction.prepare_cached(
                    "INSERT OR IGNORE INTO asked (thread_id, task_id, interrupt_id, at) VALUES (?1, ?2, ?3, ?4)",
                )?;
                for task in tasks {
                    let questions: Vec<&str> = task.questions.iter().map(String::as_str).collect();
                    answered.execute(params![thread_id, task.task_id, list(&questions)])?;
                    for question in questions {
                        asked.execute(params![thread_id, task.task_id, question, task.at])?;
                    }
                }
            }
            transaction.commit()
        })
    }

    /// Returns when the questions of threads that wait were asked first, by thread and interrupt.
    pub(crate) fn asked(&self, thread_ids: &[&str]) -> Result<HashMap<(String, String), String>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT thread_id, interrupt_id, min(at) FROM asked
                 WHERE thread_id IN (SELECT value FROM json_each(?1)) GROUP BY thread_id, interrupt_id",
            )?;
            let rows = statement.query_map([list(thread_ids)], |row| {
                Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
            })?;
            rows.collect()
        })
    }

    /// Returns the tasks of a thread that ended, by checkpoint, from the first to the last of these checkpoints.
    pub(crate) fn tasks(
        &self,
        thread_id: &str,
        first: &str,
        last: &str,
    ) -> Result<HashMap<String, Vec<TaskRow>>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT checkpoint_id, task_id, node, millis, finished, targets, status, ways FROM tasks
                 WHERE thread_id = ?1 AND checkpoint_id BETWEEN ?2 AND ?3",
            )?;
            let rows = statement.query_map(params![thread_id, first, last], |row| {
                let targets: String = row.get(5)?;
                let ways: Option<String> = row.get(7)?;
                Ok(TaskRow {
                    checkpoint_id: row.get(0)?,
                    task_id: row.get(1)?,
                    node: row.get(2)?,
                    millis: row.get(3)?,
                    finished: row.get(4)?,
                    targets: targets
                        .split('\n')
                        .filter(|t| !t.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    status: row.get(6)?,
                    ways: ways.and_then(|ways| serde_json::from_str(&ways).ok()),
                    questions: Vec::new(),
                    at: String::new(),
                })
            })?;
            let mut by_checkpoint: HashMap<String, Vec<TaskRow>> = HashMap::new();
            for row in rows {
                let row = row?;
                by_checkpoint
                    .entry(row.checkpoint_id.clone())
                    .or_default()
                    .push(row);
            }
            Ok(by_checkpoint)
        })
    }
}
