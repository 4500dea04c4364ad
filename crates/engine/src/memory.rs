//! The checkpointer that keeps everything in this process.
//!
//! A checkpoint is held as it was handed over: its maps and lists are shared with its parent and with the running
//! graph, so storing one costs a few pointers however large the state is. Nothing survives the process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;

use crate::checkpoint::{
    Checkpoint, CheckpointHead, CheckpointTuple, Checkpointer, Commit, Keep, ListQuery, PendingWrite,
    StorageError, TaskStatus, TaskWrites, ThreadSummary, Write,
};
use crate::ids::{CheckpointId, Name, TaskId, ThreadId};

/// Keeps checkpoints in memory.
#[derive(Debug, Default)]
pub struct MemorySaver {
    threads: RwLock<BTreeMap<ThreadId, Thread>>,
}

type Thread = BTreeMap<Name, Space>;
type Space = BTreeMap<CheckpointId, Stored>;

#[derive(Clone, Debug)]
struct Stored {
    checkpoint: Checkpoint,
    tasks: HashMap<TaskId, TaskRows, foldhash::fast::RandomState>,
}

#[derive(Clone, Debug)]
struct TaskRows {
    path: String,
    /// Sorted by index.
    writes: Vec<Write>,
}

impl Stored {
    fn new(checkpoint: Checkpoint) -> Self {
        Self {
            checkpoint,
            tasks: HashMap::default(),
        }
    }

    fn add(&mut self, task: TaskWrites) {
        let rows = self.tasks.entry(task.task_id).or_insert_with(|| TaskRows {
            path: task.task_path,
            writes: Vec::new(),
        });
        if rows.writes.is_empty() && task.writes.is_sorted_by(|a, b| a.idx < b.idx) {
            rows.writes = task.writes;
            return;
        }
        for write in task.writes {
            match rows.writes.binary_search_by_key(&write.idx, |row| row.idx) {
                Ok(place) if write.idx < 0 => rows.writes[place] = write,
                Ok(_) => {}
                Err(place) => rows.writes.insert(place, write),
            }
        }
    }

    fn tuple(&self, thread: &ThreadId, ns: &Name) -> CheckpointTuple {
        let mut tasks: Vec<_> = self.tasks.iter().collect();
        tasks.sort_by(|(id_a, a), (id_b, b)| (&a.path, id_a).cmp(&(&b.path, id_b)));
        let pending_writes = tasks
            .into_iter()
            .flat_map(|(id, rows)| {
                rows.writes.iter().map(|write| PendingWrite {
                    task_id: id.clone(),
                    task_path: rows.path.clone(),
                    write: write.clone(),
                })
            })
            .collect();
        CheckpointTuple {
            thread: thread.clone(),
            ns: ns.clone(),
            checkpoint: self.checkpoint.clone(),
            pending_writes,
        }
    }

    fn head(&self, ns: &Name) -> CheckpointHead {
        let (mut interrupted, mut failed) = (0, 0);
        for (task, rows) in &self.tasks {
            let status = TaskStatus::of(task, rows.writes.iter().map(|write| &*write.channel));
            interrupted += u32::from(status.interrupted);
            failed += u32::from(status.failed);
        }
        let checkpoint = &self.checkpoint;
        CheckpointHead {
            ns: ns.clone(),
            id: checkpoint.id.clone(),
            parent: checkpoint.parent.clone(),
            ts: checkpoint.ts.clone(),
            metadata: checkpoint.metadata.clone(),
            next: checkpoint.next.clone(),
            updated_channels: checkpoint.updated_channels.clone(),
            interrupted,
            failed,
        }
    }
}

impl MemorySaver {
    /// An empty saver.
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<ThreadId, Thread>> {
        self.threads.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<ThreadId, Thread>> {
        self.threads.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn select<T>(&self, query: &ListQuery, make: impl Fn(&ThreadId, &Name, &Stored) -> T) -> Vec<T> {
        let threads = self.read();
        let limit = query.limit.unwrap_or(usize::MAX);
        let spaces: Vec<(&ThreadId, &Name, &Space)> = threads
            .iter()
            .filter(|(thread, _)| query.thread.as_ref().is_none_or(|wanted| wanted == *thread))
            .flat_map(|(thread, spaces)| spaces.iter().map(move |(ns, space)| (thread, ns, space)))
            .filter(|(_, ns, _)| query.ns.as_ref().is_none_or(|wanted| wanted == *ns))
            .collect();
        let matching = |(thread, ns, space): (&'_ ThreadId, &'_ Name, &'_ Space)| {
            let (thread, ns) = (thread.clone(), ns.clone());
            space
                .iter()
                .rev()
                .filter(|(id, _)| query.id.as_ref().is_none_or(|wanted| wanted == *id))
                .filter(|(id, _)| query.before.as_ref().is_none_or(|before| *id < before))
                .filter(|(_, stored)| stored.checkpoint.metadata.matches(&query.filter))
                .take(limit)
                .map(|(id, stored)| (id.clone(), make(&thread, &ns, stored)))
                .collect::<Vec<_>>()
        };
        let several = spaces.len() > 1;
        let mut found: Vec<_> = spaces.into_iter().flat_map(matching).collect();
        if several {
            // Stable: equal ids of copied threads stay in thread and namespace order.
            found.sort_by(|(a, _), (b, _)| b.cmp(a));
        }
        found.into_iter().take(limit).map(|(_, made)| made).collect()
    }
}

fn apply(threads: &mut BTreeMap<ThreadId, Thread>, commit: Commit) -> Result<(), StorageError> {
    let Commit {
        thread,
        ns,
        writes,
        put,
    } = commit;
    let new_id = put.as_ref().map(|put| &put.checkpoint.id);
    let space = threads.get(&thread).and_then(|spaces| spaces.get(&ns));
    for task in &writes {
        let known = Some(&task.checkpoint_id) == new_id
            || space.is_some_and(|space| space.contains_key(&task.checkpoint_id));
        if !known {
            return Err(StorageError::orphan(&thread, task));
        }
    }
    if put.is_none() && writes.is_empty() {
        return Ok(());
    }
    let space = threads.entry(thread).or_default().entry(ns).or_default();
    if let Some(put) = put {
        space
            .entry(put.checkpoint.id.clone())
            .or_insert_with(|| Stored::new(put.checkpoint));
    }
    for task in writes {
        if let Some(stored) = space.get_mut(&task.checkpoint_id) {
            stored.add(task);
        }
    }
    Ok(())
}

#[async_trait]
impl Checkpointer for MemorySaver {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        apply(&mut self.write(), commit)
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let threads = self.read();
        let Some((ns, space)) = threads.get(thread).and_then(|spaces| spaces.get_key_value(ns)) else {
            return Ok(None);
        };
        let stored = match id {
            Some(id) => space.get(id),
            None => space.last_key_value().map(|(_, stored)| stored),
        };
        Ok(stored.map(|stored| stored.tuple(thread, ns)))
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        Ok(self.select(query, |thread, ns, stored| stored.tuple(thread, ns)))
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        Ok(self.select(query, |_, ns, stored| stored.head(ns)))
    }

    async fn threads(&self) -> Result<Vec<ThreadSummary>, StorageError> {
        let threads = self.read();
        let mut found: Vec<ThreadSummary> = threads
            .iter()
            .filter_map(|(thread, spaces)| {
                let (ns, root) = spaces.get_key_value("")?;
                Some(ThreadSummary {
                    thread: thread.clone(),
                    head: root.last_key_value()?.1.head(ns),
                    created: root.first_key_value()?.1.checkpoint.ts.clone(),
                    checkpoints: root.len() as u64,
                })
            })
            .collect();
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        Ok(found)
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.write().remove(thread);
        Ok(())
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        let mut threads = self.write();
        if from == to {
            return Ok(());
        }
        let Some(source) = threads.get(from).cloned() else {
            return Ok(());
        };
        let target = threads.entry(to.clone()).or_default();
        for (ns, checkpoints) in source {
            let space = target.entry(ns).or_default();
            for (id, stored) in checkpoints {
                space.entry(id).or_insert(stored);
            }
        }
        Ok(())
    }

    async fn prune(&self, threads: &[ThreadId], keep: Keep) -> Result<(), StorageError> {
        let mut all = self.write();
        for thread in threads {
            match keep {
                Keep::Nothing => drop(all.remove(thread)),
                Keep::Latest => {
                    for space in all
                        .get_mut(thread)
                        .iter_mut()
                        .flat_map(|spaces| spaces.values_mut())
                    {
                        let latest = space.pop_last();
                        space.clear();
                        space.extend(latest);
                    }
                }
            }
        }
        Ok(())
    }

    async fn delete_for_runs(&self, runs: &[String]) -> Result<(), StorageError> {
        let gone = |stored: &Stored| {
            let run = stored.checkpoint.metadata.run_id();
            run.is_some_and(|run| runs.iter().any(|gone| gone == run))
        };
        self.write().retain(|_, spaces| {
            spaces.retain(|_, space| {
                space.retain(|_, stored| !gone(stored));
                !space.is_empty()
            });
            !spaces.is_empty()
        });
        Ok(())
    }
}
