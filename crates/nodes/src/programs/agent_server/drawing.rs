//! The drawing of a server's graph in the form of an attached program's. The server draws a graph in two ways: without the
//! graphs within, and with their nodes in place of them, under names such as `pay:charge`. Both together show which nodes are
//! graphs, and what is in them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::wire::{WireDrawing, WireSchemas};
use crate::programs::attach::{
    CodePlace, DrawnChannel, DrawnFrom, DrawnNode, DrawnWay, GraphDrawing, GraphSchemas, WayKind,
};

const START: &str = "__start__";
const END: &str = "__end__";
/// Nodes and ways that are drawn.
const MAX_NODES: usize = 5_000;
const MAX_WAYS: usize = 20_000;
/// Graphs within each other that are drawn.
const MAX_DEPTH: usize = 16;
/// The type of a key that holds LangChain's messages.
pub const MESSAGES: &str = "messages";

/// A way, by the paths of its ends.
struct PathWay {
    from: Vec<String>,
    to: Vec<String>,
    conditional: bool,
    label: Option<String>,
}

/// Drawing with paths in the place of names.
struct Paths {
    nodes: Vec<Vec<String>>,
    ways: Vec<PathWay>,
}

/// Reads the name of a node, which may be a number.
fn name_of(id: &Json) -> Option<String> {
    match id {
        Json::String(name) if !name.is_empty() => Some(name.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn split(name: &str) -> Vec<String> {
    name.split(':').map(str::to_owned).collect()
}

impl Paths {
    fn of(drawing: &WireDrawing) -> Self {
        let nodes = drawing.nodes.iter().filter_map(|node| name_of(&node.id));
        let ways = drawing.edges.iter().filter_map(|edge| {
            Some(PathWay {
                from: split(&name_of(&edge.source)?),
                to: split(&name_of(&edge.target)?),
                conditional: edge.conditional == Some(true),
                label: edge.data.as_str().map(str::to_owned),
            })
        });
        Self {
            nodes: nodes.map(|name| split(&name)).collect(),
            ways: ways.collect(),
        }
    }

    /// Returns the names of the nodes directly within a graph, in the order of the drawing.
    fn children(&self, within: &[String]) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut known = BTreeSet::new();
        for path in &self.nodes {
            let Some(name) = path.strip_prefix(within).and_then(|rest| rest.first()) else {
                continue;
            };
            if ![START, END].contains(&&**name) && known.insert(name.clone()) {
                found.push(name.clone());
            }
        }
        found
    }

    fn has_within(&self, path: &[String]) -> bool {
        self.nodes
            .iter()
            .any(|node| node.len() > path.len() && node.starts_with(path))
    }

    /// Returns the ways of a graph: those from and to what is around it begin at its start and lead to its end.
    fn ways(&self, within: &[String]) -> Vec<DrawnWay> {
        let mut found: Vec<DrawnWay> = Vec::new();
        let mut known = BTreeSet::new();
        for way in &self.ways {
            let end = |path: &[String]| path.strip_prefix(within).and_then(|rest| rest.first().cloned());
            let (from, to) = (end(&way.from), end(&way.to));
            if from.is_none() && to.is_none() {
                continue;
            }
            // One within a graph that is in this one is drawn there.
            let is_deeper =
                from == to && (way.from.len() > within.len() + 1 || way.to.len() > within.len() + 1);
            if is_deeper {
                continue;
            }
            let way = DrawnWay {
                from: from.unwrap_or_else(|| START.to_owned()),
                to: to.unwrap_or_else(|| END.to_owned()),
                kind: if way.conditional {
                    WayKind::Branch
                } else {
                    WayKind::Edge
                },
                branch: None,
                label: way.label.clone(),
                guessed: false,
            };
            if known.insert((way.from.clone(), way.to.clone(), way.label.clone())) {
                found.push(way);
            }
        }
        found
    }

    fn graph(&self, name: &str, within: &[String], outer: Option<&Paths>) -> GraphDrawing {
        let drawn = outer.unwrap_or(self);
        let nodes = drawn.children(within).into_iter().map(|name| {
            let path: Vec<String> = within.iter().cloned().chain([name.clone()]).collect();
            let is_graph = path.len() <= MAX_DEPTH && self.has_within(&path);
            DrawnNode {
                graph: is_graph.then(|| Box::new(self.graph(&name, &path, None))),
                name,
                function: CodePlace::default(),
                ..DrawnNode::default()
            }
        });
        GraphDrawing {
            name: name.to_owned(),
            source: DrawnFrom::GetGraph,
            nodes: nodes.collect(),
            ways: drawn.ways(within),
            joins: Vec::new(),
            branches: Vec::new(),
            channels: Vec::new(),
            break_before: Vec::new(),
            break_after: Vec::new(),
            checkpointer: Json::Null,
        }
    }
}

/// Draws a graph from what the server draws without and with the graphs within. Of one that is too large, the reason is the error.
pub(super) fn drawing(
    name: &str,
    outer: &WireDrawing,
    whole: Option<&WireDrawing>,
) -> Result<GraphDrawing, String> {
    for drawing in std::iter::once(outer).chain(whole) {
        if drawing.nodes.len() > MAX_NODES || drawing.edges.len() > MAX_WAYS {
            return Err(format!("{MAX_NODES} nodes and {MAX_WAYS} ways"));
        }
    }
    let own = Paths::of(outer);
    let whole = whole.map(Paths::of);
    Ok(match &whole {
        Some(whole) => whole.graph(name, &[], Some(&own)),
        None => own.graph(name, &[], None),
    })
}

/// Returns the state keys as the schemas have them.
pub(super) fn channels(schemas: &WireSchemas) -> Vec<DrawnChannel> {
    let has = |schema: &Option<Json>, name: &str| {
        let properties = schema
            .as_ref()
            .and_then(|schema| schema["properties"].as_object());
        properties.is_some_and(|properties| properties.contains_key(name))
    };
    let state = schemas.state_schema.as_ref();
    let properties = state.and_then(|state| state["properties"].as_object());
    let all = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| DrawnChannel {
            name: name.clone(),
            of: type_of(schema),
            channel: String::new(),
            reducer: None,
            input: has(&schemas.input_schema, name),
            output: has(&schemas.output_schema, name),
            managed: false,
        });
    all.collect()
}

/// Names the type of a key: as its schema does, or that it holds messages.
fn type_of(schema: &Json) -> Option<String> {
    let items = &schema["items"];
    let kinds = items["oneOf"].as_array().or_else(|| items["anyOf"].as_array());
    let is_message = |kind: &Json| {
        kind["$ref"]
            .as_str()
            .is_some_and(|name| name.ends_with("/HumanMessage"))
    };
    if kinds.is_some_and(|kinds| kinds.iter().any(is_message)) {
        return Some(MESSAGES.to_owned());
    }
    match &schema["type"] {
        Json::String(name) => Some(name.clone()),
        Json::Array(names) => Some(
            names
                .iter()
                .filter_map(Json::as_str)
                .collect::<Vec<_>>()
                .join(" | "),
        ),
        _ => None,
    }
}

/// Returns the schemas that forms are made of.
pub(super) fn schemas(found: WireSchemas) -> GraphSchemas {
    let whole =
        |schema: Option<Json>| schema.filter(|schema| schema.as_object().is_some_and(|all| !all.is_empty()));
    GraphSchemas {
        input_schema: whole(found.input_schema),
        output_schema: whole(found.output_schema),
        context_schema: whole(found.context_schema),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(nodes: &[&str], edges: &[(&str, &str, bool)]) -> WireDrawing {
        let nodes: Vec<Json> = nodes.iter().map(|name| json!({"id": name})).collect();
        let edges: Vec<Json> = (edges.iter())
            .map(|(from, to, conditional)| json!({"source": from, "target": to, "conditional": conditional}))
            .collect();
        serde_json::from_value(json!({"nodes": nodes, "edges": edges})).unwrap()
    }

    fn ways(drawing: &GraphDrawing) -> Vec<String> {
        let one = |way: &DrawnWay| {
            let mark = if way.kind == WayKind::Branch { "?" } else { "" };
            format!("{}>{}{mark}", way.from, way.to)
        };
        drawing.ways.iter().map(one).collect()
    }

    #[test]
    fn graphs_within_graphs_are_found_by_the_names_of_their_nodes() {
        let outer = read(
            &["__start__", "check", "pay", "__end__"],
            &[
                ("__start__", "check", false),
                ("check", "pay", false),
                ("pay", "__end__", true),
                ("pay", "check", true),
            ],
        );
        let whole = read(
            &[
                "__start__",
                "check",
                "__end__",
                "pay:charge",
                "pay:ask:one",
                "pay:ask:two",
            ],
            &[
                ("__start__", "check", false),
                ("check", "pay:charge", false),
                ("pay:charge", "pay:ask:one", false),
                ("pay:ask:one", "pay:ask:two", false),
                ("pay:ask:one", "pay:ask:one", true),
                ("pay:ask:two", "__end__", true),
                ("pay:ask:two", "check", true),
            ],
        );
        let found = drawing("shop", &outer, Some(&whole)).unwrap();
        assert_eq!(
            ways(&found),
            ["__start__>check", "check>pay", "pay>__end__?", "pay>check?"]
        );
        let pay = found.nodes[1].graph.as_ref().unwrap();
        assert_eq!(
            (found.nodes[1].name.as_str(), found.nodes[0].graph.is_none()),
            ("pay", true)
        );
        assert_eq!(ways(pay), ["__start__>charge", "charge>ask", "ask>__end__?"]);
        let ask = pay.nodes[1].graph.as_ref().unwrap();
        assert_eq!(
            ways(ask),
            ["__start__>one", "one>two", "one>one?", "two>__end__?"]
        );
        // Without the second drawing the node is a node.
        assert!(drawing("shop", &outer, None).unwrap().nodes[1].graph.is_none());
    }

    #[test]
    fn what_is_no_drawing_draws_nothing_and_what_is_too_large_is_not_drawn() {
        let odd: WireDrawing = serde_json::from_value(json!({
            "nodes": [{"id": 1}, {"id": null}, {"id": ""}, {"id": "a"}],
            "edges": [{"source": 1, "target": "a", "data": "x"}, {"source": null, "target": "a"}],
            "more": true,
        }))
        .unwrap();
        let found = drawing("g", &odd, None).unwrap();
        assert_eq!(found.nodes.len(), 2);
        assert_eq!(
            (ways(&found), found.ways[0].label.as_deref()),
            (vec!["1>a".to_owned()], Some("x"))
        );
        let names: Vec<String> = (0..=MAX_NODES).map(|n| n.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(drawing("g", &read(&names, &[]), None).is_err());
        let deep = vec!["a"; 10_000].join(":");
        let deep = read(&[&deep], &[]);
        assert!(drawing("g", &deep, Some(&deep)).is_ok(), "bounded in depth");
    }

    #[test]
    fn keys_are_named_with_their_types() {
        let schemas: WireSchemas = serde_json::from_value(json!({
            "state_schema": {"properties": {
                "n": {"type": "integer"},
                "messages": {"type": "array", "items": {"oneOf": [{"$ref": "#/$defs/AIMessage"}, {"$ref": "#/$defs/HumanMessage"}]}},
                "any": {},
            }},
            "input_schema": {"properties": {"n": {}}}, "output_schema": null, "config_schema": {}, "context_schema": {},
        }))
        .unwrap();
        let found = channels(&schemas);
        let kinds: Vec<_> = found
            .iter()
            .map(|key| (&*key.name, key.of.as_deref(), key.input, key.output))
            .collect();
        assert_eq!(
            kinds,
            [
                ("n", Some("integer"), true, false),
                ("messages", Some("messages"), false, false),
                ("any", None, false, false)
            ]
        );
        assert!(super::schemas(schemas).context_schema.is_none());
    }
}
