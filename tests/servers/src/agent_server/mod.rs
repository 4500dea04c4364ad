//! A LangGraph server that says what a script has: the conversations of a real one in a form of their own (`shop.json`), and
//! what a server that is broken, slow or dishonest says. It needs nothing but a port on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parking_lot::Mutex;
use serde_json::{Value as Json, json};

/// A graph `shop` with a nested one that asks a question, and a graph `slow`: before the first run, while it asks, and at the
/// end. `n` is counted up, `pay` holds the graph of `charge` and `ask`, and `done` follows the answer `yes`.
pub const SHOP: &str = include_str!("shop.json");

/// The thread of a script before a request has named one.
const THREAD: &str = "01900000-0000-7000-8000-0000000000aa";

/// A request that came, and its body.
#[derive(Clone, Debug)]
pub struct AskedOfServer {
    /// Method and path.
    pub line: String,
    /// Headers, each as `name: value`.
    pub headers: Vec<String>,
    /// Body.
    pub body: Json,
}

/// A running server, which ends with its guard.
///
/// A script is a list of entries. The first one is said whose `on` is the method and the path (ids of threads and runs are
/// `THREAD` and `RUN`; the query counts where `on` has one), whose `stage` is that of the server or null, and whose `when` is
/// part of the body; a state at a checkpoint is found in the histories. `status` and `headers` are those of the answer; `say` is its body as JSON, `text` as it is, `history` a list
/// that is read with the `limit` and `before` of the request, and `events` are `[name, data, id]` each; behind `after` only those
/// that come after the id of `Last-Event-ID` are said. With `cut` the connection breaks off at the end, with `hang` it stays open
/// and silent. `next` leads to the next stage.
#[derive(Debug)]
pub struct AgentServerReplay {
    port: u16,
    state: Arc<ReplayState>,
}

#[derive(Debug)]
struct ReplayState {
    script: Mutex<Vec<Json>>,
    stage: Mutex<u64>,
    thread: Mutex<String>,
    asked: Mutex<Vec<AskedOfServer>>,
    ended: AtomicBool,
}

impl AgentServerReplay {
    /// Starts a server with a script in JSON.
    ///
    /// # Panics
    /// When the script is none.
    pub fn start(script: &str) -> Self {
        let script: Vec<Json> = serde_json::from_str(script).expect("a script is a list");
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("a listener has an address").port();
        let state = Arc::new(ReplayState {
            script: Mutex::new(script),
            stage: Mutex::new(0),
            thread: Mutex::new(THREAD.to_owned()),
            asked: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let shared = state.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                if shared.ended.load(Ordering::Relaxed) {
                    return;
                }
                let state = shared.clone();
                thread::spawn(move || drop(state.serve(socket)));
            }
        });
        Self { port, state }
    }

    /// Starts a server that says some things in another way than [`SHOP`].
    ///
    /// # Panics
    /// When an entry is none.
    pub fn shop_with(first: &Json) -> Self {
        let server = Self::start(SHOP);
        server.say_first(first);
        server
    }

    /// Puts entries before the others.
    ///
    /// # Panics
    /// When they are no list.
    pub fn say_first(&self, first: &Json) {
        let first = first.as_array().expect("entries are a list").clone();
        let mut script = self.state.script.lock();
        let rest = std::mem::take(&mut *script);
        *script = first.into_iter().chain(rest).collect();
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the id of the thread that was asked about last.
    pub fn thread(&self) -> String {
        self.state.thread.lock().clone()
    }

    /// Returns the requests that came.
    pub fn asked(&self) -> Vec<AskedOfServer> {
        self.state.asked.lock().clone()
    }

    /// Returns the bodies of the requests with this method and path, in which ids stand as in scripts.
    pub fn bodies(&self, on: &str) -> Vec<Json> {
        let asked = self.asked().into_iter();
        asked
            .filter(|asked| asked.line == on)
            .map(|asked| asked.body)
            .collect()
    }
}

impl Drop for AgentServerReplay {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        // It waits for a connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Puts names in the place of ids of threads and runs.
fn named(path: &str) -> (String, Option<String>) {
    let mut thread = None;
    let parts: Vec<&str> = path.split('/').collect();
    let mut said: Vec<String> = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| parts[before]);
        let is_id = part.len() == 36 && part.bytes().filter(|byte| *byte == b'-').count() == 4;
        said.push(match before {
            Some("threads") if is_id => {
                thread = Some((*part).to_owned());
                "THREAD".to_owned()
            }
            Some("runs") if is_id => "RUN".to_owned(),
            _ => (*part).to_owned(),
        });
    }
    (said.join("/"), thread)
}

/// Returns whether a pattern is part of a value.
fn has(value: &Json, pattern: &Json) -> bool {
    match (value, pattern) {
        (Json::Object(value), Json::Object(pattern)) => pattern
            .iter()
            .all(|(key, part)| value.get(key).is_some_and(|own| has(own, part))),
        (value, pattern) => value == pattern,
    }
}

/// Puts the id of the thread in the place of its name.
fn filled(value: &Json, thread: &str) -> Json {
    let text = value.to_string().replace("THREAD", thread);
    serde_json::from_str(&text).expect("an id needs no escape")
}

impl ReplayState {
    fn serve(&self, socket: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(socket.try_clone()?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let (mut headers, mut length) = (Vec::new(), 0);
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
                break;
            }
            let header = header.trim().to_owned();
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or_default();
            }
            headers.push(header);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body: Json = serde_json::from_slice(&body).unwrap_or_default();
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (target, thread) = named(target);
        if let Some(thread) = thread {
            *self.thread.lock() = thread;
        }
        let whole = format!("{method} {target}");
        let bare = whole.split('?').next().unwrap_or_default().to_owned();
        self.asked.lock().push(AskedOfServer {
            line: bare.clone(),
            headers: headers.clone(),
            body: body.clone(),
        });
        let entry = {
            let mut stage = self.stage.lock();
            let script = self.script.lock();
            let found = script.iter().find(|entry| {
                let on = entry["on"].as_str().unwrap_or_default();
                let is_here = on == whole || on == bare;
                let is_now = entry["stage"].is_null() || entry["stage"].as_u64() == Some(*stage);
                is_here && is_now && (entry["when"].is_null() || has(&body, &entry["when"]))
            });
            let found = found.cloned().or_else(|| {
                let is_state = whole == "POST /threads/THREAD/state/checkpoint";
                is_state.then(|| state_of(&script, *stage, &body["checkpoint"]))?
            });
            if found.as_ref().is_some_and(|entry| entry["next"] == true) {
                *stage += 1;
            }
            found
        };
        let last = headers.iter().find_map(|header| {
            let (name, value) = header.split_once(':')?;
            name.eq_ignore_ascii_case("last-event-id")
                .then(|| value.trim().to_owned())
        });
        let entry = entry
            .unwrap_or_else(|| json!({"status": 404, "say": {"detail": format!("nothing for {whole}")}}));
        self.answer(socket, &entry, &body, last.as_deref())
    }

    fn answer(
        &self,
        mut socket: TcpStream,
        entry: &Json,
        body: &Json,
        last: Option<&str>,
    ) -> std::io::Result<()> {
        let thread = self.thread.lock().clone();
        let status = entry["status"].as_u64().unwrap_or(200);
        let mut head = format!("HTTP/1.1 {status} Said\r\nConnection: close\r\n");
        for (name, value) in entry["headers"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().replace("THREAD", &thread);
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(events) = entry["events"].as_array() {
            head.push_str(
                "Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n",
            );
            socket.write_all(head.as_bytes())?;
            let begin = match (entry["after"] == true, last) {
                (true, Some(last)) => events
                    .iter()
                    .rposition(|event| event[2] == last)
                    .map_or(0, |place| place + 1),
                _ => 0,
            };
            for event in &events[begin..] {
                let event = filled(event, &thread);
                let name = event[0].as_str().unwrap_or_default();
                let mut text = format!("event: {name}\r\ndata: {}\r\n", event[1]);
                if let Some(id) = event[2].as_str() {
                    text.push_str(&format!("id: {id}\r\n"));
                }
                text.push_str("\r\n");
                write!(socket, "{:x}\r\n{text}\r\n", text.len())?;
            }
            if entry["hang"] == true {
                return hang(socket);
            }
            if entry["cut"] != true {
                socket.write_all(b"0\r\n\r\n")?;
            }
            return Ok(());
        }
        if entry["hang"] == true {
            return hang(socket);
        }
        let said = match (&entry["text"], entry["history"].as_array()) {
            (Json::String(text), _) => text.clone(),
            (_, Some(states)) => filled(&page(states, body), &thread).to_string(),
            _ => filled(&entry["say"], &thread).to_string(),
        };
        head.push_str(&format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            said.len()
        ));
        socket.write_all(head.as_bytes())?;
        socket.write_all(said.as_bytes())
    }
}

/// Finds a state in the histories of a stage: that of an id, or the newest.
fn state_of(script: &[Json], stage: u64, place: &Json) -> Option<Json> {
    let ns = place["checkpoint_ns"].as_str().unwrap_or_default();
    let is_of = |entry: &&Json| {
        let own = entry["when"]["checkpoint"]["checkpoint_ns"]
            .as_str()
            .unwrap_or_default();
        entry["stage"] == stage && own == ns && entry["history"].is_array()
    };
    let states = script.iter().find(is_of)?["history"].as_array()?;
    let id = place["checkpoint_id"].as_str();
    let is_it = |state: &&Json| id.is_none_or(|id| state["checkpoint"]["checkpoint_id"] == id);
    // As a real one answers for a checkpoint that is not there.
    let nothing = || json!({"values": {}, "next": [], "tasks": [], "created_at": null, "checkpoint": place});
    let found = states.iter().find(is_it).cloned();
    Some(json!({"say": found.unwrap_or_else(nothing)}))
}

/// Returns the states of a history that a request asks for.
fn page(states: &[Json], body: &Json) -> Json {
    let limit = body["limit"]
        .as_u64()
        .and_then(|limit| usize::try_from(limit).ok());
    let before = body["before"]["configurable"]["checkpoint_id"].as_str();
    let is_before = |state: &&Json| {
        let id = state["checkpoint"]["checkpoint_id"].as_str().unwrap_or_default();
        before.is_none_or(|before| id < before)
    };
    let found = states.iter().filter(is_before).take(limit.unwrap_or(1));
    found.cloned().collect()
}

/// Keeps a connection open until the other side closes it.
fn hang(mut socket: TcpStream) -> std::io::Result<()> {
    let mut rest = [0; 64];
    while socket.read(&mut rest)? > 0 {}
    Ok(())
}
