//! What goes on inside a task that runs another graph: the steps of that graph, from its own checkpoints.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use superstep::checkpoint::{CheckpointAddress, ListQuery};
use superstep::{CheckpointId, StateSnapshot, Value};

use crate::Workbench;
use crate::base::values;
use crate::documents::graphs::Built;
use crate::documents::seen::nodes_around;
use crate::threads::checkpoint_view;
use crate::threads::provenance::records;
use crate::threads::tasks::{TasksOf, task_view};
use crate::threads::ways::Wires;
use crate::wire::{
    AttemptView, InsideView, Problem, ReadInside, ReadThreadInside, ReadWithin, TaskRecordView, WithinStep,
    WithinView,
};
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
    pub(crate) async fn thread_inside(
        self: &Arc<Self>,
        request: ReadThreadInside,
    ) -> Result<InsideView, Problem> {
        let ReadThreadInside {
            thread_id,
            graph_id,
            ns,
        } = request;
        let (built, path) = (self.graph_within(&thread_id, &ns).await?, nodes_around(&ns));
        // Of the graph as it is now the open document knows more than what was built of it.
        match built.filter(|built| built.source.earlier.is_some()) {
            Some(built) => self.inside_of(built.source.clone(), path).await,
            None => self.graph_inside(ReadInside { graph_id, path }).await,
        }
    }

    /// Returns the graph that the newest steps of a nested graph were run with: a thread that goes on with a changed graph
    /// inside of a step has checkpoints of both.
    async fn graph_within(
        self: &Arc<Self>,
        thread_id: &str,
        ns: &str,
    ) -> Result<Option<Arc<Built>>, Problem> {
        let query = ListQuery::new().thread(thread_id).ns(ns).limit(1);
        match self.saver().heads(&query).await?.pop() {
            Some(head) => self.graph_that_ran(thread_id, Some(head)).await,
            None => self.reading_graph(thread_id).await,
        }
    }

    /// Reads the wires of a nested graph, as the thread ran it; none where it cannot be read.
    async fn wires_within(self: &Arc<Self>, built: &Arc<Built>, ns: &str) -> Result<Wires, Problem> {
        let found = self.run_within(built.source.clone(), nodes_around(ns)).await?;
        Ok(found
            .map(|(document, _)| Wires::of(&document))
            .unwrap_or_default())
    }

    pub(crate) async fn thread_within(self: &Arc<Self>, request: ReadWithin) -> Result<WithinView, Problem> {
        let built = self.graph_within(&request.thread_id, &request.ns).await?;
        let saver = self.saver();
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
