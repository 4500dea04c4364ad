//! A store in memory. Nothing of it survives the process.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;

use super::config::StoreConfig;
use super::error::StoreError;
use super::item::Item;
use super::ops::{StoreAnswer, StoreOp};
use super::prepare::{Order, Prepared, Read, Search, Written};
use super::{Store, rank};
use crate::value::Object;

/// Keeps items in memory.
#[derive(Default)]
pub struct MemoryStore {
    config: StoreConfig,
    namespaces: RwLock<Namespaces>,
}

/// Items by namespace and key. No namespace is without items.
type Namespaces = BTreeMap<Vec<String>, BTreeMap<String, Kept>>;

struct Kept {
    value: Object,
    created_at: u64,
    updated_at: u64,
    ttl: Option<u64>,
    expires_at: Option<u64>,
    words: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

/// The place of an item.
type Place = (Vec<String>, String);

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespaces = self.namespaces.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("MemoryStore")
            .field("items", &namespaces.values().map(BTreeMap::len).sum::<usize>())
            .finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// An empty store without vectors, whose items live forever.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store.
    pub fn with_config(config: StoreConfig) -> Self {
        Self {
            config,
            namespaces: RwLock::default(),
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let mut batch = self.config.prepare(ops).await?;
        let mut touched = Vec::new();
        {
            let namespaces = self.namespaces.read().unwrap_or_else(PoisonError::into_inner);
            for (place, read) in std::mem::take(&mut batch.reads) {
                batch.answers[place] = answer(&namespaces, &batch, read, &mut touched);
            }
        }
        if !touched.is_empty() || !batch.writes.is_empty() {
            let mut namespaces = self.namespaces.write().unwrap_or_else(PoisonError::into_inner);
            for (namespace, key) in touched {
                if let Some(kept) = namespaces
                    .get_mut(&namespace)
                    .and_then(|items| items.get_mut(&key))
                {
                    kept.expires_at = batch.expires(kept.ttl);
                }
            }
            for write in std::mem::take(&mut batch.writes) {
                apply(&mut namespaces, &batch, write);
            }
        }
        Ok(batch.answers)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        let now = self.config.clock.now_ms();
        let mut removed = 0;
        let mut namespaces = self.namespaces.write().unwrap_or_else(PoisonError::into_inner);
        namespaces.retain(|_, items| {
            let before = items.len();
            items.retain(|_, kept| kept.expires_at.is_none_or(|at| at > now));
            removed += (before - items.len()) as u64;
            !items.is_empty()
        });
        Ok(removed)
    }
}

fn answer(namespaces: &Namespaces, batch: &Prepared, read: Read, touched: &mut Vec<Place>) -> StoreAnswer {
    match read {
        Read::Get {
            namespace,
            key,
            refresh,
        } => {
            let kept = namespaces.get(&namespace).and_then(|items| items.get(&key));
            let item = kept.filter(|kept| batch.sees(kept.expires_at)).map(|kept| {
                if refresh && kept.ttl.is_some() {
                    touched.push((namespace.clone(), key.clone()));
                }
                kept.item(&namespace, &key, None)
            });
            StoreAnswer::Item(item)
        }
        Read::Search(search) => StoreAnswer::Items(find(namespaces, batch, &search, touched)),
        Read::Namespaces(query) => {
            let holding = namespaces
                .iter()
                .filter(|(_, items)| items.values().any(|kept| batch.sees(kept.expires_at)))
                .map(|(namespace, _)| namespace.clone());
            StoreAnswer::Namespaces(query.select(holding))
        }
    }
}

fn find(namespaces: &Namespaces, batch: &Prepared, search: &Search, touched: &mut Vec<Place>) -> Vec<Item> {
    // Namespaces that begin with the prefix are neighbours.
    let mut found: Vec<(&Vec<String>, &String, &Kept)> = namespaces
        .range(search.prefix.clone()..)
        .take_while(|(namespace, _)| namespace.starts_with(&search.prefix))
        .flat_map(|(namespace, items)| items.iter().map(move |(key, kept)| (namespace, key, kept)))
        .filter(|(_, _, kept)| batch.sees(kept.expires_at))
        .collect();
    // How rare a word is shows in everything that is searched, so the filter comes after the scores.
    let scores: Vec<Option<f64>> = match &search.order {
        Order::Newest => vec![None; found.len()],
        Order::Words(words) => rank::by_words(words, found.iter().map(|(_, _, kept)| kept.words.as_slice())),
        Order::Vector(query) => found
            .iter()
            .map(|(_, _, kept)| rank::by_vectors(query, &kept.vectors))
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
            touched.push((namespace.clone(), key.clone()));
        }
        kept.item(namespace, key, score)
    })
    .collect()
}

fn apply(namespaces: &mut Namespaces, batch: &Prepared, write: Written) {
    let Some(value) = write.value else {
        if let Some(items) = namespaces.get_mut(&write.namespace) {
            items.remove(&write.key);
            if items.is_empty() {
                namespaces.remove(&write.namespace);
            }
        }
        return;
    };
    let items = namespaces.entry(write.namespace).or_default();
    let before = items.get(&write.key).filter(|kept| batch.sees(kept.expires_at));
    let kept = Kept {
        value,
        created_at: before.map_or(batch.now, |kept| kept.created_at),
        updated_at: batch.now,
        ttl: write.ttl,
        expires_at: batch.expires(write.ttl),
        words: write.words,
        vectors: write.vectors,
    };
    items.insert(write.key, kept);
}

impl Kept {
    fn item(&self, namespace: &[String], key: &str, score: Option<f64>) -> Item {
        Item {
            namespace: namespace.to_vec(),
            key: key.to_owned(),
            value: self.value.clone(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            score,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn memory_passes_the_suite() {
        let make = async |config| Arc::new(MemoryStore::with_config(config)) as Arc<dyn Store>;
        let report = crate::conformance::store::run(make).await;
        assert!(report.is_ok(), "{report}");
        assert!(report.passed.len() > 40, "the suite has shrunk: {report}");
    }
}
