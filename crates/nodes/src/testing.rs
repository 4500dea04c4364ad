//! Tests of a graph: what is put in, how people answer, and what must come of it.
//!
//! A test is a file in the folder [`FOLDER`] beside the graph's: `inputs` one after the other on one thread, `answers`
//! to its questions in order, perhaps an `edit` of the state before a node. What must come of it is in `expect`; what is
//! left out there is not looked at, and of `values` only the keys that it names. `holds` are expressions over the state
//! at the end, which must be true.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::run::{RunStatus, StateRef};
use superstep::stream::Payload;
use superstep::{
    Graph, Input, MemorySaver, MemoryStore, RunConfig, RunResult, StateUpdate, StreamMode, Value,
};
use superstep_document::Document;

use crate::base::files;
use crate::expression::{Expression, Scope};

/// The folder of tests, beside the graph's file.
pub const FOLDER: &str = "expect";

/// Bytes of the largest file of a test.
const MAX_FILE: u64 = 16 << 20;

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
    /// An edit of the state on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<StateEdit>,
    /// Expressions over `state` that are true at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// What must come of it.
    #[serde(default)]
    pub expect: Outcome,
}

/// An edit of the state at the first time that a node is about to run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StateEdit {
    /// The node before which the run stops.
    pub before: String,
    /// New values of state keys.
    pub values: Json,
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
    /// The state at the end, by key. Ids of messages are `*`, those of tool calls are numbered.
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
        let unreadable = |cause: String| UnreadableTest {
            path: path.to_owned(),
            cause,
        };
        let text = files::read_text(path, MAX_FILE).map_err(|error| unreadable(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| unreadable(format!("{error}.")))
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

    /// Runs the test on a graph of the document, in memory. A run that fails is an outcome, too.
    pub async fn play(&self, graph: Graph, document: &Document) -> Played {
        let graph = graph
            .with_checkpointer(Arc::new(MemorySaver::new()))
            .with_store(Arc::new(MemoryStore::new()));
        let mut play = Play {
            graph: &graph,
            limit: document.recursion_limit(),
            answers: &self.answers,
            edit: self.edit.as_ref(),
            nodes: Vec::new(),
            questions: Vec::new(),
        };
        let mut status = Ok(RunStatus::Done);
        for input in &self.inputs {
            status = play.through(Input::value(Value::from(input.clone()))).await;
            if status.is_err() {
                break;
            }
        }
        let (unused, is_edited) = (play.answers.len(), play.edit.is_none());
        let (nodes, questions) = (play.nodes, play.questions);
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
            is_edited,
        }
    }

    /// Compares what came with what must come; none when the test passes. The first is the first on the way.
    pub fn divergences(&self, played: &Played) -> Vec<Divergence> {
        let (expected, found) = (&self.expect, &played.outcome);
        let mut all = Vec::new();
        if let (Some(expected), Some(found)) = (&expected.nodes, &found.nodes)
            && let Some(index) = first_difference(expected, found)
        {
            all.push(divergence(
                format!("/expect/nodes/{index}"),
                expected.get(index),
                found.get(index),
            ));
        }
        if let (Some(expected), Some(found)) = (&expected.questions, &found.questions)
            && let Some(index) = first_difference(expected, found)
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
        if !played.is_edited {
            let before = self.edit.as_ref().map(|edit| &edit.before);
            all.push(divergence("/edit/before".to_owned(), before, None::<&Json>));
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
            if found != Some(value) {
                let key = key.replace('~', "~0").replace('/', "~1");
                all.push(divergence(format!("/expect/values/{key}"), Some(value), found));
            }
        }
        all.extend(self.not_holding(found));
        all
    }

    /// Takes what came as what must come from now on, of what the test looks at.
    pub fn accept(&mut self, found: Outcome) {
        let expected = &mut self.expect;
        let accepted_values = match (&expected.values, found.values) {
            (Some(looked_at), Some(mut found)) => {
                found.retain(|key, _| looked_at.contains_key(key));
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
    /// Whether the edit was made, or there is none.
    is_edited: bool,
}

/// The way of a test through its graph.
struct Play<'a> {
    graph: &'a Graph,
    limit: u32,
    /// Those that were not given yet.
    answers: &'a [Json],
    edit: Option<&'a StateEdit>,
    nodes: Vec<String>,
    questions: Vec<Json>,
}

impl Play<'_> {
    /// Runs until the end, or until a question that no answer is left for.
    async fn through(&mut self, input: Input) -> Result<RunStatus, String> {
        let mut next = input;
        loop {
            let result = self.run(next).await?;
            match result.status {
                RunStatus::Done => return Ok(RunStatus::Done),
                RunStatus::Breakpoint => {
                    let Some(edit) = self.edit.take() else {
                        return Ok(RunStatus::Breakpoint);
                    };
                    let update = StateUpdate {
                        values: Value::from(edit.values.clone()),
                        ..StateUpdate::default()
                    };
                    let edited = self.graph.update_state(&StateRef::live(THREAD), update).await;
                    edited.map_err(|error| error.to_string())?;
                    next = Input::Continue;
                }
                RunStatus::Interrupted => match self.answered(&result) {
                    Some(input) => next = input,
                    None => return Ok(RunStatus::Interrupted),
                },
            }
        }
    }

    async fn run(&mut self, input: Input) -> Result<RunResult, String> {
        let before = self.edit.map(|edit| edit.before.as_str());
        let config = RunConfig::on(THREAD)
            .modes([StreamMode::Tasks])
            .interrupt_before(before)
            .recursion_limit(self.limit);
        let mut run = self.graph.stream(input, config);
        // Parallel tasks end in any order; within a step their names are sorted.
        let mut ended: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        while let Some(event) = run.next().await {
            if let Payload::TaskEnd(end) = event.payload
                && end.interrupts.is_empty()
            {
                let failed = if end.error.is_some() { " failed" } else { "" };
                ended
                    .entry(end.step)
                    .or_default()
                    .push(format!("{}{failed}", end.name));
            }
        }
        for (_, mut names) in ended {
            names.sort();
            self.nodes.extend(names);
        }
        run.finish().await.map_err(|error| error.to_string())
    }

    /// Notes the questions and returns the answers to them; `None` when none is left. One answer is that to the one
    /// question, or a map of ids; several questions that are asked at once are answered in order.
    fn answered(&mut self, result: &RunResult) -> Option<Input> {
        for interrupt in &result.interrupts {
            let mut question = Json::from(&interrupt.value);
            if let Some(fields) = question.as_object_mut() {
                fields.retain(|key, _| ["question", "refused"].contains(&key.as_str()));
            }
            self.questions.push(question);
        }
        let count = result.interrupts.len().min(self.answers.len());
        let (now, later) = self.answers.split_at(count);
        self.answers = later;
        match now {
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

fn first_difference<T: PartialEq>(expected: &[T], found: &[T]) -> Option<usize> {
    let longest = expected.len().max(found.len());
    (0..longest).find(|index| expected.get(*index) != found.get(*index))
}

/// Replaces what differs from run to run: ids of messages, and those of tool calls, which are numbered so that answers
/// keep to their calls.
fn without_ids(value: &mut Json) {
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
