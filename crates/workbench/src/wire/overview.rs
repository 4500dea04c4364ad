//! Runs of many threads: how many there were, how they ended, what they took and cost, and lists of them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ExchangeCost, RunStatus, RunView};

/// Runs that an overview counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunPeriod {
    /// Only runs that began at or after this moment, in milliseconds since the epoch; absent for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<f64>,
    /// Only runs of this graph: a `key` of [`GraphRuns`]. Absent for every graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph: Option<String>,
}

/// State of a run in an overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum OverviewStatus {
    /// It goes on.
    Running,
    /// It came to its end.
    Done,
    /// It failed.
    Failed,
    /// A person stopped it, or its program is gone.
    Stopped,
    /// It ended with a question or at a breakpoint, and nothing was run on its thread since.
    Waiting,
    /// It ended with a question or at a breakpoint, and a later run went on from there.
    Continued,
}

/// Number of runs of each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunCounts {
    /// All of them.
    pub begun: u32,
    /// Those of [`OverviewStatus::Running`].
    pub running: u32,
    /// Those of [`OverviewStatus::Done`].
    pub done: u32,
    /// Those of [`OverviewStatus::Failed`].
    pub failed: u32,
    /// Those of [`OverviewStatus::Stopped`].
    pub stopped: u32,
    /// Those of [`OverviewStatus::Waiting`].
    pub waiting: u32,
    /// Those of [`OverviewStatus::Continued`].
    pub continued: u32,
}

/// Median and 95th percentile of durations, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Durations {
    /// Half of them took at most so long.
    pub median: f64,
    /// 95 of 100 took at most so long.
    pub p95: f64,
}

/// Tasks of a node that failed with the same class of error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeFailures {
    /// The graph of their threads.
    pub graph: String,
    /// Its name; empty when it is not known.
    pub graph_name: String,
    /// The node.
    pub node: String,
    /// The class of the error.
    pub class: String,
    /// How many tasks failed so.
    pub tasks: u32,
    /// In how many runs.
    pub runs: u32,
}

/// Times of the tasks of a node, waits for a place left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeTimes {
    /// The graph of their threads.
    pub graph: String,
    /// Its name; empty when it is not known.
    pub graph_name: String,
    /// The node.
    pub node: String,
    /// How many tasks of it ended.
    pub tasks: u32,
    /// How long they took.
    pub took: Durations,
    /// Milliseconds of all of them together.
    pub total: f64,
}

/// Runs of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GraphRuns {
    /// Its file, or the id of a draft; empty for threads of which it is not known.
    pub key: String,
    /// Its name.
    pub name: String,
    /// How many began.
    pub runs: u32,
}

/// Part of the period of an overview.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RunSlice {
    /// When it begins, in milliseconds since the epoch.
    pub from: f64,
    /// Runs that began in it.
    pub begun: u32,
    /// Those of them that failed.
    pub failed: u32,
}

/// Answer of `runs.overview`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunsOverview {
    /// How many runs there were, and how they ended.
    pub counts: RunCounts,
    /// How long those took that came to their end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub took: Option<Durations>,
    /// Tokens that models were sent.
    pub input: u64,
    /// Tokens that they answered.
    pub output: u64,
    /// What models cost, by currency.
    pub cost: Vec<ExchangeCost>,
    /// Requests with tokens that are missing from the cost, because their model has no price.
    pub unpriced: u32,
    /// Those models, by name.
    pub unpriced_models: Vec<String>,
    /// Failures, the most frequent first: 100 at most.
    pub failures: Vec<NodeFailures>,
    /// Nodes, the slowest by 95th percentile first: 100 at most.
    pub nodes: Vec<NodeTimes>,
    /// Graphs of the period, with the most runs first; all of them, also where one graph was asked for.
    pub graphs: Vec<GraphRuns>,
    /// When runs began, in equal parts of the period.
    pub slices: Vec<RunSlice>,
    /// Runs that ended and of which no task is kept: their tokens, cost, failures and times of nodes are not counted.
    pub unrecorded: u32,
}

/// Runs that a figure of an overview counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunGroup {
    /// Every one, the newest first.
    #[default]
    All,
    /// Those of one outcome, the newest first.
    Outcome {
        /// The outcome.
        outcome: OverviewStatus,
    },
    /// Those that came to their end, the longest first.
    Longest,
    /// Those that used tokens, the most first.
    Tokens,
    /// Those that cost something or used a model without a price, the dearest first.
    Dearest,
    /// Those with a request that has no price, the newest first.
    Unpriced,
    /// Those in which a task of a node failed so, the newest first.
    Failure {
        /// The graph.
        graph: String,
        /// The node.
        node: String,
        /// The class of the error.
        class: String,
    },
    /// Those in which a task of a node ended, the one with the slowest first.
    Node {
        /// The graph.
        graph: String,
        /// The node.
        node: String,
    },
    /// Those that ended and of which no task is kept, the newest first.
    Unrecorded,
}

/// `runs.list`: the runs that a figure counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListRuns {
    /// The period.
    pub period: RunPeriod,
    /// The figure.
    pub group: RunGroup,
    /// How many of them to pass over.
    #[serde(default)]
    pub offset: u32,
    /// Largest number of entries, at most 1,000; 0 means 200.
    #[serde(default)]
    pub limit: u32,
}

/// A run in a list.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunLine {
    /// The run.
    pub run: RunView,
    /// How it stands.
    pub outcome: OverviewStatus,
    /// The title of its thread, or the thread's id.
    pub title: String,
    /// The name of its graph; empty when it is not known.
    pub graph_name: String,
    /// Milliseconds from its beginning to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub millis: Option<f64>,
    /// Tokens, sent and answered.
    pub tokens: u64,
    /// What it cost, by currency.
    pub cost: Vec<ExchangeCost>,
    /// Requests that are missing from the cost.
    pub unpriced: u32,
    /// The checkpoint from which the task began that failed, or was the slowest, in a list about a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// That task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub task_id: Option<String>,
    /// Milliseconds that it worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub task_millis: Option<f64>,
}

/// Answer of `runs.list`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct RunList {
    /// The page.
    pub runs: Vec<RunLine>,
    /// How many there are in all.
    pub total: u32,
}

impl RunCounts {
    /// Counts a run.
    pub(crate) fn add(&mut self, outcome: OverviewStatus) {
        self.begun += 1;
        *match outcome {
            OverviewStatus::Running => &mut self.running,
            OverviewStatus::Done => &mut self.done,
            OverviewStatus::Failed => &mut self.failed,
            OverviewStatus::Stopped => &mut self.stopped,
            OverviewStatus::Waiting => &mut self.waiting,
            OverviewStatus::Continued => &mut self.continued,
        } += 1;
    }
}

impl OverviewStatus {
    /// Returns the outcome of a run whose process is alive or gone, and which is the last of its thread or is not.
    pub(crate) fn of(status: RunStatus, is_alive: bool, is_last: bool) -> Self {
        match status {
            RunStatus::Running if is_alive => Self::Running,
            RunStatus::Running | RunStatus::Stopped => Self::Stopped,
            RunStatus::Done => Self::Done,
            RunStatus::Failed => Self::Failed,
            RunStatus::Asking | RunStatus::Paused if is_last => Self::Waiting,
            RunStatus::Asking | RunStatus::Paused => Self::Continued,
        }
    }
}
