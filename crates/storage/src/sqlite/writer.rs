//! What writes. Jobs that came together go into one transaction, and every caller is answered after the commit, so that
//! callers who come together pay for one commit together. `queue` says on which thread.
//!
//! What a commit costs follows what it changes: the parent's state is known from the commit before (or is resolved
//! once), channels that did not change are not touched, and a list that grew is stored as its new items.

pub(super) mod claims;
mod commit;
mod items;
mod prune;
mod repair;
mod tasks;
mod threads;
mod values;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::hooks::Wal;
use rusqlite::types::{Null, ToSqlOutput, Value as Sql};
use rusqlite::{Connection, ErrorCode, OptionalExtension, ToSql, params};
use superstep::checkpoint::{
    ClaimRow, ClaimUse, Commit, Integrity, Metadata, Progress, Pruning, Put, Removal, Scope, StorageError,
    TaskId, TaskStatus, TaskWrites,
};
use superstep::store::StoreConfig;
use superstep::store::{NewVectors, Prepared};
use superstep::{CheckpointId, Name, ThreadId, Value};
use tokio::sync::oneshot;

use crate::base::presence::Presence;
use crate::codec::chain::{self, Chained};
use crate::codec::encoding::{EncodeError, EncodedValue, LongList, read_refs, refers, refs_blob, split};
use crate::codec::plan::{self, DeltaChain, StoredSlot as _, Tables, plan};
use crate::codec::record::{Delta, Rows, Tasks};
use crate::codec::text::uuid_bytes;
use crate::codec::value::{nested, short};
use crate::codec::value_cache::ValueCache;

use super::columns::{IdColumn, id_column, time_column};
use super::fault::{SqliteFault, is_corrupt};
use super::parts::{self, CHECKPOINT_BYTES, PartStore, ROW_BYTES};
use super::reader::{Memo, Metas, Names, SqliteState, View, refs_of_writes};
use super::slot::{Link, Shape, SqliteSlot};
use super::step_index::{self, Tail};
use super::waiting;
use crate::base::unwritable::log_of;
use tasks::Written;

/// Map for the lookups of every commit.
type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// States of stored checkpoints kept in memory, and places of namespaces.
const KNOWN: usize = 4096;
/// Longest JSON text of a value that is kept in the delta: a row would take more, and the time of an insert.
const SHORT: usize = 100;

/// A job for the writer.
#[derive(Debug)]
pub(super) enum Job {
    /// Of one caller, in order: all of them or none.
    Commits(Vec<Commit>),
    /// With what compares, when the one who deletes shows a claim.
    Delete(ThreadId, Option<ClaimUse>),
    Copy(ThreadId, ThreadId),
    Prune(Pruning, Progress),
    /// Check everything and put right what can be.
    Repair(Progress, StoreConfig),
    /// What a batch of the store changes.
    Items(ItemChanges),
    /// Removes items that expire until then.
    Sweep(u64),
    /// Gives items new vectors, of this embedding.
    Renew(String, Vec<NewVectors>),
}

/// Changes made by a batch of the store.
#[derive(Debug)]
pub(super) struct ItemChanges {
    pub(super) batch: Prepared,
    /// Rows of items that were read and get their full time again.
    pub(super) touched: Vec<i64>,
}

impl Job {
    /// Returns how much the job adds to a transaction.
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
            Job::Delete(thread, _) => format!("deleting thread {thread}"),
            Job::Copy(from, to) => format!("copying thread {from} to {to}"),
            Job::Prune(..) => "removing the past of threads".to_owned(),
            Job::Repair(..) => "checking and repairing what is stored".to_owned(),
            Job::Items(_) => "storing items".to_owned(),
            Job::Sweep(_) => "removing expired items".to_owned(),
            Job::Renew(..) => "embedding items again".to_owned(),
        }
    }
}

/// Result of a job.
#[derive(Debug)]
pub(super) enum Done {
    /// Nothing more.
    Stored,
    Removed(Removal),
    Checked(Integrity),
    /// The number of expired items that are gone.
    Swept(u64),
}

pub(super) type Outcome = Result<Done, StorageError>;
type Answer = oneshot::Sender<Outcome>;

/// A job and where its outcome goes.
pub(super) type Request = (Job, Answer);

type KnownRows = plan::KnownCheckpoint<SqliteSlot>;

/// Values and states that the open transaction stores, for readers to have in memory once it is committed.
#[derive(Debug, Default)]
struct Fresh {
    /// Row, the row whose value it continues, value, length of its JSON.
    values: Vec<(i64, Option<i64>, Value, u64)>,
    states: Vec<(i64, SqliteState)>,
}

impl Fresh {
    fn value(&mut self, slot: &SqliteSlot, before: Option<i64>, value: &Value, size: Option<u64>) {
        if let (SqliteSlot::Row(row, _), Some(size)) = (slot, size) {
            self.values.push((*row, before, value.clone(), size));
        }
    }
}

pub(super) struct Writer {
    conn: Connection,
    path: PathBuf,
    metas: Metas,
    names: Names,
    spaces: Map<(ThreadId, Name), i64>,
    known: Map<(i64, CheckpointId), Arc<KnownRows>>,
    /// The greatest id of a namespace, or one that is greater: what comes after it is not stored.
    newest: Map<i64, [u8; 16]>,
    /// For checkpoints that were stored here, what tasks wrote.
    written: Map<i64, Written>,
    /// Claims of threads, as they are stored.
    claims: Map<ThreadId, Option<ClaimRow>>,
    data_version: i64,
    part_store: PartStore,
    value_cache: Arc<ValueCache<SqliteState>>,
    fresh: Fresh,
    /// The file that was opened and its log.
    presence: Presence,
    /// How often rows were removed; nothing when that has to be looked up.
    epoch: Option<i64>,
    /// The row at which the table of steps ends, if that is known.
    stepped: Option<i64>,
    tail: Tail,
    /// The table of steps is not known to be damaged.
    has_steps: Cell<bool>,
    /// Whether the current job has changed anything.
    wrote: bool,
    /// What would go is only looked at.
    planning: bool,
    /// A transaction was begun for the next jobs.
    begun: bool,
    /// How long another program is waited for, and whether it is at all.
    patience: Duration,
    when_locked: WhenLocked,
    pages: Arc<AtomicU32>,
    commits: Arc<AtomicU64>,
}

/// Treatment of requests while another program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenLocked {
    /// They wait for it.
    Wait,
    /// They are returned undone.
    Return,
}

/// Returns whether another program holds the lock of the file.
fn is_locked(fault: &SqliteFault) -> bool {
    matches!(fault, SqliteFault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
}

impl Writer {
    /// Computes what pruning would remove, over a connection that only reads and so keeps nobody from writing.
    pub(super) fn plan(
        conn: Connection,
        path: PathBuf,
        value_cache: Arc<ValueCache<SqliteState>>,
        pruning: &Pruning,
        progress: &Progress,
    ) -> Result<Removal, SqliteFault> {
        let mut looking = Self::new(conn, path, Duration::ZERO, value_cache)?;
        looking.conn.execute_batch("BEGIN")?;
        looking.prune(pruning, progress)
    }

    pub(super) fn new(
        mut conn: Connection,
        path: PathBuf,
        patience: Duration,
        value_cache: Arc<ValueCache<SqliteState>>,
    ) -> Result<Self, StorageError> {
        let pages = Arc::new(AtomicU32::new(0));
        let count = pages.clone();
        // In place of SQLite's own, which folds the log while the caller of a commit waits.
        conn.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
            count.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))
        .map_err(|error| SqliteFault::from(error).worded("opening the database", &path))?;
        let presence = Presence::of([path.clone(), log_of(&path)]);
        Ok(Self {
            conn,
            path,
            presence,
            metas: Metas::default(),
            names: Names::default(),
            spaces: Map::default(),
            known: Map::default(),
            newest: Map::default(),
            written: Map::default(),
            claims: Map::default(),
            data_version: 0,
            part_store: PartStore::new()?,
            value_cache,
            fresh: Fresh::default(),
            epoch: None,
            stepped: None,
            tail: Tail::default(),
            has_steps: Cell::new(true),
            wrote: false,
            planning: false,
            begun: false,
            patience,
            when_locked: WhenLocked::Wait,
            pages,
            commits: Arc::default(),
        })
    }

    /// Executes requests and answers them; returns those that it has left undone.
    pub(super) fn serve(&mut self, group: Vec<Request>, when_locked: WhenLocked) -> Vec<Request> {
        self.set_when_locked(when_locked);
        if when_locked == WhenLocked::Return {
            match self.begin() {
                Err(fault) if is_locked(&fault) => return group,
                // What else is wrong is found by trying.
                Err(_) => self.undo(),
                Ok(()) => self.begun = true,
            }
        }
        let (jobs, answers): (Vec<Job>, Vec<Answer>) = group.into_iter().unzip();
        let outcomes = self.group(&jobs.iter().collect::<Vec<_>>());
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // A caller that stopped waiting does not want to know.
            let _ = answer.send(outcome);
        }
        // What was stored is let go of when nobody waits for it any more.
        drop(jobs);
        Vec::new()
    }

    /// Sets whether to wait for another program that is writing.
    fn set_when_locked(&mut self, when_locked: WhenLocked) {
        if when_locked != self.when_locked {
            let wait = match when_locked {
                WhenLocked::Wait => self.patience,
                WhenLocked::Return => Duration::ZERO,
            };
            // It only fails for a connection that is closed.
            let _ = self.conn.busy_timeout(wait);
            self.when_locked = when_locked;
        }
    }

    /// Returns the pages in the write-ahead log after the last commit.
    pub(super) fn log_pages(&self) -> u32 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Returns what counts the writer's commits: one when each begins and one when it ends, so odd while one is under way.
    pub(super) fn commit_count(&self) -> Arc<AtomicU64> {
        self.commits.clone()
    }

    fn group(&mut self, jobs: &[&Job]) -> Vec<Outcome> {
        let first = self.together(jobs);
        if first.is_err() {
            self.set_when_locked(WhenLocked::Wait);
        }
        match first {
            Ok(outcomes) => outcomes,
            // The transaction was undone. Alone, a job cannot spoil another.
            Err(_) if jobs.len() > 1 => jobs
                .iter()
                .map(|job| self.together(&[job]).and_then(|mut one| one.remove(0)))
                .collect(),
            Err(error) => vec![Err(error)],
        }
    }

    /// Runs jobs in one transaction. One that met a damaged page cannot be committed, so they are run again when that was
    /// in the table of steps, which they can do without.
    fn together(&mut self, jobs: &[&Job]) -> Result<Vec<Outcome>, StorageError> {
        let had_steps = self.has_steps.get();
        let outcomes = self.attempt(jobs);
        if outcomes.is_ok() || self.has_steps.get() == had_steps {
            return outcomes;
        }
        self.set_when_locked(WhenLocked::Wait);
        self.attempt(jobs)
    }

    /// Runs jobs in one transaction. A job that fails before it wrote anything fails alone; otherwise everything is
    /// undone and the error is for all.
    fn attempt(&mut self, jobs: &[&Job]) -> Result<Vec<Outcome>, StorageError> {
        let path = self.path.clone();
        let what = || jobs.first().map_or_else(String::new, |job| job.what());
        if !std::mem::take(&mut self.begun)
            && let Err(fault) = self.begin()
        {
            let is_locked = is_locked(&fault);
            let error = fault.worded(&what(), &path);
            return match is_locked {
                // Nobody can write: alone, each job would wait as long again.
                true => Ok(jobs.iter().map(|_| Err(error.clone())).collect()),
                false => Err(error),
            };
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
        let committed = self.keep_steps().and_then(|()| {
            let mut commit = self.conn.prepare_cached("COMMIT")?;
            self.commits.fetch_add(1, Ordering::SeqCst);
            let committed = commit.execute([]);
            self.commits.fetch_add(1, Ordering::SeqCst);
            committed
        });
        if let Err(error) = committed {
            self.undo();
            return Err(SqliteFault::from(error).worded(&what(), &path));
        }
        // Into a file that is gone SQLite commits as if nothing were wrong.
        if let Err(gone) = self.presence.require() {
            self.undo();
            return Err(gone);
        }
        if let Some(epoch) = self.epoch {
            for (row, before, value, size) in self.fresh.values.drain(..) {
                self.value_cache.keep(epoch, row, before, value, size);
            }
            for (seq, state) in self.fresh.states.drain(..) {
                self.value_cache.keep_state(epoch, seq, state);
            }
        }
        self.fresh = Fresh::default();
        Ok(outcomes)
    }

    /// Returns a number that another connection's commit changes.
    pub(super) fn changes(&self) -> rusqlite::Result<u64> {
        let mut version = self.conn.prepare_cached("PRAGMA data_version")?;
        version
            .query_row([], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
    }

    fn begin(&mut self) -> Result<(), SqliteFault> {
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
            // Without it nothing is kept in memory, and everything else works.
            let found = self
                .conn
                .prepare_cached("SELECT removals, stepped FROM epochs")
                .and_then(|mut read| read.query_row([], |row| Ok((row.get(0)?, row.get(1)?))))
                .ok();
            (self.epoch, self.stepped) = found.unzip();
        }
        Ok(())
    }

    /// Brings the table of steps up to date when there is much to put into it.
    fn keep_steps(&mut self) -> rusqlite::Result<()> {
        let due = self.stepped.is_some_and(|stepped| self.tail.is_due(stepped));
        if due && self.has_steps.get() {
            self.stepped = step_index::fill(&self.conn).map_err(|error| self.without_steps(error))?;
            self.tail = Tail::default();
        }
        Ok(())
    }

    /// Stops using the table of steps when one of its pages is damaged: it must keep nobody from storing.
    fn without_steps(&self, error: rusqlite::Error) -> rusqlite::Error {
        if is_corrupt(&error) {
            tracing::warn!(%error, file = %self.path.display(), "checkpoints are not found by their step at once");
            self.has_steps.set(false);
        }
        error
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
        self.tail = Tail::default();
        self.epoch = None;
    }

    fn forget(&mut self) {
        self.names = Names::default();
        self.forget_threads();
        self.part_store.forget();
    }

    fn forget_threads(&mut self) {
        self.spaces.clear();
        self.known.clear();
        self.newest.clear();
        self.written.clear();
        self.claims.clear();
    }

    fn job(&mut self, job: &Job) -> Result<Done, SqliteFault> {
        match job {
            Job::Commits(commits) => {
                let stored = self.commits(commits);
                self.part_store.let_go();
                stored?;
            }
            Job::Delete(thread, shown) => {
                if let Some(shown) = shown {
                    self.compare(thread, shown)?;
                }
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
            Job::Renew(embedding, renewed) => {
                return self.replace_vectors(embedding, renewed).map(Done::Swept);
            }
        }
        self.part_store.settle(&self.conn)?;
        Ok(Done::Stored)
    }

    /// Records that rows may be gone and their numbers reused: nobody may take what is in memory for them.
    fn removed(&mut self) -> Result<(), SqliteFault> {
        if self.wrote {
            // The number of the last checkpoint may be given again, to one that is not in the table of steps.
            let count = "INSERT INTO epochs (id, removals) VALUES (1, 1)
                         ON CONFLICT (id) DO UPDATE SET removals = removals + 1,
                         stepped = min(stepped, (SELECT coalesce(max(seq), 0) FROM checkpoints))
                         RETURNING removals, stepped";
            let (epoch, stepped) = self
                .conn
                .prepare_cached(count)?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            (self.epoch, self.stepped) = (Some(epoch), Some(stepped));
            // What this transaction stored before is not kept in memory; it may have been removed again.
            self.fresh = Fresh::default();
        }
        Ok(())
    }
}

/// Returns how often rows were removed from the file, as far as this connection sees.
pub(super) fn epoch(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("SELECT removals FROM epochs")?
        .query_row([], |row| row.get(0))
}
