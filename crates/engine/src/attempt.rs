//! The attempts at one task: each with its own time, the next after a wait, until one is final.
//!
//! Only failures are tried again. What an attempt wrote is dropped with it; what it streamed has been seen.

use std::sync::Arc;

use crate::context::NodeContext;
use crate::limits::Gate;
use crate::node::Failure;
use crate::retry::RetryPolicy;
use crate::task::{End, Outcome};
use crate::timeout::{Pulse, Timeout};

/// How a task is tried.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) retry: Arc<[RetryPolicy]>,
    pub(crate) timeout: Option<Timeout>,
    /// Where an attempt waits for its turn.
    pub(crate) gate: Option<Gate>,
}

impl Rules {
    /// Is there anything to do beside the work itself?
    pub(crate) fn is_plain(&self) -> bool {
        self.retry.is_empty() && self.timeout.is_none() && self.gate.is_none()
    }

    fn policy(&self, failure: &Failure) -> Option<&RetryPolicy> {
        self.retry.iter().find(|policy| policy.retry_on.wants(failure))
    }
}

/// Does `work` until it succeeds or no policy wants another attempt. Every attempt is given a context of its own.
pub(crate) async fn run<F: Future<Output = Outcome>>(
    rules: Option<Rules>,
    context: NodeContext,
    mut work: impl FnMut(NodeContext) -> F,
) -> Outcome {
    let Some(rules) = rules else {
        let outcome = work(context.clone()).await;
        return checked(outcome, &context);
    };
    let mut context = context;
    let mut failed: u32 = 0;
    loop {
        let outcome = once(&rules, &mut context, &mut work).await;
        let outcome = checked(outcome, &context);
        let End::Failed(failure) = &outcome.end else {
            return outcome;
        };
        failed += 1;
        let Some(policy) = rules
            .policy(failure)
            .filter(|policy| failed < policy.max_attempts)
        else {
            return outcome;
        };
        let wait = policy.next_wait(failed);
        let node = &context.info().node;
        tracing::info!(%node, attempt = failed, ?wait, "attempt failed, trying again: {failure}");
        tokio::time::sleep(wait).await;
        context = context.for_attempt(failed + 1, None);
    }
}

async fn once<F: Future<Output = Outcome>>(
    rules: &Rules,
    context: &mut NodeContext,
    work: &mut impl FnMut(NodeContext) -> F,
) -> Outcome {
    // The place is given back before the wait for the next attempt; the time runs once there is one.
    let _place = match &rules.gate {
        Some(gate) => Some(gate.enter().await),
        None => None,
    };
    let Some(timeout) = &rules.timeout else {
        return work(context.clone()).await;
    };
    let pulse = Arc::new(Pulse::new(timeout.refresh_on));
    *context = context.for_attempt(context.info().attempt, Some(pulse.clone()));
    let attempt = work(context.clone());
    match timeout.bound(&context.info().node, &pulse, attempt).await {
        Ok(outcome) => outcome,
        Err(failure) => Outcome {
            writes: Vec::new(),
            end: End::Failed(failure),
            answers: context.used_answers(),
        },
    }
}

/// A node that says it was cancelled when nobody stopped the run has failed.
fn checked(mut outcome: Outcome, context: &NodeContext) -> Outcome {
    if matches!(outcome.end, End::Cancelled) && !context.is_cancelled() {
        let node = &context.info().node;
        outcome.end = End::Failed(Failure {
            class: "NodeCancelledError".into(),
            message: format!("Node '{node}' ended as cancelled, but nobody stopped the run."),
        });
    }
    outcome
}
