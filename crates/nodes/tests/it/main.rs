//! The crate from outside: documents go in, runs come out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod agent_server;
mod agents;
mod attach;
mod checks;
mod disabled;
mod exchange;
mod family;
mod functions;
mod gemini;
mod golden;
mod hostile;
mod http;
mod kinds;
mod litellm;
mod mcp;
mod nested;
mod nodes;
mod ollama;
mod page;
mod private;
mod programs;
mod provider;
mod python;
mod recording;
mod records;
mod run_context;
mod scale;
mod search;
mod stopped;
mod support;
mod texts;
mod tools;
mod workers;

#[allow(
    dead_code,
    reason = "a benchmark compiles with the tests and is linked by `./dev bench` alone"
)]
#[path = "../../examples/bench_nodes.rs"]
mod bench_nodes;
