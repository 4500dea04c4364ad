//! Threads of LangGraph programs, in the SQLite file that `SqliteSaver` filled or the PostgreSQL database of
//! `PostgresSaver`: read, and never written.
//!
//! A checkpoint is read in the shape of our own. What its graph would say, which tasks begin there and what is next, is told
//! from versions, packets and rows, as far as the file has them; what no file has (durations of tasks, what a task read, reducers,
//! edges that nothing took) is left out. Values of classes are shown by their names; no class is loaded, no pickle
//! followed.

mod cipher;
mod classes;
mod encoded;
mod file;
mod items;
mod maintenance;
mod msgpack;
mod numpy;
mod opening;
mod portable;
mod record;
mod rows;
#[cfg(feature = "postgres")]
mod server;
mod source;
mod tasks;
mod view;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Foreign, ForeignTask, ListQuery, Maintenance, PendingWrite, Sealed, StorageError,
    ThreadQuery, ThreadSummary, Waiting, WaitingQuery,
};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

pub use cipher::AesKey;
pub use cipher::KEY_VARIABLE;
use cipher::{Lock, OpenedRows};
pub use classes::{CLASS, in_a_line};
pub(crate) use opening::{open, server_of};
pub use rows::ReadCounts;
use rows::{Fault, RowReader, Wanted};
use source::Source;
use view::{Loaded, ThreadView};

use crate::base::blocking;

/// The checkpoints of a LangGraph program, in a database that is only read.
#[derive(Clone, Debug)]
pub struct LanggraphSaver {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Arc<Source>,
    /// Opens encrypted values.
    lock: RwLock<Lock>,
    /// Threads by their newest checkpoint, as of a version of the database.
    roster: Mutex<Option<(u64, Roster)>>,
    /// Held by who walks all threads: others that want the same wait for it instead of walking beside it.
    walk: Mutex<()>,
    /// All threads are being walked in the background, and how often that has ended.
    walking: AtomicBool,
    walks: AtomicU64,
    waiting: Mutex<Option<(u64, Arc<Vec<Waiting>>)>>,
    /// Tasks of the checkpoints that were read last with their values, as of a version of the database: a history asks for
    /// those of each.
    recent: Mutex<Option<(u64, RecentTasks)>>,
}

type RecentTasks = HashMap<CheckpointAddress, Vec<ForeignTask>>;

/// Checkpoints whose tasks are kept.
const MAX_RECENT: usize = 5_000;

/// Threads that are read at a time.
const THREADS: usize = 500;
/// Threads that are walked at once when a page is wanted soon.
const FEW_THREADS: usize = 200;

/// Each thread with the newest checkpoint of its outermost graph, the newest first.
type Roster = Arc<Vec<(CheckpointId, ThreadId)>>;

/// Returns whether a file is a database of a LangGraph program, by its content.
pub(crate) fn is_one(path: &Path) -> bool {
    file::is_one(path)
}

/// Returns whether the database of a PostgreSQL server is a LangGraph program's, by its tables.
#[cfg(feature = "postgres")]
pub(crate) async fn is_on_server(url: &str) -> Result<bool, StorageError> {
    let url = url.to_owned();
    blocking(crate::base::OPENING, move || server::DbServer::is_one(&url)).await
}

impl LanggraphSaver {
    /// Opens a file, which must be a LangGraph program's.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Source::open_file(path).map(Self::of)
    }

    /// Opens the database of a PostgreSQL server, which must be a LangGraph program's:
    /// `postgres://user:password@host:port/database`, with `?schema=NAME` where several schemas have its tables. A role
    /// that may only select can read everything.
    #[cfg(feature = "postgres")]
    pub async fn connect(url: &str) -> Result<Self, StorageError> {
        let url = url.to_owned();
        blocking(crate::base::OPENING, move || Source::connect(&url).map(Self::of)).await
    }

    fn of(source: Source) -> Self {
        Self::with(Arc::new(source), AesKey::from_environment())
    }

    /// Opens encrypted values with this key, and not with that of the environment. Without either they are shown as encrypted.
    pub fn with_key(self, key: impl Into<Option<AesKey>>) -> Self {
        Self::with(self.inner.source.clone(), key.into())
    }

    /// Opens encrypted values with another key from now on. What was read with the one before is read again.
    fn change_key(&self, key: Option<AesKey>) {
        let mut lock = self.inner.lock.write();
        if lock.key == key {
            return;
        }
        *lock = Lock::of(key);
        *self.inner.recent.lock() = None;
        *self.inner.waiting.lock() = None;
        self.inner.walks.fetch_add(1, Ordering::Relaxed);
    }

    fn with(source: Arc<Source>, key: Option<AesKey>) -> Self {
        let inner = Inner {
            source,
            lock: RwLock::new(Lock::of(key)),
            roster: Mutex::default(),
            walk: Mutex::default(),
            walking: AtomicBool::new(false),
            walks: AtomicU64::new(0),
            waiting: Mutex::default(),
            recent: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    fn place(&self) -> String {
        self.inner.source.place()
    }

    /// Returns how much was read since it was opened.
    pub fn read_counts(&self) -> ReadCounts {
        self.inner.source.counts()
    }

    /// Walks all threads in the background, once at a time. Its end counts as a change.
    fn walk_behind(&self) {
        if self.inner.walking.swap(true, Ordering::Relaxed) {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            let walked = this.read("looking through the threads", |inner, tables| {
                inner.roster(tables).map(drop)
            });
            match walked.await {
                Ok(()) => drop(this.inner.walks.fetch_add(1, Ordering::Relaxed)),
                Err(error) => tracing::warn!(%error, "the threads could not be looked through"),
            }
            this.inner.walking.store(false, Ordering::Relaxed);
        });
    }

    fn only_read(&self) -> StorageError {
        StorageError::OnlyRead {
            place: self.place(),
            why: "it is the database of a LangGraph program, which alone runs, answers, edits, forks and deletes its \
                  threads"
                .to_owned(),
            remedy: "Do it in that program; nothing was changed".to_owned(),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        what: &'static str,
        operation: impl Fn(&Inner, &dyn RowReader) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StorageError> {
        let inner = self.inner.clone();
        blocking(what, move || {
            let lock = inner.lock.read().clone();
            inner
                .source
                .read(what, |rows| operation(&inner, &OpenedRows { rows, lock: &lock }))
        })
        .await
    }
}

impl Inner {
    /// Returns the threads; they are walked again only when the program has stored something since.
    fn roster(&self, tables: &dyn RowReader) -> Result<Roster, Fault> {
        let _alone = self.walk.lock();
        let version = self.source.version()?;
        if let Some((of, roster)) = &*self.roster.lock()
            && *of == version
        {
            return Ok(roster.clone());
        }
        let roster = roster_of(all_threads(tables)?);
        *self.roster.lock() = Some((version, roster.clone()));
        Ok(roster)
    }

    fn threads(&self, tables: &dyn RowReader, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, Fault> {
        let roster = self.roster(tables)?;
        Self::listed(tables, query, &roster)
    }

    /// Lists a first page before all threads have been walked, where they are many: in the order of the last walk, or else of
    /// their ids. Returns whether they are to be walked.
    fn soon(&self, tables: &dyn RowReader, query: &ThreadQuery) -> Result<(Vec<ThreadSummary>, bool), Fault> {
        let version = self.source.version()?;
        let known = self.roster.lock().clone();
        if let Some((_, roster)) = known.as_ref().filter(|(of, _)| *of == version) {
            return Ok((Self::listed(tables, query, roster)?, false));
        }
        let limit = query.limit.unwrap_or(THREADS);
        let first = tables.threads_after(None, limit.max(FEW_THREADS).saturating_add(1))?;
        if first.len() <= limit.max(FEW_THREADS) {
            let roster = roster_of(first);
            *self.roster.lock() = Some((version, roster.clone()));
            return Ok((Self::listed(tables, query, &roster)?, false));
        }
        if let Some((_, roster)) = known {
            return Ok((Self::listed(tables, query, &roster)?, true));
        }
        let mut found = Vec::new();
        for (thread, _) in first {
            let thread = ThreadId::from(thread);
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            found.extend(view.summary()?);
            if found.len() >= limit {
                break;
            }
        }
        Ok((found, true))
    }

    /// Lists threads in the order of a walk.
    fn listed(
        tables: &dyn RowReader,
        query: &ThreadQuery,
        roster: &Roster,
    ) -> Result<Vec<ThreadSummary>, Fault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let needle = query.search.as_ref().map(|needle| needle.to_lowercase());
        for (newest, thread) in roster.iter() {
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

    fn count(&self, tables: &dyn RowReader, query: &ThreadQuery) -> Result<u64, Fault> {
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
        tables: &dyn RowReader,
        query: &ListQuery,
        wanted: Wanted<'_>,
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
                let one = view.one(ns, Some(id.as_str()), wanted)?.filter(|loaded| {
                    before.is_none_or(|before| id < before) && loaded.head().metadata.matches(&query.filter)
                });
                return one.iter().map(|loaded| make(&view, loaded)).collect();
            }
            view.walk(ns, query, wanted, |loaded| {
                found.push(make(&view, loaded)?);
                Ok(found.len() < limit)
            })?;
            return Ok(found);
        }
        if let Some(thread) = query.thread.as_ref().filter(|_| query.id.is_none()) {
            let view = ThreadView { tables, thread };
            let mut all = Vec::new();
            for ns in view.namespaces()? {
                let mut left = limit;
                view.walk(&ns, query, wanted, |loaded| {
                    let (ns, id) = loaded.place();
                    all.push((id.clone(), ns.clone(), make(&view, loaded)?));
                    left -= 1;
                    Ok(left > 0)
                })?;
            }
            all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            all.truncate(limit);
            return Ok(all.into_iter().map(|(.., made)| made).collect());
        }
        for (id, thread, ns) in self.places(tables, query)? {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            let loaded = view.one(&ns, Some(&id), wanted)?;
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
        tables: &dyn RowReader,
        query: &ListQuery,
    ) -> Result<Vec<(String, ThreadId, String)>, Fault> {
        let mut threads: Vec<ThreadId> = Vec::new();
        match &query.thread {
            Some(thread) => threads.push(thread.clone()),
            None => threads.extend(all_threads(tables)?.into_iter().map(|(thread, _)| thread.into())),
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
    fn waiting(&self, tables: &dyn RowReader) -> Result<Arc<Vec<Waiting>>, Fault> {
        let version = self.source.version()?;
        if let Some((of, waiting)) = &*self.waiting.lock()
            && *of == version
        {
            return Ok(waiting.clone());
        }
        let mut found = Vec::new();
        for (newest, thread) in self.roster(tables)?.iter() {
            let view = ThreadView { tables, thread };
            for id in tables.asked(thread.as_str())? {
                let Some(loaded) = view.one("", Some(&id), Wanted::Structure)? else {
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

/// Orders threads by their newest checkpoints; without one of its outermost graph a thread is none.
fn roster_of(found: Vec<(String, Option<String>)>) -> Roster {
    let mut threads = Vec::with_capacity(found.len());
    for (thread, newest) in found {
        threads.extend(newest.map(|newest| (CheckpointId::from(newest), ThreadId::from(thread))));
    }
    threads.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Arc::new(threads)
}

/// Returns every thread in the order of ids, with the newest checkpoint of its outermost graph.
fn all_threads(tables: &dyn RowReader) -> Result<Vec<(String, Option<String>)>, Fault> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    loop {
        let last = found.last().map(|(thread, _)| thread.as_str());
        let page = tables.threads_after(last, THREADS)?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend(page);
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

    fn known_threads(&self) -> Option<u64> {
        let known = self.inner.roster.lock();
        known.as_ref().map(|(_, roster)| roster.len() as u64)
    }

    fn set_key(&self, key: Option<&str>) {
        let key = key.filter(|key| !key.is_empty());
        self.change_key(key.map(|key| AesKey::new(key.as_bytes())));
    }

    fn sealed(&self) -> Option<Sealed> {
        self.inner.lock.read().sealed()
    }

    async fn tasks(&self, at: &CheckpointAddress) -> Result<Vec<ForeignTask>, StorageError> {
        let at = at.clone();
        self.read("reading the tasks of a checkpoint", move |inner, tables| {
            let version = inner.source.version()?;
            if let Some((of, recent)) = &*inner.recent.lock()
                && *of == version
                && let Some(tasks) = recent.get(&at)
            {
                return Ok(tasks.clone());
            }
            let view = ThreadView {
                tables,
                thread: &at.thread,
            };
            let found = view.one(&at.ns, Some(at.id.as_str()), Wanted::Structure)?;
            let tasks = found.map(|loaded| view.tasks(&loaded, &mut BTreeMap::new()));
            tasks.transpose().map(Option::unwrap_or_default)
        })
        .await
    }

    async fn portable(&self, at: &CheckpointAddress) -> Result<Option<CheckpointTuple>, StorageError> {
        let at = at.clone();
        self.read("reading a checkpoint", move |_, tables| {
            let view = ThreadView {
                tables,
                thread: &at.thread,
            };
            let found = view.one(&at.ns, Some(at.id.as_str()), Wanted::All)?;
            let Some(loaded) = found else { return Ok(None) };
            corrupt(&view, &loaded)?;
            view.portable(&loaded).map(Some)
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
        blocking("looking for changes", move || {
            let walks = inner.walks.load(Ordering::Relaxed);
            inner
                .source
                .version()
                .map(|version| Some(version.wrapping_add(walks)))
        })
        .await
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
            let version = inner.source.version()?;
            let recent = Mutex::new((RecentTasks::new(), HashMap::new()));
            let found = inner.select(tables, &query, Wanted::All, |view, loaded| {
                let (ns, id) = loaded.place();
                let (recent, known) = &mut *recent.lock();
                if recent.len() < MAX_RECENT {
                    let at = CheckpointAddress::new(view.thread.clone(), ns.clone(), id.clone());
                    let known = known.entry(view.thread.clone()).or_default();
                    recent.insert(at, view.tasks(loaded, known)?);
                }
                view.tuple(loaded)
            })?;
            *inner.recent.lock() = Some((version, recent.into_inner().0));
            Ok(found)
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
            let found = view.one(&ns, id.as_ref().map(CheckpointId::as_str), Wanted::All)?;
            let Some(loaded) = found else { return Ok(None) };
            corrupt(&view, &loaded)?;
            view.tuple(&loaded).map(Some)
        })
        .await
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let query = query.clone();
        self.read("reading the history", move |inner, tables| {
            inner.select(tables, &query, Wanted::Structure, |_, loaded| Ok(loaded.head()))
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
            let found = view.one(
                &ns,
                id.as_ref().map(CheckpointId::as_str),
                Wanted::Channels(&keys),
            )?;
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
            inner.select(tables, &query, Wanted::Channels(&keys), |view, loaded| {
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
                let found = view.one(&at.ns, Some(at.id.as_str()), Wanted::All)?;
                Ok(found.map(|loaded| loaded.writes()).unwrap_or_default())
            };
            of.iter().map(writes).collect()
        })
        .await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let query = query.clone();
        if query == ThreadQuery::new().limit(query.limit).soon(true) && query.limit.is_some() {
            let what = "reading the first threads";
            let (found, many) = self
                .read(what, move |inner, tables| inner.soon(tables, &query))
                .await?;
            if many {
                self.walk_behind();
            }
            return Ok(found);
        }
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
