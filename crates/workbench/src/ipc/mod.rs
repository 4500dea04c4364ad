//! Programs of one user on one data folder talk to each other: each serves a Unix domain socket, and says in its instance
//! file where. Messages are lines of JSON; commands and events are those of every other host.
//!
//! Only the same user gets through: folder and socket have private modes, and both ends compare the user of the other.
//! Everything is bounded: the length of a message, connections, requests at once, what waits for a slow reader, and the time
//! to say hello or to take a message. On Windows nothing is served.
#![cfg_attr(not(unix), allow(dead_code, reason = "nothing is served there"))]

pub(crate) mod changes;
mod client;
mod follow;
mod handover;
mod message;
mod programs;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod socket_path;
mod storage;
#[cfg(all(test, unix))]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use client::Peer;
pub(crate) use follow::follow;
pub use handover::{Ending, HandedGraph, HandedRun, Reported, Streamed, content_of};
pub(crate) use handover::{Handed, Report};
pub use message::{Hello, storage_of};
pub(crate) use programs::Programs;
pub(crate) use storage::COMMAND as STORAGE_COMMAND;
pub use storage::Remote;

use crate::base::instance::Instance;
use crate::events::hub::Subscription;
use crate::wire::{Json, Problem, RunView};

/// A run that was handed over, and what it reports.
pub(crate) type Started = (RunView, mpsc::Receiver<Reported>);

/// Services that a program offers to others.
#[async_trait]
pub(crate) trait Host: fmt::Debug + Send + Sync + 'static {
    /// Says who answers.
    fn hello(&self) -> Hello;
    /// Executes a command.
    async fn call(&self, command: String, request: Json) -> Result<Json, Problem>;
    /// Starts a run that the other program shows.
    async fn run(&self, run: HandedRun) -> Result<Started, Problem>;
    /// Begins to listen to what happens here; `None` when it is over.
    fn subscribe(&self) -> Option<Subscription>;
}

/// A socket that is served until this is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    stop: CancellationToken,
    /// Ends when the last connection has.
    serving: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Listener {
    /// Serves a socket for the program of this instance. Other programs see its runs only in the database where that is
    /// not possible.
    #[cfg(unix)]
    pub(crate) fn start(instance: &Instance, host: Arc<dyn Host>) -> Option<Self> {
        let started = serve::bind(instance).and_then(|(listener, path)| {
            let stop = CancellationToken::new();
            let serving = tokio::spawn(serve::serve(listener, host, stop.clone()));
            let listener = Self {
                stop,
                serving: Some(serving),
                path,
            };
            // A program that reads where it is finds it served.
            instance.serves_at(&listener.path)?;
            Ok(listener)
        });
        let failed =
            |error: &std::io::Error| tracing::warn!(%error, "other programs cannot talk to this one");
        started.inspect_err(failed).ok()
    }

    /// Serves nothing: there are no such sockets here.
    #[cfg(not(unix))]
    pub(crate) fn start(_: &Instance, _: Arc<dyn Host>) -> Option<Self> {
        None
    }

    /// Takes no more connections, and gives those that listen a moment to take what waits for them.
    pub(crate) async fn close(mut self, within: Duration) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take() {
            let _ = tokio::time::timeout(within, serving).await;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Finds a running program of a data folder among those whose sockets answer. All are asked at once, so that one that is
/// frozen keeps nobody waiting when another one is meant.
pub async fn find(data_dir: &std::path::Path, wanted: impl Fn(&Peer) -> bool) -> Option<Peer> {
    let sockets = crate::base::instance::sockets(data_dir);
    let mut answering: FuturesUnordered<_> = (sockets.into_iter())
        .map(|(_, socket)| async move { Peer::connect(&socket).await })
        .collect();
    while let Some(answered) = answering.next().await {
        if let Ok((peer, _)) = answered
            && wanted(&peer)
        {
            return Some(peer);
        }
    }
    None
}
