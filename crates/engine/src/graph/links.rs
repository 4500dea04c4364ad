//! Where nodes lead: every declared way from one node to the next, in one list for drawings and for the analysis.

use crate::base::ids::Name;
use crate::checkpoint::types::reserved::END;
use crate::graph::plan::{ChannelIx, NodeIx, Plan};

/// Connection by which a node leads to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Way {
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
pub(crate) struct Link {
    pub(crate) from: NodeIx,
    /// None for END.
    pub(crate) to: Option<NodeIx>,
    pub(crate) way: Way,
}

impl Plan {
    /// Returns every declared connection, by node, in a fixed order.
    pub(crate) fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (from, node) in self.nodes.iter().enumerate() {
            let mut link = |to, way| {
                links.push(Link {
                    from: from as NodeIx,
                    to,
                    way,
                });
            };
            for channel in &node.edges {
                link(self.channel(*channel).branch_target, Way::Edge);
            }
            if node.ends {
                link(None, Way::Edge);
            }
            for channel in &node.joins {
                link(self.channel(*channel).join_target, Way::Join(*channel));
            }
            for (position, branch) in node.branches.iter().enumerate() {
                let mut paths: Vec<(&Name, &Name)> = branch.paths.iter().flatten().collect();
                paths.sort();
                for (label, target) in paths {
                    link(self.node_of(target), Way::Branch(position, Some(label.clone())));
                }
                if let Some(target) = &branch.default {
                    link(self.node_of(target), Way::Branch(position, None));
                }
            }
            for target in &node.more().destinations {
                link(self.node_of(target), Way::Command);
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
