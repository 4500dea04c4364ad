//! Connections that are cut in the middle and servers that go away: what was acknowledged is there, what was not is
//! said, and the same handle goes on when the way is free again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use superstep_storage_tests::probe::{read, store};
use superstep_storage_tests::{Backend, Random, open};
use superstep_test_servers::Postgres;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// So many bytes still pass in each direction; then the connection that has none left is cut, and the way is free.
#[derive(Debug)]
struct Budget {
    up: AtomicI64,
    down: AtomicI64,
}

impl Budget {
    fn set(&self, up: i64, down: i64) {
        self.up.store(up, Ordering::SeqCst);
        self.down.store(down, Ordering::SeqCst);
    }
}

const PLENTY: i64 = i64::MAX / 2;

async fn pass(mut from: impl AsyncReadExt + Unpin, mut to: impl AsyncWriteExt + Unpin, left: &AtomicI64) {
    let mut bytes = [0; 512];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let before = left.fetch_sub(count as i64, Ordering::SeqCst);
        let passes = usize::try_from(before.clamp(0, count as i64)).unwrap_or(0);
        if to.write_all(&bytes[..passes]).await.is_err() || passes < count {
            return;
        }
    }
}

/// A wire to the server that can be cut; gives the address of its near end.
async fn wire(server: String, budget: Arc<Budget>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (server, budget) = (server.clone(), budget.clone());
            tokio::spawn(async move {
                let Ok(far) = TcpStream::connect(&server).await else {
                    return;
                };
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                // When one direction is cut, so is the other.
                tokio::select! {
                    () = pass(near_in, far_out, &budget.up) => {}
                    () = pass(far_in, near_out, &budget.down) => {}
                }
                budget.set(PLENTY, PLENTY);
            });
        }
    });
    address
}

/// host:port of an address.
pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest)
}

async fn cut(backend: Backend) {
    let Some(place) = backend.place() else { return };
    let host = host_of(&place.url).to_owned();
    let budget = Arc::new(Budget {
        up: AtomicI64::new(PLENTY),
        down: AtomicI64::new(PLENTY),
    });
    let near = wire(host.clone(), budget.clone()).await;
    let saver = open(&place.url.replace(&host, &near))
        .await
        .expect("opens through the wire");
    let beside = place.open().await.expect("opens");
    let mut random = Random::new(3);
    let (mut last, mut cuts) = (store(&*saver, "t", 100).await.expect("stores"), 0);
    let cut =
        || budget.up.load(Ordering::SeqCst) > PLENTY / 2 && budget.down.load(Ordering::SeqCst) > PLENTY / 2;
    for round in 0..40 {
        // The bytes of a commit are a few thousand, so that cuts fall before, into and after it.
        let bytes = random.below(if round % 2 == 0 { 400 } else { 6000 }) as i64;
        match random.below(3) {
            0 => budget.set(bytes, PLENTY),
            1 => budget.set(PLENTY, bytes),
            _ => budget.set(bytes, bytes),
        }
        let outcome = tokio::time::timeout(Duration::from_secs(20), store(&*saver, "t", 1500)).await;
        cuts += usize::from(cut());
        budget.set(PLENTY, PLENTY);
        match outcome.unwrap_or_else(|_| panic!("{backend:?}: a cut connection is waited for")) {
            Ok(n) => last = n,
            // Without a word of whether it was stored, a cut may be an error; most are made good by trying again.
            Err(error) => assert!(error.to_string().len() > 40, "{backend:?} only says: {error}"),
        }
        let there = read(&*beside, "t").await.expect("whole");
        assert!(
            there >= last,
            "{backend:?}: {last} was acknowledged and {there} is the newest"
        );
        assert_eq!(
            read(&*saver, "t").await,
            Ok(there),
            "{backend:?}: the same handle reads it"
        );
        last = there;
    }
    assert_eq!(store(&*saver, "t", 10).await.expect("goes on"), last + 1);
    assert!(cuts > 5, "{backend:?}: only {cuts} commits met a cut");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_connections_are_cut() {
    cut(Backend::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_connections_are_cut() {
    cut(Backend::Redis).await;
}

/// Four threads store as fast as they can; the newest that each saw acknowledged is there after the server went away.
async fn while_it_works(url: &str, server_goes: impl FnOnce() + Send + 'static) {
    let saver = open(url).await.expect("opens");
    let enough = Arc::new(AtomicBool::new(false));
    let lines = (0..4).map(|line| {
        let (saver, enough) = (saver.clone(), enough.clone());
        tokio::spawn(async move {
            let (thread, mut newest) = (format!("line {line}"), None);
            while !enough.load(Ordering::SeqCst) {
                if let Ok(n) = store(&*saver, &thread, 200).await {
                    newest = Some(n);
                }
            }
            (thread, newest)
        })
    });
    let lines: Vec<_> = lines.collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    tokio::task::spawn_blocking(server_goes)
        .await
        .expect("the server goes and comes");
    tokio::time::sleep(Duration::from_millis(300)).await;
    enough.store(true, Ordering::SeqCst);
    for line in lines {
        let (thread, newest) = line.await.expect("a line comes to its end");
        let there = read(&*saver, &thread).await.expect("the same handle reads");
        let newest = newest.expect("some were acknowledged");
        assert!(
            there >= newest,
            "{thread}: {newest} was acknowledged and {there} is the newest"
        );
        assert_eq!(store(&*saver, &thread, 10).await.expect("goes on"), there + 1);
    }
    let checked = saver.verify(false).await.expect("checks");
    assert!(checked.is_sound(), "{:?}", checked.damage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn postgres_goes_away() {
    let Some(server) = Postgres::start() else { return };
    let server = Arc::new(server);
    let url = server.database();
    let saver = open(&url).await.expect("opens");
    store(&*saver, "t", 10).await.expect("stores");
    server.restart();
    assert_eq!(read(&*saver, "t").await, Ok(0));
    assert_eq!(store(&*saver, "t", 10).await.expect("the same handle goes on"), 1);
    let (stopped, killed) = (server.clone(), server.clone());
    // A moment between going and coming, so that every line notices.
    let pause = || std::thread::sleep(Duration::from_millis(300));
    while_it_works(&url, move || {
        stopped.stop();
        pause();
        stopped.restart();
    })
    .await;
    while_it_works(&url, move || {
        killed.kill();
        pause();
        killed.restart();
    })
    .await;
}
