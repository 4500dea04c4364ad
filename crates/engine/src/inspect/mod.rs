//! Threads that no run is on: their states, their questions, and edits.

pub(crate) mod edit;
pub(crate) mod past;
pub(crate) mod questions;
pub(crate) mod snapshot;
pub(crate) mod threads;
