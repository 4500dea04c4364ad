//! `superstep state` and `superstep history`: what a thread holds, and how it came there.

use std::num::NonZeroUsize;

use superstep::checkpoint::{CheckpointHead, ListQuery};
use superstep::run::StateRef;
use superstep::{CheckpointId, Graph, StateSnapshot, ThreadId, Value};

use crate::args::threads::Status;
use crate::args::{HistoryArgs, StateArgs};
use crate::commands::threads::entries;
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::listing::{next_of, status_of, word};
use crate::out;
use crate::place::{Store, graph_of};
use crate::progress::{self, json};

pub(crate) async fn state(args: &StateArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    if let Some(checkpoint) = &args.checkpoint {
        store.has(&thread, checkpoint).await?;
    }
    let at = StateRef::live(thread.clone()).checkpoint(args.checkpoint.as_deref().map(CheckpointId::from));
    let snapshot = read(&store, args.graph.as_deref(), &at, &head).await?;
    if args.reading.json {
        return Ok(out::pretty(&snapshot.to_json())?);
    }
    if let Some(path) = &args.key {
        return Ok(out::pretty(&json(within(&snapshot, path)?))?);
    }
    describe(&snapshot);
    out::pretty(&json(&snapshot.values))?;
    if args.checkpoint.is_none() {
        let alone = snapshot.interrupts.len() == 1;
        for interrupt in &snapshot.interrupts {
            match store.saver.foreign() {
                // Only the program that asks can be answered.
                Some(_) => out::note(&format!("asks: {}", out::brief(&interrupt.value, 100))),
                None => progress::question(interrupt, alone, thread.as_str(), &store.option),
            }
        }
    }
    Ok(())
}

/// Returns the value at a path of names and numbers.
fn within<'a>(snapshot: &'a StateSnapshot, path: &str) -> Result<&'a Value, Fault> {
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    let key = steps.next().unwrap_or_default();
    let found = snapshot.values.get(key).ok_or_else(|| {
        let members = snapshot
            .values
            .as_object()
            .into_iter()
            .flat_map(|values| values.iter());
        let keys: Vec<&str> = members.map(|(key, _)| &**key).collect();
        Fault::usage(format!(
            "The state has no key {key:?}. It has: {}.",
            keys.join(", ")
        ))
    })?;
    steps.try_fold(found, |value, step| {
        let inside = match value {
            Value::Object(members) => members.get(step),
            Value::Array(items) => step.parse().ok().and_then(|at: usize| items.get(at)),
            _ => None,
        };
        inside.ok_or_else(|| Fault::usage(format!("There is no {step:?} at that place of {path}.")))
    })
}

/// Reads a state: with the thread's graph, or as it is stored where another program makes the thread.
pub(crate) async fn read(
    store: &Store,
    named: Option<&std::path::Path>,
    at: &StateRef,
    head: &CheckpointHead,
) -> Result<StateSnapshot, Fault> {
    if store.saver.foreign().is_some() {
        let found = store.saver.foreign_state(at).await?;
        return found.ok_or_else(|| store.no_thread(&at.thread));
    }
    let (_, graph) = open(store, named, &at.thread, head)?;
    Ok(graph.get_state(at).await?)
}

/// Opens the thread's graph on its storage.
pub(crate) fn open(
    store: &Store,
    named: Option<&std::path::Path>,
    thread: &ThreadId,
    head: &CheckpointHead,
) -> Result<(GraphFile, Graph), Fault> {
    let file = GraphFile::read(&graph_of(named, thread, head)?)?;
    let graph = file
        .build(&superstep_nodes::Grants::none())?
        .with_checkpointer(store.saver.clone())
        .with_store(store.memory.clone());
    Ok((file, graph))
}

fn describe(snapshot: &StateSnapshot) {
    if let Some(head) = &snapshot.checkpoint {
        let metadata = &head.metadata;
        out::note(&format!("checkpoint {}  {}", head.id, head.ts));
        out::note(&format!("step {} ({})", metadata.step, metadata.source.as_str()));
    }
    match snapshot.next.is_empty() {
        true => out::note("done: nothing runs next"),
        false => out::note(&format!("next: {}", snapshot.next.join(", "))),
    }
    for task in &snapshot.tasks {
        let what = match (&task.error, &task.result, task.interrupts.is_empty()) {
            (Some(error), ..) => format!("failed: {error}"),
            (_, _, false) => "asks".to_owned(),
            (_, Some(result), _) => format!("wrote {}", out::brief(result, 100)),
            (_, None, _) => "waits to run".to_owned(),
        };
        out::note(&format!("  {}: {what}", task.name));
    }
}

pub(crate) async fn history(args: &HistoryArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    if let Some(before) = &args.before {
        store.has(&thread, before).await?;
    }
    let query = ListQuery::new()
        .thread(thread.clone())
        .ns("")
        .before(args.before.as_deref().map(Into::into))
        .limit(args.limit.map(NonZeroUsize::get))
        .filter(args.filter.as_ref().map(entries).transpose()?.unwrap_or_default());
    if args.reading.json {
        let snapshots = match store.saver.foreign() {
            Some(_) => store.saver.foreign_history(&query).await?,
            None => {
                let (_, graph) = open(&store, args.graph.as_deref(), &thread, &head)?;
                graph.get_state_history(&thread, &query).await?
            }
        };
        let list: Vec<_> = snapshots.iter().map(StateSnapshot::to_json).collect();
        return Ok(out::pretty(&list)?);
    }
    // The table needs no values and no graph: it works for a thread whose graph is gone.
    let heads = store.saver.heads(&query).await?;
    let rows: Vec<Vec<String>> = heads
        .iter()
        .enumerate()
        .map(|(index, checkpoint)| {
            let follows = heads.get(index + 1).map(|older| &older.id);
            let parent = match &checkpoint.parent {
                Some(parent) if Some(parent) != follows && index + 1 < heads.len() => parent.to_string(),
                _ => String::new(),
            };
            vec![
                if checkpoint.id == head.id {
                    "*".to_owned()
                } else {
                    String::new()
                },
                checkpoint.id.to_string(),
                checkpoint.metadata.step.to_string(),
                checkpoint.metadata.source.as_str().to_owned(),
                checkpoint.ts.clone(),
                // What follows a past checkpoint is in the rows above; only what went wrong or waits is worth a word.
                match status_of(checkpoint) {
                    status @ (Status::Asking | Status::Failed) => word(status).to_owned(),
                    _ => String::new(),
                },
                next_of(&checkpoint.next),
                parent,
            ]
        })
        .collect();
    Ok(out::table(
        &[
            "",
            "CHECKPOINT",
            "STEP",
            "SOURCE",
            "MADE",
            "STATUS",
            "NEXT",
            "FORKS FROM",
        ],
        &rows,
    )?)
}
