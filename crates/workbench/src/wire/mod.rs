//! Everything that crosses between the workbench and an interface: requests, answers, events, errors.
//!
//! The one list of commands is `for_each_command!` in `commands.rs`; this module has the types. Field names are camelCase,
//! ids and times are text, optional fields are absent rather than null, numbers stay below 2^53. TypeScript types are
//! generated from here into `ui/src/ipc/bindings` by a test that fails when the committed files differ.

mod breakpoints;
pub mod commands;
mod connections;
mod evaluation;
mod events;
mod exchange;
mod find;
mod git;
mod graph;
mod graph_test;
mod inbox;
mod labels;
mod overview;
mod pins;
mod playground;
mod provenance;
mod run;
mod search;
mod secrets;
mod servers;
mod settings;
mod storage;
mod store;
mod task;
mod texts;
mod thread;
mod trace;
mod trust;
mod version;
mod what_if;

pub use breakpoints::*;
pub use connections::*;
pub use evaluation::*;
pub use events::*;
pub use exchange::*;
pub use find::*;
pub use git::*;
pub use graph::*;
pub use graph_test::*;
pub use inbox::*;
pub use labels::*;
pub use overview::*;
pub use pins::*;
pub use playground::*;
pub use provenance::*;
pub use run::*;
pub use search::*;
pub use secrets::*;
pub use servers::*;
pub use settings::*;
pub use storage::*;
pub use store::*;
pub use task::*;
pub use texts::*;
pub use thread::*;
pub use trace::*;
pub use trust::*;
pub use version::*;
pub use what_if::*;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Any JSON.
pub type Json = serde_json::Value;

/// Nothing to say.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct Empty {}

/// Reason why a command could not do what was asked.
#[derive(Clone, Debug, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Problem {
    /// Stable code in kebab-case that a client may react to, e.g. `not-found`, `conflict`, `invalid-request`.
    pub code: String,
    /// What happened and where, in one or two sentences.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub remedy: Option<String>,
    /// Both texts as they were made, for other languages; absent when they stand for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub texts: Option<Box<ProblemTexts>>,
    /// What is to be allowed first, when that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub trust: Option<Box<TrustNeeded>>,
}
