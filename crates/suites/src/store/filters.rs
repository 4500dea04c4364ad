//! Search without words: order, pages, filters.

use super::*;

pub(super) async fn newest(bench: &Bench) -> Outcome {
    let values: Vec<(String, Value)> = (0..25).map(|n| (format!("k{n:02}"), json!({"n": n}))).collect();
    let values: Vec<(&str, Value)> = values
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()))
        .collect();
    fill(bench, &["a"], &values).await?;
    bench
        .store
        .put(&["a"], "k03", json!({"n": 3, "again": true}))
        .await?;
    let ten = search(bench, StoreQuery::under(&["a"])).await?;
    same("the default limit", ten.len(), 10)?;
    same(
        "the newest",
        &ten[..3],
        &["k03".to_owned(), "k24".to_owned(), "k23".to_owned()],
    )?;
    let page = search(bench, StoreQuery::under(&["a"]).offset(1).limit(2)).await?;
    same("a page", page, vec!["k24".to_owned(), "k23".to_owned()])?;
    let last = search(bench, StoreQuery::under(&["a"]).offset(24)).await?;
    same("the last page", last, vec!["k00".to_owned()])?;
    same(
        "past the end",
        search(bench, StoreQuery::under(&["a"]).offset(25)).await?,
        vec![],
    )?;
    same(
        "none wanted",
        search(bench, StoreQuery::under(&["a"]).limit(0)).await?,
        vec![],
    )?;
    let puts =
        [("z", "1"), ("y", "2"), ("y", "1")].map(|(ns, key)| StoreOp::put(&["tie", ns], key, json!({})));
    bench
        .store
        .batch(puts.into_iter().collect::<Result<_, _>>()?)
        .await?;
    let tied = bench.store.search(StoreQuery::under(&["tie"])).await?;
    let tied: Vec<_> = tied
        .into_iter()
        .map(|item| format!("{}{}", item.namespace[1], item.key))
        .collect();
    same(
        "at the same time, by place",
        tied,
        vec!["y1".to_owned(), "y2".to_owned(), "z1".to_owned()],
    )
}

pub(super) async fn search_empty(bench: &Bench) -> Outcome {
    same(
        "an empty store",
        search(bench, StoreQuery::default()).await?,
        vec![],
    )?;
    bench.store.put(&["a"], "k", json!({"text": "a"})).await?;
    same(
        "elsewhere",
        search(bench, StoreQuery::under(&["b"])).await?,
        vec![],
    )?;
    let query = StoreQuery::under(&["b"]).query("a");
    same("elsewhere, with a query", search(bench, query).await?, vec![])?;
    same(
        "an empty query is none",
        search(bench, StoreQuery::under(&["a"]).query("")).await?,
        vec!["k".to_owned()],
    )
}

/// Returns the keys of the items that a filter finds, sorted and joined.
async fn filtered(bench: &Bench, filter: Value) -> Result<String, Mismatch> {
    let found = search(bench, StoreQuery::under(&["f"]).filter(filter).limit(100)).await?;
    Ok(sorted(found).join(" "))
}

async fn filters(bench: &Bench, values: &[(&str, Value)], wanted: &[(Value, &str)]) -> Outcome {
    fill(bench, &["f"], values).await?;
    for (filter, keys) in wanted {
        same(
            &filter.to_string(),
            filtered(bench, filter.clone()).await?,
            (*keys).to_owned(),
        )?;
    }
    Ok(())
}

pub(super) async fn filter_equal(bench: &Bench) -> Outcome {
    let values = [
        ("int", json!({"x": 1})),
        ("float", json!({"x": 1.0})),
        ("text", json!({"x": "1"})),
        ("true", json!({"x": true})),
        ("false", json!({"x": false})),
        ("upper", json!({"x": "A"})),
        ("lower", json!({"x": "a"})),
        ("quoted", json!({"x": "a' OR '1'='1"})),
    ];
    let wanted = [
        (json!({}), "false float int lower quoted text true upper"),
        (json!({"x": 1}), "float int"),
        (json!({"x": 1.0}), "float int"),
        (json!({"x": "1"}), "text"),
        (json!({"x": true}), "true"),
        (json!({"x": false}), "false"),
        (json!({"x": 0}), ""),
        (json!({"x": "a"}), "lower"),
        (json!({"x": "a' OR '1'='1"}), "quoted"),
        (json!({"x": {"$eq": "A"}}), "upper"),
        (json!({"x": {"$ne": 1}}), "false lower quoted text true upper"),
        (json!({"x": {"$eq": 1, "$ne": 1}}), ""),
    ];
    filters(bench, &values, &wanted).await
}

pub(super) async fn filter_numbers(bench: &Bench) -> Outcome {
    let values = [
        ("minus", json!({"n": -5})),
        ("zero", json!({"n": 0})),
        ("half", json!({"n": 0.5})),
        ("nine", json!({"n": 9})),
        ("ten", json!({"n": 10})),
        ("huge", json!({"n": 9_007_199_254_740_993_i64})),
        ("text", json!({"n": "7"})),
        ("bool", json!({"n": true})),
    ];
    let wanted = [
        (json!({"n": {"$gt": 9}}), "huge ten"),
        (json!({"n": {"$gte": 9}}), "huge nine ten"),
        (json!({"n": {"$lt": 0.5}}), "minus zero"),
        (json!({"n": {"$lte": 0.5}}), "half minus zero"),
        (json!({"n": {"$gt": -5, "$lt": 10}}), "half nine zero"),
        (json!({"n": {"$gt": 9_007_199_254_740_992_i64}}), "huge"),
        (json!({"n": {"$gt": 1e3}}), "huge"),
    ];
    filters(bench, &values, &wanted).await
}

pub(super) async fn filter_texts(bench: &Bench) -> Outcome {
    let values = [
        ("upper", json!({"t": "B"})),
        ("a", json!({"t": "a"})),
        ("ab", json!({"t": "ab"})),
        ("b", json!({"t": "b"})),
        ("umlaut", json!({"t": "ä"})),
        ("ten", json!({"t": "10"})),
        ("nine", json!({"t": "9"})),
        ("number", json!({"t": 5})),
    ];
    let wanted = [
        (json!({"t": {"$gt": "a"}}), "ab b umlaut"),
        (json!({"t": {"$gte": "a", "$lt": "b"}}), "a ab"),
        (json!({"t": {"$lt": "a"}}), "nine ten upper"),
        (json!({"t": {"$lt": "9"}}), "ten"),
        (json!({"t": {"$lte": "B"}}), "nine ten upper"),
    ];
    filters(bench, &values, &wanted).await
}

pub(super) async fn filter_missing(bench: &Bench) -> Outcome {
    let values = [
        ("absent", json!({"other": 1})),
        ("null", json!({"x": null})),
        ("set", json!({"x": "v"})),
    ];
    let wanted = [
        (json!({"x": null}), "absent null"),
        (json!({"x": {"$eq": null}}), "absent null"),
        (json!({"x": {"$ne": null}}), "set"),
        (json!({"x": {"$ne": "w"}}), "set"),
        (json!({"x": {"$ne": "v"}}), ""),
        (json!({"x": {"$gt": "a"}}), "set"),
        (json!({"x": {"$lt": 1}}), ""),
        (json!({"other": {"$gt": 0}}), "absent"),
    ];
    filters(bench, &values, &wanted).await
}

pub(super) async fn filter_nested(bench: &Bench) -> Outcome {
    let values = [
        ("full", json!({"d": {"q": 1, "r": {"s": "x"}}, "l": [1, 2]})),
        ("other", json!({"d": {"q": 2}, "l": [1, 2, 3]})),
        ("flat", json!({"d": "q", "d.q": 1, "l": 1})),
    ];
    let wanted = [
        (json!({"d": {"q": 1}}), "full"),
        (json!({"d": {"q": {"$gte": 1}}}), "full other"),
        (json!({"d": {"r": {"s": "x"}}}), "full"),
        (json!({"d": {"missing": null}}), "full other"),
        (json!({"d": {}}), "full other"),
        (json!({"d": {"$eq": {"q": 2}}}), "other"),
        (json!({"d": {"$eq": {"q": 1}}}), ""),
        (json!({"d": {"$ne": {"q": 2}}}), "flat full"),
        (json!({"d.q": 1}), "flat"),
        (json!({"l": [1, 2]}), "full"),
        (json!({"l": [1, {"$gt": 1}]}), "full"),
        (json!({"l": {"$eq": [1, 2, 3]}}), "other"),
        (json!({"l": []}), ""),
    ];
    filters(bench, &values, &wanted).await
}

pub(super) async fn filter_names(bench: &Bench) -> Outcome {
    let names = [
        "a-b",
        "2024",
        "a b",
        "a'b",
        "a\"b",
        "a.b",
        "a[0]",
        "",
        "%",
        "é",
        "x); DROP TABLE store; --",
        "\\",
    ];
    for (n, name) in names.iter().enumerate() {
        let mut value = superstep::value::Object::new();
        value.insert(*name, 1);
        bench
            .store
            .put(&["f"], &n.to_string(), Value::Object(value))
            .await?;
    }
    for (n, name) in names.iter().enumerate() {
        let mut filter = superstep::value::Object::new();
        filter.insert(*name, 1);
        same(name, filtered(bench, Value::Object(filter)).await?, n.to_string())?;
    }
    Ok(())
}

pub(super) async fn filter_pages(bench: &Bench) -> Outcome {
    for n in 0..200 {
        let value = json!({"n": n, "even": n % 2 == 0, "tag": if n % 10 == 0 { "tenth" } else { "other" }});
        bench
            .store
            .put(
                &["f", if n % 3 == 0 { "x" } else { "y" }],
                &format!("{n:03}"),
                value,
            )
            .await?;
        bench.clock.advance(SECOND);
    }
    let query = StoreQuery::under(&["f"])
        .filter(json!({"tag": "tenth", "n": {"$lt": 100}}))
        .offset(2)
        .limit(3);
    let want = vec!["070".to_owned(), "060".to_owned(), "050".to_owned()];
    same("the third to the fifth", search(bench, query).await?, want)?;
    let query = StoreQuery::under(&["f", "x"])
        .filter(json!({"even": true, "tag": "tenth"}))
        .limit(100);
    let found = search(bench, query).await?;
    same(
        "below a namespace",
        found.join(" "),
        "180 150 120 090 060 030 000".to_owned(),
    )
}

pub(super) async fn filter_refused(bench: &Bench) -> Outcome {
    for filter in [
        json!({"x": {"$in": [1]}}),
        json!({"x": {"y": {"$like": "a"}}}),
        json!({"x": {"$gt": [1]}}),
        json!("x"),
    ] {
        let what = filter.to_string();
        refusal(
            &what,
            bench.store.search(StoreQuery::default().filter(filter)).await,
            "ValueError",
        )?;
    }
    Ok(())
}
