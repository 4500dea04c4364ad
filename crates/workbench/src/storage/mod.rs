//! The database of threads: which one it is, and how it is opened.

pub(crate) mod database;
pub(crate) mod opening;
