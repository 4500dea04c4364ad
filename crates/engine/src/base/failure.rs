//! Failures: what a node failed with, and its text as it is stored and shown.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crate::base::ids::Name;

/// A failure as it is shown and stored: an error class and what it says.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{class}: {message}")]
pub struct Failure {
    /// Error class, e.g. `ValueError`, `ExpressionError`; retry policies and readers match on it.
    pub class: Name,
    /// What happened, where, and what to do.
    pub message: String,
    /// How long to wait before another attempt makes sense, when the one who refused the last one said so.
    pub retry_after: Option<Duration>,
    /// The HTTP status, when a server's answer is the failure.
    pub status: Option<u16>,
    /// The error that it was made from, for code in the same process: it is not stored.
    #[source]
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

/// The cause is left out: of two equal failures one may have been stored and read again.
impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        let facts = |of: &Self| (of.retry_after, of.status);
        self.class == other.class && self.message == other.message && facts(self) == facts(other)
    }
}

impl Failure {
    /// Reads the form `Class('message')` in which checkpoints and events show a failure.
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
            cause: None,
        }
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

/// Formats a failure as `Class('message')`, the form in which errors are stored and shown.
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

/// Parses a failure that [`repr`] formatted.
pub(crate) fn failure_of(shown: &str) -> Failure {
    let (class, rest) = shown.split_once('(').unwrap_or(("Exception", shown));
    let message = rest.strip_suffix(')').unwrap_or(rest);
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
    Failure::new(class, text)
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
        }
    }
}
