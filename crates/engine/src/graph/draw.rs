//! Drawings of a graph, as text that other programs turn into pictures.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::base::ids::Name;
use crate::graph::links::{Connection, ConnectionKind};
use crate::graph::plan::{NodeIx, Plan};

/// Parts of a drawing.
struct Picture<'a> {
    plan: &'a Plan,
    links: Vec<Connection>,
    /// Nodes that joins wait for, by the join's channel and target.
    joins: BTreeMap<(u32, Option<NodeIx>), Vec<NodeIx>>,
}

impl<'a> Picture<'a> {
    fn of(plan: &'a Plan) -> Self {
        let mut joins: BTreeMap<_, Vec<NodeIx>> = BTreeMap::new();
        let mut links = plan.links();
        links.retain(|link| match link.way {
            ConnectionKind::Join(channel) => {
                joins.entry((channel, link.to)).or_default().push(link.from);
                false
            }
            _ => true,
        });
        Self { plan, links, joins }
    }

    fn has_end(&self) -> bool {
        self.links.iter().any(|link| link.to.is_none())
    }

    /// Returns the nodes whose routers may name any node.
    fn open(&self) -> Vec<(NodeIx, &'a Name)> {
        let nodes = self.plan.nodes.iter().enumerate();
        nodes
            .flat_map(|(index, node)| {
                let open = node.branches.iter().filter(|branch| branch.paths.is_none());
                open.map(move |branch| (index as NodeIx, &branch.name))
            })
            .collect()
    }
}

fn label(way: &ConnectionKind) -> Option<&str> {
    match way {
        ConnectionKind::Branch(_, Some(label)) => Some(label),
        ConnectionKind::Branch(_, None) => Some("otherwise"),
        _ => None,
    }
}

fn id(node: Option<NodeIx>) -> String {
    match node {
        Some(index) => format!("n{index}"),
        None => "end_".to_owned(),
    }
}

impl Plan {
    /// Draws a Mermaid flowchart: edges are solid, conditional edges and commands dotted, a join is a small circle.
    pub(crate) fn mermaid(&self) -> String {
        let picture = Picture::of(self);
        let mut out = String::from("flowchart TD\n");
        for (index, node) in self.nodes.iter().enumerate() {
            match node.is_start() {
                true => out.push_str("  n0([\"START\"])\n"),
                false => {
                    // A node that runs a graph has double sides.
                    let (open, close) = if node.more().graphs.is_empty() {
                        ("[", "]")
                    } else {
                        ("[[", "]]")
                    };
                    let _ = writeln!(out, "  n{index}{open}\"{}\"{close}", escaped(&node.name));
                }
            }
        }
        if picture.has_end() {
            out.push_str("  end_([\"END\"])\n");
        }
        for link in &picture.links {
            let arrow = if link.way == ConnectionKind::Edge {
                "-->"
            } else {
                "-.->"
            };
            let label = label(&link.way).map(|text| format!("|\"{}\"|", escaped(text)));
            let _ = writeln!(
                out,
                "  n{} {arrow}{} {}",
                link.from,
                label.unwrap_or_default(),
                id(link.to)
            );
        }
        for (number, ((_, target), sources)) in picture.joins.iter().enumerate() {
            let sources: Vec<String> = sources.iter().map(|source| id(Some(*source))).collect();
            let _ = writeln!(out, "  j{number}((\"all\"))");
            let _ = writeln!(out, "  {} --> j{number} --> {}", sources.join(" & "), id(*target));
        }
        let open = picture.open();
        if !open.is_empty() {
            out.push_str("  any{{\"any node\"}}\n");
        }
        for (node, name) in open {
            let _ = writeln!(out, "  n{node} -.->|\"{}\"| any", escaped(name));
        }
        out
    }

    /// Draws a Graphviz digraph, with the same shapes and lines.
    pub(crate) fn dot(&self) -> String {
        let picture = Picture::of(self);
        let mut out = String::from("digraph {\n  node [shape=box];\n");
        for (index, node) in self.nodes.iter().enumerate() {
            match node.is_start() {
                true => out.push_str("  n0 [label=\"START\", shape=ellipse];\n"),
                false => {
                    let sides = if node.more().graphs.is_empty() {
                        ""
                    } else {
                        ", peripheries=2"
                    };
                    let _ = writeln!(out, "  n{index} [label={}{sides}];", quoted(&node.name));
                }
            }
        }
        if picture.has_end() {
            out.push_str("  end_ [label=\"END\", shape=ellipse];\n");
        }
        for link in &picture.links {
            let mut attributes = Vec::new();
            if link.way != ConnectionKind::Edge {
                attributes.push("style=dashed".to_owned());
            }
            if let Some(text) = label(&link.way) {
                attributes.push(format!("label={}", quoted(text)));
            }
            let attributes = match attributes.is_empty() {
                true => String::new(),
                false => format!(" [{}]", attributes.join(", ")),
            };
            let _ = writeln!(out, "  n{} -> {}{attributes};", link.from, id(link.to));
        }
        for (number, ((_, target), sources)) in picture.joins.iter().enumerate() {
            let _ = writeln!(out, "  j{number} [label=\"all\", shape=circle];");
            for source in sources {
                let _ = writeln!(out, "  n{source} -> j{number};");
            }
            let _ = writeln!(out, "  j{number} -> {};", id(*target));
        }
        let open = picture.open();
        if !open.is_empty() {
            out.push_str("  any [label=\"any node\", shape=hexagon];\n");
        }
        for (node, name) in open {
            let _ = writeln!(out, "  n{node} -> any [style=dashed, label={}];", quoted(name));
        }
        out.push_str("}\n");
        out
    }
}

/// Escapes text inside Mermaid's quotes. Markup, and what would end the quotes, is written as a character code.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '#' | '&' | '<' | '>' | ';' | '`' | '|' | '*' | '_' | '\\' => {
                let _ = write!(out, "#{};", character as u32);
            }
            '\n' => out.push_str("<br/>"),
            other if other.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// Formats a text as a Graphviz string.
fn quoted(text: &str) -> String {
    let text = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{text}\"")
}
