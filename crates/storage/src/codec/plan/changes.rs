//! What of a checkpoint has changed, given what is known of its parent.

use superstep::checkpoint::{ChannelVersions, NameMap, Put, VersionsSeen};
use superstep::{Name, Value};

/// A channel that changed.
pub(crate) struct Change<'p> {
    pub(crate) channel: Name,
    /// `None`: the channel is gone.
    pub(crate) version: Option<u64>,
    /// `None`: it has no value. A value without a version cannot be addressed and is not stored.
    pub(crate) value: Option<&'p Value>,
    /// Length of the parent's list, where the list only grew.
    pub(crate) appended_from: Option<usize>,
}

/// Changes between a checkpoint and its parent.
pub(crate) struct Changes<'p> {
    pub(crate) channels: Vec<Change<'p>>,
    /// Nodes whose entry changed; `None`: the entry is gone.
    pub(crate) seen: Vec<(Name, Option<&'p ChannelVersions>)>,
}

impl<'p> Changes<'p> {
    /// Determines what to store of a checkpoint: the changes that the engine lists, or, if there is no parent here or
    /// the engine's list does not add up, those that a comparison finds.
    pub(crate) fn of(put: &'p Put, parent: Option<(&ChannelVersions, &VersionsSeen)>) -> Self {
        let checkpoint = &put.checkpoint;
        let (versions, entries) = (&checkpoint.channel_versions, &checkpoint.versions_seen);
        let (versions_before, entries_before) = parent.unzip();
        let named = put.changes.iter();
        let named = named.map(|change| (change.channel.clone(), change.appended_from));
        let channels = changed(named, versions_before, versions).into_iter();
        let named = put.seen.iter().map(|node| (node.clone(), None));
        let nodes = changed(named, entries_before, entries).into_iter();
        Self {
            channels: channels
                .map(|(channel, appended_from)| {
                    let version = versions.get(&channel).copied();
                    Change {
                        value: version.and_then(|_| checkpoint.channel_values.get(&channel)),
                        channel,
                        version,
                        appended_from,
                    }
                })
                .collect(),
            seen: nodes
                .map(|(node, _)| {
                    let entry = entries.get(&node);
                    (node, entry)
                })
                .collect(),
        }
    }
}

/// Returns the names that are given, if they account for the difference in number; otherwise those that a comparison
/// finds.
fn changed<V: Clone + PartialEq>(
    named: impl Iterator<Item = (Name, Option<usize>)>,
    before: Option<&NameMap<V>>,
    now: &NameMap<V>,
) -> Vec<(Name, Option<usize>)> {
    let Some(before) = before else {
        return now.iter().map(|(name, _)| (name.clone(), None)).collect();
    };
    let named: Vec<_> = named.collect();
    let grown = named.iter().fold(before.len() as i64, |len, (name, _)| {
        len + i64::from(now.contains_key(name)) - i64::from(before.contains_key(name))
    });
    if grown == now.len() as i64 {
        return named;
    }
    let gone = before.iter().filter(|(name, _)| !now.contains_key(name));
    let new = now
        .iter()
        .filter(|(name, value)| before.get(name) != Some(*value));
    gone.chain(new).map(|(name, _)| (name.clone(), None)).collect()
}
