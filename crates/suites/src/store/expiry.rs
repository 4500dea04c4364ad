//! Items that expire.

use super::*;

pub(super) async fn expired(bench: &Bench) -> Outcome {
    let store = &bench.store;
    fill(bench, &["t"], &[("k", json!({"t": "word"}))]).await?;
    bench.clock.advance(MINUTE - SECOND * 2);
    let unread = StoreQuery::under(&["t"]).refresh_ttl(false);
    same("a second before", search(bench, unread.clone()).await?.len(), 1)?;
    bench.clock.advance(SECOND);
    same("get", store.get(&["t"], "k").await?, None)?;
    same("search", search(bench, unread.clone()).await?, vec![])?;
    same("by words", search(bench, unread.query("word")).await?, vec![])?;
    same(
        "its namespace",
        list(bench, NamespaceQuery::default()).await?,
        vec![],
    )
}

pub(super) async fn swept(bench: &Bench) -> Outcome {
    let store = &bench.store;
    fill(bench, &["t"], &[("a", json!({})), ("b", json!({}))]).await?;
    store
        .batch(vec![
            StoreOp::put(&["t"], "forever", json!({}))?.living(Ttl::Never),
        ])
        .await?;
    same("nothing yet", store.sweep().await?, 0)?;
    bench.clock.advance(MINUTE - SECOND);
    same("both", store.sweep().await?, 2)?;
    same("once", store.sweep().await?, 0)?;
    same(
        "the other one",
        search(bench, StoreQuery::under(&["t"])).await?,
        vec!["forever".to_owned()],
    )
}

pub(super) async fn ttl_of_put(bench: &Bench) -> Outcome {
    let ops = vec![
        StoreOp::put(&["t"], "default", json!({}))?,
        StoreOp::put(&["t"], "long", json!({}))?.living(Ttl::For(MINUTE * 3)),
        StoreOp::put(&["t"], "forever", json!({}))?.living(Ttl::Never),
    ];
    bench.store.batch(ops).await?;
    let alive = async || {
        let query = StoreQuery::under(&["t"]).refresh_ttl(false);
        Ok::<_, Mismatch>(sorted(search(bench, query).await?).join(" "))
    };
    same("all", alive().await?, "default forever long".to_owned())?;
    bench.clock.advance(MINUTE);
    same("after a minute", alive().await?, "forever long".to_owned())?;
    bench.clock.advance(MINUTE);
    // A put without a time of its own takes the store's again.
    bench.store.put(&["t"], "forever", json!({})).await?;
    bench.clock.advance(MINUTE);
    same("after three", alive().await?, String::new())
}

pub(super) async fn refreshed(bench: &Bench) -> Outcome {
    let store = &bench.store;
    for key in ["got", "found", "left"] {
        store.put(&["t", key], key, json!({"t": key})).await?;
    }
    for _ in 0..3 {
        bench.clock.advance(MINUTE - SECOND);
        same("got", store.get(&["t", "got"], "got").await?.is_some(), true)?;
        same(
            "found",
            search(bench, StoreQuery::under(&["t", "found"])).await?.len(),
            1,
        )?;
        // Passing over an item in a page does not read it.
        search(bench, StoreQuery::under(&["t", "left"]).offset(1)).await?;
    }
    same("two were read", store.sweep().await?, 1)?;
    let item = store
        .get(&["t", "got"], "got")
        .await?
        .ok_or("the item is not there")?;
    same("reading is no update", item.updated_at, item.created_at)
}

pub(super) async fn not_refreshed(bench: &Bench) -> Outcome {
    let store = &bench.store;
    for key in ["got", "found"] {
        store.put(&["t", key], key, json!({})).await?;
    }
    bench.clock.advance(MINUTE - SECOND);
    let get = StoreOp::Get {
        namespace: vec!["t".to_owned(), "got".to_owned()],
        key: "got".to_owned(),
        refresh_ttl: Some(false),
    };
    let find = StoreOp::Search(StoreQuery::under(&["t", "found"]).refresh_ttl(false));
    let answers = store.batch(vec![get, find]).await?;
    same(
        "read",
        answers
            .into_iter()
            .map(|a| matches!(a, StoreAnswer::Item(Some(_))) || a.into_items().len() == 1)
            .collect::<Vec<_>>(),
        vec![true, true],
    )?;
    bench.clock.advance(SECOND);
    same("expired all the same", store.sweep().await?, 2)
}

pub(super) async fn reborn(bench: &Bench) -> Outcome {
    let began = bench.clock.now_ms();
    bench.store.put(&["t"], "k", json!({})).await?;
    bench.clock.advance(MINUTE);
    bench.store.put(&["t"], "k", json!({})).await?;
    let item = bench
        .store
        .get(&["t"], "k")
        .await?
        .ok_or("the item is not there")?;
    same("made when it was put again", item.created_at, began + 60_000)?;
    same("nothing to sweep", bench.store.sweep().await?, 0)
}

pub(super) async fn lingers(bench: &Bench) -> Outcome {
    let store = &bench.store;
    store.put(&["t"], "k", json!({})).await?;
    bench.clock.advance(MINUTE * 2);
    same("get", store.get(&["t"], "k").await?.is_some(), true)?;
    same("search", search(bench, StoreQuery::under(&["t"])).await?.len(), 1)?;
    same(
        "listed",
        list(bench, NamespaceQuery::default()).await?,
        vec!["t".to_owned()],
    )?;
    same("swept: reading does not refresh here", store.sweep().await?, 1)?;
    same("gone", store.get(&["t"], "k").await?, None)
}
