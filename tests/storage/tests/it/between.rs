//! What another program does between two messages of an operation: before each of them in turn, a checkpoint is added to
//! the thread that is copied or pruned.

use std::sync::Arc;
use std::time::Duration;

use superstep::{Checkpointer, Keep, ListQuery, Pruning, ThreadId};
use superstep_storage_tests::probe::{read, store};
use superstep_storage_tests::{Backend, open};

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::network::host_of;
use super::trips::{Seen, wire};

const PATIENCE: Duration = Duration::from_millis(60);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Copy,
    CopyOnto,
    Prune,
}

/// The numbers of a thread's checkpoints, the newest first; the list of threads must show the first of them.
async fn steps(saver: &dyn Checkpointer, thread: &ThreadId) -> Vec<i64> {
    let query = ListQuery {
        thread: Some(thread.clone()),
        ..ListQuery::default()
    };
    let found = saver.heads(&query).await.expect("reads");
    let shown = saver.threads(&Default::default()).await.expect("reads");
    let shown = shown.into_iter().find(|one| one.thread == *thread);
    assert_eq!(
        shown.map(|one| one.head.id),
        found.first().map(|head| head.id.clone()),
        "{thread}"
    );
    found.iter().map(|head| head.metadata.step).collect()
}

async fn between(backend: Backend) {
    let Some(place) = backend.place() else { return };
    let host = host_of(&place.url).to_owned();
    let seen = Arc::new(Seen::default());
    let near = wire(host.clone(), seen.clone()).await;
    let saver = open(&place.url.replace(&host, &near)).await.expect("opens");
    let beside = place.open().await.expect("opens");
    for work in [Work::Copy, Work::CopyOnto, Work::Prune] {
        let mut trips = 0;
        loop {
            trips += 1;
            let (from, to) = (format!("{work:?} {trips}"), format!("copy {work:?} {trips}"));
            for _ in 0..4 {
                store(&*beside, &from, 3000).await.expect("stores");
            }
            let (from_id, to_id) = (ThreadId::new(&*from), ThreadId::new(&*to));
            if work == Work::CopyOnto {
                store(&*beside, &to, 10).await.expect("stores");
            }
            // Whoever works knows the threads.
            read(&*saver, &from).await.expect("reads");
            let (other, thread) = (beside.clone(), from.clone());
            let (stored, added) = oneshot::channel();
            let more = async move {
                let more = tokio::spawn(async move { stored.send(store(&*other, &thread, 3000).await) });
                // Where the other holds a lock, it has to go on first.
                let _ = timeout(PATIENCE, more).await;
            };
            seen.before(trips, Box::pin(more));
            let worked = match work {
                Work::Prune => {
                    let pruning = Pruning::threads([from_id.clone()], Keep::Newest(2));
                    saver.prune(&pruning).await.map(drop)
                }
                _ => saver.copy_thread(&from_id, &to_id).await,
            };
            let done = seen.was_done();
            if done {
                added.await.expect("is told").expect("stores");
            }
            worked.unwrap_or_else(|error| panic!("{backend:?} {work:?} {trips}: {error}"));
            let at = format!("{backend:?} {work:?}, before trip {trips}");
            for saver in [&saver, &beside] {
                let newest = if done { 4 } else { 3 };
                assert_eq!(read(&**saver, &from).await, Ok(newest), "{at}");
                let left = steps(&**saver, &from_id).await;
                if work == Work::Prune {
                    assert!(
                        left == [4, 3] || left == [4, 3, 2] || left == [3, 2],
                        "{at}: {left:?}"
                    );
                    continue;
                }
                let copied = steps(&**saver, &to_id).await;
                assert_eq!(left, (0..=newest as i64).rev().collect::<Vec<_>>(), "{at}");
                assert!(copied == left || copied == [3, 2, 1, 0], "{at}: {copied:?}");
                // Its values are whole, too; a checkpoint that stood there has others.
                read(&**saver, &to)
                    .await
                    .unwrap_or_else(|error| panic!("{at}: {error}"));
            }
            if !done {
                break;
            }
        }
        assert!(trips > 2, "{backend:?}: {work:?} has {trips} trips");
    }
    let found = beside.verify(false).await.expect("checks");
    assert!(found.is_sound(), "{:?}", found.damage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_what_others_add_between_two_messages_is_kept() {
    between(Backend::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_redis_what_others_add_between_two_messages_is_kept() {
    between(Backend::Redis).await;
}
