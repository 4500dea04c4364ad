//! The engine held against recordings of LangGraph.
//!
//! A case is a JSON file: a graph whose nodes are lists of small actions, a script of operations on it, and the record
//! of what LangGraph did (README.md describes the format). The recorder is Python and needed only to make records; the
//! replayer builds the same graph with the engine's public API, performs the script and compares.

#![allow(clippy::too_many_lines, reason = "an arm for each action of a case")]

mod body;
mod build;
mod case;
mod declared;
mod diff;
mod expression;
mod format;
mod meant;
mod normal;
mod recorder;
mod reducers;
mod session;
mod shrink;
mod store;

pub use case::{Case, Deviation, Deviations, cases, root};
pub use diff::{Difference, compare};
pub use meant::{Side, leave_out};
pub use normal::normalise;
pub use recorder::Recorder;
pub use session::perform;
pub use shrink::shrink;

/// Reason why a case could not be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The case uses something that the engine does not offer.
    Unsupported(String),
    /// The case is not valid.
    Invalid(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unsupported(what) => write!(f, "the engine does not offer {what}"),
            Refusal::Invalid(why) => write!(f, "the case is not valid: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Result of replaying a case.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The engine does what LangGraph did.
    Same,
    /// It does something else, as it is meant to, for this reason.
    Meant(String),
    /// It does something else.
    Different(Vec<Difference>),
    /// It was meant to do something else, for this reason, and does not.
    Outdated(String),
    /// The case cannot be replayed.
    Refused(Refusal),
}

/// Replays a case and judges what differs.
pub fn judge(case: &Case, deviations: &Deviations) -> Verdict {
    match (replay(&case.value), deviations.of(&case.name)) {
        (Err(Refusal::Unsupported(_)), Some(meant)) => Verdict::Meant(meant.reason.clone()),
        (Err(refusal), _) => Verdict::Refused(refusal),
        (Ok(found), None) if found.is_empty() => Verdict::Same,
        (Ok(found), None) => Verdict::Different(found),
        (Ok(found), Some(meant)) if found.is_empty() => Verdict::Outdated(meant.reason.clone()),
        (Ok(found), Some(meant)) => {
            let others: Vec<Difference> = meant.others(&found).into_iter().cloned().collect();
            match others.is_empty() {
                true => Verdict::Meant(meant.reason.clone()),
                false => Verdict::Different(others),
            }
        }
    }
}

/// Performs a case with the engine and lists how it differs from the record. Time is virtual.
pub fn replay(case: &serde_json::Value) -> Result<Vec<Difference>, Refusal> {
    let ours = record(case)?;
    let theirs = case.get("record").ok_or_else(|| {
        Refusal::Invalid("it has no record; `./dev conformance record --write` makes one".into())
    })?;
    Ok(differences(theirs, ours))
}

/// Lists how a record of the engine differs from one of LangGraph; both are in comparable form.
pub fn differences(theirs: &serde_json::Value, mut ours: serde_json::Value) -> Vec<Difference> {
    Deviations::everywhere(&mut ours);
    compare(theirs, &ours)
}

/// Records what the engine does with a case, in comparable form.
pub fn record(case: &serde_json::Value) -> Result<serde_json::Value, Refusal> {
    performed(case).map(normalise)
}

/// Records what the engine does with a case, with ids and times as they came.
pub fn performed(case: &serde_json::Value) -> Result<serde_json::Value, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .map_err(|error| Refusal::Invalid(error.to_string()))?;
    runtime.block_on(perform(case))
}
