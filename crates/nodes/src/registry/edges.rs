//! Conditional edges: expressions that choose where to go, as routers of the engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use superstep::graph::Router;
use superstep::value::Object;
use superstep::{Branch, NodeContext, NodeError, StateGraph, Target, Value, async_trait};
use superstep_document::Edge;

use crate::base::error_class;
use crate::expression::{Expression, ExpressionError, ExpressionProblem, Scope};
use superstep_document::suggest;

/// Adds an edge of the document to the graph. A branch bears the edge's id as its name.
pub(crate) fn connect(graph: StateGraph, id: &str, edge: &Edge) -> Result<StateGraph, ExpressionError> {
    let place = |field: &str| format!("`{field}` of edge {id}");
    Ok(match edge {
        Edge::Plain { from, to } => graph.edge(from.as_str(), to.as_str()),
        // It is taken in place of the node, and so belongs to its options.
        Edge::Limit { .. } => graph,
        Edge::Join { from, to } => graph.join(from.iter().map(String::as_str), to.as_str()),
        Edge::When { from, to, when } => {
            let router = WhenRouter {
                when: Expression::compile(when, place("when"))?,
                to: to.as_str().into(),
            };
            graph.branch(
                from.as_str(),
                Branch::new(router).named(id).path(to.as_str(), to.as_str()),
            )
        }
        Edge::Route {
            from,
            route,
            paths,
            default,
        } => {
            let router = LabelRouter {
                edge: id.into(),
                route: Expression::compile(route, place("route"))?,
                labels: paths.iter().map(|(label, _)| label.as_str().into()).collect(),
                open: default.is_some(),
            };
            let mut branch = Branch::new(router).named(id);
            for (label, target) in paths {
                branch = branch.path(label.as_str(), target.as_str());
            }
            if let Some(default) = default {
                branch = branch.default(default.as_str());
            }
            graph.branch(from.as_str(), branch)
        }
        Edge::Each {
            from,
            each,
            item,
            to,
            with,
        } => {
            let with = with.iter().map(|(key, source)| {
                Ok((
                    key.as_str().into(),
                    Expression::compile(source, place(&format!("with.{key}")))?,
                ))
            });
            let router = EachRouter {
                each: Expression::compile(each, place("each"))?,
                item: item.as_str().into(),
                to: to.as_str().into(),
                with: with.collect::<Result<_, ExpressionError>>()?,
            };
            graph.branch(
                from.as_str(),
                Branch::new(router).named(id).path(to.as_str(), to.as_str()),
            )
        }
    })
}

/// How long a router works without letting others work.
const TURN: Duration = Duration::from_millis(10);

/// Returns what becomes of an edge whose expression has failed, or has ended with its run.
fn ended(error: ExpressionError) -> NodeError {
    match error.problem {
        ExpressionProblem::Stopped => NodeError::Cancelled,
        _ => error.into(),
    }
}

struct WhenRouter {
    when: Expression,
    to: Arc<str>,
}

#[async_trait]
impl Router for WhenRouter {
    async fn route(&self, context: NodeContext, state: Value) -> Result<Vec<Target>, NodeError> {
        let follow = self.when.truth(&Scope::of(&context, &state)).map_err(ended)?;
        if let Some(recorder) = context.recorder() {
            recorder.decided_by(Some(self.when.source()), &follow.into());
        }
        Ok(if follow {
            vec![Target::node(self.to.clone())]
        } else {
            Vec::new()
        })
    }
}

struct LabelRouter {
    edge: Arc<str>,
    route: Expression,
    labels: Vec<Arc<str>>,
    open: bool,
}

impl LabelRouter {
    fn target(&self, value: &Value) -> Result<Target, NodeError> {
        let label: Arc<str> = match value {
            Value::String(label) => label.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string().into(),
            other => {
                return Err(self
                    .route
                    .wrong_type(superstep_document::text!("a label or a list of labels"), other)
                    .into());
            }
        };
        if self.open || self.labels.contains(&label) {
            return Ok(Target::node(label));
        }
        let known = || self.labels.iter().map(|label| &**label);
        Err(NodeError::new(
            error_class::ROUTE,
            format!(
                "edge {} got the label `{label}`, which has no path.{} Labels: {}. Add a path for it, or a default.",
                self.edge,
                suggest::did_you_mean(&label, known()),
                suggest::listing(known())
            ),
        ))
    }
}

#[async_trait]
impl Router for LabelRouter {
    async fn route(&self, context: NodeContext, state: Value) -> Result<Vec<Target>, NodeError> {
        let result = self.route.eval(&Scope::of(&context, &state)).map_err(ended)?;
        if let Some(recorder) = context.recorder() {
            recorder.decided_by(Some(self.route.source()), &result);
        }
        match result {
            Value::Array(labels) => labels.iter().map(|label| self.target(label)).collect(),
            label => Ok(vec![self.target(&label)?]),
        }
    }
}

struct EachRouter {
    each: Expression,
    item: Arc<str>,
    to: Arc<str>,
    with: Vec<(Arc<str>, Expression)>,
}

#[async_trait]
impl Router for EachRouter {
    async fn route(&self, context: NodeContext, state: Value) -> Result<Vec<Target>, NodeError> {
        let scope = Scope::of(&context, &state);
        let items = self.each.list(&scope).map_err(ended)?;
        if let Some(recorder) = context.recorder() {
            let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
            recorder.decided_by(Some(self.each.source()), &count.into());
        }
        let packet = |item: &Value| {
            let scope = scope.clone().with(self.item.clone(), item.clone());
            let mut input = Object::new();
            input.insert(self.item.clone(), item.clone());
            for (key, expression) in &self.with {
                input.insert(key.clone(), expression.eval(&scope).map_err(ended)?);
            }
            Ok::<_, NodeError>(Target::send(self.to.clone(), Value::Object(input)))
        };
        let mut packets = Vec::with_capacity(items.len());
        let mut began = Instant::now();
        for item in items.iter() {
            // Many packets are much work; a run that is stopped meanwhile need not wait for it.
            if began.elapsed() > TURN {
                tokio::task::yield_now().await;
                began = Instant::now();
                if context.is_cancelled() {
                    return Err(NodeError::Cancelled);
                }
            }
            packets.push(packet(item)?);
        }
        Ok(packets)
    }
}
