//! Full disks, lost permissions, other programs, clocks that go back: a clear error, nothing acknowledged lost, and
//! the thread goes on when the cause is gone.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep::checkpoint::ListQuery;
use superstep::run::{Clock, StateRef};
use superstep::{
    Branch, ChannelSpec, END, Graph, Input, NodeContext, NodeOutput, RunConfig, START, StateGraph, Target,
    Value, json,
};
use superstep_storage::Backend;
use superstep_storage_tests::Place;
use superstep_storage_tests::probe::{Probe, read, store};

const PROGRAM: &str = env!("CARGO_BIN_EXE_storage-trials");
/// The user `nobody` of every system.
const NOBODY: u32 = 65534;

/// Backends that keep files.
const FILES: [Backend; 2] = [Backend::Sqlite, Backend::File];

fn place(backend: Backend) -> Place {
    Place::of(backend).expect("it needs no server")
}

fn is_root(folder: &Path) -> bool {
    // What we made is ours; who may give it away is root.
    chown(folder, Some(NOBODY), None).is_ok()
}

/// Lets everybody in, but not change anything.
fn open_to_read(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("our folder").flatten() {
        let path = entry.path();
        let (mode, is_folder) = if path.is_dir() {
            (0o555, true)
        } else {
            (0o444, false)
        };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        if is_folder {
            open_to_read(&path);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        }
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).expect("ours");
}

/// An error for a person: what, why, and what to do.
fn clear(backend: Backend, error: &str) {
    assert!(
        error.len() > 40 && error.matches(['.', ':']).count() >= 2,
        "{backend:?} only says: {error}"
    );
    assert!(
        !error.contains("it is gone"),
        "{backend:?}: the process died: {error}"
    );
}

#[test]
fn a_full_disk() {
    for backend in FILES {
        let place = place(backend);
        let disk = place.folder().join("disk");
        std::fs::create_dir(&disk).expect("a folder");
        // A small disk that only the other process sees, and that is gone with it.
        let mut command = Command::new("unshare");
        let script = "mount -t tmpfs -o size=3m tmpfs \"$0\" && head -c 1000000 /dev/zero > \"$0/other\" && \
                      head -c 200000 /dev/zero > \"$0/more\" && exec \"$@\"";
        command
            .args(["--mount", "sh", "-c", script])
            .arg(&disk)
            .arg(PROGRAM);
        let url = format!("{}:{}", backend.scheme(), disk.join("threads").display());
        let mut probe = Probe::start(&mut command, &url).expect("unshare is part of every Linux");
        match probe.ask("open") {
            Err(message) if message.contains("it is gone") => {
                println!("skipped: a small disk cannot be mounted here");
                return;
            }
            opened => opened.expect("the disk is empty"),
        };
        probe.ask("store small 10").expect("there is room");
        let mut last = 0;
        let mut fill = |probe: &mut Probe| loop {
            match probe.ask("store big 30000") {
                Ok(n) => last = n,
                Err(error) => return (last, error),
            }
            assert!(last < 1000, "{backend:?}: the disk never filled");
        };
        let inside = |probe: &Probe, name| format!("/proc/{}/root{}", probe.id(), disk.join(name).display());
        // What was begun when there was no room is not in the way of what comes when there is some.
        let (last, _) = fill(&mut probe);
        std::fs::remove_file(inside(&probe, "more")).expect("somebody makes room");
        assert_eq!(
            probe.ask("store big 30000"),
            Ok(last + 1),
            "{backend:?}: it goes on"
        );
        let (last, error) = fill(&mut probe);
        clear(backend, &error);
        assert!(
            error.contains("space") || error.contains("full"),
            "{backend:?}: {error}"
        );
        assert!(last > 3, "{backend:?} filled the disk with {last} checkpoints");
        for again in 0..2 {
            assert_eq!(
                probe.ask("read big"),
                Ok(last),
                "{backend:?}: the last acknowledged one is there"
            );
            assert_eq!(probe.ask("read small"), Ok(0), "{backend:?}");
            assert_eq!(probe.ask("verify").map(|_| ()), Ok(()), "{backend:?}");
            assert_eq!(probe.ask("close"), Ok(0), "{backend:?}, {again}");
        }
        // To remove something takes room as well; a backend may find it or say so.
        let removed = probe.ask("delete big");
        if let Err(error) = &removed {
            clear(backend, error);
        }
        std::fs::remove_file(inside(&probe, "other")).expect("somebody makes room");
        if removed.is_err() {
            assert_eq!(
                probe.ask("store big 30000"),
                Ok(last + 1),
                "{backend:?}: it goes on"
            );
            assert_eq!(probe.ask("delete big"), Ok(0), "{backend:?}");
        }
        for n in 1..4 {
            assert_eq!(
                probe.ask("store small 10"),
                Ok(n),
                "{backend:?}: there is room again"
            );
        }
        assert_eq!(probe.ask("close"), Ok(0));
        assert_eq!(probe.ask("read small"), Ok(3), "{backend:?}");
        assert_eq!(probe.ask("verify").map(|_| ()), Ok(()), "{backend:?}");
    }
}

#[tokio::test]
async fn what_may_only_be_read() {
    for backend in FILES {
        let place = place(backend);
        let saver = place.open().await.expect("opens");
        for _ in 0..3 {
            store(&*saver, "t", 10).await.expect("stores");
        }
        drop(saver);
        let root = is_root(place.folder());
        open_to_read(place.folder());
        let mut command = Command::new(PROGRAM);
        if root {
            command.uid(NOBODY + 1);
        }
        let Ok(mut probe) = Probe::start(&mut command, &place.url) else {
            println!("skipped: another user may not run {PROGRAM}");
            return;
        };
        let files = || std::fs::read_dir(place.folder()).expect("our folder").count();
        let before = files();
        assert_eq!(probe.ask("open"), Ok(0), "{backend:?}");
        assert_eq!(probe.ask("read t"), Ok(2), "{backend:?}");
        for order in ["store t 10", "delete t"] {
            let error = probe.ask(order).expect_err("nothing may be written");
            clear(backend, &error);
            assert!(error.contains("writable"), "{backend:?}: {error}");
        }
        assert_eq!(probe.ask("read t"), Ok(2), "{backend:?}");
        assert_eq!(probe.ask("verify").map(|_| ()), Ok(()), "{backend:?}");
        drop(probe);
        assert_eq!(files(), before, "{backend:?}: nothing is left beside it");
        allow(place.folder());
        let saver = place.open().await.expect("opens again");
        assert_eq!(read(&*saver, "t").await, Ok(2), "{backend:?}");
        assert_eq!(store(&*saver, "t", 10).await.expect("goes on"), 3);
    }
}

/// Everything may be changed again.
fn allow(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).expect("ours");
    for entry in std::fs::read_dir(folder).expect("our folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            allow(&path);
        } else {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("ours");
        }
    }
}

#[tokio::test]
async fn permission_that_is_lost_while_it_works() {
    for backend in FILES {
        let place = place(backend);
        drop(place.open().await.expect("opens"));
        allow(place.folder());
        let mut command = Command::new(PROGRAM);
        if is_root(place.folder()) {
            command.uid(NOBODY);
        }
        let Ok(mut probe) = Probe::start(&mut command, &place.url) else {
            println!("skipped: another user may not run {PROGRAM}");
            return;
        };
        let mut last = probe.ask("store t 10").expect("allowed");
        open_to_read(place.folder());
        // What is open stays open, so a store may succeed; it must not succeed and be lost.
        for thread in ["t", "t", "t", "other"] {
            match probe.ask(&format!("store {thread} 10")) {
                Ok(n) if thread == "t" => last = n,
                Ok(_) => {}
                Err(error) => clear(backend, &error),
            }
        }
        assert_eq!(probe.ask("read t"), Ok(last), "{backend:?}");
        allow(place.folder());
        assert_eq!(probe.ask("close"), Ok(0));
        assert_eq!(probe.ask("read t"), Ok(last), "{backend:?}");
        assert_eq!(
            probe.ask("store t 10"),
            Ok(last + 1),
            "{backend:?} goes on when it is allowed again"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_on_one_place() {
    for backend in Backend::ALL
        .iter()
        .copied()
        .filter(|backend| backend.is_durable())
    {
        let Some(place) = Place::of(backend) else {
            continue;
        };
        let mut probe = Probe::start(&mut Command::new(PROGRAM), &place.url).expect("starts");
        assert_eq!(probe.ask("store t 10"), Ok(0), "{backend:?}");
        match place.open().await {
            // A backend of one process says so, and lets others in when it is closed.
            Err(error) => {
                clear(backend, &error.to_string());
                assert!(backend == Backend::File, "{backend:?}: {error}");
                probe.ask("close").expect("closes");
                let saver = place.open().await.expect("it is free");
                assert_eq!(read(&*saver, "t").await, Ok(0));
                clear(backend, &probe.ask("open").expect_err("it is ours now"));
            }
            Ok(saver) => {
                for n in 1..20 {
                    let stored = if n % 2 == 0 {
                        probe.ask("store t 10")
                    } else {
                        store(&*saver, "t", 10).await.map_err(|error| error.to_string())
                    };
                    assert_eq!(stored, Ok(n), "{backend:?}");
                    assert_eq!(
                        (read(&*saver, "t").await, probe.ask("read t")),
                        (Ok(n), Ok(n)),
                        "{backend:?}"
                    );
                }
                probe.ask("delete t").expect("deletes");
                assert!(
                    read(&*saver, "t").await.is_err(),
                    "{backend:?}: it is gone for both"
                );
                assert_eq!(
                    store(&*saver, "t", 10).await.expect("starts over"),
                    0,
                    "{backend:?}"
                );
            }
        }
    }
}

/// A clock that somebody sets.
#[derive(Debug)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn counting(times: u64) -> Graph {
    let count = |_: NodeContext, input: Value| async move {
        let n = input.get("n").and_then(Value::as_u64).unwrap_or(0);
        Ok(NodeOutput::update([("n", json!(n + 1)), ("log", json!([n]))]))
    };
    let again = move |_: NodeContext, state: Value| async move {
        let n = state.get("n").and_then(Value::as_u64).unwrap_or(0);
        Ok(vec![Target::node(if n.is_multiple_of(times) {
            END
        } else {
            "count"
        })])
    };
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .channel("log", ChannelSpec::append())
        .node("count", count)
        .edge(START, "count")
        .branch("count", Branch::new(again))
        .compile()
        .expect("compiles")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_set_back() {
    for backend in Backend::ALL {
        let Some(place) = Place::of(*backend) else {
            continue;
        };
        let mut saver = place.open().await.expect("opens");
        let clock = Arc::new(Hand(AtomicU64::new(1_795_000_000_000)));
        for run in 1..=3_u64 {
            let graph = counting(5)
                .with_checkpointer(saver.clone())
                .with_clock(clock.clone());
            let input = if run == 1 {
                json!({"n": 0})
            } else {
                json!({"log": []})
            };
            graph
                .invoke(Input::value(input), RunConfig::on("t"))
                .await
                .expect("runs");
            let state = graph.get_state(&StateRef::live("t")).await.expect("reads");
            assert_eq!(
                state.values.get("n"),
                Some(&json!(5 * run)),
                "{backend:?}: the newest is the newest"
            );
            let query = ListQuery::new().thread("t");
            let heads = saver.heads(&query).await.expect("lists");
            let line: Vec<_> = heads
                .windows(2)
                .map(|pair| pair[0].parent.as_ref() == Some(&pair[1].id))
                .collect();
            assert_eq!(
                line,
                vec![true; heads.len() - 1],
                "{backend:?}: the order is that of the steps"
            );
            // An hour back, and the backend forgets what it remembered of the thread.
            clock.0.fetch_sub(3_600_000, Ordering::Relaxed);
            if backend.is_durable() {
                drop(graph);
                drop(saver);
                saver = place.open().await.expect("opens again");
            }
        }
    }
}
