//! The other end of a socket: a running program that takes commands and says what happens to its threads.

use std::collections::HashMap;
use std::io;
#[cfg(unix)]
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::message::{Answer, Hello, MAX_BYTES, Request};
use super::{HandedRun, Reported};
use crate::wire::{AppEvent, Json, Problem, RunView};
use superstep_document::text;

/// Longest time until the other program has said hello: a program on a busy machine is waited for, one that is frozen is not.
#[cfg(unix)]
const HELLO_WITHIN: Duration = Duration::from_secs(10);
/// Events that may wait for who reads them; the other program keeps the rest, or leaves some out.
#[cfg(unix)]
const MAX_WAITING: usize = 64;

type Answered = oneshot::Sender<Result<Json, Problem>>;

/// Events of another program in order; what came before a part that is `lost` has a gap.
#[derive(Debug)]
pub struct Happened {
    /// Events before these are missing.
    pub lost: bool,
    /// The events.
    pub events: Vec<AppEvent>,
}

/// A running program of this user. The connection ends when it is dropped.
#[derive(Debug)]
pub struct Peer {
    hello: Hello,
    requests: mpsc::Sender<Vec<u8>>,
    calls: Arc<Mutex<HashMap<u64, Answered>>>,
    runs: Arc<Mutex<HashMap<u64, mpsc::UnboundedSender<Reported>>>>,
    next: AtomicU64,
    ended: CancellationToken,
}

/// Callers that wait for answers of the other program.
#[cfg(unix)]
struct Waiters {
    calls: Arc<Mutex<HashMap<u64, Answered>>>,
    runs: Arc<Mutex<HashMap<u64, mpsc::UnboundedSender<Reported>>>>,
}

#[cfg(unix)]
impl Waiters {
    /// Gives an answer to who waits for it; breaks when the connection is over.
    async fn deliver(&self, answer: Answer, happened: &mpsc::Sender<Happened>) -> ControlFlow<()> {
        let (id, result) = match answer {
            Answer::Result { id, value } => (id, Ok(value)),
            Answer::Error {
                id: Some(id),
                problem,
            } => (id, Err(problem)),
            Answer::Reported { id, report } => {
                let mut runs = self.runs.lock();
                let over = matches!(report, Reported::Ended { .. });
                if let Some(run) = runs.get(&id) {
                    let _ = run.send(report);
                }
                if over {
                    runs.remove(&id);
                }
                return ControlFlow::Continue(());
            }
            Answer::Events { lost, events } => {
                // Answers come although nobody takes events.
                let _ = happened.send(Happened { lost, events }).await;
                return ControlFlow::Continue(());
            }
            Answer::Hello(_) | Answer::Error { id: None, .. } => return ControlFlow::Break(()),
        };
        let call = self.calls.lock().remove(&id);
        if let Some(call) = call {
            let _ = call.send(result);
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

fn gone(program: &str) -> Problem {
    Problem::new(
        "program-gone",
        text!("{program} does not answer any more.", program),
    )
    .remedy(text!("Try again; what it had stored is kept."))
}

impl Peer {
    /// Connects to a socket; what happens to threads comes over the receiver once [`subscribe`](Self::subscribe) was called.
    #[cfg(unix)]
    pub async fn connect(path: &Path) -> io::Result<(Self, mpsc::Receiver<Happened>)> {
        let connecting = tokio::time::timeout(HELLO_WITHIN, Self::greet(path));
        connecting
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// Fails, because there are no such sockets on this system.
    #[cfg(not(unix))]
    pub async fn connect(_: &Path) -> io::Result<(Self, mpsc::Receiver<Happened>)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(unix)]
    async fn greet(path: &Path) -> io::Result<(Self, mpsc::Receiver<Happened>)> {
        use super::message::VERSION;
        use super::serve::{is_same_user, line, read_line};
        use tokio::io::{AsyncWriteExt, BufReader};

        let stream = tokio::net::UnixStream::connect(path).await?;
        if !is_same_user(&stream) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let (read, mut write) = stream.into_split();
        let mut reader = BufReader::new(read);
        let hello = line(&Request::Hello { version: VERSION }).unwrap_or_default();
        write.write_all(&hello).await?;
        let answer = read_line(&mut reader, MAX_BYTES).await?;
        let answer = answer.ok_or(io::ErrorKind::UnexpectedEof)?;
        let hello = match serde_json::from_slice(&answer).map_err(io::Error::other)? {
            Answer::Hello(hello) if hello.version == VERSION => hello,
            Answer::Error { problem, .. } => return Err(io::Error::other(problem)),
            _ => return Err(io::Error::other("the other program is of another version")),
        };
        let (requests, mut waiting) = mpsc::channel::<Vec<u8>>(MAX_WAITING);
        let (happened, events) = mpsc::channel(MAX_WAITING);
        let ended = CancellationToken::new();
        let calls: Arc<Mutex<HashMap<u64, Answered>>> = Arc::default();
        let runs: Arc<Mutex<HashMap<u64, mpsc::UnboundedSender<Reported>>>> = Arc::default();
        let end = ended.clone();
        tokio::spawn(async move {
            let write_all = async {
                while let Some(message) = waiting.recv().await {
                    if write.write_all(&message).await.is_err() {
                        break;
                    }
                }
            };
            tokio::select! {
                () = end.cancelled() => {}
                () = write_all => end.cancel(),
            }
        });
        let end = ended.clone();
        let waiters = Waiters {
            calls: calls.clone(),
            runs: runs.clone(),
        };
        tokio::spawn(async move {
            let read_all = async {
                while let Ok(Some(message)) = read_line(&mut reader, MAX_BYTES).await {
                    let Ok(answer) = serde_json::from_slice(&message) else {
                        tracing::warn!("another program sent what is no message");
                        break;
                    };
                    if waiters.deliver(answer, &happened).await.is_break() {
                        break;
                    }
                }
            };
            tokio::select! {
                () = end.cancelled() => {}
                () = read_all => end.cancel(),
            }
            // A call that waits for an answer learns that none comes.
            waiters.calls.lock().clear();
            waiters.runs.lock().clear();
        });
        let peer = Self {
            hello,
            requests,
            calls,
            runs,
            next: AtomicU64::new(1),
            ended,
        };
        Ok((peer, events))
    }

    /// Returns the identity of the other program.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Asks for what happens to threads.
    pub async fn subscribe(&self) -> Result<(), Problem> {
        self.send(&Request::Subscribe).await
    }

    /// Calls a command there.
    pub async fn call(&self, command: &str, request: Json) -> Result<Json, Problem> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let call = Request::Call {
            id,
            command: command.to_owned(),
            request,
        };
        self.ask(id, call).await
    }

    /// Hands a run over: the run, and what it reports until it has ended. It goes on when this is dropped.
    pub async fn run(&self, run: HandedRun) -> Result<(RunView, mpsc::UnboundedReceiver<Reported>), Problem> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // The program that shows it may wait for the reader of its output; the program that runs it is not.
        let (reported, reports) = mpsc::unbounded_channel();
        self.runs.lock().insert(id, reported);
        let run = Box::new(run);
        let started = self.ask(id, Request::Run { id, run }).await;
        if started.is_err() {
            self.runs.lock().remove(&id);
        }
        let run = serde_json::from_value(started?).map_err(|error| {
            Problem::new(
                "internal",
                text!("The answer is no run: {error}.", error = error.to_string()),
            )
        })?;
        Ok((run, reports))
    }

    async fn ask(&self, id: u64, call: Request) -> Result<Json, Problem> {
        let (answer, answered) = oneshot::channel();
        self.calls.lock().insert(id, answer);
        if let Err(problem) = self.send(&call).await {
            self.calls.lock().remove(&id);
            return Err(problem);
        }
        tokio::select! {
            biased;
            answer = answered => answer.unwrap_or_else(|_| Err(gone(&self.hello.program))),
            () = self.ended.cancelled() => Err(gone(&self.hello.program)),
        }
    }

    /// Calls a command there that answers at once, or is taken for not answering.
    pub(crate) async fn call_within(
        &self,
        command: &str,
        request: Json,
        within: Duration,
    ) -> Result<Json, Problem> {
        match tokio::time::timeout(within, self.call(command, request)).await {
            Ok(answer) => answer,
            Err(_) => Err(gone(&self.hello.program)),
        }
    }

    async fn send(&self, request: &Request) -> Result<(), Problem> {
        let message = serde_json::to_vec(request);
        let mut message = message.map_err(|error| {
            Problem::new(
                "internal",
                text!(
                    "A request could not be written: {error}.",
                    error = error.to_string()
                ),
            )
        })?;
        message.push(b'\n');
        if message.len() > MAX_BYTES {
            return Err(Problem::new(
                "too-large",
                text!("The request is larger than {size} MB.", size = MAX_BYTES >> 20),
            ));
        }
        match self.ended.is_cancelled() {
            true => Err(gone(&self.hello.program)),
            false => (self.requests.send(message).await).map_err(|_| gone(&self.hello.program)),
        }
    }
}
