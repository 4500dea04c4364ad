//! Long-term memory: values under namespaces and keys, apart from threads and checkpoints.
//!
//! A store is not rolled back when a run fails or goes back in time, and every graph of a run sees the same one. The
//! rules that all backends share are here, so that a backend only keeps and finds: [`StoreConfig::prepare`] checks a
//! batch, joins puts of one key, reads filters and asks for embeddings; [`Filter`], [`words`] and [`rank`](mod@rank) say
//! what is found and in which order.

mod config;
mod embed;
mod error;
mod filter;
mod item;
mod items;
mod memory;
mod ops;
mod path;
mod prepare;
pub mod rank;
mod reembed;
mod sweeper;
mod words;

use std::fmt::Debug;

use async_trait::async_trait;

pub use config::{StoreConfig, TtlConfig, VectorIndex};
pub use embed::{Embedding, HashedNgrams};
pub use error::StoreError;
pub use filter::{Comparison, Filter, Test};
pub use item::Item;
pub use items::{ItemPlace, Items, StoredItem};
pub use memory::MemoryStore;
pub use ops::{
    Index, NamespaceQuery, Ranking, StoreAnswer, StoreOp, StoreQuery, Ttl, check_namespace, namespace,
};
pub use path::Path;
pub use prepare::{Order, Prepared, Read, Search, Written};
pub use reembed::{NewVectors, Outdated};
pub use sweeper::Sweeper;
pub use words::words;

use crate::checkpoint::progress::Progress;
use crate::value::Value;

/// A store for values that live longer than a thread.
///
/// A backend implements [`batch`](Store::batch) and [`sweep`](Store::sweep) and is accepted by the suite,
/// `superstep_suites::store`.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// Runs everything in `ops`; answers are in their order. Reads see the state before the puts, of several puts to
    /// one key the last counts, and either all puts are stored or none.
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError>;

    /// Removes what has expired and says how many items that were.
    async fn sweep(&self) -> Result<u64, StoreError>;

    /// Returns the configuration that the store was opened with, for a backend whose items can be embedded again.
    fn config(&self) -> Option<&StoreConfig> {
        None
    }

    /// Returns items that a search by meaning passes over because another embedding made their vectors, or none did: at
    /// most `limit` behind the place `after`, in an order that the backend chooses. Items that a put excluded are not
    /// among them.
    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        let _ = (after, limit);
        Ok(Vec::new())
    }

    /// Gives items new vectors, those whose value is still the same; says how many.
    async fn replace_vectors(&self, items: Vec<NewVectors>) -> Result<u64, StoreError> {
        let _ = items;
        Ok(0)
    }

    /// Embeds again what another embedding made vectors of, and what was put without one; says how many items that were.
    /// What a put excluded stays so. It may be stopped, and goes on when it is called again; `progress` counts items, and
    /// knows no total.
    async fn reembed(&self, progress: &Progress) -> Result<u64, StoreError> {
        reembed::reembed(self, progress).await
    }

    /// Stores `value`, which must be an object, in place of what is there.
    async fn put(&self, namespace: &[&str], key: &str, value: Value) -> Result<(), StoreError> {
        self.batch(vec![StoreOp::put(namespace, key, value)?])
            .await
            .map(drop)
    }

    /// Reads the item, if there is one.
    async fn get(&self, namespace: &[&str], key: &str) -> Result<Option<Item>, StoreError> {
        let answers = self.batch(vec![StoreOp::get(namespace, key)]).await?;
        Ok(answers.into_iter().next().and_then(StoreAnswer::into_item))
    }

    /// Removes the item; nothing happens when there is none.
    async fn delete(&self, namespace: &[&str], key: &str) -> Result<(), StoreError> {
        self.batch(vec![StoreOp::delete(namespace, key)]).await.map(drop)
    }

    /// Finds the items that match a query.
    async fn search(&self, query: StoreQuery) -> Result<Vec<Item>, StoreError> {
        let answers = self.batch(vec![StoreOp::Search(query)]).await?;
        Ok(answers
            .into_iter()
            .next()
            .map(StoreAnswer::into_items)
            .unwrap_or_default())
    }

    /// Lists the namespaces that hold items, sorted.
    async fn list_namespaces(&self, query: NamespaceQuery) -> Result<Vec<Vec<String>>, StoreError> {
        let answers = self.batch(vec![StoreOp::ListNamespaces(query)]).await?;
        Ok(answers
            .into_iter()
            .next()
            .map(StoreAnswer::into_namespaces)
            .unwrap_or_default())
    }
}
