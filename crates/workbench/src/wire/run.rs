//! Starting and stopping runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Breakpoint, CheckpointRef, GoOnWith, Json, Problem, Renamed, RunStop, TaskView, ValueView};

/// First action of a run.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunAction {
    /// Give the graph an input (on a new thread, or as the next turn of one).
    Input {
        /// The input object.
        #[ts(type = "any")]
        input: Json,
        /// Start from the state of this checkpoint rather than from the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        checkpoint_id: Option<String>,
    },
    /// Go on from where the thread stopped.
    Continue,
    /// Answer questions by id and go on.
    Resume {
        /// Interrupt id to answer.
        #[ts(type = "Record<string, any>")]
        answers: BTreeMap<String, Json>,
        /// The checkpoint that asks. Absent: the newest of the thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        checkpoint_id: Option<String>,
    },
    /// Run again from a past checkpoint, on a new branch.
    Replay {
        /// The checkpoint.
        checkpoint_id: String,
        /// A checkpoint of a graph that a task after it ran: what was done before this one stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        within: Option<NestedCheckpointRef>,
    },
}

/// A checkpoint of a nested graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NestedCheckpointRef {
    /// Where that graph keeps its checkpoints: `within` of the task that runs it.
    pub ns: String,
    /// The checkpoint.
    pub checkpoint_id: String,
}

impl RunAction {
    /// Returns the checkpoint that the run begins at, if that is not the newest.
    pub(crate) fn checkpoint(&self) -> Option<&str> {
        match self {
            RunAction::Input { checkpoint_id, .. } => checkpoint_id.as_deref(),
            RunAction::Resume { checkpoint_id, .. } => checkpoint_id.as_deref(),
            RunAction::Replay { checkpoint_id, .. } => Some(checkpoint_id),
            RunAction::Continue => None,
        }
    }
}

/// Choice of whether answers of models are kept beside the graph, or come from what was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ModelRecording {
    /// Models are asked, and their answers are kept.
    Record,
    /// What was kept answers; no model is asked.
    Replay,
    /// Models are asked and nothing is kept, also where a node wants it otherwise.
    Off,
}

/// Choice of who answers where the nodes of a run ask models; with neither field set, the nodes decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunModels {
    /// The model that answers where nodes name the scripted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub scripted: Option<String>,
    /// Whether answers are kept, or come from what was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub recording: Option<ModelRecording>,
}

/// Choice for an effect that was already done on another branch of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum EffectChoice {
    /// The result that the node gave for the same input is used again; for another input a person is asked.
    Reuse,
    /// The node works again.
    Again,
    /// The run stops before the node.
    Stop,
    /// A person is asked when the node is reached.
    Ask,
}

/// `run.effects`: what a run from a checkpoint would do again to the world outside of the graph.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindEffects {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that the run would begin at. Absent: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// A checkpoint of a nested graph at which the run would begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub within: Option<NestedCheckpointRef>,
    /// An open document. Absent: the graph that the thread ran with is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
}

/// Progress of a node with an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum EffectState {
    /// It was done.
    Done,
    /// It failed; how far it came is not known.
    Failed,
    /// It began and did not end; how far it came is not known.
    Begun,
}

/// A node that worked on the world outside of the graph after a checkpoint, on any branch.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EffectView {
    /// Node.
    pub node: String,
    /// Nodes around it, the outermost first, when it is in a nested graph.
    pub path: Vec<String>,
    /// `once` or `idempotent`, as the graph says. Absent: the graph does not say, and its kind works outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effect: Option<String>,
    /// The node's kind.
    pub kind: String,
    /// How often it worked after the checkpoint.
    pub times: u32,
    /// When it did so last: ISO-8601, UTC.
    pub last_at: String,
    /// How far the last one came.
    pub state: EffectState,
    /// The checkpoint of the outermost graph at which it did so last.
    pub checkpoint_id: String,
    /// What it wrote then, shortened; absent when nothing was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub result: Option<super::ValueView>,
    /// Is there a recorded result that can be used again?
    pub reusable: bool,
}

/// Answer of `run.effects`, in the order in which they were done.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EffectList {
    /// One entry for each node.
    pub effects: Vec<EffectView>,
    /// Questions that wait on another branch, and keep waiting when a new one begins at the checkpoint.
    pub questions_left: u32,
}

/// `run.start`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartRun {
    /// An open document. Absent: the graph that the thread ran with is loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// The thread; absent starts a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
    /// What to do.
    pub action: RunAction,
    /// Stop before these nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub break_before: Vec<String>,
    /// Stop after these nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub break_after: Vec<String>,
    /// Breakpoints with conditions. Those that are switched off, and those at nodes and keys that the graph does not have,
    /// mean nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<Breakpoint>>", optional)]
    pub breakpoints: Vec<Breakpoint>,
    /// Run this task of the open step alone, and hold the others back; `next` for the first that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub step_task: Option<String>,
    /// Run one super-step and stop.
    #[serde(default)]
    pub single_step: bool,
    /// With `single_step`: one super-step of a nested graph, where the next task runs one.
    #[serde(default)]
    pub step_into: bool,
    /// What happens with effects that were done already on another branch, by node; a person is asked about the others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, EffectChoice>>", optional)]
    pub effects: BTreeMap<String, EffectChoice>,
    /// Super-steps before the run is stopped as endless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub recursion_limit: Option<u32>,
    /// Who answers for the graph's models. Absent: as the thread has it, and as the nodes say in a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub models: Option<RunModels>,
    /// Tags and metadata of the run. Absent: those that the thread has where it goes on, and none in a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub labels: Option<super::RunLabels>,
    /// What nodes write instead of running, by node. Absent: the outputs that are pinned in the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "Record<string, any>", optional)]
    pub pinned: Option<BTreeMap<String, Json>>,
    /// The run context. Absent: that of the thread's run before, and none in a new thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "any", optional)]
    pub context: Option<Json>,
    /// Take the thread over from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
    /// With which version of the graph the thread goes on, when it has changed since the thread ran. Absent: as it is now;
    /// the request is refused when next tasks would be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_version: Option<GoOnWith>,
    /// Nodes that run in the place of next tasks whose node is gone, by the old name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>", optional)]
    pub renamed: Renamed,
}

/// `run.stop`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StopRun {
    /// The thread whose run is to stop.
    pub thread_id: String,
    /// Let the tasks of the step under way finish, and answer at once: the end of the run is an event. The thread is paused
    /// then, as at a breakpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub after_step: bool,
    /// Take the thread from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Working.
    Running,
    /// Nothing left to run.
    Done,
    /// Waits for answers.
    Asking,
    /// Stopped at a breakpoint or after a step.
    Paused,
    /// A node failed; the thread can go on from there.
    Failed,
    /// Stopped by the user; the thread can go on from there.
    Stopped,
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// Id.
    pub run_id: String,
    /// Thread.
    pub thread_id: String,
    /// How it stands.
    pub status: RunStatus,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ended_at: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<Problem>,
    /// Where it stopped, and why, when a breakpoint stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stop: Option<RunStop>,
    /// What it did, in Markdown, as the graph's `summary` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub summary: Option<String>,
    /// The program that runs it, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub program: Option<String>,
}

/// `node.test`: runs one node by itself. Nothing of it is kept, but what the node does outside of the graph it really does.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TestNode {
    /// An open document.
    pub graph_id: String,
    /// The node.
    pub node: String,
    /// Take the state of this checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<CheckpointRef>,
    /// State keys and their values; they take the place of the checkpoint's.
    #[serde(default)]
    #[ts(type = "Record<string, any>")]
    pub state: BTreeMap<String, Json>,
    /// Answers to the node's questions, in the order they are asked.
    #[serde(default)]
    #[ts(type = "any[]")]
    pub answers: Vec<Json>,
    /// The run context. Absent: that of the last run of the thread that `at` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub context: Option<Json>,
    /// Who answers for the node's models. Without it the thread's choice holds when `at` names one, and it is for the nodes to
    /// say otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub models: Option<RunModels>,
    /// A name by which `work.cancel` stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// `expression.evaluate`: what an expression or a template of a graph gives with a state.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate {
    /// An open document.
    pub graph_id: String,
    /// The expression or template.
    pub text: String,
    /// It is a template, which gives text.
    #[serde(default)]
    pub template: bool,
    /// Take the state of this checkpoint; without it, what the state keys begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<CheckpointRef>,
    /// State keys and their values; they take the place of the checkpoint's.
    #[serde(default)]
    #[ts(type = "Record<string, any>")]
    pub state: BTreeMap<String, Json>,
    /// Names that are seen beside the state, such as the item of a list.
    #[serde(default)]
    #[ts(type = "Record<string, any>")]
    pub variables: BTreeMap<String, Json>,
}

/// Answer of `expression.evaluate`: one of the two.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// What it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<ValueView>,
    /// Why it gives nothing with this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
}

/// Answer of `node.test`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeTested {
    /// What the node did: what it wrote, where it leads, what it asks or why it failed.
    pub task: TaskView,
    /// What it asks, when the answers ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub asked: Option<super::Asked>,
    /// What models answered on the way.
    pub text: String,
    /// What it logged and emitted, the first of it.
    #[ts(type = "any[]")]
    pub emitted: Vec<Json>,
    /// What it emitted beyond that.
    pub more: u32,
    /// What was asked of models.
    pub exchanges: Vec<super::ExchangeView>,
}
