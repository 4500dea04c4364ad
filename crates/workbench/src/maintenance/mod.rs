//! Work on threads and their database as a whole: checking, copying, pruning and deleting, files to and
//! from others. Nothing here runs a graph, so it works for threads whose graph is gone.

mod deletion;
mod pruning;
pub(crate) mod retention;
mod transfer;
mod usage;
