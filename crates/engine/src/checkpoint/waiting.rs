//! Questions that wait, over all threads.

use serde::{Deserialize, Serialize};

use crate::base::ids::{CheckpointId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::threads::ThreadQuery;
use crate::checkpoint::types::{ListQuery, StorageError};

/// A checkpoint of an outermost graph (namespace `""`) whose questions wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Thread.
    pub thread: ThreadId,
    /// Checkpoint whose tasks ask.
    pub checkpoint: CheckpointId,
    /// ISO-8601, UTC: when the checkpoint was made.
    pub ts: String,
    /// Number of its tasks that ask.
    pub tasks: u32,
    /// True when it is the newest checkpoint of its thread's namespace `""`; another is the end of another branch.
    pub is_newest: bool,
}

/// Criteria for listing waiting checkpoints, the oldest checkpoint id first, equal ids by thread.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitingQuery {
    /// Only this thread.
    pub thread: Option<ThreadId>,
    /// Only what follows this place in the list.
    pub after: Option<(CheckpointId, ThreadId)>,
    /// At most this many; `Some(0)` gives none.
    pub limit: Option<usize>,
}

impl WaitingQuery {
    /// Creates a query for every waiting checkpoint.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the thread whose waiting checkpoints are listed; every thread when `None`.
    pub fn thread(mut self, thread: impl Into<Option<ThreadId>>) -> Self {
        self.thread = thread.into();
        self
    }
    /// Sets the place in the list after which listed checkpoints stand; its beginning when `None`.
    pub fn after(mut self, place: impl Into<Option<(CheckpointId, ThreadId)>>) -> Self {
        self.after = place.into();
        self
    }
    /// Sets the largest number of checkpoints to list; all when `None`.
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }
}

impl dyn Checkpointer + '_ {
    /// Lists checkpoints of outermost graphs whose questions wait, the oldest first. If the backend keeps an index for
    /// this ([`Coordination`](crate::checkpoint::Coordination)), that is read; otherwise every checkpoint is examined.
    pub async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        match self.coordination() {
            Some(index) => index.waiting(query).await,
            None => look(self, query).await,
        }
    }

    /// Counts the tasks of outermost graphs whose questions wait, over all threads.
    pub async fn count_waiting(&self) -> Result<u64, StorageError> {
        if let Some(index) = self.coordination() {
            return index.count_waiting().await;
        }
        let all = look(self, &WaitingQuery::default()).await?;
        Ok(all.iter().map(|waiting| u64::from(waiting.tasks)).sum())
    }
}

async fn look(saver: &dyn Checkpointer, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
    let threads = match &query.thread {
        Some(thread) => saver.thread(thread).await?.into_iter().collect(),
        None => saver.threads(&ThreadQuery::default()).await?,
    };
    let mut found = Vec::new();
    for summary in threads {
        let heads = ListQuery::new().thread(summary.thread.clone()).ns("");
        let heads = saver.heads(&heads).await?.into_iter();
        found.extend(heads.filter(|head| head.interrupted > 0).map(|head| Waiting {
            thread: summary.thread.clone(),
            is_newest: head.id == summary.head.id,
            checkpoint: head.id,
            ts: head.ts,
            tasks: head.interrupted,
        }));
    }
    found.sort_by(|a, b| (&a.checkpoint, &a.thread).cmp(&(&b.checkpoint, &b.thread)));
    found.retain(|waiting| {
        let place = (&waiting.checkpoint, &waiting.thread);
        query
            .after
            .as_ref()
            .is_none_or(|after| place > (&after.0, &after.1))
    });
    found.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(found)
}
