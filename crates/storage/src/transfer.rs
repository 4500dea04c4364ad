//! Moving a whole thread: from one backend to another, into a file, out of a file.
//!
//! A thread travels as its checkpoints, the oldest first, each as what it changes against its parent. So a long
//! conversation makes a file that grows with what was said and not with the square of it. Ids stay as they are: what
//! refers to a checkpoint or a question finds it in the other place too.
//!
//! The file is JSON lines: a head that names the format, one line per checkpoint, and an end that counts them, so that
//! a file that was cut off is told from a whole one. A thread that could not be taken over whole is not there at all.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Write as Output};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::{
    Change, Checkpoint, CheckpointId, Checkpointer, Clock as _, Commit, ListQuery, Metadata, Name, Object,
    Put, StorageError, Store, StoreError, StoreOp, StoreQuery, SystemClock, TaskWrites, ThreadId, Ttl, Value,
    Watch, Write,
};

/// What the head of a file says it is.
const FORMAT: &str = "superstep-thread/1";
/// Checkpoints that are stored together.
const AT_ONCE: usize = 64;

/// Why a thread did not get where it should.
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
    /// Whoever watched wanted it to stop.
    #[error("it was stopped; nothing was changed")]
    Stopped,
}

/// A checkpoint on its way.
struct Parcel {
    put: Put,
    ns: Name,
    writes: Vec<TaskWrites>,
}

impl Parcel {
    fn commit(self, thread: &ThreadId) -> Commit {
        Commit {
            thread: thread.clone(),
            ns: self.ns,
            writes: self.writes,
            put: Some(self.put),
        }
    }
}

/// Checkpoints that others continue, for as long as one of those is still to come.
#[derive(Default)]
struct Parents {
    held: HashMap<(Name, CheckpointId), Checkpoint>,
    /// How many continue each.
    awaited: HashMap<(Name, CheckpointId), usize>,
}

impl Parents {
    /// The parent of a checkpoint, which is not asked for again by this one.
    fn take(&mut self, ns: &Name, parent: Option<&CheckpointId>) -> Option<Checkpoint> {
        let place = (ns.clone(), parent?.clone());
        if let Some(count) = self.awaited.get_mut(&place)
            && *count > 1
        {
            *count -= 1;
            return self.held.get(&place).cloned();
        }
        self.held.remove(&place)
    }

    fn hold(&mut self, ns: &Name, checkpoint: &Checkpoint) {
        let place = (ns.clone(), checkpoint.id.clone());
        if self.awaited.contains_key(&place) {
            self.held.insert(place, checkpoint.clone());
        }
    }
}

/// Reads a thread, the oldest checkpoint first.
struct Reader<'a> {
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    /// The newest first: they are taken from the end.
    left: Vec<(Name, CheckpointId)>,
    total: u64,
    parents: Parents,
}

impl<'a> Reader<'a> {
    async fn open(saver: &'a dyn Checkpointer, thread: &'a ThreadId) -> Result<Self, TransferError> {
        let heads = saver
            .heads(&ListQuery {
                thread: Some(thread.clone()),
                ..ListQuery::default()
            })
            .await?;
        if heads.is_empty() {
            return Err(TransferError::NoThread(thread.clone()));
        }
        let mut parents = Parents::default();
        for head in &heads {
            if let Some(parent) = &head.parent {
                *parents
                    .awaited
                    .entry((head.ns.clone(), parent.clone()))
                    .or_default() += 1;
            }
        }
        Ok(Self {
            saver,
            thread,
            total: heads.len() as u64,
            left: heads.into_iter().map(|head| (head.ns, head.id)).collect(),
            parents,
        })
    }

    fn done(&self) -> u64 {
        self.total - self.left.len() as u64
    }

    async fn next(&mut self) -> Result<Option<(Parcel, Option<Checkpoint>)>, TransferError> {
        while let Some((ns, id)) = self.left.pop() {
            // A checkpoint that was pruned meanwhile is one that nobody wants to keep.
            let Some(tuple) = self.saver.get(self.thread, &ns, Some(&id)).await? else {
                continue;
            };
            let parent = self.parents.take(&ns, tuple.checkpoint.parent.as_ref());
            self.parents.hold(&ns, &tuple.checkpoint);
            let mut writes: Vec<TaskWrites> = Vec::new();
            for pending in tuple.pending_writes {
                match writes.last_mut().filter(|last| last.task_id == pending.task_id) {
                    Some(last) => last.writes.push(pending.write),
                    None => writes.push(TaskWrites {
                        checkpoint_id: id.clone(),
                        task_id: pending.task_id,
                        task_path: pending.task_path,
                        writes: vec![pending.write],
                    }),
                }
            }
            let put = put(tuple.checkpoint, parent.as_ref());
            return Ok(Some((Parcel { put, ns, writes }, parent)));
        }
        Ok(None)
    }
}

/// A checkpoint with what it changes against its parent.
fn put(checkpoint: Checkpoint, parent: Option<&Checkpoint>) -> Put {
    let version = |name: &Name| parent.and_then(|parent| parent.channel_versions.get(name));
    let versions = checkpoint.channel_versions.iter();
    let changes = versions
        .filter(|(name, now)| version(name) != Some(now))
        .map(|(name, _)| Change {
            channel: name.clone(),
            appended_from: appended_from(
                parent.and_then(|parent| parent.channel_values.get(name)),
                checkpoint.channel_values.get(name),
            ),
        })
        .collect();
    let seen = checkpoint
        .versions_seen
        .iter()
        .filter(|(node, now)| parent.and_then(|parent| parent.versions_seen.get(node)) != Some(now))
        .map(|(node, _)| node.clone())
        .collect();
    Put {
        checkpoint,
        changes,
        seen,
    }
}

fn appended_from(before: Option<&Value>, now: Option<&Value>) -> Option<usize> {
    match (before, now) {
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            let grown = before.len() <= now.len() && before.iter().zip(now.iter()).all(|(a, b)| alike(a, b));
            grown.then_some(before.len())
        }
        _ => None,
    }
}

/// Equal? Items that a backend has read once are the same in memory, and need no look inside.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.same(b) || a == b,
        (Value::Array(a), Value::Array(b)) => a.same(b) || a == b,
        (a, b) => a == b,
    }
}

/// Stores checkpoints as a new thread, or leaves nothing behind.
struct Writer<'a> {
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    waiting: Vec<Commit>,
    stored: u64,
}

impl<'a> Writer<'a> {
    async fn open(saver: &'a dyn Checkpointer, thread: &'a ThreadId) -> Result<Self, TransferError> {
        let any = ListQuery {
            thread: Some(thread.clone()),
            limit: Some(1),
            ..ListQuery::default()
        };
        if !saver.heads(&any).await?.is_empty() {
            return Err(TransferError::Taken(thread.clone()));
        }
        Ok(Self {
            saver,
            thread,
            waiting: Vec::new(),
            stored: 0,
        })
    }

    async fn add(&mut self, parcel: Parcel) -> Result<(), TransferError> {
        self.waiting.push(parcel.commit(self.thread));
        if self.waiting.len() >= AT_ONCE {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), TransferError> {
        let commits = std::mem::take(&mut self.waiting);
        self.stored += commits.len() as u64;
        Ok(self.saver.commit_all(commits).await?)
    }

    /// Ends the work: what was begun is complete, or gone.
    async fn end(mut self, done: Result<(), TransferError>) -> Result<u64, TransferError> {
        let done = match done {
            Ok(()) => self.flush().await,
            Err(error) => Err(error),
        };
        if done.is_err() && self.stored > 0 {
            // The reason why it failed says more than that tidying up failed too.
            if let Err(error) = self.saver.delete_thread(self.thread).await {
                tracing::warn!(thread = %self.thread, %error, "what was stored of it could not be removed");
            }
        }
        done.map(|()| self.stored)
    }
}

/// Items that are copied together.
const ITEMS: usize = 200;

/// Copies the items of a store that the other one does not have; says how many. Each is put anew there: its times are those of
/// the copy, and one that expires does so when it would have here.
pub async fn items(from: &dyn Store, to: &dyn Store) -> Result<u64, StoreError> {
    let (mut count, mut offset) = (0, 0);
    loop {
        let query = StoreQuery {
            limit: ITEMS,
            offset,
            refresh_ttl: Some(false),
            ..StoreQuery::default()
        };
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

/// Copies a thread from one backend to another under a name that is free there; says how many checkpoints it has.
pub async fn transfer(
    from: &dyn Checkpointer,
    to: &dyn Checkpointer,
    thread: &ThreadId,
    name: &ThreadId,
    watch: Watch<'_>,
) -> Result<u64, TransferError> {
    let mut reader = Reader::open(from, thread).await?;
    let mut writer = Writer::open(to, name).await?;
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
    writer.end(done).await
}

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: String,
    thread: ThreadId,
    checkpoints: u64,
    /// What the host knows of the thread, such as its title.
    #[serde(default)]
    about: Object,
}

/// The last line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct End {
    end: u64,
}

/// A checkpoint as a line: what differs from its parent, or everything when `whole`.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    ns: Name,
    id: CheckpointId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<CheckpointId>,
    ts: String,
    metadata: Metadata,
    next: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated: Option<Vec<Name>>,
    #[serde(default)]
    whole: bool,
    versions: BTreeMap<Name, u64>,
    seen: BTreeMap<Name, BTreeMap<Name, u64>>,
    /// Values that were replaced.
    values: Object,
    /// Items that were added to lists.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    added: Object,
    /// Keys that have no value any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    writes: Vec<TaskLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct TaskLine {
    task: superstep::TaskId,
    path: String,
    writes: Vec<(i32, Name, Value)>,
}

impl Line {
    fn of(parcel: Parcel, parent: Option<&Checkpoint>) -> Self {
        let Put {
            checkpoint,
            mut changes,
            mut seen,
        } = parcel.put;
        // A line cannot say that a version is gone; it says everything instead.
        let known = |parent: &&Checkpoint| {
            parent
                .channel_versions
                .keys()
                .all(|name| checkpoint.channel_versions.contains_key(name))
                && parent
                    .versions_seen
                    .keys()
                    .all(|node| checkpoint.versions_seen.contains_key(node))
        };
        let parent = parent.filter(known);
        if parent.is_none() {
            changes = checkpoint
                .channel_versions
                .keys()
                .map(|name| Change {
                    channel: name.clone(),
                    appended_from: None,
                })
                .collect();
            seen = checkpoint.versions_seen.keys().cloned().collect();
        }
        let (mut values, mut added) = (Object::new(), Object::new());
        for change in &changes {
            match (
                checkpoint.channel_values.get(&change.channel),
                change.appended_from,
            ) {
                (Some(Value::Array(items)), Some(from)) => {
                    added.insert(change.channel.clone(), Value::Array(items.skip(from)));
                }
                (Some(value), _) => {
                    values.insert(change.channel.clone(), value.clone());
                }
                (None, _) => {}
            }
        }
        let gone = match parent {
            Some(parent) => {
                // A value can come and go without a new version: that of a delta key, which is stored now and then.
                for (name, value) in &checkpoint.channel_values {
                    if !parent.channel_values.contains_key(name) {
                        values.insert(name.clone(), value.clone());
                    }
                }
                let names = parent.channel_values.keys();
                names
                    .filter(|name| !checkpoint.channel_values.contains_key(name))
                    .cloned()
                    .collect()
            }
            None => Vec::new(),
        };
        let version = |name: &Name| checkpoint.channel_versions.get(name).copied();
        let entry = |node: &Name| {
            let versions = checkpoint.versions_seen.get(node)?.iter();
            Some(versions.map(|(name, version)| (name.clone(), *version)).collect())
        };
        Line {
            ns: parcel.ns,
            whole: parent.is_none(),
            versions: changes
                .iter()
                .filter_map(|change| Some((change.channel.clone(), version(&change.channel)?)))
                .collect(),
            seen: seen
                .iter()
                .filter_map(|node| Some((node.clone(), entry(node)?)))
                .collect(),
            values,
            added,
            gone,
            writes: parcel
                .writes
                .into_iter()
                .map(|task| TaskLine {
                    task: task.task_id,
                    path: task.task_path.to_string(),
                    writes: task
                        .writes
                        .into_iter()
                        .map(|write| (write.idx, write.channel, write.value))
                        .collect(),
                })
                .collect(),
            id: checkpoint.id,
            parent: checkpoint.parent,
            ts: checkpoint.ts,
            metadata: checkpoint.metadata,
            next: checkpoint.next,
            updated: checkpoint.updated_channels,
        }
    }

    fn parcel(self, parent: Option<&Checkpoint>) -> Result<Parcel, String> {
        let base = match (self.whole, parent) {
            (true, _) => None,
            (false, Some(parent)) => Some(parent),
            (false, None) => return Err("what it continues did not come before it".to_owned()),
        };
        let mut values = base.map(|base| base.channel_values.clone()).unwrap_or_default();
        let mut versions = base.map(|base| base.channel_versions.clone()).unwrap_or_default();
        let mut seen = base.map(|base| base.versions_seen.clone()).unwrap_or_default();
        for (name, items) in self.added.iter() {
            let (Some(Value::Array(list)), Value::Array(items)) = (values.get(name), items) else {
                return Err(format!("items are added to {name}, which is no list before it"));
            };
            let mut list = list.clone();
            list.append(items);
            values.insert(name.clone(), Value::Array(list));
        }
        for (name, value) in self.values.iter() {
            values.insert(name.clone(), value.clone());
        }
        for name in &self.gone {
            values.remove(name);
        }
        versions.extend(self.versions);
        let entries = self.seen.into_iter();
        seen.extend(
            entries.map(|(node, entry)| (node, entry.into_iter().collect::<superstep::ChannelVersions>())),
        );
        let checkpoint = Checkpoint {
            id: self.id.clone(),
            parent: self.parent,
            ts: self.ts,
            channel_values: values,
            channel_versions: versions,
            versions_seen: seen,
            updated_channels: self.updated,
            metadata: self.metadata,
            next: self.next,
        };
        let writes = self
            .writes
            .into_iter()
            .map(|task| TaskWrites {
                checkpoint_id: self.id.clone(),
                task_id: task.task,
                task_path: task.path.into(),
                writes: task
                    .writes
                    .into_iter()
                    .map(|(idx, channel, value)| Write { idx, channel, value })
                    .collect(),
            })
            .collect();
        Ok(Parcel {
            put: put(checkpoint, parent),
            ns: self.ns,
            writes,
        })
    }
}

fn write_line(out: &mut (dyn Output + Send), line: &impl Serialize) -> Result<(), TransferError> {
    let doing = "written";
    let mut text = serde_json::to_vec(line).map_err(|error| TransferError::File {
        doing,
        cause: error.into(),
    })?;
    text.push(b'\n');
    out.write_all(&text)
        .map_err(|cause| TransferError::File { doing, cause })
}

/// Writes a thread as JSON lines, with what the host knows `about` it; says how many checkpoints it has.
pub async fn export(
    from: &dyn Checkpointer,
    thread: &ThreadId,
    about: &Object,
    out: &mut (dyn Output + Send),
    watch: Watch<'_>,
) -> Result<u64, TransferError> {
    let mut reader = Reader::open(from, thread).await?;
    let head = Head {
        format: FORMAT.to_owned(),
        thread: thread.clone(),
        checkpoints: reader.total,
        about: about.clone(),
    };
    write_line(out, &head)?;
    let mut end = 0;
    while let Some((parcel, parent)) = reader.next().await? {
        write_line(out, &Line::of(parcel, parent.as_ref()))?;
        end += 1;
        if !watch(reader.done(), reader.total) {
            return Err(TransferError::Stopped);
        }
    }
    write_line(out, &End { end })?;
    out.flush().map_err(|cause| TransferError::File {
        doing: "written",
        cause,
    })?;
    Ok(end)
}

/// A thread that was taken out of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its name here.
    pub thread: ThreadId,
    /// Its name where it was exported.
    pub original: ThreadId,
    /// How many checkpoints it has.
    pub checkpoints: u64,
    /// What the host that exported it knew about it.
    pub about: Object,
}

/// The lines of a file, each known by its number.
struct Lines<'a> {
    input: &'a mut (dyn BufRead + Send),
    text: String,
    number: u64,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<&str>, TransferError> {
        self.text.clear();
        self.number += 1;
        let read = self.input.read_line(&mut self.text);
        let read = read.map_err(|cause| match cause.kind() {
            std::io::ErrorKind::InvalidData => self.wrong("it is not text in UTF-8"),
            _ => TransferError::File { doing: "read", cause },
        })?;
        Ok((read > 0).then_some(self.text.as_str()))
    }

    fn wrong(&self, cause: impl Into<String>) -> TransferError {
        TransferError::Format {
            line: self.number,
            cause: cause.into(),
        }
    }

    fn head(&mut self) -> Result<Head, TransferError> {
        const WRONG: &str = "it is not the beginning of an exported thread";
        let parsed = match self.next()? {
            Some(text) => serde_json::from_str::<Head>(text.trim_start_matches('\u{feff}')).ok(),
            None => None,
        };
        let head = parsed.ok_or_else(|| self.wrong(WRONG))?;
        if head.format != FORMAT {
            let cause = if head.format.starts_with("superstep-thread/") {
                format!("it has the format {}, which a newer release reads", head.format)
            } else {
                WRONG.to_owned()
            };
            return Err(self.wrong(cause));
        }
        Ok(head)
    }
}

/// Takes a thread out of a file, under the name it had or another one that is free.
pub async fn import(
    to: &dyn Checkpointer,
    input: &mut (dyn BufRead + Send),
    name: Option<&ThreadId>,
    watch: Watch<'_>,
) -> Result<Imported, TransferError> {
    let mut lines = Lines {
        input,
        text: String::new(),
        number: 0,
    };
    let head = lines.head()?;
    let thread = name.unwrap_or(&head.thread).clone();
    let mut writer = Writer::open(to, &thread).await?;
    // A file does not say how often a checkpoint is continued; holding a checkpoint costs what it changed.
    let mut known: HashMap<(Name, CheckpointId), Checkpoint> = HashMap::new();
    let done = async {
        let mut count = 0;
        loop {
            let Some(text) = lines.next()? else {
                return Err(lines.wrong("the file ends before the thread does: it was cut off"));
            };
            if let Ok(End { end }) = serde_json::from_str(text) {
                if end != count {
                    return Err(lines.wrong(format!("{end} checkpoints should come before it, not {count}")));
                }
                while let Some(text) = lines.next()? {
                    if !text.trim().is_empty() {
                        return Err(lines.wrong("the thread has ended before it; a file holds one thread"));
                    }
                }
                return Ok(());
            }
            let line: Line = match serde_json::from_str(text) {
                Ok(line) => line,
                Err(error) if error.is_eof() => {
                    return Err(lines.wrong("the file ends before the thread does: it was cut off"));
                }
                Err(error) => return Err(lines.wrong(error.to_string())),
            };
            let place = (line.ns.clone(), line.id.clone());
            if known.contains_key(&place) {
                return Err(lines.wrong(format!("the checkpoint {} came before", line.id)));
            }
            let parent = line
                .parent
                .clone()
                .and_then(|parent| known.get(&(line.ns.clone(), parent)));
            let parcel = line.parcel(parent).map_err(|cause| lines.wrong(cause))?;
            known.insert(place, parcel.put.checkpoint.clone());
            writer.add(parcel).await?;
            count += 1;
            if !watch(count, head.checkpoints.max(count)) {
                return Err(TransferError::Stopped);
            }
        }
    }
    .await;
    let checkpoints = writer.end(done).await?;
    Ok(Imported {
        thread,
        original: head.thread,
        checkpoints,
        about: head.about,
    })
}
