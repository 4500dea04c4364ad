//! `superstep threads` and `superstep delete`.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use serde_json::{Value as Json, json};
use superstep::{CheckpointHead, ThreadId, ThreadSummary};

use crate::args::{DeleteArgs, Status, ThreadsArgs};
use crate::fault::Fault;
use crate::out;
use crate::place::Store;

/// How a thread stands, as far as storage knows: a run that is going on elsewhere looks paused.
pub(crate) fn status_of(head: &CheckpointHead) -> Status {
    match head {
        head if head.failed > 0 => Status::Failed,
        head if head.interrupted > 0 => Status::Asking,
        head if head.next.is_empty() => Status::Done,
        _ => Status::Paused,
    }
}

pub(crate) fn word(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Asking => "asking",
        Status::Failed => "failed",
        Status::Paused => "paused",
    }
}

pub(crate) async fn threads(args: &ThreadsArgs) -> Result<(), Fault> {
    let store = Store::open(&args.db).await?;
    let wanted = args.graph.as_deref().map(absolute);
    let text = |thread: &ThreadSummary, key: &str| {
        thread
            .head
            .metadata
            .user
            .get(key)
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let threads: Vec<ThreadSummary> = store
        .saver
        .threads(&superstep::ThreadQuery::default())
        .await?
        .into_iter()
        .filter(|thread| args.status.is_none_or(|status| status == status_of(&thread.head)))
        .filter(|thread| {
            wanted
                .as_ref()
                .is_none_or(|path| *path == text(thread, "graph_path"))
        })
        .take(args.limit.unwrap_or(usize::MAX))
        .collect();
    if args.json {
        let list: Vec<Json> = threads
            .iter()
            .map(|thread| {
                json!({
                    "thread_id": thread.thread,
                    "status": word(status_of(&thread.head)),
                    "graph": text(thread, "graph"),
                    "graph_path": text(thread, "graph_path"),
                    "step": thread.head.metadata.step,
                    "next": thread.head.next,
                    "checkpoint_id": thread.head.id,
                    "checkpoints": thread.checkpoints,
                    "created_at": thread.created,
                    "updated_at": thread.head.ts,
                })
            })
            .collect();
        return Ok(out::pretty(&list)?);
    }
    if threads.is_empty() {
        out::note(match (args.status, &args.graph) {
            (None, None) => "There are no threads yet. `superstep run GRAPH --input JSON` begins one.",
            _ => "No thread is like that.",
        });
        return Ok(());
    }
    let rows: Vec<Vec<String>> = threads
        .iter()
        .map(|thread| {
            vec![
                thread.thread.to_string(),
                word(status_of(&thread.head)).to_owned(),
                thread.head.metadata.step.to_string(),
                text(thread, "graph"),
                thread.head.ts.clone(),
                next_of(&thread.head),
            ]
        })
        .collect();
    Ok(out::table(
        &["THREAD", "STATUS", "STEP", "GRAPH", "UPDATED", "NEXT"],
        &rows,
    )?)
}

/// The next nodes, each once with its count: a fan-out has many tasks of one node.
pub(crate) fn next_of(head: &CheckpointHead) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for name in &head.next {
        match counted.iter_mut().find(|(other, _)| *other == &**name) {
            Some((_, count)) => *count += 1,
            None => counted.push((name, 1)),
        }
    }
    let each = |(name, count): (&str, usize)| {
        if count == 1 {
            name.to_owned()
        } else {
            format!("{name} ×{count}")
        }
    };
    counted.into_iter().map(each).collect::<Vec<_>>().join(", ")
}

fn absolute(path: &Path) -> String {
    let file = if path.is_dir() {
        path.join("graph.json")
    } else {
        path.to_owned()
    };
    file.canonicalize().unwrap_or(file).to_string_lossy().into_owned()
}

pub(crate) async fn delete(args: &DeleteArgs) -> Result<(), Fault> {
    let store = Store::open(&args.db).await?;
    let threads: Vec<ThreadId> = args
        .threads
        .iter()
        .map(|thread| ThreadId::from(thread.as_str()))
        .collect();
    // All or none: a wrong name is found before anything is gone.
    let known = store.saver.threads(&superstep::ThreadQuery::default()).await?;
    let mut checkpoints = 0;
    for thread in &threads {
        let Some(found) = known.iter().find(|known| known.thread == *thread) else {
            return Err(Fault::usage(format!(
                "There is no thread {thread} in {}. Nothing was deleted.",
                store.name
            )));
        };
        checkpoints += found.checkpoints;
    }
    if !args.yes {
        if !std::io::stdin().is_terminal() {
            return Err(Fault::usage(
                "Deleting cannot be undone; say --yes when there is nobody to ask.",
            ));
        }
        let what = if threads.len() == 1 {
            "1 thread".to_owned()
        } else {
            format!("{} threads", threads.len())
        };
        out::note_part(&format!(
            "Delete {what} with {checkpoints} checkpoints for good? [y/N] "
        ));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            out::note("Nothing was deleted.");
            return Err(Fault::quiet(crate::fault::STOPPED));
        }
    }
    for thread in &threads {
        store.saver.delete_thread(thread).await?;
        out::note(&format!("Deleted {thread}."));
    }
    Ok(())
}
