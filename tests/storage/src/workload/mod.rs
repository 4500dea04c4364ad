//! What the process that is killed does: turns of a graph that has everything a crash can hit.
//!
//! A turn plans; runs two nodes and three packets side by side; gathers, where called tasks do recorded work around a
//! question; runs a nested graph that asks too; and closes. What a turn leaves in the state follows from its number,
//! so any thread can say whether it is as it should be, however often it was cut off. Between turns a line goes back
//! in time, forks, edits, prunes, copies and deletes, and another task prunes while it runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use superstep::{
    Branch, ChannelSpec, Checkpointer, CompileError, Durability, END, Graph, Input, Keep, ListQuery,
    NodeContext, NodeError, NodeOutput, Object, Pruning, RunConfig, RunError, START, StateGraph, StateRef,
    StateSnapshot, StateUpdate, Store, Target, TaskFn, ThreadId, Value, json, reserved,
};

use crate::oracle::ITEMS;
use crate::random::Random;
use crate::witness::{Journal, Note, Witness};

const PACKETS: u64 = 3;

/// What a line of work needs.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The backend, witnessed.
    pub saver: Arc<dyn Checkpointer>,
    /// Where items are put between turns, if they are.
    pub store: Option<Arc<dyn Store>>,
    /// Where to note what happens.
    pub journal: Arc<Journal>,
    /// Names of threads begin with this, so that several processes can work side by side.
    pub name: String,
    /// How many threads.
    pub count: u64,
    /// Where the random numbers begin.
    pub seed: u64,
}

/// What goes wrong on a line.
type Trouble = Box<dyn std::error::Error + Send + Sync>;

impl Lines {
    /// Lines on a backend.
    pub fn new(
        backend: Arc<dyn Checkpointer>,
        journal: Arc<Journal>,
        name: &str,
        count: u64,
        seed: u64,
    ) -> Self {
        Self {
            saver: Arc::new(Witness::new(backend, journal.clone())),
            store: None,
            journal,
            name: name.to_owned(),
            count,
            seed,
        }
    }

    /// Items are put into this store between turns.
    pub fn with_store(self, store: Arc<dyn Store>) -> Self {
        Self {
            store: Some(store),
            ..self
        }
    }

    /// Works on every thread, side by side, until each has done so many turns, or for ever.
    pub async fn work(&self, turns: Option<u64>) {
        join_all((0..self.count).map(|n| async move {
            let thread = ThreadId::from(format!("{} {n}", self.name));
            let graph = match turn(self.journal.clone(), self.seed.wrapping_add(n)) {
                Ok(graph) => graph.with_checkpointer(self.saver.clone()),
                Err(error) => return self.broken(&thread, &error.to_string()),
            };
            let line = Line {
                lines: self,
                graph,
                thread: thread.clone(),
                random: Mutex::new(Random::new(self.seed.wrapping_mul(31).wrapping_add(n))),
            };
            if let Err(error) = line.go_on(turns).await {
                self.broken(&thread, &error.to_string());
            }
        }))
        .await;
    }

    fn broken(&self, thread: &ThreadId, what: &str) {
        self.journal.note(&Note::Broken {
            thread: thread.clone(),
            what: what.to_owned(),
        });
    }
}

struct Line<'a> {
    lines: &'a Lines,
    graph: Graph,
    thread: ThreadId,
    random: Mutex<Random>,
}

impl Line<'_> {
    fn percent(&self, chance: u64) -> bool {
        self.random().percent(chance)
    }

    fn random(&self) -> std::sync::MutexGuard<'_, Random> {
        self.random.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn go_on(&self, turns: Option<u64>) -> Result<(), Trouble> {
        let live = StateRef::live(self.thread.clone()).with_subgraphs();
        let mut done = 0;
        loop {
            let state = self.graph.get_state(&live).await?;
            let open = !state.next.is_empty() || !state.interrupts.is_empty();
            if !open && state.checkpoint.is_some() {
                self.check(&state)?;
                done += 1;
                if turns.is_some_and(|turns| done > turns) {
                    return Ok(());
                }
                self.between_turns().await?;
            }
            let state = self.graph.get_state(&live).await?;
            let input = next_input(&state);
            self.remember().await?;
            if self.percent(15) {
                // Somebody cleans up while it runs: the newest are never in the way.
                let (ran, pruned) = tokio::join!(self.run(input), self.prune(6));
                pruned?;
                ran?;
            } else {
                self.run(input).await?;
            }
        }
    }

    async fn run(&self, input: Input) -> Result<(), RunError> {
        let durability = match self.random().below(10) {
            0 => Durability::Exit,
            1..5 => Durability::Async,
            _ => Durability::Sync,
        };
        let config = RunConfig {
            durability,
            ..RunConfig::on(self.thread.clone())
        };
        self.graph.invoke(input, config).await.map(drop)
    }

    /// The state is what the turns so far leave, each of their entries once.
    fn check(&self, state: &StateSnapshot) -> Result<(), Trouble> {
        let sorted = |mut entries: Vec<String>| {
            entries.sort();
            entries
        };
        let entries = |key: &str| -> Vec<String> {
            let list = state
                .values
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            let texts = list.iter().filter_map(|entry| entry.as_str().map(str::to_owned));
            texts.filter(|text| !text.starts_with("edit")).collect()
        };
        let turn = state
            .values
            .get("turn")
            .and_then(Value::as_u64)
            .ok_or("the state has no turn")?;
        for (key, of_turn) in [("log", log_of as fn(u64) -> Vec<String>), ("inner", inner_of)] {
            let (got, want) = (
                sorted(entries(key)),
                sorted((0..=turn).flat_map(of_turn).collect()),
            );
            if got != want {
                return Err(format!("after turn {turn} {key} is {got:?}, not {want:?}").into());
            }
        }
        self.lines.journal.note(&Note::Turned {
            thread: self.thread.clone(),
        });
        Ok(())
    }

    /// Puts or deletes an item.
    async fn remember(&self) -> Result<(), Trouble> {
        let Some(store) = &self.lines.store else {
            return Ok(());
        };
        let (key, n) = {
            let mut random = self.random();
            let key = format!("{} {}", self.thread, random.below(5));
            (key, (!random.percent(20)).then(|| random.below(1 << 40)))
        };
        let journal = &self.lines.journal;
        journal.note(&Note::Putting { key: key.clone(), n });
        match n {
            Some(n) => {
                store
                    .put(ITEMS, &key, json!({"n": n, "text": "x".repeat(n as usize % 300)}))
                    .await?
            }
            None => store.delete(ITEMS, &key).await?,
        }
        journal.note(&Note::Put { key, n });
        Ok(())
    }

    async fn between_turns(&self) -> Result<(), Trouble> {
        let what = self.random().below(12);
        match what {
            0 | 1 => self.back_in_time().await,
            2 => self.fork().await,
            3 => self.edit().await,
            4 => Ok(self.prune(1).await?),
            5 | 6 => Ok(self.prune(15).await?),
            7 => self.copy().await,
            _ => Ok(()),
        }
    }

    /// A checkpoint of the past that has something to run.
    async fn past(&self) -> Result<Option<StateRef>, Trouble> {
        let query = ListQuery {
            thread: Some(self.thread.clone()),
            ns: Some("".into()),
            limit: Some(20),
            ..ListQuery::default()
        };
        let heads = self.graph_saver().heads(&query).await?;
        let open: Vec<_> = heads.iter().filter(|head| !head.next.is_empty()).collect();
        if open.is_empty() {
            return Ok(None);
        }
        let chosen = self.random().below(open.len() as u64) as usize;
        Ok(Some(StateRef::at(self.thread.clone(), open[chosen].id.clone())))
    }

    fn graph_saver(&self) -> &dyn Checkpointer {
        &*self.lines.saver
    }

    async fn back_in_time(&self) -> Result<(), Trouble> {
        let Some(past) = self.past().await? else {
            return Ok(());
        };
        let config = RunConfig {
            checkpoint_id: past.checkpoint_id,
            ..RunConfig::on(self.thread.clone())
        };
        self.graph.invoke(Input::Resume, config).await?;
        Ok(())
    }

    async fn fork(&self) -> Result<(), Trouble> {
        let Some(past) = self.past().await? else {
            return Ok(());
        };
        let copy = StateUpdate {
            as_node: Some(reserved::COPY.into()),
            ..StateUpdate::default()
        };
        self.graph.update_state(&past, copy).await?;
        Ok(())
    }

    async fn edit(&self) -> Result<(), Trouble> {
        let edit = StateUpdate {
            values: json!({"log": ["edit"]}),
            as_node: Some("close".into()),
            ..StateUpdate::default()
        };
        self.graph
            .update_state(&StateRef::live(self.thread.clone()), edit)
            .await?;
        Ok(())
    }

    async fn prune(&self, newest: usize) -> Result<(), RunError> {
        let thread = || self.thread.clone();
        self.lines.journal.note(&Note::Pruning {
            thread: thread(),
            newest,
        });
        self.graph
            .prune(&Pruning::threads([thread()], Keep::Newest(newest)))
            .await?;
        self.lines.journal.note(&Note::Pruned { thread: thread() });
        Ok(())
    }

    async fn copy(&self) -> Result<(), Trouble> {
        let to = ThreadId::from(format!("copy of {}", self.thread));
        self.graph.delete_thread(&to).await?;
        if self.percent(80) {
            self.graph.copy_thread(&self.thread, &to).await?;
        }
        Ok(())
    }
}

/// How a thread goes on from where it stands.
fn next_input(state: &StateSnapshot) -> Input {
    if !state.interrupts.is_empty() {
        let answers = state.interrupts.iter().map(|asked| (asked.id.as_str(), "go on"));
        return Input::resume(Value::Object(answers.collect::<Object>()));
    }
    if !state.next.is_empty() {
        return Input::Resume;
    }
    let turn = state.values.get("turn").and_then(Value::as_u64);
    Input::value(json!({"turn": turn.map_or(0, |turn| turn + 1)}))
}

fn log_of(turn: u64) -> Vec<String> {
    let work = (0..PACKETS).map(|n| format!("{turn} work {n}"));
    let others = [
        "plan",
        "left",
        "right",
        "call a",
        "call b",
        "call c",
        "answer go on",
        "close",
    ];
    work.chain(others.iter().map(|name| format!("{turn} {name}")))
        .collect()
}

fn inner_of(turn: u64) -> Vec<String> {
    ["first", "second", "heard go on"]
        .iter()
        .map(|name| format!("{turn} {name}"))
        .collect()
}

/// What nodes share: they note that they begin, and take a random while.
#[derive(Clone)]
struct Desk {
    journal: Arc<Journal>,
    random: Arc<Mutex<Random>>,
}

impl Desk {
    async fn begin(&self, context: &NodeContext, what: &str) {
        let info = context.info();
        self.journal.note(&Note::Began {
            thread: info.thread.clone().unwrap_or_else(|| "none".into()),
            task: info.task_id.to_string(),
            what: what.to_owned(),
        });
        let pause = self
            .random
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .below(3);
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    /// A node that adds one entry, and has no effect but that.
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

fn turn_of(input: &Value) -> Result<u64, NodeError> {
    let turn = input.get("turn").and_then(Value::as_u64);
    turn.ok_or_else(|| NodeError::new("StateError", format!("the input has no turn: {input}")))
}

fn entry(input: &Value, name: &str) -> Result<String, NodeError> {
    Ok(format!("{} {name}", turn_of(input)?))
}

/// The graph of one turn.
fn turn(journal: Arc<Journal>, seed: u64) -> Result<Graph, CompileError> {
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
    let gather = move |context: NodeContext, input: Value| {
        let (a, b, c) = (a.clone(), b.clone(), c.clone());
        async move {
            let turn = turn_of(&input)?;
            let mut entries = try_join_all([context.call(&a, turn), context.call(&b, turn)]).await?;
            let answer = context.interrupt("May it go on?")?;
            entries.push(context.call(&c, turn).await?);
            entries.push(entry(&input, &format!("answer {}", answer.as_str().unwrap_or("none")))?.into());
            Ok(NodeOutput::update([("log", entries)]))
        }
    };
    let asks = desk.clone();
    let second = move |context: NodeContext, input: Value| {
        let desk = asks.clone();
        async move {
            let answer = context.interrupt("May it go on in here?")?;
            let entries = [
                entry(&input, "second")?,
                entry(&input, &format!("heard {}", answer.as_str().unwrap_or("none")))?,
            ];
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
    StateGraph::new()
        .channel("turn", ChannelSpec::last_value())
        .channel("log", ChannelSpec::append())
        .channel("inner", ChannelSpec::append())
        .node("plan", desk.entry("log", "plan"))
        .node("left", desk.entry("log", "left"))
        .node("right", desk.entry("log", "right"))
        .node("work", work)
        .node("gather", gather)
        .subgraph("nested", &nested)
        .node("close", desk.entry("log", "close"))
        .edge(START, "plan")
        .edge("plan", "left")
        .edge("plan", "right")
        .branch("plan", Branch::new(packets))
        .join(["left", "right"], "gather")
        .edge("gather", "nested")
        .edge("nested", "close")
        .edge("close", END)
        .compile()
}
