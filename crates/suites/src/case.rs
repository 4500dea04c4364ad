//! Cases, and what comes of them.

use std::fmt;

use futures::future::BoxFuture;
use superstep::Checkpointer;
use superstep::checkpoint::StorageError;

/// Result of a case.
pub type Outcome = Result<(), Mismatch>;

/// Difference between what was expected and what came.
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

impl From<superstep::store::StoreError> for Mismatch {
    fn from(error: superstep::store::StoreError) -> Self {
        Self(error.to_string())
    }
}

impl From<StorageError> for Mismatch {
    fn from(error: StorageError) -> Self {
        Self(error.to_string())
    }
}

pub(crate) type Running<'a> = BoxFuture<'a, Outcome>;

/// One named expectation.
pub struct Case {
    /// Group and name, e.g. `writes: special slots replace`.
    pub name: &'static str,
    pub(super) check: for<'a> fn(&'a dyn Checkpointer) -> Running<'a>,
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

/// Cases that passed, and those that did not.
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

    /// Returns whether every case passed.
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

/// Names functions as cases.
macro_rules! suite {
    ($($name:literal => $function:path,)*) => {
        pub(super) fn cases() -> Vec<super::Case> {
            vec![$(super::Case { name: $name, check: |saver| Box::pin($function(saver)) },)*]
        }
    };
}
pub(crate) use suite;

pub(crate) fn same<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> Outcome {
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
