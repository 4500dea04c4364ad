//! The messages: one line of JSON each. A connection begins with a hello from both ends.

use serde::{Deserialize, Serialize};

use super::{HandedRun, Reported};
use crate::wire::{AppEvent, Json, Problem};

/// The version of the protocol, the events and the commands. Programs of different versions do not talk to each other.
pub(crate) const VERSION: u32 = 2;
/// The longest message, in bytes.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// A message from a client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Request {
    /// Begins a connection.
    Hello {
        /// Version of the protocol.
        version: u32,
    },
    /// Calls a command.
    Call {
        /// Repeated in the answer.
        id: u64,
        /// Name of the command.
        command: String,
        /// Its request.
        request: Json,
    },
    /// Starts a run and asks what it does. It goes on when the connection ends.
    Run {
        /// Repeated in the answer, which is the run, and in what it reports.
        id: u64,
        /// The run.
        run: Box<HandedRun>,
    },
    /// Asks for what happens to threads from now on, after what is running now.
    Subscribe,
}

/// A message from a server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Answer {
    /// Begins a connection.
    Hello(Hello),
    /// What a command answered.
    Result {
        /// Of the call.
        id: u64,
        /// The answer.
        value: Json,
    },
    /// Why a command could not do what was asked, or without an id: why the connection ends.
    Error {
        /// Of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// What is wrong.
        problem: Problem,
    },
    /// What a run reports.
    Reported {
        /// Of the run.
        id: u64,
        /// What.
        report: Reported,
    },
    /// What happened to threads.
    Events {
        /// Events before these are missing: they came faster than they were taken.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lost: bool,
        /// The events in order.
        events: Vec<AppEvent>,
    },
}

/// Identity of the program that serves a socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the protocol.
    pub version: u32,
    /// The program, as a person calls it, and its process.
    pub program: String,
    /// Where its threads are.
    pub storage: String,
    /// Starts runs for others; a single run of the command line only stops its own.
    pub starts_runs: bool,
}

impl Hello {
    /// Creates the identity of a program whose threads are in this database, and that starts no runs for others.
    pub(crate) fn of(program: &str, storage: &str) -> Self {
        Self {
            version: VERSION,
            program: program.to_owned(),
            storage: storage_of(storage),
            starts_runs: false,
        }
    }

    /// Says that the program starts runs for others.
    pub(crate) fn that_starts_runs(self) -> Self {
        Self {
            starts_runs: true,
            ..self
        }
    }
}

/// Returns an address that is the same in every program, wherever each was started.
pub fn storage_of(url: &str) -> String {
    let path = superstep_storage::path_of(url).ok().flatten();
    let Some(path) = path else {
        return superstep_storage::shown(url);
    };
    let absolute = || std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    let path = path.canonicalize().unwrap_or_else(|_| absolute());
    let scheme = match url.split_once(':') {
        Some(("file", _)) => "file",
        _ => "sqlite",
    };
    format!("{scheme}:{}", path.display())
}

/// Returns whether the event is for another program that shows threads of the same database.
pub(crate) fn is_of_threads(event: &AppEvent) -> bool {
    // An answer to `thread.events` is of the moment of its mark; with another database threads are other ones.
    event.thread_id().is_some() || matches!(event, AppEvent::Mark { .. } | AppEvent::Storage)
}
