//! JSON with halves of characters. A server that counts in UTF-16 cuts a character outside of the basic plane in two
//! and sends `\ud83d` in one frame and `\udc4d` in the next. JSON's grammar has such halves, Rust's text has not.
//!
//! A frame that cannot be read is read again with each half as a character for private use. Where the pieces are put
//! together, two halves become the character that they are, and one alone becomes U+FFFD.

use std::borrow::Cow;

use serde_json::Value as Json;

/// The first of the 2,048 characters that stand for halves.
const FIRST_MARK: u32 = 0x10_f000;
const FIRST_HALF: u32 = 0xd800;
const HALVES: u32 = 0x800;

/// Reads a JSON text; halves of characters are marked, in which case the second value is true.
pub(in crate::models) fn read_marked(text: &str) -> serde_json::Result<(Json, bool)> {
    match serde_json::from_str(text) {
        Ok(json) => Ok((json, false)),
        Err(error) => match with_marks(text) {
            Some(text) => Ok((serde_json::from_str(&text)?, true)),
            None => Err(error),
        },
    }
}

fn mark(half: u16) -> char {
    char::from_u32(FIRST_MARK + u32::from(half) - FIRST_HALF).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn half_of(mark: char) -> Option<u16> {
    let place = u32::from(mark)
        .checked_sub(FIRST_MARK)
        .filter(|place| *place < HALVES)?;
    u16::try_from(FIRST_HALF + place).ok()
}

fn is_high(half: u16) -> bool {
    (0xd800..0xdc00).contains(&half)
}

/// Marks the escapes of halves that stand alone; `None` if there are none.
fn with_marks(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let unit = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
        (0xd800..0xe000).contains(&unit).then_some(unit)
    };
    let mut made = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match unit(at) {
            Some(high) if is_high(high) && unit(at + 6).is_some_and(|low| !is_high(low)) => at += 12,
            Some(half) => {
                made.push_str(&text[kept..at]);
                made.push(mark(half));
                at += 6;
                kept = at;
            }
            // The escaped character may be a backslash itself.
            None => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    (kept > 0).then(|| {
        made.push_str(&text[kept..]);
        made
    })
}

/// A text that comes in pieces, of whose last character half may be missing.
#[derive(Debug, Default)]
pub(in crate::models) struct Joiner {
    high: Option<u16>,
}

impl Joiner {
    /// Returns the piece with whole characters; `marked` says whether it may hold marks.
    pub(in crate::models) fn join(&mut self, piece: String, marked: bool) -> String {
        if piece.is_empty() || (!marked && self.high.is_none()) {
            return piece;
        }
        let mut text = String::with_capacity(piece.len() + 3);
        for letter in piece.chars() {
            let half = half_of(letter).filter(|_| marked);
            let high = self.high.take();
            match (high, half) {
                (Some(high), Some(low)) if !is_high(low) => {
                    let pair = char::decode_utf16([high, low]).next();
                    text.push(pair.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER));
                    continue;
                }
                (Some(_), _) => text.push(char::REPLACEMENT_CHARACTER),
                (None, _) => {}
            }
            match half {
                Some(half) if is_high(half) => self.high = Some(half),
                Some(_) => text.push(char::REPLACEMENT_CHARACTER),
                None => text.push(letter),
            }
        }
        text
    }

    /// Returns what is left at the end of the text.
    pub(in crate::models) fn rest(&mut self) -> &'static str {
        match self.high.take() {
            Some(_) => "\u{fffd}",
            None => "",
        }
    }
}

/// Returns a text that came as a whole, or was put together with its marks.
pub(in crate::models) fn unmarked(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| half_of(letter).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut joiner = Joiner::default();
    let mut whole = joiner.join(text.to_owned(), true);
    whole.push_str(joiner.rest());
    Cow::Owned(whole)
}

/// Returns JSON whose texts have whole characters.
pub(in crate::models) fn unmarked_json(json: Json) -> Json {
    match json {
        Json::String(text) => Json::String(unmarked(&text).into_owned()),
        Json::Array(items) => items.into_iter().map(unmarked_json).collect(),
        Json::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (unmarked(&name).into_owned(), unmarked_json(value)));
            Json::Object(fields.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_alone_are_marked_and_halves_of_one_are_joined() {
        for (text, value) in [
            (r#"{"t": "\ud83d"}"#, json!({"t": "\u{fffd}"})),
            (r#"{"t": "\udc4d a \uD83D"}"#, json!({"t": "\u{fffd} a \u{fffd}"})),
            (r#"{"t": "\ud83d\ud83d\udc4d"}"#, json!({"t": "\u{fffd}👍"})),
            (r#"{"t": "\\ud83d \ud83d\n"}"#, json!({"t": "\\ud83d \u{fffd}\n"})),
            (r#"{"\ud83d": ["\ud83dü"]}"#, json!({"\u{fffd}": ["\u{fffd}ü"]})),
        ] {
            let (marked, has_marks) = read_marked(text).unwrap();
            assert!(has_marks);
            assert_eq!(unmarked_json(marked), value, "{text}");
        }
        for wrong in [
            r#"{"t": "\ud83"#,
            r#"{"t": "\ud83d"#,
            "{",
            "",
            "\\",
            r#"{"t": "\u12"}"#,
        ] {
            assert!(read_marked(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            read_marked(r#""👍 \ud83d\udc4d""#).unwrap(),
            (json!("👍 👍"), false)
        );
    }

    #[test]
    fn pieces_are_joined_over_their_ends() {
        let joined = |pieces: &[&str]| {
            let mut joiner = Joiner::default();
            let mut text = String::new();
            for piece in pieces {
                let (piece, marked) = read_marked(&format!("\"{piece}\"")).unwrap();
                text += &joiner.join(piece.as_str().unwrap().to_owned(), marked);
            }
            text + joiner.rest()
        };
        assert_eq!(joined(&["a\\ud83d", "\\udc4d b"]), "a👍 b");
        assert_eq!(joined(&["a\\ud83d", "", "\\udc4d"]), "a👍");
        assert_eq!(joined(&["a\\ud83d", "b"]), "a\u{fffd}b");
        assert_eq!(joined(&["a\\ud83d"]), "a\u{fffd}");
        assert_eq!(
            joined(&["\\ud83d", "\\ud83d", "\\udc4d", "\\udc4d"]),
            "\u{fffd}👍\u{fffd}"
        );
    }
}
