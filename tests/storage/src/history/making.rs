//! Checkpoints made as the engine makes them, with a true word on what changed, and sometimes a wrong one.

use std::collections::BTreeSet;

use superstep::checkpoint::{Checkpoint, Put};
use superstep::{Name, Value};
use superstep_suites::Draft;

use super::names::{channel, node, run_name};
use super::operations::Edit;

/// Builds a checkpoint to store, with its changes against its parent.
pub(super) fn put_of(parent: Option<&Checkpoint>, checkpoint: Checkpoint, edits: &[Edit]) -> Put {
    let versions = |of: Option<&Checkpoint>| of.map(|of| of.channel_versions.clone()).unwrap_or_default();
    let (old, new) = (versions(parent), versions(Some(&checkpoint)));
    let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
    let changes = names.into_iter().filter(|name| old.get(name) != new.get(name)).map(|name| {
        let list = |of: &Checkpoint| of.channel_values.get(name).and_then(Value::as_array).cloned();
        let grown = parent.and_then(list).zip(list(&checkpoint));
        let from = grown.filter(|(old, new)| new.take(old.len()) == *old).map(|(old, _)| old.len());
        let about = |edit: &&Edit| matches!(edit, Edit::AppendWithoutLength(c, _) | Edit::AppendWrongLength(c, _, _) if channel(*c) == &**name);
        let appended_from = match edits.iter().rev().find(about) {
            Some(Edit::AppendWithoutLength(..)) => None,
            // The right length of a list that is not continued would be a lie that nobody can notice.
            Some(Edit::AppendWrongLength(_, _, n)) if parent.and_then(list).is_none_or(|old| old.len() != *n) => Some(*n),
            _ => from,
        };
        superstep::checkpoint::Change {
            channel: name.clone(),
            appended_from,
        }
    });
    let seen = |of: Option<&Checkpoint>| of.map(|of| of.versions_seen.clone()).unwrap_or_default();
    let (old, new) = (seen(parent), seen(Some(&checkpoint)));
    Put {
        changes: changes.collect(),
        seen: new
            .iter()
            .filter(|(node, seen)| old.get(node) != Some(seen))
            .map(|(node, _)| node.clone())
            .collect(),
        checkpoint,
    }
}

pub(super) fn apply(draft: Draft, edit: &Edit) -> Draft {
    match edit {
        Edit::Set(c, value) => draft.set(channel(*c), value.clone()),
        Edit::Append(c, items)
        | Edit::AppendWithoutLength(c, items)
        | Edit::AppendWrongLength(c, items, _) => draft.append(channel(*c), items.clone()),
        Edit::Clear(c) => draft.clear(channel(*c)),
        Edit::Forget(c) => draft.forget(channel(*c)),
        Edit::Sees(n, a, b) => draft.sees(node(*n), &[channel(*a), channel(*b)]),
        Edit::Meta(key, value) => draft.meta(&format!("key {key}"), value.clone()),
        Edit::Run(n) => draft.meta("run_id", run_name(*n)),
        Edit::Next(nodes, known) => draft.with(|checkpoint| {
            checkpoint.next = nodes.iter().map(|n| node(*n).into()).collect();
            if !known {
                checkpoint.updated_channels = None;
            }
        }),
        Edit::Parents(value) => draft.with(|checkpoint| {
            checkpoint.metadata.parents = [("around", value.clone())].into_iter().collect();
        }),
    }
}
