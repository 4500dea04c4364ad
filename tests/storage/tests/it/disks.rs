//! Servers whose disk is full: a clear error, what was stored can be read, nothing acknowledged is lost, and the same
//! handle goes on when there is room again.

use superstep::checkpoint::Maintenance;
use superstep::store::StoreConfig;
use superstep::{Checkpointer, json};
use superstep_storage::{PostgresSaver, RedisSaver};
use superstep_storage_tests::Random;
use superstep_storage_tests::probe::{read, store};
use superstep_test_servers::{Postgres, Redis};

/// Stores until the server refuses; gives the newest that was acknowledged, and the error.
async fn until_refused(saver: &dyn Checkpointer) -> (u64, String) {
    let mut last = 0;
    loop {
        match store(saver, "big", 30_000).await {
            Ok(n) => last = n,
            Err(error) => return (last, error.to_string()),
        }
        assert!(last < 1000, "the disk never filled");
    }
}

fn explains(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "{word:?} is missing: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_without_room_for_tables() {
    let Some(server) = Postgres::start_on_disk(48, false) else {
        return;
    };
    let url = server.database_on_disk();
    let saver = PostgresSaver::open(&url).await.expect("opens");
    let items = saver.store(StoreConfig::default());
    superstep::Store::put(&items, &["a"], "k", json!({"n": 1}))
        .await
        .expect("there is room");
    store(&saver, "small", 10).await.expect("there is room");
    server.fill_disk(400_000);
    let (last, error) = until_refused(&saver).await;
    explains(
        &error,
        &[
            "storing a checkpoint of thread big",
            "could not extend file",
            "Free some disk space on the server",
        ],
    );
    assert!(last > 3, "{last} checkpoints filled the disk");
    for _ in 0..2 {
        assert_eq!(read(&saver, "big").await, Ok(last));
        assert_eq!(read(&saver, "small").await, Ok(0));
        let found = saver.verify(false).await.expect("checks");
        assert!(found.is_sound(), "{:?}", found.damage);
        let error = store(&saver, "big", 30_000)
            .await
            .expect_err("there is no room")
            .to_string();
        explains(&error, &["could not extend file"]);
    }
    // What the long-term memory cannot take is reported as well.
    let mut random = Random::new(1);
    let noise: String = (0..200_000)
        .map(|_| char::from(b' ' + random.below(94) as u8))
        .collect();
    let put = superstep::Store::put(&items, &["a"], "long", json!({"text": noise})).await;
    explains(
        &put.expect_err("there is no room").to_string(),
        &["could not extend file", "Free some disk space"],
    );
    let item = superstep::Store::get(&items, &["a"], "k").await.expect("reads");
    assert!(item.is_some());
    server.empty_disk();
    assert_eq!(
        store(&saver, "big", 30_000).await.expect("there is room again"),
        last + 1
    );
    server.kill();
    server.restart();
    assert_eq!(read(&saver, "big").await, Ok(last + 1));
    assert_eq!(store(&saver, "small", 10).await.expect("goes on"), 1);
    let found = saver.verify(false).await.expect("checks");
    assert!(found.is_sound(), "{:?}", found.damage);
}

/// A server that cannot write its log ends. Nobody reads then; when somebody has made room, everything is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_without_room_for_its_log() {
    let Some(server) = Postgres::start_on_disk(24, true) else {
        return;
    };
    let saver = PostgresSaver::open(&server.database()).await.expect("opens");
    store(&saver, "small", 10).await.expect("there is room");
    server.fill_disk(300_000);
    let (last, error) = until_refused(&saver).await;
    explains(&error, &["what was acknowledged is stored"]);
    server.empty_disk();
    server.restart();
    // The one that was refused may have been stored before the server ended.
    let there = read(&saver, "big").await.expect("reads");
    assert!(
        there == last || there == last + 1,
        "{last} was acknowledged, {there} is the newest"
    );
    assert_eq!(read(&saver, "small").await, Ok(0));
    assert_eq!(store(&saver, "big", 30_000).await.expect("goes on"), there + 1);
    let found = saver.verify(false).await.expect("checks");
    assert!(found.is_sound(), "{:?}", found.damage);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_without_room_for_its_file() {
    let Some(server) = Redis::start_on_disk(8) else {
        return;
    };
    let saver = RedisSaver::open(server.url()).await.expect("opens");
    store(&saver, "small", 10).await.expect("there is room");
    server.fill_disk(300_000);
    let (last, error) = until_refused(&saver).await;
    explains(
        &error,
        &[
            "MISCONF",
            "free some space there",
            "what was stored before is untouched",
        ],
    );
    for _ in 0..2 {
        assert_eq!(read(&saver, "big").await, Ok(last));
        assert_eq!(read(&saver, "small").await, Ok(0));
        let found = saver.verify(false).await.expect("checks");
        assert!(found.is_sound(), "{:?}", found.damage);
    }
    server.empty_disk();
    // It looks about once a second whether it can write again.
    let began = std::time::Instant::now();
    while let Err(error) = store(&saver, "big", 30_000).await {
        assert!(began.elapsed().as_secs() < 20, "no room again: {error}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(read(&saver, "big").await, Ok(last + 1));
    server.kill();
    server.restart();
    assert_eq!(
        read(&saver, "big").await,
        Ok(last + 1),
        "what was acknowledged meanwhile was written"
    );
    assert_eq!(store(&saver, "small", 10).await.expect("goes on"), 1);
}
