//! The program's side of one worker process: its pipes, and the call that it is at.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use superstep::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::{Handle, Id};
use tokio::sync::mpsc;

use super::frames::{self, AddressedMessage, CallHead, FieldRequest, HEAD};
use super::inputs::fits;
use super::machine::returned;
use super::workers::{JavaScriptCall, ProcessCount, bytes_of};
use super::{CodeError, JavaScriptSource};
use crate::base::processor::exceeded_processor_time;
use crate::programs::helper::{HelperProgram, HelperWork};
use crate::programs::requests::{Ending, Event, Notice, Output};

/// Time that a process has to start: long, because a busy computer is no reason to fail.
const START: Duration = Duration::from_mins(2);
/// Most that another program may print before the worker's greeting.
const PREAMBLE: usize = 64 * 1024;
/// Programs that a worker keeps.
const KEPT: usize = 256;
/// Time that a program has to end by itself after its patience is at an end.
const GRACE: Duration = Duration::from_secs(5);
/// Room for what is read at once.
const BLOCK: usize = 16 * 1024;
/// What is kept of that room when a call has ended.
const KEPT_ROOM: usize = 1024 * 1024;
/// Parts of arguments that are larger are written as JSON on another thread.
const LARGE_PART: usize = 256 * 1024;

/// An event of a program.
pub(super) type JsEvent = Event<Output, CodeError>;

/// A worker process. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct JavaScriptWorker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read and is not a whole frame yet.
    read: Vec<u8>,
    /// Programs that it has.
    programs: HashSet<u64>,
    calls: u64,
    /// Where its pipes are looked after.
    runtime: Id,
    /// When its last call ended.
    pub(super) since: Instant,
    _count: ProcessCount,
}

/// Reason why a call gave no result.
pub(super) enum CallFailure {
    /// The process was gone before it did anything.
    Before,
    /// It ended, or its program did not.
    During(CodeError),
}

impl From<CodeError> for CallFailure {
    fn from(error: CodeError) -> Self {
        CallFailure::During(error)
    }
}

impl JavaScriptWorker {
    pub(super) async fn start(program: &HelperProgram, count: ProcessCount) -> io::Result<Self> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.args)
            .env_clear()
            .envs([HelperWork::JavaScript.variable()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.arg0("superstep-javascript");
        #[cfg(windows)]
        command.creation_flags(0x0800_0000);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        let mut worker = Self {
            child,
            input,
            output,
            read: Vec::with_capacity(BLOCK),
            programs: HashSet::new(),
            calls: 0,
            runtime: Handle::current().id(),
            since: Instant::now(),
            _count: count,
        };
        let greeted = tokio::time::timeout(START, worker.greeted()).await;
        greeted.unwrap_or_else(|_| Err(io::Error::other("it does not answer")))?;
        Ok(worker)
    }

    /// Reads to the end of the greeting.
    async fn greeted(&mut self) -> io::Result<()> {
        loop {
            let greeting = frames::GREETING;
            let found = self
                .read
                .windows(greeting.len())
                .position(|some| some == greeting);
            if let Some(at) = found {
                self.read.drain(..at + greeting.len());
                return Ok(());
            }
            if self.read.len() > PREAMBLE || self.output.read_buf(&mut self.read).await? == 0 {
                return Err(io::Error::other("it is no worker, or another release of it"));
            }
        }
    }

    /// Returns whether the worker can be used in this runtime.
    pub(super) fn is_of(&self, runtime: Id) -> bool {
        self.runtime == runtime
    }

    /// Runs a program. Unless the result is an error here, the worker can be used again.
    pub(super) async fn run(
        &mut self,
        call: &JavaScriptCall,
        notices: &mut mpsc::UnboundedReceiver<Notice>,
        events: &mpsc::Sender<JsEvent>,
    ) -> Result<Result<Ending<Output>, CodeError>, CallFailure> {
        let patience = call.limits.patience;
        let frame = self.frame(call)?;
        let talk = self.converse(frame, call, notices, events);
        let ended = tokio::time::timeout(patience.saturating_add(GRACE), talk).await;
        ended.unwrap_or(Err(CodeError::Unfinished(patience).into()))
    }

    /// Sends a call and does nothing about it, as a program that has died.
    #[cfg(all(test, unix))]
    pub(super) async fn abandon(&mut self, call: &JavaScriptCall) -> io::Result<std::process::ExitStatus> {
        let frame = self.frame(call).map_err(io::Error::other)?;
        self.input.write_all(&frame).await?;
        self.child.wait().await
    }

    fn frame(&mut self, call: &JavaScriptCall) -> Result<Vec<u8>, CodeError> {
        self.calls += 1;
        let number = call.source.number();
        let forget = self.programs.len() >= KEPT;
        if forget {
            self.programs.clear();
        }
        let source = |source: &JavaScriptSource| {
            let (text, parameters) = source.parts();
            (text.to_owned(), parameters.to_owned())
        };
        let head = CallHead {
            call: self.calls,
            program: number,
            source: self.programs.insert(number).then(|| source(&call.source)),
            forget,
            limits: call.limits,
            folders: call.files.as_ref().map(|files| {
                let (root, folder) = files.folders();
                (bytes_of(root), bytes_of(folder))
            }),
            place: 0,
            given: Vec::with_capacity(call.given.len()),
        };
        let unfit = |cause| CodeError::Machine(format!("the call cannot be sent: {cause}"));
        frames::call(head, &call.place, &call.given).map_err(unfit)
    }

    async fn converse(
        &mut self,
        frame: Vec<u8>,
        call: &JavaScriptCall,
        notices: &mut mpsc::UnboundedReceiver<Notice>,
        events: &mpsc::Sender<JsEvent>,
    ) -> Result<Result<Ending<Output>, CodeError>, CallFailure> {
        let (mut answered, mut open) = (false, true);
        let mut outgoing = VecDeque::from([frame]);
        let mut written = 0;
        loop {
            while let Some((letter, content)) = self.arrived()? {
                answered = true;
                match letter {
                    frames::REQUEST => {
                        let request = serde_json::from_slice(&content).map_err(|error| garbled(&error))?;
                        // When nobody listens any more, this is about to be dropped.
                        let _ = events.send(Event::Request(request)).await;
                    }
                    frames::WANT => {
                        let wanted = serde_json::from_slice(&content).map_err(|error| garbled(&error))?;
                        outgoing.push_back(part(call, &wanted).await?);
                    }
                    frames::OK => return Ok(returned(Ending::Ok(content))),
                    frames::ASKS => return Ok(Ok(Ending::Asks(None))),
                    frames::FAILED => {
                        return Ok(Err(
                            serde_json::from_slice(&content).map_err(|error| garbled(&error))?
                        ));
                    }
                    _ => return Err(garbled(&format_args!("a frame of the kind {letter}")).into()),
                }
            }
            tokio::select! {
                biased;
                wrote = async { self.input.write(&outgoing[0][written..]).await }, if !outgoing.is_empty() => match wrote {
                    Ok(count @ 1..) => {
                        written += count;
                        if written == outgoing[0].len() {
                            outgoing.pop_front();
                            written = 0;
                        }
                    }
                    _ => return Err(self.lost(call, answered).await),
                },
                read = self.output.read_buf(&mut self.read) => match read {
                    Ok(1..) => {}
                    _ => return Err(self.lost(call, answered).await),
                },
                word = notices.recv(), if open => match word {
                    Some(word) => {
                        let word = AddressedMessage { call: self.calls, message: word };
                        let unfit = |cause| CodeError::Machine(format!("an answer cannot be sent: {cause}"));
                        outgoing.push_back(frames::frame_of(frames::NOTICE, &word).map_err(unfit)?);
                    }
                    None => open = false,
                },
            }
        }
    }

    /// Takes a frame that was read completely.
    fn arrived(&mut self) -> Result<Option<(u8, Vec<u8>)>, CodeError> {
        let Some(head) = self.read.first_chunk::<HEAD>() else {
            self.read.reserve(BLOCK);
            return Ok(None);
        };
        let (letter, length) = frames::begins(*head).ok_or_else(|| garbled(&"a frame that is too large"))?;
        let end = HEAD + length;
        if self.read.len() < end {
            self.read.reserve(end - self.read.len());
            return Ok(None);
        }
        let content = self.read[HEAD..end].to_vec();
        self.read.drain(..end);
        if self.read.is_empty() {
            self.read.shrink_to(KEPT_ROOM);
        }
        Ok(Some((letter, content)))
    }

    async fn lost(&mut self, call: &JavaScriptCall, answered: bool) -> CallFailure {
        let _ = self.child.start_kill();
        let status = self.child.wait().await;
        let error = match status {
            Ok(status) if exceeded_processor_time(status) => CodeError::Timeout {
                limit: call.limits.timeout,
                slept: false,
            },
            _ if !answered && self.calls > 1 => return CallFailure::Before,
            status => {
                let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                CodeError::Machine(format!(
                    "its process ended in the middle of the program ({status})"
                ))
            }
        };
        error.into()
    }
}

fn garbled(what: &dyn std::fmt::Display) -> CodeError {
    CodeError::Machine(format!("its process said something that cannot be read: {what}"))
}

/// Creates the frame of a part that the program looks at.
async fn part(call: &JavaScriptCall, wanted: &FieldRequest) -> Result<Vec<u8>, CodeError> {
    let value = match call.given.get(wanted.argument) {
        Some(Value::Object(fields)) => fields.get(&wanted.name).cloned(),
        _ => None,
    };
    let value = value.ok_or_else(|| garbled(&format_args!("it wants {}", wanted.name)))?;
    let make = |value: &Value| {
        let unfit = |cause| CodeError::Machine(format!("`{}` cannot be sent: {cause}", wanted.name));
        frames::frame_of(frames::PART, value).map_err(unfit)
    };
    if fits(&value, LARGE_PART) {
        return make(&value);
    }
    let name = wanted.name.clone();
    let made = tokio::task::spawn_blocking(move || frames::frame_of(frames::PART, &value)).await;
    let made = made.unwrap_or_else(|error| Err(error.to_string()));
    made.map_err(|cause| CodeError::Machine(format!("`{name}` cannot be sent: {cause}")))
}
