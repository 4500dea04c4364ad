//! Items of long-term memory that a search by similarity passes over because vectors were made in another way when they were
//! put: how many there are, and embedding them again, one such job at a time.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use superstep::Store;
use superstep::checkpoint::{Progress, StorageError};
use superstep::store::StoreError;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::wire::{Empty, OutdatedItems, Problem, Reembed, Reembedded};
use superstep_document::text;

/// Items are counted up to here. A backend reads what it counts.
const MAX_COUNTED: usize = 1_000;
/// Items that are embedded at a time: their values are in memory meanwhile.
const PAGE: usize = 250;

/// The job that runs, if any.
#[derive(Debug, Default)]
pub(crate) struct Reembedding(Mutex<Option<RunningReembedding>>);

#[derive(Debug)]
struct RunningReembedding {
    work: String,
    stop: CancellationToken,
}

/// The mark of a job that runs; over when dropped.
struct Begun<'a>(&'a Reembedding);

impl Reembedding {
    fn lock(&self) -> MutexGuard<'_, Option<RunningReembedding>> {
        self.0.lock()
    }

    fn work(&self) -> Option<String> {
        self.lock().as_ref().map(|running| running.work.clone())
    }

    fn begin(&self, work: &str, stop: &CancellationToken) -> Result<Begun<'_>, Problem> {
        let mut running = self.lock();
        if running.is_some() {
            return Err(
                Problem::new("busy", text!("Items are being embedded again already."))
                    .remedy(text!("Wait until that is done, or stop it first.")),
            );
        }
        *running = Some(RunningReembedding {
            work: work.to_owned(),
            stop: stop.clone(),
        });
        Ok(Begun(self))
    }

    /// Stops the work when its vectors are no longer needed: another embedding was chosen, or another database.
    pub(crate) fn stop(&self) {
        if let Some(running) = &*self.lock() {
            running.stop.cancel();
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

/// Counts the items that must be embedded again; the flag is true when there are more than were counted.
async fn outdated(store: &dyn Store) -> Result<(usize, bool), StoreError> {
    let (mut after, mut count) = (None, 0);
    while count <= MAX_COUNTED {
        let page = store.outdated(after, PAGE).await?;
        count += page.len();
        match page.into_iter().nth(PAGE - 1) {
            Some(last) => after = Some(last.place),
            None => break,
        }
    }
    Ok((count.min(MAX_COUNTED), count > MAX_COUNTED))
}

/// Converts a failure into a problem that says what to do; the work done before the failure is not lost.
fn failed(error: &StoreError) -> Problem {
    let mut problem = Problem::from(error);
    if !matches!(error, StoreError::Storage(StorageError::Stopped)) {
        problem.message.push_str(
            " Items that were embedded again before that stay so; begin again to go on with the others.",
        );
    }
    problem
}

impl Workbench {
    pub(crate) async fn store_outdated(self: &Arc<Self>, _: Empty) -> Result<OutdatedItems, Problem> {
        let counted = outdated(&*self.store()).await;
        let (items, more) = counted?;
        Ok(OutdatedItems {
            items: u32::try_from(items).unwrap_or(u32::MAX),
            more,
            work: self.reembedding.work(),
        })
    }

    pub(crate) async fn store_embed(self: &Arc<Self>, request: Reembed) -> Result<Reembedded, Problem> {
        let job = self.job(Some(request.work.clone()));
        let _begun = self.reembedding.begin(&request.work, job.stop())?;
        let (store, progress) = (self.store(), Progress::default());
        let embedding = async {
            let (items, more) = outdated(&*store).await?;
            // More than were counted is no total.
            let total = if more { 0 } else { items as u64 };
            let watch = |done: u64, _| job.at(done, total);
            progress.follow(store.reembed(&progress), &watch).await
        };
        // A model that does not answer is not waited for. Each group of items has its new vectors or its old ones.
        let embedded = tokio::select! {
            biased;
            () = job.stop().cancelled() => Err(StorageError::Stopped.into()),
            embedded = embedding => embedded,
        };
        let items = embedded.map_err(|error| failed(&error))?;
        Ok(Reembedded { items })
    }
}
