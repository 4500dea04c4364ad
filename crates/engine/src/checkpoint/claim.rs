//! Claims: one thread has one runner.
//!
//! A run that asks for a claim takes it with its first commit and shows it with every later one. The backend compares in
//! the same transaction, by its own clock: a commit with a claim that is not the thread's is refused, so that a program
//! that was frozen and comes back stores nothing beside the run that took its place. A claim ends when its run ends, or
//! after its length when the run has not renewed it. Commits without a claim are not compared.
//!
//! ```
//! # use superstep::checkpoint::{StorageError, TakeOver, ClaimRequest, Holder};
//! # use superstep::{Graph, Input, RunConfig, RunError};
//! # async fn example(graph: &Graph) -> Result<(), RunError> {
//! let holder = Holder::new("worker-7", "the nightly import on host a");
//! let config = RunConfig::on("case 1").claim(ClaimRequest::by(holder));
//! match graph.invoke(Input::Continue, config.clone()).await {
//!     // Another program runs it. Taking over is a decision.
//!     Err(RunError::Storage(StorageError::Busy { held, .. })) => {
//!         println!("{} is working on it", held.holder.name);
//!         let take_over = TakeOver::Only(held.claim.clone());
//!         let claim = config.claim.clone().map(|claim| claim.take_over(take_over));
//!         graph.invoke(Input::Continue, config.claim(claim)).await?;
//!     }
//!     other => drop(other?),
//! }
//! # Ok(()) }
//! ```

use std::collections::HashMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use serde::{Deserialize, Deserializer, Serialize};

use crate::base::ids::{CheckpointId, ClaimId, Name, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::{Commit, StorageError};
use crate::checkpoint::waiting::{Waiting, WaitingQuery};

/// Length of a claim that its run does not renew.
pub const CLAIM_LENGTH: Duration = Duration::from_secs(15);

/// The program that runs a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Identifies the program; equal for all its runs.
    pub id: Name,
    /// Name that a person recognises.
    pub name: Name,
}

impl Holder {
    /// Creates a holder with this id and name.
    pub fn new(id: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
        }
    }
}

/// Rule for taking over a claim that another run holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TakeOver {
    /// No: the newcomer is refused with [`StorageError::Busy`].
    #[default]
    Never,
    /// This claim alone. Of two programs that take it over at the same time, one is refused.
    Only(ClaimId),
    /// Any claim.
    Always,
}

/// A request to run, edit or delete a thread as its only runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClaimRequest {
    /// Who asks.
    pub holder: Holder,
    /// Whether another run's claim is taken over.
    pub take_over: TakeOver,
    /// Length of the claim when the run does not renew it.
    pub length: Duration,
}

impl ClaimRequest {
    /// Creates a request for a claim by `holder` that takes over no other claim, of the usual length.
    pub fn by(holder: Holder) -> Self {
        Self {
            holder,
            take_over: TakeOver::Never,
            length: CLAIM_LENGTH,
        }
    }

    /// Sets whether another run's claim is taken over.
    pub fn take_over(mut self, take_over: TakeOver) -> Self {
        self.take_over = take_over;
        self
    }
    /// Sets the length of the claim when the run does not renew it.
    pub fn length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// Creates the claim of a change that is made at once, outside of runs: refused with [`StorageError::Busy`] while a
    /// run of another program holds the thread, and allowed beside one of the same program.
    pub fn change(&self) -> ClaimUse {
        ClaimUse {
            claim: ClaimId::random(),
            length: self.length,
            ends: true,
            take: Some(Box::new(Take {
                holder: self.holder.clone(),
                over: self.take_over.clone(),
                beside_own: true,
                onto: None,
                seen: None,
            })),
        }
    }

    /// Returns whether a run of another program has not ended its claim of the thread, and may still store something.
    pub(crate) async fn has_to_take(
        &self,
        saver: &dyn Checkpointer,
        thread: &ThreadId,
    ) -> Result<bool, StorageError> {
        let Some(coordination) = saver.coordination() else {
            return Ok(false);
        };
        let held = coordination.claim(thread).await?;
        Ok(held.is_some_and(|held| !held.ended && held.holder.id != self.holder.id))
    }

    /// Takes the thread with a commit of its own, so that what is read after it is all that the other run has stored.
    /// What is stored then takes nothing over any more.
    pub(crate) async fn take_first(
        &mut self,
        saver: &dyn Checkpointer,
        thread: &ThreadId,
    ) -> Result<(), StorageError> {
        let taken = Commit {
            thread: thread.clone(),
            ns: "".into(),
            writes: Vec::new(),
            put: None,
            claim: Some(self.change()),
        };
        saver.commit(taken).await?;
        self.take_over = TakeOver::Never;
        Ok(())
    }
}

/// Part of a commit that concerns the claim of its thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimUse {
    /// The run's claim; each run makes one up.
    pub claim: ClaimId,
    /// Length of the claim from now on. A backend may leave a claim as it is while two thirds of that are left.
    pub length: Duration,
    /// The claim ends with this commit.
    pub ends: bool,
    /// The run's first commit takes the claim; a later one must find it as the thread's.
    pub take: Option<Box<Take>>,
}

/// Terms on which a claim is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// Who takes it.
    pub holder: Holder,
    /// Whose living claim is taken over.
    pub over: TakeOver,
    /// Beside a living claim of the same holder, the commit is made and the claim is left as it is.
    pub beside_own: bool,
    /// The newest root checkpoint that the thread must still have, with `None` inside for none; not compared when it is
    /// `None` itself.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub onto: Option<Option<CheckpointId>>,
    /// [`ClaimView::mark`] as it was before the thread was read, 0 for no claim: nobody may have run it since.
    pub seen: Option<u64>,
}

/// Reads a given value as one to compare, also where it is `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<CheckpointId>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The claim of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimView {
    /// The claim.
    pub claim: ClaimId,
    /// Counts the claims of the thread.
    pub number: u64,
    /// Who holds it, or held it last.
    pub holder: Holder,
    /// Time until it ends by itself; zero when it has ended.
    pub remaining: Duration,
    /// Its run has ended it. A run that died leaves it to end by itself.
    pub ended: bool,
}

impl ClaimView {
    /// Returns whether the run still holds the thread.
    pub fn is_live(&self) -> bool {
        !self.ended && !self.remaining.is_zero()
    }

    /// Returns a number that changes when a run begins or ends. 0 means no claim.
    pub fn mark(&self) -> u64 {
        2 * self.number + u64::from(self.ended)
    }
}

/// Knowledge that several programs on one database have of each other: who runs which thread, what waits for an answer,
/// and that something changed. Optional: a saver that does not offer it is used without claims.
#[async_trait]
pub trait Coordination: Debug + Send + Sync {
    /// Reads the claims of these threads, live or not; a thread that nobody claimed is left out.
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError>;
    /// Reads the claim of a thread, live or not.
    async fn claim(&self, thread: &ThreadId) -> Result<Option<ClaimView>, StorageError> {
        Ok(self.claims(std::slice::from_ref(thread)).await?.remove(thread))
    }
    /// Lists checkpoints of outermost graphs whose questions wait, the oldest first: from an index that is kept in the
    /// transaction of each commit.
    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError>;
    /// Counts the tasks of outermost graphs whose questions wait, over all threads.
    async fn count_waiting(&self) -> Result<u64, StorageError>;
    /// Removes a thread as [`Checkpointer::delete_thread`](Checkpointer::delete_thread) does, unless it is busy.
    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError>;
    /// Returns a number that changes within a second after another program changed anything here, items of the store
    /// included, and stays the same while only this one does; `None` where that is not known. It is cheap enough to be
    /// polled several times a second.
    async fn changes(&self) -> Result<Option<u64>, StorageError> {
        Ok(None)
    }
}

/// Removes a thread with everything in it, unless a run of another program holds it; a missing one is no error. Nobody is
/// asked where the saver offers no [`Coordination`].
pub async fn delete_thread(
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    by: &ClaimRequest,
) -> Result<(), StorageError> {
    match saver.coordination() {
        Some(coordination) => coordination.delete_claimed(thread, by).await,
        None => saver.delete_thread(thread).await,
    }
}

/// A stored claim, and the rules of claims for backends that compare in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    /// The claim.
    pub claim: ClaimId,
    /// Counts the claims of the thread.
    pub number: u64,
    /// Who holds it, or held it last.
    pub holder: Holder,
    /// Milliseconds of the backend's clock at which it ends by itself; 0 when its run has ended it.
    pub until: u64,
}

impl ClaimRow {
    /// Decides about a commit. Gives the row to store with it, or nothing when the row stays as it is. `newest` is asked
    /// for the thread's newest root checkpoint, when that matters.
    pub fn compare<E: From<StorageError>>(
        row: Option<&ClaimRow>,
        thread: &ThreadId,
        shown: &ClaimUse,
        now: u64,
        newest: impl FnOnce() -> Result<Option<CheckpointId>, E>,
    ) -> Result<Option<ClaimRow>, E> {
        let length = u64::try_from(shown.length.as_millis()).unwrap_or(u64::MAX);
        let until = match shown.ends {
            true => 0,
            false => now.saturating_add(length).max(1),
        };
        let own = row.filter(|row| row.claim == shown.claim);
        let superseded = || StorageError::superseded(thread, row.filter(|_| own.is_none()));
        let take = match (own, &shown.take) {
            // A commit that ends the claim may be repeated, too.
            (Some(row), _) if row.until == 0 && shown.ends => return Ok(None),
            // A commit that takes the claim may be repeated.
            (Some(row), _) if row.until > 0 => {
                // A clock that was set back leaves more than the length.
                let left = row.until.saturating_sub(now);
                let renews = shown.ends || left < length - length / 3 || left > length;
                return Ok(renews.then(|| ClaimRow { until, ..row.clone() }));
            }
            (None, Some(take)) => take,
            _ => return Err(superseded().into()),
        };
        if let Some(row) = row.filter(|row| row.until > now) {
            if take.beside_own && row.holder.id == take.holder.id {
                return Ok(None);
            }
            let over = match &take.over {
                TakeOver::Never => false,
                TakeOver::Only(claim) => *claim == row.claim,
                TakeOver::Always => true,
            };
            if !over {
                return Err(StorageError::busy(thread, row.view(now)).into());
            }
        }
        let mark = row.map_or(0, |row| row.view(now).mark());
        if take.seen.is_some_and(|seen| seen != mark) {
            return Err(superseded().into());
        }
        if let Some(onto) = &take.onto
            && newest()? != *onto
        {
            return Err(superseded().into());
        }
        Ok(Some(ClaimRow {
            claim: shown.claim.clone(),
            number: row.map_or(0, |row| row.number) + 1,
            holder: take.holder.clone(),
            until,
        }))
    }

    /// Converts the row to the form that is shown.
    pub fn view(&self, now: u64) -> ClaimView {
        ClaimView {
            claim: self.claim.clone(),
            number: self.number,
            holder: self.holder.clone(),
            remaining: Duration::from_millis(self.until.saturating_sub(now)),
            ended: self.until == 0,
        }
    }
}

/// The claims of threads in this process, for a backend that no other process shares. A thread is deleted with its claim,
/// so that the run that held it is refused.
#[derive(Debug)]
pub struct Claims {
    rows: HashMap<ThreadId, ClaimRow>,
    /// The clock: it never goes back.
    began: Instant,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            rows: HashMap::new(),
            began: Instant::now(),
        }
    }
}

impl Claims {
    fn now(&self) -> u64 {
        // From one on: zero stands for a claim that has ended.
        u64::try_from(self.began.elapsed().as_millis())
            .unwrap_or(u64::MAX)
            .saturating_add(1)
    }

    /// Decides about a commit; gives the row to [`set`](Self::set) once it is stored.
    pub fn compare(
        &self,
        thread: &ThreadId,
        shown: &ClaimUse,
        newest: impl FnOnce() -> Option<CheckpointId>,
    ) -> Result<Option<ClaimRow>, StorageError> {
        ClaimRow::compare(self.rows.get(thread), thread, shown, self.now(), || Ok(newest()))
    }

    /// Stores what was decided. The ended claim of a thread in which nothing `is_stored` is forgotten.
    pub fn set(&mut self, thread: &ThreadId, row: ClaimRow, is_stored: bool) {
        match row.until > 0 || is_stored {
            true => drop(self.rows.insert(thread.clone(), row)),
            false => self.forget(thread),
        }
    }

    /// Forgets the claim of a thread that is no longer stored.
    pub fn forget(&mut self, thread: &ThreadId) {
        self.rows.remove(thread);
    }

    /// Returns whether a run holds the thread.
    pub fn is_live(&self, thread: &ThreadId) -> bool {
        self.rows.get(thread).is_some_and(|row| row.until > self.now())
    }

    /// Returns the claims as [`Coordination::claims`] does.
    pub fn views(&self, threads: &[ThreadId]) -> HashMap<ThreadId, ClaimView> {
        let now = self.now();
        let view = |thread: &ThreadId| Some((thread.clone(), self.rows.get(thread)?.view(now)));
        threads.iter().filter_map(view).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::memory::MemorySaver;
    use crate::checkpoint::types::Commit;

    #[tokio::test]
    async fn what_another_program_has_not_ended_is_taken_first() {
        let saver = MemorySaver::new();
        let (one, two) = (Holder::new("1", "one"), Holder::new("2", "two"));
        let thread = ThreadId::from("t");
        let has_to_take = async |holder: &Holder| {
            let request = ClaimRequest::by(holder.clone());
            request.has_to_take(&saver, &thread).await.unwrap()
        };
        assert!(!has_to_take(&two).await, "nobody has it");
        let run = ClaimRequest::by(one.clone()).change();
        let runs = |ends| Commit {
            thread: thread.clone(),
            ns: "".into(),
            writes: Vec::new(),
            put: None,
            claim: Some(ClaimUse { ends, ..run.clone() }),
        };
        saver.commit(runs(false)).await.unwrap();
        assert!(has_to_take(&two).await);
        assert!(!has_to_take(&one).await, "its own run is beside it");
        saver.commit(runs(true)).await.unwrap();
        assert!(!has_to_take(&two).await, "it has ended");
    }
}
