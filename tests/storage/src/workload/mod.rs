//! What the process that is killed does: turns of a graph that has everything a crash can hit.
//!
//! A turn plans; runs two nodes that ask and three packets side by side; gathers, where called tasks do recorded work around
//! a question; does what must be done once for a case; runs a nested graph that asks too; and closes. What a turn leaves
//! in the state follows from its number, so any thread can say whether it is as it should be, however often it was cut
//! off. Between turns a line goes back in time, forks, edits, prunes, copies and deletes. Most runs claim the thread, each
//! with its policy for effects that were done before; while some of them run, another run takes the thread over, or
//! another task prunes.

mod between;
mod graph;
mod run;

use std::sync::Arc;

use futures::future::join_all;
use parking_lot::{Mutex, MutexGuard};
use superstep::run::StateRef;
use superstep::{Checkpointer, Graph, StateSnapshot, Store, ThreadId, Value, json};

use self::graph::{inner_of, log_of, turn};
use self::run::Claiming;
use crate::oracle::ITEMS;
use crate::random::Random;
use crate::witness::{Fact, Journal, Note, Witness};

/// Requirements of lines of work.
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

/// Error on a line.
type Trouble = Box<dyn std::error::Error + Send + Sync>;

impl Lines {
    /// Creates lines on a backend.
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

    /// Sets the store into which items are put between turns.
    pub fn with_store(self, store: Arc<dyn Store>) -> Self {
        Self {
            store: Some(store),
            ..self
        }
    }

    /// Works on every thread, side by side, until each has done this many turns, or for ever.
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

    fn random(&self) -> MutexGuard<'_, Random> {
        self.random.lock()
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
            let step = self.next_step(&state)?;
            self.remember().await?;
            let is_shared = self.lines.saver.coordination().is_some();
            if self.percent(6) {
                // Another task prunes while it runs: the newest are never in the way. Of a claimed thread nothing is pruned.
                let (ran, pruned) = tokio::join!(self.run(step, Claiming::No), self.prune(6));
                pruned?;
                ran?;
            } else {
                let claiming = match self.random().below(100) {
                    0..15 if is_shared => Claiming::Contested,
                    0..85 => Claiming::Yes,
                    _ => Claiming::No,
                };
                self.run(step, claiming).await?;
            }
        }
    }

    /// Checks that the state is what the turns so far leave, with each of their entries once.
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
        let number = |key| state.values.get(key).and_then(Value::as_u64).unwrap_or_default();
        let (case, paid) = (number("case"), number("paid"));
        self.lines.journal.fact(&self.thread, Fact::Turned { case, paid });
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
}
