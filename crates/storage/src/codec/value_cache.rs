//! Values that were read or written lately, kept for the next reader.
//!
//! A conversation is read by every turn, and nearly all of it is what this process stored or read a moment ago. What is
//! kept are values by the number of their row: a row is never changed, so a reader looks up in its backend *which* rows
//! a checkpoint has, which is also how it sees what other processes stored, and decodes only those that are not here. A
//! list that was found by its last row brings everything before it along.
//!
//! Where numbers may be given again after rows were removed, the backend counts such removals; a count that is not the
//! one these were read under empties everything.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use superstep::Value;

/// What a value takes in memory, about, for each byte of its JSON.
const GROWTH: u64 = 2;
/// What an entry takes beside its value.
const ENTRY: u64 = 128;

/// Checkpoints of which something is known.
const STATES: u64 = 2048;

/// Values by row, and whatever else a backend wants to have in memory, by row too. Bounded.
#[derive(Debug)]
pub(crate) struct ValueCache<S> {
    most: u64,
    inner: Mutex<Inner<S>>,
}

#[derive(Debug)]
struct Inner<S> {
    epoch: i64,
    values: Aging<(Value, u64)>,
    states: Aging<S>,
}

/// Two generations: what is asked for while it is old becomes young again, and what is not goes with its generation.
#[derive(Debug)]
struct Aging<V> {
    young: HashMap<i64, V>,
    old: HashMap<i64, V>,
    /// What the young ones take.
    size: u64,
}

impl<V> Default for Aging<V> {
    fn default() -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            size: 0,
        }
    }
}

impl<V: Clone> Aging<V> {
    fn get(&mut self, row: i64, size: impl Fn(&V) -> u64, most: u64) -> Option<V> {
        if let Some(found) = self.young.get(&row) {
            return Some(found.clone());
        }
        let found = self.old.remove(&row)?;
        self.put(row, found.clone(), size(&found), most);
        Some(found)
    }

    fn put(&mut self, row: i64, value: V, size: u64, most: u64) {
        if self.size + size > most / 2 {
            self.old = std::mem::take(&mut self.young);
            self.size = 0;
            if size > most / 2 {
                return;
            }
        }
        self.size += size;
        self.young.insert(row, value);
    }
}

impl<S: Clone> ValueCache<S> {
    /// Keeps about this many bytes.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            most,
            inner: Mutex::new(Inner {
                epoch: 0,
                values: Aging::default(),
                states: Aging::default(),
            }),
        }
    }

    /// Returns what is kept under this count of removals; `None` for a reader that sees an older moment.
    fn at(&self, epoch: i64) -> Option<MutexGuard<'_, Inner<S>>> {
        let mut inner = self.inner.lock();
        if inner.epoch < epoch {
            *inner = Inner {
                epoch,
                values: Aging::default(),
                states: Aging::default(),
            };
        }
        (inner.epoch == epoch).then_some(inner)
    }

    /// Returns the value that ends with this row.
    pub(crate) fn value(&self, epoch: i64, row: i64) -> Option<Value> {
        let weight = |(_, bytes): &(Value, u64)| *bytes;
        let found = self.at(epoch)?.values.get(row, weight, self.most);
        found.map(|(value, _)| value)
    }

    /// Keeps the value that ends with this row, whose JSON has this many bytes. It shares everything with the value of
    /// the row that it continues, which is not kept beside it.
    pub(crate) fn keep(&self, epoch: i64, row: i64, base: Option<i64>, value: Value, json: u64) {
        let Some(mut inner) = self.at(epoch) else { return };
        let bytes = GROWTH * json + ENTRY;
        if let Some(base) = base {
            inner.values.old.remove(&base);
            if let Some((_, before)) = inner.values.young.remove(&base) {
                inner.values.size = inner.values.size.saturating_sub(before);
            }
        }
        inner.values.put(row, (value, bytes), bytes, self.most);
    }

    /// Returns what is known of a checkpoint.
    pub(crate) fn state(&self, epoch: i64, row: i64) -> Option<S> {
        self.at(epoch)?.states.get(row, |_| 1, STATES)
    }

    /// Keeps what is known of a checkpoint.
    pub(crate) fn keep_state(&self, epoch: i64, row: i64, state: S) {
        if let Some(mut inner) = self.at(epoch) {
            inner.states.put(row, state, 1, STATES);
        }
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn it_is_bounded_and_forgets_what_is_not_asked_for() {
        let value_cache: ValueCache<()> = ValueCache::new(20_000);
        for row in 1..100 {
            value_cache.keep(1, row, None, json!(row), 1000);
            assert_eq!(
                value_cache.value(1, 1),
                Some(json!(1)),
                "it is asked for all the time"
            );
        }
        assert_eq!(value_cache.value(1, 2), None);
        assert_eq!(value_cache.value(1, 99), Some(json!(99)));
        let kept = value_cache
            .at(1)
            .map(|inner| inner.values.young.len() + inner.values.old.len());
        assert!(kept.is_some_and(|kept| kept < 12), "{kept:?}");
        value_cache.keep(1, 500, None, json!("too long"), 100_000);
        assert_eq!(value_cache.value(1, 500), None);
    }

    #[test]
    fn a_generation_takes_half_of_what_may_be_kept() {
        let mut values = Aging::default();
        for row in 0..5 {
            values.put(row, row, 10, 100);
        }
        assert_eq!((values.young.len(), values.old.len(), values.size), (5, 0, 50));
        values.put(5, 5, 10, 100);
        assert_eq!((values.young.len(), values.old.len(), values.size), (1, 5, 10));
        assert_eq!(values.get(0, |_| 10, 100), Some(0));
        assert_eq!(
            (values.young.len(), values.old.len(), values.size),
            (2, 4, 20),
            "what is asked for becomes young again"
        );
        values.put(6, 6, 51, 100);
        assert_eq!(
            (values.young.len(), values.old.len(), values.size),
            (0, 2, 0),
            "what is larger than a generation is not kept"
        );
    }

    #[test]
    fn what_continues_a_list_takes_its_place() {
        let value_cache: ValueCache<()> = ValueCache::new(10_000);
        for row in 1..1000 {
            value_cache.keep(1, row, Some(row - 1), json!([row]), 1000);
        }
        assert_eq!(value_cache.value(1, 999), Some(json!([999])));
        assert_eq!(value_cache.value(1, 998), None);
    }

    #[test]
    fn after_a_removal_nothing_is_known() {
        let value_cache: ValueCache<i32> = ValueCache::new(10_000);
        value_cache.keep(1, 7, None, json!("old"), 5);
        value_cache.keep_state(1, 7, 70);
        assert_eq!(value_cache.value(2, 7), None, "another process removed something");
        assert_eq!(value_cache.state(2, 7), None);
        value_cache.keep(2, 7, None, json!("new"), 5);
        assert_eq!(
            value_cache.value(1, 7),
            None,
            "a reader that looks at the moment before"
        );
        value_cache.keep(1, 7, None, json!("old"), 5);
        assert_eq!(value_cache.value(2, 7), Some(json!("new")));
    }
}
