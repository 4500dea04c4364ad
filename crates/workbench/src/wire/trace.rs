//! What ran when: the tasks of a thread's runs as spans, with their attempts and what they asked of models.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ExchangeCost, ExchangeEnd, ExchangeTokens, RunView};

/// `thread.trace`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadTrace {
    /// The thread.
    pub thread_id: String,
    /// Only spans that were kept after this place: `last` of an answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<u64>,
    /// Largest number of spans, at most 20,000; 0 means 10,000.
    #[serde(default)]
    pub limit: u32,
}

/// Answer of `thread.trace`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceView {
    /// Runs of the thread, the oldest first; the newest of them when there are very many.
    pub runs: Vec<RunView>,
    /// Spans in the order in which they ended: the newest of them, or what came after a place.
    pub spans: Vec<TraceSpan>,
    /// Older ones were left out, or are not kept any more.
    pub left_out: bool,
    /// The place of the last span.
    pub last: u64,
}

/// End of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SpanEnd {
    /// The task finished.
    Done,
    /// It failed.
    Failed,
    /// It asked a question.
    Asking,
    /// The run ended before it.
    Left,
}

/// A task at work in a run, from its start to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceSpan {
    /// The run.
    pub run_id: String,
    /// The task.
    pub task_id: String,
    /// The task whose graph it is of; absent for one of the outermost graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<String>,
    /// The checkpoint of the outermost graph that its step started from.
    pub checkpoint_id: String,
    /// The node.
    pub node: String,
    /// The super-step, of its own graph.
    pub step: i32,
    /// Milliseconds since the epoch at which the step handed it out. It may have had to wait then.
    pub started: f64,
    /// Milliseconds since the epoch.
    pub ended: f64,
    /// How it ended.
    pub end: SpanEnd,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
    /// Attempts that failed before its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<SpanAttempt>>", optional)]
    pub attempts: Vec<SpanAttempt>,
    /// What it asked of models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<SpanCall>>", optional)]
    pub calls: Vec<SpanCall>,
    /// Times at which it waited for one of the places that a limit gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<SpanWait>>", optional)]
    pub waits: Vec<SpanWait>,
}

impl TraceSpan {
    /// Returns the milliseconds that the span waited for a place.
    pub fn waited(&self) -> f64 {
        self.waits.iter().map(|wait| wait.to - wait.from).sum()
    }

    /// Returns the milliseconds from the span's start to its end, without those it waited.
    pub fn worked(&self) -> f64 {
        (self.ended - self.started - self.waited()).max(0.0)
    }
}

/// A time at which a task waited for a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SpanWait {
    /// Milliseconds since the epoch.
    pub from: f64,
    /// Milliseconds since the epoch.
    pub to: f64,
}

/// An attempt that failed and was not the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SpanAttempt {
    /// 1 for the first.
    pub attempt: u32,
    /// When it failed: milliseconds since the epoch.
    pub ended: f64,
    /// Why.
    pub error: String,
    /// The wait before the next attempt; absent when the node's fallback took over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub wait_millis: Option<u32>,
}

/// A request to a model, without what was sent and answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SpanCall {
    /// The model as the graph names it.
    pub model: String,
    /// When it was sent, in milliseconds since the epoch.
    pub at: f64,
    /// How long the answer took, in milliseconds.
    pub millis: u32,
    /// How it ended.
    pub ended: ExchangeEnd,
    /// Tokens, when the server counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tokens: Option<ExchangeTokens>,
    /// What it cost, when there is a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost: Option<ExchangeCost>,
}
