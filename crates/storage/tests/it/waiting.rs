//! Questions that wait, where two programs work at once: what the index says must be what the tasks say, no matter which came first.

use std::sync::Arc;

use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, Commit, Coordination, ListQuery, TaskWrites, Waiting, WaitingQuery, Write,
    reserved, write_index,
};
use superstep::value::Object;
use superstep::{Checkpointer, Value, json};
use superstep_storage::{PostgresSaver, RedisSaver, SqliteOptions, SqliteSaver, Synchronous};
use superstep_suites::{Draft, id};
use superstep_test_servers::{Postgres, Redis};

fn writes(of: &Checkpoint, task: &str, channel: &str, value: Value) -> TaskWrites {
    TaskWrites {
        checkpoint_id: of.id.clone(),
        task_id: task.into(),
        task_path: format!("path {task}").as_str().into(),
        writes: vec![Write {
            idx: write_index(channel, 0),
            channel: channel.into(),
            value,
        }],
    }
}

fn commit(thread: &str, writes: Vec<TaskWrites>) -> Commit {
    Commit {
        claim: None,
        thread: thread.into(),
        ns: "".into(),
        writes,
        put: None,
    }
}

/// What heads say, which is what the tasks say.
async fn by_heads(saver: &dyn Checkpointer, threads: &[String]) -> Vec<(String, String, u32)> {
    let mut found = Vec::new();
    for thread in threads {
        let query = ListQuery::new().thread(thread.as_str()).ns("");
        let heads = saver.heads(&query).await.expect("reads");
        let asking = heads.into_iter().filter(|head| head.interrupted > 0);
        found.extend(asking.map(|head| (head.id.to_string(), thread.clone(), head.interrupted)));
    }
    found.sort();
    found
}

async fn by_index(saver: &dyn Checkpointer) -> Vec<(String, String, u32)> {
    let all = saver.waiting(&WaitingQuery::default()).await.expect("lists");
    let tasks: u64 = all.iter().map(|one| u64::from(one.tasks)).sum();
    assert_eq!(saver.count_waiting().await.expect("counts"), tasks);
    let brief = |one: Waiting| (one.checkpoint.to_string(), one.thread.to_string(), one.tasks);
    all.into_iter().map(brief).collect()
}

/// Two programs write what begins and ends the waiting of the same tasks, at the same time.
async fn race(programs: [Arc<dyn Checkpointer>; 2], rounds: u64) {
    let channels = [
        reserved::INTERRUPT,
        reserved::WITHDRAWN,
        reserved::ASKED_AGAIN,
        reserved::NO_WRITES,
        reserved::RESUME,
    ];
    let mut threads = Vec::new();
    let mut waited = 0;
    for round in 0..rounds {
        let thread = format!("thread {round}");
        let cp = Draft::root(id(1000 - round)).set("x", 0);
        let cp = cp.store(&*programs[0], &thread, "").await.expect("stores");
        let asked = ["a", "b", "c"].map(|task| writes(&cp, task, reserved::INTERRUPT, json!(["?"])));
        programs[0]
            .commit(commit(&thread, asked.into()))
            .await
            .expect("stores");
        threads.push(thread.clone());
        let line = |program: usize| {
            let (saver, cp, thread) = (programs[program].clone(), cp.clone(), thread.clone());
            async move {
                let mut state = round * 2 + program as u64 + 1;
                for step in 0..6_u64 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let task = ["a", "b", "c", "d"][(state >> 33) as usize % 4];
                    // What finishes a task comes last, or nothing else would be seen.
                    let count = if step < 4 { 3 } else { 5 };
                    let channel = channels[(state >> 40) as usize % count];
                    let put = (state >> 50).is_multiple_of(3).then(|| {
                        let n = 10_000 + round * 100 + step * 2 + program as u64;
                        Draft::after(&cp, id(n)).set("x", n).put()
                    });
                    let commit = Commit {
                        claim: None,
                        put,
                        ..commit(&thread, vec![writes(&cp, task, channel, json!(step))])
                    };
                    saver.commit(commit).await.expect("stores");
                }
            }
        };
        tokio::join!(line(0), line(1));
        let last = &threads[threads.len() - 1..];
        waited += by_heads(&*programs[0], last).await.len();
    }
    assert!(waited > 0, "something waits in the end");
    for saver in &programs {
        assert_eq!(by_index(&**saver).await, by_heads(&**saver, &threads).await);
        let integrity = saver.verify(false).await.expect("checks");
        assert!(integrity.is_sound(), "{integrity:?}");
    }
    // One removes while the other asks.
    for (n, thread) in threads.iter().cloned().enumerate() {
        let (one, other) = (programs[0].clone(), programs[1].clone());
        let root = superstep::ThreadId::from(thread.as_str());
        let cp = id(1000 - n as u64);
        let asks = async {
            let again = TaskWrites {
                checkpoint_id: cp,
                ..writes(
                    &Draft::root(id(1)).put().checkpoint,
                    "e",
                    reserved::INTERRUPT,
                    json!(["?"]),
                )
            };
            // Refused where the thread is gone already.
            let _ = other.commit(commit(&thread, vec![again])).await;
        };
        let (deleted, ()) = tokio::join!(one.delete_thread(&root), asks);
        deleted.expect("deletes");
    }
    for saver in &programs {
        assert_eq!(by_index(&**saver).await, by_heads(&**saver, &threads).await);
        assert!(saver.verify(false).await.expect("checks").is_sound());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_on_one_sqlite_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = || {
        let options = SqliteOptions::default().synchronous(Synchronous::Normal);
        Arc::new(SqliteSaver::open_with(folder.path().join("two.db"), options).expect("opens"))
    };
    race([open(), open()], 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_on_one_postgres() {
    let Some(server) = Postgres::start() else { return };
    let open = async || Arc::new(PostgresSaver::open(server.url()).await.expect("opens"));
    race([open().await, open().await], 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_on_one_redis() {
    let Some(server) = Redis::start() else { return };
    let open = async || Arc::new(RedisSaver::open(server.url()).await.expect("opens"));
    race([open().await, open().await], 40).await;
}

#[tokio::test]
async fn what_is_withdrawn_is_asked_no_more_and_says_why() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saver = SqliteSaver::open(folder.path().join("one.db")).expect("opens");
    let cp = Draft::root(id(1)).store(&saver, "t", "").await.expect("stores");
    let question = json!([{"value": "how?", "id": "0123456789abcdef0123456789abcdef"}]);
    let asked = commit("t", vec![writes(&cp, "a", reserved::INTERRUPT, question)]);
    saver.commit(asked).await.expect("stores");
    let note: Object = [("why", "nobody is there")].into_iter().collect();
    for wanted in [1, 0] {
        let withdrawn =
            superstep::inspect::withdraw(&saver, &"t".into(), &cp.id, None, note.clone(), None).await;
        assert_eq!(withdrawn.expect("withdraws"), wanted);
    }
    assert_eq!(saver.count_waiting().await.expect("counts"), 0);
    let found = {
        let of = [CheckpointAddress::new("t", "", cp.id.clone())];
        saver.writes(&of).await.expect("reads").concat()
    };
    assert_eq!(
        found[0].write.value,
        Value::Object(note),
        "it is the first by its place"
    );
}
