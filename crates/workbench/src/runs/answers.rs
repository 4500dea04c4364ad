//! Whether a question still waits for the answer that a run is to begin with.

use std::collections::BTreeMap;

use superstep::{CheckpointId, Interrupt};

use crate::Workbench;
use crate::base::problem::already_answered;
use crate::session::{self, Answers};
use crate::wire::{Json, Problem, RunAction};
use superstep_document::text;

fn by_id(answers: &BTreeMap<String, Json>) -> Answers<'_> {
    Answers::ById(answers.keys().map(String::as_str).collect())
}

impl Workbench {
    /// Refuses to go on without an answer where one was given meanwhile, or where there is time left.
    pub(super) async fn still_passes(
        &self,
        thread_id: &str,
        checkpoint: &CheckpointId,
    ) -> Result<(), Problem> {
        let waiting = session::waiting_at(&*self.saver(), &thread_id.into(), checkpoint).await?;
        let mut is_held = false;
        for question in &waiting {
            is_held |= self
                .ledger
                .is_held(thread_id, checkpoint.as_str(), question.id.as_str())?;
        }
        if session::has_passed(&waiting) && !is_held {
            return Ok(());
        }
        Err(already_answered(text!(
            "The question does not wait any more, or not yet for long enough."
        )))
    }

    /// Returns the problem of an answer to a busy thread when the question itself keeps the thread busy.
    pub(super) async fn too_late(
        &self,
        thread_id: &str,
        action: &RunAction,
    ) -> Result<Option<Problem>, Problem> {
        let RunAction::Resume {
            answers,
            checkpoint_id,
        } = action
        else {
            return Ok(None);
        };
        let answering = self.runs.answering(thread_id);
        let mut late = answers.keys().any(|id| answering.contains(id));
        if let (false, Some(checkpoint)) = (late, checkpoint_id) {
            let checkpoint = checkpoint.as_str().into();
            let waiting = session::waiting_at(&*self.saver(), &thread_id.into(), &checkpoint).await?;
            late = by_id(answers).unknown(&waiting).is_some();
        }
        Ok(late.then(|| already_answered(text!("Somebody else has just answered this question."))))
    }

    /// Refuses answers to questions that do not wait, and of a person who was not asked; returns the checkpoint that asks.
    pub(crate) async fn waiting_for(
        &self,
        thread_id: &str,
        checkpoint: Option<&CheckpointId>,
        answers: &BTreeMap<String, Json>,
    ) -> Result<CheckpointId, Problem> {
        if answers.is_empty() {
            return Err(Problem::invalid(text!("There is no answer in the request."))
                .remedy(text!("Answer at least one question.")));
        }
        let gone = || {
            already_answered(text!(
                "The question does not wait any more: it was answered or withdrawn, or the thread went on without it."
            ))
        };
        let at = match checkpoint {
            Some(checkpoint) => checkpoint.clone(),
            None => {
                let newest = self.heads(thread_id, None, Some(1)).await?.into_iter().next();
                newest.ok_or_else(gone)?.id
            }
        };
        let waiting = session::waiting_at(&*self.saver(), &thread_id.into(), &at).await?;
        for id in answers.keys() {
            if self.ledger.is_held(thread_id, at.as_str(), id)? {
                return Err(already_answered(text!(
                    "Somebody else has just answered this question."
                )));
            }
        }
        let answers = by_id(answers);
        let me = self.preferences.settings().name;
        let handed = self.delegations(&[thread_id])?;
        let is_handed_to_me = |question: &Interrupt| {
            let place = (at.to_string(), question.id.to_string());
            let delegation = handed.get(&place).zip(me.as_deref());
            delegation.is_some_and(|(delegation, me)| delegation.names(me))
        };
        let of_others: Vec<Interrupt> = waiting
            .iter()
            .filter(|question| !is_handed_to_me(question))
            .cloned()
            .collect();
        if let Some(message) = session::not_asked(&of_others, &answers, me.as_deref()) {
            return Err(Problem::new("not-asked", message).remedy(text!(
                "Let one of them answer, or say in the settings who you are."
            )));
        }
        match answers.unknown(&waiting) {
            None => Ok(at),
            Some(_) => Err(gone()),
        }
    }
}
