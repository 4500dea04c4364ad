//! Long threads, growing lists and forks: where a backend that stores changes could come back wrong.

use super::build::{Draft, id, stored};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{Checkpoint, ListQuery};
use superstep::{Checkpointer, Value, json};

suite! {
    "growth: an appended list" => appended,
    "growth: appended lists of short and long items" => sizes,
    "growth: lists replaced, cleared and appended again" => replaced,
    "growth: an append that does not fit what is stored" => misfit,
    "growth: four hundred checkpoints" => long_chain,
    "growth: many channels, few changes" => wide,
    "growth: equal versions on two branches" => equal_versions,
    "growth: appended lists on many branches" => branched_lists,
    "growth: forks from every depth" => deep_forks,
}

/// Stores `steps` children one after the other; `edit` says what each changes.
async fn line(
    saver: &dyn Checkpointer,
    from: Draft,
    first: u64,
    steps: u64,
    edit: impl Fn(Draft, u64) -> Draft,
) -> Result<Vec<Checkpoint>, Mismatch> {
    let mut made = vec![from.store(saver, "t", "").await?];
    for n in 0..steps {
        let parent = &made[made.len() - 1];
        made.push(
            edit(Draft::after(parent, id(first + n)), n)
                .store(saver, "t", "")
                .await?,
        );
    }
    Ok(made)
}

/// Checks that every checkpoint reads back as it was, one by one and in a listing.
async fn all_stored(saver: &dyn Checkpointer, made: &[Checkpoint]) -> Outcome {
    for checkpoint in made {
        stored(saver, "t", "", checkpoint).await?;
    }
    let listed = saver.list(&ListQuery::new().thread("t")).await?;
    for tuple in &listed {
        let Some(want) = made.iter().find(|want| want.id == tuple.checkpoint.id) else {
            continue;
        };
        same(&format!("listed {}", want.id), &tuple.checkpoint, want)?;
    }
    Ok(())
}

async fn appended(saver: &dyn Checkpointer) -> Outcome {
    let made = line(
        saver,
        Draft::root(id(1)).set("log", json!([])),
        2,
        10,
        |draft, n| draft.append("log", vec![json!({"n": n}), json!([n])]),
    );
    all_stored(saver, &made.await?).await
}

async fn sizes(saver: &dyn Checkpointer) -> Outcome {
    let made = line(
        saver,
        Draft::root(id(1))
            .set("tiny", json!([]))
            .set("long", json!(["first"])),
        2,
        200,
        |draft, n| {
            let items = (0..n % 3).map(|i| json!(n * 10 + i)).collect();
            draft
                .append("tiny", items)
                .append("long", vec![json!("x".repeat(700) + &n.to_string())])
        },
    );
    all_stored(saver, &made.await?).await
}

async fn replaced(saver: &dyn Checkpointer) -> Outcome {
    let made = line(
        saver,
        Draft::root(id(1)).set("log", json!([])),
        2,
        150,
        |draft, n| match n {
            40 => draft.set("log", json!(["other"])),
            80 => draft.clear("log"),
            81 => draft.set("log", json!({"not": "a list"})),
            82 => draft.set("log", json!([1, 2, 3])),
            120 => draft.forget("log"),
            121 => draft.append("log", vec![json!("new")]),
            _ if n % 7 == 0 => draft.set("other", n),
            _ => draft.append("log", vec![json!(n)]),
        },
    );
    all_stored(saver, &made.await?).await
}

async fn misfit(saver: &dyn Checkpointer) -> Outcome {
    // A wrong hint costs space, never the value.
    let hint = |draft: Draft, from: usize| {
        let mut put = draft.put();
        put.changes
            .iter_mut()
            .for_each(|change| change.appended_from = Some(from));
        put
    };
    let first = Draft::root(id(1))
        .set("log", json!([1, 2, 3]))
        .set("text", "abc")
        .store(saver, "t", "")
        .await?;
    let mut last = first;
    for (n, value) in [
        (2, json!([1, 2, 3, 4])),
        (9, json!([1, 2])),
        (3, json!("not a list")),
        (0, json!([5, 6])),
    ]
    .into_iter()
    .enumerate()
    {
        let (from, value) = value;
        let put = hint(
            Draft::after(&last, id(2 + n as u64))
                .set("log", value)
                .set("text", "def"),
            from,
        );
        last = put.checkpoint.clone();
        saver
            .commit(super::build::commit("t", "", Vec::new(), Some(put)))
            .await?;
        stored(saver, "t", "", &last).await?;
    }
    Ok(())
}

async fn long_chain(saver: &dyn Checkpointer) -> Outcome {
    let made = line(
        saver,
        Draft::root(id(1)).set("count", 0).set("log", json!([])),
        2,
        400,
        |draft, n| {
            let draft = draft.set("count", n).sees("node", &["count"]);
            if n % 50 == 0 {
                draft.append("log", vec![json!(n)])
            } else {
                draft
            }
        },
    );
    let made = made.await?;
    all_stored(saver, &made).await?;
    let heads = saver.heads(&ListQuery::new().thread("t")).await?;
    let parents: Vec<_> = heads.into_iter().rev().map(|head| head.parent).collect();
    same("parents", parents, made.into_iter().map(|c| c.parent).collect())
}

async fn wide(saver: &dyn Checkpointer) -> Outcome {
    let mut root = Draft::root(id(1));
    for n in 0..120 {
        root = root
            .set(&format!("channel {n}"), n)
            .sees(&format!("node {n}"), &[&format!("channel {n}")]);
    }
    let made = line(saver, root, 2, 130, |draft, n| {
        let channel = format!("channel {}", n * 7 % 120);
        let draft = draft
            .set(&channel, json!({"at": n}))
            .sees(&format!("node {}", n * 3 % 120), &[&channel]);
        if n % 31 == 0 {
            draft.forget(&format!("channel {}", (n * 11 + 1) % 120))
        } else {
            draft
        }
    });
    all_stored(saver, &made.await?).await
}

async fn equal_versions(saver: &dyn Checkpointer) -> Outcome {
    let root = Draft::root(id(1))
        .set("x", "root")
        .set("y", "kept")
        .store(saver, "t", "")
        .await?;
    let left = Draft::after(&root, id(2))
        .set("x", "left")
        .store(saver, "t", "")
        .await?;
    let right = Draft::after(&root, id(3))
        .set("x", "right")
        .store(saver, "t", "")
        .await?;
    let left_child = Draft::after(&left, id(4))
        .set("y", "left")
        .store(saver, "t", "")
        .await?;
    let right_child = Draft::after(&right, id(5))
        .set("y", "right")
        .store(saver, "t", "")
        .await?;
    same(
        "the case is about equal versions",
        &left_child.channel_versions,
        &right_child.channel_versions,
    )?;
    all_stored(saver, &[root, left, right, left_child, right_child]).await
}

async fn branched_lists(saver: &dyn Checkpointer) -> Outcome {
    let trunk = line(saver, Draft::root(id(1)).set("log", json!([])), 2, 130, |d, n| {
        d.append("log", vec![json!(n)])
    });
    let mut made = trunk.await?;
    let mut next = 1000;
    for at in [0, 62, 63, 64, 65, 128] {
        let mut last = made[at].clone();
        for n in 0..70 {
            let draft = Draft::after(&last, id(next)).append("log", vec![json!(format!("{at}.{n}"))]);
            last = draft.store(saver, "t", "").await?;
            next += 1;
            made.push(last.clone());
        }
    }
    all_stored(saver, &made).await
}

async fn deep_forks(saver: &dyn Checkpointer) -> Outcome {
    let trunk = line(
        saver,
        Draft::root(id(1)).set("a", 0).set("b", json!([])),
        2,
        150,
        |draft, n| {
            let draft = draft.set(&format!("c{}", n % 9), n).sees("node", &["a"]);
            if n % 2 == 0 {
                draft.append("b", vec![Value::Null])
            } else {
                draft.set("a", n)
            }
        },
    );
    let mut made = trunk.await?;
    for n in 0..150 {
        let draft = Draft::after(&made[n], id(1000 + n as u64))
            .set("a", "fork")
            .append("b", vec![json!("fork")]);
        made.push(draft.store(saver, "t", "").await?);
    }
    all_stored(saver, &made).await
}
