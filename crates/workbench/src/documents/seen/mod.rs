//! Graphs of threads that another program makes, as far as the threads show them: drawn from the newest of them, open as documents
//! that are only read, and drawn again when the program has stored something.

mod attached;
mod builder;
mod copying;
mod drawing;
mod laid;
mod server;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use superstep::checkpoint::{CheckpointHead, Foreign, ListQuery, Sealed, ThreadQuery};
use superstep::inspect::ForeignStep;
use superstep::{Checkpointer, Value};
use superstep_document::{Document, START, text};
use superstep_storage::{Backend, Location, path_of, recognized};

pub(crate) use self::attached::{Attachment, no_program, problem_of};
use self::drawing::{Drawn, following, skeleton};
use super::{DocumentState, Findings, OpenDocument, only_seen};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Fingerprint};
use crate::documents::autosave::AutosaveSlot;
use crate::wire::{GraphView, LaidOn, LookAtMore, Problem, SeenGraphView, SeenView, UseStorage};

/// The beginning of the id of a graph that was seen.
const PREFIX: &str = "seen-";
/// Threads that are looked at, until somebody asks for more; and how much more that is.
const LOOKED: usize = 50;
const MORE: usize = 4;
const MAX_LOOKED: usize = 5_000;
/// Checkpoints of a thread that are looked at, and of all threads for each fifty of them.
const MAX_DEPTH: usize = 100;
const MAX_CHECKPOINTS: usize = 2_000;
/// Checkpoints of a thread that say which graph it is of.
const MAX_TELLING: usize = 20;

/// A graph as the newest threads show it.
#[derive(Debug)]
pub(crate) struct SeenGraph {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Nodes of its outermost graph.
    nodes: BTreeSet<String>,
    /// The graph and those within, by the nodes around them.
    documents: BTreeMap<Vec<String>, Document>,
    threads: u32,
    /// The graph of ours that it is shown on.
    laid: Option<LaidOn>,
    /// It is that of the attached program.
    is_attached: bool,
}

impl SeenGraph {
    /// Returns whether it is that of the attached program.
    pub(crate) fn is_attached(&self) -> bool {
        self.is_attached
    }

    /// Returns the graph within these nodes, itself within none.
    pub(crate) fn document(&self, within: &[String]) -> Option<&Document> {
        self.documents.get(within)
    }
}

/// Graphs that were seen in a database.
#[derive(Debug)]
pub(crate) struct Seen {
    database: String,
    pub(crate) graphs: Vec<SeenGraph>,
    /// The graph of each thread that was looked at, by its place in the list.
    of_thread: HashMap<String, usize>,
    looked: u32,
    /// `None` while all threads are looked through for the first time.
    total: Option<u32>,
    sealed: Option<Sealed>,
    /// The program that makes the threads.
    attachment: Option<Arc<Attachment>>,
}

impl SeenGraphs {
    /// Forgets what was seen: another database is in use. A program that was attached ends.
    pub(crate) fn clear(&self) {
        self.attached.lock().take();
        self.forget();
    }

    fn forget(&self) {
        *self.current.lock() = None;
        self.others.lock().clear();
    }

    /// Returns the address by which the attached program was opened.
    pub(crate) fn attached_name(&self) -> Option<String> {
        self.attached
            .lock()
            .as_ref()
            .map(|attachment| attachment.named.clone())
    }

    /// Takes a program for the one that makes the threads in use, and returns the one before.
    fn attach(&self, attachment: Arc<Attachment>) -> Option<Arc<Attachment>> {
        let before = self.attached.lock().replace(attachment);
        self.forget();
        before
    }
}

impl Seen {
    fn view(&self) -> SeenView {
        SeenView {
            database: self.database.clone(),
            looked: self.looked,
            threads: self.total.unwrap_or(self.looked),
            sorting: self.total.is_none(),
            sealed: self.sealed.map(Into::into),
            graphs: (self.graphs.iter())
                .map(|graph| SeenGraphView {
                    graph_id: graph.id.clone(),
                    name: graph.name.clone(),
                    threads: graph.threads,
                    laid: graph.laid.clone(),
                    attached: graph.is_attached,
                })
                .collect(),
            attached: self.attachment.as_ref().map(|attachment| attachment.view()),
        }
    }

    /// Returns the graph of the attached program.
    pub(crate) fn attached(&self) -> Option<&SeenGraph> {
        self.graphs.iter().find(|graph| graph.is_attached)
    }

    /// Returns a graph by its id.
    pub(crate) fn graph(&self, id: &str) -> Option<&SeenGraph> {
        self.graphs.iter().find(|graph| graph.id == id)
    }
}

/// Findings of a look at a thread.
#[derive(Debug)]
struct ThreadLook {
    head: CheckpointHead,
    /// By the nodes around each graph.
    drawn: BTreeMap<Vec<String>, Drawn>,
    checkpoints: usize,
}

impl ThreadLook {
    fn nodes(&self) -> BTreeSet<String> {
        let outer = self.drawn.get(&Vec::new());
        outer.map(|drawn| drawn.nodes().clone()).unwrap_or_default()
    }
}

/// Marks of the threads of one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    id: String,
    /// The name that the program's server gave it.
    given: Option<String>,
    nodes: BTreeSet<String>,
}

/// Knowledge of the database that is kept from look to look.
#[derive(Debug, Default)]
struct Memory {
    place: String,
    version: Option<u64>,
    /// Why encrypted values were not shown.
    sealed: Option<Sealed>,
    looked: usize,
    threads: HashMap<String, ThreadLook>,
    groups: Vec<Group>,
    /// Groups that were ever made of this database.
    made: usize,
}

/// The graphs that were seen in the database in use.
#[derive(Debug, Default)]
pub(crate) struct SeenGraphs {
    memory: tokio::sync::Mutex<Memory>,
    current: Mutex<Option<Arc<Seen>>>,
    /// Graphs of threads that were not among those looked at, by thread and newest checkpoint.
    others: Mutex<HashMap<(String, String), Option<usize>>>,
    /// Held while the file of names on other graphs is changed.
    laying: Mutex<()>,
    /// The program that makes the threads in use.
    attached: Mutex<Option<Arc<Attachment>>>,
    /// Held while one is started.
    attaching: tokio::sync::Mutex<()>,
}

/// Returns the nodes around the graph of a namespace, the outermost first.
pub(crate) fn nodes_around(ns: &str) -> Vec<String> {
    let is_count = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = ns.split('|').filter(|part| !is_count(part));
    parts
        .map(|part| part.split(':').next().unwrap_or(part).to_owned())
        .collect()
}

/// Returns the name that LangGraph's server notes for the graph of a run.
fn given_name(head: &CheckpointHead) -> Option<String> {
    let names = ["graph_id", "assistant_id"];
    let text = |name: &&str| head.metadata.user.get(name).and_then(Value::as_str);
    names.iter().find_map(text).map(str::to_owned)
}

fn learned(steps: &[ForeignStep]) -> BTreeMap<Vec<String>, Drawn> {
    let mut by_ns: BTreeMap<&str, Vec<&ForeignStep>> = BTreeMap::new();
    for step in steps {
        by_ns.entry(&step.head.ns).or_default().push(step);
    }
    let mut drawn: BTreeMap<Vec<String>, Drawn> = BTreeMap::new();
    for (ns, steps) in by_ns {
        let within = match ns {
            "" => Vec::new(),
            ns => nodes_around(ns),
        };
        let next = following(&steps);
        let graph = drawn.entry(within).or_default();
        for step in steps {
            let after = next.get(step.head.id.as_str()).map_or(&[][..], Vec::as_slice);
            graph.learn(step, after);
        }
    }
    drawn
}

impl Memory {
    /// Returns the group of a thread, which is made where there is none: that with its name, or one with a node of it.
    fn group(&mut self, given: Option<String>, nodes: &BTreeSet<String>) -> usize {
        let fits = |group: &Group| match (&given, &group.given) {
            (None, None) => group.nodes.is_empty() || nodes.is_empty() || !group.nodes.is_disjoint(nodes),
            (one, other) => one == other,
        };
        let found: Vec<usize> = (self.groups.iter().enumerate())
            .filter(|(_, group)| fits(group))
            .map(|(place, _)| place)
            // A thread in which nothing has run yet joins nothing.
            .take(if nodes.is_empty() { 1 } else { usize::MAX })
            .collect();
        let Some(first) = found.first().copied() else {
            self.made += 1;
            let id = format!(
                "{PREFIX}{}-{}",
                Fingerprint::of(&self.place)
                    .as_str()
                    .get(..12)
                    .unwrap_or_default(),
                self.made
            );
            self.groups.push(Group {
                id,
                given,
                nodes: nodes.clone(),
            });
            return self.groups.len() - 1;
        };
        // A thread that ran nodes of two groups shows that they are one.
        for other in found.into_iter().skip(1).rev() {
            let joined = self.groups.remove(other);
            self.groups[first].nodes.extend(joined.nodes);
        }
        self.groups[first].nodes.extend(nodes.iter().cloned());
        first
    }

    /// Looks at a thread, unless it stands as it did.
    async fn look(
        &mut self,
        saver: &dyn Checkpointer,
        id: &str,
        head: &CheckpointHead,
    ) -> Result<usize, Problem> {
        if let Some(known) = self.threads.get(id).filter(|known| known.head == *head) {
            return Ok(known.checkpoints);
        }
        let steps = saver
            .foreign_steps(&ListQuery::new().thread(id).limit(MAX_DEPTH))
            .await?;
        let look = ThreadLook {
            head: head.clone(),
            drawn: learned(&steps),
            checkpoints: steps.len(),
        };
        self.threads.insert(id.to_owned(), look);
        Ok(steps.len())
    }

    /// Sorts the threads that were looked at into groups, and draws each; that of the attached program as its builder has it.
    fn draw(
        &mut self,
        order: &[String],
        attachment: Option<&Attachment>,
    ) -> (Vec<SeenGraph>, HashMap<String, usize>) {
        if let Some(attachment) = attachment {
            self.group(attachment.given.clone(), &attachment.nodes);
        }
        // Groups are joined on the way, so their places count only when all threads are in.
        let mut looked: Vec<(&String, Option<String>, BTreeSet<String>)> = Vec::new();
        for id in order {
            if let Some(look) = self.threads.get(id) {
                looked.push((id, given_name(&look.head), look.nodes()));
            }
        }
        if looked.is_empty() && self.groups.is_empty() {
            self.group(None, &BTreeSet::new());
        }
        for (_, given, nodes) in &looked {
            self.group(given.clone(), nodes);
        }
        let of_thread: HashMap<String, usize> = (looked.into_iter())
            .map(|(id, given, nodes)| (id.clone(), self.group(given, &nodes)))
            .collect();
        let mut all: Vec<(BTreeMap<Vec<String>, Drawn>, u32)> = vec![Default::default(); self.groups.len()];
        for (id, place) in &of_thread {
            let (graphs, threads) = &mut all[*place];
            *threads += 1;
            for (within, drawn) in self.threads.get(id).into_iter().flat_map(|look| &look.drawn) {
                graphs.entry(within.clone()).or_default().add(drawn);
            }
        }
        let base = stem(&self.place);
        let only = self.groups.len() == 1;
        let graphs = self.groups.iter().zip(all).map(|(group, (mut drawn, threads))| {
            drawn.entry(Vec::new()).or_default();
            let name = match (&group.given, only) {
                (Some(given), _) => given.clone(),
                (None, true) => base.clone(),
                (None, false) => format!("{base}: {}", first_nodes(&group.nodes)),
            };
            let is_nested = |within: &[String], node: &str| {
                let inner: Vec<String> = within.iter().cloned().chain([node.to_owned()]).collect();
                drawn.contains_key(&inner)
            };
            let documents = drawn.iter().map(|(within, graph)| {
                let name = within.last().unwrap_or(&name);
                (
                    within.clone(),
                    graph.document(name, |node| is_nested(within, node)),
                )
            });
            let mut documents: BTreeMap<_, _> = documents.collect();
            let own = attachment.filter(|own| own.is_of(group.given.as_ref(), &group.nodes));
            documents.extend(own.into_iter().flat_map(|own| own.documents.clone()));
            SeenGraph {
                documents,
                id: group.id.clone(),
                name: own.map_or(name, |own| own.name.clone()),
                nodes: group.nodes.clone(),
                threads,
                laid: None,
                is_attached: own.is_some(),
            }
        });
        (graphs.collect(), of_thread)
    }
}

/// Returns the name of a database for people: that of its file, or of its database on a server.
fn stem(place: &str) -> String {
    let last = place
        .split('?')
        .next()
        .unwrap_or(place)
        .rsplit(['/', '\\', ':'])
        .next()
        .unwrap_or(place);
    let stem = Path::new(last).file_stem().and_then(|stem| stem.to_str());
    stem.filter(|stem| !stem.is_empty())
        .unwrap_or("LangGraph")
        .to_owned()
}

fn first_nodes(nodes: &BTreeSet<String>) -> String {
    let first: Vec<&str> = nodes.iter().take(3).map(String::as_str).collect();
    match nodes.len() > first.len() {
        true => format!("{}…", first.join(", ")),
        false => first.join(", "),
    }
}

/// Returns the address of the database that somebody wants to open as if it were a graph: an address, or a file that is one by
/// its content. That of a server is read as a LangGraph program's: nobody opens one of ours like a graph.
fn database_of(path: &str) -> Result<Option<String>, Problem> {
    let path = path.trim();
    let langgraph = Backend::Langgraph.scheme();
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| scheme == langgraph) {
        return Ok(Some(path.to_owned()));
    }
    if path.contains("://") {
        return Ok(Some(match Backend::of(path)?.location() {
            Location::Server => format!("{langgraph}:{path}"),
            _ => recognized(path),
        }));
    }
    // What a connection is set up with holds a password, and is no name of a file.
    if ["password=", "dbname="].iter().any(|word| path.contains(word)) {
        path_of(path)?;
    }
    let file = files::absolute(path)?;
    let url = recognized(&file.display().to_string());
    Ok(Backend::of(&url)
        .is_ok_and(|backend| backend == Backend::Langgraph)
        .then_some(url))
}

/// Refuses an address where no LangGraph program keeps threads, and says what is there instead.
async fn refuse_without_threads(url: &str) -> Result<(), Problem> {
    let server = url.strip_prefix("langgraph:").unwrap_or(url);
    let is_server = Backend::of(server).is_ok_and(|backend| backend == Backend::Postgres);
    let (has_threads, has_ours) = if is_server {
        let has_threads = !superstep_storage::langgraph_schemas(server).await?.is_empty();
        let ours = superstep_storage::open_existing(server);
        (
            has_threads,
            !has_threads && ours.await.is_ok_and(|ours| ours.is_some()),
        )
    } else {
        let found = superstep_storage::open_existing(url).await?;
        let is_foreign = found.map(|storage| storage.checkpointer.foreign().is_some());
        (is_foreign == Some(true), is_foreign == Some(false))
    };
    if has_threads {
        return Ok(());
    }
    let message = match has_ours {
        true => text!("There are threads of Superstep there, and none of a LangGraph program."),
        false => text!("There are no threads of a LangGraph program there."),
    };
    Err(Problem::invalid(message).remedy(text!(
        "Give the database that its saver was opened with. One of your own threads is chosen in the settings."
    )))
}

impl OpenDocument {
    /// Refuses a graph that was only seen.
    pub(super) fn refuse_seen(&self) -> Result<(), Problem> {
        match self.state.lock().seen {
            Some(_) => Err(only_seen()),
            None => Ok(()),
        }
    }

    /// Takes what was seen now. Returns its revision where that is other than what was shown.
    fn take_seen(&self, document: &Document, view: &SeenView) -> Option<u32> {
        let mut state = self.state.lock();
        if state.document.to_json() == document.to_json() && state.seen.as_ref() == Some(view) {
            return None;
        }
        state.document = document.clone();
        state.seen = Some(view.clone());
        state.rev += 1;
        state.saved_rev = state.rev;
        state.autosaved_rev = state.rev;
        Some(state.rev)
    }
}

impl Workbench {
    /// Looks at the newest threads of the database in use, and at those only that have changed since the last look. `None`
    /// where the threads are ours.
    pub(crate) async fn seen(&self) -> Result<Option<Arc<Seen>>, Problem> {
        let saver = self.saver();
        if saver.foreign().is_none() {
            return Ok(None);
        }
        let place = self.database.place();
        let mut memory = self.graphs.seen.memory.lock().await;
        let version = match saver.coordination() {
            Some(coordination) => coordination.changes().await?,
            None => None,
        };
        if memory.place != place {
            *memory = Memory {
                place: place.clone(),
                looked: LOOKED,
                ..Memory::default()
            };
            self.graphs.seen.others.lock().clear();
        } else if version.is_some()
            && memory.version == version
            && let Some(current) = self.graphs.seen.current.lock().clone()
        {
            return Ok(Some(current));
        }
        // With another key the same threads show more.
        if memory.sealed != saver.foreign().and_then(Foreign::sealed) {
            memory.threads.clear();
            self.graphs.seen.others.lock().clear();
        }
        let newest = ThreadQuery::new().limit(memory.looked).soon(true);
        let threads = saver.threads(&newest).await?;
        let total = saver.foreign().and_then(Foreign::known_threads);
        let mut left = MAX_CHECKPOINTS.saturating_mul(memory.looked) / LOOKED;
        let mut order = Vec::new();
        for summary in &threads {
            if left == 0 {
                break;
            }
            let id = summary.thread.as_str();
            left = left.saturating_sub(memory.look(&*saver, id, &summary.head).await?.max(1));
            order.push(id.to_owned());
        }
        let kept: BTreeSet<&String> = order.iter().collect();
        memory.threads.retain(|id, _| kept.contains(id));
        let attachment = self.attached();
        let (mut graphs, of_thread) = memory.draw(&order, attachment.as_deref());
        self.lay_all(&mut graphs, &place);
        memory.version = version;
        memory.sealed = saver.foreign().and_then(Foreign::sealed);
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let seen = Arc::new(Seen {
            database: place,
            graphs,
            of_thread,
            looked: small(order.len() as u64),
            total: total.map(small),
            sealed: memory.sealed,
            attachment,
        });
        *self.graphs.seen.current.lock() = Some(seen.clone());
        Ok(Some(seen))
    }

    /// Returns the graphs that were seen, and the place of a thread's among them.
    pub(crate) async fn seen_of(&self, thread: &str) -> Result<Option<(Arc<Seen>, usize)>, Problem> {
        let Some(seen) = self.seen().await? else {
            return Ok(None);
        };
        let known = match seen.of_thread.get(thread) {
            Some(place) => Some(*place),
            None if seen.graphs.len() == 1 => Some(0),
            None => self.seen_of_other(&seen, thread).await?,
        };
        Ok(known.map(|place| (seen, place)))
    }

    /// Finds the graph of a thread that was not looked at: by its name, or by the nodes of its newest checkpoints.
    async fn seen_of_other(&self, seen: &Seen, thread: &str) -> Result<Option<usize>, Problem> {
        let newest = ListQuery::new().thread(thread).ns("").limit(MAX_TELLING);
        let heads = self.saver().heads(&newest).await?;
        let Some(head) = heads.first() else {
            return Ok(None);
        };
        let place = (thread.to_owned(), head.id.to_string());
        if let Some(known) = self.graphs.seen.others.lock().get(&place) {
            return Ok(*known);
        }
        let ran = || {
            heads
                .iter()
                .flat_map(|head| &head.next)
                .filter(|node| ***node != *START)
        };
        let shared = |graph: &SeenGraph| ran().filter(|node| graph.nodes.contains(&***node)).count();
        let given = given_name(head);
        let by_name = seen
            .graphs
            .iter()
            .position(|graph| given.as_ref() == Some(&graph.name));
        let by_nodes = (seen.graphs.iter().enumerate())
            .map(|(place, graph)| (shared(graph), place))
            .filter(|(shared, _)| *shared > 0)
            .max_by_key(|(shared, place)| (*shared, usize::MAX - place));
        let found = by_name.or(by_nodes.map(|(_, place)| place));
        self.graphs.seen.others.lock().insert(place, found);
        Ok(found)
    }

    /// Opens all graphs that were seen, and returns the one with this id, or else that of most threads.
    async fn open_all_seen(&self, wanted: Option<&str>) -> Result<GraphView, Problem> {
        let seen = self.seen().await?.ok_or_else(|| {
            Problem::not_found(text!(
                "The threads in use are our own, and their graphs are files."
            ))
            .remedy(text!("Open the database of a LangGraph program."))
        })?;
        self.show_seen(&seen);
        let most = seen.graphs.iter().max_by_key(|graph| graph.threads);
        let graph = match wanted {
            Some(id) => seen.graph(id),
            None => most,
        };
        let graph = graph.ok_or_else(|| {
            Problem::not_found(text!("That graph was not seen in the database in use."))
                .remedy(text!("Open the database again."))
        })?;
        Ok(self.document(&graph.id)?.view())
    }

    /// Opens what was seen, and takes it where it is open.
    fn show_seen(&self, seen: &Seen) {
        let view = seen.view();
        for graph in &seen.graphs {
            let Some(document) = graph.document(&[]) else {
                continue;
            };
            if let Some(open) = self.documents.get(&graph.id) {
                if let Some(rev) = open.take_seen(document, &view) {
                    self.hub.publish(Findings::default().event(&graph.id, rev));
                }
                continue;
            }
            let state = DocumentState {
                seen: Some(view.clone()),
                ..DocumentState::new(
                    document.clone(),
                    AutosaveSlot::of_draft(&self.autosave_dir(), &graph.id),
                )
            };
            self.documents.add(Arc::new(OpenDocument {
                id: graph.id.clone(),
                state: Mutex::new(state),
                io: tokio::sync::Mutex::default(),
            }));
        }
    }

    /// Draws the graphs again that are open, after the program has stored something.
    pub(crate) async fn follow_seen(&self) {
        if !self
            .documents
            .all()
            .iter()
            .any(|open| open.state.lock().seen.is_some())
        {
            return;
        }
        match self.seen().await {
            Ok(Some(seen)) => self.show_seen(&seen),
            Ok(None) => {}
            Err(problem) => tracing::debug!(%problem, "the graphs of the threads are not drawn again"),
        }
    }

    /// Opens the database of a LangGraph program that somebody asked for as for a graph, or a graph that was seen in one.
    /// `None` where it is neither.
    pub(super) async fn open_seen(
        self: &Arc<Self>,
        path: &str,
        work: Option<String>,
    ) -> Result<Option<GraphView>, Problem> {
        if path.starts_with(PREFIX) {
            return self.open_all_seen(Some(path)).await.map(Some);
        }
        if let Some(view) = self.open_program(path, work).await? {
            return Ok(Some(view));
        }
        let of = path.to_owned();
        let Some(url) = blocking(move || database_of(&of)).await?? else {
            return Ok(None);
        };
        if self.database.is_at(&url) {
            return self.open_all_seen(None).await.map(Some);
        }
        refuse_without_threads(&url).await?;
        self.storage_use(UseStorage { url: Some(url) }).await?;
        self.open_all_seen(None).await.map(Some)
    }

    /// Opens a graph that was seen before the program was started again; `None` for the id of any other.
    pub(super) async fn seen_again(&self, graph_id: &str) -> Result<Option<GraphView>, Problem> {
        if !graph_id.starts_with(PREFIX) || self.saver().foreign().is_none() {
            return Ok(None);
        }
        self.open_all_seen(Some(graph_id)).await.map(Some)
    }

    pub(crate) async fn graph_seen(self: &Arc<Self>, request: LookAtMore) -> Result<GraphView, Problem> {
        if request.more {
            let mut memory = self.graphs.seen.memory.lock().await;
            memory.looked = (memory.looked * MORE).min(MAX_LOOKED);
            memory.version = None;
        }
        self.open_all_seen(request.graph_id.as_deref()).await
    }

    /// Returns the graph within nodes of an open graph that was seen; `None` for a graph that is none of those.
    pub(super) fn seen_within(&self, open: &OpenDocument, within: &[String]) -> Option<Document> {
        open.state.lock().seen.as_ref()?;
        let seen = self.graphs.seen.current.lock().clone()?;
        seen.graph(&open.id)?.document(within).cloned()
    }

    /// Returns a graph of our own in the place of one that was seen.
    pub(super) fn own_of_seen(open: &OpenDocument) -> Option<Document> {
        let state = open.state.lock();
        state.seen.as_ref()?;
        Some(skeleton(&state.document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(nodes: &[&str]) -> BTreeSet<String> {
        nodes.iter().map(|node| (*node).to_owned()).collect()
    }

    #[test]
    fn threads_that_share_a_node_are_of_one_graph() {
        let mut memory = Memory::default();
        let of = |memory: &mut Memory, nodes: &[&str]| memory.group(None, &names(nodes));
        assert_eq!(of(&mut memory, &["a", "b"]), 0);
        assert_eq!(of(&mut memory, &["x"]), 1);
        assert_eq!(of(&mut memory, &["b", "c"]), 0);
        let first = memory.groups[0].id.clone();
        assert_eq!(of(&mut memory, &["c", "x"]), 0, "which shows that they are one");
        assert_eq!(memory.groups.len(), 1);
        assert_eq!((&memory.groups[0].id, memory.groups[0].nodes.len()), (&first, 4));
        // The name that a server gave decides alone.
        let named = |memory: &mut Memory, name: &str| memory.group(Some(name.to_owned()), &names(&["a"]));
        assert_eq!((named(&mut memory, "shop"), named(&mut memory, "desk")), (1, 2));
        assert_eq!(named(&mut memory, "shop"), 1);
    }

    #[test]
    fn a_database_has_a_name_for_people() {
        for (place, name) in [
            ("langgraph:/data/agent.sqlite", "agent"),
            ("langgraph:C:\\data\\agent.db", "agent"),
            ("postgres://me@host:5432/shop?schema=x", "shop"),
            ("langgraph:", "LangGraph"),
        ] {
            assert_eq!(stem(place), name);
        }
    }

    #[test]
    fn namespaces_name_the_nodes_around() {
        assert_eq!(nodes_around("a:1|b:2"), ["a", "b"]);
        assert_eq!(nodes_around("a:1|2|b:3"), ["a", "b"], "the second call of a node");
    }
}
