//! Who writes: a caller who finds nobody writing does it where it is, everybody else waits for the one who does.
//!
//! Handing a small commit to another thread and waiting for it takes longer than the commit. So the writer lies on the
//! desk: anyone who has a commit that will not wait for the disk takes it, together with everything that was handed in
//! before, and puts it back. What takes long, and what came while somebody wrote, is done by a thread of its own, in
//! the order in which it was handed in.

use std::collections::VecDeque;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use superstep::checkpoint::StorageError;
use tokio::sync::oneshot;

use super::writer::{Job, Outcome, Request, WhenLocked, Writer};

/// Commits and other jobs after which a transaction is closed: bounds how long the first caller waits for the last.
const GROUP: usize = 256;

/// Checkpoints and tasks with writes up to which a commit is short.
const SHORT: usize = 16;
/// Pages in the write-ahead log from which it is folded into the file, beside the writer...
const FOLD_FROM: u32 = 1000;
/// ...and from which nobody writes meanwhile: only then can the log start over.
const FOLD_ALONE: u32 = 4 * FOLD_FROM;

/// The desk on which the writer lies.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    /// There may be something to do for the thread.
    work: Condvar,
    /// Counts the writer's commits; odd while one is under way.
    commits: Arc<AtomicU64>,
}

#[derive(Default)]
struct QueueState {
    /// Nobody writes now. Gone for good when it ended in a panic.
    writer: Option<Box<Writer>>,
    waiting: VecDeque<Request>,
    /// The thread is to do what waits: callers are already asleep, or it takes long.
    called: bool,
    /// No more will come.
    closed: bool,
    /// Nobody will give the writer back.
    broken: bool,
    /// Pages in the log.
    pages: u32,
    /// Pages that were in the log when it was folded last.
    folded: u32,
    /// Counts how often the writer was taken.
    leases: u64,
    seen: Seen,
}

/// Results of looking for changes of others.
#[derive(Default)]
struct Seen {
    /// What the writer's connection said last.
    by_writer: Option<u64>,
    /// What another connection said last while no commit of the writer was under way.
    by_other: Option<i64>,
    /// The writer's commits by then.
    commits: u64,
    /// Changes that were found while the writer was at work.
    beside: u64,
    /// The lease during which the last look found the writer at work.
    busy: Option<u64>,
}

impl Queue {
    pub(super) fn new(writer: Writer) -> Self {
        let queue = Self {
            commits: writer.commit_count(),
            ..Self::default()
        };
        queue.state.lock().writer = Some(Box::new(writer));
        queue
    }

    /// Queues a job at once; the future waits for its outcome and, if it may, does it. So the order of the calls is the
    /// order of the commits, even when the futures are awaited later and in another order.
    pub(super) fn submit(
        self: &Arc<Self>,
        job: Job,
        here: bool,
        path: &Path,
    ) -> impl Future<Output = Outcome> + Send + 'static {
        let (answer, outcome) = oneshot::channel();
        let what = format!("writing to {}", path.display());
        {
            let mut state = self.state.lock();
            if !state.broken {
                state.waiting.push_back((job, answer));
                if !here {
                    self.call(&mut state);
                }
            }
        }
        let unasked = Unasked(Some(self.clone()).filter(|_| here));
        async move {
            // From here on somebody waits for it.
            if let Some(queue) = unasked.asked() {
                queue.serve_here();
            }
            outcome.await.unwrap_or_else(|_| {
                Err(StorageError::Backend {
                    what,
                    cause: "its writer has stopped".to_owned(),
                    remedy: "Open the database again; what was acknowledged is stored".to_owned(),
                })
            })
        }
    }

    fn call(&self, state: &mut QueueState) {
        state.called = true;
        self.work.notify_one();
    }

    /// Runs the waiting jobs, unless somebody else is writing or the thread was called for them.
    fn serve_here(&self) {
        let mut state = self.state.lock();
        if state.called || state.waiting.is_empty() {
            return;
        }
        let Some(mut lease) = self.take(&mut state) else {
            // The writer calls the thread when it is done.
            return;
        };
        let group = take_group(&mut state.waiting);
        drop(state);
        let undone = lease.writer(|writer| writer.serve(group, WhenLocked::Return));
        let mut state = self.state.lock();
        // Another program writes: the thread has the patience to wait for it.
        for request in undone.into_iter().rev() {
            state.waiting.push_front(request);
        }
    }

    /// Runs the loop of the thread until the queue is closed. `open` creates a connection for folding the log.
    pub(super) fn serve(&self, open: impl Fn() -> rusqlite::Result<Connection>) {
        let mut folding = None;
        let mut state = self.state.lock();
        loop {
            let due = state.called || state.closed;
            if state.broken || (state.closed && state.waiting.is_empty() && state.writer.is_some()) {
                // The writer is the last to close, which folds the whole log, and closes without the lock.
                let writer = state.writer.take();
                drop(state);
                drop(folding);
                drop(writer);
                return;
            }
            if !state.closed && state.pages >= state.folded + FOLD_FROM {
                let alone = match state.pages >= FOLD_ALONE {
                    true => match self.take(&mut state) {
                        Some(lease) => Some(lease),
                        // The writer wakes this thread when it is done.
                        None => {
                            self.work.wait(&mut state);
                            continue;
                        }
                    },
                    false => None,
                };
                state.folded = state.pages;
                drop(state);
                if folding.is_none() {
                    folding = open().inspect_err(complain).ok();
                }
                if let Some(conn) = &folding {
                    let folded = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                    let _ = folded.inspect_err(complain);
                }
                drop(alone);
                state = self.state.lock();
                continue;
            }
            let lease = match due && !state.waiting.is_empty() {
                true => self.take(&mut state),
                false => None,
            };
            let Some(mut lease) = lease else {
                if state.waiting.is_empty() {
                    state.called = false;
                }
                self.work.wait(&mut state);
                continue;
            };
            let group = take_group(&mut state.waiting);
            drop(state);
            lease.writer(|writer| writer.serve(group, WhenLocked::Wait));
            drop(lease);
            state = self.state.lock();
        }
    }

    /// Returns a number that changes with another program's commit. `version` is what another connection of this program
    /// sees: while the writer is at work over two looks (it waits for another program, or for the disk) and has not begun
    /// a commit of its own, a new version there is another program's.
    pub(super) fn changes(&self, version: impl FnOnce() -> Option<i64>) -> rusqlite::Result<Option<u64>> {
        let mut state = self.state.lock();
        let before = self.commits.load(Ordering::SeqCst);
        let version = version();
        let commits = self.commits.load(Ordering::SeqCst);
        let leases = state.leases;
        let steady = commits == before && commits.is_multiple_of(2);
        let own = commits != state.seen.commits;
        let note = match &state.writer {
            Some(writer) => {
                state.seen.by_writer = Some(writer.changes()?);
                state.seen.busy = None;
                true
            }
            None => {
                let stays = state.seen.busy.replace(leases) == Some(leases);
                let other = stays && !own && state.seen.by_other != version;
                state.seen.beside += u64::from(other);
                own || other
            }
        };
        if note && steady {
            (state.seen.by_other, state.seen.commits) = (version, commits);
        }
        let Seen {
            by_writer, beside, ..
        } = state.seen;
        Ok(by_writer.map(|version| version.wrapping_add(beside << 32)))
    }

    /// Closes the queue: no more jobs come, and the thread runs the waiting ones and ends.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.work.notify_one();
    }

    fn take(&self, state: &mut QueueState) -> Option<Lease<'_>> {
        let writer = state.writer.take()?;
        state.leases += 1;
        Some(Lease {
            queue: self,
            writer: Some(writer),
        })
    }
}

/// Warns that the write-ahead log could not be folded: it grows until it can be; nothing is lost.
fn complain(error: &rusqlite::Error) {
    tracing::warn!(%error, "the write-ahead log could not be folded into the file");
}

/// Takes as many of the waiting requests as fit into a transaction.
fn take_group(waiting: &mut VecDeque<Request>) -> Vec<Request> {
    let (mut size, mut group) = (0, Vec::new());
    while size < GROUP
        && let Some(next) = waiting.pop_front()
    {
        size += next.0.size();
        group.push(next);
    }
    group
}

/// Has the writer, and gives it back.
struct Lease<'q> {
    queue: &'q Queue,
    writer: Option<Box<Writer>>,
}

impl Lease<'_> {
    fn writer<T: Default>(&mut self, work: impl FnOnce(&mut Writer) -> T) -> T {
        self.writer
            .as_mut()
            .map(|writer| work(writer))
            .unwrap_or_default()
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        if std::thread::panicking() {
            // Nobody knows what it left half done. Everybody who waits gets the error that it has stopped.
            tracing::error!("the writer of a database ended in a panic");
            state.broken = true;
            state.waiting.clear();
        } else {
            state.writer = self.writer.take();
            let pages = state.writer.as_ref().map_or(0, |writer| writer.log_pages());
            if pages < state.pages {
                // It started over.
                state.folded = 0;
            }
            state.pages = pages;
        }
        if !state.waiting.is_empty() {
            // Who handed this in saw that somebody wrote, and sleeps.
            self.queue.call(&mut state);
        } else if state.closed || state.broken || state.pages >= state.folded + FOLD_FROM {
            self.queue.work.notify_one();
        }
    }
}

/// A job whose future was not asked yet. When it never is, the thread does the job.
struct Unasked(Option<Arc<Queue>>);

impl Unasked {
    fn asked(mut self) -> Option<Arc<Queue>> {
        self.0.take()
    }
}

impl Drop for Unasked {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            let mut state = queue.state.lock();
            if !state.waiting.is_empty() {
                queue.call(&mut state);
            }
        }
    }
}

impl Job {
    /// Returns whether the caller who submits the job may run it, which holds only for short ones.
    pub(super) fn is_short(&self) -> bool {
        matches!(self, Job::Commits(commits) if commits.iter().map(|commit| commit.writes.len() + 1).sum::<usize>() <= SHORT)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use superstep::checkpoint::Commit;
    use superstep_suites::{Draft, id};
    use tokio::sync::oneshot;

    use super::super::SqliteSaver;
    use super::super::writer::{Job, WhenLocked};
    use super::{Lease, Queue};

    /// Takes the writer as soon as nobody has it: the thread gives an answer before it puts the writer back.
    fn wait_for_writer(queue: &Queue) -> Lease<'_> {
        loop {
            if let Some(lease) = queue.take(&mut queue.state.lock()) {
                return lease;
            }
            std::thread::yield_now();
        }
    }

    #[tokio::test]
    async fn a_commit_of_another_program_is_seen_while_the_writer_is_at_work() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("t.db");
        let saver = SqliteSaver::open(&path).expect("a new database");
        let other = Connection::open(&path).expect("a second connection");
        let queue = saver
            .connections
            .queue
            .clone()
            .expect("a database that is written");
        let look = || saver.connections.changes().expect("a look");
        let idle = look();
        let lease = wait_for_writer(&queue);
        assert_eq!((look(), look()), (idle, idle), "nothing was changed");
        other
            .execute_batch("CREATE TABLE another_program (n)")
            .expect("a commit of another program");
        let busy = look();
        assert_ne!(busy, idle, "the commit is seen beside the writer");
        assert_eq!(look(), busy, "and once");
        drop(lease);
        look();
        let after = look();
        assert_eq!(look(), after, "an idle writer sees nothing more");
    }

    #[tokio::test]
    async fn commits_of_its_own_are_never_another_programs() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = SqliteSaver::open(folder.path().join("t.db")).expect("a new database");
        let queue = saver
            .connections
            .queue
            .clone()
            .expect("a database that is written");
        let look = || saver.connections.changes().expect("a look");
        let idle = look();
        // One before the writer is found at work, one while it is.
        Draft::root(id(1)).store(&saver, "a", "").await.expect("stores");
        let mut lease = wait_for_writer(&queue);
        assert_eq!((look(), look()), (idle, idle), "it had committed before");
        let (answer, mut outcome) = oneshot::channel();
        let job = Job::Commits(vec![Commit {
            claim: None,
            thread: "b".into(),
            ns: "".into(),
            writes: vec![],
            put: Some(Draft::root(id(1)).put()),
        }]);
        lease.writer(|writer| writer.serve(vec![(job, answer)], WhenLocked::Wait));
        assert!(
            outcome.try_recv().is_ok_and(|outcome| outcome.is_ok()),
            "it is stored"
        );
        assert_eq!((look(), look()), (idle, idle), "and commits while it is at work");
        drop(lease);
        assert_eq!(
            (look(), look()),
            (idle, idle),
            "an idle writer knows its own commits"
        );
    }
}
