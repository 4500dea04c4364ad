//! A process that runs graphs is killed at random moments; nothing acknowledged is lost, nothing finished runs again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use superstep_storage::Backend;
use superstep_storage_tests::{Place, crash};

async fn survive(backend: Backend, kills: u64) {
    let Some(place) = Place::of(backend) else { return };
    let trial = crash::Trial {
        program: env!("CARGO_BIN_EXE_storage-trials").into(),
        kills,
        seed: RandomState::new().hash_one(kills),
        lines: 3,
        noting: 16_000,
        // For one that hangs: a busy machine takes as long as it takes.
        time: Duration::from_mins(20),
    };
    let report = crash::run(&place, &trial)
        .await
        .unwrap_or_else(|what| panic!("{backend:?}: {what}"));
    println!("{backend:?}: {report:?}");
    let count = report.count;
    assert_eq!(report.kills, kills, "it came to an end in time");
    assert!(
        count.checkpoints > report.kills
            && count.turns > 1
            && count.items > 1
            && count.acts > 1
            && count.answers > 3,
        "the process hardly got to work: {count:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    survive(Backend::Sqlite, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file() {
    survive(Backend::File, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    survive(Backend::Postgres, 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis() {
    survive(Backend::Redis, 10).await;
}
