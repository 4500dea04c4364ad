//! Works out what a commit is as arguments of the script: what changed, in which rows, on top of what.
//!
//! Whether a record changes its parent's or holds everything is the planner's decision ([`DeltaChain`]), but for the weight
//! of a chain, which counts nothing here. A record is text and carries the head of its checkpoint: a change has 336 bytes,
//! and all of it 382 in a graph of 3 channels and nodes, 1,292 in one of 20 and 5,772 in one of 100. By the weight that a
//! row's delta may have, every record of the first would be whole, every third of the second and every thirteenth of the
//! third: a step would take up to twice the bytes, and reading gains nothing, because a script reads a whole chain in one
//! call. (A test below holds these figures.)
//!
//! [`DeltaChain`]: crate::codec::plan::DeltaChain

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use imbl::OrdMap;
use superstep::checkpoint::{Commit, Put, StorageError};
use superstep::{CheckpointId, Name, ThreadId, Value};

use super::{KnownRows, NUMBERS, Writer};
use crate::codec::compression::compressed;
use crate::codec::plain::{Head, Record, Task, readable, seen_of};
use crate::codec::plan::ChannelState;
use crate::redis::reader::{corrupt, flags_of, state_at};
use crate::redis::server::{number, place};
use crate::redis::state::{Grown, Held, Start, continued, record_text, row};

impl Writer {
    /// Builds the arguments of the script for a commit, with what it shows of its `claim`.
    pub(super) async fn arguments(
        &mut self,
        commit: &Commit,
        claim: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, StorageError> {
        let Commit {
            thread,
            ns,
            writes,
            put,
            ..
        } = commit;
        let words = |word: &str| word.as_bytes().to_vec();
        let mut arguments = vec![words(ns)];
        arguments.extend(claim);
        let known = |put: &&Put| {
            let thread = self.threads.get(thread);
            let key = (ns.clone(), put.checkpoint.id.clone());
            !thread.is_some_and(|thread| thread.checkpoints.contains_key(&key))
        };
        match put.as_ref().filter(known) {
            Some(put) => {
                arguments.push(words("1"));
                self.put(thread, ns, put, &mut arguments).await?;
            }
            None => arguments.push(words("0")),
        }
        arguments.push(words(&writes.len().to_string()));
        for task in writes {
            readable(task.writes.iter().map(|write| &write.value), thread)?;
            let flags = flags_of(&task.task_id, task.writes.iter().map(|write| &*write.channel));
            arguments.push(words(task.checkpoint_id.as_str()));
            arguments.push(words(task.task_id.as_str()));
            arguments.push(words(&flags.to_string()));
            let text =
                serde_json::to_vec(&Task::of(task)).map_err(|error| unwritable(thread, error.to_string()))?;
            arguments.push(compressed(text));
        }
        Ok(arguments)
    }

    async fn put(
        &mut self,
        thread: &ThreadId,
        ns: &Name,
        put: &Put,
        arguments: &mut Vec<Vec<u8>>,
    ) -> Result<(), StorageError> {
        let checkpoint = &put.checkpoint;
        let parent = match &checkpoint.parent {
            Some(id) if self.standing.is_none() => self.known(thread, ns, id).await?,
            _ => None,
        };
        let grown = self.grown(thread, put, parent.as_deref()).await?;
        self.reserve(checkpoint.channel_versions.len() + 1).await?;
        let mut next = match &parent {
            Some(parent) => KnownRows::clone(parent),
            None => KnownRows::default(),
        };
        let mut rows = Vec::new();
        let before = parent
            .as_ref()
            .map(|parent| (&parent.at.state.versions, &parent.at.state.seen));
        let numbers = &mut self.numbers;
        let record = Record::of(put, before, |channel, version, value, from| {
            let Some(value) = value else {
                return Ok(Held::Empty(version));
            };
            let number = numbers.next().unwrap_or_default();
            let from = from.and_then(|from| {
                let (row, grown) = grown.get(channel)?;
                Some((from, *row, *grown))
            });
            // What is stored was looked at when it came: a turn must not cost what the whole conversation does.
            match continued(value, from) {
                Some((list, (from, ..))) => readable([&Value::Array(list.skip(from))], thread)?,
                None => readable([value], thread)?,
            }
            let (text, start) = row(number, value, from).map_err(|cause| unwritable(thread, cause))?;
            rows.push((number, text));
            match start.grown {
                Some(grown) => next.grown.insert(channel.clone(), (number, grown)),
                None => next.grown.remove(channel),
            };
            Ok::<_, StorageError>(Held::At(version, number))
        })?;
        record.head.readable(thread)?;
        let (text, continues) = next.apply(record).map_err(|cause| unwritable(thread, cause))?;
        let base = continues.then_some(checkpoint.parent.as_ref()).flatten();
        let words = |word: &str| word.as_bytes().to_vec();
        arguments.extend([
            words(checkpoint.id.as_str()),
            words(if base.is_some() { "1" } else { "0" }),
            words(base.map_or("", |base| base.as_str())),
            text,
            place(&checkpoint.id, thread),
            words(&checkpoint.ts),
            words(&rows.len().to_string()),
        ]);
        arguments.extend(
            rows.into_iter()
                .flat_map(|(number, text)| [number.to_string().into_bytes(), text]),
        );
        self.remember(thread, ns, &checkpoint.id, Arc::new(next));
        Ok(())
    }

    /// Returns a stored checkpoint, from memory or from the server.
    async fn known(
        &mut self,
        thread: &ThreadId,
        ns: &Name,
        id: &CheckpointId,
    ) -> Result<Option<Arc<KnownRows>>, StorageError> {
        let key = (ns.clone(), id.clone());
        let cached = self
            .threads
            .get(thread)
            .and_then(|thread| thread.checkpoints.get(&key));
        if let Some(known) = cached {
            return Ok(Some(known.clone()));
        }
        let read = self.server.fetch_one(thread, ns, Some(id)).await?;
        let Some(key) = read.there.first() else {
            return Ok(None);
        };
        let (.., at) = state_at(thread, key, &read)?;
        let known = Arc::new(KnownRows {
            at,
            grown: OrdMap::new(),
        });
        let epoch = self.threads.get(thread).map(|thread| &thread.epoch);
        if epoch.is_some_and(|epoch| !epoch.is_empty() && *epoch != read.epoch) {
            // Somebody has deleted or pruned the thread: what is known of it is no more.
            self.mixed = true;
            self.forget(thread);
        }
        self.threads.entry(thread.clone()).or_default().epoch = read.epoch;
        self.remember(thread, ns, id, known.clone());
        Ok(Some(known))
    }

    fn remember(&mut self, thread: &ThreadId, ns: &Name, id: &CheckpointId, known: Arc<KnownRows>) {
        let entry = self.threads.entry(thread.clone()).or_default();
        if entry
            .checkpoints
            .insert((ns.clone(), id.clone()), known)
            .is_none()
        {
            self.known += 1;
        }
    }

    /// Returns how the lists that grow have grown so far.
    async fn grown(
        &self,
        thread: &ThreadId,
        put: &Put,
        parent: Option<&KnownRows>,
    ) -> Result<HashMap<Name, (u64, Grown)>, StorageError> {
        let Some(parent) = parent else {
            return Ok(HashMap::new());
        };
        let (mut found, mut unknown) = (HashMap::new(), HashMap::new());
        let growing = put.changes.iter().filter(|change| change.appended_from.is_some());
        for channel in growing.map(|change| &change.channel) {
            let Some(row) = parent.at.state.values.get(channel) else {
                continue;
            };
            match parent.grown.get(channel).filter(|(known, _)| known == row) {
                Some(known) => {
                    found.insert(channel.clone(), *known);
                }
                None => {
                    unknown.insert(*row, channel.clone());
                }
            }
        }
        if !unknown.is_empty() {
            for (row, text) in self.server.rows(thread, unknown.keys().copied(), "first").await? {
                let (start, _) =
                    Start::read(&text).map_err(|cause| corrupt(thread, &put.checkpoint.id, cause))?;
                if let (Some(channel), Some(grown)) = (unknown.get(&row), start.grown) {
                    found.insert(channel.clone(), (row, grown));
                }
            }
        }
        Ok(found)
    }

    /// Makes sure that there are this many numbers for rows.
    async fn reserve(&mut self, count: usize) -> Result<(), StorageError> {
        if self.numbers.end - self.numbers.start >= count as u64 {
            return Ok(());
        }
        let count = NUMBERS.max(count as u64);
        let mut ask = redis::cmd("INCRBY");
        ask.arg(self.server.keys.of_all("numbers")).arg(count);
        let last = number(self.server.call(ask, "reserving numbers").await?) as u64;
        self.numbers = last + 1 - count..last + 1;
        Ok(())
    }
}

/// Weight of a record in its chain: none, so that only their number ends it (see the head of this module).
const NO_WEIGHT: usize = 0;

impl KnownRows {
    /// Goes on to the state after a record: its text, and whether it says what changed or all that the state holds.
    fn apply(&mut self, record: Record<Held>) -> Result<(Vec<u8>, bool), String> {
        let text = record_text(&record)?;
        let continues = record.continues;
        let head = self.at.change(record);
        let longer = self.at.changes.with(NO_WEIGHT, &self.at.state, 0);
        let longer = longer.filter(|_| continues);
        self.at.changes = longer.unwrap_or_default();
        match (continues, longer) {
            (true, None) => Ok((standing(head, &self.at.state)?, false)),
            (_, longer) => Ok((text, longer.is_some())),
        }
    }
}

/// Returns all that a state holds.
fn everything(state: &ChannelState<u64>) -> BTreeMap<Name, Option<Held>> {
    let held = |(channel, version): (&Name, &u64)| {
        let held = match state.values.get(channel) {
            Some(row) => Held::At(*version, *row),
            None => Held::Empty(*version),
        };
        (channel.clone(), Some(held))
    };
    state.versions.iter().map(held).collect()
}

/// Builds the record of a checkpoint that does not build on another.
pub(in crate::redis) fn standing(head: Head, state: &ChannelState<u64>) -> Result<Vec<u8>, String> {
    let seen = state.seen.iter();
    record_text(&Record {
        head,
        continues: false,
        channels: everything(state),
        seen: seen
            .map(|(node, seen)| (node.clone(), Some(seen_of(seen))))
            .collect(),
    })
}

fn unwritable(thread: &ThreadId, cause: String) -> StorageError {
    StorageError::Backend {
        what: format!("storing a checkpoint of thread {thread}"),
        cause,
        remedy: "Write a value that JSON can express".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use superstep::checkpoint::Source;
    use superstep::value::Object;

    use super::*;
    use crate::codec::plan::DeltaChain;
    use crate::redis::state::Resolved;

    /// Returns the state after a record of all of a graph with as many channels as nodes, and the bytes of that record and
    /// of one that changes a channel and a node.
    fn records(channels: u64) -> (ChannelState<u64>, usize, usize) {
        let head = Head {
            id: "1f0c7a3e-6b1e-6d2a-8001-52a9b7f0c1d2".into(),
            parent: Some("1f0c7a3e-6b1d-6f10-8000-52a9b7f0c1d2".into()),
            ts: "2026-11-22T10:00:00.000000+00:00".to_owned(),
            source: Source::Loop,
            step: 1,
            parents: Object::new(),
            user: Object::new(),
            next: vec!["node_1".into()],
            updated: Some(vec!["channel_0".into()]),
        };
        let name = |n: u64| Name::from(format!("channel_{n}"));
        let seen = |n: u64| -> BTreeMap<Name, u64> { [(name(n), n)].into() };
        let change = Record {
            head,
            continues: true,
            channels: [(name(0), Some(Held::At(9, 9)))].into(),
            seen: [(Name::from("node_0"), Some(seen(0)))].into(),
        };
        let whole = Record {
            continues: false,
            channels: (0..channels).map(|n| (name(n), Some(Held::At(n, n)))).collect(),
            seen: (0..channels)
                .map(|n| (format!("node_{n}").into(), Some(seen(n))))
                .collect(),
            ..change.clone()
        };
        let bytes = |record| record_text(record).expect("a record").len();
        let (of_whole, of_change) = (bytes(&whole), bytes(&change));
        let mut resolved = Resolved::default();
        resolved.change(whole);
        (resolved.state, of_whole, of_change)
    }

    #[test]
    fn a_record_weighs_more_than_a_row_s_delta() {
        for (channels, sizes, deltas) in [(3, (382, 336), 0), (20, (1292, 336), 2), (100, (5772, 336), 12)] {
            let (state, whole, change) = records(channels);
            assert_eq!((whole, change), sizes, "{channels} channels and nodes");
            let longest = |weight| {
                let chains =
                    std::iter::successors(Some(DeltaChain::default()), |chain| chain.with(weight, &state, 0));
                chains.count() - 1
            };
            assert_eq!(longest(change), deltas, "with its weight");
            assert_eq!(longest(NO_WEIGHT), 63, "by number");
        }
    }
}
