//! Where things are: the data folder, the database, the thread and the graph that it runs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use superstep::checkpoint::{CheckpointHead, ListQuery, ThreadSummary};
use superstep::store::StoreConfig;
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, ThreadId};
use superstep_nodes::models::Variables;
use superstep_storage::Backend;
use superstep_workbench::ipc::{self, Peer, Remote};
use superstep_workbench::{Keychain, NamedSecrets, session};

use crate::args::Db;
use crate::fault::Fault;
use crate::out::{self, quoted};

/// Returns the user's data folder, the same as the app's.
pub(crate) fn data_dir() -> Result<PathBuf, Fault> {
    superstep_workbench::default_data_dir().ok_or_else(|| {
        Fault::usage(
            "There is no home folder to keep data in. Set SUPERSTEP_DATA to a folder, or use --db sqlite:PATH.",
        )
    })
}

/// Makes the data folder, unless it is there. Who only reads makes none.
fn make(dir: &Path) -> Result<(), Fault> {
    superstep_workbench::make_data_dir(dir).map_err(|error| {
        Fault::failed(format!(
            "The data folder {} cannot be made: {error}. Set SUPERSTEP_DATA to another folder, or use --db.",
            dir.display()
        ))
    })
}

/// The opened database and how to name it in a command.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) saver: Arc<dyn Checkpointer>,
    /// Long-term memory of the graphs that run here.
    pub(crate) memory: Arc<dyn superstep::Store>,
    /// ` --db URL` when it is not the default one.
    pub(crate) option: String,
    /// For messages.
    pub(crate) name: String,
}

impl Store {
    /// Opens the storage, which is created if it does not exist; if it allows one user only, through the program that
    /// has it open.
    pub(crate) async fn open(db: &Db) -> Result<Self, Fault> {
        match Self::elsewhere(db).await? {
            Some(store) => Ok(store),
            None => Self::open_here(db).await,
        }
    }

    /// Opens the storage for a command that only reads: it is not created if it does not exist.
    pub(crate) async fn existing(db: &Db) -> Result<Self, Fault> {
        match Self::elsewhere(db).await? {
            Some(store) => Ok(store),
            None => Self::existing_here(db).await,
        }
    }

    /// Opens the storage through the program that has it open, which reads and changes it.
    async fn elsewhere(db: &Db) -> Result<Option<Self>, Fault> {
        let (url, option) = Self::named(db)?;
        let Some(program) = program_of(&url).await else {
            return Ok(None);
        };
        let remote = Arc::new(Remote::of(program, Self::config()));
        Ok(Some(Self {
            saver: remote.clone(),
            memory: remote,
            option,
            name: superstep_storage::shown(&url),
        }))
    }

    /// Opens the storage in this program.
    pub(crate) async fn open_here(db: &Db) -> Result<Self, Fault> {
        let (url, option) = Self::named(db)?;
        if db.url().is_none() {
            make(&data_dir()?)?;
        }
        Self::at(&url, option).await?.refuse_foreign()
    }

    /// Refuses a command that changes something where another program makes the threads, which are only read.
    pub(crate) fn refuse_foreign(self) -> Result<Self, Fault> {
        match self.saver.foreign() {
            Some(foreign) => Err(foreign.refusal().into()),
            None => Ok(self),
        }
    }

    /// Refuses a question that only the program could answer which makes the threads; `what` is not in its database.
    pub(crate) fn refuse_unknown(&self, what: &str) -> Result<(), Fault> {
        match self.saver.foreign() {
            Some(_) => Err(Fault::usage(format!(
                "{what} is not in a LangGraph database: only its program knows."
            ))),
            None => Ok(()),
        }
    }

    /// Opens the storage in this program; it is not created if it does not exist.
    pub(crate) async fn existing_here(db: &Db) -> Result<Self, Fault> {
        let (url, option) = Self::named(db)?;
        let variables = Self::variables();
        let found = superstep_workbench::open_existing_storage(&url, Self::config(), &variables).await?;
        if let Some(storage) = found {
            return Ok(Self::of(storage, option));
        }
        if db.url().is_some() {
            return Err(Fault::usage(format!(
                "There is nothing at {}. Check the address; `superstep run` and `superstep store put` make a new place.",
                superstep_storage::shown(&url)
            )));
        }
        // Nothing was run yet.
        let mut store = Self::at(Backend::Memory.example(), option).await?;
        store.name = superstep_storage::shown(&url);
        Ok(store)
    }

    async fn at(url: &str, option: String) -> Result<Self, Fault> {
        Ok(Self::of(
            superstep_workbench::open_storage(url, Self::config(), &Self::variables()).await?,
            option,
        ))
    }

    /// Returns the configuration of long-term memory that was set up in the app: what is put here is found there.
    fn config() -> StoreConfig {
        superstep_workbench::default_data_dir().map_or_else(StoreConfig::default, |dir| {
            let secrets = NamedSecrets::of(&dir, Arc::new(Keychain));
            superstep_workbench::store_config(&dir, &Arc::new(secrets))
        })
    }

    /// Returns what finds the secrets that an address names.
    fn variables() -> Variables {
        match superstep_workbench::default_data_dir() {
            Some(dir) => Arc::new(move |name| NamedSecrets::of(&dir, Arc::new(Keychain)).variable(name)),
            None => Arc::new(|name| std::env::var(name).ok()),
        }
    }

    fn of(storage: superstep_storage::Storage, option: String) -> Self {
        if let Some(foreign) = storage.checkpointer.foreign()
            && let Some(dir) = superstep_workbench::default_data_dir()
        {
            let secrets = NamedSecrets::of(&dir, Arc::new(Keychain));
            foreign.set_key(secrets.variable(superstep_storage::LANGGRAPH_KEY).as_deref());
        }
        Self {
            saver: storage.checkpointer,
            memory: storage.store,
            option,
            name: storage.url,
        }
    }

    /// Returns the address, and the option that names it again. A password is not repeated: a person who wants to paste
    /// the command keeps the address in the environment.
    pub(crate) fn named(db: &Db) -> Result<(String, String), Fault> {
        Ok(match (&db.db, db.url()) {
            (Some(url), _) => (
                superstep_storage::recognized(url),
                format!(" --db {}", quoted(&superstep_storage::shown(url))),
            ),
            (None, Some(url)) => (superstep_storage::recognized(&url), String::new()),
            (None, None) => {
                let dir = data_dir()?;
                // What was chosen in the app counts here too: a thread is found in both.
                let url = superstep_workbench::database_url(&dir)?;
                (url, String::new())
            }
        })
    }

    /// Returns the checkpoints that were bookmarked in the app, by thread. They are kept in the data folder, for every
    /// database.
    pub(crate) fn bookmarks() -> Result<HashMap<String, HashSet<String>>, Fault> {
        // Without a data folder there is no app, and nobody marked anything.
        let Some(dir) = superstep_workbench::default_data_dir() else {
            return Ok(HashMap::new());
        };
        Ok(superstep_workbench::bookmarks(&dir)?)
    }

    /// Reads what the app's data folder holds about the runs of a thread, for the thread's file.
    pub(crate) fn run_records(thread: &ThreadId) -> Result<Object, Fault> {
        let Some(dir) = superstep_workbench::default_data_dir() else {
            return Ok(Object::new());
        };
        Ok(superstep_workbench::run_records(&dir, thread.as_str())?)
    }

    /// Gives a thread the records that came with it.
    pub(crate) fn take_run_records(thread: &ThreadId, about: &Object) -> Result<(), Fault> {
        let Some(dir) = superstep_workbench::default_data_dir() else {
            return Ok(());
        };
        Ok(superstep_workbench::take_run_records(
            &dir,
            thread.as_str(),
            about,
        )?)
    }

    /// Forgets what the app's data folder has of threads that were deleted here: what their runs did, and their titles.
    pub(crate) fn forget(&self, threads: &[ThreadId]) -> Result<(), Fault> {
        let Some(dir) = superstep_workbench::default_data_dir() else {
            return Ok(());
        };
        let ids: Vec<&str> = threads.iter().map(ThreadId::as_str).collect();
        Ok(superstep_workbench::forget_threads(&dir, &self.name, &ids)?)
    }

    /// Returns the data folder where the app finds what a run did, unless nothing of the run is stored.
    pub(crate) fn records(&self) -> Option<PathBuf> {
        // A user who keeps threads elsewhere may have no app, and no folder is made for one.
        let dir = superstep_workbench::default_data_dir().filter(|dir| dir.is_dir())?;
        self.is_durable().then_some(dir)
    }

    /// Returns whether anything is left when this program ends.
    pub(crate) fn is_durable(&self) -> bool {
        Backend::of(&self.name).is_ok_and(Backend::is_durable)
    }

    /// Reads the newest checkpoint of a thread that must exist.
    pub(crate) async fn head(&self, thread: &ThreadId) -> Result<CheckpointHead, Fault> {
        let found = self.newest(thread).await?;
        found.ok_or_else(|| self.no_thread(thread))
    }

    /// Reads the newest checkpoint of a thread, if there is one.
    pub(crate) async fn newest(&self, thread: &ThreadId) -> Result<Option<CheckpointHead>, Fault> {
        self.found(thread, None).await
    }

    async fn found(
        &self,
        thread: &ThreadId,
        checkpoint: Option<&str>,
    ) -> Result<Option<CheckpointHead>, Fault> {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns("")
            .id(checkpoint.map(CheckpointId::from))
            .limit(1);
        Ok(self.saver.heads(&query).await?.into_iter().next())
    }

    /// Reads a thread that must exist.
    pub(crate) async fn thread(&self, thread: &ThreadId) -> Result<ThreadSummary, Fault> {
        let found = self.saver.thread(thread).await?;
        found.ok_or_else(|| self.no_thread(thread))
    }

    /// Creates the fault of a thread that does not exist.
    pub(crate) fn no_thread(&self, thread: &ThreadId) -> Fault {
        Fault::usage(format!(
            "There is no thread {thread} in {}. List the threads with `superstep threads{}`.",
            self.name, self.option
        ))
    }

    /// Reads a checkpoint that the thread must have.
    pub(crate) async fn has(&self, thread: &ThreadId, checkpoint: &str) -> Result<CheckpointHead, Fault> {
        self.found(thread, Some(checkpoint)).await?.ok_or_else(|| {
            Fault::usage(format!(
                "Thread {thread} has no checkpoint {checkpoint}. List them with `superstep history {}{}`.",
                quoted(thread.as_str()),
                self.option
            ))
        })
    }
}

/// Finds the program that has the folder of threads at this address open and takes requests for it.
pub(crate) async fn program_of(url: &str) -> Option<Peer> {
    let allows_one = |backend: Backend| backend.is_durable() && !backend.is_shared();
    if !Backend::of(url).is_ok_and(allows_one) {
        return None;
    }
    let storage = ipc::storage_of(url);
    let serves = |peer: &Peer| peer.hello().starts_runs && peer.hello().storage == storage;
    let program = ipc::find(&data_dir().ok()?, serves).await?;
    out::note(&format!(
        "{} has these threads open; the request is handed to it.",
        program.hello().program
    ));
    Some(program)
}

/// Returns the file of the graph that a thread ran with, unless another one is named.
pub(crate) fn graph_of(
    named: Option<&Path>,
    thread: &ThreadId,
    head: &CheckpointHead,
) -> Result<PathBuf, Fault> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let path = session::graph_path(head).unwrap_or_default();
    if Path::new(path).is_absolute() {
        if Path::new(path).exists() {
            return Ok(path.into());
        }
        return Err(Fault::usage(format!(
            "The graph of thread {thread} was {path}, which is not there any more. Name its file with --graph."
        )));
    }
    if session::is_copied(head) {
        return Err(Fault::usage(format!(
            "Thread {thread} was copied from a LangGraph program, and is of no graph here yet. Name the file of one with the same nodes with --graph."
        )));
    }
    Err(Fault::usage(format!(
        "Thread {thread} does not say which file its graph is in (it may be an unsaved draft of the app). Name it with --graph."
    )))
}
