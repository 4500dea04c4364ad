//! Acceptance tests: all crates together.
