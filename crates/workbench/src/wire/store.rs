//! Long-term memory: what graphs keep across threads.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Json, RecordedValueView, SearchProgress, ValueView};

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

/// Method by which items are found.
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

/// Answer of `store.outdated`: what a search by similarity passes over, as other vectors than the chosen ones were made of
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

/// `store.uses`: the steps that read or wrote an item, as they recorded it, in all threads.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindUses {
    /// Where the item is.
    pub namespace: Vec<String>,
    /// Its name there.
    pub key: String,
    /// Where to go on: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Uses of an answer, from which on no further thread is looked at; 0 means 100.
    #[serde(default)]
    pub limit: u32,
}

/// Use that was made of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum UseOfItem {
    /// It was read by its key.
    Read,
    /// A search found it.
    Found,
    /// It was put.
    Written,
    /// It was removed.
    Removed,
}

/// A use of an item by a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ItemUse {
    /// The thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// The checkpoint of the outermost graph from which the step began.
    pub checkpoint_id: String,
    /// The super-step.
    pub step: i32,
    /// The nodes around, of a nested graph, the outermost first.
    pub within: Vec<String>,
    /// The node.
    pub node: String,
    /// The task.
    pub task_id: String,
    /// When: ISO-8601, UTC.
    pub at: String,
    /// What was done.
    pub action: UseOfItem,
    /// Its value, as it was read or put; absent when there was no such item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<RecordedValueView>,
}

/// Answer of `store.uses`: those in some of the threads, thread by thread, in each the newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ItemUses {
    /// What was found.
    pub uses: Vec<ItemUse>,
    /// How far the search is.
    pub progress: SearchProgress,
}
