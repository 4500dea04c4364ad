//! The `add_messages` reducer: a list of messages joined by id.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use crate::value::{Ids, List, Object, Value};

/// Marker id that removes everything before it.
pub const REMOVE_ALL: &str = "__remove_all__";

/// Joins `right` into `left`: known ids replace in place, removals take effect, the rest is appended. Messages
/// without an id get one, so that later updates can name them.
pub fn add_messages(left: &List, right: &Value) -> Result<Value, String> {
    join(left, right, UnknownRemoval::Refused).map(|joined| Value::Array(joined.list))
}

/// A conversation that was joined with an update.
pub(crate) struct JoinedMessages {
    pub(crate) list: List,
    /// Is what was there before still there, at its place?
    pub(crate) kept: bool,
}

/// Places of the ids that an update names.
enum MessageIndex {
    /// The list knows all of its ids.
    Known(Ids),
    /// It was looked through for these.
    Found(HashMap<Arc<str>, usize, foldhash::fast::RandomState>),
}

impl MessageIndex {
    fn of(left: &List, incoming: &[Value]) -> Self {
        if let Some(ids) = left.ids() {
            return MessageIndex::Known(ids.clone());
        }
        let named: HashSet<&str, foldhash::fast::RandomState> = incoming.iter().filter_map(id_of).collect();
        let found = left.iter().enumerate().filter_map(|(place, message)| {
            let id = message.get("id")?;
            named.contains(id.as_str()?).then(|| (text_of(id), place))
        });
        MessageIndex::Found(found.collect())
    }

    fn get(&self, id: &str) -> Option<usize> {
        match self {
            MessageIndex::Known(ids) => ids.get(id).copied(),
            MessageIndex::Found(ids) => ids.get(id).copied(),
        }
    }

    fn insert(&mut self, id: Arc<str>, place: usize) {
        match self {
            MessageIndex::Known(ids) => ids.insert(id, place),
            MessageIndex::Found(ids) => ids.insert(id, place),
        };
    }
}

fn text_of(id: &Value) -> Arc<str> {
    match id {
        Value::String(id) => id.clone(),
        _ => "".into(),
    }
}

/// Meaning of a removal of a message that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownRemoval {
    /// It is a mistake.
    Refused,
    /// The message is gone already.
    Ignored,
}

/// Joins the messages as [`add_messages`] does. In a run it costs the messages of the update, however long the
/// conversation is: a list that was joined before knows where its ids are.
pub(crate) fn join(left: &List, right: &Value, unknown: UnknownRemoval) -> Result<JoinedMessages, String> {
    let mut incoming = coerce_all(right)?;
    let marker = (incoming.iter()).rposition(|m| is_removal(m) && id_of(m) == Some(REMOVE_ALL));
    let nothing = List::new();
    let left = match marker {
        // What comes after it is joined as any update.
        Some(marker) => {
            incoming.drain(..=marker);
            &nothing
        }
        None => left,
    };
    let mut merged: List = left.clone();
    let mut places = MessageIndex::of(left, &incoming);
    let mut kept = marker.is_none();
    let mut removed: Vec<usize> = Vec::new();
    for message in incoming {
        let id = message.get("id").map(text_of).unwrap_or_default();
        match (places.get(&id), is_removal(&message)) {
            (Some(index), true) => removed.push(index),
            // It went with the others, or is gone already.
            (None, true) if marker.is_some() || unknown == UnknownRemoval::Ignored => {}
            (None, true) => {
                return Err(format!(
                    "Attempting to delete a message with an ID that doesn't exist ('{id}')"
                ));
            }
            (Some(index), false) => {
                removed.retain(|gone| *gone != index);
                kept &= index >= left.len();
                merged.set(index, message);
            }
            (None, false) => {
                places.insert(id, merged.len());
                merged.push(message);
            }
        }
    }
    if removed.is_empty() {
        return Ok(JoinedMessages {
            list: merged.joined(match places {
                MessageIndex::Known(ids) => Some(ids),
                MessageIndex::Found(_) => None,
            }),
            kept,
        });
    }
    let is_left = |(index, message): (usize, &Value)| (!removed.contains(&index)).then(|| message.clone());
    Ok(JoinedMessages {
        list: merged.iter().enumerate().filter_map(is_left).collect(),
        kept: kept && removed.iter().all(|index| *index >= left.len()),
    })
}

fn id_of(message: &Value) -> Option<&str> {
    message.get("id")?.as_str()
}

fn is_removal(message: &Value) -> bool {
    message.get("type").and_then(Value::as_str) == Some("remove")
}

fn coerce_all(value: &Value) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(items) => items.iter().map(coerce).collect(),
        one => Ok(vec![coerce(one)?]),
    }
}

/// Makes a whole message of the short forms: text, `[role, text]`, `{role, content}`; gives it an id if it has none.
pub fn coerce(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => message("human", Value::String(text.clone()), &Object::new()),
        Value::Array(pair) if pair.len() == 2 => match (pair.get(0).and_then(Value::as_str), pair.get(1)) {
            (Some(role), Some(content)) => message(kind_of(role)?, content.clone(), &Object::new()),
            _ => Err(format!("Unsupported message type: {value}")),
        },
        Value::Object(fields) => {
            if let Some(fields) = unwrapped(fields) {
                return coerce(&fields.into());
            }
            let Some(role) = fields
                .get("role")
                .or_else(|| fields.get("type"))
                .and_then(Value::as_str)
            else {
                return Err(missing(value));
            };
            let kind = kind_of(role)?;
            match (fields.get("content"), kind) {
                (Some(Value::Null), _) => message(kind, "".into(), fields),
                (Some(content), _) => message(kind, content.clone(), fields),
                (None, "remove") => message(kind, "".into(), fields),
                (None, _) => Err(missing(value)),
            }
        }
        other => Err(format!("Unsupported message type: {}", other.type_name())),
    }
}

/// Returns the fields of a message in the form that LangChain serializes objects to: `{lc: 1, type: "constructor", id:
/// [..., class], kwargs}`.
fn unwrapped(envelope: &Object) -> Option<Object> {
    let is_envelope = envelope.get("lc") == Some(&1.into())
        && envelope.get("type").and_then(Value::as_str) == Some("constructor");
    if !is_envelope {
        return None;
    }
    let class = envelope.get("id")?.as_array()?.iter().last()?.as_str()?;
    let kind = match class {
        "HumanMessage" | "HumanMessageChunk" => "human",
        "AIMessage" | "AIMessageChunk" => "ai",
        "SystemMessage" | "SystemMessageChunk" => "system",
        "ToolMessage" | "ToolMessageChunk" => "tool",
        "FunctionMessage" | "FunctionMessageChunk" => "function",
        "RemoveMessage" => "remove",
        _ => return None,
    };
    let mut fields = Object::new();
    fields.insert("type", kind);
    for (key, value) in envelope.get("kwargs")?.as_object()?.iter() {
        fields.insert(key.clone(), value.clone());
    }
    Some(fields)
}

fn missing(value: &Value) -> String {
    format!("Message dict must contain 'role' and 'content' keys, got {value}")
}

fn kind_of(role: &str) -> Result<&'static str, String> {
    Ok(match role {
        "human" | "user" => "human",
        "ai" | "assistant" | "AIMessageChunk" => "ai",
        "system" | "developer" => "system",
        "tool" => "tool",
        "function" => "function",
        "remove" => "remove",
        other => {
            return Err(format!(
                "Unexpected message type: '{other}'. Use one of 'human', 'user', 'ai', 'assistant', 'function', \
                 'tool', 'system', or 'developer'."
            ));
        }
    })
}

/// The complete form of each type: every field that it has, with what a field holds that was not given.
static FORMS: LazyLock<Vec<(&str, Object)>> = LazyLock::new(|| {
    let (object, list) = (|| Value::Object(Object::new()), || Value::Array(List::new()));
    let common = |kind: &'static str| {
        [
            ("content", "".into()),
            ("additional_kwargs", object()),
            ("response_metadata", object()),
            ("type", kind.into()),
            ("name", Value::Null),
            ("id", Value::Null),
        ]
    };
    let more = |kind: &str| match kind {
        "ai" => vec![
            ("tool_calls", list()),
            ("invalid_tool_calls", list()),
            ("usage_metadata", Value::Null),
        ],
        "tool" => vec![
            ("tool_call_id", Value::Null),
            ("artifact", Value::Null),
            ("status", "success".into()),
        ],
        _ => Vec::new(),
    };
    ["human", "ai", "system", "tool", "function", "remove"]
        .into_iter()
        .map(|kind| (kind, common(kind).into_iter().chain(more(kind)).collect()))
        .collect()
});

/// The complete form of a tool call.
static CALL: LazyLock<Object> = LazyLock::new(|| {
    let fields = ["name", "args", "id"].map(|key| (key, Value::Null));
    fields.into_iter().chain([("type", "tool_call".into())]).collect()
});

/// Returns the names of the fields of messages and of tool calls, each once.
pub(crate) fn field_names() -> impl Iterator<Item = Arc<str>> {
    let forms = FORMS.iter().map(|(_, form)| form).chain([&*CALL]);
    let mut names: Vec<&Arc<str>> = Vec::new();
    for name in forms.flat_map(Object::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().cloned()
}

/// Makes the complete form of `given`, which says it is of this type. What is complete already is not made again: a
/// conversation that comes back through a node is the one that went in.
fn message(kind: &'static str, content: Value, given: &Object) -> Result<Value, String> {
    let form = FORMS.iter().find(|(of, _)| *of == kind).map(|(_, form)| form);
    let Some(form) = form else {
        return Err(format!("there is no form of `{kind}` messages"));
    };
    if is_whole(kind, form, given) {
        return Ok(Value::Object(given.clone()));
    }
    let mut whole = form.clone();
    let mut fill = |key: &str, value: Option<&Value>| {
        if let Some(value) = value {
            whole.set(key, value.clone());
        }
    };
    fill("content", Some(&content));
    for key in ["response_metadata", "name"] {
        fill(key, given.get(key).filter(|value| !value.is_null()));
    }
    fill("additional_kwargs", Some(&further(form, given).into()));
    let id = match given.get("id") {
        Some(Value::String(id)) => Value::String(id.clone()),
        Some(Value::Number(n)) => n.to_string().into(),
        _ if kind == "remove" => return Err("a remove message needs the id of the message to remove".into()),
        _ => uuid::Uuid::new_v4().to_string().into(),
    };
    fill("id", Some(&id));
    match kind {
        "ai" => {
            if let Some(Value::Array(calls)) = given.get("tool_calls") {
                let calls = calls.iter().map(tool_call).collect::<Result<List, _>>()?;
                fill("tool_calls", Some(&calls.into()));
            }
            fill("invalid_tool_calls", given.get("invalid_tool_calls"));
            fill("usage_metadata", given.get("usage_metadata"));
        }
        "tool" => {
            let Some(id) = given.get("tool_call_id") else {
                return Err("a tool message needs the tool_call_id that it answers".into());
            };
            fill("tool_call_id", Some(id));
            fill("artifact", given.get("artifact"));
            fill("status", given.get("status").filter(|status| !status.is_null()));
        }
        _ => {}
    }
    // These stay fields of their own, also of types that do not have them.
    if matches!(kind, "human" | "ai") {
        let example = given.get("example");
        if let Some(example) = example.filter(|value| !matches!(value, Value::Null | Value::Bool(false))) {
            whole.insert("example", example.clone());
        }
    }
    for key in ["tool_call_id", "tool_calls"] {
        let value = given.get(key).filter(|value| !value.is_null());
        if let (Some(value), None) = (value, form.get(key)) {
            whole.insert(key, value.clone());
        }
    }
    Ok(Value::Object(whole))
}

/// Returns the additional fields of a message: those that no message has, such as a provider's `refusal` or `audio`,
/// and those that are given as additional.
fn further(form: &Object, given: &Object) -> Object {
    const OWN: [&str; 7] = [
        "role",
        "content",
        "id",
        "example",
        "tool_call_id",
        "tool_calls",
        "additional_kwargs",
    ];
    let by_role = given.get("role").is_some();
    let is_known = |key: &str| match key {
        "type" => !by_role,
        key => OWN.contains(&key) || form.get(key).is_some(),
    };
    let mut further: Object = given
        .iter()
        .filter(|(key, _)| !is_known(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(kept) = given.get("additional_kwargs").and_then(Value::as_object) {
        for (key, value) in kept.iter() {
            further.insert(key.clone(), value.clone());
        }
    }
    if given.get("role").and_then(Value::as_str) == Some("developer") {
        // It is a system message to everybody but the provider, who has a role of this name.
        further.insert("__openai_role__", "developer");
    }
    further
}

/// Returns whether the message has exactly the fields of its type, in their order, and those that would be converted
/// are already in their final form.
fn is_whole(kind: &str, form: &Object, given: &Object) -> bool {
    given.keys().eq(form.keys())
        && given.get("content").is_some_and(|content| !content.is_null())
        && given.get("type").and_then(Value::as_str) == Some(kind)
        && given.get("id").and_then(Value::as_str).is_some()
        && given.get("tool_calls").is_none_or(|calls| {
            let whole = |call: &Value| call.as_object().is_some_and(is_whole_call);
            calls.as_array().is_some_and(|calls| calls.iter().all(whole))
        })
}

fn is_whole_call(call: &Object) -> bool {
    call.keys().eq(CALL.keys()) && call.get("type") == CALL.get("type")
}

/// Creates `{name, args, id, type: "tool_call"}` from that form or from OpenAI's `{id, function: {name, arguments}}`.
fn tool_call(call: &Value) -> Result<Value, String> {
    if call.as_object().is_some_and(is_whole_call) {
        return Ok(call.clone());
    }
    let function = call.get("function");
    let name = call.get("name").or_else(|| function?.get("name"));
    let arguments = function.and_then(|f| f.get("arguments")).and_then(Value::as_str);
    let args = match (call.get("args"), arguments) {
        (Some(args), _) => args.clone(),
        (None, Some(text)) => serde_json::from_str(text).map_err(|error| {
            let name = name.and_then(Value::as_str).unwrap_or("a tool");
            format!(
                "The arguments of the call of {name} are no JSON: {error}. A call whose arguments cannot be read \
                 belongs into `invalid_tool_calls`."
            )
        })?,
        (None, None) => Value::Object(Object::new()),
    };
    let mut whole = CALL.clone();
    whole.set("name", name.cloned().unwrap_or_default());
    whole.set("args", args);
    whole.set("id", call.get("id").cloned().unwrap_or_default());
    Ok(Value::Object(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn run(left: Value, right: Value) -> Result<Vec<String>, String> {
        let left = match left {
            Value::Array(items) => items.iter().map(|m| coerce(m).unwrap()).collect(),
            _ => panic!("a list"),
        };
        let joined = add_messages(&left, &right)?;
        Ok(joined
            .as_array()
            .unwrap()
            .iter()
            .map(|m| {
                let removal = if is_removal(m) { "remove " } else { "" };
                format!(
                    "{removal}{}#{}",
                    m.get("content").unwrap().as_str().unwrap(),
                    id_of(m).unwrap()
                )
            })
            .collect())
    }
    fn h(text: &str, id: &str) -> Value {
        json!({"role": "user", "content": text, "id": id})
    }
    fn rm(id: &str) -> Value {
        json!({"role": "remove", "content": "", "id": id})
    }

    #[test]
    fn a_serialized_object_of_langchain_is_the_message_in_it() {
        let envelope = |lc: i64, ty: &str| {
            let id = ["langchain", "schema", "messages", "AIMessage"];
            json!({"lc": lc, "type": ty, "id": id, "kwargs": {"content": "hi", "id": "1"}})
        };
        let message = coerce(&envelope(1, "constructor")).unwrap();
        assert_eq!(message.get("type"), Some(&"ai".into()));
        assert_eq!(message.get("content"), Some(&"hi".into()));
        for other in [envelope(2, "constructor"), envelope(1, "secret")] {
            assert!(coerce(&other).is_err(), "{other}");
        }
    }

    #[test]
    fn joins_by_id() {
        let list = |items: &[Value]| Value::Array(items.iter().cloned().collect());
        let cases: &[(&[Value], &[Value], &[&str])] = &[
            (&[h("a", "1")], &[h("b", "2")], &["a#1", "b#2"]),
            (&[h("a", "1"), h("b", "2")], &[h("B", "1")], &["B#1", "b#2"]),
            (&[], &[h("a", "1"), h("b", "1")], &["b#1"]),
            (&[h("a", "1"), h("b", "2")], &[rm("1")], &["b#2"]),
            (
                &[h("a", "1"), h("b", "2")],
                &[rm("1"), h("A", "1")],
                &["A#1", "b#2"],
            ),
            (&[h("b", "2")], &[h("a", "1"), rm("1")], &["b#2"]),
            (
                &[h("a", "1")],
                &[h("x", "5"), rm(REMOVE_ALL), h("n", "9")],
                &["n#9"],
            ),
            (
                &[h("a", "1")],
                &[rm(REMOVE_ALL), h("n", "9"), rm(REMOVE_ALL), h("m", "10")],
                &["m#10"],
            ),
            (
                &[h("a", "1")],
                &[rm(REMOVE_ALL), h("n", "9"), h("m", "9"), rm("9")],
                &[],
            ),
            (
                &[h("a", "1")],
                &[rm(REMOVE_ALL), h("n", "9"), h("m", "8"), h("o", "9"), rm("1")],
                &["o#9", "m#8"],
            ),
        ];
        for (left, right, want) in cases {
            assert_eq!(
                run(list(left), list(right)).unwrap(),
                *want,
                "{left:?} + {right:?}"
            );
        }
        assert_eq!(
            run(list(&[h("a", "1")]), list(&[rm("9")])).unwrap_err(),
            "Attempting to delete a message with an ID that doesn't exist ('9')"
        );
    }

    #[test]
    fn short_forms_become_whole_messages() {
        let text = coerce(&json!("hi")).unwrap();
        assert_eq!(text.get("type").unwrap().as_str(), Some("human"));
        assert_eq!(id_of(&text).unwrap().len(), 36, "an id is given");
        assert_eq!(
            coerce(&json!(["ai", "A"])).unwrap().get("type").unwrap().as_str(),
            Some("ai")
        );
        let call = json!({"role": "assistant", "content": "", "tool_calls":
            [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]});
        assert_eq!(
            coerce(&call).unwrap().get("tool_calls").unwrap(),
            &json!([{"name": "f", "args": {"x": 1}, "id": "t", "type": "tool_call"}])
        );
        assert!(
            coerce(&json!({"content": "x"}))
                .unwrap_err()
                .contains("'role' and 'content'")
        );
        assert!(
            coerce(&json!({"role": "badrole", "content": "x"}))
                .unwrap_err()
                .contains("badrole")
        );
        assert!(coerce(&json!(5)).is_err() && coerce(&json!({"role": "tool", "content": "x"})).is_err());
    }
}
