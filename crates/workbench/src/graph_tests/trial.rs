//! A test that was made of a thread, played once: what came out otherwise, and the file that it becomes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Map;
use superstep::{Graph, Value};
use superstep_document::{Document, text};
use superstep_nodes::Registry;
use superstep_nodes::models::TestAnswers;
use superstep_nodes::testing::{Divergence, FOLDER, GraphTest, Played, steady};

use super::thread::ThreadTest;
use crate::base::files::write_over;
use crate::base::values::{self, first_text};
use crate::wire::{Json, MustHold, Problem, TestDifference, TestKey, TestMade, TestedNode};

/// Letters of a name that is made of an input.
const MAX_MADE_NAME: usize = 40;
/// Letters of a name.
const MAX_NAME: usize = 100;
/// Nodes that are named as the reason of a difference.
const MAX_REASONS: usize = 5;

/// Returns the file of a test of a graph.
///
/// # Errors
/// When the name is none of a file, or the folder of the tests is a link.
pub fn test_file(graph: &Path, name: &str) -> Result<PathBuf, Problem> {
    let is_bad = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    let length = name.chars().count();
    if name.trim().is_empty() || name.starts_with('.') || length > MAX_NAME || name.chars().any(is_bad) {
        return Err(Problem::invalid(text!(
            "{name} cannot be the name of a test.",
            name = format!("{name:?}")
        ))
        .remedy(text!(
            "Use letters, digits, spaces, - and _, at most {most}.",
            most = MAX_NAME
        )));
    }
    let folder = graph.parent().unwrap_or(Path::new("")).join(FOLDER);
    if folder.is_symlink() {
        return Err(Problem::invalid(text!(
            "{folder} is a link, and tests stay beside their graph.",
            folder = folder.display().to_string()
        ))
        .remedy(text!("Put a folder in its place.")));
    }
    Ok(folder.join(format!("{name}.json")))
}

/// Makes a name of a text: its letters and digits.
fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() {
            true => name.extend(c.to_lowercase()),
            false if name.is_empty() || name.ends_with('-') => {}
            false => name.push('-'),
        }
    }
    let name: String = name.chars().take(MAX_MADE_NAME).collect();
    name.trim_end_matches('-').to_owned()
}

impl ThreadTest {
    /// Returns the test.
    pub fn test(&self) -> &GraphTest {
        &self.test
    }

    /// Returns the name that was given, or else one that no test of the graph has.
    ///
    /// # Errors
    /// When there is a test of the given name, or the name is none of a file.
    pub fn name(&self, graph: &Path, given: Option<&str>) -> Result<(String, PathBuf), Problem> {
        if let Some(name) = given {
            let path = test_file(graph, name)?;
            return match path.symlink_metadata() {
                Ok(_) => Err(is_there(&path)),
                Err(_) => Ok((name.to_owned(), path)),
            };
        }
        let first = self.test.inputs.first().cloned().map(Value::from);
        let words = first.and_then(|input| first_text(&input, MAX_MADE_NAME));
        let base = words.map(|words| slug(&words)).filter(|name| !name.is_empty());
        let base = base.unwrap_or_else(|| "thread".to_owned());
        let mut name = base.clone();
        let mut count = 1;
        loop {
            let path = test_file(graph, &name)?;
            if path.symlink_metadata().is_err() {
                return Ok((name, path));
            }
            count += 1;
            name = format!("{base}-{count}");
        }
    }

    /// Returns the answers of models for the test, which is played with them and keeps them when it is written.
    ///
    /// # Errors
    /// When the recordings beside the graph are a link.
    pub fn answers(&self, graph: &Path, name: &str) -> Result<Arc<TestAnswers>, Problem> {
        let folder = graph.parent().unwrap_or(Path::new(""));
        let answers = TestAnswers::given(name, folder, self.recorded.iter().cloned());
        Ok(Arc::new(
            answers.map_err(|error| Problem::invalid(error.to_string()))?,
        ))
    }

    /// Plays the test, and takes over what came where the thread says the same: names of failed tasks, words of questions
    /// that it does not store, and `*` for ids and times that differ.
    pub async fn tried(self, graph: Graph, document: &Document) -> TriedTest {
        let Self {
            mut test,
            recorded: _,
            unrecorded,
            mut notes,
        } = self;
        let played = test.play(graph, document).await;
        let found = &played.outcome;
        let whole = test.expect.values.clone().unwrap_or_default();
        if unrecorded > 0 {
            notes.push(format!(
                "{unrecorded} answers of models were kept by an earlier release, without what a recording needs."
            ));
        }
        let plain = |names: &Option<Vec<String>>| -> Vec<String> {
            let names = names.iter().flatten();
            names
                .map(|name| name.strip_suffix(" failed").unwrap_or(name).to_owned())
                .collect()
        };
        if plain(&test.expect.nodes) == plain(&found.nodes) {
            test.expect.nodes.clone_from(&found.nodes);
        }
        let differs_at = |at: &str| test.divergences(&played).iter().any(|one| one.at.starts_with(at));
        if !differs_at("/expect/questions") {
            test.expect.questions.clone_from(&found.questions);
        }
        for (key, value) in test.expect.values.iter_mut().flatten() {
            let again = found.values.as_ref().and_then(|values| values.get(key));
            if let Some(steady) = again.and_then(|again| steady(value, again)) {
                *value = steady;
            }
        }
        let is_same_failure = match (&test.expect.error, &found.error) {
            (Some(first), Some(again)) => again.contains(first.as_str()) || first.contains(again.as_str()),
            _ => false,
        };
        if is_same_failure {
            test.expect.error.clone_from(&found.error);
        }
        TriedTest {
            test,
            played,
            whole,
            notes,
            left_out: Vec::new(),
            reasons: Reasons::of(document),
        }
    }
}

fn is_there(path: &Path) -> Problem {
    Problem::new(
        "conflict",
        text!(
            "There is a test {path} already.",
            path = path.display().to_string()
        ),
    )
    .remedy(text!("Choose another name, or delete that test first."))
}

/// A test of a thread that was played.
#[derive(Clone, Debug)]
pub struct TriedTest {
    test: GraphTest,
    played: Played,
    /// The values of all keys that it could look at.
    whole: Map<String, Json>,
    notes: Vec<String>,
    left_out: Vec<String>,
    reasons: Reasons,
}

impl TriedTest {
    /// Sets what is tested, what of it must come again, and expressions that must be true.
    pub fn choose(&mut self, about: Option<String>, must_hold: Option<&MustHold>, holds: Vec<String>) {
        if let Some(about) = about {
            self.test.about = about;
        }
        self.test.holds = holds;
        let Some(chosen) = must_hold else { return };
        let expect = &mut self.test.expect;
        if !chosen.status {
            (expect.status, expect.error) = (None, None);
        }
        if !chosen.nodes {
            expect.nodes = None;
        }
        if !chosen.questions {
            expect.questions = None;
        }
        if let Some(values) = &mut expect.values {
            values.retain(|key, _| chosen.keys.contains(key));
        }
    }

    /// Returns where the test came out otherwise than it must.
    pub fn divergences(&self) -> Vec<Divergence> {
        self.test.divergences(&self.played)
    }

    /// Leaves out of the test what came out otherwise: values by key, the way, the questions and how it ended. Answers
    /// that nobody asked for, edits that were not made and expressions that are not true remain.
    pub fn leave_out(&mut self) {
        for one in self.divergences() {
            let mut parts = one.at.split('/').skip(1);
            let expect = &mut self.test.expect;
            let left_out = match (parts.next(), parts.next(), parts.next()) {
                (Some("expect"), Some("values"), Some(key)) => {
                    let key = key.replace("~1", "/").replace("~0", "~");
                    expect
                        .values
                        .iter_mut()
                        .for_each(|values| drop(values.remove(&key)));
                    format!("values.{key}")
                }
                (Some("expect"), Some("nodes"), _) => {
                    expect.nodes = None;
                    "nodes".to_owned()
                }
                (Some("expect"), Some("questions"), _) => {
                    expect.questions = None;
                    "questions".to_owned()
                }
                (Some("expect"), Some("status"), _) => {
                    expect.status = None;
                    "status".to_owned()
                }
                _ => continue,
            };
            self.left_out.push(left_out);
        }
    }

    /// Writes the test, and what models answered into the recordings beside the graph. A file that is there stays.
    ///
    /// # Errors
    /// When the test does not pass, there is a file of its name, or the files cannot be written.
    pub fn write(&self, path: &Path, answers: &TestAnswers) -> Result<(), Problem> {
        if let Some(first) = self.divergences().first() {
            return Err(Problem::new(
                "test-differs",
                text!(
                    "The test came out otherwise than the thread, at {at}, and was not written.",
                    at = &first.at
                ),
            )
            .remedy(text!(
                "Leave out what differs, or make the test of a thread that does the same again."
            )));
        }
        if path.symlink_metadata().is_ok() {
            return Err(is_there(path));
        }
        answers
            .keep()
            .map_err(|error| Problem::invalid(error.to_string()))?;
        let is_written = write_over(path, self.test.to_text().as_bytes(), None)
            .map_err(|error| Problem::file(text!("write"), path, &error))?;
        match is_written {
            true => Ok(()),
            false => Err(is_there(path)),
        }
    }

    /// Returns the ids of the tasks that were played.
    pub fn task_ids(&self) -> &[String] {
        &self.played.task_ids
    }

    /// Describes the test.
    pub fn view(&self, name: String, path: &Path, answers: &TestAnswers, written: bool) -> TestMade {
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        let (test, expect) = (&self.test, &self.test.expect);
        let key = |(key, value): (&String, &Json)| TestKey {
            key: key.clone(),
            value: values::view(&Value::from(value.clone())),
        };
        TestMade {
            name,
            path: path.display().to_string(),
            written,
            about: test.about.clone(),
            inputs: count(test.inputs.len()),
            answers: count(test.answers.len()),
            edits: count(test.edits.len()),
            recorded: count(answers.count()),
            status: expect.status.clone(),
            nodes: expect.nodes.clone().unwrap_or_default(),
            questions: count(expect.questions.as_ref().map_or(0, Vec::len)),
            keys: self.whole.iter().map(key).collect(),
            differences: self.reasons.differences(&self.divergences(), &self.played),
            left_out: self.left_out.clone(),
            notes: self.notes.clone(),
        }
    }
}

/// Kinds of nodes and what they write, to name those that may be the reason of a difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons {
    kinds: BTreeMap<String, String>,
    writers: BTreeMap<String, BTreeSet<String>>,
}

impl Reasons {
    pub(super) fn of(document: &Document) -> Self {
        let mut writers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (record, usage) in Registry::standard().usage(document) {
            let Some(node) = record.strip_prefix("node:") else {
                continue;
            };
            for key in usage.writes {
                writers.entry(key).or_default().insert(node.to_owned());
            }
        }
        Self {
            kinds: document
                .nodes()
                .map(|(node, spec)| (node.to_owned(), spec.kind))
                .collect(),
            writers,
        }
    }

    /// Returns the nodes that ran and may have made a difference.
    fn by(&self, at: &str, played: &Played) -> Vec<TestedNode> {
        let mut parts = at.split('/').skip(1);
        let mut nodes: Vec<&str> = match (parts.next(), parts.next(), parts.next()) {
            (Some("expect"), Some("values"), Some(key)) => {
                let key = key.replace("~1", "/").replace("~0", "~");
                let writers = self.writers.get(&key);
                let wrote = |node: &str| writers.is_some_and(|writers| writers.contains(node));
                let ran = played.tasks.iter().map(|task| task.node.as_str());
                ran.filter(|node| wrote(node)).collect()
            }
            // The node before decided where the run went.
            (Some("expect"), Some("nodes"), Some(index)) => {
                let before = index.parse().ok().and_then(|index: usize| index.checked_sub(1));
                let name = before.and_then(|before| played.outcome.nodes.as_ref()?.get(before));
                name.map(|name| name.strip_suffix(" failed").unwrap_or(name))
                    .into_iter()
                    .collect()
            }
            (Some("expect"), Some("status" | "error"), _) => {
                let failed = played.tasks.iter().filter(|task| task.is_failed);
                failed.map(|task| task.node.as_str()).collect()
            }
            _ => Vec::new(),
        };
        let mut seen = BTreeSet::new();
        nodes.retain(|node| seen.insert(*node));
        let kind = |node: &str| {
            Some(TestedNode {
                node: node.to_owned(),
                kind: self.kinds.get(node)?.clone(),
            })
        };
        nodes.into_iter().filter_map(kind).take(MAX_REASONS).collect()
    }

    pub(super) fn differences(&self, divergences: &[Divergence], played: &Played) -> Vec<TestDifference> {
        let view = |value: &Json| (!value.is_null()).then(|| values::view(&Value::from(value.clone())));
        divergences
            .iter()
            .map(|one| TestDifference {
                at: one.at.clone(),
                expected: view(&one.expected),
                found: view(&one.found),
                by: self.by(&one.at, played),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_files_beside_the_graph() {
        let graph = Path::new("/desk/graph.json");
        assert_eq!(
            test_file(graph, "a b").unwrap(),
            Path::new("/desk/expect/a b.json")
        );
        for bad in [
            "",
            " ",
            "../up",
            "a/b",
            "a\\b",
            ".hidden",
            "a\nb",
            &"x".repeat(101),
        ] {
            assert_eq!(
                test_file(graph, bad).unwrap_err().code,
                "invalid-request",
                "{bad:?}"
            );
        }
        assert_eq!(slug("  The lamp, arrived — broken! "), "the-lamp-arrived-broken");
        assert_eq!(slug("灯坏了。"), "灯坏了");
        assert_eq!(slug("?!"), "");
    }
}
