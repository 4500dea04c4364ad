//! Behaviour of the engine, case by case, in the words of the worked examples it must reproduce.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod analysis;
mod aside;
mod bounds;
mod breakpoints;
mod channels;
mod claims;
mod commits;
mod compile;
mod deltas;
mod effect_histories;
mod effects;
mod ends;
mod failures;
mod graph_versions;
mod handlers;
mod interrupts;
mod invariants;
mod knowledge_agent;
mod loops;
mod memory_uses;
mod nested;
mod observe;
mod pinned;
mod provenance;
mod questions;
mod run_context;
mod schedules;
mod state_api;
mod store;
mod streams;
mod support;
mod time_travel;
mod typed;

#[allow(
    dead_code,
    reason = "a benchmark compiles with the tests and is linked by `./dev bench` alone"
)]
#[path = "../../examples/bench_engine.rs"]
mod bench_engine;
