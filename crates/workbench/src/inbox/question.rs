//! One question that waits for a person: what it says, what changed since, and taking it back.

use std::collections::BTreeMap;
use std::sync::Arc;

use superstep::ThreadId;
use superstep::checkpoint::InterruptId;
use superstep::inspect::Lineage;

use crate::Workbench;
use crate::base::problem::{already_answered, no_thread};
use crate::session::{self, Withdrawal};
use crate::wire::{Changes, CheckpointRef, Compare, Empty, Json, Problem, ReadChanges, WithdrawQuestion};
use superstep_document::text;

impl Workbench {
    pub(crate) async fn question_withdraw(
        self: &Arc<Self>,
        request: WithdrawQuestion,
    ) -> Result<Empty, Problem> {
        let being_answered = |answering: Vec<String>| answering.contains(&request.interrupt_id);
        if being_answered(self.runs.answering(&request.thread_id)) {
            return Err(already_answered(text!(
                "The question is being answered at this moment."
            )));
        }
        let (thread_id, checkpoint_id) = (&request.thread_id, &request.checkpoint_id);
        if self
            .ledger
            .is_held(thread_id, checkpoint_id, &request.interrupt_id)?
        {
            return Err(already_answered(text!(
                "The question is being answered at this moment."
            )));
        }
        let _slot = self.reserve_claimed(&request.thread_id, Vec::new())?;
        let me = self.preferences.settings().name;
        let withdrawal = Withdrawal {
            thread: &request.thread_id.as_str().into(),
            checkpoint: &request.checkpoint_id.as_str().into(),
            question: &InterruptId::new(request.interrupt_id.as_str()),
            by: me.as_deref(),
            why: request.why.as_deref(),
        };
        let nobody = BTreeMap::from([(request.interrupt_id.clone(), Json::Null)]);
        let row = self
            .answers_as_rows(thread_id, checkpoint_id, &nobody)
            .await?
            .pop();
        let claim = self.claim(&request.thread_id, request.take_over).await;
        let withdrawn = withdrawal.apply(&*self.saver(), &claim).await?;
        if !withdrawn {
            return Err(already_answered(text!(
                "The question does not wait any more: it was answered or withdrawn."
            )));
        }
        if let Some(row) = row {
            self.note_withdrawn(row, &request);
        }
        self.publish_thread(&request.thread_id).await;
        self.publish_inbox(Some(&request.thread_id));
        Ok(Empty {})
    }

    /// Returns what changed in a thread since somebody was last involved, which is since its last run began: with an
    /// input, an answer, or after an edit. At the end of another branch it is the run that led there.
    pub(crate) async fn inbox_changes(self: &Arc<Self>, request: ReadChanges) -> Result<Changes, Problem> {
        let id = request.thread_id.as_str();
        let newest = self.heads(id, None, Some(1)).await?.into_iter().next();
        let newest = newest.ok_or_else(|| no_thread(id))?;
        let (head, of_branch) = match request.checkpoint_id.as_deref() {
            Some(checkpoint) if checkpoint != newest.id.as_str() => {
                let head = self.head(id, checkpoint).await?;
                let led = match session::run_id(&head) {
                    Some(run_id) => self.ledger.run(run_id)?,
                    None => None,
                };
                (head, Some(led))
            }
            _ => (newest, None),
        };
        let right = of_branch.is_some().then(|| head.id.to_string());
        let run = match of_branch {
            Some(led) => led,
            None => self.ledger.last_runs(&[id])?.remove(id),
        };
        let Some(run) = run else {
            return Ok(Changes::default());
        };
        let (saver, thread) = (self.saver(), ThreadId::from(id));
        let mut lineage = Lineage::from(&*saver, &thread, [head.clone()]);
        let mut at = Some(head.id);
        while let Some(checkpoint) = at {
            let Some(found) = lineage.get(&checkpoint).await? else {
                break;
            };
            if found.ts < run.started_at {
                let side = |checkpoint_id| CheckpointRef {
                    thread_id: id.to_owned(),
                    checkpoint_id,
                };
                let compare = Compare {
                    left: side(Some(checkpoint.to_string())),
                    right: side(right),
                };
                return Ok(Changes {
                    since: Some(run.started_at.clone()),
                    comparison: Some(self.thread_compare(compare).await?),
                });
            }
            at = found.parent.clone();
        }
        Ok(Changes::default())
    }
}
