//! What was asked of models and what they answered, task by task: taken from the kinds when a task is over and kept in the
//! ledger, so that a past run can be looked into as well. The oldest are forgotten when there are too many.

use std::sync::Arc;

use rusqlite::params;
use superstep_nodes::models::{Ended, Exchange};

use crate::Workbench;
use crate::base::blocking;
use crate::ledger::Ledger;
use crate::wire::{
    ExchangeCost, ExchangeEnd, ExchangeList, ExchangeTokens, ExchangeView, Json, Problem, ReadExchanges,
};

/// Bytes that are kept of all threads together.
const MOST_BYTES: i64 = 256 << 20;

fn view(exchange: Exchange) -> ExchangeView {
    let count = |usage: &Json, name: &str| usage[name].as_u64().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
    let at = exchange.at as f64;
    ExchangeView {
        model: exchange.model,
        address: exchange.address,
        at,
        millis: u32::try_from(exchange.took).unwrap_or(u32::MAX),
        request: exchange.request,
        response: exchange.response,
        ended: match exchange.ended {
            Ended::Done => ExchangeEnd::Done,
            Ended::Failed => ExchangeEnd::Failed,
            Ended::Left => ExchangeEnd::Left,
        },
        tokens: exchange.usage.as_ref().map(|usage| ExchangeTokens {
            input: count(usage, "input_tokens"),
            output: count(usage, "output_tokens"),
        }),
        cost: exchange.cost.as_ref().and_then(|cost| {
            Some(ExchangeCost {
                amount: cost["amount"].as_f64()?,
                currency: cost["currency"].as_str()?.to_owned(),
            })
        }),
    }
}

impl Ledger {
    /// Adds exchanges of a task, after those of its earlier attempts.
    pub(crate) fn keep_exchanges(
        &self,
        thread_id: &str,
        task_id: &str,
        exchanges: &[ExchangeView],
    ) -> Result<(), Problem> {
        self.keep_exchanges_within(thread_id, task_id, exchanges, MOST_BYTES)
    }

    fn keep_exchanges_within(
        &self,
        thread_id: &str,
        task_id: &str,
        exchanges: &[ExchangeView],
        most: i64,
    ) -> Result<(), Problem> {
        let bodies = exchanges.iter().filter_map(|one| serde_json::to_string(one).ok());
        let bodies: Vec<String> = bodies.collect();
        self.with(|c| {
            let transaction = c.transaction()?;
            {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO exchanges (thread_id, task_id, size, body) VALUES (?1, ?2, length(?3), ?3)",
                )?;
                for body in &bodies {
                    insert.execute(params![thread_id, task_id, body])?;
                }
                let mut sum = transaction.prepare_cached("SELECT total(size) FROM exchanges")?;
                #[expect(clippy::cast_precision_loss, reason = "a limit, not an account")]
                if sum.query_row([], |row| row.get::<_, f64>(0))? > most as f64 {
                    transaction.execute(
                        "DELETE FROM exchanges WHERE id <= (SELECT max(id) FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) \
                         AS newer FROM exchanges) WHERE newer > ?1)",
                        [most],
                    )?;
                }
            }
            transaction.commit()
        })
    }

    fn exchanges(&self, thread_id: &str, task_id: &str) -> Result<Vec<ExchangeView>, Problem> {
        let bodies = self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT body FROM exchanges WHERE thread_id = ?1 AND task_id = ?2 ORDER BY id",
            )?;
            let rows = statement.query_map([thread_id, task_id], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        Ok(bodies
            .iter()
            .filter_map(|body| serde_json::from_str(body).ok())
            .collect())
    }
}

impl Workbench {
    /// What a task that is over asked of models.
    pub(crate) fn taken_exchanges(&self, task: &str) -> Vec<ExchangeView> {
        let exchanges = self.registry.exchanges().take(task);
        exchanges.into_iter().map(view).collect()
    }

    pub(crate) async fn thread_exchanges(
        self: &Arc<Self>,
        request: ReadExchanges,
    ) -> Result<ExchangeList, Problem> {
        let this = self.clone();
        let exchanges = blocking(move || this.ledger.exchanges(&request.thread_id, &request.task_id));
        Ok(ExchangeList {
            exchanges: exchanges.await??,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(model: &str, length: usize) -> ExchangeView {
        ExchangeView {
            model: model.into(),
            address: String::new(),
            at: 1.0,
            millis: 2,
            request: json!({"messages": []}),
            response: "x".repeat(length),
            ended: ExchangeEnd::Done,
            tokens: Some(ExchangeTokens { input: 3, output: 4 }),
            cost: None,
        }
    }

    #[test]
    fn they_are_kept_in_order_and_go_with_their_thread() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        ledger.keep_exchanges("t", "a", &[exchange("1", 1)]).unwrap();
        ledger.keep_exchanges("t", "b", &[exchange("2", 1)]).unwrap();
        ledger.keep_exchanges("t", "a", &[exchange("3", 1)]).unwrap();
        assert_eq!(
            ledger.exchanges("t", "a").unwrap(),
            [exchange("1", 1), exchange("3", 1)]
        );
        ledger.delete_thread("t").unwrap();
        assert_eq!(ledger.exchanges("t", "a").unwrap(), []);
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        for n in 0..10 {
            ledger
                .keep_exchanges_within("t", &format!("task-{n}"), &[exchange("m", 10_000)], 35_000)
                .unwrap();
        }
        let left: Vec<usize> = (0..10)
            .filter(|n| !ledger.exchanges("t", &format!("task-{n}")).unwrap().is_empty())
            .collect();
        assert_eq!(left, [7, 8, 9]);
    }
}
