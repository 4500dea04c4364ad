//! Questions that wait for a person, of all threads.

use std::sync::Arc;

use superstep::{
    Interrupt, InterruptId, Object, StateRef, TaskSnapshot, ThreadQuery, ThreadStatus, ThreadSummary, Value,
    reserved,
};

use crate::Workbench;
use crate::documents::blocking;
use crate::files;
use crate::ledger::ThreadRow;
use crate::lineage::Lineage;
use crate::threads::{no_thread, problem};
use crate::wire::{
    AppEvent, Asked, Changes, CheckpointRef, Choice, Compare, Empty, Inbox, InterruptView, Json, ListInbox,
    Problem, Question, ThreadRef, WithdrawQuestion,
};

pub(crate) fn interrupt_view(interrupt: &Interrupt) -> InterruptView {
    InterruptView {
        id: interrupt.id.to_string(),
        value: (&interrupt.value).into(),
    }
}

/// What is asked, from the value that a node gave: the fields of the `ask` kind, or any other value as text.
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

impl Workbench {
    pub(crate) async fn inbox_list(self: &Arc<Self>, _: ListInbox) -> Result<Inbox, Problem> {
        let summaries = self.asking().await?;
        let ids: Vec<&str> = summaries.iter().map(|summary| summary.thread.as_str()).collect();
        let (mut rows, runs) = (self.ledger.threads(&ids)?, self.ledger.last_runs(&ids)?);
        let mut questions = Vec::new();
        for summary in &summaries {
            let id = summary.thread.as_str();
            let answered = self.runs.answering(id);
            if !rows.contains_key(id) {
                rows.insert(id.to_owned(), self.adopt(summary).await?);
            }
            let view = self.thread_view(summary, rows.get(id), runs.get(id))?;
            let since = runs
                .get(id)
                .and_then(|run| run.ended_at.clone())
                .unwrap_or_else(|| summary.head.ts.clone());
            for (node, interrupt) in self.waiting(summary, rows.get(id)).await? {
                if answered.iter().any(|id| id == interrupt.id.as_str()) {
                    continue;
                }
                questions.push(Question {
                    interrupt_id: interrupt.id.to_string(),
                    thread_id: id.to_owned(),
                    thread_title: view.title.clone(),
                    graph_name: view.graph_name.clone(),
                    graph_path: view.graph_path.clone(),
                    node,
                    asked: asked(&interrupt.value),
                    checkpoint_id: summary.head.id.to_string(),
                    branch: None,
                    since: since.clone(),
                });
            }
        }
        questions.sort_by(|a, b| (&a.since, &a.interrupt_id).cmp(&(&b.since, &b.interrupt_id)));
        Ok(Inbox {
            waiting: u32::try_from(questions.len()).unwrap_or(u32::MAX),
            questions,
            next: None,
        })
    }

    pub(crate) async fn question_withdraw(
        self: &Arc<Self>,
        request: WithdrawQuestion,
    ) -> Result<Empty, Problem> {
        let _slot = self.reserve(&request.thread_id)?;
        let mut note: Object = [("at", Value::from(files::now()))].into_iter().collect();
        if let Some(name) = self.preferences.settings().name {
            note.insert("by", name.as_str());
        }
        if let Some(why) = &request.why {
            note.insert("why", why.as_str());
        }
        let withdrawn = superstep::withdraw(
            &*self.saver(),
            &request.thread_id.as_str().into(),
            &request.checkpoint_id.as_str().into(),
            Some(&InterruptId::new(request.interrupt_id.as_str())),
            note,
        )
        .await
        .map_err(|e| problem(&e.into()))?;
        if withdrawn == 0 {
            return Err(Problem::new(
                "already-answered",
                "The question does not wait any more: it was answered or withdrawn.",
            )
            .remedy("Look at the inbox again."));
        }
        self.publish_thread(&request.thread_id).await;
        self.publish_inbox().await;
        Ok(Empty {})
    }

    /// What changed in a thread since somebody last had a hand in it, which is since its last run began: with an input,
    /// an answer, or after an edit.
    pub(crate) async fn inbox_changes(self: &Arc<Self>, request: ThreadRef) -> Result<Changes, Problem> {
        let id = request.thread_id.as_str();
        let head = self.heads(id, None, Some(1)).await?.into_iter().next();
        let head = head.ok_or_else(|| no_thread(id))?;
        let runs = self.ledger.last_runs(&[id])?;
        let Some(run) = runs.get(id) else {
            return Ok(Changes::default());
        };
        let mut lineage = Lineage::from(self, id, [head.clone()]);
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
                    right: side(None),
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

    /// The threads that wait for an answer.
    async fn asking(&self) -> Result<Vec<ThreadSummary>, Problem> {
        let query = ThreadQuery {
            status: Some(ThreadStatus::Interrupted),
            ..ThreadQuery::default()
        };
        self.saver().threads(&query).await.map_err(|e| problem(&e.into()))
    }

    /// The questions of a thread with the nodes that ask. Without the thread's graph the stored questions are shown as
    /// they are: a question must not disappear because a file did.
    async fn waiting(
        self: &Arc<Self>,
        summary: &ThreadSummary,
        row: Option<&ThreadRow>,
    ) -> Result<Vec<(String, Interrupt)>, Problem> {
        if let Some(key) = self.graph_key(&summary.head, row) {
            let this = self.clone();
            if let Some(built) = blocking(move || this.build_to_read(&key)).await? {
                match built
                    .graph
                    .get_state(&StateRef::live(summary.thread.as_str()))
                    .await
                {
                    Ok(state) => {
                        let of_task = |task: &TaskSnapshot| {
                            let node = task.name.to_string();
                            task.interrupts
                                .iter()
                                .map(move |i| (node.clone(), i.clone()))
                                .collect::<Vec<_>>()
                        };
                        return Ok(state.tasks.iter().flat_map(of_task).collect());
                    }
                    Err(error) => {
                        tracing::warn!(thread = %summary.thread, %error, "its state could not be read")
                    }
                }
            }
        }
        let tuple = self
            .saver()
            .get(&summary.thread, "", None)
            .await
            .map_err(|e| problem(&e.into()))?;
        let writes = tuple.map(|tuple| tuple.pending_writes).unwrap_or_default();
        let control = |channel: &str| {
            matches!(
                channel,
                reserved::ERROR | reserved::ERROR_SOURCE | reserved::INTERRUPT | reserved::RESUME
            )
        };
        let mut found = Vec::new();
        for asked in writes
            .iter()
            .filter(|write| &*write.write.channel == reserved::INTERRUPT)
        {
            let finished =
                |w: &superstep::PendingWrite| w.task_id == asked.task_id && !control(&w.write.channel);
            if writes.iter().any(finished) {
                continue;
            }
            let node = asked.task_path.rsplit(", ").next().unwrap_or_default();
            let interrupts = asked.write.value.as_array();
            for interrupt in interrupts
                .iter()
                .flat_map(|list| list.iter())
                .filter_map(Interrupt::from_json)
            {
                found.push((node.to_owned(), interrupt));
            }
        }
        Ok(found)
    }

    /// Tells every interface how many questions wait.
    pub(crate) async fn publish_inbox(&self) {
        match self.asking().await {
            Ok(threads) => {
                let waiting = threads.iter().map(|thread| thread.head.interrupted).sum();
                self.hub.publish(AppEvent::Inbox { waiting });
                self.deadlines.changed();
            }
            Err(problem) => tracing::warn!(%problem, "the waiting questions could not be counted"),
        }
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
