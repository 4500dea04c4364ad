//! A graph of a LangGraph program as its builder has it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Facts about an attached program's graph.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct AttachedDescription {
    /// Name that the graph has in its module.
    #[serde(default)]
    pub named: String,
    /// The graph.
    pub drawing: GraphDrawing,
    /// Its schemas.
    pub schemas: GraphSchemas,
    /// Parts that this version of LangGraph, or this graph, does not say, and why.
    pub lacking: Vec<String>,
    /// The program has a builder under the name, which was compiled to attach it.
    pub compiled_here: bool,
    /// The function that made the graph, when the name is one.
    pub made_by: Option<CodePlace>,
    /// Releases of Python and its packages.
    pub versions: ProgramVersions,
    /// Path of the interpreter.
    pub interpreter: PathBuf,
    /// Files of the project that were imported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
}

/// Releases that a program runs with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ProgramVersions {
    /// Of Python.
    pub python: String,
    /// Of LangGraph.
    pub langgraph: Option<String>,
    /// Of LangChain, when it is installed.
    pub langchain: Option<String>,
}

/// JSON Schemas of a graph; `None` where it declares none or cannot say it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GraphSchemas {
    /// Of a run's input.
    pub input_schema: Option<Json>,
    /// Of its result.
    pub output_schema: Option<Json>,
    /// Of the run context.
    pub context_schema: Option<Json>,
}

/// Source of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawnFrom {
    /// The graph's builder: nothing is missing.
    Builder,
    /// LangGraph's own drawing: joins, conditions and reducers are missing.
    GetGraph,
}

/// A graph: its nodes in the program's order, and the ways between them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct GraphDrawing {
    /// Name of the graph.
    pub name: String,
    /// Source.
    pub source: DrawnFrom,
    /// Nodes.
    pub nodes: Vec<DrawnNode>,
    /// Ways from one node to another; `__start__` and `__end__` are the ends.
    pub ways: Vec<DrawnWay>,
    /// Joins: a node that waits for several.
    pub joins: Vec<DrawnJoin>,
    /// Conditions.
    pub branches: Vec<DrawnBranch>,
    /// State keys, and values that LangGraph keeps.
    pub channels: Vec<DrawnChannel>,
    /// Nodes before which it always stops; `*` is all.
    pub break_before: Vec<String>,
    /// Nodes after which it always stops; `*` is all.
    pub break_after: Vec<String>,
    /// Class of its checkpointer, or a truth value as LangGraph takes it; null when it has none.
    pub checkpointer: Json,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct DrawnNode {
    /// Its name.
    pub name: String,
    /// The code that it runs.
    pub function: CodePlace,
    /// It waits until nothing else is due.
    #[serde(skip_serializing_if = "is_false")]
    pub defer: bool,
    /// Most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<u64>,
    /// Its results are cached.
    #[serde(skip_serializing_if = "is_false")]
    pub cache: bool,
    /// Time limit of an attempt, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// The node whose failures it takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler_of: Option<String>,
    /// Type of its input, when that is not the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Metadata.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub metadata: Json,
    /// Graph that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<Box<GraphDrawing>>,
    /// Its function calls the graph; otherwise the node is the graph.
    #[serde(skip_serializing_if = "is_false")]
    pub called: bool,
    /// It runs a graph that it is in itself.
    #[serde(skip_serializing_if = "is_false")]
    pub recursive: bool,
    /// Class of the graph that it runs somewhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Durable tasks that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<DrawnTask>,
}

impl Default for DrawnNode {
    fn default() -> Self {
        Self {
            name: String::new(),
            function: CodePlace::default(),
            defer: false,
            retry: None,
            cache: false,
            timeout_s: None,
            handler_of: None,
            input: None,
            metadata: Json::Null,
            graph: None,
            called: false,
            recursive: false,
            remote: None,
            tasks: Vec::new(),
        }
    }
}

/// A durable task of the functional interface.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct DrawnTask {
    /// Its name in the module.
    pub name: String,
    /// Its code.
    pub function: CodePlace,
}

/// Kind of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WayKind {
    /// It is always taken.
    Edge,
    /// A condition chooses it.
    Branch,
    /// The node itself chooses it, with a command.
    Command,
}

/// A way from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct DrawnWay {
    /// Its beginning.
    pub from: String,
    /// Its end.
    pub to: String,
    /// Who takes it.
    pub kind: WayKind,
    /// Name of the condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The condition's value for it, when that is not the node's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The program does not declare it: its code names the node.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guessed: bool,
}

/// A join.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct DrawnJoin {
    /// Nodes that are waited for.
    pub from: Vec<String>,
    /// The node that waits.
    pub to: String,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct DrawnBranch {
    /// The node after which it is evaluated.
    pub from: String,
    /// Its name.
    pub name: String,
    /// Its code.
    pub function: CodePlace,
    /// It declares no targets: they are guessed from its code.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guessed: bool,
    /// It may lead to any node: nothing is declared, and its code names none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub open: bool,
}

/// A channel of the state.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct DrawnChannel {
    /// The state key.
    pub name: String,
    /// Its type, as the program writes it.
    #[serde(rename = "type")]
    pub of: Option<String>,
    /// Class of the channel.
    pub channel: String,
    /// The function that joins what is there and an update.
    pub reducer: Option<CodePlace>,
    /// A run's input may set it.
    pub input: bool,
    /// It is in the result of a run.
    pub output: bool,
    /// LangGraph gives the value.
    pub managed: bool,
}

/// Location of a piece of the program's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct CodePlace {
    /// `function`, `method`, `class` or `object`.
    pub kind: String,
    /// Name within the module.
    pub name: String,
    /// Class of an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// File.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// First line, from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

fn is_false(value: &bool) -> bool {
    !*value
}
