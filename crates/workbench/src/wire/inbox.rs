//! Questions that wait for a person, of all threads.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Comparison, EffectView, ExchangeCost, Json, Problem, StartRun};

/// A choice offered with a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Choice {
    /// On the button.
    pub label: String,
    /// The answer it gives.
    #[ts(type = "any")]
    pub value: Json,
    /// What it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
}

/// Content of a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The question as text.
    pub text: String,
    /// JSON Schema of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub schema: Option<Json>,
    /// Choices.
    pub choices: Vec<Choice>,
    /// State that matters for the answer, by key.
    #[ts(type = "any")]
    pub context: Json,
    /// Why an earlier answer was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub refused: Option<String>,
    /// The interrupt's value as the node gave it.
    #[ts(type = "any")]
    pub value: Json,
    /// Tool calls that it asks about in a public form of other programs. The schema is then that of the decision about the one
    /// call, or of an object with a decision about each, by number from 1; choices give whole answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub calls: Option<AskedCalls>,
}

/// Tool calls that a question is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskedCalls {
    /// Form of an answer.
    pub form: CallsForm,
    /// The calls; at least one.
    pub calls: Vec<AskedCall>,
}

/// Form in which an answer holds the decisions about calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum CallsForm {
    /// `{"decisions": [one for each call]}`, as LangChain's agents read.
    Decisions,
    /// A list with one response for each call, as programs for agent-inbox read.
    Responses,
    /// The decision about the one call.
    Decision,
}

/// A tool call that waits for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskedCall {
    /// Tool.
    pub name: String,
    /// Arguments, by name.
    #[ts(type = "any")]
    pub args: Json,
    /// Explanation of the asker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// What may be decided.
    pub allowed: Vec<CallDecision>,
    /// JSON Schema of the arguments, where the asker says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub args_schema: Option<Json>,
}

/// A decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum CallDecision {
    /// Run it.
    Approve,
    /// Run it with other arguments.
    Edit,
    /// Do not run it.
    Reject,
    /// Do not run it: the answer is its result.
    Respond,
}

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Interrupt id: the answer goes to it.
    pub interrupt_id: String,
    /// Thread.
    pub thread_id: String,
    /// Thread title.
    pub thread_title: String,
    /// Graph name.
    pub graph_name: String,
    /// Graph file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_path: Option<String>,
    /// Node that asks.
    pub node: String,
    /// What it says.
    #[serde(flatten)]
    pub asked: Asked,
    /// Checkpoint that waits; the answer names it.
    pub checkpoint_id: String,
    /// To whom it was handed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub delegation: Option<Delegation>,
    /// Until when it is put off: milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub snoozed_until: Option<u64>,
    /// The branch that asks, when it is not the newest of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub branch: Option<QuestionBranch>,
    /// Waiting since.
    pub since: String,
    /// The last answer to it, where it could not be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub returned: Option<ReturnedAnswer>,
}

/// A branch of a thread that is not its newest.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionBranch {
    /// Super-step of the checkpoint that waits.
    pub step: i64,
    /// Super-step at which the thread's newest branch left it.
    pub left_at: i64,
}

/// `inbox.list`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListInbox {
    /// Only what follows this place: `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Waiting checkpoints of a page; absent means 100, at most 5,000. A checkpoint may ask several questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// Only this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
}

/// Answer of `inbox.list`: waiting longest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Inbox {
    /// The questions.
    pub questions: Vec<Question>,
    /// Answers that no thread has yet; with the first page only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<HeldAnswer>>", optional)]
    pub held: Vec<HeldAnswer>,
    /// How many wait in all.
    pub waiting: u32,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next: Option<String>,
}

/// `question.withdraw`: the question waits no longer and nobody answers it; the thread stays as it is.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WithdrawQuestion {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks.
    pub checkpoint_id: String,
    /// Interrupt id.
    pub interrupt_id: String,
    /// Why, in the words of the person who withdraws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// Take the thread over from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
}

/// Named people who are to answer a question. Names are said, and nobody has proven them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Delegation {
    /// Who is to answer.
    pub to: Vec<String>,
    /// True when those who were asked before are still asked.
    pub escalated: bool,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// When: ISO-8601, UTC.
    pub at: String,
}

/// A question by its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionRef {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks.
    pub checkpoint_id: String,
    /// Interrupt id.
    pub interrupt_id: String,
}

/// `question.delegate`: names the people who are to answer questions, all or none.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DelegateQuestions {
    /// The questions.
    pub questions: Vec<QuestionRef>,
    /// Names; none gives the questions back to those who are asked by their graph.
    pub to: Vec<String>,
    /// Ask them besides those who were asked before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub escalate: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
}

/// `question.snooze`: puts questions off, in every window of the data folder.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SnoozeQuestions {
    /// The questions.
    pub questions: Vec<QuestionRef>,
    /// Until when: milliseconds since the epoch; absent brings them back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub until: Option<u64>,
}

/// `inbox.costs`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadCosts {
    /// The threads.
    pub thread_ids: Vec<String>,
}

/// Answer of `inbox.costs`: what the models of threads have cost so far.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ThreadCosts {
    /// Those of threads that cost something.
    pub costs: Vec<ThreadCost>,
}

/// Money that a thread cost so far; in the currency of which it is most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ThreadCost {
    /// The thread.
    pub thread_id: String,
    /// How much.
    #[serde(flatten)]
    pub cost: ExchangeCost,
}

/// `inbox.changes`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadChanges {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks. Absent: the newest of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
}

/// Answer of `inbox.changes`: what changed in a thread that asks since somebody last had a hand in it. Empty when nobody
/// had before this run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct Changes {
    /// When the run began that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<String>,
    /// The checkpoint that it went on from, and the thread as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub comparison: Option<Comparison>,
}

/// `question.preview`: what would follow if a question were answered so. Nothing outside is reached and nothing is stored.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PreviewAnswers {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks. Absent: the newest of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// Interrupt id.
    pub interrupt_id: String,
    /// The answers, at most 20; empty means the choices that the question offers.
    #[serde(default)]
    #[ts(type = "any[]")]
    pub answers: Vec<Json>,
}

/// Answer of `question.preview`: in the order of the answers.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswerPreviews {
    /// One for each answer.
    pub previews: Vec<AnswerPreview>,
}

/// Preview of what would follow an answer.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswerPreview {
    /// The answer.
    #[ts(type = "any")]
    pub answer: Json,
    /// On its button, where it is one of the choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub label: Option<String>,
    /// The super-steps that follow, as far as is known: the nodes of each. The one that asks is left out where it only
    /// takes the answer.
    pub steps: Vec<Vec<PreviewNode>>,
    /// How it ends, or why no more is known.
    pub end: PreviewEnd,
}

/// A node that would run.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PreviewNode {
    /// The node.
    pub node: String,
    /// Its kind.
    pub kind: String,
    /// Tasks of it in the step.
    pub tasks: u32,
    /// What running it does to the world outside: `once`, `idempotent` or `unknown`. Absent where it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effect: Option<String>,
    /// What it, or a node of the graph that it runs, did already on another branch after the question, and would do again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<EffectView>>", optional)]
    pub done: Vec<EffectView>,
    /// What earlier runs of it took, in any thread of the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub earlier: Option<EarlierRuns>,
}

/// Time and cost of earlier runs of a node.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct EarlierRuns {
    /// Runs that were looked at.
    pub runs: u32,
    /// The median time, in milliseconds.
    pub millis: u32,
    /// The median cost of those that asked models with a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost: Option<ExchangeCost>,
}

/// End of what follows an answer.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum PreviewEnd {
    /// The run is done.
    Done,
    /// A question is asked.
    Asks {
        /// The node.
        node: String,
        /// What it says; absent where that depends on what is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        text: Option<String>,
        /// The answer was refused, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        refused: Option<String>,
    },
    /// A node fails.
    Fails {
        /// The node.
        node: String,
        /// Why.
        error: String,
    },
    /// Where it goes depends on what a node would write.
    Depends {
        /// The node after which that is decided.
        node: String,
        /// State keys that decide; empty when the node itself decides.
        keys: Vec<String>,
        /// The nodes that may follow; `__end__` is one.
        targets: Vec<String>,
    },
    /// It goes on for longer than was looked at.
    GoesOn,
}

/// State of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum AnswerState {
    /// It can be taken back, or waits until its thread is free.
    Held,
    /// A run begins with it.
    Giving,
    /// The thread has it.
    Given,
    /// It could not be given; the question waits.
    Returned,
    /// The question did not wait any more.
    Lost,
    /// The question was withdrawn.
    Withdrawn,
    /// The question was handed to others: the answer is their names.
    Delegated,
    /// Others were asked as well: the answer is their names.
    Escalated,
}

/// An answer that could not be given.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ReturnedAnswer {
    /// The answer.
    #[ts(type = "any")]
    pub answer: Json,
    /// What the person wrote about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
    /// Why.
    pub problem: Problem,
}

/// An answer that no thread has yet.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HeldAnswer {
    /// Its number.
    pub id: i64,
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks.
    pub checkpoint_id: String,
    /// Interrupt id.
    pub interrupt_id: String,
    /// The question as text.
    pub text: String,
    /// The answer.
    #[ts(type = "any")]
    pub answer: Json,
    /// Milliseconds until it is given; 0 when it waits until its thread is free.
    pub left_ms: u32,
}

/// `answer.give`: keeps answers, and gives them as soon as their time to be taken back is over and their threads are free.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GiveAnswers {
    /// The runs that the answers begin; each resumes a thread at a checkpoint that it names.
    pub starts: Vec<StartRun>,
    /// What the person writes about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
    /// Milliseconds in which they can be taken back. Absent: as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hold_ms: Option<u32>,
}

/// Answer of `answer.give`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswersTaken {
    /// The answers that are held; one that needs not wait is in its thread by now.
    pub held: Vec<HeldAnswer>,
    /// The others.
    pub refused: Vec<RefusedAnswers>,
}

/// Answers of one run that were not taken.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RefusedAnswers {
    /// Its place among the starts.
    pub start: u32,
    /// Why.
    pub problem: Problem,
}

/// `answer.takeBack` and `answer.giveNow`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ChangeHeld {
    /// Numbers of held answers.
    pub ids: Vec<i64>,
}

/// Answer of `answer.takeBack` and `answer.giveNow`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct HeldChanged {
    /// The number of those that were still held.
    pub changed: u32,
}

impl HeldChanged {
    pub(crate) fn of(changed: usize) -> Self {
        Self {
            changed: u32::try_from(changed).unwrap_or(u32::MAX),
        }
    }
}

/// `answers.list`: what people answered.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListAnswers {
    /// Only those that have all of these words, in the question, the answer, the note, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub words: Option<String>,
    /// Only those of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
    /// Only those before this one: `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<i64>,
    /// Answers of a page; absent means 200, at most 5,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// Answer of `answers.list`: the newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswerList {
    /// The answers.
    pub answers: Vec<AnswerView>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next: Option<i64>,
}

/// An answer of the past.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerView {
    /// Its number.
    pub id: i64,
    /// The thread.
    pub thread_id: String,
    /// Its title.
    pub thread_title: String,
    /// Its graph.
    pub graph_name: String,
    /// The checkpoint that asked.
    pub checkpoint_id: String,
    /// The node that asked.
    pub node: String,
    /// The question as text.
    pub question: String,
    /// The answer; null for a question that was withdrawn.
    #[ts(type = "any")]
    pub answer: Json,
    /// Who gave it: the name of the settings, which nobody has proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub person: Option<String>,
    /// What they wrote about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
    /// When they gave it: ISO-8601, UTC.
    pub at: String,
    /// What became of it.
    pub state: AnswerState,
    /// Why it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<Problem>,
}

/// `answers.export`: writes answers of the past to a file, as a table in CSV.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExportAnswers {
    /// Where to.
    pub path: String,
    /// Which of them, of all pages.
    #[serde(default)]
    pub which: ListAnswers,
}

/// Answer of `answers.export`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswersExported {
    /// The file.
    pub path: String,
    /// How many.
    pub answers: u32,
}

/// `answers.verify`: checks that no answer of the past was changed, added or left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct VerifyAnswers {
    /// Hash of an entry that was noted elsewhere: `head` of an earlier check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub noted: Option<String>,
}

/// Answer of `answers.verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswersVerified {
    /// Entries of the chain.
    pub entries: u32,
    /// Hash of the last entry, SHA-256 in hexadecimal; empty without entries.
    pub head: String,
    /// The first faults.
    pub faults: Vec<ChainFault>,
    /// How many there are.
    pub fault_count: u32,
}

/// Damage to the history of answers. An answer is named by its number, an entry of the chain by its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum ChainFault {
    /// The answer differs from what its entry noted.
    AnswerChanged {
        /// Its entry.
        entry: i64,
        /// The answer.
        answer: i64,
        /// When the entry was made: ISO-8601, UTC.
        at: String,
    },
    /// The answer is not there, and its thread was not deleted.
    AnswerMissing {
        /// Its entry.
        entry: i64,
        /// The answer.
        answer: i64,
        /// When the entry was made: ISO-8601, UTC.
        at: String,
    },
    /// The answer has no entry.
    AnswerAdded {
        /// The answer.
        answer: i64,
    },
    /// The entry differs from its hash.
    EntryChanged {
        /// The entry.
        entry: i64,
    },
    /// The entry does not follow the one before it.
    EntriesMissing {
        /// The entry after the gap.
        before: i64,
    },
    /// No entry has the hash that was noted.
    HashNotThere {
        /// That hash.
        hash: String,
    },
}
