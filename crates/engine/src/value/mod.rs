//! State values: JSON whose strings, lists and objects are shared, not copied.
//!
//! `serde_json::Value` copies everything below it on `clone`, which makes each super-step cost the size of the
//! state. Here a clone is a reference count, a list is a persistent vector (pushing onto a list that an older
//! checkpoint still holds copies one chunk), and an object copies its table only when it is shared and written.

use std::fmt;
use std::sync::Arc;

pub use serde_json::Number;

/// For the code that [`state!`](macro@crate::state) makes.
#[doc(hidden)]
pub use serde as __serde;

pub(crate) mod decode;
mod json;
mod list;
pub(crate) mod messages;
mod object;

#[doc(hidden)]
pub use json::Key;
pub(crate) use list::Ids;
pub use list::List;
pub use object::Object;

pub use self::decode::DecodeError;
pub use self::messages::{REMOVE_ALL, add_messages, coerce as coerce_message};

/// A JSON value with structural sharing.
#[derive(Clone, Default, PartialEq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any JSON number.
    Number(Number),
    /// Text.
    String(Arc<str>),
    /// A list.
    Array(List),
    /// A keyed object; keys keep the order in which they were inserted.
    Object(Object),
}

impl Value {
    /// Returns the member `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }
    /// Returns the item `index` of a list.
    pub fn at(&self, index: usize) -> Option<&Value> {
        self.as_array()?.get(index)
    }
    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
    /// Returns the text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
    /// Returns the boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }
    /// Returns the number as `i64`, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Number(n) => n.as_i64(),
            _ => None,
        }
    }
    /// Returns the number as `u64`, if it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(n) => n.as_u64(),
            _ => None,
        }
    }
    /// Returns the number as `f64`, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(n) => n.as_f64(),
            _ => None,
        }
    }
    /// Returns the list, if this is one.
    pub fn as_array(&self) -> Option<&List> {
        match self {
            Value::Array(list) => Some(list),
            _ => None,
        }
    }
    /// Returns the object, if this is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
    /// Returns the address in memory of text, a list or an object: as long as both are alive, two values with the same
    /// identity are one. `None` for what is not shared.
    pub fn identity(&self) -> Option<usize> {
        match self {
            Value::String(text) => Some(Arc::as_ptr(text).cast::<u8>().addr()),
            Value::Array(list) => Some(list.address()),
            Value::Object(object) => Some(object.address()),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    /// Returns the JSON type name: null, boolean, integer, number, string, array, object.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(n) if n.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(b) => Value::Bool(b),
            serde_json::Value::Number(n) => Value::Number(n),
            serde_json::Value::String(s) => Value::String(s.into()),
            serde_json::Value::Array(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            serde_json::Value::Object(map) => Value::Object(map.into_iter().collect()),
        }
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => serde_json::Value::Bool(*b),
            Value::Number(n) => serde_json::Value::Number(n.clone()),
            Value::String(s) => serde_json::Value::String(s.to_string()),
            Value::Array(items) => serde_json::Value::Array(items.iter().map(Into::into).collect()),
            Value::Object(map) => {
                serde_json::Value::Object(map.iter().map(|(k, v)| (k.to_string(), v.into())).collect())
            }
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        (&value).into()
    }
}

macro_rules! from_number {
    ($($t:ty),*) => {$(impl From<$t> for Value { fn from(n: $t) -> Self { Value::Number(n.into()) } })*};
}
from_number!(i32, i64, u32, u64, usize);

impl From<f64> for Value {
    /// Converts a float; NaN and infinities, which JSON cannot hold, become `null`.
    fn from(n: f64) -> Self {
        Number::from_f64(n).map_or(Value::Null, Value::Number)
    }
}
/// The member of an object; null where there is none, as of every other value.
impl std::ops::Index<&str> for Value {
    type Output = Value;
    fn index(&self, key: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.get(key).unwrap_or(&NULL)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::Bool(b)
    }
}
impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Value::String(s.into())
    }
}
impl From<String> for Value {
    fn from(s: String) -> Self {
        Value::String(s.into())
    }
}
impl From<Arc<str>> for Value {
    fn from(s: Arc<str>) -> Self {
        Value::String(s)
    }
}
impl From<List> for Value {
    fn from(list: List) -> Self {
        Value::Array(list)
    }
}
impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Value::Object(object)
    }
}
impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Value::Array(items.into_iter().map(Into::into).collect())
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(item: Option<T>) -> Self {
        item.map_or(Value::Null, Into::into)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Compact JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// Builds a [`Value`] with JSON syntax.
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => { $crate::Value::from($crate::__serde_json::json!($($json)+)) };
}
