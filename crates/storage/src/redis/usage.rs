//! What threads, keys and checkpoints take.

use std::collections::{HashMap, HashSet};

use superstep::ThreadId;
use superstep::checkpoint::{CheckpointUsage, KeySums, StorageError, ThreadBreakdown, ThreadUsage, Usage};

use super::server::{Server, number};
use super::state::{Held, Start, index_key, index_parts, read_record};
use crate::codec::plain::Record;

impl Server {
    pub(super) async fn usage(&self) -> Result<Usage, StorageError> {
        let mut usage = Usage::default();
        for key in self.store_keys().await? {
            usage.store += self.memory(&key).await?;
        }
        usage.bytes = usage.store;
        for thread in self.all_threads().await? {
            let mut bytes = 0;
            for key in self.keys.thread(&thread) {
                bytes += self.memory(&key).await?;
            }
            let checkpoints = self.count(&thread).await?;
            usage.bytes += bytes;
            usage.threads.push(ThreadUsage {
                thread,
                checkpoints,
                bytes,
            });
        }
        usage
            .threads
            .sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.thread.cmp(&b.thread)));
        Ok(usage)
    }

    /// Returns the bytes that a key takes in the memory of the server.
    async fn memory(&self, key: &[u8]) -> Result<u64, StorageError> {
        let mut ask = redis::cmd("MEMORY");
        ask.arg("USAGE").arg(key);
        Ok(number(self.call(ask, "measuring what is stored").await?).unsigned_abs())
    }

    /// Counts the checkpoints of a thread.
    pub(super) async fn count(&self, thread: &ThreadId) -> Result<u64, StorageError> {
        let mut ask = redis::cmd("ZCARD");
        ask.arg(self.keys.of("index", thread));
        Ok(number(self.call(ask, "counting checkpoints").await?).unsigned_abs())
    }

    pub(super) async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        let whole = self.whole(thread).await?;
        let mut read = Vec::new();
        for (key, text) in &whole.records {
            if let (Ok(record), Some((ns, id))) = (read_record(text), index_parts(key)) {
                read.push((id, ns, record, text.len() as u64));
            }
        }
        read.sort_by(|a, b| a.0.cmp(&b.0));
        let all = read.iter().flat_map(|(.., record, _)| rows_of(record));
        let starts = self.rows(thread, all.collect::<HashSet<_>>(), "starts").await?;
        let (bases, sizes, wholes) = (bases(&starts), sizes(&starts), wholes(&starts));
        let mut breakdown = ThreadBreakdown::default();
        let mut keys = KeySums::default();
        let mut counted = HashSet::new();
        for (id, ns, record, size) in read {
            let mut bytes = size + self.size_of_writes(thread, &index_key(&ns, &id)).await?;
            for (channel, held) in &record.channels {
                let Some(Held::At(_, row)) = held else { continue };
                // A record that stands by itself names old rows again.
                if !counted.insert(*row) {
                    continue;
                }
                let size = |row: &u64| sizes.get(row).copied().unwrap_or(0);
                let whole = |row: &u64| wholes.get(row).copied().unwrap_or_else(|| size(row));
                let whole: u64 = with_bases(&HashSet::from([*row]), &bases).iter().map(whole).sum();
                keys.add(channel, size(row), whole);
                bytes += size(row);
            }
            breakdown.checkpoints.push(CheckpointUsage {
                ns,
                id,
                step: record.head.step,
                ts: record.head.ts,
                bytes,
            });
        }
        breakdown.keys = keys.sorted();
        Ok(breakdown)
    }

    async fn size_of_writes(&self, thread: &ThreadId, key: &[u8]) -> Result<u64, StorageError> {
        let field = |n: i64| [key, &[0], n.to_string().as_bytes()].concat();
        let mut ask = redis::cmd("HGET");
        ask.arg(self.keys.of("writes", thread)).arg(key);
        let lines = number(self.call(ask, "measuring writes").await?);
        let sizes = (1..=lines).map(|n| {
            let mut ask = redis::cmd("HSTRLEN");
            ask.arg(self.keys.of("writes", thread)).arg(field(n));
            self.call(ask, "measuring writes")
        });
        let sizes = futures::future::try_join_all(sizes).await?;
        Ok(sizes.into_iter().map(|size| number(size) as u64).sum())
    }
}

pub(super) fn rows_of(record: &Record<Held>) -> impl Iterator<Item = u64> + '_ {
    record.channels.values().filter_map(|held| match held {
        Some(Held::At(_, row)) => Some(*row),
        _ => None,
    })
}

pub(super) fn bases(starts: &HashMap<u64, Vec<u8>>) -> HashMap<u64, u64> {
    let base = |(row, text): (&u64, &Vec<u8>)| Some((*row, Start::read(text).ok()?.0.base));
    starts.iter().filter_map(base).collect()
}

fn sizes(starts: &HashMap<u64, Vec<u8>>) -> HashMap<u64, u64> {
    let size = |(row, text): (&u64, &Vec<u8>)| {
        let (_, size) = Start::read(text).ok()?;
        Some((*row, std::str::from_utf8(size).ok()?.parse().ok()?))
    };
    starts.iter().filter_map(size).collect()
}

/// Returns the text lengths of those rows that are compressed.
fn wholes(starts: &HashMap<u64, Vec<u8>>) -> HashMap<u64, u64> {
    let whole = |(row, text): (&u64, &Vec<u8>)| Some((*row, Start::read(text).ok()?.0.whole?));
    starts.iter().filter_map(whole).collect()
}

/// Returns these rows and all that they continue.
pub(super) fn with_bases(rows: &HashSet<u64>, bases: &HashMap<u64, u64>) -> HashSet<u64> {
    let mut all = HashSet::new();
    for row in rows {
        let mut at = *row;
        while let Some(base) = bases.get(&at)
            && all.insert(at)
        {
            at = *base;
        }
    }
    all
}
