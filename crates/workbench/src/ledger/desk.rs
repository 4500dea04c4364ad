//! Questions beside their answers: to whom they were handed, until when they are put off, and what their threads cost.

use std::collections::HashMap;

use rusqlite::params;

use super::answers::{COLUMNS, read};
use super::{AnswerRow, Ledger, list};
use crate::wire::{ExchangeCost, Problem, QuestionRef, ThreadCost};

impl Ledger {
    /// Returns the last delegation of each question of these threads.
    pub(crate) fn delegations(&self, thread_ids: &[&str]) -> Result<Vec<AnswerRow>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM answers WHERE id IN (
                     SELECT max(id) FROM answers WHERE state IN ('delegated', 'escalated')
                     AND thread_id IN (SELECT value FROM json_each(?1))
                     GROUP BY thread_id, checkpoint_id, interrupt_id)"
            ))?;
            let rows = statement.query_map([list(thread_ids)], read)?;
            rows.collect()
        })
    }

    /// Puts questions off until a time, in milliseconds since the epoch, or brings them back. Times that are over go.
    pub(crate) fn snooze(
        &self,
        questions: &[QuestionRef],
        until: Option<u64>,
        now: u64,
    ) -> Result<(), Problem> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM snoozes WHERE until <= ?1", [now.cast_signed()])?;
            for one in questions {
                let place = [&one.thread_id, &one.checkpoint_id, &one.interrupt_id];
                transaction
                    .prepare_cached(
                        "DELETE FROM snoozes WHERE thread_id = ?1 AND checkpoint_id = ?2 AND interrupt_id = ?3",
                    )?
                    .execute(place)?;
                let Some(until) = until else { continue };
                transaction
                    .prepare_cached(
                        "INSERT INTO snoozes (thread_id, checkpoint_id, interrupt_id, until) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![place[0], place[1], place[2], until.cast_signed()])?;
            }
            Ok(())
        })
    }

    /// Returns until when questions of these threads are put off, by checkpoint and question.
    pub(crate) fn snoozes(&self, thread_ids: &[&str]) -> Result<HashMap<(String, String), u64>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT checkpoint_id, interrupt_id, until FROM snoozes
                 WHERE thread_id IN (SELECT value FROM json_each(?1))",
            )?;
            let rows = statement.query_map([list(thread_ids)], |row| {
                let until: i64 = row.get(2)?;
                Ok(((row.get(0)?, row.get(1)?), until.cast_unsigned()))
            })?;
            rows.collect()
        })
    }

    /// Returns what the models of these threads have cost, of each the currency of which it is most.
    pub(crate) fn costs(&self, thread_ids: &[&str]) -> Result<Vec<ThreadCost>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT thread_id, currency, max(amount) FROM (
                     SELECT spans.thread_id AS thread_id, json_extract(call.value, '$.cost.currency') AS currency,
                         total(json_extract(call.value, '$.cost.amount')) AS amount
                     FROM spans, json_each(iif(json_valid(spans.body), spans.body, '{}'), '$.calls') AS call
                     WHERE spans.thread_id IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2)
                 WHERE currency IS NOT NULL GROUP BY thread_id HAVING max(amount) > 0",
            )?;
            let rows = statement.query_map([list(thread_ids)], |row| {
                Ok(ThreadCost {
                    thread_id: row.get(0)?,
                    cost: ExchangeCost {
                        amount: row.get(2)?,
                        currency: row.get(1)?,
                    },
                })
            })?;
            rows.collect()
        })
    }
}
