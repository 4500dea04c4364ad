//! Handing questions to named people, putting them off, and what their threads cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Workbench;
use crate::base::blocking;
use crate::base::files::now_ms;
use crate::base::problem::already_answered;
use crate::ledger::AnswerRow;
use crate::wire::{
    AnswerState, DelegateQuestions, Empty, Json, Problem, ReadCosts, SnoozeQuestions, ThreadCosts,
};
use superstep_document::text;

impl Workbench {
    pub(crate) async fn question_delegate(
        self: &Arc<Self>,
        request: DelegateQuestions,
    ) -> Result<Empty, Problem> {
        let mut names: Vec<String> = Vec::new();
        for name in request
            .to
            .iter()
            .map(|name| name.trim())
            .filter(|name| !name.is_empty())
        {
            if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                names.push(name.to_owned());
            }
        }
        let state = match request.escalate {
            true => AnswerState::Escalated,
            false => AnswerState::Delegated,
        };
        let why = request
            .why
            .as_deref()
            .map(str::trim)
            .filter(|why| !why.is_empty());
        let mut rows = Vec::with_capacity(request.questions.len());
        for one in &request.questions {
            let handed = BTreeMap::from([(one.interrupt_id.clone(), Json::from(names.clone()))]);
            let checkpoint = one.checkpoint_id.as_str().into();
            // Only who may answer a question may hand it on.
            self.waiting_for(&one.thread_id, Some(&checkpoint), &handed)
                .await?;
            if self.ledger.thread(&one.thread_id)?.is_none()
                && let Some(summary) = self.saver().thread(&one.thread_id.as_str().into()).await?
            {
                self.adopt(&summary).await?;
            }
            let row = self
                .answers_as_rows(&one.thread_id, &one.checkpoint_id, &handed)
                .await?;
            rows.extend(row.into_iter().map(|row| AnswerRow {
                state,
                note: why.map(str::to_owned),
                ..row
            }));
        }
        let this = self.clone();
        if blocking(move || this.ledger.keep_answers(&rows))
            .await??
            .is_none()
        {
            return Err(already_answered(text!(
                "The question is being answered at this moment."
            )));
        }
        self.publish_count();
        Ok(Empty {})
    }

    pub(crate) async fn question_snooze(
        self: &Arc<Self>,
        request: SnoozeQuestions,
    ) -> Result<Empty, Problem> {
        let this = self.clone();
        blocking(move || this.ledger.snooze(&request.questions, request.until, now_ms())).await??;
        self.publish_count();
        Ok(Empty {})
    }

    pub(crate) async fn inbox_costs(self: &Arc<Self>, request: ReadCosts) -> Result<ThreadCosts, Problem> {
        let this = self.clone();
        let costs = blocking(move || {
            let threads: Vec<&str> = request.thread_ids.iter().map(String::as_str).collect();
            this.ledger.costs(&threads)
        });
        Ok(ThreadCosts { costs: costs.await?? })
    }
}
