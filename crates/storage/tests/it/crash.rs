//! A process that commits is killed at random moments; whatever it acknowledged must be there, and the file sound.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{Checkpoint, Commit, ListQuery, TaskId, TaskWrites, Write};
use superstep::{CheckpointId, Checkpointer, json};
use superstep_storage::SqliteSaver;
use superstep_suites::Draft;

const FILE: &str = "SUPERSTEP_CRASH_TEST_FILE";
const THREADS: u64 = 4;
const KILLS: usize = 25;

fn id(n: u64) -> CheckpointId {
    superstep_suites::id(n + 1)
}

fn child_of(parent: Option<&Checkpoint>, n: u64) -> Draft {
    match parent {
        Some(parent) => Draft::after(parent, id(n)),
        None => Draft::root(id(n)),
    }
    .set("n", n)
    .append(
        "log",
        vec![json!({"n": n, "text": "x".repeat((n % 50) as usize)})],
    )
}

fn write_of(checkpoint: &Checkpoint, n: u64) -> TaskWrites {
    TaskWrites {
        checkpoint_id: checkpoint.id.clone(),
        task_id: TaskId::new(format!("task {n}")),
        task_path: "p".into(),
        writes: vec![Write {
            idx: 0,
            channel: "n".into(),
            value: json!(n),
        }],
    }
}

/// Not a test of its own: the body of the process that is killed. Without the variable it does nothing.
#[test]
fn victim() {
    let Ok(file) = std::env::var(FILE) else { return };
    let saver = Arc::new(SqliteSaver::open(file).expect("the database opens after a crash"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let lines = (0..THREADS).map(|thread| tokio::spawn(commits(saver.clone(), thread)));
        for line in lines.collect::<Vec<_>>() {
            line.await.expect("the line goes on until it is killed");
        }
    });
}

/// Goes on from where the thread stands, printing each commit after it was acknowledged.
async fn commits(saver: Arc<SqliteSaver>, thread: u64) {
    let name = format!("thread {thread}");
    let newest = saver
        .get(&name.as_str().into(), "", None)
        .await
        .expect("readable");
    let mut last = newest.map(|tuple| tuple.checkpoint);
    let mut n = last.as_ref().map_or(0, |last| {
        last.channel_values["n"].as_i64().expect("a number") as u64 + 1
    });
    loop {
        let put = child_of(last.as_ref(), n).put();
        let writes = last.iter().map(|last| write_of(last, n)).collect();
        let checkpoint = put.checkpoint.clone();
        let commit = Commit {
            claim: None,
            thread: name.as_str().into(),
            ns: "".into(),
            writes,
            put: Some(put),
        };
        saver.commit(commit).await.expect("the commit succeeds");
        // One write call a line: a line is either there or not.
        std::io::stdout()
            .write_all(format!("\nack {thread} {n}\n").as_bytes())
            .expect("the parent listens");
        last = Some(checkpoint);
        n += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_kills() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("crash.db");
    let random = RandomState::new();
    let mut acknowledged = BTreeMap::new();
    for kill in 0..KILLS {
        let random = random.hash_one(kill);
        // One in eight dies while it opens the file, where it repairs what the kill before left; the others at work.
        let moment = match random % 8 {
            0 => Moment::After(Duration::from_millis(random / 8 % 30)),
            _ => Moment::Acknowledged(random / 8 % 60 + 1),
        };
        for (thread, n) in run_and_kill(&file, &moment) {
            acknowledged.insert(thread, n);
        }
        check(&file, &acknowledged, false).await;
    }
    check(&file, &acknowledged, true).await;
    let total: u64 = acknowledged.values().map(|newest| newest + 1).sum();
    println!("{KILLS} kills, {total} acknowledged checkpoints, all there");
    assert!(
        total > KILLS as u64,
        "the process hardly got to work: {total} checkpoints"
    );
}

/// When the process is killed: some time after its start, or once it has acknowledged as many commits.
enum Moment {
    After(Duration),
    Acknowledged(u64),
}

/// The commits that the process acknowledged before it was killed.
fn run_and_kill(file: &Path, moment: &Moment) -> Vec<(u64, u64)> {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["crash::victim", "--exact", "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test starts again");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let (count, counted) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let parse = |line: String| {
            let mut words = line
                .strip_prefix("ack ")?
                .split(' ')
                .map(|word| word.parse().ok());
            Some((words.next()??, words.next()??))
        };
        let lines = output.lines().map_while(Result::ok).filter_map(parse);
        lines.inspect(|_| _ = count.send(())).collect()
    });
    match moment {
        Moment::After(time) => std::thread::sleep(*time),
        // A process that ended by itself says no more, and is found out by what it left.
        Moment::Acknowledged(number) => _ = (0..*number).try_for_each(|_| counted.recv()),
    }
    // SIGKILL on Unix: nothing in the process gets a chance to tidy up.
    child.kill().expect("the process can be killed");
    child.wait().expect("the process ends");
    reader.join().expect("its output was read")
}

/// The file is sound; the newest acknowledged checkpoint of every thread (or all of them) is there and right.
async fn check(file: &Path, acknowledged: &BTreeMap<u64, u64>, all: bool) {
    if !file.exists() {
        assert!(
            acknowledged.is_empty(),
            "something was acknowledged and there is no file"
        );
        return;
    }
    let saver = SqliteSaver::open(file).expect("the database opens after a crash");
    for (thread, newest) in acknowledged {
        let name = format!("thread {thread}");
        let limit = if all { None } else { Some(20) };
        let query = ListQuery::new().thread(name.as_str()).limit(limit);
        let tuples = saver.list(&query).await.expect("readable");
        let by_id: BTreeMap<&str, _> = tuples
            .iter()
            .map(|tuple| (tuple.checkpoint.id.as_str(), tuple))
            .collect();
        // A few may have been stored and killed before they were acknowledged.
        let oldest = if all { 0 } else { newest.saturating_sub(10) };
        for n in oldest..=*newest {
            let tuple = by_id.get(id(n).as_str());
            let tuple = tuple.unwrap_or_else(|| panic!("acknowledged checkpoint {n} of {name} is lost"));
            assert_eq!(tuple.checkpoint.channel_values["n"], json!(n), "{name} {n}");
            let log = tuple.checkpoint.channel_values["log"]
                .as_array()
                .expect("a list")
                .len() as u64;
            assert_eq!(log, n + 1, "{name} {n} has its whole list");
            if n < *newest {
                assert_eq!(
                    tuple.pending_writes.len(),
                    1,
                    "{name} {n} has the write that led on"
                );
            }
        }
    }
    drop(saver);
    let conn = rusqlite::Connection::open(file).expect("opens");
    let integrity: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checks");
    assert_eq!(integrity, "ok");
}
