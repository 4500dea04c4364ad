//! The node's side: does what its program asks, as long as it runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use superstep::graph::{Interrupted, TaskFn};
use superstep::{NodeContext, NodeError, Value};
use tokio::sync::oneshot;

use super::store::{self, StoreRequest};
use super::stream::Streams;
use super::task::{TaskOptions, Wanted};
use super::{Ending, Event, Fault, Inbox, NODE, Notice, ProgramReply, ProgramRequest, RequestBody};
use crate::base::secrets::{redact_result, redact_value};

/// Longest time that a program may ask to wait.
const MAX_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns how long a program sleeps that asks for this.
pub(crate) fn sleep_time(ms: f64) -> Duration {
    let time = Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default();
    time.min(MAX_SLEEP)
}

/// Owner of a program, as named in its log lines.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner<'a> {
    /// A node.
    Node(&'a str),
    /// A tool.
    Tool(&'a str),
    /// A node, for one of its items.
    Item(&'a str, usize),
}

impl Owner<'_> {
    /// Returns whether the program gets the state of a node.
    pub(crate) fn is_node(&self) -> bool {
        matches!(self, Owner::Node(_))
    }

    fn event(&self, what: &str, value: Value) -> Value {
        let mut event = superstep::value::Object::new();
        event.insert(what, redact_value(&value));
        match *self {
            Owner::Node(name) => drop(event.insert("node", name)),
            Owner::Tool(name) => drop(event.insert("tool", name)),
            Owner::Item(name, index) => {
                event.insert("node", name);
                event.insert("item", index);
            }
        }
        Value::Object(event)
    }
}

/// A task whose work the program does now.
struct OpenTask {
    context: NodeContext,
    result: oneshot::Sender<Result<Value, NodeError>>,
    wanted: Wanted,
}

/// `None` when the program is gone, and with it what would do the work.
type OpenTasks = Arc<Mutex<Option<HashMap<u64, OpenTask>>>>;
/// Answers by the id of what was asked, each with the scope that asked.
type OpenRequests = FuturesUnordered<BoxFuture<'static, (u64, u64, RequestOutcome)>>;

enum RequestOutcome {
    Reply(ProgramReply),
    Task(Result<Value, NodeError>),
}

/// Serves a program's requests until it ends, and returns its result. `state` is what its node sees, if the program is
/// the node's own; `lost` makes the error of a program that ends without a result.
pub(crate) async fn serve<T, E>(
    context: &NodeContext,
    owner: Owner<'_>,
    state: Option<&Value>,
    mut inbox: Inbox<T, E>,
    tell: impl Fn(Notice) + Clone + Send + Sync + 'static,
    lost: impl FnOnce() -> E,
) -> Result<Result<T, E>, NodeError>
where
    E: From<Fault>,
{
    let mut host = RequestHost {
        context,
        owner,
        state,
        tell,
        running: Arc::new(Mutex::new(Some(HashMap::new()))),
        answers: OpenRequests::new(),
        stores: OpenRequests::new(),
        unanswered: HashMap::new(),
        streams: Streams::default(),
        stops: Vec::new(),
        held: HashMap::new(),
    };
    loop {
        tokio::select! {
            biased;
            () = context.cancelled() => return Err(NodeError::Cancelled),
            Some((id, scope, answer)) = host.answers.next(), if !host.answers.is_empty() => {
                host.answer(id, scope, answer);
            }
            Some((id, scope, answer)) = host.stores.next(), if !host.stores.is_empty() => {
                host.answer(id, scope, answer);
            }
            event = inbox.recv() => match event {
                Some(Event::Request(request)) => host.take(request).await,
                Some(Event::Ended(end)) => return host.end(end).await,
                None => return Ok(Err(lost())),
            },
        }
    }
}

struct RequestHost<'a, F> {
    context: &'a NodeContext,
    owner: Owner<'a>,
    state: Option<&'a Value>,
    tell: F,
    running: OpenTasks,
    answers: OpenRequests,
    /// Apart from the others, because what is written is written also when nobody waits for it.
    stores: OpenRequests,
    /// By scope: a question that has no answer yet, before it is known how it reads.
    unanswered: HashMap<u64, NodeError>,
    /// Messages that it streams.
    streams: Streams,
    /// Why the program was not to go on.
    stops: Vec<NodeError>,
    /// The same of its tasks, by scope, until their functions have ended.
    held: HashMap<u64, Vec<NodeError>>,
}

impl<F: Fn(Notice) + Clone + Send + Sync + 'static> RequestHost<'_, F> {
    fn scope(&self, scope: u64) -> NodeContext {
        let running = self.running.lock();
        let work = running.as_ref().and_then(|running| running.get(&scope));
        work.map_or(self.context, |work| &work.context).clone()
    }

    /// Handles a request of the program. A program may have been given a key; what it reveals of it goes no further.
    async fn take(&mut self, asked: ProgramRequest) {
        let ProgramRequest { id, scope, request } = asked;
        let reply = |reply| (self.tell)(Notice::Answer(id, reply));
        if scope != NODE && matches!(request, RequestBody::Emit(_) | RequestBody::Message(_)) {
            self.scope(scope).note_activity();
        }
        match request {
            RequestBody::Emit(value) => self.context.emit(redact_value(&value)).await,
            RequestBody::Message(value) => {
                for chunk in self.streams.delivered(&value) {
                    self.context.message(chunk).await;
                }
            }
            RequestBody::Log(line) => self.context.emit(self.owner.event("log", line.into())).await,
            RequestBody::LogAt(level, line) => {
                let mut event = self.owner.event("log", line.into());
                if let Value::Object(fields) = &mut event {
                    fields.insert("level", level);
                }
                self.context.emit(event).await;
            }
            RequestBody::Progress(progress) => {
                self.scope(scope).heartbeat();
                let shown = serde_json::to_value(&progress)
                    .map(Value::from)
                    .unwrap_or_default();
                self.context.emit(self.owner.event("progress", shown)).await;
            }
            RequestBody::Interrupt(question) => match self.scope(scope).interrupt(redact_value(&question)) {
                Ok(answer) => reply(ProgramReply::Ok(answer)),
                Err(error) => {
                    reply(ProgramReply::Stop);
                    self.stop(scope, error);
                }
            },
            RequestBody::Answer => match self.scope(scope).interrupt(Value::Null) {
                Ok(answer) => reply(ProgramReply::Ok(answer)),
                Err(error) => {
                    reply(ProgramReply::Stop);
                    self.unanswered.insert(scope, error);
                }
            },
            RequestBody::Pause => {
                let nobody = Interrupted::Nested(Vec::new());
                self.stop(scope, NodeError::Interrupt(nobody));
            }
            RequestBody::Store(request) => self.store(id, scope, request),
            RequestBody::Sleep(ms) => {
                let time = sleep_time(ms);
                self.answers.push(Box::pin(async move {
                    tokio::time::sleep(time).await;
                    (id, scope, RequestOutcome::Reply(ProgramReply::Ok(Value::Null)))
                }));
            }
            RequestBody::Reads { all, keys } => self.reads(all, &keys),
            RequestBody::Task {
                name,
                args,
                slot,
                options,
            } => self.task(id, scope, slot, (name, args, options.unwrap_or_default())),
            RequestBody::Done { task, end } => self.done(task, end),
        }
    }

    /// Takes what the work of a task came to. A task cannot catch a question of what it called.
    fn done(&mut self, task: u64, end: Ending<Value>) {
        let held = NodeError::together(self.held.remove(&task).unwrap_or_default());
        let result = match (held, end) {
            (Some(held), _) => Err(held),
            (None, Ending::Ok(value)) => Ok(value),
            (None, Ending::Error(fault)) => {
                self.note_wanted(task, fault.policy);
                Err(NodeError::Failed(fault.into()))
            }
            (None, Ending::Asks(question)) => match self.asked(task, question) {
                Some(error) => Err(error),
                // It was asked to stop, and the reason is known.
                None => return,
            },
        };
        self.finish(task, result);
    }

    /// Notes what the program looked at.
    fn reads(&self, all: bool, keys: &[String]) {
        let (Some(recorder), Some(state)) = (self.context.recorder(), self.state) else {
            return;
        };
        recorder.tracks_reads();
        if all {
            recorder.read_all();
        }
        for key in keys {
            recorder.read(state, key);
        }
    }

    fn store(&mut self, id: u64, scope: u64, request: StoreRequest) {
        let store = self.context.store().cloned();
        self.stores.push(Box::pin(async move {
            (
                id,
                scope,
                RequestOutcome::Reply(store::answer(store, request).await),
            )
        }));
    }

    fn task(
        &mut self,
        id: u64,
        scope: u64,
        slot: Option<u32>,
        (name, args, options): (String, Value, TaskOptions),
    ) {
        let (running, tell) = (self.running.clone(), self.tell.clone());
        let wanted = Wanted::default();
        let options = options.node_options(&wanted);
        let task = TaskFn::new(name, move |context: NodeContext, _| {
            let (result, done) = oneshot::channel();
            let around = context.clone();
            let wanted = wanted.clone();
            wanted.lock().take();
            if let Some(running) = running.lock().as_mut() {
                running.insert(
                    id,
                    OpenTask {
                        context,
                        result,
                        wanted,
                    },
                );
            }
            tell(Notice::Work(id));
            async move {
                done.await.unwrap_or_else(|_| match around.is_cancelled() {
                    true => Err(NodeError::Cancelled),
                    // Not what is wrong with the node: that is why its program has ended.
                    false => Err(NodeError::new(
                        super::CLASS,
                        "the program ended before the task did",
                    )),
                })
            }
        })
        .options(options);
        let (caller, args) = (self.scope(scope), redact_value(&args));
        let handle = match slot {
            Some(slot) => caller.call_at(slot, &task.sealed(), args),
            None => caller.call(&task, args),
        };
        self.answers.push(Box::pin(async move {
            (id, scope, RequestOutcome::Task(handle.await))
        }));
    }

    /// Notes which of a task's retry policies wants another attempt.
    fn note_wanted(&self, task: u64, policy: Option<usize>) {
        let running = self.running.lock();
        let working = running.as_ref().and_then(|running| running.get(&task));
        if let Some(working) = working {
            // None of them is a place that no policy has.
            *working.wanted.lock() = Some(policy.unwrap_or(usize::MAX));
        }
    }

    /// Passes the result of a task to the engine, which records it and then answers the request.
    fn finish(&mut self, task: u64, result: Result<Value, NodeError>) {
        let working = self
            .running
            .lock()
            .as_mut()
            .and_then(|running| running.remove(&task));
        if let Some(working) = working {
            let _ = working.result.send(redact_result(result));
        }
    }

    /// Returns the question with which a function ended.
    fn asked(&mut self, scope: u64, question: Option<Value>) -> Option<NodeError> {
        let mut error = self.unanswered.remove(&scope)?;
        if let (NodeError::Interrupt(Interrupted::Question { question: asked, .. }), Some(question)) =
            (&mut error, question)
        {
            *asked = redact_value(&question);
        }
        Some(error)
    }

    /// Stops a function.
    fn stop(&mut self, scope: u64, error: NodeError) {
        if scope == NODE {
            self.stops.push(error);
        } else {
            self.finish(scope, Err(error));
        }
    }

    fn answer(&mut self, id: u64, scope: u64, answer: RequestOutcome) {
        let reply = match answer {
            RequestOutcome::Reply(reply) => reply,
            RequestOutcome::Task(Ok(value)) => ProgramReply::Ok(value),
            RequestOutcome::Task(Err(NodeError::Failed(failure))) => {
                ProgramReply::Error(Fault::new(&failure.class, failure.message))
            }
            RequestOutcome::Task(Err(error)) => {
                match scope {
                    NODE => self.stops.push(error),
                    scope => self.held.entry(scope).or_default().push(error),
                }
                ProgramReply::Stop
            }
        };
        (self.tell)(Notice::Answer(id, reply));
    }

    async fn end<T, E: From<Fault>>(mut self, end: Result<Ending<T>, E>) -> Result<Result<T, E>, NodeError> {
        while self.stores.next().await.is_some() {}
        for chunk in self.streams.rest() {
            self.context.message(chunk).await;
        }
        let end = match end {
            Ok(Ending::Ok(value)) => Ok(value),
            Ok(Ending::Error(fault)) => Err(fault.into()),
            Ok(Ending::Asks(question)) => {
                let asked = self.asked(NODE, question);
                self.stops.extend(asked);
                let cause = "it stopped for a question that was never asked.";
                Err(Fault::new(super::CLASS, cause).into())
            }
            Err(error) => Err(error),
        };
        self.stops
            .extend(std::mem::take(&mut self.held).into_values().flatten());
        // A program cannot catch a question: whatever it did then, it starts over when there is an answer.
        match NodeError::together(std::mem::take(&mut self.stops)) {
            Some(error) => Err(error),
            None => Ok(end),
        }
    }
}

impl<F> Drop for RequestHost<'_, F> {
    fn drop(&mut self) {
        self.running.lock().take();
    }
}
