//! The graph document: one JSON file that people write, the canvas edits and the engine runs.
//!
//! A document is a list of *records* (the head, one per state key, node, edge and canvas position) in the order of the
//! file. Everything that changes it is a [`Patch`] over records, so undo is a reversed patch and a file's diff shows
//! what was changed. Reading never fails: what is wrong comes as [`Diagnostic`]s beside the document, and fields that
//! this release does not know are carried along untouched.
//!
//! This crate knows no node kind but `note` (which is none), no engine and no file system. What a node's `config` may hold is the business of the
//! node kinds; here it is only an object. `docs/graph-format.md` is the description for people.

mod diagnostic;
mod document;
mod halves;
mod invariant;
mod json;
mod limits;
mod mermaid;
mod patch;
mod policy;
pub mod schema;
pub mod suggest;
mod topology;
mod validate;
mod view;
mod words;
mod writing;

pub use diagnostic::{Diagnostic, Severity};
pub use document::{Document, Section};
pub use halves::{read_json, without_halves};
pub use invariant::{INVARIANTS, Invariant, MAX_INVARIANTS, WhenBroken};
pub use json::{escape_pointer, same};
pub use limits::Limits;
pub use patch::{Patch, PatchError, PatchOp};
pub use policy::{Cache, Effect, Fallback, NodePolicy, NodeTimeout, PolicyProblem, Retry};
pub use topology::Topology;
pub use view::{ChannelKind, ContextSet, Disabled, Edge, Example, NodeSpec, Reducer, StateKey};
pub use words::{Join, Text, TextForm};

/// The entry of a graph, as edges name it.
pub const START: &str = "__start__";
/// The end of a branch, as edges name it.
pub const END: &str = "__end__";
/// The kind of a node that is a text on the canvas and no part of the graph that runs.
pub const NOTE: &str = "note";
/// The format this release writes and reads.
pub const FORMAT: &str = "superstep/1";
/// Super-steps after which a run is stopped as endless, when the document does not say.
pub const DEFAULT_RECURSION_LIMIT: u32 = 1_000;
/// Most super-steps of a run, whatever a document says.
pub const MAX_RECURSION_LIMIT: u32 = 1_000_000;
