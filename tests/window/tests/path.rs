//! The two-minute path in the real window: what a person does first, with the mouse and keyboard of a person.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::json;
use superstep_window_test::{App, CONTROL, Point, SHIFT};

/// One window at a time: two on a screen take the keyboard from each other.
static SCREEN: Mutex<()> = Mutex::new(());

/// A data folder that goes with the test, which has the screen for itself meanwhile.
struct Data(
    PathBuf,
    #[allow(dead_code, reason = "held, not read")] MutexGuard<'static, ()>,
);

impl Data {
    fn new(name: &str) -> Self {
        let screen = SCREEN.lock().unwrap_or_else(PoisonError::into_inner);
        let path = std::env::temp_dir().join(format!("superstep-window-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        // Answers are given at once.
        std::fs::write(path.join("settings.json"), r#"{"holdS":0}"#).unwrap();
        Data(path, screen)
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The window, and short words for what a person does in it.
struct Superstep {
    app: App,
    started: Instant,
}

impl Superstep {
    fn start(data: &Path) -> Self {
        let started = Instant::now();
        let window = Superstep {
            app: App::start(data),
            started,
        };
        window.app.wait_present(&id("shell"));
        // What goes wrong in the page from here on, to be asked for at the end.
        window.app.script(
            "window.__wrong=[];const note=text=>window.__wrong.push(String(text));
            window.addEventListener('error',e=>note(e.message));
            window.addEventListener('unhandledrejection',e=>note(e.reason&&e.reason.message||e.reason));
            document.addEventListener('securitypolicyviolation',e=>note(e.violatedDirective+' '+e.blockedURI));
            for(const level of ['error','warn']){const old=console[level];console[level]=(...all)=>{note(all.join(' '));old(...all)}}",
            json!([]),
        );
        window.say("started");
        window
    }

    fn say(&self, what: &str) {
        println!("{:6.1} s  {what}", self.started.elapsed().as_secs_f64());
    }

    fn click(&self, test_id: &str) {
        self.app.click(&id(test_id));
    }

    fn see(&self, test_id: &str) {
        self.app.wait_present(&id(test_id));
    }

    fn gone(&self, test_id: &str) {
        let script = "return !document.querySelector(arguments[0])";
        self.app
            .wait_for(&format!("{test_id} is gone"), script, json!([id(test_id)]));
    }

    fn undo(&self) {
        self.app.chord(&[CONTROL, 'z']);
    }

    /// Draws an edge from one node's port to another's.
    fn wire(&self, from: &str, to: &str) {
        let port = |side, node| self.app.centre(&id(&format!("port-{side}-{node}")));
        self.app.drag(port("out", from), port("in", to));
    }

    fn text(&self, test_id: &str, text: &str) {
        self.app.wait_text(&id(test_id), text);
    }

    fn status(&self, status: &str) {
        self.app
            .wait_present(&format!("{}[data-status=\"{status}\"]", id("run-status")));
        self.say(&format!("the run is {status}"));
    }

    /// Nothing was reported to the page's console, and no permission is missing.
    fn nothing_wrong(&self) {
        assert_eq!(
            self.app.script("return window.__wrong", json!([])),
            json!([]),
            "the page reports nothing"
        );
    }

    /// The title on the window's frame, which the page needs a permission to set.
    fn title(&self, title: &str) {
        let ask = "const [title,done]=arguments;const look=()=>window.__TAURI_INTERNALS__.invoke('plugin:window|title',{})
            .then(now=>now===title?done(now):setTimeout(look,50),wrong=>done(String(wrong)));look()";
        assert_eq!(self.app.script_async(ask, json!([title])), json!(title));
    }

    /// A picture for the eye, when SUPERSTEP_SHOTS names a folder.
    fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("SUPERSTEP_SHOTS") {
            self.app
                .picture(&Path::new(&folder).join(format!("window-{name}.png")));
        }
    }

    /// Waits until a node is there, to a pixel or two: a drag snaps to the grid of the canvas.
    fn stands(&self, node: &str, at: Point) {
        self.app.wait_for(
            &format!("{node} is at {at:?}"),
            "const r=document.querySelector(arguments[0]).getBoundingClientRect();
            const [x,y]=[r.x+r.width/2,r.y+r.height/2];
            return Math.hypot(x-arguments[1][0],y-arguments[1][1])<12||[x,y]",
            json!([id(&format!("node-{node}")), [at.0, at.1]]),
        );
    }

    fn centre(&self, node: &str) -> Point {
        self.app.centre(&id(&format!("node-{node}")))
    }
}

fn id(test_id: &str) -> String {
    format!("[data-testid=\"{test_id}\"]")
}

fn checkpoint(step: u32, source: &str) -> String {
    format!(
        "{}[data-step=\"{step}\"][data-source=\"{source}\"]",
        id("checkpoint")
    )
}

fn key(name: &str) -> String {
    format!("{}[data-key=\"{name}\"]", id("state-key"))
}

fn node(name: &str, state: &str) -> String {
    format!("{}[data-state=\"{state}\"]", id(&format!("node-{name}")))
}

/// Shows the state: a run that ends shows its result.
fn show_state(window: &Superstep) {
    window
        .app
        .click(&format!("{} {}", id("state-inspector"), id("tab-state")));
}

fn choice(window: &Superstep, label: &str) {
    let css = id("answer-choice");
    let at = window.app.script_async(
        "const [css,label,done]=arguments;const look=()=>{const all=[...document.querySelectorAll(css)];
        const one=all.findIndex(e=>e.textContent.includes(label));
        if(one<0)return setTimeout(look,30);all[one].dataset.chosen=label;all[one].scrollIntoView({block:'nearest'});done(one)};look()",
        json!([css, label]),
    );
    assert!(at.is_number(), "{label}");
    window.app.click(&format!("{css}[data-chosen=\"{label}\"]"));
}

/// Open an example, run it, answer it, look back, edit, fork, compare; then start again on the same data.
#[test]
fn two_minutes() {
    let data = Data::new("path");
    let window = Superstep::start(&data.0);
    let app = &window.app;
    window.see("start-screen");
    window.picture("start");
    window.click("example-refund-desk");
    app.wait_present(&id("node-review"));
    window.title("Refund desk – Superstep");
    window.say("the example is open");
    window.picture("design");

    window.click("use-debug");
    window.click("run");
    window.status("asking");
    window.text("answer-banner", "Refund 40 EUR of 40 EUR?");
    app.wait_present(&node("classify", "done"));
    window.picture("asking");

    // Once from the inbox, once from the banner.
    window.click("use-approve");
    window.see("question");
    window.picture("approve");
    choice(&window, "Offer half");
    window.text("question-detail", "Refund 20 EUR of 40 EUR?");
    window.click("use-debug");
    window.text("answer-banner", "Refund 20 EUR of 40 EUR?");
    choice(&window, "Approve");
    window.status("done");
    show_state(&window);
    app.wait_text(&key("outcome"), "paid");

    // An old checkpoint: canvas and state as they were.
    app.click(&checkpoint(1, "loop"));
    window.see("past");
    window.text("state-unset", "amount");
    app.wait_present(&node("propose", "next"));
    app.wait_present(&node("pay", "idle"));
    window.say("the past is shown");
    window.picture("past");

    // Change it there: a fork, which runs on.
    app.hover(&key("days"));
    app.click(&format!("{} {}", key("days"), id("state-edit")));
    app.fill(&format!("{} input", id("state-edit-field")), "60");
    window.click("state-edit-done");
    window.text("edit-preview", "propose");
    window.picture("edit");
    window.click("edit-apply");
    app.wait_present(&checkpoint(2, "update"));
    window.say("forked");
    window.click("run");
    window.status("asking");
    window.text("answer-banner", "Refund 20 EUR of 40 EUR?");
    choice(&window, "Reject");
    window.status("done");
    show_state(&window);
    app.wait_text(&key("outcome"), "declined");
    window.picture("fork");

    // Both ends side by side.
    app.click_holding(&checkpoint(9, "loop"), CONTROL);
    window.see("compare");
    let outcome = format!("{}[data-pointer=\"/outcome\"]", id("difference"));
    app.wait_text(&outcome, "paid");
    app.wait_text(&outcome, "declined");
    window.say("compared");
    window.picture("compare");
    window.nothing_wrong();

    // The process dies without a word; its graph is open again, and the thread is still there.
    drop(window);
    let window = Superstep::start(&data.0);
    window.see("node-review");
    window.picture("start-again");
    window.click("use-debug");
    window.app.click(&id("thread"));
    window
        .app
        .wait_present(&format!("{}[data-status=\"done\"]", id("run-status")));
    show_state(&window);
    window.app.wait_text(&key("outcome"), "declined");
    window.app.wait_present(&checkpoint(2, "update"));
    window.app.wait_present(&checkpoint(9, "loop"));
    window.say("the thread is still there");
    window.nothing_wrong();
}

/// Draw a graph from nothing with the mouse, undo and redo with the keyboard, run it and answer in words.
#[test]
fn drawing() {
    let data = Data::new("drawing");
    let window = Superstep::start(&data.0);
    let app = &window.app;
    window.see("start-screen");
    app.click_text("button", "New graph");
    window.see("canvas");

    // A node from the palette, dropped where the pointer lets go.
    let canvas = app.centre(&id("canvas"));
    app.drag(app.centre(&id("palette-kind-ask")), (canvas.0, canvas.1 - 60.0));
    window.stands("ask", (canvas.0, canvas.1 - 60.0));
    window.say("dropped");

    // Moved, and back again.
    let from = window.centre("ask");
    let to = (from.0 + 40.0, from.1 + 90.0);
    app.drag(from, to);
    window.stands("ask", to);
    window.undo();
    window.stands("ask", from);
    window.say("moved and undone");

    window.wire("__start__", "ask");
    window.see("edge-__start__->ask");
    window.undo();
    window.gone("edge-__start__->ask");
    app.chord(&[CONTROL, SHIFT, 'z']);
    window.see("edge-__start__->ask");
    window.wire("ask", "__end__");
    window.see("edge-ask->__end__");
    window.say("wired");

    // A state key for the answer; what is asked, and where the answer goes.
    app.click_text("[role=tab]", "State");
    window.click("add-key");
    app.wait_present(&format!("{} input:focus", id("state-panel")));
    app.keys("name\n");
    window.see("state-key-name");
    window.click("node-ask");
    app.click(&format!("{} .cm-content", id("field-/config/question")));
    app.wait_present(".cm-editor.cm-focused");
    app.keys("What is your name?");
    window.text("field-/config/question", "What is your name?");
    app.click(&format!("{} :is(input, button)", id("field-/config/into")));
    app.click_text("[role=option] [data-label]", "name");
    window.say("filled in");
    window.picture("drawn");

    window.click("use-debug");
    window.click("run");
    window.status("asking");
    window.text("answer-banner", "What is your name?");
    app.fill(&format!("{} :is(textarea, input)", id("answer-banner")), "Ada");
    window.click("answer-submit");
    window.status("done");
    show_state(&window);
    app.wait_text(&key("name"), "Ada");

    // Dark, from the command palette.
    app.chord(&[CONTROL, 'k']);
    window.see("command-palette");
    app.keys("theme");
    window.click("command-settings.theme");
    app.wait_present("html[data-theme=dark]");
    window.gone("command-palette");
    window.picture("dark");
    window.nothing_wrong();
}

/// The Page Up key, as WebDriver writes it.
const PAGE_UP: char = '\u{e00e}';

/// The Page Down key, as WebDriver writes it.
const PAGE_DOWN: char = '\u{e00f}';

/// Draw the interface larger, by the keyboard and in the settings; the next start draws it as large.
#[test]
fn scale() {
    let data = Data::new("scale");
    let window = Superstep::start(&data.0);
    window.see("start-screen");
    let width = window.app.script("return innerWidth", json!([]));
    let is = |window: &Superstep, scale: f64| {
        window.app.wait_for(
            &format!("everything is drawn at {scale}"),
            "return Math.abs(innerWidth*arguments[1]-arguments[0])<4||innerWidth",
            json!([width, scale]),
        );
    };
    window.app.chord(&[CONTROL, SHIFT, PAGE_UP]);
    is(&window, 1.1);
    window.app.chord(&[CONTROL, SHIFT, PAGE_DOWN]);
    is(&window, 1.0);
    window.app.chord(&[CONTROL, ',']);
    window.click("settings-scale");
    window.app.click_text("[role=option] [data-label]", "200 %");
    is(&window, 2.0);
    window.picture("scale");
    window.nothing_wrong();

    drop(window);
    let window = Superstep::start(&data.0);
    window.see("start-screen");
    is(&window, 2.0);
    window.nothing_wrong();
}
