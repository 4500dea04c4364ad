//! Random histories of operations leave every backend with what the model has.

use std::cell::RefCell;
use std::fmt;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use superstep_storage::Backend;
use superstep_storage_tests::{Place, history, items};

/// How many histories, and which: the same ones in every run of the tests, new ones when `SUPERSTEP_HISTORIES` says how
/// many.
fn cases(short: u32) -> (u32, RngSeed) {
    let asked = std::env::var("SUPERSTEP_HISTORIES").ok();
    match asked.and_then(|text| text.parse().ok()) {
        Some(many) => (many, RngSeed::Random),
        None => (short, RngSeed::Fixed(20_261_121)),
    }
}

/// Random histories on a backend, each with `run`; the first that differs is made shorter until nothing can be left out.
fn hold<O: fmt::Debug + Clone>(
    backend: Backend,
    short: u32,
    histories: impl Strategy<Value = Vec<O>>,
    run: impl AsyncFn(&Place, &[O]) -> Result<(), String>,
) {
    let Some(place) = Place::of(backend) else { return };
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
    let outcome = runner.run(&histories, |operations| {
        let compared = runtime.block_on(run(&place.borrow(), &operations));
        compared.map_err(|what| {
            // What a failure leaves must not make the next history fail.
            if let Some(fresh) = Place::of(backend) {
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

fn threads(backend: Backend, short: u32) {
    hold(backend, short, history::histories(40), history::run);
}

fn memories(backend: Backend, short: u32) {
    hold(backend, short, items::histories(40), items::run);
}

#[test]
fn memory() {
    threads(Backend::Memory, 60);
}

#[test]
fn sqlite() {
    threads(Backend::Sqlite, 30);
}

#[test]
fn file() {
    threads(Backend::File, 30);
}

#[test]
fn postgres() {
    threads(Backend::Postgres, 12);
}

#[test]
fn redis() {
    threads(Backend::Redis, 12);
}

#[test]
fn store_in_memory() {
    memories(Backend::Memory, 60);
}

#[test]
fn store_in_sqlite() {
    memories(Backend::Sqlite, 30);
}

#[test]
fn store_in_file() {
    memories(Backend::File, 30);
}

#[test]
fn store_in_postgres() {
    memories(Backend::Postgres, 12);
}

#[test]
fn store_in_redis() {
    memories(Backend::Redis, 12);
}
