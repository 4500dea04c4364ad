//! Reading everything: what takes space, and what cannot be read. Nothing is removed or repaired.

use async_trait::async_trait;
use superstep::checkpoint::{
    CheckpointTuple, CheckpointUsage, Damage, Integrity, KeySums, ListQuery, Maintenance, Progress, Pruning,
    Removal, StorageError, ThreadBreakdown, ThreadUsage, Usage,
};
use superstep::{ThreadId, Value};

use super::LanggraphSaver;
use super::classes::CLASS;
use super::encoded;
use super::record::DAMAGE;
use super::rows::Wanted;
use super::view::ThreadView;
use crate::base::blocking;

/// Pieces of damage that are named one by one.
const MAX_NAMED: usize = 1000;

/// Adds what cannot be read of a checkpoint and of what its tasks stored.
fn note_damage(tuple: &CheckpointTuple, found: &mut Vec<Damage>) {
    let id = &tuple.checkpoint.id;
    let mut note = |what: String| {
        if found.len() < MAX_NAMED {
            found.push(Damage {
                thread: Some(tuple.thread.clone()),
                what,
                repair: None,
            });
        }
    };
    let user = &tuple.checkpoint.metadata.user;
    if let Some(reason) = user.get(DAMAGE).and_then(Value::as_str) {
        note(format!("checkpoint {id}: {reason}"));
    }
    for (key, value) in tuple.checkpoint.channel_values.iter() {
        if let Some(reason) = unreadable(value) {
            note(format!("{key} of checkpoint {id}: {reason}"));
        }
    }
    for row in &tuple.pending_writes {
        if let Some(reason) = unreadable(&row.write.value) {
            let (channel, task) = (&row.write.channel, &row.task_id);
            note(format!("{channel} of task {task} of checkpoint {id}: {reason}"));
        }
    }
}

/// Returns why a value cannot be read, or a part of it.
fn unreadable(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(unreadable),
        Value::Object(object) => {
            let is_it = object.get(CLASS).and_then(Value::as_str) == Some("unreadable");
            let reason = object.get("reason").and_then(Value::as_str).filter(|_| is_it);
            reason
                .map(str::to_owned)
                .or_else(|| object.iter().find_map(|(_, part)| unreadable(part)))
        }
        _ => None,
    }
}

impl LanggraphSaver {
    async fn all_threads(&self) -> Result<Vec<ThreadId>, StorageError> {
        self.read("reading the list of threads", |_, tables| {
            Ok(super::all_threads(tables)?
                .into_iter()
                .map(|(thread, _)| thread.into())
                .collect())
        })
        .await
    }

    /// Looks at every item of long-term memory that lies beside the checkpoints.
    async fn verify_items(&self, integrity: &mut Integrity) -> Result<(), StorageError> {
        let mut last: Option<(String, String)> = None;
        loop {
            let page = self.read("reading long-term memory", move |_, tables| {
                let last = last.as_ref().map(|(prefix, key)| (prefix.as_str(), key.as_str()));
                tables.items_after(last)
            });
            let Some(page) = page.await?.filter(|page| !page.is_empty()) else {
                return Ok(());
            };
            integrity.items += page.len() as u64;
            for row in &page {
                let reason = match &row.value {
                    Ok(bytes) => unreadable(&encoded::decode("json", bytes)),
                    Err(reason) => Some(reason.clone()),
                };
                if let Some(reason) = reason
                    && integrity.damage.len() < MAX_NAMED
                {
                    integrity.damage.push(Damage {
                        thread: None,
                        what: format!("item {} of {}: {reason}", row.key, row.prefix),
                        repair: None,
                    });
                }
            }
            last = page.into_iter().last().map(|row| (row.prefix, row.key));
        }
    }

    async fn size(&self) -> Result<u64, StorageError> {
        let inner = self.inner.clone();
        blocking("measuring the database", move || inner.source.size()).await
    }

    async fn sizes(&self, thread: &ThreadId) -> Result<Vec<CheckpointUsage>, StorageError> {
        let thread = thread.clone();
        self.read("measuring what a thread takes", move |_, tables| {
            let view = ThreadView {
                tables,
                thread: &thread,
            };
            let mut all = Vec::new();
            for ns in view.namespaces()? {
                view.walk(&ns, &ListQuery::new(), Wanted::All, |loaded| {
                    all.push(loaded.usage());
                    Ok(true)
                })?;
            }
            all.sort_by(|a, b| (&a.id, &a.ns).cmp(&(&b.id, &b.ns)));
            Ok(all)
        })
        .await
    }
}

#[async_trait]
impl Maintenance for LanggraphSaver {
    async fn prune_watched(&self, _: &Pruning, _: &Progress) -> Result<Removal, StorageError> {
        Err(self.only_read())
    }

    async fn usage(&self) -> Result<Usage, StorageError> {
        let mut usage = Usage {
            bytes: self.size().await?,
            ..Usage::default()
        };
        for thread in self.all_threads().await? {
            let checkpoints = self.sizes(&thread).await?;
            usage.threads.push(ThreadUsage {
                thread,
                checkpoints: checkpoints.len() as u64,
                bytes: checkpoints.iter().map(|checkpoint| checkpoint.bytes).sum(),
            });
        }
        usage
            .threads
            .sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.thread.cmp(&b.thread)));
        Ok(usage)
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        let of = thread.clone();
        let keys = self.read("measuring what a thread takes", move |_, tables| {
            let view = ThreadView { tables, thread: &of };
            let mut sums = KeySums::default();
            for ns in view.namespaces()? {
                view.walk(&ns, &ListQuery::new(), Wanted::Structure, |loaded| {
                    for (key, bytes, is_new) in loaded.sizes() {
                        // A file has the values of every checkpoint whole, a server those that were written.
                        sums.add(key, if is_new { bytes } else { 0 }, bytes);
                    }
                    Ok(true)
                })?;
            }
            Ok(sums.sorted())
        });
        Ok(ThreadBreakdown {
            keys: keys.await?,
            checkpoints: self.sizes(thread).await?,
        })
    }

    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        if repair {
            return Err(self.only_read());
        }
        let threads = self.all_threads().await?;
        let mut integrity = Integrity::default();
        for place in self
            .read("looking for ids of other types", |_, tables| tables.strange())
            .await?
        {
            integrity.damage.push(Damage {
                thread: None,
                what: place,
                repair: None,
            });
        }
        for thread in threads {
            progress.at(integrity.checkpoints, integrity.checkpoints + 1)?;
            let of = thread.clone();
            let read = self.read("reading checkpoints", move |_, tables| {
                let view = ThreadView { tables, thread: &of };
                let (mut count, mut damage) = (0, Vec::new());
                for ns in view.namespaces()? {
                    view.walk(&ns, &ListQuery::new(), Wanted::All, |loaded| {
                        count += 1;
                        note_damage(&view.tuple(loaded)?, &mut damage);
                        Ok(true)
                    })?;
                }
                Ok((count, damage))
            });
            integrity.threads += 1;
            match read.await {
                Ok((count, damage)) => {
                    integrity.checkpoints += count;
                    let room = MAX_NAMED.saturating_sub(integrity.damage.len());
                    integrity.damage.extend(damage.into_iter().take(room));
                }
                // A page that is damaged, perhaps: the other threads are read.
                Err(error) => integrity.damage.push(Damage {
                    thread: Some(thread),
                    what: error.to_string(),
                    repair: None,
                }),
            }
        }
        self.verify_items(&mut integrity).await?;
        Ok(integrity)
    }
}
