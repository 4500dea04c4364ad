//! Runs that another program hands over: this one has the threads, and the other shows what happens as if it ran there.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use superstep::run::RunStatus;
use superstep::stream::Payload;
use superstep::{Interrupt, RunError, RunResult, StreamEvent, StreamMode, Value};
use superstep_document::Document;
use tokio::sync::mpsc;

use crate::documents::GraphSource;
use crate::wire::{EffectChoice, RunStop, StartRun};

/// Events of a run that may wait for the program that shows them.
const MAX_WAITING: usize = 4096;

/// A run for another program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandedRun {
    /// What to run.
    pub start: StartRun,
    /// The graph as the other program has read it; absent for the one that the thread ran with.
    pub graph: Option<HandedGraph>,
    /// Modes of the engine's stream to report.
    pub modes: Vec<String>,
    /// At most this number of nodes at once.
    pub max_concurrency: Option<NonZeroUsize>,
    /// What happens with effects that were done already, of every node.
    pub effects: Option<EffectChoice>,
}

/// A graph file and what is in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandedGraph {
    /// Its absolute path.
    pub path: PathBuf,
    /// See [`content_of`].
    pub content: String,
}

/// Returns a name for the content of a document, equal for equal content.
pub fn content_of(document: &Document) -> String {
    let text = document.to_text();
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// A report of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Reported {
    /// Something happened.
    Event {
        /// Events before this one are missing: they came faster than they were taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lost: bool,
        /// What.
        event: Streamed,
    },
    /// The run is over.
    Ended {
        /// How it ended.
        ending: Ending,
    },
}

/// An event of the engine's stream, in LangGraph's form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Streamed {
    /// Its mode.
    pub event: String,
    /// The nested graph that it is of; empty for the outermost.
    pub ns: Vec<String>,
    /// What happened.
    pub data: Value,
    /// The super-step of a task, which the form does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
}

impl From<&StreamEvent> for Streamed {
    fn from(event: &StreamEvent) -> Self {
        let step = match &event.payload {
            Payload::TaskStart(task) => Some(task.step),
            Payload::TaskEnd(task) => Some(task.step),
            _ => None,
        };
        Self {
            event: event.mode().as_str().to_owned(),
            ns: event.ns.to_vec(),
            data: event.data(),
            step,
        }
    }
}

/// Outcome of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Ending {
    /// It came to a stop by itself.
    Result {
        /// `done`, `interrupted` or `breakpoint`.
        status: String,
        /// The output keys of the state.
        values: Value,
        /// Questions that wait: `{"id", "value"}` each.
        interrupts: Vec<Value>,
        /// The newest checkpoint.
        checkpoint: Option<String>,
        /// Where a breakpoint stopped it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<RunStop>,
    },
    /// It failed, or was stopped.
    Failed {
        /// Stable code, in kebab-case.
        code: String,
        /// What happened.
        message: String,
        /// The node that failed, or that was not begun.
        node: Option<String>,
        /// Its task.
        task: Option<String>,
        /// For an effect that was done already: where.
        checkpoint: Option<String>,
        /// For an effect that was done already: with the same input.
        same_input: bool,
    },
}

impl From<&Result<RunResult, RunError>> for Ending {
    fn from(result: &Result<RunResult, RunError>) -> Self {
        match result {
            Ok(result) => Ending::Result {
                status: match result.status {
                    RunStatus::Done => "done",
                    RunStatus::Interrupted => "interrupted",
                    RunStatus::Breakpoint => "breakpoint",
                }
                .to_owned(),
                values: result.value.clone(),
                interrupts: result.interrupts.iter().map(Interrupt::to_json).collect(),
                checkpoint: result.checkpoint_id.as_ref().map(ToString::to_string),
                stop: result.stopped.as_ref().map(RunStop::from),
            },
            Err(error) => {
                let (mut node_of, mut task_of, mut at, mut same) = (None, None, None, false);
                match error {
                    RunError::Node { node, task_id, .. } => {
                        (node_of, task_of) = (Some(node.to_string()), Some(task_id.to_string()));
                    }
                    RunError::Effect {
                        node,
                        checkpoint,
                        same_input,
                        ..
                    } => {
                        (node_of, at) = (Some(node.to_string()), Some(checkpoint.to_string()));
                        same = *same_input;
                    }
                    _ => {}
                }
                Ending::Failed {
                    code: error.code().to_owned(),
                    message: error.to_string(),
                    node: node_of,
                    task: task_of,
                    checkpoint: at,
                    same_input: same,
                }
            }
        }
    }
}

/// Own settings of a run that was handed over.
#[derive(Debug)]
pub(crate) struct Handed {
    pub(crate) source: Option<GraphSource>,
    pub(crate) max_concurrency: Option<NonZeroUsize>,
    pub(crate) effects: Option<EffectChoice>,
    pub(crate) report: Report,
}

/// Reporter of a run to the program that handed it over. A program that does not receive the reports misses parts, and
/// delays nothing.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) modes: Vec<StreamMode>,
    reported: mpsc::Sender<Reported>,
    lost: bool,
}

impl Report {
    /// Creates a reporter of events of these modes, and what it reports.
    pub(crate) fn new(modes: Vec<StreamMode>) -> (Self, mpsc::Receiver<Reported>) {
        let (reported, reports) = mpsc::channel(MAX_WAITING);
        let report = Self {
            modes,
            reported,
            lost: false,
        };
        (report, reports)
    }

    pub(crate) fn note(&mut self, event: &StreamEvent) {
        if !event.ns.is_empty() || !self.modes.contains(&event.mode()) {
            return;
        }
        let event = Reported::Event {
            lost: self.lost,
            event: event.into(),
        };
        self.lost = self.reported.try_send(event).is_err();
    }

    pub(crate) fn end(self, ending: Ending) {
        let end = async move { self.reported.send(Reported::Ended { ending }).await };
        tokio::spawn(end);
    }
}
