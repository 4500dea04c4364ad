//! MCP servers of a graph's project.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Answer of `mcp.servers` and `mcp.save`: what the project's `.mcp.json` declares.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct McpServers {
    /// The file, which need not be there yet.
    pub file: String,
    /// In its order.
    pub servers: Vec<McpServer>,
}

/// A server of a project.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// The program that is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub command: Option<String>,
    /// What the program is given.
    pub args: Vec<String>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
    /// Variables of its environment, or headers that are sent to it.
    pub variables: Vec<McpVariable>,
    /// Somebody has signed in there.
    #[serde(default, rename = "signedIn", skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub signed_in: bool,
    /// Why the entry cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}

/// Answer of `mcp.signIn`: the person is to sign in on a page. `mcp.signedIn` waits for that, `mcp.cancelSignIn` ends it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SignInBegun {
    /// The address of the page.
    pub address: String,
    /// The page was opened in the person's browser; otherwise the interface does it.
    pub opened: bool,
}

/// A variable of a program's environment, or a header that is sent to an address.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct McpVariable {
    /// Its name.
    pub name: String,
    /// Its text, when it names a secret (`${NAME}`); absent: what the file has written out, which stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<String>,
}

/// `mcp.save`: declares a server in the project's `.mcp.json`. Nothing is started or reached by it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveServer {
    /// An open document; its folder is the project.
    pub graph_id: String,
    /// Name of the server; an entry of that name is changed.
    pub name: String,
    /// The program that is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub command: Option<String>,
    /// What the program is given.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its address, in place of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
    /// Variables of its environment, or headers that are sent to it; absent: those that it has stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub variables: Option<Vec<McpVariable>>,
}

/// `mcp.tools`: asks a server what it offers. It is started or reached by that, once that is allowed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskServer {
    /// An open document; its folder is the project.
    pub graph_id: String,
    /// Name of the server.
    pub server: String,
}

/// Answer of `mcp.tools`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ServerTools {
    /// In the server's order.
    pub tools: Vec<ServerTool>,
}

/// A tool that a server offers.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerTool {
    /// Its name.
    pub name: String,
    /// What the server says that it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// The server says that it changes nothing.
    pub reads_only: bool,
}
