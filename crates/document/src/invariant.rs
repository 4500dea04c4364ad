//! Invariants: expressions that must hold, on the graph as a whole or at a node, an edge or a state key. They stand in the
//! record that they are about, so that they follow it when it is renamed, copied or removed.

use serde_json::{Value as Json, json};

use crate::document::{Document, Section};

/// The field of a record that has them.
pub const INVARIANTS: &str = "invariants";

/// Invariants of one record.
pub const MAX_INVARIANTS: usize = 50;

/// Reaction of a run to a broken invariant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenBroken {
    /// The run says so and goes on.
    #[default]
    Tell,
    /// The run stops, as at a breakpoint.
    Pause,
    /// The run fails.
    Fail,
}

impl WhenBroken {
    /// All of them, in the order of the documentation.
    pub const ALL: [WhenBroken; 3] = [WhenBroken::Tell, WhenBroken::Pause, WhenBroken::Fail];

    /// Returns the word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            WhenBroken::Tell => "tell",
            WhenBroken::Pause => "pause",
            WhenBroken::Fail => "fail",
        }
    }

    /// Returns the reaction that this word names.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|then| then.as_str() == word)
    }
}

/// An expression that must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The record that it is about: `doc`, `key:NAME`, `node:NAME` or `edge:ID`.
    pub record: String,
    /// Its place among those of the record, from 0.
    pub place: usize,
    /// The expression.
    pub must: String,
    /// What to say when it is broken.
    pub message: Option<String>,
    /// What happens then.
    pub when_broken: WhenBroken,
}

impl Invariant {
    fn of(record: &str, place: usize, value: &Json) -> Option<Self> {
        let text = |field: &str| value.get(field).and_then(Json::as_str).map(str::trim);
        let filled = |field: &str| text(field).filter(|text| !text.is_empty()).map(str::to_owned);
        Some(Self {
            record: record.to_owned(),
            place,
            must: filled("must")?,
            message: filled("message"),
            when_broken: text("when_broken").and_then(WhenBroken::of).unwrap_or_default(),
        })
    }

    /// Returns a name that is unique in the document: the record and the place in it, from 1, such as `node:pay#1`.
    pub fn id(&self) -> String {
        format!("{}#{}", self.record, self.place + 1)
    }

    /// Returns the text by which messages name the invariant.
    pub fn says(&self) -> String {
        self.message.clone().unwrap_or_else(|| format!("`{}`", self.must))
    }

    /// Returns the place of the expression in its record, as a JSON Pointer.
    pub fn pointer(&self) -> String {
        format!("/{INVARIANTS}/{}/must", self.place)
    }
}

impl Document {
    /// Returns all invariants, in the order of the records; those without an expression are left out.
    pub fn invariants(&self) -> Vec<Invariant> {
        let head = self.head().get(INVARIANTS).map(|list| ("doc".to_owned(), list));
        let sections = [Section::Keys, Section::Nodes, Section::Edges];
        let records = sections.into_iter().flat_map(|section| self.section(section));
        let records = records.filter_map(|(id, record)| Some((id.clone(), record.get(INVARIANTS)?)));
        let of = |(record, list): (String, &Json)| {
            let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
            let read = list.iter().take(MAX_INVARIANTS).enumerate();
            read.filter_map(|(place, value)| Invariant::of(&record, place, value))
                .collect::<Vec<_>>()
        };
        head.into_iter().chain(records).flat_map(of).collect()
    }
}

/// Returns the schema of the field.
pub(crate) fn schema() -> Json {
    json!({
        "type": "array",
        "maxItems": MAX_INVARIANTS,
        "description": "Expressions that must hold: after every step, or at this node, edge or state key.",
        "items": {
            "type": "object",
            "required": ["must"],
            "properties": {
                "must": { "$ref": "#/$defs/expression" },
                "message": { "type": "string", "description": "What to say when it is broken." },
                "when_broken": {
                    "enum": WhenBroken::ALL.map(WhenBroken::as_str),
                    "default": WhenBroken::default().as_str(),
                    "description": "What happens in a run: it says so and goes on, stops, or fails."
                }
            }
        }
    })
}
