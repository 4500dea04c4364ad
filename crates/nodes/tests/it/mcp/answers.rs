//! What is optional, newer or odd in an answer or a list costs that part; what cannot be read is an error at once; a
//! server is spoken to in the revision that it knows.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use super::*;

/// A server that says what it is told to, with these pages of its list of tools.
struct Says {
    project: Project,
}

impl Says {
    fn new(lists: &Json, unknown: &str) -> Self {
        let project = Project::new(&json!({}));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_says.py");
        let file = project.path().join("lists.json");
        std::fs::write(&file, lists.to_string()).unwrap();
        project.declare(&json!({"says": {"command": "python3", "args": [script, file, unknown]}}));
        Self { project }
    }

    /// One that lists the tools of the script.
    fn plain() -> Self {
        Self::new(
            &json!({"": {"tools": tools_named(&["say", "long", "asks", "works", "last", "drips"])}}),
            "refuse",
        )
    }

    async fn answers(&self, calls: &[(&str, Json)]) -> Vec<Json> {
        self.project.answers(&free("says"), calls).await
    }

    /// Returns what a call comes to at once; a second is much on a busy computer, and little of the minute that a silent
    /// server has.
    async fn at_once(&self, tool: &str, args: Json) -> Json {
        let begin = Instant::now();
        let answer = self.answers(&[(tool, args)]).await.remove(0);
        assert!(begin.elapsed().as_secs() < 30, "{:?}, {answer}", begin.elapsed());
        answer
    }
}

fn tools_named(names: &[&str]) -> Json {
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    names.iter().map(tool).collect()
}

fn line(result: &str) -> Json {
    json!({"lines": [format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#)]})
}

#[tokio::test]
async fn an_unknown_detail_costs_no_answer() {
    let says = Says::plain();
    let text = r#"{"type":"text","text":"42 orders"}"#;
    let annotated =
        r#"{"type":"text","text":"42 orders","annotations":{"audience":["system"],"priority":"high"}}"#;
    for args in [
        line(&format!(r#"{{"content":[{annotated}]}}"#)),
        line(&format!(
            r#"{{"content":[{text},{{"type":"video","data":"AAAA"}}]}}"#
        )),
        line(&format!(
            r#"{{"content":[{text},7],"resultType":"complete","ttlMs":"soon","_meta":[]}}"#
        )),
        line(&format!(
            r#"{{"content":[{text}],"isError":null,"structuredContent":null,"newer":{{}}}}"#
        )),
        line(&format!(r#"{{"content":{text}}}"#)),
        line(r#"{"content":"42 orders"}"#),
        line(r#"{"toolResult":"42 orders"}"#),
        line(r#"{"content":[{"type":"text","text":"42 orders \ud83d"}]}"#),
        line(
            r#"{"content":[{"type":"text","text":"42 orders"},{"type":"text","text":"\udc4d"}],"structuredContent":{"n":NaN}}"#,
        ),
        json!({"lines": [format!(r#"{{"id":ID,"error":null,"result":{{"content":[{text}]}},"time":3}}"#)]}),
        json!({"lines": [format!(r#"{{"jsonrpc":"2.0","id":"ID","result":{{"content":[{text}]}}}}"#)]}),
        json!({"lines": [format!(r#"{{"jsonrpc":"2.0","result":{{"content":[{text}]}}}}"#)]}),
        json!({"lines": [format!(r#"[{{"method":"notifications/newer"}},{{"jsonrpc":"2.0","id":ID,"result":{{"content":[{text}]}}}}]"#)]}),
        json!({"lines": ["starting", "{'level': 'info'}", r#"{"level":"info","id":ID}"#, r#"{"jsonrpc":"2.0","method":"notifications/progress","params":"#,
            format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"content\":[{text}]}}}}\r")]}),
    ] {
        let answer = says.at_once("say", args.clone()).await;
        assert_eq!(answer["status"], "success", "{args}: {answer}");
        assert!(
            answer["content"].to_string().contains("42 orders"),
            "{args}: {answer}"
        );
    }
    let half = says
        .at_once(
            "say",
            line(r#"{"content":[{"type":"text","text":"cut \ud83d here"}]}"#),
        )
        .await;
    assert_eq!(half["content"], "cut \u{fffd} here");
    let last = says.at_once("last", json!({})).await;
    assert_eq!(last["content"], "the last words", "{last}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call_at_once() {
    let says = Says::plain();
    let unread = "the answer of the tool `say` of the MCP server `says` cannot be read";
    for lines in [
        json!([r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"te"#]),
        json!([r#"{"jsonrpc":"2.0","result":{"content":[]"#]),
        json!([r#"{"jsonrpc":"2.0","id":ID}"#]),
        json!([r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\u12"}]}}"#]),
        json!([r#"{"jsonrpc":"2.0","id":ID,"result":{"n":1e999}}"#]),
    ] {
        let answer = says.at_once("say", json!({ "lines": lines })).await;
        failed(&answer, unread);
        failed(&answer, "The tool may have done its work");
    }
    let refused =
        json!({"lines": [r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what is this"}}"#]});
    failed(&says.at_once("say", refused).await, "what is this");
    // A line that names no call is of the one that gets no answer; the others have theirs.
    let calls = [
        (
            "say",
            json!({"lines": [r#"{"jsonrpc":"2.0","result":{"content":["#]}),
        ),
        ("say", line(r#"{"content":[{"type":"text","text":"first"}]}"#)),
        ("say", line(r#"{"content":[{"type":"text","text":"second"}]}"#)),
    ];
    let begin = Instant::now();
    let answers = says.answers(&calls).await;
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
    failed(&answers[0], unread);
    assert_eq!(
        (&answers[1]["content"], &answers[2]["content"]),
        (&json!("first"), &json!("second"))
    );
}

#[tokio::test]
async fn an_answer_that_is_too_long_ends_its_call_and_nothing_else() {
    let says = Says::plain();
    let pid_before = says.answers(&[("works", json!({"reports": 0}))]).await;
    let fits = says.at_once("long", json!({"bytes": 30 << 20})).await;
    assert_eq!(fits["status"], "success");
    for behind in [false, true] {
        let answer = says
            .at_once("long", json!({"bytes": 40 << 20, "behind": behind}))
            .await;
        failed(
            &answer,
            "the answer of the tool `long` of the MCP server `says` cannot be read: it is longer than 32 MiB",
        );
    }
    let after = says.answers(&[("works", json!({"reports": 0}))]).await;
    let count = |answers: &[Json]| {
        answers[0]["content"]
            .as_str()
            .unwrap()
            .matches("initialize\"")
            .count()
    };
    assert_eq!(
        (count(&pid_before), count(&after)),
        (1, 1),
        "it is the same server still"
    );
    assert!(after[0]["content"].to_string().len() > pid_before[0]["content"].to_string().len());
}

#[tokio::test]
async fn a_list_ends_when_it_goes_round_and_its_tools_are_used() {
    let page = |names: &[&str], next: &str| json!({"tools": tools_named(names), "nextCursor": next});
    for lists in [
        json!({"": page(&["say"], "2"), "2": page(&["find"], "2")}),
        json!({"": page(&["say"], "2"), "2": page(&["find"], "3"), "3": page(&["say", "find"], "4")}),
        json!({"": page(&["say"], "2"), "2": page(&[], "3"), "3": page(&["find"], "")}),
        // It stops in the middle.
        json!({"": page(&["say", "find"], "2"), "2": {"tools": 7}}),
        json!({"": page(&["say", "find"], "2"), "2": "none"}),
    ] {
        let says = Says::new(&lists, "refuse");
        let named = json!([{"server": "says", "tools": ["say", "find"], "approval": "none"}]);
        let begin = Instant::now();
        let answer = says
            .project
            .answers(&named, &[("say", line(r#"{"content":"here"}"#))])
            .await;
        assert_eq!(answer[0]["content"], "here", "{lists}");
        assert!(begin.elapsed().as_secs() < 30, "{lists}");
    }
}

#[tokio::test]
async fn a_tool_that_cannot_be_used_does_not_hide_the_others_and_is_named() {
    let mut tools = tools_named(&["say", "read.file", "read_file"]);
    let list = tools.as_array_mut().unwrap();
    list.push(json!({"name": "bare", "description": "no arguments"}));
    list.push(json!({"inputSchema": {}}));
    list.push(json!("odd"));
    list[0]["annotations"] = json!({"title": 7, "readOnlyHint": true});
    list[0]["outputSchema"] = json!("none");
    let says = Says::new(
        &json!({"": {"tools": tools, "ttlMs": -1, "cacheScope": "odd"}}),
        "refuse",
    );
    let answers = says
        .answers(&[
            ("say", line(r#"{"content":"here"}"#)),
            ("read_file", json!({})),
            ("read_file_2", json!({})),
            ("bare", json!({})),
        ])
        .await;
    assert_eq!(answers[0]["content"], "here");
    assert_eq!(
        (&answers[1]["status"], &answers[2]["status"]),
        (&json!("success"), &json!("success"))
    );
    failed(&answers[3], "there is no tool `bare`");
    let named = json!([{"server": "says", "tools": ["bare"]}]);
    let (_, result) = run(&says.project.graph(&named), calling(&[("x", json!({}))]), &[]).await;
    let text = result.unwrap_err().to_string();
    assert!(
        text.contains("the tool `bare` of the MCP server `says` cannot be used: it has no `inputSchema`"),
        "{text}"
    );
}

#[tokio::test]
async fn servers_of_every_age_are_spoken_to_as_they_speak() {
    let lists = json!({"": {"tools": tools_named(&["works"]), "ttlMs": 0, "cacheScope": "private"}});
    for (unknown, begun) in [
        ("refuse", "initialize"),
        ("empty", "initialize"),
        ("nonsense", "initialize"),
        ("dies", "initialize"),
        ("silent", "initialize"),
        ("modern", "server/discover"),
        ("slow", "server/discover"),
    ] {
        let says = Says::new(&lists, unknown);
        let answer = says.answers(&[("works", json!({"reports": 0}))]).await.remove(0);
        assert_eq!(answer["status"], "success", "{unknown}: {answer}");
        let seen: Vec<String> = serde_json::from_str(answer["content"].as_str().unwrap()).unwrap();
        let before = seen.iter().position(|method| method == "tools/list").unwrap();
        assert!(
            seen[..before].iter().any(|method| method == begun),
            "{unknown}: {seen:?}"
        );
        let older = seen.iter().any(|method| method == "initialize");
        assert_eq!(older, begun == "initialize", "{unknown}: {seen:?}");
    }
}

#[tokio::test]
async fn what_a_server_wants_in_the_middle_of_a_call_is_declined() {
    let lists = json!({"": {"tools": tools_named(&["asks"])}});
    for unknown in ["modern", "refuse"] {
        let says = Says::new(&lists, unknown);
        let answers = says
            .answers(&[
                ("asks", json!({})),
                ("asks", json!({"method": "sampling/createMessage"})),
                ("asks", json!({"always": true})),
            ])
            .await;
        assert_eq!(
            answers[0]["content"], r#"[{"q": {"action": "decline"}}, "s-1"]"#,
            "{unknown}"
        );
        failed(
            &answers[1],
            "refused: it wants `sampling/createMessage`, which is not offered to it",
        );
        failed(&answers[2], "it asks for more than 10 answers");
    }
}

#[tokio::test]
async fn progress_of_any_form_is_a_sign_of_life() {
    let says = Says::plain();
    let mcp = json!([{"server": "says", "approval": "none", "timeout_s": 1}]);
    let answer = says
        .project
        .answers(&mcp, &[("works", json!({"reports": 7}))])
        .await;
    assert_eq!(answer[0]["status"], "success", "{}", answer[0]);
}

#[tokio::test]
async fn an_answer_that_still_comes_in_is_waited_for() {
    let says = Says::plain();
    let limited = |server: &str| json!([{"server": server, "approval": "none", "timeout_s": 2}]);
    let answer = says
        .project
        .answers(&limited("says"), &[("drips", json!({"pieces": 9}))])
        .await;
    assert_eq!(answer[0]["content"], "all of it", "{}", answer[0]);
    let far = over_http().await;
    let good = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"all of it"}]}}"#;
    for (kind, body) in [
        ("application/json", good.to_owned()),
        ("text/event-stream", format!("data: {good}\n\n")),
    ] {
        let said = json!({"kind": kind, "body": body, "pieces": 9});
        let answer = far.answers(&limited("far"), &[("say", said)]).await;
        assert_eq!(answer[0]["content"], "all of it", "{kind}: {}", answer[0]);
    }
    // What only keeps the connection open is no part of an answer.
    let said = json!({"kind": "text/event-stream", "body": format!("{}data: {good}\n\n", ": here\n\n".repeat(20)), "pieces": "lines"});
    let answer = far.answers(&limited("far"), &[("say", said)]).await;
    failed(&answer[0], "no sign of life for 2 s");
}

/// A server over HTTP of which each call of `say` is answered with its argument `body`, of the type `kind`; with
/// `pieces` in so many, a while apart, or in lines.
async fn over_http() -> Project {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (head, body) = read_request(&mut socket).await;
                let answer = http_answer(&head, &body);
                let _ = send_in_pieces(&mut socket, &answer, pieces_wanted(&body)).await;
                socket.shutdown().await.ok();
            });
        }
    });
    Project::new(&json!({"far": {"url": format!("http://{address}/mcp")}}))
}

fn pieces_wanted(body: &str) -> Json {
    let request: Json = serde_json::from_str(body).unwrap_or_default();
    request["params"]["arguments"]["pieces"].clone()
}

async fn send_in_pieces(socket: &mut TcpStream, answer: &str, pieces: Json) -> std::io::Result<()> {
    let pieces: Vec<&[u8]> = match (&pieces, pieces.as_u64()) {
        (_, Some(count)) => answer
            .as_bytes()
            .chunks(answer.len().div_ceil(count as usize))
            .collect(),
        (Json::String(_), _) => answer.as_bytes().split_inclusive(|&byte| byte == b'\n').collect(),
        _ => return socket.write_all(answer.as_bytes()).await,
    };
    for piece in pieces {
        socket.write_all(piece).await?;
        socket.flush().await?;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    Ok(())
}

fn http_answer(head: &str, body: &str) -> String {
    let with = |status: &str, kind: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    };
    if !head.starts_with("POST") {
        return with("405 No", "text/plain", "");
    }
    let request: Json = serde_json::from_str(body).unwrap();
    let Some(id) = request.get("id") else {
        return with("202 Taken", "text/plain", "");
    };
    let result = match request["method"].as_str().unwrap() {
        "initialize" => {
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "far"}})
        }
        "tools/list" => {
            json!({"tools": [{"name": "bare"}, {"name": "say", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => {
            let args = &request["params"]["arguments"];
            let text = |field: &str| {
                args[field]
                    .as_str()
                    .unwrap_or_default()
                    .replace("ID", &id.to_string())
            };
            let body = text("body") + &"x".repeat(args["more"].as_u64().unwrap_or(0) as usize);
            return with(args["status"].as_str().unwrap_or("200 OK"), &text("kind"), &body);
        }
        // As the Python servers of the time before 2026-07-28 answer.
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Missing session"}});
            return with("400 Bad Request", "application/json", &error.to_string());
        }
    };
    with(
        "200 OK",
        "application/json",
        &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
    )
}

#[tokio::test]
async fn answers_over_http_are_read_as_those_over_pipes() {
    let project = over_http().await;
    let (json_kind, events) = ("application/json", "text/event-stream");
    let good = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"42 orders","annotations":{"audience":["system"]}},{"type":"new"}],"resultType":"complete"}}"#;
    let half =
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"42 orders \ud83d"}]}}"#;
    let message = |text: &str| format!("event: message\ndata: {text}\n\n");
    for (kind, body) in [
        (json_kind, good.to_owned()),
        (json_kind, half.to_owned()),
        ("text/plain", good.to_owned()),
        (
            json_kind,
            format!("[{{\"method\":\"notifications/newer\"}},{good}]"),
        ),
        (json_kind, good.replace("ID", "\"other\"")),
        (events, message(good)),
        (
            events,
            format!("event: ping\ndata: now\n\nid: 7\n{}", message(half)),
        ),
        (events, format!("data: no message\n\n{}", message(good))),
        (
            events,
            message(&format!("[{{\"method\":\"notifications/newer\"}},{good}]")),
        ),
    ] {
        let answer = project
            .answers(&free("far"), &[("say", json!({"kind": kind, "body": body}))])
            .await
            .remove(0);
        assert_eq!(answer["status"], "success", "{kind} {body}: {answer}");
        assert!(
            answer["content"].to_string().contains("42 orders"),
            "{kind} {body}: {answer}"
        );
    }
    let unread = "the answer of the tool `say` of the MCP server `far` cannot be read";
    let cut = &good[..60];
    for (args, cause) in [
        (json!({"kind": json_kind, "body": cut}), "it is no JSON"),
        (
            json!({"kind": "text/html", "body": "<html>"}),
            "it is of the type \"text/html\"",
        ),
        (json!({"kind": json_kind, "body": ""}), "it is empty"),
        (
            json!({"kind": json_kind, "body": r#"{"method":"notifications/newer"}"#}),
            "there is none",
        ),
        (json!({"kind": events, "body": message(cut)}), "it is no JSON"),
        (
            json!({"kind": json_kind, "body": "", "more": 33 << 20}),
            "it is longer than 32 MiB",
        ),
        (
            json!({"kind": events, "body": "data: ", "more": 33 << 20}),
            "it is longer than 32 MiB",
        ),
    ] {
        let begin = Instant::now();
        let answer = project
            .answers(&free("far"), &[("say", args.clone())])
            .await
            .remove(0);
        assert!(begin.elapsed().as_secs() < 30, "{args}");
        failed(&answer, unread);
        failed(&answer, cause);
    }
    for (status, body, said) in [
        ("500 Down", "no database", "refused: HTTP 500"),
        ("429 Later", "", "refused: HTTP 429"),
        (
            "413 Large",
            "too much",
            "refused: HTTP 413 Payload Too Large: too much",
        ),
    ] {
        let args = json!({"kind": "text/plain", "status": status, "body": body});
        failed(&project.answers(&free("far"), &[("say", args)]).await[0], said);
    }
    let refused = json!({"kind": json_kind, "status": "400 No", "body": r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not today"}}"#});
    failed(
        &project.answers(&free("far"), &[("say", refused)]).await[0],
        "refused: not today",
    );
}

/// Servers written with the official SDKs of both generations, over pipes and over HTTP, with sessions and without: how
/// each is declared, and what keeps it running.
fn official(servers: &McpServers) -> Vec<(&'static str, Json, Option<superstep_test_servers::McpOverHttp>)> {
    let script = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name);
        path.to_str().unwrap().to_owned()
    };
    let (python, node) = (script("mcp_sums.py"), script("mcp_sums.mjs"));
    let mut all = Vec::new();
    for is_first in [true, false] {
        let program = servers.interpreter(is_first);
        all.push(("python", json!({"command": program, "args": [python]}), None));
        for args in [vec![&*python, "PORT"], vec![&*python, "PORT", "stateless"]] {
            // Without a session, the first generation waits for ever for what it asks in the middle of a call.
            let asks = !(is_first && args.len() > 2);
            let http = servers.serving(&program, &args);
            let kit = if asks { "python" } else { "python, silent" };
            all.push((kit, json!({"url": http.url()}), Some(http)));
        }
    }
    let program = Path::new("node");
    for legacy in [None, Some("reject")] {
        let args: Vec<&str> = [&*node, "-"].into_iter().chain(legacy).collect();
        all.push((
            "node",
            json!({"command": "node", "args": args, "env": {"SERVERS": servers.folder()}}),
            None,
        ));
        let args: Vec<&str> = [&*node, "PORT"].into_iter().chain(legacy).collect();
        let http = servers.serving(program, &args);
        all.push(("node", json!({"url": http.url()}), Some(http)));
    }
    all
}

#[tokio::test]
async fn servers_of_the_official_kits_are_spoken_to_in_every_way() {
    let Some(servers) = McpServers::find() else { return };
    for (kit, declared, http) in official(&servers) {
        let project = Project::new(&json!({"sums": declared}));
        let mcp = json!([{"server": "sums", "approval": "none", "timeout_s": 10}]);
        let calls = [("add", json!({"a": 2, "b": 40})), ("fail", json!({}))];
        let answers = project.answers(&mcp, &calls).await;
        assert_eq!(
            answers[0]["artifact"]["structured_content"]["sum"], 42,
            "{declared}: {}",
            answers[0]
        );
        // Not every one tells what went wrong.
        assert_eq!(answers[1]["status"], "error", "{declared}: {}", answers[1]);
        if kit == "node" {
            let link = project.answers(&mcp, &[("link", json!({}))]).await;
            assert_eq!(
                link[0]["content"], "[resource all at sums://all: every sum]",
                "{declared}"
            );
            // It either is declined, or the server knows that this client is not asked.
            let asked = project.answers(&mcp, &[("ask", json!({}))]).await;
            let said = asked[0]["content"].to_string();
            assert!(
                said.contains("decline") || said.contains("elicitation"),
                "{declared}: {said}"
            );
        } else {
            if kit != "python, silent" {
                let asked = project.answers(&mcp, &[("ask", json!({}))]).await;
                assert_eq!(asked[0]["status"], "success", "{declared}: {}", asked[0]);
            }
            let reading = json!([{"server": "sums", "approval": "none", "resources": true}]);
            let read = [
                ("sums_list_resources", json!({})),
                ("sums_read_resource", json!({"uri": "sums://all"})),
            ];
            let read = project.answers(&reading, &read).await;
            assert!(
                read[0]["content"].to_string().contains("sums://all"),
                "{declared}: {}",
                read[0]
            );
            assert_eq!(read[1]["content"], "1 + 1 = 2", "{declared}");
            // Each report is a sign of life, in every revision.
            let short = json!([{"server": "sums", "approval": "none", "timeout_s": 1}]);
            let worked = project.answers(&short, &[("work", json!({"steps": 6}))]).await;
            assert_eq!(worked[0]["content"], "done", "{declared}: {}", worked[0]);
        }
        // What nobody waits for any more is ended, where the server can be told.
        if kit != "python, silent" {
            let file = project.path().join("taken-back");
            let short = json!([{"server": "sums", "approval": "none", "timeout_s": 1}]);
            let hung = project.answers(&short, &[("hang", json!({"file": file}))]).await;
            failed(&hung[0], "no sign of life for 1 s");
            wait_until("the end of the call", || file.exists()).await;
        }
        drop(http);
    }
}
