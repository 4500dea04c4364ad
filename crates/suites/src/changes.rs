//! What one program learns of another's changes.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::build::{Draft, commit, id, writes};
use super::{Mismatch, Outcome, Running};
use superstep::checkpoint::{Checkpoint, ClaimRequest, ClaimUse, Holder, Keep, Pruning};
use superstep::store::Store;
use superstep::{Checkpointer, json};

/// How soon a change is noticed.
const SOON: Duration = Duration::from_secs(1);
/// Long enough for what is noticed late.
const LATE: Duration = Duration::from_millis(600);

/// Saver and store that a program has open.
pub struct Program {
    /// Keeps checkpoints.
    pub saver: Arc<dyn Checkpointer>,
    /// Keeps items in the same place.
    pub store: Arc<dyn Store>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("saver", &self.saver).finish()
    }
}

type ChangeCheck = for<'a> fn(&'a [Program; 2]) -> Running<'a>;

pub(super) const CASES: [(&str, ChangeCheck); 6] = [
    ("changes: another program's commits are noticed", |programs| {
        Box::pin(commits(programs))
    }),
    ("changes: a claim that begins or ends is noticed", |programs| {
        Box::pin(claims(programs))
    }),
    (
        "changes: what removes and copies threads is noticed",
        |programs| Box::pin(threads(programs)),
    ),
    ("changes: items of the store are noticed", |programs| {
        Box::pin(items(programs))
    }),
    ("changes: one that follows another is noticed", |programs| {
        Box::pin(closely(programs))
    }),
    ("changes: reading changes nothing", |programs| {
        Box::pin(reads(programs))
    }),
];

async fn number(program: &Program) -> Result<u64, Mismatch> {
    let coordination = program
        .saver
        .coordination()
        .ok_or("the backend offers no coordination")?;
    let changes = coordination.changes().await?;
    Ok(changes.ok_or("the backend does not tell of changes")?)
}

/// Waits until the number of a program is another one.
async fn notices(program: &Program, before: u64, what: &str) -> Outcome {
    let began = Instant::now();
    while number(program).await? == before {
        if began.elapsed() > SOON {
            return Err(format!("{what}: another program does not notice it within a second").into());
        }
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Runs `work` with the first program; checks that the second notices it, and that to the first it is its own.
async fn noticed<T>(
    programs: &[Program; 2],
    what: &str,
    work: impl AsyncFnOnce(&Program) -> Result<T, Mismatch>,
) -> Result<T, Mismatch> {
    let [writer, other] = programs;
    // What was done before is not noticed late.
    sleep(LATE).await;
    let (own, before) = (number(writer).await?, number(other).await?);
    let done = work(writer).await?;
    notices(other, before, what).await?;
    sleep(LATE).await;
    match number(writer).await? == own {
        true => Ok(done),
        false => Err(format!("{what}: the program that did it takes it for another's").into()),
    }
}

async fn commits(programs: &[Program; 2]) -> Outcome {
    let first = Draft::root(id(1)).set("log", json!(["a"]));
    let first = noticed(programs, "a first checkpoint", async |program| {
        first.store(&*program.saver, "t", "").await
    });
    let first = first.await?;
    noticed(programs, "what a task wrote", async |program| {
        let wrote = writes(&first, "task", "path", &[(0, "log", json!(1))]);
        Ok(program.saver.commit(commit("t", "", vec![wrote], None)).await?)
    })
    .await?;
    noticed(programs, "a second checkpoint", async |program| {
        let second = Draft::after(&first, id(2)).append("log", vec![json!("b")]);
        second.store(&*program.saver, "t", "").await
    })
    .await
    .map(drop)
}

async fn claims(programs: &[Program; 2]) -> Outcome {
    let by = ClaimRequest::by(Holder::new("one", "one"));
    let begins = by.change();
    let (claim, take) = (begins.claim.clone(), begins.take.clone());
    let shown = |ends: bool| ClaimUse {
        claim: claim.clone(),
        length: Duration::from_secs(600),
        ends,
        take: take.clone().filter(|_| !ends),
    };
    Draft::root(id(1)).store(&*programs[0].saver, "t", "").await?;
    for (what, ends) in [("a claim", false), ("the end of a claim", true)] {
        noticed(programs, what, async |program| {
            let mut commit = commit("t", "", Vec::new(), None);
            commit.claim = Some(shown(ends));
            Ok(program.saver.commit(commit).await?)
        })
        .await?;
    }
    Ok(())
}

async fn threads(programs: &[Program; 2]) -> Outcome {
    let mut last: Option<Checkpoint> = None;
    for n in 1..=4 {
        let draft = match &last {
            Some(last) => Draft::after(last, id(n)).set("x", json!(n)),
            None => Draft::root(id(n)).set("x", json!(n)),
        };
        last = Some(draft.store(&*programs[0].saver, "t", "").await?);
    }
    noticed(programs, "a copy", async |program| {
        Ok(program.saver.copy_thread(&"t".into(), &"copy".into()).await?)
    })
    .await?;
    if programs[0].saver.maintenance().is_some() {
        noticed(programs, "a pruning", async |program| {
            let pruning = Pruning::threads(["t".into()], Keep::Latest);
            Ok(program.saver.prune(&pruning).await?)
        })
        .await?;
    }
    noticed(programs, "a deletion", async |program| {
        Ok(program.saver.delete_thread(&"t".into()).await?)
    })
    .await?;
    noticed(programs, "a deletion by a holder", async |program| {
        let by = ClaimRequest::by(Holder::new("one", "one"));
        Ok(superstep::checkpoint::delete_thread(&*program.saver, &"copy".into(), &by).await?)
    })
    .await
}

async fn items(programs: &[Program; 2]) -> Outcome {
    noticed(programs, "an item", async |program| {
        Ok(program.store.put(&["a"], "key", json!({"x": 1})).await?)
    })
    .await?;
    noticed(programs, "a removed item", async |program| {
        Ok(program.store.delete(&["a"], "key").await?)
    })
    .await
}

async fn closely(programs: &[Program; 2]) -> Outcome {
    let [writer, other] = programs;
    let mut last = Draft::root(id(1)).store(&*writer.saver, "t", "").await?;
    sleep(LATE).await;
    // The backend has just reported one when the next comes, and none follows the last.
    for n in 2..6 {
        let before = number(other).await?;
        let next = Draft::after(&last, id(n)).set("x", json!(n));
        last = next.store(&*writer.saver, "t", "").await?;
        notices(other, before, "a change that follows another").await?;
    }
    Ok(())
}

async fn reads(programs: &[Program; 2]) -> Outcome {
    let [writer, other] = programs;
    Draft::root(id(1)).store(&*writer.saver, "t", "").await?;
    writer.store.put(&["a"], "key", json!({"x": 1})).await?;
    sleep(LATE).await;
    let (own, before) = (number(writer).await?, number(other).await?);
    for program in programs {
        program.saver.get(&"t".into(), "", None).await?;
        program.store.get(&["a"], "key").await?;
        let Some(maintenance) = program.saver.maintenance() else {
            continue;
        };
        maintenance.usage().await?;
        maintenance.verify(false).await?;
        let pruning = Pruning::threads(["t".into()], Keep::Latest);
        maintenance.prune(&pruning.dry_run()).await?;
    }
    sleep(LATE).await;
    match (number(writer).await?, number(other).await?) == (own, before) {
        true => Ok(()),
        false => Err("a program takes what it or another read for a change".into()),
    }
}
