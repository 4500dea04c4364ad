//! Results of nodes that are used again for the same input, in any thread of a graph.
//!
//! What is kept is everything a task wrote: its update, and where it leads. So a hit follows the edges the first run
//! chose, without asking a router again.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;
use xxhash_rust::xxh3::Xxh3;

use crate::base::ids::Name;
use crate::checkpoint::types::StorageError;
use crate::value::Value;

type KeyFn = dyn Fn(&Value) -> Value + Send + Sync;

/// Policy that keeps the results of a node for inputs it has seen. It needs a graph with a cache and does nothing
/// without one.
#[derive(Clone, Default)]
pub struct CachePolicy {
    key: Option<Arc<KeyFn>>,
    ttl: Option<Duration>,
    identity: Option<Name>,
}

impl fmt::Debug for CachePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachePolicy")
            .field("ttl", &self.ttl)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl CachePolicy {
    /// Creates a policy under which two inputs are the same when they are equal as a whole, whatever the order of keys;
    /// results never expire.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the key by which inputs are compared: two are the same when `key` gives the same for both.
    pub fn key(mut self, key: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        self.key = Some(Arc::new(key));
        self
    }
    /// Sets the time after which results expire.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }
    /// Sets the identity of the node: what it does, in a word. Where a cache outlives the program or serves several
    /// graphs, nodes of the same name share results only if this is the same too.
    pub fn identity(mut self, identity: impl Into<Name>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    pub(crate) fn expires(&self) -> Option<Duration> {
        self.ttl
    }
    /// Returns the place in the cache where the results of the node are kept.
    pub(crate) fn place(&self, node: &Name) -> Name {
        match &self.identity {
            Some(identity) => format!("{node}|{identity}").into(),
            None => node.clone(),
        }
    }
    pub(crate) fn key_of(&self, node: &Name, input: &Value) -> CacheKey {
        let digest = match &self.key {
            Some(key) => digest(&key(input)),
            None => digest(input),
        };
        CacheKey {
            place: self.place(node),
            digest: format!("{digest:032x}").into(),
        }
    }
}

/// Computes a hash that does not depend on the order of keys.
pub(crate) fn digest(value: &Value) -> u128 {
    fn text(hash: &mut Xxh3, tag: u8, text: &str) {
        hash.update(&[tag]);
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    fn feed(hash: &mut Xxh3, value: &Value) {
        match value {
            Value::Array(items) => {
                hash.update(b"[");
                hash.update(&(items.len() as u64).to_le_bytes());
                items.iter().for_each(|item| feed(hash, item));
            }
            Value::Object(entries) => {
                hash.update(b"{");
                hash.update(&(entries.len() as u64).to_le_bytes());
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                for (key, value) in entries {
                    text(hash, b'k', key);
                    feed(hash, value);
                }
            }
            Value::String(string) => text(hash, b's', string),
            other => text(hash, b'v', &other.to_string()),
        }
    }
    let mut hash = Xxh3::new();
    feed(&mut hash, value);
    hash.digest128()
}

/// The key of a result in a cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// The node, with what its policy calls its identity.
    pub place: Name,
    /// The input, as 32 hex digits.
    pub digest: Name,
}

/// The writes of a task, by channel.
pub type CachedWrites = Vec<(Name, Value)>;

/// A cache for the results of nodes. When it fails, the error is logged and the node runs: no run depends on it.
#[async_trait]
pub trait NodeCache: fmt::Debug + Send + Sync {
    /// Returns the result, unless it has expired.
    async fn get(&self, key: &CacheKey) -> Result<Option<CachedWrites>, StorageError>;
    /// Keeps a result, for as long as `ttl` says.
    async fn set(
        &self,
        key: CacheKey,
        writes: CachedWrites,
        ttl: Option<Duration>,
    ) -> Result<(), StorageError>;
    /// Forgets the results of these places.
    async fn clear(&self, places: &[Name]) -> Result<(), StorageError>;
}

/// A cache in memory, of bounded size: the result that was not used for the longest time goes first.
pub struct MemoryCache {
    capacity: usize,
    kept: Mutex<CacheEntries>,
}

#[derive(Default)]
struct CacheEntries {
    entries: HashMap<CacheKey, CachedEntry>,
    uses: u64,
}

struct CachedEntry {
    writes: CachedWrites,
    expires: Option<Instant>,
    used: u64,
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCache")
            .field("capacity", &self.capacity)
            .field("entries", &self.lock().entries.len())
            .finish()
    }
}

impl MemoryCache {
    /// Creates a cache that keeps at most this many results; at least one.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            kept: Mutex::default(),
        }
    }
    fn lock(&self) -> parking_lot::MutexGuard<'_, CacheEntries> {
        self.kept.lock()
    }
}

#[async_trait]
impl NodeCache for MemoryCache {
    async fn get(&self, key: &CacheKey) -> Result<Option<CachedWrites>, StorageError> {
        let mut kept = self.lock();
        kept.uses += 1;
        let used = kept.uses;
        let expired = |entry: &CachedEntry| entry.expires.is_some_and(|at| at <= Instant::now());
        match kept.entries.get_mut(key) {
            Some(entry) if expired(entry) => {
                kept.entries.remove(key);
                Ok(None)
            }
            Some(entry) => {
                entry.used = used;
                Ok(Some(entry.writes.clone()))
            }
            None => Ok(None),
        }
    }

    async fn set(
        &self,
        key: CacheKey,
        writes: CachedWrites,
        ttl: Option<Duration>,
    ) -> Result<(), StorageError> {
        let mut kept = self.lock();
        kept.uses += 1;
        let entry = CachedEntry {
            writes,
            expires: ttl.map(|ttl| Instant::now() + ttl),
            used: kept.uses,
        };
        kept.entries.insert(key, entry);
        if kept.entries.len() > self.capacity {
            // A tenth at once, so that a full cache is not searched for each new result.
            let mut by_use: Vec<(u64, CacheKey)> = kept
                .entries
                .iter()
                .map(|(key, entry)| (entry.used, key.clone()))
                .collect();
            by_use.sort_unstable_by_key(|(used, _)| *used);
            let surplus = kept.entries.len() - self.capacity;
            for (_, key) in by_use.into_iter().take(surplus.max(self.capacity / 10)) {
                kept.entries.remove(&key);
            }
        }
        Ok(())
    }

    async fn clear(&self, places: &[Name]) -> Result<(), StorageError> {
        self.lock().entries.retain(|key, _| !places.contains(&key.place));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn equal_inputs_have_equal_digests() {
        assert_eq!(
            digest(&json!({"a": 1, "b": [2]})),
            digest(&json!({"b": [2], "a": 1}))
        );
        let different = [
            json!({"a": 1}),
            json!(["a", 1]),
            json!("a"),
            json!(["a"]),
            json!([["a"]]),
            json!(null),
            json!("null"),
        ];
        for (i, one) in different.iter().enumerate() {
            for other in &different[..i] {
                assert_ne!(digest(one), digest(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn nodes_of_one_name_share_results_only_when_they_do_the_same() {
        let policy = CachePolicy::default().ttl(Duration::from_secs(1));
        let (name, one) = ("n".into(), policy.clone().identity("adds 1"));
        assert_eq!(one.expires(), Some(Duration::from_secs(1)));
        assert_ne!(one.place(&name), policy.place(&name));
        assert_ne!(one.place(&name), policy.identity("adds 2").place(&name));
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_used_goes_first_and_old_results_expire() {
        let cache = MemoryCache::new(2);
        let key = |digest: &str| CacheKey {
            place: "n".into(),
            digest: digest.into(),
        };
        let has = async |digest| cache.get(&key(digest)).await.unwrap().is_some();
        for digest in ["1", "2"] {
            cache.set(key(digest), Vec::new(), None).await.unwrap();
        }
        assert!(has("1").await);
        cache
            .set(key("3"), Vec::new(), Some(Duration::from_secs(5)))
            .await
            .unwrap();
        assert!(has("1").await && !has("2").await && has("3").await);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(has("1").await && !has("3").await);
        cache.clear(&["n".into()]).await.unwrap();
        assert!(!has("1").await);
    }
}
