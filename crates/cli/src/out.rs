//! Writing: results to stdout, words to stderr. A closed pipe ends the program, it does not panic.
//!
//! Names, texts and errors come from graphs, models, servers and databases. Everything that is printed passes [`Shown`] or
//! [`json_text`], so that none of it reaches a terminal as a command, turns a line around, or stands at the beginning of a
//! line as if the program had said it.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};

use serde_json::Value as Json;
use superstep::Value;

/// Letters of a cell of a table; one long name would push everybody's columns out of sight.
const MAX_CELL: usize = 200;
/// Letters to which the cells of a column are padded.
const MAX_PADDED: usize = 64;

/// Returns whether a terminal takes the character as an order: controls (C0, DEL, C1), what ends a line elsewhere, and
/// what changes the direction of the text that follows.
fn is_order(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}')
}

/// Text whose orders to a terminal are escaped, except for those in `allowed`.
struct Shown<'t> {
    text: &'t str,
    allowed: &'static [char],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.text.chars() {
            match is_order(c) && !self.allowed.contains(&c) {
                true => write!(f, "{}", c.escape_default())?,
                false => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn shown<'t>(text: &'t str, allowed: &'static [char]) -> Cow<'t, str> {
    match text.contains(is_order) {
        true => Cow::Owned(Shown { text, allowed }.to_string()),
        false => Cow::Borrowed(text),
    }
}

/// Returns whether text of several lines holds no order to a terminal.
pub(crate) fn is_clean(text: &str) -> bool {
    !text.contains(|c| is_order(c) && c != '\n')
}

/// Escapes all control characters of a name that is shown in a line: it may hold anything, and a terminal would obey
/// some of it.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    shown(text, &[])
}

/// Returns JSON whose texts hold no orders to a terminal. Outside of texts JSON has none but line breaks.
pub(crate) fn json_text(value: &impl serde::Serialize, pretty: bool) -> io::Result<String> {
    let text = match pretty {
        true => serde_json::to_string_pretty(value),
        false => serde_json::to_string(value),
    };
    Ok(escaped_json(text.map_err(io::Error::other)?))
}

/// Escapes the orders in the texts of JSON that is written already.
pub(crate) fn escaped_json(text: String) -> String {
    let order = |c: char| is_order(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(order) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match order(c) {
            true => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            false => escaped.push(c),
        }
    }
    escaped
}

/// Writes lines of JSON to stdout as they are made, their orders escaped.
#[derive(Debug, Default)]
pub(crate) struct JsonOut {
    /// The line that is not at its end yet.
    line: Vec<u8>,
}

impl Write for JsonOut {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(piece);
        if let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') {
            let rest = piece.len() - end - 1;
            let rest = self.line.split_off(self.line.len() - rest);
            let whole = String::from_utf8(std::mem::replace(&mut self.line, rest));
            let whole = escaped_json(whole.map_err(io::Error::other)?);
            io::stdout().lock().write_all(whole.as_bytes())?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

fn write_line(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

/// Prints a line of the result.
pub(crate) fn line(text: &str) -> io::Result<()> {
    write_line(&plain(text))
}

/// Prints a result of several lines, such as a drawing.
pub(crate) fn lines(text: &str) -> io::Result<()> {
    write_line(&shown(text, &['\n', '\t']))
}

/// Prints JSON of several lines that is text already.
pub(crate) fn json_lines(text: &str) -> io::Result<()> {
    write_line(&escaped_json(text.to_owned()))
}

/// Prints a result as indented JSON.
pub(crate) fn pretty(value: &impl serde::Serialize) -> io::Result<()> {
    write_line(&json_text(value, true)?)
}

/// Prints a result as one line of JSON.
pub(crate) fn compact(value: &impl serde::Serialize) -> io::Result<()> {
    write_line(&json_text(value, false)?)
}

/// Writes words for people to stderr; lines after the first are indented, so that none looks like the program's next
/// words. Nobody reads a closed stderr, so that is no error.
pub(crate) fn note(text: &str) {
    let text = shown(text, &['\n', '\t']);
    let mut stderr = io::stderr().lock();
    for (number, line) in text.split('\n').enumerate() {
        let indent = match number > 0 && !line.is_empty() && !line.starts_with([' ', '\t']) {
            true => "    ",
            false => "",
        };
        let _ = writeln!(stderr, "{indent}{line}");
    }
}

/// Writes a part of a line for people to stderr.
pub(crate) fn note_part(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(shown(text, &['\n', '\t']).as_bytes());
    let _ = stderr.flush();
}

/// Shows how far something is in a line that is overwritten, when stderr is a terminal; an empty text clears the line.
pub(crate) fn overwrite(text: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K{}", plain(text));
        let _ = stderr.flush();
    }
}

/// Returns the beginning of a text, with the number of letters that are left out.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((at, _)) => {
            let (head, rest) = text.split_at(at);
            Cow::Owned(format!("{head}… (+{})", rest.chars().count()))
        }
    }
}

/// Appends a cell and blanks up to the width of its column. The widths of `format!` end at 65,535 with a panic.
pub(crate) fn pad(line: &mut String, cell: &str, width: usize) {
    line.push_str(cell);
    line.extend(std::iter::repeat_n(
        ' ',
        width.saturating_sub(cell.chars().count()),
    ));
}

/// Prints a table with aligned columns; the last column is not padded, and long cells are cut.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let mut is_cut = false;
    let rows: Vec<Vec<String>> = (rows.iter())
        .map(|row| {
            let cells = row.iter().map(|cell| {
                let whole = plain(cell);
                let cell = cut(&whole, MAX_CELL);
                is_cut |= cell.len() != whole.len();
                cell.into_owned()
            });
            cells.collect()
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| cell.chars().count());
        let widest = widths.chain([head[column].chars().count()]).max();
        widest.unwrap_or(0).min(MAX_PADDED)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let text = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (index, (cell, width)) in cells.zip(&widths).enumerate() {
            let is_last = index + 1 == widths.len();
            pad(&mut text, cell, if is_last { 0 } else { width + 2 });
        }
        text.trim_end().to_owned()
    };
    write_line(&text(&mut head.iter().copied()))?;
    for row in &rows {
        write_line(&text(&mut row.iter().map(String::as_str)))?;
    }
    if is_cut {
        note("Long cells are cut, with the number of letters left out; --json shows them whole.");
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

/// Formats a value as one line, by the names of classes where it has some: `Policy {limit: 99.90}`.
pub(crate) fn brief(value: &Value, columns: usize) -> String {
    match superstep_storage::in_a_line(value) {
        Some(line) if line.chars().count() <= columns => line,
        Some(line) => {
            let head: String = line.chars().take(columns.saturating_sub(1)).collect();
            format!("{head}…")
        }
        None => short(&Json::from(value), columns),
    }
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

    /// Every control and every character that turns a line around.
    fn orders() -> impl Iterator<Item = char> {
        let bidirectional = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        ('\0'..='\u{1f}')
            .chain('\u{7f}'..='\u{9f}')
            .chain(bidirectional.chars())
    }

    #[test]
    fn every_order_to_a_terminal_is_escaped_in_text_and_json() {
        for order in orders() {
            let text = format!("a{order}b");
            assert!(!plain(&text).contains(order), "{order:?}");
            let json = json_text(&Json::from(text.clone()), false).unwrap();
            assert!(!json.contains(order), "{order:?}: {json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        assert_eq!(plain("a\u{202e}b\n"), "a\\u{202e}b\\n");
        assert_eq!(
            plain("é 👨\u{200d}👩 ü"),
            "é 👨\u{200d}👩 ü",
            "joined signs stay one"
        );
    }

    #[test]
    fn a_cell_of_any_length_is_cut_and_padded() {
        let long = "ä".repeat(70_000);
        assert_eq!(cut(&long, 3), "äää… (+69997)");
        assert_eq!(cut("äää", 3), "äää");
        let mut line = String::new();
        pad(&mut line, "ä", 4);
        pad(&mut line, &long, 4);
        assert!(line.starts_with("ä   ä") && line.chars().count() == 70_004);
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("sqlite:/tmp/a.db"), "sqlite:/tmp/a.db");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
