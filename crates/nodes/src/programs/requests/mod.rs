//! What a program may ask of the node that runs it, whatever language it is written in: questions to people, events,
//! the store, durable tasks, time. Requests and answers are JSON, so that a sandbox in this process and a worker
//! beside it speak the same.

mod host;
mod store;
mod stream;
mod task;

use serde::{Deserialize, Serialize};
use superstep::graph::{CommandGraph, Timeout};
use superstep::{Command, Failure, NodeContext, NodeOutput, Target, Value};
use tokio::sync::mpsc;

use crate::base::error_class;

pub(crate) use host::{Owner, serve, sleep_time};
pub(crate) use store::shown;
use task::{TaskOptions, TimeLimit};

/// The scope of what the node's own function sends; those of durable tasks are the ids that they were asked with.
pub(crate) const NODE: u64 = 0;
/// Things a program has sent and its node has not received yet; then the program waits.
pub(crate) const UNREAD: usize = 64;
/// Class of errors that programs throw without a class of their own.
pub(crate) const CLASS: &str = error_class::CODE;

/// Request or report that a program sends to its node while it runs.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ProgramRequest {
    /// By which it knows the answer; 0 where none is wanted.
    #[serde(default)]
    pub(crate) id: u64,
    /// Which of its functions sent it: [`NODE`], or the id of a task.
    #[serde(default)]
    pub(crate) scope: u64,
    /// What it is.
    #[serde(rename = "do")]
    pub(crate) request: RequestBody,
}

/// A request.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequestBody {
    /// Ask a person; answered at once or not in this run.
    Interrupt(Value),
    /// Is the next question answered? If not, the program ends with the question.
    Answer,
    /// The function ends because something that it runs stopped at a breakpoint: nobody is asked, and the run can go on.
    Pause,
    /// Something for the `custom` stream.
    Emit(Value),
    /// A chunk or a message for the `messages` stream.
    Message(Value),
    /// How far it is.
    Progress(ProgramProgress),
    /// A line that it printed.
    Log(String),
    /// A line of a level: `debug`, `info`, `warn` or `error`.
    LogAt(String, String),
    /// An operation of the store.
    Store(store::StoreRequest),
    /// A durable task: answered with what it came to, now or in an earlier run.
    Task {
        /// As the run's events name it.
        name: String,
        /// As they show its arguments.
        #[serde(default)]
        args: Value,
        /// Place at which it is found again, whatever else the program calls; without it calls are matched by their order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<u32>,
        /// How it is run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<TaskOptions>,
    },
    /// What the work of a task came to.
    Done {
        /// The id that it was asked with.
        task: u64,
        /// What it came to.
        end: Ending<Value>,
    },
    /// Some milliseconds of time.
    Sleep(f64),
    /// Which fields of the state it looked at, in a run that records that.
    Reads {
        /// It used the state as a whole.
        all: bool,
        /// The fields, in the order of their first use.
        keys: Vec<String>,
    },
}

/// Progress of a program.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ProgramProgress {
    done: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Outcome of a function.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending<T> {
    /// With a value.
    Ok(T),
    /// With an error.
    Error(Fault),
    /// Because a question has no answer yet; given is the question, if it was not asked with `interrupt`.
    Asks(Option<Value>),
}

/// An error of a program.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Fault {
    /// Its class, as retry policies know it.
    pub(crate) class: String,
    /// What it says.
    pub(crate) message: String,
    /// Of the task's retry policies, the first one that wants another attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<usize>,
}

impl Fault {
    pub(crate) fn new(class: &str, message: impl Into<String>) -> Self {
        Self {
            class: class.to_owned(),
            message: message.into(),
            policy: None,
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::new(fault.class, fault.message)
    }
}

/// Message to a program.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notice {
    /// The answer to a request.
    Answer(u64, ProgramReply),
    /// Do the work of the task that was asked with this id.
    Work(u64),
}

/// An answer.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProgramReply {
    /// A value.
    Ok(Value),
    /// It is refused, or has failed.
    Error(Fault),
    /// The function that asked is not to go on: somebody is asked first, or the run ends.
    Stop,
}

/// Result of a function.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Output {
    /// An update.
    Update(Value),
    /// An update together with targets.
    Command {
        #[serde(default)]
        update: Option<Value>,
        #[serde(default)]
        goto: Vec<Goto>,
        #[serde(default)]
        parent: bool,
    },
    /// Several.
    Many(Vec<Output>),
}

/// A target.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goto {
    Node(String),
    Send(String, Value),
    /// A packet whose task has a timeout of its own.
    SendWithin(String, Value, TimeLimit),
}

impl From<Output> for NodeOutput {
    fn from(output: Output) -> Self {
        match output {
            Output::Update(update) => NodeOutput::Update(update),
            Output::Many(all) => NodeOutput::Many(all.into_iter().map(Into::into).collect()),
            Output::Command { update, goto, parent } => NodeOutput::Command(Command {
                update,
                goto: goto
                    .into_iter()
                    .map(|target| match target {
                        Goto::Node(name) => Target::node(name),
                        Goto::Send(node, arg) => Target::send(node, arg),
                        Goto::SendWithin(node, arg, limit) => {
                            Target::send_within(node, arg, Timeout::from(limit))
                        }
                    })
                    .collect(),
                graph: match parent {
                    true => CommandGraph::Parent,
                    false => CommandGraph::Current,
                },
                ..Command::default()
            }),
        }
    }
}

/// Event that comes from a program.
#[derive(Debug)]
pub(crate) enum Event<T, E> {
    /// It asks or reports something.
    Request(ProgramRequest),
    /// It has ended; nothing follows.
    Ended(Result<Ending<T>, E>),
}

/// Channel on which a program's requests arrive.
pub(crate) type Inbox<T, E> = mpsc::Receiver<Event<T, E>>;

/// Returns what a program knows of its place: LangGraph's names in `config`, short ones in `context`.
pub(crate) fn place(context: &NodeContext, owner: Owner<'_>) -> Value {
    let info = context.info();
    let metadata = context.metadata();
    let mut configurable = superstep::value::Object::new();
    // What the caller gave the run is its context; what is the engine's own is listed under its own name.
    for (name, value) in metadata.as_object().into_iter().flat_map(|all| all.iter()) {
        if !name.starts_with("langgraph_") {
            configurable.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in context.configurable().iter() {
        configurable.insert(name.clone(), value.clone());
    }
    // Without a run context it is what the run was configured with.
    let user = match context.context() {
        Value::Null => Value::Object(configurable.clone()),
        given => given.clone(),
    };
    configurable.insert("checkpoint_id", info.checkpoint_id.as_str());
    configurable.insert("checkpoint_ns", info.checkpoint_ns.as_str());
    let around = superstep::json!({
        "thread": info.thread.as_ref().map(|thread| thread.as_str()),
        "run": info.run_id.as_str(),
        "node": &*info.node,
        "step": info.step,
        "attempt": info.attempt,
        "task": info.task_id.as_str(),
        "checkpoint": info.checkpoint_id.as_str(),
        "namespace": info.checkpoint_ns.as_str(),
        "firstAttempt": info.first_attempt_ms,
        "user": user,
    });
    let tags: Vec<&str> = context.tags().iter().map(|tag| &**tag).collect();
    // Expressions read members of the run context under the same names; `ctx` has the place alone.
    let mut read = around.as_object().cloned().unwrap_or_default();
    for (name, value) in context
        .context()
        .as_object()
        .into_iter()
        .flat_map(|all| all.iter())
    {
        read.insert(name.clone(), value.clone());
    }
    superstep::json!({
        "context": around,
        "read": Value::Object(read),
        "config": {
            "configurable": Value::Object(configurable),
            "metadata": metadata,
            "run_id": info.run_id.as_str(),
            "tags": tags,
        },
        "store": context.store().is_some(),
        // Whether there may be something that it recorded before.
        "again": context.may_have_run(),
        // Whether it is to say which fields of the state it looked at.
        "record": owner.is_node() && context.recorder().is_some(),
    })
}
