//! Reads the journal of killed processes, and says what must be stored and what must not have happened.

mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use superstep::checkpoint::{ListQuery, StorageError};
use superstep::{CheckpointId, Checkpointer, Name, Store, ThreadId, Value};

use self::runs::Runs;
use crate::witness::{self, Fact, Note, print_of, print_of_value};

type CheckpointPlace = (Name, CheckpointId);

/// Fingerprint of something that was acknowledged.
#[derive(Clone, Copy, Debug)]
struct Known {
    print: u64,
    /// False once something that may remove it has begun.
    sure: bool,
}

/// Knowledge about a thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    checkpoints: BTreeMap<CheckpointPlace, Known>,
    writes: BTreeMap<(CheckpointPlace, String, i32), Known>,
    finished: BTreeSet<String>,
    /// Every checkpoint that was handed to the backend.
    begun: BTreeSet<CheckpointPlace>,
    /// The root checkpoint in which each checkpoint of a nested graph was made.
    owners: BTreeMap<CheckpointPlace, CheckpointId>,
    /// It was deleted and nothing has come since.
    gone: bool,
    /// A pruning has begun that leaves this many.
    pruning: Option<usize>,
    /// There was one.
    pruned: bool,
    /// What its runs did outside, were answered and claimed.
    runs: Runs,
}

/// Knowledge about an item of the store.
#[derive(Clone, Debug, Default)]
struct Item {
    /// What was acknowledged last; nothing when it was deleted.
    known: Option<u64>,
    /// What has begun since, and may be there as well.
    begun: Vec<Option<u64>>,
}

/// The namespace of the items that are witnessed.
pub const ITEMS: &[&str] = &["witnessed"];

/// Number of records that were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Acknowledged checkpoints.
    pub checkpoints: u64,
    /// Acknowledged writes of tasks.
    pub writes: u64,
    /// Tasks that began.
    pub tasks: u64,
    /// Turns that ended with the right state.
    pub turns: u64,
    /// Prunings, deletions and copies.
    pub maintenance: u64,
    /// Items of the store that were put or deleted.
    pub items: u64,
    /// Runs that began.
    pub runs: u64,
    /// Acts that must not be done twice.
    pub acts: u64,
    /// Runs from the past that came to their end.
    pub replays: u64,
    /// Runs that stopped before an act of another branch.
    pub stopped: u64,
    /// Answers that were acknowledged.
    pub answers: u64,
    /// Runs that lost their thread to another.
    pub superseded: u64,
}

impl Count {
    fn add(&mut self, fact: &Fact) {
        let count = match fact {
            Fact::Begins { .. } => &mut self.runs,
            Fact::Stopped => &mut self.stopped,
            Fact::Replayed => &mut self.replays,
            Fact::Superseded => &mut self.superseded,
            Fact::Turned { .. } => &mut self.turns,
            Fact::Acted { .. } => &mut self.acts,
            Fact::Answered { .. } => &mut self.answers,
            _ => return,
        };
        *count += 1;
    }
}

/// Knowledge from the journal so far.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    threads: BTreeMap<ThreadId, Thread>,
    items: BTreeMap<String, Item>,
    read: usize,
    /// How much was looked at.
    pub count: Count,
}

impl Thread {
    fn doubt(&mut self) {
        self.checkpoints.values_mut().for_each(|known| known.sure = false);
        self.writes.values_mut().for_each(|known| known.sure = false);
    }

    /// Marks what is not among the newest of its namespace as possibly gone.
    fn doubt_past(&mut self, newest: usize) {
        let mut counts: BTreeMap<&Name, usize> = BTreeMap::new();
        let mut old: BTreeSet<CheckpointPlace> = BTreeSet::new();
        for place in self.begun.iter().rev() {
            let count = counts.entry(&place.0).or_default();
            *count += 1;
            if *count > newest {
                old.insert(place.clone());
            }
        }
        // What ran in a nested graph goes with the checkpoint in which it ran.
        let nested = self.inside(|owner| old.contains(owner));
        old.extend(nested);
        self.doubt_these(&old);
        self.pruned = true;
    }

    /// Records that a process has ended. What ran in a checkpoint that the process never stored leads nowhere, and the
    /// next pruning removes it.
    fn end(&mut self) {
        self.settle();
        self.runs.end();
        if self.pruned {
            let orphans = self.inside(|owner| !self.checkpoints.contains_key(owner));
            self.doubt_these(&orphans);
        }
    }

    /// Returns the checkpoints of nested graphs whose root checkpoint, in which they were made, fits `owner`.
    fn inside(&self, owner: impl Fn(&CheckpointPlace) -> bool) -> BTreeSet<CheckpointPlace> {
        let found = self
            .owners
            .iter()
            .filter(|(_, id)| owner(&("".into(), CheckpointId::clone(id))));
        found.map(|(place, _)| place.clone()).collect()
    }

    fn doubt_these(&mut self, places: &BTreeSet<CheckpointPlace>) {
        for place in places {
            self.checkpoints
                .entry(place.clone())
                .and_modify(|known| known.sure = false);
        }
        for ((place, ..), known) in &mut self.writes {
            known.sure &= !places.contains(place);
        }
    }

    fn settle(&mut self) {
        if let Some(newest) = self.pruning.take() {
            self.doubt_past(newest);
        }
    }
}

impl Oracle {
    /// Reads what a process that has ended added to the journal. What it had begun and not ended may be done or not.
    /// The error says what should not have happened.
    pub fn read(&mut self, journal: &Path) -> io::Result<Result<(), String>> {
        let (notes, end) = witness::read(journal, self.read)?;
        self.read = end;
        let taken = notes.into_iter().try_for_each(|note| self.take(note));
        self.threads.values_mut().for_each(Thread::end);
        Ok(taken)
    }

    fn thread(&mut self, thread: &ThreadId) -> &mut Thread {
        self.threads.entry(thread.clone()).or_default()
    }

    fn take(&mut self, note: Note) -> Result<(), String> {
        match note {
            Note::Began { thread, task, what } => {
                self.count.tasks += 1;
                let known = self.thread(&thread);
                // Work begins without asking whether the thread is still the run's; what a run that lost it does is not
                // stored.
                if known.finished.contains(&task) && !known.runs.is_taken_over() {
                    return Err(format!(
                        "thread {thread}: {what} (task {task}) ran again although it had finished"
                    ));
                }
            }
            Note::Storing {
                thread,
                ns,
                id,
                owner,
            } => {
                let known = self.thread(&thread);
                known.gone = false;
                known
                    .owners
                    .extend(owner.map(|owner| ((ns.clone(), id.clone()), owner)));
                known.begun.insert((ns, id));
            }
            Note::Stored {
                thread,
                ns,
                id,
                print,
            } => {
                self.count.checkpoints += 1;
                let known = self.thread(&thread);
                known.checkpoints.insert((ns, id), Known { print, sure: true });
            }
            Note::Wrote {
                thread,
                ns,
                id,
                task,
                finished,
                writes,
            } => {
                let known = self.thread(&thread);
                if finished {
                    known.finished.insert(task.clone());
                }
                for (idx, print) in &writes {
                    let place = ((ns.clone(), id.clone()), task.clone(), *idx);
                    let entry = known.writes.entry(place).or_insert(Known {
                        print: *print,
                        sure: true,
                    });
                    if *idx < 0 {
                        entry.print = *print;
                    }
                }
                self.count.writes += writes.len() as u64;
            }
            Note::Pruning { thread, newest } => {
                let known = self.thread(&thread);
                known.pruning = Some(newest);
                known.runs.forget_acts();
            }
            Note::Pruned { thread } => {
                self.count.maintenance += 1;
                self.thread(&thread).settle();
            }
            Note::Deleting { thread } => self.thread(&thread).doubt(),
            Note::Deleted { thread } => {
                self.count.maintenance += 1;
                *self.thread(&thread) = Thread {
                    gone: true,
                    ..Thread::default()
                };
            }
            Note::Copying { from, to } => {
                let mut copy = self.thread(&from).clone();
                copy.doubt();
                *self.thread(&to) = copy;
            }
            Note::Copied { from, to } => {
                self.count.maintenance += 1;
                let copy = self.thread(&from).clone();
                *self.thread(&to) = copy;
            }
            Note::Putting { key, n } => self.items.entry(key).or_default().begun.push(n),
            Note::Put { key, n } => {
                self.count.items += 1;
                let item = self.items.entry(key).or_default();
                (item.known, item.begun) = (n, Vec::new());
            }
            Note::Broken { thread, what } => return Err(format!("thread {thread}: {what}")),
            Note::Of { fact, thread } => {
                self.count.add(&fact);
                let known = self.thread(&thread);
                let prunes = known.pruning.is_some();
                let fits = known.runs.take(fact, prunes);
                return fits.map_err(|what| format!("thread {thread}: {what}"));
            }
        }
        Ok(())
    }

    /// Checks that everything that was acknowledged is stored as it was, and that the backend finds itself sound.
    pub async fn check(&self, saver: &dyn Checkpointer) -> Result<(), String> {
        let message = |error: StorageError| error.to_string();
        for (thread, known) in &self.threads {
            let query = ListQuery::new().thread(thread.clone());
            let there = saver.list(&query).await.map_err(message)?;
            if known.gone && !there.is_empty() {
                return Err(format!(
                    "thread {thread} was deleted, and has {} checkpoints",
                    there.len()
                ));
            }
            let mut checkpoints = BTreeMap::new();
            let mut writes = BTreeMap::new();
            for tuple in there {
                let place = (tuple.ns.clone(), tuple.checkpoint.id.clone());
                checkpoints.insert(place.clone(), print_of(&tuple.checkpoint));
                for pending in tuple.pending_writes {
                    let at = (place.clone(), pending.task_id.to_string(), pending.write.idx);
                    writes.insert(at, print_of_value(&pending.write.value));
                }
            }
            for ((ns, id), known) in &known.checkpoints {
                let found = checkpoints.get(&(ns.clone(), id.clone()));
                compare(
                    *known,
                    found,
                    || format!("checkpoint {id} of thread {thread}, namespace {ns:?}"),
                    true,
                )?;
            }
            for (at @ ((ns, id), task, idx), known) in &known.writes {
                let what = || {
                    format!(
                        "write {idx} of task {task} of checkpoint {id} of thread {thread}, namespace {ns:?}"
                    )
                };
                // A later write may have taken a slot that is overwritten, and not been acknowledged.
                compare(*known, writes.get(at), what, *idx >= 0)?;
            }
        }
        match saver.verify(false).await {
            Err(StorageError::Unsupported(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(found) if found.is_sound() => Ok(()),
            Ok(found) => Err(format!("the check found damage: {:?}", found.damage)),
        }
    }
}

impl Oracle {
    /// Checks that every item of the store is what was acknowledged last, or what was begun after it.
    pub async fn check_items(&self, store: &dyn Store) -> Result<(), String> {
        for (key, item) in &self.items {
            let found = store.get(ITEMS, key).await.map_err(|error| error.to_string())?;
            let n = found
                .as_ref()
                .and_then(|item| item.value.get("n"))
                .and_then(Value::as_u64);
            if n != item.known && !item.begun.contains(&n) {
                return Err(format!(
                    "item {key} of the store holds {found:?}, and {:?} was acknowledged",
                    item.known
                ));
            }
        }
        Ok(())
    }
}

fn compare(known: Known, found: Option<&u64>, what: impl Fn() -> String, same: bool) -> Result<(), String> {
    match found {
        None if known.sure => Err(format!("{} was acknowledged and is lost", what())),
        Some(print) if same && *print != known.print => {
            Err(format!("{} is not what was acknowledged", what()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use superstep::MemorySaver;
    use superstep::checkpoint::TaskId;
    use superstep_suites::{Draft, id};

    use super::*;

    fn stored(n: u64) -> [Note; 2] {
        let place = ("t".into(), "".into(), id(n));
        let (thread, ns, id) = place.clone();
        let print = print_of(&Draft::root(id.clone()).put().checkpoint);
        [
            Note::Storing {
                thread: place.0,
                ns: place.1,
                id: place.2,
                owner: None,
            },
            Note::Stored {
                thread,
                ns,
                id,
                print,
            },
        ]
    }

    fn wrote(task: &str, finished: bool) -> Note {
        Note::Wrote {
            thread: "t".into(),
            ns: "".into(),
            id: id(1),
            task: task.to_owned(),
            finished,
            writes: vec![(0, print_of_value(&1.into()))],
        }
    }

    fn of_notes(notes: impl IntoIterator<Item = Note>) -> Result<Oracle, String> {
        let mut oracle = Oracle::default();
        notes.into_iter().try_for_each(|note| oracle.take(note))?;
        oracle.threads.values_mut().for_each(Thread::settle);
        Ok(oracle)
    }

    #[tokio::test]
    async fn what_is_lost_is_noticed() {
        let saver = MemorySaver::new();
        Draft::root(id(1)).store(&saver, "t", "").await.expect("stores");
        let pruning = |newest| Note::Pruning {
            thread: "t".into(),
            newest,
        };
        let two = || stored(1).into_iter().chain(stored(2));
        of_notes(stored(1))
            .expect("fine")
            .check(&saver)
            .await
            .expect("it is there");
        let lost = of_notes(two())
            .expect("fine")
            .check(&saver)
            .await
            .expect_err("one is lost");
        assert!(lost.contains("is lost"), "{lost}");
        // A pruning that leaves one explains a loss of the first, not of the second.
        let lost = of_notes(two().chain([pruning(1)]))
            .expect("fine")
            .check(&saver)
            .await;
        assert!(lost.is_err_and(|lost| lost.contains("is lost")));
        let written = of_notes(stored(1).into_iter().chain([wrote("a", true)])).expect("fine");
        let lost = written.check(&saver).await.expect_err("the write is lost");
        assert!(lost.contains("write 0 of task a"), "{lost}");
        let deleted = [Note::Deleted { thread: "t".into() }];
        let there = of_notes(stored(1).into_iter().chain(deleted))
            .expect("fine")
            .check(&saver)
            .await;
        assert!(there.is_err_and(|there| there.contains("was deleted")));
    }

    #[test]
    fn what_is_done_twice_is_noticed() {
        let began = || Note::Began {
            thread: "t".into(),
            task: TaskId::new("a").to_string(),
            what: "work".to_owned(),
        };
        of_notes([began(), wrote("a", false), began()]).expect("it had not finished");
        let twice = of_notes([began(), wrote("a", true), began()]).expect_err("it had");
        assert!(twice.contains("ran again"), "{twice}");
    }
}
