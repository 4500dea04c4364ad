//! Programs in JavaScript and Python, what they may ask of their node, the processes that they run in, and LangGraph programs
//! that are attached: those of a person, and those that a server runs.

pub mod agent_server;
mod agent_server_error;
pub mod attach;
pub(crate) mod helper;
pub mod javascript;
pub(crate) mod process_group;
pub mod python;
pub(crate) mod requests;
