//! The worker process: its pipes, its calls, its end.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};

use super::{PythonError, WorkerKey, interpreter};
use crate::programs::helper::HelperProgram;
use crate::programs::process_group::{ProcessGroup, Start};
use crate::programs::requests::{CLASS, Ending, Event, Fault, Inbox, Notice, Output, ProgramRequest};

/// What starts the worker: it reads its own modules from its input.
const BOOT: &str = include_str!("boot.py");
/// Its modules, each after those that it imports; the last one has `main`.
const MODULES: [(&str, &str); 6] = [
    ("superstep_worker", include_str!("superstep_worker/__init__.py")),
    (
        "superstep_worker.scope",
        include_str!("superstep_worker/scope.py"),
    ),
    (
        "superstep_worker.reads",
        include_str!("superstep_worker/reads.py"),
    ),
    (
        "superstep_worker.called",
        include_str!("superstep_worker/called.py"),
    ),
    (
        "superstep_worker.bridge",
        include_str!("superstep_worker/bridge.py"),
    ),
    (
        "superstep_worker.worker",
        include_str!("superstep_worker/worker.py"),
    ),
];
/// Time that the interpreter has to start. None of it counts for a call.
const START: Duration = Duration::from_mins(2);
/// Time without a call after which it ends.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(20);
/// Time that a stopped call has to end before the process does.
const GRACE: Duration = Duration::from_secs(2);
/// How long what a process said before it ended is waited for; it is there at once unless the computer is busy.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Largest frame that is read.
const MAX_FRAME: u32 = 256 * 1024 * 1024;
/// Requests of functions that their node has not read yet.
const UNREAD: usize = 1 << 20;
/// Bytes of the standard error that are kept.
const KEPT: usize = 8 * 1024;

/// An event of a Python function.
pub(super) type PyEvent = Event<Output, PythonError>;

/// A worker process.
pub(super) struct PythonWorker {
    frames: mpsc::UnboundedSender<Vec<u8>>,
    shared: Arc<WorkerState>,
}

struct WorkerState {
    program: PathBuf,
    calls: Mutex<WorkerCalls>,
    /// Has the interpreter started?
    ready: watch::Sender<bool>,
    kill: Notify,
}

#[derive(Default)]
struct WorkerCalls {
    last: u64,
    open: HashMap<u64, RunningCall>,
    /// It gets no more calls, because one of them does not stop.
    retired: bool,
    ended: bool,
    used: Option<Instant>,
}

struct RunningCall {
    events: mpsc::Sender<PyEvent>,
    stopping: bool,
}

impl WorkerState {
    fn calls(&self) -> MutexGuard<'_, WorkerCalls> {
        self.calls.lock()
    }

    /// Ends a process that nobody waits for, but that holds on to calls that were stopped.
    fn end_if_retired(&self) {
        let calls = self.calls();
        if calls.retired && calls.open.values().all(|call| call.stopping) {
            self.kill.notify_one();
        }
    }
}

/// Frame that the worker sends.
#[derive(Deserialize)]
struct WorkerFrame {
    #[serde(default)]
    call: u64,
    ready: Option<IgnoredAny>,
    said: Option<ProgramRequest>,
    ended: Option<Ending<Output>>,
}

#[derive(Deserialize)]
struct CallNumber {
    #[serde(default)]
    call: u64,
}

fn packed(frame: &impl Serialize) -> Result<Vec<u8>, PythonError> {
    let unfit =
        |cause: String| PythonError::Raised(Fault::new(CLASS, format!("the call cannot be said: {cause}")));
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, frame).map_err(|error| unfit(error.to_string()))?;
    let length = u32::try_from(bytes.len() - 4).map_err(|error| unfit(error.to_string()))?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

impl PythonWorker {
    /// Starts the process.
    pub(super) fn start(key: &WorkerKey, helper: Option<&HelperProgram>) -> Result<Self, PythonError> {
        let declared = key
            .variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let start = Start {
            program: key.program.clone().into(),
            args: ["-X", "utf8", "-c", BOOT].map(Into::into).to_vec(),
            folder: &key.root,
            variables: interpreter::variables()
                .map(|(name, value)| (name.into(), value))
                .chain(declared)
                .collect(),
        };
        let unable = |cause: String| PythonError::Start(key.program.clone(), cause);
        let started = ProcessGroup::start(start, helper).map_err(|error| unable(error.to_string()));
        let (child, (mut input, output, errors)) = started?;
        let shared = Arc::new(WorkerState {
            program: key.program.clone(),
            calls: Mutex::default(),
            ready: watch::Sender::new(false),
            kill: Notify::new(),
        });
        let modules = MODULES.map(|(name, source)| format!("{name} {}\n{source}", source.len()));
        let mut first = format!("{}\n", modules.concat()).into_bytes();
        first.extend(packed(&serde_json::json!({"root": key.root}))?);
        let (frames, mut outgoing) = mpsc::unbounded_channel::<Vec<u8>>();
        tokio::spawn(async move {
            if input.write_all(&first).await.is_err() {
                return;
            }
            while let Some(frame) = outgoing.recv().await {
                if input.write_all(&frame).await.is_err() {
                    return;
                }
            }
            // Without anything more to read the process ends by itself.
        });
        tokio::spawn(watch(child, output, errors, shared.clone()));
        Ok(Self { frames, shared })
    }

    /// Returns whether the worker can be called.
    pub(super) fn takes_calls(&self) -> bool {
        let calls = self.shared.calls();
        !calls.retired && !calls.ended && !self.frames.is_closed()
    }

    /// Begins a call; `frame` makes what is sent of its number.
    pub(super) fn begin<T: Serialize>(
        self: &Arc<Self>,
        frame: impl FnOnce(u64) -> T,
    ) -> Result<(OpenCall, Inbox<Output, PythonError>), PythonError> {
        let (events, inbox) = mpsc::channel(UNREAD);
        let number = {
            let mut calls = self.shared.calls();
            calls.last += 1;
            calls.used = Some(Instant::now());
            let number = calls.last;
            if !calls.ended {
                calls.open.insert(
                    number,
                    RunningCall {
                        events,
                        stopping: false,
                    },
                );
            }
            number
        };
        let call = OpenCall {
            worker: self.clone(),
            number,
        };
        self.send(&frame(number))?;
        Ok((call, inbox))
    }

    fn send(&self, frame: &impl Serialize) -> Result<(), PythonError> {
        // A process that is gone says so where its answers are awaited.
        let _ = self.frames.send(packed(frame)?);
        Ok(())
    }

    /// Waits until the interpreter has started; an error when that takes too long. The calls learn of its end.
    pub(super) async fn started(&self) -> Result<(), PythonError> {
        let mut ready = self.shared.ready.subscribe();
        let started = tokio::time::timeout(START, ready.wait_for(|ready| *ready)).await;
        let late = format!("it says nothing for {} s", START.as_secs());
        started.map_or(Err(PythonError::Start(self.shared.program.clone(), late)), |_| {
            Ok(())
        })
    }

    pub(super) fn lost(&self) -> PythonError {
        PythonError::Crashed(self.shared.program.clone(), None, String::new())
    }
}

/// A call that has begun; it is stopped when this is dropped before its end.
pub(super) struct OpenCall {
    worker: Arc<PythonWorker>,
    number: u64,
}

impl OpenCall {
    /// Tells the function something.
    pub(super) fn notifier(&self) -> impl Fn(Notice) + Clone + Send + Sync + 'static {
        let (worker, number) = (self.worker.clone(), self.number);
        move |notice: Notice| {
            #[derive(Serialize)]
            struct Telling<'a> {
                call: u64,
                notice: &'a Notice,
            }
            let _ = worker.send(&Telling {
                call: number,
                notice: &notice,
            });
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let shared = self.worker.shared.clone();
        let number = self.number;
        match shared.calls().open.get_mut(&number) {
            Some(call) => call.stopping = true,
            None => return,
        }
        let _ = self
            .worker
            .send(&serde_json::json!({"call": number, "stop": true}));
        let late = move || {
            {
                let mut calls = shared.calls();
                if !calls.open.contains_key(&number) {
                    return;
                }
                calls.retired = true;
            }
            shared.end_if_retired();
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(GRACE).await;
                late();
            })),
            Err(_) => late(),
        }
    }
}

/// Looks after the process until it has ended.
async fn watch(mut child: ProcessGroup, output: ChildStdout, errors: ChildStderr, shared: Arc<WorkerState>) {
    let stderr = Arc::new(Mutex::new(String::new()));
    let listening = tokio::spawn(listen(errors, stderr.clone()));
    let reading = tokio::spawn(read(output, shared.clone()));
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.ok(),
            () = shared.kill.notified() => {
                child.end();
            }
            () = tokio::time::sleep(LOOK) => {
                let mut calls = shared.calls();
                let idle = calls.used.is_none_or(|used| used.elapsed() > IDLE);
                if idle && calls.open.is_empty() {
                    calls.retired = true;
                    drop(calls);
                    child.end();
                }
            }
        }
    };
    // What it said before it ended counts.
    let _ = tokio::time::timeout(LAST_WORDS, async {
        let _ = reading.await;
        let _ = listening.await;
    })
    .await;
    let open = {
        let mut calls = shared.calls();
        calls.ended = true;
        std::mem::take(&mut calls.open)
    };
    let stderr = stderr.lock().trim().to_owned();
    for call in open.into_values() {
        tracing::warn!(program = %shared.program.display(), ?status, "the Python worker ended in the middle of a call");
        let crashed = PythonError::Crashed(shared.program.clone(), status, stderr.clone());
        let _ = call.events.try_send(Event::Ended(Err(crashed)));
    }
}

/// Keeps the end of what the process writes to its standard error.
async fn listen(mut errors: ChildStderr, stderr: Arc<Mutex<String>>) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = errors.read(&mut bytes).await {
        let mut stderr = stderr.lock();
        stderr.push_str(&String::from_utf8_lossy(&bytes[..length]));
        if stderr.len() > 2 * KEPT {
            let from = stderr.ceil_char_boundary(stderr.len() - KEPT);
            stderr.drain(..from);
        }
    }
}

/// Brings what the worker says to the call that waits for it.
async fn read(output: ChildStdout, shared: Arc<WorkerState>) {
    let mut output = BufReader::new(output);
    while let Ok(length) = output.read_u32().await {
        if length > MAX_FRAME {
            // What follows cannot be separated any more.
            shared.kill.notify_one();
            return;
        }
        let mut bytes = vec![0; length as usize];
        if output.read_exact(&mut bytes).await.is_err() {
            return;
        }
        receive(&bytes, &shared);
    }
}

fn receive(bytes: &[u8], shared: &WorkerState) {
    let frame = serde_json::from_slice::<WorkerFrame>(bytes);
    let frame = frame.unwrap_or_else(|error| WorkerFrame {
        call: serde_json::from_slice::<CallNumber>(bytes).map_or(0, |frame| frame.call),
        ready: None,
        said: None,
        ended: Some(Ending::Error(Fault::new(
            CLASS,
            format!("what the function said cannot be read: {error}."),
        ))),
    });
    if frame.ready.is_some() {
        shared.ready.send_replace(true);
    }
    if let Some(request) = frame.said {
        let events = shared
            .calls()
            .open
            .get(&frame.call)
            .map(|call| call.events.clone());
        if let Some(events) = events
            && let Err(mpsc::error::TrySendError::Full(_)) = events.try_send(Event::Request(request))
        {
            shared.calls().open.remove(&frame.call);
        }
    }
    if let Some(end) = frame.ended {
        let call = shared.calls().open.remove(&frame.call);
        shared.calls().used = Some(Instant::now());
        if let Some(call) = call {
            let _ = call.events.try_send(Event::Ended(Ok(end)));
        }
        shared.end_if_retired();
    }
}
