//! The workbench through its commands, as hosts call it. One test binary: building several would link everything
//! several times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod answering;
mod attached;
mod breakpoints;
mod claims;
mod data_folder;
mod documents;
mod effects;
mod evaluate;
mod evaluations;
mod exchanges;
mod find;
mod git;
mod graph_tests;
#[cfg(unix)]
mod handed;
mod held;
mod history;
mod inbox;
mod langgraph;
mod maintenance;
mod memory;
mod models;
mod named_secrets;
mod node_test;
#[cfg(unix)]
mod outside;
mod past;
mod pins;
mod preview;
mod programs;
mod questions;
mod records;
#[cfg(unix)]
mod remote;
mod retention;
mod rules;
mod runs;
mod saving;
mod search;
mod seen;
mod sequences;
mod snapshots;
mod steps;
mod task;
mod threads;
mod trace;
mod versions;
mod what_if;
mod within;

#[allow(
    dead_code,
    reason = "a benchmark compiles with the tests and is linked by `./dev bench` alone"
)]
#[path = "../../examples/bench_debugger.rs"]
mod bench_debugger;
#[allow(
    dead_code,
    reason = "a benchmark compiles with the tests and is linked by `./dev bench` alone"
)]
#[path = "../../examples/bench_workbench.rs"]
mod bench_workbench;
