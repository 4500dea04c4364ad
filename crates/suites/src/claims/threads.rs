//! Claims and what changes whole threads, and what a run relies on when it begins.

use super::*;

pub(super) async fn changes(saver: &dyn Checkpointer) -> Outcome {
    let one = run("one");
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    let (b, edit) = next("t", &a, 2);
    let other = program("two");
    is_busy(saver.commit(with(other.change(), edit.clone())).await, "one")?;
    same("checkpoints", count(saver, "t").await?, 1)?;
    // Beside a run of the same program.
    saver.commit(with(program("one").change(), edit)).await?;
    saver.commit(with(one.hold(), next("t", &b, 3).1)).await?;
    numbered(saver, "t", 1).await?;
    let over = other.take_over(TakeOver::Always);
    saver.commit(with(over.change(), next("t", &b, 4).1)).await?;
    is_superseded(
        saver.commit(with(one.hold(), next("t", &b, 5).1)).await,
        Some("two"),
    )?;
    same(
        "live",
        claim(saver, "t").await?.map(|claim| claim.is_live()),
        Some(false),
    )?;
    same("checkpoints", count(saver, "t").await?, 4)
}

pub(super) async fn deletes(saver: &dyn Checkpointer) -> Outcome {
    let coordination = saver.coordination().ok_or("the backend offers no coordination")?;
    let (one, other) = (run("one"), program("two"));
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    is_busy(coordination.delete_claimed(&"t".into(), &other).await, "one")?;
    same("checkpoints", count(saver, "t").await?, 1)?;
    let over = other.clone().take_over(TakeOver::Only(one.claim.clone()));
    coordination.delete_claimed(&"t".into(), &over).await?;
    same("checkpoints", count(saver, "t").await?, 0)?;
    same("claim", claim(saver, "t").await?, None)?;
    is_superseded(saver.commit(with(one.hold(), first("t").1)).await, None)?;
    same("checkpoints", count(saver, "t").await?, 0)?;
    // Without a claim, nobody is asked; the run is over all the same.
    saver.commit(with(other_run().take(), first("t").1)).await?;
    saver.delete_thread(&"t".into()).await?;
    same("claim", claim(saver, "t").await?, None)?;
    let late = with(other_run().hold(), next("t", &a, 2).1);
    same("stored", saver.commit(late).await.is_err(), true)?;
    coordination.delete_claimed(&"nobody".into(), &other).await?;
    Ok(())
}

fn other_run() -> Runner {
    Runner {
        claim: ClaimId::new("of the second run"),
        ..run("three")
    }
}

pub(super) async fn prunes(saver: &dyn Checkpointer) -> Outcome {
    if saver.maintenance().is_none() {
        return Ok(());
    }
    let one = run("one");
    for thread in ["t", "u"] {
        let (a, begin) = first(thread);
        saver.commit(begin).await?;
        saver.commit(next(thread, &a, 2).1).await?;
    }
    saver.commit(with(one.take(), nothing("t"))).await?;
    for keep in [Keep::Latest, Keep::Nothing] {
        let pruning = Pruning::threads(["t".into(), "u".into()], keep);
        let dry = saver.prune(&pruning.clone().dry_run()).await?;
        let went = saver.prune(&pruning).await?;
        same("what was passed over", &went.skipped, &vec!["t".into()])?;
        same("what a look says", &dry, &went)?;
        same("checkpoints", count(saver, "t").await?, 2)?;
    }
    same("checkpoints of the other", count(saver, "u").await?, 0)?;
    saver.commit(with(one.end(), nothing("t"))).await?;
    let went = saver
        .prune(&Pruning::threads(["t".into()], Keep::Nothing))
        .await?;
    same("what was passed over", went.skipped.len(), 0)?;
    same("claim", claim(saver, "t").await?, None)
}

pub(super) async fn copies(saver: &dyn Checkpointer) -> Outcome {
    saver.commit(with(run("one").take(), first("t").1)).await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    same("claim", claim(saver, "copy").await?, None)?;
    saver.commit(with(run("two").take(), nothing("copy"))).await?;
    numbered(saver, "copy", 1).await
}

pub(super) async fn onto(saver: &dyn Checkpointer) -> Outcome {
    let onto = |onto: Option<CheckpointId>| Runner {
        onto: Some(onto),
        ..run("late")
    };
    let (a, begin) = first("t");
    is_superseded(
        saver.commit(with(onto(Some(id(9))).take(), begin.clone())).await,
        None,
    )?;
    let one = onto(None);
    saver.commit(with(one.take(), begin)).await?;
    let (b, more) = next("t", &a, 2);
    saver.commit(with(one.end(), more)).await?;
    for late in [None, Some(a.id.clone())] {
        let outcome = saver.commit(with(onto(late).take(), next("t", &a, 3).1)).await;
        is_superseded(outcome, Some("late"))?;
    }
    same("checkpoints", count(saver, "t").await?, 2)?;
    // What nested graphs store is no progress of the thread.
    let inner = commit("t", "node:1", Vec::new(), Some(Draft::root(id(7)).put()));
    saver.commit(inner).await?;
    saver
        .commit(with(onto(Some(b.id.clone())).take(), next("t", &b, 3).1))
        .await?;
    same("checkpoints", count(saver, "t").await?, 3)
}

pub(super) async fn seen(saver: &dyn Checkpointer) -> Outcome {
    let seen = |seen: u64| Runner {
        seen: Some(seen),
        ..run("late")
    };
    let one = run("one");
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    let mark = claim(saver, "t").await?.map_or(0, |claim| claim.mark());
    saver.commit(with(one.end(), nothing("t"))).await?;
    let refused = saver.commit(with(seen(mark).take(), next("t", &a, 2).1)).await;
    is_superseded(refused, Some("one"))?;
    let refused = saver.commit(with(seen(0).take(), next("t", &a, 2).1)).await;
    is_superseded(refused, Some("one"))?;
    let mark = claim(saver, "t").await?.map_or(0, |claim| claim.mark());
    saver.commit(with(seen(mark).take(), next("t", &a, 2).1)).await?;
    let begin = first("u").1;
    saver.commit(with(seen(0).take(), begin)).await?;
    same("checkpoints", count(saver, "t").await?, 2)
}

pub(super) async fn several(saver: &dyn Checkpointer) -> Outcome {
    let coordination = saver.coordination().ok_or("the backend offers no coordination")?;
    for thread in ["a", "b", "c"] {
        saver.commit(first(thread).1).await?;
    }
    saver.commit(with(run("one").take(), nothing("a"))).await?;
    saver.commit(with(run("two").take(), nothing("c"))).await?;
    let threads = ["a", "b", "c", "nobody"].map(Into::into);
    let found = coordination.claims(&threads).await?;
    let mut names: Vec<(&str, &str)> = found
        .iter()
        .map(|(thread, claim)| (thread.as_str(), &*claim.holder.name))
        .collect();
    names.sort_unstable();
    same("claims", names, vec![("a", "one"), ("c", "two")])?;
    same("of none", coordination.claims(&[]).await?.len(), 0)
}
