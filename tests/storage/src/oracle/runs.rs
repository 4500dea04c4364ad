//! What must not have happened in the runs of a thread: an act done twice unasked, an answer that was lost, a commit of a
//! run whose thread another has taken over.

use std::collections::{BTreeMap, BTreeSet};

use crate::witness::Fact;

/// The acts of one case.
#[derive(Clone, Debug, Default)]
struct Acts {
    done: BTreeSet<u64>,
    /// False once what is known of them may be gone: the past was pruned, or their run stored nothing before its end.
    sure: bool,
    /// A person answered that they were done.
    vouched: bool,
}

/// An answer to a question.
#[derive(Clone, Debug, Default)]
struct Answer {
    task: String,
    begun: BTreeSet<String>,
    known: Option<String>,
}

/// Knowledge about the runs of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    acts: BTreeMap<u64, Acts>,
    /// The run may do effects again.
    again: bool,
    /// The run stores nothing before its end.
    exit: bool,
    answers: BTreeMap<String, Answer>,
    /// Claim of the run that has the thread, where that is known.
    owner: Option<String>,
    /// Claims that were taken over.
    lost: BTreeSet<String>,
    /// The thread was taken over since its run began. The run that lost it goes on until its next commit is refused.
    taken_over: bool,
    /// Commits that were begun: the owner at that time.
    showing: BTreeMap<u64, Option<String>>,
}

impl Runs {
    /// Adds a fact; the error says what should not have happened. `prunes` while the past of the thread is being pruned.
    pub(super) fn take(&mut self, fact: Fact, prunes: bool) -> Result<(), String> {
        match fact {
            Fact::Begins { again, exit } => {
                (self.again, self.exit, self.taken_over) = (again, exit, false);
            }
            Fact::Acted { case, act } => return self.act(case, act, prunes),
            Fact::Vouched { case } => self.acts.entry(case).or_default().vouched = true,
            Fact::Turned { case, paid } => return self.turn(case, paid),
            Fact::Asks { id } => return self.ask(&id),
            Fact::Answering { id, task, answer } => {
                let known = self.answers.entry(id).or_default();
                known.task = task;
                known.begun.insert(answer);
            }
            Fact::Answered { id, answer } => self.answers.entry(id).or_default().known = Some(answer),
            Fact::Received { task, answer } => return self.answered(&task, &answer),
            Fact::Showing { commit } => drop(self.showing.insert(commit, self.owner.clone())),
            Fact::Shown { commit, claim, takes } => return self.shown(commit, claim, takes),
            Fact::Stopped | Fact::Replayed | Fact::Superseded => {}
        }
        Ok(())
    }

    fn act(&mut self, case: u64, act: u64, prunes: bool) -> Result<(), String> {
        let acts = self.acts.entry(case).or_default();
        if acts.sure && !acts.done.is_empty() && !self.again {
            return Err(format!(
                "the act of case {case} was done again, and nobody asked for it"
            ));
        }
        acts.done.insert(act);
        acts.sure = !self.exit && !prunes;
        Ok(())
    }

    /// Returns whether a run may be at work that has lost the thread and does not know it yet.
    pub(super) fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// Marks acts as possibly forgotten, because the past is pruned.
    pub(super) fn forget_acts(&mut self) {
        self.acts.values_mut().for_each(|acts| acts.sure = false);
    }

    /// Checks that the state with which a turn ended names an act of its case, or none (0).
    fn turn(&self, case: u64, paid: u64) -> Result<(), String> {
        let acts = self.acts.get(&case).filter(|acts| !acts.done.is_empty());
        let acts = acts.ok_or_else(|| format!("the act of case {case} was never done"))?;
        match acts.done.contains(&paid) || (paid == 0 && acts.vouched) {
            true => Ok(()),
            false => Err(format!(
                "the state of case {case} names act {paid}, not one of {:?}",
                acts.done
            )),
        }
    }

    fn ask(&self, id: &str) -> Result<(), String> {
        match self.answers.get(id).and_then(|answer| answer.known.as_ref()) {
            Some(known) => Err(format!("question {id} waits although {known:?} was acknowledged")),
            None => Ok(()),
        }
    }

    fn answered(&self, task: &str, answer: &str) -> Result<(), String> {
        let given = self.answers.values().find(|given| given.task == task);
        let fits = given.is_some_and(|given| match &given.known {
            Some(known) => known == answer,
            None => given.begun.contains(answer),
        });
        match fits {
            true => Ok(()),
            false => Err(format!(
                "task {task} was given {answer:?}, and it was answered {given:?}"
            )),
        }
    }

    /// Records that a commit with a claim was acknowledged. A commit that was begun after another run had taken the
    /// thread over must not be.
    fn shown(&mut self, commit: u64, claim: String, takes: bool) -> Result<(), String> {
        let Some(before) = self.showing.remove(&commit) else {
            return Ok(());
        };
        let is_lost = self.lost.contains(&claim);
        if is_lost && before.as_ref().is_some_and(|owner| *owner != claim) {
            return Err(format!(
                "a commit with claim {claim} was stored although another run has the thread"
            ));
        }
        if takes && !is_lost && self.owner.as_ref() != Some(&claim) {
            self.taken_over |= self.owner.is_some() || before.is_some();
            if before == self.owner {
                self.lost.extend(self.owner.take());
                self.owner = Some(claim);
            } else {
                // Two took it at about the same time, and the journal does not say which was first.
                self.owner = None;
            }
        }
        Ok(())
    }

    /// Records that the process of the runs has ended, and its commits and runs with it.
    pub(super) fn end(&mut self) {
        self.showing.clear();
        self.lost.clear();
        (self.owner, self.again, self.exit, self.taken_over) = (None, false, false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(facts: impl IntoIterator<Item = Fact>) -> Runs {
        let mut runs = Runs::default();
        let fits = facts.into_iter().try_for_each(|fact| runs.take(fact, false));
        fits.expect("nothing is wrong yet");
        runs
    }

    fn wrong(runs: &Runs, fact: Fact) -> String {
        runs.clone().take(fact, false).expect_err("it must not be")
    }

    #[test]
    fn an_act_is_done_twice_only_when_somebody_asks_for_it() {
        let again = || Fact::Acted { case: 1, act: 11 };
        let turned = |case, paid| Fact::Turned { case, paid };
        let mut runs = after([Fact::Acted { case: 1, act: 10 }]);
        assert!(wrong(&runs, again()).contains("done again"));
        let mut asked = runs.clone();
        let begins = Fact::Begins {
            again: true,
            exit: false,
        };
        asked.take(begins, false).expect("a run begins");
        asked.take(again(), false).expect("it was asked for");
        let mut pruned = runs.clone();
        pruned.forget_acts();
        pruned.take(again(), false).expect("nobody can know of the first");
        runs.take(turned(1, 10), false).expect("the state names it");
        assert!(wrong(&runs, turned(1, 11)).contains("names act 11"));
        assert!(wrong(&runs, turned(1, 0)).contains("names act 0"));
        assert!(wrong(&runs, turned(2, 0)).contains("never done"));
        runs.take(Fact::Vouched { case: 1 }, false).expect("an answer");
        runs.take(turned(1, 0), false)
            .expect("a person said that it was done");
    }

    #[test]
    fn an_acknowledged_answer_is_the_one_that_counts() {
        let (id, task) = (|| "q".to_owned(), |name: &str| name.to_owned());
        let answering = |answer: &str| Fact::Answering {
            id: id(),
            task: task("t"),
            answer: answer.to_owned(),
        };
        let received = |of: &str, answer: &str| Fact::Received {
            task: task(of),
            answer: answer.to_owned(),
        };
        let mut runs = after([
            answering("a"),
            answering("b"),
            Fact::Asks { id: id() },
            received("t", "a"),
        ]);
        let answer = "b".to_owned();
        runs.take(Fact::Answered { id: id(), answer }, false)
            .expect("acknowledged");
        runs.take(received("t", "b"), false).expect("it is this one");
        assert!(wrong(&runs, received("t", "a")).contains("was given"));
        assert!(wrong(&runs, received("u", "b")).contains("was given"));
        assert!(wrong(&runs, Fact::Asks { id: id() }).contains("was acknowledged"));
    }

    #[test]
    fn a_commit_after_a_take_over_is_noticed() {
        let showing = |commit| Fact::Showing { commit };
        let shown = |commit, claim: &str, takes| Fact::Shown {
            commit,
            claim: claim.to_owned(),
            takes,
        };
        let runs = after([
            showing(1),
            shown(1, "a", true),
            // This one was on its way when b took the thread, and may have been stored before.
            showing(2),
            showing(3),
            shown(3, "b", true),
            shown(2, "a", false),
            showing(4),
            showing(5),
            shown(5, "b", false),
        ]);
        let late = wrong(&runs, shown(4, "a", false));
        assert!(late.contains("another run has the thread"), "{late}");
    }
}
