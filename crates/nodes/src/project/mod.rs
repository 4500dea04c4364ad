//! What a graph finds around it: its project's folder, keys, connections and grants, and the other graph files.

mod environment;
pub(crate) mod graph_files;
mod imports;
mod logins;
mod version;

pub use environment::Environment;
pub use graph_files::NestedError;
pub use logins::Logins;
pub use version::{GraphSources, document_hash};

/// The folders of a project that hold its own Python environment, the first that is there.
pub(crate) const PYTHON_ENVIRONMENTS: [&str; 2] = [".venv", "venv"];
