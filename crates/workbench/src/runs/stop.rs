//! Stopping a run, here or in another program.

use std::sync::Arc;
use std::time::Duration;

use superstep::Commit;

use super::busy;
use crate::Workbench;
use crate::threads::storage_problem;
use crate::wire::{Empty, Problem, RunStatus, StopRun};

/// How long `run.stop` waits for the run to end.
const STOP_WITHIN: Duration = Duration::from_secs(10);

impl Workbench {
    pub(crate) async fn run_stop(self: &Arc<Self>, request: StopRun) -> Result<Empty, Problem> {
        let ended = {
            let active = self.runs.lock();
            active
                .get(&request.thread_id)
                .filter(|active| active.running)
                .map(|active| {
                    active.cancel.cancel();
                    active.ended.clone()
                })
        };
        let Some(ended) = ended else {
            return self.stop_elsewhere(&request).await;
        };
        match tokio::time::timeout(STOP_WITHIN, ended.cancelled()).await {
            Ok(()) => Ok(Empty {}),
            Err(_) => Err(Problem::new("still-stopping", "A node does not let itself be stopped yet.")
                .remedy("The run ends as soon as the node gives way; the thread can go on from its last checkpoint.")),
        }
    }

    /// Stops a run of another program by taking its thread from it. A run that has ended by itself meanwhile is what was
    /// wanted.
    async fn stop_elsewhere(&self, request: &StopRun) -> Result<Empty, Problem> {
        let claim = self.claim_to_run(&request.thread_id, request.take_over).await?;
        let saver = self.saver();
        let claimed = saver.coordination().is_some();
        if claimed && request.take_over {
            let commit = Commit {
                thread: request.thread_id.as_str().into(),
                ns: "".into(),
                writes: Vec::new(),
                put: None,
                claim: Some(claim.change()),
            };
            saver
                .commit(commit)
                .await
                .map_err(|error| storage_problem(&error))?;
            return Ok(Empty {});
        }
        let last = self.ledger.last_runs(&[&request.thread_id])?;
        match last.get(&request.thread_id) {
            Some(last)
                if last.status == RunStatus::Running && self.instance.is_other_alive(&last.instance) =>
            {
                Err(busy(" in another window or program"))
            }
            _ => Ok(Empty {}),
        }
    }
}
