//! Edits: an edit is a super-step in which the nodes it names "ran" and returned what the editor typed.
//!
//! Every edit is a list of such super-steps; `update_state` is the list with one update. All of them are worked out
//! before the first is stored, so an edit that cannot be made leaves the thread as it was.

use std::collections::{HashMap, VecDeque};

use crate::base::clock::iso8601;
use crate::base::command::{Command, Target};
use crate::base::failure::Failure;
use crate::base::ids::{CheckpointId, Name, TaskId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::claim::{ClaimRequest, ClaimUse};
use crate::checkpoint::foreign::TASK_IDS;
use crate::checkpoint::types::{
    Change, Checkpoint, CheckpointTuple, Commit, ListQuery, Metadata, PendingWrite, Put, Source, TaskWrites,
    VISITS, reserved,
};
use crate::graph::compiled::Graph;
use crate::graph::context::{DetachedTask, NodeContext};
use crate::graph::node::{NodeError, NodeOutput};
use crate::graph::plan::NodeIx;
use crate::graph::task::{StepContext, TaskOrder, derived_task_id};
use crate::graph::writes::{Channel, Writes, stored_writes};
use crate::inspect::questions::{waiting_tasks, withdrawal};
use crate::inspect::snapshot;
use crate::state::delta::{self, CheckpointUse};
use crate::state::entries::{UpdateAuthor, add_writes};
use crate::state::live::{Applied, Live, load};
use crate::stream::emit::Emitter;
use crate::stream::error::RunError;
use crate::stream::request::StateRef;
use crate::stream::run_config::RunConfig;
use crate::task::{self, Task, applied_of};
use crate::value::{Object, Value};

/// An edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateUpdate {
    /// What the node "returned"; null writes nothing but follows the node's edges. A value `{"__overwrite__": v}` goes
    /// past the key's reducer.
    pub values: Value,
    /// Targets in addition to the node's edges.
    pub goto: Vec<Target>,
    /// Whether the node "returned" a [`Command`], as with any `goto`. A router of the node then sees the state only;
    /// of plain values it also sees those that no key of the state takes.
    pub is_command: bool,
    /// The node; None means the one that ran last. Four names mean something else: `__start__` re-arms the entry
    /// edges, `__input__` gives the thread a new input, `__end__` with null values closes the open step, and
    /// `__copy__` clones the checkpoint. The values of a copy may be a list of `[update, node]` to be made on it.
    pub as_node: Option<Name>,
    /// The task whose result history shows this as; None means the first task of the node that no update of the same
    /// super-step has taken yet.
    pub task_id: Option<TaskId>,
    /// Stored with the new checkpoint.
    pub metadata: Object,
}

impl StateUpdate {
    /// Creates an edit that writes these values as the node that ran last.
    pub fn new(values: impl Into<Value>) -> Self {
        Self {
            values: values.into(),
            ..Self::default()
        }
    }

    /// Sets the node that the edit is made as, as if this node had returned it.
    pub fn as_node(mut self, node: impl Into<Name>) -> Self {
        self.as_node = Some(node.into());
        self
    }
}

/// The edit in which a node returns the command: its update and its targets.
impl From<Command> for StateUpdate {
    fn from(command: Command) -> Self {
        Self {
            values: command.update.unwrap_or_default(),
            goto: command.goto,
            is_command: true,
            ..Self::default()
        }
    }
}

/// The result of an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    /// The new checkpoint; of several, the last.
    pub checkpoint_id: CheckpointId,
    /// The node the last update was made as.
    pub as_node: Name,
    /// What runs next.
    pub next: Vec<Name>,
}

/// Purpose of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditUse {
    /// It is stored.
    Store,
    /// Its result is shown; nothing is stored.
    Preview,
}

/// Makes an edit of super-steps, each of updates.
pub(crate) async fn bulk_update_state(
    graph: &Graph,
    at: &StateRef,
    steps: Vec<Vec<StateUpdate>>,
    usage: EditUse,
) -> Result<Updated, RunError> {
    let saver = graph.need_saver("update_state")?.clone();
    if steps.is_empty() {
        return Err(RunError::invalid_request("No supersteps provided"));
    }
    if steps.iter().any(Vec::is_empty) {
        return Err(RunError::invalid_request("No updates provided"));
    }
    let mut by = at.claim.clone();
    if let (Some(request), true) = (&mut by, usage == EditUse::Store)
        && request.has_to_take(&*saver, &at.thread).await?
    {
        // An edit that cannot be made leaves the other run alone.
        worked_out(graph, &*saver, at, steps.clone()).await?;
        request.take_first(&*saver, &at.thread).await?;
    }
    let (mut edit, done) = worked_out(graph, &*saver, at, steps).await?;
    if usage == EditUse::Store {
        let claim = by.as_ref().map(|request| edit.claim(request));
        // The commits are stored together, so the first one speaks for all.
        if let Some(first) = edit.commits.first_mut() {
            first.claim = claim;
        }
        saver.commit_all(edit.commits).await?;
    }
    done.ok_or_else(|| RunError::invalid_request("No supersteps provided"))
}

/// Works out what an edit stores and results in, from the current state of the thread.
async fn worked_out<'a>(
    graph: &'a Graph,
    saver: &dyn Checkpointer,
    at: &'a StateRef,
    steps: Vec<Vec<StateUpdate>>,
) -> Result<(Edit<'a>, Option<Updated>), RunError> {
    let mut edit = Edit::begin(graph, saver, at).await?;
    let mut done = None;
    for updates in steps {
        done = Some(edit.step(updates).await?);
    }
    Ok((edit, done))
}

/// The writes of one update of a step.
struct Edited {
    name: Name,
    /// None for an error handler: a thread does not remember the triggers of one.
    node: Option<NodeIx>,
    path: Name,
    writes: Writes,
}

impl Edited {
    /// Returns the update as a part of the step to apply.
    fn applied(&self) -> Applied<'_> {
        Applied {
            name: &self.name,
            node: self.node,
            place: TaskOrder::Text(&self.path),
            pulled: false,
            writes: &self.writes,
        }
    }
}

/// Returns the tasks of each node, in their order.
fn tasks_of_nodes(tasks: &[Task]) -> HashMap<NodeIx, VecDeque<&Task>> {
    let mut of_nodes: HashMap<NodeIx, VecDeque<&Task>> = HashMap::new();
    for task in tasks {
        if let Some(node) = task.node {
            of_nodes.entry(node).or_default().push_back(task);
        }
    }
    of_nodes
}

/// An edit in the making.
struct Edit<'a> {
    graph: &'a Graph,
    at: &'a StateRef,
    ns: Name,
    /// The checkpoint that the edit starts from.
    read: Option<CheckpointId>,
    /// The checkpoint that the next super-step starts from.
    base: Option<CheckpointTuple>,
    /// New checkpoints sort after this one: the newest of the thread.
    newest: Option<CheckpointId>,
    /// The edit starts from the newest checkpoint.
    is_of_newest: bool,
    /// Is what is written filed with the base's tasks? Not on a checkpoint that others have continued.
    files: bool,
    commits: Vec<Commit>,
}

impl<'a> Edit<'a> {
    async fn begin(graph: &'a Graph, saver: &dyn Checkpointer, at: &'a StateRef) -> Result<Self, RunError> {
        let ns = at.ns.clone();
        let base = delta::get(&graph.plan, saver, &at.thread, &ns, at.checkpoint_id.as_ref()).await?;
        if let (None, Some(id)) = (&base, &at.checkpoint_id) {
            return Err(RunError::invalid_request(format!(
                "Thread {} has no checkpoint {id}. List its history and choose one of those.",
                at.thread
            )));
        }
        let addressed = base.as_ref().map(|base| base.checkpoint.id.clone());
        let newest = match &at.checkpoint_id {
            None => addressed.clone(),
            Some(_) => {
                let query = ListQuery::new().thread(at.thread.clone()).ns(ns.clone()).limit(1);
                let heads = saver.heads(&query).await?;
                heads.into_iter().next().map(|head| head.id)
            }
        };
        Ok(Self {
            files: newest == addressed,
            is_of_newest: newest == addressed,
            read: addressed,
            graph,
            at,
            ns,
            base,
            newest,
            commits: Vec::new(),
        })
    }

    /// Returns the claim that an edit by this holder shows: an edit of the newest state is refused when the thread has
    /// gone on since.
    fn claim(&self, by: &ClaimRequest) -> ClaimUse {
        let mut shown = by.change();
        if let (Some(take), true) = (&mut shown.take, self.is_of_newest && self.ns.is_empty()) {
            take.onto = Some(self.read.clone());
        }
        shown
    }

    async fn step(&mut self, updates: Vec<StateUpdate>) -> Result<Updated, RunError> {
        let first = &updates[0];
        let alone = |what: &str| match updates.len() {
            1 => Ok(()),
            _ => Err(RunError::invalid_update(what)),
        };
        match first.as_node.as_deref() {
            Some(reserved::END) if first.values.is_null() => {
                alone("Cannot apply multiple updates when clearing state")?;
                self.clear(&first.metadata)
            }
            Some(reserved::INPUT) => {
                alone("Cannot apply multiple updates when updating as input")?;
                self.input(first)
            }
            Some(reserved::COPY) => {
                alone("Cannot copy checkpoint with multiple updates")?;
                self.copy(first).await
            }
            _ => self.as_nodes(updates).await,
        }
    }

    /// Returns the state to start from, the id its tasks are derived from, and the number of their step.
    fn start(&self) -> (Live, CheckpointId, i64) {
        let live = load(&self.graph.plan, self.base.as_ref());
        match &self.base {
            Some(base) => {
                let checkpoint = &base.checkpoint;
                (live, checkpoint.id.clone(), checkpoint.metadata.next_step())
            }
            None => (live, CheckpointId::new(""), 0),
        }
    }

    fn pending(&self) -> &[PendingWrite] {
        self.base.as_ref().map_or(&[], |base| &base.pending_writes)
    }

    /// Returns the writes that withdraw questions of the base, because the edit takes their place.
    fn withdrawals(&self, why: &str, of: impl Fn(&TaskId) -> bool) -> Vec<TaskWrites> {
        let (Some(base), true) = (&self.base, self.ns.is_empty()) else {
            return Vec::new();
        };
        let note: Object = [
            ("why", Value::from(why)),
            ("at", iso8601(self.graph.clock.now_ms()).into()),
        ]
        .into_iter()
        .collect();
        waiting_tasks(&base.pending_writes)
            .filter(|writes| of(&writes[0].task_id))
            .map(|writes| withdrawal(&base.checkpoint.id, &writes[0], note.clone().into()))
            .collect()
    }

    /// Applies what finished tasks of the open step wrote and drops the others.
    fn clear(&mut self, notes: &Object) -> Result<Updated, RunError> {
        let (mut live, _, step) = self.start();
        if let Some(base) = &self.base {
            let stage = StepContext::at(&self.graph.plan, &self.ns, &base.checkpoint);
            let mut tasks = task::prepare(&live, &stage, None);
            live.apply_null_writes(self.pending())?;
            for task in &mut tasks {
                task.writes = snapshot::stored(&self.graph.plan, task.id(), self.pending()).writes;
            }
            let mut applied: Vec<Applied<'_>> =
                tasks.iter().map(|task| applied_of(task, &task.writes)).collect();
            match tasks.is_empty() {
                true => live.apply_input(&mut applied)?,
                false => live.apply_step(&mut applied)?,
            };
        }
        Ok(self.save(
            live,
            Source::Update,
            step,
            reserved::END.into(),
            notes,
            self.withdrawals("edit", |_| true),
        ))
    }

    fn input(&mut self, update: &StateUpdate) -> Result<Updated, RunError> {
        if update.values.is_null() {
            return Err(RunError::invalid_update("Received no input writes for __start__"));
        }
        if self.graph.plan.is_root || update.values.as_object().is_some() {
            // START would refuse it, but only when the thread goes on; anyone who edits it learns it now.
            let mut writes = Writes::new();
            add_writes(&self.graph.plan, UpdateAuthor::Input, &update.values, &mut writes)
                .map_err(RunError::invalid_update)?;
        }
        let (mut live, _, step) = self.start();
        let start = [(
            Channel::Known(self.graph.plan.start_channel),
            update.values.clone(),
        )];
        let mut task = [Applied {
            name: reserved::INPUT,
            node: None,
            place: TaskOrder::Text(""),
            pulled: false,
            writes: &start,
        }];
        live.apply_input(&mut task)?;
        let step = if self.base.is_some() { step } else { -1 };
        Ok(self.save(
            live,
            Source::Input,
            step,
            reserved::INPUT.into(),
            &update.metadata,
            self.withdrawals("input", |_| true),
        ))
    }

    /// Creates a sibling of the base with the same state, and applies to it the updates that came with the copy.
    async fn copy(&mut self, update: &StateUpdate) -> Result<Updated, RunError> {
        let updates = updates_of_copy(&update.values)?;
        let Some(base) = &self.base else {
            return Err(RunError::invalid_update("Cannot copy a non-existent checkpoint"));
        };
        let whole = base.checkpoint.channel_values.clone();
        let from = delta::as_stored(&self.graph.plan, base.checkpoint.clone());
        let mut metadata = from.metadata.clone();
        metadata.source = Source::Fork;
        metadata.step = metadata.next_step();
        metadata.user.remove(TASK_IDS);
        for (key, value) in update.metadata.iter() {
            metadata.user.insert(key.clone(), value.clone());
        }
        let checkpoint = Checkpoint {
            id: self.graph.ids.next(self.newest.as_ref()),
            ts: iso8601(self.graph.clock.now_ms()),
            updated_channels: None,
            next: load(&self.graph.plan, self.base.as_ref()).next_names(None),
            metadata,
            ..from
        };
        // The parent is not loaded here, and it is enough to say that anything may differ from it.
        let replaced = |channel: &Name| Change {
            channel: channel.clone(),
            appended_from: None,
        };
        let put = Put {
            changes: checkpoint.channel_versions.keys().map(replaced).collect(),
            seen: checkpoint.versions_seen.keys().cloned().collect(),
            checkpoint,
        };
        let copied = self.put(put, reserved::COPY.into(), Vec::new());
        if let Some(tuple) = &mut self.base {
            tuple.checkpoint.channel_values = whole;
        }
        if updates.is_empty() {
            return Ok(copied);
        }
        self.as_nodes(updates).await
    }

    /// Makes the step in which each of these nodes returned its update.
    async fn as_nodes(&mut self, updates: Vec<StateUpdate>) -> Result<Updated, RunError> {
        let plan = self.graph.plan.clone();
        let (mut live, base_id, step) = self.start();
        let nodes = self.nodes_of(&updates, &live)?;
        let waiting = match &self.base {
            Some(base) => {
                let stage = StepContext::at(&plan, &self.ns, &base.checkpoint);
                task::prepare(&live, &stage, None)
            }
            None => Vec::new(),
        };
        let mut free = tasks_of_nodes(&waiting);
        let mut notes = Object::new();
        let mut ran: Vec<Edited> = Vec::with_capacity(updates.len());
        let mut filed = Vec::new();
        let mut edited = Vec::new();
        for (position, (update, node)) in updates.into_iter().zip(nodes).enumerate() {
            let task = match &update.task_id {
                Some(id) => waiting.iter().find(|task| task.id() == id),
                None => free.get_mut(&node).and_then(VecDeque::pop_front),
            };
            // Updates apply in the order they were given, which is what this path sorts by.
            let path: Name = format!("~__interrupt__, {position:010}").into();
            let task_id = update
                .task_id
                .clone()
                .or_else(|| task.map(|task| task.id().clone()))
                .unwrap_or_else(|| derived_task_id(&base_id, step, position));
            edited.push(task_id.clone());
            for (key, value) in update.metadata.iter() {
                notes.insert(key.clone(), value.clone());
            }
            let writes = self
                .written(
                    update,
                    DetachedTask {
                        node,
                        id: &task_id,
                        checkpoint: &base_id,
                        step,
                        answers: Vec::new(),
                    },
                    &live,
                )
                .await?;
            if !writes.is_empty() {
                filed.push(TaskWrites {
                    checkpoint_id: base_id.clone(),
                    task_id,
                    task_path: path.clone(),
                    writes: stored_writes(&plan, 0, &writes),
                });
            }
            let name = plan.node(node).name.clone();
            ran.push(Edited {
                name,
                node: Some(node).filter(|node| (*node as usize) < plan.nodes.len()),
                path,
                writes,
            });
        }
        let mut applied: Vec<Applied<'_>> = ran.iter().map(Edited::applied).collect();
        live.apply_step(&mut applied)?;
        let as_node = ran
            .last()
            .map_or_else(|| reserved::START.into(), |edited| edited.name.clone());
        if !self.files || self.base.is_none() {
            filed.clear();
        }
        let unanswered = |task: &TaskId| {
            edited.contains(task) && !filed.iter().any(|writes: &TaskWrites| writes.task_id == *task)
        };
        let withdrawn = self.withdrawals("edit", unanswered);
        filed.extend(withdrawn);
        Ok(self.save(live, Source::Update, step, as_node, &notes, filed))
    }

    /// Returns the nodes that the updates are made as; for an update that names none, the node that ran last.
    fn nodes_of(&self, updates: &[StateUpdate], live: &Live) -> Result<Vec<NodeIx>, RunError> {
        let node_of = |update: &StateUpdate| match &update.as_node {
            Some(name) => self.graph.plan.node_or_handler(name).ok_or_else(|| {
                let known: Vec<&str> = self.graph.node_names().map(|name| &**name).collect();
                RunError::invalid_update(format!(
                    "Node {name} does not exist\nThe nodes are {}.",
                    known.join(", ")
                ))
            }),
            None if updates.len() > 1 => Err(RunError::invalid_update(
                "as_node is required when applying multiple updates",
            )),
            None => last_node(live),
        };
        updates.iter().map(node_of).collect()
    }

    /// Returns the writes of a node that returned this update, those of its routers included.
    async fn written(
        &self,
        update: StateUpdate,
        task: DetachedTask<'_>,
        live: &Live,
    ) -> Result<Writes, RunError> {
        let plan = &self.graph.plan;
        let config = RunConfig {
            thread: Some(self.at.thread.clone()),
            ..RunConfig::default()
        };
        let (node, task_id) = (task.node, task.id);
        // Nobody listens.
        let context = NodeContext::detached(self.graph, config, task, Emitter::none());
        // Routers see what a node returned; of a command they see what it did.
        let output = match update.is_command || !update.goto.is_empty() {
            false => NodeOutput::Update(update.values),
            true => NodeOutput::Command(Command {
                update: Some(update.values).filter(|values| !values.is_null()),
                goto: update.goto,
                ..Command::default()
            }),
        };
        let mut writes = Writes::new();
        task::write(plan, &live.state.clone(), node, output, &context, &mut writes)
            .await
            .map_err(|error| refused(error, &plan.node(node).name, task_id))?;
        Ok(writes)
    }

    /// Makes the checkpoint of `live`, with the writes that led to it.
    fn save(
        &mut self,
        mut live: Live,
        source: Source,
        step: i64,
        as_node: Name,
        notes: &Object,
        filed: Vec<TaskWrites>,
    ) -> Updated {
        let mut user = notes.clone();
        if let Some(base) = &self.base {
            // What the host noted about the thread stays with it.
            for (key, value) in base.checkpoint.metadata.user.iter() {
                // But its tasks are its own.
                let begins = source == Source::Input && **key == *VISITS;
                if !user.contains_key(key) && **key != *TASK_IDS && !begins {
                    user.insert(key.clone(), value.clone());
                }
            }
        }
        user.insert("as_node", as_node.clone());
        let parents = self.base.as_ref().map(|base| &base.checkpoint.metadata.parents);
        let metadata = Metadata {
            source,
            step,
            parents: parents.cloned().unwrap_or_default(),
            user,
        };
        let id = self.graph.ids.next(self.newest.as_ref());
        let now = iso8601(self.graph.clock.now_ms());
        live.leave_behind(self.pending());
        if !self.files || self.base.is_none() {
            live.deltas.force_written();
        }
        live.deltas.first_edit = self.base.is_none();
        let (checkpoint, changes, seen) = live.checkpoint(id, now, metadata, None, CheckpointUse::Base);
        let put = Put {
            checkpoint,
            changes,
            seen,
        };
        let base = delta::complete(&live, put.checkpoint.clone());
        let updated = self.put(put, as_node, filed);
        if let Some(tuple) = &mut self.base {
            tuple.checkpoint = base;
        }
        updated
    }

    /// Takes a checkpoint into the edit; the next super-step starts from it.
    fn put(&mut self, put: Put, as_node: Name, writes: Vec<TaskWrites>) -> Updated {
        let checkpoint = put.checkpoint.clone();
        self.commits.push(Commit {
            thread: self.at.thread.clone(),
            ns: self.ns.clone(),
            writes,
            put: Some(put),
            claim: None,
        });
        let updated = Updated {
            checkpoint_id: checkpoint.id.clone(),
            as_node,
            next: checkpoint.next.clone(),
        };
        self.newest = Some(checkpoint.id.clone());
        self.files = true;
        self.base = Some(CheckpointTuple {
            thread: self.at.thread.clone(),
            ns: self.ns.clone(),
            checkpoint,
            pending_writes: Vec::new(),
        });
        updated
    }
}

/// Returns the updates that come with a copy, with those of one node together.
fn updates_of_copy(values: &Value) -> Result<Vec<StateUpdate>, RunError> {
    let mut groups: Vec<(Option<Name>, Vec<StateUpdate>)> = Vec::new();
    for item in values.as_array().iter().flat_map(|items| items.iter()) {
        let (update, as_node) = match (item.at(0), item.at(1)) {
            (Some(update), Some(Value::Null)) => (update, None),
            (Some(update), Some(Value::String(node))) => (update, Some(node.clone())),
            _ => {
                return Err(RunError::invalid_update(format!(
                    "Invalid update item: {item} when copying checkpoint\nGive each as [update, node]."
                )));
            }
        };
        let update = StateUpdate {
            values: update.clone(),
            as_node: as_node.clone(),
            ..StateUpdate::default()
        };
        match groups.iter_mut().find(|(node, _)| *node == as_node) {
            Some((_, group)) => group.push(update),
            None => groups.push((as_node, vec![update])),
        }
    }
    Ok(groups.into_iter().flat_map(|(_, group)| group).collect())
}

/// Returns the error for an update that could not be made as `node`: its values do not fit, or one of its routers
/// failed on them.
fn refused(error: NodeError, node: &Name, task_id: &TaskId) -> RunError {
    match error {
        NodeError::Failed(failure) if &*failure.class == "InvalidUpdateError" => {
            RunError::invalid_update(format!("{}\nThe edit as `{node}` was not made.", failure.message))
        }
        NodeError::Failed(failure) => RunError::Node {
            node: node.clone(),
            task_id: task_id.clone(),
            failure: Failure {
                message: format!(
                    "{}\nThe edit as `{node}` was not made: a router of the node may need a key that is missing.",
                    failure.message
                ),
                ..failure
            },
        },
        other => RunError::invalid_update(format!("The edit as `{node}` was not made: {other}.")),
    }
}

/// Returns the node that ran last: START on a fresh thread, or the one whose trigger has the newest version.
fn last_node(live: &Live) -> Result<NodeIx, RunError> {
    let mut newest: Option<(u64, NodeIx, bool)> = None;
    for (version, node) in live.seen_versions() {
        newest = match newest {
            Some((best, owner, unique)) if version < best => Some((best, owner, unique)),
            Some((best, owner, _)) if version == best => Some((best, owner, false)),
            _ => Some((version, node, true)),
        };
    }
    match newest {
        // A breakpoint that was passed is something that was seen, but by no node.
        None if live.seen_by_others() => Err(RunError::invalid_update(
            "Ambiguous update, specify as_node\nNo node has run before this checkpoint: name the one to act as.",
        )),
        None => Ok(0),
        Some((_, node, true)) => Ok(node),
        Some(_) => Err(RunError::invalid_update(
            "Ambiguous update, specify as_node\nSeveral nodes ran last, in parallel: name the one to act as.",
        )),
    }
}
