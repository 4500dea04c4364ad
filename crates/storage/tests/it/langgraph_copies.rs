//! Threads of LangGraph programs, copied to places of our own: checkpoint by checkpoint what the foreign reader reads, brought
//! on when the program goes on.

use std::sync::Arc;

use rusqlite::params;
use serde_json::{Value as Json, json};
use superstep::checkpoint::{CheckpointAddress, CheckpointTuple, ListQuery, ThreadQuery};
use superstep::{Checkpointer, MemorySaver, ThreadId};
use superstep_storage::transfer::{TransferError, Transferred, export, import, transfer};
use superstep_storage::{PostgresSaver, SqliteSaver};
use superstep_test_servers::Postgres;

use crate::langgraph::{Copy, MORE, RELEASES, copy_thread};

fn on(_: u64, _: u64) -> bool {
    true
}

async fn threads(saver: &dyn Checkpointer) -> Vec<ThreadId> {
    let all = saver.threads(&ThreadQuery::new()).await.expect("lists");
    all.into_iter().map(|thread| thread.thread).collect()
}

async fn copied(from: &dyn Checkpointer, to: &dyn Checkpointer, thread: &ThreadId) -> Transferred {
    transfer(from, to, thread, thread, &on).await.expect("copies")
}

/// Sorts what has no order, so that two readings can be compared.
fn comparable(mut tuple: CheckpointTuple) -> CheckpointTuple {
    tuple.pending_writes.sort_by(|a, b| {
        (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
    });
    tuple.checkpoint.next.sort();
    if let Some(updated) = &mut tuple.checkpoint.updated_channels {
        updated.sort();
    }
    tuple
}

/// Compares every checkpoint of a thread with what the foreign reader reads.
async fn assert_copied(from: &dyn Checkpointer, to: &dyn Checkpointer, thread: &ThreadId, place: &str) {
    let query = ListQuery::new().thread(thread.clone());
    let theirs = from.list(&query).await.expect("reads");
    assert_eq!(
        theirs.len(),
        to.list(&query).await.expect("reads").len(),
        "{place}"
    );
    let foreign = from.foreign().expect("another program's");
    for shown in theirs {
        let id = &shown.checkpoint.id;
        let at = CheckpointAddress::new(thread.clone(), shown.ns.clone(), id.clone());
        let whole = foreign.portable(&at).await.expect("reads").expect("there");
        let ours = to
            .get(thread, &shown.ns, Some(id))
            .await
            .expect("reads")
            .expect("copied");
        let (whole, ours) = (comparable(whole), comparable(ours));
        assert_eq!(whole.checkpoint, ours.checkpoint, "{place} {id}");
        assert_eq!(whole.pending_writes, ours.pending_writes, "{place} {id}");
        for (key, value) in &shown.checkpoint.channel_values {
            assert_eq!(
                ours.checkpoint.channel_values.get(key),
                Some(value),
                "{place} {id} {key}"
            );
        }
    }
    let summary = to.thread(thread).await.expect("reads").expect("listed");
    let theirs = from.thread(thread).await.expect("reads").expect("listed");
    assert_eq!(summary.status(), theirs.status(), "{place}");
    assert_eq!(summary.head.next.len(), theirs.head.next.len(), "{place}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_thread_is_the_same_in_every_place_of_ours() {
    let server = Postgres::start();
    for release in RELEASES.into_iter().chain([MORE]) {
        let copy = Copy::of(release);
        let theirs = copy.saver();
        let file = copy.folder.path().join("ours.db");
        let mut places: Vec<Arc<dyn Checkpointer>> = vec![
            Arc::new(MemorySaver::new()),
            Arc::new(SqliteSaver::open(file).expect("opens")),
        ];
        if let Some(server) = &server {
            let saver = PostgresSaver::open(&server.database()).await.expect("opens");
            places.push(Arc::new(saver));
        }
        for (number, ours) in places.iter().enumerate() {
            for thread in threads(&*theirs).await {
                let place = format!("{release} {number} {thread}");
                let done = copied(&*theirs, &**ours, &thread).await;
                assert!(
                    done.checkpoints > 0 && done.known == 0 && done.skipped.is_empty(),
                    "{place}: {done:?}"
                );
                assert_copied(&*theirs, &**ours, &thread, &place).await;
                // Once more changes nothing.
                let again = copied(&*theirs, &**ours, &thread).await;
                assert_eq!((again.checkpoints, again.known), (0, done.checkpoints), "{place}");
                assert_copied(&*theirs, &**ours, &thread, &place).await;
            }
            if ours.maintenance().is_some() {
                let found = ours.verify(false).await.expect("reads");
                assert!(found.is_sound(), "{release} {number}: {found:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_copy_goes_through_a_file() {
    let copy = Copy::of(MORE);
    let theirs = copy.saver();
    let ours = MemorySaver::new();
    for thread in threads(&*theirs).await {
        let mut file = Vec::new();
        export(&*theirs, &thread, &Default::default(), &mut file, &on)
            .await
            .expect("exports");
        import(&ours, &mut &file[..], None, &on).await.expect("imports");
        assert_copied(&*theirs, &ours, &thread, thread.as_str()).await;
    }
}

#[tokio::test]
async fn a_copy_is_brought_on_until_it_goes_its_own_way() {
    let copy = Copy::of("sqlite-1.2.24");
    let (theirs, ours) = (copy.saver(), MemorySaver::new());
    let conn = copy.write();
    copy_thread(&conn, "done", "live");
    // The program has come as far as its question: what came after is taken away, and comes back later.
    conn.execute_batch(
        "CREATE TABLE later_c AS SELECT * FROM checkpoints WHERE thread_id = 'live' AND checkpoint_ns = '' \
         ORDER BY checkpoint_id DESC LIMIT 2; \
         DELETE FROM checkpoints WHERE thread_id = 'live' AND checkpoint_id IN (SELECT checkpoint_id FROM later_c); \
         CREATE TABLE later_w AS SELECT * FROM writes WHERE thread_id = 'live' AND (channel IN ('__resume__', 'verdict') OR \
         checkpoint_id IN (SELECT checkpoint_id FROM later_c)); \
         DELETE FROM writes WHERE rowid IN (SELECT w.rowid FROM writes w JOIN later_w l ON w.thread_id = l.thread_id \
         AND w.checkpoint_ns = l.checkpoint_ns AND w.checkpoint_id = l.checkpoint_id AND w.task_id = l.task_id AND w.idx = l.idx)",
    )
    .expect("taken away");
    let live = ThreadId::from("live");
    let first = copied(&*theirs, &ours, &live).await;
    conn.execute_batch(
        "INSERT INTO checkpoints SELECT * FROM later_c; INSERT INTO writes SELECT * FROM later_w",
    )
    .expect("given back");
    let second = copied(&*theirs, &ours, &live).await;
    assert_eq!((second.checkpoints, second.known), (2, first.checkpoints));
    assert_copied(&*theirs, &ours, &live, "live").await;
    // A checkpoint of our own makes it a thread of ours.
    let newest = ours
        .get(&live, "", None)
        .await
        .expect("reads")
        .expect("there")
        .checkpoint;
    let own = superstep_suites::Draft::after(&newest, superstep_suites::id(9)).set("verdict", "ours");
    own.store(&ours, "live", "").await.expect("stores");
    let taken = transfer(&*theirs, &ours, &live, &live, &on)
        .await
        .expect_err("refused");
    assert!(matches!(taken, TransferError::Taken(_)), "{taken}");
}

#[tokio::test]
async fn a_copy_that_was_interrupted_goes_on_and_one_that_was_stopped_is_gone() {
    let copy = Copy::of("sqlite-1.2.24");
    let conn = copy.write();
    let theirs = copy.saver();
    let thread = ThreadId::from("forked");
    let ours = SqliteSaver::open(copy.folder.path().join("ours.db")).expect("opens");
    let stopped = transfer(&*theirs, &ours, &thread, &thread, &|done, _| done < 5).await;
    assert!(matches!(stopped, Err(TransferError::Stopped)), "{stopped:?}");
    assert!(
        ours.thread(&thread).await.expect("reads").is_none(),
        "nothing is left of it"
    );
    // A program that was killed has left what it had stored: the first checkpoints.
    let whole = copied(&*theirs, &ours, &thread).await;
    let part = SqliteSaver::open(copy.folder.path().join("part.db")).expect("opens");
    let heads = ours
        .heads(&ListQuery::new().thread(thread.clone()))
        .await
        .expect("reads");
    let mut first: Vec<_> = heads
        .iter()
        .rev()
        .take(4)
        .map(|head| head.id.as_str().to_owned())
        .collect();
    first.sort();
    drop(ours);
    let keep = first
        .iter()
        .map(|id| format!("'{id}'"))
        .collect::<Vec<_>>()
        .join(", ");
    conn.execute_batch(&format!(
        "CREATE TABLE c AS SELECT * FROM checkpoints WHERE thread_id = 'forked' AND checkpoint_id NOT IN ({keep}); \
         DELETE FROM checkpoints WHERE thread_id = 'forked' AND checkpoint_id NOT IN ({keep})"
    ))
    .expect("taken away");
    let begun = copied(&*theirs, &part, &thread).await;
    assert_eq!(begun.checkpoints, 4);
    conn.execute_batch("INSERT INTO checkpoints SELECT * FROM c")
        .expect("given back");
    // Stopped while it is brought on, it keeps what it has.
    let stopped = transfer(&*theirs, &part, &thread, &thread, &|done, _| done < 6)
        .await
        .expect("stops");
    assert!(stopped.stopped && stopped.known == 4, "{stopped:?}");
    let rest = copied(&*theirs, &part, &thread).await;
    assert_eq!(rest.known + rest.checkpoints, whole.checkpoints, "{rest:?}");
    assert!(!rest.stopped);
    assert_copied(&*theirs, &part, &thread, "resumed").await;
}

#[tokio::test]
async fn rows_that_cannot_be_read_are_named_and_left_out() {
    let copy = Copy::of("sqlite-1.2.24");
    let conn = copy.write();
    let ids: Vec<String> = {
        let mut ids = conn
            .prepare("SELECT checkpoint_id FROM checkpoints WHERE thread_id = 'done' AND checkpoint_ns = '' ORDER BY 1")
            .expect("sound");
        let ids = ids.query_map([], |row| row.get(0)).expect("read");
        ids.map(|id| id.expect("text")).collect()
    };
    let set = "UPDATE checkpoints SET checkpoint = ?2 WHERE thread_id = 'done' AND checkpoint_id = ?1";
    conn.execute(set, params![ids[1], 5]).expect("set");
    conn.execute(set, params![ids[3], &[0x81_u8, 0xa1][..]])
        .expect("set");
    // A parent that sorts after its child: the chain runs in a circle.
    let parent = "UPDATE checkpoints SET parent_checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints \
                  WHERE thread_id = 'waiting' AND checkpoint_ns = '') WHERE thread_id = 'waiting' AND checkpoint_id = \
                  (SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = 'waiting' AND checkpoint_ns = '')";
    assert_eq!(conn.execute(parent, []).expect("set"), 1);
    let (theirs, ours) = (copy.saver(), MemorySaver::new());
    let done = copied(&*theirs, &ours, &"done".into()).await;
    assert_eq!(done.skipped.len(), 2, "{done:?}");
    for (named, id) in done.skipped.iter().zip([&ids[1], &ids[3]]) {
        assert_eq!(named.id.as_str(), id.as_str(), "{}", named.cause);
        assert!(!named.cause.is_empty());
    }
    let query = ListQuery::new().thread("done").ns("");
    assert_eq!(ours.list(&query).await.expect("reads").len(), ids.len() - 2);
    let last = ours
        .get(&"done".into(), "", None)
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(
        Json::from(&last.checkpoint.channel_values["verdict"]),
        json!("paid")
    );
    copied(&*theirs, &ours, &"waiting".into()).await;
    assert_copied(&*theirs, &ours, &"waiting".into(), "a circle").await;
}
