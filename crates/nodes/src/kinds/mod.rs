//! The kinds that come with Superstep, one module each.

pub mod agent;
pub mod ask;
pub mod assign;
pub mod code;
pub mod delay;
pub mod graph;
pub mod http;
pub(crate) mod inner_model;
pub mod map;
pub mod memory;
pub mod model;
pub mod note;
pub mod retrieve;
pub mod router;
pub mod store;
pub mod tools;
