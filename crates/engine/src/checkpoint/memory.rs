//! The checkpointer that keeps everything in this process.
//!
//! A checkpoint is held as it was handed over: its maps and lists are shared with its parent and with the running
//! graph, so storing one costs a few pointers however large the state is. Nothing survives the process.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

use async_trait::async_trait;
use parking_lot::RwLock;
use smallvec::SmallVec;

use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::claim::{ClaimRequest, ClaimView, Claims, Coordination};
use crate::checkpoint::maintenance::{
    CheckpointUsage, Integrity, KeySums, Link, Maintenance, Pruning, Removal, Scope, ThreadBreakdown,
    ThreadUsage, Usage,
};
use crate::checkpoint::progress::Progress;
use crate::checkpoint::threads::{ThreadQuery, ThreadSummary};
use crate::checkpoint::types::{
    Checkpoint, CheckpointAddress, CheckpointHead, CheckpointTuple, Commit, ListQuery, PendingWrite,
    StorageError, TaskStatus, TaskWrites, Write, reserved,
};
use crate::checkpoint::waiting::{Waiting, WaitingQuery};
use crate::value::Value;
use futures::future::BoxFuture;

/// Checkpointer that keeps checkpoints in memory.
#[derive(Debug, Default)]
#[doc(alias = "InMemorySaver")]
pub struct MemorySaver {
    state: RwLock<MemoryState>,
}

#[derive(Debug, Default)]
struct MemoryState {
    threads: BTreeMap<ThreadId, Thread>,
    waiting: OpenQuestions,
    claims: Claims,
}

/// Checkpoints of outermost graphs whose questions wait, with how many of their tasks ask.
#[derive(Debug, Default)]
struct OpenQuestions {
    by_place: BTreeMap<(CheckpointId, ThreadId), u32>,
    tasks: u64,
}

impl OpenQuestions {
    /// Sets the number of tasks of a checkpoint that ask now.
    fn note(&mut self, thread: &ThreadId, id: &CheckpointId, tasks: u32) {
        let place = (id.clone(), thread.clone());
        let before = match tasks {
            0 => self.by_place.remove(&place),
            tasks => self.by_place.insert(place, tasks),
        };
        self.tasks = self.tasks + u64::from(tasks) - u64::from(before.unwrap_or(0));
    }

    /// Replaces the entries of a thread whose content was replaced: `root` has the checkpoints of its outermost graph
    /// now.
    fn renew(&mut self, thread: &ThreadId, root: Option<&Space>) {
        self.by_place.retain(|(_, of), tasks| {
            let other = of != thread;
            self.tasks -= if other { 0 } else { u64::from(*tasks) };
            other
        });
        for stored in root.into_iter().flat_map(|space| &space.0) {
            if stored.asking > 0 {
                self.note(thread, &stored.checkpoint.id, stored.asking);
            }
        }
    }
}

type Thread = BTreeMap<Name, Space>;

/// The checkpoints of a namespace, by id. Nearly always a new one is the newest.
#[derive(Clone, Debug, Default)]
struct Space(Vec<StoredCheckpoint>);

impl Space {
    fn place(&self, id: &CheckpointId) -> Result<usize, usize> {
        match self.0.last().map(|last| last.checkpoint.id.cmp(id)) {
            None => Err(0),
            Some(Ordering::Equal) => Ok(self.0.len() - 1),
            Some(Ordering::Less) => Err(self.0.len()),
            Some(Ordering::Greater) => self.0.binary_search_by(|stored| stored.checkpoint.id.cmp(id)),
        }
    }

    fn get(&self, id: &CheckpointId) -> Option<&StoredCheckpoint> {
        self.place(id).ok().map(|place| &self.0[place])
    }

    fn newest(&self) -> Option<&StoredCheckpoint> {
        self.0.last()
    }

    /// Adds a checkpoint; one that exists already stays as it is.
    fn add(&mut self, stored: StoredCheckpoint) {
        if let Err(place) = self.place(&stored.checkpoint.id) {
            self.0.insert(place, stored);
        }
    }
}

#[derive(Clone, Debug)]
struct StoredCheckpoint {
    checkpoint: Checkpoint,
    /// In the order in which they came first.
    tasks: SmallVec<[TaskRows; 1]>,
    /// Where each task is in the list, when there are more than a look can take in.
    places: Option<Box<TaskIndex>>,
    /// How many of them ask a question that waits.
    asking: u32,
}

type TaskIndex = HashMap<TaskId, usize, foldhash::fast::RandomState>;

/// Up to this number tasks are found sooner by looking at each than by hashing.
const FEW: usize = 8;

#[derive(Clone, Debug)]
struct TaskRows {
    id: TaskId,
    path: Name,
    /// Sorted by index.
    writes: Vec<Write>,
}

impl TaskRows {
    fn status(&self) -> TaskStatus {
        TaskStatus::of(&self.id, self.writes.iter().map(|write| &*write.channel))
    }
}

impl StoredCheckpoint {
    fn new(checkpoint: Checkpoint) -> Self {
        Self {
            checkpoint,
            tasks: SmallVec::new(),
            places: None,
            asking: 0,
        }
    }

    fn place(&self, task: &TaskId) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(task).copied(),
            None => self.tasks.iter().position(|rows| rows.id == *task),
        }
    }

    /// Returns whether these writes may change whether the task asks: other writes never make a task ask.
    fn may_ask(&self, task: &TaskWrites) -> bool {
        let asks = |write: &Write| matches!(&*write.channel, reserved::INTERRUPT | reserved::ASKED_AGAIN);
        self.asking > 0 || task.writes.iter().any(|write| write.idx < 0 && asks(write))
    }

    fn add(&mut self, task: TaskWrites) {
        if !self.may_ask(&task) {
            self.keep(task);
            return;
        }
        let place = self.place(&task.task_id);
        let before = place.is_some_and(|place| self.tasks[place].status().interrupted);
        let place = self.keep(task);
        let now = self.tasks[place].status().interrupted;
        self.asking = self.asking + u32::from(now) - u32::from(before);
    }

    /// Adds what a task wrote; gives its place.
    fn keep(&mut self, task: TaskWrites) -> usize {
        let place = self.place(&task.task_id).unwrap_or_else(|| {
            let place = self.tasks.len();
            if let Some(places) = &mut self.places {
                places.insert(task.task_id.clone(), place);
            }
            self.tasks.push(TaskRows {
                id: task.task_id,
                path: task.task_path,
                writes: Vec::new(),
            });
            if self.places.is_none() && self.tasks.len() > FEW {
                let ids = self.tasks.iter().enumerate();
                let places = ids.map(|(place, rows)| (rows.id.clone(), place)).collect();
                self.places = Some(Box::new(places));
            }
            place
        });
        let rows = &mut self.tasks[place];
        if rows.writes.is_empty() && task.writes.is_sorted_by(|a, b| a.idx < b.idx) {
            rows.writes = task.writes;
            return place;
        }
        for write in task.writes {
            match rows.writes.binary_search_by_key(&write.idx, |row| row.idx) {
                Ok(place) if write.idx < 0 => rows.writes[place] = write,
                Ok(_) => {}
                Err(place) => rows.writes.insert(place, write),
            }
        }
        place
    }

    fn pending_writes(&self) -> Vec<PendingWrite> {
        let mut tasks: Vec<_> = self.tasks.iter().collect();
        tasks.sort_by(|a, b| (&a.path, &a.id).cmp(&(&b.path, &b.id)));
        tasks
            .into_iter()
            .flat_map(|rows| {
                rows.writes.iter().map(|write| PendingWrite {
                    task_id: rows.id.clone(),
                    task_path: rows.path.clone(),
                    write: write.clone(),
                })
            })
            .collect()
    }

    fn tuple(&self, thread: &ThreadId, ns: &Name) -> CheckpointTuple {
        CheckpointTuple {
            thread: thread.clone(),
            ns: ns.clone(),
            checkpoint: self.checkpoint.clone(),
            pending_writes: self.pending_writes(),
        }
    }

    fn head(&self, ns: &Name) -> CheckpointHead {
        let (mut interrupted, mut failed) = (0, 0);
        for rows in &self.tasks {
            let status = rows.status();
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
    /// Creates an empty saver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the newest root checkpoint of a thread.
    pub fn newest(&self, thread: &ThreadId) -> Option<CheckpointId> {
        newest(self.read().threads.get(thread))
    }

    fn read(&self) -> parking_lot::RwLockReadGuard<'_, MemoryState> {
        self.state.read()
    }

    fn write(&self) -> parking_lot::RwLockWriteGuard<'_, MemoryState> {
        self.state.write()
    }

    fn select<T>(
        &self,
        query: &ListQuery,
        make: impl Fn(&ThreadId, &Name, &StoredCheckpoint) -> T,
    ) -> Vec<T> {
        let state = self.read();
        let threads = &state.threads;
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
                .0
                .iter()
                .rev()
                .map(|stored| (&stored.checkpoint.id, stored))
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

fn summary(thread: &ThreadId, spaces: &Thread) -> Option<ThreadSummary> {
    let (ns, root) = spaces.get_key_value("")?;
    Some(ThreadSummary {
        thread: thread.clone(),
        head: root.newest()?.head(ns),
        created: root.0.first()?.checkpoint.ts.clone(),
        checkpoints: root.0.len() as u64,
    })
}

/// Returns the newest root checkpoint of a thread.
fn newest(spaces: Option<&Thread>) -> Option<CheckpointId> {
    let root = spaces?.get("")?;
    Some(root.newest()?.checkpoint.id.clone())
}

fn apply(state: &mut MemoryState, commit: Commit) -> Result<(), StorageError> {
    let MemoryState {
        threads,
        waiting,
        claims,
    } = state;
    let Commit {
        thread,
        ns,
        writes,
        put,
        claim,
    } = commit;
    let claimed = match &claim {
        Some(shown) => claims.compare(&thread, shown, || newest(threads.get(&thread)))?,
        None => None,
    };
    let claimed = claimed.map(|row| (row, threads.contains_key(&thread)));
    let new_id = put.as_ref().map(|put| &put.checkpoint.id);
    let mut space = threads.get_mut(&thread).and_then(|spaces| spaces.get_mut(&ns));
    for task in &writes {
        let known = Some(&task.checkpoint_id) == new_id
            || space
                .as_ref()
                .is_some_and(|space| space.place(&task.checkpoint_id).is_ok());
        if !known {
            return Err(StorageError::orphan(&thread, task));
        }
    }
    if let Some((row, is_stored)) = claimed {
        claims.set(&thread, row, is_stored || put.is_some());
    }
    if put.is_none() && writes.is_empty() {
        return Ok(());
    }
    let counts = ns.is_empty();
    let space = match space.take() {
        Some(space) => space,
        None => threads.entry(thread.clone()).or_default().entry(ns).or_default(),
    };
    let mut add = |stored: &mut StoredCheckpoint, task: TaskWrites| {
        let before = stored.asking;
        stored.add(task);
        if counts && stored.asking != before {
            waiting.note(&thread, &stored.checkpoint.id, stored.asking);
        }
    };
    // Writes are mostly those of the step that led to the checkpoint, on what is the newest one before it.
    let mut later = Vec::new();
    for task in writes {
        match space.place(&task.checkpoint_id) {
            Ok(place) => add(&mut space.0[place], task),
            Err(_) => later.push(task),
        }
    }
    if let Some(put) = put {
        space.add(StoredCheckpoint::new(put.checkpoint));
    }
    for task in later {
        if let Ok(place) = space.place(&task.checkpoint_id) {
            add(&mut space.0[place], task);
        }
    }
    Ok(())
}

fn delete(state: &mut MemoryState, thread: &ThreadId) {
    state.threads.remove(thread);
    state.waiting.renew(thread, None);
    state.claims.forget(thread);
}

#[async_trait]
impl Coordination for MemorySaver {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        Ok(self.read().claims.views(threads))
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let MemoryState { threads, waiting, .. } = &*self.read();
        let begin = match &query.after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Unbounded,
        };
        let found = waiting
            .by_place
            .range((begin, Bound::Unbounded))
            .filter(|((_, thread), _)| query.thread.as_ref().is_none_or(|wanted| wanted == thread));
        let shown = found.filter_map(|((id, thread), tasks)| {
            let space = threads.get(thread)?.get("")?;
            let stored = space.get(id)?;
            Some(Waiting {
                thread: thread.clone(),
                checkpoint: id.clone(),
                ts: stored.checkpoint.ts.clone(),
                tasks: *tasks,
                is_newest: space.newest()?.checkpoint.id == *id,
            })
        });
        Ok(shown.take(query.limit.unwrap_or(usize::MAX)).collect())
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        Ok(self.read().waiting.tasks)
    }

    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let mut state = self.write();
        state.claims.compare(thread, &by.change(), || None)?;
        delete(&mut state, thread);
        Ok(())
    }
}

#[async_trait]
impl Checkpointer for MemorySaver {
    // Written out rather than `async fn`, because it is applied when it is called and not when it is first polled.
    fn commit<'life0, 'async_trait>(
        &'life0 self,
        commit: Commit,
    ) -> BoxFuture<'async_trait, Result<(), StorageError>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let applied = apply(&mut self.write(), commit);
        Box::pin(std::future::ready(applied))
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let state = self.read();
        let Some((ns, space)) = state
            .threads
            .get(thread)
            .and_then(|spaces| spaces.get_key_value(ns))
        else {
            return Ok(None);
        };
        let stored = match id {
            Some(id) => space.get(id),
            None => space.newest(),
        };
        Ok(stored.map(|stored| stored.tuple(thread, ns)))
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        Ok(self.select(query, |thread, ns, stored| stored.tuple(thread, ns)))
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        Ok(self.select(query, |_, ns, stored| stored.head(ns)))
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let state = self.read();
        let mut found: Vec<ThreadSummary> = state
            .threads
            .iter()
            .filter_map(|(thread, spaces)| summary(thread, spaces))
            .filter(|thread| query.matches(thread))
            .collect();
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        let state = self.read();
        Ok(state
            .threads
            .get(thread)
            .and_then(|spaces| summary(thread, spaces)))
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let state = self.read();
        let found = of.iter().map(|CheckpointAddress { thread, ns, id }| {
            let space = state.threads.get(thread).and_then(|spaces| spaces.get(ns));
            let stored = space.and_then(|space| space.get(id));
            stored.map(StoredCheckpoint::pending_writes).unwrap_or_default()
        });
        Ok(found.collect())
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        delete(&mut self.write(), thread);
        Ok(())
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        let MemoryState { threads, waiting, .. } = &mut *self.write();
        if from == to {
            return Ok(());
        }
        let Some(source) = threads.get(from).cloned() else {
            return Ok(());
        };
        let target = threads.entry(to.clone()).or_default();
        for (ns, checkpoints) in source {
            let space = target.entry(ns).or_default();
            for stored in checkpoints.0 {
                space.add(stored);
            }
        }
        waiting.renew(to, target.get(""));
        Ok(())
    }
}

#[async_trait]
impl Maintenance for MemorySaver {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        progress.at(0, 1)?;
        let MemoryState {
            threads: all,
            waiting,
            claims,
        } = &mut *self.write();
        let mut removal = Removal::default();
        let named = |thread: &ThreadId| match &pruning.scope {
            Scope::Threads(threads, _) => threads.contains(thread),
            Scope::Runs(_) => true,
        };
        for (thread, spaces) in all.iter_mut().filter(|(thread, _)| named(thread)) {
            if claims.is_live(thread) {
                removal.skipped.push(thread.clone());
                continue;
            }
            let mut left = false;
            for (ns, space) in &mut *spaces {
                let links: Vec<Link<'_>> = space
                    .0
                    .iter()
                    .map(|stored| &stored.checkpoint)
                    .map(|checkpoint| {
                        Link::of(&checkpoint.id, checkpoint.parent.as_ref(), &checkpoint.metadata)
                    })
                    .collect();
                let doomed = pruning.doomed(thread, ns, &links);
                let lost = pruning.lost_branches(thread, ns, &links, &doomed);
                removal
                    .branches
                    .extend(lost.into_iter().map(|id| (thread.clone(), id.clone())));
                removal.checkpoints += doomed.len() as u64;
                left |= doomed.len() < links.len();
                let doomed: HashSet<CheckpointId> = doomed.into_iter().map(|link| link.id.clone()).collect();
                if !pruning.dry_run && !doomed.is_empty() {
                    space.0.retain(|stored| !doomed.contains(&stored.checkpoint.id));
                    if ns.is_empty() {
                        waiting.renew(thread, Some(space));
                    }
                }
            }
            removal.threads += u64::from(!left);
        }
        all.retain(|thread, spaces| {
            spaces.retain(|_, space| !space.0.is_empty());
            if spaces.is_empty() {
                claims.forget(thread);
            }
            !spaces.is_empty()
        });
        Ok(removal)
    }

    async fn usage(&self) -> Result<Usage, StorageError> {
        let state = self.read();
        let all = &state.threads;
        let mut usage = Usage::default();
        for (thread, spaces) in all.iter() {
            let found = breakdown(spaces).checkpoints;
            let bytes = found.iter().map(|checkpoint| checkpoint.bytes).sum();
            usage.bytes += bytes;
            usage.threads.push(ThreadUsage {
                thread: thread.clone(),
                checkpoints: found.len() as u64,
                bytes,
            });
        }
        usage
            .threads
            .sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.thread.cmp(&b.thread)));
        Ok(usage)
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        Ok(self.read().threads.get(thread).map(breakdown).unwrap_or_default())
    }

    async fn verify_watched(&self, _: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        progress.at(0, 1)?;
        let state = self.read();
        let all = &state.threads;
        let checkpoints = all.values().flat_map(|spaces| spaces.values());
        Ok(Integrity {
            threads: all.len() as u64,
            checkpoints: checkpoints.map(|space| space.0.len() as u64).sum(),
            ..Integrity::default()
        })
    }
}

/// Measures what a thread would take as JSON text, each version of a value once and a grown list by what was added to
/// it: memory shares the rest between checkpoints.
fn breakdown(spaces: &Thread) -> ThreadBreakdown {
    let mut keys = KeySums::default();
    let mut checkpoints = Vec::new();
    for (ns, space) in spaces {
        for stored in &space.0 {
            let checkpoint = &stored.checkpoint;
            let before = checkpoint.parent.as_ref().and_then(|parent| space.get(parent));
            let mut bytes = 0;
            for (key, value) in &checkpoint.channel_values {
                let old = before.and_then(|before| before.checkpoint.channel_values.get(key));
                if old == Some(value) {
                    continue;
                }
                let whole = size(value);
                let added = match (old, value) {
                    (Some(Value::Array(old)), Value::Array(new)) if new.take(old.len()) == *old => {
                        new.iter().skip(old.len()).map(size).sum()
                    }
                    _ => whole,
                };
                bytes += added;
                keys.add(key, added, whole);
            }
            let writes = stored.tasks.iter().flat_map(|rows| &rows.writes);
            bytes += writes.map(|write| size(&write.value)).sum::<u64>();
            checkpoints.push(CheckpointUsage {
                ns: ns.clone(),
                id: checkpoint.id.clone(),
                step: checkpoint.metadata.step,
                ts: checkpoint.ts.clone(),
                bytes,
            });
        }
    }
    checkpoints.sort_by(|a, b| a.id.cmp(&b.id));
    ThreadBreakdown {
        keys: keys.sorted(),
        checkpoints,
    }
}

/// Returns the length of a value's JSON text, without creating it.
fn size(value: &Value) -> u64 {
    struct Count(u64);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and a value that is no JSON (a number without a text) counts up to there.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
