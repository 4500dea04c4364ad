//! What everything above is written in: ids, names, the clock, commands, failures.

pub(crate) mod clock;
pub(crate) mod command;
pub(crate) mod failure;
pub(crate) mod ids;
pub(crate) mod names;
pub(crate) mod timeout;
