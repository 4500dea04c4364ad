//! What is recorded beside the writes of a task ([`RECORD`](super::types::reserved::RECORD)): which state keys it read,
//! why it went where it did, and which items of long-term memory it used. Nothing that runs depends on it; old threads have none.

use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock};

use xxhash_rust::xxh3::Xxh3;

use crate::base::ids::{Name, TaskId};
use crate::checkpoint::memory_use::MemoryUse;
use crate::checkpoint::types::{PendingWrite, reserved};
use crate::value::{Object, Value};

/// Bytes of JSON of a value that is recorded as it is.
pub const MAX_RECORDED_VALUE: usize = 200;
/// Bytes of JSON of a value whose size and hash are recorded.
const MAX_HASHED: usize = 64 * 1024;
/// Letters of an expression.
const MAX_EXPRESSION: usize = 400;
/// Bytes of a summary; of a longer one the beginning is kept.
pub(crate) const MAX_SUMMARY: usize = 2_000;
/// Entries of a list in a decision: values, conditions, targets.
pub(crate) const MAX_ENTRIES: usize = 16;

/// Record of what a task read, decided, and did with long-term memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskRecord {
    /// The state keys that the node read. Those that its edges read are with their decisions.
    pub reads: KeysRead,
    /// Where its edges led, and where the node itself did.
    pub decisions: Vec<Decision>,
    /// What it did with items of long-term memory, in order; failed attempts are among it.
    pub memory: Vec<MemoryUse>,
    /// Some of `memory` was left out: there were too many uses.
    pub memory_cut: bool,
    /// The node did not run: what it wrote was [pinned](crate::RunConfig::pinned).
    pub pinned: bool,
    /// Markdown in which the author of the graph says what the task did.
    pub summary: Option<Name>,
}

/// State keys that a task read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeysRead {
    /// Not seen: any key of its input may have been read.
    #[default]
    Unknown,
    /// The state was used as a whole.
    All,
    /// These, in the order of their first use.
    Keys(Vec<Name>),
}

/// Destination that a conditional edge, or the node itself, led to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The conditional edge, by the name of its branch; `None` when the node itself decided.
    pub edge: Option<Name>,
    /// The nodes that it led to, each once; empty when the edge was not taken.
    pub to: Vec<Name>,
    /// Number of packets that it sent.
    pub packets: usize,
    /// Why, where the router says so.
    pub reason: Option<Reason>,
    /// Some of it was left out: there were too many entries.
    pub cut: bool,
}

/// Reason for a decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason {
    /// The expression that decided.
    pub expression: Option<Name>,
    /// What it gave.
    pub result: Option<RecordedValue>,
    /// The state keys that were read for it, with their values at that time.
    pub values: Vec<(Name, RecordedValue)>,
    /// The conditions that were tried, in order.
    pub conditions: Vec<TriedCondition>,
}

/// A condition that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedCondition {
    /// What is chosen when it is true.
    pub label: Name,
    /// Its expression; none where it always holds.
    pub expression: Option<Name>,
    /// Whether it held.
    pub held: bool,
}

/// A value as it was when it was read.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedValue {
    /// The value.
    Whole(Value),
    /// A value of more than [`MAX_RECORDED_VALUE`] bytes.
    Large {
        /// Bytes of its JSON; `None` when they are more than 64 KiB.
        size: Option<usize>,
        /// A hash of its JSON, in hexadecimal; `None` where the size is.
        hash: Option<String>,
    },
}

/// Returns what tasks read and decided, by task, from their stored writes.
pub fn records_of(writes: &[PendingWrite]) -> impl Iterator<Item = (&TaskId, TaskRecord)> {
    let records = writes
        .iter()
        .filter(|row| &*row.write.channel == reserved::RECORD);
    records.map(|row| (&row.task_id, TaskRecord::from_value(&row.write.value)))
}

/// Writer that counts and hashes what is written, up to a limit.
struct Digest {
    hash: Xxh3,
    size: usize,
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.size += text.len();
        if self.size > MAX_HASHED {
            return Err(fmt::Error);
        }
        self.hash.update(text.as_bytes());
        Ok(())
    }
}

impl From<&Value> for RecordedValue {
    fn from(value: &Value) -> Self {
        if let Value::Null | Value::Bool(_) | Value::Number(_) = value {
            return Self::Whole(value.clone());
        }
        let mut digest = Digest {
            hash: Xxh3::new(),
            size: 0,
        };
        match write!(digest, "{value}") {
            Ok(()) if digest.size <= MAX_RECORDED_VALUE => Self::Whole(value.clone()),
            Ok(()) => Self::Large {
                size: Some(digest.size),
                hash: Some(format!("{:016x}", digest.hash.digest())),
            },
            Err(_) => Self::Large {
                size: None,
                hash: None,
            },
        }
    }
}

/// Returns a key of a stored record. It is made once: a run records two decisions a step.
macro_rules! key {
    ($name:literal) => {{
        static KEY: std::sync::LazyLock<$crate::base::ids::Name> = std::sync::LazyLock::new(|| $name.into());
        &*KEY
    }};
}
pub(crate) use key;

/// Shortens an expression for the record: only the beginning of a long one is kept.
pub(crate) fn shortened(expression: &Name) -> Name {
    // No text has more letters than bytes.
    if expression.len() <= MAX_EXPRESSION {
        return expression.clone();
    }
    match expression.char_indices().nth(MAX_EXPRESSION) {
        Some((end, _)) => format!("{}…", &expression[..end]).into(),
        None => expression.clone(),
    }
}

impl RecordedValue {
    /// Converts the value to its stored form: what is whole is stored as it is, and an object in one of its own, because
    /// an object says what a large value was.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Whole(value @ Value::Object(_)) => {
                Object::of_distinct([(key!("value").clone(), value.clone())]).into()
            }
            Self::Whole(value) => value.clone(),
            Self::Large { size, hash } => Object::of_distinct([
                (key!("size").clone(), size.map(|size| size as u64).into()),
                (key!("hash").clone(), hash.clone().into()),
            ])
            .into(),
        }
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let Value::Object(entries) = value else {
            return Some(Self::Whole(value.clone()));
        };
        // Earlier releases stored every value in an object.
        if let Some(whole) = entries.get("value") {
            return Some(Self::Whole(whole.clone()));
        }
        Some(Self::Large {
            size: entries
                .get("size")?
                .as_u64()
                .and_then(|size| size.try_into().ok()),
            hash: entries.get("hash")?.as_str().map(str::to_owned),
        })
    }
}

fn names_of(value: Option<&Value>) -> Vec<Name> {
    match value {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(Name::from).collect(),
        _ => Vec::new(),
    }
}

impl TriedCondition {
    fn from_value(value: &Value) -> Option<Self> {
        Some(Self {
            label: value.get("label")?.as_str()?.into(),
            expression: value.get("expression").and_then(Value::as_str).map(Name::from),
            held: value.get("held")?.as_bool()?,
        })
    }
}

impl Decision {
    /// Reads a decision, given the values that the decisions of its record have read.
    fn from_value(value: &Value, all: Option<&Object>) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Name::from);
        let value_of = |(key, value): (&Name, &Value)| Some((key.clone(), RecordedValue::from_value(value)?));
        let reason = Reason {
            expression: text("expression"),
            result: value.get("result").and_then(RecordedValue::from_value),
            values: match value.get("values") {
                Some(Value::Array(keys)) => (keys.iter().filter_map(Value::as_str))
                    .filter_map(|key| value_of(all?.entry(key)?))
                    .collect(),
                Some(Value::Object(own)) => own.iter().filter_map(value_of).collect(),
                _ => Vec::new(),
            },
            conditions: (value.get("conditions").and_then(Value::as_array).into_iter())
                .flat_map(|list| list.iter())
                .filter_map(TriedCondition::from_value)
                .collect(),
        };
        value.as_object()?;
        Some(Self {
            edge: text("edge"),
            to: names_of(value.get("to")),
            packets: (value.get("packets").and_then(Value::as_u64))
                .map_or(0, |packets| usize::try_from(packets).unwrap_or(usize::MAX)),
            reason: (reason != Reason::default()).then_some(reason),
            cut: value.get("cut").and_then(Value::as_bool).unwrap_or(false),
        })
    }
}

impl TaskRecord {
    /// Returns the channel of the write that stores it.
    pub(crate) fn channel() -> Name {
        static CHANNEL: LazyLock<Name> = LazyLock::new(|| reserved::RECORD.into());
        Arc::clone(&CHANNEL)
    }

    /// Reads a stored record. What it does not know is left out.
    pub fn from_value(value: &Value) -> Self {
        Self {
            reads: match value.get("reads") {
                None => KeysRead::Unknown,
                Some(Value::Array(_)) => KeysRead::Keys(names_of(value.get("reads"))),
                Some(_) => KeysRead::All,
            },
            decisions: (value.get("decisions").and_then(Value::as_array).into_iter())
                .flat_map(|list| list.iter())
                .filter_map(|decision| {
                    Decision::from_value(decision, value.get("values").and_then(Value::as_object))
                })
                .collect(),
            memory: (value.get("memory").and_then(Value::as_array).into_iter())
                .flat_map(|list| list.iter())
                .filter_map(MemoryUse::from_value)
                .collect(),
            memory_cut: value.get("memory_cut").and_then(Value::as_bool) == Some(true),
            pinned: value.get("pinned").and_then(Value::as_bool) == Some(true),
            summary: value.get("summary").and_then(Value::as_str).map(Name::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn what_is_no_record_says_nothing() {
        for other in [json!({}), json!(["anything"]), json!(null)] {
            assert_eq!(TaskRecord::from_value(&other), TaskRecord::default());
        }
    }

    #[test]
    fn what_earlier_releases_stored_is_read() {
        let stored = json!({"decisions": [{
            "edge": "a->b",
            "to": ["b"],
            "expression": "state.x > 1",
            "result": {"value": true},
            "values": {
                "x": {"value": 2},
                "o": {"value": {"value": 3}},
                "y": {"size": 502, "hash": "00"},
            },
        }]});
        let record = TaskRecord::from_value(&stored);
        let [
            Decision {
                to,
                reason: Some(reason),
                ..
            },
        ] = &record.decisions[..]
        else {
            panic!("{record:?}");
        };
        assert_eq!(to[..], [Name::from("b")]);
        assert_eq!(reason.result, Some(RecordedValue::Whole(json!(true))));
        let large = RecordedValue::Large {
            size: Some(502),
            hash: Some("00".to_owned()),
        };
        let values = [
            ("x".into(), RecordedValue::Whole(json!(2))),
            ("o".into(), RecordedValue::Whole(json!({"value": 3}))),
            ("y".into(), large),
        ];
        assert_eq!(reason.values[..], values);
    }

    #[test]
    fn large_values_are_a_size_and_a_hash() {
        let of = |text: &str| RecordedValue::from(&json!(text));
        assert_eq!(of("short"), RecordedValue::Whole(json!("short")));
        let RecordedValue::Large { size, hash } = of(&"a".repeat(1000)) else {
            panic!("it is too large to be kept");
        };
        assert_eq!(size, Some(1002));
        let RecordedValue::Large { hash: other, .. } = of(&"b".repeat(1000)) else {
            panic!("it is too large to be kept");
        };
        assert_ne!(hash, other);
        let huge = of(&"a".repeat(MAX_HASHED));
        assert_eq!(
            huge,
            RecordedValue::Large {
                size: None,
                hash: None
            }
        );
    }
}
