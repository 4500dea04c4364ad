//! The differences between two states, as deep as they go.
//!
//! Objects are compared by key. A list whose items all have a text `id` (messages, records) is compared by that id, so
//! that one item that was put in front does not make every other one differ, and one that stands elsewhere has moved and
//! not changed; any other list is compared by its longest common part.

use std::collections::HashMap;

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
        let there: HashMap<&str, usize> = places(right_ids);
        let before: HashMap<&str, usize> = places(left_ids);
        for (index, (id, value)) in left_ids.iter().zip(left.iter()).enumerate() {
            if !there.contains_key(id) {
                self.removed(place.items(index, index).left, Some(value));
            }
        }
        let kept: Vec<usize> = right_ids
            .iter()
            .filter_map(|id| before.get(id).copied())
            .collect();
        let mut stays = rising(&kept).into_iter();
        let last_kept = right_ids.iter().rposition(|id| before.contains_key(id));
        for (index, (id, value)) in right_ids.iter().zip(right.iter()).enumerate() {
            let old = before.get(id).and_then(|old| Some((*old, left.get(*old)?)));
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
            self.values(&place, other, value);
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
