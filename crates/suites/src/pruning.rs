//! What pruning takes and what it leaves.

use super::build::{Draft, id, pending, stored, write};
use super::threads::{everything, sample};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{
    Checkpoint, Keep, ListQuery, Progress, Pruning, Removal, StorageError, ThreadQuery,
};
use superstep::{CheckpointId, Checkpointer, ThreadId, json};

suite! {
    "prune: the newest checkpoint of each namespace, or nothing" => prune,
    "prune: what is kept reads as before, and goes on" => prune_growth,
    "prune: what each rule keeps" => kinds,
    "prune: a dry run says what would go and changes nothing" => dry_run,
    "prune: what is retained stays" => retained,
    "prune: runs of nested graphs go with the checkpoint that they ran in" => nested,
    "prune: shared values of what is kept stay" => shared,
    "prune and verify: what is stopped leaves threads as they were" => stopped,
    "prune: the checkpoints of runs" => runs,
    "prune: versions of graphs that nothing left was run by" => super::versions::pruned,
    "prune: what is pruned asks no more" => super::waiting::pruned,
}

/// Creates a main line 1 to 5, a branch 6, 7 from 2, a branch 8 from 6, and 20 to 22 in a namespace of a nested graph.
pub(super) async fn tree(saver: &dyn Checkpointer, thread: &str) -> Result<Vec<Checkpoint>, Mismatch> {
    let mut made: Vec<Checkpoint> = Vec::new();
    for (n, parent, ns) in [
        (1, 0, ""),
        (2, 1, ""),
        (3, 2, ""),
        (4, 3, ""),
        (5, 4, ""),
        (6, 2, ""),
        (7, 6, ""),
        (8, 6, ""),
        (20, 0, "sub"),
        (21, 20, "sub"),
        (22, 21, "sub"),
    ] {
        let draft = match made.iter().find(|made| made.id == id(parent)) {
            Some(parent) => Draft::after(parent, id(n)),
            None => Draft::root(id(n)).append("log", Vec::new()),
        };
        let text = format!("{n} of a length that is worth its own place, ").repeat(30);
        let draft = draft.append("log", vec![json!(text)]).set("x", n);
        let draft = draft.meta("run_id", if n < 6 { "first" } else { "second" });
        made.push(draft.store(saver, thread, ns).await?);
        let last = &made[made.len() - 1];
        if ns.is_empty() {
            write(saver, thread, last, "task", "p", &[(0, "log", json!([text]))]).await?;
        }
    }
    Ok(made)
}

async fn left(saver: &dyn Checkpointer, thread: &str) -> Result<Vec<CheckpointId>, Mismatch> {
    let query = ListQuery::new().thread(thread);
    let mut ids: Vec<_> = saver
        .heads(&query)
        .await?
        .into_iter()
        .map(|head| head.id)
        .collect();
    ids.sort();
    Ok(ids)
}

fn numbers(numbers: &[u64]) -> Vec<CheckpointId> {
    numbers.iter().map(|n| id(*n)).collect()
}

/// Checks that everything that is left reads as it was created.
pub(super) async fn as_made(saver: &dyn Checkpointer, thread: &str, made: &[Checkpoint]) -> Outcome {
    let ids = left(saver, thread).await?;
    for checkpoint in made.iter().filter(|made| ids.contains(&made.id)) {
        let ns = if checkpoint.id >= id(20) { "sub" } else { "" };
        let found = saver.get(&thread.into(), ns, Some(&checkpoint.id)).await?;
        let found = found.ok_or_else(|| format!("{} is gone", checkpoint.id))?;
        same(
            "values",
            &found.checkpoint.channel_values,
            &checkpoint.channel_values,
        )?;
        same(
            "versions",
            &found.checkpoint.channel_versions,
            &checkpoint.channel_versions,
        )?;
        same("writes", found.pending_writes.len(), usize::from(ns.is_empty()))?;
    }
    Ok(())
}

async fn kinds(saver: &dyn Checkpointer) -> Outcome {
    let cases: [(&str, Keep, &[u64], &[u64]); 5] = [
        ("latest", Keep::Latest, &[8, 22], &[5, 7]),
        ("branches", Keep::Branches, &[5, 7, 8, 22], &[]),
        ("newest", Keep::Newest(2), &[7, 8, 21, 22], &[5]),
        ("none of the newest", Keep::Newest(0), &[], &[5, 7, 8, 22]),
        ("nothing", Keep::Nothing, &[], &[5, 7, 8, 22]),
    ];
    for (name, keep, kept, lost) in cases {
        let made = tree(saver, name).await?;
        let removal = saver.prune(&Pruning::threads([name.into()], keep)).await?;
        same(name, left(saver, name).await?, numbers(kept))?;
        same("checkpoints", removal.checkpoints, 11 - kept.len() as u64)?;
        same("threads", removal.threads, u64::from(kept.is_empty()))?;
        let mut branches = removal.branches;
        branches.sort_by(|a, b| a.1.cmp(&b.1));
        let lost: Vec<_> = numbers(lost)
            .into_iter()
            .map(|id| (ThreadId::from(name), id))
            .collect();
        same("lost branches", branches, lost)?;
        as_made(saver, name, &made).await?;
    }
    Ok(())
}

async fn dry_run(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver, "t").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    let everything = ListQuery::default();
    let before = saver.list(&everything).await?;
    for pruning in [
        Pruning::threads(["t".into()], Keep::Latest),
        Pruning::runs(["first".into()]),
        Pruning::threads(["copy".into(), "nobody".into()], Keep::Nothing),
    ] {
        let dry = saver.prune(&pruning.clone().dry_run()).await?;
        let listed = saver.list(&everything).await?;
        same("a dry run left everything", listed == before, true)?;
        // And it may be gone on from.
        as_made(saver, "t", &made).await?;
        same("a dry run says something", dry.checkpoints > 0, true)?;
    }
    let pruning = Pruning::threads(["t".into(), "copy".into()], Keep::Branches);
    let dry = saver.prune(&pruning.clone().dry_run()).await?;
    let real = saver.prune(&pruning).await?;
    let sums = |removal: &Removal| (removal.threads, removal.checkpoints, removal.branches.clone());
    same("what would go and what went", sums(&dry), sums(&real))?;
    same("bytes", dry.bytes.is_some(), real.bytes.is_some())
}

async fn retained(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver, "t").await?;
    let pruning = Pruning::threads(["t".into()], Keep::Latest).retain([id(3), id(21), id(77)]);
    saver.prune(&pruning).await?;
    same("left", left(saver, "t").await?, numbers(&[3, 8, 21, 22]))?;
    as_made(saver, "t", &made).await?;
    let last = Draft::after(&made[2], id(30)).append("log", vec![json!("on from a bookmark")]);
    let last = last.store(saver, "t", "").await?;
    stored(saver, "t", "", &last).await?;
    let runs = Pruning::runs(["first".into(), "second".into()]).retain([id(3)]);
    saver.prune(&runs).await?;
    same("of the runs", left(saver, "t").await?, numbers(&[3]))?;
    as_made(saver, "t", &made).await
}

/// Number, parent, namespace, and the checkpoints of the graphs around by their namespaces.
type Nested = (u64, u64, &'static str, &'static [(&'static str, u64)]);

/// Root checkpoints in tens, with a branch 45 from 20; what ran in one has the same ten. `sub:d` runs in 20 now.
const NESTED: &[Nested] = &[
    (10, 0, "", &[]),
    (20, 10, "", &[]),
    (21, 0, "sub:a", &[("", 20)]),
    (22, 21, "sub:a", &[("", 20)]),
    (23, 0, "sub:a|deep:x", &[("", 20), ("sub:a", 22)]),
    // Without a task in its name: it remembers across runs.
    (24, 0, "memory", &[("", 20)]),
    (30, 20, "", &[]),
    (31, 0, "sub:b", &[("", 30)]),
    (33, 24, "memory", &[("", 30)]),
    (40, 30, "", &[]),
    (45, 20, "", &[]),
    (46, 0, "sub:e", &[("", 45)]),
    (50, 40, "", &[]),
    (51, 0, "sub:c", &[("", 50)]),
    (52, 51, "sub:c", &[("", 50)]),
    (61, 0, "sub:d", &[("", 20)]),
];

/// A rule, what is retained, and then what is left and which branches are lost.
type Rule<'a> = (&'a str, Keep, &'a [u64], &'a [u64], &'a [u64]);

async fn nested(saver: &dyn Checkpointer) -> Outcome {
    let cases: [Rule<'_>; 5] = [
        ("latest", Keep::Latest, &[], &[33, 50, 52, 61], &[45]),
        (
            "newest",
            Keep::Newest(2),
            &[],
            &[24, 33, 45, 46, 50, 51, 52, 61],
            &[],
        ),
        ("branches", Keep::Branches, &[], &[33, 45, 46, 50, 52, 61], &[]),
        (
            "retained",
            Keep::Latest,
            &[20],
            &[20, 22, 23, 33, 50, 52, 61],
            &[45],
        ),
        ("one inside", Keep::Latest, &[21], &[21, 33, 50, 52, 61], &[45]),
    ];
    for (name, keep, marked, kept, lost) in cases {
        let mut made: Vec<Checkpoint> = Vec::new();
        for (n, parent, ns, owners) in NESTED {
            let draft = match made.iter().find(|made| made.id == id(*parent)) {
                Some(parent) => Draft::after(parent, id(*n)),
                None => Draft::root(id(*n)),
            };
            let draft = draft.set("x", *n).with(|checkpoint| {
                let owners = owners.iter().map(|(ns, owner)| (*ns, id(*owner).to_string()));
                checkpoint.metadata.parents = owners.collect();
            });
            made.push(draft.store(saver, name, ns).await?);
        }
        let pruning = Pruning::threads([name.into()], keep).retain(marked.iter().map(|n| id(*n)));
        let dry = superstep::inspect::prune(saver, &pruning.clone().dry_run()).await?;
        same("a dry run", left(saver, name).await?.len(), NESTED.len())?;
        let removal = superstep::inspect::prune(saver, &pruning).await?;
        same(name, left(saver, name).await?, numbers(kept))?;
        same(
            "checkpoints",
            removal.checkpoints,
            (NESTED.len() - kept.len()) as u64,
        )?;
        same("what would have gone", dry.checkpoints, removal.checkpoints)?;
        let branches: Vec<_> = removal.branches.into_iter().map(|(_, id)| id).collect();
        same("a run that ends is no lost branch", branches, numbers(lost))?;
        for checkpoint in made.iter().filter(|made| kept.iter().any(|n| id(*n) == made.id)) {
            let place = NESTED.iter().find(|(n, ..)| id(*n) == checkpoint.id);
            let ns = place.map_or("", |(_, _, ns, _)| ns);
            stored(saver, name, ns, checkpoint).await?;
        }
    }
    Ok(())
}

async fn stopped(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver, "t").await?;
    tree(saver, "u").await?;
    let pruning = Pruning::threads(["t".into(), "u".into()], Keep::Latest);
    let stopped = Progress::default();
    stopped.stop();
    for pruning in [pruning.clone().dry_run(), pruning.clone()] {
        match saver.prune_watched(&pruning, &stopped).await {
            Err(StorageError::Stopped) => {}
            other => return Err(format!("a stopped pruning came to {other:?}").into()),
        }
        same("left", left(saver, "t").await?.len(), 11)?;
        same("left of the other", left(saver, "u").await?.len(), 11)?;
        as_made(saver, "t", &made).await?;
    }
    for repair in [false, true] {
        match saver.verify_watched(repair, &stopped).await {
            Err(StorageError::Stopped) => {}
            other => return Err(format!("a stopped check came to {other:?}").into()),
        }
    }
    // Followed to its end, it reports, and does what it does when nobody looks.
    let progress = Progress::default();
    let followed = parking_lot::Mutex::new(Vec::new());
    let watch = |done, total| {
        let mut seen = followed.lock();
        seen.push((done, total));
        true
    };
    let work = saver.prune_watched(&pruning, &progress);
    let removal = progress.follow(work, &watch).await?;
    same("went", removal.checkpoints, 18)?;
    let seen = followed.into_inner();
    same(
        "never beyond the end",
        seen.iter().all(|(done, total)| done <= total),
        true,
    )?;
    same("forwards", seen.is_sorted(), true)
}

async fn shared(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver, "t").await?;
    tree(saver, "u").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    for (thread, keep) in [("t", Keep::Latest), ("u", Keep::Nothing), ("t", Keep::Nothing)] {
        saver.prune(&Pruning::threads([thread.into()], keep)).await?;
        same("the copy", left(saver, "copy").await?.len(), 11)?;
        as_made(saver, "copy", &made).await?;
    }
    // What was shared may be stored again as if it had never been there.
    let again = tree(saver, "t").await?;
    as_made(saver, "t", &again).await?;
    saver.delete_thread(&"copy".into()).await?;
    as_made(saver, "t", &again).await
}

async fn prune(saver: &dyn Checkpointer) -> Outcome {
    let made = sample(saver, "t").await?;
    sample(saver, "other").await?;
    write(saver, "t", &made[2], "last", "p", &[(0, "x", json!("kept"))]).await?;
    let before = everything(saver, "other").await?;
    saver.prune(&Pruning::threads([], Keep::Nothing)).await?;
    let threads = || [ThreadId::from("t"), "nobody".into()];
    saver.prune(&Pruning::threads(threads(), Keep::Latest)).await?;
    let kept: Vec<_> = everything(saver, "t").await?;
    let kept: Vec<_> = kept
        .iter()
        .map(|tuple| {
            (
                &*tuple.ns,
                tuple.checkpoint.id.clone(),
                tuple.pending_writes.len(),
            )
        })
        .collect();
    same("kept", kept, vec![("sub:1", id(4), 0), ("", id(3), 1)])?;
    stored(saver, "t", "", &made[2]).await?;
    same("the other thread", everything(saver, "other").await?, before)?;
    saver.prune(&Pruning::threads(threads(), Keep::Nothing)).await?;
    same("nothing", everything(saver, "t").await?.len(), 0)?;
    same("threads", saver.threads(&ThreadQuery::default()).await?.len(), 1)
}

async fn prune_growth(saver: &dyn Checkpointer) -> Outcome {
    let mut last = Draft::root(id(1))
        .set("x", "first")
        .set("log", json!([]))
        .store(saver, "t", "")
        .await?;
    for n in 0..150_u64 {
        let draft = Draft::after(&last, id(2 + n)).append("log", vec![json!(n)]);
        last = draft.sees("node", &["log"]).store(saver, "t", "").await?;
    }
    saver.prune(&Pruning::threads(["t".into()], Keep::Latest)).await?;
    stored(saver, "t", "", &last).await?;
    for n in 0..70_u64 {
        let draft = Draft::after(&last, id(500 + n)).append("log", vec![json!("more")]);
        last = draft.store(saver, "t", "").await?;
    }
    stored(saver, "t", "", &last).await?;
    same("checkpoints", everything(saver, "t").await?.len(), 71)
}

async fn runs(saver: &dyn Checkpointer) -> Outcome {
    let mut made = vec![
        Draft::root(id(1))
            .set("log", json!([]))
            .meta("run_id", "one")
            .store(saver, "t", "")
            .await?,
    ];
    for (n, run) in (2..).zip(["one", "two", "two", "three", "three"]) {
        let draft = Draft::after(&made[made.len() - 1], id(n))
            .append("log", vec![json!(n)])
            .meta("run_id", run);
        made.push(draft.store(saver, "t", "").await?);
    }
    Draft::root(id(9))
        .meta("run_id", "two")
        .store(saver, "t", "sub")
        .await?;
    Draft::root(id(9))
        .meta("run_id", "two")
        .store(saver, "only two", "")
        .await?;
    let other = Draft::root(id(9)).store(saver, "no run", "").await?;
    write(saver, "t", &made[2], "gone", "p", &[(0, "x", json!(1))]).await?;
    write(saver, "t", &made[4], "kept", "p", &[(0, "x", json!(1))]).await?;
    saver.prune(&Pruning::runs([])).await?;
    let gone = ["two".to_owned(), "unknown".to_owned()];
    saver.prune(&Pruning::runs(gone)).await?;
    let left: Vec<_> = everything(saver, "t").await?;
    let left: Vec<_> = left.iter().map(|tuple| tuple.checkpoint.id.clone()).collect();
    same("left", left, vec![id(6), id(5), id(2), id(1)])?;
    for kept in [0, 1, 4, 5] {
        stored(saver, "t", "", &made[kept]).await?;
    }
    same("writes", pending(saver, "t", &made[4]).await?.len(), 1)?;
    stored(saver, "no run", "", &other).await?;
    same(
        "the thread of that run",
        everything(saver, "only two").await?.len(),
        0,
    )?;
    same("threads", saver.threads(&ThreadQuery::default()).await?.len(), 2)
}
