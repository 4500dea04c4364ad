//! The application without a host: documents, threads, runs, debugger, approvals, settings.
//!
//! A window, an HTTP server and a test use it in the same way: [`Workbench::call`] takes a command by name with JSON
//! and answers JSON, and [`Workbench::subscribe`] gives what happens in batches of one frame. Nothing here knows which
//! host it runs in; hosts choose the folders and carry bytes.

mod access;
mod arranging;
mod base;
mod documents;
pub mod evaluations;
mod events;
mod graph_tests;
mod inbox;
pub mod ipc;
mod ledger;
mod maintenance;
mod memory;
mod models;
mod running;
mod runs;
mod search;
pub mod session;
mod settings;
mod storage;
mod threads;
mod trust;
pub mod what_if;
pub mod wire;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use superstep_document::Document;
use superstep_nodes::search::{Folders, reader::ReaderProgram};
use superstep_nodes::{ModelSettings, Registry};

pub use base::browser::{ShowAddress, show_address};
pub use base::files::{Staged, make_data_dir};
pub use base::folders::default_data_dir;
pub use base::instance::Instance;
pub use base::logging::log;
pub use events::hub::Subscription;
pub use graph_tests::{
    Coverage, CoveredAnswer, CoveredNode, CoveredWay, TestedThread, ThreadTest, TriedTest, test_file,
    test_of_thread,
};
pub use inbox::preview::{Previewer, WaitingQuestion, mark_done};
pub use ledger::{bookmarks, past_answers, run_records, take_run_records, verify_answers};
pub use memory::embedding::store_config;
pub use models::connections::key_of as connection_key;
pub use models::logins::KeptLogins;
pub use models::named::NamedSecrets;
pub use models::secrets::{Keychain, Secrets};
pub use running::StopHandle;
pub use running::claim::Claimant;
pub use runs::program_points::{AtStop, ProgramPoints};
pub use runs::records::{Recorded, RunRecord, forget_threads};
pub use runs::session::{RecordIn, RunRequest, Session, Watcher};
pub use runs::trace::trace;
pub use search::{Desk, Directory, Folder, Listed};
pub use settings::person;
pub use storage::database::database_url;
pub use storage::opening::{open_existing_storage, open_storage};
use superstep_document::text;
pub use superstep_nodes::secrets::keep_memory_private;
pub use superstep_nodes::serve_if_asked;
pub use threads::compare::{Differences, Differing, compare};
pub use threads::paths::{PathEnd, paths};
pub use threads::task::{TaskWork, task_work};
pub use threads::visits::Branch;
pub use threads::{common, stored_state};
pub use trust::{Granted, Trust, WantedAccess};
pub use wire::commands;
use wire::commands::{answer, parse};
use wire::*;

/// Locations of folders and of the database.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The user's data folder; made when it is not there.
    pub data_dir: PathBuf,
    /// The examples that come with the app: a folder of folders with a `graph.json`.
    pub examples_dir: Option<PathBuf>,
    /// Where new graphs are saved; `graphs` in the data folder when absent.
    pub graphs_dir: Option<PathBuf>,
    /// Where threads are kept, as [`superstep_storage::open`] reads it; `threads.db` in the data folder when absent.
    pub storage: Option<String>,
    /// Where keys are kept; the system's keychain when absent.
    pub secrets: Option<Arc<dyn Secrets>>,
    /// Shows an address in the person's browser; without it, the interface does.
    pub browser: Option<ShowAddress>,
}

impl Options {
    /// Creates the options of a data folder.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            ..Self::default()
        }
    }

    /// Sets where the examples are that come with the app.
    #[must_use]
    pub fn examples_dir(mut self, dir: impl Into<Option<PathBuf>>) -> Self {
        self.examples_dir = dir.into();
        self
    }

    /// Sets where new graphs are saved.
    #[must_use]
    pub fn graphs_dir(mut self, dir: impl Into<Option<PathBuf>>) -> Self {
        self.graphs_dir = dir.into();
        self
    }

    /// Sets where threads are kept.
    #[must_use]
    pub fn storage(mut self, url: impl Into<Option<String>>) -> Self {
        self.storage = url.into();
        self
    }

    /// Sets where keys are kept.
    #[must_use]
    pub fn secrets(mut self, secrets: Arc<dyn Secrets>) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// Sets how addresses are shown to the person.
    #[must_use]
    pub fn browser(mut self, browser: ShowAddress) -> Self {
        self.browser = Some(browser);
        self
    }
}

/// The application.
#[derive(Debug)]
pub struct Workbench {
    /// Node kinds as interfaces receive them, described once: that makes their schemas.
    kinds: OnceLock<Vec<NodeKind>>,
    instance: Arc<Instance>,
    hub: events::hub::Hub,
    documents: documents::Documents,
    graphs: documents::GraphCaches,
    preferences: settings::Preferences,
    trust: Trust,
    keys: models::Keys,
    sign_ins: access::sign_in::SignIns,
    ledger: Arc<ledger::Ledger>,
    registry: Registry,
    database: storage::database::Database,
    runs: running::Runs,
    announcer: running::Announcer,
    jobs: base::jobs::Jobs,
    what_ifs: what_if::WhatIfs,
    reembedding: memory::reembedding::Reembedding,
    desk: inbox::AnswerDesk,
    indexing: search::Indexing,
    programs: ipc::Programs,
}

impl Drop for Workbench {
    fn drop(&mut self) {
        self.jobs.ending.cancel();
    }
}

/// Creates the registry of node kinds, with search indexes that are kept in the data folder. Programs that call
/// [`serve_if_asked`] before anything else also get PDF and HTML search, and JavaScript that runs in processes that can
/// be ended.
pub fn registry(data_dir: &Path) -> Registry {
    let folders = Folders::default().kept_in(data_dir.join("indexes"));
    Registry::standard().with_folders(folders.read_by(ReaderProgram::this()))
}

macro_rules! dispatch {
    ($($name:literal => $method:ident($request:ident) -> $response:ident,)*) => {
        impl Workbench {
            async fn dispatch(self: &Arc<Self>, command: &str, request: Json) -> Result<Json, Problem> {
                match command {
                    $($name => {
                        let request: $request = parse(command, request)?;
                        let response: $response = self.$method(request).await?;
                        answer(command, &response)
                    })*
                    _ => Err(Problem::invalid(text!("There is no command called {command}.", command = format!("{command:?}")))
                        .remedy(text!("The interface and the program are of different versions: start the program again."))),
                }
            }
        }
    };
}
for_each_command!(dispatch);

impl Workbench {
    /// Opens the workbench on a data folder. Must be called within a tokio runtime.
    pub async fn open(options: Options) -> Result<Arc<Self>, Problem> {
        let data_dir = base::files::absolute(&options.data_dir.to_string_lossy())?;
        let graphs_dir = match options.graphs_dir {
            Some(dir) => base::files::absolute(&dir.to_string_lossy())?,
            None => data_dir.join("graphs"),
        };
        let (data, graphs) = (data_dir.clone(), graphs_dir.clone());
        base::blocking(move || {
            let cannot = |dir: &Path, error| Problem::file(text!("make the folder"), dir, &error);
            base::files::make_data_dir(&data).map_err(|error| cannot(&data, error))?;
            std::fs::create_dir_all(&graphs).map_err(|error| cannot(&graphs, error))
        })
        .await??;
        let secrets = options.secrets.unwrap_or_else(|| Arc::new(Keychain));
        let keys = models::Keys::of(&data_dir, secrets);
        let memory = store_config(&data_dir, &keys.named);
        let variables = {
            let secrets = keys.named.clone();
            Arc::new(move |name: &str| secrets.variable(name))
        };
        let database =
            storage::database::Database::open(&data_dir, options.storage, memory, variables).await?;
        let workbench = base::blocking(move || {
            let ledger = Arc::new(ledger::Ledger::open(&ledger::Ledger::of(&data_dir))?);
            let workbench = Workbench {
                instance: Instance::enter(&data_dir)
                    .map(Arc::new)
                    .map_err(|e| Problem::file(text!("write to the data folder"), &data_dir, &e))?,
                hub: events::hub::Hub::default(),
                documents: documents::Documents::new(graphs_dir, options.examples_dir),
                graphs: documents::GraphCaches::default(),
                preferences: settings::Preferences::load(&data_dir),
                trust: Trust::of(&data_dir),
                keys,
                sign_ins: access::sign_in::SignIns::new(options.browser),
                registry: registry(&data_dir),
                database,
                runs: running::Runs::new(running::records::Records::new(&ledger)?),
                ledger,
                announcer: running::Announcer::default(),
                jobs: base::jobs::Jobs::default(),
                what_ifs: what_if::WhatIfs::default(),
                reembedding: memory::reembedding::Reembedding::default(),
                desk: inbox::AnswerDesk::default(),
                indexing: search::Indexing::default(),
                programs: ipc::Programs::default(),
                kinds: OnceLock::new(),
            };
            workbench.restore_drafts();
            Ok::<_, Problem>(workbench)
        })
        .await??;
        let workbench = Arc::new(workbench);
        let opened = workbench.clone();
        // A keychain that waits for a person keeps nobody from the window: values are shown when it has answered.
        tokio::spawn(async move { opened.give_key().await });
        *workbench.listener() = ipc::Listener::start(&workbench.instance, workbench.host());
        maintenance::retention::clean_daily(&workbench);
        inbox::deadlines::watch(&workbench);
        inbox::held::give(&workbench);
        inbox::count::count(&workbench);
        ipc::changes::watch(&workbench);
        documents::watching::watch(&workbench);
        search::keep_index(&workbench);
        Ok(workbench)
    }

    /// Executes a command of [`wire::commands::COMMANDS`]. The command runs to its end even when the caller goes away.
    pub async fn call(self: &Arc<Self>, command: &str, request: Json) -> Result<Json, Problem> {
        let (this, command) = (self.clone(), command.to_owned());
        let done = tokio::spawn(async move { this.dispatch(&command, request).await });
        done.await.unwrap_or_else(|error| {
            Err(Problem::new(
                "internal",
                text!("The command broke off: {error}.", error = error.to_string()),
            )
            .remedy(text!(
                "Nothing that was saved is lost. Try again; if it happens again, report it with what you did."
            )))
        })
    }

    /// Begins to listen to what happens.
    pub fn subscribe(&self) -> Subscription {
        let subscription = self.hub.subscribe();
        // What changed while nobody listened.
        self.documents.watch.wake();
        subscription
    }

    /// Keeps what is not saved, stops runs (their threads stay resumable) and ends all subscriptions. Call it before the process ends; without it, at most the
    /// last second of edits is lost.
    pub async fn shutdown(self: &Arc<Self>) {
        self.jobs.ending.cancel();
        self.reembedding.stop();
        self.autosave_all().await;
        self.what_ifs.stop_all().await;
        self.runs.stop_all(Duration::from_secs(5)).await;
        self.hub.close();
        let listener = self.listener().take();
        if let Some(listener) = listener {
            listener.close(Duration::from_secs(5)).await;
        }
    }

    fn listener(&self) -> parking_lot::MutexGuard<'_, Option<ipc::Listener>> {
        self.programs.listener.lock()
    }

    async fn app_info(self: &Arc<Self>, _: Empty) -> Result<AppInfo, Problem> {
        let this = self.clone();
        base::blocking(move || AppInfo {
            version: env!("CARGO_PKG_VERSION").into(),
            data_dir: this.instance.data_dir().to_string_lossy().into_owned(),
            graphs_dir: this.documents.graphs_dir.to_string_lossy().into_owned(),
            examples: this.examples().to_vec(),
            recents: this.preferences.recents(),
            kinds: this.kinds().to_vec(),
            settings: this.preferences.settings(),
            open: this
                .documents
                .all()
                .iter()
                .map(|open| GraphRef {
                    graph_id: open.id.clone(),
                })
                .collect(),
        })
        .await
    }

    async fn settings_set(self: &Arc<Self>, mut request: Settings) -> Result<Settings, Problem> {
        // Settings are changed one after the other, and the database is not changed meanwhile.
        let _changing = self.database.changing().await;
        let before = self.preferences.settings();
        let mut reopened = None;
        if request.memory != before.memory {
            let (memory, store) = self.usable_memory(request.memory).await?;
            (request.memory, reopened) = (memory, Some(store));
        }
        let this = self.clone();
        base::blocking(move || {
            let settings = this.preferences.set(request)?;
            let other_python = settings.python != before.python;
            let other_store = reopened.is_some();
            if let Some(reopened) = reopened {
                this.database.take(reopened);
                this.reembedding.stop();
            }
            // Graphs know the interpreter and the store that they were built for.
            if other_python || other_store {
                this.graphs.built.clear();
            }
            if other_python {
                this.check_again();
            }
            Ok(settings)
        })
        .await?
    }

    async fn files_list(self: &Arc<Self>, request: ListFiles) -> Result<FileList, Problem> {
        let dir = match request.dir {
            Some(dir) => base::files::absolute(&dir)?,
            None => self.documents.graphs_dir.clone(),
        };
        base::blocking(move || base::files::list(&dir)).await?
    }

    fn kinds(&self) -> &[NodeKind] {
        let kind = |kind: superstep_nodes::KindInfo| NodeKind {
            kind: kind.kind.to_owned(),
            title: kind.title.to_owned(),
            summary: kind.summary.to_owned(),
            icon: kind.icon.to_owned(),
            group: kind.group.to_owned(),
            aliases: kind.aliases.iter().map(|word| (*word).to_owned()).collect(),
            config_schema: kind.config_schema,
            defaults: kind.defaults,
            card: kind.card.iter().map(|pointer| (*pointer).to_owned()).collect(),
            inside: self.registry.draws(kind.kind),
        };
        self.kinds
            .get_or_init(|| self.registry.kinds().into_iter().map(kind).collect())
    }

    /// Checks a document and returns every problem: those of its structure, and those that its nodes and expressions
    /// report.
    fn check(&self, document: &Document, folder: Option<&Path>) -> superstep_nodes::Checked {
        let environment = self.environment(folder.map(Path::to_path_buf));
        self.registry.checked(document, &environment)
    }

    /// Returns the connections to model servers and the prices, as the file in the data folder has them now.
    fn models(&self) -> ModelSettings {
        ModelSettings::load(&self.instance.data_dir().join(ModelSettings::FILE))
    }
}
