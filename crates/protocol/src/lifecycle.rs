//! Where nested graphs begin and end, read from the tasks of a run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use superstep::stream::{TaskEnd, TaskStart};
use superstep::value::{List, Object};
use superstep::{RunError, Value};

/// Status of a nested graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its first task has begun.
    Started,
    /// The task that ran it has ended.
    Completed,
    /// The task that ran it has failed, or the run has.
    Failed,
    /// It asks.
    Interrupted,
    /// The run was asked to stop at the end of a step.
    Drained,
}

impl Status {
    /// Returns the status' name.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Started => "started",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
            Status::Drained => "drained",
        }
    }
}

/// A nested graph begins or ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifecycle {
    /// Which of both, and how.
    pub status: Status,
    /// The nested graph.
    pub ns: Arc<[String]>,
    /// When it begins: the node that runs it, or the agent's name if the run's metadata has one (`lc_agent_name`).
    pub graph_name: Option<String>,
    /// When it begins: the task that runs it.
    pub trigger_call_id: Option<String>,
    /// When it begins: the id of the tool call that the task was given, for agents.
    pub tool_call_id: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

impl Lifecycle {
    pub(super) fn ended((ns, status, error): Ended) -> Self {
        Lifecycle {
            status,
            ns,
            graph_name: None,
            trigger_call_id: None,
            tool_call_id: None,
            error,
        }
    }

    /// Converts the event to `{"event", "namespace"}` and what else is known.
    pub fn to_json(&self) -> Value {
        let mut shown = Object::new();
        shown.insert("event", self.status.as_str());
        shown.insert("namespace", segments(&self.ns));
        for (name, text) in [
            ("graph_name", &self.graph_name),
            ("trigger_call_id", &self.trigger_call_id),
        ] {
            if let Some(text) = text {
                shown.insert(name, text.as_str());
            }
        }
        if let Some(id) = &self.tool_call_id {
            shown.insert(
                "cause",
                superstep::json!({"type": "toolCall", "tool_call_id": id}),
            );
        }
        if let Some(error) = &self.error {
            shown.insert("error", error.as_str());
        }
        shown.into()
    }
}

/// A nested graph that ended, how, and why it failed.
pub(super) type Ended = (Arc<[String]>, Status, Option<String>);

/// The nested graphs below a place, by the tasks that are reported. A nested graph begins with its first task, and ends with
/// the task that runs it, whose id is in the last segment of its namespace.
#[derive(Debug, Default)]
pub(super) struct Nested {
    /// Those that have begun.
    seen: HashSet<Arc<[String]>>,
    /// Those that have not ended, in the order in which they began.
    open: Vec<(Arc<[String]>, String)>,
    /// The tool calls that tasks were given.
    calls: HashMap<String, String>,
}

impl Nested {
    /// Notes what a task was given; a task that runs a nested graph is reported before the tasks in it.
    pub(super) fn given(&mut self, start: &TaskStart) {
        let id = |call: &Value| call.get("id").and_then(Value::as_str).map(str::to_owned);
        let call = match &start.input {
            Value::Array(calls) => calls.iter().find_map(id),
            one => one.get("tool_call").and_then(id),
        };
        if let Some(call) = call {
            self.calls.insert(start.id.as_str().to_owned(), call);
        }
    }

    /// Records that a task in `ns` begins; returns the beginning of the graph, if this is its first task.
    pub(super) fn begins(&mut self, ns: &Arc<[String]>, start: &TaskStart) -> Option<Lifecycle> {
        let segment = ns.last()?;
        if !self.seen.insert(ns.clone()) {
            return None;
        }
        let (name, task) = match segment.split_once(':') {
            Some((name, task)) => (name, Some(task.to_owned())),
            None => (segment.as_str(), None),
        };
        let agent = start.metadata.get("lc_agent_name").and_then(Value::as_str);
        let cause = (agent.and(task.as_ref())).and_then(|task| self.calls.get(task).cloned());
        if let Some(task) = &task {
            self.open.push((ns.clone(), task.clone()));
        }
        Some(Lifecycle {
            status: Status::Started,
            ns: ns.clone(),
            graph_name: Some(agent.unwrap_or(name))
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            trigger_call_id: task,
            tool_call_id: cause,
            error: None,
        })
    }

    /// Records that a task in `ns` has ended; returns the graphs that it ran.
    pub(super) fn ends(&mut self, ns: &[String], end: &TaskEnd) -> Vec<Ended> {
        let (status, error) = match &end.failure {
            _ if !end.interrupts.is_empty() => (Status::Interrupted, None),
            Some(failure) => (Status::Failed, Some(failure.message.clone())),
            None => (Status::Completed, None),
        };
        let ran = |(below, task): &mut (Arc<[String]>, String)| {
            below.split_last().is_some_and(|(_, above)| above == ns) && *task == end.id.as_str()
        };
        let ended = self.open.extract_if(.., ran);
        ended.map(|(below, _)| (below, status, error.clone())).collect()
    }

    /// Closes the graphs that have not ended when the run is over, and returns them.
    pub(super) fn close(&mut self, status: Status, error: Option<&str>) -> Vec<Ended> {
        let left = self.open.drain(..);
        left.map(|(ns, _)| (ns, status, error.map(str::to_owned)))
            .collect()
    }
}

/// Returns how a run ended, as reported by nested graphs that it leaves open.
pub(super) fn outcome(error: Option<&RunError>) -> (Status, Option<String>) {
    match error {
        None => (Status::Completed, None),
        Some(RunError::Drained { .. }) => (Status::Drained, None),
        Some(RunError::Node { failure, .. }) => (Status::Failed, Some(failure.message.clone())),
        Some(other) => (Status::Failed, Some(other.to_string())),
    }
}

/// Converts the segments of a namespace to JSON.
pub(super) fn segments(ns: &[String]) -> Value {
    let segments = ns.iter().map(|segment| Value::from(segment.as_str()));
    segments.collect::<List>().into()
}
