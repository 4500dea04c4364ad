//! Channels: how the writes of one super-step become a key's next value.
//!
//! A channel's value is an `Option<Value>`; its kind says what several writes mean, when it can be read, and what
//! happens in a step that does not write it. The functions here are pure: they know no graph and no checkpoint.

use std::fmt;
use std::sync::Arc;

use crate::ids::Name;
use crate::messages::add_messages;
use crate::value::{List, Number, Object, Value};

/// A user's reducer: old value and update give the new value, or say why not.
pub type ReducerFn = Arc<dyn Fn(&Value, &Value) -> Result<Value, String> + Send + Sync>;

/// A binary operator that joins an update with what is there.
#[derive(Clone)]
pub enum BinaryOp {
    /// Numbers are added, text and lists are joined.
    Add,
    /// Numbers are multiplied.
    Multiply,
    /// The smaller number or text.
    Min,
    /// The larger number or text.
    Max,
    /// Both true.
    And,
    /// One of them true.
    Or,
    /// An item, or each item of a list, is added at the end.
    Append,
    /// Keys of the update replace those of the object, one level deep.
    Merge,
    /// Items that are not there yet are added.
    Union,
    /// Somebody's own, with a name for messages.
    Custom(Name, ReducerFn),
}

impl fmt::Debug for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl BinaryOp {
    /// The operator's name.
    pub fn name(&self) -> &str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Multiply => "multiply",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Append => "append",
            BinaryOp::Merge => "merge",
            BinaryOp::Union => "union",
            BinaryOp::Custom(name, _) => name,
        }
    }

    /// Joins `update` with `old`.
    pub fn apply(&self, old: &Value, update: &Value) -> Result<Value, String> {
        use Value::{Array, Bool, Object as Obj, String as Text};
        let refuse = || {
            Err(format!(
                "the {} reducer cannot join {} with {}",
                self.name(),
                old.type_name(),
                update.type_name()
            ))
        };
        Ok(match (self, old, update) {
            (BinaryOp::Custom(_, reduce), ..) => return reduce(old, update),
            (BinaryOp::Add, Value::Number(a), Value::Number(b)) => {
                numbers(a, b, i64::checked_add, |a, b| a + b)
            }
            (BinaryOp::Add, Text(a), Text(b)) => format!("{a}{b}").into(),
            (BinaryOp::Multiply, Value::Number(a), Value::Number(b)) => {
                numbers(a, b, i64::checked_mul, |a, b| a * b)
            }
            (BinaryOp::Min | BinaryOp::Max, Value::Number(a), Value::Number(b)) => {
                let old_wins = match (a.as_i64(), b.as_i64()) {
                    (Some(a), Some(b)) => (a <= b) == matches!(self, BinaryOp::Min),
                    _ => (a.as_f64() <= b.as_f64()) == matches!(self, BinaryOp::Min),
                };
                if old_wins { old.clone() } else { update.clone() }
            }
            (BinaryOp::Min | BinaryOp::Max, Text(a), Text(b)) => {
                if (a <= b) == matches!(self, BinaryOp::Min) {
                    old.clone()
                } else {
                    update.clone()
                }
            }
            (BinaryOp::And, Bool(a), Bool(b)) => Bool(*a && *b),
            (BinaryOp::Or, Bool(a), Bool(b)) => Bool(*a || *b),
            (BinaryOp::Add | BinaryOp::Append, Array(a), Array(b)) => {
                let mut joined = a.clone();
                joined.append(b);
                Array(joined)
            }
            (BinaryOp::Append, Array(a), item) => {
                let mut joined = a.clone();
                joined.push(item.clone());
                Array(joined)
            }
            (BinaryOp::Merge, Obj(a), Obj(b)) => {
                let mut merged = a.clone();
                for (key, value) in b.iter() {
                    merged.insert(key.clone(), value.clone());
                }
                Obj(merged)
            }
            (BinaryOp::Union, Array(a), update) => {
                let mut joined = a.clone();
                let mut add = |item: &Value| {
                    if !joined.iter().any(|have| have == item) {
                        joined.push(item.clone());
                    }
                };
                match update {
                    Array(items) => items.iter().for_each(&mut add),
                    item => add(item),
                }
                Array(joined)
            }
            _ => return refuse(),
        })
    }
}

fn numbers(a: &Number, b: &Number, int: fn(i64, i64) -> Option<i64>, float: fn(f64, f64) -> f64) -> Value {
    match (a.as_i64(), b.as_i64()) {
        (Some(x), Some(y)) => int(x, y).map_or_else(|| Value::from(float(x as f64, y as f64)), Value::from),
        _ => Value::from(float(
            a.as_f64().unwrap_or(f64::NAN),
            b.as_f64().unwrap_or(f64::NAN),
        )),
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Last,
    Binary(BinaryOp),
    Messages,
    Ephemeral {
        guard: bool,
    },
    /// Queue of `Send` packets, emptied when a step does not write it.
    Topic,
    /// Complete when every name has been written.
    Barrier(Arc<[Name]>),
}

/// How a state key behaves.
#[derive(Clone, Debug)]
pub struct ChannelSpec {
    pub(crate) kind: Kind,
    pub(crate) default: Option<Value>,
}

impl ChannelSpec {
    /// Keeps the last value; two writes in one super-step are an error.
    pub fn last_value() -> Self {
        Self {
            kind: Kind::Last,
            default: None,
        }
    }
    /// Joins writes with an operator. Without a default the first write is taken as it is.
    pub fn binary(op: BinaryOp, default: Option<Value>) -> Self {
        Self {
            kind: Kind::Binary(op),
            default,
        }
    }
    /// A list that grows.
    pub fn append() -> Self {
        Self::binary(BinaryOp::Append, Some(Value::Array(List::new())))
    }
    /// A list of messages, joined by id.
    pub fn add_messages() -> Self {
        Self {
            kind: Kind::Messages,
            default: Some(Value::Array(List::new())),
        }
    }
    /// Readable in the step after it was written, then gone.
    pub fn ephemeral() -> Self {
        Self {
            kind: Kind::Ephemeral { guard: true },
            default: None,
        }
    }
    /// Value before the first write.
    pub fn with_default(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }
    /// overwrite, ephemeral, add_messages or the operator's name.
    pub fn reducer_name(&self) -> &str {
        match &self.kind {
            Kind::Last => "overwrite",
            Kind::Binary(op) => op.name(),
            Kind::Messages => "add_messages",
            Kind::Ephemeral { .. } => "ephemeral",
            Kind::Topic => "topic",
            Kind::Barrier(_) => "barrier",
        }
    }
}

/// What an update did to a channel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Unchanged,
    Replaced,
    /// The list kept its first `n` items and grew.
    Appended(usize),
}

/// The value inside an overwrite wrapper, if `value` is one.
pub(crate) fn overwrite_of(value: &Value) -> Option<&Value> {
    let object = value.as_object()?;
    if object.len() == 1 {
        return object.get("__overwrite__");
    }
    (object.len() == 2 && object.get("type")?.as_str() == Some("__overwrite__"))
        .then(|| object.get("value"))?
}

impl Kind {
    /// Applies all writes of one super-step. On an error the value is left as it was.
    pub(crate) fn update(&self, value: &mut Option<Value>, writes: &[&Value]) -> Result<Effect, String> {
        let Some(last) = writes.last() else {
            return Ok(match self {
                Kind::Ephemeral { .. } if value.is_some() => {
                    *value = None;
                    Effect::Replaced
                }
                Kind::Topic
                    if value
                        .as_ref()
                        .and_then(Value::as_array)
                        .is_some_and(|queue| !queue.is_empty()) =>
                {
                    *value = Some(Value::Array(List::new()));
                    Effect::Replaced
                }
                _ => Effect::Unchanged,
            });
        };
        match self {
            Kind::Last if writes.len() > 1 => Err(
                "Can receive only one value per step. Use an Annotated key to handle multiple values".into(),
            ),
            Kind::Ephemeral { guard: true } if writes.len() > 1 => {
                Err("EphemeralValue(guard=True) can receive only one value per step".into())
            }
            Kind::Last | Kind::Ephemeral { .. } => {
                *value = Some((*last).clone());
                Ok(Effect::Replaced)
            }
            Kind::Topic => {
                *value = Some(Value::Array(
                    writes.iter().map(|packet| (*packet).clone()).collect(),
                ));
                Ok(Effect::Replaced)
            }
            Kind::Barrier(names) => {
                let mut arrived = value
                    .as_ref()
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                let before = arrived.len();
                for write in writes {
                    if !names.iter().any(|name| Some(&**name) == write.as_str()) {
                        return Err(format!("{write} does not belong to this join"));
                    }
                    if !arrived.iter().any(|have| have == *write) {
                        arrived.push((*write).clone());
                    }
                }
                let changed = arrived.len() > before;
                *value = Some(Value::Array(arrived));
                Ok(if changed {
                    Effect::Replaced
                } else {
                    Effect::Unchanged
                })
            }
            Kind::Binary(_) | Kind::Messages => {
                let mut overwrites = writes.iter().filter_map(|write| overwrite_of(write));
                if let Some(wanted) = overwrites.next() {
                    if overwrites.next().is_some() {
                        return Err("Can receive only one Overwrite value per super-step".into());
                    }
                    *value = Some(match self {
                        Kind::Messages => add_messages(&List::new(), wanted)?,
                        _ => wanted.clone(),
                    });
                    return Ok(Effect::Replaced);
                }
                if let (Kind::Binary(BinaryOp::Append), Some(Value::Array(old))) = (self, &*value) {
                    // The list is taken once for the step, so that each item costs its own push and nothing else.
                    let kept = old.len();
                    let mut list = old.clone();
                    for write in writes {
                        match write {
                            Value::Array(items) => list.append(items),
                            item => list.push((*item).clone()),
                        }
                    }
                    *value = Some(Value::Array(list));
                    return Ok(Effect::Appended(kept));
                }
                let mut next = value.clone();
                for write in writes {
                    next = Some(match (&next, self) {
                        (old, Kind::Messages) => {
                            let empty = List::new();
                            add_messages(old.as_ref().and_then(Value::as_array).unwrap_or(&empty), write)?
                        }
                        (None, _) => (*write).clone(),
                        (Some(old), Kind::Binary(op)) => op.apply(old, write)?,
                        _ => unreachable!("the outer match admits only reducers"),
                    });
                }
                let effect = grown(value.as_ref(), next.as_ref(), self);
                *value = next;
                Ok(effect)
            }
        }
    }

    /// Can it be read, and does it trigger?
    pub(crate) fn available(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (_, None) => false,
            (Kind::Topic, Some(queue)) => queue.as_array().is_some_and(|queue| !queue.is_empty()),
            (Kind::Barrier(names), Some(arrived)) => arrived
                .as_array()
                .is_some_and(|arrived| arrived.len() == names.len()),
            _ => true,
        }
    }

    /// Called when a node that the channel triggers runs.
    pub(crate) fn consume(&self, value: &mut Option<Value>) -> bool {
        let complete = matches!(self, Kind::Barrier(_)) && self.available(value.as_ref());
        if complete {
            *value = Some(Value::Array(List::new()));
        }
        complete
    }

    /// Does a step without writes change it?
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Kind::Ephemeral { .. } | Kind::Topic)
    }
}

/// Tells storage that a list only grew, so that it can store what is new. The message reducer may replace messages
/// in place; those it kept are the very same objects, so pointers tell.
fn grown(old: Option<&Value>, new: Option<&Value>, kind: &Kind) -> Effect {
    let (Some(Value::Array(old)), Some(Value::Array(new))) = (old, new) else {
        return Effect::Replaced;
    };
    let keeps_prefix = match kind {
        Kind::Binary(BinaryOp::Append | BinaryOp::Add | BinaryOp::Union) => true,
        Kind::Messages => {
            new.len() >= old.len() && old.iter().zip(new.iter()).all(|(a, b)| same_object(a, b))
        }
        _ => false,
    };
    if keeps_prefix {
        Effect::Appended(old.len())
    } else {
        Effect::Replaced
    }
}

fn same_object(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.same(b),
        _ => a == b,
    }
}

/// The type name LangGraph's messages use for a value.
pub(crate) fn python_type(value: &Value) -> &'static str {
    match value.type_name() {
        "null" => "NoneType",
        "boolean" => "bool",
        "integer" => "int",
        "number" => "float",
        "string" => "str",
        "array" => "list",
        _ => "dict",
    }
}

/// One packet as it is queued: `{"node", "arg"}`.
pub(crate) fn packet(node: &Name, arg: &Value) -> Value {
    [("node", Value::String(node.clone())), ("arg", arg.clone())]
        .into_iter()
        .collect::<Object>()
        .into()
}
