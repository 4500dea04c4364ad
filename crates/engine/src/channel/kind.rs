//! What each kind of channel does with the writes of a step.
//!
//! | kind | no write | several writes | can be read |
//! |---|---|---|---|
//! | last | kept | refused | once written |
//! | last after finish | kept | the last | once released |
//! | reducer, delta | kept | joined in order | has a value |
//! | ephemeral, any | cleared | refused with a guard, else the last | in the step after a write |
//! | topic | cleared, or kept when it accumulates | all | not empty |
//! | untracked | kept | refused with a guard, else the last | once written in this run |
//! | barrier | kept | collected | every name has come (and it is released, when deferred) |

use std::fmt;
use std::sync::Arc;

use crate::base::ids::Name;
use crate::channel::binary::append;
use crate::channel::{BinaryOp, Managed};
use crate::value::messages::{self, UnknownRemoval, add_messages};
use crate::value::{List, Value};

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Last,
    /// The trigger of a deferred node. Holds `[value, released]`.
    LastAfterFinish,
    Binary(BinaryOp),
    Messages,
    /// A reducer whose value is rebuilt from its writes rather than stored.
    Delta(DeltaSpec),
    Ephemeral {
        guard: bool,
    },
    Topic {
        accumulate: bool,
    },
    Any,
    Untracked {
        guard: bool,
    },
    /// Written by the engine before each step.
    Managed(Managed),
    /// Complete when every name has been written. Holds the names that came; `[names, released]` when deferred.
    Barrier {
        names: Arc<[Name]>,
        deferred: bool,
    },
}

/// A user's reducer of a delta key: the value and any number of writes, oldest first, give the new value.
pub type BatchFn = Arc<dyn Fn(&Value, &[&Value]) -> Result<Value, String> + Send + Sync>;

/// Rule for joining the writes of a delta key. Joining two batches one after the other must give the same as joining
/// them at once.
#[derive(Clone)]
pub enum DeltaReducer {
    /// A binary operator, write by write.
    Op(BinaryOp),
    /// Messages, joined by id.
    Messages,
    /// Somebody's own, with a name for messages.
    Batch(Name, BatchFn),
}

impl DeltaReducer {
    /// Creates a custom reducer.
    pub fn batch(
        name: impl Into<Name>,
        reduce: impl Fn(&Value, &[&Value]) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        DeltaReducer::Batch(name.into(), Arc::new(reduce))
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            DeltaReducer::Op(op) => op.name(),
            DeltaReducer::Messages => "add_messages",
            DeltaReducer::Batch(name, _) => name,
        }
    }

    fn apply(&self, value: &Value, writes: &[&Value]) -> Result<Value, String> {
        let mut next = value.clone();
        match self {
            DeltaReducer::Batch(_, reduce) => return reduce(value, writes),
            DeltaReducer::Op(op) => {
                for write in writes {
                    next = op.apply(&next, write)?;
                }
            }
            DeltaReducer::Messages => {
                for write in writes {
                    let left = next.as_array().cloned().unwrap_or_default();
                    next = messages::join(&left, write, UnknownRemoval::Ignored)?.list.into();
                }
            }
        }
        Ok(next)
    }

    fn same(&self, other: &DeltaReducer) -> bool {
        match (self, other) {
            (DeltaReducer::Op(a), DeltaReducer::Op(b)) => a.same(b),
            (DeltaReducer::Batch(_, a), DeltaReducer::Batch(_, b)) => Arc::ptr_eq(a, b),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

impl From<BinaryOp> for DeltaReducer {
    fn from(op: BinaryOp) -> Self {
        DeltaReducer::Op(op)
    }
}

#[derive(Clone)]
pub(crate) struct DeltaSpec {
    pub(crate) reducer: DeltaReducer,
    /// Updates after which the value is stored whole.
    pub(crate) frequency: u32,
    /// What an overwrite with null leaves.
    pub(crate) empty: Value,
}

impl fmt::Debug for DeltaSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} every {}", self.reducer.name(), self.frequency)
    }
}

/// Returns the value inside a snapshot, stored or rebuilt, if `value` is one.
pub(crate) fn whole_of(value: &Value) -> Option<&Value> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get("__snapshot__").or_else(|| object.get("__rebuilt__"))
}

/// Effect of an update on a channel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ChannelChange {
    Unchanged,
    Replaced,
    /// The list kept its first `n` items and grew.
    Appended(usize),
}

/// Returns the value inside an overwrite wrapper, if `value` is one.
pub(crate) fn overwrite_of(value: &Value) -> Option<&Value> {
    let object = value.as_object()?;
    if object.len() == 1 {
        return object.get("__overwrite__");
    }
    (object.get("type")?.as_str() == Some("__overwrite__")).then(|| object.get("value"))?
}

const TWO_OVERWRITES: &str = "Can receive only one Overwrite value per super-step.";

/// Formats the reason why the writes of a step were not applied: LangGraph's own words first, then the writers to
/// blame.
pub(crate) fn refusal(key: &str, why: &str, mut writers: Vec<&str>) -> String {
    writers.dedup();
    let first = if why == TWO_OVERWRITES {
        why.to_owned()
    } else {
        format!("At key '{key}': {why}")
    };
    format!(
        "{first}\nKey `{key}` was written by {}; nothing of this step was applied.",
        writers.join(" and ")
    )
}

impl Kind {
    /// Applies all writes of one super-step. On an error the value is left as it was.
    pub(crate) fn update(
        &self,
        value: &mut Option<Value>,
        writes: &[&Value],
    ) -> Result<ChannelChange, String> {
        let Some(last) = writes.last() else {
            return Ok(self.pass(value));
        };
        let several = writes.len() > 1;
        match self {
            Kind::Last if several => Err(
                "Can receive only one value per step. Use an Annotated key to handle multiple values.".into(),
            ),
            Kind::Ephemeral { guard: true } | Kind::Untracked { guard: true } if several => {
                let name = if matches!(self, Kind::Ephemeral { .. }) {
                    "EphemeralValue"
                } else {
                    "UntrackedValue"
                };
                Err(format!(
                    "{name}(guard=True) can receive only one value per step. Use guard=False if you want to store any \
                     one of multiple values."
                ))
            }
            Kind::Last | Kind::Ephemeral { .. } | Kind::Untracked { .. } | Kind::Any | Kind::Managed(_) => {
                *value = Some((*last).clone());
                Ok(ChannelChange::Replaced)
            }
            Kind::LastAfterFinish => {
                *value = Some(held_back((*last).clone()));
                Ok(ChannelChange::Replaced)
            }
            Kind::Topic { accumulate } => Ok(queue(value, *accumulate, writes)),
            Kind::Barrier { names, deferred } => {
                let (mut arrived, released) = self.arrived(value.as_ref());
                let before = arrived.len();
                for write in writes {
                    if !names.iter().any(|name| Some(&**name) == write.as_str()) {
                        return Err(format!("Value {write} not in {}", names.join(", ")));
                    }
                    if !arrived.iter().any(|have| have == *write) {
                        arrived.push((*write).clone());
                    }
                }
                if arrived.len() == before {
                    return Ok(ChannelChange::Unchanged);
                }
                *value = Some(if *deferred {
                    held(arrived.into(), released)
                } else {
                    arrived.into()
                });
                Ok(ChannelChange::Replaced)
            }
            Kind::Binary(_) | Kind::Messages => self.reduce(value, writes),
            Kind::Delta(spec) => {
                let mut overwrites = writes.iter().filter_map(|write| overwrite_of(write));
                *value = Some(match (overwrites.next(), overwrites.next()) {
                    (Some(_), Some(_)) => return Err(TWO_OVERWRITES.into()),
                    (Some(Value::Null), None) => spec.empty.clone(),
                    (Some(wanted), None) => wanted.clone(),
                    (None, _) => spec
                        .reducer
                        .apply(value.as_ref().unwrap_or(&spec.empty), writes)?,
                });
                Ok(ChannelChange::Replaced)
            }
        }
    }

    /// Joins the writes of any number of steps, oldest first, as they were stored. The last overwrite starts over.
    pub(crate) fn replay(&self, value: &mut Option<Value>, writes: &[&Value]) -> Result<(), String> {
        let Kind::Delta(spec) = self else {
            for write in writes {
                self.update(value, &[write])?;
            }
            return Ok(());
        };
        let last = writes.iter().rposition(|write| overwrite_of(write).is_some());
        let rest = match last {
            Some(last) => {
                self.update(value, &writes[last..=last])?;
                &writes[last + 1..]
            }
            None => writes,
        };
        if !rest.is_empty() {
            *value = Some(spec.reducer.apply(value.as_ref().unwrap_or(&spec.empty), rest)?);
        }
        Ok(())
    }

    /// Updates the value for a step that does not write the channel.
    fn pass(&self, value: &mut Option<Value>) -> ChannelChange {
        match self {
            Kind::Ephemeral { .. } | Kind::Any if value.is_some() => *value = None,
            Kind::Topic { accumulate: false } if self.available(value.as_ref()) => {
                *value = Some(List::new().into());
            }
            _ => return ChannelChange::Unchanged,
        }
        ChannelChange::Replaced
    }

    fn reduce(&self, value: &mut Option<Value>, writes: &[&Value]) -> Result<ChannelChange, String> {
        let mut overwrites = writes.iter().filter_map(|write| overwrite_of(write));
        if let Some(wanted) = overwrites.next() {
            if overwrites.next().is_some() {
                return Err(TWO_OVERWRITES.into());
            }
            *value = Some(match self {
                Kind::Messages if !wanted.is_null() => add_messages(&List::new(), wanted)?,
                Kind::Messages => List::new().into(),
                _ => wanted.clone(),
            });
            return Ok(ChannelChange::Replaced);
        }
        if let (Kind::Binary(BinaryOp::Append), Some(Value::Array(old))) = (self, &*value) {
            // The list is taken once for the step, so that each item costs its own push and nothing else.
            let kept = old.len();
            let mut list = old.clone();
            for write in writes {
                append(&mut list, write);
            }
            *value = Some(Value::Array(list));
            return Ok(ChannelChange::Appended(kept));
        }
        if let Kind::Messages = self {
            let mut list = value
                .as_ref()
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            let (before, mut kept) = (list.len(), matches!(value, Some(Value::Array(_))));
            for write in writes {
                let joined = messages::join(&list, write, UnknownRemoval::Refused)?;
                kept &= joined.kept;
                list = joined.list;
            }
            *value = Some(Value::Array(list));
            return Ok(match kept {
                true => ChannelChange::Appended(before),
                false => ChannelChange::Replaced,
            });
        }
        let mut next = value.clone();
        for write in writes {
            next = Some(match (&next, self) {
                (Some(old), Kind::Binary(op)) => op.apply(old, write)?,
                // Without a default, the first write is the value.
                _ => (*write).clone(),
            });
        }
        let effect = grown(value.as_ref(), next.as_ref(), self);
        *value = next;
        Ok(effect)
    }

    /// Returns whether the channel can be read and triggers nodes.
    pub(crate) fn available(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (_, None) => false,
            (Kind::Topic { .. }, Some(queue)) => queue.as_array().is_some_and(|queue| !queue.is_empty()),
            (Kind::LastAfterFinish, Some(held)) => is_released(held),
            (Kind::Barrier { names, deferred }, Some(_)) => {
                let (arrived, released) = self.arrived(value);
                arrived.len() == names.len() && (released || !deferred)
            }
            _ => true,
        }
    }

    /// Updates the value when a node that the channel triggers runs.
    pub(crate) fn consume(&self, value: &mut Option<Value>) -> bool {
        if !self.available(value.as_ref()) {
            return false;
        }
        *value = match self {
            Kind::LastAfterFinish => None,
            Kind::Barrier { deferred: true, .. } => Some(held_back(List::new().into())),
            Kind::Barrier { .. } => Some(List::new().into()),
            _ => return false,
        };
        true
    }

    /// Returns the value of a node's own trigger that is available.
    pub(crate) fn trigger(&self) -> Value {
        match self {
            Kind::LastAfterFinish => held(Value::Null, true),
            _ => Value::Null,
        }
    }

    /// Returns whether the channel holds something back until a step leads nowhere else.
    pub(crate) fn waits(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Kind::LastAfterFinish, Some(held)) => !is_released(held),
            (
                Kind::Barrier {
                    names,
                    deferred: true,
                },
                Some(_),
            ) => {
                let (arrived, released) = self.arrived(value);
                arrived.len() == names.len() && !released
            }
            _ => false,
        }
    }

    /// Releases what was held back, after a step that triggered nothing.
    pub(crate) fn finish(&self, value: &mut Option<Value>) -> bool {
        let waits = self.waits(value.as_ref());
        if waits && let Some(Value::Array(pair)) = value {
            pair.set(1, true.into());
        }
        waits
    }

    /// Returns the names that arrived at a barrier, and whether it is released.
    fn arrived(&self, value: Option<&Value>) -> (List, bool) {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        match (self, value) {
            (Kind::Barrier { deferred: true, .. }, Some(held)) => (list(held.at(0)), is_released(held)),
            _ => (list(value), false),
        }
    }

    /// Returns whether a step without writes changes the channel.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            Kind::Ephemeral { .. } | Kind::Any | Kind::Topic { accumulate: false }
        )
    }

    /// Returns whether anything of the channel is stored, even if only its writes.
    pub(crate) fn is_stored(&self) -> bool {
        !matches!(self, Kind::Untracked { .. } | Kind::Managed(_))
    }

    /// Returns whether the value may be joined from stored writes. An ordinary reducer may have been a delta key
    /// before.
    pub(crate) fn can_be_rebuilt(&self) -> bool {
        matches!(self, Kind::Delta(_) | Kind::Binary(_) | Kind::Messages)
    }

    /// Returns whether the channel keeps its default when a checkpoint has no value for it.
    pub(crate) fn keeps_default(&self) -> bool {
        matches!(
            self,
            Kind::Binary(_) | Kind::Messages | Kind::Delta(_) | Kind::Last | Kind::Untracked { .. }
        )
    }

    /// Returns whether an overwrite wrapper has a meaning for the channel. Elsewhere it is a value like any other.
    pub(crate) fn takes_overwrites(&self) -> bool {
        matches!(self, Kind::Binary(_) | Kind::Messages | Kind::Delta(_))
    }

    /// Returns whether both kinds treat writes in the same way.
    pub(crate) fn same(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Binary(a), Kind::Binary(b)) => a.same(b),
            (Kind::Delta(a), Kind::Delta(b)) => a.frequency == b.frequency && a.reducer.same(&b.reducer),
            (Kind::Ephemeral { guard: a }, Kind::Ephemeral { guard: b })
            | (Kind::Untracked { guard: a }, Kind::Untracked { guard: b })
            | (Kind::Topic { accumulate: a }, Kind::Topic { accumulate: b }) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// Builds `[value, released]`, as deferred triggers hold it.
fn held(value: Value, released: bool) -> Value {
    vec![value, released.into()].into()
}

/// Builds the value of a deferred trigger that is not released.
fn held_back(value: Value) -> Value {
    held(value, false)
}

fn is_released(held: &Value) -> bool {
    held.at(1).and_then(Value::as_bool) == Some(true)
}

fn queue(value: &mut Option<Value>, accumulate: bool, writes: &[&Value]) -> ChannelChange {
    let old = value
        .as_ref()
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let kept = if accumulate { old.len() } else { 0 };
    let mut items = if accumulate { old.clone() } else { List::new() };
    for write in writes {
        match write {
            Value::Array(several) => items.append(several),
            item => items.push((*item).clone()),
        }
    }
    let added = items.len() > kept;
    let cleared = !accumulate && !old.is_empty();
    if !added && !cleared {
        return ChannelChange::Unchanged;
    }
    *value = Some(items.into());
    if accumulate && kept > 0 {
        ChannelChange::Appended(kept)
    } else {
        ChannelChange::Replaced
    }
}

/// Tells storage that a list only grew, so that it can store what is new.
fn grown(old: Option<&Value>, new: Option<&Value>, kind: &Kind) -> ChannelChange {
    match (old, new, kind) {
        (
            Some(Value::Array(old)),
            Some(Value::Array(_)),
            Kind::Binary(BinaryOp::Append | BinaryOp::Add | BinaryOp::Union),
        ) => ChannelChange::Appended(old.len()),
        _ => ChannelChange::Replaced,
    }
}
