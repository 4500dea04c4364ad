//! How nodes are run: again, how long, how many at once, from a cache, to what effect.

pub(crate) mod bounds;
pub(crate) mod cache;
pub(crate) mod effect;
pub(crate) mod limits;
pub(crate) mod pace;
pub(crate) mod retry;
pub(crate) mod schedule;
