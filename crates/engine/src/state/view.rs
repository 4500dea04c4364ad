//! What nodes and routers see of the state.

use smallvec::SmallVec;

use crate::channel::refusal;
use crate::graph::node::NodeError;
use crate::graph::plan::{ChannelIx, Plan};
use crate::graph::writes::{Channel, Writes};
use crate::value::{Object, Value};

/// Returns what the given keys hold, as an object; the bare value when the whole state is one.
pub(crate) fn view(plan: &Plan, state: &[Option<Value>], keys: impl IntoIterator<Item = ChannelIx>) -> Value {
    view_of(plan, |index| state[index as usize].as_ref(), keys)
}

/// Returns what a node with these input keys is given; without keys, what nodes see by default.
pub(crate) fn input_view(plan: &Plan, state: &[Option<Value>], keys: Option<&[ChannelIx]>) -> Value {
    input_view_of(plan, |index| state[index as usize].as_ref(), keys)
}

fn view_of<'a>(
    plan: &Plan,
    held: impl Fn(ChannelIx) -> Option<&'a Value>,
    keys: impl IntoIterator<Item = ChannelIx>,
) -> Value {
    if plan.is_root {
        return held(0).cloned().unwrap_or_default();
    }
    let entry = |index: ChannelIx| {
        let channel = &plan.channels[index as usize];
        let value = held(index).filter(|value| channel.spec.kind.available(Some(value)))?;
        Some((channel.name.clone(), value.clone()))
    };
    Value::Object(keys.into_iter().filter_map(entry).collect())
}

fn input_view_of<'a>(
    plan: &Plan,
    held: impl Fn(ChannelIx) -> Option<&'a Value>,
    keys: Option<&[ChannelIx]>,
) -> Value {
    match keys.or(plan.node_keys.as_deref()) {
        Some(keys) => view_of(plan, held, keys.iter().copied()),
        None => view_of(plan, held, 0..plan.state_keys as ChannelIx),
    }
}

/// Returns the state before the step with this task's own writes applied: what its routers see. `below` is what the
/// node returned; where the state has a key, the state's value is seen. Only what was written is rebuilt.
pub(crate) fn router_view(
    plan: &Plan,
    state: &[Option<Value>],
    writes: &Writes,
    writer: &str,
    below: Option<&Object>,
    keys: Option<&[ChannelIx]>,
) -> Result<Value, NodeError> {
    let mut own: SmallVec<[(ChannelIx, &Value); 8]> = SmallVec::new();
    for (channel, value) in writes {
        if let Channel::Known(index) = channel
            && plan.is_state_key(*index)
        {
            own.push((*index, value));
        }
    }
    // Stable: the writes of one key keep their order.
    own.sort_by_key(|(index, _)| *index);
    let mut fresh: SmallVec<[(ChannelIx, Option<Value>); 4]> = SmallVec::new();
    for writes in own.chunk_by(|(a, _), (b, _)| a == b) {
        let index = writes[0].0;
        let channel = plan.channel(index);
        let values: SmallVec<[&Value; 4]> = writes.iter().map(|(_, value)| *value).collect();
        let mut value = state[index as usize].clone();
        let updated = channel.spec.kind.update(&mut value, &values);
        updated.map_err(|why| {
            NodeError::new("InvalidUpdateError", refusal(&channel.name, &why, vec![writer]))
        })?;
        fresh.push((index, value));
    }
    let held = |index: ChannelIx| match fresh.binary_search_by_key(&index, |(written, _)| *written) {
        Ok(place) => fresh[place].1.as_ref(),
        Err(_) => state[index as usize].as_ref(),
    };
    Ok(match (input_view_of(plan, held, keys), below) {
        // What the node returned comes first. Often it does already.
        (Value::Object(view), Some(below)) if !below.keys().eq(view.keys().take(below.len())) => {
            let beside = view.iter().filter(|(key, _)| !below.contains_key(key));
            let seen = below
                .iter()
                .map(|(key, value)| (key, view.get(key).unwrap_or(value)));
            let seen = seen.chain(beside);
            Value::Object(seen.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        (view, _) => view,
    })
}
