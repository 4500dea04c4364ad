//! Batches: order, wholeness, and several callers at once.

use super::*;

pub(super) async fn batch_order(bench: &Bench) -> Outcome {
    let ops = vec![
        StoreOp::put(&["a"], "k", json!({"v": 1}))?,
        StoreOp::get(&["a"], "k"),
        StoreOp::put(&["a"], "k", json!({"v": 2}))?,
        StoreOp::Search(StoreQuery::under(&["a"])),
        StoreOp::ListNamespaces(NamespaceQuery::default()),
    ];
    let answers = bench.store.batch(ops).await?;
    let nothing = vec![
        StoreAnswer::Done,
        StoreAnswer::Item(None),
        StoreAnswer::Done,
        StoreAnswer::Items(vec![]),
        StoreAnswer::Namespaces(vec![]),
    ];
    same("the answers", answers, nothing)?;
    same(
        "afterwards",
        value(bench, &["a"], "k").await?,
        Some(json!({"v": 2})),
    )?;
    let ops = vec![
        StoreOp::delete(&["a"], "k"),
        StoreOp::get(&["a"], "k"),
        StoreOp::get(&["a"], "other"),
    ];
    let answers = bench.store.batch(ops).await?;
    let found = answers
        .into_iter()
        .map(|answer| answer.into_item().map(|item| item.key));
    same(
        "deleted after it was read",
        found.collect::<Vec<_>>(),
        vec![None, Some("k".to_owned()), None],
    )?;
    same("nothing to do", bench.store.batch(vec![]).await?, vec![])
}

pub(super) async fn batch_last(bench: &Bench) -> Outcome {
    let ops = vec![
        StoreOp::delete(&["a"], "k"),
        StoreOp::put(&["a"], "k", json!({"v": 1}))?,
        StoreOp::put(&["a"], "gone", json!({"v": 1}))?,
        StoreOp::put(&["b"], "k", json!({"v": 3}))?,
        StoreOp::delete(&["a"], "gone"),
    ];
    bench.store.batch(ops).await?;
    same(
        "put last",
        value(bench, &["a"], "k").await?,
        Some(json!({"v": 1})),
    )?;
    same("deleted last", value(bench, &["a"], "gone").await?, None)?;
    same(
        "another namespace",
        value(bench, &["b"], "k").await?,
        Some(json!({"v": 3})),
    )
}

pub(super) async fn batch_whole(bench: &Bench) -> Outcome {
    let bad = [
        StoreOp::put(&["a.b"], "k", json!({}))?,
        StoreOp::Search(StoreQuery::under(&[]).filter(json!({"x": {"$in": []}}))),
        StoreOp::Search(StoreQuery::under(&[]).filter(json!([1]))),
        StoreOp::put(&["a"], "p", json!({}))?.indexed(Index::Paths(vec!["x[".to_owned()])),
        StoreOp::Search(StoreQuery::under(&[]).query("x").by(Ranking::Vectors)),
    ];
    for op in bad {
        let what = format!("{op:?}");
        let outcome = bench
            .store
            .batch(vec![StoreOp::put(&["a"], "k", json!({"v": 1}))?, op])
            .await;
        if outcome.is_ok() {
            return Err(format!("{what} was accepted").into());
        }
        same(&what, value(bench, &["a"], "k").await?, None)?;
    }
    Ok(())
}

pub(super) async fn batch_large(bench: &Bench) -> Outcome {
    let puts =
        (0..1200).map(|n| StoreOp::put(&["many", &(n % 7).to_string()], n.to_string(), json!({"n": n})));
    bench.store.batch(puts.collect::<Result<_, _>>()?).await?;
    let gets = (0..1200)
        .map(|n| StoreOp::get(&["many", &(n % 7).to_string()], n.to_string()))
        .collect();
    let answers = bench.store.batch(gets).await?;
    for (n, answer) in answers.into_iter().enumerate() {
        let item = answer
            .into_item()
            .ok_or_else(|| format!("item {n} is not there"))?;
        same("its value", item.value.get("n"), Some(&json!(n)))?;
    }
    let all = search(bench, StoreQuery::under(&["many"]).limit(5000)).await?;
    same("all", all.len(), 1200)
}

pub(super) async fn concurrent(bench: &Bench) -> Outcome {
    let write = async |n: u64| -> Outcome {
        let namespace = ["shared", if n.is_multiple_of(2) { "even" } else { "odd" }];
        bench
            .store
            .put(&namespace, &n.to_string(), json!({"n": n}))
            .await?;
        bench.store.put(&["shared"], "last", json!({"n": n})).await?;
        same(
            "own item",
            value(bench, &namespace, &n.to_string()).await?,
            Some(json!({"n": n})),
        )?;
        bench
            .store
            .search(StoreQuery::under(&["shared"]).filter(json!({"n": {"$lt": 5}})))
            .await?;
        Ok(())
    };
    join_all((0..60).map(write))
        .await
        .into_iter()
        .collect::<Result<(), _>>()?;
    same(
        "all",
        search(bench, StoreQuery::under(&["shared"]).limit(100))
            .await?
            .len(),
        61,
    )
}
