//! Threads of another program on a graph of our own: its drawing takes the place of what was seen. Nodes of equal names are the
//! same, others are where somebody put them. That is kept in the data folder, for each database and each graph seen in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use superstep_document::{Document, text};

use super::SeenGraph;
use crate::Workbench;
use crate::base::{blocking, files};
use crate::documents::opening::{graph_file, of_file, read_text};
use crate::wire::{GraphRef, LaidOn, LaidView, LayGraph, Problem};

/// File of the data folder.
const FILE: &str = "laid.json";

/// The file that the threads of a graph are shown on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LaidGraph {
    path: PathBuf,
    /// Nodes of the file, by the names in the threads.
    #[serde(default)]
    names: BTreeMap<String, String>,
}

/// Graphs by their names, in every database by its address without a password.
type LaidFile = BTreeMap<String, BTreeMap<String, LaidGraph>>;

/// Returns the node of a drawing for each seen one that has one there: the one that somebody chose, or that of its name.
fn pairs(
    nodes: &BTreeSet<String>,
    own: &[String],
    chosen: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut pairs: BTreeMap<String, String> = BTreeMap::new();
    let mut used: BTreeSet<&String> = BTreeSet::new();
    for (seen, ours) in chosen {
        if nodes.contains(seen) && own.contains(ours) && used.insert(ours) {
            pairs.insert(seen.clone(), ours.clone());
        }
    }
    for seen in nodes {
        if own.contains(seen) && !pairs.contains_key(seen) && used.insert(seen) {
            pairs.insert(seen.clone(), seen.clone());
        }
    }
    pairs
}

/// Returns new names for the nodes of a drawing, so that each is called as in the threads; one that only happens to be called
/// as a node of theirs makes room.
fn new_names(own: &[String], pairs: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> = (pairs.iter())
        .map(|(seen, ours)| (ours.clone(), seen.clone()))
        .collect();
    for ours in own {
        if names.contains_key(ours) {
            continue;
        }
        let mut name = ours.clone();
        while pairs.contains_key(&name) || (name != *ours && own.contains(&name)) {
            name.push('_');
        }
        names.insert(ours.clone(), name);
    }
    names
}

fn rename(value: &mut Json, names: &BTreeMap<String, String>) {
    match value {
        Json::String(name) => {
            if let Some(new) = names.get(name) {
                name.clone_from(new);
            }
        }
        Json::Array(all) => all.iter_mut().for_each(|each| rename(each, names)),
        _ => {}
    }
}

fn renamed_members(section: Option<&mut Json>, names: &BTreeMap<String, String>) {
    if let Some(Json::Object(members)) = section {
        let old: Map<String, Json> = std::mem::take(members);
        let new = old
            .into_iter()
            .map(|(name, value)| (names.get(&name).cloned().unwrap_or(name), value));
        members.extend(new);
    }
}

/// Returns a drawing with its nodes called as in the threads; a card keeps the name that people know.
fn renamed(document: &Document, names: &BTreeMap<String, String>, name: &str) -> Document {
    let mut json = document.to_json();
    if let Some(Json::Object(nodes)) = json.get_mut("nodes") {
        for (ours, node) in nodes.iter_mut() {
            let is_new = names.get(ours).is_some_and(|new| new != ours);
            if let Some(node) = node.as_object_mut().filter(|_| is_new) {
                node.entry("title").or_insert_with(|| ours.as_str().into());
            }
        }
    }
    renamed_members(json.get_mut("nodes"), names);
    renamed_members(json.get_mut("layout"), names);
    if let Some(Json::Array(edges)) = json.get_mut("edges") {
        for edge in edges.iter_mut().filter_map(Json::as_object_mut) {
            for (field, value) in edge.iter_mut() {
                match (field.as_str(), value) {
                    ("from" | "to" | "default", value) => rename(value, names),
                    ("paths", Json::Object(paths)) => paths.values_mut().for_each(|to| rename(to, names)),
                    _ => {}
                }
            }
        }
    }
    if let Some(head) = json.as_object_mut() {
        head.insert("name".to_owned(), name.into());
    }
    Document::parse(&json.to_string()).0
}

fn nodes_of(document: &Document) -> Vec<String> {
    document.nodes().map(|(name, _)| name.to_owned()).collect()
}

/// Reads the graph of a file.
fn drawing_of(path: &Path) -> Result<Document, Problem> {
    let text = read_text(path)?
        .ok_or_else(|| Problem::file(text!("open"), path, &std::io::ErrorKind::NotFound.into()))?;
    let (document, problems) = of_file(&text);
    if document.source().is_some() || problems.iter().any(|found| found.code == "not-a-graph") {
        return Err(
            Problem::invalid(text!("{path} is no graph.", path = path.display().to_string()))
                .remedy(text!("Choose the file of a graph.")),
        );
    }
    Ok(document)
}

impl SeenGraph {
    /// Shows the threads on a drawing of ours; a file that cannot be read leaves the one that was seen.
    pub(super) fn lay(&mut self, laid: &LaidGraph) {
        let (found, problem) = match drawing_of(&laid.path) {
            Ok(document) => {
                let own = nodes_of(&document);
                let pairs = pairs(&self.nodes, &own, &laid.names);
                let drawn = renamed(&document, &new_names(&own, &pairs), &self.name);
                self.documents.insert(Vec::new(), drawn);
                (pairs.len(), None)
            }
            Err(problem) => (0, Some(problem.message)),
        };
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.laid = Some(LaidOn {
            path: laid.path.display().to_string(),
            found: small(found),
            nodes: small(self.nodes.len()),
            problem,
        });
    }
}

impl Workbench {
    fn laid_path(&self) -> PathBuf {
        self.instance.data_dir().join(FILE)
    }

    fn read_laid(&self) -> Result<LaidFile, Problem> {
        files::read_json(
            &self.laid_path(),
            text!("Correct it, or delete it: the graphs are then drawn as they were seen."),
        )
    }

    /// Shows graphs that were seen on the drawings that were chosen for them.
    pub(super) fn lay_all(&self, graphs: &mut [SeenGraph], database: &str) {
        match self.read_laid() {
            Ok(laid) => {
                let of_database = laid.get(database);
                for graph in graphs {
                    if let Some(laid) = of_database.and_then(|all| all.get(&graph.name)) {
                        graph.lay(laid);
                    }
                }
            }
            Err(problem) => tracing::warn!(%problem, "graphs are drawn as they were seen"),
        }
    }

    pub(crate) async fn graph_laid(self: &Arc<Self>, request: GraphRef) -> Result<LaidView, Problem> {
        let seen = self.seen().await?;
        let graph = seen.as_ref().and_then(|seen| seen.graph(&request.graph_id));
        let graph = graph.ok_or_else(not_seen)?;
        let laid = self.read_laid()?;
        let laid = laid
            .get(&self.database.place())
            .and_then(|all| all.get(&graph.name));
        let nodes = graph.nodes.iter().cloned().collect();
        let Some(laid) = laid.cloned() else {
            return Ok(LaidView {
                nodes,
                ..LaidView::default()
            });
        };
        let path = laid.path.clone();
        let own = blocking(move || drawing_of(&path))
            .await?
            .map(|own| nodes_of(&own))?;
        Ok(LaidView {
            path: Some(laid.path.display().to_string()),
            nodes,
            names: pairs(&graph.nodes, &own, &laid.names),
            own,
        })
    }

    pub(crate) async fn graph_lay(self: &Arc<Self>, request: LayGraph) -> Result<LaidView, Problem> {
        let seen = self.seen().await?;
        let graph = seen.as_ref().and_then(|seen| seen.graph(&request.graph_id));
        let graph = graph.ok_or_else(not_seen)?;
        let chosen = match request.path.clone() {
            Some(path) => Some(
                blocking(move || {
                    let path = graph_file(&path)?;
                    drawing_of(&path).map(|document| (path, nodes_of(&document)))
                })
                .await??,
            ),
            None => None,
        };
        if let Some(names) = &request.names {
            let own = chosen.as_ref().map(|(_, own)| own.as_slice()).unwrap_or_default();
            let mut used = BTreeSet::new();
            for ours in names.values() {
                if !own.contains(ours) {
                    return Err(
                        Problem::invalid(text!("The graph has no node {node}.", node = ours))
                            .remedy(text!("Choose one of the nodes that are there.")),
                    );
                }
                if !used.insert(ours) {
                    return Err(
                        Problem::invalid(text!("Node {name} was chosen twice.", name = ours))
                            .remedy(text!("Choose each node for one of the threads’ nodes.")),
                    );
                }
            }
        }
        self.keep_laid(&graph.name, chosen.map(|(path, _)| path), request.names)?;
        {
            let mut memory = self.graphs.seen.memory.lock().await;
            memory.version = None;
        }
        if let Some(seen) = self.seen().await? {
            self.show_seen(&seen);
        }
        self.graph_laid(GraphRef {
            graph_id: request.graph_id,
        })
        .await
    }

    fn keep_laid(
        &self,
        graph: &str,
        path: Option<PathBuf>,
        names: Option<BTreeMap<String, String>>,
    ) -> Result<(), Problem> {
        let _one_at_a_time = self.graphs.seen.laying.lock();
        let mut laid = self.read_laid()?;
        let place = self.database.place();
        let of_database = laid.entry(place.clone()).or_default();
        let before = of_database.remove(graph);
        if let Some(path) = path {
            let known = before.filter(|before| before.path == path);
            let names = names.unwrap_or_else(|| known.map(|known| known.names).unwrap_or_default());
            of_database.insert(graph.to_owned(), LaidGraph { path, names });
        }
        if of_database.is_empty() {
            laid.remove(&place);
        }
        let path = self.laid_path();
        if laid.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Problem::file(text!("delete"), &path, &error))
                }
                _ => Ok(()),
            };
        }
        files::write_private(&path, &files::json_bytes(&laid)?)
            .map_err(|error| Problem::file(text!("write"), &path, &error))
    }
}

fn not_seen() -> Problem {
    Problem::not_found(text!("That graph was not seen in the database in use."))
        .remedy(text!("Open the database again."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter()
            .map(|(seen, ours)| ((*seen).to_owned(), (*ours).to_owned()))
            .collect()
    }

    #[test]
    fn nodes_of_equal_names_are_the_same_unless_somebody_says_otherwise() {
        let nodes: BTreeSet<String> = ["ask", "cost", "read"].map(String::from).into();
        let own = ["read", "price", "cost", "end"].map(String::from);
        let all = |chosen: &[(&str, &str)]| pairs(&nodes, &own, &names(chosen));
        assert_eq!(all(&[]), names(&[("cost", "cost"), ("read", "read")]));
        let chosen = all(&[("cost", "price"), ("gone", "end"), ("ask", "gone")]);
        assert_eq!(chosen, names(&[("cost", "price"), ("read", "read")]));
        // The one that was called so makes room.
        let new = new_names(&own, &chosen);
        assert_eq!(
            new,
            names(&[
                ("read", "read"),
                ("price", "cost"),
                ("cost", "cost_"),
                ("end", "end")
            ])
        );
        // A choice wins over a name.
        assert_eq!(
            all(&[("ask", "read")]),
            names(&[("ask", "read"), ("cost", "cost")])
        );
    }

    #[test]
    fn a_drawing_is_called_as_in_the_threads_everywhere() {
        let text = json!({
            "format": "superstep/1", "name": "Mine",
            "nodes": {"price": {"kind": "assign"}, "pay": {"kind": "assign", "title": "Pays"}},
            "edges": [
                {"from": "__start__", "to": "price"},
                {"from": ["price", "pay"], "to": "price"},
                {"from": "price", "route": "'pay'", "paths": {"price": "pay"}, "default": "price"}
            ],
            "layout": {"price": [4, 8]}
        });
        let (document, _) = Document::parse(&text.to_string());
        let drawn = renamed(&document, &names(&[("price", "cost"), ("pay", "pay")]), "agent").to_json();
        assert_eq!(drawn["name"], "agent");
        assert_eq!(drawn["nodes"]["cost"]["title"], "price");
        assert_eq!(drawn["nodes"]["pay"]["title"], "Pays");
        assert_eq!(drawn["layout"]["cost"], json!([4, 8]));
        assert_eq!(drawn["edges"][0]["to"], "cost");
        assert_eq!(drawn["edges"][1]["from"], json!(["cost", "pay"]));
        let route = &drawn["edges"][2];
        assert_eq!(
            (
                &route["from"],
                &route["route"],
                &route["paths"],
                &route["default"]
            ),
            (
                &json!("cost"),
                &json!("'pay'"),
                &json!({"price": "pay"}),
                &json!("cost")
            )
        );
    }
}
