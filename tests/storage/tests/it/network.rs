//! Connections that are cut in the middle and servers that go away: what was acknowledged is there, what was not is
//! said, and the same handle goes on when the way is free again.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use superstep::checkpoint::{Checkpoint, Commit, Keep, Pruning, StorageError, TaskId, TaskWrites, Write};
use superstep::{Checkpointer, ThreadId, json};
use superstep_storage::Backend;
use superstep_storage_tests::probe::{read, store};
use superstep_storage_tests::{Place, Random, open};
use superstep_suites::{Draft, id};
use superstep_test_servers::{Postgres, Redis};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The bytes that still pass in each direction; then the connection that has none left is cut, and the way is free.
struct Budget {
    up: AtomicI64,
    down: AtomicI64,
    /// Done once, before a connection that has none left is cut.
    first: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} up, {:?} down", self.up, self.down)
    }
}

impl Budget {
    fn plenty() -> Arc<Self> {
        Arc::new(Self {
            up: AtomicI64::new(PLENTY),
            down: AtomicI64::new(PLENTY),
            first: Mutex::default(),
        })
    }

    /// How many bytes went up and down since there was plenty.
    fn spent(&self) -> (i64, i64) {
        let spent = |left: &AtomicI64| PLENTY - left.load(Ordering::SeqCst);
        (spent(&self.up), spent(&self.down))
    }

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
                let first = budget.first.lock().expect("nobody panics with it").take();
                if let Some(first) = first {
                    let _ = tokio::task::spawn_blocking(first).await;
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
    let Some(place) = Place::of(backend) else { return };
    let host = host_of(&place.url).to_owned();
    let budget = Budget::plenty();
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
        let outcome = tokio::time::timeout(Duration::from_secs(100), store(&*saver, "t", 1500)).await;
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

/// What a commit of several things does on a connection that is cut: one to a thread that there is, with the writes of a
/// task, and one that begins another thread, at the same time.
struct Trial {
    saver: Arc<dyn Checkpointer>,
    beside: Arc<dyn Checkpointer>,
    budget: Arc<Budget>,
    last: Checkpoint,
    n: u64,
}

fn commit_of(thread: &str, parent: Option<&Checkpoint>, n: u64) -> Commit {
    let text = format!("what is said in turn {n}, long enough to be kept apart: ").repeat(12);
    let draft = parent.map_or_else(|| Draft::root(id(n)), |parent| Draft::after(parent, id(n)));
    let write = Write {
        idx: 0,
        channel: "log".into(),
        value: json!([text.as_str()]),
    };
    let task = parent.map(|parent| TaskWrites {
        checkpoint_id: parent.id.clone(),
        task_id: TaskId::new(format!("task {n}")),
        task_path: "node".into(),
        writes: vec![write],
    });
    Commit {
        claim: None,
        thread: thread.into(),
        ns: "".into(),
        writes: task.into_iter().collect(),
        put: Some(draft.append("log", vec![json!(text)]).set("n", n).put()),
    }
}

impl Trial {
    async fn new(near: &str, url: &str, budget: Arc<Budget>) -> Self {
        let saver = open(near).await.expect("opens through the wire");
        let beside = open(url).await.expect("opens");
        let first = commit_of("t", None, 1);
        let last = first.put.as_ref().expect("a checkpoint").checkpoint.clone();
        saver.commit(first).await.expect("stores");
        Self {
            saver,
            beside,
            budget,
            last,
            n: 1,
        }
    }

    /// A round whose connection is cut after this many bytes; then everything is as it was said to be.
    async fn round(&mut self, up: i64, down: i64) {
        // Somebody else prunes, so that what is known of the thread is not so, and asked for again in the middle.
        let pruning = Pruning::threads(["t".into()], Keep::Newest(2));
        self.beside.prune(&pruning).await.expect("prunes");
        self.n += 1;
        let new = ThreadId::from(format!("new {}", self.n));
        let commits = [
            commit_of("t", Some(&self.last), self.n),
            commit_of(new.as_str(), None, self.n),
        ];
        self.budget.set(up, down);
        let [first, second] = commits.clone();
        let both = async { tokio::join!(self.saver.commit(first), self.saver.commit(second)) };
        // A server that is silent is given up after half a minute, with an error like any other.
        let both = tokio::time::timeout(Duration::from_secs(100), both).await;
        let at = format!("cut after {up} bytes up, {down} down");
        let (first, second) = both.unwrap_or_else(|_| panic!("{at}: it is waited for"));
        if up == PLENTY && down == PLENTY {
            return self.last = commits[0].put.as_ref().expect("a checkpoint").checkpoint.clone();
        }
        self.budget.set(PLENTY, PLENTY);
        for (commit, outcome) in commits.iter().zip([first, second]) {
            self.look(commit, outcome, &at).await;
        }
        self.beside.delete_thread(&new).await.expect("deletes");
    }

    /// What was acknowledged is there as a whole, what was not is there as a whole or not at all, for both programs.
    async fn look(&mut self, commit: &Commit, outcome: Result<(), StorageError>, at: &str) {
        let made = &commit.put.as_ref().expect("a checkpoint").checkpoint;
        let thread = &commit.thread;
        let there = self.beside.get(thread, "", Some(&made.id)).await;
        let there = there.unwrap_or_else(|error| panic!("{at}: {thread} cannot be read: {error}"));
        let same = self
            .saver
            .get(thread, "", Some(&made.id))
            .await
            .expect("the same handle reads");
        assert_eq!(there, same, "{at}: {thread}");
        match &there {
            Some(there) => assert_eq!(there.checkpoint, *made, "{at}: {thread} is not what was stored"),
            None => assert!(outcome.is_err(), "{at}: {thread} was acknowledged and is lost"),
        }
        if let Err(error) = outcome {
            assert!(error.to_string().len() > 40, "{at}: only says: {error}");
        }
        let Some(task) = commit.writes.first() else { return };
        let parent = self.beside.get(thread, "", Some(&task.checkpoint_id)).await;
        let parent = parent.expect("readable").expect("it is kept");
        let wrote = parent
            .pending_writes
            .iter()
            .any(|write| write.task_id == task.task_id);
        assert_eq!(wrote, there.is_some(), "{at}: a commit is stored as a whole");
        if there.is_some() {
            self.last = made.clone();
        }
    }

    async fn is_sound(&self) {
        let found = self.beside.verify(false).await.expect("checks");
        assert!(found.is_sound(), "{:?}", found.damage);
    }
}

/// Cuts the connection at every place of what goes to the server for a commit and of what comes back: at each byte with
/// `SUPERSTEP_EVERY_BYTE=1`, else at some.
async fn cut_everywhere(backend: Backend) {
    let Some(place) = Place::of(backend) else { return };
    let host = host_of(&place.url).to_owned();
    let budget = Budget::plenty();
    let near = wire(host.clone(), budget.clone()).await;
    let near = place.url.replace(&host, &near);
    let mut trial = Trial::new(&near, &place.url, budget.clone()).await;
    // The first ones make names and take numbers; those that follow a cut prepare their statements again, as this one.
    trial.round(PLENTY, PLENTY).await;
    trial.saver = open(&near).await.expect("opens");
    trial.round(PLENTY, PLENTY).await;
    let (up, down) = budget.spent();
    assert!(
        up > 1000 && down > 100,
        "{backend:?}: {up} bytes went up and {down} came back"
    );
    let every = std::env::var_os("SUPERSTEP_EVERY_BYTE").is_some_and(|value| value == "1");
    let step = |bytes: i64| if every { 1 } else { bytes / 40 + 1 };
    for bytes in (0..=up).step_by(step(up) as usize) {
        trial.round(bytes, PLENTY).await;
    }
    for bytes in (0..=down).step_by(step(down) as usize) {
        trial.round(PLENTY, bytes).await;
    }
    trial.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_connections_are_cut_at_every_place_of_a_commit() {
    cut_everywhere(Backend::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_connections_are_cut_at_every_place_of_a_commit() {
    cut_everywhere(Backend::Redis).await;
}

/// The server ends and comes back in the middle of a commit, at several places of it: what was planned with one server is
/// not believed of the next.
async fn restart_within(url: &str, restart: impl Fn() + Clone + Send + 'static) {
    let host = host_of(url).to_owned();
    let budget = Budget::plenty();
    let near = wire(host.clone(), budget.clone()).await;
    let mut trial = Trial::new(&url.replace(&host, &near), url, budget.clone()).await;
    // The second one has its statements and names.
    trial.round(PLENTY, PLENTY).await;
    trial.round(PLENTY, PLENTY).await;
    let (up, down) = budget.spent();
    for part in 0..6 {
        // A round takes less when its two commits do not come together: then it is cut earlier.
        let mut ended = false;
        for sooner in 0..5 {
            let restart = restart.clone();
            *budget.first.lock().expect("nobody panics with it") = Some(Box::new(restart));
            let at = |bytes: i64| bytes * (2 * part + 1) / (12 + 6 * sooner);
            match part % 2 {
                0 => trial.round(at(up), PLENTY).await,
                _ => trial.round(PLENTY, at(down)).await,
            }
            ended = budget
                .first
                .lock()
                .expect("nobody panics with it")
                .take()
                .is_none();
            if ended {
                break;
            }
        }
        assert!(ended, "the server went on in part {part}");
    }
    trial.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn postgres_starts_again_in_the_middle_of_a_commit() {
    let Some(server) = Postgres::start() else { return };
    let server = Arc::new(server);
    let url = server.database();
    restart_within(&url, move || {
        server.kill();
        server.restart();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn redis_starts_again_in_the_middle_of_a_commit() {
    let Some(server) = Redis::start() else { return };
    let server = Arc::new(server);
    let url = server.url().to_owned();
    restart_within(&url, move || {
        server.kill();
        server.restart();
    })
    .await;
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
