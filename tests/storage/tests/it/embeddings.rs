//! Who changes the model that makes the vectors finds nothing by meaning that was put before, is informed of it, and has it
//! embedded again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use superstep::checkpoint::{Progress, StorageError};
use superstep::store::{Embedding, Ranking, StoreConfig, StoreError, StoreOp, StoreQuery, VectorIndex};
use superstep::store::{Index, ItemPlace};
use superstep::{Store, json};
use superstep_storage::Backend;
use superstep_storage_tests::Place;

/// Counts vowels, or other letters: as long as the other, and not to be compared with it.
#[derive(Debug)]
struct Letters {
    name: &'static str,
    letters: &'static [char],
    asked: AtomicUsize,
    /// Fails from this request on.
    down_at: AtomicUsize,
}

#[async_trait]
impl Embedding for Letters {
    fn name(&self) -> &str {
        self.name
    }
    fn dims(&self) -> usize {
        self.letters.len()
    }
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, StoreError> {
        if self.asked.fetch_add(1, Ordering::SeqCst) >= self.down_at.load(Ordering::SeqCst) {
            return Err(StoreError::Embedding {
                name: self.name.to_owned(),
                cause: "it is down".to_owned(),
                remedy: "Start it".to_owned(),
            });
        }
        // As a model does, which takes its time.
        tokio::task::yield_now().await;
        let count = |text: &String, letter: char| text.chars().filter(|c| *c == letter).count() as f32;
        let vector = |text: &String| self.letters.iter().map(|letter| count(text, *letter)).collect();
        Ok(texts.iter().map(vector).collect())
    }
}

fn letters(name: &'static str, letters: &'static [char]) -> Arc<Letters> {
    Arc::new(Letters {
        name,
        letters,
        asked: AtomicUsize::new(0),
        down_at: AtomicUsize::new(usize::MAX),
    })
}

fn by(embedding: &Arc<Letters>) -> StoreConfig {
    StoreConfig::default().index(VectorIndex::new(embedding.clone()).fields(["text"]))
}

async fn found(store: &dyn Store, query: &str) -> Vec<String> {
    let query = StoreQuery::under(&["a"])
        .query(query)
        .by(Ranking::Vectors)
        .limit(2000);
    let items = store.search(query).await.expect("searches");
    items.into_iter().map(|item| item.key).collect()
}

async fn all_outdated(store: &dyn Store) -> Vec<String> {
    let (mut after, mut keys) = (None::<ItemPlace>, Vec::new());
    loop {
        let page = store.outdated(after, 2).await.expect("looks");
        assert!(page.len() <= 2);
        let Some(last) = page.last() else {
            keys.sort();
            return keys;
        };
        after = Some(last.place.clone());
        keys.extend(page.into_iter().map(|item| item.place.1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_embedded_again() {
    for &backend in Backend::ALL {
        let Some(place) = Place::of(backend) else { continue };
        let storage = superstep_storage::open(&place.url).await.expect("opens");
        let with = async |config| storage.with_store_config(config).await.expect("opens").store;
        let (vowels, others) = (letters("vowels", &['a', 'e']), letters("others", &['x', 'y']));
        let longer = letters("vowels", &['a', 'e', 'i']);

        // Some are put while nothing makes vectors, some while one model does.
        let words = with(StoreConfig::default()).await;
        words
            .put(&["a"], "early", json!({"text": "aax"}))
            .await
            .expect("puts");
        let first = with(by(&vowels)).await;
        let put = |key: &str, index| {
            let value = json!({"text": format!("aa {key} xx"), "other": "y"});
            StoreOp::put(&["a"], key, value)
                .expect("an object")
                .indexed(index)
        };
        let puts = vec![
            put("plain", Index::Default),
            put("excluded", Index::Off),
            put("elsewhere", Index::Paths(vec!["other".to_owned()])),
            put("nowhere", Index::Paths(vec!["none".to_owned()])),
        ];
        first.batch(puts).await.expect("puts");
        first
            .put(&["a", "b"], "below", json!({"text": "ee"}))
            .await
            .expect("puts");
        assert_eq!(all_outdated(&*first).await, ["early"], "{backend:?}");
        assert_eq!(found(&*first, "aaa").await[0], "plain", "{backend:?}");

        // Another model: what the first one made is not compared, however long its vectors are.
        let second = with(by(&others)).await;
        assert!(found(&*second, "x").await.is_empty(), "{backend:?}");
        let longer = with(by(&longer)).await;
        assert!(found(&*longer, "a").await.is_empty(), "{backend:?}");
        let outdated = ["below", "early", "elsewhere", "nowhere", "plain"];
        assert_eq!(all_outdated(&*second).await, outdated, "{backend:?}");
        assert!(
            words.outdated(None, 9).await.expect("looks").is_empty(),
            "words need nothing again"
        );

        let get = async |key: &str| second.get(&["a"], key).await.expect("reads").expect("there");
        let before = get("plain").await;
        let done = second.reembed(&Progress::default()).await.expect("embeds");
        assert_eq!(done, 5, "{backend:?}");
        assert_eq!(get("plain").await, before, "{backend:?}: it was not changed");
        assert!(all_outdated(&*second).await.is_empty(), "{backend:?}");
        let mut keys = found(&*second, "x").await;
        assert!(keys[0] == "early" || keys[0] == "plain", "{backend:?}: {keys:?}");
        keys.sort();
        // What was excluded stays so, and what a put named is what it is found by.
        assert_eq!(keys, ["below", "early", "elsewhere", "plain"], "{backend:?}");
        assert_eq!(found(&*second, "y").await[0], "elsewhere", "{backend:?}");
        // A second time there is nothing to do, and the model is not asked.
        let asked = others.asked.load(Ordering::SeqCst);
        assert_eq!(second.reembed(&Progress::default()).await.expect("looks"), 0);
        assert_eq!(others.asked.load(Ordering::SeqCst), asked, "{backend:?}");
        // Words find all of it as before, and so does who opens the place again.
        let again = superstep_storage::open_with(&place.url, by(&others)).await;
        if backend.is_shared() {
            let again = again.expect("opens");
            assert_eq!(found(&*again.store, "y").await[0], "elsewhere", "{backend:?}");
        }
        let query = StoreQuery::under(&["a"]).query("plain").by(Ranking::Words);
        assert_eq!(
            words.search(query).await.expect("searches").len(),
            1,
            "{backend:?}"
        );
        let refused = words
            .reembed(&Progress::default())
            .await
            .expect_err("it has no index");
        assert!(refused.to_string().contains("no vector index"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_can_be_stopped_and_goes_on_beside_those_who_put() {
    for &backend in Backend::ALL {
        let Some(place) = Place::of(backend) else { continue };
        let storage = superstep_storage::open(&place.url).await.expect("opens");
        let (vowels, others) = (letters("vowels", &['a', 'e']), letters("others", &['x', 'y']));
        let first = storage.with_store_config(by(&vowels)).await.expect("opens").store;
        let puts = (0..300).map(|n| {
            let value = json!({"text": format!("a{}", "x".repeat(n % 7))});
            StoreOp::put(&["a"], format!("{n:03}"), value).expect("an object")
        });
        first.batch(puts.collect()).await.expect("puts");
        let second = storage.with_store_config(by(&others)).await.expect("opens").store;
        let progress = Progress::default();
        let embedding = second.reembed(&progress);
        let outcome = progress.follow(embedding, &|done, _| done < 100).await;
        assert!(
            matches!(outcome, Err(StoreError::Storage(StorageError::Stopped))),
            "{backend:?}: {outcome:?}"
        );
        let some = found(&*second, "x").await.len();
        assert!((100..300).contains(&some), "{backend:?}: {some}");
        // What is put meanwhile is not replaced by the vectors of what was there before.
        let outdated = second.outdated(None, 1).await.expect("looks").remove(0);
        let late = superstep::store::NewVectors {
            place: outdated.place.clone(),
            updated_at: outdated.updated_at,
            vectors: vec![vec![1.0, 0.0]],
        };
        let key = outdated.place.1;
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        second
            .put(&["a"], &key, json!({"text": "yyy"}))
            .await
            .expect("puts");
        assert_eq!(
            second.replace_vectors(vec![late]).await.expect("leaves it"),
            0,
            "{backend:?}"
        );
        assert_eq!(found(&*second, "y").await[0], key, "{backend:?}");
        let rest = second.reembed(&Progress::default()).await.expect("goes on");
        assert_eq!(rest as usize + some + 1, 300, "{backend:?}");
        assert_eq!(found(&*second, "x").await.len(), 300, "{backend:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_in_the_middle_is_gone_on_with_by_whoever_comes_next() {
    for &backend in Backend::ALL {
        let Some(place) = Place::of(backend) else { continue };
        let mut storage = superstep_storage::open(&place.url).await.expect("opens");
        let (vowels, others) = (letters("vowels", &['a', 'e']), letters("others", &['x', 'y']));
        let first = storage.with_store_config(by(&vowels)).await.expect("opens").store;
        let puts = (0..300).map(|n| {
            let space = ["a", "a.b"][n % 2].split('.').collect::<Vec<_>>();
            StoreOp::put(&space, format!("{n:03}"), json!({"text": "ax"})).expect("an object")
        });
        first.batch(puts.collect()).await.expect("puts");
        drop(first);
        let second = storage.with_store_config(by(&others)).await.expect("opens").store;
        others.down_at.store(2, Ordering::SeqCst);
        let error = second.reembed(&Progress::default()).await.expect_err("fails");
        assert!(error.to_string().contains("it is down"), "{error}");
        others.down_at.store(usize::MAX, Ordering::SeqCst);
        drop(second);
        if place.url != "memory:" {
            drop(storage);
            storage = superstep_storage::open(&place.url).await.expect("opens again");
        }
        // Each is found by one of the two, and by one only.
        let first = storage.with_store_config(by(&vowels)).await.expect("opens").store;
        let second = storage.with_store_config(by(&others)).await.expect("opens").store;
        let (old, new) = (found(&*first, "a").await, found(&*second, "x").await);
        assert!(!new.is_empty() && !old.is_empty(), "{backend:?}");
        let mut all = [old.clone(), new.clone()].concat();
        all.sort();
        all.dedup();
        assert_eq!((all.len(), old.len() + new.len()), (300, 300), "{backend:?}");
        let rest = second.reembed(&Progress::default()).await.expect("goes on");
        assert_eq!(rest as usize, old.len(), "{backend:?}");
        assert_eq!(found(&*second, "x").await.len(), 300, "{backend:?}");
        assert!(found(&*first, "a").await.is_empty(), "{backend:?}");
    }
}
