//! What the small numbers in a history stand for.

use superstep::checkpoint::reserved;
use superstep::{Name, ThreadId};

/// Thread ids that a backend may stumble over: wildcards, separators, places in a file system, length.
const THREADS: [&str; 5] = ["t", "T%_\u{e4}\u{1f600}", "../a/b:c|d \\ \"'", "nul.", "long"];
const SPACES: [&str; 3] = ["", "node:0190a000", "a:1|b%:2"];
const CHANNELS: [&str; 5] = ["log", "x", "\u{43a}.y z", "__pregel_tasks", "branch:to:n"];
const NODES: [&str; 3] = ["n", "m", "__start__"];
pub(super) const RUNS: [&str; 3] = ["run 1", "run 2", "run'3"];
pub(super) const TASK_CHANNELS: [&str; 9] = [
    "log",
    "x",
    reserved::INTERRUPT,
    reserved::ERROR,
    reserved::RESUME,
    reserved::NO_WRITES,
    reserved::EFFECT,
    reserved::WITHDRAWN,
    reserved::ASKED_AGAIN,
];

pub(super) fn thread(n: u8) -> ThreadId {
    match THREADS[usize::from(n) % THREADS.len()] {
        "long" => "a long name ".repeat(30).as_str().into(),
        name => name.into(),
    }
}

pub(super) fn space(n: u8) -> Name {
    SPACES[usize::from(n) % SPACES.len()].into()
}

pub(super) fn channel(n: u8) -> &'static str {
    CHANNELS[usize::from(n) % CHANNELS.len()]
}

pub(super) fn node(n: u8) -> &'static str {
    NODES[usize::from(n) % NODES.len()]
}

pub(super) fn run_name(n: u8) -> &'static str {
    RUNS[usize::from(n) % RUNS.len()]
}
