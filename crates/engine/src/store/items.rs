//! Items in memory, and what is found among them: for the store in memory and for backends that only keep.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::item::Item;
use super::ops::StoreAnswer;
use super::prepare::{Order, Prepared, Read, Search, Written};
use super::rank;
use super::reembed::{NewVectors, Outdated};
use crate::value::Object;

/// Record that is kept of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredItem {
    /// What was put.
    pub value: Object,
    /// When the key was first put, in milliseconds since the Unix epoch.
    pub created_at: u64,
    /// When the value was put, in milliseconds since the Unix epoch.
    pub updated_at: u64,
    /// How long it lives after it is put or read, in milliseconds; forever when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// When it expires, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The words that it is found by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The vectors that it is found by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vectors: Vec<Vec<f32>>,
    /// Whose vectors these are; not known of what was stored before that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<String>,
    /// The paths that the put named; empty when nothing is to find it.
    #[serde(rename = "said", default, skip_serializing_if = "Option::is_none")]
    pub index_paths: Option<Vec<String>>,
}

/// The place of an item: namespace and key.
pub type ItemPlace = (Vec<String>, String);

/// Items by namespace and key.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// No namespace is without items.
    namespaces: BTreeMap<Vec<String>, BTreeMap<String, StoredItem>>,
}

impl Items {
    /// Creates an empty collection of items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.namespaces.values().map(BTreeMap::len).sum()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty()
    }

    /// Returns the record kept at a place.
    pub fn get(&self, namespace: &[String], key: &str) -> Option<&StoredItem> {
        self.namespaces.get(namespace)?.get(key)
    }

    /// Returns every item, by namespace and key.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], &str, &StoredItem)> {
        self.namespaces
            .iter()
            .flat_map(|(namespace, items)| items.iter().map(move |(key, kept)| (&**namespace, &**key, kept)))
    }

    /// Keeps an item in place of what is there.
    pub fn insert(&mut self, (namespace, key): ItemPlace, kept: StoredItem) {
        self.namespaces.entry(namespace).or_default().insert(key, kept);
    }

    /// Removes an item.
    pub fn remove(&mut self, namespace: &[String], key: &str) {
        if let Some(items) = self.namespaces.get_mut(namespace) {
            items.remove(key);
            if items.is_empty() {
                self.namespaces.remove(namespace);
            }
        }
    }

    /// Sets a new time at which an item expires.
    pub fn refresh(&mut self, namespace: &[String], key: &str, expires_at: Option<u64>) {
        if let Some(kept) = self
            .namespaces
            .get_mut(namespace)
            .and_then(|items| items.get_mut(key))
        {
            kept.expires_at = expires_at;
        }
    }

    /// Returns items that no search by meaning finds with this embedding and vectors of this length, although one
    /// could: at most `limit` behind `after`, by namespace and key.
    pub fn outdated(
        &self,
        embedding: &str,
        dims: usize,
        after: Option<&ItemPlace>,
        limit: usize,
    ) -> Vec<Outdated> {
        let from = after.map_or(&[][..], |(namespace, _)| namespace);
        let behind = |namespace: &[String], key: &str| {
            after.is_none_or(|(last, last_key)| (namespace, key) > (last.as_slice(), last_key.as_str()))
        };
        self.namespaces
            .range(from.to_vec()..)
            .flat_map(|(namespace, items)| items.iter().map(move |(key, kept)| (namespace, key, kept)))
            .filter(|(namespace, key, kept)| {
                behind(namespace, key) && !kept.is_excluded() && !kept.can_be_compared(Some(embedding), dims)
            })
            .take(limit)
            .map(|(namespace, key, kept)| Outdated {
                place: (namespace.clone(), key.clone()),
                updated_at: kept.updated_at,
                value: kept.value.clone(),
                index_paths: kept.index_paths.clone(),
            })
            .collect()
    }

    /// Returns the record at a place with its new vectors; nothing when its value has changed meanwhile.
    pub fn with_vectors(&self, embedding: &str, renewed: NewVectors) -> Option<(ItemPlace, StoredItem)> {
        let (namespace, key) = &renewed.place;
        let kept = self.get(namespace, key)?;
        (kept.updated_at == renewed.updated_at).then(|| {
            let kept = StoredItem {
                vectors: renewed.vectors,
                embedding: Some(embedding.to_owned()),
                ..kept.clone()
            };
            (renewed.place, kept)
        })
    }

    /// Returns the places of items that have expired at this time.
    pub fn expired(&self, now: u64) -> Vec<ItemPlace> {
        self.iter()
            .filter(|(_, _, kept)| kept.expires_at.is_some_and(|at| at <= now))
            .map(|(namespace, key, _)| (namespace.to_vec(), key.to_owned()))
            .collect()
    }

    /// Returns the record that a write puts at its place; none removes the one that is there.
    pub fn written(&self, batch: &Prepared, write: Written) -> (ItemPlace, Option<StoredItem>) {
        let before = self
            .get(&write.namespace, &write.key)
            .filter(|kept| batch.sees(kept.expires_at));
        let created_at = before.map_or(batch.now, |kept| kept.created_at);
        let kept = write.value.map(|value| StoredItem {
            value,
            created_at,
            updated_at: batch.now,
            ttl: write.ttl,
            expires_at: batch.expires(write.ttl),
            words: write.words,
            vectors: write.vectors,
            embedding: batch.embedding.clone(),
            index_paths: write.index_paths,
        });
        ((write.namespace, write.key), kept)
    }

    /// Answers a read. Items that get their full time again by it are added to `touched`, with their new time of
    /// expiry.
    pub fn answer(
        &self,
        batch: &Prepared,
        read: Read,
        touched: &mut Vec<(ItemPlace, Option<u64>)>,
    ) -> StoreAnswer {
        match read {
            Read::Get {
                namespace,
                key,
                refresh,
            } => {
                let kept = self
                    .get(&namespace, &key)
                    .filter(|kept| batch.sees(kept.expires_at));
                let item = kept.map(|kept| {
                    if refresh && kept.ttl.is_some() {
                        touched.push(((namespace.clone(), key.clone()), batch.expires(kept.ttl)));
                    }
                    kept.item(&namespace, &key, None)
                });
                StoreAnswer::Item(item)
            }
            Read::Search(search) => StoreAnswer::Items(self.find(batch, &search, touched)),
            Read::Namespaces(query) => {
                let holding = self
                    .namespaces
                    .iter()
                    .filter(|(_, items)| items.values().any(|kept| batch.sees(kept.expires_at)))
                    .map(|(namespace, _)| namespace.clone());
                StoreAnswer::Namespaces(query.select(holding))
            }
        }
    }

    fn find(
        &self,
        batch: &Prepared,
        search: &Search,
        touched: &mut Vec<(ItemPlace, Option<u64>)>,
    ) -> Vec<Item> {
        // Namespaces that begin with the prefix are neighbours.
        let mut found: Vec<(&Vec<String>, &String, &StoredItem)> = self
            .namespaces
            .range(search.prefix.clone()..)
            .take_while(|(namespace, _)| namespace.starts_with(&search.prefix))
            .flat_map(|(namespace, items)| items.iter().map(move |(key, kept)| (namespace, key, kept)))
            .filter(|(_, _, kept)| batch.sees(kept.expires_at))
            .collect();
        // How rare a word is shows in everything that is searched, so the filter comes after the scores.
        let scores: Vec<Option<f64>> = match &search.order {
            Order::Newest => vec![None; found.len()],
            Order::Words(words) => {
                rank::by_words(words, found.iter().map(|(_, _, kept)| kept.words.as_slice()))
            }
            Order::Vector(query) => found
                .iter()
                .map(
                    |(_, _, kept)| match kept.can_be_compared(batch.embedding.as_deref(), query.len()) {
                        true => rank::by_vectors(query, &kept.vectors),
                        false => None,
                    },
                )
                .collect(),
        };
        let mut ranked: Vec<_> = found
            .drain(..)
            .zip(scores)
            .filter(|((_, _, kept), score)| {
                (score.is_some() || search.order == Order::Newest) && search.filter.matches(&kept.value)
            })
            .collect();
        ranked.sort_by(|((_, _, a), score_a), ((_, _, b), score_b)| {
            let by_score = score_b.unwrap_or(0.0).total_cmp(&score_a.unwrap_or(0.0));
            by_score.then_with(|| Reverse(a.updated_at).cmp(&Reverse(b.updated_at)))
        });
        let page = ranked.into_iter().skip(search.offset).take(search.limit);
        page.map(|((namespace, key, kept), score)| {
            if search.refresh && kept.ttl.is_some() {
                touched.push(((namespace.clone(), key.clone()), batch.expires(kept.ttl)));
            }
            kept.item(namespace, key, score)
        })
        .collect()
    }
}

impl StoredItem {
    /// Returns whether the item's vectors, if it has any, are of this embedding and length. An item without a known
    /// embedding is compared with nothing.
    fn can_be_compared(&self, embedding: Option<&str>, dims: usize) -> bool {
        embedding.is_some()
            && self.embedding.as_deref() == embedding
            && self.vectors.iter().all(|vector| vector.len() == dims)
    }

    /// Returns whether no search is to find the item: its put named no paths, or, before that was noted, left neither words
    /// nor vectors.
    fn is_excluded(&self) -> bool {
        match &self.index_paths {
            Some(paths) => paths.is_empty(),
            None => self.embedding.is_none() && self.words.is_empty() && self.vectors.is_empty(),
        }
    }

    fn item(&self, namespace: &[String], key: &str, score: Option<f64>) -> Item {
        Item {
            namespace: namespace.to_vec(),
            key: key.to_owned(),
            value: self.value.clone(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            expires_at: self.expires_at,
            score,
        }
    }
}
