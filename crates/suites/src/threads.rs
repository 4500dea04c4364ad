//! Whole threads: summaries, deleting, copying, many at once.

use futures::future::join_all;

use super::build::{Draft, commit, id, pending, stored, write, writes};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{Checkpoint, CheckpointTuple, ListQuery, ThreadQuery};
use superstep::{Checkpointer, ThreadId, json};

suite! {
    "threads: summaries, newest head first" => summaries,
    "threads: order of commits" => order,
    "threads: commits that are awaited together" => pipelined,
    "threads: many at once" => many,
    "delete: everything of a thread" => delete,
    "delete: nobody else's values" => delete_apart,
    "delete: and used again" => delete_reuse,
    "delete: a missing thread" => delete_missing,
    "copy: checkpoints, namespaces and writes" => copy,
    "copy: goes its own way" => copy_apart,
    "copy: long lists and forks" => copy_growth,
    "copy: onto a thread that has some already" => copy_again,
    "copy: a missing thread, and onto itself" => copy_missing,
}

pub(super) async fn everything(
    saver: &dyn Checkpointer,
    thread: &str,
) -> Result<Vec<CheckpointTuple>, Mismatch> {
    Ok(saver.list(&ListQuery::new().thread(thread)).await?)
}

/// Creates a thread with a list, a fork, two namespaces and writes.
pub(super) async fn sample(saver: &dyn Checkpointer, thread: &str) -> Result<Vec<Checkpoint>, Mismatch> {
    let root = Draft::root(id(1))
        .set("x", thread)
        .append("log", vec![json!("a")])
        .meta("owner", thread);
    let root = root.store(saver, thread, "").await?;
    let left = Draft::after(&root, id(2))
        .append("log", vec![json!("b")])
        .store(saver, thread, "")
        .await?;
    let right = Draft::after(&root, id(3))
        .append("log", vec![json!("c")])
        .meta("owner", "other");
    let right = right.store(saver, thread, "").await?;
    Draft::root(id(4))
        .set("inner", 1)
        .store(saver, thread, "sub:1")
        .await?;
    write(
        saver,
        thread,
        &left,
        "task",
        "p",
        &[(0, "x", json!("y")), (-3, "__interrupt__", json!(["q"]))],
    )
    .await?;
    Ok(vec![root, left, right])
}

async fn summaries(saver: &dyn Checkpointer) -> Outcome {
    let a1 = Draft::root(id(1)).store(saver, "a", "").await?;
    let b1 = Draft::root(id(2)).store(saver, "b", "").await?;
    Draft::root(id(9)).store(saver, "only inner", "sub").await?;
    Draft::root(id(8)).store(saver, "b", "sub").await?;
    let a2 = Draft::after(&a1, id(3))
        .meta("graph", "chat")
        .store(saver, "a", "")
        .await?;
    write(
        saver,
        "a",
        &a2,
        "task",
        "",
        &[(-3, "__interrupt__", json!(["q"]))],
    )
    .await?;
    let threads = saver.threads(&ThreadQuery::default()).await?;
    let got: Vec<_> = threads
        .iter()
        .map(|t| {
            (
                t.thread.as_str(),
                t.head.id.clone(),
                t.created.as_str(),
                t.checkpoints,
                t.head.interrupted,
            )
        })
        .collect();
    same(
        "threads",
        got,
        vec![("a", id(3), &*a1.ts, 2, 1), ("b", id(2), &*b1.ts, 1, 0)],
    )?;
    same(
        "metadata of the head",
        threads[0].head.metadata.user.get("graph"),
        Some(&json!("chat")),
    )?;
    for summary in threads {
        let alone = saver.thread(&summary.thread).await?;
        same("one of them", alone, Some(summary))?;
    }
    for nobody in ["nobody", "only inner", "A"] {
        same(nobody, saver.thread(&nobody.into()).await?, None)?;
    }
    Ok(())
}

async fn order(saver: &dyn Checkpointer) -> Outcome {
    // Called in this order, polled in the other: a later commit is never visible before an earlier one.
    let mut last = Draft::root(id(1)).set("n", 0).store(saver, "t", "").await?;
    let mut commits = Vec::new();
    for n in 2..50 {
        let put = Draft::after(&last, id(n)).set("n", n).put();
        let task = writes(&last, "task", "", &[(0, "n", json!(n))]);
        last = put.checkpoint.clone();
        commits.push(saver.commit(commit("t", "", vec![task], Some(put))));
    }
    // Futures of a backend that starts on the first poll must still be polled in order.
    for done in join_all(commits).await {
        done?;
    }
    stored(saver, "t", "", &last).await?;
    same("checkpoints", saver.heads(&ListQuery::default()).await?.len(), 49)
}

async fn pipelined(saver: &dyn Checkpointer) -> Outcome {
    let root = Draft::root(id(1)).store(saver, "t", "").await?;
    let absent = Draft::after(&root, id(99)).put().checkpoint;
    let good = (2..40).map(|n| {
        commit(
            "t",
            "",
            Vec::new(),
            Some(Draft::after(&root, id(n)).set("n", n).put()),
        )
    });
    let bad = commit(
        "t",
        "",
        vec![writes(&absent, "a", "", &[(0, "x", json!(1))])],
        None,
    );
    let all: Vec<_> = good
        .chain([bad])
        .chain([commit("u", "", Vec::new(), Some(Draft::root(id(50)).put()))])
        .collect();
    let outcomes = join_all(all.into_iter().map(|commit| saver.commit(commit))).await;
    let refused: Vec<_> = outcomes
        .iter()
        .enumerate()
        .filter(|(_, o)| o.is_err())
        .map(|(n, _)| n)
        .collect();
    same("only the bad one is refused", refused, vec![38])?;
    same("checkpoints", saver.heads(&ListQuery::default()).await?.len(), 40)
}

async fn many(saver: &dyn Checkpointer) -> Outcome {
    let run = async |thread: String| -> Result<(String, Vec<Checkpoint>), Mismatch> {
        let mut made = vec![
            Draft::root(id(1))
                .set("who", thread.as_str())
                .store(saver, &thread, "")
                .await?,
        ];
        for n in 0..12 {
            let last = &made[made.len() - 1];
            write(saver, &thread, last, "task", "", &[(0, "log", json!(n))]).await?;
            let draft = Draft::after(last, id(2 + n)).append("log", vec![json!(format!("{thread} {n}"))]);
            made.push(draft.store(saver, &thread, "").await?);
            saver.heads(&ListQuery::new().thread(thread.as_str())).await?;
        }
        Ok((thread, made))
    };
    for outcome in join_all((0..30).map(|n| run(format!("thread {n}")))).await {
        let (thread, made) = outcome?;
        for checkpoint in &made {
            stored(saver, &thread, "", checkpoint).await?;
        }
    }
    same("threads", saver.threads(&ThreadQuery::default()).await?.len(), 30)
}

async fn delete(saver: &dyn Checkpointer) -> Outcome {
    sample(saver, "t").await?;
    saver.delete_thread(&"t".into()).await?;
    same("checkpoints", everything(saver, "t").await?, Vec::new())?;
    same(
        "inner namespace",
        saver.get(&"t".into(), "sub:1", None).await?,
        None,
    )?;
    same(
        "threads",
        saver.threads(&ThreadQuery::default()).await?,
        Vec::new(),
    )
}

async fn delete_apart(saver: &dyn Checkpointer) -> Outcome {
    for thread in ["t", "u"] {
        sample(saver, thread).await?;
    }
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    let (u, copy) = (everything(saver, "u").await?, everything(saver, "copy").await?);
    saver.delete_thread(&"t".into()).await?;
    same("the other thread", everything(saver, "u").await?, u)?;
    same("the copy", everything(saver, "copy").await?, copy)
}

async fn delete_reuse(saver: &dyn Checkpointer) -> Outcome {
    let old = sample(saver, "t").await?;
    saver.delete_thread(&"t".into()).await?;
    // The same ids with other content, as if nothing had been there.
    let root = Draft::root(id(1))
        .set("x", "second life")
        .store(saver, "t", "")
        .await?;
    let child = Draft::after(&root, id(2))
        .append("log", vec![json!(1)])
        .store(saver, "t", "")
        .await?;
    stored(saver, "t", "", &root).await?;
    stored(saver, "t", "", &child).await?;
    same("writes", pending(saver, "t", &child).await?.len(), 0)?;
    same(
        "old branch",
        saver.get(&"t".into(), "", Some(&old[2].id)).await?,
        None,
    )?;
    // A run that did not notice continues its deleted parent: stored whole.
    saver.delete_thread(&"t".into()).await?;
    let late = Draft::after(&child, id(5))
        .append("log", vec![json!(2)])
        .store(saver, "t", "")
        .await?;
    stored(saver, "t", "", &late).await
}

async fn delete_missing(saver: &dyn Checkpointer) -> Outcome {
    saver.delete_thread(&"nobody".into()).await?;
    sample(saver, "t").await?;
    saver.delete_thread(&"nobody".into()).await?;
    same("the others", everything(saver, "t").await?.len(), 4)
}

async fn copy(saver: &dyn Checkpointer) -> Outcome {
    let made = sample(saver, "t").await?;
    let before = everything(saver, "t").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    for checkpoint in &made {
        stored(saver, "copy", "", checkpoint).await?;
    }
    let mut copied = everything(saver, "copy").await?;
    copied
        .iter_mut()
        .for_each(|tuple| tuple.thread = ThreadId::from("t"));
    same("the copy", &copied, &before)?;
    same("the source", everything(saver, "t").await?, before)?;
    let heads = async |thread: &str| saver.heads(&ListQuery::new().thread(thread)).await;
    same("heads", heads("copy").await?, heads("t").await?)
}

async fn copy_apart(saver: &dyn Checkpointer) -> Outcome {
    let made = sample(saver, "t").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    let source = Draft::after(&made[1], id(10))
        .append("log", vec![json!("source")])
        .store(saver, "t", "")
        .await?;
    let copy = Draft::after(&made[1], id(10))
        .append("log", vec![json!("copy")])
        .store(saver, "copy", "")
        .await?;
    write(saver, "copy", &made[2], "task", "", &[(0, "x", json!(1))]).await?;
    stored(saver, "t", "", &source).await?;
    stored(saver, "copy", "", &copy).await?;
    same(
        "writes of the source",
        pending(saver, "t", &made[2]).await?.len(),
        0,
    )
}

async fn copy_growth(saver: &dyn Checkpointer) -> Outcome {
    let mut made = vec![
        Draft::root(id(1))
            .set("log", json!([]))
            .store(saver, "t", "")
            .await?,
    ];
    for n in 0..200_u64 {
        // Every tenth step starts from thirty steps before.
        let at = if n % 10 == 9 {
            made.len().saturating_sub(30)
        } else {
            made.len() - 1
        };
        let draft = Draft::after(&made[at], id(2 + n))
            .append("log", vec![json!(n)])
            .sees("node", &["log"]);
        made.push(draft.store(saver, "t", "").await?);
    }
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    saver.delete_thread(&"t".into()).await?;
    for checkpoint in &made {
        stored(saver, "copy", "", checkpoint).await?;
    }
    let last = Draft::after(&made[made.len() - 1], id(999))
        .append("log", vec![json!("more")])
        .store(saver, "copy", "")
        .await?;
    stored(saver, "copy", "", &last).await
}

async fn copy_again(saver: &dyn Checkpointer) -> Outcome {
    let made = sample(saver, "t").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    let own = Draft::after(&made[2], id(20))
        .append("log", vec![json!("own")])
        .store(saver, "copy", "")
        .await?;
    let new = Draft::after(&made[1], id(21))
        .append("log", vec![json!("new")])
        .store(saver, "t", "")
        .await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    for checkpoint in made.iter().chain([&own, &new]) {
        stored(saver, "copy", "", checkpoint).await?;
    }
    saver.delete_thread(&"copy".into()).await?;
    same("the source keeps its own", everything(saver, "t").await?.len(), 5)?;
    stored(saver, "t", "", &new).await
}

async fn copy_missing(saver: &dyn Checkpointer) -> Outcome {
    saver.copy_thread(&"nobody".into(), &"copy".into()).await?;
    same(
        "nothing came of it",
        saver.threads(&ThreadQuery::default()).await?.len(),
        0,
    )?;
    sample(saver, "t").await?;
    let before = everything(saver, "t").await?;
    saver.copy_thread(&"t".into(), &"t".into()).await?;
    same("itself", everything(saver, "t").await?, before)
}
