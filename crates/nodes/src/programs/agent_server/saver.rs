//! Threads of a LangGraph server as a database that is only read: what its API says of them, in the shape of our own.
//!
//! The API has states, and no rows: the writes of a task are made from what it says that the task wrote, asked and failed with.
//! Which answers were given, versions of channels, and the packets of a step are not said, and are missing here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use parking_lot::Mutex;
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, CheckpointTuple, ClaimRequest, ClaimView, Commit, Coordination, Foreign,
    ForeignTask, ListQuery, Metadata, PendingWrite, Sealed, Source, StorageError, TaskId, ThreadQuery,
    ThreadSummary, Waiting, WaitingQuery, Write, reserved, write_index,
};
use superstep::value::{List, Object};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

use super::client::{AgentServer, ThreadFilter};
use super::run::uuid_of;
use super::wire::{ListedThread, SaidError, WireState, WireTask};
use crate::programs::agent_server_error::AgentServerError;

/// Threads that are listed.
const MAX_THREADS: usize = 10_000;
/// Checkpoints of a thread that are read.
const MAX_CHECKPOINTS: usize = 20_000;
/// States that are asked for at a time: whole values cross with each.
const MAX_STATES: usize = 100;
/// Graphs within each other that are looked for.
const MAX_DEPTH: usize = 16;
/// Graphs of a thread that are read.
const MAX_NAMESPACES: usize = 1_000;
/// Requests at a time.
const MAX_AT_ONCE: usize = 8;
/// Checkpoints whose tasks are kept.
const MAX_RECENT: usize = 5_000;
/// The channel of a state that is one value.
const ROOT: &str = "__root__";
/// How paths of tasks are written.
const PULLED: &str = "~__pregel_pull, ";
const PUSHED: &str = "~__pregel_push, ";

/// The threads of a LangGraph server.
#[derive(Debug)]
pub struct AgentServerSaver {
    server: AgentServer,
    /// Threads that were read, by their ids, with the time of the change up to which they were.
    summaries: Mutex<HashMap<String, (Option<String>, ThreadSummary)>>,
    /// Threads at the last look at all of them.
    known: Mutex<Option<u64>>,
    /// Tasks of the checkpoints that were read last: a history asks for those of each.
    recent: Mutex<HashMap<CheckpointAddress, Vec<ForeignTask>>>,
}

impl AgentServerSaver {
    /// Opens the threads of a server, which has to be one.
    pub async fn open(server: AgentServer) -> Result<Self, AgentServerError> {
        server.releases().await?;
        Ok(Self {
            server,
            summaries: Mutex::default(),
            known: Mutex::default(),
            recent: Mutex::default(),
        })
    }

    /// Returns the server.
    pub fn server(&self) -> &AgentServer {
        &self.server
    }

    fn only_read(&self) -> StorageError {
        StorageError::OnlyRead {
            place: self.server.place(),
            why: "they are the threads of a LangGraph server, which alone runs, answers, edits, forks and deletes them"
                .to_owned(),
            remedy: format!("Do it through the server, as with `superstep attach {}`; nothing was changed", self.server.place()),
        }
    }

    /// Reads the states of a namespace, the newest first, those before one or all.
    async fn states(
        &self,
        thread: &str,
        ns: &str,
        before: Option<&str>,
        most: usize,
    ) -> Result<Vec<WireState>, StorageError> {
        let mut found: Vec<WireState> = Vec::new();
        let mut before = before.map(str::to_owned);
        let mut page = MAX_STATES;
        while found.len() < most {
            let wanted = page.min(most - found.len());
            let states = match self.server.history(thread, ns, before.as_deref(), wanted).await {
                // Fewer large ones may fit.
                Err(AgentServerError::TooLarge { .. }) if page > 1 => {
                    page = (wanted / 2).max(1);
                    continue;
                }
                states => states.map_err(failed)?,
            };
            let is_last = states.len() < wanted;
            let oldest = states.last().and_then(WireState::id).map(str::to_owned);
            if found.len() > MAX_CHECKPOINTS {
                return Err(failed(self.server.too_large(
                    "the history of a thread",
                    format!("{MAX_CHECKPOINTS} checkpoints"),
                )));
            }
            found.extend(states.into_iter().filter(|state| state.id().is_some()));
            // A server that says the same again would be asked for ever.
            if is_last || oldest.is_none() || oldest == before {
                break;
            }
            before = oldest;
        }
        found.truncate(most);
        Ok(found)
    }

    /// Reads checkpoints of one thread: of one namespace, or of its outermost graph and those that their tasks ran.
    async fn of_thread(
        &self,
        thread: &ThreadId,
        query: &ListQuery,
    ) -> Result<Vec<CheckpointTuple>, StorageError> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let before = query.before.as_ref().map(CheckpointId::as_str);
        let fits = |state: &WireState| {
            let is_wanted = query.id.as_ref().is_none_or(|id| state.id() == Some(id.as_str()));
            let is_before = before.is_none_or(|before| state.id().is_some_and(|id| id < before));
            is_wanted && is_before && metadata(state).matches(&query.filter)
        };
        if let (Some(ns), Some(id)) = (&query.ns, &query.id) {
            let state = self.server.state(thread.as_str(), ns, Some(id.as_str())).await;
            let state = state.map_err(failed)?.filter(fits);
            return Ok(state
                .and_then(|state| self.tuple(thread, ns, state))
                .into_iter()
                .collect());
        }
        // What is newest counts, whatever namespace it is in; the others are found by the tasks that ran them.
        let most = match query.id.is_none() && query.filter.is_empty() {
            true => limit,
            false => usize::MAX,
        };
        let mut spaces = vec![query.ns.clone().unwrap_or_default()];
        let mut known: HashSet<Name> = spaces.iter().cloned().collect();
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(ns) = spaces.get(at).cloned() {
            at += 1;
            let states = self.states(thread.as_str(), &ns, before, most).await?;
            if query.ns.is_none() && ns.split('|').count() <= MAX_DEPTH {
                let nested = states
                    .iter()
                    .flat_map(|state| &state.tasks)
                    .filter_map(WireTask::nested);
                for nested in nested.filter(|nested| is_within(&ns, nested)) {
                    if spaces.len() < MAX_NAMESPACES && known.insert(nested.into()) {
                        spaces.push(nested.into());
                    }
                }
            }
            let fitting = states.into_iter().filter(fits);
            found.extend(fitting.filter_map(|state| self.tuple(thread, &ns, state)));
        }
        found.sort_by(|a, b| {
            let order = b.checkpoint.id.cmp(&a.checkpoint.id);
            order.then_with(|| a.ns.cmp(&b.ns))
        });
        found.truncate(limit);
        Ok(found)
    }

    /// Puts a state into the shape of a stored checkpoint, and keeps its tasks for who asks for them next.
    fn tuple(&self, thread: &ThreadId, ns: &str, state: WireState) -> Option<CheckpointTuple> {
        let id = CheckpointId::from(state.id()?);
        let address = CheckpointAddress::new(thread.clone(), ns, id.clone());
        let tasks = state.tasks.iter().map(task_of).collect();
        {
            let mut recent = self.recent.lock();
            if recent.len() >= MAX_RECENT {
                recent.clear();
            }
            recent.insert(address, tasks);
        }
        let mut writes: Vec<PendingWrite> = state.tasks.iter().flat_map(writes_of).collect();
        writes.sort_by(|a, b| {
            (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
        });
        let values: Vec<(Name, Value)> = match &state.values {
            Value::Object(values) => values
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            Value::Null => Vec::new(),
            other => vec![(ROOT.into(), other.clone())],
        };
        let parent = state
            .parent_checkpoint
            .as_ref()
            .and_then(|place| place.checkpoint_id.as_deref());
        Some(CheckpointTuple {
            thread: thread.clone(),
            ns: ns.into(),
            checkpoint: Checkpoint {
                id,
                parent: parent.map(CheckpointId::from),
                ts: state.created_at.clone().unwrap_or_default(),
                channel_values: values.into_iter().collect(),
                channel_versions: Default::default(),
                versions_seen: Default::default(),
                updated_channels: None,
                metadata: metadata(&state),
                next: state.tasks.iter().map(|task| task.name.as_str().into()).collect(),
            },
            pending_writes: writes,
        })
    }

    /// Reads a thread as lists show it; `None` when it has no checkpoint. The number of its checkpoints is not said.
    async fn summary(&self, listed: &ListedThread) -> Result<Option<ThreadSummary>, StorageError> {
        let id = &listed.thread_id;
        if uuid_of(id).is_none() {
            return Ok(None);
        }
        let version = listed.updated_at.clone();
        let known = self.summaries.lock().get(id).cloned();
        // A busy thread gets checkpoints without being changed.
        if let Some((of, summary)) = known
            && of == version
            && version.is_some()
            && listed.status != "busy"
        {
            return Ok(Some(summary));
        }
        let thread = ThreadId::from(id.as_str());
        let Some(state) = self.server.state(id, "", None).await.map_err(failed)? else {
            return Ok(None);
        };
        let Some(tuple) = self.tuple(&thread, "", state) else {
            return Ok(None);
        };
        let summary = ThreadSummary {
            thread,
            created: listed.created_at.clone().unwrap_or_default(),
            checkpoints: 0,
            head: tuple.into_head(),
        };
        let mut summaries = self.summaries.lock();
        if summaries.len() >= MAX_THREADS {
            summaries.clear();
        }
        summaries.insert(id.clone(), (version, summary.clone()));
        Ok(Some(summary))
    }

    async fn summaries(&self, listed: Vec<ListedThread>) -> Result<Vec<ThreadSummary>, StorageError> {
        let mut asked = stream::iter(listed)
            .map(|listed| async move { self.summary(&listed).await })
            .buffer_unordered(MAX_AT_ONCE);
        let mut found = Vec::new();
        while let Some(summary) = asked.next().await {
            found.extend(summary?);
        }
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        Ok(found)
    }

    /// Lists every thread, the newest checkpoint first.
    async fn roster(&self) -> Result<Vec<ThreadSummary>, StorageError> {
        let listed = self
            .server
            .all_threads(&ThreadFilter::default(), MAX_THREADS)
            .await;
        let found = self.summaries(listed.map_err(failed)?).await?;
        *self.known.lock() = Some(found.len() as u64);
        Ok(found)
    }

    /// Lists the threads that ask something.
    async fn asking(&self) -> Result<Vec<Waiting>, StorageError> {
        let filter = ThreadFilter {
            status: Some("interrupted"),
            ..ThreadFilter::default()
        };
        let listed = self
            .server
            .all_threads(&filter, MAX_THREADS)
            .await
            .map_err(failed)?;
        let found = self.summaries(listed).await?;
        let mut waiting: Vec<Waiting> = found
            .into_iter()
            .filter(|summary| summary.head.interrupted > 0)
            .map(|summary| Waiting {
                thread: summary.thread,
                checkpoint: summary.head.id,
                ts: summary.head.ts,
                tasks: summary.head.interrupted,
                is_newest: true,
            })
            .collect();
        waiting.sort_by(|a, b| (&a.checkpoint, &a.thread).cmp(&(&b.checkpoint, &b.thread)));
        Ok(waiting)
    }
}

/// Returns whether a namespace is that of a graph directly within another one's.
fn is_within(ns: &str, nested: &str) -> bool {
    match ns {
        "" => !nested.is_empty(),
        ns => nested.strip_prefix(ns).is_some_and(|rest| rest.starts_with('|')),
    }
}

fn failed(error: AgentServerError) -> StorageError {
    StorageError::Backend {
        what: "reading the threads of a LangGraph server".to_owned(),
        cause: error.to_string().trim_end_matches('.').to_owned(),
        remedy: "Nothing was changed".to_owned(),
    }
}

fn metadata(state: &WireState) -> Metadata {
    let said = state.metadata.as_object().cloned().unwrap_or_default();
    let source = match said.get("source").and_then(Value::as_str) {
        Some("input") => Source::Input,
        Some("update") => Source::Update,
        Some("fork") => Source::Fork,
        _ => Source::Loop,
    };
    let own = ["source", "step", "parents"];
    let user = said.iter().filter(|(key, _)| !own.contains(&&***key));
    Metadata {
        source,
        step: said.get("step").and_then(Value::as_i64).unwrap_or_default(),
        parents: said
            .get("parents")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default(),
        user: user
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Object>(),
    }
}

/// Returns the path of a task as rows have it: numbers in ten digits, so that texts are in the order of the tasks.
fn path_text(task: &WireTask) -> String {
    let parts = task.path.as_array().map(|parts| parts.iter().collect::<Vec<_>>());
    match parts.as_deref() {
        Some([kind, node, ..]) if kind.as_str() == Some("__pregel_pull") => {
            format!("{PULLED}{}", node.as_str().unwrap_or_default())
        }
        Some([kind, rest @ ..]) if kind.as_str() == Some("__pregel_push") => {
            let numbers = rest.iter().filter_map(|part| part.as_i64());
            let numbers: Vec<String> = numbers.map(|number| format!("{number:010}")).collect();
            format!("{PUSHED}{}", numbers.join(", "))
        }
        _ => format!("{PULLED}{}", task.name),
    }
}

fn task_of(task: &WireTask) -> ForeignTask {
    ForeignTask {
        id: TaskId::from(task.id.as_str()),
        name: task.name.as_str().into(),
        path: task.path.clone(),
        packet: None,
        graph: task.nested().map(Name::from),
    }
}

/// Tells what a task stored from what is said of it.
fn writes_of(task: &WireTask) -> Vec<PendingWrite> {
    let mut writes: Vec<(Name, Value)> = Vec::new();
    match &task.result {
        Value::Object(result) if result.is_empty() && task.interrupts.is_empty() && task.error.is_null() => {
            writes.push((reserved::NO_WRITES.into(), Value::Null));
        }
        Value::Object(result) => {
            writes.extend(result.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        Value::Null => {}
        other => writes.push((ROOT.into(), other.clone())),
    }
    if let Some(error) = SaidError::read(&task.error) {
        writes.push((reserved::ERROR.into(), error.text().into()));
    }
    if !task.interrupts.is_empty() {
        let questions = task.interrupts.iter().map(question).collect::<List>();
        writes.push((reserved::INTERRUPT.into(), Value::Array(questions)));
    }
    let path: Name = path_text(task).into();
    let row = |(place, (channel, value)): (usize, (Name, Value))| PendingWrite {
        task_id: TaskId::from(task.id.as_str()),
        task_path: path.clone(),
        write: Write {
            idx: write_index(&channel, place),
            channel,
            value,
        },
    };
    writes.into_iter().enumerate().map(row).collect()
}

/// Returns a question without what only the API says of it.
fn question(asked: &Value) -> Value {
    let part = |key: &'static str| (key, asked.get(key).cloned().unwrap_or_default());
    Value::Object([part("value"), part("id")].into_iter().collect())
}

#[async_trait]
impl Foreign for AgentServerSaver {
    fn refusal(&self) -> StorageError {
        self.only_read()
    }

    fn known_threads(&self) -> Option<u64> {
        *self.known.lock()
    }

    fn set_key(&self, _: Option<&str>) {
        // Its server opens encrypted values.
    }

    fn sealed(&self) -> Option<Sealed> {
        None
    }

    async fn tasks(&self, at: &CheckpointAddress) -> Result<Vec<ForeignTask>, StorageError> {
        if let Some(tasks) = self.recent.lock().get(at) {
            return Ok(tasks.clone());
        }
        let (thread, id) = (at.thread.as_str(), at.id.as_str());
        let state = self
            .server
            .state(thread, &at.ns, Some(id))
            .await
            .map_err(failed)?;
        let tasks = state.map(|state| state.tasks.iter().map(task_of).collect());
        Ok(tasks.unwrap_or_default())
    }

    async fn portable(&self, _: &CheckpointAddress) -> Result<Option<CheckpointTuple>, StorageError> {
        // Versions and triggers, with which another graph would go on, are not said.
        Err(StorageError::Backend {
            what: "copying threads of a LangGraph server".to_owned(),
            cause: "its API does not say what triggers the tasks of a checkpoint".to_owned(),
            remedy: "Open the database of the server as langgraph:postgres://…; its threads can be copied"
                .to_owned(),
        })
    }
}

#[async_trait]
impl Coordination for AgentServerSaver {
    async fn claims(&self, _: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        // Its runs are its own, and have no claims of ours.
        Ok(HashMap::new())
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let fits = |waiting: &Waiting| {
            let place = (&waiting.checkpoint, &waiting.thread);
            let of_thread = query
                .thread
                .as_ref()
                .is_none_or(|thread| *thread == waiting.thread);
            of_thread
                && query
                    .after
                    .as_ref()
                    .is_none_or(|after| place > (&after.0, &after.1))
        };
        let mut found = self.asking().await?;
        found.retain(fits);
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        let found = self.asking().await?;
        Ok(found.iter().map(|waiting| u64::from(waiting.tasks)).sum())
    }

    async fn delete_claimed(&self, _: &ThreadId, _: &ClaimRequest) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    async fn changes(&self) -> Result<Option<u64>, StorageError> {
        // The one that has changed last, and those that run: their checkpoints come without a change of the thread.
        let newest = self
            .server
            .threads(&ThreadFilter::default(), 1, 0)
            .await
            .map_err(failed)?;
        let busy = ThreadFilter {
            status: Some("busy"),
            ..ThreadFilter::default()
        };
        let busy = self.server.threads(&busy, MAX_AT_ONCE, 0).await.map_err(failed)?;
        let mut hash = DefaultHasher::new();
        for listed in newest.iter().chain(&busy) {
            (&listed.thread_id, &listed.updated_at, &listed.status).hash(&mut hash);
        }
        for listed in &busy {
            let state = self
                .server
                .state(&listed.thread_id, "", None)
                .await
                .map_err(failed)?;
            state
                .and_then(|state| state.id().map(str::to_owned))
                .hash(&mut hash);
        }
        Ok(Some(hash.finish()))
    }
}

#[async_trait]
impl Checkpointer for AgentServerSaver {
    async fn commit(&self, _: Commit) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    async fn delete_thread(&self, _: &ThreadId) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    async fn copy_thread(&self, _: &ThreadId, _: &ThreadId) -> Result<(), StorageError> {
        Err(self.only_read())
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    fn foreign(&self) -> Option<&dyn Foreign> {
        Some(self)
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        if query.limit == Some(0) {
            return Ok(Vec::new());
        }
        let threads: Vec<ThreadId> = match &query.thread {
            Some(thread) => vec![thread.clone()],
            None => {
                let listed = self
                    .server
                    .all_threads(&ThreadFilter::default(), MAX_THREADS)
                    .await;
                let listed = listed.map_err(failed)?.into_iter();
                listed.map(|listed| ThreadId::from(listed.thread_id)).collect()
            }
        };
        let mut found = Vec::new();
        for thread in threads.iter().filter(|thread| uuid_of(thread.as_str()).is_some()) {
            found.extend(self.of_thread(thread, query).await?);
        }
        found.sort_by(|a, b| {
            let order = b.checkpoint.id.cmp(&a.checkpoint.id);
            order.then_with(|| (&a.thread, &a.ns).cmp(&(&b.thread, &b.ns)))
        });
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        if uuid_of(thread.as_str()).is_none() {
            return Ok(None);
        }
        let id = id.map(CheckpointId::as_str);
        let state = self.server.state(thread.as_str(), ns, id).await.map_err(failed)?;
        Ok(state.and_then(|state| self.tuple(thread, ns, state)))
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        // Those of many checkpoints of a namespace cross together.
        let mut found: BTreeMap<usize, Vec<PendingWrite>> = BTreeMap::new();
        let mut groups: HashMap<(&ThreadId, &Name), Vec<usize>> = HashMap::new();
        for (place, at) in of.iter().enumerate() {
            groups.entry((&at.thread, &at.ns)).or_default().push(place);
        }
        for ((thread, ns), places) in groups {
            if places.len() < 3 {
                for place in places {
                    let tuple = self.get(thread, ns, Some(&of[place].id)).await?;
                    found.insert(place, tuple.map(|tuple| tuple.pending_writes).unwrap_or_default());
                }
                continue;
            }
            let all = self.of_thread(thread, &ListQuery::new().ns(ns.clone())).await?;
            let mut by_id: HashMap<CheckpointId, Vec<PendingWrite>> = (all.into_iter())
                .map(|tuple| (tuple.checkpoint.id, tuple.pending_writes))
                .collect();
            for place in places {
                found.insert(place, by_id.remove(&of[place].id).unwrap_or_default());
            }
        }
        Ok((0..of.len())
            .map(|place| found.remove(&place).unwrap_or_default())
            .collect())
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        // A first page without anything else is of those that have changed last.
        if query.soon && query.limit.is_some() && *query == ThreadQuery::new().limit(query.limit).soon(true) {
            let limit = query.limit.unwrap_or(MAX_THREADS).min(MAX_THREADS);
            let listed = self.server.all_threads(&ThreadFilter::default(), limit).await;
            let listed = listed.map_err(failed)?;
            let is_all = listed.len() < limit;
            let found = self.summaries(listed).await?;
            if is_all {
                *self.known.lock() = Some(found.len() as u64);
            }
            return Ok(found);
        }
        let mut found = self.roster().await?;
        found.retain(|summary| query.matches(summary));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        if uuid_of(thread.as_str()).is_none() {
            return Ok(None);
        }
        match self.server.thread(thread.as_str()).await.map_err(failed)? {
            Some(listed) => self.summary(&listed).await,
            None => Ok(None),
        }
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let all = query.clone().after(None).limit(None).soon(false);
        Ok(self.threads(&all).await?.len() as u64)
    }
}
