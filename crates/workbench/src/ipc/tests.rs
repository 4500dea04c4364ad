//! Two programs on one data folder, and what strangers may send to a socket.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::*;
use crate::base::instance;
use crate::wire::{AppEvent, RunStatus};
use crate::{Options, Workbench};

/// So long nothing is waited for that happens; the machine may be busy.
const SOON: Duration = Duration::from_secs(120);

async fn open(dir: &Path) -> Arc<Workbench> {
    let options = Options::new(dir.to_owned());
    Workbench::open(options).await.unwrap()
}

/// Starts a run of a model that says a word every 100 ms, on a new thread.
async fn speak(workbench: &Arc<Workbench>) -> String {
    let words: Vec<String> = (0..100).map(|n| format!("word{n}")).collect();
    let graph = workbench
        .call("graph.new", json!({"name": "Talk"}))
        .await
        .unwrap();
    let records = json!({
        "key:said": {"type": "string"},
        "node:talk": {"kind": "model", "config": {
            "model": "scripted", "prompt": "Talk", "into": "said", "pace_ms": 100, "script": [{"say": words.join(" ")}]
        }},
        "edge:1": {"from": "__start__", "to": "talk"},
        "edge:2": {"from": "talk", "to": "__end__"}
    });
    let ops: Vec<Json> = (records.as_object().unwrap().iter())
        .map(|(id, value)| json!({"id": id, "from": null, "to": value}))
        .collect();
    let apply = json!({"graphId": graph["graphId"], "baseRev": 0, "ops": ops});
    let applied = workbench.call("graph.apply", apply).await.unwrap();
    assert_eq!(applied["diagnostics"], json!([]));
    let start = json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {}}});
    let run = workbench.call("run.start", start).await.unwrap();
    run["threadId"].as_str().unwrap().to_owned()
}

/// Reads events until one is wanted.
async fn until<T>(events: &mut Subscription, wanted: impl Fn(&AppEvent) -> Option<T>) -> (T, Vec<AppEvent>) {
    let mut seen = Vec::new();
    let end = tokio::time::Instant::now() + SOON;
    loop {
        let batch = tokio::time::timeout_at(end, events.next()).await;
        let batch = batch.unwrap_or_else(|_| panic!("it does not happen; only {seen:#?}"));
        for event in batch.unwrap().events {
            let found = wanted(&event);
            seen.push(event);
            if let Some(found) = found {
                return (found, seen);
            }
        }
    }
}

fn text(event: &AppEvent) -> Option<String> {
    match event {
        AppEvent::Token { piece, .. } => Some(piece.text().to_owned()),
        _ => None,
    }
}

fn ended(event: &AppEvent) -> Option<crate::wire::RunView> {
    match event {
        AppEvent::Run { run } if run.ended_at.is_some() => Some(run.clone()),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_another_program_come_and_a_stop_reaches_it() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (open(dir.path()).await, open(dir.path()).await);
    let (mut own, mut other) = (one.subscribe(), two.subscribe());
    let thread = speak(&one).await;
    let (_, seen) = until(&mut other, text).await;
    let run = seen.iter().find_map(|event| match event {
        AppEvent::Run { run } => Some(run),
        _ => None,
    });
    let run = run.expect("the run is reported before its tokens");
    assert_eq!((&run.thread_id, run.status), (&thread, RunStatus::Running));
    assert!(
        run.program
            .as_ref()
            .is_some_and(|program| program.contains("process")),
        "{run:?}"
    );
    assert!(
        seen.iter()
            .any(|event| matches!(event, AppEvent::TaskStarted { .. })),
        "{seen:?}"
    );

    // What is read, and what comes after its mark, are together all that was streamed.
    let mut late = two.subscribe();
    let read = json!({"threadId": thread, "mark": "here"});
    let kept = two.call("thread.events", read).await.unwrap();
    let is_mark = |event: &AppEvent| matches!(event, AppEvent::Mark { mark } if mark == "here").then_some(());
    until(&mut late, is_mark).await;
    let kept: Vec<AppEvent> = serde_json::from_value(kept["events"].clone()).unwrap();
    let mut streamed: String = kept.iter().filter_map(text).collect();
    for _ in 0..3 {
        streamed += &until(&mut late, text).await.0;
    }
    let all: String = (0..100).map(|n| format!("word{n} ")).collect();
    assert!(
        streamed.len() > 20 && all.starts_with(streamed.trim_end()),
        "{streamed:?}"
    );
    let shown = two
        .call("thread.snapshot", json!({"threadId": thread}))
        .await
        .unwrap();
    assert_eq!(shown["tasks"][0]["status"], "running", "{}", shown["tasks"]);

    two.call("run.stop", json!({"threadId": thread})).await.unwrap();
    let (stopped, _) = until(&mut own, ended).await;
    assert_eq!(stopped.status, RunStatus::Stopped);
    assert!(stopped.problem.is_none(), "it was not taken over: {stopped:?}");
    assert_eq!(until(&mut other, ended).await.0.run_id, stopped.run_id);
    one.shutdown().await;
    two.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_listens_loads_again_when_a_program_that_runs_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (open(dir.path()).await, open(dir.path()).await);
    let mut other = two.subscribe();
    let thread = speak(&one).await;
    until(&mut other, text).await;
    let mut seq = other.next().await.unwrap().seq;
    // Its connection breaks while it runs.
    drop(one.listener().take());
    let end = Instant::now() + SOON;
    let batch = loop {
        assert!(Instant::now() < end, "a gap is seen");
        let batch = other.next().await.unwrap();
        if batch.seq != seq + 1 {
            break batch;
        }
        seq = batch.seq;
    };
    let reads_again = |event: &AppEvent| matches!(event, AppEvent::Changed { threads: true, .. });
    assert!(batch.events.iter().any(reads_again), "{batch:?}");
    assert!(two.hub.working(&thread).is_empty(), "nothing is known to run");
    one.shutdown().await;
    two.shutdown().await;
}

fn socket(dir: &Path) -> PathBuf {
    instance::sockets(dir).remove(0).1
}

fn hello() -> String {
    format!(r#"{{"type": "hello", "version": {}}}"#, message::VERSION)
}

/// Sends lines, and reads this number of answers, or fewer when the connection ends before.
async fn say(socket: &Path, text: &[u8], most: usize) -> Vec<Json> {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let _ = stream.write_all(text).await;
    let (mut answers, mut reader) = (Vec::new(), BufReader::new(stream));
    let mut line = String::new();
    while answers.len() < most
        && let Ok(Ok(1..)) = tokio::time::timeout(SOON, reader.read_line(&mut line)).await
    {
        answers.push(serde_json::from_str(&line).unwrap());
        line.clear();
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_message_ends_its_connection_and_nothing_else() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let workbench = open(dir.path()).await;
    let socket = socket(dir.path());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    let hello = hello();
    let hello = hello.as_bytes();
    let after_hello = |rest: &[u8]| [hello, b"\n", rest, b"\n"].concat();
    let long = vec![b'x'; 10_000];
    for (what, sent) in [
        ("bytes", b"\x00\xff\xfe\n".to_vec()),
        ("another protocol", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        (
            "a call without a hello",
            br#"{"type": "call", "id": 1, "command": "app.info", "request": {}}
"#
            .to_vec(),
        ),
        (
            "another version",
            br#"{"type": "hello", "version": 99}
"#
            .to_vec(),
        ),
        ("a long line", long),
        ("no message after the hello", after_hello(b"[1, 2")),
        ("a second hello", after_hello(hello)),
    ] {
        let answers = say(&socket, &sent, usize::MAX).await;
        let last = answers.last().unwrap_or_else(|| panic!("{what}: no answer"));
        assert_eq!(last["type"], "error", "{what}: {answers:?}");
        assert!(
            last["problem"]["message"].is_string() && last["id"].is_null(),
            "{what}"
        );
    }
    let call = br#"{"type": "call", "id": 7, "command": "no.such", "request": {}}"#;
    let answers = say(&socket, &after_hello(call), 2).await;
    assert_eq!(answers[1]["id"], 7, "a wrong command is an answer: {answers:?}");
    let (peer, _) = Peer::connect(&socket).await.unwrap();
    assert!(peer.call("app.info", json!({})).await.unwrap()["version"].is_string());
    assert!(peer.hello().starts_runs);
    workbench.shutdown().await;
    assert!(!socket.exists(), "the socket is removed");
}

/// The modes of folder and socket keep other users away; where those are open, the socket itself refuses them.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_user_of_the_machine_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const SOCKET: &str = "SUPERSTEP_TEST_SOCKET";
    const NOBODY: u32 = 65534;
    if let Some(socket) = std::env::var_os(SOCKET) {
        // This process is the other user's.
        match UnixStream::connect(&socket).await {
            Err(error) => println!("no connection: {:?}", error.kind()),
            Ok(_) => println!(
                "answers: {}",
                say(Path::new(&socket), format!("{}\n", hello()).as_bytes(), 1)
                    .await
                    .len()
            ),
        }
        return;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can be another user");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let workbench = open(dir.path()).await;
    let socket = socket(dir.path());
    let as_another = async |socket: PathBuf| {
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "ipc::tests::another_user_of_the_machine_is_refused",
                "--nocapture",
            ])
            .env(SOCKET, socket);
        command.as_std_mut().uid(NOBODY).gid(NOBODY);
        command
            .output()
            .await
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Ok(message) = as_another(socket.clone()).await else {
        eprintln!("skipped: another user may not start the test program");
        return;
    };
    assert!(message.contains("no connection: PermissionDenied"), "{message}");
    for path in [dir.path(), socket.parent().unwrap(), &socket] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let message = as_another(socket.clone()).await.unwrap();
    assert!(message.contains("answers: 0"), "not even a hello: {message}");
    assert_eq!(
        say(&socket, format!("{}\n", hello()).as_bytes(), 1).await.len(),
        1,
        "the owner is answered"
    );
    workbench.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_connections_are_no_trouble() {
    let dir = tempfile::tempdir().unwrap();
    let workbench = open(dir.path()).await;
    let socket = socket(dir.path());
    let mut peers = Vec::new();
    let mut refused = 0;
    for _ in 0..100 {
        match Peer::connect(&socket).await {
            Ok(peer) => peers.push(peer),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0 && peers.len() >= 60, "{} are served", peers.len());
    for (peer, _) in &peers {
        peer.call("app.info", json!({})).await.unwrap();
    }
    drop(peers);
    let end = Instant::now() + SOON;
    while Peer::connect(&socket).await.is_err() {
        assert!(Instant::now() < end, "there is room again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    workbench.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_sees_that_events_are_missing() {
    let dir = tempfile::tempdir().unwrap();
    let workbench = open(dir.path()).await;
    let mut stream = UnixStream::connect(socket(dir.path())).await.unwrap();
    let hello = format!("{}\n{{\"type\": \"subscribe\"}}\n", hello());
    stream.write_all(hello.as_bytes()).await.unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).await.unwrap();
    // It takes little, and more comes than may wait for it. One that takes nothing would be cut off on a busy machine.
    let mut little = vec![0; 64 * 1024];
    for _ in 0..200 {
        let _ = stream.try_read(&mut little);
        for n in 0..2000 {
            workbench.hub.publish(AppEvent::Custom {
                thread_id: "t".into(),
                node: "n".into(),
                task_id: None,
                value: json!({"n": n, "text": "x".repeat(100)}),
                at: 0.0,
            });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let lost = async {
        while !line.contains("\"lost\":true") {
            line.clear();
            assert_ne!(
                reader.read_line(&mut line).await.unwrap(),
                0,
                "the connection ended"
            );
        }
    };
    tokio::time::timeout(SOON, lost).await.expect("a gap is reported");
    workbench.shutdown().await;
}

#[tokio::test]
async fn the_socket_of_a_dead_process_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    drop(Instance::enter(dir.path()).unwrap());
    let sockets = dir.path().join("sockets");
    std::fs::create_dir_all(&sockets).unwrap();
    let (stale, strange) = (sockets.join("00ff.sock"), dir.path().join("precious"));
    for (id, path) in [("00ff", &stale), ("00ee", &strange)] {
        std::fs::write(path, "").unwrap();
        let noted = path.to_str().unwrap();
        std::fs::write(dir.path().join(format!("instances/{id}.lock")), noted).unwrap();
    }
    assert_eq!(
        instance::sockets(dir.path()),
        [("00ff".to_owned(), stale.clone())]
    );
    drop(Instance::enter(dir.path()).unwrap());
    assert!(
        !stale.exists() && strange.exists(),
        "only what is a socket by its name"
    );
    assert!(instance::sockets(dir.path()).is_empty());
}
