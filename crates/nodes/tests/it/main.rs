//! The crate from outside: documents go in, runs come out.

#![allow(clippy::unwrap_used)]

mod checks;
mod golden;
mod nodes;
mod page;
mod provider;
mod scale;
mod support;
