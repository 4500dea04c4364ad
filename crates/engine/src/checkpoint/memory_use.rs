//! What a task did with items of long-term memory, in its [record](super::task_record).

use super::task_record::RecordedValue;
use crate::value::{List, Object, Value};

/// Uses that are recorded of a task.
pub(crate) const MAX_USES: usize = 64;

/// Action that was done with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAction {
    /// It was read by its key.
    Read,
    /// A search found it.
    Found,
    /// It was put.
    Written,
    /// It was removed.
    Removed,
}

/// All, with their words.
const ACTIONS: [(MemoryAction, &str); 4] = [
    (MemoryAction::Read, "read"),
    (MemoryAction::Found, "found"),
    (MemoryAction::Written, "written"),
    (MemoryAction::Removed, "removed"),
];

/// One use of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryUse {
    /// What was done.
    pub action: MemoryAction,
    /// Where the item is.
    pub namespace: Vec<String>,
    /// Its key.
    pub key: String,
    /// Its value, as it was read or put; `None` when there was none, or when it was removed.
    pub value: Option<RecordedValue>,
    /// When, in milliseconds since the Unix epoch.
    pub at: u64,
}

impl MemoryAction {
    /// Gives its word.
    pub fn word(self) -> &'static str {
        let known = ACTIONS.iter().find(|(action, _)| *action == self);
        known.map_or("", |(_, word)| word)
    }

    /// Tells whether it changed the item.
    pub fn writes(self) -> bool {
        matches!(self, Self::Written | Self::Removed)
    }
}

impl MemoryUse {
    /// Tells whether it says the same as another, be it later.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let same = (self.action, &self.key, &self.namespace) == (other.action, &other.key, &other.namespace);
        same && self.value == other.value
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut entries = Object::new();
        entries.insert("do", self.action.word());
        let labels: List = self
            .namespace
            .iter()
            .map(|label| Value::from(label.as_str()))
            .collect();
        entries.insert("namespace", labels);
        entries.insert("key", self.key.as_str());
        if let Some(value) = &self.value {
            entries.insert("is", value.to_value());
        }
        entries.insert("at", self.at);
        Value::Object(entries)
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let word = value.get("do")?.as_str()?;
        let labels = value.get("namespace")?.as_array()?;
        Some(Self {
            action: ACTIONS.iter().find(|(_, known)| *known == word)?.0,
            namespace: labels
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            key: value.get("key")?.as_str()?.to_owned(),
            value: value.get("is").and_then(RecordedValue::from_value),
            at: value.get("at")?.as_u64()?,
        })
    }
}
