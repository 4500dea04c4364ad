//! What a LangGraph server says, as far as it is read. Fields that are not known are passed over, and those that are missing or
//! null have their defaults: releases differ.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use superstep::Value;

/// Releases of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct ServerReleases {
    /// Of the server.
    pub version: Option<String>,
    /// Of LangGraph in Python.
    pub langgraph_py_version: Option<String>,
    /// Of LangGraph in JavaScript.
    pub langgraph_js_version: Option<String>,
}

/// A graph of a server, with settings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Assistant {
    /// Id.
    pub assistant_id: String,
    /// Name of the graph.
    pub graph_id: String,
    /// Name.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// Description.
    #[serde(default)]
    pub description: Option<String>,
    /// Number of its version.
    #[serde(default)]
    pub version: Option<u64>,
    /// Metadata.
    #[serde(default)]
    pub metadata: Json,
}

impl Assistant {
    /// Returns whether it is the one that a graph has from the beginning.
    pub fn is_of_graph(&self) -> bool {
        self.metadata["created_by"] == "system"
    }
}

/// A thread as a list of them has it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ListedThread {
    /// Id.
    pub thread_id: String,
    /// `idle`, `busy`, `interrupted` or `error`.
    #[serde(default, deserialize_with = "or_default")]
    pub status: String,
    /// Time at which it was made.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Time of its last change.
    #[serde(default)]
    pub updated_at: Option<String>,
    /// Metadata.
    #[serde(default)]
    pub metadata: Json,
}

impl ListedThread {
    /// Returns the name of the graph that ran it last.
    pub fn graph(&self) -> Option<&str> {
        self.metadata["graph_id"].as_str()
    }
}

/// Place of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct WirePlace {
    pub(super) thread_id: Option<String>,
    pub(super) checkpoint_id: Option<String>,
    pub(super) checkpoint_ns: Option<String>,
}

/// State of a thread at a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct WireState {
    pub(super) values: Value,
    #[serde(deserialize_with = "or_default")]
    pub(super) next: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) tasks: Vec<WireTask>,
    pub(super) metadata: Value,
    pub(super) created_at: Option<String>,
    pub(super) checkpoint: Option<WirePlace>,
    pub(super) parent_checkpoint: Option<WirePlace>,
    #[serde(deserialize_with = "or_default")]
    pub(super) interrupts: Vec<Value>,
}

/// A task of a state.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct WireTask {
    pub(super) id: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    pub(super) path: Value,
    pub(super) error: Value,
    #[serde(deserialize_with = "or_default")]
    pub(super) interrupts: Vec<Value>,
    pub(super) checkpoint: Option<WirePlace>,
    pub(super) state: Value,
    pub(super) result: Value,
}

impl WireTask {
    /// Returns the namespace of the graph that it runs.
    pub(super) fn nested(&self) -> Option<&str> {
        let of_state = || self.state.get("checkpoint")?.get("checkpoint_ns")?.as_str();
        let own = self
            .checkpoint
            .as_ref()
            .and_then(|place| place.checkpoint_ns.as_deref());
        own.or_else(of_state).filter(|ns| !ns.is_empty())
    }
}

impl WireState {
    /// Returns the id of its checkpoint; `None` of a thread that has none, and of a checkpoint that is not there.
    pub(super) fn id(&self) -> Option<&str> {
        // A checkpoint that is not there is answered with an empty state and its id.
        self.created_at.as_ref()?;
        self.checkpoint.as_ref()?.checkpoint_id.as_deref()
    }
}

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct WireDrawing {
    #[serde(deserialize_with = "or_default")]
    pub(super) nodes: Vec<WireNode>,
    #[serde(deserialize_with = "or_default")]
    pub(super) edges: Vec<WireEdge>,
}

/// A node of a drawing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct WireNode {
    /// A number where the server is written in JavaScript and draws a graph that is no state graph.
    pub(super) id: Json,
    #[serde(default)]
    pub(super) metadata: Json,
}

/// An edge of a drawing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct WireEdge {
    pub(super) source: Json,
    pub(super) target: Json,
    #[serde(default)]
    pub(super) data: Json,
    #[serde(default)]
    pub(super) conditional: Option<bool>,
}

/// Schemas of an assistant.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct WireSchemas {
    pub(super) input_schema: Option<Json>,
    pub(super) output_schema: Option<Json>,
    pub(super) state_schema: Option<Json>,
    pub(super) context_schema: Option<Json>,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct WireRun {
    pub(super) run_id: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) status: String,
}

/// Error as events and threads have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SaidError {
    pub(super) class: String,
    pub(super) message: String,
}

impl SaidError {
    /// Reads `{"error", "message"}`, or a text.
    pub(super) fn read(value: &Value) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Some(Self {
                class: String::new(),
                message: text.to_owned(),
            });
        }
        let part = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let (class, message) = (part("error"), part("message"));
        (class.is_some() || message.is_some()).then(|| Self {
            class: class.unwrap_or_default(),
            message: message.unwrap_or_default(),
        })
    }

    /// Formats it as a program's error is.
    pub(super) fn text(&self) -> String {
        match (&*self.class, &*self.message) {
            ("", message) => message.to_owned(),
            (class, "") => class.to_owned(),
            (class, message) => format!("{class}: {message}"),
        }
    }
}

/// Reads null as the default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(from).map(Option::unwrap_or_default)
}
