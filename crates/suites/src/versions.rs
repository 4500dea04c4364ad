//! Versions of graphs that runs keep with their threads.

use super::build::{Draft, id};
use super::{Outcome, same, suite};
use superstep::checkpoint::{Checkpoint, Keep, ListQuery, Pruning, Scope, ThreadQuery};
use superstep::checkpoint::{GRAPH_VERSION, GraphVersion};
use superstep::{Checkpointer, json};

suite! {
    "graph versions: kept in their thread, read back, and no thread of their own" => kept,
    "graph versions: copied with their thread, and gone with it" => copied,
}

fn version(id: &str) -> GraphVersion {
    let text = format!("{{\"name\": \"{id}\"}}{}", " ".repeat(3_000));
    GraphVersion::new(id, json!({"document": text, "files": {"lib/a.js": "1"}}))
        .facts([("nodes", 3)].into_iter().collect())
}

/// Stores a checkpoint of a run that ran a version.
async fn ran(
    saver: &dyn Checkpointer,
    thread: &str,
    n: u64,
    before: Option<&Checkpoint>,
    of: &str,
) -> Result<Checkpoint, super::Mismatch> {
    let draft = match before {
        Some(before) => Draft::after(before, id(n)),
        None => Draft::root(id(n)),
    };
    let draft = draft
        .set("x", n)
        .meta(GRAPH_VERSION, of)
        .meta("run_id", format!("run {of}"));
    draft.store(saver, thread, "").await
}

async fn keep(saver: &dyn Checkpointer, thread: &str, n: u64, of: &str) -> Outcome {
    let commit = version(of).commit(
        &thread.into(),
        id(n),
        superstep::run::iso8601(1_795_000_000_000 + n),
    );
    Ok(saver.commit(commit).await?)
}

async fn is_kept(saver: &dyn Checkpointer, thread: &str, of: &str) -> Result<bool, super::Mismatch> {
    let found = GraphVersion::read(saver, &thread.into(), of).await?;
    if let Some(found) = &found {
        same("content", found.content.clone(), version(of).content)?;
    }
    Ok(found.is_some())
}

async fn kept(saver: &dyn Checkpointer) -> Outcome {
    keep(saver, "t", 1, "one").await?;
    let head = ran(saver, "t", 2, None, "one").await?;
    // Twice is once.
    keep(saver, "t", 1, "one").await?;
    same("kept", is_kept(saver, "t", "one").await?, true)?;
    same("another", is_kept(saver, "t", "two").await?, false)?;
    let facts = GraphVersion::head(saver, &"t".into(), "one").await?;
    let facts = facts.and_then(|head| head.metadata.user.get("nodes")?.as_i64());
    same("facts", facts, Some(3))?;
    let threads = saver.threads(&ThreadQuery::default()).await?;
    let heads: Vec<_> = threads
        .iter()
        .map(|thread| (thread.head.id.clone(), thread.checkpoints))
        .collect();
    same("threads", heads, vec![(head.id.clone(), 1)])?;
    let of_version = ThreadQuery::new().filter([(GRAPH_VERSION, "one")].into_iter().collect());
    same("threads that ran it", saver.count_threads(&of_version).await?, 1)?;
    let root = ListQuery::new().thread("t").ns("");
    let seen: Vec<_> = saver.heads(&root).await?;
    same("checkpoints", seen.len(), 1)?;
    same("of it", seen.first().and_then(GraphVersion::of), Some("one"))
}

async fn copied(saver: &dyn Checkpointer) -> Outcome {
    keep(saver, "t", 1, "one").await?;
    ran(saver, "t", 2, None, "one").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    same("in the copy", is_kept(saver, "copy", "one").await?, true)?;
    saver.delete_thread(&"t".into()).await?;
    same("after a deletion", is_kept(saver, "t", "one").await?, false)?;
    same(
        "in the copy, after it",
        is_kept(saver, "copy", "one").await?,
        true,
    )
}

/// Checks that versions are removed with the last checkpoint that was run by them, whatever a pruning is about.
pub(super) async fn pruned(saver: &dyn Checkpointer) -> Outcome {
    for thread in ["latest", "runs", "nothing"] {
        keep(saver, thread, 1, "one").await?;
        let first = ran(saver, thread, 2, None, "one").await?;
        keep(saver, thread, 3, "two").await?;
        ran(saver, thread, 4, Some(&first), "two").await?;
    }
    let latest = Pruning::threads(["latest".into()], Keep::Branches);
    superstep::inspect::prune(saver, &latest).await?;
    same("its runs are gone", is_kept(saver, "latest", "one").await?, false)?;
    same("its run stays", is_kept(saver, "latest", "two").await?, true)?;
    let mut runs = Pruning::runs(["run two".to_owned()]);
    same("scope", matches!(runs.scope, Scope::Runs(_)), true)?;
    runs.retain.extend([id(4)]);
    superstep::inspect::prune(saver, &runs).await?;
    same(
        "what is retained names it",
        is_kept(saver, "runs", "two").await?,
        true,
    )?;
    superstep::inspect::prune(saver, &Pruning::threads(["nothing".into()], Keep::Nothing)).await?;
    same("nothing is left", is_kept(saver, "nothing", "two").await?, false)
}
