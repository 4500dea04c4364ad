//! Answers of a resume, held against the questions that wait.

use super::Loop;
use crate::base::ids::InterruptId;
use crate::inspect::snapshot;
use crate::stream::error::{RunError, UnknownInterruptReason};
use crate::task;
use crate::value::Value;

impl Loop {
    /// Checks the answers with `strict_resume`: those that no waiting question takes are refused before anything is
    /// written.
    pub(super) fn check_answers(&self, answer: &Value) -> Result<(), RunError> {
        // Where a checkpoint was left behind, finished tasks run and ask again: their questions are not known yet.
        if !self.setup.shared.config.strict_resume || !self.resumed.keep_finished {
            return Ok(());
        }
        let open = task::prepare(&self.live, &self.stage(), None);
        let mut pending = snapshot::pending_questions(&self.setup.plan, &open, &self.resumed.pending);
        pending.sort();
        let refuse = |reason, interrupts| {
            Err(RunError::UnknownInterrupt {
                reason,
                interrupts,
                pending: pending.clone(),
            })
        };
        match answer {
            Value::Object(map) if map.is_empty() => refuse(UnknownInterruptReason::EmptyMap, Vec::new()),
            Value::Object(map) if map.keys().all(|key| is_interrupt_id(key)) => {
                let named = map.keys().map(|key| InterruptId::new(key.clone()));
                let mut unknown: Vec<InterruptId> = named.filter(|id| !pending.contains(id)).collect();
                unknown.sort();
                match unknown.is_empty() {
                    true => Ok(()),
                    false => refuse(UnknownInterruptReason::NotPending, unknown),
                }
            }
            _ if pending.len() > 1 => refuse(UnknownInterruptReason::Ambiguous, Vec::new()),
            _ => Ok(()),
        }
    }
}

pub(super) fn is_interrupt_id(key: &str) -> bool {
    key.len() == 32 && key.bytes().all(|b| b.is_ascii_hexdigit())
}
