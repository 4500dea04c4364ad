//! MCP servers of a graph's project: what its file declares, a server that is added to it, and what a server offers. A
//! server is asked only within what was allowed, as when a run uses it.

use std::path::Path;
use std::sync::Arc;

use superstep_nodes::{
    DeclaredVariable, Environment, Registry, ServerAddress, declared_servers, with_server,
};

use crate::Workbench;
use crate::base::{blocking, files};
use crate::documents::GraphSource;
use crate::wire::{
    AskServer, GraphRef, McpServer, McpServers, McpVariable, Problem, SaveServer, ServerTool, ServerTools,
};
use superstep_document::{Text, text};

/// Longest text of a server that is given back.
const MAX_TEXT: usize = 2_000;

pub(super) fn problem(message: impl Into<Text>) -> Problem {
    Problem::new("mcp-server", message)
}

fn variable_view(variable: DeclaredVariable) -> McpVariable {
    McpVariable {
        name: variable.name,
        value: variable.value,
    }
}

pub(super) fn view(registry: &Registry, environment: &Environment) -> Result<McpServers, Problem> {
    let (file, servers) = declared_servers(environment).map_err(problem)?;
    Ok(McpServers {
        file: file.to_string_lossy().into_owned(),
        servers: servers
            .into_iter()
            .map(|server| {
                let mut view = McpServer {
                    signed_in: registry.is_signed_in(environment, &server.name),
                    name: server.name,
                    command: None,
                    args: Vec::new(),
                    url: None,
                    variables: server.variables.into_iter().map(variable_view).collect(),
                    problem: None,
                };
                match server.how {
                    Ok(ServerAddress::Program { command, args }) => {
                        (view.command, view.args) = (Some(command), args)
                    }
                    Ok(ServerAddress::Address { url }) => view.url = Some(url),
                    Err(cause) => view.problem = Some(cause),
                }
                view
            })
            .collect(),
    })
}

impl Workbench {
    pub(super) fn around(&self, source: &GraphSource) -> Environment {
        let folder = source.path.as_deref().and_then(Path::parent);
        self.environment(folder.map(Path::to_path_buf))
    }

    pub(crate) async fn mcp_servers(self: &Arc<Self>, request: GraphRef) -> Result<McpServers, Problem> {
        let environment = self.around(&self.document(&request.graph_id)?.source());
        let this = self.clone();
        blocking(move || view(&this.registry, &environment)).await?
    }

    pub(crate) async fn mcp_save(self: &Arc<Self>, request: SaveServer) -> Result<McpServers, Problem> {
        let environment = self.around(&self.document(&request.graph_id)?.source());
        let this = self.clone();
        blocking(move || {
            let how = match (request.url, request.command) {
                (Some(url), _) => ServerAddress::Address { url },
                (None, Some(command)) => ServerAddress::Program {
                    command,
                    args: request.args,
                },
                (None, None) => {
                    return Err(problem(text!("The server has no address and no command."))
                        .remedy(text!("Enter one of them.")));
                }
            };
            let variables: Option<Vec<DeclaredVariable>> = request.variables.map(|variables| {
                let declared = |variable: McpVariable| DeclaredVariable {
                    name: variable.name,
                    value: variable.value,
                };
                variables.into_iter().map(declared).collect()
            });
            let name = request.name.trim();
            let (path, text) =
                with_server(&environment, name, &how, variables.as_deref()).map_err(problem)?;
            files::write_atomic(&path, text.as_bytes())
                .map_err(|error| Problem::file(text!("write"), &path, &error))?;
            view(&this.registry, &environment)
        })
        .await?
    }

    pub(crate) async fn mcp_tools(self: &Arc<Self>, request: AskServer) -> Result<ServerTools, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let environment = self.allowed_around(&source, &request.server)?;
        let tools = self.registry.offered_tools(&environment, &request.server).await;
        let tools = tools.map_err(|fault| self.server_problem(&source, fault))?;
        let text = |text: String| -> String { text.chars().take(MAX_TEXT).collect() };
        Ok(ServerTools {
            tools: tools
                .into_iter()
                .map(|tool| ServerTool {
                    name: tool.name,
                    description: tool.description.map(text),
                    reads_only: tool.reads_only,
                })
                .collect(),
        })
    }
}
