//! Where threads are kept, what they take, and what is removed of them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Location at which a backend keeps threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum StorageLocation {
    /// In the process; nothing is left when it ends.
    Process,
    /// In a file, whose path is the address.
    File,
    /// In a folder, whose path is the address.
    Folder,
    /// On a server.
    Server,
}

/// A backend that can be chosen.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct StorageBackend {
    /// The scheme with which its addresses begin.
    pub kind: String,
    /// Its name.
    pub title: String,
    /// A sentence for who chooses one.
    pub summary: String,
    /// An example of an address.
    pub example: String,
    /// Where it keeps threads.
    pub location: StorageLocation,
}

/// Source of the choice of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// Nobody: it is the file in the data folder.
    Default,
    /// The user, in the settings.
    Settings,
    /// The command line of the program, with `--db`.
    Program,
}

/// Answer of `storage.info` and `storage.use`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StorageInfo {
    /// The scheme of its backend; absent when no backend has that of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    /// Its address, without a password.
    pub url: String,
    /// Who chose it.
    pub chosen_by: ChosenBy,
    /// The address that is used when nobody chooses.
    pub default_url: String,
    /// The backends that can be chosen, the usual one first.
    pub backends: Vec<StorageBackend>,
    /// Threads in it; absent when it cannot be read, and while those of another program are looked through for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub threads: Option<u64>,
    /// Its threads are another program's, and are only read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub only_read: bool,
    /// The attached program that makes its threads: what it can do is done there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub attached: Option<String>,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<super::Problem>,
}

/// `storage.test`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TestStorage {
    /// The address.
    pub url: String,
}

/// Answer of `storage.schemas`: places of a server's database in which LangGraph programs keep threads.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SchemaList {
    /// Names of the schemas with LangGraph's tables, in their order; empty for what is no address of a PostgreSQL server.
    pub schemas: Vec<String>,
}

/// Answer of `storage.test`: it can be used.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StorageTested {
    /// The scheme of its backend.
    pub kind: String,
    /// Its address, without a password.
    pub url: String,
    /// Threads in it.
    pub threads: u64,
    /// Nothing is there yet; the file, the folder or the tables are made when it is used.
    pub is_new: bool,
    /// Milliseconds to open it and ask.
    pub millis: u32,
}

/// `storage.use`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct UseStorage {
    /// The address; absent means the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
}

/// `storage.usage`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ReadUsage {
    /// The most threads, the largest first; 0 means 500.
    #[serde(default)]
    pub limit: u32,
}

/// Storage that one thread takes.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSize {
    /// The thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// Name of its graph.
    pub graph_name: String,
    /// Checkpoints in all its namespaces.
    pub checkpoints: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Answer of `storage.usage`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// Size of everything.
    pub bytes: u64,
    /// Of that, bytes that hold nothing now and are used again.
    pub free: u64,
    /// Bytes that sharing equal values saves.
    pub shared: u64,
    /// Bytes of all threads together.
    pub of_threads: u64,
    /// Bytes of what is remembered beside threads.
    pub of_store: u64,
    /// How many threads there are.
    pub total: u64,
    /// The largest threads, the largest first.
    pub threads: Vec<ThreadSize>,
}

/// A hint about a key that takes more than it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum KeyHint {
    /// It grows, and every version is stored whole: its size is that of the square of its length.
    Grows,
    /// It is large and stored again and again.
    Rewritten,
}

/// Storage that one key of a thread takes.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct KeySize {
    /// The key, or a channel of the engine.
    pub key: String,
    /// Times it was stored.
    pub versions: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes if every version were stored whole.
    pub whole: u64,
    /// Bytes of its value now, as JSON; 0 when it has none.
    pub now: u64,
    /// What can be done about it, when that is worth it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<KeyHint>,
}

/// Growth by some checkpoints that follow one another.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GrowthPoint {
    /// The newest of them.
    pub checkpoint_id: String,
    /// Super-step of the newest.
    pub step: i32,
    /// When the newest was made.
    pub at: String,
    /// How many they are.
    pub checkpoints: u32,
    /// Bytes they added.
    pub bytes: u64,
    /// Bytes of the thread up to here.
    pub total: u64,
}

/// Answer of `storage.lens`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LensView {
    /// The thread.
    pub thread_id: String,
    /// Bytes of the thread.
    pub bytes: u64,
    /// How many checkpoints it has.
    pub checkpoints: u64,
    /// Each key, the largest first.
    pub keys: Vec<KeySize>,
    /// How it grew, the oldest first; at most a few hundred points.
    pub growth: Vec<GrowthPoint>,
}

/// `storage.verify`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct VerifyStorage {
    /// Put right what can be.
    #[serde(default)]
    pub repair: bool,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Stored record that cannot be read.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DamageView {
    /// The thread, when it is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
    /// Which record, and what is wrong with it.
    pub what: String,
    /// What a repair does, or did; absent when nothing can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repair: Option<String>,
}

/// Answer of `storage.verify`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct IntegrityView {
    /// Threads looked at.
    pub threads: u64,
    /// Checkpoints looked at.
    pub checkpoints: u64,
    /// Items of the long-term memory looked at.
    pub items: u64,
    /// What is wrong.
    pub damage: Vec<DamageView>,
    /// The repairs were made.
    pub repaired: bool,
}

/// Rule for which checkpoints of a thread are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum KeepRule {
    /// The newest checkpoint.
    Latest,
    /// The newest checkpoint of each branch.
    Branches,
    /// The newest checkpoints, this number of them.
    Newest {
        /// How many.
        count: u32,
    },
    /// Nothing: the thread goes.
    Nothing,
}

/// Rule for what is kept of threads that have not changed for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RetentionRule {
    /// Days without a change.
    pub idle_days: u32,
    /// What stays.
    pub keep: KeepRule,
}

/// `storage.retain`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApplyRetention {
    /// The rule.
    pub rule: RetentionRule,
    /// Only say what would go.
    #[serde(default)]
    pub dry_run: bool,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// `thread.prune`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PruneThreads {
    /// The threads.
    pub thread_ids: Vec<String>,
    /// What stays of each.
    pub keep: KeepRule,
    /// Only say what would go.
    #[serde(default)]
    pub dry_run: bool,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// A branch that goes: no checkpoint that stays continues it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LostBranch {
    /// The thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// The newest checkpoint of the branch.
    pub checkpoint_id: String,
}

/// Answer of `thread.prune` and `storage.retain`: what went, or would go.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RemovalView {
    /// Threads of which nothing is left.
    pub threads: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Bytes that are free afterwards, where the database knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bytes: Option<u64>,
    /// Bookmarked checkpoints that stay although the rule says otherwise.
    pub bookmarks: u32,
    /// Branches that go, at most a hundred.
    pub branches: Vec<LostBranch>,
    /// How many branches go.
    pub branch_count: u64,
}

/// `thread.copy`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CopyThread {
    /// The thread.
    pub thread_id: String,
    /// Title of the copy.
    pub title: String,
}

/// `thread.export`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportThread {
    /// The thread.
    pub thread_id: String,
    /// The file; it is replaced when it is there.
    pub path: String,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Answer of `thread.export`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ThreadExported {
    /// The file.
    pub path: String,
    /// Checkpoints in it.
    pub checkpoints: u64,
    /// Its size.
    pub bytes: u64,
}

/// `thread.import`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportThread {
    /// The file.
    pub path: String,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// `thread.copyOwn`: threads that another program makes are copied into the place of threads of our own.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CopyOwn {
    /// The thread; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
    /// The open graph beside which they are looked at. Where it is one of our own they become threads of it, otherwise of the
    /// one that they are shown on, or else of a draft with the nodes and ways that they show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Answer of `thread.copyOwn`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CopiedOwn {
    /// The database that they are in now, without a password.
    pub database: String,
    /// Threads that were not there before.
    pub threads: u32,
    /// Threads that were there, and have now what their program added.
    pub known: u32,
    /// Checkpoints that were stored.
    pub checkpoints: u64,
    /// What was left out, each in a sentence; at most 100 of them.
    pub skipped: Vec<super::Problem>,
    /// How many were left out.
    pub left_out: u32,
    /// It was stopped before all was there. What is there stays, and copying again goes on.
    pub stopped: bool,
    /// The first of them, and the key of its graph: a path, or the id of a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub first: Option<OwnCopy>,
}

/// A thread of another program, copied among our own.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OwnCopy {
    /// The thread.
    pub thread_id: String,
    /// Key of its graph: a path, or the id of a draft.
    pub graph: String,
}

/// `thread.bookmark`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BookmarkCheckpoint {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint.
    pub checkpoint_id: String,
    /// What it is called; absent takes the bookmark away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// What is to be remembered of it, in any number of lines; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
}

/// `work.cancel`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CancelWork {
    /// The name that was given to the work.
    pub work: String,
}
