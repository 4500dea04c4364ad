//! What a host asks for beside running graphs: copies, pruning, sizes, checks.
//!
//! What is to go is worked out here and removed by a script, which refuses when the thread has changed meanwhile; then
//! it is worked out again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

use superstep::{
    CheckpointHead, CheckpointId, Commit, Damage, Integrity, Link, ListQuery, Name, Progress, Pruning, Put,
    Removal, Scope, StorageError, TaskWrites, ThreadId,
};

use super::measure::{bases, rows_of, with_bases};
use super::reader::corrupt;
use super::server::{COPY, REMOVE, Server, bytes, bytes as bytes_of, number, parts, place};
use super::state::{State, index_key, index_parts, read_record};
use super::writer::{Writer, standing};
use crate::salvage::SET_ASIDE;

const ROUNDS: usize = 16;
const PAGE: usize = 512;

/// Checkpoints, or values, that one script removes: the server does nothing else meanwhile.
const ROUND: usize = 1000;

/// How far a removal came.
#[derive(Debug, Default)]
struct Gone {
    checkpoints: u64,
    /// Less than nothing while what stays was made to stand alone and nothing has gone yet.
    bytes: i64,
}

/// What a script relies on.
struct Facts {
    epoch: Vec<u8>,
    changes: Vec<u8>,
}

/// What one script does.
#[derive(Debug, Default)]
struct Round {
    checkpoints: Vec<Vec<u8>>,
    rows: Vec<u64>,
    /// Records in place of others.
    rewritten: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Checkpoints, each before the one that it builds on.
fn children_first(doomed: &HashSet<Vec<u8>>, bases: &HashMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut children: HashMap<&Vec<u8>, usize> = HashMap::new();
    for base in bases.values() {
        *children.entry(base).or_default() += 1;
    }
    let mut open: Vec<&Vec<u8>> = doomed.iter().filter(|key| !children.contains_key(key)).collect();
    // From the newest on, so that what is left has its past for as long as can be.
    open.sort_unstable();
    let mut order = Vec::with_capacity(doomed.len());
    while let Some(key) = open.pop() {
        order.push(key.clone());
        if let Some(base) = bases.get(key)
            && let Some(left) = children.get_mut(base)
        {
            *left -= 1;
            if *left == 0 {
                open.push(base);
            }
        }
    }
    order
}

/// Gives each row that goes to the round of the last checkpoint that names it, or that names what continues it.
fn share_rows(
    rounds: &mut Vec<Round>,
    garbage: HashSet<u64>,
    named: &HashMap<Vec<u8>, Vec<u64>>,
    bases: &HashMap<u64, u64>,
) {
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (n, round) in rounds.iter().enumerate() {
        for row in round
            .checkpoints
            .iter()
            .filter_map(|key| named.get(key))
            .flatten()
        {
            last.insert(*row, n);
        }
    }
    for (row, n) in last.clone() {
        let mut at = row;
        // A list goes back a bounded number of rows.
        while let Some(base) = bases.get(&at).filter(|base| **base != 0) {
            let until = last.entry(*base).or_insert(n);
            *until = n.max(*until);
            at = *base;
        }
    }
    let mut more = Vec::new();
    for row in garbage {
        match last.get(&row).and_then(|n| rounds.get_mut(*n)) {
            Some(round) if round.rows.len() < 4 * ROUND => round.rows.push(row),
            _ => more.push(row),
        }
    }
    let rest = more.chunks(4 * ROUND);
    rounds.extend(rest.map(|rows| Round {
        rows: rows.to_vec(),
        ..Round::default()
    }));
}

/// Everything of a thread but values and writes.
pub(super) struct Whole {
    epoch: Vec<u8>,
    changes: Vec<u8>,
    /// By place in the index, which is by namespace and id.
    pub(super) records: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// Heads of checkpoints that were read, by namespace.
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
        spaces.entry(ns.clone()).or_default().push(CheckpointHead {
            ns,
            metadata: head.metadata(),
            id: head.id,
            parent: head.parent,
            ts: head.ts,
            next: head.next,
            updated_channels: head.updated,
            interrupted: 0,
            failed: 0,
        });
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

    /// True when something was stored in the thread or removed since it was read.
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

    /// Removes checkpoints and the values that only they need, in rounds that each take the server a moment. `gone` says how
    /// far it came; true when it came to the end, false when the thread has changed meanwhile.
    ///
    /// What stays is first made to stand alone. Then checkpoints go, each before what it builds on, and a value with the
    /// last checkpoint that names it: whatever ends this in the middle, what is left can be read.
    async fn remove(
        &self,
        thread: &ThreadId,
        whole: &Whole,
        doomed: &HashSet<Vec<u8>>,
        dry_run: bool,
        gone: &mut Gone,
    ) -> Result<bool, StorageError> {
        let texts: HashMap<Vec<u8>, Vec<u8>> = whole.records.clone().into_iter().collect();
        let (mut kept_rows, mut all_rows) = (HashSet::new(), HashSet::new());
        let (mut rewritten, mut roots) = (Vec::new(), BTreeMap::new());
        // What each doomed checkpoint names, and what it builds on.
        let (mut named, mut bases_of) = (HashMap::new(), HashMap::new());
        for (key, text) in &whole.records {
            let stays = !doomed.contains(key);
            let (record, ns, id) = match (read_record(text), index_parts(key)) {
                (Ok(record), Some((ns, id))) => (record, ns, id),
                (Err(cause), Some((_, id))) if stays => return Err(corrupt(thread, &id, cause)),
                _ => continue,
            };
            all_rows.extend(rows_of(&record));
            if ns.is_empty() {
                roots.insert(key.clone(), (id.clone(), record.head.ts.clone()));
            }
            let base = record.continues.then_some(record.head.parent.as_ref()).flatten();
            let base = base
                .map(|base| index_key(&ns, base))
                .filter(|base| doomed.contains(base));
            if !stays {
                named.insert(key.clone(), rows_of(&record).collect::<Vec<_>>());
                bases_of.extend(base.map(|base| (key.clone(), base)));
            } else if base.is_some() {
                let refuse = |cause| corrupt(thread, &id, cause);
                let state = State::of(&ns, &id, &texts).map_err(refuse)?;
                kept_rows.extend(state.rows.values().copied());
                rewritten.push((key.clone(), standing(record, &state).map_err(refuse)?));
            } else {
                kept_rows.extend(rows_of(&record));
            }
        }
        let starts = self.rows(thread, all_rows.iter().copied(), "starts").await?;
        let bases = bases(&starts);
        let kept_rows = with_bases(&kept_rows, &bases);
        let garbage = with_bases(&all_rows, &bases)
            .difference(&kept_rows)
            .copied()
            .collect();
        let order = children_first(doomed, &bases_of);
        let mut rounds: Vec<Round> = rewritten
            .chunks(ROUND)
            .map(|some| Round {
                rewritten: some.to_vec(),
                ..Round::default()
            })
            .collect();
        rounds.extend(order.chunks(ROUND).map(|some| Round {
            checkpoints: some.to_vec(),
            ..Round::default()
        }));
        share_rows(&mut rounds, garbage, &named, &bases);

        let mut at = Facts {
            epoch: whole.epoch.clone(),
            changes: whole.changes.clone(),
        };
        for round in rounds {
            for key in &round.checkpoints {
                roots.remove(key);
            }
            let count = round.checkpoints.len() as u64;
            let Some(bytes) = self.remove_some(thread, &mut at, round, &roots, dry_run).await? else {
                return Ok(false);
            };
            gone.checkpoints += count;
            gone.bytes += bytes;
        }
        Ok(true)
    }

    /// One round; nothing when the thread has changed.
    async fn remove_some(
        &self,
        thread: &ThreadId,
        at: &mut Facts,
        round: Round,
        roots: &BTreeMap<Vec<u8>, (CheckpointId, String)>,
        dry_run: bool,
    ) -> Result<Option<i64>, StorageError> {
        let first = roots
            .values()
            .min()
            .map(|(_, ts)| ts.as_str())
            .unwrap_or_default();
        let newest = roots
            .values()
            .max()
            .map(|(id, _)| place(id, thread))
            .unwrap_or_default();
        let words = |word: &str| word.as_bytes().to_vec();
        let epoch = words(&uuid::Uuid::new_v4().simple().to_string());
        let mut arguments = vec![
            words(thread.as_str()),
            epoch.clone(),
            at.epoch.clone(),
            at.changes.clone(),
            words(if dry_run { "plan" } else { "do" }),
            newest,
            words(first),
            words(&roots.len().to_string()),
            words(&round.checkpoints.len().to_string()),
        ];
        arguments.extend(round.checkpoints);
        arguments.push(words(&round.rows.len().to_string()));
        arguments.extend(round.rows.iter().map(|row| words(&row.to_string())));
        arguments.push(words(&round.rewritten.len().to_string()));
        arguments.extend(round.rewritten.into_iter().flat_map(|(key, text)| [key, text]));
        let keys = self.keys.thread_and_lists(thread);
        let what = format!("pruning thread {thread}");
        let mut answer = parts(self.run(&REMOVE, keys, arguments, &what).await?).into_iter();
        let (Some(changes), Some(bytes)) = (answer.next(), answer.next()) else {
            return Ok(None);
        };
        if !dry_run {
            *at = Facts {
                epoch,
                changes: bytes_of(changes),
            };
        }
        Ok(Some(number(bytes)))
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

impl Writer {
    pub(super) async fn delete(&mut self, thread: &ThreadId) -> Result<Removal, StorageError> {
        self.forget(thread);
        self.server.remove_all(thread).await?;
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
            let query = ListQuery {
                thread: Some(from.clone()),
                ns: Some("".into()),
                limit: Some(1),
                ..ListQuery::default()
            };
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
            match number(self.server.run(&COPY, keys, arguments, &what).await?) {
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
        let query = ListQuery {
            thread: Some(from.clone()),
            ..ListQuery::default()
        };
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
                    .remove(thread, &whole, &doomed, pruning.dry_run, &mut gone);
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
            for _ in 0..ROUNDS {
                let whole = self.server.whole(&thread).await?;
                let (mut doomed, mut damage) = (HashSet::new(), Vec::new());
                for (done, key) in whole.records.keys().enumerate() {
                    progress.at(found.checkpoints + done as u64, total)?;
                    let Some((ns, id)) = index_parts(key) else {
                        continue;
                    };
                    if let Err(StorageError::Corrupt { place, cause }) =
                        self.server.get(&thread, &ns, Some(&id)).await
                    {
                        doomed.insert(key.clone());
                        damage.push(Damage {
                            thread: Some(thread.clone()),
                            what: format!("{place} cannot be read: {cause}"),
                            repair: Some("The checkpoint is removed".to_owned()),
                        });
                    }
                }
                if !doomed.is_empty() && self.server.has_changed(&thread, &whole).await? {
                    continue;
                }
                if repair && !doomed.is_empty() {
                    self.forget(&thread);
                    let mut gone = Gone::default();
                    if !self
                        .server
                        .remove(&thread, &whole, &doomed, false, &mut gone)
                        .await?
                    {
                        continue;
                    }
                    found.repaired = true;
                }
                found.checkpoints += whole.records.len() as u64;
                found.damage.extend(damage);
                break;
            }
        }
        let (items, broken) = self.server.check_items().await?;
        found.items = items;
        for broken in broken {
            let StorageError::Corrupt { place, cause } = &broken.error else {
                continue;
            };
            found.damage.push(Damage {
                thread: None,
                what: format!("{place} cannot be read: {cause}"),
                repair: Some(SET_ASIDE.to_owned()),
            });
            if repair {
                self.server.set_aside(&broken, now_ms()).await?;
                found.repaired = true;
            }
        }
        Ok(found)
    }
}
