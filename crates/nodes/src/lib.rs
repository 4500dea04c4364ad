//! Node kinds and their registry; turns a graph document into an engine graph.
//!
//! This crate is where the document (text that people write) meets the engine (which knows no file format and no
//! provider). It holds everything a node can do: expressions and templates, JavaScript in a sandbox, models, questions
//! and search. Hosts use [`Registry`]: it lists the kinds, checks a document and builds its graph.
#![warn(missing_docs)]

mod base;
pub mod expression;
pub mod kinds;
mod mcp;
pub mod models;
mod programs;
mod project;
pub mod registry;
pub mod search;
mod state;
pub mod testing;

use programs::helper::HelperWork;

pub use base::access::{self, Access, Grants, UnknownAccess};
pub use base::files::{self, Stamp};
pub use base::{schema_validator, secrets};
pub use kinds::is_own_record;
pub use mcp::{
    DeclaredServer, DeclaredVariable, OfferedTool, ServerAddress, ServerFault, SignIn, declared_servers,
    with_server,
};
pub use models::ModelSettings;
pub use programs::helper::HelperProgram;
pub use programs::{agent_server, attach, javascript, python};
pub use project::{Environment, GraphSources, Logins, NestedError, document_hash};
pub use registry::{
    Built, Checked, KeyUsage, KindInfo, NO_ORDER, NODE_DISABLED, NodeKind, PreviewGraph, Registry, Uncertain,
    bounds, may_pass, not_retried, refuse_disabled,
};
pub use state::schema;

/// Performs the work that another program started this program for, and ends the process; otherwise returns at once.
///
/// Programs that run graphs call this at the head of `main`, before they start threads or read anything: from then on
/// JavaScript runs in processes that can be ended, and PDF and HTML are read.
pub fn serve_if_asked() {
    HelperProgram::promise();
    serve_as_asked();
}

/// Performs the work that this program was started for, without promising to always do so: for test programs, which are
/// started with the arguments that lead to this call.
#[doc(hidden)]
pub fn serve_as_asked() {
    let Some(asked) = HelperWork::asked() else {
        return;
    };
    let served = match asked {
        Ok(HelperWork::Documents) => search::reader::work(),
        Ok(HelperWork::JavaScript) => programs::javascript::work(),
        Ok(HelperWork::ProcessGroup) => programs::process_group::work(),
        // An executable that was replaced by another release.
        Err(_) => false,
    };
    std::process::exit(i32::from(!served));
}
