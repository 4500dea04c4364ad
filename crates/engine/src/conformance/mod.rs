//! The suites that storage backends pass: [`run`] is for each, [`run_claims`] and [`run_changes`] for those that offer
//! [`Coordination`](crate::Coordination), [`run_maintenance`] for those that offer [`Maintenance`](crate::Maintenance).
//!
//! A backend is accepted by running this, not by review: the cases are what the engine, the debugger and the hosts
//! rely on. Cases are ordinary async functions over `&dyn Checkpointer`; each gets an empty backend of its own.
//!
//! ```
//! # use std::sync::Arc;
//! # use superstep::{Checkpointer, MemorySaver, conformance};
//! # async fn accept() {
//! let report = conformance::run(async || Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>).await;
//! println!("{report}");
//! assert!(report.is_ok());
//! # }
//! ```

mod build;
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
mod waiting;
mod writes;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use build::{Draft, id};
pub use changes::Program;

use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::StorageError;

/// How a case ends.
pub type Outcome = Result<(), Mismatch>;

/// What was expected and what came.
#[derive(Clone, Debug)]
pub struct Mismatch(String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Mismatch {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Mismatch {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<crate::store::StoreError> for Mismatch {
    fn from(error: crate::store::StoreError) -> Self {
        Self(error.to_string())
    }
}

impl From<StorageError> for Mismatch {
    fn from(error: StorageError) -> Self {
        Self(error.to_string())
    }
}

type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// One named expectation.
pub struct Case {
    /// Group and name, e.g. `writes: special slots replace`.
    pub name: &'static str,
    check: for<'a> fn(&'a dyn Checkpointer) -> Running<'a>,
}

impl Case {
    /// Runs the case on an empty backend.
    pub async fn run(&self, saver: &dyn Checkpointer) -> Outcome {
        (self.check)(saver).await
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What passed and what did not.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Names of the cases that passed.
    pub passed: Vec<&'static str>,
    /// Names of the cases that failed, with the reason.
    pub failed: Vec<(&'static str, Mismatch)>,
}

impl Report {
    /// Joins two reports.
    pub fn and(mut self, other: Report) -> Report {
        self.passed.extend(other.passed);
        self.failed.extend(other.failed);
        self
    }

    /// True when every case passed.
    pub fn is_ok(&self) -> bool {
        self.failed.is_empty()
    }
}

/// The capability report: a line for each case, then a count.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.passed {
            writeln!(f, "yes  {name}")?;
        }
        for (name, reason) in &self.failed {
            writeln!(f, "NO   {name}: {reason}")?;
        }
        write!(
            f,
            "{} of {} passed",
            self.passed.len(),
            self.passed.len() + self.failed.len()
        )
    }
}

/// Runs the cases of every saver, each on a backend that `make` gives; it must be empty.
pub async fn run(make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    run_all(cases(), make).await
}

/// Runs the cases of pruning, measuring and checking, for a backend that offers [`Maintenance`](crate::Maintenance).
pub async fn run_maintenance(make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    let mut cases = pruning::cases();
    cases.extend(maintenance::cases());
    run_all(cases, make).await
}

/// Runs the cases of claims, for a backend that offers [`Coordination`](crate::Coordination).
pub async fn run_claims(make: impl AsyncFn() -> Arc<dyn Checkpointer>) -> Report {
    run_all(claims::cases(), make).await
}

/// Runs the cases of changes, each on two programs that work on one place, for a backend that
/// [tells](crate::Coordination::changes) of changes.
pub async fn run_changes(make: impl AsyncFn() -> [Program; 2]) -> Report {
    let mut report = Report::default();
    for (name, check) in changes::CASES {
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

/// The cases of every saver, in the order of the report.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(puts::cases());
    all.extend(writes::cases());
    all.extend(listing::cases());
    all.extend(growth::cases());
    all.extend(threads::cases());
    all.extend(queries::cases());
    all.extend(waiting::cases());
    all
}

/// Names functions as cases.
macro_rules! suite {
    ($($name:literal => $function:path,)*) => {
        pub(super) fn cases() -> Vec<super::Case> {
            vec![$(super::Case { name: $name, check: |saver| Box::pin($function(saver)) },)*]
        }
    };
}
use suite;

fn same<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> Outcome {
    if got == want {
        return Ok(());
    }
    let short = |value: &T| {
        let text = format!("{value:?}");
        if text.len() > 600 {
            text.chars().take(600).chain("…".chars()).collect()
        } else {
            text
        }
    };
    Err(format!("{what}: expected {}, got {}", short(&want), short(&got)).into())
}
