//! MCP against the servers that others wrote: two from npm, one from PyPI, over standard streams and over HTTP; and
//! against one that misbehaves.

mod answers;
mod login;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep::run::RunStatus;
use superstep::stream::Payload;
use superstep::{Graph, Input, MemorySaver, RunConfig, RunError, StreamMode, Value};
use superstep_nodes::{Access, Environment, Grants, ModelSettings, Registry};
use superstep_test_servers::McpServers;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::exchange::read_request;
use crate::support::{document, one_node, run, wait_until};

/// A project with servers, of somebody who allows everything, and named those at home.
struct Project {
    folder: tempfile::TempDir,
    environment: Environment,
    registry: Registry,
}

impl Project {
    fn new(servers: &Json) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at_home: Vec<String> = servers
            .as_object()
            .into_iter()
            .flat_map(|servers| servers.values())
            .filter_map(|server| server["url"].as_str()?.split('/').nth(2).map(str::to_owned))
            .collect();
        let models: ModelSettings = serde_json::from_value(json!({"private_hosts": at_home})).unwrap();
        let project = Self {
            environment: Environment::new(Some(folder.path().to_owned()))
                .with_grants(Grants::all())
                .with_models(models),
            registry: Registry::standard(),
            folder,
        };
        project.declare(servers);
        project
    }

    fn declare(&self, servers: &Json) {
        let text = json!({ "mcpServers": servers }).to_string();
        std::fs::write(self.path().join(".mcp.json"), text).unwrap();
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A tools node over servers.
    fn graph(&self, mcp: &Json) -> Graph {
        self.built(&tools(mcp))
    }

    fn built(&self, graph: &Json) -> Graph {
        let built = self.registry.build(&document(graph), &self.environment);
        let built = built.unwrap_or_else(|problems| panic!("{problems:?}"));
        built.graph.with_checkpointer(Arc::new(MemorySaver::new()))
    }

    /// The tool messages that come of calls of `(tool, arguments)`.
    async fn answers(&self, mcp: &Json, calls: &[(&str, Json)]) -> Vec<Json> {
        answers(&self.graph(mcp), calls).await
    }
}

fn tools(mcp: &Json) -> Json {
    let keys = json!({"messages": {"type": "array", "reducer": "add_messages"}});
    one_node(keys, "tools", json!({"messages": "messages", "mcp": mcp}))
}

fn calling(calls: &[(&str, Json)]) -> Input {
    let call = |(index, (name, args)): (usize, &(&str, Json))| json!({"name": name, "args": args, "id": index.to_string(), "type": "tool_call"});
    let calls: Vec<Json> = calls.iter().enumerate().map(call).collect();
    let message = json!({"type": "ai", "content": "", "id": "a", "tool_calls": calls});
    Input::Value(json!({"messages": [message]}).into())
}

async fn answers(graph: &Graph, calls: &[(&str, Json)]) -> Vec<Json> {
    let (_, result) = run(graph, calling(calls), &[]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    messages.as_array().unwrap()[1..].to_vec()
}

fn failed(message: &Json, part: &str) {
    let text = message["content"].as_str().unwrap();
    assert!(message["status"] == "error" && text.contains(part), "{text}");
}

fn free(server: &str) -> Json {
    json!([{"server": server, "approval": "none"}])
}

fn everything(servers: &McpServers) -> Json {
    json!({"all": {"command": servers.node("mcp-server-everything")}})
}

fn odd() -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_server.py");
    json!({"odd": {"command": "python3", "args": [script]}})
}

/// Is there a process of this number, that is not merely waiting to be forgotten?
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn answers_become_what_messages_carry() {
    let Some(servers) = McpServers::find() else { return };
    let project = Project::new(&everything(&servers));
    let calls = [
        ("echo", json!({"message": "hi"})),
        ("get-sum", json!({"a": 2, "b": 40})),
        ("get-tiny-image", json!({})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("get-env", json!({})),
        ("get-sum", json!({"a": "two", "b": 40})),
        ("get-some", json!({})),
    ];
    let answers = project.answers(&free("all"), &calls).await;
    assert_eq!(answers[0]["content"], "Echo: hi");
    assert_eq!(answers[0]["status"], "success");
    assert!(
        answers[1]["content"].as_str().unwrap().contains("42"),
        "{}",
        answers[1]
    );
    let picture = answers[2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .find(|part| part["type"] == "image")
        .unwrap();
    assert_eq!(picture["mime_type"], "image/png");
    assert!(
        picture["base64"].as_str().unwrap().starts_with("iVBOR"),
        "{picture}"
    );
    assert!(
        answers[3]["artifact"]["structured_content"]["temperature"].is_number(),
        "{}",
        answers[3]
    );
    // The server runs with little of our environment, whose many variables tests have.
    let env: Json = serde_json::from_str(answers[4]["content"].as_str().unwrap()).unwrap();
    assert!(
        env["PATH"].is_string() && env["CARGO_MANIFEST_DIR"].is_null(),
        "{env}"
    );
    failed(&answers[5], "the arguments do not fit");
    failed(
        &answers[6],
        "there is no tool `get-some`. Did you mean `get-sum`?",
    );
}

#[tokio::test]
async fn progress_is_streamed_and_starts_the_silence_again() {
    let Some(servers) = McpServers::find() else { return };
    let http = servers.over_http();
    let mut declared = everything(&servers);
    declared["far"] = json!({"type": "http", "url": http.url()});
    let project = Project::new(&declared);
    let checked = async |server: &str| {
        let graph = project.graph(&json!([{"server": server, "approval": "none", "timeout_s": 5}]));
        let calls = [(
            "trigger-long-running-operation",
            json!({"duration": 7, "steps": 28}),
        )];
        let (events, result) = run(&graph, calling(&calls), &[StreamMode::Custom]).await;
        let messages = Json::from(result.unwrap().value.get("messages").unwrap());
        assert_eq!(messages[1]["status"], "success", "{server}: {}", messages[1]);
        let reported: Vec<Json> = events
            .iter()
            .filter_map(|event| match &event.payload {
                Payload::Custom(value, _) => Some(Json::from(value)),
                _ => None,
            })
            .collect();
        assert!(reported.len() >= 20, "{server}: {reported:?}");
        assert_eq!(reported.last().unwrap()["tool"], "trigger-long-running-operation");
        assert_eq!(reported.last().unwrap()["progress"]["total"], 28.0);
    };
    tokio::join!(checked("all"), checked("far"));
}

#[tokio::test]
async fn an_answer_that_came_while_this_program_had_no_turn_is_read() {
    let project = Project::new(&odd());
    let [called, answered] = ["called", "answered"].map(|name| project.path().join(name));
    let args = json!({"seconds": 1.2, "called": called, "answered": answered});
    let held_up = tokio::spawn(async move {
        while !called.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The whole thread, as on a computer that gives the program no turn.
        while !answered.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mcp = json!([{"server": "odd", "approval": "none", "timeout_s": 1}]);
    let answers = project.answers(&mcp, &[("late", args)]).await;
    held_up.await.unwrap();
    assert_eq!(answers[0]["status"], "success", "{}", answers[0]);
}

/// Everything that the server is sent goes through this file.
fn recording_traffic(servers: &McpServers, log: &Path) -> Json {
    let program = servers.node("mcp-server-everything");
    let line = format!("tee -a '{}' | '{}'", log.display(), program.display());
    json!({"all": {"command": "sh", "args": ["-c", line]}})
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_taken_back() {
    let Some(servers) = McpServers::find() else { return };
    let project = Project::new(&json!({}));
    let log = project.path().join("sent");
    project.declare(&recording_traffic(&servers, &log));
    let cancelled = || {
        std::fs::read_to_string(&log)
            .unwrap_or_default()
            .matches("notifications/cancelled")
            .count()
    };
    let long = [(
        "trigger-long-running-operation",
        json!({"duration": 60, "steps": 1}),
    )];

    let silent = json!([{"server": "all", "approval": "none", "timeout_s": 1}]);
    let answers = project.answers(&silent, &long).await;
    failed(&answers[0], "no sign of life for 1 s");
    wait_until("the first notice", || cancelled() == 1).await;

    let graph = project.graph(&free("all"));
    let run = graph.stream(calling(&long), RunConfig::on("t"));
    wait_until("the second call", || {
        std::fs::read_to_string(&log)
            .unwrap_or_default()
            .matches("tools/call")
            .count()
            == 2
    })
    .await;
    run.cancel();
    assert!(matches!(run.finish().await, Err(RunError::Cancelled)));
    wait_until("the second notice", || cancelled() == 2).await;
}

#[tokio::test]
async fn a_server_that_dies_is_started_again_and_none_outlives_us() {
    let project = Project::new(&odd());
    let pid = |answers: &[Json]| answers[0]["content"].as_str().unwrap().to_owned();
    let first = pid(&project.answers(&free("odd"), &[("read_pid", json!({}))]).await);
    let again = pid(&project.answers(&free("odd"), &[("read_pid", json!({}))]).await);
    assert_eq!(first, again, "one server for the project");
    let died = project.answers(&free("odd"), &[("crash", json!({}))]).await;
    failed(&died[0], "stopped while it was at work");
    failed(&died[0], "exit status: 7");
    failed(&died[0], "the disk is on fire");
    let second = pid(&project.answers(&free("odd"), &[("read_pid", json!({}))]).await);
    assert_ne!(first, second);
    assert!(!lives(&first) && lives(&second));
    // A declaration that has changed is another server.
    let mut other = odd();
    other["odd"]["env"] = json!({"ANOTHER": "1"});
    project.declare(&other);
    let third = pid(&project.answers(&free("odd"), &[("read_pid", json!({}))]).await);
    assert_ne!(second, third);
    wait_until("the end of the second", || !lives(&second)).await;
    drop(project);
    wait_until("the end of the third", || !lives(&third)).await;
}

#[tokio::test]
async fn a_server_over_http_may_come_back() {
    let Some(servers) = McpServers::find() else { return };
    let http = servers.over_http();
    let project = Project::new(&json!({"far": {"type": "http", "url": http.url()}}));
    let echo = [("echo", json!({"message": "hi"}))];
    assert_eq!(
        project.answers(&free("far"), &echo).await[0]["content"],
        "Echo: hi"
    );
    http.restart();
    // Its session is gone with it; the next call gets a new one.
    let mut tries = 0;
    let mcp = json!([{"server": "far", "approval": "none", "timeout_s": 5}]);
    loop {
        let answer = project.answers(&mcp, &echo).await[0].clone();
        if answer["status"] == "success" {
            break;
        }
        tries += 1;
        assert!(tries < 3, "it is reached again");
    }
}

/// Notes what it is asked and leads elsewhere.
fn leads_to(location: &str) -> (String, Arc<std::sync::atomic::AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (location, count) = (location.to_owned(), asked.clone());
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let _ = std::io::Read::read(&mut socket, &mut [0; 65536]);
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let answer = format!(
                "HTTP/1.1 307 Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = std::io::Write::write_all(&mut socket, answer.as_bytes());
        }
    });
    (address, asked)
}

#[tokio::test]
async fn a_server_in_the_own_network_is_reached_when_it_is_named_and_leads_nowhere_else() {
    let count = |asked: &Arc<std::sync::atomic::AtomicUsize>| asked.load(std::sync::atomic::Ordering::SeqCst);
    let (inner, inner_asked) = leads_to("http://127.0.0.1:9/");
    let (outer, outer_asked) = leads_to(&format!("http://{inner}/mcp"));
    let mut project = Project::new(&json!({
        "near": {"url": format!("http://{outer}/mcp")},
        "name": {"url": format!("http://localhost:{}/mcp", outer.rsplit(':').next().unwrap())},
    }));
    let refusal = async |project: &Project, server: &str| {
        let (_, result) = run(&project.graph(&free(server)), calling(&[("x", json!({}))]), &[]).await;
        result.unwrap_err().to_string()
    };
    let everything = Environment::new(Some(project.path().to_owned())).with_grants(Grants::all());
    let named = project.environment.clone();
    project.environment = everything.clone();
    let text = refusal(&project, "near").await;
    assert!(text.contains("inside the own network"), "{text}");
    let text = refusal(&project, "name").await;
    assert!(text.contains("could not be started"), "{text}");
    assert_eq!(count(&outer_asked), 0, "everything names nothing at home");
    // Named by a grant, or in the settings, it is asked; where it leads nobody goes.
    let access = Access::host("127.0.0.1", outer.rsplit(':').next().unwrap().parse().ok());
    let granted = everything.with_grants(Grants::these([Access::Mcp("near".into()), access]));
    for environment in [named, granted] {
        project.environment = environment;
        let before = count(&outer_asked);
        refusal(&project, "near").await;
        assert!(count(&outer_asked) > before);
    }
    assert_eq!(count(&inner_asked), 0, "a redirect is not followed");
}

#[tokio::test]
async fn what_a_server_gets_wrong_stays_its_own() {
    let project = Project::new(&odd());
    let mcp = free("odd");
    // Tools come and go while it runs.
    failed(
        &project.answers(&mcp, &[("added", json!({}))]).await[0],
        "there is no tool `added`",
    );
    project.answers(&mcp, &[("add_tool", json!({}))]).await;
    assert_eq!(
        project.answers(&mcp, &[("added", json!({}))]).await[0]["status"],
        "success"
    );
    project.answers(&mcp, &[("forget", json!({}))]).await;
    failed(
        &project.answers(&mcp, &[("slow", json!({}))]).await[0],
        "refused: no such tool any more",
    );
    let named = json!([{"server": "odd", "tools": ["slo"]}]);
    let (_, result) = run(&project.graph(&named), calling(&[("x", json!({}))]), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("McpSetupError") && text.contains("has no tool `slo`"),
        "{text}"
    );

    let giant = project.answers(&mcp, &[("giant", json!({}))]).await;
    assert!(giant[0]["content"].as_str().unwrap().len() < 300_000);
    let noise = project.answers(&mcp, &[("noise", json!({}))]).await;
    assert_eq!(noise[0]["status"], "success", "{}", noise[0]);
    // What it asks of the person or the model has an answer at once, so that the call goes on.
    let asked = project.answers(&mcp, &[("ask", json!({}))]).await;
    assert_eq!(asked[0]["content"], "decline refused");
    let endless = project.answers(&mcp, &[("endless", json!({}))]).await;
    failed(
        &endless[0],
        "the tool `endless` of the MCP server `odd` cannot be read: a message is longer than 256 MiB",
    );
    assert_eq!(
        project.answers(&mcp, &[("read_pid", json!({}))]).await[0]["status"],
        "success"
    );
}

#[tokio::test]
async fn files_are_written_after_approval_and_only_where_they_may_be() {
    let Some(servers) = McpServers::find() else { return };
    let project = Project::new(
        &json!({"files": {"command": servers.node("mcp-server-filesystem"), "args": ["notes"]}}),
    );
    let notes = project.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("a.txt"), "first").unwrap();
    let path = |name: &str| notes.canonicalize().unwrap().join(name);
    let graph = project.graph(&json!([{"server": "files", "tools": ["read_text_file", "write_file"]}]));
    let calls = [
        ("read_text_file", json!({"path": path("a.txt")})),
        ("write_file", json!({"path": path("b.txt"), "content": "second"})),
        ("read_text_file", json!({"path": "/etc/hostname"})),
        ("list_directory", json!({"path": path("")})),
    ];
    let (_, result) = run(&graph, calling(&calls), &[]).await;
    let stopped = result.unwrap();
    assert_eq!(stopped.status, RunStatus::Interrupted);
    assert_eq!(stopped.interrupts.len(), 1, "reading asks nobody");
    assert!(!path("b.txt").exists());
    let (_, result) = run(&graph, Input::answer(Value::from("approve")), &[]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    assert_eq!(messages[1]["content"], "first");
    assert_eq!(std::fs::read_to_string(path("b.txt")).unwrap(), "second");
    failed(&messages[3], "denied");
    failed(&messages[4], "there is no tool `list_directory`");
}

#[tokio::test]
async fn a_server_in_python() {
    let Some(servers) = McpServers::find() else { return };
    let project = Project::new(
        &json!({"clock": {"command": servers.python("mcp-server-time"), "args": ["--local-timezone", "${ZONE:-UTC}"]}}),
    );
    let mcp = json!([{"server": "clock", "prefix": "clock_", "approval": "none"}]);
    let calls = [
        (
            "clock_convert_time",
            json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
        ),
        (
            "clock_convert_time",
            json!({"source_timezone": "Nowhere", "time": "12:00", "target_timezone": "UTC"}),
        ),
    ];
    let answers = project.answers(&mcp, &calls).await;
    assert!(
        answers[0]["content"]
            .as_str()
            .unwrap()
            .contains("T21:00:00+09:00"),
        "{}",
        answers[0]
    );
    failed(&answers[1], "Nowhere");
}

/// A server with OpenAI's protocol that says one thing, and notes what it is asked.
async fn listener() -> (Environment, Arc<Mutex<Vec<Json>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (_, body) = read_request(&mut socket).await;
            log.lock().unwrap().push(serde_json::from_str(&body).unwrap());
            let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Read."}, "finish_reason": "stop"}]});
            let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            socket
                .write_all(format!("{head}{body}").as_bytes())
                .await
                .unwrap();
            socket.shutdown().await.ok();
        }
    });
    let models: ModelSettings = serde_json::from_value(json!({"connections": {"own": {
        "provider": "openai", "base_url": format!("http://{address}/v1/"), "key_variable": "OWN_KEY"}}}))
    .unwrap();
    let environment = Environment::default()
        .with_variables(|name| {
            (name == "OWN_KEY")
                .then(|| "k".to_owned())
                .or_else(|| std::env::var(name).ok())
        })
        .with_models(models);
    (environment, seen)
}

#[tokio::test]
async fn models_are_given_tools_and_read_resources() {
    let Some(servers) = McpServers::find() else { return };
    let mut project = Project::new(&everything(&servers));
    let (environment, seen) = listener().await;
    project.environment = Environment {
        folder: project.environment.folder.clone(),
        ..environment.with_grants(Grants::all())
    };
    let list = project
        .answers(
            &json!([{"server": "all", "approval": "none", "resources": true}]),
            &[("all_list_resources", json!({}))],
        )
        .await;
    let listed: Vec<Json> = serde_json::from_str(list[0]["content"].as_str().unwrap()).unwrap();
    let uri = listed
        .iter()
        .find_map(|one| one["uri"].as_str())
        .expect("a resource")
        .to_owned();
    let read = project
        .answers(
            &json!([{"server": "all", "approval": "none", "resources": true}]),
            &[
                ("all_read_resource", json!({"uri": uri})),
                ("all_read_resource", json!({"uri": "demo://nothing"})),
            ],
        )
        .await;
    let text = read[0]["content"].as_str().unwrap().to_owned();
    failed(&read[1], "refused");

    let (start, end) = uri.split_at(uri.len() - 3);
    let graph = json!({
        "format": "superstep/1", "name": "reads",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}, "which": {"type": "string"}},
        "nodes": {
            "think": {"kind": "model", "config": {"model": "own::m", "messages": "messages", "into": "messages", "tools_of": "act",
                "resources": [{"server": "all", "uri": format!("{start}{{{{ state.which }}}}")}]}},
            "act": {"kind": "tools", "config": {"messages": "messages",
                "tools": [{"name": "own", "description": "Ours.", "javascript": {"source": "return 1"}}],
                "mcp": [{"server": "all", "tools": ["echo"], "prefix": "all_"}]}},
        },
        "edges": [{"from": "__start__", "to": "think"}, {"from": "think", "to": "act", "when": "state.messages[-1].tool_calls"}, {"from": "act", "to": "think"}],
    });
    let input = json!({"messages": [{"type": "human", "content": "What does it say?"}], "which": end});
    let (_, result) = run(&project.built(&graph), Input::Value(input.into()), &[]).await;
    result.unwrap();
    let asked = seen.lock().unwrap().pop().unwrap();
    let names: Vec<&str> = asked["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["own", "all_echo"]);
    let first = asked["messages"][0]["content"].to_string();
    let sample: String = text.chars().take(20).collect();
    assert!(first.contains(&uri) && first.contains(&sample), "{first}");
}

#[tokio::test]
async fn nothing_is_started_without_a_grant() {
    let mut project = Project::new(&odd());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_server.py");
    let wanted = project
        .registry
        .accesses(&document(&tools(&free("odd"))), &project.environment);
    let line = format!("python3 {}", script.display());
    let all = [Access::Mcp("odd".into()), Access::Program(line)];
    assert_eq!(
        wanted["node:n"].iter().cloned().collect::<Vec<_>>(),
        [all[1].clone(), all[0].clone()]
    );
    for grants in [
        Grants::none(),
        Grants::these([all[0].clone()]),
        Grants::these([all[1].clone()]),
    ] {
        project.environment = project.environment.clone().with_grants(grants);
        let (_, result) = run(
            &project.graph(&free("odd")),
            calling(&[("read_pid", json!({}))]),
            &[],
        )
        .await;
        let text = result.unwrap_err().to_string();
        assert!(text.contains("AccessDenied"), "{text}");
    }
    project.environment = project.environment.clone().with_grants(Grants::these(all));
    assert_eq!(
        project.answers(&free("odd"), &[("read_pid", json!({}))]).await[0]["status"],
        "success"
    );
}

#[tokio::test]
async fn a_server_that_does_not_come_up_says_why() {
    let project = Project::new(&json!({
        "gone": {"command": "no-such-program-here"},
        "broken": {"command": "sh", "args": ["-c", "echo 'no licence found' >&2; exit 3"]},
        "closed": {"url": "http://127.0.0.1:9/mcp"},
    }));
    for (server, part) in [
        ("gone", "no-such-program-here"),
        ("broken", "no licence found"),
        ("closed", "closed"),
    ] {
        let (_, result) = run(&project.graph(&free(server)), calling(&[("x", json!({}))]), &[]).await;
        let text = result.unwrap_err().to_string();
        assert!(
            text.contains("McpServerError") && text.contains("could not be started") && text.contains(part),
            "{text}"
        );
    }
    let problems = project
        .registry
        .check_in(&document(&tools(&free("brokn"))), &project.environment);
    assert!(problems.iter().any(|problem| problem.code == "unknown-mcp" && problem.remedy.contains("Did you mean `broken`?")), "{problems:?}");
}
