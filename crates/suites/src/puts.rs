//! Storing and reading single checkpoints.

use super::build::{Draft, commit, id, stored, write};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::Source;
use superstep::value::{List, Object};
use superstep::{Checkpointer, Value, json};

suite! {
    "put: round trip" => round_trip,
    "put: every kind of value" => every_kind_of_value,
    "put: optional parts absent" => optional_parts,
    "put: metadata, parents and sources" => metadata,
    "put: parent and time stamp" => parent_and_time,
    "put: a parent that is not stored" => unknown_parent,
    "put: ids of any form" => any_id,
    "put: unchanged channels stay" => unchanged_channels,
    "put: a new channel" => new_channel,
    "put: a channel removed" => removed_channel,
    "put: a channel without a value" => empty_channel,
    "put: changes that were not listed" => unlisted_changes,
    "put: repeated, nothing changes" => repeated,
    "put: namespaces are apart" => namespaces,
    "put: threads are apart" => threads,
    "get: newest" => newest,
    "get: missing thread, namespace, id" => missing,
}

async fn round_trip(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1))
        .set("x", 1)
        .set("log", json!(["a"]))
        .sees("a", &["x", "log"]);
    let first = first.store(saver, "t", "").await?;
    let second = Draft::after(&first, id(2))
        .set("x", 2)
        .sees("a", &["x"])
        .sees("b", &[]);
    let second = second.store(saver, "t", "").await?;
    stored(saver, "t", "", &first).await?;
    stored(saver, "t", "", &second).await
}

async fn every_kind_of_value(saver: &dyn Checkpointer) -> Outcome {
    let mut nested = json!("deep");
    for level in 0..90 {
        nested = if level % 2 == 0 {
            vec![nested].into()
        } else {
            Object::from_iter([("k", nested)]).into()
        };
    }
    let mut ordered = Object::new();
    for key in ["z", "a", "m", "", "with \"quotes\" and \\", "ключ"] {
        ordered.insert(key, json!({"b": 1, "a": null}));
    }
    let numbers = [
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(0.1),
        json!(0.30000000000000004),
        json!(1e-7),
        json!(-0.0),
        json!(123456789.12345679),
        json!(1.7976931348623157e308),
        json!(5e-324),
        json!(2.0),
    ];
    let draft = Draft::root(id(1))
        .set("null", Value::Null)
        .set("truth", json!([true, false]))
        .set("numbers", Value::from(List::from_iter(numbers)))
        .set("text", "line\nbreak \u{0} \u{1F600} \u{7f} \"quoted\"")
        .set("empty", json!({"list": [], "object": {}, "text": ""}))
        .set("ordered", ordered)
        .set("nested", nested)
        .set("long", "x".repeat(300_000))
        .set("a name with spaces, \"quotes\", 'and' ünïcode", 1)
        .set("", "the channel without a name");
    let checkpoint = draft.store(saver, "t", "").await?;
    stored(saver, "t", "", &checkpoint).await?;
    // Equality of objects does not look at the order of keys; people do.
    let tuple = saver.get(&"t".into(), "", None).await?.ok_or("missing")?;
    let text = |c: &superstep::checkpoint::Checkpoint| c.channel_values.get("ordered").map(Value::to_string);
    same("order of keys", text(&tuple.checkpoint), text(&checkpoint))
}

async fn optional_parts(saver: &dyn Checkpointer) -> Outcome {
    let bare = Draft::root(id(1)).with(|c| {
        c.updated_channels = None;
        c.next = Vec::new();
    });
    let bare = bare.store(saver, "t", "").await?;
    let named = Draft::after(&bare, id(2)).with(|c| {
        c.updated_channels = Some(Vec::new());
        c.next = vec!["b".into(), "a".into(), "b".into()];
    });
    let named = named.store(saver, "t", "").await?;
    stored(saver, "t", "", &bare).await?;
    stored(saver, "t", "", &named).await
}

async fn metadata(saver: &dyn Checkpointer) -> Outcome {
    let mut last = Draft::root(id(1)).store(saver, "t", "").await?;
    stored(saver, "t", "", &last).await?;
    for (n, source) in [Source::Input, Source::Loop, Source::Update, Source::Fork]
        .into_iter()
        .enumerate()
    {
        let draft = Draft::after(&last, id(2 + n as u64))
            .meta("run_id", format!("run {}", n / 2))
            .with(|c| {
                c.metadata.source = source;
                c.metadata.step = -3 + n as i64;
                c.metadata.parents = Object::from_iter([("", json!(format!("cp{n}")))]);
            });
        let draft = draft
            .meta("user-1", json!({"a": [1, 2.5, null]}))
            .meta("quoted \"key\"", true);
        last = draft.store(saver, "t", "").await?;
        stored(saver, "t", "", &last).await?;
    }
    Ok(())
}

async fn parent_and_time(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).store(saver, "t", "").await?;
    let odd = Draft::after(&first, id(2)).with(|c| c.ts = "2026-11-21T09:30:00.123456+00:00".to_owned());
    let odd = odd.store(saver, "t", "").await?;
    same(
        "parent of the first",
        saver
            .get(&"t".into(), "", Some(&first.id))
            .await?
            .and_then(|t| t.checkpoint.parent),
        None,
    )?;
    stored(saver, "t", "", &odd).await
}

async fn unknown_parent(saver: &dyn Checkpointer) -> Outcome {
    // The exit durability stores one checkpoint of many, and a thread may have been pruned.
    let absent = Draft::root(id(1))
        .set("x", 1)
        .set("y", json!([1, 2]))
        .sees("a", &["x"])
        .put()
        .checkpoint;
    let child = Draft::after(&absent, id(2))
        .set("x", 2)
        .append("y", vec![json!(3)])
        .store(saver, "t", "")
        .await?;
    stored(saver, "t", "", &child).await?;
    let heads = saver.heads(&Default::default()).await?;
    same(
        "parent in the head",
        heads.into_iter().map(|h| h.parent).collect::<Vec<_>>(),
        vec![Some(id(1))],
    )
}

async fn any_id(saver: &dyn Checkpointer) -> Outcome {
    let mut last: Option<superstep::checkpoint::Checkpoint> = None;
    for text in ["1", "10", "2", "A", "cp-é", "sixteen bytes id"] {
        let draft = match &last {
            Some(parent) => Draft::after(parent, text.into()),
            None => Draft::root(text.into()),
        };
        let checkpoint = draft.set("x", text).store(saver, "t", "").await?;
        stored(saver, "t", "", &checkpoint).await?;
        last = Some(checkpoint);
    }
    let heads = saver.heads(&Default::default()).await?;
    let ids: Vec<_> = heads.iter().map(|head| head.id.as_str()).collect();
    same(
        "newest first, by text",
        ids,
        vec!["sixteen bytes id", "cp-é", "A", "2", "10", "1"],
    )
}

async fn unchanged_channels(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1))
        .set("a", 1)
        .set("b", json!({"big": "object"}))
        .store(saver, "t", "")
        .await?;
    let second = Draft::after(&first, id(2))
        .set("a", 2)
        .store(saver, "t", "")
        .await?;
    let third = Draft::after(&second, id(3)).store(saver, "t", "").await?;
    for checkpoint in [&first, &second, &third] {
        stored(saver, "t", "", checkpoint).await?;
    }
    Ok(())
}

async fn new_channel(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).set("a", 1).store(saver, "t", "").await?;
    let second = Draft::after(&first, id(2))
        .set("b", json!([]))
        .store(saver, "t", "")
        .await?;
    stored(saver, "t", "", &first).await?;
    stored(saver, "t", "", &second).await
}

async fn removed_channel(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1))
        .set("a", 1)
        .set("b", 2)
        .sees("n", &["a", "b"])
        .store(saver, "t", "")
        .await?;
    let second = Draft::after(&first, id(2))
        .forget("a")
        .store(saver, "t", "")
        .await?;
    let third = Draft::after(&second, id(3))
        .set("a", "back")
        .store(saver, "t", "")
        .await?;
    for checkpoint in [&first, &second, &third] {
        stored(saver, "t", "", checkpoint).await?;
    }
    Ok(())
}

async fn empty_channel(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1))
        .set("a", 1)
        .clear("token")
        .store(saver, "t", "")
        .await?;
    let second = Draft::after(&first, id(2))
        .clear("a")
        .set("token", Value::Null)
        .store(saver, "t", "")
        .await?;
    let third = Draft::after(&second, id(3))
        .set("a", 3)
        .clear("token")
        .store(saver, "t", "")
        .await?;
    for checkpoint in [&first, &second, &third] {
        stored(saver, "t", "", checkpoint).await?;
    }
    Ok(())
}

async fn unlisted_changes(saver: &dyn Checkpointer) -> Outcome {
    // A graph whose channels or nodes were renamed continues an old thread: entries vanish without a change.
    let first = Draft::root(id(1))
        .set("a", 1)
        .set("b", 2)
        .sees("n", &["a"])
        .sees("m", &["b"]);
    let first = first.store(saver, "t", "").await?;
    let second = Draft::after(&first, id(2))
        .set("c", 3)
        .sees("o", &["c"])
        .with(|c| {
            c.channel_values.remove("b");
            c.channel_versions.remove("b");
            c.versions_seen.remove("m");
            c.versions_seen.remove("n");
        });
    let second = second.store(saver, "t", "").await?;
    stored(saver, "t", "", &second).await?;
    stored(saver, "t", "", &first).await
}

async fn repeated(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1)).set("a", 1).store(saver, "t", "").await?;
    let put = Draft::after(&first, id(2)).set("a", 2).put();
    for _ in 0..3 {
        saver
            .commit(commit("t", "", Vec::new(), Some(put.clone())))
            .await?;
    }
    same(
        "number of checkpoints",
        saver.heads(&Default::default()).await?.len(),
        2,
    )?;
    stored(saver, "t", "", &put.checkpoint).await
}

async fn namespaces(saver: &dyn Checkpointer) -> Outcome {
    let root = Draft::root(id(1)).set("x", "root").store(saver, "t", "").await?;
    let child = Draft::root(id(1))
        .set("x", "child")
        .store(saver, "t", "node:1|inner:2")
        .await?;
    let other = Draft::root(id(2))
        .set("x", "other")
        .store(saver, "t", "node:1")
        .await?;
    stored(saver, "t", "", &root).await?;
    stored(saver, "t", "node:1|inner:2", &child).await?;
    stored(saver, "t", "node:1", &other).await?;
    same(
        "newest of the root",
        saver.get(&"t".into(), "", None).await?.map(|t| t.checkpoint.id),
        Some(id(1)),
    )
}

async fn threads(saver: &dyn Checkpointer) -> Outcome {
    let names = ["t", "T", "t ", "", "it's; DROP TABLE threads;--", "нить"];
    let mut made = Vec::new();
    for (n, name) in names.into_iter().enumerate() {
        made.push(Draft::root(id(1)).set("x", n).store(saver, name, "").await?);
    }
    write(saver, "t", &made[0], "task", "", &[(0, "x", json!(1))]).await?;
    for (name, checkpoint) in names.into_iter().zip(&made) {
        stored(saver, name, "", checkpoint).await?;
    }
    let other = saver.get(&"T".into(), "", None).await?.ok_or("missing")?;
    same("writes of another thread", other.pending_writes.len(), 0)
}

async fn newest(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(5)).set("x", 1).store(saver, "t", "").await?;
    // Stored later with a smaller id: the id decides, not the time of storing.
    let early = Draft::after(&first, id(3))
        .set("x", 2)
        .store(saver, "t", "")
        .await?;
    let newest = async || Ok::<_, Mismatch>(saver.get(&"t".into(), "", None).await?.map(|t| t.checkpoint));
    same("newest", newest().await?, Some(first.clone()))?;
    let late = Draft::after(&early, id(9))
        .set("x", 3)
        .store(saver, "t", "")
        .await?;
    same("newest", newest().await?, Some(late))
}

async fn missing(saver: &dyn Checkpointer) -> Outcome {
    same("no thread", saver.get(&"t".into(), "", None).await?, None)?;
    let first = Draft::root(id(1)).store(saver, "t", "").await?;
    same("no id", saver.get(&"t".into(), "", Some(&id(2))).await?, None)?;
    same("no namespace", saver.get(&"t".into(), "inner", None).await?, None)?;
    same(
        "other namespace",
        saver.get(&"t".into(), "inner", Some(&first.id)).await?,
        None,
    )?;
    same(
        "other thread",
        saver.get(&"u".into(), "", Some(&first.id)).await?,
        None,
    )
}
