//! Which nodes a state leads to.

use smallvec::SmallVec;

use super::Live;
use crate::base::ids::Name;
use crate::graph::plan::{ChannelIx, NodeIx};
use crate::value::{List, Value};

impl Live {
    /// Returns the packets that wait in the queue.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Value> {
        let queue = self.value(self.plan.tasks_channel).and_then(Value::as_array);
        queue.into_iter().flat_map(List::iter)
    }

    /// Returns one of the packets that wait in the queue.
    pub(crate) fn packet(&self, place: usize) -> Option<&Value> {
        self.value(self.plan.tasks_channel)?.at(place)
    }

    /// Returns whether one of the node's triggers holds something that the node has not seen.
    pub(crate) fn triggered(&self, node: NodeIx) -> bool {
        let seen = &self.seen[self.plan.triggers_of(node)];
        let ran = self.ran[node as usize];
        let mut triggers = self.plan.node(node).triggers.iter().zip(seen);
        triggers.any(|(channel, seen)| {
            self.available(*channel) && (!ran || self.versions[*channel as usize] > *seen)
        })
    }

    /// Returns the nodes to run beside the queued packets: those that `updated` triggers, by name; or any, in
    /// declaration order.
    pub(crate) fn triggered_nodes(&self, updated: Option<&[ChannelIx]>) -> SmallVec<[NodeIx; 4]> {
        match updated.filter(|updated| !updated.is_empty()) {
            Some(updated) => {
                let mut nodes: SmallVec<[NodeIx; 4]> = updated
                    .iter()
                    .flat_map(|c| self.plan.channel(*c).subscribers.iter().copied())
                    .collect();
                if nodes.len() > 1 {
                    nodes.sort_by(|a, b| self.plan.node(*a).name.cmp(&self.plan.node(*b).name));
                    nodes.dedup();
                }
                nodes.retain(|node| self.triggered(*node));
                nodes
            }
            None => {
                // Only channels that hold something can trigger; the graph may have many more nodes than that.
                let held = (self.plan.readable_keys..self.plan.channels.len()).map(|c| c as ChannelIx);
                let mut nodes: SmallVec<[NodeIx; 4]> = held
                    .filter(|c| self.value(*c).is_some())
                    .flat_map(|c| self.plan.channel(c).subscribers.iter().copied())
                    .collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes.retain(|node| self.triggered(*node));
                nodes
            }
        }
    }

    /// Names of what runs next: packets, then nodes in declaration order.
    pub(crate) fn next_names(&self, updated: Option<&[ChannelIx]>) -> Vec<Name> {
        let known = |packet: &Value| {
            let name = packet.get("node")?.as_str()?;
            self.plan
                .node_index
                .get(name)
                .map(|node| self.plan.node(*node).name.clone())
        };
        let mut next: Vec<Name> = self.packets().filter_map(known).collect();
        let mut nodes = self.triggered_nodes(updated);
        nodes.sort_unstable();
        next.extend(nodes.into_iter().map(|node| self.plan.node(node).name.clone()));
        next
    }
}
