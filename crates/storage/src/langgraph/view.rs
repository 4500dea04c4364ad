//! Checkpoints of a file as the debugger reads them: with the tasks that begin there, in the shape of our own.

use std::collections::{BTreeMap, HashSet};

use superstep::checkpoint::{
    Checkpoint, CheckpointHead, CheckpointTuple, CheckpointUsage, ForeignTask, ListQuery, Metadata,
    PendingWrite, TaskId, TaskStatus, ThreadSummary, Write, reserved,
};
use superstep::value::{List, Object, add_messages};
use superstep::{CheckpointId, Name, ThreadId, Value};

use super::classes::CLASS;
use super::encoded;
use super::record::{PACKETS, Record, metadata};
use super::rows::{CheckpointRow, Fault, RowReader, Wanted, WriteRow};
use super::tasks::{Nodes, Step, packet, paths};

/// Newer checkpoints that are looked at for what followed one.
const MAX_FOLLOWING: usize = 4;
/// Namespaces of a thread, and other threads, that are looked at for nodes of files of before 2025.
const MAX_GRAPHS: usize = 2_000;
const MAX_OTHERS: usize = 8;
/// Namespaces that are read at a time.
const AT_ONCE: usize = 200;
/// Checkpoints back that are looked through for what a delta channel is rebuilt from.
const MAX_CHAIN: usize = 6_000;
/// Pending writes that LangGraph makes for itself.
const SCHEDULED: &str = "__scheduled__";
/// The key of metadata that names channels which were rebuilt from their writes.
pub(super) const REBUILT: &str = "rebuilt";
/// The key of LangGraph's metadata that names delta channels.
const DELTAS: &str = "counters_since_delta_snapshot";

/// A checkpoint that was read, its values still encoded.
pub(super) struct Loaded {
    ns: Name,
    id: CheckpointId,
    parent: Option<String>,
    record: Record,
    metadata: Metadata,
    tasks: Vec<ForeignTask>,
    rows: Vec<WriteRow>,
    updated: Option<Vec<Name>>,
    /// In a file of before 2025: the nodes that a channel has triggered.
    leads: BTreeMap<Name, Vec<Name>>,
}

/// Graph that a node ran in a thread.
#[derive(Clone, Debug)]
pub(super) enum NestedGraph {
    None,
    /// Each of its tasks had one.
    OfTask,
    /// One that goes on from task to task (`checkpointer=True`), in a namespace without their ids.
    Kept(Name),
}

/// Returns a namespace without the ids of tasks and the numbers of calls: that of a graph which goes on from task to task.
fn nodes_of(ns: &str) -> String {
    let is_count = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = ns.split('|').filter(|part| !is_count(part));
    let names: Vec<&str> = parts.map(|part| part.split(':').next().unwrap_or(part)).collect();
    names.join("|")
}

/// The reads of one thread.
pub(super) struct ThreadView<'a> {
    pub(super) tables: &'a dyn RowReader,
    pub(super) thread: &'a ThreadId,
}

fn record_of(row: &mut CheckpointRow) -> Record {
    let mut record = match std::mem::replace(&mut row.checkpoint, Ok(Vec::new())) {
        Ok(bytes) => Record::read(&row.kind, bytes),
        Err(reason) => Record::damaged(reason),
    };
    record.add_blobs(std::mem::take(&mut row.blobs), std::mem::take(&mut row.sends));
    record
}

impl ThreadView<'_> {
    fn thread(&self) -> &str {
        self.thread.as_str()
    }

    /// Learns the nodes of a namespace: from its newest checkpoint, which has seen most, and from those around the ones
    /// that are read.
    fn nodes(&self, ns: &str, around: &str, read: &[Record]) -> Result<Nodes, Fault> {
        let mut nodes = Nodes::default();
        let mut learn = |mut row: CheckpointRow| nodes.learn(&record_of(&mut row));
        let newest = self.tables.newest(self.thread(), ns)?;
        // The newest of those that are read is the newest of all, mostly.
        if let Some(newest) = newest.filter(|newest| around != newest) {
            let row = self
                .tables
                .checkpoint(self.thread(), ns, &newest, Wanted::Structure)?;
            row.into_iter().for_each(&mut learn);
            let following = self.tables.following(self.thread(), ns, around, MAX_FOLLOWING)?;
            following.into_iter().for_each(&mut learn);
        }
        read.iter().for_each(|record| nodes.learn(record));
        if read.iter().any(|record| record.format < 4) {
            self.learn_elsewhere(ns, &mut nodes)?;
        }
        Ok(nodes)
    }

    /// Learns nodes that have not run to their end in a file of before 2025, in which neither rows nor channels name them:
    /// from the graphs that they ran, and from other threads.
    fn learn_elsewhere(&self, ns: &str, nodes: &mut Nodes) -> Result<(), Fault> {
        let mut last: Option<String> = None;
        for _ in 0..MAX_GRAPHS / AT_ONCE {
            let page = self
                .tables
                .namespaces_after(self.thread(), last.as_deref(), AT_ONCE)?;
            page.iter().for_each(|nested| nodes.learn_graph(ns, nested));
            last = page.into_iter().next_back();
            if last.is_none() {
                break;
            }
        }
        if !ns.is_empty() {
            return Ok(());
        }
        for (thread, newest) in self.tables.threads_after(None, MAX_OTHERS)? {
            let Some(newest) = newest else { continue };
            if let Some(mut row) = self.tables.checkpoint(&thread, ns, &newest, Wanted::Structure)? {
                nodes.learn_other(&record_of(&mut row));
            }
        }
        Ok(())
    }

    /// Loads rows of one namespace, given from the newest back.
    pub(super) fn load(
        &self,
        mut rows: Vec<CheckpointRow>,
        wanted: Wanted<'_>,
    ) -> Result<Vec<Loaded>, Fault> {
        let Some(first) = rows.first() else {
            return Ok(Vec::new());
        };
        let (ns, newest) = (Name::from(&*first.ns), first.id.clone());
        let records: Vec<Record> = rows.iter_mut().map(record_of).collect();
        let nodes = self.nodes(&ns, &newest, &records)?;
        let mut versions: BTreeMap<String, BTreeMap<Name, u64>> = BTreeMap::new();
        for (row, record) in rows.iter().zip(&records) {
            versions.insert(row.id.clone(), record.versions.clone());
        }
        let ids: Vec<&str> = rows.iter().map(|row| &*row.id).collect();
        let writes = self.tables.writes(self.thread(), &ns, &ids, wanted.is_all())?;
        let mut loaded = Vec::with_capacity(rows.len());
        for ((row, record), writes) in rows.into_iter().zip(records).zip(writes) {
            let before = match (&record.updated, &row.parent) {
                (None, Some(parent)) if record.damage.is_none() => {
                    self.versions(&ns, parent, &mut versions)?
                }
                _ => None,
            };
            loaded.push(self.loaded(row, record, &nodes, before.as_ref(), writes)?);
        }
        Ok(loaded)
    }

    /// Reads the channel versions of a checkpoint, once.
    fn versions(
        &self,
        ns: &str,
        id: &str,
        known: &mut BTreeMap<String, BTreeMap<Name, u64>>,
    ) -> Result<Option<BTreeMap<Name, u64>>, Fault> {
        if let Some(found) = known.get(id) {
            return Ok(Some(found.clone()));
        }
        let Some(mut row) = self.tables.checkpoint(self.thread(), ns, id, Wanted::Structure)? else {
            return Ok(None);
        };
        let found = record_of(&mut row).versions;
        known.insert(id.to_owned(), found.clone());
        Ok(Some(found))
    }

    fn loaded(
        &self,
        row: CheckpointRow,
        record: Record,
        nodes: &Nodes,
        before: Option<&BTreeMap<Name, u64>>,
        mut rows: Vec<WriteRow>,
    ) -> Result<Loaded, Fault> {
        rows.retain(|row| row.channel != SCHEDULED);
        let stored = match &row.metadata {
            None => None,
            Some(Ok(bytes)) => Some(Ok(&**bytes)),
            Some(Err(reason)) => Some(Err(reason.clone())),
        };
        let metadata = metadata(stored, record.damage.as_deref());
        let mut seen = HashSet::new();
        let stored: Vec<(String, String)> = (rows.iter())
            .filter(|row| is_task(&row.task) && seen.insert(row.task.clone()))
            .map(|row| (row.task.clone(), row.path.clone()))
            .collect();
        let asked = match record.format {
            4.. => BTreeMap::new(),
            _ => self.asked(&row, &rows)?,
        };
        let step = Step {
            asked: &asked,
            record: &record,
            ns: &row.ns,
            id: &row.id,
            number: metadata.next_step(),
            stored: &stored,
            nodes,
        };
        let tasks = step.tasks();
        let is_shown = |name: &Name| !nodes.is_trigger(name, record.format);
        let updated = match (&record.updated, before) {
            (Some(updated), _) => Some(updated.iter().filter(|name| is_shown(name)).cloned().collect()),
            (None, Some(before)) => {
                let changed = record.versions.iter().filter(|(name, version)| {
                    before.get(*name) != Some(version) && (record.has(name) || before.contains_key(*name))
                });
                Some(
                    changed
                        .map(|(name, _)| name.clone())
                        .filter(|name| is_shown(name))
                        .collect(),
                )
            }
            (None, None) if row.parent.is_none() && record.damage.is_none() => {
                Some(record.channels().filter(|name| is_shown(name)).cloned().collect())
            }
            (None, None) => None,
        };
        let leads = match record.format {
            4.. => BTreeMap::new(),
            _ => nodes.leads(),
        };
        let triggers: Vec<Name> = record
            .channels()
            .filter(|name| !is_shown(name))
            .cloned()
            .collect();
        let mut record = record;
        record.leave_out(&triggers);
        Ok(Loaded {
            ns: row.ns.into(),
            id: CheckpointId::from(row.id),
            parent: row.parent,
            record,
            metadata,
            tasks,
            rows,
            updated,
            leads,
        })
    }

    /// Returns the nodes of tasks that asked something, by their ids: in files of before 2025 a question has the namespace
    /// in which it was asked.
    fn asked(&self, row: &CheckpointRow, rows: &[WriteRow]) -> Result<BTreeMap<String, Name>, Fault> {
        let mut found = BTreeMap::new();
        let is_nameless = |row: &&WriteRow| row.channel == reserved::INTERRUPT && row.path.is_empty();
        let mut read = Vec::new();
        let questions: Vec<&WriteRow> = match rows.iter().find(is_nameless) {
            None => return Ok(found),
            Some(WriteRow { value: Some(_), .. }) => rows.iter().filter(is_nameless).collect(),
            // They were read without their values.
            Some(_) => {
                read.extend(self.writes(&row.ns, &row.id)?);
                read.iter().filter(is_nameless).collect()
            }
        };
        for question in questions {
            let value = value_of(question);
            let first = value.at(0).unwrap_or(&value);
            let places = first
                .get("ns")
                .and_then(Value::as_array)
                .into_iter()
                .flat_map(List::iter);
            let mut places = places.filter_map(|place| place.as_str()?.rsplit_once(':'));
            if let Some((node, task)) = places.find(|(_, task)| *task == question.task) {
                found.insert(task.to_owned(), node.into());
            }
        }
        Ok(found)
    }

    /// Reads what tasks of a checkpoint stored.
    fn writes(&self, ns: &str, id: &str) -> Result<Vec<WriteRow>, Fault> {
        let mut all = self.tables.writes(self.thread(), ns, &[id], true)?;
        Ok(all.pop().unwrap_or_default())
    }

    /// Returns the tasks that begin at a checkpoint, with which of their nodes run graphs: those by whose names the thread has
    /// namespaces. `known` are the nodes that were looked for.
    pub(super) fn tasks(
        &self,
        loaded: &Loaded,
        known: &mut BTreeMap<String, NestedGraph>,
    ) -> Result<Vec<ForeignTask>, Fault> {
        let mut tasks = loaded.tasks.clone();
        for task in tasks.iter_mut().filter(|task| !task.name.is_empty()) {
            let node = match &*loaded.ns {
                "" => task.name.to_string(),
                ns => format!("{ns}|{}", task.name),
            };
            let nested = match known.get(&node) {
                Some(nested) => nested.clone(),
                None => {
                    let nested = self.nested(&node)?;
                    known.insert(node.clone(), nested.clone());
                    nested
                }
            };
            task.graph = match nested {
                NestedGraph::None => None,
                NestedGraph::OfTask => Some(format!("{node}:{}", task.id).into()),
                NestedGraph::Kept(ns) => Some(ns),
            };
        }
        Ok(tasks)
    }

    /// Looks for the graph that a node ran.
    fn nested(&self, node: &str) -> Result<NestedGraph, Fault> {
        if self.tables.has_namespace(self.thread(), &format!("{node}:"))? {
            return Ok(NestedGraph::OfTask);
        }
        let kept = nodes_of(node);
        let is_there = self.tables.newest(self.thread(), &kept)?.is_some();
        Ok(match is_there {
            true => NestedGraph::Kept(kept.into()),
            false => NestedGraph::None,
        })
    }

    /// Loads one checkpoint, or the newest.
    pub(super) fn one(
        &self,
        ns: &str,
        id: Option<&str>,
        wanted: Wanted<'_>,
    ) -> Result<Option<Loaded>, Fault> {
        let newest = match id {
            Some(id) => Some(id.to_owned()),
            None => self.tables.newest(self.thread(), ns)?,
        };
        let Some(id) = newest else { return Ok(None) };
        let row = self.tables.checkpoint(self.thread(), ns, &id, wanted)?;
        Ok(self.load(row.into_iter().collect(), wanted)?.pop())
    }

    /// Returns the namespaces of the thread.
    pub(super) fn namespaces(&self) -> Result<Vec<String>, Fault> {
        let mut found: Vec<String> = Vec::new();
        loop {
            let last = found.last().map(String::as_str);
            let page = self.tables.namespaces_after(self.thread(), last, AT_ONCE)?;
            if page.is_empty() {
                return Ok(found);
            }
            found.extend(page);
        }
    }

    /// Goes through the checkpoints of a namespace, the newest first, until `visit` has enough.
    pub(super) fn walk(
        &self,
        ns: &str,
        query: &ListQuery,
        wanted: Wanted<'_>,
        mut visit: impl FnMut(&Loaded) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let mut below = query.before.as_ref().map(|before| before.as_str().to_owned());
        loop {
            let limit = query.limit.unwrap_or(usize::MAX);
            let rows = self
                .tables
                .checkpoints(self.thread(), ns, below.as_deref(), limit, wanted)?;
            let Some(last) = rows.last() else { return Ok(()) };
            below = Some(last.id.clone());
            for loaded in self.load(rows, wanted)? {
                if loaded.metadata.matches(&query.filter) && !visit(&loaded)? {
                    return Ok(());
                }
            }
        }
    }

    /// Returns the whole checkpoint.
    pub(super) fn tuple(&self, loaded: &Loaded) -> Result<CheckpointTuple, Fault> {
        let record = &loaded.record;
        let mut values: BTreeMap<Name, Value> = BTreeMap::new();
        for name in record.channels() {
            if let Some(value) = record.value(name) {
                values.insert(name.clone(), value);
            }
        }
        let mut metadata = loaded.metadata.clone();
        let mut rebuilt = List::new();
        for channel in self.missing_deltas(loaded) {
            if let Some(value) = self.rebuilt(loaded, &channel)? {
                values.insert(channel.clone(), value);
                rebuilt.push(Value::String(channel));
            }
        }
        if !rebuilt.is_empty() {
            metadata.user.insert(REBUILT, Value::Array(rebuilt));
        }
        let head = loaded.head();
        Ok(CheckpointTuple {
            thread: self.thread.clone(),
            ns: loaded.ns.clone(),
            checkpoint: Checkpoint {
                id: head.id,
                parent: head.parent,
                ts: head.ts,
                channel_values: values.into_iter().collect(),
                channel_versions: record.channel_versions(),
                versions_seen: record.versions_seen(),
                updated_channels: head.updated_channels,
                metadata,
                next: head.next,
            },
            pending_writes: loaded.writes(),
        })
    }

    /// Returns the value of a channel, rebuilt if it is stored as its changes.
    pub(super) fn value(&self, loaded: &Loaded, channel: &Name) -> Result<Option<Value>, Fault> {
        match loaded.record.value(channel) {
            Some(value) => Ok(Some(value)),
            None if self.missing_deltas(loaded).contains(channel) => self.rebuilt(loaded, channel),
            None => Ok(None),
        }
    }

    fn missing_deltas(&self, loaded: &Loaded) -> Vec<Name> {
        let deltas = loaded.metadata.user.get(DELTAS).and_then(Value::as_object);
        let names = deltas.into_iter().flat_map(Object::keys);
        names.filter(|name| !loaded.record.has(name)).cloned().collect()
    }

    /// Rebuilds a delta channel from its newest snapshot up the chain and the writes since. Lists grow, messages are
    /// replaced by their ids, dictionaries are merged: which reducer the program has is not in its database.
    fn rebuilt(&self, loaded: &Loaded, channel: &Name) -> Result<Option<Value>, Fault> {
        let (mut steps, mut seed) = (Vec::new(), None);
        let mut passed = HashSet::from([loaded.id.as_str().to_owned()]);
        let mut at = loaded.parent.clone();
        while let Some(id) = at
            .take()
            .filter(|id| steps.len() < MAX_CHAIN && passed.insert(id.clone()))
        {
            let wanted = Wanted::Channels(std::slice::from_ref(channel));
            let Some(mut row) = self.tables.checkpoint(self.thread(), &loaded.ns, &id, wanted)? else {
                break;
            };
            let mut rows = self.writes(&loaded.ns, &id)?;
            rows.retain(|row| row.channel == **channel);
            rows.sort_by(|a, b| (&a.path, &a.task, a.idx).cmp(&(&b.path, &b.task, b.idx)));
            steps.push(rows);
            let record = record_of(&mut row);
            if record.has(channel) {
                seed = record.value(channel);
                break;
            }
            at = row.parent;
        }
        let mut value = seed;
        for row in steps.into_iter().rev().flatten() {
            value = Some(reduced(value, value_of(&row)));
        }
        Ok(value)
    }

    /// Reads the thread as lists show it; `None` when it has no checkpoint of its outermost graph.
    pub(super) fn summary(&self) -> Result<Option<ThreadSummary>, Fault> {
        let Some(newest) = self.one("", None, Wanted::Structure)? else {
            return Ok(None);
        };
        let created = match self.tables.oldest(self.thread(), "")? {
            Some(id) => self
                .tables
                .checkpoint(self.thread(), "", &id, Wanted::Structure)?,
            None => None,
        };
        let created = created.map(|mut row| record_of(&mut row).ts);
        Ok(Some(ThreadSummary {
            thread: self.thread.clone(),
            head: newest.head(),
            created: created.unwrap_or_default(),
            checkpoints: self.tables.count(self.thread(), "")?,
        }))
    }
}

/// Adds a write to the value of a delta channel.
fn reduced(before: Option<Value>, written: Value) -> Value {
    let overwrite = (written.get("$class").and_then(Value::as_str))
        .is_some_and(|class| class.ends_with(".Overwrite"))
        .then(|| written.get("value").cloned())
        .flatten()
        .or_else(|| written.get("__overwrite__").cloned());
    if let Some(value) = overwrite {
        return value;
    }
    let is_message = |item: &Value| item.get("content").is_some() && item.get("type").is_some();
    match (before, written) {
        (None | Some(Value::Null), written) => match written {
            message @ Value::Object(_) if is_message(&message) => {
                Value::Array([message].into_iter().collect())
            }
            written => written,
        },
        (Some(Value::Array(before)), written) => {
            let added = match written {
                Value::Array(items) => items,
                item => [item].into_iter().collect(),
            };
            let messages = before.iter().chain(added.iter()).all(is_message);
            let right = Value::Array(added.clone());
            match messages.then(|| add_messages(&before, &right)).transpose() {
                Ok(Some(joined)) => joined,
                _ => {
                    let mut joined = before;
                    joined.append(&added);
                    Value::Array(joined)
                }
            }
        }
        (Some(Value::Object(before)), Value::Object(added)) => {
            let mut joined = before;
            for (key, value) in added.iter() {
                joined.insert(key.clone(), value.clone());
            }
            joined.into()
        }
        (Some(_), written) => written,
    }
}

/// Returns whether rows under an id are those of a task: an answer of JavaScript that was given by a question's id stands
/// under that.
fn is_task(id: &str) -> bool {
    let is_question = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_question && !TaskId::from(id).is_null()
}

/// Returns why a task failed as Python says it; JavaScript stores `{name, message}`.
fn failure(stored: Value) -> Value {
    let part = |key: &str| stored.get(key).and_then(Value::as_str);
    match (part("name"), part("message")) {
        (Some(name), Some(message)) => {
            let message = message.replace('\\', "\\\\").replace('\'', "\\'");
            Value::from(format!("{name}('{message}')"))
        }
        _ => stored,
    }
}

fn value_of(row: &WriteRow) -> Value {
    match &row.value {
        None => Value::Null,
        Some(Ok(bytes)) => {
            let value = encoded::decode(&row.kind, bytes);
            match &*row.channel {
                PACKETS => packet(value),
                reserved::ERROR => failure(value),
                _ => value,
            }
        }
        Some(Err(reason)) => super::classes::unreadable(reason.clone()),
    }
}

impl Loaded {
    pub(super) fn place(&self) -> (&Name, &CheckpointId) {
        (&self.ns, &self.id)
    }

    pub(super) fn tasks(&self) -> &[ForeignTask] {
        &self.tasks
    }

    /// Returns whether it has the format of before 2025.
    pub(super) fn is_old(&self) -> bool {
        self.record.format < 4
    }

    pub(super) fn leads(&self) -> &BTreeMap<Name, Vec<Name>> {
        &self.leads
    }

    /// Decodes the packets of the step that begins here.
    pub(super) fn packets(&self) -> impl Iterator<Item = Value> {
        self.record.packets()
    }

    /// Decodes the values of channels that only trigger nodes.
    pub(super) fn triggers(&self) -> impl Iterator<Item = (&Name, Value)> {
        self.record.triggers()
    }

    /// Returns the channels that the step which made it has updated, those that only trigger nodes among them.
    pub(super) fn all_updated(&self) -> Option<Vec<Name>> {
        self.record.updated.clone()
    }

    /// Returns the tasks that stored something with their paths, where the rows have them.
    pub(super) fn paths(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().map(|row| (&*row.task, &*row.path))
    }

    /// Returns the checkpoint of the outermost graph at which its graph ran.
    pub(super) fn outermost(&self) -> Option<String> {
        self.metadata.parents.get("")?.as_str().map(str::to_owned)
    }

    /// Returns the bytes of each value, and whether they were stored for this checkpoint.
    pub(super) fn sizes(&self) -> impl Iterator<Item = (&Name, u64, bool)> {
        let updated = self.updated.as_deref().unwrap_or_default();
        let sizes = self.record.sizes();
        sizes.map(move |(name, size, beside)| (name, size, !beside || updated.contains(name)))
    }

    /// Measures the checkpoint, whose writes were read with their values.
    pub(super) fn usage(&self) -> CheckpointUsage {
        let values = self
            .rows
            .iter()
            .filter_map(|row| row.value.as_ref()?.as_ref().ok());
        let written: usize = values.map(Vec::len).sum();
        let updated = self.updated.as_deref().unwrap_or_default();
        let beside = self
            .record
            .sizes()
            .filter(|(name, _, beside)| *beside && updated.contains(name));
        let beside: u64 = beside.map(|(_, size, _)| size).sum();
        CheckpointUsage {
            ns: self.ns.clone(),
            id: self.id.clone(),
            step: self.metadata.step,
            ts: self.record.ts.clone(),
            bytes: (self.record.len() + written) as u64 + beside,
        }
    }

    pub(super) fn damage(&self) -> Option<&str> {
        self.record.damage.as_deref()
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = &Name> {
        self.record.channels()
    }

    /// Counts the tasks that ask and those that failed.
    pub(super) fn counts(&self) -> (u32, u32) {
        let (mut interrupted, mut failed) = (0, 0);
        for own in self.rows.chunk_by(|a, b| a.task == b.task) {
            let channels = own.iter().map(|row| &*row.channel);
            let status = TaskStatus::of(&TaskId::from(&*own[0].task), channels);
            interrupted += u32::from(status.interrupted);
            failed += u32::from(status.failed);
        }
        (interrupted, failed)
    }

    pub(super) fn head(&self) -> CheckpointHead {
        let (interrupted, failed) = self.counts();
        CheckpointHead {
            ns: self.ns.clone(),
            id: self.id.clone(),
            parent: self.parent.as_deref().map(CheckpointId::from),
            ts: self.record.ts.clone(),
            metadata: self.metadata.clone(),
            next: self.tasks.iter().map(|task| task.name.clone()).collect(),
            updated_channels: self.updated.clone(),
            interrupted,
            failed,
        }
    }

    /// Returns what tasks stored, ordered by (task path, task id, index).
    pub(super) fn writes(&self) -> Vec<PendingWrite> {
        let paths = paths(&self.tasks);
        let mut writes: Vec<PendingWrite> = (self.rows.iter())
            .map(|row| {
                let task_path = match paths.get(&*row.task) {
                    Some(path) if row.path.is_empty() => path.clone(),
                    _ => row.path.as_str().into(),
                };
                let value = value_of(row);
                let value = match &*row.channel {
                    reserved::INTERRUPT => self.questions(row, value),
                    _ => value,
                };
                PendingWrite {
                    task_id: TaskId::from(&*row.task),
                    task_path,
                    write: Write {
                        idx: i32::try_from(row.idx).unwrap_or(i32::MAX),
                        channel: row.channel.as_str().into(),
                        value,
                    },
                }
            })
            .collect();
        writes.sort_by(|a, b| {
            (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
        });
        writes
    }

    /// Returns the questions of a task, each with its id: that of before 2025 is made of where it was asked.
    fn questions(&self, row: &WriteRow, stored: Value) -> Value {
        let stored = match stored {
            Value::Array(items) => items,
            one => [one].into_iter().collect(),
        };
        let question = |asked: &Value| {
            let has = |key: &str| asked.get(key).is_some();
            let parts = asked.get("ns").and_then(Value::as_array);
            let ns = match parts {
                Some(parts) => parts
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join("|"),
                None => self.ns_of(&row.task),
            };
            let id = asked
                .get("id")
                .or_else(|| asked.get("interrupt_id"))
                .and_then(Value::as_str);
            let id = match id {
                Some(id) => id.to_owned(),
                None => format!("{:032x}", xxhash_rust::xxh3::xxh3_128(ns.as_bytes())),
            };
            let value = match asked.get(CLASS).and_then(Value::as_str) {
                Some(class) if class.ends_with("Interrupt") => asked.get("value").cloned(),
                // Of JavaScript, where a question has no class, only where it was asked or its id.
                None if has("value") && (has("id") || has("ns")) => asked.get("value").cloned(),
                // A question that cannot be read says why.
                _ => Some(asked.clone()),
            };
            let value = value.unwrap_or_default();
            Value::Object([("value", value), ("id", Value::from(id))].into_iter().collect())
        };
        Value::Array(stored.iter().map(question).collect())
    }

    /// Returns the namespace in which a task asks, and runs its graph.
    pub(super) fn ns_of(&self, task: &str) -> String {
        let name = self.tasks.iter().find(|known| known.id.as_str() == task);
        let own = format!("{}:{task}", name.map_or("", |known| &*known.name));
        match &*self.ns {
            "" => own,
            ns => format!("{ns}|{own}"),
        }
    }
}
