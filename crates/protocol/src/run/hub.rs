//! Distributes what a run emits to its readers: to the log, and to the projections of each graph in the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::message::MessageStream;
use super::queue::{Path, Readers};
use super::{Projected, Shared, SubgraphRunStream};
use crate::blocks::{self, Assembly};
use crate::event::{EventData, ProtocolEvent};
use crate::lifecycle::{Lifecycle, Nested, Status};
use crate::pieces::MessageEvent;
use superstep::checkpoint::TaskId;
use superstep::run::Clock;
use superstep::stream::Payload;
use superstep::value::Object;
use superstep::{Interrupt, Name, StreamEvent, StreamMode, Value};

/// A graph in the run, as its readers see it.
#[derive(Debug)]
pub(super) struct HubPlace {
    pub(super) path: Path,
    pub(super) graph_name: Option<String>,
    pub(super) trigger_call_id: Option<String>,
    pub(super) view: Mutex<HubView>,
}

#[derive(Debug)]
pub(super) struct HubView {
    pub(super) readers: Readers,
    pub(super) latest: Option<Value>,
    pub(super) interrupts: Vec<Interrupt>,
    pub(super) status: Status,
    pub(super) error: Option<String>,
}

impl HubPlace {
    fn new(path: Path, graph_name: Option<String>, trigger_call_id: Option<String>) -> Arc<Self> {
        Arc::new(HubPlace {
            path,
            graph_name,
            trigger_call_id,
            view: Mutex::new(HubView {
                readers: Readers::default(),
                latest: None,
                interrupts: Vec::new(),
                status: Status::Started,
                error: None,
            }),
        })
    }

    fn finish(&self, status: Status, error: Option<&str>) {
        let mut view = self.view.lock();
        if view.status == Status::Started {
            view.status = status;
            view.error = error.map(str::to_owned);
        }
    }

    /// Closes the readers: nothing more comes, and they end after reading what is there.
    fn close(&self) {
        self.view.lock().readers.close();
    }
}

/// Hands events to the readers.
struct Dispatch<'a> {
    shared: &'a Arc<Shared>,
    everywhere: &'a mut Readers,
    /// Where nested graphs begin and end, for the log.
    log: Vec<Lifecycle>,
    modes: &'a [StreamMode],
}

impl Dispatch<'_> {
    fn project(&mut self, place: &HubPlace, item: Projected) {
        place.view.lock().readers.deliver(&place.path, &item);
        self.everywhere.deliver(&place.path, &item);
    }
}

/// A graph in the run, and what its projections are made with.
#[derive(Debug)]
struct Scope {
    place: Arc<HubPlace>,
    /// All graphs below, for `lifecycle`.
    deep: Nested,
    /// Those right below, for `subgraphs`.
    near: Nested,
    below: BTreeMap<Path, Scope>,
    /// Messages whose pieces still come, by `run_id`.
    messages: Vec<(String, MessageStream)>,
}

impl Scope {
    fn new(place: Arc<HubPlace>) -> Self {
        Scope {
            place,
            deep: Nested::default(),
            near: Nested::default(),
            below: BTreeMap::new(),
            messages: Vec::new(),
        }
    }

    fn deliver(&mut self, event: &ProtocolEvent, dispatch: &mut Dispatch<'_>) {
        let depth = self.place.path.len();
        let is_here = event.ns == self.place.path;
        match &event.data {
            EventData::Payload(Payload::Values(values, interrupts)) if is_here => {
                let mut view = self.place.view.lock();
                view.latest = Some(values.clone());
                view.interrupts.extend(interrupts.iter().cloned());
                drop(view);
                dispatch.project(&self.place, Projected::Values(values.clone()));
            }
            EventData::Payload(Payload::Message(message, metadata))
                if is_here && !matches!(kind_of(message), Some(CHUNK | "tool")) =>
            {
                let whole = MessageStream::new(dispatch.shared, node_of(metadata));
                whole.add(blocks::replay(message));
                whole.close();
                dispatch.project(&self.place, Projected::Message(whole));
            }
            EventData::Piece(piece, metadata) if is_here => self.piece(piece, metadata, dispatch),
            EventData::Payload(Payload::TaskStart(start)) => {
                self.deep.given(start);
                if event.ns.len() > depth
                    && let Some(begins) = self.deep.begins(&event.ns, start)
                    && begins.trigger_call_id.is_some()
                {
                    self.announce(begins, dispatch);
                }
                if event.ns.len() == depth + 1
                    && let Some(begins) = self.near.begins(&event.ns, start)
                {
                    let place = HubPlace::new(begins.ns.clone(), begins.graph_name, begins.trigger_call_id);
                    self.below.insert(begins.ns, Scope::new(place.clone()));
                    let handle = SubgraphRunStream::new(dispatch.shared.clone(), place);
                    dispatch.project(&self.place, Projected::Subgraph(handle));
                }
            }
            EventData::Payload(Payload::TaskEnd(end)) => {
                for ended in self.deep.ends(&event.ns, end) {
                    self.announce(Lifecycle::ended(ended), dispatch);
                }
                for (ns, status, error) in self.near.ends(&event.ns, end) {
                    if let Some(mut below) = self.below.remove(&ns) {
                        below.place.finish(status, error.as_deref());
                        // What it leaves open has failed with it, or is done.
                        let left = match status {
                            Status::Failed => Status::Failed,
                            _ => Status::Completed,
                        };
                        below.end(left, error.as_deref(), dispatch);
                        below.place.close();
                    }
                }
            }
            _ => {}
        }
        if event.ns.len() > depth
            && let Some(below) = self.below.get_mut(&event.ns[..=depth])
        {
            below.deliver(event, dispatch);
        }
        if let EventData::Payload(payload) = &event.data
            && is_here
            && dispatch.modes.contains(&payload.mode())
        {
            dispatch.project(&self.place, Projected::Mode(payload.clone()));
        }
    }

    fn announce(&self, lifecycle: Lifecycle, dispatch: &mut Dispatch<'_>) {
        if self.place.path.is_empty() {
            dispatch.log.push(lifecycle.clone());
        }
        dispatch.project(&self.place, Projected::Lifecycle(lifecycle));
    }

    fn piece(&mut self, piece: &MessageEvent, metadata: &Value, dispatch: &mut Dispatch<'_>) {
        let run_id = run_id(metadata);
        let known = self.messages.iter().position(|(known, _)| known == run_id);
        let place = known.unwrap_or_else(|| {
            let message = MessageStream::new(dispatch.shared, node_of(metadata));
            dispatch.project(&self.place, Projected::Message(message.clone()));
            self.messages.push((run_id.to_owned(), message));
            self.messages.len() - 1
        });
        let message = &self.messages[place].1;
        message.add([piece.clone()]);
        if matches!(piece, MessageEvent::Finish { .. }) {
            message.close();
            self.messages.remove(place);
        }
    }

    /// Closes a message of the graph at `ns` that will never be complete.
    fn cut(&mut self, ns: &[String], run_id: &str) {
        let depth = self.place.path.len();
        if ns.len() > depth {
            if let Some(below) = self.below.get_mut(&ns[..=depth]) {
                below.cut(ns, run_id);
            }
        } else if let Some(place) = self.messages.iter().position(|(known, _)| known == run_id) {
            self.messages.remove(place).1.close();
        }
    }

    /// Ends the scope: nothing more comes from here, and what is open below ends in `status`.
    fn end(&mut self, status: Status, error: Option<&str>, dispatch: &mut Dispatch<'_>) {
        for ended in self.deep.close(status, error) {
            self.announce(Lifecycle::ended(ended), dispatch);
        }
        for below in std::mem::take(&mut self.below).values_mut() {
            below.place.finish(status, error);
            below.end(status, error, dispatch);
            below.place.close();
        }
        for (_, message) in self.messages.drain(..) {
            message.close();
        }
    }
}

/// The type of a part of a message that a model streams.
const CHUNK: &str = "AIMessageChunk";

fn kind_of(message: &Value) -> Option<&str> {
    message.get("type").and_then(Value::as_str)
}

fn node_of(metadata: &Value) -> Option<Name> {
    Some(metadata.get("langgraph_node")?.as_str()?.into())
}

fn run_id(metadata: &Value) -> &str {
    metadata.get("run_id").and_then(Value::as_str).unwrap_or_default()
}

/// A message whose chunks still come.
#[derive(Debug)]
struct Streamed {
    /// The namespace of the task that streams it, and the message's id.
    key: (String, Option<String>),
    ns: Path,
    metadata: Value,
    assembly: Assembly,
}

/// The place that every event of the run passes.
#[derive(Debug)]
pub(super) struct Hub {
    seq: u64,
    clock: Arc<dyn Clock>,
    /// The projections that were asked for beside those that are always there.
    pub(super) modes: Vec<StreamMode>,
    root: Scope,
    pub(super) everywhere: Readers,
    streamed: Vec<Streamed>,
}

impl Hub {
    pub(super) fn new(clock: Arc<dyn Clock>, modes: Vec<StreamMode>) -> Self {
        Hub {
            seq: 0,
            clock,
            modes,
            root: Scope::new(HubPlace::new(Arc::from([]), None, None)),
            everywhere: Readers::default(),
            streamed: Vec::new(),
        }
    }

    pub(super) fn root(&self) -> Arc<HubPlace> {
        self.root.place.clone()
    }

    /// Takes an event of the run.
    pub(super) fn take(&mut self, shared: &Arc<Shared>, event: StreamEvent) {
        let StreamEvent { ns, payload, .. } = event;
        match payload {
            Payload::Message(chunk, metadata) if kind_of(&chunk) == Some(CHUNK) => {
                self.chunk(shared, ns, &chunk, metadata);
            }
            // Says that an attempt's message is over, as the failure of the attempt did before.
            Payload::Message(removal, _) if kind_of(&removal) == Some("remove") => {}
            Payload::Values(values, interrupts) => {
                let values = beside(values, &interrupts);
                self.emit(
                    shared,
                    ns,
                    EventData::Payload(Payload::Values(values, interrupts)),
                );
            }
            payload => {
                match &payload {
                    // Of an attempt that failed no message will be whole.
                    Payload::AttemptFailed(failed) => self.cut_streams(Some(&failed.id)),
                    Payload::TaskEnd(end) if end.error.is_some() => self.cut_streams(Some(&end.id)),
                    Payload::TaskEnd(end) => self.finish_streams(shared, Some(&end.id)),
                    _ => {}
                }
                self.emit(shared, ns, EventData::Payload(payload));
            }
        }
    }

    fn chunk(&mut self, shared: &Arc<Shared>, ns: Path, chunk: &Value, metadata: Value) {
        let text = |from: &Value, name: &str| from.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = text(chunk, "id");
        let key = (text(&metadata, "langgraph_checkpoint_ns").unwrap_or_default(), id);
        let place = match self.streamed.iter().position(|one| one.key == key) {
            Some(place) => place,
            None => {
                let metadata = with_run_id(metadata, key.1.as_deref().unwrap_or(&key.0));
                self.streamed.push(Streamed {
                    key,
                    ns,
                    metadata,
                    assembly: Assembly::default(),
                });
                self.streamed.len() - 1
            }
        };
        let one = &mut self.streamed[place];
        let (pieces, ns, metadata) = (one.assembly.add(chunk), one.ns.clone(), one.metadata.clone());
        for piece in pieces {
            self.emit(shared, ns.clone(), EventData::Piece(piece, metadata.clone()));
        }
        if chunk.get("chunk_position").and_then(Value::as_str) == Some("last") {
            let whole = self.streamed.remove(place);
            self.finish_message(shared, whole);
        }
    }

    fn finish_message(&mut self, shared: &Arc<Shared>, whole: Streamed) {
        for piece in whole.assembly.end() {
            let data = EventData::Piece(piece, whole.metadata.clone());
            self.emit(shared, whole.ns.clone(), data);
        }
    }

    /// Ends the messages that a task streamed, or all, which are complete now.
    fn finish_streams(&mut self, shared: &Arc<Shared>, task: Option<&TaskId>) {
        for whole in self.take_streams(task) {
            self.finish_message(shared, whole);
        }
    }

    /// Ends the messages that a task streamed, or all, which will never be complete.
    fn cut_streams(&mut self, task: Option<&TaskId>) {
        for part in self.take_streams(task) {
            self.root.cut(&part.ns, run_id(&part.metadata));
        }
    }

    fn take_streams(&mut self, task: Option<&TaskId>) -> Vec<Streamed> {
        let of_task = |one: &mut Streamed| match task {
            Some(task) => one.key.0.rsplit(':').next() == Some(task.as_str()),
            None => true,
        };
        self.streamed.extract_if(.., of_task).collect()
    }

    fn emit(&mut self, shared: &Arc<Shared>, ns: Path, data: EventData) {
        let mut event = ProtocolEvent {
            seq: 0,
            ns,
            timestamp_ms: self.clock.now_ms(),
            data,
        };
        let mut dispatch = Dispatch {
            shared,
            everywhere: &mut self.everywhere,
            log: Vec::new(),
            modes: &self.modes,
        };
        self.root.deliver(&event, &mut dispatch);
        let lives = dispatch.log;
        self.log_lives(lives);
        // Tasks are reported as what they mean for nested graphs, and attempts where they were asked for.
        let is_logged = match &event.data {
            EventData::Payload(payload) => match payload.mode() {
                StreamMode::Tasks => false,
                mode @ (StreamMode::Attempts | StreamMode::Waits) => self.modes.contains(&mode),
                _ => true,
            },
            _ => true,
        };
        if is_logged {
            self.seq += 1;
            event.seq = self.seq;
            self.log(event);
        }
    }

    fn log(&mut self, event: ProtocolEvent) {
        let place = &self.root.place;
        let item = Projected::Event(Arc::new(event));
        place.view.lock().readers.deliver(&place.path, &item);
        self.everywhere.deliver(&place.path, &item);
    }

    fn log_lives(&mut self, lives: Vec<Lifecycle>) {
        for life in lives {
            self.seq += 1;
            let event = ProtocolEvent {
                seq: self.seq,
                ns: Arc::from([]),
                timestamp_ms: self.clock.now_ms(),
                data: EventData::Lifecycle(life),
            };
            self.log(event);
        }
    }

    /// Ends the run.
    pub(super) fn end(&mut self, shared: &Arc<Shared>, status: Status, error: Option<&str>) {
        match status {
            Status::Completed => self.finish_streams(shared, None),
            _ => self.cut_streams(None),
        }
        let is_asking = !self.root.place.view.lock().interrupts.is_empty();
        let own = match status {
            Status::Completed if is_asking => Status::Interrupted,
            status => status,
        };
        self.root.place.finish(own, error);
        let mut dispatch = Dispatch {
            shared,
            everywhere: &mut self.everywhere,
            log: Vec::new(),
            modes: &self.modes,
        };
        self.root.end(status, error, &mut dispatch);
        let lives = dispatch.log;
        self.log_lives(lives);
        self.root.place.close();
        self.everywhere.close();
    }
}

/// Adds the run's id to the metadata of a message's pieces: it is in the message's id if that follows LangChain's
/// naming.
fn with_run_id(metadata: Value, id: &str) -> Value {
    let bare = id.strip_prefix("lc_").unwrap_or(id);
    let run_id = bare
        .strip_prefix("run--")
        .or_else(|| bare.strip_prefix("run-"))
        .unwrap_or(id);
    let mut fields = metadata.as_object().cloned().unwrap_or_default();
    fields.insert("run_id", run_id);
    fields.into()
}

/// Returns the values that the protocol shows: a state with pending questions is an object.
fn beside(values: Value, interrupts: &[Interrupt]) -> Value {
    match values {
        Value::Object(_) => values,
        _ if interrupts.is_empty() => values,
        _ => Object::new().into(),
    }
}
