//! `superstep threads` and `superstep delete`.

use std::num::NonZeroUsize;

use serde_json::{Value as Json, json};
use superstep::checkpoint::{ClaimView, ThreadQuery, ThreadStatus, ThreadSummary};
use superstep::value::Object;
use superstep::{ThreadId, Value};

use crate::args::DeleteArgs;
use crate::args::threads::{ListArgs, ShowArgs, Status, ThreadsAction, ThreadsArgs};
use crate::claim::claimant;
use crate::commands::{answers, maintenance, questions};
use crate::confirm::confirm_deletion;
use crate::fault::Fault;
use crate::handover::Handover;
use crate::listing::{GraphFilter, Row, next_of};
use crate::out;
use crate::place::Store;

/// The status of a thread that a program runs.
const RUNNING: &str = "running";

pub(crate) async fn threads(args: ThreadsArgs) -> Result<(), Fault> {
    match args.action.unwrap_or(ThreadsAction::List(args.list)) {
        ThreadsAction::List(args) => list(&args).await,
        ThreadsAction::Show(args) => show(&args).await,
        ThreadsAction::Waiting(args) => questions::waiting(&args).await,
        ThreadsAction::History(args) => answers::history(&args),
        ThreadsAction::Withdraw(args) => questions::withdraw(&args).await,
        ThreadsAction::Copy(args) => maintenance::copy(&args).await,
        ThreadsAction::Export(args) => maintenance::export(&args).await,
        ThreadsAction::Import(args) => maintenance::import(&args).await,
        ThreadsAction::Prune(args) => maintenance::prune(&args).await,
        ThreadsAction::Usage(args) => maintenance::usage(&args).await,
        ThreadsAction::Verify(args) => maintenance::verify(&args).await,
    }
}

/// Builds the rows of threads: what storage knows of them, and who runs them.
async fn rows(store: &Store, threads: &[ThreadSummary]) -> Result<Vec<Row>, Fault> {
    let mut rows: Vec<Row> = threads.iter().map(Row::from).collect();
    let ids: Vec<ThreadId> = threads.iter().map(|thread| thread.thread.clone()).collect();
    let Some(coordination) = store.saver.coordination().filter(|_| !ids.is_empty()) else {
        return Ok(rows);
    };
    let claims = coordination.claims(&ids).await?;
    if !claims.values().any(ClaimView::is_live) {
        return Ok(rows);
    }
    let claimant = claimant();
    for (thread, held) in claims.iter().filter(|(_, held)| claimant.is_held(held)) {
        for row in rows.iter_mut().filter(|row| row.thread == thread.as_str()) {
            row.status = RUNNING.to_owned();
            row.program = Some(held.holder.name.to_string());
        }
    }
    Ok(rows)
}

fn described(row: &Row) -> Json {
    json!({
        "thread_id": row.thread,
        "status": row.status,
        "program": row.program,
        "graph": row.graph,
        "graph_path": row.graph_path,
        "step": row.step,
        "next": row.next,
        "checkpoint_id": row.newest,
        // A LangGraph server does not say how many there are.
        "checkpoints": (row.checkpoints > 0).then_some(row.checkpoints),
        "created_at": row.created,
        "updated_at": row.updated,
        "tags": row.labels.tags,
        "metadata": row.labels.metadata,
    })
}

async fn show(args: &ShowArgs) -> Result<(), Fault> {
    let row = match Handover::to(&args.reading.db, false).await? {
        Some(there) => there.row(&args.thread).await?,
        None => {
            let store = Store::existing_here(&args.reading.db).await?;
            let summary = store.thread(&args.thread.as_str().into()).await?;
            let mut found = rows(&store, &[summary]).await?;
            found.remove(0)
        }
    };
    if args.reading.json {
        return Ok(out::pretty(&described(&row))?);
    }
    let next = next_of(&row.next);
    let mut rows = vec![
        ("thread", row.thread),
        ("status", row.status),
        ("runs in", row.program.unwrap_or_default()),
        ("graph", row.graph),
        ("file", row.graph_path),
        ("created", row.created),
        ("updated", row.updated),
        ("step", row.step.to_string()),
        (
            "checkpoints",
            match row.checkpoints {
                0 => "its server does not say how many".to_owned(),
                number => number.to_string(),
            },
        ),
        ("newest", row.newest.unwrap_or_default()),
        ("next", next),
        ("tags", row.labels.tags.join(", ")),
    ];
    if row.questions > 0 {
        rows.push(("questions", row.questions.to_string()));
    }
    let metadata = row.labels.metadata.iter();
    let metadata: Vec<String> = metadata.map(|(key, value)| format!("{key}={value}")).collect();
    rows.push(("metadata", metadata.join(", ")));
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        out::line(&format!("{name:<12}{}", value))?;
    }
    Ok(())
}

async fn list(args: &ListArgs) -> Result<(), Fault> {
    // Metadata is known to storage alone.
    let threads = match Handover::to(&args.db, args.filter.is_some()).await? {
        Some(there) => there.list(args).await?,
        None => {
            let store = Store::existing(&args.db).await?;
            let mut query = query_of(args, &store).await?;
            if args.count {
                return Ok(out::line(&store.saver.count_threads(&query).await?.to_string())?);
            }
            if let Some(last) = &args.after {
                query.after = Some(store.thread(&last.as_str().into()).await?.place());
            }
            let threads = store.saver.threads(&query).await?;
            rows(&store, &threads).await?
        }
    };
    if args.count {
        return Ok(out::line(&threads.len().to_string())?);
    }
    if args.json {
        let list: Vec<Json> = threads.iter().map(described).collect();
        return Ok(out::pretty(&list)?);
    }
    if threads.is_empty() {
        let all =
            args.status.is_none() && args.filter.is_none() && args.graph.is_none() && args.search.is_none();
        let all = all && args.labels().is_empty();
        out::note(match (all, &args.after) {
            (true, None) => "There are no threads yet. `superstep run GRAPH --input JSON` begins one.",
            (true, Some(_)) => "No thread comes after that one.",
            _ => "No thread is like that.",
        });
        return Ok(());
    }
    let mut head = vec!["THREAD", "STATUS", "STEP", "GRAPH", "UPDATED", "NEXT"];
    let tagged = threads.iter().any(|row| !row.labels.tags.is_empty());
    if tagged {
        head.insert(5, "TAGS");
    }
    let rows: Vec<Vec<String>> = (threads.into_iter())
        .map(|row| {
            let next = next_of(&row.next);
            let mut cells = vec![
                row.thread,
                row.status,
                row.step.to_string(),
                row.graph,
                row.updated,
            ];
            if tagged {
                cells.push(row.labels.tags.join(", "));
            }
            cells.push(next);
            cells
        })
        .collect();
    Ok(out::table(&head, &rows)?)
}

async fn query_of(args: &ListArgs, store: &Store) -> Result<ThreadQuery, Fault> {
    let mut query = ThreadQuery::new()
        .search(args.search.clone())
        .status(args.status.map(|status| match status {
            Status::Done => ThreadStatus::Idle,
            Status::Asking => ThreadStatus::Interrupted,
            Status::Failed => ThreadStatus::Error,
            Status::Paused => ThreadStatus::Pending,
        }))
        .limit(args.limit.map(NonZeroUsize::get));
    if let Some(filter) = &args.filter {
        query.filter = entries(filter)?;
    }
    args.labels().note(&mut query.filter);
    if let Some(graph) = &args.graph {
        query.filter = GraphFilter::of(graph, &*store.saver).await?.note(query.filter);
    }
    Ok(query)
}

/// Returns the metadata entries to filter by.
pub(crate) fn entries(filter: &Value) -> Result<Object, Fault> {
    filter.as_object().cloned().ok_or_else(|| {
        Fault::usage("A filter is a JSON object of metadata entries, as in '{\"source\": \"update\"}'.")
    })
}

pub(crate) async fn delete(args: &DeleteArgs) -> Result<(), Fault> {
    if let Some(there) = Handover::to(&args.db, false).await? {
        return there.delete(args).await;
    }
    let store = Store::existing_here(&args.db).await?.refuse_foreign()?;
    let threads: Vec<ThreadId> = args
        .threads
        .iter()
        .map(|thread| ThreadId::from(thread.as_str()))
        .collect();
    // All or none: a wrong name is found before anything is gone.
    let mut checkpoints = 0;
    for thread in &threads {
        let Some(found) = store.saver.thread(thread).await? else {
            return Err(Fault::usage(format!(
                "There is no thread {thread} in {}. Nothing was deleted.",
                store.name
            )));
        };
        checkpoints += found.checkpoints;
    }
    confirm_deletion(args, checkpoints)?;
    let claimant = claimant();
    for thread in &threads {
        let by = claimant.claim(&*store.saver, thread, args.take_over).await;
        superstep::checkpoint::delete_thread(&*store.saver, thread, &by).await?;
        out::note(&format!("Deleted {thread}."));
    }
    store.forget(&threads)
}
