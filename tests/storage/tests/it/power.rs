//! What a power cut takes is what the disk was not asked to keep. So the calls to the system are watched: before a commit
//! is acknowledged, everything that was written for it must have been handed to the disk, names of new files included.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use superstep_storage::Backend;
use superstep_storage_tests::Place;
use superstep_storage_tests::probe::Probe;

const PROGRAM: &str = env!("CARGO_BIN_EXE_storage-trials");
const COMMITS: usize = 20;

/// What a process did, in order.
#[derive(Debug, PartialEq)]
enum Event {
    /// Something was written to a file.
    Wrote(String),
    /// A file is made.
    Made(String),
    /// A file or folder is on the disk.
    Kept(String),
    /// The caller was informed that a commit is stored.
    Acknowledged,
}

/// The path that strace shows for a file descriptor, as in `write(5</tmp/a>, …`.
fn path_of(call: &str) -> Option<&str> {
    let (_, rest) = call.split_once('<')?;
    Some(rest.split_once('>')?.0)
}

fn events(trace: &str) -> Vec<Event> {
    let mut found = Vec::new();
    // Calls that strace shows in two lines, by process.
    let mut open: HashMap<&str, &str> = HashMap::new();
    for line in trace.lines() {
        let Some((process, call)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let mut call = call.trim_start();
        if let Some(begun) = call.strip_suffix("<unfinished ...>") {
            open.insert(process, begun);
            // A write counts when it begins, a wait for the disk when it has ended.
            if call.starts_with("fsync") || call.starts_with("fdatasync") {
                continue;
            }
        } else if call.starts_with("<... ") {
            let Some(begun) = open.remove(process) else {
                continue;
            };
            if !call.contains("= 0") || !(begun.starts_with("fsync") || begun.starts_with("fdatasync")) {
                continue;
            }
            call = begun;
        }
        let name = call.split('(').next().unwrap_or_default();
        match name {
            "write" | "pwrite64" | "writev" | "ftruncate" => {
                if call.starts_with("write(1<") && call.contains("\"ok ") {
                    found.push(Event::Acknowledged);
                } else if let Some(path) = path_of(call) {
                    found.push(Event::Wrote(path.to_owned()));
                }
            }
            "fsync" | "fdatasync" => found.extend(path_of(call).map(|path| Event::Kept(path.to_owned()))),
            "openat" if call.contains("O_CREAT") => {
                let path = call.split('"').nth(1).map(str::to_owned);
                found.extend(path.map(Event::Made));
            }
            _ => {}
        }
    }
    found
}

/// Acknowledged commits, and those of them of which something was not on the disk yet.
fn judged(events: &[Event], folder: &str) -> (usize, usize) {
    let truth = |path: &&String| {
        path.starts_with(folder)
            && (path.ends_with("-wal") || path.ends_with(".jsonl"))
            && !path.ends_with("/threads.jsonl")
    };
    let (mut dirty, mut nameless, mut known) = (HashSet::new(), HashSet::new(), HashSet::new());
    let (mut acknowledged, mut unsafe_ones) = (0, 0);
    for event in events {
        match event {
            Event::Wrote(path) => dirty.extend(Some(path).filter(truth)),
            Event::Made(path) => {
                if truth(&path) && known.insert(path) {
                    nameless.insert(path.rsplit_once('/').map_or("", |(folder, _)| folder));
                }
            }
            Event::Kept(path) => {
                dirty.remove(path);
                nameless.remove(path.as_str());
            }
            Event::Acknowledged => {
                acknowledged += 1;
                unsafe_ones += usize::from(!dirty.is_empty() || !nameless.is_empty());
            }
        }
    }
    (acknowledged, unsafe_ones)
}

fn watched(backend: Backend, options: &str) -> Option<(usize, usize)> {
    let place = Place::of(backend).expect("it needs no server");
    let folder = place.folder().canonicalize().expect("our folder");
    let trace = folder.join("trace.txt");
    let url = format!("{}{options}", place.url);
    let mut command = Command::new("strace");
    let calls = "trace=write,pwrite64,writev,ftruncate,fsync,fdatasync,openat";
    command
        .args(["-f", "-y", "-s", "16", "-e", calls, "-o"])
        .arg(&trace)
        .arg(PROGRAM);
    let mut probe = match Probe::start(&mut command, &url) {
        Ok(probe) => probe,
        Err(error) => {
            let without = std::env::var_os("SUPERSTEP_WITHOUT_SERVERS").is_some_and(|value| value == "1");
            assert!(
                without,
                "strace cannot be started ({error}): apt-get install strace (`./dev test` does), or set \
                 SUPERSTEP_WITHOUT_SERVERS=1 to do without"
            );
            println!("skipped: there is no strace");
            return None;
        }
    };
    match probe.ask("open") {
        Err(message) if message.contains("it is gone") => {
            println!("skipped: processes may not be watched here");
            return None;
        }
        opened => opened.expect("opens"),
    };
    for n in 0..COMMITS {
        // Two threads, so that names of new files count as well.
        probe
            .ask(&format!("store {} 3000", if n < COMMITS / 2 { "a" } else { "b" }))
            .expect("stores");
    }
    probe.ask("close").expect("closes");
    drop(probe);
    let trace = std::fs::read_to_string(trace).expect("a trace");
    let events = events(&trace);
    // The opening and the closing are answered as well.
    let last = events
        .iter()
        .rposition(|event| *event == Event::Acknowledged)
        .expect("answers");
    let (answers, unsafe_ones) = judged(&events[..last], &folder.display().to_string());
    assert_eq!(answers, COMMITS + 1, "{backend:?}: every answer is seen");
    Some((COMMITS, unsafe_ones))
}

#[test]
fn what_is_acknowledged_is_on_the_disk() {
    for backend in [Backend::Sqlite, Backend::File] {
        for options in ["", "?synchronous=full"] {
            let Some((_, unsafe_ones)) = watched(backend, options) else {
                return;
            };
            assert_eq!(
                unsafe_ones, 0,
                "{backend:?} {options}: commits that a power cut takes"
            );
        }
        let Some((commits, unsafe_ones)) = watched(backend, "?synchronous=normal") else {
            return;
        };
        assert!(
            unsafe_ones > commits / 2,
            "{backend:?}: who does not wait for the disk is seen by this test: {unsafe_ones} of {commits}"
        );
    }
}
