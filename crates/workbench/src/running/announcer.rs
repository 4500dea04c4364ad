//! Notifications for the layers above: other questions wait, a thread is free.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::Workbench;

/// Wakes the tasks that count questions, give answers and watch deadlines.
#[derive(Debug, Default)]
pub(crate) struct Announcer {
    /// Another number of questions waits.
    pub(crate) count: Arc<Notify>,
    /// Answers came, or a thread is free.
    pub(crate) answers: Arc<Notify>,
    /// Questions with deadlines may have come or gone, in `threads`.
    pub(crate) deadlines: Arc<Notify>,
    threads: Mutex<ChangedThreads>,
    /// The same, since the last count.
    uncounted: Mutex<ChangedThreads>,
}

/// Threads in which questions came or went since the last look.
#[derive(Debug, Default)]
pub(crate) enum ChangedThreads {
    #[default]
    Anywhere,
    In(HashSet<String>),
}

impl ChangedThreads {
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::In(HashSet::new()))
    }

    fn note(&mut self, thread_id: Option<&str>) {
        match (&mut *self, thread_id) {
            (Self::In(threads), Some(thread)) => {
                threads.insert(thread.to_owned());
            }
            (changed, None) => *changed = Self::Anywhere,
            (Self::Anywhere, Some(_)) => {}
        }
    }
}

impl Announcer {
    /// Says that a thread is free, or that answers came.
    pub(crate) fn thread_is_free(&self) {
        self.answers.notify_one();
    }

    /// Says in which threads questions came or went, and forgets it.
    pub(crate) fn take_changed(&self) -> ChangedThreads {
        self.threads.lock().take()
    }

    /// Says in which threads questions came or went since the last count, and forgets it.
    pub(crate) fn take_uncounted(&self) -> ChangedThreads {
        self.uncounted.lock().take()
    }

    fn note(&self, thread_id: Option<&str>) {
        self.uncounted.lock().note(thread_id);
        self.threads.lock().note(thread_id);
        self.count.notify_one();
        self.deadlines.notify_one();
    }
}

impl Workbench {
    /// Says that another number of questions waits now, of those that were asked.
    pub(crate) fn publish_count(&self) {
        self.announcer.count.notify_one();
    }

    /// Says that other questions wait now: those of one thread, or of any.
    pub(crate) fn publish_inbox(&self, thread_id: Option<&str>) {
        self.announcer.answers.notify_one();
        self.announcer.note(thread_id);
    }
}
