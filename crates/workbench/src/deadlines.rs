//! Questions that wait for a time only. The engine knows no time: when a question's deadline has passed, its thread is
//! continued from here, at the checkpoint that asks, and the node that asked finds that nobody answered. What passed while no
//! workbench was open passes when the next one is.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use superstep::{CheckpointId, ThreadId, Waiting, WaitingQuery, waiting_questions};
use superstep_nodes::kinds::ask;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::files::now_ms;
use crate::threads::problem;
use crate::wire::{Problem, RunAction, StartRun};

/// Longest time without a look at everything: another program may have asked something meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// A thread that could not be continued is left alone for so long.
const AGAIN_AFTER: u64 = 60_000;

/// Tells the watch that other questions wait now.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    changed: Arc<Notify>,
    threads: Mutex<Changed>,
    stop: CancellationToken,
}

/// Where questions came or went since the last look.
#[derive(Debug, Default)]
enum Changed {
    #[default]
    Anywhere,
    In(HashSet<String>),
}

impl Deadlines {
    pub(crate) fn changed(&self, thread_id: Option<&str>) {
        let mut changed = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        match (&mut *changed, thread_id) {
            (Changed::In(threads), Some(thread)) => {
                threads.insert(thread.to_owned());
            }
            (changed, None) => *changed = Changed::Anywhere,
            (Changed::Anywhere, Some(_)) => {}
        }
        drop(changed);
        self.changed.notify_one();
    }

    fn take(&self) -> Changed {
        let mut changed = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut changed, Changed::In(HashSet::new()))
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

type Place = (ThreadId, CheckpointId);

/// What the watch has seen.
#[derive(Default)]
struct Seen {
    /// Checkpoints that ask, with the first deadline of each.
    deadlines: HashMap<Place, Option<u64>>,
    /// When deadlines that had passed were tried.
    tried: HashMap<Place, u64>,
    looked: Option<Instant>,
}

fn place(waiting: &Waiting) -> Place {
    (waiting.thread.clone(), waiting.checkpoint.clone())
}

/// Watches over the deadlines for as long as the workbench is there.
pub(crate) fn watch(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.deadlines.stop.clone());
    let changed = workbench.deadlines.changed.clone();
    tokio::spawn(async move {
        let mut seen = Seen::default();
        loop {
            let Some(workbench) = weak.upgrade() else { return };
            let wait = match workbench.pass_deadlines(&mut seen).await {
                Ok(next) => next.map_or(LOOK_EVERY, |next| {
                    Duration::from_millis(next.saturating_sub(now_ms())).min(LOOK_EVERY)
                }),
                Err(problem) => {
                    tracing::warn!(%problem, "the deadlines of questions could not be looked at");
                    seen.looked = None;
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
    async fn pass_deadlines(self: &Arc<Self>, seen: &mut Seen) -> Result<Option<u64>, Problem> {
        self.see_questions(seen).await?;
        let now = now_ms();
        seen.tried.retain(|_, at| now.saturating_sub(*at) < AGAIN_AFTER);
        let mut next = None;
        for (place, deadline) in &seen.deadlines {
            let Some(deadline) = *deadline else { continue };
            let due = match seen.tried.get(place) {
                Some(at) => deadline.max(at + AGAIN_AFTER),
                None => deadline,
            };
            if due > now {
                next = Some(next.map_or(due, |next: u64| next.min(due)));
                continue;
            }
            seen.tried.insert(place.clone(), now);
            let (thread_id, checkpoint) = place;
            let request = StartRun {
                graph_id: None,
                thread_id: Some(thread_id.to_string()),
                action: RunAction::Continue,
                break_before: Vec::new(),
                break_after: Vec::new(),
                single_step: false,
                step_into: false,
                effects: Default::default(),
                recursion_limit: None,
                models: None,
            };
            match self.run_begin(request, Some(checkpoint.clone())).await {
                Err(problem) if problem.code != "already-answered" => {
                    tracing::warn!(thread = %thread_id, %problem, "nobody answered in time, and the thread could not go on");
                }
                _ => {}
            }
        }
        Ok(next)
    }

    /// Brings what the watch has seen up to date: only checkpoints are read that were not known, or whose thread changed.
    async fn see_questions(&self, seen: &mut Seen) -> Result<(), Problem> {
        let stale = seen.looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY);
        let queries = match self.deadlines.take() {
            Changed::In(threads) if !stale => {
                seen.deadlines
                    .retain(|(thread, _), _| !threads.contains(thread.as_str()));
                let of_thread = |thread: String| WaitingQuery {
                    thread: Some(thread.into()),
                    ..WaitingQuery::default()
                };
                threads.into_iter().map(of_thread).collect()
            }
            _ => vec![WaitingQuery::default()],
        };
        for query in queries {
            let found = self
                .saver()
                .waiting(&query)
                .await
                .map_err(|e| problem(&e.into()))?;
            if query.thread.is_none() {
                let found: HashSet<Place> = found.iter().map(place).collect();
                seen.deadlines.retain(|place, _| found.contains(place));
                seen.looked = Some(Instant::now());
            }
            for waiting in &found {
                if seen.deadlines.contains_key(&place(waiting)) {
                    continue;
                }
                let pending = self
                    .writes_at(waiting.thread.as_str(), &waiting.checkpoint)
                    .await?;
                let asked = waiting_questions(&pending)
                    .into_iter()
                    .flat_map(|(_, asked)| asked);
                let first = asked.filter_map(|asked| ask::deadline(&asked.value)).min();
                seen.deadlines.insert(place(waiting), first);
            }
        }
        Ok(())
    }
}
