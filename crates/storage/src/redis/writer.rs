//! The one task that writes. It takes the jobs that have come, hands the commits of each thread to the server as one
//! script call, and does so for several threads at once.

mod plan;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use futures::future::{BoxFuture, join_all};
use imbl::OrdMap;
use superstep::checkpoint::{Commit, Removal, StorageError};
use superstep::{CheckpointId, Name, ThreadId};
use tokio::sync::{mpsc, oneshot};

use super::claims::{self, refusal};
use super::server::{COMMIT, Server, parts, text};
use super::state::{Grown, Resolved};
use crate::base::claims::HeldClaim;
pub(super) use plan::standing;

/// Jobs taken at a time.
const GROUP: usize = 256;
/// Numbers for rows of values, taken from the server a number at a time.
const NUMBERS: u64 = 4096;
/// Threads, and states of stored checkpoints, kept in memory: one for each thread that moves.
const KNOWN: usize = 4096;
/// How often something is done again because somebody else changed the thread.
const ROUNDS: usize = 16;

/// The outcome of a job.
pub(super) type Outcome = Result<Removal, StorageError>;

/// A job that is not a commit.
pub(super) type Other = Box<dyn for<'a> FnOnce(&'a mut Writer) -> BoxFuture<'a, Outcome> + Send>;

/// A job for the writer, and the receiver of its outcome.
pub(super) enum Job {
    /// Of one caller, in order. After one that fails nothing later is stored.
    Commits(Vec<Commit>, oneshot::Sender<Outcome>),
    Other(Other, oneshot::Sender<Outcome>),
}

/// A stored checkpoint as the next commit needs it.
#[derive(Clone, Debug, Default)]
struct KnownRows {
    at: Resolved,
    /// Of the rows of lists, as far as they were needed.
    grown: OrdMap<Name, (u64, Grown)>,
}

/// Known state of a thread.
#[derive(Debug, Default)]
struct Thread {
    epoch: Vec<u8>,
    held: Option<HeldClaim>,
    checkpoints: HashMap<(Name, CheckpointId), Arc<KnownRows>>,
}

pub(super) struct Writer {
    pub(super) server: Server,
    threads: HashMap<ThreadId, Thread>,
    known: usize,
    numbers: Range<u64>,
    /// Two parents of a batch were read before and after somebody deleted or pruned the thread.
    mixed: bool,
    /// Checkpoints are written so that they stand by themselves, whatever their parent is, and only while the thread is
    /// of this epoch.
    standing: Option<Vec<u8>>,
    /// The thread was not.
    overtaken: bool,
}

/// The commits of one thread that are on their way, each with the job it belongs to.
struct Batch {
    thread: ThreadId,
    commits: Vec<(usize, Commit)>,
    done: usize,
    rounds: usize,
    /// When they were sent.
    sent: Instant,
    /// For each of those that were sent whether it shows the whole claim.
    shows: Vec<bool>,
}

impl Writer {
    pub(super) fn new(server: Server) -> Self {
        Self {
            server,
            threads: HashMap::new(),
            known: 0,
            numbers: 0..0,
            mixed: false,
            standing: None,
            overtaken: false,
        }
    }

    /// Works until every sender is gone.
    pub(super) async fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut group = Vec::with_capacity(GROUP);
        while jobs.recv_many(&mut group, GROUP).await > 0 {
            let mut commits = Vec::new();
            for job in group.drain(..) {
                match job {
                    Job::Commits(some, answer) => commits.push((some, answer)),
                    Job::Other(other, answer) => {
                        self.commit(std::mem::take(&mut commits)).await;
                        // A caller that stopped waiting does not want to know.
                        let _ = answer.send(other(&mut self).await);
                    }
                }
            }
            self.commit(commits).await;
        }
    }

    /// Executes the commits of several callers, those of each thread in their order.
    async fn commit(&mut self, jobs: Vec<(Vec<Commit>, oneshot::Sender<Outcome>)>) {
        let mut batches: Vec<Batch> = Vec::new();
        let mut failed: HashMap<usize, StorageError> = HashMap::new();
        for (job, (commits, _)) in jobs.iter().enumerate() {
            let mixed = commits.windows(2).any(|pair| pair[0].thread != pair[1].thread);
            if mixed {
                // Its order holds across threads, so what came before it is finished first.
                self.finish(std::mem::take(&mut batches), &mut failed).await;
                for commit in commits {
                    let batch = Batch::new(job, commit.clone());
                    self.finish(vec![batch], &mut failed).await;
                }
                continue;
            }
            for commit in commits {
                match batches.iter_mut().find(|batch| batch.thread == commit.thread) {
                    Some(batch) => batch.commits.push((job, commit.clone())),
                    None => batches.push(Batch::new(job, commit.clone())),
                }
            }
        }
        self.finish(batches, &mut failed).await;
        self.make_room();
        for (job, (_, answer)) in jobs.into_iter().enumerate() {
            let outcome = failed.remove(&job).map_or(Ok(Removal::default()), Err);
            let _ = answer.send(outcome);
        }
    }

    async fn finish(&mut self, mut batches: Vec<Batch>, failed: &mut HashMap<usize, StorageError>) {
        loop {
            let mut calls = Vec::new();
            for batch in &mut batches {
                batch.skip(failed);
                if batch.done < batch.commits.len() {
                    let mut prepared = self.prepare(batch).await;
                    batch.shows = std::mem::take(&mut prepared.shows);
                    batch.sent = Instant::now();
                    calls.push((batch, prepared));
                }
            }
            if calls.is_empty() {
                return;
            }
            let server = self.server.clone();
            let sent = calls.into_iter().map(|(batch, prepared)| {
                let server = &server;
                async move {
                    let answer = match prepared.calls {
                        0 => Ok(redis::Value::Nil),
                        _ => {
                            let keys = server.telling(server.keys.thread_and_lists(&batch.thread));
                            let what = format!("storing a checkpoint of thread {}", batch.thread);
                            server.run(&COMMIT, keys, prepared.arguments, &what).await
                        }
                    };
                    (batch, prepared.calls, prepared.refused, answer)
                }
            });
            for (batch, count, refused, answer) in join_all(sent).await {
                match answer {
                    Ok(answer) => self.take_in(batch, count, refused, answer, failed),
                    Err(error) => {
                        // Whether it arrived is not known; who repeats it changes nothing.
                        self.forget(&batch.thread);
                        for (job, _) in &batch.commits[batch.done..] {
                            failed.entry(*job).or_insert_with(|| error.clone());
                        }
                        batch.done = batch.commits.len();
                    }
                }
            }
        }
    }

    /// Stores one commit.
    pub(super) async fn commit_one(&mut self, commit: Commit) -> Result<(), StorageError> {
        let mut failed = HashMap::new();
        self.finish(vec![Batch::new(0, commit)], &mut failed).await;
        failed.remove(&0).map_or(Ok(()), Err)
    }

    /// Stores commits of one thread whose parents may differ from what is stored under their ids. False, and nothing is
    /// stored, when the thread is not of this epoch any more.
    pub(super) async fn commit_standing(
        &mut self,
        commits: Vec<Commit>,
        epoch: Vec<u8>,
    ) -> Result<bool, StorageError> {
        let mut failed = HashMap::new();
        let mut commits = commits.into_iter();
        if let Some(first) = commits.next() {
            let mut batch = Batch::new(0, first);
            batch.commits.extend(commits.map(|commit| (0, commit)));
            self.standing = Some(epoch);
            self.finish(vec![batch], &mut failed).await;
            self.standing = None;
        }
        let overtaken = std::mem::take(&mut self.overtaken);
        failed.remove(&0).map_or(Ok(!overtaken), Err)
    }

    /// Sorts out what the server says about a batch.
    fn take_in(
        &mut self,
        batch: &mut Batch,
        count: usize,
        refused: Option<StorageError>,
        answer: redis::Value,
        failed: &mut HashMap<usize, StorageError>,
    ) {
        let mut answers = parts(answer).into_iter().map(text);
        let epoch = answers.next().unwrap_or_default();
        if let Some(thread) = self.threads.get_mut(&batch.thread) {
            thread.epoch = epoch.into_bytes();
        }
        let shows = std::mem::take(&mut batch.shows);
        for (answer, shows) in answers.zip(shows) {
            let (job, commit) = &batch.commits[batch.done];
            match answer.split_once(' ').unwrap_or((&answer, "")) {
                ("ok", _) => {
                    // The next commit builds on the new checkpoint: what is known is one for each thread that moves.
                    let parent = commit.put.as_ref().and_then(|put| put.checkpoint.parent.clone());
                    if let (Some(parent), Some(thread)) = (parent, self.threads.get_mut(&batch.thread)) {
                        let key = (commit.ns.clone(), parent);
                        self.known -= usize::from(thread.checkpoints.remove(&key).is_some());
                    }
                    if let (Some(shown), true) = (&commit.claim, shows) {
                        let held = HeldClaim::after(shown, batch.sent);
                        self.threads.entry(batch.thread.clone()).or_default().held = held;
                    }
                    batch.done += 1;
                    batch.rounds = 0;
                    continue;
                }
                // It was stored before, perhaps with another content than we remember.
                ("there", _) => batch.done += 1,
                ("orphan", task) => {
                    let task = task
                        .parse::<usize>()
                        .ok()
                        .and_then(|n| commit.writes.get(n.wrapping_sub(1)));
                    let error = task.map(|task| StorageError::orphan(&batch.thread, task));
                    failed
                        .entry(*job)
                        .or_insert(error.unwrap_or(StorageError::Unsupported("an answer of the server")));
                    batch.done += 1;
                }
                (kind @ ("busy" | "old"), detail) => {
                    let error = refusal(&batch.thread, kind, detail);
                    failed
                        .entry(*job)
                        .or_insert(error.unwrap_or(StorageError::Unsupported("an answer of the server")));
                    batch.done += 1;
                }
                _ if self.standing.is_some() => {
                    self.overtaken = true;
                    batch.done = batch.commits.len();
                }
                _ => {
                    batch.rounds += 1;
                    if batch.rounds > ROUNDS {
                        failed.entry(*job).or_insert(StorageError::Backend {
                            what: format!("storing a checkpoint of thread {}", batch.thread),
                            cause: "another program keeps deleting what it builds on".to_owned(),
                            remedy: "Let one program at a time work on a thread".to_owned(),
                        });
                        batch.done += 1;
                    }
                }
            }
            // What was prepared after it built on what is not so.
            self.forget(&batch.thread);
            return;
        }
        if let Some(error) = refused {
            let (job, _) = &batch.commits[batch.done];
            failed.entry(*job).or_insert(error);
            batch.done += 1;
        } else if count == 0 {
            batch.done = batch.commits.len();
        }
    }

    pub(super) fn forget(&mut self, thread: &ThreadId) {
        if let Some(thread) = self.threads.remove(thread) {
            self.known = self.known.saturating_sub(thread.checkpoints.len());
        }
    }

    /// Forgets threads to free memory. May run only between jobs: what is in transit is known here alone.
    fn make_room(&mut self) {
        while (self.known > KNOWN || self.threads.len() > KNOWN)
            // Any will do: with many threads nobody can say whose turn is next.
            && let Some(any) = self.threads.keys().next().cloned()
        {
            self.forget(&any);
        }
    }

    /// Writes out the commits that come next, up to one that must be refused.
    async fn prepare(&mut self, batch: &Batch) -> Prepared {
        loop {
            let prepared = self.prepare_once(batch).await;
            if !std::mem::take(&mut self.mixed) {
                return prepared;
            }
            self.forget(&batch.thread);
        }
    }

    async fn prepare_once(&mut self, batch: &Batch) -> Prepared {
        let new_epoch = uuid::Uuid::new_v4().simple().to_string();
        let mut body = Vec::new();
        let (mut calls, mut refused, mut shows) = (0, None, Vec::new());
        let commits = &batch.commits[batch.done..];
        for (n, (_, commit)) in commits.iter().enumerate() {
            let claim = |commit: &Commit| commit.claim.as_ref().map(|shown| shown.claim.clone());
            let ended = commits[n..].iter().any(|(_, later)| {
                later.claim.as_ref().is_some_and(|shown| shown.ends) && claim(later) == claim(commit)
            });
            let known = self
                .threads
                .get(&batch.thread)
                .and_then(|thread| thread.held.as_ref());
            let stays = commit
                .claim
                .as_ref()
                .filter(|shown| !ended && known.is_some_and(|known| known.covers(shown)));
            let claim = match stays {
                Some(shown) => claims::staying(&shown.claim),
                None => claims::arguments(commit.claim.as_ref(), ended),
            };
            match self.arguments(commit, claim).await {
                Ok(arguments) => {
                    shows.push(stays.is_none());
                    body.extend(arguments);
                    calls += 1;
                }
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        let thread = self.threads.entry(batch.thread.clone()).or_default();
        let relied_on = self.standing.clone().unwrap_or_else(|| thread.epoch.clone());
        if thread.epoch.is_empty() {
            thread.epoch = new_epoch.clone().into_bytes();
        }
        let mut arguments = vec![
            batch.thread.as_str().as_bytes().to_vec(),
            self.server.time_to_live().to_string().into_bytes(),
            new_epoch.into_bytes(),
            relied_on,
            calls.to_string().into_bytes(),
        ];
        arguments.extend(body);
        Prepared {
            arguments,
            calls,
            refused,
            shows,
        }
    }
}

/// A script call in the making.
struct Prepared {
    arguments: Vec<Vec<u8>>,
    calls: usize,
    /// Why the commit after them must not be stored.
    refused: Option<StorageError>,
    shows: Vec<bool>,
}

impl Batch {
    fn new(job: usize, commit: Commit) -> Self {
        Self {
            thread: commit.thread.clone(),
            commits: vec![(job, commit)],
            done: 0,
            rounds: 0,
            sent: Instant::now(),
            shows: Vec::new(),
        }
    }

    /// Passes over what follows a failure in the same job.
    fn skip(&mut self, failed: &HashMap<usize, StorageError>) {
        while self
            .commits
            .get(self.done)
            .is_some_and(|(job, _)| failed.contains_key(job))
        {
            self.done += 1;
        }
    }
}
