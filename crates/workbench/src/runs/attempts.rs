//! Attempts at tasks that failed and were not the end of them: reported while the task works, and kept beside the task's time, so
//! that a past run shows what it took.

use std::collections::HashMap;

use rusqlite::params;
use superstep::stream::AttemptFailed;

use crate::ledger::Ledger;
use crate::wire::{AttemptView, Problem};

pub(crate) fn attempt_view(failed: &AttemptFailed) -> AttemptView {
    AttemptView {
        attempt: failed.attempt,
        error: failed.error.clone(),
        wait_millis: failed
            .wait
            .map(|wait| u32::try_from(wait.as_millis()).unwrap_or(u32::MAX)),
    }
}

impl Ledger {
    /// Remembers what failed before a task ended; what an earlier run of the same task had is forgotten.
    pub(crate) fn keep_attempts(
        &self,
        thread_id: &str,
        task_id: &str,
        attempts: &[AttemptView],
    ) -> Result<(), Problem> {
        let body = serde_json::to_string(attempts).unwrap_or_default();
        self.with(|c| {
            c.prepare_cached(
                "INSERT OR REPLACE INTO attempts (thread_id, task_id, body) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![thread_id, task_id, body])?;
            Ok(())
        })
    }

    /// Returns the attempts that failed before these tasks ended, by task.
    pub(crate) fn attempts(
        &self,
        thread_id: &str,
        task_ids: &[&str],
    ) -> Result<HashMap<String, Vec<AttemptView>>, Problem> {
        let ids = serde_json::Value::from(task_ids).to_string();
        let bodies = self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT task_id, body FROM attempts WHERE thread_id = ?1
                 AND task_id IN (SELECT value FROM json_each(?2))",
            )?;
            let rows = statement.query_map([thread_id, &ids], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        })?;
        let read = |body: &str| serde_json::from_str(body).unwrap_or_default();
        Ok(bodies
            .into_iter()
            .map(|(task, body)| (task, read(&body)))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_of_a_task_counts() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        let failed = |attempt, wait_millis| AttemptView {
            attempt,
            error: "E('no')".into(),
            wait_millis,
        };
        ledger
            .keep_attempts("t", "a", &[failed(1, Some(10)), failed(2, None)])
            .unwrap();
        ledger.keep_attempts("t", "b", &[failed(1, None)]).unwrap();
        ledger.keep_attempts("t", "a", &[failed(1, Some(20))]).unwrap();
        let kept = ledger.attempts("t", &["a", "c"]).unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept["a"], [failed(1, Some(20))]);
        ledger.delete_thread("t").unwrap();
        assert!(ledger.attempts("t", &["a", "b"]).unwrap().is_empty());
    }
}
