//! State values: JSON whose strings, lists and objects are shared, not copied.
//!
//! `serde_json::Value` copies everything below it on `clone`, which makes each super-step cost the size of the
//! state. Here a clone is a reference count, a list is a persistent vector (pushing onto a list that an older
//! checkpoint still holds copies one chunk), and an object copies its table only when it is shared and written.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use serde_json::Number;
use smallvec::SmallVec;

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

/// A persistent list: cloning is O(1), appending does not copy what is there.
#[derive(Clone, Default, PartialEq)]
pub struct List(Arc<Items>);

/// The items of a list, and what joining conversations by id needs to know of them.
#[derive(Clone, Default)]
struct Items {
    all: imbl::Vector<Value>,
    /// Where each `id` is, once that is worth knowing.
    ids: OnceLock<Ids>,
    /// Does it come from a join? Then more will follow.
    joined: bool,
}

/// The last place of each id in a list; shared with the lists that it grows into.
pub(crate) type Ids =
    imbl::GenericHashMap<Arc<str>, usize, foldhash::fast::RandomState, imbl::shared_ptr::DefaultSharedPtr>;

impl Items {
    /// The items, to be changed: what is known of their ids is forgotten.
    fn edit(list: &mut Arc<Self>) -> &mut imbl::Vector<Value> {
        let items = Arc::make_mut(list);
        items.ids.take();
        &mut items.all
    }
}

impl From<imbl::Vector<Value>> for Items {
    fn from(all: imbl::Vector<Value>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }
}

impl PartialEq for Items {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// A shared object; copied on the first write while it is shared.
#[derive(Clone, Default, PartialEq)]
pub struct Object(Arc<Entries>);

/// Entries in the order of their insertion.
#[derive(Clone, Default)]
struct Entries {
    list: SmallVec<[(Arc<str>, Value); SMALL]>,
    /// Where each key is in the list, when there are more than a look can take in.
    places: Option<Box<Places>>,
}

/// Keys are names that a graph's author chose or text that a model wrote: a fast hash with a random seed serves both.
type Places = HashMap<Arc<str>, usize, foldhash::fast::RandomState>;

/// So many entries are held without memory of their own: most updates and many states are not larger.
const SMALL: usize = 2;

/// So many keys are found sooner by looking at each than by hashing. States rarely have more, and a message has nine.
const FEW: usize = 10;

impl Entries {
    fn place(&self, key: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(key).copied(),
            None => self.list.iter().position(|(have, _)| **have == *key),
        }
    }

    fn insert(&mut self, key: Arc<str>, value: Value) -> Option<Value> {
        if let Some(place) = self.place(&key) {
            return Some(std::mem::replace(&mut self.list[place].1, value));
        }
        if let Some(places) = &mut self.places {
            places.insert(key.clone(), self.list.len());
        }
        self.list.push((key, value));
        if self.places.is_none() && self.list.len() > FEW {
            self.index();
        }
        None
    }

    fn remove(&mut self, key: &str) -> Option<Value> {
        let place = self.place(key)?;
        let (_, value) = self.list.remove(place);
        if let Some(places) = &mut self.places {
            places.remove(key);
            for behind in places.values_mut().filter(|behind| **behind > place) {
                *behind -= 1;
            }
        }
        Some(value)
    }

    fn index(&mut self) {
        let keys = self.list.iter().enumerate();
        let places = keys.map(|(place, (key, _))| (key.clone(), place)).collect();
        self.places = Some(Box::new(places));
    }
}

impl FromIterator<(Arc<str>, Value)> for Entries {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut all = Self::default();
        all.list.reserve(entries.size_hint().0);
        for (key, value) in entries {
            all.insert(key, value);
        }
        all
    }
}

/// The order of the keys does not matter.
impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        let same = |(place, (key, value)): (usize, &(Arc<str>, Value))| {
            // Equal objects nearly always have their keys in one order.
            let there = match other.list.get(place) {
                Some((have, there)) if have == key => Some(there),
                _ => other.place(key).map(|place| &other.list[place].1),
            };
            there == Some(value)
        };
        self.list.len() == other.list.len() && self.list.iter().enumerate().all(same)
    }
}

impl List {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }
    /// Number of items.
    pub fn len(&self) -> usize {
        self.0.all.len()
    }
    /// True when there is no item.
    pub fn is_empty(&self) -> bool {
        self.0.all.is_empty()
    }
    /// The item at `index`.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.0.all.get(index)
    }
    /// The last item.
    pub fn last(&self) -> Option<&Value> {
        self.0.all.last()
    }
    /// Adds one item at the end.
    pub fn push(&mut self, value: Value) {
        Items::edit(&mut self.0).push_back(value);
    }
    /// Adds every item of `other` at the end.
    pub fn append(&mut self, other: &List) {
        let items = Items::edit(&mut self.0);
        if other.len() < 64 {
            // Joining trees has a fixed cost that pushing a few items does not.
            items.extend(other.iter().cloned());
        } else {
            items.append(other.0.all.clone());
        }
    }
    /// Replaces the item at `index`; out of range is ignored.
    pub fn set(&mut self, index: usize, value: Value) {
        if let Some(slot) = Items::edit(&mut self.0).get_mut(index) {
            *slot = value;
        }
    }
    /// The items from `start` (clamped) to the end, sharing what it can.
    pub fn skip(&self, start: usize) -> List {
        List(Arc::new(self.0.all.skip(start.min(self.len())).into()))
    }
    /// The first `len` (clamped) items.
    pub fn take(&self, len: usize) -> List {
        List(Arc::new(self.0.all.take(len.min(self.len())).into()))
    }
    /// The items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.0.all.iter()
    }
    /// The last place of each item's `id`. None for a list that is joined for the first time: one that was just loaded
    /// may never be joined again, and looking through it once is cheaper.
    pub(crate) fn ids(&self) -> Option<&Ids> {
        let id = |(place, item): (usize, &Value)| match item.get("id") {
            Some(Value::String(id)) => Some((id.clone(), place)),
            _ => None,
        };
        let find = || self.iter().enumerate().filter_map(id).collect();
        match self.0.joined {
            true => Some(self.0.ids.get_or_init(find)),
            false => None,
        }
    }
    /// The same list, to be joined with more. Its ids are told if they are known.
    pub(crate) fn joined(mut self, ids: Option<Ids>) -> Self {
        let items = Arc::make_mut(&mut self.0);
        items.joined = true;
        items.ids = ids.map_or_else(OnceLock::new, OnceLock::from);
        self
    }
    /// True when both are the very same list in memory (a cheap proof of equality).
    pub fn same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        List(Arc::new(items.into_iter().collect::<imbl::Vector<_>>().into()))
    }
}

impl Extend<Value> for List {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, items: I) {
        Items::edit(&mut self.0).extend(items);
    }
}

impl Object {
    /// An empty object.
    pub fn new() -> Self {
        Self::default()
    }
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.list.len()
    }
    /// True when there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.list.is_empty()
    }
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.place(key).map(|place| &self.0.list[place].1)
    }
    /// True when `key` is present, whatever its value.
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.place(key).is_some()
    }
    /// Sets `key`, keeping its place when it exists.
    pub fn insert(&mut self, key: impl Into<Arc<str>>, value: impl Into<Value>) -> Option<Value> {
        Arc::make_mut(&mut self.0).insert(key.into(), value.into())
    }
    /// Sets a key that is there: no name has to be made for it.
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        if let Some(place) = self.0.place(key) {
            Arc::make_mut(&mut self.0).list[place].1 = value;
        }
    }
    /// Removes `key`, keeping the order of the others.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        if !self.contains_key(key) {
            return None;
        }
        Arc::make_mut(&mut self.0).remove(key)
    }
    /// Keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> + DoubleEndedIterator {
        self.0.list.iter().map(|(key, value)| (key, value))
    }
    /// Keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.0.list.iter().map(|(key, _)| key)
    }
}

impl<K: Into<Arc<str>>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        Object(Arc::new(
            items.into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
        ))
    }
}

impl Value {
    /// The member `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }
    /// The item `index` of a list.
    pub fn at(&self, index: usize) -> Option<&Value> {
        self.as_array()?.get(index)
    }
    /// True for `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }
    /// The number as `i64`, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Number(n) => n.as_i64(),
            _ => None,
        }
    }
    /// The number as `u64`, if it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Number(n) => n.as_u64(),
            _ => None,
        }
    }
    /// The number as `f64`, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(n) => n.as_f64(),
            _ => None,
        }
    }
    /// The list, if this is one.
    pub fn as_array(&self) -> Option<&List> {
        match self {
            Value::Array(list) => Some(list),
            _ => None,
        }
    }
    /// The object, if this is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
    /// Where text, a list or an object is in memory: as long as both are alive, two values with the same identity
    /// are one. `None` for what is not shared.
    pub fn identity(&self) -> Option<usize> {
        match self {
            Value::String(text) => Some(Arc::as_ptr(text).cast::<u8>().addr()),
            Value::Array(list) => Some(Arc::as_ptr(&list.0).addr()),
            Value::Object(object) => Some(Arc::as_ptr(&object.0).addr()),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    /// The JSON type name: null, boolean, integer, number, string, array, object.
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
    /// NaN and infinities, which JSON cannot hold, become `null`.
    fn from(n: f64) -> Self {
        Number::from_f64(n).map_or(Value::Null, Value::Number)
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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Number(n) => n.serialize(s),
            Value::String(text) => s.serialize_str(text),
            Value::Array(items) => s.collect_seq(items.iter()),
            Value::Object(map) => s.collect_map(map.iter().map(|(k, v)| (&**k, v))),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
                Ok(Value::Bool(b))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
                Ok(n.into())
            }
            fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
                Ok(n.into())
            }
            fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
                Ok(n.into())
            }
            fn visit_str<E>(self, s: &str) -> Result<Value, E> {
                Ok(s.into())
            }
            fn visit_string<E>(self, s: String) -> Result<Value, E> {
                Ok(s.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut items = imbl::Vector::new();
                while let Some(item) = seq.next_element()? {
                    items.push_back(item);
                }
                Ok(Value::Array(List(Arc::new(items.into()))))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut entries = Entries::default();
                while let Some((k, v)) = map.next_entry::<String, Value>()? {
                    entries.insert(k.into(), v);
                }
                Ok(Value::Object(Object(Arc::new(entries))))
            }
        }
        d.deserialize_any(V)
    }
}

/// Builds a [`Value`] with JSON syntax.
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => { $crate::Value::from($crate::__serde_json::json!($($json)+)) };
}

impl Object {
    /// True when both are the very same object in memory (a cheap proof of equality).
    pub fn same(&self, other: &Object) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Object(self.clone()), f)
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Array(self.clone()), f)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.iter().map(|(k, v)| (&**k, v)))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut entries = Entries::default();
                while let Some((k, v)) = map.next_entry::<String, Value>()? {
                    entries.insert(k.into(), v);
                }
                Ok(Object(Arc::new(entries)))
            }
        }
        d.deserialize_map(V)
    }
}
