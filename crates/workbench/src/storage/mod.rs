//! The database of threads: which one it is, what is done to it as a whole, and what is removed from it.

pub(crate) mod database;
pub(crate) mod maintenance;
pub(crate) mod retention;
mod transfer;
mod usage;
