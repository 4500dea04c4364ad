//! What goes wrong with an MCP server, in words with which a person can put it right.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use superstep::NodeError;

use crate::base::access::AccessDenied;
use crate::base::error_class;

/// Why an MCP server did not do what it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum McpError {
    /// The graph is not saved, so there is no project to look for servers in.
    NoProject,
    /// The project declares no servers.
    NoFile { server: String, path: PathBuf },
    /// The file cannot be used.
    Broken { path: PathBuf, cause: String },
    /// The file does not know the server.
    Unknown {
        server: String,
        hint: String,
        known: String,
        path: PathBuf,
    },
    /// A variable of the declaration is not set.
    NoVariable { server: String, variable: String },
    /// Nobody has allowed it.
    AccessDenied(AccessDenied),
    /// It has no such tool, or no longer.
    NoTool {
        server: String,
        tool: String,
        hint: String,
        known: String,
    },
    /// Another tool has the name already.
    SameTool { server: String, tool: String },
    /// It did not come up.
    Start {
        server: String,
        cause: String,
        exit_message: String,
    },
    /// It ended while it was at work.
    Died { server: String, exit_message: String },
    /// It answered with an error.
    Refused { server: String, cause: String },
    /// It did not answer.
    Timeout { server: String, limit: Duration },
    /// The run was cancelled.
    Cancelled,
    /// What it sent is no answer to what it was asked.
    Nonsense { server: String, cause: String },
}

impl From<AccessDenied> for McpError {
    fn from(denied: AccessDenied) -> Self {
        McpError::AccessDenied(denied)
    }
}

impl std::error::Error for McpError {}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match self.remedy() {
            Some(remedy) => write!(f, ". {remedy}"),
            None => Ok(()),
        }
    }
}

impl McpError {
    /// What is wrong, without what to do where [`McpError::remedy`] says that; no full stop.
    pub(crate) fn message(&self) -> String {
        match self {
            McpError::NoProject => {
                "this graph is not saved yet, so there is no project with MCP servers".to_owned()
            }
            McpError::NoFile { server, path } => format!(
                "the project has no MCP server `{server}`: there is no file {}",
                path.display()
            ),
            McpError::Broken { path, cause } => format!("{} cannot be used: {cause}", path.display()),
            McpError::Unknown { server, path, .. } => {
                format!("{} has no MCP server `{server}`", path.display())
            }
            McpError::NoVariable { server, variable } => format!(
                "the MCP server `{server}` needs the environment variable {variable}, which is not set"
            ),
            McpError::AccessDenied(denied) => denied.to_string(),
            McpError::NoTool { server, tool, .. } => {
                format!("the MCP server `{server}` has no tool `{tool}`")
            }
            McpError::SameTool { server, tool } => {
                format!("two tools are called `{tool}`, and one of them is of the MCP server `{server}`")
            }
            McpError::Start {
                server,
                cause,
                exit_message,
            } => {
                format!("the MCP server `{server}` could not be started: {cause}{exit_message}")
            }
            McpError::Died { server, exit_message } => {
                format!("the MCP server `{server}` stopped while it was at work{exit_message}")
            }
            McpError::Refused { server, cause } => format!("the MCP server `{server}` refused: {cause}"),
            McpError::Timeout { server, limit } => format!(
                "the MCP server `{server}` gave no sign of life for {:.0} s, and was told to stop",
                limit.as_secs_f64()
            ),
            McpError::Cancelled => "cancelled".to_owned(),
            McpError::Nonsense { server, cause } => {
                format!("the MCP server `{server}` sent something that is no answer: {cause}")
            }
        }
    }

    /// What to do, or what is done already; no full stop.
    pub(crate) fn remedy(&self) -> Option<String> {
        let nearest = |hint: &str| match hint.trim_start() {
            "" => String::new(),
            hint => format!("{hint} "),
        };
        Some(match self {
            McpError::NoProject => "Save it first".to_owned(),
            McpError::NoFile { server, .. } => {
                format!("Create it: {{\"mcpServers\": {{\"{server}\": {{\"command\": …}}}}}}")
            }
            McpError::Broken { .. } => "Correct the file".to_owned(),
            McpError::Unknown { hint, known, .. } => format!("{}Servers: {known}", nearest(hint)),
            McpError::NoVariable { variable, .. } => {
                format!("Set it, or give it a default in .mcp.json: ${{{variable}:-…}}")
            }
            McpError::NoTool { hint, known, .. } => format!("{}It has {known}", nearest(hint)),
            McpError::SameTool { .. } => "Give its tools a `prefix`".to_owned(),
            McpError::Died { .. } => "It is started again with the next call".to_owned(),
            _ => return None,
        })
    }

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
            settings if settings.is_settings() => error_class::MCP_SETUP,
            _ => "McpServerError",
        };
        NodeError::new(class, format!("node {node}: {self}."))
    }
}
