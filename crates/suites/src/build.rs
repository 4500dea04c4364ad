//! Makes checkpoints the way the engine does: values shared with the parent, versions counted up, changes named.

use superstep::checkpoint::{
    Change, Checkpoint, Commit, Metadata, PendingWrite, Put, Source, TaskId, TaskWrites, Write,
};
use superstep::value::{List, Object};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

use super::{Mismatch, Outcome, same};

/// Returns the n-th checkpoint id of a test: a UUIDv7, so ids sort like their numbers.
pub fn id(n: u64) -> CheckpointId {
    CheckpointId::new(format!(
        "0190a000-{:04x}-7000-8000-{:012x}",
        n >> 32,
        n & 0xffff_ffff
    ))
}

/// A checkpoint in the making.
#[derive(Clone, Debug)]
pub struct Draft {
    put: Put,
}

impl Draft {
    /// Creates a first checkpoint.
    pub fn root(id: CheckpointId) -> Self {
        Self::make(id, None)
    }

    /// Creates a child of `parent`, initially equal to it.
    pub fn after(parent: &Checkpoint, id: CheckpointId) -> Self {
        Self::make(id, Some(parent))
    }

    fn make(id: CheckpointId, parent: Option<&Checkpoint>) -> Self {
        let step = parent.map_or(-1, |parent| parent.metadata.step + 1);
        let checkpoint = Checkpoint {
            parent: parent.map(|parent| parent.id.clone()),
            ts: superstep::run::iso8601(1_795_000_000_000 + (step + 1).unsigned_abs()),
            channel_values: parent
                .map(|parent| parent.channel_values.clone())
                .unwrap_or_default(),
            channel_versions: parent
                .map(|parent| parent.channel_versions.clone())
                .unwrap_or_default(),
            versions_seen: parent
                .map(|parent| parent.versions_seen.clone())
                .unwrap_or_default(),
            updated_channels: Some(Vec::new()),
            metadata: Metadata {
                source: if parent.is_some() {
                    Source::Loop
                } else {
                    Source::Input
                },
                step,
                parents: Object::new(),
                user: parent
                    .map(|parent| parent.metadata.user.clone())
                    .unwrap_or_default(),
            },
            next: vec!["node".into()],
            id,
        };
        Self {
            put: Put {
                checkpoint,
                changes: Vec::new(),
                seen: Vec::new(),
            },
        }
    }

    fn change(&mut self, channel: &str, appended_from: Option<usize>) -> Name {
        let name: Name = channel.into();
        let checkpoint = &mut self.put.checkpoint;
        let version = checkpoint.channel_versions.values().max().copied().unwrap_or(0) + 1;
        checkpoint.channel_versions.insert(name.clone(), version);
        if let Some(updated) = &mut checkpoint.updated_channels {
            updated.push(name.clone());
        }
        self.put.changes.push(Change {
            channel: name.clone(),
            appended_from,
        });
        name
    }

    /// Gives a channel a value.
    pub fn set(mut self, channel: &str, value: impl Into<Value>) -> Self {
        let name = self.change(channel, None);
        self.put.checkpoint.channel_values.insert(name, value.into());
        self
    }

    /// Adds items to a list channel.
    pub fn append(mut self, channel: &str, items: Vec<Value>) -> Self {
        let mut list = match self.put.checkpoint.channel_values.get(channel) {
            Some(Value::Array(list)) => list.clone(),
            _ => List::new(),
        };
        let from = self
            .put
            .checkpoint
            .channel_values
            .contains_key(channel)
            .then_some(list.len());
        list.extend(items);
        let name = self.change(channel, from);
        self.put.checkpoint.channel_values.insert(name, list.into());
        self
    }

    /// Gives a channel a new version and no value.
    pub fn clear(mut self, channel: &str) -> Self {
        let name = self.change(channel, None);
        self.put.checkpoint.channel_values.remove(&name);
        self
    }

    /// Removes a channel with its version.
    pub fn forget(mut self, channel: &str) -> Self {
        let name: Name = channel.into();
        self.put.checkpoint.channel_values.remove(&name);
        self.put.checkpoint.channel_versions.remove(&name);
        self.put.changes.push(Change {
            channel: name,
            appended_from: None,
        });
        self
    }

    /// Sets the current versions of channels as seen by a node.
    pub fn sees(mut self, node: &str, channels: &[&str]) -> Self {
        let checkpoint = &mut self.put.checkpoint;
        let versions = &checkpoint.channel_versions;
        let seen = channels
            .iter()
            .filter_map(|channel| versions.get_key_value(*channel));
        let seen = seen.map(|(name, version)| (name.clone(), *version)).collect();
        checkpoint.versions_seen.insert(node.into(), seen);
        self.put.seen.push(node.into());
        self
    }

    /// Adds an entry of the user's metadata.
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.put.checkpoint.metadata.user.insert(key, value);
        self
    }

    /// Applies any other edit.
    pub fn with(mut self, edit: impl FnOnce(&mut Checkpoint)) -> Self {
        edit(&mut self.put.checkpoint);
        self
    }

    /// Returns the checkpoint with its changes.
    pub fn put(self) -> Put {
        self.put
    }

    /// Stores it and gives the checkpoint back.
    pub async fn store(
        self,
        saver: &dyn Checkpointer,
        thread: &str,
        ns: &str,
    ) -> Result<Checkpoint, Mismatch> {
        let checkpoint = self.put.checkpoint.clone();
        saver
            .commit(commit(thread, ns, Vec::new(), Some(self.put)))
            .await?;
        Ok(checkpoint)
    }
}

pub(super) fn commit(thread: &str, ns: &str, writes: Vec<TaskWrites>, put: Option<Put>) -> Commit {
    Commit {
        claim: None,
        thread: thread.into(),
        ns: ns.into(),
        writes,
        put,
    }
}

pub(super) fn writes(of: &Checkpoint, task: &str, path: &str, rows: &[(i32, &str, Value)]) -> TaskWrites {
    TaskWrites {
        checkpoint_id: of.id.clone(),
        task_id: TaskId::new(task),
        task_path: path.into(),
        writes: rows
            .iter()
            .map(|(idx, channel, value)| Write {
                idx: *idx,
                channel: (*channel).into(),
                value: value.clone(),
            })
            .collect(),
    }
}

/// Stores writes of one task of a root checkpoint.
pub(super) async fn write(
    saver: &dyn Checkpointer,
    thread: &str,
    of: &Checkpoint,
    task: &str,
    path: &str,
    rows: &[(i32, &str, Value)],
) -> Outcome {
    Ok(saver
        .commit(commit(thread, "", vec![writes(of, task, path, rows)], None))
        .await?)
}

/// Reads the pending writes of a root checkpoint as (task, idx, channel, value).
pub(super) async fn pending(
    saver: &dyn Checkpointer,
    thread: &str,
    of: &Checkpoint,
) -> Result<Vec<(String, i32, String, Value)>, Mismatch> {
    let tuple = saver.get(&thread.into(), "", Some(&of.id)).await?;
    let rows = tuple.ok_or("the checkpoint is gone")?.pending_writes;
    Ok(rows
        .into_iter()
        .map(|PendingWrite { task_id, write, .. }| {
            (
                task_id.to_string(),
                write.idx,
                write.channel.to_string(),
                write.value,
            )
        })
        .collect())
}

/// Checks that the stored checkpoint is the one that was put.
pub(super) async fn stored(saver: &dyn Checkpointer, thread: &str, ns: &str, want: &Checkpoint) -> Outcome {
    let thread = ThreadId::from(thread);
    let tuple = saver.get(&thread, ns, Some(&want.id)).await?;
    let tuple = tuple.ok_or_else(|| format!("checkpoint {} is missing", want.id))?;
    same("thread", &tuple.thread, &thread)?;
    same("namespace", &*tuple.ns, ns)?;
    let (got, id) = (&tuple.checkpoint, &want.id);
    same(
        &format!("values of {id}"),
        &got.channel_values,
        &want.channel_values,
    )?;
    same(
        &format!("versions of {id}"),
        &got.channel_versions,
        &want.channel_versions,
    )?;
    same(
        &format!("versions seen of {id}"),
        &got.versions_seen,
        &want.versions_seen,
    )?;
    same(&format!("checkpoint {id}"), got, want)
}
