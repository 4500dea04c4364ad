//! How nodes are run, beside what they do: from the document's words to the engine's options.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use superstep::graph::{CachePolicy, RefreshOn, Timeout, is_retryable};
use superstep::run::Bounds;
use superstep::{Failure, Node, NodeContext, NodeOptions, RetryPolicy, Value};
use superstep_document::{
    Cache, Diagnostic, Document, Edge, Effect, Fallback, NodePolicy, NodeTimeout, Retry,
};

use super::site::Site;
use crate::base::error_class;
use crate::expression::{Expression, Scope};
use superstep_document::text;

/// Returns the limits on what a run of the document may produce.
pub fn bounds(document: &Document) -> Bounds {
    const MB: usize = 1024 * 1024;
    let limits = document.limits();
    Bounds::default()
        .packets(limits.packets)
        .packet_bytes(limits.packet_mb * MB)
        .state_bytes(limits.state_mb * MB)
}

/// Says what is wrong with the parts that name state keys, and what they use.
pub(crate) fn check(site: &mut Site<'_>, policy: &NodePolicy) {
    if let Some(Cache { key: Some(key), .. }) = &policy.cache {
        site.expression("/cache/key", key, None);
    }
    if let (Some(Effect::Reads), Some(Cache { ttl: None, .. })) = (policy.effect, &policy.cache) {
        site.warning(
            "cache-of-reads",
            "/cache",
            text!("What the node reads may change, and its result is kept for ever."),
            text!("Give the cache a `ttl`."),
        );
    }
    match &policy.fallback {
        Some(Fallback::Value(update)) => {
            for key in update.keys() {
                site.write(
                    &format!("/fallback/value/{}", superstep_document::escape_pointer(key)),
                    key,
                );
            }
        }
        // The document says when that key is not there.
        Some(Fallback::Branch { into: Some(key), .. }) if site.keys.get(key).is_some() => {
            site.usage.writes.insert(key.clone());
        }
        _ => {}
    }
}

/// Returns what a node's results depend on besides its input: if one of these changes, kept results are no longer
/// valid.
pub(crate) fn identity(facts: &[&str], edges: &[Edge]) -> String {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    for edge in edges {
        format!("{edge:?}").hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Returns the engine's options of a node. `stand_in` is the node that the fallback names.
pub(crate) fn options(
    id: &str,
    policy: &NodePolicy,
    identity: impl FnOnce() -> String,
    stand_in: Option<Arc<dyn Node>>,
) -> Result<NodeOptions, Diagnostic> {
    let mut options = NodeOptions::new().defer(policy.defer);
    for one in &policy.retry {
        options = options.retry(retry(one));
    }
    if let Some(limit) = policy.concurrency {
        options = options.concurrency(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    if let Some(limit) = policy.max_visits {
        options = options.max_visits(limit);
    }
    if let Some(limits) = &policy.timeout {
        options = options.timeout(timeout(limits));
    }
    if let Some(cache) = &policy.cache {
        let mut policy = CachePolicy::new().identity(identity());
        if let Some(ttl) = cache.ttl {
            policy = policy.ttl(seconds(ttl));
        }
        if let Some(source) = &cache.key {
            let key = Expression::compile(source, format!("`cache.key` of node {id}")).map_err(|error| {
                let record = format!("node:{id}");
                Diagnostic::error("expression-syntax", record, error.message, error.remedy).at("/cache/key")
            })?;
            // Where the expression fails only equal inputs are the same.
            policy = policy.key(move |input| key.eval(&Scope::new(input)).unwrap_or_else(|_| input.clone()));
        }
        options = options.cache(policy);
    }
    Ok(match &policy.fallback {
        None => options,
        Some(Fallback::Value(update)) => {
            options.fallback_value(Value::from(serde_json::Value::Object(update.clone())))
        }
        Some(Fallback::Branch { to, into }) => {
            options.error_branch(to.as_str(), into.as_deref().map(Into::into))
        }
        Some(Fallback::Node(_)) => match stand_in {
            Some(node) => options.fallback(move |context: NodeContext, input: Value| {
                let node = node.clone();
                async move { node.run(context, input).await }
            }),
            None => options,
        },
    })
}

/// Converts the effect that the document declares to the engine's.
pub(crate) fn effect(effect: Effect) -> superstep::graph::Effect {
    match effect {
        Effect::Pure => superstep::graph::Effect::Pure,
        Effect::Reads => superstep::graph::Effect::Reads,
        Effect::Idempotent => superstep::graph::Effect::Idempotent,
        Effect::Once => superstep::graph::Effect::Once,
    }
}

fn seconds(seconds: f64) -> Duration {
    // The document was checked: only absurd numbers are left, and they mean never.
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn retry(retry: &Retry) -> RetryPolicy {
    let policy = RetryPolicy::default()
        .initial_interval(seconds(retry.initial_interval))
        .backoff_factor(retry.backoff_factor)
        .max_interval(seconds(retry.max_interval))
        .max_attempts(retry.attempts)
        .jitter(retry.jitter);
    match &retry.retry_on {
        Some(classes) => policy.on(classes.iter().map(String::as_str)),
        None => policy.when(may_pass),
    }
}

/// Returns whether another attempt may succeed where this failure was the last: what retries without `retry_on` retry.
pub fn may_pass(failure: &Failure) -> bool {
    failure.retryable.unwrap_or_else(|| match failure.status {
        // A server that is at fault, or busy, may answer the next time; one that refuses refuses again.
        Some(status) => status >= 500 || matches!(status, 408 | 425 | 429),
        None => is_retryable(&failure.class) && !error_class::lasts(&failure.class),
    })
}

/// Returns why a node with retries was not retried after this failure, for a person; `None` if it may be, or never is.
pub fn not_retried(policy: &NodePolicy, failure: &Failure) -> Option<String> {
    if policy.retry.is_empty() || policy.retry.iter().any(|one| retry(one).retry_on.wants(failure)) {
        return None;
    }
    let (class, named) = (
        &failure.class,
        policy.retry.iter().any(|one| one.retry_on.is_some()),
    );
    Some(match named {
        true => format!("Not tried again: {class} is not named in `retry_on`."),
        false => format!(
            "Not tried again: {class} is not among the errors that may pass. Name it in `retry_on` to try it again."
        ),
    })
}

fn timeout(limits: &NodeTimeout) -> Timeout {
    let refresh_on = match limits.heartbeat {
        true => RefreshOn::Heartbeat,
        false => RefreshOn::Auto,
    };
    Timeout::run(limits.run.map(seconds))
        .and_idle(limits.idle.map(seconds))
        .refresh_on(refresh_on)
}
