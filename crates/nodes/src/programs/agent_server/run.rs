//! A run on a LangGraph server, followed to its end: its events in the form of an attached program's, the connection taken up
//! again where it broke off, and the state that it came to.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value as Json, json};
use sse_stream::Sse;
use superstep::Value;
use superstep::value::List;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::client::{AgentServer, RunEvents, StreamEnd};
use super::wire::SaidError;
use crate::programs::agent_server_error::AgentServerError;
use crate::programs::attach::{
    AttachError, AttachFault, AttachFaultCode, AttachedEvent, AttachedInput, AttachedRun, Reply, RunControl,
    RunSpec,
};

/// Events that nobody has taken yet: then the connection is not read either.
const MAX_UNREAD: usize = 1024;
/// What the events of a run are, in errors.
const ASKED: &str = "the events of a run";
/// The modes that are asked for besides those that are wanted: they say which node failed, and the steps of tasks.
const ALWAYS: [&str; 2] = ["tasks", "checkpoints"];

/// Way in which a run is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stopping {
    Never,
    AfterStep,
    Now,
}

/// Holder of a run on a server.
#[derive(Debug)]
struct ServerRun {
    server: AgentServer,
    stopping: watch::Sender<Stopping>,
}

impl ServerRun {
    fn ask(&self, wanted: Stopping) {
        self.stopping.send_if_modified(|asked| {
            let more = wanted > *asked;
            if more {
                *asked = wanted;
            }
            more
        });
    }
}

impl RunControl for ServerRun {
    fn stop(&self) {
        self.ask(Stopping::Now);
    }

    fn drain(&self) {
        self.ask(Stopping::AfterStep);
    }

    fn lost(&self) -> AttachError {
        AttachError::Server(Box::new(AgentServerError::Lost {
            server: self.server.place(),
            run: "that was begun".to_owned(),
            cause: "this program stops".to_owned(),
        }))
    }

    fn garbled(&self, cause: String) -> AttachError {
        AttachError::Server(Box::new(
            self.server.garbled("the state at the end of a run", cause),
        ))
    }
}

/// Returns the name of a stream mode as the server has it.
fn mode_there(mode: &str) -> &str {
    match mode {
        "messages" => "messages-tuple",
        mode => mode,
    }
}

/// Creates the request of a run.
fn request(assistant: &str, spec: &RunSpec) -> Json {
    let mut modes: Vec<&str> = spec.modes.iter().map(|mode| mode_there(mode)).collect();
    modes.extend(
        ALWAYS
            .iter()
            .filter(|mode| !spec.modes.iter().any(|own| own.as_str() == **mode)),
    );
    let mut request = json!({
        "assistant_id": assistant,
        "stream_mode": modes,
        "stream_subgraphs": true,
        // Otherwise nothing can be taken up again.
        "stream_resumable": true,
        "on_disconnect": "continue",
        "if_not_exists": "create",
        "multitask_strategy": "reject",
        // A checkpoint that is said is stored.
        "durability": "sync",
    });
    match &spec.input {
        AttachedInput::Given(input) => request["input"] = json!(input),
        AttachedInput::Answers(answers) => request["command"] = json!({"resume": answers}),
        AttachedInput::GoOn => request["input"] = Json::Null,
    }
    if let Some(checkpoint) = &spec.checkpoint {
        request["checkpoint"] = json!({"checkpoint_id": checkpoint, "checkpoint_ns": ""});
    }
    if let Some(context) = &spec.context {
        request["context"] = json!(context);
    }
    if let Some(limit) = spec.recursion_limit {
        request["config"] = json!({"recursion_limit": limit});
    }
    for (field, nodes) in [
        ("interrupt_before", &spec.break_before),
        ("interrupt_after", &spec.break_after),
    ] {
        // All of them are one word there.
        if nodes.iter().any(|node| node == "*") {
            request[field] = "*".into();
        } else if !nodes.is_empty() {
            request[field] = json!(nodes);
        }
    }
    request
}

/// Begins a run of an assistant.
pub(super) fn begin(server: &AgentServer, assistant: &str, spec: &RunSpec) -> AttachedRun {
    let (replies, inbox) = mpsc::channel(MAX_UNREAD);
    let (stopping, asked) = watch::channel(Stopping::Never);
    let follower = Follower {
        server: server.clone(),
        thread: spec.thread.clone(),
        wanted: spec.modes.clone(),
        replies: replies.clone(),
        stopping: asked,
        run: None,
        place: StreamPlace::default(),
        steps: HashMap::new(),
        failed: None,
        said: None,
        cancelled: None,
    };
    let request = request(assistant, spec);
    tokio::spawn(async move {
        let ended = follower.follow(request).await;
        // Nobody may wait for it any more.
        let _ = replies.send(Reply::Ended(ended)).await;
    });
    let control = ServerRun {
        server: server.clone(),
        stopping,
    };
    AttachedRun::new(Box::new(control), inbox)
}

/// Place in a stream of events, to which it goes back when the connection broke off.
///
/// Two events may have the same id, and the server goes on behind the last event of an id. So it is asked for what came behind
/// the id before the last one, and what has come of the last one is passed over.
#[derive(Debug, Default)]
struct StreamPlace {
    before: Option<String>,
    last: Option<String>,
    /// Events with the last id.
    of_last: usize,
    /// Events with this id are to be passed over.
    passing: Option<(String, usize)>,
}

impl StreamPlace {
    /// Takes the id of an event; returns whether it came before.
    fn came_before(&mut self, id: Option<&str>) -> bool {
        let Some(id) = id else { return false };
        if let Some((of, left)) = &mut self.passing {
            if of == id && *left > 0 {
                *left -= 1;
                return true;
            }
            self.passing = None;
        }
        match self.last.as_deref() == Some(id) {
            true => self.of_last += 1,
            false => {
                self.before = self.last.replace(id.to_owned());
                self.of_last = 1;
            }
        }
        false
    }

    /// Returns the id behind which the server goes on.
    fn again(&mut self) -> Option<String> {
        self.passing = self.last.clone().map(|id| (id, self.of_last));
        self.before.clone()
    }
}

/// End of a stretch of the stream.
enum Stretch {
    Ended,
    Broken(String),
}

/// Reader of a run's events.
struct Follower {
    server: AgentServer,
    thread: String,
    /// Modes whose events are wanted.
    wanted: Vec<String>,
    replies: mpsc::Sender<Reply>,
    stopping: watch::Receiver<Stopping>,
    run: Option<String>,
    place: StreamPlace,
    /// Newest step of each namespace.
    steps: HashMap<Vec<String>, i64>,
    /// Node and task that failed last.
    failed: Option<(String, String)>,
    /// The error that the run ended with.
    said: Option<SaidError>,
    /// Time at which it was asked to stop.
    cancelled: Option<Instant>,
}

impl From<AgentServerError> for AttachError {
    fn from(error: AgentServerError) -> Self {
        AttachError::Server(Box::new(error))
    }
}

impl Follower {
    async fn follow(mut self, request: Json) -> Result<Value, AttachError> {
        if uuid_of(&self.thread).is_none() {
            let id = self.thread.clone();
            return Err(AgentServerError::ThreadId { id }.into());
        }
        let (run, events) = self.server.begin(&self.thread, request).await?;
        self.run = run;
        let mut stretch = self.read(events).await?;
        let mut attempts = self.server.limits().again.iter();
        let mut seen = self.place.last.clone();
        loop {
            let cause = match stretch {
                Stretch::Ended if self.said.is_some() => break,
                Stretch::Ended => match self.has_ended().await {
                    Ok(true) => break,
                    Ok(false) => "the stream ended before the run".to_owned(),
                    Err(error) if error.is_passing() => error.to_string(),
                    Err(error) => return Err(error.into()),
                },
                Stretch::Broken(cause) => cause,
            };
            if self.place.last != seen {
                // It went on in between.
                seen = self.place.last.clone();
                attempts = self.server.limits().again.iter();
            }
            let Some(wait) = attempts.next() else {
                return Err(self.lost(cause).into());
            };
            stretch = self.again(*wait, cause).await?;
        }
        self.result().await
    }

    fn lost(&self, cause: String) -> AgentServerError {
        AgentServerError::Lost {
            server: self.server.place(),
            run: self.run.clone().unwrap_or_else(|| "that was begun".to_owned()),
            cause,
        }
    }

    /// Takes the stream up again after a while.
    async fn again(&mut self, wait: Duration, cause: String) -> Result<Stretch, AttachError> {
        let Some(run) = self.run.clone() else {
            return Err(self.lost(cause).into());
        };
        self.pause(wait).await?;
        let behind = self.place.again();
        match self.server.go_on(&self.thread, &run, behind.as_deref()).await {
            Ok(events) => self.read(events).await,
            Err(error) if error.is_passing() => Ok(Stretch::Broken(error.to_string())),
            // A server that was started again may not know the run any more.
            Err(error) if error.is_absent() => Err(self.lost(error.to_string()).into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits, unless the run is to be stopped meanwhile.
    async fn pause(&mut self, wait: Duration) -> Result<(), AttachError> {
        let until = Instant::now() + wait;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return Ok(()),
                () = until_asked(&mut self.stopping), if self.cancelled.is_none() => self.cancel().await?,
            }
        }
    }

    /// Reads events until the stream ends.
    async fn read(&mut self, mut events: RunEvents) -> Result<Stretch, AttachError> {
        let limit = self.server.limits().stop;
        loop {
            let late = self.cancelled.map(|at| at + limit);
            let event = tokio::select! {
                event = events.next() => event,
                () = until_asked(&mut self.stopping), if self.cancelled.is_none() => {
                    self.cancel().await?;
                    continue;
                }
                () = sleep_until(late) => {
                    return Err(AgentServerError::NotStopped {
                        server: self.server.place(),
                        run: self.run.clone().unwrap_or_default(),
                        limit,
                    }
                    .into());
                }
            };
            match event {
                Some(Ok(event)) => self.take(event).await?,
                None => return Ok(Stretch::Ended),
                Some(Err(StreamEnd::TooLarge)) => {
                    return Err(self
                        .server
                        .too_large(ASKED, StreamEnd::TooLarge.to_string())
                        .into());
                }
                Some(Err(StreamEnd::Garbled(cause))) => {
                    return Err(self.server.garbled(ASKED, cause).into());
                }
                Some(Err(end)) => return Ok(Stretch::Broken(end.to_string())),
            }
        }
    }

    /// Stops the run at the server.
    async fn cancel(&mut self) -> Result<(), AttachError> {
        self.cancelled = Some(Instant::now());
        let Some(run) = &self.run else { return Ok(()) };
        match self.server.cancel(&self.thread, run).await {
            Ok(()) => Ok(()),
            // Whether it stops is seen by its events.
            Err(error) if error.is_passing() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes an event of the stream; those that are not known are passed over.
    async fn take(&mut self, event: Sse) -> Result<(), AttachError> {
        let Sse { event, data, id, .. } = event;
        let is_before = self.place.came_before(id.as_deref().filter(|id| !id.is_empty()));
        let (Some(name), Some(data)) = (event, data) else {
            return Ok(());
        };
        let mut parts = name.split('|').map(str::to_owned);
        let mode = parts.next().unwrap_or_default();
        let ns: Vec<String> = parts.collect();
        let is_known = matches!(
            &*mode,
            "metadata"
                | "error"
                | "values"
                | "updates"
                | "messages"
                | "custom"
                | "tasks"
                | "checkpoints"
                | "debug"
        );
        if is_before || !is_known {
            return Ok(());
        }
        let data: Value = serde_json::from_str(&data)
            .map_err(|error| self.server.garbled(ASKED, format!("{mode}: {error}")))?;
        let step = match &*mode {
            "metadata" => return self.begun(&data).await,
            "error" => {
                self.said = SaidError::read(&data);
                return Ok(());
            }
            "checkpoints" => self.checkpoint(&ns, &data)?,
            "tasks" => Some(self.steps.get(&ns).map_or(0, |step| step + 1)),
            _ => None,
        };
        let data = match &*mode {
            "tasks" => self.task(data),
            _ => data,
        };
        if self.wanted.contains(&mode) {
            let event = AttachedEvent {
                event: mode.clone(),
                ns: ns.clone(),
                data,
                step,
            };
            if self.replies.send(Reply::Event(event)).await.is_err() && self.cancelled.is_none() {
                // Nobody follows it any more.
                self.cancel().await?;
            }
        }
        let is_step = mode == "checkpoints" && ns.is_empty();
        if is_step && self.cancelled.is_none() && *self.stopping.borrow() == Stopping::AfterStep {
            self.cancel().await?;
        }
        Ok(())
    }

    /// Takes the id of the run, which comes first.
    async fn begun(&mut self, data: &Value) -> Result<(), AttachError> {
        let Some(said) = data.get("run_id").and_then(Value::as_str) else {
            return Ok(());
        };
        match &self.run {
            Some(run) => self.server.same(ASKED, run, said)?,
            None => {
                self.run = Some(said.to_owned());
                if self.cancelled.is_some() {
                    self.cancel().await?;
                }
            }
        }
        Ok(())
    }

    /// Takes the step of a checkpoint, which has to be of this thread.
    fn checkpoint(&mut self, ns: &[String], data: &Value) -> Result<Option<i64>, AttachError> {
        let place = data.get("config").and_then(|config| config.get("configurable"));
        let thread = place.and_then(|place| place.get("thread_id")?.as_str());
        if let Some(said) = thread {
            self.server.same(ASKED, &self.thread, said)?;
        }
        let step = data
            .get("metadata")
            .and_then(|metadata| metadata.get("step")?.as_i64());
        if let Some(step) = step {
            self.steps.insert(ns.to_vec(), step);
        }
        Ok(step)
    }

    /// Puts the error of a task into the form of a program's, and notes who failed.
    fn task(&mut self, mut data: Value) -> Value {
        let error = data.get("error").and_then(SaidError::read);
        if let (Some(error), Value::Object(task)) = (error, &mut data) {
            let text = |key: &str| {
                task.get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            // The innermost comes first.
            if self.failed.is_none() {
                self.failed = Some((text("name"), text("id")));
            }
            task.insert("error", error.text());
        }
        data
    }

    /// Asks whether the run has ended, and how.
    async fn has_ended(&mut self) -> Result<bool, AgentServerError> {
        let Some(run) = self.run.clone() else {
            return Err(self.lost("it never said which run it began".to_owned()));
        };
        let found = self.server.run(&self.thread, &run).await?;
        let Some(found) = found else {
            return Err(self.lost("it knows no such run any more".to_owned()));
        };
        match &*found.status {
            "pending" | "running" => return Ok(false),
            // By somebody else, perhaps.
            "interrupted" => self.cancelled = self.cancelled.or_else(|| Some(Instant::now())),
            "error" | "timeout" => {
                self.cancelled = None;
                let said = self.server.failure(&self.thread).await?;
                self.said = SaidError::read(&said).or_else(|| {
                    Some(SaidError {
                        class: String::new(),
                        message: format!("The run ended with the status {}", found.status),
                    })
                });
            }
            _ => self.cancelled = None,
        }
        Ok(true)
    }

    /// Returns the state that the run came to, in the form of an attached program's.
    async fn result(self) -> Result<Value, AttachError> {
        if let Some(said) = self.said {
            let (node, task) = self.failed.unzip();
            let code = match &*said.class {
                "GraphRecursionError" => AttachFaultCode::RecursionLimit,
                "EmptyInputError" => AttachFaultCode::EmptyInput,
                "InvalidUpdateError" => AttachFaultCode::InvalidUpdate,
                "UserInterrupt" | "UserRollback" => AttachFaultCode::Cancelled,
                _ if node.is_some() => AttachFaultCode::NodeFailed,
                _ => AttachFaultCode::RunFailed,
            };
            return Err(AttachError::Fault(Box::new(fault(code, said.text(), node, task))));
        }
        if self.cancelled.is_some() {
            let message = "The run was stopped".to_owned();
            return Err(AttachError::Fault(Box::new(fault(
                AttachFaultCode::Cancelled,
                message,
                None,
                None,
            ))));
        }
        Ok(ended_state(&self.server, &self.thread).await?)
    }
}

fn fault(code: AttachFaultCode, message: String, node: Option<String>, task: Option<String>) -> AttachFault {
    AttachFault {
        code,
        message,
        file: None,
        line: None,
        text: None,
        traceback: Vec::new(),
        left_out: 0,
        names: Vec::new(),
        missing: None,
        node,
        task,
    }
}

/// Reads the newest state of a thread in the form of an attached program's.
pub(super) async fn ended_state(server: &AgentServer, thread: &str) -> Result<Value, AgentServerError> {
    state_at(server, thread, None).await
}

/// Reads a state of a thread in the form of an attached program's.
pub(super) async fn state_at(
    server: &AgentServer,
    thread: &str,
    checkpoint: Option<&str>,
) -> Result<Value, AgentServerError> {
    let found = server.state(thread, "", checkpoint).await?.unwrap_or_default();
    let status = match (found.interrupts.is_empty(), found.next.is_empty()) {
        (false, _) => "interrupted",
        (true, false) => "breakpoint",
        (true, true) => "done",
    };
    let place = |place: &super::wire::WirePlace| -> Value {
        let texts = [
            ("thread_id", place.thread_id.as_deref().or(Some(thread))),
            ("checkpoint_id", place.checkpoint_id.as_deref()),
            (
                "checkpoint_ns",
                Some(place.checkpoint_ns.as_deref().unwrap_or_default()),
            ),
        ];
        let entries = texts
            .into_iter()
            .map(|(key, text)| (key, text.map(Value::from).unwrap_or_default()));
        Value::Object(entries.collect())
    };
    let tasks = found.tasks.iter().map(|task| {
        let error = SaidError::read(&task.error).map(|error| error.text());
        let entries: [(&str, Value); 6] = [
            ("id", task.id.as_str().into()),
            ("name", task.name.as_str().into()),
            ("error", error.map(Value::from).unwrap_or_default()),
            ("interrupts", list(task.interrupts.iter().cloned())),
            ("result", task.result.clone()),
            ("state", task.state.clone()),
        ];
        Value::Object(entries.into_iter().collect())
    });
    let entries: [(&str, Value); 9] = [
        ("values", found.values.clone()),
        ("next", list(found.next.iter().map(|node| node.as_str().into()))),
        ("config", found.checkpoint.as_ref().map(place).unwrap_or_default()),
        (
            "parent",
            found.parent_checkpoint.as_ref().map(place).unwrap_or_default(),
        ),
        ("metadata", found.metadata.clone()),
        (
            "created_at",
            found.created_at.as_deref().map(Value::from).unwrap_or_default(),
        ),
        ("tasks", list(tasks)),
        ("interrupts", list(found.interrupts.iter().cloned())),
        ("status", status.into()),
    ];
    Ok(Value::Object(entries.into_iter().collect()))
}

fn list(items: impl Iterator<Item = Value>) -> Value {
    Value::Array(items.collect::<List>())
}

/// Returns the text of an id of a thread, where it is a UUID.
pub(super) fn uuid_of(text: &str) -> Option<&str> {
    let is_dash = |place: usize| matches!(place, 8 | 13 | 18 | 23);
    let fits = |(place, byte): (usize, u8)| match is_dash(place) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    (text.len() == 36 && text.bytes().enumerate().all(fits)).then_some(text)
}

/// Waits until a run is to end at once; for ever where nobody can ask any more.
async fn until_asked(stopping: &mut watch::Receiver<Stopping>) {
    if stopping.wait_for(|asked| *asked == Stopping::Now).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits until a time; for ever where there is none.
async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_where_it_broke_off_though_events_share_ids() {
        let mut place = StreamPlace::default();
        for (id, before) in [("1-0", false), ("2-0", false), ("3-0", false), ("3-0", false)] {
            assert_eq!(place.came_before(Some(id)), before);
        }
        assert_eq!(place.again().as_deref(), Some("2-0"));
        let came: Vec<bool> = ["3-0", "3-0", "3-0", "4-0"]
            .map(|id| place.came_before(Some(id)))
            .into();
        assert_eq!(
            came,
            [true, true, false, false],
            "the third of the same id had not come"
        );
        // Broken off before the first event is passed over, it goes back to the same place.
        assert_eq!(place.again().as_deref(), Some("3-0"));
        assert_eq!(place.again().as_deref(), Some("3-0"));
        assert!(place.came_before(Some("4-0")) && !place.came_before(Some("5-0")));
        let mut first = StreamPlace::default();
        assert!(!first.came_before(None) && first.again().is_none());
        assert!(
            !first.came_before(Some("1-0")) && first.again().is_none(),
            "from the first event"
        );
        assert!(first.came_before(Some("1-0")));
    }

    #[test]
    fn a_request_says_what_is_wanted_and_what_is_needed() {
        let mut spec = RunSpec::new("t", AttachedInput::Answers(Value::from("yes")));
        spec.modes = vec!["messages".to_owned(), "tasks".to_owned()];
        spec.break_before = vec!["a".to_owned(), "*".to_owned()];
        spec.break_after = vec!["b".to_owned()];
        spec.checkpoint = Some("c".to_owned());
        spec.recursion_limit = Some(7);
        let made = request("shop", &spec);
        assert_eq!(
            made["stream_mode"],
            json!(["messages-tuple", "tasks", "checkpoints"])
        );
        assert_eq!(made["command"], json!({"resume": "yes"}));
        assert!(made.get("input").is_none());
        assert_eq!(
            (&made["interrupt_before"], &made["interrupt_after"]),
            (&json!("*"), &json!(["b"]))
        );
        assert_eq!(made["checkpoint"]["checkpoint_id"], "c");
        assert_eq!(made["config"]["recursion_limit"], 7);
        let on = request("shop", &RunSpec::new("t", AttachedInput::GoOn));
        assert_eq!((on.get("input"), on.get("command")), (Some(&Json::Null), None));
    }

    #[test]
    fn ids_of_threads_are_uuids() {
        assert!(uuid_of("536d3e72-482a-48c4-bfba-dfccf6f7755e").is_some());
        for text in [
            "",
            "one",
            "536d3e72-482a-48c4-bfba-dfccf6f7755",
            "536d3e72x482a-48c4-bfba-dfccf6f7755e",
        ] {
            assert!(uuid_of(text).is_none(), "{text}");
        }
    }
}
