//! What a run is asked, and what it reports while it runs and when it ends.

pub(crate) mod config;
pub(crate) mod emit;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod json;
pub(crate) mod lifecycle;
pub(crate) mod metrics;
