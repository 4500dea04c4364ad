//! A thread as a file.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read as _, Write as Output};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{Change, Checkpoint, Metadata, Put, TaskWrites, Watch, Write};
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

use super::TransferError;
use super::thread::{Parcel, Reader, Writer, put};

/// What the head of a file says it is.
const FORMAT: &str = "superstep-thread/1";
/// The most bytes of a line; a checkpoint of the largest state that a run keeps by default fits.
const MAX_LINE: u64 = 1 << 30;
/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct FileHeader {
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
    task: superstep::checkpoint::TaskId,
    path: String,
    writes: Vec<(i32, Name, Value)>,
}

impl TaskLine {
    fn of(task: TaskWrites) -> Self {
        let writes = task.writes.into_iter();
        TaskLine {
            task: task.task_id,
            path: task.task_path.to_string(),
            writes: writes
                .map(|write| (write.idx, write.channel, write.value))
                .collect(),
        }
    }
}

/// Values of a checkpoint as its line has them.
struct Values {
    /// Whole.
    values: Object,
    /// What lists have grown by.
    added: Object,
    /// Keys that its parent had.
    gone: Vec<Name>,
}

impl Values {
    fn of(checkpoint: &Checkpoint, changes: &[Change], parent: Option<&Checkpoint>) -> Self {
        let (mut values, mut added) = (Object::new(), Object::new());
        for change in changes {
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
        Values { values, added, gone }
    }
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
        let Values { values, added, gone } = Values::of(&checkpoint, &changes, parent);
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
            writes: parcel.writes.into_iter().map(TaskLine::of).collect(),
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
        seen.extend(entries.map(|(node, entry)| {
            (
                node,
                entry
                    .into_iter()
                    .collect::<superstep::checkpoint::ChannelVersions>(),
            )
        }));
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
    let head = FileHeader {
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
    /// The most bytes of a line.
    longest: u64,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<&str>, TransferError> {
        self.text.clear();
        self.number += 1;
        let read = (&mut *self.input)
            .take(self.longest + 1)
            .read_line(&mut self.text);
        let read = read.map_err(|cause| match cause.kind() {
            std::io::ErrorKind::InvalidData => self.wrong("it is not text in UTF-8"),
            _ => TransferError::File { doing: "read", cause },
        })?;
        if read as u64 > self.longest {
            return Err(self.wrong(format!("it is longer than {} bytes", self.longest)));
        }
        Ok((read > 0).then_some(self.text.as_str()))
    }

    fn wrong(&self, cause: impl Into<String>) -> TransferError {
        TransferError::Format {
            line: self.number,
            cause: cause.into(),
        }
    }

    fn head(&mut self) -> Result<FileHeader, TransferError> {
        const WRONG: &str = "it is not the beginning of an exported thread";
        let parsed = match self.next()? {
            Some(text) => serde_json::from_str::<FileHeader>(text.trim_start_matches('\u{feff}')).ok(),
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
        longest: MAX_LINE,
    };
    let head = lines.head()?;
    let thread = name.unwrap_or(&head.thread).clone();
    let mut writer = Writer::open(to, &thread, None).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_up_to_a_limit() {
        for (text, whole) in [
            ("1234567\n8\n", true),
            ("12345678\n", false),
            ("123456789", false),
        ] {
            let mut input = text.as_bytes();
            let mut lines = Lines {
                input: &mut input,
                text: String::new(),
                number: 0,
                longest: 8,
            };
            let read = lines.next().map(|line| line.map(str::to_owned));
            match read {
                Ok(line) => assert_eq!((line.as_deref(), whole), (Some("1234567\n"), true), "{text}"),
                Err(error) => {
                    assert!(!whole, "{text}: {error}");
                    assert!(error.to_string().contains("longer than 8 bytes"), "{error}");
                }
            }
        }
    }
}
