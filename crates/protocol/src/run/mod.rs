//! A run that is read by the protocol. Its readers drive it: each reader takes what waits for it, and asks the run for
//! the next event when nothing does.

mod hub;
mod message;
mod queue;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use futures::Stream;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::event::ProtocolEvent;
use crate::lifecycle::{Lifecycle, Status, outcome};
use hub::{Hub, HubPlace};
pub use message::MessageStream;
use queue::{Path, Queue};
use superstep::run::Clock;
use superstep::stream::Payload;
use superstep::{Interrupt, Run, RunError, RunResult, StreamMode, Value};

/// Kind of items that can be read of a graph in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Projection {
    /// The state after each step.
    Values,
    /// Each message that a model streams or a node returns, except the results of tools.
    Messages,
    /// Where graphs below begin and end, at any depth.
    Lifecycle,
    /// The graphs right below.
    Subgraphs,
    /// The items of a stream mode. The run must have been asked for it with [`RunConfig::modes`](superstep::RunConfig::modes).
    Mode(StreamMode),
    /// All events of the run, nested graphs included; at the root only.
    Log,
}

impl Projection {
    /// Returns the projection's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Projection::Values => "values",
            Projection::Messages => "messages",
            Projection::Lifecycle => "lifecycle",
            Projection::Subgraphs => "subgraphs",
            Projection::Mode(mode) => mode.as_str(),
            Projection::Log => "events",
        }
    }
}

/// An item of a projection.
#[derive(Clone, Debug)]
pub enum Projected {
    /// The state.
    Values(Value),
    /// A message; its pieces come as they are streamed.
    Message(MessageStream),
    /// A graph below begins or ends.
    Lifecycle(Lifecycle),
    /// A graph right below has begun. Its items are there for those who read it before they read on here.
    Subgraph(SubgraphRunStream),
    /// The items of a stream mode.
    Mode(Payload),
    /// An event of the log.
    Event(Arc<ProtocolEvent>),
}

impl Projected {
    /// Returns the projection that the item belongs to.
    pub fn projection(&self) -> Projection {
        match self {
            Projected::Values(_) => Projection::Values,
            Projected::Message(_) => Projection::Messages,
            Projected::Lifecycle(_) => Projection::Lifecycle,
            Projected::Subgraph(_) => Projection::Subgraphs,
            Projected::Mode(payload) => Projection::Mode(payload.mode()),
            Projected::Event(_) => Projection::Log,
        }
    }
}

/// The part of a run that is read next. A reader may go away at any await: the next one goes on here.
enum Reading {
    Events(Run),
    Result(BoxFuture<'static, Result<RunResult, RunError>>),
    Over,
}

/// State that all readers of a run share.
pub(super) struct Shared {
    run: tokio::sync::Mutex<Reading>,
    hub: Mutex<Hub>,
    result: Mutex<Option<Result<RunResult, RunError>>>,
    cancel: CancellationToken,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// Asks the run for one more event, unless another reader did so meanwhile and it was `enough`.
    async fn advance(self: &Arc<Self>, enough: impl Fn() -> bool) {
        let mut reading = self.run.lock().await;
        if enough() {
            return;
        }
        if let Reading::Events(run) = &mut *reading
            && let Some(event) = run.next().await
        {
            self.hub.lock().take(self, event);
            return;
        }
        *reading = match std::mem::replace(&mut *reading, Reading::Over) {
            Reading::Events(run) => Reading::Result(Box::pin(run.finish())),
            later => later,
        };
        let Reading::Result(result) = &mut *reading else {
            return;
        };
        let result = result.await;
        *reading = Reading::Over;
        let (status, error) = outcome(result.as_ref().err());
        self.hub.lock().end(self, status, error.as_deref());
        *self.result.lock() = Some(result);
    }

    fn queue(self: &Arc<Self>, wants: &[Projection]) -> Result<Arc<Queue>, RunError> {
        let hub = self.hub.lock();
        for projection in wants {
            if let Projection::Mode(mode) = projection
                && !hub.modes.contains(mode)
            {
                return Err(RunError::InvalidRequest {
                    message: format!(
                        "This run does not emit `{mode}`: name it in the modes of its configuration. \
                         The states and messages are always emitted, as `Values` and `Messages`."
                    ),
                });
            }
        }
        Ok(Queue::new(wants))
    }
}

/// Reader of some items of a run, in the order in which they were emitted. Dropping it discards what was not read.
///
/// Items from before a reader begins are not kept for it, and those of a reader that does not read wait in memory: read
/// what you asked for.
pub struct Reader<T> {
    shared: Arc<Shared>,
    queue: Arc<Queue>,
    read: fn(Path, Projected) -> Option<T>,
}

/// States.
pub type Values = Reader<Value>;
/// Messages.
pub type Messages = Reader<MessageStream>;
/// Reader of where graphs below begin and end.
pub type LifecycleEvents = Reader<Lifecycle>;
/// The graphs right below.
pub type Subgraphs = Reader<SubgraphRunStream>;
/// The items of a stream mode.
pub type Payloads = Reader<Payload>;
/// Items of all graphs in a run, each with the place of its graph.
pub type Everything = Reader<(Arc<[String]>, Projected)>;
/// The log.
pub type Log = Reader<Arc<ProtocolEvent>>;

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

impl<T> Reader<T> {
    /// Reads the next item; None when no more comes. Drives the run.
    pub async fn next(&mut self) -> Option<T> {
        loop {
            if let Some(item) = self.try_next() {
                return Some(item);
            }
            if self.queue.is_closed() {
                // What came before the end.
                return self.try_next();
            }
            self.shared.advance(|| self.queue.is_ready()).await;
        }
    }

    /// Reads the next item if it is there already. Does not drive the run.
    pub fn try_next(&mut self) -> Option<T> {
        loop {
            let (path, item) = self.queue.pop()?;
            if let Some(item) = (self.read)(path, item) {
                return Some(item);
            }
        }
    }

    /// Converts the reader to a stream of its items.
    pub fn into_stream(self) -> impl Stream<Item = T> + Send
    where
        T: Send,
    {
        futures::stream::unfold(
            self,
            |mut reader| async move { Some((reader.next().await?, reader)) },
        )
    }
}

/// A graph in a run, and what can be read of it. Any number of readers may read the same.
#[derive(Clone, Debug)]
pub struct Projections {
    shared: Arc<Shared>,
    place: Arc<HubPlace>,
}

impl Projections {
    fn read<T>(&self, wants: Projection, read: fn(Path, Projected) -> Option<T>) -> Reader<T> {
        self.reader(Queue::new(&[wants]), read)
    }

    fn reader<T>(&self, queue: Arc<Queue>, read: fn(Path, Projected) -> Option<T>) -> Reader<T> {
        let mut view = self.place.view.lock();
        match view.status {
            Status::Started => view.readers.add(&queue),
            _ => queue.close(),
        }
        Reader {
            shared: self.shared.clone(),
            queue,
            read,
        }
    }

    /// Returns the graph's states.
    pub fn values(&self) -> Values {
        self.read(Projection::Values, |_, item| match item {
            Projected::Values(values) => Some(values),
            _ => None,
        })
    }

    /// Returns the messages of the graph's nodes; those of graphs below are read there.
    pub fn messages(&self) -> Messages {
        self.read(Projection::Messages, |_, item| match item {
            Projected::Message(message) => Some(message),
            _ => None,
        })
    }

    /// Returns where graphs below begin and end, at any depth.
    pub fn lifecycle(&self) -> LifecycleEvents {
        self.read(Projection::Lifecycle, |_, item| match item {
            Projected::Lifecycle(lifecycle) => Some(lifecycle),
            _ => None,
        })
    }

    /// Returns the graphs directly below, as they begin.
    pub fn subgraphs(&self) -> Subgraphs {
        self.read(Projection::Subgraphs, |_, item| match item {
            Projected::Subgraph(graph) => Some(graph),
            _ => None,
        })
    }

    /// Returns the items of a stream mode of the graph; an error if the run was not asked for it.
    pub fn mode(&self, mode: StreamMode) -> Result<Payloads, RunError> {
        let queue = self.shared.queue(&[Projection::Mode(mode)])?;
        Ok(self.reader(queue, |_, item| match item {
            Projected::Mode(payload) => Some(payload),
            _ => None,
        }))
    }

    /// Returns several projections in the order in which their items came.
    pub fn interleave(&self, projections: &[Projection]) -> Result<Reader<Projected>, RunError> {
        let queue = self.shared.queue(projections)?;
        Ok(self.reader(queue, |_, item| Some(item)))
    }

    /// Returns the place of the graph: `node:task` segments, empty at the root.
    pub fn path(&self) -> &[String] {
        &self.place.path
    }

    /// Returns the status of the graph.
    pub fn status(&self) -> Status {
        self.place.view.lock().status
    }

    /// Returns why the graph failed.
    pub fn error(&self) -> Option<String> {
        self.place.view.lock().error.clone()
    }

    async fn ended(&self) {
        while self.status() == Status::Started {
            self.shared.advance(|| self.status() != Status::Started).await;
        }
    }

    /// Returns the last state when the graph has ended; None if it never emitted one. The graph's
    /// [`status`](Self::status) says how it ended. Drives the run.
    pub async fn output(&self) -> Option<Value> {
        self.ended().await;
        self.place.view.lock().latest.clone()
    }

    /// Returns whether the graph asks questions when it has ended. Drives the run.
    pub async fn interrupted(&self) -> bool {
        !self.interrupts().await.is_empty()
    }

    /// Returns the graph's questions when it has ended. Drives the run.
    pub async fn interrupts(&self) -> Vec<Interrupt> {
        self.ended().await;
        self.place.view.lock().interrupts.clone()
    }
}

/// A run that is read by the protocol. It goes on while somebody reads, and stops when it and everything that was made of
/// it are dropped.
#[derive(Debug)]
pub struct GraphRunStream(Projections);

impl Deref for GraphRunStream {
    type Target = Projections;
    fn deref(&self) -> &Projections {
        &self.0
    }
}

impl GraphRunStream {
    pub(crate) fn new(
        run: Run,
        cancel: CancellationToken,
        clock: Arc<dyn Clock>,
        modes: Vec<StreamMode>,
    ) -> Self {
        let hub = Hub::new(clock, modes);
        let place = hub.root();
        let shared = Arc::new(Shared {
            run: tokio::sync::Mutex::new(Reading::Events(run)),
            hub: Mutex::new(hub),
            result: Mutex::default(),
            cancel,
        });
        GraphRunStream(Projections { shared, place })
    }

    /// Returns the log: all events, those of nested graphs included, numbered from 1.
    pub fn events(&self) -> Log {
        self.read(Projection::Log, |_, item| match item {
            Projected::Event(event) => Some(event),
            _ => None,
        })
    }

    /// Returns projections of all graphs in the run, at any depth, with the place of the graph that each item belongs
    /// to.
    pub fn everything(&self, projections: &[Projection]) -> Result<Everything, RunError> {
        let queue = self.shared.queue(projections)?;
        let mut hub = self.shared.hub.lock();
        match self.status() {
            Status::Started => hub.everywhere.add(&queue),
            _ => queue.close(),
        }
        drop(hub);
        Ok(Reader {
            shared: self.shared.clone(),
            queue,
            read: |path, item| Some((path, item)),
        })
    }

    /// Stops the run; the thread stays resumable. What is left to read can be read.
    pub fn abort(&self) {
        self.shared.cancel.cancel();
    }

    /// Drives the run to its end and gives its result.
    pub async fn finish(self) -> Result<RunResult, RunError> {
        let result = || self.shared.result.lock().take();
        loop {
            if let Some(result) = result() {
                return result;
            }
            self.shared.advance(|| self.shared.result.lock().is_some()).await;
        }
    }
}

/// A graph that a task of the run runs.
#[derive(Clone, Debug)]
pub struct SubgraphRunStream(Projections);

impl Deref for SubgraphRunStream {
    type Target = Projections;
    fn deref(&self) -> &Projections {
        &self.0
    }
}

impl SubgraphRunStream {
    fn new(shared: Arc<Shared>, place: Arc<HubPlace>) -> Self {
        SubgraphRunStream(Projections { shared, place })
    }

    /// Returns the node that runs the graph, or the agent's name.
    pub fn graph_name(&self) -> Option<&str> {
        self.0.place.graph_name.as_deref()
    }

    /// Returns the task that runs the graph; None for a graph that keeps one namespace over all runs.
    pub fn trigger_call_id(&self) -> Option<&str> {
        self.0.place.trigger_call_id.as_deref()
    }
}
