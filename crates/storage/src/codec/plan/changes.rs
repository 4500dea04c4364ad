//! What of a checkpoint has changed, given what is known of its parent.

use imbl::OrdMap;
use superstep::{ChannelVersions, Name, NameMap, Put, Value, VersionsSeen};

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

/// What changed between a checkpoint and its parent.
pub(crate) struct Changes<'p> {
    pub(crate) channels: Vec<Change<'p>>,
    /// Nodes whose entry changed; `None`: the entry is gone.
    pub(crate) seen: Vec<(Name, Option<&'p ChannelVersions>)>,
}

impl<'p> Changes<'p> {
    /// What to store of a checkpoint: what the engine says changed, or, when there is no parent here or the engine's
    /// list does not add up, what a comparison finds.
    pub(crate) fn of(put: &'p Put, parent: Option<(&ChannelVersions, &VersionsSeen)>) -> Self {
        let checkpoint = &put.checkpoint;
        let (versions, entries) = (&checkpoint.channel_versions, &checkpoint.versions_seen);
        let change = |channel: Name, appended_from: Option<usize>| {
            let version = versions.get(&channel).copied();
            let value = version.and_then(|_| checkpoint.channel_values.get(&channel));
            Change {
                channel,
                version,
                value,
                appended_from,
            }
        };
        let (channels, nodes) = match parent {
            None => (
                versions.keys().map(|name| change(name.clone(), None)).collect(),
                entries.keys().cloned().collect(),
            ),
            Some((versions_before, seen)) => {
                let named = put.changes.iter().map(|change| &change.channel);
                let channels = if adds_up(named, versions_before, versions) {
                    let named = put.changes.iter();
                    named
                        .map(|named| change(named.channel.clone(), named.appended_from))
                        .collect()
                } else {
                    different(versions_before, versions)
                        .map(|name| change(name, None))
                        .collect()
                };
                let nodes = if adds_up(put.seen.iter(), seen, entries) {
                    put.seen.clone()
                } else {
                    different(seen, entries).collect()
                };
                (channels, nodes)
            }
        };
        let seen = nodes.into_iter().map(|node| {
            let entry = entries.get(&node);
            (node, entry)
        });
        Self {
            channels,
            seen: seen.collect(),
        }
    }
}

/// True when the keys that are named account for the difference in number.
fn adds_up<'a, V: Clone>(
    mut named: impl Iterator<Item = &'a Name>,
    before: &NameMap<V>,
    now: &NameMap<V>,
) -> bool {
    let len = |map: &NameMap<V>| map.len() as i64;
    let grown = named.try_fold(len(before), |len, key| {
        Some(len + i64::from(now.contains_key(key)) - i64::from(before.contains_key(key)))
    });
    grown == Some(len(now))
}

fn different<'a, V: Clone + PartialEq>(
    before: &'a OrdMap<Name, V>,
    now: &'a OrdMap<Name, V>,
) -> impl Iterator<Item = Name> + 'a {
    let gone = before.keys().filter(move |key| !now.contains_key(*key));
    let new = now
        .iter()
        .filter(move |(key, value)| before.get(*key) != Some(*value))
        .map(|(key, _)| key);
    gone.chain(new).cloned()
}
