//! Channels: how the writes of one super-step become a key's next value.
//!
//! A channel's value is an `Option<Value>`; its kind says what several writes mean, when it can be read, and what
//! happens in a step that does not write it. The functions here are pure: they know no graph and no checkpoint.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;

use crate::base::command::Packet;
use crate::base::ids::Name;
use crate::value::{List, Object, Value};

mod binary;
mod kind;

pub use binary::{BinaryOp, ReducerFn};
use kind::DeltaSpec;
pub use kind::{BatchFn, DeltaReducer};
pub(crate) use kind::{ChannelChange, Kind, overwrite_of, refusal, whole_of};

/// Rule that an update is checked against; the error states what was expected and what was found.
pub type CheckFn = Arc<dyn Fn(&Value) -> Result<(), String> + Send + Sync>;

/// Value that the engine computes for every step, readable like a state key and never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Managed {
    /// Super-steps left before the recursion limit ends the run.
    RemainingSteps,
    /// True in the last super-step that the recursion limit allows.
    IsLastStep,
}

impl Managed {
    /// Returns the value in a step, given how many steps are left.
    pub(crate) fn value(self, remaining: i64) -> Value {
        match self {
            Managed::RemainingSteps => remaining.into(),
            Managed::IsLastStep => (remaining == 1).into(),
        }
    }
}

/// Behaviour of a state key.
#[derive(Clone)]
pub struct ChannelSpec {
    pub(crate) kind: Kind,
    pub(crate) default: Option<Value>,
    check: Option<CheckFn>,
    check_overwrite: Option<CheckFn>,
}

impl fmt::Debug for ChannelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSpec")
            .field("kind", &self.kind)
            .field("default", &self.default)
            .field("checked", &self.check.is_some())
            .finish()
    }
}

impl ChannelSpec {
    pub(crate) fn of(kind: Kind) -> Self {
        Self {
            kind,
            default: None,
            check: None,
            check_overwrite: None,
        }
    }
    /// Keeps the last value; two writes in one super-step are an error.
    pub fn last_value() -> Self {
        Self::of(Kind::Last)
    }
    /// Keeps the last value, which has to read as a `T`: another is refused with the reason.
    pub fn last_value_of<T: DeserializeOwned + 'static>() -> Self {
        let is_value = std::any::TypeId::of::<T>() == std::any::TypeId::of::<Value>();
        match is_value {
            true => Self::last_value(),
            false => Self::last_value().checked(|value| {
                let read = value.decode::<T>();
                read.map(drop).map_err(|error| error.to_string())
            }),
        }
    }
    /// Joins writes with an operator. Without a default the first write is taken as it is.
    pub fn binary(op: BinaryOp, default: Option<Value>) -> Self {
        Self {
            default,
            ..Self::of(Kind::Binary(op))
        }
    }
    /// Creates a list that grows.
    pub fn append() -> Self {
        Self::binary(BinaryOp::Append, Some(Value::Array(List::new())))
    }
    /// Creates a list of messages, joined by id.
    pub fn add_messages() -> Self {
        Self::of(Kind::Messages).with_default(List::new())
    }
    /// Creates a key that is readable in the step after it was written, then gone. Two writes in one super-step are an
    /// error.
    pub fn ephemeral() -> Self {
        Self::of(Kind::Ephemeral { guard: true })
    }
    /// Creates a key like [`ephemeral`](Self::ephemeral), but of several writes in one super-step the last one wins.
    pub fn ephemeral_any() -> Self {
        Self::of(Kind::Ephemeral { guard: false })
    }
    /// Creates a queue: the items written in a step, where a list counts as its items. It holds what the previous step
    /// wrote, or everything since the thread began when it is set to [`accumulate`](Self::accumulate).
    pub fn topic() -> Self {
        Self::of(Kind::Topic { accumulate: false })
    }
    /// Makes a [`topic`](Self::topic) hold everything since the thread began; no other kind of key changes.
    pub fn accumulate(mut self) -> Self {
        if let Kind::Topic { accumulate } = &mut self.kind {
            *accumulate = true;
        }
        self
    }
    /// Creates a key that is readable in the step after it was written, then gone. Several writes are taken to be
    /// equal: the last one wins.
    pub fn any_value() -> Self {
        Self::of(Kind::Any)
    }
    /// Creates a key that is kept while the run lasts and never stored: neither in checkpoints nor with the writes of
    /// tasks, and left out of stored packets. For connections and secrets. Two writes in one super-step are an error.
    pub fn untracked() -> Self {
        Self::of(Kind::Untracked { guard: true })
    }
    /// Creates a key like [`untracked`](Self::untracked), but of several writes in one super-step the last one wins.
    pub fn untracked_any() -> Self {
        Self::of(Kind::Untracked { guard: false })
    }
    /// Creates a reducer whose value is stored only once per `snapshot_frequency` updates and rebuilt from the stored
    /// writes in between. It begins as an empty list; set another default for an object. Useful for values that grow
    /// large where a backend stores whole values.
    pub fn delta(reducer: impl Into<DeltaReducer>, snapshot_frequency: u32) -> Self {
        let spec = DeltaSpec {
            reducer: reducer.into(),
            frequency: snapshot_frequency,
            empty: Value::Null,
        };
        Self::of(Kind::Delta(spec)).with_default(List::new())
    }
    /// Sets the value before the first write.
    pub fn with_default(mut self, value: impl Into<Value>) -> Self {
        let value = value.into();
        if let Kind::Delta(spec) = &mut self.kind {
            spec.empty = value.clone();
        }
        self.default = Some(value);
        self
    }
    /// Sets `check`, which every update of the key must pass before it is merged, no matter where it comes from: a
    /// node, the input, a command, an edit. An error, which states what was expected and what was found, fails the
    /// writer; nothing is written. An [overwrite](crate::overwrite) is checked as well, without its wrapper.
    pub fn checked(mut self, check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(check));
        self
    }
    /// Sets a check for overwrites, where it differs from that of updates: for a whole list rather than one item, for
    /// example.
    pub fn checked_overwrite(
        mut self,
        check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check_overwrite = Some(Arc::new(check));
        self
    }
    /// Requires every update of the key to deserialize as a `T`.
    pub fn typed<T: DeserializeOwned>(self) -> Self {
        self.checked(|value| {
            serde_json::from_value::<T>(value.into())
                .map(drop)
                .map_err(|error| format!("{error}, in {}", shorten(value)))
        })
    }
    /// Holds a write against the key's rules.
    pub(crate) fn accepts(&self, write: &Value) -> Result<(), String> {
        let Some(check) = &self.check else { return Ok(()) };
        match overwrite_of(write).filter(|_| self.kind.takes_overwrites()) {
            Some(whole) => self.check_overwrite.as_ref().unwrap_or(check)(whole),
            None => check(write),
        }
    }
    /// Joins two declarations of one key: a reducer wins over the plain last value; two reducers must be the same.
    pub(crate) fn join(self, other: Self) -> Option<Self> {
        let (wins, loses) = match (&self.kind, &other.kind) {
            (Kind::Last, _) => (other, self),
            (_, Kind::Last) => (self, other),
            (a, b) if a.same(b) => (self, other),
            _ => return None,
        };
        Some(Self {
            kind: wins.kind,
            default: wins.default.or(loses.default),
            check: wins.check.or(loses.check),
            check_overwrite: wins.check_overwrite.or(loses.check_overwrite),
        })
    }
    /// Returns the reducer's name: overwrite, ephemeral, topic, any, untracked, add_messages or the operator's.
    pub fn reducer_name(&self) -> &str {
        match &self.kind {
            Kind::Last | Kind::LastAfterFinish => "overwrite",
            Kind::Binary(op) => op.name(),
            Kind::Messages => "add_messages",
            Kind::Delta(spec) => spec.reducer.name(),
            Kind::Ephemeral { .. } => "ephemeral",
            Kind::Topic { .. } => "topic",
            Kind::Any => "any",
            Kind::Untracked { .. } => "untracked",
            Kind::Managed(_) => "managed",
            Kind::Barrier { .. } => "barrier",
        }
    }
}

/// Replaces the value of a reducer key instead of joining with it: `{"__overwrite__": value}`.
pub fn overwrite(value: impl Into<Value>) -> Value {
    Value::Object([("__overwrite__", value.into())].into_iter().collect())
}

/// Formats a value as text, cut where a message would become hard to read.
pub(crate) fn shorten(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

static NODE: LazyLock<Name> = LazyLock::new(|| "node".into());
static ARG: LazyLock<Name> = LazyLock::new(|| "arg".into());

/// Converts a packet to its queued form: `{"node", "arg"}`, with its timeout if it has one.
pub(crate) fn packet(packet: &Packet) -> Value {
    let mut entries = Object::new();
    entries.insert(NODE.clone(), packet.node.clone());
    entries.insert(ARG.clone(), packet.arg.clone());
    if let Some(timeout) = packet.timeout {
        entries.insert("timeout", timeout.to_json());
    }
    Value::Object(entries)
}
