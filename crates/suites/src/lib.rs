//! The suites that storage backends pass: [`run`] is for each, [`run_claims`] and [`run_two_programs`] for those that offer
//! [`Coordination`](superstep::checkpoint::Coordination), [`run_maintenance`] for those that offer [`Maintenance`](superstep::checkpoint::Maintenance).
//!
//! A backend is accepted by running this, not by review: the cases are what the engine, the debugger and the hosts
//! rely on. Cases are ordinary async functions over `&dyn Checkpointer`; each gets an empty backend of its own.
//!
//! ```
//! # use std::sync::Arc;
//! # use superstep::{Checkpointer, MemorySaver};
//! # async fn accept() {
//! let report = superstep_suites::run(async || Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>).await;
//! println!("{report}");
//! assert!(report.is_ok());
//! # }
//! ```

#![deny(missing_docs)]

mod build;
mod case;
mod changes;
mod claims;
mod growth;
mod listing;
mod maintenance;
mod pruning;
mod puts;
mod queries;
pub mod store;
mod threads;
mod versions;
mod waiting;
mod writes;

use std::sync::Arc;

pub use build::{Draft, id};
pub use case::{Case, Mismatch, Outcome, Report};
pub(crate) use case::{Running, same, suite};
pub use changes::Program;

use superstep::Checkpointer;

/// Runs the cases of every saver, each on a backend that `make` gives; it must be empty.
pub async fn run(make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    run_all(cases(), make).await
}

/// Runs the cases of pruning, measuring and checking, for a backend that offers [`Maintenance`](superstep::checkpoint::Maintenance).
pub async fn run_maintenance(make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    let mut cases = pruning::cases();
    cases.extend(maintenance::cases());
    run_all(cases, make).await
}

/// Runs the cases of claims, for a backend that offers [`Coordination`](superstep::checkpoint::Coordination).
pub async fn run_claims(make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    run_all(claims::cases(), make).await
}

/// Runs the cases of two programs that work on one place: what one learns of the other's
/// [changes](superstep::checkpoint::Coordination::changes), and claims that one takes over from the other.
pub async fn run_two_programs(make: impl AsyncFn() -> [Program; 2]) -> Report {
    let mut report = Report::default();
    for (name, check) in changes::CASES.into_iter().chain(claims::programs::CASES) {
        let programs = make().await;
        match check(&programs).await {
            Ok(()) => report.passed.push(name),
            Err(reason) => report.failed.push((name, reason)),
        }
    }
    report
}

async fn run_all(cases: Vec<Case>, make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    let mut report = Report::default();
    for case in cases {
        let saver = make().await;
        match case.run(&*saver).await {
            Ok(()) => report.passed.push(case.name),
            Err(reason) => report.failed.push((case.name, reason)),
        }
    }
    report
}

/// Returns the cases of every saver, in the order of the report.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(puts::cases());
    all.extend(writes::cases());
    all.extend(listing::cases());
    all.extend(growth::cases());
    all.extend(threads::cases());
    all.extend(queries::cases());
    all.extend(waiting::cases());
    all.extend(versions::cases());
    all
}
