//! How many questions wait: as many as the list shows. Storage counts the tasks that ask; one task may ask several questions, as
//! of a nested graph, and several tasks the same, as a call and its caller do. So the questions of each checkpoint
//! are read once, and again when something changed in their thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{Waiting, WaitingQuery};
use superstep::{CheckpointId, ThreadId};

use super::list::AnsweredIn;
use crate::Workbench;
use crate::running::ChangedThreads;
use crate::session;
use crate::wire::{AppEvent, Problem};

/// The least time between two counts.
const COUNT_EVERY: Duration = Duration::from_millis(50);

/// The questions of a checkpoint by id, and how many of its tasks ask them.
#[derive(Debug)]
struct AskedAt {
    tasks: u32,
    questions: HashSet<String>,
}

/// Questions that wait, as they were read last.
#[derive(Debug, Default)]
pub(crate) struct CountedQuestions {
    asked: HashMap<ThreadId, HashMap<CheckpointId, AskedAt>>,
    tasks: u64,
    questions: usize,
    /// False where a reading failed: all is read again.
    is_whole: bool,
}

impl CountedQuestions {
    fn insert(&mut self, waiting: Waiting, questions: HashSet<String>) {
        let Waiting {
            thread,
            checkpoint,
            tasks,
            ..
        } = waiting;
        self.tasks += u64::from(tasks);
        self.questions += questions.len();
        let of_thread = self.asked.entry(thread).or_default();
        if let Some(before) = of_thread.insert(checkpoint, AskedAt { tasks, questions }) {
            self.tasks -= u64::from(before.tasks);
            self.questions -= before.questions.len();
        }
    }

    fn forget(&mut self, thread: &ThreadId) {
        for asked in self
            .asked
            .remove(thread)
            .into_iter()
            .flat_map(HashMap::into_values)
        {
            self.tasks -= u64::from(asked.tasks);
            self.questions -= asked.questions.len();
        }
    }

    /// Forgets what is not listed like this any more; returns what is listed and not known.
    fn keep_only(&mut self, listed: Vec<Waiting>) -> Vec<Waiting> {
        let mut before = std::mem::take(self);
        let mut unknown = Vec::new();
        for waiting in listed {
            let known = before
                .asked
                .get_mut(&waiting.thread)
                .and_then(|asked| asked.remove(&waiting.checkpoint));
            match known {
                Some(known) if known.tasks == waiting.tasks => self.insert(waiting, known.questions),
                _ => unknown.push(waiting),
            }
        }
        unknown
    }

    /// Counts the questions that nobody answers now.
    fn without(&self, answered: &AnsweredIn) -> usize {
        let leaving = answered.iter().map(|((thread, checkpoint), answers)| {
            let asked = self
                .asked
                .get(&ThreadId::from(thread.as_str()))
                .and_then(|asked| asked.get(&CheckpointId::from(checkpoint.as_str())));
            asked.map_or(0, |asked| answers.intersection(&asked.questions).count())
        });
        self.questions.saturating_sub(leaving.sum())
    }
}

/// Counts for as long as the workbench is there, once for however much changed meanwhile.
pub(crate) fn count(workbench: &Arc<Workbench>) {
    let weak = Arc::downgrade(workbench);
    let (changed, stop) = (workbench.announcer.count.clone(), workbench.jobs.ending.clone());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = changed.notified() => {}
            }
            let Some(workbench) = weak.upgrade() else { return };
            match workbench.count_waiting().await {
                Ok(waiting) => workbench.hub.publish(AppEvent::Inbox { waiting }),
                Err(problem) => tracing::warn!(%problem, "the waiting questions could not be counted"),
            }
            drop(workbench);
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(COUNT_EVERY) => {}
            }
        }
    });
}

impl Workbench {
    /// Counts the questions that wait and that nobody is answering now.
    pub(crate) async fn count_waiting(self: &Arc<Self>) -> Result<u32, Problem> {
        // An answer that its run takes meanwhile is in none of both.
        let answered = self.being_answered(&self.open_answers().await?);
        let mut counted = self.desk.counted.lock().await;
        self.bring_up_to_date(&mut counted).await?;
        Ok(u32::try_from(counted.without(&answered)).unwrap_or(u32::MAX))
    }

    async fn bring_up_to_date(&self, counted: &mut CountedQuestions) -> Result<(), Problem> {
        let was_whole = std::mem::replace(&mut counted.is_whole, false);
        match self.announcer.take_uncounted() {
            ChangedThreads::In(threads) if was_whole => {
                for thread in threads.into_iter().map(ThreadId::from) {
                    counted.forget(&thread);
                    let query = WaitingQuery::new().thread(thread);
                    let listed = self.saver().waiting(&query).await?;
                    self.read_questions(counted, listed).await?;
                }
            }
            _ => {
                *counted = CountedQuestions::default();
                let listed = self.saver().waiting(&WaitingQuery::new()).await?;
                self.read_questions(counted, listed).await?;
            }
        }
        if self.saver().count_waiting().await? != counted.tasks {
            // A run or another program was here that has not said so yet.
            let listed = self.saver().waiting(&WaitingQuery::new()).await?;
            let unknown = counted.keep_only(listed);
            self.read_questions(counted, unknown).await?;
        }
        counted.is_whole = true;
        Ok(())
    }

    async fn read_questions(
        &self,
        counted: &mut CountedQuestions,
        listed: Vec<Waiting>,
    ) -> Result<(), Problem> {
        let asked = session::questions_at(&*self.saver(), &listed).await?;
        for (waiting, questions) in listed.into_iter().zip(asked) {
            let ids = questions.iter().map(|question| question.id.to_string());
            counted.insert(waiting, ids.collect());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(thread: &str, checkpoint: &str, tasks: u32) -> Waiting {
        Waiting {
            thread: thread.into(),
            checkpoint: checkpoint.into(),
            is_newest: true,
            ts: String::new(),
            tasks,
        }
    }

    fn ids<const N: usize>(ids: [&str; N]) -> HashSet<String> {
        ids.map(str::to_owned).into()
    }

    #[test]
    fn questions_are_counted_and_not_the_tasks_that_ask_them() {
        let mut counted = CountedQuestions::default();
        // A call and its caller ask one question; one task of a nested graph asks two.
        counted.insert(waiting("a", "1", 2), ids(["q"]));
        counted.insert(waiting("b", "1", 1), ids(["q", "r"]));
        assert_eq!((counted.questions, counted.tasks), (3, 3));
        let place = |thread: &str| (thread.to_owned(), "1".to_owned());
        let answered = HashMap::from([(place("b"), ids(["r", "of another"])), (place("c"), ids(["q"]))]);
        assert_eq!(counted.without(&answered), 2);
        counted.insert(waiting("a", "1", 2), ids(["q", "s"]));
        assert_eq!((counted.questions, counted.tasks), (4, 3));

        let unknown = counted.keep_only(vec![
            waiting("a", "1", 3),
            waiting("b", "1", 1),
            waiting("c", "1", 1),
        ]);
        assert_eq!(unknown, [waiting("a", "1", 3), waiting("c", "1", 1)]);
        assert_eq!((counted.questions, counted.tasks), (2, 1));
        counted.forget(&"b".into());
        assert_eq!((counted.questions, counted.tasks), (0, 0));
    }
}
