//! The graph of an attached program as documents: as its builder has it, with the code of every node and the keys that a run's
//! input may set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value as Json, json};
use superstep_document::{Document, END};
use superstep_nodes::agent_server;
use superstep_nodes::attach::{AttachedDescription, CodePlace, DrawnNode, DrawnWay, GraphDrawing, WayKind};

use super::drawing::{GRAPH, layout};

/// The kind of a node whose program is attached.
const ATTACHED: &str = "attached";
/// The key of an input that is no object of state keys.
pub(super) const WHOLE_INPUT: &str = "input";
/// Levels of references within a schema, and values that they may lead to.
const MAX_REFERENCES: usize = 6;
const MAX_SCHEMA: usize = 4_000;

/// Draws a program's graph and those within it, by the nodes around them.
pub(super) fn documents(described: &AttachedDescription, root: &Path) -> BTreeMap<Vec<String>, Document> {
    let mut documents = BTreeMap::new();
    let mut drawings = vec![(Vec::new(), &described.drawing)];
    while let Some((within, drawing)) = drawings.pop() {
        for node in &drawing.nodes {
            if let Some(inner) = &node.graph {
                let around: Vec<String> = within.iter().cloned().chain([node.name.clone()]).collect();
                drawings.push((around, inner));
            }
        }
        let mut text = drawn(drawing, root);
        if within.is_empty() {
            for (field, keys) in inputs(described) {
                text.insert(field.to_owned(), keys.into());
            }
        }
        documents.insert(within, Document::parse(&Json::from(text).to_string()).0);
    }
    documents
}

/// Returns whether a run is given something else than an object of state keys.
pub(super) fn takes_whole(described: &AttachedDescription) -> bool {
    let schema = described.schemas.input_schema.as_ref();
    schema.is_some_and(|schema| properties(schema).is_none())
}

fn drawn(drawing: &GraphDrawing, root: &Path) -> Map<String, Json> {
    let nodes: Map<String, Json> = (drawing.nodes.iter())
        .map(|node| (node.name.clone(), node_record(node, root)))
        .collect();
    let mut edges: Vec<Json> = Vec::new();
    let mut labelled: BTreeSet<&str> = BTreeSet::new();
    let mut links: Vec<(&str, &str)> = Vec::new();
    for ((from, to), label) in ways(&drawing.ways) {
        let mut edge = json!({"id": format!("{from}>{to}"), "from": from, "to": to});
        if let (Some(label), Some(edge)) = (label, edge.as_object_mut()) {
            edge.insert("when".to_owned(), label.into());
            labelled.insert(from);
        }
        edges.push(edge);
        links.push((from, to));
    }
    for join in &drawing.joins {
        let id = format!("{}>{}", join.from.join("+"), join.to);
        edges.push(json!({"id": id, "from": join.from, "to": join.to}));
        links.extend(join.from.iter().map(|from| (&**from, &*join.to)));
    }
    let order: Vec<&str> = drawing.nodes.iter().map(|node| &*node.name).collect();
    let places = layout(&order, &links, |node| labelled.contains(node));
    let text = json!({
        "format": "superstep/1",
        "name": drawing.name,
        "nodes": nodes,
        "edges": edges,
        "layout": places,
    });
    match text {
        Json::Object(text) => text,
        _ => Map::new(),
    }
}

/// Joins the ways between two nodes to one, with everybody who takes it; `None` for one that is always taken.
fn ways(all: &[DrawnWay]) -> Vec<((&str, &str), Option<String>)> {
    // With everybody who takes the way; nobody in particular where it is always taken.
    type Takers = Option<Vec<String>>;
    let mut joined: Vec<((&str, &str), Takers)> = Vec::new();
    for way in all {
        let ends = (&*way.from, &*way.to);
        let place = joined.iter().position(|(known, _)| *known == ends);
        let place = place.unwrap_or_else(|| {
            joined.push((ends, Some(Vec::new())));
            joined.len() - 1
        });
        let labels = &mut joined[place].1;
        match (way.kind, labels.as_mut()) {
            (WayKind::Edge, _) => *labels = None,
            (_, Some(labels)) => {
                let label = label_of(way);
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
            (_, None) => {}
        }
    }
    let text = |labels: Vec<String>| labels.join(", ");
    joined
        .into_iter()
        .map(|(ends, labels)| (ends, labels.map(text)))
        .collect()
}

/// Returns what distinguishes a way from the others: the key that its condition has for it, otherwise its target. The name of the
/// condition is that of all of them.
fn label_of(way: &DrawnWay) -> String {
    let target = match &*way.to {
        END => "end",
        target => target,
    };
    let name = way.label.as_deref().unwrap_or(target);
    format!("{name}{}", if way.guessed { "?" } else { "" })
}

fn node_record(node: &DrawnNode, root: &Path) -> Json {
    let kind = if node.graph.is_some() { GRAPH } else { ATTACHED };
    let mut config = place_of(&node.function, root);
    for (field, value) in [
        ("retry", node.retry.map(Json::from)),
        ("timeout_s", node.timeout_s.map(Json::from)),
        ("takes_over_from", node.handler_of.clone().map(Json::from)),
        ("defer", node.defer.then_some(Json::Bool(true))),
        ("cache", node.cache.then_some(Json::Bool(true))),
        ("remote", node.remote.clone().map(Json::from)),
    ] {
        if let Some(value) = value {
            config.insert(field.to_owned(), value);
        }
    }
    json!({"kind": kind, "config": config})
}

/// Returns where code is: a file of the project within it, any other one whole.
fn place_of(place: &CodePlace, root: &Path) -> Map<String, Json> {
    let mut found = Map::new();
    // Of a server's graph nobody says it.
    if !place.name.is_empty() {
        found.insert("function".to_owned(), place.name.clone().into());
    }
    if let (Some(file), Some(line)) = (&place.file, place.line) {
        found.insert("path".to_owned(), file.display().to_string().into());
        let short = file.strip_prefix(root).unwrap_or(file);
        found.insert("at".to_owned(), format!("{}:{line}", short.display()).into());
        found.insert("line".to_owned(), line.into());
    } else if let Some(module) = &place.module {
        found.insert("module".to_owned(), module.clone().into());
    }
    found
}

/// Returns the state keys that an input may set, and the fields of the run context, as a document declares them.
fn inputs(described: &AttachedDescription) -> Vec<(&'static str, Map<String, Json>)> {
    let mut fields = Vec::new();
    if let Some(schema) = &described.schemas.input_schema {
        let keys = match properties(schema) {
            None => Map::from_iter([(WHOLE_INPUT.to_owned(), inlined(schema))]),
            Some(_) => keys_of(described, schema),
        };
        fields.push(("state", keys));
    }
    if let Some(schema) = &described.schemas.context_schema {
        let whole = inlined(schema);
        fields.push(("context", properties(&whole).cloned().unwrap_or_default()));
    }
    fields
}

fn keys_of(described: &AttachedDescription, schema: &Json) -> Map<String, Json> {
    let channels = &described.drawing.channels;
    let is_messages = |name: &str| {
        let channel = channels.iter().find(|channel| channel.name == name);
        let reducer = channel.and_then(|channel| channel.reducer.as_ref());
        reducer.is_some_and(|reducer| reducer.name == "add_messages")
            || channel.is_some_and(|channel| channel.of.as_deref() == Some(agent_server::MESSAGES))
    };
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    let own = properties(schema).cloned().unwrap_or_default();
    own.into_iter()
        .map(|(name, of_key)| {
            let key = match is_messages(&name) {
                true => json!({"type": "array", "reducer": "add_messages"}),
                false => resolved(&of_key, &definitions, 0, &mut MAX_SCHEMA.clone()),
            };
            (name, key)
        })
        .collect()
}

fn properties(schema: &Json) -> Option<&Map<String, Json>> {
    schema.get("properties").and_then(Json::as_object)
}

/// Returns a schema without references.
fn inlined(schema: &Json) -> Json {
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    let mut whole = resolved(schema, &definitions, 0, &mut MAX_SCHEMA.clone());
    if let Some(fields) = whole.as_object_mut() {
        fields.remove("$defs");
    }
    whole
}

/// Puts definitions in the place of their references; what is too much, or refers to itself, may be anything.
fn resolved(schema: &Json, definitions: &Json, depth: usize, left: &mut usize) -> Json {
    if *left == 0 || depth > MAX_REFERENCES {
        return json!({});
    }
    *left -= 1;
    match schema {
        Json::Array(items) => items
            .iter()
            .map(|item| resolved(item, definitions, depth, left))
            .collect(),
        Json::Object(fields) => {
            let reference = fields.get("$ref").and_then(Json::as_str);
            let named = reference.and_then(|reference| reference.strip_prefix("#/$defs/"));
            let mut whole = match named.map(|name| resolved(&definitions[name], definitions, depth + 1, left))
            {
                Some(Json::Object(whole)) => whole,
                _ => Map::new(),
            };
            for (name, value) in fields
                .iter()
                .filter(|(name, _)| !matches!(&***name, "$ref" | "$defs"))
            {
                whole.insert(name.clone(), resolved(value, definitions, depth, left));
            }
            whole.into()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(kind: WayKind, to: &str, label: Option<&str>, guessed: bool) -> DrawnWay {
        DrawnWay {
            from: "a".to_owned(),
            to: to.to_owned(),
            kind,
            branch: (kind == WayKind::Branch).then(|| "choose".to_owned()),
            label: label.map(str::to_owned),
            guessed,
        }
    }

    #[test]
    fn ways_between_two_nodes_are_one_with_everybody_who_takes_it() {
        let all = [
            way(WayKind::Branch, "b", Some("yes"), false),
            way(WayKind::Command, "b", None, true),
            way(WayKind::Branch, "c", None, true),
            way(WayKind::Edge, "c", None, false),
        ];
        let found = ways(&all);
        assert_eq!(
            found,
            [(("a", "b"), Some("yes, b?".to_owned())), (("a", "c"), None)]
        );
    }

    #[test]
    fn references_are_followed_and_those_to_themselves_end() {
        let definitions =
            json!({"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}});
        let schema = json!({"$ref": "#/$defs/Tree", "title": "Root"});
        let whole = resolved(&schema, &definitions, 0, &mut MAX_SCHEMA.clone());
        assert_eq!(whole["title"], "Root");
        let mut depth = 0;
        let mut at = &whole;
        while at["type"] == "object" {
            depth += 1;
            at = &at["properties"]["left"];
        }
        assert_eq!((depth, at), (MAX_REFERENCES, &json!({})));
        let wide = json!({"anyOf": vec![json!({"type": "string"}); 2 * MAX_SCHEMA]});
        let mut left = MAX_SCHEMA;
        resolved(&wide, &definitions, 0, &mut left);
        assert_eq!(left, 0);
    }
}
