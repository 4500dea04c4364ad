//! Questions that wait for a time only. The engine knows no time: when a question's deadline has passed, its thread is
//! continued from here, and the node that asked finds that nobody answered. What passed while no workbench was open
//! passes when the next one is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use superstep_nodes::kinds::ask;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::files::now_ms;
use crate::wire::{ListInbox, Problem, RunAction, StartRun};

/// Longest time without a look: another program may have asked something meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// A thread that could not be continued is left alone for so long.
const AGAIN_AFTER: u64 = 60_000;

/// Tells the watch that other questions wait now.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    changed: Arc<Notify>,
    stop: CancellationToken,
}

impl Deadlines {
    pub(crate) fn changed(&self) {
        self.changed.notify_one();
    }
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

/// Watches over the deadlines for as long as the workbench is there.
pub(crate) fn watch(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.deadlines.stop.clone());
    let changed = workbench.deadlines.changed.clone();
    tokio::spawn(async move {
        let mut tried: HashMap<String, u64> = HashMap::new();
        loop {
            let Some(workbench) = weak.upgrade() else { return };
            let wait = match workbench.pass_deadlines(&mut tried).await {
                Ok(next) => next.map_or(LOOK_EVERY, |next| {
                    Duration::from_millis(next.saturating_sub(now_ms())).min(LOOK_EVERY)
                }),
                Err(problem) => {
                    tracing::warn!(%problem, "the deadlines of questions could not be looked at");
                    LOOK_EVERY
                }
            };
            drop(workbench);
            tokio::select! {
                () = stop.cancelled() => return,
                () = changed.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    });
}

impl Workbench {
    /// Continues the threads whose questions have waited long enough; when the next one has.
    async fn pass_deadlines(
        self: &Arc<Self>,
        tried: &mut HashMap<String, u64>,
    ) -> Result<Option<u64>, Problem> {
        let now = now_ms();
        tried.retain(|_, at| now.saturating_sub(*at) < AGAIN_AFTER);
        let mut next = None;
        for (thread_id, deadline) in self.deadlines_of_threads().await? {
            let due = match tried.get(&thread_id) {
                Some(at) => deadline.max(at + AGAIN_AFTER),
                None => deadline,
            };
            if due > now {
                next = Some(next.map_or(due, |next: u64| next.min(due)));
                continue;
            }
            tried.insert(thread_id.clone(), now);
            let request = StartRun {
                graph_id: None,
                thread_id: Some(thread_id.clone()),
                action: RunAction::Continue,
                break_before: Vec::new(),
                break_after: Vec::new(),
                single_step: false,
                step_into: false,
                effects: Default::default(),
                recursion_limit: None,
                models: None,
            };
            if let Err(problem) = self.run_start(request).await {
                tracing::warn!(thread = %thread_id, %problem, "nobody answered in time, and the thread could not go on");
            }
        }
        Ok(next)
    }

    /// The first deadline of each thread that asks and has one.
    async fn deadlines_of_threads(self: &Arc<Self>) -> Result<HashMap<String, u64>, Problem> {
        let mut found: HashMap<String, u64> = HashMap::new();
        for question in self.inbox_list(ListInbox::default()).await?.questions {
            let Some(deadline) = ask::deadline(&question.asked.value.into()) else {
                continue;
            };
            let first = found.entry(question.thread_id).or_insert(deadline);
            *first = deadline.min(*first);
        }
        Ok(found)
    }
}
