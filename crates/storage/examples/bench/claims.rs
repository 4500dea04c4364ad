//! What claims add to a commit: the same commits with and without, in turns.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use superstep::checkpoint::{ClaimId, ClaimRequest, ClaimUse, Commit, Holder, Put, Take, TaskWrites};
use superstep::{Checkpointer, MemorySaver};
use superstep_storage::{FileSaver, PostgresSaver, RedisSaver};
use superstep_test_servers::{Postgres, Redis};

/// Rounds of each kind. The cost is the middle of their quotients.
const ROUNDS: usize = 41;

pub(crate) async fn claims(folder: &Path) {
    measure("memory", 500, Arc::new(MemorySaver::new())).await;
    measure("sqlite", 500, Arc::new(super::normal(folder.join("claims.db")))).await;
    let files = FileSaver::open(folder.join("claims")).unwrap();
    measure("file", 500, Arc::new(files)).await;
    if let Some(server) = Postgres::start() {
        let saver = PostgresSaver::open(&server.database()).await.unwrap();
        measure("postgres", 200, Arc::new(saver)).await;
    }
    if let Some(server) = Redis::start() {
        let saver = RedisSaver::open(server.url()).await.unwrap();
        measure("redis", 200, Arc::new(saver)).await;
    }
}

async fn measure(backend: &str, commits: u64, saver: Arc<dyn Checkpointer>) {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        // The first of the two pays for what the last round left; they take turns.
        let order = [round % 2 == 0, round % 2 != 0];
        let mut took = [0.0; 2];
        for claimed in order {
            let thread = format!("{round} {claimed}");
            took[usize::from(claimed)] = one_round(&*saver, &thread, commits, claimed).await;
        }
        if round > 0 {
            without.push(took[0]);
            with.push(took[1]);
        }
    }
    let mut ratios: Vec<f64> = with
        .iter()
        .zip(&without)
        .map(|(with, without)| with / without)
        .collect();
    let params = serde_json::json!({"backend": backend, "commits": commits, "rounds": ROUNDS});
    super::report(
        "claims: a commit without",
        params.clone(),
        middle(&mut without),
        "µs",
        None,
    );
    super::report(
        "claims: a commit with",
        params.clone(),
        middle(&mut with),
        "µs",
        None,
    );
    let added = (middle(&mut ratios) - 1.0) * 100.0;
    super::report("claims: added", params, added, "%", Some(2.0));
}

/// Microseconds a commit.
async fn one_round(saver: &dyn Checkpointer, thread: &str, commits: u64, claimed: bool) -> f64 {
    let claim = ClaimId::random();
    let work = super::small_steps(0, commits).into_iter().enumerate();
    let work: Vec<Commit> = work
        .map(|(n, (writes, put))| commit(thread, writes, put, claimed.then(|| shown(&claim, n == 0))))
        .collect();
    let began = Instant::now();
    for commit in work {
        saver.commit(commit).await.unwrap();
    }
    began.elapsed().as_secs_f64() * 1e6 / commits as f64
}

fn commit(thread: &str, writes: Vec<TaskWrites>, put: Put, claim: Option<ClaimUse>) -> Commit {
    Commit {
        thread: thread.into(),
        ns: "".into(),
        writes,
        put: Some(put),
        claim,
    }
}

fn shown(claim: &ClaimId, first: bool) -> ClaimUse {
    let request = ClaimRequest::by(Holder::new("bench", "the benchmark"));
    let take = Take {
        holder: request.holder,
        over: request.take_over,
        beside_own: false,
        onto: None,
        seen: None,
    };
    ClaimUse {
        claim: claim.clone(),
        length: request.length,
        ends: false,
        take: first.then(|| Box::new(take)),
    }
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
