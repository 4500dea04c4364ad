//! Helpers that know neither documents nor nodes: files, times, processor time, texts, classes of errors, requests, secrets, and what a graph may touch.

pub mod access;
pub(crate) mod config_schema;
pub(crate) mod error_class;
pub(crate) mod event_length;
pub mod files;
pub(crate) mod json;
pub(crate) mod processor;
pub(crate) mod references;
pub mod schema_validator;
pub mod secrets;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod web;
