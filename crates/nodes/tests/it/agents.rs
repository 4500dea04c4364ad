//! Agents from outside: the loop, its limit, its result, questions from inside it, agents as tools of others, and
//! agents that hand over to each other.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::run::{RunStatus, StateRef};
use superstep::{Input, MemorySaver, RunConfig, StreamMode, Value};
use superstep_nodes::{Environment, Registry};

use crate::support::{build, document, failure, no_keys, one_node, run};

fn keys() -> Json {
    json!({"messages": {"type": "array", "reducer": "add_messages"}, "name": {"type": "string", "default": "Ada"},
        "active": {"type": "string"}, "verdict": {"type": "object"}})
}

fn agent(config: Json) -> Json {
    let mut whole = json!({"model": "scripted", "messages": "messages", "pace_ms": 0});
    whole
        .as_object_mut()
        .unwrap()
        .extend(config.as_object().unwrap().clone());
    one_node(keys(), "agent", whole)
}

fn message_of(text: &str) -> Value {
    superstep::json!({"messages": [{"type": "human", "content": text, "id": "q"}]})
}

/// The conversation as `type: content`.
fn talk(value: &Value) -> Vec<String> {
    let messages = Json::from(value.get("messages").unwrap());
    let line = |message: &Json| {
        format!(
            "{}: {}",
            message["type"].as_str().unwrap(),
            message["content"].as_str().unwrap()
        )
    };
    messages.as_array().unwrap().iter().map(line).collect()
}

fn greeter() -> Json {
    json!({"name": "greet", "description": "Greets.", "approval": true,
        "parameters": {"type": "object", "properties": {"who": {"type": "string"}}},
        "javascript": {"source": "return `Hello ${args.who}, says ${state.name}`;"}})
}

/// Calls `greet` until a tool has answered.
fn once() -> Json {
    json!([{"when": "state.messages[-1].type == 'tool'", "say": "It said: {{ state.messages[-1].content }}"},
        {"say": "One moment.", "calls": [{"tool": "greet", "args": {"who": "'Bob'"}}]}])
}

#[tokio::test]
async fn questions_from_inside_are_answered_there_and_its_steps_are_seen() {
    let graph = build(
        &agent(json!({"tools": [greeter()], "script": once()})),
        &no_keys(),
    );
    let mut config = RunConfig::on("t");
    config.modes = vec![StreamMode::Tasks, StreamMode::Messages];
    config.subgraphs = true;
    let mut stream = graph.stream(Input::Value(message_of("go")), config);
    let mut places = Vec::new();
    while let Some(event) = stream.next().await {
        places.push(event.ns.join("|"));
    }
    let stopped = stream.finish().await.unwrap();
    assert_eq!(stopped.status, RunStatus::Interrupted);
    assert_eq!(stopped.interrupts.len(), 1);
    let question = Json::from(&stopped.interrupts[0].value);
    assert_eq!(question["context"]["arguments"], json!({"who": "Bob"}));
    assert!(places.iter().any(|place| place.starts_with("n:")), "{places:?}");

    // The graph inside has a state of its own, which can be read where it stands.
    let outer = graph
        .get_state(&StateRef::live("t").with_subgraphs())
        .await
        .unwrap();
    let inner = outer
        .tasks
        .iter()
        .find_map(|task| task.state.as_ref())
        .expect("the agent's own state");
    let inner = format!("{inner:?}");
    assert!(
        inner.contains("messages_before") && inner.contains("One moment."),
        "{inner}"
    );

    let edit = superstep::json!({"type": "edit", "args": {"who": "Eve"}});
    let (events, result) = run(&graph, Input::answer(edit), &[StreamMode::Custom]).await;
    let _ = events;
    let value = result.unwrap().value;
    assert_eq!(
        talk(&value),
        [
            "human: go",
            "ai: One moment.",
            "tool: A person changed the arguments of this call to {\"who\":\"Eve\"}.\n\nHello Eve, says Ada",
            "ai: It said: A person changed the arguments of this call to {\"who\":\"Eve\"}.\n\nHello Eve, says Ada"
        ]
    );
    assert_eq!(
        Json::from(value.get("name").unwrap()),
        json!("Ada"),
        "given, not given back"
    );
}

#[tokio::test]
async fn turns_are_limited_and_a_result_has_its_form() {
    let mut tool = greeter();
    tool["approval"] = false.into();
    let endless =
        json!([{"say": "again", "calls": [{"tool": "greet", "args": {"who": "'x'"}}]}, {"say": "Enough."}]);
    let config = json!({"tools": [tool], "script": endless, "max_turns": 2});
    let text = failure(&agent(config.clone()), message_of("go")).await;
    assert!(
        text.contains("AgentLimitError") && text.contains("2 turns"),
        "{text}"
    );

    let mut answers = config;
    answers["at_limit"] = "answer".into();
    let (_, result) = run(
        &build(&agent(answers), &no_keys()),
        Input::Value(message_of("go")),
        &[],
    )
    .await;
    let talk = talk(&result.unwrap().value);
    assert_eq!(talk.len(), 6, "{talk:?}");
    assert_eq!(talk.last().unwrap(), "ai: Enough.");

    let judge = json!({"output": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}, "into": "verdict",
        "script": [{"when": "state.messages[-1].type == 'ai'", "say": "{\"ok\": true}"}, {"say": "Fine."}]});
    let (_, result) = run(
        &build(&agent(judge), &no_keys()),
        Input::Value(message_of("go")),
        &[],
    )
    .await;
    let value = result.unwrap().value;
    assert_eq!(Json::from(value.get("verdict").unwrap()), json!({"ok": true}));
    assert_eq!(value.get("messages").unwrap().as_array().unwrap().len(), 2);
}

#[test]
fn what_is_wrong_is_reported_where_it_stands() {
    let config = json!({"model": "scripted", "messages": "name", "system": "{{ state.nme }}", "into": "verdict",
        "tools": [{"name": "a b", "description": "d", "handoff": {"to": "m"}}, {"name": "c", "description": "d"}]});
    let document = document(&one_node(keys(), "agent", config));
    let problems = Registry::standard().check(&document);
    let at = |code: &str| {
        let problem = problems.iter().find(|problem| problem.code == code);
        problem
            .unwrap_or_else(|| panic!("{code}: {problems:?}"))
            .pointer
            .clone()
    };
    assert_eq!(at("tools-into").as_deref(), Some("/config/into"));
    assert_eq!(at("unknown-key").as_deref(), Some("/config/system"));
    assert_eq!(at("tool-name").as_deref(), Some("/config/tools/0/name"));
    assert_eq!(at("unknown-node").as_deref(), Some("/config/tools/0/handoff/to"));
    assert_eq!(at("tool-does").as_deref(), Some("/config/tools/1"));
    assert_eq!(at("agent-output").as_deref(), Some("/config/output"));
    assert_eq!(at("empty-script").as_deref(), Some("/config/script"));
}

#[test]
fn the_graph_inside_can_be_opened() {
    let document = document(&agent(
        json!({"tools": [greeter()], "script": once(), "at_limit": "answer"}),
    ));
    let inside = Registry::standard().inside(&document, "n").unwrap();
    assert_eq!(
        inside.node_ids().collect::<Vec<_>>(),
        ["model", "tools", "answer"]
    );
    let problems: Vec<_> = inside
        .validate()
        .into_iter()
        .chain(Registry::standard().check(&inside))
        .collect();
    assert_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        Vec::<String>::new()
    );
    let drawn = inside.mermaid();
    assert!(drawn.contains("tools"), "{drawn}");
}

/// Two agents; each may hand over to the other.
fn team() -> Json {
    let hand = |to: &str| json!({"name": format!("to_{to}"), "description": format!("Hands over to {to}."), "handoff": {"to": to, "active": "active"}});
    let config = |other: &str, script: Json| json!({"model": "scripted", "messages": "messages", "pace_ms": 0, "tools": [hand(other)], "script": script});
    json!({
        "format": "superstep/1", "name": "team", "state": keys(),
        "nodes": {
            "sales": {"kind": "agent", "config": config("billing", json!([
                {"when": "'invoice' in state.messages[0].content", "say": "Billing knows.",
                 "calls": [{"tool": "to_billing"}, {"tool": "to_billing"}]},
                {"say": "We sell lamps."}]))},
            "billing": {"kind": "agent", "config": config("sales", json!([{"say": "Your invoice is paid, says billing to {{ state.messages|length }} messages."}]))},
        },
        "edges": [{"from": "__start__", "route": "state.active or 'sales'", "paths": {"sales": "sales", "billing": "billing"}}],
    })
}

#[tokio::test]
async fn agents_hand_over_with_the_whole_conversation_and_the_next_run_begins_there() {
    let graph = build(&team(), &no_keys());
    let (_, result) = run(&graph, Input::Value(message_of("my invoice?")), &[]).await;
    let value = result.unwrap().value;
    assert_eq!(Json::from(value.get("active").unwrap()), json!("billing"));
    assert_eq!(
        talk(&value),
        [
            "human: my invoice?",
            "ai: Billing knows.",
            "tool: Handed over to `billing`.",
            "tool: Error: another agent goes on already: one hand-off at a time.",
            "ai: Your invoice is paid, says billing to 4 messages.",
        ]
    );
    let more = superstep::json!({"messages": [{"type": "human", "content": "thanks", "id": "r"}]});
    let (_, result) = run(&graph, Input::Value(more), &[]).await;
    let talk = talk(&result.unwrap().value);
    assert_eq!(
        talk.last().unwrap(),
        "ai: Your invoice is paid, says billing to 6 messages."
    );
}

#[tokio::test]
async fn a_hand_off_within_one_graph_goes_on_there() {
    let graph = build(
        &json!({
            "format": "superstep/1", "name": "flat", "state": keys(),
            "nodes": {
                "act": {"kind": "tools", "config": {"messages": "messages", "tools": [
                    {"name": "over", "description": "d", "approval": true, "handoff": {"to": "end", "active": "active"}}]}},
                "again": {"kind": "assign", "config": {"set": {"name": "'again'"}}},
                "end": {"kind": "assign", "config": {"set": {"name": "'end'"}}},
            },
            "edges": [{"from": "__start__", "to": "act"},
                {"from": "act", "route": "'end' if state.active else 'again'", "paths": {"again": "again", "end": "__end__"}},
                {"from": "again", "to": "end"}],
        }),
        &no_keys(),
    );
    let calls = superstep::json!({"messages": [{"type": "ai", "content": "", "id": "a", "tool_calls": [
        {"name": "over", "args": {}, "id": "1", "type": "tool_call"}]}]});
    let (_, result) = run(&graph, Input::Value(calls), &[]).await;
    assert_eq!(result.unwrap().status, RunStatus::Interrupted);
    let (_, result) = run(&graph, Input::answer(superstep::json!("approve")), &[]).await;
    let value = result.unwrap().value;
    assert_eq!(Json::from(value.get("name").unwrap()), json!("end"));
    assert_eq!(Json::from(value.get("active").unwrap()), json!("end"));
}

#[tokio::test]
async fn graphs_are_tools_and_their_questions_reach_the_person() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, json: &Json| std::fs::write(folder.path().join(name), json.to_string()).unwrap();
    file(
        "worker.json",
        &agent(json!({"tools": [greeter()], "script": once()})),
    );
    file(
        "double.json",
        &json!({"format": "superstep/1", "name": "double", "state": {"n": {"type": "number"}, "twice": {"type": "number"}}, "output": ["twice"],
            "nodes": {"d": {"kind": "assign", "config": {"set": {"twice": "state.n * 2"}}}},
            "edges": [{"from": "__start__", "to": "d"}, {"from": "d", "to": "__end__"}]}),
    );
    file(
        "broken.json",
        &one_node(json!({}), "code", json!({"source": "throw new Error('no luck')"})),
    );
    let boss = agent(json!({
        "tools": [
            {"name": "worker", "description": "Greets people.", "graph": {"graph": "worker.json"}},
            {"name": "double", "description": "Doubles.", "parameters": {"type": "object", "properties": {"n": {"type": "number"}}},
             "graph": {"graph": "double.json"}},
            {"name": "mapped", "description": "Doubles more.", "parameters": {"type": "object", "properties": {"x": {"type": "number"}}},
             "graph": {"graph": "double.json", "input": {"n": "args.x + 1"}, "output": "'it is ' ~ result.twice"}},
            {"name": "broken", "description": "Fails.", "parameters": {"type": "object"}, "graph": {"graph": "broken.json", "input": {}}},
        ],
        "script": [{"when": "state.messages[-1].type == 'tool'", "say": "Done."},
            {"say": "Work.", "calls": [{"tool": "worker", "args": {"task": "'Greet Bob'"}}, {"tool": "worker", "args": {"task": "'Greet him again'"}},
                {"tool": "double", "args": {"n": 4}}, {"tool": "mapped", "args": {"x": 4}}, {"tool": "broken"}]}],
    }));
    let environment = Environment::new(Some(folder.path().to_owned()));
    let document = document(&boss);
    let registry = Registry::standard();
    assert_eq!(registry.check_in(&document, &environment), []);
    let built = registry.build(&document, &environment).unwrap();
    assert_eq!(built.files.len(), 4, "{:?}", built.files);
    let graph = built.graph.with_checkpointer(Arc::new(MemorySaver::new()));
    let (_, result) = run(&graph, Input::Value(message_of("go")), &[]).await;
    let stopped = result.unwrap();
    assert_eq!(
        stopped.interrupts.len(),
        2,
        "both workers ask: {:?}",
        stopped.interrupts
    );
    let answers = stopped
        .interrupts
        .iter()
        .zip(["approve", "reject"])
        .map(|(interrupt, answer)| (interrupt.id.to_string(), Value::from(answer)));
    let (_, result) = run(&graph, Input::answer(Value::Object(answers.collect())), &[]).await;
    let talk = talk(&result.unwrap().value);
    assert_eq!(talk[2], "tool: It said: Hello Bob, says Ada");
    assert_eq!(talk[3], "tool: It said: Error: a person did not allow this call.");
    assert_eq!(talk[4..6], ["tool: 8", "tool: it is 10"]);
    assert!(talk[6].contains("no luck"), "{talk:?}");
    assert_eq!(talk[7], "ai: Done.");

    file("worker.json", &boss);
    let problems = registry.check_in(&document, &environment);
    assert!(
        problems.iter().any(|problem| problem.code == "graph-cycle"),
        "{problems:?}"
    );
}

/// Held against LangGraph 1.2.22, with the same graph: what leaves the agent by an edge runs beside the other agent.
#[tokio::test]
async fn edges_that_leave_an_agent_are_followed_beside_its_hand_off() {
    let mut team = team();
    team["nodes"]["after"] = json!({"kind": "model", "config": {"model": "scripted", "into": "messages", "pace_ms": 0, "script": [{"say": "after"}]}});
    let edges = team["edges"].as_array_mut().unwrap();
    edges.push(json!({"from": "sales", "to": "after"}));
    let (_, result) = run(
        &build(&team, &no_keys()),
        Input::Value(message_of("my invoice?")),
        &[],
    )
    .await;
    let value = result.unwrap().value;
    let talk = talk(&value);
    assert_eq!(
        talk[4..],
        [
            "ai: after",
            "ai: Your invoice is paid, says billing to 4 messages."
        ]
    );
    assert_eq!(Json::from(value.get("active").unwrap()), json!("billing"));
}
