//! JSON of other programs, with halves of characters in it. `\ud83d` without its other half is JSON by its grammar, and
//! programs in JavaScript write it whenever they cut a text at a number of characters; a Rust text cannot hold it. Here
//! each half becomes U+FFFD, the sign for a character that is lost, instead of making all of the JSON unreadable.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// The replacement of a half.
const LOST: &str = "\u{fffd}";

/// Parses JSON, with U+FFFD in the place of halves of characters.
pub fn read_json<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    // Almost all JSON has no halves: it is looked through only when it cannot be read.
    serde_json::from_slice(json).or_else(|error| match without_halves(json) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(whole) => serde_json::from_slice(&whole),
    })
}

/// Replaces halves of characters in the text of JSON by U+FFFD. Whole characters and everything else stay as they are.
pub fn without_halves(json: &[u8]) -> Cow<'_, [u8]> {
    let mut whole = Vec::new();
    // Up to here it is in `whole`.
    let mut taken = 0;
    let mut at = 0;
    while let Some(next) = json
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        at += next;
        at += match (unit(json, at), unit(json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                whole.extend_from_slice(&json[taken..at]);
                whole.extend_from_slice(LOST.as_bytes());
                taken = at + 6;
                6
            }
            // An escaped backslash must not be taken for the beginning of the next escape.
            _ => 2,
        };
    }
    match taken {
        0 => Cow::Borrowed(json),
        _ => {
            whole.extend_from_slice(&json[taken..]);
            Cow::Owned(whole)
        }
    }
}

/// Returns the number of the escape `\uXXXX` at this place.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at.checked_add(6)?)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    // A sign would be a number to the parser, but no escape.
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_are_replaced_and_nothing_else_is() {
        for (json, text) in [
            (r#""cut \ud83d""#, "cut \u{fffd}"),
            (r#""\uDC4D alone""#, "\u{fffd} alone"),
            (r#""\ud83d\ud83d\udc4d""#, "\u{fffd}👍"),
            (r#""\udc4d\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\\ud83d""#, r"\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\ud83d\udc4d""#, "👍"),
            (r#""plain""#, "plain"),
        ] {
            assert_eq!(read_json::<String>(json.as_bytes()).unwrap(), text, "{json}");
        }
        let key: serde_json::Value = read_json(br#"{"k\ud83d": ["\ude00", 1]}"#).unwrap();
        assert_eq!(key, serde_json::json!({"k\u{fffd}": ["\u{fffd}", 1]}));
        for broken in [r#""\ud8"#, r#""\u+d83""#, r#"{"a": "\ud83d","#, "\\", "\\u"] {
            assert!(
                read_json::<serde_json::Value>(broken.as_bytes()).is_err(),
                "{broken}"
            );
        }
    }

    proptest! {
        /// As JavaScript replaces them (`toWellFormed`): any text of UTF-16 units, however it is escaped.
        #[test]
        fn any_units_are_read_as_their_characters(units in prop::collection::vec(
            prop_oneof![any::<u16>(), 0xd800..=0xdfff_u16, Just(u16::from(b'\\'))], 0..40), upper in any::<bool>())
        {
            let escape = |unit: &u16| match upper {
                true => format!("\\u{unit:04X}"),
                false => format!("\\u{unit:04x}"),
            };
            let json = format!("\"{}\"", units.iter().map(escape).collect::<String>());
            let read: String = read_json(json.as_bytes()).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }
    }
}
