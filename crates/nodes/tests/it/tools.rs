//! The `tools` kind from outside: calls in parallel, failures as answers, approvals, and that finished calls are not
//! made again.

use std::sync::Arc;
use std::sync::Mutex;

use serde_json::{Value as Json, json};
use superstep::run::RunStatus;
use superstep::{Input, RunConfig, RunError, Value};
use superstep_nodes::{Access, Environment, Grants, ModelSettings, Registry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::exchange::read_request;
use crate::support::{build, document, no_keys, one_node, run};

fn graph(tools: Json) -> Json {
    one_node(
        json!({"messages": {"type": "array", "reducer": "add_messages"}, "name": {"type": "string"}}),
        "tools",
        json!({"messages": "messages", "tools": tools}),
    )
}

fn object(properties: Json) -> Json {
    json!({"type": "object", "properties": properties})
}

/// A conversation in which a model makes `calls`.
fn calling(calls: Json) -> Value {
    superstep::json!({"name": "Ada", "messages": [
        {"type": "human", "content": "go", "id": "q"}, {"type": "ai", "content": "", "id": "a", "tool_calls": calls}]})
}

fn call(id: &str, name: &str, args: Json) -> Json {
    json!({"name": name, "args": args, "id": id, "type": "tool_call"})
}

/// The messages of tools as `(call, status, content)`.
fn answers(value: &Value) -> Vec<(String, String, String)> {
    let messages = Json::from(value.get("messages").unwrap());
    let tools = messages
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["type"] == "tool");
    let text = |message: &Json, name: &str| message[name].as_str().unwrap().to_owned();
    tools
        .map(|message| {
            (
                text(message, "tool_call_id"),
                text(message, "status"),
                text(message, "content"),
            )
        })
        .collect()
}

#[tokio::test]
async fn calls_are_answered_in_their_order_and_failures_are_answers() {
    let document = graph(json!([
        {"name": "hello", "description": "Greets.", "parameters": object(json!({"loud": {"type": "boolean"}})),
         "javascript": {"source": "const text = 'Hello ' + state.name;\nreturn args.loud ? text.toUpperCase() : text;"}},
        {"name": "sum", "description": "Adds.", "parameters": object(json!({"of": {"type": "array", "items": {"type": "number"}}})),
         "javascript": {"source": "return {sum: args.of.reduce((a, b) => a + b, 0)};"}},
        {"name": "broken", "description": "Fails.", "javascript": {"source": "\nthrow new Error('no luck');"}},
        {"name": "endless", "description": "Never ends.", "javascript": {"source": "while (true) {}", "timeout_ms": 20}},
    ]));
    let input = calling(json!([
        call("1", "hello", json!({"loud": true})),
        call("2", "sum", json!({"of": [1, 2, 3.5]})),
        call("3", "broken", json!({})),
        call("4", "endless", json!({})),
        call("5", "sum", json!({"of": ["x"]})),
        call("6", "helo", json!({})),
    ]));
    let (_, result) = run(&build(&document, &no_keys()), Input::Value(input), &[]).await;
    let answers = answers(&result.unwrap().value);
    let ids: Vec<&str> = answers.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(
        (answers[0].1.as_str(), answers[0].2.as_str()),
        ("success", "HELLO ADA")
    );
    assert_eq!(answers[1].2, "{\"sum\":6.5}");
    for (place, part) in [
        (2, "(line 2): Error: no luck"),
        (3, "stopped after 20 ms"),
        (4, "at /of/0"),
        (5, "Did you mean `hello`?"),
    ] {
        let (_, status, content) = &answers[place];
        assert!(status == "error" && content.contains(part), "{content}");
    }
}

#[tokio::test]
async fn only_open_calls_are_made_and_without_any_nothing_is_written() {
    let tool = json!([{"name": "f", "description": "d", "javascript": {"source": "return 'again'"}}]);
    let built = build(&graph(tool), &no_keys());
    let messages = superstep::json!({"messages": [
        {"type": "ai", "content": "", "id": "a", "tool_calls": [call("1", "f", json!({})), call("2", "f", json!({}))],
         "invalid_tool_calls": [{"name": "f", "args": "{oops", "id": "3", "error": "no JSON", "type": "invalid_tool_call"}]},
        {"type": "tool", "content": "once", "tool_call_id": "1", "id": "t"}]});
    let (_, result) = run(&built, Input::Value(messages), &[]).await;
    let answers = answers(&result.unwrap().value);
    let contents: Vec<(&str, &str)> = answers
        .iter()
        .map(|(id, _, content)| (id.as_str(), content.as_str()))
        .collect();
    assert_eq!(contents[..2], [("1", "once"), ("2", "again")]);
    assert!(
        contents[2].0 == "3" && contents[2].1.contains("no JSON"),
        "{contents:?}"
    );

    let built = build(&graph(json!([])), &no_keys());
    let (_, result) = run(&built, Input::Value(calling(json!([]))), &[]).await;
    assert_eq!(
        result
            .unwrap()
            .value
            .get("messages")
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let built = build(&graph(json!([])), &no_keys());
    let (_, result) = run(&built, Input::Value(superstep::json!({"messages": ["hi"]})), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("ToolsInputError") && text.contains("no ai message"),
        "{text}"
    );
}

/// Counts what is asked of it and answers with it.
struct Echo {
    address: String,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Echo {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (head, body) = read_request(&mut socket).await;
                let path = head.split(' ').nth(1).unwrap().to_owned();
                log.lock().unwrap().push((head.clone(), body.clone()));
                let (status, extra, body) = match path.as_str() {
                    "/away" => (
                        "302 Found",
                        "Location: http://169.254.169.254/latest\r\n",
                        String::new(),
                    ),
                    "/home" => ("302 Found", "Location: /there\r\n", String::new()),
                    "/big" => ("200 OK", "", "å".repeat(100_000)),
                    "/gone" => ("410 Gone", "", "it was here".to_owned()),
                    _ => ("200 OK", "", format!("{path} {body}")),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                // A client that has enough goes away.
                socket.write_all(answer.as_bytes()).await.ok();
            }
        });
        Self { address, seen }
    }

    /// The person has allowed this server.
    fn environment(&self) -> Environment {
        no_keys().with_grants(Grants::these([Access::Host(self.address.clone())]))
    }

    fn tool(&self, name: &str, path: &str, extra: Json) -> Json {
        let mut http = json!({"url": format!("http://{}{path}", self.address)});
        http.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        json!({"name": name, "description": "d", "http": http,
            "parameters": object(json!({"city": {"type": "string"}, "n": {"type": "integer"}}))})
    }
}

#[tokio::test]
async fn requests_are_made_and_their_answers_given() {
    let echo = Echo::start().await;
    let document = graph(json!([
        echo.tool(
            "get",
            "/w/{city}?n={n}",
            json!({"headers": {"X-Town": "in {city}"}})
        ),
        echo.tool(
            "post",
            "/p",
            json!({"method": "POST", "body": {"town": "{city}", "n": "{n}"}})
        ),
        echo.tool("big", "/big", json!({"max_kb": 3})),
        echo.tool("gone", "/gone", json!({})),
        echo.tool("home", "/home", json!({})),
        echo.tool("away", "/away", json!({})),
    ]));
    let args = json!({"city": "Å/..", "n": 2});
    let calls: Vec<Json> = ["get", "post", "big", "gone", "home", "away"]
        .iter()
        .map(|name| call(&format!("c-{name}"), name, args.clone()))
        .collect();
    let graph = build(&document, &echo.environment());
    let (_, result) = run(&graph, Input::Value(calling(json!(calls))), &[]).await;
    let answers = answers(&result.unwrap().value);
    assert_eq!(answers[0].2, "/w/%C3%85%2F..?n=2 ");
    assert_eq!(answers[1].2, "/p {\"town\":\"Å/..\",\"n\":2}");
    assert!(
        answers[2].2.ends_with("… (cut after 3 kB)") && answers[2].2.len() < 3200,
        "{}",
        answers[2].2.len()
    );
    assert_eq!(
        (
            answers[3].1.as_str(),
            answers[3].2.contains("410 Gone: it was here")
        ),
        ("error", true)
    );
    assert_eq!(answers[4].2, "/there ");
    assert!(
        answers[5].2.contains("169.254.169.254") && answers[5].1 == "error",
        "{}",
        answers[5].2
    );
    let seen = echo.seen.lock().unwrap();
    let post = seen.iter().find(|(head, _)| head.starts_with("POST")).unwrap();
    let has_key = |line: &str| line.starts_with("idempotency-key: ") && !line.contains("c-post");
    assert!(post.0.to_lowercase().lines().any(has_key), "{}", post.0);
}

#[tokio::test]
async fn a_server_is_not_reached_unless_it_is_granted_and_a_private_one_unless_it_is_named() {
    let echo = Echo::start().await;
    let tools = graph(json!([echo.tool("get", "/", json!({}))]));
    let answer = async |environment: Environment| {
        let calls = calling(json!([call("1", "get", json!({}))]));
        let (_, result) = run(&build(&tools, &environment), Input::Value(calls), &[]).await;
        answers(&result.unwrap().value).remove(0)
    };
    let (_, status, denied) = answer(no_keys()).await;
    assert!(
        status == "error" && denied.contains(&format!("wants to use the server {}", echo.address)),
        "{denied}"
    );
    let (_, _, private) = answer(no_keys().with_grants(Grants::all())).await;
    assert!(private.contains("private_hosts"), "{private}");
    assert!(echo.seen.lock().unwrap().is_empty(), "nothing was sent");

    let models: ModelSettings = serde_json::from_value(json!({"private_hosts": [echo.address]})).unwrap();
    let listed = no_keys().with_models(models).with_grants(Grants::all());
    assert_eq!(answer(listed).await.1, "success");
    assert_eq!(answer(echo.environment()).await.1, "success");
    assert_eq!(echo.seen.lock().unwrap().len(), 2);
    let wanted = Registry::standard().accesses(&document(&tools), &no_keys());
    assert_eq!(
        wanted.into_iter().collect::<Vec<_>>(),
        [("node:n".to_owned(), [Access::Host(echo.address.clone())].into())]
    );
}

#[tokio::test]
async fn a_person_decides_and_what_was_done_is_not_done_again() {
    let echo = Echo::start().await;
    let with_approval = |name: &str, path: &str| {
        let mut tool = echo.tool(name, path, json!({"method": "POST"}));
        tool["approval"] = json!(true);
        tool
    };
    let document = graph(json!([
        echo.tool("free", "/free", json!({"method": "POST"})),
        with_approval("asked", "/asked")
    ]));
    let calls: Vec<Json> = [
        ("0", "free"),
        ("1", "asked"),
        ("2", "asked"),
        ("3", "asked"),
        ("4", "asked"),
    ]
    .iter()
    .map(|(id, name)| call(id, name, json!({"n": id.parse::<i64>().unwrap()})))
    .collect();
    let graph = build(&document, &echo.environment());
    let sent = || -> Vec<String> {
        echo.seen
            .lock()
            .unwrap()
            .iter()
            .map(|(_, body)| body.clone())
            .collect()
    };

    let (_, result) = run(&graph, Input::Value(calling(json!(calls))), &[]).await;
    let first = result.unwrap();
    assert_eq!(
        (first.status, first.interrupts.len()),
        (RunStatus::Interrupted, 4),
        "everything is asked at once"
    );
    assert_eq!(sent(), ["{\"n\":0}"], "what needs no approval has run");
    let question = Json::from(&first.interrupts[0].value);
    assert_eq!(question["context"]["tool"], "asked");
    assert_eq!(question["context"]["arguments"], json!({"n": 1}));
    assert_eq!(question["action_requests"][0]["args"], json!({"n": 1}));
    let schema = jsonschema::validator_for(&question["schema"]).unwrap();

    let decisions = [
        json!({"type": "approve"}),
        json!({"type": "edit", "args": {"n": "many"}}),
        json!({"type": "reject", "reason": "too dear"}),
        json!({"type": "respond", "content": "I did it by hand."}),
    ];
    let fits = decisions.each_ref().map(|decision| schema.is_valid(decision));
    assert_eq!(
        fits,
        [true, false, true, true],
        "the form offers every decision, and knows what the tool takes"
    );
    assert!(schema.is_valid(&json!({"type": "edit", "args": {"n": 2}})));
    let given: serde_json::Map<String, Json> = first
        .interrupts
        .iter()
        .zip(&decisions)
        .map(|(interrupt, decision)| (interrupt.id.to_string(), decision.clone()))
        .collect();
    let (_, result) = run(&graph, Input::answer(Json::Object(given)), &[]).await;
    let second = result.unwrap();
    assert_eq!(second.interrupts.len(), 1, "changed arguments are checked");
    let again = Json::from(&second.interrupts[0].value);
    assert!(again["refused"].as_str().unwrap().contains("at /n"), "{again}");

    let other =
        json!({"decisions": [{"type": "edit", "edited_action": {"name": "free", "args": {"n": 20}}}]});
    let (_, result) = run(&graph, Input::answer(other), &[]).await;
    let again = Json::from(&result.unwrap().interrupts[0].value);
    assert!(
        again["refused"]
            .as_str()
            .unwrap()
            .contains("names the tool `free`"),
        "{again}"
    );

    let (_, result) = run(
        &graph,
        Input::answer(json!({"type": "edit", "args": {"n": 20}})),
        &[],
    )
    .await;
    let third = result.unwrap();
    assert_eq!(third.status, RunStatus::Done);
    let answers = answers(&third.value);
    let contents: Vec<&str> = answers.iter().map(|(_, _, content)| content.as_str()).collect();
    assert_eq!(
        contents,
        [
            "/free {\"n\":0}",
            "/asked {\"n\":1}",
            "A person changed the arguments of this call to {\"n\":20}.\n\n/asked {\"n\":20}",
            "Error: a person did not allow this call: too dear.",
            "I did it by hand.",
        ]
    );
    assert_eq!(
        sent(),
        ["{\"n\":0}", "{\"n\":1}", "{\"n\":20}"],
        "every request was sent once"
    );
}

/// Servers do nothing twice under one key: it is another one for each call of each thread, whatever id the model gave
/// them, and the same when the same call is made again.
#[tokio::test]
async fn the_key_of_a_call_is_its_own() {
    let echo = Echo::start().await;
    let document = graph(json!([echo.tool("book", "/book", json!({"method": "POST"}))]));
    let one_id = |n: i64| call("ZsSt", "book", json!({"n": n}));
    let built = build(&document, &echo.environment());
    for thread in ["a", "b"] {
        for round in 0..3 {
            let messages = superstep::json!({"messages": [
                {"type": "ai", "content": "", "tool_calls": [one_id(round), one_id(round)]}]});
            let mut run = built.stream(Input::Value(messages), RunConfig::on(thread));
            while run.next().await.is_some() {}
            run.finish().await.unwrap();
        }
    }
    let key = |head: &str| {
        let lines = head.lines().map(str::to_lowercase);
        let mut keys = lines.filter_map(|line| Some(line.strip_prefix("idempotency-key: ")?.to_owned()));
        keys.next().expect("a POST has a key")
    };
    let keys: Vec<String> = echo
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|(head, _)| key(head))
        .collect();
    let others: std::collections::BTreeSet<&String> = keys.iter().collect();
    assert_eq!((keys.len(), others.len()), (12, 12), "{keys:?}");

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut socket, _)) = listener.accept().await {
            let (head, _) = read_request(&mut socket).await;
            tell.send(head).unwrap();
            if !open.is_empty() {
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
                socket.write_all(answer).await.ok();
            }
            open.push(socket);
        }
    });
    let slow = Echo {
        address,
        seen: Arc::default(),
    };
    let document = graph(json!([slow.tool("book", "/book", json!({"method": "POST"}))]));
    let built = build(&document, &slow.environment());
    let mut run = built.stream(Input::Value(calling(json!([one_id(1)]))), RunConfig::on("t"));
    let first = tokio::select! {
        head = told.recv() => head.unwrap(),
        _ = async { while run.next().await.is_some() {} } => panic!("the tool has not answered"),
    };
    run.cancel();
    assert!(matches!(run.finish().await, Err(RunError::Cancelled)));
    let mut run = built.stream(Input::Continue, RunConfig::on("t"));
    while run.next().await.is_some() {}
    run.finish().await.unwrap();
    assert_eq!(
        key(&told.recv().await.unwrap()),
        key(&first),
        "the run went on after it was stopped"
    );
}

#[tokio::test]
async fn cancelling_ends_a_request_of_a_tool() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (arrived, asked) = tokio::sync::oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await;
        arrived.send(()).unwrap();
        // No answer: reading ends when the client goes away.
        let mut rest = [0; 64];
        while matches!(socket.read(&mut rest).await, Ok(n) if n > 0) {}
    });
    let echo = Echo {
        address,
        seen: Arc::default(),
    };
    let graph = build(
        &graph(json!([echo.tool("slow", "/", json!({}))])),
        &echo.environment(),
    );
    let calls = calling(json!([call("1", "slow", json!({}))]));
    let mut stream = graph.stream(Input::Value(calls), RunConfig::on("t"));
    let stop = async {
        asked.await.unwrap();
    };
    tokio::select! {
        () = stop => stream.cancel(),
        _ = async { while stream.next().await.is_some() {} } => panic!("the tool has not answered"),
    }
    assert!(matches!(stream.finish().await, Err(RunError::Cancelled)));
    server.await.expect("the connection was closed");
}

#[test]
fn what_is_wrong_with_tools_is_reported() {
    let check = |tools: Json| -> Vec<String> {
        let problems = Registry::standard().check(&document(&graph(tools)));
        problems
            .iter()
            .map(|problem| format!("{} {}", problem.code, problem.message))
            .collect()
    };
    let http = |http: Json| json!([{"name": "f", "description": "d", "parameters": object(json!({"city": {}})), "http": http}]);
    for (tools, part) in [
        (
            json!([{"name": "a b", "description": "d", "javascript": {"source": ""}}]),
            "tool-name",
        ),
        (
            json!([{"name": "f", "description": "", "javascript": {"source": ""}}]),
            "tool-description",
        ),
        (json!([{"name": "f", "description": "d"}]), "does nothing"),
        (
            json!([{"name": "f", "description": "d", "javascript": {"source": "let args = 1"}}]),
            "code-syntax",
        ),
        (
            json!([{"name": "f", "description": "d", "parameters": {"type": "array"}, "javascript": {"source": ""}}]),
            "no object",
        ),
        (
            json!([{"name": "f", "description": "d", "javascript": {"source": ""}}, {"name": "f", "description": "d", "javascript": {"source": ""}}]),
            "two tools `f`",
        ),
        (http(json!({"url": "https://{city}.example.org/"})), "tool-host"),
        (http(json!({"url": "file:///etc/passwd"})), "no address"),
        (http(json!({"url": "https://x.org/{town}"})), "unknown-argument"),
        (
            http(json!({"url": "https://x.org/", "body": {"a": "{cty}"}})),
            "Did you mean `city`?",
        ),
        (
            http(json!({"url": "https://x.org/", "headers": {"a b": "c"}})),
            "no header",
        ),
    ] {
        let problems = check(tools.clone());
        assert!(
            problems.iter().any(|problem| problem.contains(part)),
            "{tools}: {problems:?}"
        );
    }
    assert_eq!(
        check(http(json!({"url": "https://x.org/{city}"}))),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn a_scripted_model_calls_tools() {
    let document = json!({
        "format": "superstep/1", "name": "agent",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}, "town": {"type": "string"}},
        "nodes": {
            "think": {"kind": "model", "config": {
                "model": "scripted", "messages": "messages", "into": "messages", "tools_of": "act", "pace_ms": 0,
                "script": [
                    {"when": "state.messages[-1].type == 'tool'", "say": "It is {{ state.messages[-1].content }}."},
                    {"calls": [{"tool": "weather", "args": {"city": "state.town", "days": 2}}]}]}},
            "act": {"kind": "tools", "config": {"messages": "messages", "tools": [{
                "name": "weather", "description": "d", "parameters": object(json!({"city": {}, "days": {}})),
                "javascript": {"source": "return args.city + ' in ' + args.days"}}]}},
        },
        "edges": [
            {"from": "__start__", "to": "think"},
            {"from": "think", "to": "act", "when": "state.messages[-1].tool_calls"},
            {"from": "act", "to": "think"},
        ],
    });
    let input = superstep::json!({"town": "Oslo", "messages": ["weather?"]});
    let (_, result) = run(&build(&document, &no_keys()), Input::Value(input), &[]).await;
    let messages = Json::from(result.unwrap().value.get("messages").unwrap());
    assert_eq!(
        messages[1]["tool_calls"][0]["args"],
        json!({"city": "Oslo", "days": 2})
    );
    assert_eq!(messages[3]["content"], "It is Oslo in 2.");
}
