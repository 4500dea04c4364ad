//! What takes space, and whether what is stored is sound.

use super::build::{Draft, id, write};
use super::pruning::{as_made, tree};
use super::{Outcome, same, suite};
use superstep::checkpoint::{Keep, Pruning};
use superstep::{Checkpointer, Value, json};

suite! {
    "usage: threads with their checkpoints, the largest first" => usage,
    "breakdown: keys and checkpoints" => breakdown,
    "breakdown: a list that is replaced grows, one that is appended to does not" => growing,
    "verify: what was stored is sound" => sound,
}

async fn usage(saver: &dyn Checkpointer) -> Outcome {
    tree(saver, "large").await?;
    Draft::root(id(1)).set("x", 1).store(saver, "small", "").await?;
    let found = saver.usage().await?;
    let threads: Vec<_> = found
        .threads
        .iter()
        .map(|of| (of.thread.as_str(), of.checkpoints))
        .collect();
    same("threads", threads, vec![("large", 11), ("small", 1)])?;
    same(
        "each takes something",
        found.threads.iter().all(|of| of.bytes > 0),
        true,
    )?;
    same("all", found.bytes > 0, true)?;
    saver.delete_thread(&"large".into()).await?;
    let threads = saver.usage().await?.threads.len();
    same("after one is gone", threads, 1)
}

async fn breakdown(saver: &dyn Checkpointer) -> Outcome {
    let made = tree(saver, "t").await?;
    let found = saver.breakdown(&"t".into()).await?;
    let mut keys: Vec<_> = found.keys.iter().map(|of| (&*of.key, of.versions)).collect();
    keys.sort_unstable();
    same("keys", keys, vec![("log", 11), ("x", 11)])?;
    let sorted = found.keys.is_sorted_by(|a, b| a.bytes >= b.bytes);
    same("the largest first", sorted, true)?;
    let mut checkpoints: Vec<_> = made
        .iter()
        .map(|made| (made.id.clone(), made.metadata.step, made.ts.clone()))
        .collect();
    checkpoints.sort();
    let listed: Vec<_> = found
        .checkpoints
        .iter()
        .map(|of| (of.id.clone(), of.step, of.ts.clone()))
        .collect();
    same("checkpoints, the oldest first", listed, checkpoints)?;
    same(
        "each adds something",
        found.checkpoints.iter().all(|of| of.bytes > 0),
        true,
    )?;
    let inner = found.checkpoints.iter().filter(|of| &*of.ns == "sub").count();
    same("namespaces", inner, 3)?;
    let nobody = saver.breakdown(&"nobody".into()).await?;
    same("no thread", (nobody.keys.len(), nobody.checkpoints.len()), (0, 0))
}

async fn growing(saver: &dyn Checkpointer) -> Outcome {
    let mut last = Draft::root(id(1))
        .set("appended", json!([]))
        .set("replaced", json!([]));
    let mut all: Vec<Value> = Vec::new();
    for n in 2..42_u64 {
        // Nothing in it repeats, so neither compressing nor sharing makes it short.
        let text: String = (0..8)
            .map(|part| format!("{:x}", (n * 31 + part).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        all.push(json!({"n": n, "text": text}));
        let parent = last.store(saver, "t", "").await?;
        last = Draft::after(&parent, id(n)).append("appended", vec![json!({"n": n, "text": text})]);
        let mut changed: Vec<Value> = all.clone();
        changed[0] = json!(n);
        last = last.set("replaced", changed);
    }
    last.store(saver, "t", "").await?;
    let found = saver.breakdown(&"t".into()).await?;
    let of = |key: &str| {
        found
            .keys
            .iter()
            .find(|of| &*of.key == key)
            .ok_or("a key is missing")
    };
    let (appended, replaced) = (of("appended")?, of("replaced")?);
    same("versions", (appended.versions, replaced.versions), (41, 41))?;
    let (whole, also) = (appended.whole, replaced.whole);
    if whole.abs_diff(also) > whole / 4 {
        return Err(format!("both lists are as long, yet they would take {whole} and {also} bytes").into());
    }
    if appended.bytes * 4 > appended.whole {
        return Err(format!(
            "a list that is appended to takes {} of {whole} bytes",
            appended.bytes
        )
        .into());
    }
    if replaced.bytes < 3 * appended.bytes {
        return Err(format!(
            "the replaced list takes {}, the other {}",
            replaced.bytes, appended.bytes
        )
        .into());
    }
    Ok(())
}

async fn sound(saver: &dyn Checkpointer) -> Outcome {
    for repair in [false, true] {
        let empty = saver.verify(repair).await?;
        same(
            "nothing there",
            (empty.threads, empty.checkpoints, empty.is_sound()),
            (0, 0, true),
        )?;
    }
    let made = tree(saver, "t").await?;
    tree(saver, "gone").await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    saver.delete_thread(&"gone".into()).await?;
    // A slot that is replaced, and a task that goes on.
    let long = "an answer ".repeat(100);
    for n in 0..3 {
        let rows = [
            (-4, "__resume__", json!([long.as_str(), n])),
            (n, "x", json!(long.as_str())),
        ];
        write(saver, "t", &made[4], "again", "q", &rows).await?;
    }
    saver
        .prune(&Pruning::threads(["copy".into()], Keep::Branches))
        .await?;
    for repair in [false, true, false] {
        let found = saver.verify(repair).await?;
        same("damage", &found.damage, &Vec::new())?;
        same("repaired", found.repaired, false)?;
        same("threads", found.threads, 2)?;
        same("checkpoints", found.checkpoints >= 15, true)?;
    }
    as_made(saver, "t", &made[..4]).await
}
