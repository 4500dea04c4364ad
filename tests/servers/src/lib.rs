//! Servers for tests: databases and MCP servers, which are real, and a LangGraph server that says what a script has. Each listens on a port of its own on 127.0.0.1, keeps everything
//! in a temporary folder, and is gone with its guard; a watchdog ends it and removes the folder when the test process
//! dies without saying so.
//!
//! This crate knows nothing of Superstep: it hands out URLs. A missing program fails the test with what to install.
//! With `SUPERSTEP_WITHOUT_SERVERS=1` there are no servers: `start` prints that the test is skipped and gives `None`.

mod agent_server;
mod langgraph;
mod mcp;
mod postgres;
mod process;
mod redis;

pub use agent_server::{AgentServerReplay, AskedOfServer, SHOP};
pub use langgraph::python_with_langgraph;
pub use mcp::{McpOverHttp, McpServers};
pub use postgres::Postgres;
pub use redis::Redis;

/// Returns whether tests with servers are not wanted here, and prints a line about it if so.
fn unwanted(server: &str) -> bool {
    let without = std::env::var_os("SUPERSTEP_WITHOUT_SERVERS").is_some_and(|value| value == "1");
    if without {
        println!("skipped: SUPERSTEP_WITHOUT_SERVERS=1, so no {server} is started");
    }
    without
}
