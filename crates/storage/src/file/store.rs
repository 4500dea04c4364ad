//! Long-term memory in the folder: all items in memory, and a journal of what was done to them.
//!
//! A line of the journal is a batch, so a batch is there as a whole or not at all. Searching looks at every item under
//! the prefix; that is what a folder can do.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use superstep::Store;
use superstep::checkpoint::{Damage, StorageError};
use superstep::store::{ItemPlace, Items, NewVectors, Outdated, Prepared, StoredItem};
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp};

use super::FileOptions;
use super::folder::{Folder, failed, keep_copy, sync_folder};
use super::line::{lines, put_line, read_line, unchecked};
use crate::base::Synchronous;
use crate::base::blocking;
use crate::base::presence;

/// Layout of the journal.
const SCHEMA: u32 = 1;
/// Changes in the journal, beyond two for each item, before it is rewritten.
const SLACK: usize = 1000;

/// A line of the store's journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoreLine {
    /// The first line.
    Store { schema: u32 },
    /// What a batch changed.
    Batch(Box<Change>),
}

#[derive(Default, Serialize, Deserialize)]
struct Change {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    put: Vec<(ItemPlace, StoredItem)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    remove: Vec<ItemPlace>,
    /// Items that live longer because they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refresh: Vec<(ItemPlace, Option<u64>)>,
}

impl Change {
    fn len(&self) -> usize {
        self.put.len() + self.remove.len() + self.refresh.len()
    }

    fn apply(self, items: &mut Items) {
        for (place, kept) in self.put {
            items.insert(place, kept);
        }
        for (namespace, key) in self.remove {
            items.remove(&namespace, &key);
        }
        for ((namespace, key), expires_at) in self.refresh {
            items.refresh(&namespace, &key, expires_at);
        }
    }
}

/// Store that keeps items in a folder, beside the threads there.
pub struct FileStore {
    config: StoreConfig,
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    folder: Arc<Folder>,
    path: PathBuf,
    synchronous: Synchronous,
    items: RwLock<Items>,
    /// Lines that could not be read. What they changed is not known, so nothing is read before a repair.
    damage: RwLock<Vec<Damage>>,
    /// A writer holds it, so that lines and items change in the same order.
    journal: Mutex<StoreJournal>,
}

/// The file of the store, as writers see it.
struct StoreJournal {
    /// Opened for the first batch.
    file: Option<File>,
    bytes: u64,
    changes: usize,
}

/// Result of replaying a journal.
struct Replayed {
    items: Items,
    changes: usize,
    /// Bytes of finished lines.
    bytes: usize,
    damage: Vec<Damage>,
}

impl Replayed {
    fn read(path: &Path) -> Result<Self, StorageError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed("reading", path, &error)),
        };
        let (lines, finished) = lines(&bytes);
        let mut replayed = Self {
            items: Items::new(),
            changes: 0,
            bytes: finished,
            damage: Vec::new(),
        };
        for (number, line) in lines {
            match read_line(line) {
                Ok(StoreLine::Batch(change)) => {
                    replayed.changes += change.len();
                    change.apply(&mut replayed.items);
                }
                Ok(StoreLine::Store { schema }) if schema > SCHEMA => {
                    return Err(StorageError::NewerSchema {
                        place: path.display().to_string(),
                        found: schema.into(),
                        supported: SCHEMA.into(),
                    });
                }
                Ok(StoreLine::Store { .. }) => {}
                Err(cause) => {
                    let named = named(line).map_or_else(String::new, |named| format!(" (it names {named})"));
                    let what = format!(
                        "line {number} of {} cannot be used: {cause}{named}",
                        path.display()
                    );
                    replayed.damage.push(Damage {
                        thread: None,
                        what,
                        repair: Some(
                            "what it changed is lost; a copy of the file is kept beside it".to_owned(),
                        ),
                    });
                }
            }
        }
        Ok(replayed)
    }
}

/// Returns the places that a damaged line seems to be about, for a person, who may know better than the line.
fn named(line: &[u8]) -> Option<String> {
    let StoreLine::Batch(change) = unchecked(line)? else {
        return None;
    };
    let puts = change.put.iter().map(|(place, _)| place);
    let touched = change.refresh.iter().map(|(place, _)| place);
    let places = puts.chain(&change.remove).chain(touched);
    let text = |(namespace, key): &ItemPlace| format!("{}/{key}", namespace.join("/"));
    Some(places.take(10).map(text).collect::<Vec<_>>().join(", "))
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore")
            .field("file", &self.inner.path)
            .finish_non_exhaustive()
    }
}

impl FileStore {
    /// Opens or makes the folder; it is ours until this is dropped.
    pub fn open(path: impl AsRef<Path>, config: StoreConfig) -> Result<Self, StorageError> {
        let folder = Arc::new(Folder::open(path.as_ref())?);
        Self::in_folder(folder, FileOptions::default(), config)
    }

    /// Returns the same items, with another configuration for what is put and found through the new store.
    pub fn sharing(&self, config: StoreConfig) -> Self {
        Self {
            config,
            inner: self.inner.clone(),
        }
    }

    pub(super) fn in_folder(
        folder: Arc<Folder>,
        options: FileOptions,
        config: StoreConfig,
    ) -> Result<Self, StorageError> {
        let path = folder.path().join("store.jsonl");
        let replayed = Replayed::read(&path)?;
        for damage in &replayed.damage {
            tracing::error!(what = damage.what, "the long-term memory is damaged");
        }
        Ok(Self {
            config,
            inner: Arc::new(Inner {
                folder,
                path,
                synchronous: options.synchronous,
                items: RwLock::new(replayed.items),
                damage: RwLock::new(replayed.damage),
                journal: Mutex::new(StoreJournal {
                    file: None,
                    bytes: replayed.bytes as u64,
                    changes: replayed.changes,
                }),
            }),
        })
    }

    /// Returns the part of the store that the saver in the same folder needs to check it.
    pub(super) fn inner(&self) -> Arc<Inner> {
        self.inner.clone()
    }
}

impl Inner {
    fn write(&self, change: impl FnOnce(&Items) -> Change) -> Result<usize, StorageError> {
        let mut journal = self.journal.lock();
        let change = change(&self.items.read());
        let count = change.len();
        if count == 0 {
            return Ok(0);
        }
        let record = StoreLine::Batch(Box::new(change));
        self.append(&mut journal, &record)?;
        journal.changes += count;
        if let StoreLine::Batch(change) = record {
            let mut items = self.items.write();
            change.apply(&mut items);
        }
        let items = self.items.read();
        // A damaged journal is kept as it is until somebody asks for the repair.
        if journal.changes > 2 * items.len() + SLACK
            && self.sound().is_ok()
            && let Err(error) = self.compact(&mut journal, &items)
        {
            // The batch is stored all the same.
            tracing::warn!(%error, "the journal of the store could not be rewritten");
        }
        Ok(count)
    }

    fn append(&self, journal: &mut StoreJournal, record: &StoreLine) -> Result<(), StorageError> {
        let mut text = Vec::new();
        if journal.bytes == 0 {
            self.line(&mut text, &StoreLine::Store { schema: SCHEMA })?;
        }
        self.line(&mut text, record)?;
        let write = |journal: &mut StoreJournal| {
            let file = match journal.file.take() {
                Some(file) => file,
                None => {
                    // One that was there before is not made again: it would be without its past.
                    let new = journal.bytes == 0;
                    let file = OpenOptions::new().append(true).create(new).open(&self.path)?;
                    let found = file.metadata()?.len();
                    if found < journal.bytes {
                        return Err(std::io::Error::other("it is shorter than what was stored in it"));
                    }
                    if found > journal.bytes {
                        // An unfinished line was never acknowledged.
                        file.set_len(journal.bytes)?;
                    }
                    file
                }
            };
            let file = journal.file.insert(file);
            file.write_all(&text)?;
            if self.synchronous == Synchronous::Normal {
                return Ok(());
            }
            file.sync_data()?;
            match journal.bytes {
                // The folder may not have the name of a new file yet.
                0 => sync_folder(&self.path),
                _ => Ok(()),
            }
        };
        if let Err(error) = write(journal) {
            // Opened again, it is cut to what is sound.
            journal.file = None;
            return Err(failed("writing to", &self.path, &error));
        }
        if let Some(file) = &journal.file
            && let Err(gone) = presence::require_open(file, &self.path)
        {
            journal.file = None;
            return Err(gone);
        }
        journal.bytes += text.len() as u64;
        Ok(())
    }

    fn line(&self, text: &mut Vec<u8>, record: &StoreLine) -> Result<(), StorageError> {
        put_line(text, record).map_err(|cause| StorageError::Backend {
            what: format!("writing to {}", self.path.display()),
            cause,
            remedy: "Write a value that JSON can express".to_owned(),
        })?;
        Ok(())
    }

    /// Rewrites the journal, with the items that are there.
    fn compact(&self, journal: &mut StoreJournal, items: &Items) -> Result<(), StorageError> {
        let mut text = Vec::new();
        self.line(&mut text, &StoreLine::Store { schema: SCHEMA })?;
        for (namespace, key, kept) in items.iter() {
            let change = Change {
                put: vec![((namespace.to_vec(), key.to_owned()), kept.clone())],
                ..Change::default()
            };
            self.line(&mut text, &StoreLine::Batch(Box::new(change)))?;
        }
        journal.file = None;
        self.folder.replace(&self.path, &text)?;
        journal.bytes = text.len() as u64;
        journal.changes = items.len();
        Ok(())
    }

    /// Checks that no line is damaged; the error is for anyone who reads what a damaged line may have changed.
    fn sound(&self) -> Result<(), StorageError> {
        match self.damage.read().first() {
            None => Ok(()),
            Some(damage) => Err(StorageError::Corrupt {
                place: "The long-term memory".to_owned(),
                cause: damage.what.clone(),
            }),
        }
    }

    /// Reads the file again, and says what is wrong with it and how many items there are. A repair rewrites it with
    /// what could be read, and keeps a copy.
    pub(super) fn verify(&self, repair: bool) -> Result<(u64, Vec<Damage>), StorageError> {
        let mut journal = self.journal.lock();
        let Replayed {
            items, mut damage, ..
        } = Replayed::read(&self.path)?;
        if damage.is_empty() {
            return Ok((items.len() as u64, damage));
        }
        // What was read before the damage is whole.
        let known = self.sound().is_ok();
        if known {
            for damage in &mut damage {
                damage.repair = Some("it is written again: what it says is still in memory".to_owned());
            }
        }
        if repair {
            keep_copy(&self.path)?;
            let mut held = self.items.write();
            if !known {
                *held = items;
            }
            self.compact(&mut journal, &held)?;
            self.damage.write().clear();
            return Ok((held.len() as u64, damage));
        }
        Ok((items.len() as u64, damage))
    }

    fn store(&self, batch: Prepared, touched: Vec<(ItemPlace, Option<u64>)>) -> Result<usize, StorageError> {
        self.write(move |items| {
            let mut change = Change::default();
            for ((namespace, key), expires_at) in touched {
                if items.get(&namespace, &key).is_some() {
                    change.refresh.push(((namespace, key), expires_at));
                }
            }
            let mut batch = batch;
            for write in std::mem::take(&mut batch.writes) {
                match items.written(&batch, write) {
                    (place, Some(kept)) => change.put.push((place, kept)),
                    ((namespace, key), None) => {
                        if items.get(&namespace, &key).is_some() {
                            change.remove.push((namespace, key));
                        }
                    }
                }
            }
            // What is put or removed in the same batch has its own time.
            let gone = |place: &ItemPlace| {
                change.remove.contains(place) || change.put.iter().any(|(put, _)| put == place)
            };
            let refresh = std::mem::take(&mut change.refresh);
            change.refresh = refresh.into_iter().filter(|(place, _)| !gone(place)).collect();
            change
        })
    }
}

#[async_trait]
impl Store for FileStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let mut batch = self.config.prepare(ops).await?;
        let mut touched = Vec::new();
        if !batch.reads.is_empty() {
            self.inner.sound()?;
            let items = self.inner.items.read();
            for (place, read) in std::mem::take(&mut batch.reads) {
                batch.answers[place] = items.answer(&batch, read, &mut touched);
            }
        }
        let answers = std::mem::take(&mut batch.answers);
        // Reading an item of a folder that may only be read cannot make it live longer.
        if !batch.writes.is_empty() || (!touched.is_empty() && self.inner.folder.is_ours()) {
            let inner = self.inner.clone();
            blocking("storing items", move || inner.store(batch, touched)).await?;
        }
        Ok(answers)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        if !self.inner.folder.is_ours() {
            return Ok(0);
        }
        let (inner, now) = (self.inner.clone(), self.config.clock.now_ms());
        let removed = blocking("removing expired items", move || {
            inner.write(|items| Change {
                remove: items.expired(now),
                ..Change::default()
            })
        });
        Ok(removed.await? as u64)
    }

    fn config(&self) -> Option<&StoreConfig> {
        Some(&self.config)
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(Vec::new());
        };
        self.inner.sound()?;
        let items = self.inner.items.read();
        Ok(items.outdated(index.embedding(), index.dims, after.as_ref(), limit))
    }

    async fn replace_vectors(&self, renewed: Vec<NewVectors>) -> Result<u64, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(0);
        };
        let (inner, embedding) = (self.inner.clone(), index.embedding().to_owned());
        let count = blocking("embedding items again", move || {
            inner.write(|items| Change {
                put: renewed
                    .into_iter()
                    .filter_map(|renewed| items.with_vectors(&embedding, renewed))
                    .collect(),
                ..Change::default()
            })
        });
        Ok(count.await? as u64)
    }
}
