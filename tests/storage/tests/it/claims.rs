//! Programs that run the same threads.

use std::time::Duration;

use superstep_storage::Backend;
use superstep_storage_tests::{Place, claims};

const PROGRAM: &str = env!("CARGO_BIN_EXE_storage-trials");

fn trial(rounds: u64, threads: u64) -> claims::Trial {
    claims::Trial {
        program: PROGRAM.into(),
        rounds,
        threads,
        length: Duration::from_millis(600),
        seed: 7,
    }
}

fn places() -> impl Iterator<Item = Place> {
    let shared = Backend::ALL.iter().filter(|backend| backend.is_shared());
    shared.filter_map(|backend| Place::of(*backend))
}

/// Stopping a process needs the signals of Unix.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_run_does_not_go_on_beside_the_one_in_its_place() {
    for place in places() {
        let report = claims::freeze(&place, &trial(2, 1)).await;
        let report = report.unwrap_or_else(|what| panic!("{}: {what}", place.backend.scheme()));
        assert_eq!(report.refused, 2, "{}", place.backend.scheme());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_programs_at_one_thread_one_runs() {
    for place in places() {
        let report = claims::at_once(&place, &trial(12, 1)).await;
        let report = report.unwrap_or_else(|what| panic!("{}: {what}", place.backend.scheme()));
        assert!(report.refused > 0, "{}: they never met", place.backend.scheme());
    }
}
