//! Opening storage at any address: the backends of the storage crate, and LangGraph servers, whose client is that of the nodes.

use std::sync::Arc;

use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;
use superstep_nodes::agent_server::{AgentAddress, AgentServer, AgentServerError, AgentServerSaver};
use superstep_nodes::models::Variables;
use superstep_nodes::{Environment, Grants};
use superstep_storage::{Backend, Storage};

/// Opens what an address names. The secrets that the address of a server names are read from the variables: who gives the
/// address of a database lets it be asked.
pub async fn open_storage(
    url: &str,
    config: StoreConfig,
    variables: &Variables,
) -> Result<Storage, StorageError> {
    match is_server(url) {
        true => open_server(url, variables).await,
        false => superstep_storage::open_with(url, config).await,
    }
}

/// Opens what an address names for who only looks: where nothing is stored yet nothing is made, and `None` is the answer.
pub async fn open_existing_storage(
    url: &str,
    config: StoreConfig,
    variables: &Variables,
) -> Result<Option<Storage>, StorageError> {
    match is_server(url) {
        true => open_server(url, variables).await.map(Some),
        false => superstep_storage::open_existing_with(url, config).await,
    }
}

fn is_server(url: &str) -> bool {
    Backend::of(url).is_ok_and(|backend| backend == Backend::AgentServer)
}

async fn open_server(url: &str, variables: &Variables) -> Result<Storage, StorageError> {
    let address = AgentAddress::parse(url).map_err(refused)?;
    let named = address.database();
    let variables = variables.clone();
    let environment = Environment::new(None)
        .with_variables(move |name| variables(name))
        .with_grants(Grants::these(address.wanted()));
    let server = AgentServer::new(address, &environment).map_err(refused)?;
    let saver = AgentServerSaver::open(server).await.map_err(refused)?;
    Ok(Storage::only_read(Arc::new(saver), &named))
}

/// Returns the error of an address, which may hold what must not be repeated.
fn refused(error: AgentServerError) -> StorageError {
    let text = error.to_string();
    // The error says what to do in its own last sentence.
    let (cause, remedy) = match text.trim_end_matches('.').rsplit_once(". ") {
        Some((cause, remedy)) => (cause.to_owned(), remedy.to_owned()),
        None => (text.clone(), "Check the address".to_owned()),
    };
    StorageError::Backend {
        what: "opening the threads of a LangGraph server".to_owned(),
        cause,
        remedy,
    }
}
