//! The graph document: records, patches, validation with diagnostics, Mermaid. No async, no IO.
