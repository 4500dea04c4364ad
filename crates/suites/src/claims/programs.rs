//! Claims between two programs that work on one place. Each keeps what it knows of the other's threads for itself, so that what
//! one takes over must be noticed by the very next commit of the other.

use super::*;
use crate::{Program, Running};

type ClaimCheck = for<'a> fn(&'a [Program; 2]) -> Running<'a>;

pub(crate) const CASES: [(&str, ClaimCheck); 4] = [
    (
        "claims: a claim that another program takes is lost at once",
        |programs| Box::pin(taken(programs)),
    ),
    ("claims: so it is when the other goes on at once", |programs| {
        Box::pin(taken_with_work(programs))
    }),
    ("claims: so it is before anything was stored", |programs| {
        Box::pin(taken_before_the_first(programs))
    }),
    ("claims: two programs take a claim in turns", |programs| {
        Box::pin(in_turns(programs))
    }),
];

/// Stores some checkpoints of a run, so that its program knows that the thread is the run's. Returns the last.
async fn worked(saver: &dyn Checkpointer, thread: &str, run: &Runner) -> Result<Checkpoint, Mismatch> {
    let (mut last, begin) = first(thread);
    saver.commit(with(run.take(), begin)).await?;
    for n in 2..6 {
        let (now, commit) = next(thread, &last, n);
        saver.commit(with(run.hold(), commit)).await?;
        last = now;
    }
    Ok(last)
}

async fn taken([here, there]: &[Program; 2]) -> Outcome {
    type Late = fn(&str, &Checkpoint) -> Commit;
    let kinds: [(&str, Late); 4] = [
        ("a checkpoint", |thread, last| next(thread, last, 9).1),
        ("writes", |thread, last| {
            commit(
                thread,
                "",
                vec![writes(last, "task", "path", &[(0, "log", json!(9))])],
                None,
            )
        }),
        ("a nested checkpoint", |thread, _| {
            commit(thread, "node:1", Vec::new(), Some(Draft::root(id(9)).put()))
        }),
        ("nothing", |thread, _| nothing(thread)),
    ];
    for (what, late) in kinds {
        let (one, two) = (run("one"), run("two").over(TakeOver::Always));
        let last = worked(&*here.saver, what, &one).await?;
        there.saver.commit(with(two.take(), nothing(what))).await?;
        let refused = here.saver.commit(with(one.hold(), late(what, &last))).await;
        is_superseded(refused, Some("two")).map_err(|reason| format!("{what}: {reason}"))?;
        same(what, count(&*there.saver, what).await?, 5)?;
        there
            .saver
            .commit(with(two.hold(), next(what, &last, 7).1))
            .await?;
        numbered(&*here.saver, what, 2).await?;
    }
    Ok(())
}

async fn taken_with_work([here, there]: &[Program; 2]) -> Outcome {
    let (one, two) = (run("one"), run("two").over(TakeOver::Only(ClaimId::random())));
    let last = worked(&*here.saver, "t", &one).await?;
    let (begun, work) = next("t", &last, 7);
    is_busy(there.saver.commit(with(two.take(), work.clone())).await, "one")?;
    // Who was refused has taken nothing.
    let (last, more) = next("t", &last, 6);
    here.saver.commit(with(one.hold(), more)).await?;
    let two = two.over(TakeOver::Only(one.claim.clone()));
    there.saver.commit(with(two.take(), work)).await?;
    is_superseded(
        here.saver.commit(with(one.hold(), next("t", &last, 8).1)).await,
        Some("two"),
    )?;
    there
        .saver
        .commit(with(two.hold(), next("t", &begun, 9).1))
        .await?;
    same("checkpoints", count(&*here.saver, "t").await?, 8)
}

async fn taken_before_the_first([here, there]: &[Program; 2]) -> Outcome {
    let (one, two) = (run("one"), run("two").over(TakeOver::Always));
    here.saver.commit(with(one.take(), nothing("t"))).await?;
    let (begun, begin) = first("t");
    there.saver.commit(with(two.take(), begin)).await?;
    is_superseded(
        here.saver.commit(with(one.hold(), next("t", &begun, 2).1)).await,
        Some("two"),
    )?;
    let late = commit("t", "", Vec::new(), Some(Draft::root(id(3)).put()));
    is_superseded(here.saver.commit(with(one.hold(), late)).await, Some("two"))?;
    same("checkpoints", count(&*there.saver, "t").await?, 1)
}

async fn in_turns([here, there]: &[Program; 2]) -> Outcome {
    let (mut last, begin) = first("t");
    let mut before = run("0");
    here.saver.commit(with(before.take(), begin)).await?;
    for n in 1..10_u64 {
        let (saver, other) = match n % 2 {
            0 => (&here.saver, &there.saver),
            _ => (&there.saver, &here.saver),
        };
        let mut now = run(&n.to_string()).over(TakeOver::Always);
        now.onto = Some(Some(last.id.clone()));
        let mut held = now.take();
        for m in 0..3 {
            let (checkpoint, commit) = next("t", &last, n * 10 + m);
            saver.commit(with(held, commit)).await?;
            held = now.hold();
            last = checkpoint;
        }
        is_superseded(
            other
                .commit(with(before.hold(), next("t", &last, n * 10 + 5).1))
                .await,
            Some(&n.to_string()),
        )?;
        before = now;
    }
    same("checkpoints", count(&*here.saver, "t").await?, 28)
}
