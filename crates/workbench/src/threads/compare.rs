//! The differences between two states, as deep as they go.
//!
//! Objects are compared by key. A list whose items all have a text `id` (messages, records) is compared by that id, so
//! that one item that was put in front does not make every other one differ, and one that stands elsewhere has moved and
//! not changed; any other list is compared by its longest common part.

use std::collections::{HashMap, HashSet};

use superstep::Value;
use superstep::value::{List, Object};
use superstep_document::escape_pointer;

use crate::base::values;
use crate::threads::align::{common, rising};
use crate::wire::{ChangeKind, Difference};

/// Differences beyond this many are not listed.
const MAX_DIFFERENCES: usize = 500;

/// Differences between two states.
#[derive(Debug, Default)]
pub struct Differences<'a> {
    /// The first of them.
    pub found: Vec<Differing<'a>>,
    /// There are more than are listed.
    pub truncated: bool,
}

/// One difference, with the values themselves.
#[derive(Debug)]
pub struct Differing<'a> {
    /// JSON Pointer to the value on the right; on the left when it is gone.
    pub pointer: String,
    /// Where the value stood on the left, when that is elsewhere.
    pub left_pointer: Option<String>,
    /// What changed from left to right.
    pub change: ChangeKind,
    /// On the left.
    pub left: Option<&'a Value>,
    /// On the right.
    pub right: Option<&'a Value>,
}

/// Compares two values.
pub fn compare<'a>(left: &'a Value, right: &'a Value) -> Differences<'a> {
    let mut differences = Differences::default();
    differences.values(&ComparedPaths::default(), left, right);
    differences
}

/// Positions of two compared values, on both sides.
#[derive(Clone, Debug, Default)]
struct ComparedPaths {
    left: String,
    right: String,
}

impl ComparedPaths {
    fn key(&self, key: &str) -> Self {
        let key = escape_pointer(key);
        Self {
            left: format!("{}/{key}", self.left),
            right: format!("{}/{key}", self.right),
        }
    }

    fn items(&self, left: usize, right: usize) -> Self {
        Self {
            left: format!("{}/{left}", self.left),
            right: format!("{}/{right}", self.right),
        }
    }
}

impl<'a> Differences<'a> {
    /// Converts the differences to the form that interfaces receive.
    pub(crate) fn views(&self) -> Vec<Difference> {
        let view = |found: &Differing<'_>| Difference {
            pointer: found.pointer.clone(),
            left_pointer: found.left_pointer.clone(),
            change: found.change,
            left: found.left.map(values::view),
            right: found.right.map(values::view),
        };
        self.found.iter().map(view).collect()
    }

    fn add(&mut self, found: Differing<'a>) {
        self.truncated |= self.found.len() >= MAX_DIFFERENCES;
        if !self.truncated {
            self.found.push(found);
        }
    }

    /// Adds a value that is on the left only.
    fn removed(&mut self, pointer: String, value: Option<&'a Value>) {
        self.add(Differing {
            pointer,
            left_pointer: None,
            change: ChangeKind::Removed,
            left: value,
            right: None,
        });
    }

    /// Adds a value that is on the right only.
    fn came(&mut self, pointer: String, change: ChangeKind, value: Option<&'a Value>) {
        self.add(Differing {
            pointer,
            left_pointer: None,
            change,
            left: None,
            right: value,
        });
    }

    /// Adds a value that is on both sides, with another content or in another place.
    fn both(&mut self, place: &ComparedPaths, change: ChangeKind, left: &'a Value, right: &'a Value) {
        self.add(Differing {
            pointer: place.right.clone(),
            left_pointer: (place.left != place.right).then(|| place.left.clone()),
            change,
            left: Some(left),
            right: Some(right),
        });
    }

    fn values(&mut self, place: &ComparedPaths, left: &'a Value, right: &'a Value) {
        if self.truncated || left == right {
            return;
        }
        match (left, right) {
            (Value::Object(left), Value::Object(right)) => self.objects(place, left, right),
            (Value::Array(left), Value::Array(right)) => match (ids(left), ids(right)) {
                (Some(left_ids), Some(right_ids)) => {
                    self.by_id(place, (left, &left_ids), (right, &right_ids));
                }
                _ => self.by_place(place, left, right),
            },
            _ => self.both(place, ChangeKind::Changed, left, right),
        }
    }

    fn objects(&mut self, place: &ComparedPaths, left: &'a Object, right: &'a Object) {
        for (key, value) in left.iter() {
            let place = place.key(key);
            match right.get(key) {
                Some(other) => self.values(&place, value, other),
                None => self.removed(place.left, Some(value)),
            }
        }
        for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(key)) {
            self.came(place.key(key).right, ChangeKind::Added, Some(value));
        }
    }

    fn by_id(
        &mut self,
        place: &ComparedPaths,
        (left, left_ids): (&'a List, &[&str]),
        (right, right_ids): (&'a List, &[&str]),
    ) {
        let old_places = old_places((left, left_ids), (right, right_ids));
        let kept: Vec<usize> = old_places.iter().copied().flatten().collect();
        let stay: HashSet<usize> = kept.iter().copied().collect();
        for (index, value) in left.iter().enumerate() {
            if !stay.contains(&index) {
                self.removed(place.items(index, index).left, Some(value));
            }
        }
        let mut stays = rising(&kept).into_iter();
        let last_kept = old_places.iter().rposition(Option::is_some);
        for (index, (old, value)) in old_places.iter().zip(right.iter()).enumerate() {
            let old = old.and_then(|old| Some((old, left.get(old)?)));
            let Some((old, other)) = old else {
                let change = match last_kept.is_none_or(|last| index > last) {
                    true => ChangeKind::Appended,
                    false => ChangeKind::Added,
                };
                self.came(place.items(index, index).right, change, Some(value));
                continue;
            };
            let place = place.items(old, index);
            if !stays.next().unwrap_or(true) {
                self.both(&place, ChangeKind::Moved, other, value);
            }
            if !says_the_same(other, value) {
                self.values(&place, other, value);
            }
        }
    }

    fn by_place(&mut self, place: &ComparedPaths, left: &'a List, right: &'a List) {
        let pairs = common(left.len(), right.len(), |a, b| left.get(a) == right.get(b));
        let ends = [(left.len(), right.len())];
        let (mut left_at, mut right_at) = (0, 0);
        for (left_end, right_end) in pairs.into_iter().chain(ends) {
            // What stands between two equal items on both sides took the other's place.
            let paired = (left_end - left_at).min(right_end - right_at);
            for offset in 0..paired {
                let (a, b) = (left_at + offset, right_at + offset);
                if let (Some(old), Some(new)) = (left.get(a), right.get(b)) {
                    self.values(&place.items(a, b), old, new);
                }
            }
            for index in left_at + paired..left_end {
                self.removed(place.items(index, index).left, left.get(index));
            }
            let change = match right_end == right.len() {
                true => ChangeKind::Appended,
                false => ChangeKind::Added,
            };
            for index in right_at + paired..right_end {
                self.came(place.items(index, index).right, change, right.get(index));
            }
            if self.truncated {
                return;
            }
            (left_at, right_at) = (left_end + 1, right_end + 1);
        }
    }
}

/// Returns where each item on the right stood on the left: the item of its id, or else a message that says the same under
/// another id, which every run makes for itself.
fn old_places(
    (left, left_ids): (&List, &[&str]),
    (right, right_ids): (&List, &[&str]),
) -> Vec<Option<usize>> {
    let (there, before) = (places(right_ids), places(left_ids));
    let mut old: Vec<Option<usize>> = right_ids.iter().map(|id| before.get(id).copied()).collect();
    let gone: Vec<usize> = (left_ids.iter().enumerate())
        .filter(|(_, id)| !there.contains_key(*id))
        .map(|(index, _)| index)
        .collect();
    let came: Vec<usize> = (old.iter().enumerate())
        .filter(|(_, old)| old.is_none())
        .map(|(index, _)| index)
        .collect();
    let same = |a: usize, b: usize| match (left.get(gone[a]), right.get(came[b])) {
        (Some(left), Some(right)) => says_the_same(left, right),
        _ => false,
    };
    for (a, b) in common(gone.len(), came.len(), same) {
        old[came[b]] = Some(gone[a]);
    }
    old
}

/// Keys of messages and of their calls that each run makes for itself.
const GENERATED: [&str; 2] = ["id", "tool_call_id"];

/// Checks whether two values are messages, or calls of tools, that say the same whatever their ids are.
fn says_the_same(left: &Value, right: &Value) -> bool {
    let is_either = |value: &Value, keys: [&str; 2]| keys.iter().all(|key| value.get(key).is_some());
    let is_one = |value: &Value| is_either(value, ["type", "content"]) || is_either(value, ["name", "args"]);
    let (Value::Object(a), Value::Object(b)) = (left, right) else {
        return false;
    };
    is_one(left)
        && a.len() == b.len()
        && (a.iter()).all(|(key, value)| match (b.get(key), value) {
            (None, _) => false,
            (Some(Value::String(_)), Value::String(_)) if GENERATED.contains(&&**key) => true,
            (Some(Value::Array(others)), Value::Array(calls)) if &**key == "tool_calls" => {
                let same = |(call, other): (&Value, &Value)| call == other || says_the_same(call, other);
                calls.len() == others.len() && calls.iter().zip(others.iter()).all(same)
            }
            (Some(other), value) => other == value,
        })
}

fn places<'a>(ids: &[&'a str]) -> HashMap<&'a str, usize> {
    ids.iter().enumerate().map(|(place, id)| (*id, place)).collect()
}

/// Returns the ids of a list's items if every item has its own.
fn ids(list: &List) -> Option<Vec<&str>> {
    let ids: Option<Vec<&str>> = list
        .iter()
        .map(|item| item.get("id")?.as_str().filter(|id| !id.is_empty()))
        .collect();
    ids.filter(|ids| places(ids).len() == ids.len())
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    fn print(left: Value, right: Value) -> Vec<String> {
        let show = |value: Option<&Value>| {
            value.map_or("-".to_owned(), |value| {
                serde_json::to_string(value).expect("a value is JSON")
            })
        };
        let line = |d: &Differing<'_>| {
            let from = d
                .left_pointer
                .as_ref()
                .map_or(String::new(), |from| format!("{from} -> "));
            format!(
                "{from}{} {:?} {} {}",
                d.pointer,
                d.change,
                show(d.left),
                show(d.right)
            )
        };
        compare(&left, &right).found.iter().map(line).collect()
    }

    #[test]
    fn objects_differ_by_key_and_depth() {
        assert_eq!(
            print(
                json!({"a": 1, "b": {"c": 1, "d/e": 2}, "x": 0}),
                json!({"a": 1, "b": {"c": 2, "d/e": 2}, "y": null})
            ),
            ["/b/c Changed 1 2", "/x Removed 0 -", "/y Added - null"]
        );
        assert!(print(json!([1, {"a": 2}]), json!([1, {"a": 2}])).is_empty());
        assert_eq!(print(json!(1), json!([1])), [" Changed 1 [1]"]);
    }

    #[test]
    fn lists_are_compared_by_place_between_equal_ends() {
        assert_eq!(
            print(json!([1, 2, 3]), json!([1, 2, 3, 4, 5])),
            ["/3 Appended - 4", "/4 Appended - 5"]
        );
        assert_eq!(print(json!([1, 2, 3]), json!([1, 9, 2, 3])), ["/1 Added - 9"]);
        assert_eq!(print(json!([1, 2, 3]), json!([1, 3])), ["/1 Removed 2 -"]);
        assert_eq!(print(json!([1, 1]), json!([1, 1, 1])), ["/2 Appended - 1"]);
        assert_eq!(print(json!([]), json!([7])), ["/0 Appended - 7"]);
    }

    #[test]
    fn items_with_ids_are_compared_by_id() {
        let left = json!([{"id": "a", "t": 1}, {"id": "b", "t": 2}]);
        let right = json!([{"id": "z", "t": 0}, {"id": "b", "t": 3}, {"id": "c", "t": 4}]);
        assert_eq!(
            print(left, right),
            [
                r#"/0 Removed {"id":"a","t":1} -"#,
                r#"/0 Added - {"id":"z","t":0}"#,
                "/1/t Changed 2 3",
                r#"/2 Appended - {"id":"c","t":4}"#
            ]
        );
    }

    #[test]
    fn messages_that_say_the_same_are_equal_whatever_ids_their_runs_made() {
        let said = |id: &str, text: &str| json!({"id": id, "type": "ai", "content": text});
        let call = |id: &str, call: &str| {
            json!({"id": id, "type": "ai", "content": "",
                "tool_calls": [{"id": call, "name": "look", "args": {"n": 1}}]})
        };
        let result =
            |id: &str, call: &str| json!({"id": id, "type": "tool", "content": "7", "tool_call_id": call});
        let left = json!([
            said("a", "hi"),
            call("b", "c1"),
            result("c", "c1"),
            said("d", "seven")
        ]);
        let right = json!([
            said("q", "hi"),
            call("r", "c2"),
            result("s", "c2"),
            said("t", "7!"),
            said("u", "bye")
        ]);
        assert_eq!(
            print(left, right),
            [
                r#"/3 Removed {"id":"d","type":"ai","content":"seven"} -"#,
                r#"/3 Appended - {"id":"t","type":"ai","content":"7!"}"#,
                r#"/4 Appended - {"id":"u","type":"ai","content":"bye"}"#,
            ]
        );
        // After a beginning that both have, as branches of a thread do.
        let left = json!([said("a", "hi"), said("b", "same")]);
        assert!(print(left, json!([said("a", "hi"), said("x", "same")])).is_empty());
        // Records are known by their ids.
        let record = |id: &str| json!([{"id": id, "amount": 7}]);
        assert_eq!(print(record("1"), record("2")).len(), 2);
    }

    #[test]
    fn an_item_that_stands_elsewhere_has_moved() {
        assert_eq!(
            print(
                json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]),
                json!([{"id": "c"}, {"id": "a"}, {"id": "b"}]),
            ),
            [r#"/2 -> /0 Moved {"id":"c"} {"id":"c"}"#],
            "the others only made room"
        );
        assert_eq!(
            print(
                json!([{"id": "a", "t": 1}, {"id": "b"}, {"id": "c"}]),
                json!([{"id": "b"}, {"id": "c"}, {"id": "a", "t": 2}]),
            ),
            [
                r#"/0 -> /2 Moved {"id":"a","t":1} {"id":"a","t":2}"#,
                "/0/t -> /2/t Changed 1 2"
            ],
            "and its content is compared with what it was"
        );
    }

    #[test]
    fn items_without_ids_that_made_room_are_equal() {
        assert_eq!(
            print(json!([1, 2, 3, 4]), json!([2, 3, 5, 4, 6])),
            ["/0 Removed 1 -", "/2 Added - 5", "/4 Appended - 6"]
        );
        assert_eq!(
            print(json!([0, {"n": 1}, 2]), json!([2, 0, {"n": 3}, 2])),
            ["/0 Added - 2", "/1/n -> /2/n Changed 1 3"]
        );
    }

    #[test]
    fn many_differences_are_cut() {
        let left: Value = (0..2_000).map(|n| json!({"n": n})).collect::<Vec<_>>().into();
        let right: Value = (0..2_000)
            .map(|n| json!({"n": n + 1, "m": 0}))
            .collect::<Vec<_>>()
            .into();
        let differences = compare(&left, &right);
        assert_eq!(
            (differences.found.len(), differences.truncated),
            (MAX_DIFFERENCES, true)
        );
    }

    #[test]
    fn as_many_differences_as_are_listed_are_not_cut() {
        let of = |count: usize| -> Value { (0..count).map(|n| json!(n)).collect::<Vec<_>>().into() };
        for (count, cut) in [(MAX_DIFFERENCES, false), (MAX_DIFFERENCES + 1, true)] {
            for (left, right) in [(of(0), of(count)), (of(count), of(0))] {
                let found = compare(&left, &right);
                assert_eq!(
                    (found.found.len(), found.truncated),
                    (MAX_DIFFERENCES, cut),
                    "{count}"
                );
            }
        }
        let wide = |value: usize| -> Value {
            Value::Object(
                (0..MAX_DIFFERENCES + 1)
                    .map(|n| (n.to_string(), json!(value)))
                    .collect(),
            )
        };
        let (left, right) = (wide(1), wide(2));
        let found = compare(&left, &right);
        assert_eq!((found.found.len(), found.truncated), (MAX_DIFFERENCES, true));
    }

    #[test]
    fn items_without_ids_of_their_own_are_compared_by_place() {
        let twice = json!([{"id": "a", "t": 1}, {"id": "a", "t": 2}]);
        assert_eq!(
            print(twice, json!([{"id": "a", "t": 1}, {"id": "a", "t": 3}])),
            ["/1/t Changed 2 3"]
        );
        let empty = json!([{"id": "", "t": 1}]);
        assert_eq!(print(empty, json!([{"id": "", "t": 2}])), ["/0/t Changed 1 2"]);
        assert_eq!(
            print(json!([{"id": "a"}]), json!([{"id": 1}])),
            ["/0/id Changed \"a\" 1"]
        );
    }

    #[test]
    fn the_middle_of_a_list_is_paired_and_the_rest_came_or_went() {
        assert_eq!(
            print(json!([0, 1, 2, 9]), json!([0, 7, 9])),
            ["/1 Changed 1 7", "/2 Removed 2 -"]
        );
        assert_eq!(
            print(json!([0, 1, 9]), json!([0, 7, 8, 9])),
            ["/1 Changed 1 7", "/2 Added - 8"]
        );
        assert_eq!(
            print(json!([1, 2]), json!([])),
            ["/0 Removed 1 -", "/1 Removed 2 -"]
        );
        assert_eq!(
            print(json!([{"id": "a"}]), json!([{"id": "b"}, {"id": "c"}])),
            [
                r#"/0 Removed {"id":"a"} -"#,
                r#"/0 Appended - {"id":"b"}"#,
                r#"/1 Appended - {"id":"c"}"#
            ],
            "none of the old ones is left"
        );
        assert_eq!(
            print(json!([{"id": "a"}, {"id": "b"}]), json!([{"id": "b"}])),
            [r#"/0 Removed {"id":"a"} -"#]
        );
    }
}
