//! The line of checkpoints that led to one, read in pages from the newest to the oldest, so that what is near costs
//! little in a thread of any length.

use std::collections::{HashMap, HashSet};

use crate::base::ids::{CheckpointId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::{CheckpointHead, ListQuery, StorageError};

/// Checkpoints of the first page; each later one is twice as large as the one before, up to [`MAX_PAGE`].
const FIRST: usize = 64;
const MAX_PAGE: usize = 1024;

/// The checkpoints of a thread from one moment back, as far as they were asked for.
#[derive(Debug)]
pub struct Lineage<'a> {
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    read: HashMap<CheckpointId, CheckpointHead>,
    /// Everything between the beginning and this one has been read.
    oldest: CheckpointId,
    page: usize,
    ended: bool,
}

impl<'a> Lineage<'a> {
    /// Begins with checkpoints of the outermost graph that are known already; what is older than the newest of them can
    /// be asked for.
    pub fn from(
        saver: &'a dyn Checkpointer,
        thread: &'a ThreadId,
        known: impl IntoIterator<Item = CheckpointHead>,
    ) -> Self {
        let read: HashMap<_, _> = known.into_iter().map(|head| (head.id.clone(), head)).collect();
        Self {
            saver,
            thread,
            oldest: read.keys().max().cloned().unwrap_or_else(|| "".into()),
            read,
            page: FIRST,
            ended: false,
        }
    }

    /// Returns a checkpoint that is older than those the lineage began with, or one by itself whose id does not sort before
    /// them, as that of a parent which another program made; `None` when it no longer exists.
    pub async fn get(&mut self, id: &CheckpointId) -> Result<Option<&CheckpointHead>, StorageError> {
        while !self.read.contains_key(id) && *id < self.oldest && !self.ended {
            let query = ListQuery::new()
                .thread(self.thread.clone())
                .ns("")
                .before(self.oldest.clone())
                .limit(self.page);
            let heads = self.saver.heads(&query).await?;
            self.ended = heads.len() < self.page;
            self.page = (self.page * 2).min(MAX_PAGE);
            if let Some(last) = heads.last() {
                self.oldest = last.id.clone();
            }
            self.read
                .extend(heads.into_iter().map(|head| (head.id.clone(), head)));
        }
        if !self.read.contains_key(id) && *id >= self.oldest {
            let query = ListQuery::new()
                .thread(self.thread.clone())
                .ns("")
                .id(id.clone())
                .limit(1);
            let found = self.saver.heads(&query).await?;
            self.read
                .extend(found.into_iter().map(|head| (head.id.clone(), head)));
        }
        Ok(self.read.get(id))
    }

    /// Returns the checkpoints that a checkpoint continues, the nearest first, at most `limit`, and whether there are
    /// more. A chain that leads back to itself ends where it does.
    pub async fn line(
        &mut self,
        from: &CheckpointHead,
        limit: usize,
    ) -> Result<(Vec<CheckpointHead>, bool), StorageError> {
        let mut line = Vec::new();
        let mut passed = HashSet::from([from.id.clone()]);
        let mut at = from.parent.clone();
        while let Some(id) = at.filter(|id| passed.insert(id.clone())) {
            if line.len() == limit {
                return Ok((line, true));
            }
            let Some(head) = self.get(&id).await? else { break };
            at = head.parent.clone();
            line.push(head.clone());
        }
        Ok((line, false))
    }

    /// Returns the newest checkpoint that both continue; one of the two when the other continues it. A parent is nearly
    /// always older, so the younger of the two steps back until they meet; where ids do not sort, one whole line is
    /// compared with the other.
    pub async fn common_ancestor(
        &mut self,
        left: &CheckpointId,
        right: &CheckpointId,
    ) -> Result<Option<CheckpointId>, StorageError> {
        let (mut at_left, mut at_right) = (left.clone(), right.clone());
        let mut sorts = true;
        while at_left != at_right {
            let younger = if at_left > at_right {
                &mut at_left
            } else {
                &mut at_right
            };
            match self.get(younger).await?.and_then(|head| head.parent.clone()) {
                Some(parent) if parent < *younger => *younger = parent,
                Some(_) => {
                    sorts = false;
                    break;
                }
                None => return self.met(left, right).await,
            }
        }
        if sorts {
            return Ok(Some(at_left));
        }
        self.met(left, right).await
    }

    /// Finds where the line of one checkpoint meets that of another, whatever their ids are.
    async fn met(
        &mut self,
        left: &CheckpointId,
        right: &CheckpointId,
    ) -> Result<Option<CheckpointId>, StorageError> {
        let mut passed = HashSet::new();
        let mut at = Some(left.clone());
        while let Some(id) = at.take().filter(|id| passed.insert(id.clone())) {
            at = self.get(&id).await?.and_then(|head| head.parent.clone());
        }
        let mut seen = HashSet::new();
        let mut at = Some(right.clone());
        while let Some(id) = at.take().filter(|id| seen.insert(id.clone())) {
            if passed.contains(&id) {
                return Ok(Some(id));
            }
            at = self.get(&id).await?.and_then(|head| head.parent.clone());
        }
        Ok(None)
    }
}
