//! How long a run and its super-steps may take.

use std::time::Duration;

use tokio::time::Instant;

use crate::stream::error::{RunError, TimeoutScope};

/// The time by which the run must have ended.
#[derive(Clone, Copy, Default)]
pub(super) struct Deadline(Option<(Instant, Duration)>);

impl Deadline {
    /// Creates the deadline that lies `limit` from now.
    pub(super) fn after(limit: Option<Duration>) -> Self {
        // A limit that no clock can hold is none.
        Self(limit.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))))
    }

    /// Checks that time is left.
    pub(super) fn check(self) -> Result<(), RunError> {
        match self.0 {
            Some((end, limit)) if end <= Instant::now() => Err(late(TimeoutScope::Run, limit)),
            _ => Ok(()),
        }
    }

    /// Returns the end of the run's time or of that of a step that begins now, whichever comes first.
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
