//! What writes. Jobs that came together go into one transaction, and every caller is answered after the commit, so that
//! callers who come together pay for one commit together. `queue` says on which thread.
//!
//! What a commit costs follows what it changes: the parent's state is known from the commit before (or is resolved
//! once), channels that did not change are not touched, and a list that grew is stored as its new items.

mod items;
mod prune;
mod repair;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use imbl::OrdMap;
use rusqlite::hooks::Wal;
use rusqlite::types::{Null, ToSqlOutput, Value as Sql};
use rusqlite::{Connection, ErrorCode, OptionalExtension, ToSql, params};
use superstep::store::Prepared;
use superstep::{
    Checkpoint, CheckpointId, Commit, Integrity, Name, Object, Progress, Pruning, Put, Removal, Scope,
    StorageError, StoreConfig, TaskId, TaskStatus, TaskWrites, ThreadId, Value,
};
use tokio::sync::oneshot;

use crate::codec::bytes::rows_blob;
use crate::codec::chain::{self, Chained, snapshot_due};
use crate::codec::difference::differences;
use crate::codec::pack::{Packed, Unpackable, read_refs, refs_blob, split};
use crate::codec::record::{Delta, Rows};
use crate::codec::value::{json, nested, short};
use crate::codec::warm::Warm;

use super::columns::{IdColumn, id_column, time_column};
use super::fault::Fault;
use super::parts::{self, CHECKPOINT_BYTES, ROW_BYTES, Shelves};
use super::reader::{Memo, Metas, Names, SOURCES, State, View, refs_of_writes};
use super::slot::{Link, Shape, Slot};

/// States of stored checkpoints kept at hand, and places of namespaces.
const KNOWN: usize = 4096;
/// Longest JSON text of a value that stands in the delta: a row would take more, and the time of an insert.
const SHORT: usize = 100;
/// Tasks with writes that are remembered for a checkpoint; for more, the table is asked.
const TASKS: usize = 64;

/// Something for the writer to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Of one caller, in order: all of them or none.
    Commits(Vec<Commit>),
    Delete(ThreadId),
    Copy(ThreadId, ThreadId),
    Prune(Pruning, Progress),
    /// Check everything and put right what can be.
    Repair(Progress, StoreConfig),
    /// What a batch of the store changes.
    Items(ItemChanges),
    /// Removes items that expire until then.
    Sweep(u64),
}

/// What a batch of the store changes.
#[derive(Debug)]
pub(super) struct ItemChanges {
    pub(super) batch: Prepared,
    /// Rows of items that were read and get their full time again.
    pub(super) touched: Vec<i64>,
    /// The embedding that the vectors are from.
    pub(super) embedding: Option<String>,
}

impl Job {
    /// How much it adds to a transaction.
    pub(super) fn size(&self) -> usize {
        match self {
            Job::Commits(commits) => commits.len(),
            _ => 1,
        }
    }

    fn what(&self) -> String {
        match self {
            Job::Commits(commits) => {
                let thread = commits.first().map_or("", |commit| commit.thread.as_str());
                format!("storing a checkpoint of thread {thread}")
            }
            Job::Delete(thread) => format!("deleting thread {thread}"),
            Job::Copy(from, to) => format!("copying thread {from} to {to}"),
            Job::Prune(..) => "removing the past of threads".to_owned(),
            Job::Repair(..) => "checking and repairing what is stored".to_owned(),
            Job::Items(_) => "storing items".to_owned(),
            Job::Sweep(_) => "removing expired items".to_owned(),
        }
    }
}

/// What a job says when it is done.
#[derive(Debug)]
pub(super) enum Done {
    /// Nothing more.
    Stored,
    Removed(Removal),
    Checked(Integrity),
    /// So many expired items are gone.
    Swept(u64),
}

pub(super) type Outcome = Result<Done, StorageError>;
type Answer = oneshot::Sender<Outcome>;

/// A job and where its outcome goes.
pub(super) type Request = (Job, Answer);

/// A stored checkpoint as the next commit needs it.
#[derive(Debug)]
struct Known {
    seq: i64,
    depth: i64,
    weight: i64,
    meta: i64,
    parents: Object,
    user: Object,
    state: State,
    /// Bytes of the values that stand in deltas.
    texts: i64,
}

/// A row of a list's chain.
#[derive(Clone, Copy, Debug)]
struct Row(i64, Link);

impl Chained for Row {
    type Error = Fault;
    fn level(&self) -> i64 {
        self.1.level
    }
    fn run(&self) -> i64 {
        self.1.run
    }
}

/// What the open transaction stores, for readers to have at hand once it is committed.
#[derive(Debug, Default)]
struct Fresh {
    /// Row, the row whose value it continues, value, length of its JSON.
    values: Vec<(i64, Option<i64>, Value, u64)>,
    states: Vec<(i64, State)>,
}

impl Fresh {
    fn value(&mut self, slot: &Slot, before: Option<i64>, value: &Value, size: Option<u64>) {
        if let (Slot::Row(row, _), Some(size)) = (slot, size) {
            self.values.push((*row, before, value.clone(), size));
        }
    }
}

pub(super) struct Writer {
    conn: Connection,
    path: PathBuf,
    metas: Metas,
    names: Names,
    spaces: HashMap<(ThreadId, Name), i64>,
    known: HashMap<(i64, CheckpointId), Arc<Known>>,
    /// For checkpoints that were stored here, the tasks whose writes are stored.
    tasks: HashMap<i64, Vec<TaskId>>,
    data_version: i64,
    shelves: Shelves,
    warm: Arc<Warm<State>>,
    fresh: Fresh,
    /// How often rows were removed; nothing when that has to be looked up.
    epoch: Option<i64>,
    /// Whether the current job has changed anything.
    wrote: bool,
    /// What would go is only looked at.
    planning: bool,
    /// A transaction was begun for the next jobs.
    begun: bool,
    /// How long another program is waited for, and whether it is at all.
    patience: Duration,
    patient: bool,
    pages: Arc<AtomicU32>,
}

impl Writer {
    /// What pruning would remove, over a connection that only reads and so keeps nobody from writing.
    pub(super) fn plan(
        conn: Connection,
        path: PathBuf,
        warm: Arc<Warm<State>>,
        pruning: &Pruning,
        progress: &Progress,
    ) -> Result<Removal, Fault> {
        let mut looking = Self::new(conn, path, Duration::ZERO, warm)?;
        looking.conn.execute_batch("BEGIN")?;
        looking.prune(pruning, progress)
    }

    pub(super) fn new(
        mut conn: Connection,
        path: PathBuf,
        patience: Duration,
        warm: Arc<Warm<State>>,
    ) -> Result<Self, StorageError> {
        let pages = Arc::new(AtomicU32::new(0));
        let count = pages.clone();
        // In place of SQLite's own, which folds the log while the caller of a commit waits.
        conn.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
            count.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))
        .map_err(|error| Fault::from(error).worded("opening the database", &path))?;
        Ok(Self {
            conn,
            path,
            metas: Metas::default(),
            names: Names::default(),
            spaces: HashMap::new(),
            known: HashMap::new(),
            tasks: HashMap::new(),
            data_version: 0,
            shelves: Shelves::new()?,
            warm,
            fresh: Fresh::default(),
            epoch: None,
            wrote: false,
            planning: false,
            begun: false,
            patience,
            patient: true,
            pages,
        })
    }

    /// Does what was asked for and answers. Without patience, what another program's writing is in the way of is given
    /// back undone.
    pub(super) fn serve(&mut self, group: Vec<Request>, patient: bool) -> Vec<Request> {
        self.be_patient(patient);
        if !patient {
            match self.begin() {
                Err(Fault::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    return group;
                }
                // What else is wrong is told by trying.
                Err(_) => self.undo(),
                Ok(()) => self.begun = true,
            }
        }
        for (answer, outcome) in self.group(group) {
            // A caller that stopped waiting does not want to know.
            let _ = answer.send(outcome);
        }
        Vec::new()
    }

    /// Wait for another program that writes?
    fn be_patient(&mut self, patient: bool) {
        if patient != self.patient {
            let wait = if patient { self.patience } else { Duration::ZERO };
            // It only fails for a connection that is closed.
            let _ = self.conn.busy_timeout(wait);
            self.patient = patient;
        }
    }

    /// Pages in the write-ahead log after the last commit.
    pub(super) fn log_pages(&self) -> u32 {
        self.pages.load(Ordering::Relaxed)
    }

    fn group(&mut self, group: Vec<Request>) -> Vec<(Answer, Outcome)> {
        let jobs: Vec<&Job> = group.iter().map(|(job, _)| job).collect();
        let first = self.together(&jobs);
        if first.is_err() {
            self.be_patient(true);
        }
        let outcomes = match first {
            Ok(outcomes) => outcomes,
            // The transaction was undone. Alone, a job cannot spoil another.
            Err(_) if jobs.len() > 1 => jobs
                .iter()
                .map(|job| self.together(&[job]).and_then(|mut one| one.remove(0)))
                .collect(),
            Err(error) => vec![Err(error)],
        };
        group
            .into_iter()
            .map(|(_, answer)| answer)
            .zip(outcomes)
            .collect()
    }

    /// Runs jobs in one transaction. A job that fails before it wrote anything fails alone; otherwise everything is
    /// undone and the error is for all.
    fn together(&mut self, jobs: &[&Job]) -> Result<Vec<Outcome>, StorageError> {
        let path = self.path.clone();
        let what = || jobs.first().map_or_else(String::new, |job| job.what());
        if !std::mem::take(&mut self.begun) {
            self.begin().map_err(|fault| fault.worded(&what(), &path))?;
        }
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            self.wrote = false;
            let outcome = self.job(job).map_err(|fault| fault.worded(&job.what(), &path));
            if self.wrote
                && let Err(error) = outcome
            {
                self.undo();
                return Err(error);
            }
            outcomes.push(outcome);
        }
        let committed = self
            .conn
            .prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute([]));
        if let Err(error) = committed {
            self.undo();
            return Err(Fault::from(error).worded(&what(), &path));
        }
        if let Some(epoch) = self.epoch {
            for (row, before, value, size) in self.fresh.values.drain(..) {
                self.warm.keep(epoch, row, before, value, size);
            }
            for (seq, state) in self.fresh.states.drain(..) {
                self.warm.keep_state(epoch, seq, state);
            }
        }
        self.fresh = Fresh::default();
        Ok(outcomes)
    }

    fn begin(&mut self) -> Result<(), Fault> {
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        // Another process may have deleted or added what we remember.
        let version = self
            .conn
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0));
        match version {
            Ok(version) if version == self.data_version => {}
            Ok(version) => {
                self.forget();
                self.epoch = None;
                self.data_version = version;
            }
            Err(error) => {
                self.undo();
                return Err(error.into());
            }
        }
        if self.epoch.is_none() {
            // Without it nothing is kept at hand, and everything else works.
            self.epoch = epoch(&self.conn).ok();
        }
        Ok(())
    }

    fn undo(&mut self) {
        // SQLite has already rolled back after some errors (disk full); then there is nothing to undo.
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, file = %self.path.display(), "a failed transaction could not be undone");
        }
        self.forget();
        self.fresh = Fresh::default();
        self.epoch = None;
    }

    fn forget(&mut self) {
        self.names = Names::default();
        self.forget_threads();
        self.shelves.forget();
    }

    fn forget_threads(&mut self) {
        self.spaces.clear();
        self.known.clear();
        self.tasks.clear();
    }

    fn job(&mut self, job: &Job) -> Result<Done, Fault> {
        match job {
            Job::Commits(commits) => {
                let stored = commits.iter().try_for_each(|commit| self.commit(commit));
                self.shelves.let_go();
                stored?;
            }
            Job::Delete(thread) => {
                self.delete(thread, &|_| Ok(()))?;
                self.removed()?;
            }
            Job::Copy(from, to) => self.copy(from, to)?,
            Job::Prune(pruning, progress) => {
                let removal = self.prune(pruning, progress)?;
                self.removed()?;
                return Ok(Done::Removed(removal));
            }
            Job::Repair(progress, cutting) => {
                let integrity = self.repair(progress, cutting)?;
                self.removed()?;
                return Ok(Done::Checked(integrity));
            }
            Job::Items(changes) => return self.items(changes).map(|()| Done::Stored),
            Job::Sweep(now) => return self.sweep(*now).map(Done::Swept),
        }
        self.shelves.settle(&self.conn)?;
        Ok(Done::Stored)
    }

    /// Rows may be gone, and others be given their numbers: nobody is to take what is at hand for them.
    fn removed(&mut self) -> Result<(), Fault> {
        if self.wrote {
            let count = "INSERT INTO epochs VALUES (1, 1)
                         ON CONFLICT (id) DO UPDATE SET removals = removals + 1 RETURNING removals";
            let epoch = self.conn.prepare_cached(count)?.query_row([], |row| row.get(0))?;
            self.epoch = Some(epoch);
            // What this transaction stored before is not kept at hand; it may have been removed again.
            self.fresh = Fresh::default();
        }
        Ok(())
    }

    fn commit(&mut self, commit: &Commit) -> Result<(), Fault> {
        let Commit {
            thread,
            ns,
            writes,
            put,
        } = commit;
        if writes.is_empty() && put.is_none() {
            return Ok(());
        }
        let space = self.space(thread, ns)?;
        // Everything that can be refused is refused before the first change.
        let mut owners = HashMap::new();
        let new_id = put.as_ref().map(|put| &put.checkpoint.id);
        for task in writes {
            if Some(&task.checkpoint_id) == new_id || owners.contains_key(&task.checkpoint_id) {
                continue;
            }
            let seq = match space {
                Some(space) => self.seq(space, &task.checkpoint_id)?,
                None => None,
            };
            let seq = seq.ok_or_else(|| StorageError::orphan(thread, task))?;
            owners.insert(task.checkpoint_id.clone(), seq);
        }
        let space = match space {
            Some(space) => space,
            None => self.make_space(thread, ns)?,
        };
        if let Some(put) = put {
            let seq = match self.seq(space, &put.checkpoint.id)? {
                Some(seq) => seq,
                None => self.put(space, thread, put)?,
            };
            owners.insert(put.checkpoint.id.clone(), seq);
        }
        for task in writes {
            if let Some(seq) = owners.get(&task.checkpoint_id) {
                self.write(*seq, thread, task)?;
            }
        }
        // The next commit builds on the new checkpoint: what is remembered is one for each thread that moves, not many
        // for one.
        if let Some(parent) = put.as_ref().and_then(|put| put.checkpoint.parent.as_ref()) {
            self.forget_one(space, parent);
        }
        Ok(())
    }

    fn space(&mut self, thread: &ThreadId, ns: &Name) -> Result<Option<i64>, Fault> {
        let key = (thread.clone(), ns.clone());
        if let Some(space) = self.spaces.get(&key) {
            return Ok(Some(*space));
        }
        let space: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT s.id FROM threads t JOIN spaces s ON s.thread = t.id WHERE t.name = ?1 AND s.ns = ?2",
            )?
            .query_row([thread.as_str(), &**ns], |row| row.get(0))
            .optional()?;
        if let Some(space) = space {
            self.remember_space(key, space);
        }
        Ok(space)
    }

    fn remember_space(&mut self, key: (ThreadId, Name), space: i64) {
        if self.spaces.len() >= KNOWN {
            self.spaces.clear();
        }
        self.spaces.insert(key, space);
    }

    fn make_space(&mut self, thread: &ThreadId, ns: &Name) -> Result<i64, Fault> {
        self.wrote = true;
        let name = thread.as_str();
        self.conn
            .prepare_cached("INSERT INTO threads (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([name])?;
        let space = self
            .conn
            .prepare_cached("INSERT INTO spaces (thread, ns) SELECT id, ?2 FROM threads WHERE name = ?1")?
            .insert([name, &**ns])?;
        self.remember_space((thread.clone(), ns.clone()), space);
        Ok(space)
    }

    fn seq(&mut self, space: i64, id: &CheckpointId) -> Result<Option<i64>, Fault> {
        if let Some(known) = self.known.get(&(space, id.clone())) {
            return Ok(Some(known.seq));
        }
        let seq = self
            .conn
            .prepare_cached("SELECT seq FROM checkpoints WHERE space = ?1 AND id = ?2")?
            .query_row(params![space, id_column(id.as_str())], |row| row.get(0))
            .optional()?;
        Ok(seq)
    }

    fn known(
        &mut self,
        space: i64,
        thread: &ThreadId,
        id: &CheckpointId,
    ) -> Result<Option<Arc<Known>>, Fault> {
        if let Some(known) = self.known.get(&(space, id.clone())) {
            return Ok(Some(known.clone()));
        }
        let row: Option<(i64, i64, i64, i64)> = self
            .conn
            .prepare_cached("SELECT seq, depth, weight, meta FROM checkpoints WHERE space = ?1 AND id = ?2")?
            .query_row(params![space, id_column(id.as_str())], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let Some((seq, depth, weight, meta)) = row else {
            return Ok(None);
        };
        let place = format!("Checkpoint {id} of thread {thread}");
        let mut view = self.view();
        let (parents, user) = view.meta(meta, &place)?;
        let state = view.state(seq, &place)?;
        let texts = state.values.values().map(Slot::texts).sum();
        let known = Arc::new(Known {
            seq,
            depth,
            weight,
            meta,
            parents,
            user,
            state,
            texts,
        });
        self.remember(space, id, known.clone());
        Ok(Some(known))
    }

    /// The database as this connection sees it.
    fn view(&mut self) -> View<'_> {
        self.metas.at(None);
        View {
            conn: &self.conn,
            metas: &mut self.metas,
            names: &mut self.names,
            unpacker: self.shelves.unpacker(),
            memo: Memo::default(),
            warm: None,
            hurry: false,
        }
    }

    fn remember(&mut self, space: i64, id: &CheckpointId, known: Arc<Known>) {
        if self.known.len() >= KNOWN
            && let Some((space, id)) = self.known.keys().next().cloned()
        {
            // Any will do: with so many threads nobody can say whose turn is next.
            self.forget_one(space, &id);
        }
        self.known.insert((space, id.clone()), known);
    }

    fn forget_one(&mut self, space: i64, id: &CheckpointId) {
        if let Some(known) = self.known.remove(&(space, id.clone())) {
            self.tasks.remove(&known.seq);
        }
    }

    fn put(&mut self, space: i64, thread: &ThreadId, put: &Put) -> Result<i64, Fault> {
        let checkpoint = &put.checkpoint;
        let parent = match &checkpoint.parent {
            Some(id) => self.known(space, thread, id)?,
            None => None,
        };
        let (changes, seen) = differences(
            put,
            parent
                .as_ref()
                .map(|parent| (&parent.state.versions, &parent.state.seen)),
        );
        let mut values = parent
            .as_ref()
            .map(|parent| parent.state.values.clone())
            .unwrap_or_default();
        let mut texts = parent.as_ref().map_or(0, |parent| parent.texts);
        let mut delta = Delta::default();
        for (channel, appended_from) in changes {
            let name = self.name(&channel)?;
            let version = checkpoint.channel_versions.get(&channel).copied();
            // A value without a version cannot be addressed by anybody.
            let value = version.and_then(|_| checkpoint.channel_values.get(&channel));
            let (row, before) = match value {
                Some(value) => {
                    let base = appended_from.zip(values.get(&channel).cloned());
                    let slot = self.store(&channel, value, base, thread)?;
                    texts += slot.texts();
                    let row = slot.note(name, &mut delta);
                    (row, values.insert(channel, slot))
                }
                None => (0, values.remove(&channel)),
            };
            texts -= before.as_ref().map_or(0, Slot::texts);
            delta.channels.push((name, version, row));
        }
        for node in seen {
            let entry = self.seen_entry(checkpoint, &node)?;
            delta.seen.push((self.name(&node)?, entry));
        }
        let mut blob = delta.encode();
        let (mut depth, mut weight) = (0, 0);
        if let Some(parent) = &parent {
            (depth, weight) = (parent.depth + 1, parent.weight + blob.len() as i64);
            if snapshot_due(checkpoint, depth, weight, texts) {
                blob = self.snapshot(checkpoint, &values)?.encode();
                (depth, weight) = (0, 0);
            }
        }
        let metadata = &checkpoint.metadata;
        let shared = parent
            .as_ref()
            .filter(|known| known.parents == metadata.parents && known.user == metadata.user);
        let meta = match shared {
            Some(known) => known.meta,
            None => {
                let pair: Value = vec![
                    Value::Object(metadata.parents.clone()),
                    Value::Object(metadata.user.clone()),
                ]
                .into();
                let json = String::from_utf8(json(&pair, "the metadata", thread)?).unwrap_or_default();
                self.insert("INSERT INTO metas (json) VALUES (?1)", &[&json])?
            }
        };
        let parent_column: ToSqlOutput<'_> = match (&parent, &checkpoint.parent) {
            (Some(known), _) => known.seq.into(),
            (None, Some(id)) => id_column(id.as_str()),
            (None, None) => Null.into(),
        };
        let next = (!checkpoint.next.is_empty())
            .then(|| self.name_list(&checkpoint.next))
            .transpose()?;
        let updated = checkpoint
            .updated_channels
            .as_deref()
            .map(|names| self.name_list(names))
            .transpose()?;
        let source = SOURCES
            .iter()
            .position(|source| *source == metadata.source)
            .unwrap_or(0) as i64;
        let seq = self.insert(
            "INSERT INTO checkpoints (space, id, parent, ts, source, step, meta, next, updated, depth, weight, delta)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            &[
                &space,
                &id_column(checkpoint.id.as_str()),
                &parent_column,
                &time_column(&checkpoint.ts),
                &source,
                &metadata.step,
                &meta,
                &next,
                &updated,
                &depth,
                &weight,
                &blob,
            ],
        )?;
        let known = Known {
            seq,
            depth,
            weight,
            meta,
            parents: metadata.parents.clone(),
            user: metadata.user.clone(),
            state: State {
                versions: checkpoint.channel_versions.clone(),
                seen: checkpoint.versions_seen.clone(),
                values,
            },
            texts,
        };
        self.fresh.states.push((seq, known.state.clone()));
        self.remember(space, &checkpoint.id, Arc::new(known));
        self.tasks.insert(seq, Vec::new());
        Ok(seq)
    }

    fn insert(&mut self, sql: &str, values: &[&dyn ToSql]) -> Result<i64, Fault> {
        self.wrote = true;
        Ok(self.conn.prepare_cached(sql)?.insert(values)?)
    }

    fn name(&mut self, name: &Name) -> Result<i64, Fault> {
        // Making a name is harmless on its own: nothing refers to it until the job's rows do.
        self.names.row(&self.conn, name)
    }

    fn name_list(&mut self, names: &[Name]) -> Result<Vec<u8>, Fault> {
        let rows: Vec<i64> = names
            .iter()
            .map(|name| self.name(name))
            .collect::<Result<_, _>>()?;
        Ok(rows_blob(&rows))
    }

    fn seen_entry(&mut self, checkpoint: &Checkpoint, node: &Name) -> Result<Option<Vec<(i64, u64)>>, Fault> {
        let Some(versions) = checkpoint.versions_seen.get(node) else {
            return Ok(None);
        };
        let entry = versions
            .iter()
            .map(|(channel, version)| Ok((self.name(channel)?, *version)));
        entry.collect::<Result<_, Fault>>().map(Some)
    }

    fn snapshot(&mut self, checkpoint: &Checkpoint, values: &OrdMap<Name, Slot>) -> Result<Delta, Fault> {
        let mut delta = Delta::default();
        for (channel, version) in &checkpoint.channel_versions {
            let name = self.name(channel)?;
            let row = values.get(channel).map_or(0, |slot| slot.note(name, &mut delta));
            delta.channels.push((name, Some(*version), row));
        }
        for node in checkpoint.versions_seen.keys() {
            let entry = self.seen_entry(checkpoint, node)?;
            delta.seen.push((self.name(node)?, entry));
        }
        Ok(delta)
    }

    /// Stores a value: as the new items of a list whose beginning is already there, or whole.
    fn store(
        &mut self,
        channel: &Name,
        value: &Value,
        appended: Option<(usize, Slot)>,
        thread: &ThreadId,
    ) -> Result<Slot, Fault> {
        let place = || format!("channel {channel}");
        if let (Some((from, Slot::Row(base, shape))), Value::Array(list)) = (&appended, value)
            && let Some(link) = self.link(*base, *shape)?
            // What the engine says must fit what is stored, or the list would come back wrong.
            && link.len == *from
            && list.len() >= *from
        {
            let newest = *base;
            let (Row(base, before), level, run) =
                chain::place(Row(newest, link), |row| self.before_run(row))?;
            let new = list.skip(before.len);
            // The items of a folded row are in no other row as they are here.
            let packed = self.pack(parts::Source::Items(new.iter(), level == 0), place, thread)?;
            let comma = u64::from(before.len > 0 && !new.is_empty());
            let link = Link {
                len: list.len(),
                level,
                run,
                size: before
                    .size
                    .map(|size| size + packed.size.saturating_sub(2) + comma),
            };
            let slot = self.insert_item(Some(base), Shape::List(link), packed)?;
            self.fresh.value(&slot, Some(newest), value, link.size);
            return Ok(slot);
        }
        if let Some(text) = short(value, SHORT) {
            return Ok(Slot::Text(text.into()));
        }
        let packed = self.pack(one(value), place, thread)?;
        let shape = match value.as_array() {
            None => Shape::Plain,
            Some(list) => Shape::List(Link {
                len: list.len(),
                level: 0,
                run: 0,
                size: Some(packed.size),
            }),
        };
        let size = packed.size;
        let slot = self.insert_item(None, shape, packed)?;
        self.fresh.value(&slot, None, value, Some(size));
        Ok(slot)
    }

    fn insert_item(&mut self, base: Option<i64>, shape: Shape, packed: Packed) -> Result<Slot, Fault> {
        let (len, level, run, size) = match shape {
            Shape::List(link) => (Some(link.len as i64), link.level, link.run, link.size),
            _ => (None, 0, 0, Some(packed.size)),
        };
        let row = self.insert(
            "INSERT INTO items (base, len, level, run, data, refs, size) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                &base,
                &len,
                &level,
                &run,
                &packed.data,
                &refs_blob(&packed.refs),
                &size.map(|size| size as i64),
            ],
        )?;
        Ok(Slot::Row(row, shape))
    }

    /// Packs a value; what it refers to is counted.
    fn pack<'v>(
        &mut self,
        source: parts::Source<'v, impl Iterator<Item = &'v Value>>,
        what: impl Fn() -> String,
        thread: &ThreadId,
    ) -> Result<Packed, Fault> {
        self.shelves
            .pack(&self.conn, source)
            .map_err(|error| match error {
                Unpackable::Shelf(fault) => fault,
                Unpackable::TooDeep => nested(&what(), thread).into(),
            })
    }

    /// The link of a list row; `None` when the value is not a list or its row is gone.
    fn link(&mut self, row: i64, shape: Shape) -> Result<Option<Link>, Fault> {
        match shape {
            Shape::Plain => Ok(None),
            Shape::List(link) => Ok(Some(link)),
            Shape::Unread => Ok(self.read_link(row)?.map(|row| row.0)),
        }
    }

    /// The link of a list row, its base and its bytes.
    fn read_link(&self, row: i64) -> Result<Option<(Link, Option<i64>, i64)>, Fault> {
        let found = self
            .conn
            .prepare_cached("SELECT len, level, run, size, base, length(data) FROM items WHERE id = ?1")?
            .query_row([row], |row| {
                let Some(len) = row.get::<_, Option<u32>>(0)? else {
                    return Ok(None);
                };
                let link = Link {
                    len: len as usize,
                    level: row.get(1)?,
                    run: row.get(2)?,
                    size: row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs),
                };
                Ok(Some((link, row.get(4)?, row.get(5)?)))
            })
            .optional()?;
        Ok(found.flatten())
    }

    /// The row before the run that this row ends, and the bytes of the run.
    fn before_run(&self, row: &Row) -> Result<Option<(Row, i64)>, Fault> {
        let (mut at, mut bytes, mut boundary) = (row.0, 0, None);
        for _ in 0..row.1.run {
            let Some((_, Some(before), size)) = self.read_link(at)? else {
                break;
            };
            bytes += size;
            at = before;
            boundary = Some(before);
        }
        let Some(row) = boundary else { return Ok(None) };
        Ok(self.read_link(row)?.map(|(link, ..)| (Row(row, link), bytes)))
    }

    fn write(&mut self, seq: i64, thread: &ThreadId, task: &TaskWrites) -> Result<(), Fault> {
        let place = || format!("a write of task {}", task.task_id);
        let damaged = |cause: String| {
            let place = format!("The stored writes of task {} of thread {thread}", task.task_id);
            Fault::corrupt(place, cause)
        };
        let id = id_column(task.task_id.as_str());
        let new = match self.tasks.get_mut(&seq) {
            Some(tasks) if !tasks.contains(&task.task_id) => {
                if tasks.len() < TASKS {
                    tasks.push(task.task_id.clone());
                } else {
                    self.tasks.remove(&seq);
                }
                true
            }
            _ => false,
        };
        let stored: Option<(i64, Vec<u8>)> = match new {
            true => None,
            false => self
                .conn
                .prepare_cached("SELECT id, data FROM writes WHERE checkpoint = ?1 AND task = ?2")?
                .query_row(params![seq, id], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?,
        };
        let (row, mut rows) = match stored {
            Some((row, blob)) => (Some(row), Rows::decode(&blob).map_err(damaged)?),
            None => (None, Rows::default()),
        };
        for write in &task.writes {
            let there = rows.0.iter().find(|(idx, ..)| *idx == write.idx);
            match there {
                Some(_) if write.idx >= 0 => continue,
                Some((.., old)) => self.shelves.release(&split(old).map_err(damaged)?.0),
                None => {}
            }
            let channel = self.name(&write.channel)?;
            let packed = self.pack(one(&write.value), place, thread)?;
            rows.add(write.idx, channel, packed.into_bytes());
        }
        let status = self.status(&task.task_id, &rows)?;
        let blob = rows.encode();
        self.wrote = true;
        match row {
            Some(row) => {
                self.conn
                    .prepare_cached("UPDATE writes SET status = ?2, data = ?3 WHERE id = ?1")?
                    .execute(params![row, status, blob])?;
            }
            None => {
                self.conn
                    .prepare_cached("INSERT INTO writes (checkpoint, task, path, status, data) VALUES (?1, ?2, ?3, ?4, ?5)")?
                    .execute(params![seq, id, &*task.task_path, status, blob])?;
            }
        }
        Ok(())
    }

    fn status(&mut self, task: &TaskId, rows: &Rows) -> Result<i64, Fault> {
        let channels: Vec<Name> = rows
            .0
            .iter()
            .map(|(_, channel, _)| self.names.name(&self.conn, *channel))
            .collect::<Result<_, _>>()?;
        let status = TaskStatus::of(task, channels.iter().map(|name| &**name));
        Ok(i64::from(status.interrupted) | i64::from(status.failed) << 1)
    }

    fn spaces_of(&self, thread: &ThreadId) -> Result<Vec<(i64, Name)>, Fault> {
        let mut statement = self.conn.prepare_cached(
            "SELECT s.id, s.ns FROM threads t JOIN spaces s ON s.thread = t.id WHERE t.name = ?1",
        )?;
        let spaces = statement.query_map([thread.as_str()], |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?.into()))
        })?;
        Ok(spaces.collect::<Result<_, _>>()?)
    }

    /// Removes a thread; gives the bytes that its rows took. Parts that nothing refers to then go when it is settled.
    fn delete(&mut self, thread: &ThreadId, step: prune::Step<'_>) -> Result<u64, Fault> {
        let spaces = self.spaces_of(thread)?;
        self.wrote = true;
        let (mut items, mut metas) = (HashSet::new(), HashSet::new());
        let mut freed = 0;
        for (space, _) in &spaces {
            let mut seqs = HashSet::new();
            let mut statement = self
                .conn
                .prepare_cached("SELECT seq, meta, delta FROM checkpoints WHERE space = ?1")?;
            let mut rows = statement.query([space])?;
            while let Some(row) = rows.next()? {
                seqs.insert(row.get::<_, i64>(0)?);
                metas.insert(row.get::<_, i64>(1)?);
                match Delta::decode(row.get_ref(2)?.as_blob().unwrap_or_default()) {
                    Ok(delta) => items.extend(delta.channels.into_iter().map(|(.., item)| item)),
                    // The thread goes anyway; values that only this record knew stay behind, unreachable.
                    Err(cause) => tracing::warn!(%thread, cause, "a damaged checkpoint was deleted"),
                }
            }
            drop(rows);
            drop(statement);
            freed += self.drop_checkpoints(&seqs, step)?;
            if !self.planning {
                self.conn
                    .prepare_cached("DELETE FROM spaces WHERE id = ?1")?
                    .execute([space])?;
            }
        }
        self.add_bases(&mut items)?;
        freed += self.drop_items(&items, step)?;
        freed += self.drop_metas(&metas)?;
        if self.planning {
            return Ok(freed);
        }
        self.conn
            .prepare_cached("DELETE FROM threads WHERE name = ?1")?
            .execute([thread.as_str()])?;
        self.forget_threads();
        Ok(freed)
    }

    fn copy(&mut self, from: &ThreadId, to: &ThreadId) -> Result<(), Fault> {
        if from == to {
            return Ok(());
        }
        let mut copied = Copied::default();
        for (source, ns) in self.spaces_of(from)? {
            let target = match self.space(to, &ns)? {
                Some(target) => target,
                None => self.make_space(to, &ns)?,
            };
            self.copy_space(source, target, from, &mut copied)?;
        }
        Ok(())
    }

    fn copy_space(
        &mut self,
        source: i64,
        target: i64,
        from: &ThreadId,
        copied: &mut Copied,
    ) -> Result<(), Fault> {
        self.wrote = true;
        let seqs: Vec<i64> = self
            .conn
            .prepare_cached("SELECT seq FROM checkpoints WHERE space = ?1 ORDER BY seq")?
            .query_map([source], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        // Parents have smaller numbers than their children, so they are copied first.
        let mut new_seqs: BTreeMap<i64, i64> = BTreeMap::new();
        for seq in seqs {
            let (id, parent, meta, blob): (IdColumn, Sql, i64, Vec<u8>) = self
                .conn
                .prepare_cached("SELECT id, parent, meta, delta FROM checkpoints WHERE seq = ?1")?
                .query_row([seq], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })?;
            if let Some(there) = self.seq(target, &CheckpointId::new(id.0.as_str()))? {
                new_seqs.insert(seq, there);
                continue;
            }
            let place = || format!("Checkpoint {} of thread {from}", id.0);
            let mut delta = Delta::decode(&blob).map_err(|cause| Fault::corrupt(place(), cause))?;
            for (.., item) in &mut delta.channels {
                if *item != 0 {
                    *item = self.copy_item(*item, copied).map_err(|fault| match fault {
                        Fault::Sql(rusqlite::Error::QueryReturnedNoRows) => {
                            Fault::corrupt(place(), "a value is missing")
                        }
                        other => other,
                    })?;
                }
            }
            let meta = match copied.metas.get(&meta) {
                Some(meta) => *meta,
                None => {
                    let new = self
                        .conn
                        .prepare_cached("INSERT INTO metas (json) SELECT json FROM metas WHERE id = ?1")?
                        .insert([meta])?;
                    copied.metas.insert(meta, new);
                    new
                }
            };
            let parent = match parent {
                Sql::Integer(parent) => {
                    let new = new_seqs.get(&parent).copied();
                    Sql::Integer(new.ok_or_else(|| Fault::corrupt(place(), "its parent is missing"))?)
                }
                other => other,
            };
            let new = self
                .conn
                .prepare_cached(
                    "INSERT INTO checkpoints (space, id, parent, ts, source, step, meta, next, updated, depth, weight, delta)
                     SELECT ?2, id, ?3, ts, source, step, ?4, next, updated, depth, weight, ?5
                     FROM checkpoints WHERE seq = ?1",
                )?
                .insert(params![seq, target, parent, meta, delta.encode()])?;
            new_seqs.insert(seq, new);
            self.conn
                .prepare_cached(
                    "INSERT INTO writes (checkpoint, task, path, status, data)
                     SELECT ?2, task, path, status, data FROM writes WHERE checkpoint = ?1",
                )?
                .execute([seq, new])?;
            let mut statement = self
                .conn
                .prepare_cached("SELECT data FROM writes WHERE checkpoint = ?1")?;
            let mut rows = statement.query([new])?;
            while let Some(row) = rows.next()? {
                let refs = refs_of_writes(row.get_ref(0)?.as_blob().unwrap_or_default());
                self.shelves
                    .refer(&refs.map_err(|cause| Fault::corrupt(place(), cause))?);
            }
        }
        Ok(())
    }

    /// Copies a value row and every row it builds on, each once.
    fn copy_item(&mut self, item: i64, copied: &mut Copied) -> Result<i64, Fault> {
        let mut chain = Vec::new();
        let mut at = Some(item);
        let mut base: Option<i64> = None;
        while let Some(row) = at {
            if let Some(new) = copied.items.get(&row) {
                base = Some(*new);
                break;
            }
            chain.push(row);
            at = self
                .conn
                .prepare_cached("SELECT base FROM items WHERE id = ?1")?
                .query_row([row], |row| row.get(0))?;
        }
        for row in chain.into_iter().rev() {
            let (new, refs): (i64, Option<Vec<u8>>) = self
                .conn
                .prepare_cached(
                    "INSERT INTO items (base, len, level, run, data, refs, size)
                     SELECT ?2, len, level, run, data, refs, size FROM items WHERE id = ?1 RETURNING id, refs",
                )?
                .query_row(params![row, base], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let refs = read_refs(refs.as_deref()).map_err(|cause| Fault::corrupt("A value", cause))?;
            self.shelves.refer(&refs);
            copied.items.insert(row, new);
            base = Some(new);
        }
        base.ok_or_else(|| Fault::corrupt("A value", "it is missing"))
    }
}

/// Rows that a copy has already made, by the row they were made from.
#[derive(Default)]
struct Copied {
    items: HashMap<i64, i64>,
    metas: HashMap<i64, i64>,
}

/// How often rows were removed from the file, as far as this connection sees.
pub(super) fn epoch(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("SELECT removals FROM epochs")?
        .query_row([], |row| row.get(0))
}

/// One value to pack.
fn one<'v>(value: &'v Value) -> parts::Source<'v, std::iter::Empty<&'v Value>> {
    parts::Source::Value(value)
}
