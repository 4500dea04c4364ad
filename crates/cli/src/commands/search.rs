//! `superstep find` and `superstep probe`: moments of all threads by words and conditions, and values of an expression at
//! every visit of a node. Lines are printed as they are found, so that Ctrl-C loses none of them.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::Graph;
use superstep::checkpoint::ThreadSummary;
use superstep_workbench::wire::{
    BreakWhen, Breakpoint, Evaluated, FindMoments, MomentFound, MomentReason, NodeVisit, ProbeNode,
    RunStatus, SearchProgress, ValueView,
};
use superstep_workbench::{Desk, Folder};

use crate::args::search::{FindArgs, ProbeArgs};
use crate::args::threads::Status;
use crate::commands::state;
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::listing::GraphFilter;
use crate::out;
use crate::place::Store;

/// Results of an answer.
const PAGE: u32 = 100;
/// Letters of a value in a line.
const MAX_SHOWN: usize = 80;

pub(crate) async fn desk(db: &crate::args::Db) -> Result<Desk, Fault> {
    desk_of(Arc::new(Store::existing(db).await?))
}

/// Opens the desk, and returns what threads know a graph by: its file, or its name. One that no thread ran is refused unless
/// it is a file.
async fn desk_of_graph(db: &crate::args::Db, graph: Option<&Path>) -> Result<(Desk, Vec<String>), Fault> {
    let store = Arc::new(Store::existing(db).await?);
    let known = match graph {
        Some(graph) => vec![GraphFilter::of(graph, &*store.saver).await?.into_text()],
        None => Vec::new(),
    };
    Ok((desk_of(store)?, known))
}

fn desk_of(store: Arc<Store>) -> Result<Desk, Fault> {
    let data_dir = superstep_workbench::default_data_dir();
    let reading = store.clone();
    let graph = move |thread: &ThreadSummary| -> Option<Graph> {
        let opened = state::open(&reading, None, &thread.thread, &thread.head);
        opened.ok().map(|(_, graph)| graph)
    };
    let folder = Folder::open(data_dir.as_deref(), graph)?;
    let desk = Desk::new(store.saver.clone(), Arc::new(folder));
    // The app keeps the index; here it is only read.
    Ok(match data_dir {
        Some(dir) => desk.with_index_of(&dir, &store.name),
        None => desk,
    })
}

/// Progress of a search.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    pub(crate) threads: u64,
    total: u64,
    pub(crate) unknown: u64,
    pub(crate) reason: Option<String>,
    /// There is more than was asked for.
    pub(crate) more: bool,
}

impl Searched {
    /// Adds an answer; gives the place to go on from.
    pub(crate) fn add(&mut self, progress: SearchProgress) -> Option<String> {
        self.threads += progress.searched;
        self.total = progress.total.unwrap_or(self.total);
        self.unknown += progress.unknown;
        self.reason = self.reason.take().or(progress.reason);
        out::overwrite(&format!("{} of {} threads", self.threads, self.total));
        progress.next
    }

    /// Returns the number of threads that were processed: at the end all of them, also those that an index left out.
    pub(crate) fn done(&self) -> u64 {
        match self.more {
            true => self.threads,
            false => self.total,
        }
    }

    /// Ends the line that counts the threads.
    pub(crate) fn end_line(&self) {
        out::overwrite("");
    }

    /// Says at how many steps the expression could not be evaluated.
    pub(crate) fn note_unknown(&self) {
        if let Some(reason) = &self.reason {
            out::note(&format!(
                "The expression could not be evaluated at {}: {reason}",
                out::count(self.unknown, "step")
            ));
        }
    }

    /// Says what a person must know of the search.
    pub(crate) fn finish(&self, found: usize, what: &str) {
        self.end_line();
        self.note_unknown();
        if self.more {
            out::note(&format!(
                "There is more; --limit shows more than {}.",
                out::count(found as u64, what)
            ));
        } else if found == 0 {
            out::note(&format!("Nothing found in {}.", out::count(self.total, "thread")));
        }
    }
}

pub(crate) async fn find(args: FindArgs) -> Result<(), Fault> {
    let (desk, graphs) = desk_of_graph(&args.reading.db, args.graph.as_deref()).await?;
    let limit = args.limit.get();
    let mut request = FindMoments {
        words: Some(args.words.join(" ")),
        first_where: args.first_where,
        at_end: args.at_end,
        passed: args.passed,
        status: args.status.map(|status| match status {
            Status::Done => RunStatus::Done,
            Status::Asking => RunStatus::Asking,
            Status::Failed => RunStatus::Failed,
            Status::Paused => RunStatus::Paused,
        }),
        since: args.since,
        until: args.until,
        graph_version: args.graph_version,
        cost_from: args.cost_from,
        columns: args.columns,
        limit: limit.min(PAGE),
        ..FindMoments::default()
    };
    let mut searched = Searched::default();
    let mut found: Vec<Json> = Vec::new();
    loop {
        let answer = desk.find(&request, &graphs).await?;
        request.after = searched.add(answer.progress);
        for moment in answer.moments {
            if found.len() == limit as usize {
                searched.more = true;
                break;
            }
            match args.reading.json {
                true => found.push(moment_json(&moment)),
                false => {
                    out::line(&moment_line(&moment))?;
                    found.push(Json::Null);
                }
            }
        }
        // Whether there is more in the threads that follow is not known: they may be looked at.
        searched.more |= request.after.is_some() && found.len() == limit as usize;
        if request.after.is_none() || searched.more {
            break;
        }
    }
    if args.reading.json {
        let answer = json!({
            "moments": found, "searched": searched.done(), "more": searched.more, "unknown": searched.unknown,
        });
        return Ok(out::pretty(&answer)?);
    }
    searched.finish(found.len(), "moment");
    Ok(())
}

/// Formats an evaluated value as one line.
fn shown(result: &Evaluated) -> String {
    match (&result.value, &result.message) {
        (
            Some(ValueView {
                value: Some(value), ..
            }),
            _,
        ) => out::short(value, MAX_SHOWN),
        (
            Some(ValueView {
                head: Some(head),
                bytes,
                ..
            }),
            _,
        ) => {
            let head: String = head.chars().take(MAX_SHOWN).collect();
            format!("{head}… ({bytes} bytes)")
        }
        (_, Some(message)) => format!("({message})"),
        _ => String::new(),
    }
}

fn result_json(result: &Evaluated) -> Json {
    match &result.value {
        Some(ValueView {
            value: Some(value), ..
        }) => value.clone(),
        Some(view) => json!({"head": view.head, "bytes": view.bytes}),
        None => Json::Null,
    }
}

fn moment_line(moment: &MomentFound) -> String {
    let snippet: String = moment.snippet.iter().map(|part| part.text.as_str()).collect();
    let place = match (&moment.pointer, moment.reason) {
        (Some(pointer), _) => format!("{}: ", pointer.trim_start_matches('/')),
        (None, MomentReason::Title) => "title: ".to_owned(),
        (None, MomentReason::Question) => "question: ".to_owned(),
        (None, MomentReason::Error) => "error: ".to_owned(),
        _ => String::new(),
    };
    let nodes = match (snippet.is_empty(), moment.nodes.is_empty()) {
        (true, false) => format!("by {}", moment.nodes.join(", ")),
        _ => String::new(),
    };
    let columns: String = moment
        .columns
        .iter()
        .map(|column| format!("  {}", shown(column)))
        .collect();
    let more = match moment.more {
        0 => String::new(),
        more => format!("  (and {})", out::count(more.into(), "earlier step")),
    };
    format!(
        "{}  step {}  {place}{snippet}{nodes}{columns}{more}",
        moment.thread_id, moment.step
    )
}

fn moment_json(moment: &MomentFound) -> Json {
    let snippet: String = moment.snippet.iter().map(|part| part.text.as_str()).collect();
    json!({
        "thread_id": moment.thread_id,
        "title": moment.title,
        "graph": moment.graph_name,
        "status": moment.status,
        "checkpoint_id": moment.checkpoint_id,
        "step": moment.step,
        "at": moment.at,
        "reason": moment.reason,
        "nodes": moment.nodes,
        "pointer": moment.pointer,
        "text": (!snippet.is_empty()).then_some(snippet),
        "columns": moment.columns.iter().map(result_json).collect::<Vec<_>>(),
        "more": moment.more,
    })
}

/// Finds out what is looked at: a node, or an edge by its ends or its id. Names of nodes may have arrows in them, so the
/// graph says which is meant, where it is named and can be read.
fn place_of(name: String, graph: Option<&Path>) -> Result<(String, Option<String>), Fault> {
    let file = graph.and_then(|path| GraphFile::read(path).ok());
    if let Some(file) = file {
        let document = &file.document;
        let is_edge = name.contains("->") || document.edges().any(|(id, _)| id == name);
        if !is_edge || document.node_ids().any(|id| id == name) {
            return Ok((name, None));
        }
        let edge = Breakpoint::at(BreakWhen::Edge, name).on_edge_of(document)?;
        return Ok((edge.node, edge.to));
    }
    // It is an edge only where there is an arrow with something on both sides.
    let mut ways = name.match_indices("->").filter_map(|(at, arrow)| {
        let (from, to) = (&name[..at], &name[at + arrow.len()..]);
        let to = if to == "END" { superstep::END } else { to };
        (!from.is_empty() && !to.is_empty()).then(|| (from.to_owned(), Some(to.to_owned())))
    });
    match (ways.next(), ways.next()) {
        (None, _) => Ok((name, None)),
        (Some(way), None) => Ok(way),
        (Some(_), Some(_)) => Err(Fault::usage(format!(
            "`{name}` may be several edges: names of nodes have arrows in them. Name the graph with --graph, and the edge by \
             its ends or its id."
        ))),
    }
}

pub(crate) async fn probe(args: ProbeArgs) -> Result<(), Fault> {
    let (desk, graphs) = desk_of_graph(&args.reading.db, args.graph.as_deref()).await?;
    let limit = args.limit.map_or(usize::MAX, |limit| limit.get() as usize);
    let (node, to) = place_of(args.node, args.graph.as_deref())?;
    let mut request = ProbeNode {
        node,
        to,
        expression: args.expression,
        since: args.since,
        limit: PAGE.min(u32::try_from(limit).unwrap_or(PAGE)),
        ..ProbeNode::default()
    };
    let mut searched = Searched::default();
    let mut visits: Vec<Json> = Vec::new();
    loop {
        let answer = desk.probe(&request, &graphs).await?;
        request.after = searched.add(answer.progress);
        for visit in answer.visits {
            if visits.len() == limit {
                searched.more = true;
                break;
            }
            match args.reading.json {
                true => visits.push(visit_json(&visit)),
                false => {
                    out::line(&visit_line(&visit))?;
                    visits.push(Json::Null);
                }
            }
        }
        searched.more |= request.after.is_some() && visits.len() == limit;
        if request.after.is_none() || searched.more {
            break;
        }
    }
    if args.reading.json {
        let answer = json!({
            "visits": visits, "searched": searched.done(), "more": searched.more, "unknown": searched.unknown,
        });
        return Ok(out::pretty(&answer)?);
    }
    searched.finish(visits.len(), "visit");
    Ok(())
}

fn visit_line(visit: &NodeVisit) -> String {
    let tasks = match visit.tasks {
        0 | 1 => String::new(),
        tasks => format!(" ({tasks} tasks)"),
    };
    format!(
        "{}  step {}{tasks}  {}",
        visit.thread_id,
        visit.step,
        shown(&visit.result)
    )
}

fn visit_json(visit: &NodeVisit) -> Json {
    json!({
        "thread_id": visit.thread_id,
        "title": visit.title,
        "checkpoint_id": visit.checkpoint_id,
        "step": visit.step,
        "at": visit.at,
        "tasks": visit.tasks,
        "value": result_json(&visit.result),
        "message": visit.result.message,
    })
}
