//! Names of metadata that the workbench puts on every checkpoint, so that a thread can be understood without the ledger.

/// The name of the graph.
pub(crate) const GRAPH: &str = "graph";
/// The path of the graph's file, or the id of its draft.
pub(crate) const GRAPH_PATH: &str = "graph_path";
/// The run that made a checkpoint, under the name that LangGraph has for it.
pub(crate) const RUN_ID: &str = "run_id";
