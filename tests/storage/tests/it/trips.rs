//! How often a commit waits for the server: what is known of a thread is not asked for again, and a statement is prepared
//! once. Counted on the wire, because a round trip takes as long as the server is far away.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, join_all};
use superstep::checkpoint::{Checkpoint, Commit, TaskId, TaskWrites, Write};
use superstep::{Checkpointer, json};
use superstep_storage::Backend;
use superstep_storage_tests::{Place, open};
use superstep_suites::{Draft, id};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::network::host_of;

/// What is done first.
type Meanwhile = BoxFuture<'static, ()>;

/// What was seen on the wires to a server.
#[derive(Default)]
pub(crate) struct Seen {
    /// How often somebody sent something after an answer, or at first: what comes before the next answer is one trip.
    trips: AtomicU64,
    /// How often a script was called.
    scripts: AtomicU64,
    /// What is done before the last of this many trips.
    meanwhile: Mutex<Option<(u64, Meanwhile)>>,
}

impl Seen {
    /// Has something done before the last of this many trips, counted from now on.
    pub(crate) fn before(&self, trips: u64, meanwhile: Meanwhile) {
        *self.meanwhile.lock().expect("nobody panics with it") = Some((trips, meanwhile));
    }

    /// False when there were fewer.
    pub(crate) fn was_done(&self) -> bool {
        let waiting = self.meanwhile.lock().expect("nobody panics with it").take();
        waiting.is_none()
    }

    async fn trip(&self) {
        self.trips.fetch_add(1, Ordering::SeqCst);
        let due = {
            let mut meanwhile = self.meanwhile.lock().expect("nobody panics with it");
            meanwhile
                .as_mut()
                .is_some_and(|(left, _)| {
                    *left -= 1;
                    *left == 0
                })
                .then(|| meanwhile.take())
                .flatten()
        };
        if let Some((_, meanwhile)) = due {
            meanwhile.await;
        }
    }

    fn now(&self) -> (u64, u64) {
        (
            self.trips.load(Ordering::SeqCst),
            self.scripts.load(Ordering::SeqCst),
        )
    }
}

/// True for what a saver sends beside its operations, on PostgreSQL: the beginning of a connection, and the number by which
/// other programs notice changes.
fn is_aside(sent: &[u8]) -> bool {
    const RAISE: &[u8] = b"UPDATE changes SET n";
    matches!(sent.first(), Some(0 | b'p')) || sent.windows(RAISE.len()).any(|bytes| bytes == RAISE)
}

/// A wire to the server on which is counted; gives the address of its near end.
pub(crate) async fn wire(server: String, seen: Arc<Seen>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (server, seen) = (server.clone(), seen.clone());
            tokio::spawn(async move {
                let mut far = TcpStream::connect(&server).await.expect("the server");
                let mut near = near;
                let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
                let (mut asked, mut before) = (false, Vec::new());
                loop {
                    let sent = tokio::select! {
                        Ok(count @ 1..) = near.read(&mut up) => {
                            if !asked && !is_aside(&up[..count]) {
                                seen.trip().await;
                            }
                            asked = true;
                            before.extend_from_slice(&up[..count]);
                            let calls = before.windows(7).filter(|bytes| bytes == b"EVALSHA").count();
                            seen.scripts.fetch_add(calls as u64, Ordering::SeqCst);
                            // A word may be cut in two.
                            before.drain(..before.len().saturating_sub(6));
                            far.write_all(&up[..count]).await
                        }
                        Ok(count @ 1..) = far.read(&mut down) => {
                            asked = false;
                            near.write_all(&down[..count]).await
                        }
                        else => return,
                    };
                    if sent.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// What a task says, and the checkpoint that follows from it.
fn turn(thread: &str, parent: &Checkpoint, n: u64, times: usize) -> Commit {
    let text = format!("what is said in turn {n}, long enough to be kept apart: ").repeat(times);
    let write = Write {
        idx: 0,
        channel: "log".into(),
        value: json!([text]),
    };
    Commit {
        claim: None,
        thread: thread.into(),
        ns: "".into(),
        writes: vec![TaskWrites {
            checkpoint_id: parent.id.clone(),
            task_id: TaskId::from(format!("task {n}")),
            task_path: "node".into(),
            writes: vec![write],
        }],
        put: Some(Draft::after(parent, id(n)).append("log", vec![json!(text)]).put()),
    }
}

/// Stores turns one after the other.
async fn turns(saver: &dyn Checkpointer, from: Checkpoint, numbers: std::ops::Range<u64>) -> Checkpoint {
    let mut last = from;
    for n in numbers {
        let commit = turn("t", &last, n, 12);
        let next = commit.put.as_ref().map(|put| put.checkpoint.clone());
        saver.commit(commit).await.expect("stores");
        last = next.expect("a checkpoint");
    }
    last
}

async fn root(saver: &dyn Checkpointer, thread: &str) -> Checkpoint {
    let root = Draft::root(id(1)).set("log", json!([]));
    root.store(saver, thread, "").await.expect("stores")
}

async fn counted(backend: Backend) {
    let Some(place) = Place::of(backend) else { return };
    let seen = Arc::new(Seen::default());
    let host = host_of(&place.url).to_owned();
    let near = wire(host.clone(), seen.clone()).await;
    let saver = open(&place.url.replace(&host, &near)).await.expect("opens");
    // The first ones make names, prepare statements and take numbers.
    let last = turns(&*saver, root(&*saver, "t").await, 2..20).await;
    // Other programs have been notified of these.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let ((before, _), began) = (seen.now(), Instant::now());
    turns(&*saver, last, 20..120).await;
    let (after, _) = seen.now();
    // Beside the commits, others are notified of them a few times a second.
    let notices = match backend {
        Backend::Postgres => 1 + began.elapsed().as_millis() as u64 / 200,
        _ => 0,
    };
    // Now and then numbers for more rows are taken.
    let took = after - before;
    assert!(
        (100..=102 + notices).contains(&took),
        "{backend:?}: 100 commits took {took} round trips"
    );

    // Many threads at once do not forget each other.
    const THREADS: u64 = 1500;
    let names: Vec<String> = (0..THREADS).map(|n| format!("thread {n}")).collect();
    let roots = join_all(names.iter().map(|name| root(&*saver, name))).await;
    let (before, calls) = seen.now();
    let next = names.iter().zip(&roots);
    let stored = join_all(next.map(|(name, root)| saver.commit(turn(name, root, 2, 12)))).await;
    for outcome in stored {
        outcome.expect("stores");
    }
    let (after, all_calls) = seen.now();
    match backend {
        // Those of a thread are a call of their own, and many are on their way at once.
        Backend::Redis => assert_eq!(all_calls - calls, THREADS, "{backend:?}: nothing is asked for"),
        // What comes together is one statement.
        _ => assert!(
            after - before < THREADS / 5,
            "{backend:?}: {THREADS} commits that come together took {} round trips",
            after - before
        ),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_on_postgres_is_one_round_trip() {
    counted(Backend::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_on_redis_is_one_round_trip() {
    counted(Backend::Redis).await;
}

/// Writes for checkpoints that are not stored yet, because they come with them, find them: however many come together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_together_builds_on_each_other() {
    for &backend in Backend::ALL {
        let Some(place) = Place::of(backend) else { continue };
        let saver = place.open().await.expect("opens");
        let first = root(&*saver, "t").await;
        let (mut commits, mut made) = (Vec::new(), vec![first]);
        for n in 2..1300 {
            // The writes of a checkpoint come after the next one has come.
            let mut commit = turn("t", &made[made.len() - 1], n, 1);
            let late = std::mem::take(&mut commit.writes);
            made.extend(commit.put.as_ref().map(|put| put.checkpoint.clone()));
            commits.push(commit);
            commits.push(Commit {
                claim: None,
                thread: "t".into(),
                ns: "".into(),
                writes: late,
                put: None,
            });
        }
        let outcome = saver.commit_all(commits).await;
        outcome.unwrap_or_else(|error| panic!("{backend:?}: {error}"));
        for checkpoint in [&made[0], &made[1022], &made[1023], &made[1024], &made[1290]] {
            let found = saver.get(&"t".into(), "", Some(&checkpoint.id)).await;
            let found = found.expect("reads").expect("is there");
            assert_eq!(&found.checkpoint, checkpoint, "{backend:?}");
            assert_eq!(found.pending_writes.len(), 1, "{backend:?}");
        }
    }
}
