//! Events that every connected interface receives, in batches of one frame.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    AttemptView, Breakpoints, CheckpointView, Diagnostic, DynamicTargets, FailureView, InterruptView, Json,
    Pins, RunView, TaskStatus, ThreadView,
};

/// One event.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AppEvent {
    /// A run began or ended.
    Run {
        /// The run.
        run: RunView,
    },
    /// A task begins.
    TaskStarted {
        /// Thread.
        thread_id: String,
        /// Task.
        task_id: String,
        /// Node.
        node: String,
        /// Super-step.
        step: i32,
        /// Milliseconds since the epoch.
        at: f64,
    },
    /// A task ended.
    TaskEnded {
        /// Thread.
        thread_id: String,
        /// Task.
        task_id: String,
        /// Node.
        node: String,
        /// Super-step.
        step: i32,
        /// Milliseconds since the epoch.
        at: f64,
        /// How it ended.
        status: TaskStatus,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<String>,
        /// The same as data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        failure: Option<FailureView>,
        /// Why it was not tried again although its node is, in words.
        #[serde(default, skip_serializing_if = "Option::is_none", rename = "notRetried")]
        #[ts(optional, rename = "notRetried")]
        not_retried: Option<String>,
        /// Questions it asks.
        interrupts: Vec<InterruptView>,
        /// Nodes its writes lead to.
        targets: Vec<String>,
        /// The wires that it followed, when it is done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<super::TakenWay>>", optional)]
        ways: Vec<super::TakenWay>,
        /// Kept from an earlier attempt, not run now.
        cached: bool,
    },
    /// An attempt at a task failed; another follows, or the fallback.
    TaskAttempt {
        /// Thread.
        thread_id: String,
        /// Task.
        task_id: String,
        /// Node.
        node: String,
        /// Super-step.
        step: i32,
        /// Milliseconds since the epoch.
        at: f64,
        /// What failed.
        attempt: AttemptView,
    },
    /// A task begins to work that had to wait for a place.
    TaskWaited {
        /// Thread.
        thread_id: String,
        /// Task.
        task_id: String,
        /// Node.
        node: String,
        /// Super-step.
        step: i32,
        /// Milliseconds since the epoch.
        at: f64,
        /// How long it waited, in milliseconds.
        millis: f64,
    },
    /// A piece of a model's answer, as it comes; pieces of one message that belong together are merged.
    Token {
        /// Thread.
        thread_id: String,
        /// Task.
        task_id: String,
        /// Node.
        node: String,
        /// Message.
        message_id: String,
        /// What of it is new.
        piece: TokenPiece,
        /// When its first part came: milliseconds since the epoch.
        at: f64,
    },
    /// A node emitted something.
    Custom {
        /// Thread.
        thread_id: String,
        /// Node.
        node: String,
        /// Its task; absent where a breakpoint logged it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        task_id: Option<String>,
        /// What.
        #[ts(type = "any")]
        value: Json,
        /// Milliseconds since the epoch.
        at: f64,
    },
    /// A graph that a task runs went one step further.
    Within {
        /// Thread.
        thread_id: String,
        /// Where that graph keeps its checkpoints, for `thread.within`.
        ns: String,
        /// The nodes that run next.
        next: Vec<String>,
    },
    /// A checkpoint was stored.
    Checkpoint {
        /// Thread.
        thread_id: String,
        /// The checkpoint.
        checkpoint: CheckpointView,
    },
    /// A thread is new or changed.
    Thread {
        /// The thread.
        thread: Box<ThreadView>,
    },
    /// A thread was deleted.
    ThreadDeleted {
        /// Thread.
        thread_id: String,
    },
    /// Questions came or went; ask for the list again.
    Inbox {
        /// How many wait.
        waiting: u32,
    },
    /// An answer that was kept was not taken; its question waits again, or somebody else has answered it.
    AnswerRefused {
        /// Thread.
        thread_id: String,
        /// The checkpoint that asks.
        checkpoint_id: String,
        /// Interrupt id.
        interrupt_id: String,
        /// Why.
        problem: super::Problem,
    },
    /// Long work that an interface asked for has got this far.
    Work {
        /// The name that the interface gave it.
        work: String,
        /// So much is done.
        done: u64,
        /// Of so much.
        total: u64,
    },
    /// A piece of the answer that `model.ask` waits for.
    Answer {
        /// The name that the interface gave the request.
        work: String,
        /// What of it is new.
        piece: TokenPiece,
    },
    /// A row of a what-if grid is another, or the grid has ended or was removed.
    WhatIf {
        /// Thread.
        thread_id: String,
        /// The grid.
        id: String,
        /// The row as it is now; absent when it is about the grid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        result: Option<Box<super::WhatIfResult>>,
        /// Is the grid running?
        running: bool,
    },
    /// What `thread.events` answers for this mark happened before, and what follows after it.
    Mark {
        /// As the request named it.
        mark: String,
    },
    /// Threads come from another database now; load everything again.
    Storage,
    /// Another program changed something, or another window the settings; load again what you show.
    Changed {
        /// Threads, their runs and questions, or items of the store.
        threads: bool,
        /// Settings, connections, or what is allowed.
        settings: bool,
    },
    /// Somebody changed the breakpoints of a graph.
    Breakpoints {
        /// All that it has now.
        breakpoints: Breakpoints,
    },
    /// Somebody pinned the output of a node, or ended that.
    Pins {
        /// All that are pinned in the graph now.
        pins: Pins,
    },
    /// What is found in a document changed without a patch of this interface.
    Diagnostics {
        /// The open document.
        graph_id: String,
        /// Of this revision; a later one than a window knows of was made without it.
        rev: u32,
        /// All problems.
        diagnostics: Vec<Diagnostic>,
        /// By node, where it may go without an edge: what its settings name, and its Python function's return annotation.
        leads: DynamicTargets,
    },
}

impl AppEvent {
    /// Returns the thread that the event belongs to.
    pub fn thread_id(&self) -> Option<&str> {
        match self {
            AppEvent::Run { run } => Some(&run.thread_id),
            AppEvent::Thread { thread } => Some(&thread.thread_id),
            AppEvent::TaskStarted { thread_id, .. }
            | AppEvent::TaskEnded { thread_id, .. }
            | AppEvent::TaskAttempt { thread_id, .. }
            | AppEvent::TaskWaited { thread_id, .. }
            | AppEvent::Token { thread_id, .. }
            | AppEvent::Custom { thread_id, .. }
            | AppEvent::Within { thread_id, .. }
            | AppEvent::Checkpoint { thread_id, .. }
            | AppEvent::WhatIf { thread_id, .. }
            | AppEvent::AnswerRefused { thread_id, .. }
            | AppEvent::ThreadDeleted { thread_id } => Some(thread_id),
            AppEvent::Inbox { .. }
            | AppEvent::Work { .. }
            | AppEvent::Answer { .. }
            | AppEvent::Mark { .. }
            | AppEvent::Storage
            | AppEvent::Changed { .. }
            | AppEvent::Breakpoints { .. }
            | AppEvent::Pins { .. }
            | AppEvent::Diagnostics { .. } => None,
        }
    }
}

/// A piece of a model's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum TokenPiece {
    /// Of its text.
    Text {
        /// What is new.
        text: String,
    },
    /// Of the reasoning before it.
    Reasoning {
        /// What is new.
        text: String,
    },
    /// Of a call of a tool.
    Call {
        /// Which of the message's calls.
        index: u32,
        /// The tool, with the call's first piece.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        name: Option<String>,
        /// What is new of its arguments, which are JSON when they are complete.
        text: String,
    },
}

/// Events of one frame. `seq` counts batches from 1; after a gap the interface reloads what it shows.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct EventBatch {
    /// Batch number of this connection.
    pub seq: u32,
    /// The events in order.
    pub events: Vec<AppEvent>,
}
