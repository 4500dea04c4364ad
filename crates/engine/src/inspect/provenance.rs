//! Where a value came from: the step that wrote it, what that step's task had read, where that came from, and so on until
//! an input or an edit of a person.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::task_record::{Decision, KeysRead, TaskRecord, records_of};
use crate::checkpoint::types::reserved::{self, START};
use crate::checkpoint::types::{CheckpointAddress, CheckpointHead, ListQuery, PendingWrite, Source};
use crate::graph::compiled::Graph;
use crate::graph::context::interrupt_id;
use crate::inspect::lineage::Lineage;
use crate::inspect::snapshot::{StateSnapshot, TaskSnapshot, TaskState};
use crate::stream::error::{RunError, StateError};
use crate::stream::events::Interrupt;
use crate::stream::request::StateRef;
use crate::value::{List, Value};

/// Steps back that are looked through for one write.
const MAX_LENGTH: usize = 100_000;
/// Values of a key that are read for one write: those of a part of a value are compared one by one.
const MAX_READ: usize = 2_000;
/// Writers of a step whose reads are followed.
const MAX_WRITERS: usize = 3;
/// Checkpoints of a nested graph that are looked through for answers.
const MAX_NESTED: usize = 500;
/// Keys that are named of those that a task may have read.
const MAX_POSSIBLE: usize = 8;

/// The origin of a value, as [`Graph::provenance`] finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The write of the value first; each other one is of something that an earlier one read. None where nothing has written
    /// it, so that it is what its key begins with.
    pub writes: Vec<ValueWrite>,
    /// There is more behind them.
    pub more: bool,
}

/// A write of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueWrite {
    /// JSON Pointer of what was written, in the state of the checkpoint in which it was found.
    pub pointer: String,
    /// The write, by its place in the list, whose task read it; `None` for the value that was asked for.
    pub read_by: Option<usize>,
    /// The checkpoint that has the value for the first time.
    pub written: CheckpointHead,
    /// The checkpoint from which the step began; `None` where it is not stored any more.
    pub from: Option<CheckpointId>,
    /// What was there before.
    pub before: Option<Value>,
    /// What was written.
    pub after: Option<Value>,
    /// How it came to be.
    pub origin: WriteOrigin,
    /// The tasks that wrote it.
    pub writers: Vec<Writer>,
}

/// The origin of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOrigin {
    /// Tasks wrote it.
    Task,
    /// It was in the input of a run.
    Input,
    /// It was the update of a command that continued a run, as an answer can have one.
    Command,
    /// A person edited the state.
    Edit,
    /// It is older than the values that were looked through. `written` is the oldest checkpoint that was found to have it, and
    /// `pointer` its place there: asked for those, the search goes on.
    Older,
    /// What came before is not stored any more.
    Unknown,
}

impl WriteOrigin {
    /// Returns the name: task, input, command, edit, older or unknown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Input => "input",
            Self::Command => "command",
            Self::Edit => "edit",
            Self::Older => "older",
            Self::Unknown => "unknown",
        }
    }
}

/// A task that wrote a value, or the node that an edit stood for.
#[derive(Clone, Debug, PartialEq)]
pub struct Writer {
    /// Node.
    pub node: Name,
    /// Task; `None` for an edit.
    pub task: Option<TaskId>,
    /// The state keys that it read.
    pub reads: KeysRead,
    /// It was sent a packet, and saw that instead of the state.
    pub packet: bool,
    /// The packet.
    pub input: Option<Value>,
    /// The nodes that sent the packet.
    pub sent_by: Vec<Name>,
    /// The answers that it was given to its questions, in order.
    pub answers: Vec<AnswerGiven>,
    /// Where its reads were not seen, or the state was used as a whole: the keys of its input that had been written before
    /// it, those that were written last first. Whether it used them is not known. Each can be asked for at the
    /// checkpoint from which the step began.
    pub may_have_read: Vec<PossibleRead>,
    /// There are more of them.
    pub may_have_read_more: bool,
}

/// A state key that a task may have read.
#[derive(Clone, Debug, PartialEq)]
pub struct PossibleRead {
    /// The key.
    pub key: Name,
    /// The checkpoint with its last write before the task.
    pub written: CheckpointHead,
}

/// An answer to a question of a task: asked at the checkpoint from which the step began, answered before the one that has
/// what the task wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerGiven {
    /// What was asked; `None` where it is not stored: of several questions of a task, the last one is.
    pub question: Option<Value>,
    /// What was answered.
    pub answer: Value,
}

/// The answers that a task was given.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskAnswers {
    /// The node.
    pub node: Name,
    /// The answers to its questions and to those of graphs that it ran, in order.
    pub answers: Vec<AnswerGiven>,
}

/// A value that is looked for.
struct ProvenanceTarget {
    path: ValuePath,
    at: CheckpointHead,
    read_by: Option<usize>,
}

/// A place in the state. Items of a list that have ids are known by them, because their places move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ValuePath {
    key: Name,
    inside: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Segment {
    Member(String),
    Item(Name),
}

impl ValuePath {
    fn read(pointer: &str) -> Result<(Name, Vec<String>), RunError> {
        let path = pointer.strip_prefix('/').filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| {
            RunError::invalid_request(format!(
                "{pointer:?} names no value of the state: a path is a state key after a slash, e.g. `/total` or `/orders/0/price`."
            ))
        })?;
        let mut segments = path
            .split('/')
            .map(|part| part.replace("~1", "/").replace("~0", "~"));
        let key = segments.next().unwrap_or_default();
        Ok((key.into(), segments.collect()))
    }

    /// Resolves the place of `inside` in this value; `None` when there is nothing.
    fn resolve(key: Name, inside: &[String], value: &Value) -> Option<Self> {
        let mut at = value;
        let mut found = Vec::with_capacity(inside.len());
        for segment in inside {
            let (next, kept) = match at {
                Value::Object(members) => (members.get(segment)?, Segment::Member(segment.clone())),
                Value::Array(items) => {
                    let item = segment.parse().ok().and_then(|place: usize| items.get(place))?;
                    let id = item.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
                    let kept = match id {
                        Some(id) => Segment::Item(id.into()),
                        None => Segment::Member(segment.clone()),
                    };
                    (item, kept)
                }
                _ => return None,
            };
            at = next;
            found.push(kept);
        }
        Some(Self { key, inside: found })
    }

    /// Returns the value at this place, given that of the key.
    fn within<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.inside
            .iter()
            .try_fold(value, |at, segment| match (at, segment) {
                (Value::Object(members), Segment::Member(name)) => members.get(name),
                (Value::Array(items), Segment::Member(place)) => {
                    place.parse().ok().and_then(|place: usize| items.get(place))
                }
                (Value::Array(items), Segment::Item(id)) => items
                    .iter()
                    .find(|item| item.get("id").and_then(Value::as_str) == Some(&**id)),
                _ => None,
            })
    }

    /// Finds where the same value was in an earlier value of the key, when other items came or went before its item. Of
    /// equal items the same one by count is meant; where there are more of them than before, it may be new.
    fn moved(&self, after: &Value, earlier: &Value) -> Option<Self> {
        let (mut after, mut earlier) = (after, earlier);
        for (depth, segment) in self.inside.iter().enumerate() {
            let one = ValuePath {
                key: self.key.clone(),
                inside: vec![segment.clone()],
            };
            let item = one.within(after)?;
            if let (Segment::Member(place), Value::Array(now), Value::Array(then)) = (segment, after, earlier)
                && one.within(earlier) != Some(item)
            {
                let place: usize = place.parse().ok()?;
                let count = |items: &List| items.iter().filter(|other| *other == item).count();
                let nth = now.iter().take(place).filter(|other| *other == item).count();
                let mut same = then.iter().enumerate().filter(|(_, other)| *other == item);
                let (then_place, _) = same.nth(nth).filter(|_| count(now) <= count(then))?;
                let mut moved = self.clone();
                moved.inside[depth] = Segment::Member(then_place.to_string());
                return Some(moved);
            }
            (after, earlier) = (item, one.within(earlier)?);
        }
        None
    }

    fn pointer(&self, value: Option<&Value>) -> String {
        let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
        let mut pointer = format!("/{}", escaped(&self.key));
        let mut at = value;
        for segment in &self.inside {
            let one = ValuePath {
                key: self.key.clone(),
                inside: vec![segment.clone()],
            };
            let name = match (segment, at) {
                (Segment::Member(name), _) => escaped(name),
                (Segment::Item(id), Some(Value::Array(items))) => {
                    let of_id = |item: &Value| item.get("id").and_then(Value::as_str) == Some(&**id);
                    items
                        .iter()
                        .position(of_id)
                        .map_or_else(|| id.to_string(), |place| place.to_string())
                }
                (Segment::Item(id), _) => id.to_string(),
            };
            pointer.push('/');
            pointer.push_str(&name);
            at = at.and_then(|value| one.within(value));
        }
        pointer
    }
}

impl dyn Checkpointer + '_ {
    /// Finds where a value of the state of a thread that another program makes came from, as [`Graph::provenance`] does for
    /// threads of our own.
    pub async fn foreign_provenance(
        &self,
        at: &StateRef,
        pointer: &str,
        limit: usize,
    ) -> Result<Provenance, StateError> {
        search(None, self, at, pointer, limit).await
    }
}

impl Graph {
    /// Finds where a value of the state came from: `pointer` is a JSON Pointer such as `/total` or `/messages/3/content`.
    /// The chain goes on through what the writing tasks had read, as far as their runs
    /// [recorded](crate::RunConfig::record) it, until there are `limit` writes. An unknown thread or key is an error.
    pub async fn provenance(
        &self,
        at: &StateRef,
        pointer: &str,
        limit: usize,
    ) -> Result<Provenance, StateError> {
        let saver = self.need_saver("provenance")?;
        search(Some(self), &**saver, at, pointer, limit).await
    }
}

impl Graph {
    /// Returns the answers that tasks of a checkpoint of the outermost graph were given, in the order of the tasks; those
    /// that were given none are left out.
    pub async fn answers_at(
        &self,
        thread: &ThreadId,
        checkpoint: &CheckpointId,
    ) -> Result<Vec<TaskAnswers>, StateError> {
        let saver = self.need_saver("answers_at")?;
        let search = WriterSearch {
            graph: Some(self),
            saver: &**saver,
            thread,
            values: HashMap::new(),
            states: HashMap::new(),
        };
        let pending = search.pending(checkpoint).await?;
        let asks = |row: &PendingWrite| matches!(&*row.write.channel, reserved::RESUME | reserved::INTERRUPT);
        let mut found = Vec::new();
        if !pending.iter().any(asks) {
            return Ok(found);
        }
        let at = StateRef::at(thread.clone(), checkpoint.clone());
        for task in search.read(&at).await?.tasks {
            let answers = match has(&pending, &task, reserved::RESUME) {
                true => answers_of("", &task, &pending),
                false => search.answers_inside(&task, &pending).await?,
            };
            if !answers.is_empty() {
                found.push(TaskAnswers {
                    node: task.name.clone(),
                    answers,
                });
            }
        }
        Ok(found)
    }
}

/// Searches with the graph of the thread, or without it where another program makes the thread.
async fn search(
    graph: Option<&Graph>,
    saver: &dyn Checkpointer,
    at: &StateRef,
    pointer: &str,
    limit: usize,
) -> Result<Provenance, StateError> {
    let query = ListQuery::new()
        .thread(at.thread.clone())
        .ns("")
        .id(at.checkpoint_id.clone())
        .limit(1);
    let missing = || RunError::invalid_request(format!("Thread {} has no such checkpoint.", at.thread));
    let head = saver
        .heads(&query)
        .await?
        .into_iter()
        .next()
        .ok_or_else(missing)?;
    let (key, inside) = ValuePath::read(pointer)?;
    let mut search = WriterSearch {
        graph,
        saver,
        thread: &at.thread,
        values: HashMap::new(),
        states: HashMap::new(),
    };
    let value = search.value(&head.id, &key).await?;
    let path = value
        .as_ref()
        .and_then(|value| ValuePath::resolve(key.clone(), &inside, value));
    let Some(path) = path else {
        // What a key begins with is stored nowhere.
        let state = search.state(&head.id).await?;
        let begins = state.values.get(&key);
        return match begins.and_then(|value| ValuePath::resolve(key.clone(), &inside, value)) {
            Some(_) => Ok(Provenance::default()),
            None => {
                let nothing = format!("There is nothing at {pointer} of this state.");
                Err(RunError::invalid_request(nothing))
            }
        };
    };
    let mut lineage = Lineage::from(saver, &at.thread, [head.clone()]);
    let mut wanted = VecDeque::from([ProvenanceTarget {
        path,
        at: head,
        read_by: None,
    }]);
    let mut found = Provenance::default();
    let mut known: HashSet<(ValuePath, CheckpointId)> = HashSet::new();
    while let Some(next) = wanted.pop_front() {
        if found.writes.len() == limit {
            found.more = true;
            break;
        }
        let Some(mut write) = search.write(&mut lineage, &next).await? else {
            continue;
        };
        write.read_by = next.read_by;
        if !known.insert((next.path.clone(), write.written.id.clone())) {
            continue;
        }
        let place = found.writes.len();
        search.note_possible(&mut lineage, &mut write).await?;
        wanted.extend(search.inputs(&mut lineage, &write, place).await?);
        found.writes.push(write);
    }
    Ok(found)
}

/// Values and states read during a search, each at most once.
struct WriterSearch<'a> {
    /// The graph of the thread; `None` where another program makes it.
    graph: Option<&'a Graph>,
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    values: HashMap<(CheckpointId, Name), Option<Value>>,
    states: HashMap<CheckpointId, StateSnapshot>,
}

impl WriterSearch<'_> {
    async fn read(&self, at: &StateRef) -> Result<StateSnapshot, StateError> {
        if let Some(graph) = self.graph {
            return graph.get_state(at).await;
        }
        let missing = || RunError::invalid_request(format!("Thread {} has no such checkpoint.", at.thread));
        self.saver.foreign_state(at).await?.ok_or_else(missing)
    }

    async fn state(&mut self, id: &CheckpointId) -> Result<&StateSnapshot, StateError> {
        if !self.states.contains_key(id) {
            let state = self.read(&StateRef::at(self.thread.clone(), id.clone())).await?;
            self.states.insert(id.clone(), state);
        }
        Ok(&self.states[id])
    }

    async fn value(&mut self, id: &CheckpointId, key: &Name) -> Result<Option<Value>, StateError> {
        if let Some(known) = self.values.get(&(id.clone(), key.clone())) {
            return Ok(known.clone());
        }
        let rebuilt = self.graph.is_some_and(|graph| {
            let channel = graph.plan.channel_named(key);
            channel.is_none_or(|channel| graph.plan.deltas.contains(&channel))
        });
        let value = match rebuilt {
            // What is stored of such a key is not its value.
            true => self.state(id).await?.values.get(key).cloned(),
            false => {
                let keys = [key.clone()];
                let found = self.saver.values(self.thread, "", Some(id), &keys).await?;
                found.and_then(|values| values.get(key).cloned())
            }
        };
        self.values.insert((id.clone(), key.clone()), value.clone());
        Ok(value)
    }

    /// Returns the write that the value at this place comes from; `None` when there is no value.
    async fn write(
        &mut self,
        lineage: &mut Lineage<'_>,
        wanted: &ProvenanceTarget,
    ) -> Result<Option<ValueWrite>, StateError> {
        let path = &wanted.path;
        // Where the value was at `head`, and the key's value there.
        let mut place = path.clone();
        let mut head = wanted.at.clone();
        let Some(whole) = self.value(&head.id, &path.key).await? else {
            return Ok(None);
        };
        let Some(value) = path.within(&whole).cloned() else {
            return Ok(None);
        };
        let mut after = whole.clone();
        let mut read = 0;
        let mut passed = Vec::new();
        for _ in 0..MAX_LENGTH {
            passed.push(head.id.clone());
            let parent = match &head.parent {
                Some(parent) => lineage.get(parent).await?.cloned(),
                None => None,
            };
            let is_candidate = match &head.updated_channels {
                Some(updated) => updated.contains(&path.key),
                None => true,
            };
            let Some(parent) = parent else {
                return Ok(Some(self.found(path, &whole, value, head, None, None).await?));
            };
            if is_candidate {
                read += 1;
                let earlier = self.value(&parent.id, &path.key).await?;
                let before = earlier.as_ref().and_then(|earlier| place.within(earlier));
                let says = path.inside.is_empty() && head.updated_channels.is_some();
                if says || before != Some(&value) {
                    let moved = earlier.as_ref().and_then(|earlier| place.moved(&after, earlier));
                    let Some(moved) = moved.filter(|_| !says) else {
                        let first = self.first_with(lineage, &place, &value, &passed).await?;
                        let (head, parent) = first.unwrap_or((head, parent));
                        let before = self.value(&parent.id, &path.key).await?;
                        let before = before.as_ref().and_then(|before| place.within(before)).cloned();
                        return Ok(Some(
                            self.found(path, &whole, value, head, Some(parent), before)
                                .await?,
                        ));
                    };
                    place = moved;
                    passed.clear();
                }
                after = earlier.unwrap_or_default();
                if read == MAX_READ {
                    return Ok(Some(older(place.pointer(Some(&after)), value, parent)));
                }
            }
            head = parent;
        }
        Ok(Some(older(place.pointer(Some(&after)), value, head)))
    }

    /// Finds the oldest of these checkpoints, given from the newest back, that has the value, with its parent. It need
    /// not be one that names the key as updated: what the update of a command wrote is not named.
    async fn first_with(
        &mut self,
        lineage: &mut Lineage<'_>,
        path: &ValuePath,
        value: &Value,
        passed: &[CheckpointId],
    ) -> Result<Option<(CheckpointHead, CheckpointHead)>, StateError> {
        for id in passed.iter().rev().take(MAX_READ) {
            let here = self.value(id, &path.key).await?;
            if here.as_ref().and_then(|here| path.within(here)) != Some(value) {
                continue;
            }
            let Some(head) = lineage.get(id).await?.cloned() else {
                return Ok(None);
            };
            let parent = match &head.parent {
                Some(parent) => lineage.get(parent).await?.cloned(),
                None => None,
            };
            return Ok(parent.map(|parent| (head, parent)));
        }
        Ok(None)
    }

    async fn found(
        &mut self,
        path: &ValuePath,
        whole: &Value,
        after: Value,
        written: CheckpointHead,
        parent: Option<CheckpointHead>,
        before: Option<Value>,
    ) -> Result<ValueWrite, StateError> {
        let mut write = ValueWrite {
            pointer: path.pointer(Some(whole)),
            read_by: None,
            from: parent.as_ref().map(|parent| parent.id.clone()),
            before,
            origin: WriteOrigin::Unknown,
            writers: Vec::new(),
            after: Some(after),
            written,
        };
        // A thread may begin with an edit. What else has nothing before it has lost it.
        let edited = matches!(write.written.metadata.source, Source::Update | Source::Fork);
        if edited && (parent.is_some() || write.written.parent.is_none()) {
            write.origin = WriteOrigin::Edit;
            write.writers.extend(edited_as(&write.written));
            return Ok(write);
        }
        let Some(parent) = parent else {
            return Ok(write);
        };
        let pending = self.pending(&parent.id).await?;
        let records: HashMap<&TaskId, TaskRecord> = records_of(&pending).collect();
        let tasks = self.state(&parent.id).await?.tasks.clone();
        let senders = match &parent.parent {
            Some(before) if tasks.iter().any(is_packet) => self.state(before).await?.tasks.clone(),
            _ => Vec::new(),
        };
        let writers = wrote(&tasks, path, whole);
        let by_command = |row: &PendingWrite| row.task_id.is_null() && row.write.channel == path.key;
        write.origin = match writers.iter().any(|task| &*task.name == START) {
            true => WriteOrigin::Input,
            false if writers.is_empty() && pending.iter().any(by_command) => WriteOrigin::Command,
            false => WriteOrigin::Task,
        };
        let mut inside = HashMap::new();
        for task in writers
            .iter()
            .filter(|task| !has(&pending, task, reserved::RESUME))
        {
            inside.insert(task.id.clone(), self.answers_inside(task, &pending).await?);
        }
        write.writers = (writers.iter().filter(|task| &*task.name != START))
            .map(|task| Writer {
                node: task.name.clone(),
                task: Some(task.id.clone()),
                reads: records
                    .get(&task.id)
                    .map(|record| record.reads.clone())
                    .unwrap_or_default(),
                packet: is_packet(task),
                input: is_packet(task).then(|| task.input.clone()),
                sent_by: match is_packet(task) {
                    true => senders_of(&senders, &task.name),
                    false => Vec::new(),
                },
                answers: match inside.remove(&task.id) {
                    Some(answers) => answers,
                    None => answers_of("", task, &pending),
                },
                may_have_read: Vec::new(),
                may_have_read_more: false,
            })
            .collect();
        Ok(write)
    }

    /// Returns what is stored of the tasks of a checkpoint.
    async fn pending(&self, id: &CheckpointId) -> Result<Vec<PendingWrite>, StateError> {
        let address = CheckpointAddress::new(self.thread.clone(), "", id.clone());
        Ok(self.saver.writes_of(address).await?)
    }

    /// Returns the answers that the graph of a task was given, and the graphs in it, where it had questions.
    async fn answers_inside(
        &self,
        task: &TaskSnapshot,
        pending: &[PendingWrite],
    ) -> Result<Vec<AnswerGiven>, StateError> {
        let mut graphs: VecDeque<Name> = asking_graph(task, pending).into_iter().collect();
        let mut found = Vec::new();
        while let Some(ns) = graphs.pop_front() {
            let query = ListQuery::new()
                .thread(self.thread.clone())
                .ns(ns.clone())
                .limit(MAX_NESTED);
            let mut heads = self.saver.heads(&query).await?;
            heads.reverse();
            for head in heads {
                let address = CheckpointAddress::new(self.thread.clone(), ns.clone(), head.id.clone());
                let pending = self.saver.writes_of(address).await?;
                let counts = |row: &PendingWrite| {
                    matches!(&*row.write.channel, reserved::RESUME | reserved::INTERRUPT)
                };
                if !pending.iter().any(counts) {
                    continue;
                }
                let at = StateRef::at(self.thread.clone(), head.id).within(ns.clone());
                for task in &self.read(&at).await?.tasks {
                    found.extend(answers_of(&ns, task, &pending));
                    if !has(&pending, task, reserved::RESUME) {
                        graphs.extend(asking_graph(task, &pending));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Notes what the writers may have read where it was not seen.
    async fn note_possible(
        &mut self,
        lineage: &mut Lineage<'_>,
        write: &mut ValueWrite,
    ) -> Result<(), StateError> {
        let (Some(from), WriteOrigin::Task) = (write.from.clone(), write.origin) else {
            return Ok(());
        };
        let writers = write.writers.iter_mut().take(MAX_WRITERS);
        let unseen = writers.filter(|writer| !writer.packet && !matches!(writer.reads, KeysRead::Keys(_)));
        let mut unseen: Vec<&mut Writer> = unseen.collect();
        if unseen.is_empty() {
            return Ok(());
        }
        let tasks = &self.state(&from).await?.tasks;
        let input = |writer: &Writer| {
            let task = tasks.iter().find(|task| Some(&task.id) == writer.task.as_ref())?;
            Some(
                task.input
                    .as_object()?
                    .iter()
                    .map(|(key, _)| key.clone())
                    .collect(),
            )
        };
        let inputs: Vec<HashSet<Name>> = unseen
            .iter()
            .map(|writer| input(writer).unwrap_or_default())
            .collect();
        let keys = inputs.iter().flatten().cloned().collect();
        let (written, cut) = last_writes(lineage, &from, keys).await?;
        for (writer, input) in unseen.iter_mut().zip(&inputs) {
            let mut possible = written.iter().filter(|read| input.contains(&read.key)).cloned();
            writer.may_have_read = possible.by_ref().take(MAX_POSSIBLE).collect();
            writer.may_have_read_more = cut || possible.next().is_some();
        }
        Ok(())
    }

    /// Returns the values that the writers of a value had read.
    async fn inputs(
        &mut self,
        lineage: &mut Lineage<'_>,
        write: &ValueWrite,
        place: usize,
    ) -> Result<Vec<ProvenanceTarget>, StateError> {
        let mut wanted: Vec<ProvenanceTarget> = Vec::new();
        let (Some(from), WriteOrigin::Task) = (&write.from, write.origin) else {
            return Ok(wanted);
        };
        let Some(from) = lineage.get(from).await?.cloned() else {
            return Ok(wanted);
        };
        for writer in write.writers.iter().take(MAX_WRITERS) {
            let (at, keys) = match (&writer.packet, &writer.reads) {
                // It saw what it was sent: what decided about the packet was read by who sent it.
                (true, _) => {
                    let Some(at) = (match &from.parent {
                        Some(parent) => lineage.get(parent).await?.cloned(),
                        None => None,
                    }) else {
                        continue;
                    };
                    let pending = self.pending(&at.id).await?;
                    let records: Vec<TaskRecord> = records_of(&pending).map(|(_, record)| record).collect();
                    let sent =
                        |decision: &&Decision| decision.packets > 0 && decision.to.contains(&writer.node);
                    let decisions = records.iter().flat_map(|record| &record.decisions).filter(sent);
                    let reasons = decisions.filter_map(|decision| decision.reason.as_ref());
                    let keys = reasons.flat_map(|reason| reason.values.iter().map(|(key, _)| key.clone()));
                    // The sender's own writes were seen by its edges already.
                    (from.clone(), keys.collect::<Vec<Name>>())
                }
                (false, KeysRead::Keys(keys)) => (from.clone(), keys.clone()),
                (false, _) => continue,
            };
            for key in keys {
                let path = ValuePath {
                    key,
                    inside: Vec::new(),
                };
                if !wanted.iter().any(|known| known.path == path) {
                    wanted.push(ProvenanceTarget {
                        path,
                        at: at.clone(),
                        read_by: Some(place),
                    });
                }
            }
        }
        Ok(wanted)
    }
}

/// Returns where the search for a write was given up.
fn older(pointer: String, value: Value, at: CheckpointHead) -> ValueWrite {
    ValueWrite {
        pointer,
        read_by: None,
        written: at,
        from: None,
        before: None,
        after: Some(value),
        origin: WriteOrigin::Older,
        writers: Vec::new(),
    }
}

/// Finds the last writes of keys up to a checkpoint, the newest first, and returns whether the search was given up before
/// the beginning of the thread.
async fn last_writes(
    lineage: &mut Lineage<'_>,
    from: &CheckpointId,
    mut keys: HashSet<Name>,
) -> Result<(Vec<PossibleRead>, bool), StateError> {
    let mut found = Vec::new();
    let mut at = Some(from.clone());
    for _ in 0..MAX_READ {
        let Some(id) = at.take().filter(|_| !keys.is_empty()) else {
            return Ok((found, false));
        };
        let Some(head) = lineage.get(&id).await? else {
            return Ok((found, false));
        };
        let updated = head.updated_channels.iter().flatten();
        found.extend(updated.filter_map(|key| keys.take(key)).map(|key| PossibleRead {
            key,
            written: head.clone(),
        }));
        at.clone_from(&head.parent);
    }
    Ok((found, true))
}

/// Returns the node that an edit was made as, if it names one.
fn edited_as(edit: &CheckpointHead) -> Option<Writer> {
    let node = edit.metadata.user.get("as_node").and_then(Value::as_str)?;
    Some(Writer {
        node: node.into(),
        task: None,
        reads: KeysRead::Unknown,
        packet: false,
        input: None,
        sent_by: Vec::new(),
        answers: Vec::new(),
        may_have_read: Vec::new(),
        may_have_read_more: false,
    })
}

/// Returns whether a task left something on a channel.
fn has(pending: &[PendingWrite], task: &TaskSnapshot, channel: &str) -> bool {
    let is_it = |row: &PendingWrite| row.task_id == task.id && &*row.write.channel == channel;
    pending.iter().any(is_it)
}

/// Returns the namespace of the graph that a task ran, if that had a question.
fn asking_graph(task: &TaskSnapshot, pending: &[PendingWrite]) -> Option<Name> {
    match &task.state {
        Some(TaskState::Ns(ns)) if has(pending, task, reserved::INTERRUPT) => Some(ns.clone()),
        _ => None,
    }
}

/// Returns the answers that a task of the graph at `graph` was given, each with its question where that is stored.
fn answers_of(graph: &str, task: &TaskSnapshot, pending: &[PendingWrite]) -> Vec<AnswerGiven> {
    let own = || pending.iter().filter(|row| row.task_id == task.id);
    let Some(answers) = own().find(|row| &*row.write.channel == reserved::RESUME) else {
        return Vec::new();
    };
    let asked: Vec<Interrupt> = own()
        .filter(|row| &*row.write.channel == reserved::INTERRUPT)
        .filter_map(|row| row.write.value.as_array())
        .flat_map(|list| list.iter().filter_map(Interrupt::from_json))
        .collect();
    let own_ns = format!("{}:{}", task.name, task.id);
    let ns = match graph {
        "" => own_ns,
        graph => format!("{graph}|{own_ns}"),
    };
    let answers = answers.write.value.as_array().into_iter().flat_map(List::iter);
    let with_question = |(place, answer): (usize, &Value)| {
        let id = interrupt_id(&ns, place);
        let question = asked.iter().find(|question| question.id == id);
        AnswerGiven {
            question: question.map(|question| question.value.clone()),
            answer: answer.clone(),
        }
    };
    answers.enumerate().map(with_question).collect()
}

/// Returns the tasks that wrote a key. Of several, those that wrote what stands at the place, where their results show it: the
/// value as a whole, or else the item that it is in, or else the part of that item.
fn wrote<'a>(tasks: &'a [TaskSnapshot], path: &ValuePath, whole: &Value) -> Vec<&'a TaskSnapshot> {
    let written = |task: &'a TaskSnapshot| Some((task, task.result.as_ref()?.get(&path.key)?));
    let writers: Vec<_> = tasks.iter().filter_map(written).collect();
    if writers.len() > 1 {
        for depth in 0..=path.inside.len() {
            let part = ValuePath {
                key: path.key.clone(),
                inside: path.inside[..depth].to_vec(),
            };
            let Some(value) = part.within(whole) else { break };
            let own = writers.iter().filter(|(_, result)| holds(result, &part, value));
            let own: Vec<_> = own.map(|(task, _)| *task).collect();
            if !own.is_empty() {
                return own;
            }
        }
    }
    writers.into_iter().map(|(task, _)| task).collect()
}

fn is_packet(task: &TaskSnapshot) -> bool {
    task.path.at(0).and_then(Value::as_str) == Some("__pregel_push")
}

fn senders_of(tasks: &[TaskSnapshot], node: &Name) -> Vec<Name> {
    let mut senders: Vec<Name> = (tasks.iter())
        .filter(|task| task.targets.contains(node))
        .map(|task| task.name.clone())
        .collect();
    senders.sort();
    senders.dedup();
    senders
}

/// Returns whether the value is what a task returned, an item of the list that it returned, or at the same place in it.
fn holds(result: &Value, part: &ValuePath, value: &Value) -> bool {
    let has_item = |items: &List| items.iter().any(|item| item == value);
    result == value || result.as_array().is_some_and(has_item) || part.within(result) == Some(value)
}
