//! Threads as lists show them.

use serde::{Deserialize, Serialize};

use crate::base::ids::{CheckpointId, ThreadId};
use crate::checkpoint::types::CheckpointHead;
use crate::value::Object;

/// Status of a thread by its newest root checkpoint. A run that is in progress is known only to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ThreadStatus {
    /// Nothing is left to do.
    Idle,
    /// A question waits for an answer.
    Interrupted,
    /// A task failed and has not finished since.
    Error,
    /// Nodes are to run: it stopped at a breakpoint, was cancelled or was cut off.
    Pending,
}

impl ThreadStatus {
    /// Returns the name of the status: idle, interrupted, error or pending.
    pub fn as_str(self) -> &'static str {
        match self {
            ThreadStatus::Idle => "idle",
            ThreadStatus::Interrupted => "interrupted",
            ThreadStatus::Error => "error",
            ThreadStatus::Pending => "pending",
        }
    }

    /// Returns the status with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Idle, Self::Interrupted, Self::Error, Self::Pending]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

/// A thread as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadSummary {
    /// The thread.
    pub thread: ThreadId,
    /// Its newest root checkpoint.
    pub head: CheckpointHead,
    /// `ts` of its oldest checkpoint.
    pub created: String,
    /// Number of root checkpoints.
    pub checkpoints: u64,
}

impl ThreadSummary {
    /// Returns the status that the head shows.
    pub fn status(&self) -> ThreadStatus {
        match &self.head {
            head if head.interrupted > 0 => ThreadStatus::Interrupted,
            head if head.failed > 0 => ThreadStatus::Error,
            head if !head.next.is_empty() => ThreadStatus::Pending,
            _ => ThreadStatus::Idle,
        }
    }

    /// Returns the thread's place in a list, from which a listing can continue.
    pub fn place(&self) -> ThreadPlace {
        ThreadPlace {
            head: self.head.id.clone(),
            thread: self.thread.clone(),
        }
    }
}

/// A place in the list of threads: newest head first, equal heads by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadPlace {
    /// The newest root checkpoint of the thread there.
    pub head: CheckpointId,
    /// The thread there.
    pub thread: ThreadId,
}

/// Criteria for listing threads, the one with the newest head first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadQuery {
    /// Only threads whose id contains this, letters compared without case.
    pub search: Option<String>,
    /// Only threads with this status.
    pub status: Option<ThreadStatus>,
    /// Only threads whose newest root checkpoint has these metadata entries; `source` and `step` count as entries.
    pub filter: Object,
    /// Only threads whose newest root checkpoint is older than this moment (ISO-8601, UTC).
    pub idle_since: Option<String>,
    /// Only threads after this place in the list.
    pub after: Option<ThreadPlace>,
    /// At most this many; `Some(0)` gives none.
    pub limit: Option<usize>,
    /// A first page is wanted soon: where a saver has to look through all threads to know which are the newest, it may list
    /// others first, and [`Coordination::changes`](super::claim::Coordination::changes) changes when it knows. Only for a query
    /// that has a limit and nothing else; a page that follows continues the list that is in its order.
    #[serde(default)]
    pub soon: bool,
}

impl ThreadQuery {
    /// Creates a query for every thread.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the text that a listed thread's id contains, letters compared without case; any when `None`.
    pub fn search(mut self, search: impl Into<Option<String>>) -> Self {
        self.search = search.into();
        self
    }
    /// Sets the status of listed threads; any when `None`.
    pub fn status(mut self, status: impl Into<Option<ThreadStatus>>) -> Self {
        self.status = status.into();
        self
    }
    /// Sets the metadata entries that the newest root checkpoint of a listed thread has.
    pub fn filter(mut self, filter: Object) -> Self {
        self.filter = filter;
        self
    }
    /// Sets the moment (ISO-8601, UTC) before which the newest root checkpoint of a listed thread was made; any when
    /// `None`.
    pub fn idle_since(mut self, moment: impl Into<Option<String>>) -> Self {
        self.idle_since = moment.into();
        self
    }
    /// Sets the place in the list after which listed threads stand; its beginning when `None`.
    pub fn after(mut self, place: impl Into<Option<ThreadPlace>>) -> Self {
        self.after = place.into();
        self
    }
    /// Sets the largest number of threads to list; all when `None`.
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }
    /// Sets whether a first page is wanted soon, in any order where the newest threads are not known yet.
    pub fn soon(mut self, soon: bool) -> Self {
        self.soon = soon;
        self
    }
    /// Returns whether the thread belongs in the list; `limit` is ignored.
    pub fn matches(&self, thread: &ThreadSummary) -> bool {
        let contains = |needle: &String| {
            thread
                .thread
                .as_str()
                .to_lowercase()
                .contains(&needle.to_lowercase())
        };
        let follows = |place: &ThreadPlace| {
            thread.head.id < place.head || (thread.head.id == place.head && thread.thread > place.thread)
        };
        self.search.as_ref().is_none_or(contains)
            && self.status.is_none_or(|status| status == thread.status())
            && thread.head.metadata.matches(&self.filter)
            && self
                .idle_since
                .as_ref()
                .is_none_or(|moment| thread.head.ts < *moment)
            && self.after.as_ref().is_none_or(follows)
    }
}
