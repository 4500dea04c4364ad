//! How long a run and its super-steps may take.

use std::time::Duration;

use tokio::time::Instant;

use crate::stream::error::{RunError, TimeoutScope};

/// When the run has taken too long.
#[derive(Clone, Copy, Default)]
pub(super) struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// So long from now.
    pub(super) fn after(limit: Option<Duration>) -> Self {
        // A limit that no clock can hold is none.
        Self(limit.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))))
    }

    /// Is there time left?
    pub(super) fn check(self) -> Result<(), RunError> {
        match self.0 {
            Some((end, limit)) if end <= Instant::now() => Err(late(TimeoutScope::Run, limit)),
            _ => Ok(()),
        }
    }

    /// When the time of the run, or that of a step that begins now, is over.
    pub(super) fn next(self, step: Option<Duration>) -> Expiry {
        let run = self.0.map(|(end, limit)| (end, limit, TimeoutScope::Run));
        let step = Self::after(step)
            .0
            .map(|(end, limit)| (end, limit, TimeoutScope::Step));
        Expiry(run.into_iter().chain(step).min_by_key(|(end, ..)| *end))
    }
}

/// The end of the time that a step has.
#[derive(Clone, Copy)]
pub(super) struct Expiry(Option<(Instant, Duration, TimeoutScope)>);

impl Expiry {
    pub(super) async fn wait(self) -> RunError {
        match self.0 {
            Some((end, limit, scope)) => {
                tokio::time::sleep_until(end).await;
                late(scope, limit)
            }
            None => std::future::pending().await,
        }
    }
}

fn late(scope: TimeoutScope, limit: Duration) -> RunError {
    RunError::TimedOut { scope, limit }
}
