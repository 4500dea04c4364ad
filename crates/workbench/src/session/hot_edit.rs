//! What becomes of a thread that goes on after its graph was changed: the version that it ran on beside the graph as it is
//! now, looked at from where the thread stands.

use std::collections::{BTreeMap, BTreeSet};

use superstep::checkpoint::GraphVersion;
use superstep::checkpoint::{
    CheckpointAddress, CheckpointHead, ListQuery, PendingWrite, StorageError, TaskId, TaskStatus, reserved,
};
use superstep::{Checkpointer, Name, ThreadId};
use superstep_document::{ChannelKind, Document, NOTE, NodeSpec, StateKey};
use superstep_nodes::GraphSources;

use super::Start;
use super::questions::node_of;
use crate::wire::{GoOnReport, KeyChange, KeyChangeKind, NodeChange, QuestionChange, Renamed, TaskChange};

/// Newest checkpoints in which open nested graphs are looked for.
const MAX_NESTED: usize = 200;

/// The version that a checkpoint's run ran.
#[derive(Debug)]
pub struct RanOn {
    /// Its id.
    pub id: String,
    /// When it first ran in this thread.
    pub at: String,
    /// What it consists of.
    pub sources: GraphSources,
}

impl RanOn {
    /// Reads it; `None` when it is not recorded, or was removed.
    pub async fn read(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        head: &CheckpointHead,
    ) -> Result<Option<Self>, StorageError> {
        let Some(id) = GraphVersion::of(head) else {
            return Ok(None);
        };
        let at = GraphVersion::head(saver, thread, id).await?;
        let kept = GraphVersion::read(saver, thread, id).await?;
        let sources = kept.and_then(|kept| GraphSources::read(&kept.content));
        Ok(sources.map(|sources| Self {
            id: id.to_owned(),
            at: at.map(|head| head.ts).unwrap_or_default(),
            sources,
        }))
    }
}

/// A task of the open step that has not finished.
struct OpenTask {
    node: String,
    asked: bool,
    answered: u32,
}

/// Current position of a thread.
struct Stand {
    tasks: Vec<OpenTask>,
    keys: BTreeSet<Name>,
    /// Open nested graphs: the nodes around each, and what runs next in it.
    nested: BTreeMap<Vec<String>, Vec<String>>,
}

/// Reports what happens to a thread at a checkpoint if it continues with the current graph.
pub async fn go_on_report(
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    head: &CheckpointHead,
    before: &GraphSources,
    now: &GraphSources,
) -> Result<GoOnReport, StorageError> {
    let stand = Stand::read(saver, thread, head).await?;
    Ok(compare(&stand, before, now))
}

/// Returns the start of a run in which these nodes run in place of next tasks whose node is gone: on a branch of its
/// own from the thread's current checkpoint, so that its checkpoints name the current graph. Questions of the step's
/// tasks are asked again there, and answers to them are left out.
pub fn onto(start: Start, renamed: &Renamed, head: &CheckpointHead) -> Start {
    if renamed.is_empty() {
        return start;
    }
    Start {
        also: renamed.values().map(|node| node.as_str().into()).collect(),
        ..Start::go_on(Some(head.id.clone()))
    }
}

impl Stand {
    async fn read(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        head: &CheckpointHead,
    ) -> Result<Self, StorageError> {
        let of_thread = ListQuery::new().thread(thread.clone());
        let address = CheckpointAddress::new(thread.clone(), head.ns.clone(), head.id.clone());
        let tasks = open_tasks(head, &saver.writes_of(address).await?);
        let here = of_thread.clone().ns(head.ns.clone()).id(head.id.clone()).limit(1);
        let values = saver.heads_with(&here, &[]).await?.pop();
        let keys = values.map(|(_, values)| values.keys().cloned().collect());
        let mut nested = BTreeMap::new();
        if !tasks.is_empty() {
            for inner in saver.heads(&of_thread.limit(MAX_NESTED)).await? {
                // A nested checkpoint is younger than the one that it belongs to.
                let outermost = inner.ns.split([':', '|']).next();
                let within = |task: &OpenTask| outermost == Some(task.node.as_str());
                if inner.id <= head.id || !tasks.iter().any(within) || inner.next.is_empty() {
                    continue;
                }
                let path = inner.ns.split('|').filter_map(|part| part.split(':').next());
                // The newest comes first.
                nested
                    .entry(path.map(str::to_owned).collect())
                    .or_insert_with(|| inner.next.iter().map(ToString::to_string).collect());
            }
        }
        Ok(Self {
            tasks,
            keys: keys.unwrap_or_default(),
            nested,
        })
    }
}

/// Returns the tasks of a checkpoint that have not finished: those that wrote something identify themselves, of the
/// others only the node is known.
fn open_tasks(head: &CheckpointHead, pending: &[PendingWrite]) -> Vec<OpenTask> {
    let mut of_tasks: BTreeMap<&TaskId, Vec<&PendingWrite>> = BTreeMap::new();
    for write in pending.iter().filter(|write| !write.task_id.is_null()) {
        of_tasks.entry(&write.task_id).or_default().push(write);
    }
    let mut left: Vec<&Name> = head.next.iter().collect();
    let mut open = Vec::new();
    for (id, writes) in of_tasks {
        let Some(node) = writes.first().and_then(|write| node_of(&write.task_path)) else {
            continue;
        };
        if let Some(place) = left.iter().position(|name| ***name == *node) {
            left.remove(place);
        }
        let status = TaskStatus::of(id, writes.iter().map(|write| &*write.write.channel));
        if status.finished {
            continue;
        }
        let given = writes
            .iter()
            .find(|write| &*write.write.channel == reserved::RESUME);
        let given = given
            .and_then(|write| write.write.value.as_array())
            .map_or(0, |list| list.len());
        open.push(OpenTask {
            node: node.to_owned(),
            asked: status.interrupted,
            answered: u32::try_from(given).unwrap_or(u32::MAX),
        });
    }
    open.extend(left.into_iter().map(|node| OpenTask {
        node: node.to_string(),
        asked: false,
        answered: 0,
    }));
    open
}

fn spec_of(document: &Document, node: &str) -> Option<NodeSpec> {
    let mut nodes = document.nodes();
    nodes
        .find(|(id, spec)| *id == node && spec.kind != NOTE)
        .map(|(_, spec)| spec)
}

fn compare(stand: &Stand, before: &GraphSources, now: &GraphSources) -> GoOnReport {
    let (old, new) = (before.document(), now.document());
    let mut report = GoOnReport::default();
    for task in &stand.tasks {
        let (was, is) = (spec_of(&old, &task.node), spec_of(&new, &task.node));
        // What the version did not have is of no help, and no reason to ask.
        let Some(was) = was else { continue };
        let known = report.tasks.iter().any(|known| known.node == task.node);
        match is {
            None if !known => report.tasks.push(TaskChange {
                node: task.node.clone(),
                path: Vec::new(),
                change: NodeChange::Gone,
                candidates: candidates(&was, &old, &new),
            }),
            Some(is) if is.kind != was.kind && !known => report.tasks.push(TaskChange {
                node: task.node.clone(),
                path: Vec::new(),
                change: NodeChange::Kind,
                candidates: Vec::new(),
            }),
            Some(is) if (task.asked || task.answered > 0) && is.config != was.config => {
                report.questions.push(QuestionChange {
                    node: task.node.clone(),
                    answered: task.answered,
                });
            }
            _ => {}
        }
    }
    for (path, next) in &stand.nested {
        nested(path, next, (before, &old), (now, &new), &mut report);
    }
    keys(&stand.keys, &old, &new, &mut report);
    let is_program = |name: &str| !name.ends_with(".json");
    report.programs = before
        .files
        .iter()
        .filter(|(name, text)| is_program(name) && now.files.get(*name) != Some(text))
        .map(|(name, _)| name.clone())
        .collect();
    report
}

/// Returns nodes that were added to the graph since, the likeliest first: with the same settings, of the same kind, any
/// other.
fn candidates(was: &NodeSpec, old: &Document, new: &Document) -> Vec<String> {
    let known: BTreeSet<&str> = old.node_ids().collect();
    let since = new
        .nodes()
        .filter(|(id, spec)| !known.contains(id) && spec.kind != NOTE);
    let mut since: Vec<(u8, &str)> = since
        .map(|(id, spec)| match () {
            () if spec.kind == was.kind && spec.config == was.config => (0, id),
            () if spec.kind == was.kind => (1, id),
            () => (2, id),
        })
        .collect();
    since.sort_unstable();
    since.into_iter().map(|(_, id)| id.to_owned()).collect()
}

/// Reports the lost next nodes of an open nested graph: they must be in the graph that the nodes around it run now.
fn nested(
    path: &[String],
    next: &[String],
    before: (&GraphSources, &Document),
    now: (&GraphSources, &Document),
    report: &mut GoOnReport,
) {
    let Some(old) = within(before.0, before.1, path) else {
        return;
    };
    let Some(outermost) = path.first() else { return };
    if report.tasks.iter().any(|task| task.node == *outermost) {
        return;
    }
    let new = within(now.0, now.1, path);
    for node in next.iter().filter(|node| spec_of(&old, node).is_some()) {
        let change = match &new {
            None => NodeChange::Graph,
            Some(new) if spec_of(new, node).is_none() => NodeChange::Gone,
            Some(_) => continue,
        };
        report.tasks.push(TaskChange {
            node: node.clone(),
            path: path.to_vec(),
            change,
            candidates: Vec::new(),
        });
    }
}

/// Returns the document of the innermost graph file on a path of nodes that each run a graph file; `None` when one of
/// them runs none.
fn within(sources: &GraphSources, document: &Document, path: &[String]) -> Option<Document> {
    let (mut file, mut document) = (String::new(), document.clone());
    for node in path {
        let spec = spec_of(&document, node).filter(|spec| spec.kind == "graph")?;
        (file, document) = sources.nested(&file, spec.config.get("graph")?.as_str()?)?;
    }
    Some(document)
}

fn keys(stored: &BTreeSet<Name>, old: &Document, new: &Document, report: &mut GoOnReport) {
    let reducer = |key: &StateKey| match key.channel {
        ChannelKind::Kept => key.reducer.as_str().to_owned(),
        channel => format!("{}, {}", key.reducer.as_str(), channel.as_str()),
    };
    let shape = |key: &StateKey| {
        let mut schema = key.schema.clone();
        // Texts for people say nothing about values.
        if let Some(fields) = schema.as_object_mut() {
            fields.retain(|name, _| !matches!(name.as_str(), "title" | "description"));
        }
        match schema.get("type").and_then(|kind| kind.as_str()) {
            Some(kind) if schema.as_object().is_some_and(|fields| fields.len() == 1) => kind.to_owned(),
            _ => schema.to_string(),
        }
    };
    for (name, was) in old.state_keys().filter(|(name, _)| stored.contains(*name)) {
        let mut add = |change, before: String, after: String| {
            report.keys.push(KeyChange {
                key: name.to_owned(),
                change,
                before,
                after,
            });
        };
        let Some(is) = new.state_key(name) else {
            add(KeyChangeKind::Gone, shape(&was), String::new());
            continue;
        };
        if shape(&was) != shape(&is) {
            add(KeyChangeKind::Type, shape(&was), shape(&is));
        }
        if reducer(&was) != reducer(&is) {
            add(KeyChangeKind::Reducer, reducer(&was), reducer(&is));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str, files: &[(&str, &str)]) -> GraphSources {
        GraphSources {
            document: text.to_owned(),
            files: files
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect(),
            ..GraphSources::default()
        }
    }

    fn graph(state: &str, nodes: &str) -> String {
        format!(r#"{{"format": "superstep/1", "state": {{{state}}}, "nodes": {{{nodes}}}, "edges": []}}"#)
    }

    fn stand(node: &str, asked: bool, answered: u32, keys: &[&str]) -> Stand {
        Stand {
            tasks: vec![OpenTask {
                node: node.into(),
                asked,
                answered,
            }],
            keys: keys.iter().map(|key| (*key).into()).collect(),
            nested: BTreeMap::new(),
        }
    }

    const ASK: &str = r#""kind": "ask", "config": {"question": "Pay?"}"#;

    #[test]
    fn a_change_elsewhere_does_not_matter() {
        let before = sources(
            &graph(r#""n": {"type": "number"}"#, &format!(r#""review": {{{ASK}}}"#)),
            &[],
        );
        let after = graph(
            r#""n": {"type": "number", "title": "Count"}, "m": {}"#,
            &format!(r#""review": {{{ASK}}}, "mail": {{"kind": "assign"}}"#),
        );
        let report = compare(&stand("review", true, 0, &["n"]), &before, &sources(&after, &[]));
        assert!(report.is_empty(), "{report:?}");
    }

    #[test]
    fn a_renamed_node_is_found_by_what_it_is() {
        let before = sources(&graph("", &format!(r#""review": {{{ASK}}}"#)), &[]);
        let nodes = format!(
            r#""mail": {{"kind": "assign"}}, "other": {{"kind": "ask", "config": {{"question": "Ship?"}}}}, "approve": {{{ASK}}}"#
        );
        let report = compare(
            &stand("review", true, 0, &[]),
            &before,
            &sources(&graph("", &nodes), &[]),
        );
        let [task] = report.tasks.as_slice() else {
            panic!("{report:?}")
        };
        assert_eq!((task.node.as_str(), task.change), ("review", NodeChange::Gone));
        assert_eq!(task.candidates, ["approve", "other", "mail"]);
        assert_eq!(report.lost(&BTreeMap::new()).count(), 1);
        let renamed = BTreeMap::from([("review".to_owned(), "approve".to_owned())]);
        assert_eq!(report.lost(&renamed).count(), 0);
    }

    #[test]
    fn another_kind_and_another_question_are_reported_and_nothing_is_lost() {
        let before = sources(&graph("", &format!(r#""review": {{{ASK}}}"#)), &[]);
        let of = |node: &str| sources(&graph("", node), &[]);
        let kind = compare(
            &stand("review", true, 0, &[]),
            &before,
            &of(r#""review": {"kind": "assign"}"#),
        );
        assert_eq!(kind.tasks.first().map(|task| task.change), Some(NodeChange::Kind));
        assert_eq!(kind.lost(&BTreeMap::new()).count(), 0);
        let asks = of(r#""review": {"kind": "ask", "config": {"question": "Ship?"}}"#);
        let question = compare(&stand("review", false, 2, &[]), &before, &asks);
        assert_eq!(question.questions.first().map(|change| change.answered), Some(2));
        let began = compare(&stand("review", false, 0, &[]), &before, &asks);
        assert!(
            began.is_empty(),
            "what asked nothing yet just runs as it is now: {began:?}"
        );
    }

    #[test]
    fn keys_with_a_value_say_how_they_differ() {
        let before = sources(
            &graph(
                r#""a": {"type": "string"}, "b": {"type": "number"}, "c": {"type": "array"}, "d": {}"#,
                "",
            ),
            &[],
        );
        let after = graph(
            r#""b": {"type": "string"}, "c": {"type": "array", "reducer": "append"}"#,
            "",
        );
        let report = compare(
            &stand("x", false, 0, &["a", "b", "c"]),
            &before,
            &sources(&after, &[]),
        );
        let changes: Vec<(&str, KeyChangeKind, &str, &str)> = report
            .keys
            .iter()
            .map(|key| {
                (
                    key.key.as_str(),
                    key.change,
                    key.before.as_str(),
                    key.after.as_str(),
                )
            })
            .collect();
        assert_eq!(
            changes,
            [
                ("a", KeyChangeKind::Gone, "string", ""),
                ("b", KeyChangeKind::Type, "number", "string"),
                ("c", KeyChangeKind::Reducer, "overwrite", "append"),
            ],
            "a key without a value does not matter"
        );
    }

    #[test]
    fn what_goes_on_in_a_nested_graph_is_looked_for_in_there() {
        let outer = graph(
            "",
            r#""desk": {"kind": "graph", "config": {"graph": "inner.json"}}"#,
        );
        let inner = |node: &str| graph("", &format!(r#""{node}": {{{ASK}}}"#));
        let before = sources(&outer, &[("inner.json", &inner("review")), ("lib/a.js", "1")]);
        let mut stand = stand("desk", true, 0, &[]);
        stand.nested.insert(vec!["desk".into()], vec!["review".into()]);
        let renamed = sources(&outer, &[("inner.json", &inner("approve")), ("lib/a.js", "2")]);
        let report = compare(&stand, &before, &renamed);
        let [task] = report.tasks.as_slice() else {
            panic!("{report:?}")
        };
        assert_eq!(
            (task.path.as_slice(), task.node.as_str()),
            (["desk".to_owned()].as_slice(), "review")
        );
        assert_eq!(
            (task.change, report.programs),
            (NodeChange::Gone, vec!["lib/a.js".to_owned()])
        );
        let elsewhere = graph(
            "",
            r#""desk": {"kind": "graph", "config": {"graph": "none.json"}}"#,
        );
        let report = compare(&stand, &before, &sources(&elsewhere, &[]));
        assert_eq!(
            report.tasks.first().map(|task| task.change),
            Some(NodeChange::Graph)
        );
    }
}
