//! LangGraph servers (`langgraph dev`, `langgraph up`, LangGraph Platform), attached by their address: graphs drawn, threads
//! read and runs followed by the API that they all have.
//!
//! A server is somebody else's program. What it says is bounded and checked, what is not known is passed over, and nothing of it
//! is changed but by runs and edits that a person asked for. What its API does not say is missing here: the code of nodes,
//! reducers, joins, and names of conditions.

mod address;
mod assistant;
mod client;
mod drawing;
mod run;
mod saver;
mod wire;

pub use address::{AgentAddress, SCHEME};
pub use assistant::{Attached, AttachedServer};
pub use client::{AgentLimits, AgentServer, ThreadFilter};
pub use drawing::MESSAGES;
pub use saver::AgentServerSaver;
pub use wire::{Assistant, ListedThread, ServerReleases};

pub use crate::programs::agent_server_error::AgentServerError;
