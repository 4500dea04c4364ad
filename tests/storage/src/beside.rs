//! The same work on a backend of ours and on LangGraph's saver for it, side by side in one run.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use superstep::checkpoint::{Checkpoint, Commit, ListQuery, Put, TaskId, TaskWrites, Write};
use superstep::{Checkpointer, ThreadId, Value, json};
use superstep_suites::{Draft, id};

use crate::place::Place;
use superstep_storage::Backend;

/// Steps, and messages of 1 KiB.
const SIZE: u64 = 1_000;

type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Figures by name; microseconds, but for bytes.
type Figures = Vec<(&'static str, f64)>;

/// Measures a backend beside LangGraph's; `python` has LangGraph's savers, `script` is `tests/peers/python/savers.py`.
/// Each figure is a line of JSON whose `limit` is LangGraph's.
pub async fn measure(backend: Backend, python: &Path, script: &Path) -> Result<(), Trouble> {
    let kind = match backend {
        Backend::Sqlite => "sqlite",
        Backend::Postgres => "postgres",
        _ => return Err("LangGraph keeps threads in SQLite and PostgreSQL".into()),
    };
    let (Some(ours), Some(theirs)) = (Place::of(backend), Place::of(backend)) else {
        return Ok(());
    };
    let figures = work(&ours).await?;
    let place = theirs.url.strip_prefix("sqlite:").unwrap_or(&theirs.url);
    let size = SIZE.to_string();
    let output = Command::new(python)
        .arg(script)
        .args([kind, place, &size, &size])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let peer: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    for (name, value) in figures {
        let Some(limit) = peer[name].as_f64() else {
            continue;
        };
        let line = serde_json::json!({
            "bench": "storage", "workload": format!("beside LangGraph: {name}"),
            "params": {"backend": kind, "steps": SIZE, "messages": SIZE}, "value": value,
            "unit": if name == "bytes" { "bytes" } else { "us" }, "limit": limit, "ratio": value / limit,
        });
        println!("{line}");
    }
    Ok(())
}

fn micros(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e6
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// Stores a checkpoint, with the writes of the task that led to it if there are any, and says how long that took.
async fn store(
    saver: &dyn Checkpointer,
    thread: &str,
    writes: Vec<TaskWrites>,
    put: Put,
) -> Result<f64, Trouble> {
    let commit = Commit {
        claim: None,
        thread: thread.into(),
        ns: "".into(),
        writes,
        put: Some(put),
    };
    let began = Instant::now();
    saver.commit(commit).await?;
    Ok(micros(began))
}

fn written(of: &Checkpoint, n: u64) -> TaskWrites {
    let write = |idx, channel: &str, value| Write {
        idx,
        channel: channel.into(),
        value,
    };
    TaskWrites {
        checkpoint_id: of.id.clone(),
        task_id: TaskId::new(format!("{n:08x}-1111-8222-9333-444455556666")),
        task_path: "~__pregel_pull, loop".into(),
        writes: vec![write(0, "n", json!(n)), write(1, "branch:to:loop", Value::Null)],
    }
}

async fn work(place: &Place) -> Result<Figures, Trouble> {
    let saver = place.open().await?;
    let (mut last, mut took) = (None::<Checkpoint>, Vec::new());
    for n in 0..SIZE {
        let draft = match &last {
            Some(parent) => Draft::after(parent, id(n)),
            None => Draft::root(id(n)),
        };
        let put = draft
            .set("n", n)
            .clear("branch:to:loop")
            .sees("loop", &["branch:to:loop"])
            .put();
        let writes = last.iter().map(|parent| written(parent, n)).collect();
        last = Some(put.checkpoint.clone());
        took.push(store(&*saver, "steps", writes, put).await?);
    }
    let mut figures = vec![("a step", median(took))];
    let (mut last, mut took) = (None::<Checkpoint>, Vec::new());
    for n in 0..SIZE {
        let message =
            json!({"type": "human", "id": format!("m{n}"), "content": format!("{n:04}{}", "x".repeat(1000))});
        let draft = match &last {
            Some(parent) => Draft::after(parent, id(n)).append("messages", vec![message]),
            None => Draft::root(id(n)).set("messages", vec![message]),
        };
        let put = draft.put();
        last = Some(put.checkpoint.clone());
        took.push(store(&*saver, "talk", Vec::new(), put).await?);
    }
    let end = took.split_off(took.len() - took.len() / 10);
    figures.push(("a turn of a conversation, its last tenth", median(end)));
    drop(saver);
    let saver = place.open().await?;
    let began = Instant::now();
    let newest = saver.get(&ThreadId::from("talk"), "", None).await?;
    figures.push((
        "the newest checkpoint of the conversation, after opening",
        micros(began),
    ));
    let messages = newest.and_then(|newest| {
        Some(
            newest
                .checkpoint
                .channel_values
                .get("messages")?
                .as_array()?
                .len(),
        )
    });
    if messages != Some(SIZE as usize) {
        return Err(format!("the conversation has {messages:?} messages").into());
    }
    let steps = ListQuery::new().thread("steps").ns("");
    let began = Instant::now();
    let heads = saver.heads(&steps).await?.len();
    figures.push(("the history of the steps", micros(began)));
    let middle = steps.filter([("step", json!(SIZE / 2))].into_iter().collect());
    let began = Instant::now();
    let found = saver.heads(&middle).await?.len();
    figures.push(("find a step in the middle", micros(began)));
    if (heads, found) != (SIZE as usize, 1) {
        return Err(format!("{heads} steps were listed, and {found} found").into());
    }
    drop(saver);
    if let Some(file) = place.url.strip_prefix("sqlite:") {
        figures.push(("bytes", std::fs::metadata(file)?.len() as f64));
    }
    Ok(figures)
}
