//! Connections: how many there may be, which of them make room for others, and how they end.
//!
//! Anybody on this machine can connect, so a connection is a stranger's until a request on it has shown the token. On a busy
//! machine an honest client may connect long before it is able to speak, and looks like a stranger that holds a place until
//! then. So nobody is sent away for being slow. A connection on which nothing has come waits at the door, where it costs a
//! descriptor and hardly any memory; those that have spoken are let in one after the other. Where there is no room for one
//! more, the one that has been there longest goes, after whatever has arrived from it was read.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Connections that are served at once; more wait for a place.
const MAX_CONNECTIONS: usize = 512;
/// Of those, connections without the token.
const MAX_STRANGERS: usize = 128;
/// Open files to ask the system for: connections, and the databases and programs of runs. Half of them may wait at the
/// door, and a quarter without having said anything.
const MAX_DESCRIPTORS: usize = 8192;
/// Time in which whatever has arrived is read, however starved the server is: a timer fires in the same round of the runtime
/// that hands out arrived bytes.
const TURN: Duration = Duration::from_millis(20);
/// Turns that a stranger is served for while others wait for its place. Time in which the server does not come to work is no
/// turn.
const MAX_STRANGER_TURNS: u64 = 25;
/// Longest time until the headers of a request that has begun are complete, and between two requests.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// How long connections have to end when the server stops.
const GRACE: Duration = Duration::from_secs(3);

/// A stranger's place, which another one may need.
#[derive(Clone, Debug, Default)]
struct Stay(Arc<StayState>);

#[derive(Debug, Default)]
struct StayState {
    /// The place is not needed any more, because of what was said on the connection, or because it has ended.
    over: AtomicBool,
    leave: CancellationToken,
}

impl Stay {
    fn end(&self) {
        self.0.over.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    /// Waits until the place has to be left. What has arrived by then is read first, and may end the stay in another way.
    async fn has_to_leave(&self) {
        self.0.leave.cancelled().await;
        tokio::time::sleep(TURN).await;
        if self.is_over() {
            std::future::pending::<()>().await;
        }
    }
}

/// Ends a stay with its connection, however that ends.
struct EndOnDrop<'a>(&'a Stay);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Strangers, the oldest first, each with the turn in which it came.
#[derive(Debug, Default)]
struct Strangers(VecDeque<(Stay, u64)>);

impl Strangers {
    /// Returns how many there are.
    fn count(&mut self) -> usize {
        self.0
            .retain(|(stay, _)| !stay.is_over() && !stay.0.leave.is_cancelled());
        self.0.len()
    }

    fn push(&mut self, stay: Stay, turn: u64) {
        self.0.push_back((stay, turn));
    }

    fn send_oldest_away(&mut self) {
        if let Some((oldest, _)) = self.0.pop_front() {
            oldest.0.leave.cancel();
        }
    }
}

/// Everybody who is connected.
#[derive(Debug)]
struct Rooms {
    /// All connections.
    all: Arc<Semaphore>,
    /// Those at the door on which nothing has come.
    silent: Mutex<Strangers>,
    max_silent: usize,
    /// Counts those at the door that have spoken.
    queued: AtomicUsize,
    /// The turn, held by the connection that is let in next.
    door: tokio::sync::Mutex<u64>,
    /// Those that are served.
    places: Arc<Semaphore>,
    strangers: Mutex<Strangers>,
}

impl Rooms {
    fn new(descriptors: usize) -> Self {
        let places = MAX_CONNECTIONS.min(descriptors / 4);
        Self {
            all: Arc::new(Semaphore::new(places + descriptors / 2)),
            silent: Mutex::default(),
            max_silent: descriptors / 4,
            queued: AtomicUsize::new(0),
            door: tokio::sync::Mutex::default(),
            places: Arc::new(Semaphore::new(places)),
            strangers: Mutex::default(),
        }
    }

    /// Notes somebody who has connected. When the door is full of those who say nothing, the oldest goes.
    fn arrive(&self) -> Stay {
        let stay = Stay::default();
        let mut silent = self.silent.lock();
        silent.push(stay.clone(), 0);
        if silent.0.len() > self.max_silent && silent.count() > self.max_silent {
            silent.send_oldest_away();
        }
        stay
    }

    /// Waits until there is a place for one more stranger, and gives it.
    async fn let_in(self: &Arc<Self>) -> Option<(Guest, OwnedSemaphorePermit)> {
        let _queued = Queued::new(&self.queued);
        let mut turn = self.door.lock().await;
        let place = self.places.clone().acquire_owned().await.ok()?;
        loop {
            {
                let mut strangers = self.strangers.lock();
                if strangers.count() >= MAX_STRANGERS
                    && let Some((_, came)) = strangers.0.front()
                    && came + MAX_STRANGER_TURNS <= *turn
                {
                    strangers.send_oldest_away();
                }
                if strangers.0.len() < MAX_STRANGERS {
                    let stay = Stay::default();
                    strangers.push(stay.clone(), *turn);
                    let rooms = self.clone();
                    return Some((Guest { stay, rooms }, place));
                }
            }
            // Strangers that become known make room as well.
            tokio::time::sleep(TURN).await;
            *turn += 1;
        }
    }
}

/// Counts a connection among those that have spoken and wait for a place.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn new(queued: &'a AtomicUsize) -> Self {
        queued.fetch_add(1, Ordering::Relaxed);
        Self(queued)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One connection, as the handlers of its requests see it.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    stay: Stay,
    rooms: Arc<Rooms>,
}

impl Guest {
    /// Notes that a request of this connection had the token.
    pub(crate) fn admit(&self) {
        self.stay.end();
    }

    /// Returns whether somebody waits for a place, and there is none.
    fn is_waited_for(&self) -> bool {
        self.rooms.places.available_permits() == 0 && self.rooms.queued.load(Ordering::Relaxed) > 0
    }
}

/// Ends a connection with its answer while others wait for a place; it would hold its own until the next request.
pub(crate) async fn make_way(request: Request, next: Next) -> Response {
    let guest = request.extensions().get::<Guest>().cloned();
    let mut response = next.run(request).await;
    if guest.is_some_and(|guest| guest.is_waited_for())
        && response.status() != StatusCode::SWITCHING_PROTOCOLS
    {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// Serves until `stop` is ready; then open connections get a moment to end.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let (stopping, stopped) = watch::channel(false);
    let rooms = Arc::new(Rooms::new(raise_descriptors()));
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = async {
            let room = rooms.all.clone().acquire_owned().await.ok()?;
            Some((listener.accept().await, room))
        };
        tokio::select! {
            () = &mut stop => break,
            // Ended connections are forgotten as they end.
            Some(_) = connections.join_next() => {}
            accepted = next => match accepted {
                Some((Ok((stream, _)), room)) => {
                    let visit = Visit { stream, arrived: rooms.arrive(), rooms: rooms.clone(), _room: room };
                    connections.spawn(visit.serve(router.clone(), stopped.clone()));
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

/// An accepted connection.
struct Visit {
    stream: TcpStream,
    arrived: Stay,
    rooms: Arc<Rooms>,
    _room: OwnedSemaphorePermit,
}

impl Visit {
    async fn serve(self, router: Router, mut stopped: watch::Receiver<bool>) {
        let let_in = tokio::select! {
            let_in = self.wait_at_door() => let_in,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        let Some((guest, _place)) = let_in else { return };
        let _end = EndOnDrop(&guest.stay);
        let _ = self.stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.layer(Extension(guest.clone())));
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS_WITHIN)
            .serve_connection(TokioIo::new(self.stream), service)
            .with_upgrades();
        // On the heap, so that a connection that waits at the door is small.
        let mut serving = Box::pin(serving);
        tokio::select! {
            // What has arrived is read, and its token seen, before the connection is sent away.
            biased;
            ended = &mut serving => return log_end(ended),
            () = guest.stay.has_to_leave() => return,
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
        serving.as_mut().graceful_shutdown();
        log_end(serving.await);
    }

    /// Waits until something has come on the connection and there is a place for it; `None` when it has to leave.
    async fn wait_at_door(&self) -> Option<(Guest, OwnedSemaphorePermit)> {
        let _end = EndOnDrop(&self.arrived);
        let mut first = [0; 1];
        tokio::select! {
            // What has arrived is seen before the connection is sent away. It is looked at and not waited to be readable:
            // an accepted connection is taken for readable until it was tried.
            biased;
            spoken = self.stream.peek(&mut first) => {
                spoken.ok()?;
            }
            () = self.arrived.has_to_leave() => return None,
        }
        self.arrived.end();
        self.rooms.let_in().await
    }
}

fn log_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Asks for as many descriptors as a server with runs may need; returns how many there are.
#[cfg(unix)]
fn raise_descriptors() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let wanted = most.min(MAX_DESCRIPTORS as u64);
    let mut have = limit.current.unwrap_or(u64::MAX);
    if have < wanted {
        let raised = Rlimit {
            current: Some(wanted),
            maximum: limit.maximum,
        };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => have = wanted,
            // The usual limit holds.
            Err(error) => tracing::debug!(%error, "the limit of open files stays as it is"),
        }
    }
    usize::try_from(have).map_or(MAX_DESCRIPTORS, |have| have.min(MAX_DESCRIPTORS))
}

#[cfg(not(unix))]
fn raise_descriptors() -> usize {
    MAX_DESCRIPTORS
}
