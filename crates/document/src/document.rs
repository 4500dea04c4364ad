//! The document as an ordered list of records, and how a file becomes one and back.
//!
//! The *head* (`doc`) holds every top-level field that is not one of the four sections, so an unknown field is just a
//! field of the head. A section that has the wrong type in the file cannot become records; it stays in the head as it
//! is, is reported by `validate`, and comes out again when the file is saved.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use crate::diagnostic::Diagnostic;
use crate::halves::without_halves;
use crate::words::text;
use crate::{FORMAT, json, writing};

/// A part of the document that consists of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `state`: records `key:NAME`.
    Keys,
    /// `nodes`: records `node:NAME`.
    Nodes,
    /// `edges`: records `edge:ID`.
    Edges,
    /// `layout`: records `layout:NODE`.
    Layout,
}

impl Section {
    /// All of them, in the order of records.
    pub const ALL: [Section; 4] = [Section::Keys, Section::Nodes, Section::Edges, Section::Layout];

    /// Returns the section's field in the file.
    pub fn field(self) -> &'static str {
        match self {
            Section::Keys => "state",
            Section::Nodes => "nodes",
            Section::Edges => "edges",
            Section::Layout => "layout",
        }
    }

    /// Returns the prefix of the section's record ids.
    pub fn prefix(self) -> &'static str {
        match self {
            Section::Keys => "key:",
            Section::Nodes => "node:",
            Section::Edges => "edge:",
            Section::Layout => "layout:",
        }
    }

    /// Returns the section of a record id and the name in it.
    pub fn of(id: &str) -> Option<(Section, &str)> {
        Section::ALL
            .into_iter()
            .find_map(|section| Some((section, id.strip_prefix(section.prefix())?)))
    }

    /// Returns the section that is stored in this field of the file.
    pub fn of_field(field: &str) -> Option<Section> {
        Section::ALL.into_iter().find(|section| section.field() == field)
    }
}

/// A graph document.
#[derive(Clone, Debug)]
pub struct Document {
    head: Json,
    sections: [IndexMap<String, Json>; 4],
    /// Sections that are written even when they are empty, because the file had them.
    present: [bool; 4],
    /// Top-level names in the order of the file. Names are never removed, so that a field that comes back finds its place.
    order: Vec<String>,
    /// The text, when it could not be read as a document.
    source: Option<String>,
    /// The file begins with the mark of its encoding.
    has_mark: bool,
    /// Lines of the file end as Windows ends them.
    has_returns: bool,
}

impl Document {
    /// Creates a document with a name and nothing else.
    pub fn new(name: &str) -> Self {
        let mut head = Map::new();
        head.insert("format".into(), FORMAT.into());
        head.insert("name".into(), name.into());
        let order = [
            "format",
            "name",
            "description",
            "state",
            "input",
            "output",
            "nodes",
            "edges",
            "layout",
        ];
        Self {
            head: Json::Object(head),
            sections: Default::default(),
            present: [true, true, true, false],
            order: order.map(String::from).to_vec(),
            source: None,
            has_mark: false,
            has_returns: false,
        }
    }

    /// Reads a file. Never fails: text that is no JSON object gives an empty document that keeps the text
    /// ([`source`](Self::source)). The diagnostics are those that records cannot show any more (no JSON, members that
    /// stand twice); everything else is found by [`validate`](Self::validate).
    pub fn parse(text: &str) -> (Self, Vec<Diagnostic>) {
        let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = json::parse(unmarked).or_else(|error| {
            match String::from_utf8(without_halves(unmarked.as_bytes()).into_owned()) {
                Ok(whole) if whole != unmarked => json::parse(&whole),
                _ => Err(error),
            }
        });
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                let diagnostic = Diagnostic::error(
                    "not-json",
                    "doc",
                    text!("The file is not JSON: {error}.", error = error.to_string()),
                    text!(
                        "Correct the text there, or take back an earlier version of the file. Nothing is written over it."
                    ),
                );
                return (Self::text_only(text), vec![diagnostic]);
            }
        };
        let Json::Object(members) = parsed.value else {
            let diagnostic = Diagnostic::error(
                "not-an-object",
                "doc",
                text!(
                    "A graph is a JSON object, and the file holds {found}.",
                    found = json::type_name(&parsed.value)
                ),
                text!("Open another file, or put the graph between { and }. Nothing is written over it."),
            );
            return (Self::text_only(text), vec![diagnostic]);
        };
        let mut document = Self::from_members(members);
        let mut diagnostics: Vec<_> = parsed
            .duplicates
            .iter()
            .map(|pointer| document.duplicate(pointer))
            .collect();
        document.source = None;
        document.has_mark = unmarked.len() < text.len();
        document.has_returns = text
            .split_once('\n')
            .is_some_and(|(line, _)| line.ends_with('\r'));
        diagnostics.dedup();
        (document, diagnostics)
    }

    /// Creates a document that holds a text and no records, as of a file that is no graph.
    pub fn text_only(text: &str) -> Self {
        Self {
            head: Json::Object(Map::new()),
            sections: Default::default(),
            present: [false; 4],
            order: Vec::new(),
            source: Some(text.to_owned()),
            has_mark: false,
            has_returns: false,
        }
    }

    fn from_members(members: Map<String, Json>) -> Self {
        let mut document = Self::text_only("");
        document.source = None;
        document.order = members.keys().cloned().collect();
        let mut head = Map::new();
        for (field, value) in members {
            match (Section::of_field(&field), value) {
                (Some(Section::Edges), Json::Array(edges)) => {
                    document.present[Section::Edges as usize] = true;
                    document.sections[Section::Edges as usize] = identify(edges);
                }
                (Some(section), Json::Object(records)) if section != Section::Edges => {
                    document.present[section as usize] = true;
                    document.sections[section as usize] = records
                        .into_iter()
                        .map(|(name, value)| (format!("{}{name}", section.prefix()), value))
                        .collect();
                }
                (_, value) => {
                    head.insert(field, value);
                }
            }
        }
        document.head = Json::Object(head);
        document
    }

    /// Builds the diagnostic for a member that occurs twice at `pointer` of the file.
    fn duplicate(&self, pointer: &str) -> Diagnostic {
        let unescape = |segment: &str| segment.replace("~1", "/").replace("~0", "~");
        let mut segments = pointer.split('/').skip(1);
        let field = segments.next().unwrap_or_default();
        let rest: Vec<&str> = segments.collect();
        let name = unescape(rest.last().copied().unwrap_or(field));
        let (record, inside) = match (Section::of_field(field), rest.split_first()) {
            (Some(Section::Edges), Some((index, inside))) => {
                let id = index.parse().ok().and_then(|index: usize| {
                    self.sections[Section::Edges as usize]
                        .get_index(index)
                        .map(|(id, _)| id.clone())
                });
                (id.unwrap_or_else(|| "doc".into()), inside)
            }
            (Some(section), Some((name, inside))) => {
                (format!("{}{}", section.prefix(), unescape(name)), inside)
            }
            (Some(_), None) => ("doc".into(), &[][..]),
            (None, _) => ("doc".into(), &rest[..]),
        };
        let pointer = match record.as_str() {
            "doc" => Some(pointer.to_owned()),
            _ if inside.is_empty() => None,
            _ => Some(format!("/{}", inside.join("/"))),
        };
        let mut diagnostic = Diagnostic::error(
            "duplicate-name",
            record,
            text!(
                "`{name}` stands more than once in the file; only the last one is read.",
                name
            ),
            text!("Rename or delete one of them in the file. Saving from here keeps only the last one."),
        );
        diagnostic.pointer = pointer;
        diagnostic
    }

    /// Returns the text of a file that could not be read. While there is one, saving would lose it.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns whether the records are those of a graph: they name its format, or nodes by their names. JSON of other
    /// programs has records too, which mean something else.
    pub fn is_graph(&self) -> bool {
        let nodes = Section::Nodes as usize;
        match self.head().get("format").and_then(Json::as_str) {
            // Of a newer release, too.
            Some(format) => format
                .strip_prefix("superstep/")
                .is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit())),
            None => self.present[nodes] || !self.sections[nodes].is_empty(),
        }
    }

    /// Returns the text that stands in the file, or is to be written there: in the encoding and with the ends of lines that
    /// the file had.
    pub fn file_text(&self) -> String {
        if let Some(text) = &self.source {
            return text.clone();
        }
        let text = self.to_text();
        let text = match self.has_returns {
            true => text.replace('\n', "\r\n"),
            false => text,
        };
        match self.has_mark {
            true => format!("\u{feff}{text}"),
            false => text,
        }
    }

    /// Returns all records with their ids: the head, then keys, nodes, edges and positions, each in the order of the
    /// file.
    pub fn records(&self) -> impl Iterator<Item = (&str, &Json)> {
        std::iter::once(("doc", &self.head)).chain(
            self.sections
                .iter()
                .flatten()
                .map(|(id, value)| (id.as_str(), value)),
        )
    }

    /// Returns one record.
    pub fn record(&self, id: &str) -> Option<&Json> {
        match Section::of(id) {
            Some((section, _)) => self.section(section).get(id),
            None => (id == "doc").then_some(&self.head),
        }
    }

    /// Returns the records of one section, by their ids.
    pub fn section(&self, section: Section) -> &IndexMap<String, Json> {
        &self.sections[section as usize]
    }

    pub(crate) fn section_mut(&mut self, section: Section) -> &mut IndexMap<String, Json> {
        &mut self.sections[section as usize]
    }

    /// Names and contents of the records of one section.
    pub(crate) fn named(&self, section: Section) -> impl Iterator<Item = (&str, &Json)> {
        self.section(section)
            .iter()
            .map(move |(id, value)| (&id[section.prefix().len()..], value))
    }

    /// Returns the head: every top-level field that is not a section.
    pub fn head(&self) -> &Map<String, Json> {
        static EMPTY: std::sync::LazyLock<Map<String, Json>> = std::sync::LazyLock::new(Map::new);
        self.head.as_object().unwrap_or(&EMPTY)
    }

    /// Replaces the head. New fields take their place after the field before them.
    pub(crate) fn set_head(&mut self, head: Map<String, Json>) {
        let mut previous: Option<&str> = None;
        for field in head.keys() {
            if !self.order.contains(field) {
                // What usually stands after the sections is put there; anything else follows its predecessor.
                let last = matches!(field.as_str(), "context_sets" | "examples" | "recursion_limit");
                let place = match previous.and_then(|name| self.order.iter().position(|other| other == name))
                {
                    _ if last => self.order.len(),
                    Some(index) => index + 1,
                    None => 0,
                };
                self.order.insert(place, field.clone());
            }
            previous = Some(field);
        }
        self.head = Json::Object(head);
        self.source = None;
    }

    /// Returns the document with the node enabled, whatever its record specifies.
    pub fn enabled(&self, node: &str) -> Self {
        let mut document = self.clone();
        if let Some(Json::Object(fields)) = document
            .section_mut(Section::Nodes)
            .get_mut(&format!("node:{node}"))
        {
            fields.remove("disabled");
        }
        document
    }

    /// Marks an unreadable file as a document because a record was put in.
    pub(crate) fn touched(&mut self) {
        self.source = None;
    }

    pub(crate) fn restore_source(&mut self, source: Option<String>) {
        self.source = source;
    }

    /// Converts the whole document to one JSON value, in the order of the file.
    pub fn to_json(&self) -> Json {
        Json::Object(
            self.members()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    /// Converts the document to the text of the file. Formatting it again gives the same text.
    pub fn to_text(&self) -> String {
        writing::document(self.members())
    }

    /// Returns the top-level fields in the order of the file. The head decides the order of its own fields; a section
    /// follows the field it followed in the file.
    fn members(&self) -> impl Iterator<Item = (&str, Json)> {
        let head = self.head();
        let mut members: Vec<(&str, Json)> = head
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let written = |section: Section| self.present[section as usize] || !self.section(section).is_empty();
        let defaults = Section::ALL.iter().map(|section| section.field());
        let known = self.order.iter().map(String::as_str);
        let unseen = defaults.filter(|field| !self.order.iter().any(|name| name == field));
        // Where a section goes that the file did not have: after the one before it, else after the leading texts.
        let mut previous: Option<&str> = None;
        let place = |members: &mut Vec<(&str, Json)>, field: &'static str, after: Option<&str>| {
            let Some(section) = Section::of_field(field).filter(|section| written(*section)) else {
                return;
            };
            if head.contains_key(field) {
                return;
            }
            let index = after.and_then(|name| members.iter().position(|(other, _)| *other == name));
            members.insert(
                index.map_or(0, |index| index + 1),
                (field, self.section_json(section)),
            );
        };
        for name in known {
            if let Some(section) = Section::of_field(name) {
                place(&mut members, section.field(), previous);
            }
            if members.iter().any(|(other, _)| *other == name) {
                previous = Some(name);
            }
        }
        for field in unseen {
            let before: &[&str] = match field {
                "state" => &["description", "name", "format"],
                "nodes" => &["output", "input", "state", "description", "name", "format"],
                "edges" => &[
                    "nodes",
                    "output",
                    "input",
                    "state",
                    "description",
                    "name",
                    "format",
                ],
                _ => &[
                    "edges",
                    "nodes",
                    "output",
                    "input",
                    "state",
                    "description",
                    "name",
                    "format",
                ],
            };
            let after = before
                .iter()
                .copied()
                .find(|name| members.iter().any(|(other, _)| other == name));
            place(&mut members, field, after);
        }
        members.into_iter()
    }

    fn section_json(&self, section: Section) -> Json {
        match section {
            Section::Edges => Json::Array(self.section(section).values().cloned().collect()),
            _ => Json::Object(
                self.named(section)
                    .map(|(name, value)| (name.to_owned(), value.clone()))
                    .collect(),
            ),
        }
    }
}

/// Equal when the files would be equal and the records have the same ids.
impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.to_text() == other.to_text()
            && self
                .records()
                .map(|(id, _)| id)
                .eq(other.records().map(|(id, _)| id))
    }
}

/// Gives every edge of a file its id: its own, or one made of what it connects.
fn identify(edges: Vec<Json>) -> IndexMap<String, Json> {
    // Own ids come first, so that adding an edge without one never moves them.
    let own = |edge: &Json| {
        edge.get("id")
            .and_then(Json::as_str)
            .filter(|id| !id.is_empty())
            .map(|id| format!("edge:{id}"))
    };
    let mut taken: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut ids: Vec<Option<String>> = vec![None; edges.len()];
    let mut free = |base: String| {
        let mut count = taken.get(&base).copied().unwrap_or(0);
        loop {
            count += 1;
            let id = if count == 1 {
                base.clone()
            } else {
                format!("{base}~{count}")
            };
            if id == base || !taken.contains_key(&id) {
                taken.insert(base, count);
                taken.entry(id.clone()).or_insert(1);
                return id;
            }
        }
    };
    for (edge, id) in edges.iter().zip(&mut ids) {
        *id = own(edge).map(&mut free);
    }
    edges
        .into_iter()
        .zip(ids)
        .map(|(edge, id)| {
            (
                id.unwrap_or_else(|| free(format!("edge:{}", derived_id(&edge)))),
                edge,
            )
        })
        .collect()
}

/// Returns the id of an edge that has none of its own, before repeats are numbered.
pub(crate) fn derived_id(edge: &Json) -> String {
    let text = |field: &str| edge.get(field).and_then(Json::as_str);
    let from = match edge.get("from") {
        Some(Json::Array(sources)) => sources
            .iter()
            .map(|source| source.as_str().unwrap_or("?"))
            .collect::<Vec<_>>()
            .join("+"),
        _ => text("from").unwrap_or("?").to_owned(),
    };
    let to = if edge.get("route").is_some() {
        "?"
    } else {
        text("to").unwrap_or("?")
    };
    format!("{from}->{to}")
}
