//! `superstep threads copy|export|import|prune|usage|verify`: what is done to whole threads and to the database.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use superstep::checkpoint::{
    CheckpointUsage, Keep, Pruning, Removal, StorageError, ThreadBreakdown, ThreadQuery,
};
use superstep::{CheckpointId, ThreadId};
use superstep_storage::retention::{Exempt, Retention, retain};
use superstep_storage::transfer::{self, SkippedCheckpoint, TransferError, Transferred};
use superstep_workbench::Staged;

use crate::args::Db;
use crate::args::threads::{CopyArgs, ExportThreadArgs, ImportArgs, Kept, PruneArgs, UsageArgs, VerifyArgs};
use crate::confirm::confirm;
use crate::fault::Fault;
use crate::out;
use crate::place::Store;

/// Threads that are listed at a time.
const PAGE: usize = 200;
/// Lost branches that are named.
const MAX_BRANCHES: usize = 10;

/// Returns a callback that shows the progress of long work on a terminal, in a line that is overwritten.
fn progress(what: &'static str) -> impl Fn(u64, u64) -> bool {
    move |done, total| {
        if total > 200 && (done % 100 == 0 || done == total) {
            let shown = match done == total {
                true => String::new(),
                false => format!("{what} {done} of {total}"),
            };
            out::overwrite(&shown);
        }
        true
    }
}

fn fault(error: TransferError, place: &str) -> Fault {
    match error {
        TransferError::Storage(error) => error.into(),
        TransferError::Taken(thread) => {
            Fault::usage(format!("There is a thread {thread} already. Give another name."))
        }
        TransferError::NoThread(thread) => Fault::usage(format!("There is no thread {thread}.")),
        TransferError::File { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe => cause.into(),
        TransferError::File { doing, cause } => Fault::failed(format!(
            "{place} could not be {doing}: {cause}. Nothing was changed."
        )),
        TransferError::Format { .. } | TransferError::Stopped => {
            Fault::usage(format!("{place}: {error}. Nothing was changed."))
        }
    }
}

pub(crate) async fn copy(args: &CopyArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.db).await?;
    let Some(thread) = &args.thread else {
        return everything(&store, args.to.as_deref().unwrap_or_default()).await;
    };
    let from = ThreadId::from(thread.as_str());
    let found = store.thread(&from).await?;
    let (name, count) = match &args.to {
        Some(url) => {
            let to = Store::open(&Db {
                db: Some(url.clone()),
            })
            .await?;
            let name = args.name.as_deref().map_or_else(|| from.clone(), ThreadId::from);
            let watch = progress("checkpoint");
            let copied = transfer::transfer(&*store.saver, &*to.saver, &from, &name, &watch).await;
            let copied = copied.map_err(|error| fault(error, url))?;
            left_out(&from, &copied);
            if copied.known > 0 {
                out::note(&brought_on(&from, &copied));
                return Ok(out::line(name.as_str())?);
            }
            (name, copied.checkpoints)
        }
        None if store.saver.foreign().is_some() => {
            return Err(Fault::usage(
                "These threads are only read. Name a database of your own to copy them to with --to, as in `--to threads.db`.",
            ));
        }
        None => {
            let new = || uuid::Uuid::now_v7().to_string();
            let name = ThreadId::from(args.name.clone().unwrap_or_else(new));
            if store.saver.thread(&name).await?.is_some() {
                return Err(fault(TransferError::Taken(name), &store.name));
            }
            store.saver.copy_thread(&from, &name).await?;
            (name, found.checkpoints)
        }
    };
    if name != from {
        Store::take_run_records(&name, &Store::run_records(&from)?)?;
    }
    out::note(&format!(
        "Copied {from} with {}.",
        out::count(count, "checkpoint")
    ));
    Ok(out::line(name.as_str())?)
}

/// Names what could not be read of a thread that another program makes.
fn left_out(thread: &ThreadId, copied: &Transferred) {
    for what in copied.skipped.iter().take(MAX_BRANCHES) {
        let SkippedCheckpoint { id, cause } = what;
        out::note(&format!(
            "Left out of thread {thread}: Checkpoint {id} of thread {thread}: {cause}"
        ));
    }
    let more = copied.skipped.len().saturating_sub(MAX_BRANCHES);
    if more > 0 {
        out::note(&format!("Left out of thread {thread}: {more} more."));
    }
}

fn brought_on(thread: &ThreadId, copied: &Transferred) -> String {
    match copied.checkpoints {
        0 => format!("Thread {thread} was there already, as new as it is here."),
        new => format!(
            "Thread {thread} was there already; added {}.",
            out::count(new, "checkpoint")
        ),
    }
}

/// Copies every thread that the other place does not have, and every item of the store that it does not have.
async fn everything(store: &Store, url: &str) -> Result<(), Fault> {
    let to = Store::open(&Db {
        db: Some(url.to_owned()),
    })
    .await?;
    let total = store.saver.count_threads(&ThreadQuery::default()).await?;
    let mut page = ThreadQuery::new().limit(PAGE);
    let (mut threads, mut there, mut damaged, watch) = (0, 0, 0, progress("thread"));
    let (mut added, mut incomplete) = (0, 0);
    loop {
        let found = store.saver.threads(&page).await?;
        let Some(last) = found.last() else { break };
        page.after = Some(last.place());
        for thread in found.iter().map(|found| &found.thread) {
            match transfer::transfer(&*store.saver, &*to.saver, thread, thread, &|_, _| true).await {
                Ok(copied) => {
                    left_out(thread, &copied);
                    incomplete += u64::from(!copied.skipped.is_empty());
                    added += if copied.known > 0 { copied.checkpoints } else { 0 };
                    let counted = if copied.known > 0 {
                        &mut there
                    } else {
                        &mut threads
                    };
                    *counted += 1;
                }
                Err(TransferError::Taken(_)) => there += 1,
                // What is wrong with one is no reason to leave the others behind.
                Err(TransferError::Storage(error @ StorageError::Corrupt { .. })) => {
                    damaged += 1;
                    out::note(&format!("Thread {thread} was not copied: {error}"));
                }
                Err(error) => return Err(fault(error, &to.name)),
            }
            watch(threads + there + damaged, total);
        }
    }
    // What a program remembers across threads is for the program's own place.
    let items = match store.saver.foreign() {
        Some(_) => 0,
        None => transfer::items(&*store.memory, &*to.memory).await?,
    };
    let known = match (there, added) {
        (0, _) => String::new(),
        (there, 0) => format!(" There already: {}.", out::count(there, "thread")),
        (there, added) => format!(
            " There already: {}, to which {} were added.",
            out::count(there, "thread"),
            out::count(added, "checkpoint")
        ),
    };
    out::note(&format!(
        "Copied {} and {} to {}.{known}",
        out::count(threads, "thread"),
        out::count(items, "item"),
        to.name
    ));
    if incomplete > 0 {
        out::note(&format!(
            "{} have checkpoints that could not be read. `superstep threads verify{}` names all.",
            out::count(incomplete, "thread"),
            store.option
        ));
    }
    match damaged {
        0 => Ok(()),
        _ => Err(Fault::failed(format!(
            "{} could not be read. `superstep threads verify{}` says what is damaged, and what --repair would do.",
            out::count(damaged, "thread"),
            store.option
        ))),
    }
}

pub(crate) async fn export(args: &ExportThreadArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    store.thread(&thread).await?;
    let about = Store::run_records(&thread)?;
    let Some(path) = &args.output else {
        let mut stdout = out::JsonOut::default();
        let written = transfer::export(&*store.saver, &thread, &about, &mut stdout, &|_, _| true).await;
        return written.map(drop).map_err(|error| fault(error, "stdout"));
    };
    let place = path.display().to_string();
    let cannot = |error: io::Error| Fault::failed(format!("{place} cannot be written: {error}."));
    // What was there before stays until the new file is whole.
    let staged = Staged::begin(path).map_err(cannot)?;
    let mut file = BufWriter::new(&staged.file);
    let watch = progress("checkpoint");
    let count = transfer::export(&*store.saver, &thread, &about, &mut file, &watch)
        .await
        .map_err(|error| fault(error, &place))?;
    file.flush().map_err(cannot)?;
    drop(file);
    staged.finish().map_err(cannot)?;
    out::note(&format!("Wrote {} to {place}.", out::count(count, "checkpoint")));
    Ok(())
}

pub(crate) async fn import(args: &ImportArgs) -> Result<(), Fault> {
    let place = args.file.display().to_string();
    let file = match args.file == Path::new("-") {
        true => None,
        false => Some(
            File::open(&args.file)
                .map_err(|error| Fault::usage(format!("{place} cannot be read: {error}. Check the path.")))?,
        ),
    };
    let store = Store::open(&args.db).await?;
    let name = args.name.as_deref().map(ThreadId::from);
    let watch = progress("checkpoint");
    let came = match file {
        Some(file) => {
            let mut input = BufReader::new(file);
            transfer::import(&*store.saver, &mut input, name.as_ref(), &watch).await
        }
        None => {
            let mut input = BufReader::new(io::stdin());
            transfer::import(&*store.saver, &mut input, name.as_ref(), &watch).await
        }
    };
    let came = came.map_err(|error| match error {
        TransferError::Taken(thread) => Fault::usage(format!(
            "There is a thread {thread} already. Give the imported one another name with --as."
        )),
        error => fault(error, &place),
    })?;
    Store::take_run_records(&came.thread, &came.about)?;
    out::note(&format!(
        "Imported {} with {}.",
        came.original,
        out::count(came.checkpoints, "checkpoint")
    ));
    Ok(out::line(came.thread.as_str())?)
}

/// Bookmarks that the pruning meets.
struct Marked {
    exempt: Exempt,
    /// Of the threads that are named; nobody counts those of others.
    named: usize,
}

impl Marked {
    fn of(args: &PruneArgs) -> Result<Self, Fault> {
        let mut marked = Self {
            exempt: Exempt::default(),
            named: 0,
        };
        let nothing = args.keep == Some(Kept(Keep::Nothing));
        for (thread, checkpoints) in Store::bookmarks()? {
            let named = args.threads.contains(&thread);
            if named {
                marked.named += checkpoints.len();
            }
            // A user who names a thread and keeps nothing of it is shown what goes with it.
            if nothing && named {
                continue;
            }
            // A thread that somebody marked is one that somebody wants to find again.
            if nothing {
                marked.exempt.threads.insert(thread.into());
            }
            let checkpoints = checkpoints.into_iter().map(CheckpointId::from);
            marked.exempt.checkpoints.extend(checkpoints);
        }
        Ok(marked)
    }
}

async fn removal(store: &Store, args: &PruneArgs, marked: &Marked, dry_run: bool) -> Result<Removal, Fault> {
    // What is kept is asked for unless runs are named.
    let keep = args.keep.map_or(Keep::Latest, |keep| keep.0);
    if let Some(days) = args.idle {
        let rule = Retention::new(Duration::from_hours(24 * u64::from(days)), keep).dry_run(dry_run);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let watch = progress("thread");
        return Ok(retain(&*store.saver, &rule, now, &marked.exempt, &watch).await?);
    }
    let threads = args.threads.iter().map(|thread| ThreadId::from(thread.as_str()));
    let mut pruning = match args.runs.is_empty() {
        true => Pruning::threads(threads, keep),
        false => Pruning::runs(args.runs.iter().cloned()),
    };
    pruning.retain.clone_from(&marked.exempt.checkpoints);
    pruning.dry_run = dry_run;
    Ok(superstep::inspect::prune(&*store.saver, &pruning).await?)
}

fn described(removal: &Removal) -> String {
    let mut parts = vec![out::count(removal.checkpoints, "checkpoint")];
    if removal.threads > 0 {
        parts.push(out::count(removal.threads, "whole thread"));
    }
    if let Some(bytes) = removal.bytes {
        parts.push(out::size(bytes));
    }
    parts.join(", ")
}

pub(crate) async fn prune(args: &PruneArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    // All or none: a wrong name is found before anything is gone.
    for thread in &args.threads {
        store.thread(&thread.as_str().into()).await?;
    }
    let marked = Marked::of(args)?;
    let plan = removal(&store, args, &marked, true).await?;
    let nothing = plan.checkpoints == 0;
    let goes = args.keep == Some(Kept(Keep::Nothing)) && args.idle.is_none();
    if !args.reading.json {
        let bookmarks = out::count(marked.named as u64, "bookmarked checkpoint");
        match (marked.named, goes) {
            (0, _) if !marked.exempt.checkpoints.is_empty() && args.threads.is_empty() => {
                out::note("What is bookmarked in the app stays.");
            }
            (0, _) => {}
            (_, true) => out::note(&format!("with the thread goes what was marked: {bookmarks}")),
            (_, false) => out::note(&format!("what is bookmarked in the app stays: {bookmarks}")),
        }
        for (thread, checkpoint) in plan.branches.iter().take(MAX_BRANCHES) {
            out::note(&format!("a branch of {thread} is lost: {checkpoint}"));
        }
        if plan.branches.len() > MAX_BRANCHES {
            out::note(&format!("and {} more", plan.branches.len() - MAX_BRANCHES));
        }
    }
    let went = if args.dry_run || nothing {
        plan
    } else {
        confirm(
            args.yes,
            "Pruning",
            &format!("Remove {} for good?", described(&plan)),
        )?;
        removal(&store, args, &marked, false).await?
    };
    if args.reading.json {
        let branches: Vec<_> = went
            .branches
            .iter()
            .map(|(thread, checkpoint)| json!({"thread_id": thread, "checkpoint_id": checkpoint}))
            .collect();
        return Ok(out::pretty(&json!({
            "dry_run": args.dry_run,
            "threads": went.threads,
            "checkpoints": went.checkpoints,
            "bytes": went.bytes,
            "bookmarks": if goes { 0 } else { marked.named },
            "lost_branches": branches,
            "skipped_threads": went.skipped,
        }))?);
    }
    out::note(&match (nothing, args.dry_run) {
        (true, _) => "There is nothing to remove.".to_owned(),
        (false, true) => format!("Would remove {}.", described(&went)),
        (false, false) => format!("Removed {}.", described(&went)),
    });
    if !went.skipped.is_empty() {
        let skipped = out::count(went.skipped.len() as u64, "thread");
        out::note(&format!("Left as it was, because a program runs it: {skipped}."));
    }
    Ok(())
}

pub(crate) async fn usage(args: &UsageArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    if let Some(thread) = &args.thread {
        return keys(&store, &thread.as_str().into(), args).await;
    }
    let usage = store.saver.usage().await?;
    let shown = usage.threads.iter().take(args.limit);
    if args.reading.json {
        let threads: Vec<_> = shown
            .map(|thread| {
                json!({"thread_id": thread.thread, "checkpoints": thread.checkpoints, "bytes": thread.bytes})
            })
            .collect();
        return Ok(out::pretty(&json!({
            "bytes": usage.bytes,
            "free": usage.free,
            "shared": usage.shared,
            "store": usage.store,
            "thread_count": usage.threads.len(),
            "threads": threads,
        }))?);
    }
    out::note(&format!(
        "{} in {}: {}, of which {} are free and {} the store; sharing saves {}.",
        out::count(usage.threads.len() as u64, "thread"),
        store.name,
        out::size(usage.bytes),
        out::size(usage.free),
        out::size(usage.store),
        out::size(usage.shared),
    ));
    let rows: Vec<Vec<String>> = shown
        .map(|thread| {
            vec![
                thread.thread.to_string(),
                thread.checkpoints.to_string(),
                out::size(thread.bytes),
            ]
        })
        .collect();
    Ok(out::table(&["THREAD", "CHECKPOINTS", "SIZE"], &rows)?)
}

async fn keys(store: &Store, thread: &ThreadId, args: &UsageArgs) -> Result<(), Fault> {
    store.thread(thread).await?;
    let breakdown = store.saver.breakdown(thread).await?;
    if args.growth {
        return growth(thread, &breakdown, args);
    }
    let shown = breakdown.keys.iter().take(args.limit);
    let bytes: u64 = breakdown
        .checkpoints
        .iter()
        .map(|checkpoint| checkpoint.bytes)
        .sum();
    if args.reading.json {
        let keys: Vec<_> = shown
            .map(|key| json!({"key": key.key, "versions": key.versions, "bytes": key.bytes, "whole": key.whole}))
            .collect();
        return Ok(out::pretty(&json!({
            "thread_id": thread,
            "checkpoints": breakdown.checkpoints.len(),
            "bytes": bytes,
            "keys": keys,
        }))?);
    }
    out::note(&format!(
        "{}, {}.",
        out::count(breakdown.checkpoints.len() as u64, "checkpoint"),
        out::size(bytes)
    ));
    let rows: Vec<Vec<String>> = shown
        .map(|key| {
            vec![
                key.key.to_string(),
                key.versions.to_string(),
                out::size(key.bytes),
                out::size(key.whole),
            ]
        })
        .collect();
    Ok(out::table(&["KEY", "VERSIONS", "SIZE", "WHOLE"], &rows)?)
}

/// Prints what each checkpoint added, the oldest first.
fn growth(thread: &ThreadId, breakdown: &ThreadBreakdown, args: &UsageArgs) -> Result<(), Fault> {
    let mut total = 0;
    let mut grown = Vec::with_capacity(breakdown.checkpoints.len());
    for checkpoint in &breakdown.checkpoints {
        total += checkpoint.bytes;
        grown.push((checkpoint, total));
    }
    let shown = &grown[grown.len().saturating_sub(args.limit)..];
    if args.reading.json {
        let each = |(checkpoint, total): &(&CheckpointUsage, u64)| {
            json!({
                "checkpoint_id": checkpoint.id,
                "checkpoint_ns": checkpoint.ns,
                "step": checkpoint.step,
                "ts": checkpoint.ts,
                "bytes": checkpoint.bytes,
                "total": total,
            })
        };
        let growth: Vec<_> = shown.iter().map(each).collect();
        return Ok(out::pretty(
            &json!({"thread_id": thread, "bytes": total, "growth": growth}),
        )?);
    }
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|(checkpoint, total)| {
            vec![
                checkpoint.id.to_string(),
                checkpoint.ns.to_string(),
                checkpoint.step.to_string(),
                checkpoint.ts.clone(),
                out::size(checkpoint.bytes),
                out::size(*total),
            ]
        })
        .collect();
    Ok(out::table(
        &["CHECKPOINT", "NAMESPACE", "STEP", "MADE", "ADDED", "TOTAL"],
        &rows,
    )?)
}

pub(crate) async fn verify(args: &VerifyArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let found = store.saver.verify(args.repair).await?;
    if args.reading.json {
        let damage: Vec<_> = found
            .damage
            .iter()
            .map(|damage| json!({"thread_id": damage.thread, "what": damage.what, "repair": damage.repair}))
            .collect();
        out::pretty(&json!({
            "threads": found.threads,
            "checkpoints": found.checkpoints,
            "items": found.items,
            "damage": damage,
            "repaired": found.repaired,
        }))?;
    } else {
        for damage in &found.damage {
            let thread = damage.thread.as_ref().map(|thread| format!("thread {thread}: "));
            let line = format!("{}{}", thread.unwrap_or_default(), damage.what);
            out::line(&line)?;
            match (&damage.repair, found.repaired) {
                (Some(repair), true) => out::line(&format!("    repaired: {repair}"))?,
                (Some(repair), false) => out::line(&format!("    --repair would: {repair}"))?,
                (None, _) => out::line("    nothing can be done about it")?,
            }
        }
        out::note(&format!(
            "Read {} with {}, and {}: {}.",
            out::count(found.threads, "thread"),
            out::count(found.checkpoints, "checkpoint"),
            out::count(found.items, "item of the store").replace("item of the stores", "items of the store"),
            match found.damage.len() {
                0 => "everything is sound".to_owned(),
                count => format!("{} found", out::count(count as u64, "damaged place")),
            }
        ));
    }
    let left = found
        .damage
        .iter()
        .any(|damage| !found.repaired || damage.repair.is_none());
    if left {
        Err(Fault::quiet(crate::fault::FAILED))
    } else {
        Ok(())
    }
}
