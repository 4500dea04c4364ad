//! What every storage backend is put through, whatever it keeps threads in.
//!
//! Everything here reaches a backend by its URL ([`Place::of`]); a new one joins with its entry in the list of `superstep_storage`:
//!
//! - [`history`] does random operations on a backend and on a [`model`] that is too simple to be wrong, and compares.
//! - [`items`] does the same for the long-term memory.
//! - [`crash`] kills a process that runs graphs ([`workload`]) at random moments. [`witness`] notes what the backend
//!   acknowledged and what tasks began; [`oracle`] says whether all of it is there and nothing was done twice.
//! - [`claims`] freezes a process that runs a thread, and sends two at one thread.
//! - [`probe`] is another process that uses the backend, as another app, another user, or on another disk.
//! - [`scale`] measures large threads and many of them, [`beside`] the same work on LangGraph's savers.
//!
//! The engine's conformance suite says what a backend must do; this says that it keeps doing so when things go wrong.

#![allow(clippy::too_many_lines, reason = "a test tells one story")]

pub mod beside;
pub mod claims;
pub mod crash;
pub mod history;
pub mod items;
pub mod model;
pub mod oracle;
mod place;
pub mod probe;
mod random;
pub mod scale;
pub mod witness;
pub mod workload;

pub use place::{Place, open};
pub use random::Random;
