//! Typed views of a document: what the records mean. They are lenient, because a document with problems is drawn too:
//! an edge without a readable form is left out, an unknown word counts as absent. `validate` says what is wrong.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::document::{Document, Section};
use crate::invariant::INVARIANTS;
use crate::policy::NodePolicy;
use crate::{DEFAULT_RECURSION_LIMIT, END, MAX_RECURSION_LIMIT, NOTE, START};

/// Rule for joining an update with the current value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reducer {
    /// The update takes the place of the old value.
    #[default]
    Overwrite,
    /// Sum of numbers, texts or lists.
    Add,
    /// Product.
    Multiply,
    /// The smaller.
    Min,
    /// The larger.
    Max,
    /// True when both are.
    And,
    /// True when one is.
    Or,
    /// An item, or each item of a list, at the end of the list.
    Append,
    /// Members of an object, one level deep.
    Merge,
    /// A list without duplicates.
    Union,
    /// Messages by id.
    AddMessages,
}

impl Reducer {
    /// All of them, in the order of the documentation.
    pub const ALL: [Reducer; 11] = [
        Reducer::Overwrite,
        Reducer::Add,
        Reducer::Multiply,
        Reducer::Min,
        Reducer::Max,
        Reducer::And,
        Reducer::Or,
        Reducer::Append,
        Reducer::Merge,
        Reducer::Union,
        Reducer::AddMessages,
    ];

    /// Returns the word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Reducer::Overwrite => "overwrite",
            Reducer::Add => "add",
            Reducer::Multiply => "multiply",
            Reducer::Min => "min",
            Reducer::Max => "max",
            Reducer::And => "and",
            Reducer::Or => "or",
            Reducer::Append => "append",
            Reducer::Merge => "merge",
            Reducer::Union => "union",
            Reducer::AddMessages => "add_messages",
        }
    }

    /// Returns the reducer of this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reducer| reducer.as_str() == word)
    }

    /// Returns the JSON Schema types of a value that the reducer can join; empty means any.
    pub fn types(self) -> &'static [&'static str] {
        match self {
            Reducer::Overwrite => &[],
            Reducer::Add => &["integer", "number", "string", "array"],
            Reducer::Multiply => &["integer", "number"],
            Reducer::Min | Reducer::Max => &["integer", "number", "string"],
            Reducer::And | Reducer::Or => &["boolean"],
            Reducer::Append | Reducer::Union | Reducer::AddMessages => &["array"],
            Reducer::Merge => &["object"],
        }
    }
}

/// Lifetime of a key's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// Until it is written again.
    #[default]
    Kept,
    /// Gone after the next step; one write a step.
    Ephemeral,
    /// Gone after the next step; of several writes in a step the last one counts.
    Any,
    /// The items that the last step wrote, all of them.
    Topic,
    /// While the run lasts; never stored.
    Untracked,
}

impl ChannelKind {
    /// Those that a file can name.
    pub const ALL: [ChannelKind; 4] = [
        ChannelKind::Ephemeral,
        ChannelKind::Any,
        ChannelKind::Topic,
        ChannelKind::Untracked,
    ];

    /// Returns the word in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            ChannelKind::Kept => "kept",
            ChannelKind::Ephemeral => "ephemeral",
            ChannelKind::Any => "any",
            ChannelKind::Topic => "topic",
            ChannelKind::Untracked => "untracked",
        }
    }

    /// Returns the kind that a file's word names.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Returns whether the value is gone after the step that follows the write.
    pub fn is_short(self) -> bool {
        matches!(
            self,
            ChannelKind::Ephemeral | ChannelKind::Any | ChannelKind::Topic
        )
    }
}

/// A key of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateKey {
    /// JSON Schema of the value: the record without the fields below.
    pub schema: Json,
    /// How updates are joined.
    pub reducer: Reducer,
    /// How long the value is kept.
    pub channel: ChannelKind,
    /// Value before the first write, as the file gives it.
    pub default: Option<Json>,
}

impl StateKey {
    fn of(record: &Json) -> Self {
        let word = |field: &str| record.get(field).and_then(Json::as_str);
        let schema = match record {
            Json::Object(fields) => Json::Object(
                fields
                    .iter()
                    .filter(|(name, _)| {
                        !matches!(name.as_str(), "reducer" | "channel" | "default" | INVARIANTS)
                    })
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
            ),
            _ => json!({}),
        };
        Self {
            schema,
            reducer: word("reducer").and_then(Reducer::of).unwrap_or_default(),
            channel: word("channel").and_then(ChannelKind::of).unwrap_or_default(),
            default: record.get("default").cloned(),
        }
    }

    /// Returns the value before the first write: the default, or with a reducer the empty value of the type.
    pub fn initial(&self) -> Option<Json> {
        if self.default.is_some() || self.channel != ChannelKind::Kept {
            return self.default.clone().filter(|_| !self.channel.is_short());
        }
        let declared = types_of(&self.schema);
        let ty = declared
            .iter()
            .find(|ty| self.reducer.types().contains(ty))
            .or(self.reducer.types().first());
        match (self.reducer, ty.copied()) {
            // There is no neutral product, minimum or maximum: the first write is the value.
            (Reducer::Overwrite | Reducer::Multiply | Reducer::Min | Reducer::Max, _) => None,
            (Reducer::And, _) => Some(json!(true)),
            (Reducer::Or, _) => Some(json!(false)),
            (Reducer::Add, _) if declared.is_empty() => None,
            (_, Some("array")) => Some(json!([])),
            (_, Some("object")) => Some(json!({})),
            (_, Some("string")) => Some(json!("")),
            (_, Some("number")) => Some(json!(0.0)),
            (_, Some("integer")) => Some(json!(0)),
            _ => None,
        }
    }
}

/// Returns the `type` words of a schema; empty when it has none.
pub(crate) fn types_of(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(ty)) => vec![ty.as_str()],
        Some(Json::Array(types)) => types.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A node that is switched off: it does nothing, and its plain edges are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disabled {
    /// Where the run goes on when the node's edges depend on what it does: a node, or the end.
    pub way: Option<String>,
}

impl Disabled {
    /// Reads a node's field: `true`, or an object that names the way.
    fn of(field: &Json) -> Option<Self> {
        match field {
            Json::Bool(true) => Some(Self::default()),
            Json::Object(fields) => Some(Self {
                way: fields.get("way").and_then(Json::as_str).map(str::to_owned),
            }),
            _ => None,
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSpec {
    /// Its kind; empty when the file does not say.
    pub kind: String,
    /// What the kind needs to know.
    pub config: Map<String, Json>,
    /// How it is run, beside what it does.
    pub policy: NodePolicy,
    /// Set when it is switched off.
    pub disabled: Option<Disabled>,
    /// For people.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Always followed.
    Plain {
        /// Source.
        from: String,
        /// Target.
        to: String,
    },
    /// Followed once when all sources have finished.
    Join {
        /// Sources.
        from: Vec<String>,
        /// Target.
        to: String,
    },
    /// Followed when an expression is true.
    When {
        /// Source.
        from: String,
        /// Target.
        to: String,
        /// The expression.
        when: String,
    },
    /// Followed to the targets whose labels an expression gives.
    Route {
        /// Source.
        from: String,
        /// The expression.
        route: String,
        /// Label to target, in the order of the file.
        paths: Vec<(String, String)>,
        /// Target of a label without a path.
        default: Option<String>,
    },
    /// `Send`: one task of the target per item.
    Each {
        /// Source.
        from: String,
        /// Expression that gives the list.
        each: String,
        /// Key of the item in the task's input.
        item: String,
        /// Target.
        to: String,
        /// More keys of the task's input and their expressions.
        with: Vec<(String, String)>,
    },
    /// Followed instead of coming to the source once more than its `max_visits` allows.
    Limit {
        /// Source.
        from: String,
        /// Target.
        to: String,
    },
}

impl Edge {
    /// Reads a record; `None` when it has no readable form.
    pub fn of(record: &Json) -> Option<Self> {
        let text = |field: &str| record.get(field).and_then(Json::as_str).map(str::to_owned);
        let pairs = |field: &str| -> Vec<(String, String)> {
            let members = record.get(field).and_then(Json::as_object);
            members
                .into_iter()
                .flatten()
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect()
        };
        if let Some(Json::Array(sources)) = record.get("from") {
            let from = sources
                .iter()
                .filter_map(|source| source.as_str().map(str::to_owned))
                .collect();
            return Some(Edge::Join {
                from,
                to: text("to")?,
            });
        }
        let from = text("from")?;
        if record.get("route").is_some() {
            return Some(Edge::Route {
                from,
                route: text("route")?,
                paths: pairs("paths"),
                default: text("default"),
            });
        }
        let to = text("to")?;
        if record.get("each").is_some() {
            let item = text("as").unwrap_or_else(|| "item".to_owned());
            return Some(Edge::Each {
                from,
                each: text("each")?,
                item,
                to,
                with: pairs("with"),
            });
        }
        if let Some(Json::Bool(true)) = record.get("limit") {
            return Some(Edge::Limit { from, to });
        }
        Some(match record.get("when") {
            Some(_) => Edge::When {
                from,
                to,
                when: text("when")?,
            },
            None => Edge::Plain { from, to },
        })
    }

    /// Returns the sources of the edge: one, or several for a join.
    pub fn sources(&self) -> Vec<&str> {
        match self {
            Edge::Join { from, .. } => from.iter().map(String::as_str).collect(),
            Edge::Plain { from, .. }
            | Edge::When { from, .. }
            | Edge::Route { from, .. }
            | Edge::Limit { from, .. }
            | Edge::Each { from, .. } => {
                vec![from]
            }
        }
    }

    /// Returns the places that the edge can lead to, each target once, in the order of the file.
    pub fn targets(&self) -> Vec<&str> {
        match self {
            Edge::Plain { to, .. }
            | Edge::Join { to, .. }
            | Edge::When { to, .. }
            | Edge::Limit { to, .. }
            | Edge::Each { to, .. } => vec![to],
            Edge::Route { paths, default, .. } => {
                let mut targets: Vec<&str> = Vec::new();
                for target in paths.iter().map(|(_, target)| target).chain(default) {
                    if !targets.contains(&target.as_str()) {
                        targets.push(target);
                    }
                }
                targets
            }
        }
    }

    /// Returns whether the edge is followed in place of its source's work, and not after it.
    pub fn is_limit(&self) -> bool {
        matches!(self, Edge::Limit { .. })
    }

    /// Returns whether the state decides if the edge is followed.
    pub fn is_conditional(&self) -> bool {
        matches!(self, Edge::When { .. } | Edge::Route { .. } | Edge::Each { .. })
    }
}

/// A named sample input.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Name.
    pub name: String,
    /// Input of a run.
    pub input: Json,
}

/// Values of the run context, kept under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSet {
    /// Name.
    pub name: String,
    /// Fields of the run context.
    pub values: Json,
}

impl ContextSet {
    /// Most sets that a document keeps.
    pub const MAX_SETS: usize = 64;
    /// Longest name, in characters.
    pub const MAX_NAME: usize = 100;
}

impl Document {
    fn head_text(&self, field: &str) -> Option<&str> {
        self.head().get(field).and_then(Json::as_str)
    }

    /// Returns the name, or the empty text.
    pub fn name(&self) -> &str {
        self.head_text("name").unwrap_or_default()
    }

    /// Returns the description, or the empty text.
    pub fn description(&self) -> &str {
        self.head_text("description").unwrap_or_default()
    }

    /// Returns the template that says in Markdown what a finished run did, if there is one.
    pub fn summary(&self) -> Option<&str> {
        self.head_text("summary")
            .filter(|template| !template.trim().is_empty())
    }

    /// Returns the number of super-steps after which a run is stopped as endless.
    pub fn recursion_limit(&self) -> u32 {
        let limit = self.head().get("recursion_limit").and_then(Json::as_u64);
        limit
            .and_then(|limit| u32::try_from(limit).ok())
            .filter(|limit| *limit > 0)
            .unwrap_or(DEFAULT_RECURSION_LIMIT)
            .min(MAX_RECURSION_LIMIT)
    }

    /// Returns the keys that an input may set, if the document limits them.
    pub fn input_keys(&self) -> Option<Vec<&str>> {
        self.key_list("input")
    }

    /// Returns the keys that a run returns, if the document limits them.
    pub fn output_keys(&self) -> Option<Vec<&str>> {
        self.key_list("output")
    }

    fn key_list(&self, field: &str) -> Option<Vec<&str>> {
        let names = self.head().get(field)?.as_array()?;
        Some(names.iter().filter_map(Json::as_str).collect())
    }

    /// Returns the sample inputs.
    pub fn examples(&self) -> Vec<Example> {
        let examples = self.head().get("examples").and_then(Json::as_array);
        examples
            .into_iter()
            .flatten()
            .filter_map(|example| {
                let name = example
                    .get("name")
                    .and_then(Json::as_str)
                    .unwrap_or_default()
                    .to_owned();
                Some(Example {
                    name,
                    input: example.get("input")?.clone(),
                })
            })
            .collect()
    }

    /// Returns the sets of context values that have a name and values.
    pub fn context_sets(&self) -> Vec<ContextSet> {
        let sets = self.head().get("context_sets").and_then(Json::as_array);
        sets.into_iter()
            .flatten()
            .filter_map(|set| {
                let name = set.get("name")?.as_str().filter(|name| !name.is_empty())?;
                let values = set.get("values").filter(|values| values.is_object())?;
                Some(ContextSet {
                    name: name.to_owned(),
                    values: values.clone(),
                })
            })
            .collect()
    }

    /// Returns the keys of the state by name, in the order of the file.
    pub fn state_keys(&self) -> impl Iterator<Item = (&str, StateKey)> {
        self.named(Section::Keys)
            .map(|(name, record)| (name, StateKey::of(record)))
    }

    /// Returns one key of the state.
    pub fn state_key(&self, name: &str) -> Option<StateKey> {
        self.record(&format!("key:{name}")).map(StateKey::of)
    }

    /// Returns the nodes by id, in the order of the file.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, NodeSpec)> {
        self.named(Section::Nodes).map(|(id, record)| {
            let text = |field: &str| record.get(field).and_then(Json::as_str).map(str::to_owned);
            let config = record
                .get("config")
                .and_then(Json::as_object)
                .cloned()
                .unwrap_or_default();
            let kind = text("kind").unwrap_or_default();
            (
                id,
                NodeSpec {
                    kind,
                    config,
                    policy: NodePolicy::read(record).0,
                    disabled: record.get("disabled").and_then(Disabled::of),
                    title: text("title"),
                    description: text("description"),
                },
            )
        })
    }

    /// Returns the ids of the nodes, in the order of the file.
    pub fn node_ids(&self) -> impl Iterator<Item = &str> {
        self.named(Section::Nodes).map(|(id, _)| id)
    }

    /// Returns the edges by id, in the order of the file; those without a readable form are left out.
    pub fn edges(&self) -> impl Iterator<Item = (&str, Edge)> {
        self.named(Section::Edges)
            .filter_map(|(id, record)| Some((id, Edge::of(record)?)))
    }

    /// Returns the canvas positions by node id.
    pub fn layout(&self) -> impl Iterator<Item = (&str, [f64; 2])> {
        self.named(Section::Layout).filter_map(|(id, record)| {
            let [x, y] = record.as_array()?.as_slice() else {
                return None;
            };
            Some((id, [x.as_f64()?, y.as_f64()?]))
        })
    }

    /// Returns the JSON Schema of a run's input: the keys it may set. Nothing is required, because a thread may have
    /// them already.
    pub fn input_schema(&self) -> Json {
        let limit = self.input_keys();
        let keys = self
            .state_keys()
            .filter(|(name, _)| limit.as_ref().is_none_or(|names| names.contains(name)));
        let properties: Map<String, Json> = keys
            .map(|(name, key)| {
                let mut schema = key.schema;
                if let (Json::Object(fields), Some(default)) = (&mut schema, key.default) {
                    fields.insert("default".into(), default);
                }
                (name.to_owned(), schema)
            })
            .collect();
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    /// Returns the JSON Schema of the run context, if the graph declares one: fields without a default are required.
    pub fn context_schema(&self) -> Option<Json> {
        let fields = self.head().get("context")?.as_object()?;
        let required: Vec<&str> = fields
            .iter()
            .filter(|(_, field)| field.get("default").is_none())
            .map(|(name, _)| name.as_str())
            .collect();
        Some(json!({
            "type": "object", "properties": fields, "required": required, "additionalProperties": false,
        }))
    }

    /// Returns whether the node is on the canvas only.
    pub fn is_note(&self, name: &str) -> bool {
        let node = self.record(&format!("node:{name}"));
        node.and_then(|node| node.get("kind"))
            .is_some_and(|kind| kind == NOTE)
    }

    /// Returns whether the name is a node of this document, the start or the end.
    pub(crate) fn is_place(&self, name: &str) -> bool {
        name == START || name == END || self.record(&format!("node:{name}")).is_some()
    }
}
