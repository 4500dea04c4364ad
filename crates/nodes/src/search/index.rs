//! The index of one place: its files, their chunks, their words (FTS5) and vectors, in SQLite.
//!
//! Only what changed is read again: a file whose size and time are the same is taken to be the same, and one that was only
//! touched is known by its hash. What was read is committed every few files, so that work that is stopped is not lost.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use super::chunk::{Size, chunks};
use super::embed::{BATCH, Embedder};
use super::files::{Form, FoundFile};
use super::reader::{DocumentPage, Reader};
use super::words::spaced;
use super::{IndexProgress, SearchError};

/// Changes with the tables and with how documents are cut: an index of another one is rebuilt.
const VERSION: i64 = 3;
/// Files of one transaction.
const TOGETHER: usize = 64;
/// A file that was written just now may be written again within the same tick of the clock.
const FRESH: Duration = Duration::from_secs(2);

/// Tools of an indexing: a reader of documents, a report of progress, and a stop signal.
pub(super) struct IndexWork<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) progress: &'a dyn Fn(IndexProgress),
    pub(super) stop: &'a dyn Fn() -> bool,
}

/// A chunk that fits, by its row.
pub(super) type Ranked = Vec<(i64, f64)>;

/// A chunk as it is stored.
pub(super) struct Stored {
    pub(super) path: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) page: Option<u32>,
    pub(super) bytes: Range<usize>,
    pub(super) lines: (u32, u32),
    pub(super) form: Form,
}

pub(super) struct Index {
    db: Connection,
    size: Size,
}

impl Index {
    /// Opens the index in `file`, or one in memory. A file that is no index, or an old one, is rebuilt.
    pub(super) fn open(file: Option<&Path>, size: Size) -> Result<Self, SearchError> {
        let Some(file) = file else {
            return Self::prepare(Connection::open_in_memory()?, size);
        };
        let opened = Connection::open(file).map_err(SearchError::from);
        match opened.and_then(|db| Self::prepare(db, size)) {
            Ok(index) => Ok(index),
            Err(error) => {
                tracing::info!(file = %file.display(), "the search index is rebuilt: {error}");
                for end in ["", "-wal", "-shm"] {
                    let mut name = file.as_os_str().to_owned();
                    name.push(end);
                    // What is not there need not go.
                    let _ = fs::remove_file(name);
                }
                Self::prepare(Connection::open(file)?, size)
            }
        }
    }

    fn prepare(mut db: Connection, size: Size) -> Result<Self, SearchError> {
        superstep_sqlite_vec::load(&db)?;
        db.busy_timeout(Duration::from_secs(30))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        // What a power failure takes is read again.
        db.pragma_update(None, "synchronous", "OFF")?;
        db.pragma_update(None, "foreign_keys", true)?;
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(
                "DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS vector; DROP TABLE IF EXISTS chunk; DROP TABLE IF EXISTS file;
                CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                    modified INTEGER NOT NULL, hash BLOB NOT NULL, form TEXT NOT NULL, problem TEXT);
                CREATE TABLE chunk (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
                    title TEXT NOT NULL, text TEXT NOT NULL, page INTEGER,
                    start INTEGER NOT NULL, end INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);
                CREATE INDEX chunk_of_file ON chunk (file);
                CREATE TABLE vector (model TEXT NOT NULL, chunk INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
                    data BLOB NOT NULL, PRIMARY KEY (model, chunk)) WITHOUT ROWID;
                CREATE INDEX vector_of_chunk ON vector (chunk);
                CREATE VIRTUAL TABLE words USING fts5(title, text, content='', contentless_delete=1,
                    tokenize = \"porter unicode61 remove_diacritics 2\");",
            )?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
        }
        Ok(Self { db, size })
    }

    /// Makes the index hold `files` as they are now.
    pub(super) fn update(
        &mut self,
        files: &[FoundFile],
        work: &mut IndexWork<'_>,
    ) -> Result<(), SearchError> {
        let mut known: HashMap<String, (i64, i64, i64)> = HashMap::new();
        {
            let mut statement = self
                .db
                .prepare_cached("SELECT id, name, size, modified FROM file")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                known.insert(row.get(1)?, (row.get(0)?, row.get(2)?, row.get(3)?));
            }
        }
        let mut changed = Vec::new();
        for found in files {
            match known.remove(&found.name) {
                Some((_, size, modified))
                    if size == whole(found.size) && modified == found.modified && modified != 0 => {}
                _ => changed.push(found),
            }
        }
        let gone: Vec<i64> = known.into_values().map(|(id, ..)| id).collect();
        if !gone.is_empty() {
            let transaction = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for id in gone {
                forget(&transaction, id)?;
            }
            transaction.commit()?;
        }
        let all = changed.len();
        let mut done = 0;
        for some in changed.chunks(TOGETHER) {
            let transaction = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut stopped = false;
            for found in some {
                (work.progress)(IndexProgress {
                    what: "reading",
                    done,
                    all,
                    file: found.name.clone(),
                });
                stopped = (work.stop)() || !take(&transaction, found, self.size, work)?;
                if stopped {
                    break;
                }
                done += 1;
            }
            transaction.commit()?;
            if stopped {
                return Err(SearchError::Stopped);
            }
        }
        Ok(())
    }

    /// Gives every chunk a vector of this embedding.
    pub(super) fn embed(
        &mut self,
        embedder: &Embedder,
        runtime: &Handle,
        work: &IndexWork<'_>,
    ) -> Result<(), SearchError> {
        let missing: Vec<i64> = {
            let mut statement = self.db.prepare_cached(
                "SELECT id FROM chunk WHERE NOT EXISTS (SELECT 1 FROM vector WHERE model = ?1 AND chunk = chunk.id) ORDER BY id",
            )?;
            let rows = statement.query_map([embedder.name()], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        let all = missing.len();
        for (place, some) in missing.chunks(BATCH).enumerate() {
            if (work.stop)() {
                return Err(SearchError::Stopped);
            }
            (work.progress)(IndexProgress {
                what: "embedding",
                done: place * BATCH,
                all,
                file: String::new(),
            });
            let mut texts = Vec::with_capacity(some.len());
            for id in some {
                let text = "SELECT title || char(10) || text FROM chunk WHERE id = ?1";
                texts.push(self.db.prepare_cached(text)?.query_row([id], |row| row.get(0))?);
            }
            let vectors = runtime.block_on(embedder.embed(texts))?;
            let transaction = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (id, vector) in some.iter().zip(&vectors) {
                // Another program may have changed the index meanwhile.
                let insert = "INSERT OR REPLACE INTO vector (model, chunk, data) SELECT ?1, id, ?3 FROM chunk WHERE id = ?2";
                transaction.prepare_cached(insert)?.execute(params![
                    embedder.name(),
                    id,
                    bytes_of(vector)
                ])?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    /// Finds the chunks that contain words of the query, best first.
    pub(super) fn by_words(&self, words: &str, limit: usize) -> Result<Ranked, SearchError> {
        let mut statement = self.db.prepare_cached(
            "SELECT chunk.id, -bm25(words, 3.0, 1.0) AS score FROM words JOIN chunk ON chunk.id = words.rowid
             JOIN file ON file.id = chunk.file WHERE words MATCH ?1 ORDER BY score DESC, file.name, chunk.id LIMIT ?2",
        )?;
        let rows = statement.query_map(params![words, whole(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Finds the chunks nearest to the vector, nearest first; the score is the cosine.
    pub(super) fn by_vector(&self, model: &str, query: &[f32], limit: usize) -> Result<Ranked, SearchError> {
        let bytes = bytes_of(query);
        let mut statement = self.db.prepare_cached(
            "SELECT chunk.id, 1.0 - vec_distance_cosine(vector.data, ?2) AS score FROM vector
             JOIN chunk ON chunk.id = vector.chunk JOIN file ON file.id = chunk.file
             WHERE vector.model = ?1 AND length(vector.data) = length(?2)
             ORDER BY score DESC, file.name, chunk.id LIMIT ?3",
        )?;
        let rows = statement.query_map(params![model, bytes, whole(limit)], |row| {
            // A vector without direction is near nothing.
            Ok((row.get(0)?, row.get::<_, Option<f64>>(1)?.unwrap_or(0.0)))
        })?;
        let ranked: Ranked = rows.collect::<Result<_, _>>()?;
        Ok(ranked.into_iter().filter(|(_, score)| *score > 0.0).collect())
    }

    /// Returns the contents of a row.
    pub(super) fn stored(&self, id: i64) -> Result<Option<Stored>, SearchError> {
        let mut statement = self.db.prepare_cached(
            "SELECT file.name, title, text, page, start, end, first, last, file.form FROM chunk JOIN file ON file.id = chunk.file
             WHERE chunk.id = ?1",
        )?;
        let found = statement
            .query_row([id], |row| {
                let form: String = row.get(8)?;
                let at = |column| row.get(column).map(|at: i64| usize::try_from(at).unwrap_or(0));
                Ok(Stored {
                    path: row.get(0)?,
                    title: row.get(1)?,
                    text: row.get(2)?,
                    page: row.get(3)?,
                    bytes: at(4)?..at(5)?,
                    lines: (row.get(6)?, row.get(7)?),
                    form: form_of(&form),
                })
            })
            .optional()?;
        Ok(found)
    }

    /// Returns the number of files, and which of them could not be read, with the reason.
    pub(super) fn problems(&self) -> Result<(usize, Vec<(String, String)>), SearchError> {
        let files: i64 = self
            .db
            .query_row("SELECT count(*) FROM file", [], |row| row.get(0))?;
        let mut statement = self
            .db
            .prepare_cached("SELECT name, problem FROM file WHERE problem IS NOT NULL ORDER BY name")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((
            usize::try_from(files).unwrap_or(0),
            rows.collect::<Result<_, _>>()?,
        ))
    }
}

fn forget(transaction: &Transaction<'_>, file: i64) -> Result<(), SearchError> {
    transaction
        .prepare_cached("DELETE FROM words WHERE rowid IN (SELECT id FROM chunk WHERE file = ?1)")?
        .execute([file])?;
    transaction
        .prepare_cached("DELETE FROM file WHERE id = ?1")?
        .execute([file])?;
    Ok(())
}

/// Takes in a file that is new or changed. False when it was stopped.
fn take(
    transaction: &Transaction<'_>,
    found: &FoundFile,
    size: Size,
    work: &mut IndexWork<'_>,
) -> Result<bool, SearchError> {
    let bytes = crate::base::files::read_bytes(&found.path, found.form.largest()).map_err(|e| e.to_string());
    let hash = bytes
        .as_ref()
        .map_or_else(|_| Vec::new(), |bytes| Sha256::digest(bytes).to_vec());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = now
        .as_nanos()
        .abs_diff(u128::try_from(found.modified).unwrap_or(0));
    // 0 means that it is looked at again.
    let modified = if age < FRESH.as_nanos() { 0 } else { found.modified };
    let known: Option<(i64, Vec<u8>)> = transaction
        .prepare_cached("SELECT id, hash FROM file WHERE name = ?1")?
        .query_row([&found.name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((id, same)) = &known {
        if *same == hash && !hash.is_empty() {
            transaction
                .prepare_cached("UPDATE file SET size = ?2, modified = ?3 WHERE id = ?1")?
                .execute(params![id, whole(found.size), modified])?;
            return Ok(true);
        }
        forget(transaction, *id)?;
    }
    let pages = match bytes {
        Ok(bytes) => match pages(found.form, bytes, work) {
            Some(pages) => pages,
            None => return Ok(false),
        },
        Err(problem) => Err(problem),
    };
    let (pages, problem) = match pages {
        Ok(pages) => (pages, None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    if let Some(problem) = &problem {
        tracing::warn!(file = %found.path.display(), "not searched: {problem}");
    }
    transaction
        .prepare_cached(
            "INSERT INTO file (name, size, modified, hash, form, problem) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            found.name,
            whole(found.size),
            modified,
            hash,
            word_of(found.form),
            problem
        ])?;
    let file = transaction.last_insert_rowid();
    put_chunks(transaction, file, found, size, &pages)?;
    Ok(true)
}

/// Cuts the pages of a file into chunks, with their words.
fn put_chunks(
    transaction: &Transaction<'_>,
    file: i64,
    found: &FoundFile,
    size: Size,
    pages: &[DocumentPage],
) -> Result<(), SearchError> {
    for page in pages {
        for chunk in chunks(&found.name, found.form, page.number, &page.text, size) {
            let text = &page.text[chunk.bytes.clone()];
            transaction
                .prepare_cached(
                    "INSERT INTO chunk (file, title, text, page, start, end, first, last)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute(params![
                    file,
                    chunk.title,
                    text,
                    page.number,
                    whole(chunk.bytes.start),
                    whole(chunk.bytes.end),
                    chunk.lines.0,
                    chunk.lines.1
                ])?;
            transaction
                .prepare_cached("INSERT INTO words (rowid, title, text) VALUES (?1, ?2, ?3)")?
                .execute(params![
                    transaction.last_insert_rowid(),
                    spaced(&chunk.title),
                    spaced(text)
                ])?;
        }
    }
    Ok(())
}

/// Reads the texts of a file. `None` if it was stopped.
fn pages(form: Form, bytes: Vec<u8>, work: &mut IndexWork<'_>) -> Option<Result<Vec<DocumentPage>, String>> {
    if matches!(form, Form::Pdf | Form::Html) {
        return work.reader.read(form, bytes, work.stop);
    }
    if bytes.contains(&0) {
        return Some(Err("it is no text".to_owned()));
    }
    // Signs of another encoding are lost, the rest is found.
    let text =
        String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    Some(Ok(vec![DocumentPage { number: None, text }]))
}

/// Converts a number to SQLite's integer type.
fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

fn word_of(form: Form) -> &'static str {
    match form {
        Form::Markdown => "markdown",
        Form::Plain => "plain",
        Form::Code => "code",
        Form::Html => "html",
        Form::Pdf => "pdf",
    }
}

fn form_of(word: &str) -> Form {
    [Form::Markdown, Form::Code, Form::Html, Form::Pdf]
        .into_iter()
        .find(|form| word_of(*form) == word)
        .unwrap_or(Form::Plain)
}

fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}
