//! Rules of the attempts at a task: retries, timeout, gates, fallback.

use std::sync::Arc;

use crate::base::failure::Failure;
use crate::base::timeout::Timeout;
use crate::graph::node::Node;
use crate::policy::limits::Gate;
use crate::policy::retry::RetryPolicy;

/// Rules for the attempts at a task.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) retry: Arc<[RetryPolicy]>,
    pub(crate) timeout: Option<Timeout>,
    /// Where an attempt waits for its turn, one after the other. Every task goes through the node's own before that of
    /// its kind, so no two can wait for each other.
    pub(crate) gates: Vec<Gate>,
    /// Does the work when the last attempt has failed.
    pub(crate) fallback: Option<Arc<dyn Node>>,
}

impl Rules {
    /// Returns whether there is nothing to do beside the work itself.
    pub(crate) fn is_plain(&self) -> bool {
        self.retry.is_empty() && self.timeout.is_none() && self.gates.is_empty() && self.fallback.is_none()
    }

    pub(crate) fn policy(&self, failure: &Failure) -> Option<&RetryPolicy> {
        self.retry.iter().find(|policy| policy.retry_on.wants(failure))
    }
}
