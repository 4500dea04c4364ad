//! What a graph finds around it: its project's folder, keys, connections and grants, and the other graph files.

mod environment;
pub(crate) mod graph_files;
mod imports;
mod version;

pub use environment::Environment;
pub use graph_files::NestedError;
pub use version::{GraphSources, document_hash};
