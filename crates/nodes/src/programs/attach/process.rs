//! The process of an attached program: its pipes, what it is asked, its end.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use superstep::Value;
use superstep::value::Object;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};

use super::AttachOptions;
use super::drawing::AttachedDescription;
use super::error::{AttachError, AttachFault};
use super::run::{AttachedEvent, AttachedRun, AttachedState, EditedState, ProgramEdit, RunControl, RunSpec};
use super::target::AttachTarget;
use crate::base::access::Access;
use crate::programs::process_group::{ProcessGroup, Start};
use crate::programs::python;
use crate::project::Environment;

/// What begins the process: it gives the bridge descriptors of its own, and reads it from its input. The folder that it is
/// started in holds the person's files, which must not take the place of the library's.
const BOOT: &str = r#"
import sys
if sys.version_info<(3,9):sys.exit("Python 3.9 or newer is needed, and this is "+sys.version.split()[0])
sys.path[:]=[p for p in sys.path if p]
sys.dont_write_bytecode=True
import os
i,o=os.fdopen(os.dup(0),"rb"),os.fdopen(os.dup(1),"wb")
n=os.open(os.devnull,os.O_RDONLY);os.dup2(n,0);os.dup2(2,1)
m=sys.modules["superstep_attach"]=type(sys)("superstep_attach")
exec(compile(i.read(int(i.readline())).decode(),"<superstep attach>","exec"),m.__dict__)
m.main(i,o)
"#;
/// The bridge.
const BRIDGE: &str = include_str!("bridge.py");
/// Largest line that the bridge may say, in bytes; it says that a value is larger.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// Events of a run that nobody has taken yet: then the program waits.
const MAX_UNREAD: usize = 1024;
/// Lines of the program's own output that nobody has taken yet; the oldest are dropped.
const MAX_PRINTED: usize = 10_000;
/// Bytes of them.
const MAX_PRINTED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a line of its own output; longer ones are divided.
const MAX_PRINTED_LINE: usize = 16 * 1024;
/// Bytes of its own output that are kept for the errors that end it.
const MAX_SAID: usize = 4 * 1024;
/// How long what a process said before it ended is waited for.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Answer to a request, or an event on the way to it.
pub(in crate::programs) enum Reply {
    Event(AttachedEvent),
    Ended(Result<Value, AttachError>),
}

/// Line that the bridge says.
#[derive(Deserialize)]
struct BridgeLine {
    id: u64,
    event: Option<AttachedEvent>,
    ok: Option<Value>,
    error: Option<AttachFault>,
}

/// Requests to a process, which share it.
#[derive(Clone)]
struct Requests(Arc<AttachedProcess>);

struct AttachedProcess {
    program: PathBuf,
    /// Time that a stopped run has to end before the process does.
    stop_limit: Duration,
    lines: mpsc::UnboundedSender<Vec<u8>>,
    open: Mutex<WaitingRequests>,
    printed: Mutex<Printed>,
    /// Somebody may look at what was printed.
    prints: Notify,
    kill: Notify,
    /// Why it has ended.
    end: watch::Sender<Option<ProcessEnd>>,
}

#[derive(Default)]
struct WaitingRequests {
    last: u64,
    waiting: HashMap<u64, mpsc::Sender<Reply>>,
}

#[derive(Default)]
struct Printed {
    lines: VecDeque<String>,
    bytes: usize,
    dropped: u64,
    /// The end of everything.
    said: String,
}

#[derive(Clone, Debug)]
enum ProcessEnd {
    Exited(Option<ExitStatus>),
    Garbled(String),
}

impl AttachedProcess {
    fn said(&self) -> String {
        self.printed.lock().said.trim().to_owned()
    }

    fn ended(&self) -> AttachError {
        match self.end.borrow().clone() {
            Some(ProcessEnd::Garbled(cause)) => AttachError::Garbled {
                program: self.program.clone(),
                cause,
            },
            Some(ProcessEnd::Exited(status)) => AttachError::Ended {
                program: self.program.clone(),
                status,
                said: self.said(),
            },
            None => AttachError::Ended {
                program: self.program.clone(),
                status: None,
                said: self.said(),
            },
        }
    }

    /// Notes why it ends, unless that is known, and ends it.
    fn end(&self, end: ProcessEnd) {
        self.end.send_if_modified(|known| match known {
            Some(_) => false,
            None => {
                *known = Some(end);
                true
            }
        });
        self.kill.notify_one();
    }
}

impl Requests {
    /// Sends a request; its replies arrive in order.
    fn send(&self, what: &str, mut request: Object) -> (u64, mpsc::Receiver<Reply>) {
        let (replies, inbox) = mpsc::channel(MAX_UNREAD);
        let number = {
            let mut open = self.0.open.lock();
            open.last += 1;
            // Its channel ends at once when the process has.
            if self.0.end.borrow().is_none() {
                let number = open.last;
                open.waiting.insert(number, replies);
            }
            open.last
        };
        request.insert("id", Value::from(i64::try_from(number).unwrap_or(i64::MAX)));
        request.insert("do", what);
        self.write(&request.into());
        (number, inbox)
    }

    fn write(&self, request: &Value) {
        if let Ok(mut line) = serde_json::to_vec(request) {
            line.push(b'\n');
            // A process that is gone says so where its answers are awaited.
            let _ = self.0.lines.send(line);
        }
    }

    async fn answer<T: DeserializeOwned + 'static>(
        &self,
        what: &str,
        request: Object,
    ) -> Result<T, AttachError> {
        let (_, mut replies) = self.send(what, request);
        loop {
            match replies.recv().await {
                Some(Reply::Event(_)) => {}
                Some(Reply::Ended(ended)) => return ended.and_then(|value| self.decoded(&value)),
                None => return Err(self.lost()),
            }
        }
    }

    /// Reads an answer.
    fn decoded<T: DeserializeOwned + 'static>(&self, value: &Value) -> Result<T, AttachError> {
        value.decode().map_err(|error| self.garbled(error.to_string()))
    }

    fn garbled(&self, cause: String) -> AttachError {
        AttachError::Garbled {
            program: self.0.program.clone(),
            cause,
        }
    }

    fn lost(&self) -> AttachError {
        self.0.ended()
    }

    /// Asks a run to stop, at once or after its step.
    fn ask_to_stop(&self, number: u64, after_step: bool) {
        let request: Object = [
            ("do", Value::from("stop")),
            ("run", Value::from(i64::try_from(number).unwrap_or(i64::MAX))),
            ("after_step", after_step.into()),
        ]
        .into_iter()
        .collect();
        self.write(&request.into());
    }

    /// Stops a run when its step has finished.
    fn drain(&self, number: u64) {
        self.ask_to_stop(number, true);
    }

    /// Stops a run that has not ended; if it does not stop, the process is ended.
    fn stop(&self, number: u64) {
        if !self.0.open.lock().waiting.contains_key(&number) {
            return;
        }
        self.ask_to_stop(number, false);
        let (shared, limit) = (Arc::downgrade(&self.0), self.0.stop_limit);
        let late = async move {
            tokio::time::sleep(limit).await;
            if let Some(shared) = shared.upgrade()
                && shared.open.lock().waiting.contains_key(&number)
            {
                shared.kill.notify_one();
            }
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(late);
        }
    }
}

/// Holder of a run in a process.
struct ProgramRun {
    requests: Requests,
    number: u64,
}

impl fmt::Debug for ProgramRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramRun")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl RunControl for ProgramRun {
    fn stop(&self) {
        self.requests.stop(self.number);
    }

    fn drain(&self) {
        self.requests.drain(self.number);
    }

    fn lost(&self) -> AttachError {
        self.requests.lost()
    }

    fn garbled(&self, cause: String) -> AttachError {
        self.requests.garbled(cause)
    }
}

/// A LangGraph program whose graph is open. Dropped, its process ends with everything that it started.
pub struct AttachedProgram {
    requests: Requests,
    target: AttachTarget,
    /// The program has no checkpointer that outlives it.
    own_saver: bool,
    threads: Option<ThreadsPlace>,
}

/// Place where an editor attaches to a program's code, by the protocol of debugpy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DebugAddress {
    /// Host.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Database of LangGraph in which the threads of a program can be read beside it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThreadsPlace {
    /// A file of SQLite.
    File(PathBuf),
    /// Address of a PostgreSQL server, which may hold a password.
    Url(String),
}

impl DebugAddress {
    /// Returns the entry of `configurations` in VS Code's `launch.json` that attaches there, under a name.
    pub fn launch(&self, name: &str) -> String {
        serde_json::json!({
            "name": name,
            "type": "debugpy",
            "request": "attach",
            "connect": {"host": self.host, "port": self.port},
            "justMyCode": true,
        })
        .to_string()
    }
}

impl fmt::Debug for AttachedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedProgram")
            .field("target", &self.target)
            .field("interpreter", &self.requests.0.program)
            .finish_non_exhaustive()
    }
}

impl Drop for AttachedProgram {
    fn drop(&mut self) {
        self.requests.0.kill.notify_one();
    }
}

impl AttachedProgram {
    /// Starts the project's interpreter and opens the graph, as far as the grants of the environment allow.
    pub async fn start(
        target: AttachTarget,
        environment: &Environment,
        options: &AttachOptions,
    ) -> Result<Self, AttachError> {
        let found = python::interpreter(environment)
            .map_err(|error| AttachError::NoInterpreter(error.missing(), error.remedy()))?;
        let grants = &environment.grants;
        grants
            .require(&Access::Program(found.named.clone()))
            .map_err(AttachError::AccessDenied)?;
        let mut variables: Vec<_> = python::variables()
            .map(|(name, value)| (name.into(), value))
            .collect();
        for name in &options.variables {
            grants
                .require(&Access::Variable(name.clone()))
                .map_err(AttachError::AccessDenied)?;
            if let Some(value) = (environment.variables)(name) {
                variables.push((name.into(), value.into()));
            }
        }
        let program = std::path::absolute(&found.program).unwrap_or_else(|_| found.program.clone());
        let start = Start {
            program: program.clone().into(),
            args: ["-X", "utf8", "-c", BOOT].map(Into::into).to_vec(),
            folder: target.root(),
            variables,
        };
        let started = ProcessGroup::start(start, options.helper.as_ref());
        let (child, (mut input, output, errors)) = started.map_err(|error| AttachError::NotStarted {
            program: program.clone(),
            cause: error.to_string(),
        })?;
        let (lines, mut outgoing) = mpsc::unbounded_channel::<Vec<u8>>();
        let shared = Arc::new(AttachedProcess {
            program,
            stop_limit: options.stop_limit,
            lines,
            open: Mutex::default(),
            printed: Mutex::default(),
            prints: Notify::new(),
            kill: Notify::new(),
            end: watch::Sender::new(None),
        });
        tokio::spawn(async move {
            let bridge = format!("{}\n{BRIDGE}", BRIDGE.len());
            if input.write_all(bridge.as_bytes()).await.is_err() {
                return;
            }
            while let Some(line) = outgoing.recv().await {
                if input.write_all(&line).await.is_err() {
                    return;
                }
            }
            // Without anything more to read the process ends by itself.
        });
        tokio::spawn(watch_process(child, output, errors, shared.clone()));
        let requests = Requests(shared);
        let mut program = Self {
            requests,
            target,
            own_saver: false,
            threads: None,
        };
        program.open(options).await?;
        Ok(program)
    }

    async fn open(&mut self, options: &AttachOptions) -> Result<(), AttachError> {
        #[derive(Deserialize)]
        struct Opened {
            own_saver: bool,
            threads: Option<ThreadsPlace>,
        }
        let limit = options.import_limit;
        let mut request = self.target.request();
        request.insert("max_line".to_owned(), MAX_LINE.into());
        request.insert("keep".to_owned(), serde_json::json!(options.keep));
        let Value::Object(request) = Value::from(serde_json::Value::Object(request)) else {
            return Err(self.requests.lost());
        };
        let opened = self.requests.answer::<Opened>("open", request);
        match tokio::time::timeout(limit, opened).await {
            Ok(opened) => {
                let opened = opened?;
                (self.own_saver, self.threads) = (opened.own_saver, opened.threads);
                Ok(())
            }
            Err(_) => {
                self.requests.0.kill.notify_one();
                Err(AttachError::Hangs {
                    limit,
                    said: self.requests.0.said(),
                })
            }
        }
    }

    /// Returns what was attached.
    pub fn target(&self) -> &AttachTarget {
        &self.target
    }

    /// Returns the path of the interpreter.
    pub fn interpreter(&self) -> &std::path::Path {
        &self.requests.0.program
    }

    /// Returns the database in which its threads can be read beside it; `None` where only the program has them.
    pub fn threads(&self) -> Option<&ThreadsPlace> {
        self.threads.as_ref()
    }

    /// Returns whether its process has ended.
    pub fn has_ended(&self) -> bool {
        self.requests.0.end.borrow().is_some()
    }

    /// Returns whether threads are in the program's own checkpointer.
    pub fn has_checkpointer(&self) -> bool {
        !self.own_saver
    }

    /// Draws the graph.
    pub async fn describe(&self) -> Result<AttachedDescription, AttachError> {
        self.requests.answer("describe", Object::new()).await
    }

    /// Begins a run. Events have to be taken: the program waits while they are not, and so does every other request.
    pub fn run(&self, spec: &RunSpec) -> AttachedRun {
        let (number, replies) = self.requests.send("run", spec.request());
        let control = ProgramRun {
            requests: self.requests.clone(),
            number,
        };
        AttachedRun::new(Box::new(control), replies)
    }

    /// Reads the state of a thread, at its newest checkpoint unless one is named.
    pub async fn state(&self, thread: &str, checkpoint: Option<&str>) -> Result<AttachedState, AttachError> {
        self.requests.answer("state", place(thread, checkpoint)).await
    }

    /// Reads the newest checkpoints of a thread, at most `limit`, or those before one.
    pub async fn history(
        &self,
        thread: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<AttachedState>, AttachError> {
        let mut request = place(thread, None);
        request.insert("limit", Value::from(i64::from(limit)));
        request.insert("before", before.map(Value::from).unwrap_or_default());
        self.requests.answer("history", request).await
    }

    /// Edits the state, as if a node had returned the values, or says what would come of it.
    pub async fn edit_state(&self, edit: &ProgramEdit) -> Result<EditedState, AttachError> {
        self.requests.answer("update", edit.request()).await
    }

    /// Lets an editor attach to the program's code with debugpy, when the interpreter has it. With `wait` it is answered when one
    /// has.
    pub async fn debug(&self, port: Option<u16>, wait: bool) -> Result<DebugAddress, AttachError> {
        let mut request = Object::new();
        request.insert("port", i64::from(port.unwrap_or_default()));
        request.insert("wait", wait);
        self.requests.answer("debug", request).await
    }

    /// Takes the lines that the program printed since the last time, and how many more were dropped.
    pub fn printed(&self) -> (Vec<String>, u64) {
        let mut printed = self.requests.0.printed.lock();
        let dropped = std::mem::take(&mut printed.dropped);
        printed.bytes = 0;
        (printed.lines.drain(..).collect(), dropped)
    }

    /// Waits until the program has printed something, or has ended.
    pub async fn prints(&self) {
        loop {
            let printed = self.requests.0.prints.notified();
            if !self.requests.0.printed.lock().lines.is_empty() || self.requests.0.end.borrow().is_some() {
                return;
            }
            printed.await;
        }
    }

    /// Ends the process and waits for its end.
    pub async fn close(self) {
        let mut end = self.requests.0.end.subscribe();
        self.requests.0.kill.notify_one();
        let _ = end.wait_for(Option::is_some).await;
    }

    /// Ends the process and starts the program again, from its files as they are now.
    pub async fn restart(
        self,
        environment: &Environment,
        options: &AttachOptions,
    ) -> Result<Self, AttachError> {
        let target = self.target.clone();
        self.close().await;
        Self::start(target, environment, options).await
    }
}

fn place(thread: &str, checkpoint: Option<&str>) -> Object {
    let mut request = Object::new();
    request.insert("thread", thread);
    request.insert("checkpoint", checkpoint.map(Value::from).unwrap_or_default());
    request
}

/// Looks after the process until it has ended.
async fn watch_process(
    mut child: ProcessGroup,
    output: ChildStdout,
    errors: ChildStderr,
    shared: Arc<AttachedProcess>,
) {
    let listening = tokio::spawn(listen(errors, shared.clone()));
    let mut reading = tokio::spawn(read(output, shared.clone()));
    let mut is_silent = false;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.ok(),
            () = shared.kill.notified() => child.end(),
            _ = &mut reading, if !is_silent => is_silent = true,
            // One that has closed its output and lives on answers nothing any more.
            () = tokio::time::sleep(LAST_WORDS), if is_silent => child.end(),
        }
    };
    // What it said before it ended counts.
    let abort = reading.abort_handle();
    let last_words = tokio::time::timeout(LAST_WORDS, async {
        if !is_silent {
            let _ = reading.await;
        }
        let _ = listening.await;
    });
    if last_words.await.is_err() {
        abort.abort();
    }
    shared.end(ProcessEnd::Exited(status));
    let waiting = std::mem::take(&mut shared.open.lock().waiting);
    for replies in waiting.into_values() {
        let _ = replies.try_send(Reply::Ended(Err(shared.ended())));
    }
    shared.prints.notify_waiters();
}

/// Keeps what the process writes to its standard error, in lines.
async fn listen(errors: ChildStderr, shared: Arc<AttachedProcess>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        let taken = (&mut errors)
            .take(MAX_PRINTED_LINE as u64)
            .read_until(b'\n', &mut line)
            .await;
        if !matches!(taken, Ok(1..)) {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        let mut printed = shared.printed.lock();
        printed.said.push_str(text);
        printed.said.push('\n');
        if printed.said.len() > 2 * MAX_SAID {
            let from = printed.said.ceil_char_boundary(printed.said.len() - MAX_SAID);
            printed.said.drain(..from);
        }
        printed.bytes += text.len();
        printed.lines.push_back(text.to_owned());
        while printed.lines.len() > MAX_PRINTED || printed.bytes > MAX_PRINTED_BYTES {
            let Some(oldest) = printed.lines.pop_front() else {
                break;
            };
            printed.bytes -= oldest.len();
            printed.dropped += 1;
        }
        drop(printed);
        shared.prints.notify_waiters();
    }
}

/// Reads a line without its end; `None` at the end of everything.
async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = MAX_LINE as u64 + 2;
    let taken = input.take(limit).read_until(b'\n', &mut line).await?;
    if taken == 0 {
        return Ok(None);
    }
    match line.pop() {
        Some(b'\n') => Ok(Some(line)),
        _ if taken as u64 == limit => Err(io::Error::other(format!("a line of more than {MAX_LINE} bytes"))),
        _ => Err(io::Error::other("half a line")),
    }
}

/// Brings what the bridge says to whom it is for.
async fn read(output: ChildStdout, shared: Arc<AttachedProcess>) {
    let mut output = BufReader::with_capacity(64 * 1024, output);
    loop {
        let line = match read_line(&mut output).await {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => return shared.end(ProcessEnd::Garbled(error.to_string())),
        };
        let line: BridgeLine = match superstep_document::read_json(&line) {
            Ok(line) => line,
            Err(error) => return shared.end(ProcessEnd::Garbled(error.to_string())),
        };
        let replies = match &line.event {
            Some(_) => shared.open.lock().waiting.get(&line.id).cloned(),
            None => shared.open.lock().waiting.remove(&line.id),
        };
        let Some(replies) = replies else { continue };
        let reply = match line {
            BridgeLine {
                event: Some(event), ..
            } => Reply::Event(event),
            BridgeLine {
                error: Some(fault), ..
            } => Reply::Ended(Err(AttachError::Fault(Box::new(fault)))),
            BridgeLine { ok, .. } => Reply::Ended(Ok(ok.unwrap_or_default())),
        };
        // Nobody may wait any more.
        let _ = replies.send(reply).await;
    }
}
