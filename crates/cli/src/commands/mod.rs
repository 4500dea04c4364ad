//! One module per command, or per few that share their work.

pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod effects;
pub(crate) mod explain;
pub(crate) mod export;
mod hot_edit;
pub(crate) mod maintenance;
pub(crate) mod preview;
pub(crate) mod questions;
pub(crate) mod resume;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod search;
mod send_trace;
pub(crate) mod serve;
pub(crate) mod state;
pub(crate) mod store;
mod store_uses;
pub(crate) mod threads;
pub(crate) mod trace;
pub(crate) mod trust;
pub(crate) mod types;
pub(crate) mod update;
pub(crate) mod what_if;
