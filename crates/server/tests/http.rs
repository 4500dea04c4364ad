//! The HTTP host: who is let in, what is served, and that commands and events come through a real socket.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use serde_json::{Value, json};
use superstep_server::{Access, ServeOptions, router, serve};
use superstep_workbench::{Options, Workbench};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tower::ServiceExt;

async fn workbench(dir: &Path) -> Arc<Workbench> {
    Workbench::open(Options::new(dir.join("data"))).await.unwrap()
}

fn ui(dir: &Path) -> std::path::PathBuf {
    let ui = dir.join("ui");
    fs::create_dir_all(ui.join("assets")).unwrap();
    fs::write(ui.join("index.html"), "<!doctype html><title>page</title>").unwrap();
    fs::write(ui.join("assets/app-1.js"), "export {}").unwrap();
    fs::write(dir.join("secret.txt"), "secret").unwrap();
    ui
}

async fn app(dir: &Path) -> Router {
    router(
        workbench(dir).await,
        Access::new(7000, Some("right".into()), Vec::new()),
        Some(ui(dir)),
    )
}

async fn send(app: &Router, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
    let response = app.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 1 << 24).await.unwrap();
    (
        parts.status,
        parts.headers,
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

fn get(address: &str) -> axum::http::request::Builder {
    Request::get(address).header(header::HOST, "127.0.0.1:7000")
}

fn rpc(command: &str, body: &str) -> Request<Body> {
    Request::post(format!("/rpc/{command}"))
        .header(header::HOST, "localhost:7000")
        .header(header::AUTHORIZATION, "Bearer right")
        .body(Body::from(body.to_owned()))
        .unwrap()
}

#[tokio::test]
async fn nobody_comes_in_without_the_token_or_from_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path()).await;
    let command = || Request::post("/rpc/app.info").header(header::HOST, "127.0.0.1:7000");

    let (status, _, body) = send(&app, command().body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let problem: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(problem["code"], "unauthorized");
    for wrong in ["Bearer wrong", "Bearer righ", "right", "Bearer "] {
        let request = command()
            .header(header::AUTHORIZATION, wrong)
            .body(Body::empty())
            .unwrap();
        assert_eq!(
            send(&app, request).await.0,
            StatusCode::UNAUTHORIZED,
            "{wrong:?} was let in"
        );
    }
    let (status, ..) = send(&app, get("/events").body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);

    let elsewhere = [
        (header::ORIGIN, "http://evil.example"),
        (header::ORIGIN, "http://127.0.0.1:7001"),
        (header::ORIGIN, "null"),
    ];
    for (name, value) in elsewhere {
        let request = command()
            .header(header::AUTHORIZATION, "Bearer right")
            .header(name, value);
        let (status, ..) = send(&app, request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{value} was let in");
    }
    let rebound = Request::get("/")
        .header(header::HOST, "evil.example:7000")
        .body(Body::empty())
        .unwrap();
    assert_eq!(send(&app, rebound).await.0, StatusCode::FORBIDDEN);

    let own = command()
        .header(header::AUTHORIZATION, "Bearer right")
        .header(header::ORIGIN, "http://127.0.0.1:7000");
    assert_eq!(
        send(&app, own.body(Body::empty()).unwrap()).await.0,
        StatusCode::OK
    );
}

#[tokio::test]
async fn the_token_is_no_cookie_and_no_part_of_an_address() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path()).await;
    for address in ["/?token=right", "//evil.example/?token=right", "/"] {
        let (status, headers, _) = send(&app, get(address).body(Body::empty()).unwrap()).await;
        assert!(
            !status.is_redirection() && headers.get(header::SET_COOKIE).is_none(),
            "{address}"
        );
    }
    // What another server on this machine could have been shown lets nobody in.
    for cookie in ["superstep_7000=right", "token=right"] {
        let request = Request::post("/rpc/app.info")
            .header(header::HOST, "127.0.0.1:7000")
            .header(header::COOKIE, cookie);
        let (status, ..) = send(&app, request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{cookie}");
    }
    // Pages open the stream with the token as a protocol, in hex.
    let events = |protocols: &str| {
        get("/events")
            .header(header::SEC_WEBSOCKET_PROTOCOL, protocols)
            .body(Body::empty())
            .unwrap()
    };
    let (status, ..) = send(&app, events("superstep, superstep.token.7269676874")).await;
    assert_ne!(status, StatusCode::UNAUTHORIZED);
    for wrong in [
        "superstep",
        "superstep.token.right",
        "superstep.token.72696768",
        "superstep.token.7",
        "superstep.token.ffff",
    ] {
        let (status, ..) = send(&app, events(wrong)).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{wrong}");
    }
}

#[tokio::test]
async fn a_header_that_comes_twice_is_refused_and_every_answer_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path()).await;
    for name in [header::HOST, header::ORIGIN] {
        let request = rpc("app.info", "{}");
        let (mut parts, body) = request.into_parts();
        let own = match name {
            header::HOST => "localhost:7000",
            _ => "http://localhost:7000",
        };
        parts.headers.insert(&name, own.parse().unwrap());
        parts
            .headers
            .append(&name, "http://evil.example".parse().unwrap());
        let (status, ..) = send(&app, Request::from_parts(parts, body)).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{name}");
    }
    for request in [
        rpc("app.info", "{}"),
        rpc("no.such", "{}"),
        get("/healthz").body(Body::empty()).unwrap(),
        get("/none.js").body(Body::empty()).unwrap(),
    ] {
        let (_, headers, _) = send(&app, request).await;
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY));
    }
}

#[tokio::test]
async fn a_page_of_any_size_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path()).await;
    for command in [
        "thread.list",
        "inbox.list",
        "thread.checkpoints",
        "storage.usage",
        "store.list",
        "thread.nested",
    ] {
        let body = json!({
            "limit": u32::MAX, "threadId": "none", "prefix": [],
            "checkpointId": "none", "path": [], "ns": "", "task": "none",
        });
        let body = body.to_string();
        let (status, _, answer) = send(&app, rpc(command, &body)).await;
        assert!(status.as_u16() < 500, "{command}: {answer}");
    }
}

#[tokio::test]
async fn files_are_served_with_type_and_policy_and_nothing_outside() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path()).await;
    let (status, headers, body) = send(&app, get("/").body(Body::empty()).unwrap()).await;
    assert_eq!((status, body.contains("<title>page")), (StatusCode::OK, true));
    assert!(
        headers[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap()
            .starts_with("default-src 'self'")
    );
    let (_, headers, _) = send(&app, get("/assets/app-1.js").body(Body::empty()).unwrap()).await;
    assert_eq!(headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
    assert!(
        headers[header::CACHE_CONTROL]
            .to_str()
            .unwrap()
            .contains("immutable")
    );
    let (_, headers, body) = send(&app, get("/threads/1").body(Body::empty()).unwrap()).await;
    assert!(
        body.contains("<title>page") && headers[header::CACHE_CONTROL] == "no-cache",
        "any address is the page"
    );
    for outside in [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/none.js",
    ] {
        let (status, _, body) = send(&app, get(outside).body(Body::empty()).unwrap()).await;
        assert_eq!(
            (status, body.contains("secret\n") || body == "secret"),
            (StatusCode::NOT_FOUND, false),
            "{outside}"
        );
    }
    let post = Request::post("/")
        .header(header::HOST, "127.0.0.1:7000")
        .body(Body::empty())
        .unwrap();
    assert_eq!(send(&app, post).await.0, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(
        send(&app, get("/healthz").body(Body::empty()).unwrap()).await.2,
        "ok\n"
    );
}

#[tokio::test]
async fn problems_have_a_status() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path()).await;
    let status = async |command: &str, body: &str| send(&app, rpc(command, body)).await.0.as_u16();
    assert_eq!(status("app.info", "{}").await, 200);
    assert_eq!(status("app.info", "{ nonsense").await, 400);
    assert_eq!(status("app.nothing", "{}").await, 400);
    assert_eq!(status("graph.get", r#"{"graphId":"none"}"#).await, 404);
    let (_, _, body) = send(&app, rpc("graph.new", r#"{"name":"A"}"#)).await;
    let graph: Value = serde_json::from_str(&body).unwrap();
    let stale = json!({"graphId": graph["graphId"], "baseRev": 9, "ops": []}).to_string();
    assert_eq!(status("graph.apply", &stale).await, 409);
}

/// One HTTP request over a socket, read to the end.
async fn over_socket(address: SocketAddr, request: String) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The payload of the next text frame; the server's frames are not masked.
async fn frame(socket: &mut TcpStream) -> String {
    loop {
        let mut head = [0; 2];
        socket.read_exact(&mut head).await.unwrap();
        let length = match head[1] & 0x7f {
            126 => socket.read_u16().await.unwrap() as usize,
            127 => usize::try_from(socket.read_u64().await.unwrap()).unwrap(),
            short => short as usize,
        };
        let mut payload = vec![0; length];
        socket.read_exact(&mut payload).await.unwrap();
        if head[0] & 0x0f == 1 {
            return String::from_utf8(payload).unwrap();
        }
    }
}

/// A server on a socket, which stops when the sender is dropped.
async fn served(dir: &Path) -> (SocketAddr, tokio::sync::oneshot::Sender<()>) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let options = ServeOptions {
        token: Some("right".into()),
        ..ServeOptions::default()
    };
    let dir = dir.to_owned();
    // On threads of its own: those of the test are busy asking.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let ready = move |served: &superstep_server::Served| ready.send(served.address).unwrap();
            serve(workbench(&dir).await, options, ready, async move {
                drop(stopped.await)
            })
            .await
        })
    });
    (is_ready.await.unwrap(), stop)
}

/// Held by a test with many connections: all tests share the descriptors of one process.
static CROWD: Mutex<()> = Mutex::const_new(());

/// So long nothing is waited for that happens; the machine may be busy.
const SOON: Duration = Duration::from_secs(120);

fn post(address: SocketAddr, command: &str, body: &str, connection: &str) -> String {
    format!(
        "POST /rpc/{command} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer right\r\nConnection: {connection}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn info(address: SocketAddr) -> String {
    post(address, "app.info", "{}", "close")
}

/// What a command answers over a socket.
async fn ask(address: SocketAddr, command: &str, body: Value) -> Value {
    let answer = over_socket(address, post(address, command, &body.to_string(), "close")).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{command}: {answer}");
    serde_json::from_str(body).unwrap()
}

/// Waits until the server has closed a connection.
async fn is_closed(socket: &mut TcpStream) {
    let mut byte = [0];
    let read = tokio::time::timeout(SOON, socket.read(&mut byte)).await;
    assert!(matches!(read, Ok(Ok(0) | Err(_))), "it stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_that_say_half_a_request_keep_nobody_out() {
    let _crowd = CROWD.lock().await;
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let mut strangers = Vec::new();
    for _ in 0..400 {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let half = b"POST /rpc/app.info HTTP/1.1\r\nHost: ";
        socket.write_all(half).await.unwrap();
        strangers.push(socket);
    }
    let answer = tokio::time::timeout(SOON, over_socket(address, info(address)));
    assert!(answer.await.unwrap().starts_with("HTTP/1.1 200"));
    let sent_away = async {
        let mut open = strangers;
        while open.len() > 128 {
            let mut stay = Vec::new();
            for mut socket in open {
                let mut byte = [0];
                let read = tokio::time::timeout(Duration::from_millis(2), socket.read(&mut byte));
                if read.await.is_err() {
                    stay.push(socket);
                }
            }
            open = stay;
        }
    };
    let waited = tokio::time::timeout(SOON, sent_away).await;
    assert!(waited.is_ok(), "more than 128 stay");
}

/// The door has room for a quarter of the descriptors that the server has.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_that_say_nothing_go_when_their_places_are_needed_the_oldest_first() {
    const MORE: usize = 50;
    let _crowd = CROWD.lock().await;
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let room = usize::try_from(descriptors.unwrap().min(8192)).unwrap() / 4;
    let mut silent = Vec::new();
    for _ in 0..room {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    assert!(
        over_socket(address, info(address))
            .await
            .starts_with("HTTP/1.1 200")
    );
    for _ in 0..MORE {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    for socket in &mut silent[..MORE] {
        is_closed(socket).await;
    }
    assert!(
        over_socket(address, info(address))
            .await
            .starts_with("HTTP/1.1 200")
    );
    // Two more than came in later: the two requests were silent when they came.
    for (at, socket) in silent.iter_mut().enumerate().skip(MORE + 2) {
        let read = socket.try_read(&mut [0]);
        let is_open = read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(is_open, "{at} of {room} was sent away");
    }
    // The longest silence is no fault.
    let last = silent.last_mut().unwrap();
    last.write_all(info(address).as_bytes()).await.unwrap();
    let mut answer = String::new();
    last.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_at_once_are_answered() {
    let _crowd = CROWD.lock().await;
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let asked: Vec<_> = (0..1000)
        .map(|_| tokio::spawn(over_socket(address, info(address))))
        .collect();
    for asked in asked {
        let answer = asked.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

/// On a busy machine a client may connect long before it comes to send its request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clients_that_are_slow_to_speak_are_answered() {
    let _crowd = CROWD.lock().await;
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let mut clients = Vec::new();
    for _ in 0..1000 {
        clients.push(TcpStream::connect(address).await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let speak = |mut client: TcpStream| async move {
        client.write_all(info(address).as_bytes()).await?;
        let mut answer = String::new();
        client.read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answers = futures::future::join_all(clients.into_iter().map(speak)).await;
    let is_answer = |answer: &std::io::Result<String>| {
        answer
            .as_ref()
            .is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    };
    let answered = answers.iter().filter(|answer| is_answer(answer)).count();
    assert_eq!(answered, 1000, "answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_keep_their_connections_make_way_for_others() {
    let _crowd = CROWD.lock().await;
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let request = post(address, "app.info", "{}", "keep-alive");
    let asked = (0..700).map(|_| async {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            head.push(socket.read_u8().await.unwrap().into());
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        socket.read_exact(&mut body).await.unwrap();
        // Nobody closes a connection before all are answered.
        socket
    });
    futures::future::join_all(asked).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_a_thousand_ask_for_at_once_is_answered_to_all() {
    let _crowd = CROWD.lock().await;
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let graph = ask(address, "graph.new", json!({"name": "Desk"})).await["graphId"].clone();
    let op = |id: &str, to: Value| json!({"id": id, "from": null, "to": to});
    let ops = json!([
        op("key:word", json!({"type": "string"})),
        op(
            "node:ask",
            json!({"kind": "ask", "config": {"question": "Which word?", "into": "word"}})
        ),
        op("edge:1", json!({"from": "__start__", "to": "ask"})),
    ]);
    ask(
        address,
        "graph.apply",
        json!({"graphId": graph, "baseRev": 0, "ops": ops}),
    )
    .await;
    for _ in 0..20 {
        let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
        ask(address, "run.start", start).await;
    }
    let questions = |inbox: &Value| inbox["questions"].as_array().unwrap().len();
    while questions(&ask(address, "inbox.list", json!({})).await) < 20 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let asked: Vec<_> = (0..1000)
        .map(|_| tokio::spawn(ask(address, "inbox.list", json!({}))))
        .collect();
    for asked in asked {
        assert_eq!(questions(&asked.await.unwrap()), 20);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_many_share_is_not_older_than_the_question() {
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let others: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn(async move {
                loop {
                    ask(address, "app.info", json!({})).await;
                }
            })
        })
        .collect();
    for _ in 0..20 {
        let graph = ask(address, "graph.new", json!({"name": "New"})).await["graphId"].clone();
        let info = ask(address, "app.info", json!({})).await;
        let open = info["open"].as_array().unwrap();
        assert!(
            open.iter().any(|open| open["graphId"] == graph),
            "{graph} is open"
        );
    }
    for other in others {
        other.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_started_and_watched_over_a_socket_and_the_server_stops() {
    let dir = tempfile::tempdir().unwrap();
    let workbench = workbench(dir.path()).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let options = ServeOptions {
        ui_dir: Some(ui(dir.path())),
        token: Some("right".into()),
        ..ServeOptions::default()
    };
    let server = tokio::spawn(serve(
        workbench,
        options,
        move |served| ready.send(served.clone()).unwrap(),
        async move {
            let _ = stopped.await;
        },
    ));
    let served = is_ready.await.unwrap();
    assert!(served.url.ends_with("/#token=right") && served.address.ip().is_loopback());

    let address = served.address;
    let mut events = TcpStream::connect(address).await.unwrap();
    let upgrade = format!(
        "GET /events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer right\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    events.write_all(upgrade.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(events.read_u8().await.unwrap());
    }
    assert!(
        answer.starts_with(b"HTTP/1.1 101"),
        "{}",
        String::from_utf8_lossy(&answer)
    );

    let call = async |command: &str, body: Value| ask(address, command, body).await;
    let graph = call("graph.new", json!({"name": "One"})).await;
    let op = |id: &str, to: Value| json!({"id": id, "from": null, "to": to});
    let ops = json!([
        op("key:n", json!({"type": "integer", "reducer": "add"})),
        op("node:a", json!({"kind": "assign", "config": {"set": {"n": "1"}}})),
        op("edge:1", json!({"from": "__start__", "to": "a"})),
    ]);
    call(
        "graph.apply",
        json!({"graphId": graph["graphId"], "baseRev": 0, "ops": ops}),
    )
    .await;
    let run = json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {}}});
    let run = call("run.start", run).await;

    let kinds = ["thread", "checkpoint", "taskStarted", "taskEnded", "inbox"];
    let watch = async {
        let (mut seq, mut seen, mut has_ended) = (0, Vec::<String>::new(), false);
        while !has_ended || !kinds.iter().all(|kind| seen.iter().any(|seen| seen == kind)) {
            let batch: Value = serde_json::from_str(&frame(&mut events).await).unwrap();
            assert_eq!(batch["seq"], seq + 1, "no batch is missing");
            seq += 1;
            for event in batch["events"].as_array().unwrap() {
                seen.push(event["type"].as_str().unwrap().to_owned());
                if event["type"] == "run" && event["run"]["endedAt"].is_string() {
                    assert_eq!(
                        (&event["run"]["runId"], &event["run"]["status"]),
                        (&run["runId"], &json!("done"))
                    );
                    has_ended = true;
                }
            }
        }
    };
    let watched = tokio::time::timeout(SOON, watch).await;
    assert!(watched.is_ok(), "something of {kinds:?} is missing");

    stop.send(()).unwrap();
    tokio::time::timeout(SOON, server)
        .await
        .expect("it stops although a stream is open")
        .unwrap()
        .unwrap();
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nobody listens any more"
    );
}
