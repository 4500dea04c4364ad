//! Questions about tool calls in the public forms of other programs: LangChain's (`action_requests` with `review_configs`, or one
//! `tool_approval`) and agent-inbox's (`action_request` with `config`). They are shown as the calls that they are, with
//! only the decisions that they allow, and answered in the form that the asker reads.

use serde_json::{Map, Value as Json, json};
use superstep::Value;

use crate::wire::{AskedCall, AskedCalls, CallDecision, CallsForm, Choice};

/// A text that is longer than this, or has lines, gets a field of several lines.
const LONG: usize = 60;

/// Decisions about a call, in the order in which they are offered.
const DECISIONS: [CallDecision; 4] = [
    CallDecision::Approve,
    CallDecision::Edit,
    CallDecision::Reject,
    CallDecision::Respond,
];

impl CallDecision {
    fn title(self) -> &'static str {
        match self {
            Self::Approve => "Approve",
            Self::Edit => "Edit",
            Self::Reject => "Reject",
            Self::Respond => "Respond",
        }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Approve => "Run it with these arguments.",
            Self::Edit => "Change the arguments, then run it.",
            Self::Reject => "Do not run it, and tell the model.",
            Self::Respond => "Do not run it, and give the model this as its result.",
        }
    }

    /// Returns the word for it in an answer of a form.
    fn word(self, form: CallsForm) -> &'static str {
        match (form, self) {
            (CallsForm::Responses, Self::Approve) => "accept",
            (CallsForm::Responses, Self::Reject) => "ignore",
            (CallsForm::Responses, Self::Respond) => "response",
            (_, Self::Approve) => "approve",
            (_, Self::Edit) => "edit",
            (_, Self::Reject) => "reject",
            (_, Self::Respond) => "respond",
        }
    }
}

/// Reads the calls that a question is about; `None` when it has none of the public forms.
pub(super) fn tool_calls(value: &Value) -> Option<AskedCalls> {
    let of_langchain = || {
        let requests = some(value.get("action_requests")?)?;
        let configs = value.get("review_configs").and_then(Value::as_array);
        let call = |request: &Value| {
            let name = request.get("name")?.as_str()?;
            let of_call = |config: &&Value| config.get("action_name").and_then(Value::as_str) == Some(name);
            let config = configs.and_then(|configs| configs.iter().find(of_call));
            let allowed = config.and_then(|config| config.get("allowed_decisions")?.as_array());
            let is_allowed = |decision: &CallDecision| match allowed {
                Some(words) => words
                    .iter()
                    .any(|word| word.as_str() == Some(decision.word(CallsForm::Decisions))),
                // Without a word about it, nothing is written by hand.
                None => matches!(decision, CallDecision::Approve | CallDecision::Reject),
            };
            let schema = config.and_then(|config| config.get("args_schema"));
            asked_call(name, request, request, schema, is_allowed)
        };
        read_all(CallsForm::Decisions, &requests, call)
    };
    let of_one_call = || {
        if value.get("type")?.as_str()? != "tool_approval" {
            return None;
        }
        let words = value.get("schema").map(|schema| consts_of_types(&schema.into()));
        let is_allowed = |decision: &CallDecision| {
            let word = decision.word(CallsForm::Decision);
            words
                .as_ref()
                .is_none_or(|words| words.iter().any(|one| one == word))
        };
        let call =
            |request: &Value| asked_call(request.get("name")?.as_str()?, request, request, None, is_allowed);
        read_all(CallsForm::Decision, &[value], call)
    };
    let of_inbox = || {
        let requests = some(value).unwrap_or_else(|| vec![value]);
        let call = |request: &Value| {
            let (action, config) = (request.get("action_request")?, request.get("config")?);
            let is_allowed = |decision: &CallDecision| {
                let switch = match decision {
                    CallDecision::Approve => "allow_accept",
                    CallDecision::Edit => "allow_edit",
                    CallDecision::Reject => "allow_ignore",
                    CallDecision::Respond => "allow_respond",
                };
                config.get(switch) == Some(&Value::Bool(true))
            };
            asked_call(action.get("action")?.as_str()?, action, request, None, is_allowed)
        };
        read_all(CallsForm::Responses, &requests, call)
    };
    of_langchain().or_else(of_one_call).or_else(of_inbox)
}

/// Returns the elements of a list that has some.
fn some(list: &Value) -> Option<Vec<&Value>> {
    Some(list.as_array()?.iter().collect()).filter(|list: &Vec<&Value>| !list.is_empty())
}

fn read_all(
    form: CallsForm,
    requests: &[&Value],
    call: impl Fn(&Value) -> Option<AskedCall>,
) -> Option<AskedCalls> {
    let calls: Option<Vec<AskedCall>> = requests.iter().map(|request| call(request)).collect();
    Some(AskedCalls { form, calls: calls? })
}

/// Reads a call; the arguments are in `action`, the explanation in `request`.
fn asked_call(
    name: &str,
    action: &Value,
    request: &Value,
    schema: Option<&Value>,
    is_allowed: impl Fn(&CallDecision) -> bool,
) -> Option<AskedCall> {
    let args = action.get("args").map(Json::from).unwrap_or_else(|| json!({}));
    if !args.is_object() {
        return None;
    }
    let text = request.get("description").and_then(Value::as_str);
    // LangChain's own words say the call once more.
    let repeats = |text: &&str| text.contains(&format!("Tool: {name}\nArgs: "));
    Some(AskedCall {
        name: name.to_owned(),
        description: text
            .filter(|text| !text.trim().is_empty() && !repeats(text))
            .map(str::to_owned),
        allowed: DECISIONS.into_iter().filter(is_allowed).collect(),
        args_schema: schema.map(Json::from).filter(Json::is_object),
        args,
    })
}

/// Collects what the `type` fields of a schema may be, wherever they stand in it.
fn consts_of_types(schema: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(one) = open.pop() {
        let word = one.pointer("/properties/type/const").and_then(Json::as_str);
        found.extend(word.map(str::to_owned));
        match one {
            Json::Object(fields) => open.extend(fields.values()),
            Json::Array(list) => open.extend(list),
            _ => {}
        }
    }
    found
}

/// Returns a decision about a call as its asker reads it. `said` is the reason or the answer in the tool's place.
fn decided(form: CallsForm, call: &AskedCall, decision: CallDecision, said: Option<&str>) -> Json {
    let word = decision.word(form);
    if form == CallsForm::Responses {
        let args = match decision {
            CallDecision::Approve | CallDecision::Reject => Json::Null,
            CallDecision::Edit => json!({"action": call.name, "args": call.args}),
            CallDecision::Respond => said.unwrap_or_default().into(),
        };
        return json!({"type": word, "args": args});
    }
    match (decision, said) {
        (CallDecision::Edit, _) => {
            json!({"type": word, "edited_action": {"name": call.name, "args": call.args}})
        }
        (CallDecision::Reject | CallDecision::Respond, Some(said)) => json!({"type": word, "message": said}),
        _ => json!({"type": word}),
    }
}

/// Puts the decisions about all calls together to an answer.
fn answer(form: CallsForm, decisions: Vec<Json>) -> Json {
    match form {
        CallsForm::Decisions => json!({"decisions": decisions}),
        CallsForm::Responses => decisions.into(),
        CallsForm::Decision => decisions.into_iter().next().unwrap_or_default(),
    }
}

impl AskedCalls {
    fn answer_all(&self, decision: CallDecision, said: Option<&str>) -> Json {
        let all = self
            .calls
            .iter()
            .map(|call| decided(self.form, call, decision, said));
        answer(self.form, all.collect())
    }

    /// Returns the question as text.
    pub(super) fn text(&self) -> String {
        match self.calls.as_slice() {
            [call] => {
                let question = format!("May the tool `{}` run?", call.name);
                match &call.description {
                    Some(text) => format!("{question}\n\n{text}"),
                    None => question,
                }
            }
            calls => {
                let names: Vec<String> = calls.iter().map(|call| format!("`{}`", call.name)).collect();
                format!("May these {} tool calls run: {}?", calls.len(), names.join(", "))
            }
        }
    }

    /// Returns what the calls are given, by argument of the one call or by call.
    pub(super) fn context(&self) -> Json {
        match self.calls.as_slice() {
            [call] => call.args.clone(),
            calls => {
                let of_call =
                    |(n, call): (usize, &AskedCall)| (format!("{}. {}", n + 1, call.name), call.args.clone());
                Json::Object(calls.iter().enumerate().map(of_call).collect())
            }
        }
    }

    /// Returns the decisions that say everything and that all calls allow: approve and reject.
    pub(super) fn choices(&self) -> Vec<Choice> {
        let is_allowed =
            |decision: &CallDecision| self.calls.iter().all(|call| call.allowed.contains(decision));
        let choice = |decision: CallDecision| {
            let is_one = self.calls.len() == 1;
            let title = decision.title();
            Choice {
                label: if is_one {
                    title.into()
                } else {
                    format!("{title} all")
                },
                value: self.answer_all(decision, None),
                description: is_one.then(|| decision.says().to_owned()),
            }
        };
        [CallDecision::Approve, CallDecision::Reject]
            .into_iter()
            .filter(is_allowed)
            .map(choice)
            .collect()
    }

    /// Returns one answer of each kind that all calls allow, with what it does; `…` stands for what is to be written.
    pub(super) fn examples(&self) -> Vec<Choice> {
        let others = [CallDecision::Edit, CallDecision::Respond]
            .into_iter()
            .filter(|decision| self.calls.iter().all(|call| call.allowed.contains(decision)));
        let others = others.map(|decision| Choice {
            label: decision.title().into(),
            value: self.answer_all(decision, Some("…")),
            description: Some(decision.says().into()),
        });
        self.choices().into_iter().chain(others).collect()
    }

    /// Returns the JSON Schema of the decision about the one call, or of an object with one for each, by number from 1.
    pub(super) fn schema(&self) -> Json {
        if let [call] = self.calls.as_slice() {
            return json!({"oneOf": forms_of(self.form, call)});
        }
        let mut each = Map::new();
        for (n, call) in (1..).zip(&self.calls) {
            let title = format!("{n}. {}", call.name);
            each.insert(
                n.to_string(),
                json!({"title": title, "oneOf": forms_of(self.form, call)}),
            );
        }
        let required: Vec<&String> = each.keys().collect();
        json!({"type": "object", "required": required, "properties": each, "additionalProperties": false})
    }
}

/// Returns a schema for each decision that a call allows.
fn forms_of(form: CallsForm, call: &AskedCall) -> Vec<Json> {
    let of = |decision: CallDecision| {
        let (mut required, mut properties) = (vec!["type"], Map::new());
        properties.insert("type".into(), json!({"const": decision.word(form)}));
        let mut add = |name: &'static str, schema: Json, is_required: bool| {
            properties.insert(name.into(), schema);
            if is_required {
                required.push(name);
            }
        };
        let words = |title: &str| json!({"type": "string", "title": title, "x-editor": "text"});
        let is_inbox = form == CallsForm::Responses;
        match decision {
            CallDecision::Approve | CallDecision::Reject if is_inbox => {
                add("args", json!({"const": null}), true)
            }
            CallDecision::Approve => {}
            CallDecision::Edit => {
                let name = if is_inbox { "action" } else { "name" };
                let edited = json!({
                    "type": "object", "title": "Call", "required": [name, "args"],
                    "properties": {name: {"const": call.name}, "args": args_form(call)},
                });
                add(if is_inbox { "args" } else { "edited_action" }, edited, true);
            }
            CallDecision::Reject => add("message", words("Reason"), false),
            CallDecision::Respond => {
                add(
                    if is_inbox { "args" } else { "message" },
                    words("Answer in its place"),
                    true,
                );
            }
        }
        json!({
            "title": decision.title(), "description": decision.says(), "type": "object",
            "required": required, "properties": properties,
        })
    };
    call.allowed.iter().copied().map(of).collect()
}

/// Returns the schema of a call's arguments, which begin as the model gave them; what is not known of them is seen from those.
fn args_form(call: &AskedCall) -> Json {
    // What a schema refers to within itself is not found from inside of another one.
    let known = call
        .args_schema
        .as_ref()
        .filter(|schema| !schema.to_string().contains("\"$ref\""));
    let mut schema = match known {
        Some(schema) => schema.clone(),
        None => {
            let fields = call.args.as_object().into_iter().flatten();
            let seen: Map<String, Json> = fields
                .map(|(name, value)| (name.clone(), seen_type(value)))
                .collect();
            json!({"type": "object", "properties": seen})
        }
    };
    schema["title"] = "Arguments".into();
    schema["default"] = call.args.clone();
    schema
}

fn seen_type(value: &Json) -> Json {
    match value {
        Json::String(text) if text.len() > LONG || text.contains('\n') => {
            json!({"type": "string", "x-editor": "text"})
        }
        Json::String(_) => json!({"type": "string"}),
        Json::Bool(_) => json!({"type": "boolean"}),
        Json::Number(_) => json!({"type": "number"}),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use superstep::json as value;

    use super::*;

    fn read(asked: &Value) -> AskedCalls {
        tool_calls(asked).unwrap()
    }

    fn choices(calls: &AskedCalls) -> Vec<(String, Json)> {
        let choices = calls.choices().into_iter();
        choices.map(|choice| (choice.label, choice.value)).collect()
    }

    fn is_valid(calls: &AskedCalls, decision: &Json) -> bool {
        jsonschema::validator_for(&calls.schema())
            .unwrap()
            .is_valid(decision)
    }

    #[test]
    fn langchain_is_answered_with_a_list_of_decisions() {
        let calls = read(&value!({
            "action_requests": [{"name": "send", "args": {"to": "a@b", "copies": 2}, "description": "Mail.\n\nTool: send\nArgs: {}"}],
            "review_configs": [
                {"action_name": "other", "allowed_decisions": ["respond"]},
                {"action_name": "send", "allowed_decisions": ["edit", "approve", "reject"]},
            ],
        }));
        assert_eq!(calls.text(), "May the tool `send` run?");
        assert_eq!(calls.context(), json!({"to": "a@b", "copies": 2}));
        let want = [
            ("Approve".to_owned(), json!({"decisions": [{"type": "approve"}]})),
            ("Reject".to_owned(), json!({"decisions": [{"type": "reject"}]})),
        ];
        assert_eq!(choices(&calls), want);
        let edited =
            json!({"type": "edit", "edited_action": {"name": "send", "args": {"to": "c@d", "copies": 1}}});
        assert!(is_valid(&calls, &edited));
        assert!(is_valid(&calls, &json!({"type": "reject", "message": "no"})));
        for other in [
            json!({"type": "respond", "message": "done by hand"}),
            json!({"type": "edit", "edited_action": {"name": "other", "args": {}}}),
            json!({"type": "edit"}),
        ] {
            assert!(!is_valid(&calls, &other), "{other}");
        }
        let labels: Vec<String> = calls.examples().into_iter().map(|one| one.label).collect();
        assert_eq!(labels, ["Approve", "Reject", "Edit"]);
    }

    #[test]
    fn several_calls_are_decided_each_in_its_place() {
        let calls = read(&value!({
            "action_requests": [{"name": "send", "args": {}}, {"name": "pay", "args": {"eur": 9}, "description": "Nine."}],
            "review_configs": [
                {"action_name": "send", "allowed_decisions": ["approve", "reject"]},
                {"action_name": "pay", "allowed_decisions": ["approve", "respond"]},
            ],
        }));
        assert_eq!(calls.text(), "May these 2 tool calls run: `send`, `pay`?");
        assert_eq!(calls.context(), json!({"1. send": {}, "2. pay": {"eur": 9}}));
        let all = json!({"decisions": [{"type": "approve"}, {"type": "approve"}]});
        assert_eq!(choices(&calls), [("Approve all".to_owned(), all)]);
        let each = json!({"1": {"type": "reject"}, "2": {"type": "respond", "message": "paid"}});
        assert!(is_valid(&calls, &each));
        assert!(!is_valid(
            &calls,
            &json!({"1": {"type": "respond", "message": "x"}, "2": {"type": "approve"}})
        ));
        assert!(
            !is_valid(&calls, &json!({"1": {"type": "approve"}})),
            "one is undecided"
        );
    }

    #[test]
    fn agent_inbox_is_answered_with_a_list_of_responses() {
        let request = value!({
            "action_request": {"action": "run", "args": {"command": "ls"}},
            "config": {"allow_ignore": true, "allow_respond": true, "allow_edit": false, "allow_accept": true},
            "description": "Look first.",
        });
        for asked in [request.clone(), value!([request.clone()])] {
            let calls = read(&asked);
            assert_eq!(calls.text(), "May the tool `run` run?\n\nLook first.");
            let want = [
                ("Approve".to_owned(), json!([{"type": "accept", "args": null}])),
                ("Reject".to_owned(), json!([{"type": "ignore", "args": null}])),
            ];
            assert_eq!(choices(&calls), want);
            assert!(is_valid(&calls, &json!({"type": "response", "args": "use find"})));
            assert!(!is_valid(
                &calls,
                &json!({"type": "edit", "args": {"action": "run", "args": {}}})
            ));
        }
    }

    #[test]
    fn one_call_by_itself_is_answered_with_its_decision() {
        let branch = |word: &str| value!({"properties": {"type": {"const": word}}});
        let calls = read(&value!({
            "type": "tool_approval", "tool_call_id": "1", "name": "pay", "args": {"eur": 9}, "description": "",
            "schema": {"oneOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": branch("approve"), "R": branch("respond")}},
        }));
        assert_eq!(
            choices(&calls),
            [("Approve".to_owned(), json!({"type": "approve"}))]
        );
        assert_eq!(
            calls.calls[0].allowed,
            [CallDecision::Approve, CallDecision::Respond]
        );
        assert!(is_valid(&calls, &json!({"type": "respond", "message": "paid"})));
    }

    #[test]
    fn what_is_only_similar_is_shown_as_it_is() {
        for asked in [
            value!("approve?"),
            value!([]),
            value!({"action_requests": []}),
            value!({"action_requests": [{"args": {}}]}),
            value!({"action_requests": [{"name": "a", "args": [1]}]}),
            value!({"action_requests": [{"name": "a", "args": {}}, "b"]}),
            value!({"action_request": {"action": "run", "args": {}}}),
            value!({"action_request": {"args": {}}, "config": {}}),
            value!({"type": "tool_approval"}),
        ] {
            assert!(tool_calls(&asked).is_none(), "{asked}");
        }
        // Nobody said what may be decided.
        let silent = read(&value!({"action_requests": [{"name": "a"}]}));
        assert_eq!(
            silent.calls[0].allowed,
            [CallDecision::Approve, CallDecision::Reject]
        );
        assert_eq!(silent.calls[0].args, json!({}));
    }
}
