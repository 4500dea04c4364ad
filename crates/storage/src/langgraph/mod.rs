//! Threads of LangGraph programs, in the SQLite file that `SqliteSaver` filled: read, and never written.
//!
//! A checkpoint is read in the shape of our own. What its graph would say, which tasks begin there and what is next, is told
//! from versions, packets and rows, as far as the file tells; what no file has (durations of tasks, what a task read, reducers,
//! edges that nothing took) is left out. Values of classes are shown by their names; no class is loaded, no pickle
//! followed.

mod classes;
mod encoded;
mod file;
mod maintenance;
mod msgpack;
mod numpy;
mod opening;
mod record;
mod tasks;
mod view;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Foreign, ForeignTask, ListQuery, Maintenance, PendingWrite, StorageError, ThreadQuery,
    ThreadSummary, Waiting, WaitingQuery,
};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

pub use classes::{CLASS, in_a_line};
use file::{DbFile, Fault, Tables};
pub(crate) use opening::open;
use view::{Loaded, ThreadView};

use crate::base::blocking;

/// The checkpoints of a LangGraph program, in a SQLite file that is only read.
#[derive(Clone, Debug)]
pub struct LanggraphSaver {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: DbFile,
    /// Threads by their newest checkpoint, as of a version of the file.
    roster: Mutex<Option<(u64, Roster)>>,
    waiting: Mutex<Option<(u64, Arc<Vec<Waiting>>)>>,
}

/// Each thread with the newest checkpoint of its outermost graph, the newest first.
type Roster = Arc<Vec<(CheckpointId, ThreadId)>>;

/// Returns whether a file is a database of a LangGraph program, by its content.
pub(crate) fn is_one(path: &Path) -> bool {
    file::is_one(path)
}

impl LanggraphSaver {
    /// Opens a file, which must be a LangGraph program's.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let inner = Inner {
            file: DbFile::open(path)?,
            roster: Mutex::default(),
            waiting: Mutex::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    fn path(&self) -> &Path {
        &self.inner.file.path
    }

    fn only_read(&self) -> StorageError {
        StorageError::OnlyRead {
            place: self.path().display().to_string(),
            why: "it is the database of a LangGraph program, which alone runs, answers, edits, forks and deletes its \
                  threads"
                .to_owned(),
            remedy: "Do it in that program; nothing was changed".to_owned(),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        what: &'static str,
        operation: impl Fn(&Inner, &Tables<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StorageError> {
        let inner = self.inner.clone();
        blocking(what, move || {
            inner.file.read(what, |tables| operation(&inner, tables))
        })
        .await
    }
}

impl Inner {
    /// Returns the threads; they are walked again only when the program has stored something since.
    fn roster(&self, tables: &Tables<'_>) -> Result<Roster, Fault> {
        let version = self.file.version()?;
        if let Some((of, roster)) = &*self.roster.lock()
            && *of == version
        {
            return Ok(roster.clone());
        }
        let mut threads = Vec::new();
        let mut at = tables.thread_after("", true)?;
        while let Some(thread) = at {
            if let Some(newest) = tables.newest(&thread, "")? {
                threads.push((CheckpointId::from(newest), ThreadId::from(&*thread)));
            }
            at = tables.thread_after(&thread, false)?;
        }
        threads.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let roster = Arc::new(threads);
        *self.roster.lock() = Some((version, roster.clone()));
        Ok(roster)
    }

    fn threads(&self, tables: &Tables<'_>, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, Fault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let needle = query.search.as_ref().map(|needle| needle.to_lowercase());
        for (newest, thread) in self.roster(tables)?.iter() {
            if found.len() >= limit {
                break;
            }
            let follows = query.after.as_ref().is_none_or(|place| {
                *newest < place.head || (*newest == place.head && *thread > place.thread)
            });
            let fits = needle
                .as_ref()
                .is_none_or(|needle| thread.as_str().to_lowercase().contains(needle));
            if !follows || !fits {
                continue;
            }
            let view = ThreadView { tables, thread };
            found.extend(view.summary()?.filter(|summary| query.matches(summary)));
        }
        Ok(found)
    }

    fn count(&self, tables: &Tables<'_>, query: &ThreadQuery) -> Result<u64, Fault> {
        let of_ids = query.status.is_none() && query.filter.is_empty() && query.idle_since.is_none();
        if of_ids && query.search.is_none() {
            return Ok(self.roster(tables)?.len() as u64);
        }
        let all = query.clone().after(None).limit(None);
        Ok(self.threads(tables, &all)?.len() as u64)
    }

    /// Lists checkpoints of one namespace, or of several in the order of ids.
    fn select<T>(
        &self,
        tables: &Tables<'_>,
        query: &ListQuery,
        with_values: bool,
        make: impl Fn(&ThreadView<'_>, &Loaded) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        if let (Some(thread), Some(ns)) = (&query.thread, &query.ns) {
            let view = ThreadView { tables, thread };
            if let Some(id) = &query.id {
                let before = query.before.as_ref();
                let one = view.one(ns, Some(id.as_str()), with_values)?.filter(|loaded| {
                    before.is_none_or(|before| id < before) && loaded.head().metadata.matches(&query.filter)
                });
                return one.iter().map(|loaded| make(&view, loaded)).collect();
            }
            view.walk(ns, query, with_values, |loaded| {
                found.push(make(&view, loaded)?);
                Ok(found.len() < limit)
            })?;
            return Ok(found);
        }
        for (id, thread, ns) in self.places(tables, query)? {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            let loaded = view.one(&ns, Some(&id), with_values)?;
            if let Some(loaded) = loaded.filter(|loaded| loaded.head().metadata.matches(&query.filter)) {
                found.push(make(&view, &loaded)?);
                if found.len() == limit {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Returns the places of checkpoints in several namespaces, the newest first.
    fn places(
        &self,
        tables: &Tables<'_>,
        query: &ListQuery,
    ) -> Result<Vec<(String, ThreadId, String)>, Fault> {
        let mut threads: Vec<ThreadId> = Vec::new();
        match &query.thread {
            Some(thread) => threads.push(thread.clone()),
            None => {
                let mut at = tables.thread_after("", true)?;
                while let Some(thread) = at {
                    at = tables.thread_after(&thread, false)?;
                    threads.push(thread.into());
                }
            }
        }
        let most = if query.filter.is_empty() && query.id.is_none() {
            query.limit
        } else {
            None
        };
        let most = most.unwrap_or(usize::MAX);
        let before = query.before.as_ref().map(CheckpointId::as_str);
        let mut places = Vec::new();
        for thread in threads {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            let spaces = match &query.ns {
                Some(ns) => vec![ns.to_string()],
                None => view.namespaces()?,
            };
            for ns in spaces {
                let ids = tables.ids(thread.as_str(), &ns, before, most)?.into_iter();
                let wanted = ids.filter(|id| query.id.as_ref().is_none_or(|wanted| wanted.as_str() == id));
                places.extend(wanted.map(|id| (id, thread.clone(), ns.clone())));
            }
        }
        places.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (&a.1, &a.2).cmp(&(&b.1, &b.2))));
        places.truncate(most);
        Ok(places)
    }

    /// Lists checkpoints whose questions wait, the oldest first.
    fn waiting(&self, tables: &Tables<'_>) -> Result<Arc<Vec<Waiting>>, Fault> {
        let version = self.file.version()?;
        if let Some((of, waiting)) = &*self.waiting.lock()
            && *of == version
        {
            return Ok(waiting.clone());
        }
        let mut found = Vec::new();
        for (newest, thread) in self.roster(tables)?.iter() {
            let view = ThreadView { tables, thread };
            for id in tables.asked(thread.as_str())? {
                let Some(loaded) = view.one("", Some(&id), false)? else {
                    continue;
                };
                let (tasks, _) = loaded.counts();
                if tasks > 0 {
                    let head = loaded.head();
                    found.push(Waiting {
                        thread: thread.clone(),
                        is_newest: head.id == *newest,
                        checkpoint: head.id,
                        ts: head.ts,
                        tasks,
                    });
                }
            }
        }
        found.sort_by(|a, b| (&a.checkpoint, &a.thread).cmp(&(&b.checkpoint, &b.thread)));
        let found = Arc::new(found);
        *self.waiting.lock() = Some((version, found.clone()));
        Ok(found)
    }
}

fn corrupt(view: &ThreadView<'_>, loaded: &Loaded) -> Result<(), Fault> {
    match loaded.damage() {
        None => Ok(()),
        Some(cause) => Err(Fault::Storage(StorageError::Corrupt {
            place: format!("Checkpoint {} of thread {}", loaded.head().id, view.thread),
            cause: cause.to_owned(),
        })),
    }
}

#[async_trait]
impl Foreign for LanggraphSaver {
    fn refusal(&self) -> StorageError {
        self.only_read()
    }

    async fn tasks(&self, at: &CheckpointAddress) -> Result<Vec<ForeignTask>, StorageError> {
        let at = at.clone();
        self.read("reading the tasks of a checkpoint", move |_, tables| {
            let view = ThreadView {
                tables,
                thread: &at.thread,
            };
            let found = view.one(&at.ns, Some(at.id.as_str()), false)?;
            Ok(found.map(|loaded| loaded.tasks().to_vec()).unwrap_or_default())
        })
        .await
    }
}

#[async_trait]
impl Coordination for LanggraphSaver {
    async fn claims(&self, _: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        // The program says nowhere that it runs.
        Ok(HashMap::new())
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let query = query.clone();
        self.read("listing questions that wait", move |inner, tables| {
            let all = inner.waiting(tables)?;
            let fits = |waiting: &&Waiting| {
                let place = (&waiting.checkpoint, &waiting.thread);
                query
                    .thread
                    .as_ref()
                    .is_none_or(|thread| *thread == waiting.thread)
                    && query
                        .after
                        .as_ref()
                        .is_none_or(|after| place > (&after.0, &after.1))
            };
            let limit = query.limit.unwrap_or(usize::MAX);
            Ok(all.iter().filter(fits).take(limit).cloned().collect())
        })
        .await
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.read("counting questions that wait", |inner, tables| {
            let all = inner.waiting(tables)?;
            Ok(all.iter().map(|waiting| u64::from(waiting.tasks)).sum())
        })
        .await
    }

    async fn delete_claimed(&self, _: &ThreadId, _: &ClaimRequest) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    async fn changes(&self) -> Result<Option<u64>, StorageError> {
        let inner = self.inner.clone();
        blocking("looking for changes", move || inner.file.version().map(Some)).await
    }
}

#[async_trait]
impl Checkpointer for LanggraphSaver {
    async fn commit(&self, _: Commit) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    async fn delete_thread(&self, _: &ThreadId) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    async fn copy_thread(&self, _: &ThreadId, _: &ThreadId) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }

    fn foreign(&self) -> Option<&dyn Foreign> {
        Some(self)
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        let query = query.clone();
        self.read("reading checkpoints", move |inner, tables| {
            inner.select(tables, &query, true, |view, loaded| view.tuple(loaded))
        })
        .await
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let (thread, ns, id) = (thread.clone(), ns.to_owned(), id.cloned());
        self.read("reading a checkpoint", move |_, tables| {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            let found = view.one(&ns, id.as_ref().map(CheckpointId::as_str), true)?;
            let Some(loaded) = found else { return Ok(None) };
            corrupt(&view, &loaded)?;
            view.tuple(&loaded).map(Some)
        })
        .await
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let query = query.clone();
        self.read("reading the history", move |inner, tables| {
            inner.select(tables, &query, false, |_, loaded| Ok(loaded.head()))
        })
        .await
    }

    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let (thread, ns, id, keys) = (thread.clone(), ns.to_owned(), id.cloned(), keys.to_vec());
        self.read("reading values", move |_, tables| {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            let found = view.one(&ns, id.as_ref().map(CheckpointId::as_str), false)?;
            let Some(loaded) = found else { return Ok(None) };
            corrupt(&view, &loaded)?;
            let mut values = Vec::new();
            for key in &keys {
                values.extend(view.value(&loaded, key)?.map(|value| (key.clone(), value)));
            }
            Ok(Some(values.into_iter().collect()))
        })
        .await
    }

    async fn heads_with(
        &self,
        query: &ListQuery,
        keys: &[Name],
    ) -> Result<Vec<(CheckpointHead, ChannelValues)>, StorageError> {
        let (query, keys) = (query.clone(), keys.to_vec());
        self.read("reading values", move |inner, tables| {
            inner.select(tables, &query, false, |view, loaded| {
                let mut values: Vec<(Name, Value)> = (loaded.channels())
                    .filter(|name| !keys.contains(name))
                    .map(|name| (name.clone(), Value::Null))
                    .collect();
                for key in &keys {
                    values.extend(view.value(loaded, key)?.map(|value| (key.clone(), value)));
                }
                Ok((loaded.head(), values.into_iter().collect()))
            })
        })
        .await
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let of = of.to_vec();
        self.read("reading what tasks wrote", move |_, tables| {
            let writes = |at: &CheckpointAddress| {
                let view = ThreadView {
                    tables,
                    thread: &at.thread,
                };
                let found = view.one(&at.ns, Some(at.id.as_str()), true)?;
                Ok(found.map(|loaded| loaded.writes()).unwrap_or_default())
            };
            of.iter().map(writes).collect()
        })
        .await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let query = query.clone();
        self.read("reading the list of threads", move |inner, tables| {
            inner.threads(tables, &query)
        })
        .await
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        let thread = thread.clone();
        self.read("reading a thread", move |_, tables| {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            view.summary()
        })
        .await
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let query = query.clone();
        self.read("counting threads", move |inner, tables| {
            inner.count(tables, &query)
        })
        .await
    }
}
