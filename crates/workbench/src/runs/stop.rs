//! Stopping a run, here or in another program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use superstep::checkpoint::Commit;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::running::{StopHandle, busy};
use crate::wire::{Empty, Problem, RunStatus, StopRun};
use superstep_document::text;

/// How long `run.stop` waits for the run to end.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// How long another program may take to answer and to stop its run; one that is frozen does not. Shorter than a claim lasts
/// that nobody renews: who asks learns which program has the thread.
const ASKED_WITHIN: Duration = Duration::from_secs(12);

impl StopHandle {
    /// Stops the run as the request says, and waits until it has ended where it is broken off.
    pub(crate) async fn stop(&self, request: &StopRun, ended: &CancellationToken) -> Result<Empty, Problem> {
        if request.after_step {
            // A task may take as long as it likes: the end of the run is an event.
            self.drain.request("paused after a step");
            return Ok(Empty {});
        }
        self.cancel.cancel();
        stopped(ended).await
    }
}

impl Workbench {
    pub(crate) async fn run_stop(self: &Arc<Self>, request: StopRun) -> Result<Empty, Problem> {
        let running = {
            let active = self.runs.lock();
            active
                .get(&request.thread_id)
                .filter(|active| active.running)
                .map(|active| (active.stop.clone(), active.ended.clone()))
        };
        match running {
            Some((run, ended)) => run.stop(&request, &ended).await,
            None => self.stop_elsewhere(&request).await,
        }
    }

    /// Stops a run of another program: asks it to, or takes its thread from it where that is wanted or it does not answer. A
    /// run that has ended by itself meanwhile is what was wanted.
    async fn stop_elsewhere(&self, request: &StopRun) -> Result<Empty, Problem> {
        if !request.take_over
            && let Some(answer) = self.ask_to_stop(request).await?
        {
            return answer;
        }
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
            saver.commit(commit).await?;
            return Ok(Empty {});
        }
        match self.runs_in(&request.thread_id)? {
            Some(_) => Err(busy(text!("The thread is running in another window or program."))),
            None => Ok(Empty {}),
        }
    }

    /// Returns the instance of another program of the data folder that runs a thread.
    fn runs_in(&self, thread_id: &str) -> Result<Option<String>, Problem> {
        let last = self.ledger.last_runs(&[thread_id])?.remove(thread_id);
        let running = last.filter(|last| last.status == RunStatus::Running);
        Ok((running.map(|last| last.instance)).filter(|instance| self.instance.is_other_alive(instance)))
    }

    /// Asks the program that runs a thread to stop it, and returns its answer; `None` if there is no such program that
    /// can be asked.
    async fn ask_to_stop(&self, request: &StopRun) -> Result<Option<Result<Empty, Problem>>, Problem> {
        let Some(instance) = self.runs_in(&request.thread_id)? else {
            return Ok(None);
        };
        let begun = Instant::now();
        let Ok(Some(program)) = tokio::time::timeout(ASKED_WITHIN, self.peer(&instance)).await else {
            return Ok(None);
        };
        let request = serde_json::json!({"threadId": request.thread_id, "afterStep": request.after_step});
        let left = ASKED_WITHIN.saturating_sub(begun.elapsed());
        let answer = program.call_within("run.stop", request, left).await;
        Ok(match answer {
            Ok(_) => Some(Ok(Empty {})),
            Err(problem) if problem.code == "still-stopping" => Some(Err(problem)),
            Err(problem) => {
                tracing::debug!(%problem, "another program did not stop its run");
                None
            }
        })
    }
}

/// Waits until a run that is being stopped has ended.
async fn stopped(ended: &CancellationToken) -> Result<Empty, Problem> {
    match tokio::time::timeout(STOP_WITHIN, ended.cancelled()).await {
        Ok(()) => Ok(Empty {}),
        Err(_) => Err(Problem::new(
            "still-stopping",
            text!("A node does not let itself be stopped yet."),
        )
        .remedy(text!(
            "The run ends as soon as the node gives way; the thread can go on from its last checkpoint."
        ))),
    }
}
