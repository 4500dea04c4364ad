//! The list of what threads stand at, which spares reading every journal at the next opening.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{StorageError, ThreadSummary};
use superstep::{CheckpointId, ThreadId};

use super::folder::Folder;
use super::line::{lines, put_line, read_line};
use super::shared::{Asked, Summary};
use crate::codec::plain::Head;

/// A line of the list.
#[derive(Serialize, Deserialize)]
struct Remembered {
    thread: ThreadId,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<Root>,
    /// Checkpoints whose questions wait. Older releases did not write it; their lines cannot be read, so the journals are.
    asking: Vec<Asking>,
}

#[derive(Serialize, Deserialize)]
struct Asking {
    id: CheckpointId,
    ts: String,
    tasks: u32,
}

#[derive(Serialize, Deserialize)]
struct Root {
    head: Head,
    created: String,
    checkpoints: u64,
    interrupted: u32,
    failed: u32,
}

impl Root {
    fn of(summary: &ThreadSummary) -> Self {
        let head = summary.head.clone();
        Self {
            created: summary.created.clone(),
            checkpoints: summary.checkpoints,
            interrupted: head.interrupted,
            failed: head.failed,
            head: Head {
                id: head.id,
                parent: head.parent,
                ts: head.ts,
                source: head.metadata.source,
                step: head.metadata.step,
                parents: head.metadata.parents,
                user: head.metadata.user,
                next: head.next,
                updated: head.updated_channels,
            },
        }
    }

    fn summary(self, thread: ThreadId) -> ThreadSummary {
        ThreadSummary {
            thread,
            created: self.created,
            checkpoints: self.checkpoints,
            head: self.head.shown("".into(), self.interrupted, self.failed),
        }
    }
}

/// Information known about a thread without its journal.
pub(super) type ThreadListCache = (Summary, Vec<Asked>);

/// Returns the path of the list's file.
pub(super) fn path_in(folder: &Path) -> PathBuf {
    folder.join("threads.jsonl")
}

/// Reads the list. Without it, or with a line that cannot be read, the journals are read.
pub(super) fn read(folder: &Folder) -> HashMap<ThreadId, ThreadListCache> {
    let bytes = fs::read(path_in(folder.path())).unwrap_or_default();
    let found = lines(&bytes)
        .0
        .filter_map(|(_, line)| read_line::<Remembered>(line).ok());
    found
        .map(|line| {
            let summary = line.root.map(|root| root.summary(line.thread.clone()));
            let asking = line.asking.into_iter().map(|one| (one.id, one.ts, one.tasks));
            (line.thread, ((line.bytes, summary), asking.collect()))
        })
        .collect()
}

/// Writes the list.
pub(super) fn write(folder: &Folder, threads: Vec<(ThreadId, ThreadListCache)>) -> Result<(), StorageError> {
    let mut text = Vec::new();
    for (thread, ((bytes, summary), asking)) in threads {
        let asking = asking.into_iter().map(|(id, ts, tasks)| Asking { id, ts, tasks });
        let asking = asking.collect();
        let root = summary.as_ref().map(Root::of);
        // A line that cannot be written is a journal that is read.
        let _ = put_line(
            &mut text,
            &Remembered {
                thread,
                bytes,
                root,
                asking,
            },
        );
    }
    folder.replace(&path_in(folder.path()), &text)
}
