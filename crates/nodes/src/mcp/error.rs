//! What goes wrong with an MCP server, told so that a person can put it right.

use std::path::PathBuf;
use std::time::Duration;

use superstep::NodeError;

use crate::base::access::AccessDenied;

/// Why an MCP server did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum McpError {
    /// The graph is not saved, so there is no project to look for servers in.
    #[error("this graph is not saved yet, so there is no project with MCP servers. Save it first")]
    NoProject,
    /// The project declares no servers.
    #[error("the project has no MCP server `{server}`: there is no file {}. Create it: {{\"mcpServers\": {{\"{server}\": {{\"command\": …}}}}}}", .path.display())]
    NoFile { server: String, path: PathBuf },
    /// The file cannot be used.
    #[error("{} cannot be used: {cause}. Correct the file", .path.display())]
    Broken { path: PathBuf, cause: String },
    /// The file does not know the server.
    #[error("{} has no MCP server `{server}`.{hint} Servers: {known}", .path.display())]
    Unknown {
        server: String,
        hint: String,
        known: String,
        path: PathBuf,
    },
    /// A variable of the declaration is not set.
    #[error(
        "the MCP server `{server}` needs the environment variable {variable}, which is not set. Set it, or give it a default in .mcp.json: ${{{variable}:-…}}"
    )]
    NoVariable { server: String, variable: String },
    /// Nobody has allowed it.
    #[error(transparent)]
    AccessDenied(#[from] AccessDenied),
    /// It has no such tool, or no longer.
    #[error("the MCP server `{server}` has no tool `{tool}`.{hint} It has {known}")]
    NoTool {
        server: String,
        tool: String,
        hint: String,
        known: String,
    },
    /// Another tool has the name already.
    #[error(
        "two tools are called `{tool}`, and one of them is of the MCP server `{server}`. Give its tools a `prefix`"
    )]
    SameTool { server: String, tool: String },
    /// It did not come up.
    #[error("the MCP server `{server}` could not be started: {cause}{said}")]
    Start {
        server: String,
        cause: String,
        said: String,
    },
    /// It ended while it was at work.
    #[error(
        "the MCP server `{server}` stopped while it was at work{said}. It is started again with the next call"
    )]
    Died { server: String, said: String },
    /// It answered with an error.
    #[error("the MCP server `{server}` refused: {cause}")]
    Refused { server: String, cause: String },
    /// It did not answer.
    #[error("the MCP server `{server}` gave no sign of life for {:.0} s, and was told to stop", .limit.as_secs_f64())]
    Timeout { server: String, limit: Duration },
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// What it sent is no answer to what it was asked.
    #[error("the MCP server `{server}` sent something that is no answer: {cause}")]
    Nonsense { server: String, cause: String },
}

impl McpError {
    /// Stable name, for diagnostics.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            McpError::NoProject => "graph-not-saved",
            McpError::Broken { .. } => "broken-mcp-file",
            _ => "unknown-mcp",
        }
    }

    /// Is it something about the project's settings, which no further attempt mends?
    pub(crate) fn is_settings(&self) -> bool {
        use McpError::{AccessDenied, Broken, NoFile, NoProject, NoTool, NoVariable, SameTool, Unknown};
        matches!(
            self,
            NoProject
                | NoFile { .. }
                | Broken { .. }
                | Unknown { .. }
                | NoVariable { .. }
                | NoTool { .. }
                | SameTool { .. }
                | AccessDenied(_)
        )
    }

    /// The failure of node `node`.
    pub(crate) fn of_node(self, node: &str) -> NodeError {
        let class = match &self {
            McpError::AccessDenied(_) => AccessDenied::CLASS,
            McpError::Cancelled => return NodeError::Cancelled,
            McpError::Timeout { .. } => "McpTimeoutError",
            settings if settings.is_settings() => "McpSetupError",
            _ => "McpServerError",
        };
        NodeError::new(class, format!("node {node}: {self}."))
    }
}
