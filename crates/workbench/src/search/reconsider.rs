//! What a conditional edge would have decided with another expression: evaluated on what its routers saw, at each decision
//! that is stored of it.

use std::collections::{BTreeSet, HashMap};

use superstep::checkpoint::reserved::{RECORD, is_control};
use superstep::checkpoint::{Decision, PendingWrite, TaskRecord};
use superstep::value::Object;
use superstep::{END, Graph, Value};
use superstep_document::{Document, Edge};
use superstep_nodes::expression::{Expression, Scope};

use super::condition::UnknownSteps;
use super::desk::Reading;
use super::edges::by_task;
use super::thread_history::{NeededParts, ThreadHistory};
use crate::base::values;
use crate::session::node_of;
use crate::threads::is_state_key;
use crate::wire::{ChangedDecision, Evaluated, Led, Problem, ReconsiderEdge};
use superstep_document::text;

/// An edge with another expression.
#[derive(Debug)]
pub(super) struct Draft {
    edge: String,
    form: Edge,
    expression: Expression,
    pub(super) since: Option<String>,
}

/// Decisions found in one thread.
#[derive(Debug, Default)]
pub(super) struct Reconsidered {
    pub(super) decisions: u64,
    pub(super) not_recorded: u64,
    pub(super) changed: Vec<ChangedDecision>,
}

/// A task that decided.
struct Decided<'a> {
    past: &'a ThreadHistory<'a>,
    /// The checkpoint from which its step began, with its state.
    place: usize,
    state: &'a Object,
    writes: Vec<&'a PendingWrite>,
    /// The step had other tasks.
    beside: bool,
    /// The checkpoint that the step led to, if it has ended.
    child: Option<usize>,
}

impl Draft {
    pub(super) fn compile(document: &Document, request: &ReconsiderEdge) -> Result<Self, Problem> {
        let found = document.edges().find(|(id, _)| *id == request.edge);
        let Some((id, form)) = found else {
            return Err(
                Problem::not_found(text!("The graph has no edge `{edge}`.", edge = &request.edge))
                    .remedy(text!("Name an edge by its id, such as `check->retry`.")),
            );
        };
        if !form.is_conditional() {
            return Err(Problem::invalid(text!(
                "The edge `{id}` decides nothing: it has no expression.",
                id
            ))
            .remedy(text!("Choose an edge with a condition, a route or a list.")));
        }
        let expression = Expression::compile(&request.expression, "the expression")
            .map_err(|error| Problem::invalid(error.message.clone()).remedy(error.remedy))?;
        if expression.uses().names.contains("context") {
            return Err(Problem::invalid(text!(
                "The expression uses the run context, which is not stored with threads."
            ))
            .remedy(text!("Use the state alone to ask what would have been decided.")));
        }
        Ok(Self {
            edge: id.to_owned(),
            form,
            expression,
            since: request.since.clone().filter(|since| !since.is_empty()),
        })
    }

    /// Returns the decisions of a thread, the newest first.
    pub(super) async fn run(
        &self,
        reading: &Reading,
        unknown: &mut UnknownSteps,
    ) -> Result<Reconsidered, Problem> {
        let (saver, directory) = (&*reading.saver, &*reading.directory);
        let mut past = ThreadHistory::read(saver, directory, &reading.summary, &NeededParts::Whole).await?;
        let sources: BTreeSet<&str> = self.form.sources().into_iter().collect();
        let children: HashMap<usize, usize> = (0..past.heads.len())
            .filter(|place| !past.ran(*place).is_empty())
            .filter_map(|place| Some((past.parent(place)?, place)))
            .collect();
        let mut graph: Option<Option<Graph>> = None;
        let mut found = Reconsidered::default();
        let mut from = 0;
        while from < past.heads.len() {
            for checkpoint in past.chunk(from, directory).await? {
                let at = &past.heads[checkpoint.place].ts;
                if self.since.as_ref().is_some_and(|since| at < since) {
                    continue;
                }
                let tasks = by_task(&checkpoint.writes);
                let beside = past.heads[checkpoint.place].next.len() > 1;
                for writes in tasks.into_values() {
                    let Some(decision) = self.decision(&writes) else {
                        let ran = writes.first().and_then(|write| node_of(&write.task_path));
                        let ended = writes.iter().any(|write| !is_control(&write.write.channel));
                        let missing = ended && ran.is_some_and(|node| sources.contains(node));
                        found.not_recorded += u64::from(missing);
                        continue;
                    };
                    let task = Decided {
                        past: &past,
                        place: checkpoint.place,
                        state: &checkpoint.state,
                        writes,
                        beside,
                        child: children.get(&checkpoint.place).copied(),
                    };
                    if graph.is_none() {
                        graph = Some(directory.graph(&reading.summary).await);
                    }
                    match self.again(&task, graph.as_ref().and_then(Option::as_ref)) {
                        Err(message) => unknown.note_message(Some(&message)),
                        Ok((now, result)) => {
                            found.decisions += 1;
                            let was = led(&decision);
                            if was != now {
                                found.changed.push(changed(reading, &task, was, now, &result));
                            }
                        }
                    }
                }
            }
            from = past.next(from);
        }
        found.changed.reverse();
        Ok(found)
    }

    /// Returns the decision of a task at this edge.
    fn decision(&self, writes: &[&PendingWrite]) -> Option<Decision> {
        let record = writes.iter().find(|write| &*write.write.channel == RECORD)?;
        let decisions = TaskRecord::from_value(&record.write.value).decisions;
        let is_own = |decision: &Decision| decision.edge.as_deref() == Some(self.edge.as_str());
        decisions.into_iter().find(is_own)
    }

    /// Evaluates where the edge would lead.
    fn again(&self, task: &Decided<'_>, graph: Option<&Graph>) -> Result<(Led, Value), String> {
        let scope = Scope::new(&task.seen(graph)?);
        let failed = |error: superstep_nodes::expression::ExpressionError| error.message;
        match &self.form {
            Edge::When { to, .. } => {
                let follow = self.expression.truth(&scope).map_err(failed)?;
                let to: &[&str] = if follow { &[to] } else { &[] };
                Ok((nodes(to.iter().copied()), follow.into()))
            }
            Edge::Route { paths, default, .. } => {
                let result = self.expression.eval(&scope).map_err(failed)?;
                let labels = match &result {
                    Value::Array(labels) => labels.iter().cloned().collect(),
                    label => vec![label.clone()],
                };
                let mut to = Vec::new();
                for label in &labels {
                    let label = match label {
                        Value::String(label) => label.to_string(),
                        Value::Bool(_) | Value::Number(_) => label.to_string(),
                        other => return Err(format!("The expression gives {other}, which is no label.")),
                    };
                    let path = paths.iter().find(|(known, _)| *known == label).map(|(_, to)| to);
                    let missing = || format!("The label `{label}` has no path.");
                    to.push(path.or(default.as_ref()).ok_or_else(missing)?.as_str());
                }
                Ok((nodes(to), result))
            }
            Edge::Each { to, .. } => {
                let items = self.expression.list(&scope).map_err(failed)?;
                let packets = u32::try_from(items.len()).unwrap_or(u32::MAX);
                let to: &[&str] = if packets > 0 { &[to] } else { &[] };
                let led = Led {
                    packets,
                    ..nodes(to.iter().copied())
                };
                Ok((led, i64::from(packets).into()))
            }
            Edge::Plain { .. } | Edge::Join { .. } | Edge::Limit { .. } => {
                Err("The edge decides nothing.".to_owned())
            }
        }
    }
}

impl Decided<'_> {
    /// Returns the state that the edge saw: that of the step's beginning, with the writes of the task itself.
    fn seen(&self, graph: Option<&Graph>) -> Result<Value, String> {
        let own = self.writes.iter().map(|write| &write.write);
        let own: Vec<_> = own
            .filter(|write| is_state_key(&write.channel) && !is_control(&write.channel))
            .collect();
        if own.is_empty() {
            return Ok(Value::Object(self.state.clone()));
        }
        let Some(graph) = graph else {
            let among = if self.beside { " beside others" } else { "" };
            return Err(format!(
                "What a task wrote{among} cannot be joined with its state: the graph of the thread is gone."
            ));
        };
        let writes = own.iter().map(|write| (&write.channel, &write.value));
        graph
            .seen_by_edges(self.state, writes)
            .map_err(|error| error.to_string())
    }
}

/// Returns the nodes in a fixed order, without the end.
fn nodes<'a>(to: impl IntoIterator<Item = &'a str>) -> Led {
    let to: BTreeSet<&str> = to.into_iter().filter(|to| *to != END).collect();
    Led {
        to: to.into_iter().map(str::to_owned).collect(),
        packets: 0,
    }
}

fn led(decision: &Decision) -> Led {
    Led {
        packets: u32::try_from(decision.packets).unwrap_or(u32::MAX),
        ..nodes(decision.to.iter().map(|to| &**to))
    }
}

fn changed(reading: &Reading, task: &Decided<'_>, was: Led, now: Led, result: &Value) -> ChangedDecision {
    let head = &task.past.heads[task.child.unwrap_or(task.place)];
    ChangedDecision {
        thread_id: reading.summary.thread.to_string(),
        title: reading.listed.title.clone(),
        status: reading.listed.status,
        checkpoint_id: head.id.to_string(),
        step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
        at: head.ts.clone(),
        was,
        now,
        result: Evaluated {
            value: Some(values::view(result)),
            message: None,
        },
    }
}
