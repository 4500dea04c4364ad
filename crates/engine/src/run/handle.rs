//! A run in progress, as its caller holds it.

use std::sync::Arc;

use futures::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::stream::emit::Emitter;
use crate::stream::error::RunError;
use crate::stream::events::{Payload, StreamEvent, StreamMode};
use crate::stream::request::RunResult;

/// How many events wait for a slow reader before the run waits for it.
const STREAM_BUFFER: usize = 256;

/// A run in progress: a stream of events, and its result. Dropping it stops the run.
#[derive(Debug)]
pub struct Run<T = RunResult> {
    receiver: mpsc::Receiver<(Arc<[String]>, Payload)>,
    handle: JoinHandle<Result<T, RunError>>,
    cancel: CancellationToken,
    _stop: DropGuard,
    seq: u64,
}

impl<T: Send + 'static> Run<T> {
    /// Starts `work`, which reports to the emitter that it is given.
    pub(crate) fn start<F>(
        modes: &[StreamMode],
        cancel: CancellationToken,
        work: impl FnOnce(Emitter) -> F,
    ) -> Self
    where
        F: Future<Output = Result<T, RunError>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(STREAM_BUFFER);
        Run {
            receiver,
            handle: tokio::spawn(work(Emitter::new(modes, sender))),
            _stop: cancel.clone().drop_guard(),
            cancel,
            seq: 0,
        }
    }
}

impl<T> Run<T> {
    /// Returns the next event; None when the run has ended.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        let (ns, payload) = self.receiver.recv().await?;
        Some(self.event(ns, payload))
    }

    fn event(&mut self, ns: Arc<[String]>, payload: Payload) -> StreamEvent {
        let seq = self.seq;
        self.seq += 1;
        StreamEvent { seq, ns, payload }
    }

    /// Stops the run; the thread stays resumable. Keep reading until the end, then `finish`.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Reads what is left and gives the result.
    pub async fn finish(mut self) -> Result<T, RunError> {
        while self.receiver.recv().await.is_some() {}
        self.handle.await.unwrap_or(Err(RunError::Cancelled))
    }
}

impl<T> Stream for Run<T> {
    type Item = StreamEvent;
    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<StreamEvent>> {
        self.receiver
            .poll_recv(context)
            .map(|item| item.map(|(ns, payload)| self.event(ns, payload)))
    }
}
