//! What comes with the app to begin with, and what is made of a document for other programs: its text, a drawing, the
//! types of its state.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use superstep_document::Document;
use superstep_nodes::kinds::code::Language;
use superstep_nodes::kinds::state_types;

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::documents::{records, text_of};
use crate::wire::{
    Example, Exported, GraphRef, GraphView, OpenExample, OpenGraph, Problem, ProgramLanguage, ReadTypes,
    StateTypes,
};
use superstep_document::text;

/// Checks whether an example's folder holds only its graph and what is written about it, and nothing that the graph
/// needs.
fn is_alone(folder: &Path) -> bool {
    let about = ["graph.json", "README.md", "expect", "evaluations"];
    fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .flatten()
            .all(|entry| about.iter().any(|known| entry.file_name() == *known))
    })
}

impl Workbench {
    pub(crate) async fn graph_open_example(
        self: &Arc<Self>,
        request: OpenExample,
    ) -> Result<GraphView, Problem> {
        let missing = || {
            Problem::not_found(text!(
                "There is no example called {id}.",
                id = format!("{:?}", request.id)
            ))
            .remedy(text!("Choose one of the examples on the start screen."))
        };
        let plain =
            !request.id.is_empty() && !request.id.starts_with('.') && !request.id.contains(['/', '\\']);
        let examples = self
            .documents
            .examples_dir
            .clone()
            .filter(|_| plain)
            .ok_or_else(missing)?;
        let (from, to) = (
            examples.join(&request.id),
            self.documents.graphs_dir.join(&request.id),
        );
        let to = blocking(move || {
            if !to.join("graph.json").exists() {
                if !from.join("graph.json").is_file() {
                    return Ok(None);
                }
                files::copy_folder(&from, &to)
                    .map_err(|e| Problem::file(text!("copy the example to"), &to, &e))?;
            }
            Ok::<_, Problem>(Some(to))
        })
        .await??
        .ok_or_else(missing)?;
        self.graph_open(OpenGraph {
            path: to.to_string_lossy().into_owned(),
            work: None,
        })
        .await
    }

    pub(crate) async fn graph_export(self: &Arc<Self>, request: GraphRef) -> Result<Exported, Problem> {
        let open = self.document(&request.graph_id)?;
        let mut source = open.source();
        if let Some(own) = Self::own_of_seen(&open) {
            source.document = own;
        }
        let this = self.clone();
        blocking(move || {
            let checked = this.check(&source.document, source.path.as_deref().and_then(Path::parent));
            Exported {
                json: source.document.to_text(),
                mermaid: source.document.mermaid_with(checked.dynamic_targets()),
            }
        })
        .await
    }

    /// Returns the examples that come with the app, by folder name.
    pub(crate) fn examples(&self) -> &[Example] {
        self.documents.examples.get_or_init(|| {
            self.documents
                .examples_dir
                .as_deref()
                .map(read_examples)
                .unwrap_or_default()
        })
    }

    pub(crate) async fn graph_types(self: &Arc<Self>, request: ReadTypes) -> Result<StateTypes, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let language = match request.language {
            ProgramLanguage::Javascript => Language::JavaScript,
            ProgramLanguage::Python => Language::Python,
        };
        Ok(StateTypes {
            text: state_types::types(&source.document, language),
        })
    }
}

fn read_examples(dir: &Path) -> Vec<Example> {
    let mut examples: Vec<Example> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let text = superstep_nodes::files::read_own(&entry.path().join("graph.json")).ok()?;
            let (document, _) = Document::parse(&text);
            let id = entry.file_name().to_string_lossy().into_owned();
            Some(Example {
                name: text_of(&document, "name").unwrap_or(&id).to_owned(),
                summary: text_of(&document, "description").unwrap_or_default().to_owned(),
                records: records(&document),
                alone: is_alone(&entry.path()),
                id,
            })
        })
        .collect();
    examples.sort_by(|a, b| a.id.cmp(&b.id));
    examples
}
