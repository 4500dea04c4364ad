//! Items: put, get, replace, delete; what a value and a key may be.

use super::*;

pub(super) async fn basics(bench: &Bench) -> Outcome {
    let store = &bench.store;
    same("missing", store.get(&["a"], "k").await?, None)?;
    store.put(&["a"], "k", json!({"x": 1, "gone": true})).await?;
    let item = store.get(&["a"], "k").await?.ok_or("the item is not there")?;
    same(
        "its place",
        (item.namespace, item.key, item.score),
        (vec!["a".to_owned()], "k".to_owned(), None),
    )?;
    same(
        "its value",
        Value::Object(item.value),
        json!({"x": 1, "gone": true}),
    )?;
    store.put(&["a"], "k", json!({"x": 2})).await?;
    same(
        "replaced",
        value(bench, &["a"], "k").await?,
        Some(json!({"x": 2})),
    )?;
    same("another namespace", store.get(&["a", "b"], "k").await?, None)?;
    store.delete(&["a"], "k").await?;
    same("deleted", store.get(&["a"], "k").await?, None)?;
    store.delete(&["a"], "k").await?;
    store.delete(&["nowhere"], "k").await?;
    refusal(
        "a text",
        store.put(&["a"], "k", json!("text")).await,
        "ValueError",
    )
}

pub(super) async fn times(bench: &Bench) -> Outcome {
    let store = &bench.store;
    let began = bench.clock.now_ms();
    store.put(&["a"], "k", json!({"x": 1})).await?;
    bench.clock.advance(SECOND);
    store.put(&["a"], "k", json!({"x": 2})).await?;
    bench.clock.advance(SECOND);
    let item = store.get(&["a"], "k").await?.ok_or("the item is not there")?;
    same(
        "made and changed",
        (item.created_at, item.updated_at),
        (began, began + 1000),
    )?;
    store.delete(&["a"], "k").await?;
    store.put(&["a"], "k", json!({"x": 3})).await?;
    let item = store.get(&["a"], "k").await?.ok_or("the item is not there")?;
    same(
        "made again",
        (item.created_at, item.updated_at),
        (began + 2000, began + 2000),
    )
}

pub(super) async fn any_value(bench: &Bench) -> Outcome {
    let values = [
        json!({}),
        json!({"": "", " ": " ", "a.b": 1, "$x": 2, "\"": "\\", "nul": "a\u{0}b", "é": "日本🎉\u{2028}"}),
        json!({"n": [0, -1, 1.5, 1e300, -0.0, 9_007_199_254_740_993_i64, u64::MAX, i64::MIN], "b": [true, false, null]}),
        json!({"deep": {"a": [{"b": [[[]]]}, {}]}}),
    ];
    for (n, wanted) in values.iter().enumerate() {
        let key = n.to_string();
        bench.store.put(&["values"], &key, wanted.clone()).await?;
        same(
            "the value",
            value(bench, &["values"], &key).await?,
            Some(wanted.clone()),
        )?;
    }
    Ok(())
}

pub(super) async fn keys(bench: &Bench) -> Outcome {
    let keys = [
        "", " ", "a", "A", "á", "a\u{301}", "a ", "a.b", "a/b", "a:b", "a%", "a_", "*", "'; --", "\n", "🎉",
    ];
    for key in keys {
        bench.store.put(&["keys"], key, json!({"key": key})).await?;
    }
    for key in keys {
        same(
            key,
            value(bench, &["keys"], key).await?,
            Some(json!({"key": key})),
        )?;
    }
    let all = search(bench, StoreQuery::under(&["keys"]).limit(100)).await?;
    same("all", sorted(all), sorted(keys.map(str::to_owned).to_vec()))?;
    refusal(
        "NUL",
        bench.store.put(&["keys"], "a\0", json!({})).await,
        "ValueError",
    )
}

pub(super) async fn large(bench: &Bench) -> Outcome {
    let text: String = (0..200_000)
        .map(|n| char::from(b'a' + (n * 7 % 26) as u8))
        .collect();
    let value = json!({"text": text, "list": (0..5000).collect::<Vec<_>>()});
    bench.store.put(&["large"], "k", value.clone()).await?;
    same(
        "a large value",
        self::value(bench, &["large"], "k").await?,
        Some(value),
    )
}

pub(super) async fn deep(bench: &Bench) -> Outcome {
    let nested = |levels: usize| json!({"v": (1..levels).fold(json!(1), |inner, _| json!([inner]))});
    bench.store.put(&["deep"], "k", nested(120)).await?;
    same(
        "as deep as can be",
        value(bench, &["deep"], "k").await?,
        Some(nested(120)),
    )?;
    refusal(
        "deeper",
        bench.store.put(&["deep"], "l", nested(121)).await,
        "ValueError",
    )?;
    same("and not stored", value(bench, &["deep"], "l").await?, None)
}
