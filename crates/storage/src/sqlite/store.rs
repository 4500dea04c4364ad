//! Long-term memory in the same file as the threads: one writer for both, full-text search by FTS5, vectors by
//! sqlite-vec.
//!
//! Searches by meaning compare with every vector below the namespace. That is exact, knows filters, and takes about as
//! long as reading the vectors: an index that approximates would pay from some hundred thousand items on.

use std::fmt::Write;

use async_trait::async_trait;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use superstep::store::{Item, StoreAnswer, StoreConfig, StoreError, StoreOp};
use superstep::store::{ItemPlace, NewVectors, Order, Outdated, Prepared, Read, Search};
use superstep::{Store, Value};

use super::SqliteSaver;
use super::fault::SqliteFault;
use super::writer::{Done, ItemChanges, Job};
use crate::codec::value::parse;

/// Store that keeps items in the file of a [`SqliteSaver`].
#[derive(Clone, Debug)]
pub struct SqliteStore {
    saver: SqliteSaver,
    config: StoreConfig,
}

impl SqliteSaver {
    /// Returns the store in the same file.
    pub fn store(&self, config: StoreConfig) -> SqliteStore {
        // A repair cuts words as this store does.
        *self.connections.cutting.lock() = config.clone();
        SqliteStore {
            saver: self.clone(),
            config,
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let batch = self.config.prepare(ops).await?;
        let (mut batch, touched) = if batch.reads.is_empty() {
            (batch, Vec::new())
        } else {
            self.saver
                .read("reading items", move |view| {
                    let mut batch = batch;
                    let touched = answer(view.conn, &mut batch)?;
                    Ok((batch, touched))
                })
                .await?
        };
        let answers = std::mem::take(&mut batch.answers);
        // Reading an item of a file that may only be read cannot make it live longer.
        if !batch.writes.is_empty() || !(touched.is_empty() || self.saver.is_read_only()) {
            let changes = ItemChanges { batch, touched };
            self.saver.submit(Job::Items(changes)).await?;
        }
        Ok(answers)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        if self.saver.is_read_only() {
            return Ok(0);
        }
        let (now, mut removed) = (self.config.clock.now_ms(), 0);
        while let Done::Swept(some) = self.saver.submit(Job::Sweep(now)).await? {
            removed += some;
            if some < SWEPT {
                break;
            }
        }
        Ok(removed)
    }

    fn config(&self) -> Option<&StoreConfig> {
        Some(&self.config)
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(Vec::new());
        };
        let (embedding, dims) = (index.embedding().to_owned(), index.dims);
        let found = self.saver.read("looking for items to embed again", move |view| {
            outdated(view.conn, &embedding, dims, after, limit)
        });
        Ok(found.await?)
    }

    async fn replace_vectors(&self, renewed: Vec<NewVectors>) -> Result<u64, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(0);
        };
        let job = Job::Renew(index.embedding().to_owned(), renewed);
        match self.saver.submit(job).await? {
            Done::Swept(count) => Ok(count),
            _ => Ok(0),
        }
    }
}

/// Vectors filed under no name are none: what a put said about how the item is found, as JSON.
pub(super) const PUT_INDEX: &str = "";

/// Finds outdated items. What was excluded is not outdated; before that was recorded, it is what no word finds.
fn outdated(
    conn: &Connection,
    embedding: &str,
    dims: usize,
    after: Option<ItemPlace>,
    limit: usize,
) -> Result<Vec<Outdated>, SqliteFault> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT CAST(s.data AS TEXT) FROM store_vectors s WHERE s.item = i.id AND s.embedding =
             (SELECT id FROM store_embeddings WHERE name = ?1)) AS said FROM store_items i
         WHERE (i.namespace, i.key) > (?2, ?3) AND said IS NOT '[]'
           AND NOT EXISTS (SELECT 1 FROM store_vectors v WHERE v.item = i.id AND length(v.data) IN (0, ?4)
                           AND v.embedding = (SELECT id FROM store_embeddings WHERE name = ?5))
           AND (said IS NOT NULL OR EXISTS (SELECT 1 FROM store_vectors v WHERE v.item = i.id)
                OR EXISTS (SELECT 1 FROM store_words w WHERE w.rowid = i.id))
         ORDER BY i.namespace, i.key LIMIT ?6"
    );
    let (namespace, key) = after.map_or_else(Default::default, |(namespace, key)| (joined(&namespace), key));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![
        PUT_INDEX,
        namespace,
        key,
        (4 * dims) as i64,
        embedding,
        limit as i64
    ])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let item = Stored::read(row)?.item;
        let said: Option<String> = row.get(8)?;
        let said = said.map(|said| serde_json::from_str(&said)).transpose();
        found.push(Outdated {
            index_paths: said.map_err(|error| {
                SqliteFault::corrupt(
                    format!("Item {:?} of namespace {:?}", item.key, item.namespace),
                    error,
                )
            })?,
            updated_at: item.updated_at,
            value: item.value,
            place: (item.namespace, item.key),
        });
    }
    Ok(found)
}

/// Expired items removed in one transaction.
pub(super) const SWEPT: u64 = 500;

/// Converts a namespace to its stored form.
pub(super) fn joined(namespace: &[String]) -> String {
    namespace.join(".")
}

/// Converts a time or duration to the integer type of SQL.
pub(super) fn number(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// Converts a vector to its stored form.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Answers the reads and says which items get their full time again.
fn answer(conn: &Connection, batch: &mut Prepared) -> Result<Vec<i64>, SqliteFault> {
    let mut touched = Vec::new();
    for (place, read) in std::mem::take(&mut batch.reads) {
        batch.answers[place] = match read {
            Read::Get {
                namespace,
                key,
                refresh,
            } => {
                let sql = format!("SELECT {COLUMNS} FROM store_items WHERE namespace = ?1 AND key = ?2");
                let found = conn
                    .prepare_cached(&sql)?
                    .query_row([&joined(&namespace), &key], |row| Ok(Stored::read(row)))
                    .optional()?;
                let stored = found.transpose()?.filter(|stored| batch.sees(stored.expires_at));
                if let Some(stored) = stored.as_ref().filter(|stored| refresh && stored.mortal) {
                    touched.push(stored.id);
                }
                StoreAnswer::Item(stored.map(|stored| stored.item))
            }
            Read::Search(search) => StoreAnswer::Items(find(conn, batch, &search, &mut touched)?),
            Read::Namespaces(query) => {
                // What begins with a star begins with anything.
                let fixed = query
                    .prefix
                    .iter()
                    .take_while(|label| *label != "*")
                    .cloned()
                    .collect::<Vec<_>>();
                let mut scope = Scope::default();
                scope.below(&fixed);
                scope.alive(batch);
                let sql = format!(
                    "SELECT DISTINCT i.namespace FROM store_items i WHERE {}",
                    scope.clauses
                );
                let mut statement = conn.prepare_cached(&sql)?;
                let rows =
                    statement.query_map(params_from_iter(scope.values), |row| row.get::<_, String>(0))?;
                let holding = rows.map(|row| row.map(|namespace| labels(&namespace)));
                StoreAnswer::Namespaces(query.select(holding.collect::<Result<Vec<_>, _>>()?))
            }
        };
    }
    Ok(touched)
}

/// Gives a connection the functions of sqlite-vec. That takes some time, and most never search by meaning.
fn know_vectors(conn: &Connection) -> rusqlite::Result<()> {
    match conn.prepare_cached("SELECT vec_version()") {
        Ok(_) => Ok(()),
        Err(_) => superstep_sqlite_vec::load(conn),
    }
}

fn find(
    conn: &Connection,
    batch: &Prepared,
    search: &Search,
    touched: &mut Vec<i64>,
) -> Result<Vec<Item>, SqliteFault> {
    let mut scope = Scope::default();
    let mut sql = match &search.order {
        Order::Newest => "SELECT i.id, NULL AS score FROM store_items i WHERE ".to_owned(),
        Order::Words(words) if words.is_empty() => return Ok(Vec::new()),
        Order::Words(words) => {
            // Words hold neither quotes nor anything else that FTS5 would read as syntax.
            let wanted = words
                .iter()
                .map(|word| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(" OR ");
            let wanted = scope.value(Sql::Text(wanted));
            format!(
                "SELECT i.id, -bm25(store_words) AS score FROM store_words JOIN store_items i ON i.id = \
                 store_words.rowid WHERE store_words MATCH {wanted} AND "
            )
        }
        Order::Vector(vector) => {
            know_vectors(conn)?;
            let length = 4 * vector.len();
            let vector = scope.value(Sql::Blob(bytes(vector)));
            let name = scope.value(Sql::Text(batch.embedding.clone().unwrap_or_default()));
            // A vector without a direction is at no distance; rounded, so that equal directions tie.
            format!(
                "SELECT i.id, max(coalesce(round(1.0 - vec_distance_cosine(v.data, {vector}), 6), 0.0)) AS score \
                 FROM store_items i JOIN store_vectors v ON v.item = i.id AND v.embedding = (SELECT id FROM \
                 store_embeddings WHERE name = {name}) AND length(v.data) = {length} WHERE "
            )
        }
    };
    scope.below(&search.prefix);
    scope.alive(batch);
    sql.push_str(&scope.clauses);
    sql.push_str(match &search.order {
        Order::Newest => " ORDER BY ",
        Order::Words(_) => " ORDER BY score DESC, ",
        Order::Vector(_) => " GROUP BY i.id ORDER BY score DESC, ",
    });
    sql.push_str(NEWEST);
    // Values are read one by one, until the page is full: sorting them with their scores would copy all of them.
    let mut ranked = conn.prepare_cached(&sql)?;
    let mut ranked = ranked.query(params_from_iter(scope.values))?;
    let mut read = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM store_items WHERE id = ?1"))?;
    let (mut found, mut skip) = (Vec::new(), search.offset);
    while found.len() < search.limit
        && let Some(row) = ranked.next()?
    {
        if search.filter.is_empty() && skip > 0 {
            skip -= 1;
            continue;
        }
        let (id, score): (i64, Option<f64>) = (row.get(0)?, row.get(1)?);
        let mut stored = read.query_row([id], |row| Ok(Stored::read(row)))??;
        if !search.filter.matches(&stored.item.value) {
            continue;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if search.refresh && stored.mortal {
            touched.push(id);
        }
        stored.item.score = score;
        found.push(stored.item);
    }
    Ok(found)
}

/// Namespaces are ordered label by label, so their end comes before any character of a label.
const NEWEST: &str = "i.updated_at DESC, replace(i.namespace, '.', char(0)), i.key";

/// The conditions of a search and their values.
#[derive(Default)]
struct Scope {
    clauses: String,
    values: Vec<Sql>,
}

impl Scope {
    /// Adds a parameter with this value and returns its placeholder.
    fn value(&mut self, value: Sql) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    /// Adds the condition for a namespace or those below it; a period is followed by a slash in the order of
    /// characters.
    fn below(&mut self, prefix: &[String]) {
        if prefix.is_empty() {
            self.clauses.push_str("1 = 1");
            return;
        }
        let prefix = joined(prefix);
        let own = self.value(Sql::Text(prefix.clone()));
        let from = self.value(Sql::Text(format!("{prefix}.")));
        let to = self.value(Sql::Text(format!("{prefix}/")));
        // Writing to a string cannot fail.
        let _ = write!(
            self.clauses,
            "(i.namespace = {own} OR (i.namespace >= {from} AND i.namespace < {to}))"
        );
    }

    fn alive(&mut self, batch: &Prepared) {
        if let Some(now) = batch.unseen_until() {
            let now = self.value(Sql::Integer(number(now)));
            let _ = write!(
                self.clauses,
                " AND (i.expires_at IS NULL OR i.expires_at > {now})"
            );
        }
    }
}

pub(super) const COLUMNS: &str =
    "id, namespace, key, value, created_at, updated_at, ttl IS NOT NULL, expires_at";

/// An item as it is stored.
pub(super) struct Stored {
    id: i64,
    pub(super) item: Item,
    /// It has a time to live.
    mortal: bool,
    expires_at: Option<u64>,
}

impl Stored {
    pub(super) fn read(row: &Row<'_>) -> Result<Self, SqliteFault> {
        let time = |at: i64| u64::try_from(at).unwrap_or(0);
        let named = || Ok::<(String, String), rusqlite::Error>((row.get(1)?, row.get(2)?));
        let (namespace, key) =
            named().map_err(|error| SqliteFault::from(error).at(|| "An item of the store".to_owned()))?;
        let place = || format!("Item {key:?} of namespace {namespace:?}");
        let text = row
            .get_ref(3)?
            .as_str()
            .map_err(|error| SqliteFault::corrupt(place(), error))?;
        let value = match parse(text.as_bytes()) {
            Ok(Value::Object(value)) => value,
            Ok(other) => {
                return Err(SqliteFault::corrupt(
                    place(),
                    format!("it is {}, not an object", other.type_name()),
                ));
            }
            Err(error) => return Err(SqliteFault::corrupt(place(), error)),
        };
        Ok(Self {
            id: row.get(0)?,
            item: Item {
                namespace: labels(&namespace),
                value,
                created_at: time(row.get(4)?),
                updated_at: time(row.get(5)?),
                expires_at: row.get::<_, Option<i64>>(7)?.map(time),
                score: None,
                key,
            },
            mortal: row.get(6)?,
            expires_at: row.get::<_, Option<i64>>(7)?.map(time),
        })
    }
}

fn labels(namespace: &str) -> Vec<String> {
    namespace.split('.').map(str::to_owned).collect()
}
