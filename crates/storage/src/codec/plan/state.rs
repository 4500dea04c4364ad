//! States of checkpoints: versions, what nodes have seen, and where values are.

use std::sync::Arc;

use superstep::{ChannelVersions, Name, NameMap, VersionsSeen};

use crate::codec::record::Delta;

/// Most deltas between two snapshots of versions, unless the graph is so wide that a snapshot is long itself.
const SNAPSHOT_EVERY: i64 = 64;

/// Location of a channel's value.
pub(crate) trait StoredSlot: Clone {
    /// Returns the row that contains the value; 0 if its text is in the delta.
    fn row(&self) -> i64;

    /// Returns the value's JSON text, if that is in the delta.
    fn text(&self) -> Option<&Arc<[u8]>> {
        None
    }

    /// Returns the bytes that the value's text takes in a delta.
    fn text_bytes(&self) -> i64 {
        self.text().map_or(0, |text| text.len() as i64)
    }
}

impl StoredSlot for i64 {
    fn row(&self) -> i64 {
        *self
    }
}

/// The state of a checkpoint, with a slot for each value.
#[derive(Clone, Debug)]
pub(crate) struct ChannelState<S: Clone> {
    pub(crate) versions: ChannelVersions,
    pub(crate) values: NameMap<S>,
    pub(crate) seen: VersionsSeen,
}

impl<S: Clone> Default for ChannelState<S> {
    fn default() -> Self {
        Self {
            versions: NameMap::new(),
            values: NameMap::new(),
            seen: NameMap::new(),
        }
    }
}

impl<S: Clone> ChannelState<S> {
    /// Gives a channel another version and value.
    pub(crate) fn set(&mut self, channel: Name, version: Option<u64>, value: Option<S>) {
        match version {
            Some(version) => self.versions.insert(channel.clone(), version),
            None => self.versions.remove(&channel),
        };
        match value {
            Some(value) => self.values.insert(channel, value),
            None => self.values.remove(&channel),
        };
    }

    /// Gives a node another entry.
    pub(crate) fn see(&mut self, node: Name, entry: Option<ChannelVersions>) {
        match entry {
            Some(entry) => self.seen.insert(node, entry),
            None => self.seen.remove(&node),
        };
    }

    /// Applies a delta. `slot` makes the slot of a row and a text; `None` when there is neither.
    pub(crate) fn apply<E>(
        &mut self,
        delta: &Delta,
        mut name: impl FnMut(i64) -> Result<Name, E>,
        slot: impl Fn(i64, Option<&Arc<[u8]>>) -> Option<S>,
    ) -> Result<(), E> {
        for (row, version, item) in &delta.channels {
            self.set(name(*row)?, *version, slot(*item, delta.texts.get(row)));
        }
        for (node, versions) in &delta.seen {
            let node = name(*node)?;
            let entry = versions.as_ref().map(|versions| {
                let versions = versions.iter();
                versions
                    .map(|(channel, version)| Ok((name(*channel)?, *version)))
                    .collect::<Result<_, E>>()
            });
            self.see(node, entry.transpose()?);
        }
        Ok(())
    }

    /// Returns whether a checkpoint of this state is to be stored as a snapshot. `depth` and `weight` are the number
    /// and bytes of the deltas since the last one, including this one, `texts` the bytes of the values that it would
    /// repeat.
    ///
    /// A snapshot is due when it costs little against the deltas since the last one, and at the latest after as many as
    /// take longer to read than a snapshot: more in a wide graph, so that a snapshot's share of each commit does not
    /// grow with the graph.
    pub(crate) fn snapshot_due(&self, depth: i64, weight: i64, texts: i64) -> bool {
        let (channels, nodes) = (self.versions.len(), self.seen.len());
        let snapshot = (6 * channels + 8 * nodes) as i64 + texts;
        depth >= SNAPSHOT_EVERY.max((channels + nodes) as i64 / 8) || weight > 3 * snapshot
    }
}

impl<S: StoredSlot> ChannelState<S> {
    /// Converts the state to a delta that needs no other.
    pub(crate) fn snapshot<E>(&self, mut name: impl FnMut(&Name) -> Result<i64, E>) -> Result<Delta, E> {
        let mut delta = Delta::default();
        for (channel, version) in &self.versions {
            add_channel(
                &mut delta,
                name(channel)?,
                Some(*version),
                self.values.get(channel),
            );
        }
        for (node, versions) in &self.seen {
            add_seen(&mut delta, node, Some(versions), &mut name)?;
        }
        Ok(delta)
    }
}

/// Adds a channel to a delta, with its text where that is not in a row.
pub(super) fn add_channel<S: StoredSlot>(
    delta: &mut Delta,
    name: i64,
    version: Option<u64>,
    slot: Option<&S>,
) {
    if let Some(text) = slot.and_then(StoredSlot::text) {
        delta.texts.insert(name, text.clone());
    }
    delta
        .channels
        .push((name, version, slot.map_or(0, StoredSlot::row)));
}

/// Adds what a node has seen to a delta.
pub(super) fn add_seen<E>(
    delta: &mut Delta,
    node: &Name,
    versions: Option<&ChannelVersions>,
    mut name: impl FnMut(&Name) -> Result<i64, E>,
) -> Result<(), E> {
    let entry = versions.map(|versions| {
        let versions = versions.iter();
        versions
            .map(|(channel, version)| Ok((name(channel)?, *version)))
            .collect::<Result<_, E>>()
    });
    let entry = entry.transpose()?;
    delta.seen.push((name(node)?, entry));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(channels: usize, nodes: usize) -> ChannelState<i64> {
        let mut state = ChannelState::default();
        for n in 0..channels {
            state.set(format!("channel {n}").into(), Some(1), Some(1));
        }
        for n in 0..nodes {
            state.see(format!("node {n}").into(), Some(ChannelVersions::new()));
        }
        state
    }

    #[test]
    fn snapshots_are_rarer_in_wide_graphs_and_never_cost_much() {
        for (channels, nodes, every) in [(0, 0, 64), (10, 10, 64), (640, 640, 160), (1000, 24, 128)] {
            let state = wide(channels, nodes);
            assert!(!state.snapshot_due(every - 1, 0, 0), "{channels} {nodes}");
            assert!(state.snapshot_due(every, 0, 0), "{channels} {nodes}");
        }
        let state = wide(10, 10);
        assert!(
            !state.snapshot_due(1, 3 * 140, 0),
            "the deltas are not yet three times as long"
        );
        assert!(state.snapshot_due(1, 3 * 140 + 1, 0));
        assert!(
            !state.snapshot_due(1, 3 * 140 + 1, 1000),
            "it would repeat long values"
        );
    }
}
