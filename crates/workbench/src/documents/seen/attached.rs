//! A person's own LangGraph program, attached: its graph in the place of what the threads show, its threads in their database,
//! and its process or its server, for as long as that database is in use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use superstep_document::{Document, Join, Text, text};
use superstep_nodes::agent_server::{AgentAddress, Attached};
use superstep_nodes::attach::{
    self, AttachError, AttachFault, AttachFaultCode, AttachOptions, AttachTarget, AttachedDescription,
    AttachedProgram, GraphDrawing, ThreadsPlace,
};
use superstep_nodes::{Environment, Stamp};

use super::builder::{documents, takes_whole};
use super::server::server_problem;
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Fingerprint};
use crate::documents::GraphSource;
use crate::running::busy;
use crate::trust::WantedAccess;
use crate::wire::{AppEvent, AttachedView, Empty, GraphView, Problem, ProgramDebugger, UseStorage};

/// Folder of the data folder for threads of programs that have no database of their own.
const THREADS: &str = "programs";
/// File in which a project lists its graphs.
const CONFIG: &str = "langgraph.json";
/// In the place of a graph's name: the only one of the file.
const ONLY: &str = "*";

/// A program that is attached.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(crate) program: Attached,
    /// The address that it was opened by.
    pub(crate) named: String,
    /// The name that its server gave its graph.
    pub(super) given: Option<String>,
    pub(super) name: String,
    described: AttachedDescription,
    /// Its graph and those within, by the nodes around them.
    pub(super) documents: BTreeMap<Vec<String>, Document>,
    /// Nodes of its outermost graph.
    pub(super) nodes: BTreeSet<String>,
    /// Its files as they were when it was imported.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    is_changed: AtomicBool,
}

impl Attachment {
    pub(super) fn new(program: Attached, described: AttachedDescription, named: String) -> Self {
        let files = described.files.iter();
        let root = program.program().map(|program| program.target().root());
        Self {
            name: described.drawing.name.clone(),
            given: program.server().map(|server| server.assistant().graph_id.clone()),
            documents: documents(&described, root.unwrap_or(Path::new(""))),
            nodes: (described.drawing.nodes.iter())
                .map(|node| node.name.clone())
                .collect(),
            stamps: files.map(|file| (file.clone(), Stamp::of(file))).collect(),
            is_changed: AtomicBool::new(false),
            program,
            named,
            described,
        }
    }

    /// Returns its outermost graph.
    pub(crate) fn document(&self) -> Document {
        let own = self.documents.get(&[][..]).cloned();
        own.unwrap_or_else(|| Document::new(&self.name))
    }

    /// Returns its outermost graph as its builder has it.
    pub(crate) fn drawing(&self) -> &GraphDrawing {
        &self.described.drawing
    }

    /// Returns the name that its server gave its graph.
    pub(crate) fn given(&self) -> Option<String> {
        self.given.clone()
    }

    /// Returns the program where it is a process of ours: what its API does not offer is refused of a server.
    pub(crate) fn own_program(&self) -> Result<&AttachedProgram, Problem> {
        self.program.program().ok_or_else(|| {
            Problem::new(
                "on-server",
                text!("A server runs this graph: its threads are not edited from here, and its code is not debugged."),
            )
            .remedy(text!("Attach the program itself, by its file."))
        })
    }

    /// Returns whether a run is given something else than an object of state keys, which stands under `input` then.
    pub(crate) fn takes_whole(&self) -> bool {
        takes_whole(&self.described)
    }

    /// Returns whether a file of the program is another one than the one that was imported, or its process has ended.
    pub(crate) fn is_outdated(&self) -> bool {
        let is_other = |(file, stamp): &(PathBuf, Option<Stamp>)| Stamp::of(file) != *stamp;
        self.program.has_ended() || self.stamps.iter().any(is_other)
    }

    /// Returns whether the program's graph has one of these nodes, or none at all.
    pub(super) fn has_node_of(&self, nodes: &BTreeSet<String>) -> bool {
        nodes.is_empty() || !self.nodes.is_disjoint(nodes)
    }

    /// Returns whether threads with this name and these nodes are of its graph: a name that a server gave decides alone.
    pub(super) fn is_of(&self, given: Option<&String>, nodes: &BTreeSet<String>) -> bool {
        given == self.given.as_ref() && (given.is_some() || self.has_node_of(nodes))
    }

    pub(super) fn view(&self) -> AttachedView {
        let versions = &self.described.versions;
        AttachedView {
            named: self.named.clone(),
            interpreter: match &self.program {
                Attached::Program(program) => program.interpreter().display().to_string(),
                Attached::Server(server) => server.server().address().to_string(),
            },
            server: self.program.server().is_some(),
            python: versions.python.clone(),
            langgraph: versions.langgraph.clone(),
            changed: self.is_changed.load(Ordering::Relaxed),
            lacking: self.described.lacking.clone(),
        }
    }
}

/// A program that is found, and is not started yet.
struct FoundProgram {
    target: AttachTarget,
    named: String,
    environment: Environment,
    options: AttachOptions,
    wanted: WantedAccess,
}

/// Returns the text that names a program's graph, where a path is one: with a whole path, and a name.
fn program_of(path: &str) -> Option<String> {
    let path = path.trim();
    let path = match files::absolute(path) {
        Ok(whole) if whole.is_dir() && !whole.join("graph.json").exists() && whole.join(CONFIG).is_file() => {
            whole.join(CONFIG)
        }
        Ok(whole) => whole,
        Err(_) => return None,
    };
    let named = path.display().to_string();
    AttachTarget::is_named_by(&named).then_some(named)
}

fn not_opened(named: &str) -> Problem {
    Problem::new("cancelled", text!("{named} was not opened.", named))
}

impl Workbench {
    /// Returns the program whose threads are in use.
    pub(crate) fn attached(&self) -> Option<Arc<Attachment>> {
        self.graphs.seen.attached.lock().clone()
    }

    /// Finds a program and its interpreter.
    fn find_program(&self, named: &str) -> Result<FoundProgram, Problem> {
        let find = |named: &str| AttachTarget::find(named, Path::new(""));
        let (target, named) = match find(named) {
            Err(AttachError::Unnamed { file }) => {
                let only = format!("{}:{ONLY}", file.display());
                (find(&only), only)
            }
            found => (found, named.to_owned()),
        };
        let target = target.map_err(|error| problem_of(&error, &named))?;
        let folder = self.instance.data_dir().join(THREADS);
        // Graphs of one file share theirs: one may be opened with its name or without.
        let place = match target.file() {
            Some(file) => Fingerprint::of(&file.display().to_string()),
            None => Fingerprint::of(&named),
        };
        let name: String = place.as_str().chars().take(16).collect();
        fs::create_dir_all(&folder)
            .map_err(|error| Problem::file(text!("make the folder"), &folder, &error))?;
        let options = AttachOptions {
            keep: Some(folder.join(format!("{name}.sqlite"))),
            ..AttachOptions::default()
        };
        let environment = self.environment(Some(target.root().to_owned()));
        let wanted = attach::wanted(&environment, &options).map_err(|error| problem_of(&error, &named))?;
        Ok(FoundProgram {
            wanted: wanted
                .into_iter()
                .map(|access| (access, BTreeSet::new()))
                .collect(),
            target,
            named,
            environment,
            options,
        })
    }

    /// Attaches the program that somebody asked for as for a graph; `None` where it is none. One that is attached is started
    /// again, from its files as they are now.
    pub(super) async fn open_program(
        self: &Arc<Self>,
        path: &str,
        work: Option<String>,
    ) -> Result<Option<GraphView>, Problem> {
        let job = self.job(work);
        let _one_at_a_time = self.graphs.seen.attaching.lock().await;
        if AgentAddress::is_named_by(path) {
            let attachment = tokio::select! {
                found = self.find_server(path) => found?,
                () = job.stop().cancelled() => return Err(not_opened(path)),
            };
            return self.show_attached(attachment).await.map(Some);
        }
        let (this, of) = (self.clone(), path.to_owned());
        let found = blocking(move || match program_of(&of) {
            Some(named) => this.find_program(&named).map(Some),
            None => Ok(None),
        });
        let Some(found) = found.await?? else {
            return Ok(None);
        };
        let named = found.named.clone();
        // Its module may take as long as it likes; what was started ends with the wait for it.
        let attachment = tokio::select! {
            started = self.start_program(found) => started?,
            () = job.stop().cancelled() => return Err(not_opened(&named)),
        };
        self.show_attached(attachment).await.map(Some)
    }

    /// Uses the threads of a program that is attached, and opens its graph.
    async fn show_attached(self: &Arc<Self>, attachment: Attachment) -> Result<GraphView, Problem> {
        let name = attachment.name.clone();
        self.use_threads_of(Arc::new(attachment)).await?;
        let seen = self.seen().await?;
        let own = seen
            .as_ref()
            .and_then(|seen| seen.attached())
            .map(|graph| graph.id.clone());
        let view = self.open_all_seen(own.as_deref()).await?;
        if let Some(attachment) = self.attached() {
            self.preferences.opened(Path::new(&attachment.named), &name);
        }
        self.documents.watch.wake();
        self.hub.publish(AppEvent::Storage);
        Ok(view)
    }

    async fn start_program(&self, found: FoundProgram) -> Result<Attachment, Problem> {
        let FoundProgram {
            target,
            named,
            environment,
            options,
            wanted,
        } = found;
        let source = GraphSource {
            document: Document::new(&named),
            path: Some(target.root().join(CONFIG)),
            key: named.clone(),
            name: named.clone(),
            version: String::new(),
            earlier: None,
        };
        self.permit_these(&source, wanted)?;
        let environment = environment.with_grants(self.trust.grants(&Self::project(&source)));
        let as_problem = |error: AttachError| problem_of(&error, &named);
        let started = AttachedProgram::start(target, &environment, &options).await;
        let program = started.map_err(as_problem)?;
        let described = program.describe().await.map_err(as_problem)?;
        let named = match named.strip_suffix(ONLY) {
            Some(file) => format!("{file}{}", described.named),
            None => named,
        };
        blocking(move || Attachment::new(Attached::Program(program), described, named)).await
    }

    /// Uses the database of a program's threads, and ends the program that was attached before.
    async fn use_threads_of(self: &Arc<Self>, attachment: Arc<Attachment>) -> Result<(), Problem> {
        let threads = |program: &AttachedProgram| match program.threads()? {
            ThreadsPlace::File(file) => Some(format!("langgraph:{}", file.display())),
            ThreadsPlace::Url(url) => Some(format!("langgraph:{url}")),
        };
        let url = match &attachment.program {
            Attached::Program(program) => threads(program),
            Attached::Server(server) => Some(server.server().address().database()),
        };
        let url = match url {
            Some(url) => url,
            None => {
                return Err(Problem::new(
                    "internal",
                    text!("The program keeps its threads nowhere."),
                ));
            }
        };
        if !self.database.is_at(&url) {
            self.storage_use(UseStorage { url: Some(url) }).await?;
        }
        let before = {
            // Nothing begins between the look at the runs and the change.
            let _idle = (self.runs.idle()).ok_or_else(|| busy(text!("The program is running a thread.")))?;
            self.graphs.seen.attach(attachment)
        };
        if let Some(before) = before.and_then(Arc::into_inner) {
            before.program.close().await;
        }
        Ok(())
    }

    /// Returns the attached program as its files are now; it is started again where they have changed.
    pub(crate) async fn current_program(self: &Arc<Self>) -> Result<Option<Arc<Attachment>>, Problem> {
        let Some(attachment) = self.attached() else {
            return Ok(None);
        };
        let of = attachment.clone();
        if blocking(move || of.is_outdated()).await? {
            let named = attachment.named.clone();
            drop(attachment);
            self.open_program(&named, None).await?;
        } else {
            drop(attachment);
        }
        Ok(self.attached())
    }

    pub(crate) async fn program_debug(self: &Arc<Self>, _: Empty) -> Result<ProgramDebugger, Problem> {
        let attachment = self.current_program().await?.ok_or_else(no_program)?;
        let at = attachment.own_program()?.debug(None, false).await;
        let at = at.map_err(|error| problem_of(&error, &attachment.named))?;
        Ok(ProgramDebugger {
            launch: at.launch(&attachment.name),
            host: at.host,
            port: at.port,
        })
    }

    /// Returns the files of the attached program.
    pub(crate) fn program_files(&self) -> Vec<PathBuf> {
        let attached = self.attached();
        let stamps = attached.iter().flat_map(|attachment| &attachment.stamps);
        stamps.map(|(file, _)| file.clone()).collect()
    }

    /// Looks whether the attached program's files are still those that were imported, and publishes it when they are not.
    pub(crate) async fn look_at_program(&self) {
        let Some(attachment) = self.attached() else { return };
        let of = attachment.clone();
        let is_outdated = blocking(move || of.is_outdated()).await.unwrap_or_default();
        if attachment.is_changed.swap(is_outdated, Ordering::Relaxed) != is_outdated
            && let Ok(Some(seen)) = self.seen().await
        {
            self.show_seen(&seen);
        }
    }
}

/// Says that a program is needed that is not attached.
pub(crate) fn no_program() -> Problem {
    Problem::new("program-ended", text!("The program is not attached any more."))
        .remedy(text!("Open it again."))
}

/// Puts the reason why a program is not attached into words of the window.
pub(crate) fn problem_of(error: &AttachError, named: &str) -> Problem {
    let correct = || text!("Correct the program, and open it again.");
    match error {
        AttachError::Fault(fault) => of_fault(fault, named),
        AttachError::NoInterpreter(missing, remedy) => {
            Problem::new("no-python", missing.clone()).remedy(remedy.clone())
        }
        AttachError::NoFile { file } => Problem::not_found(text!(
            "There is no file {path}.",
            path = file.display().to_string()
        ))
        .remedy(text!(
            "Check the path; the file or folder may have been moved or deleted."
        )),
        AttachError::Hangs { limit, said } => Problem::new(
            "program-hangs",
            with_end(
                text!(
                    "{named} was not imported within {seconds} s, and its process was ended.",
                    named,
                    seconds = limit.as_secs()
                ),
                said,
            ),
        )
        .remedy(text!(
            "Put what takes long, or waits for somebody, into a function, and open it again."
        )),
        AttachError::Ended { status, said, .. } => {
            let status = status.map(|status| status.to_string()).unwrap_or_default();
            let message = text!("The program {named} ended: {status}.", named, status);
            Problem::new("program-ended", with_end(message, said)).remedy(correct())
        }
        AttachError::JavaScript { file } => Problem::new(
            "program-unfit",
            text!(
                "{path} is a JavaScript program, and only programs in Python are attached.",
                path = file.display().to_string()
            ),
        )
        .remedy(text!("Open the database of its threads instead.")),
        AttachError::Entry { names, .. } if !names.is_empty() => Problem::new(
            "program-several",
            text!("{named} has several graphs, or none of that name.", named),
        )
        .remedy(text!(
            "Write the name behind the file, such as {example}. There are: {names}.",
            example = format!("{CONFIG}:{}", names[0]),
            names = Text::list(Join::Comma, names.iter().map(String::as_str))
        )),
        AttachError::NotStarted { program, cause } => Problem::new(
            "no-python",
            text!(
                "{path} does not start: {cause}.",
                path = program.display().to_string(),
                cause
            ),
        )
        .remedy(text!("Choose the project’s interpreter in the settings.")),
        AttachError::Garbled { program, cause } => Problem::new(
            "program-garbled",
            text!(
                "{path} said what is no answer ({cause}), and was ended.",
                path = program.display().to_string(),
                cause
            ),
        )
        .remedy(text!(
            "Look whether the program closes or writes to descriptors that are not its own, and open it again."
        )),
        AttachError::Server(error) => server_problem(error),
        other => Problem::new("program-unfit", other.to_string()),
    }
}

/// Adds the end of what a program printed.
fn with_end(message: Text, said: &str) -> Text {
    match said.trim() {
        "" => message,
        said => text!("{message} It said: {said}", message, said),
    }
}

fn of_fault(fault: &AttachFault, named: &str) -> Problem {
    let message = fault.message.trim_end_matches('.');
    let message = match (&fault.file, fault.line) {
        (Some(file), Some(line)) => text!(
            "{path}, line {line}: {message}.",
            path = file.display().to_string(),
            line = i64::try_from(line).unwrap_or(i64::MAX),
            message
        ),
        _ => format!("{message}.").into(),
    };
    let problem = Problem::new(fault.code.as_str(), message);
    match (fault.code, &fault.missing) {
        (_, Some(module)) => problem.remedy(text!(
            "Install {module} for the project’s interpreter, or choose the interpreter that has it in the settings.",
            module
        )),
        (AttachFaultCode::LanggraphMissing | AttachFaultCode::LanggraphTooOld, None) => problem.remedy(text!(
            "Install LangGraph 0.6 or later there, make a virtual environment `.venv` in the project’s folder, or choose the project’s interpreter in the settings."
        )),
        (AttachFaultCode::NoName | AttachFaultCode::NotAGraph, None) if !fault.names.is_empty() => {
            problem.remedy(text!(
                "Write the name of a graph behind the file, such as {example}. There are: {names}.",
                example = format!("{}:{}", file_of(named), fault.names[0]),
                names = Text::list(Join::Comma, fault.names.iter().map(String::as_str))
            ))
        }
        (AttachFaultCode::InvalidUpdate, None) if !fault.names.is_empty() => problem.remedy(text!(
            "There are: {names}.",
            names = Text::list(Join::Comma, fault.names.iter().map(String::as_str))
        )),
        (AttachFaultCode::InvalidUpdate, None) => {
            problem.remedy(text!("Change the edit, or choose the node that it is made as."))
        }
        (AttachFaultCode::NoCheckpoint, None) => problem.remedy(text!("Choose another checkpoint.")),
        (AttachFaultCode::DebugpyMissing | AttachFaultCode::DebugpyFailed, None) => problem.remedy(text!(
            "Install debugpy for the project’s interpreter: `pip install debugpy`."
        )),
        (AttachFaultCode::ImportEnded, None) => problem.remedy(text!(
            "Put what the program does by itself under `if __name__ == \"__main__\":`."
        )),
        _ => problem.remedy(text!("Correct the program, and open it again.")),
    }
}

/// Returns the last part of the file's path.
fn file_of(named: &str) -> &str {
    let file = named.rsplit(['/', '\\']).next().unwrap_or(named);
    file.split(':').next().unwrap_or(file)
}
