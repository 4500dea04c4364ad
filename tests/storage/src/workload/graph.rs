//! The graph of one turn, and what a turn leaves in the state.

use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use parking_lot::Mutex;
use superstep::graph::{CompileError, Effect, TaskFn};
use superstep::{
    Branch, ChannelSpec, END, Graph, NodeContext, NodeError, NodeOptions, NodeOutput, START, StateGraph,
    Target, ThreadId, Value, json,
};

use crate::random::Random;
use crate::witness::{Fact, Journal, Note};

const PACKETS: u64 = 3;

/// Returns what a turn adds to `log`.
pub(super) fn log_of(turn: u64) -> Vec<String> {
    let work = (0..PACKETS).map(|n| format!("{turn} work {n}"));
    let others = [
        "plan", "left", "right", "call a", "call b", "call c", "answer", "close",
    ];
    work.chain(others.iter().map(|name| format!("{turn} {name}")))
        .collect()
}

/// Returns what a turn adds to `inner`.
pub(super) fn inner_of(turn: u64) -> Vec<String> {
    ["first", "second", "answer"]
        .iter()
        .map(|name| format!("{turn} {name}"))
        .collect()
}

/// State that nodes share: they note that they begin, and take a random time.
#[derive(Clone)]
struct Desk {
    journal: Arc<Journal>,
    random: Arc<Mutex<Random>>,
}

impl Desk {
    fn below(&self, limit: u64) -> u64 {
        let mut random = self.random.lock();
        random.below(limit)
    }

    async fn begin(&self, context: &NodeContext, what: &str) {
        self.journal.note(&Note::Began {
            thread: thread_of(context),
            task: context.info().task_id.to_string(),
            what: what.to_owned(),
        });
        self.pause().await;
    }

    /// Asks, and notes the answer once it is given.
    fn ask(&self, context: &NodeContext, question: &str) -> Result<(), NodeError> {
        let answer = context.interrupt(question)?;
        let received = Fact::Received {
            task: context.info().task_id.to_string(),
            answer: answer.as_str().unwrap_or("none").to_owned(),
        };
        self.journal.fact(&thread_of(context), received);
        Ok(())
    }

    async fn pause(&self) {
        let pause = self.below(3);
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    /// Creates a node that adds one entry, and has no other effect.
    fn entry(&self, key: &'static str, name: &'static str) -> impl superstep::Node {
        let desk = self.clone();
        move |context: NodeContext, input: Value| {
            let desk = desk.clone();
            async move {
                let entry = entry(&input, name)?;
                desk.begin(&context, &entry).await;
                Ok(NodeOutput::update([(key, vec![Value::from(entry)])]))
            }
        }
    }

    /// Creates a node that asks before it adds its entry, while the others of its step ask and work.
    fn asked(&self, name: &'static str) -> impl superstep::Node {
        let desk = self.clone();
        move |context: NodeContext, input: Value| {
            let desk = desk.clone();
            async move {
                desk.ask(&context, name)?;
                let entry = entry(&input, name)?;
                desk.begin(&context, &entry).await;
                Ok(NodeOutput::update([("log", vec![Value::from(entry)])]))
            }
        }
    }

    /// Creates a node that does what must not be done twice for one case.
    fn act(&self) -> impl superstep::Node {
        let desk = self.clone();
        move |context: NodeContext, input: Value| {
            let desk = desk.clone();
            async move {
                desk.begin(&context, &entry(&input, "pay")?).await;
                let (case, act) = (number(&input, "case")?, 1 + desk.below(1 << 40));
                desk.journal.fact(&thread_of(&context), Fact::Acted { case, act });
                desk.pause().await;
                Ok(NodeOutput::update([("paid", act)]))
            }
        }
    }

    fn call(&self, name: &'static str) -> TaskFn {
        let desk = self.clone();
        TaskFn::new(name, move |context: NodeContext, turn: Value| {
            let desk = desk.clone();
            async move {
                let entry = format!("{turn} call {name}");
                desk.begin(&context, &entry).await;
                Ok(Value::from(entry))
            }
        })
    }
}

fn thread_of(context: &NodeContext) -> ThreadId {
    context.info().thread.clone().unwrap_or_else(|| "none".into())
}

fn number(input: &Value, key: &str) -> Result<u64, NodeError> {
    let number = input.get(key).and_then(Value::as_u64);
    number.ok_or_else(|| NodeError::new("StateError", format!("the input has no {key}: {input}")))
}

fn turn_of(input: &Value) -> Result<u64, NodeError> {
    number(input, "turn")
}

fn entry(input: &Value, name: &str) -> Result<String, NodeError> {
    Ok(format!("{} {name}", turn_of(input)?))
}

/// Builds the graph of one turn.
pub(super) fn turn(journal: Arc<Journal>, seed: u64) -> Result<Graph, CompileError> {
    let desk = Desk {
        journal,
        random: Arc::new(Mutex::new(Random::new(seed))),
    };
    let packets = |_: NodeContext, state: Value| async move {
        let turn = turn_of(&state)?;
        let packet = |n| Target::send("work", json!({"turn": turn, "n": n}));
        Ok((0..PACKETS).map(packet).collect())
    };
    let work = desk.clone();
    let work = move |context: NodeContext, packet: Value| {
        let desk = work.clone();
        async move {
            let n = packet.get("n").and_then(Value::as_u64).unwrap_or(u64::MAX);
            let entry = entry(&packet, &format!("work {n}"))?;
            desk.begin(&context, &entry).await;
            Ok(NodeOutput::update([("log", vec![Value::from(entry)])]))
        }
    };
    let (a, b, c) = (desk.call("a"), desk.call("b"), desk.call("c"));
    let asking = desk.clone();
    let gather = move |context: NodeContext, input: Value| {
        let (a, b, c, asking) = (a.clone(), b.clone(), c.clone(), asking.clone());
        async move {
            let turn = turn_of(&input)?;
            let mut entries = try_join_all([context.call(&a, turn), context.call(&b, turn)]).await?;
            asking.ask(&context, "May it go on?")?;
            entries.push(context.call(&c, turn).await?);
            entries.push(entry(&input, "answer")?.into());
            Ok(NodeOutput::update([("log", entries)]))
        }
    };
    let asks = desk.clone();
    let second = move |context: NodeContext, input: Value| {
        let desk = asks.clone();
        async move {
            desk.ask(&context, "May it go on in here?")?;
            let entries = [entry(&input, "second")?, entry(&input, "answer")?];
            desk.begin(&context, &entries[0]).await;
            Ok(NodeOutput::update([("inner", entries.map(Value::from).to_vec())]))
        }
    };
    let nested = StateGraph::new()
        .channel("turn", ChannelSpec::last_value())
        .channel("inner", ChannelSpec::append())
        .input_keys(["turn"])
        .output_keys(["inner"])
        .node("first", desk.entry("inner", "first"))
        .node("second", second)
        .edge(START, "first")
        .edge("first", "second")
        .edge("second", END)
        .compile()?;
    let once = NodeOptions::new().effect(Effect::Once).effect_keys(["case"]);
    StateGraph::new()
        .channel("turn", ChannelSpec::last_value())
        .channel("case", ChannelSpec::last_value())
        .channel("paid", ChannelSpec::last_value())
        .channel("log", ChannelSpec::append())
        .channel("inner", ChannelSpec::append())
        .node("plan", desk.entry("log", "plan"))
        .node("left", desk.asked("left"))
        .node("right", desk.asked("right"))
        .node("work", work)
        .node("gather", gather)
        .node_with("pay", Arc::new(desk.act()), once)
        .subgraph("nested", &nested)
        .node("close", desk.entry("log", "close"))
        .edge(START, "plan")
        .edge("plan", "left")
        .edge("plan", "right")
        .branch("plan", Branch::new(packets))
        .join(["left", "right"], "gather")
        .edge("gather", "pay")
        .edge("pay", "nested")
        .edge("nested", "close")
        .edge("close", END)
        .compile()
}
