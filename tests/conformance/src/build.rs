//! The graph of a case, built with the engine's public API.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use superstep::graph::{
    BinaryOp, CachePolicy, CompileError, DeltaReducer, Entrypoint, ErrorHandler, Managed, MemoryCache,
    NodeFailed, Persistence, RefreshOn, TaskFn, Timeout,
};
use superstep::value::{List, Object};
use superstep::{Branch, ChannelSpec, Graph, NodeContext, NodeOptions, RetryPolicy, StateGraph};

use crate::Refusal;
use crate::body::{Body, Route, World, actions};
use crate::declared::context_schema;
use crate::expression::{Scope, compute};
use crate::reducers;

/// Reason why there is no graph.
pub(crate) enum Unbuilt {
    Refused(Refusal),
    Compile(CompileError),
}

impl From<Refusal> for Unbuilt {
    fn from(refusal: Refusal) -> Self {
        Unbuilt::Refused(refusal)
    }
}

pub(crate) fn unsupported(what: impl Into<String>) -> Refusal {
    Refusal::Unsupported(what.into())
}

fn invalid(why: impl Into<String>) -> Refusal {
    Refusal::Invalid(why.into())
}

pub(crate) fn text<'a>(spec: &'a Value, field: &str) -> Option<&'a str> {
    spec.get(field).and_then(Value::as_str)
}

/// Returns the texts of a field that is one text or a list of texts.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Refuses fields that nobody reads: a case must not pass because half of it was overlooked.
fn known(spec: &Value, fields: &[&str], of: &str) -> Result<(), Refusal> {
    match spec
        .as_object()
        .into_iter()
        .flatten()
        .find(|(key, _)| !fields.contains(&key.as_str()))
    {
        Some((key, _)) => Err(unsupported(format!("`{key}` of {of}"))),
        None => Ok(()),
    }
}

fn operator(name: &str) -> Result<BinaryOp, Refusal> {
    Ok(match name {
        "add" => BinaryOp::Add,
        "multiply" => BinaryOp::Multiply,
        "min" => BinaryOp::Min,
        "max" => BinaryOp::Max,
        "and" => BinaryOp::And,
        "or" => BinaryOp::Or,
        "append" => BinaryOp::Append,
        "merge" => BinaryOp::Merge,
        "union" => BinaryOp::Union,
        other => {
            return reducers::operator(other).ok_or_else(|| invalid(format!("there is no reducer {other}")));
        }
    })
}

fn empty(kind: Option<&str>) -> Option<superstep::Value> {
    Some(match kind? {
        "array" => List::new().into(),
        "object" => Object::new().into(),
        "string" => "".into(),
        "integer" => 0.into(),
        "number" => 0.0.into(),
        "boolean" => false.into(),
        _ => return None,
    })
}

fn delta(spec: &Value, reducer: &str) -> Result<ChannelSpec, Refusal> {
    let frequency = spec
        .get("snapshot_frequency")
        .and_then(Value::as_u64)
        .unwrap_or(100) as u32;
    let channel = match reducer {
        "add_messages" => ChannelSpec::delta(DeltaReducer::Messages, frequency),
        name => ChannelSpec::delta(DeltaReducer::Op(operator(name)?), frequency),
    };
    Ok(match empty(text(spec, "type")) {
        Some(empty) => channel.with_default(empty),
        None => channel,
    })
}

fn channel(spec: &Value) -> Result<ChannelSpec, Refusal> {
    known(
        spec,
        &["type", "reducer", "channel", "empty", "snapshot_frequency"],
        "a state key",
    )?;
    match (text(spec, "channel"), text(spec, "reducer")) {
        (Some("ephemeral"), _) => Ok(ChannelSpec::ephemeral()),
        (Some("ephemeral_any"), _) => Ok(ChannelSpec::ephemeral_any()),
        (Some("topic"), _) => Ok(ChannelSpec::topic()),
        (Some("topic_accumulate"), _) => Ok(ChannelSpec::topic().accumulate()),
        (Some("any_value"), _) => Ok(ChannelSpec::any_value()),
        (Some("delta"), reducer) => delta(spec, reducer.unwrap_or("append")),
        (Some("untracked"), _) => Ok(ChannelSpec::untracked()),
        (Some("untracked_any"), _) => Ok(ChannelSpec::untracked_any()),
        (Some(other), _) => Err(unsupported(format!("the channel {other}"))),
        (None, None | Some("overwrite")) => Ok(ChannelSpec::last_value()),
        (None, Some("add_messages")) => Ok(ChannelSpec::add_messages()),
        (None, Some(name)) => {
            let starts_empty =
                spec.get("empty") != Some(&json!(false)) && !matches!(name, "multiply" | "min" | "max");
            let default = if starts_empty {
                empty(text(spec, "type"))
            } else {
                None
            };
            Ok(ChannelSpec::binary(operator(name)?, default))
        }
    }
}

/// Returns the nodes in order: from an object, or from pairs where a name occurs twice.
fn nodes(graph: &Value) -> Vec<(String, Value)> {
    match graph.get("nodes") {
        Some(Value::Object(nodes)) => nodes
            .iter()
            .map(|(name, node)| (name.clone(), node.clone()))
            .collect(),
        Some(Value::Array(pairs)) => pairs
            .iter()
            .map(|pair| (pair[0].as_str().unwrap_or_default().to_owned(), pair[1].clone()))
            .collect(),
        _ => Vec::new(),
    }
}

const ACTIONS: [&str; 23] = [
    "if", "write", "also", "return", "command", "ask", "until", "into", "fail", "times", "message", "sleep",
    "emit", "note", "graph", "with", "call", "await", "catch", "final", "model", "store", "context",
];

fn check_actions(actions: &[Value]) -> Result<(), Refusal> {
    for action in actions {
        known(action, &ACTIONS, "a node's actions")?;
    }
    Ok(())
}

/// Builds the graph of a case: its tasks first, then the graphs that it contains, in order, then itself.
pub(crate) fn build(spec: &Value, world: &Arc<World>) -> Result<Graph, Unbuilt> {
    for (name, one) in spec.get("tasks").and_then(Value::as_object).into_iter().flatten() {
        world.add_task(name, task(name, one, world)?);
    }
    for (name, one) in spec
        .get("graphs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let persistence = match text(one, "persistence") {
            Some("stateful") => Persistence::Stateful,
            Some("off") => Persistence::Off,
            _ => Persistence::Inherit,
        };
        let inner = build_one(one, world)?;
        world.add_graph(name, inner.with_persistence(persistence));
    }
    build_one(spec, world)
}

fn task(name: &str, spec: &Value, world: &Arc<World>) -> Result<TaskFn, Refusal> {
    known(spec, &["do", "retry", "cache"], "a task")?;
    let body = Body {
        world: world.clone(),
        name: name.to_owned(),
        actions: actions(spec.get("do")),
    };
    check_actions(&body.actions)?;
    let mut options = NodeOptions::new();
    for policy in retries(spec.get("retry"))? {
        options = options.retry(policy);
    }
    if let Some(policy) = spec.get("cache") {
        options = options.cache(cache(policy)?);
    }
    let work = move |context: NodeContext, args: superstep::Value| body.clone().task(context, args);
    Ok(TaskFn::new(name, work).options(options))
}

fn build_one(spec: &Value, world: &Arc<World>) -> Result<Graph, Unbuilt> {
    known(
        spec,
        &[
            "name",
            "state",
            "private",
            "cache",
            "node_defaults",
            "graphs",
            "tasks",
            "persistence",
            "root",
            "entrypoint",
            "input",
            "output",
            "nodes",
            "edges",
            "checkpointer",
            "interrupt_before",
            "interrupt_after",
            "context",
            "store",
            "step_timeout",
        ],
        "a graph",
    )?;
    if let Some(one) = spec.get("entrypoint") {
        known(one, &["name", "do", "retry", "cache"], "an entry point")?;
        return Ok(given(entrypoint(one, spec, world)?, spec));
    }
    let mut graph = StateGraph::new();
    if let Some(declared) = spec.get("context") {
        known(declared, &["fields", "typed"], "a context")?;
        graph = graph.context(context_schema(declared));
    }
    for (key, one) in spec
        .get("state")
        .and_then(Value::as_object)
        .unwrap_or(&Map::new())
    {
        graph = match text(one, "managed") {
            Some("is_last_step") => graph.managed(key.as_str(), Managed::IsLastStep),
            Some(_) => graph.managed(key.as_str(), Managed::RemainingSteps),
            None => graph.channel(key.as_str(), channel(one)?),
        };
    }
    for (key, one) in spec
        .get("private")
        .and_then(Value::as_object)
        .unwrap_or(&Map::new())
    {
        graph = graph.private_channel(key.as_str(), channel(one)?);
    }
    if let Some(one) = spec.get("root") {
        graph = graph.root(channel(one)?);
    }
    if spec.get("input").is_some() {
        graph = graph.input_keys(texts(spec.get("input")));
    }
    if spec.get("output").is_some() {
        graph = graph.output_keys(texts(spec.get("output")));
    }
    for (name, node) in nodes(spec) {
        // LangGraph needs to know where commands lead; here every node can be reached.
        known(
            &node,
            &[
                "do",
                "input",
                "defer",
                "destinations",
                "retry",
                "timeout",
                "cache",
                "on_error",
                "graph",
            ],
            "a node",
        )?;
        let body = Body {
            world: world.clone(),
            name: name.clone(),
            actions: actions(node.get("do")),
        };
        check_actions(&body.actions)?;
        let mut options = NodeOptions::new().defer(node.get("defer") == Some(&json!(true)));
        if node.get("input").is_some() {
            options = options.input(texts(node.get("input")));
        }
        if node.get("destinations").is_some() {
            options = options.destinations(texts(node.get("destinations")));
        }
        for policy in retries(node.get("retry"))? {
            options = options.retry(policy);
        }
        if let Some(timeout) = node.get("timeout") {
            options = options.timeout(as_timeout(timeout)?);
        }
        if let Some(policy) = node.get("cache") {
            options = options.cache(cache(policy)?);
        }
        if node.get("on_error").is_some() {
            options = options.error_handler(handler(
                world,
                format!("__error_handler__{name}"),
                node.get("on_error"),
            )?);
        }
        if let Some(inner) = text(&node, "graph") {
            let inner = world
                .graph(inner)
                .ok_or_else(|| invalid(format!("there is no graph {inner}")))?;
            graph = graph.subgraph_with(name, &inner, options);
            continue;
        }
        let run = move |context: NodeContext, input: superstep::Value| body.clone().node(context, input);
        graph = graph.node_with(name, Arc::new(run), options);
    }
    if let Some(defaults) = spec.get("node_defaults") {
        graph = add_defaults(graph, defaults, world)?;
    }
    for edge in spec.get("edges").and_then(Value::as_array).into_iter().flatten() {
        graph = add_edge(graph, edge, world)?;
    }
    Ok(given(graph.compile().map_err(Unbuilt::Compile)?, spec))
}

/// Returns the graph with what LangGraph is given when it compiles one.
fn given(mut graph: Graph, spec: &Value) -> Graph {
    if spec.get("interrupt_before").is_some() {
        graph = graph.with_interrupt_before(texts(spec.get("interrupt_before")));
    }
    if spec.get("interrupt_after").is_some() {
        graph = graph.with_interrupt_after(texts(spec.get("interrupt_after")));
    }
    match spec.get("cache") {
        Some(Value::Bool(true)) => graph.with_cache(Arc::new(MemoryCache::new(1000))),
        _ => graph,
    }
}

fn entrypoint(spec: &Value, graph: &Value, world: &Arc<World>) -> Result<Graph, Unbuilt> {
    let body = Body {
        world: world.clone(),
        name: text(spec, "name").unwrap_or_default().to_owned(),
        actions: actions(spec.get("do")),
    };
    check_actions(&body.actions)?;
    let mut options = NodeOptions::new();
    for policy in retries(spec.get("retry"))? {
        options = options.retry(policy);
    }
    if let Some(policy) = spec.get("cache") {
        options = options.cache(cache(policy)?);
    }
    let name = body.name.clone();
    let work = move |context: NodeContext, input: superstep::Value| body.clone().node(context, input);
    let mut entry = Entrypoint::new(name, work).options(options);
    if let Some(declared) = graph.get("context") {
        entry = entry.context(context_schema(declared));
    }
    entry.compile().map_err(Unbuilt::Compile)
}

fn add_defaults(mut graph: StateGraph, defaults: &Value, world: &Arc<World>) -> Result<StateGraph, Refusal> {
    known(
        defaults,
        &["retry", "timeout", "cache", "on_error"],
        "the defaults of nodes",
    )?;
    for policy in retries(defaults.get("retry"))? {
        graph = graph.default_retry(policy);
    }
    if let Some(timeout) = defaults.get("timeout") {
        graph = graph.default_timeout(as_timeout(timeout)?);
    }
    if let Some(policy) = defaults.get("cache") {
        graph = graph.default_cache(cache(policy)?);
    }
    if let Some(actions) = defaults.get("on_error") {
        graph =
            graph.default_error_handler(handler(world, "__default_error_handler__".into(), Some(actions))?);
    }
    Ok(graph)
}

fn seconds(value: &Value) -> Duration {
    Duration::from_secs_f64(value.as_f64().unwrap_or_default())
}

fn retries(spec: Option<&Value>) -> Result<Vec<RetryPolicy>, Refusal> {
    let Some(spec) = spec else { return Ok(Vec::new()) };
    let all = match spec {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let policy = |one: &Value| {
        known(
            one,
            &[
                "max_attempts",
                "initial_interval",
                "backoff_factor",
                "max_interval",
                "jitter",
                "retry_on",
            ],
            "a retry policy",
        )?;
        let mut policy = RetryPolicy::default();
        if let Some(attempts) = one.get("max_attempts").and_then(Value::as_u64) {
            policy.max_attempts = attempts as u32;
        }
        if let Some(interval) = one.get("initial_interval") {
            policy.initial_interval = seconds(interval);
        }
        if let Some(factor) = one.get("backoff_factor").and_then(Value::as_f64) {
            policy.backoff_factor = factor;
        }
        if let Some(interval) = one.get("max_interval") {
            policy.max_interval = seconds(interval);
        }
        policy.jitter = one.get("jitter") != Some(&json!(false));
        Ok(match one.get("retry_on") {
            Some(classes) => policy.on(texts(Some(classes))),
            None => policy,
        })
    };
    all.iter().map(policy).collect()
}

fn as_timeout(spec: &Value) -> Result<Timeout, Refusal> {
    known(spec, &["run", "idle", "refresh_on"], "a timeout")?;
    let refresh_on = match text(spec, "refresh_on") {
        Some("heartbeat") => RefreshOn::Heartbeat,
        _ => RefreshOn::Auto,
    };
    Ok(Timeout::run(spec.get("run").map(seconds))
        .and_idle(spec.get("idle").map(seconds))
        .refresh_on(refresh_on))
}

fn cache(spec: &Value) -> Result<CachePolicy, Refusal> {
    known(spec, &["ttl", "key"], "a cache policy")?;
    let mut policy = CachePolicy::new();
    if let Some(ttl) = spec.get("ttl") {
        policy = policy.ttl(seconds(ttl));
    }
    if let Some(key) = spec.get("key").cloned() {
        policy = policy.key(move |input| {
            let mut scope = Scope::new();
            scope.insert("state".into(), input.into());
            compute(&key, &scope).into()
        });
    }
    Ok(policy)
}

fn handler(world: &Arc<World>, name: String, list: Option<&Value>) -> Result<impl ErrorHandler, Refusal> {
    let body = Body {
        world: world.clone(),
        name,
        actions: actions(list),
    };
    check_actions(&body.actions)?;
    Ok(
        move |context: NodeContext, input: superstep::Value, failed: NodeFailed| {
            let body = body.clone();
            async move { body.handle(context, input, failed).await }
        },
    )
}

fn add_edge(graph: StateGraph, edge: &Value, world: &Arc<World>) -> Result<StateGraph, Refusal> {
    let from = text(edge, "from");
    if !["route", "when", "each"]
        .iter()
        .any(|form| edge.get(form).is_some())
    {
        let to = text(edge, "to").ok_or_else(|| invalid(format!("{edge} leads nowhere")))?;
        return Ok(match from {
            Some(from) => graph.edge(from, to),
            None => graph.join(texts(edge.get("from")), to),
        });
    }
    let from = from.ok_or_else(|| invalid(format!("{edge} begins nowhere")))?;
    let name = text(edge, "name").unwrap_or("route");
    let before = edge.get("do").map(|list| Body {
        world: world.clone(),
        name: format!("{from}/{name}"),
        actions: actions(Some(list)),
    });
    if let Some(body) = &before {
        check_actions(&body.actions)?;
    }
    let route = Route {
        before,
        edge: edge.clone(),
    };
    let router = move |context: NodeContext, state: superstep::Value| route.clone().run(context, state);
    let mut branch = Branch::new(router).named(name);
    for (label, target) in edge.get("paths").and_then(Value::as_object).into_iter().flatten() {
        branch = branch.path(label.as_str(), target.as_str().unwrap_or_default());
    }
    Ok(graph.branch(from, branch))
}
