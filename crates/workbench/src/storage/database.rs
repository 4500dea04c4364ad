//! Which database threads are kept in: the one a host was started with, the one that was chosen in the settings, or a
//! file in the data folder. It can be changed while the app runs; a chosen one that cannot be opened leaves the app
//! usable, so that another can be chosen.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::{CheckpointTuple, Commit, ListQuery, StorageError, ThreadQuery};
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp, Sweeper};
use superstep::{Checkpointer, Store, ThreadId};
use superstep_nodes::models::Variables;
use superstep_storage::{Backend, Location, Storage, path_of, recognized, shown};

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::storage::opening::{open_existing_storage, open_storage};
use crate::wire::{
    ChosenBy, Empty, Problem, SchemaList, StorageBackend, StorageInfo, StorageLocation, StorageTested,
    TestStorage,
};
use superstep_document::text;

/// The file of the choice. It is not part of the settings, which interfaces read: an address may hold a password.
const FILE: &str = "database.json";

/// A choice as it is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
struct DatabaseChoice {
    #[serde(default)]
    url: Option<String>,
}

/// The database in use.
pub(crate) struct Database {
    data_dir: PathBuf,
    /// Secrets that the address of a server may name.
    variables: Variables,
    current: RwLock<CurrentDatabase>,
    /// Held while another database is chosen, or how its store works.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct CurrentDatabase {
    saver: Arc<dyn Checkpointer>,
    store: Arc<dyn Store>,
    url: String,
    chosen_by: ChosenBy,
    open: Result<Open, StorageError>,
    /// How its store works, or will when it can be opened.
    config: StoreConfig,
}

/// A database that could be opened.
#[derive(Clone, Debug)]
struct Open {
    storage: Storage,
    /// Removes items of the store that have expired, for as long as this database is the one in use.
    _sweeper: Arc<Sweeper>,
}

/// The database in use, with a store that works in another way.
#[derive(Debug)]
pub(crate) struct Reopened {
    storage: Option<Storage>,
    config: StoreConfig,
}

/// How often expired items are removed. Nobody sees them in between: they only take space.
const SWEEP_EVERY: Duration = Duration::from_secs(300);

impl CurrentDatabase {
    fn of(storage: Storage, url: String, chosen_by: ChosenBy, config: StoreConfig) -> Self {
        let sweeper = Sweeper::start(storage.store.clone(), SWEEP_EVERY);
        Self {
            saver: storage.checkpointer.clone(),
            store: storage.store.clone(),
            url,
            chosen_by,
            open: Ok(Open {
                storage,
                _sweeper: Arc::new(sweeper),
            }),
            config,
        }
    }
}

/// Stands for a database that could not be opened: says why at every request.
#[derive(Debug)]
struct Down(StorageError);

#[async_trait]
impl Checkpointer for Down {
    async fn commit(&self, _: Commit) -> Result<(), StorageError> {
        Err(self.0.clone())
    }
    async fn list(&self, _: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        Err(self.0.clone())
    }
    async fn delete_thread(&self, _: &ThreadId) -> Result<(), StorageError> {
        Err(self.0.clone())
    }
}

#[async_trait]
impl Store for Down {
    async fn batch(&self, _: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        Err(self.0.clone().into())
    }
    async fn sweep(&self) -> Result<u64, StoreError> {
        Err(self.0.clone().into())
    }
}

/// Lists the backends that this program was built with.
fn backends() -> Vec<StorageBackend> {
    let built_in = Backend::ALL.iter().filter(|backend| backend.is_built_in());
    let listed = built_in.map(|backend| StorageBackend {
        kind: backend.scheme().to_owned(),
        title: backend.title().to_owned(),
        summary: backend.summary().to_owned(),
        example: backend.example().to_owned(),
        location: match backend.location() {
            Location::Process => StorageLocation::Process,
            Location::File => StorageLocation::File,
            Location::Folder => StorageLocation::Folder,
            Location::Server => StorageLocation::Server,
        },
    });
    listed.collect()
}

/// Converts an address to one that means the same wherever the program is started: its path is relative to the data
/// folder, or absolute.
fn absolute(url: &str, data_dir: &Path) -> Result<String, Problem> {
    let url = url.trim();
    let Some(path) = path_of(url)? else {
        return Ok(url.to_owned());
    };
    let scheme = Backend::of(url)?.scheme();
    let path = match path.to_str() {
        Some(text) if text.starts_with('~') => files::absolute(text)?,
        _ => data_dir.join(path),
    };
    // How commits are acknowledged.
    let query = url.split_once('?').map(|(_, query)| format!("?{query}"));
    Ok(format!(
        "{scheme}:{}{}",
        path.display(),
        query.unwrap_or_default()
    ))
}

/// A database that was opened to be used.
#[derive(Debug)]
pub(crate) struct ChosenDatabase {
    opened: CurrentDatabase,
    url: Option<String>,
}

/// Returns the address under which a database is kept as the chosen one. A server's that a LangGraph program fills is kept as
/// that program's: without its tables it must not become one of ours the next time.
fn kept_address(url: String, is_foreign: bool) -> String {
    let is_server = Backend::of(&url).is_ok_and(|backend| backend == Backend::Postgres);
    match is_foreign && is_server {
        true => format!("{}:{url}", Backend::Langgraph.scheme()),
        false => url,
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("data_dir", &self.data_dir)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

impl Database {
    /// Opens what the host asks for, or else what was chosen, or else the file in the data folder.
    pub(crate) async fn open(
        data_dir: &Path,
        by_host: Option<String>,
        config: StoreConfig,
        variables: Variables,
    ) -> Result<Self, Problem> {
        let chosen = match by_host {
            Some(url) => Some((recognized(&url), ChosenBy::Program)),
            None => choice(data_dir)?.map(|url| (url, ChosenBy::Settings)),
        };
        let (url, chosen_by) = chosen.unwrap_or_else(|| (default_url(data_dir), ChosenBy::Default));
        let current = match open_storage(&url, config.clone(), &variables).await {
            Ok(storage) => CurrentDatabase::of(storage, url, chosen_by, config),
            // A person who chose it in the app must be able to choose another one there.
            Err(error) if chosen_by == ChosenBy::Settings => CurrentDatabase {
                saver: Arc::new(Down(error.clone())),
                store: Arc::new(Down(error.clone())),
                url,
                chosen_by,
                open: Err(error),
                config,
            },
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            data_dir: data_dir.to_owned(),
            variables,
            current: RwLock::new(current),
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// Locks the choice of a database and of its store's settings until the guard is dropped.
    pub(crate) async fn changing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Opens another database, or the usual one, which [`use_chosen`](Self::use_chosen) then takes. To be called while
    /// [`changing`](Self::changing) is held.
    pub(crate) async fn open_chosen(&self, url: Option<&str>) -> Result<ChosenDatabase, Problem> {
        let url = match url {
            Some(url) => {
                let url = absolute(url, &self.data_dir)?;
                Some(blocking(move || recognized(&url)).await?)
            }
            None => None,
        };
        let target = url.clone().unwrap_or_else(|| default_url(&self.data_dir));
        let chosen_by = match url {
            Some(_) => ChosenBy::Settings,
            None => ChosenBy::Default,
        };
        let config = self.current().config;
        let storage = open_storage(&target, config.clone(), &self.variables).await?;
        let is_foreign = storage.checkpointer.foreign().is_some();
        let url = url.map(|url| kept_address(url, is_foreign));
        let target = kept_address(target, is_foreign);
        let opened = CurrentDatabase::of(storage, target, chosen_by, config);
        Ok(ChosenDatabase { opened, url })
    }

    /// Keeps the choice and uses the database from now on.
    pub(crate) fn use_chosen(&self, chosen: ChosenDatabase) -> Result<(), Problem> {
        keep_choice(&self.data_dir, chosen.url)?;
        *self.current.write() = chosen.opened;
        Ok(())
    }

    /// Returns whether the program was started with a database of its own.
    pub(crate) fn is_of_program(&self) -> bool {
        self.current().chosen_by == ChosenBy::Program
    }

    /// Opens the database in use with another store configuration, for [`take`](Self::take).
    pub(crate) async fn reopened(&self, config: StoreConfig) -> Result<Reopened, Problem> {
        let storage = match self.current().open {
            Ok(open) => {
                let storage = open.storage.with_store_config(config.clone()).await;
                Some(storage?)
            }
            Err(_) => None,
        };
        Ok(Reopened { storage, config })
    }

    /// Switches to the store that was opened with other settings. Running work continues with the store it began with.
    pub(crate) fn take(&self, reopened: Reopened) {
        let Reopened { storage, config } = reopened;
        let mut current = self.current.write();
        *current = match storage {
            Some(storage) => CurrentDatabase::of(storage, current.url.clone(), current.chosen_by, config),
            None => CurrentDatabase {
                config,
                ..current.clone()
            },
        };
    }

    /// Returns the name under which the ledger knows the database in use.
    pub(crate) fn place(&self) -> String {
        shown(&self.current().url)
    }

    /// Returns whether the database in use is at this address.
    pub(crate) fn is_at(&self, url: &str) -> bool {
        let place = |url: &str| match path_of(url) {
            Ok(Some(path)) => std::path::absolute(&path).unwrap_or(path).display().to_string(),
            _ => url.to_owned(),
        };
        place(&self.current().url) == place(url)
    }

    /// Opens the database that is in use when nobody has chosen one: the place of threads of our own.
    pub(crate) async fn own(&self) -> Result<Storage, Problem> {
        let config = self.current().config;
        Ok(superstep_storage::open_with(&default_url(&self.data_dir), config).await?)
    }

    fn current(&self) -> CurrentDatabase {
        self.current.read().clone()
    }
}

fn default_url(data_dir: &Path) -> String {
    format!("sqlite:{}", data_dir.join("threads.db").display())
}

/// Returns the address of the database that holds a data folder's threads: the chosen one, or the file in the folder.
pub fn database_url(data_dir: &Path) -> Result<String, Problem> {
    Ok(choice(data_dir)?.unwrap_or_else(|| default_url(data_dir)))
}

fn choice(data_dir: &Path) -> Result<Option<String>, Problem> {
    let path = data_dir.join(FILE);
    let text = match superstep_nodes::files::read_own(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::file(text!("read"), &path, &error)),
    };
    // Starting with another database than the chosen one would look as if threads were lost.
    let choice: DatabaseChoice = serde_json::from_str(&text).map_err(|error| {
        Problem::new(
            "broken-file",
            text!(
                "{path} is broken: {error}.",
                path = path.display().to_string(),
                error = error.to_string()
            ),
        )
        .remedy(text!(
            "Correct it, or delete it to use the file in the data folder."
        ))
    })?;
    Ok(choice.url)
}

fn keep_choice(data_dir: &Path, url: Option<String>) -> Result<(), Problem> {
    let path = data_dir.join(FILE);
    if url.is_none() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Problem::file(text!("delete"), &path, &error))
            }
            _ => Ok(()),
        };
    }
    let text = serde_json::to_vec_pretty(&DatabaseChoice { url });
    let text = text.map_err(|error| Problem::new("internal", error.to_string()))?;
    files::write_private(&path, &text).map_err(|error| Problem::file(text!("write"), &path, &error))
}

/// Counts the threads of a database that is shown. Those of another program are not waited for until all were looked through:
/// that goes on in the background, and `None` is the answer until it has ended once.
async fn count_known(saver: &dyn Checkpointer) -> Result<Option<u64>, StorageError> {
    match saver.foreign() {
        None => saver.count_threads(&ThreadQuery::default()).await.map(Some),
        Some(foreign) => {
            saver.threads(&ThreadQuery::new().limit(1).soon(true)).await?;
            Ok(foreign.known_threads())
        }
    }
}

impl Workbench {
    /// Returns the checkpointer that stores threads.
    pub(crate) fn saver(&self) -> Arc<dyn Checkpointer> {
        self.database.current().saver
    }

    /// Refuses what only the program can do or knows whose threads are in use, where that is another program.
    pub(crate) fn refuse_foreign(&self) -> Result<(), Problem> {
        match self.saver().foreign() {
            Some(foreign) => Err(foreign.refusal().into()),
            None => Ok(()),
        }
    }

    /// Returns the store that keeps long-term memory.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.database.current().store
    }

    pub(crate) async fn storage_info(self: &Arc<Self>, _: Empty) -> Result<StorageInfo, Problem> {
        let current = self.database.current();
        let (threads, problem) = match count_known(&*current.saver).await {
            Ok(threads) => (threads, None),
            Err(error) => (None, Some(current.open.as_ref().err().unwrap_or(&error).into())),
        };
        Ok(StorageInfo {
            kind: Backend::of(&current.url)
                .ok()
                .map(|backend| backend.scheme().to_owned()),
            url: shown(&current.url),
            chosen_by: current.chosen_by,
            default_url: default_url(&self.database.data_dir),
            backends: backends(),
            only_read: current.saver.foreign().is_some(),
            attached: self.graphs.seen.attached_name(),
            threads,
            problem,
        })
    }

    pub(crate) async fn storage_test(
        self: &Arc<Self>,
        request: TestStorage,
    ) -> Result<StorageTested, Problem> {
        let url = absolute(&request.url, &self.database.data_dir)?;
        let url = blocking(move || recognized(&url)).await?;
        let (backend, begun) = (Backend::of(&url)?, Instant::now());
        let millis = || u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX);
        // Asking whether a file can be used must not make it.
        if let Some(path) = path_of(&url)? {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            blocking(move || match path.exists() || folder.is_dir() {
                true => Ok(()),
                false => Err(Problem::not_found(text!(
                    "There is no folder {path}.",
                    path = folder.display().to_string()
                ))
                .remedy(text!("Make the folder, or choose another place."))),
            })
            .await??;
        }
        // Nor does it make tables on a server.
        let config = StoreConfig::default();
        let storage = open_existing_storage(&url, config, &self.database.variables).await?;
        let threads = match &storage {
            Some(storage) => storage.checkpointer.count_threads(&ThreadQuery::default()).await,
            None => Ok(0),
        };
        Ok(StorageTested {
            kind: backend.scheme().to_owned(),
            url: shown(&url),
            threads: threads?,
            is_new: storage.is_none(),
            millis: millis(),
        })
    }

    pub(crate) async fn storage_schemas(
        self: &Arc<Self>,
        request: TestStorage,
    ) -> Result<SchemaList, Problem> {
        let url = request.url.trim();
        let of_server = url.strip_prefix("langgraph:").unwrap_or(url);
        let schemas = match Backend::of(of_server) {
            Ok(Backend::Postgres) => superstep_storage::langgraph_schemas(of_server).await?,
            _ => Vec::new(),
        };
        Ok(SchemaList { schemas })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_is_of_the_data_folder() {
        let at = |url| absolute(url, Path::new("/data")).unwrap();
        assert_eq!(at("threads.db"), "sqlite:/data/threads.db");
        assert_eq!(at("sqlite:/x/y.db"), "sqlite:/x/y.db");
        assert_eq!(at("file:threads"), "file:/data/threads");
        assert_eq!(
            at("file:threads?synchronous=normal"),
            "file:/data/threads?synchronous=normal"
        );
        assert_eq!(at(" memory: "), "memory:");
        assert_eq!(at("postgres://h/d"), "postgres://h/d");
        assert!(absolute("sqlite:", Path::new("/data")).is_err());
    }

    #[test]
    fn a_server_of_a_langgraph_program_is_kept_as_that_programs() {
        let kept = |url: &str, is_foreign| kept_address(url.to_owned(), is_foreign);
        assert_eq!(kept("postgres://h/d", true), "langgraph:postgres://h/d");
        for (url, is_foreign) in [
            ("postgres://h/d", false),
            ("langgraph:postgres://h/d", true),
            ("langgraph:/data/a.sqlite", true),
        ] {
            assert_eq!(kept(url, is_foreign), url);
        }
    }

    #[test]
    fn an_unknown_scheme_is_an_error_that_lists_what_there_is() {
        let problem = absolute("mysql://h/d", Path::new("/data")).unwrap_err();
        assert!(problem.message.contains("no backend is called"), "{problem}");
        let remedy = problem.remedy.unwrap_or_default();
        for backend in backends() {
            assert!(remedy.contains(&backend.kind), "{remedy}");
        }
    }

    #[test]
    fn examples_of_backends_are_addresses_that_can_be_chosen() {
        let kinds: Vec<String> = backends().into_iter().map(|backend| backend.kind).collect();
        assert_eq!(
            kinds,
            [
                "sqlite",
                "file",
                "postgres",
                "redis",
                "langgraph",
                "agent-server",
                "memory"
            ]
        );
        for backend in backends() {
            assert!(
                absolute(&backend.example, Path::new("/data")).is_ok(),
                "{backend:?}"
            );
        }
    }

    #[test]
    fn the_choice_is_kept_until_it_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let usual = default_url(dir.path());
        assert_eq!(database_url(dir.path()).unwrap(), usual);
        keep_choice(dir.path(), None).unwrap();
        keep_choice(dir.path(), Some("redis://h".into())).unwrap();
        assert_eq!(database_url(dir.path()).unwrap(), "redis://h");
        keep_choice(dir.path(), None).unwrap();
        assert_eq!(database_url(dir.path()).unwrap(), usual);
        fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(database_url(dir.path()).unwrap_err().code, "broken-file");
        fs::remove_file(dir.path().join(FILE)).unwrap();
        // What cannot be deleted is reported.
        fs::create_dir(dir.path().join(FILE)).unwrap();
        assert!(
            keep_choice(dir.path(), None)
                .unwrap_err()
                .message
                .contains("delete")
        );
        assert!(database_url(dir.path()).unwrap_err().message.contains("read"));
    }
}
