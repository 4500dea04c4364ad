//! Functions written for LangGraph, held against what LangGraph makes of them: `functions/langgraph.json`, which
//! `functions/record.py` records.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};
use superstep::stream::Payload;
use superstep::{Graph, Input, Interrupt, RunConfig, RunError, RunResult, StreamEvent, StreamMode, Value};
use superstep_nodes::python::INTERPRETER;
use superstep_nodes::{Environment, Grants, Registry};
use superstep_test_servers::python_with_langgraph as langgraph;

use crate::support::document;

/// Cases that come out otherwise, and why; each is held to do so.
const MEANT: [(&str, &str); 6] = [
    (
        "gives_pairs_of_messages",
        "messages that a command writes as pairs are emitted, too",
    ),
    ("task_cached_without_cache", "a graph of a project has a cache"),
    (
        "tasks_ask_at_once_one_by_one",
        "all questions of tasks that run at once wait at once",
    ),
    ("call_in_two_tasks", "as above"),
    (
        "call_no_saver_twice",
        "answers of a graph without a saver are kept with the function",
    ),
    ("call_no_saver_twice_async", "as above"),
];
/// Ids of messages that are longer were chosen by nobody.
const CHOSEN: usize = 20;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions")
}

fn graph_of(case: &Json) -> Json {
    let node = |function: &str| {
        json!({"kind": "code", "config": {"language": "python", "module": "functions.py", "function": function,
            "destinations": if case["w"].is_null() { json!([]) } else { json!(["w"]) }}})
    };
    let mut nodes = Map::new();
    nodes.insert(
        "n".to_owned(),
        node(&format!("made.{}", case["function"].as_str().unwrap())),
    );
    let mut last = "n";
    if let Some(w) = case["w"].as_str() {
        nodes.insert("w".to_owned(), node(w));
        nodes["w"]["config"]["destinations"] = json!([]);
        last = "w";
    }
    json!({"format": "superstep/1", "name": "case", "nodes": nodes,
        "state": {"x": {}, "log": {"type": "array", "reducer": "append"}, "messages": {"type": "array", "reducer": "add_messages"}},
        "edges": [{"from": "__start__", "to": "n"}, {"from": last, "to": "__end__"}]})
}

/// The value and the schema of a question.
fn taken_apart(question: &Value) -> Json {
    let question = Json::from(question);
    let Some(schema) = question.get("schema").filter(|schema| !schema.is_null()).cloned() else {
        return json!({"value": question});
    };
    let mut value = question.as_object().cloned().unwrap_or_default();
    value.remove("schema");
    value.remove("refused");
    let text = value.get("question").filter(|_| value.len() == 1).cloned();
    json!({"value": text.unwrap_or(Json::Object(value)), "schema": schema})
}

fn sorted(mut all: Vec<Json>) -> Vec<Json> {
    all.sort_by_cached_key(Json::to_string);
    all
}

fn input(case: &Json, place: usize, waiting: &[Interrupt]) -> Input {
    if place == 0 {
        let mut first = json!({"log": [], "messages": []});
        let fields = first.as_object_mut().unwrap();
        fields.extend(case["state"].as_object().unwrap().clone());
        return Input::value(Value::from(first));
    }
    let answer = &case["answers"][place - 1];
    if answer["go_on"] == true {
        return Input::Continue;
    }
    let Some(by) = answer["by"].as_object() else {
        return Input::answer(Value::from(answer.clone()));
    };
    let answers: Map<String, Json> = by
        .iter()
        .filter_map(|(text, answer)| {
            let asked = waiting
                .iter()
                .find(|asked| asked.value.as_str() == Some(text.as_str()))?;
            Some((asked.id.as_str().to_owned(), answer.clone()))
        })
        .collect();
    Input::answer(Value::from(Json::Object(answers)))
}

/// A message as the recording shows it, and what has messages in it.
fn shown(value: &Json) -> Json {
    match value {
        Json::Array(all) => all.iter().map(shown).collect(),
        Json::Object(fields) if fields.contains_key("content") && fields.contains_key("type") => {
            let id = fields["id"].as_str().filter(|id| id.len() < CHOSEN);
            json!([fields["type"], fields["content"], id])
        }
        other => other.clone(),
    }
}

fn state(value: &Json) -> Json {
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.filter(|(_, value)| !value.is_null());
    Json::Object(fields.map(|(key, value)| (key.clone(), shown(value))).collect())
}

async fn run(graph: &Graph, input: Input, thread: &str) -> (Vec<StreamEvent>, Result<RunResult, RunError>) {
    let modes = [StreamMode::Custom, StreamMode::Messages];
    let mut run = graph.stream(input, RunConfig::on(thread).modes(modes));
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    (events, run.finish().await)
}

/// What was emitted, but for the lines of the node's log.
fn emitted(events: &[StreamEvent]) -> (Vec<Json>, Vec<Json>) {
    let (mut customs, mut messages) = (Vec::new(), Vec::new());
    for event in events {
        match &event.payload {
            Payload::Custom(value, _) if value.get("log").is_none() => customs.push(Json::from(value)),
            Payload::Message(message, _) => {
                let message = Json::from(message);
                if message["id"].as_str().is_some_and(|id| id.len() < CHOSEN) {
                    messages.push(json!([message["id"], message["content"]]));
                }
            }
            _ => {}
        }
    }
    (customs, messages)
}

/// Holds one run against its record; an error says what is different.
fn compare(
    case: &str,
    record: &Json,
    events: &[StreamEvent],
    done: &Result<RunResult, RunError>,
) -> Result<(), String> {
    let differs = |what: &str, want: &Json, found: &Json| Err(format!("{what}: {found}, and not {want}"));
    // An answer that does not fit is an error there; here its question is asked again.
    let refused = record["error"] == "ValidationError" && record["asks"] != json!([]);
    if let (Some(error), false) = (record["error"].as_str(), refused) {
        let found = done
            .as_ref()
            .map_or_else(|error| format!("{error:?}"), |_| "no error".into());
        let class = error.strip_suffix("Error").unwrap_or(error);
        return match found.contains(class) {
            true => Ok(()),
            false => differs("error", &error.into(), &found.into()),
        };
    }
    let done = done.as_ref().map_err(|error| format!("it failed: {error}"))?;
    let asks = sorted(
        done.interrupts
            .iter()
            .map(|asked| taken_apart(&asked.value))
            .collect(),
    );
    let wanted = sorted(record["asks"].as_array().cloned().unwrap_or_default());
    if asks != wanted {
        return differs("questions", &wanted.into(), &asks.into());
    }
    if refused
        && done
            .interrupts
            .iter()
            .all(|asked| asked.value.get("refused").is_none())
    {
        return Err("nobody is told that the answer was refused".to_owned());
    }
    let (customs, messages) = emitted(events);
    let wanted = record["custom"].as_array().cloned().unwrap_or_default();
    if customs != wanted {
        return differs("events", &wanted.into(), &customs.into());
    }
    // What models of a called graph say is emitted here, and only on request there.
    let wanted = record["messages"].as_array().cloned().unwrap_or_default();
    if messages != wanted && !case.starts_with("agent_") {
        return differs("messages", &wanted.into(), &messages.into());
    }
    let found = state(&Json::from(&done.value));
    let wanted = state(&record["state"]);
    match found == wanted || wanted.is_null() {
        true => Ok(()),
        false => differs("state", &wanted, &found),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn functions_do_what_langgraph_recorded() {
    let Some(python) = langgraph() else { return };
    let text = fs::read_to_string(folder().join("langgraph.json")).unwrap();
    let recorded: Json = serde_json::from_str(&text).unwrap();
    let cases = recorded["cases"].as_array().unwrap();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let environment = Environment::new(Some(folder()))
        .with_grants(Grants::all())
        .with_variables(move |name| (name == INTERPRETER).then(|| python.display().to_string()));
    let registry = Registry::standard();
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["function"].as_str().unwrap();
        let graph = registry
            .build(&document(&graph_of(case)), &environment)
            .unwrap_or_else(|problems| panic!("{name}: {problems:?}"))
            .graph
            .with_checkpointer(std::sync::Arc::new(superstep::MemorySaver::new()));
        let mut waiting = Vec::new();
        let mut found = Ok(());
        for (place, record) in case["record"].as_array().unwrap().iter().enumerate() {
            let (events, done) = run(&graph, input(case, place, &waiting), name).await;
            found =
                compare(name, record, &events, &done).map_err(|why| format!("{name}, run {place}: {why}"));
            if found.is_err() {
                break;
            }
            waiting = done.map(|done| done.interrupts).unwrap_or_default();
        }
        let meant = MEANT.iter().any(|(meant, _)| *meant == name);
        match found {
            Err(why) if !meant => wrong.push(why),
            Ok(()) if meant => wrong.push(format!("{name} is as in LangGraph by now")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn null_answers_a_function_and_a_graph_that_it_calls() {
    let Some(python) = langgraph() else { return };
    let environment = Environment::new(Some(folder()))
        .with_grants(Grants::all())
        .with_variables(move |name| (name == INTERPRETER).then(|| python.display().to_string()));
    for (function, want) in [
        ("ask_text", json!({"x": [null], "log": [], "messages": []})),
        ("call_one", json!({"log": [null], "messages": []})),
    ] {
        let graph = crate::support::build(&graph_of(&json!({"function": function})), &environment)
            .with_checkpointer(std::sync::Arc::new(superstep::MemorySaver::new()));
        let input = Input::value(superstep::json!({"log": [], "messages": []}));
        let asked = graph.invoke(input, RunConfig::on(function)).await.unwrap();
        assert_eq!(asked.interrupts.len(), 1, "{function}");
        let done = graph
            .invoke(Input::answer(Value::Null), RunConfig::on(function))
            .await;
        assert_eq!(state(&Json::from(&done.unwrap().value)), want, "{function}");
    }
}
