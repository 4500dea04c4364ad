//! Programs in JavaScript and Python, what they may ask of their node, and the processes that they run in.

pub(crate) mod helper;
pub mod javascript;
pub(crate) mod process_group;
pub mod python;
pub(crate) mod requests;
