//! The version of its graph that a run ran, kept once in its thread: a checkpoint in a namespace of its own. So it is copied,
//! exported and removed with the thread on every backend, and backends that share equal values hold one copy for all threads.
//! What runs never reads it.

use std::collections::HashSet;

use crate::base::ids::{CheckpointId, Name, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::{
    Change, ChannelValues, ChannelVersions, Checkpoint, CheckpointHead, Commit, ListQuery, Metadata, Put,
    Source, StorageError, VersionsSeen,
};
use crate::value::{Object, Value};

/// Metadata of checkpoints: the id of the version that their run ran.
pub const GRAPH_VERSION: &str = "graph_version";
/// What namespaces of versions begin with. No node can have this name.
const SPACE: &str = "__graph__|";
/// The key of its content.
const CONTENT: &str = "__graph__";

/// A version of a graph, as a host describes it.
///
/// ```
/// # use std::sync::Arc;
/// # use superstep::*;
/// # use superstep::checkpoint::*;
/// # use superstep::store::*;
/// # use superstep::value::*;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = StateGraph::new()
/// #     .channel("n", ChannelSpec::last_value())
/// #     .node("a", |_: NodeContext, _: Value| async move { Ok(NodeOutput::update([("n", 1)])) })
/// #     .edge(START, "a")
/// #     .compile()?;
/// let saver = Arc::new(MemorySaver::new());
/// let graph = graph.with_checkpointer(saver.clone());
/// let version = checkpoint::GraphVersion::new("2f1c", json!({"document": "…"}));
/// graph.invoke(Input::value(json!({"n": 0})), RunConfig::on("case 1").graph_version(version)).await?;
/// let head = saver.heads(&ListQuery::default()).await?.into_iter().find(|head| head.ns.is_empty());
/// let id = head.and_then(|head| checkpoint::GraphVersion::of(&head).map(str::to_owned));
/// assert_eq!(id.as_deref(), Some("2f1c"));
/// let kept = checkpoint::GraphVersion::read(&*saver, &"case 1".into(), "2f1c").await?;
/// assert_eq!(kept.map(|kept| kept.content), Some(json!({"document": "…"})));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GraphVersion {
    /// Equal for equal content: letters, digits, `-` and `_`.
    pub id: Name,
    /// What the host needs to show it and to build it again.
    pub content: Value,
    /// Plain facts that lists show without reading the content.
    pub facts: Object,
}

impl GraphVersion {
    /// Creates a version with this content.
    pub fn new(id: impl Into<Name>, content: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            content: content.into(),
            facts: Object::new(),
        }
    }

    /// Sets the [facts](Self#structfield.facts).
    pub fn facts(mut self, facts: Object) -> Self {
        self.facts = facts;
        self
    }

    /// Returns the version that the run of a checkpoint ran, where it is recorded.
    pub fn of(head: &CheckpointHead) -> Option<&str> {
        head.metadata.user.get(GRAPH_VERSION)?.as_str()
    }

    /// Returns whether a namespace belongs to a version rather than to a graph.
    pub fn is_space(ns: &str) -> bool {
        ns.starts_with(SPACE)
    }

    fn space(id: &str) -> Name {
        format!("{SPACE}{id}").into()
    }

    /// Returns whether the version is kept in the thread.
    pub(crate) async fn is_kept(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        id: &str,
    ) -> Result<bool, StorageError> {
        Ok(Self::head(saver, thread, id).await?.is_some())
    }

    /// Reads the head of a version that is kept in a thread: its metadata is the version's facts, its time that of the
    /// first run.
    pub async fn head(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        id: &str,
    ) -> Result<Option<CheckpointHead>, StorageError> {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns(Self::space(id))
            .limit(1);
        Ok(saver.heads(&query).await?.pop())
    }

    /// Reads a version that is kept in a thread.
    pub async fn read(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        id: &str,
    ) -> Result<Option<Self>, StorageError> {
        let found = saver.get(thread, &Self::space(id), None).await?;
        Ok(found.and_then(|tuple| {
            let content = tuple.checkpoint.channel_values.get(CONTENT)?.clone();
            Some(Self {
                id: id.into(),
                content,
                facts: tuple.checkpoint.metadata.user,
            })
        }))
    }

    /// Creates the commit that keeps the version in a thread, as a checkpoint with this id. Runs do this by themselves.
    pub fn commit(&self, thread: &ThreadId, id: CheckpointId, ts: String) -> Commit {
        let content: Name = CONTENT.into();
        let checkpoint = Checkpoint {
            id,
            parent: None,
            ts,
            channel_values: ChannelValues::from_iter([(content.clone(), self.content.clone())]),
            channel_versions: ChannelVersions::from_iter([(content.clone(), 1)]),
            versions_seen: VersionsSeen::default(),
            updated_channels: Some(Vec::new()),
            metadata: Metadata {
                source: Source::Input,
                step: -1,
                parents: Object::new(),
                user: self.facts.clone(),
            },
            next: Vec::new(),
        };
        Commit {
            thread: thread.clone(),
            ns: Self::space(&self.id),
            writes: Vec::new(),
            put: Some(Put {
                checkpoint,
                changes: vec![Change {
                    channel: content,
                    appended_from: None,
                }],
                seen: Vec::new(),
            }),
            claim: None,
        }
    }

    /// Returns the namespaces of versions, out of those of a thread, by which none of the remaining checkpoints was
    /// run.
    pub(crate) fn unused<'a>(
        spaces: impl Iterator<Item = &'a Name>,
        stay: &HashSet<&str>,
    ) -> impl Iterator<Item = &'a Name> {
        spaces.filter(|ns| ns.strip_prefix(SPACE).is_some_and(|id| !stay.contains(id)))
    }
}
