//! Graphs, their compilation and analysis, and the context of their nodes.

pub(crate) mod analysis;
pub(crate) mod blocking;
pub(crate) mod builder;
pub(crate) mod call;
pub(crate) mod compile;
pub(crate) mod compiled;
pub(crate) mod context;
pub(crate) mod context_schema;
pub(crate) mod draw;
pub(crate) mod entrypoint;
pub(crate) mod handler;
pub(crate) mod links;
pub(crate) mod node;
pub(crate) mod options;
pub(crate) mod past;
pub(crate) mod plan;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod scope;
pub(crate) mod task;
pub(crate) mod typed;
pub(crate) mod writes;
