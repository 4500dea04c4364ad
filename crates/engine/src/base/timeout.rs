//! How long an attempt at a node may take, and what counts as a sign of life.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::base::failure::Failure;
use crate::value::{Object, Value};

/// Time limits of each attempt at a node. An attempt that takes longer is dropped and counts as failed with the class
/// `NodeTimeoutError`, which the default retry policy retries.
///
/// Work that never waits (a loop that only computes) cannot be dropped: give such nodes
/// [`NodeOptions::blocking`](crate::NodeOptions::blocking), then it is left behind and its result not used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Timeout {
    /// For the attempt as a whole.
    pub run: Option<Duration>,
    /// Since the last sign of life.
    pub idle: Option<Duration>,
    /// What a sign of life is.
    pub refresh_on: RefreshOn,
}

/// Events that count as signs of life of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshOn {
    /// Everything that can be seen of it: what it emits, what it calls, and heartbeats.
    #[default]
    Auto,
    /// Only [`NodeContext::heartbeat`](crate::NodeContext::heartbeat).
    Heartbeat,
}

impl Timeout {
    /// Limits the attempt as a whole.
    pub fn run(limit: impl Into<Option<Duration>>) -> Self {
        Self {
            run: limit.into(),
            ..Self::default()
        }
    }
    /// Limits the time between two signs of life.
    pub fn idle(limit: impl Into<Option<Duration>>) -> Self {
        Self {
            idle: limit.into(),
            ..Self::default()
        }
    }
    /// Limits the time between two signs of life as well.
    pub fn and_idle(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.idle = limit.into();
        self
    }
    /// Sets what counts as a sign of life.
    pub fn refresh_on(mut self, refresh_on: RefreshOn) -> Self {
        self.refresh_on = refresh_on;
        self
    }

    /// Returns what is wrong with the timeout, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let zero = |limit: Option<Duration>| limit.is_some_and(|limit| limit.is_zero());
        if zero(self.run) {
            return Some("run_timeout must be greater than 0");
        }
        zero(self.idle).then_some("idle_timeout must be greater than 0")
    }

    /// Converts the timeout to `{"run", "idle", "refresh_on"}` with seconds, as a packet carries it.
    pub(crate) fn to_json(self) -> Value {
        let mut entries = Object::new();
        for (key, limit) in [("run", self.run), ("idle", self.idle)] {
            if let Some(limit) = limit {
                entries.insert(key, limit.as_secs_f64());
            }
        }
        if self.refresh_on == RefreshOn::Heartbeat {
            entries.insert("refresh_on", "heartbeat");
        }
        Value::Object(entries)
    }

    pub(crate) fn from_json(json: &Value) -> Self {
        let limit = |key| Duration::try_from_secs_f64(json.get(key)?.as_f64()?).ok();
        let heartbeat = json.get("refresh_on").and_then(Value::as_str) == Some("heartbeat");
        Self {
            run: limit("run"),
            idle: limit("idle"),
            refresh_on: if heartbeat {
                RefreshOn::Heartbeat
            } else {
                RefreshOn::Auto
            },
        }
    }

    /// Runs an attempt at the node; a failure when it takes too long.
    pub(crate) async fn bound<T>(
        &self,
        node: &str,
        pulse: &Pulse,
        work: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        let start = Instant::now();
        // Whatever the attempt left running must not be received any more, also when the attempt itself is dropped.
        let mut ends = CloseOnDrop { pulse, armed: true };
        let run = async {
            match self.run {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let idle = async {
            match self.idle {
                Some(limit) => pulse.silent_for(limit).await,
                None => std::future::pending().await,
            }
        };
        let failed = |message: String| Failure::new("NodeTimeoutError", message);
        let seconds = |limit: Option<Duration>| limit.unwrap_or_default().as_secs_f64();
        tokio::select! {
            biased;
            done = work => {
                ends.armed = false;
                Ok(done)
            }
            () = idle => Err(failed(format!(
                "Node '{node}' exceeded its idle timeout of {:.3}s without making progress (elapsed: {:.3}s).",
                seconds(self.idle),
                start.elapsed().as_secs_f64(),
            ))),
            () = run => Err(failed(format!(
                "Node '{node}' exceeded its run timeout of {:.3}s (elapsed: {:.3}s).",
                seconds(self.run),
                start.elapsed().as_secs_f64(),
            ))),
        }
    }
}

/// Signs of life of one attempt, and whether anybody still listens to it.
pub(crate) struct Pulse {
    last: Mutex<Instant>,
    closed: AtomicBool,
    refresh_on: RefreshOn,
    /// When the attempt as a whole has taken too long.
    until: Option<Instant>,
    /// Longest time without a sign of life.
    idle: Option<Duration>,
    /// Of the node that runs this node's graph: what lives in there shows that it lives.
    outer: Option<Arc<Pulse>>,
}

impl Pulse {
    pub(crate) fn new(timeout: &Timeout, outer: Option<Arc<Pulse>>) -> Self {
        let now = Instant::now();
        Self {
            last: Mutex::new(now),
            closed: AtomicBool::new(false),
            refresh_on: timeout.refresh_on,
            // A limit beyond what the clock can count is none.
            until: timeout.run.and_then(|limit| now.checked_add(limit)),
            idle: timeout.idle,
            outer,
        }
    }
    /// Returns whether the attempt, or one around it, has taken longer than it may.
    pub(crate) fn is_over(&self) -> bool {
        self.closed.load(Ordering::Acquire)
            || self.until.is_some_and(|until| Instant::now() >= until)
            || self.idle.is_some_and(|limit| self.last.lock().elapsed() >= limit)
            || self.outer.as_ref().is_some_and(|outer| outer.is_over())
    }
    /// Restarts the idle timeout because the node asks for more time.
    pub(crate) fn beat(&self) {
        self.refresh();
        if let Some(outer) = &self.outer {
            outer.beat();
        }
    }
    /// Notes that the node did something visible. Returns false when its attempt, or one around it, has been given up.
    pub(crate) fn seen(&self) -> bool {
        if self.refresh_on == RefreshOn::Auto {
            self.refresh();
        }
        let around = self.outer.as_ref().is_none_or(|outer| outer.seen());
        around && !self.closed.load(Ordering::Acquire)
    }
    fn refresh(&self) {
        *self.last.lock() = Instant::now();
    }
    async fn silent_for(&self, limit: Duration) {
        loop {
            let last = *self.last.lock();
            if last.elapsed() >= limit {
                return;
            }
            tokio::time::sleep_until(last + limit).await;
        }
    }
}

struct CloseOnDrop<'a> {
    pulse: &'a Pulse,
    armed: bool,
}

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.pulse.closed.store(true, Ordering::Release);
        }
    }
}
