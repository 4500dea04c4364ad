//! What every backend does with a batch before it touches anything.

use std::collections::HashMap;
use std::time::Duration;

use super::config::StoreConfig;
use super::error::StoreError;
use super::filter::Filter;
use super::ops::{
    Index, NamespaceQuery, Ranking, StoreAnswer, StoreOp, StoreQuery, Ttl, check_labels, check_namespace,
};
use super::path::Path;
use super::words::{asked, words};
use crate::value::{Object, Value};

/// How deep a value may be nested: what reads JSON gives up a little below.
const MAX_DEPTH: usize = 120;

/// A batch that has been checked: what to read, then what to write.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The time of the batch, in milliseconds since the Unix epoch.
    pub now: u64,
    /// Reads, each with its place among the answers. They see the state before the writes.
    pub reads: Vec<(usize, Read)>,
    /// At most one for each key, in no particular order.
    pub writes: Vec<Written>,
    /// The answers, where the reads put theirs; those of puts are there.
    pub answers: Vec<StoreAnswer>,
    /// Whose vectors these are, when the store has an index: those of others are not compared.
    pub embedding: Option<String>,
    omit_expired: bool,
}

/// A read operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// An item.
    Get {
        /// Where it is.
        namespace: Vec<String>,
        /// Its key.
        key: String,
        /// It gets its full time again.
        refresh: bool,
    },
    /// Items.
    Search(Search),
    /// Namespaces that hold items.
    Namespaces(NamespaceQuery),
}

/// A search that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// At or below this namespace.
    pub prefix: Vec<String>,
    /// What the values must hold.
    pub filter: Filter,
    /// What is found, and what comes first. Where it leaves a tie, the newest update comes first, then namespace and
    /// key in their order.
    pub order: Order,
    /// At most this many.
    pub limit: usize,
    /// Skips this many.
    pub offset: usize,
    /// Found items get their full time again.
    pub refresh: bool,
}

/// The items that a search finds, and their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Everything, the newest update first.
    Newest,
    /// Items with at least one of these distinct words, the best fit first.
    Words(Vec<String>),
    /// Items with a vector, the nearest to this one first.
    Vector(Vec<f32>),
}

/// A write: the last put of a key in the batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Where it goes.
    pub namespace: Vec<String>,
    /// Its key.
    pub key: String,
    /// The new value; none removes the item.
    pub value: Option<Object>,
    /// The words that it is found by, in order, as often as they occur.
    pub words: Vec<String>,
    /// The vectors that it is found by; their length is that of the index.
    pub vectors: Vec<Vec<f32>>,
    /// The paths that the put named, for anyone who embeds it again; empty when nothing is to find it, none when the store's
    /// own count.
    pub index_paths: Option<Vec<String>>,
    /// How long it lives, in milliseconds; forever when none.
    pub ttl: Option<u64>,
}

impl Prepared {
    /// Returns when an item with this time to live expires, if it is put or read now.
    pub fn expires(&self, ttl: Option<u64>) -> Option<u64> {
        // As SQL knows integers.
        ttl.map(|ttl| self.now.saturating_add(ttl).min(i64::MAX as u64))
    }

    /// Returns whether an item that expires at this time is still there. If it is not, its put makes a new item.
    pub fn sees(&self, expires_at: Option<u64>) -> bool {
        !self.omit_expired || expires_at.is_none_or(|at| at > self.now)
    }

    /// Returns the time before which an item has expired and is not seen; none when expired items are seen.
    pub fn unseen_until(&self) -> Option<u64> {
        self.omit_expired.then_some(self.now)
    }
}

impl StoreConfig {
    /// Checks a batch, keeps the last put of each key, reads filters and paths, and asks for embeddings.
    pub async fn prepare(&self, ops: Vec<StoreOp>) -> Result<Prepared, StoreError> {
        let mut texts = Texts::default();
        let mut puts = Puts::default();
        let mut reads = Vec::new();
        let mut answers = Vec::with_capacity(ops.len());
        for (place, op) in ops.into_iter().enumerate() {
            answers.push(StoreAnswer::Done);
            if let Some(read) = self.sorted(op, &mut puts, &mut texts)? {
                reads.push((place, read));
            }
        }
        let (mut writes, wanted) = self.written(puts, &mut texts);
        let vectors = self.embed(texts.all).await?;
        for (write, wanted) in writes.iter_mut().zip(wanted) {
            write.vectors = wanted.into_iter().map(|text| vectors[text].clone()).collect();
        }
        for (_, read) in &mut reads {
            if let Read::Search(search) = read
                && let Order::Vector(vector) = &mut search.order
                && let Some(text) = texts.queries.pop_front()
            {
                vector.clone_from(&vectors[text]);
            }
        }
        Ok(Prepared {
            now: self.clock.now_ms(),
            reads,
            writes,
            answers,
            embedding: self.index.as_ref().map(|index| index.embedding().to_owned()),
            omit_expired: self.ttl.omit_expired,
        })
    }

    /// Checks an operation: a put joins the others, and a read is given back.
    fn sorted(&self, op: StoreOp, puts: &mut Puts, texts: &mut Texts) -> Result<Option<Read>, StoreError> {
        Ok(Some(match op {
            StoreOp::Put {
                namespace,
                key,
                value,
                index,
                ttl,
            } => {
                check(&namespace, &key)?;
                let deep = |value: &Object| value.iter().any(|(_, member)| deeper(member, MAX_DEPTH - 1));
                if value.as_ref().is_some_and(deep) {
                    return Err(StoreError::Nested {
                        key,
                        limit: MAX_DEPTH,
                    });
                }
                let put = Unembedded {
                    value,
                    // Read also where a later put of the key wins, so that it is refused whatever follows.
                    sources: self.sources(&index)?,
                    index_paths: match index {
                        Index::Default => None,
                        Index::Off => Some(Vec::new()),
                        Index::Paths(paths) => Some(paths),
                    },
                    ttl: self.time(ttl),
                };
                puts.add((namespace, key), put);
                return Ok(None);
            }
            StoreOp::Get {
                namespace,
                key,
                refresh_ttl,
            } => {
                check(&namespace, &key)?;
                Read::Get {
                    namespace,
                    key,
                    refresh: self.refreshes(refresh_ttl),
                }
            }
            StoreOp::Search(query) => Read::Search(self.search(query, texts)?),
            StoreOp::ListNamespaces(query) => {
                check_labels(&query.prefix)?;
                check_labels(&query.suffix)?;
                Read::Namespaces(query)
            }
        }))
    }

    /// Returns the writes, still without vectors, and for each the places of the texts that are to be embedded.
    fn written(&self, puts: Puts, texts: &mut Texts) -> (Vec<Written>, Vec<Vec<usize>>) {
        puts.in_order()
            .map(|((namespace, key), put)| {
                let whole = put.value.clone().map(Value::Object);
                let parts = whole.map(|whole| put.sources.read(&whole)).unwrap_or_default();
                let wanted = match self.index {
                    Some(_) => parts.texts.into_iter().map(|text| texts.place(text)).collect(),
                    None => Vec::new(),
                };
                let write = Written {
                    namespace,
                    key,
                    value: put.value,
                    words: parts.words,
                    vectors: Vec::new(),
                    index_paths: put.index_paths,
                    ttl: put.ttl,
                };
                (write, wanted)
            })
            .unzip()
    }

    /// Returns the words by which a value is found when its put does not say otherwise: for a backend that rebuilds its
    /// index.
    pub fn words_of(&self, value: &Object) -> Vec<String> {
        let sources = self.sources(&Index::Default);
        let parts = sources.map(|sources| sources.read(&Value::Object(value.clone())));
        // Paths that cannot be read were refused when something was put.
        parts.map(|parts| parts.words).unwrap_or_default()
    }

    fn refreshes(&self, asked: Option<bool>) -> bool {
        asked.unwrap_or(self.ttl.refresh_on_read)
    }

    fn time(&self, ttl: Ttl) -> Option<u64> {
        let time = match ttl {
            Ttl::Default => self.ttl.default,
            Ttl::Never => None,
            Ttl::For(time) => Some(time),
        };
        time.map(|time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn sources(&self, index: &Index) -> Result<Sources, StoreError> {
        let fields = match index {
            Index::Off => return Ok(Sources(Vec::new())),
            Index::Paths(paths) => paths,
            Index::Default => self.index.as_ref().map_or(&self.fields, |index| &index.fields),
        };
        Ok(Sources(
            fields
                .iter()
                .map(|path| Path::parse(path))
                .collect::<Result<_, _>>()?,
        ))
    }

    fn search(&self, query: StoreQuery, texts: &mut Texts) -> Result<Search, StoreError> {
        check_labels(&query.prefix)?;
        let order = match query.query.filter(|query| !query.is_empty()) {
            None => Order::Newest,
            Some(text) => match (query.ranking, &self.index) {
                (Ranking::Vectors, None) => {
                    return Err(StoreError::Query(
                        "the store has no vector index. Open it with one, or search by words.".to_owned(),
                    ));
                }
                (Ranking::Words, _) | (Ranking::Auto, None) => Order::Words(asked(&text)),
                (Ranking::Vectors | Ranking::Auto, Some(_)) => {
                    let place = texts.place(text);
                    texts.queries.push_back(place);
                    // Filled in when all texts have been embedded at once.
                    Order::Vector(Vec::new())
                }
            },
        };
        Ok(Search {
            prefix: query.prefix,
            filter: Filter::parse(&query.filter)?,
            order,
            limit: query.limit,
            offset: query.offset,
            refresh: self.refreshes(query.refresh_ttl),
        })
    }

    pub(super) async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, StoreError> {
        let Some(index) = self.index.as_ref().filter(|_| !texts.is_empty()) else {
            return Ok(Vec::new());
        };
        let vectors = index.embed.embed(&texts).await?;
        let wrong = |cause: String| StoreError::Embedding {
            name: index.embed.name().to_owned(),
            cause,
            remedy: "Correct the embedding, or the dimensions of the store's index".to_owned(),
        };
        if vectors.len() != texts.len() {
            return Err(wrong(format!(
                "it gave {} vectors for {} texts",
                vectors.len(),
                texts.len()
            )));
        }
        if let Some(vector) = vectors.iter().find(|vector| vector.len() != index.dims) {
            return Err(wrong(format!(
                "it gave a vector of {} numbers, and the index has {} dimensions",
                vector.len(),
                index.dims
            )));
        }
        if vectors.iter().flatten().any(|number| !number.is_finite()) {
            return Err(wrong("it gave a number that is infinite or no number".to_owned()));
        }
        Ok(vectors)
    }
}

fn check(namespace: &[String], key: &str) -> Result<(), StoreError> {
    if key.contains('\0') {
        return Err(StoreError::Key(key.to_owned()));
    }
    check_namespace(namespace)
}

/// Returns whether a value is nested deeper than this number of levels.
fn deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| deeper(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.iter().any(|(_, member)| deeper(member, levels - 1)),
        _ => false,
    }
}

/// A put before its texts are embedded.
struct Unembedded {
    value: Option<Object>,
    sources: Sources,
    index_paths: Option<Vec<String>>,
    ttl: Option<u64>,
}

/// The last put of each key of a batch.
#[derive(Default)]
struct Puts {
    all: Vec<Unembedded>,
    places: HashMap<(Vec<String>, String), usize>,
}

impl Puts {
    fn add(&mut self, id: (Vec<String>, String), put: Unembedded) {
        match self.places.get(&id) {
            Some(place) => self.all[*place] = put,
            None => {
                self.places.insert(id, self.all.len());
                self.all.push(put);
            }
        }
    }

    /// Returns each put with its namespace and key, in the order in which the keys came first.
    fn in_order(self) -> impl Iterator<Item = ((Vec<String>, String), Unembedded)> {
        let mut ids: Vec<_> = self.places.into_iter().collect();
        ids.sort_unstable_by_key(|(_, place)| *place);
        ids.into_iter().map(|(id, _)| id).zip(self.all)
    }
}

/// The paths by which an item is found.
pub(super) struct Sources(Vec<Path>);

#[derive(Default)]
pub(super) struct Parts {
    pub(super) texts: Vec<String>,
    words: Vec<String>,
}

impl Sources {
    pub(super) fn read(&self, value: &Value) -> Parts {
        let mut parts = Parts::default();
        for path in &self.0 {
            parts.texts.extend(path.texts(value));
            path.select(value)
                .into_iter()
                .for_each(|part| gather(part, &mut parts.words));
        }
        parts
    }
}

/// Gathers the words of the scalars in a value; names of members are not part of an item's content.
fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) => found.extend(words(text)),
        Value::Bool(_) | Value::Number(_) => found.extend(words(&value.to_string())),
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Object(object) => object.iter().for_each(|(_, member)| gather(member, found)),
    }
}

/// Texts to embed, each once.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) all: Vec<String>,
    places: HashMap<String, usize>,
    /// Of the searches by meaning, in their order.
    queries: std::collections::VecDeque<usize>,
}

impl Texts {
    pub(super) fn place(&mut self, text: String) -> usize {
        if let Some(place) = self.places.get(&text) {
            return *place;
        }
        self.places.insert(text.clone(), self.all.len());
        self.all.push(text);
        self.all.len() - 1
    }
}
