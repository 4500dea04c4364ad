//! A drawing of the graph as Mermaid text, for READMEs and chats.

use std::collections::HashMap;
use std::fmt::Write;

use crate::document::Document;
use crate::view::{Edge, NodeSpec};
use crate::{END, START};

impl Document {
    /// Draws a Mermaid flowchart. Plain edges are solid, conditional ones dotted with their label, `Send` thick, and a
    /// join is a small circle that its sources lead to.
    pub fn mermaid(&self) -> String {
        self.mermaid_with([])
    }

    /// Draws the same flowchart with dotted lines, given as pairs of from and to, where nodes lead without an edge,
    /// which the document does not know.
    pub fn mermaid_with<'a>(&self, dynamic: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let dynamic: Vec<(&str, &str)> = dynamic.into_iter().collect();
        let edges: Vec<(&str, Edge)> = self.edges().collect();
        let mut drawing = Drawing::begin();
        let inner = self.nodes().filter(|(id, _)| *id != START && *id != END);
        for (index, (id, node)) in inner.enumerate() {
            drawing.node(index + 1, id, &node);
        }
        let ends = edges.iter().any(|(_, edge)| edge.targets().contains(&END));
        if ends || dynamic.iter().any(|(_, to)| *to == END) {
            drawing.out.push_str("  finish([\"End\"])\n");
        }
        for (_, edge) in &edges {
            drawing.edge(edge);
        }
        for (from, to) in dynamic {
            let drawn =
                |(_, edge): &(&str, Edge)| edge.sources().contains(&from) && edge.targets().contains(&to);
            if !edges.iter().any(drawn) {
                drawing.line(from, to, "-.->", None);
            }
        }
        drawing.out
    }
}

/// The text so far, and the names that nodes have in it.
struct Drawing<'a> {
    out: String,
    ids: HashMap<&'a str, String>,
    joins: usize,
}

impl<'a> Drawing<'a> {
    fn begin() -> Self {
        Self {
            out: "flowchart TD\n  start([\"Start\"])\n".into(),
            ids: HashMap::from([(START, "start".into()), (END, "finish".into())]),
            joins: 0,
        }
    }

    fn node(&mut self, number: usize, id: &'a str, node: &NodeSpec) {
        let mermaid_id = format!("n{number}");
        let mut label = escape(id);
        if let Some(title) = node
            .title
            .as_deref()
            .filter(|title| *title != id && !title.trim().is_empty())
        {
            label = format!("{}<br/>{label}", escape(title));
        }
        // What a person answers has a shape of its own.
        let (open, close) = if node.kind == "ask" {
            ("{{\"", "\"}}")
        } else {
            ("[\"", "\"]")
        };
        let _ = writeln!(self.out, "  {mermaid_id}{open}{label}{close}");
        if node.disabled.is_some() {
            let _ = writeln!(self.out, "  style {mermaid_id} stroke-dasharray:4 3,opacity:0.6");
        }
        self.ids.insert(id, mermaid_id);
    }

    fn edge(&mut self, edge: &Edge) {
        match edge {
            Edge::Plain { from, to } => self.line(from, to, "-->", None),
            Edge::Join { from, to } => self.join(from, to),
            Edge::When { from, to, when } => self.line(from, to, "-.->", Some(when)),
            Edge::Route {
                from, paths, default, ..
            } => {
                for (label, to) in paths {
                    self.line(from, to, "-.->", Some(label));
                }
                if let Some(to) = default {
                    self.line(from, to, "-.->", Some("otherwise"));
                }
            }
            Edge::Limit { from, to } => self.line(from, to, "-.->", Some("at the limit")),
            Edge::Each { from, each, to, .. } => self.line(from, to, "==>", Some(&format!("each {each}"))),
        }
    }

    fn line(&mut self, from: &str, to: &str, arrow: &str, label: Option<&str>) {
        let (Some(from), Some(to)) = (self.ids.get(from), self.ids.get(to)) else {
            return;
        };
        let label = label
            .map(|label| format!("|\"{}\"|", escape(label)))
            .unwrap_or_default();
        let _ = writeln!(self.out, "  {from} {arrow}{label} {to}");
    }

    fn join(&mut self, from: &[String], to: &str) {
        let known = from.iter().filter_map(|name| self.ids.get(name.as_str()));
        let known: Vec<&str> = known.map(String::as_str).collect();
        let Some(to) = self.ids.get(to).filter(|_| !known.is_empty()) else {
            return;
        };
        self.joins += 1;
        let joins = self.joins;
        let _ = writeln!(self.out, "  j{joins}((\"all\"))");
        let _ = writeln!(self.out, "  {} --> j{joins} --> {to}", known.join(" & "));
    }
}

/// Escapes text inside a quoted Mermaid label. Mermaid has entity codes of its own, and reads HTML, Markdown and line
/// ends.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '`' => out.push_str("#96;"),
            '*' => out.push_str("#42;"),
            '_' => out.push_str("#95;"),
            '\\' => out.push_str("#92;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    // Mermaid reads no label that is empty.
    if out.is_empty() {
        out.push(' ');
    }
    out
}
