//! What tasks write, and how it is stored.

use crate::base::ids::Name;
use crate::channel::Kind;
use crate::checkpoint::types::{Write, write_index};
use crate::graph::plan::{ChannelIx, Plan};
use crate::value::Value;

/// The channel that a write goes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Channel {
    Known(ChannelIx),
    /// Control channels, and channels the graph does not have.
    Named(Name),
}

impl Channel {
    pub(crate) fn known(&self) -> Option<ChannelIx> {
        match self {
            Channel::Known(index) => Some(*index),
            Channel::Named(_) => None,
        }
    }
}

pub(crate) type Writes = Vec<(Channel, Value)>;

/// Returns whether the value itself is part of every checkpoint.
pub(crate) fn is_kept(kind: &Kind) -> bool {
    kind.is_stored() && !matches!(kind, Kind::Delta(_))
}

/// Returns the channel of a stored write.
pub(crate) fn resolve(plan: &Plan, name: &Name) -> Channel {
    match plan.channel_named(name) {
        Some(index) => Channel::Known(index),
        None => Channel::Named(name.clone()),
    }
}

/// Returns the name of a write's channel.
fn channel_name(plan: &Plan, channel: &Channel) -> Name {
    match channel {
        Channel::Known(index) => plan.channel(*index).name.clone(),
        Channel::Named(name) => name.clone(),
    }
}

/// Writes by the names of their channels, the first at `from` in its task's list. What is untracked is among them.
pub(crate) fn named_writes<'a>(
    plan: &Plan,
    from: usize,
    writes: impl IntoIterator<Item = &'a (Channel, Value)>,
) -> Vec<Write> {
    let named = |(position, (channel, value)): (usize, &(Channel, Value))| {
        let channel = channel_name(plan, channel);
        Write {
            idx: write_index(&channel, from + position),
            channel,
            value: value.clone(),
        }
    };
    writes.into_iter().enumerate().map(named).collect()
}

/// Converts writes into the form in which they are stored. Untracked values are left out.
pub(crate) fn stored_writes<'a>(
    plan: &Plan,
    from: usize,
    writes: impl IntoIterator<Item = &'a (Channel, Value)>,
) -> Vec<Write> {
    let is_stored = |channel: &Channel| match channel {
        Channel::Known(index) => plan.channel(*index).spec.kind.is_stored(),
        Channel::Named(_) => true,
    };
    if !plan.has_untracked {
        return named_writes(plan, from, writes);
    }
    let kept = |(channel, value): &(Channel, Value)| {
        let value = match *channel == Channel::Known(plan.tasks_channel) {
            true => plan.without_untracked(value),
            false => value.clone(),
        };
        is_stored(channel).then(|| (channel.clone(), value))
    };
    let kept: Writes = writes.into_iter().filter_map(kept).collect();
    named_writes(plan, from, &kept)
}
