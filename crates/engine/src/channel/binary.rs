//! Binary operators: how a reducer joins an update with what is there.

use std::fmt;
use std::sync::Arc;

use crate::base::ids::Name;
use crate::value::{List, Number, Value};

/// A user's reducer: old value and update give the new value, or say why not.
pub type ReducerFn = Arc<dyn Fn(&Value, &Value) -> Result<Value, String> + Send + Sync>;

/// A binary operator that joins an update with what is there.
#[derive(Clone)]
pub enum BinaryOp {
    /// Numbers are added, text and lists are joined.
    Add,
    /// Numbers are multiplied.
    Multiply,
    /// The smaller number or text.
    Min,
    /// The larger number or text.
    Max,
    /// Both true.
    And,
    /// One of them true.
    Or,
    /// An item, or each item of a list, is added at the end.
    Append,
    /// Keys of the update replace those of the object, one level deep.
    Merge,
    /// Items that are not there yet are added.
    Union,
    /// Somebody's own, with a name for messages.
    Custom(Name, ReducerFn),
}

/// Adds an update at the end of a list: its items when it is a list, else itself.
pub(super) fn append(list: &mut List, update: &Value) {
    match update {
        Value::Array(items) => list.append(items),
        item => list.push(item.clone()),
    }
}

impl fmt::Debug for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl BinaryOp {
    /// Returns the operator's name.
    pub fn name(&self) -> &str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Multiply => "multiply",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Append => "append",
            BinaryOp::Merge => "merge",
            BinaryOp::Union => "union",
            BinaryOp::Custom(name, _) => name,
        }
    }

    /// Returns whether both operators join in the same way. Custom ones are the same when they are one function.
    pub(crate) fn same(&self, other: &BinaryOp) -> bool {
        match (self, other) {
            (BinaryOp::Custom(_, a), BinaryOp::Custom(_, b)) => Arc::ptr_eq(a, b),
            (a, b) => a.name() == b.name(),
        }
    }

    /// Joins `update` with `old`.
    pub fn apply(&self, old: &Value, update: &Value) -> Result<Value, String> {
        use Value::{Array, Bool, Object as Obj, String as Text};
        let refuse = || {
            Err(format!(
                "the {} reducer cannot join {} with {}",
                self.name(),
                old.type_name(),
                update.type_name()
            ))
        };
        Ok(match (self, old, update) {
            (BinaryOp::Custom(_, reduce), ..) => return reduce(old, update),
            (BinaryOp::Add, Value::Number(a), Value::Number(b)) => {
                numbers(a, b, i64::checked_add, |a, b| a + b)
            }
            (BinaryOp::Add, Text(a), Text(b)) => format!("{a}{b}").into(),
            (BinaryOp::Multiply, Value::Number(a), Value::Number(b)) => {
                numbers(a, b, i64::checked_mul, |a, b| a * b)
            }
            (BinaryOp::Min | BinaryOp::Max, Value::Number(a), Value::Number(b)) => {
                let old_wins = match (a.as_i64(), b.as_i64()) {
                    (Some(a), Some(b)) => (a <= b) == matches!(self, BinaryOp::Min),
                    _ => (a.as_f64() <= b.as_f64()) == matches!(self, BinaryOp::Min),
                };
                if old_wins { old.clone() } else { update.clone() }
            }
            (BinaryOp::Min | BinaryOp::Max, Text(a), Text(b)) => {
                if (a <= b) == matches!(self, BinaryOp::Min) {
                    old.clone()
                } else {
                    update.clone()
                }
            }
            (BinaryOp::And, Bool(a), Bool(b)) => Bool(*a && *b),
            (BinaryOp::Or, Bool(a), Bool(b)) => Bool(*a || *b),
            (BinaryOp::Add, Array(a), Array(_)) | (BinaryOp::Append, Array(a), _) => {
                let mut joined = a.clone();
                append(&mut joined, update);
                Array(joined)
            }
            (BinaryOp::Merge, Obj(a), Obj(b)) => {
                let mut merged = a.clone();
                for (key, value) in b.iter() {
                    merged.insert(key.clone(), value.clone());
                }
                Obj(merged)
            }
            (BinaryOp::Union, Array(a), update) => {
                let mut joined = a.clone();
                let mut add = |item: &Value| {
                    if !joined.iter().any(|have| have == item) {
                        joined.push(item.clone());
                    }
                };
                match update {
                    Array(items) => items.iter().for_each(&mut add),
                    item => add(item),
                }
                Array(joined)
            }
            _ => return refuse(),
        })
    }
}

fn numbers(a: &Number, b: &Number, int: fn(i64, i64) -> Option<i64>, float: fn(f64, f64) -> f64) -> Value {
    match (a.as_i64(), b.as_i64()) {
        (Some(x), Some(y)) => int(x, y).map_or_else(|| Value::from(float(x as f64, y as f64)), Value::from),
        _ => Value::from(float(
            a.as_f64().unwrap_or(f64::NAN),
            b.as_f64().unwrap_or(f64::NAN),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn large_whole_numbers_are_compared_exactly() {
        // As floating-point numbers the two are one.
        let (less, more) = (json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_993_i64));
        for (op, expected) in [(BinaryOp::Min, &less), (BinaryOp::Max, &more)] {
            assert_eq!(op.apply(&less, &more).as_ref(), Ok(expected));
            assert_eq!(op.apply(&more, &less).as_ref(), Ok(expected));
        }
    }
}
