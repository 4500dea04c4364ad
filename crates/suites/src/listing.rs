//! History: order, filters, pages, heads.

use super::build::{Draft, id, write};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{Checkpoint, CheckpointHead, ListQuery, Source, ThreadQuery};
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Value, json};

suite! {
    "list: newest first, across branches" => order,
    "list: by thread and namespace" => by_place,
    "list: by id" => by_id,
    "list: before and limit" => pages,
    "list: metadata filters" => filters,
    "list: metadata keys of any form" => filter_keys,
    "list: filters with pages" => filters_and_pages,
    "list: pending writes and values" => whole,
    "list: nothing there" => empty,
    "heads: like the list, without values" => heads,
}

fn query() -> ListQuery {
    ListQuery::new().thread("t")
}

async fn ids(saver: &dyn Checkpointer, query: &ListQuery) -> Result<Vec<CheckpointId>, Mismatch> {
    let heads: Vec<_> = saver
        .heads(query)
        .await?
        .into_iter()
        .map(|head| head.id)
        .collect();
    let listed: Vec<_> = saver
        .list(query)
        .await?
        .into_iter()
        .map(|tuple| tuple.checkpoint.id)
        .collect();
    same("heads and list agree", &heads, &listed)?;
    Ok(heads)
}

fn numbers(numbers: &[u64]) -> Vec<CheckpointId> {
    numbers.iter().map(|n| id(*n)).collect()
}

/// Creates a main line 1, 2, 3, 4 and a branch 5, 6 from 2; the source and two metadata entries vary.
async fn tree(saver: &dyn Checkpointer) -> Result<Vec<Checkpoint>, Mismatch> {
    let mut made: Vec<Checkpoint> = Vec::new();
    for (n, parent) in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 2), (6, 5)] {
        let draft = match made.get((parent as usize).wrapping_sub(1)) {
            Some(parent) => Draft::after(parent, id(n)),
            None => Draft::root(id(n)),
        };
        let draft = draft
            .set("x", n)
            .meta("run_id", format!("run {}", n / 4))
            .meta("even", n % 2 == 0)
            .with(|c| {
                if n == 5 {
                    c.metadata.source = Source::Fork;
                }
            });
        made.push(draft.store(saver, "t", "").await?);
    }
    Ok(made)
}

async fn order(saver: &dyn Checkpointer) -> Outcome {
    tree(saver).await?;
    same("ids", ids(saver, &query()).await?, numbers(&[6, 5, 4, 3, 2, 1]))
}

async fn by_place(saver: &dyn Checkpointer) -> Outcome {
    for (n, thread, ns) in [
        (1, "t", ""),
        (2, "u", ""),
        (3, "t", "inner"),
        (4, "t", ""),
        (5, "u", "inner"),
    ] {
        Draft::root(id(n)).store(saver, thread, ns).await?;
    }
    let inner = "inner";
    let cases = [
        (ListQuery::default(), numbers(&[5, 4, 3, 2, 1])),
        (query(), numbers(&[4, 3, 1])),
        (query().ns(""), numbers(&[4, 1])),
        (query().ns(inner), numbers(&[3])),
        (ListQuery::new().ns(inner), numbers(&[5, 3])),
        (ListQuery::new().limit(2), numbers(&[5, 4])),
        (ListQuery::new().before(id(4)).limit(2), numbers(&[3, 2])),
    ];
    for (query, want) in cases {
        same(&format!("{query:?}"), ids(saver, &query).await?, want)?;
    }
    let tuples = saver.list(&ListQuery::new().ns(inner)).await?;
    let places: Vec<_> = tuples
        .iter()
        .map(|tuple| (tuple.thread.as_str(), &*tuple.ns))
        .collect();
    same(
        "threads and namespaces",
        places,
        vec![("u", "inner"), ("t", "inner")],
    )
}

async fn by_id(saver: &dyn Checkpointer) -> Outcome {
    tree(saver).await?;
    let only = |n| query().id(id(n));
    same("one", ids(saver, &only(3)).await?, numbers(&[3]))?;
    same("none", ids(saver, &only(99)).await?, numbers(&[]))?;
    let step = Object::from_iter([("step", json!(77))]);
    same(
        "other filters still count",
        ids(saver, &only(3).filter(step)).await?,
        numbers(&[]),
    )?;
    same(
        "before still counts",
        ids(saver, &only(3).before(id(3))).await?,
        numbers(&[]),
    )
}

async fn pages(saver: &dyn Checkpointer) -> Outcome {
    tree(saver).await?;
    let page = |before: Option<u64>, limit| query().before(before.map(id)).limit(limit);
    let cases = [
        (page(None, Some(0)), numbers(&[])),
        (page(None, Some(2)), numbers(&[6, 5])),
        (page(None, Some(usize::MAX)), numbers(&[6, 5, 4, 3, 2, 1])),
        (page(Some(5), None), numbers(&[4, 3, 2, 1])),
        (page(Some(5), Some(2)), numbers(&[4, 3])),
        (page(Some(1), None), numbers(&[])),
        // An id that is not stored is still a moment in time.
        (page(Some(100), Some(1)), numbers(&[6])),
    ];
    for (query, want) in cases {
        same(&format!("{query:?}"), ids(saver, &query).await?, want)?;
    }
    Ok(())
}

fn filter<const N: usize>(entries: [(&str, Value); N]) -> ListQuery {
    query().filter(Object::from_iter(entries))
}

async fn filters(saver: &dyn Checkpointer) -> Outcome {
    tree(saver).await?;
    let cases = [
        (filter([("source", json!("loop"))]), numbers(&[6, 4, 3, 2])),
        (filter([("source", json!("update"))]), numbers(&[])),
        // The branch repeats steps of the main line.
        (filter([("step", json!(1))]), numbers(&[5, 3])),
        (filter([("step", json!("1"))]), numbers(&[])),
        (filter([("step", json!(1.5))]), numbers(&[])),
        (filter([("run_id", json!("run 0"))]), numbers(&[3, 2, 1])),
        (
            filter([("even", json!(true)), ("run_id", json!("run 1"))]),
            numbers(&[6, 4]),
        ),
        (
            filter([
                ("even", json!(true)),
                ("step", json!(2)),
                ("source", json!("loop")),
            ]),
            numbers(&[6, 4]),
        ),
        (filter([("even", json!(1))]), numbers(&[])),
        (filter([("unknown", Value::Null)]), numbers(&[])),
        (filter([]), numbers(&[6, 5, 4, 3, 2, 1])),
    ];
    for (query, want) in cases {
        same(&format!("{:?}", query.filter), ids(saver, &query).await?, want)?;
    }
    Ok(())
}

async fn filter_keys(saver: &dyn Checkpointer) -> Outcome {
    let keys = [
        "a-b",
        "1st",
        "a.b",
        "$",
        "it's",
        "\"",
        "x') OR 1=1 --",
        "[0]",
        "",
        "%",
        "ключ",
        "a\\b",
    ];
    let mut draft = Draft::root(id(1));
    for key in keys {
        draft = draft.meta(key, format!("value of {key}"));
    }
    let first = draft.store(saver, "t", "").await?;
    Draft::after(&first, id(2))
        .with(|c| c.metadata.user = Object::from_iter([("a", json!({"b": 1}))]))
        .store(saver, "t", "")
        .await?;
    for key in keys {
        same(
            key,
            ids(saver, &filter([(key, json!(format!("value of {key}")))])).await?,
            numbers(&[1]),
        )?;
        same(
            key,
            ids(saver, &filter([(key, json!("' OR '1'='1"))])).await?,
            numbers(&[]),
        )?;
    }
    same(
        "a whole object",
        ids(saver, &filter([("a", json!({"b": 1}))])).await?,
        numbers(&[2]),
    )?;
    same(
        "a key is not a path",
        ids(saver, &filter([("a.b", json!(1))])).await?,
        numbers(&[]),
    )
}

async fn filters_and_pages(saver: &dyn Checkpointer) -> Outcome {
    tree(saver).await?;
    let even = filter([("even", json!(true))]);
    same(
        "limit counts matches",
        ids(saver, &even.clone().limit(2)).await?,
        numbers(&[6, 4]),
    )?;
    let next = even.before(id(4)).limit(2);
    same("next page", ids(saver, &next).await?, numbers(&[2]))
}

async fn whole(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver).await?;
    write(
        saver,
        "t",
        &made[2],
        "a",
        "p",
        &[(0, "x", json!(1)), (-1, "__error__", json!("e"))],
    )
    .await?;
    for tuple in saver.list(&query()).await? {
        let want = made
            .iter()
            .find(|c| c.id == tuple.checkpoint.id)
            .ok_or("an unknown checkpoint")?;
        same("checkpoint", &tuple.checkpoint, want)?;
        let writes = if want.id == id(3) { 2 } else { 0 };
        same("pending writes", tuple.pending_writes.len(), writes)?;
    }
    Ok(())
}

async fn empty(saver: &dyn Checkpointer) -> Outcome {
    same(
        "empty backend",
        ids(saver, &ListQuery::default()).await?,
        numbers(&[]),
    )?;
    same(
        "no threads",
        saver.threads(&ThreadQuery::default()).await?,
        Vec::new(),
    )?;
    Draft::root(id(1)).store(saver, "u", "").await?;
    same("other thread", ids(saver, &query()).await?, numbers(&[]))
}

async fn heads(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver).await?;
    for (head, want) in saver.heads(&query()).await?.into_iter().zip(made.iter().rev()) {
        let expected = CheckpointHead {
            ns: "".into(),
            id: want.id.clone(),
            parent: want.parent.clone(),
            ts: want.ts.clone(),
            metadata: want.metadata.clone(),
            next: want.next.clone(),
            updated_channels: want.updated_channels.clone(),
            interrupted: 0,
            failed: 0,
        };
        same("head", head, expected)?;
    }
    Ok(())
}
