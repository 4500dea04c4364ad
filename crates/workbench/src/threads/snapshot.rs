//! A thread at one moment: state, tasks, what ran and which way it went. All reads; nothing here changes a thread.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use superstep::{
    CheckpointHead, CheckpointId, Failure, Object, Source as MadeBy, StateRef, StateSnapshot, TaskSnapshot,
    TaskState, Value, waiting_questions,
};
use superstep_document::{Document, END, Edge, START};

use crate::Workbench;
use crate::base::blocking;
use crate::base::problem::no_thread;
use crate::base::values;
use crate::base::values::interrupt_view;
use crate::documents::graphs::Built;
use crate::ledger::TaskRow;
use crate::threads::compare::compare;
use crate::threads::is_state_key;
use crate::threads::lineage::Lineage;
use crate::wire::{
    AttemptView, ChangeKind, CheckpointRef, Compare, Comparison, EdgeCount, KeyView, NodeCount, Problem,
    ReadValue, SnapshotView, TaskStatus, TaskView, ValueView,
};

/// A state as it is shown: with the thread's graph, or the bare values when the graph is gone.
struct Shown {
    values: Object,
    tasks: Vec<TaskSnapshot>,
    next: Vec<String>,
}

impl From<StateSnapshot> for Shown {
    fn from(state: StateSnapshot) -> Self {
        Shown {
            values: state.values.as_object().cloned().unwrap_or_default(),
            next: state.next.iter().map(ToString::to_string).collect(),
            tasks: state.tasks,
        }
    }
}

fn no_checkpoint(thread_id: &str, id: &str) -> Problem {
    Problem::not_found(format!("Thread {thread_id} has no checkpoint {id}."))
        .remedy("It may have been deleted in another window; choose another one.")
}

/// The declared type of a key, as a word or two.
fn declared(schema: &serde_json::Value) -> String {
    match schema.get("type") {
        Some(serde_json::Value::String(name)) => name.clone(),
        Some(serde_json::Value::Array(names)) => names
            .iter()
            .filter_map(|name| name.as_str())
            .collect::<Vec<_>>()
            .join(" | "),
        _ if schema.get("enum").is_some() => "enum".to_owned(),
        _ => "any".to_owned(),
    }
}

fn change(before: Option<&Value>, now: Option<&Value>) -> ChangeKind {
    match (before, now) {
        (None, None) => ChangeKind::Same,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Removed,
        (Some(before), Some(now)) if before == now => ChangeKind::Same,
        (Some(Value::Array(before)), Some(Value::Array(now))) if values::is_appended(before, now) => {
            ChangeKind::Appended
        }
        _ => ChangeKind::Changed,
    }
}

/// What is known of a checkpoint's tasks beside what is stored of them.
pub(crate) struct TasksOf<'a> {
    pub(crate) timings: &'a [TaskRow],
    pub(crate) running: &'a HashSet<String>,
    pub(crate) attempts: &'a HashMap<String, Vec<AttemptView>>,
    /// Tasks whose questions wait; the others' were withdrawn.
    pub(crate) waiting: Option<&'a HashSet<String>>,
    /// Their step has ended.
    pub(crate) closed: bool,
    pub(crate) document: Option<&'a Document>,
}

/// What an error that is shown as `Class('message')` says of the failure.
fn failure_of(shown: &str) -> Failure {
    let (class, message) = shown.split_once('(').unwrap_or(("Exception", shown));
    Failure::new(class, message)
}

/// Why a task of this document was not tried again, as far as its error says.
pub(crate) fn not_retried(document: &Document, node: &str, error: &str) -> Option<String> {
    let (_, spec) = document.nodes().find(|(id, _)| *id == node)?;
    superstep_nodes::not_retried(&spec.conduct, &failure_of(error))
}

pub(crate) fn task_view(task: &TaskSnapshot, known: &TasksOf<'_>) -> TaskView {
    let id = task.id.to_string();
    let row = known.timings.iter().find(|row| row.task_id == id);
    // A result beside an error is of a node whose router failed, or of a later attempt, which succeeded.
    let succeeded =
        task.result.is_some() && (task.error.is_none() || row.map_or(known.closed, |row| row.finished));
    let asks = !task.interrupts.is_empty() && known.waiting.is_none_or(|waiting| waiting.contains(&id));
    let status = if known.running.contains(&id) {
        TaskStatus::Running
    } else if succeeded {
        TaskStatus::Done
    } else if task.error.is_some() {
        TaskStatus::Failed
    } else if asks {
        TaskStatus::Asking
    } else {
        TaskStatus::Waiting
    };
    let mut attempts = known.attempts.get(&id).cloned().unwrap_or_default();
    let mut error = task.error.clone();
    if status == TaskStatus::Done
        && let Some(error) = error.take()
    {
        // The run before failed with it; what it tried before that is kept, as the last attempts that failed are.
        attempts.push(AttemptView {
            attempt: attempts.last().map_or(0, |last| last.attempt) + 1,
            error,
            wait_millis: None,
        });
    }
    let not_retried = match (status, &error, known.document) {
        (TaskStatus::Failed, Some(error), Some(document)) => not_retried(document, &task.name, error),
        _ => None,
    };
    TaskView {
        node: task.name.to_string(),
        status,
        error,
        interrupts: match status {
            // What was withdrawn is not asked any more.
            TaskStatus::Waiting => Vec::new(),
            _ => task.interrupts.iter().map(interrupt_view).collect(),
        },
        result: task.result.as_ref().map(values::view),
        targets: task.targets.iter().map(ToString::to_string).collect(),
        millis: row.map(|row| row.millis),
        attempts,
        not_retried,
        within: task.state.as_ref().and_then(|state| match state {
            TaskState::Ns(ns) => Some(ns.to_string()),
            TaskState::Snapshot(_) => None,
        }),
        id,
    }
}

/// What ran and which edges were followed on the way to a checkpoint.
#[derive(Default)]
struct Way {
    visits: BTreeMap<String, u32>,
    taken: BTreeMap<(String, String), u32>,
}

impl Way {
    fn ran(&mut self, node: &str) {
        if node != START {
            *self.visits.entry(node.to_owned()).or_default() += 1;
        }
    }

    fn took(&mut self, from: &str, to: &str) {
        *self.taken.entry((from.to_owned(), to.to_owned())).or_default() += 1;
    }

    /// A task that ended and where its writes led. Ways to the end leave no trace in storage, so they follow from the
    /// edges: a plain edge is always followed, a conditional one when nothing else was.
    fn finished(&mut self, edges: &Edges, node: &str, targets: &[String]) {
        self.ran(node);
        for target in targets {
            self.took(node, target);
        }
        match edges.to_end.get(node) {
            Some(Ending::Always) => self.took(node, END),
            Some(Ending::Otherwise) if targets.is_empty() => self.took(node, END),
            _ => {}
        }
    }
}

enum Ending {
    Always,
    Otherwise,
}

/// The document's edges by source.
#[derive(Default)]
struct Edges {
    targets: HashMap<String, HashSet<String>>,
    to_end: HashMap<String, Ending>,
}

impl Edges {
    fn of(document: &Document) -> Self {
        let mut edges = Edges::default();
        for (_, edge) in document.edges() {
            for source in edge.sources() {
                for target in edge.targets() {
                    if target == END {
                        let ending = match edge {
                            Edge::Plain { .. } => Ending::Always,
                            _ => Ending::Otherwise,
                        };
                        let entry = edges.to_end.entry(source.to_owned()).or_insert(Ending::Otherwise);
                        if matches!(ending, Ending::Always) {
                            *entry = ending;
                        }
                    } else {
                        edges
                            .targets
                            .entry(source.to_owned())
                            .or_default()
                            .insert(target.to_owned());
                    }
                }
            }
        }
        edges
    }

    /// Where a source led, found from what ran next: exact unless two sources of one step lead to the same target.
    fn led(&self, from: &str, next: &[superstep::Name]) -> Vec<String> {
        let targets = self.targets.get(from);
        next.iter()
            .filter(|name| targets.is_some_and(|targets| targets.contains(&***name)))
            .map(ToString::to_string)
            .collect()
    }
}

/// Super-steps that are counted on the way to a checkpoint.
const COUNTED: usize = 2_000;

impl Workbench {
    /// A checkpoint of a thread that must be there.
    pub(crate) async fn head(&self, thread_id: &str, id: &str) -> Result<CheckpointHead, Problem> {
        let heads = self.heads(thread_id, Some(id), Some(1)).await?;
        heads
            .into_iter()
            .next()
            .ok_or_else(|| no_checkpoint(thread_id, id))
    }

    async fn shown(
        &self,
        built: Option<&Arc<Built>>,
        thread_id: &str,
        id: Option<&str>,
    ) -> Result<Shown, Problem> {
        if let Some(built) = built {
            let at = StateRef::live(thread_id).checkpoint(id.map(CheckpointId::from));
            return Ok(built.graph.get_state(&at).await?.into());
        }
        let id = id.map(CheckpointId::from);
        let tuple = self
            .saver()
            .get(&thread_id.into(), "", id.as_ref())
            .await?
            .ok_or_else(|| match &id {
                Some(id) => no_checkpoint(thread_id, id.as_str()),
                None => no_thread(thread_id),
            })?;
        let values = tuple
            .checkpoint
            .channel_values
            .iter()
            .filter(|(name, _)| is_state_key(name));
        Ok(Shown {
            values: values
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            tasks: Vec::new(),
            next: tuple.checkpoint.next.iter().map(ToString::to_string).collect(),
        })
    }

    /// The state keys of a checkpoint, or of the newest one.
    pub(crate) async fn state_at(self: &Arc<Self>, at: &CheckpointRef) -> Result<Object, Problem> {
        if let Some(id) = &at.checkpoint_id {
            // To the engine a checkpoint that is not there is an empty state.
            self.head(&at.thread_id, id).await?;
        }
        let built = self.reading_graph(&at.thread_id).await?;
        let shown = self.shown(built.as_ref(), &at.thread_id, at.checkpoint_id.as_deref());
        Ok(shown.await?.values)
    }

    /// The graph of a thread, if there is any way to have it.
    pub(crate) async fn reading_graph(
        self: &Arc<Self>,
        thread_id: &str,
    ) -> Result<Option<Arc<Built>>, Problem> {
        let Ok(key) = self.key_of_thread(thread_id).await else {
            return Ok(None);
        };
        let this = self.clone();
        blocking(move || this.build_to_read(&key)).await
    }

    pub(crate) async fn thread_snapshot(
        self: &Arc<Self>,
        request: CheckpointRef,
    ) -> Result<SnapshotView, Problem> {
        let thread_id = request.thread_id.as_str();
        let newest = self.heads(thread_id, None, Some(1)).await?.into_iter().next();
        let target = match &request.checkpoint_id {
            Some(id) => Some(self.head(thread_id, id).await?),
            None => newest.clone(),
        };
        let Some(head) = target else {
            // Known, but nothing is stored yet.
            self.thread(thread_id).await?;
            return Ok(SnapshotView {
                thread_id: thread_id.to_owned(),
                checkpoint: None,
                is_head: true,
                keys: Vec::new(),
                next: Vec::new(),
                tasks: Vec::new(),
                previous_tasks: Vec::new(),
                visits: Vec::new(),
                taken: Vec::new(),
                counted: None,
            });
        };
        let is_head = newest.as_ref().is_some_and(|newest| newest.id == head.id);
        let live = request.checkpoint_id.is_none();
        let built = self.reading_graph(thread_id).await?;
        // While a run goes on, the newest checkpoint may be a newer one by now: what is shown is the one that was read
        // first unless the finished tasks of the open step are wanted.
        let id = (!live).then(|| head.id.as_str());
        let now = self.shown(built.as_ref(), thread_id, id).await?;
        let mut lineage = Lineage::from(self, thread_id, [head.clone()]);
        let (line, longer) = lineage.line(&head, COUNTED).await?;
        let before = match line.first() {
            Some(parent) => Some(
                self.shown(built.as_ref(), thread_id, Some(parent.id.as_str()))
                    .await?,
            ),
            None => None,
        };
        let oldest = line.last().unwrap_or(&head).id.as_str();
        let timings = self.ledger.tasks(thread_id, oldest, head.id.as_str())?;
        let none = Vec::new();
        let of = |id: &str| timings.get(id).unwrap_or(&none);
        let shown = now
            .tasks
            .iter()
            .chain(before.iter().flat_map(|before| &before.tasks));
        let ids: Vec<&str> = shown.map(|task| task.id.as_str()).collect();
        let attempts = self.ledger.attempts(thread_id, &ids)?;
        let running = if is_head {
            self.hub.working(thread_id)
        } else {
            HashSet::new()
        };
        let waiting: HashSet<String> = waiting_questions(&self.writes_at(thread_id, &head.id).await?)
            .iter()
            .map(|(write, _)| write.task_id.to_string())
            .collect();
        let (idle, nobody) = (HashSet::new(), HashSet::new());
        let document = built.as_ref().map(|built| &built.source.document);
        let known = TasksOf {
            timings: of(head.id.as_str()),
            running: &running,
            attempts: &attempts,
            waiting: Some(&waiting),
            closed: false,
            document,
        };
        let tasks = now.tasks.iter().map(|task| task_view(task, &known)).collect();
        let led = head.metadata.source == MadeBy::Loop;
        let before_it = TasksOf {
            timings: head.parent.as_ref().map_or(&none, |id| of(id.as_str())),
            running: &idle,
            attempts: &attempts,
            // The step that led here has ended; what an edit left behind may still wait.
            waiting: Some(&nobody).filter(|_| led),
            closed: led,
            document,
        };
        let previous_tasks = before
            .iter()
            .flat_map(|before| &before.tasks)
            .map(|task| task_view(task, &before_it))
            .collect();
        let way = way(&line, &head, built.as_deref(), &timings, live.then_some(&now));
        Ok(SnapshotView {
            thread_id: thread_id.to_owned(),
            keys: keys(&head, built.as_deref(), &now, before.as_ref(), live),
            checkpoint: Some(self.marked(thread_id, &head)?),
            is_head,
            next: now.next,
            tasks,
            previous_tasks,
            visits: way
                .visits
                .into_iter()
                .map(|(node, runs)| NodeCount { node, runs })
                .collect(),
            taken: way
                .taken
                .into_iter()
                .map(|((from, to), times)| EdgeCount { from, to, times })
                .collect(),
            counted: longer.then_some(COUNTED as u32),
        })
    }

    pub(crate) async fn thread_value(self: &Arc<Self>, request: ReadValue) -> Result<ValueView, Problem> {
        let state = match self.key_alone(&request).await? {
            Some(state) => state,
            None => {
                let at = CheckpointRef {
                    thread_id: request.thread_id.clone(),
                    checkpoint_id: request.checkpoint_id.clone(),
                };
                self.state_at(&at).await?
            }
        };
        let root = Value::Object(state);
        Ok(values::part(
            values::at(&root, &request.pointer)?,
            request.offset,
            request.limit,
        ))
    }

    /// The one key of the state that is asked for, read without the others; `None` when only the graph can tell what
    /// its value is: it has none that is stored, or one that is rebuilt, or finished tasks of an open step count.
    async fn key_alone(&self, request: &ReadValue) -> Result<Option<Object>, Problem> {
        let (Some(id), Some(path)) = (&request.checkpoint_id, request.pointer.strip_prefix('/')) else {
            return Ok(None);
        };
        let key = values::unescaped(path.split('/').next().unwrap_or_default());
        if !is_state_key(&key) {
            return Ok(None);
        }
        let (thread, id) = (request.thread_id.as_str().into(), CheckpointId::from(id.as_str()));
        let found = self
            .saver()
            .values(&thread, "", Some(&id), &[key.as_str().into()])
            .await;
        let found = found?;
        let value = found.and_then(|values| values.get(key.as_str()).cloned());
        let plain = value.filter(|value| value.get("__snapshot__").is_none());
        Ok(plain.map(|value| [(key, value)].into_iter().collect()))
    }

    pub(crate) async fn thread_compare(self: &Arc<Self>, request: Compare) -> Result<Comparison, Problem> {
        let (left, left_head) = self.side(&request.left).await?;
        let (right, right_head) = self.side(&request.right).await?;
        let common_ancestor = if request.left.thread_id == request.right.thread_id {
            let both = [left_head.clone(), right_head.clone()];
            let mut lineage = Lineage::from(self, &request.left.thread_id, both);
            lineage.common_ancestor(&left_head.id, &right_head.id).await?
        } else {
            None
        };
        let equal_keys = left
            .iter()
            .filter(|(key, value)| right.get(key) == Some(*value))
            .map(|(key, _)| key.to_string())
            .collect();
        // Large states take a while; other commands go on meanwhile.
        let differences = blocking(move || compare(&Value::Object(left), &Value::Object(right))).await?;
        Ok(Comparison {
            left: self.marked(&request.left.thread_id, &left_head)?,
            right: self.marked(&request.right.thread_id, &right_head)?,
            common_ancestor: common_ancestor.map(|id| id.to_string()),
            differences: differences.found,
            equal_keys,
            truncated: differences.truncated,
        })
    }

    async fn side(self: &Arc<Self>, side: &CheckpointRef) -> Result<(Object, CheckpointHead), Problem> {
        let head = match &side.checkpoint_id {
            Some(id) => self.head(&side.thread_id, id).await?,
            None => {
                let newest = self
                    .heads(&side.thread_id, None, Some(1))
                    .await?
                    .into_iter()
                    .next();
                newest.ok_or_else(|| {
                    Problem::not_found(format!("Thread {} has no checkpoint to compare.", side.thread_id))
                        .remedy("Run it first.")
                })?
            }
        };
        let built = self.reading_graph(&side.thread_id).await?;
        let state = self
            .shown(built.as_ref(), &side.thread_id, side.checkpoint_id.as_deref())
            .await?;
        Ok((state.values, head))
    }
}

fn keys(
    head: &CheckpointHead,
    built: Option<&Built>,
    now: &Shown,
    before: Option<&Shown>,
    live: bool,
) -> Vec<KeyView> {
    let nothing = Object::new();
    let old = before.map_or(&nothing, |before| &before.values);
    let mut declared_keys: Vec<(String, String, String)> = Vec::new();
    if let Some(built) = built {
        for (name, key) in built.source.document.state_keys() {
            let reducer = match key.channel {
                superstep_document::ChannelKind::Kept => key.reducer.as_str(),
                channel => channel.as_str(),
            };
            declared_keys.push((name.to_owned(), declared(&key.schema), reducer.to_owned()));
        }
    }
    let known: HashSet<String> = declared_keys.iter().map(|(name, ..)| name.clone()).collect();
    let mut extra: Vec<String> = now
        .values
        .keys()
        .chain(old.keys())
        .map(ToString::to_string)
        .collect();
    extra.retain(|name| !known.contains(name));
    extra.sort();
    extra.dedup();
    declared_keys.extend(
        extra
            .into_iter()
            .map(|name| (name, "any".to_owned(), String::new())),
    );

    let edited_as = head.metadata.user.get("as_node").and_then(Value::as_str);
    let wrote = |task: &TaskSnapshot, key: &str| {
        task.result
            .as_ref()
            .is_some_and(|result| result.get(key).is_some())
    };
    declared_keys
        .into_iter()
        .map(|(key, declared, reducer)| {
            let (value, previous) = (now.values.get(&key), old.get(&key));
            let change = change(previous, value);
            let mut writers: Vec<String> = match head.metadata.source {
                MadeBy::Update if change != ChangeKind::Same => {
                    edited_as.iter().map(ToString::to_string).collect()
                }
                MadeBy::Loop => before
                    .iter()
                    .flat_map(|before| &before.tasks)
                    .filter(|task| wrote(task, &key))
                    .map(|task| task.name.to_string())
                    .collect(),
                _ => Vec::new(),
            };
            if live {
                writers.extend(
                    now.tasks
                        .iter()
                        .filter(|task| wrote(task, &key))
                        .map(|task| task.name.to_string()),
                );
            }
            writers.dedup();
            KeyView {
                declared,
                reducer,
                value: value.map(values::view),
                change,
                previous: previous.filter(|_| change != ChangeKind::Same).map(values::view),
                writers,
                key,
            }
        })
        .collect()
}

fn way(
    line: &[CheckpointHead],
    head: &CheckpointHead,
    built: Option<&Built>,
    timings: &HashMap<String, Vec<TaskRow>>,
    live: Option<&Shown>,
) -> Way {
    let edges = built
        .map(|built| Edges::of(&built.source.document))
        .unwrap_or_default();
    let mut way = Way::default();
    let mut child = head;
    // An edit as the node that had just run takes the place of that node's own edges.
    let mut edited: Option<String> = None;
    for parent in line {
        match child.metadata.source {
            MadeBy::Loop => {
                let edited = edited.take();
                let rows = timings.get(parent.id.as_str());
                let mut noted: Vec<&TaskRow> =
                    rows.into_iter().flatten().filter(|row| row.finished).collect();
                for node in &parent.next {
                    if edited.as_deref() == Some(&**node) {
                        way.ran(node);
                        continue;
                    }
                    // One row per task: a fan-out has several of one node.
                    match noted.iter().position(|row| *row.node == **node) {
                        Some(index) => {
                            let row = noted.swap_remove(index);
                            way.finished(&edges, node, &row.targets);
                        }
                        None => way.finished(&edges, node, &edges.led(node, &child.next)),
                    }
                }
            }
            MadeBy::Update => {
                if let Some(node) = child.metadata.user.get("as_node").and_then(Value::as_str) {
                    for target in edges.led(node, &child.next) {
                        way.took(node, &target);
                    }
                    edited = Some(node.to_owned());
                }
            }
            MadeBy::Input | MadeBy::Fork => {}
        }
        child = parent;
    }
    for task in live
        .iter()
        .flat_map(|now| &now.tasks)
        .filter(|task| task.result.is_some())
    {
        let targets: Vec<String> = task.targets.iter().map(ToString::to_string).collect();
        way.finished(&edges, &task.name, &targets);
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    use superstep::json;

    #[test]
    fn a_key_changes_in_one_of_five_ways() {
        let (one, two, more) = (json!([1]), json!([2]), json!([1, 2]));
        assert_eq!(change(None, None), ChangeKind::Same);
        assert_eq!(change(None, Some(&one)), ChangeKind::Added);
        assert_eq!(change(Some(&one), None), ChangeKind::Removed);
        assert_eq!(change(Some(&one), Some(&one)), ChangeKind::Same);
        assert_eq!(change(Some(&one), Some(&more)), ChangeKind::Appended);
        assert_eq!(change(Some(&more), Some(&one)), ChangeKind::Changed);
        assert_eq!(change(Some(&one), Some(&two)), ChangeKind::Changed);
    }

    #[test]
    fn the_type_of_a_key_is_a_word_or_two() {
        let said = |schema: serde_json::Value| declared(&schema);
        assert_eq!(said(serde_json::json!({"type": "integer"})), "integer");
        assert_eq!(
            said(serde_json::json!({"type": ["string", "null"]})),
            "string | null"
        );
        assert_eq!(said(serde_json::json!({"enum": ["a"]})), "enum");
        assert_eq!(said(serde_json::json!({})), "any");
    }

    fn document(edges: serde_json::Value) -> Document {
        let text = serde_json::json!({
            "format": "superstep/1",
            "nodes": {"a": {"kind": "assign"}, "b": {"kind": "assign"}, "c": {"kind": "assign"}},
            "edges": edges
        });
        Document::parse(&text.to_string()).0
    }

    fn ways(edges: &Edges, node: &str, targets: &[&str]) -> Vec<String> {
        let mut way = Way::default();
        let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
        way.finished(edges, node, &targets);
        assert_eq!(way.visits.get(node), Some(&1));
        way.taken
            .into_iter()
            .map(|((from, to), times)| format!("{from}>{to} {times}"))
            .collect()
    }

    #[test]
    fn ways_to_the_end_follow_from_the_edges() {
        let plain = Edges::of(&document(serde_json::json!([
            {"from": "a", "to": "__end__"}, {"from": "a", "to": "b"}
        ])));
        assert_eq!(
            ways(&plain, "a", &["b"]),
            ["a>__end__ 1", "a>b 1"],
            "a plain edge is always followed"
        );
        let choice = Edges::of(&document(serde_json::json!([
            {"from": "a", "to": "__end__", "when": "state.n > 1"}, {"from": "a", "to": "b", "when": "state.n <= 1"}
        ])));
        assert_eq!(ways(&choice, "a", &["b"]), ["a>b 1"]);
        assert_eq!(ways(&choice, "a", &[]), ["a>__end__ 1"], "when nothing else was");
        assert_eq!(
            ways(&choice, "b", &[]),
            Vec::<String>::new(),
            "b has no way to the end"
        );
        // One plain edge among conditional ones is followed every time, in either order.
        let both = |turned: bool| {
            let mut edges = vec![
                serde_json::json!({"from": "a", "to": "__end__", "when": "state.n > 1"}),
                serde_json::json!({"from": "a", "to": "__end__"}),
            ];
            if turned {
                edges.reverse();
            }
            Edges::of(&document(edges.into()))
        };
        for turned in [false, true] {
            assert_eq!(ways(&both(turned), "a", &["b"]), ["a>__end__ 1", "a>b 1"]);
        }
        let next: Vec<superstep::Name> = vec!["b".into(), "c".into()];
        assert_eq!(plain.led("a", &next), ["b"]);
        assert_eq!(plain.led("c", &next), Vec::<String>::new());
        let mut way = Way::default();
        way.ran(START);
        way.ran("a");
        way.ran("a");
        assert_eq!(way.visits.into_iter().collect::<Vec<_>>(), [("a".to_owned(), 2)]);
    }
}
