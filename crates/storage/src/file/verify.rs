//! Checking the journals as they stand on the disk, beside whatever the writer does.

use superstep::ThreadId;
use superstep::checkpoint::{Damage, Integrity, Progress, StorageError};

use super::folder::Folder;
use super::journal::Journal;
use super::shared::{Residence, Shared};

/// Checks every thread; returns the findings, and the threads that must be read again because memory shows them
/// differently.
pub(super) fn threads(
    shared: &Shared,
    folder: &Folder,
    progress: &Progress,
) -> Result<(Integrity, Vec<ThreadId>), StorageError> {
    let (mut found, mut differing) = (Integrity::default(), Vec::new());
    for (thread, path) in folder.journals()? {
        if thread.is_none()
            && let Err(error) = Journal::named(&path)
        {
            found.damage.push(Damage {
                thread: None,
                what: format!("{error}: whose thread it is cannot be said"),
                repair: None,
            });
        }
    }
    let threads = shared.threads();
    let total = threads.len() as u64;
    for thread in threads {
        progress.at(found.threads, total)?;
        let Some((path, _)) = shared.file_of(&thread) else {
            // It has just been deleted.
            continue;
        };
        found.threads += 1;
        // What is on the disk counts, not what is in memory.
        let loaded = match Journal::load(&thread, &path) {
            Ok(journal) => journal.loaded,
            Err(error) => {
                found.damage.push(Damage {
                    thread: Some(thread),
                    what: error.to_string(),
                    repair: None,
                });
                continue;
            }
        };
        found.checkpoints += loaded.checkpoints();
        found.damage.extend(loaded.damage.clone());
        let known = match shared.thread(&thread) {
            Residence::Loaded(known) => known.damage.clone(),
            Residence::Unread | Residence::Nothing => Vec::new(),
        };
        if !loaded.damage.is_empty() || !known.is_empty() {
            differing.push(thread);
        }
    }
    Ok((found, differing))
}
