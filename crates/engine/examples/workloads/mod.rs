//! The graphs that `./dev bench engine` and `./dev bench peers` run, by name and size.
//!
//! The peers build the same graphs (tests/peers); `expect` is what a run must come to, so that a comparison of times
//! is a comparison of the same work.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared by two programs; a benchmark stops at the first surprise"
)]
#![allow(clippy::too_many_lines, reason = "a benchmark tells one story")]

use std::sync::Arc;

use superstep::graph::*;
use superstep::value::*;
use superstep::*;

/// One workload at one size.
pub(crate) struct Workload {
    pub(crate) graph: Graph,
    pub(crate) input: Value,
    /// Node executions of a run: what a figure is divided by.
    pub(crate) tasks: usize,
    /// The key of the result to look at, and its number or length.
    pub(crate) expect: (&'static str, usize),
}

/// Names as the command line gives them: `chain`, `loop`, `send`, `subgraph`, `wide`, `react`, `talk`.
pub(crate) fn workload(name: &str, size: &str) -> Workload {
    let n = || size.parse().unwrap();
    match name {
        "chain" => chain(n()),
        "loop" => counter(n()),
        "send" => fan_out(n()),
        "subgraph" => nested(n()),
        "wide" => wide(size),
        "react" => react(n()),
        "talk" => talk(),
        other => panic!("there is no workload {other}"),
    }
}

/// The number or the length of the state key that `expect` names.
pub(crate) fn measure(result: &Value, key: &str) -> usize {
    match result.get(key) {
        Some(Value::Array(items)) => items.len(),
        Some(value) => value.as_u64().unwrap() as usize,
        None => 0,
    }
}

fn noop() -> impl Node {
    |_: NodeContext, _: Value| async { Ok(NodeOutput::none()) }
}

/// `n` nodes in a row that write nothing.
pub(crate) fn chain(n: usize) -> Workload {
    Workload {
        graph: chain_builder(n, 0).compile().unwrap(),
        input: json!({"x": 1}),
        tasks: n,
        expect: ("x", 1),
    }
}

/// A chain with `extra` further edges, each from a node to a later one.
pub(crate) fn chain_builder(n: usize, extra: usize) -> StateGraph {
    let name = |i: usize| -> Name { format!("n{i}").into() };
    let mut graph = StateGraph::new().channel("x", ChannelSpec::last_value());
    for i in 0..n {
        graph = graph.node(name(i), noop());
        graph = match i {
            0 => graph.edge(START, name(0)),
            _ => graph.edge(name(i - 1), name(i)),
        };
    }
    let mut seed = 1_u64;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % limit
    };
    for _ in 0..extra {
        let from = below(n - 1);
        let to = from + 1 + below(n - 1 - from);
        graph = graph.edge(name(from), name(to));
    }
    graph
}

/// Two nodes that count in turn until `limit`; a conditional edge closes the loop.
pub(crate) fn counter(limit: usize) -> Workload {
    let step = |_: NodeContext, input: Value| async move {
        let n = input.get("n").and_then(Value::as_i64).unwrap_or(0);
        Ok(NodeOutput::update([("n", n + 1)]))
    };
    let again = move |_: NodeContext, state: Value| async move {
        let n = state.get("n").and_then(Value::as_u64).unwrap_or(0) as usize;
        Ok(vec![Target::node(if n < limit { "a" } else { END })])
    };
    let graph = StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .node("a", step)
        .node("b", step)
        .edge(START, "a")
        .edge("a", "b")
        .branch("b", Branch::new(again));
    Workload {
        graph: graph.compile().unwrap(),
        input: json!({"n": 0}),
        tasks: limit,
        expect: ("n", limit),
    }
}

/// `k` packets to one worker that appends its input; a node behind it joins.
pub(crate) fn fan_out(k: usize) -> Workload {
    let fan =
        move |_: NodeContext, _: Value| async move { Ok((0..k).map(|i| Target::send("w", i)).collect()) };
    let worker = |_: NodeContext, input: Value| async move {
        Ok(NodeOutput::Update(Value::Object(
            [("out", Value::from(vec![input]))].into_iter().collect(),
        )))
    };
    let graph = StateGraph::new()
        .channel("out", ChannelSpec::append())
        .node("w", worker)
        .node("join", noop())
        .branch(START, Branch::new(fan))
        .edge("w", "join");
    Workload {
        graph: graph.compile().unwrap(),
        input: json!({"out": []}),
        tasks: k,
        expect: ("out", k),
    }
}

/// `k` subjects of 1,000 characters, each through a graph of its own: two nodes, then one that loops ten times.
pub(crate) fn nested(k: usize) -> Workload {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let first = move |state: &Value| text(state.get("jokes").and_then(|jokes| jokes.at(0)));
    let edit = move |_: NodeContext, state: Value| async move {
        let subject = text(state.get("subject")) + " - hohoho";
        Ok(NodeOutput::update([("subject", subject)]))
    };
    let generate = move |_: NodeContext, state: Value| async move {
        let joke = format!("Joke about {}", text(state.get("subject")));
        Ok(NodeOutput::update([("jokes", vec![joke])]))
    };
    let bump = move |_: NodeContext, state: Value| async move {
        Ok(NodeOutput::update([("jokes", vec![first(&state) + " a"])]))
    };
    let done = " a".repeat(10);
    let route = move |_: NodeContext, state: Value| {
        let next = if first(&state).ends_with(&done) {
            END
        } else {
            "bump"
        };
        async move { Ok(vec![Target::node(next)]) }
    };
    let inner = StateGraph::new()
        .channel("subject", ChannelSpec::last_value())
        .channel("jokes", ChannelSpec::last_value())
        .input_keys(["subject"])
        .output_keys(["jokes"])
        .node("edit", edit)
        .node("generate", generate)
        .node("bump", bump)
        .edge(START, "edit")
        .edge("edit", "generate")
        .edge("generate", "bump")
        .branch("bump", Branch::new(route))
        .compile()
        .unwrap();
    let fan = |_: NodeContext, state: Value| async move {
        let subjects = state.get("subjects").and_then(Value::as_array).cloned();
        let send = |subject: &Value| {
            let arg: Object = [("subject", subject.clone())].into_iter().collect();
            Target::send("joke", arg)
        };
        Ok(subjects
            .iter()
            .flat_map(|subjects| subjects.iter())
            .map(send)
            .collect())
    };
    let graph = StateGraph::new()
        .channel("subjects", ChannelSpec::last_value())
        .channel("jokes", ChannelSpec::append())
        .subgraph("joke", &inner)
        .branch(START, Branch::new(fan));
    let subjects = vec!["q".repeat(1000); k];
    Workload {
        graph: graph.compile().unwrap(),
        input: [("subjects", subjects)].into_iter().collect::<Object>().into(),
        tasks: 13 * k,
        expect: ("jokes", k),
    }
}

/// One message a turn; the node answers nothing.
pub(crate) fn talk() -> Workload {
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .node("listen", noop())
        .edge(START, "listen");
    Workload {
        graph: graph.compile().unwrap(),
        input: Value::Null,
        tasks: 1,
        expect: ("messages", 0),
    }
}

/// The input of one turn of [`talk`]: a message of 1 KiB.
pub(crate) fn turn(i: usize) -> Value {
    json!({"messages": [{"type": "human", "id": format!("turn-{i:06}"), "content": "x".repeat(1000)}]})
}

/// An agent that calls a tool `calls` times, then answers. The model is a script: it says what its turn in the
/// conversation asks for.
pub(crate) fn react(calls: usize) -> Workload {
    let id = |kind: &str, i: usize| format!("00000000-0000-4000-{kind}-{i:012}");
    let script: Arc<Vec<Value>> = Arc::new(
        (0..=calls)
            .map(|i| match i {
                i if i < calls => json!({"type": "ai", "id": id("8001", i), "content": "", "tool_calls": [
                    {"id": id("8002", i), "name": "lookup", "args": {"query": id("8003", i).repeat(100)}}]}),
                i => json!({"type": "ai", "id": id("8001", i), "content": "answer".repeat(100)}),
            })
            .collect(),
    );
    let agent = move |_: NodeContext, state: Value| {
        let count = state
            .get("messages")
            .and_then(Value::as_array)
            .map_or(0, |m| m.len());
        let next = script[count / 2].clone();
        async move { Ok(NodeOutput::update([("messages", next)])) }
    };
    let tools = |_: NodeContext, state: Value| async move {
        let last = state
            .get("messages")
            .and_then(Value::as_array)
            .and_then(|m| m.last());
        let call = last.and_then(|m| m.get("tool_calls")?.at(0)).unwrap();
        let query = call
            .get("args")
            .and_then(|args| args.get("query")?.as_str())
            .unwrap();
        let call_id = call.get("id").and_then(Value::as_str).unwrap();
        let answer: Object = [
            ("type", Value::from("tool")),
            ("id", format!("tool-{call_id}").into()),
            ("tool_call_id", call_id.into()),
            ("content", format!("result for query: {query}").repeat(10).into()),
        ]
        .into_iter()
        .collect();
        Ok(NodeOutput::update([("messages", answer)]))
    };
    let route = |_: NodeContext, state: Value| async move {
        let last = state
            .get("messages")
            .and_then(Value::as_array)
            .and_then(|m| m.last());
        let asks = last
            .and_then(|m| m.get("tool_calls")?.as_array())
            .is_some_and(|calls| !calls.is_empty());
        Ok(vec![Target::node(if asks { "tools" } else { END })])
    };
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .node("agent", agent)
        .node("tools", tools)
        .edge(START, "agent")
        .branch("agent", Branch::new(route))
        .edge("tools", "agent");
    Workload {
        graph: graph.compile().unwrap(),
        input: json!({"messages": [{"type": "human", "id": "first", "content": "hi?"}]}),
        tasks: 2 * calls + 1,
        expect: ("messages", 2 * calls + 2),
    }
}

const LISTS: [&str; 4] = ["messages", "trigger_events", "categorizations", "responses"];
const DICTS: [&str; 2] = ["slack_participants", "notified_assignees"];

/// Fifteen keys, a loop of six nodes that multiplies four lists. `size` is 25x300, 15x600 or 9x1200: how much each
/// event carries, and the number of messages that ends the loop.
pub(crate) fn wide(size: &str) -> Workload {
    let (a, b, n, tasks, messages) = match size {
        "25x300" => (5, 5, 300, 36, 595),
        "15x600" => (3, 5, 600, 42, 1873),
        "9x1200" => (3, 3, 1200, 42, 1873),
        // Not a workload of the reference: the first with messages ten times as large. Its time must not change.
        "250x300" => (50, 5, 300, 36, 595),
        other => panic!("there is no wide state {other}"),
    };
    let text: Arc<str> = "q".repeat(n).into();
    let node = |reads: &'static str, writes: &'static [&'static str]| {
        let text = text.clone();
        move |_: NodeContext, state: Value| {
            let text = Value::String(text.clone());
            async move {
                let value = state.get(reads).cloned().unwrap_or_default();
                let (list, one) = match &value {
                    Value::Array(items) => (value.clone(), items.last().cloned().unwrap_or_default()),
                    one => (vec![one.clone()].into(), one.clone()),
                };
                Ok(NodeOutput::update(writes.iter().map(|key| match *key {
                    key if LISTS.contains(&key) => (key, list.clone()),
                    key if DICTS.contains(&key) => (key, one.clone()),
                    key => (key, text.clone()),
                })))
            }
        }
    };
    let newer = |name: &str, keeps: fn(&Value) -> bool| {
        let choose = move |old: &Value, new: &Value| Ok(if keeps(new) { old.clone() } else { new.clone() });
        ChannelSpec::binary(BinaryOp::Custom(name.into(), Arc::new(choose)), Some(Value::Null))
    };
    let empty = |value: &Value| value.is_null() || value.as_str() == Some("");
    let again = move |_: NodeContext, state: Value| async move {
        let count = state
            .get("messages")
            .and_then(Value::as_array)
            .map_or(0, |m| m.len());
        Ok(vec![Target::node(if count > n { END } else { "one" })])
    };
    let mut graph = StateGraph::new();
    for key in LISTS {
        graph = graph.channel(key, ChannelSpec::append());
    }
    for key in DICTS {
        let empty = Some(Value::Object(Object::new()));
        graph = graph.channel(key, ChannelSpec::binary(BinaryOp::Merge, empty));
    }
    for key in ["primary_issue_medium", "issue"] {
        graph = graph.channel(key, newer("newer unless empty", empty));
    }
    for key in ["user_info", "crm_info", "email_thread_id"] {
        graph = graph.channel(key, newer("newer unless null", Value::is_null));
    }
    for key in ["autoresponse", "relevant_rules", "memory_docs", "bot_id"] {
        graph = graph.channel(key, ChannelSpec::last_value());
    }
    let graph = graph
        .node(
            "one",
            node("messages", &["trigger_events", "primary_issue_medium"]),
        )
        .node("two", node("trigger_events", &["autoresponse", "issue"]))
        .node("three", node("autoresponse", &["relevant_rules"]))
        .node(
            "four",
            node("trigger_events", &["categorizations", "responses", "memory_docs"]),
        )
        .node(
            "five",
            node(
                "categorizations",
                &[
                    "user_info",
                    "crm_info",
                    "email_thread_id",
                    "slack_participants",
                    "bot_id",
                    "notified_assignees",
                ],
            ),
        )
        .node("six", node("responses", &["messages"]))
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", "three")
        .edge("two", "four")
        .join(["three", "four"], "five")
        .edge("five", "six")
        .branch("six", Branch::new(again));
    let values = json!(["hi?".repeat(10), true, 1, 6_327_816_386_138_u64, null]);
    let values: List = (0..5)
        .flat_map(|_| values.as_array().unwrap().iter().cloned())
        .collect();
    let inner: Object = (0..b)
        .map(|j: usize| (j.to_string().repeat(10), values.clone()))
        .collect();
    let event: Object = (0..a)
        .map(|i: usize| (i.to_string().repeat(10), inner.clone()))
        .collect();
    Workload {
        graph: graph.compile().unwrap(),
        input: [("messages", Value::from(vec![event]))]
            .into_iter()
            .collect::<Object>()
            .into(),
        tasks,
        expect: ("messages", messages),
    }
}
