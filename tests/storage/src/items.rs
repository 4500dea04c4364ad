//! Random histories of the long-term memory, done on a backend and on a sorted map, and compared after each.
//!
//! The map is written from what docs/store.md says and shares nothing with the engine, whose own items the backends in
//! memory, in folders and in Redis are made of. Times are those of a clock that the history turns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use superstep::run::Clock;
use superstep::store::{Item, NamespaceQuery, Ranking, StoreAnswer, StoreConfig, StoreOp, StoreQuery, Ttl};
use superstep::value::Object;
use superstep::{Store, Value, json};

use crate::history::any_json;
use crate::place::Place;

/// Words that no random text has.
const WORDS: [&str; 4] = ["quince", "medlar", "sloe", "damson"];
const KEYS: [&str; 6] = ["k", "K", "%", "_", "it's", "\u{c4}"];
const LABELS: [&[&str]; 7] = [
    &[],
    &["a"],
    &["a", "b"],
    &["a", "b", "c"],
    &["a", "bb"],
    &["ab"],
    &["%", "_"],
];

/// Lifetime of an item that is put.
#[derive(Clone, Copy, Debug)]
pub enum Life {
    /// As the configuration says: for ever.
    Default,
    /// For ever.
    Endless,
    /// Milliseconds.
    For(u64),
}

/// Operation of a batch.
#[derive(Clone, Debug)]
pub enum Deed {
    /// Namespace, key, its words, a number to filter by, anything else, and how long it lives.
    Put(u8, u8, Vec<u8>, u8, Value, Life),
    /// Namespace and key.
    Remove(u8, u8),
    /// Namespace, key, and whether it gets its time again.
    Get(u8, u8, Option<bool>),
    /// Below a namespace: the newest, with this number, how many after how many, and whether they get their time again.
    Newest(u8, Option<u8>, usize, usize, Option<bool>),
    /// Below a namespace: those with one of these words.
    Words(u8, Vec<u8>),
    /// Below a namespace: those that end with a label, cut at a depth, how many after how many.
    Namespaces(u8, Option<&'static str>, Option<usize>, usize, usize),
}

/// One operation.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Does these together.
    Batch(Vec<Deed>),
    /// Lets milliseconds go by.
    Wait(u64),
    /// Removes what has expired.
    Sweep,
    /// Closes and opens the place.
    Reopen,
}

fn deeds() -> impl Strategy<Value = Deed> {
    let life = prop_oneof![
        2 => Just(Life::Default),
        1 => Just(Life::Endless),
        3 => (1_u64..60).prop_map(Life::For),
    ];
    let at = || (0_u8..7, 0_u8..6);
    let refresh = || prop::option::of(any::<bool>());
    let words = || prop::collection::vec(0_u8..4, 1..3);
    prop_oneof![
        8 => (at(), prop::collection::vec(0_u8..4, 0..3), 0_u8..3, any_json(), life)
            .prop_map(|((ns, key), words, n, any, life)| Deed::Put(ns, key, words, n, any, life)),
        2 => at().prop_map(|(ns, key)| Deed::Remove(ns, key)),
        5 => (at(), refresh()).prop_map(|((ns, key), refresh)| Deed::Get(ns, key, refresh)),
        3 => (0_u8..7, prop::option::of(0_u8..3), 0_usize..8, 0_usize..3, refresh())
            .prop_map(|(ns, n, limit, offset, refresh)| Deed::Newest(ns, n, limit, offset, refresh)),
        2 => (0_u8..7, words()).prop_map(|(ns, words)| Deed::Words(ns, words)),
        2 => (
            0_u8..7,
            prop::option::of(prop::sample::select(vec!["b", "*", "_", "none"])),
            prop::option::of(1_usize..4),
            1_usize..6,
            0_usize..2
        )
            .prop_map(|(ns, suffix, depth, limit, offset)| Deed::Namespaces(ns, suffix, depth, limit, offset)),
    ]
}

/// Generates a history of at most this many operations.
pub fn histories(length: usize) -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        12 => prop::collection::vec(deeds(), 1..5).prop_map(Operation::Batch),
        4 => (1_u64..40).prop_map(Operation::Wait),
        1 => Just(Operation::Sweep),
        1 => Just(Operation::Reopen),
    ];
    prop::collection::vec(operation, 1..length)
}

/// A clock that the history turns.
#[derive(Debug)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Debug)]
struct Kept {
    value: Object,
    number: u8,
    words: BTreeSet<u8>,
    created: u64,
    updated: u64,
    life: Option<u64>,
    ends: Option<u64>,
}

type At = (Vec<String>, String);

struct Run<'a> {
    place: &'a Place,
    clock: Arc<Hand>,
    store: Option<Arc<dyn Store>>,
    /// The first label of everything in this history, so that the next one finds nothing of it.
    root: String,
    model: BTreeMap<At, Kept>,
}

/// Performs a history on a place and on the model. The error says where they differ.
pub async fn run(place: &Place, history: &[Operation]) -> Result<(), String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut run = Run {
        place,
        clock: Arc::new(Hand(AtomicU64::new(1_700_000_000_000))),
        store: None,
        root: format!("history {}", NEXT.fetch_add(1, Ordering::Relaxed)),
        model: BTreeMap::new(),
    };
    run.open().await?;
    for (n, operation) in history.iter().enumerate() {
        let done = run.step(operation).await;
        done.map_err(|what| format!("after operation {n}: {what}"))?;
    }
    run.open().await?;
    let all = (0..7).map(|ns| Deed::Newest(ns, None, 100, 0, Some(false)));
    run.batch(&all.collect::<Vec<_>>()).await?;
    run.empty().await
}

impl Run<'_> {
    /// Opens the place, again where it is open. Memory is kept as it is.
    async fn open(&mut self) -> Result<(), String> {
        if self.store.is_some() && !self.place.backend.is_durable() {
            return Ok(());
        }
        self.store = None;
        let config = StoreConfig::default().clock(self.clock.clone());
        let opened = superstep_storage::open_with(&self.place.url, config).await;
        self.store = Some(opened.map_err(|error| error.to_string())?.store);
        Ok(())
    }

    fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    fn namespace(&self, n: u8) -> Vec<String> {
        let labels = LABELS[usize::from(n) % LABELS.len()];
        let labels = labels.iter().map(|label| (*label).to_owned());
        std::iter::once(self.root.clone()).chain(labels).collect()
    }

    async fn ask(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, String> {
        let store = self.store.as_ref().ok_or("it is not open")?;
        store.batch(ops).await.map_err(|error| error.to_string())
    }

    async fn step(&mut self, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Batch(deeds) => self.batch(deeds).await,
            Operation::Wait(time) => {
                self.clock.0.fetch_add(*time, Ordering::SeqCst);
                Ok(())
            }
            Operation::Sweep => self.sweep().await,
            Operation::Reopen => self.open().await,
        }
    }

    async fn sweep(&mut self) -> Result<(), String> {
        let store = self.store.as_ref().ok_or("it is not open")?;
        let went = store.sweep().await.map_err(|error| error.to_string())?;
        let (now, before) = (self.now(), self.model.len());
        self.model
            .retain(|_, kept| kept.ends.is_none_or(|ends| ends > now));
        let expected = (before - self.model.len()) as u64;
        match went == expected {
            true => Ok(()),
            false => Err(format!(
                "a sweep removed {went} items and should remove {expected}"
            )),
        }
    }

    /// Removes everything, so that the next history finds nothing.
    async fn empty(&mut self) -> Result<(), String> {
        let places: Vec<At> = self.model.keys().cloned().collect();
        let remove = places
            .into_iter()
            .map(|(namespace, key)| put(namespace, key, None, Ttl::Default));
        self.ask(remove.collect()).await?;
        self.model.clear();
        self.sweep().await?;
        let query = NamespaceQuery::default().prefix(vec![self.root.clone()]);
        let left = self.ask(vec![StoreOp::ListNamespaces(query)]).await?;
        match left.as_slice() {
            [StoreAnswer::Namespaces(left)] if left.is_empty() => Ok(()),
            other => Err(format!("something is left: {other:?}")),
        }
    }

    async fn batch(&mut self, deeds: &[Deed]) -> Result<(), String> {
        self.clock.0.fetch_add(1, Ordering::SeqCst);
        let answers = self.ask(deeds.iter().map(|deed| self.op(deed)).collect()).await?;
        if answers.len() != deeds.len() {
            return Err(format!("{} answers to {} operations", answers.len(), deeds.len()));
        }
        let mut read = Vec::new();
        for (deed, answer) in deeds.iter().zip(&answers) {
            self.compare(deed, answer, &mut read)
                .map_err(|what| format!("{deed:?}: {what}"))?;
        }
        // Every read sees what was there before; then what was read gets its time, and what is written is written.
        let now = self.now();
        for at in read {
            if let Some(kept) = self.model.get_mut(&at) {
                kept.ends = kept.life.map(|life| now + life);
            }
        }
        // Of a key, the last one of a batch is the only one.
        let mut last = BTreeMap::new();
        for deed in deeds {
            if let Deed::Put(ns, key, ..) | Deed::Remove(ns, key) = deed {
                last.insert((*ns, *key), deed);
            }
        }
        last.into_values().for_each(|deed| self.write(deed));
        Ok(())
    }

    fn op(&self, deed: &Deed) -> StoreOp {
        match deed {
            Deed::Put(ns, key, words, number, any, life) => {
                let ttl = match life {
                    Life::Default => Ttl::Default,
                    Life::Endless => Ttl::Never,
                    Life::For(time) => Ttl::For(Duration::from_millis(*time)),
                };
                put(
                    self.namespace(*ns),
                    key_of(*key),
                    Some(value_of(words, *number, any)),
                    ttl,
                )
            }
            Deed::Remove(ns, key) => put(self.namespace(*ns), key_of(*key), None, Ttl::Default),
            Deed::Get(ns, key, refresh) => StoreOp::Get {
                namespace: self.namespace(*ns),
                key: key_of(*key),
                refresh_ttl: *refresh,
            },
            Deed::Newest(ns, number, limit, offset, refresh) => StoreOp::Search(
                StoreQuery::default()
                    .prefix(self.namespace(*ns))
                    .filter(number.map_or(Value::Null, |n| json!({"n": n})))
                    .limit(*limit)
                    .offset(*offset)
                    .refresh_ttl(*refresh),
            ),
            Deed::Words(ns, words) => StoreOp::Search(
                StoreQuery::default()
                    .prefix(self.namespace(*ns))
                    .query(text_of(words))
                    .by(Ranking::Words)
                    .limit(100)
                    .refresh_ttl(false),
            ),
            Deed::Namespaces(ns, suffix, depth, limit, offset) => StoreOp::ListNamespaces(
                NamespaceQuery::default()
                    .prefix(self.namespace(*ns))
                    .suffix(suffix.iter().map(|label| (*label).to_owned()).collect())
                    .max_depth(*depth)
                    .limit(*limit)
                    .offset(*offset),
            ),
        }
    }

    /// Returns the items below a namespace, the newest first.
    fn below(&self, prefix: &[String]) -> Vec<(&At, &Kept)> {
        let now = self.now();
        let there = |kept: &Kept| kept.ends.is_none_or(|ends| ends > now);
        let all = self.model.iter();
        let mut found: Vec<_> = all
            .filter(|((namespace, _), kept)| namespace.starts_with(prefix) && there(kept))
            .collect();
        found.sort_by(|(at_a, a), (at_b, b)| b.updated.cmp(&a.updated).then_with(|| at_a.cmp(at_b)));
        found
    }

    fn compare(&self, deed: &Deed, answer: &StoreAnswer, read: &mut Vec<At>) -> Result<(), String> {
        match (deed, answer) {
            (Deed::Put(..) | Deed::Remove(..), StoreAnswer::Done) => Ok(()),
            (Deed::Get(ns, key, refresh), StoreAnswer::Item(item)) => {
                let at = (self.namespace(*ns), key_of(*key));
                let mut wanted = self.below(&at.0);
                wanted.retain(|(found, _)| **found == at);
                same(item.as_ref().into_iter(), &wanted)?;
                if refresh.unwrap_or(true) && !wanted.is_empty() {
                    read.push(at);
                }
                Ok(())
            }
            (Deed::Newest(ns, number, limit, offset, refresh), StoreAnswer::Items(items)) => {
                let mut wanted = self.below(&self.namespace(*ns));
                wanted.retain(|(_, kept)| number.is_none_or(|n| kept.number == n));
                let wanted: Vec<_> = wanted.into_iter().skip(*offset).take(*limit).collect();
                same(items.iter(), &wanted)?;
                if refresh.unwrap_or(true) {
                    read.extend(wanted.iter().map(|(at, _)| (*at).clone()));
                }
                Ok(())
            }
            (Deed::Words(ns, words), StoreAnswer::Items(items)) => {
                let mut wanted = self.below(&self.namespace(*ns));
                wanted.retain(|(_, kept)| words.iter().any(|word| kept.words.contains(word)));
                // How they are ranked is the backend's.
                wanted.sort_by_key(|(at, _)| (*at).clone());
                let mut items: Vec<&Item> = items.iter().collect();
                items.sort_by_key(|item| (item.namespace.clone(), item.key.clone()));
                same(items.into_iter(), &wanted)
            }
            (Deed::Namespaces(ns, suffix, depth, limit, offset), StoreAnswer::Namespaces(found)) => {
                let prefix = self.namespace(*ns);
                let fits = |namespace: &Vec<String>| match suffix {
                    None | Some("*") => true,
                    Some(suffix) => namespace.last().is_some_and(|label| label == suffix),
                };
                let holding = self
                    .below(&prefix)
                    .into_iter()
                    .map(|((namespace, _), _)| namespace);
                let cut: BTreeSet<Vec<String>> = holding
                    .filter(|namespace| fits(namespace))
                    .map(|namespace| namespace.iter().take(depth.unwrap_or(99)).cloned().collect())
                    .collect();
                let wanted: Vec<Vec<String>> = cut.into_iter().skip(*offset).take(*limit).collect();
                match *found == wanted {
                    true => Ok(()),
                    false => Err(format!("there are {found:?}, there should be {wanted:?}")),
                }
            }
            (_, other) => Err(format!("the answer is {other:?}")),
        }
    }

    fn write(&mut self, deed: &Deed) {
        let now = self.now();
        match deed {
            Deed::Put(ns, key, words, number, any, life) => {
                let at = (self.namespace(*ns), key_of(*key));
                let before = self.model.get(&at);
                let before = before.filter(|kept| kept.ends.is_none_or(|ends| ends > now));
                let created = before.map_or(now, |kept| kept.created);
                let life = match life {
                    Life::For(time) => Some(*time),
                    Life::Default | Life::Endless => None,
                };
                let kept = Kept {
                    value: value_of(words, *number, any),
                    number: *number,
                    words: words.iter().copied().collect(),
                    created,
                    updated: now,
                    life,
                    ends: life.map(|life| now + life),
                };
                self.model.insert(at, kept);
            }
            Deed::Remove(ns, key) => {
                self.model.remove(&(self.namespace(*ns), key_of(*key)));
            }
            _ => {}
        }
    }
}

fn put(namespace: Vec<String>, key: String, value: Option<Object>, ttl: Ttl) -> StoreOp {
    StoreOp::Put {
        namespace,
        key,
        value,
        index: Default::default(),
        ttl,
    }
}

fn key_of(n: u8) -> String {
    KEYS[usize::from(n) % KEYS.len()].to_owned()
}

fn text_of(words: &[u8]) -> String {
    let words: Vec<&str> = words
        .iter()
        .map(|n| WORDS[usize::from(*n) % WORDS.len()])
        .collect();
    words.join(" ")
}

fn value_of(words: &[u8], number: u8, any: &Value) -> Object {
    let entries = [
        ("text", Value::from(text_of(words))),
        ("n", Value::from(i64::from(number))),
        ("any", any.clone()),
    ];
    entries.into_iter().collect()
}

/// Checks that the items are these, in this order.
fn same<'a>(found: impl Iterator<Item = &'a Item>, wanted: &[(&At, &Kept)]) -> Result<(), String> {
    let shown = |namespace: &[String], key: &str, value: &Object, created: u64, updated: u64| {
        format!(
            "{}/{key} {value:?} put {created}, last {updated}",
            namespace.join(".")
        )
    };
    let found: Vec<String> = found
        .map(|item| {
            shown(
                &item.namespace,
                &item.key,
                &item.value,
                item.created_at,
                item.updated_at,
            )
        })
        .collect();
    let wanted: Vec<String> = wanted
        .iter()
        .map(|((namespace, key), kept)| shown(namespace, key, &kept.value, kept.created, kept.updated))
        .collect();
    match found == wanted {
        true => Ok(()),
        false => Err(format!("there is {found:#?}, there should be {wanted:#?}")),
    }
}
