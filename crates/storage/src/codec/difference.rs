//! What of a checkpoint is to be stored, given what is known of its parent.

use imbl::OrdMap;
use superstep::{ChannelVersions, Name, Put, VersionsSeen};

/// Changed channels, with the length of the parent's list where a list only grew, and nodes whose entry changed.
pub(crate) type Differences = (Vec<(Name, Option<usize>)>, Vec<Name>);

/// What to store of a checkpoint: what the engine says changed, or, when there is no parent here or the engine's
/// list does not add up, what a comparison finds.
pub(crate) fn differences(put: &Put, parent: Option<(&ChannelVersions, &VersionsSeen)>) -> Differences {
    let checkpoint = &put.checkpoint;
    let Some((parent_versions, parent_seen)) = parent else {
        return (
            checkpoint
                .channel_versions
                .keys()
                .map(|channel| (channel.clone(), None))
                .collect(),
            checkpoint.versions_seen.keys().cloned().collect(),
        );
    };
    let grown = |named: &mut dyn Iterator<Item = (bool, bool)>, before: usize| {
        named.fold(before as i64, |len, (then, now)| {
            len + i64::from(now) - i64::from(then)
        })
    };
    let versions = grown(
        &mut put.changes.iter().map(|change| {
            (
                parent_versions.contains_key(&change.channel),
                checkpoint.channel_versions.contains_key(&change.channel),
            )
        }),
        parent_versions.len(),
    );
    let changes = if versions == checkpoint.channel_versions.len() as i64 {
        put.changes
            .iter()
            .map(|change| (change.channel.clone(), change.appended_from))
            .collect()
    } else {
        different(parent_versions, &checkpoint.channel_versions)
            .map(|channel| (channel, None))
            .collect()
    };
    let entries = grown(
        &mut put.seen.iter().map(|node| {
            (
                parent_seen.contains_key(node),
                checkpoint.versions_seen.contains_key(node),
            )
        }),
        parent_seen.len(),
    );
    let seen = if entries == checkpoint.versions_seen.len() as i64 {
        put.seen.clone()
    } else {
        different(parent_seen, &checkpoint.versions_seen).collect()
    };
    (changes, seen)
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
