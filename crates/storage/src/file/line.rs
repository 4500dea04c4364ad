//! Lines of a journal: sixteen hex digits of a checksum, a space, JSON text, a line feed. The text of a long line is
//! compressed, and written in letters and digits.
//!
//! A line that is not finished is what a process that died left: it was never acknowledged. A finished line that does
//! not fit its checksum is damage.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::compression::{lettered, unlettered};

/// Digits of the checksum and the space after them.
const PREFIX: usize = 17;

/// Adds a record as a line, and says how long its text is.
pub(super) fn put_line(out: &mut Vec<u8>, record: &impl Serialize) -> Result<usize, String> {
    let start = out.len();
    out.extend_from_slice(&[b' '; PREFIX]);
    serde_json::to_writer(&mut *out, record).map_err(|error| error.to_string())?;
    let length = out.len() - start - PREFIX;
    if let Some(short) = lettered(&out[start + PREFIX..]) {
        out.truncate(start + PREFIX);
        out.extend_from_slice(&short);
    }
    let checksum = format!("{:016x}", xxh3_64(&out[start + PREFIX..]));
    out[start..start + PREFIX - 1].copy_from_slice(checksum.as_bytes());
    out.push(b'\n');
    Ok(length)
}

/// Parses the record of a line, given without its line feed.
pub(super) fn read_line<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    read_text(&text_of(line)?)
}

/// Parses the record in the text of a line.
pub(super) fn read_text<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| format!("it is not a record: {error}"))
}

/// Returns the text of a line, given without its line feed.
pub(super) fn text_of(line: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let (prefix, text) = line.split_at_checked(PREFIX).ok_or("it is too short")?;
    if prefix != format!("{:016x} ", xxh3_64(text)).as_bytes() {
        return Err("its checksum does not fit".to_owned());
    }
    unlettered(text)
}

/// Parses a line that does not match its checksum, as far as it can be read.
pub(super) fn unchecked<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    serde_json::from_slice(&unlettered(line.get(PREFIX..)?).ok()?).ok()
}

/// Splits a file into its finished lines with the number of each, and returns how many bytes they take.
pub(super) fn lines(bytes: &[u8]) -> (impl Iterator<Item = (usize, &[u8])>, usize) {
    let finished = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let lines = bytes[..finished].split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| &line[..line.len() - 1]);
    (lines.enumerate().map(|(n, line)| (n + 1, line)), finished)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_unfinished_line_is_noticed() {
        let mut bytes = Vec::new();
        for n in 0..3 {
            put_line(&mut bytes, &serde_json::json!({"n": n, "text": "a\nb"})).expect("JSON");
        }
        let whole = bytes.len();
        bytes.extend_from_slice(b"0123456789abcdef {\"n\":");
        let (found, finished) = lines(&bytes);
        assert_eq!(finished, whole);
        let values: Vec<serde_json::Value> = found.map(|(_, line)| read_line(line).expect("sound")).collect();
        assert_eq!(values.len(), 3);
        let line = bytes[..whole / 3 - 1].to_vec();
        for at in 0..line.len() {
            let mut changed = line.clone();
            changed[at] ^= 4;
            assert!(read_line::<serde_json::Value>(&changed).is_err(), "byte {at}");
            assert!(
                read_line::<serde_json::Value>(&line[..at]).is_err(),
                "cut at {at}"
            );
        }
    }
}
