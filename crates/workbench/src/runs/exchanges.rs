//! What was asked of models and what they answered, task by task: taken from the kinds when a task is over and kept in the
//! ledger, so that a past run can be looked into as well. The oldest are forgotten when there are too many.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::params;
use superstep_nodes::models::{AnsweredBy, Ended, Exchange};

use crate::Workbench;
use crate::base::blocking;
use crate::ledger::Ledger;
use crate::models::prices::price_late;
use crate::wire::{
    ExchangeCost, ExchangeEnd, ExchangeList, ExchangeTokens, ExchangeView, Json, OfflineAnswer, Problem,
    ReadExchanges,
};

/// Bytes that are kept of all threads together.
const MAX_BYTES: i64 = 256 << 20;
/// Exchanges of an answer, and bytes of what was sent and answered in them.
const MAX_READ: usize = 10_000;
const MAX_READ_BYTES: usize = 8 << 20;
/// Milliseconds that a task may take for its exchanges to be found by when they were sent.
const MAX_TASK: f64 = 3_600_000.0;

pub(crate) fn view(exchange: Exchange) -> ExchangeView {
    let count = |usage: &Json, name: &str| usage[name].as_u64().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
    let at = exchange.at as f64;
    ExchangeView {
        task_id: String::new(),
        model: exchange.model,
        address: exchange.address,
        at,
        millis: u32::try_from(exchange.took).unwrap_or(u32::MAX),
        request: exchange.request,
        body: exchange.body,
        response: exchange.response,
        answer: (!exchange.answer.is_empty()).then_some(exchange.answer),
        by: match exchange.by {
            AnsweredBy::Server => None,
            AnsweredBy::Recording => Some(OfflineAnswer::Recording),
            AnsweredBy::Script => Some(OfflineAnswer::Script),
        },
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
        recorded: exchange.recorded,
    }
}

impl ExchangeView {
    /// Leaves out what interfaces do not show.
    fn shown(self) -> Self {
        Self {
            recorded: None,
            ..self
        }
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
        self.keep_exchanges_within(thread_id, task_id, exchanges, MAX_BYTES)
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

    /// Returns what models answered in a thread, as it is recorded, the oldest first and what these tasks asked last; and
    /// the number of answers of which that was not kept.
    pub(crate) fn recorded_answers(
        &self,
        thread_id: &str,
        tasks: &BTreeSet<String>,
    ) -> Result<(Vec<Json>, u32), Problem> {
        self.with(|c| {
            let mut statement =
                c.prepare_cached("SELECT task_id, body FROM exchanges WHERE thread_id = ?1 ORDER BY id")?;
            let mut rows = statement.query([thread_id])?;
            let (mut others, mut own, mut unrecorded) = (Vec::new(), Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let (task, body): (String, String) = (row.get(0)?, row.get(1)?);
                let Ok(one) = serde_json::from_str::<ExchangeView>(&body) else {
                    continue;
                };
                match one.recorded {
                    Some(recorded) if tasks.contains(&task) => own.push(recorded),
                    Some(recorded) => others.push(recorded),
                    None if one.by.is_none() && one.ended == ExchangeEnd::Done => unrecorded += 1,
                    None => {}
                }
            }
            others.extend(own);
            Ok((others, unrecorded))
        })
    }

    fn exchanges(&self, request: &ReadExchanges) -> Result<Vec<ExchangeView>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT task_id, body FROM exchanges WHERE thread_id = ?1 AND (?2 IS NULL OR task_id = ?2) \
                 ORDER BY id DESC",
            )?;
            let mut rows = statement.query(params![request.thread_id, request.task_id])?;
            let (mut found, mut bytes) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let body: String = row.get(1)?;
                let Ok(mut one) = serde_json::from_str::<ExchangeView>(&body) else {
                    continue;
                };
                // They are kept when a task is over; a task that began before may have ended after.
                if request.since.is_some_and(|since| one.at < since) {
                    if request.since.is_some_and(|since| one.at < since - MAX_TASK) {
                        break;
                    }
                    continue;
                }
                one.task_id = row.get(0)?;
                if request.brief {
                    (one.request, one.body) = (Json::Null, None);
                    (one.response, one.answer) = (String::new(), None);
                } else {
                    bytes += body.len();
                }
                found.push(one);
                if found.len() == MAX_READ || bytes > MAX_READ_BYTES {
                    break;
                }
            }
            found.reverse();
            Ok(found)
        })
    }
}

impl Workbench {
    /// Takes the exchanges with models of a task that has ended.
    pub(crate) fn taken_exchanges(&self, task: &str) -> Vec<ExchangeView> {
        let exchanges = self.registry.exchanges().take(task).into_iter().map(view);
        exchanges.map(ExchangeView::shown).collect()
    }

    pub(crate) async fn thread_exchanges(
        self: &Arc<Self>,
        request: ReadExchanges,
    ) -> Result<ExchangeList, Problem> {
        let this = self.clone();
        let mut exchanges = blocking(move || this.ledger.exchanges(&request)).await??;
        let settings = self.models();
        for one in &mut exchanges {
            price_late(&settings, &one.model, one.tokens, &mut one.cost);
        }
        Ok(ExchangeList {
            exchanges: exchanges.into_iter().map(ExchangeView::shown).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(model: &str, length: usize) -> ExchangeView {
        ExchangeView {
            task_id: String::new(),
            model: model.into(),
            address: String::new(),
            at: 1.0,
            millis: 2,
            request: json!({"messages": []}),
            body: Some(json!({"model": model, "stream": true})),
            response: "x".repeat(length),
            answer: None,
            by: None,
            ended: ExchangeEnd::Done,
            tokens: Some(ExchangeTokens { input: 3, output: 4 }),
            cost: None,
            recorded: None,
        }
    }

    fn of(task: &str) -> ReadExchanges {
        ReadExchanges {
            thread_id: "t".into(),
            task_id: Some(task.into()),
            ..ReadExchanges::default()
        }
    }

    #[test]
    fn they_are_kept_in_order_and_go_with_their_thread() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        ledger.keep_exchanges("t", "a", &[exchange("1", 1)]).unwrap();
        ledger.keep_exchanges("t", "b", &[exchange("2", 1)]).unwrap();
        ledger.keep_exchanges("t", "a", &[exchange("3", 1)]).unwrap();
        let by = |task: &str, one: ExchangeView| ExchangeView {
            task_id: task.into(),
            ..one
        };
        assert_eq!(
            ledger.exchanges(&of("a")).unwrap(),
            [by("a", exchange("1", 1)), by("a", exchange("3", 1))]
        );
        ledger.delete_thread("t").unwrap();
        assert_eq!(ledger.exchanges(&of("a")).unwrap(), []);
    }

    #[test]
    fn those_of_a_run_are_found_by_when_they_were_sent() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        // The task that began first ended last.
        for (task, at) in [("old", 5.0), ("b", 30.0), ("a", 20.0)] {
            let one = ExchangeView {
                at,
                ..exchange(task, 9)
            };
            ledger.keep_exchanges("t", task, &[one]).unwrap();
        }
        ledger.keep_exchanges("other", "c", &[exchange("c", 9)]).unwrap();
        let run = ReadExchanges {
            thread_id: "t".into(),
            since: Some(20.0),
            brief: true,
            ..ReadExchanges::default()
        };
        let found = ledger.exchanges(&run).unwrap();
        let listed: Vec<_> = found
            .iter()
            .map(|one| (one.task_id.as_str(), one.response.as_str()))
            .collect();
        assert_eq!(
            listed,
            [("b", ""), ("a", "")],
            "as they were kept, without the texts"
        );
        assert!(found.iter().all(|one| one.body.is_none()));
        assert_eq!(found[0].tokens, Some(ExchangeTokens { input: 3, output: 4 }));
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
            .filter(|n| !ledger.exchanges(&of(&format!("task-{n}"))).unwrap().is_empty())
            .collect();
        assert_eq!(left, [7, 8, 9]);
    }

    #[test]
    fn what_a_recording_needs_is_kept_and_that_of_the_tasks_that_count_comes_last() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        let recorded = |text: &str| ExchangeView {
            recorded: Some(json!({"answer": text})),
            ..exchange("m", 1)
        };
        ledger
            .keep_exchanges("t", "on the way", &[recorded("1")])
            .unwrap();
        ledger
            .keep_exchanges("t", "on a branch", &[recorded("2")])
            .unwrap();
        ledger.keep_exchanges("t", "older", &[exchange("m", 1)]).unwrap();
        let tasks = BTreeSet::from(["on the way".to_owned()]);
        let (found, unrecorded) = ledger.recorded_answers("t", &tasks).unwrap();
        assert_eq!(found, [json!({"answer": "2"}), json!({"answer": "1"})]);
        assert_eq!(unrecorded, 1);
    }

    #[test]
    fn those_of_before_bodies_were_kept_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        let mut old = serde_json::to_value(exchange("old", 1)).unwrap();
        old.as_object_mut().unwrap().remove("body");
        let insert = "INSERT INTO exchanges (thread_id, task_id, size, body) VALUES ('t', 'a', 1, ?1)";
        ledger
            .with(|c| c.execute(insert, [old.to_string()]).map(drop))
            .unwrap();
        ledger.keep_exchanges("t", "a", &[exchange("new", 1)]).unwrap();
        let found = ledger.exchanges(&of("a")).unwrap();
        let bodies: Vec<_> = found.iter().map(|one| one.body.clone()).collect();
        assert_eq!(bodies, [None, Some(json!({"model": "new", "stream": true}))]);
    }
}
