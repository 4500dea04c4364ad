//! How a checkpoint becomes bytes, shared by the backends that store records: what changed against the parent, numbers
//! of variable length, lists of names, the writes of a task.
//!
//! Everything here is decoded with checks: damaged bytes become an error with a reason, never a panic.

// Parts are only for the backends of servers, which may not be built in.
#![cfg_attr(not(all(feature = "postgres", feature = "redis")), allow(dead_code))]

pub(crate) mod bytes;
pub(crate) mod chain;
pub(crate) mod compression;
pub(crate) mod encoding;
#[cfg(test)]
pub(crate) mod fuzz;
pub(crate) mod plain;
pub(crate) mod plan;
pub(crate) mod pruning;
pub(crate) mod record;
pub(crate) mod text;
pub(crate) mod value;
pub(crate) mod value_cache;
