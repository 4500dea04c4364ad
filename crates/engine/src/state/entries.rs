//! How an update becomes writes to state keys, no matter who makes it: a node, the input, a command, an edit.

use crate::channel::{DeltaReducer, Kind, shorten};
use crate::graph::plan::{ChannelIx, Plan};
use crate::graph::writes::{Channel, Writes};
use crate::state::delta::with_ids;
use crate::value::{List, Object, Value};

/// The author of an update: what it may write, and its name in messages.
#[derive(Clone, Copy)]
pub(crate) enum UpdateAuthor<'a> {
    /// The input of a run or of an edit: input keys only.
    Input,
    /// A command given as input.
    Command,
    /// A node.
    Node(&'a str),
}

impl UpdateAuthor<'_> {
    fn name(self) -> String {
        match self {
            UpdateAuthor::Input => "The input".into(),
            UpdateAuthor::Command => "The command".into(),
            UpdateAuthor::Node(name) => format!("Node `{name}`"),
        }
    }

    fn may_write(self, plan: &Plan, index: ChannelIx) -> bool {
        !matches!(self, UpdateAuthor::Input) || plan.channel(index).is_input
    }
}

/// Adds what `update` writes. Keys that are no state keys are left out. An error is for the reader: its first line is
/// LangGraph's where LangGraph has one.
pub(crate) fn add_writes(
    plan: &Plan,
    writer: UpdateAuthor<'_>,
    update: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    if plan.is_root {
        return match update {
            Value::Null => Ok(()),
            value => add(plan, writer, 0, value, writes),
        };
    }
    let entries = match update {
        Value::Null => return Ok(()),
        Value::Object(entries) => entries,
        other => {
            return Err(format!(
                "Expected dict, got {}\n{} gave {} of type {}. Give an object of state keys and values, or nothing.",
                python_str(other),
                writer.name(),
                shorten(other),
                other.type_name()
            ));
        }
    };
    for (key, value) in entries.iter() {
        add_entry(plan, writer, key, value, writes)?;
    }
    Ok(())
}

/// Adds the writes of a command's `update`: those of any update, or of a list of `[key, value]` pairs in which a key
/// may come twice.
pub(crate) fn add_command_writes(
    plan: &Plan,
    writer: UpdateAuthor<'_>,
    update: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    if plan.previous_channel.is_some() {
        return add_to_workflow(plan, writer, update, writes);
    }
    let only = plan.is_root.then_some(ROOT);
    if let Some(pairs) = update.as_array().and_then(|list| pairs_of(list, only)) {
        return match plan.is_root {
            true => pairs
                .into_iter()
                .try_for_each(|(_, value)| add(plan, writer, 0, value, writes)),
            false => pairs
                .into_iter()
                .try_for_each(|(key, value)| add_entry(plan, writer, key, value, writes)),
        };
    }
    let named = update
        .as_object()
        .filter(|named| plan.is_root && named.len() == 1);
    add_writes(
        plan,
        writer,
        named.and_then(|named| named.get(ROOT)).unwrap_or(update),
        writes,
    )
}

/// The name by which a command may call a state that is one value.
const ROOT: &str = "__root__";

/// Adds a command's update of what a workflow returned, by its name. Other keys are not part of its state: they stay
/// among the writes of the command, where they say why nothing followed.
fn add_to_workflow(
    plan: &Plan,
    writer: UpdateAuthor<'_>,
    update: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    let whole;
    let entries = match update {
        Value::Object(entries) => entries,
        Value::Null => return Ok(()),
        value => {
            whole = Object::from_iter([(ROOT, value.clone())]);
            &whole
        }
    };
    for (key, value) in entries.iter() {
        match plan.channel_named(key) {
            Some(0) => add(plan, writer, 0, value, writes)?,
            _ if key.starts_with("__") && **key != *ROOT => {}
            _ => writes.push((Channel::Named(key.clone()), value.clone())),
        }
    }
    Ok(())
}

/// Reads the list as pairs, if it is one; of this key only, if one is named.
fn pairs_of<'a>(list: &'a List, only: Option<&str>) -> Option<Vec<(&'a str, &'a Value)>> {
    let pair = |item: &'a Value| {
        let (key, value) = (item.at(0)?.as_str()?, item.at(1)?);
        let fits = item.as_array()?.len() == 2 && only.is_none_or(|only| only == key);
        fits.then_some((key, value))
    };
    list.iter().map(pair).collect()
}

/// Adds a message that a node wants written to `key`.
pub(crate) fn add_message(
    plan: &Plan,
    node: &str,
    key: &str,
    message: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    match plan.channel_named(key).filter(|index| plan.is_state_key(*index)) {
        Some(index) => add(plan, UpdateAuthor::Node(node), index, message, writes),
        None => Err(format!(
            "Node `{node}` pushed a message to `{key}`, which is no state key. Declare the key, or name the one that \
             holds the messages."
        )),
    }
}

fn add_entry(
    plan: &Plan,
    writer: UpdateAuthor<'_>,
    key: &str,
    value: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    match plan.channel_named(key) {
        Some(index) if plan.is_state_key(index) && writer.may_write(plan, index) => {
            return add(plan, writer, index, value, writes);
        }
        Some(index) if plan.is_managed(index) => {
            tracing::warn!("{} wrote to the managed key {key}, ignoring it", writer.name());
        }
        None => {
            if let (Some(say), false) = (&plan.unknown_key, matches!(writer, UpdateAuthor::Input)) {
                return Err(format!(
                    "{} wrote `{key}`, which is no state key. {}",
                    writer.name(),
                    say(key)
                ));
            }
        }
        Some(_) => {}
    }
    Ok(())
}

fn add(
    plan: &Plan,
    writer: UpdateAuthor<'_>,
    index: ChannelIx,
    value: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    let channel = plan.channel(index);
    channel.spec.accepts(value).map_err(|why| {
        format!(
            "{} wrote `{}`: {}. Nothing was merged; correct the value, or the key's type.",
            writer.name(),
            channel.name,
            why.trim_end_matches('.')
        )
    })?;
    let value = match &channel.spec.kind {
        Kind::Delta(spec) if matches!(spec.reducer, DeltaReducer::Messages) => with_ids(value),
        _ => value.clone(),
    };
    writes.push((Channel::Known(index), value));
    Ok(())
}

/// Converts a value to the text that Python prints for it, as in LangGraph's messages.
fn python_str(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => python_repr(other),
    }
}

/// Converts a value to its representation in Python, in which text has quotes.
fn python_repr(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(python_repr).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("'{key}': {}", python_repr(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Number(number) => number.to_string(),
    }
}
