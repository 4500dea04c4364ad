//! Edges as breakpoints name them: `FROM->TO`, where both may have arrows in their names, or an edge's id.

use std::collections::BTreeSet;

use superstep_document::{Document, suggest, text};

use crate::wire::{BreakWhen, Breakpoint, Problem};

impl Breakpoint {
    /// Finds out which edge of the document the breakpoint is on, by the edge's id or by the names of its ends.
    ///
    /// # Errors
    ///
    /// It names no edge, or may mean several.
    pub fn on_edge_of(&self, document: &Document) -> Result<Self, Problem> {
        if self.when != BreakWhen::Edge || self.within.is_some() {
            return Ok(self.clone());
        }
        let name = match &self.to {
            Some(to) => format!("{}->{to}", self.node),
            None => self.node.clone(),
        };
        let mut ids: Vec<String> = Vec::new();
        let mut ways: BTreeSet<(String, String)> = BTreeSet::new();
        let mut by_id: BTreeSet<(String, String)> = BTreeSet::new();
        for (id, edge) in document.edges() {
            ids.push(id.to_owned());
            for from in edge.sources() {
                let way = |to: &str| (from.to_owned(), to.to_owned());
                ways.extend(edge.targets().into_iter().map(way));
                if id == name {
                    by_id.extend(edge.targets().into_iter().map(way));
                }
            }
        }
        let nodes: BTreeSet<&str> = document.node_ids().collect();
        let is_end = |name: &str| name == superstep::END || nodes.contains(name);
        let named: Vec<(String, String)> = name
            .match_indices("->")
            .map(|(at, arrow)| {
                let (from, to) = (&name[..at], &name[at + arrow.len()..]);
                let to = if to == "END" { superstep::END } else { to };
                (from.to_owned(), to.to_owned())
            })
            .collect();
        let drawn: Vec<&(String, String)> = named.iter().filter(|way| ways.contains(*way)).collect();
        // A command leads along no edge.
        let possible = || {
            named
                .iter()
                .filter(|(from, to)| nodes.contains(from.as_str()) && is_end(to))
        };
        let found = match (drawn[..].len(), by_id.len()) {
            (_, 1) => by_id.iter().collect(),
            (0, 0) => possible().collect(),
            _ => drawn,
        };
        match (&found[..], &self.to) {
            ([(from, to)], _) => Ok(Self {
                node: from.clone(),
                to: Some(to.clone()),
                ..self.clone()
            }),
            // What else may be wrong with it is said where it is used.
            ([], Some(_)) => Ok(self.clone()),
            ([], None) => {
                let message = match by_id.is_empty() {
                    true => text!(
                        "The graph has no edge `{name}`.{hint}",
                        name = &name,
                        hint = suggest::did_you_mean(&name, ids.iter().map(String::as_str))
                    ),
                    false => text!("The edge `{name}` has several ways.", name = &name),
                };
                let remedy = text!("Write edge:FROM->TO, or edge: and the id of an edge with one way.");
                Err(Problem::new("invalid-breakpoint", message).remedy(remedy))
            }
            _ => {
                let message = text!(
                    "`{name}` may be several edges: names of nodes have arrows in them.",
                    name = &name
                );
                let remedy = text!(
                    "Name the edge by its id: edge: and one of {ids}.",
                    ids = suggest::listing(ids.iter().map(String::as_str))
                );
                Err(Problem::new("invalid-breakpoint", message).remedy(remedy))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use superstep_document::Document;

    use super::*;

    #[test]
    fn an_edge_is_named_by_its_ends_or_its_id() {
        let graph = r#"{"format": "superstep/1", "name": "g", "state": {}, "nodes": {"a": {"kind": "x"}, "b": {"kind": "x"},
            "b->c": {"kind": "x"}, "a->b": {"kind": "x"}, "c": {"kind": "x"}},
            "edges": [{"from": "a", "to": "b->c"}, {"from": "a->b", "to": "c"}, {"id": "second", "from": "a", "to": "b"},
            {"from": "a->b", "to": "__end__"}, {"id": "way", "from": "c", "route": "1", "paths": {"1": "a", "2": "b"}}]}"#;
        let (document, problems) = Document::parse(graph);
        assert!(problems.is_empty(), "{problems:?}");
        let ids: Vec<String> = document.edges().map(|(id, _)| id.to_owned()).collect();
        let of = |text: &str| {
            let point: Breakpoint = text.parse().expect(text);
            let point = point
                .on_edge_of(&document)
                .map_err(|problem| problem.message.to_string())?;
            Ok::<_, String>((point.node, point.to.unwrap_or_default()))
        };
        let way = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        // The first two have the same ends in a row; their ids tell them apart.
        assert_eq!(of(&format!("edge:{}", ids[0])), way("a", "b->c"), "{ids:?}");
        assert_eq!(of(&format!("edge:{}", ids[1])), way("a->b", "c"), "{ids:?}");
        assert_eq!(of("edge:second"), way("a", "b"));
        assert_eq!(of("edge:a->b"), way("a", "b"));
        assert_eq!(of("edge:a->b->END"), way("a->b", "__end__"));
        assert_eq!(of("edge:c->b if state.x"), way("c", "b"));
        assert_eq!(of("edge:b->c->a"), way("b->c", "a"), "a command may lead there");
        assert_eq!(of("edge:no->where"), way("no", "where"), "said where it is used");
        assert!(of("edge:secnd").unwrap_err().contains("no edge `secnd`"));
        assert!(of("edge:way").unwrap_err().contains("several ways"));
    }
}
