//! Checkpoints in Redis.
//!
//! Everything of a thread is in six keys, every change is one script call, and one task of this process writes. Reads
//! need no lock: what is stored is never changed, only removed. `docs/storage.md` describes the keys and what survives
//! which accident.

mod claims;
#[cfg(test)]
mod fuzz;
mod maintenance;
mod opening;
mod reader;
mod server;
mod state;
mod store;
mod threads;
mod usage;
mod writer;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, ListQuery, Maintenance, PendingWrite, StorageError, ThreadQuery, ThreadSummary, Waiting,
    WaitingQuery,
};
use superstep::store::StoreConfig;
use superstep::{CheckpointId, Checkpointer, Name, ThreadId};
use tokio::sync::{mpsc, oneshot};

use crate::base::shown;
pub(crate) use opening::open;
pub use server::Life as RedisLife;
use server::{Own, Server};
pub use store::RedisStore;
use writer::{Job, Other, Outcome, Writer};

/// Settings for using a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedisOptions {
    /// What the names of our keys begin with.
    pub prefix: String,
    /// How long threads live; `None` is for ever.
    pub life: Option<RedisLife>,
}

impl RedisOptions {
    /// Sets what the names of our keys begin with.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets how long threads live; `None` is for ever.
    pub fn life(mut self, life: impl Into<Option<RedisLife>>) -> Self {
        self.life = life.into();
        self
    }
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            prefix: "superstep".to_owned(),
            life: None,
        }
    }
}

/// A connection with a thread and a runtime of its own: it lives in them, whatever runtime a caller is in or goes away
/// with.
struct Home {
    shown: String,
    server: Server,
    runtime: tokio::runtime::Handle,
    thread: Option<JoinHandle<()>>,
}

type Opened = Result<(Server, tokio::runtime::Handle), StorageError>;

impl Home {
    /// Connects to the server; the connection lives until `main` ends.
    async fn start<F: Future<Output = ()>>(
        url: &str,
        options: RedisOptions,
        own: Arc<Own>,
        main: impl FnOnce(Server) -> F + Send + 'static,
    ) -> Result<Self, StorageError> {
        let (opened, ready) = oneshot::channel();
        let (address, name) = (url.to_owned(), shown(url));
        let thread = std::thread::Builder::new()
            .name("superstep-redis".to_owned())
            .spawn(move || serve(&address, &options, own, opened, main));
        let stopped = |cause: String| StorageError::Backend {
            what: format!("connecting to {}", shown(url)),
            cause,
            remedy: "Close other programs and try again".to_owned(),
        };
        let thread = thread.map_err(|error| stopped(error.to_string()))?;
        let opened = ready.await;
        let (server, runtime) = opened.unwrap_or_else(|_| Err(stopped("its thread has ended".to_owned())))?;
        Ok(Self {
            shown: name,
            server,
            runtime,
            thread: Some(thread),
        })
    }

    fn gone(&self) -> StorageError {
        StorageError::Backend {
            what: format!("working with {}", self.shown),
            cause: "the connection has been closed".to_owned(),
            remedy: "Open it again; what was acknowledged is stored".to_owned(),
        }
    }

    /// Runs `work` in the runtime in which the connection lives.
    async fn read<T: Send + 'static, F: Future<Output = Result<T, StorageError>> + Send + 'static>(
        &self,
        work: impl FnOnce(Server) -> F,
    ) -> Result<T, StorageError> {
        let reading = self.runtime.spawn(work(self.server.clone()));
        reading.await.unwrap_or_else(|_| Err(self.gone()))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(url = %self.shown, "the connection's thread ended in a panic");
        }
    }
}

fn serve<F: Future<Output = ()>>(
    url: &str,
    options: &RedisOptions,
    own: Arc<Own>,
    opened: oneshot::Sender<Opened>,
    main: impl FnOnce(Server) -> F,
) {
    let shown = shown(url);
    // What is worked out for a long pruning must not keep readers waiting: they have a thread of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("superstep-redis-io")
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = opened.send(Err(StorageError::Backend {
                what: format!("connecting to {shown}"),
                cause: error.to_string(),
                remedy: "Close other programs and try again".to_owned(),
            }));
            return;
        }
    };
    runtime.block_on(async move {
        match Server::open(url, &shown, &options.prefix, options.life, own).await {
            Ok(server) => {
                let handle = tokio::runtime::Handle::current();
                if opened.send(Ok((server.clone(), handle))).is_ok() {
                    main(server).await;
                }
            }
            Err(error) => drop(opened.send(Err(error))),
        }
    });
}

/// Saver that keeps checkpoints in Redis.
pub struct RedisSaver {
    /// Dropped first: it ends the connection's thread when every job is done.
    jobs: mpsc::UnboundedSender<Job>,
    home: Home,
    /// The URL with its password, for stores.
    address: String,
    options: RedisOptions,
    own: Arc<Own>,
}

impl fmt::Debug for RedisSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSaver")
            .field("url", &self.home.shown)
            .finish_non_exhaustive()
    }
}

impl RedisSaver {
    /// Connects to the server that the URL names: `redis://[[user:]password@]host[:port][/database]`, `rediss://` for
    /// TLS, and after a `?` `prefix=`, `ttl=` (seconds that a thread lives after its last commit) and `refresh=true`
    /// (or after it was last read).
    pub async fn open(url: &str) -> Result<Self, StorageError> {
        let (url, options) = read_url(url)?;
        Self::open_with(&url, options).await
    }

    /// Connects with options.
    pub async fn open_with(url: &str, options: RedisOptions) -> Result<Self, StorageError> {
        let saver = Self::connect(url, options).await?;
        saver
            .home
            .read(|server| async move { server.prepare().await })
            .await?;
        saver.fill().await?;
        Ok(saver)
    }

    /// Connects for who only looks: where nothing was stored with this prefix, nothing is made, and `None` is the answer.
    pub async fn open_existing(url: &str) -> Result<Option<Self>, StorageError> {
        let (url, options) = read_url(url)?;
        let saver = Self::connect(&url, options).await?;
        let found = saver.home.read(|server| async move { server.layout().await });
        if found.await?.is_none() {
            return Ok(None);
        }
        if let Err(error) = saver.fill().await {
            // Anyone who may not write reads everything else.
            tracing::warn!(%error, "not every question that waits is listed");
        }
        Ok(Some(saver))
    }

    /// Lists the questions that an older release stored.
    async fn fill(&self) -> Result<(), StorageError> {
        if self
            .home
            .read(|server| async move { server.is_filled().await })
            .await?
        {
            return Ok(());
        }
        let work: Other = Box::new(|writer| Box::pin(async move { writer.fill().await }));
        self.other(work).await.map(drop)
    }

    async fn connect(url: &str, options: RedisOptions) -> Result<Self, StorageError> {
        let (jobs, queue) = mpsc::unbounded_channel();
        let own = Arc::new(Own::default());
        let main = move |server| Writer::new(server).run(queue);
        let home = Home::start(url, options.clone(), own.clone(), main).await?;
        Ok(Self {
            jobs,
            home,
            address: url.to_owned(),
            options,
            own,
        })
    }

    /// Opens a store in the same place, with its own connection. [`changes`](Coordination::changes) counts its writes
    /// as this saver's own.
    pub async fn store(&self, config: StoreConfig) -> Result<RedisStore, StorageError> {
        RedisStore::connect(&self.address, self.options.clone(), self.own.clone(), config).await
    }

    /// Returns the URL, without its password.
    pub fn url(&self) -> &str {
        &self.home.shown
    }

    /// Hands a job to the writer at once; the future only waits for its outcome. So the order of the calls is the
    /// order of the commits, even when the futures are awaited later and in another order.
    fn submit(
        &self,
        job: impl FnOnce(oneshot::Sender<Outcome>) -> Job,
    ) -> impl Future<Output = Outcome> + Send + 'static {
        let (answer, outcome) = oneshot::channel();
        let sent = self.jobs.send(job(answer)).is_ok();
        let gone = self.home.gone();
        async move {
            if !sent {
                return Err(gone);
            }
            outcome.await.unwrap_or(Err(gone))
        }
    }

    fn other(&self, work: Other) -> impl Future<Output = Outcome> + Send + 'static {
        self.submit(|answer| Job::Other(work, answer))
    }
}

/// Splits a URL into the URL for the server and our own options.
fn read_url(url: &str) -> Result<(String, RedisOptions), StorageError> {
    let mut options = RedisOptions::default();
    let Some((address, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), options));
    };
    let (mut rest, mut seconds, mut refresh) = (Vec::new(), None, false);
    for pair in query.split('&') {
        let unreadable = || StorageError::Backend {
            what: format!("opening {}", shown(address)),
            cause: format!("{pair:?} cannot be understood"),
            remedy: "Give prefix=NAME, ttl=SECONDS or refresh=true after the question mark".to_owned(),
        };
        match pair.split_once('=') {
            Some(("prefix", prefix)) if !prefix.is_empty() => options.prefix = prefix.to_owned(),
            Some(("ttl", text)) => {
                let given = text.parse::<u64>().ok().filter(|seconds| *seconds > 0);
                seconds = Some(given.ok_or_else(unreadable)?);
            }
            Some(("refresh", text)) => refresh = text.parse().map_err(|_| unreadable())?,
            Some(("protocol", _)) => rest.push(pair),
            _ => return Err(unreadable()),
        }
    }
    options.life = seconds.map(|seconds| RedisLife {
        time: Duration::from_secs(seconds),
        reading_counts: refresh,
    });
    let query = if rest.is_empty() {
        String::new()
    } else {
        format!("?{}", rest.join("&"))
    };
    Ok((format!("{address}{query}"), options))
}

#[async_trait]
impl Coordination for RedisSaver {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        let threads = threads.to_vec();
        self.home
            .read(|server| async move { server.claims(&threads).await })
            .await
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let query = query.clone();
        self.home
            .read(|server| async move { server.waiting(&query).await })
            .await
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.home
            .read(|server| async move { server.count_waiting().await })
            .await
    }

    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let (thread, shown) = (thread.clone(), by.change());
        let work: Other =
            Box::new(move |writer| Box::pin(async move { writer.delete(&thread, Some(&shown)).await }));
        self.other(work).await.map(drop)
    }

    async fn changes(&self) -> Result<Option<u64>, StorageError> {
        let found = self.home.read(|server| async move { server.changes().await });
        found.await.map(Some)
    }
}

#[async_trait]
impl Checkpointer for RedisSaver {
    // Written out rather than `async fn`, because the job must be queued when this is called and not when the
    // future is first polled.
    fn commit<'life0, 'async_trait>(
        &'life0 self,
        commit: Commit,
    ) -> BoxFuture<'async_trait, Result<(), StorageError>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let done = self.submit(|answer| Job::Commits(vec![commit], answer));
        Box::pin(async move { done.await.map(drop) })
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        self.submit(|answer| Job::Commits(commits, answer))
            .await
            .map(drop)
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let (thread, ns, id) = (thread.clone(), ns.to_owned(), id.cloned());
        self.home
            .read(|server| async move {
                let found = server.get(&thread, &ns, id.as_ref()).await?;
                server.touch(&thread).await?;
                Ok(found)
            })
            .await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        let query = query.clone();
        self.home
            .read(|server| async move { server.list(&query).await })
            .await
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let query = query.clone();
        self.home
            .read(|server| async move { server.heads(&query).await })
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
        self.home
            .read(|server| async move {
                let found = server.values(&thread, &ns, id.as_ref(), &keys).await?;
                server.touch(&thread).await?;
                Ok(found)
            })
            .await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let query = query.clone();
        self.home
            .read(|server| async move { server.threads(&query).await })
            .await
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        let thread = thread.clone();
        self.home
            .read(|server| async move { server.thread(&thread).await })
            .await
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let query = query.clone();
        self.home
            .read(|server| async move { server.count_threads(&query).await })
            .await
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let of = of.to_vec();
        self.home
            .read(|server| async move {
                let found = server.writes(&of).await?;
                let threads: HashSet<&ThreadId> = of.iter().map(|address| &address.thread).collect();
                for thread in threads {
                    server.touch(thread).await?;
                }
                Ok(found)
            })
            .await
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let thread = thread.clone();
        let work: Other = Box::new(move |writer| Box::pin(async move { writer.delete(&thread, None).await }));
        self.other(work).await.map(drop)
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        let (from, to) = (from.clone(), to.clone());
        let work: Other = Box::new(move |writer| Box::pin(async move { writer.copy(&from, &to).await }));
        self.other(work).await.map(drop)
    }
}
