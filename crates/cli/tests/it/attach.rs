//! `superstep attach`: LangGraph programs drawn and run, with the LangGraph that `./dev test` installs.

use std::path::Path;

use serde_json::{Value as Json, json};
use superstep_test_servers::python_with_langgraph as langgraph;

use crate::{Done, User};

const PROGRAM: &str = r#"
import operator, os
from typing import Annotated
from typing_extensions import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]


def check(state):
    print("checks", os.environ.get("GREETING"), "\x1b[2J")
    return {"n": state["n"] + 1}


def review(state):
    answer = interrupt({"question": f"Pay {state['n']}?"})
    second = interrupt("Sure?")
    return {"log": [answer, second]}


def choose(state):
    return "pay" if state["log"][0] == "yes" else END


def pay(state):
    return {"log": ["paid" if state["n"] else 1 / 0]}


builder = StateGraph(State).add_node("check", check).add_node("review", review).add_node("pay", pay)
builder.add_edge(START, "check").add_edge("check", "review").add_conditional_edges("review", choose)
graph = builder.compile()
"#;

impl User {
    fn program(&self, text: &str) {
        std::fs::write(self.dir.path().join("agent.py"), text).unwrap();
    }

    fn attach(&self, python: &Path, args: &[&str]) -> Done {
        let all: Vec<&str> = ["attach", "agent.py:graph"].iter().chain(args).copied().collect();
        let mut command = self.command(&all);
        command.env("SUPERSTEP_PYTHON", python).env("GREETING", "hello");
        let output = command.output().unwrap();
        Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn attaches(&self, code: i32, python: &Path, args: &[&str]) -> Done {
        let done = self.attach(python, args);
        assert_eq!(
            done.code, code,
            "{args:?}\nstdout: {}\nstderr: {}",
            done.out, done.err
        );
        done
    }
}

#[test]
fn a_program_runs_only_when_it_is_allowed() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program("import pathlib\npathlib.Path('imported').touch()\n");
    let imported = user.dir.path().join("imported");
    let refused = user.attaches(2, &python, &["--env", "GREETING"]);
    let program = format!("program:{}", python.display());
    assert!(refused.err.contains(&program), "{}", refused.err);
    assert!(refused.err.contains("variable:GREETING"), "{}", refused.err);
    assert!(!imported.exists(), "nothing has run");
    let command = format!("superstep trust agent.py:graph --allow {program} --allow variable:GREETING");
    assert!(refused.err.contains(&command), "{}", refused.err);

    user.attaches(2, &python, &["--trust"]);
    assert!(imported.exists(), "for one time");
    std::fs::remove_file(&imported).unwrap();
    user.attaches(2, &python, &[]);
    assert!(!imported.exists());

    let mut trust = user.command(&["trust", "agent.py:graph", "--all"]);
    let trusted = trust.env("SUPERSTEP_PYTHON", &python).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    user.attaches(2, &python, &[]);
    assert!(imported.exists(), "what was allowed is remembered");
}

#[test]
fn a_program_is_drawn_in_words_and_as_json() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program(PROGRAM);
    let drawn = user.attaches(0, &python, &["--trust"]);
    let words: Vec<String> = drawn
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "check agent.py:15 check",
        "START -> check edge",
        "check -> review edge",
        "review -> pay? condition choose",
        "review -> END? condition choose",
        "n int",
        "log list[str] operator.add",
    ] {
        assert!(words.contains(&line.to_owned()), "{line}: {}", drawn.out);
    }
    assert!(drawn.err.contains("3 nodes; LangGraph 1."), "{}", drawn.err);
    let described = user.attaches(0, &python, &["--trust", "--json"]).json();
    assert_eq!(described["drawing"]["source"], "builder");
    assert_eq!(described["drawing"]["nodes"][2]["function"]["name"], "pay");
    assert_eq!(
        described["schemas"]["input_schema"]["properties"]["n"]["type"],
        "integer"
    );
}

#[test]
fn a_run_has_the_events_of_every_run_and_takes_answers() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program(PROGRAM);
    std::fs::write(user.dir.path().join("input.json"), r#"{"n": 39}"#).unwrap();
    let asked = user.attaches(
        3,
        &python,
        &[
            "--trust",
            "--env",
            "GREETING",
            "--run",
            "input.json",
            "--thread",
            "one",
        ],
    );
    assert!(asked.err.contains("1  check  "), "{}", asked.err);
    assert!(
        asked.err.contains("n = 40") && asked.err.contains("review  "),
        "{}",
        asked.err
    );
    assert!(
        asked.err.contains("  | checks hello \\u{1b}[2J"),
        "what it prints is no order: {}",
        asked.err
    );
    assert!(asked.err.contains("Pay 40?"), "{}", asked.err);
    let answer = "superstep attach agent.py:graph --thread one --resume --answer JSON";
    assert!(asked.err.contains(answer), "{}", asked.err);
    assert!(
        asked.err.contains("gone now"),
        "its threads are in memory: {}",
        asked.err
    );
    assert_eq!(asked.json(), json!({"n": 40, "log": []}));

    let run = [
        "--trust",
        "--run",
        "{\"n\": 39}",
        "--text",
        "yes",
        "--text",
        "sure",
    ];
    let done = user.attaches(0, &python, &run);
    assert_eq!(done.json()["log"], json!(["yes", "sure", "paid"]));

    let events = user
        .attaches(0, &python, &[&run[..], &["--stream", "updates,values"]].concat())
        .events();
    let modes: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(modes[0], "metadata");
    assert_eq!(modes.last(), Some(&"result"));
    let updates: Vec<&Json> = events
        .iter()
        .filter(|event| event["event"] == "updates")
        .map(|event| &event["data"])
        .collect();
    assert_eq!(updates[0], &json!({"check": {"n": 40}}));
    assert_eq!(
        updates[1]["__interrupt__"][0]["value"],
        json!({"question": "Pay 40?"})
    );
    let result = &events.last().unwrap()["data"];
    assert_eq!(result["status"], "done");
    assert_eq!(result["values"]["n"], 40);
    assert!(modes.contains(&"values"), "{modes:?}");

    let stopped = user.attaches(
        3,
        &python,
        &["--trust", "--run", "{\"n\": 1}", "--interrupt-before", "review"],
    );
    assert_eq!(stopped.json(), json!({"n": 2, "log": []}));
}

#[test]
fn what_goes_wrong_has_its_place_and_its_exit_code() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program(PROGRAM);
    let failed = user.attaches(
        1,
        &python,
        &[
            "--trust",
            "--run",
            "{\"n\": -1}",
            "--text",
            "yes",
            "--text",
            "sure",
        ],
    );
    assert!(
        failed.err.contains("pay failed: ZeroDivisionError"),
        "{}",
        failed.err
    );
    assert!(
        failed.err.contains("agent.py:31:") && failed.err.contains("1 / 0"),
        "{}",
        failed.err
    );
    let run = [
        "--trust",
        "--run",
        "{\"n\": -1}",
        "--text",
        "yes",
        "--text",
        "sure",
        "--json",
    ];
    let events = user.attaches(1, &python, &run).events();
    let error = &events.last().unwrap()["data"];
    assert_eq!(
        (&error["code"], &error["node"]),
        (&json!("node-failed"), &json!("pay"))
    );

    user.program("graph = (\n");
    let syntax = user.attaches(1, &python, &["--trust"]);
    assert!(
        syntax.err.contains("SyntaxError") && syntax.err.contains("agent.py:1"),
        "{}",
        syntax.err
    );
    user.program("x = 1\n");
    let nothing = user.attaches(2, &python, &["--trust"]);
    assert!(nothing.err.contains("It has no name graph"), "{}", nothing.err);
    let modes = user.attaches(2, &python, &["--trust", "--run", "{}", "--stream", "attempts"]);
    assert!(
        modes.err.contains("LangGraph has no stream mode attempts"),
        "{}",
        modes.err
    );
    let idle = user.attaches(2, &python, &["--trust", "--text", "yes"]);
    assert!(idle.err.contains("--run"), "{}", idle.err);
    let odd = user.expect(2, &["attach", "agent.rb:graph"]);
    assert!(odd.err.contains("agent.py:graph"), "{}", odd.err);
    let gone = user.expect(2, &["attach", "gone.py:graph"]);
    assert!(gone.err.contains("There is no file"), "{}", gone.err);
    std::fs::write(
        user.dir.path().join("langgraph.json"),
        r#"{"graphs": {"a": "./a.ts:graph"}}"#,
    )
    .unwrap();
    let script = user.expect(2, &["attach", "langgraph.json"]);
    assert!(script.err.contains("JavaScript program"), "{}", script.err);
}

/// An agent with LangChain's middleware, whose model calls two tools.
const REVIEWED: &str = r#"
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool


@tool
def pay(amount: int) -> str:
    "Pays."
    return f"paid {amount}"


@tool
def send(to: str) -> str:
    "Sends."
    return f"sent to {to}"


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


calls = [
    {"name": "pay", "args": {"amount": 900}, "id": "1"},
    {"name": "send", "args": {"to": "ada"}, "id": "2"},
]
graph = create_agent(
    Model(responses=[AIMessage(content="", tool_calls=calls), AIMessage(content="all done")]),
    tools=[pay, send],
    middleware=[
        HumanInTheLoopMiddleware(
            interrupt_on={
                "pay": {"allowed_decisions": ["approve", "edit"]},
                "send": {"allowed_decisions": ["approve", "reject"]},
            }
        )
    ],
)
"#;

#[test]
fn the_question_of_a_langchain_agent_is_shown_as_its_calls_and_answered_in_its_form() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program(REVIEWED);
    let run = ["--trust", "--run", r#"{"messages": [["user", "Pay and send"]]}"#];
    let asked = user.attaches(3, &python, &run);
    for shown in [
        "May these 2 tool calls run: `pay`, `send`?",
        r#"1. pay: {"amount":900}"#,
        r#"2. send: {"to":"ada"}"#,
        r#"Approve all:  "#,
    ] {
        assert!(asked.err.contains(shown), "{shown}: {}", asked.err);
    }
    assert!(
        !asked.err.contains("Reject"),
        "one of them cannot be rejected: {}",
        asked.err
    );
    let given = r#"{"decisions":[{"type":"approve"},{"type":"approve"}]}"#;
    assert!(asked.err.contains(given), "{}", asked.err);

    let edited = r#"{"decisions":[{"type":"edit","edited_action":{"name":"pay","args":{"amount":50}}},{"type":"reject","message":"no"}]}"#;
    let done = user.attaches(0, &python, &[&run[..], &["--answer", edited]].concat());
    assert!(done.out.contains("paid 50"), "{}", done.out);
    assert!(!done.out.contains("sent to ada"), "{}", done.out);
}

/// Runs a command at a terminal and types a line each time that it asks for an answer.
const TERMINAL: &str = r#"
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
lines = sys.argv[1].split("|")
child = subprocess.Popen(sys.argv[2:], stdin=theirs, stderr=subprocess.PIPE)
os.close(theirs)
said, asked = b"", 0
while piece := os.read(child.stderr.fileno(), 4096):
    said += piece
    while said.count(b"Your answer") > asked:
        os.write(ours, lines[asked].encode() + b"\n")
        asked += 1
sys.stderr.buffer.write(said)
sys.exit(child.wait())
"#;

#[cfg(unix)]
#[test]
fn questions_are_asked_at_a_terminal() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program(PROGRAM);
    let at_terminal = |lines: &str| {
        let own = user.command(&["attach", "agent.py:graph", "--trust", "--run", r#"{"n": 1}"#]);
        let mut command = std::process::Command::new(&python);
        command.args(["-c", TERMINAL, lines]).arg(own.get_program());
        command.args(own.get_args()).current_dir(user.dir.path());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.env("SUPERSTEP_PYTHON", &python).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    // Text and JSON are both answers.
    let (code, said) = at_terminal("yes|\"sure\"");
    assert_eq!(code, Some(0), "{said}");
    let asked = |question: &str| {
        said.find(question)
            .unwrap_or_else(|| panic!("{question}: {said}"))
    };
    assert!(asked("Pay 2?") < asked("Sure?"), "{said}");
    // An empty line leaves the question open, and it is said how to go on.
    let (code, said) = at_terminal("");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("--resume"), "{said}");
}

/// A loop whose threads outlive the command.
const KEPT: &str = r#"
import operator, sqlite3
from typing import Annotated
from typing_extensions import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]


def check(state):
    return {"n": state["n"] + 1, "log": ["check"]}


def pay(state):
    return {"log": ["paid"]}


builder = StateGraph(State).add_node("check", check).add_node("pay", pay).add_edge(START, "check")
builder.add_conditional_edges("check", lambda state: state["n"] > 4, {True: "pay", False: "check"})
graph = builder.compile(checkpointer=SqliteSaver(sqlite3.connect("threads.sqlite", check_same_thread=False)))
"#;

/// Adds the options that name a thread.
fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["--trust", "--thread", "one"][..], more].concat()
}

#[test]
fn a_thread_is_stopped_by_conditions_edited_and_run_again_from_a_checkpoint() {
    let Some(python) = langgraph() else { return };
    let user = User::new();
    user.program(KEPT);
    let run = with(&["--run", r#"{"n": 1}"#, "--break", "after:check if state.n == 3"]);
    let stopped = user.attaches(3, &python, &run);
    assert_eq!(stopped.json()["n"], 3);
    assert!(stopped.err.contains("After `check`"), "{}", stopped.err);
    let events = user.attaches(
        3,
        &python,
        &with(&["--resume", "--break", "watch if state.n > 3", "--json"]),
    );
    let result = events.events().pop().unwrap()["data"].clone();
    assert_eq!(
        result["stop"]["reason"],
        "The condition became true after `check`"
    );
    assert_eq!(result["values"]["n"], 4);
    let checkpoint = result["checkpoint_id"].as_str().unwrap().to_owned();
    let logs = with(&["--resume", "--break", "before:pay => {{ state.n }} before pay"]);
    let done = user.attaches(0, &python, &logs);
    assert!(done.err.contains("5 before pay"), "{}", done.err);
    assert_eq!(
        done.json()["log"],
        json!(["check", "check", "check", "check", "paid"])
    );

    // What would come of an edit, the edit, and what comes of it.
    let edit = with(&[
        "--from",
        &checkpoint,
        "--edit",
        r#"{"n": 9}"#,
        "--as-node",
        "check",
    ]);
    let seen = user.attaches(0, &python, &[&edit[..], &["--preview"]].concat());
    assert_eq!(seen.out.trim(), "nothing stored; as check the next would be: pay");
    let made = user
        .attaches(0, &python, &[&edit[..], &["--json"]].concat())
        .json();
    assert_eq!(made["next"], json!(["pay"]));
    let done = user.attaches(0, &python, &with(&["--resume"]));
    assert_eq!(
        done.json(),
        json!({"n": 9, "log": ["check", "check", "check", "paid"]})
    );
    let both = user.attaches(0, &python, &[&edit[..], &["--resume"]].concat());
    assert_eq!(both.json()["n"], 9);
    let again = user.attaches(0, &python, &with(&["--resume", "--from", &checkpoint]));
    assert_eq!(again.json()["n"], 5, "as it was");

    for (wrong, words) in [
        (&["--edit", r#"{"m": 1}"#][..], "no key m. It has: n, log."),
        (
            &["--edit", r#"{"n": 1}"#, "--from", "nowhere"],
            "has no checkpoint nowhere",
        ),
        (&["--resume", "--from", "nowhere"], "has no checkpoint nowhere"),
        (&["--resume", "--break", "before:pai"], "Did you mean `pay`?"),
        (
            &["--resume", "--break", "error:*"],
            "not stopped at places of this kind",
        ),
    ] {
        let refused = user.attaches(2, &python, &with(wrong));
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
}
