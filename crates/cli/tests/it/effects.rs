//! Effects on the world outside, from the command line: a server counts what it was asked to change.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::User;

/// Path and idempotency key of each request. The first request to a path in `silent` is never answered.
#[derive(Clone, Default)]
struct Counting {
    asked: Arc<Mutex<Vec<(String, String)>>>,
    silent: Arc<Mutex<HashSet<String>>>,
    address: String,
}

fn head_of(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return lower;
            }
        }
        if read == 0 {
            return String::new();
        }
    }
}

impl Counting {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            ..Self::default()
        };
        let this = server.clone();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let head = head_of(&mut stream);
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let key = head
                    .lines()
                    .find_map(|line| line.strip_prefix("idempotency-key: "));
                let number = {
                    let mut asked = this.asked.lock().unwrap();
                    asked.push((path.clone(), key.unwrap_or_default().to_owned()));
                    asked.len()
                };
                if this.silent.lock().unwrap().remove(&path) {
                    kept.push(stream);
                    continue;
                }
                let body = format!("{{\"receipt\": {number}}}");
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        server
    }

    fn requests(&self, path: &str) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|(asked, _)| asked == path)
            .count()
    }

    fn keys(&self, path: &str) -> HashSet<String> {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|(asked, _)| asked == path)
            .map(|(_, key)| key.clone())
            .collect()
    }
}

fn desk(user: &User, server: &Counting) -> String {
    let data = user.dir.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let models = json!({"private_hosts": [server.address]});
    std::fs::write(data.join("models.json"), models.to_string()).unwrap();
    let post = |path: &str, into: &str| {
        json!({"method": "POST", "url": format!("http://{}{path}", server.address), "body": "{\"amount\": state.amount}",
            "take": "answer.body.receipt", "into": into})
    };
    user.graph(
        "desk.json",
        &json!({
            "format": "superstep/1",
            "name": "Desk",
            "state": {"amount": {"type": "integer"}, "booked": {"type": "integer"}, "mailed": {"type": "integer"}},
            "nodes": {
                "look": {"kind": "assign", "config": {"set": {"amount": "state.amount"}}},
                "book": {"kind": "http", "effect": "once", "config": post("/book", "booked")},
                "mail": {"kind": "http", "effect": "idempotent", "config": post("/mail", "mailed")}
            },
            "edges": [
                {"from": "__start__", "to": "look"}, {"from": "look", "to": "book"},
                {"from": "book", "to": "mail"}, {"from": "mail", "to": "__end__"}
            ]
        }),
    )
}

/// The checkpoint before which nothing was done.
fn before_the_work(user: &User) -> String {
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let found = history
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .find(|one| one["next"] == json!(["book"]));
    found.unwrap_or_else(|| panic!("{history}"))["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn going_on_from_the_past_says_first_what_it_would_repeat() {
    let (user, server) = (User::new(), Counting::start());
    let graph = desk(&user, &server);
    user.expect(
        0,
        &[
            "run",
            &graph,
            "--thread",
            "t",
            "--trust",
            "--input",
            "{\"amount\": 40}",
        ],
    );
    let past = before_the_work(&user);
    let again = [
        "run",
        graph.as_str(),
        "--thread",
        "t",
        "--trust",
        "--checkpoint",
        past.as_str(),
    ];
    let with = |effects: &'static str| [&again[..], &["--effects", effects]].concat();

    let refused = user.expect(2, &again);
    for expected in [
        "book: done",
        "must not be repeated",
        "mail: done",
        "with its old key",
        "--effects reuse",
    ] {
        assert!(refused.err.contains(expected), "{expected} in {}", refused.err);
    }
    assert_eq!(server.asked.lock().unwrap().len(), 2, "a refusal does nothing");
    let moment = format!("t@{past}");
    let listed = user.expect(0, &["effects", &moment]).out;
    let listed: Vec<&str> = listed.lines().collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert!(listed[0].starts_with("book: done ") && listed[0].ends_with(", must not be repeated"));
    let listed = user.expect(0, &["effects", &moment, "--json"]).json();
    assert_eq!(
        (
            &listed["effects"][1]["node"],
            &listed["effects"][1]["effect"],
            &listed["questionsLeft"]
        ),
        (&json!("mail"), &json!("idempotent"), &json!(0))
    );
    let now = user.expect(0, &["effects", "t"]);
    assert!(
        now.out.is_empty() && now.err.contains("nothing was done"),
        "{}",
        now.err
    );

    user.expect(0, &with("reuse"));
    assert_eq!(server.asked.lock().unwrap().len(), 2, "the results are used");

    let stopped = user.expect(3, &with("stop"));
    assert!(stopped.err.contains("Stopped before `book`"), "{}", stopped.err);
    assert_eq!(server.asked.lock().unwrap().len(), 2);
    // The thread goes on from where it stands.
    user.expect(0, &["resume", "t", "--trust", "--effects", "reuse"]);
    assert_eq!(server.asked.lock().unwrap().len(), 2);

    user.expect(0, &with("again"));
    assert_eq!((server.requests("/book"), server.requests("/mail")), (2, 2));
    assert_eq!(server.keys("/mail").len(), 1, "one key for one effect");

    // An edit that changes what is booked: nothing fits, so nothing is booked unasked.
    user.expect(
        0,
        &[
            "update",
            "t",
            "--values",
            "{\"amount\": 50}",
            "--as-node",
            "look",
            "--checkpoint",
            &past,
        ],
    );
    let stopped = user.expect(3, &["resume", "t", "--trust", "--effects", "reuse"]);
    assert!(stopped.err.contains("with another input"), "{}", stopped.err);
    assert_eq!(server.requests("/book"), 2);
    user.expect(0, &["resume", "t", "--trust", "--effects", "again"]);
    assert_eq!(
        (server.requests("/book"), server.keys("/mail").len()),
        (3, 2),
        "another mail is another effect"
    );
}

/// Runs until the server was asked for the path, which it does not answer, and kills the program.
fn killed_at(user: &User, server: &Counting, path: &str, args: &[&str]) {
    server.silent.lock().unwrap().insert(path.to_owned());
    let before = server.requests(path);
    let mut child = user
        .command(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while server.requests(path) == before {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "the request never came"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_asks_about_what_it_left_and_keeps_its_key() {
    let (user, server) = (User::new(), Counting::start());
    let graph = desk(&user, &server);
    let run = [
        "run",
        graph.as_str(),
        "--thread",
        "t",
        "--trust",
        "--input",
        "{\"amount\": 40}",
    ];
    killed_at(&user, &server, "/book", &run);
    let asked = user.expect(3, &["resume", "t", "--trust"]);
    assert!(asked.err.contains("Did `book` do its work?"), "{}", asked.err);
    assert_eq!(server.requests("/book"), 1, "nobody knows, so nothing is booked");
    // On a fork it is known as well.
    let past = before_the_work(&user);
    let fork = [
        "run",
        graph.as_str(),
        "--thread",
        "t",
        "--trust",
        "--checkpoint",
        past.as_str(),
        "--effects",
        "reuse",
    ];
    user.expect(3, &fork);
    assert_eq!(server.requests("/book"), 1);
    let resumed = ["resume", "t", "--trust", "--effects", "again"];
    killed_at(&user, &server, "/mail", &resumed);
    assert_eq!((server.requests("/book"), server.requests("/mail")), (2, 1));
    // What may be repeated is repeated with its key, also from further back.
    user.expect(0, &[&fork[..8], &["reuse"]].concat());
    assert_eq!((server.requests("/book"), server.requests("/mail")), (2, 2));
    assert_eq!(
        server.keys("/mail").len(),
        1,
        "{:?}",
        server.asked.lock().unwrap()
    );
    let state: Json = user.expect(0, &["state", "t", "--json"]).json();
    assert_eq!(
        state["values"]["booked"], 2,
        "the branch uses what was booked: {state}"
    );
}
