//! Policies of nodes and runs: retries, limits, caching, bounds, effects.

pub(crate) mod bounds;
pub(crate) mod breakpoint;
pub(crate) mod cache;
pub(crate) mod effect;
pub(crate) mod limits;
pub(crate) mod pace;
pub(crate) mod retry;
pub(crate) mod schedule;
