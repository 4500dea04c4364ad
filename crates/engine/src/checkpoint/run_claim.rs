//! The claim of a run: taken with its first commit, shown with the others, renewed while nothing is stored, ended with
//! the last.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::base::ids::{CheckpointId, ClaimId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::claim::{ClaimRequest, ClaimUse, Take};
use crate::checkpoint::types::{Commit, StorageError};

/// Stage of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimStage {
    /// No commit was made.
    New,
    /// The commit that takes it is on its way, or was stored.
    Sent,
    /// The thread is the run's.
    Held,
    /// The commit that ends it is on its way, or was stored.
    Ended,
}

/// Step of a run's claim that a commit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimTurn {
    /// The run goes on.
    GoesOn,
    /// It is the run's last.
    Ends,
}

/// State of the thread when the run read it.
#[derive(Debug, Default)]
struct ReadState {
    onto: Option<Option<CheckpointId>>,
    seen: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct RunClaim {
    id: ClaimId,
    request: ClaimRequest,
    saver: Arc<dyn Checkpointer>,
    thread: ThreadId,
    stage: Mutex<ClaimStage>,
    read: Mutex<ReadState>,
    /// Why the thread is not the run's any more.
    lost: OnceLock<StorageError>,
    /// A commit of the run was not stored for another reason.
    failed: AtomicBool,
    /// Stops the run.
    cancel: CancellationToken,
}

impl RunClaim {
    /// Creates the claim of a run that asks for one, on a backend that supports claims.
    pub(crate) fn of(
        request: &ClaimRequest,
        saver: Option<&Arc<dyn Checkpointer>>,
        thread: Option<&ThreadId>,
        cancel: &CancellationToken,
    ) -> Option<Arc<Self>> {
        let saver = saver.filter(|saver| saver.coordination().is_some())?;
        Some(Arc::new(Self {
            id: ClaimId::random(),
            request: request.clone(),
            saver: saver.clone(),
            thread: thread?.clone(),
            stage: Mutex::new(ClaimStage::New),
            read: Mutex::default(),
            lost: OnceLock::new(),
            failed: AtomicBool::new(false),
            cancel: cancel.clone(),
        }))
    }

    /// Returns whether this is the backend that knows the claim.
    pub(crate) fn is_of(&self, saver: &Arc<dyn Checkpointer>) -> bool {
        Arc::ptr_eq(&self.saver, saver)
    }

    /// Notes who has run the thread, before the run reads it. Returns true when a run has not ended its claim, and may
    /// still store something.
    pub(crate) async fn look(&self) -> Result<bool, StorageError> {
        let Some(coordination) = self.saver.coordination() else {
            return Ok(false);
        };
        let claim = coordination.claim(&self.thread).await?;
        self.read.lock().seen = Some(claim.as_ref().map_or(0, |claim| claim.mark()));
        Ok(claim.is_some_and(|claim| !claim.ended))
    }

    /// Notes that the run continues from this newest root checkpoint, or begins the thread.
    pub(crate) fn goes_on(&self, newest: Option<CheckpointId>) {
        self.read.lock().onto = Some(newest);
    }

    /// Returns the claim that the next commit states.
    pub(crate) fn shown(&self, turn: ClaimTurn) -> ClaimUse {
        let mut stage = self.stage.lock();
        let take = (*stage == ClaimStage::New).then(|| {
            let read = std::mem::take(&mut *self.read.lock());
            Box::new(Take {
                holder: self.request.holder.clone(),
                over: self.request.take_over.clone(),
                beside_own: false,
                onto: read.onto,
                seen: read.seen,
            })
        });
        *stage = match *stage {
            _ if turn == ClaimTurn::Ends => ClaimStage::Ended,
            ClaimStage::New => ClaimStage::Sent,
            stage => stage,
        };
        ClaimUse {
            claim: self.id.clone(),
            length: self.request.length,
            ends: turn == ClaimTurn::Ends,
            take,
        }
    }

    /// Creates a commit that states nothing but the claim.
    pub(crate) fn commit(&self, turn: ClaimTurn) -> Commit {
        Commit {
            thread: self.thread.clone(),
            ns: "".into(),
            writes: Vec::new(),
            put: None,
            claim: Some(self.shown(turn)),
        }
    }

    pub(crate) fn is_new(&self) -> bool {
        *self.stage.lock() == ClaimStage::New
    }

    /// Returns whether the claim need not be waited for: the backend confirmed that the thread is the run's, or the run
    /// has ended it.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(*self.stage.lock(), ClaimStage::Held | ClaimStage::Ended)
    }

    /// Returns whether a commit took the claim and none ended it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(*self.stage.lock(), ClaimStage::Sent | ClaimStage::Held)
    }

    /// Starts to renew the claim, after the commit that takes it was stored. Renewing ends when the returned value is
    /// dropped.
    pub(crate) fn hold(self: &Arc<Self>) -> KeepAlive {
        *self.stage.lock() = ClaimStage::Held;
        let claim = Arc::downgrade(self);
        let pause = self.request.length / 3;
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                let Some(claim) = claim.upgrade().filter(|claim| claim.is_open()) else {
                    return;
                };
                match claim.saver.commit(claim.commit(ClaimTurn::GoesOn)).await {
                    // A run that ends meanwhile ends its claim itself.
                    Err(error) if claim.is_open() => claim.refused(&error),
                    _ => {}
                }
            }
        });
        KeepAlive(renewing.abort_handle())
    }

    /// Handles a commit of the run that was not stored. After one that failed in another way the claim need not be the
    /// run's: that failure is the reason, and not the refusal of the commit that ends the claim.
    pub(crate) fn unstored(&self, error: &StorageError) {
        match error {
            StorageError::Busy { .. } | StorageError::Superseded { .. } => {
                if !self.failed.load(Ordering::Relaxed) {
                    self.refused(error);
                }
            }
            _ => self.failed.store(true, Ordering::Relaxed),
        }
    }

    /// Handles a commit that the backend refused. If the reason is that the thread is not the run's, the run is
    /// stopped. Any other error of the backend is reported to anyone who stores something.
    fn refused(&self, error: &StorageError) {
        if let StorageError::Busy { .. } | StorageError::Superseded { .. } = error
            && self.lost.set(error.clone()).is_ok()
        {
            self.cancel.cancel();
        }
    }

    /// Returns the reason why the thread is not the run's any more.
    pub(crate) fn lost(&self) -> Option<&StorageError> {
        self.lost.get()
    }
}

/// A run that was dropped ends its claim after its last commit.
impl Drop for RunClaim {
    fn drop(&mut self) {
        if self.is_open()
            && self.lost.get().is_none()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (saver, commit) = (self.saver.clone(), self.commit(ClaimTurn::Ends));
            // When that fails the claim ends by itself.
            drop(runtime.spawn(async move { drop(saver.commit(commit).await) }));
        }
    }
}

/// Handle that renews a claim until it is dropped.
#[derive(Debug)]
pub(crate) struct KeepAlive(AbortHandle);

impl Drop for KeepAlive {
    fn drop(&mut self) {
        self.0.abort();
    }
}
