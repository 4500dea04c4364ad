//! One question that waits for a person: what it says, what changed since, and taking it back.

use std::collections::BTreeMap;
use std::sync::Arc;

use superstep::checkpoint::InterruptId;
use superstep::inspect::Lineage;
use superstep::{ThreadId, Value};

use crate::Workbench;
use crate::base::problem::no_thread;
use crate::session::{self, Withdrawal};
use crate::wire::{
    Asked, Changes, CheckpointRef, Choice, Compare, Empty, Json, Problem, ReadChanges, WithdrawQuestion,
};
use superstep_document::{Text, text};

/// Parses what is asked from the value that a node gave: the fields of the `ask` kind, or any other value as text.
pub(crate) fn asked(value: &Value) -> Asked {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let nothing = || Json::Object(serde_json::Map::new());
    let Some(question) = text("question") else {
        let shown = match value {
            Value::String(text) => text.to_string(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        return Asked {
            text: shown,
            schema: None,
            choices: Vec::new(),
            context: nothing(),
            refused: None,
            value: value.into(),
        };
    };
    let choices = value.get("choices").and_then(Value::as_array);
    let choices = choices
        .iter()
        .flat_map(|choices| choices.iter())
        .filter_map(|choice| {
            let value = choice.get("value")?;
            let shown = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(Choice {
                label: choice
                    .get("label")
                    .and_then(Value::as_str)
                    .map_or_else(shown, str::to_owned),
                value: value.into(),
                description: choice
                    .get("description")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            })
        })
        .collect();
    let schema = value.get("schema").filter(|schema| !schema.is_null());
    let context = value
        .get("context")
        .filter(|context| context.as_object().is_some());
    Asked {
        text: question,
        schema: schema.map(Into::into),
        choices,
        context: context.map_or_else(nothing, Into::into),
        refused: text("refused"),
        value: value.into(),
    }
}

/// Creates the problem that somebody else answered first.
pub(crate) fn already_answered(message: Text) -> Problem {
    Problem::new("already-answered", message).remedy(text!("Look at the inbox again."))
}

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

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn any_value_can_be_a_question() {
        let question = asked(&json!({
            "question": "Pay?", "schema": {"type": "string"},
            "choices": [{"label": "Yes", "value": true}, {"value": {"a": 1}}, "odd"],
            "context": {"amount": 3}, "refused": "too short"
        }));
        assert_eq!(question.text, "Pay?");
        assert_eq!(question.schema.unwrap()["type"], "string");
        let choices = question.choices;
        assert_eq!(
            choices.iter().map(|c| c.label.as_str()).collect::<Vec<_>>(),
            ["Yes", "{\"a\":1}"]
        );
        assert_eq!(
            (question.context["amount"].as_i64(), question.refused.as_deref()),
            (Some(3), Some("too short"))
        );
        assert_eq!(asked(&json!("really?")).text, "really?");
        assert_eq!(asked(&json!(["a", 1])).text, "[\n  \"a\",\n  1\n]");
    }
}
