//! A Python with LangGraph: the one that `./dev test` installs, or another that is named.

use std::path::{Path, PathBuf};

/// Returns an interpreter with LangGraph; `None` where tests run without servers.
///
/// # Panics
///
/// There is none, and the tests are not to run without.
pub fn python_with_langgraph() -> Option<PathBuf> {
    if crate::unwanted("Python with LangGraph") {
        return None;
    }
    let named = std::env::var_os("SUPERSTEP_CONFORMANCE_PYTHON").map(PathBuf::from);
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/conformance/venv/bin/python");
    let python = named.unwrap_or(usual);
    assert!(
        python.is_file(),
        "There is no Python with LangGraph at {}. `./dev test` installs it; SUPERSTEP_WITHOUT_SERVERS=1 skips the tests that need it.",
        python.display()
    );
    Some(python)
}
