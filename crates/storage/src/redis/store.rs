//! Long-term memory in Redis: the items of a namespace in one hash, a sorted set of namespaces, one of what expires.
//!
//! A Redis without modules cannot search, so a search reads every item under its prefix and looks here. It reads no key
//! that the sorted set of namespaces does not name.

mod reembed;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use redis::Value;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::{ItemPlace, Items, NewVectors, Outdated, Prepared, Read, StoredItem};
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp};
use tokio::sync::oneshot;

use super::server::{Own, STORE, Server, bytes, number, parts, text};
use super::{Home, RedisOptions, read_url};
use crate::base::quarantine::{QUARANTINE, quarantined};

/// Expired items removed in one go.
const PAGE: usize = 500;

/// Store that keeps items in Redis.
pub struct RedisStore {
    config: StoreConfig,
    /// Dropped first: it ends the connection's thread.
    _open: oneshot::Sender<()>,
    home: Home,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("url", &self.home.shown)
            .finish_non_exhaustive()
    }
}

/// An item that cannot be read.
pub(super) struct Broken {
    place: ItemPlace,
    stored: Vec<u8>,
    pub(super) error: StorageError,
}

/// Visibility of items that have expired and are not removed yet.
#[derive(Clone, Copy, Debug)]
enum ExpiredItems {
    Seen,
    Unseen,
}

/// Changes made by a batch.
struct Change {
    keys: Vec<Vec<u8>>,
    arguments: Vec<Vec<u8>>,
}

impl Change {
    fn new(server: &Server, now: u64, expired: ExpiredItems) -> Self {
        let unseen: &[u8] = match expired {
            ExpiredItems::Unseen => b"1",
            ExpiredItems::Seen => b"0",
        };
        Self {
            keys: vec![
                server.keys.of_all("store:namespaces"),
                server.keys.of_all("store:expiry"),
            ],
            arguments: vec![now.to_string().into_bytes(), unseen.to_vec()],
        }
    }

    fn add(&mut self, server: &Server, what: &str, namespace: &str, key: &str, needs: Vec<Vec<u8>>) {
        self.keys.push(items_key(server, namespace));
        self.arguments
            .extend([what, namespace, key].map(|word| word.as_bytes().to_vec()));
        self.arguments.extend(needs);
    }

    async fn run(self, server: &Server) -> Result<u64, StorageError> {
        if self.keys.len() == 2 {
            return Ok(0);
        }
        let answer = server
            .run(&STORE, server.telling(self.keys), self.arguments, "storing items")
            .await?;
        Ok(number(answer) as u64)
    }

    /// Runs what somebody who only reads can do without; `None` when this user may not write.
    async fn run_if_allowed(self, server: &Server) -> Result<Option<u64>, StorageError> {
        if self.keys.len() == 2 {
            return Ok(Some(0));
        }
        let keys = server.telling(self.keys);
        let answer = server.run_if_allowed(&STORE, keys, self.arguments, "keeping items");
        Ok(answer.await?.map(|answer| number(answer) as u64))
    }
}

fn items_key(server: &Server, namespace: &str) -> Vec<u8> {
    server.keys.of_all(&format!("store:items:{namespace}"))
}

/// Joins a namespace into one text: labels contain no periods.
fn joined(namespace: &[String]) -> String {
    namespace.join(".")
}

fn labels(namespace: &str) -> Vec<String> {
    namespace.split('.').map(str::to_owned).collect()
}

impl RedisStore {
    /// Connects to the server that the URL names, see [`RedisSaver::open`](super::RedisSaver::open). Items have a time
    /// to live of their own, by the store's configuration.
    pub async fn open(url: &str, config: StoreConfig) -> Result<Self, StorageError> {
        let (url, options) = read_url(url)?;
        Self::connect(&url, options, Arc::default(), config).await
    }

    pub(super) async fn connect(
        url: &str,
        options: RedisOptions,
        own: Arc<Own>,
        config: StoreConfig,
    ) -> Result<Self, StorageError> {
        let (open, closed) = oneshot::channel();
        let home = Home::start(url, options, own, move |_| async move {
            // Nothing is ever sent: it ends when the store is dropped.
            let _ = closed.await;
        });
        let store = Self {
            config,
            _open: open,
            home: home.await?,
        };
        store
            .home
            .read(|server| async move { server.prepare().await })
            .await?;
        Ok(store)
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let batch = self.config.prepare(ops).await?;
        let answers = self
            .home
            .read(|server| async move { server.items_batch(batch).await });
        Ok(answers.await?)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        let now = self.config.clock.now_ms();
        Ok(self
            .home
            .read(move |server| async move { server.sweep_items(now).await })
            .await?)
    }

    fn config(&self) -> Option<&StoreConfig> {
        Some(&self.config)
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(Vec::new());
        };
        let (embedding, dims) = (index.embedding().to_owned(), index.dims);
        let found = self.home.read(move |server| async move {
            server
                .outdated_items(&embedding, dims, after.as_ref(), limit)
                .await
        });
        Ok(found.await?)
    }

    async fn replace_vectors(&self, renewed: Vec<NewVectors>) -> Result<u64, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(0);
        };
        let embedding = index.embedding().to_owned();
        let renewing = self
            .home
            .read(|server| async move { server.replace_vectors(&embedding, renewed).await });
        Ok(renewing.await?)
    }
}

impl Server {
    async fn items_batch(&self, mut batch: Prepared) -> Result<Vec<StoreAnswer>, StorageError> {
        let mut touched = Vec::new();
        for (place, read) in std::mem::take(&mut batch.reads) {
            batch.answers[place] = self.item_answer(&batch, read, &mut touched).await?;
        }
        let expired = match batch.unseen_until() {
            Some(_) => ExpiredItems::Unseen,
            None => ExpiredItems::Seen,
        };
        let mut change = Change::new(self, batch.now, expired);
        let expires = |at: Option<u64>| at.unwrap_or(0).to_string().into_bytes();
        for ((namespace, key), at) in touched {
            change.add(self, "touch", &joined(&namespace), &key, vec![expires(at)]);
        }
        if batch.writes.is_empty() {
            // Reading does not need the right to write: without it, an item that was read goes when it was to go.
            change.run_if_allowed(self).await?;
            return Ok(batch.answers);
        }
        // The script knows what is there; here every put is a first one.
        let nothing = Items::new();
        for write in std::mem::take(&mut batch.writes) {
            let ((namespace, key), kept) = nothing.written(&batch, write);
            let namespace = joined(&namespace);
            match kept {
                Some(kept) => {
                    let text = serde_json::to_vec(&kept).map_err(|error| StorageError::Backend {
                        what: format!("storing {key:?}"),
                        cause: error.to_string(),
                        remedy: "Write a value that JSON can express".to_owned(),
                    })?;
                    change.add(
                        self,
                        "put",
                        &namespace,
                        &key,
                        vec![expires(kept.expires_at), text],
                    );
                }
                None => change.add(self, "remove", &namespace, &key, Vec::new()),
            }
        }
        change.run(self).await?;
        Ok(batch.answers)
    }

    async fn item_answer(
        &self,
        batch: &Prepared,
        read: Read,
        touched: &mut Vec<(ItemPlace, Option<u64>)>,
    ) -> Result<StoreAnswer, StorageError> {
        let mut items = Items::new();
        match &read {
            Read::Get { namespace, key, .. } => {
                let mut ask = redis::cmd("HGET");
                ask.arg(items_key(self, &joined(namespace))).arg(key);
                let found = self.call(ask, "reading an item").await?;
                if found != Value::Nil {
                    let place = (namespace.clone(), key.clone());
                    items.insert(place.clone(), kept(&place, &bytes(found))?);
                }
            }
            Read::Search(search) => {
                for namespace in self.namespaces(&search.prefix).await? {
                    let mut ask = redis::cmd("HGETALL");
                    ask.arg(items_key(self, &namespace));
                    let mut flat = parts(self.call(ask, "searching").await?).into_iter();
                    while let (Some(key), Some(found)) = (flat.next(), flat.next()) {
                        let place = (labels(&namespace), text(key));
                        items.insert(place.clone(), kept(&place, &bytes(found))?);
                    }
                }
            }
            Read::Namespaces(query) => {
                let literal = query.prefix.iter().take_while(|label| *label != "*").cloned();
                let mut holding = self.namespaces(&literal.collect::<Vec<_>>()).await?;
                if let Some(now) = batch.unseen_until() {
                    holding = self.with_living_items(holding, now).await?;
                }
                let holding = holding.iter().map(|namespace| labels(namespace));
                return Ok(StoreAnswer::Namespaces(query.select(holding)));
            }
        }
        Ok(items.answer(batch, read, touched))
    }

    /// Reads every item: how many there are, and those that cannot be read with what is stored and why.
    pub(super) async fn check_items(&self) -> Result<(u64, Vec<Broken>), StorageError> {
        let (mut count, mut broken) = (0, Vec::new());
        for namespace in self.namespaces(&[]).await? {
            let mut cursor = "0".to_owned();
            loop {
                let mut ask = redis::cmd("HSCAN");
                ask.arg(items_key(self, &namespace))
                    .arg(&cursor)
                    .arg("COUNT")
                    .arg(PAGE);
                let mut answer = parts(self.call(ask, "reading items").await?).into_iter();
                cursor = answer.next().map(text).unwrap_or_default();
                let mut flat = answer.next().map(parts).unwrap_or_default().into_iter();
                while let (Some(key), Some(found)) = (flat.next(), flat.next()) {
                    count += 1;
                    let (place, stored) = ((labels(&namespace), text(key)), bytes(found));
                    if let Err(error) = kept(&place, &stored) {
                        broken.push(Broken { place, stored, error });
                    }
                }
                if cursor == "0" || cursor.is_empty() {
                    break;
                }
            }
        }
        Ok((count, broken))
    }

    /// Moves an item that cannot be read out of the way of those that look for it, with what was stored as text.
    pub(super) async fn quarantine(&self, broken: &Broken, now: u64) -> Result<(), StorageError> {
        let (namespace, key) = (joined(&broken.place.0), &broken.place.1);
        let away = format!("{QUARANTINE}.{namespace}");
        let mut ask = redis::cmd("HEXISTS");
        ask.arg(items_key(self, &away)).arg(key);
        let new = match number(self.call(ask, "repairing items").await?) {
            0 => key.clone(),
            _ => format!("{key} ({})", uuid::Uuid::new_v4().simple()),
        };
        let kept = serde_json::json!({
            "value": quarantined(&String::from_utf8_lossy(&broken.stored)),
            "created_at": now,
            "updated_at": now,
        });
        let mut change = Change::new(self, now, ExpiredItems::Seen);
        let needs = vec![b"0".to_vec(), kept.to_string().into_bytes()];
        change.add(self, "put", &away, &new, needs);
        change.add(self, "remove", &namespace, key, Vec::new());
        change.run(self).await.map(drop)
    }

    /// Returns every key that holds data of the store.
    pub(super) async fn store_keys(&self) -> Result<Vec<Vec<u8>>, StorageError> {
        let mut keys = vec![
            self.keys.of_all("store:namespaces"),
            self.keys.of_all("store:expiry"),
        ];
        let namespaces = self.namespaces(&[]).await?;
        keys.extend(namespaces.iter().map(|namespace| items_key(self, namespace)));
        Ok(keys)
    }

    /// Returns the namespaces at and below this prefix, joined.
    async fn namespaces(&self, prefix: &[String]) -> Result<Vec<String>, StorageError> {
        let range = async |from: String, to: String| {
            let mut ask = redis::cmd("ZRANGE");
            ask.arg(self.keys.of_all("store:namespaces"))
                .arg(from)
                .arg(to)
                .arg("BYLEX");
            let found = parts(self.call(ask, "listing namespaces").await?);
            Ok::<_, StorageError>(found.into_iter().map(text).collect::<Vec<_>>())
        };
        if prefix.is_empty() {
            return range("-".to_owned(), "+".to_owned()).await;
        }
        let own = joined(prefix);
        let mut found = range(format!("[{own}"), format!("[{own}")).await?;
        // The character after the period ends the range.
        found.extend(range(format!("[{own}."), format!("({own}/")).await?);
        Ok(found)
    }

    /// Returns those of these namespaces in which not everything has expired.
    async fn with_living_items(
        &self,
        namespaces: Vec<String>,
        now: u64,
    ) -> Result<Vec<String>, StorageError> {
        let mut expired = std::collections::HashMap::new();
        for member in self.expired(now, None).await? {
            if let Some((namespace, _)) = member.split_once('\0') {
                *expired.entry(namespace.to_owned()).or_insert(0) += 1;
            }
        }
        let mut living = Vec::with_capacity(namespaces.len());
        for namespace in namespaces {
            let alive = match expired.get(&namespace) {
                None => true,
                Some(expired) => {
                    let mut ask = redis::cmd("HLEN");
                    ask.arg(items_key(self, &namespace));
                    number(self.call(ask, "listing namespaces").await?) > *expired
                }
            };
            if alive {
                living.push(namespace);
            }
        }
        Ok(living)
    }

    async fn expired(&self, now: u64, most: Option<usize>) -> Result<Vec<String>, StorageError> {
        let mut ask = redis::cmd("ZRANGE");
        ask.arg(self.keys.of_all("store:expiry"))
            .arg(0)
            .arg(now)
            .arg("BYSCORE");
        if let Some(most) = most {
            ask.arg("LIMIT").arg(0).arg(most);
        }
        let found = parts(self.call(ask, "looking for expired items").await?);
        Ok(found.into_iter().map(text).collect())
    }

    async fn sweep_items(&self, now: u64) -> Result<u64, StorageError> {
        let mut removed = 0;
        loop {
            let page = self.expired(now, Some(PAGE)).await?;
            let mut change = Change::new(self, now, ExpiredItems::Unseen);
            for member in &page {
                if let Some((namespace, key)) = member.split_once('\0') {
                    change.add(self, "sweep", namespace, key, Vec::new());
                }
            }
            // Without the right to write they stay, and nobody sees them.
            let Some(gone) = change.run_if_allowed(self).await? else {
                return Ok(removed);
            };
            removed += gone;
            if page.len() < PAGE {
                return Ok(removed);
            }
        }
    }
}

/// Parses a stored item: when it was first put and when it expires, which scripts change, then the rest.
pub(super) fn kept(place: &ItemPlace, stored: &[u8]) -> Result<StoredItem, StorageError> {
    let corrupt = |cause: String| StorageError::Corrupt {
        place: format!("Item {:?} of namespace {:?}", place.1, place.0),
        cause,
    };
    let end = stored
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(|| corrupt("it has no first line".to_owned()))?;
    let line = String::from_utf8_lossy(&stored[..end]);
    let mut numbers = line.split(' ').map(str::parse::<u64>);
    let (Some(Ok(created_at)), Some(Ok(expires_at)), None) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return Err(corrupt(format!("its first line is {line:?}")));
    };
    let kept: StoredItem =
        serde_json::from_slice(&stored[end + 1..]).map_err(|error| corrupt(error.to_string()))?;
    Ok(StoredItem {
        created_at,
        expires_at: (expires_at > 0).then_some(expires_at),
        ..kept
    })
}
