//! Questions that wait for a time only. The engine knows no time: when a question's deadline has passed, its thread is
//! continued from here, at the checkpoint that asks, and the node that asked finds that nobody answered. What passed while no
//! workbench was open passes when the next one is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{Waiting, WaitingQuery};
use superstep::{CheckpointId, ThreadId};
use superstep_nodes::kinds::ask;
use tokio::time::Instant;

use crate::Workbench;
use crate::base::files::now_ms;
use crate::running::ChangedThreads;
use crate::session;
use crate::wire::{Problem, Renamed, RunAction, StartRun};

/// Longest time without a look at everything: another program may have asked something meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// A thread that could not be continued is left alone for so long.
const AGAIN_AFTER: u64 = 60_000;

/// State that the watch has seen. The cost of a change by one run depends on what its own thread asks, however many
/// questions wait elsewhere.
#[derive(Default)]
struct SeenQuestions {
    /// Checkpoints that ask; of those whose questions have a deadline, when something is to be done about it.
    asking: HashMap<ThreadId, HashMap<CheckpointId, Option<u64>>>,
    /// The same times in order.
    due: BTreeSet<(u64, ThreadId, CheckpointId)>,
    /// When deadlines that had passed were tried.
    tried: HashMap<(ThreadId, CheckpointId), u64>,
    looked: Option<Instant>,
}

impl SeenQuestions {
    fn knows(&self, waiting: &Waiting) -> bool {
        let thread = self.asking.get(&waiting.thread);
        thread.is_some_and(|asking| asking.contains_key(&waiting.checkpoint))
    }

    fn insert(&mut self, waiting: &Waiting, deadline: Option<u64>) {
        let (thread, checkpoint) = (waiting.thread.clone(), waiting.checkpoint.clone());
        let place = (thread, checkpoint);
        let due = deadline.map(|deadline| match self.tried.get(&place) {
            Some(tried) => deadline.max(tried + AGAIN_AFTER),
            None => deadline,
        });
        let (thread, checkpoint) = place;
        if let Some(due) = due {
            self.due.insert((due, thread.clone(), checkpoint.clone()));
        }
        self.asking.entry(thread).or_default().insert(checkpoint, due);
    }

    fn forget(&mut self, thread: &ThreadId) {
        for (checkpoint, due) in self.asking.remove(thread).into_iter().flatten() {
            if let Some(due) = due {
                self.due.remove(&(due, thread.clone(), checkpoint));
            }
        }
    }

    /// Takes the first checkpoint whose time has come, and notes that it is tried.
    fn pop_due(&mut self, now: u64) -> Option<(ThreadId, CheckpointId)> {
        let (due, thread, checkpoint) = self.due.pop_first()?;
        if due > now {
            self.due.insert((due, thread, checkpoint));
            return None;
        }
        self.tried.insert((thread.clone(), checkpoint.clone()), now);
        // When it goes on, it asks no more; when it can not, it has another try.
        let again = now + AGAIN_AFTER;
        self.due.insert((again, thread.clone(), checkpoint.clone()));
        if let Some(asking) = self.asking.get_mut(&thread) {
            asking.insert(checkpoint.clone(), Some(again));
        }
        Some((thread, checkpoint))
    }
}

/// Watches over the deadlines for as long as the workbench is there.
pub(crate) fn watch(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
    let changed = workbench.announcer.deadlines.clone();
    tokio::spawn(async move {
        let mut seen = SeenQuestions::default();
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
    async fn pass_deadlines(self: &Arc<Self>, seen: &mut SeenQuestions) -> Result<Option<u64>, Problem> {
        self.see_questions(seen).await?;
        let now = now_ms();
        seen.tried.retain(|_, at| now.saturating_sub(*at) < AGAIN_AFTER);
        while let Some((thread, checkpoint)) = seen.pop_due(now) {
            let request = StartRun {
                take_over: false,
                graph_version: None,
                renamed: Renamed::new(),
                graph_id: None,
                thread_id: Some(thread.to_string()),
                action: RunAction::Continue,
                break_before: Vec::new(),
                break_after: Vec::new(),
                breakpoints: Vec::new(),
                step_task: None,
                single_step: false,
                step_into: false,
                effects: Default::default(),
                recursion_limit: None,
                models: None,
                labels: None,
                pinned: None,
                context: None,
            };
            match self.run_begin(request, Some(checkpoint), None).await {
                Err(problem) if problem.code != "already-answered" => {
                    tracing::warn!(%thread, %problem, "nobody answered in time, and the thread could not go on");
                }
                _ => {}
            }
        }
        Ok(seen.due.first().map(|(due, ..)| *due))
    }

    /// Brings what the watch has seen up to date: only checkpoints are read that were not known, or whose thread changed.
    async fn see_questions(&self, seen: &mut SeenQuestions) -> Result<(), Problem> {
        let stale = seen.looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY);
        let mut found = Vec::new();
        match self.announcer.take_changed() {
            ChangedThreads::In(threads) if !stale => {
                for thread in threads.into_iter().map(ThreadId::from) {
                    seen.forget(&thread);
                    found.extend(self.waiting_in(Some(thread)).await?);
                }
            }
            _ => {
                found = self.waiting_in(None).await?;
                let mut asking: HashMap<&ThreadId, HashSet<&CheckpointId>> = HashMap::new();
                for waiting in &found {
                    asking
                        .entry(&waiting.thread)
                        .or_default()
                        .insert(&waiting.checkpoint);
                }
                let differs = |thread: &ThreadId, known: &HashMap<CheckpointId, Option<u64>>| {
                    let now = asking.get(thread);
                    now.is_none_or(|now| {
                        now.len() != known.len() || now.iter().any(|id| !known.contains_key(*id))
                    })
                };
                let changed: Vec<ThreadId> = (seen.asking.iter())
                    .filter(|(thread, known)| differs(thread, known))
                    .map(|(thread, _)| thread.clone())
                    .collect();
                for thread in &changed {
                    seen.forget(thread);
                }
                seen.looked = Some(Instant::now());
            }
        }
        for waiting in found {
            if seen.knows(&waiting) {
                continue;
            }
            let pending = self
                .writes_at(waiting.thread.as_str(), &waiting.checkpoint)
                .await?;
            let asked = session::waiting(&pending);
            let first = asked.iter().filter_map(|asked| ask::deadline(&asked.value)).min();
            seen.insert(&waiting, first);
        }
        Ok(())
    }

    async fn waiting_in(&self, thread: Option<ThreadId>) -> Result<Vec<Waiting>, Problem> {
        let query = WaitingQuery::new().thread(thread);
        self.saver().waiting(&query).await.map_err(Problem::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(thread: &str, checkpoint: &str) -> Waiting {
        Waiting {
            thread: thread.into(),
            checkpoint: checkpoint.into(),
            is_newest: true,
            ts: String::new(),
            tasks: 1,
        }
    }

    #[test]
    fn a_deadline_is_tried_once_a_while() {
        let mut seen = SeenQuestions::default();
        seen.insert(&waiting("a", "1"), Some(100));
        seen.insert(&waiting("b", "1"), Some(200));
        seen.insert(&waiting("c", "1"), None);
        assert_eq!(seen.pop_due(99), None);
        assert_eq!(seen.pop_due(150), Some(("a".into(), "1".into())));
        assert_eq!(seen.pop_due(150), None);
        // The thread changed by the try, and still asks.
        seen.forget(&"a".into());
        seen.insert(&waiting("a", "1"), Some(100));
        assert_eq!(seen.pop_due(150), None);
        assert_eq!(seen.pop_due(200), Some(("b".into(), "1".into())));
        assert_eq!(seen.pop_due(150 + AGAIN_AFTER), Some(("a".into(), "1".into())));
        seen.forget(&"a".into());
        seen.forget(&"b".into());
        assert!(seen.due.is_empty() && seen.asking.len() == 1);
    }

    #[test]
    fn checkpoints_are_known_by_thread_and_id() {
        let mut seen = SeenQuestions::default();
        seen.insert(&waiting("a", "1"), Some(100));
        seen.insert(&waiting("a", "2"), None);
        for (thread, checkpoint, known) in [
            ("a", "1", true),
            ("a", "2", true),
            ("a", "3", false),
            ("b", "1", false),
        ] {
            assert_eq!(
                seen.knows(&waiting(thread, checkpoint)),
                known,
                "{thread} {checkpoint}"
            );
        }
        // What is due is taken exactly when its time has come, and has its next try after a while.
        assert_eq!(seen.pop_due(100), Some(("a".into(), "1".into())));
        assert_eq!(seen.pop_due(100 + AGAIN_AFTER - 1), None);
        assert_eq!(seen.due.first().map(|(due, ..)| *due), Some(100 + AGAIN_AFTER));
        assert_eq!(
            seen.asking[&ThreadId::from("a")][&CheckpointId::from("1")],
            Some(100 + AGAIN_AFTER)
        );
        seen.forget(&"a".into());
        assert!(seen.due.is_empty() && !seen.knows(&waiting("a", "1")));
        // A later deadline than the next try stays.
        seen.insert(&waiting("a", "1"), Some(10 * AGAIN_AFTER + 1_000));
        assert_eq!(
            seen.due.first().map(|(due, ..)| *due),
            Some(10 * AGAIN_AFTER + 1_000)
        );
    }
}
