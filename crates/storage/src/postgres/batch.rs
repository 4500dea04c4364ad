//! The rows of some commits.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::Shown;
use super::parts::Stored;
use superstep::ThreadId;
use superstep::checkpoint::{TaskId, TaskWrites};

/// A row of `checkpoints`.
#[derive(Debug)]
pub(super) struct CheckpointRow {
    pub(super) space: i64,
    pub(super) id: String,
    pub(super) seq: i64,
    pub(super) parent: Option<String>,
    pub(super) ts: String,
    pub(super) source: i16,
    pub(super) step: i64,
    pub(super) meta: i64,
    pub(super) next: Option<Vec<u8>>,
    pub(super) updated: Option<Vec<u8>>,
    pub(super) depth: i64,
    pub(super) weight: i64,
    pub(super) delta: Vec<u8>,
}

/// A row of `items`; where its bytes go is decided by their length.
#[derive(Debug)]
pub(super) struct ItemRow {
    pub(super) space: i64,
    pub(super) id: i64,
    pub(super) base: Option<i64>,
    pub(super) len: Option<i64>,
    pub(super) level: i64,
    pub(super) run: i64,
    pub(super) size: i64,
    pub(super) whole: i64,
}

/// A row of `writes` beside its key.
#[derive(Debug)]
pub(super) struct WriteRow {
    pub(super) path: String,
    pub(super) channel: i64,
    pub(super) kind: i16,
}

#[derive(Debug, Default)]
pub(super) struct Touch {
    pub(super) epoch: i64,
    pub(super) head: Option<String>,
    pub(super) added: i64,
    /// A claim of the thread may be taken over: others who know the epoch are to look again.
    pub(super) takes_over: bool,
}

/// Changes that are stored together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// New namespaces: number, thread, name.
    pub(super) spaces: Vec<(i64, String, String)>,
    pub(super) touched: BTreeMap<i64, Touch>,
    /// Space, number, run, JSON text.
    pub(super) metas: Vec<(i64, i64, Option<String>, String)>,
    pub(super) checkpoints: Vec<CheckpointRow>,
    pub(super) items: Vec<(ItemRow, Stored)>,
    /// By checkpoint, task and index.
    pub(super) writes: BTreeMap<(i64, String, i32), (WriteRow, Stored)>,
    /// The parts that rows name.
    pub(super) parts: BTreeSet<i64>,
    /// Tasks of outermost graphs that wrote what may change whether they ask: where they are, by checkpoint and name.
    pub(super) asking: BTreeMap<(i64, String), Asking>,
    /// And those that wrote what finishes them.
    pub(super) answering: BTreeSet<(i64, String)>,
    /// What is shown of claims.
    pub(super) claims: Shown,
}

/// Location of a task that may ask.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) space: i64,
    pub(super) id: String,
    pub(super) thread: String,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.claims.is_empty()
    }

    /// Records that the batch builds on this namespace.
    pub(super) fn touch(&mut self, space: i64, epoch: i64) -> &mut Touch {
        let touch = self.touched.entry(space).or_default();
        touch.epoch = epoch;
        touch
    }

    /// Records that the batch takes over the claim of the thread whose outermost namespace this is.
    pub(super) fn take_over(&mut self, space: i64, epoch: i64) {
        self.touch(space, epoch).takes_over = true;
    }

    /// Returns the epoch that a namespace will have, if the batch builds on it.
    pub(super) fn epoch_after(&self, space: i64) -> Option<i64> {
        let touch = self.touched.get(&space)?;
        let is_new = self.spaces.iter().any(|(id, ..)| *id == space);
        Some(touch.epoch + i64::from(touch.takes_over && !is_new))
    }

    /// Returns whether the batch adds checkpoints to the namespace.
    pub(super) fn grows(&self, space: i64) -> bool {
        self.touched.get(&space).is_some_and(|touch| touch.added > 0)
    }

    /// Records that the batch adds a checkpoint to a namespace.
    pub(super) fn added(&mut self, space: i64, epoch: i64, id: &str) {
        let touch = self.touch(space, epoch);
        touch.added += 1;
        if touch.head.as_deref().is_none_or(|head| head < id) {
            touch.head = Some(id.to_owned());
        }
    }

    pub(super) fn item(&mut self, mut row: ItemRow, value: Stored) {
        row.size = value.data.len() as i64;
        self.name(&value.parts);
        self.items.push((row, value));
    }

    pub(super) fn write(&mut self, key: (i64, String, i32), row: WriteRow, value: Stored) {
        self.name(&value.parts);
        self.writes.insert(key, (row, value));
    }

    /// Records that a task of a checkpoint of an outermost graph wrote something that may change whether it asks.
    pub(super) fn asks(&mut self, space: i64, seq: i64, of: &TaskWrites, thread: &ThreadId) {
        let task = Asking {
            space,
            id: of.checkpoint_id.to_string(),
            thread: thread.to_string(),
        };
        self.asking.insert((seq, of.task_id.to_string()), task);
    }

    /// Records that a task of a checkpoint of an outermost graph wrote what finishes it.
    pub(super) fn answers(&mut self, seq: i64, task: &TaskId) {
        self.answering.insert((seq, task.to_string()));
    }

    fn name(&mut self, parts: &[i64]) {
        self.parts.extend(parts);
    }

    /// Adds what comes after.
    pub(super) fn merge(&mut self, other: Batch) {
        self.spaces.extend(other.spaces);
        for (space, touch) in other.touched {
            let own = self.touch(space, touch.epoch);
            own.added += touch.added;
            own.takes_over |= touch.takes_over;
            own.head = own.head.take().max(touch.head);
        }
        self.metas.extend(other.metas);
        self.checkpoints.extend(other.checkpoints);
        self.items.extend(other.items);
        self.writes.extend(other.writes);
        self.parts.extend(other.parts);
        self.asking.extend(other.asking);
        self.answering.extend(other.answering);
        self.claims.merge(other.claims);
    }
}
