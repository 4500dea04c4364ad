//! Where nodes lead: every declared way from one node to the next, in one list for drawings and for the analysis.

use crate::base::ids::Name;
use crate::checkpoint::types::reserved::END;
use crate::graph::plan::{ChannelIx, NodeIx, Plan};

/// Connection by which a node leads to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ConnectionKind {
    /// An edge: always.
    Edge,
    /// A join: when the other nodes of it have run too. The channel identifies the join.
    Join(ChannelIx),
    /// A conditional edge, by its position among those of the node, with its label; None where no label fits.
    Branch(usize, Option<Name>),
    /// A command that the node may return.
    Command,
}

/// One way out of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Connection {
    pub(crate) from: NodeIx,
    /// None for END.
    pub(crate) to: Option<NodeIx>,
    pub(crate) way: ConnectionKind,
}

impl Plan {
    /// Returns every declared connection, by node, in a fixed order.
    pub(crate) fn links(&self) -> Vec<Connection> {
        let mut links = Vec::new();
        for (from, node) in self.nodes.iter().enumerate() {
            let mut link = |to, way| {
                links.push(Connection {
                    from: from as NodeIx,
                    to,
                    way,
                });
            };
            for channel in &node.edges {
                link(self.channel(*channel).branch_target, ConnectionKind::Edge);
            }
            if node.ends {
                link(None, ConnectionKind::Edge);
            }
            for channel in &node.joins {
                link(self.channel(*channel).join_target, ConnectionKind::Join(*channel));
            }
            for (position, branch) in node.branches.iter().enumerate() {
                let mut paths: Vec<(&Name, &Name)> = branch.paths.iter().flatten().collect();
                paths.sort();
                for (label, target) in paths {
                    link(
                        self.node_of(target),
                        ConnectionKind::Branch(position, Some(label.clone())),
                    );
                }
                if let Some(target) = &branch.default {
                    link(self.node_of(target), ConnectionKind::Branch(position, None));
                }
            }
            for target in &node.more().destinations {
                link(self.node_of(target), ConnectionKind::Command);
            }
        }
        links
    }

    /// Returns the node with this name; None for END.
    fn node_of(&self, target: &Name) -> Option<NodeIx> {
        self.node_index.get(target).copied().filter(|_| &**target != END)
    }

    /// Returns whether the node has a conditional edge whose router may name any node.
    pub(crate) fn may_go_anywhere(&self, node: NodeIx) -> bool {
        let branches = &self.node(node).branches;
        branches.iter().any(|branch| branch.paths.is_none())
    }
}
