//! One workload on a Rust peer: `superstep-peers PEER WORKLOAD SIZE SAVER SECONDS`, one JSON object on stdout.
//!
//! The graphs are those of crates/engine/examples/workloads/mod.rs, as far as the peer can express them. What it
//! cannot (or does wrong, see docs/performance.md) it refuses with exit code 3, and the table has an empty cell.

mod adk;
mod graph_flow_peer;
mod juncture_peer;
mod langgraph_rs;
mod rust_langgraph_peer;

use std::future::Future;
use std::time::{Duration, Instant};

/// What to run.
pub struct Job {
    pub workload: String,
    pub size: usize,
    pub saver: String,
    pub seconds: f64,
}

impl Job {
    /// Runs `once` for as long as the job says and prints what it took. `once` measures itself, so that its set-up
    /// does not count.
    pub async fn measure<F, Fut>(&self, mut once: F)
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = (Duration, usize)>,
    {
        let began = Instant::now();
        let (warm, came_to) = once().await;
        let mut times = Vec::new();
        while times.is_empty() || (began.elapsed().as_secs_f64() < self.seconds && times.len() < 50) {
            // A workload that alone fills the time has been measured by its first run.
            if times.is_empty() && warm.as_secs_f64() > self.seconds {
                times.push(warm.as_secs_f64());
                break;
            }
            times.push(once().await.0.as_secs_f64());
        }
        println!("{}", serde_json::json!({"seconds": times, "came_to": came_to}));
    }
}

/// The peer has no such feature, or does not do the same work.
pub fn cannot(job: &Job) -> ! {
    eprintln!("cannot run {} with the saver {}", job.workload, job.saver);
    std::process::exit(3)
}

/// Runs `work` and times it.
pub async fn timed(work: impl Future<Output = usize>) -> (Duration, usize) {
    let began = Instant::now();
    let came = work.await;
    (began.elapsed(), came)
}

/// Edges of the compile workload beside the chain, as the other runners draw them.
pub fn extra_edges(n: usize) -> Vec<(usize, usize)> {
    let mut seed = 1_u64;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % limit
    };
    let mut edge = || {
        let from = below(n - 1);
        (from, from + 1 + below(n - 1 - from))
    };
    (0..n / 2).map(|_| edge()).collect()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [peer, workload, size, saver, seconds] = &arguments[..] else {
        panic!("usage: superstep-peers PEER WORKLOAD SIZE SAVER SECONDS")
    };
    let job = Job {
        workload: workload.clone(),
        size: size.parse().unwrap_or(0),
        saver: saver.clone(),
        seconds: seconds.parse().expect("a number of seconds"),
    };
    match peer.as_str() {
        "adk-graph" => adk::run(&job).await,
        "graph-flow" => graph_flow_peer::run(&job).await,
        "juncture" => juncture_peer::run(&job).await,
        "langgraph-rs" => langgraph_rs::run(&job).await,
        "rust-langgraph" => rust_langgraph_peer::run(&job).await,
        other => panic!("there is no peer {other}"),
    }
}
