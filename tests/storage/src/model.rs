//! What a checkpointer is, in the fewest words: a sorted map, read by looking at all of it.
//!
//! Nothing here is fast or shared with the engine's own saver in memory, which is one of the backends under test. The
//! only rules taken from the engine are those that it owns for every backend: what metadata matches, and what the
//! writes of a task say about it.

use std::collections::{BTreeMap, BTreeSet};

use superstep::checkpoint::{
    Checkpoint, CheckpointHead, CheckpointTuple, Commit, Keep, ListQuery, PendingWrite, Pruning, Removal,
    Scope, TaskId, TaskStatus, ThreadQuery, ThreadSummary, Waiting, WaitingQuery,
};
use superstep::{CheckpointId, Name, ThreadId};

/// Address of a checkpoint.
pub type Address = (ThreadId, Name, CheckpointId);

/// Everything that is stored.
#[derive(Clone, Debug, Default)]
pub struct Model {
    rows: BTreeMap<Address, Row>,
}

#[derive(Clone, Debug)]
struct Row {
    checkpoint: Checkpoint,
    writes: BTreeMap<(TaskId, i32), PendingWrite>,
}

impl Model {
    /// Returns whether the checkpoint is stored there.
    pub fn has(&self, thread: &ThreadId, ns: &Name, id: &CheckpointId) -> bool {
        self.rows.contains_key(&(thread.clone(), ns.clone(), id.clone()))
    }

    /// Returns the addresses of all checkpoints.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.rows.keys()
    }

    /// Stores a commit; false when it is refused.
    pub fn commit(&mut self, commit: &Commit) -> bool {
        let address = |id: &CheckpointId| (commit.thread.clone(), commit.ns.clone(), id.clone());
        let new = commit.put.as_ref().map(|put| &put.checkpoint.id);
        let known = |id: &CheckpointId| Some(id) == new || self.rows.contains_key(&address(id));
        if !commit.writes.iter().all(|task| known(&task.checkpoint_id)) {
            return false;
        }
        if let Some(put) = &commit.put {
            self.rows
                .entry(address(&put.checkpoint.id))
                .or_insert_with(|| Row {
                    checkpoint: put.checkpoint.clone(),
                    writes: BTreeMap::new(),
                });
        }
        for task in &commit.writes {
            let Some(row) = self.rows.get_mut(&address(&task.checkpoint_id)) else {
                continue;
            };
            for write in &task.writes {
                let place = (task.task_id.clone(), write.idx);
                if write.idx >= 0 && row.writes.contains_key(&place) {
                    continue;
                }
                let pending = PendingWrite {
                    task_id: task.task_id.clone(),
                    task_path: task.task_path.clone(),
                    write: write.clone(),
                };
                row.writes.insert(place, pending);
            }
        }
        true
    }

    /// Returns one checkpoint.
    pub fn get(&self, thread: &ThreadId, ns: &Name, id: Option<&CheckpointId>) -> Option<CheckpointTuple> {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns(ns.clone())
            .id(id.cloned());
        self.list(&query).into_iter().next()
    }

    /// Returns whole checkpoints, newest first; those with equal ids by thread and namespace.
    pub fn list(&self, query: &ListQuery) -> Vec<CheckpointTuple> {
        let mut found: Vec<(&Address, &Row)> = self
            .rows
            .iter()
            .filter(|((thread, ns, id), row)| {
                query.thread.as_ref().is_none_or(|wanted| wanted == thread)
                    && query.ns.as_ref().is_none_or(|wanted| wanted == ns)
                    && query.id.as_ref().is_none_or(|wanted| wanted == id)
                    && query.before.as_ref().is_none_or(|before| id < before)
                    && row.checkpoint.metadata.matches(&query.filter)
            })
            .collect();
        found.sort_by(|((_, _, a), _), ((_, _, b), _)| b.cmp(a));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        found
            .into_iter()
            .map(|((thread, ns, _), row)| {
                let mut pending: Vec<PendingWrite> = row.writes.values().cloned().collect();
                pending.sort_by(|a, b| {
                    (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
                });
                CheckpointTuple {
                    thread: thread.clone(),
                    ns: ns.clone(),
                    checkpoint: row.checkpoint.clone(),
                    pending_writes: pending,
                }
            })
            .collect()
    }

    /// Returns the heads of the checkpoints in the same order, without values.
    pub fn heads(&self, query: &ListQuery) -> Vec<CheckpointHead> {
        self.list(query).into_iter().map(head).collect()
    }

    /// Returns root checkpoints whose questions wait, the oldest first.
    pub fn waiting(&self, query: &WaitingQuery) -> Vec<Waiting> {
        let root = ListQuery::new().ns("");
        let mut found = Vec::new();
        for tuple in self.list(&root) {
            let (thread, id) = (tuple.thread.clone(), tuple.checkpoint.id.clone());
            let newer = |other: &Address| other.0 == thread && other.1.is_empty() && other.2 > id;
            let is_newest = !self.rows.keys().any(newer);
            let head = head(tuple);
            let after = query.after.as_ref();
            if head.interrupted > 0
                && query.thread.as_ref().is_none_or(|wanted| *wanted == thread)
                && after.is_none_or(|(after, of)| (&id, &thread) > (after, of))
            {
                found.push(Waiting {
                    thread,
                    checkpoint: id,
                    ts: head.ts,
                    tasks: head.interrupted,
                    is_newest,
                });
            }
        }
        found.sort_by(|a, b| (&a.checkpoint, &a.thread).cmp(&(&b.checkpoint, &b.thread)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        found
    }

    /// Returns the number of tasks whose questions wait.
    pub fn count_waiting(&self) -> u64 {
        let all = self.waiting(&WaitingQuery::default());
        all.iter().map(|one| u64::from(one.tasks)).sum()
    }

    /// Returns what the tasks of a checkpoint wrote.
    pub fn writes(&self, thread: &ThreadId, ns: &Name, id: &CheckpointId) -> Vec<PendingWrite> {
        let found = self.get(thread, ns, Some(id));
        found.map(|tuple| tuple.pending_writes).unwrap_or_default()
    }

    /// Returns the threads that have a root checkpoint.
    pub fn threads(&self, query: &ThreadQuery) -> Vec<ThreadSummary> {
        let names: BTreeSet<&ThreadId> = self.rows.keys().map(|(thread, _, _)| thread).collect();
        let mut found: Vec<ThreadSummary> = names
            .into_iter()
            .filter_map(|thread| {
                let root = ListQuery::new().thread(thread.clone()).ns("");
                let heads = self.heads(&root);
                Some(ThreadSummary {
                    thread: thread.clone(),
                    created: heads.last()?.ts.clone(),
                    checkpoints: heads.len() as u64,
                    head: heads.into_iter().next()?,
                })
            })
            .filter(|thread| query.matches(thread))
            .collect();
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        found
    }

    /// Removes a thread.
    pub fn delete(&mut self, thread: &ThreadId) {
        self.rows.retain(|(of, _, _), _| of != thread);
    }

    /// Copies what the other thread does not have yet.
    pub fn copy(&mut self, from: &ThreadId, to: &ThreadId) {
        self.add(to, &self.of(from));
    }

    /// Returns the model of one thread.
    pub fn of(&self, thread: &ThreadId) -> Self {
        let own = self.rows.iter().filter(|((of, ..), _)| of == thread);
        Self {
            rows: own.map(|(address, row)| (address.clone(), row.clone())).collect(),
        }
    }

    /// Adds what a thread does not have yet.
    pub fn add(&mut self, to: &ThreadId, rows: &Self) {
        for ((_, ns, id), row) in &rows.rows {
            let address = (to.clone(), ns.clone(), id.clone());
            self.rows.entry(address).or_insert_with(|| row.clone());
        }
    }

    /// Removes these.
    pub fn remove(&mut self, doomed: &BTreeSet<Address>) {
        self.rows.retain(|address, _| !doomed.contains(address));
    }

    /// Removes the past, and says what went; bytes are not known here.
    pub fn prune(&mut self, pruning: &Pruning) -> Removal {
        let (removal, doomed) = self.plan(pruning);
        if !pruning.dry_run {
            self.remove(&doomed);
        }
        removal
    }

    /// Returns what pruning would remove.
    pub fn plan(&self, pruning: &Pruning) -> (Removal, BTreeSet<Address>) {
        let in_scope = |thread: &ThreadId| match &pruning.scope {
            Scope::Threads(threads, _) => threads.contains(thread),
            Scope::Runs(_) => true,
        };
        let goes = |(thread, ns, id): &Address, row: &Row| {
            let same_space = |other: &&Address| other.0 == *thread && other.1 == *ns;
            let newer = self
                .rows
                .keys()
                .filter(same_space)
                .filter(|other| other.2 > *id)
                .count();
            let continued = self
                .rows
                .iter()
                .any(|(other, row)| same_space(&other) && row.checkpoint.parent.as_ref() == Some(id));
            let kept = match &pruning.scope {
                Scope::Threads(_, Keep::Nothing) => false,
                Scope::Threads(_, Keep::Latest) => newer == 0,
                Scope::Threads(_, Keep::Newest(count)) => newer < *count,
                Scope::Threads(_, Keep::Branches) => !continued,
                Scope::Runs(runs) => {
                    let run = row.checkpoint.metadata.run_id();
                    run.is_none_or(|run| !runs.iter().any(|gone| gone == run))
                }
            };
            in_scope(thread) && !kept && !pruning.retain.contains(id)
        };
        let doomed: BTreeSet<Address> = self
            .rows
            .iter()
            .filter(|(address, row)| goes(address, row))
            .map(|(address, _)| address.clone())
            .collect();
        let lost = |address: &&Address| {
            let (thread, ns, id) = address;
            !self.rows.iter().any(|(other, row)| {
                other.0 == *thread && other.1 == *ns && row.checkpoint.parent.as_ref() == Some(id)
            })
        };
        let branches = doomed
            .iter()
            .filter(lost)
            .map(|(thread, _, id)| (thread.clone(), id.clone()));
        let threads: BTreeSet<&ThreadId> = self.rows.keys().map(|(thread, _, _)| thread).collect();
        let gone = threads.into_iter().filter(|thread| {
            in_scope(thread)
                && self
                    .rows
                    .keys()
                    .filter(|address| address.0 == **thread)
                    .all(|address| doomed.contains(address))
        });
        let removal = Removal {
            threads: gone.count() as u64,
            checkpoints: doomed.len() as u64,
            bytes: None,
            branches: branches.collect(),
            skipped: Vec::new(),
        };
        (removal, doomed)
    }
}

fn head(tuple: CheckpointTuple) -> CheckpointHead {
    let tasks: BTreeSet<&TaskId> = tuple.pending_writes.iter().map(|write| &write.task_id).collect();
    let statuses: Vec<TaskStatus> = tasks
        .into_iter()
        .map(|task| {
            let own = tuple.pending_writes.iter().filter(|write| write.task_id == *task);
            TaskStatus::of(task, own.map(|write| &*write.write.channel))
        })
        .collect();
    let count =
        |which: fn(&TaskStatus) -> bool| statuses.iter().filter(|status| which(status)).count() as u32;
    let (interrupted, failed) = (count(|status| status.interrupted), count(|status| status.failed));
    let Checkpoint {
        id,
        parent,
        ts,
        metadata,
        next,
        updated_channels,
        ..
    } = tuple.checkpoint;
    CheckpointHead {
        ns: tuple.ns,
        id,
        parent,
        ts,
        metadata,
        next,
        updated_channels,
        interrupted,
        failed,
    }
}
