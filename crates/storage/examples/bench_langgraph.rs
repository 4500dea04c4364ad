//! Our part of `./dev bench langgraph`: reads the database of a LangGraph program as the debugger does. `tests/peers/databases.py`
//! makes the databases, reads them with LangGraph's own saver, and compares.
//!
//! `bench_langgraph heads|values|page|open FILE [THREAD]` prints a line with the seconds of a first and of a second reading, what
//! was found, and the megabytes that the program came to. `bench_langgraph follow FILE` reads whatever is new until its input ends.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use superstep::Checkpointer;
use superstep::checkpoint::{ListQuery, ThreadQuery};
use superstep::run::StateRef;
use superstep_storage::LanggraphSaver;

/// Checkpoints of a thread, and threads of a page.
const HISTORY: usize = 1_000;
const PAGE: usize = 50;
/// How often the workbench looks for changes.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Megabytes that this program has in memory; 0 where the system does not say so.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}

async fn reading(what: &str, saver: &LanggraphSaver, thread: &str) -> usize {
    let history = ListQuery::new().thread(thread).ns("").limit(HISTORY);
    match what {
        "heads" => saver.heads(&history).await.unwrap().len(),
        "values" => saver.list(&history).await.unwrap().len(),
        "page" => saver
            .threads(&ThreadQuery::new().limit(PAGE).soon(true))
            .await
            .unwrap()
            .len(),
        "open" => saver.thread(&thread.into()).await.unwrap().into_iter().count(),
        other => panic!("there is no reading called {other:?}"),
    }
}

/// Does what the window does while it follows a program: its list, the thread that moves, and its state.
async fn follow(file: &Path) {
    let saver = LanggraphSaver::open(file).unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let flag = ended.clone();
    std::thread::spawn(move || {
        // Whoever started it closes its input.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::Relaxed);
    });
    let dynamic: &dyn Checkpointer = &saver;
    let (mut seen, mut looks) = (None, 0_u32);
    println!("ready");
    while !ended.load(Ordering::Relaxed) {
        let now = dynamic.coordination().unwrap().changes().await.unwrap();
        if now != seen {
            seen = now;
            looks += 1;
            let threads = saver.threads(&ThreadQuery::new().limit(PAGE)).await.unwrap();
            if let Some(newest) = threads.first() {
                let query = ListQuery::new().thread(newest.thread.clone()).ns("").limit(100);
                saver.heads(&query).await.unwrap();
                let at = StateRef::live(newest.thread.clone());
                dynamic.foreign_state(&at).await.unwrap();
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    println!("{looks}");
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, rest @ ..] = &arguments[..] else {
        panic!("bench_langgraph heads|values|page|open|follow FILE [THREAD]");
    };
    let file = Path::new(file);
    if what == "follow" {
        return follow(file).await;
    }
    let thread = rest.first().map_or("t", String::as_str);
    let idle = resident();
    let begun = Instant::now();
    let saver = LanggraphSaver::open(file).unwrap();
    let found = reading(what, &saver, thread).await;
    let first = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    assert_eq!(reading(what, &saver, thread).await, found);
    let second = begun.elapsed().as_secs_f64();
    println!("{first} {second} {found} {}", resident() - idle);
}
