//! Node kinds and their registry; turns a graph document into an engine graph.
//!
//! This crate is where the document (text that people write) meets the engine (which knows no file format and no
//! provider). It holds everything a node can do: expressions and templates, JavaScript in a sandbox, models, questions
//! and search. Hosts use [`Registry`]: it lists the kinds, checks a document and builds its graph.
#![warn(missing_docs)]

pub mod access;
mod conduct;
mod durable;
pub mod expression;
mod family;
pub mod files;
mod helper;
pub mod hints;
pub mod kind;
pub mod kinds;
mod leads;
mod mcp;
mod nested;
mod program;
pub mod provider;
pub mod python;
mod registry;
pub mod request;
mod route;
pub mod sandbox;
pub mod schema;
pub mod search;
pub mod secrets;
pub mod shape;
mod suggest;
mod time;
mod view;
mod web;

pub use access::{Access, Grants, UnknownAccess};
pub use conduct::{bounds, not_retried};
pub use durable::is_own_record;
#[doc(hidden)]
pub use helper::serve_as_asked;
pub use helper::{Program, serve_if_asked};
pub use kind::{KindInfo, NodeKind, Usage};
pub use nested::{NestedError, Stamp};
pub use provider::ModelSettings;
pub use registry::{Built, Checked, Environment, Registry};
