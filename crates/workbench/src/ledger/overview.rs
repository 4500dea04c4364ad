//! Runs of a period over all threads, and the spans of their tasks: for overviews. Checkpoints are not read.

use rusqlite::params;
use serde::Deserialize;

use super::runs::run_row;
use super::{Ledger, RunRow};
use crate::wire::{Problem, SpanCall, SpanEnd, SpanWait};

/// Spans that are read while the ledger is held: runs write meanwhile.
const CHUNK: i64 = 4_000;

/// A run, and what is known of its thread.
#[derive(Clone, Debug)]
pub(crate) struct RunOfThread {
    pub(crate) run: RunRow,
    /// No run of the thread began after it.
    pub(crate) is_last: bool,
    /// When it began, in milliseconds since the epoch.
    pub(crate) began: f64,
    /// Milliseconds from its beginning to its end.
    pub(crate) millis: Option<f64>,
    /// The title of the thread; none of a thread that only the command line has run.
    pub(crate) title: Option<String>,
    pub(crate) graph_name: Option<String>,
    pub(crate) graph_key: Option<String>,
}

/// Part of a span that an overview reads.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredSpan {
    pub(crate) run_id: String,
    pub(crate) task_id: String,
    pub(crate) parent: Option<String>,
    pub(crate) checkpoint_id: String,
    pub(crate) node: String,
    started: f64,
    ended: f64,
    pub(crate) end: SpanEnd,
    pub(crate) error: Option<String>,
    #[serde(default)]
    pub(crate) calls: Vec<SpanCall>,
    #[serde(default)]
    waits: Vec<SpanWait>,
}

impl StoredSpan {
    /// Returns the milliseconds from the span's start to its end, without those it waited.
    pub(crate) fn worked(&self) -> f64 {
        let waited: f64 = self.waits.iter().map(|wait| wait.to - wait.from).sum();
        (self.ended - self.started - waited).max(0.0)
    }
}

impl Ledger {
    /// Returns the runs that began at or after a moment on threads of the database at `place`, the newest first.
    pub(crate) fn runs_since(&self, since: &str, place: &str) -> Result<Vec<RunOfThread>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT r.run_id, r.thread_id, r.instance, r.status, r.started_at, r.ended_at, r.problem, r.stop,
                     r.summary, t.title, t.graph_name, t.graph_key,
                     NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.thread_id = r.thread_id
                         AND (later.started_at, later.run_id) > (r.started_at, r.run_id)),
                     1000.0 * unixepoch(r.started_at, 'subsec'), 1000.0 * unixepoch(r.ended_at, 'subsec')
                 FROM runs AS r LEFT JOIN threads AS t ON t.thread_id = r.thread_id
                 WHERE r.started_at >= ?1 AND coalesce(t.place, '') IN ('', ?2)
                 ORDER BY r.started_at DESC, r.run_id DESC",
            )?;
            let rows = statement.query_map(params![since, place], |row| {
                let began: f64 = row.get::<_, Option<f64>>(13)?.unwrap_or_default();
                let ended: Option<f64> = row.get(14)?;
                Ok(RunOfThread {
                    run: run_row(row)?,
                    is_last: row.get(12)?,
                    began,
                    // Times are kept in thousandths of a second, and a float has more digits.
                    millis: ended.map(|ended| (ended - began).round().max(0.0)),
                    title: row.get(9)?,
                    graph_name: row.get(10)?,
                    graph_key: row.get(11)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Calls `each` with every span that ended at or after a moment, in milliseconds since the epoch.
    pub(crate) fn each_span_since(
        &self,
        since: f64,
        mut each: impl FnMut(StoredSpan),
    ) -> Result<(), Problem> {
        let mut after = (since, -1_i64);
        loop {
            let bodies = self.with(|c| {
                let mut statement = c.prepare_cached(
                    "SELECT id, iif(json_valid(body), json_extract(body, '$.ended'), NULL) AS ended, body FROM spans
                     WHERE iif(json_valid(body), json_extract(body, '$.ended'), NULL) >= ?1
                         AND (iif(json_valid(body), json_extract(body, '$.ended'), NULL) > ?1 OR id > ?2)
                     ORDER BY iif(json_valid(body), json_extract(body, '$.ended'), NULL), id LIMIT ?3",
                )?;
                let rows = statement.query_map(params![after.0, after.1, CHUNK], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
                rows.collect::<rusqlite::Result<Vec<(i64, f64, String)>>>()
            })?;
            let Some((id, ended, _)) = bodies.last() else {
                return Ok(());
            };
            after = (*ended, *id);
            // What another release wrote and this one does not know is left out.
            let spans = bodies
                .iter()
                .filter_map(|(_, _, body)| serde_json::from_str(body).ok());
            spans.for_each(&mut each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::ThreadRow;
    use crate::wire::{RunStatus, TraceSpan};

    fn ledger() -> (tempfile::TempDir, Ledger) {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
        (dir, ledger)
    }

    #[test]
    fn runs_of_a_period_and_place_come_with_their_threads() {
        let (_dir, ledger) = ledger();
        let thread = |id: &str| ThreadRow {
            thread_id: id.into(),
            title: format!("Title of {id}"),
            graph_name: "Refund".into(),
            graph_key: "/g.json".into(),
            created_at: String::new(),
        };
        ledger.thread_began(&thread("here"), "a").unwrap();
        ledger.thread_began(&thread("elsewhere"), "b").unwrap();
        let run = |id: &str, thread: &str, second: u32| RunRow {
            run_id: id.into(),
            thread_id: thread.into(),
            instance: "i".into(),
            status: RunStatus::Done,
            started_at: format!("2026-01-01T00:00:{second:02}.250000+00:00"),
            ended_at: Some("2026-01-01T00:00:30.750000+00:00".into()),
            problem: None,
            stop: None,
            summary: None,
        };
        for (id, thread, second) in [
            ("1", "here", 1),
            ("2", "here", 2),
            ("3", "here", 3),
            ("4", "elsewhere", 4),
            ("5", "cli", 5),
        ] {
            let run = run(id, thread, second);
            ledger.run_began(&run).unwrap();
            ledger.run_ended(&run).unwrap();
        }
        let found = ledger.runs_since("2026-01-01T00:00:02", "a").unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.run.run_id.as_str(),
                    one.is_last,
                    one.millis,
                    one.title.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("5", true, Some(25_500.0), None),
                ("3", true, Some(27_500.0), Some("Title of here")),
                ("2", false, Some(28_500.0), Some("Title of here")),
            ]
        );
        assert_eq!(found[0].began, 1_767_225_605_250.0);
    }

    #[test]
    fn spans_come_in_the_order_of_their_ends_over_several_chunks() {
        let (_dir, ledger) = ledger();
        let span = |task: &str, ended: f64| TraceSpan {
            run_id: "1".into(),
            task_id: task.into(),
            parent: None,
            checkpoint_id: "c".into(),
            node: "n".into(),
            step: 1,
            started: 1.0,
            ended,
            end: SpanEnd::Done,
            error: None,
            attempts: Vec::new(),
            calls: Vec::new(),
            waits: vec![SpanWait { from: 2.0, to: 4.0 }],
        };
        let many: Vec<TraceSpan> = (0..CHUNK + 10)
            .map(|n| span(&format!("same-{n}"), 50.0))
            .collect();
        ledger
            .keep_spans("here", &[span("b", 20.0), span("a", 10.0)])
            .unwrap();
        ledger.keep_spans("here", &many).unwrap();
        ledger
            .with(|c| {
                c.execute(
                    "INSERT INTO spans (thread_id, checkpoint_id, size, body) VALUES ('here', 'c', 1, '')",
                    [],
                )
            })
            .expect("what is no JSON is kept, and has no time");
        let mut read = Vec::new();
        ledger
            .each_span_since(20.0, |span| read.push((span.task_id.clone(), span.worked())))
            .unwrap();
        assert_eq!(read.len(), many.len() + 1, "each once, over several chunks");
        assert_eq!(read[0], ("b".to_owned(), 17.0));
    }
}
