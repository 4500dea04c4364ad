//! The differences between two states, as deep as they go.
//!
//! Objects are compared by key. A list whose items all have a text `id` (messages, records) is compared by that id, so
//! that one item that was put in front does not make every other one differ; any other list is compared by place
//! between what is equal at its beginning and at its end.

use std::collections::{HashMap, HashSet};

use superstep::{List, Object, Value};
use superstep_document::escape_pointer;

use crate::base::values;
use crate::wire::{ChangeKind, Difference};

/// Differences beyond this many are not listed.
const MAX_DIFFERENCES: usize = 500;

/// What two states differ in.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    pub(crate) found: Vec<Difference>,
    pub(crate) truncated: bool,
}

/// Compares two values.
pub(crate) fn compare(left: &Value, right: &Value) -> Differences {
    let mut differences = Differences::default();
    differences.values("", left, right);
    differences
}

impl Differences {
    fn full(&mut self) -> bool {
        self.truncated |= self.found.len() >= MAX_DIFFERENCES;
        self.truncated
    }

    fn add(&mut self, pointer: String, change: ChangeKind, left: Option<&Value>, right: Option<&Value>) {
        if !self.full() {
            self.found.push(Difference {
                pointer,
                change,
                left: left.map(values::view),
                right: right.map(values::view),
            });
        }
    }

    fn values(&mut self, pointer: &str, left: &Value, right: &Value) {
        if self.truncated || left == right {
            return;
        }
        match (left, right) {
            (Value::Object(left), Value::Object(right)) => self.objects(pointer, left, right),
            (Value::Array(left), Value::Array(right)) => match (ids(left), ids(right)) {
                (Some(left_ids), Some(right_ids)) => {
                    self.by_id(pointer, (left, &left_ids), (right, &right_ids))
                }
                _ => self.by_place(pointer, left, right),
            },
            _ => self.add(pointer.to_owned(), ChangeKind::Changed, Some(left), Some(right)),
        }
    }

    fn objects(&mut self, pointer: &str, left: &Object, right: &Object) {
        for (key, value) in left.iter() {
            let place = format!("{pointer}/{}", escape_pointer(key));
            match right.get(key) {
                Some(other) => self.values(&place, value, other),
                None => self.add(place, ChangeKind::Removed, Some(value), None),
            }
        }
        for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(key)) {
            self.add(
                format!("{pointer}/{}", escape_pointer(key)),
                ChangeKind::Added,
                None,
                Some(value),
            );
        }
    }

    fn by_id(
        &mut self,
        pointer: &str,
        (left, left_ids): (&List, &[&str]),
        (right, right_ids): (&List, &[&str]),
    ) {
        let there: HashSet<&str> = right_ids.iter().copied().collect();
        for (index, (id, value)) in left_ids.iter().zip(left.iter()).enumerate() {
            if !there.contains(id) {
                self.add(
                    format!("{pointer}/{index}"),
                    ChangeKind::Removed,
                    Some(value),
                    None,
                );
            }
        }
        let before: HashMap<&str, &Value> = left_ids.iter().copied().zip(left.iter()).collect();
        let last_kept = right_ids.iter().rposition(|id| before.contains_key(id));
        for (index, (id, value)) in right_ids.iter().zip(right.iter()).enumerate() {
            let place = format!("{pointer}/{index}");
            match before.get(id) {
                Some(other) => self.values(&place, other, value),
                None if last_kept.is_none_or(|last| index > last) => {
                    self.add(place, ChangeKind::Appended, None, Some(value));
                }
                None => self.add(place, ChangeKind::Added, None, Some(value)),
            }
        }
        let kept = |ids: &[&str], others: &HashSet<&str>| -> Vec<String> {
            ids.iter()
                .filter(|id| others.contains(*id))
                .map(|id| (*id).to_owned())
                .collect()
        };
        let (left_set, right_set) = (left_ids.iter().copied().collect(), there);
        if kept(left_ids, &right_set) != kept(right_ids, &left_set) {
            // The same items in another order: only the list as a whole shows it.
            self.add(
                pointer.to_owned(),
                ChangeKind::Changed,
                Some(&left.clone().into()),
                Some(&right.clone().into()),
            );
        }
    }

    fn by_place(&mut self, pointer: &str, left: &List, right: &List) {
        let shorter = left.len().min(right.len());
        let start = left.iter().zip(right.iter()).take_while(|(a, b)| a == b).count();
        let end = left
            .iter()
            .rev()
            .zip(right.iter().rev())
            .take(shorter - start)
            .take_while(|(a, b)| a == b)
            .count();
        let (left_end, right_end) = (left.len() - end, right.len() - end);
        let paired = (left_end - start).min(right_end - start);
        for index in start..start + paired {
            if let (Some(a), Some(b)) = (left.get(index), right.get(index)) {
                self.values(&format!("{pointer}/{index}"), a, b);
            }
        }
        for index in start + paired..left_end {
            self.add(
                format!("{pointer}/{index}"),
                ChangeKind::Removed,
                left.get(index),
                None,
            );
            if self.truncated {
                return;
            }
        }
        let change = if end == 0 {
            ChangeKind::Appended
        } else {
            ChangeKind::Added
        };
        for index in start + paired..right_end {
            self.add(format!("{pointer}/{index}"), change, None, right.get(index));
            if self.truncated {
                return;
            }
        }
    }
}

/// The ids of a list's items, when every item has its own.
fn ids(list: &List) -> Option<Vec<&str>> {
    let ids: Option<Vec<&str>> = list
        .iter()
        .map(|item| item.get("id")?.as_str().filter(|id| !id.is_empty()))
        .collect();
    let ids = ids?;
    let unique: HashSet<&str> = ids.iter().copied().collect();
    (unique.len() == ids.len()).then_some(ids)
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    fn print(left: Value, right: Value) -> Vec<String> {
        let show = |view: &Option<crate::wire::ValueView>| {
            view.as_ref().map_or("-".to_owned(), |v| {
                v.value.as_ref().map_or("…".into(), ToString::to_string)
            })
        };
        compare(&left, &right)
            .found
            .iter()
            .map(|d| {
                format!(
                    "{} {:?} {} {}",
                    d.pointer,
                    d.change,
                    show(&d.left),
                    show(&d.right)
                )
            })
            .collect()
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
        let moved = print(
            json!([{"id": "a"}, {"id": "b"}]),
            json!([{"id": "b"}, {"id": "a"}]),
        );
        assert_eq!(moved.len(), 1, "another order is one difference: {moved:?}");
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
        let found = compare(&wide(1), &wide(2));
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
