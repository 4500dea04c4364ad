//! Writing: results to stdout, words to stderr. A closed pipe ends the program, it does not panic.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::Value as Json;

/// Prints a line of the result.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

/// Prints a result as indented JSON.
pub(crate) fn pretty(value: &impl serde::Serialize) -> io::Result<()> {
    line(&serde_json::to_string_pretty(value).map_err(io::Error::other)?)
}

/// Prints a result as one line of JSON.
pub(crate) fn compact(value: &impl serde::Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value).map_err(io::Error::other)?)
}

/// Writes a line for people to stderr. Nobody reads a closed stderr, so that is no error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", harmless(text, |c| c == '\n' || c == '\t'));
}

/// Escapes all control characters of a name that is shown in a line: it may hold anything, and a terminal would obey
/// some of it.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    harmless(text, |_| false)
}

/// Escapes what a terminal would take as a command.
fn harmless(text: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    let order = |c: char| c.is_control() && !allowed(c);
    if !text.contains(order) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match order(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Writes a part of a line for people to stderr.
pub(crate) fn note_part(text: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// Prints a table with aligned columns; the last column is not padded.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let rows: Vec<Vec<Cow<'_, str>>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| plain(cell)).collect())
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([head[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let text = |cells: &[&str]| {
        let mut text = String::new();
        for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            if index + 1 == cells.len() {
                text.push_str(cell);
            } else {
                text.push_str(&format!("{cell:width$}  "));
            }
        }
        text.trim_end().to_owned()
    };
    line(&text(head))?;
    for row in &rows {
        line(&text(&row.iter().map(|cell| &**cell).collect::<Vec<_>>()))?;
    }
    Ok(())
}

/// Formats a number of things, with the noun in the right form.
pub(crate) fn count(number: u64, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {word}{plural}")
}

/// Formats a size for people.
#[expect(
    clippy::cast_precision_loss,
    reason = "a size that is shown with one digit need not be exact"
)]
pub(crate) fn size(bytes: u64) -> String {
    let mut shown = bytes as f64;
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut unit = "B";
    for larger in ["kB", "MB", "GB"] {
        if shown >= 1000.0 {
            (shown, unit) = (shown / 1000.0, larger);
        }
    }
    format!("{shown:.1} {unit}")
}

/// Formats a value as one short line.
pub(crate) fn short(value: &Json, columns: usize) -> String {
    let text = value.to_string();
    if text.chars().count() <= columns {
        return text;
    }
    let head: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{head}…")
}

/// Quotes an argument for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("sqlite:/tmp/a.db"), "sqlite:/tmp/a.db");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
