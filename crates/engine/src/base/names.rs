//! The maps of a checkpoint, made when somebody reads them.
//!
//! A run makes a checkpoint for every step, and nearly all of them are never read. So a step gives its checkpoint the
//! map of the one before and what it changed, which costs what changed and nothing else. Looking up a name goes
//! through a bounded number of such links; what needs the map as a whole makes it once and keeps it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::{Arc, OnceLock};

use imbl::OrdMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

use crate::base::ids::Name;

/// A map by name in the order of names. A clone is a reference count. It reads as the
/// [`OrdMap`] that it stands for, and becomes one when it is written.
pub struct NameMap<V: Clone> {
    /// What the map is made from, if it is not made yet.
    late: Option<Arc<Late<V>>>,
    /// The map, if it was not made late.
    whole: OrdMap<Name, V>,
}

impl<V: Clone + Serialize> Serialize for NameMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Clone + Deserialize<'de>> Deserialize<'de> for NameMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = BTreeMap::<Name, V>::deserialize(deserializer)?;
        Ok(entries.into_iter().collect())
    }
}

/// A map and what was changed in it.
struct Late<V: Clone> {
    before: NameMap<V>,
    /// Sorted by name; without a value the name is removed.
    changes: Changes<V>,
    /// How many such links there are before a whole map.
    links: usize,
    len: OnceLock<usize>,
    whole: OnceLock<OrdMap<Name, V>>,
}

/// Changes that a step makes to a map, sorted by name: nearly always a few names, held without memory of their own.
pub(crate) type Changes<V> = SmallVec<[(Name, Option<V>); 3]>;

/// Links before a whole map is made: what a look-up may cost, and how much of the past a map keeps alive. Making the
/// map of a large graph costs as much as many steps do, so it is not made often.
const MAX_LINKS: usize = 128;

impl<V: Clone> NameMap<V> {
    /// Creates an empty map.
    pub fn new() -> Self {
        OrdMap::new().into()
    }

    /// Creates a map of these entries, which are sorted by name.
    pub(crate) fn of(entries: Changes<V>) -> Self {
        Self::new().with(entries)
    }

    /// Returns the map with these changes, which are sorted by name.
    pub(crate) fn with(&self, changes: Changes<V>) -> Self {
        if changes.is_empty() {
            return self.clone();
        }
        let links = match &self.late {
            Some(late) if late.whole.get().is_none() => late.links + 1,
            _ => 1,
        };
        if links > MAX_LINKS {
            let mut whole = self.make();
            apply(&mut whole, &changes);
            return whole.into();
        }
        Self {
            late: Some(Arc::new(Late {
                before: self.clone(),
                changes,
                links,
                len: OnceLock::new(),
                whole: OnceLock::new(),
            })),
            whole: OrdMap::new(),
        }
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        let mut map = self;
        while let Some(late) = &map.late {
            if let Some(whole) = late.whole.get() {
                return whole.get(name);
            }
            match late
                .changes
                .binary_search_by(|(changed, _)| (**changed).cmp(name))
            {
                Ok(place) => return late.changes[place].1.as_ref(),
                Err(_) => map = &late.before,
            }
        }
        map.whole.get(name)
    }

    /// Returns whether there is a value of that name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        let Some(late) = &self.late else {
            return self.whole.len();
        };
        let grown = |len: usize, (name, value): &(Name, Option<V>)| {
            len + usize::from(value.is_some()) - usize::from(late.before.contains_key(name))
        };
        *late
            .len
            .get_or_init(|| late.changes.iter().fold(late.before.len(), grown))
    }

    /// Returns whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the names in order, with their values.
    pub fn iter(&self) -> Entries<'_, V> {
        Entries(match &self.late {
            // What a node has seen, mostly: nothing need be made for it.
            Some(late) if late.before.late.is_none() && late.before.whole.is_empty() => {
                EntriesIter::Few(late.changes.iter())
            }
            _ => EntriesIter::Whole((**self).iter()),
        })
    }

    fn make(&self) -> OrdMap<Name, V> {
        // Of the changes of a name only the newest counts. One name is mostly one text in memory; where it is not, the
        // older change is made first.
        let mut newest: Vec<&(Name, Option<V>)> = Vec::new();
        let mut seen: HashSet<*const u8, foldhash::fast::RandomState> = HashSet::default();
        let mut map = self;
        let mut whole = loop {
            let Some(late) = &map.late else {
                break map.whole.clone();
            };
            if let Some(whole) = late.whole.get() {
                break whole.clone();
            }
            newest.extend(late.changes.iter().filter(|(name, _)| seen.insert(name.as_ptr())));
            map = &late.before;
        };
        apply(&mut whole, newest.into_iter().rev());
        whole
    }
}

fn apply<'a, V: Clone + 'a>(
    map: &mut OrdMap<Name, V>,
    changes: impl IntoIterator<Item = &'a (Name, Option<V>)>,
) {
    for (name, value) in changes {
        match value {
            Some(value) => map.insert(name.clone(), value.clone()),
            None => map.remove(name),
        };
    }
}

impl<V: Clone> Deref for NameMap<V> {
    type Target = OrdMap<Name, V>;
    fn deref(&self) -> &Self::Target {
        match &self.late {
            Some(late) => late.whole.get_or_init(|| self.make()),
            None => &self.whole,
        }
    }
}

impl<V: Clone> DerefMut for NameMap<V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        if self.late.is_some() {
            self.whole = self.make();
            self.late = None;
        }
        &mut self.whole
    }
}

impl<V: Clone> Clone for NameMap<V> {
    fn clone(&self) -> Self {
        Self {
            late: self.late.clone(),
            whole: self.whole.clone(),
        }
    }
}

impl<V: Clone> Default for NameMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Clone + PartialEq> PartialEq for NameMap<V> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.late, &other.late) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
            _ => **self == **other,
        }
    }
}

impl<V: Clone + fmt::Debug> fmt::Debug for NameMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<V: Clone> From<OrdMap<Name, V>> for NameMap<V> {
    fn from(whole: OrdMap<Name, V>) -> Self {
        Self { late: None, whole }
    }
}

impl<V: Clone> FromIterator<(Name, V)> for NameMap<V> {
    fn from_iter<I: IntoIterator<Item = (Name, V)>>(entries: I) -> Self {
        entries.into_iter().collect::<OrdMap<_, _>>().into()
    }
}

impl<'a, V: Clone> IntoIterator for &'a NameMap<V> {
    type Item = (&'a Name, &'a V);
    type IntoIter = Entries<'a, V>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The entries of a [`NameMap`].
pub struct Entries<'a, V>(EntriesIter<'a, V>);

enum EntriesIter<'a, V> {
    Few(slice::Iter<'a, (Name, Option<V>)>),
    Whole(<&'a OrdMap<Name, V> as IntoIterator>::IntoIter),
}

impl<'a, V> Iterator for Entries<'a, V> {
    type Item = (&'a Name, &'a V);
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            EntriesIter::Few(changes) => changes.find_map(|(name, value)| Some((name, value.as_ref()?))),
            EntriesIter::Whole(entries) => entries.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same changes, made one by one on a plain map and step by step on a late one, whatever is read in between.
    #[test]
    fn a_late_map_reads_as_the_whole_one() {
        for reads in [0, 1, 7, 40] {
            let mut late: NameMap<usize> = NameMap::new();
            let mut whole: OrdMap<Name, usize> = OrdMap::new();
            let mut seed: usize = 1 + reads;
            let mut below = |limit: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % limit
            };
            let mut kept = Vec::new();
            for step in 1..600 {
                let mut changes: Changes<usize> = (0..below(4))
                    .map(|_| (format!("k{}", below(50)).into(), (below(3) > 0).then_some(step)))
                    .collect();
                changes.sort();
                changes.dedup_by(|a, b| a.0 == b.0);
                apply(&mut whole, &changes);
                let alone: OrdMap<Name, usize> = changes
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), (*value)?)))
                    .collect();
                assert!(NameMap::of(changes.clone()).iter().eq(&alone), "step {step}");
                late = late.with(changes);
                if reads > 0 && step % reads == 0 {
                    assert_eq!(*late, whole, "step {step}");
                }
                assert_eq!(late.len(), whole.len(), "step {step}");
                assert!(reads == 0 || late.iter().eq(&whole), "step {step}");
                for key in 0..50 {
                    let key = format!("k{key}");
                    assert_eq!(late.get(&key), whole.get(&*key), "step {step}, {key}");
                }
                kept.push((late.clone(), whole.clone()));
            }
            // What came later changed nothing in the maps that it came from.
            for (late, whole) in kept {
                assert_eq!(*late, whole);
                let mut written = late.clone();
                written.insert("new".into(), 0);
                assert_eq!((late.len() + 1, late.contains_key("new")), (written.len(), false));
            }
        }
    }
}
