//! Values as an interface gets them. State never crosses whole: small values go over as they are, large ones as a
//! summary, and a part is fetched by pointer and range.

use std::io::{self, Write};

use superstep::value::{List, Object};
use superstep::{Interrupt, Value};
use superstep_document::Document;

use crate::wire::{InterruptView, Problem, ValueView};
use superstep_document::text;

/// Values up to this many bytes of JSON are sent whole.
const MAX_INLINE: u64 = 4096;
/// The same where many stand in a list.
const MAX_BRIEF: u64 = 512;
/// Bytes of the beginning that stand for a larger value.
const MAX_HEAD: usize = 240;

/// Writer that only counts the bytes written.
#[derive(Default)]
struct Counter {
    bytes: u64,
}

impl Write for Counter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.bytes += buf.len() as u64;
        Ok(buf.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writer that keeps the first bytes and then stops, so that the head of a large value costs no more than a small one.
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.0.len() >= MAX_HEAD {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let room = MAX_HEAD - self.0.len();
        self.0.extend_from_slice(&buf[..buf.len().min(room)]);
        Ok(buf.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn bytes(value: &Value) -> u64 {
    let mut counter = Counter::default();
    // Writing JSON to a counter cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.bytes
}

fn head(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.chars().take(MAX_HEAD).collect();
    }
    let mut head = Head(Vec::with_capacity(MAX_HEAD));
    let _ = serde_json::to_writer(&mut head, value);
    String::from_utf8_lossy(&head.0)
        .trim_end_matches('\u{fffd}')
        .to_owned()
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn length(value: &Value) -> u32 {
    let length = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::String(text) => text.chars().count(),
        _ => 0,
    };
    small(length as u64)
}

/// Returns the view of a value, whole when small, otherwise summarised.
pub(crate) fn view(value: &Value) -> ValueView {
    view_within(value, MAX_INLINE)
}

/// Returns the view of a value in a list of many: whole when it is very small.
pub(crate) fn brief(value: &Value) -> ValueView {
    view_within(value, MAX_BRIEF)
}

fn view_within(value: &Value, most: u64) -> ValueView {
    let bytes = bytes(value);
    let inline = bytes <= most;
    ValueView {
        kind: value.type_name().to_owned(),
        bytes: small(bytes),
        length: length(value),
        value: inline.then(|| value.into()),
        head: (!inline).then(|| head(value)),
    }
}

/// Returns the initial values of the keys of a graph.
pub(crate) fn initial(document: &Document) -> Object {
    document
        .state_keys()
        .filter_map(|(name, key)| Some((name.to_owned(), Value::from(key.initial()?))))
        .collect()
}

/// Unescapes a segment of a JSON Pointer.
pub(crate) fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Returns the part of a value that a JSON Pointer names.
pub(crate) fn at<'a>(root: &'a Value, pointer: &str) -> Result<&'a Value, Problem> {
    if pointer.is_empty() {
        return Ok(root);
    }
    let Some(path) = pointer.strip_prefix('/') else {
        return Err(Problem::invalid(format!(
            "{pointer:?} is not a JSON Pointer: it must begin with a slash."
        )));
    };
    let mut value = root;
    for segment in path.split('/') {
        let key = unescaped(segment);
        let found = match value {
            Value::Object(members) => members.get(&key),
            Value::Array(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
            _ => None,
        };
        value = found.ok_or_else(|| {
            Problem::not_found(text!("There is nothing at {pointer} of this state.", pointer))
                .remedy(text!("The state may have changed; look at it again."))
        })?;
    }
    Ok(value)
}

/// Returns the answer to `thread.value`: the value, or a range of a list or text; `bytes` and `length` are of the
/// whole.
pub(crate) fn part(value: &Value, offset: u32, limit: u32) -> ValueView {
    let (offset, limit) = (
        offset as usize,
        if limit == 0 { usize::MAX } else { limit as usize },
    );
    let part: Value = match value {
        Value::Array(items) => Value::Array(items.skip(offset).take(limit)),
        Value::String(text) if offset > 0 || limit < usize::MAX => {
            text.chars().skip(offset).take(limit).collect::<String>().into()
        }
        other => other.clone(),
    };
    ValueView {
        kind: value.type_name().to_owned(),
        bytes: small(bytes(value)),
        length: length(value),
        value: Some(part.into()),
        head: None,
    }
}

/// Returns whether `longer` is `shorter` with items added at the end.
pub(crate) fn is_appended(shorter: &List, longer: &List) -> bool {
    shorter.len() < longer.len() && shorter.iter().eq(longer.iter().take(shorter.len()))
}

/// Converts a question to the form that an interface receives.
pub(crate) fn interrupt_view(interrupt: &Interrupt) -> InterruptView {
    InterruptView {
        id: interrupt.id.to_string(),
        value: (&interrupt.value).into(),
    }
}

/// Characters of a title.
pub(crate) const MAX_TITLE: usize = 60;

/// Returns the first text in an input, on one line, cut to `limit` characters.
pub(crate) fn first_text(value: &Value, limit: usize) -> Option<String> {
    match value {
        Value::String(text) => {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let cut = line.chars().count() > limit;
            let mut title: String = line.chars().take(if cut { limit - 1 } else { limit }).collect();
            if cut {
                title.push('…');
            }
            (!title.is_empty()).then_some(title)
        }
        Value::Array(items) => items.iter().find_map(|item| first_text(item, limit)),
        Value::Object(members) => {
            // Of a message the content is meant, not its type or id.
            let content = members
                .get("content")
                .and_then(|content| first_text(content, limit));
            content.or_else(|| members.iter().find_map(|(_, value)| first_text(value, limit)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn small_values_are_whole_and_large_ones_have_a_head() {
        let small = view(&json!({"a": [1, 2]}));
        assert_eq!(
            (small.kind.as_str(), small.bytes, small.length, small.head),
            ("object", 11, 1, None)
        );
        let text: Value = "é".repeat(5_000).into();
        let large = view(&text);
        assert_eq!((large.length, large.bytes, large.value), (5_000, 10_002, None));
        assert_eq!(large.head.unwrap().chars().count(), MAX_HEAD);
        let list: Value = json!({"list": (0..5_000).collect::<Vec<_>>(), "text": "éééé"});
        assert!(view(&list).head.unwrap().starts_with("{\"list\":[0,1,2"));
    }

    #[test]
    fn parts_are_found_by_pointer_and_range() {
        let state = json!({"a/b": [10, 20, 30, 40], "text": "häuser"});
        let list = at(&state, "/a~1b").unwrap();
        let range = part(list, 1, 2);
        assert_eq!(
            (range.length, range.value.unwrap()),
            (4, serde_json::json!([20, 30]))
        );
        assert_eq!(at(&state, "/a~1b/3").unwrap(), &json!(40));
        assert_eq!(
            part(at(&state, "/text").unwrap(), 1, 3).value.unwrap(),
            serde_json::json!("äus")
        );
        assert_eq!(part(list, 9, 0).value.unwrap(), serde_json::json!([]));
        assert_eq!(at(&state, "/a~1b/4").unwrap_err().code, "not-found");
        assert_eq!(at(&state, "text").unwrap_err().code, "invalid-request");
        assert_eq!(at(&state, "").unwrap(), &state);
    }

    #[test]
    fn a_title_is_the_first_text_of_the_input() {
        assert_eq!(
            first_text(
                &json!({"n": 1, "messages": [{"type": "human", "content": " Hi\n there "}]}),
                60
            )
            .unwrap(),
            "Hi there"
        );
        assert_eq!(first_text(&json!({"n": 1}), 60), None);
        assert_eq!(first_text(&json!("abcdef"), 4).unwrap(), "abc…");
    }

    #[test]
    fn what_goes_over_whole_is_bounded_to_the_byte() {
        let text = |bytes: usize| Value::from("x".repeat(bytes - 2));
        let (fits, large) = (
            view(&text(MAX_INLINE as usize)),
            view(&text(MAX_INLINE as usize + 1)),
        );
        assert_eq!(
            (u64::from(fits.bytes), fits.value.is_some(), fits.head),
            (MAX_INLINE, true, None)
        );
        assert_eq!((u64::from(large.bytes), large.value), (MAX_INLINE + 1, None));
        let list: Value = json!((0..5_000).collect::<Vec<_>>());
        assert_eq!(view(&list).head.map(|head| head.len()), Some(MAX_HEAD));
        let wide: Value = json!(["é".repeat(5_000)]);
        let head = view(&wide).head.unwrap();
        assert!(
            head.starts_with("[\"éé") && head.ends_with('é'),
            "a letter is not cut: {head}"
        );
        assert_eq!(
            (view(&json!(7)).length, view(&json!(7)).kind.as_str()),
            (0, "integer")
        );
    }

    #[test]
    fn a_part_is_as_long_as_was_asked() {
        let text: Value = "abc".into();
        let of = |offset, limit| part(&text, offset, limit).value.unwrap();
        assert_eq!(
            (of(0, 0), of(0, 2), of(1, 0), of(2, 5)),
            ("abc".into(), "ab".into(), "bc".into(), "c".into())
        );
        let list = json!([1, 2, 3]);
        assert_eq!(part(&list, 0, 2).value.unwrap(), serde_json::json!([1, 2]));
        assert_eq!(
            part(&json!({"a": 1}), 1, 1).value.unwrap(),
            serde_json::json!({"a": 1})
        );
        assert_eq!(part(&list, 1, 1).bytes, 7, "the size is that of the whole");
    }

    #[test]
    fn a_list_is_appended_to_when_its_beginning_stays() {
        let lists = |a: Value, b: Value| match (a, b) {
            (Value::Array(a), Value::Array(b)) => is_appended(&a, &b),
            _ => unreachable!("lists"),
        };
        assert!(lists(json!([1]), json!([1, 2])));
        assert!(lists(json!([]), json!([1])));
        assert!(!lists(json!([1, 2]), json!([1, 2])), "the same is no addition");
        assert!(!lists(json!([1, 2]), json!([1])));
        assert!(!lists(json!([2]), json!([1, 2])));
    }

    #[test]
    fn titles_are_cut_where_they_are_too_long() {
        let title = |text: &str, limit| first_text(&text.into(), limit);
        assert_eq!(title("abcd", 4).as_deref(), Some("abcd"));
        assert_eq!(title("abcde", 4).as_deref(), Some("abc…"));
        assert_eq!(title(" \n ", 4), None);
        assert_eq!(first_text(&json!([1, "", "x"]), 9).as_deref(), Some("x"));
        assert_eq!(
            first_text(&json!({"type": "human", "content": 1, "text": "y"}), 9).as_deref(),
            Some("human")
        );
        assert_eq!(unescaped("a~1b~01"), "a/b~1");
    }
}
