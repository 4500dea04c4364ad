//! Arguments of `superstep mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep mcp login notion
  superstep mcp logout notion")]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Sign in at an MCP server that asks for a login.
    #[command(after_long_help = "\
The page of the server opens in the browser, and the command waits for at most ten minutes. The login is kept in the system's
keychain, for this project and this address, and is renewed when it expires; nothing of it is in a file of the project.

Examples:
  superstep mcp login notion                          a server of the .mcp.json in this folder
  superstep mcp login notion --project graphs/desk    of another folder
  superstep mcp login notion --no-browser             prints the address of the page only")]
    Login(LoginArgs),
    /// Forget the login to an MCP server.
    #[command(after_long_help = "\
Examples:
  superstep mcp logout notion                         the login for the project in this folder
  superstep mcp logout notion --project graphs/desk   for another one")]
    Logout(ServerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Name of the server in .mcp.json
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Folder with the .mcp.json
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}
