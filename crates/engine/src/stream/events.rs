//! Events of a run while it works: their types, and their LangGraph-shaped JSON.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::base::failure::Failure;
use crate::base::ids::{CheckpointId, InterruptId, Name, TaskId, ThreadId};
use crate::checkpoint::task_record::TaskRecord;
use crate::checkpoint::types::Metadata;
use crate::value::{List, Object, Value};

/// The kind of events to stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamMode {
    /// The state after each step.
    Values,
    /// What each task wrote.
    Updates,
    /// What nodes emit themselves.
    Custom,
    /// Model tokens and messages that nodes return, with metadata.
    Messages,
    /// Start and result of each task.
    Tasks,
    /// Each checkpoint as the step that runs from it begins.
    Checkpoints,
    /// Tasks and checkpoints with step and time.
    Debug,
    /// Attempts that failed and were not the end of their task. LangGraph has no such mode.
    Attempts,
    /// Tasks that had to wait for a free place, when they begin to work. LangGraph has no such mode.
    Waits,
}

impl StreamMode {
    /// Every mode.
    pub const ALL: [StreamMode; 9] = [
        StreamMode::Values,
        StreamMode::Updates,
        StreamMode::Custom,
        StreamMode::Messages,
        StreamMode::Tasks,
        StreamMode::Checkpoints,
        StreamMode::Debug,
        StreamMode::Attempts,
        StreamMode::Waits,
    ];
    /// Returns the mode's name.
    pub fn as_str(self) -> &'static str {
        match self {
            StreamMode::Values => "values",
            StreamMode::Updates => "updates",
            StreamMode::Custom => "custom",
            StreamMode::Messages => "messages",
            StreamMode::Tasks => "tasks",
            StreamMode::Checkpoints => "checkpoints",
            StreamMode::Debug => "debug",
            StreamMode::Attempts => "attempts",
            StreamMode::Waits => "waits",
        }
    }
}

impl FromStr for StreamMode {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        StreamMode::ALL
            .into_iter()
            .find(|mode| mode.as_str() == s)
            .ok_or_else(|| {
                let known: Vec<_> = StreamMode::ALL.iter().map(|mode| mode.as_str()).collect();
                format!("unknown stream mode {s:?}; known are {}", known.join(", "))
            })
    }
}

impl fmt::Display for StreamMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A question a task asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    /// Stable: the same unanswered question keeps its id.
    pub id: InterruptId,
    /// What is asked.
    pub value: Value,
}

impl Interrupt {
    /// Converts the question to `{"value", "id"}`.
    pub fn to_json(&self) -> Value {
        [("value", self.value.clone()), ("id", Value::from(&self.id))]
            .into_iter()
            .collect::<Object>()
            .into()
    }
    /// Reads what [`Interrupt::to_json`] wrote.
    pub fn from_json(json: &Value) -> Option<Interrupt> {
        Some(Interrupt {
            id: json.get("id")?.as_str()?.into(),
            value: json.get("value")?.clone(),
        })
    }
}

/// A task begins.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStart {
    /// Task id.
    pub id: TaskId,
    /// Node.
    pub name: Name,
    /// What the node is given.
    pub input: Value,
    /// All trigger channels of the node, sorted.
    pub triggers: Vec<Name>,
    /// The run's metadata as it was given.
    pub metadata: Object,
    /// Super-step.
    pub step: i64,
}

/// A task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEnd {
    /// Task id.
    pub id: TaskId,
    /// Node.
    pub name: Name,
    /// Why it failed, as `Class('message')`.
    pub error: Option<String>,
    /// The same as data, with what the text leaves out. Not part of the JSON form.
    pub failure: Option<Failure>,
    /// What it read and decided, in runs that [record](crate::RunConfig::record) it. Not part of the JSON form.
    pub record: Option<Box<TaskRecord>>,
    /// Its writes to state keys; an object.
    pub result: Value,
    /// Questions it asks.
    pub interrupts: Vec<Interrupt>,
    /// Super-step.
    pub step: i64,
    /// Nodes that its writes lead to, packets included. Not part of the JSON form.
    pub targets: Vec<Name>,
}

/// An attempt at a task failed, and the task goes on. A failure that ends the task is in its [`TaskEnd`].
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptFailed {
    /// Task id.
    pub id: TaskId,
    /// Node.
    pub name: Name,
    /// Super-step.
    pub step: i64,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// Why it failed, as `Class('message')`.
    pub error: String,
    /// The wait before the next attempt; None when that was the last one and the fallback takes over.
    pub wait: Option<Duration>,
}

/// A task begins to work that had to wait for one of the places that [`RunConfig::max_concurrency`],
/// [`NodeOptions::concurrency`] and [`Limits`] give. It may wait again before another attempt.
///
/// [`RunConfig::max_concurrency`]: crate::RunConfig#structfield.max_concurrency
/// [`NodeOptions::concurrency`]: crate::NodeOptions::concurrency
/// [`Limits`]: crate::graph::Limits
#[derive(Clone, Debug, PartialEq)]
pub struct TaskWaited {
    /// Task id.
    pub id: TaskId,
    /// Node.
    pub name: Name,
    /// Super-step.
    pub step: i64,
    /// How long it waited.
    pub waited: Duration,
}

/// The writes of a task, for `updates`.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Node.
    pub node: Name,
    /// The writes to output keys: an object, a list of single-key objects when a key was written twice, or null.
    pub value: Value,
    /// True when the result was kept from an earlier attempt at the step.
    pub cached: bool,
}

/// A checkpoint as a step begins from it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointEvent {
    /// Thread.
    pub thread: ThreadId,
    /// Namespace.
    pub ns: Name,
    /// Id.
    pub id: CheckpointId,
    /// Parent, when it was stored.
    pub parent: Option<CheckpointId>,
    /// State.
    pub values: Value,
    /// Source, step and user metadata.
    pub metadata: Metadata,
    /// Nodes that run next.
    pub next: Vec<Name>,
    /// Their tasks, in the shape of the JSON form.
    pub tasks: List,
    /// The configurable values of the run, which the checkpoint's address repeats.
    pub configurable: Object,
    /// The address of the parent was read from storage and repeats nothing: the run has not made this checkpoint, or
    /// stores only its last one.
    pub parent_read: bool,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The state, and the questions when the run stops for them.
    Values(Value, Vec<Interrupt>),
    /// What a task wrote.
    Update(Update),
    /// Questions, as the `updates` mode shows them; empty for a breakpoint.
    Interrupts(Vec<Interrupt>),
    /// What a node emitted, and its task; a breakpoint that logs has none.
    Custom(Value, Option<TaskId>),
    /// A token chunk or message, with the metadata of the task it comes from.
    Message(Value, Value),
    /// A task begins.
    TaskStart(TaskStart),
    /// A task ended.
    TaskEnd(TaskEnd),
    /// An attempt failed and the task goes on.
    AttemptFailed(Box<AttemptFailed>),
    /// A task has waited for a place, and begins to work.
    TaskWaited(Box<TaskWaited>),
    /// A checkpoint.
    Checkpoint(Box<CheckpointEvent>),
    /// A task or checkpoint payload, with step and time.
    Debug(Value),
}

/// Converts a namespace to the list of its segments.
pub(crate) fn segments(ns: &[String]) -> Value {
    let segments = ns.iter().map(|segment| Value::from(segment.as_str()));
    segments.collect::<List>().into()
}

/// Shape of the items that LangGraph yields; it depends on what the stream was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemShape {
    /// The payload: one mode was asked for by its name.
    Data,
    /// `[mode, payload]`: modes were asked for as a list.
    ModeData,
    /// `[namespace, payload]`: one mode, of nested graphs too.
    NsData,
    /// `[namespace, mode, payload]`: a list of modes, of nested graphs too.
    NsModeData,
}

/// An event with its place in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamEvent {
    /// Counts up by one over the run.
    pub seq: u64,
    /// `node:task` segments of the nested graph it comes from, or, of what a called task emits, of its caller; empty at
    /// the root.
    pub ns: Arc<[String]>,
    /// What happened.
    pub payload: Payload,
}

impl StreamEvent {
    /// Returns the mode that delivers this event.
    pub fn mode(&self) -> StreamMode {
        self.payload.mode()
    }
    /// Returns the payload in LangGraph's JSON shape.
    pub fn data(&self) -> Value {
        self.payload.to_json()
    }
    /// Returns the item that LangGraph yields, in one of its shapes.
    pub fn item(&self, shape: ItemShape) -> Value {
        let (ns, mode) = (segments(&self.ns), Value::from(self.mode().as_str()));
        match shape {
            ItemShape::Data => self.data(),
            ItemShape::ModeData => vec![mode, self.data()].into(),
            ItemShape::NsData => vec![ns, self.data()].into(),
            ItemShape::NsModeData => vec![ns, mode, self.data()].into(),
        }
    }
    /// Returns the item that LangGraph yields: with the mode when `listed`, with the namespace when `subgraphs`.
    #[deprecated(note = "use `item` with an `ItemShape`")]
    pub fn to_item(&self, listed: bool, subgraphs: bool) -> Value {
        self.item(match (listed, subgraphs) {
            (false, false) => ItemShape::Data,
            (true, false) => ItemShape::ModeData,
            (false, true) => ItemShape::NsData,
            (true, true) => ItemShape::NsModeData,
        })
    }
    /// Converts the event to `{"type", "ns", "data"}`, LangGraph's second form; `values` have their questions beside
    /// the data, not in it.
    pub fn to_json_v2(&self) -> Value {
        let mut item: Object = [
            ("type", Value::from(self.mode().as_str())),
            ("ns", segments(&self.ns)),
        ]
        .into_iter()
        .collect();
        if let Payload::Values(values, interrupts) = &self.payload {
            item.insert("data", beside(values, interrupts));
            let questions: List = interrupts.iter().map(Interrupt::to_json).collect();
            item.insert("interrupts", questions);
        } else {
            item.insert("data", self.data());
        }
        Value::Object(item)
    }
    /// Converts the event to `{"event", "ns", "data"}`: one line of the command line's stream.
    pub fn to_json(&self) -> Value {
        [
            ("event", Value::from(self.mode().as_str())),
            ("ns", segments(&self.ns)),
            ("data", self.data()),
        ]
        .into_iter()
        .collect::<Object>()
        .into()
    }
}

/// Returns a state as it is shown beside questions: anything but an object is left out, as it is where they are shown
/// in one.
pub(crate) fn beside(values: &Value, interrupts: &[Interrupt]) -> Value {
    match values {
        Value::Object(_) => values.clone(),
        _ if interrupts.is_empty() => values.clone(),
        _ => Object::new().into(),
    }
}

impl Payload {
    /// Returns the mode that delivers the payload.
    pub fn mode(&self) -> StreamMode {
        match self {
            Payload::Values(..) => StreamMode::Values,
            Payload::Update(_) | Payload::Interrupts(_) => StreamMode::Updates,
            Payload::Custom(..) => StreamMode::Custom,
            Payload::Message(..) => StreamMode::Messages,
            Payload::TaskStart(_) | Payload::TaskEnd(_) => StreamMode::Tasks,
            Payload::Checkpoint(_) => StreamMode::Checkpoints,
            Payload::Debug(_) => StreamMode::Debug,
            Payload::AttemptFailed(_) => StreamMode::Attempts,
            Payload::TaskWaited(_) => StreamMode::Waits,
        }
    }
    /// Converts the payload to LangGraph's JSON shape.
    pub fn to_json(&self) -> Value {
        let object = |entries: Vec<(&str, Value)>| Value::Object(entries.into_iter().collect::<Object>());
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let names = |names: &[Name]| Value::Array(names.iter().cloned().map(Value::String).collect());
        let list =
            |interrupts: &[Interrupt]| Value::Array(interrupts.iter().map(Interrupt::to_json).collect());
        match self {
            Payload::Values(values, interrupts) if interrupts.is_empty() => values.clone(),
            Payload::Values(values, interrupts) => {
                let mut shown = values.as_object().cloned().unwrap_or_default();
                shown.insert("__interrupt__", list(interrupts));
                Value::Object(shown)
            }
            Payload::Update(update) => {
                let mut entries = vec![(&*update.node, update.value.clone())];
                if update.cached {
                    entries.push(("__metadata__", object(vec![("cached", true.into())])));
                }
                object(entries)
            }
            Payload::Interrupts(interrupts) => object(vec![("__interrupt__", list(interrupts))]),
            Payload::Custom(value, _) | Payload::Debug(value) => value.clone(),
            Payload::Message(message, metadata) => vec![message.clone(), metadata.clone()].into(),
            Payload::TaskStart(start) => {
                let mut entries = vec![
                    ("id", Value::from(&start.id)),
                    ("name", Value::String(start.name.clone())),
                    ("input", start.input.clone()),
                    ("triggers", names(&start.triggers)),
                ];
                if !start.metadata.is_empty() {
                    entries.push(("metadata", start.metadata.clone().into()));
                }
                object(entries)
            }
            Payload::TaskEnd(end) => object(vec![
                ("id", Value::from(&end.id)),
                ("name", Value::String(end.name.clone())),
                ("error", end.error.clone().into()),
                ("result", end.result.clone()),
                ("interrupts", list(&end.interrupts)),
            ]),
            Payload::TaskWaited(waited) => object(vec![
                ("id", Value::from(&waited.id)),
                ("name", Value::String(waited.name.clone())),
                ("step", waited.step.into()),
                ("waited_ms", millis(waited.waited).into()),
            ]),
            Payload::AttemptFailed(failed) => object(vec![
                ("id", Value::from(&failed.id)),
                ("name", Value::String(failed.name.clone())),
                ("step", failed.step.into()),
                ("attempt", i64::from(failed.attempt).into()),
                ("error", failed.error.as_str().into()),
                ("wait_ms", failed.wait.map(millis).into()),
                ("fallback", failed.wait.is_none().into()),
            ]),
            Payload::Checkpoint(event) => {
                let address = |id: &CheckpointId, values: Object| {
                    let parents = &event.metadata.parents;
                    let place = crate::stream::json::place(&event.thread, &event.ns, Some(id), parents);
                    crate::stream::json::config_with(values, place)
                };
                let of_parent = match event.parent_read {
                    true => Object::new(),
                    false => event.configurable.clone(),
                };
                let parent = event.parent.as_ref().map(|id| address(id, of_parent));
                object(vec![
                    ("config", address(&event.id, event.configurable.clone())),
                    ("parent_config", parent.into()),
                    ("values", event.values.clone()),
                    ("metadata", crate::stream::json::metadata_json(&event.metadata)),
                    ("next", names(&event.next)),
                    ("tasks", Value::Array(event.tasks.clone())),
                ])
            }
        }
    }
}
