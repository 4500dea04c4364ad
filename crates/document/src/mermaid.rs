//! A drawing of the graph as Mermaid text, for READMEs and chats.

use std::collections::HashMap;
use std::fmt::Write;

use crate::document::Document;
use crate::view::Edge;
use crate::{END, START};

impl Document {
    /// A Mermaid flowchart. Plain edges are solid, conditional ones dotted with their label, `Send` thick, and a join is
    /// a small circle that its sources lead to.
    pub fn mermaid(&self) -> String {
        self.mermaid_with([])
    }

    /// The same with dotted lines where nodes lead without an edge, which the document does not know: from and to.
    pub fn mermaid_with<'a>(&self, dynamic: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let dynamic: Vec<(&str, &str)> = dynamic.into_iter().collect();
        let mut out = String::from("flowchart TD\n");
        let mut ids: HashMap<&str, String> = HashMap::new();
        let edges: Vec<(&str, Edge)> = self.edges().collect();
        ids.insert(START, "start".into());
        ids.insert(END, "finish".into());
        out.push_str("  start([\"Start\"])\n");
        let nodes: Vec<_> = self
            .nodes()
            .filter(|(id, _)| *id != START && *id != END)
            .collect();
        for (index, (id, node)) in nodes.iter().enumerate() {
            let mermaid_id = format!("n{}", index + 1);
            let mut label = escape(id);
            if let Some(title) = node
                .title
                .as_deref()
                .filter(|title| title != id && !title.trim().is_empty())
            {
                label = format!("{}<br/>{label}", escape(title));
            }
            // What a person answers has a shape of its own.
            let (open, close) = if node.kind == "ask" {
                ("{{\"", "\"}}")
            } else {
                ("[\"", "\"]")
            };
            let _ = writeln!(out, "  {mermaid_id}{open}{label}{close}");
            if node.disabled.is_some() {
                let _ = writeln!(out, "  style {mermaid_id} stroke-dasharray:4 3,opacity:0.6");
            }
            ids.insert(id, mermaid_id);
        }
        let ends = edges.iter().any(|(_, edge)| edge.targets().contains(&END));
        if ends || dynamic.iter().any(|(_, to)| *to == END) {
            out.push_str("  finish([\"End\"])\n");
        }
        let mut joins = 0;
        for (_, edge) in &edges {
            let place = |name: &str| ids.get(name).cloned();
            let line = |out: &mut String, from: &str, to: &str, arrow: &str, label: Option<&str>| {
                let (Some(from), Some(to)) = (place(from), place(to)) else {
                    return;
                };
                let label = label
                    .map(|label| format!("|\"{}\"|", escape(label)))
                    .unwrap_or_default();
                let _ = writeln!(out, "  {from} {arrow}{label} {to}");
            };
            match edge {
                Edge::Plain { from, to } => line(&mut out, from, to, "-->", None),
                Edge::Join { from, to } => {
                    let known: Vec<String> = from.iter().filter_map(|name| place(name)).collect();
                    let Some(to) = place(to).filter(|_| !known.is_empty()) else {
                        continue;
                    };
                    joins += 1;
                    let _ = writeln!(out, "  j{joins}((\"all\"))");
                    let _ = writeln!(out, "  {} --> j{joins} --> {to}", known.join(" & "));
                }
                Edge::When { from, to, when } => line(&mut out, from, to, "-.->", Some(when)),
                Edge::Route {
                    from, paths, default, ..
                } => {
                    for (label, to) in paths {
                        line(&mut out, from, to, "-.->", Some(label));
                    }
                    if let Some(to) = default {
                        line(&mut out, from, to, "-.->", Some("otherwise"));
                    }
                }
                Edge::Each { from, each, to, .. } => {
                    line(&mut out, from, to, "==>", Some(&format!("each {each}")))
                }
            }
        }
        for (from, to) in dynamic {
            let drawn =
                |(_, edge): &(&str, Edge)| edge.sources().contains(&from) && edge.targets().contains(&to);
            if let (Some(one), Some(other)) = (ids.get(from), ids.get(to))
                && !edges.iter().any(drawn)
            {
                let _ = writeln!(out, "  {one} -.-> {other}");
            }
        }
        out
    }
}

/// Text inside a quoted Mermaid label. Mermaid has entity codes of its own, and reads HTML, Markdown and line ends.
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
    out
}
