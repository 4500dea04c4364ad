//! The Redis backend on a real server: the engine's suite, also with a new connection before each read, several programs
//! on one server, and a server that goes away.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Integrity, Keep, ListQuery, Maintenance, PendingWrite, Progress, Pruning, Removal,
    StorageError, TaskId, TaskWrites, ThreadBreakdown, ThreadQuery, ThreadSummary, Usage, Waiting,
    WaitingQuery, Write,
};
use superstep::store::{StoreConfig, StoreOp, StoreQuery, Ttl};
use superstep::{CheckpointId, Checkpointer, Store, ThreadId, json};
use superstep_storage::{RedisSaver, RedisStore};
use superstep_suites::{Draft, id};
use superstep_test_servers::Redis;

fn accepted(report: &superstep_suites::Report) {
    println!("{report}");
    assert!(report.is_ok(), "{report}");
    assert!(
        report.passed.len() > 50,
        "the suite has shrunk: {} cases",
        report.passed.len()
    );
}

/// Gives each case keys of its own.
struct Prefixes {
    url: String,
    next: AtomicUsize,
}

impl Prefixes {
    fn new(server: &Redis) -> Self {
        Self {
            url: server.url().to_owned(),
            next: AtomicUsize::new(0),
        }
    }

    fn url(&self) -> String {
        format!(
            "{}?prefix=case{}",
            self.url,
            self.next.fetch_add(1, Ordering::Relaxed)
        )
    }
}

async fn open(url: &str) -> RedisSaver {
    RedisSaver::open(url).await.expect("the server can be used")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite() {
    let Some(server) = Redis::start() else { return };
    let prefixes = Prefixes::new(&server);
    let make = async || Arc::new(open(&prefixes.url()).await) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted(&report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims() {
    let Some(server) = Redis::start() else { return };
    let prefixes = Prefixes::new(&server);
    let report =
        superstep_suites::run_claims(async || Arc::new(open(&prefixes.url()).await) as Arc<dyn Checkpointer>);
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 20, "the suite has shrunk: {report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes() {
    let Some(server) = Redis::start() else { return };
    let prefixes = Prefixes::new(&server);
    let program = async |url: &str| {
        let saver = open(url).await;
        let store = Arc::new(saver.store(StoreConfig::default()).await.expect("opens"));
        superstep_suites::Program {
            saver: Arc::new(saver),
            store,
        }
    };
    let report = superstep_suites::run_two_programs(async || {
        let url = prefixes.url();
        [program(&url).await, program(&url).await]
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 5, "the suite has shrunk: {report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_with_two_programs() {
    let Some(server) = Redis::start() else { return };
    let prefixes = Prefixes::new(&server);
    let make = async || {
        let url = prefixes.url();
        let both = [open(&url).await, open(&url).await];
        Arc::new(Turns(both, AtomicUsize::new(0))) as Arc<dyn Checkpointer>
    };
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted(&report);
}

/// Writes with one program and reads with the other, which takes over the writing now and then.
#[derive(Debug)]
struct Turns([RedisSaver; 2], AtomicUsize);

impl Turns {
    fn writer(&self) -> &RedisSaver {
        &self.0[usize::from(self.1.load(Ordering::Relaxed) % 7 > 3)]
    }
    fn reader(&self) -> &RedisSaver {
        let turn = self.1.fetch_add(1, Ordering::Relaxed);
        &self.0[usize::from(turn % 7 <= 3)]
    }
}

#[async_trait]
impl Checkpointer for Turns {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        self.writer().commit(commit).await
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        self.reader().get(thread, ns, id).await
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.reader().list(query).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.reader().heads(query).await
    }
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        self.reader().threads(query).await
    }
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.writer().delete_thread(thread).await
    }
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.writer().copy_thread(from, to).await
    }
    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        self.reader().writes(of).await
    }
    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }
}

#[async_trait]
impl Coordination for Turns {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        self.reader().claims(threads).await
    }
    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        self.reader().waiting(query).await
    }
    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.reader().count_waiting().await
    }
    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        self.writer().delete_claimed(thread, by).await
    }
}

#[async_trait]
impl Maintenance for Turns {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        self.writer().prune_watched(pruning, progress).await
    }
    async fn usage(&self) -> Result<Usage, StorageError> {
        self.reader().usage().await
    }
    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        self.reader().breakdown(thread).await
    }
    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        self.writer().verify_watched(repair, progress).await
    }
}

async fn grown(saver: &dyn Checkpointer, thread: &str, count: u64) -> Vec<Checkpoint> {
    let root = Draft::root(id(1))
        .set("log", json!([]))
        .store(saver, thread, "")
        .await;
    let mut made = vec![root.expect("stores")];
    for n in 2..=count {
        let last = &made[made.len() - 1];
        let draft = Draft::after(last, id(n))
            .append("log", vec![json!(n)])
            .set("n", n);
        made.push(draft.store(saver, thread, "").await.expect("stores"));
    }
    made
}

async fn newest(saver: &dyn Checkpointer, thread: &str) -> Option<Checkpoint> {
    let found = saver.get(&thread.into(), "", None).await.expect("readable");
    found.map(|tuple| tuple.checkpoint)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_leaves_nothing_behind_and_says_what_goes() {
    let Some(server) = Redis::start() else { return };
    let saver = open(server.url()).await;
    let made = grown(&saver, "t", 300).await;
    let task = TaskWrites {
        checkpoint_id: made[3].id.clone(),
        task_id: TaskId::new("task"),
        task_path: "p".into(),
        writes: vec![Write {
            idx: -3,
            channel: "__interrupt__".into(),
            value: json!(["q"]),
        }],
    };
    let commit = Commit {
        claim: None,
        thread: "t".into(),
        ns: "".into(),
        writes: vec![task],
        put: None,
    };
    saver.commit(commit).await.expect("stores");
    let before = saver.usage().await.expect("measures").bytes;
    let breakdown = saver.breakdown(&"t".into()).await.expect("measures");
    assert_eq!(breakdown.checkpoints.len(), 300);
    assert_eq!(
        breakdown.keys.iter().map(|key| key.versions).collect::<Vec<_>>(),
        [300, 299],
        "{:?}",
        breakdown.keys
    );
    let log = breakdown
        .keys
        .iter()
        .find(|key| &*key.key == "log")
        .expect("a key");
    assert!(
        log.whole > 5 * log.bytes,
        "a list that grows is stored as what is new: {log:?}"
    );
    let pruning = Pruning::threads(["t".into()], Keep::Newest(2)).retain([made[10].id.clone()]);
    let planned = saver.prune(&pruning.clone().dry_run()).await.expect("plans");
    assert_eq!(
        saver.heads(&ListQuery::default()).await.expect("readable").len(),
        300,
        "a dry run changes nothing"
    );
    let done = saver.prune(&pruning).await.expect("prunes");
    assert_eq!(planned, done);
    assert_eq!(done.checkpoints, 297);
    assert!(done.bytes > Some(20_000), "{done:?}");
    let after = saver.usage().await.expect("measures").bytes;
    assert!(after * 3 < before, "{before} bytes before, {after} after");
    for (what, left) in [("heads", 3), ("writes", 0), ("open", 0)] {
        let key = format!("superstep:{what}:t");
        assert_eq!(command::<u64>(&server, &["HLEN", &key]).await, left, "{what}");
    }
    for kept in [&made[10], &made[298], &made[299]] {
        let tuple = saver
            .get(&"t".into(), "", Some(&kept.id))
            .await
            .expect("readable")
            .expect("there");
        assert_eq!(&tuple.checkpoint, kept);
    }
    assert!(saver.verify(false).await.expect("checks").is_sound());
    let next = Draft::after(&made[299], id(500)).append("log", vec![json!("more")]);
    let next = next.store(&saver, "t", "").await.expect("goes on");
    assert_eq!(newest(&saver, "t").await, Some(next));
    // The newest goes: the thread stands elsewhere in the list, and only there.
    let pruning = Pruning::threads(["t".into()], Keep::Nothing).retain([made[10].id.clone()]);
    saver.prune(&pruning).await.expect("prunes");
    assert_eq!(newest(&saver, "t").await.as_ref(), Some(&made[10]));
    assert_eq!(
        command::<u64>(&server, &["ZCARD", "superstep:places"]).await,
        1,
        "one place"
    );
    saver
        .prune(&Pruning::threads(["t".into()], Keep::Nothing))
        .await
        .expect("prunes");
    assert_eq!(
        without_counts(keys(&server).await),
        ["superstep:asked", "superstep:numbers", "superstep:schema"],
        "nothing is left"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_thread_is_pruned_in_rounds_while_others_are_served() {
    let Some(server) = Redis::start() else { return };
    let saver = Arc::new(open(server.url()).await);
    let root = Draft::root(id(1)).set("log", json!([]));
    let mut last = root.store(&*saver, "t", "").await.expect("stores");
    for commits in 0..60_u64 {
        let mut group = Vec::new();
        for n in 0..100 {
            let at = 2 + commits * 100 + n;
            let draft = Draft::after(&last, id(at))
                .append("log", vec![json!(at)])
                .set("n", at);
            let put = draft.put();
            last = put.checkpoint.clone();
            group.push(Commit {
                claim: None,
                thread: "t".into(),
                ns: "".into(),
                writes: vec![],
                put: Some(put),
            });
        }
        saver.commit_all(group).await.expect("stores");
    }
    let upper = ListQuery::new().thread("t").limit(3001);
    let marked = saver
        .heads(&upper)
        .await
        .expect("lists")
        .pop()
        .expect("one in the middle");
    let there = saver
        .get(&"t".into(), "", Some(&marked.id))
        .await
        .expect("readable")
        .expect("there");
    let latest = Pruning::threads(["t".into()], Keep::Latest).retain([marked.id.clone()]);
    let plan = saver.prune(&latest.clone().dry_run()).await.expect("plans");
    let before = saver.usage().await.expect("measures").bytes;
    // Every moment in which the thread is seen is a whole one.
    let (pruner, asked) = (saver.clone(), latest.clone());
    let pruning = tokio::spawn(async move { pruner.prune(&asked).await });
    let reader = open(server.url()).await;
    while !pruning.is_finished() {
        let seen = reader
            .get(&"t".into(), "", Some(&marked.id))
            .await
            .expect("readable")
            .expect("stays");
        assert_eq!(seen.checkpoint, there.checkpoint);
    }
    let went = pruning.await.expect("ends").expect("prunes");
    assert_eq!(plan, went);
    assert_eq!(went.checkpoints, 5999);
    assert!(saver.usage().await.expect("measures").bytes * 3 < before);
    assert!(saver.verify(false).await.expect("checks").is_sound());
    assert_eq!(newest(&*saver, "t").await, Some(last.clone()));
    let next = Draft::after(&last, id(9000)).append("log", vec![json!("on")]);
    let next = next.store(&*saver, "t", "").await.expect("goes on");
    assert_eq!(newest(&*saver, "t").await, Some(next));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_password_is_reported() {
    let Some(server) = Redis::start() else { return };
    let address = server.url().rsplit_once('@').expect("it has a password").1;
    let error = RedisSaver::open(&format!("redis://{address}"))
        .await
        .expect_err("refused")
        .to_string();
    assert!(error.contains("Give the user and the password"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_only_looks_makes_nothing_and_needs_no_right_to_write() {
    let Some(server) = Redis::start() else { return };
    let nothing = superstep_storage::open_existing(server.url())
        .await
        .expect("reachable");
    assert!(nothing.is_none());
    assert_eq!(keys(&server).await, [""; 0], "looking makes nothing");
    let storage = superstep_storage::open(server.url()).await.expect("opens");
    let made = grown(&*storage.checkpointer, "t", 30).await;
    drop(storage);
    let user = [
        "ACL",
        "SETUSER",
        "reader",
        "on",
        ">secret",
        "~superstep:*",
        "+@read",
        "+@scripting",
        "+@connection",
        "+info",
        "+time",
    ];
    let _: String = command(&server, &user).await;
    let (_, host) = server.url().split_once('@').expect("a password");
    let reader = format!("redis://reader:secret@{host}");
    for storage in [
        superstep_storage::open_existing(&reader).await.expect("opens"),
        superstep_storage::open(&reader).await.map(Some).expect("opens"),
    ] {
        let storage = storage.expect("something is there");
        let saver = &*storage.checkpointer;
        let found = newest(saver, "t").await.expect("there");
        assert_eq!(Some(&found), made.last());
        assert_eq!(saver.threads(&Default::default()).await.expect("lists").len(), 1);
        assert_eq!(saver.heads(&ListQuery::default()).await.expect("lists").len(), 30);
        let changes = async || {
            let coordination = saver.coordination().expect("is offered");
            coordination.changes().await.expect("is read").expect("is known")
        };
        let before = changes().await;
        let refused = Draft::after(&found, id(99)).store(saver, "t", "").await;
        let error = refused.expect_err("it may not write").to_string();
        assert!(
            error.contains("NOPERM") && error.contains("Let the user"),
            "{error}"
        );
        assert_eq!(changes().await, before, "a refused commit is no change");
        command::<i64>(&server, &["INCR", "superstep:changes"]).await;
        assert_eq!(changes().await, before + 1, "who may only read notices others");
    }
}

/// Anyone who may not write cannot make anything live longer, nor tidy up, and reads all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_only_read_prolongs_no_life_and_reads() {
    let Some(server) = Redis::start() else { return };
    let url = format!("{}?ttl=5000&refresh=true", server.url());
    let writer = superstep_storage::open(&url).await.expect("opens");
    let made = grown(&*writer.checkpointer, "t", 5).await;
    grown(&*writer.checkpointer, "over", 3).await;
    let namespace = vec!["notes".to_owned()];
    let put = |key: &str, ttl: Ttl| StoreOp::Put {
        namespace: namespace.clone(),
        key: key.to_owned(),
        value: Some([("text", "a word")].into_iter().collect()),
        index: Default::default(),
        ttl,
    };
    let long = Ttl::For(Duration::from_secs(5000));
    let items = vec![
        put("mortal", long),
        put("over", Ttl::For(Duration::from_millis(1))),
    ];
    writer.store.batch(items).await.expect("puts");
    // What the server does when the time of a thread is over: its own keys go, the lists have it still.
    for kind in ["facts", "index", "heads", "values", "writes", "open"] {
        let _: i64 = command(&server, &["DEL", &format!("superstep:{kind}:over")]).await;
    }
    let _: i64 = command(&server, &["ZADD", "superstep:expiry", "1", "over"]).await;
    let _: i64 = command(&server, &["PEXPIRE", "superstep:facts:t", "4000000"]).await;
    let rights = [
        "~superstep:*",
        "+@read",
        "+@scripting",
        "+@connection",
        "+info",
        "+time",
    ];
    let user = [&["ACL", "SETUSER", "reader", "on", ">secret"][..], &rights[..]].concat();
    let _: String = command(&server, &user).await;
    let (_, host) = server.url().split_once('@').expect("a password");
    let state = async || {
        let item: String = command(&server, &["HGET", "superstep:store:items:notes", "mortal"]).await;
        let ends: Vec<String> =
            command(&server, &["ZRANGE", "superstep:expiry", "0", "-1", "WITHSCORES"]).await;
        let left: i64 = command(&server, &["PTTL", "superstep:facts:t"]).await;
        (item, ends, left <= 4_000_000)
    };
    let before = state().await;

    let url = format!("redis://reader:secret@{host}?ttl=9000&refresh=true");
    let reader = superstep_storage::open(&url).await.expect("opens");
    let saver = &*reader.checkpointer;
    assert_eq!(newest(saver, "t").await.as_ref(), made.last());
    let values = saver.values(&"t".into(), "", None, &["log".into()]).await;
    assert!(values.expect("reads").is_some());
    assert_eq!(newest(saver, "over").await, None);
    let all = ThreadQuery::default();
    let listed = saver.threads(&all).await.expect("lists");
    assert_eq!(
        listed.iter().map(|one| one.thread.as_str()).collect::<Vec<_>>(),
        ["t"]
    );
    assert_eq!(saver.count_threads(&all).await.expect("counts"), 1);
    assert_eq!(saver.heads(&ListQuery::default()).await.expect("lists").len(), 5);
    assert_eq!(saver.usage().await.expect("measures").threads.len(), 1);
    assert_eq!(
        saver
            .breakdown(&"t".into())
            .await
            .expect("measures")
            .checkpoints
            .len(),
        5
    );
    let dry = Pruning::threads(["t".into()], Keep::Latest).dry_run();
    assert_eq!(
        saver.prune(&dry).await.expect("says what would go").checkpoints,
        4
    );
    assert!(saver.verify(false).await.expect("checks").is_sound());
    let found = reader.store.get(&["notes"], "mortal").await.expect("reads");
    assert!(found.is_some(), "reading would prolong its life, and may not");
    let found = reader
        .store
        .search(StoreQuery::under(&["notes"]))
        .await
        .expect("finds");
    assert_eq!(found.len(), 1, "what is over is not seen");
    assert_eq!(reader.store.sweep().await.expect("leaves what is over"), 0);
    assert_eq!(state().await, before, "nothing lives longer");
    let error = reader.store.put(&["notes"], "new", json!({})).await;
    assert!(
        error
            .expect_err("it may not write")
            .to_string()
            .contains("Let the user")
    );

    // Who may write does both.
    assert_eq!(writer.checkpointer.count_threads(&all).await.expect("counts"), 1);
    let (_, ends, _) = state().await;
    assert!(!ends.contains(&"over".to_owned()), "{ends:?}");
    assert_eq!(writer.store.sweep().await.expect("removes"), 1);
}

/// Somebody reads an item while somebody else makes it last for ever: it does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_was_made_to_last_is_not_given_an_end_by_a_reader() {
    let Some(server) = Redis::start() else { return };
    let store = RedisStore::open(server.url(), StoreConfig::default())
        .await
        .expect("opens");
    store
        .put(&["notes"], "kept", json!({"text": "for ever"}))
        .await
        .expect("puts");
    // What a reader sends who saw the item when it still had an end.
    let script = include_str!("../../src/redis/store.lua");
    let call = [
        "EVAL",
        script,
        "3",
        "superstep:store:namespaces",
        "superstep:store:expiry",
        "superstep:store:items:notes",
        "1000",
        "1",
        "touch",
        "notes",
        "kept",
        "2000",
    ];
    let _: i64 = command(&server, &call).await;
    assert_eq!(store.sweep().await.expect("sweeps"), 0);
    assert!(store.get(&["notes"], "kept").await.expect("reads").is_some());
}

/// Without the two numbers of changes, of which the saver's own goes by itself.
fn without_counts(mut keys: Vec<String>) -> Vec<String> {
    let all = keys.len();
    keys.retain(|key| !key.starts_with("superstep:changes"));
    assert_eq!(
        all - keys.len(),
        2,
        "a number of all changes and one of the saver's"
    );
    keys
}

/// The names of all keys on the server.
async fn keys(server: &Redis) -> Vec<String> {
    let mut keys: Vec<String> = command(server, &["KEYS", "*"]).await;
    keys.sort();
    keys
}

async fn command<T: redis::FromRedisValue>(server: &Redis, words: &[&str]) -> T {
    let client = redis::Client::open(server.url()).expect("a URL");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query_async(&mut connection).await.expect("works")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_opens_often_stores_snapshots_too() {
    let Some(server) = Redis::start() else { return };
    let mut last = Draft::root(id(1)).set("n", 1).put().checkpoint;
    for n in 1..=200 {
        let saver = open(server.url()).await;
        let draft = match n {
            1 => Draft::root(id(1)).set("n", 1),
            _ => Draft::after(&last, id(n)).set("n", n),
        };
        last = draft.store(&saver, "t", "").await.expect("stores");
    }
    let records: Vec<Vec<u8>> = command(&server, &["HVALS", "superstep:heads:t"]).await;
    assert_eq!(records.len(), 200);
    let snapshots = records.iter().filter(|record| !record.starts_with(b"+")).count();
    assert!(
        (3..=20).contains(&snapshots),
        "{snapshots} of 200 stand by themselves"
    );
    assert_eq!(newest(&open(server.url()).await, "t").await, Some(last));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_is_named_and_repaired() {
    let Some(server) = Redis::start() else { return };
    let saver = open(server.url()).await;
    let made = grown(&saver, "t", 100).await;
    grown(&saver, "other", 3).await;
    let field = format!("\0{}", made[50].id);
    let _: i64 = command(
        &server,
        &["HSET", "superstep:heads:t", &field, "+nobody\n{not json"],
    )
    .await;
    let error = saver
        .get(&"t".into(), "", Some(&made[50].id))
        .await
        .expect_err("damaged")
        .to_string();
    assert!(
        error.contains(made[50].id.as_str()) && error.contains("thread t"),
        "{error}"
    );
    let early = saver
        .get(&"t".into(), "", Some(&made[5].id))
        .await
        .expect("readable")
        .expect("there");
    assert_eq!(early.checkpoint, made[5]);
    // What cannot be read of one thread does not hide the others, nor the rest of it.
    let all = ListQuery::default();
    assert_eq!(saver.heads(&all).await.expect("lists").len(), 102);
    let listed = saver.list(&all).await.expect("lists");
    let of_other = listed.iter().filter(|one| one.thread.as_str() == "other");
    assert_eq!(of_other.count(), 3);
    assert!(
        listed
            .iter()
            .any(|one| one.thread.as_str() == "t" && one.checkpoint == made[5])
    );
    let last = format!("\0{}", made[99].id);
    let sound: Vec<u8> = command(&server, &["HGET", "superstep:heads:t", &last]).await;
    let _: i64 = command(&server, &["HSET", "superstep:heads:t", &last, "{not json"]).await;
    let listed = saver.threads(&ThreadQuery::default()).await.expect("lists");
    assert_eq!(listed.len(), 1, "the list goes on beside it: {listed:?}");
    let mut back = redis::cmd("HSET");
    back.arg("superstep:heads:t").arg(&last).arg(sound);
    let client = redis::Client::open(server.url()).expect("an address");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connects");
    let _: i64 = back.query_async(&mut connection).await.expect("restores");
    let found = saver.verify(false).await.expect("checks");
    assert!(
        !found.is_sound() && found.threads == 2 && !found.repaired,
        "{found:?}"
    );
    assert!(
        found
            .damage
            .iter()
            .all(|damage| damage.thread == Some("t".into()))
    );
    let repaired = saver.verify(true).await.expect("repairs");
    assert!(repaired.repaired);
    assert!(saver.verify(false).await.expect("checks").is_sound());
    // What stands by itself, and what follows it, is not lost.
    assert_eq!(newest(&saver, "t").await, Some(made[99].clone()));
    let next = Draft::after(&made[99], id(500))
        .set("n", 1)
        .store(&saver, "t", "")
        .await;
    next.expect("the thread goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_cannot_be_read_are_found_and_quarantined() {
    let Some(server) = Redis::start() else { return };
    let saver = open(server.url()).await;
    let store = RedisStore::open(server.url(), StoreConfig::default())
        .await
        .expect("opens");
    for n in 0..1200 {
        store
            .put(&["a", "b"], &format!("key {n}"), json!({"n": n}))
            .await
            .expect("stores");
    }
    assert_eq!(saver.verify(false).await.expect("checks").items, 1200);
    let _: i64 = command(
        &server,
        &["HSET", "superstep:store:items:a.b", "key 7", "garbage"],
    )
    .await;
    assert!(store.search(StoreQuery::under(&["a"])).await.is_err());
    let found = saver.verify(true).await.expect("repairs");
    assert!(found.repaired && found.damage.len() == 1, "{found:?}");
    assert!(found.damage[0].what.contains("key 7"), "{found:?}");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    let one = StoreQuery::under(&["a"]).limit(2000);
    assert_eq!(store.search(one).await.expect("searches").len(), 1199);
    let quarantined = store
        .get(&["damaged", "a", "b"], "key 7")
        .await
        .expect("reads")
        .expect("is kept");
    assert_eq!(json!(quarantined.value), json!({"stored": "garbage"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_with_a_time_to_live_go_and_leave_the_lists() {
    let Some(server) = Redis::start() else { return };
    let saver = open(&format!("{}?ttl=4&refresh=true", server.url())).await;
    grown(&saver, "idle", 3).await;
    grown(&saver, "read", 3).await;
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(5500) {
        assert!(
            newest(&saver, "read").await.is_some(),
            "a thread that is read lives on"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(newest(&saver, "idle").await, None);
    let names = |threads: Vec<ThreadSummary>| {
        threads
            .into_iter()
            .map(|t| t.thread.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(saver.threads(&ThreadQuery::default()).await.expect("lists")),
        ["read"]
    );
    assert_eq!(
        saver
            .count_threads(&ThreadQuery::default())
            .await
            .expect("counts"),
        1
    );
    // The writer remembers the thread; the server does not.
    let again = Draft::root(id(1))
        .set("n", 0)
        .store(&saver, "idle", "")
        .await
        .expect("stores");
    assert_eq!(newest(&saver, "idle").await, Some(again));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_restarts_or_dies_loses_nothing_acknowledged() {
    let Some(server) = Redis::start() else { return };
    let saver = open(server.url()).await;
    let mut last = Draft::root(id(1))
        .set("n", 1)
        .store(&saver, "t", "")
        .await
        .expect("stores");
    for round in 0..3_u64 {
        for n in 0..20 {
            let draft = Draft::after(&last, id(2 + round * 20 + n))
                .set("n", n)
                .append("log", vec![json!(n)]);
            last = draft.store(&saver, "t", "").await.expect("stores");
        }
        match round {
            0 => server.restart(),
            1 => {
                server.kill();
                server.restart();
            }
            _ => server.stop(),
        }
        if round < 2 {
            assert_eq!(
                newest(&saver, "t").await.as_ref(),
                Some(&last),
                "after round {round}"
            );
        }
    }
    let began = Instant::now();
    let refused = Draft::after(&last, id(999)).store(&saver, "t", "").await;
    let refused = refused.expect_err("there is no server").to_string();
    assert!(
        refused.contains("127.0.0.1") && refused.contains("Check that the server runs"),
        "{refused}"
    );
    assert!(
        !refused.contains(server.url().split('@').next().expect("a URL")),
        "no password: {refused}"
    );
    println!("gave up after {:?}", began.elapsed());
    server.restart();
    assert_eq!(
        newest(&saver, "t").await,
        Some(last.clone()),
        "all that was acknowledged"
    );
    let next = Draft::after(&last, id(1000))
        .store(&saver, "t", "")
        .await
        .expect("goes on");
    assert_eq!(newest(&saver, "t").await, Some(next));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_server_refuses_and_stays_readable() {
    let Some(server) = Redis::start_with(&[("maxmemory", "3mb")]) else {
        return;
    };
    let saver = open(server.url()).await;
    let mut last = Draft::root(id(1))
        .set("n", 1)
        .store(&saver, "t", "")
        .await
        .expect("stores");
    let error = loop {
        let n = last.metadata.step.unsigned_abs() + 3;
        assert!(n < 10_000, "the server never filled");
        let draft = Draft::after(&last, id(n)).set("text", "x".repeat(20_000) + &n.to_string());
        match draft.store(&saver, "t", "").await {
            Ok(stored) => last = stored,
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("no memory left"), "{error}");
    assert_eq!(newest(&saver, "t").await.as_ref(), Some(&last));
    saver.delete_thread(&"t".into()).await.expect("room is made");
    // Redis gives memory back in the background.
    let began = Instant::now();
    while let Err(error) = Draft::root(id(1)).set("n", 2).store(&saver, "t", "").await {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "no room again: {error}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_refused() {
    let Some(server) = Redis::start() else { return };
    let wrong = server.url().replace("redis://:", "redis://:wrong");
    let error = RedisSaver::open(&wrong)
        .await
        .expect_err("a wrong password")
        .to_string();
    assert!(error.contains("password"), "{error}");
    let (server_only, _) = server.url().rsplit_once('/').expect("a database");
    for (url, cause, remedy) in [
        (
            wrong.clone(),
            "Password authentication failed. Give",
            "the user and the password",
        ),
        (
            format!("{server_only}/99"),
            "DB index is out of range. Name",
            "from 0 to 15",
        ),
        (
            format!("{server_only}/x"),
            "Invalid database number. Write",
            "redis://[[user:]password@]host",
        ),
        (
            server.url().replace("redis:", "rediss:"),
            "could be understood in time. Check",
            "write redis:// with one s",
        ),
    ] {
        let error = RedisSaver::open(&url).await.expect_err("refused").to_string();
        assert!(error.contains(cause) && error.contains(remedy), "{error}");
    }
    for query in ["ttl=soon", "ttl=0", "prefix=", "colour=red"] {
        let error = RedisSaver::open(&format!("{}?{query}", server.url()))
            .await
            .expect_err("nonsense")
            .to_string();
        assert!(error.contains(query), "{error}");
    }
    let _: String = command(&server, &["SET", "superstep:schema", "9"]).await;
    let error = RedisSaver::open(server.url()).await.expect_err("newer");
    assert!(
        matches!(
            error,
            StorageError::NewerSchema {
                found: 9,
                supported: 3,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_of_stores() {
    let Some(server) = Redis::start() else { return };
    let prefixes = Prefixes::new(&server);
    let report = superstep_suites::store::run(async |config| {
        let store = RedisStore::open(&prefixes.url(), config).await;
        Arc::new(store.expect("the server can be used")) as Arc<dyn Store>
    });
    let report = report.await;
    println!("{report}");
    assert!(report.is_ok() && report.passed.len() > 40, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_emptied_leaves_nothing_behind() {
    let Some(server) = Redis::start() else { return };
    let store = RedisStore::open(server.url(), StoreConfig::default())
        .await
        .expect("opens");
    for n in 0..3 {
        let minute = Ttl::For(Duration::from_secs(60));
        let put = StoreOp::put(&["a", "b"], format!("key {n}"), json!({"n": n})).expect("an object");
        store.batch(vec![put.living(minute)]).await.expect("stores");
    }
    server.kill();
    server.restart();
    let found = store.search(StoreQuery::under(&["a"])).await.expect("searches");
    assert_eq!(found.len(), 3, "what was acknowledged is there");
    for n in 0..3 {
        store
            .delete(&["a", "b"], &format!("key {n}"))
            .await
            .expect("deletes");
    }
    assert_eq!(without_counts(keys(&server).await), ["superstep:schema"]);
}
