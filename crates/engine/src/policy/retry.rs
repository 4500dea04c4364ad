//! When a failed node is tried again, and after how long.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::failure::Failure;
use crate::base::ids::Name;

/// Policy that tries a failed node again, waiting longer each time.
///
/// A node may have several policies: the first that wants the failure retried decides about it. Questions,
/// cancellations and commands for a parent graph are no failures and are never retried.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The wait after the first attempt.
    pub initial_interval: Duration,
    /// How many times as long each wait is as the one before.
    pub backoff_factor: f64,
    /// No wait is longer, jitter aside. A failure that asks for a longer one is not tried again.
    pub max_interval: Duration,
    /// Attempts in all, the first one included.
    pub max_attempts: u32,
    /// Adds up to a second to each wait, so that many tasks that failed together do not return together.
    pub jitter: bool,
    /// Which failures are worth another attempt.
    pub retry_on: RetryOn,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            initial_interval: Duration::from_millis(500),
            backoff_factor: 2.0,
            max_interval: Duration::from_secs(128),
            max_attempts: 3,
            jitter: true,
            retry_on: RetryOn::Default,
        }
    }
}

impl RetryPolicy {
    /// Creates the default policy with another number of attempts.
    pub fn attempts(max_attempts: u32) -> Self {
        Self {
            max_attempts,
            ..Self::default()
        }
    }
    /// Sets the error classes to retry; only these and classes derived from them are.
    pub fn on<T: Into<Name>>(mut self, classes: impl IntoIterator<Item = T>) -> Self {
        self.retry_on = RetryOn::Classes(classes.into_iter().map(Into::into).collect());
        self
    }
    /// Sets the failures to retry: those that `wanted` accepts.
    pub fn when(mut self, wanted: impl Fn(&Failure) -> bool + Send + Sync + 'static) -> Self {
        self.retry_on = RetryOn::Predicate(Arc::new(wanted));
        self
    }
    /// Sets the first wait.
    pub fn initial_interval(mut self, wait: Duration) -> Self {
        self.initial_interval = wait;
        self
    }
    /// Makes each wait this many times as long as the one before.
    pub fn backoff_factor(mut self, factor: f64) -> Self {
        self.backoff_factor = factor;
        self
    }
    /// Makes no wait longer than this, jitter aside.
    pub fn max_interval(mut self, wait: Duration) -> Self {
        self.max_interval = wait;
        self
    }
    /// Sets the number of attempts, the first one included.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }
    /// Sets which failures are worth another attempt.
    pub fn retry_on(mut self, failures: RetryOn) -> Self {
        self.retry_on = failures;
        self
    }
    /// Adds a random part to each wait, or does not.
    pub fn jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    /// Returns the wait after attempt number `failed`, without jitter.
    pub fn wait_after(&self, failed: u32) -> Duration {
        let exponent = i32::try_from(failed.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial_interval.as_secs_f64() * self.backoff_factor.powi(exponent);
        // What is no duration at all (endless, or not a number) is longer than any.
        Duration::try_from_secs_f64(seconds).map_or(self.max_interval, |wait| wait.min(self.max_interval))
    }

    /// Returns the wait before the attempt that follows number `failed`; `None` when there is to be none.
    ///
    /// The one who refused the attempt may have said how long to wait. A shorter wait would be refused again, so that one
    /// is kept to; when it is longer than `max_interval` the failure stands.
    pub(crate) fn next_wait(&self, failed: u32, failure: &Failure) -> Option<Duration> {
        if failed >= self.max_attempts {
            return None;
        }
        let asked = failure.retry_after.unwrap_or_default();
        if asked > self.max_interval {
            return None;
        }
        let jitter = match self.jitter {
            true => Duration::from_nanos(uuid::Uuid::new_v4().as_u64_pair().1 % 1_000_000_000),
            false => Duration::ZERO,
        };
        Some(self.wait_after(failed).max(asked) + jitter)
    }
}

/// The failures that are worth another attempt.
#[derive(Clone, Default)]
pub enum RetryOn {
    /// All but those that another attempt cannot help: as the [failure says](Failure::retryable), otherwise by the HTTP
    /// status, otherwise by the class; see [`is_retryable`].
    #[default]
    Default,
    /// Failures of these classes, and of classes derived from them.
    Classes(Vec<Name>),
    /// Failures that the function accepts.
    Predicate(Arc<dyn Fn(&Failure) -> bool + Send + Sync>),
}

impl fmt::Debug for RetryOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RetryOn::Default => f.write_str("Default"),
            RetryOn::Classes(classes) => f.debug_tuple("Classes").field(classes).finish(),
            RetryOn::Predicate(_) => f.write_str("Predicate(..)"),
        }
    }
}

impl RetryOn {
    /// Returns whether this failure is worth another attempt.
    pub fn wants(&self, failure: &Failure) -> bool {
        match self {
            RetryOn::Default => failure.retryable.unwrap_or_else(|| may_pass(failure)),
            RetryOn::Classes(classes) => classes.iter().any(|class| is_a(&failure.class, class)),
            RetryOn::Predicate(wanted) => wanted(failure),
        }
    }
}

/// Returns whether another attempt is worth it after a failure that does not say so itself.
fn may_pass(failure: &Failure) -> bool {
    match failure.status {
        // A server that is at fault may recover; one that refuses a request refuses it again.
        Some(status) => status >= 500,
        None => is_retryable(&failure.class),
    }
}

/// Returns whether failures of a class are worth another attempt when they do not say so themselves. Mistakes in the program or its data stay mistakes;
/// everything else, failed connections among it, may pass.
///
/// Classes count by their name. The built-in classes of Python are known with what they derive from (a `KeyError` is
/// a `LookupError`); every other class is one that may pass.
pub fn is_retryable(class: &str) -> bool {
    is_a(class, "ConnectionError") || !FUTILE.iter().any(|futile| is_a(class, futile))
}

/// Classes whose failures come back in every attempt.
const FUTILE: [&str; 13] = [
    "ValueError",
    "TypeError",
    "ArithmeticError",
    "ImportError",
    "LookupError",
    "NameError",
    "SyntaxError",
    "RuntimeError",
    "ReferenceError",
    "StopIteration",
    "StopAsyncIteration",
    "OSError",
    "Panic",
];

/// Error classes and what they derive from, where that is not `Exception`.
const DERIVED: [(&str, &str); 43] = [
    ("ZeroDivisionError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("FloatingPointError", "ArithmeticError"),
    ("ModuleNotFoundError", "ImportError"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("UnboundLocalError", "NameError"),
    ("IndentationError", "SyntaxError"),
    ("TabError", "IndentationError"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("InvariantError", "RuntimeError"),
    ("PythonFinalizationError", "RuntimeError"),
    ("GraphRecursionError", "RecursionError"),
    ("BrokenExecutor", "RuntimeError"),
    ("UnicodeError", "ValueError"),
    ("UnicodeDecodeError", "UnicodeError"),
    ("UnicodeEncodeError", "UnicodeError"),
    ("UnicodeTranslateError", "UnicodeError"),
    ("JSONDecodeError", "ValueError"),
    ("ValidationError", "ValueError"),
    ("UnknownInterruptError", "ValueError"),
    ("BlockingIOError", "OSError"),
    ("ChildProcessError", "OSError"),
    ("ConnectionError", "OSError"),
    ("BrokenPipeError", "ConnectionError"),
    ("ConnectionAbortedError", "ConnectionError"),
    ("ConnectionRefusedError", "ConnectionError"),
    ("ConnectionResetError", "ConnectionError"),
    ("RemoteDisconnected", "ConnectionResetError"),
    ("FileExistsError", "OSError"),
    ("FileNotFoundError", "OSError"),
    ("InterruptedError", "OSError"),
    ("IsADirectoryError", "OSError"),
    ("NotADirectoryError", "OSError"),
    ("PermissionError", "OSError"),
    ("ProcessLookupError", "OSError"),
    ("TimeoutError", "OSError"),
    ("IOError", "OSError"),
    ("EnvironmentError", "OSError"),
    ("gaierror", "OSError"),
    ("herror", "OSError"),
    ("SSLError", "OSError"),
];

fn is_a(class: &str, wanted: &str) -> bool {
    let mut class = class;
    loop {
        if class == wanted {
            return true;
        }
        match DERIVED.iter().find(|(name, _)| *name == class) {
            Some((_, base)) => class = base,
            None => return wanted == "Exception",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_retries_what_may_pass() {
        for class in [
            "ConnectionError",
            "ConnectionResetError",
            "NodeTimeoutError",
            "MyError",
        ] {
            assert!(is_retryable(class), "{class}");
        }
        for class in [
            "KeyError",
            "TabError",
            "NotImplementedError",
            "TimeoutError",
            "ZeroDivisionError",
        ] {
            assert!(!is_retryable(class), "{class}");
        }
    }

    #[test]
    fn classes_match_what_derives_from_them() {
        let failure = |class: &str| Failure::new(class, "");
        let policy = RetryPolicy::default().on(["LookupError"]);
        assert!(policy.retry_on.wants(&failure("KeyError")));
        assert!(!policy.retry_on.wants(&failure("ValueError")));
        assert!(
            RetryPolicy::default()
                .on(["Exception"])
                .retry_on
                .wants(&failure("Whatever"))
        );
    }

    #[test]
    fn the_answer_of_a_server_counts_by_its_status() {
        let answered = |class, status| Failure {
            status,
            ..Failure::new(class, "")
        };
        let cases = [
            ("HTTPError", Some(503), true),
            ("HTTPError", Some(500), true),
            ("HTTPError", Some(499), false),
            ("HTTPError", Some(404), false),
            ("ValueError", Some(502), true),
            ("HTTPError", None, true),
            ("ValueError", None, false),
        ];
        for (class, status, wanted) in cases {
            let failure = answered(class, status);
            assert_eq!(RetryOn::Default.wants(&failure), wanted, "{class} {status:?}");
            let by_class = RetryOn::Classes(vec![class.into()]);
            assert!(
                by_class.wants(&failure),
                "a policy of one's own goes by the class"
            );
        }
    }

    #[test]
    fn a_failure_says_itself_whether_it_may_pass() {
        let busy = Failure {
            status: Some(429),
            ..Failure::new("HTTPError", "")
        };
        for (failure, wanted) in [
            (Failure::new("MyError", ""), true),
            (Failure::new("MyError", "").lasting(), false),
            (Failure::new("ValueError", "").transient(), true),
            (busy.clone(), false),
            (busy.transient(), true),
        ] {
            assert_eq!(RetryOn::Default.wants(&failure), wanted, "{failure:?}");
        }
        let named = RetryOn::Classes(vec!["MyError".into()]);
        assert!(
            named.wants(&Failure::new("MyError", "").lasting()),
            "a policy of one's own goes by the class"
        );
    }

    #[test]
    fn waits_grow_to_their_maximum() {
        let policy = RetryPolicy {
            initial_interval: Duration::from_millis(10),
            max_interval: Duration::from_millis(50),
            ..RetryPolicy::default()
        };
        let waits: Vec<u128> = [1, 2, 3, 4, u32::MAX]
            .map(|n| policy.wait_after(n).as_millis())
            .into();
        assert_eq!(waits, [10, 20, 40, 50, 50]);
    }

    #[test]
    fn a_wait_that_was_asked_for_is_kept_to() {
        let policy = RetryPolicy {
            initial_interval: Duration::from_millis(10),
            max_interval: Duration::from_millis(50),
            jitter: false,
            ..RetryPolicy::default()
        };
        let refused = |millis: Option<u64>| Failure {
            retry_after: millis.map(Duration::from_millis),
            ..Failure::new("Busy", "")
        };
        let wait = |failed, millis| {
            policy
                .next_wait(failed, &refused(millis))
                .map(|wait| wait.as_millis())
        };
        assert_eq!(wait(1, None), Some(10));
        assert_eq!(wait(1, Some(30)), Some(30));
        assert_eq!(wait(2, Some(5)), Some(20), "the policy's own wait is longer");
        assert_eq!(wait(1, Some(51)), None, "longer than the policy waits");
        assert_eq!(wait(3, None), None, "no attempts are left");
    }
}
