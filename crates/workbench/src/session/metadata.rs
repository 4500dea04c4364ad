//! Metadata that hosts put on every checkpoint, so that a thread can be understood and continued without the ledger.

use std::path::Path;

use superstep::Value;
use superstep::checkpoint::{CheckpointHead, Metadata, Source, TASK_IDS};
use superstep::value::Object;
use superstep_document::Document;

use crate::wire::{RunLabels, RunModels, WhatIfBranch};

/// The name of the graph.
const GRAPH: &str = "graph";
/// The path of the graph's file, or the id of its draft.
const GRAPH_PATH: &str = "graph_path";
/// The run that made a checkpoint, under the name that LangGraph has for it.
const RUN_ID: &str = "run_id";
/// What the person is called who ran or edited, where that is known.
const BY: &str = "by";
/// The keys that an edit wrote, one a line.
const EDITED: &str = "edited";
/// The disabled nodes of the graph that a run passed by, one a line.
const DISABLED: &str = "disabled_nodes";
/// The nodes of the graph whose output was pinned in a run, one a line.
const PINNED: &str = "pinned_nodes";
/// The what-if grid, its row and the run of the row that made a checkpoint, with slashes between.
const WHAT_IF: &str = "what_if";
/// Metadata of a run in which a model answers for the scripted ones.
pub(crate) const SCRIPTED_MODELS: &str = "scripted_models";
/// Metadata of a run whose models' answers are kept, or come from what was kept.
pub(crate) const RECORDED_MODELS: &str = "recorded_models";
/// All of these, and what the engine and LangGraph's programs note of a checkpoint. The rest is the user's.
const OWN: [&str; 12] = [
    PINNED,
    GRAPH,
    GRAPH_PATH,
    RUN_ID,
    BY,
    EDITED,
    DISABLED,
    WHAT_IF,
    SCRIPTED_MODELS,
    RECORDED_MODELS,
    "as_node",
    "writes",
];

/// The graph of a run or an edit, as its checkpoints say it.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the graph.
    pub graph: String,
    /// The path of its file, or the id of its draft.
    pub path: String,
    /// Who answers for its models.
    pub models: RunModels,
    /// Its disabled nodes.
    pub disabled: Vec<String>,
    /// What the person is called who runs or edits.
    pub by: Option<String>,
    /// Tags and metadata of its run.
    pub labels: RunLabels,
    /// The nodes whose output is pinned in its run.
    pub pinned: Vec<String>,
}

impl Origin {
    /// Builds the metadata of a run's checkpoints.
    pub fn of_run(&self, run_id: &str) -> Object {
        let mut metadata = self.of_graph();
        self.labels.note(&mut metadata);
        self.models.note(&mut metadata);
        if !self.disabled.is_empty() {
            metadata.insert(DISABLED, self.disabled.join("\n"));
        }
        if !self.pinned.is_empty() {
            metadata.insert(PINNED, self.pinned.join("\n"));
        }
        metadata.insert(RUN_ID, run_id);
        if let Some(name) = &self.by {
            metadata.insert(BY, name.as_str());
        }
        metadata
    }

    /// Builds the metadata of an edit that writes these keys.
    pub fn of_edit<'a>(&self, keys: impl IntoIterator<Item = &'a str>) -> Object {
        let keys: Vec<&str> = keys.into_iter().collect();
        let mut metadata = self.of_graph();
        metadata.insert(EDITED, keys.join("\n"));
        // An edit inherits the metadata of what it edits: nobody's work is taken for another's.
        metadata.insert(BY, self.by.as_deref().unwrap_or_default());
        metadata
    }

    /// Notes the graph in the metadata of a checkpoint that says nothing of one.
    pub(crate) fn note_graph(&self, metadata: &mut Object) {
        for (name, value) in self.of_graph().iter() {
            if metadata.get(name).is_none() {
                metadata.insert(&**name, value.clone());
            }
        }
    }

    fn of_graph(&self) -> Object {
        [(GRAPH, self.graph.as_str()), (GRAPH_PATH, self.path.as_str())]
            .into_iter()
            .collect()
    }
}

/// Tells whether metadata under this key is not the user's.
pub(super) fn is_own(key: &str) -> bool {
    OWN.contains(&key) || superstep::run::is_own_metadata(key)
}

fn text<'a>(head: &'a CheckpointHead, name: &str) -> Option<&'a str> {
    head.metadata.user.get(name).and_then(Value::as_str)
}

/// Returns the name of the graph that made a checkpoint.
pub fn graph_name(head: &CheckpointHead) -> Option<&str> {
    text(head, GRAPH)
}

/// Returns the path of the graph that made a checkpoint, or the id of its draft.
pub fn graph_path(head: &CheckpointHead) -> Option<&str> {
    text(head, GRAPH_PATH)
}

/// Returns whether a checkpoint was copied from another program's thread and is of no graph here yet.
pub fn is_copied(head: &CheckpointHead) -> bool {
    head.metadata.user.contains_key(TASK_IDS)
}

/// Returns the id of the run that made a checkpoint.
pub(crate) fn run_id(head: &CheckpointHead) -> Option<&str> {
    text(head, RUN_ID)
}

/// Returns the disabled nodes that the run of a checkpoint skipped.
pub fn disabled_nodes(head: &CheckpointHead) -> impl Iterator<Item = &str> {
    text(head, DISABLED).into_iter().flat_map(str::lines)
}

/// Returns the nodes whose output was pinned in the run of a checkpoint.
pub fn pinned_nodes(head: &CheckpointHead) -> impl Iterator<Item = &str> {
    text(head, PINNED).into_iter().flat_map(str::lines)
}

/// Returns the nodes of a document that its runs skip.
pub fn disabled_in(document: &Document) -> Vec<String> {
    let nodes = document.nodes().filter(|(_, spec)| spec.disabled.is_some());
    nodes.map(|(id, _)| id.to_owned()).collect()
}

/// Says of a branch that it is of a what-if grid.
pub(crate) fn mark_what_if(metadata: &mut Object, branch: &WhatIfBranch) {
    metadata.insert(
        WHAT_IF,
        format!("{}/{}/{}", branch.grid, branch.row, branch.repeat),
    );
}

/// Says of a checkpoint that continues a branch of a what-if grid that it is of none.
pub(crate) fn unmark_what_if(metadata: &mut Object) {
    metadata.insert(WHAT_IF, "");
}

/// Returns the branch of a what-if grid that a checkpoint is on.
pub(crate) fn what_if(head: &CheckpointHead) -> Option<WhatIfBranch> {
    let mut parts = text(head, WHAT_IF)?.split('/');
    Some(WhatIfBranch {
        grid: parts.next().filter(|grid| !grid.is_empty())?.to_owned(),
        row: parts.next()?.parse().ok()?,
        repeat: parts.next()?.parse().ok()?,
    })
}

/// Returns the name of the person who gave an input, edited or forked; `None` for the steps that followed.
pub(crate) fn by(metadata: &Metadata) -> Option<String> {
    let name = metadata.user.get(BY).and_then(Value::as_str)?;
    (metadata.source != Source::Loop && !name.is_empty()).then(|| name.to_owned())
}

/// Returns the keys that an edit wrote.
pub(crate) fn edited_keys(head: &CheckpointHead) -> Option<impl Iterator<Item = &str>> {
    text(head, EDITED).map(str::lines)
}

/// Returns the models that answered on the way to a checkpoint.
pub fn models_of(head: &CheckpointHead) -> RunModels {
    RunModels::of(&head.metadata.user)
}

/// Restricts a filter of checkpoints to those of the graph at a path, or of a draft.
pub fn of_graph(mut filter: Object, path: &str) -> Object {
    filter.insert(GRAPH_PATH, path);
    filter
}

/// Restricts a filter of checkpoints to those of graphs of this name.
pub fn of_graph_named(mut filter: Object, name: &str) -> Object {
    filter.insert(GRAPH, name);
    filter
}

/// Returns a document's name, or the name of its file.
pub fn name_of(document: &Document, path: Option<&Path>) -> String {
    let from_path = || {
        let path = path?;
        let stem = path.file_stem()?;
        // A `graph.json` is known by its folder.
        let folder = || path.parent().and_then(Path::file_name);
        let known = (stem == "graph").then(folder).flatten();
        Some(known.unwrap_or(stem).to_string_lossy().into_owned())
    };
    let named = Some(document.name().trim()).filter(|name| !name.is_empty());
    named
        .map(str::to_owned)
        .or_else(from_path)
        .unwrap_or_else(|| "Untitled".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_named_by_its_text_its_file_or_its_folder() {
        let document = |text: &str| Document::parse(text).0;
        let named = document(r#"{"format": "superstep/1", "name": " Triage "}"#);
        assert_eq!(name_of(&named, Some(Path::new("/a/b.json"))), "Triage");
        let bare = document(r#"{"format": "superstep/1"}"#);
        for (path, name) in [
            ("/a/mail.json", "mail"),
            ("/a/graph.json", "a"),
            ("/graph.json", "graph"),
        ] {
            assert_eq!(name_of(&bare, Some(Path::new(path))), name, "{path}");
        }
        assert_eq!(name_of(&bare, None), "Untitled");
    }

    #[test]
    fn a_run_and_an_edit_name_their_graph() {
        let origin = Origin {
            graph: "Triage".into(),
            path: "/a/graph.json".into(),
            models: RunModels {
                scripted: Some("office::small".into()),
                recording: None,
            },
            disabled: vec!["mail".into(), "pay".into()],
            by: Some("Ada".into()),
            labels: RunLabels {
                tags: vec!["eval".into()],
                ..RunLabels::default()
            },
            pinned: vec!["fetch".into()],
        };
        let run = origin.of_run("r1");
        for (name, value) in [
            ("graph", "Triage"),
            ("graph_path", "/a/graph.json"),
            ("run_id", "r1"),
            ("disabled_nodes", "mail\npay"),
            ("pinned_nodes", "fetch"),
            ("by", "Ada"),
        ] {
            assert_eq!(run.get(name).and_then(Value::as_str), Some(value), "{name}");
        }
        assert_eq!(RunModels::of(&run), origin.models);
        assert_eq!(RunLabels::of(&run), origin.labels);
        let edit = origin.of_edit(["a", "b"]);
        assert_eq!(edit.get("edited").and_then(Value::as_str), Some("a\nb"));
        assert!(RunModels::of(&edit).is_empty(), "no model answered for an edit");
        let nobody = Origin { by: None, ..origin };
        assert_eq!(nobody.of_run("r2").get("by"), None);
        let edit = nobody.of_edit([]);
        assert_eq!(
            edit.get("by").and_then(Value::as_str),
            Some(""),
            "the name before is not inherited"
        );
    }
}
