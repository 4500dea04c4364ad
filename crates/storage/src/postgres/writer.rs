//! The one task that writes. It drains its queue into one statement and answers every caller after it, so that callers
//! who come together pay for one commit together.
//!
//! A commit is planned from what is known here of the checkpoints it builds on, and carried out by a single statement
//! in a single round trip. The statement fails as a whole when another program has taken away what it builds on, or has
//! stored the same; then everything known is forgotten, looked up, and tried again.

mod commit;
mod values;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use superstep::checkpoint::{ClaimUse, Commit, Progress, Pruning, Removal, StorageError};
use superstep::{CheckpointId, Name, ThreadId, Value};
use tokio::sync::{mpsc, oneshot};

use super::fault::PostgresFault;
use super::names::Names;
use super::parts::PartStore;
use super::server::{Server, Session};
use super::survey::Sick;
use crate::base::claims::HeldClaim;
use commit::{Attempt, KnownRows};

/// Commits after which a statement is closed: bounds how long the first caller waits for the last.
const GROUP: usize = 256;
/// How often a job is tried that another program or a cut connection gets in the way of.
const TRIES: u64 = 5;

/// How a connection plans the statement of commits: once, by its indexes. It looks the same each time, finds rows by their
/// keys, and planning it takes as long as carrying it out.
pub(super) const PLANNED_ONCE: &str =
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
/// How one plans the other jobs, which look at whole tables: as the server does by itself.
const PLANNED_FRESH: &str =
    "SET LOCAL plan_cache_mode TO DEFAULT; SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL jit TO DEFAULT";

/// A job for the writer.
#[derive(Debug)]
pub(super) enum Job {
    /// Of one caller, in order: all of them or none.
    Commits(Vec<Commit>),
    /// With what the one who deletes shows, if anything.
    Delete(ThreadId, Option<ClaimUse>),
    Copy(ThreadId, ThreadId),
    Prune(Pruning, Progress),
    /// Takes away checkpoints that cannot be read, quarantines items, and removes what nothing refers to; counts parts again.
    Repair(Sick),
}

impl Job {
    /// Returns whether other programs watch for the effect of the job: not for a claim that is only extended.
    fn is_noticed(&self) -> bool {
        match self {
            Job::Commits(commits) => commits.iter().any(|commit| {
                let begins_or_ends = |shown: &ClaimUse| shown.ends || shown.take.is_some();
                commit.put.is_some()
                    || !commit.writes.is_empty()
                    || commit.claim.as_ref().is_some_and(begins_or_ends)
            }),
            Job::Prune(pruning, _) => !pruning.dry_run,
            _ => true,
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
            Job::Repair(_) => "repairing threads".to_owned(),
        }
    }
}

/// Removal made by a job; empty for most jobs.
pub(super) type Outcome = Result<Removal, StorageError>;
/// A job and where its outcome goes.
pub(super) type Request = (Job, oneshot::Sender<Outcome>);

/// A namespace as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) id: i64,
    pub(super) epoch: i64,
}

/// A claim that was compared while the outermost namespace of its thread was at this epoch. A program that takes it over counts up
/// the epoch.
#[derive(Debug)]
struct ClaimAt {
    root: Space,
    held: HeldClaim,
}

pub(super) struct Writer {
    pub(super) server: Arc<Server>,
    pub(super) names: Arc<Names>,
    pub(super) session: Option<Session>,
    /// How often it connected again.
    connections: u64,
    /// Numbers that are ours.
    numbers: VecDeque<i64>,
    spaces: HashMap<(ThreadId, Name), Space>,
    claims: HashMap<ThreadId, ClaimAt>,
    known: HashMap<(i64, CheckpointId), Arc<KnownRows>>,
    /// What the next commits most likely do not build on, once what is planned is stored.
    left: Vec<(i64, CheckpointId)>,
    part_store: PartStore,
    /// What the statement that is planned stores, for readers to have in memory once it is done: row, the row whose
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
            numbers: VecDeque::new(),
            spaces: HashMap::new(),
            claims: HashMap::new(),
            known: HashMap::new(),
            left: Vec::new(),
            connections: 0,
            part_store: PartStore::new()?,
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
                if outcome.is_ok() && job.is_noticed() {
                    self.server.changed();
                }
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
        let outcomes = match self.together(&jobs, Attempt::Optimistic).await {
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
        let mut done = group.iter().zip(&outcomes);
        if done.any(|((job, _), outcome)| outcome.is_ok() && job.is_noticed()) {
            self.server.changed();
        }
        for ((_, answer), outcome) in group.into_iter().zip(outcomes) {
            let _ = answer.send(outcome);
        }
    }

    /// Runs one job, repeating it when another program interferes. Every job may run twice: what already exists is
    /// left.
    async fn alone(&mut self, job: &Job) -> Outcome {
        let mut tries = 0_u64;
        loop {
            self.forget();
            self.part_store.forget(tries);
            tries += 1;
            let outcome = match job {
                Job::Commits(_) => match self.together(&[job], Attempt::Careful).await {
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

    async fn in_transaction(&mut self, job: &Job) -> Result<Removal, PostgresFault> {
        let begin = match job {
            Job::Prune(pruning, _) if pruning.dry_run => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            _ => "BEGIN",
        };
        let begin = format!("{begin}; {PLANNED_FRESH}");
        self.session().await?.batch(&begin).await?;
        let outcome = match job {
            Job::Delete(thread, shown) => self.delete(thread, shown.as_ref()).await,
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

    /// Returns the connection, opening a new one when the old one is gone.
    pub(super) async fn session(&mut self) -> Result<&mut Session, PostgresFault> {
        let session = match self.session.take() {
            Some(session) if !session.client.is_closed() => session,
            _ => {
                self.forget();
                self.connections += 1;
                let session = self.server.connect().await?;
                session.batch(PLANNED_ONCE).await?;
                session
            }
        };
        Ok(self.session.insert(session))
    }

    fn forget(&mut self) {
        self.spaces.clear();
        self.claims.clear();
        self.known.clear();
        self.left.clear();
    }

    /// Reserves a number for a row.
    pub(super) async fn number(&mut self) -> Result<i64, PostgresFault> {
        self.reserve(1).await?;
        self.next_number()
    }

    /// Makes sure that this many numbers for rows are ours.
    pub(super) async fn reserve(&mut self, count: usize) -> Result<(), PostgresFault> {
        while self.numbers.len() < count {
            let rows = self
                .session()
                .await?
                .query("SELECT nextval('numbers')", &[])
                .await?;
            let first: i64 = rows.first().map_or(Ok(1), |row| row.try_get(0))?;
            // The sequence counts in steps of as many.
            self.numbers.extend(first..first + 1024);
        }
        Ok(())
    }

    /// Returns a number for a row, after [`Writer::reserve`].
    fn next_number(&mut self) -> Result<i64, PostgresFault> {
        let number = self.numbers.pop_front();
        number.ok_or_else(|| {
            PostgresFault::corrupt("The sequence of row numbers", "it gave too few".to_owned())
        })
    }

    /// Returns the row of a name that was created before.
    pub(super) fn name(&self, name: &Name) -> Result<i64, PostgresFault> {
        let row = self.names.row(name);
        row.ok_or_else(|| PostgresFault::corrupt("The table of names", format!("{name:?} is missing")))
    }
}
