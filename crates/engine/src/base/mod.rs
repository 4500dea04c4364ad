//! Ids, names, the clock, timeouts, commands and failures: types that every layer above uses.

pub(crate) mod clock;
pub(crate) mod command;
pub(crate) mod failure;
pub(crate) mod ids;
pub(crate) mod names;
pub(crate) mod timeout;
