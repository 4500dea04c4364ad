//! Graphs that are known besides the open documents.

use super::graphs::Graphs;
use super::seen::SeenGraphs;

/// Graphs by where they came from.
#[derive(Debug, Default)]
pub(crate) struct GraphCaches {
    /// Those that were built from documents and files.
    pub(crate) built: Graphs,
    /// Those of other programs' threads.
    pub(crate) seen: SeenGraphs,
}
