//! What people see while a graph runs: a line per task, tokens as they come, questions with how to answer them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use superstep::{Interrupt, StreamMode, Value};
use superstep_nodes::kinds::ask;
use superstep_workbench::ipc::Streamed;
use superstep_workbench::session::as_question;

use crate::out::{self, quoted, short};

/// Columns that a summary of a value may take.
const MAX_SUMMARY: usize = 100;

/// The modes that the report needs.
pub(crate) const MODES: [StreamMode; 4] = [
    StreamMode::Tasks,
    StreamMode::Custom,
    StreamMode::Messages,
    StreamMode::Attempts,
];

/// Reporter of a run's events on stderr.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    started: HashMap<String, Instant>,
    /// How the work of a task that failed before is called: its attempt, or the fallback.
    tried: HashMap<String, String>,
    /// The node whose tokens are being written, and the id of their message.
    speaking: Option<(String, String)>,
    /// Ids of messages of which something was written.
    said: HashSet<String>,
}

impl Progress {
    pub(crate) fn show(&mut self, event: &Streamed) {
        let data = &event.data;
        match event.event.parse() {
            Ok(StreamMode::Tasks) if data.get("triggers").is_some() => {
                self.started.insert(text(data, "id"), Instant::now());
            }
            Ok(StreamMode::Tasks) => self.task_ended(data, event.step.unwrap_or_default()),
            Ok(StreamMode::Attempts) => self.attempt_failed(data),
            Ok(StreamMode::Custom) => {
                self.end_speech();
                let log = data.get("log").and_then(Value::as_str);
                let node = data.get("node").and_then(Value::as_str);
                match (node, log) {
                    (Some(node), Some(log)) => out::note(&format!("      {node}: {}", broken(log))),
                    // What breakpoints and invariants say of a run.
                    (None, Some(log)) if data.get("invariant").or(data.get("breakpoint")).is_some() => {
                        out::note(&format!("      {log}"))
                    }
                    _ => out::note(&format!("      {}", short(&json(data), MAX_SUMMARY))),
                }
            }
            Ok(StreamMode::Messages) => {
                if let Some(parts) = data.as_array()
                    && let (Some(chunk), Some(metadata)) = (parts.get(0), parts.get(1))
                {
                    self.speak(chunk, metadata);
                }
            }
            _ => {}
        }
    }

    fn task_ended(&mut self, task: &Value, step: i64) {
        let (id, name) = (text(task, "id"), text(task, "name"));
        let result = task.get("result").cloned().unwrap_or_default();
        let began = self.started.remove(&id);
        // What a node only writes down for itself is no news.
        if superstep_nodes::is_own_record(&name, &result) {
            return;
        }
        self.end_speech();
        let millis = began.map(|at| at.elapsed().as_millis()).unwrap_or(0);
        let asks = task.get("interrupts").and_then(Value::as_array);
        let what = match task.get("error").and_then(Value::as_str) {
            Some(error) => format!("failed: {error}"),
            None if asks.is_some_and(|asks| !asks.is_empty()) => "asks".to_owned(),
            None => summary(&result),
        };
        let by = match self.tried.remove(&id) {
            Some(by) => format!("({by})  "),
            None => String::new(),
        };
        let name = task_name(&name);
        out::note(format!("{step:>4}  {name}  {millis} ms  {by}{what}").trim_end());
    }

    fn attempt_failed(&mut self, failed: &Value) {
        self.end_speech();
        let number = failed.get("attempt").and_then(Value::as_i64).unwrap_or_default();
        let wait = failed.get("wait_ms").and_then(Value::as_i64);
        let wait = wait.map(|wait| Duration::from_millis(u64::try_from(wait).unwrap_or_default()));
        let (by, next) = match wait {
            Some(wait) => (
                format!("attempt {}", number + 1),
                format!("again in {:.1} s", wait.as_secs_f64()),
            ),
            None => ("fallback".to_owned(), "the fallback takes over".to_owned()),
        };
        let (node, error) = (text(failed, "name"), text(failed, "error"));
        out::note(&format!("      {node}: attempt {number} failed: {error}; {next}"));
        self.tried.insert(text(failed, "id"), by);
    }

    /// Prints tokens one after another on a line; another message begins a new line.
    fn speak(&mut self, chunk: &Value, metadata: &Value) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        if text(chunk.get("type")) == "remove" && self.said.remove(&text(chunk.get("id"))) {
            self.end_speech();
            let node = text(metadata.get("langgraph_node"));
            out::note(&format!(
                "      {node}: a new attempt begins; what was said above is taken back"
            ));
            return;
        }
        // A whole message follows its chunks, and says the same again.
        if !text(chunk.get("type")).ends_with("Chunk") {
            return;
        }
        let content = text(chunk.get("content"));
        if content.is_empty() {
            return;
        }
        let speaker = (text(metadata.get("langgraph_node")), text(chunk.get("id")));
        if self.speaking.as_ref() != Some(&speaker) {
            self.end_speech();
            out::note_part(&format!("      {}: ", speaker.0));
            self.said.insert(speaker.1.clone());
            self.speaking = Some(speaker);
        }
        out::note_part(&broken(&content));
    }

    pub(crate) fn end_speech(&mut self) {
        if self.speaking.take().is_some() {
            out::note_part("\n");
        }
    }
}

/// Returns the name of a task for people: what takes over from a node has a name that stands in no graph.
pub(crate) fn task_name(node: &str) -> Cow<'_, str> {
    if let Some(failed) = node.strip_prefix("__error_handler__") {
        return format!("{failed} (fallback)").into();
    }
    match node.strip_prefix("__limit_handler__") {
        Some(limited) => format!("{limited} (limit)").into(),
        None => node.into(),
    }
}

fn text(object: &Value, name: &str) -> String {
    let text = object.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Formats the keys that a task wrote.
fn summary(result: &Value) -> String {
    match result.as_object() {
        Some(keys) if !keys.is_empty() => {
            let each = MAX_SUMMARY / keys.len();
            let parts = keys
                .iter()
                .map(|(key, value)| (&**key, short(&json(value), each.max(20))))
                .map(|(key, value)| match key {
                    // Of a durable task.
                    "__return__" => format!("gives {value}"),
                    key => format!("{key} = {value}"),
                });
            parts.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

/// Command that goes on with a thread.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    /// The command with the thread.
    pub(crate) command: String,
    /// Options that follow those of an answer.
    pub(crate) option: String,
    /// It takes the name of who answers.
    pub(crate) takes_names: bool,
}

impl Again {
    /// Returns the command that goes on with a thread of a graph.
    pub(crate) fn thread(thread: &str, option: &str) -> Self {
        Self {
            command: format!("superstep resume {}", quoted(thread)),
            option: option.to_owned(),
            takes_names: true,
        }
    }

    /// Returns the whole command, without an answer.
    pub(crate) fn whole(&self) -> String {
        format!("{}{}", self.command, self.option)
    }
}

/// Prints a question of a graph's thread and how to answer it.
pub(crate) fn question(interrupt: &Interrupt, alone: bool, thread: &str, db: &str) {
    question_for(interrupt, alone, &Again::thread(thread, db));
}

/// Prints a question and what is known about it.
pub(crate) fn asked(interrupt: &Interrupt) {
    let value = as_question(&interrupt.value);
    let text = value.get("question").and_then(Json::as_str);
    out::note("");
    match text {
        Some(text) => out::note(&indented(text)),
        None => out::note(&indented(
            &serde_json::to_string_pretty(&value).unwrap_or_default(),
        )),
    }
    if let Some(reason) = value.get("refused").and_then(Json::as_str) {
        out::note(&format!("  The last answer was not accepted: {reason}"));
    }
    for (key, value) in value
        .get("context")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
    {
        out::note(&format!("    {key}: {}", short(value, MAX_SUMMARY)));
    }
    if let Some(edited) = value.get("value").filter(|_| text.is_some()) {
        out::note("  It is now:");
        let shown = match edited.as_str() {
            Some(text) => text.to_owned(),
            None => serde_json::to_string_pretty(edited).unwrap_or_default(),
        };
        out::note(&indented(&indented(&shown)));
    }
    let names = value.get("who").and_then(Json::as_array);
    let names: Vec<&str> = names.into_iter().flatten().filter_map(Json::as_str).collect();
    if !names.is_empty() {
        out::note(&format!("  For {}.", names.join(", ")));
    }
    if let Some(until) = ask::deadline(&interrupt.value) {
        out::note(&format!("  Waits until {}.", superstep::run::iso8601(until)));
    }
}

/// Prints a question and the commands that answer it.
pub(crate) fn question_for(interrupt: &Interrupt, alone: bool, again: &Again) {
    asked(interrupt);
    let value = as_question(&interrupt.value);
    let text = value.get("question").and_then(Json::as_str);
    let id = if alone {
        String::new()
    } else {
        format!(" --id {}", interrupt.id)
    };
    let names = value.get("who").and_then(Json::as_array);
    let first = names.into_iter().flatten().find_map(Json::as_str);
    let name = match first.filter(|_| again.takes_names) {
        Some(first) => format!(" --as {}", quoted(first)),
        None => String::new(),
    };
    let resume = format!("{}{id}{name}{}", again.command, again.option);
    let choices = value
        .get("choices")
        .and_then(Json::as_array)
        .filter(|choices| !choices.is_empty());
    match choices {
        Some(choices) => {
            for choice in choices {
                let label = choice.get("label").and_then(Json::as_str).unwrap_or_default();
                let answer = choice.get("value").cloned().unwrap_or_default().to_string();
                out::note(&format!("  {label}:  {resume} --answer {}", quoted(&answer)));
            }
            for (title, answer) in other_answers(&value, choices) {
                out::note(&format!(
                    "  {title}:  {resume} --answer {}",
                    quoted(&answer.to_string())
                ));
            }
        }
        None => {
            let schema = value.get("schema").filter(|_| text.is_some());
            if schema.is_some_and(|schema| *schema == serde_json::json!({"type": "string"})) {
                return out::note(&format!("  {resume} --text TEXT"));
            }
            if let Some(schema) = schema {
                out::note(&format!("  The answer is: {}", short(schema, 2 * MAX_SUMMARY)));
            }
            out::note(&format!("  {resume} --answer JSON"));
        }
    }
}

/// Answers that the schema allows beside the choices, one example of each form: `…` stands for what is to be written.
fn other_answers(question: &Json, choices: &[Json]) -> Vec<(String, Json)> {
    let forms = question.pointer("/schema/oneOf").and_then(Json::as_array);
    let chosen = |kind: &Json| {
        choices
            .iter()
            .any(|choice| choice.pointer("/value/type") == Some(kind))
    };
    let form = |form: &Json| {
        let title = form.get("title")?.as_str()?.to_owned();
        let properties = form.get("properties")?.as_object()?;
        if chosen(properties.get("type")?.get("const")?) {
            return None;
        }
        let needed = form.get("required")?.as_array()?.iter().filter_map(Json::as_str);
        let example = needed.map(|name| {
            let schema = properties.get(name);
            let of = |field: &str| schema.and_then(|schema| schema.get(field)).cloned();
            let value = of("const")
                .or_else(|| of("default"))
                .unwrap_or_else(|| "…".into());
            (name.to_owned(), value)
        });
        Some((title, Json::Object(example.collect())))
    };
    forms.into_iter().flatten().filter_map(form).collect()
}

/// Indents the lines after the first as far as what a node says.
fn broken(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\n      ")
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("  {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Converts the engine's value to plain JSON.
pub(crate) fn json(value: &Value) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}
