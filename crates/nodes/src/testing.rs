//! Tests of a graph: what is put in, how people answer, and what must come of it.
//!
//! A test is a file in the folder [`FOLDER`] beside the graph's: `inputs` one after the other on one thread, `answers`
//! to its questions in order, perhaps `edits` of the state on the way. What must come of it is in `expect`; what is
//! left out there is not looked at, and of `values` only the keys that it names. `holds` are expressions over the state
//! at the end, which must be true.
//!
//! A test has one way from its first input to its end. A thread that was forked is a test by the way to one of its ends:
//! what happened on other branches is not part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::checkpoint::Decision;
use superstep::run::{RunStatus, StateRef};
use superstep::stream::{Payload, TaskEnd};
use superstep::{
    END, Graph, Input, MemorySaver, MemoryStore, RunConfig, RunResult, StateUpdate, StreamMode, Value,
    async_trait,
};
use superstep_document::Document;

use crate::base::files;
use crate::expression::{Expression, Scope};

/// The folder of tests, beside the graph's file.
pub const FOLDER: &str = "expect";

/// Bytes of the largest file of a test.
const MAX_FILE: u64 = 16 << 20;
/// Inputs of a test.
const MAX_INPUTS: usize = 10_000;
/// Questions that a person is asked.
const MAX_QUESTIONS: usize = 1_000;

/// The text of `expect` that any value agrees with.
const ANYTHING: &str = "*";

/// The thread on which a test runs; nobody else sees it.
const THREAD: &str = "test";

/// A test of a graph.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GraphTest {
    /// What is tested, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Inputs, one run each on the same thread.
    pub inputs: Vec<Json>,
    /// Answers to the questions, in the order in which these are asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Json>,
    /// Edits of the state on the way, in order. Older files have one, as `edit`.
    #[serde(
        default,
        alias = "edit",
        deserialize_with = "one_or_several",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub edits: Vec<StateEdit>,
    /// Expressions over `state` that are true at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// What must come of it.
    #[serde(default)]
    pub expect: Outcome,
}

/// An edit of the state.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StateEdit {
    /// The node before which the run stops; `__end__` for the end of a run.
    pub before: String,
    /// The visit of the node before which it stops, or the run at whose end: 1 for the first.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub visit: u32,
    /// The node as which the values are written; absent for the one that ran last.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub as_node: Option<String>,
    /// New values of state keys. `{"__overwrite__": value}` goes past the reducer of a key.
    pub values: Json,
}

fn first() -> u32 {
    1
}

fn is_first(visit: &u32) -> bool {
    *visit == 1
}

fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<StateEdit>, D::Error> {
    // Read by its shape, so that an error names the field that is wrong.
    let edits = match Json::deserialize(deserializer)? {
        Json::Array(edits) => edits,
        edit => vec![edit],
    };
    let read = |edit| serde_json::from_value(edit).map_err(serde::de::Error::custom);
    edits.into_iter().map(read).collect()
}

/// Somebody who answers the questions for which a test has no answer.
#[async_trait]
pub trait Person: Send + Sync {
    /// Answers a question; `None` where there is nothing to say.
    async fn answer(&self, asked: PersonAsked<'_>) -> Option<Json>;
}

/// A question that somebody is asked.
#[derive(Clone, Copy, Debug)]
pub struct PersonAsked<'a> {
    /// What was asked, as the node gave it.
    pub question: &'a Value,
    /// The state.
    pub state: &'a Value,
    /// How many questions there were before.
    pub before: usize,
}

/// Outcome of a test, as it came or as it must come. A field that is absent is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// `done`, `interrupted` (a question is left), `breakpoint` or `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Questions that were asked, without their schema and choices, which stand in the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Json>>,
    /// Nodes that finished, in order; those of one step by name. A failed attempt ends with ` failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<String>>,
    /// The last super-step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<i64>,
    /// The state at the end, by key. Ids of messages are `*`, those of tool calls are numbered. What must come may be `*`
    /// anywhere in a value: anything may stand there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Map<String, Json>>,
    /// The error of a run that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A place where what came is not what must come.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    /// JSON pointer into the test's file, e.g. `/expect/nodes/2`.
    pub at: String,
    /// What must come; null where nothing must.
    pub expected: Json,
    /// What came; null where nothing did.
    pub found: Json,
}

/// Reason why a file is no test.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadableTest {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: String,
}

impl fmt::Display for UnreadableTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no test of a graph: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for UnreadableTest {}

impl GraphTest {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is too large, or holds anything but a test.
    pub fn read(path: &Path) -> Result<Self, UnreadableTest> {
        Ok(Self::read_with_text(path)?.0)
    }

    /// Reads a file, and returns its text as well.
    ///
    /// # Errors
    /// When it cannot be read, is too large, or holds anything but a test.
    pub fn read_with_text(path: &Path) -> Result<(Self, String), UnreadableTest> {
        let unreadable = |cause: String| UnreadableTest {
            path: path.to_owned(),
            cause,
        };
        let text = files::read_text(path, MAX_FILE).map_err(|error| unreadable(error.to_string()))?;
        let test = Self::parse(&text).map_err(unreadable)?;
        Ok((test, text))
    }

    fn parse(text: &str) -> Result<Self, String> {
        // A list would be read as the fields in their order.
        let holds = match text.trim_start().chars().next() {
            Some('{') => None,
            None => Some("it is empty"),
            Some('[') => Some("it holds a list"),
            Some(_) => Some("it holds no object"),
        };
        if let Some(what) = holds {
            return Err(format!(
                "{what}, and a test is an object with `inputs` and `expect`."
            ));
        }
        let test: Self = serde_json::from_str(text).map_err(|error| format!("{error}."))?;
        match test.inputs.len() {
            0 => Err("`inputs` is empty, so nothing would run.".to_owned()),
            count if count > MAX_INPUTS => Err(format!(
                "it has {count} inputs, and a test has at most {MAX_INPUTS}."
            )),
            _ => Ok(test),
        }
    }

    /// Converts the test to the text of its file.
    pub fn to_text(&self) -> String {
        // Maps with text keys and values of JSON have a text.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text + "\n"
    }

    /// Returns the files of the tests beside a graph's file, by name; none when there is no such folder.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn files_beside(graph: &Path) -> std::io::Result<Vec<PathBuf>> {
        let folder = graph.parent().unwrap_or(Path::new(".")).join(FOLDER);
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// Runs the test on a graph of the document, in memory. A run that fails is an outcome, too. Dropping this stops it.
    pub async fn play(&self, graph: Graph, document: &Document) -> Played {
        self.play_with(graph, document, None).await
    }

    /// Plays the test as [`play`](Self::play) does; where none of its answers is left, `person` is asked.
    pub async fn play_with(&self, graph: Graph, document: &Document, person: Option<&dyn Person>) -> Played {
        let graph = graph
            .with_checkpointer(Arc::new(MemorySaver::new()))
            .with_store(Arc::new(MemoryStore::new()));
        let mut play = Play {
            graph: &graph,
            limit: document.recursion_limit(),
            answers: &self.answers,
            person,
            edits: &self.edits,
            arrivals: BTreeMap::new(),
            runs: 0,
            stopped_at: None,
            is_staying: false,
            is_passing: false,
            ended: BTreeMap::new(),
            questions: Vec::new(),
            tasks: Vec::new(),
            task_ids: Vec::new(),
            asking: BTreeMap::new(),
            given: Vec::new(),
        };
        let mut status = Ok(RunStatus::Done);
        for input in &self.inputs {
            play.runs += 1;
            status = play.through(Input::value(Value::from(input.clone()))).await;
            if status.is_err() {
                break;
            }
        }
        let (unused, undone) = (play.answers.len(), play.edits.len());
        let mut nodes = Vec::new();
        for (_, mut names) in play.ended {
            names.sort();
            nodes.extend(names);
        }
        let (questions, tasks, given) = (play.questions, play.tasks, play.given);
        let task_ids = play.task_ids;
        let (name, mut error) = match status {
            Ok(status) => (format!("{status:?}").to_lowercase(), None),
            Err(error) => ("failed".to_owned(), Some(error)),
        };
        let (mut steps, mut values) = (None, Json::Null);
        match graph.get_state(&StateRef::live(THREAD)).await {
            Ok(state) => {
                steps = state.checkpoint.map(|head| head.metadata.step);
                values = Json::from(&state.values);
            }
            // Before its first checkpoint a thread has no state.
            Err(cause) => error = error.or_else(|| Some(cause.to_string())),
        }
        without_ids(&mut values);
        let values = match values {
            Json::Object(values) => values,
            _ => Map::new(),
        };
        Played {
            outcome: Outcome {
                status: Some(name),
                questions: Some(questions),
                nodes: Some(nodes),
                steps,
                values: Some(values),
                error,
            },
            unused,
            undone,
            tasks,
            task_ids,
            given,
        }
    }

    /// Compares what came with what must come; none when the test passes. The first is the first on the way.
    pub fn divergences(&self, played: &Played) -> Vec<Divergence> {
        let (expected, found) = (&self.expect, &played.outcome);
        let mut all = Vec::new();
        if let (Some(expected), Some(found)) = (&expected.nodes, &found.nodes)
            && let Some(index) = first_that(expected, found, |expected, found| expected != found)
        {
            all.push(divergence(
                format!("/expect/nodes/{index}"),
                expected.get(index),
                found.get(index),
            ));
        }
        if let (Some(expected), Some(found)) = (&expected.questions, &found.questions)
            && let Some(index) = first_that(expected, found, |expected, found| !agrees(expected, found))
        {
            let at = format!("/expect/questions/{index}");
            all.push(divergence(at, expected.get(index), found.get(index)));
        }
        if played.unused > 0 {
            let index = self.answers.len() - played.unused;
            all.push(divergence(
                format!("/answers/{index}"),
                self.answers.get(index),
                None::<&Json>,
            ));
        }
        if played.undone > 0 {
            let index = self.edits.len() - played.undone;
            let before = self.edits.get(index).map(|edit| &edit.before);
            all.push(divergence(
                format!("/edits/{index}/before"),
                before,
                None::<&Json>,
            ));
        }
        if expected.status.is_some() && expected.status != found.status {
            all.push(divergence(
                "/expect/status".to_owned(),
                expected.status.as_ref(),
                found.status.as_ref(),
            ));
        }
        // An error that nobody expects is named, whatever else is looked at.
        if expected.error != found.error
            && (expected.error.is_some() || expected.status.as_deref() != Some("failed"))
        {
            all.push(divergence(
                "/expect/error".to_owned(),
                expected.error.as_ref(),
                found.error.as_ref(),
            ));
        }
        if expected.steps.is_some() && expected.steps != found.steps {
            all.push(divergence(
                "/expect/steps".to_owned(),
                expected.steps.as_ref(),
                found.steps.as_ref(),
            ));
        }
        for (key, value) in expected.values.iter().flatten() {
            let found = found.values.as_ref().and_then(|values| values.get(key));
            if found.is_none_or(|found| !agrees(value, found)) {
                let at = format!("/expect/values/{}", escaped(key));
                all.push(match found {
                    Some(found) => narrowed(at, value, found),
                    None => divergence(at, Some(value), found),
                });
            }
        }
        all.extend(self.not_holding(found));
        all
    }

    /// Returns whether what came can be accepted: it differs in nothing but what must come. An answer that nobody asked for,
    /// an edit that was not made and an expression that is not true say something else than the graph does.
    pub fn is_acceptable(divergences: &[Divergence]) -> bool {
        !divergences.is_empty() && divergences.iter().all(|one| one.at.starts_with("/expect/"))
    }

    /// Takes what came as what must come from now on, of what the test looks at. What may be anything stays so.
    pub fn accept(&mut self, found: Outcome) {
        let expected = &mut self.expect;
        let accepted_values = match (&expected.values, found.values) {
            (Some(looked_at), Some(mut found)) => {
                found.retain(|key, _| looked_at.contains_key(key));
                for (key, value) in &mut found {
                    if let Some(before) = looked_at.get(key) {
                        keep_open(before, value);
                    }
                }
                Some(found)
            }
            _ => None,
        };
        *expected = Outcome {
            status: expected.status.as_ref().and(found.status),
            questions: expected.questions.as_ref().and(found.questions),
            nodes: expected.nodes.as_ref().and(found.nodes),
            steps: expected.steps.and(found.steps),
            values: accepted_values,
            error: found.error,
        };
    }

    /// Returns the expressions that are not true, each with what it gives or why it gives nothing.
    fn not_holding(&self, found: &Outcome) -> impl Iterator<Item = Divergence> {
        let scope = Scope::new(&Value::from(json!(found.values)));
        self.holds.iter().enumerate().filter_map(move |(index, source)| {
            let at = format!("/holds/{index}");
            let expression = Expression::compile(source, at.as_str());
            let value = expression.and_then(|expression| expression.eval(&scope));
            let found = match value {
                Ok(value) => Json::from(&value),
                Err(error) => Json::from(error.to_string()),
            };
            (found != Json::Bool(true)).then(|| Divergence {
                at,
                expected: Json::from(source.as_str()),
                found,
            })
        })
    }
}

/// A test that was played.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// What came of it; every field is there, but for an error.
    pub outcome: Outcome,
    /// Answers that no question asked for.
    unused: usize,
    /// Edits that were not made.
    undone: usize,
    /// The tasks of the graph that ended, in order, but for those that asked.
    pub tasks: Vec<PlayedTask>,
    /// All tasks, those of graphs within it too, by whose ids hosts find what they asked models.
    pub task_ids: Vec<String>,
    /// Questions that were answered.
    pub given: Vec<GivenAnswer>,
}

/// A task of a test that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedTask {
    /// Its node.
    pub node: String,
    /// Its super-step.
    pub step: i64,
    /// It failed.
    pub is_failed: bool,
    /// The nodes that its writes lead to.
    pub targets: Vec<String>,
    /// Where its edges led, and where the node itself did.
    pub decisions: Vec<Decision>,
}

/// An answer of a test to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenAnswer {
    /// The node of the graph that asked, or in which another graph asked.
    pub node: String,
    /// The answer.
    pub answer: Json,
}

/// The way of a test through its graph.
struct Play<'a> {
    graph: &'a Graph,
    limit: u32,
    /// Those that were not given yet.
    answers: &'a [Json],
    /// Who is asked when none is left.
    person: Option<&'a dyn Person>,
    /// Those that were not made yet.
    edits: &'a [StateEdit],
    /// How often nodes that are waited for were about to run.
    arrivals: BTreeMap<String, u32>,
    /// Runs that have begun.
    runs: u32,
    /// The super-step at which it stopped last before a node.
    stopped_at: Option<i64>,
    /// It stopped there again.
    is_staying: bool,
    /// The run that comes next stops before no node.
    is_passing: bool,
    /// Names of nodes by super-step: parallel tasks end in any order, and over several runs where one of them asks.
    ended: BTreeMap<i64, Vec<String>>,
    questions: Vec<Json>,
    tasks: Vec<PlayedTask>,
    task_ids: Vec<String>,
    /// Nodes that ask, by the id of the question.
    asking: BTreeMap<String, String>,
    given: Vec<GivenAnswer>,
}

impl Play<'_> {
    /// Runs until the end, or until a question that no answer is left for.
    async fn through(&mut self, input: Input) -> Result<RunStatus, String> {
        let mut next = input;
        loop {
            let result = self.run(next).await?;
            match result.status {
                RunStatus::Done => match self.edit_at_end().await? {
                    true => next = Input::Continue,
                    false => return Ok(RunStatus::Done),
                },
                RunStatus::Breakpoint if self.edits.is_empty() => return Ok(RunStatus::Breakpoint),
                RunStatus::Breakpoint => {
                    self.arrive().await?;
                    next = Input::Continue;
                }
                RunStatus::Interrupted => match self.answered(&result).await {
                    Some(input) => next = input,
                    None => return Ok(RunStatus::Interrupted),
                },
            }
        }
    }

    /// Returns what is about to run, and the last super-step.
    async fn stand(&self) -> Result<(BTreeSet<String>, i64), String> {
        let state = self.graph.get_state(&StateRef::live(THREAD)).await;
        let state = state.map_err(|error| error.to_string())?;
        let step = state.checkpoint.map_or(0, |head| head.metadata.step);
        Ok((state.next.iter().map(ToString::to_string).collect(), step))
    }

    /// Makes the edits that are due before what is about to run.
    async fn arrive(&mut self) -> Result<(), String> {
        let (mut next, mut step) = self.stand().await?;
        if self.stopped_at == Some(step) {
            // After an edit it stops there once more. If that does not help, it has to go on.
            self.is_passing = std::mem::replace(&mut self.is_staying, true);
            return Ok(());
        }
        self.is_staying = false;
        self.count(&next);
        while let Some((edit, rest)) = self.edits.split_first() {
            let visits = self.arrivals.get(&edit.before).copied();
            if !next.contains(&edit.before) || visits != Some(edit.visit) {
                break;
            }
            self.edits = rest;
            self.make(edit).await?;
            let before = next;
            (next, step) = self.stand().await?;
            self.count(next.difference(&before));
        }
        self.stopped_at = Some(step);
        Ok(())
    }

    /// Counts the arrivals at nodes that edits wait for.
    fn count<'n>(&mut self, next: impl IntoIterator<Item = &'n String>) {
        for node in next {
            if self.edits.iter().any(|edit| edit.before == *node) {
                *self.arrivals.entry(node.clone()).or_default() += 1;
            }
        }
    }

    /// Makes the edits that are due at the end of this run; returns whether it goes on after them.
    async fn edit_at_end(&mut self) -> Result<bool, String> {
        while let Some((edit, rest)) = self.edits.split_first()
            && edit.before == END
            && edit.visit == self.runs
        {
            self.edits = rest;
            self.make(edit).await?;
            if !self.stand().await?.0.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn make(&self, edit: &StateEdit) -> Result<(), String> {
        let update = StateUpdate {
            values: Value::from(edit.values.clone()),
            as_node: edit.as_node.as_deref().map(Into::into),
            ..StateUpdate::default()
        };
        let edited = self.graph.update_state(&StateRef::live(THREAD), update).await;
        edited.map(drop).map_err(|error| error.to_string())
    }

    async fn run(&mut self, input: Input) -> Result<RunResult, String> {
        let waited = self.edits.iter().map(|edit| edit.before.as_str());
        let before: BTreeSet<&str> = match std::mem::take(&mut self.is_passing) {
            true => BTreeSet::new(),
            false => waited.filter(|node| *node != END).collect(),
        };
        let config = RunConfig::on(THREAD)
            .modes([StreamMode::Tasks])
            .subgraphs(true)
            .record(true)
            .interrupt_before(before)
            .recursion_limit(self.limit);
        let mut run = self.graph.stream(input, config);
        while let Some(event) = run.next().await {
            if let Payload::TaskEnd(end) = event.payload {
                self.task_ids.push(end.id.to_string());
                if event.ns.is_empty() {
                    self.note(end);
                }
            }
        }
        run.finish().await.map_err(|error| error.to_string())
    }

    /// Notes a task of the graph that ended, or asks.
    fn note(&mut self, end: TaskEnd) {
        if !end.interrupts.is_empty() {
            for asked in &end.interrupts {
                self.asking.insert(asked.id.to_string(), end.name.to_string());
            }
            return;
        }
        let is_failed = end.error.is_some();
        let failed = if is_failed { " failed" } else { "" };
        let names = self.ended.entry(end.step).or_default();
        names.push(format!("{}{failed}", end.name));
        self.tasks.push(PlayedTask {
            node: end.name.to_string(),
            step: end.step,
            is_failed,
            targets: end.targets.iter().map(ToString::to_string).collect(),
            decisions: end.record.map(|record| record.decisions).unwrap_or_default(),
        });
    }

    /// Notes the questions and returns the answers to them; `None` when none is left. One answer is that to the one
    /// question, or a map of ids; several questions that are asked at once are answered in order.
    async fn answered(&mut self, result: &RunResult) -> Option<Input> {
        let before = self.questions.len();
        for interrupt in &result.interrupts {
            self.questions.push(question_of(&interrupt.value));
        }
        let count = result.interrupts.len().min(self.answers.len());
        let (given, later) = self.answers.split_at(count);
        self.answers = later;
        let mut now = given.to_vec();
        if let Some(person) = self.person {
            for (place, interrupt) in result.interrupts.iter().enumerate().skip(count) {
                let asked = PersonAsked {
                    question: &interrupt.value,
                    state: &result.value,
                    before: before + place,
                };
                // Somebody who is asked again and again would keep a graph that loops at work without an end.
                if asked.before >= MAX_QUESTIONS {
                    break;
                }
                let Some(answer) = person.answer(asked).await else {
                    break;
                };
                now.push(answer);
            }
        }
        for (interrupt, answer) in result.interrupts.iter().zip(&now) {
            let node = self.asking.get(&interrupt.id.to_string());
            self.given.push(GivenAnswer {
                node: node.cloned().unwrap_or_default(),
                answer: answer.clone(),
            });
        }
        match now.as_slice() {
            [] => None,
            [answer] => Some(match result.interrupts.as_slice() {
                [_] => Input::answer(Value::from(answer.clone())),
                several => Input::answer(Value::from(json!({several[0].id.to_string(): answer}))),
            }),
            now => {
                let ids = result.interrupts.iter().map(|interrupt| interrupt.id.to_string());
                let answers: Map<String, Json> = ids.zip(now.iter().cloned()).collect();
                Some(Input::answer(Value::from(Json::Object(answers))))
            }
        }
    }
}

fn divergence<E: Serialize, F: Serialize>(at: String, expected: Option<&E>, found: Option<&F>) -> Divergence {
    Divergence {
        at,
        expected: json!(expected),
        found: json!(found),
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the first place within two values where they differ.
fn narrowed(at: String, expected: &Json, found: &Json) -> Divergence {
    match (expected, found) {
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            if let Some((place, (one, other))) = pairs.find(|(_, (one, other))| !agrees(one, other)) {
                return narrowed(format!("{at}/{place}"), one, other);
            }
        }
        (Json::Object(fields), Json::Object(others))
            if fields.keys().all(|name| others.contains_key(name)) =>
        {
            let mut pairs = fields.iter().map(|(name, one)| (name, one, &others[name]));
            if let Some((name, one, other)) = pairs.find(|(_, one, other)| !agrees(one, other)) {
                return narrowed(format!("{at}/{}", escaped(name)), one, other);
            }
        }
        _ => {}
    }
    divergence(at, Some(expected), Some(found))
}

/// Returns what a test says of a question: its words, and why the answer before was refused.
pub fn question_of(asked: &Value) -> Json {
    let mut question = Json::from(asked);
    if let Some(fields) = question.as_object_mut() {
        fields.retain(|key, _| ["question", "refused"].contains(&key.as_str()));
    }
    question
}

/// Returns the first place where one is missing or this holds of both.
fn first_that<T>(expected: &[T], found: &[T], differ: impl Fn(&T, &T) -> bool) -> Option<usize> {
    let longest = expected.len().max(found.len());
    (0..longest).find(|index| match (expected.get(*index), found.get(*index)) {
        (Some(expected), Some(found)) => differ(expected, found),
        _ => true,
    })
}

/// Returns whether a value is one that must come: equal, but for places where anything may stand.
pub fn agrees(expected: &Json, found: &Json) -> bool {
    match (expected, found) {
        (Json::String(text), _) if text == ANYTHING => true,
        (Json::Array(items), Json::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(one, other)| agrees(one, other))
        }
        (Json::Object(fields), Json::Object(others)) => {
            let same =
                |(name, one): (&String, &Json)| others.get(name).is_some_and(|other| agrees(one, other));
            fields.len() == others.len() && fields.iter().all(same)
        }
        (one, other) => one == other,
    }
}

/// Leaves open in a new value what was open in the old one at the same place.
fn keep_open(before: &Json, now: &mut Json) {
    match (before, now) {
        (Json::String(text), now) if text == ANYTHING => *now = before.clone(),
        (Json::Array(items), Json::Array(others)) => {
            items
                .iter()
                .zip(others)
                .for_each(|(one, other)| keep_open(one, other));
        }
        (Json::Object(fields), Json::Object(others)) => {
            for (name, other) in others {
                if let Some(one) = fields.get(name) {
                    keep_open(one, other);
                }
            }
        }
        _ => {}
    }
}

/// Returns what a test can hold of a value that came twice: it, with `*` where both have an id or a time and not the
/// same; `None` when they differ in anything else.
pub fn steady(first: &Json, again: &Json) -> Option<Json> {
    match (first, again) {
        (one, other) if one == other => Some(one.clone()),
        (Json::String(one), Json::String(other)) => {
            let both = |is: fn(&str) -> bool| is(one) && is(other);
            (both(is_id) || both(is_time)).then(|| Json::from(ANYTHING))
        }
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            let pairs = items.iter().zip(others);
            pairs.map(|(one, other)| steady(one, other)).collect()
        }
        (Json::Object(fields), Json::Object(others)) if fields.len() == others.len() => {
            let pairs = fields
                .iter()
                .map(|(name, one)| Some((name.clone(), steady(one, others.get(name)?)?)));
            pairs.collect::<Option<Map<String, Json>>>().map(Json::Object)
        }
        _ => None,
    }
}

/// Returns whether a text is made of hexadecimal digits, perhaps after a prefix, as programs name things that they invent.
fn is_id(text: &str) -> bool {
    const LEAST: usize = 16;
    let end = text.rsplit(['_', ':', '/']).next().unwrap_or_default();
    let digits = end.bytes().filter(u8::is_ascii_hexdigit).count();
    digits >= LEAST && end.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Returns whether a text begins with a date, as ISO 8601 writes times.
fn is_time(text: &str) -> bool {
    let date = text.as_bytes().get(..10).unwrap_or_default();
    date.len() == 10
        && date.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Replaces what differs from run to run: ids of messages, and those of tool calls, which are numbered so that answers
/// keep to their calls.
pub fn without_ids(value: &mut Json) {
    number_ids(value, &mut BTreeMap::new());
}

fn number_ids(value: &mut Json, calls: &mut BTreeMap<String, String>) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| number_ids(item, calls)),
        Json::Object(fields) => {
            if fields.contains_key("content") && fields.contains_key("id") {
                fields.insert("id".into(), json!("*"));
            }
            let call = match fields.get("type").and_then(Json::as_str) {
                Some("tool_call") => "id",
                _ => "tool_call_id",
            };
            if let Some(id) = fields.get(call).and_then(Json::as_str) {
                let next = format!("call-{}", calls.len() + 1);
                let name = calls.entry(id.to_owned()).or_insert(next).clone();
                fields.insert(call.into(), name.into());
            }
            fields.values_mut().for_each(|field| number_ids(field, calls));
        }
        _ => {}
    }
}
