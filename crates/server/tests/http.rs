//! The HTTP host: who is let in, what is served, and that commands and events come through a real socket.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

use std::fs;
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
async fn over_socket(address: std::net::SocketAddr, request: String) -> String {
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
async fn served(dir: &Path) -> (std::net::SocketAddr, tokio::sync::oneshot::Sender<()>) {
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

fn info(address: std::net::SocketAddr) -> String {
    format!(
        "POST /rpc/app.info HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer right\r\nConnection: close\r\n\
         Content-Length: 2\r\n\r\n{{}}"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_that_say_nothing_keep_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    let (address, _stop) = served(dir.path()).await;
    let mut silent = Vec::new();
    for at in 0..400 {
        let mut socket = TcpStream::connect(address).await.unwrap();
        if at % 2 == 0 {
            socket
                .write_all(b"POST /rpc/app.info HTTP/1.1\r\nHost: ")
                .await
                .unwrap();
        }
        silent.push(socket);
    }
    let asked = tokio::time::timeout(Duration::from_secs(10), over_socket(address, info(address)));
    assert!(asked.await.unwrap().starts_with("HTTP/1.1 200"));
    // Most of them are sent away; each has a moment for what it still sends, so the last ones end after the answer.
    let sent_away = async {
        let mut open = silent;
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
    // Well below the ten seconds after which an unfinished request ends by itself.
    let waited = tokio::time::timeout(Duration::from_secs(5), sent_away).await;
    assert!(waited.is_ok(), "more than 128 stay");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_at_once_are_answered() {
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

    let call = async |command: &str, body: Value| -> Value {
        let body = body.to_string();
        let request = format!(
            "POST /rpc/{command} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer right\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = over_socket(address, request).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap()
    };
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

    let watch = async {
        let (mut seq, mut seen) = (0, Vec::new());
        loop {
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
                    return seen;
                }
            }
        }
    };
    let seen = tokio::time::timeout(Duration::from_secs(20), watch)
        .await
        .unwrap();
    for kind in ["thread", "checkpoint", "taskStarted", "taskEnded", "inbox"] {
        assert!(seen.iter().any(|s| s == kind), "no {kind} among {seen:?}");
    }

    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), server)
        .await
        .expect("it stops although a stream is open")
        .unwrap()
        .unwrap();
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nobody listens any more"
    );
}
