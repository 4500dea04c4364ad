//! A stored thread as a test of its graph: what it was given on the way to its end, and what came of it.
//!
//! Only the way to one checkpoint counts. What a person went back from, to edit the state or to answer otherwise, is on
//! another branch, so a thread with forks is a test like any other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Map;
use superstep::checkpoint::{CheckpointAddress, CheckpointHead, ListQuery, Source};
use superstep::inspect::{AnswerGiven, Lineage, TaskAnswers};
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{
    CheckpointId, Checkpointer, END, Failure, Graph, Name, START, StateSnapshot, ThreadId, Value,
};
use superstep_document::{Document, text};
use superstep_nodes::testing::{GraphTest, Outcome, StateEdit, question_of, without_ids};

use crate::base::problem::no_thread;
use crate::ledger::Ledger;
use crate::session::{edited_keys, models_of, pinned_nodes, replacing};
use crate::threads::is_state_key;
use crate::wire::{Json, Problem, RunStatus};

/// Checkpoints on the way of a test.
const MAX_STEPS: usize = 10_000;

/// Place of a thread from which a test is made.
#[derive(Clone, Copy, Debug)]
pub struct TestedThread<'a> {
    /// The thread's graph, with the database of the thread.
    pub graph: &'a Graph,
    /// The document of it.
    pub document: &'a Document,
    /// The database.
    pub saver: &'a dyn Checkpointer,
    /// The thread.
    pub thread: &'a ThreadId,
    /// The end of the way; the newest checkpoint when absent.
    pub checkpoint: Option<&'a CheckpointId>,
}

/// A thread as a test that nobody has tried yet.
#[derive(Clone, Debug)]
pub struct ThreadTest {
    /// The test. What must come is what came; questions of which only the number is known may be anything.
    pub(super) test: GraphTest,
    /// What models answered, as it is recorded.
    pub(super) recorded: Vec<Json>,
    /// Nodes whose models answered before answers were kept for recordings.
    pub(super) unrecorded: u32,
    /// Why what came may not come again, as far as the thread says it.
    pub(super) notes: Vec<String>,
}

/// Reads the test that a thread is, with what the data folder has of it.
///
/// # Errors
/// When the thread does not exist, has not come to an end, or is not a way from an input.
pub async fn test_of_thread(of: TestedThread<'_>, data_dir: Option<&Path>) -> Result<ThreadTest, Problem> {
    let path = data_dir.map(|dir| dir.join("workbench.db"));
    let path = path.filter(|path| path.exists());
    let ledger = path.map(|path| Ledger::open(&path)).transpose()?;
    read(of, ledger.as_ref()).await
}

pub(super) async fn read(of: TestedThread<'_>, ledger: Option<&Ledger>) -> Result<ThreadTest, Problem> {
    let query = ListQuery::new()
        .thread(of.thread.clone())
        .ns("")
        .id(of.checkpoint.cloned())
        .limit(1);
    let head = of.saver.heads(&query).await?.into_iter().next();
    let head = head.ok_or_else(|| no_thread(of.thread.as_str()))?;
    let mut lineage = Lineage::from(of.saver, of.thread, [head.clone()]);
    let (mut line, more) = lineage.line(&head, MAX_STEPS).await?;
    if more {
        return Err(not_testable(
            of.thread,
            text!("it has more than {most} steps", most = MAX_STEPS),
        ));
    }
    line.reverse();
    line.push(head.clone());
    begins_with_input(of.thread, &line[0])?;
    let at = match of.checkpoint {
        Some(id) => StateRef::at(of.thread.clone(), id.clone()),
        None => StateRef::live(of.thread.clone()),
    };
    let end = of.graph.get_state(&at).await?;
    let open = of
        .graph
        .get_state(&StateRef::at(of.thread.clone(), head.id.clone()))
        .await?;
    let (status, error) = status(of.thread, &head, &open, ledger)?;
    let mut way = Way::default();
    for (place, at) in line.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| &line[place]);
        way.step(&of, before, at).await?;
    }
    way.open_step(&of, &head, &open, &end).await?;
    let mut values = Json::from(&end.values);
    without_ids(&mut values);
    let mut values = match values {
        Json::Object(values) => values,
        _ => Map::new(),
    };
    let keys: BTreeSet<&str> = of.document.state_keys().map(|(key, _)| key).collect();
    values.retain(|key, _| keys.contains(key.as_str()) && way.written.contains(key.as_str()));
    let (recorded, unrecorded) = match ledger {
        Some(ledger) => ledger.recorded_answers(of.thread.as_str(), &way.tasks)?,
        None => (Vec::new(), 0),
    };
    Ok(ThreadTest {
        notes: notes(&line),
        test: GraphTest {
            about: format!("Made of thread {}.", of.thread),
            inputs: way.inputs,
            answers: way.answers,
            edits: way.edits,
            holds: Vec::new(),
            expect: Outcome {
                status: Some(status.to_owned()),
                questions: Some(way.questions),
                nodes: Some(way.nodes),
                steps: None,
                values: Some(values),
                error,
            },
        },
        recorded,
        unrecorded,
    })
}

fn not_testable(thread: &ThreadId, why: superstep_document::Text) -> Problem {
    Problem::invalid(text!(
        "Thread {thread} cannot be made a test: {why}.",
        thread = thread.to_string(),
        why
    ))
    .remedy(text!("Run the graph on a new thread, and make a test of that."))
}

/// Refuses a thread whose beginning is not stored, or is an edit.
fn begins_with_input(thread: &ThreadId, first: &CheckpointHead) -> Result<(), Problem> {
    match (&first.parent, first.metadata.source) {
        (Some(_), _) => Err(not_testable(
            thread,
            text!("its beginning is not stored any more"),
        )),
        (None, Source::Input) => Ok(()),
        (None, _) => Err(not_testable(thread, text!("it does not begin with an input"))),
    }
}

/// Returns how the thread ended, as a test says it, and its error; refuses one that has not come to an end.
fn status(
    thread: &ThreadId,
    head: &CheckpointHead,
    open: &StateSnapshot,
    ledger: Option<&Ledger>,
) -> Result<(&'static str, Option<String>), Problem> {
    let failed = open
        .tasks
        .iter()
        .find_map(|task| Some((task, task.error.as_ref()?)));
    if let Some((task, error)) = failed.filter(|_| head.failed > 0) {
        let failure = Failure::from_shown(error);
        return Ok((
            "failed",
            Some(format!("node {:?} failed: {failure}", &*task.name)),
        ));
    }
    if head.interrupted > 0 {
        return Ok(("interrupted", None));
    }
    if head.next.is_empty() {
        return Ok(("done", None));
    }
    let last = match ledger {
        Some(ledger) => ledger.last_runs(&[thread.as_str()])?.remove(thread.as_str()),
        None => None,
    };
    let last = last.filter(|run| run.ended_at.as_ref().is_some_and(|ended| *ended > head.ts));
    match last {
        Some(run) if run.status == RunStatus::Failed => {
            Ok(("failed", run.problem.map(|problem| problem.message)))
        }
        _ => Err(Problem::invalid(text!(
            "Thread {thread} has not come to an end: it stands before {next}.",
            thread = thread.to_string(),
            next = head
                .next
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ))
        .remedy(text!(
            "Let it go on until it is done, asks or fails, and make the test then."
        ))),
    }
}

/// Returns what the thread says about why it may not come out the same.
fn notes(line: &[CheckpointHead]) -> Vec<String> {
    let mut pinned: BTreeSet<&str> = BTreeSet::new();
    let mut asked_instead: BTreeSet<String> = BTreeSet::new();
    for head in line {
        pinned.extend(pinned_nodes(head));
        asked_instead.extend(models_of(head).scripted);
    }
    let mut notes = Vec::new();
    if !pinned.is_empty() {
        let nodes: Vec<&str> = pinned.into_iter().collect();
        notes.push(format!(
            "The output of {} was pinned in the thread, and is not in the test.",
            nodes.join(", ")
        ));
    }
    for model in asked_instead {
        notes.push(format!(
            "{model} answered for the scripted models of the graph, and does not in the test."
        ));
    }
    notes
}

/// Returns the names of nodes that ran in a step, in their order.
fn names<'a>(of: impl IntoIterator<Item = &'a Name>) -> Vec<String> {
    let own = of.into_iter().filter(|name| !name.starts_with("__"));
    let mut names: Vec<String> = own.map(ToString::to_string).collect();
    names.sort();
    names
}

/// Findings on the way of a thread.
#[derive(Default)]
struct Way {
    inputs: Vec<Json>,
    answers: Vec<Json>,
    edits: Vec<StateEdit>,
    questions: Vec<Json>,
    nodes: Vec<String>,
    /// In how many steps each node ran.
    visits: BTreeMap<String, u32>,
    /// State keys that nodes or edits wrote.
    written: BTreeSet<String>,
    /// Tasks of the outermost graph.
    tasks: BTreeSet<String>,
}

impl Way {
    /// Adds a checkpoint, given the one before it.
    async fn step(
        &mut self,
        of: &TestedThread<'_>,
        before: Option<&CheckpointHead>,
        at: &CheckpointHead,
    ) -> Result<(), Problem> {
        match (at.metadata.source, before) {
            (Source::Input, _) => self.input(of, at).await,
            (Source::Loop, Some(before)) => {
                let ran = names(&before.next);
                if ran.is_empty() {
                    return Ok(());
                }
                for node in ran.iter().collect::<BTreeSet<_>>() {
                    *self.visits.entry(node.clone()).or_default() += 1;
                }
                self.nodes.extend(ran);
                self.wrote(of, at);
                let answers = of.graph.answers_at(of.thread, &before.id).await?;
                self.answered(answers);
                self.note_tasks(of, before).await
            }
            (Source::Update, Some(before)) => self.edited(of, before, at).await,
            _ => Ok(()),
        }
    }

    async fn input(&mut self, of: &TestedThread<'_>, at: &CheckpointHead) -> Result<(), Problem> {
        let keys = [START.into()];
        let values = of.saver.values(of.thread, "", Some(&at.id), &keys).await?;
        let input = values.and_then(|values| values.get(START).cloned());
        let input = input
            .ok_or_else(|| not_testable(of.thread, text!("the input of one of its runs is not stored")))?;
        self.inputs.push(Json::from(&input));
        Ok(())
    }

    fn wrote(&mut self, of: &TestedThread<'_>, at: &CheckpointHead) {
        match &at.updated_channels {
            Some(keys) => {
                let keys = keys.iter().filter(|key| is_state_key(key));
                self.written.extend(keys.map(ToString::to_string));
            }
            None => {
                let keys = of.document.state_keys().map(|(key, _)| key.to_owned());
                self.written.extend(keys);
            }
        }
    }

    /// Notes the ids of the tasks of a step: what models answered on another branch is not theirs.
    async fn note_tasks(&mut self, of: &TestedThread<'_>, at: &CheckpointHead) -> Result<(), Problem> {
        let address = CheckpointAddress::new(of.thread.clone(), "", at.id.clone());
        let writes = of.saver.writes_of(address).await?;
        self.tasks
            .extend(writes.iter().map(|write| write.task_id.to_string()));
        Ok(())
    }

    /// Adds the answers of a step in the order of the questions: tasks that ask at once are answered in their order, each
    /// one after the other.
    fn answered(&mut self, tasks: Vec<TaskAnswers>) {
        let rounds = tasks.iter().map(|task| task.answers.len()).max().unwrap_or(0);
        for round in 0..rounds {
            for AnswerGiven { question, answer } in tasks.iter().filter_map(|task| task.answers.get(round)) {
                // Only the last question of a task is stored.
                self.questions
                    .push(question.as_ref().map_or_else(|| "*".into(), question_of));
                self.answers.push(Json::from(answer));
            }
        }
    }

    async fn edited(
        &mut self,
        of: &TestedThread<'_>,
        before: &CheckpointHead,
        at: &CheckpointHead,
    ) -> Result<(), Problem> {
        let as_node = at.metadata.user.get("as_node").and_then(Value::as_str);
        if as_node.is_some_and(|node| node.starts_with("__")) {
            return Err(not_testable(
                of.thread,
                text!("its open step was closed by hand, which a test cannot repeat"),
            ));
        }
        let keys: Vec<String> = match edited_keys(at) {
            Some(keys) => keys.filter(|key| !key.is_empty()).map(str::to_owned).collect(),
            None => {
                let keys = at.updated_channels.iter().flatten();
                keys.filter(|key| is_state_key(key))
                    .map(ToString::to_string)
                    .collect()
            }
        };
        let next = names(&before.next);
        if keys.is_empty() && next.len() > 1 {
            return Err(not_testable(
                of.thread,
                text!("a step of several nodes was skipped, which a test cannot repeat"),
            ));
        }
        let state = of
            .graph
            .get_state(&StateRef::at(of.thread.clone(), at.id.clone()))
            .await?;
        let values = state
            .values
            .as_object()
            .into_iter()
            .flat_map(|values| values.iter());
        let values = values.filter(|(key, _)| keys.iter().any(|edited| **edited == ***key));
        let values: Object = values.map(|(key, value)| (key.clone(), value.clone())).collect();
        let values = replacing(of.document, &values, |_| true);
        let (stop, visit) = match next.first() {
            Some(node) => (node.clone(), self.visits.get(node).map_or(1, |visits| visits + 1)),
            None => (
                END.to_owned(),
                u32::try_from(self.inputs.len()).unwrap_or(u32::MAX),
            ),
        };
        self.written.extend(keys);
        self.edits.push(StateEdit {
            before: stop,
            visit,
            as_node: as_node.map(str::to_owned),
            values: Json::from(&values),
        });
        Ok(())
    }

    /// Adds what happened in the step that the thread is in.
    async fn open_step(
        &mut self,
        of: &TestedThread<'_>,
        head: &CheckpointHead,
        open: &StateSnapshot,
        end: &StateSnapshot,
    ) -> Result<(), Problem> {
        let mut ended = Vec::new();
        for task in open.tasks.iter().filter(|task| !task.name.starts_with("__")) {
            if let Some(result) = &task.result {
                let keys = result.as_object().into_iter().flat_map(|result| result.keys());
                self.written.extend(keys.map(ToString::to_string));
                ended.push(task.name.to_string());
            } else if task.error.is_some() {
                ended.push(format!("{} failed", task.name));
            }
        }
        ended.sort();
        self.nodes.extend(ended);
        if head.next.is_empty() {
            return Ok(());
        }
        let answers = of.graph.answers_at(of.thread, &head.id).await?;
        self.answered(answers);
        let waiting = end.interrupts.iter().map(|asked| question_of(&asked.value));
        self.questions.extend(waiting);
        self.note_tasks(of, head).await
    }
}
