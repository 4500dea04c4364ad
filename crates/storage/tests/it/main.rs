//! Every backend, from outside: the engine's suite, crashes, faults, older schemas. One program, because each that is linked
//! holds all of SQLite and the clients.
#![allow(clippy::too_many_lines, reason = "a test tells one story")]
#![allow(
    clippy::duplicate_mod,
    reason = "both benchmarks are tried here, and share their graphs"
)]

mod conformance;
mod crash;
mod deltas;
mod faults;
mod file;
#[cfg(unix)]
mod gone;
mod langgraph;
mod langgraph_copies;
mod langgraph_large;
mod langgraph_postgres;
mod langgraph_run_on;
mod migrations;
mod moving;
mod postgres;
mod redis;
mod store;
mod waiting;

#[allow(
    dead_code,
    reason = "a benchmark compiles with the tests and is linked by `./dev bench` alone"
)]
#[path = "../../examples/bench_storage.rs"]
mod bench_storage;
#[allow(
    dead_code,
    reason = "a benchmark compiles with the tests and is linked by `./dev bench` alone"
)]
#[path = "../../examples/bench_workload.rs"]
mod bench_workload;
