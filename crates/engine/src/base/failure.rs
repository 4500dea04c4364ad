//! Failures: what a node failed with, and its text as it is stored and shown.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crate::base::ids::Name;

/// A failure as it is shown and stored: an error class and what it says.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{class}: {message}")]
#[non_exhaustive]
pub struct Failure {
    /// Error class, e.g. `ValueError`, `ExpressionError`; retry policies and readers match on it.
    pub class: Name,
    /// What happened, where, and what to do.
    pub message: String,
    /// How long to wait before another attempt makes sense, when the one who refused the last one said so.
    pub retry_after: Option<Duration>,
    /// The HTTP status, when a server's answer is the failure.
    pub status: Option<u16>,
    /// Whether another attempt may help, if the one who failed knows. Otherwise retry policies go by the status and the
    /// class.
    pub retryable: Option<bool>,
    /// The error that it was made from, for code in the same process: it is not stored.
    #[source]
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

/// The cause is left out: of two equal failures one may have been stored and read again.
impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        let facts = |of: &Self| (of.retry_after, of.status, of.retryable);
        self.class == other.class && self.message == other.message && facts(self) == facts(other)
    }
}

impl Failure {
    /// Reads the form `Class('message')` in which checkpoints and events show a failure. In checkpoints the form ends with
    /// `, retryable=False)` or `, retryable=True)` if the failure says so.
    pub fn from_shown(shown: &str) -> Self {
        failure_of(shown)
    }
    /// Creates a failure of the given class.
    pub fn new(class: impl Into<Name>, message: impl Into<String>) -> Self {
        Self {
            class: class.into(),
            message: message.into(),
            retry_after: None,
            status: None,
            retryable: None,
            cause: None,
        }
    }

    /// Marks the failure as one that comes back in every attempt: by default it is not retried, whatever its class.
    pub fn lasting(mut self) -> Self {
        self.retryable = Some(false);
        self
    }

    /// Marks the failure as one that may pass: by default it is retried, whatever its class.
    pub fn transient(mut self) -> Self {
        self.retryable = Some(true);
        self
    }

    /// Converts an error into a failure: its class is the name of its type (`ParseIntError`, `IoError` for
    /// `std::io::Error`), its message is that of the error and its sources.
    pub fn of<E: Error + Send + Sync + 'static>(error: E) -> Self {
        let mut message = error.to_string();
        for source in std::iter::successors(error.source(), |source| (*source).source()) {
            let source = source.to_string();
            // Many errors say what their source says.
            if !message.contains(&source) {
                message = format!("{message}: {source}");
            }
        }
        Self {
            cause: Some(Arc::new(error)),
            ..Self::new(class_of::<E>(), message)
        }
    }
}

/// Returns the class of an error: the name of its type, with that of its module or crate where it is `Error` alone.
fn class_of<E>() -> String {
    let name = std::any::type_name::<E>();
    // What it is generic over says nothing about what went wrong.
    let name = name.split('<').next().unwrap_or(name);
    let mut parts = name.rsplit("::");
    let last = parts.next().unwrap_or(name);
    if last != "Error" {
        return last.to_owned();
    }
    let owner = parts
        .find(|part| !matches!(*part, "error" | "errors"))
        .unwrap_or_default();
    let words = owner.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_uppercase().chain(letters).collect()
        })
    });
    words.chain(["Error".to_owned()]).collect()
}

/// Formats a failure as checkpoints keep it: as [`repr`] does, and whether it may be retried, if it says so.
pub(crate) fn stored_repr(failure: &Failure) -> String {
    let mut stored = repr(failure);
    if let Some(retryable) = failure.retryable {
        // In the place of the closing parenthesis.
        stored.pop();
        stored.push_str(if retryable { RETRYABLE } else { LASTING });
    }
    stored
}

const RETRYABLE: &str = ", retryable=True)";
const LASTING: &str = ", retryable=False)";

/// Splits the text that [`stored_repr`] formatted into what is shown of it, without the closing parenthesis, and whether
/// the failure may be retried.
fn split_stored(stored: &str) -> (&str, Option<bool>) {
    for (mark, retryable) in [(RETRYABLE, true), (LASTING, false)] {
        if let Some(shown) = stored
            .strip_suffix(mark)
            .filter(|shown| shown.ends_with(['\'', '"']))
        {
            return (shown, Some(retryable));
        }
    }
    (stored.strip_suffix(')').unwrap_or(stored), None)
}

/// Returns the form `Class('message')` of a failure that was stored.
pub(crate) fn shown_of(stored: &str) -> String {
    match split_stored(stored) {
        (_, None) => stored.to_owned(),
        (shown, Some(_)) => format!("{shown})"),
    }
}

/// Formats a failure as `Class('message')`, the form in which errors are shown.
pub(crate) fn repr(failure: &Failure) -> String {
    let message = &failure.message;
    let quote = match message.contains('\'') && !message.contains('"') {
        true => '"',
        false => '\'',
    };
    let mut shown = format!("{}({quote}", failure.class);
    for c in message.chars() {
        let escaped = ESCAPES
            .iter()
            .find(|(plain, _)| *plain == c && (c != '\'' || quote == '\''));
        if escaped.is_some() {
            shown.push('\\');
        }
        shown.push(escaped.map_or(c, |(_, letter)| *letter));
    }
    shown.push(quote);
    shown.push(')');
    shown
}

/// Characters that stand behind a backslash in [`repr`], and how.
const ESCAPES: [(char, char); 5] = [('\\', '\\'), ('\n', 'n'), ('\r', 'r'), ('\t', 't'), ('\'', '\'')];

/// Parses a failure that [`repr`] or [`stored_repr`] formatted.
pub(crate) fn failure_of(stored: &str) -> Failure {
    let (shown, retryable) = split_stored(stored);
    let (class, message) = shown.split_once('(').unwrap_or(("Exception", shown));
    let quote = message.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let inner = quote.and_then(|quote| message.strip_prefix(quote)?.strip_suffix(quote));
    let mut text = String::with_capacity(message.len());
    let mut chars = inner.unwrap_or(message).chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => chars.next().map(|letter| {
                let known = ESCAPES.iter().find(|(_, escaped)| *escaped == letter);
                known.map_or(letter, |(plain, _)| *plain)
            }),
            c => Some(c),
        };
        text.extend(plain);
    }
    Failure {
        retryable,
        ..Failure::new(class, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_failure_reads_back() {
        let cases = [
            ("bad", "E('bad')"),
            ("it's", "E(\"it's\")"),
            ("it's \"so\"", "E('it\\'s \"so\"')"),
            ("C:\\new\nline (1)", "E('C:\\\\new\\nline (1)')"),
            ("", "E('')"),
        ];
        for (message, shown) in cases {
            let failure = Failure::new("E", message);
            assert_eq!(repr(&failure), shown);
            assert_eq!(failure_of(shown), failure);
            assert_eq!(
                stored_repr(&failure),
                shown,
                "what says nothing is stored as before"
            );
        }
    }

    #[test]
    fn whether_it_may_be_retried_is_stored_and_not_shown() {
        for message in [
            "bad",
            "it's",
            "it's \"so\"",
            "",
            "a\\",
            "retryable=False)",
            "', retryable=False",
        ] {
            let failure = Failure::new("E", message);
            let shown = repr(&failure);
            let (lasting, transient) = (failure.clone().lasting(), failure.clone().transient());
            let stored = stored_repr(&lasting);
            assert!(stored.ends_with(", retryable=False)"), "{stored}");
            for failure in [failure, lasting, transient] {
                let stored = stored_repr(&failure);
                assert_eq!(failure_of(&stored), failure, "{stored}");
                assert_eq!(shown_of(&stored), shown, "{stored}");
            }
        }
        let plain = "E, retryable=False)";
        assert_eq!(failure_of(plain).retryable, None, "nothing was quoted");
    }
}
