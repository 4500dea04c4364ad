//! Answers of an earlier run: a file in the graph's folder that a model node writes while it asks, and answers from
//! without network, key or cost, so that a graph can be run again with what the real model said.
//!
//! The file has one JSON object a line. An answer is found by its request: what is sent, without the ids that differ
//! from run to run. The same request may be asked several times (a loop that draws again); then the answer that was
//! given at the same node and step comes first.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use superstep::Value;

use super::answer::args_json;
use super::exchange::parts;
use super::{
    AnswerPiece, CallPiece, Facts, ModelAnswer, ModelError, ModelRequest, TokenUsage, ToolCall, messages,
};
use crate::base::files;
use crate::base::files::Stamp;

/// Choice whether a model answers from an earlier run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum Recording {
    /// It is asked.
    #[default]
    Off,
    /// It is asked, and its answer is written to the file.
    Record,
    /// The file answers; the model is not asked.
    Replay,
}

/// The file of recorded answers, in the graph's folder.
pub const RECORDINGS: &str = "recordings/models.jsonl";

/// Largest file of recorded answers.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// A recorded answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct RecordedEntry {
    key: String,
    /// The test of the graph that it was recorded for. Another test may have got another answer to the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test: Option<String>,
    node: String,
    step: i64,
    model: String,
    /// The end of what was asked, for people.
    asked: String,
    pieces: Vec<AnswerPiece>,
    answer: Json,
}

/// Recorded answers by request.
type Entries = HashMap<String, Vec<RecordedEntry>>;

/// Answers that the models of a test give.
#[derive(Debug)]
pub struct TestAnswers {
    test: String,
    /// The file of recorded answers beside the graph that is tested; graphs within it may be in other folders.
    file: PathBuf,
    /// Those of the thread that the test is made of; they are in no file yet.
    given: Vec<RecordedEntry>,
}

/// Files of recorded answers, each read again only when it has changed.
#[derive(Debug, Default)]
pub struct Recordings {
    read: Mutex<HashMap<PathBuf, (Stamp, Arc<Entries>)>>,
    /// Lines of parallel nodes are not to run into each other.
    writing: Mutex<()>,
}

/// Origin of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestOrigin<'a> {
    pub(crate) node: &'a str,
    pub(crate) step: i64,
}

/// Returns the file for a graph in `folder`.
pub(crate) fn file_in(folder: Option<&Path>) -> Result<PathBuf, ModelError> {
    let folder = folder.ok_or_else(|| failed("answers of models are recorded beside the graph's file, and the graph is not saved yet. Save it first."))?;
    let file = folder.join(RECORDINGS);
    // A link could lead the recording out of the project.
    let inside = |path: &Path| match path.symlink_metadata() {
        Ok(facts) => !facts.file_type().is_symlink(),
        Err(_) => true,
    };
    match inside(&file) && file.parent().is_none_or(inside) {
        true => Ok(file),
        false => Err(failed(format!(
            "{} is a link, and recordings stay in the project. Put a file in its place.",
            file.display()
        ))),
    }
}

fn failed(cause: impl Into<String>) -> ModelError {
    ModelError::Recording { cause: cause.into() }
}

fn unwritable(file: &Path, error: &std::io::Error) -> ModelError {
    failed(format!(
        "{} cannot be written: {error}. Make the folder writable, or set `recording` to `off`.",
        file.display()
    ))
}

/// Adds lines to a file, which is created if need be, in one piece.
fn append(file: &Path, entries: &[RecordedEntry]) -> std::io::Result<()> {
    let mut lines = String::new();
    for entry in entries {
        lines += &serde_json::to_string(entry)?;
        lines.push('\n');
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut open = OpenOptions::new().create(true).append(true).open(file)?;
    open.write_all(lines.as_bytes())
}

impl RecordedEntry {
    /// Creates the entry of a request, without its answer.
    pub(super) fn of(model: &str, request: &ModelRequest, asker: RequestOrigin<'_>) -> Self {
        Self {
            key: key(model, request),
            test: None,
            node: asker.node.to_owned(),
            step: asker.step,
            model: model.to_owned(),
            asked: preview(request),
            pieces: Vec::new(),
            answer: Json::Null,
        }
    }

    /// Sets the answer, and the pieces in which it came.
    pub(super) fn answered(mut self, answer: &ModelAnswer, pieces: Vec<AnswerPiece>) -> Self {
        let nobody = Facts {
            provider: String::new(),
            connection: None,
            model: self.model.clone(),
        };
        self.pieces = joined(pieces);
        self.answer = Json::from(&messages::message("", answer, &nobody));
        self
    }

    /// Returns what comes of the recorded answer.
    fn found(&self) -> (Vec<AnswerPiece>, ModelAnswer) {
        (self.pieces.clone(), answer_of(&Value::from(self.answer.clone())))
    }
}

/// Chooses among answers to the same request: one that was given at the same node and step, or else the last.
fn nearest<'a>(
    mut same: impl DoubleEndedIterator<Item = &'a RecordedEntry> + Clone,
    asker: RequestOrigin<'_>,
) -> Option<&'a RecordedEntry> {
    let here = |entry: &&RecordedEntry| entry.node == asker.node && entry.step == asker.step;
    same.clone().rfind(here).or_else(|| same.next_back())
}

/// Returns the pieces in which an answer could have come.
pub(super) fn pieces_of(answer: &ModelAnswer) -> Vec<AnswerPiece> {
    let words = |text: &str| -> Vec<String> {
        text.split_inclusive(char::is_whitespace)
            .map(str::to_owned)
            .collect()
    };
    let reasoning = words(&answer.reasoning).into_iter().map(AnswerPiece::Reasoning);
    let text = words(&answer.text).into_iter().map(AnswerPiece::Text);
    let calls = answer.tool_calls.iter().enumerate().map(|(index, call)| {
        AnswerPiece::Call(CallPiece {
            index,
            id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            args: match &call.args {
                Ok(args) => args_json(args).to_string(),
                Err(invalid) => invalid.text.clone(),
            },
        })
    });
    reasoning.chain(text).chain(calls).collect()
}

impl TestAnswers {
    /// Creates the answers of a test of the graph in `folder`, which are in its file of recorded answers.
    ///
    /// # Errors
    /// When that file is a link.
    pub fn of(test: &str, folder: &Path) -> Result<Self, ModelError> {
        Self::given(test, folder, [])
    }

    /// Creates the answers of a test that is being made, from what exchanges [keep](super::Exchange::recorded) for that,
    /// the oldest first. What is no recorded answer is left out.
    ///
    /// # Errors
    /// When the file of recorded answers is a link.
    pub fn given(
        test: &str,
        folder: &Path,
        recorded: impl IntoIterator<Item = Json>,
    ) -> Result<Self, ModelError> {
        let entry = |json: Json| serde_json::from_value::<RecordedEntry>(json).ok();
        let of_test = |entry: RecordedEntry| RecordedEntry {
            test: Some(test.to_owned()),
            ..entry
        };
        let mut given: Vec<RecordedEntry> = Vec::new();
        for entry in recorded.into_iter().filter_map(entry).map(of_test) {
            // Of those for the same request at the same place the last counts.
            given.retain(|other| {
                (&other.key, &other.node, other.step) != (&entry.key, &entry.node, entry.step)
            });
            given.push(entry);
        }
        Ok(Self {
            test: test.to_owned(),
            file: file_in(Some(folder))?,
            given,
        })
    }

    /// Returns how many answers of a thread there are.
    pub fn count(&self) -> usize {
        self.given.len()
    }

    /// Adds the answers of a thread to the file of recorded answers.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self) -> Result<(), ModelError> {
        if self.given.is_empty() {
            return Ok(());
        }
        append(&self.file, &self.given).map_err(|error| unwritable(&self.file, &error))
    }

    fn find(&self, key: &str, asker: RequestOrigin<'_>) -> Option<&RecordedEntry> {
        nearest(self.given.iter().filter(|entry| entry.key == key), asker)
    }
}

impl Recordings {
    /// Finds the recorded answer to a request, and its pieces as they came.
    pub(crate) fn find(
        &self,
        file: &Path,
        model: &str,
        request: &ModelRequest,
        asker: RequestOrigin<'_>,
        test: Option<&TestAnswers>,
    ) -> Result<(Vec<AnswerPiece>, ModelAnswer), ModelError> {
        let key = key(model, request);
        if let Some(entry) = test.and_then(|test| test.find(&key, asker)) {
            return Ok(entry.found());
        }
        if let Some(test) = test.filter(|test| test.file.exists()) {
            let entries = self.entries(&test.file)?;
            let same = entries.get(&key).map_or(&[][..], Vec::as_slice);
            let own = |entry: &&RecordedEntry| entry.test.as_ref() == Some(&test.test);
            if let Some(entry) = nearest(same.iter().filter(own), asker) {
                return Ok(entry.found());
            }
        }
        let entries = self.entries(file)?;
        let found = entries.get(&key).and_then(|same| {
            let of_no_test = same.iter().filter(|entry| entry.test.is_none());
            nearest(of_no_test, asker).or_else(|| nearest(same.iter(), asker))
        });
        let entry = found.ok_or_else(|| {
            let ends = entries.values().flatten().filter(|entry| entry.node == asker.node);
            let others = match ends.count() {
                0 => "it holds no answer of this node".to_owned(),
                1 => "it holds one answer of this node, to another request".to_owned(),
                count => format!("it holds {count} answers of this node, to other requests"),
            };
            failed(format!(
                "{} has no recorded answer of {model} to this request ({others}): the prompt, the messages or a setting has changed since. Run once with `recording` set to `record`, or `off`.",
                file.display()
            ))
        })?;
        Ok(entry.found())
    }

    /// Adds an answer to the file.
    #[expect(clippy::too_many_arguments, reason = "what asked, and what came")]
    pub(crate) fn add(
        &self,
        file: &Path,
        model: &str,
        request: &ModelRequest,
        asker: RequestOrigin<'_>,
        test: Option<&TestAnswers>,
        pieces: Vec<AnswerPiece>,
        answer: &ModelAnswer,
    ) -> Result<(), ModelError> {
        let entry = RecordedEntry {
            test: test.map(|test| test.test.clone()),
            ..RecordedEntry::of(model, request, asker).answered(answer, pieces)
        };
        let _one = self.writing.lock();
        append(file, &[entry]).map_err(|error| unwritable(file, &error))
    }

    fn entries(&self, file: &Path) -> Result<Arc<Entries>, ModelError> {
        let Some(stamp) = Stamp::of(file) else {
            return Err(failed(format!(
                "there are no recorded answers in {}. Run once with `recording` set to `record`.",
                file.display()
            )));
        };
        let lock = || self.read.lock();
        if let Some((_, entries)) = lock().get(file).filter(|(known, _)| *known == stamp) {
            return Ok(entries.clone());
        }
        let unreadable = |cause: String| {
            failed(format!(
                "the recorded answers in {} cannot be read: {cause}. Correct the file, or record again.",
                file.display()
            ))
        };
        let text = files::read_text(file, MAX_FILE).map_err(|e| unreadable(e.to_string()))?;
        let mut entries = Entries::new();
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let entry: RecordedEntry =
                serde_json::from_str(line).map_err(|e| unreadable(format!("line {}: {e}", number + 1)))?;
            entries.entry(entry.key.clone()).or_default().push(entry);
        }
        let entries = Arc::new(entries);
        lock().insert(file.to_owned(), (stamp, entries.clone()));
        Ok(entries)
    }
}

/// Returns everything that an answer depends on, as one word.
fn key(model: &str, request: &ModelRequest) -> String {
    let mut json = parts(request);
    let mut calls = HashMap::new();
    if let Some(messages) = json["messages"].as_array_mut() {
        for message in messages {
            *message = sent(message, &mut calls);
        }
    }
    json["model"] = model.into();
    let digest = Sha256::digest(sorted(&json).to_string().as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the part of a message that is sent. Ids of calls are numbered in their order, because a run may invent them.
fn sent(message: &Json, calls: &mut HashMap<String, usize>) -> Json {
    let mut number = |id: &Json| {
        let next = calls.len();
        json!(
            *calls
                .entry(id.as_str().unwrap_or_default().to_owned())
                .or_insert(next)
        )
    };
    let Json::Object(fields) = message else {
        return message.clone();
    };
    let mut kept = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "type" | "role" | "content" | "name" => value.clone(),
            "tool_call_id" => number(value),
            "tool_calls" | "invalid_tool_calls" => value
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| json!([number(&call["id"]), call["name"], call["args"]]))
                .collect(),
            _ => continue,
        };
        if !value.is_null() && value != json!([]) {
            kept.insert(name.clone(), value);
        }
    }
    Json::Object(kept)
}

fn sorted(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            let sorted = names
                .into_iter()
                .map(|name| (name.clone(), sorted(&fields[name])));
            Json::Object(sorted.collect())
        }
        other => other.clone(),
    }
}

/// Returns the end of the request's last message.
fn preview(request: &ModelRequest) -> String {
    const LENGTH: usize = 160;
    let last = request.messages.last().map(Json::from).unwrap_or_default();
    let text = match &last["content"] {
        Json::String(text) => text.clone(),
        Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => last.as_str().unwrap_or_default().to_owned(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = text.chars().count().saturating_sub(LENGTH);
    let end: String = text.chars().skip(skipped).collect();
    match skipped {
        0 => end,
        _ => format!("…{end}"),
    }
}

/// Joins neighbouring pieces, up to a size at which a reader still sees them arrive.
fn joined(pieces: Vec<AnswerPiece>) -> Vec<AnswerPiece> {
    const LENGTH: usize = 80;
    let mut list: Vec<AnswerPiece> = Vec::new();
    for piece in pieces {
        match (list.last_mut(), piece) {
            (Some(AnswerPiece::Text(last)), AnswerPiece::Text(more)) if last.len() < LENGTH => {
                last.push_str(&more)
            }
            (Some(AnswerPiece::Reasoning(last)), AnswerPiece::Reasoning(more)) if last.len() < LENGTH => {
                last.push_str(&more);
            }
            (Some(AnswerPiece::Call(last)), AnswerPiece::Call(more))
                if last.index == more.index && last.args.len() < LENGTH =>
            {
                last.args.push_str(&more.args);
            }
            (_, piece) => list.push(piece),
        }
    }
    list
}

/// Restores the answer from which a message was made.
fn answer_of(message: &Value) -> ModelAnswer {
    let json = Json::from(message);
    let text = |json: &Json| json.as_str().map(str::to_owned);
    let extra = &json["additional_kwargs"];
    let facts = &json["response_metadata"];
    let count = |json: &Json| json.as_u64().unwrap_or(0);
    let usage = &json["usage_metadata"];
    ModelAnswer {
        text: text(&json["content"]).unwrap_or_default(),
        reasoning: text(&extra["reasoning_content"]).unwrap_or_default(),
        thinking: extra["thinking_blocks"].as_array().cloned().unwrap_or_default(),
        signatures: extra["thought_signatures"]
            .as_object()
            .cloned()
            .unwrap_or_default(),
        tool_calls: ToolCall::all_of(message),
        usage: usage.is_object().then(|| TokenUsage {
            input: count(&usage["input_tokens"]),
            output: count(&usage["output_tokens"]),
            total: count(&usage["total_tokens"]),
            cached: count(&usage["input_token_details"]["cache_read"]),
            cache_written: count(&usage["input_token_details"]["cache_creation"]),
            reasoning: count(&usage["output_token_details"]["reasoning"]),
        }),
        cost: facts.get("cost").cloned(),
        stop: text(&facts["stop_reason"]),
        model: text(&facts["model_name"]),
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a test tells one story")]
mod tests {
    use super::*;
    use crate::models::InvalidArgs;

    fn request(messages: Json) -> ModelRequest {
        ModelRequest {
            messages: messages
                .as_array()
                .unwrap()
                .iter()
                .map(|m| Value::from(m.clone()))
                .collect(),
            ..ModelRequest::default()
        }
    }

    #[test]
    fn ids_do_not_make_another_request_and_words_do() {
        let talk = |call: &str, say: &str| {
            request(json!([
                {"type": "human", "content": say, "id": format!("h-{call}")},
                {"type": "ai", "content": "", "id": format!("ai-{call}"), "usage_metadata": {"input_tokens": call.len()},
                    "tool_calls": [{"name": "f", "args": {"a": 1, "b": 2}, "id": call, "type": "tool_call"}]},
                {"type": "tool", "content": "x", "tool_call_id": call, "id": "t"}]))
        };
        assert_eq!(key("m", &talk("one", "hi")), key("m", &talk("another", "hi")));
        assert_ne!(key("m", &talk("one", "hi")), key("m", &talk("one", "ho")));
        assert_ne!(key("m", &talk("one", "hi")), key("n", &talk("one", "hi")));
        let warm = ModelRequest {
            temperature: Some(0.5),
            ..talk("one", "hi")
        };
        assert_ne!(key("m", &talk("one", "hi")), key("m", &warm));
        // The same results, of the other calls.
        let results = |first: &str, second: &str| {
            let call =
                |id: &str| json!({"name": "f", "args": {"of": id.len()}, "id": id, "type": "tool_call"});
            let result =
                |content: &str, call: &str| json!({"type": "tool", "content": content, "tool_call_id": call});
            request(
                json!([{"type": "ai", "content": "", "tool_calls": [call("a"), call("bb")]},
                result("x", first), result("y", second)]),
            )
        };
        assert_ne!(key("m", &results("a", "bb")), key("m", &results("bb", "a")));
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(Some(folder.path())).unwrap();
        let recordings = Recordings::default();
        let asker = RequestOrigin { node: "n", step: 1 };
        let asked = request(json!([{"type": "human", "content": "hi"}]));
        let missing = recordings
            .find(&file, "m", &asked, asker, None)
            .unwrap_err()
            .to_string();
        assert!(missing.contains("`record`"), "{missing}");
        let answer = ModelAnswer {
            text: "héllo".into(),
            reasoning: "hm".into(),
            thinking: vec![json!({"type": "thinking", "thinking": "hm", "signature": "s"})],
            signatures: Map::from_iter([("c".to_owned(), json!(["sig"]))]),
            tool_calls: vec![
                ToolCall {
                    id: "c".into(),
                    name: "f".into(),
                    args: Ok([("a", Value::from(1))].into_iter().collect()),
                },
                ToolCall {
                    id: "d".into(),
                    name: "g".into(),
                    args: Err(InvalidArgs {
                        text: "{oops".into(),
                        cause: "the arguments are no JSON: x".into(),
                    }),
                },
            ],
            usage: Some(TokenUsage {
                input: 10,
                output: 5,
                total: 15,
                cached: 4,
                cache_written: 1,
                reasoning: 2,
            }),
            cost: Some(json!({"amount": 0.5})),
            stop: Some("stop".into()),
            model: Some("m-1".into()),
        };
        let pieces = vec![
            AnswerPiece::Text("hé".into()),
            AnswerPiece::Text("llo".into()),
            AnswerPiece::Call(CallPiece {
                index: 0,
                id: Some("c".into()),
                name: Some("f".into()),
                args: "{".into(),
            }),
            AnswerPiece::Call(CallPiece {
                index: 0,
                args: "}".into(),
                ..CallPiece::default()
            }),
        ];
        recordings
            .add(&file, "m", &asked, asker, None, pieces, &answer)
            .unwrap();
        let (pieces, found) = recordings.find(&file, "m", &asked, asker, None).unwrap();
        // What is wrong with arguments is found again when they are read.
        let mut same = found.clone();
        same.tool_calls[1].args = answer.tool_calls[1].args.clone();
        assert_eq!(same, answer);
        assert!(found.tool_calls[1].args.is_err());
        assert_eq!(pieces.len(), 2, "{pieces:?}");
        let other = recordings
            .find(
                &file,
                "m",
                &request(json!([{"type": "human", "content": "ho"}])),
                asker,
                None,
            )
            .unwrap_err()
            .to_string();
        assert!(
            other.contains("one answer of this node, to another request"),
            "{other}"
        );
        // The same request at another step has an answer of its own; an unknown step has the last one.
        let second = ModelAnswer {
            text: "again".into(),
            ..ModelAnswer::default()
        };
        let later = RequestOrigin { node: "n", step: 5 };
        recordings
            .add(&file, "m", &asked, later, None, vec![], &second)
            .unwrap();
        let text = |step| {
            recordings
                .find(&file, "m", &asked, RequestOrigin { node: "n", step }, None)
                .unwrap()
                .1
                .text
        };
        assert_eq!(
            (text(1), text(5), text(9)),
            ("héllo".into(), "again".into(), "again".into())
        );
    }

    #[test]
    fn a_test_is_given_its_own_answers_and_others_go_on_with_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(Some(folder.path())).unwrap();
        let recordings = Recordings::default();
        let asked = request(json!([{"type": "human", "content": "yes or no?"}]));
        let asker = RequestOrigin { node: "n", step: 1 };
        let says = |text: &str| ModelAnswer {
            text: text.into(),
            ..ModelAnswer::default()
        };
        let entry = |text: &str| {
            let answer = says(text);
            let entry = RecordedEntry::of("m", &asked, asker).answered(&answer, pieces_of(&answer));
            serde_json::to_value(entry).unwrap()
        };
        let find = |test: Option<&TestAnswers>| {
            let (pieces, answer) = recordings.find(&file, "m", &asked, asker, test).unwrap();
            assert_eq!(pieces, [AnswerPiece::Text(answer.text.clone())]);
            answer.text
        };
        // Before anything is written, the test in the making has what its thread got, the last of two.
        let made = [entry("maybe"), entry("it is no"), json!({"key": 3})];
        let made = TestAnswers::given("refusal", folder.path(), made).unwrap();
        assert_eq!((made.count(), find(Some(&made))), (1, "it is no".to_owned()));
        assert!(!file.exists());
        recordings
            .add(
                &file,
                "m",
                &asked,
                asker,
                None,
                pieces_of(&says("yes")),
                &says("yes"),
            )
            .unwrap();
        made.keep().unwrap();
        let of = |test: &str| TestAnswers::of(test, folder.path()).unwrap();
        assert_eq!(find(Some(&of("refusal"))), "it is no");
        assert_eq!(find(Some(&of("another"))), "yes");
        assert_eq!(find(None), "yes", "what a test brought changes no other run");
    }

    #[test]
    fn a_broken_file_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(Some(folder.path())).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "\n{\"key\": 1}\n").unwrap();
        let text = Recordings::default()
            .find(
                &file,
                "m",
                &ModelRequest::default(),
                RequestOrigin { node: "n", step: 0 },
                None,
            )
            .unwrap_err()
            .to_string();
        assert!(text.contains("line 2") && text.contains("models.jsonl"), "{text}");
        #[cfg(unix)]
        {
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
            assert!(
                file_in(Some(folder.path()))
                    .unwrap_err()
                    .to_string()
                    .contains("link")
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_recorded_answers_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_in(Some(folder.path())).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        let (tell, found) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let asker = RequestOrigin { node: "n", step: 0 };
            let found = Recordings::default().find(&file, "m", &ModelRequest::default(), asker, None);
            tell.send(found.unwrap_err().to_string())
        });
        let text = found
            .recv_timeout(std::time::Duration::from_secs(30))
            .expect("nobody writes into the pipe");
        assert!(text.contains("it is no regular file"), "{text}");
    }
}
