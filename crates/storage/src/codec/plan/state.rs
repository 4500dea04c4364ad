//! States of checkpoints: versions, what nodes have seen, and where values are.

use std::sync::Arc;

use superstep::Name;
use superstep::checkpoint::{ChannelVersions, NameMap, VersionsSeen};

use crate::codec::record::Delta;

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
