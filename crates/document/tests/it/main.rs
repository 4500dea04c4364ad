//! Tests of the graph document through its public API.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod patches;
mod properties;
mod schema;
mod text;
mod topology;
mod validation;
mod views;

use superstep_document::Document;

/// A document from JSON, which must be readable.
fn document(value: serde_json::Value) -> Document {
    let (document, problems) = Document::parse(&value.to_string());
    assert_eq!(problems, [], "the test's own document is readable");
    document
}

/// The repository's folder.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
