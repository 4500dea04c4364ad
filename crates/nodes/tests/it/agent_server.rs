//! LangGraph servers: drawn, run, stopped and read, and those that are broken, slow or dishonest.

use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep::checkpoint::{ListQuery, StorageError, ThreadQuery, ThreadStatus, WaitingQuery};
use superstep::inspect::TaskState;
use superstep::run::StateRef;
use superstep::{Checkpointer, Value};
use superstep_nodes::agent_server::{
    AgentAddress, AgentLimits, AgentServer, AgentServerError, AgentServerSaver, AttachedServer, ThreadFilter,
};
use superstep_nodes::attach::{
    AttachError, AttachFaultCode, AttachedEvent, AttachedInput, AttachedState, RunSpec,
};
use superstep_nodes::{Access, Environment, Grants};
use superstep_test_servers::AgentServerReplay;

const THREAD: &str = "536d3e72-482a-48c4-bfba-dfccf6f7755e";
const STREAM: &str = "POST /threads/THREAD/runs/stream";
const CANCEL: &str = "POST /threads/THREAD/runs/RUN/cancel";

const AGAIN: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(20)];

/// Times of a client that takes a stream up again at once.
fn limits() -> AgentLimits {
    AgentLimits {
        again: &AGAIN,
        ..AgentLimits::default()
    }
}

/// A time for what never comes.
const SOON: Duration = Duration::from_millis(200);

fn client(server: &AgentServerReplay) -> AgentServer {
    let address = AgentAddress::parse(&server.url()).unwrap();
    AgentServer::new(address, &Environment::new(None)).unwrap()
}

fn hasty(server: &AgentServerReplay) -> AgentServer {
    within(server, limits())
}

fn within(server: &AgentServerReplay, limits: AgentLimits) -> AgentServer {
    let address = AgentAddress::parse(&server.url()).unwrap();
    AgentServer::with_limits(address, &Environment::new(None), limits).unwrap()
}

async fn attached(server: AgentServer) -> AttachedServer {
    let releases = server.releases().await.unwrap();
    let assistant = server.assistant(Some("shop")).await.unwrap();
    AttachedServer::of(server, releases, assistant)
}

fn spec(input: AttachedInput, modes: &[&str]) -> RunSpec {
    RunSpec {
        modes: modes.iter().map(ToString::to_string).collect(),
        ..RunSpec::new(THREAD, input)
    }
}

fn given(input: Json) -> AttachedInput {
    AttachedInput::Given(input.into())
}

async fn ran(
    attached: &AttachedServer,
    spec: &RunSpec,
) -> (Vec<AttachedEvent>, Result<AttachedState, AttachError>) {
    let mut run = attached.run(spec);
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    (events, run.ended().await)
}

fn server_error(ended: Result<AttachedState, AttachError>) -> AgentServerError {
    match ended {
        Err(AttachError::Server(error)) => *error,
        other => panic!("an error of the server is expected: {other:?}"),
    }
}

/// Names of the nodes that ended, with how.
fn ended(events: &[AttachedEvent]) -> Vec<String> {
    let tasks = events.iter().filter(|event| event.event == "tasks");
    let ended = tasks.filter(|event| event.data.get("result").is_some());
    let name = |event: &AttachedEvent| {
        let nested = if event.ns.is_empty() { "" } else { "pay/" };
        format!(
            "{nested}{}@{}",
            event.data.get("name").unwrap().as_str().unwrap(),
            event.step.unwrap()
        )
    };
    ended.map(name).collect()
}

#[tokio::test]
async fn a_graph_is_drawn_with_the_one_within_and_its_schemas() {
    let server = AgentServerReplay::shop_with(&json!([]));
    let client = client(&server);
    let releases = client.releases().await.unwrap();
    assert!(releases.version.is_some() && releases.langgraph_py_version.is_some());
    let names: Vec<String> = (client.assistants().await.unwrap().into_iter())
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["shop", "slow"]);
    let several = client.assistant(None).await.unwrap_err();
    assert!(
        matches!(&several, AgentServerError::Assistant { names, .. } if names.len() == 2),
        "{several}"
    );
    let none = client.assistant(Some("desk")).await.unwrap_err().to_string();
    assert!(none.contains("\"desk\"") && none.contains("shop, slow"), "{none}");

    let described = attached(client).await.describe().await.unwrap();
    let nodes: Vec<&str> = described.drawing.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(nodes, ["check", "pay", "done"]);
    let pay = described.drawing.nodes[1].graph.as_ref().unwrap();
    let inner: Vec<&str> = pay.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(inner, ["charge", "ask"]);
    let inner: Vec<String> = pay
        .ways
        .iter()
        .map(|way| format!("{}>{}", way.from, way.to))
        .collect();
    assert_eq!(inner, ["__start__>charge", "ask>__end__", "charge>ask"]);
    let keys: Vec<(&str, Option<&str>)> = (described.drawing.channels.iter())
        .map(|key| (&*key.name, key.of.as_deref()))
        .collect();
    assert_eq!(keys, [("n", Some("integer")), ("log", Some("array"))]);
    assert!(described.schemas.input_schema.is_some() && described.schemas.context_schema.is_none());
    assert!(!described.lacking.is_empty());
}

#[tokio::test]
async fn a_run_asks_is_answered_and_ends() {
    let server = AgentServerReplay::shop_with(&json!([]));
    let attached = attached(client(&server)).await;
    let modes = ["tasks", "custom", "values"];
    let (events, state) = ran(&attached, &spec(given(json!({"n": 1})), &modes)).await;
    assert_eq!(ended(&events), ["check@1", "pay/charge@1", "pay/ask@2", "pay@2"]);
    assert!(
        events
            .iter()
            .any(|event| event.event == "custom" && event.ns.is_empty())
    );
    assert!(
        events.iter().all(|event| event.event != "checkpoints"),
        "not asked for"
    );
    let state = state.unwrap();
    assert_eq!((&*state.status, state.interrupts.len()), ("interrupted", 1));
    assert_eq!(state.next, ["pay"]);
    let question = state.interrupts[0]
        .get("id")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    assert!(state.config.unwrap().checkpoint_id.is_some());

    let answers: Value = json!({ question.clone(): "yes" }).into();
    let (events, state) = ran(&attached, &spec(AttachedInput::Answers(answers), &["tasks"])).await;
    assert_eq!(ended(&events), ["pay/ask@2", "pay@2", "done@3"]);
    let state = state.unwrap();
    assert_eq!((&*state.status, state.next.len()), ("done", 0));
    let log = state.values.get("log").unwrap().to_string();
    assert!(log.contains("done") && log.contains("yes"), "{log}");

    let asked = server.bodies(STREAM);
    assert_eq!(
        asked[0]["stream_mode"],
        json!(["tasks", "custom", "values", "checkpoints"])
    );
    assert_eq!(
        (&asked[0]["assistant_id"], &asked[0]["input"]),
        (&asked[1]["assistant_id"], &json!({"n": 1}))
    );
    assert_eq!(asked[1]["command"]["resume"], json!({ question: "yes" }));
    assert!(
        asked
            .iter()
            .all(|body| body["stream_resumable"] == true && body["stream_subgraphs"] == true)
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_was() {
    let shop: Vec<Json> = serde_json::from_str(superstep_test_servers::SHOP).unwrap();
    let whole = shop.iter().find(|entry| entry["on"] == STREAM).unwrap();
    let events = whole["events"].as_array().unwrap();
    let half = json!({"stage": 0, "on": STREAM, "events": events[..10], "cut": true, "next": true});
    // The server was away for a moment, and the run had not ended.
    let again = json!({"on": "GET /threads/THREAD/runs/RUN/stream", "events": events, "after": true});
    let server = AgentServerReplay::shop_with(&json!([half, again]));
    let attached = attached(hasty(&server)).await;
    let (events, state) = ran(&attached, &spec(given(json!({"n": 1})), &["tasks"])).await;
    assert_eq!(
        ended(&events),
        ["check@1", "pay/charge@1", "pay/ask@2", "pay@2"],
        "each once"
    );
    assert_eq!(state.unwrap().status, "interrupted");
    let asked = server.asked();
    let again = asked
        .iter()
        .find(|asked| asked.line.ends_with("/stream") && asked.line.starts_with("GET"));
    let headers = again.unwrap().headers.join("\n").to_lowercase();
    assert!(
        headers.contains("last-event-id: 7-0"),
        "behind the one before the last: {headers}"
    );
}

#[tokio::test]
async fn a_server_that_goes_away_in_the_middle_is_said() {
    let cut = json!({"on": STREAM, "cut": true, "events": [
        ["metadata", {"run_id": "01900000-0000-7001-8000-000000000000"}, "1-0"],
        ["tasks", {"id": "1", "name": "check", "input": {}, "triggers": []}, "2-0"],
    ]});
    let away = json!({"on": "GET /threads/THREAD/runs/RUN/stream", "status": 503, "text": "starting"});
    let server = AgentServerReplay::shop_with(&json!([cut, away]));
    let attached = attached(hasty(&server)).await;
    let (events, ended) = ran(&attached, &spec(given(json!({})), &["tasks"])).await;
    assert_eq!(events.len(), 1);
    let error = server_error(ended);
    assert!(
        matches!(&error, AgentServerError::Lost { run, .. } if run.starts_with("01900000")),
        "{error}"
    );

    // Started again, it may not know the run any more.
    let gone = json!({"on": "GET /threads/THREAD/runs/RUN/stream", "status": 404, "say": {"detail": "Run not found"}});
    server.say_first(&json!([gone]));
    let (_, ended) = ran(&attached, &spec(given(json!({})), &["tasks"])).await;
    let error = server_error(ended);
    assert!(
        matches!(&error, AgentServerError::Lost { cause, .. } if cause.contains("Run not found")),
        "{error}"
    );
}

#[tokio::test]
async fn a_node_that_fails_is_named() {
    let stream = json!({"on": STREAM, "events": [
        ["metadata", {"run_id": "01900000-0000-7001-8000-000000000000"}],
        ["tasks|pay:1", {"id": "2", "name": "broken", "error": {"error": "ValueError", "message": "boom"}, "result": {}, "interrupts": []}],
        ["tasks", {"id": "1", "name": "pay", "error": {"error": "ValueError", "message": "boom"}, "result": {}, "interrupts": []}],
        ["error", {"error": "ValueError", "message": "boom"}],
    ]});
    let server = AgentServerReplay::shop_with(&json!([stream]));
    let attached = attached(client(&server)).await;
    let (events, failed) = ran(&attached, &spec(given(json!({})), &["tasks"])).await;
    assert_eq!(
        events[0].data.get("error").unwrap().as_str(),
        Some("ValueError: boom")
    );
    let Err(AttachError::Fault(fault)) = failed else {
        panic!("a fault of the program: {failed:?}");
    };
    assert_eq!(
        (fault.code, fault.node.as_deref()),
        (AttachFaultCode::NodeFailed, Some("broken"))
    );
    assert_eq!(fault.message, "ValueError: boom");

    // Who came late learns it from the run.
    let ended = json!([
        {"on": STREAM, "events": [["metadata", {"run_id": "01900000-0000-7001-8000-000000000000"}]]},
        {"on": "GET /threads/THREAD/runs/RUN", "say": {"run_id": "01900000-0000-7001-8000-000000000000", "status": "error"}},
        {"on": "GET /threads/THREAD", "say": {"thread_id": "THREAD", "status": "error",
            "error": {"error": "GraphRecursionError", "message": "25 steps"}}},
    ]);
    server.say_first(&ended);
    let (_, failed) = ran(&attached, &spec(given(json!({})), &[])).await;
    let Err(AttachError::Fault(fault)) = failed else {
        panic!("a fault of the program: {failed:?}");
    };
    assert_eq!(fault.code, AttachFaultCode::RecursionLimit);
}

#[tokio::test]
async fn a_run_is_stopped_at_the_server_at_once_or_after_its_step() {
    let run = "01900000-0000-7001-8000-000000000000";
    let begun = json!({"on": STREAM, "hang": true, "events": [
        ["metadata", {"run_id": run}],
        ["tasks", {"id": "1", "name": "tick", "input": {}, "triggers": []}],
    ]});
    let cancel = json!({"on": CANCEL, "status": 202, "text": ""});
    let server = AgentServerReplay::shop_with(&json!([begun, cancel]));
    let soon = AgentLimits {
        stop: SOON,
        ..limits()
    };
    let one = attached(within(&server, soon)).await;
    let mut run_of = one.run(&spec(given(json!({})), &["tasks"]));
    assert_eq!(run_of.next().await.unwrap().event, "tasks");
    run_of.stop();
    let error = server_error(run_of.ended().await);
    assert!(
        matches!(error, AgentServerError::NotStopped { .. }),
        "its stream goes on: {error}"
    );
    assert_eq!(
        server.asked().iter().filter(|asked| asked.line == CANCEL).count(),
        1
    );

    // One that stops ends its stream, and its run says so.
    let stops = json!([
        {"on": STREAM, "events": [["metadata", {"run_id": run}],
            ["checkpoints", {"config": {"configurable": {"thread_id": "THREAD"}}, "metadata": {"step": 1}}]]},
        {"on": "GET /threads/THREAD/runs/RUN", "say": {"run_id": run, "status": "interrupted"}},
    ]);
    server.say_first(&stops);
    let one = attached(hasty(&server)).await;
    let run_of = one.run(&spec(given(json!({})), &["tasks"]));
    run_of.drain();
    let ended = run_of.ended().await;
    assert!(
        matches!(&ended, Err(AttachError::Fault(fault)) if fault.code == AttachFaultCode::Cancelled),
        "{ended:?}"
    );
    assert_eq!(
        server.asked().iter().filter(|asked| asked.line == CANCEL).count(),
        2
    );
}

#[tokio::test]
async fn what_is_not_known_is_passed_over() {
    let stream = json!({"on": STREAM, "events": [
        ["metadata", {"run_id": "01900000-0000-7001-8000-000000000000", "more": true}],
        ["hello", "what"], ["events", {"event": "on_chain_start"}], ["messages/partial", []],
        ["tasks|pay:1|inner:2", {"id": "1", "name": "a", "input": {}, "triggers": [], "new": 1}],
        ["values", {"big": "x".repeat(3_000_000)}],
    ], "next": true});
    let server = AgentServerReplay::shop_with(&json!([stream]));
    let attached = attached(client(&server)).await;
    let (events, ended) = ran(&attached, &spec(given(json!({})), &["tasks", "values", "events"])).await;
    let kinds: Vec<&str> = events.iter().map(|event| &*event.event).collect();
    assert_eq!(kinds, ["tasks", "values"]);
    assert_eq!(events[0].ns, ["pay:1", "inner:2"]);
    ended.unwrap();
}

#[tokio::test]
async fn a_server_that_is_none_or_stalls_or_lies_is_named() {
    let asks = |entries: Json| async move {
        let server = AgentServerReplay::shop_with(&entries);
        let client = hasty(&server);
        client.releases().await.unwrap_err()
    };
    for (said, cause) in [
        (json!({"status": 404, "text": "<html>"}), "404"),
        (json!({"text": "<html>"}), "expected value"),
        (json!({"say": {"ok": true}}), "neither a version"),
    ] {
        let mut entry = said.clone();
        entry["on"] = "GET /info".into();
        let error = asks(json!([entry])).await;
        assert!(
            matches!(&error, AgentServerError::NotOne { cause: is, .. } if is.contains(cause)),
            "{said}: {error}"
        );
    }
    let server = AgentServerReplay::shop_with(&json!([{"on": "GET /info", "hang": true}]));
    let soon = AgentLimits {
        answer: SOON,
        ..limits()
    };
    let error = within(&server, soon).releases().await.unwrap_err();
    assert!(matches!(error, AgentServerError::Stalls { .. }), "{error}");
    let error = asks(json!([{"on": "GET /info", "status": 403, "say": {"detail": "no \u{1b}[2Jkey"}}])).await;
    assert!(
        error.to_string().contains("403 no  [2Jkey") && error.to_string().contains("x-api-key"),
        "{error}"
    );
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = asks(json!([{"on": "GET /info", "text": deep}])).await;
    assert!(error.to_string().contains("recursion limit"), "{error}");

    let other = "99999999-482a-48c4-bfba-dfccf6f7755e";
    for entry in [
        json!({"on": STREAM, "headers": {"Content-Location": format!("/threads/{other}/runs/1")}, "events": []}),
        json!({"on": STREAM, "headers": {"Content-Location": "/threads/THREAD/runs/1"},
            "events": [["metadata", {"run_id": "2"}]]}),
        json!({"on": STREAM, "events": [["checkpoints", {"config": {"configurable": {"thread_id": other}}}]]}),
    ] {
        let server = AgentServerReplay::shop_with(&json!([entry]));
        let attached = attached(hasty(&server)).await;
        let (_, ended) = ran(&attached, &spec(given(json!({})), &["tasks"])).await;
        let error = server_error(ended);
        assert!(
            matches!(error, AgentServerError::OtherIds { .. }),
            "{entry}: {error}"
        );
    }
    let state = json!({"on": "GET /threads/THREAD/state", "say": {"values": {}, "created_at": "2026",
        "checkpoint": {"thread_id": other, "checkpoint_id": "c"}}});
    let server = AgentServerReplay::shop_with(&json!([state]));
    let error = attached(hasty(&server))
        .await
        .state(THREAD, None)
        .await
        .unwrap_err();
    assert!(error.to_string().contains(other), "{error}");

    // An event that is no JSON, a stream that is silent, and one that is no stream.
    let server = AgentServerReplay::shop_with(&json!([{"on": STREAM, "say": {"detail": "busy"}}]));
    let one = attached(hasty(&server)).await;
    let run = spec(given(json!({})), &["tasks"]);
    let error = server_error(ran(&one, &run).await.1);
    assert!(matches!(error, AgentServerError::Garbled { .. }), "{error}");
    server.say_first(&json!([
        {"on": STREAM, "hang": true, "events": [["metadata", {"run_id": "1"}]]},
        {"on": "GET /threads/THREAD/runs/1/stream", "status": 503, "text": "starting"},
    ]));
    let soon = AgentLimits {
        silence: SOON,
        ..limits()
    };
    let error = server_error(ran(&attached(within(&server, soon)).await, &run).await.1);
    assert!(matches!(&error, AgentServerError::Lost { .. }), "{error}");
    server.say_first(
        &json!([{"on": STREAM, "status": 409, "say": {"detail": "Thread is already running a task."}}]),
    );
    let error = server_error(ran(&one, &run).await.1).to_string();
    assert!(
        error.contains("already running") && error.contains("Wait for"),
        "{error}"
    );
    let bad = RunSpec::new("one", given(json!({})));
    let error = server_error(ran(&one, &bad).await.1);
    assert!(matches!(error, AgentServerError::ThreadId { .. }), "{error}");
}

#[tokio::test]
async fn a_server_elsewhere_and_a_key_have_to_be_allowed() {
    let environment =
        Environment::new(None).with_variables(|name| (name == "KEY").then(|| "server-test-key".to_owned()));
    let address = AgentAddress::parse("http://10.255.255.1:2024").unwrap();
    let refused = AgentServer::new(address, &environment).unwrap_err();
    assert!(
        matches!(&refused, AgentServerError::AccessDenied(denied) if denied.0 == Access::Host("10.255.255.1:2024".into())),
        "{refused}"
    );
    let server = AgentServerReplay::shop_with(&json!([]));
    let address = AgentAddress::parse(&format!("{}?x-api-key=${{KEY}}", server.url())).unwrap();
    let refused = AgentServer::new(address.clone(), &environment).unwrap_err();
    assert!(
        matches!(&refused, AgentServerError::AccessDenied(denied) if matches!(denied.0, Access::Key(_))),
        "{refused}"
    );
    let allowed = environment.with_grants(Grants::these(address.wanted()));
    let client = AgentServer::new(address, &allowed).unwrap();
    client.releases().await.unwrap();
    let headers = server.asked()[0].headers.join("\n");
    assert!(headers.contains("x-api-key: server-test-key"), "{headers}");
    assert!(!format!("{client:?}").contains("server-test-key"));
}

async fn saver(server: &AgentServerReplay) -> Box<dyn Checkpointer> {
    Box::new(AgentServerSaver::open(client(server)).await.unwrap())
}

#[tokio::test]
async fn threads_of_a_server_are_a_database_that_is_only_read() {
    let server = AgentServerReplay::shop_with(&json!([]));
    let saver = saver(&server).await;
    let all = ThreadQuery::new();
    assert!(saver.threads(&all).await.unwrap().is_empty());
    assert!(saver.thread(&THREAD.into()).await.unwrap().is_none());
    assert!(
        saver.get(&"one".into(), "", None).await.unwrap().is_none(),
        "no UUID, no thread"
    );
    let coordination = saver.coordination().unwrap();
    let before = coordination.changes().await.unwrap();

    let attached = attached(client(&server)).await;
    ran(&attached, &spec(given(json!({"n": 1})), &[]))
        .await
        .1
        .unwrap();
    assert_ne!(coordination.changes().await.unwrap(), before);
    let found = saver.threads(&all).await.unwrap();
    assert_eq!((found.len(), found[0].thread.as_str()), (1, THREAD));
    assert_eq!(found[0].status(), ThreadStatus::Interrupted);
    assert_eq!(
        found[0].head.metadata.user.get("graph_id").unwrap().as_str(),
        Some("shop")
    );
    assert_eq!(saver.count_threads(&all).await.unwrap(), 1);
    let waiting = coordination.waiting(&WaitingQuery::new()).await.unwrap();
    assert_eq!(
        (waiting.len(), coordination.count_waiting().await.unwrap()),
        (1, 1)
    );

    // The state with its question, and the graph that asks.
    let newest = StateRef::live(THREAD);
    let state = saver.foreign_state(&newest).await.unwrap().unwrap();
    assert_eq!((state.next.len(), state.interrupts.len()), (1, 1));
    let Some(TaskState::Ns(ns)) = &state.tasks[0].state else {
        panic!("the task runs a graph: {:?}", state.tasks);
    };
    let nested = saver.get(&THREAD.into(), ns, None).await.unwrap().unwrap();
    assert_eq!(nested.checkpoint.next, ["ask".into()]);

    let answers: Value = json!("yes").into();
    ran(&attached, &spec(AttachedInput::Answers(answers), &[]))
        .await
        .1
        .unwrap();
    let steps = |query: ListQuery| {
        let saver = &saver;
        async move {
            let heads = saver.heads(&query).await.unwrap();
            heads.iter().map(|head| head.metadata.step).collect::<Vec<_>>()
        }
    };
    assert_eq!(
        steps(ListQuery::new().thread(THREAD).ns("")).await,
        [3, 2, 1, 0, -1]
    );
    assert_eq!(
        steps(ListQuery::new().thread(THREAD).ns("").limit(2)).await,
        [3, 2]
    );
    assert_eq!(
        steps(ListQuery::new().thread(THREAD)).await.len(),
        9,
        "with those of the graph within"
    );
    let heads = saver
        .heads(&ListQuery::new().thread(THREAD).ns(""))
        .await
        .unwrap();
    let third = ListQuery::new().thread(THREAD).ns("").before(heads[2].id.clone());
    assert_eq!(steps(third).await, [0, -1]);
    let one = ListQuery::new().thread(THREAD).ns("").id(heads[3].id.clone());
    assert_eq!(steps(one).await, [0]);
    let nowhere = "1f000000-0000-6fff-8000-000000000000".into();
    let absent = saver.get(&THREAD.into(), "", Some(&nowhere)).await.unwrap();
    assert!(absent.is_none());

    let steps = saver
        .foreign_steps(&ListQuery::new().thread(THREAD).ns(""))
        .await
        .unwrap();
    let worked: Vec<&str> = steps
        .iter()
        .flat_map(|step| &step.work)
        .map(|work| &*work.node)
        .collect();
    assert_eq!(worked, ["done", "pay", "check", "__start__"]);
    let history = saver
        .foreign_history(&ListQuery::new().thread(THREAD).ns(""))
        .await
        .unwrap();
    let wrote = history[3].tasks[0].result.as_ref().unwrap();
    assert_eq!(wrote.get("n").and_then(Value::as_i64), Some(2), "{wrote}");

    let refused = saver.delete_thread(&THREAD.into()).await.unwrap_err();
    assert!(
        matches!(&refused, StorageError::OnlyRead { remedy, .. } if remedy.contains("superstep attach")),
        "{refused}"
    );
    let listed = client(&server)
        .threads(&ThreadFilter::default(), 10, 0)
        .await
        .unwrap();
    assert_eq!((listed.len(), listed[0].graph()), (1, Some("shop")));
}

#[tokio::test]
async fn a_state_is_changed_as_a_node_would() {
    let made = json!({"on": "POST /threads/THREAD/state", "say": {
        "checkpoint": {"thread_id": "THREAD", "checkpoint_ns": "", "checkpoint_id": "c9"}, "checkpoint_id": "c9"}});
    let server = AgentServerReplay::shop_with(&json!([made]));
    let client = client(&server);
    let values: Value = json!({"n": 7}).into();
    let id = client
        .update_state(THREAD, Some("c1"), &values, Some("check"))
        .await
        .unwrap();
    assert_eq!(id, "c9");
    let asked = server.bodies("POST /threads/THREAD/state");
    assert_eq!(
        asked[0],
        json!({"values": {"n": 7}, "as_node": "check", "checkpoint": {"checkpoint_id": "c1", "checkpoint_ns": ""}})
    );
}
