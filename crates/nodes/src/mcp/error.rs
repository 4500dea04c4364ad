//! What goes wrong with an MCP server, in words with which a person can put it right.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use superstep::NodeError;

use crate::base::access::AccessDenied;
use crate::base::error_class;
use superstep_document::{Text, text};

/// Reason why a person has to sign in at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignInNeed {
    /// Nobody did yet.
    Missing,
    /// The server no longer takes the login.
    Ended,
    /// The login does not include this.
    Scope(String),
}

/// Reason why an MCP server did not do what it was asked for.
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
        near: Option<String>,
        known: Text,
        path: PathBuf,
    },
    /// A variable of the declaration is not set.
    NoVariable { server: String, variable: String },
    /// A secret of several lines is named in a header, which takes one.
    SecretLines {
        server: String,
        variable: String,
        header: String,
    },
    /// Nobody has allowed it.
    AccessDenied(AccessDenied),
    /// It has no such tool, or no longer.
    NoTool {
        server: String,
        tool: String,
        near: Option<String>,
        known: Text,
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
    /// It wants to know who asks.
    SignIn { server: String, need: SignInNeed },
    /// A person tried to sign in.
    SignInFailed { server: String, cause: Text },
    /// The authorization server did not renew the login this time.
    NotRenewed { server: String, cause: String },
    /// It answered with an error.
    Refused { server: String, cause: String },
    /// It did not answer.
    Timeout { server: String, limit: Duration },
    /// The run was cancelled.
    Cancelled,
    /// What it sent is no answer to what it was asked.
    Nonsense { server: String, cause: String },
    /// Its answer came, and cannot be read.
    Unreadable {
        server: String,
        tool: Option<String>,
        cause: String,
    },
    /// It has such a tool, but describes it so that it cannot be called.
    OddTool {
        server: String,
        tool: String,
        cause: String,
    },
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
    /// Returns what is wrong, without what to do where [`McpError::remedy`] covers that; no full stop.
    #[expect(clippy::too_many_lines, reason = "a table")]
    pub(crate) fn message(&self) -> Text {
        match self {
            McpError::NoProject => {
                text!("this graph is not saved yet, so there is no project with MCP servers")
            }
            McpError::NoFile { server, path } => text!(
                "the project has no MCP server `{server}`: there is no file {path}",
                server,
                path = path.display().to_string()
            ),
            McpError::Broken { path, cause } => text!(
                "{path} cannot be used: {cause}",
                path = path.display().to_string(),
                cause
            ),
            McpError::Unknown { server, path, .. } => {
                text!(
                    "{path} has no MCP server `{server}`",
                    path = path.display().to_string(),
                    server
                )
            }
            McpError::NoVariable { server, variable } => text!(
                "the MCP server `{server}` needs the secret or environment variable {variable}, which has no value",
                server,
                variable
            ),
            McpError::SecretLines {
                server,
                variable,
                header,
            } => text!(
                "the secret {variable} has several lines, and the header {header} of the MCP server `{server}` takes one",
                variable,
                header,
                server
            ),
            McpError::AccessDenied(denied) => denied.to_string().into(),
            McpError::NoTool { server, tool, .. } => {
                text!("the MCP server `{server}` has no tool `{tool}`", server, tool)
            }
            McpError::SameTool { server, tool } => {
                text!(
                    "two tools are called `{tool}`, and one of them is of the MCP server `{server}`",
                    tool,
                    server
                )
            }
            McpError::Start {
                server,
                cause,
                exit_message,
            } => {
                text!(
                    "the MCP server `{server}` could not be started: {cause}{said}",
                    server,
                    cause,
                    said = exit_message
                )
            }
            McpError::Died { server, exit_message } => {
                text!(
                    "the MCP server `{server}` stopped while it was at work{said}",
                    server,
                    said = exit_message
                )
            }
            McpError::SignIn { server, need } => match need {
                SignInNeed::Missing => text!("the MCP server `{server}` asks for a login", server),
                SignInNeed::Ended => {
                    text!(
                        "the login to the MCP server `{server}` has expired or was revoked",
                        server
                    )
                }
                SignInNeed::Scope(scope) if scope.is_empty() => {
                    text!(
                        "the login to the MCP server `{server}` is not enough for this",
                        server
                    )
                }
                SignInNeed::Scope(scope) => text!(
                    "the login to the MCP server `{server}` does not include {scope}, which this needs",
                    server,
                    scope
                ),
            },
            McpError::SignInFailed { server, cause } => {
                text!(
                    "the login to the MCP server `{server}` failed: {cause}",
                    server,
                    cause
                )
            }
            McpError::NotRenewed { server, cause } => text!(
                "the login to the MCP server `{server}` could not be renewed: {cause}",
                server,
                cause
            ),
            McpError::Refused { server, cause } => {
                text!("the MCP server `{server}` refused: {cause}", server, cause)
            }
            McpError::Timeout { server, limit } => text!(
                "the MCP server `{server}` gave no sign of life for {seconds} s, and was told to stop",
                server,
                seconds = format!("{:.0}", limit.as_secs_f64())
            ),
            McpError::Cancelled => text!("cancelled"),
            McpError::Unreadable {
                server,
                tool: Some(tool),
                cause,
            } => text!(
                "the answer of the tool `{tool}` of the MCP server `{server}` cannot be read: {cause}",
                tool,
                server,
                cause
            ),
            McpError::OddTool { server, tool, cause } => text!(
                "the tool `{tool}` of the MCP server `{server}` cannot be used: {cause}",
                tool,
                server,
                cause
            ),
            McpError::Nonsense { server, cause } | McpError::Unreadable { server, cause, .. } => {
                text!(
                    "the MCP server `{server}` sent something that is no answer: {cause}",
                    server,
                    cause
                )
            }
        }
    }

    /// Returns what to do, or what has been done already; no full stop.
    pub(crate) fn remedy(&self) -> Option<Text> {
        Some(match self {
            McpError::NoProject => text!("Save it first"),
            McpError::NoFile { server, .. } => {
                text!(
                    "Create it: {\"mcpServers\": {\"{server}\": {\"command\": …}}}",
                    server
                )
            }
            McpError::Broken { .. } => text!("Correct the file"),
            McpError::Unknown {
                near: Some(near),
                known,
                ..
            } => text!("Did you mean `{near}`? Servers: {known}", near, known),
            McpError::Unknown {
                near: None, known, ..
            } => text!("Servers: {known}", known),
            McpError::NoVariable { variable, .. } => {
                text!(
                    "Enter a value in Settings under Secrets, set the variable before Superstep is started, or give it a default in .mcp.json: ${{variable}:-…}",
                    variable
                )
            }
            McpError::NoTool {
                near: Some(near),
                known,
                ..
            } => text!("Did you mean `{near}`? It has {known}", near, known),
            McpError::NoTool {
                near: None, known, ..
            } => text!("It has {known}", known),
            McpError::SecretLines { .. } => {
                text!("Name a secret of one line in the header, such as a token")
            }
            McpError::SignIn { server, .. } => text!(
                "Sign in where a node of the graph names the server, or type `superstep mcp login {server}` in the project's folder",
                server
            ),
            McpError::SameTool { .. } => text!("Give its tools a `prefix`"),
            McpError::Unreadable { tool: Some(_), .. } => text!("The tool may have done its work"),
            McpError::OddTool { .. } => text!("The server has to be corrected"),
            McpError::Died { .. } => text!("It is started again with the next call"),
            _ => return None,
        })
    }

    /// Returns the stable name, for diagnostics.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            McpError::NoProject => "graph-not-saved",
            McpError::Broken { .. } => "broken-mcp-file",
            McpError::SignIn { .. } => "mcp-sign-in",
            _ => "unknown-mcp",
        }
    }

    /// Returns whether the error concerns the project's settings, so that retrying does not help.
    pub(crate) fn is_settings(&self) -> bool {
        use McpError::{
            AccessDenied, Broken, NoFile, NoProject, NoTool, NoVariable, OddTool, SameTool, SecretLines,
            SignIn, SignInFailed, Unknown,
        };
        matches!(
            self,
            NoProject
                | NoFile { .. }
                | Broken { .. }
                | Unknown { .. }
                | NoVariable { .. }
                | SecretLines { .. }
                | NoTool { .. }
                | OddTool { .. }
                | SameTool { .. }
                | SignIn { .. }
                | SignInFailed { .. }
                | AccessDenied(_)
        )
    }

    /// Converts the error to the failure of node `node`.
    pub(crate) fn of_node(self, node: &str) -> NodeError {
        let class = match &self {
            McpError::AccessDenied(_) => AccessDenied::CLASS,
            McpError::Cancelled => return NodeError::Cancelled,
            McpError::SignIn { .. } | McpError::SignInFailed { .. } => error_class::MCP_LOGIN,
            McpError::Timeout { .. } => "McpTimeoutError",
            settings if settings.is_settings() => error_class::MCP_SETUP,
            _ => "McpServerError",
        };
        NodeError::new(class, format!("node {node}: {self}."))
    }
}
