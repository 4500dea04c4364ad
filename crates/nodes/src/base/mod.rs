//! Helpers that know neither documents nor nodes: files, times, texts, requests, secrets, and what a graph may touch.

pub mod access;
pub(crate) mod config_schema;
pub mod files;
pub mod schema_validator;
pub mod secrets;
pub(crate) mod suggest;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod web;
