//! The suite that every store passes.
//!
//! Each case says how its store is configured, so a backend is made once for each case, with a clock that the case
//! holds and, where vectors are tried, an embedding whose vectors are known.
//!
//! ```
//! # use std::sync::Arc;
//! # use superstep::{MemoryStore, Store};
//! # async fn accept() {
//! let report = superstep_suites::store::run(async |config| Arc::new(MemoryStore::with_config(config)) as Arc<dyn Store>).await;
//! println!("{report}");
//! assert!(report.is_ok());
//! # }
//! ```

mod batches;
mod expiry;
mod filters;
mod history;
mod items;
mod namespaces;
mod vectors;
mod words;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use superstep::async_trait;

use super::{Mismatch, Outcome, Report, Running, same};
use superstep::run::Clock;
use superstep::store::{
    Embedding, Index, Item, MemoryStore, NamespaceQuery, Ranking, Store, StoreAnswer, StoreConfig,
    StoreError, StoreOp, StoreQuery, Ttl, TtlConfig, VectorIndex,
};
use superstep::{Value, json};

/// A clock that stands still until it is made to go on.
#[derive(Debug)]
pub struct HandClock(AtomicU64);

impl HandClock {
    /// Goes on.
    pub fn advance(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// An embedding with known vectors: how often each of four letters occurs.
#[derive(Debug)]
pub struct Letters;

#[async_trait]
impl Embedding for Letters {
    fn name(&self) -> &str {
        "letters"
    }
    fn dims(&self) -> usize {
        4
    }
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, StoreError> {
        let count = |text: &String, letter: char| text.chars().filter(|c| *c == letter).count() as f32;
        Ok(texts
            .iter()
            .map(|text| ['a', 'b', 'c', 'd'].map(|letter| count(text, letter)).to_vec())
            .collect())
    }
}

/// A store in a case, and the clock that it was given.
pub struct Bench {
    /// The store, empty at first.
    pub store: Arc<dyn Store>,
    /// What the store is compared with in random histories: as it is configured, in memory.
    pub model: MemoryStore,
    /// It has a vector index.
    pub indexed: bool,
    /// Its clock.
    pub clock: Arc<HandClock>,
}

/// One named expectation.
pub struct StoreCase {
    /// Group and name, e.g. `filters: texts`.
    pub name: &'static str,
    setup: fn(&mut StoreConfig),
    check: for<'a> fn(&'a Bench) -> Running<'a>,
}

impl fmt::Debug for StoreCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl StoreCase {
    /// Runs the case on an empty store that `make` opens with its configuration.
    pub async fn run(&self, make: &impl AsyncFn(StoreConfig) -> Arc<dyn Store>) -> Outcome {
        let clock = Arc::new(HandClock(AtomicU64::new(1_700_000_000_000)));
        let mut config = StoreConfig::default().clock(clock.clone());
        (self.setup)(&mut config);
        let bench = Bench {
            indexed: config.index.is_some(),
            model: MemoryStore::with_config(config.clone()),
            store: make(config).await,
            clock,
        };
        (self.check)(&bench).await
    }
}

/// Runs every case, each on a store that `make` opens with the case's configuration; it must be empty.
pub async fn run(make: impl AsyncFn(StoreConfig) -> Arc<dyn Store>) -> Report {
    let mut report = Report::default();
    for case in cases() {
        match case.run(&make).await {
            Ok(()) => report.passed.push(case.name),
            Err(reason) => report.failed.push((case.name, reason)),
        }
    }
    report
}

fn plain(_: &mut StoreConfig) {}

fn short(config: &mut StoreConfig) {
    config.ttl.default = Some(MINUTE);
}

fn lingering(config: &mut StoreConfig) {
    config.ttl = TtlConfig::default()
        .default_ttl(MINUTE)
        .refresh_on_read(false)
        .omit_expired(false);
}

fn vectors(config: &mut StoreConfig) {
    config.index = Some(VectorIndex::new(Arc::new(Letters)).fields(["text"]));
}

fn many_vectors(config: &mut StoreConfig) {
    config.index = Some(VectorIndex::new(Arc::new(Letters)).fields(["title", "parts[*].text"]));
}

fn one_field(config: &mut StoreConfig) {
    config.fields = vec!["note".to_owned()];
}

macro_rules! cases {
    ($($name:literal, $setup:ident => $check:path,)*) => {
        /// Returns every case, in the order of the report.
        pub fn cases() -> Vec<StoreCase> {
            vec![$(StoreCase { name: $name, setup: $setup, check: |bench| Box::pin($check(bench)) },)*]
        }
    };
}

cases! {
    "items: put, get, replace, delete", plain => items::basics,
    "items: when they were made and changed", plain => items::times,
    "items: any JSON object", plain => items::any_value,
    "items: keys that look alike", plain => items::keys,
    "items: large ones", plain => items::large,
    "items: deep ones, or a refusal", plain => items::deep,
    "namespaces: which can be", plain => namespaces::refused,
    "namespaces: any text as a label", plain => namespaces::labels,
    "namespaces: one label at a time", plain => namespaces::boundaries,
    "namespaces: listed while they hold items", plain => namespaces::listed,
    "namespaces: prefix, suffix, stars and depth", plain => namespaces::list_matches,
    "namespaces: pages", plain => namespaces::list_pages,
    "batch: reads see the state before it", plain => batches::batch_order,
    "batch: the last put of a key counts", plain => batches::batch_last,
    "batch: all or nothing", plain => batches::batch_whole,
    "batch: many at once", plain => batches::batch_large,
    "batch: several callers at once", plain => batches::concurrent,
    "search: the newest update first, in pages", plain => filters::newest,
    "search: nothing, and below a namespace without items", plain => filters::search_empty,
    "filters: equality", plain => filters::filter_equal,
    "filters: numbers", plain => filters::filter_numbers,
    "filters: texts", plain => filters::filter_texts,
    "filters: missing and null fields", plain => filters::filter_missing,
    "filters: objects and lists", plain => filters::filter_nested,
    "filters: fields of any name", plain => filters::filter_names,
    "filters: are combined, and come before the page", plain => filters::filter_pages,
    "filters: operators that do not exist", plain => filters::filter_refused,
    "words: items with at least one", plain => words::by_words,
    "words: folded", plain => words::words_folded,
    "words: scripts without spaces", plain => words::words_dense,
    "words: nothing but words", plain => words::words_only,
    "words: of the configured fields", one_field => words::words_fields,
    "words: of the paths of a put, or none", plain => words::words_paths,
    "words: follow the item", plain => words::words_follow,
    "words: with filter, namespace and pages", plain => words::words_scoped,
    "vectors: the nearest first, with their cosine", vectors => vectors::nearest,
    "vectors: the best of an item counts", many_vectors => vectors::best_vector,
    "vectors: of the paths of a put, or none", vectors => vectors::vector_paths,
    "vectors: follow the item", vectors => vectors::vectors_follow,
    "vectors: with filter, namespace and pages", vectors => vectors::vectors_scoped,
    "vectors: and words in the same store", vectors => vectors::vectors_and_words,
    "vectors: none without an index", plain => vectors::no_index,
    "ttl: expired items are gone", short => expiry::expired,
    "ttl: a sweep removes them and counts", short => expiry::swept,
    "ttl: of a put", short => expiry::ttl_of_put,
    "ttl: reading gives the full time again", short => expiry::refreshed,
    "ttl: unless the read says otherwise", short => expiry::not_refreshed,
    "ttl: an expired item that is put again is new", short => expiry::reborn,
    "ttl: expired items may be seen until swept", lingering => expiry::lingers,
    "histories: a random one, and items by words", short => history::history,
    "histories: a random one, and items by vectors", vectors => history::history,
    "histories: a random one, and items that expire but stay", lingering => history::history,
}

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

async fn search(bench: &Bench, query: StoreQuery) -> Result<Vec<String>, Mismatch> {
    Ok(bench
        .store
        .search(query)
        .await?
        .into_iter()
        .map(|item| item.key)
        .collect())
}

fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys
}

async fn value(bench: &Bench, namespace: &[&str], key: &str) -> Result<Option<Value>, Mismatch> {
    Ok(bench
        .store
        .get(namespace, key)
        .await?
        .map(|item| Value::Object(item.value)))
}

/// Puts each value a second after the one before, so that their order is known.
async fn fill(bench: &Bench, namespace: &[&str], values: &[(&str, Value)]) -> Outcome {
    for (key, value) in values {
        bench.store.put(namespace, key, value.clone()).await?;
        bench.clock.advance(SECOND);
    }
    Ok(())
}

fn refusal<T: fmt::Debug>(what: &str, outcome: Result<T, StoreError>, class: &str) -> Outcome {
    match outcome {
        Err(error) => same(what, error.class(), class).map_err(|_| format!("{what}: {error}").into()),
        Ok(done) => Err(format!("{what}: expected a refusal, got {done:?}").into()),
    }
}

fn paths(namespaces: Vec<Vec<String>>) -> Vec<String> {
    namespaces.into_iter().map(|labels| labels.join("/")).collect()
}

async fn list(bench: &Bench, query: NamespaceQuery) -> Result<Vec<String>, Mismatch> {
    Ok(paths(bench.store.list_namespaces(query).await?))
}
