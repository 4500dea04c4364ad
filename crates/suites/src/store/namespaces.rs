//! Namespaces: which there can be, and how they are listed.

use super::*;

pub(super) async fn refused(bench: &Bench) -> Outcome {
    let store = &bench.store;
    let bad: [&[&str]; 6] = [
        &[],
        &[""],
        &["a", ""],
        &["a.b"],
        &["langgraph", "x"],
        &["a", "b\0"],
    ];
    for namespace in bad {
        let what = format!("{namespace:?}");
        refusal(
            &what,
            store.put(namespace, "k", json!({})).await,
            "InvalidNamespaceError",
        )?;
        refusal(&what, store.get(namespace, "k").await, "InvalidNamespaceError")?;
        refusal(&what, store.delete(namespace, "k").await, "InvalidNamespaceError")?;
    }
    for prefix in [&["a.b"], &[""]] {
        let what = format!("prefix {prefix:?}");
        refusal(
            &what,
            store.search(StoreQuery::under(prefix)).await,
            "InvalidNamespaceError",
        )?;
        refusal(
            &what,
            store.list_namespaces(NamespaceQuery::under(prefix)).await,
            "InvalidNamespaceError",
        )?;
    }
    store.put(&["a", "langgraph"], "k", json!({})).await?;
    same(
        "nothing else",
        store.list_namespaces(NamespaceQuery::default()).await?.len(),
        1,
    )
}

pub(super) async fn labels(bench: &Bench) -> Outcome {
    let labels = [
        "a", "A", "á", "a b", "a/b", "a:b", "%", "_", "*", "a\n", "'\"\\", "{a,b}", "[x]", "🎉", "\u{1}",
    ];
    for label in labels {
        bench
            .store
            .put(&["labels", label], "k", json!({"label": label}))
            .await?;
    }
    for label in labels {
        same(
            label,
            value(bench, &["labels", label], "k").await?,
            Some(json!({"label": label})),
        )?;
        let found = bench.store.search(StoreQuery::under(&["labels", label])).await?;
        let found: Vec<_> = found.into_iter().map(|item| item.namespace).collect();
        same(
            "searched",
            found,
            vec![vec!["labels".to_owned(), label.to_owned()]],
        )?;
    }
    let mut wanted: Vec<Vec<String>> = labels
        .map(|label| vec!["labels".to_owned(), label.to_owned()])
        .to_vec();
    wanted.sort();
    same(
        "listed",
        bench.store.list_namespaces(NamespaceQuery::default()).await?,
        wanted,
    )
}

pub(super) async fn boundaries(bench: &Bench) -> Outcome {
    let namespaces: [&[&str]; 6] = [
        &["a"],
        &["a", "b"],
        &["a", "b", "c"],
        &["ab"],
        &["a", "bc"],
        &["b", "a"],
    ];
    for namespace in namespaces {
        bench
            .store
            .put(namespace, &namespace.join("-"), json!({}))
            .await?;
    }
    let below =
        async |prefix: &[&str]| Ok::<_, Mismatch>(sorted(search(bench, StoreQuery::under(prefix)).await?));
    same("everything", below(&[]).await?.len(), 6)?;
    same(
        "a",
        below(&["a"]).await?,
        vec![
            "a".to_owned(),
            "a-b".to_owned(),
            "a-b-c".to_owned(),
            "a-bc".to_owned(),
        ],
    )?;
    same(
        "a, b",
        below(&["a", "b"]).await?,
        vec!["a-b".to_owned(), "a-b-c".to_owned()],
    )?;
    same("A", below(&["A"]).await?, vec![])?;
    same("no stars in searches", below(&["*"]).await?, vec![])
}

pub(super) async fn listed(bench: &Bench) -> Outcome {
    let store = &bench.store;
    same("none", list(bench, NamespaceQuery::default()).await?, vec![])?;
    store.get(&["read"], "k").await?;
    store.delete(&["deleted"], "k").await?;
    same(
        "reading makes none",
        list(bench, NamespaceQuery::default()).await?,
        vec![],
    )?;
    for (namespace, key) in [("b", "1"), ("b", "2"), ("a", "1")] {
        store.put(&[namespace], key, json!({})).await?;
    }
    same(
        "two",
        list(bench, NamespaceQuery::default()).await?,
        vec!["a".to_owned(), "b".to_owned()],
    )?;
    store.delete(&["b"], "1").await?;
    store.delete(&["a"], "1").await?;
    same(
        "one",
        list(bench, NamespaceQuery::default()).await?,
        vec!["b".to_owned()],
    )
}

pub(super) async fn list_matches(bench: &Bench) -> Outcome {
    let namespaces: [&[&str]; 8] = [
        &["a"],
        &["a", "b"],
        &["a", "b", "c"],
        &["a", "b", "d", "e"],
        &["a", "x", "c"],
        &["ab", "c"],
        &["users", "1", "prefs"],
        &["users", "2", "prefs", "v1"],
    ];
    for namespace in namespaces {
        bench.store.put(namespace, "k", json!({})).await?;
    }
    let ask = async |prefix: &[&str], suffix: &[&str], max_depth: Option<usize>| {
        let query = NamespaceQuery::under(prefix)
            .suffix(superstep::store::namespace(suffix))
            .max_depth(max_depth);
        list(bench, query).await
    };
    let want = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    same(
        "prefix",
        ask(&["a", "b"], &[], None).await?,
        want(&["a/b", "a/b/c", "a/b/d/e"]),
    )?;
    same(
        "suffix",
        ask(&[], &["c"], None).await?,
        want(&["a/b/c", "a/x/c", "ab/c"]),
    )?;
    same(
        "both",
        ask(&["a"], &["c"], None).await?,
        want(&["a/b/c", "a/x/c"]),
    )?;
    same(
        "a star in front",
        ask(&["a", "*", "c"], &[], None).await?,
        want(&["a/b/c", "a/x/c"]),
    )?;
    same(
        "a star behind",
        ask(&[], &["*", "prefs"], None).await?,
        want(&["users/1/prefs"]),
    )?;
    same(
        "only a star",
        ask(&["*"], &[], Some(1)).await?,
        want(&["a", "ab", "users"]),
    )?;
    same(
        "depth",
        ask(&["a"], &[], Some(2)).await?,
        want(&["a", "a/b", "a/x"]),
    )?;
    same(
        "depth after matching",
        ask(&[], &["v1"], Some(2)).await?,
        want(&["users/2"]),
    )?;
    same(
        "longer than all",
        ask(&["a", "b", "d", "e", "f"], &[], None).await?,
        want(&[]),
    )
}

pub(super) async fn list_pages(bench: &Bench) -> Outcome {
    let puts = (0..250).map(|n| StoreOp::put(&["page", &format!("{n:03}"), "x"], "k", json!({})));
    bench.store.batch(puts.collect::<Result<_, _>>()?).await?;
    let page = async |max_depth, offset, limit| {
        let query = NamespaceQuery::default()
            .max_depth(max_depth)
            .offset(offset)
            .limit(limit);
        list(bench, query).await
    };
    same(
        "the default limit",
        list(bench, NamespaceQuery::default()).await?.len(),
        100,
    )?;
    same(
        "a page",
        page(None, 120, 2).await?,
        vec!["page/120/x".to_owned(), "page/121/x".to_owned()],
    )?;
    same(
        "cut first, then paged",
        page(Some(2), 249, 10).await?,
        vec!["page/249".to_owned()],
    )?;
    same("cut to one", page(Some(1), 0, 10).await?, vec!["page".to_owned()])?;
    same("past the end", page(None, 250, 10).await?, vec![])
}
