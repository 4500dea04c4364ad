//! How an update becomes writes to state keys, whoever makes it: a node, the input, a command, an edit.

use crate::channel::{DeltaReducer, Kind, shorten};
use crate::delta::with_ids;
use crate::live::{Channel, Writes};
use crate::plan::{ChannelIx, Plan};
use crate::value::{List, Value};

/// Who makes an update: what it may write, and how messages call it.
#[derive(Clone, Copy)]
pub(crate) enum Writer<'a> {
    /// The input of a run or of an edit: input keys only.
    Input,
    /// A command given as input.
    Command,
    /// A node.
    Node(&'a str),
}

impl Writer<'_> {
    fn name(self) -> String {
        match self {
            Writer::Input => "The input".into(),
            Writer::Command => "The command".into(),
            Writer::Node(name) => format!("Node `{name}`"),
        }
    }

    fn may_write(self, plan: &Plan, index: ChannelIx) -> bool {
        !matches!(self, Writer::Input) || plan.channel(index).is_input
    }
}

/// Adds what `update` writes. Keys that are no state keys are left out. An error is for the reader: its first line is
/// LangGraph's where LangGraph has one.
pub(crate) fn add_writes(
    plan: &Plan,
    writer: Writer<'_>,
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
                python_text(other, true),
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

/// What a command's `update` writes: like any update, or a list of `[key, value]` pairs in which a key may come twice.
pub(crate) fn add_command_writes(
    plan: &Plan,
    writer: Writer<'_>,
    update: &Value,
    writes: &mut Writes,
) -> Result<(), String> {
    let Some(pairs) = update.as_array().filter(|_| !plan.is_root).and_then(pairs_of) else {
        return add_writes(plan, writer, update, writes);
    };
    for (key, value) in pairs {
        add_entry(plan, writer, key, value, writes)?;
    }
    Ok(())
}

fn pairs_of(list: &List) -> Option<Vec<(&str, &Value)>> {
    let pair = |pair: &Value| pair.as_array().filter(|pair| pair.len() == 2).is_some();
    if !list.iter().all(pair) {
        return None;
    }
    list.iter()
        .map(|pair| Some((pair.at(0)?.as_str()?, pair.at(1)?)))
        .collect()
}

fn add_entry(
    plan: &Plan,
    writer: Writer<'_>,
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
            if let (Some(say), false) = (&plan.unknown_key, matches!(writer, Writer::Input)) {
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
    writer: Writer<'_>,
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

/// A value as Python prints it, because LangGraph's messages do.
fn python_text(value: &Value, bare: bool) -> String {
    let each = |item: &Value| python_text(item, false);
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) if bare => text.to_string(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(items) => format!("[{}]", items.iter().map(each).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("'{key}': {}", each(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Number(number) => number.to_string(),
    }
}
