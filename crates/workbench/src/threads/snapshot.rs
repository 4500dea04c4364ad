//! A thread at one moment: state, tasks, and the route that led there. All reads; nothing here changes a thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use superstep::checkpoint::{CheckpointHead, GraphVersion, ListQuery, Source};
use superstep::inspect::{ForeignWork, Lineage, TaskSnapshot, waiting_questions};
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, StateSnapshot, ThreadId, Value};
use superstep_document::Document;

use crate::Workbench;
use crate::base::blocking;
use crate::base::problem::{no_checkpoint, no_thread};
use crate::base::values;
use crate::documents::graphs::Built;
use crate::ledger::TaskRow;
use crate::session::RanOn;
use crate::threads::compare::compare;
use crate::threads::paths::{PathEnd, paths};
use crate::threads::provenance::records;
use crate::threads::route::{Route, route};
use crate::threads::tasks::{TasksOf, task_view};
use crate::threads::ways::Wires;
use crate::threads::{is_state_key, stored_state};
use crate::wire::{
    ChangeKind, CheckpointRef, Compare, Comparison, EdgeCount, KeyView, NodeCount, Problem, ReadValue,
    SnapshotView, TaskView, ValueView,
};
use superstep_document::text;

/// A state as it is shown: with the thread's graph, or the bare values when the graph is gone.
pub(super) struct Shown {
    pub(super) values: Object,
    pub(super) tasks: Vec<TaskSnapshot>,
    next: Vec<String>,
    /// The checkpoint that the graph read; None for bare values, which are those of the checkpoint asked for.
    head: Option<CheckpointHead>,
}

impl From<StateSnapshot> for Shown {
    fn from(state: StateSnapshot) -> Self {
        Shown {
            values: state.values.as_object().cloned().unwrap_or_default(),
            next: state.next.iter().map(ToString::to_string).collect(),
            tasks: state.tasks,
            head: state.checkpoint,
        }
    }
}

/// Returns the declared type of a key, in a word or two.
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

pub(super) fn change(before: Option<&Value>, now: Option<&Value>) -> ChangeKind {
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

/// Builds the view of a thread that is known but has no checkpoint yet.
fn nothing_stored(thread_id: &str) -> SnapshotView {
    SnapshotView {
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
    }
}

/// A checkpoint with what is known around it.
struct Moment<'a> {
    thread_id: &'a str,
    head: &'a CheckpointHead,
    /// The checkpoints before it, the nearest first.
    line: &'a [CheckpointHead],
    now: &'a Shown,
    before: Option<&'a Shown>,
    is_head: bool,
    document: Option<&'a Document>,
    wires: &'a Wires,
    timings: &'a HashMap<String, Vec<TaskRow>>,
}

/// Super-steps that are counted on the way to a checkpoint.
const MAX_COUNTED: usize = 2_000;

/// Returns how often nodes ran and ways were taken. Threads of another program are shown on any graph, by the names of its
/// nodes, so their ways are not told apart further.
fn counts(route: Route, foreign: bool) -> (Vec<NodeCount>, Vec<EdgeCount>) {
    let visits = route.visits.into_iter().map(|(node, visits)| NodeCount {
        node,
        runs: visits.runs,
        rerouted: visits.rerouted == Some(true),
    });
    let taken = route.taken.into_iter().map(|((from, to, way), times)| EdgeCount {
        from,
        to,
        way: way.filter(|_| !foreign),
        times,
    });
    (visits.collect(), taken.collect())
}

/// Steps of another program of which it is read where their tasks led; what ran next shows it of those before.
const MAX_LED: usize = 500;

/// Returns the finished tasks of the steps before a checkpoint of another program, with the nodes that each led to.
async fn rows_of_foreign(
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    head: &CheckpointHead,
) -> Result<HashMap<String, Vec<TaskRow>>, Problem> {
    let query = ListQuery::new()
        .thread(thread.clone())
        .ns("")
        .before(Some(head.id.clone()))
        .limit(MAX_LED);
    let mut rows: HashMap<String, Vec<TaskRow>> = HashMap::new();
    for step in saver.foreign_steps(&query).await? {
        let done = step.work.iter().filter(|work| work.finished && !work.marked);
        let row = |work: &ForeignWork| TaskRow {
            checkpoint_id: step.head.id.to_string(),
            task_id: work.task.to_string(),
            node: work.node.to_string(),
            millis: 0,
            finished: true,
            targets: (work.ways.iter())
                .flat_map(|way| vec![way.to.to_string(); way.packets.max(1) as usize])
                .collect(),
            ways: None,
            status: None,
            questions: Vec::new(),
            at: String::new(),
        };
        rows.insert(step.head.id.to_string(), done.map(row).collect());
    }
    Ok(rows)
}

impl Workbench {
    /// Returns the wires of a thread's graph, or of one within these nodes, as far as threads of another program show it; none
    /// where the threads are ours.
    pub(super) async fn seen_wires(&self, thread_id: &str, within: &[String]) -> Result<Wires, Problem> {
        let found = self.seen_of(thread_id).await?;
        let graph = found.as_ref().and_then(|(seen, place)| seen.graphs.get(*place));
        let document = graph.and_then(|graph| graph.document(within));
        Ok(document.map(Wires::of).unwrap_or_default())
    }

    /// Reads a checkpoint of a thread, which must exist.
    pub(crate) async fn head(&self, thread_id: &str, id: &str) -> Result<CheckpointHead, Problem> {
        let heads = self.heads(thread_id, Some(id), Some(1)).await?;
        heads
            .into_iter()
            .next()
            .ok_or_else(|| no_checkpoint(thread_id, id))
    }

    pub(super) async fn shown(
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
        let missing = || match &id {
            Some(id) => no_checkpoint(thread_id, id.as_str()),
            None => no_thread(thread_id),
        };
        let saver = self.saver();
        if saver.foreign().is_some() {
            let at = StateRef::live(thread_id).checkpoint(id.clone());
            return Ok(saver.foreign_state(&at).await?.ok_or_else(missing)?.into());
        }
        let tuple = saver
            .get(&thread_id.into(), "", id.as_ref())
            .await?
            .ok_or_else(missing)?;
        Ok(Shown {
            values: stored_state(&tuple.checkpoint),
            tasks: Vec::new(),
            next: tuple.checkpoint.next.iter().map(ToString::to_string).collect(),
            head: None,
        })
    }

    /// Reads the state keys of a checkpoint, or of the newest one.
    pub(crate) async fn state_at(self: &Arc<Self>, at: &CheckpointRef) -> Result<Object, Problem> {
        if let Some(id) = &at.checkpoint_id {
            // To the engine a checkpoint that is not there is an empty state.
            self.head(&at.thread_id, id).await?;
        }
        let built = self.reading_graph(&at.thread_id).await?;
        let shown = self.shown(built.as_ref(), &at.thread_id, at.checkpoint_id.as_deref());
        Ok(shown.await?.values)
    }

    /// Returns the graph of a thread, if it can be obtained in any way.
    pub(crate) async fn reading_graph(
        self: &Arc<Self>,
        thread_id: &str,
    ) -> Result<Option<Arc<Built>>, Problem> {
        let head = self.heads(thread_id, None, Some(1)).await?.into_iter().next();
        self.graph_that_ran(thread_id, head).await
    }

    /// Returns the graph of a thread as the checkpoint's run had it, or as it is now where that is not known.
    pub(crate) async fn graph_that_ran(
        self: &Arc<Self>,
        thread_id: &str,
        head: Option<CheckpointHead>,
    ) -> Result<Option<Arc<Built>>, Problem> {
        // What another program's graph does is not known, whatever its threads note.
        if self.saver().foreign().is_some() {
            return Ok(None);
        }
        let Ok(key) = self.key_of_thread(thread_id).await else {
            return Ok(None);
        };
        let recorded = head.as_ref().and_then(GraphVersion::of).map(str::to_owned);
        let (this, of) = (self.clone(), key.clone());
        let now = blocking(move || {
            let source = this.source_by_key(&of).ok()?;
            Some(this.consists_of(&source).version.id.clone())
        })
        .await?;
        // A thread is read with the graph that it ran on, so that nothing of it is missing when the graph has moved on.
        if let (Some(head), Some(recorded), Some(now)) = (&head, recorded, now)
            && recorded != *now
            && let Some(ran) = RanOn::read(&*self.saver(), &thread_id.into(), head).await?
        {
            let (this, of) = (self.clone(), key.clone());
            if let Some(built) = blocking(move || this.build_as_it_was(&of, ran)).await? {
                return Ok(Some(built));
            }
        }
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
        let Some(mut head) = target else {
            // Known, but nothing is stored yet.
            self.thread(thread_id).await?;
            return Ok(nothing_stored(thread_id));
        };
        let is_head = newest.is_some_and(|newest| newest.id == head.id);
        let live = request.checkpoint_id.is_none();
        let built = self.reading_graph(thread_id).await?;
        // The finished tasks of the open step come with the newest state, as a graph reads it. While a run goes on that may
        // be of a newer checkpoint by now: then all that is shown is of that one.
        let (saver, thread) = (self.saver(), ThreadId::from(thread_id));
        let foreign = saver.foreign().is_some();
        let id = (!live || (built.is_none() && !foreign)).then(|| head.id.as_str());
        let now = self.shown(built.as_ref(), thread_id, id).await?;
        if let Some(read) = now.head.clone() {
            head = read;
        }
        let mut lineage = Lineage::from(&*saver, &thread, [head.clone()]);
        let (line, longer) = lineage.line(&head, MAX_COUNTED).await?;
        let before = match line.first() {
            Some(parent) => Some(
                self.shown(built.as_ref(), thread_id, Some(parent.id.as_str()))
                    .await?,
            ),
            None => None,
        };
        let oldest = line.last().unwrap_or(&head).id.as_str();
        let timings = self.ledger.tasks(thread_id, oldest, head.id.as_str())?;
        let wires = match &built {
            Some(built) => Wires::of(&built.source.document),
            None => self.seen_wires(thread_id, &[]).await?,
        };
        let moment = Moment {
            thread_id,
            head: &head,
            line: &line,
            now: &now,
            before: before.as_ref(),
            is_head,
            document: built.as_ref().map(|built| &built.source.document),
            wires: &wires,
            timings: &timings,
        };
        let (tasks, previous_tasks) = self.tasks_at(&moment).await?;
        let open: &[TaskSnapshot] = if live { &now.tasks } else { &[] };
        let route = match foreign {
            true => {
                let led = rows_of_foreign(&*saver, &thread, &head).await?;
                route(&line, &head, &wires, &led, open)
            }
            false => route(&line, &head, &wires, &timings, open),
        };
        let (visits, taken) = counts(route, foreign);
        Ok(SnapshotView {
            thread_id: thread_id.to_owned(),
            keys: keys(&head, built.as_deref(), &now, before.as_ref(), live),
            checkpoint: Some(self.marked(thread_id, &head)?),
            is_head,
            next: now.next,
            tasks,
            previous_tasks,
            visits,
            taken,
            counted: longer.then_some(MAX_COUNTED as u32),
        })
    }

    /// Returns the tasks of a checkpoint, and those of the step before it.
    async fn tasks_at(&self, moment: &Moment<'_>) -> Result<(Vec<TaskView>, Vec<TaskView>), Problem> {
        let Moment {
            thread_id,
            head,
            line,
            now,
            before,
            is_head,
            document,
            wires,
            timings,
        } = moment;
        let none = Vec::new();
        let of = |id: &str| timings.get(id).unwrap_or(&none);
        let shown = now
            .tasks
            .iter()
            .chain(before.iter().flat_map(|before| &before.tasks));
        let ids: Vec<&str> = shown.map(|task| task.id.as_str()).collect();
        let attempts = self.ledger.attempts(thread_id, &ids)?;
        let running = if *is_head {
            self.hub.working(thread_id)
        } else {
            HashSet::new()
        };
        let stored = self.writes_at(thread_id, &head.id).await?;
        let stored_before = match line.first() {
            Some(parent) => self.writes_at(thread_id, &parent.id).await?,
            None => Vec::new(),
        };
        let (own_records, records_before) = (records(&stored), records(&stored_before));
        let waiting: HashSet<String> = waiting_questions(&stored)
            .iter()
            .map(|(write, _)| write.task_id.to_string())
            .collect();
        let (idle, nobody) = (HashSet::new(), HashSet::new());
        let known = TasksOf {
            timings: of(head.id.as_str()),
            running: &running,
            attempts: &attempts,
            waiting: Some(&waiting),
            closed: false,
            document: *document,
            wires,
            records: &own_records,
        };
        let tasks = now.tasks.iter().map(|task| task_view(task, &known)).collect();
        let led = head.metadata.source == Source::Loop;
        let before_it = TasksOf {
            timings: head.parent.as_ref().map_or(&none, |id| of(id.as_str())),
            running: &idle,
            attempts: &attempts,
            // The step that led here has ended; what an edit left behind may still wait.
            waiting: Some(&nobody).filter(|_| led),
            closed: led,
            document: *document,
            wires,
            records: &records_before,
        };
        let previous_tasks = before
            .iter()
            .flat_map(|before| &before.tasks)
            .map(|task| task_view(task, &before_it))
            .collect();
        Ok((tasks, previous_tasks))
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

    /// Reads only the requested key of the state; `None` when only the graph can determine its value: nothing is stored
    /// for it, or it is rebuilt, or finished tasks of an open step count.
    pub(super) async fn key_alone(&self, request: &ReadValue) -> Result<Option<Object>, Problem> {
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
        let thread_of = |side: &CheckpointRef| ThreadId::from(side.thread_id.as_str());
        let (common_ancestor, paths) = paths(
            &*self.saver(),
            PathEnd {
                thread: &thread_of(&request.left),
                head: &left_head,
            },
            PathEnd {
                thread: &thread_of(&request.right),
                head: &right_head,
            },
        )
        .await?;
        let equal_keys = left
            .iter()
            .filter(|(key, value)| right.get(key) == Some(*value))
            .map(|(key, _)| key.to_string())
            .collect();
        // Large states take a while; other commands go on meanwhile.
        let (differences, truncated) = blocking(move || {
            let (left, right) = (Value::Object(left), Value::Object(right));
            let differences = compare(&left, &right);
            (differences.views(), differences.truncated)
        })
        .await?;
        Ok(Comparison {
            left: self.marked(&request.left.thread_id, &left_head)?,
            right: self.marked(&request.right.thread_id, &right_head)?,
            common_ancestor: common_ancestor.map(|id| id.to_string()),
            paths,
            differences,
            equal_keys,
            truncated,
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
                    Problem::not_found(text!(
                        "Thread {thread_id} has no checkpoint to compare.",
                        thread_id = &side.thread_id
                    ))
                    .remedy(text!("Run it first."))
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

/// Returns the nodes among these tasks that wrote a key, each once.
pub(super) fn writers(tasks: &[TaskSnapshot], key: &str) -> Vec<String> {
    let wrote = |task: &&TaskSnapshot| {
        let result = task.result.as_ref();
        result.is_some_and(|result| result.get(key).is_some())
    };
    let mut names: Vec<String> = tasks
        .iter()
        .filter(wrote)
        .map(|task| task.name.to_string())
        .collect();
    names.dedup();
    names
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
    declared_keys
        .into_iter()
        .map(|(key, declared, reducer)| {
            let (value, previous) = (now.values.get(&key), old.get(&key));
            let change = change(previous, value);
            let mut wrote: Vec<String> = match head.metadata.source {
                Source::Update if change != ChangeKind::Same => {
                    edited_as.iter().map(ToString::to_string).collect()
                }
                Source::Loop => before.map_or_else(Vec::new, |before| writers(&before.tasks, &key)),
                _ => Vec::new(),
            };
            if live {
                wrote.extend(writers(&now.tasks, &key));
            }
            wrote.dedup();
            KeyView {
                declared,
                reducer,
                value: value.map(values::view),
                change,
                previous: previous.filter(|_| change != ChangeKind::Same).map(values::view),
                writers: wrote,
                key,
            }
        })
        .collect()
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
        let shown = |schema: serde_json::Value| declared(&schema);
        assert_eq!(shown(serde_json::json!({"type": "integer"})), "integer");
        assert_eq!(
            shown(serde_json::json!({"type": ["string", "null"]})),
            "string | null"
        );
        assert_eq!(shown(serde_json::json!({"enum": ["a"]})), "enum");
        assert_eq!(shown(serde_json::json!({})), "any");
    }
}
