//! An assistant of a server that is attached, beside programs that are attached: the same requests to both.

use std::path::PathBuf;

use superstep::Value;

use super::address::AgentAddress;
use super::client::AgentServer;
use super::drawing;
use super::run;
use super::wire::{Assistant, ServerReleases};
use crate::programs::agent_server_error::AgentServerError;
use crate::programs::attach::{
    AttachError, AttachedDescription, AttachedProgram, AttachedRun, AttachedState, ProgramVersions, RunSpec,
};
use crate::project::Environment;

/// An assistant of a LangGraph server.
#[derive(Clone, Debug)]
pub struct AttachedServer {
    server: AgentServer,
    releases: ServerReleases,
    assistant: Assistant,
}

impl AttachedServer {
    /// Finds the assistant that an address names, or the only one of its server.
    pub async fn find(address: AgentAddress, environment: &Environment) -> Result<Self, AttachError> {
        let server = AgentServer::new(address, environment)?;
        let releases = server.releases().await?;
        let named = server.address().assistant().map(str::to_owned);
        let assistant = server.assistant(named.as_deref()).await?;
        Ok(Self {
            server,
            releases,
            assistant,
        })
    }

    /// Takes an assistant of a server that was asked for both already.
    pub fn of(server: AgentServer, releases: ServerReleases, assistant: Assistant) -> Self {
        Self {
            server,
            releases,
            assistant,
        }
    }

    /// Returns the server.
    pub fn server(&self) -> &AgentServer {
        &self.server
    }

    /// Returns the assistant.
    pub fn assistant(&self) -> &Assistant {
        &self.assistant
    }

    /// Returns the address that names server and assistant.
    pub fn named(&self) -> String {
        let address = self.server.address().clone();
        address.with_assistant(Some(&self.assistant.name)).named()
    }

    /// Draws its graph.
    pub async fn describe(&self) -> Result<AttachedDescription, AttachError> {
        let id = &self.assistant.assistant_id;
        let outer = self.server.drawing(id, false).await?;
        let mut lacking = vec![
            "the code of its nodes, their retries and time limits".to_owned(),
            "joins, names of conditions, and reducers".to_owned(),
        ];
        let whole = match self.server.drawing(id, true).await {
            Ok(whole) => Some(whole),
            Err(error @ AgentServerError::Refused { .. }) => {
                lacking.push(format!("graphs within its graph ({error})"));
                None
            }
            Err(error) => return Err(error.into()),
        };
        let schemas = match self.server.schemas(id).await {
            Ok(schemas) => schemas,
            Err(error @ AgentServerError::Refused { .. }) => {
                lacking.push(format!("the schemas of its input and state ({error})"));
                Default::default()
            }
            Err(error) => return Err(error.into()),
        };
        let mut drawing = drawing::drawing(&self.assistant.graph_id, &outer, whole.as_ref())
            .map_err(|limit| self.server.too_large("the drawing of a graph", limit))?;
        drawing.channels = drawing::channels(&schemas);
        drawing.checkpointer = "its server".into();
        Ok(AttachedDescription {
            named: self.assistant.name.clone(),
            drawing,
            schemas: drawing::schemas(schemas),
            lacking,
            compiled_here: false,
            made_by: None,
            versions: ProgramVersions {
                python: String::new(),
                langgraph: (self.releases.langgraph_py_version.clone())
                    .or_else(|| self.releases.langgraph_js_version.clone()),
                langchain: None,
            },
            interpreter: PathBuf::new(),
            files: Vec::new(),
        })
    }

    /// Begins a run. Events have to be taken: its connection is not read while they are not.
    pub fn run(&self, spec: &RunSpec) -> AttachedRun {
        run::begin(&self.server, &self.assistant.assistant_id, spec)
    }

    /// Reads the state of a thread, at its newest checkpoint unless one is named.
    pub async fn state(&self, thread: &str, checkpoint: Option<&str>) -> Result<AttachedState, AttachError> {
        if run::uuid_of(thread).is_none() {
            let id = thread.to_owned();
            return Err(AgentServerError::ThreadId { id }.into());
        }
        let state: Value = run::state_at(&self.server, thread, checkpoint).await?;
        let read = state.decode();
        Ok(read.map_err(|error| self.server.garbled("a state", error.to_string()))?)
    }
}

/// A program that is attached, by itself or by its server.
#[derive(Debug)]
pub enum Attached {
    /// In a process of ours.
    Program(AttachedProgram),
    /// On a server.
    Server(AttachedServer),
}

impl Attached {
    /// Begins a run. Events have to be taken.
    pub fn run(&self, spec: &RunSpec) -> AttachedRun {
        match self {
            Self::Program(program) => program.run(spec),
            Self::Server(server) => server.run(spec),
        }
    }

    /// Reads the state of a thread, at its newest checkpoint unless one is named.
    pub async fn state(&self, thread: &str, checkpoint: Option<&str>) -> Result<AttachedState, AttachError> {
        match self {
            Self::Program(program) => program.state(thread, checkpoint).await,
            Self::Server(server) => server.state(thread, checkpoint).await,
        }
    }

    /// Waits until the program has printed something, or has ended; for ever where it prints elsewhere.
    pub async fn prints(&self) {
        match self {
            Self::Program(program) => program.prints().await,
            Self::Server(_) => std::future::pending().await,
        }
    }

    /// Takes the lines that the program printed since the last time, and how many more were dropped.
    pub fn printed(&self) -> (Vec<String>, u64) {
        match self {
            Self::Program(program) => program.printed(),
            Self::Server(_) => (Vec::new(), 0),
        }
    }

    /// Returns whether the program has ended that is a process of ours.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Program(program) => program.has_ended(),
            Self::Server(_) => false,
        }
    }

    /// Returns the program, where it is a process of ours.
    pub fn program(&self) -> Option<&AttachedProgram> {
        match self {
            Self::Program(program) => Some(program),
            Self::Server(_) => None,
        }
    }

    /// Returns the server that runs it.
    pub fn server(&self) -> Option<&AttachedServer> {
        match self {
            Self::Program(_) => None,
            Self::Server(server) => Some(server),
        }
    }

    /// Ends the process of a program; a server stays as it is.
    pub async fn close(self) {
        match self {
            Self::Program(program) => program.close().await,
            Self::Server(_) => {}
        }
    }
}
