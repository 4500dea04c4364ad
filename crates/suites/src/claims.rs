//! Claims: what a backend that offers [`Coordination`](superstep::checkpoint::Coordination) must keep to.

pub(super) mod programs;
mod threads;

use std::time::{Duration, Instant};

use futures::future::join_all;

use super::build::{Draft, commit, id, writes};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, ClaimId, ClaimRequest, ClaimUse, ClaimView, Commit, Holder, Keep, Pruning,
    StorageError, Take, TakeOver,
};
use superstep::{CheckpointId, Checkpointer, json};

suite! {
    "claims: the first commit takes the claim" => takes,
    "claims: a newcomer is told that the thread is busy" => busy,
    "claims: a claim is taken over on purpose" => over,
    "claims: one claim is taken over once" => over_only,
    "claims: after its end the next run takes the next number" => expires,
    "claims: a run goes on with a claim that nobody took since" => goes_on,
    "claims: each commit prolongs the claim" => prolongs,
    "claims: a claim without a thread leaves nothing behind" => empty,
    "claims: an ended claim is free, and its id is old" => ended,
    "claims: other threads' commits are stored beside a refused one" => others,
    "claims: commits without a claim are not compared" => unclaimed,
    "claims: of several that come at once one takes it" => at_once,
    "claims: several commits of a run are handed over together" => together,
    "claims: commits of nested graphs are compared" => nested,
    "claims: a change is refused while another program runs the thread" => threads::changes,
    "claims: deletion compares, and ends the run" => threads::deletes,
    "claims: pruning passes over a thread that runs" => threads::prunes,
    "claims: a copy has no claim" => threads::copies,
    "claims: a run begins on what it read" => threads::onto,
    "claims: nobody ran the thread since it was read" => threads::seen,
    "claims: several threads are asked for at once" => threads::several,
}

const LONG: Duration = Duration::from_secs(600);
/// Long enough for a commit, short enough to be waited for.
const SHORT: Duration = Duration::from_millis(400);

/// Creates the claim request of a program, whose runs are distinguished by the claims that they make up.
fn program(name: &str) -> ClaimRequest {
    let holder = Holder::new(format!("id of {name}"), name);
    ClaimRequest::by(holder).length(LONG)
}

/// A run.
#[derive(Clone)]
struct Runner {
    claim: ClaimId,
    by: ClaimRequest,
    onto: Option<Option<CheckpointId>>,
    seen: Option<u64>,
}

fn run(name: &str) -> Runner {
    Runner {
        claim: ClaimId::random(),
        by: program(name),
        onto: None,
        seen: None,
    }
}

impl Runner {
    fn lasting(mut self, length: Duration) -> Self {
        self.by.length = length;
        self
    }

    fn over(mut self, over: TakeOver) -> Self {
        self.by.take_over = over;
        self
    }

    fn hold(&self) -> ClaimUse {
        ClaimUse {
            claim: self.claim.clone(),
            length: self.by.length,
            ends: false,
            take: None,
        }
    }

    fn take(&self) -> ClaimUse {
        let take = Take {
            holder: self.by.holder.clone(),
            over: self.by.take_over.clone(),
            beside_own: false,
            onto: self.onto.clone(),
            seen: self.seen,
        };
        ClaimUse {
            take: Some(Box::new(take)),
            ..self.hold()
        }
    }

    fn end(&self) -> ClaimUse {
        ClaimUse {
            ends: true,
            ..self.hold()
        }
    }
}

fn with(claim: ClaimUse, commit: Commit) -> Commit {
    Commit {
        claim: Some(claim),
        ..commit
    }
}

/// Checks that the claim of a thread has this number.
async fn numbered(saver: &dyn Checkpointer, thread: &str, number: u64) -> Outcome {
    let found = claim(saver, thread).await?;
    same("number", found.map(|claim| claim.number), Some(number))
}

fn nothing(thread: &str) -> Commit {
    commit(thread, "", Vec::new(), None)
}

fn first(thread: &str) -> (Checkpoint, Commit) {
    let put = Draft::root(id(1)).set("log", json!(["a"])).put();
    let checkpoint = put.checkpoint.clone();
    (checkpoint, commit(thread, "", Vec::new(), Some(put)))
}

fn next(thread: &str, after: &Checkpoint, n: u64) -> (Checkpoint, Commit) {
    let put = Draft::after(after, id(n)).append("log", vec![json!(n)]).put();
    let checkpoint = put.checkpoint.clone();
    let wrote = writes(after, "task", "path", &[(0, "log", json!(n))]);
    (checkpoint, commit(thread, "", vec![wrote], Some(put)))
}

async fn claim(saver: &dyn Checkpointer, thread: &str) -> Result<Option<ClaimView>, Mismatch> {
    let coordination = saver.coordination().ok_or("the backend offers no coordination")?;
    Ok(coordination.claim(&thread.into()).await?)
}

async fn count(saver: &dyn Checkpointer, thread: &str) -> Result<u64, Mismatch> {
    let found = saver.thread(&thread.into()).await?;
    Ok(found.map_or(0, |thread| thread.checkpoints))
}

fn is_busy(outcome: Result<(), StorageError>, holder: &str) -> Outcome {
    match outcome {
        Err(StorageError::Busy { held, .. }) => {
            same("who is said to hold it", &*held.holder.name, holder)?;
            same("the claim that is said is live", held.is_live(), true)
        }
        other => Err(format!("expected that the thread is busy, got {other:?}").into()),
    }
}

fn is_superseded(outcome: Result<(), StorageError>, by: Option<&str>) -> Outcome {
    match outcome {
        Err(StorageError::Superseded { by: found, .. }) => {
            let name = found.as_ref().map(|holder| &*holder.name);
            same("by whom", name, by)
        }
        other => Err(format!("expected that the claim is old, got {other:?}").into()),
    }
}

async fn takes(saver: &dyn Checkpointer) -> Outcome {
    same("before", claim(saver, "t").await?, None)?;
    let one = run("one");
    saver.commit(with(one.take(), first("t").1)).await?;
    let found = claim(saver, "t").await?.ok_or("there is no claim")?;
    same("claim", &found.claim, &one.claim)?;
    same("holder", &found.holder, &one.by.holder)?;
    same("number", found.number, 1)?;
    same("live", found.is_live(), true)?;
    let expected = LONG - Duration::from_secs(60)..=LONG;
    same("time left", expected.contains(&found.remaining), true)?;
    same("checkpoints", count(saver, "t").await?, 1)?;
    // A commit that was stored is repeated when its answer was lost.
    saver.commit(with(one.take(), first("t").1)).await?;
    numbered(saver, "t", 1).await
}

async fn busy(saver: &dyn Checkpointer) -> Outcome {
    let (a, begin) = first("t");
    saver.commit(with(run("one").take(), begin)).await?;
    let (_, more) = next("t", &a, 2);
    is_busy(saver.commit(with(run("two").take(), more)).await, "one")?;
    is_busy(saver.commit(with(run("one").take(), nothing("t"))).await, "one")?;
    same("checkpoints", count(saver, "t").await?, 1)?;
    let pending = saver
        .writes_of(CheckpointAddress::new("t", "", a.id.clone()))
        .await?;
    same("writes of the one that was refused", pending.len(), 0)
}

async fn over(saver: &dyn Checkpointer) -> Outcome {
    let (one, two) = (run("one"), run("two").over(TakeOver::Always));
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    saver.commit(with(two.take(), nothing("t"))).await?;
    numbered(saver, "t", 2).await?;
    let (_, late) = next("t", &a, 2);
    is_superseded(saver.commit(with(one.hold(), late.clone())).await, Some("two"))?;
    is_superseded(saver.commit(with(one.end(), nothing("t"))).await, Some("two"))?;
    same("checkpoints", count(saver, "t").await?, 1)?;
    same(
        "writes",
        saver
            .writes_of(CheckpointAddress::new("t", "", a.id.clone()))
            .await?
            .len(),
        0,
    )?;
    saver.commit(with(two.hold(), late)).await?;
    same("checkpoints", count(saver, "t").await?, 2)
}

async fn over_only(saver: &dyn Checkpointer) -> Outcome {
    let one = run("one");
    saver.commit(with(one.take(), first("t").1)).await?;
    let over = TakeOver::Only(one.claim.clone());
    let (two, three) = (run("two").over(over.clone()), run("three").over(over));
    saver.commit(with(two.take(), nothing("t"))).await?;
    is_busy(saver.commit(with(three.take(), nothing("t"))).await, "two")
}

async fn expires(saver: &dyn Checkpointer) -> Outcome {
    let (one, two) = (run("one").lasting(SHORT), run("two"));
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    tokio::time::sleep(SHORT + SHORT / 4).await;
    let found = claim(saver, "t").await?.ok_or("there is no claim")?;
    same("live", (found.is_live(), found.ended), (false, false))?;
    saver.commit(with(two.take(), nothing("t"))).await?;
    numbered(saver, "t", 2).await?;
    is_superseded(
        saver.commit(with(one.hold(), next("t", &a, 2).1)).await,
        Some("two"),
    )
}

/// Lengths of claims to try: on a busy machine a look may come when the shorter ones are over, and say nothing.
fn lengths() -> impl Iterator<Item = (String, Duration)> {
    (0..7).map(|power| (format!("t{power}"), SHORT * (1 << power)))
}

async fn goes_on(saver: &dyn Checkpointer) -> Outcome {
    for (thread, length) in lengths() {
        let one = run("one").lasting(length);
        let (a, begin) = first(&thread);
        saver.commit(with(one.take(), begin)).await?;
        tokio::time::sleep(length + length / 4).await;
        let began = Instant::now();
        saver.commit(with(one.hold(), next(&thread, &a, 2).1)).await?;
        let taken = saver.commit(with(run("two").take(), nothing(&thread))).await;
        if began.elapsed() < length {
            is_busy(taken, "one")?;
            return numbered(saver, &thread, 1).await;
        }
    }
    Err("no look came in time".into())
}

async fn prolongs(saver: &dyn Checkpointer) -> Outcome {
    for (thread, length) in lengths() {
        let one = run("one").lasting(2 * length);
        let (mut last, begin) = first(&thread);
        saver.commit(with(one.take(), begin)).await?;
        let mut began = Instant::now();
        for n in 2..6 {
            tokio::time::sleep(length).await;
            let shown = match n % 2 {
                0 => nothing(&thread),
                _ => {
                    let (checkpoint, commit) = next(&thread, &last, n);
                    last = checkpoint;
                    commit
                }
            };
            began = Instant::now();
            saver.commit(with(one.hold(), shown)).await?;
        }
        let taken = saver.commit(with(run("two").take(), nothing(&thread))).await;
        // A backend may leave out what prolongs a claim little.
        if began.elapsed() < length {
            return is_busy(taken, "one");
        }
    }
    Err("no look came in time".into())
}

async fn empty(saver: &dyn Checkpointer) -> Outcome {
    let one = run("one");
    saver.commit(with(one.take(), nothing("t"))).await?;
    same("claimed", claim(saver, "t").await?.is_some(), true)?;
    same("threads", saver.threads(&Default::default()).await?.len(), 0)?;
    is_busy(saver.commit(with(run("two").take(), first("t").1)).await, "one")?;
    saver.commit(with(one.end(), nothing("t"))).await?;
    same("claim", claim(saver, "t").await?, None)?;
    is_superseded(saver.commit(with(one.hold(), first("t").1)).await, None)?;
    same("threads", saver.threads(&Default::default()).await?.len(), 0)
}

async fn ended(saver: &dyn Checkpointer) -> Outcome {
    let (one, two) = (run("one"), run("two"));
    let (a, begin) = first("t");
    let (b, more) = next("t", &a, 2);
    saver.commit(with(one.take(), begin)).await?;
    saver.commit(with(one.end(), more.clone())).await?;
    let found = claim(saver, "t").await?.ok_or("there is no claim")?;
    same("ended", (found.ended, found.is_live()), (true, false))?;
    // The answer may have been lost.
    saver.commit(with(one.end(), more)).await?;
    is_superseded(saver.commit(with(one.hold(), next("t", &b, 3).1)).await, None)?;
    saver.commit(with(two.take(), nothing("t"))).await?;
    numbered(saver, "t", 2).await?;
    is_superseded(
        saver.commit(with(one.end(), next("t", &b, 3).1)).await,
        Some("two"),
    )?;
    same("checkpoints", count(saver, "t").await?, 2)
}

async fn others(saver: &dyn Checkpointer) -> Outcome {
    let (one, two) = (run("one"), run("two").over(TakeOver::Always));
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    saver.commit(with(two.take(), nothing("t"))).await?;
    let mut commits = vec![with(one.hold(), next("t", &a, 2).1)];
    for n in 0..20 {
        let thread = format!("other {n}");
        let (_, begin) = first(&thread);
        commits.push(if n % 2 == 0 {
            with(run("three").take(), begin)
        } else {
            begin
        });
    }
    commits.insert(10, with(run("four").take(), next("t", &a, 3).1));
    let mut outcomes = join_all(commits.into_iter().map(|commit| saver.commit(commit))).await;
    is_busy(outcomes.remove(10), "two")?;
    is_superseded(outcomes.remove(0), Some("two"))?;
    for outcome in outcomes {
        outcome?;
    }
    for n in 0..20 {
        same("checkpoints", count(saver, &format!("other {n}")).await?, 1)?;
    }
    same("checkpoints", count(saver, "t").await?, 1)
}

async fn unclaimed(saver: &dyn Checkpointer) -> Outcome {
    let one = run("one");
    let (a, begin) = first("t");
    saver.commit(with(one.take(), begin)).await?;
    let (b, more) = next("t", &a, 2);
    saver.commit(more).await?;
    saver.commit(with(one.hold(), next("t", &b, 3).1)).await?;
    same("checkpoints", count(saver, "t").await?, 3)?;
    saver.delete_thread(&"t".into()).await?;
    same("checkpoints", count(saver, "t").await?, 0)
}

async fn at_once(saver: &dyn Checkpointer) -> Outcome {
    let (a, begin) = first("t");
    saver.commit(begin).await?;
    let runs: Vec<Runner> = (0..8).map(|n| run(&format!("run {n}"))).collect();
    let takes = runs
        .iter()
        .zip(2..)
        .map(|(run, n)| saver.commit(with(run.take(), next("t", &a, n).1)));
    let outcomes = join_all(takes).await;
    same(
        "runs",
        outcomes.iter().filter(|outcome| outcome.is_ok()).count(),
        1,
    )?;
    let refused = outcomes
        .into_iter()
        .zip(&runs)
        .filter(|(outcome, _)| outcome.is_err());
    let held = claim(saver, "t").await?.ok_or("there is no claim")?;
    for (outcome, run) in refused {
        is_busy(outcome, &held.holder.name)?;
        is_superseded(
            saver.commit(with(run.hold(), nothing("t"))).await,
            Some(&held.holder.name),
        )?;
    }
    same("checkpoints", count(saver, "t").await?, 2)
}

async fn together(saver: &dyn Checkpointer) -> Outcome {
    let one = run("one");
    let (a, begin) = first("t");
    let (b, more) = next("t", &a, 2);
    let all = vec![with(one.take(), begin), with(one.hold(), more)];
    saver.commit_all(all).await?;
    numbered(saver, "t", 1).await?;
    let (c, third) = next("t", &b, 3);
    let all = vec![with(one.hold(), third), with(one.end(), next("t", &c, 4).1)];
    saver.commit_all(all.clone()).await?;
    saver.commit_all(vec![all[1].clone()]).await?;
    same(
        "ended",
        claim(saver, "t").await?.map(|claim| claim.ended),
        Some(true),
    )?;
    let (two, three) = (run("two"), run("three"));
    let all = vec![with(two.take(), nothing("t")), with(three.take(), nothing("t"))];
    is_busy(saver.commit_all(all).await, "two")?;
    same("checkpoints", count(saver, "t").await?, 4)
}

async fn nested(saver: &dyn Checkpointer) -> Outcome {
    let (one, two) = (run("one"), run("two").over(TakeOver::Always));
    saver.commit(with(one.take(), first("t").1)).await?;
    let inner = |n| commit("t", "node:1", Vec::new(), Some(Draft::root(id(n)).put()));
    saver.commit(with(one.hold(), inner(2))).await?;
    saver.commit(with(two.take(), nothing("t"))).await?;
    is_superseded(saver.commit(with(one.hold(), inner(3))).await, Some("two"))?;
    let found = saver.get(&"t".into(), "node:1", Some(&id(3))).await?;
    same("the nested checkpoint", found.is_none(), true)
}
