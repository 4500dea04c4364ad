//! A task's writes as events, results and reports show them.

use std::collections::BTreeMap;

use crate::base::ids::Name;
use crate::checkpoint::types::reserved::RETURN;
use crate::graph::plan::{NodeIx, Plan, Shown};
use crate::graph::writes::{Channel, Writes};
use crate::value::{List, Object, Value};

/// Writes to state keys as `updates` shows them: an object, single-key objects in a list when a key was written
/// twice, or null.
pub(crate) fn update_view(plan: &Plan, writes: &Writes, shown: &Shown) -> Value {
    if let Some(value) = return_of(writes) {
        return value.clone();
    }
    let visible = || {
        writes.iter().filter_map(|(channel, value)| match channel {
            Channel::Known(index) if shown.has(plan, *index) => Some((*index, value)),
            _ => None,
        })
    };
    if plan.is_root || matches!(shown, Shown::Key(_)) {
        let mut values: Vec<Value> = visible().map(|(_, value)| value.clone()).collect();
        return match values.len() {
            0 | 1 => values.pop().unwrap_or_default(),
            _ => values.into(),
        };
    }
    let mut whole = Object::new();
    let mut list = List::new();
    let mut repeated = false;
    for (index, value) in visible() {
        let name = &plan.channel(index).name;
        repeated |= whole.contains_key(name);
        list.push(Value::Object(
            [(name.clone(), value.clone())].into_iter().collect(),
        ));
        whole.insert(name.clone(), value.clone());
    }
    match (whole.is_empty(), repeated) {
        (true, _) => Value::Null,
        (_, true) => Value::Array(list),
        _ => Value::Object(whole),
    }
}

/// Writes to state keys as results show them: `{"$writes": [...]}` for a key written more than once.
pub(crate) fn result_view(plan: &Plan, writes: &Writes) -> Value {
    if let Some(value) = return_of(writes) {
        return Value::Object([(RETURN, value.clone())].into_iter().collect());
    }
    let mut whole = Object::new();
    let mut counts: BTreeMap<Name, List> = BTreeMap::new();
    for (name, value) in state_writes(plan, writes) {
        let all = counts.entry(name.clone()).or_default();
        all.push(value.clone());
        let shown = match all.len() {
            1 => value.clone(),
            _ => Value::Object([("$writes", Value::Array(all.clone()))].into_iter().collect()),
        };
        whole.insert(name.clone(), shown);
    }
    Value::Object(whole)
}

/// Returns what snapshots show as a finished task's result: the bare value when the state is one value.
pub(crate) fn result_of(plan: &Plan, writes: &Writes) -> Value {
    let result = result_view(plan, writes);
    if plan.is_root {
        return result.get(&plan.channel(0).name).cloned().unwrap_or_default();
    }
    result
}

/// Returns the return value of a call.
pub(crate) fn return_of(writes: &Writes) -> Option<&Value> {
    let is_return = |channel: &Channel| matches!(channel, Channel::Named(name) if &**name == RETURN);
    let found = writes.iter().find(|(channel, _)| is_return(channel));
    found.map(|(_, value)| value)
}

fn state_writes<'a>(plan: &'a Plan, writes: &'a Writes) -> impl Iterator<Item = (&'a Name, &'a Value)> {
    writes.iter().filter_map(|(channel, value)| match channel {
        Channel::Known(index) if plan.is_state_key(*index) => Some((&plan.channel(*index).name, value)),
        _ => None,
    })
}

/// Counts the writes that go to state keys.
pub(crate) fn count_state_writes(plan: &Plan, writes: &Writes) -> u64 {
    state_writes(plan, writes).count() as u64
}

/// Returns the nodes that writes lead to, packets included, each as often as it is named.
pub(crate) fn targets(plan: &Plan, writes: &Writes) -> Vec<Name> {
    let name = |node: NodeIx| plan.node(node).name.clone();
    writes
        .iter()
        .filter_map(|(channel, value)| match channel {
            Channel::Known(index) if *index == plan.tasks_channel => plan
                .node_index
                .get(value.get("node")?.as_str()?)
                .map(|node| name(*node)),
            Channel::Known(index) => {
                let channel = plan.channel(*index);
                channel.branch_target.or(channel.join_target).map(name)
            }
            Channel::Named(_) => None,
        })
        .collect()
}
