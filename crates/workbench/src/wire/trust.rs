//! What graphs may touch outside of themselves.

use serde::{Deserialize, Serialize};
use superstep_nodes::Access;
use ts_rs::TS;

/// A kind of thing outside of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum AccessWhat {
    /// A server.
    Host,
    /// A folder outside of the project.
    Folder,
    /// A program that is started.
    Program,
    /// An MCP server of the project's configuration.
    Mcp,
    /// A connection to a model server, with its key.
    Connection,
    /// An environment variable that a program is given.
    Variable,
    /// An environment variable that is sent to a server, as `NAME@HOST`.
    Key,
}

/// Resource outside of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AccessView {
    /// What it is.
    pub what: AccessWhat,
    /// Which one; `*` is any public server.
    pub name: String,
}

impl From<&Access> for AccessView {
    fn from(access: &Access) -> Self {
        let (what, name) = match access {
            Access::Host(name) => (AccessWhat::Host, name),
            Access::Folder(name) => (AccessWhat::Folder, name),
            Access::Program(name) => (AccessWhat::Program, name),
            Access::Mcp(name) => (AccessWhat::Mcp, name),
            Access::Connection(name) => (AccessWhat::Connection, name),
            Access::Variable(name) => (AccessWhat::Variable, name),
            Access::Key(name) => (AccessWhat::Key, name),
        };
        AccessView {
            what,
            name: name.clone(),
        }
    }
}

impl From<AccessView> for Access {
    fn from(view: AccessView) -> Self {
        let name = view.name;
        match view.what {
            AccessWhat::Host => Access::Host(name.to_lowercase()),
            AccessWhat::Folder => Access::Folder(name),
            AccessWhat::Program => Access::Program(name),
            AccessWhat::Mcp => Access::Mcp(name),
            AccessWhat::Connection => Access::Connection(name),
            AccessWhat::Variable => Access::Variable(name),
            AccessWhat::Key => Access::Key(name),
        }
    }
}

/// Access that a graph wants to use.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Want {
    /// What.
    pub access: AccessView,
    /// It is a server inside the own network.
    pub inside: bool,
    /// It is allowed already.
    pub granted: bool,
    /// The nodes that want it.
    pub nodes: Vec<String>,
}

/// Accesses that a person must allow before a graph runs.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustNeeded {
    /// The project: a folder, or an unsaved draft.
    pub project: String,
    /// The graph.
    pub name: String,
    /// What is not allowed yet.
    pub wants: Vec<Want>,
}

/// Access that was allowed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    /// What.
    pub access: AccessView,
    /// When.
    pub at: String,
}

/// Accesses that were allowed in a project.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustProject {
    /// The project: a folder, or an unsaved draft.
    pub project: String,
    /// It is still there.
    pub exists: bool,
    /// What was allowed.
    pub granted: Vec<GrantView>,
}

/// Answer of `trust.show`: what an open graph wants, and what its project was allowed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustView {
    /// The graph.
    pub name: String,
    /// Everything that it wants.
    pub wants: Vec<Want>,
    /// Its project.
    pub project: TrustProject,
}

/// Answer of `trust.list`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustList {
    /// Every project in which something was allowed.
    pub projects: Vec<TrustProject>,
}

/// `trust.grant`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GrantTrust {
    /// The project.
    pub project: String,
    /// What is allowed from now on.
    pub accesses: Vec<AccessView>,
}

/// `trust.revoke`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevokeTrust {
    /// The project.
    pub project: String,
    /// What is not allowed any more; absent means everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub accesses: Option<Vec<AccessView>>,
}
