//! A message, read piece by piece.

use std::sync::Arc;

use parking_lot::Mutex;
use superstep::Name;

use super::Shared;
use crate::pieces::{Delta, MessageEvent};

/// The pieces of one message so far.
#[derive(Debug, Default)]
struct Pieces {
    events: Vec<MessageEvent>,
    is_closed: bool,
}

/// A message that comes in pieces. Clones read for themselves, from where the original was.
#[derive(Clone, Debug)]
pub struct MessageStream {
    shared: Arc<Shared>,
    node: Option<Name>,
    pieces: Arc<Mutex<Pieces>>,
    read: usize,
}

impl MessageStream {
    pub(super) fn new(shared: &Arc<Shared>, node: Option<Name>) -> Self {
        MessageStream {
            shared: shared.clone(),
            node,
            pieces: Arc::default(),
            read: 0,
        }
    }

    pub(super) fn add(&self, events: impl IntoIterator<Item = MessageEvent>) {
        self.pieces.lock().events.extend(events);
    }

    pub(super) fn close(&self) {
        self.pieces.lock().is_closed = true;
    }

    /// Returns the node that the message comes from.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Returns the message's id.
    pub fn id(&self) -> Option<String> {
        match self.pieces.lock().events.first() {
            Some(MessageEvent::Start { id, .. }) => id.clone(),
            _ => None,
        }
    }

    /// Reads the next piece; None when the message is complete, or when the run or the attempt that streamed it ended
    /// before. Drives the run.
    pub async fn next(&mut self) -> Option<MessageEvent> {
        loop {
            {
                let pieces = self.pieces.lock();
                if let Some(piece) = pieces.events.get(self.read) {
                    self.read += 1;
                    return Some(piece.clone());
                }
                if pieces.is_closed {
                    return None;
                }
            }
            let (pieces, read) = (&self.pieces, self.read);
            let enough = || {
                let pieces = pieces.lock();
                pieces.is_closed || pieces.events.len() > read
            };
            self.shared.advance(enough).await;
        }
    }

    /// Reads the text that has not been read yet, once all of it has arrived. Drives the run.
    pub async fn text(mut self) -> String {
        let mut whole = String::new();
        while let Some(piece) = self.next().await {
            if let MessageEvent::BlockDelta {
                delta: Delta::Text(text),
                ..
            } = piece
            {
                whole.push_str(&text);
            }
        }
        whole
    }
}
