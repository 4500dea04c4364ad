//! What is done to threads and to the database as a whole: bookmarks, copies, files, pruning, retention, measuring,
//! checking. Nothing here runs a graph, so it works for threads whose graph is gone.

use std::collections::HashSet;
use std::io::{BufReader, BufWriter};
use std::sync::Arc;

use superstep::{
    CheckpointId, Keep, KeyUsage, Object, Progress, Pruning, Removal, ThreadId, ThreadLens, Value,
};
use superstep_storage::transfer::{self, TransferError};

use crate::Workbench;
use crate::base::files::{self, Staged};
use crate::base::problem::no_thread;
use crate::base::values;
use crate::ledger::{Carried, RUN_RECORDS, ThreadRow};
use crate::wire::{
    AppEvent, BookmarkCheckpoint, CheckpointView, CopyThread, DamageView, ExportThread, GrowthPoint,
    ImportThread, IntegrityView, KeepRule, KeyHint, KeySize, LensView, LostBranch, Problem, PruneThreads,
    ReadUsage, RemovalView, ThreadExported, ThreadRef, ThreadSize, ThreadView, UsageView, VerifyStorage,
};

/// Points of the picture of how a thread grew.
const POINTS: usize = 240;
/// Lost branches that are named.
const BRANCHES: usize = 100;
/// Threads of `storage.usage` when nobody says how many.
const LARGEST: usize = 500;
/// Versions and bytes from which on a hint is given for a key.
const HINT_FROM: (u64, u64) = (20, 64 * 1024);

impl From<KeepRule> for Keep {
    fn from(rule: KeepRule) -> Self {
        match rule {
            KeepRule::Latest => Keep::Latest,
            KeepRule::Branches => Keep::Branches,
            KeepRule::Newest { count } => Keep::Newest(count as usize),
            KeepRule::Nothing => Keep::Nothing,
        }
    }
}

/// A key that takes more than its value is worth, and why. A value that grows is on average about half of what it is
/// now; when what is stored is a multiple of the value, the versions do not share what they have in common.
fn hint(usage: &KeyUsage, now: u64) -> Option<KeyHint> {
    let (versions, bytes) = HINT_FROM;
    if usage.versions < versions || usage.bytes < bytes || usage.bytes <= 4 * now {
        return None;
    }
    let average = usage.whole / usage.versions;
    Some(if 5 * average < 4 * now {
        KeyHint::Grows
    } else {
        KeyHint::Rewritten
    })
}

/// How a thread grew, checkpoints put together so that a long one is a picture of a few hundred points.
fn growth(lens: &ThreadLens) -> Vec<GrowthPoint> {
    let together = lens.checkpoints.len().div_ceil(POINTS).max(1);
    let mut total = 0;
    lens.checkpoints
        .chunks(together)
        .filter_map(|chunk| {
            let last = chunk.last()?;
            let bytes = chunk.iter().map(|checkpoint| checkpoint.bytes).sum();
            total += bytes;
            Some(GrowthPoint {
                checkpoint_id: last.id.to_string(),
                step: i32::try_from(last.step).unwrap_or(i32::MAX),
                at: last.ts.clone(),
                checkpoints: u32::try_from(chunk.len()).unwrap_or(u32::MAX),
                bytes,
                total,
            })
        })
        .collect()
}

/// What went wrong with a file that a thread is written to or read from.
fn transfer_problem(error: TransferError, path: &std::path::Path) -> Problem {
    match error {
        TransferError::Storage(error) => error.into(),
        TransferError::NoThread(thread) => no_thread(thread.as_str()),
        TransferError::Taken(_) => {
            Problem::new("conflict", format!("{error}.")).remedy("Delete the other thread first.")
        }
        TransferError::File { doing, cause } => {
            let doing = if doing == "read" { "read" } else { "write" };
            Problem::file(doing, path, &cause)
        }
        TransferError::Format { .. } => Problem::new("broken-file", format!("{}: {error}.", path.display()))
            .remedy("Choose a file that was exported from a thread, and export it again if it was cut off."),
        TransferError::Stopped => Problem::new("stopped", "It was stopped. Nothing was changed."),
    }
}

impl Workbench {
    /// Titles for threads that are named in an answer.
    fn titles(&self, ids: &[&str]) -> Result<impl Fn(&str) -> (String, String), Problem> {
        let rows = self.ledger.threads(ids)?;
        Ok(move |id: &str| match rows.get(id) {
            Some(row) => (row.title.clone(), row.graph_name.clone()),
            None => (id.to_owned(), String::new()),
        })
    }

    pub(crate) fn removal_view(&self, removal: Removal, bookmarks: usize) -> Result<RemovalView, Problem> {
        let branch_count = removal.branches.len() as u64;
        let shown = &removal.branches[..removal.branches.len().min(BRANCHES)];
        let ids: Vec<&str> = shown.iter().map(|(thread, _)| thread.as_str()).collect();
        let titles = self.titles(&ids)?;
        let branch = |(thread, checkpoint): &(ThreadId, CheckpointId)| LostBranch {
            thread_id: thread.to_string(),
            title: titles(thread.as_str()).0,
            checkpoint_id: checkpoint.to_string(),
        };
        Ok(RemovalView {
            threads: removal.threads,
            checkpoints: removal.checkpoints,
            bytes: removal.bytes,
            bookmarks: u32::try_from(bookmarks).unwrap_or(u32::MAX),
            branches: shown.iter().map(branch).collect(),
            branch_count,
        })
    }

    pub(crate) async fn thread_bookmark(
        self: &Arc<Self>,
        request: BookmarkCheckpoint,
    ) -> Result<CheckpointView, Problem> {
        let head = self.head(&request.thread_id, &request.checkpoint_id).await?;
        let name = request
            .name
            .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
        if name.as_deref() == Some("") {
            return Err(Problem::invalid("The bookmark has no name.").remedy("Type a name."));
        }
        self.ledger
            .bookmark(&request.thread_id, &request.checkpoint_id, name.as_deref())?;
        self.publish_checkpoint(&request.thread_id, &request.checkpoint_id)
            .await;
        self.marked(&request.thread_id, &head)
    }

    pub(crate) async fn thread_prune(
        self: &Arc<Self>,
        request: PruneThreads,
    ) -> Result<RemovalView, Problem> {
        // Held until the work is done: a thread that runs would lose what it goes on from.
        let mut slots = Vec::new();
        let mut retained = HashSet::new();
        let keep = Keep::from(request.keep);
        for id in &request.thread_ids {
            if !request.dry_run {
                slots.push(self.reserve(id)?);
            }
            // Says so when there is no such thread.
            self.thread(id).await?;
            let marked = self.ledger.bookmarks(Some(id))?.remove(id).unwrap_or_default();
            retained.extend(marked.into_keys());
        }
        if keep == Keep::Nothing {
            // A person who wants a thread gone was shown what goes with it.
            retained.clear();
        }
        let threads: Vec<ThreadId> = request.thread_ids.iter().map(|id| id.as_str().into()).collect();
        let mut pruning = Pruning::threads(threads.iter().cloned(), keep);
        pruning = pruning.retain(retained.iter().map(|id| CheckpointId::from(id.as_str())));
        pruning.dry_run = request.dry_run;
        let (work, saver, progress) = (self.job(request.work), self.saver(), Progress::default());
        let pruned = superstep::prune_watched(&*saver, &pruning, &progress);
        let removal = progress.follow(pruned, &|done, total| work.at(done, total)).await;
        if !request.dry_run {
            // Also when it was stopped or failed on the way: what went until then is gone.
            self.pruned(&threads).await?;
        }
        self.removal_view(removal?, retained.len())
    }

    pub(crate) async fn thread_copy(self: &Arc<Self>, request: CopyThread) -> Result<ThreadView, Problem> {
        let view = self.thread(&request.thread_id).await?;
        if view.head.is_none() {
            return Err(
                Problem::invalid("The thread has stored nothing yet that could be copied.")
                    .remedy("Wait for its first checkpoint."),
            );
        }
        let title = request.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let id = uuid::Uuid::now_v7().to_string();
        self.saver()
            .copy_thread(&request.thread_id.as_str().into(), &id.as_str().into())
            .await?;
        let row = ThreadRow {
            thread_id: id.clone(),
            title: if title.is_empty() { view.title } else { title },
            graph_name: view.graph_name,
            graph_key: self.key_of_thread(&request.thread_id).await.unwrap_or_default(),
            created_at: view.created_at,
        };
        self.ledger
            .thread_copied(&request.thread_id, &row, &self.database.place())?;
        self.publish_thread(&id).await;
        self.publish_inbox(None);
        self.thread(&id).await
    }

    pub(crate) async fn thread_export(
        self: &Arc<Self>,
        request: ExportThread,
    ) -> Result<ThreadExported, Problem> {
        let view = self.thread(&request.thread_id).await?;
        let path = files::absolute(&request.path)?;
        let wrong = |error: &std::io::Error| Problem::file("write", &path, error);
        let id = request.thread_id.clone();
        // What the runs have done by now is written first.
        let records = self
            .records
            .keeper()
            .ask(move |ledger| ledger.carried(&id))
            .await?;
        let records = serde_json::to_value(records).unwrap_or_default();
        let about: Object = [
            ("title", view.title.as_str().into()),
            ("graph", view.graph_name.as_str().into()),
            (RUN_RECORDS, Value::from(records)),
        ]
        .into_iter()
        .collect();
        let (work, saver) = (self.job(request.work), self.saver());
        let staged = Staged::begin(&path).map_err(|error| wrong(&error))?;
        let mut out = BufWriter::new(&staged.file);
        let thread = ThreadId::from(request.thread_id.as_str());
        let checkpoints = transfer::export(&*saver, &thread, &about, &mut out, &|done, total| {
            work.at(done, total)
        })
        .await
        .map_err(|error| transfer_problem(error, &path))?;
        drop(out);
        let bytes = staged.file.metadata().map_err(|error| wrong(&error))?.len();
        staged.finish().map_err(|error| wrong(&error))?;
        Ok(ThreadExported {
            path: path.to_string_lossy().into_owned(),
            checkpoints,
            bytes,
        })
    }

    pub(crate) async fn thread_import(
        self: &Arc<Self>,
        request: ImportThread,
    ) -> Result<ThreadView, Problem> {
        let path = files::absolute(&request.path)?;
        let (work, saver) = (self.job(request.work), self.saver());
        let watch = |done, total| work.at(done, total);
        let open =
            || superstep_nodes::files::open(&path).map_err(|error| Problem::file("read", &path, &error));
        let mut input = BufReader::new(open()?);
        let came = match transfer::import(&*saver, &mut input, None, &watch).await {
            // It was exported from here, or imported before: it comes back beside the one that is there.
            Err(TransferError::Taken(_)) => {
                let name = ThreadId::from(uuid::Uuid::now_v7().to_string());
                let mut input = BufReader::new(open()?);
                transfer::import(&*saver, &mut input, Some(&name), &watch).await
            }
            came => came,
        };
        let came = came.map_err(|error| transfer_problem(error, &path))?;
        let text = |name: &str| {
            came.about
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let summary = saver.thread(&came.thread).await?;
        let Some(summary) = summary else {
            return Err(
                Problem::new("broken-file", format!("{} has no checkpoint.", path.display()))
                    .remedy("Export the thread again."),
            );
        };
        let mut row = self.adopt(&summary).await?;
        if !text("title").is_empty() {
            row.title = text("title");
        }
        self.ledger.rename(&row, &self.database.place())?;
        let id = came.thread.as_str();
        if let Some(carried) = Carried::of(&came.about) {
            self.ledger.take_in(id, &carried)?;
        }
        self.publish_thread(id).await;
        self.publish_inbox(None);
        self.thread(id).await
    }

    pub(crate) async fn storage_usage(self: &Arc<Self>, request: ReadUsage) -> Result<UsageView, Problem> {
        let usage = self.saver().usage().await?;
        let limit = match request.limit {
            0 => LARGEST,
            limit => limit as usize,
        };
        let shown = &usage.threads[..usage.threads.len().min(limit)];
        let ids: Vec<&str> = shown.iter().map(|thread| thread.thread.as_str()).collect();
        let titles = self.titles(&ids)?;
        let threads = shown.iter().map(|thread| {
            let (title, graph_name) = titles(thread.thread.as_str());
            ThreadSize {
                thread_id: thread.thread.to_string(),
                title,
                graph_name,
                checkpoints: thread.checkpoints,
                bytes: thread.bytes,
            }
        });
        Ok(UsageView {
            bytes: usage.bytes,
            free: usage.free,
            shared: usage.shared,
            of_threads: usage.threads.iter().map(|thread| thread.bytes).sum(),
            of_store: usage.store,
            total: usage.threads.len() as u64,
            threads: threads.collect(),
        })
    }

    pub(crate) async fn storage_lens(self: &Arc<Self>, request: ThreadRef) -> Result<LensView, Problem> {
        let (saver, thread) = (self.saver(), ThreadId::from(request.thread_id.as_str()));
        let lens = saver.lens(&thread).await?;
        if lens.checkpoints.is_empty() {
            // Says so when there is no such thread.
            self.thread(&request.thread_id).await?;
        }
        let names: Vec<superstep::Name> = lens.keys.iter().map(|usage| usage.key.clone()).collect();
        let values = saver.values(&thread, "", None, &names).await;
        let values = values?.unwrap_or_default();
        let key = |usage: &KeyUsage| {
            let now = values.get(&usage.key).map_or(0, values::bytes);
            KeySize {
                key: usage.key.to_string(),
                versions: usage.versions,
                bytes: usage.bytes,
                whole: usage.whole,
                now,
                hint: hint(usage, now),
            }
        };
        Ok(LensView {
            thread_id: request.thread_id,
            bytes: lens.checkpoints.iter().map(|checkpoint| checkpoint.bytes).sum(),
            checkpoints: lens.checkpoints.len() as u64,
            keys: lens.keys.iter().map(key).collect(),
            growth: growth(&lens),
        })
    }

    pub(crate) async fn storage_verify(
        self: &Arc<Self>,
        request: VerifyStorage,
    ) -> Result<IntegrityView, Problem> {
        let (work, saver, progress) = (self.job(request.work), self.saver(), Progress::default());
        let found = progress
            .follow(saver.verify_watched(request.repair, &progress), &|done, total| {
                work.at(done, total)
            })
            .await?;
        if found.repaired {
            self.hub.publish(AppEvent::Storage);
            self.publish_inbox(None);
        }
        let damage = found.damage.into_iter().map(|damage| DamageView {
            thread_id: damage.thread.map(|thread| thread.to_string()),
            what: damage.what,
            repair: damage.repair,
        });
        Ok(IntegrityView {
            threads: found.threads,
            checkpoints: found.checkpoints,
            items: found.items,
            damage: damage.collect(),
            repaired: found.repaired,
        })
    }
}

#[cfg(test)]
mod tests {
    use superstep::CheckpointUsage;

    use super::*;

    #[test]
    fn only_what_takes_more_than_it_is_worth_is_told() {
        let usage = |versions, bytes, whole| KeyUsage {
            key: "k".into(),
            versions,
            bytes,
            whole,
        };
        let size = 100_000;
        let grown = usage(100, 5_000_000, 5_000_000);
        assert_eq!(
            hint(&grown, size),
            Some(KeyHint::Grows),
            "every version whole, half as large as now on average"
        );
        assert_eq!(
            hint(&usage(100, 110_000, 5_000_000), size),
            None,
            "only what was added is stored"
        );
        assert_eq!(
            hint(&usage(100, 10_000_000, 10_000_000), size),
            Some(KeyHint::Rewritten)
        );
        assert_eq!(
            hint(&usage(10, 1_000_000, 1_000_000), size),
            None,
            "a few versions are nothing to speak of"
        );
        assert_eq!(hint(&usage(100, 20_000, 20_000), 200), None, "nor is little");
    }

    #[test]
    fn the_growth_of_a_long_thread_is_a_picture_of_few_points() {
        let checkpoints = (0..10_000)
            .map(|n| CheckpointUsage {
                ns: "".into(),
                id: format!("{n:05}").into(),
                step: n,
                ts: String::new(),
                bytes: 3,
            })
            .collect();
        let points = growth(&ThreadLens {
            keys: Vec::new(),
            checkpoints,
        });
        assert!(
            points.len() <= POINTS && points.len() > POINTS / 2,
            "{}",
            points.len()
        );
        let last = points.last().unwrap();
        assert_eq!(
            (last.total, last.step, last.checkpoint_id.as_str()),
            (30_000, 9_999, "09999")
        );
        assert!(growth(&ThreadLens::default()).is_empty());
    }

    fn usage(versions: u64, bytes: u64, whole: u64) -> KeyUsage {
        KeyUsage {
            key: "log".into(),
            versions,
            bytes,
            whole,
        }
    }

    #[test]
    fn a_hint_is_given_about_a_key_that_takes_much_more_than_it_holds() {
        let (versions, bytes) = HINT_FROM;
        assert_eq!(hint(&usage(versions, bytes, 0), 1), Some(KeyHint::Grows));
        assert_eq!(hint(&usage(versions - 1, bytes, 0), 1), None);
        assert_eq!(hint(&usage(versions, bytes - 1, 0), 1), None);
        assert_eq!(
            hint(&usage(versions, bytes, 0), bytes / 4),
            None,
            "four times is usual"
        );
        assert_eq!(
            hint(&usage(versions, bytes, 0), bytes / 4 - 1),
            Some(KeyHint::Grows)
        );
        // As large on average as it is now: written whole again and again.
        let now = 1_000;
        let of_average = |average: u64| hint(&usage(20, bytes, 20 * average), now);
        assert_eq!(of_average(799), Some(KeyHint::Grows));
        assert_eq!(of_average(800), Some(KeyHint::Rewritten));
        assert_eq!(of_average(now), Some(KeyHint::Rewritten));
    }

    #[test]
    fn growth_has_a_bounded_number_of_points_that_add_up() {
        let lens = |count: usize| ThreadLens {
            checkpoints: (0..count)
                .map(|step| superstep::CheckpointUsage {
                    ns: "".into(),
                    id: step.to_string().as_str().into(),
                    step: step as i64,
                    ts: String::new(),
                    bytes: 10,
                })
                .collect(),
            ..ThreadLens::default()
        };
        assert_eq!(growth(&lens(0)).len(), 0);
        let few = growth(&lens(3));
        let totals: Vec<u64> = few.iter().map(|point| point.total).collect();
        assert_eq!(
            (totals, few[1].bytes, few[1].checkpoints),
            (vec![10, 20, 30], 10, 1)
        );
        assert_eq!(growth(&lens(POINTS)).len(), POINTS);
        let many = growth(&lens(POINTS + 1));
        assert_eq!(many.len(), (POINTS + 1).div_ceil(2));
        assert_eq!((many[0].checkpoints, many[0].bytes, many[0].step), (2, 20, 1));
        assert_eq!(
            many.last().map(|point| point.total),
            Some(10 * (POINTS as u64 + 1))
        );
    }

    #[test]
    fn what_is_kept_is_what_the_rule_says() {
        assert_eq!(Keep::from(KeepRule::Latest), Keep::Latest);
        assert_eq!(Keep::from(KeepRule::Branches), Keep::Branches);
        assert_eq!(Keep::from(KeepRule::Newest { count: 3 }), Keep::Newest(3));
        assert_eq!(Keep::from(KeepRule::Nothing), Keep::Nothing);
    }
}
