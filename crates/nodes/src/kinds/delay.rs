//! `delay`: waits. When to go on is recorded before the wait begins, so that a run that was stopped in the middle of it
//! waits for what is left, and not at all when the time has come meanwhile.
//!
//! Nobody keeps a process for an hour to do nothing. A longer wait is put aside like a question with a deadline, which
//! the program that keeps the thread continues when its time has come, also after it was closed and opened again; and anybody may
//! end the wait early by answering.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::run::iso8601;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::Diagnostic;

use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::base::time::millis;
use crate::expression::{Expression, Scope};
use crate::kinds::ask::WAITS;
use crate::kinds::durable::recorded;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::track_reads;
use superstep_document::text;

/// Longest wait: a year.
const MAX_DELAY: Duration = Duration::from_secs(366 * 86_400);
/// Longer waits are put aside where threads are kept.
const PUT_ASIDE: Duration = Duration::from_secs(30);
/// Between two signs of life.
const TICK: Duration = Duration::from_secs(1);

/// Settings of a `delay` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Waits.")]
#[schemars(extend("x-one-of" = ["seconds", "until"]))]
pub struct DelayConfig {
    /// Expression for the number of seconds to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Duration (s)", extend("x-editor" = "expression", "examples" = ["30", "state.minutes * 60"]))]
    pub seconds: Option<String>,
    /// Expression for the time to wait for: text such as `2026-11-21T09:30:00+01:00`, or seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "End time", extend("x-editor" = "expression", "examples" = ["state.due"]))]
    pub until: Option<String>,
}

/// The kind.
pub struct Delay;

impl NodeKind for Delay {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "delay",
            title: "Delay",
            summary: "Waits for a duration or until a time.",
            icon: "clock",
            group: "state",
            aliases: &["wait", "sleep", "timer", "pause", "schedule", "until"],
            config_schema: schema_of::<DelayConfig>(),
            defaults: json!({"seconds": "10"}),
            card: &["/seconds", "/until"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<DelayConfig>() else {
            return;
        };
        match (&config.seconds, &config.until) {
            (Some(seconds), None) => site.expression("/seconds", seconds, None),
            (None, Some(until)) => site.expression("/until", until, None),
            (None, None) => site.error(
                "delay-time",
                "",
                text!("The node does not say how long to wait."),
                text!("Write `seconds`, or `until`."),
            ),
            (Some(_), Some(_)) => site.error(
                "delay-time",
                "/until",
                text!("The node says both how long and until when to wait."),
                text!("Remove `seconds` or `until`."),
            ),
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: DelayConfig = site.parse()?;
        let compile = |pointer: &str, source: &Option<String>| {
            source
                .as_ref()
                .map(|source| site.expression(pointer, source))
                .transpose()
        };
        Ok(Arc::new(DelayNode {
            name: site.node.into(),
            seconds: compile("/seconds", &config.seconds)?,
            until: compile("/until", &config.until)?,
        }))
    }
}

struct DelayNode {
    name: Arc<str>,
    seconds: Option<Expression>,
    until: Option<Expression>,
}

impl DelayNode {
    /// Returns the time at which to go on, as the state says now.
    fn wake(&self, now: u64, scope: &Scope) -> Result<u64, NodeError> {
        let wake = match (&self.seconds, &self.until) {
            (Some(seconds), _) => {
                let value = seconds.eval(scope)?;
                let wait = value.as_f64().and_then(|n| Duration::try_from_secs_f64(n).ok());
                let wait =
                    wait.ok_or_else(|| seconds.wrong_type(text!("a number of seconds, 0 or more"), &value))?;
                now.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
            }
            (None, Some(until)) => {
                let value = until.eval(scope)?;
                let wanted = text!("a time such as \"2026-11-21T09:30:00Z\", or seconds since 1970");
                millis(&value).ok_or_else(|| until.wrong_type(wanted, &value))?
            }
            (None, None) => now,
        };
        if Duration::from_millis(wake.saturating_sub(now)) > MAX_DELAY {
            let text = format!(
                "node {}: the wait would be longer than a year. Correct the time",
                self.name
            );
            return Err(NodeError::new(error_class::DELAY, text));
        }
        Ok(wake)
    }
}

/// Creates the question that shows a wait to people who look at waiting threads.
fn question(wake: u64) -> Value {
    let until = iso8601(wake);
    superstep::json!({
        "question": format!("Waits until {until}."),
        "choices": [{"label": "Go on now", "value": true}],
        "schema": {"enum": [true]},
        "deadline": until,
        WAITS: true,
    })
}

#[async_trait]
impl Node for DelayNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let now = context.now_ms();
        let wake = self.wake(now, &Scope::of(&context, &input))?;
        let began = superstep::json!({"from": now, "until": wake});
        let began = recorded(&context, "wait", began).await?;
        let member = |name: &str| began.get(name).and_then(Value::as_u64).unwrap_or(now);
        let (from, wake) = (member("from"), member("until"));
        let whole = wake.saturating_sub(from).max(1);
        let mut left = Duration::from_millis(wake.saturating_sub(now));
        if Duration::from_millis(whole) > PUT_ASIDE && context.info().thread.is_some() {
            return match context.interrupt(question(wake)) {
                // Once it was put aside, only its end or an answer ends it.
                Err(NodeError::Interrupt(_)) if left.is_zero() => Ok(NodeOutput::none()),
                asked => asked.map(|_| NodeOutput::none()),
            };
        }
        // Long waits are reported a hundred times, not every second.
        let pause = TICK.max(Duration::from_millis(whole / 100));
        let mut quiet = pause;
        while !left.is_zero() {
            context.heartbeat();
            if quiet >= pause {
                let done = 1.0 - left.as_millis() as f64 / whole as f64;
                let progress = (done * 1000.0).round() / 1000.0;
                let notice =
                    superstep::json!({"node": &*self.name, "until": iso8601(wake), "progress": progress});
                context.emit(notice).await;
                quiet = Duration::ZERO;
            }
            let step = left.min(TICK);
            tokio::select! {
                biased;
                () = context.cancelled() => return Err(NodeError::Cancelled),
                () = tokio::time::sleep(step) => {}
            }
            quiet += step;
            left -= step;
            // The machine may have slept meanwhile, and its timers with it.
            left = left.min(Duration::from_millis(wake.saturating_sub(context.now_ms())));
        }
        Ok(NodeOutput::none())
    }
}
