//! The sending end of a run's stream.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc;

use crate::stream::events::{Payload, StreamMode};
use crate::stream::metrics::{Activity, Meter};
use crate::value::Value;

/// Sender of the payloads that somebody asked for; it waits while the reader is behind, so memory stays bounded.
#[derive(Clone)]
pub(crate) struct Emitter {
    modes: u16,
    sender: Option<mpsc::Sender<(Arc<[String]>, Payload)>>,
    ns: Arc<[String]>,
    shared: Arc<SharedByEmitters>,
    meter: Option<Meter>,
    /// Messages with which tools answer are emitted when a node returns them.
    tools: bool,
}

/// State that the emitters of one run share.
#[derive(Default)]
struct SharedByEmitters {
    messages: Mutex<KnownMessages>,
    /// The run has failed: what its other tasks still do is not emitted.
    over: AtomicBool,
}

/// Messages that readers know.
#[derive(Default)]
struct KnownMessages {
    /// Ids of those that were sent, so that one that comes out of a nested graph too is not sent again, and of those that
    /// a task was given.
    ids: HashSet<String>,
    /// What tasks were given and nobody has looked through yet: most tasks return no message.
    inputs: Vec<Value>,
}

/// The inputs that wait to be looked through.
const MAX_INPUTS: usize = 64;

impl KnownMessages {
    fn look_through(&mut self) {
        for input in std::mem::take(&mut self.inputs) {
            for id in ids_in(&input) {
                if !self.ids.contains(id) {
                    self.ids.insert(id.to_owned());
                }
            }
        }
    }
}

/// Returns the ids of the messages that a task is given.
pub(crate) fn ids_in(input: &Value) -> impl Iterator<Item = &str> {
    let values = input.as_object().into_iter().flat_map(|input| input.iter());
    let lists = values.filter_map(|(_, value)| value.as_array());
    lists
        .flat_map(|list| list.iter())
        .filter_map(|message| message.get("id").and_then(Value::as_str))
}

impl Emitter {
    pub(crate) fn new(modes: &[StreamMode], sender: mpsc::Sender<(Arc<[String]>, Payload)>) -> Self {
        let modes = modes.iter().fold(0, |bits, mode| bits | 1 << *mode as u16);
        Self {
            modes,
            sender: Some(sender),
            ns: Arc::from([]),
            shared: Arc::default(),
            meter: None,
            tools: true,
        }
    }

    /// Emits answers of tools that nodes return as messages, or does not.
    pub(crate) fn with_tools(self, tools: bool) -> Self {
        Self { tools, ..self }
    }

    pub(crate) fn emits_tool_messages(&self) -> bool {
        self.tools
    }

    /// Sets the meter that counts the time spent waiting for the reader.
    pub(crate) fn measured(self, meter: Option<Meter>) -> Self {
        Self { meter, ..self }
    }

    pub(crate) fn none() -> Self {
        Self {
            modes: 0,
            sender: None,
            ns: Arc::from([]),
            shared: Arc::default(),
            meter: None,
            tools: true,
        }
    }

    /// Returns whether anybody reads anything.
    pub(crate) fn is_read(&self) -> bool {
        self.modes != 0
    }

    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes & 1 << mode as u16 != 0
    }

    /// Sends a payload. A reader that went away is not an error here: dropping the reader cancels the run.
    pub(crate) async fn send(&self, payload: Payload) {
        if let Some(sender) = &self.sender
            && !self.shared.over.load(Ordering::Relaxed)
        {
            let _waits = self.meter.as_ref().map(|meter| meter.enter(Activity::Reader));
            let _ = sender.send((self.ns.clone(), payload)).await;
        }
    }
}

impl Emitter {
    /// Ends the stream of the whole run, although tasks of it go on.
    pub(crate) fn close(&self) {
        self.shared.over.store(true, Ordering::Relaxed);
    }

    /// Notes what a task was given: the messages in it are no news to anyone who reads what later steps return.
    pub(crate) fn given(&self, input: &Value) {
        if self.wants(StreamMode::Messages) {
            let mut known = self.known();
            known.inputs.push(input.clone());
            if known.inputs.len() >= MAX_INPUTS {
                known.look_through();
            }
        }
    }

    /// Notes a message id; false when readers know it.
    pub(crate) fn first_time(&self, id: String) -> bool {
        let mut known = self.known();
        known.look_through();
        known.ids.insert(id)
    }

    fn known(&self) -> MutexGuard<'_, KnownMessages> {
        self.shared.messages.lock()
    }

    /// Returns the namespace of the payloads that are sent.
    pub(crate) fn ns(&self) -> Arc<[String]> {
        self.ns.clone()
    }

    /// Creates the sending end of a nested graph's stream.
    pub(crate) fn nested(&self, ns: Arc<[String]>) -> Self {
        Self { ns, ..self.clone() }
    }

    /// Creates the sending end of a nested graph whose stream nobody asked for.
    pub(crate) fn silent(ns: Arc<[String]>) -> Self {
        Self { ns, ..Self::none() }
    }

    /// Makes and sends a payload if somebody reads its mode.
    pub(crate) async fn send_if(&self, mode: StreamMode, payload: impl FnOnce() -> Payload) {
        if self.wants(mode) {
            self.send(payload()).await;
        }
    }
}
