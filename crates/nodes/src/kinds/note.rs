//! `note`: a text on the canvas. It is never part of the graph that runs, so nothing may lead to it or come from it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::Node;
use superstep_document::{Diagnostic, NOTE};

use crate::base::config_schema::schema_of;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use superstep_document::text;

/// Settings of a `note`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Text on the canvas.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["text", "color", "frame"], &[("Size", &["width", "height"])])))]
pub struct NoteConfig {
    /// Markdown text of the note.
    #[schemars(title = "Text", extend("x-editor" = "text"))]
    pub text: String,
    /// Colour of the note: `yellow`, `green`, `blue`, `purple`, `red` or `gray`.
    #[serde(default)]
    #[schemars(title = "Colour")]
    pub color: NoteColor,
    /// Draws a titled frame behind the nodes that moves the nodes in it.
    #[serde(default)]
    #[schemars(title = "Frame")]
    pub frame: bool,
    /// Width on the canvas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Width", range(min = 120, max = 20000))]
    pub width: Option<u32>,
    /// Height on the canvas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Height", range(min = 44, max = 20000))]
    pub height: Option<u32>,
}

/// Colours of notes and frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum NoteColor {
    /// Yellow.
    #[default]
    Yellow,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Purple.
    Purple,
    /// Red.
    Red,
    /// Gray.
    Gray,
}

/// The kind.
pub struct Note;

impl NodeKind for Note {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: NOTE,
            title: "Note",
            summary: "Text on the canvas; never runs.",
            icon: "sticky-note",
            group: "people",
            aliases: &[
                "comment",
                "sticky note",
                "annotation",
                "text",
                "markdown",
                "documentation",
                "frame",
                "group",
                "region",
            ],
            config_schema: schema_of::<NoteConfig>(),
            defaults: json!({"text": ""}),
            card: &["/text"],
        }
    }

    fn check(&self, _: &mut Site<'_>) {}

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let message = text!("A note is no part of the graph.");
        let remedy = text!("Leave it unconnected.");
        Err(Diagnostic::error(
            "note-in-graph",
            format!("node:{}", site.node),
            message,
            remedy,
        ))
    }
}
