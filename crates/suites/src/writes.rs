//! Pending writes.

use super::build::{Draft, commit, id, pending, stored, write, writes};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{ListQuery, TaskId, reserved, write_index};
use superstep::{Checkpointer, Value, json};

suite! {
    "writes: kept with their checkpoint" => kept,
    "writes: ordinary ones are stored once" => once,
    "writes: special slots replace" => slots,
    "writes: order by path, task, index" => order,
    "writes: with the checkpoint that follows" => with_put,
    "writes: of the checkpoint in the same commit" => of_same_commit,
    "writes: a new checkpoint has none" => cleared,
    "writes: namespaces are apart" => namespaces,
    "writes: for a checkpoint that is not stored" => orphans,
    "writes: a unit that is refused is not built on" => refused_unit,
    "writes: a thousand tasks in one commit" => thousand,
    "writes: open questions and failures are counted" => counts,
}

async fn kept(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).store(saver, "t", "").await?;
    let rows = [
        (0, "x", json!({"a": [1, null]})),
        (1, "branch:to:b", Value::Null),
        (2, "x", json!("again")),
    ];
    write(
        saver,
        "t",
        &cp,
        "0190a000-0000-7000-8000-00000000abcd",
        "~__pregel_pull, a",
        &rows,
    )
    .await?;
    let tuple = saver.get(&"t".into(), "", None).await?.ok_or("missing")?;
    let first = tuple.pending_writes.first().ok_or("no writes")?;
    same("path", &*first.task_path, "~__pregel_pull, a")?;
    same(
        "task",
        first.task_id.as_str(),
        "0190a000-0000-7000-8000-00000000abcd",
    )?;
    let got: Vec<_> = tuple
        .pending_writes
        .iter()
        .map(|w| (w.write.idx, &*w.write.channel, w.write.value.clone()))
        .collect();
    same("rows", got, rows.to_vec())
}

async fn once(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).store(saver, "t", "").await?;
    write(
        saver,
        "t",
        &cp,
        "a",
        "",
        &[(0, "x", json!(1)), (1, "y", json!(2))],
    )
    .await?;
    write(
        saver,
        "t",
        &cp,
        "a",
        "",
        &[(0, "x", json!("changed")), (1, "y", json!(2)), (2, "z", json!(3))],
    )
    .await?;
    let want = [(0, "x", json!(1)), (1, "y", json!(2)), (2, "z", json!(3))];
    let want: Vec<_> = want
        .into_iter()
        .map(|(i, c, v)| ("a".to_owned(), i, c.to_owned(), v))
        .collect();
    same("rows", pending(saver, "t", &cp).await?, want)
}

async fn slots(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).store(saver, "t", "").await?;
    let slot = |channel: &'static str, value: Value| (write_index(channel, 7), channel, value);
    let rounds = [
        vec![slot(reserved::INTERRUPT, json!(["q1"]))],
        vec![
            slot(reserved::RESUME, json!(["a1"])),
            slot(reserved::ERROR, json!("first")),
        ],
        vec![
            slot(reserved::INTERRUPT, json!(["q2"])),
            slot(reserved::RESUME, json!(["a1", "a2"])),
        ],
        vec![slot(reserved::ERROR, json!("second")), (0, "x", json!(1))],
    ];
    for rows in &rounds {
        write(saver, "t", &cp, "a", "p", rows).await?;
    }
    let want = [
        (-4, reserved::RESUME, json!(["a1", "a2"])),
        (-3, reserved::INTERRUPT, json!(["q2"])),
        (-1, reserved::ERROR, json!("second")),
        (0, "x", json!(1)),
    ];
    let want: Vec<_> = want
        .into_iter()
        .map(|(i, c, v)| ("a".to_owned(), i, c.to_owned(), v))
        .collect();
    same("rows", pending(saver, "t", &cp).await?, want)
}

async fn order(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).store(saver, "t", "").await?;
    let null = TaskId::null();
    let tasks = [
        ("z", "~__pregel_pull, b"),
        ("b", "~__pregel_push, 0000000001"),
        ("y", "~__pregel_pull, a"),
        (null.as_str(), ""),
        ("a", "~__pregel_push, 0000000002"),
        ("c", "~__pregel_pull, b"),
    ];
    for (task, path) in tasks {
        write(
            saver,
            "t",
            &cp,
            task,
            path,
            &[
                (1, "x", json!(1)),
                (0, "x", json!(0)),
                (-3, "__interrupt__", json!([])),
            ],
        )
        .await?;
    }
    let got: Vec<_> = pending(saver, "t", &cp)
        .await?
        .into_iter()
        .map(|(task, idx, ..)| (task, idx))
        .collect();
    let want = [null.as_str(), "y", "c", "z", "b", "a"];
    let want: Vec<_> = want
        .iter()
        .flat_map(|task| [-3, 0, 1].map(|idx| ((*task).to_owned(), idx)))
        .collect();
    same("order", got, want)
}

async fn with_put(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).set("x", 1).store(saver, "t", "").await?;
    let put = Draft::after(&first, id(2)).set("x", 2).put();
    let task = writes(&first, "a", "p", &[(0, "x", json!(2))]);
    saver
        .commit(commit("t", "", vec![task], Some(put.clone())))
        .await?;
    stored(saver, "t", "", &put.checkpoint).await?;
    same("writes", pending(saver, "t", &first).await?.len(), 1)
}

async fn of_same_commit(saver: &dyn Checkpointer) -> Outcome {
    // With durability exit, an interrupted run stores its last checkpoint and that checkpoint's writes at once.
    let put = Draft::root(id(1)).set("x", 1).put();
    let task = writes(
        &put.checkpoint,
        "a",
        "p",
        &[(-3, reserved::INTERRUPT, json!(["q"]))],
    );
    saver
        .commit(commit("t", "", vec![task], Some(put.clone())))
        .await?;
    same("writes", pending(saver, "t", &put.checkpoint).await?.len(), 1)
}

async fn cleared(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).store(saver, "t", "").await?;
    write(saver, "t", &first, "a", "p", &[(0, "x", json!(1))]).await?;
    let second = Draft::after(&first, id(2)).store(saver, "t", "").await?;
    same(
        "writes of the new one",
        pending(saver, "t", &second).await?.len(),
        0,
    )?;
    same(
        "writes of the old one",
        pending(saver, "t", &first).await?.len(),
        1,
    )
}

async fn namespaces(saver: &dyn Checkpointer) -> Outcome {
    let root = Draft::root(id(1)).store(saver, "t", "").await?;
    let inner = Draft::root(id(1)).store(saver, "t", "inner").await?;
    let task = writes(&inner, "a", "p", &[(0, "x", json!("inner"))]);
    saver.commit(commit("t", "inner", vec![task], None)).await?;
    same("writes of the root", pending(saver, "t", &root).await?.len(), 0)?;
    let tuple = saver.get(&"t".into(), "inner", None).await?.ok_or("missing")?;
    same("writes of the inner one", tuple.pending_writes.len(), 1)
}

async fn orphans(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).store(saver, "t", "").await?;
    let absent = Draft::after(&first, id(2)).put().checkpoint;
    let put = Draft::after(&first, id(3)).put();
    let task = |of| writes(of, "a", "p", &[(0, "x", json!(1))]);
    let both = commit("t", "", vec![task(&first), task(&absent)], Some(put.clone()));
    if saver.commit(both).await.is_ok() {
        return Err("writes of a checkpoint that is not stored were accepted".into());
    }
    same(
        "nothing of the refused commit is there",
        pending(saver, "t", &first).await?.len(),
        0,
    )?;
    same(
        "nor its checkpoint",
        saver.get(&"t".into(), "", Some(&put.checkpoint.id)).await?,
        None,
    )?;
    if saver
        .commit(commit("u", "", vec![task(&first)], None))
        .await
        .is_ok()
    {
        return Err("writes of a thread that is not stored were accepted".into());
    }
    // The backend goes on as if nothing had happened.
    write(saver, "t", &first, "a", "p", &[(0, "x", json!(1))]).await
}

async fn refused_unit(saver: &dyn Checkpointer) -> Outcome {
    let root = Draft::root(id(1)).set("log", json!(["a"]));
    let first = root.put().checkpoint;
    let absent = Draft::after(&first, id(9)).put().checkpoint;
    let begin = || Draft::root(id(1)).set("log", json!(["a"])).put();
    let orphan = writes(&absent, "a", "p", &[(0, "x", json!(1))]);
    let unit = vec![
        commit("t", "", Vec::new(), Some(begin())),
        commit("t", "", vec![orphan], None),
    ];
    if saver.commit_all(unit).await.is_ok() {
        return Err("writes of a checkpoint that is not stored were accepted".into());
    }
    saver.commit(commit("t", "", Vec::new(), Some(begin()))).await?;
    let second = Draft::after(&first, id(2)).append("log", vec![json!("b")]);
    let second = second.store(saver, "t", "").await?;
    stored(saver, "t", "", &second).await?;
    let other = Draft::root(id(3))
        .set("log", json!(["c"]))
        .store(saver, "u", "")
        .await?;
    stored(saver, "u", "", &other).await?;
    same("checkpoints", saver.heads(&Default::default()).await?.len(), 3)
}

async fn thousand(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).store(saver, "t", "").await?;
    let tasks = (0..1000).map(|n| {
        writes(
            &first,
            &format!("task {n:04}"),
            &format!("~__pregel_push, {n:010}"),
            &[(0, "results", json!([n]))],
        )
    });
    let items = (0..1000).map(|n| json!(n)).collect();
    let put = Draft::after(&first, id(2)).append("results", items).put();
    saver
        .commit(commit("t", "", tasks.collect(), Some(put.clone())))
        .await?;
    let got: Vec<_> = pending(saver, "t", &first)
        .await?
        .into_iter()
        .map(|(.., value)| value)
        .collect();
    same("values in order", got, (0..1000).map(|n| json!([n])).collect())?;
    stored(saver, "t", "", &put.checkpoint).await
}

async fn counts(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).store(saver, "t", "").await?;
    let counts = async || {
        let heads = saver.heads(&ListQuery::default()).await?;
        let head = heads.first().ok_or("no head")?;
        Ok::<_, Mismatch>((head.interrupted, head.failed))
    };
    let question = (-3, reserved::INTERRUPT, json!(["q"]));
    let error = (-1, reserved::ERROR, json!("boom"));
    same("before", counts().await?, (0, 0))?;
    write(saver, "t", &cp, "a", "a", std::slice::from_ref(&question)).await?;
    write(
        saver,
        "t",
        &cp,
        "b",
        "b",
        &[question.clone(), (-4, reserved::RESUME, json!([1]))],
    )
    .await?;
    write(
        saver,
        "t",
        &cp,
        "c",
        "c",
        &[error.clone(), (0, reserved::ERROR_SOURCE, json!("c"))],
    )
    .await?;
    write(
        saver,
        "t",
        &cp,
        "d",
        "d",
        &[(0, reserved::NO_WRITES, Value::Null)],
    )
    .await?;
    write(
        saver,
        "t",
        &cp,
        TaskId::null().as_str(),
        "",
        &[(-4, reserved::RESUME, json!(1))],
    )
    .await?;
    same("two ask, one failed", counts().await?, (2, 1))?;
    write(saver, "t", &cp, "a", "a", &[(0, "x", json!(1))]).await?;
    write(
        saver,
        "t",
        &cp,
        "c",
        "c",
        &[(1, reserved::NO_WRITES, Value::Null)],
    )
    .await?;
    same("one asks, none failed", counts().await?, (1, 0))
}
