//! Planning a checkpoint: what is stored of it, given what is known of its parent.
//!
//! [`Changes`] says which channels and nodes differ; every backend begins there. [`DeltaChain`] decides between a delta and
//! a snapshot for all that read checkpoints back from a server or a file. Backends that keep rows go on with [`plan`]: it
//! stores the values that changed through the backend's [`Tables`], and shares the metadata of the parent where it is
//! equal. The backend then makes the statement that stores the plan.

mod changes;
mod delta_chain;
mod state;

pub(crate) use changes::Changes;
pub(crate) use delta_chain::DeltaChain;
pub(crate) use state::{ChannelState, StoredSlot};
use superstep::checkpoint::{Metadata, Put, Source, StorageError};
use superstep::value::Object;
use superstep::{Name, ThreadId, Value};

use super::bytes::rows_blob;
use super::record::Delta;
use super::value::json;

/// Where a checkpoint comes from, by the number that stands for it in a row.
pub(crate) const SOURCES: [Source; 4] = [Source::Input, Source::Loop, Source::Update, Source::Fork];

/// Tables of a backend that planning needs.
pub(crate) trait Tables {
    type Slot: StoredSlot;
    type Error: From<StorageError>;

    /// Returns the row of a name.
    fn name(&mut self, name: &Name) -> Result<i64, Self::Error>;

    /// Stores a value that replaces the one `before`. With `appended_from`, that was a list of this length, and its items
    /// are the first of the new one.
    fn value(
        &mut self,
        channel: &Name,
        value: &Value,
        before: Option<&Self::Slot>,
        appended_from: Option<usize>,
    ) -> Result<Self::Slot, Self::Error>;

    /// Stores the JSON text of metadata; gives its row.
    fn metadata(&mut self, metadata: &Metadata, text: String) -> Result<i64, Self::Error>;
}

/// A stored checkpoint as the next commit needs it.
#[derive(Debug)]
pub(crate) struct KnownCheckpoint<S: Clone> {
    /// Its row.
    pub(crate) seq: i64,
    /// Its delta and those before it.
    pub(crate) chain: DeltaChain,
    /// The row of the metadata, and what it holds.
    pub(crate) meta: i64,
    pub(crate) parents: Object,
    pub(crate) user: Object,
    pub(crate) state: ChannelState<S>,
    /// Bytes of the values whose text is in deltas.
    pub(crate) texts: i64,
}

/// Data to store of a checkpoint.
#[derive(Debug)]
pub(crate) struct Plan<S: Clone> {
    /// A delta of the parent's state, or at depth 0 the whole state.
    pub(crate) delta: Vec<u8>,
    /// The place of its source in [`SOURCES`].
    pub(crate) source: i16,
    /// Lists of names.
    pub(crate) next: Option<Vec<u8>>,
    pub(crate) updated: Option<Vec<u8>>,
    /// What is known of it once it has a row.
    pub(crate) known: KnownCheckpoint<S>,
}

/// Plans a checkpoint on what is known of its parent, if that is stored here.
pub(crate) fn plan<T: Tables>(
    put: &Put,
    parent: Option<&KnownCheckpoint<T::Slot>>,
    thread: &ThreadId,
    tables: &mut T,
) -> Result<Plan<T::Slot>, T::Error> {
    let checkpoint = &put.checkpoint;
    let metadata = &checkpoint.metadata;
    let changes = Changes::of(
        put,
        parent.map(|parent| (&parent.state.versions, &parent.state.seen)),
    );
    let mut delta = Delta::default();
    let mut values = parent
        .map(|parent| parent.state.values.clone())
        .unwrap_or_default();
    let mut texts = parent.map_or(0, |parent| parent.texts);
    for change in changes.channels {
        let name = tables.name(&change.channel)?;
        let before = values.get(&change.channel);
        texts -= before.map_or(0, StoredSlot::text_bytes);
        let slot = match change.value {
            Some(value) => Some(tables.value(&change.channel, value, before, change.appended_from)?),
            None => None,
        };
        texts += slot.as_ref().map_or(0, StoredSlot::text_bytes);
        state::add_channel(&mut delta, name, change.version, slot.as_ref());
        match slot {
            Some(slot) => values.insert(change.channel, slot),
            None => values.remove(&change.channel),
        };
    }
    for (node, versions) in changes.seen {
        state::add_seen(&mut delta, &node, versions, |name| tables.name(name))?;
    }
    let state = ChannelState {
        versions: checkpoint.channel_versions.clone(),
        values,
        seen: checkpoint.versions_seen.clone(),
    };
    let mut delta = delta.encode();
    let mut chain = DeltaChain::default();
    if let Some(parent) = parent {
        match parent.chain.with(delta.len(), &state, texts) {
            Some(longer) => chain = longer,
            None => delta = state.snapshot(|name| tables.name(name))?.encode(),
        }
    }
    let shared = parent.filter(|known| known.parents == metadata.parents && known.user == metadata.user);
    let meta = match shared {
        Some(known) => known.meta,
        None => tables.metadata(metadata, metadata_text(metadata, thread)?)?,
    };
    let mut list = |names: &[Name]| {
        let rows: Result<Vec<i64>, T::Error> = names.iter().map(|name| tables.name(name)).collect();
        rows.map(|rows| rows_blob(&rows))
    };
    let next = (!checkpoint.next.is_empty()).then(|| list(&checkpoint.next));
    let source = SOURCES.iter().position(|source| *source == metadata.source);
    Ok(Plan {
        delta,
        source: source.unwrap_or(0) as i16,
        next: next.transpose()?,
        updated: checkpoint.updated_channels.as_deref().map(list).transpose()?,
        known: KnownCheckpoint {
            seq: 0,
            chain,
            meta,
            parents: metadata.parents.clone(),
            user: metadata.user.clone(),
            state,
            texts,
        },
    })
}

/// Formats metadata without source and step, as a row contains it.
fn metadata_text(metadata: &Metadata, thread: &ThreadId) -> Result<String, StorageError> {
    let pair = [&metadata.parents, &metadata.user].map(|object| Value::Object(object.clone()));
    let text = json(&Value::from(pair.to_vec()), "the metadata", thread)?;
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// Reads metadata without source and step.
pub(crate) fn read_metadata(json: &str) -> Result<(Object, Object), String> {
    let value: Value =
        serde_json::from_str(json).map_err(|error| format!("its metadata is not JSON: {error}"))?;
    match (value.at(0), value.at(1)) {
        (Some(Value::Object(parents)), Some(Value::Object(user))) => Ok((parents.clone(), user.clone())),
        _ => Err("its metadata has an unknown shape".to_owned()),
    }
}
