//! Rewriting a journal beside the old one, while everybody goes on reading and the writer goes on writing: what
//! takes long is done on a thread of its own, from the lines that were there when it began, and the writer only adds
//! what has come since and puts the new file in the place of the old one.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt as _;
use superstep::checkpoint::{CheckpointHead, Link, ListQuery, Pruning, Put, Removal, StorageError};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId};

use super::folder::{Unfinished, failed};
use super::journal::{Journal, JournalLine, Loaded, first};
use super::line::{lines, put_line, read_line};
use crate::codec::plain::written_out;

/// Lines between two looks at whether to stop.
const STRIDE: usize = 256;

/// Checkpoints of a namespace to be left out.
pub(super) type Doomed = HashSet<(Name, CheckpointId)>;

/// A thread as it stood when something began.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) thread: ThreadId,
    pub(super) path: PathBuf,
    /// The number of the file, if there is one.
    pub(super) file: Option<u64>,
    /// What of the file stood then; all of it is in memory.
    pub(super) bytes: u64,
    pub(super) loaded: Arc<Loaded>,
}

/// Result of pruning a thread: what is removed, and the journal without it.
pub(super) struct Pruned {
    pub(super) removal: Removal,
    /// Written where it is not a dry run.
    pub(super) rewrite: Option<Rewrite>,
}

impl Begun {
    fn read(&self) -> Result<Vec<u8>, StorageError> {
        if self.bytes == 0 {
            return Ok(Vec::new());
        }
        read_from(&self.path, 0, self.bytes)
    }

    fn heads(&self) -> Vec<CheckpointHead> {
        let heads = self.loaded.saver.heads(&ListQuery::default()).now_or_never();
        heads.and_then(Result::ok).unwrap_or_default()
    }

    /// Determines what pruning removes of the thread; `None` when that is nothing. `at` is asked repeatedly whether to
    /// continue.
    pub(super) fn prune(
        self,
        pruning: &Pruning,
        at: &dyn Fn() -> Result<(), StorageError>,
    ) -> Result<Option<Pruned>, StorageError> {
        let heads = self.heads();
        let (doomed, mut removal) = self.doomed(pruning, &heads);
        if doomed.is_empty() {
            return Ok(None);
        }
        let mut text = Vec::new();
        let all = doomed.len() == heads.len();
        if !all {
            let gone = |ns: &Name, id: &CheckpointId| doomed.contains(&(ns.clone(), id.clone()));
            let source = RewriteSource {
                path: &self.path,
                thread: &self.thread,
                loaded: &self.loaded,
                left_out: &gone,
                strange: &gone,
            };
            source.copy(&mut text, &self.thread, &self.read()?, at)?;
        }
        // What has come since it began is among the heads, and not in the text yet.
        removal.threads = u64::from(all);
        removal.bytes = Some(self.bytes.saturating_sub(text.len() as u64));
        let rewrite = if pruning.dry_run {
            None
        } else {
            Some(Rewrite::write(self, doomed, &text)?)
        };
        Ok(Some(Pruned { removal, rewrite }))
    }

    fn doomed(&self, pruning: &Pruning, heads: &[CheckpointHead]) -> (Doomed, Removal) {
        let mut spaces: BTreeMap<&Name, Vec<Link<'_>>> = BTreeMap::new();
        for head in heads {
            let link = Link::of(&head.id, head.parent.as_ref(), &head.metadata);
            spaces.entry(&head.ns).or_default().push(link);
        }
        let (mut doomed, mut removal) = (Doomed::new(), Removal::default());
        for (ns, links) in &spaces {
            let gone = pruning.doomed(&self.thread, ns, links);
            let lost = pruning.lost_branches(&self.thread, ns, links, &gone);
            let lost = lost
                .into_iter()
                .map(|id: &CheckpointId| (self.thread.clone(), id.clone()));
            removal.branches.extend(lost);
            doomed.extend(gone.into_iter().map(|link| ((*ns).clone(), link.id.clone())));
        }
        removal.checkpoints = doomed.len() as u64;
        (doomed, removal)
    }

    /// Builds the journal of this thread with what it lacks of another one.
    pub(super) fn with_copy_of(self, from: &Self) -> Result<Rewrite, StorageError> {
        let there: Doomed = self.heads().into_iter().map(|head| (head.ns, head.id)).collect();
        let (go_on, never) = (|| Ok(()), |_: &Name, _: &CheckpointId| false);
        let mut text = Vec::new();
        let own = RewriteSource {
            path: &self.path,
            thread: &self.thread,
            loaded: &self.loaded,
            left_out: &never,
            strange: &never,
        };
        own.copy(&mut text, &self.thread, &self.read()?, &go_on)?;
        // What is in both may differ: what continues it is written whole.
        let there = |ns: &Name, id: &CheckpointId| there.contains(&(ns.clone(), id.clone()));
        let other = RewriteSource {
            path: &from.path,
            thread: &from.thread,
            loaded: &from.loaded,
            left_out: &there,
            strange: &there,
        };
        other.copy(&mut text, &self.thread, &from.read()?, &go_on)?;
        Rewrite::write(self, Doomed::new(), &text)
    }
}

/// A journal that was written beside the one whose place it is to take.
#[derive(Debug)]
pub(super) struct Rewrite {
    pub(super) begun: Begun,
    doomed: Doomed,
    journal: Journal,
    beside: Unfinished,
}

impl Rewrite {
    fn write(begun: Begun, doomed: Doomed, text: &[u8]) -> Result<Self, StorageError> {
        let journal = Journal::of(&begun.thread, &begun.path, text);
        let beside = Unfinished::write(&begun.path, text)?;
        Ok(Self {
            begun,
            doomed,
            journal,
            beside,
        })
    }

    /// Adds what was committed since it began. False when the file is not what it was.
    pub(super) fn catch_up(&mut self, old: &Journal) -> Result<bool, StorageError> {
        let (thread, path) = (&self.begun.thread, old.path());
        let since = match old.bytes() - self.begun.bytes {
            0 => return Ok(true),
            since => read_from(path, self.begun.bytes, since)?,
        };
        if since.last() != Some(&b'\n') {
            return Ok(false);
        }
        let gone = |ns: &Name, id: &CheckpointId| self.doomed.contains(&(ns.clone(), id.clone()));
        let source = RewriteSource {
            path,
            thread,
            loaded: &old.loaded,
            left_out: &gone,
            strange: &gone,
        };
        let mut text = Vec::new();
        if self.journal.bytes() > 0 {
            source.copy_lines(&mut text, &since, &|| Ok(()))?;
        } else {
            source.copy(&mut text, thread, &since, &|| Ok(()))?;
        }
        if !text.is_empty() {
            self.beside.append(&text)?;
            self.journal.take_in(&text);
        }
        Ok(true)
    }

    /// Returns whether no checkpoint is left.
    pub(super) fn is_empty(&self) -> bool {
        self.journal.is_empty()
    }

    /// Puts it in the place of the old one.
    pub(super) fn place(self) -> Result<Journal, StorageError> {
        self.beside.place()?;
        Ok(self.journal)
    }
}

/// Lines of a journal that are copied into another one.
pub(super) struct RewriteSource<'a> {
    pub(super) path: &'a Path,
    pub(super) thread: &'a ThreadId,
    pub(super) loaded: &'a Loaded,
    /// Checkpoints that are not copied.
    pub(super) left_out: &'a dyn Fn(&Name, &CheckpointId) -> bool,
    /// Checkpoints that are something else there: what continues one of them is written whole.
    pub(super) strange: &'a dyn Fn(&Name, &CheckpointId) -> bool,
}

impl RewriteSource<'_> {
    /// Copies what can be read of these lines into the text of the journal of `to`.
    pub(super) fn copy(
        &self,
        text: &mut Vec<u8>,
        to: &ThreadId,
        from: &[u8],
        at: &dyn Fn() -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let header = text.is_empty() && !from.is_empty();
        if header {
            put_line(text, &first(to)).map_err(|cause| self.lost(cause))?;
        }
        let before = text.len();
        self.copy_lines(text, from, at)?;
        if header && text.len() == before {
            text.clear();
        }
        Ok(())
    }

    fn lost(&self, cause: String) -> StorageError {
        StorageError::Corrupt {
            place: format!("A line of {}", self.path.display()),
            cause,
        }
    }

    fn copy_lines(
        &self,
        text: &mut Vec<u8>,
        from: &[u8],
        at: &dyn Fn() -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        // An unfinished line was never acknowledged, and is not among these.
        for (number, line) in lines(from).0 {
            if number % STRIDE == 0 {
                at()?;
            }
            let Ok(JournalLine::Commit(mut entry)) = read_line(line) else {
                continue;
            };
            let ns = entry.ns.clone();
            let before = (entry.writes.len(), entry.put.is_some());
            entry.writes.retain(|task| !(self.left_out)(&ns, &task.of));
            entry.put = entry.put.filter(|record| !(self.left_out)(&ns, &record.head.id));
            let mut changed = before != (entry.writes.len(), entry.put.is_some());
            if let Some(record) = &mut entry.put
                && record.continues
                && let Some(parent) = &record.head.parent
                && (self.strange)(&ns, parent)
            {
                let id = &record.head.id;
                let checkpoint = self
                    .loaded
                    .read(self.thread, &ns, id)
                    .ok_or_else(|| self.lost(format!("checkpoint {id} is gone")))?;
                let put = Put {
                    checkpoint,
                    changes: Vec::new(),
                    seen: Vec::new(),
                };
                *record = written_out(&put, None);
                changed = true;
            }
            if entry.put.is_none() && entry.writes.is_empty() {
                continue;
            }
            if changed {
                put_line(text, &JournalLine::Commit(entry)).map_err(|cause| self.lost(cause))?;
            } else {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
        }
        Ok(())
    }
}

/// Reads a number of bytes of a file.
fn read_from(path: &Path, from: u64, count: u64) -> Result<Vec<u8>, StorageError> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        file.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| failed("reading", path, &error))
}

#[cfg(test)]
mod tests {
    use superstep::checkpoint::{
        Checkpoint, CheckpointTuple, Keep, Maintenance, TaskId, TaskWrites, ThreadQuery, Write,
    };
    use superstep::{MemorySaver, json};
    use superstep_suites::{Draft, id};

    use super::*;
    use crate::FileSaver;

    /// Creates the root and a number of checkpoints after it.
    async fn grow(saver: &dyn Checkpointer, thread: &str, count: u64) -> Vec<Checkpoint> {
        let root = Draft::root(id(1)).set("log", json!([]));
        let mut made = vec![root.store(saver, thread, "").await.expect("stores")];
        for n in 2..=count {
            let next = Draft::after(&made[made.len() - 1], id(n)).append("log", vec![json!(n)]);
            made.push(next.store(saver, thread, "").await.expect("stores"));
        }
        made
    }

    async fn everything(saver: &dyn Checkpointer) -> Vec<CheckpointTuple> {
        saver.list(&ListQuery::default()).await.expect("lists")
    }

    fn asked(of: &Checkpoint, task: &str) -> superstep::checkpoint::Commit {
        superstep::checkpoint::Commit {
            claim: None,
            thread: "long".into(),
            ns: "".into(),
            writes: vec![TaskWrites {
                checkpoint_id: of.id.clone(),
                task_id: TaskId::from(task),
                task_path: "node".into(),
                writes: vec![Write {
                    idx: 0,
                    channel: "log".into(),
                    value: json!(task),
                }],
            }],
            put: None,
        }
    }

    /// Writes to the threads while a prune of "long" is held open.
    async fn go_on(saver: &dyn Checkpointer, made: &[Checkpoint], cold: &Checkpoint) {
        // After the newest one, after one that goes, and in another thread.
        let next = Draft::after(&made[made.len() - 1], id(100)).append("log", vec![json!("on")]);
        let next = next.store(saver, "long", "").await.expect("stores");
        saver
            .commit(asked(&next, "of the new one"))
            .await
            .expect("stores");
        let fork = Draft::after(&made[9], id(101)).append("log", vec![json!("fork")]);
        fork.store(saver, "long", "").await.expect("stores");
        let other = Draft::after(cold, id(102)).set("n", 1);
        other.store(saver, "cold", "").await.expect("stores");
    }

    #[tokio::test]
    async fn everybody_goes_on_beside_a_prune_that_is_held_open() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = FileSaver::open(folder.path()).expect("opens");
        let made = grow(&saver, "long", 40).await;
        let cold = grow(&saver, "cold", 5).await;
        drop(saver);
        let model = MemorySaver::new();
        grow(&model, "long", 40).await;
        grow(&model, "cold", 5).await;

        let saver = FileSaver::open(folder.path()).expect("opens again");
        let rule = Pruning::threads(["long".into()], Keep::Latest);
        let begun = saver.submit(|writer| writer.begin(&"long".into()));
        let begun = begun.await.expect("reads").expect("is there");
        let pruned = begun.prune(&rule, &|| Ok(())).expect("works").expect("removes");
        // It is open now: written beside, and not in place.
        let found = saver
            .get(&"cold".into(), "", None)
            .await
            .expect("reads")
            .expect("is there");
        assert_eq!(Some(&found.checkpoint), cold.last());
        assert_eq!(
            everything(&saver).await,
            everything(&model).await,
            "nothing has gone yet"
        );
        go_on(&saver, &made, cold.last().expect("some")).await;
        saver
            .commit(asked(&made[3], "of one that goes"))
            .await
            .expect("stores");
        let listed = saver.threads(&ThreadQuery::default()).await.expect("lists");
        let counts: Vec<_> = listed
            .iter()
            .map(|one| (one.thread.as_str(), one.checkpoints))
            .collect();
        assert_eq!(counts, [("cold", 6), ("long", 42)]);
        assert!(saver.verify(false).await.expect("checks").is_sound());

        let rewrite = pruned.rewrite.expect("it is no dry run");
        assert!(
            saver
                .submit(move |writer| writer.put_in_place(rewrite))
                .await
                .expect("goes in place")
        );
        let went = model.prune(&rule).await.expect("prunes");
        assert_eq!(pruned.removal.checkpoints, went.checkpoints);
        assert_eq!(went.checkpoints, 39);
        go_on(&model, &made, cold.last().expect("some")).await;
        assert_eq!(everything(&saver).await, everything(&model).await);
        let next = Draft::after(&made[39], id(103)).append("log", vec![json!("later")]);
        next.store(&saver, "long", "").await.expect("goes on");
        let after = everything(&saver).await;
        drop(saver);
        let saver = FileSaver::open(folder.path()).expect("opens again");
        assert_eq!(everything(&saver).await, after, "the disk has the same");
        assert!(saver.verify(false).await.expect("checks").is_sound());
    }

    #[tokio::test]
    async fn what_somebody_else_replaced_meanwhile_is_begun_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = FileSaver::open(folder.path()).expect("opens");
        grow(&saver, "long", 20).await;
        let rule = Pruning::threads(["long".into()], Keep::Nothing);
        let hold = async || {
            let begun = saver.submit(|writer| writer.begin(&"long".into()));
            let begun = begun.await.expect("reads").expect("is there");
            let pruned = begun.prune(&rule, &|| Ok(())).expect("works").expect("removes");
            pruned.rewrite.expect("it is no dry run")
        };
        let rewrite = hold().await;
        let latest = Pruning::threads(["long".into()], Keep::Latest);
        assert_eq!(saver.prune(&latest).await.expect("prunes").checkpoints, 19);
        assert!(
            !saver
                .submit(move |writer| writer.put_in_place(rewrite))
                .await
                .expect("looks")
        );
        assert_eq!(everything(&saver).await.len(), 1);
        let rewrite = hold().await;
        saver.delete_thread(&"long".into()).await.expect("deletes");
        let made = grow(&saver, "long", 3).await;
        assert!(
            !saver
                .submit(move |writer| writer.put_in_place(rewrite))
                .await
                .expect("looks")
        );
        assert_eq!(everything(&saver).await.len(), made.len());
        // What was given up leaves no file, nor does what removes everything.
        assert_eq!(saver.prune(&rule).await.expect("prunes").threads, 1);
        let left = std::fs::read_dir(folder.path().join("threads"))
            .expect("a folder")
            .count();
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn nobody_who_reads_waits_for_the_writer() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = FileSaver::open(folder.path()).expect("opens");
        let made = grow(&saver, "long", 20).await;
        grow(&saver, "other", 3).await;
        drop(saver);
        std::fs::remove_file(folder.path().join("threads.jsonl")).expect("the list was written");
        let saver = FileSaver::open(folder.path()).expect("opens again");
        let (go, held) = std::sync::mpsc::channel::<()>();
        let busy = saver.submit(move |_| {
            let _ = held.recv();
            Ok(())
        });
        let found = saver
            .get(&"long".into(), "", None)
            .await
            .expect("reads")
            .expect("is there");
        assert_eq!(Some(&found.checkpoint), made.last());
        assert_eq!(everything(&saver).await.len(), 23);
        assert_eq!(
            saver.threads(&ThreadQuery::default()).await.expect("lists").len(),
            2
        );
        assert_eq!(
            saver
                .count_threads(&ThreadQuery::default())
                .await
                .expect("counts"),
            2
        );
        let summary = saver
            .thread(&"other".into())
            .await
            .expect("reads")
            .expect("is there");
        assert_eq!(summary.checkpoints, 3);
        assert_eq!(saver.usage().await.expect("measures").threads.len(), 2);
        go.send(()).expect("it waits");
        busy.await.expect("ends");
        let next = Draft::after(&made[19], id(50)).append("log", vec![json!("on")]);
        let next = next
            .store(&saver, "long", "")
            .await
            .expect("goes on with what a reader brought");
        let found = saver
            .get(&"long".into(), "", None)
            .await
            .expect("reads")
            .expect("is there");
        assert_eq!(found.checkpoint, next);
    }
}
