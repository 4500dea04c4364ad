//! The list of threads that a search reads. With an index: those that are newer than what it knows, those in which it has the
//! words, and those that are older than what it knows. Without one: all of them.

use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt;
use parking_lot::Mutex;
use superstep::Checkpointer;
use superstep::checkpoint::{ThreadPlace, ThreadQuery, ThreadSummary};

use super::super::words::{Words, tokens};
use super::file::{File, Range};
use super::kept;
use crate::base::blocking;
use crate::wire::{IndexState, Problem};

/// Threads that are listed at once, and those of them that are read at once.
const LISTED: usize = 128;
const READ: usize = 8;

/// Some threads of the list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) threads: Vec<ThreadSummary>,
    /// Where to go on; `None` when there are no more.
    pub(crate) then: Option<ThreadPlace>,
}

/// The index of a search for words.
#[derive(Debug)]
struct Lookup {
    file: Mutex<File>,
    range: Range,
    /// The words as the index is asked for them.
    words: String,
    /// Threads in whose titles the words are.
    titled: Vec<String>,
}

/// The threads of a search.
#[derive(Debug)]
pub(crate) struct SearchedThreads {
    saver: Arc<dyn Checkpointer>,
    query: ThreadQuery,
    index: Option<Arc<Lookup>>,
}

/// No thread has a name behind this one.
const LAST: &str = "\u{10ffff}";

/// Returns whether the index knows the threads that follow this place.
fn is_known(after: &ThreadPlace, oldest: &str) -> bool {
    let head = after.head.as_str();
    head > oldest || (head == oldest && after.thread.as_str() != LAST)
}

/// Builds the index query for the words; `None` when the index cannot be asked for them.
fn asked(words: &Words) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for term in words.terms() {
        all.extend(tokens(term).map(|token| format!("\"{}\"*", kept(token))));
    }
    (!all.is_empty()).then(|| all.join(" AND "))
}

fn open(path: &std::path::Path, words: String, titled: Vec<String>) -> rusqlite::Result<Option<Lookup>> {
    let Some(file) = File::read(path)? else {
        return Ok(None);
    };
    let Some(range) = file.range()? else {
        return Ok(None);
    };
    Ok(Some(Lookup {
        file: Mutex::new(file),
        range,
        words,
        titled,
    }))
}

impl SearchedThreads {
    /// Creates the list that `query` names; its place and limit are ignored.
    pub(crate) fn all(saver: Arc<dyn Checkpointer>, query: ThreadQuery) -> Self {
        let index = None;
        Self { saver, query, index }
    }

    /// Leaves out the threads of which the index at this path knows that they do not have the words.
    pub(crate) async fn with_index(mut self, path: PathBuf, words: &Words, titled: Vec<String>) -> Self {
        if let Some(asked) = asked(words) {
            let opened = blocking(move || open(&path, asked, titled)).await;
            match opened {
                Ok(Ok(index)) => self.index = index.map(Arc::new),
                Ok(Err(error)) => tracing::warn!(%error, "the index of threads cannot be read"),
                Err(problem) => tracing::warn!(%problem, "the index of threads cannot be read"),
            }
        }
        self
    }

    /// Reports how far the index is behind a database with this many threads.
    pub(crate) async fn state(&self, total: u64) -> Result<Option<IndexState>, Problem> {
        let Some(index) = self.index.clone() else {
            return Ok(None);
        };
        let reading = index.clone();
        let known = blocking(move || reading.file.lock().count()).await??;
        let behind = match index.range.oldest.is_empty() {
            // Every thread is known, but those that changed since.
            true => {
                let page = self.list(None).await?;
                let fresh = page
                    .iter()
                    .filter(|thread| *thread.head.id.as_str() > *index.range.newest);
                (fresh.count() as u64).max(total.saturating_sub(known))
            }
            false => total.saturating_sub(known),
        };
        Ok(Some(IndexState {
            until: index.range.until.clone(),
            behind,
        }))
    }

    async fn list(&self, after: Option<&ThreadPlace>) -> Result<Vec<ThreadSummary>, Problem> {
        let query = self.query.clone().after(after.cloned()).limit(LISTED);
        Ok(self.saver.threads(&query).await?)
    }

    /// Reads the threads after a place, the newest first.
    pub(crate) async fn page(&self, after: Option<&ThreadPlace>) -> Result<Page, Problem> {
        let place = |head: &str, thread: &str| ThreadPlace {
            head: head.into(),
            thread: thread.into(),
        };
        let Some(index) = &self.index else {
            return self.listed(after).await;
        };
        let Range { newest, oldest, .. } = &index.range;
        let head = after.map(|after| after.head.as_str());
        if head.is_none_or(|head| head > newest.as_str()) {
            let mut threads = self.list(after).await?;
            let listed = threads.len();
            threads.retain(|thread| thread.head.id.as_str() > newest.as_str());
            let all = listed == LISTED && threads.len() == listed;
            let then = match threads.last().filter(|_| all) {
                Some(last) => last.place(),
                // No thread has an empty name: the place before all of that head.
                None => place(newest, ""),
            };
            return Ok(Page {
                threads,
                then: Some(then),
            });
        }
        let known = oldest.is_empty() || after.is_some_and(|after| is_known(after, oldest));
        if !known {
            return self.listed(after).await;
        }
        let reading = index.clone();
        let from = after.cloned().unwrap_or_else(|| place(newest, ""));
        let found = blocking(move || {
            let from = (from.head.as_str(), from.thread.as_str());
            let (file, range) = (reading.file.lock(), &reading.range);
            file.candidates(&reading.words, &reading.titled, from, range, LISTED)
        });
        let found = match found.await? {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the index of threads cannot be read");
                return self.listed(after).await;
            }
        };
        let then = match found.last().filter(|_| found.len() == LISTED) {
            Some((head, thread)) => Some(place(head, thread)),
            None => (!oldest.is_empty()).then(|| place(oldest, LAST)),
        };
        Ok(Page {
            threads: self.known(found).await?,
            then,
        })
    }

    /// Reads the threads after a place, whatever they contain.
    async fn listed(&self, after: Option<&ThreadPlace>) -> Result<Page, Problem> {
        let threads = self.list(after).await?;
        let then = threads.last().filter(|_| threads.len() == LISTED);
        Ok(Page {
            then: then.map(ThreadSummary::place),
            threads,
        })
    }

    /// Reads the current state of threads that the index names; those that are gone or have become newer are left out.
    async fn known(&self, found: Vec<(String, String)>) -> Result<Vec<ThreadSummary>, Problem> {
        let newest = self
            .index
            .as_ref()
            .map(|index| index.range.newest.as_str())
            .unwrap_or_default();
        let threads: Vec<_> = futures::stream::iter(found)
            .map(|(_, thread)| async move { self.saver.thread(&thread.as_str().into()).await })
            .buffered(READ)
            .collect()
            .await;
        let mut known = Vec::with_capacity(threads.len());
        for thread in threads {
            known.extend(thread?.filter(|thread| thread.head.id.as_str() <= newest));
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_knows_what_is_newer_than_its_oldest_head() {
        let is_known = |head: &str, thread: &str| {
            let after = ThreadPlace {
                head: head.into(),
                thread: thread.into(),
            };
            super::is_known(&after, "2")
        };
        assert!(is_known("3", "t"));
        assert!(!is_known("1", "t"));
        assert!(is_known("2", "t"), "another thread may have the same head");
        assert!(!is_known("2", LAST));
    }
}
