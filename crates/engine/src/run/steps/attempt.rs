//! The attempts at one task: each with its own time, the next after a wait, until one is final.
//!
//! Only failures are tried again. What an attempt wrote is dropped with it; what it streamed has been seen.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::base::failure::{Failure, repr};
use crate::base::timeout::Pulse;
use crate::graph::context::NodeContext;
use crate::graph::handler::NodeFailed;
use crate::graph::node::Node;
use crate::graph::rules::Rules;
use crate::run::steps::breakpoints::breaks_before_retry;
use crate::stream::events::{AttemptFailed, Payload, StreamMode, TaskWaited};
use crate::task::{End, TaskOutcome};

/// Runs `work` until it succeeds or no policy wants another attempt, and then lets the fallback do it. Every attempt is
/// given a context of its own, and the node that replaces the failed one, if any.
pub(crate) async fn run<F: Future<Output = TaskOutcome>>(
    rules: Option<Rules>,
    context: NodeContext,
    mut work: impl FnMut(NodeContext, Option<Arc<dyn Node>>) -> F,
) -> TaskOutcome {
    let Some(rules) = rules else {
        return work(context, None).await;
    };
    let mut context = context;
    let mut failed: u32 = 0;
    loop {
        // The place is given back before the wait for the next attempt; the time runs once there is one.
        let mut places = Vec::with_capacity(rules.gates.len());
        let mut waits = None;
        for gate in &rules.gates {
            places.push(match gate.enter_now() {
                Some(place) => place,
                None => {
                    waits.get_or_insert_with(Instant::now);
                    gate.enter().await
                }
            });
        }
        if let Some(since) = waits {
            report_waited(&context, since.elapsed()).await;
        }
        let outcome = once(&rules, &mut context, |context| work(context, None)).await;
        drop(places);
        let End::Failed(failure) = &outcome.end else {
            return outcome;
        };
        failed += 1;
        let node = &context.info().node;
        if let Some(wait) = rules
            .policy(failure)
            .and_then(|policy| policy.next_wait(failed, failure))
        {
            report_failed(&context, failed, failure, Some(wait)).await;
            if breaks_before_retry(&context, failed, failure).await {
                return outcome;
            }
            tracing::info!(%node, attempt = failed, ?wait, "attempt failed, trying again: {failure}");
            tokio::time::sleep(wait).await;
            context = context.for_attempt(failed + 1, None);
            continue;
        }
        let Some(fallback) = &rules.fallback else {
            return outcome;
        };
        report_failed(&context, failed, failure, None).await;
        tracing::warn!(%node, attempt = failed, "the last attempt failed, the fallback takes over: {failure}");
        let failed_node = NodeFailed {
            node: node.clone(),
            error: failure.clone(),
        };
        context = context.for_fallback(failed + 1, failed_node);
        return once(&rules, &mut context, |context| {
            work(context, Some(fallback.clone()))
        })
        .await;
    }
}

/// Reports that an attempt failed after which the task goes on.
async fn report_failed(context: &NodeContext, attempt: u32, failure: &Failure, wait: Option<Duration>) {
    let event = || {
        let info = context.info();
        Payload::AttemptFailed(Box::new(AttemptFailed {
            id: info.task_id.clone(),
            name: info.node.clone(),
            step: info.step,
            attempt,
            error: repr(failure),
            wait,
        }))
    };
    context
        .shared()
        .emitter
        .send_if(StreamMode::Attempts, event)
        .await;
}

/// Reports that the task begins to work after it waited for a place.
async fn report_waited(context: &NodeContext, waited: Duration) {
    let event = || {
        let info = context.info();
        Payload::TaskWaited(Box::new(TaskWaited {
            id: info.task_id.clone(),
            name: info.node.clone(),
            step: info.step,
            waited,
        }))
    };
    context.shared().emitter.send_if(StreamMode::Waits, event).await;
}

impl NodeContext {
    /// Reports that the task has waited for something that others held, a worker process for example: traces do not take
    /// that time for work. It ends now.
    pub async fn report_waited(&self, waited: Duration) {
        report_waited(self, waited).await;
    }
}

/// Makes one attempt, within its time limit.
async fn once<F: Future<Output = TaskOutcome>>(
    rules: &Rules,
    context: &mut NodeContext,
    work: impl FnOnce(NodeContext) -> F,
) -> TaskOutcome {
    let Some(timeout) = &rules.timeout else {
        return work(context.clone()).await;
    };
    let pulse = Arc::new(Pulse::new(timeout, context.shared().pulse.clone()));
    *context = context.for_attempt(context.info().attempt, Some(pulse.clone()));
    let attempt = work(context.clone());
    match timeout.bound(&context.info().node, &pulse, attempt).await {
        Ok(outcome) => outcome,
        Err(failure) => TaskOutcome {
            writes: Vec::new(),
            end: End::Failed(failure),
            answers: context.used_answers(),
            record: None,
        },
    }
}
