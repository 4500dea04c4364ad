//! `update_state`: an edit is a super-step in which one node "ran" and returned what the editor typed.

use crate::checkpoint::{Commit, ListQuery, Metadata, Put, Source, TaskWrites, reserved};
use crate::clock::iso8601;
use crate::compiled::{Graph, StateRef};
use crate::context::{Answers, NodeContext, TaskInfo};
use crate::emit::Emitter;
use crate::error::RunError;
use crate::ids::{CheckpointId, Name};
use crate::live::{Applied, Channel, Live, Writes, load, stored_writes};
use crate::node::{Command, NodeError, NodeOutput};
use crate::plan::NodeIx;
use crate::snapshot;
use crate::task;
use crate::value::{Object, Value};

/// An edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateUpdate {
    /// What the node "returned"; null writes nothing but follows the node's edges. A value `{"__overwrite__": v}` goes
    /// past the key's reducer.
    pub values: Value,
    /// Targets in addition to the node's edges.
    pub goto: Vec<crate::node::Target>,
    /// The node; None means the one that ran last. `__end__` with null values closes the open step.
    pub as_node: Option<Name>,
    /// Stored with the new checkpoint.
    pub metadata: Object,
}

/// What an edit did.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    /// The new checkpoint.
    pub checkpoint_id: CheckpointId,
    /// The node it was made as.
    pub as_node: Name,
    /// What runs next.
    pub next: Vec<Name>,
}

pub(crate) async fn update_state(
    graph: &Graph,
    at: &StateRef,
    update: StateUpdate,
    store: bool,
) -> Result<Updated, RunError> {
    let saver = graph.need_saver("update_state")?;
    let plan = &graph.plan;
    let tuple = saver.get(&at.thread, "", at.checkpoint_id.as_ref()).await?;
    if let (None, Some(id)) = (&tuple, &at.checkpoint_id) {
        return Err(RunError::invalid_request(format!(
            "Thread {} has no checkpoint {id}. List its history and choose one of those.",
            at.thread
        )));
    }
    let mut live = load(plan, tuple.as_ref());
    let base_step = tuple.as_ref().map_or(-2, |tuple| tuple.checkpoint.metadata.step);
    let parent = tuple.as_ref().map(|tuple| tuple.checkpoint.id.clone());
    let base_id = parent.clone().unwrap_or_else(|| CheckpointId::new(""));
    let pending = tuple
        .as_ref()
        .map(|tuple| tuple.pending_writes.as_slice())
        .unwrap_or_default();

    let mut step = base_step + 1;
    let mut source = Source::Update;
    let mut writes: Writes = Vec::new();
    let as_node: Name;
    match update.as_node.as_deref() {
        Some(reserved::END) if update.values.is_null() => {
            as_node = reserved::END.into();
            live.apply_null_writes(pending, true)?;
            let mut tasks = task::prepare(&live, &base_id, base_step + 1, None);
            for task in &mut tasks {
                task.writes = snapshot::stored(plan, &task.id, pending).writes;
            }
            let mut applied: Vec<Applied<'_>> = tasks
                .iter()
                .map(|task| Applied {
                    name: &task.name,
                    node: Some(task.node),
                    path: &task.path_text,
                    pulled: task.push.is_none(),
                    // What led on is dropped: only the state is kept.
                    writes: &task.writes,
                })
                .collect();
            live.apply(&mut applied, true, true)?;
            live.drop_triggers();
        }
        Some(reserved::INPUT) => {
            as_node = reserved::INPUT.into();
            if update.values.as_object().is_none() {
                return Err(RunError::invalid_update("Received no input writes for __start__"));
            }
            source = Source::Input;
            let start = [(Channel::Known(plan.start_channel), update.values.clone())];
            let mut task = [Applied {
                name: reserved::INPUT,
                node: None,
                path: "",
                pulled: false,
                writes: &start,
            }];
            live.apply(&mut task, true, true)?;
        }
        named => {
            let node = match named {
                Some(name) => *plan.node_index.get(name).ok_or_else(|| {
                    let known: Vec<&str> = graph.node_names().map(|name| &**name).collect();
                    RunError::invalid_update(format!(
                        "Node {name} does not exist. The nodes are {}.",
                        known.join(", ")
                    ))
                })?,
                None => last_node(&live)?,
            };
            as_node = plan.node(node).name.clone();
            if tuple.is_none() {
                step = 0;
            }
            let context = editing_context(&as_node, at, &base_id, step);
            let values = Some(update.values.clone()).filter(|values| !values.is_null());
            let output = NodeOutput::Command(Command {
                update: values,
                goto: update.goto.clone(),
                resume: None,
            });
            let state = live.state.clone();
            task::write(plan, &state, node, output, &context, &mut writes).await.map_err(|error| match error {
                NodeError::Failed(failure) => RunError::invalid_update(format!(
                    "The edit as `{as_node}` was not made: {failure}. A router of the node may need a key that is \
                     missing."
                )),
                other => RunError::invalid_update(format!("The edit as `{as_node}` was not made: {other}.")),
            })?;
            drop(state);
            let mut applied = [Applied {
                name: &as_node,
                node: Some(node),
                path: "",
                pulled: false,
                writes: &writes,
            }];
            live.apply(&mut applied, true, true)?;
        }
    }

    let mut user = update.metadata.clone();
    if let Some(tuple) = &tuple {
        // What the host noted about the thread stays with it.
        for (key, value) in tuple.checkpoint.metadata.user.iter() {
            if !user.contains_key(key) {
                user.insert(key.clone(), value.clone());
            }
        }
    }
    user.insert("as_node", as_node.clone());
    let metadata = Metadata {
        source,
        step,
        parents: Object::new(),
        user,
    };
    let id = graph.ids.next(parent.as_ref());
    let (checkpoint, changes, seen) =
        live.checkpoint(id.clone(), iso8601(graph.clock.now_ms()), metadata, None, true);
    let next = checkpoint.next.clone();
    if store {
        let is_head = at.checkpoint_id.is_none() || is_newest(graph, at).await?;
        let filed = match &parent {
            Some(parent) if is_head && source == Source::Update && !writes.is_empty() => {
                vec![file(
                    graph,
                    &load(plan, tuple.as_ref()),
                    parent,
                    base_step + 1,
                    &as_node,
                    &writes,
                )]
            }
            _ => Vec::new(),
        };
        let put = Put {
            checkpoint,
            changes,
            seen,
        };
        saver
            .commit(Commit {
                thread: at.thread.clone(),
                ns: "".into(),
                writes: filed,
                put: Some(put),
            })
            .await?;
    }
    Ok(Updated {
        checkpoint_id: id,
        as_node,
        next,
    })
}

/// The edit's writes as the result of the waiting task of that node, so that history shows them there.
fn file(
    graph: &Graph,
    before: &Live,
    parent: &CheckpointId,
    step: i64,
    as_node: &Name,
    writes: &Writes,
) -> TaskWrites {
    let waiting = task::prepare(before, parent, step, None)
        .into_iter()
        .find(|task| task.name == *as_node);
    let (task_id, task_path) = match waiting {
        Some(task) => (task.id, task.path_text),
        None => (task::derived_task_id(parent, step, as_node), String::new()),
    };
    let writes = stored_writes(&graph.plan, 0, writes);
    TaskWrites {
        checkpoint_id: parent.clone(),
        task_id,
        task_path,
        writes,
    }
}

async fn is_newest(graph: &Graph, at: &StateRef) -> Result<bool, RunError> {
    let query = ListQuery {
        thread: Some(at.thread.clone()),
        ns: Some("".into()),
        limit: Some(1),
        ..ListQuery::default()
    };
    let heads = graph.need_saver("update_state")?.heads(&query).await?;
    Ok(heads.first().map(|head| &head.id) == at.checkpoint_id.as_ref())
}

/// The node that ran last: the only one, START on a fresh thread, or the one whose trigger has the newest version.
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
        None => Ok(0),
        Some((_, node, true)) => Ok(node),
        Some(_) => Err(RunError::invalid_update(
            "Ambiguous update, specify as_node\nSeveral nodes ran last, in parallel: name the one to act as.",
        )),
    }
}

fn editing_context(node: &Name, at: &StateRef, checkpoint: &CheckpointId, step: i64) -> NodeContext {
    let task_id = task::derived_task_id(checkpoint, step, node);
    let info = TaskInfo {
        thread: Some(at.thread.clone()),
        run_id: String::new(),
        checkpoint_ns: format!("{node}:{task_id}"),
        task_id,
        checkpoint_id: checkpoint.clone(),
        node: node.clone(),
        step,
        attempt: 1,
        triggers: Vec::new(),
        path: Value::Null,
    };
    NodeContext::new(
        info,
        Default::default(),
        Emitter::none(),
        Default::default(),
        Answers::default(),
    )
}
