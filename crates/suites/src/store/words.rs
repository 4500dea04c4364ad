//! Search by words.

use super::*;

/// Returns the keys of the items that words find, sorted and joined.
pub(super) async fn worded(bench: &Bench, query: &str) -> Result<String, Mismatch> {
    let query = StoreQuery::under(&["w"])
        .query(query)
        .by(Ranking::Words)
        .limit(100);
    Ok(sorted(search(bench, query).await?).join(" "))
}

pub(super) async fn by_words(bench: &Bench) -> Outcome {
    let values = [
        ("cat", json!({"text": "The cat sat on the mat"})),
        ("dog", json!({"text": "A dog chased the cat"})),
        (
            "fish",
            json!({"about": {"animals": ["fish", "Shark"]}, "count": 12}),
        ),
        ("bird", json!({"text": "birds"})),
    ];
    fill(bench, &["w"], &values).await?;
    same("one word", worded(bench, "cat").await?, "cat dog".to_owned())?;
    same(
        "any of several",
        worded(bench, "shark dog whale").await?,
        "dog fish".to_owned(),
    )?;
    same("a number", worded(bench, "12").await?, "fish".to_owned())?;
    same("whole words", worded(bench, "bird ca").await?, String::new())?;
    same(
        "names of members are not said",
        worded(bench, "text about animals").await?,
        String::new(),
    )?;
    let query = StoreQuery::under(&["w"]).query("chased the cat");
    let found = bench.store.search(query).await?;
    same(
        "the best fit",
        found.first().map(|item| item.key.as_str()),
        Some("dog"),
    )?;
    let scores: Vec<f64> = found.iter().filter_map(|item| item.score).collect();
    same("every one has a score", scores.len(), 2)?;
    same(
        "they fall",
        scores.windows(2).all(|pair| pair[0] >= pair[1]),
        true,
    )
}

pub(super) async fn words_folded(bench: &Bench) -> Outcome {
    let values = [
        ("fr", json!({"t": "Café Crème"})),
        ("de", json!({"t": "GRÖSSE"})),
        ("ru", json!({"t": "Привет, мир!"})),
        ("id", json!({"t": "user_id=A-42"})),
    ];
    fill(bench, &["w"], &values).await?;
    for (query, keys) in [
        ("cafe", "fr"),
        ("CRÈME", "fr"),
        ("grosse", "de"),
        ("привет", "ru"),
        ("id", "id"),
        ("a", "id"),
        ("\"cafe\" OR (мир*)", "fr ru"),
    ] {
        same(query, worded(bench, query).await?, keys.to_owned())?;
    }
    Ok(())
}

pub(super) async fn words_dense(bench: &Bench) -> Outcome {
    let values = [
        ("tokyo", json!({"t": "東京都に住んでいます"})),
        ("kyoto", json!({"t": "京都は古い町です"})),
        ("mixed", json!({"t": "GPU 显卡 4090"})),
    ];
    fill(bench, &["w"], &values).await?;
    same("a pair", worded(bench, "東京").await?, "tokyo".to_owned())?;
    same("one character", worded(bench, "町").await?, "kyoto".to_owned())?;
    same("two scripts", worded(bench, "显卡").await?, "mixed".to_owned())?;
    same("beside them", worded(bench, "gpu").await?, "mixed".to_owned())
}

pub(super) async fn words_only(bench: &Bench) -> Outcome {
    fill(bench, &["w"], &[("k", json!({"t": "near AND far NOT here"}))]).await?;
    for query in ["!?", "* \" ( ) : ^ - +", "NEAR(", "\u{1}"] {
        let found = worded(bench, query).await?;
        same(
            query,
            found,
            if query.starts_with("NEAR") {
                "k".to_owned()
            } else {
                String::new()
            },
        )?;
    }
    same("operators are words", worded(bench, "not").await?, "k".to_owned())
}

pub(super) async fn words_fields(bench: &Bench) -> Outcome {
    let values = [
        ("a", json!({"note": "alpha", "other": "beta"})),
        ("b", json!({"note": {"deep": ["beta"]}})),
    ];
    fill(bench, &["w"], &values).await?;
    same("alpha", worded(bench, "alpha").await?, "a".to_owned())?;
    same("beta", worded(bench, "beta").await?, "b".to_owned())
}

pub(super) async fn words_paths(bench: &Bench) -> Outcome {
    let value = json!({"title": "alpha", "body": "beta"});
    let put =
        |key: &str, index| Ok::<_, StoreError>(StoreOp::put(&["w"], key, value.clone())?.indexed(index));
    let ops = vec![
        put("all", Index::Default)?,
        put("title", Index::Paths(vec!["title".to_owned()]))?,
        put("off", Index::Off)?,
    ];
    bench.store.batch(ops).await?;
    same("alpha", worded(bench, "alpha").await?, "all title".to_owned())?;
    same("beta", worded(bench, "beta").await?, "all".to_owned())?;
    same(
        "without a query",
        search(bench, StoreQuery::under(&["w"])).await?.len(),
        3,
    )
}

pub(super) async fn words_follow(bench: &Bench) -> Outcome {
    fill(
        bench,
        &["w"],
        &[("k", json!({"t": "old"})), ("l", json!({"t": "old"}))],
    )
    .await?;
    fill(bench, &["w"], &[("k", json!({"t": "new"}))]).await?;
    same("replaced", worded(bench, "old").await?, "l".to_owned())?;
    same("new", worded(bench, "new").await?, "k".to_owned())?;
    bench.store.delete(&["w"], "l").await?;
    same("deleted", worded(bench, "old").await?, String::new())?;
    fill(bench, &["w"], &[("l", json!({"t": "back"}))]).await?;
    same("put again", worded(bench, "old back").await?, "l".to_owned())
}

pub(super) async fn words_scoped(bench: &Bench) -> Outcome {
    for n in 0..60 {
        let value = json!({"text": format!("report number{n}"), "n": n});
        bench
            .store
            .put(
                &["w", if n % 2 == 0 { "even" } else { "odd" }],
                &format!("{n:02}"),
                value,
            )
            .await?;
        bench.clock.advance(SECOND);
    }
    let query = StoreQuery::under(&["w", "even"])
        .query("report")
        .filter(json!({"n": {"$lt": 20}}));
    let found = search(bench, query.clone().limit(100)).await?;
    // Equal fits: the newest update comes first.
    same(
        "found",
        found.join(" "),
        "18 16 14 12 10 08 06 04 02 00".to_owned(),
    )?;
    same(
        "a page",
        search(bench, query.offset(3).limit(2)).await?.join(" "),
        "12 10".to_owned(),
    )
}
