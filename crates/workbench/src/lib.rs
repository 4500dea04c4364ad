//! The application without a host: documents, threads, runs, debugger, approvals, settings.

pub mod commands;
pub mod wire;
