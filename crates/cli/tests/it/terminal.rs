//! What comes from graphs, models and databases is shown, and never obeyed: no field of any command reaches a terminal as
//! an order, turns a line around, or stands where a line of the program begins.

use serde_json::{Value as Json, json};

use crate::{Done, User};

/// C0 without NUL, which no argument can hold; DEL, C1, and what changes the direction of text.
fn orders() -> String {
    let bidirectional = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
    ('\u{1}'..='\u{1f}')
        .chain('\u{7f}'..='\u{9f}')
        .chain(bidirectional.chars())
        .collect()
}

/// The orders that a name of a graph's part may hold: controls are refused there.
fn named(name: &str) -> String {
    let orders: String = orders().chars().filter(|c| !c.is_control()).collect();
    format!("{name}{orders}")
}

/// A text with every order, and with a line that says what the program did not say.
fn text(name: &str) -> String {
    format!("{name}{}\nFORGED", orders())
}

#[track_caller]
fn harmless(args: &[&str], done: &Done) {
    for shown in [&done.out, &done.err] {
        let order = shown
            .chars()
            .find(|c| orders().contains(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(order, None, "{args:?}: {shown}");
        assert!(
            !shown.lines().any(|line| line.starts_with("FORGED")),
            "{args:?}: {shown}"
        );
    }
}

impl User {
    #[track_caller]
    fn shows(&self, code: i32, args: &[&str]) -> Done {
        let done = self.expect(code, args);
        harmless(args, &done);
        done
    }
}

fn graph() -> Json {
    let (key, say, ask, fail) = (named("key"), named("say"), named("ask"), named("fail"));
    json!({
        "format": "superstep/1",
        "name": text("Graph"),
        "state": {&key: {"type": "string", "title": text("title")}, "list": {"type": "array", "reducer": "append"}, "said": {}},
        "examples": [{"name": text("example"), "input": {&key: text("value")}}],
        "nodes": {
            &say: {"kind": "model", "config": {"model": "scripted", "prompt": text("prompt"), "into": "said", "pace_ms": 0,
                "script": [{"say": text("hi \u{1b}]52;c;ZWNobyBvd25lZA==\u{7} \u{1b}[2J")}]}},
            "code": {"kind": "code", "config": {"source":
                "emit({log: state.said}); emit({other: state.said}); console.log(state.said);\
                 return {list: [state.said, {[state.said]: state.said}]};"}},
            &ask: {"kind": "ask", "config": {"question": text("question"), "into": "said", "who": [text("who")],
                "choices": [{"label": text("label"), "value": text("choice")}]}},
            &fail: {"kind": "code", "config": {"source": "throw new Error(state.said)"}},
        },
        "edges": [
            {"from": "__start__", "to": &say}, {"from": &say, "to": "code"}, {"from": "code", "to": &ask},
            {"from": &ask, "to": &fail}, {"from": &fail, "to": "__end__"},
        ],
    })
}

#[test]
fn no_field_of_any_command_reaches_a_terminal_as_an_order() {
    let user = User::new();
    let folder = user.dir.path().join(text("folder"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("graph.json"), graph().to_string()).unwrap();
    let (path, thread, key) = (folder.to_str().unwrap(), text("thread"), named("key"));
    let input = json!({&key: text("value")}).to_string();

    user.shows(0, &["check", path]);
    user.shows(0, &["check", path, "--json"]);
    user.shows(0, &["export", path]);
    user.shows(0, &["export", path, "--format", "json"]);
    user.shows(0, &["export", path, "--format", "input-schema"]);
    user.shows(0, &["types", path]);
    user.shows(2, &["run", path, "--example", &text("none")]);
    user.shows(2, &["run", path]);
    user.shows(2, &["run", path, "--break", &text("before:")]);
    user.shows(2, &["run", path, "--recursion-limit", &text("many")]);
    user.shows(2, &["run", &text("nothing"), "--input", "{}"]);
    user.shows(2, &[&text("command")]);

    let asked = user.shows(3, &["run", path, "--input", &input, "--thread", &thread]);
    assert!(asked.err.contains(r"hi \u{1b}]52;c;"), "{}", asked.err);
    assert!(asked.err.contains("      FORGED"), "{}", asked.err);
    user.shows(
        3,
        &["run", path, "--input", &input, "--thread", "machine", "--json"],
    );
    for args in [
        &["threads", "list"][..],
        &["threads", "show", &thread],
        &["threads", "waiting"],
        &["threads", "usage"],
        &["threads", "usage", &thread],
        &["threads", "verify"],
        &["threads", "prune", &thread, "--keep", "latest", "--dry-run"],
        &["state", &thread],
        &["history", &thread],
        &["why", &thread, "/said"],
        &["explain", &thread],
        &["effects", &thread],
        &["preview", &thread],
        &["trace", &thread],
        &["diff", &thread, "machine"],
        &["find", "hi"],
        &["probe", "code", "state.said"],
    ] {
        let read = user.call(args);
        harmless(args, &read);
        assert!(read.code < 2, "{args:?}: {}", read.err);
        let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        harmless(&json, &user.call(&json));
    }

    let exported = user.shows(0, &["threads", "export", &thread]);
    let file = user.dir.path().join(text("file"));
    std::fs::write(&file, &exported.out).unwrap();
    let other = text("other");
    user.shows(0, &["threads", "import", file.to_str().unwrap(), "--as", &other]);
    assert_eq!(
        user.shows(0, &["state", &other, "--json"]).json()["values"],
        user.shows(0, &["state", &thread, "--json"]).json()["values"],
        "what is escaped is the same value"
    );
    user.shows(0, &["threads", "copy", &thread, &text("copy")]);
    user.shows(2, &["threads", "copy", &thread, &text("copy")]);
    user.shows(2, &["state", &text("none")]);
    let refused = ["resume", &thread, "--answer", "1"];
    harmless(&refused, &user.call(&refused));
    let choice = Json::from(text("choice")).to_string();
    let who = text("who");
    user.shows(2, &["resume", &thread, "--answer", &choice]);
    let failed = user.shows(1, &["resume", &thread, "--answer", &choice, "--as", &who]);
    assert!(failed.err.contains("FORGED"), "{}", failed.err);
    user.shows(0, &["threads", "list", "--json"]);
    user.shows(0, &["threads", "list", "--status", "failed"]);
    let item = json!({"text": text("item")}).to_string();
    user.shows(0, &["store", "put", &text("space"), &text("key"), &item]);
    user.shows(0, &["store"]);
    user.shows(0, &["store", "search", &text("space")]);
    user.shows(0, &["delete", &other, "--yes"]);
}

#[test]
fn what_is_wrong_with_a_graph_is_said_without_its_orders() {
    let user = User::new();
    let name = text("\u{1b}[2J");
    let graph = json!({
        "format": "superstep/1",
        "name": &name,
        "state": {&name: {"type": &name, "reducer": &name}},
        "nodes": {
            &name: {"kind": &name, "config": {&name: &name}},
            "find": {"kind": "retrieve", "config": {"folder": &name, "query": &name, "into": &name}},
            "tool": {"kind": "code", "config": {"source": &name, "language": &name}},
        },
        "edges": [{"from": &name, "to": &name, "when": &name}, {"from": "__start__", "to": "find", "label": &name}],
        "layout": {&name: {"x": 1, "y": 1}},
        &name: &name,
    });
    let path = user.graph("graph.json", &graph);
    let checked = user.shows(1, &["check", &path]);
    assert!(checked.out.contains(r"\u{1b}[2J"), "{}", checked.out);
    user.shows(1, &["check", &path, "--json"]);
    user.shows(1, &["run", &path, "--input", "{}", "--trust"]);
    harmless(&["export"], &user.call(&["export", &path]));
}

#[test]
fn what_a_grant_allows_is_read_as_it_is() {
    let user = User::new();
    let turned = named("run ");
    let arguments: Vec<String> = (0..900).map(|n| format!("--argument-{n}-{turned}")).collect();
    let servers = json!({"mcpServers": {"odd": {"command": &turned, "args": arguments}}});
    std::fs::write(user.dir.path().join(".mcp.json"), servers.to_string()).unwrap();
    let path = user.graph("graph.json", &json!({
        "format": "superstep/1", "name": "g",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}},
        "nodes": {"act": {"kind": "tools", "config": {"messages": "messages", "mcp": [{"server": "odd"}]}}},
        "edges": [{"from": "__start__", "to": "act"}],
    }));
    let shown = user.shows(0, &["trust", &path]);
    assert!(shown.out.contains(r"\u{202e}"), "{}", shown.out);
    assert!(shown.err.contains("Long cells are cut"), "{}", shown.err);
    let refused = user.shows(2, &["run", &path, "--input", r#"{"messages": []}"#]);
    assert!(refused.err.contains(r"\u{202e}"), "{}", refused.err);
    user.shows(0, &["trust", &path, "--all"]);
    user.shows(0, &["trust"]);
}

/// `format!` pads to no more than 65,535 columns, and panics behind that.
#[test]
fn one_long_name_spoils_no_list() {
    let user = User::new();
    let long = "n".repeat(70_000);
    let path = user.graph(
        "graph.json",
        &json!({
            "format": "superstep/1", "name": &long, "state": {"x": {}},
            "nodes": {&long: {"kind": "assign", "config": {"set": {"x": "1"}}}},
            "edges": [{"from": "__start__", "to": &long}],
        }),
    );
    let thread = "t".repeat(70_000);
    user.expect(
        3,
        &[
            "run",
            &path,
            "--input",
            r#"{"x": 0}"#,
            "--thread",
            &thread,
            "--interrupt-before",
            &long,
        ],
    );
    user.expect(0, &["run", &path, "--input", r#"{"x": 0}"#, "--thread", "short"]);
    let listed = user.shows(0, &["threads", "list"]);
    assert!(
        listed.out.contains("\nshort ") && listed.out.len() < 3000,
        "{}",
        listed.out
    );
    for args in [
        &["history", &thread][..],
        &["threads", "usage"],
        &["threads", "show", &thread],
        &["trace", "short"],
        &["state", &thread],
        &["explain", &thread],
    ] {
        user.shows(0, args);
    }
}
