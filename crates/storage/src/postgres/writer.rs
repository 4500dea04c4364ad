//! The one task that writes. It drains its queue into one statement and answers every caller after it, so that callers
//! who come together pay for one commit together.
//!
//! A commit is planned from what is known here of the checkpoints it builds on, and carried out by a single statement
//! in a single round trip. The statement fails as a whole when another program has taken away what it builds on, or has
//! stored the same; then everything known is forgotten, looked up, and tried again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use imbl::OrdMap;
use superstep::{
    ChannelVersions, CheckpointId, Commit, Name, Object, Progress, Pruning, Put, Removal, StorageError,
    TaskId, TaskStatus, TaskWrites, ThreadId, Value, VersionsSeen,
};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::types::ToSql;

use crate::codec::bytes::rows_blob;
use crate::codec::chain::{self, Chained, snapshot_due};
use crate::codec::difference::differences;
use crate::codec::record::Delta;
use crate::codec::value::json;

use super::batch::{Batch, CheckpointRow, ItemRow, WriteRow};
use super::fault::Fault;
use super::names::Names;
use super::parts::Shelves;
use super::reader::{Deltas, SOURCES, meta};
use super::server::{Server, Session};
use super::survey::Sick;

/// Commits after which a statement is closed: bounds how long the first caller waits for the last.
const GROUP: usize = 256;
/// States of stored checkpoints kept at hand.
const KNOWN: usize = 1024;
/// How often a job is tried that another program or a cut connection gets in the way of.
const TRIES: u64 = 5;

/// Something for the writer to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Of one caller, in order: all of them or none.
    Commits(Vec<Commit>),
    Delete(ThreadId),
    Copy(ThreadId, ThreadId),
    Prune(Pruning, Progress),
    /// Takes away checkpoints that cannot be read, sets items aside, and removes what nothing refers to; counts parts again.
    Repair(Sick),
}

impl Job {
    fn what(&self) -> String {
        match self {
            Job::Commits(commits) => {
                let thread = commits.first().map_or("", |commit| commit.thread.as_str());
                format!("storing a checkpoint of thread {thread}")
            }
            Job::Delete(thread) => format!("deleting thread {thread}"),
            Job::Copy(from, to) => format!("copying thread {from} to {to}"),
            Job::Prune(..) => "removing the past of threads".to_owned(),
            Job::Repair(_) => "repairing threads".to_owned(),
        }
    }
}

/// What a job removed; nothing for most.
pub(super) type Outcome = Result<Removal, StorageError>;
/// A job and where its outcome goes.
pub(super) type Request = (Job, oneshot::Sender<Outcome>);

/// A namespace as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    pub(super) id: i64,
    pub(super) epoch: i64,
}

/// A stored checkpoint as the next commit needs it.
#[derive(Debug)]
struct Known {
    seq: i64,
    depth: i64,
    weight: i64,
    meta: i64,
    parents: Object,
    user: Object,
    versions: ChannelVersions,
    seen: VersionsSeen,
    values: OrdMap<Name, Slot>,
}

/// Where a channel's value is.
#[derive(Clone, Debug)]
struct Slot {
    row: i64,
    /// When it is a list.
    list: Option<Arc<Link>>,
}

/// A row of a list's chain.
#[derive(Debug)]
struct Link {
    row: i64,
    len: usize,
    level: i64,
    run: i64,
    /// Bytes of its run up to it.
    bytes: i64,
    /// Length of the JSON of the list.
    whole: i64,
    /// The row before its run.
    before: Option<Arc<Link>>,
}

pub(super) struct Writer {
    pub(super) server: Arc<Server>,
    pub(super) names: Arc<Names>,
    pub(super) session: Option<Session>,
    /// Numbers that are ours.
    numbers: std::ops::Range<i64>,
    spaces: HashMap<(ThreadId, Name), Space>,
    known: HashMap<(i64, CheckpointId), Arc<Known>>,
    shelves: Shelves,
    /// What the statement that is planned stores, for readers to have at hand once it is done: row, the row whose
    /// value it continues, value, length of its JSON.
    fresh: Vec<(i64, Option<i64>, Value, i64)>,
}

impl Writer {
    pub(super) fn new(
        server: Arc<Server>,
        names: Arc<Names>,
        session: Session,
    ) -> Result<Self, StorageError> {
        Ok(Self {
            server,
            names,
            session: Some(session),
            numbers: 0..0,
            spaces: HashMap::new(),
            known: HashMap::new(),
            shelves: Shelves::new()?,
            fresh: Vec::new(),
        })
    }

    /// Works until every sender is gone.
    pub(super) async fn run(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        let mut next = None;
        loop {
            let first = match next.take() {
                Some(request) => request,
                None => match requests.recv().await {
                    Some(request) => request,
                    None => return,
                },
            };
            let (Job::Commits(commits), _) = &first else {
                let (job, answer) = first;
                let outcome = self.alone(&job).await;
                // A caller that stopped waiting does not want to know.
                let _ = answer.send(outcome);
                continue;
            };
            let mut size = commits.len();
            let mut group = vec![first];
            while size < GROUP
                && let Ok(request) = requests.try_recv()
            {
                match &request.0 {
                    Job::Commits(commits) => {
                        size += commits.len();
                        group.push(request);
                    }
                    _ => {
                        next = Some(request);
                        break;
                    }
                }
            }
            self.group(group).await;
        }
    }

    async fn group(&mut self, group: Vec<Request>) {
        let jobs: Vec<&Job> = group.iter().map(|(job, _)| job).collect();
        let outcomes = match self.together(&jobs, false).await {
            Ok(outcomes) => outcomes,
            // Nothing was stored, or nobody knows. Alone, a job cannot spoil another.
            Err(_) => {
                let mut outcomes = Vec::with_capacity(jobs.len());
                for job in jobs {
                    outcomes.push(self.alone(job).await);
                }
                outcomes
            }
        };
        for ((_, answer), outcome) in group.into_iter().zip(outcomes) {
            let _ = answer.send(outcome);
        }
    }

    /// Does one job, again when somebody got in the way. Every job may be done twice: what is there already is left.
    async fn alone(&mut self, job: &Job) -> Outcome {
        let mut tries = 0_u64;
        loop {
            self.forget();
            self.shelves.forget(tries);
            tries += 1;
            let outcome = match job {
                Job::Commits(_) => match self.together(&[job], true).await {
                    Ok(mut outcomes) => return outcomes.pop().unwrap_or_else(|| Ok(Removal::default())),
                    Err(fault) => Err(fault),
                },
                other => self.in_transaction(other).await,
            };
            match outcome {
                Ok(removal) => return Ok(removal),
                Err(fault) if tries < TRIES && (fault.is_overtaken() || fault.is_lost()) => {}
                Err(fault) => return Err(fault.worded(&job.what(), &self.server.shown)),
            }
        }
    }

    async fn in_transaction(&mut self, job: &Job) -> Result<Removal, Fault> {
        let begin = match job {
            Job::Prune(pruning, _) if pruning.dry_run => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            _ => "BEGIN",
        };
        self.session().await?.batch(begin).await?;
        let outcome = match job {
            Job::Delete(thread) => self.delete(thread).await,
            Job::Copy(from, to) => self.copy(from, to).await.map(|()| Removal::default()),
            Job::Prune(pruning, progress) => self.prune(pruning, progress).await,
            Job::Repair(sick) => self.repair(sick).await,
            Job::Commits(_) => Ok(Removal::default()),
        };
        let session = self.session().await?;
        match outcome {
            Ok(removal) => {
                session.batch("COMMIT").await?;
                Ok(removal)
            }
            Err(fault) => {
                // When this fails too, the connection is gone and the transaction with it.
                if session.batch("ROLLBACK").await.is_err() {
                    self.session = None;
                }
                Err(fault)
            }
        }
    }

    /// The connection; a new one when the old one is gone.
    pub(super) async fn session(&mut self) -> Result<&mut Session, Fault> {
        let session = match self.session.take() {
            Some(session) if !session.client.is_closed() => session,
            _ => {
                self.forget();
                self.server.connect().await?
            }
        };
        Ok(self.session.insert(session))
    }

    fn forget(&mut self) {
        self.spaces.clear();
        self.known.clear();
    }

    /// A number for a row.
    pub(super) async fn number(&mut self) -> Result<i64, Fault> {
        if self.numbers.is_empty() {
            let rows = self
                .session()
                .await?
                .query("SELECT nextval('numbers')", &[])
                .await?;
            let first: i64 = rows.first().map_or(Ok(1), |row| row.try_get(0))?;
            // The sequence counts in steps of as many.
            self.numbers = first..first + 1024;
        }
        let number = self.numbers.start;
        self.numbers.start += 1;
        Ok(number)
    }

    /// Stores commits in one statement. A job that is refused is refused alone; any other error is for all, and
    /// nothing was stored.
    async fn together(&mut self, jobs: &[&Job], careful: bool) -> Result<Vec<Outcome>, Fault> {
        let outcome = self.store_jobs(jobs, careful).await;
        self.shelves.done(outcome.is_ok());
        let fresh = std::mem::take(&mut self.fresh);
        if outcome.is_ok() {
            for (row, base, value, size) in fresh {
                self.server.have(row, base, value, size);
            }
        } else {
            self.forget();
            self.shelves.forget(0);
        }
        outcome
    }

    async fn store_jobs(&mut self, jobs: &[&Job], careful: bool) -> Result<Vec<Outcome>, Fault> {
        let mut batch = Batch::default();
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            let Job::Commits(commits) = job else { continue };
            let mut own = Batch::default();
            let mut outcome = Ok(Removal::default());
            for commit in commits {
                match self.commit(commit, &batch, &mut own, careful).await {
                    Ok(()) => {}
                    Err(Fault::Storage(error)) => {
                        outcome = Err(error);
                        break;
                    }
                    Err(fault) => return Err(fault),
                }
            }
            match outcome.is_ok() {
                true => batch.merge(own),
                // What was planned of it is not to be built on.
                false => self.forget_planned(&own),
            }
            outcomes.push(outcome);
        }
        if !batch.is_empty() {
            let (sql, params) = batch.statement(&self.shelves);
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| &**param as _).collect();
            self.session().await?.query(&sql, &params).await?;
        }
        Ok(outcomes)
    }

    fn forget_planned(&mut self, own: &Batch) {
        self.known.retain(|(space, id), _| {
            !own.checkpoints
                .iter()
                .any(|row| row.space == *space && row.id == id.as_str())
        });
        self.spaces
            .retain(|_, space| !own.spaces.iter().any(|(id, ..)| *id == space.id));
    }

    async fn commit(
        &mut self,
        commit: &Commit,
        earlier: &Batch,
        batch: &mut Batch,
        careful: bool,
    ) -> Result<(), Fault> {
        let Commit {
            thread,
            ns,
            writes,
            put,
        } = commit;
        if writes.is_empty() && put.is_none() {
            return Ok(());
        }
        let new_id = put.as_ref().map(|put| &put.checkpoint.id);
        let mut named: HashSet<Name> = writes
            .iter()
            .flat_map(|task| task.writes.iter().map(|write| write.channel.clone()))
            .collect();
        if let Some(put) = put {
            add_names(put, &mut named);
        }
        let names = self.names.clone();
        names.make(self.session().await?, named).await?;

        let alone = put.as_ref().is_some_and(|put| put.checkpoint.parent.is_none())
            && writes.iter().all(|task| Some(&task.checkpoint_id) == new_id);
        // A first checkpoint whose namespace is not known here most likely begins it; if not, the statement fails.
        let space = self.space(thread, ns, alone && !careful).await?;
        let mut owners = HashMap::new();
        for task in writes {
            let id = &task.checkpoint_id;
            if Some(id) == new_id || owners.contains_key(id) {
                continue;
            }
            let known = match space {
                Some(space) => self.known(space, thread, id).await?,
                None => None,
            };
            let known = known.ok_or_else(|| StorageError::orphan(thread, task))?;
            owners.insert(id.clone(), known.seq);
        }
        let space = match space {
            Some(space) => space,
            None => {
                let space = Space {
                    id: self.number().await?,
                    epoch: 0,
                };
                batch.spaces.push((space.id, thread.to_string(), ns.to_string()));
                self.spaces.insert((thread.clone(), ns.clone()), space);
                space
            }
        };
        batch.touch(space.id, space.epoch);
        if let Some(put) = put {
            let id = &put.checkpoint.id;
            let there = match careful {
                true => self.known(space, thread, id).await?,
                false => self.known.get(&(space.id, id.clone())).cloned(),
            };
            let seq = match there {
                Some(known) => known.seq,
                None => self.put(space, thread, put, batch).await?,
            };
            owners.insert(id.clone(), seq);
        }
        for task in writes {
            if let Some(seq) = owners.get(&task.checkpoint_id) {
                self.write(*seq, thread, task, earlier, batch)?;
            }
        }
        Ok(())
    }

    /// The namespace; not looked up when it is taken to be `new`.
    async fn space(&mut self, thread: &ThreadId, ns: &Name, new: bool) -> Result<Option<Space>, Fault> {
        let key = (thread.clone(), ns.clone());
        if let Some(space) = self.spaces.get(&key) {
            return Ok(Some(*space));
        }
        if new {
            return Ok(None);
        }
        let rows = self
            .session()
            .await?
            .query(
                "SELECT id, epoch FROM spaces WHERE thread = $1 AND ns = $2",
                &[&thread.as_str(), &&**ns],
            )
            .await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let space = Space {
            id: row.try_get(0)?,
            epoch: row.try_get(1)?,
        };
        if self.spaces.len() >= KNOWN {
            self.spaces.clear();
        }
        self.spaces.insert(key, space);
        Ok(Some(space))
    }

    /// A stored checkpoint.
    async fn known(
        &mut self,
        space: Space,
        thread: &ThreadId,
        id: &CheckpointId,
    ) -> Result<Option<Arc<Known>>, Fault> {
        if let Some(known) = self.known.get(&(space.id, id.clone())) {
            return Ok(Some(known.clone()));
        }
        let names = self.names.clone();
        let session = self.session().await?;
        let rows = session
            .query(
                "SELECT c.seq, c.depth, c.weight, c.meta, m.json FROM checkpoints c
                 LEFT JOIN metas m ON m.space = c.space AND m.id = c.meta WHERE c.space = $1 AND c.id = $2",
                &[&space.id, &id.as_str()],
            )
            .await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let place = format!("Checkpoint {id} of thread {thread}");
        let damaged = |cause: String| Fault::corrupt(&place, cause);
        let json: Option<&str> = row.try_get(4)?;
        let json = json.ok_or_else(|| damaged("its metadata is missing".to_owned()))?;
        let (parents, user) = meta(json).map_err(&damaged)?;
        let chain = session
            .query(
                super::reader::CHAINS,
                &[&[space.id].as_slice(), &[id.as_str()].as_slice()],
            )
            .await?;
        let mut deltas = Deltas::read(&chain)?;
        let used: HashSet<i64> = deltas.names().collect();
        names.learn(session, used).await?;
        let state = deltas.state(&names, space.id, id.as_str()).map_err(&damaged)?;
        let items: Vec<i64> = state.values.values().copied().collect();
        let links = links(session, space.id, &items).await?;
        let values = state
            .values
            .into_iter()
            .map(|(name, row)| {
                let list = links.get(&row).cloned().flatten();
                (name, Slot { row, list })
            })
            .collect();
        let known = Arc::new(Known {
            seq: row.try_get(0)?,
            depth: row.try_get(1)?,
            weight: row.try_get(2)?,
            meta: row.try_get(3)?,
            parents,
            user,
            versions: state.versions,
            seen: state.seen,
            values,
        });
        self.remember(space.id, id, known.clone());
        Ok(Some(known))
    }

    fn remember(&mut self, space: i64, id: &CheckpointId, known: Arc<Known>) {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert((space, id.clone()), known);
    }

    async fn put(
        &mut self,
        space: Space,
        thread: &ThreadId,
        put: &Put,
        batch: &mut Batch,
    ) -> Result<i64, Fault> {
        let checkpoint = &put.checkpoint;
        let parent = match &checkpoint.parent {
            Some(id) => self.known(space, thread, id).await?,
            None => None,
        };
        let (changes, seen) = differences(
            put,
            parent.as_deref().map(|parent| (&parent.versions, &parent.seen)),
        );
        let mut values = parent
            .as_ref()
            .map(|parent| parent.values.clone())
            .unwrap_or_default();
        let mut delta = Delta::default();
        for (channel, appended_from) in changes {
            let version = checkpoint.channel_versions.get(&channel).copied();
            // A value without a version cannot be addressed by anybody.
            let value = version.and_then(|_| checkpoint.channel_values.get(&channel));
            let row = match value {
                Some(value) => {
                    let before = values.get(&channel).cloned();
                    let replaced = before.as_ref().map(|slot| slot.row);
                    let appended = appended_from.zip(before);
                    let slot = self
                        .store(space, &channel, value, appended, thread, batch)
                        .await?;
                    let row = slot.row;
                    let size = batch.size_of(row);
                    self.fresh.push((row, replaced, value.clone(), size));
                    values.insert(channel.clone(), slot);
                    row
                }
                None => {
                    values.remove(&channel);
                    0
                }
            };
            delta.channels.push((self.name(&channel)?, version, row));
        }
        for node in seen {
            let entry = self.seen_entry(put, &node)?;
            delta.seen.push((self.name(&node)?, entry));
        }
        let mut blob = delta.encode();
        let (mut depth, mut weight) = (0, 0);
        if let Some(parent) = &parent {
            (depth, weight) = (parent.depth + 1, parent.weight + blob.len() as i64);
            if snapshot_due(checkpoint, depth, weight, 0) {
                blob = self.snapshot(put, &values)?.encode();
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
                let text = String::from_utf8(json(&pair, "the metadata", thread)?).unwrap_or_default();
                let id = self.number().await?;
                batch
                    .metas
                    .push((space.id, id, metadata.run_id().map(str::to_owned), text));
                id
            }
        };
        let list = |names: &[Name]| -> Result<Vec<u8>, Fault> {
            let rows: Result<Vec<i64>, Fault> = names.iter().map(|name| self.name(name)).collect();
            Ok(rows_blob(&rows?))
        };
        let next = (!checkpoint.next.is_empty())
            .then(|| list(&checkpoint.next))
            .transpose()?;
        let updated = checkpoint.updated_channels.as_deref().map(list).transpose()?;
        let source = SOURCES
            .iter()
            .position(|source| *source == metadata.source)
            .unwrap_or(0) as i16;
        let seq = self.number().await?;
        batch.added(space.id, space.epoch, checkpoint.id.as_str());
        batch.checkpoints.push(CheckpointRow {
            space: space.id,
            id: checkpoint.id.to_string(),
            seq,
            parent: checkpoint.parent.as_ref().map(ToString::to_string),
            ts: checkpoint.ts.clone(),
            source,
            step: metadata.step,
            meta,
            next,
            updated,
            depth,
            weight,
            delta: blob,
        });
        let known = Known {
            seq,
            depth,
            weight,
            meta,
            parents: metadata.parents.clone(),
            user: metadata.user.clone(),
            versions: checkpoint.channel_versions.clone(),
            seen: checkpoint.versions_seen.clone(),
            values,
        };
        self.remember(space.id, &checkpoint.id, Arc::new(known));
        Ok(seq)
    }

    /// The row of a name that was made before.
    pub(super) fn name(&self, name: &Name) -> Result<i64, Fault> {
        let row = self.names.row(name);
        row.ok_or_else(|| Fault::corrupt("The table of names", format!("{name:?} is missing")))
    }

    fn seen_entry(&self, put: &Put, node: &Name) -> Result<Option<Vec<(i64, u64)>>, Fault> {
        let Some(versions) = put.checkpoint.versions_seen.get(node) else {
            return Ok(None);
        };
        let entry = versions
            .iter()
            .map(|(channel, version)| Ok((self.name(channel)?, *version)));
        entry.collect::<Result<_, Fault>>().map(Some)
    }

    fn snapshot(&self, put: &Put, values: &OrdMap<Name, Slot>) -> Result<Delta, Fault> {
        let mut delta = Delta::default();
        for (channel, version) in &put.checkpoint.channel_versions {
            let row = values.get(channel).map_or(0, |slot| slot.row);
            delta.channels.push((self.name(channel)?, Some(*version), row));
        }
        for node in put.checkpoint.versions_seen.keys() {
            let entry = self.seen_entry(put, node)?;
            delta.seen.push((self.name(node)?, entry));
        }
        Ok(delta)
    }

    /// Stores a value: as the new items of a list whose beginning is already there, or whole.
    async fn store(
        &mut self,
        space: Space,
        channel: &Name,
        value: &Value,
        appended: Option<(usize, Slot)>,
        thread: &ThreadId,
        batch: &mut Batch,
    ) -> Result<Slot, Fault> {
        let row = self.number().await?;
        let what = format!("channel {channel}");
        let mut item = ItemRow {
            space: space.id,
            id: row,
            base: None,
            len: value.as_array().map(|list| list.len() as i64),
            level: 0,
            run: 0,
            size: 0,
            whole: 0,
        };
        let (data, link) = match (appended, value) {
            (Some((from, Slot { list: Some(link), .. })), Value::Array(list))
                // What the engine says must fit what is stored, or the list would come back wrong.
                if link.len == from && list.len() >= from =>
            {
                let (base, level, run) =
                    chain::place(link, |last| Ok(last.before.clone().map(|before| (before, last.bytes))))?;
                let data = self.shelves.items(list.iter().skip(base.len), &what, thread)?;
                (item.base, item.level, item.run) = (Some(base.row), level, run);
                // Two lists in a row are one with a comma and two brackets less.
                item.whole = base.whole + data.size - 1;
                let (before, bytes) = match run {
                    1 => (Some(base), 0),
                    _ => (base.before.clone(), base.bytes),
                };
                let link = Link {
                    row,
                    len: list.len(),
                    level,
                    run,
                    bytes: bytes + data.data.len() as i64,
                    whole: item.whole,
                    before,
                };
                (data, Some(link))
            }
            _ => {
                let data = match value {
                    Value::Array(list) => self.shelves.items(list.iter(), &what, thread)?,
                    other => self.shelves.value(other, &what, thread)?,
                };
                item.whole = data.size;
                let link = value.as_array().map(|list| Link {
                    row,
                    len: list.len(),
                    level: 0,
                    run: 0,
                    bytes: data.data.len() as i64,
                    whole: data.size,
                    before: None,
                });
                (data, link)
            }
        };
        batch.item(item, data);
        Ok(Slot {
            row,
            list: link.map(Arc::new),
        })
    }

    fn write(
        &mut self,
        seq: i64,
        thread: &ThreadId,
        task: &TaskWrites,
        earlier: &Batch,
        batch: &mut Batch,
    ) -> Result<(), Fault> {
        let what = format!("a write of task {}", task.task_id);
        let id = task.task_id.as_str();
        for write in &task.writes {
            let key = (seq, id.to_owned(), write.idx);
            let known = earlier.writes.contains_key(&key) || batch.writes.contains_key(&key);
            // Special slots replace, the others are kept when already there.
            if known && write.idx >= 0 {
                continue;
            }
            let row = WriteRow {
                path: task.task_path.to_string(),
                channel: self.name(&write.channel)?,
                kind: kind(&task.task_id, &write.channel),
            };
            let value = match write.idx {
                0.. => self.shelves.value(&write.value, &what, thread)?,
                _ => self.shelves.alone(&write.value, &what, thread)?,
            };
            batch.write(key, row, value);
        }
        Ok(())
    }
}

/// What a write says about its task, as the column `kind` keeps it.
fn kind(task: &TaskId, channel: &str) -> i16 {
    match TaskStatus::of(task, [channel]) {
        TaskStatus {
            interrupted: true, ..
        } => 1,
        TaskStatus { failed: true, .. } => 2,
        TaskStatus { finished: true, .. } => 0,
        _ => 3,
    }
}

fn add_names(put: &Put, names: &mut HashSet<Name>) {
    let checkpoint = &put.checkpoint;
    names.extend(checkpoint.channel_versions.keys().cloned());
    names.extend(put.changes.iter().map(|change| change.channel.clone()));
    names.extend(put.seen.iter().cloned());
    names.extend(checkpoint.next.iter().cloned());
    names.extend(checkpoint.updated_channels.iter().flatten().cloned());
    for (node, versions) in &checkpoint.versions_seen {
        names.insert(node.clone());
        names.extend(versions.keys().cloned());
    }
}

impl Chained for Arc<Link> {
    type Error = Fault;
    fn level(&self) -> i64 {
        self.level
    }
    fn run(&self) -> i64 {
        self.run
    }
}

/// The chains of the lists among these rows.
async fn links(
    session: &mut Session,
    space: i64,
    items: &[i64],
) -> Result<HashMap<i64, Option<Arc<Link>>>, Fault> {
    let mut links: HashMap<i64, Option<Arc<Link>>> = HashMap::new();
    if items.is_empty() {
        return Ok(links);
    }
    let rows = session
        .query(
            "WITH RECURSIVE t (id, base) AS (
                 SELECT i.id, i.base FROM items i WHERE i.space = $1 AND i.id = ANY($2)
                 UNION
                 SELECT i.id, i.base FROM t JOIN items i ON i.space = $1 AND i.id = t.base
             )
             SELECT i.id, i.base, i.len, i.level, i.run, i.size, i.whole FROM t JOIN items i ON i.space = $1 AND i.id = t.id
             ORDER BY i.len",
            &[&space, &items],
        )
        .await?;
    // Shorter first, so what a row builds on is there before it; rows of equal length (an append of nothing) are
    // looked at again until nothing is added.
    let mut open: BTreeMap<usize, _> = rows.iter().enumerate().collect();
    while !open.is_empty() {
        let before = open.len();
        let mut later = BTreeMap::new();
        for (index, row) in open {
            let (id, base): (i64, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
            let Some(len) = row.try_get::<_, Option<i64>>(2)? else {
                links.insert(id, None);
                continue;
            };
            let base = match base.map(|base| links.get(&base).cloned()) {
                Some(None) => {
                    later.insert(index, row);
                    continue;
                }
                Some(Some(base)) => base,
                None => None,
            };
            let (run, size): (i64, i64) = (row.try_get(4)?, row.try_get(5)?);
            let (previous, bytes) = match (run, base) {
                (0 | 1, base) => (base, 0),
                (_, Some(base)) => (base.before.clone(), base.bytes),
                (_, None) => (None, 0),
            };
            let link = Link {
                row: id,
                len: usize::try_from(len).unwrap_or_default(),
                level: row.try_get(3)?,
                run,
                bytes: bytes + size,
                whole: row.try_get(6)?,
                before: previous,
            };
            links.insert(id, Some(Arc::new(link)));
        }
        // What builds on something missing is not built on: the next value is stored whole.
        if later.len() == before {
            break;
        }
        open = later;
    }
    Ok(links)
}
