//! Large threads and many of them, on any backend: what an operation costs at the full size, against a tenth of it.
//!
//! Each figure is one line of JSON. Its `limit` is the same figure at a tenth of the size, so a `ratio` of 1 means that
//! the cost does not grow, and one of 10 that it grows with the size.

use std::time::Instant;

use superstep::checkpoint::{
    Checkpoint, Commit, Keep, ListQuery, Pruning, Put, StorageError, ThreadQuery, ThreadStatus,
};
use superstep::{Checkpointer, json};
use superstep_suites::{Draft, id};

use crate::place::Place;
use superstep_storage::Backend;

/// Commits that are handed over together.
const BATCH: usize = 256;

/// Figures of one size, by name and unit.
type Figures = Vec<(&'static str, &'static str, f64)>;

/// Measures a backend with threads of this many checkpoints, this many threads, and a conversation of this many turns.
pub async fn measure(
    backend: Backend,
    checkpoints: u64,
    threads: u64,
    turns: u64,
) -> Result<(), StorageError> {
    for (what, size, kind) in [
        ("one thread", checkpoints, Kind::Thread),
        ("many threads", threads, Kind::Threads),
        ("conversation", turns, Kind::Conversation),
        ("documents", turns / 10, Kind::Documents),
    ] {
        let Some((tenth, full)) = pair(backend, size, kind).await? else {
            continue;
        };
        for ((name, unit, value), (.., limit)) in full.into_iter().zip(tenth) {
            let line = serde_json::json!({
                "bench": "scale", "workload": format!("{what}: {name}"),
                "params": {"backend": backend.scheme(), "size": size}, "value": value, "unit": unit, "limit": limit,
                "ratio": if limit > 0.0 { Some(value / limit) } else { None },
            });
            println!("{line}");
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    Thread,
    Threads,
    Conversation,
    Documents,
}

impl Kind {
    fn filling(self) -> &'static str {
        match self {
            Kind::Thread => "storing checkpoints of a thread:",
            Kind::Threads => "storing threads:",
            Kind::Conversation => "storing turns of a conversation:",
            Kind::Documents => "storing versions of a document:",
        }
    }
}

async fn pair(backend: Backend, size: u64, kind: Kind) -> Result<Option<(Figures, Figures)>, StorageError> {
    let (Some(tenth), Some(full)) = (
        run(backend, size / 10, kind).await?,
        run(backend, size, kind).await?,
    ) else {
        return Ok(None);
    };
    Ok(Some((tenth, full)))
}

async fn run(backend: Backend, size: u64, kind: Kind) -> Result<Option<Figures>, StorageError> {
    let Some(place) = Place::of(backend) else {
        return Ok(None);
    };
    let mut figures = Figures::new();
    let began = Instant::now();
    let tell = |what: &str| {
        eprintln!(
            "{}: {what} {} after {:.1?}",
            backend.scheme(),
            size,
            began.elapsed()
        );
    };
    tell(kind.filling());
    let saver = place.open().await?;
    match kind {
        Kind::Thread => fill_thread(&*saver, size, &mut figures).await?,
        Kind::Threads => fill_threads(&*saver, size, &mut figures).await?,
        Kind::Conversation => fill_conversation(&*saver, size, &mut figures).await?,
        Kind::Documents => fill_documents(&*saver, size, &mut figures).await?,
    }
    let saver = if backend.is_durable() {
        drop(saver);
        let began = Instant::now();
        let saver = place.open().await?;
        figures.push(("open again", "ms", millis(began)));
        saver
    } else {
        saver
    };
    tell("using");
    match kind {
        Kind::Thread => use_thread(&*saver, size, &mut figures).await?,
        Kind::Threads => use_threads(&*saver, size, &mut figures).await?,
        Kind::Conversation | Kind::Documents => use_conversation(&*saver, size, &mut figures).await?,
    }
    tell("done with");
    Ok(Some(figures))
}

fn millis(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

fn commit(thread: &str, put: Put) -> Commit {
    Commit {
        claim: None,
        thread: thread.into(),
        ns: "".into(),
        writes: Vec::new(),
        put: Some(put),
    }
}

/// Builds a small state that changes a little each step.
fn step(parent: Option<&Checkpoint>, n: u64) -> Put {
    let draft = match parent {
        Some(parent) => Draft::after(parent, id(n)),
        None => Draft::root(id(n)).set("name", "scale"),
    };
    draft.set("n", n).sees("node", &["n"]).put()
}

async fn fill_thread(saver: &dyn Checkpointer, size: u64, figures: &mut Figures) -> Result<(), StorageError> {
    let (mut last, mut spent) = (None::<Checkpoint>, 0.0);
    let mut commits = Vec::new();
    for n in 0..size {
        let put = step(last.as_ref(), n);
        last = Some(put.checkpoint.clone());
        commits.push(commit("t", put));
        if commits.len() == BATCH || n + 1 == size {
            let began = Instant::now();
            saver.commit_all(std::mem::take(&mut commits)).await?;
            spent += millis(began);
        }
    }
    figures.push(("a checkpoint in a batch", "us", spent * 1e3 / size as f64));
    Ok(())
}

async fn use_thread(saver: &dyn Checkpointer, size: u64, figures: &mut Figures) -> Result<(), StorageError> {
    let thread = "t".into();
    let query = |limit, before| ListQuery::new().thread("t").ns("").limit(limit).before(before);
    let began = Instant::now();
    saver.get(&thread, "", None).await?;
    figures.push(("get the newest, first read", "ms", millis(began)));
    let began = Instant::now();
    let middle = saver.get(&thread, "", Some(&id(size / 2))).await?;
    figures.push(("get the one in the middle", "ms", millis(began)));
    let began = Instant::now();
    saver.heads(&query(Some(50), None)).await?;
    figures.push(("list the newest 50", "ms", millis(began)));
    let began = Instant::now();
    saver.heads(&query(Some(50), Some(id(size / 2)))).await?;
    figures.push(("list 50 from the middle", "ms", millis(began)));
    let began = Instant::now();
    saver.threads(&ThreadQuery::default()).await?;
    figures.push(("list threads", "ms", millis(began)));
    if let Some(middle) = middle {
        let fork = Draft::after(&middle.checkpoint, id(size + 10))
            .set("n", "fork")
            .put();
        let began = Instant::now();
        saver.commit(commit("t", fork)).await?;
        figures.push(("fork in the middle", "ms", millis(began)));
    }
    let pruning = Pruning::threads([thread], Keep::Newest(100));
    let began = Instant::now();
    saver.prune(&pruning.clone().dry_run()).await?;
    figures.push(("say what pruning would remove", "ms", millis(began)));
    let began = Instant::now();
    let pruned = std::sync::atomic::AtomicBool::new(false);
    let work = async {
        let removal = saver.prune(&pruning).await;
        pruned.store(true, std::sync::atomic::Ordering::Relaxed);
        removal
    };
    // Somebody else looks at another thread meanwhile.
    let others = async {
        let mut longest = 0.0_f64;
        while !pruned.load(std::sync::atomic::Ordering::Relaxed) {
            let began = Instant::now();
            let _ = saver.thread(&"another".into()).await;
            longest = longest.max(millis(began));
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        longest
    };
    let (removal, longest) = tokio::join!(work, others);
    figures.push((
        "prune, for each that goes",
        "us",
        millis(began) * 1e3 / removal?.checkpoints.max(1) as f64,
    ));
    figures.push(("prune: the longest that a reader waits meanwhile", "ms", longest));
    Ok(())
}

async fn fill_threads(
    saver: &dyn Checkpointer,
    size: u64,
    figures: &mut Figures,
) -> Result<(), StorageError> {
    let (mut commits, mut spent) = (Vec::new(), 0.0);
    for n in 0..size {
        let root = step(None, n * 2);
        let next = step(Some(&root.checkpoint), n * 2 + 1);
        let thread = format!("customer {n:06}");
        commits.extend([commit(&thread, root), commit(&thread, next)]);
        if commits.len() >= BATCH || n + 1 == size {
            let began = Instant::now();
            saver.commit_all(std::mem::take(&mut commits)).await?;
            spent += millis(began);
        }
    }
    figures.push(("a new thread of two checkpoints", "us", spent * 1e3 / size as f64));
    Ok(())
}

async fn use_threads(saver: &dyn Checkpointer, size: u64, figures: &mut Figures) -> Result<(), StorageError> {
    let page = ThreadQuery::new().limit(50);
    let began = Instant::now();
    let first = saver.threads(&page).await?;
    figures.push(("the first page of 50", "ms", millis(began)));
    let mut after = page.clone();
    after.after = first.last().map(superstep::checkpoint::ThreadSummary::place);
    let began = Instant::now();
    saver.threads(&after).await?;
    figures.push(("the next page", "ms", millis(began)));
    let search = page.clone().search(format!("{:06}", size / 3));
    let began = Instant::now();
    saver.threads(&search).await?;
    figures.push(("search by name", "ms", millis(began)));
    let waiting = page.clone().status(ThreadStatus::Interrupted);
    let began = Instant::now();
    saver.threads(&waiting).await?;
    figures.push(("those that wait, of which there are none", "ms", millis(began)));
    let began = Instant::now();
    saver.count_threads(&ThreadQuery::default()).await?;
    figures.push(("count", "ms", millis(began)));
    let began = Instant::now();
    saver
        .delete_thread(&format!("customer {:06}", size / 2).as_str().into())
        .await?;
    figures.push(("delete one", "ms", millis(began)));
    Ok(())
}

async fn fill_conversation(
    saver: &dyn Checkpointer,
    size: u64,
    figures: &mut Figures,
) -> Result<(), StorageError> {
    let mut last: Option<Checkpoint> = None;
    let (mut early, mut late) = (0.0, 0.0);
    for n in 0..size {
        let mut random = crate::Random::new(n);
        let text: String = (0..1000)
            .map(|_| char::from(b' ' + random.below(94) as u8))
            .collect();
        let message = json!({"type": "human", "id": format!("m{n}"), "content": text});
        let draft = match &last {
            Some(parent) => Draft::after(parent, id(n)),
            None => Draft::root(id(n)).set("messages", json!([])),
        };
        let put = draft.append("messages", vec![message]).put();
        last = Some(put.checkpoint.clone());
        let began = Instant::now();
        saver.commit(commit("t", put)).await?;
        let spent = millis(began);
        early += if n < size / 10 { spent } else { 0.0 };
        late += if n >= size - size / 10 { spent } else { 0.0 };
    }
    let tenth = (size / 10).max(1) as f64;
    figures.push(("a turn of the first tenth", "us", early * 1e3 / tenth));
    figures.push(("a turn of the last tenth", "us", late * 1e3 / tenth));
    if let Ok(usage) = saver.usage().await {
        figures.push((
            "bytes of a turn of 1 KiB",
            "bytes",
            usage.bytes as f64 / size as f64,
        ));
    }
    Ok(())
}

/// Fills storage with a document of prose that is replaced again and again, as a task writes it.
async fn fill_documents(
    saver: &dyn Checkpointer,
    size: u64,
    figures: &mut Figures,
) -> Result<(), StorageError> {
    let prose = include_str!("../../../docs/storage.md");
    let paragraphs: Vec<&str> = prose.split("\n\n").collect();
    let mut last: Option<Checkpoint> = None;
    let mut spent = 0.0;
    for n in 0..size {
        let first = n as usize * 7 % paragraphs.len();
        let text = paragraphs.iter().cycle().skip(first).take(paragraphs.len() / 2);
        let text: String = text.flat_map(|text| text.chars()).take(16 * 1024).collect();
        let draft = match &last {
            Some(parent) => Draft::after(parent, id(n)),
            None => Draft::root(id(n)),
        };
        let put = draft.set("document", text.as_str()).set("n", n).put();
        let writes = last.as_ref().map(|last| superstep::checkpoint::TaskWrites {
            checkpoint_id: last.id.clone(),
            task_id: superstep::checkpoint::TaskId::new(format!("task {n}")),
            task_path: "path".into(),
            writes: vec![superstep::checkpoint::Write {
                idx: 0,
                channel: "document".into(),
                value: text.as_str().into(),
            }],
        });
        last = Some(put.checkpoint.clone());
        let commit = Commit {
            claim: None,
            writes: writes.into_iter().collect(),
            ..commit("t", put)
        };
        let began = Instant::now();
        saver.commit(commit).await?;
        spent += millis(began);
    }
    figures.push(("a version", "us", spent * 1e3 / size as f64));
    if let Ok(usage) = saver.usage().await {
        let bytes = usage.bytes as f64 / size as f64;
        figures.push(("bytes of a version of 16 KiB, written twice", "bytes", bytes));
    }
    Ok(())
}

async fn use_conversation(
    saver: &dyn Checkpointer,
    size: u64,
    figures: &mut Figures,
) -> Result<(), StorageError> {
    let began = Instant::now();
    saver.get(&"t".into(), "", None).await?;
    figures.push((
        "read the newest, for each message",
        "us",
        millis(began) * 1e3 / size as f64,
    ));
    let began = Instant::now();
    saver.get(&"t".into(), "", Some(&id(size / 2))).await?;
    figures.push((
        "read the middle, for each message",
        "us",
        millis(began) * 2e3 / size as f64,
    ));
    Ok(())
}
