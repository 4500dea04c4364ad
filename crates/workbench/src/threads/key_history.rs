//! The steps that wrote a key on the way to a checkpoint, the newest first, and the first of them at which a condition
//! over its value held. Which steps wrote comes from the checkpoints' heads; only the values of those steps are read.

use std::collections::HashMap;
use std::sync::Arc;

use superstep::checkpoint::{CheckpointHead, Source};
use superstep::inspect::Lineage;
use superstep::{CheckpointId, ThreadId, Value};
use superstep_document::escape_pointer;
use superstep_nodes::expression::{Expression, Scope};

use crate::Workbench;
use crate::base::values;
use crate::documents::graphs::Built;
use crate::threads::{checkpoint_view, snapshot};
use crate::wire::{CheckpointView, KeyHistory, KeyWrite, Problem, ReadKeyHistory, ReadValue};

/// Checkpoints that are looked through, from the one that is shown back.
const MAX_LOOKED: usize = 50_000;
/// Writes of an answer: by default, and at most.
const PAGE: u32 = 100;
const MAX_PAGE: u32 = 500;

/// A step that wrote the key, with the step before it.
struct WritingStep<'a> {
    head: &'a CheckpointHead,
    view: CheckpointView,
    parent: Option<&'a CheckpointHead>,
}

impl Workbench {
    pub(crate) async fn thread_key_history(
        self: &Arc<Self>,
        request: ReadKeyHistory,
    ) -> Result<KeyHistory, Problem> {
        let condition = match request.first_where.as_deref() {
            Some(source) => Some(
                Expression::compile(source, "First where")
                    .map_err(|error| Problem::invalid(error.to_string()))?,
            ),
            None => None,
        };
        let thread_id = request.thread_id.as_str();
        let newest = match &request.checkpoint_id {
            Some(id) => Some(self.head(thread_id, id).await?),
            None => self.heads(thread_id, None, Some(1)).await?.into_iter().next(),
        };
        let Some(newest) = newest else {
            // Known, but nothing is stored yet.
            self.thread(thread_id).await?;
            return Ok(KeyHistory::default());
        };
        let (saver, thread) = (self.saver(), ThreadId::from(thread_id));
        let mut lineage = Lineage::from(&*saver, &thread, [newest.clone()]);
        let (older, longer) = lineage.line(&newest, MAX_LOOKED).await?;
        let line: Vec<&CheckpointHead> = std::iter::once(&newest).chain(&older).collect();
        let written: Vec<WritingStep> = line
            .iter()
            .enumerate()
            .filter_map(|(at, head)| {
                let view = checkpoint_view(head);
                view.updated.contains(&request.key).then(|| WritingStep {
                    head,
                    view,
                    parent: line.get(at + 1).copied(),
                })
            })
            .collect();

        let mut reader = KeyReader {
            workbench: self,
            built: self.reading_graph(thread_id).await?,
            thread_id,
            key: &request.key,
            read: HashMap::new(),
        };
        let first = match condition {
            Some(condition) => reader.first(&written, &condition).await?,
            None => None,
        };
        let limit = if request.limit == 0 {
            PAGE
        } else {
            request.limit.min(MAX_PAGE)
        };
        let before = request.before.as_deref();
        let mut writes = Vec::new();
        let mut more = longer;
        for one in &written {
            if before.is_some_and(|before| one.head.id.as_str() >= before) {
                continue;
            }
            if writes.len() == limit as usize {
                more = true;
                break;
            }
            writes.push(reader.write(one).await?);
        }
        Ok(KeyHistory {
            total: u32::try_from(written.len()).unwrap_or(u32::MAX),
            writes,
            more,
            first,
        })
    }
}

/// Reader of the key's values, each read at most once: what a step found is what the step before it left.
struct KeyReader<'a> {
    workbench: &'a Arc<Workbench>,
    built: Option<Arc<Built>>,
    thread_id: &'a str,
    key: &'a str,
    read: HashMap<CheckpointId, Option<Value>>,
}

impl KeyReader<'_> {
    async fn value(&mut self, id: &CheckpointId) -> Result<Option<Value>, Problem> {
        if let Some(known) = self.read.get(id) {
            return Ok(known.clone());
        }
        let pointer = format!("/{}", escape_pointer(self.key));
        let alone = ReadValue {
            thread_id: self.thread_id.to_owned(),
            checkpoint_id: Some(id.to_string()),
            pointer,
            offset: 0,
            limit: 0,
        };
        let state = match self.workbench.key_alone(&alone).await? {
            Some(state) => state,
            None => {
                let built = self.built.as_ref();
                let shown = self.workbench.shown(built, self.thread_id, Some(id.as_str()));
                shown.await?.values
            }
        };
        let value = state.get(self.key).cloned();
        self.read.insert(id.clone(), value.clone());
        Ok(value)
    }

    /// Returns the nodes that wrote the key in a step.
    async fn writers(&self, one: &WritingStep<'_>) -> Result<Vec<String>, Problem> {
        if one.head.metadata.source != Source::Loop {
            return Ok(one.view.as_node.iter().cloned().collect());
        }
        let Some(parent) = one.parent else {
            return Ok(Vec::new());
        };
        let mut ran: Vec<String> = parent.next.iter().map(ToString::to_string).collect();
        ran.sort();
        ran.dedup();
        if ran.len() > 1 {
            // Several nodes ran; what each gave back says which of them wrote.
            let built = self.built.as_ref();
            let at = self
                .workbench
                .shown(built, self.thread_id, Some(parent.id.as_str()));
            let wrote = snapshot::writers(&at.await?.tasks, self.key);
            if !wrote.is_empty() {
                return Ok(wrote);
            }
        }
        Ok(ran)
    }

    async fn write(&mut self, one: &WritingStep<'_>) -> Result<KeyWrite, Problem> {
        let before = match one.parent {
            Some(parent) => self.value(&parent.id).await?,
            None => None,
        };
        let after = self.value(&one.head.id).await?;
        Ok(KeyWrite {
            checkpoint_id: one.view.id.clone(),
            step: one.view.step,
            at: one.view.at.clone(),
            source: one.view.source.clone(),
            writers: self.writers(one).await?,
            change: snapshot::change(before.as_ref(), after.as_ref()),
            before: before.as_ref().map(values::view),
            after: after.as_ref().map(values::view),
        })
    }

    /// Returns the oldest step after which the condition held. A step at which it cannot be evaluated counts as one at
    /// which it did not hold; if it could never be evaluated, the reason is returned.
    async fn first(
        &mut self,
        written: &[WritingStep<'_>],
        condition: &Expression,
    ) -> Result<Option<KeyWrite>, Problem> {
        let mut wrong = None;
        let mut could = false;
        for one in written.iter().rev() {
            let value = self.value(&one.head.id).await?.unwrap_or(Value::Null);
            let state: Value = [(superstep::Name::from(self.key), value.clone())]
                .into_iter()
                .collect::<superstep::value::Object>()
                .into();
            match condition.truth(&Scope::new(&state).with("value", value)) {
                Ok(true) => return Ok(Some(self.write(one).await?)),
                Ok(false) => could = true,
                Err(error) => wrong = Some(error),
            }
        }
        match wrong {
            Some(error) if !could => Err(Problem::invalid(error.to_string())),
            _ => Ok(None),
        }
    }
}
