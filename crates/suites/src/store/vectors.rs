//! Search by meaning.

use super::words::worded;
use super::*;

/// Returns the keys with their scores, rounded.
fn scored(items: &[Item]) -> String {
    let one = |item: &Item| match item.score {
        Some(score) => format!("{}:{score:.3}", item.key),
        None => format!("{}:-", item.key),
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

async fn near(bench: &Bench, query: StoreQuery) -> Result<String, Mismatch> {
    Ok(scored(&bench.store.search(query).await?))
}

pub(super) async fn nearest(bench: &Bench) -> Outcome {
    let values = [
        ("a", json!({"text": "aaaa"})),
        ("ab", json!({"text": "ab"})),
        ("b", json!({"text": "bb"})),
        ("zero", json!({"text": "xyz"})),
        ("number", json!({"text": 7})),
        ("without", json!({"other": "aaaa"})),
    ];
    fill(bench, &["v"], &values).await?;
    let query = StoreQuery::under(&["v"]).query("a");
    // Newest first where there is a tie.
    let ranked = "a:1.000 ab:0.707 number:0.000 zero:0.000 b:0.000".to_owned();
    same("ranked", near(bench, query.clone()).await?, ranked)?;
    let found = bench.store.search(query.clone().limit(2)).await?;
    same("the nearest", scored(&found), "a:1.000 ab:0.707".to_owned())?;
    let all = search(bench, query).await?;
    same(
        "only with a vector",
        sorted(all).join(" "),
        "a ab b number zero".to_owned(),
    )?;
    let query = StoreQuery::under(&["v"]).query("abab").limit(1);
    same(
        "direction, not length",
        near(bench, query).await?,
        "ab:1.000".to_owned(),
    )
}

pub(super) async fn best_vector(bench: &Bench) -> Outcome {
    let values = [
        (
            "parts",
            json!({"title": "c", "parts": [{"text": "b"}, {"text": "aab"}, {"text": "d"}]}),
        ),
        ("title", json!({"title": "ab", "parts": []})),
        ("none", json!({"title": null})),
    ];
    fill(bench, &["v"], &values).await?;
    let query = StoreQuery::under(&["v"]).query("a");
    same(
        "the best part counts",
        near(bench, query).await?,
        "parts:0.894 title:0.707".to_owned(),
    )?;
    let query = StoreQuery::under(&["v"]).query("d").limit(1);
    same(
        "another part",
        near(bench, query).await?,
        "parts:1.000".to_owned(),
    )
}

pub(super) async fn vector_paths(bench: &Bench) -> Outcome {
    let value = json!({"text": "a", "other": "b"});
    let put =
        |key: &str, index| Ok::<_, StoreError>(StoreOp::put(&["v"], key, value.clone())?.indexed(index));
    let ops = vec![
        put("default", Index::Default)?,
        put("other", Index::Paths(vec!["other".to_owned()]))?,
        put("both", Index::Paths(vec!["text".to_owned(), "other".to_owned()]))?,
        put("off", Index::Off)?,
    ];
    bench.store.batch(ops).await?;
    let query = StoreQuery::under(&["v"]).query("b").limit(2);
    same(
        "b",
        sorted(search(bench, query).await?).join(" "),
        "both other".to_owned(),
    )?;
    let all = search(bench, StoreQuery::under(&["v"]).query("a")).await?;
    same(
        "all with a vector",
        sorted(all).join(" "),
        "both default other".to_owned(),
    )
}

pub(super) async fn vectors_follow(bench: &Bench) -> Outcome {
    fill(
        bench,
        &["v"],
        &[("k", json!({"text": "a"})), ("l", json!({"text": "ab"}))],
    )
    .await?;
    fill(bench, &["v"], &[("k", json!({"text": "b"}))]).await?;
    let query = StoreQuery::under(&["v"]).query("a");
    same(
        "replaced",
        near(bench, query.clone()).await?,
        "l:0.707 k:0.000".to_owned(),
    )?;
    bench
        .store
        .batch(vec![
            StoreOp::put(&["v"], "k", json!({"text": "a"}))?.indexed(Index::Off),
        ])
        .await?;
    same(
        "no longer indexed",
        near(bench, query.clone()).await?,
        "l:0.707".to_owned(),
    )?;
    bench.store.delete(&["v"], "l").await?;
    same("deleted", near(bench, query).await?, String::new())
}

pub(super) async fn vectors_scoped(bench: &Bench) -> Outcome {
    for n in 0..40_u32 {
        let text = "a".repeat(n as usize + 1) + "b";
        let namespace = ["v", if n % 2 == 0 { "even" } else { "odd" }];
        bench
            .store
            .put(&namespace, &format!("{n:02}"), json!({"text": text, "n": n}))
            .await?;
    }
    let query = StoreQuery::under(&["v", "even"])
        .query("a")
        .filter(json!({"n": {"$lt": 30}}));
    let first = search(bench, query.clone().limit(3)).await?;
    same(
        "filtered before the limit",
        first.join(" "),
        "28 26 24".to_owned(),
    )?;
    same(
        "a page",
        search(bench, query.clone().offset(3).limit(3)).await?.join(" "),
        "22 20 18".to_owned(),
    )?;
    same("all", search(bench, query.limit(100)).await?.len(), 15)
}

pub(super) async fn vectors_and_words(bench: &Bench) -> Outcome {
    fill(
        bench,
        &["w"],
        &[("a", json!({"text": "aaa"})), ("b", json!({"text": "bbb"}))],
    )
    .await?;
    let query = StoreQuery::under(&["w"]).query("bbb");
    same("by words", worded(bench, "bbb").await?, "b".to_owned())?;
    same(
        "by meaning",
        near(bench, query.clone()).await?,
        "b:1.000 a:0.000".to_owned(),
    )?;
    same(
        "asked for",
        near(bench, query.by(Ranking::Vectors).limit(1)).await?,
        "b:1.000".to_owned(),
    )
}

pub(super) async fn no_index(bench: &Bench) -> Outcome {
    let query = StoreQuery::under(&["v"]).query("a").by(Ranking::Vectors);
    refusal("no index", bench.store.search(query).await, "ValueError")
}
