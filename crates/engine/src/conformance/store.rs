//! The suite that every store passes.
//!
//! Each case says how its store is configured, so a backend is made once for each case, with a clock that the case
//! holds and, where vectors are tried, an embedding whose vectors are known.
//!
//! ```
//! # use std::sync::Arc;
//! # use superstep::{MemoryStore, Store, conformance};
//! # async fn accept() {
//! let report = conformance::store::run(async |config| Arc::new(MemoryStore::with_config(config)) as Arc<dyn Store>).await;
//! println!("{report}");
//! assert!(report.is_ok());
//! # }
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;

use super::{Mismatch, Outcome, Report, Running, same};
use crate::clock::Clock;
use crate::json;
use crate::store::{
    Embedding, Index, Item, MemoryStore, NamespaceQuery, Ranking, Store, StoreAnswer, StoreConfig,
    StoreError, StoreOp, StoreQuery, Ttl, TtlConfig, VectorIndex,
};
use crate::value::Value;

/// A clock that stands still until it is told to go on.
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
pub struct Case {
    /// Group and name, e.g. `filters: texts`.
    pub name: &'static str,
    setup: fn(&mut StoreConfig),
    check: for<'a> fn(&'a Bench) -> Running<'a>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    /// Runs the case on an empty store that `make` opens as it is told.
    pub async fn run(&self, make: &impl AsyncFn(StoreConfig) -> Arc<dyn Store>) -> Outcome {
        let clock = Arc::new(HandClock(AtomicU64::new(1_700_000_000_000)));
        let mut config = StoreConfig {
            clock: clock.clone(),
            ..StoreConfig::default()
        };
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
    config.ttl = TtlConfig {
        default: Some(MINUTE),
        refresh_on_read: false,
        omit_expired: false,
    };
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
    ($($name:literal, $setup:ident => $check:ident,)*) => {
        /// Every case, in the order of the report.
        pub fn cases() -> Vec<Case> {
            vec![$(Case { name: $name, setup: $setup, check: |bench| Box::pin($check(bench)) },)*]
        }
    };
}

cases! {
    "items: put, get, replace, delete", plain => basics,
    "items: when they were made and changed", plain => times,
    "items: any JSON object", plain => any_value,
    "items: keys that look alike", plain => keys,
    "items: large ones", plain => large,
    "items: deep ones, or a refusal", plain => deep,
    "namespaces: which can be", plain => refused,
    "namespaces: any text as a label", plain => labels,
    "namespaces: one label at a time", plain => boundaries,
    "namespaces: listed while they hold items", plain => listed,
    "namespaces: prefix, suffix, stars and depth", plain => list_matches,
    "namespaces: pages", plain => list_pages,
    "batch: reads see the state before it", plain => batch_order,
    "batch: the last put of a key counts", plain => batch_last,
    "batch: all or nothing", plain => batch_whole,
    "batch: many at once", plain => batch_large,
    "batch: several callers at once", plain => concurrent,
    "search: the newest update first, in pages", plain => newest,
    "search: nothing, and below a namespace without items", plain => search_empty,
    "filters: equality", plain => filter_equal,
    "filters: numbers", plain => filter_numbers,
    "filters: texts", plain => filter_texts,
    "filters: missing and null fields", plain => filter_missing,
    "filters: objects and lists", plain => filter_nested,
    "filters: fields of any name", plain => filter_names,
    "filters: are combined, and come before the page", plain => filter_pages,
    "filters: operators that do not exist", plain => filter_refused,
    "words: items with at least one", plain => by_words,
    "words: folded", plain => words_folded,
    "words: scripts without spaces", plain => words_dense,
    "words: nothing but words", plain => words_only,
    "words: of the configured fields", one_field => words_fields,
    "words: of the paths of a put, or none", plain => words_paths,
    "words: follow the item", plain => words_follow,
    "words: with filter, namespace and pages", plain => words_scoped,
    "vectors: the nearest first, with their cosine", vectors => nearest,
    "vectors: the best of an item counts", many_vectors => best_vector,
    "vectors: of the paths of a put, or none", vectors => vector_paths,
    "vectors: follow the item", vectors => vectors_follow,
    "vectors: with filter, namespace and pages", vectors => vectors_scoped,
    "vectors: and words in the same store", vectors => vectors_and_words,
    "vectors: none without an index", plain => no_index,
    "ttl: expired items are gone", short => expired,
    "ttl: a sweep removes them and counts", short => swept,
    "ttl: of a put", short => ttl_of_put,
    "ttl: reading gives the full time again", short => refreshed,
    "ttl: unless the read says otherwise", short => not_refreshed,
    "ttl: an expired item that is put again is new", short => reborn,
    "ttl: expired items may be seen until swept", lingering => lingers,
    "histories: a random one, and items by words", short => history,
    "histories: a random one, and items by vectors", vectors => history,
    "histories: a random one, and items that expire but stay", lingering => history,
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

async fn basics(bench: &Bench) -> Outcome {
    let store = &bench.store;
    same("missing", store.get(&["a"], "k").await?, None)?;
    store.put(&["a"], "k", json!({"x": 1, "gone": true})).await?;
    let item = store.get(&["a"], "k").await?.ok_or("the item is not there")?;
    same(
        "its place",
        (item.namespace, item.key, item.score),
        (vec!["a".to_owned()], "k".to_owned(), None),
    )?;
    same(
        "its value",
        Value::Object(item.value),
        json!({"x": 1, "gone": true}),
    )?;
    store.put(&["a"], "k", json!({"x": 2})).await?;
    same(
        "replaced",
        value(bench, &["a"], "k").await?,
        Some(json!({"x": 2})),
    )?;
    same("another namespace", store.get(&["a", "b"], "k").await?, None)?;
    store.delete(&["a"], "k").await?;
    same("deleted", store.get(&["a"], "k").await?, None)?;
    store.delete(&["a"], "k").await?;
    store.delete(&["nowhere"], "k").await?;
    refusal(
        "a text",
        store.put(&["a"], "k", json!("text")).await,
        "ValueError",
    )
}

async fn times(bench: &Bench) -> Outcome {
    let store = &bench.store;
    let began = bench.clock.now_ms();
    store.put(&["a"], "k", json!({"x": 1})).await?;
    bench.clock.advance(SECOND);
    store.put(&["a"], "k", json!({"x": 2})).await?;
    bench.clock.advance(SECOND);
    let item = store.get(&["a"], "k").await?.ok_or("the item is not there")?;
    same(
        "made and changed",
        (item.created_at, item.updated_at),
        (began, began + 1000),
    )?;
    store.delete(&["a"], "k").await?;
    store.put(&["a"], "k", json!({"x": 3})).await?;
    let item = store.get(&["a"], "k").await?.ok_or("the item is not there")?;
    same(
        "made again",
        (item.created_at, item.updated_at),
        (began + 2000, began + 2000),
    )
}

async fn any_value(bench: &Bench) -> Outcome {
    let values = [
        json!({}),
        json!({"": "", " ": " ", "a.b": 1, "$x": 2, "\"": "\\", "nul": "a\u{0}b", "é": "日本🎉\u{2028}"}),
        json!({"n": [0, -1, 1.5, 1e300, -0.0, 9_007_199_254_740_993_i64, u64::MAX, i64::MIN], "b": [true, false, null]}),
        json!({"deep": {"a": [{"b": [[[]]]}, {}]}}),
    ];
    for (n, wanted) in values.iter().enumerate() {
        let key = n.to_string();
        bench.store.put(&["values"], &key, wanted.clone()).await?;
        same(
            "the value",
            value(bench, &["values"], &key).await?,
            Some(wanted.clone()),
        )?;
    }
    Ok(())
}

async fn keys(bench: &Bench) -> Outcome {
    let keys = [
        "", " ", "a", "A", "á", "a\u{301}", "a ", "a.b", "a/b", "a:b", "a%", "a_", "*", "'; --", "\n", "🎉",
    ];
    for key in keys {
        bench.store.put(&["keys"], key, json!({"key": key})).await?;
    }
    for key in keys {
        same(
            key,
            value(bench, &["keys"], key).await?,
            Some(json!({"key": key})),
        )?;
    }
    let all = search(bench, StoreQuery::under(&["keys"]).limit(100)).await?;
    same("all", sorted(all), sorted(keys.map(str::to_owned).to_vec()))?;
    refusal(
        "NUL",
        bench.store.put(&["keys"], "a\0", json!({})).await,
        "ValueError",
    )
}

async fn large(bench: &Bench) -> Outcome {
    let text: String = (0..200_000)
        .map(|n| char::from(b'a' + (n * 7 % 26) as u8))
        .collect();
    let value = json!({"text": text, "list": (0..5000).collect::<Vec<_>>()});
    bench.store.put(&["large"], "k", value.clone()).await?;
    same(
        "a large value",
        self::value(bench, &["large"], "k").await?,
        Some(value),
    )
}

async fn deep(bench: &Bench) -> Outcome {
    let nested = |levels: usize| json!({"v": (1..levels).fold(json!(1), |inner, _| json!([inner]))});
    bench.store.put(&["deep"], "k", nested(120)).await?;
    same(
        "as deep as can be",
        value(bench, &["deep"], "k").await?,
        Some(nested(120)),
    )?;
    refusal(
        "deeper",
        bench.store.put(&["deep"], "l", nested(121)).await,
        "ValueError",
    )?;
    same("and not stored", value(bench, &["deep"], "l").await?, None)
}

async fn refused(bench: &Bench) -> Outcome {
    let store = &bench.store;
    let bad: [&[&str]; 6] = [
        &[],
        &[""],
        &["a", ""],
        &["a.b"],
        &["langgraph", "x"],
        &["a", "b\0"],
    ];
    for namespace in bad {
        let what = format!("{namespace:?}");
        refusal(
            &what,
            store.put(namespace, "k", json!({})).await,
            "InvalidNamespaceError",
        )?;
        refusal(&what, store.get(namespace, "k").await, "InvalidNamespaceError")?;
        refusal(&what, store.delete(namespace, "k").await, "InvalidNamespaceError")?;
    }
    for prefix in [&["a.b"], &[""]] {
        let what = format!("prefix {prefix:?}");
        refusal(
            &what,
            store.search(StoreQuery::under(prefix)).await,
            "InvalidNamespaceError",
        )?;
        refusal(
            &what,
            store.list_namespaces(NamespaceQuery::under(prefix)).await,
            "InvalidNamespaceError",
        )?;
    }
    store.put(&["a", "langgraph"], "k", json!({})).await?;
    same(
        "nothing else",
        store.list_namespaces(NamespaceQuery::default()).await?.len(),
        1,
    )
}

async fn labels(bench: &Bench) -> Outcome {
    let labels = [
        "a", "A", "á", "a b", "a/b", "a:b", "%", "_", "*", "a\n", "'\"\\", "{a,b}", "[x]", "🎉", "\u{1}",
    ];
    for label in labels {
        bench
            .store
            .put(&["labels", label], "k", json!({"label": label}))
            .await?;
    }
    for label in labels {
        same(
            label,
            value(bench, &["labels", label], "k").await?,
            Some(json!({"label": label})),
        )?;
        let found = bench.store.search(StoreQuery::under(&["labels", label])).await?;
        let found: Vec<_> = found.into_iter().map(|item| item.namespace).collect();
        same(
            "searched",
            found,
            vec![vec!["labels".to_owned(), label.to_owned()]],
        )?;
    }
    let mut wanted: Vec<Vec<String>> = labels
        .map(|label| vec!["labels".to_owned(), label.to_owned()])
        .to_vec();
    wanted.sort();
    same(
        "listed",
        bench.store.list_namespaces(NamespaceQuery::default()).await?,
        wanted,
    )
}

async fn boundaries(bench: &Bench) -> Outcome {
    let namespaces: [&[&str]; 6] = [
        &["a"],
        &["a", "b"],
        &["a", "b", "c"],
        &["ab"],
        &["a", "bc"],
        &["b", "a"],
    ];
    for namespace in namespaces {
        bench
            .store
            .put(namespace, &namespace.join("-"), json!({}))
            .await?;
    }
    let below =
        async |prefix: &[&str]| Ok::<_, Mismatch>(sorted(search(bench, StoreQuery::under(prefix)).await?));
    same("everything", below(&[]).await?.len(), 6)?;
    same(
        "a",
        below(&["a"]).await?,
        vec![
            "a".to_owned(),
            "a-b".to_owned(),
            "a-b-c".to_owned(),
            "a-bc".to_owned(),
        ],
    )?;
    same(
        "a, b",
        below(&["a", "b"]).await?,
        vec!["a-b".to_owned(), "a-b-c".to_owned()],
    )?;
    same("A", below(&["A"]).await?, vec![])?;
    same("no stars in searches", below(&["*"]).await?, vec![])
}

fn paths(namespaces: Vec<Vec<String>>) -> Vec<String> {
    namespaces.into_iter().map(|labels| labels.join("/")).collect()
}

async fn list(bench: &Bench, query: NamespaceQuery) -> Result<Vec<String>, Mismatch> {
    Ok(paths(bench.store.list_namespaces(query).await?))
}

async fn listed(bench: &Bench) -> Outcome {
    let store = &bench.store;
    same("none", list(bench, NamespaceQuery::default()).await?, vec![])?;
    store.get(&["read"], "k").await?;
    store.delete(&["deleted"], "k").await?;
    same(
        "reading makes none",
        list(bench, NamespaceQuery::default()).await?,
        vec![],
    )?;
    for (namespace, key) in [("b", "1"), ("b", "2"), ("a", "1")] {
        store.put(&[namespace], key, json!({})).await?;
    }
    same(
        "two",
        list(bench, NamespaceQuery::default()).await?,
        vec!["a".to_owned(), "b".to_owned()],
    )?;
    store.delete(&["b"], "1").await?;
    store.delete(&["a"], "1").await?;
    same(
        "one",
        list(bench, NamespaceQuery::default()).await?,
        vec!["b".to_owned()],
    )
}

async fn list_matches(bench: &Bench) -> Outcome {
    let namespaces: [&[&str]; 8] = [
        &["a"],
        &["a", "b"],
        &["a", "b", "c"],
        &["a", "b", "d", "e"],
        &["a", "x", "c"],
        &["ab", "c"],
        &["users", "1", "prefs"],
        &["users", "2", "prefs", "v1"],
    ];
    for namespace in namespaces {
        bench.store.put(namespace, "k", json!({})).await?;
    }
    let ask = async |prefix: &[&str], suffix: &[&str], max_depth: Option<usize>| {
        let query = NamespaceQuery {
            suffix: crate::store::namespace(suffix),
            max_depth,
            ..NamespaceQuery::under(prefix)
        };
        list(bench, query).await
    };
    let want = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    same(
        "prefix",
        ask(&["a", "b"], &[], None).await?,
        want(&["a/b", "a/b/c", "a/b/d/e"]),
    )?;
    same(
        "suffix",
        ask(&[], &["c"], None).await?,
        want(&["a/b/c", "a/x/c", "ab/c"]),
    )?;
    same(
        "both",
        ask(&["a"], &["c"], None).await?,
        want(&["a/b/c", "a/x/c"]),
    )?;
    same(
        "a star in front",
        ask(&["a", "*", "c"], &[], None).await?,
        want(&["a/b/c", "a/x/c"]),
    )?;
    same(
        "a star behind",
        ask(&[], &["*", "prefs"], None).await?,
        want(&["users/1/prefs"]),
    )?;
    same(
        "only a star",
        ask(&["*"], &[], Some(1)).await?,
        want(&["a", "ab", "users"]),
    )?;
    same(
        "depth",
        ask(&["a"], &[], Some(2)).await?,
        want(&["a", "a/b", "a/x"]),
    )?;
    same(
        "depth after matching",
        ask(&[], &["v1"], Some(2)).await?,
        want(&["users/2"]),
    )?;
    same(
        "longer than all",
        ask(&["a", "b", "d", "e", "f"], &[], None).await?,
        want(&[]),
    )
}

async fn list_pages(bench: &Bench) -> Outcome {
    let puts = (0..250).map(|n| StoreOp::put(&["page", &format!("{n:03}"), "x"], "k", json!({})));
    bench.store.batch(puts.collect::<Result<_, _>>()?).await?;
    let page = async |max_depth, offset, limit| {
        let query = NamespaceQuery {
            max_depth,
            offset,
            limit,
            ..NamespaceQuery::default()
        };
        list(bench, query).await
    };
    same(
        "the default limit",
        list(bench, NamespaceQuery::default()).await?.len(),
        100,
    )?;
    same(
        "a page",
        page(None, 120, 2).await?,
        vec!["page/120/x".to_owned(), "page/121/x".to_owned()],
    )?;
    same(
        "cut first, then paged",
        page(Some(2), 249, 10).await?,
        vec!["page/249".to_owned()],
    )?;
    same("cut to one", page(Some(1), 0, 10).await?, vec!["page".to_owned()])?;
    same("past the end", page(None, 250, 10).await?, vec![])
}

async fn batch_order(bench: &Bench) -> Outcome {
    let ops = vec![
        StoreOp::put(&["a"], "k", json!({"v": 1}))?,
        StoreOp::get(&["a"], "k"),
        StoreOp::put(&["a"], "k", json!({"v": 2}))?,
        StoreOp::Search(StoreQuery::under(&["a"])),
        StoreOp::ListNamespaces(NamespaceQuery::default()),
    ];
    let answers = bench.store.batch(ops).await?;
    let nothing = vec![
        StoreAnswer::Done,
        StoreAnswer::Item(None),
        StoreAnswer::Done,
        StoreAnswer::Items(vec![]),
        StoreAnswer::Namespaces(vec![]),
    ];
    same("the answers", answers, nothing)?;
    same(
        "afterwards",
        value(bench, &["a"], "k").await?,
        Some(json!({"v": 2})),
    )?;
    let ops = vec![
        StoreOp::delete(&["a"], "k"),
        StoreOp::get(&["a"], "k"),
        StoreOp::get(&["a"], "other"),
    ];
    let answers = bench.store.batch(ops).await?;
    let found = answers
        .into_iter()
        .map(|answer| answer.into_item().map(|item| item.key));
    same(
        "deleted after it was read",
        found.collect::<Vec<_>>(),
        vec![None, Some("k".to_owned()), None],
    )?;
    same("nothing to do", bench.store.batch(vec![]).await?, vec![])
}

async fn batch_last(bench: &Bench) -> Outcome {
    let ops = vec![
        StoreOp::delete(&["a"], "k"),
        StoreOp::put(&["a"], "k", json!({"v": 1}))?,
        StoreOp::put(&["a"], "gone", json!({"v": 1}))?,
        StoreOp::put(&["b"], "k", json!({"v": 3}))?,
        StoreOp::delete(&["a"], "gone"),
    ];
    bench.store.batch(ops).await?;
    same(
        "put last",
        value(bench, &["a"], "k").await?,
        Some(json!({"v": 1})),
    )?;
    same("deleted last", value(bench, &["a"], "gone").await?, None)?;
    same(
        "another namespace",
        value(bench, &["b"], "k").await?,
        Some(json!({"v": 3})),
    )
}

async fn batch_whole(bench: &Bench) -> Outcome {
    let bad = [
        StoreOp::put(&["a.b"], "k", json!({}))?,
        StoreOp::Search(StoreQuery::under(&[]).filter(json!({"x": {"$in": []}}))),
        StoreOp::Search(StoreQuery::under(&[]).filter(json!([1]))),
        StoreOp::put(&["a"], "p", json!({}))?.indexed(Index::Paths(vec!["x[".to_owned()])),
        StoreOp::Search(StoreQuery::under(&[]).query("x").by(Ranking::Vectors)),
    ];
    for op in bad {
        let what = format!("{op:?}");
        let outcome = bench
            .store
            .batch(vec![StoreOp::put(&["a"], "k", json!({"v": 1}))?, op])
            .await;
        if outcome.is_ok() {
            return Err(format!("{what} was accepted").into());
        }
        same(&what, value(bench, &["a"], "k").await?, None)?;
    }
    Ok(())
}

async fn batch_large(bench: &Bench) -> Outcome {
    let puts =
        (0..1200).map(|n| StoreOp::put(&["many", &(n % 7).to_string()], n.to_string(), json!({"n": n})));
    bench.store.batch(puts.collect::<Result<_, _>>()?).await?;
    let gets = (0..1200)
        .map(|n| StoreOp::get(&["many", &(n % 7).to_string()], n.to_string()))
        .collect();
    let answers = bench.store.batch(gets).await?;
    for (n, answer) in answers.into_iter().enumerate() {
        let item = answer
            .into_item()
            .ok_or_else(|| format!("item {n} is not there"))?;
        same("its value", item.value.get("n"), Some(&json!(n)))?;
    }
    let all = search(bench, StoreQuery::under(&["many"]).limit(5000)).await?;
    same("all", all.len(), 1200)
}

async fn concurrent(bench: &Bench) -> Outcome {
    let write = async |n: u64| -> Outcome {
        let namespace = ["shared", if n.is_multiple_of(2) { "even" } else { "odd" }];
        bench
            .store
            .put(&namespace, &n.to_string(), json!({"n": n}))
            .await?;
        bench.store.put(&["shared"], "last", json!({"n": n})).await?;
        same(
            "own item",
            value(bench, &namespace, &n.to_string()).await?,
            Some(json!({"n": n})),
        )?;
        bench
            .store
            .search(StoreQuery::under(&["shared"]).filter(json!({"n": {"$lt": 5}})))
            .await?;
        Ok(())
    };
    join_all((0..60).map(write))
        .await
        .into_iter()
        .collect::<Result<(), _>>()?;
    same(
        "all",
        search(bench, StoreQuery::under(&["shared"]).limit(100))
            .await?
            .len(),
        61,
    )
}

async fn newest(bench: &Bench) -> Outcome {
    let values: Vec<(String, Value)> = (0..25).map(|n| (format!("k{n:02}"), json!({"n": n}))).collect();
    let values: Vec<(&str, Value)> = values
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()))
        .collect();
    fill(bench, &["a"], &values).await?;
    bench
        .store
        .put(&["a"], "k03", json!({"n": 3, "again": true}))
        .await?;
    let ten = search(bench, StoreQuery::under(&["a"])).await?;
    same("the default limit", ten.len(), 10)?;
    same(
        "the newest",
        &ten[..3],
        &["k03".to_owned(), "k24".to_owned(), "k23".to_owned()],
    )?;
    let page = search(bench, StoreQuery::under(&["a"]).offset(1).limit(2)).await?;
    same("a page", page, vec!["k24".to_owned(), "k23".to_owned()])?;
    let last = search(bench, StoreQuery::under(&["a"]).offset(24)).await?;
    same("the last page", last, vec!["k00".to_owned()])?;
    same(
        "past the end",
        search(bench, StoreQuery::under(&["a"]).offset(25)).await?,
        vec![],
    )?;
    same(
        "none wanted",
        search(bench, StoreQuery::under(&["a"]).limit(0)).await?,
        vec![],
    )?;
    let puts =
        [("z", "1"), ("y", "2"), ("y", "1")].map(|(ns, key)| StoreOp::put(&["tie", ns], key, json!({})));
    bench
        .store
        .batch(puts.into_iter().collect::<Result<_, _>>()?)
        .await?;
    let tied = bench.store.search(StoreQuery::under(&["tie"])).await?;
    let tied: Vec<_> = tied
        .into_iter()
        .map(|item| format!("{}{}", item.namespace[1], item.key))
        .collect();
    same(
        "at the same time, by place",
        tied,
        vec!["y1".to_owned(), "y2".to_owned(), "z1".to_owned()],
    )
}

async fn search_empty(bench: &Bench) -> Outcome {
    same(
        "an empty store",
        search(bench, StoreQuery::default()).await?,
        vec![],
    )?;
    bench.store.put(&["a"], "k", json!({"text": "a"})).await?;
    same(
        "elsewhere",
        search(bench, StoreQuery::under(&["b"])).await?,
        vec![],
    )?;
    let query = StoreQuery::under(&["b"]).query("a");
    same("elsewhere, with a query", search(bench, query).await?, vec![])?;
    same(
        "an empty query is none",
        search(bench, StoreQuery::under(&["a"]).query("")).await?,
        vec!["k".to_owned()],
    )
}

/// Keys of the items that a filter finds, sorted and joined.
async fn filtered(bench: &Bench, filter: Value) -> Result<String, Mismatch> {
    let found = search(bench, StoreQuery::under(&["f"]).filter(filter).limit(100)).await?;
    Ok(sorted(found).join(" "))
}

async fn filters(bench: &Bench, values: &[(&str, Value)], wanted: &[(Value, &str)]) -> Outcome {
    fill(bench, &["f"], values).await?;
    for (filter, keys) in wanted {
        same(
            &filter.to_string(),
            filtered(bench, filter.clone()).await?,
            (*keys).to_owned(),
        )?;
    }
    Ok(())
}

async fn filter_equal(bench: &Bench) -> Outcome {
    let values = [
        ("int", json!({"x": 1})),
        ("float", json!({"x": 1.0})),
        ("text", json!({"x": "1"})),
        ("true", json!({"x": true})),
        ("false", json!({"x": false})),
        ("upper", json!({"x": "A"})),
        ("lower", json!({"x": "a"})),
        ("quoted", json!({"x": "a' OR '1'='1"})),
    ];
    let wanted = [
        (json!({}), "false float int lower quoted text true upper"),
        (json!({"x": 1}), "float int"),
        (json!({"x": 1.0}), "float int"),
        (json!({"x": "1"}), "text"),
        (json!({"x": true}), "true"),
        (json!({"x": false}), "false"),
        (json!({"x": 0}), ""),
        (json!({"x": "a"}), "lower"),
        (json!({"x": "a' OR '1'='1"}), "quoted"),
        (json!({"x": {"$eq": "A"}}), "upper"),
        (json!({"x": {"$ne": 1}}), "false lower quoted text true upper"),
        (json!({"x": {"$eq": 1, "$ne": 1}}), ""),
    ];
    filters(bench, &values, &wanted).await
}

async fn filter_numbers(bench: &Bench) -> Outcome {
    let values = [
        ("minus", json!({"n": -5})),
        ("zero", json!({"n": 0})),
        ("half", json!({"n": 0.5})),
        ("nine", json!({"n": 9})),
        ("ten", json!({"n": 10})),
        ("huge", json!({"n": 9_007_199_254_740_993_i64})),
        ("text", json!({"n": "7"})),
        ("bool", json!({"n": true})),
    ];
    let wanted = [
        (json!({"n": {"$gt": 9}}), "huge ten"),
        (json!({"n": {"$gte": 9}}), "huge nine ten"),
        (json!({"n": {"$lt": 0.5}}), "minus zero"),
        (json!({"n": {"$lte": 0.5}}), "half minus zero"),
        (json!({"n": {"$gt": -5, "$lt": 10}}), "half nine zero"),
        (json!({"n": {"$gt": 9_007_199_254_740_992_i64}}), "huge"),
        (json!({"n": {"$gt": 1e3}}), "huge"),
    ];
    filters(bench, &values, &wanted).await
}

async fn filter_texts(bench: &Bench) -> Outcome {
    let values = [
        ("upper", json!({"t": "B"})),
        ("a", json!({"t": "a"})),
        ("ab", json!({"t": "ab"})),
        ("b", json!({"t": "b"})),
        ("umlaut", json!({"t": "ä"})),
        ("ten", json!({"t": "10"})),
        ("nine", json!({"t": "9"})),
        ("number", json!({"t": 5})),
    ];
    let wanted = [
        (json!({"t": {"$gt": "a"}}), "ab b umlaut"),
        (json!({"t": {"$gte": "a", "$lt": "b"}}), "a ab"),
        (json!({"t": {"$lt": "a"}}), "nine ten upper"),
        (json!({"t": {"$lt": "9"}}), "ten"),
        (json!({"t": {"$lte": "B"}}), "nine ten upper"),
    ];
    filters(bench, &values, &wanted).await
}

async fn filter_missing(bench: &Bench) -> Outcome {
    let values = [
        ("absent", json!({"other": 1})),
        ("null", json!({"x": null})),
        ("set", json!({"x": "v"})),
    ];
    let wanted = [
        (json!({"x": null}), "absent null"),
        (json!({"x": {"$eq": null}}), "absent null"),
        (json!({"x": {"$ne": null}}), "set"),
        (json!({"x": {"$ne": "w"}}), "set"),
        (json!({"x": {"$ne": "v"}}), ""),
        (json!({"x": {"$gt": "a"}}), "set"),
        (json!({"x": {"$lt": 1}}), ""),
        (json!({"other": {"$gt": 0}}), "absent"),
    ];
    filters(bench, &values, &wanted).await
}

async fn filter_nested(bench: &Bench) -> Outcome {
    let values = [
        ("full", json!({"d": {"q": 1, "r": {"s": "x"}}, "l": [1, 2]})),
        ("other", json!({"d": {"q": 2}, "l": [1, 2, 3]})),
        ("flat", json!({"d": "q", "d.q": 1, "l": 1})),
    ];
    let wanted = [
        (json!({"d": {"q": 1}}), "full"),
        (json!({"d": {"q": {"$gte": 1}}}), "full other"),
        (json!({"d": {"r": {"s": "x"}}}), "full"),
        (json!({"d": {"missing": null}}), "full other"),
        (json!({"d": {}}), "full other"),
        (json!({"d": {"$eq": {"q": 2}}}), "other"),
        (json!({"d": {"$eq": {"q": 1}}}), ""),
        (json!({"d": {"$ne": {"q": 2}}}), "flat full"),
        (json!({"d.q": 1}), "flat"),
        (json!({"l": [1, 2]}), "full"),
        (json!({"l": [1, {"$gt": 1}]}), "full"),
        (json!({"l": {"$eq": [1, 2, 3]}}), "other"),
        (json!({"l": []}), ""),
    ];
    filters(bench, &values, &wanted).await
}

async fn filter_names(bench: &Bench) -> Outcome {
    let names = [
        "a-b",
        "2024",
        "a b",
        "a'b",
        "a\"b",
        "a.b",
        "a[0]",
        "",
        "%",
        "é",
        "x); DROP TABLE store; --",
        "\\",
    ];
    for (n, name) in names.iter().enumerate() {
        let mut value = crate::value::Object::new();
        value.insert(*name, 1);
        bench
            .store
            .put(&["f"], &n.to_string(), Value::Object(value))
            .await?;
    }
    for (n, name) in names.iter().enumerate() {
        let mut filter = crate::value::Object::new();
        filter.insert(*name, 1);
        same(name, filtered(bench, Value::Object(filter)).await?, n.to_string())?;
    }
    Ok(())
}

async fn filter_pages(bench: &Bench) -> Outcome {
    for n in 0..200 {
        let value = json!({"n": n, "even": n % 2 == 0, "tag": if n % 10 == 0 { "tenth" } else { "other" }});
        bench
            .store
            .put(
                &["f", if n % 3 == 0 { "x" } else { "y" }],
                &format!("{n:03}"),
                value,
            )
            .await?;
        bench.clock.advance(SECOND);
    }
    let query = StoreQuery::under(&["f"])
        .filter(json!({"tag": "tenth", "n": {"$lt": 100}}))
        .offset(2)
        .limit(3);
    let want = vec!["070".to_owned(), "060".to_owned(), "050".to_owned()];
    same("the third to the fifth", search(bench, query).await?, want)?;
    let query = StoreQuery::under(&["f", "x"])
        .filter(json!({"even": true, "tag": "tenth"}))
        .limit(100);
    let found = search(bench, query).await?;
    same(
        "below a namespace",
        found.join(" "),
        "180 150 120 090 060 030 000".to_owned(),
    )
}

async fn filter_refused(bench: &Bench) -> Outcome {
    for filter in [
        json!({"x": {"$in": [1]}}),
        json!({"x": {"y": {"$like": "a"}}}),
        json!({"x": {"$gt": [1]}}),
        json!("x"),
    ] {
        let what = filter.to_string();
        refusal(
            &what,
            bench.store.search(StoreQuery::default().filter(filter)).await,
            "ValueError",
        )?;
    }
    Ok(())
}

/// Keys of the items that words find, sorted and joined.
async fn worded(bench: &Bench, query: &str) -> Result<String, Mismatch> {
    let query = StoreQuery::under(&["w"])
        .query(query)
        .by(Ranking::Words)
        .limit(100);
    Ok(sorted(search(bench, query).await?).join(" "))
}

async fn by_words(bench: &Bench) -> Outcome {
    let values = [
        ("cat", json!({"text": "The cat sat on the mat"})),
        ("dog", json!({"text": "A dog chased the cat"})),
        (
            "fish",
            json!({"about": {"animals": ["fish", "Shark"]}, "count": 12}),
        ),
        ("bird", json!({"text": "birds"})),
    ];
    fill(bench, &["w"], &values).await?;
    same("one word", worded(bench, "cat").await?, "cat dog".to_owned())?;
    same(
        "any of several",
        worded(bench, "shark dog whale").await?,
        "dog fish".to_owned(),
    )?;
    same("a number", worded(bench, "12").await?, "fish".to_owned())?;
    same("whole words", worded(bench, "bird ca").await?, String::new())?;
    same(
        "names of members are not said",
        worded(bench, "text about animals").await?,
        String::new(),
    )?;
    let query = StoreQuery::under(&["w"]).query("chased the cat");
    let found = bench.store.search(query).await?;
    same(
        "the best fit",
        found.first().map(|item| item.key.as_str()),
        Some("dog"),
    )?;
    let scores: Vec<f64> = found.iter().filter_map(|item| item.score).collect();
    same("every one has a score", scores.len(), 2)?;
    same(
        "they fall",
        scores.windows(2).all(|pair| pair[0] >= pair[1]),
        true,
    )
}

async fn words_folded(bench: &Bench) -> Outcome {
    let values = [
        ("fr", json!({"t": "Café Crème"})),
        ("de", json!({"t": "GRÖSSE"})),
        ("ru", json!({"t": "Привет, мир!"})),
        ("id", json!({"t": "user_id=A-42"})),
    ];
    fill(bench, &["w"], &values).await?;
    for (query, keys) in [
        ("cafe", "fr"),
        ("CRÈME", "fr"),
        ("grosse", "de"),
        ("привет", "ru"),
        ("id", "id"),
        ("a", "id"),
        ("\"cafe\" OR (мир*)", "fr ru"),
    ] {
        same(query, worded(bench, query).await?, keys.to_owned())?;
    }
    Ok(())
}

async fn words_dense(bench: &Bench) -> Outcome {
    let values = [
        ("tokyo", json!({"t": "東京都に住んでいます"})),
        ("kyoto", json!({"t": "京都は古い町です"})),
        ("mixed", json!({"t": "GPU 显卡 4090"})),
    ];
    fill(bench, &["w"], &values).await?;
    same("a pair", worded(bench, "東京").await?, "tokyo".to_owned())?;
    same("one character", worded(bench, "町").await?, "kyoto".to_owned())?;
    same("two scripts", worded(bench, "显卡").await?, "mixed".to_owned())?;
    same("beside them", worded(bench, "gpu").await?, "mixed".to_owned())
}

async fn words_only(bench: &Bench) -> Outcome {
    fill(bench, &["w"], &[("k", json!({"t": "near AND far NOT here"}))]).await?;
    for query in ["!?", "* \" ( ) : ^ - +", "NEAR(", "\u{1}"] {
        let found = worded(bench, query).await?;
        same(
            query,
            found,
            if query.starts_with("NEAR") {
                "k".to_owned()
            } else {
                String::new()
            },
        )?;
    }
    same("operators are words", worded(bench, "not").await?, "k".to_owned())
}

async fn words_fields(bench: &Bench) -> Outcome {
    let values = [
        ("a", json!({"note": "alpha", "other": "beta"})),
        ("b", json!({"note": {"deep": ["beta"]}})),
    ];
    fill(bench, &["w"], &values).await?;
    same("alpha", worded(bench, "alpha").await?, "a".to_owned())?;
    same("beta", worded(bench, "beta").await?, "b".to_owned())
}

async fn words_paths(bench: &Bench) -> Outcome {
    let value = json!({"title": "alpha", "body": "beta"});
    let put =
        |key: &str, index| Ok::<_, StoreError>(StoreOp::put(&["w"], key, value.clone())?.indexed(index));
    let ops = vec![
        put("all", Index::Default)?,
        put("title", Index::Paths(vec!["title".to_owned()]))?,
        put("off", Index::Off)?,
    ];
    bench.store.batch(ops).await?;
    same("alpha", worded(bench, "alpha").await?, "all title".to_owned())?;
    same("beta", worded(bench, "beta").await?, "all".to_owned())?;
    same(
        "without a query",
        search(bench, StoreQuery::under(&["w"])).await?.len(),
        3,
    )
}

async fn words_follow(bench: &Bench) -> Outcome {
    fill(
        bench,
        &["w"],
        &[("k", json!({"t": "old"})), ("l", json!({"t": "old"}))],
    )
    .await?;
    fill(bench, &["w"], &[("k", json!({"t": "new"}))]).await?;
    same("replaced", worded(bench, "old").await?, "l".to_owned())?;
    same("new", worded(bench, "new").await?, "k".to_owned())?;
    bench.store.delete(&["w"], "l").await?;
    same("deleted", worded(bench, "old").await?, String::new())?;
    fill(bench, &["w"], &[("l", json!({"t": "back"}))]).await?;
    same("put again", worded(bench, "old back").await?, "l".to_owned())
}

async fn words_scoped(bench: &Bench) -> Outcome {
    for n in 0..60 {
        let value = json!({"text": format!("report number{n}"), "n": n});
        bench
            .store
            .put(
                &["w", if n % 2 == 0 { "even" } else { "odd" }],
                &format!("{n:02}"),
                value,
            )
            .await?;
        bench.clock.advance(SECOND);
    }
    let query = StoreQuery::under(&["w", "even"])
        .query("report")
        .filter(json!({"n": {"$lt": 20}}));
    let found = search(bench, query.clone().limit(100)).await?;
    // Equal fits: the newest update comes first.
    same(
        "found",
        found.join(" "),
        "18 16 14 12 10 08 06 04 02 00".to_owned(),
    )?;
    same(
        "a page",
        search(bench, query.offset(3).limit(2)).await?.join(" "),
        "12 10".to_owned(),
    )
}

/// Keys with their scores, rounded.
fn scored(items: &[Item]) -> String {
    let one = |item: &Item| match item.score {
        Some(score) => format!("{}:{score:.3}", item.key),
        None => format!("{}:-", item.key),
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

async fn near(bench: &Bench, query: StoreQuery) -> Result<String, Mismatch> {
    Ok(scored(&bench.store.search(query).await?))
}

async fn nearest(bench: &Bench) -> Outcome {
    let values = [
        ("a", json!({"text": "aaaa"})),
        ("ab", json!({"text": "ab"})),
        ("b", json!({"text": "bb"})),
        ("zero", json!({"text": "xyz"})),
        ("number", json!({"text": 7})),
        ("without", json!({"other": "aaaa"})),
    ];
    fill(bench, &["v"], &values).await?;
    let query = StoreQuery::under(&["v"]).query("a");
    // Newest first where there is a tie.
    let ranked = "a:1.000 ab:0.707 number:0.000 zero:0.000 b:0.000".to_owned();
    same("ranked", near(bench, query.clone()).await?, ranked)?;
    let found = bench.store.search(query.clone().limit(2)).await?;
    same("the nearest", scored(&found), "a:1.000 ab:0.707".to_owned())?;
    let all = search(bench, query).await?;
    same(
        "only with a vector",
        sorted(all).join(" "),
        "a ab b number zero".to_owned(),
    )?;
    let query = StoreQuery::under(&["v"]).query("abab").limit(1);
    same(
        "direction, not length",
        near(bench, query).await?,
        "ab:1.000".to_owned(),
    )
}

async fn best_vector(bench: &Bench) -> Outcome {
    let values = [
        (
            "parts",
            json!({"title": "c", "parts": [{"text": "b"}, {"text": "aab"}, {"text": "d"}]}),
        ),
        ("title", json!({"title": "ab", "parts": []})),
        ("none", json!({"title": null})),
    ];
    fill(bench, &["v"], &values).await?;
    let query = StoreQuery::under(&["v"]).query("a");
    same(
        "the best part counts",
        near(bench, query).await?,
        "parts:0.894 title:0.707".to_owned(),
    )?;
    let query = StoreQuery::under(&["v"]).query("d").limit(1);
    same(
        "another part",
        near(bench, query).await?,
        "parts:1.000".to_owned(),
    )
}

async fn vector_paths(bench: &Bench) -> Outcome {
    let value = json!({"text": "a", "other": "b"});
    let put =
        |key: &str, index| Ok::<_, StoreError>(StoreOp::put(&["v"], key, value.clone())?.indexed(index));
    let ops = vec![
        put("default", Index::Default)?,
        put("other", Index::Paths(vec!["other".to_owned()]))?,
        put("both", Index::Paths(vec!["text".to_owned(), "other".to_owned()]))?,
        put("off", Index::Off)?,
    ];
    bench.store.batch(ops).await?;
    let query = StoreQuery::under(&["v"]).query("b").limit(2);
    same(
        "b",
        sorted(search(bench, query).await?).join(" "),
        "both other".to_owned(),
    )?;
    let all = search(bench, StoreQuery::under(&["v"]).query("a")).await?;
    same(
        "all with a vector",
        sorted(all).join(" "),
        "both default other".to_owned(),
    )
}

async fn vectors_follow(bench: &Bench) -> Outcome {
    fill(
        bench,
        &["v"],
        &[("k", json!({"text": "a"})), ("l", json!({"text": "ab"}))],
    )
    .await?;
    fill(bench, &["v"], &[("k", json!({"text": "b"}))]).await?;
    let query = StoreQuery::under(&["v"]).query("a");
    same(
        "replaced",
        near(bench, query.clone()).await?,
        "l:0.707 k:0.000".to_owned(),
    )?;
    bench
        .store
        .batch(vec![
            StoreOp::put(&["v"], "k", json!({"text": "a"}))?.indexed(Index::Off),
        ])
        .await?;
    same(
        "no longer indexed",
        near(bench, query.clone()).await?,
        "l:0.707".to_owned(),
    )?;
    bench.store.delete(&["v"], "l").await?;
    same("deleted", near(bench, query).await?, String::new())
}

async fn vectors_scoped(bench: &Bench) -> Outcome {
    for n in 0..40_u32 {
        let text = "a".repeat(n as usize + 1) + "b";
        let namespace = ["v", if n % 2 == 0 { "even" } else { "odd" }];
        bench
            .store
            .put(&namespace, &format!("{n:02}"), json!({"text": text, "n": n}))
            .await?;
    }
    let query = StoreQuery::under(&["v", "even"])
        .query("a")
        .filter(json!({"n": {"$lt": 30}}));
    let first = search(bench, query.clone().limit(3)).await?;
    same(
        "filtered before the limit",
        first.join(" "),
        "28 26 24".to_owned(),
    )?;
    same(
        "a page",
        search(bench, query.clone().offset(3).limit(3)).await?.join(" "),
        "22 20 18".to_owned(),
    )?;
    same("all", search(bench, query.limit(100)).await?.len(), 15)
}

async fn vectors_and_words(bench: &Bench) -> Outcome {
    fill(
        bench,
        &["w"],
        &[("a", json!({"text": "aaa"})), ("b", json!({"text": "bbb"}))],
    )
    .await?;
    let query = StoreQuery::under(&["w"]).query("bbb");
    same("by words", worded(bench, "bbb").await?, "b".to_owned())?;
    same(
        "by meaning",
        near(bench, query.clone()).await?,
        "b:1.000 a:0.000".to_owned(),
    )?;
    same(
        "asked for",
        near(bench, query.by(Ranking::Vectors).limit(1)).await?,
        "b:1.000".to_owned(),
    )
}

async fn no_index(bench: &Bench) -> Outcome {
    let query = StoreQuery::under(&["v"]).query("a").by(Ranking::Vectors);
    refusal("no index", bench.store.search(query).await, "ValueError")
}

async fn expired(bench: &Bench) -> Outcome {
    let store = &bench.store;
    fill(bench, &["t"], &[("k", json!({"t": "word"}))]).await?;
    bench.clock.advance(MINUTE - SECOND * 2);
    let unread = StoreQuery {
        refresh_ttl: Some(false),
        ..StoreQuery::under(&["t"])
    };
    same("a second before", search(bench, unread.clone()).await?.len(), 1)?;
    bench.clock.advance(SECOND);
    same("get", store.get(&["t"], "k").await?, None)?;
    same("search", search(bench, unread.clone()).await?, vec![])?;
    same("by words", search(bench, unread.query("word")).await?, vec![])?;
    same(
        "its namespace",
        list(bench, NamespaceQuery::default()).await?,
        vec![],
    )
}

async fn swept(bench: &Bench) -> Outcome {
    let store = &bench.store;
    fill(bench, &["t"], &[("a", json!({})), ("b", json!({}))]).await?;
    store
        .batch(vec![
            StoreOp::put(&["t"], "forever", json!({}))?.living(Ttl::Never),
        ])
        .await?;
    same("nothing yet", store.sweep().await?, 0)?;
    bench.clock.advance(MINUTE - SECOND);
    same("both", store.sweep().await?, 2)?;
    same("once", store.sweep().await?, 0)?;
    same(
        "the other one",
        search(bench, StoreQuery::under(&["t"])).await?,
        vec!["forever".to_owned()],
    )
}

async fn ttl_of_put(bench: &Bench) -> Outcome {
    let ops = vec![
        StoreOp::put(&["t"], "default", json!({}))?,
        StoreOp::put(&["t"], "long", json!({}))?.living(Ttl::For(MINUTE * 3)),
        StoreOp::put(&["t"], "forever", json!({}))?.living(Ttl::Never),
    ];
    bench.store.batch(ops).await?;
    let alive = async || {
        let query = StoreQuery {
            refresh_ttl: Some(false),
            ..StoreQuery::under(&["t"])
        };
        Ok::<_, Mismatch>(sorted(search(bench, query).await?).join(" "))
    };
    same("all", alive().await?, "default forever long".to_owned())?;
    bench.clock.advance(MINUTE);
    same("after a minute", alive().await?, "forever long".to_owned())?;
    bench.clock.advance(MINUTE);
    // A put without a time of its own takes the store's again.
    bench.store.put(&["t"], "forever", json!({})).await?;
    bench.clock.advance(MINUTE);
    same("after three", alive().await?, String::new())
}

async fn refreshed(bench: &Bench) -> Outcome {
    let store = &bench.store;
    for key in ["got", "found", "left"] {
        store.put(&["t", key], key, json!({"t": key})).await?;
    }
    for _ in 0..3 {
        bench.clock.advance(MINUTE - SECOND);
        same("got", store.get(&["t", "got"], "got").await?.is_some(), true)?;
        same(
            "found",
            search(bench, StoreQuery::under(&["t", "found"])).await?.len(),
            1,
        )?;
        // Passing over an item in a page does not read it.
        search(bench, StoreQuery::under(&["t", "left"]).offset(1)).await?;
    }
    same("two were read", store.sweep().await?, 1)?;
    let item = store
        .get(&["t", "got"], "got")
        .await?
        .ok_or("the item is not there")?;
    same("reading is no update", item.updated_at, item.created_at)
}

async fn not_refreshed(bench: &Bench) -> Outcome {
    let store = &bench.store;
    for key in ["got", "found"] {
        store.put(&["t", key], key, json!({})).await?;
    }
    bench.clock.advance(MINUTE - SECOND);
    let get = StoreOp::Get {
        namespace: vec!["t".to_owned(), "got".to_owned()],
        key: "got".to_owned(),
        refresh_ttl: Some(false),
    };
    let find = StoreOp::Search(StoreQuery {
        refresh_ttl: Some(false),
        ..StoreQuery::under(&["t", "found"])
    });
    let answers = store.batch(vec![get, find]).await?;
    same(
        "read",
        answers
            .into_iter()
            .map(|a| matches!(a, StoreAnswer::Item(Some(_))) || a.into_items().len() == 1)
            .collect::<Vec<_>>(),
        vec![true, true],
    )?;
    bench.clock.advance(SECOND);
    same("expired all the same", store.sweep().await?, 2)
}

async fn reborn(bench: &Bench) -> Outcome {
    let began = bench.clock.now_ms();
    bench.store.put(&["t"], "k", json!({})).await?;
    bench.clock.advance(MINUTE);
    bench.store.put(&["t"], "k", json!({})).await?;
    let item = bench
        .store
        .get(&["t"], "k")
        .await?
        .ok_or("the item is not there")?;
    same("made when it was put again", item.created_at, began + 60_000)?;
    same("nothing to sweep", bench.store.sweep().await?, 0)
}

async fn lingers(bench: &Bench) -> Outcome {
    let store = &bench.store;
    store.put(&["t"], "k", json!({})).await?;
    bench.clock.advance(MINUTE * 2);
    same("get", store.get(&["t"], "k").await?.is_some(), true)?;
    same("search", search(bench, StoreQuery::under(&["t"])).await?.len(), 1)?;
    same(
        "listed",
        list(bench, NamespaceQuery::default()).await?,
        vec!["t".to_owned()],
    )?;
    same("swept: reading does not refresh here", store.sweep().await?, 1)?;
    same("gone", store.get(&["t"], "k").await?, None)
}

/// Chooses the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize].clone()
    }

    fn namespace(&mut self, least: u64) -> Vec<String> {
        let depth = least + self.roll(3);
        (0..depth)
            .map(|_| self.pick(&["a", "b", "B", "a b", "ab", "ä", "a-"]).to_owned())
            .collect()
    }

    fn value(&mut self) -> Value {
        let text: Vec<&str> = (0..self.roll(5))
            .map(|_| self.pick(&["aa", "ab", "abc", "dd", "Äb", "x"]))
            .collect();
        let n = self.pick(&[
            json!(1),
            json!(2),
            json!(1.5),
            json!("1"),
            json!(null),
            json!(true),
        ]);
        match self.roll(3) {
            0 => json!({"text": text.join(" ")}),
            1 => json!({"text": text.join("-"), "n": n}),
            _ => json!({"n": n, "o": {"n": self.roll(3), "l": [self.roll(2), "ab"]}}),
        }
    }

    fn filter(&mut self) -> Value {
        let n = self.pick(&[json!(1), json!("1"), json!(2)]);
        match self.roll(8) {
            0 => json!({"n": n}),
            1 => json!({"n": {"$gt": n}}),
            2 => json!({"n": {"$ne": n}}),
            3 => json!({"n": null}),
            4 => json!({"o": {"n": {"$lte": 1}}, "text": null}),
            _ => json!(null),
        }
    }

    fn op(&mut self) -> StoreOp {
        let key = self.pick(&["k", "K", "l", "é", ""]).to_owned();
        let refresh_ttl = self.pick(&[None, None, Some(true), Some(false)]);
        match self.roll(12) {
            0 | 1 => StoreOp::Get {
                namespace: self.namespace(1),
                key,
                refresh_ttl,
            },
            2 => StoreOp::Put {
                namespace: self.namespace(1),
                key,
                value: None,
                index: Index::Default,
                ttl: Ttl::Default,
            },
            3..=7 => StoreOp::Put {
                namespace: self.namespace(1),
                key,
                value: self.value().as_object().cloned(),
                index: self.pick(&[
                    Index::Default,
                    Index::Default,
                    Index::Off,
                    Index::Paths(vec!["o.l[*]".to_owned(), "text".to_owned()]),
                ]),
                ttl: self.pick(&[
                    Ttl::Default,
                    Ttl::Never,
                    Ttl::For(SECOND * 5),
                    Ttl::For(MINUTE * 2),
                ]),
            },
            8 => StoreOp::ListNamespaces(NamespaceQuery {
                prefix: self.pick(&[vec![], vec!["a".to_owned()], vec!["*".to_owned(), "b".to_owned()]]),
                suffix: self.pick(&[vec![], vec![], vec!["ab".to_owned()]]),
                max_depth: self.pick(&[None, None, Some(1), Some(2)]),
                limit: 50,
                offset: self.roll(3) as usize,
            }),
            _ => StoreOp::Search(StoreQuery {
                prefix: self.namespace(0),
                query: None,
                ranking: Ranking::Auto,
                filter: self.filter(),
                limit: self.pick(&[1, 3, 1000]),
                offset: self.pick(&[0, 0, 2]),
                refresh_ttl,
            }),
        }
    }
}

/// What a query finds, without an order that is the backend's: keys, with scores where they are cosines.
fn found(items: Vec<Item>, cosines: bool) -> Vec<(Vec<String>, String, i64)> {
    let score = |item: &Item| item.score.map_or(0, |score| (score * 1e4).round() as i64);
    let one = |item: Item| {
        (
            item.namespace.clone(),
            item.key.clone(),
            if cosines { score(&item) } else { 0 },
        )
    };
    let mut found: Vec<_> = items.into_iter().map(one).collect();
    found.sort();
    found
}

async fn history(bench: &Bench) -> Outcome {
    let mut dice = Dice(0x5eed);
    for round in 0..100 {
        let ops: Vec<StoreOp> = (0..=dice.roll(6)).map(|_| dice.op()).collect();
        let what = format!("round {round}, {ops:?}");
        let (got, want) = (
            bench.store.batch(ops.clone()).await?,
            bench.model.batch(ops).await?,
        );
        same(&what, got, want)?;
        for ranking in [Ranking::Auto, Ranking::Words] {
            let query = StoreQuery {
                query: Some(dice.pick(&["ab", "dd x", "abc aa", "ä"]).to_owned()),
                ranking,
                limit: 1000,
                prefix: dice.namespace(0),
                refresh_ttl: Some(false),
                filter: dice.filter(),
                ..StoreQuery::default()
            };
            let what = format!("round {round}, {query:?}");
            // Words are weighed by each backend in its own way.
            let cosines = ranking == Ranking::Auto && bench.indexed;
            let got = bench.store.search(query.clone()).await?;
            let want = bench.model.search(query).await?;
            same(&what, found(got, cosines), found(want, cosines))?;
        }
        if dice.roll(9) == 0 {
            same("swept", bench.store.sweep().await?, bench.model.sweep().await?)?;
        }
        if dice.roll(2) == 0 {
            bench.clock.advance(SECOND * dice.pick(&[1, 3, 20, 60]));
        }
    }
    Ok(())
}
