//! Long-term memory: what graphs keep across threads.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Json, ValueView};

/// `store.namespaces`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ListNamespaces {
    /// The number to pass over.
    #[serde(default)]
    #[ts(optional)]
    pub offset: Option<u32>,
}

/// Answer of `store.namespaces`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct NamespaceList {
    /// Those that hold items, sorted; each as its labels.
    pub namespaces: Vec<Vec<String>>,
    /// There are more.
    pub more: bool,
}

/// How items are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// Those that hold one of the words.
    Words,
    /// The nearest ones, by their vectors.
    Vectors,
}

/// `store.items`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ListItems {
    /// Items of this namespace and of those below it; all when empty.
    #[serde(default)]
    pub namespace: Vec<String>,
    /// Words to look for. Without them the item that was updated last comes first.
    #[serde(default)]
    #[ts(optional)]
    pub query: Option<String>,
    /// How the words are looked for; as the settings say when absent.
    #[serde(default)]
    #[ts(optional)]
    pub by: Option<FoundBy>,
    /// The number to pass over.
    #[serde(default)]
    #[ts(optional)]
    pub offset: Option<u32>,
    /// The most; 50 when absent.
    #[serde(default)]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// An item of long-term memory.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ItemView {
    /// Where it is.
    pub namespace: Vec<String>,
    /// Its name there.
    pub key: String,
    /// What is kept; whole in answers of `store.get` and `store.put`.
    pub value: ValueView,
    /// When the key was first put.
    pub created_at: String,
    /// When the value was put.
    pub updated_at: String,
    /// When it will be forgotten; reading it may put that off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expires_at: Option<String>,
}

/// Answer of `store.items`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ItemList {
    /// What was found.
    pub items: Vec<ItemView>,
    /// There are more.
    pub more: bool,
}

/// `store.get`, `store.delete`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ItemRef {
    /// Where it is.
    pub namespace: Vec<String>,
    /// Its name there.
    pub key: String,
}

/// `store.put`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PutItem {
    /// Where it is to be.
    pub namespace: Vec<String>,
    /// Its name there.
    pub key: String,
    /// What to keep: an object.
    #[ts(type = "any")]
    pub value: Json,
    /// The `updatedAt` of the item that is to be replaced. When it is absent there must be none, and when it is another one
    /// the item was changed meanwhile; both are refused.
    #[serde(default)]
    #[ts(optional)]
    pub replaces: Option<String>,
}

/// Answer of `store.outdated`: what a search by likeness passes over, as other vectors than the chosen ones were made of
/// it, or none.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OutdatedItems {
    /// How many items; they are not counted to the end.
    pub items: u32,
    /// There are more.
    pub more: bool,
    /// The job that embeds them again now, for its progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// `store.embed`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Reembed {
    /// A name of the caller's, for progress and for `work.cancel`.
    pub work: String,
}

/// Answer of `store.embed`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Reembedded {
    /// Items that have new vectors.
    pub items: u64,
}
