//! Questions of a thread's checkpoints, as they are stored and as answers to them are kept.

use std::collections::{BTreeMap, HashMap};

use superstep::checkpoint::{CheckpointAddress, PendingWrite};
use superstep::{CheckpointId, Interrupt};

use crate::Workbench;
use crate::base::files::{self, now_ms};
use crate::ledger::AnswerRow;
use crate::session::{self, Asking, asked};
use crate::wire::{AnswerState, Delegation, Json, Problem};

/// Bytes of a question that are kept with its answer.
const MAX_TEXT: usize = 2_000;

impl Delegation {
    /// Returns whether a person is among those to whom the question was handed.
    pub(crate) fn names(&self, person: &str) -> bool {
        self.to
            .iter()
            .any(|name| name.trim().eq_ignore_ascii_case(person.trim()))
    }
}

/// Returns answers to questions in the pending writes of a checkpoint as the ledger keeps them, with what is asked: held, and
/// due now.
pub(crate) fn answer_rows(
    pending: &[PendingWrite],
    at: (&str, &str),
    person: Option<&str>,
    instance: &str,
    answer_to: impl Fn(&Interrupt) -> Option<Json>,
) -> Vec<AnswerRow> {
    let row = |Asking { node, question, .. }: Asking| {
        let answer = answer_to(&question)?;
        let mut text = asked(&question.value).text;
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        Some(AnswerRow {
            id: 0,
            thread_id: at.0.to_owned(),
            checkpoint_id: at.1.to_owned(),
            interrupt_id: question.id.to_string(),
            node: node.unwrap_or_default(),
            question: text,
            answer,
            person: person.map(str::to_owned),
            note: None,
            at: files::now(),
            due: now_ms(),
            instance: instance.to_owned(),
            state: AnswerState::Held,
            start: String::new(),
            problem: None,
        })
    };
    session::asking(pending).into_iter().filter_map(row).collect()
}

impl Workbench {
    /// Returns to whom questions of these threads were handed last, by checkpoint and question.
    pub(crate) fn delegations(
        &self,
        thread_ids: &[&str],
    ) -> Result<HashMap<(String, String), Delegation>, Problem> {
        let rows = self.ledger.delegations(thread_ids)?.into_iter();
        let delegations = rows.filter_map(|row| {
            let names = row.answer.as_array()?.iter();
            let to: Vec<String> = names
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect();
            let delegation = Delegation {
                to,
                escalated: row.state == AnswerState::Escalated,
                by: row.person,
                why: row.note,
                at: row.at,
            };
            let place = (row.checkpoint_id, row.interrupt_id);
            (!delegation.to.is_empty()).then_some((place, delegation))
        });
        Ok(delegations.collect())
    }

    /// Reads the pending writes of a checkpoint.
    pub(crate) async fn writes_at(
        &self,
        thread_id: &str,
        checkpoint: &CheckpointId,
    ) -> Result<Vec<PendingWrite>, Problem> {
        let writes = self
            .saver()
            .writes_of(CheckpointAddress::new(thread_id, "", checkpoint.clone()))
            .await;
        Ok(writes?)
    }

    /// Returns answers as the ledger keeps them, with what is asked: held, and due now.
    pub(crate) async fn answers_as_rows(
        &self,
        thread_id: &str,
        checkpoint_id: &str,
        answers: &BTreeMap<String, Json>,
    ) -> Result<Vec<AnswerRow>, Problem> {
        let pending = self.writes_at(thread_id, &checkpoint_id.into()).await?;
        let person = self.preferences.settings().name;
        let at = (thread_id, checkpoint_id);
        Ok(answer_rows(
            &pending,
            at,
            person.as_deref(),
            self.instance.id(),
            |question| answers.get(question.id.as_str()).cloned(),
        ))
    }
}
