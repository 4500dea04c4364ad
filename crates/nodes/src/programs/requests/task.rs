//! How a durable task of a program is run: retries, timeouts, cache.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use superstep::graph::{CachePolicy, RefreshOn, Timeout};
use superstep::{Failure, NodeOptions, RetryPolicy, Value};

/// Class of an attempt that took too long.
const LATE: &str = "NodeTimeoutError";

/// Options of a task.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct TaskOptions {
    /// The first policy that wants a failure decides about it.
    #[serde(default)]
    retry: Vec<TaskRetry>,
    #[serde(default)]
    timeout: Option<TimeLimit>,
    #[serde(default)]
    cache: Option<TaskCache>,
}

/// A retry policy. Which failures it wants is known to the program alone: it says so with each of them.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct TaskRetry {
    /// Attempts in all.
    attempts: u32,
    /// Seconds before the second attempt.
    initial: f64,
    factor: f64,
    /// Most seconds between two attempts.
    most: f64,
    jitter: bool,
    /// Whether it wants an attempt that took too long.
    late: bool,
}

/// Time that an attempt may take, in seconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct TimeLimit {
    #[serde(default)]
    run: Option<f64>,
    #[serde(default)]
    idle: Option<f64>,
    /// Only heartbeats are signs of life.
    #[serde(default)]
    heartbeat: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct TaskCache {
    /// What does the work.
    of: String,
    key: Value,
    /// Seconds that a result is kept.
    #[serde(default)]
    ttl: Option<f64>,
}

/// Place of the policy that wants the last failure of a task.
pub(super) type Wanted = Arc<Mutex<Option<usize>>>;

fn seconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time).unwrap_or_default()
}

impl From<TimeLimit> for Timeout {
    fn from(limit: TimeLimit) -> Self {
        Timeout::run(limit.run.map(seconds))
            .and_idle(limit.idle.map(seconds))
            .refresh_on(match limit.heartbeat {
                true => RefreshOn::Heartbeat,
                false => RefreshOn::Auto,
            })
    }
}

impl TaskOptions {
    /// Returns them as the engine's; `wanted` is where the place of the policy that wants a failure is found.
    pub(super) fn node_options(self, wanted: &Wanted) -> NodeOptions {
        let mut options = NodeOptions::new();
        for (place, retry) in self.retry.into_iter().enumerate() {
            let (wanted, late) = (wanted.clone(), retry.late);
            let policy = RetryPolicy::attempts(retry.attempts)
                .initial_interval(seconds(retry.initial))
                .backoff_factor(retry.factor)
                .max_interval(seconds(retry.most))
                .jitter(retry.jitter)
                .when(move |failure: &Failure| match *wanted.lock() {
                    Some(wanted) => wanted == place,
                    None => late && &*failure.class == LATE,
                });
            options = options.retry(policy);
        }
        if let Some(limit) = self.timeout {
            options = options.timeout(limit.into());
        }
        if let Some(cache) = self.cache {
            let mut policy = CachePolicy::new()
                .identity(cache.of)
                .key(move |_| cache.key.clone());
            if let Some(ttl) = cache.ttl {
                policy = policy.ttl(seconds(ttl));
            }
            options = options.cache(policy);
        }
        options
    }
}
