//! The state of a thread between two checkpoints.

pub(crate) mod delta;
pub(crate) mod entries;
pub(crate) mod live;
pub(crate) mod view;
