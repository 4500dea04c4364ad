//! How a node is run, beside what it does: retries, timeouts, kept results, deferral, what takes over after a failure.
//!
//! One reading serves both sides. A document is read leniently: a part that cannot be understood counts as absent. The
//! same reading names what is wrong with it, so that nothing passes the checks and is then left out.

use serde_json::{Map, Value as Json};

use crate::json::type_name;
use crate::words::{Join, Text, text};

/// Settings for how a node is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePolicy {
    /// Failures are tried again; the first policy that wants a failure decides.
    pub retry: Vec<Retry>,
    /// How long an attempt may take.
    pub timeout: Option<NodeTimeout>,
    /// Results are used again for the same input.
    pub cache: Option<Cache>,
    /// The node waits until nothing else is left to run.
    pub defer: bool,
    /// What happens when the last attempt has failed.
    pub fallback: Option<Fallback>,
    /// What running the node does to the world.
    pub effect: Option<Effect>,
    /// Tasks of the node that work at once, when that is limited.
    pub concurrency: Option<u32>,
    /// Super-steps after an input in which the node may have work, when that is limited.
    pub max_visits: Option<u32>,
    /// A template: what a task did, in Markdown, for people who read the run.
    pub summary: Option<String>,
}

/// Effect of running a node on the world outside of the graph: it decides what may be done when it is not known whether
/// the node ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing, and the same input gives the same result: results may be kept.
    Pure,
    /// It only reads: running it again does no harm, but may give another result.
    Reads,
    /// It changes something, and doing so twice with the same key is doing it once.
    Idempotent,
    /// It changes something, and must not do so twice: when a run ended in the middle of it, a person decides.
    Once,
}

impl Effect {
    /// All of them, in the order of the documentation.
    pub const ALL: [Effect; 4] = [Effect::Pure, Effect::Reads, Effect::Idempotent, Effect::Once];

    /// Returns the word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Pure => "pure",
            Effect::Reads => "reads",
            Effect::Idempotent => "idempotent",
            Effect::Once => "once",
        }
    }

    /// Returns the effect of this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == word)
    }
}

/// Settings for retrying a failed node.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// Attempts in all.
    pub attempts: u32,
    /// Seconds after the first attempt.
    pub initial_interval: f64,
    /// How many times as long each wait is as the one before.
    pub backoff_factor: f64,
    /// No wait is longer, in seconds.
    pub max_interval: f64,
    /// Adds up to a second to each wait.
    pub jitter: bool,
    /// Error classes; the usual ones when None.
    pub retry_on: Option<Vec<String>>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 3,
            initial_interval: 0.5,
            backoff_factor: 2.0,
            max_interval: 128.0,
            jitter: true,
            retry_on: None,
        }
    }
}

/// Time limits of an attempt, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTimeout {
    /// As a whole.
    pub run: Option<f64>,
    /// Since the last sign of life.
    pub idle: Option<f64>,
    /// Only heartbeats are signs of life.
    pub heartbeat: bool,
}

/// Results are used again for the same input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cache {
    /// Seconds after which a result is old.
    pub ttl: Option<f64>,
    /// An expression: inputs for which it gives the same are the same. The whole input when None.
    pub key: Option<String>,
}

/// Reaction to the failure of the last attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Fallback {
    /// The node's update is this.
    Value(Map<String, Json>),
    /// Another node of the document does the work, with the same input.
    Node(String),
    /// The run goes on at another node instead of along the edges.
    Branch {
        /// That node.
        to: String,
        /// The state key that the error is written to.
        into: Option<String>,
    },
}

/// Problem with a part of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyProblem {
    /// Stable code in kebab-case.
    pub code: &'static str,
    /// JSON Pointer inside the record.
    pub pointer: String,
    /// What is wrong.
    pub message: Text,
    /// What to do.
    pub remedy: Text,
}

/// One part while it is read.
struct PolicyReader<'a> {
    code: &'static str,
    problems: &'a mut Vec<PolicyProblem>,
}

impl PolicyReader<'_> {
    fn problem(&mut self, pointer: String, message: Text, remedy: Text) {
        self.problems.push(PolicyProblem {
            code: self.code,
            pointer,
            message,
            remedy,
        });
    }

    fn wrong<T>(&mut self, pointer: &str, found: &Json, wanted: Text) -> Option<T> {
        let field = pointer.rsplit('/').next().unwrap_or_default();
        let shown = match found {
            Json::Number(number) => number.to_string().into(),
            other => type_name(other),
        };
        self.problem(
            pointer.to_owned(),
            text!(
                "`{field}` must be {wanted}, and is {shown}.",
                field,
                wanted = &wanted,
                shown
            ),
            text!("Write {wanted} there, or remove `{field}`.", wanted, field),
        );
        None
    }

    /// Reads a member of an object, if it is present and valid.
    fn member<T>(
        &mut self,
        object: &Map<String, Json>,
        base: &str,
        name: &str,
        wanted: Text,
        read: impl Fn(&Json) -> Option<T>,
    ) -> Option<T> {
        let found = object.get(name)?;
        read(found).or_else(|| self.wrong(&format!("{base}/{name}"), found, wanted))
    }

    fn unknown(&mut self, object: &Map<String, Json>, base: &str, known: &[&str]) {
        for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
            self.problem(
                format!("{base}/{name}"),
                text!("`{name}` means nothing here.", name),
                text!(
                    "Remove it, or write one of {names}.",
                    names = Text::list(Join::Comma, known)
                ),
            );
        }
    }
}

const SECONDS: Text = text!("a number of seconds greater than 0");

fn seconds(json: &Json) -> Option<f64> {
    // What is longer than a lifetime is no longer a time that somebody meant.
    json.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= 1e10)
}

fn text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn retry(reader: &mut PolicyReader<'_>, json: &Json, base: &str) -> Option<Retry> {
    let usual = Retry::default();
    let attempts = |json: &Json| {
        json.as_u64()
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| *n > 0)
    };
    if let Some(attempts) = attempts(json) {
        return Some(Retry { attempts, ..usual });
    }
    let Json::Object(object) = json else {
        return reader.wrong(
            base,
            json,
            text!("a number of attempts, an object, or a list of objects"),
        );
    };
    let known = [
        "attempts",
        "initial_interval",
        "backoff_factor",
        "max_interval",
        "jitter",
        "retry_on",
    ];
    reader.unknown(object, base, &known);
    let classes = |json: &Json| {
        let list = json.as_array().filter(|list| !list.is_empty())?;
        list.iter().map(text).collect::<Option<Vec<String>>>()
    };
    let not_negative = |json: &Json| json.as_f64().filter(|n| (0.0..=1e10).contains(n));
    let factor = |json: &Json| json.as_f64().filter(|n| (1.0..=1e6).contains(n));
    let mut read = |name: &str| {
        reader.member(
            object,
            base,
            name,
            text!("a number of seconds, 0 or more"),
            not_negative,
        )
    };
    let (initial, max) = (read("initial_interval"), read("max_interval"));
    Some(Retry {
        attempts: reader
            .member(
                object,
                base,
                "attempts",
                text!("a whole number of at least 1"),
                attempts,
            )
            .unwrap_or(usual.attempts),
        initial_interval: initial.unwrap_or(usual.initial_interval),
        backoff_factor: reader
            .member(
                object,
                base,
                "backoff_factor",
                text!("a number of at least 1"),
                factor,
            )
            .unwrap_or(usual.backoff_factor),
        max_interval: max.unwrap_or(usual.max_interval),
        jitter: reader
            .member(object, base, "jitter", text!("true or false"), Json::as_bool)
            .unwrap_or(usual.jitter),
        retry_on: reader.member(
            object,
            base,
            "retry_on",
            text!("a list of error classes"),
            classes,
        ),
    })
}

fn timeout(reader: &mut PolicyReader<'_>, json: &Json) -> Option<NodeTimeout> {
    let base = "/timeout";
    let Json::Object(object) = json else {
        let run = seconds(json).or_else(|| {
            reader.wrong(
                base,
                json,
                text!("a number of seconds greater than 0, or an object"),
            )
        })?;
        return Some(NodeTimeout {
            run: Some(run),
            ..NodeTimeout::default()
        });
    };
    reader.unknown(object, base, &["run", "idle", "refresh_on"]);
    let words = |json: &Json| match json.as_str()? {
        "auto" => Some(false),
        "heartbeat" => Some(true),
        _ => None,
    };
    let found = NodeTimeout {
        run: reader.member(object, base, "run", SECONDS, seconds),
        idle: reader.member(object, base, "idle", SECONDS, seconds),
        heartbeat: reader
            .member(
                object,
                base,
                "refresh_on",
                text!("\"auto\" or \"heartbeat\""),
                words,
            )
            .unwrap_or_default(),
    };
    if !object.contains_key("run") && !object.contains_key("idle") {
        reader.problem(
            base.to_owned(),
            text!("The timeout names no time."),
            text!("Write `run`, `idle` or both, in seconds."),
        );
    }
    (found.run.is_some() || found.idle.is_some()).then_some(found)
}

fn cache(reader: &mut PolicyReader<'_>, json: &Json) -> Option<Cache> {
    let base = "/cache";
    match json {
        Json::Bool(kept) => kept.then(Cache::default),
        Json::Object(object) => {
            reader.unknown(object, base, &["ttl", "key"]);
            Some(Cache {
                ttl: reader.member(object, base, "ttl", SECONDS, seconds),
                key: reader.member(object, base, "key", text!("an expression"), text),
            })
        }
        other => reader.wrong(base, other, text!("true, false or an object")),
    }
}

fn fallback(reader: &mut PolicyReader<'_>, json: &Json) -> Option<Fallback> {
    let base = "/fallback";
    let Json::Object(object) = json else {
        return reader.wrong(base, json, text!("an object"));
    };
    reader.unknown(object, base, &["value", "node", "to", "into"]);
    let given = ["value", "node", "to"]
        .into_iter()
        .filter(|name| object.contains_key(*name))
        .count();
    if given != 1 || (object.contains_key("into") && !object.contains_key("to")) {
        reader.problem(
            base.to_owned(),
            text!("A fallback is one of three: a value, another node, or a branch."),
            text!(
                "Write `value` (an update), `node` (does the work instead) or `to` (where the run goes on), and \
                 `into` with `to` only."
            ),
        );
        return None;
    }
    let update = |json: &Json| json.as_object().cloned();
    let value = reader.member(object, base, "value", text!("an object: an update"), update);
    let node = reader.member(object, base, "node", text!("the name of a node"), text);
    let to = reader.member(object, base, "to", text!("the name of a node"), text);
    let into = reader.member(object, base, "into", text!("the name of a state key"), text);
    value
        .map(Fallback::Value)
        .or(node.map(Fallback::Node))
        .or(to.map(|to| Fallback::Branch { to, into }))
}

/// Reads one policy for retries, or several.
fn retries(reader: &mut PolicyReader<'_>, json: &Json) -> Vec<Retry> {
    match json {
        Json::Array(list) => {
            let each = list.iter().enumerate();
            each.filter_map(|(index, one)| retry(reader, one, &format!("/retry/{index}")))
                .collect()
        }
        one => retry(reader, one, "/retry").into_iter().collect(),
    }
}

impl NodePolicy {
    /// Reads the policy of a node's record, and what is wrong with it.
    pub(crate) fn read(record: &Json) -> (Self, Vec<PolicyProblem>) {
        let mut problems = Vec::new();
        let mut policy = Self::default();
        let mut reader = PolicyReader {
            code: "bad-retry",
            problems: &mut problems,
        };
        policy.retry = record
            .get("retry")
            .map_or_else(Vec::new, |json| retries(&mut reader, json));
        reader.code = "bad-timeout";
        policy.timeout = record.get("timeout").and_then(|json| timeout(&mut reader, json));
        reader.code = "bad-cache";
        policy.cache = record.get("cache").and_then(|json| cache(&mut reader, json));
        reader.code = "bad-type";
        policy.defer = match record.get("defer") {
            None => false,
            Some(Json::Bool(defer)) => *defer,
            Some(other) => reader
                .wrong("/defer", other, text!("true or false"))
                .unwrap_or_default(),
        };
        reader.code = "bad-fallback";
        policy.fallback = record
            .get("fallback")
            .and_then(|json| fallback(&mut reader, json));
        let count = |json: &Json| {
            json.as_u64()
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| *n > 0)
        };
        let mut counted = |key, code| {
            reader.code = code;
            let words = text!("a whole number of at least 1");
            record
                .as_object()
                .and_then(|record| reader.member(record, "", key, words, count))
        };
        policy.concurrency = counted("concurrency", "bad-concurrency");
        policy.max_visits = counted("max_visits", "bad-max-visits");
        reader.code = "bad-type";
        policy.summary = record.as_object().and_then(|record| {
            let words = text!("a string");
            reader.member(record, "", "summary", words, |json| {
                json.as_str().map(str::to_owned)
            })
        });
        reader.code = "bad-effect";
        let words = text!("\"pure\", \"reads\", \"idempotent\" or \"once\"");
        policy.effect = record
            .as_object()
            .and_then(|record| reader.member(record, "", "effect", words, |json| Effect::of(json.as_str()?)));
        match policy.effect {
            Some(Effect::Once) if !policy.retry.is_empty() => reader.problem(
                "/retry".to_owned(),
                text!(
                    "What must be done once is not tried again: nobody knows how far the failed attempt came."
                ),
                text!(
                    "Remove `retry`, or write `\"effect\": \"idempotent\"` when doing it twice does no harm."
                ),
            ),
            _ => {}
        }
        if let Some(effect @ (Effect::Once | Effect::Idempotent)) = policy.effect
            && policy.cache.is_some()
        {
            reader.problem(
                "/cache".to_owned(),
                text!(
                    "A kept result would stand in for the effect, but the node's effect is `{word}`.",
                    word = effect.as_str()
                ),
                text!(
                    "Remove `cache`, or write `\"effect\": \"pure\"` when running the node changes nothing."
                ),
            );
        }
        (policy, problems)
    }
}
