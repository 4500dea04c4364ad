//! What goes on inside a task that runs another graph: the steps of that graph, from its own checkpoints.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use superstep::checkpoint::{CheckpointAddress, ListQuery};
use superstep::{CheckpointId, StateSnapshot, Value};

use crate::Workbench;
use crate::base::{blocking, values};
use crate::documents::graphs::Built;
use crate::documents::seen::nodes_around;
use crate::threads::checkpoint_view;
use crate::threads::provenance::records;
use crate::threads::tasks::{TasksOf, task_view};
use crate::threads::ways::Wires;
use crate::wire::{AttemptView, Problem, ReadWithin, TaskRecordView, WithinStep, WithinView};
use superstep_document::text;

/// Steps that are read at once.
const STEPS: u32 = 50;

fn step(
    state: &StateSnapshot,
    attempts: &HashMap<String, Vec<AttemptView>>,
    records: &HashMap<String, TaskRecordView>,
    wires: &Wires,
    closed: bool,
) -> Option<WithinStep> {
    let values = state
        .values
        .as_object()
        .into_iter()
        .flat_map(|values| values.iter());
    let known = TasksOf {
        timings: &[],
        running: &HashSet::new(),
        attempts,
        waiting: None,
        closed,
        document: None,
        wires,
        records,
    };
    let head = state.checkpoint.as_ref()?;
    let root = head.metadata.parents.get("").and_then(Value::as_str);
    Some(WithinStep {
        checkpoint: checkpoint_view(head),
        root: root.map(str::to_owned),
        tasks: state.tasks.iter().map(|task| task_view(task, &known)).collect(),
        state: values
            .map(|(key, value)| (key.to_string(), values::view(value)))
            .collect(),
    })
}

impl Workbench {
    /// Reads the wires of a nested graph, as its file is now; none where it cannot be read.
    async fn wires_within(self: &Arc<Self>, built: &Arc<Built>, ns: &str) -> Result<Wires, Problem> {
        let (this, built, path) = (self.clone(), built.clone(), nodes_around(ns));
        let found = blocking(move || {
            let folder = built.source.path.as_deref().and_then(Path::parent);
            let environment = this.environment(folder.map(Path::to_path_buf));
            this.registry.run_by(&built.source.document, &environment, &path)
        })
        .await?;
        Ok(found
            .map(|(document, _)| Wires::of(&document))
            .unwrap_or_default())
    }

    pub(crate) async fn thread_within(self: &Arc<Self>, request: ReadWithin) -> Result<WithinView, Problem> {
        let (built, saver) = (self.reading_graph(&request.thread_id).await?, self.saver());
        if built.is_none() && saver.foreign().is_none() {
            return Err(Problem::not_found(text!(
                "The graph of the thread is gone, so its nested graphs cannot be read."
            ))
            .remedy(text!(
                "Open the graph that the thread ran with, or put its file back."
            )));
        }
        let limit = match request.limit {
            0 => STEPS,
            limit => limit,
        } as usize;
        let query = ListQuery::new()
            .ns(request.ns.as_str())
            .before(request.before.as_deref().map(CheckpointId::from))
            .limit(limit + 1);
        let history = match &built {
            Some(built) => {
                let thread = request.thread_id.as_str().into();
                built.graph.get_state_history(&thread, &query).await?
            }
            None => {
                let query = query.thread(request.thread_id.as_str());
                saver.foreign_history(&query).await?
            }
        };
        let tasks = history.iter().take(limit).flat_map(|state| &state.tasks);
        let ids: Vec<&str> = tasks.map(|task| task.id.as_str()).collect();
        let attempts = self.ledger.attempts(&request.thread_id, &ids)?;
        let addresses: Vec<CheckpointAddress> = history
            .iter()
            .take(limit)
            .filter_map(|state| state.checkpoint.as_ref())
            .map(|head| CheckpointAddress {
                thread: request.thread_id.as_str().into(),
                ns: request.ns.as_str().into(),
                id: head.id.clone(),
            })
            .collect();
        let writes = self.saver().writes(&addresses).await?;
        let records = records(&writes.concat());
        let wires = match &built {
            Some(built) => self.wires_within(built, &request.ns).await?,
            None => {
                let within = nodes_around(&request.ns);
                self.seen_wires(&request.thread_id, &within).await?
            }
        };
        Ok(WithinView {
            more: history.len() > limit,
            steps: history
                .iter()
                .take(limit)
                .enumerate()
                // The step of the newest checkpoint alone may be open.
                .filter_map(|(place, state)| {
                    step(
                        state,
                        &attempts,
                        &records,
                        &wires,
                        place > 0 || request.before.is_some(),
                    )
                })
                .collect(),
        })
    }
}
