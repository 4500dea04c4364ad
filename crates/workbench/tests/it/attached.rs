//! A LangGraph program that is attached: opened like a graph, drawn as its builder has it, run, asked, stopped and started again,
//! with the LangGraph that `./dev test` installs.

use std::path::PathBuf;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_test_servers::python_with_langgraph;
use superstep_workbench::wire::{AppEvent, RunStatus};

/// An interpreter with LangGraph that the settings can name.
fn langgraph() -> Option<PathBuf> {
    if std::env::var_os("SUPERSTEP_PYTHON").is_some() {
        println!("skipped: SUPERSTEP_PYTHON is set, and comes before the settings");
        return None;
    }
    python_with_langgraph()
}

const PROGRAM: &str = r#"
import operator
from typing import Annotated
from typing_extensions import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]


def check(state):
    print("checks")
    return {"n": state["n"] + 1}


def review(state):
    answer = interrupt({"question": f"Pay {state['n']}?"})
    return {"log": [answer]}


def choose(state):
    return "pay" if state["log"][-1] == "yes" else END


def pay(state):
    return {"log": ["paid" if state["n"] else 1 / 0]}


inner = StateGraph(State).add_node("pay", pay).add_edge(START, "pay").compile()
builder = StateGraph(State).add_node("check", check).add_node("review", review).add_node("pay", inner)
builder.add_edge(START, "check").add_edge("check", "review").add_conditional_edges("review", choose, ["pay", END])
graph = builder.compile()
"#;

/// A folder with a program, and a workbench.
struct Attached {
    app: App,
    folder: tempfile::TempDir,
    python: PathBuf,
}

impl Attached {
    /// `None` where tests run without LangGraph.
    async fn with(program: &str) -> Option<Self> {
        let python = langgraph()?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("program")).unwrap();
        let app = App::open(&folder.path().join("data")).await;
        let mut settings = app.ok("app.info", json!({})).await["settings"].clone();
        settings["python"] = python.display().to_string().into();
        app.ok("settings.set", settings).await;
        let attached = Self { app, folder, python };
        attached.write(program);
        Some(attached)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("program/agent.py")
    }

    fn write(&self, program: &str) {
        std::fs::write(self.file(), program).unwrap();
    }

    fn named(&self) -> String {
        format!("{}:graph", self.file().display())
    }

    /// Allows what the program wants, as a person does who is asked.
    async fn allow(&self) {
        let refused = self
            .app
            .refused("graph.open", json!({"path": self.named()}))
            .await;
        let needed = refused.trust.unwrap();
        assert_eq!(needed.wants.len(), 1, "the interpreter is asked for: {needed:?}");
        let accesses: Vec<Value> = needed.wants.iter().map(|want| json!(want.access)).collect();
        let grant = json!({"project": needed.project, "accesses": accesses});
        self.app.ok("trust.grant", grant).await;
    }

    /// Attaches the program, which is allowed.
    async fn open(&self) -> Value {
        self.allow().await;
        self.app.ok("graph.open", json!({"path": self.named()})).await
    }
}

/// The values of a section's records, by their names.
fn section<'a>(view: &'a Value, prefix: &str) -> Vec<(&'a str, &'a Value)> {
    let records = view["records"].as_array().unwrap().iter();
    records
        .filter_map(|record| Some((record["id"].as_str()?.strip_prefix(prefix)?, &record["value"])))
        .collect()
}

fn status(events: &[AppEvent]) -> RunStatus {
    let ended = events.iter().rev().find_map(|event| match event {
        AppEvent::Run { run } => Some(run.status),
        _ => None,
    });
    ended.unwrap()
}

fn nodes_that_began(events: &[AppEvent]) -> Vec<&str> {
    let began = events.iter().filter_map(|event| match event {
        AppEvent::TaskStarted { node, .. } => Some(&**node),
        _ => None,
    });
    began.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_allowed_opened_and_drawn_as_its_builder_has_it() {
    let Some(attached) = Attached::with(PROGRAM).await else {
        return;
    };
    let app = &attached.app;
    let refused = app.refused("graph.open", json!({"path": attached.named()})).await;
    assert_eq!(refused.code, "trust-needed");
    let graph = attached.open().await;
    let nodes = section(&graph, "node:");
    let names: Vec<&str> = nodes.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["check", "review", "pay"]);
    assert_eq!(nodes[0].1["config"]["at"], "agent.py:15");
    assert_eq!(nodes[2].1["kind"], "graph");
    let ways: Vec<String> = section(&graph, "edge:")
        .iter()
        .map(|(id, edge)| format!("{id} {}", edge["when"].as_str().unwrap_or("always")))
        .collect();
    for way in [
        "__start__>check always",
        "check>review always",
        "review>pay pay",
        "review>__end__ end",
    ] {
        assert!(ways.iter().any(|known| known == way), "{way}: {ways:?}");
    }
    assert_eq!(section(&graph, "layout:").len(), 5, "every node has a place");
    let keys: Vec<&str> = section(&graph, "key:").iter().map(|(name, _)| *name).collect();
    assert_eq!(keys, ["n", "log"]);
    assert_eq!(graph["diagnostics"], json!([]));
    let program = &graph["seen"]["attached"];
    assert_eq!(program["interpreter"], attached.python.display().to_string());
    assert_eq!(program["changed"], false);
    assert!(program["named"].as_str().unwrap().ends_with("agent.py:graph"));

    let inside = json!({"graphId": graph["graphId"], "path": ["pay"]});
    let inside = app.ok("graph.inside", inside).await;
    assert_eq!(section(&inside, "node:")[0].0, "pay");
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(
        (&info["onlyRead"], &info["attached"]),
        (&json!(true), &program["named"])
    );
    let recents = app.ok("app.info", json!({})).await["recents"].clone();
    assert_eq!(recents[0]["exists"], true);
    // The only graph of a file needs no name.
    let again = app.ok("graph.open", json!({"path": attached.file()})).await;
    assert_eq!(again["graphId"], graph["graphId"]);
    // Threads of one's own end it.
    app.ok("storage.use", json!({})).await;
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(info.get("attached"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_followed_and_its_question_answered() {
    let Some(mut attached) = Attached::with(PROGRAM).await else {
        return;
    };
    let graph = attached.open().await["graphId"].clone();
    let action = json!({"type": "input", "input": {"n": 1}});
    let (run, events) = attached
        .app
        .run(json!({"graphId": graph, "action": action}))
        .await;
    assert_eq!(status(&events), RunStatus::Asking);
    assert_eq!(nodes_that_began(&events), ["check", "review"]);
    let printed = events
        .iter()
        .any(|event| matches!(event, AppEvent::Custom { value, .. } if *value == "checks"));
    assert!(printed, "what it prints is in the run");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let app = &mut attached.app;
    let asked = app.ok("inbox.list", json!({})).await;
    let asked = asked["questions"][0].clone();
    let answers = json!({asked["interruptId"].as_str().unwrap(): "yes"});
    let action = json!({"type": "resume", "answers": answers, "checkpointId": asked["checkpointId"]});
    let request = json!({"graphId": graph, "threadId": thread, "action": action});
    // As the form of the window gives it.
    let given = app
        .ok("answer.give", json!({"starts": [request], "holdMs": 0}))
        .await;
    assert_eq!(given["refused"], json!([]));
    let ended = |event: &AppEvent| match event {
        AppEvent::Run { run } if run.status != RunStatus::Running => Some(run.status),
        _ => None,
    };
    assert_eq!(app.until(ended).await, RunStatus::Done);
    assert_eq!(
        app.state(&thread, None).await["log"],
        json!(["yes", "yes", "paid"])
    );

    // Its threads, steps and earlier states are there as those of every database.
    let threads = app.ok("thread.list", json!({"graphId": graph})).await;
    assert_eq!(threads["threads"][0]["status"], "done");
    let steps = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let steps = steps["checkpoints"].as_array().unwrap();
    assert_eq!(steps.len(), 5, "input, start, and a step of each node: {steps:?}");
    let before = steps[2]["id"].as_str().unwrap();
    assert_eq!(app.state(&thread, Some(before)).await["n"], 2);

    // A node that fails: the line of the program. The state of the thread is as it was.
    let action = json!({"type": "input", "input": {"n": -1}});
    let (run, _) = app.run(json!({"graphId": graph, "action": action})).await;
    let asked = app.ok("inbox.list", json!({})).await["questions"][0]["interruptId"].clone();
    let action = json!({"type": "resume", "answers": {asked.as_str().unwrap(): "yes"}});
    let request = json!({"graphId": graph, "threadId": run["threadId"], "action": action});
    let (_, events) = app.run(request).await;
    assert_eq!(status(&events), RunStatus::Failed);
    let problem = events.iter().find_map(|event| match event {
        AppEvent::Run { run } => run.problem.clone(),
        _ => None,
    });
    let problem = problem.unwrap();
    assert!(
        problem.message.contains("ZeroDivisionError") && problem.message.contains("agent.py:30"),
        "{problem:?}"
    );
}

/// A node that waits for a file, so that nothing depends on time.
const WAITS: &str = r#"
import asyncio, os
from typing_extensions import TypedDict

from langgraph.graph import START, StateGraph


class State(TypedDict):
    n: int


async def wait(state):
    while not os.path.exists("go"):
        await asyncio.sleep(0.01)
    return {"n": state["n"] + 1}


graph = StateGraph(State).add_node("wait", wait).add_edge(START, "wait").compile()
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_stopped_and_goes_on_where_it_was() {
    let Some(mut attached) = Attached::with(WAITS).await else {
        return;
    };
    let graph = attached.open().await["graphId"].clone();
    let action = json!({"type": "input", "input": {"n": 1}});
    let request = json!({"graphId": graph, "action": action});
    let app = &mut attached.app;
    let run = app.ok("run.start", request.clone()).await;
    let begins = |event: &AppEvent| matches!(event, AppEvent::TaskStarted { .. }).then_some(());
    app.until(begins).await;
    // Nothing is started again while a thread runs.
    let busy = app
        .refused(
            "graph.open",
            json!({"path": format!("{}:graph", attached.folder.path().join("program/agent.py").display())}),
        )
        .await;
    assert_eq!(busy.code, "busy");
    app.ok("run.stop", json!({"threadId": run["threadId"]})).await;
    let thread = app.ok("thread.get", json!({"threadId": run["threadId"]})).await;
    assert_eq!(thread["status"], "stopped");
    std::fs::write(attached.folder.path().join("program/go"), "").unwrap();
    let on = json!({"graphId": graph, "threadId": run["threadId"], "action": {"type": "continue"}});
    let (_, events) = app.run(on).await;
    assert_eq!(status(&events), RunStatus::Done);
    assert_eq!(app.state(run["threadId"].as_str().unwrap(), None).await["n"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_is_said_and_runs_as_it_is_now_and_threads_stay() {
    let Some(mut attached) = Attached::with(PROGRAM).await else {
        return;
    };
    let graph = attached.open().await["graphId"].clone();
    let action = json!({"type": "input", "input": {"n": 1}});
    let request = json!({"graphId": graph, "action": action});
    let (first, _) = attached.app.run(request.clone()).await;
    attached.write(&PROGRAM.replace("state[\"n\"] + 1", "state[\"n\"] + 10"));
    let rev = |event: &AppEvent| match event {
        AppEvent::Diagnostics { graph_id, .. } => Some(graph_id.clone()),
        _ => None,
    };
    // The graph is published for what the first run has shown of it, too.
    loop {
        assert_eq!(attached.app.until(rev).await, graph.as_str().unwrap());
        let view = attached.app.ok("graph.get", json!({"graphId": graph})).await;
        if view["seen"]["attached"]["changed"] == true {
            break;
        }
    }
    let (second, _) = attached.app.run(request).await;
    let app = &attached.app;
    let n = |run: &Value| run["threadId"].as_str().unwrap().to_owned();
    assert_eq!(app.state(&n(&second), None).await["n"], 11);
    assert_eq!(app.state(&n(&first), None).await["n"], 2);
    let view = app.ok("graph.get", json!({"graphId": graph})).await;
    assert_eq!(view["seen"]["attached"]["changed"], false);
    let threads = app.ok("thread.list", json!({"graphId": graph})).await;
    assert_eq!(threads["threads"].as_array().unwrap().len(), 2);

    // A program that cannot be imported leaves the one that is attached.
    attached.write("import langgraph\nimport nothing_of_that_name\n");
    let problem = app.refused("graph.open", json!({"path": attached.named()})).await;
    assert_eq!(problem.code, "import-failed");
    assert!(problem.message.contains("agent.py, line 2"), "{problem:?}");
    assert!(problem.remedy.unwrap().contains("nothing_of_that_name"));
    assert!(app.ok("storage.info", json!({})).await.get("attached").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_in_the_programs_own_database_are_read_there() {
    let saver = "\nimport sqlite3\nfrom langgraph.checkpoint.sqlite import SqliteSaver\n\
        graph = builder.compile(checkpointer=SqliteSaver(sqlite3.connect('own.sqlite', check_same_thread=False)))\n";
    let Some(mut attached) = Attached::with(&format!("{PROGRAM}{saver}")).await else {
        return;
    };
    let view = attached.open().await;
    assert!(
        view["seen"]["database"].as_str().unwrap().ends_with("own.sqlite"),
        "{}",
        view["seen"]
    );
    let action = json!({"type": "input", "input": {"n": 1}});
    let request = json!({"graphId": view["graphId"], "action": action});
    let (run, events) = attached.app.run(request).await;
    assert_eq!(status(&events), RunStatus::Asking);
    let thread = run["threadId"].as_str().unwrap();
    assert_eq!(attached.app.state(thread, None).await["n"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_a_saver_that_only_the_program_reads_are_copied() {
    let saver = "\nfrom langgraph.checkpoint.memory import InMemorySaver\nclass Theirs(InMemorySaver): pass\n\
        graph = builder.compile(checkpointer=Theirs())\n\
        graph.invoke({'n': 5}, {'configurable': {'thread_id': 'before'}})\n";
    let Some(mut attached) = Attached::with(&format!("{PROGRAM}{saver}")).await else {
        return;
    };
    let view = attached.open().await;
    assert_eq!(attached.app.state("before", None).await["n"], 6);
    let action = json!({"type": "input", "input": {"n": 1}});
    let request = json!({"graphId": view["graphId"], "action": action});
    let (run, events) = attached.app.run(request).await;
    assert_eq!(status(&events), RunStatus::Asking);
    let asked = attached.app.ok("inbox.list", json!({})).await;
    assert_eq!(asked["questions"].as_array().unwrap().len(), 2);
    assert_eq!(
        attached.app.state(run["threadId"].as_str().unwrap(), None).await["n"],
        2
    );
}

/// A state that pydantic makes no schema of, conditions with and without a map, a reducer, and a node that ends the process.
const DESK: &str = r#"
import operator, os
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph


class Odd:
    pass


class State(TypedDict, total=False):
    n: int
    log: Annotated[list, operator.add]
    odd: Odd


class Given(TypedDict, total=False):
    n: int
    odd: Odd


def check(state):
    return {"n": state["n"] + 1, "log": ["check"]}


def pay(state):
    return {"log": ["paid"]} if state["n"] < 100 else os._exit(3)


def route(state):
    return state["n"] > 3


def again(state):
    return "check" if state["n"] < 6 else END


builder = StateGraph(State, input_schema=Given).add_node("check", check).add_node("pay", pay)
builder.add_edge(START, "check").add_conditional_edges("check", route, {True: "pay", False: "check"})
builder.add_conditional_edges("pay", again, ["check", END])
graph = builder.compile()
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ways_have_their_own_labels_and_a_form_needs_no_schema() {
    let Some(attached) = Attached::with(DESK).await else {
        return;
    };
    let graph = attached.open().await;
    let ways: Vec<String> = section(&graph, "edge:")
        .iter()
        .map(|(id, edge)| format!("{id} {}", edge["when"].as_str().unwrap_or("always")))
        .collect();
    for way in [
        "check>pay True",
        "check>check False",
        "pay>check check",
        "pay>__end__ end",
    ] {
        assert!(ways.iter().any(|known| known == way), "{way}: {ways:?}");
    }
    let keys = section(&graph, "key:");
    let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["n", "odd"], "those of the input");
    assert_eq!(keys[0].1["type"], "integer");
    let lacking = graph["seen"]["attached"]["lacking"].to_string();
    assert!(
        lacking.contains("made from the type hints of agent.Given"),
        "{lacking}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn breakpoints_of_a_program_stop_before_after_and_when_a_condition_holds() {
    let Some(mut attached) = Attached::with(DESK).await else {
        return;
    };
    let graph = attached.open().await["graphId"].clone();
    let app = &mut attached.app;
    let point = |when: &str, node: &str, condition: &str| json!({"id": format!("{when}-{node}"), "when": when, "node": node, "condition": condition, "enabled": true});
    let start = |points: Value, action: Value, thread: &Value| {
        let mut request = json!({"graphId": graph, "action": action, "breakpoints": points});
        if thread.is_string() {
            request["threadId"] = thread.clone();
        }
        request
    };
    let stop = |events: &[AppEvent]| {
        let run = events.iter().rev().find_map(|event| match event {
            AppEvent::Run { run } => Some(run.clone()),
            _ => None,
        });
        let run = run.unwrap();
        (
            run.status,
            run.stop
                .map(|stop| (stop.breakpoint.unwrap_or_default(), stop.reason)),
        )
    };
    let stopped = |id: &str, reason: &str| (RunStatus::Paused, Some((id.to_owned(), reason.to_owned())));

    let input = json!({"type": "input", "input": {"n": 1}});
    let points = json!([
        point("before", "pay", "state.n == 5"),
        point("after", "check", "state.n == 3")
    ]);
    let (run, events) = app.run(start(points.clone(), input.clone(), &Value::Null)).await;
    assert_eq!(stop(&events), stopped("after-check", "After `check`"));
    let thread = run["threadId"].clone();
    let id = thread.as_str().unwrap();
    assert_eq!(app.state(id, None).await["n"], 3);
    let on = json!({"type": "continue"});
    let (_, events) = app.run(start(points.clone(), on.clone(), &thread)).await;
    assert_eq!(stop(&events), stopped("before-pay", "Before `pay`"));
    assert_eq!(
        app.state(id, None).await["n"],
        5,
        "it was let go on where the condition did not hold"
    );
    let (_, events) = app.run(start(points, on.clone(), &thread)).await;
    assert_eq!(stop(&events), (RunStatus::Done, None));
    assert_eq!(app.state(id, None).await["n"], 6);

    // One that logs, and one that waits for a condition to become true.
    let mut logs = point("after", "check", "");
    logs["log"] = "n is {{ state.n }}".into();
    let points = json!([logs, point("watch", "", "state.n > 3")]);
    let (_, events) = app.run(start(points, input.clone(), &Value::Null)).await;
    assert_eq!(
        stop(&events),
        stopped("watch-", "The condition became true after `check`")
    );
    let logged: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            AppEvent::Custom { value, .. } => Some(value["log"].as_str()?.to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(logged, ["n is 2", "n is 3", "n is 4"]);

    // What a program is not stopped at is refused in words, where it is typed and where it runs.
    let key = json!({"when": "key", "key": "n", "node": "", "enabled": true});
    let problem = app
        .refused("run.start", start(json!([key]), input, &Value::Null))
        .await;
    assert!(
        problem.message.contains("not stopped at places of this kind"),
        "{problem:?}"
    );
    for (point, words) in [
        (point("before", "pay", "state.nope > 1"), Some("no key `nope`")),
        (point("before", "pai", ""), Some("Did you mean `pay`?")),
        // A key that no input sets.
        (point("before", "pay", "state.log"), None),
    ] {
        let request = json!({"point": point, "graphId": graph});
        match words {
            Some(words) => {
                let problem = app.refused("breakpoint.check", request).await;
                assert!(problem.message.contains(words), "{problem:?}");
            }
            None => drop(app.ok("breakpoint.check", request).await),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_of_a_program_is_edited_forked_and_run_again_from_a_checkpoint() {
    let Some(mut attached) = Attached::with(DESK).await else {
        return;
    };
    let graph = attached.open().await["graphId"].clone();
    let app = &mut attached.app;
    let input = json!({"type": "input", "input": {"n": 1}});
    let (run, _) = app.run(json!({"graphId": graph, "action": input})).await;
    let id = run["threadId"].as_str().unwrap().to_owned();
    let all = app.ok("thread.checkpoints", json!({"threadId": id})).await["checkpoints"].clone();
    let first = all
        .as_array()
        .unwrap()
        .iter()
        .find(|point| point["next"] == json!(["check"]));
    let first = first.unwrap()["id"].clone();
    let edit = |preview: bool| {
        json!({"threadId": id, "checkpointId": first, "graphId": graph, "values": {"n": 9, "log": ["mine"]},
            "overwrite": ["n", "log"], "asNode": "check", "preview": preview})
    };
    let seen = app.ok("thread.update", edit(true)).await;
    assert_eq!(seen, json!({"next": ["pay"], "asNode": "check"}));
    let made = app.ok("thread.update", edit(false)).await;
    assert_eq!(made["next"], json!(["pay"]));
    let forked = app.ok("thread.checkpoints", json!({"threadId": id})).await["checkpoints"].clone();
    assert_eq!(
        forked.as_array().unwrap().len(),
        all.as_array().unwrap().len() + 1
    );
    assert_eq!(forked[0]["id"], made["checkpointId"]);
    assert_eq!(forked[0]["parent"], first);
    let (_, events) = app
        .run(json!({"graphId": graph, "threadId": id, "action": {"type": "continue"}}))
        .await;
    assert_eq!(status(&events), RunStatus::Done);
    let state = app.state(&id, None).await;
    assert_eq!(
        (&state["n"], &state["log"]),
        (&json!(9), &json!(["mine", "paid"]))
    );

    // From the same checkpoint as it was.
    let replay = json!({"type": "replay", "checkpointId": first});
    let (_, events) = app
        .run(json!({"graphId": graph, "threadId": id, "action": replay}))
        .await;
    assert_eq!(nodes_that_began(&events)[0], "check");
    assert_eq!(app.state(&id, None).await["n"], 6);

    let wrong = json!({"threadId": id, "values": {"nope": 1}, "graphId": graph});
    let problem = app.refused("thread.update", wrong).await;
    assert_eq!(problem.code, "invalid-update");
    assert!(problem.message.contains("no key nope") && problem.remedy.unwrap().contains("log"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_whose_process_ends_is_said_and_the_next_run_starts_it_again() {
    let Some(mut attached) = Attached::with(DESK).await else {
        return;
    };
    let graph = attached.open().await["graphId"].clone();
    let app = &mut attached.app;
    let start = |n: i64| json!({"graphId": graph, "action": {"type": "input", "input": {"n": n}}});
    let (_, events) = app.run(start(500)).await;
    assert_eq!(status(&events), RunStatus::Failed);
    let problem = events.iter().rev().find_map(|event| match event {
        AppEvent::Run { run } => run.problem.clone(),
        _ => None,
    });
    let problem = problem.unwrap();
    assert!(problem.message.contains("The program ended"), "{problem:?}");
    let (_, events) = app.run(start(1)).await;
    assert_eq!(status(&events), RunStatus::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_that_never_ends_is_cancelled() {
    let text = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(1000)\n";
    let Some(attached) = Attached::with(text).await else {
        return;
    };
    attached.allow().await;
    let app = &attached.app;
    let begun = attached.file().with_file_name("begun");
    let opens = app.refused("graph.open", json!({"path": attached.named(), "work": "opens"}));
    let cancels = async {
        while !begun.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        app.ok("work.cancel", json!({"work": "opens"})).await
    };
    let (problem, _) = tokio::join!(opens, cancels);
    assert_eq!(problem.code, "cancelled");
    assert!(app.ok("storage.info", json!({})).await.get("attached").is_none());
    // The next one is opened as ever.
    attached.write(DESK);
    app.ok("graph.open", json!({"path": attached.named()})).await;
}
