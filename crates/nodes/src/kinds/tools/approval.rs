//! Asking before a tool runs. The question has the form of an `ask` node's, so that everything that answers those can
//! answer it, and names the call the way LangChain's agents do.

use serde_json::{Map, Value as Json};
use superstep::value::Object;
use superstep::{NodeContext, NodeError, Value};

use super::node::Tool;
use crate::models::args_json;

/// A person's decision.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// Run it.
    Approve,
    /// Run it with these arguments.
    Edit(Object),
    /// Do not run it, and tell the model why.
    Reject(Option<String>),
    /// Do not run it: this is its answer.
    Respond(String),
}

/// Asks until the answer is one.
pub(super) fn ask(
    context: &NodeContext,
    tool: &Tool,
    id: &str,
    args: &Object,
) -> Result<Decision, NodeError> {
    let mut question = question(tool, id, args);
    loop {
        let answer = context.interrupt(Value::Object(question.clone()))?;
        let read = decision(&answer).and_then(|decision| match other_call(&answer, &tool.name, id) {
            Some(cause) => Err(cause),
            None => Ok(decision),
        });
        let refused = match read {
            Ok(Decision::Edit(edited)) => match tool.problem(&edited) {
                None => return Ok(Decision::Edit(edited)),
                Some(problem) => format!("the arguments do not fit: {problem}"),
            },
            Ok(decision) => return Ok(decision),
            Err(cause) => cause,
        };
        question.insert("refused", refused);
    }
}

fn question(tool: &Tool, id: &str, args: &Object) -> Object {
    let args = args_json(args);
    let mut edited = match &tool.schema {
        // What a schema refers to within itself is not found from inside of another one.
        Json::Object(schema) if !tool.schema.to_string().contains("\"$ref\"") => schema.clone(),
        _ => Map::from_iter([("type".to_owned(), "object".into())]),
    };
    edited.insert("title".into(), "Arguments".into());
    edited.insert("default".into(), args.clone());
    let edited = Value::from(Json::Object(edited));
    let whole = superstep::json!({
        "question": format!("May the tool `{}` run?", tool.name),
        "context": {"tool": tool.name, "arguments": args, "description": tool.description},
        "tool_call_id": id,
        "choices": [
            {"label": "Approve", "value": {"type": "approve"}, "description": "Run it with these arguments."},
            {"label": "Reject", "value": {"type": "reject"}, "description": "Do not run it, and tell the model."},
        ],
        "schema": {"oneOf": [
            {"title": "Approve", "type": "object", "required": ["type"], "properties": {"type": {"const": "approve"}}},
            {"title": "Edit", "description": "Change the arguments, then run it.", "type": "object", "required": ["type", "args"], "properties": {
                "type": {"const": "edit"}, "args": edited}},
            {"title": "Reject", "type": "object", "required": ["type"], "properties": {
                "type": {"const": "reject"}, "reason": {"type": "string", "title": "Reason"}}},
            {"title": "Respond", "description": "Do not run it, and give the model this as its result.", "type": "object", "required": ["type", "content"], "properties": {
                "type": {"const": "respond"}, "content": {"type": "string", "title": "Answer in its place"}}},
        ]},
        "action_requests": [{"name": tool.name, "args": args, "description": tool.description}],
        "review_configs": [{"action_name": tool.name, "allowed_decisions": ["approve", "edit", "reject", "respond"]}],
    });
    match whole {
        Value::Object(question) => question,
        _ => Object::new(),
    }
}

/// Reads an answer: a word, `true` and `false`, our own form, or LangChain's list with one decision.
fn decision(answer: &Value) -> Result<Decision, String> {
    if let Some(Value::Array(list)) = answer.get("decisions") {
        return match list.get(0) {
            Some(one) if list.len() == 1 => decision(one),
            _ => Err("there is one call to decide about".into()),
        };
    }
    let text = |keys: [&str; 2]| {
        let found = keys.iter().find_map(|key| answer.get(key)?.as_str());
        found.map(str::to_owned)
    };
    let word = match answer {
        Value::Bool(true) => "approve",
        Value::Bool(false) => "reject",
        Value::String(word) => word,
        answer => answer.get("type").and_then(Value::as_str).unwrap_or_default(),
    };
    match word {
        "approve" | "accept" => Ok(Decision::Approve),
        "reject" | "ignore" => Ok(Decision::Reject(text(["reason", "message"]))),
        "edit" => {
            let action = answer.get("edited_action").or_else(|| inbox_action(answer));
            match action.map_or_else(|| answer.get("args"), |action| action.get("args")) {
                Some(Value::Object(args)) => Ok(Decision::Edit(args.clone())),
                _ => Err("an edit needs `args`, the changed arguments".into()),
            }
        }
        "respond" | "response" => match text(["content", "message"]) {
            Some(answer) => Ok(Decision::Respond(answer)),
            None => Err("a response needs `content`, what the model is told".into()),
        },
        _ => Err("the answer is none of approve, edit, reject and respond".into()),
    }
}

/// Returns the action of an answer in the form of LangChain's agent inbox: a name and arguments, inside of `args`.
fn inbox_action(answer: &Value) -> Option<&Value> {
    let action = answer.get("args")?;
    let fields = action.as_object()?;
    let is_action = fields.len() == 2
        && action.get("action").and_then(Value::as_str).is_some()
        && action.get("args").and_then(Value::as_object).is_some();
    is_action.then_some(action)
}

/// Says that an answer is about another call than the one that was asked about, if it names one.
fn other_call(answer: &Value, tool: &str, id: &str) -> Option<String> {
    let list = answer.get("decisions").and_then(Value::as_array);
    let answer = list.and_then(|list| list.get(0)).unwrap_or(answer);
    let action = answer.get("edited_action").or_else(|| inbox_action(answer));
    let named = |of: Option<&Value>, keys: &[&str]| {
        let found = keys.iter().find_map(|key| of?.get(key)?.as_str());
        found.map(str::to_owned)
    };
    let names = ["name", "action", "tool", "action_name"];
    let others = [named(action, &names), named(Some(answer), &names)];
    if let Some(other) = others.into_iter().flatten().find(|name| name != tool) {
        return Some(format!(
            "the answer names the tool `{other}`, and the question is about a call of `{tool}`, which is the only one that can be decided here"
        ));
    }
    let other = named(Some(answer), &["tool_call_id"]).filter(|other| other != id)?;
    Some(format!(
        "the answer is about the call `{other}`, and the question about `{id}`"
    ))
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn decisions_in_every_form() {
        let args = Object::from_iter([("a", Value::from(1))]);
        let reason = || Decision::Reject(Some("no".into()));
        for (answer, want) in [
            (json!("approve"), Decision::Approve),
            (json!(true), Decision::Approve),
            (json!({"type": "approve"}), Decision::Approve),
            (json!({"decisions": [{"type": "approve"}]}), Decision::Approve),
            (json!(false), Decision::Reject(None)),
            (json!({"type": "reject", "reason": "no"}), reason()),
            (
                json!({"decisions": [{"type": "reject", "message": "no"}]}),
                reason(),
            ),
            (
                json!({"type": "edit", "args": {"a": 1}}),
                Decision::Edit(args.clone()),
            ),
            (
                json!({"type": "edit", "edited_action": {"name": "f", "args": {"a": 1}}}),
                Decision::Edit(args.clone()),
            ),
            (
                json!({"type": "edit", "args": {"action": "f", "args": {"a": 1}}}),
                Decision::Edit(args),
            ),
            (
                json!({"type": "respond", "content": "x"}),
                Decision::Respond("x".into()),
            ),
        ] {
            assert_eq!(decision(&answer), Ok(want), "{answer}");
        }
        for other in [
            json!({"type": "edit", "edited_action": {"name": "g", "args": {"a": 1}}}),
            json!({"type": "edit", "args": {"a": 1}, "edited_action": {"name": "g", "args": {"a": 1}}}),
            json!({"decisions": [{"type": "edit", "edited_action": {"name": "g", "args": {"a": 1}}}]}),
            json!({"type": "edit", "name": "g", "args": {"a": 1}}),
            json!({"type": "edit", "args": {"action": "g", "args": {"a": 1}}}),
            json!({"type": "approve", "name": "g"}),
            json!({"type": "approve", "tool_call_id": "t2"}),
        ] {
            assert!(other_call(&other, "f", "t1").is_some(), "{other}");
            assert_eq!(other_call(&other, "g", "t2"), None, "{other}");
        }
        for own in [
            json!(true),
            json!("approve"),
            json!({"type": "reject", "reason": "g"}),
            json!({"type": "edit", "args": {"name": "g"}}),
        ] {
            assert_eq!(other_call(&own, "f", "t1"), None, "{own}");
        }
        for wrong in [
            json!(null),
            json!("perhaps"),
            json!({"type": "edit"}),
            json!({"type": "respond"}),
            json!({"decisions": []}),
            json!({"decisions": [{"type": "approve"}, {"type": "approve"}]}),
        ] {
            assert!(decision(&wrong).is_err(), "{wrong}");
        }
    }
}
