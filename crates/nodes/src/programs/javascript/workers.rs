//! The worker processes of a registry: some that wait for the next program, more while many are at work.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use superstep::{NodeContext, NodeError, Value};
use tokio::runtime::Handle;
use tokio::sync::{AcquireError, Semaphore, SemaphorePermit, mpsc, oneshot};

use super::inputs::Argument;
use super::machine::{self, Program as Running, ProgramLine, Received, returned};
use super::modules::Files;
use super::worker::{CallFailure, JavaScriptWorker, JsEvent};
use super::{CodeError, JavaScriptSource, Limits};
use crate::programs::helper::HelperProgram;
use crate::programs::requests::{self, Event, Notice, Output, Owner, ProgramRequest};

/// Most processes at once. Programs that wait for something hold theirs.
const MAX_WORKERS: usize = 32;
/// Time that a program waits for a process before another one is started, when there are as many as processors.
const PATIENCE: Duration = Duration::from_millis(10);
/// Time without work after which a process ends.
const IDLE: Duration = Duration::from_secs(60);

/// Program to run, with its arguments and limits.
pub(crate) struct JavaScriptCall {
    pub(crate) source: JavaScriptSource,
    /// Its arguments; `ctx` follows them.
    pub(crate) given: Vec<Value>,
    /// What it may import.
    pub(crate) files: Option<Files>,
    pub(crate) limits: Limits,
    /// `context`, `config` and whether there is a `store`.
    pub(crate) place: Value,
}

/// Runs JavaScript, in processes where there is a program for them.
#[derive(Debug)]
pub(crate) struct Workers {
    program: Option<HelperProgram>,
    pool: Mutex<Pool>,
    most: Semaphore,
}

#[derive(Debug, Default)]
struct Pool {
    /// The one that has rested longest is at the front.
    idle: VecDeque<JavaScriptWorker>,
    waiting: VecDeque<oneshot::Sender<JavaScriptWorker>>,
    /// Processes that there are, or that start.
    live: Arc<AtomicUsize>,
    /// Does a task look after those that are idle?
    watched: bool,
}

impl Default for Workers {
    fn default() -> Self {
        Self::new(HelperProgram::this())
    }
}

impl Workers {
    pub(crate) fn new(program: Option<HelperProgram>) -> Self {
        Self {
            program,
            pool: Mutex::default(),
            most: Semaphore::new(MAX_WORKERS),
        }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock()
    }

    /// Runs a program for a node; it is stopped when the run is.
    pub(crate) async fn run(
        self: &Arc<Self>,
        context: &NodeContext,
        owner: Owner<'_>,
        call: JavaScriptCall,
    ) -> Result<Result<Output, CodeError>, NodeError> {
        let lost = || CodeError::Machine("it ended in the middle of a program".to_owned());
        let (events, inbox) = mpsc::channel(requests::UNREAD);
        let state = call.given.first().filter(|_| owner.is_node()).cloned();
        if self.program.is_none() {
            let (tell, notices) = std::sync::mpsc::channel();
            let _guard = on_a_thread(call, notices, events);
            let tell = move |notice| drop(tell.send(notice));
            return requests::serve(context, owner, state.as_ref(), inbox, tell, lost).await;
        }
        let (tell, notices) = mpsc::unbounded_channel();
        let tell = move |notice| drop(tell.send(notice));
        let serve = requests::serve(context, owner, state.as_ref(), inbox, tell, lost);
        let drive = self.drive(context, &call, notices, events);
        let (mut serve, mut drive) = (std::pin::pin!(serve), std::pin::pin!(drive));
        // Dropped before its end, `drive` kills the process.
        tokio::select! {
            biased;
            served = &mut serve => served,
            () = &mut drive => serve.await,
        }
    }

    async fn drive(
        self: &Arc<Self>,
        context: &NodeContext,
        call: &JavaScriptCall,
        mut notices: mpsc::UnboundedReceiver<Notice>,
        events: mpsc::Sender<JsEvent>,
    ) {
        let end = loop {
            let (mut worker, place) = match self.lease().await {
                Ok(lease) => lease,
                Err(error) => break Err(error),
            };
            if !place.waited.is_zero() {
                context.report_waited(place.waited).await;
            }
            match worker.run(call, &mut notices, &events).await {
                Ok(end) => {
                    place.give_back(worker);
                    break end;
                }
                // It was ended while it waited, by the system or a person.
                Err(CallFailure::Before) => {}
                Err(CallFailure::During(error)) => break Err(error),
            }
        };
        let _ = events.send(Event::Ended(end)).await;
    }

    /// Waits until a process may be used, and returns how long that took.
    async fn permit(&self) -> Result<(SemaphorePermit<'_>, Duration), AcquireError> {
        if let Ok(permit) = self.most.try_acquire() {
            return Ok((permit, Duration::ZERO));
        }
        let began = Instant::now();
        let permit = self.most.acquire().await?;
        Ok((permit, began.elapsed()))
    }

    /// Leases a process for one call.
    async fn lease(self: &Arc<Self>) -> Result<(JavaScriptWorker, WorkerLease<'_>), CodeError> {
        let failed = |cause: &dyn std::fmt::Display| {
            CodeError::Machine(format!("its worker process cannot be started: {cause}"))
        };
        let (permit, waited) = self.permit().await.map_err(|error| failed(&error))?;
        let mut place = WorkerLease {
            workers: self,
            waited,
            _permit: permit,
        };
        let runtime = Handle::current().id();
        let (count, waiting) = {
            let mut pool = self.pool();
            while let Some(worker) = pool.idle.pop_front() {
                // One of a runtime that has ended cannot be spoken to.
                if worker.is_of(runtime) {
                    return Ok((worker, place));
                }
            }
            match pool.live.load(Ordering::Relaxed) >= processors() {
                true => {
                    let (send, worker) = oneshot::channel();
                    pool.waiting.push_back(send);
                    (None, Some(worker))
                }
                false => (Some(ProcessCount::new(&pool.live)), None),
            }
        };
        if let Some(waiting) = waiting {
            let began = Instant::now();
            let given = tokio::time::timeout(PATIENCE, waiting).await;
            place.waited += began.elapsed();
            if let Ok(Ok(worker)) = given
                && worker.is_of(runtime)
            {
                return Ok((worker, place));
            }
        }
        let count = count.unwrap_or_else(|| ProcessCount::new(&self.pool().live));
        let program = self.program.as_ref().ok_or_else(|| failed(&"no program"))?;
        let worker = JavaScriptWorker::start(program, count)
            .await
            .map_err(|error| failed(&error))?;
        Ok((worker, place))
    }

    /// Ends processes that have waited for long, as long as there are any.
    fn look_after(self: &Arc<Self>) {
        struct Watch(Weak<Workers>);
        impl Drop for Watch {
            fn drop(&mut self) {
                // Also when the runtime ends.
                if let Some(workers) = self.0.upgrade() {
                    workers.pool().watched = false;
                }
            }
        }
        let watch = Watch(Arc::downgrade(self));
        drop(tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE / 2).await;
                let Some(workers) = watch.0.upgrade() else { return };
                let mut pool = workers.pool();
                pool.idle.retain(|worker| worker.since.elapsed() < IDLE);
                if pool.idle.is_empty() {
                    pool.watched = false;
                    return;
                }
            }
        }));
    }
}

/// A process among those that are counted, from before its start until it is dropped.
#[derive(Debug)]
pub(super) struct ProcessCount(Arc<AtomicUsize>);

impl ProcessCount {
    pub(super) fn new(live: &Arc<AtomicUsize>) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Self(live.clone())
    }
}

impl Drop for ProcessCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Leave to use a process for one call.
struct WorkerLease<'a> {
    workers: &'a Arc<Workers>,
    /// How long it took until others gave it up.
    waited: Duration,
    _permit: SemaphorePermit<'a>,
}

impl WorkerLease<'_> {
    /// Hands a process whose call has ended to the next one, or keeps it for later.
    fn give_back(self, mut worker: JavaScriptWorker) {
        worker.since = Instant::now();
        let mut pool = self.workers.pool();
        while let Some(next) = pool.waiting.pop_front() {
            match next.send(worker) {
                Ok(()) => return,
                // Nobody waits there any more.
                Err(back) => worker = back,
            }
        }
        if pool.idle.len() < processors() {
            pool.idle.push_back(worker);
            let watched = std::mem::replace(&mut pool.watched, true);
            drop(pool);
            if !watched {
                self.workers.look_after();
            }
        }
    }
}

/// Returns how many programs can work at once; two at least, because a process gets ready for the next one after each.
fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| available_parallelism().map_or(2, |count| count.get().max(2)))
}

/// Guard that stops a program on a thread when it is dropped.
struct ProgramGuard(Arc<AtomicBool>);

impl Drop for ProgramGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The line of a program on a thread.
struct ThreadLine {
    events: mpsc::Sender<JsEvent>,
    notices: std::sync::mpsc::Receiver<Notice>,
}

impl ProgramLine for ThreadLine {
    fn request(&self, request: ProgramRequest) -> bool {
        self.events.blocking_send(Event::Request(request)).is_ok()
    }

    fn receive(&self, wait: Duration) -> Result<Received, RecvTimeoutError> {
        self.notices.recv_timeout(wait).map(Received::Notice)
    }

    fn want(&self, _: usize, _: &str) -> bool {
        // Everything is there.
        false
    }
}

fn on_a_thread(
    call: JavaScriptCall,
    notices: std::sync::mpsc::Receiver<Notice>,
    events: mpsc::Sender<JsEvent>,
) -> ProgramGuard {
    let guard = ProgramGuard(Arc::default());
    let stop = guard.0.clone();
    tokio::task::spawn_blocking(move || {
        let given: Vec<Argument> = call.given.into_iter().map(Argument::Value).collect();
        let running = Running {
            source: &call.source,
            given: &given,
            files: call.files,
            place: &call.place.to_string(),
        };
        let line = ThreadLine {
            events: events.clone(),
            notices,
        };
        // When nobody listens any more, nobody wants to know.
        machine::run(&running, call.limits, &stop, Box::new(line), |end| {
            drop(events.blocking_send(Event::Ended(end.and_then(returned))))
        });
    });
    guard
}

/// Converts a path to the bytes that are sent to another process of this computer.
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        path.as_os_str().as_bytes().to_vec()
    }
    #[cfg(not(unix))]
    path.to_string_lossy().into_owned().into_bytes()
}

/// Converts the sent bytes back to the path.
pub(super) fn path_of(bytes: Vec<u8>) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        std::ffi::OsString::from_vec(bytes).into()
    }
    #[cfg(not(unix))]
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn a_call_that_is_stopped_while_it_waits_for_a_process_takes_none_from_the_count() {
        let workers = Arc::new(Workers::new(None));
        let live = workers.pool().live.clone();
        let busy: Vec<ProcessCount> = (0..processors()).map(|_| ProcessCount::new(&live)).collect();
        {
            let mut lease = pin!(workers.lease());
            assert!(
                futures::poll!(lease.as_mut()).is_pending(),
                "all processes are at work"
            );
        }
        assert_eq!(live.load(Ordering::Relaxed), processors());
        assert!(workers.lease().await.is_err(), "there is no program to start");
        assert_eq!(live.load(Ordering::Relaxed), processors());
        drop(busy);
        assert_eq!(live.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_call_knows_how_long_it_waited_for_others() {
        let workers = Arc::new(Workers::new(None));
        let all = u32::try_from(MAX_WORKERS).unwrap();
        let held = workers.most.acquire_many(all).await.unwrap();
        let mut lease = pin!(workers.permit());
        assert!(futures::poll!(lease.as_mut()).is_pending());
        drop(held);
        let (_permit, waited) = lease.await.unwrap();
        assert!(!waited.is_zero());
        let (_other, waited) = workers.permit().await.unwrap();
        assert!(waited.is_zero(), "nobody was before it");
    }
}
