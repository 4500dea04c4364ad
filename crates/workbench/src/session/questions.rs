//! Questions in the writes of a checkpoint, and answers to them.

use std::collections::HashSet;

use superstep::checkpoint::{
    CheckpointAddress, ClaimRequest, InterruptId, PendingWrite, StorageError, TaskId, Waiting,
};
use superstep::inspect::waiting_questions;
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Interrupt, ThreadId, Value};
use superstep_nodes::kinds::ask;

use crate::base::files;

/// A question with the task that asks it.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The task.
    pub task_id: TaskId,
    /// Its node; `None` when only the graph knows, as of a node that was sent a packet.
    pub node: Option<String>,
    /// What it asks.
    pub question: Interrupt,
}

/// Returns the node whose task has this path; `None` when only the graph knows.
pub fn node_of(path: &str) -> Option<&str> {
    path.strip_prefix("~__pregel_pull, ")
}

/// Returns the questions in the pending writes of a checkpoint, each once, with the tasks that ask.
pub fn asking(pending: &[PendingWrite]) -> Vec<Asking> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (write, questions) in waiting_questions(pending) {
        for question in questions {
            // What is asked in a call is asked by its caller, too.
            if seen.insert(question.id.clone()) {
                found.push(Asking {
                    task_id: write.task_id.clone(),
                    node: node_of(&write.task_path).map(str::to_owned),
                    question,
                });
            }
        }
    }
    found
}

/// Returns the questions in the pending writes of a checkpoint.
pub fn waiting(pending: &[PendingWrite]) -> Vec<Interrupt> {
    asking(pending)
        .into_iter()
        .map(|asking| asking.question)
        .collect()
}

/// Reads the questions that wait at a checkpoint.
pub async fn waiting_at(
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    checkpoint: &CheckpointId,
) -> Result<Vec<Interrupt>, StorageError> {
    let of = CheckpointAddress::new(thread.clone(), "", checkpoint.clone());
    Ok(waiting(&saver.writes_of(of).await?))
}

/// Checkpoints whose writes are read at once.
const AT_ONCE: usize = 256;

/// Reads the questions that wait at each of these checkpoints, each once.
pub async fn questions_at(
    saver: &dyn Checkpointer,
    places: &[Waiting],
) -> Result<Vec<Vec<Interrupt>>, StorageError> {
    let mut found = Vec::with_capacity(places.len());
    for page in places.chunks(AT_ONCE) {
        let of = |one: &Waiting| CheckpointAddress::new(one.thread.clone(), "", one.checkpoint.clone());
        let writes = saver.writes(&page.iter().map(of).collect::<Vec<_>>()).await?;
        found.extend(writes.iter().map(|pending| waiting(pending)));
    }
    Ok(found)
}

/// The questions that a request answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers<'a> {
    /// The one that waits, by one answer.
    Any,
    /// These, by their ids.
    ById(Vec<&'a str>),
}

impl<'a> Answers<'a> {
    /// Determines the questions that a value answers: an object whose names are all ids of questions has an answer for
    /// each of them, and anything else is one answer.
    pub fn of(answer: &'a Value) -> Self {
        let is_id = |name: &str| name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit());
        match answer.as_object() {
            Some(answers) if !answers.is_empty() && answers.keys().all(|name| is_id(name)) => {
                Self::ById(answers.keys().map(|name| &**name).collect())
            }
            _ => Self::Any,
        }
    }

    /// Returns whether the question is answered.
    pub fn includes(&self, question: &Interrupt) -> bool {
        match self {
            Self::Any => true,
            Self::ById(ids) => ids.contains(&question.id.as_str()),
        }
    }

    /// Returns the first id that belongs to none of these questions.
    pub fn unknown(&self, waiting: &[Interrupt]) -> Option<&'a str> {
        let is_unknown = |id: &&&str| !waiting.iter().any(|question| question.id.as_str() == **id);
        match self {
            Self::Any => None,
            Self::ById(ids) => ids.iter().find(is_unknown).copied(),
        }
    }
}

/// Returns the reason why this person may not give the answers: one of the questions is for others.
pub fn not_asked(waiting: &[Interrupt], answers: &Answers<'_>, person: Option<&str>) -> Option<String> {
    waiting
        .iter()
        .filter(|question| answers.includes(question))
        .find_map(|question| ask::not_asked(&question.value, person))
}

/// A question that is taken back.
#[derive(Clone, Copy, Debug)]
pub struct Withdrawal<'a> {
    /// The thread.
    pub thread: &'a ThreadId,
    /// The checkpoint that asks.
    pub checkpoint: &'a CheckpointId,
    /// The question.
    pub question: &'a InterruptId,
    /// Who takes it back.
    pub by: Option<&'a str>,
    /// Why.
    pub why: Option<&'a str>,
}

impl Withdrawal<'_> {
    /// Takes the question back; false when it does not wait any more.
    pub async fn apply(self, saver: &dyn Checkpointer, claim: &ClaimRequest) -> Result<bool, StorageError> {
        let mut note: Object = [("at", files::now())].into_iter().collect();
        if let Some(name) = self.by {
            note.insert("by", name);
        }
        if let Some(why) = self.why {
            note.insert("why", why);
        }
        let withdrawn = superstep::inspect::withdraw(
            saver,
            self.thread,
            self.checkpoint,
            Some(self.question),
            note,
            Some(claim),
        )
        .await?;
        Ok(withdrawn > 0)
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    const ONE: &str = "0123456789abcdef0123456789abcdef";
    const TWO: &str = "ffffffffffffffffffffffffffffffff";

    fn asks(id: &str, value: Value) -> Interrupt {
        Interrupt::from_json(&json!({"value": value, "id": id})).unwrap()
    }

    #[test]
    fn an_object_of_ids_answers_each_and_anything_else_is_one_answer() {
        let by_id = json!({ONE: true, TWO: "no"});
        assert_eq!(Answers::of(&by_id), Answers::ById(vec![ONE, TWO]));
        for one in [
            json!({}),
            json!(true),
            json!({"ok": true}),
            json!({ONE: true, "ok": 1}),
        ] {
            assert_eq!(Answers::of(&one), Answers::Any, "{one}");
        }
    }

    #[test]
    fn an_answer_to_what_does_not_wait_is_found() {
        let waiting = [asks(ONE, json!("really?"))];
        assert_eq!(Answers::ById(vec![ONE]).unknown(&waiting), None);
        assert_eq!(Answers::ById(vec![ONE, TWO]).unknown(&waiting), Some(TWO));
        assert_eq!(Answers::Any.unknown(&[]), None);
    }

    #[test]
    fn only_questions_that_are_answered_have_to_be_for_the_person() {
        let waiting = [
            asks(ONE, json!({"question": "Pay?", "who": ["Ada"]})),
            asks(TWO, json!({"question": "Ship?"})),
        ];
        assert!(not_asked(&waiting, &Answers::ById(vec![TWO]), Some("Bob")).is_none());
        assert!(not_asked(&waiting, &Answers::ById(vec![ONE]), Some("Ada")).is_none());
        let refused = not_asked(&waiting, &Answers::Any, Some("Bob"));
        assert!(refused.is_some_and(|message| message.contains("Ada")));
    }
}
