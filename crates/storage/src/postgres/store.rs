//! Long-term memory in a PostgreSQL database, beside the threads.
//!
//! Words are found by an inverted index (GIN) and ranked by the server (Okapi BM25, as everywhere in Superstep).
//! Vectors are compared by the extension `vector` (pgvector) where the database has it, and here otherwise; both look
//! at every vector of what is searched, so both find the same.

mod reembed;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use superstep::checkpoint::StorageError;
use superstep::store::{Item, NamespaceQuery, StoreAnswer, StoreConfig, StoreError, StoreOp};
use superstep::store::{ItemPlace, NewVectors, Order, Outdated, Prepared, Read, Search, Written, rank};
use superstep::value::Object;
use superstep::{Store, Value};
use tokio::sync::mpsc;
use tokio_postgres::Row;

use crate::codec::value::{MAX_DEPTH, too_deep};

use super::fault::PostgresFault;
use super::server::{Server, Session};
use super::writer::Request;

/// Items that are looked through at a time when a filter decides.
const PAGE: i64 = 500;
/// Longer words are found by their beginning and a hash: an index has no room for them.
const MAX_LENGTH: usize = 200;
/// How often a batch is tried that another one got in the way of.
const TRIES: usize = 5;
/// Sorts after every label.
const LAST: &str = "\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}";

/// Store that keeps items in a PostgreSQL database; created by [`PostgresSaver::store`](super::PostgresSaver::store).
pub struct PostgresStore {
    server: Arc<Server>,
    config: StoreConfig,
    /// Whether the database has the extension `vector`: 0 is not known yet, 1 no, 2 yes.
    extension: AtomicU8,
    /// Keeps the runtime of the sessions alive, which goes with the last sender.
    _running: mpsc::UnboundedSender<Request>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("url", &self.server.shown)
            .finish_non_exhaustive()
    }
}

/// Where items are: at or below a namespace, and seen. `$1` and `$2` are the range, `$3` the time.
macro_rules! scope {
    () => {
        "i.ns >= string_to_array($1, '.') AND i.ns < string_to_array($2, '.')
         AND ($3::bigint IS NULL OR i.expires_at IS NULL OR i.expires_at > $3)"
    };
}

const NEWEST: &str = concat!(
    "SELECT i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, NULL::float8, i.expires_at FROM store_items i WHERE ",
    scope!(),
    " ORDER BY i.updated_at DESC, i.ns, i.key LIMIT $4 OFFSET $5"
);

// What rank::by_words of the engine says, where the items are.
const WORDS: &str = concat!(
    "WITH all_of_it AS (
         SELECT count(*)::float8 AS documents, greatest(coalesce(avg(cardinality(i.words)), 0), 1)::float8 AS average
         FROM store_items i WHERE ",
    scope!(),
    "), hits AS MATERIALIZED (
         SELECT i.ns, i.key, i.words FROM store_items i WHERE i.words && $6 AND ",
    scope!(),
    "), counted AS (
         SELECT h.ns, h.key, cardinality(h.words)::float8 AS length, w.word, count(*)::float8 AS times
         FROM hits h CROSS JOIN LATERAL unnest(h.words) w (word) WHERE w.word = ANY($6)
         GROUP BY h.ns, h.key, h.words, w.word
     ), weights AS (
         SELECT c.word, ln(1 + (a.documents - count(*) + 0.5) / (count(*) + 0.5)) AS weight
         FROM counted c, all_of_it a GROUP BY c.word, a.documents
     ), scores AS (
         SELECT c.ns, c.key,
                sum(w.weight * c.times * 2.2 / (c.times + 1.2 * (0.25 + 0.75 * c.length / a.average))) AS score
         FROM counted c JOIN weights w ON w.word = c.word, all_of_it a GROUP BY c.ns, c.key
     )
     SELECT i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, s.score::float8, i.expires_at
     FROM scores s JOIN store_items i ON i.ns = s.ns AND i.key = s.key
     ORDER BY s.score DESC, i.updated_at DESC, i.ns, i.key LIMIT $4 OFFSET $5"
);

// With the extension `vector`.
const NEAREST: &str = concat!(
    "SELECT i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, n.score, i.expires_at
     FROM store_items i CROSS JOIN LATERAL (
         SELECT max(CASE WHEN i.dims <> cardinality($6::real[]) THEN 0 ELSE coalesce(nullif(
                    1 - ((i.vectors[g * i.dims + 1:(g + 1) * i.dims])::vector <=> $6::real[]::vector), 'NaN'), 0)
                    END) AS score
         FROM generate_series(0, cardinality(i.vectors) / greatest(i.dims, 1) - 1) g
     ) n WHERE cardinality(i.vectors) > 0 AND i.dims = cardinality($6::real[])
           AND i.embedding = $7::text AND ",
    scope!(),
    " ORDER BY n.score DESC, i.updated_at DESC, i.ns, i.key LIMIT $4 OFFSET $5"
);

const VECTORS: &str = concat!(
    "SELECT array_to_string(i.ns, '.'), i.key, i.dims, i.vectors FROM store_items i WHERE cardinality(i.vectors) > 0
     AND i.dims = $4::int AND i.embedding = $5::text AND ",
    scope!(),
    " ORDER BY i.updated_at DESC, i.ns, i.key"
);

const PLACES: &str = "
    SELECT i.ns, i.key, i.value, i.created_at, i.updated_at, i.ttl, NULL::float8, i.expires_at
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY u (ns, key, place)
    JOIN store_items i ON i.ns = string_to_array(u.ns, '.') AND i.key = u.key
    WHERE $3::bigint IS NULL OR i.expires_at IS NULL OR i.expires_at > $3
    ORDER BY u.place";

impl PostgresStore {
    pub(super) fn new(
        server: Arc<Server>,
        config: StoreConfig,
        running: mpsc::UnboundedSender<Request>,
    ) -> Self {
        Self {
            server,
            config,
            extension: AtomicU8::new(0),
            _running: running,
        }
    }

    async fn try_batch(&self, mut batch: Prepared) -> Result<Vec<StoreAnswer>, PostgresFault> {
        let mut session = self.server.session().await?;
        // A single statement is a transaction by itself.
        let (reads, writes) = (!batch.reads.is_empty(), !batch.writes.is_empty());
        let deletes = batch.writes.iter().any(|write| write.value.is_none());
        let puts = batch.writes.iter().any(|write| write.value.is_some());
        let several = writes && (reads || (deletes && puts));
        if several {
            session.batch("BEGIN").await?;
        }
        self.work(&mut session, &mut batch).await?;
        if several {
            session.batch("COMMIT").await?;
        }
        // A session that met an error was dropped on the way here, and its transaction with it.
        self.server.keep(session);
        Ok(batch.answers)
    }

    async fn work(&self, session: &mut Session, batch: &mut Prepared) -> Result<(), PostgresFault> {
        let mut touched: Vec<(String, String)> = Vec::new();
        let (mut places, mut namespaces, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for (place, read) in std::mem::take(&mut batch.reads) {
            batch.answers[place] = match read {
                Read::Get {
                    namespace,
                    key,
                    refresh,
                } => {
                    namespaces.push(namespace.join("."));
                    keys.push(key);
                    places.push((place, refresh));
                    StoreAnswer::Item(None)
                }
                Read::Search(search) => {
                    StoreAnswer::Items(self.find(session, batch, &search, &mut touched).await?)
                }
                Read::Namespaces(query) => StoreAnswer::Namespaces(list(session, batch, &query).await?),
            };
        }
        if !places.is_empty() {
            let rows = session
                .query(PLACES, &[&namespaces, &keys, &time(batch.unseen_until())])
                .await?;
            let mut items = Vec::with_capacity(rows.len());
            for row in &rows {
                items.push(found(row)?);
            }
            for ((place, refresh), (namespace, key)) in places.into_iter().zip(namespaces.iter().zip(&keys)) {
                let item = items
                    .iter()
                    .find(|(item, _)| item.key == *key && item.namespace.join(".") == *namespace);
                if let Some((item, mortal)) = item {
                    if refresh && *mortal {
                        touched.push((namespace.clone(), key.clone()));
                    }
                    batch.answers[place] = StoreAnswer::Item(Some(item.clone()));
                }
            }
        }
        match touch(session, batch.now, touched).await {
            // Anyone who may only read reads: the item lives on as it would have without.
            Err(fault) if fault.is_refused() && batch.writes.is_empty() => {
                tracing::debug!("what was read of the store may not be kept longer");
            }
            done => done?,
        }
        let mut writes = std::mem::take(&mut batch.writes);
        // In one order everywhere, so that two batches do not wait for each other.
        writes.sort_by(|a, b| (&a.namespace, &a.key).cmp(&(&b.namespace, &b.key)));
        let (puts, deletes) = writes.into_iter().partition(|write| write.value.is_some());
        remove(session, deletes).await?;
        put(session, batch, puts).await
    }

    async fn find(
        &self,
        session: &mut Session,
        batch: &Prepared,
        search: &Search,
        touched: &mut Vec<(String, String)>,
    ) -> Result<Vec<Item>, PostgresFault> {
        // Without a filter the server passes over what the offset says.
        let free = search.filter.is_empty();
        let mut skip = if free { 0 } else { search.offset };
        let mut scan = self.scan(session, batch, search, free).await?;
        let mut items = Vec::new();
        while items.len() < search.limit {
            let (rows, over) = scan.page(session, batch, search).await?;
            for row in &rows {
                let (mut item, mortal) = found(row)?;
                scan.score(&mut item);
                if items.len() == search.limit || !search.filter.matches(&item.value) {
                    continue;
                }
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                if search.refresh && mortal {
                    touched.push((item.namespace.join("."), item.key.clone()));
                }
                items.push(item);
            }
            if free || over {
                break;
            }
        }
        Ok(items)
    }

    /// Begins a search: at what the offset says, or with a filter at the first place.
    async fn scan(
        &self,
        session: &mut Session,
        batch: &Prepared,
        search: &Search,
        free: bool,
    ) -> Result<Scan, PostgresFault> {
        let (from, to) = range(&search.prefix);
        let now = time(batch.unseen_until());
        let ranked = match &search.order {
            Order::Vector(query) if !self.has_extension(session).await? => {
                Some(nearest(session, &from, &to, now, query, batch.embedding.as_deref()).await?)
            }
            _ => None,
        };
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Ok(Scan {
            from,
            to,
            now,
            ranked,
            offset: if free { whole(search.offset) } else { 0 },
            size: if free { whole(search.limit) } else { PAGE },
        })
    }

    /// Returns whether the database can compare vectors.
    async fn has_extension(&self, session: &mut Session) -> Result<bool, PostgresFault> {
        if self.extension.load(Ordering::Relaxed) == 0 {
            let rows = session
                .query("SELECT to_regtype('vector') IS NOT NULL", &[])
                .await?;
            let there: bool = rows.first().map_or(Ok(false), |row| row.try_get(0))?;
            self.extension.store(1 + u8::from(there), Ordering::Relaxed);
        }
        Ok(self.extension.load(Ordering::Relaxed) == 2)
    }

    fn worded(&self, fault: PostgresFault, what: &str) -> StoreError {
        fault.worded(what, &self.server.shown).into()
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let batch = self.config.prepare(ops).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_batch(batch.clone()).await {
                Ok(answers) => {
                    if !batch.writes.is_empty() {
                        self.server.changed();
                    }
                    return Ok(answers);
                }
                // A batch may be done twice: its puts say what is there, not what changes.
                Err(fault) if tries < TRIES && (fault.is_overtaken() || fault.is_lost()) => {}
                Err(fault) => return Err(self.worded(fault, "using the store")),
            }
        }
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        let now = time(Some(self.config.clock.now_ms()));
        let sweeping = async {
            let mut session = self.server.session().await?;
            let removed = session
                .execute("DELETE FROM store_items WHERE expires_at <= $1", &[&now])
                .await?;
            self.server.keep(session);
            if removed > 0 {
                self.server.changed();
            }
            Ok(removed)
        };
        sweeping
            .await
            .map_err(|fault| self.worded(fault, "sweeping the store"))
    }

    fn config(&self) -> Option<&StoreConfig> {
        Some(&self.config)
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(Vec::new());
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let found = self.find_outdated(index.embedding(), index.dims, after.as_ref(), limit);
            match found.await {
                Ok(found) => return Ok(found),
                Err(fault) if tries < TRIES && fault.is_lost() => {}
                Err(fault) => return Err(self.worded(fault, "looking for items to embed again")),
            }
        }
    }

    async fn replace_vectors(&self, renewed: Vec<NewVectors>) -> Result<u64, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(0);
        };
        let mut tries = 0;
        loop {
            tries += 1;
            match self.replace_vectors_of(index.embedding(), &renewed).await {
                Ok(count) => {
                    if count > 0 {
                        self.server.changed();
                    }
                    return Ok(count);
                }
                Err(fault) if tries < TRIES && (fault.is_overtaken() || fault.is_lost()) => {}
                Err(fault) => return Err(self.worded(fault, "embedding items again")),
            }
        }
    }
}

/// The places that a search looks through, page by page.
struct Scan {
    from: String,
    to: String,
    now: Option<i64>,
    /// All places with their scores, the nearest first, where the database cannot compare vectors.
    ranked: Option<Vec<(String, String, f64)>>,
    offset: i64,
    /// Places of a page.
    size: i64,
}

impl Scan {
    /// Reads the next page, and returns whether no other follows.
    async fn page(
        &mut self,
        session: &mut Session,
        batch: &Prepared,
        search: &Search,
    ) -> Result<(Vec<Row>, bool), PostgresFault> {
        let Scan {
            from, to, now, size, ..
        } = &*self;
        let offset = self.offset;
        let rows = match (&search.order, &self.ranked) {
            (_, Some(ranked)) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(ranked.len());
                let end = start
                    .saturating_add(usize::try_from(*size).unwrap_or(usize::MAX))
                    .min(ranked.len());
                let part = ranked.get(start..end).unwrap_or_default();
                let namespaces: Vec<&str> = part.iter().map(|(ns, ..)| ns.as_str()).collect();
                let keys: Vec<&str> = part.iter().map(|(_, key, _)| key.as_str()).collect();
                session.query(PLACES, &[&namespaces, &keys, now]).await?
            }
            (Order::Newest, _) => session.query(NEWEST, &[from, to, now, size, &offset]).await?,
            (Order::Words(words), _) => {
                let words: Vec<String> = words.iter().map(|word| short(word)).collect();
                session
                    .query(WORDS, &[from, to, now, size, &offset, &words])
                    .await?
            }
            (Order::Vector(query), _) => {
                session
                    .query(NEAREST, &[from, to, now, size, &offset, query, &batch.embedding])
                    .await?
            }
        };
        self.offset = offset.saturating_add(self.size);
        let over = match &self.ranked {
            Some(ranked) => usize::try_from(self.offset).unwrap_or(usize::MAX) >= ranked.len(),
            None => (rows.len() as i64) < self.size,
        };
        Ok((rows, over))
    }

    /// Gives an item the score that it has here; one that the database gave stays.
    fn score(&self, item: &mut Item) {
        if let Some(ranked) = &self.ranked {
            let namespace = item.namespace.join(".");
            let known = ranked
                .iter()
                .find(|(ns, key, _)| *ns == namespace && *key == item.key);
            item.score = known.map(|(.., score)| *score);
        }
    }
}

/// Places by how near they are to a vector, as the engine says it.
async fn nearest(
    session: &mut Session,
    from: &str,
    to: &str,
    now: Option<i64>,
    query: &[f32],
    embedding: Option<&str>,
) -> Result<Vec<(String, String, f64)>, PostgresFault> {
    let length = query.len() as i32;
    let rows = session
        .query(VECTORS, &[&from, &to, &now, &length, &embedding])
        .await?;
    let mut ranked = Vec::with_capacity(rows.len());
    for row in &rows {
        let (dims, all): (i32, Vec<f32>) = (row.try_get(2)?, row.try_get(3)?);
        let vectors: Vec<Vec<f32>> = all
            .chunks(usize::try_from(dims).unwrap_or_default().max(1))
            .map(<[f32]>::to_vec)
            .collect();
        if let Some(score) = rank::by_vectors(query, &vectors) {
            ranked.push((row.try_get(0)?, row.try_get(1)?, score));
        }
    }
    // Stable: equal scores stay in the order of their updates.
    ranked.sort_by(|(_, _, a), (_, _, b)| b.total_cmp(a));
    Ok(ranked)
}

/// Lists namespaces that hold items.
async fn list(
    session: &mut Session,
    batch: &Prepared,
    query: &NamespaceQuery,
) -> Result<Vec<Vec<String>>, PostgresFault> {
    let known = query.prefix.iter().take_while(|label| *label != "*").cloned();
    let (from, to) = range(&known.collect::<Vec<_>>());
    let rows = session
        .query(
            concat!("SELECT DISTINCT i.ns FROM store_items i WHERE ", scope!()),
            &[&from, &to, &time(batch.unseen_until())],
        )
        .await?;
    let namespaces: Vec<Vec<String>> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    Ok(query.select(namespaces))
}

/// Gives items their full time again.
async fn touch(session: &mut Session, now: u64, touched: Vec<(String, String)>) -> Result<(), PostgresFault> {
    if touched.is_empty() {
        return Ok(());
    }
    let (namespaces, keys): (Vec<String>, Vec<String>) = touched.into_iter().unzip();
    session
        .execute(
            "UPDATE store_items i SET expires_at = $3::bigint + least(i.ttl, 9223372036854775807 - $3::bigint)
             FROM (SELECT DISTINCT v.ns, v.key FROM unnest($1::text[], $2::text[]) v (ns, key) ORDER BY 1, 2) u
             WHERE i.ns = string_to_array(u.ns, '.') AND i.key = u.key AND i.ttl IS NOT NULL",
            &[&namespaces, &keys, &time(Some(now))],
        )
        .await?;
    Ok(())
}

async fn remove(session: &mut Session, writes: Vec<Written>) -> Result<(), PostgresFault> {
    if writes.is_empty() {
        return Ok(());
    }
    let namespaces: Vec<String> = writes.iter().map(|write| write.namespace.join(".")).collect();
    let keys: Vec<&str> = writes.iter().map(|write| write.key.as_str()).collect();
    session
        .execute(
            "DELETE FROM store_items i USING unnest($1::text[], $2::text[]) u (ns, key)
             WHERE i.ns = string_to_array(u.ns, '.') AND i.key = u.key",
            &[&namespaces, &keys],
        )
        .await?;
    Ok(())
}

async fn put(session: &mut Session, batch: &Prepared, writes: Vec<Written>) -> Result<(), PostgresFault> {
    if writes.is_empty() {
        return Ok(());
    }
    let (mut namespaces, mut keys, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ttls, mut ends) = (Vec::new(), Vec::new());
    let (mut words, mut dims, mut vectors) = (Vec::new(), Vec::new(), Vec::new());
    let mut said = Vec::new();
    for write in &writes {
        namespaces.push(write.namespace.join("."));
        values.push(text(write)?);
        keys.push(write.key.as_str());
        ttls.push(time(write.ttl));
        ends.push(time(batch.expires(write.ttl)));
        // Words are letters and digits, so nothing needs quoting but the words themselves.
        let quoted: Vec<String> = write
            .words
            .iter()
            .map(|word| format!("\"{}\"", short(word)))
            .collect();
        words.push(format!("{{{}}}", quoted.join(",")));
        dims.push(write.vectors.first().map_or(0, |vector| vector.len() as i32));
        vectors.push(numbers(&write.vectors));
        // A list of texts is JSON, always.
        said.push(
            write
                .index_paths
                .as_ref()
                .map(|paths| serde_json::to_string(paths).unwrap_or_default()),
        );
    }
    session
        .execute(
            "INSERT INTO store_items AS i (ns, key, value, created_at, updated_at, ttl, expires_at, words, dims, vectors,
                                           embedding, said)
             SELECT string_to_array(u.ns, '.'), u.key, u.value, $9, $9, u.ttl, u.expires_at, u.words::text[], u.dims,
                    u.vectors::real[], $11, u.said
             FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::int[],
                         $8::text[], $12::text[]) u (ns, key, value, ttl, expires_at, words, dims, vectors, said)
             ON CONFLICT (ns, key) DO UPDATE SET
                 value = excluded.value, updated_at = excluded.updated_at, ttl = excluded.ttl,
                 expires_at = excluded.expires_at, words = excluded.words, dims = excluded.dims,
                 vectors = excluded.vectors, embedding = excluded.embedding, said = excluded.said,
                 created_at = CASE WHEN i.expires_at <= $10::bigint THEN excluded.created_at ELSE i.created_at END",
            &[
                &namespaces,
                &keys,
                &values,
                &ttls,
                &ends,
                &words,
                &dims,
                &vectors,
                &time(Some(batch.now)),
                &time(batch.unseen_until()),
                &batch.embedding,
                &said,
            ],
        )
        .await?;
    Ok(())
}

/// Converts vectors to the text of one array.
fn numbers(vectors: &[Vec<f32>]) -> String {
    let numbers: Vec<String> = vectors.iter().flatten().map(f32::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// Converts a write to JSON that can be read back.
fn text(write: &Written) -> Result<String, PostgresFault> {
    let refuse = |cause: String, remedy: &str| {
        PostgresFault::Storage(StorageError::Backend {
            what: format!("storing {:?} in {:?}", write.key, write.namespace),
            cause,
            remedy: remedy.to_owned(),
        })
    };
    let text = serde_json::to_string(&write.value)
        .map_err(|error| refuse(error.to_string(), "Put a value that JSON can express"))?;
    match too_deep(text.as_bytes()) {
        true => Err(refuse(
            format!("the value is nested more than {MAX_DEPTH} levels deep"),
            "Put a flatter value",
        )),
        false => Ok(text),
    }
}

/// Reads an item, and whether it has a time to live.
pub(super) fn found(row: &Row) -> Result<(Item, bool), PostgresFault> {
    let (namespace, key): (Vec<String>, String) = (row.try_get(0)?, row.try_get(1)?);
    let value: Result<Value, _> = serde_json::from_str(row.try_get(2)?);
    let value: Object = match value {
        Ok(Value::Object(value)) => value,
        Ok(other) => {
            let cause = format!("its value is {}, not an object", other.type_name());
            return Err(PostgresFault::corrupt(
                format!("Item {key:?} of {namespace:?}"),
                cause,
            ));
        }
        Err(error) => {
            return Err(PostgresFault::corrupt(
                format!("Item {key:?} of {namespace:?}"),
                error,
            ));
        }
    };
    let at =
        |column: usize| -> Result<u64, PostgresFault> { Ok(row.try_get::<_, i64>(column)?.unsigned_abs()) };
    let item = Item {
        created_at: at(3)?,
        updated_at: at(4)?,
        expires_at: row.try_get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
        score: row.try_get(6)?,
        namespace,
        key,
        value,
    };
    Ok((item, row.try_get::<_, Option<i64>>(5)?.is_some()))
}

/// Converts a time to the integer type of the server.
fn time(ms: Option<u64>) -> Option<i64> {
    ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX))
}

/// Shortens a word to what an index has room for.
fn short(word: &str) -> String {
    if word.len() <= MAX_LENGTH {
        return word.to_owned();
    }
    let start: String = word.chars().take(16).collect();
    let hash = Sha256::digest(word.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{start}{hex}")
}

/// Returns the first namespace at or below a prefix, and the first one after these. Labels contain neither periods nor
/// U+0000.
fn range(prefix: &[String]) -> (String, String) {
    match prefix.is_empty() {
        true => (String::new(), LAST.to_owned()),
        false => (prefix.join("."), format!("{}\u{1}", prefix.join("."))),
    }
}
