//! The script of a case, performed with the engine. The record has the shape that `python/record.py` gives.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use superstep::checkpoint::{CheckpointTuple, ListQuery};
use superstep::inspect::TaskState;
use superstep::run::{Durability, Output, StateRef};
use superstep::testing;
use superstep::{
    CheckpointId, Checkpointer, Command, Graph, Input, MemorySaver, MemoryStore, RunConfig, RunError,
    StateSnapshot, StateUpdate, Store, StreamEvent, StreamMode, ThreadId,
};
use superstep_protocol::{Projected, Projection, StreamEvents};

use crate::Refusal;
use crate::body::{World, command};
use crate::build::{Unbuilt, build, text, texts, unsupported};
use crate::expression::{Scope, compute, thaw};
use crate::store::stored_items;

const MODES: [&str; 5] = ["values", "updates", "tasks", "checkpoints", "custom"];
const LIMIT: u32 = 25;

/// Reason why an operation has no result.
enum Miss {
    /// The reference point (a checkpoint, a question) is not there: the operation is left out on both sides.
    Skip(String),
    Error(Box<RunError>),
    Refused(Refusal),
}

impl From<RunError> for Miss {
    fn from(error: RunError) -> Self {
        Miss::Error(Box::new(error))
    }
}
impl From<Refusal> for Miss {
    fn from(refusal: Refusal) -> Self {
        Miss::Refused(refusal)
    }
}

struct Session {
    graph: Graph,
    world: Arc<World>,
    saver: Option<Arc<MemorySaver>>,
    updated: Vec<StateRef>,
    threads: Vec<String>,
    step_timeout: Option<Duration>,
    store: Option<Arc<dyn Store>>,
}

/// Performs the case's script and gives the record as it came.
pub async fn perform(case: &Value) -> Result<Value, Refusal> {
    let world = Arc::new(World::default());
    let spec = &case["graph"];
    let graph = match build(spec, &world) {
        Ok(graph) => graph,
        Err(Unbuilt::Refused(refusal)) => return Err(refusal),
        Err(Unbuilt::Compile(error)) => {
            let messages: Vec<&str> = error
                .problems
                .iter()
                .map(|problem| problem.message.as_str())
                .collect();
            return Ok(json!([{"compile": {"class": "ValueError", "messages": messages}}]));
        }
    };
    let saver = (spec.get("checkpointer") != Some(&json!(false))).then(|| Arc::new(MemorySaver::new()));
    let store: Option<Arc<dyn Store>> =
        (spec.get("store") == Some(&json!(true))).then(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>);
    let graph = match &store {
        Some(store) => graph.with_store(store.clone()),
        None => graph,
    };
    let mut session = Session {
        store,
        graph: match &saver {
            Some(saver) => graph.with_checkpointer(saver.clone()),
            None => graph,
        },
        world,
        saver,
        updated: Vec::new(),
        threads: Vec::new(),
        step_timeout: spec
            .get("step_timeout")
            .and_then(Value::as_f64)
            .map(Duration::from_secs_f64),
    };
    let mut made = Vec::new();
    for op in case.get("script").and_then(Value::as_array).into_iter().flatten() {
        made.push(session.operate(op).await?);
    }
    if session.saver.is_some() {
        made.push(session.end().await);
    }
    Ok(made.into())
}

/// Converts an error to the form in which LangGraph names it; the text may say more than LangGraph's.
fn error(error: &RunError) -> Value {
    let (class, message) = match error {
        RunError::Node { failure, .. } => (failure.class.to_string(), failure.message.clone()),
        other => {
            let class = match other {
                RunError::Recursion { .. } => "GraphRecursionError",
                RunError::InvalidUpdate { .. } => "InvalidUpdateError",
                RunError::EmptyInput { .. } => "EmptyInputError",
                RunError::AmbiguousResume { .. } => "RuntimeError",
                RunError::ParentCommand { .. } => "ParentCommand",
                RunError::UnknownInterrupt { .. } => "UnknownInterruptError",
                RunError::NotPersistent { message } if message.starts_with("Cannot use") => "RuntimeError",
                RunError::InvalidContext { .. } => "TypeError",
                RunError::TimedOut { .. } => "TimeoutError",
                RunError::NotPersistent { .. } | RunError::InvalidRequest { .. } => "ValueError",
                other => other.code(),
            };
            (class.to_owned(), other.to_string())
        }
    };
    json!({"class": class, "message": message.lines().next().unwrap_or_default()})
}

impl Session {
    fn thread(&mut self, op: &Value) -> Option<ThreadId> {
        let thread = match op.get("thread") {
            Some(Value::Null) => return None,
            named => named.and_then(Value::as_str).unwrap_or("1"),
        };
        if !self.threads.iter().any(|known| known == thread) {
            self.threads.push(thread.to_owned());
        }
        Some(thread.into())
    }

    /// Finds the checkpoint that an `at` names.
    async fn find(&self, thread: &ThreadId, at: &Value) -> Result<StateRef, Miss> {
        if let Some(id) = text(at, "id") {
            return Ok(StateRef::at(thread.clone(), id));
        }
        if let Some(place) = at.get("updated").and_then(Value::as_i64) {
            let place = if place < 0 {
                place + self.updated.len() as i64
            } else {
                place
            };
            let place = usize::try_from(place)
                .ok()
                .and_then(|place| self.updated.get(place));
            return place.cloned().ok_or_else(|| Miss::Skip("no such update".into()));
        }
        let mut space = StateRef::live(thread.clone());
        match at.get("ns") {
            Some(Value::String(ns)) => space.ns = ns.as_str().into(),
            Some(path) => {
                let nth = at.get("nth").and_then(Value::as_u64).unwrap_or_default() as usize;
                space = self.below(space, &texts(Some(path)), nth).await?;
                if at.get("live").is_some() {
                    space.checkpoint_id = None;
                    return Ok(space);
                }
            }
            None => {}
        }
        if at.get("history").is_none() && at.get("step").is_none() {
            return Ok(space);
        }
        let query = ListQuery::new().ns(space.ns.clone());
        let mut entries = self.graph.get_state_history(thread, &query).await?;
        let mut wanted = at
            .get("history")
            .or(at.get("nth"))
            .and_then(Value::as_u64)
            .unwrap_or_default() as usize;
        if let Some(step) = at.get("step").and_then(Value::as_i64) {
            entries.retain(|one| {
                one.checkpoint
                    .as_ref()
                    .is_some_and(|head| head.metadata.step == step)
            });
        }
        if at.get("wrap").is_some() {
            wanted %= entries.len().max(1);
        }
        let entry = entries.get(wanted).and_then(|one| one.checkpoint.as_ref());
        let head = entry.ok_or_else(|| Miss::Skip("no such checkpoint".into()))?;
        space.checkpoint_id = Some(head.id.clone());
        Ok(space)
    }

    /// Reads the state of the graph at the end of a path of named tasks that each run a graph.
    async fn below(&self, at: StateRef, path: &[String], nth: usize) -> Result<StateRef, Miss> {
        let mut state = self.graph.get_state(&at.clone().with_subgraphs()).await?;
        for name in path {
            let inner = state
                .tasks
                .iter()
                .filter(|task| *task.name == **name)
                .filter_map(|task| match &task.state {
                    Some(TaskState::Snapshot(state)) => Some((**state).clone()),
                    _ => None,
                });
            let inner = inner.collect::<Vec<_>>().into_iter().nth(nth);
            state = inner.ok_or_else(|| Miss::Skip(format!("no state below {name}")))?;
        }
        Ok(match &state.checkpoint {
            Some(head) => StateRef::at(at.thread, head.id.clone()).within(head.ns.clone()),
            None => {
                let last = path.last().map(String::as_str).unwrap_or_default();
                return Err(Miss::Skip(format!("no state below {last}")));
            }
        })
    }

    async fn place(&mut self, op: &Value) -> Result<StateRef, Miss> {
        let thread = self
            .thread(op)
            .ok_or_else(|| unsupported("a state without a thread"))?;
        let place = match op.get("at") {
            None => StateRef::live(thread),
            Some(at) => self.find(&thread, at).await?,
        };
        Ok(match op.get("subgraphs") {
            Some(Value::Bool(true)) => place.with_subgraphs(),
            _ => place,
        })
    }

    async fn input(&mut self, op: &Value) -> Result<Input, Miss> {
        let Some(spec) = op.get("command") else {
            return Ok(match thaw(compute(&op["input"], &Scope::new())) {
                Value::Null => Input::Continue,
                value => Input::Value(value.into()),
            });
        };
        let mut spec = spec.clone();
        if let Some(answers) = spec.pointer("/resume/ids").and_then(Value::as_object).cloned() {
            let thread = self
                .thread(op)
                .ok_or_else(|| unsupported("a state without a thread"))?;
            let waiting = self.graph.get_state(&StateRef::live(thread)).await?.interrupts;
            let by_id: Map<String, Value> = answers
                .into_iter()
                .filter_map(|(k, value)| {
                    let question = waiting.get(k.parse::<usize>().ok()?)?;
                    Some((question.id.to_string(), value))
                })
                .collect();
            if by_id.is_empty() {
                return Err(Miss::Skip("no question waits".into()));
            }
            spec["resume"] = Value::Object(by_id);
        }
        Ok(Input::Command(as_command(&spec)?))
    }

    async fn config(&mut self, op: &Value) -> Result<RunConfig, Miss> {
        let thread = self.thread(op);
        let place = match (&thread, op.get("at")) {
            (Some(thread), Some(at)) => Some(self.find(thread, at).await?),
            _ => None,
        };
        let names = |field| texts(op.get(field));
        let modes = match op.get("modes") {
            Some(modes) => texts(Some(modes)),
            None if text(op, "op") == Some("events") => Vec::new(),
            None => MODES.map(str::to_owned).into(),
        };
        let mut config = RunConfig::default();
        config.thread = thread;
        Ok(testing::double_command(
            config
                .checkpoint_id(place.as_ref().and_then(|place| place.checkpoint_id.clone()))
                .ns(place.map(|place| place.ns).unwrap_or_else(|| "".into()))
                .subgraphs(op.get("subgraphs") == Some(&json!(true)))
                .modes(
                    modes
                        .iter()
                        .map(|mode| mode.parse::<StreamMode>().map_err(Refusal::Invalid))
                        .collect::<Result<Vec<_>, _>>()?,
                )
                .recursion_limit(
                    op.get("limit")
                        .and_then(Value::as_u64)
                        .map_or(LIMIT, |limit| limit as u32),
                )
                .interrupt_before(names("interrupt_before"))
                .interrupt_after(names("interrupt_after"))
                .durability(match text(op, "durability") {
                    Some("exit") => Durability::Exit,
                    Some("async") => Durability::Async,
                    None if op.get("durability").is_some() => Durability::Async,
                    _ => Durability::Sync,
                })
                .metadata(object(op.get("metadata")))
                .context(op.get("context").cloned().unwrap_or_default())
                .configurable(object(op.get("configurable")))
                .tags(names("tags"))
                .step_timeout(self.step_timeout)
                .max_concurrency(
                    op.get("max_concurrency")
                        .and_then(Value::as_u64)
                        .map(|n| n as usize),
                )
                .output(match op.get("output_keys") {
                    Some(Value::String(key)) => Output::Key(key.as_str().into()),
                    Some(keys @ Value::Array(_)) => {
                        Output::Keys(texts(Some(keys)).into_iter().map(Into::into).collect())
                    }
                    _ => Output::Graph,
                })
                .strict_resume(op.get("strict_resume") == Some(&json!(true))),
        ))
    }

    async fn perform(&mut self, op: &Value, record: &mut Map<String, Value>) -> Result<(), Miss> {
        match text(op, "op").unwrap_or_default() {
            "invoke" => {
                let config = self.config(op).await?;
                let input = self.input(op).await?;
                let result = self.graph.invoke(input, config).await?;
                let value = match is_second(op) {
                    true => result.to_json_v2().into(),
                    false => result.to_json().into(),
                };
                record.insert("value".into(), value);
            }
            "stream" => {
                let config = self.config(op).await?;
                let input = self.input(op).await?;
                let nested = config.subgraphs;
                let mut run = self.graph.stream(input, config);
                let mut events = Vec::new();
                while let Some(event) = run.next().await {
                    if is_second(op) {
                        events.push(second_form(&event));
                        continue;
                    }
                    // LangGraph shows no namespaces unless nested graphs are asked for.
                    let ns: &[String] = if nested { &event.ns } else { &[] };
                    events.push(json!([ns, event.mode().as_str(), Value::from(event.data())]));
                }
                record.insert("events".into(), events.into());
                run.finish().await?;
            }
            "events" => {
                let config = self.config(op).await?;
                let input = self.input(op).await?;
                let is_unordered = op.get("unordered") == Some(&json!(true));
                self.events(input, config, is_unordered, record).await?;
            }
            "state" => {
                let place = self.place(op).await?;
                record.insert("state".into(), shown(&self.graph.get_state(&place).await?));
            }
            "history" => {
                let at = self.place(op).await?;
                let before = match op.get("before") {
                    Some(before) => self.find(&at.thread, before).await?.checkpoint_id,
                    None => None,
                };
                let query = ListQuery::new()
                    .ns(at.ns)
                    .id(at.checkpoint_id)
                    .before(before)
                    .filter(object(op.get("filter")))
                    .limit(
                        op.get("limit")
                            .and_then(Value::as_u64)
                            .map(|limit| limit as usize),
                    );
                let entries = self.graph.get_state_history(&at.thread, &query).await?;
                record.insert("history".into(), entries.iter().map(shown).collect());
            }
            "update" | "copy" | "bulk" => {
                let place = self.place(op).await?;
                let steps = match text(op, "op") {
                    Some("bulk") => list(op.get("supersteps"))
                        .iter()
                        .map(|step| {
                            list(Some(step))
                                .iter()
                                .map(as_update)
                                .collect::<Result<Vec<_>, _>>()
                        })
                        .collect::<Result<Vec<_>, _>>()?,
                    Some("copy") => vec![vec![StateUpdate {
                        values: pairs(op.get("updates")).into(),
                        as_node: Some("__copy__".into()),
                        ..StateUpdate::default()
                    }]],
                    _ => vec![vec![as_update(op)?]],
                };
                let made = self.graph.bulk_update_state(&place, steps).await?;
                record.insert("config".into(), address(&place, &made.checkpoint_id));
                self.updated
                    .push(StateRef::at(place.thread, made.checkpoint_id).within(place.ns));
            }
            "clear_cache" => self.graph.clear_cache(texts(op.get("nodes"))).await?,
            "delete_thread" => {
                let place = self.place(op).await?;
                if let Some(saver) = &self.saver {
                    saver.delete_thread(&place.thread).await.map_err(RunError::from)?;
                }
            }
            other => return Err(unsupported(format!("the operation {other}")).into()),
        }
        Ok(())
    }

    /// Performs a run with the streaming protocol, and records its log and what every graph in it projects.
    async fn events(
        &self,
        input: Input,
        config: RunConfig,
        is_unordered: bool,
        record: &mut Map<String, Value>,
    ) -> Result<(), Miss> {
        let mut all = vec![
            Projection::Values,
            Projection::Messages,
            Projection::Lifecycle,
            Projection::Subgraphs,
        ];
        all.extend(config.modes.iter().map(|mode| Projection::Mode(*mode)));
        let run = self.graph.stream_events(input, config);
        let (mut log, mut everything) = (run.events(), run.everything(&all)?);
        let mut events = Vec::new();
        while let Some(event) = log.next().await {
            let mut shown = Value::from(event.to_json());
            assert_eq!(shown["seq"], json!(events.len() + 1), "numbered without gaps");
            assert!(shown["type"] == "event" && shown["params"]["timestamp"].is_u64());
            let mut params = shown["params"].take();
            if let Value::Object(params) = &mut params {
                params.remove("timestamp");
            }
            events.push(json!([params["namespace"].take(), shown["method"], params]));
        }
        for event in &mut events {
            if let Value::Object(params) = &mut event[2] {
                params.remove("namespace");
            }
        }
        record.insert("events".into(), events.into());
        let mut projected: Vec<(Vec<String>, Vec<Value>)> = vec![(Vec::new(), Vec::new())];
        while let Some((path, item)) = everything.next().await {
            if let Projected::Subgraph(graph) = &item {
                projected.push((graph.path().to_vec(), Vec::new()));
            }
            let shown = json!([item.projection().as_str(), shown_item(item).await]);
            if let Some((_, items)) = projected.iter_mut().find(|(known, _)| **known == *path) {
                items.push(shown);
            }
        }
        let name = if is_unordered { "by_name" } else { "projected" };
        record.insert(name.into(), json!(projected));
        let (output, interrupts) = (run.output().await, run.interrupts().await);
        run.finish().await?;
        record.insert("output".into(), output.into());
        record.insert(
            "interrupts".into(),
            interrupts.iter().map(|one| Value::from(one.to_json())).collect(),
        );
        Ok(())
    }

    async fn operate(&mut self, op: &Value) -> Result<Value, Refusal> {
        self.world.clear();
        let mut record = Map::new();
        match self.perform(op, &mut record).await {
            Ok(()) => {}
            Err(Miss::Skip(why)) => return Ok(json!({"skipped": why})),
            Err(Miss::Error(problem)) => {
                record.insert("error".into(), error(&problem));
            }
            Err(Miss::Refused(refusal)) => return Err(refusal),
        }
        let kind = text(op, "op").unwrap_or_default();
        if matches!(kind, "stream" | "invoke" | "events") {
            record.insert("ran".into(), self.world.ran().into());
        }
        let notes = self.world.notes();
        if !notes.is_empty() {
            record.insert("notes".into(), notes.into());
        }
        if self.saver.is_some()
            && !matches!(kind, "state" | "history" | "clear_cache")
            && let Some(thread) = self.thread(op)
        {
            let live = match self.graph.get_state(&StateRef::live(thread)).await {
                Ok(state) => shown(&state),
                Err(problem) => json!({"error": error(&problem)}),
            };
            record.insert("live".into(), live);
        }
        Ok(record.into())
    }

    async fn end(&self) -> Value {
        let mut threads = Map::new();
        for thread in &self.threads {
            let id = ThreadId::from(thread.as_str());
            let history = match self.graph.get_state_history(&id, &ListQuery::default()).await {
                Ok(entries) => entries.iter().map(shown).collect(),
                Err(problem) => json!({"error": error(&problem)}),
            };
            threads.insert(
                thread.clone(),
                json!({"history": history, "stored": self.stored(id).await}),
            );
        }
        let mut end = json!({"threads": threads});
        if let Some(store) = &self.store {
            end["store"] = stored_items(&**store).await;
        }
        end
    }

    /// Reads every checkpoint and pending write of a thread, by namespace, newest first.
    async fn stored(&self, thread: ThreadId) -> Value {
        let query = ListQuery::new().thread(thread);
        let Some(saver) = &self.saver else {
            return Value::Null;
        };
        let mut spaces: Map<String, Value> = Map::new();
        for tuple in saver.list(&query).await.unwrap_or_default() {
            let space = spaces.entry(tuple.ns.to_string()).or_insert_with(|| json!([]));
            if let Value::Array(space) = space {
                space.push(stored_checkpoint(&tuple));
            }
        }
        spaces.into()
    }
}

fn stored_checkpoint(tuple: &CheckpointTuple) -> Value {
    let one = &tuple.checkpoint;
    let writes: Vec<Value> = tuple
        .pending_writes
        .iter()
        // What the engine stores beside LangGraph's rows.
        .filter(|pending| !superstep::checkpoint::reserved::is_own(&pending.write.channel))
        .map(|pending| {
            json!({
                "task": pending.task_id.as_str(),
                "path": &*pending.task_path,
                "idx": pending.write.idx,
                "channel": &*pending.write.channel,
                "value": Value::from(&pending.write.value),
            })
        })
        .collect();
    let mut metadata = json!({
        "source": one.metadata.source.as_str(),
        "step": one.metadata.step,
        "parents": Value::from(superstep::Value::Object(one.metadata.parents.clone())),
    });
    for (key, value) in one.metadata.user.iter() {
        metadata[&**key] = value.into();
    }
    let values: Map<String, Value> = one
        .channel_values
        .iter()
        .map(|(name, value)| (name.to_string(), value.into()))
        .collect();
    let versions: Map<String, Value> = one
        .channel_versions
        .iter()
        .map(|(name, version)| (name.to_string(), (*version).into()))
        .collect();
    let seen: Map<String, Value> = one
        .versions_seen
        .iter()
        .map(|(node, seen)| {
            let seen: Map<String, Value> = seen
                .iter()
                .map(|(name, version)| (name.to_string(), (*version).into()))
                .collect();
            (node.to_string(), seen.into())
        })
        .collect();
    let updated = one
        .updated_channels
        .as_ref()
        .map(|names| names.iter().map(|name| &**name).collect::<Vec<_>>());
    json!({
        "id": one.id.as_str(),
        "parent": one.parent.as_ref().map(CheckpointId::as_str),
        "metadata": metadata,
        "channel_values": values,
        "channel_versions": versions,
        "versions_seen": seen,
        "updated_channels": updated,
        "writes": writes,
    })
}

/// Returns whether the operation asks for LangGraph's second form of streams and results.
fn is_second(op: &Value) -> bool {
    text(op, "version") == Some("v2")
}

/// Converts an event to LangGraph's second form; states keep the questions that the event has beside them.
fn second_form(event: &StreamEvent) -> Value {
    let mut part = Value::from(event.to_json_v2());
    let data = part["data"].take();
    let reported = match part.get("interrupts") {
        Some(questions) => json!({"data": data, "interrupts": questions}),
        None => data,
    };
    json!([part["ns"], part["type"], reported])
}

fn object(value: Option<&Value>) -> superstep::value::Object {
    let value: superstep::Value = value.cloned().unwrap_or_default().into();
    value.as_object().cloned().unwrap_or_default()
}

fn list(value: Option<&Value>) -> Vec<Value> {
    value.and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Converts the updates of a copy to `[values, node]`; null when there are none.
fn pairs(updates: Option<&Value>) -> Value {
    let pair = |one: &Value| {
        json!([
            thaw(one.get("values").cloned().unwrap_or_default()),
            one["as_node"]
        ])
    };
    match updates {
        Some(updates) => list(Some(updates)).iter().map(pair).collect(),
        None => Value::Null,
    }
}

async fn shown_item(item: Projected) -> Value {
    match item {
        Projected::Values(values) => values.into(),
        Projected::Lifecycle(lifecycle) => lifecycle.to_json().into(),
        Projected::Mode(payload) => payload.to_json().into(),
        Projected::Event(event) => event.to_json().into(),
        Projected::Message(mut message) => {
            let mut pieces: Vec<Value> = Vec::new();
            while let Some(piece) = message.next().await {
                pieces.push(piece.to_json().into());
            }
            json!({"node": message.node(), "id": message.id(), "pieces": pieces})
        }
        Projected::Subgraph(graph) => json!({
            "path": graph.path(),
            "graph_name": graph.graph_name(),
            "trigger_call_id": graph.trigger_call_id(),
            "status": graph.status().as_str(),
            "error": graph.error(),
        }),
    }
}

fn shown(state: &StateSnapshot) -> Value {
    state.to_json().into()
}

fn address(place: &StateRef, id: &CheckpointId) -> Value {
    let place = json!({"thread_id": place.thread.as_str(), "checkpoint_ns": &*place.ns, "checkpoint_id": id.as_str()});
    json!({"configurable": place})
}

fn as_command(spec: &Value) -> Result<Command, Refusal> {
    command(spec, &Scope::new()).map_err(|error| Refusal::Unsupported(error.to_string()))
}

fn as_update(op: &Value) -> Result<StateUpdate, Refusal> {
    let as_node = text(op, "as_node").map(Into::into);
    Ok(match op.get("command") {
        Some(spec) => StateUpdate {
            as_node,
            ..as_command(spec)?.into()
        },
        None => StateUpdate {
            values: thaw(compute(&op["values"], &Scope::new())).into(),
            as_node,
            ..StateUpdate::default()
        },
    })
}
