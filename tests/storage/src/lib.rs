//! What every storage backend is put through, whatever it keeps threads in.
//!
//! Everything here reaches a backend by its URL ([`Backend::place`]), so that a new one joins with one line:
//!
//! - [`history`] does random operations on a backend and on a [`model`] that is too simple to be wrong, and compares.
//! - [`crash`] kills a working process at random moments; [`witness`] notes what was acknowledged, [`oracle`] says
//!   whether all of it is there and nothing was done twice.
//!
//! The engine's conformance suite says what a backend must do; this says that it keeps doing so when things go wrong.

pub mod history;
pub mod model;
mod place;

pub use place::{Backend, Place};
