//! Every backend, from outside: the engine's suite, crashes, faults, older schemas. One program, because each that is linked
//! holds all of SQLite and the clients.
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod conformance;
mod crash;
mod deltas;
mod faults;
mod file;
#[cfg(unix)]
mod gone;
mod langgraph;
mod migrations;
mod moving;
mod postgres;
mod redis;
mod store;
mod waiting;
