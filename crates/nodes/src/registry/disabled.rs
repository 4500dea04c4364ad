//! Disabled nodes: what is in their place in a run, which of their edges are followed, and what is reported about them.

use std::collections::BTreeSet;

use superstep::graph::Effect;
use superstep::{Node, NodeContext, NodeError, NodeOptions, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Disabled, Edge, NodePolicy, Severity, suggest};

use super::kind::KeyUsage;
use superstep_document::{Text, text};

/// The code of the problem that a graph runs without some of its nodes.
pub const NODE_DISABLED: &str = "node-disabled";

/// Makes errors of the warnings about disabled nodes, for a place where a graph is to run as it is drawn.
pub fn refuse(problems: &mut [Diagnostic]) {
    for problem in problems {
        if problem.code == NODE_DISABLED {
            problem.severity = Severity::Error;
        }
    }
}

/// A node that does nothing.
pub(super) struct IdleNode;

#[async_trait]
impl Node for IdleNode {
    async fn run(&self, _: NodeContext, _: Value) -> Result<NodeOutput, NodeError> {
        Ok(NodeOutput::none())
    }
}

/// Returns the options of a node that does nothing: it runs when it is its turn, and no more often than before.
pub(super) fn options(policy: &NodePolicy) -> NodeOptions {
    let options = NodeOptions::new().defer(policy.defer).effect(Effect::Pure);
    match policy.max_visits {
        Some(limit) => options.max_visits(limit),
        None => options,
    }
}

/// Returns the edges of a disabled node as a run follows them: the plain ones, and the one that the way names. Targets
/// that a condition would choose become a plain edge; packets are sent as the list determines.
pub(super) fn followed(node: &str, disabled: &Disabled, edges: Vec<(String, Edge)>) -> Vec<(String, Edge)> {
    let Some(way) = &disabled.way else {
        return edges
            .into_iter()
            .filter(|(_, edge)| !edge.is_conditional())
            .collect();
    };
    let targets_way = |edge: &Edge| edge.targets().contains(&way.as_str());
    let mut taken = edges
        .iter()
        .any(|(_, edge)| targets_way(edge) && matches!(edge, Edge::Plain { .. } | Edge::Each { .. }));
    let plain = || Edge::Plain {
        from: node.to_owned(),
        to: way.clone(),
    };
    let mut followed = Vec::new();
    for (id, edge) in edges {
        match edge {
            Edge::Plain { .. } | Edge::Join { .. } | Edge::Limit { .. } => followed.push((id, edge)),
            Edge::Each { .. } if targets_way(&edge) => followed.push((id, edge)),
            _ if targets_way(&edge) && !taken => {
                taken = true;
                followed.push((id, plain()));
            }
            _ => {}
        }
    }
    if !taken {
        // A node that says itself where it goes has no edge there.
        followed.push((format!("{node}->{way}"), plain()));
    }
    followed
}

/// Returns the problems of a disabled node: that it is disabled, and what keeps a run from knowing where to continue.
pub(super) fn problems(
    node: &str,
    disabled: &Disabled,
    edges: &[(String, Edge)],
    usage: &KeyUsage,
) -> Vec<Diagnostic> {
    let record = || format!("node:{node}");
    let mut problems = vec![
        Diagnostic::warning(
            NODE_DISABLED,
            record(),
            text!("Node `{node}` is disabled: runs pass it by.", node),
            text!("Enable it, or delete it."),
        )
        .at("/disabled"),
    ];
    let own = || {
        edges
            .iter()
            .map(|(_, edge)| edge)
            .filter(|edge| edge.sources().contains(&node))
    };
    let always = own().any(|edge| !edge.is_conditional() && !edge.is_limit());
    let chosen: BTreeSet<&str> = own()
        .filter(|edge| edge.is_conditional())
        .flat_map(Edge::targets)
        .chain(usage.dynamic_targets.iter().map(String::as_str))
        .collect();
    let choose = |message: Text| {
        let remedy = text!(
            "Choose one of {known} as the way, or enable the node.",
            known = suggest::listing(chosen.iter().copied())
        );
        Diagnostic::error("disabled-way", record(), message, remedy).at("/disabled/way")
    };
    match &disabled.way {
        Some(way) if !chosen.is_empty() && !chosen.contains(way.as_str()) => {
            problems.push(choose(text!("No edge of `{node}` leads to `{way}`.", node, way)));
        }
        None if !chosen.is_empty() && !always => problems.push(choose(text!(
            "Node `{node}` is disabled, and where its run goes on is not chosen.",
            node
        ))),
        _ => {}
    }
    problems
}
