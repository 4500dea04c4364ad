//! The checkpoints of one thread, the oldest first, read in chunks so that a long thread takes little memory, and of their
//! states only the keys that are asked for. Only those of the outermost graph: what a nested graph does is seen in what it
//! gives back.

use std::collections::{BTreeSet, HashMap};
use std::mem::take;

use superstep::checkpoint::{
    ChannelValues, CheckpointHead, CheckpointTuple, ListQuery, PendingWrite, Source, StorageError,
    ThreadSummary,
};
use superstep::inspect::has_deltas;
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Graph, Name, Value};

use super::Directory;
use crate::threads::is_state_key;
use crate::wire::Problem;

/// Checkpoints that are read at once.
const CHUNK: usize = 256;

/// Parts that are read of checkpoints in addition to their heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NeededParts {
    /// Nothing.
    Heads,
    /// The values of these keys; the others are null, and what tasks wrote is left out.
    Keys(BTreeSet<Name>),
    /// The state and what tasks wrote.
    Whole,
}

impl NeededParts {
    /// Combines the needs of two expressions.
    pub(super) fn and(self, other: &NeededParts) -> Self {
        match (self, other) {
            (NeededParts::Heads, other) => other.clone(),
            (NeededParts::Keys(keys), NeededParts::Keys(others)) => NeededParts::Keys(&keys | others),
            (keys, NeededParts::Heads) => keys,
            _ => NeededParts::Whole,
        }
    }
}

/// A checkpoint as it was read.
#[derive(Debug)]
struct Stored {
    head: CheckpointHead,
    values: ChannelValues,
    writes: Vec<PendingWrite>,
}

impl From<CheckpointTuple> for Stored {
    fn from(mut tuple: CheckpointTuple) -> Self {
        Self {
            values: take(&mut tuple.checkpoint.channel_values),
            writes: tuple.pending_writes.clone(),
            head: tuple.into_head(),
        }
    }
}

/// A checkpoint with its state.
#[derive(Debug)]
pub(super) struct Read {
    /// Its place among the heads.
    pub(super) place: usize,
    pub(super) state: Object,
    /// What its tasks wrote.
    pub(super) writes: Vec<PendingWrite>,
}

/// History of a thread.
#[derive(Debug)]
pub(super) struct ThreadHistory<'a> {
    saver: &'a dyn Checkpointer,
    summary: &'a ThreadSummary,
    /// The oldest first.
    pub(super) heads: Vec<CheckpointHead>,
    places: HashMap<CheckpointId, usize>,
    /// Everything of a short thread, which was read at once.
    short: Option<Vec<Stored>>,
    wanted: &'a NeededParts,
    graph: Option<Graph>,
    /// What the state keys begin with.
    pub(super) initial: Object,
}

fn query(summary: &ThreadSummary) -> ListQuery {
    ListQuery::new().thread(summary.thread.clone()).ns("")
}

/// Returns the state keys of a checkpoint; keys that were never written have their initial values.
fn state(initial: &Object, stored: &Stored) -> Object {
    let values = stored.values.iter();
    let mut state = initial.clone();
    for (name, value) in values.filter(|(name, _)| is_state_key(name)) {
        state.insert(name.clone(), value.clone());
    }
    state
}

/// Reads checkpoints, newest first.
async fn stored(
    saver: &dyn Checkpointer,
    query: &ListQuery,
    wanted: &NeededParts,
) -> Result<Vec<Stored>, StorageError> {
    let keys: Vec<Name> = match wanted {
        NeededParts::Whole => {
            let tuples = saver.list(query).await?;
            return Ok(tuples.into_iter().map(Stored::from).collect());
        }
        NeededParts::Keys(keys) => keys.iter().cloned().collect(),
        NeededParts::Heads => Vec::new(),
    };
    let found = saver.heads_with(query, &keys).await?;
    let stored = found.into_iter().map(|(head, values)| Stored {
        head,
        values,
        writes: Vec::new(),
    });
    Ok(stored.collect())
}

impl<'a> ThreadHistory<'a> {
    /// Reads which checkpoints there are, and of a short thread what is wanted of them as well.
    pub(super) async fn read(
        saver: &'a dyn Checkpointer,
        directory: &dyn Directory,
        summary: &'a ThreadSummary,
        wanted: &'a NeededParts,
    ) -> Result<Self, StorageError> {
        let reads_states = *wanted != NeededParts::Heads;
        let initial = match reads_states {
            true => directory.initial(summary).await,
            false => Object::new(),
        };
        let short = match reads_states && summary.checkpoints as usize <= CHUNK {
            true => Some(stored(saver, &query(summary), wanted).await?),
            false => None,
        };
        let mut heads = match &short {
            Some(stored) => stored.iter().map(|stored| stored.head.clone()).collect(),
            None => saver.heads(&query(summary)).await?,
        };
        heads.sort_by(|a, b| a.id.cmp(&b.id));
        let places = (heads.iter().enumerate())
            .map(|(place, head)| (head.id.clone(), place))
            .collect();
        Ok(Self {
            saver,
            summary,
            heads,
            places,
            short,
            wanted,
            graph: None,
            initial,
        })
    }

    /// Reads one checkpoint and the one before it, with all that is in them. Nothing, when it is not stored.
    pub(super) async fn around(
        saver: &'a dyn Checkpointer,
        directory: &dyn Directory,
        summary: &'a ThreadSummary,
        checkpoint: &CheckpointId,
    ) -> Result<Option<Self>, StorageError> {
        let Some(tuple) = saver.get(&summary.thread, "", Some(checkpoint)).await? else {
            return Ok(None);
        };
        let mut short = vec![Stored::from(tuple)];
        if let Some(parent) = short[0].head.parent.clone()
            && let Some(tuple) = saver.get(&summary.thread, "", Some(&parent)).await?
        {
            short.insert(0, Stored::from(tuple));
        }
        let heads: Vec<CheckpointHead> = short.iter().map(|stored| stored.head.clone()).collect();
        let places = heads.iter().enumerate();
        Ok(Some(Self {
            saver,
            summary,
            places: places.map(|(place, head)| (head.id.clone(), place)).collect(),
            heads,
            short: Some(short),
            wanted: &NeededParts::Whole,
            graph: None,
            initial: directory.initial(summary).await,
        }))
    }

    /// Returns the parent of a checkpoint, if it is still stored.
    pub(super) fn parent(&self, place: usize) -> Option<usize> {
        let parent = self.heads.get(place)?.parent.as_ref()?;
        self.places.get(parent).copied()
    }

    /// Returns the nodes that ran in the step which led to a checkpoint.
    pub(super) fn ran(&self, place: usize) -> BTreeSet<&Name> {
        let head = self
            .heads
            .get(place)
            .filter(|head| head.metadata.source == Source::Loop);
        let parent = head.and_then(|_| self.parent(place));
        parent.map_or_else(BTreeSet::new, |parent| self.heads[parent].next.iter().collect())
    }

    /// Returns the first step in which the last of these nodes ran, provided that each ran in a later step of the same
    /// branch than the one before.
    pub(super) fn passed(
        &self,
        nodes: &[String],
        in_time: impl Fn(&CheckpointHead) -> bool,
    ) -> Option<usize> {
        let mut reached: Vec<usize> = Vec::with_capacity(self.heads.len());
        let mut found = None;
        for (place, head) in self.heads.iter().enumerate() {
            let before = self.parent(place).map_or(0, |parent| reached[parent]);
            let advances =
                (nodes.get(before)).is_some_and(|node| self.ran(place).iter().any(|ran| ***ran == **node));
            let now = before + usize::from(advances);
            if found.is_none() && advances && now == nodes.len() && in_time(head) {
                found = Some(place);
            }
            reached.push(now);
        }
        found
    }

    /// Reads the states of the checkpoints from this place on: some of them, and with the last of them all.
    pub(super) async fn chunk(
        &mut self,
        from: usize,
        directory: &dyn Directory,
    ) -> Result<Vec<Read>, Problem> {
        let end = self.next(from);
        let before = self.heads.get(end).map(|next| next.id.clone());
        // While a run goes on, there may be newer ones by now.
        let query = query(self.summary).before(before).limit(end - from + 8);
        let stored = match self.short.take() {
            Some(stored) => stored,
            None => stored(self.saver, &query, self.wanted).await?,
        };
        let mut rebuilt = self.rebuilt(&stored, &query, directory).await?;
        let read = stored.into_iter().filter_map(|stored| {
            let place = *self.places.get(&stored.head.id)?;
            let state = rebuilt.remove(&stored.head.id);
            (from..end).contains(&place).then(|| Read {
                place,
                state: state.unwrap_or_else(|| self::state(&self.initial, &stored)),
                writes: stored.writes,
            })
        });
        let mut read: Vec<Read> = read.collect();
        read.sort_by_key(|read| read.place);
        Ok(read)
    }

    /// Returns the first place after the chunk that begins at this place.
    pub(super) fn next(&self, from: usize) -> usize {
        self.heads.len().min(from + CHUNK)
    }

    /// Reads the state of one checkpoint.
    pub(super) async fn state(
        &mut self,
        place: usize,
        directory: &dyn Directory,
    ) -> Result<Option<Object>, Problem> {
        let query = query(self.summary).id(self.heads[place].id.clone());
        let found = stored(self.saver, &query, self.wanted).await?;
        let mut rebuilt = self.rebuilt(&found, &query, directory).await?;
        Ok(found.first().map(|stored| {
            rebuilt
                .remove(&stored.head.id)
                .unwrap_or_else(|| state(&self.initial, stored))
        }))
    }

    /// Rebuilds the states of checkpoints with keys that are stored as deltas, which only the graph can show. Returns
    /// nothing if there is no such key, or no graph any more.
    async fn rebuilt(
        &mut self,
        stored: &[Stored],
        query: &ListQuery,
        directory: &dyn Directory,
    ) -> Result<HashMap<CheckpointId, Object>, Problem> {
        if !stored
            .iter()
            .any(|stored| has_deltas(&stored.head.metadata, &stored.values))
        {
            return Ok(HashMap::new());
        }
        if self.graph.is_none() {
            self.graph = directory.graph(self.summary).await;
        }
        let Some(graph) = &self.graph else {
            return Ok(HashMap::new());
        };
        let snapshots = graph.get_state_history(&self.summary.thread, query).await?;
        let states = snapshots
            .into_iter()
            .filter_map(|snapshot| match snapshot.values {
                Value::Object(state) => Some((snapshot.checkpoint?.id, state)),
                _ => None,
            });
        Ok(states.collect())
    }
}
