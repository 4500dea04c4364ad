//! `superstep attach http://…`: what a LangGraph server serves, and runs of it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value as Json, json};
use superstep::StreamMode;
use superstep_nodes::Access;
use superstep_nodes::agent_server::{
    AgentAddress, AgentServer, AgentServerError, Assistant, Attached, AttachedServer, ListedThread,
    ServerReleases, ThreadFilter,
};
use superstep_nodes::attach::AttachedDescription;
use superstep_workbench::WantedAccess;

use crate::args::attach::AttachArgs;
use crate::commands::attach::{self, Tables};
use crate::fault::Fault;
use crate::graph::{around, permit};
use crate::out::{self, quoted};

/// Graphs that are drawn when no assistant is named.
const MAX_DRAWN: usize = 20;
/// Threads that are listed.
const MAX_LISTED: usize = 20;

/// A LangGraph server that a command names, with what it wants to access.
pub(crate) struct NamedServer {
    address: AgentAddress,
    pub(crate) wanted: WantedAccess,
}

impl From<AgentServerError> for Fault {
    fn from(error: AgentServerError) -> Self {
        match error.is_of_request() {
            true => Fault::usage(error.to_string()),
            false => Fault::failed(error.to_string()),
        }
    }
}

impl NamedServer {
    /// Returns whether a text is the address of a server.
    pub(crate) fn is_named_by(text: &str) -> bool {
        AgentAddress::is_named_by(text)
    }

    /// Reads the address; nothing is asked.
    pub(crate) fn find(text: &str, headers: &[String], assistant: Option<&str>) -> Result<Self, Fault> {
        let address = AgentAddress::parse(text)?
            .with_headers(headers.iter().map(String::as_str))?
            .with_assistant(assistant);
        let wanted = address.wanted().into_iter();
        Ok(Self {
            wanted: wanted.map(|access| (access, BTreeSet::new())).collect(),
            address,
        })
    }

    /// Returns the name under which its grants are kept.
    pub(crate) fn project(&self) -> String {
        self.address.project()
    }

    /// Prepares requests to it, as far as they are allowed.
    fn connect(self, everything: bool) -> Result<AgentServer, Fault> {
        let place = self.address.project();
        let allow = |wanted: &WantedAccess| {
            let each = |access: &Access| format!(" --allow {}", quoted(&access.key()));
            let options: String = wanted.keys().map(each).collect();
            format!("superstep trust {}{options}", quoted(&place))
        };
        let grants = permit(&place, &place, self.wanted, everything, allow)?;
        Ok(AgentServer::new(self.address, &around(None).with_grants(grants))?)
    }
}

/// Draws what a server serves, or runs one of its assistants.
pub(super) async fn attach(args: AttachArgs, modes: Vec<StreamMode>) -> Result<(), Fault> {
    if !args.variables.is_empty() {
        return Err(Fault::usage(
            "--env is for programs that are started here. A server has an environment of its own.",
        ));
    }
    if args.edit.is_some() || args.debugpy.is_some() || !args.breaks.is_empty() {
        return Err(Fault::usage(
            "--edit, --debugpy and --break are for programs that are started here. On a server, --interrupt-before and \
             --interrupt-after stop at nodes.",
        ));
    }
    let named = NamedServer::find(&args.program, &args.headers, args.assistant.as_deref())?;
    let server = named.connect(args.trust)?;
    let releases = server.releases().await?;
    let meant = server.address().assistant().map(str::to_owned);
    if args.runs() {
        let assistant = server.assistant(meant.as_deref()).await?;
        let server = AttachedServer::of(server, releases, assistant);
        let described = server.describe().await?;
        return attach::run(Attached::Server(server), &described, args, modes).await;
    }
    let assistants = match meant {
        Some(meant) => vec![server.assistant(Some(&meant)).await?],
        None => server.assistants().await?,
    };
    let served = Served::read(server, releases, assistants).await?;
    match args.json {
        true => Ok(out::pretty(&served.json())?),
        false => served.show(),
    }
}

/// Everything that is shown of a server.
struct Served {
    place: String,
    releases: ServerReleases,
    assistants: Vec<Assistant>,
    /// By the names of the graphs.
    drawn: Vec<AttachedDescription>,
    /// Graphs that are not drawn, for they are too many.
    left_out: usize,
    threads: Vec<ListedThread>,
}

impl Served {
    async fn read(
        server: AgentServer,
        releases: ServerReleases,
        assistants: Vec<Assistant>,
    ) -> Result<Self, Fault> {
        let mut graphs: Vec<&Assistant> = Vec::new();
        for assistant in &assistants {
            if !graphs.iter().any(|known| known.graph_id == assistant.graph_id) {
                graphs.push(assistant);
            }
        }
        let left_out = graphs.len().saturating_sub(MAX_DRAWN);
        let mut drawn = Vec::new();
        for assistant in graphs.into_iter().take(MAX_DRAWN) {
            let one = AttachedServer::of(server.clone(), releases.clone(), assistant.clone());
            drawn.push(one.describe().await?);
        }
        let only = match &*assistants {
            [one] => Some(json!({"graph_id": one.graph_id})),
            _ => None,
        };
        let filter = ThreadFilter {
            metadata: only,
            ..ThreadFilter::default()
        };
        let threads = server.threads(&filter, MAX_LISTED, 0).await?;
        Ok(Self {
            place: server.address().to_string(),
            releases,
            assistants,
            drawn,
            left_out,
            threads,
        })
    }

    fn json(&self) -> Json {
        let graphs: Map<String, Json> = (self.drawn.iter())
            .map(|described| (described.drawing.name.clone(), json!(described)))
            .collect();
        json!({
            "server": self.place,
            "releases": self.releases,
            "assistants": self.assistants,
            "graphs": graphs,
            "threads": self.threads,
        })
    }

    fn show(&self) -> Result<(), Fault> {
        let release = |release: &Option<String>| {
            release
                .clone()
                .unwrap_or_else(|| "of an unknown release".to_owned())
        };
        let langgraph = match (
            &self.releases.langgraph_py_version,
            &self.releases.langgraph_js_version,
        ) {
            (None, js) => release(js),
            (py, _) => release(py),
        };
        out::note(&format!(
            "server {}: release {}, LangGraph {langgraph}; {}",
            self.place,
            release(&self.releases.version),
            out::count(self.assistants.len() as u64, "assistant")
        ));
        let rows: Vec<Vec<String>> = (self.assistants.iter())
            .map(|one| vec![one.name.clone(), one.graph_id.clone(), one.assistant_id.clone()])
            .collect();
        out::table(&["ASSISTANT", "GRAPH", "ID"], &rows)?;
        for described in &self.drawn {
            draw(described)?;
        }
        if self.left_out > 0 {
            out::note(&format!(
                "{} more are not drawn. Name one with --assistant.",
                out::count(self.left_out as u64, "graph")
            ));
        }
        if !self.threads.is_empty() {
            out::lines("")?;
            let rows: Vec<Vec<String>> = (self.threads.iter())
                .map(|thread| {
                    vec![
                        thread.thread_id.clone(),
                        thread.status.clone(),
                        thread.graph().unwrap_or_default().to_owned(),
                        thread.updated_at.clone().unwrap_or_default(),
                    ]
                })
                .collect();
            out::table(&["THREAD", "STATUS", "GRAPH", "UPDATED"], &rows)?;
        }
        out::note(&format!(
            "All of its threads: superstep threads list --db {}",
            quoted(&format!("agent-server:{}", self.place))
        ));
        Ok(())
    }
}

/// Prints the drawing of one graph.
fn draw(described: &AttachedDescription) -> Result<(), Fault> {
    out::lines("")?;
    out::lines(&format!("graph {}", described.drawing.name))?;
    let mut tables = Tables::default();
    tables.add(&described.drawing, "", Path::new(""));
    // Where its code is, a server does not say.
    let nodes: Vec<Vec<String>> = (tables.nodes.iter())
        .map(|row| {
            row.iter()
                .enumerate()
                .filter(|(column, _)| *column != 1)
                .map(|(_, cell)| cell.clone())
                .collect()
        })
        .collect();
    out::table(&["NODE", "HOW"], &nodes)?;
    tables.print_ways()?;
    if !tables.channels.is_empty() {
        out::lines("")?;
        let keys: Vec<Vec<String>> = (tables.channels.iter())
            .map(|row| {
                row.iter()
                    .enumerate()
                    .filter(|(column, _)| *column != 2)
                    .map(|(_, cell)| cell.clone())
                    .collect()
            })
            .collect();
        out::table(&["KEY", "TYPE", "HOW"], &keys)?;
    }
    for lacking in &described.lacking {
        out::note(&format!("Not known: {lacking}."));
    }
    Ok(())
}
