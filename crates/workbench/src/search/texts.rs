//! The texts that a step wrote: what is in its state and was not in that of the step before, what its tasks asked, and why
//! they failed. Secrets that this process knows are not among them.

use std::borrow::Cow;

use superstep::Value;
use superstep::checkpoint::PendingWrite;
use superstep::checkpoint::reserved;
use superstep::value::Object;
use superstep_document::escape_pointer;
use superstep_nodes::secrets::redact;

use crate::base::values::is_appended;
use crate::wire::MomentReason;

/// Items of lists that are compared one by one; those of longer lists are compared by their places.
const MAX_COMPARED: usize = 256;
/// Values within each other that are looked into.
const MAX_DEPTH: usize = 64;

/// A text with its place.
#[derive(Debug)]
pub(super) struct PlacedText<'a> {
    pub(super) reason: MomentReason,
    pub(super) pointer: &'a str,
    pub(super) text: Cow<'a, str>,
}

/// Receiver of each text.
type Sink<'s> = &'s mut dyn FnMut(PlacedText<'_>);

struct ValueWalk<'s> {
    reason: MomentReason,
    pointer: String,
    sink: Sink<'s>,
}

impl ValueWalk<'_> {
    fn at(&mut self, segment: &str, work: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&escape_pointer(segment));
        work(self);
        self.pointer.truncate(length);
    }

    fn text(&mut self, text: Cow<'_, str>) {
        let text = match &text {
            Cow::Borrowed(text) => redact(text),
            Cow::Owned(text) => Cow::Owned(redact(text).into_owned()),
        };
        (self.sink)(PlacedText {
            reason: self.reason,
            pointer: &self.pointer,
            text,
        });
    }

    /// Emits the texts of `now` that `before` does not have.
    fn added(&mut self, before: Option<&Value>, now: &Value, depth: usize) {
        if depth > MAX_DEPTH || before == Some(now) {
            return;
        }
        match now {
            Value::String(text) => self.text(Cow::Borrowed(&**text)),
            Value::Number(number) => self.text(Cow::Owned(number.to_string())),
            Value::Null | Value::Bool(_) => {}
            Value::Object(members) => {
                let before = before.and_then(Value::as_object);
                for (name, value) in members.iter() {
                    let before = before.and_then(|before| before.get(name));
                    self.at(name, |walk| walk.added(before, value, depth + 1));
                }
            }
            Value::Array(items) => {
                let old = before.and_then(Value::as_array);
                let kept = match old {
                    Some(old) if is_appended(old, items) => old.len(),
                    _ => 0,
                };
                let by_place = items.len() > MAX_COMPARED;
                for (place, item) in items.iter().enumerate().skip(kept) {
                    let same = |old: &superstep::value::List| match by_place {
                        true => old.get(place) == Some(item),
                        false => old.iter().any(|old| old == item),
                    };
                    if kept == 0 && old.is_some_and(same) {
                        continue;
                    }
                    // A message that grew is written as a whole: what it was before says nothing.
                    self.at(&place.to_string(), |walk| walk.added(None, item, depth + 1));
                }
            }
        }
    }
}

/// Gives the texts that a state has and the one before it had not.
pub(super) fn written(before: &Object, now: &Object, sink: Sink<'_>) {
    let mut walk = ValueWalk {
        reason: MomentReason::State,
        pointer: String::new(),
        sink,
    };
    for (name, value) in now.iter() {
        walk.at(name, |walk| walk.added(before.get(name), value, 0));
    }
}

/// Gives what the tasks of a checkpoint asked, and why they failed.
pub(super) fn of_tasks(writes: &[PendingWrite], sink: Sink<'_>) {
    for write in writes {
        let reason = match &*write.write.channel {
            reserved::INTERRUPT => MomentReason::Question,
            reserved::ERROR => MomentReason::Error,
            _ => continue,
        };
        let mut walk = ValueWalk {
            reason,
            pointer: String::new(),
            sink: &mut *sink,
        };
        walk.added(None, &write.write.value, 0);
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    fn new(before: &Value, now: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let [before, now] = [before, now].map(|value| value.as_object().expect("an object"));
        written(before, now, &mut |text| {
            found.push(format!("{} {}", text.pointer, text.text))
        });
        found
    }

    #[test]
    fn only_what_is_new_is_given() {
        for (before, now, expected) in [
            (
                json!({"a": "x", "b": 1}),
                json!({"a": "x", "b": 2, "c": null}),
                vec!["/b 2"],
            ),
            (json!({"l": ["a"]}), json!({"l": ["a", "b"]}), vec!["/l/1 b"]),
            (json!({"l": ["a", "b"]}), json!({"l": ["b"]}), vec![]),
            (json!({"l": ["a", "b"]}), json!({"l": ["b", "c"]}), vec!["/l/1 c"]),
            (
                json!({"o": {"p/q": "x", "r": "y"}}),
                json!({"o": {"p/q": "z", "r": "y"}}),
                vec!["/o/p~1q z"],
            ),
        ] {
            assert_eq!(new(&before, &now), expected, "{now}");
        }
    }

    #[test]
    fn a_value_of_any_depth_ends() {
        let mut deep = json!("bottom");
        for _ in 0..500 {
            deep = json!([deep]);
        }
        assert!(new(&json!({}), &json!({"deep": deep})).is_empty());
    }
}
