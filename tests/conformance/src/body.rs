//! Nodes and routers of a case: a list of small actions, performed in order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use superstep::checkpoint::CheckpointIds;
use superstep::graph::{CommandGraph, NodeFailed, TaskFn};
use superstep::run::SystemClock;
use superstep::{Command, Graph, Input, NodeContext, NodeError, NodeOutput, Target};

use crate::expression::{Scope, compute, holds, thaw};
use crate::store::use_store;

/// State shared by the bodies of one case: counters, notes, and what ran.
#[derive(Debug)]
pub(crate) struct World {
    ids: CheckpointIds,
    runs: Mutex<HashMap<String, u64>>,
    ran: Mutex<Vec<String>>,
    notes: Mutex<Vec<Value>>,
    graphs: Mutex<HashMap<String, Graph>>,
    tasks: Mutex<HashMap<String, TaskFn>>,
}

impl Default for World {
    fn default() -> Self {
        World {
            ids: CheckpointIds::new(Arc::new(SystemClock)),
            runs: Mutex::default(),
            ran: Mutex::default(),
            notes: Mutex::default(),
            graphs: Mutex::default(),
            tasks: Mutex::default(),
        }
    }
}

impl World {
    /// Adds a graph that nodes call or are.
    pub(crate) fn add_graph(&self, name: &str, graph: Graph) {
        self.graphs.lock().insert(name.to_owned(), graph);
    }
    pub(crate) fn graph(&self, name: &str) -> Option<Graph> {
        self.graphs.lock().get(name).cloned()
    }
    /// Adds a task that nodes and other tasks call.
    pub(crate) fn add_task(&self, name: &str, task: TaskFn) {
        self.tasks.lock().insert(name.to_owned(), task);
    }
    fn task(&self, name: &str) -> Option<TaskFn> {
        self.tasks.lock().get(name).cloned()
    }
    /// Creates an id for a model's message, in the form that LangChain gives it after the call.
    fn message_id(&self) -> String {
        format!("lc_run--{}", self.ids.next(None))
    }
    /// Forgets what the last operation ran and noted.
    pub(crate) fn clear(&self) {
        self.ran.lock().clear();
        self.notes.lock().clear();
    }
    /// Names of the bodies that ran, once for each time.
    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().clone()
    }
    /// Returns the notes of the bodies.
    pub(crate) fn notes(&self) -> Vec<Value> {
        self.notes.lock().clone()
    }
    fn count(&self, name: &str) -> u64 {
        let mut runs = self.runs.lock();
        let count = runs.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }
    /// Records that a body begins, and returns how often it has begun so far.
    pub(crate) fn begin(&self, name: &str) -> u64 {
        self.ran.lock().push(name.to_owned());
        self.count(name)
    }
}

/// A list of actions that can be performed any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) world: Arc<World>,
    pub(crate) name: String,
    pub(crate) actions: Arc<[Value]>,
}

pub(crate) fn actions(list: Option<&Value>) -> Arc<[Value]> {
    list.and_then(Value::as_array).cloned().unwrap_or_default().into()
}

/// Names, packets, or a list of both.
pub(crate) fn targets(value: &Value) -> Result<Vec<Target>, NodeError> {
    match value {
        Value::String(name) => Ok(vec![Target::node(name.as_str())]),
        Value::Array(list) => list
            .iter()
            .map(targets)
            .collect::<Result<Vec<_>, _>>()
            .map(|all| all.concat()),
        Value::Object(packet) if packet.contains_key("send") => {
            let node = packet["send"].as_str().unwrap_or_default();
            Ok(vec![Target::send(
                node,
                thaw(packet.get("with").cloned().unwrap_or_default()),
            )])
        }
        Value::Null => Err(NodeError::new(
            "ValueError",
            "Branch did not return a valid destination",
        )),
        // No node has such a name: the edge leads nowhere.
        Value::Bool(true) => Ok(vec![Target::node("True")]),
        Value::Bool(false) => Ok(vec![Target::node("False")]),
        other => Ok(vec![Target::node(other.to_string())]),
    }
}

/// Builds the command that an action or an operation describes.
pub(crate) fn command(spec: &Value, scope: &Scope) -> Result<Command, NodeError> {
    let update = match (spec.get("pairs"), spec.get("update")) {
        (Some(pairs), _) => {
            let pairs: Vec<Value> = pairs
                .as_array()
                .into_iter()
                .flatten()
                .map(|pair| json!([pair[0], thaw(compute(&pair[1], scope))]))
                .collect();
            Some(Value::from(pairs).into())
        }
        (None, Some(update)) => Some(thaw(compute(update, scope)).into()),
        (None, None) => None,
    };
    Ok(Command {
        update,
        goto: match spec.get("goto") {
            Some(goto) => targets(&compute(goto, scope))?,
            None => Vec::new(),
        },
        graph: match spec.get("graph") {
            Some(_) => CommandGraph::Parent,
            None => CommandGraph::Current,
        },
        resume: spec
            .get("resume")
            .map(|answer| thaw(compute(answer, scope)).into()),
    })
}

/// The parts of what a node returns; updates written one after the other are one part.
#[derive(Default)]
struct Parts {
    done: Vec<NodeOutput>,
    open: Option<serde_json::Map<String, Value>>,
}

impl Parts {
    fn write(&mut self, values: Value) {
        match values {
            Value::Object(values) => self.open.get_or_insert_default().extend(values),
            other => self.push(NodeOutput::Update(other.into())),
        }
    }
    fn push(&mut self, part: NodeOutput) {
        self.close();
        self.done.push(part);
    }
    fn close(&mut self) {
        if let Some(values) = self.open.take() {
            self.done.push(NodeOutput::Update(Value::Object(values).into()));
        }
    }
    fn output(mut self) -> NodeOutput {
        self.close();
        match self.done.len() {
            0 => NodeOutput::none(),
            1 => self.done.remove(0),
            _ => NodeOutput::Many(self.done),
        }
    }
}

/// Adds what a node reads of its run to the scope: the context, and the configuration.
fn around(context: &NodeContext, scope: &mut Scope) {
    let configurable = superstep::Value::Object(context.configurable().clone());
    let tags: Vec<&str> = context.tags().iter().map(|tag| &**tag).collect();
    let config = json!({
        "configurable": Value::from(configurable),
        "tags": tags,
        "metadata": Value::from(context.metadata()),
    });
    scope.insert("context".into(), context.context().into());
    scope.insert("config".into(), config);
}

fn extend(scope: &mut Scope, list: &str, item: Value) {
    if let Some(Value::Array(items)) = scope.get_mut(list) {
        items.push(item);
    }
}

impl Body {
    /// Performs the actions; `scope` says what their expressions see.
    pub(crate) async fn run(&self, context: &NodeContext, mut scope: Scope) -> Result<NodeOutput, NodeError> {
        let runs = scope.get("runs").and_then(Value::as_u64).unwrap_or_default();
        scope.insert("answers".into(), json!([]));
        scope.insert("results".into(), json!([]));
        around(context, &mut scope);
        let mut parts = Parts::default();
        for action in self.actions.iter() {
            if action
                .get("if")
                .is_some_and(|which| !holds(&compute(which, &scope)))
            {
                continue;
            }
            let given = |name: &str| action.get(name).map(|value| compute(value, &scope));
            if let Some(values) = given("write") {
                parts.write(thaw(values));
            } else if let Some(values) = given("also") {
                parts.push(NodeOutput::Update(thaw(values).into()));
            } else if let Some(packet) = given("return").filter(|value| value.get("send").is_some()) {
                for target in targets(&packet)? {
                    parts.push(NodeOutput::from(target));
                }
            } else if let Some(value) = given("return") {
                parts.push(NodeOutput::Update(thaw(value).into()));
            } else if let Some(both) = given("final") {
                return Ok(NodeOutput::Final {
                    value: both[0].clone().into(),
                    save: both[1].clone().into(),
                });
            } else if let Some(spec) = action.get("command") {
                parts.push(NodeOutput::Command(command(spec, &scope)?));
            } else if let Some(question) = action.get("ask") {
                let answer = loop {
                    let answer = Value::from(context.interrupt(thaw(compute(question, &scope)))?);
                    scope.insert("answer".into(), answer.clone());
                    extend(&mut scope, "answers", answer.clone());
                    if action
                        .get("until")
                        .is_none_or(|until| holds(&compute(until, &scope)))
                    {
                        break answer;
                    }
                };
                if let Some(key) = action.get("into").and_then(Value::as_str) {
                    parts.write(json!({key: answer}));
                }
            } else if let Some(class) = action.get("fail").and_then(Value::as_str) {
                if runs <= action.get("times").and_then(Value::as_u64).unwrap_or(u64::MAX) {
                    let message = given("message").unwrap_or_else(|| "boom".into());
                    return Err(NodeError::new(class, message.as_str().unwrap_or_default()));
                }
            } else if let Some(pause) = given("sleep") {
                tokio::time::sleep(Duration::from_millis(pause.as_u64().unwrap_or_default())).await;
            } else if let Some(item) = given("emit") {
                context.emit(item).await;
            } else if let Some(chunks) = given("model") {
                let id = self.world.message_id();
                for chunk in chunks.as_array().into_iter().flatten() {
                    let mut whole = json!({
                        "type": "AIMessageChunk", "id": id, "name": null, "content": "", "additional_kwargs": {},
                        "response_metadata": {}, "tool_calls": [], "invalid_tool_calls": [], "tool_call_chunks": [],
                        "usage_metadata": null, "chunk_position": null,
                    });
                    for (field, value) in chunk.as_object().into_iter().flatten() {
                        whole[field] = value.clone();
                    }
                    context.message(superstep::Value::from(whole)).await;
                }
                scope.insert("said".into(), id.into());
            } else if let Some(spec) = given("store") {
                let answer = use_store(context.store(), &spec).await?;
                extend(&mut scope, "results", answer);
            } else if let Some(note) = given("note") {
                self.world.notes.lock().push(json!([self.name, note]));
            } else if let Some(name) = action.get("graph").and_then(Value::as_str) {
                let graph = self.world.graph(name).ok_or_else(|| missing(name))?;
                let input = match given("with").unwrap_or_else(|| scope["state"].clone()) {
                    Value::Null => Input::Continue,
                    value => Input::Value(value.into()),
                };
                let own = superstep::Value::from(given("context").unwrap_or_default());
                let result = context.invoke_with_context(&graph, input, own).await?;
                extend(&mut scope, "results", result.into());
            } else if let Some(calls) = action.get("call").and_then(Value::as_array) {
                let mut handles = Vec::new();
                for call in calls {
                    let name = call[0].as_str().unwrap_or_default();
                    let task = self.world.task(name).ok_or_else(|| missing(name))?;
                    let argument = compute(&call[1], &scope)[0].clone();
                    handles.push(context.call(&task, argument));
                }
                if action.get("await") == Some(&json!(false)) {
                    continue;
                }
                for handle in handles {
                    let result = match handle.await {
                        Ok(result) => result.into(),
                        Err(NodeError::Failed(failure)) if action.get("catch").is_some() => {
                            format!("{}('{}')", failure.class, failure.message).into()
                        }
                        Err(error) => return Err(error),
                    };
                    extend(&mut scope, "results", result);
                }
            } else {
                return Err(NodeError::new("InvalidCase", format!("unknown action {action}")));
            }
        }
        Ok(parts.output())
    }

    /// Runs the body of a node.
    pub(crate) async fn node(
        self,
        context: NodeContext,
        input: superstep::Value,
    ) -> Result<NodeOutput, NodeError> {
        let mut scope = Scope::new();
        scope.insert("state".into(), input.into());
        scope.insert("runs".into(), self.world.begin(&self.name).into());
        scope.insert("previous".into(), context.previous().into());
        self.run(&context, scope).await
    }
}

fn missing(name: &str) -> NodeError {
    NodeError::new("KeyError", name)
}

impl Body {
    /// Runs the body of a task.
    pub(crate) async fn task(
        self,
        context: NodeContext,
        args: superstep::Value,
    ) -> Result<superstep::Value, NodeError> {
        let mut scope = Scope::new();
        scope.insert("state".into(), Value::Null);
        scope.insert("args".into(), json!([Value::from(args)]));
        scope.insert("runs".into(), self.world.begin(&self.name).into());
        match self.run(&context, scope).await? {
            NodeOutput::Update(value) => Ok(value),
            _ => Err(NodeError::new("InvalidCase", "a task returns one value")),
        }
    }

    /// Runs the body of a handler for a failed node.
    pub(crate) async fn handle(
        self,
        context: NodeContext,
        input: superstep::Value,
        failed: NodeFailed,
    ) -> Result<NodeOutput, NodeError> {
        let mut scope = Scope::new();
        scope.insert("state".into(), input.into());
        scope.insert("runs".into(), self.world.begin(&self.name).into());
        let shown = format!("{}('{}')", failed.error.class, failed.error.message);
        scope.insert("error".into(), json!({"node": &*failed.node, "error": shown}));
        self.run(&context, scope).await
    }
}

/// A router: what it does first, then where it leads.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) before: Option<Body>,
    pub(crate) edge: Value,
}

impl Route {
    pub(crate) async fn run(
        self,
        context: NodeContext,
        state: superstep::Value,
    ) -> Result<Vec<Target>, NodeError> {
        let mut scope = Scope::new();
        scope.insert("state".into(), state.into());
        around(&context, &mut scope);
        if let Some(body) = &self.before {
            let mut inner = scope.clone();
            inner.insert("runs".into(), body.world.count(&body.name).into());
            body.run(&context, inner).await?;
        }
        let edge = &self.edge;
        if let Some(route) = edge.get("route") {
            return targets(&compute(route, &scope));
        }
        if let Some(when) = edge.get("when") {
            let end = json!("__end__");
            return targets(if holds(&compute(when, &scope)) {
                &edge["to"]
            } else {
                &end
            });
        }
        let items = compute(&edge["each"], &scope);
        let packet = |item: &Value| {
            let mut inner = scope.clone();
            inner.insert("item".into(), item.clone());
            let mut arg = serde_json::Map::new();
            arg.insert(edge["as"].as_str().unwrap_or_default().into(), item.clone());
            for (key, value) in edge.get("with").and_then(Value::as_object).into_iter().flatten() {
                arg.insert(key.clone(), compute(value, &inner));
            }
            Target::send(edge["to"].as_str().unwrap_or_default(), Value::Object(arg))
        };
        Ok(items.as_array().into_iter().flatten().map(packet).collect())
    }
}
