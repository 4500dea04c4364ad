//! Connections: how many there may be, how long one may take to say what it wants, and how they end.
//!
//! Anybody on this machine can connect, so a connection is a stranger's until a request on it has shown the token. Few
//! strangers are let in at once: when there is no room for another, the one that has been there longest goes.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 512;
/// Of those, connections without the token.
const MAX_STRANGERS: usize = 128;
/// Time that a stranger has before it may have to make room.
const STRANGER_STAYS: Duration = Duration::from_secs(1);
/// Time that a stranger which has to leave gets for what it has already sent to be read. A timer fires in the same
/// round of the runtime that hands out arrived bytes, so that even a starved server reads before it closes.
const LAST_WORD: Duration = Duration::from_millis(20);
/// Longest time for the headers of a request.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// How long connections have to end when the server stops.
const GRACE: Duration = Duration::from_secs(3);
/// Open files to ask the system for: connections, and the databases and programs of runs.
#[cfg(unix)]
const DESCRIPTORS: u64 = 8192;

/// One connection, as the handlers of its requests see it.
#[derive(Clone, Debug)]
pub(crate) struct Guest(Arc<GuestState>);

#[derive(Debug)]
struct GuestState {
    known: AtomicBool,
    /// When it was first listened to; a busy server has not listened to each that it has accepted.
    since: OnceLock<Instant>,
    leave: CancellationToken,
}

impl Guest {
    fn new() -> Self {
        Self(Arc::new(GuestState {
            known: AtomicBool::new(false),
            since: OnceLock::new(),
            leave: CancellationToken::new(),
        }))
    }

    /// Notes that a request of this connection had the token.
    pub(crate) fn admit(&self) {
        self.0.known.store(true, Ordering::Relaxed);
    }

    fn is_known(&self) -> bool {
        self.0.known.load(Ordering::Relaxed)
    }
}

/// Connections that have not shown the token, the oldest first.
#[derive(Clone, Debug, Default)]
struct Strangers(Arc<Mutex<VecDeque<Guest>>>);

impl Strangers {
    /// Waits until there is room for one more, and makes it.
    async fn room(&self) {
        loop {
            let until = {
                let mut strangers = self.0.lock();
                strangers.retain(|guest| !guest.is_known() && !guest.0.leave.is_cancelled());
                match strangers.front() {
                    Some(oldest) if strangers.len() >= MAX_STRANGERS => {
                        oldest.0.since.get().map(|since| *since + STRANGER_STAYS)
                    }
                    _ => return,
                }
            };
            if until.is_some_and(|until| until <= Instant::now()) {
                let oldest = self.0.lock().pop_front();
                if let Some(oldest) = oldest
                    && !oldest.is_known()
                {
                    oldest.0.leave.cancel();
                }
                return;
            }
            // Strangers that become known make room as well.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn push(&self, guest: Guest) {
        self.0.lock().push_back(guest);
    }
}

/// Serves until `stop` is ready; then open connections get a moment to end.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    #[cfg(unix)]
    raise_descriptors();
    let (stopping, stopped) = watch::channel(false);
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let strangers = Strangers::default();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = async {
            let permit = room.clone().acquire_owned().await.ok()?;
            strangers.room().await;
            Some((listener.accept().await, permit))
        };
        tokio::select! {
            () = &mut stop => break,
            // Ended connections are forgotten as they end.
            Some(_) = connections.join_next() => {}
            accepted = next => match accepted {
                Some((Ok((stream, _)), permit)) => {
                    let guest = Guest::new();
                    strangers.push(guest.clone());
                    connections.spawn(connection(stream, router.clone(), guest, permit, stopped.clone()));
                }
                Some((Err(error), _)) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    // Without descriptors the next try fails as well, until one is given back.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                None => break,
            },
        }
    }
    drop(listener);
    let _ = stopping.send(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, ended).await;
}

async fn connection(
    stream: TcpStream,
    router: Router,
    guest: Guest,
    _room: OwnedSemaphorePermit,
    mut stopped: watch::Receiver<bool>,
) {
    guest.0.since.get_or_init(Instant::now);
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router.layer(Extension(guest.clone())));
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut serving = std::pin::pin!(serving);
    let must_leave = async {
        guest.0.leave.cancelled().await;
        tokio::time::sleep(LAST_WORD).await;
        if guest.is_known() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        // What has arrived is read, and its token seen, before the connection is sent away.
        biased;
        ended = &mut serving => return log_end(ended),
        () = must_leave => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    serving.as_mut().graceful_shutdown();
    log_end(serving.await);
}

fn log_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Asks for as many descriptors as a server with runs may need. Without them the usual limit holds.
#[cfg(unix)]
fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS));
    if limit.current.is_some_and(|now| now < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
    }
}
