//! Random histories of operations leave every backend with what the model has.

use std::cell::RefCell;

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use superstep_storage_tests::{Backend, history};

/// How many histories, and which: the same ones in every run of the tests, new ones when `SUPERSTEP_HISTORIES` says how
/// many.
fn cases(short: u32) -> (u32, RngSeed) {
    let asked = std::env::var("SUPERSTEP_HISTORIES").ok();
    match asked.and_then(|text| text.parse().ok()) {
        Some(many) => (many, RngSeed::Random),
        None => (short, RngSeed::Fixed(20_261_121)),
    }
}

fn hold(backend: Backend, short: u32) {
    let Some(place) = backend.place() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let (cases, rng_seed) = cases(short);
    let mut runner = TestRunner::new(Config {
        cases,
        rng_seed,
        max_shrink_iters: 600,
        failure_persistence: None,
        ..Config::default()
    });
    let place = RefCell::new(place);
    let outcome = runner.run(&history::histories(40), |operations| {
        let compared = runtime.block_on(history::run(&place.borrow(), &operations));
        compared.map_err(|what| {
            // What a failure leaves must not make the next history fail.
            if let Some(fresh) = backend.place() {
                place.replace(fresh);
            }
            TestCaseError::fail(what)
        })
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, history)) => {
            let lines: Vec<String> = history.iter().map(|operation| format!("{operation:?}")).collect();
            panic!(
                "{backend:?} differs from the model: {reason}\n{}",
                lines.join("\n")
            )
        }
        Err(other) => panic!("{backend:?}: {other}"),
    }
}

#[test]
fn memory() {
    hold(Backend::Memory, 60);
}

#[test]
fn sqlite() {
    hold(Backend::Sqlite, 30);
}

#[test]
fn file() {
    hold(Backend::File, 30);
}

#[test]
fn postgres() {
    hold(Backend::Postgres, 12);
}

#[test]
fn redis() {
    hold(Backend::Redis, 12);
}
