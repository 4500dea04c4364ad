//! Reading. Whatever is asked for takes a bounded number of round trips, and lists are paged by the index, so no key is
//! ever searched for.

mod threads;
mod waiting;

use std::collections::{BTreeMap, HashMap, HashSet};

use superstep::checkpoint::{
    ChannelValues, Checkpoint, CheckpointHead, CheckpointTuple, ListQuery, PendingWrite, StorageError,
    TaskId, TaskStatus, Write, reserved,
};
use superstep::{CheckpointId, Name, ThreadId};

use super::server::{READ, Server, VALUES, bytes, number, parts};
use super::state::{Resolved, index_key, index_parts, read_record, value_of};
use crate::base::quarantine::passed_over;
use crate::codec::compression::decompressed;
use crate::codec::plain::Task;

/// Checkpoints read in one go.
const PAGE: usize = 256;
/// A value may be gone between two round trips, when somebody prunes: then everything is read again.
const TRIES: usize = 4;

/// Data read of some checkpoints of a thread.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) epoch: Vec<u8>,
    /// As the index has them.
    pub(super) there: Vec<Vec<u8>>,
    pub(super) records: HashMap<Vec<u8>, Vec<u8>>,
    /// Of each checkpoint that is there.
    pub(super) lines: Vec<Vec<Vec<u8>>>,
}

pub(super) fn corrupt(thread: &ThreadId, id: &CheckpointId, cause: String) -> StorageError {
    StorageError::Corrupt {
        place: format!("Checkpoint {id} of thread {thread}"),
        cause,
    }
}

impl Server {
    async fn fetch(&self, thread: &ThreadId, arguments: Vec<Vec<u8>>) -> Result<Read, StorageError> {
        let keys = ["facts", "index", "heads", "writes"].map(|kind| self.keys.of(kind, thread));
        let answer = self
            .run(&READ, keys.into(), arguments, "reading a checkpoint")
            .await?;
        let mut answer = parts(answer).into_iter();
        let mut next = || answer.next().unwrap_or(redis::Value::Nil);
        let epoch = bytes(next());
        let there = parts(next()).into_iter().map(bytes).collect();
        let mut records = HashMap::new();
        let mut flat = parts(next()).into_iter().map(bytes);
        while let (Some(key), Some(record)) = (flat.next(), flat.next()) {
            records.insert(key, record);
        }
        let lines = parts(next()).into_iter();
        let lines = lines
            .map(|own| parts(own).into_iter().map(bytes).collect())
            .collect();
        Ok(Read {
            epoch,
            there,
            records,
            lines,
        })
    }

    /// Fetches the newest checkpoint of a namespace, or the given one.
    pub(super) async fn fetch_one(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Read, StorageError> {
        let arguments = match id {
            Some(id) => vec![b"these".to_vec(), index_key(ns, id)],
            None => vec![b"newest".to_vec(), ns.as_bytes().to_vec()],
        };
        self.fetch(thread, arguments).await
    }

    /// Fetches these checkpoints, given as the index has them.
    pub(super) async fn fetch_these(
        &self,
        thread: &ThreadId,
        keys: &[Vec<u8>],
    ) -> Result<Read, StorageError> {
        let arguments = std::iter::once(b"these".to_vec()).chain(keys.iter().cloned());
        self.fetch(thread, arguments.collect()).await
    }

    /// Reads these rows: whole with those they continue (`rows`), the first lines of the same with the length of each
    /// row (`starts`), or the first lines of these alone (`first`).
    pub(super) async fn rows(
        &self,
        thread: &ThreadId,
        rows: impl IntoIterator<Item = u64>,
        mode: &str,
    ) -> Result<HashMap<u64, Vec<u8>>, StorageError> {
        let mut wanted: Vec<u64> = rows.into_iter().collect();
        // Rows of one list come one after the other: a page shares what they continue.
        wanted.sort_unstable();
        let mut found = HashMap::new();
        for page in wanted.chunks(PAGE * 4) {
            let mut arguments = vec![mode.as_bytes().to_vec()];
            arguments.extend(page.iter().map(|row| row.to_string().into_bytes()));
            let keys = vec![self.keys.of("values", thread)];
            let answer = self.run(&VALUES, keys, arguments, "reading values").await?;
            let mut flat = parts(answer).into_iter();
            while let (Some(at), Some(row)) = (flat.next(), flat.next()) {
                found.insert(number(at) as u64, bytes(row));
            }
        }
        Ok(found)
    }

    pub(super) async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let mut last = Ok(None);
        for _ in 0..TRIES {
            let read = self.fetch_one(thread, ns, id).await?;
            last = self.tuples(thread, &read).await.map(|mut tuples| tuples.pop());
            if !matches!(last, Err(StorageError::Corrupt { .. })) {
                break;
            }
        }
        last
    }

    /// Builds the checkpoints that were read, with their values.
    async fn tuples(&self, thread: &ThreadId, read: &Read) -> Result<Vec<CheckpointTuple>, StorageError> {
        let mut states = Vec::with_capacity(read.there.len());
        for key in &read.there {
            states.push(state_at(thread, key, read)?);
        }
        let rows: HashSet<u64> = states
            .iter()
            .flat_map(|(.., at)| at.state.values.values().copied())
            .collect();
        let rows = self.rows(thread, rows, "rows").await?;
        let mut values = HashMap::new();
        let mut tuples = Vec::with_capacity(states.len());
        for ((ns, id, Resolved { state, .. }), lines) in states.into_iter().zip(&read.lines) {
            let refuse = |cause| corrupt(thread, &id, cause);
            let mut channel_values = ChannelValues::default();
            for (channel, row) in &state.values {
                let value = match values.get(row) {
                    Some(value) => value,
                    None => {
                        let value = value_of(*row, &rows)
                            .map_err(|cause| refuse(format!("channel {channel}: {cause}")))?;
                        values.entry(*row).or_insert(value)
                    }
                };
                channel_values.insert(channel.clone(), value.clone());
            }
            let text = read
                .records
                .get(&index_key(&ns, &id))
                .map(Vec::as_slice)
                .unwrap_or_default();
            let record = read_record(text).map_err(refuse)?;
            tuples.push(CheckpointTuple {
                thread: thread.clone(),
                ns,
                checkpoint: Checkpoint {
                    channel_values,
                    channel_versions: state.versions,
                    versions_seen: state.seen,
                    ..record.head.checkpoint()
                },
                pending_writes: pending(lines).map_err(refuse)?,
            });
        }
        Ok(tuples)
    }

    pub(super) async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let mut last = Ok(None);
        for _ in 0..TRIES {
            last = self.some_values(thread, ns, id, keys).await;
            if !matches!(last, Err(StorageError::Corrupt { .. })) {
                break;
            }
        }
        last
    }

    async fn some_values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let read = self.fetch_one(thread, ns, id).await?;
        let Some(key) = read.there.first() else {
            return Ok(None);
        };
        let (_, id, at) = state_at(thread, key, &read)?;
        let wanted: Vec<(&Name, u64)> = keys
            .iter()
            .filter_map(|key| Some((key, *at.state.values.get(key)?)))
            .collect();
        let rows = self
            .rows(thread, wanted.iter().map(|(_, row)| *row), "rows")
            .await?;
        let mut values = ChannelValues::default();
        for (key, row) in wanted {
            let value = value_of(row, &rows)
                .map_err(|cause| corrupt(thread, &id, format!("channel {key}: {cause}")))?;
            values.insert(key.clone(), value);
        }
        Ok(Some(values))
    }

    /// Returns the checkpoints of a thread that a query may be about, newest first, equal ids by namespace.
    async fn index(&self, thread: &ThreadId, query: &ListQuery) -> Result<Vec<Vec<u8>>, StorageError> {
        let mut ask = redis::cmd("ZRANGE");
        ask.arg(self.keys.of("index", thread));
        if let Some(ns) = &query.ns {
            let bound = |mark: u8, end: &[u8]| [&[mark], ns.as_bytes(), end].concat();
            let newest = match &query.before {
                Some(before) => bound(b'(', &[&[0], before.as_str().as_bytes()].concat()),
                None => bound(b'(', &[1]),
            };
            ask.arg(newest).arg(bound(b'[', &[0])).arg("BYLEX").arg("REV");
            // Without a filter the page is known here.
            if let (Some(limit), true, None) = (query.limit, query.filter.is_empty(), &query.id) {
                ask.arg("LIMIT").arg(0).arg(limit.min(i64::MAX as usize));
            }
        } else {
            ask.arg(0).arg(-1);
        }
        let found = parts(self.call(ask, "listing checkpoints").await?)
            .into_iter()
            .map(bytes);
        let mut found: Vec<(CheckpointId, Vec<u8>)> = found
            .filter_map(|key| Some((index_parts(&key)?.1, key)))
            .filter(|(id, _)| query.id.as_ref().is_none_or(|wanted| wanted == id))
            .filter(|(id, _)| query.before.as_ref().is_none_or(|before| id < before))
            .collect();
        if query.ns.is_none() {
            // The index is in the order of namespaces.
            found.sort_by(|a, b| b.0.cmp(&a.0));
        }
        Ok(found.into_iter().map(|(_, key)| key).collect())
    }

    pub(super) async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let found = self.found(query).await?;
        Ok(found.into_iter().map(|(_, _, head)| head).collect())
    }

    /// Finds the heads that match a query, with their threads and places in the index.
    async fn found(
        &self,
        query: &ListQuery,
    ) -> Result<Vec<(ThreadId, Vec<u8>, CheckpointHead)>, StorageError> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let threads = match &query.thread {
            Some(thread) => vec![thread.clone()],
            None => self.all_threads().await?,
        };
        let mut found = Vec::new();
        for thread in &threads {
            let keys = self.index(thread, query).await?;
            let mut matched = 0;
            for page in keys.chunks(PAGE) {
                if matched >= limit {
                    break;
                }
                for (key, head) in self.heads_each(thread, page).await? {
                    let head = match head {
                        // What cannot be read of one thread does not hide the others.
                        Err(error) if query.thread.is_none() => {
                            passed_over(thread, &error);
                            continue;
                        }
                        other => other?,
                    };
                    if matched < limit && head.metadata.matches(&query.filter) {
                        matched += 1;
                        found.push((thread.clone(), key, head));
                    }
                }
            }
        }
        if threads.len() > 1 {
            // Stable: equal ids of copied threads stay in the order of the threads.
            found.sort_by(|(.., a), (.., b)| b.id.cmp(&a.id));
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Reads the heads of these checkpoints; one that has just been removed is omitted.
    pub(super) async fn heads_of(
        &self,
        thread: &ThreadId,
        keys: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, CheckpointHead)>, StorageError> {
        let heads = self.heads_each(thread, keys).await?.into_iter();
        heads.map(|(key, head)| Ok((key, head?))).collect()
    }

    /// Reads the heads of these checkpoints, with the error for each that cannot be read.
    async fn heads_each(
        &self,
        thread: &ThreadId,
        keys: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, Result<CheckpointHead, StorageError>)>, StorageError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let ask = |kind: &str| {
            let mut ask = redis::cmd("HMGET");
            ask.arg(self.keys.of(kind, thread)).arg(keys);
            self.call(ask, "reading the history")
        };
        let (records, open) = futures::try_join!(ask("heads"), ask("open"))?;
        let mut heads = Vec::with_capacity(keys.len());
        for ((key, record), open) in keys.iter().zip(parts(records)).zip(parts(open)) {
            let record = bytes(record);
            if let Some((ns, id)) = index_parts(key)
                && !record.is_empty()
            {
                let head = head_of(ns, &record, &bytes(open)).map_err(|cause| corrupt(thread, &id, cause));
                heads.push((key.clone(), head));
            }
        }
        Ok(heads)
    }

    pub(super) async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        let mut last = Ok(Vec::new());
        for _ in 0..TRIES {
            last = self.list_once(query).await;
            if !matches!(last, Err(StorageError::Corrupt { .. })) {
                break;
            }
        }
        last
    }

    async fn list_once(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        let found = self.found(query).await?;
        let mut by_thread: BTreeMap<&ThreadId, Vec<Vec<u8>>> = BTreeMap::new();
        for (thread, key, _) in &found {
            by_thread.entry(thread).or_default().push(key.clone());
        }
        let mut read = HashMap::new();
        for (thread, keys) in by_thread {
            for page in keys.chunks(PAGE) {
                let some = self.fetch_these(thread, page).await?;
                let tuples = match self.tuples(thread, &some).await {
                    // What cannot be read of one thread does not hide the others, nor the rest of it.
                    Err(StorageError::Corrupt { .. }) if query.thread.is_none() => {
                        self.tuples_that_can_be_read(thread, page).await?
                    }
                    other => other?,
                };
                for tuple in tuples {
                    let key = index_key(&tuple.ns, &tuple.checkpoint.id);
                    read.insert((thread.clone(), key), tuple);
                }
            }
        }
        Ok(found
            .into_iter()
            .filter_map(|(thread, key, _)| read.remove(&(thread, key)))
            .collect())
    }

    async fn tuples_that_can_be_read(
        &self,
        thread: &ThreadId,
        keys: &[Vec<u8>],
    ) -> Result<Vec<CheckpointTuple>, StorageError> {
        let mut tuples = Vec::new();
        for (ns, id) in keys.iter().filter_map(|key| index_parts(key)) {
            match self.get(thread, &ns, Some(&id)).await {
                Err(error @ StorageError::Corrupt { .. }) => passed_over(thread, &error),
                found => tuples.extend(found?),
            }
        }
        Ok(tuples)
    }
}

/// Returns the namespace, id and state of a checkpoint that was read.
pub(super) fn state_at(
    thread: &ThreadId,
    key: &[u8],
    read: &Read,
) -> Result<(Name, CheckpointId, Resolved), StorageError> {
    let damaged = || StorageError::Corrupt {
        place: format!("The index of thread {thread}"),
        cause: format!("{:?} is not a checkpoint", String::from_utf8_lossy(key)),
    };
    let (ns, id) = index_parts(key).ok_or_else(damaged)?;
    let state = Resolved::of(&ns, &id, &read.records).map_err(|cause| corrupt(thread, &id, cause))?;
    Ok((ns, id, state))
}

fn head_of(ns: Name, record: &[u8], open: &[u8]) -> Result<CheckpointHead, String> {
    let head = read_record(record)?.head;
    let (mut interrupted, mut failed) = (0, 0);
    if !open.is_empty() {
        let tasks: HashMap<String, u8> = serde_json::from_slice(open)
            .map_err(|error| format!("its open tasks cannot be read: {error}"))?;
        for (task, flags) in tasks {
            let is_open = flags & 1 == 0 && !TaskId::from(task).is_null();
            interrupted += u32::from(is_open && flags & 2 > 0 && flags & 8 == 0);
            failed += u32::from(is_open && flags & 4 > 0);
        }
    }
    Ok(head.shown(ns, interrupted, failed))
}

/// Returns what the scripts keep of a task's writes, as the digit of a number: 1 finished, 2 asked, 4 failed, 8
/// withdrawn, 16 asked again. The last two share one slot, so the later one counts.
pub(super) fn flags_of<'a>(task: &TaskId, channels: impl IntoIterator<Item = &'a str>) -> char {
    let add = |all, channel| {
        let status = TaskStatus::of(task, [channel]);
        let flags =
            u32::from(status.finished) | u32::from(status.interrupted) << 1 | u32::from(status.failed) << 2;
        match channel {
            reserved::WITHDRAWN if !task.is_null() => all & !16 | 8,
            reserved::ASKED_AGAIN if !task.is_null() => all & !8 | 16,
            _ => all | flags,
        }
    };
    let flags = channels.into_iter().fold(0, add);
    char::from_digit(flags, 32).unwrap_or('0')
}

/// Combines lines into the pending writes that they result in.
pub(super) fn pending(lines: &[Vec<u8>]) -> Result<Vec<PendingWrite>, String> {
    let mut tasks: BTreeMap<TaskId, (Name, BTreeMap<i32, Write>)> = BTreeMap::new();
    for line in lines {
        let end = line
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("a line of its writes has no beginning")?;
        let text = decompressed(&line[end + 1..])?;
        let task: Task = serde_json::from_slice(&text)
            .map_err(|error| format!("a line of its writes cannot be read: {error}"))?;
        let task = task.into_writes();
        let (_, rows) = tasks
            .entry(task.task_id)
            .or_insert_with(|| (task.task_path, BTreeMap::new()));
        for write in task.writes {
            if write.idx < 0 {
                rows.insert(write.idx, write);
            } else {
                rows.entry(write.idx).or_insert(write);
            }
        }
    }
    let mut tasks: Vec<_> = tasks.into_iter().collect();
    tasks.sort_by(|(id_a, (a, _)), (id_b, (b, _))| (a, id_a).cmp(&(b, id_b)));
    Ok(tasks
        .into_iter()
        .flat_map(|(task_id, (task_path, rows))| {
            rows.into_values().map(move |write| PendingWrite {
                task_id: task_id.clone(),
                task_path: task_path.clone(),
                write,
            })
        })
        .collect())
}
