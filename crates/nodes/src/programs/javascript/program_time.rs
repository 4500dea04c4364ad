//! How long a program may go on. What counts is the time that it takes itself: the processor time of its thread, and the
//! sleep that it asks for, as long as it asked. So a computer that is busy with other things stops no program that does
//! little, and waiting for the node costs nothing. Beside that, the clock on the wall is a net for what never comes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{CodeError, Limits};
use crate::base::processor::ThreadClock;
use crate::programs::requests::{Notice, ProgramReply, ProgramRequest, RequestBody, sleep_time};

/// The time of a running program, on its thread.
pub(super) struct ProgramTime {
    limits: Limits,
    began: Instant,
    processor: ThreadClock,
    slept: Cell<Duration>,
    open: RefCell<UnansweredRequests>,
    expired: Cell<Option<Expired>>,
}

/// The limit that ran out.
#[derive(Clone, Copy)]
enum Expired {
    Timeout,
    Patience,
}

impl ProgramTime {
    pub(super) fn start(limits: Limits) -> Self {
        Self {
            limits,
            began: Instant::now(),
            processor: ThreadClock::start(),
            slept: Cell::default(),
            open: RefCell::default(),
            expired: Cell::default(),
        }
    }

    /// Returns the time that the program has taken itself.
    fn spent(&self) -> Duration {
        self.processor.elapsed() + self.slept.get()
    }

    /// Looks at the clocks.
    pub(super) fn check(&self) {
        if self.is_up() {
            return;
        }
        if self.spent() >= self.limits.timeout {
            self.expired.set(Some(Expired::Timeout));
        } else if self.began.elapsed() >= self.limits.patience {
            self.expired.set(Some(Expired::Patience));
        }
    }

    /// Returns whether the time was up when somebody last looked at the clocks.
    pub(super) fn is_up(&self) -> bool {
        self.expired.get().is_some()
    }

    /// Returns the error of a program whose time was up.
    pub(super) fn error(&self) -> Option<CodeError> {
        self.expired.get().map(|expired| match expired {
            Expired::Timeout => CodeError::Timeout {
                limit: self.limits.timeout,
                slept: !self.slept.get().is_zero(),
            },
            Expired::Patience => CodeError::Unfinished(self.limits.patience),
        })
    }

    /// Returns whether the node will say anything more.
    pub(super) fn is_waiting(&self) -> bool {
        let open = self.open.borrow();
        open.in_time + open.too_late > 0
    }

    /// Notes what the program asks.
    pub(super) fn note_request(&self, asked: &ProgramRequest) {
        let request = match &asked.request {
            RequestBody::Sleep(ms) => {
                let wakes = self.spent().saturating_add(sleep_time(*ms));
                let too_late = wakes >= self.limits.timeout;
                OpenRequest::Sleep { wakes, too_late }
            }
            RequestBody::Interrupt(_) => OpenRequest::Question(asked.scope),
            RequestBody::Done { task, .. } => return self.open.borrow_mut().give_back(*task),
            _ => OpenRequest::Other,
        };
        // Zero asks for no answer.
        if asked.id != 0 {
            self.open.borrow_mut().put(asked.id, Some(request));
        }
    }

    /// Notes what the node says.
    pub(super) fn note_notice(&self, notice: &Notice) {
        let mut open = self.open.borrow_mut();
        match notice {
            Notice::Work(id) => {
                open.put(*id, Some(OpenRequest::Work));
            }
            Notice::Answer(id, reply) => match open.put(*id, None) {
                Some(OpenRequest::Sleep { wakes, .. }) => self.sleep_until(wakes),
                // A task that is stopped does not say that it is done.
                Some(OpenRequest::Question(task)) if matches!(reply, ProgramReply::Stop) => {
                    open.give_back(task);
                }
                _ => {}
            },
        }
    }

    fn sleep_until(&self, wakes: Duration) {
        let missing = wakes.saturating_sub(self.spent());
        self.slept.set(self.slept.get() + missing);
    }

    /// Begins to wait for an answer to one of the open requests, or for `something_else`.
    pub(super) fn begin_wait(&self, something_else: bool) -> Wait {
        let open = self.open.borrow();
        let oversleeps = !something_else && open.in_time == 0 && open.too_late > 0;
        let rest = || self.limits.timeout.saturating_sub(self.spent());
        Wait {
            sleeps_until: oversleeps.then(|| Instant::now() + rest()),
            until: self.began + self.limits.patience,
        }
    }

    /// Goes on with a wait: returns the time that is left of it, none when the time is up.
    pub(super) fn remaining(&self, wait: &Wait) -> Option<Duration> {
        let now = Instant::now();
        if wait.sleeps_until.is_some_and(|until| until <= now) {
            self.sleep_until(self.limits.timeout);
        }
        self.check();
        let until = wait
            .sleeps_until
            .map_or(wait.until, |until| until.min(wait.until));
        (!self.is_up()).then(|| until.saturating_duration_since(now))
    }

    /// Notes that the thread has waited.
    pub(super) fn end_wait(&self) {
        self.processor.skip_wait();
    }
}

/// A wait for the node.
pub(super) struct Wait {
    /// When the program has slept for as long as it may; none when something may come before.
    sleeps_until: Option<Instant>,
    until: Instant,
}

/// Requests that the node has not answered yet, by number, and how many of these it will answer before the program's time is up.
#[derive(Default)]
struct UnansweredRequests {
    all: HashMap<u64, OpenRequest>,
    in_time: usize,
    /// Sleeps that are too long.
    too_late: usize,
}

enum OpenRequest {
    /// It sleeps until this time of its own.
    Sleep { wakes: Duration, too_late: bool },
    /// A function asks a person: that of the node, or of a task.
    Question(u64),
    /// The program does the work of a task, and its node waits.
    Work,
    /// It waits for the store, or for its node to begin or to record a task.
    Other,
}

impl UnansweredRequests {
    /// Puts a request in the place of what was there.
    fn put(&mut self, id: u64, request: Option<OpenRequest>) -> Option<OpenRequest> {
        if let Some(count) = self.count(request.as_ref()) {
            *count += 1;
        }
        let before = match request {
            Some(request) => self.all.insert(id, request),
            None => self.all.remove(&id),
        };
        if let Some(count) = self.count(before.as_ref()) {
            *count -= 1;
        }
        before
    }

    fn count(&mut self, request: Option<&OpenRequest>) -> Option<&mut usize> {
        match request? {
            OpenRequest::Sleep { too_late: true, .. } => Some(&mut self.too_late),
            OpenRequest::Work => None,
            _ => Some(&mut self.in_time),
        }
    }

    /// Gives a task back to its node, which answers what was asked when it began.
    fn give_back(&mut self, task: u64) {
        if let Some(OpenRequest::Work) = self.all.get(&task) {
            self.put(task, Some(OpenRequest::Other));
        }
    }
}
