//! Records as JSON text that a person can read: commits as the file backend keeps them, checkpoints as Redis does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    ChannelVersions, Checkpoint, CheckpointHead, Metadata, Put, Source, StorageError, TaskId, TaskWrites,
    VersionsSeen, Write,
};
use superstep::value::{List, Object};
use superstep::{CheckpointId, Name, ThreadId, Value};

use super::plan::{Changes, ChannelState};

/// Levels of nesting that can be read back: the JSON parser stops at 128, and a record adds six around a value.
const MAX_DEPTH: usize = 120;

/// Data of a checkpoint that lists show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) id: CheckpointId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) ts: String,
    pub(crate) source: Source,
    pub(crate) step: i64,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub(crate) parents: Object,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub(crate) user: Object,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) next: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) updated: Option<Vec<Name>>,
}

impl Head {
    pub(crate) fn of(checkpoint: &Checkpoint) -> Self {
        let metadata = &checkpoint.metadata;
        Self {
            id: checkpoint.id.clone(),
            parent: checkpoint.parent.clone(),
            ts: checkpoint.ts.clone(),
            source: metadata.source,
            step: metadata.step,
            parents: metadata.parents.clone(),
            user: metadata.user.clone(),
            next: checkpoint.next.clone(),
            updated: checkpoint.updated_channels.clone(),
        }
    }

    pub(crate) fn metadata(&self) -> Metadata {
        Metadata {
            source: self.source,
            step: self.step,
            parents: self.parents.clone(),
            user: self.user.clone(),
        }
    }

    /// Refuses metadata that could be stored and not read back.
    pub(crate) fn readable(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let facts = [&self.user, &self.parents].into_iter();
        readable(
            facts.flat_map(|facts| facts.iter().map(|(_, value)| value)),
            thread,
        )
    }

    /// Converts the head to the form that lists show, in its namespace, with the numbers of tasks that ask and that
    /// have failed.
    pub(crate) fn shown(self, ns: Name, interrupted: u32, failed: u32) -> CheckpointHead {
        CheckpointHead {
            ns,
            metadata: self.metadata(),
            id: self.id,
            parent: self.parent,
            ts: self.ts,
            next: self.next,
            updated_channels: self.updated,
            interrupted,
            failed,
        }
    }

    /// Converts the head to a checkpoint without state.
    pub(crate) fn checkpoint(self) -> Checkpoint {
        Checkpoint {
            metadata: self.metadata(),
            id: self.id,
            parent: self.parent,
            ts: self.ts,
            channel_values: Default::default(),
            channel_versions: Default::default(),
            versions_seen: Default::default(),
            updated_channels: self.updated,
            next: self.next,
        }
    }
}

/// Channel versions that a node has seen.
pub(crate) type Seen = BTreeMap<Name, u64>;

/// A checkpoint: its head, and what its state changes against the parent, or all of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record<S> {
    pub(crate) head: Head,
    /// What follows is a change of the parent's state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) continues: bool,
    /// By channel; `null` when the channel is gone.
    #[serde(default = "BTreeMap::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) channels: BTreeMap<Name, Option<S>>,
    /// By node; `null` when the entry is gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) seen: BTreeMap<Name, Option<Seen>>,
}

impl<S> Record<S> {
    /// Creates the change of a checkpoint against what is known of its parent; `slot` is called for each changed
    /// channel that still has a version, with the length of the parent's list if the list only grew.
    pub(crate) fn of<E>(
        put: &Put,
        parent: Option<(&ChannelVersions, &VersionsSeen)>,
        mut slot: impl FnMut(&Name, u64, Option<&Value>, Option<usize>) -> Result<S, E>,
    ) -> Result<Self, E> {
        let changes = Changes::of(put, parent);
        let mut channels = BTreeMap::new();
        for change in changes.channels {
            let made = match change.version {
                Some(version) => Some(slot(
                    &change.channel,
                    version,
                    change.value,
                    change.appended_from,
                )?),
                None => None,
            };
            channels.insert(change.channel, made);
        }
        let seen = changes.seen.into_iter();
        Ok(Self {
            head: Head::of(&put.checkpoint),
            continues: parent.is_some(),
            channels,
            seen: seen.map(|(node, entry)| (node, entry.map(seen_of))).collect(),
        })
    }

    /// Changes a state as the record says; `value` gives a channel's value, or what holds it, and its version.
    pub(crate) fn apply<V: Clone, E>(
        self,
        state: &mut ChannelState<V>,
        mut value: impl FnMut(&ChannelState<V>, &Name, S) -> Result<(u64, Option<V>), E>,
    ) -> Result<Head, E> {
        for (node, entry) in self.seen {
            state.see(node, entry.map(|entry| entry.into_iter().collect()));
        }
        for (channel, slot) in self.channels {
            let (version, value) = match slot {
                Some(slot) => {
                    let (version, value) = value(state, &channel, slot)?;
                    (Some(version), value)
                }
                None => (None, None),
            };
            state.set(channel, version, value);
        }
        Ok(self.head)
    }
}

pub(crate) fn seen_of(versions: &ChannelVersions) -> Seen {
    versions
        .iter()
        .map(|(name, version)| (name.clone(), *version))
        .collect()
}

/// A channel's version and value, written out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WrittenSlot {
    /// It has no value.
    Empty(u64),
    /// Its value.
    Set(u64, Value),
    /// The parent's list, of which this many items stay, and these after them.
    Add(u64, usize, Value),
}

/// Writes of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) of: CheckpointId,
    pub(crate) task: TaskId,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
    pub(crate) writes: Vec<(i32, Name, Value)>,
}

impl Task {
    pub(crate) fn of(task: &TaskWrites) -> Self {
        let rows = task.writes.iter();
        Self {
            of: task.checkpoint_id.clone(),
            task: task.task_id.clone(),
            path: task.task_path.to_string(),
            writes: rows
                .map(|row| (row.idx, row.channel.clone(), row.value.clone()))
                .collect(),
        }
    }

    pub(crate) fn into_writes(self) -> TaskWrites {
        let rows = self.writes.into_iter();
        TaskWrites {
            checkpoint_id: self.of,
            task_id: self.task,
            task_path: self.path.into(),
            writes: rows
                .map(|(idx, channel, value)| Write { idx, channel, value })
                .collect(),
        }
    }
}

/// A commit written out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JournalEntry {
    pub(crate) ns: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) writes: Vec<Task>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) put: Option<Record<WrittenSlot>>,
}

impl JournalEntry {
    /// Refuses what could be stored and not read back.
    pub(crate) fn readable(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let writes = self.writes.iter().flat_map(|task| &task.writes);
        let channels = self
            .put
            .iter()
            .flat_map(|record| record.channels.values().flatten());
        let values = channels.filter_map(|slot| match slot {
            WrittenSlot::Empty(_) => None,
            WrittenSlot::Set(_, value) | WrittenSlot::Add(_, _, value) => Some(value),
        });
        readable(writes.map(|(.., value)| value).chain(values), thread)?;
        self.put
            .iter()
            .try_for_each(|record| record.head.readable(thread))
    }
}

/// Creates the record of a checkpoint whose values are written out.
pub(crate) fn written_out(put: &Put, parent: Option<&Checkpoint>) -> Record<WrittenSlot> {
    let known = parent.map(|parent| (&parent.channel_versions, &parent.versions_seen));
    let made = Record::of::<std::convert::Infallible>(put, known, |channel, version, value, from| {
        let Some(value) = value else {
            return Ok(WrittenSlot::Empty(version));
        };
        let before = parent.and_then(|parent| parent.channel_values.get(channel)?.as_array());
        // What the engine says must fit what is stored, or the list would come back wrong.
        Ok(match (from, value, before) {
            (Some(from), Value::Array(list), Some(before)) if before.len() == from && list.len() >= from => {
                WrittenSlot::Add(version, from, list.skip(from).into())
            }
            _ => WrittenSlot::Set(version, value.clone()),
        })
    });
    match made {
        Ok(record) => record,
    }
}

/// Restores the checkpoint that a record describes.
pub(crate) fn read_back(
    record: Record<WrittenSlot>,
    parent: Option<&Checkpoint>,
) -> Result<Checkpoint, String> {
    let mut state = match (record.continues, parent) {
        (false, _) => ChannelState::default(),
        (true, Some(parent)) => ChannelState {
            values: parent.channel_values.clone(),
            versions: parent.channel_versions.clone(),
            seen: parent.versions_seen.clone(),
        },
        (true, None) => return Err("the checkpoint it continues cannot be read".to_owned()),
    };
    let head = record.apply(&mut state, |state, channel, slot| {
        Ok::<_, String>(match slot {
            WrittenSlot::Empty(version) => (version, None),
            WrittenSlot::Set(version, value) => (version, Some(value)),
            WrittenSlot::Add(version, from, items) => {
                let before = state.values.get(channel).and_then(Value::as_array);
                let mut list = before
                    .filter(|before| before.len() >= from)
                    .map(|before| {
                        if before.len() == from {
                            before.clone()
                        } else {
                            before.take(from)
                        }
                    })
                    .ok_or_else(|| format!("the list of channel {channel} is shorter than {from}"))?;
                let items = items.as_array().ok_or("new items are not a list")?;
                list.append(items);
                (version, Some(Value::Array(list)))
            }
        })
    })?;
    Ok(Checkpoint {
        channel_values: state.values,
        channel_versions: state.versions,
        versions_seen: state.seen,
        ..head.checkpoint()
    })
}

/// Refuses what could be stored and not read back.
pub(crate) fn readable<'a>(
    values: impl IntoIterator<Item = &'a Value>,
    thread: &ThreadId,
) -> Result<(), StorageError> {
    if values.into_iter().all(|value| fits(value, MAX_DEPTH)) {
        return Ok(());
    }
    Err(StorageError::Backend {
        what: format!("storing a checkpoint of thread {thread}"),
        cause: format!("a value is nested more than {MAX_DEPTH} levels deep"),
        remedy: "Write a flatter value".to_owned(),
    })
}

fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels > 0 && list_fits(list, levels - 1),
        Value::Object(object) => levels > 0 && object.iter().all(|(_, value)| fits(value, levels - 1)),
        _ => true,
    }
}

fn list_fits(list: &List, levels: usize) -> bool {
    list.iter().all(|value| fits(value, levels))
}
