//! One task in full: what it was given, what it emitted, when it worked, and what stands of its effect.

use std::path::Path;
use std::sync::Arc;

use superstep::checkpoint::{CheckpointAddress, PendingWrite, reserved};
use superstep::inspect::TaskSnapshot;
use superstep::run::StateRef;
use superstep::{CheckpointId, Value};

use crate::Workbench;
use crate::base::values;
use crate::ledger::Ledger;
use crate::wire::{AppEvent, Problem, ReadTask, TaskDetail, TaskEmitted, TaskInput, TraceSpan};
use superstep_document::text;

/// Emitted values of an answer.
const MOST_EMITTED: usize = 1_000;

/// Returns whether the task received a packet instead of the state.
pub(crate) fn is_packet(task: &TaskSnapshot) -> bool {
    let kind = task.path.as_array().and_then(|path| path.get(0));
    kind.and_then(Value::as_str) == Some("__pregel_push")
}

fn input(task: &TaskSnapshot) -> TaskInput {
    match task.input.as_object().filter(|_| !is_packet(task)) {
        Some(keys) => TaskInput::State(
            keys.iter()
                .map(|(key, value)| (key.to_string(), values::view(value)))
                .collect(),
        ),
        None => TaskInput::Packet(values::view(&task.input)),
    }
}

/// Returns the task of another branch whose effect a task reuses, as recorded in its writes.
fn instead(writes: &[PendingWrite], task: &str) -> Option<String> {
    let own =
        |write: &&PendingWrite| write.task_id.as_str() == task && &*write.write.channel == reserved::EFFECT;
    let note = writes.iter().find(own)?;
    let instead = note.write.value.get("instead").and_then(Value::as_str);
    instead.map(str::to_owned)
}

/// Work that a task did, or did not do, as far as it was recorded.
#[derive(Clone, Debug, Default)]
pub struct TaskWork {
    /// When it was at work, once for each run that had it; empty where no program of the data folder saw it.
    pub spans: Vec<TraceSpan>,
    /// Something of its step was recorded: a task without spans did not work.
    pub recorded: bool,
    /// The task of another branch that did the same work before.
    pub instead: Option<String>,
}

/// Reads the work of a task from the data folder and from the writes of its checkpoint, for a host that has no workbench.
pub fn task_work(
    data_dir: &Path,
    thread: &str,
    checkpoint: &str,
    task: &str,
    writes: &[PendingWrite],
) -> Result<TaskWork, Problem> {
    let path = data_dir.join("workbench.db");
    let (spans, recorded) = match path.exists() {
        true => work(&Ledger::open(&path)?, thread, checkpoint, task)?,
        false => (Vec::new(), false),
    };
    Ok(TaskWork {
        spans,
        recorded,
        instead: instead(writes, task),
    })
}

/// Returns the spans of a task, and whether anything of its step was recorded.
fn work(
    ledger: &Ledger,
    thread: &str,
    checkpoint: &str,
    task: &str,
) -> Result<(Vec<TraceSpan>, bool), Problem> {
    let spans = ledger.spans_of(thread, task)?;
    let recorded = !spans.is_empty() || ledger.has_spans_at(thread, checkpoint)?;
    Ok((spans, recorded))
}

impl Workbench {
    pub(crate) async fn thread_task(self: &Arc<Self>, request: ReadTask) -> Result<TaskDetail, Problem> {
        let Some(built) = self.reading_graph(&request.thread_id).await? else {
            return Err(Problem::not_found(text!(
                "The graph of the thread is gone, so it is not known what the task was given."
            ))
            .remedy(text!(
                "Open the graph that the thread ran with, or put its file back."
            )));
        };
        let ns = request.ns.clone().unwrap_or_default();
        let at = StateRef::live(request.thread_id.as_str())
            .checkpoint(Some(CheckpointId::from(request.checkpoint_id.as_str())))
            .within(ns.as_str());
        let state = built.graph.get_state(&at).await?;
        let Some(task) = state
            .tasks
            .iter()
            .find(|task| task.id.as_str() == request.task_id)
        else {
            return Err(Problem::not_found(text!(
                "The checkpoint has no task {task_id}.",
                task_id = &request.task_id
            ))
            .remedy(text!("The graph may have changed since; choose the task again.")));
        };
        let address = CheckpointAddress {
            thread: request.thread_id.as_str().into(),
            ns: ns.as_str().into(),
            id: request.checkpoint_id.as_str().into(),
        };
        let writes = self.saver().writes_of(address).await?;
        let (thread_id, task_id) = (request.thread_id.clone(), request.task_id.clone());
        // After what was handed in before.
        let keeper = self.records.keeper();
        let (kept, spans, recorded) = keeper
            .ask(move |ledger| {
                let (spans, recorded) = work(ledger, &thread_id, &request.checkpoint_id, &task_id)?;
                Ok((ledger.events(&thread_id, None)?, spans, recorded))
            })
            .await?;
        let mut emitted: Vec<TaskEmitted> = (kept.events.into_iter())
            .filter_map(|event| match event {
                AppEvent::Custom {
                    task_id: Some(id),
                    value,
                    at,
                    ..
                } if id == request.task_id => Some(TaskEmitted { at, value }),
                _ => None,
            })
            .collect();
        let beyond = emitted.len().saturating_sub(MOST_EMITTED);
        emitted.drain(..beyond);
        let specs = ns.is_empty().then(|| built.source.document.nodes());
        let policy = specs
            .and_then(|mut nodes| nodes.find(|(id, _)| *id == &*task.name))
            .map(|(_, spec)| spec.policy);
        Ok(TaskDetail {
            input: input(task),
            emitted,
            more_emitted: beyond > 0 || kept.left_out,
            unworked: task.result.is_some() && recorded && spans.is_empty(),
            spans,
            effect: policy
                .and_then(|policy| policy.effect)
                .map(|effect| effect.as_str().to_owned()),
            instead: instead(&writes, &request.task_id),
        })
    }
}
