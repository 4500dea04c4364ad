//! What values must hold to be found.
//!
//! A filter is an object. Each entry names a field of the value and says what is asked of it:
//!
//! - a plain value: the field is equal to it; `null` is also equal to a missing field;
//! - an object with operators, all of which must hold: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`;
//! - any other object: the field is an object whose entries are asked in the same way;
//! - a list: the field is a list of the same length, whose items are asked in the same way.
//!
//! Numbers are compared as numbers (1 is equal to 1.0), texts by their code points. Anything else, also a missing
//! field, is neither more nor less than anything, and `$ne` does not hold for a field that is missing or null.

use std::cmp::Ordering;
use std::sync::Arc;

use super::error::StoreError;
use crate::value::{Number, Object, Value};

/// A filter that has been read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter(pub Vec<(String, Test)>);

/// A test of one field.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The field is this value; null stands for a missing field, too.
    Is(Value),
    /// The field has a value, and not this one.
    IsNot(Value),
    /// The field and the value are both numbers or both texts, and the field compares to it like this.
    Compares(Comparison, Value),
    /// All of these hold.
    All(Vec<Test>),
    /// The field is an object for which the filter holds.
    Object(Filter),
    /// The field is a list of as many items as there are tests, and each test holds for its item.
    List(Vec<Test>),
}

/// An order between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `$gt`
    More,
    /// `$gte`
    AtLeast,
    /// `$lt`
    Less,
    /// `$lte`
    AtMost,
}

impl Filter {
    /// Reads a filter; refuses operators that do not exist. Null asks for nothing.
    pub fn parse(filter: &Value) -> Result<Self, StoreError> {
        let filter = match filter {
            Value::Null => return Ok(Self::default()),
            Value::Object(filter) => filter,
            other => {
                return Err(StoreError::Filter {
                    field: String::new(),
                    reason: format!(
                        "it is {}, not an object. Give an object of fields.",
                        other.type_name()
                    ),
                });
            }
        };
        let entry = |(field, asked): (&Arc<str>, &Value)| {
            let test = Test::parse(asked).map_err(|reason| StoreError::Filter {
                field: field.to_string(),
                reason,
            })?;
            Ok((field.to_string(), test))
        };
        Ok(Self(filter.iter().map(entry).collect::<Result<_, StoreError>>()?))
    }

    /// Returns whether the filter has no tests.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the filter accepts a value.
    pub fn matches(&self, value: &Object) -> bool {
        self.0.iter().all(|(field, test)| test.holds(value.get(field)))
    }
}

impl Test {
    fn parse(asked: &Value) -> Result<Self, String> {
        Ok(match asked {
            Value::Object(object) if object.keys().any(|key| key.starts_with('$')) => {
                let tests = object
                    .iter()
                    .map(|(operator, value)| Self::operator(operator, value));
                Test::All(tests.collect::<Result<_, _>>()?)
            }
            Value::Object(object) => {
                let entry = |(field, asked): (&Arc<str>, &Value)| {
                    Ok::<_, String>((field.to_string(), Self::parse(asked)?))
                };
                Test::Object(Filter(object.iter().map(entry).collect::<Result<_, _>>()?))
            }
            Value::Array(items) => Test::List(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            plain => Test::Is(plain.clone()),
        })
    }

    fn operator(operator: &str, value: &Value) -> Result<Self, String> {
        let order = |comparison| match value {
            Value::Number(_) | Value::String(_) => Ok(Test::Compares(comparison, value.clone())),
            other => Err(format!(
                "{operator} compares with a number or a text, not with {}.",
                other.type_name()
            )),
        };
        match operator {
            "$eq" => Ok(Test::Is(value.clone())),
            "$ne" => Ok(Test::IsNot(value.clone())),
            "$gt" => order(Comparison::More),
            "$gte" => order(Comparison::AtLeast),
            "$lt" => order(Comparison::Less),
            "$lte" => order(Comparison::AtMost),
            other => Err(format!(
                "there is no operator {other}. Use $eq, $ne, $gt, $gte, $lt or $lte."
            )),
        }
    }

    /// Returns whether the test holds for a field; none when the value does not have it.
    pub fn holds(&self, field: Option<&Value>) -> bool {
        match self {
            Test::Is(wanted) => equal(field.unwrap_or(&Value::Null), wanted),
            Test::IsNot(unwanted) => field.is_some_and(|field| !field.is_null() && !equal(field, unwanted)),
            Test::Compares(comparison, with) => {
                let order = field.and_then(|field| compare(field, with));
                order.is_some_and(|order| match comparison {
                    Comparison::More => order.is_gt(),
                    Comparison::AtLeast => order.is_ge(),
                    Comparison::Less => order.is_lt(),
                    Comparison::AtMost => order.is_le(),
                })
            }
            Test::All(tests) => tests.iter().all(|test| test.holds(field)),
            Test::Object(filter) => field
                .and_then(Value::as_object)
                .is_some_and(|object| filter.matches(object)),
            Test::List(tests) => field.and_then(Value::as_array).is_some_and(|items| {
                items.len() == tests.len()
                    && tests
                        .iter()
                        .zip(items.iter())
                        .all(|(test, item)| test.holds(Some(item)))
            }),
        }
    }
}

/// Returns whether two values are equal as JSON, where 1 and 1.0 are the same number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Compares two numbers: whole numbers exactly, as floats if one has a fraction.
fn order(a: &Number, b: &Number) -> Option<Ordering> {
    let whole = |n: &Number| n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn holds(filter: Value, value: Value) -> bool {
        let filter = Filter::parse(&filter).unwrap();
        filter.matches(value.as_object().unwrap())
    }

    #[test]
    fn fields_are_asked_one_by_one() {
        let value = json!({"n": 5, "f": 1.5, "t": "mid", "b": true, "z": null, "o": {"a": {"b": 3}, "c": 1}, "l": [1, {"x": 2, "y": 3}]});
        let yes = [
            json!({}),
            json!({"n": 5}),
            json!({"n": 5.0}),
            json!({"n": 5, "t": "mid"}),
            json!({"b": true}),
            json!({"z": null}),
            json!({"missing": null}),
            json!({"n": {"$gt": 4, "$lte": 5}}),
            json!({"n": {"$gte": 4.5}}),
            json!({"t": {"$gt": "abc"}}),
            json!({"t": {"$ne": "x"}}),
            json!({"n": {"$ne": null}}),
            json!({"o": {"c": 1}}),
            json!({"o": {"a": {"b": {"$lt": 4}}}}),
            json!({"l": [1, {"x": 2}]}),
            json!({"l": {"$eq": [1.0, {"y": 3, "x": 2}]}}),
        ];
        for filter in yes {
            assert!(holds(filter.clone(), value.clone()), "{filter}");
        }
        let no = [
            json!({"n": 6}),
            json!({"n": "5"}),
            json!({"b": 1}),
            json!({"n": {"$gt": "4"}}),
            json!({"t": {"$gt": 1}}),
            json!({"missing": {"$gt": 1}}),
            json!({"missing": {"$ne": "x"}}),
            json!({"z": {"$ne": "x"}}),
            json!({"n": null}),
            json!({"o": {"$eq": {"c": 1}}}),
            json!({"o.c": 1}),
            json!({"l": [1]}),
            json!({"t": {}}),
        ];
        for filter in no {
            assert!(!holds(filter.clone(), value.clone()), "{filter}");
        }
    }

    #[test]
    fn large_whole_numbers_are_compared_exactly() {
        assert!(!holds(
            json!({"n": 9_007_199_254_740_993_i64}),
            json!({"n": 9_007_199_254_740_992_i64})
        ));
        assert!(holds(json!({"n": {"$lt": u64::MAX}}), json!({"n": u64::MAX - 1})));
        assert!(holds(json!({"n": {"$gt": -1}}), json!({"n": u64::MAX})));
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let refused = |filter: Value| Filter::parse(&filter).unwrap_err().to_string();
        assert!(refused(json!({"n": {"$in": [1]}})).contains("no operator $in"));
        assert!(refused(json!({"a": {"b": {"$regex": "x"}}})).contains("\"a\""));
        assert!(refused(json!({"n": {"$gt": null}})).contains("not with null"));
        assert!(refused(json!({"n": {"$gt": 1, "x": 1}})).contains("no operator x"));
    }
}
