//! Writes to the ledger that no run waits for: a thread of its own does them, in the order in which they were handed in.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::Ledger;
use super::events::RunLog;
use crate::wire::Problem;
use superstep_document::text;

/// How long events of a run are collected before they are written.
const EVERY: Duration = Duration::from_millis(500);

type Work = Box<dyn FnOnce(&Ledger) + Send>;

enum WriteOrder {
    Now(Work),
    /// The log has events that are to be written soon.
    Soon(Arc<RunLog>),
}

/// The thread that writes, and where it takes its work from.
#[derive(Debug)]
pub(crate) struct BackgroundWriter {
    orders: Mutex<Option<Sender<WriteOrder>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl BackgroundWriter {
    /// Starts the thread, which opens the ledger. Without one nothing is kept, which is logged.
    pub(crate) fn start(
        open: impl FnOnce() -> Result<Arc<Ledger>, Problem> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (send, receive) = channel();
        let thread = std::thread::Builder::new()
            .name("superstep-ledger".to_owned())
            .spawn(move || match open() {
                Ok(ledger) => serve(&ledger, &receive),
                Err(problem) => tracing::warn!(%problem, "what the run does is not recorded"),
            })?;
        Ok(Self {
            orders: Mutex::new(Some(send)),
            thread: Mutex::new(Some(thread)),
        })
    }

    fn order(&self, order: WriteOrder) {
        let orders = self.orders.lock();
        // The thread is gone when the ledger could not be opened, which was logged.
        if let Some(orders) = &*orders {
            let _ = orders.send(order);
        }
    }

    /// Runs `work` after everything that was submitted before.
    pub(crate) fn then(&self, work: impl FnOnce(&Ledger) + Send + 'static) {
        self.order(WriteOrder::Now(Box::new(work)));
    }

    /// Writes the events of the log in a moment.
    pub(super) fn soon(&self, log: Arc<RunLog>) {
        self.order(WriteOrder::Soon(log));
    }

    /// Runs `work` after everything that was submitted before, and returns its result. It is submitted when this is
    /// called; the future only waits for it.
    pub(crate) fn ask<T, W>(&self, work: W) -> impl Future<Output = Result<T, Problem>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Ledger) -> Result<T, Problem> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        self.then(move |ledger| {
            let _ = answer.send(work(ledger));
        });
        async {
            answered.await.unwrap_or_else(|_| {
                Err(
                    Problem::new("internal", text!("The thread that writes the ledger has ended."))
                        .remedy(text!("Start the program again.")),
                )
            })
        }
    }

    /// Finishes what was submitted and ends; logs must submit what they have before.
    pub(crate) fn finish(&self) {
        drop(self.orders.lock().take());
        let thread = self.thread.lock().take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes the ledger ended in a panic");
        }
    }
}

fn serve(ledger: &Ledger, orders: &Receiver<WriteOrder>) {
    let mut due: VecDeque<(Instant, Arc<RunLog>)> = VecDeque::new();
    loop {
        while let Some((_, log)) = due.pop_front_if(|(at, _)| *at <= Instant::now()) {
            log.hand_in_and(|| {});
        }
        let order = match due.front() {
            Some((at, _)) => orders.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match order {
            Ok(WriteOrder::Now(work)) => work(ledger),
            Ok(WriteOrder::Soon(log)) => due.push_back((Instant::now() + EVERY, log)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
