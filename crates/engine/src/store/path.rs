//! Paths into values: what of an item is searched.
//!
//! | path | selects |
//! |---|---|
//! | `$`, or empty | the whole value |
//! | `a.b` | the member `b` of the member `a` |
//! | `a[0]`, `a[-1]` | the first, the last item of a list |
//! | `a[*]` | every item of a list |
//! | `a.*` | every member of an object, or item of a list |
//! | `{a,b.c}` | several paths at once |
//!
//! What is not there is passed over.

use super::error::StoreError;
use crate::value::Value;

/// A path that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Item(i64),
    EachItem,
    Each,
    Several(Vec<Path>),
}

impl Path {
    /// Reads a path.
    pub fn parse(path: &str) -> Result<Self, StoreError> {
        steps(path).map(Self).map_err(|reason| StoreError::Path {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
    }

    /// Selects the parts of a value that the path leads to.
    pub fn select<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = Vec::new();
        follow(&self.0, value, &mut found);
        found
    }

    /// Returns the texts of these parts: text as it is, numbers and booleans as JSON shows them, anything larger as
    /// JSON with sorted keys. Null has no text.
    pub fn texts(&self, value: &Value) -> Vec<String> {
        self.select(value).into_iter().filter_map(text).collect()
    }
}

fn steps(path: &str) -> Result<Vec<Step>, &'static str> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').map_or(path, |rest| {
        // `$` is the whole value, `$.a` the same as `a`; `$a` is a member of that name.
        if rest.is_empty() || rest.starts_with(['.', '[']) {
            rest
        } else {
            path
        }
    });
    while let Some(first) = rest.chars().next() {
        match first {
            '.' => rest = &rest[1..],
            '[' => {
                let end = rest.find(']').ok_or("a bracket is not closed. Add `]`.")?;
                steps.push(match rest[1..end].trim() {
                    "*" => Step::EachItem,
                    number => Step::Item(number.parse().map_err(
                        |_| "brackets hold a whole number or `*`. Name members with dots, as in `a.b`.",
                    )?),
                });
                rest = &rest[end + 1..];
            }
            '{' => {
                let end = closing(rest).ok_or("a brace is not closed. Add `}`.")?;
                let several = separated(&rest[1..end])
                    .into_iter()
                    .map(|path| self::steps(path.trim()).map(Path));
                steps.push(Step::Several(several.collect::<Result<_, _>>()?));
                rest = &rest[end + 1..];
            }
            _ => {
                let end = rest.find(['.', '[', '{']).unwrap_or(rest.len());
                steps.push(match &rest[..end] {
                    "*" => Step::Each,
                    name => Step::Member(name.to_owned()),
                });
                rest = &rest[end..];
            }
        }
    }
    Ok(steps)
}

/// Finds the brace that closes the one at the beginning.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0;
    text.char_indices().find_map(|(at, c)| {
        open += i32::from(c == '{') - i32::from(c == '}');
        (open == 0).then_some(at)
    })
}

/// Returns the parts between commas that are not in inner braces.
fn separated(text: &str) -> Vec<&str> {
    let (mut open, mut from, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        open += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && open == 0 {
            parts.push(&text[from..at]);
            from = at + 1;
        }
    }
    parts.push(&text[from..]);
    parts
}

fn follow<'a>(steps: &[Step], value: &'a Value, found: &mut Vec<&'a Value>) {
    let Some((step, rest)) = steps.split_first() else {
        found.push(value);
        return;
    };
    match (step, value) {
        (Step::Member(name), Value::Object(object)) => {
            if let Some(member) = object.get(name) {
                follow(rest, member, found);
            }
        }
        (Step::Item(index), Value::Array(items)) => {
            let from_end = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
            let place = if *index < 0 {
                items.len().checked_sub(from_end)
            } else {
                Some(from_end)
            };
            if let Some(item) = place.and_then(|place| items.get(place)) {
                follow(rest, item, found);
            }
        }
        (Step::EachItem | Step::Each, Value::Array(items)) => {
            items.iter().for_each(|item| follow(rest, item, found))
        }
        (Step::Each, Value::Object(object)) => {
            object.iter().for_each(|(_, member)| follow(rest, member, found))
        }
        (Step::Several(paths), value) => {
            for path in paths {
                path.select(value)
                    .into_iter()
                    .for_each(|part| follow(rest, part, found));
            }
        }
        _ => {}
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.to_string()),
        other => {
            let mut text = String::new();
            write(other, &mut text);
            Some(text)
        }
    }
}

/// Writes JSON with sorted keys, so that equal values have equal texts and equal vectors.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push_str(", ");
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (place, (key, member)) in members.into_iter().enumerate() {
                if place > 0 {
                    text.push_str(", ");
                }
                text.push_str(&Value::String(key.clone()).to_string());
                text.push_str(": ");
                write(member, text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn paths_lead_to_texts() {
        let value = json!({
            "name": "Ada", "age": 36, "active": true, "none": null,
            "info": {"tags": ["x", "y", "z"], "address": {"city": "London", "zip": "E1"}},
            "items": [{"v": 1, "n": {"k": "a"}}, {"v": 2}, "plain"],
            "$price": "high",
        });
        let texts = |path: &str| Path::parse(path).unwrap().texts(&value);
        let cases: &[(&str, &[&str])] = &[
            ("name", &["Ada"]),
            ("age", &["36"]),
            ("active", &["true"]),
            ("none", &[]),
            ("missing.deep", &[]),
            ("info.address.city", &["London"]),
            ("$.info.address.city", &["London"]),
            ("$price", &["high"]),
            ("info.address", &[r#"{"city": "London", "zip": "E1"}"#]),
            ("info.tags[0]", &["x"]),
            ("info.tags[-1]", &["z"]),
            ("{info.{address.city,tags[0]},name}", &["London", "x", "Ada"]),
            ("info.tags[-4]", &[]),
            ("info.tags[9]", &[]),
            ("info.tags[*]", &["x", "y", "z"]),
            ("info.tags", &[r#"["x", "y", "z"]"#]),
            ("info.address.*", &["London", "E1"]),
            ("items[*].v", &["1", "2"]),
            ("items.*.v", &["1", "2"]),
            ("items[0].n.k", &["a"]),
            ("{name,age}", &["Ada", "36"]),
            ("{name, info.address.city}", &["Ada", "London"]),
            ("info.address.{city,zip}", &["London", "E1"]),
            ("info.{tags[0],address.{city,zip}}", &["x", "London", "E1"]),
            ("name[0]", &[]),
            ("info[0]", &[]),
        ];
        for (path, want) in cases {
            assert_eq!(texts(path), *want, "{path}");
        }
        let whole = json!({"b": [1, "ü"], "a": {"d": null, "c": 0.5}});
        let text = r#"{"a": {"c": 0.5, "d": null}, "b": [1, "ü"]}"#;
        assert_eq!(Path::parse("$").unwrap().texts(&whole), [text]);
        assert_eq!(Path::parse("").unwrap().texts(&whole), [text]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["a[", "a[b]", "{a,b", "a.{b,{c}"] {
            let error = Path::parse(path).unwrap_err().to_string();
            assert!(error.contains(path), "{error}");
        }
    }
}
