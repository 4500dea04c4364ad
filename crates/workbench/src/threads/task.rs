//! One task in full: what it was given, what it emitted, when it worked, and what stands of its effect.

use std::path::Path;
use std::sync::Arc;

use superstep::checkpoint::{CheckpointAddress, PendingWrite, reserved};
use superstep::inspect::TaskSnapshot;
use superstep::run::{EffectSource, StateRef};
use superstep::{CheckpointId, Value};

use crate::Workbench;
use crate::base::values;
use crate::ledger::Ledger;
use crate::wire::{
    AppEvent, Problem, ReadTask, SpanEnd, TaskDetail, TaskEmitted, TaskInput, TraceSpan, UnworkedResult,
};
use superstep_document::text;

/// Emitted values of an answer.
const MAX_EMITTED: usize = 1_000;

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

/// Returns what was noted of a task's effect among its writes.
fn effect_note<'a>(writes: &'a [PendingWrite], task: &str) -> Option<&'a Value> {
    let own =
        |write: &&PendingWrite| write.task_id.as_str() == task && &*write.write.channel == reserved::EFFECT;
    Some(&writes.iter().find(own)?.write.value)
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
    /// What its result came from, where that was decided when it began.
    pub source: Option<EffectSource>,
}

impl TaskWork {
    /// Reads the work of a task from the ledger and from the writes of its checkpoint.
    fn read(
        ledger: Option<&Ledger>,
        thread: &str,
        checkpoint: &str,
        task: &str,
        writes: &[PendingWrite],
    ) -> Result<Self, Problem> {
        let spans = match ledger {
            Some(ledger) => ledger.spans_of(thread, task)?,
            None => Vec::new(),
        };
        let recorded = match ledger {
            Some(ledger) => !spans.is_empty() || ledger.has_spans_at(thread, checkpoint)?,
            None => false,
        };
        let note = effect_note(writes, task);
        let instead = note.and_then(|note| note.get("instead")?.as_str());
        Ok(Self {
            spans,
            recorded,
            instead: instead.map(str::to_owned),
            source: note.and_then(EffectSource::of_note),
        })
    }

    /// Returns where the result of a task that has one came from when it did not work for it.
    pub fn unworked(&self) -> Option<UnworkedResult> {
        match self.source {
            Some(EffectSource::Work) => None,
            Some(EffectSource::Earlier) => Some(UnworkedResult::Branch),
            Some(EffectSource::Answer) => Some(UnworkedResult::Answer),
            None if !self.recorded => None,
            // Older releases noted no source. A task that only asked was there, and did not work.
            None if self.instead.is_some() => {
                let only_asked = self.spans.iter().all(|span| span.end == SpanEnd::Asking);
                only_asked.then_some(UnworkedResult::Branch)
            }
            None => self.spans.is_empty().then_some(UnworkedResult::Cache),
        }
    }
}

/// Reads the work of a task from the data folder and from the writes of its checkpoint, for a host that has no workbench.
pub fn task_work(
    data_dir: &Path,
    thread: &str,
    checkpoint: &str,
    task: &str,
    writes: &[PendingWrite],
) -> Result<TaskWork, Problem> {
    let ledger = Ledger::existing(data_dir)?;
    TaskWork::read(ledger.as_ref(), thread, checkpoint, task, writes)
}

impl Workbench {
    pub(crate) async fn thread_task(self: &Arc<Self>, request: ReadTask) -> Result<TaskDetail, Problem> {
        let (built, saver) = (self.reading_graph(&request.thread_id).await?, self.saver());
        if built.is_none() && saver.foreign().is_none() {
            return Err(Problem::not_found(text!(
                "The graph of the thread is gone, so it is not known what the task was given."
            ))
            .remedy(text!(
                "Open the graph that the thread ran with, or put its file back."
            )));
        }
        let ns = request.ns.clone().unwrap_or_default();
        let at = StateRef::live(request.thread_id.as_str())
            .checkpoint(Some(CheckpointId::from(request.checkpoint_id.as_str())))
            .within(ns.as_str());
        let tasks = match &built {
            Some(built) => built.graph.get_state(&at).await?.tasks,
            None => (saver.foreign_state(&at).await?)
                .map(|state| state.tasks)
                .unwrap_or_default(),
        };
        let Some(task) = tasks.iter().find(|task| task.id.as_str() == request.task_id) else {
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
        let keeper = self.runs.records.keeper();
        let (kept, work) = keeper
            .ask(move |ledger| {
                let at = &request.checkpoint_id;
                let work = TaskWork::read(Some(ledger), &thread_id, at, &task_id, &writes)?;
                Ok((ledger.events(&thread_id, None)?, work))
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
        let beyond = emitted.len().saturating_sub(MAX_EMITTED);
        emitted.drain(..beyond);
        let outer = built.as_ref().filter(|_| ns.is_empty());
        let policy = outer
            .and_then(|built| built.source.document.nodes().find(|(id, _)| *id == &*task.name))
            .map(|(_, spec)| spec.policy);
        Ok(TaskDetail {
            input: input(task),
            emitted,
            more_emitted: beyond > 0 || kept.left_out,
            unworked: task.result.as_ref().and_then(|_| work.unworked()),
            effect: policy
                .and_then(|policy| policy.effect)
                .map(|effect| effect.as_str().to_owned()),
            instead: work.instead,
            spans: work.spans,
        })
    }
}
