//! Operations at the same time: lines of them that cross, from one program or two, and the search for an order in which
//! one after the other they would have given the same answers and left the same threads.
//!
//! Such an order keeps what everybody could see: what had ended before something else began comes before it. Where a
//! backend says that it looks at a thread at one moment and changes it at a later one (a folder, which lets everybody
//! commit meanwhile, and a copy between threads of Redis that both have something), these are two steps of the order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::join_all;
use superstep::checkpoint::{CheckpointTuple, Commit, ListQuery, Pruning, Removal};
use superstep::{Checkpointer, Name, ThreadId};

use super::names::{space, thread};
use super::operations::{Change, Made, Step};
use super::{Run, message, same_text};
use crate::model::{Address, Model};
use superstep_storage::Backend;

/// Orders that are looked at before it is reported that there is none: the first is right unless something is wrong.
const ORDERS: u64 = 20_000;

/// Action to perform, with everything that it needs.
#[derive(Clone, Debug)]
enum Deed {
    Commit(Box<Commit>),
    Delete(ThreadId),
    Copy(ThreadId, ThreadId),
    Prune(Pruning),
    Get(ThreadId, Name),
}

/// Observed result of an action.
#[derive(Clone, Debug, PartialEq)]
enum Saw {
    Accepted,
    Refused,
    Removed(Removal),
    Read(Option<Box<CheckpointTuple>>),
}

/// A deed that was done.
#[derive(Debug)]
struct Done {
    line: usize,
    deed: Deed,
    began: u64,
    ended: u64,
    saw: Saw,
    /// What the backend said when it refused.
    words: String,
}

impl Deed {
    async fn on(&self, saver: &dyn Checkpointer) -> Result<Saw, String> {
        match self {
            Deed::Commit(commit) => saver.commit(Commit::clone(commit)).await.map(|()| Saw::Accepted),
            Deed::Delete(thread) => saver.delete_thread(thread).await.map(|()| Saw::Accepted),
            Deed::Copy(from, to) => saver.copy_thread(from, to).await.map(|()| Saw::Accepted),
            Deed::Prune(pruning) => saver
                .prune(pruning)
                .await
                .map(|removal| Saw::Removed(sorted(removal))),
            Deed::Get(thread, ns) => {
                let found = saver.get(thread, ns, None).await;
                found.map(|found| Saw::Read(found.map(Box::new)))
            }
        }
        .map_err(message)
    }

    /// Returns whether the action reads at one moment and changes something at another.
    fn takes_two(&self, backend: Backend) -> bool {
        match self {
            Deed::Copy(..) => matches!(backend, Backend::File | Backend::Redis),
            Deed::Prune(pruning) => backend == Backend::File && !pruning.dry_run,
            _ => false,
        }
    }

    /// Performs the read of an action that takes two steps.
    fn look(&self, model: &Model) -> (Saw, Seen) {
        match self {
            Deed::Copy(from, _) => (Saw::Accepted, Seen::Thread(model.of(from))),
            Deed::Prune(pruning) => {
                let (removal, doomed) = model.plan(pruning);
                (Saw::Removed(sorted(removal)), Seen::Doomed(doomed))
            }
            _ => (Saw::Accepted, Seen::Doomed(BTreeSet::new())),
        }
    }

    /// Performs the change that follows the read.
    fn change(&self, model: &mut Model, seen: &Seen) {
        match (self, seen) {
            (Deed::Copy(from, to), Seen::Thread(rows)) if from != to => model.add(to, rows),
            (_, Seen::Doomed(doomed)) => model.remove(doomed),
            _ => {}
        }
    }

    fn in_model(&self, model: &mut Model) -> Saw {
        match self {
            Deed::Commit(commit) => match model.commit(commit) {
                true => Saw::Accepted,
                false => Saw::Refused,
            },
            Deed::Delete(thread) => {
                model.delete(thread);
                Saw::Accepted
            }
            Deed::Copy(from, to) => {
                model.copy(from, to);
                Saw::Accepted
            }
            Deed::Prune(pruning) => Saw::Removed(sorted(model.prune(pruning))),
            Deed::Get(thread, ns) => Saw::Read(model.get(thread, ns, None).map(Box::new)),
        }
    }
}

/// Findings of a read.
#[derive(Clone, Debug)]
enum Seen {
    Thread(Model),
    Doomed(BTreeSet<Address>),
}

/// The model in the middle of an order, and what was looked at and not changed yet.
#[derive(Clone, Debug)]
struct State {
    model: Model,
    seen: BTreeMap<usize, Seen>,
}

/// A step of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Whole(usize),
    Look(usize),
    Change(usize),
}

impl Unit {
    fn of(self) -> usize {
        let (Unit::Whole(n) | Unit::Look(n) | Unit::Change(n)) = self;
        n
    }
}

fn sorted(mut removal: Removal) -> Removal {
    removal.branches.sort();
    removal.bytes = None;
    removal
}

impl Run<'_> {
    /// Performs all lines at the same time.
    pub(super) async fn cross(&mut self, lines: &[Vec<Step>]) -> Result<(), String> {
        let mut deeds = Vec::new();
        for line in lines {
            deeds.push(line.iter().map(|step| self.deed(step)).collect::<Vec<_>>());
        }
        let savers = [self.saver.clone(), self.another().await?];
        let clock = Arc::new(AtomicU64::new(0));
        let going = deeds.into_iter().enumerate().map(|(line, deeds)| {
            let (saver, clock) = (savers[line % 2].clone(), clock.clone());
            tokio::spawn(async move {
                let mut done = Vec::new();
                for deed in deeds {
                    let began = clock.fetch_add(1, Ordering::SeqCst);
                    let (saw, words) = match deed.on(&*saver).await {
                        Ok(saw) => (saw, String::new()),
                        Err(words) => (Saw::Refused, words),
                    };
                    let ended = clock.fetch_add(1, Ordering::SeqCst);
                    done.push(Done {
                        line,
                        deed,
                        began,
                        ended,
                        saw,
                        words,
                    });
                }
                done
            })
        });
        let mut all = Vec::new();
        for done in join_all(going).await {
            all.extend(done.map_err(|error| error.to_string())?);
        }
        // The order in which they ended is most likely the one.
        all.sort_by_key(|done| done.ended);
        let everything = ListQuery::default();
        let there = self.saver.list(&everything).await.map_err(message)?;
        let mut search = Search {
            all: &all,
            there: &there,
            left: ORDERS,
            nearest: None,
        };
        let units = |n: usize| match all[n].deed.takes_two(self.place.backend) {
            true => vec![Unit::Look(n), Unit::Change(n)],
            false => vec![Unit::Whole(n)],
        };
        let mut open: Vec<Unit> = (0..all.len()).flat_map(units).collect();
        let state = State {
            model: self.model.clone(),
            seen: BTreeMap::new(),
        };
        if let Some(model) = search.from(&state, &mut open) {
            self.model = model;
            return Ok(());
        }
        let described: Vec<String> = all.iter().map(Done::described).collect();
        let differs = search.nearest.map_or(String::new(), |model| {
            same_text("what they left", &there, &model.list(&everything))
                .err()
                .unwrap_or_default()
        });
        Err(format!(
            "there is no order for what was done at once:\n{}\n{differs}",
            described.join("\n")
        ))
    }

    fn deed(&mut self, step: &Step) -> Deed {
        match step {
            Step::Commit(change) => Deed::Commit(Box::new(self.commit(&certain(change)))),
            Step::Delete(n) => Deed::Delete(thread(*n)),
            Step::Copy(from, to) => {
                self.seen.insert(thread(*to));
                Deed::Copy(thread(*from), thread(*to))
            }
            Step::Prune(n, keep, retain, dry_run) => {
                let retained = retain.iter().filter_map(|n| Some(self.pick(*n)?.id.clone()));
                let pruning = Pruning::threads([thread(*n)], *keep).retain(retained.collect::<Vec<_>>());
                Deed::Prune(match dry_run {
                    true => pruning.dry_run(),
                    false => pruning,
                })
            }
            Step::Get(t, s) => Deed::Get(thread(*t), space(*s)),
        }
    }
}

/// Returns a change that stores a checkpoint again only with the same contents, because it is not known here whether it
/// is still stored.
fn certain(change: &Change) -> Change {
    let mut change = change.clone();
    if let Some((Made::Again(_, other), _)) = &mut change.put {
        *other = false;
    }
    change
}

impl Done {
    fn described(&self) -> String {
        let Done {
            line,
            deed,
            began,
            ended,
            saw,
            words,
        } = self;
        let deed = match deed {
            Deed::Commit(commit) => {
                let put = commit.put.as_ref().map(|put| &put.checkpoint);
                let put = put.map(|put| format!("{} after {:?}", put.id, put.parent));
                let of: Vec<_> = commit
                    .writes
                    .iter()
                    .map(|task| (&task.checkpoint_id, &task.task_id, task.writes.len()))
                    .collect();
                format!(
                    "commit to {:?} {:?}: {put:?}, writes {of:?}",
                    commit.thread, commit.ns
                )
            }
            other => format!("{other:?}"),
        };
        let saw = match saw {
            Saw::Read(found) => format!("read {:?}", found.as_ref().map(|found| &found.checkpoint.id)),
            other => format!("{other:?}"),
        };
        format!("  line {line}, {began} to {ended}: {deed}: {saw} {words}")
    }
}

struct Search<'a> {
    all: &'a [Done],
    there: &'a Vec<CheckpointTuple>,
    left: u64,
    /// An order that gave all the answers.
    nearest: Option<Model>,
}

impl Search<'_> {
    /// Searches for an order of the open actions that fits, and returns the model after it, if there is one.
    fn from(&mut self, state: &State, open: &mut Vec<Unit>) -> Option<Model> {
        self.left = self.left.checked_sub(1)?;
        if open.is_empty() {
            if state.model.list(&ListQuery::default()) == *self.there {
                return Some(state.model.clone());
            }
            self.nearest.get_or_insert_with(|| state.model.clone());
            return None;
        }
        let first_end = open.iter().map(|unit| self.all[unit.of()].ended).min()?;
        for at in 0..open.len() {
            let (unit, done) = (open[at], &self.all[open[at].of()]);
            // Something else had ended before this began.
            if done.began > first_end {
                continue;
            }
            let mut after = state.clone();
            let fits = match unit {
                Unit::Whole(_) => done.deed.in_model(&mut after.model) == done.saw,
                Unit::Look(n) => {
                    let (saw, seen) = done.deed.look(&after.model);
                    after.seen.insert(n, seen);
                    saw == done.saw
                }
                Unit::Change(n) => match after.seen.remove(&n) {
                    Some(seen) => {
                        done.deed.change(&mut after.model, &seen);
                        true
                    }
                    None => false,
                },
            };
            if !fits {
                continue;
            }
            let taken = open.remove(at);
            let found = self.from(&after, open);
            open.insert(at, taken);
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
