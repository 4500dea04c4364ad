//! The kinds that come with Superstep, one module each.

pub mod agent;
pub mod ask;
pub mod assign;
pub mod code;
pub mod graph;
pub mod model;
pub mod retrieve;
pub mod tools;
