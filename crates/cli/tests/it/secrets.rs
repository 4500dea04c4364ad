//! A key that is sent to a model server shows nowhere, though the server gives it back in every way it can: in text, in
//! reasoning, in the call of a tool, in an error.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use serde_json::json;

use crate::User;

const KEY: &str = "sk-marked-5e1f\"0c77/b+a2";

fn request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length = length
                .split("content-length:")
                .nth(1)
                .and_then(|rest| rest.split("\r\n").next());
            let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        match socket.read(&mut chunk) {
            Ok(0) | Err(_) => return text,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}

/// Gives back the header it was sent.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let asked = request(&mut socket);
            let line = asked
                .lines()
                .find(|line| line.to_lowercase().starts_with("authorization:"));
            let key = line
                .unwrap_or_default()
                .split("Bearer ")
                .nth(1)
                .unwrap_or("no key")
                .trim()
                .to_owned();
            assert_eq!(key, KEY, "the key is sent");
            let chunk = |delta: serde_json::Value| {
                let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
                format!(
                    "data: {}\n\n",
                    json!({"id": "c", "model": format!("m-{key}"), "choices": [choice]})
                )
            };
            let answer = if asked.contains("\"refused\"") {
                let body =
                    json!({"error": {"message": format!("bad key {key}, or {}", "sk-marked-5e1f%220c77%2Fb%2Ba2")}})
                        .to_string();
                format!(
                    "HTTP/1.1 400 No\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                )
            } else {
                let args = json!({"text": format!("args {key}")}).to_string();
                let call = json!([{"index": 0, "id": format!("id-{key}"), "type": "function", "function": {"name": "note", "arguments": args}}]);
                let end = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
                let message = [
                    chunk(json!({"role": "assistant", "reasoning_content": format!("I think of {key}.")})),
                    chunk(json!({"content": format!("Your key is {key}, in base ")})),
                    chunk(json!({"content": format!("{key}{key}")})),
                    chunk(json!({"tool_calls": call})),
                ];
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{}data: {end}\n\ndata: [DONE]\n\n",
                    message.concat()
                )
            };
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    url
}

/// Every form in which the key must not stand.
fn found_in(bytes: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    ["marked-5e1f", "0c77/b+a2", "0c77%2Fb"]
        .into_iter()
        .find(|part| text.contains(part))
}

fn files(folder: &Path, seen: &mut impl FnMut(&Path)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, seen),
            false => seen(&path),
        }
    }
}

/// A graph whose models and tools give the key back.
fn graph(user: &User) -> String {
    user.graph(
        "graph.json",
        &json!({
            "format": "superstep/1", "name": "Keys",
            "state": {"messages": {"type": "array", "reducer": "add_messages"}, "more": {"type": "string"}},
            "nodes": {
                "ask": {"kind": "model", "config": {"model": "openai::given", "messages": "messages", "into": "messages", "tools_of": "act"}},
                "act": {"kind": "tools", "config": {"messages": "messages", "tools": [{
                    "name": "note", "description": "Notes.", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
                    "javascript": {"source": "console.log(args.text); return args.text;"}}]}},
                "again": {"kind": "model", "config": {"model": "openai::refused", "prompt": "go", "into": "more"}},
            },
            "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "act"}, {"from": "act", "to": "again"}, {"from": "again", "to": "__end__"}],
        }),
    )
}

#[test]
fn a_key_that_comes_back_shows_nowhere() {
    let user = User::new();
    let path = graph(&user);
    let url = server();
    let call = |args: &[&str]| {
        let mut command = user.command(args);
        command
            .env("OPENAI_BASE_URL", &url)
            .env("OPENAI_API_KEY", KEY)
            .env("SUPERSTEP_LOG", "trace");
        command.output().unwrap()
    };
    let input = r#"{"messages": [{"role": "user", "content": "go"}]}"#;
    let exported = user.dir.path().join("exported.json");
    let exported = exported.to_str().unwrap();
    let file = [
        "--db",
        &format!("file:{}", user.dir.path().join("plain").display()),
    ]
    .map(str::to_owned);
    let calls: [&[&str]; 6] = [
        &[
            "run",
            &path,
            "--thread",
            "t",
            "--trust",
            "--input",
            input,
            "--stream",
            "values,updates,custom,messages,tasks,checkpoints,debug",
        ],
        &[
            "run", &path, "--thread", "u", "--trust", "--input", input, &file[0], &file[1],
        ],
        &["state", "t", "--json"],
        &["history", "t", "--json"],
        &["threads", "export", "t", "-o", exported],
        &["trust", &path],
    ];
    let mut written = 0;
    for args in calls {
        let done = call(args);
        for (what, bytes) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
            written += bytes.len();
            assert_eq!(
                found_in(bytes),
                None,
                "{args:?} {what}: {}",
                String::from_utf8_lossy(bytes)
            );
        }
        if args[0] == "run" {
            assert_eq!(
                done.status.code(),
                Some(1),
                "the second model refuses: {}",
                String::from_utf8_lossy(&done.stderr)
            );
            let all = [done.stdout, done.stderr].concat();
            let text = String::from_utf8_lossy(&all);
            assert!(
                text.contains("bad key [secret]"),
                "it is hidden and not lost: {text}"
            );
        }
    }
    let mut read = 0;
    files(user.dir.path(), &mut |path| {
        let bytes = std::fs::read(path).unwrap();
        read += 1;
        written += bytes.len();
        assert_eq!(found_in(&bytes), None, "{}", path.display());
    });
    assert!(std::fs::read_to_string(exported).unwrap().contains("[secret]"));
    println!("{written} bytes of output and of {read} files were searched");
}

/// The server is asked as a browser asks; what it answers, what it writes down and its log are looked through.
#[cfg(unix)]
#[test]
fn a_key_shows_neither_in_answers_nor_in_the_log_of_the_server() {
    use std::io::{BufRead, BufReader};
    let user = User::new();
    let path = graph(&user);
    let url = server();
    let trusted = user
        .command(&["trust", &path, "--all"])
        .env("OPENAI_BASE_URL", &url)
        .output()
        .unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    let log = user.dir.path().join("log.txt");
    let mut child = user
        .command(&["serve", "--port", "0", "--token", "token-1"])
        .env("OPENAI_BASE_URL", &url)
        .env("OPENAI_API_KEY", KEY)
        .env("SUPERSTEP_LOG", "trace")
        .stdout(std::process::Stdio::piped())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let line = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .next()
        .unwrap()
        .unwrap();
    let port: u16 = line
        .strip_prefix("http://127.0.0.1:")
        .and_then(|rest| rest.split('/').next())
        .unwrap()
        .parse()
        .unwrap();
    let mut answers = String::new();
    let mut ask = |command: &str, body: serde_json::Value| -> serde_json::Value {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let body = body.to_string();
        let head = format!(
            "POST /rpc/{command} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nAuthorization: Bearer token-1\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answers.push_str(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{command}: {answer}");
        serde_json::from_str(body).unwrap()
    };
    let graph = ask("graph.open", json!({"path": path}))["graphId"].clone();
    let input = json!({"messages": [{"role": "user", "content": "go"}]});
    let run = ask(
        "run.start",
        json!({"graphId": graph, "action": {"type": "input", "input": input}}),
    );
    let thread = json!({"threadId": run["threadId"]});
    let began = std::time::Instant::now();
    let status = loop {
        let view = ask("thread.get", thread.clone());
        if view["status"] != "running" {
            break view["status"].clone();
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{view}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert_eq!(status, "failed", "the second model refuses");
    for (command, request) in [
        ("thread.checkpoints", thread),
        ("connections.list", json!({})),
        ("trust.list", json!({})),
        ("thread.list", json!({})),
    ] {
        ask(command, request);
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(found_in(answers.as_bytes()), None, "{answers}");
    let reported = std::fs::read_to_string(&log).unwrap();
    assert!(reported.lines().count() > 20, "it logs what it does: {reported}");
    assert!(
        reported.contains("[secret]"),
        "the request to the model is logged, without the key"
    );
    let mut read = 0;
    files(user.dir.path(), &mut |path| {
        read += 1;
        assert_eq!(
            found_in(&std::fs::read(path).unwrap()),
            None,
            "{}",
            path.display()
        );
    });
    println!(
        "{} bytes of answers, {} of the log and {read} files were searched",
        answers.len(),
        reported.len()
    );
}
