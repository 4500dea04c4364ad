//! Planning commits from what is known of the checkpoints they build on.
//!
//! Nothing that is planned is in the database before the statement has stored it, so nothing of it is forgotten before
//! then.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use superstep::checkpoint::{
    ClaimUse, Commit, Metadata, Put, Removal, StorageError, TaskId, TaskStatus, TaskWrites, reserved,
};
use superstep::{CheckpointId, Name, ThreadId, Value};
use tokio_postgres::types::ToSql;

use super::values::{PostgresSlot, links};
use super::{ClaimAt, Job, Outcome, Space, Writer};
use crate::base::claims::HeldClaim;
use crate::codec::plan::{self, ChannelState, DeltaChain, Plan, Tables, plan, read_metadata};
use crate::postgres::batch::{Batch, CheckpointRow, WriteRow};
use crate::postgres::fault::PostgresFault;
use crate::postgres::reader::{CHAINS, Deltas};

/// States of stored checkpoints kept in memory, and places of namespaces: one for each thread that moves.
const KNOWN: usize = 4096;

const SPACE: &str = "SELECT id, epoch FROM spaces WHERE thread = $1 AND ns = $2";

/// Returns the namespace of the outermost graph.
fn root(thread: &ThreadId) -> (ThreadId, Name) {
    (thread.clone(), "".into())
}

pub(super) type KnownRows = plan::KnownCheckpoint<PostgresSlot>;

/// Care with which jobs are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// What is not known here is taken to be new; the statement fails if it is not.
    Optimistic,
    /// What may be stored already is looked up, so that a repeated job leaves it.
    Careful,
}

impl Writer {
    /// Stores commits in one statement. A job that is refused is refused alone; any other error is for all, and
    /// nothing was stored.
    pub(super) async fn together(
        &mut self,
        jobs: &[&Job],
        attempt: Attempt,
    ) -> Result<Vec<Outcome>, PostgresFault> {
        let outcome = self.store_jobs(jobs, attempt).await;
        self.part_store.done(outcome.is_ok());
        let fresh = std::mem::take(&mut self.fresh);
        if outcome.is_ok() {
            for (row, base, value, size) in fresh {
                self.server.have(row, base, value, size);
            }
            self.make_room();
        } else {
            self.forget();
            self.part_store.forget(0);
        }
        outcome
    }

    /// Forgets what nothing builds on. Only between statements: what is planned is known here alone.
    fn make_room(&mut self) {
        for left in std::mem::take(&mut self.left) {
            self.known.remove(&left);
        }
        // Any will do: with many threads nobody can say whose turn is next.
        while self.known.len() > KNOWN
            && let Some(any) = self.known.keys().next().cloned()
        {
            self.known.remove(&any);
        }
        while self.spaces.len() > KNOWN
            && let Some(any) = self.spaces.keys().next().cloned()
        {
            self.spaces.remove(&any);
        }
        while self.claims.len() > KNOWN
            && let Some(any) = self.claims.keys().next().cloned()
        {
            self.claims.remove(&any);
        }
    }

    async fn store_jobs(&mut self, jobs: &[&Job], attempt: Attempt) -> Result<Vec<Outcome>, PostgresFault> {
        self.session().await?;
        let connections = self.connections;
        let mut batch = Batch::default();
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            let Job::Commits(commits) = job else { continue };
            let mut own = Batch::default();
            let mut outcome = Ok(Removal::default());
            for commit in commits {
                match self.commit(commit, &batch, &mut own, attempt).await {
                    Ok(()) => {}
                    Err(PostgresFault::Storage(error)) => {
                        if !self.is_known(commit, &[&batch, &own]).await? {
                            return Err(PostgresFault::Stale);
                        }
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
        self.session().await?;
        if self.connections != connections {
            // What was planned was forgotten on the way, and missed by what was planned after it.
            return Err(PostgresFault::Stale);
        }
        if !batch.is_empty() {
            let (shown, sent) = (self.shown(&batch), Instant::now());
            let (sql, params) = batch.statement(&self.part_store);
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| &**param as _).collect();
            self.session().await?.query(&sql, &params).await?;
            for (thread, shown, root) in shown {
                self.note_claim(thread, &shown, root, sent);
            }
        }
        Ok(outcomes)
    }

    /// Returns the claims that a batch shows, with the outermost namespace of each thread as it will be, if the batch
    /// builds on it.
    fn shown(&self, batch: &Batch) -> Vec<(ThreadId, ClaimUse, Option<Space>)> {
        let after = |thread: &ThreadId| {
            let Space { id, .. } = *self.spaces.get(&root(thread))?;
            let epoch = batch.epoch_after(id)?;
            Some(Space { id, epoch })
        };
        let last = batch.claims.last().into_iter();
        last.map(|(thread, shown)| {
            let after = after(&thread);
            (thread, shown, after)
        })
        .collect()
    }

    /// Notes what the database has accepted.
    fn note_claim(&mut self, thread: ThreadId, shown: &ClaimUse, at: Option<Space>, sent: Instant) {
        if let Some(at) = at {
            self.spaces.insert(root(&thread), at);
        }
        let before = self.claims.remove(&thread);
        let before = before.filter(|before| before.held.is(&shown.claim));
        let at = at.or_else(|| before.map(|before| before.root));
        if let Some((held, root)) = HeldClaim::after(shown, sent).zip(at) {
            self.claims.insert(thread, ClaimAt { root, held });
        }
    }

    /// Returns whether the database knows without being shown that the thread belongs to the run: its outermost
    /// namespace has the epoch at which the claim was compared.
    fn is_held(&self, thread: &ThreadId, shown: &ClaimUse) -> bool {
        self.claims.get(thread).is_some_and(|known| {
            let now = self.spaces.get(&root(thread));
            now == Some(&known.root) && known.held.covers(shown)
        })
    }

    /// Adds what a commit shows to the batch.
    async fn show(
        &mut self,
        commit: &Commit,
        shown: &ClaimUse,
        earlier: &Batch,
        batch: &mut Batch,
    ) -> Result<(), PostgresFault> {
        let thread = &commit.thread;
        let stores = commit.put.is_some() || !commit.writes.is_empty();
        batch.claims.add(thread, shown, stores);
        if shown.take.is_none() {
            return Ok(());
        }
        let (_, ns) = root(thread);
        let Some(root) = self.space(thread, &ns).await? else {
            return Ok(());
        };
        if earlier.grows(root.id) {
            // What it is taken onto is compared with what is stored.
            return Err(PostgresFault::Stale);
        }
        batch.take_over(root.id, root.epoch);
        Ok(())
    }

    /// Checks whether a namespace is as it is known here. One that was read in several statements is not, if somebody
    /// removed some of it between them.
    async fn is_known(&mut self, commit: &Commit, planned: &[&Batch]) -> Result<bool, PostgresFault> {
        let key = (commit.thread.clone(), commit.ns.clone());
        let known = self.spaces.get(&key).map(|space| (space.id, space.epoch));
        let is_stored = |(space, _): &(i64, i64)| {
            let mut spaces = planned.iter().flat_map(|batch| &batch.spaces);
            !spaces.any(|(id, ..)| id == space)
        };
        let rows = self
            .session()
            .await?
            .query(SPACE, &[&commit.thread.as_str(), &&*commit.ns])
            .await?;
        let now = match rows.first() {
            Some(row) => Some((row.try_get(0)?, row.try_get(1)?)),
            None => None,
        };
        Ok(now == known.filter(is_stored))
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
        attempt: Attempt,
    ) -> Result<(), PostgresFault> {
        let Commit {
            thread,
            ns,
            writes,
            put,
            claim,
        } = commit;
        let stores = put.is_some() || !writes.is_empty();
        if !stores {
            return match claim {
                Some(shown) => self.show(commit, shown, earlier, batch).await,
                None => Ok(()),
            };
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
        let space = match attempt {
            Attempt::Optimistic if alone => self.spaces.get(&(thread.clone(), ns.clone())).copied(),
            _ => self.space(thread, ns).await?,
        };
        let mut owners = self.owners(space, thread, writes, new_id).await?;
        let space = match space {
            Some(space) => space,
            None => self.begin_space(thread, ns, batch).await?,
        };
        batch.touch(space.id, space.epoch);
        if let Some(shown) = claim {
            let is_shown = earlier.claims.names(thread) || batch.claims.names(thread);
            if is_shown || !ns.is_empty() || !self.is_held(thread, shown) {
                self.show(commit, shown, earlier, batch).await?;
            }
        }
        if let Some(put) = put {
            let id = &put.checkpoint.id;
            let there = match attempt {
                Attempt::Careful => self.known(space, thread, id).await?,
                Attempt::Optimistic => self.known.get(&(space.id, id.clone())).cloned(),
            };
            let seq = match there {
                Some(known) => known.seq,
                None => self.put(space, thread, put, batch).await?,
            };
            owners.insert(id.clone(), seq);
            // The next commit builds on the new checkpoint: what is known is one for each thread that moves.
            let parent = put.checkpoint.parent.iter();
            self.left.extend(parent.map(|parent| (space.id, parent.clone())));
        }
        for task in writes {
            if let Some(seq) = owners.get(&task.checkpoint_id) {
                self.write(*seq, thread, task, earlier, batch)?;
                if ns.is_empty() {
                    note(space.id, *seq, thread, task, batch);
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of the checkpoints that tasks wrote at, except the `new` one.
    async fn owners(
        &mut self,
        space: Option<Space>,
        thread: &ThreadId,
        writes: &[TaskWrites],
        new: Option<&CheckpointId>,
    ) -> Result<HashMap<CheckpointId, i64>, PostgresFault> {
        let mut owners = HashMap::new();
        for task in writes {
            let id = &task.checkpoint_id;
            if Some(id) == new || owners.contains_key(id) {
                continue;
            }
            let known = match space {
                Some(space) => self.known(space, thread, id).await?,
                None => None,
            };
            let known = known.ok_or_else(|| StorageError::orphan(thread, task))?;
            owners.insert(id.clone(), known.seq);
        }
        Ok(owners)
    }

    /// Creates a namespace that begins with this commit.
    async fn begin_space(
        &mut self,
        thread: &ThreadId,
        ns: &Name,
        batch: &mut Batch,
    ) -> Result<Space, PostgresFault> {
        let space = Space {
            id: self.number().await?,
            epoch: 0,
        };
        batch.spaces.push((space.id, thread.to_string(), ns.to_string()));
        self.spaces.insert((thread.clone(), ns.clone()), space);
        Ok(space)
    }

    /// Returns the namespace, which is looked up when it is not known here.
    async fn space(&mut self, thread: &ThreadId, ns: &Name) -> Result<Option<Space>, PostgresFault> {
        let key = (thread.clone(), ns.clone());
        if let Some(space) = self.spaces.get(&key) {
            return Ok(Some(*space));
        }
        let rows = self
            .session()
            .await?
            .query(SPACE, &[&thread.as_str(), &&**ns])
            .await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let space = Space {
            id: row.try_get(0)?,
            epoch: row.try_get(1)?,
        };
        self.spaces.insert(key, space);
        Ok(Some(space))
    }

    /// Returns a stored checkpoint.
    async fn known(
        &mut self,
        space: Space,
        thread: &ThreadId,
        id: &CheckpointId,
    ) -> Result<Option<Arc<KnownRows>>, PostgresFault> {
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
        let damaged = |cause: String| PostgresFault::corrupt(&place, cause);
        let json: Option<&str> = row.try_get(4)?;
        let json = json.ok_or_else(|| damaged("its metadata is missing".to_owned()))?;
        let (parents, user) = read_metadata(json).map_err(&damaged)?;
        let chain = session
            .query(CHAINS, &[&[space.id].as_slice(), &[id.as_str()].as_slice()])
            .await?;
        let mut deltas = Deltas::read(&chain)?;
        let used: HashSet<i64> = deltas.names().collect();
        names.learn(session, used).await?;
        let state = deltas.state(&names, space.id, id.as_str()).map_err(&damaged)?;
        let items: Vec<i64> = state.values.values().copied().collect();
        let links = links(session, space.id, &items).await?;
        let slot = |row: i64| PostgresSlot {
            row,
            list: links.get(&row).cloned().flatten(),
        };
        let state = ChannelState {
            versions: state.versions,
            values: state
                .values
                .iter()
                .map(|(name, row)| (name.clone(), slot(*row)))
                .collect(),
            seen: state.seen,
        };
        let known = Arc::new(KnownRows {
            seq: row.try_get(0)?,
            chain: DeltaChain {
                depth: row.try_get(1)?,
                weight: row.try_get(2)?,
            },
            meta: row.try_get(3)?,
            parents,
            user,
            state,
            texts: 0,
        });
        self.remember(space.id, id, known.clone());
        Ok(Some(known))
    }

    fn remember(&mut self, space: i64, id: &CheckpointId, known: Arc<KnownRows>) {
        self.known.insert((space, id.clone()), known);
    }

    async fn put(
        &mut self,
        space: Space,
        thread: &ThreadId,
        put: &Put,
        batch: &mut Batch,
    ) -> Result<i64, PostgresFault> {
        let checkpoint = &put.checkpoint;
        let parent = match &checkpoint.parent {
            Some(id) => self.known(space, thread, id).await?,
            None => None,
        };
        let metadata = &checkpoint.metadata;
        // A number for each value that may be new, the metadata and the checkpoint.
        self.reserve(checkpoint.channel_versions.len() + 2).await?;
        let mut tables = Planned {
            writer: &mut *self,
            batch: &mut *batch,
            space,
            thread,
        };
        let Plan {
            delta,
            source,
            next,
            updated,
            mut known,
        } = plan(put, parent.as_deref(), thread, &mut tables)?;
        let seq = self.next_number()?;
        known.seq = seq;
        batch.added(space.id, space.epoch, checkpoint.id.as_str());
        batch.checkpoints.push(CheckpointRow {
            space: space.id,
            id: checkpoint.id.to_string(),
            seq,
            parent: checkpoint.parent.as_ref().map(ToString::to_string),
            ts: checkpoint.ts.clone(),
            source,
            step: metadata.step,
            meta: known.meta,
            next,
            updated,
            depth: known.chain.depth,
            weight: known.chain.weight,
            delta,
        });
        self.remember(space.id, &checkpoint.id, Arc::new(known));
        Ok(seq)
    }

    fn write(
        &mut self,
        seq: i64,
        thread: &ThreadId,
        task: &TaskWrites,
        earlier: &Batch,
        batch: &mut Batch,
    ) -> Result<(), PostgresFault> {
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
                0.. => self.part_store.value(&write.value, &what, thread)?,
                _ => self.part_store.alone(&write.value, &what, thread)?,
            };
            batch.write(key, row, value);
        }
        Ok(())
    }
}

/// The tables as a statement that is planned will leave them.
struct Planned<'w> {
    writer: &'w mut Writer,
    batch: &'w mut Batch,
    space: Space,
    thread: &'w ThreadId,
}

impl Tables for Planned<'_> {
    type Slot = PostgresSlot;
    type Error = PostgresFault;

    fn name(&mut self, name: &Name) -> Result<i64, PostgresFault> {
        self.writer.name(name)
    }

    fn value(
        &mut self,
        channel: &Name,
        value: &Value,
        before: Option<&PostgresSlot>,
        appended_from: Option<usize>,
    ) -> Result<PostgresSlot, PostgresFault> {
        let appended = appended_from.zip(before);
        let (slot, size) =
            self.writer
                .store(self.space, channel, value, appended, self.thread, self.batch)?;
        let replaced = before.map(|slot| slot.row);
        self.writer.fresh.push((slot.row, replaced, value.clone(), size));
        Ok(slot)
    }

    fn metadata(&mut self, metadata: &Metadata, text: String) -> Result<i64, PostgresFault> {
        let id = self.writer.next_number()?;
        let run = metadata.run_id().map(str::to_owned);
        self.batch.metas.push((self.space.id, id, run, text));
        Ok(id)
    }
}

const FINISHES: i16 = 0;
const ASKS: i16 = 1;
const WITHDRAWS: i16 = 4;
const ASKED_AGAIN: i16 = 5;

/// Returns what a write says about its task, as stored in the column `kind`.
fn kind(task: &TaskId, channel: &str) -> i16 {
    match TaskStatus::of(task, [channel]) {
        TaskStatus {
            interrupted: true, ..
        } => ASKS,
        TaskStatus { failed: true, .. } => 2,
        TaskStatus { finished: true, .. } => FINISHES,
        _ => match channel {
            reserved::WITHDRAWN => WITHDRAWS,
            reserved::ASKED_AGAIN => ASKED_AGAIN,
            _ => 3,
        },
    }
}

/// Notes what may change whether a task of an outermost graph asks.
fn note(space: i64, seq: i64, thread: &ThreadId, task: &TaskWrites, batch: &mut Batch) {
    let mut finishes = false;
    for write in &task.writes {
        match kind(&task.task_id, &write.channel) {
            ASKS | WITHDRAWS | ASKED_AGAIN => return batch.asks(space, seq, task, thread),
            kind => finishes |= kind == FINISHES,
        }
    }
    if finishes {
        batch.answers(seq, &task.task_id);
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
