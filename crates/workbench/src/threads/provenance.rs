//! Where a value of a thread came from, and what its tasks read and decided, as interfaces receive them.

use std::collections::HashMap;
use std::sync::Arc;

use superstep::CheckpointId;
use superstep::checkpoint::{Decision, KeysRead, PendingWrite, RecordedValue, TaskRecord, records_of};
use superstep::checkpoint::{MemoryAction, MemoryUse};
use superstep::inspect::{AnswerGiven, PossibleRead, ValueWrite, WriteOrigin, Writer};
use superstep::run::StateRef;

use crate::Workbench;
use crate::base::values;
use crate::threads::checkpoint_view;
use crate::threads::snapshot::change;
use crate::wire::{
    AnswerGivenView, DecisionView, KeysReadView, MemoryUseView, PossibleReadView, Problem, ProvenanceView,
    ReadProvenance, RecordedKey, RecordedValueView, TaskRecordView, TriedConditionView, UseOfItem,
    ValueWriteView, WriteOriginView, WriterView,
};
use superstep_document::text;

/// Writes of an answer: by default, and at most.
const WRITES: u32 = 25;
const MAX_WRITES: u32 = 500;

fn texts(names: &[superstep::Name]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl From<&KeysRead> for KeysReadView {
    fn from(reads: &KeysRead) -> Self {
        match reads {
            KeysRead::Unknown => Self::Unknown,
            KeysRead::All => Self::All,
            KeysRead::Keys(keys) => Self::Keys(texts(keys)),
        }
    }
}

impl From<&RecordedValue> for RecordedValueView {
    fn from(value: &RecordedValue) -> Self {
        match value {
            RecordedValue::Whole(value) => Self {
                value: Some(value.into()),
                ..Self::default()
            },
            RecordedValue::Large { size, hash } => Self {
                value: None,
                size: size.map(small),
                hash: hash.clone(),
            },
        }
    }
}

impl From<&Decision> for DecisionView {
    fn from(decision: &Decision) -> Self {
        let reason = decision.reason.clone().unwrap_or_default();
        Self {
            edge: decision.edge.as_ref().map(ToString::to_string),
            to: texts(&decision.to),
            packets: small(decision.packets),
            expression: reason.expression.map(|expression| expression.to_string()),
            result: reason.result.as_ref().map(Into::into),
            values: (reason.values.iter())
                .map(|(key, value)| RecordedKey {
                    key: key.to_string(),
                    value: value.into(),
                })
                .collect(),
            conditions: (reason.conditions.iter())
                .map(|tried| TriedConditionView {
                    label: tried.label.to_string(),
                    expression: tried.expression.as_ref().map(ToString::to_string),
                    held: tried.held,
                })
                .collect(),
            cut: decision.cut,
        }
    }
}

impl From<MemoryAction> for UseOfItem {
    fn from(action: MemoryAction) -> Self {
        match action {
            MemoryAction::Read => Self::Read,
            MemoryAction::Found => Self::Found,
            MemoryAction::Written => Self::Written,
            MemoryAction::Removed => Self::Removed,
        }
    }
}

impl From<&MemoryUse> for MemoryUseView {
    fn from(used: &MemoryUse) -> Self {
        Self {
            action: used.action.into(),
            namespace: used.namespace.clone(),
            key: used.key.clone(),
            value: used.value.as_ref().map(Into::into),
        }
    }
}

impl From<&TaskRecord> for TaskRecordView {
    fn from(record: &TaskRecord) -> Self {
        Self {
            reads: (&record.reads).into(),
            decisions: record.decisions.iter().map(Into::into).collect(),
            memory: record.memory.iter().map(Into::into).collect(),
            memory_cut: record.memory_cut,
            pinned: record.pinned,
            summary: record.summary.as_deref().map(str::to_owned),
        }
    }
}

/// Returns what the tasks of a checkpoint read and decided, by task.
pub(crate) fn records(writes: &[PendingWrite]) -> HashMap<String, TaskRecordView> {
    records_of(writes)
        .map(|(task, record)| (task.to_string(), (&record).into()))
        .collect()
}

impl From<&Writer> for WriterView {
    fn from(writer: &Writer) -> Self {
        Self {
            node: writer.node.to_string(),
            task_id: writer.task.as_ref().map(ToString::to_string),
            reads: (&writer.reads).into(),
            packet: writer.packet,
            input: writer.input.as_ref().map(values::brief),
            sent_by: texts(&writer.sent_by),
            answers: writer.answers.iter().map(Into::into).collect(),
            may_have_read: writer.may_have_read.iter().map(Into::into).collect(),
            may_have_read_more: writer.may_have_read_more,
        }
    }
}

impl From<&AnswerGiven> for AnswerGivenView {
    fn from(given: &AnswerGiven) -> Self {
        Self {
            question: given.question.as_ref().map(values::view),
            answer: values::view(&given.answer),
        }
    }
}

impl From<&PossibleRead> for PossibleReadView {
    fn from(read: &PossibleRead) -> Self {
        Self {
            key: read.key.to_string(),
            checkpoint_id: read.written.id.to_string(),
            step: i32::try_from(read.written.metadata.step).unwrap_or(i32::MAX),
        }
    }
}

impl From<&ValueWrite> for ValueWriteView {
    fn from(write: &ValueWrite) -> Self {
        Self {
            pointer: write.pointer.clone(),
            read_by: write.read_by.map(small),
            checkpoint: checkpoint_view(&write.written),
            from: write.from.as_ref().map(ToString::to_string),
            change: change(write.before.as_ref(), write.after.as_ref()),
            before: write.before.as_ref().map(values::view),
            after: write.after.as_ref().map(values::view),
            origin: match write.origin {
                WriteOrigin::Task => WriteOriginView::Task,
                WriteOrigin::Input => WriteOriginView::Input,
                WriteOrigin::Command => WriteOriginView::Command,
                WriteOrigin::Edit => WriteOriginView::Edit,
                WriteOrigin::Older => WriteOriginView::Older,
                WriteOrigin::Unknown => WriteOriginView::Unknown,
            },
            writers: write.writers.iter().map(Into::into).collect(),
        }
    }
}

impl Workbench {
    pub(crate) async fn thread_provenance(
        self: &Arc<Self>,
        request: ReadProvenance,
    ) -> Result<ProvenanceView, Problem> {
        let (built, saver) = (self.reading_graph(&request.thread_id).await?, self.saver());
        if built.is_none() && saver.foreign().is_none() {
            return Err(Problem::not_found(text!(
                "The graph of the thread is gone, so it is not known which task wrote what."
            ))
            .remedy(text!(
                "Open the graph that the thread ran with, or put its file back."
            )));
        }
        let limit = match request.limit {
            0 => WRITES,
            limit => limit.min(MAX_WRITES),
        } as usize;
        let at = StateRef::live(request.thread_id.as_str())
            .checkpoint(request.checkpoint_id.as_deref().map(CheckpointId::from));
        let found = match &built {
            Some(built) => built.graph.provenance(&at, &request.pointer, limit).await?,
            None => saver.foreign_provenance(&at, &request.pointer, limit).await?,
        };
        Ok(ProvenanceView {
            writes: found.writes.iter().map(Into::into).collect(),
            more: found.more,
        })
    }
}
