//! Spans of tasks: what ran when, in every run. The newest are kept, of all threads together.

use rusqlite::params;

use super::runs::run_row;
use super::{Ledger, RunRow};
use crate::wire::{Problem, TraceSpan};

/// Bytes of JSON that are kept of all threads together.
const MAX_BYTES_OF_ALL: u64 = 128 << 20;
/// Runs of an answer.
const MAX_RUNS: usize = 2_000;

/// Spans of a thread.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    /// In the order in which they ended.
    pub(crate) spans: Vec<TraceSpan>,
    /// There are more.
    pub(crate) left_out: bool,
    /// The place of the last.
    pub(crate) last: u64,
}

impl Ledger {
    /// Adds spans that ended.
    pub(crate) fn keep_spans(&self, thread_id: &str, spans: &[TraceSpan]) -> Result<(), Problem> {
        self.with(|c| {
            let transaction = c.transaction()?;
            {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO spans (thread_id, checkpoint_id, size, body) VALUES (?1, ?2, length(?3), ?3)",
                )?;
                for span in spans {
                    let body = serde_json::to_string(span).unwrap_or_default();
                    insert.execute(params![thread_id, span.checkpoint_id, body])?;
                }
            }
            transaction.commit()
        })
    }

    /// Returns the newest spans of a thread that came after a place.
    pub(crate) fn spans(&self, thread_id: &str, after: u64, most: usize) -> Result<Spans, Problem> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT id, body FROM spans WHERE thread_id = ?1 AND id > ?2 ORDER BY id DESC LIMIT ?3",
            )?;
            let mut rows = statement.query(params![thread_id, after, most as i64 + 1])?;
            let mut found = Spans {
                last: after.unsigned_abs(),
                ..Spans::default()
            };
            while let Some(row) = rows.next()? {
                if found.spans.len() == most {
                    found.left_out = true;
                    break;
                }
                found.last = found.last.max(row.get::<_, i64>(0)?.unsigned_abs());
                let body: String = row.get(1)?;
                // What another release wrote and this one does not know is left out.
                found.spans.extend(serde_json::from_str::<TraceSpan>(&body).ok());
            }
            found.spans.reverse();
            Ok(found)
        })
    }

    /// Returns the newest spans of all threads of a graph, the newest first.
    pub(crate) fn spans_of_graph(&self, key: &str, most: usize) -> Result<Vec<TraceSpan>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT body FROM spans WHERE thread_id IN (SELECT thread_id FROM threads WHERE graph_key = ?1)
                 ORDER BY id DESC LIMIT ?2",
            )?;
            let rows = statement.query_map(params![key, most as i64], |row| row.get::<_, String>(0))?;
            let bodies = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok((bodies.iter()).filter_map(|body| serde_json::from_str(body).ok()).collect())
        })
    }

    /// Returns the spans of one task, the oldest first.
    pub(crate) fn spans_of(&self, thread_id: &str, task_id: &str) -> Result<Vec<TraceSpan>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT body FROM spans WHERE thread_id = ?1 AND instr(body, ?2) > 0 ORDER BY id",
            )?;
            let rows = statement.query_map(params![thread_id, task_id], |row| row.get::<_, String>(0))?;
            let bodies = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let spans = (bodies.iter()).filter_map(|body| serde_json::from_str::<TraceSpan>(body).ok());
            // Those of tasks within it name it too.
            Ok(spans.filter(|span| span.task_id == task_id).collect())
        })
    }

    /// Returns what the requests to models in a thread's spans have cost, in the currency of which it is most.
    pub(crate) fn cost(&self, thread_id: &str) -> Result<f64, Problem> {
        self.with(|c| {
            c.prepare_cached(
                "SELECT coalesce(max(cost), 0.0) FROM (
                     SELECT total(json_extract(call.value, '$.cost.amount')) AS cost
                     FROM spans, json_each(spans.body, '$.calls') AS call
                     WHERE spans.thread_id = ?1 GROUP BY json_extract(call.value, '$.cost.currency'))",
            )?
            .query_row([thread_id], |row| row.get(0))
        })
    }

    /// Returns whether the ledger has a span of a step that began from a checkpoint.
    pub(crate) fn has_spans_at(&self, thread_id: &str, checkpoint_id: &str) -> Result<bool, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM spans WHERE thread_id = ?1 AND checkpoint_id = ?2)",
            )?;
            statement.query_row(params![thread_id, checkpoint_id], |row| row.get(0))
        })
    }

    /// Returns the newest runs of a thread, the oldest of them first.
    pub(crate) fn runs_of(&self, thread_id: &str) -> Result<Vec<RunRow>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT run_id, thread_id, instance, status, started_at, ended_at, problem, stop, summary
                 FROM runs WHERE thread_id = ?1 ORDER BY started_at DESC, run_id DESC LIMIT ?2",
            )?;
            let rows = statement.query_map(params![thread_id, MAX_RUNS as i64], run_row)?;
            let mut runs = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            runs.reverse();
            Ok(runs)
        })
    }

    /// Forgets the oldest spans of all threads when there are too many.
    pub(crate) fn trim_spans(&self) -> Result<(), Problem> {
        self.trim_spans_to(MAX_BYTES_OF_ALL)
    }

    fn trim_spans_to(&self, most: u64) -> Result<(), Problem> {
        self.with(|c| {
            let sum: f64 = c
                .prepare_cached("SELECT total(size) FROM spans")?
                .query_row([], |row| row.get(0))?;
            #[expect(clippy::cast_precision_loss, reason = "a limit, not an account")]
            if sum > most as f64 {
                c.execute(
                    "DELETE FROM spans WHERE id <= (SELECT max(id) FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) \
                     AS newer FROM spans) WHERE newer > ?1)",
                    [most as i64],
                )?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ExchangeCost, ExchangeEnd, ExchangeTokens, SpanAttempt, SpanCall, SpanEnd, SpanWait};

    fn ledger() -> (Ledger, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        (Ledger::open(&dir.path().join("workbench.db")).unwrap(), dir)
    }

    fn span(task: &str, checkpoint: &str) -> TraceSpan {
        TraceSpan {
            run_id: "r".into(),
            task_id: task.into(),
            parent: None,
            checkpoint_id: checkpoint.into(),
            node: "n".into(),
            step: 1,
            started: 1.0,
            ended: 4.0,
            end: SpanEnd::Done,
            error: None,
            attempts: Vec::new(),
            calls: Vec::new(),
            waits: Vec::new(),
        }
    }

    fn tasks(found: &Spans) -> Vec<&str> {
        found.spans.iter().map(|span| span.task_id.as_str()).collect()
    }

    #[test]
    fn a_span_is_read_as_it_was_kept_and_goes_with_its_thread() {
        let (ledger, _dir) = ledger();
        let whole = TraceSpan {
            parent: Some("a".into()),
            end: SpanEnd::Failed,
            error: Some("E('no')".into()),
            attempts: vec![SpanAttempt {
                attempt: 1,
                ended: 2.0,
                error: "E('no')".into(),
                wait_millis: Some(10),
            }],
            calls: vec![SpanCall {
                model: "m".into(),
                at: 1.5,
                millis: 1,
                ended: ExchangeEnd::Done,
                tokens: Some(ExchangeTokens { input: 3, output: 4 }),
                cost: Some(ExchangeCost {
                    amount: 0.5,
                    currency: "USD".into(),
                }),
            }],
            waits: vec![SpanWait { from: 1.0, to: 1.25 }],
            ..span("b", "c2")
        };
        ledger.keep_spans("t", &[span("a", "c1"), whole.clone()]).unwrap();
        ledger.keep_spans("other", &[span("z", "c1")]).unwrap();
        let found = ledger.spans("t", 0, 10).unwrap();
        assert_eq!(found.spans, [span("a", "c1"), whole]);
        assert_eq!(
            (ledger.cost("t").unwrap(), ledger.cost("other").unwrap()),
            (0.5, 0.0)
        );
        assert!(!found.left_out);
        ledger.forget_before("t", "c2").unwrap();
        assert_eq!(tasks(&ledger.spans("t", 0, 10).unwrap()), ["b"]);
        ledger.delete_thread("t").unwrap();
        assert!(ledger.spans("t", 0, 10).unwrap().spans.is_empty());
        assert_eq!(tasks(&ledger.spans("other", 0, 10).unwrap()), ["z"]);
    }

    #[test]
    fn the_newest_are_read_and_what_came_after_them() {
        let (ledger, _dir) = ledger();
        let many: Vec<TraceSpan> = (0..5).map(|n| span(&n.to_string(), "c")).collect();
        ledger.keep_spans("t", &many).unwrap();
        let newest = ledger.spans("t", 0, 2).unwrap();
        assert_eq!((tasks(&newest), newest.left_out), (vec!["3", "4"], true));
        let none = ledger.spans("t", newest.last, 2).unwrap();
        assert_eq!((none.spans.len(), none.last), (0, newest.last));
        ledger.keep_spans("t", &[span("5", "c")]).unwrap();
        assert_eq!(tasks(&ledger.spans("t", newest.last, 2).unwrap()), ["5"]);
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let (ledger, _dir) = ledger();
        let size = serde_json::to_string(&span("0", "c")).unwrap().len() as u64;
        let many: Vec<TraceSpan> = (0..9).map(|n| span(&n.to_string(), "c")).collect();
        ledger.keep_spans("t", &many).unwrap();
        ledger.trim_spans_to(size * 9).unwrap();
        assert_eq!(ledger.spans("t", 0, 10).unwrap().spans.len(), 9, "they fit");
        ledger.trim_spans_to(size * 3 + 1).unwrap();
        assert_eq!(tasks(&ledger.spans("t", 0, 10).unwrap()), ["6", "7", "8"]);
    }
}
