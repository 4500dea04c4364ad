//! What running a node does to the world outside of its graph, and what happens when that would be done again.
//!
//! No ledger is kept beside the thread: what a node was given is the state of the checkpoint that its task started
//! from, what came of it are the writes of the task, and the key that it sent is the task's id. Only what cannot be
//! found there is stored, as a pending write of the task ([`EFFECT`](crate::checkpoint::reserved::EFFECT)): that work which must
//! not be done twice has begun, a key that is not the task's id, which task of another branch this one stands for, and what
//! its result came from once there was a doubt.

use crate::base::ids::{CheckpointId, Name};
use crate::value::Value;

/// The effect of a node on the world outside of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing, and the same input gives the same result.
    Pure,
    /// It only reads: running it again does no harm, but may give another result.
    Reads,
    /// It changes something, and doing so twice with the same key is doing it once.
    Idempotent,
    /// It changes something, and must not do so twice.
    Once,
    /// It may change something: nobody declared what it does.
    Unknown,
}

impl Effect {
    /// Returns the name: pure, reads, idempotent, once or unknown.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Pure => "pure",
            Effect::Reads => "reads",
            Effect::Idempotent => "idempotent",
            Effect::Once => "once",
            Effect::Unknown => "unknown",
        }
    }

    /// Returns true when doing it again may change something outside that was changed before.
    pub fn is_outside(self) -> bool {
        matches!(self, Effect::Idempotent | Effect::Once | Effect::Unknown)
    }
}

/// Policy for a run that comes to a node whose effect was already done on another branch of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EffectPolicy {
    /// What the node returned for the same input is used again. For another input there is nothing to use, and the run
    /// stops before the node.
    Reuse,
    /// The node works again; for the same input, with the key that it sent the first time.
    Again,
    /// The run stops before the node with [`RunError::Effect`](crate::RunError::Effect).
    #[default]
    Stop,
    /// The node asks first, as an [interrupt](crate::NodeContext::interrupt).
    Ask,
}

/// Progress of the work of a node with an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectState {
    /// It was done.
    Done,
    /// It failed: how far it came is not known.
    Failed,
    /// It began and did not end: how far it came is not known.
    Begun,
}

impl EffectState {
    /// Returns the name: done, failed or begun.
    pub fn as_str(self) -> &'static str {
        match self {
            EffectState::Done => "done",
            EffectState::Failed => "failed",
            EffectState::Begun => "begun",
        }
    }
}

/// Source of the result of a task whose work may have been done before, as decided when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectSource {
    /// The node worked, perhaps a second time.
    Work,
    /// It did not work: the result of the first time was used.
    Earlier,
    /// It did not work: a person said that nothing was left to do, or gave the result.
    Answer,
}

impl EffectSource {
    /// Returns the name: work, earlier or answer.
    pub fn as_str(self) -> &'static str {
        match self {
            EffectSource::Work => "work",
            EffectSource::Earlier => "earlier",
            EffectSource::Answer => "answer",
        }
    }

    /// Reads what was noted beside the writes of a task ([`EFFECT`](crate::checkpoint::reserved::EFFECT)). Nothing is known
    /// where there was no doubt, and of notes that releases before this one stored.
    pub fn of_note(note: &Value) -> Option<Self> {
        let name = note.get("from")?.as_str()?;
        let all = [EffectSource::Work, EffectSource::Earlier, EffectSource::Answer];
        all.into_iter().find(|source| source.as_str() == name)
    }
}

/// Work that a node with an effect did after a checkpoint, on any branch: a run from there would repeat it.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectDone {
    /// Node.
    pub node: Name,
    /// Nodes around it, the outermost first; empty for a node of the graph itself.
    pub path: Vec<Name>,
    /// What the node is declared to do.
    pub effect: Effect,
    /// Number of times.
    pub times: u32,
    /// ISO-8601, UTC: when the step of the last one began.
    pub at: String,
    /// How far the last one came.
    pub state: EffectState,
    /// The checkpoint of the outermost graph whose step did the last one.
    pub checkpoint: CheckpointId,
    /// What the last one wrote, by state key.
    pub result: Option<Value>,
}
