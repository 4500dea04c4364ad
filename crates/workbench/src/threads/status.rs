//! How threads stand: what storage has of one, what the ledger adds, and who runs it.

use std::collections::HashMap;

use superstep::checkpoint::{CheckpointHead, ListQuery, StorageError, ThreadSummary};
use superstep::inspect::waiting_questions;
use superstep::value::Object;
use superstep::{START, Value};
use superstep_storage::CLASS;

use crate::Workbench;
use crate::base::problem::no_thread;
use crate::base::values::{MAX_TITLE, first_text};
use crate::ledger::{RunRow, ThreadRow};
use crate::models::chosen;
use crate::session::{self, node_of};
use crate::wire::{Problem, RunLabels, RunStatus, ThreadView};

/// Returns whether a value of another program is shown as one that cannot be read.
fn is_closed(value: &Value) -> bool {
    let class = value.get(CLASS).and_then(Value::as_str);
    class.is_some_and(|class| ["encrypted", "unreadable", "pickled"].contains(&class))
}

/// The runs of some threads.
#[derive(Debug, Default)]
pub(crate) struct RunsOf {
    last: HashMap<String, RunRow>,
    /// The other programs that run them, as a person calls them.
    programs: HashMap<String, String>,
}

impl RunsOf {
    pub(crate) fn of(&self, thread_id: &str) -> RunsOfThread<'_> {
        RunsOfThread {
            last: self.last.get(thread_id),
            program: self.programs.get(thread_id).map(String::as_str),
        }
    }
}

/// The runs of a thread.
#[derive(Debug)]
pub(crate) struct RunsOfThread<'a> {
    /// The last that the data folder knows of.
    last: Option<&'a RunRow>,
    /// The other program that runs it, by its claim.
    program: Option<&'a str>,
}

fn small(n: impl TryInto<u32>) -> u32 {
    n.try_into().unwrap_or(u32::MAX)
}

impl Workbench {
    /// Reads what is known of the runs of these threads.
    pub(crate) async fn runs_of(&self, thread_ids: &[&str]) -> Result<RunsOf, Problem> {
        Ok(RunsOf {
            last: self.ledger.last_runs(thread_ids)?,
            programs: self.programs_of(thread_ids).await?,
        })
    }

    fn status(&self, known: &RunsOfThread<'_>, thread_id: &str, head: Option<&CheckpointHead>) -> RunStatus {
        if self.runs.is_running(thread_id) || known.program.is_some() {
            return RunStatus::Running;
        }
        let last = known.last;
        if let Some(last) = last.filter(|last| last.status == RunStatus::Running)
            && self.instance.is_other_alive(&last.instance)
        {
            return RunStatus::Running;
        }
        let Some(head) = head else {
            return RunStatus::Stopped;
        };
        if head.interrupted > 0 {
            return RunStatus::Asking;
        }
        // How a run ended says nothing about what was stored after it: an edit, or a run that the ledger of another data
        // folder holds.
        let newest = last.filter(|last| last.ended_at.as_ref().is_none_or(|ended| *ended > head.ts));
        if head.failed > 0 {
            // LangGraph stores that a task was stopped as its error.
            let stopped = newest.is_some_and(|last| last.status == RunStatus::Stopped);
            return match stopped && self.saver().foreign().is_some() {
                true => RunStatus::Stopped,
                false => RunStatus::Failed,
            };
        }
        match newest.map(|last| last.status) {
            _ if head.next.is_empty() => RunStatus::Done,
            Some(RunStatus::Failed) => RunStatus::Failed,
            // A run that never ended belongs to a process that is gone.
            Some(RunStatus::Stopped | RunStatus::Running) => RunStatus::Stopped,
            _ => RunStatus::Paused,
        }
    }

    pub(crate) fn thread_view(
        &self,
        summary: &ThreadSummary,
        row: Option<&ThreadRow>,
        known: &RunsOfThread<'_>,
    ) -> Result<ThreadView, Problem> {
        let (head, id) = (&summary.head, summary.thread.as_str());
        let key = match self.graph_key(head, row) {
            Some(key) => Some(self.ledger.followed(&key)?),
            None => None,
        };
        let graph_name = row
            .map(|row| row.graph_name.clone())
            .or_else(|| session::graph_name(head).map(str::to_owned))
            .unwrap_or_default();
        let ended = known
            .last
            .and_then(|last| last.ended_at.as_ref())
            .filter(|ended| **ended > head.ts);
        Ok(ThreadView {
            thread_id: id.to_owned(),
            title: row.map_or_else(|| id.to_owned(), |row| row.title.clone()),
            graph_name,
            graph_path: key.filter(|key| !key.starts_with("draft-")),
            status: self.status(known, id, Some(head)),
            next: head.next.iter().map(ToString::to_string).collect(),
            questions: head.interrupted,
            checkpoints: small(summary.checkpoints),
            step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
            head: Some(head.id.to_string()),
            models: chosen(head),
            labels: RunLabels::of_checkpoint(head),
            disabled: session::disabled_nodes(head).map(str::to_owned).collect(),
            pinned: session::pinned_nodes(head).map(str::to_owned).collect(),
            run: known.last.map(RunRow::view),
            program: known.program.map(str::to_owned),
            created_at: summary.created.clone(),
            updated_at: ended.unwrap_or(&head.ts).clone(),
        })
    }

    /// Returns the name and the id of the graph of a thread that another program makes, as it was seen.
    pub(crate) async fn seen_as(&self, thread: &str) -> Result<Option<(String, String)>, Problem> {
        let found = self.seen_of(thread).await?;
        let graph = found.as_ref().and_then(|(seen, place)| seen.graphs.get(*place));
        Ok(graph.map(|graph| (graph.name.clone(), graph.id.clone())))
    }

    /// Names the graph of a thread that another program makes.
    pub(crate) async fn name_seen(&self, view: &mut ThreadView) -> Result<(), Problem> {
        if let Some((name, id)) = self.seen_as(&view.thread_id).await? {
            view.graph_name = name;
            view.graph_path = Some(id);
        }
        Ok(())
    }

    /// Returns whether a thread is of a graph that was seen; of `None` all are.
    pub(crate) async fn is_of(&self, thread: &str, graph: Option<&str>) -> Result<bool, Problem> {
        let Some(wanted) = graph else { return Ok(true) };
        let found = self.seen_as(thread).await?;
        Ok(found.is_some_and(|(_, id)| id == wanted))
    }

    /// Sets `next` of a thread that asks to the nodes that ask; nodes that finished in the same step do not run again.
    pub(crate) async fn name_asking(&self, view: &mut ThreadView) -> Result<(), Problem> {
        let Some(head) = view
            .head
            .as_deref()
            .filter(|_| view.status == RunStatus::Asking && view.questions as usize != view.next.len())
        else {
            return Ok(());
        };
        let pending = self.writes_at(&view.thread_id, &head.into()).await?;
        let nodes: Option<Vec<String>> = waiting_questions(&pending)
            .iter()
            .map(|(write, _)| node_of(&write.task_path).map(str::to_owned))
            .collect();
        if let Some(nodes) = nodes.filter(|nodes| !nodes.is_empty()) {
            view.next = nodes;
        }
        Ok(())
    }

    /// Builds the view of a thread whose run has not stored anything yet.
    pub(crate) fn young_thread(
        &self,
        row: &ThreadRow,
        known: &RunsOfThread<'_>,
    ) -> Result<ThreadView, Problem> {
        let key = self.ledger.followed(&row.graph_key)?;
        Ok(ThreadView {
            thread_id: row.thread_id.clone(),
            title: row.title.clone(),
            graph_name: row.graph_name.clone(),
            graph_path: Some(key).filter(|key| !key.starts_with("draft-")),
            status: self.status(known, &row.thread_id, None),
            next: Vec::new(),
            questions: 0,
            checkpoints: 0,
            step: -1,
            head: None,
            models: None,
            labels: None,
            disabled: Vec::new(),
            pinned: Vec::new(),
            run: known.last.map(RunRow::view),
            program: known.program.map(str::to_owned),
            created_at: row.created_at.clone(),
            updated_at: known
                .last
                .and_then(|last| last.ended_at.clone())
                .unwrap_or_else(|| row.created_at.clone()),
        })
    }

    /// Records a thread that another program began, with a title made from its first input, as for our own threads.
    pub(crate) async fn adopt(&self, summary: &ThreadSummary) -> Result<ThreadRow, Problem> {
        let id = summary.thread.as_str();
        let name = session::graph_name(&summary.head);
        // The input that began the thread is the one before its first super-step.
        let began: Object = [("source", Value::from("input")), ("step", Value::from(-1))]
            .into_iter()
            .collect();
        let query = ListQuery::new()
            .thread(summary.thread.clone())
            .ns("")
            .filter(began)
            .limit(1);
        let first = self.saver().heads(&query).await?;
        let (mut title, mut is_read) = (None, true);
        if let Some(first) = first.first() {
            let keys = [START.into()];
            let input = self
                .saver()
                .values(&summary.thread, "", Some(&first.id), &keys)
                .await;
            let input = match input {
                Ok(values) => values.and_then(|values| values.get(START).cloned()),
                // What cannot be read is no reason to show no list.
                Err(StorageError::Corrupt { .. }) => {
                    is_read = false;
                    None
                }
                Err(error) => return Err(error.into()),
            };
            is_read &= !input.as_ref().is_some_and(is_closed);
            title = input
                .filter(|_| is_read)
                .and_then(|input| first_text(&input, MAX_TITLE));
        }
        let row = ThreadRow {
            thread_id: id.to_owned(),
            title: title.unwrap_or_else(|| name.unwrap_or(id).to_owned()),
            graph_name: name.unwrap_or_default().to_owned(),
            graph_key: session::graph_path(&summary.head).unwrap_or_default().to_owned(),
            created_at: summary.created.clone(),
        };
        // With another key its title may be read.
        if is_read {
            self.ledger.thread_began(&row, &self.database.place())?;
        }
        Ok(row)
    }

    /// Returns the current view of a thread.
    pub(crate) async fn thread(&self, thread_id: &str) -> Result<ThreadView, Problem> {
        let row = self.ledger.thread(thread_id)?;
        let runs = self.runs_of(&[thread_id]).await?;
        let known = runs.of(thread_id);
        let stored = self.saver().thread(&thread_id.into()).await;
        match stored? {
            Some(summary) => {
                let row = match row {
                    Some(row) => row,
                    None => self.adopt(&summary).await?,
                };
                let mut view = self.thread_view(&summary, Some(&row), &known)?;
                self.name_asking(&mut view).await?;
                self.name_seen(&mut view).await?;
                Ok(view)
            }
            // What was stored once and is not there any more was deleted by another program.
            None if !self.runs.is_running(thread_id) && self.ledger.has_stored(thread_id)? => {
                Err(no_thread(thread_id))
            }
            None => self.young_thread(&row.ok_or_else(|| no_thread(thread_id))?, &known),
        }
    }
}
