//! Lists that share what they have in common with the lists they grew from.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Value;

/// A persistent list: cloning is O(1), appending does not copy what is there.
#[derive(Clone, Default)]
pub struct List(Arc<ListItems>);

/// The items of a list, and what joining conversations by id needs to know of them.
#[derive(Clone, Default)]
struct ListItems {
    all: imbl::Vector<Value>,
    /// Where each `id` is, once that is worth knowing.
    ids: OnceLock<Ids>,
    /// Does it come from a join? Then more will follow.
    joined: bool,
}

/// The last place of each id in a list; shared with the lists that it grows into.
pub(crate) type Ids =
    imbl::GenericHashMap<Arc<str>, usize, foldhash::fast::RandomState, imbl::shared_ptr::DefaultSharedPtr>;

impl ListItems {
    /// Returns the items, to be changed: what is known of their ids is forgotten.
    fn edit(list: &mut Arc<Self>) -> &mut imbl::Vector<Value> {
        let items = Arc::make_mut(list);
        items.ids.take();
        &mut items.all
    }
}

impl From<imbl::Vector<Value>> for ListItems {
    fn from(all: imbl::Vector<Value>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }
}

impl PartialEq for ListItems {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.same(other) || *self.0 == *other.0
    }
}

impl List {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.all.len()
    }
    /// Returns whether the list has no items.
    pub fn is_empty(&self) -> bool {
        self.0.all.is_empty()
    }
    /// Returns the item at `index`.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.0.all.get(index)
    }
    /// Returns the last item.
    pub fn last(&self) -> Option<&Value> {
        self.0.all.last()
    }
    /// Adds one item at the end.
    pub fn push(&mut self, value: Value) {
        ListItems::edit(&mut self.0).push_back(value);
    }
    /// Adds every item of `other` at the end.
    pub fn append(&mut self, other: &List) {
        let items = ListItems::edit(&mut self.0);
        if other.len() < 64 {
            // Joining trees has a fixed cost that pushing a few items does not.
            items.extend(other.iter().cloned());
        } else {
            items.append(other.0.all.clone());
        }
    }
    /// Replaces the item at `index`; out of range is ignored.
    pub fn set(&mut self, index: usize, value: Value) {
        if let Some(slot) = ListItems::edit(&mut self.0).get_mut(index) {
            *slot = value;
        }
    }
    /// Returns the items from `start` (clamped) to the end, sharing what it can.
    pub fn skip(&self, start: usize) -> List {
        List(Arc::new(self.0.all.skip(start.min(self.len())).into()))
    }
    /// Returns the first `len` (clamped) items.
    pub fn take(&self, len: usize) -> List {
        List(Arc::new(self.0.all.take(len.min(self.len())).into()))
    }
    /// Returns the items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.0.all.iter()
    }
    /// Returns the last place of each item's `id`. None for a list that is joined for the first time: one that was just
    /// loaded may never be joined again, and looking through it once is cheaper.
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
    /// Marks the list as one to be joined with more. Its ids are given if they are known.
    pub(crate) fn joined(mut self, ids: Option<Ids>) -> Self {
        let items = Arc::make_mut(&mut self.0);
        items.joined = true;
        items.ids = ids.map_or_else(OnceLock::new, OnceLock::from);
        self
    }
    /// Returns the list's address in memory.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
    /// Returns whether both are the very same list in memory (a cheap proof of equality).
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
        ListItems::edit(&mut self.0).extend(items);
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Array(self.clone()), f)
    }
}
