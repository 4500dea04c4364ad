//! Failures as text, as they are stored and shown, and back.

use crate::graph::node::Failure;

/// `Class('message')`, as errors are stored and shown.
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

/// The failure that [`repr`] showed so.
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
