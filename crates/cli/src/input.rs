//! What a command line gives a graph: the input of a run and the values of an edit, held against the graph before anything
//! runs, and answers.

use superstep::value::Object;
use superstep::{ThreadId, Value};
use superstep_nodes::schema::{StateSchema, UpdateError};

use crate::args::{ResumeArgs, RunContext};
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::out::{self, quoted};

/// Returns the input that was given, directly or by the name of an example.
pub(crate) fn given(
    file: &GraphFile,
    input: Option<Value>,
    named: Option<&str>,
) -> Result<Option<Value>, Fault> {
    let input = match (input, named) {
        (Some(input), _) => input,
        (None, Some(name)) => example(file, name)?,
        (None, None) => return Ok(None),
    };
    check_input(file, &input)?;
    Ok(Some(input))
}

fn example(file: &GraphFile, name: &str) -> Result<Value, Fault> {
    let examples = file.document.examples();
    let numbered = name
        .parse::<usize>()
        .ok()
        .and_then(|number| examples.get(number.checked_sub(1)?));
    let found = examples.iter().find(|example| example.name == name).or(numbered);
    found
        .map(|example| Value::from(example.input.clone()))
        .ok_or_else(|| {
            Fault::usage(match listed(&examples) {
                None => "The graph has no examples. Give it an input with --input.".to_owned(),
                Some(listed) => format!("The graph has no example {name:?}. It has:\n{listed}"),
            })
        })
}

/// Returns the run context that was given, directly or by the name of a set.
pub(crate) fn context(file: &GraphFile, given: &RunContext) -> Result<Option<Value>, Fault> {
    let Some(name) = &given.set else {
        return Ok(given.values.clone());
    };
    let sets = file.document.context_sets();
    if let Some(found) = sets.iter().find(|set| set.name == *name) {
        return Ok(Some(Value::from(found.values.clone())));
    }
    let names: Vec<String> = sets.iter().map(|set| quoted(&set.name)).collect();
    Err(Fault::usage(match names.is_empty() {
        true => "The graph keeps no context values under names. Give them with --context.".to_owned(),
        false => format!(
            "The graph keeps no context values under the name {}. It has: {}.",
            quoted(name),
            names.join(", ")
        ),
    }))
}

fn listed(examples: &[superstep_document::Example]) -> Option<String> {
    let lines = examples.iter().enumerate().map(|(index, example)| {
        format!(
            "  {}  {}  {}",
            index + 1,
            quoted(&example.name),
            out::short(&example.input, 80)
        )
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|lines| !lines.is_empty())
}

/// Creates the fault of a run that has no input.
pub(crate) fn no_input(file: &GraphFile, thread: Option<&ThreadId>) -> Fault {
    let start = match thread {
        Some(thread) => format!("There is no thread {thread} yet, so a run needs an input."),
        None => "A new thread needs an input.".to_owned(),
    };
    let keys: Vec<&str> = match file.document.input_keys() {
        Some(keys) => keys,
        None => file.document.state_keys().map(|(name, _)| name).collect(),
    };
    let examples = match listed(&file.document.examples()) {
        Some(listed) => format!("\nOr take one of the graph's examples with --example:\n{listed}"),
        None => String::new(),
    };
    let keys = if keys.is_empty() {
        "none".to_owned()
    } else {
        keys.join(", ")
    };
    Fault::usage(format!(
        "{start} Give it with --input JSON; its keys: {keys}.{examples}"
    ))
}

/// Holds the input against the state, so that a typing mistake is found before anything runs.
fn check_input(file: &GraphFile, input: &Value) -> Result<(), Fault> {
    let Some(object) = input.as_object() else {
        return Err(Fault::usage(format!(
            "The input is {}, and a graph takes an object of state keys, e.g. '{{\"key\": \"value\"}}'.",
            input.type_name()
        )));
    };
    if let Some(allowed) = file.document.input_keys()
        && let Some(key) = object.keys().find(|key| !allowed.contains(&&***key))
    {
        return Err(Fault::usage(format!(
            "The input sets `{key}`, which the graph does not take. It takes: {}.",
            allowed.join(", ")
        )));
    }
    check_values(file, input, "The input")
}

/// Holds values against the state.
pub(crate) fn check_values(file: &GraphFile, values: &Value, what: &str) -> Result<(), Fault> {
    let (schema, _) = StateSchema::of(&file.document);
    schema.check_update("", values).map_err(|error| {
        Fault::usage(match error {
            UpdateError::NotAnObject { found, .. } => {
                format!("{what} is {found}, and must be an object of state keys.")
            }
            UpdateError::UnknownKey { key, hint, known, .. } => {
                format!("{what} sets `{key}`, which is no state key.{hint} Keys: {known}.")
            }
            UpdateError::Mismatch {
                key,
                path,
                expected,
                found,
                ..
            } => {
                let inside = if path.is_empty() {
                    String::new()
                } else {
                    format!(" at {path}")
                };
                format!(
                    "{what} does not fit the state key `{key}`: expected {expected}, found {found}{inside}."
                )
            }
        })
    })
}

/// The answers of a command line.
pub(crate) enum Answered {
    /// By the ids of their questions.
    Each(Object),
    /// One, with the id of its question where it is named.
    One(Value, Option<String>),
}

impl Answered {
    pub(crate) fn of(args: &ResumeArgs) -> Result<Option<Self>, Fault> {
        let answer = args.answer.clone();
        let answer = answer.or_else(|| args.text.as_deref().map(Value::from));
        match (&args.answers, answer) {
            (Some(Value::Object(answers)), _) => Ok(Some(Self::Each(answers.clone()))),
            (Some(_), _) => Err(Fault::usage(
                "--answers takes an object of question id to answer, e.g. '{\"ID\": true}'.",
            )),
            (None, Some(answer)) => Ok(Some(Self::One(answer, args.id.clone()))),
            (None, None) => Ok(None),
        }
    }

    /// Converts the answers to the value that a run takes.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Each(answers) => answers.into(),
            Self::One(answer, Some(id)) => Value::Object([(id.as_str(), answer)].into_iter().collect()),
            Self::One(answer, None) => answer,
        }
    }
}
