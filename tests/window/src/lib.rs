//! A WebDriver client for the desktop window, over a plain socket.
//!
//! WebKitWebDriver starts the app itself; `TAURI_WEBVIEW_AUTOMATION` makes the web view listen to it. The client has no
//! dependency but JSON, because anything more would change the features of crates that the app is built from, and
//! cargo would compile the web view twice.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The Control key, as WebDriver writes it.
pub const CONTROL: char = '\u{e009}';
/// The Shift key.
pub const SHIFT: char = '\u{e008}';
const PATIENCE: Duration = Duration::from_secs(20);

/// A point in CSS pixels.
pub type Point = (f64, f64);

/// The running app.
pub struct App {
    driver: Child,
    port: u16,
    session: String,
}

/// Returns the path where `cargo build` put the app.
pub fn binary() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    target.join("debug/superstep-desktop")
}

impl App {
    /// Starts the app with a data folder of its own.
    ///
    /// # Panics
    /// When the driver, the app or the display is missing: a test that cannot run must not pass.
    pub fn start(data: &Path) -> App {
        assert!(
            std::env::var_os("DISPLAY").is_some(),
            "no display: run under xvfb-run"
        );
        let binary = binary();
        assert!(
            binary.exists(),
            "{} is missing: cargo build -p superstep-desktop",
            binary.display()
        );
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|l| l.local_addr())
            .expect("a free port")
            .port();
        let mut driver = Command::new("WebKitWebDriver");
        if std::env::var_os("SUPERSTEP_SHOTS").is_some() {
            // Where the web view draws in main memory the driver waits for a picture of it for ever.
            driver.env("WEBKIT_DISABLE_DMABUF_RENDERER", "0");
        }
        let driver = driver
            .arg(format!("--port={port}"))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("SUPERSTEP_DATA", data)
            // The web view keeps what the page remembers (folded panels, open tabs) beside the data, not at home.
            .env("XDG_DATA_HOME", data.join("web"))
            .spawn()
            .expect("WebKitWebDriver; Debian has it in webkit2gtk-driver");
        let mut app = App {
            driver,
            port,
            session: String::new(),
        };
        wait("the driver listens", || {
            TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())
        });
        let options = json!({ "binary": binary, "args": [] });
        let wanted = json!({"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}});
        let session = app.exchange("POST", "/session", &wanted).expect("the app starts");
        app.session = session["sessionId"].as_str().expect("a session id").to_owned();
        app.command("POST", "/timeouts", json!({"script": 150_000}))
            .expect("a script may take its time");
        app
    }

    /// Performs one HTTP exchange with the driver, read by its Content-Length (the driver may keep the connection
    /// open).
    fn exchange(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        socket
            .set_read_timeout(Some(Duration::from_secs(180)))
            .map_err(|e| e.to_string())?;
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        let mut chunk = [0u8; 65_536];
        loop {
            let head = bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4);
            if let Some(head) = head {
                let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
                let length = text
                    .lines()
                    .find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
                let length = length.ok_or("an answer without a length")?;
                if bytes.len() >= head + length {
                    let answer: Value =
                        serde_json::from_slice(&bytes[head..head + length]).map_err(|e| e.to_string())?;
                    let value = &answer["value"];
                    return match value["error"].as_str() {
                        Some(error) => Err(format!("{method} {path}: {error}: {}", value["message"])),
                        None => Ok(value.clone()),
                    };
                }
            }
            match socket.read(&mut chunk).map_err(|e| e.to_string())? {
                0 => return Err("the driver closed the connection".into()),
                n => bytes.extend_from_slice(&chunk[..n]),
            }
        }
    }

    fn command(&self, method: &str, path: &str, body: Value) -> Result<Value, String> {
        self.exchange(method, &format!("/session/{}{path}", self.session), &body)
    }

    fn find(&self, css: &str) -> Result<String, String> {
        let found = self.command("POST", "/element", json!({"using": "css selector", "value": css}))?;
        found[ELEMENT]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("{css} has no id"))
    }

    /// Clicks the element as soon as it is present and can be clicked.
    pub fn click(&self, css: &str) {
        wait(css, || {
            let id = self.find(css)?;
            self.enabled(&id)?;
            self.command("POST", &format!("/element/{id}/click"), json!({}))
        });
    }

    /// Refuses an element that takes no press yet, as a question does in its first moments: the driver would click all
    /// the same.
    fn enabled(&self, id: &str) -> Result<(), String> {
        let script = "return !arguments[0].matches(':disabled')";
        let answer = self.command(
            "POST",
            "/execute/sync",
            json!({"script": script, "args": [{ELEMENT: id}]}),
        )?;
        match answer {
            Value::Bool(true) => Ok(()),
            _ => Err("it is disabled".to_owned()),
        }
    }

    /// Clicks the first element whose text is `text`, among those that match `css`, once it lies uncovered at its place:
    /// what a list offers is in the page before the list is shown.
    pub fn click_text(&self, css: &str, text: &str) {
        let script = "const e=[...document.querySelectorAll(arguments[0])].find(e=>e.textContent.trim()===arguments[1]);if(!e)return null;e.scrollIntoView({block:'nearest'});const r=e.getBoundingClientRect();const at=[r.x+r.width/2,r.y+r.height/2];return e.contains(document.elementFromPoint(...at))?at:null";
        let at = wait(&format!("{css} with {text:?}"), || {
            let at = self.script(script, json!([css, text]));
            let found = at[0].as_f64().zip(at[1].as_f64());
            found.ok_or_else(|| "it is not there, or covered".to_owned())
        });
        self.pointer(
            json!([moved(at, 0), {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]),
        );
    }

    /// Types into the element.
    pub fn type_into(&self, css: &str, text: &str) {
        wait(css, || {
            self.command(
                "POST",
                &format!("/element/{}/value", self.find(css)?),
                json!({ "text": text }),
            )
        });
    }

    /// Runs a script in the page.
    pub fn script(&self, script: &str, args: Value) -> Value {
        self.command("POST", "/execute/sync", json!({"script": script, "args": args}))
            .expect(script)
    }

    /// Waits until the script gives true.
    pub fn wait_for(&self, what: &str, script: &str, args: Value) {
        wait(what, || {
            match self.command("POST", "/execute/sync", json!({"script": script, "args": args}))? {
                Value::Bool(true) => Ok(()),
                other => Err(format!("got {other}")),
            }
        });
    }

    /// Waits until an element's text contains `text`.
    pub fn wait_text(&self, css: &str, text: &str) {
        self.wait_for(
            &format!("{css} contains {text:?}"),
            "const e=document.querySelector(arguments[0]);return e?(e.textContent.includes(arguments[1])||e.textContent):'not there'",
            json!([css, text]),
        );
    }

    /// Waits until the element is there.
    pub fn wait_present(&self, css: &str) {
        self.wait_for(css, "return !!document.querySelector(arguments[0])", json!([css]));
    }

    /// Returns the centre of an element, from its box (the driver's own query sometimes fails during a re-render).
    pub fn centre(&self, css: &str) -> Point {
        self.wait_present(css);
        let at = self.script(
            "const r=document.querySelector(arguments[0]).getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]",
            json!([css]),
        );
        (at[0].as_f64().unwrap_or(0.0), at[1].as_f64().unwrap_or(0.0))
    }

    fn pointer(&self, actions: Value) {
        let source = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.command("POST", "/actions", json!({"actions": [source]}))
            .expect("pointer actions");
    }

    /// Presses at one point, moves, and lets go at another. The first move is small: it only starts the drag.
    pub fn drag(&self, from: Point, to: Point) {
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        self.pointer(json!([
            moved(from, 0),
            {"type": "pointerDown", "button": 0},
            moved((from.0 + 3.0, from.1 + 3.0), 16),
            moved(middle, 32),
            moved(to, 32),
            moved(to, 32),
            {"type": "pointerUp", "button": 0}
        ]));
    }

    /// Types with the keyboard, into the element that has the focus. A line feed is the Enter key.
    pub fn keys(&self, text: &str) {
        let keys = text.chars().map(|key| if key == '\n' { '\u{e007}' } else { key });
        let actions: Vec<Value> = keys
            .flat_map(|key| [("keyDown", key), ("keyUp", key)])
            .map(|(kind, key)| json!({"type": kind, "value": key.to_string()}))
            .collect();
        let source = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.command("POST", "/actions", json!({"actions": [source]}))
            .expect("key actions");
    }

    /// Presses keys together, e.g. `\u{e009}` (Control) and `z`.
    pub fn chord(&self, keys: &[char]) {
        let down = keys
            .iter()
            .map(|key| json!({"type": "keyDown", "value": key.to_string()}));
        let up = keys
            .iter()
            .rev()
            .map(|key| json!({"type": "keyUp", "value": key.to_string()}));
        let actions: Vec<Value> = down.chain(up).collect();
        let source = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.command("POST", "/actions", json!({"actions": [source]}))
            .expect("key actions");
    }

    /// Moves the mouse over the element.
    pub fn hover(&self, css: &str) {
        let at = self.centre(css);
        self.pointer(json!([moved(at, 0)]));
    }

    /// Clicks the element while a key is held down.
    pub fn click_holding(&self, css: &str, key: char) {
        self.script(
            "document.querySelector(arguments[0]).scrollIntoView({block:'nearest'})",
            json!([css]),
        );
        let at = self.centre(css);
        let keys = json!({"type": "key", "id": "keyboard", "actions": [
            {"type": "keyDown", "value": key.to_string()}, {"type": "pause"}, {"type": "pause"}, {"type": "pause"},
            {"type": "keyUp", "value": key.to_string()}
        ]});
        let mouse = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pause"}, moved(at, 0), {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        ]});
        self.command("POST", "/actions", json!({"actions": [keys, mouse]}))
            .expect("key and pointer actions");
    }

    /// Replaces what a text field holds.
    pub fn fill(&self, css: &str, text: &str) {
        self.click(css);
        self.chord(&[CONTROL, 'a']);
        self.type_into(css, text);
    }

    /// Runs a script that ends by calling its last argument.
    pub fn script_async(&self, script: &str, args: Value) -> Value {
        self.command("POST", "/execute/async", json!({"script": script, "args": args}))
            .expect(script)
    }

    /// Leaves the page for another one of the app: the address from `?` on.
    pub fn open_page(&self, query: &str) {
        let script = "window.superstepLeft = true; location.href = location.pathname + arguments[0]";
        self.script(script, json!([query]));
        let there = "return document.readyState === 'complete' && window.superstepLeft === undefined";
        self.wait_for(query, there, json!([]));
    }

    /// Measures the frames of the page while something is done: milliseconds as `p50`, `p95` and `max`.
    pub fn frames(&self, work: impl FnOnce()) -> Value {
        let begin = "window.superstepFrames = []; let last = 0; const tick = (now) => { \
            if (window.superstepFrames === undefined) return; \
            if (last > 0) window.superstepFrames.push(now - last); last = now; requestAnimationFrame(tick); }; \
            requestAnimationFrame(tick)";
        self.script(begin, json!([]));
        work();
        let end = "const all = window.superstepFrames.toSorted((a, b) => a - b); window.superstepFrames = undefined; \
            const at = (part) => all[Math.min(all.length - 1, Math.floor(all.length * part))]; \
            return { p50: at(0.5), p95: at(0.95), max: all.at(-1) }";
        self.script(end, json!([]))
    }

    /// Turns the wheel that many times, 16 ms each, by `delta` pixels; with `control`, Control is held.
    pub fn wheel(&self, at: Point, turns: usize, delta: (f64, f64), control: bool) {
        let turn = json!({"type": "scroll", "x": at.0, "y": at.1, "deltaX": delta.0, "deltaY": delta.1,
            "duration": 16, "origin": "viewport"});
        let wheel = json!({"type": "wheel", "id": "wheel", "actions": vec![turn; turns]});
        let mut keys = vec![json!({"type": "pause"}); turns];
        if control {
            keys[0] = json!({"type": "keyDown", "value": CONTROL.to_string()});
            keys[turns - 1] = json!({"type": "keyUp", "value": CONTROL.to_string()});
        }
        let keys = json!({"type": "key", "id": "keyboard", "actions": keys});
        self.command("POST", "/actions", json!({"actions": [keys, wheel]}))
            .expect("wheel actions");
    }

    /// Writes a PNG of the window. Waits for two frames first: right after a change the picture is one frame old.
    pub fn picture(&self, file: &Path) {
        let frames = "const done=arguments[arguments.length-1];requestAnimationFrame(()=>requestAnimationFrame(()=>done(true)))";
        self.script_async(frames, json!([]));
        let picture = self
            .command("GET", "/screenshot", Value::Null)
            .expect("a picture");
        std::fs::write(file, decode(picture.as_str().expect("base64"))).expect("the picture is written");
    }
}

/// Decodes Base64 to bytes.
fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn moved(to: Point, millis: u32) -> Value {
    json!({"type": "pointerMove", "duration": millis, "x": to.0.round() as i64, "y": to.1.round() as i64, "origin": "viewport"})
}

/// Tries until it works, and says what did not when patience ends.
fn wait<T>(what: &str, mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(error) => assert!(Instant::now() < end, "{what}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(30));
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = std::env::var_os("SUPERSTEP_SHOTS")
            && let Ok(Value::String(picture)) = self.command("GET", "/screenshot", Value::Null)
        {
            let _ = std::fs::write(Path::new(&folder).join("window-failed.png"), decode(&picture));
        }
        // Without this the app outlives its driver.
        if !self.session.is_empty() {
            let _ = self.command("DELETE", "", Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
