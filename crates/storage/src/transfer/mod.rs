//! Moving a whole thread: from one backend to another, into a file, out of a file.
//!
//! A thread travels as its checkpoints, the oldest first, each as what it changes against its parent. So a long
//! conversation makes a file that grows with what was said and not with the square of it. Ids stay as they are: what
//! refers to a checkpoint or a question finds it in the other place too.
//!
//! The file is JSON lines: a head that names the format, one line per checkpoint, and an end that counts them, so that
//! a file that was cut off is distinguished from a whole one. A thread that could not be taken over whole is not there at all.

//! A thread that another program makes is brought in the same way, checkpoint by checkpoint in the form that ours have. What
//! cannot be read of it is named and left out. Its copy may be brought on: when the program has gone on with it, or when
//! copying was interrupted, what is missing is added, as long as the copy has not gone a way of its own.

mod file;
mod thread;

use std::time::Duration;

use superstep::checkpoint::{StorageError, Watch};
use superstep::run::{Clock as _, SystemClock};
use superstep::store::{StoreError, StoreOp, StoreQuery, Ttl};
use superstep::{CheckpointId, Checkpointer, Store, ThreadId, Value};

pub use file::{Imported, export, import};
use thread::{Reader, Writer};

/// Reason why a thread could not be transferred.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// One of the two backends failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// There is nothing to take.
    #[error("there is no thread {0}")]
    NoThread(ThreadId),
    /// The name is in use.
    #[error("there is a thread {0} already; choose another name")]
    Taken(ThreadId),
    /// The file could not be read or written.
    #[error("the file could not be {doing}: {cause}")]
    File {
        /// read or written
        doing: &'static str,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("line {line} of the file cannot be used: {cause}")]
    Format {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        cause: String,
    },
    /// The caller wanted it to stop.
    #[error("it was stopped; nothing was changed")]
    Stopped,
}

/// A checkpoint that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCheckpoint {
    /// The checkpoint.
    pub id: CheckpointId,
    /// Why it could not be read.
    pub cause: String,
}

/// Report of a thread that was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Checkpoints that were stored.
    pub checkpoints: u64,
    /// Checkpoints that the copy had already.
    pub known: u64,
    /// Checkpoints that could not be read and were left out; only of a thread that another program makes.
    pub skipped: Vec<SkippedCheckpoint>,
    /// Set when it was stopped before everything was there; what the copy has stays, and copying again goes on.
    pub stopped: bool,
}

/// Items that are copied together.
const ITEMS: usize = 200;

/// Copies the items of a store that the other one does not have; says how many. Each is put there as a new one: its times are those of
/// the copy, and one that expires does so when it would have here.
pub async fn items(from: &dyn Store, to: &dyn Store) -> Result<u64, StoreError> {
    let (mut count, mut offset) = (0, 0);
    loop {
        let query = StoreQuery::default()
            .limit(ITEMS)
            .offset(offset)
            .refresh_ttl(false);
        let page = from.search(query).await?;
        offset += page.len();
        let known = page.iter().map(|item| StoreOp::Get {
            namespace: item.namespace.clone(),
            key: item.key.clone(),
            refresh_ttl: Some(false),
        });
        let known = to.batch(known.collect()).await?;
        let mut puts = Vec::new();
        for (item, known) in page.iter().zip(known) {
            if known.into_item().is_some() {
                continue;
            }
            let labels: Vec<&str> = item.namespace.iter().map(String::as_str).collect();
            let put = StoreOp::put(&labels, item.key.clone(), Value::Object(item.value.clone()))?;
            let left = |at: u64| Duration::from_millis(at.saturating_sub(SystemClock.now_ms()).max(1));
            puts.push(put.living(item.expires_at.map_or(Ttl::Never, |at| Ttl::For(left(at)))));
        }
        count += puts.len() as u64;
        to.batch(puts).await?;
        if page.len() < ITEMS {
            return Ok(count);
        }
    }
}

/// Copies a thread from one backend to another under a name that is free there. A copy of a thread that another program
/// makes is brought on instead, if it has nothing that the thread has not.
pub async fn transfer(
    from: &dyn Checkpointer,
    to: &dyn Checkpointer,
    thread: &ThreadId,
    name: &ThreadId,
    watch: Watch<'_>,
) -> Result<Transferred, TransferError> {
    let mut reader = Reader::open(from, thread).await?;
    reader.skips_damage = from.foreign().is_some();
    let mut writer = Writer::open(to, name, from.foreign().map(|_| reader.places())).await?;
    let known = writer.known.len() as u64;
    let done = async {
        while let Some((parcel, _)) = reader.next().await? {
            writer.add(parcel).await?;
            if !watch(reader.done(), reader.total) {
                return Err(TransferError::Stopped);
            }
        }
        Ok(())
    }
    .await;
    let (done, stopped) = match done {
        // What was there before is not taken away again.
        Err(TransferError::Stopped) if known > 0 => (Ok(()), true),
        done => (done, false),
    };
    Ok(Transferred {
        checkpoints: writer.end(done).await?,
        known,
        skipped: reader.skipped,
        stopped,
    })
}
