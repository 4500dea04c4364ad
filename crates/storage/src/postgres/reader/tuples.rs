//! Puts whole checkpoints together from their rows.

use std::collections::{HashMap, HashSet};

use superstep::checkpoint::{ChannelValues, Checkpoint, CheckpointTuple, PendingWrite, TaskId, Write};
use superstep::{Name, Value};
use tokio_postgres::Row;

use super::states::{Deltas, Items, PostgresState};
use super::{Found, View};
use crate::postgres::fault::PostgresFault;
use crate::postgres::names::Names;
use crate::postgres::parts::Library;

impl View {
    /// Puts checkpoints together; with `keys`, only these values of them.
    pub(super) async fn tuples(
        &mut self,
        found: Vec<Found>,
        chains: &[Row],
        writes: &[Row],
        keys: Option<&[Name]>,
    ) -> Result<Vec<CheckpointTuple>, PostgresFault> {
        let mut deltas = Deltas::read(chains)?;
        let mut names: HashSet<i64> = deltas.names().collect();
        for write in writes {
            names.insert(write.try_get(4)?);
        }
        let known = self.names.clone();
        known.learn(&mut self.session, names).await?;
        let states = states(&found, &mut deltas, &known, keys)?;
        let (spaces, rows, cached) = self.uncached(&found, &states);
        let mut pending: HashMap<i64, Vec<&Row>> = HashMap::new();
        let mut parts = Vec::new();
        for write in writes {
            parts.extend(write.try_get::<_, Option<Vec<i64>>>(5)?.unwrap_or_default());
            pending.entry(write.try_get(0)?).or_default().push(write);
        }
        let (items, parts) = match rows.is_empty() && parts.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => self.last(&spaces, &rows, &parts).await?,
        };
        let (mut items, mut library) = (Items::read(&items)?, Library::read(&parts)?);
        items.values = cached;
        let mut tuples = Vec::with_capacity(found.len());
        for (found, state) in found.into_iter().zip(states) {
            let place = found.place();
            let channel_values = self.channel_values(&state, &mut items, &mut library, &place)?;
            let writes = pending.remove(&found.seq).unwrap_or_default();
            let pending_writes = pending_writes(writes.into_iter(), &known, &mut library, &place)?;
            let head = found.head;
            tuples.push(CheckpointTuple {
                thread: found.thread,
                ns: head.ns,
                checkpoint: Checkpoint {
                    id: head.id,
                    parent: head.parent,
                    ts: head.ts,
                    channel_values,
                    channel_versions: state.versions,
                    versions_seen: state.seen,
                    updated_channels: head.updated_channels,
                    metadata: head.metadata,
                    next: head.next,
                },
                pending_writes,
            });
        }
        Ok(tuples)
    }

    /// Returns the rows of values that must be read, with their spaces, and the values that are known.
    fn uncached(
        &self,
        found: &[Found],
        states: &[PostgresState],
    ) -> (Vec<i64>, Vec<i64>, HashMap<i64, Value>) {
        let (mut spaces, mut rows, mut cached) = (Vec::new(), Vec::new(), HashMap::new());
        for (found, state) in found.iter().zip(states) {
            for row in state.values.values() {
                if cached.contains_key(row) {
                    continue;
                }
                match self.server.cached_value(*row).filter(|_| !self.afresh) {
                    Some(value) => drop(cached.insert(*row, value)),
                    None => {
                        spaces.push(found.space);
                        rows.push(*row);
                    }
                }
            }
        }
        (spaces, rows, cached)
    }

    /// Reads the values of a state and adds them to the cache.
    fn channel_values(
        &self,
        state: &PostgresState,
        items: &mut Items,
        library: &mut Library,
        place: &str,
    ) -> Result<ChannelValues, PostgresFault> {
        let mut values = ChannelValues::new();
        for (channel, row) in &state.values {
            let value = items.value(*row, library).map_err(|cause| {
                PostgresFault::corrupt(format!("Channel {channel} of {}", lower(place)), cause)
            })?;
            if let Some(size) = items.size(*row) {
                self.server.have(*row, None, value.clone(), size);
            }
            values.insert(channel.clone(), value);
        }
        Ok(values)
    }
}

/// Reads the states of checkpoints; with `keys`, only these values of them.
fn states(
    found: &[Found],
    deltas: &mut Deltas,
    known: &Names,
    keys: Option<&[Name]>,
) -> Result<Vec<PostgresState>, PostgresFault> {
    let states = found.iter().map(|found| {
        let state = deltas.state(known, found.space, found.head.id.as_str());
        let mut state = state.map_err(|cause| PostgresFault::corrupt(found.place(), cause))?;
        if let Some(keys) = keys {
            let wanted = state.values.iter().filter(|(key, _)| keys.contains(key));
            state.values = wanted.map(|(key, row)| (key.clone(), *row)).collect();
        }
        Ok(state)
    });
    states.collect()
}

/// Reads the pending writes in these rows.
pub(super) fn pending_writes<'a>(
    rows: impl Iterator<Item = &'a Row>,
    names: &Names,
    library: &mut Library,
    place: &str,
) -> Result<Vec<PendingWrite>, PostgresFault> {
    rows.map(|row| pending_write(row, names, library, place))
        .collect()
}

fn pending_write(
    row: &Row,
    names: &Names,
    library: &mut Library,
    place: &str,
) -> Result<PendingWrite, PostgresFault> {
    let task_id = TaskId::new(row.try_get::<_, &str>(1)?);
    let damaged = |cause: String| {
        PostgresFault::corrupt(format!("The writes of task {task_id} of {}", lower(place)), cause)
    };
    let parts: Option<Vec<i64>> = row.try_get(5)?;
    let value = library.value(row.try_get(6)?, &parts.unwrap_or_default());
    let write = Write {
        idx: row.try_get(3)?,
        channel: names.expect(row.try_get(4)?).map_err(&damaged)?,
        value: value.map_err(&damaged)?,
    };
    Ok(PendingWrite {
        task_path: row.try_get::<_, &str>(2)?.into(),
        write,
        task_id,
    })
}

fn lower(place: &str) -> String {
    place.replacen("Checkpoint", "checkpoint", 1)
}
