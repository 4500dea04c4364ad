//! What goes over the pipes between the program and a worker process: frames of a length, a letter and a content.

use std::io::{self, Read};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use superstep::Value;

use super::Limits;
use super::inputs::{LARGE, SentJson, fits};

/// What a worker writes first. What comes before it is none of its own.
pub(super) const GREETING: &[u8] = b"\x1esuperstep javascript 1\n";
/// Largest frame.
pub(super) const MAX_FRAME: usize = 1 << 30;
/// Length and letter of a frame.
pub(super) const HEAD: usize = 5;

/// To the worker: a call, as [`CallHead`] says.
pub(super) const CALL: u8 = b'c';
/// To the worker: something for the program, as [`AddressedMessage`] says.
pub(super) const NOTICE: u8 = b't';
/// To the worker: the JSON of a part of an argument.
pub(super) const PART: u8 = b'p';
/// From the worker: what the program says.
pub(super) const REQUEST: u8 = b's';
/// From the worker: the part of an argument that is wanted, as [`FieldRequest`] says.
pub(super) const WANT: u8 = b'w';
/// From the worker: the program has ended with this JSON.
pub(super) const OK: u8 = b'o';
/// From the worker: the program has ended with a question.
pub(super) const ASKS: u8 = b'a';
/// From the worker: the program has ended with this error.
pub(super) const FAILED: u8 = b'f';

/// The head of a call; the JSON texts that it speaks of follow it.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct CallHead {
    /// Number of the call.
    pub(super) call: u64,
    /// Number of the program.
    pub(super) program: u64,
    /// Its text and parameters, when the worker does not have them.
    pub(super) source: Option<(String, String)>,
    /// The worker forgets all other programs first.
    pub(super) forget: bool,
    pub(super) limits: Limits,
    /// Folders of the project and of the graph, as bytes.
    pub(super) folders: Option<(Vec<u8>, Vec<u8>)>,
    /// Length of what the program finds around it.
    pub(super) place: usize,
    /// The arguments.
    pub(super) given: Vec<SentArgument>,
}

/// Lengths of the JSON texts of an argument.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum SentArgument {
    /// One text.
    Whole(usize),
    /// Fields of an object; those without a length are sent when they are wanted.
    Fields(Vec<(String, Option<usize>)>),
}

/// Message for the program of a call.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct AddressedMessage<T> {
    pub(super) call: u64,
    pub(super) message: T,
}

/// A part of an argument.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct FieldRequest {
    pub(super) argument: usize,
    pub(super) name: String,
}

/// A field that is longer goes when the program looks at it.
const MAX_FIELD: usize = 32 * 1024;
/// When the fields of a call that went along are longer than this together, the other large ones go when they are looked at.
const MAX_CALL: usize = 256 * 1024;

/// Creates a frame from a letter and the content that `write` appends.
pub(super) fn frame(
    letter: u8,
    write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> Result<Vec<u8>, String> {
    let mut frame = vec![0; HEAD];
    frame[4] = letter;
    write(&mut frame).map_err(|error| error.to_string())?;
    let length = frame.len() - HEAD;
    if length > MAX_FRAME {
        return Err(format!("it is larger than {} MB", MAX_FRAME >> 20));
    }
    frame[..4].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    Ok(frame)
}

/// Creates a frame with a value as JSON.
pub(super) fn frame_of(letter: u8, content: &impl Serialize) -> Result<Vec<u8>, String> {
    frame(letter, |frame| serde_json::to_writer(frame, content))
}

/// Reads the letter and the length at the beginning of a frame.
pub(super) fn begins(head: [u8; HEAD]) -> Option<(u8, usize)> {
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    (length <= MAX_FRAME).then_some((head[4], length))
}

/// Reads a frame; `None` at the end.
pub(super) fn read(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; HEAD];
    match from.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (letter, length) = begins(head).ok_or_else(|| io::Error::other("a frame is too large"))?;
    let mut content = vec![0; length];
    from.read_exact(&mut content)?;
    Ok(Some((letter, content)))
}

/// Creates the frame of a call. `head` has everything but the lengths of `place` and of the arguments.
pub(super) fn call(mut head: CallHead, place: &Value, given: &[Value]) -> Result<Vec<u8>, String> {
    let mut texts = Vec::new();
    let mut append = |value: &Value| {
        let before = texts.len();
        serde_json::to_writer(&mut texts, value)?;
        Ok::<_, serde_json::Error>(texts.len() - before)
    };
    let failed = |error: serde_json::Error| error.to_string();
    head.place = append(place).map_err(failed)?;
    let mut room = MAX_CALL;
    for value in given {
        let shape = match value {
            Value::Object(fields) if fields.iter().any(|(_, field)| !fits(field, LARGE)) => {
                let mut shapes = Vec::with_capacity(fields.len());
                for (name, field) in fields.iter() {
                    let goes = fits(field, LARGE) || fits(field, MAX_FIELD.min(room));
                    let length = match goes {
                        true => Some(append(field).map_err(failed)?),
                        false => None,
                    };
                    room = room.saturating_sub(length.unwrap_or_default());
                    shapes.push((name.to_string(), length));
                }
                SentArgument::Fields(shapes)
            }
            value => SentArgument::Whole(append(value).map_err(failed)?),
        };
        head.given.push(shape);
    }
    frame(CALL, |frame| {
        let at = frame.len();
        frame.extend([0; 4]);
        serde_json::to_writer(&mut *frame, &head)?;
        let length = u32::try_from(frame.len() - at - 4).unwrap_or(u32::MAX);
        frame[at..at + 4].copy_from_slice(&length.to_be_bytes());
        frame.extend(texts);
        Ok(())
    })
}

/// Parses a call for the worker: its head, and the positions of `place` and the arguments in the content of its frame.
pub(super) fn opened(content: &[u8]) -> Option<(CallHead, Range<usize>, Vec<SentJson>)> {
    let length = u32::from_be_bytes(*content.first_chunk()?) as usize;
    let mut at = length.checked_add(4)?;
    let head: CallHead = serde_json::from_slice(content.get(4..at)?).ok()?;
    let mut next = |length: usize| {
        let place = at..at.checked_add(length)?;
        at = place.end;
        (at <= content.len()).then_some(place)
    };
    let place = next(head.place)?;
    let mut given = Vec::with_capacity(head.given.len());
    for shape in &head.given {
        given.push(match shape {
            SentArgument::Whole(length) => SentJson::Whole(next(*length)?),
            SentArgument::Fields(fields) => {
                let mut sent = Vec::with_capacity(fields.len());
                for (name, length) in fields {
                    let place = match length {
                        Some(length) => Some(next(*length)?),
                        None => None,
                    };
                    sent.push((name.clone(), place));
                }
                SentJson::Fields(sent)
            }
        });
    }
    Some((head, place, given))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use superstep::json;

    use super::*;

    #[test]
    fn large_fields_stay_until_they_are_wanted() {
        let text = "x".repeat(600_000);
        for (state, longest) in [
            (json!({"n": 1, "text": text}), 1000),
            (json!({"some": vec!["y".repeat(20_000); 40]}), 1000),
            (json!({"text": text, "other": {"text": text}}), 1000),
            (json!({"n": 1, "text": "short"}), 1000),
            (json!({"n": 1, "text": "x".repeat(10_000)}), 11_000),
        ] {
            let head = CallHead {
                call: 1,
                program: 1,
                source: None,
                forget: false,
                limits: Limits::new(Duration::from_secs(1), 64 << 20),
                folders: None,
                place: 0,
                given: Vec::new(),
            };
            let frame = call(head, &Value::Null, &[state]).unwrap();
            assert!(frame.len() < longest, "{}", frame.len());
        }
    }
}
