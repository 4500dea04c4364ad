//! Checkpoints in a PostgreSQL database.
//!
//! One task writes (`writer`), a few sessions read (`reader`) and never wait for it. They are looked after by a runtime
//! of their own, so that a saver works under any executor and outlives the one it was opened under. `docs/storage.md`
//! describes the tables and what survives which accident.

mod address;
mod batch;
mod batch_statement;
mod claims;
mod fault;
mod maintenance;
mod names;
mod notice;
mod opening;
mod parts;
mod reader;
mod schema;
mod schemas;
mod server;
mod store;
mod survey;
mod threads;
mod writer;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, ListQuery, Maintenance, PendingWrite, Removal, StorageError, ThreadQuery, ThreadSummary,
    Waiting, WaitingQuery,
};
use superstep::store::StoreConfig;
use superstep::{CheckpointId, Checkpointer, Name, ThreadId};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};

pub(crate) use address::ServerAddress;
pub(crate) use fault::PostgresFault;
use names::Names;
pub(crate) use opening::open;
use reader::View;
pub use schemas::langgraph_schemas;
use server::{Server, Session};
pub use store::PostgresStore;
use writer::{Job, Request, Writer};

const OPENING: &str = "opening the database";

/// Saver that keeps checkpoints in a PostgreSQL database.
pub struct PostgresSaver {
    server: Arc<Server>,
    names: Arc<Names>,
    requests: mpsc::UnboundedSender<Request>,
}

impl fmt::Debug for PostgresSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSaver")
            .field("url", &self.server.shown)
            .finish_non_exhaustive()
    }
}

/// A program that ends with it has announced its last change.
impl Drop for PostgresSaver {
    fn drop(&mut self) {
        self.server.tell_last();
    }
}

/// Does an operation that only reads; once more on a new connection when the server has cut the old one.
macro_rules! read {
    ($self:expr, $what:literal, $view:ident => $operation:expr) => {{
        let mut again = true;
        loop {
            let outcome = match View::new(&$self.server, &$self.names).await {
                Ok(mut $view) => {
                    let outcome = $operation.await;
                    $view.close(outcome).await
                }
                Err(fault) => Err(fault),
            };
            match outcome {
                Err(fault) if fault.is_lost() && std::mem::take(&mut again) => {}
                outcome => break outcome.map_err(|fault| fault.worded($what, &$self.server.shown)),
            }
        }
    }};
}
use read;

impl PostgresSaver {
    /// Opens the database that a URL names, `postgres://user:password@host:port/database`, making or migrating its
    /// tables. `?schema=NAME` chooses the schema that they are in (`superstep`), `?sslmode=verify-full` and
    /// `?sslrootcert=FILE` ask for a server that is who it says it is; the rest is as for other programs.
    pub async fn open(url: &str) -> Result<Self, StorageError> {
        let (saver, session, writer) = Self::connect(url).await?;
        saver.begin(session, writer).await
    }

    /// Opens a database for who only looks: where nothing was stored, nothing is made, and `None` is the answer. A role
    /// that may only select can read everything; its commits are refused.
    pub async fn open_existing(url: &str) -> Result<Option<Self>, StorageError> {
        let (saver, mut session, writer) = Self::connect(url).await?;
        match schema::is_new(&saver.server, &mut session).await {
            Ok(true) => Ok(None),
            Ok(false) => saver.begin(session, writer).await.map(Some),
            Err(fault) => Err(fault.worded(OPENING, &saver.server.shown)),
        }
    }

    async fn connect(url: &str) -> Result<(Self, Session, oneshot::Sender<Writer>), StorageError> {
        let (requests, queue) = mpsc::unbounded_channel();
        let (runtime, writer) = writer_thread(queue)?;
        let server = Arc::new(Server::new(url, runtime)?);
        let session = server.connect().await;
        let session = session.map_err(|fault| fault.worded(OPENING, &server.shown))?;
        let saver = Self {
            server,
            names: Arc::new(Names::default()),
            requests,
        };
        Ok((saver, session, writer))
    }

    /// Brings the tables up to date. The thread waits for its writer; it ends without one when this fails.
    async fn begin(
        self,
        mut session: Session,
        writer: oneshot::Sender<Writer>,
    ) -> Result<Self, StorageError> {
        schema::prepare(&self.server, &mut session)
            .await
            .map_err(|fault| fault.worded(OPENING, &self.server.shown))?;
        let prepared = session.batch(writer::PLANNED_ONCE).await;
        prepared.map_err(|fault| fault.worded(OPENING, &self.server.shown))?;
        let _ = writer.send(Writer::new(self.server.clone(), self.names.clone(), session)?);
        self.server.runtime.spawn(self.server.clone().tell_changes());
        Ok(self)
    }

    /// Returns the store in the same database.
    pub fn store(&self, config: StoreConfig) -> PostgresStore {
        PostgresStore::new(self.server.clone(), config, self.requests.clone())
    }

    /// Returns the URL of the database as it may be shown, without the password.
    pub fn url(&self) -> &str {
        &self.server.shown
    }

    /// Hands a job to the writer at once; the future only waits for its outcome. So the order of the calls is the
    /// order of the commits, even when the futures are awaited later and in another order.
    fn submit(&self, job: Job) -> impl Future<Output = Result<Removal, StorageError>> + Send + 'static {
        let (answer, outcome) = oneshot::channel();
        let sent = self.requests.send((job, answer)).is_ok();
        let place = self.server.shown.clone();
        async move {
            let gone = || StorageError::Backend {
                what: format!("writing to {place}"),
                cause: "its writer has stopped".to_owned(),
                remedy: "Open the database again; what was acknowledged is stored".to_owned(),
            };
            if !sent {
                return Err(gone());
            }
            outcome.await.unwrap_or_else(|_| Err(gone()))
        }
    }
}

/// Starts a thread with a runtime that manages connections and, once it has the writer, runs it until it is no longer
/// needed.
fn writer_thread(
    queue: mpsc::UnboundedReceiver<Request>,
) -> Result<(Handle, oneshot::Sender<Writer>), StorageError> {
    let failed = |error: std::io::Error| StorageError::Backend {
        what: "starting the writer of a PostgreSQL database".to_owned(),
        cause: error.to_string(),
        remedy: "Close other programs and try again".to_owned(),
    };
    // The writer has the thread for itself; connections are served beside it while it plans.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("superstep-postgres-io")
        .enable_all()
        .build()
        .map_err(failed)?;
    let handle = runtime.handle().clone();
    let (give, writer) = oneshot::channel::<Writer>();
    std::thread::Builder::new()
        .name("superstep-postgres".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                if let Ok(writer) = writer.await {
                    let server = writer.server.clone();
                    writer.run(queue).await;
                    server.announce().await;
                }
            });
        })
        .map_err(failed)?;
    Ok((handle, give))
}

#[async_trait]
impl Coordination for PostgresSaver {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        read!(self, "reading claims", view => view.claims(threads))
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        read!(self, "listing questions that wait", view => view.waiting(query))
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        read!(self, "counting questions that wait", view => view.count_waiting())
    }

    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let shown = Some(by.change());
        self.submit(Job::Delete(thread.clone(), shown)).await.map(drop)
    }

    async fn changes(&self) -> Result<Option<u64>, StorageError> {
        let found = self.server.changes().await;
        found.map_err(|fault| fault.worded("looking for changes", &self.server.shown))
    }
}

#[async_trait]
impl Checkpointer for PostgresSaver {
    // Queued when it is called, not when it is polled: see `submit`.
    fn commit<'life0, 'async_trait>(
        &'life0 self,
        commit: Commit,
    ) -> BoxFuture<'async_trait, Result<(), StorageError>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let done = self.submit(Job::Commits(vec![commit]));
        Box::pin(async move { done.await.map(drop) })
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        self.submit(Job::Commits(commits)).await.map(drop)
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        read!(self, "reading a checkpoint", view => view.get(thread, ns, id))
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        read!(self, "reading checkpoints", view => view.list(query))
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        read!(self, "reading the history", view => view.heads(query))
    }

    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        read!(self, "reading values", view => view.values(thread, ns, id, keys))
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        read!(self, "reading the list of threads", view => view.threads(query))
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        read!(self, "reading a thread", view => view.thread(thread))
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        read!(self, "counting threads", view => view.count_threads(query))
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        read!(self, "reading what tasks wrote", view => view.writes(of))
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.submit(Job::Delete(thread.clone(), None)).await.map(drop)
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.submit(Job::Copy(from.clone(), to.clone())).await.map(drop)
    }
}
