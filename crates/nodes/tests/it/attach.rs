//! LangGraph programs that are attached: their drawings, runs and errors, with the LangGraph that `./dev test` installs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep_nodes::attach::{
    AttachError, AttachFaultCode, AttachOptions, AttachTarget, AttachedDescription, AttachedEvent,
    AttachedInput, AttachedProgram, AttachedState, DrawnFrom, DrawnWay, GraphDrawing, ProgramEdit, RunSpec,
    WayKind, wanted,
};
use superstep_nodes::{Access, Environment, Grants};
use superstep_test_servers::python_with_langgraph as langgraph;

use crate::support::wait_until;

/// A project with a program in it.
struct Programs {
    folder: tempfile::TempDir,
    python: PathBuf,
}

impl Programs {
    /// `None` where tests run without LangGraph.
    fn of(files: &[(&str, &str)]) -> Option<Self> {
        let python = langgraph()?;
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Some(Self { folder, python })
    }

    fn environment(&self, target: &AttachTarget) -> Environment {
        let python = self.python.to_string_lossy().into_owned();
        Environment::new(Some(target.root().to_owned()))
            .with_variables(move |name| match name {
                "SUPERSTEP_PYTHON" => Some(python.clone()),
                "GREETING" => Some("hello".to_owned()),
                _ => None,
            })
            .with_grants(Grants::all())
    }

    async fn attach(&self, named: &str) -> Result<AttachedProgram, AttachError> {
        self.attach_with(named, &patient()).await
    }

    async fn attach_with(
        &self,
        named: &str,
        options: &AttachOptions,
    ) -> Result<AttachedProgram, AttachError> {
        let target = AttachTarget::find(named, self.folder.path())?;
        let environment = self.environment(&target);
        AttachedProgram::start(target, &environment, options).await
    }

    async fn describe(&self, named: &str) -> AttachedDescription {
        let program = self.attach(named).await.unwrap();
        program.describe().await.unwrap()
    }

    async fn refused(&self, named: &str) -> AttachError {
        match self.attach(named).await {
            Ok(_) => panic!("{named} was attached"),
            Err(error) => error,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }
}

/// No limit is reached because the machine is busy.
fn patient() -> AttachOptions {
    AttachOptions {
        import_limit: Duration::from_mins(30),
        stop_limit: Duration::from_mins(30),
        ..AttachOptions::default()
    }
}

/// Takes what is printed until these lines have been, those that were dropped counted; gives the lines of the last time.
async fn printed(program: &AttachedProgram, count: usize) -> (Vec<String>, usize) {
    let (mut all, mut dropped) = (Vec::new(), 0);
    while all.len() + dropped < count {
        program.prints().await;
        let (lines, more) = program.printed();
        all.extend(lines);
        dropped += usize::try_from(more).unwrap();
    }
    (all, dropped)
}

/// The graphs that are drawn, one shape each.
const SHAPES: &str = r#"
import operator
from typing import Annotated, Literal
from typing_extensions import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import Command, RetryPolicy, Send


class State(TypedDict):
    n: int
    log: Annotated[list[str], operator.add]


def longest(old, new):
    return max(old or "", new or "", key=len)


class Kept(TypedDict):
    best: Annotated[str, longest]
    steps: RemainingSteps


class Context(TypedDict):
    user: str


def step(state):
    return {"log": ["step"]}


class Worker:
    def work(self, state):
        return {"log": ["work"]}


def choose(state) -> str:
    return "high" if state["n"] > 3 else "low"


def builder(*names, state=State, **options):
    made = StateGraph(state, **options)
    for name in names:
        made.add_node(name, step)
    return made


mapped = builder("a", "b", "c").add_edge(START, "a").add_conditional_edges("a", choose, {"high": "b", "low": "c", "stop": END})
mapped.add_edge("b", END)
mapped = mapped.compile()


def onward(state):
    if state["n"] > 3:
        return ["b", "c"]
    return END


def secret(state):
    return state["where"]


unmapped = builder("a", "b", "c").add_edge(START, "a").add_conditional_edges("a", onward).add_conditional_edges("b", secret)
unmapped.set_conditional_entry_point(lambda state: "a" if state["n"] else END)
unmapped = unmapped.compile()


def literal(state) -> Literal["b", "__end__"]:
    return "b"


joined = builder("a", "b", "c", "d").add_edge(START, "a").add_edge(START, "b").add_edge(["a", "b"], "c").add_edge("c", "d")
joined.add_conditional_edges("d", literal)
joined = joined.compile(interrupt_before=["c"], interrupt_after="*")


def fan(state):
    return [Send("work", {"item": item}) for item in range(3)]


sending = StateGraph(Kept, context_schema=Context)
sending.add_node("plan", step)
sending.add_node("work", Worker().work, retry_policy=RetryPolicy(max_attempts=4))
sending.add_node("sum", step, defer=True, metadata={"kind": "sum"})
sending.add_edge(START, "plan").add_conditional_edges("plan", fan).add_edge("work", "sum")
sending = sending.compile()


def declared(state) -> Command[Literal["b", "__end__"]]:
    return Command(goto="b")


def undeclared(state):
    return Command(goto="c", update={})


goto = StateGraph(State).add_node("a", declared).add_node("b", undeclared).add_node("c", step)
goto.add_node("d", step, destinations={"a": "again", END: "enough"}).add_edge(START, "a")
goto = goto.compile()


inner = builder("x", "y").add_edge(START, "x").add_edge("x", "y").compile()


def calls(state):
    return inner.invoke(state)


nested = StateGraph(State).add_node("direct", inner).add_node("called", calls).add_edge(START, "direct").add_edge("direct", "called")
nested = nested.compile()


@task
def double(n):
    return 2 * n


@entrypoint(checkpointer=InMemorySaver())
def functional(n: int, *, previous: int = 0) -> int:
    return double(n).result()


saved = builder("a", state=MessagesState).add_edge(START, "a").compile(checkpointer=InMemorySaver(), name="saved")

uncompiled = builder("a").add_edge(START, "a")


def make(config):
    return uncompiled


async def make_async():
    return inner


class Held:
    def __enter__(self):
        return inner

    def __exit__(self, *error):
        pass


class HeldAsync:
    async def __aenter__(self):
        return inner

    async def __aexit__(self, *error):
        pass
"#;

/// An agent of LangChain's.
const AGENT: &str = r#"
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def answers():
    yield AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1, "b": 2}, "id": "1"}])
    yield AIMessage("It is three.")


agent = create_agent(Scripted(messages=answers()), [add])
"#;

/// `FROM->TO` of the ways of a kind; a guess has a question mark, a label follows in brackets.
fn ways(drawing: &GraphDrawing, kind: WayKind) -> Vec<String> {
    let of = |way: &DrawnWay| {
        let label = way.label.as_ref().map(|label| format!("[{label}]"));
        let guessed = if way.guessed { "?" } else { "" };
        format!("{}->{}{guessed}{}", way.from, way.to, label.unwrap_or_default())
    };
    let of_kind = drawing.ways.iter().filter(|way| way.kind == kind);
    of_kind.map(of).collect()
}

fn names(drawing: &GraphDrawing) -> Vec<&str> {
    drawing.nodes.iter().map(|node| node.name.as_str()).collect()
}

fn line_of(text: &str, part: &str) -> u64 {
    text.lines().position(|line| line.contains(part)).unwrap() as u64 + 1
}

#[tokio::test]
async fn conditions_are_drawn_with_and_without_a_map_of_their_targets() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    let described = programs.describe("agent.py:mapped").await;
    let drawing = &described.drawing;
    assert_eq!(drawing.source, DrawnFrom::Builder);
    assert_eq!(names(drawing), ["a", "b", "c"]);
    assert_eq!(ways(drawing, WayKind::Edge), ["__start__->a", "b->__end__"]);
    assert_eq!(
        ways(drawing, WayKind::Branch),
        ["a->b[high]", "a->c[low]", "a->__end__[stop]"]
    );
    let branch = &drawing.branches[0];
    assert_eq!(
        (&*branch.from, &*branch.name, branch.guessed),
        ("a", "choose", false)
    );
    assert_eq!(branch.function.file.as_deref(), Some(&*programs.path("agent.py")));
    assert_eq!(branch.function.line, Some(line_of(SHAPES, "def choose")));
    let node = &drawing.nodes[0].function;
    assert_eq!((&*node.kind, &*node.name), ("function", "step"));
    assert_eq!(node.line, Some(line_of(SHAPES, "def step")));
    let channels: Vec<_> = drawing
        .channels
        .iter()
        .map(|channel| {
            let reducer = channel.reducer.as_ref();
            let reducer = reducer.map(|it| format!("{}.{}", it.module.as_deref().unwrap_or(""), it.name));
            (&*channel.name, channel.of.as_deref().unwrap_or(""), reducer)
        })
        .collect();
    assert_eq!(
        channels,
        [
            ("n", "int", None),
            ("log", "list[str]", Some("operator.add".to_owned()))
        ]
    );
    let input = described.schemas.input_schema.unwrap();
    assert_eq!(input["properties"]["n"]["type"], "integer");
    assert_eq!(described.schemas.context_schema, None);
    assert_eq!(described.lacking, [""; 0]);
    assert!(described.versions.langgraph.is_some(), "{:?}", described.versions);

    let drawing = programs.describe("agent.py:unmapped").await.drawing;
    assert_eq!(
        ways(&drawing, WayKind::Branch),
        [
            "__start__->a?",
            "__start__->__end__?",
            "a->b?",
            "a->c?",
            "a->__end__?"
        ],
        "what the code names is a guess"
    );
    let secret = drawing
        .branches
        .iter()
        .find(|branch| branch.name == "secret")
        .unwrap();
    assert!(secret.open && secret.guessed, "it may lead anywhere: {secret:?}");
}

#[tokio::test]
async fn joins_stops_and_literal_targets_are_drawn() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    let drawing = programs.describe("agent.py:joined").await.drawing;
    assert_eq!(drawing.joins.len(), 1);
    assert_eq!(
        (&*drawing.joins[0].from.join(","), &*drawing.joins[0].to),
        ("a,b", "c")
    );
    assert_eq!(
        ways(&drawing, WayKind::Edge),
        ["__start__->a", "__start__->b", "c->d"],
        "a join is no edges"
    );
    assert_eq!(ways(&drawing, WayKind::Branch), ["d->b", "d->__end__"]);
    assert_eq!(drawing.break_before, ["c"]);
    assert_eq!(drawing.break_after, ["*"]);
    assert_eq!(drawing.checkpointer, Json::Null);
}

#[tokio::test]
async fn packets_policies_reducers_and_the_context_are_drawn() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    let described = programs.describe("agent.py:sending").await;
    let drawing = &described.drawing;
    assert_eq!(ways(drawing, WayKind::Branch), ["plan->work?"]);
    let node = |name: &str| drawing.nodes.iter().find(|node| node.name == name).unwrap();
    assert_eq!(node("work").retry, Some(4));
    assert_eq!(
        (&*node("work").function.kind, &*node("work").function.name),
        ("method", "Worker.work")
    );
    assert!(node("sum").defer && !node("plan").defer);
    assert_eq!(node("sum").metadata, json!({"kind": "sum"}));
    let channel = |name: &str| drawing.channels.iter().find(|it| it.name == name).unwrap();
    let own = channel("best").reducer.clone().unwrap();
    assert_eq!(
        (&*own.name, own.line),
        ("longest", Some(line_of(SHAPES, "def longest")))
    );
    assert!(channel("steps").managed && !channel("best").managed);
    let context = described.schemas.context_schema.unwrap();
    assert_eq!(context["properties"]["user"]["type"], "string");
}

#[tokio::test]
async fn commands_are_drawn_by_what_they_declare_and_by_what_their_code_names() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    let drawing = programs.describe("agent.py:goto").await.drawing;
    assert_eq!(
        ways(&drawing, WayKind::Command),
        ["a->b", "a->__end__", "b->c?", "d->a[again]", "d->__end__[enough]"]
    );
}

#[tokio::test]
async fn graphs_within_nodes_are_drawn_there() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    let drawing = programs.describe("agent.py:nested").await.drawing;
    let direct = drawing.nodes[0].graph.as_ref().unwrap();
    assert_eq!(names(direct), ["x", "y"]);
    assert_eq!(ways(direct, WayKind::Edge), ["__start__->x", "x->y"]);
    assert!(!drawing.nodes[0].called, "the node is the graph");
    let called = &drawing.nodes[1];
    assert!(
        called.called && called.graph.is_some(),
        "its function calls it: {called:?}"
    );
}

#[tokio::test]
async fn programs_without_a_builder_are_drawn_as_langgraph_does() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    let described = programs.describe("agent.py:functional").await;
    let drawing = &described.drawing;
    assert_eq!(drawing.source, DrawnFrom::GetGraph);
    assert_eq!(names(drawing), ["functional"]);
    assert_eq!(
        drawing.nodes[0].function.line,
        Some(line_of(SHAPES, "@entrypoint"))
    );
    assert_eq!(drawing.nodes[0].tasks[0].name, "double");
    assert_eq!(drawing.checkpointer, "langgraph.checkpoint.memory.InMemorySaver");
    assert!(
        described.lacking.iter().any(|it| it.contains("joins")),
        "{described:?}"
    );
}

#[tokio::test]
async fn an_agent_of_langchain_is_drawn_and_runs() {
    let Some(programs) = Programs::of(&[("agent.py", AGENT)]) else {
        return;
    };
    let program = programs.attach("agent.py:agent").await.unwrap();
    let drawing = program.describe().await.unwrap().drawing;
    assert_eq!(names(&drawing), ["model", "tools"]);
    let branches = ways(&drawing, WayKind::Branch);
    for way in ["model->tools", "model->__end__", "tools->model"] {
        assert!(branches.contains(&way.to_owned()), "{way}: {branches:?}");
    }
    let messages = drawing.channels.iter().find(|it| it.name == "messages").unwrap();
    assert_eq!(messages.reducer.as_ref().unwrap().name, "add_messages");
    let input = json!({"messages": [{"role": "user", "content": "1 + 2?"}]});
    let (events, state) = follow(&program, &RunSpec::new("t", AttachedInput::Given(input.into()))).await;
    let state = state.unwrap();
    assert_eq!(state.status, "done");
    let values = Json::from(&state.values);
    let said: Vec<_> = values["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["type"])
        .collect();
    assert_eq!(said, ["human", "ai", "tool", "ai"]);
    assert_eq!(values["messages"][3]["content"], "It is three.");
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn whatever_makes_a_graph_is_called_or_entered() {
    let Some(programs) = Programs::of(&[("agent.py", SHAPES)]) else {
        return;
    };
    for (name, nodes) in [
        ("uncompiled", &["a"][..]),
        ("make", &["a"]),
        ("make_async", &["x", "y"]),
        ("Held", &["x", "y"]),
        ("HeldAsync", &["x", "y"]),
    ] {
        let described = programs.describe(&format!("agent.py:{name}")).await;
        assert_eq!(names(&described.drawing), nodes, "{name}");
        assert_eq!(
            described.compiled_here,
            matches!(name, "uncompiled" | "make"),
            "{name}"
        );
        assert_eq!(described.made_by.is_some(), name != "uncompiled", "{name}");
    }
    let saved = programs.describe("agent.py:saved").await.drawing;
    assert_eq!(saved.name, "saved");
    assert_eq!(saved.checkpointer, "langgraph.checkpoint.memory.InMemorySaver");
    assert_eq!(saved.channels[0].reducer.as_ref().unwrap().name, "add_messages");
}

#[tokio::test]
async fn packages_modules_and_variables_of_a_langgraph_json_are_found() {
    let config = json!({"dependencies": ["."], "env": "settings.env", "graphs": {
        "file": "./src/shop/agent.py:graph", "module": "shop.agent:graph", "plain": "./queue.py:graph"}});
    // `queue` has the name of a module of Python's library.
    let text = "
import os
from langgraph.graph import START, StateGraph
{import}
graph = StateGraph(dict).add_node(os.environ['NODE'], lambda state: state).add_edge(START, os.environ['NODE']).compile()
";
    let within = text.replace("{import}", "from . import helper\nfrom shop.helper import ONE");
    let Some(programs) = Programs::of(&[
        ("langgraph.json", &config.to_string()),
        ("settings.env", "# settings\nexport NODE=\"first\" # of all\n"),
        ("src/shop/__init__.py", ""),
        ("src/shop/helper.py", "ONE = 1\n"),
        ("src/shop/agent.py", &within),
        ("queue.py", &text.replace("{import}", "")),
    ]) else {
        return;
    };
    for entry in ["file", "module", "plain"] {
        let described = programs.describe(&format!("langgraph.json:{entry}")).await;
        assert_eq!(names(&described.drawing), ["first"], "{entry}");
    }
}

/// Runs to the end, with all events on the way.
async fn follow(
    program: &AttachedProgram,
    spec: &RunSpec,
) -> (Vec<AttachedEvent>, Result<AttachedState, AttachError>) {
    let mut run = program.run(spec);
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    (events, run.ended().await)
}

/// A program that asks, prints, fails and waits.
const WORKS: &str = r#"
import asyncio
import os
import time
from typing import Annotated
from typing_extensions import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

print("imported", os.environ.get("GREETING"))


class State(TypedDict, total=False):
    n: int
    said: Annotated[list, lambda old, new: (old or []) + new]


def count(state):
    print("counts\nmore {\"id\": 1}")
    get_stream_writer()({"half": "\ud83d!"})
    return {"n": state.get("n", 0) + 1, "said": ["count"]}


def ask(state):
    answer = interrupt({"question": "Go on?", "n": state["n"]})
    return {"said": [answer]}


inner = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile()
graph = StateGraph(State).add_node("count", count).add_node("inner", inner)
graph = graph.add_edge(START, "count").add_edge("count", "inner").compile(checkpointer=InMemorySaver())


def breaks(state):
    wrong = 1
    return {"n": wrong / 0}


def reads(state):
    return {"n": int(input("how many? "))}


def named(name):
    return StateGraph(State).add_node("breaks", name).add_edge(START, "breaks").compile()


failing, reading = named(breaks), named(reads)
loop = StateGraph(State).add_node("a", count).add_edge(START, "a").add_edge("a", "a").compile()


def touch(name):
    with open(name + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(name + ".part", name)


async def waits(state):
    touch("begun")
    try:
        await asyncio.sleep(1000)
    finally:
        touch("let-go")


def blocks(state):
    touch("begun")
    while True:
        time.sleep(1000)


async def hard(state):
    blocks(state)


waiting, blocking, hanging = named(waits), named(blocks), named(hard)


class Blocking(InMemorySaver):
    """Has no asynchronous methods, as SqliteSaver has none."""

    async def aget_tuple(self, config):
        raise NotImplementedError("no async methods")


sync = StateGraph(State).add_node("count", count).add_edge(START, "count").compile(checkpointer=Blocking())
crossed = StateGraph(State).add_node("waits", waits).add_edge(START, "waits").compile(checkpointer=Blocking())


def values(state):
    import dataclasses, datetime, decimal, enum, pathlib, uuid

    class Kind(enum.Enum):
        GOODS = "goods"

    @dataclasses.dataclass
    class Policy:
        limit: decimal.Decimal
        kind: Kind

    deep = here = []
    for _ in range(200):
        here.append([])
        here = here[0]
    round = []
    round.append(round)
    get_stream_writer()([
        Policy(decimal.Decimal("99.90"), Kind.GOODS), {1: "one"}, {"a"}, b"\x00\x01", float("inf"), 2**70,
        datetime.date(2026, 3, 1), pathlib.PurePosixPath("/a/b"), deep, round, object, "\ud83d",
    ])


odd = named(values)
"#;

fn spec(thread: &str, input: Json) -> RunSpec {
    RunSpec {
        modes: ["updates", "tasks", "custom"].map(str::to_owned).to_vec(),
        ..RunSpec::new(thread, AttachedInput::Given(input.into()))
    }
}

fn answer(thread: &str, answers: Json) -> RunSpec {
    RunSpec::new(thread, AttachedInput::Answers(answers.into()))
}

#[tokio::test]
async fn a_run_is_followed_asked_answered_read_and_edited() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:graph").await.unwrap();
    assert!(program.has_checkpointer());
    let (events, state) = follow(&program, &spec("one", json!({"n": 1}))).await;
    let modes: Vec<_> = events
        .iter()
        .map(|event| (&*event.event, event.ns.len()))
        .collect();
    assert_eq!(
        modes,
        [
            ("tasks", 0),
            ("custom", 0),
            ("updates", 0),
            ("tasks", 0),
            ("tasks", 0),
            ("tasks", 1),
            ("updates", 1),
            ("tasks", 1),
            ("updates", 0),
            ("tasks", 0),
        ],
        "{events:#?}"
    );
    assert_eq!(events[0].step, Some(1));
    assert_eq!(Json::from(&events[1].data), json!({"half": "\u{fffd}!"}));
    assert_eq!(
        Json::from(&events[2].data),
        json!({"count": {"n": 2, "said": ["count"]}})
    );
    let state = state.unwrap();
    assert_eq!(
        (&*state.status, &*state.next),
        ("interrupted", &["inner".to_owned()][..])
    );
    let question = Json::from(&state.interrupts[0]);
    assert_eq!(question["value"], json!({"question": "Go on?", "n": 2}));
    let id = question["id"].as_str().unwrap();

    // What it prints is never taken for an answer.
    let (lines, dropped) = printed(&program, 3).await;
    assert_eq!(
        (&lines[1..], dropped),
        (&["counts".to_owned(), "more {\"id\": 1}".to_owned()][..], 0)
    );

    let (_, state) = follow(&program, &answer("one", json!({id: "yes"}))).await;
    let state = state.unwrap();
    assert_eq!(state.status, "done");
    assert_eq!(
        Json::from(&state.values),
        json!({"n": 2, "said": ["count", "count", "yes"]})
    );

    let history = program.history("one", None, 10).await.unwrap();
    assert_eq!(history.len(), 4);
    assert_eq!(history[0].next, [""; 0]);
    let first = history.iter().find(|state| state.next == ["count"]).unwrap();
    let checkpoint = first.config.as_ref().unwrap().checkpoint_id.clone().unwrap();
    let then = program.state("one", Some(&checkpoint)).await.unwrap();
    assert_eq!(Json::from(&then.values), json!({"n": 1, "said": []}));
    let before = program.history("one", Some(&checkpoint), 10).await.unwrap();
    assert_eq!(before.len(), 1);

    let edit = ProgramEdit {
        thread: "one".to_owned(),
        checkpoint: Some(checkpoint.clone()),
        values: json!({"n": 40}).into(),
        as_node: Some("count".to_owned()),
        ..ProgramEdit::default()
    };
    let edited = program.edit_state(&edit).await.unwrap();
    assert_ne!(edited.checkpoint.as_ref(), Some(&checkpoint));
    assert_eq!(
        (&*edited.as_node, &*edited.next),
        ("count", &["inner".to_owned()][..])
    );
    let mut on = RunSpec::new("one", AttachedInput::GoOn);
    on.checkpoint = edited.checkpoint;
    let (_, state) = follow(&program, &on).await;
    assert_eq!(Json::from(&state.unwrap().interrupts[0])["value"]["n"], 40);
    assert!(program.state("none", None).await.unwrap().next.is_empty());
}

#[tokio::test]
async fn a_run_stops_before_a_node_and_goes_on() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:graph").await.unwrap();
    let mut stops = spec("one", json!({}));
    stops.break_before = vec!["inner".to_owned()];
    let (_, state) = follow(&program, &stops).await;
    let state = state.unwrap();
    assert_eq!(
        (&*state.status, &*state.next),
        ("breakpoint", &["inner".to_owned()][..])
    );
    let (_, state) = follow(&program, &RunSpec::new("one", AttachedInput::GoOn)).await;
    assert_eq!(state.unwrap().status, "interrupted");
}

#[tokio::test]
async fn values_of_classes_are_shown_as_those_of_databases_are() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:odd").await.unwrap();
    assert!(!program.has_checkpointer(), "its threads are in memory");
    let (events, state) = follow(&program, &spec("one", json!({"n": 1}))).await;
    state.unwrap();
    let custom = events.iter().find(|event| event.event == "custom").unwrap();
    let shown = Json::from(&custom.data);
    assert_eq!(
        shown[0]["limit"],
        json!({"$class": "decimal.Decimal", "value": "99.90"})
    );
    assert_eq!(shown[0]["kind"]["value"], "goods");
    assert_eq!(shown[1], json!({"$class": "dict", "entries": [[1, "one"]]}));
    assert_eq!(shown[2], json!({"$class": "set", "items": ["a"]}));
    assert_eq!(shown[3], json!({"$class": "bytes", "length": 2, "hex": "0001"}));
    assert_eq!(shown[4], json!({"$class": "float", "value": "inf"}));
    assert_eq!(
        shown[5],
        json!({"$class": "int", "value": "1180591620717411303424"})
    );
    assert_eq!(
        shown[6],
        json!({"$class": "datetime.date", "value": "2026-03-01"})
    );
    assert_eq!(shown[7]["value"], "/a/b");
    for deep in [&shown[8], &shown[9]] {
        assert!(deep.to_string().contains("too deep"), "{deep}");
    }
    assert_eq!(shown[11], "\u{fffd}");
}

#[tokio::test]
async fn a_failure_names_the_node_and_the_line() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:failing").await.unwrap();
    let (events, ended) = follow(&program, &spec("one", json!({"n": 1}))).await;
    let error = ended.unwrap_err();
    let fault = error.fault().unwrap();
    assert_eq!(fault.code, AttachFaultCode::NodeFailed);
    assert_eq!(fault.node.as_deref(), Some("breaks"));
    assert_eq!(fault.message, "ZeroDivisionError: division by zero");
    assert_eq!(fault.line, Some(line_of(WORKS, "wrong / 0")));
    assert_eq!(fault.file.as_deref(), Some(&*programs.path("agent.py")));
    assert!(fault.left_out > 0 && fault.traceback.len() == 1, "{fault:?}");
    let failed = Json::from(&events.last().unwrap().data);
    assert_eq!(failed["error"], "ZeroDivisionError: division by zero");

    let program = programs.attach("agent.py:reading").await.unwrap();
    let (_, ended) = follow(&program, &spec("one", json!({"n": 1}))).await;
    let text = ended.unwrap_err().to_string();
    assert!(
        text.contains("EOFError") && text.contains("interrupt()"),
        "{text}"
    );

    let program = programs.attach("agent.py:loop").await.unwrap();
    let mut endless = spec("one", json!({"n": 1}));
    endless.recursion_limit = Some(3);
    let (_, ended) = follow(&program, &endless).await;
    let error = ended.unwrap_err();
    assert_eq!(error.fault().unwrap().code, AttachFaultCode::RecursionLimit);
    let (_, ended) = follow(&program, &RunSpec::new("two", AttachedInput::GoOn)).await;
    let error = ended.unwrap_err();
    assert_eq!(
        error.fault().unwrap().code,
        AttachFaultCode::EmptyInput,
        "{error}"
    );
}

#[tokio::test]
async fn savers_without_asynchronous_methods_are_used_without_them() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:sync").await.unwrap();
    let (events, state) = follow(&program, &spec("one", json!({"n": 1}))).await;
    assert_eq!(Json::from(&state.unwrap().values)["n"], 2);
    assert_eq!(events.len(), 4);
    assert_eq!(program.history("one", None, 10).await.unwrap().len(), 3);
    let program = programs.attach("agent.py:crossed").await.unwrap();
    let (_, ended) = follow(&program, &spec("one", json!({"n": 1}))).await;
    let text = ended.unwrap_err().to_string();
    assert!(text.contains("Blocking has no asynchronous methods"), "{text}");
}

#[tokio::test]
async fn threads_of_a_sqlite_saver_outlive_the_program() {
    let text = r#"
import sqlite3
from typing_extensions import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    n: int


def ask(state):
    return {"n": state["n"] + interrupt("How many?")}


builder = StateGraph(State).add_node("ask", ask).add_edge(START, "ask")
saver = SqliteSaver(sqlite3.connect("threads.db", check_same_thread=False))
graph = builder.compile(checkpointer=saver)


class Held:
    async def __aenter__(self):
        self.saver = AsyncSqliteSaver.from_conn_string("async.db")
        return builder.compile(checkpointer=await self.saver.__aenter__())

    async def __aexit__(self, *error):
        await self.saver.__aexit__(*error)
"#;
    let Some(programs) = Programs::of(&[("agent.py", text)]) else {
        return;
    };
    for (name, class) in [
        ("graph", "langgraph.checkpoint.sqlite.SqliteSaver"),
        ("Held", "langgraph.checkpoint.sqlite.aio.AsyncSqliteSaver"),
    ] {
        let program = programs.attach(&format!("agent.py:{name}")).await.unwrap();
        let drawing = program.describe().await.unwrap().drawing;
        assert_eq!(drawing.checkpointer, class);
        let (_, state) = follow(&program, &spec("one", json!({"n": 1}))).await;
        assert_eq!(state.unwrap().status, "interrupted", "{name}");
        let environment = programs.environment(program.target());
        let again = program.restart(&environment, &patient()).await.unwrap();
        let waiting = again.state("one", None).await.unwrap();
        let question = Json::from(&waiting.interrupts[0]);
        assert_eq!(question["value"], "How many?", "{name}");
        let id = question["id"].as_str().unwrap();
        let (_, state) = follow(&again, &answer("one", json!({id: 41}))).await;
        assert_eq!(Json::from(&state.unwrap().values), json!({"n": 42}), "{name}");
    }
}

#[tokio::test]
async fn a_stopped_run_ends_and_the_program_goes_on() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:waiting").await.unwrap();
    let mut run = program.run(&spec("one", json!({"n": 1})));
    while run.next().await.unwrap().event != "tasks" {}
    let begun = programs.path("begun");
    wait_until("the node", || begun.exists()).await;
    run.stop();
    let error = run.ended().await.unwrap_err();
    assert_eq!(error.fault().unwrap().code, AttachFaultCode::Cancelled, "{error}");
    let let_go = programs.path("let-go");
    wait_until("the end of the node", || let_go.exists()).await;
    assert!(program.describe().await.is_ok(), "the program still answers");

    // A run that nobody waits for is stopped.
    std::fs::remove_file(&begun).unwrap();
    std::fs::remove_file(&let_go).unwrap();
    let run = program.run(&spec("two", json!({"n": 1})));
    wait_until("the node", || begun.exists()).await;
    drop(run);
    wait_until("the end of the node", || let_go.exists()).await;
}

/// Is there a process of this number that has not ended?
fn lives(process: &str) -> bool {
    let shown = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", process])
        .output()
        .unwrap();
    let stat = String::from_utf8(shown.stdout).unwrap();
    !stat.trim().is_empty() && !stat.trim().starts_with('Z')
}

#[cfg(unix)]
#[tokio::test]
async fn a_node_that_does_not_stop_is_ended_with_the_program() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let short = AttachOptions {
        stop_limit: Duration::from_millis(200),
        ..patient()
    };
    let program = programs.attach_with("agent.py:hanging", &short).await.unwrap();
    let run = program.run(&spec("one", json!({"n": 1})));
    let begun = programs.path("begun");
    wait_until("the node", || begun.exists()).await;
    let process = std::fs::read_to_string(&begun).unwrap();
    assert!(lives(&process));
    run.stop();
    let error = run.ended().await.unwrap_err();
    assert!(matches!(error, AttachError::Ended { .. }), "{error}");
    wait_until("the end of the process", || !lives(&process)).await;
    let error = program.describe().await.unwrap_err();
    assert!(matches!(error, AttachError::Ended { .. }), "{error}");
    // Started again, it is a new process with the same graph.
    let environment = programs.environment(program.target());
    let again = program.restart(&environment, &patient()).await.unwrap();
    assert!(again.describe().await.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_ends_with_what_it_started_when_nobody_needs_it() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let program = programs.attach("agent.py:blocking").await.unwrap();
    let run = program.run(&spec("one", json!({"n": 1})));
    let begun = programs.path("begun");
    wait_until("the node", || begun.exists()).await;
    let process = std::fs::read_to_string(&begun).unwrap();
    drop(run);
    drop(program);
    wait_until("the end of the process", || !lives(&process)).await;
}

#[tokio::test]
async fn each_way_not_to_be_attached_has_its_own_error() {
    let graph = "from langgraph.graph import StateGraph, START\n";
    let Some(programs) = Programs::of(&[
        ("syntax.py", "x = 1\ngraph = (\n"),
        (
            "raises.py",
            "import json\n\n\ndef load():\n    return json.loads('{')\n\n\ngraph = load()\n",
        ),
        ("needs.py", "import no_such_package_of_anybody\n"),
        ("ends.py", "import sys\nsys.exit(3)\n"),
        (
            "other.py",
            &format!("{graph}agent = StateGraph(dict)\ngraph = {{}}\nnothing = None\n"),
        ),
        ("empty.py", ""),
        (
            "factory.py",
            "def two(a, b):\n    pass\n\ndef bad():\n    raise ValueError('no key')\n\ndef none():\n    return 5\n",
        ),
        (
            "unfinished.py",
            &format!("{graph}graph = StateGraph(dict).add_node('a', print).add_edge('a', 'b')\n"),
        ),
        (
            "dies.py",
            "import os\nprint('last words', flush=True)\nos._exit(7)\n",
        ),
    ]) else {
        return;
    };
    let line = |error: &AttachError| error.fault().and_then(|fault| fault.line);
    for (named, code, place, words) in [
        (
            "syntax.py:graph",
            AttachFaultCode::SyntaxError,
            Some(2),
            "SyntaxError",
        ),
        (
            "raises.py:graph",
            AttachFaultCode::ImportFailed,
            Some(5),
            "JSONDecodeError",
        ),
        (
            "needs.py:graph",
            AttachFaultCode::ImportFailed,
            Some(1),
            "Install no_such_package_of_anybody",
        ),
        (
            "ends.py:graph",
            AttachFaultCode::ImportEnded,
            Some(2),
            "sys.exit(3)",
        ),
        ("other.py:graf", AttachFaultCode::NoName, None, "It has: agent."),
        ("other.py:graph", AttachFaultCode::NotAGraph, None, "class dict"),
        (
            "other.py:nothing",
            AttachFaultCode::NotAGraph,
            None,
            "It has: agent.",
        ),
        ("empty.py:graph", AttachFaultCode::NoName, None, "no name graph"),
        (
            "factory.py:two",
            AttachFaultCode::FactoryArguments,
            None,
            "(a, b)",
        ),
        (
            "factory.py:bad",
            AttachFaultCode::FactoryFailed,
            Some(5),
            "no key",
        ),
        ("factory.py:none", AttachFaultCode::NotAGraph, None, "class int"),
        (
            "unfinished.py:graph",
            AttachFaultCode::CompileFailed,
            None,
            "ValueError",
        ),
    ] {
        let error = programs.refused(named).await;
        let text = error.to_string();
        assert_eq!(
            error.fault().map(|fault| fault.code),
            Some(code),
            "{named}: {text}"
        );
        assert_eq!(line(&error), place, "{named}: {text}");
        assert!(text.contains(words), "{named}: {text}");
    }
    let raises = programs.refused("raises.py:graph").await.to_string();
    assert!(
        raises.contains("graph = load()") && raises.contains("frames of libraries are left out"),
        "{raises}"
    );
    let dies = programs.refused("dies.py:graph").await;
    let AttachError::Ended { said, status, .. } = &dies else {
        panic!("{dies}");
    };
    assert_eq!(
        (said.trim(), status.and_then(|status| status.code())),
        ("last words", Some(7))
    );
    let missing = programs.refused("gone.py:graph").await;
    assert!(matches!(missing, AttachError::NoFile { .. }), "{missing}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_module_that_hangs_is_ended_with_its_children() {
    let text = "
import os, subprocess, time
print('waits for somebody', flush=True)
child = subprocess.Popen(['sleep', '1000'])
with open('part', 'w') as file:
    file.write(f'{os.getpid()} {child.pid}')
os.rename('part', 'processes')
time.sleep(1000)
";
    let Some(programs) = Programs::of(&[("agent.py", text)]) else {
        return;
    };
    let processes = programs.path("processes");
    let attaching = async {
        // The limit is over long before a busy machine has come to the end of the module; so it is raised until it has.
        let mut limit = Duration::from_secs(2);
        loop {
            let options = AttachOptions {
                import_limit: limit,
                ..AttachOptions::default()
            };
            let error = programs
                .attach_with("agent.py:graph", &options)
                .await
                .unwrap_err();
            let AttachError::Hangs { said, .. } = &error else {
                panic!("{error}");
            };
            // It may have come so far only while it was being ended.
            if processes.exists() && !said.is_empty() {
                return (error.to_string(), said.clone());
            }
            limit *= 2;
        }
    };
    let (text, said) = attaching.await;
    assert!(
        text.contains("was not imported within") && said == "waits for somebody",
        "{text}"
    );
    let both = std::fs::read_to_string(&processes).unwrap();
    for process in both.split(' ') {
        wait_until("the end of a process", || !lives(process)).await;
    }
}

#[tokio::test]
async fn nothing_starts_without_its_grant() {
    let Some(programs) = Programs::of(&[("agent.py", WORKS)]) else {
        return;
    };
    let target = AttachTarget::find("agent.py:graph", programs.folder.path()).unwrap();
    let all = programs.environment(&target);
    let options = AttachOptions {
        variables: vec!["GREETING".to_owned()],
        ..AttachOptions::default()
    };
    let asked = wanted(&all, &options).unwrap();
    assert_eq!(asked[1], Access::Variable("GREETING".into()));
    for granted in [&asked[..0], &asked[..1], &asked[1..]] {
        let environment = all.clone().with_grants(Grants::these(granted.to_vec()));
        let denied = AttachedProgram::start(target.clone(), &environment, &options).await;
        assert!(matches!(denied, Err(AttachError::AccessDenied(_))), "{granted:?}");
    }
    let environment = all.with_grants(Grants::these(asked));
    let program = AttachedProgram::start(target, &environment, &options)
        .await
        .unwrap();
    program.describe().await.unwrap();
    assert_eq!(printed(&program, 1).await.0, ["imported hello"]);
}

#[cfg(unix)]
#[tokio::test]
async fn an_interpreter_that_is_none_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.py"), "").unwrap();
    let target = AttachTarget::find("agent.py:graph", folder.path()).unwrap();
    let of = |python: &'static str| {
        Environment::new(Some(target.root().to_owned()))
            .with_variables(move |name| (name == "SUPERSTEP_PYTHON").then(|| python.to_owned()))
            .with_grants(Grants::all())
    };
    let options = AttachOptions::default();
    let none = AttachedProgram::start(target.clone(), &of("/no/such/python"), &options).await;
    assert!(matches!(none, Err(AttachError::NoInterpreter(..))), "{none:?}");
    // A program that is no interpreter, and one that has no LangGraph.
    let odd = AttachedProgram::start(target.clone(), &of("/bin/true"), &options).await;
    assert!(matches!(odd, Err(AttachError::Ended { .. })), "{odd:?}");
    let Some(python) = langgraph() else { return };
    let bare = folder.path().join("bare");
    script(&bare, &format!("exec '{}' -S \"$@\"", python.display()));
    let bare = bare.to_str().unwrap().to_owned().leak();
    let without = AttachedProgram::start(target.clone(), &of(bare), &options)
        .await
        .unwrap_err();
    let fault = without.fault().unwrap_or_else(|| panic!("{without}"));
    assert_eq!(fault.code, AttachFaultCode::LanggraphMissing);
    assert!(without.to_string().contains("pip install langgraph"), "{without}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_says_no_answers_is_ended_and_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.py"), "").unwrap();
    let target = AttachTarget::find("agent.py:graph", folder.path()).unwrap();
    let opened = r#"printf '{"id":99,"ok":{}}\n{"id":1,"ok":{"own_saver":true}}\n'"#;
    let endless = "head -c 68000000 /dev/zero | tr '\\0' x";
    for (number, (says, words)) in [
        ("echo garbage; exec sleep 1000", "no answer"),
        (r#"printf '{"id":1,"ok":{"own_saver"'"#, "half a line"),
        (r#"echo '{"id":1}'; exec sleep 1000"#, "no answer"),
        (
            r#"echo '{"id":1,"error":{"message":5}}'; exec sleep 1000"#,
            "no answer",
        ),
        (&format!("{endless}; exec sleep 1000"), "a line of more than"),
        ("echo broken >&2; exit 9", "It said:\nbroken"),
        ("exec 1>&-; echo silent >&2; exec sleep 1000", "It said:\nsilent"),
        (&format!("{opened}; echo then >&2; exit 9"), "It said:\nthen"),
        (&format!("{opened}; echo garbage; exec sleep 1000"), "no answer"),
    ]
    .into_iter()
    .enumerate()
    {
        let python = folder.path().join(format!("python{number}"));
        script(&python, says);
        let python = python.to_str().unwrap().to_owned();
        let environment = Environment::new(Some(target.root().to_owned()))
            .with_variables(move |name| (name == "SUPERSTEP_PYTHON").then(|| python.clone()))
            .with_grants(Grants::all());
        let error = match AttachedProgram::start(target.clone(), &environment, &patient()).await {
            Ok(program) => program.describe().await.unwrap_err(),
            Err(error) => error,
        };
        let text = error.to_string();
        assert!(text.contains(words), "{says}: {text}");
    }
}

/// Writes a program. Another process does, so that none that a test beside this one starts holds the file open.
#[cfg(unix)]
fn script(file: &Path, text: &str) {
    let writes = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
    let mut shell = std::process::Command::new("sh");
    let shell = shell.args(["-c", writes, "sh"]).arg(file);
    let written = shell.arg(format!("#!/bin/sh\n{text}\n")).status();
    assert!(written.unwrap().success());
}

#[tokio::test]
async fn endless_output_and_large_values_hold_nothing_up() {
    let text = r#"
import os
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph


def loud(state):
    for number in range(200_000):
        print("line", number)
    os.write(2, b"x" * 1_000_000)
    get_stream_writer()("y" * (65 * 1024 * 1024))
    for number in range(3000):
        get_stream_writer()(number)
    return {}


graph = StateGraph(dict).add_node("loud", loud).add_edge(START, "loud").compile()
"#;
    let Some(programs) = Programs::of(&[("agent.py", text)]) else {
        return;
    };
    let program = programs.attach("agent.py:graph").await.unwrap();
    let mut run = spec("one", json!({"n": 1}));
    run.modes = vec!["custom".to_owned()];
    let (events, state) = follow(&program, &run).await;
    assert_eq!(state.unwrap().status, "done");
    assert_eq!(events.len(), 3001);
    assert_eq!(Json::from(&events[0].data)["$class"], "unreadable");
    assert_eq!(Json::from(&events[3000].data), json!(2999));
    let (lines, dropped) = printed(&program, 200_000).await;
    assert!(dropped > 100_000, "nobody took them: {dropped}");
    assert!(lines.iter().all(|line| line.len() <= 16 * 1024));
}

/// States of every kind, with a class that pydantic makes no schema of.
const FORMS: &str = r#"
import datetime, enum, operator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, TypedDict

import typing_extensions
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel, ConfigDict, Field


class Odd:
    pass


class Kind(enum.Enum):
    GOODS = "goods"
    MONEY = "money"


class Address(TypedDict):
    city: str
    street: Optional[str]


class State(TypedDict, total=False):
    n: int
    kind: Kind
    mode: Literal["fast", "slow"]
    where: Address
    log: Annotated[list[str], operator.add]
    prices: "dict[str, float]"
    free: Any
    day: datetime.date
    odd: Odd


class Given(TypedDict):
    n: typing_extensions.Required[int]
    odd: Odd


class Chat(MessagesState):
    odd: Odd


@dataclass
class Data:
    n: int
    limit: int = 3
    log: Annotated[list[str], operator.add] = field(default_factory=list)
    odd: Optional[Odd] = None


class Model(BaseModel):
    n: int = Field(3, description="how many")


def made(state, **options):
    return StateGraph(state, **options).add_node("a", lambda state: {}).add_edge(START, "a").compile()


state, given, chat, data, model = made(State), made(State, input_schema=Given), made(Chat), made(Data), made(Model)
whole, anything, context = made(dict), made(object), made(Model, context_schema=Given)
"#;

#[tokio::test]
async fn an_input_is_known_by_its_type_hints_where_pydantic_makes_no_schema() {
    let Some(programs) = Programs::of(&[("agent.py", FORMS)]) else {
        return;
    };
    let of = async |name: &str| {
        let described = programs.describe(&format!("agent.py:{name}")).await;
        let schema = described.schemas.input_schema.clone();
        (
            schema.unwrap_or_else(|| panic!("{name}: {:?}", described.lacking)),
            described,
        )
    };
    let (schema, described) = of("state").await;
    let text = json!({"type": "string"});
    let keys = json!({
        "n": {"type": "integer"},
        "kind": {"enum": ["goods", "money"]},
        "mode": {"enum": ["fast", "slow"]},
        "where": {"type": "object", "title": "Address", "required": ["city", "street"], "properties": {
            "city": text, "street": {"anyOf": [text, {"type": "null"}]}}},
        "log": {"type": "array", "items": text},
        "prices": {"type": "object", "additionalProperties": {"type": "number"}},
        "free": {}, "day": {}, "odd": {},
    });
    assert_eq!(schema["properties"], keys);
    assert_eq!(schema["required"], json!([]));
    let lacking = described.lacking.join("\n");
    assert!(
        lacking.starts_with("input schema: made from the type hints of "),
        "{lacking}"
    );
    let minor = described
        .versions
        .python
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse::<u32>().ok());
    let why = if minor.unwrap() < 12 {
        "pydantic reads typing.TypedDict from Python 3.12 on"
    } else {
        "Odd"
    };
    assert!(
        lacking.contains("agent.State") && lacking.contains(why),
        "{lacking}"
    );

    let (schema, _) = of("given").await;
    assert_eq!(schema["properties"], json!({"n": {"type": "integer"}, "odd": {}}));
    assert_eq!(schema["required"], json!(["n", "odd"]));
    let (schema, _) = of("chat").await;
    assert!(schema["properties"]["messages"].is_object() && schema["properties"]["odd"].is_object());
    let (schema, _) = of("data").await;
    assert_eq!(
        schema["properties"]["limit"],
        json!({"type": "integer", "default": 3})
    );
    assert_eq!(schema["required"], json!(["n"]));
    let (schema, described) = of("model").await;
    assert_eq!(schema["properties"]["n"]["description"], "how many");
    assert_eq!(described.lacking, [""; 0], "pydantic makes that one itself");
    for name in ["whole", "anything"] {
        let (schema, _) = of(name).await;
        assert_eq!(
            schema.get("properties"),
            None,
            "{name} takes a value that is no state: {schema}"
        );
    }
    let (_, described) = of("context").await;
    let context = described.schemas.context_schema.unwrap();
    assert_eq!(context["properties"]["n"], json!({"type": "integer"}));
}

/// A program with reducers, a value that JSON cannot say, a stop of its own, and nodes that end it or fail without words.
const EDITED: &str = r#"
import decimal, operator, sys
from typing import Annotated
from typing_extensions import TypedDict

from langgraph.graph import END, START, StateGraph, add_messages


class State(TypedDict, total=False):
    n: int
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]
    price: object


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


def check(state):
    return {"n": state["n"] + 1, "log": ["check"], "price": decimal.Decimal("1.50")}


def pay(state):
    if state["n"] == 100:
        sys.exit(3)
    if state["n"] == 200:
        raise Mute()
    return {"log": ["pay"]}


def again(state):
    return "check" if state["n"] < 5 else END


builder = StateGraph(State).add_node("check", check).add_node("pay", pay)
builder.add_edge(START, "check").add_edge("check", "pay").add_conditional_edges("pay", again)
graph = builder.compile()
stopping = builder.compile(interrupt_before=["pay"])
"#;

fn edit(thread: &str, values: Json) -> ProgramEdit {
    ProgramEdit {
        thread: thread.to_owned(),
        values: values.into(),
        ..ProgramEdit::default()
    }
}

#[tokio::test]
async fn an_edit_is_previewed_replaces_past_reducers_and_skips_a_step() {
    let Some(programs) = Programs::of(&[("agent.py", EDITED)]) else {
        return;
    };
    let program = programs.attach("agent.py:graph").await.unwrap();
    let mut stops = spec(
        "one",
        json!({"n": 1, "messages": [{"role": "user", "content": "hello"}]}),
    );
    stops.break_before = vec!["pay".to_owned()];
    let (_, state) = follow(&program, &stops).await;
    let state = state.unwrap();
    assert_eq!(
        (&*state.next, &*state.ran),
        (&["pay".to_owned()][..], &["check".to_owned()][..])
    );
    assert_eq!(Json::from(&state.all)["n"], 2);

    let count = program.history("one", None, 100).await.unwrap().len();
    let mut look = edit("one", json!({"n": 9}));
    (look.as_node, look.preview) = (Some("pay".to_owned()), true);
    let seen = program.edit_state(&look).await.unwrap();
    assert_eq!(
        (seen.checkpoint, &*seen.next, &*seen.as_node),
        (None, &[][..], "pay")
    );
    look.values = json!({"n": 1}).into();
    assert_eq!(
        program.edit_state(&look).await.unwrap().next,
        ["check"],
        "its own condition decides"
    );
    let skipped = ProgramEdit {
        skip_step: true,
        preview: true,
        ..edit("one", Json::Null)
    };
    assert_eq!(program.edit_state(&skipped).await.unwrap().as_node, "pay");
    assert_eq!(
        program.history("one", None, 100).await.unwrap().len(),
        count,
        "nothing is stored"
    );

    let mut replaces = edit(
        "one",
        json!({"log": ["new"], "messages": [{"role": "user", "content": "again"}]}),
    );
    replaces.overwrite = vec!["log".to_owned(), "messages".to_owned()];
    let made = program.edit_state(&replaces).await.unwrap();
    assert_eq!((&*made.as_node, &*made.next), ("check", &["pay".to_owned()][..]));
    let state = program.state("one", made.checkpoint.as_deref()).await.unwrap();
    let values = Json::from(&state.values);
    assert_eq!(values["log"], json!(["new"]));
    let messages = values["messages"].as_array().unwrap();
    assert_eq!(
        (messages.len(), &messages[0]["content"]),
        (1, &json!("again")),
        "it is a message again"
    );
    let made = program
        .edit_state(&edit("one", json!({"log": {"__overwrite__": []}})))
        .await
        .unwrap();
    let state = program.state("one", made.checkpoint.as_deref()).await.unwrap();
    assert_eq!(Json::from(&state.values)["log"], json!([]));

    let picture = values["price"].clone();
    assert_eq!(picture["$class"], "decimal.Decimal");
    let mut nowhere = edit("one", json!({"n": 1}));
    nowhere.checkpoint = Some("1f000000-0000-6000-8000-000000000000".to_owned());
    let mut nobody = edit("one", json!({"n": 1}));
    nobody.as_node = Some("nobody".to_owned());
    for (wrong, code, words) in [
        (
            edit("one", json!({"price": picture})),
            AttachFaultCode::InvalidUpdate,
            "cannot be made of its picture",
        ),
        (
            nobody,
            AttachFaultCode::InvalidUpdate,
            "no node nobody. It has: check, pay.",
        ),
        (
            nowhere,
            AttachFaultCode::NoCheckpoint,
            "has no checkpoint 1f000000",
        ),
        (
            edit("one", json!({"unknown": 1})),
            AttachFaultCode::InvalidUpdate,
            "no key unknown. It has: n, log, messages, price.",
        ),
    ] {
        let error = program.edit_state(&wrong).await.unwrap_err();
        assert_eq!(error.fault().map(|fault| fault.code), Some(code), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let mut nowhere = RunSpec::new("one", AttachedInput::GoOn);
    nowhere.checkpoint = Some("1f000000-0000-6000-8000-000000000000".to_owned());
    let (_, ended) = follow(&program, &nowhere).await;
    assert_eq!(
        ended.unwrap_err().fault().unwrap().code,
        AttachFaultCode::NoCheckpoint
    );
}

#[tokio::test]
async fn a_program_stops_where_it_was_compiled_to_beside_where_it_is_asked_to() {
    let Some(programs) = Programs::of(&[("agent.py", EDITED)]) else {
        return;
    };
    let program = programs.attach("agent.py:stopping").await.unwrap();
    let mut stops = spec("one", json!({"n": 1}));
    stops.break_before = vec!["check".to_owned()];
    let (_, state) = follow(&program, &stops).await;
    assert_eq!(state.unwrap().next, ["check"]);
    let (_, state) = follow(&program, &stops.clone().going_on(0)).await;
    assert_eq!(state.unwrap().next, ["pay"], "its own stop");
    // Steps of the stretches before count for the limit.
    stops.recursion_limit = Some(4);
    let (_, ended) = follow(&program, &stops.going_on(4)).await;
    assert_eq!(
        ended.unwrap_err().fault().unwrap().code,
        AttachFaultCode::RecursionLimit
    );
}

#[tokio::test]
async fn a_node_that_ends_the_program_or_has_no_words_ends_its_run_only() {
    let Some(programs) = Programs::of(&[("agent.py", EDITED)]) else {
        return;
    };
    let program = programs.attach("agent.py:graph").await.unwrap();
    let (_, ended) = follow(&program, &spec("one", json!({"n": 99}))).await;
    let error = ended.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("The node ended the program (sys.exit(3))"),
        "{error}"
    );
    assert_eq!(error.fault().unwrap().line, Some(line_of(EDITED, "sys.exit(3)")));
    let (_, ended) = follow(&program, &spec("two", json!({"n": 199}))).await;
    let error = ended.unwrap_err();
    assert!(
        error.to_string().contains("Mute: (its text cannot be made"),
        "{error}"
    );
    let (_, state) = follow(&program, &spec("three", json!({"n": 4}))).await;
    assert_eq!(state.unwrap().status, "done");
}

#[tokio::test]
async fn an_editor_is_told_where_to_attach_when_debugpy_is_there() {
    let stand_in = "def listen(address):\n    return address[0], address[1] or 5678\n\ndef wait_for_client():\n    print('waited')\n";
    let files = [
        ("with/agent.py", EDITED),
        ("with/debugpy.py", stand_in),
        ("without/agent.py", EDITED),
    ];
    let Some(programs) = Programs::of(&files) else {
        return;
    };
    let program = programs.attach("with/agent.py:graph").await.unwrap();
    let at = program.debug(Some(4711), true).await.unwrap();
    assert_eq!((&*at.host, at.port), ("127.0.0.1", 4711));
    let launch: Json = serde_json::from_str(&at.launch("agent")).unwrap();
    assert_eq!(launch["connect"], json!({"host": "127.0.0.1", "port": 4711}));
    assert_eq!(printed(&program, 1).await.0, ["waited"]);
    assert_eq!(program.debug(None, false).await.unwrap(), at, "it listens once");

    let program = programs.attach("without/agent.py:graph").await.unwrap();
    if let Err(error) = program.debug(None, false).await {
        assert_eq!(error.fault().unwrap().code, AttachFaultCode::DebugpyMissing);
        assert!(error.to_string().contains("pip install debugpy"), "{error}");
    }
}

/// A numbers' generator for a test that says its seed.
fn below(seed: &mut u64, limit: usize) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    usize::try_from(*seed % limit.max(1) as u64).unwrap()
}

/// Starts the real interpreter and keeps what it says.
const RECORDS: &str = r#"
import subprocess, sys
real, kept = sys.argv[1:3]
program = subprocess.Popen([real, *sys.argv[3:]], stdout=subprocess.PIPE)
with open(kept, "ab", 0) as file:
    for line in program.stdout:
        file.write(line)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
"#;

/// Says what was kept, each answer when its request has come, and is killed after so many bytes.
const REPLAYS: &str = r#"
import json, os, signal, sys
kept, left = open(sys.argv[1], "rb").read().splitlines(True), int(open(sys.argv[2]).read())
requests, said = sys.stdin.buffer, sys.stdout.buffer
requests.read(int(requests.readline()))
for request in requests:
    number = json.loads(request).get("id")
    for line in kept:
        if json.loads(line)["id"] != number:
            continue
        said.write(line[:left])
        said.flush()
        left -= len(line)
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
"#;

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_is_killed_between_any_two_bytes_is_said_and_nothing_hangs() {
    let Some(mut programs) = Programs::of(&[
        ("agent.py", WORKS),
        ("records.py", RECORDS),
        ("replays.py", REPLAYS),
    ]) else {
        return;
    };
    let (kept, left) = (programs.path("kept"), programs.path("left"));
    let real = programs.python.display().to_string();
    let of = |name: &str, script_name: &str, args: &str| {
        let python = programs.path(name);
        let file = programs.path(script_name);
        script(
            &python,
            &format!("exec '{real}' -I -S '{}' {args} \"$@\"", file.display()),
        );
        python
    };
    let records = of("records", "records.py", &format!("'{real}' '{}'", kept.display()));
    let replays = of(
        "replays",
        "replays.py",
        &format!("'{}' '{}'", kept.display(), left.display()),
    );
    // Everything that is asked of a program, up to the first error.
    async fn converse(programs: &Programs) -> Result<(), AttachError> {
        let program = programs.attach("agent.py:graph").await?;
        let all = async || -> Result<(), AttachError> {
            program.describe().await?;
            let (_, state) = follow(&program, &spec("one", json!({"n": 1}))).await;
            state?;
            program.state("one", None).await?;
            let mut looks = edit("one", json!({"n": 5}));
            looks.preview = true;
            program.edit_state(&looks).await.map(drop)
        };
        let ended = all().await;
        if ended.is_err() {
            assert!(program.describe().await.is_err(), "what is gone stays gone");
            assert!(follow(&program, &spec("two", json!({}))).await.1.is_err());
        }
        ended
    }
    programs.python = records;
    converse(&programs).await.unwrap();
    let whole = std::fs::read(&kept).unwrap();
    let mut ends: Vec<usize> = (0..whole.len())
        .filter(|at| whole[*at] == b'\n')
        .map(|at| at + 1)
        .collect();
    let last = ends.pop().unwrap();
    assert!(
        ends.len() > 10,
        "open, describe, events and answers: {}",
        ends.len()
    );
    let mut seed = u64::from(std::process::id()) + 1;
    println!("seed {seed}");
    let cuts = (0..8).map(|_| 1 + below(&mut seed, last - 1));
    programs.python = replays;
    for cut in ends.iter().copied().chain(cuts) {
        std::fs::write(&left, cut.to_string()).unwrap();
        let error = converse(&programs).await.unwrap_err();
        let is_half = !ends.contains(&cut);
        match &error {
            AttachError::Ended { .. } => {}
            AttachError::Garbled { cause, .. } if is_half && cause == "half a line" => {}
            _ => panic!("killed after {cut} bytes: {error}"),
        }
        assert!(error.to_string().contains("ended"), "{error}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_bounded_as_all_that_is_printed() {
    let text = r#"
import sys
from langgraph.graph import START, StateGraph


def loud(state):
    for _ in range(40):
        sys.stderr.write("x" * 1_000_000)
    sys.stderr.write("\n")
    return {}


graph = StateGraph(dict).add_node("loud", loud).add_edge(START, "loud").compile()
"#;
    let Some(programs) = Programs::of(&[("agent.py", text)]) else {
        return;
    };
    let program = programs.attach("agent.py:graph").await.unwrap();
    let (_, state) = follow(
        &program,
        &RunSpec::new("one", AttachedInput::Given(json!({"n": 1}).into())),
    )
    .await;
    assert_eq!(state.unwrap().status, "done");
    let (lines, dropped) = printed(&program, 40_000_000 / (16 * 1024)).await;
    let bytes: usize = lines.iter().map(String::len).sum();
    assert!(
        bytes <= 16 * 1024 * 1024 && dropped > 1000,
        "{bytes} bytes are kept, {dropped} lines are not"
    );
}
