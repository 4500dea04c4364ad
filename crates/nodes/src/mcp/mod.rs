//! MCP servers of a project: declared in its `.mcp.json`, one connection each, started when somebody needs it, started
//! again when it has died, and stopped when nobody has needed it for a while. Nothing is started or reached without a
//! grant.
//!
//! Nodes and tools get [`Mcp`], which is a project's view of the [`ServerPool`] that all projects share.

mod client;
mod config;
mod content;
mod declaring;
mod error;
mod http;
mod login;
mod offers;
mod process;
mod reading;
mod sign_in;
mod stdio;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::base::access::Access;
use crate::programs::helper::HelperProgram;
use crate::project::Environment;
pub(crate) use client::Client;
pub(crate) use content::{Content, of_call, of_resource, structured};
pub use declaring::{DeclaredServer, DeclaredVariable, ServerAddress, declared_servers, with_server};
pub(crate) use error::McpError;
pub(crate) use offers::{ServerList, ServerTool};
pub use sign_in::SignIn;
use superstep_document::Text;

/// How long a server that nobody needs is kept.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// The connections of all projects.
#[derive(Debug)]
pub(crate) struct ServerPool {
    places: Mutex<HashMap<(PathBuf, String), Arc<ServerPlace>>>,
    idle: Duration,
    /// What runs servers that are programs.
    helper: Option<HelperProgram>,
}

impl Default for ServerPool {
    fn default() -> Self {
        Self::new(HelperProgram::this())
    }
}

impl ServerPool {
    pub(crate) fn new(helper: Option<HelperProgram>) -> Self {
        Self {
            places: Mutex::default(),
            idle: IDLE,
            helper,
        }
    }
}

/// A server's place, whether it runs or not.
#[derive(Debug, Default)]
struct ServerPlace {
    /// Held while the server starts, so that it is started once.
    client: tokio::sync::Mutex<Option<Arc<Client>>>,
}

/// Access of a node to MCP servers: the hub, with the rights of its project.
#[derive(Clone, Debug)]
pub(crate) struct Mcp {
    hub: Arc<ServerPool>,
    environment: Environment,
}

impl Mcp {
    pub(crate) fn new(hub: Arc<ServerPool>, environment: Environment) -> Self {
        Self { hub, environment }
    }

    /// Returns the connection to a server, which is started if necessary.
    pub(crate) async fn client(&self, server: &str) -> Result<Arc<Client>, McpError> {
        let (root, declared) = config::declared(&self.environment, server)?;
        for access in declared.accesses(server, &self.environment) {
            self.environment.grants.require(&access)?;
        }
        let launch = declared.launch(server, &self.environment)?;
        let place = self
            .hub
            .places
            .lock()
            .entry((root.clone(), server.to_owned()))
            .or_default()
            .clone();
        let mut held = place.client.lock().await;
        if let Some(client) = &*held
            && client.serves(&launch)
        {
            client.allow(&self.environment);
            return Ok(client.clone());
        }
        // One that has died, or is declared otherwise by now.
        *held = None;
        let client = Arc::new(
            Client::start(server, launch, &root, &self.environment, self.hub.helper.as_ref()).await?,
        );
        *held = Some(client.clone());
        let idle = stop_when_idle(Arc::downgrade(&place), Arc::downgrade(&client), self.hub.idle);
        tokio::spawn(idle);
        Ok(client)
    }
}

/// Lets go of a connection that has not been used for a while. A caller that uses it holds it.
async fn stop_when_idle(place: Weak<ServerPlace>, client: Weak<Client>, idle: Duration) {
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(idle / 4).await;
        let (Some(place), Some(client)) = (place.upgrade(), client.upgrade()) else {
            return;
        };
        let mut held = place.client.lock().await;
        let ours = held.as_ref().is_some_and(|held| Arc::ptr_eq(held, &client));
        if !ours {
            return;
        }
        // Held by the place, by this task, and by those who use it.
        if Arc::strong_count(&client) > 2 || client.was_used() {
            since = Instant::now();
        } else if since.elapsed() >= idle {
            *held = None;
            return;
        }
    }
}

/// Reason why a server did not do what a person asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFault {
    /// What is wrong, and what to do.
    pub message: String,
    /// The person has to sign in first, for this reason.
    pub wants_login: Option<Text>,
    /// The person has to allow this first.
    pub denied: Option<Access>,
}

impl From<McpError> for ServerFault {
    fn from(error: McpError) -> Self {
        Self {
            message: error.to_string(),
            wants_login: matches!(error, McpError::SignIn { .. }).then(|| error.message()),
            denied: match error {
                McpError::AccessDenied(denied) => Some(denied.0),
                _ => None,
            },
        }
    }
}

/// A tool that a server offers.
#[derive(Clone, Debug)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What the server says that it does.
    pub description: Option<String>,
    /// The server says that it changes nothing.
    pub reads_only: bool,
}

impl Mcp {
    /// Returns what a server offers, for a person who chooses from it.
    pub(crate) async fn offered(&self, server: &str) -> Result<Vec<OfferedTool>, McpError> {
        let tools = self.client(server).await?.tools().await?;
        let offered = tools.entries.iter().map(|tool| OfferedTool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            reads_only: tool.reads_only == Some(true),
        });
        Ok(offered.collect())
    }
}

/// Returns what a server touches, according to its declaration.
pub(crate) fn accesses(environment: &Environment, server: &str) -> Result<Vec<Access>, McpError> {
    let (_, declared) = config::declared(environment, server)?;
    Ok(declared.accesses(server, environment))
}

#[cfg(test)]
mod tests {
    mod drawn;

    use super::*;
    use crate::base::access::Grants;

    #[tokio::test]
    async fn a_server_that_nobody_needs_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_server.py");
        let file = serde_json::json!({"mcpServers": {"odd": {"command": "python3", "args": [script]}}});
        std::fs::write(folder.path().join(".mcp.json"), file.to_string()).unwrap();
        let hub = ServerPool {
            idle: Duration::from_millis(200),
            ..ServerPool::default()
        };
        let environment = Environment::new(Some(folder.path().to_owned())).with_grants(Grants::all());
        let mcp = Mcp::new(Arc::new(hub), environment);
        let client = mcp.client("odd").await.unwrap();
        let held = Arc::downgrade(&client);
        // As long as somebody holds it, it is in use.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(Arc::ptr_eq(&client, &mcp.client("odd").await.unwrap()));
        drop(client);
        while held.upgrade().is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(
            !mcp.client("odd")
                .await
                .unwrap()
                .tools()
                .await
                .unwrap()
                .entries
                .is_empty()
        );
    }
}
