//! Tests of a graph: made of threads, listed, run and accepted.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ValueView;

/// `test.make`: makes a test of a thread, in the folder `expect` beside the graph's file. It is played once right away.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MakeTest {
    /// The thread.
    pub thread_id: String,
    /// The open document that is tested; the thread's own graph when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// The end of the way through the thread; the newest checkpoint when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// The name of the test; made of the input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// What is tested, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub about: Option<String>,
    /// What must come again; everything that came when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub must_hold: Option<MustHold>,
    /// Expressions over the state that must be true at the end.
    #[serde(default)]
    pub holds: Vec<String>,
    /// What differs from the thread when the test is played is left out of it.
    #[serde(default)]
    pub leave_out: bool,
    /// It is written; otherwise only shown.
    #[serde(default)]
    pub write: bool,
    /// A name by which `work.cancel` stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Parts of an outcome that must come again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MustHold {
    /// How it ends.
    pub status: bool,
    /// The nodes on the way.
    pub nodes: bool,
    /// The questions.
    pub questions: bool,
    /// These state keys.
    pub keys: Vec<String>,
}

/// Answer of `test.make`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TestMade {
    /// The name.
    pub name: String,
    /// The path of its file.
    pub path: String,
    /// The file was written.
    pub written: bool,
    /// What is tested, for people.
    pub about: String,
    /// Number of inputs.
    pub inputs: u32,
    /// Number of answers of people.
    pub answers: u32,
    /// Number of edits of the state.
    pub edits: u32,
    /// Number of answers of models that go into the recordings beside the graph.
    pub recorded: u32,
    /// How it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<String>,
    /// The nodes on the way.
    pub nodes: Vec<String>,
    /// Number of questions.
    pub questions: u32,
    /// State keys that nodes or people wrote.
    pub keys: Vec<TestKey>,
    /// Where the test came out otherwise than the thread.
    pub differences: Vec<TestDifference>,
    /// What was left out of it.
    pub left_out: Vec<String>,
    /// Why it may not come out the same, as far as the thread says it.
    pub notes: Vec<String>,
}

/// A state key that a test can look at.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TestKey {
    /// The key.
    pub key: String,
    /// Its value at the end.
    pub value: ValueView,
}

/// A place where what came is not what must come.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TestDifference {
    /// JSON Pointer into the test, e.g. `/expect/nodes/2`.
    pub at: String,
    /// What must come; absent where nothing must.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expected: Option<ValueView>,
    /// What came; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub found: Option<ValueView>,
    /// Nodes that may be the reason.
    pub by: Vec<TestedNode>,
}

/// A node that a test ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TestedNode {
    /// The node.
    pub node: String,
    /// Its kind.
    pub kind: String,
}

/// Answer of `test.list`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct GraphTests {
    /// The folder of the tests; absent for a graph that is in no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub folder: Option<String>,
    /// The tests, by name.
    pub tests: Vec<TestEntry>,
}

/// A test of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TestEntry {
    /// Its name.
    pub name: String,
    /// What is tested, for people.
    pub about: String,
    /// Number of inputs.
    pub inputs: u32,
    /// Number of answers of people.
    pub answers: u32,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

/// `test.run` and `test.accept`: a test of an open document.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunTest {
    /// The open document, as it is now.
    pub graph_id: String,
    /// The name of the test.
    pub name: String,
    /// A name by which `work.cancel` stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Answer of `test.run` and `test.accept`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    /// The name of the test.
    pub name: String,
    /// It came out as it must.
    pub passed: bool,
    /// How long it took, in milliseconds.
    pub millis: u32,
    /// Where it came out otherwise, the first place on the way first.
    pub differences: Vec<TestDifference>,
    /// What came can be accepted as what must come.
    pub acceptable: bool,
}
