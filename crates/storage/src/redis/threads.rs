//! What a host asks for beside running graphs: copies, pruning, sizes, checks.
//!
//! What is to go is worked out here and removed by a script, which refuses when the thread has changed meanwhile; then
//! it is worked out again.

mod removal;

use std::collections::{BTreeMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

use superstep::checkpoint::{
    CheckpointAddress, CheckpointHead, ClaimUse, Commit, Damage, Integrity, Link, ListQuery, Progress,
    Pruning, Put, Removal, Scope, Source, StorageError, TaskWrites,
};
use superstep::{CheckpointId, Name, ThreadId};

use super::reader::corrupt;
use super::server::{COPY, FILL, Server, bytes, number, parts, place};
use super::state::{index_key, index_parts, read_record};
use super::writer::Writer;
use crate::base::Execution;
use crate::base::quarantine::{QUARANTINE_REPAIR, withdrawals};
use removal::Gone;

const ROUNDS: usize = 16;
const PAGE: usize = 512;

/// Everything of a thread but values and writes.
pub(super) struct Whole {
    epoch: Vec<u8>,
    changes: Vec<u8>,
    /// By place in the index, which is by namespace and id.
    pub(super) records: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// Returns the heads of checkpoints that were read, by namespace.
fn heads_by_space(
    thread: &ThreadId,
    whole: &Whole,
) -> Result<BTreeMap<Name, Vec<CheckpointHead>>, StorageError> {
    let mut spaces: BTreeMap<Name, Vec<CheckpointHead>> = BTreeMap::new();
    for (key, text) in &whole.records {
        let Some((ns, id)) = index_parts(key) else {
            continue;
        };
        let head = read_record(text)
            .map_err(|cause| corrupt(thread, &id, cause))?
            .head;
        let heads = spaces.entry(ns.clone()).or_default();
        heads.push(head.shown(ns, 0, 0));
    }
    Ok(spaces)
}

fn busy(thread: &ThreadId, what: &str) -> StorageError {
    StorageError::Backend {
        what: format!("{what} thread {thread}"),
        cause: "it is being written to all the time".to_owned(),
        remedy: "Try again when its run has ended".to_owned(),
    }
}

impl Server {
    async fn facts(&self, thread: &ThreadId) -> Result<(Vec<u8>, Vec<u8>), StorageError> {
        let mut ask = redis::cmd("HMGET");
        ask.arg(self.keys.of("facts", thread)).arg("epoch").arg("changes");
        let mut facts = parts(self.call(ask, "reading a thread").await?)
            .into_iter()
            .map(bytes);
        Ok((facts.next().unwrap_or_default(), facts.next().unwrap_or_default()))
    }

    /// Returns whether something was stored in the thread or removed since it was read.
    async fn has_changed(&self, thread: &ThreadId, whole: &Whole) -> Result<bool, StorageError> {
        let (epoch, changes) = self.facts(thread).await?;
        Ok((epoch, changes) != (whole.epoch.clone(), whole.changes.clone()))
    }

    async fn index_of(&self, thread: &ThreadId) -> Result<Vec<Vec<u8>>, StorageError> {
        let mut ask = redis::cmd("ZRANGE");
        ask.arg(self.keys.of("index", thread)).arg(0).arg(-1);
        Ok(parts(self.call(ask, "listing checkpoints").await?)
            .into_iter()
            .map(bytes)
            .collect())
    }

    /// Lists the questions of a thread that wait by what its tasks say.
    async fn list_again(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let keys = self.keys.thread_and_lists(thread);
        let arguments = vec![thread.as_str().as_bytes().to_vec()];
        let what = "listing questions that wait";
        self.run(&FILL, keys, arguments, what).await.map(drop)
    }

    pub(super) async fn whole(&self, thread: &ThreadId) -> Result<Whole, StorageError> {
        let (epoch, changes) = self.facts(thread).await?;
        let mut records = BTreeMap::new();
        for page in self.index_of(thread).await?.chunks(PAGE) {
            let mut ask = redis::cmd("HMGET");
            ask.arg(self.keys.of("heads", thread)).arg(page);
            let found = parts(self.call(ask, "reading a thread").await?);
            records.extend(page.iter().cloned().zip(found.into_iter().map(bytes)));
        }
        Ok(Whole {
            epoch,
            changes,
            records,
        })
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

impl Writer {
    pub(super) async fn delete(
        &mut self,
        thread: &ThreadId,
        shown: Option<&ClaimUse>,
    ) -> Result<Removal, StorageError> {
        self.forget(thread);
        self.server.remove_all(thread, shown).await?;
        Ok(Removal::default())
    }

    pub(super) async fn copy(&mut self, from: &ThreadId, to: &ThreadId) -> Result<Removal, StorageError> {
        if from == to {
            return Ok(Removal::default());
        }
        self.forget(to);
        for _ in 0..ROUNDS {
            let (epoch, changes) = self.server.facts(from).await?;
            if epoch.is_empty() {
                return Ok(Removal::default());
            }
            let query = ListQuery::new().thread(from.clone()).ns("").limit(1);
            let head = self.server.heads(&query).await?.pop();
            let words = |word: &str| word.as_bytes().to_vec();
            let arguments = vec![
                words(from.as_str()),
                words(to.as_str()),
                words(&uuid::Uuid::new_v4().simple().to_string()),
                head.map(|head| place(&head.id, to)).unwrap_or_default(),
                epoch,
                changes,
                words(&self.server.time_to_live().to_string()),
            ];
            let mut keys = self.server.keys.thread(from);
            keys.extend(self.server.keys.thread_and_lists(to));
            let what = format!("copying thread {from} to {to}");
            match number(
                self.server
                    .run(&COPY, self.server.telling(keys), arguments, &what)
                    .await?,
            ) {
                1 => return Ok(Removal::default()),
                0 if self.copy_into(from, to).await? => return Ok(Removal::default()),
                _ => {}
            }
        }
        Err(busy(from, "copying"))
    }

    /// Copies what the target lacks. False when one of the two was not what it was while it was looked at: then nothing
    /// was done.
    async fn copy_into(&mut self, from: &ThreadId, to: &ThreadId) -> Result<bool, StorageError> {
        let (read, (epoch, _)) = (self.server.facts(from).await?, self.server.facts(to).await?);
        if epoch.is_empty() {
            return Ok(false);
        }
        let there: HashSet<Vec<u8>> = self.server.index_of(to).await?.into_iter().collect();
        let query = ListQuery::new().thread(from.clone());
        let mut commits = Vec::new();
        for tuple in self.server.list(&query).await?.into_iter().rev() {
            if there.contains(&index_key(&tuple.ns, &tuple.checkpoint.id)) {
                continue;
            }
            let id = tuple.checkpoint.id.clone();
            let mut writes: Vec<TaskWrites> = Vec::new();
            for row in tuple.pending_writes {
                match writes.last_mut().filter(|task| task.task_id == row.task_id) {
                    Some(task) => task.writes.push(row.write),
                    None => writes.push(TaskWrites {
                        checkpoint_id: id.clone(),
                        task_id: row.task_id,
                        task_path: row.task_path,
                        writes: vec![row.write],
                    }),
                }
            }
            commits.push(Commit {
                claim: None,
                thread: to.clone(),
                ns: tuple.ns,
                writes,
                put: Some(Put {
                    checkpoint: tuple.checkpoint,
                    changes: Vec::new(),
                    seen: Vec::new(),
                }),
            });
        }
        if self.server.facts(from).await? != read {
            return Ok(false);
        }
        self.commit_standing(commits, epoch).await
    }

    pub(super) async fn prune(
        &mut self,
        pruning: &Pruning,
        progress: &Progress,
    ) -> Result<Removal, StorageError> {
        let threads = match &pruning.scope {
            Scope::Threads(threads, _) => Scope::distinct(threads),
            Scope::Runs(_) => self.server.all_threads().await?,
        };
        let mut removal = Removal {
            bytes: Some(0),
            ..Removal::default()
        };
        for (done, thread) in threads.iter().enumerate() {
            progress.at(done as u64, threads.len() as u64)?;
            if !pruning.dry_run {
                self.forget(thread);
            }
            self.prune_thread(thread, pruning, &mut removal).await?;
        }
        Ok(removal)
    }

    async fn prune_thread(
        &mut self,
        thread: &ThreadId,
        pruning: &Pruning,
        removal: &mut Removal,
    ) -> Result<(), StorageError> {
        let (mut gone, mut lost) = (Gone::default(), Vec::new());
        for _ in 0..ROUNDS {
            let whole = self.server.whole(thread).await?;
            // Asked after it was read: a run that begins later changes the thread.
            if self.server.is_claimed(thread).await? {
                removal.skipped.push(thread.clone());
                return Ok(());
            }
            if whole.epoch.is_empty() {
                // Anyone who made the thread after this look at its facts has nothing to lose: to the script, no facts mean
                // everything.
                return Ok(());
            }
            let spaces = match heads_by_space(thread, &whole) {
                // What is gone by now was no damage.
                Err(_) if self.server.has_changed(thread, &whole).await? => continue,
                spaces => spaces?,
            };
            let (mut doomed, mut branches) = (HashSet::new(), Vec::new());
            for (ns, heads) in &spaces {
                let links: Vec<Link<'_>> = heads
                    .iter()
                    .map(|head| Link::of(&head.id, head.parent.as_ref(), &head.metadata))
                    .collect();
                let gone = pruning.doomed(thread, ns, &links);
                let lost = pruning.lost_branches(thread, ns, &links, &gone);
                branches.extend(
                    lost.into_iter()
                        .map(|id: &CheckpointId| (thread.clone(), id.clone())),
                );
                doomed.extend(gone.into_iter().map(|link| index_key(ns, link.id)));
            }
            // Of what went first the rest does not know any more.
            if gone.checkpoints == 0 {
                lost = branches;
            }
            let all = doomed.len() == whole.records.len();
            let removed = doomed.is_empty() || {
                let removing = self
                    .server
                    .remove(thread, &whole, &doomed, Execution::of(pruning), &mut gone);
                match removing.await {
                    Err(StorageError::Corrupt { .. }) if self.server.has_changed(thread, &whole).await? => {
                        false
                    }
                    removed => removed?,
                }
            };
            if removed {
                removal.threads += u64::from(all && gone.checkpoints > 0);
                removal.checkpoints += gone.checkpoints;
                let bytes = u64::try_from(gone.bytes).unwrap_or(0);
                removal.bytes = removal.bytes.map(|all| all + bytes);
                removal.branches.append(&mut lost);
                return Ok(());
            }
        }
        Err(busy(thread, "pruning"))
    }

    /// Lists the questions that an older release stored. It did not withdraw those that a new input came after; that is
    /// made up for, so that they wait for nobody.
    pub(super) async fn fill(&mut self) -> Result<Removal, StorageError> {
        for thread in self.server.all_threads().await? {
            let asked = self.server.asked(&thread).await?;
            if asked.is_empty() {
                continue;
            }
            let whole = self.server.whole(&thread).await?;
            // What cannot be read is named by a check.
            let records = whole.records.iter().filter_map(|(key, text)| {
                let (ns, _) = index_parts(key)?;
                ns.is_empty().then(|| read_record(text).ok()).flatten()
            });
            let inputs = records.filter(|record| record.head.source == Source::Input);
            let abandoned: HashSet<CheckpointId> = inputs.filter_map(|record| record.head.parent).collect();
            let mut writes = Vec::new();
            for id in asked.iter().filter(|id| abandoned.contains(*id)) {
                let of = [CheckpointAddress::new(thread.clone(), "", id.clone())];
                let pending = self.server.writes(&of).await?.concat();
                writes.extend(withdrawals(id, &pending));
            }
            if !writes.is_empty() {
                let commit = Commit {
                    claim: None,
                    thread: thread.clone(),
                    ns: "".into(),
                    writes,
                    put: None,
                };
                self.commit_one(commit).await?;
            }
            self.server.list_again(&thread).await?;
        }
        self.server.set_filled().await?;
        Ok(Removal::default())
    }

    pub(super) async fn verify(
        &mut self,
        repair: bool,
        progress: &Progress,
    ) -> Result<Integrity, StorageError> {
        let mut found = Integrity::default();
        let threads = self.server.all_threads().await?;
        let mut total = 0;
        for thread in &threads {
            total += self.server.count(thread).await?;
        }
        for thread in threads {
            found.threads += 1;
            self.verify_thread(&thread, repair, progress, total, &mut found)
                .await?;
        }
        self.verify_items(repair, &mut found).await?;
        Ok(found)
    }

    /// Reads a thread, again while others change it.
    async fn verify_thread(
        &mut self,
        thread: &ThreadId,
        repair: bool,
        progress: &Progress,
        total: u64,
        found: &mut Integrity,
    ) -> Result<(), StorageError> {
        for _ in 0..ROUNDS {
            let whole = self.server.whole(thread).await?;
            let (mut doomed, mut damage) = (HashSet::new(), Vec::new());
            for (done, key) in whole.records.keys().enumerate() {
                progress.at(found.checkpoints + done as u64, total)?;
                let Some((ns, id)) = index_parts(key) else {
                    continue;
                };
                if let Err(StorageError::Corrupt { place, cause }) =
                    self.server.get(thread, &ns, Some(&id)).await
                {
                    doomed.insert(key.clone());
                    damage.push(Damage {
                        thread: Some(thread.clone()),
                        what: format!("{place} cannot be read: {cause}"),
                        repair: Some("The checkpoint is removed".to_owned()),
                    });
                }
            }
            if !doomed.is_empty() && self.server.has_changed(thread, &whole).await? {
                continue;
            }
            if repair && !doomed.is_empty() {
                self.forget(thread);
                let mut gone = Gone::default();
                if !self
                    .server
                    .remove(thread, &whole, &doomed, Execution::Apply, &mut gone)
                    .await?
                {
                    continue;
                }
                found.repaired = true;
            }
            // What cannot be read is named already.
            let wrong = match self.server.is_listed_wrong(thread).await {
                Err(StorageError::Corrupt { .. }) => false,
                wrong => wrong?,
            };
            if wrong && doomed.is_empty() && self.server.has_changed(thread, &whole).await? {
                continue;
            }
            if wrong {
                damage.push(Damage {
                    thread: Some(thread.clone()),
                    what: format!("The questions of thread {thread} that wait are not listed as they are"),
                    repair: Some("They are listed again".to_owned()),
                });
            }
            if repair && wrong {
                self.server.list_again(thread).await?;
                found.repaired = true;
            }
            found.checkpoints += whole.records.len() as u64;
            found.damage.extend(damage);
            return Ok(());
        }
        Ok(())
    }

    async fn verify_items(&mut self, repair: bool, found: &mut Integrity) -> Result<(), StorageError> {
        let (items, broken) = self.server.check_items().await?;
        found.items = items;
        for broken in broken {
            let StorageError::Corrupt { place, cause } = &broken.error else {
                continue;
            };
            found.damage.push(Damage {
                thread: None,
                what: format!("{place} cannot be read: {cause}"),
                repair: Some(QUARANTINE_REPAIR.to_owned()),
            });
            if repair {
                self.server.quarantine(&broken, now_ms()).await?;
                found.repaired = true;
            }
        }
        Ok(())
    }
}
