//! What a store can be asked.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::item::Item;
use crate::value::{Object, Value};

/// One thing to do in a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StoreOp {
    /// Reads an item.
    Get {
        /// Where it is.
        namespace: Vec<String>,
        /// Its key.
        key: String,
        /// Gives it its full time again; the store's configuration decides when absent.
        refresh_ttl: Option<bool>,
    },
    /// Stores, replaces or removes an item.
    Put {
        /// Where it is.
        namespace: Vec<String>,
        /// Its key.
        key: String,
        /// The whole new value; none removes the item.
        value: Option<Object>,
        /// What a search with a query finds it by.
        index: Index,
        /// How long it lives.
        ttl: Ttl,
    },
    /// Finds items.
    Search(StoreQuery),
    /// Lists namespaces.
    ListNamespaces(NamespaceQuery),
}

/// The parts of an item by which a search with a query finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Index {
    /// The fields of the store's configuration.
    #[default]
    Default,
    /// Nothing: no query finds it.
    Off,
    /// These paths into its value.
    Paths(Vec<String>),
}

impl Index {
    /// Creates the index from the paths of a put, as it is kept.
    pub(super) fn of_paths(paths: Option<&[String]>) -> Self {
        match paths {
            None => Index::Default,
            Some([]) => Index::Off,
            Some(paths) => Index::Paths(paths.to_vec()),
        }
    }
}

/// Time that an item lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ttl {
    /// As the store's configuration says.
    #[default]
    Default,
    /// Until it is removed.
    Never,
    /// So long after it was put, or read.
    For(Duration),
}

/// Method by which a query finds items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ranking {
    /// By meaning when the store has a vector index, else by words.
    #[default]
    Auto,
    /// By words: items that hold at least one of the query's words.
    Words,
    /// By meaning: every item with a vector, the nearest first.
    Vectors,
}

/// A query for items, and their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoreQuery {
    /// Items of this namespace and of those below it; all when empty.
    pub prefix: Vec<String>,
    /// What to look for. Without it the item that was updated last comes first.
    pub query: Option<String>,
    /// How to look for it.
    pub ranking: Ranking,
    /// What the values must hold, see [`Filter`](super::Filter): an object, or null for nothing.
    pub filter: Value,
    /// At most this many.
    pub limit: usize,
    /// Skips this many.
    pub offset: usize,
    /// Gives found items their full time again; the store's configuration decides when absent.
    pub refresh_ttl: Option<bool>,
}

impl Default for StoreQuery {
    fn default() -> Self {
        Self {
            prefix: Vec::new(),
            query: None,
            ranking: Ranking::default(),
            filter: Value::Null,
            limit: 10,
            offset: 0,
            refresh_ttl: None,
        }
    }
}

impl StoreQuery {
    /// Creates a query for the ten items at or below a namespace that were updated last.
    pub fn under(prefix: &[&str]) -> Self {
        Self {
            prefix: namespace(prefix),
            ..Self::default()
        }
    }
    /// Sets the text to look for.
    pub fn query(mut self, query: impl Into<String>) -> Self {
        self.query = Some(query.into());
        self
    }
    /// Sets the method of the search.
    pub fn by(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self
    }
    /// Sets the filter: only values that `filter` accepts are found.
    pub fn filter(mut self, filter: Value) -> Self {
        self.filter = filter;
        self
    }
    /// Sets the largest number of items to return.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
    /// Skips this many.
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }
    /// Sets the namespace: its items and those of the namespaces below it are found; all when empty.
    pub fn prefix(mut self, prefix: Vec<String>) -> Self {
        self.prefix = prefix;
        self
    }
    /// Decides whether found items get their full time again; the store's configuration decides when `None`.
    pub fn refresh_ttl(mut self, refresh: impl Into<Option<bool>>) -> Self {
        self.refresh_ttl = refresh.into();
        self
    }
}

/// A query for namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NamespaceQuery {
    /// They begin with these labels; `*` stands for any one label.
    pub prefix: Vec<String>,
    /// They end with these labels; `*` stands for any one label.
    pub suffix: Vec<String>,
    /// Cut to this many labels; what is the same then is listed once.
    pub max_depth: Option<usize>,
    /// At most this many.
    pub limit: usize,
    /// Skips this many.
    pub offset: usize,
}

impl Default for NamespaceQuery {
    fn default() -> Self {
        Self {
            prefix: Vec::new(),
            suffix: Vec::new(),
            max_depth: None,
            limit: 100,
            offset: 0,
        }
    }
}

impl NamespaceQuery {
    /// Creates a query for namespaces that begin with these labels.
    pub fn under(prefix: &[&str]) -> Self {
        Self {
            prefix: namespace(prefix),
            ..Self::default()
        }
    }

    /// Sets the labels that a listed namespace begins with; `*` matches any one label.
    pub fn prefix(mut self, prefix: Vec<String>) -> Self {
        self.prefix = prefix;
        self
    }
    /// Sets the labels that a listed namespace ends with; `*` matches any one label.
    pub fn suffix(mut self, suffix: Vec<String>) -> Self {
        self.suffix = suffix;
        self
    }
    /// Sets the number of labels to which namespaces are cut; `None` leaves them whole.
    pub fn max_depth(mut self, depth: impl Into<Option<usize>>) -> Self {
        self.max_depth = depth.into();
        self
    }
    /// Sets the largest number of namespaces to list.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
    /// Skips this many.
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Returns whether a namespace matches the query.
    pub fn matches(&self, namespace: &[String]) -> bool {
        let same = |(wanted, label): (&String, &String)| wanted == "*" || wanted == label;
        namespace.len() >= self.prefix.len().max(self.suffix.len())
            && self.prefix.iter().zip(namespace).all(same)
            && self.suffix.iter().rev().zip(namespace.iter().rev()).all(same)
    }

    /// Selects the answer from the namespaces that hold items, given in any order.
    pub fn select(&self, namespaces: impl IntoIterator<Item = Vec<String>>) -> Vec<Vec<String>> {
        let fitting = namespaces.into_iter().filter(|namespace| self.matches(namespace));
        let cut: std::collections::BTreeSet<Vec<String>> = fitting
            .map(|mut namespace| {
                namespace.truncate(self.max_depth.unwrap_or(usize::MAX));
                namespace
            })
            .collect();
        cut.into_iter().skip(self.offset).take(self.limit).collect()
    }
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StoreAnswer {
    /// Of a put.
    Done,
    /// Of a get.
    Item(Option<Item>),
    /// Of a search.
    Items(Vec<Item>),
    /// Of a list of namespaces.
    Namespaces(Vec<Vec<String>>),
}

impl StoreAnswer {
    /// Returns the item of a get.
    pub fn into_item(self) -> Option<Item> {
        match self {
            StoreAnswer::Item(item) => item,
            _ => None,
        }
    }
    /// Returns the items of a search.
    pub fn into_items(self) -> Vec<Item> {
        match self {
            StoreAnswer::Items(items) => items,
            _ => Vec::new(),
        }
    }
    /// Returns the namespaces of a list.
    pub fn into_namespaces(self) -> Vec<Vec<String>> {
        match self {
            StoreAnswer::Namespaces(namespaces) => namespaces,
            _ => Vec::new(),
        }
    }
}

impl StoreOp {
    /// Reads an item.
    pub fn get(labels: &[&str], key: impl Into<String>) -> Self {
        StoreOp::Get {
            namespace: namespace(labels),
            key: key.into(),
            refresh_ttl: None,
        }
    }
    /// Stores an item; the value must be an object.
    pub fn put(labels: &[&str], key: impl Into<String>, value: Value) -> Result<Self, StoreError> {
        let key = key.into();
        let Value::Object(value) = value else {
            return Err(StoreError::Value {
                key,
                found: value.type_name(),
            });
        };
        Ok(StoreOp::Put {
            namespace: namespace(labels),
            key,
            value: Some(value),
            index: Index::Default,
            ttl: Ttl::Default,
        })
    }
    /// Removes an item.
    pub fn delete(labels: &[&str], key: impl Into<String>) -> Self {
        StoreOp::Put {
            namespace: namespace(labels),
            key: key.into(),
            value: None,
            index: Index::Default,
            ttl: Ttl::Default,
        }
    }
    /// Sets the index of a put; no other operation has one.
    pub fn indexed(mut self, by: Index) -> Self {
        if let StoreOp::Put { index, .. } = &mut self {
            *index = by;
        }
        self
    }
    /// Sets the time to live of a put; no other operation has one.
    pub fn living(mut self, time: Ttl) -> Self {
        if let StoreOp::Put { ttl, .. } = &mut self {
            *ttl = time;
        }
        self
    }
}

/// Creates a namespace from labels.
pub fn namespace(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

/// Refuses a namespace that no item can have: each label is text without periods, and the first is not `langgraph`.
pub fn check_namespace(namespace: &[String]) -> Result<(), StoreError> {
    let refuse = |reason: String| {
        Err(StoreError::Namespace {
            namespace: namespace.to_vec(),
            reason,
        })
    };
    match namespace.first() {
        None => return refuse("it is empty. Give at least one label.".to_owned()),
        Some(root) if root == "langgraph" => {
            return refuse("its first label is reserved. Begin with another one.".to_owned());
        }
        Some(_) => {}
    }
    match labels_fault(namespace) {
        Some(reason) => refuse(reason),
        None => Ok(()),
    }
}

/// Refuses a prefix or suffix with a label that no namespace can have.
pub(super) fn check_labels(labels: &[String]) -> Result<(), StoreError> {
    match labels_fault(labels) {
        Some(reason) => Err(StoreError::Namespace {
            namespace: labels.to_vec(),
            reason,
        }),
        None => Ok(()),
    }
}

fn labels_fault(labels: &[String]) -> Option<String> {
    labels.iter().find_map(|label| {
        if label.is_empty() {
            Some("a label is empty. Give each label at least one character.".to_owned())
        } else if label.contains('.') {
            Some(format!(
                "the label {label:?} holds a period. Use labels without periods."
            ))
        } else if label.contains('\0') {
            Some(format!("the label {label:?} holds a NUL character. Remove it."))
        } else {
            None
        }
    })
}
