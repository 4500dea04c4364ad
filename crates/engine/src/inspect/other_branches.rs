//! What was done on other branches of a thread: the tasks that a run would do again.
//!
//! A thread is a tree of checkpoints, and a run adds to one path of it. What was done off that path, after a point where the
//! path left it, has been done already. Each such piece of work is taken once: a task of the new branch that does it
//! again, or uses what came of it, says so ([`EFFECT`](crate::checkpoint::reserved::EFFECT), `instead`), and anyone who looks later knows
//! it. A new input at the end of a branch is a new case: what was done on branches that it had left before counts no more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::task_record::TaskRecord;
use crate::checkpoint::types::{
    CheckpointAddress, CheckpointHead, ListQuery, PendingWrite, Source, StorageError, reserved,
};
use crate::graph::compiled::Graph;
use crate::graph::other_branches::{
    BranchCheckpoint, KnownVisits, OtherBranches, RunStart, Visit, VisitsRead,
};
use crate::graph::plan::{NodePlan, Plan};
use crate::graph::scope::{Address, graph_path};
use crate::graph::task::{Origin, StepContext};
use crate::graph::writes::resolve;
use crate::inspect::snapshot::is_output;
use crate::policy::cache::digest;
use crate::policy::effect::{Effect, EffectDone, EffectState};
use crate::state::delta;
use crate::state::live::load;
use crate::stream::error::RunError;
use crate::stream::request::StateRef;
use crate::task::{self, Task};
use crate::value::{Object, Value};

/// Checkpoints whose writes are read at once.
const AT_ONCE: usize = 100;

/// Work found for a task that is about to begin.
pub(crate) enum Visits {
    /// Nothing of it was done.
    None,
    /// The same was done, with the same input.
    Same(Arc<Visit>),
    /// The node did its work, with another input.
    Other(Arc<Visit>),
}

impl VisitsRead {
    /// Returns the first of the tasks that stand for one another; it is the same for all of them.
    fn first<'a>(&'a self, mut task: &'a TaskId) -> &'a TaskId {
        // Links lead to what was done before, so they end.
        while let Some(before) = self.instead.get(task) {
            task = before;
        }
        task
    }

    fn is_taken(&self, visit: &Visit) -> bool {
        let first = self.first(&visit.task_id);
        self.taken.iter().any(|taken| self.first(taken) == first)
    }
}

/// The tasks that are compared: a graph of the run, and the place of its checkpoints.
pub(crate) struct Scene<'a> {
    pub(crate) plan: &'a Arc<Plan>,
    pub(crate) saver: &'a dyn Checkpointer,
    pub(crate) thread: &'a ThreadId,
    pub(crate) ns: &'a str,
}

impl OtherBranches {
    /// Notes where the run began; what was done elsewhere is read when somebody asks.
    pub(crate) fn begin(&self, began: RunStart) {
        let _ = self.began.set(began);
    }

    async fn known(&self, saver: &dyn Checkpointer, thread: &ThreadId) -> Result<&KnownVisits, StorageError> {
        self.known
            .get_or_try_init(|| async {
                match self.began.get() {
                    Some(began) if began.start.is_some() => KnownVisits::read(saver, thread, began).await,
                    _ => Ok(KnownVisits::default()),
                }
            })
            .await
    }

    /// Takes what was done on other branches of the work that `task` is about to do. The next task that asks is given
    /// another visit.
    pub(crate) async fn take(
        &self,
        scene: &Scene<'_>,
        task: &Task,
        effect: Effect,
    ) -> Result<Visits, RunError> {
        let known = self.known(scene.saver, scene.thread).await?;
        if known.sites.is_empty() {
            return Ok(Visits::None);
        }
        let spec = scene.plan.node(task.node.unwrap_or_default());
        let wanted = digest_of(spec, task);
        let mut seen = known.seen.lock().await;
        // The first work that was done with the same input, and what stands for the same as it and came further.
        let mut same: Option<Arc<Visit>> = None;
        let mut other: Option<Arc<Visit>> = None;
        for place in known.places(scene.ns, &task.name) {
            known.look(scene, place, &mut seen).await?;
            for visit in seen.visits.get(&place).into_iter().flatten() {
                if visit.node != task.name || seen.is_taken(visit) {
                    continue;
                }
                let done = visit.state == EffectState::Done;
                if visit.digest == wanted {
                    let further = match &same {
                        None => true,
                        Some(same) => {
                            done && same.state != EffectState::Done
                                && seen.first(&visit.task_id) == seen.first(&same.task_id)
                        }
                    };
                    if further {
                        same = Some(visit.clone());
                    }
                } else if other.is_none() && (done || effect == Effect::Once) {
                    other = Some(visit.clone());
                }
            }
            if same.as_ref().is_some_and(|same| same.state == EffectState::Done) {
                break;
            }
        }
        let found = match (same, other) {
            (Some(visit), _) => Visits::Same(visit),
            (None, Some(visit)) => Visits::Other(visit),
            (None, None) => Visits::None,
        };
        if let Visits::Same(visit) | Visits::Other(visit) = &found {
            seen.taken.insert(visit.task_id.clone());
        }
        Ok(found)
    }
}

impl KnownVisits {
    async fn read(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        began: &RunStart,
    ) -> Result<Self, StorageError> {
        // Where a branch ends, an input is a new case.
        if began.input && began.start == began.newest {
            return Ok(Self::default());
        }
        let query = ListQuery::new().thread(thread.clone());
        let heads = saver.heads(&query).await?;
        let (sites, own) = split(&heads, began);
        let mut seen = VisitsRead::default();
        if !sites.is_empty() {
            for page in own.chunks(AT_ONCE) {
                let address = |head: &&CheckpointHead| {
                    CheckpointAddress::new(thread.clone(), head.ns.clone(), head.id.clone())
                };
                let page: Vec<CheckpointAddress> = page.iter().map(address).collect();
                let writes = saver.writes(&page).await?.into_iter().flatten();
                seen.taken.extend(writes.filter_map(|write| instead_of(&write)));
            }
        }
        Ok(Self {
            sites,
            seen: Mutex::new(seen),
        })
    }

    /// Returns the places where the node of the graph at `ns` had work on other branches, the oldest first.
    fn places(&self, ns: &str, node: &Name) -> impl Iterator<Item = usize> {
        let path = graph_path(ns);
        let fits = move |site: &BranchCheckpoint| site.next.contains(node) && graph_path(&site.ns) == path;
        let places = self.sites.iter().enumerate().filter(move |(_, site)| fits(site));
        places.map(|(place, _)| place)
    }

    /// Reads what the tasks of a checkpoint did.
    async fn look(&self, scene: &Scene<'_>, place: usize, seen: &mut VisitsRead) -> Result<(), RunError> {
        if seen.visits.contains_key(&place) {
            return Ok(());
        }
        let visits = self.sites[place].visits(scene, seen).await?;
        seen.visits.insert(place, visits);
        Ok(())
    }
}

impl BranchCheckpoint {
    async fn visits(&self, scene: &Scene<'_>, seen: &mut VisitsRead) -> Result<Vec<Arc<Visit>>, RunError> {
        let plan = scene.plan;
        let tuple = delta::get(plan, scene.saver, scene.thread, &self.ns, Some(&self.id)).await?;
        let Some(tuple) = tuple else { return Ok(Vec::new()) };
        let mut live = load(plan, Some(&tuple));
        live.apply_null_writes(&tuple.pending_writes)?;
        let stage = StepContext::at(plan, &self.ns, &tuple.checkpoint);
        let mut visits = Vec::new();
        for task in task::prepare(&live, &stage, None) {
            let spec = plan.node(task.node.unwrap_or_default());
            let Some(effect) = spec.outside() else { continue };
            // The id of a task depends on the edges that lead to it, which may have been drawn again since.
            let own: Vec<&PendingWrite> = tuple
                .pending_writes
                .iter()
                .filter(|w| w.task_id == *task.id() || *w.task_path == **task.path_text())
                .collect();
            // What somebody wrote in the node's place was not done by it.
            if own.iter().any(|w| w.task_path.starts_with(EDIT)) {
                continue;
            }
            let is_record = |w: &&&PendingWrite| &*w.write.channel == reserved::RECORD;
            let record = own
                .iter()
                .find(is_record)
                .map(|w| TaskRecord::from_value(&w.write.value));
            if record.is_some_and(|record| record.pinned) {
                continue;
            }
            let has = |channel: &str| own.iter().any(|w| &*w.write.channel == channel);
            let finished = own.iter().any(|w| is_output(&w.write.channel));
            let state = match () {
                () if finished || self.ran => EffectState::Done,
                () if has(reserved::ERROR) => EffectState::Failed,
                // Of what may be repeated nothing says that it began.
                () if has(reserved::EFFECT) || effect == Effect::Idempotent => EffectState::Begun,
                () => continue,
            };
            if state != EffectState::Done && effect == Effect::Unknown {
                continue;
            }
            let task_id = own
                .first()
                .map_or_else(|| task.id().clone(), |w| w.task_id.clone());
            let note = own.iter().find(|w| &*w.write.channel == reserved::EFFECT);
            let key = note.and_then(|w| w.write.value.get("key")?.as_str().map(Name::from));
            if let Some(before) = note.and_then(|w| instead_of(w)) {
                seen.instead.insert(task_id.clone(), before);
            }
            let outputs = own.iter().filter(|w| is_output(&w.write.channel));
            visits.push(Arc::new(Visit {
                node: task.name.clone(),
                state,
                key: key.unwrap_or_else(|| task_id.as_str().into()),
                digest: digest_of(spec, &task),
                writes: outputs
                    .map(|w| (resolve(plan, &w.write.channel), w.write.value.clone()))
                    .collect(),
                root: self.root.clone(),
                ts: self.ts.clone(),
                task_id,
            }));
        }
        Ok(visits)
    }
}

/// What the paths of tasks begin with whose writes are edits.
const EDIT: &str = "~__interrupt__";

/// Computes the digest of what the effect of a task depends on.
fn digest_of(spec: &NodePlan, task: &Task) -> u128 {
    match (&spec.more().effect_keys, &task.origin, task.input.as_object()) {
        (Some(keys), Origin::Pull, Some(given)) => {
            let some: Object = keys
                .iter()
                .filter_map(|key| Some((key.clone(), given.get(key)?.clone())))
                .collect();
            digest(&Value::Object(some))
        }
        _ => digest(&task.input),
    }
}

/// Returns the task of another branch that the task of a stored write stands for, if the write names one.
pub(crate) fn instead_of(write: &PendingWrite) -> Option<TaskId> {
    if &*write.write.channel != reserved::EFFECT {
        return None;
    }
    Some(TaskId::new(write.write.value.get("instead")?.as_str()?))
}

/// Returns the places where a path left other branches that count: back to the beginning of the case that it is about.
fn places_left(
    path: &[&CheckpointHead],
    ids: &[&CheckpointId],
    children: &HashMap<&CheckpointId, Vec<&CheckpointHead>>,
    input: bool,
) -> HashSet<usize> {
    let mut leaves = HashSet::new();
    for (place, id) in ids.iter().enumerate() {
        let after = place.checked_sub(1).map(|place| path[place]);
        let is_input = match after {
            None => input,
            Some(after) => after.metadata.source == Source::Input,
        };
        let older = |child: &&CheckpointHead| after.is_none_or(|after| child.id < after.id);
        let branches = children.get(id).is_some_and(|of| of.iter().any(older));
        if !is_input || branches {
            leaves.insert(place);
        }
        if is_input {
            break;
        }
    }
    leaves
}

/// Sorts all checkpoints into those of `others` at which something was to be done, and those of the path itself.
fn sorted_out<'a>(
    heads: &'a [CheckpointHead],
    others: &HashMap<&CheckpointId, usize>,
    own: &HashSet<&CheckpointId>,
) -> (Vec<BranchCheckpoint>, Vec<&'a CheckpointHead>) {
    let finished: HashSet<(&str, &CheckpointId)> = heads
        .iter()
        .filter(|head| head.metadata.source == Source::Loop)
        .filter_map(|head| Some((&*head.ns, head.parent.as_ref()?)))
        .collect();
    let mut sites = Vec::new();
    let mut of_path = Vec::new();
    for head in heads {
        let root: CheckpointId = match head.ns.is_empty() {
            true => head.id.clone(),
            false => match head.metadata.parents.get("").and_then(Value::as_str) {
                Some(root) => root.into(),
                None => continue,
            },
        };
        if others.contains_key(&root) && !head.next.is_empty() {
            sites.push(BranchCheckpoint {
                ran: finished.contains(&(&*head.ns, &head.id)),
                ns: head.ns.clone(),
                id: head.id.clone(),
                ts: head.ts.clone(),
                next: head.next.clone(),
                root,
            });
        } else if own.contains(&root) {
            of_path.push(head);
        }
    }
    sites.sort_by(|a, b| a.id.cmp(&b.id));
    (sites, of_path)
}

/// Splits the checkpoints into those whose steps were done on other branches, and those of the run's own branch since
/// it left them.
fn split<'a>(
    heads: &'a [CheckpointHead],
    began: &RunStart,
) -> (Vec<BranchCheckpoint>, Vec<&'a CheckpointHead>) {
    let existed = |head: &&CheckpointHead| {
        head.ns.is_empty() && began.newest.as_ref().is_none_or(|newest| head.id <= *newest)
    };
    let mut roots: Vec<&CheckpointHead> = heads.iter().filter(existed).collect();
    roots.sort_by(|a, b| a.id.cmp(&b.id));
    let by_id: HashMap<&CheckpointId, &CheckpointHead> = roots.iter().map(|head| (&head.id, *head)).collect();
    // A copy of the first checkpoint has no parent either: both come from before it.
    let before_all = CheckpointId::new("");
    let parent_of = |head: &'a CheckpointHead| head.parent.as_ref().unwrap_or(&before_all);
    let mut children: HashMap<&CheckpointId, Vec<&CheckpointHead>> = HashMap::new();
    for head in &roots {
        children.entry(parent_of(head)).or_default().push(head);
    }
    let start = began.start.as_ref().and_then(|id| by_id.get(id).copied());
    let before = |head: &&'a CheckpointHead| head.parent.as_ref().and_then(|id| by_id.get(id).copied());
    // In a damaged place a checkpoint may come from itself.
    let path: Vec<&CheckpointHead> = std::iter::successors(start, before).take(roots.len()).collect();
    // Two branches may both come from what is not there: a checkpoint that was pruned since, or none. It ends the path.
    let absent = path.last().map(|last| parent_of(last));
    let ids: Vec<&CheckpointId> = path.iter().map(|head| &head.id).chain(absent).collect();
    // Was the step of path[place] finished on this path?
    let is_own = |place: usize| match place {
        0 => !began.leaves,
        _ => path[place - 1].metadata.source == Source::Loop,
    };
    let leaves = places_left(&path, &ids, &children, began.input);
    let places: HashMap<&CheckpointId, usize> =
        ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    // Parents are older than their children.
    let mut left_at: HashMap<&CheckpointId, usize> = absent.map(|id| (id, path.len())).into_iter().collect();
    let mut others: HashMap<&CheckpointId, usize> = HashMap::new();
    for head in &roots {
        let from = match places.get(&head.id) {
            Some(place) => Some(*place),
            None => left_at.get(parent_of(head)).copied(),
        };
        let Some(from) = from else { continue };
        left_at.insert(&head.id, from);
        let on_path = places.contains_key(&head.id);
        if leaves.contains(&from) && !(on_path && is_own(from)) {
            others.insert(&head.id, from);
        }
    }
    let furthest = others.values().copied().max();
    let own: HashSet<&CheckpointId> = path
        .iter()
        .enumerate()
        .filter(|(place, _)| furthest.is_some_and(|furthest| *place <= furthest) && is_own(*place))
        .map(|(_, head)| &head.id)
        .collect();
    sorted_out(heads, &others, &own)
}

impl Graph {
    /// Returns what a run from a checkpoint (None: from the newest) would do to the outside world a second time: what
    /// nodes with an [effect](crate::NodeOptions::effect) did after it, on any branch, in the order of their first
    /// time. Nodes of nested graphs are found where they are named in [`NodeOptions::runs`](crate::NodeOptions::runs).
    /// A checkpoint of a nested graph is one [within](StateRef::within) its namespace.
    pub async fn effects_after(&self, at: &StateRef) -> Result<Vec<EffectDone>, RunError> {
        let Some(saver) = &self.saver else {
            return Ok(Vec::new());
        };
        let thread = &at.thread;
        let mut entered = BTreeMap::new();
        let mut checkpoint = at.checkpoint_id.clone();
        if let (false, Some(id)) = (at.ns.is_empty(), &at.checkpoint_id) {
            let Some(tuple) = saver.get(thread, &at.ns, Some(id)).await? else {
                return Err(RunError::invalid_request(format!(
                    "Thread {thread} has no checkpoint {id} in {}. List the history of that graph and choose one of those.",
                    at.ns
                )));
            };
            entered = Address::of(&tuple).entries();
            checkpoint = entered.get("").cloned();
        }
        let newest = ListQuery::new().thread(thread.clone()).ns("").limit(1);
        let newest = saver.heads(&newest).await?.into_iter().next().map(|head| head.id);
        let start = checkpoint.or_else(|| newest.clone());
        let began = RunStart {
            leaves: start != newest || !entered.is_empty(),
            start,
            newest,
            input: false,
        };
        let known = KnownVisits::read(&**saver, thread, &began).await?;
        let mut seen = known.seen.lock().await;
        let mut found: Vec<EffectDone> = Vec::new();
        // What a branch has taken is found by reading its tasks; without one, lists say enough.
        let counts = seen.taken.is_empty();
        for place in 0..known.sites.len() {
            let site = &known.sites[place];
            // What a nested graph did before the run enters it stays as it is.
            if !site.ns.is_empty() && entered.get(&*site.ns).is_some_and(|id| site.id < *id) {
                continue;
            }
            let path: Vec<Name> = graph_path(&site.ns).into_iter().map(Name::from).collect();
            let Some(graph) = self.within(&path) else { continue };
            let acts = |name: &&Name| {
                let node = graph.plan.node_index.get(&***name);
                node.and_then(|node| graph.plan.node(*node).outside()).is_some()
            };
            let acting: Vec<&Name> = site.next.iter().filter(acts).collect();
            if acting.is_empty() {
                continue;
            }
            let is_last = |name: &Name| {
                let same = |later: &BranchCheckpoint| {
                    later.next.contains(name) && graph_path(&later.ns) == graph_path(&site.ns)
                };
                !known.sites[place + 1..].iter().any(same)
            };
            let scene = Scene {
                plan: &graph.plan,
                saver: &**saver,
                thread,
                ns: &site.ns,
            };
            if !counts || !site.ran || acting.iter().any(|name| is_last(name)) {
                known.look(&scene, place, &mut seen).await?;
                for visit in seen.visits.get(&place).into_iter().flatten() {
                    if !seen.is_taken(visit) {
                        note(&mut found, graph, &path, visit);
                    }
                }
            } else {
                for name in acting {
                    entry(&mut found, graph, &path, name, &site.root, &site.ts);
                }
            }
        }
        Ok(found)
    }

    /// Returns the graph reached through these nodes, each in the graph of the one before.
    fn within(&self, path: &[Name]) -> Option<&Graph> {
        let Some((node, rest)) = path.split_first() else {
            return Some(self);
        };
        let index = *self.plan.node_index.get(node)?;
        let mut graphs = self.plan.node(index).more().graphs.iter();
        graphs.find_map(|graph| graph.within(rest))
    }
}

fn entry<'a>(
    found: &'a mut Vec<EffectDone>,
    graph: &Graph,
    path: &[Name],
    node: &Name,
    root: &CheckpointId,
    ts: &str,
) -> &'a mut EffectDone {
    let index = match found
        .iter()
        .position(|done| done.node == *node && done.path == path)
    {
        Some(index) => index,
        None => {
            let spec = graph
                .plan
                .node_index
                .get(node)
                .map(|index| graph.plan.node(*index));
            found.push(EffectDone {
                node: node.clone(),
                path: path.to_vec(),
                effect: spec.and_then(NodePlan::outside).unwrap_or(Effect::Unknown),
                times: 0,
                at: ts.to_owned(),
                state: EffectState::Done,
                checkpoint: root.clone(),
                result: None,
            });
            found.len() - 1
        }
    };
    let done = &mut found[index];
    done.times += 1;
    done.at = ts.to_owned();
    done.checkpoint = root.clone();
    done
}

fn note(found: &mut Vec<EffectDone>, graph: &Graph, path: &[Name], visit: &Visit) {
    // Work that may be repeated and of which nobody knows that it began: it is done with the same key.
    let spec = graph
        .plan
        .node_index
        .get(&visit.node)
        .map(|index| graph.plan.node(*index));
    if visit.state != EffectState::Done && spec.and_then(NodePlan::outside) == Some(Effect::Idempotent) {
        return;
    }
    let done = entry(found, graph, path, &visit.node, &visit.root, &visit.ts);
    done.state = visit.state;
    let wrote = visit.state == EffectState::Done && !visit.writes.is_empty();
    done.result = wrote.then(|| task::result_view(&graph.plan, &visit.writes));
}
