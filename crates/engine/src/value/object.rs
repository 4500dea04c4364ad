//! Objects whose table is copied only when it is shared and written.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Value;

/// A shared object; copied on the first write while it is shared.
#[derive(Clone, Default)]
pub struct Object(Arc<ObjectEntries>);

/// Entries in the order of their insertion.
#[derive(Clone, Default)]
struct ObjectEntries {
    list: SmallVec<[(Arc<str>, Value); SMALL]>,
    /// Where each key is in the list, when there are more than a look can take in.
    places: Option<Box<KeyIndex>>,
}

/// Keys are names that a graph's author chose or text that a model wrote: a fast hash with a random seed serves both.
type KeyIndex = HashMap<Arc<str>, usize, foldhash::fast::RandomState>;

/// Entries that are held without memory of their own: most updates and many states are not larger.
const SMALL: usize = 2;

/// Up to this number keys are found sooner by looking at each than by hashing. States rarely have more, and a message has nine.
const FEW: usize = 10;

impl ObjectEntries {
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

impl FromIterator<(Arc<str>, Value)> for ObjectEntries {
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
impl PartialEq for ObjectEntries {
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

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.same(other) || *self.0 == *other.0
    }
}

impl Object {
    /// Creates an empty object.
    pub fn new() -> Self {
        Self::default()
    }
    /// Creates an object of entries, no two of which have the same key.
    pub(crate) fn of_distinct(entries: impl IntoIterator<Item = (Arc<str>, Value)>) -> Self {
        let entries = entries.into_iter();
        let mut all = ObjectEntries::default();
        let (least, most) = entries.size_hint();
        all.list.reserve_exact(most.unwrap_or(least));
        all.list.extend(entries);
        Self::of_entries(all)
    }
    /// Creates an object of those entries that are there, no two of which have the same key.
    pub(crate) fn of_present<const MOST: usize>(entries: [Option<(Arc<str>, Value)>; MOST]) -> Self {
        let mut all = ObjectEntries::default();
        all.list.reserve_exact(entries.iter().flatten().count());
        all.list.extend(entries.into_iter().flatten());
        Self::of_entries(all)
    }
    fn of_entries(mut all: ObjectEntries) -> Self {
        debug_assert!(
            (all.list.iter().enumerate()).all(|(place, (key, _))| all.place(key) == Some(place)),
            "a key is there twice"
        );
        if all.list.len() > FEW {
            all.index();
        }
        Self(Arc::new(all))
    }
    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.list.len()
    }
    /// Returns whether the object has no keys.
    pub fn is_empty(&self) -> bool {
        self.0.list.is_empty()
    }
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.place(key).map(|place| &self.0.list[place].1)
    }
    /// Returns `key` as it is kept, and its value.
    pub(crate) fn entry(&self, key: &str) -> Option<(&Arc<str>, &Value)> {
        let (key, value) = &self.0.list[self.0.place(key)?];
        Some((key, value))
    }
    /// Returns whether `key` is present, whatever its value.
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
    /// Returns the object's address in memory.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
    /// Returns whether both are the very same object in memory (a cheap proof of equality).
    pub fn same(&self, other: &Object) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// Returns keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> + DoubleEndedIterator {
        self.0.list.iter().map(|(key, value)| (key, value))
    }
    /// Returns the keys in order.
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

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Object(self.clone()), f)
    }
}
