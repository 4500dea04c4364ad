//! One bounded fan-out of events to every connected interface.
//!
//! A window must not get more than a message per frame (a web view has no back-pressure), and a slow or sleeping
//! reader must not make memory grow. So each subscriber has its own queue, drained at most every 33 ms; text that a
//! model streams is merged while it waits; and a queue that is full is thrown away, which the reader notices as a gap
//! in `seq` and answers by loading what it shows again.
//!
//! Who begins to listen gets first what runs at that moment. What other programs report is given to interfaces, and not
//! to other programs, which ask for themselves.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::wire::{AppEvent, EventBatch, RunStatus, RunView};

/// The least time between two batches.
const FRAME: Duration = Duration::from_millis(33);
/// Events that may wait for one subscriber.
const MAX_EVENTS: usize = 4096;
/// Bytes of streamed text that may wait for one subscriber.
const MAX_TEXT: usize = 4 << 20;
/// How far back a piece of text looks for the beginning of its message.
const MAX_LOOK_BACK: usize = 64;

/// Tasks of a run that a new listener gets; of more it sees when they end.
const MAX_TASKS: usize = 1000;

/// Hub where events are published.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    fan: Mutex<Fan>,
}

#[derive(Debug, Default)]
struct Fan {
    queues: Vec<Weak<Queue>>,
    /// What runs now, by thread.
    running: HashMap<String, LiveRun>,
}

/// A run, and the beginnings of the tasks that work in it.
#[derive(Debug)]
struct LiveRun {
    run: RunView,
    tasks: HashMap<String, AppEvent>,
    /// The instance of the program that reports it; `None` for a run of this one.
    of: Option<String>,
}

impl LiveRun {
    fn events(&self) -> impl Iterator<Item = AppEvent> + '_ {
        let run = AppEvent::Run {
            run: self.run.clone(),
        };
        std::iter::once(run).chain(self.tasks.values().take(MAX_TASKS).cloned())
    }
}

impl Fan {
    /// Follows what runs.
    fn fold(&mut self, event: &AppEvent, of: Option<&str>) {
        match event {
            AppEvent::Run { run } if run.status == RunStatus::Running => {
                let running = LiveRun {
                    run: run.clone(),
                    tasks: HashMap::new(),
                    of: of.map(str::to_owned),
                };
                self.running.insert(run.thread_id.clone(), running);
            }
            AppEvent::Run { run } => {
                let known = self.running.get(&run.thread_id);
                if known.is_some_and(|known| known.run.run_id == run.run_id) {
                    self.running.remove(&run.thread_id);
                }
            }
            AppEvent::TaskStarted {
                thread_id, task_id, ..
            } => {
                if let Some(known) = self.running.get_mut(thread_id) {
                    known.tasks.insert(task_id.clone(), event.clone());
                }
            }
            AppEvent::TaskEnded {
                thread_id, task_id, ..
            } => {
                if let Some(known) = self.running.get_mut(thread_id) {
                    known.tasks.remove(task_id);
                }
            }
            AppEvent::ThreadDeleted { thread_id } => {
                self.running.remove(thread_id);
            }
            _ => {}
        }
    }

    /// Gives an event of this program, or of another one, to those that listen to it.
    fn push(&mut self, event: &AppEvent, from: EventOrigin) {
        self.queues.retain(|queue| {
            let Some(queue) = queue.upgrade() else {
                return false;
            };
            if from == EventOrigin::Here || queue.scope == EventScope::All {
                queue.waiting.lock().push(event.clone());
                queue.notify.notify_one();
            }
            true
        });
    }
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Backlog>,
    notify: Notify,
    scope: EventScope,
}

/// Program in which an event happened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EventOrigin {
    Here,
    Elsewhere,
}

/// Events that a subscriber takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EventScope {
    /// Of every program, as interfaces do.
    #[default]
    All,
    /// Of this program.
    Own,
}

#[derive(Debug, Default)]
struct Backlog {
    events: VecDeque<AppEvent>,
    text: usize,
    lost: bool,
    closed: bool,
}

impl Hub {
    /// Gives an event of this program to every subscriber. Never waits.
    pub(crate) fn publish(&self, event: AppEvent) {
        let mut fan = self.fan.lock();
        fan.fold(&event, None);
        fan.push(&event, EventOrigin::Here);
    }

    /// Gives an event of another program to interfaces, unless its thread runs here or in a third one by now.
    pub(crate) fn relay(&self, of: &str, event: AppEvent) {
        let mut fan = self.fan.lock();
        let elsewhere = (event.thread_id())
            .and_then(|thread| fan.running.get(thread))
            .is_some_and(|known| known.of.as_deref() != Some(of));
        if elsewhere {
            return;
        }
        fan.fold(&event, Some(of));
        fan.push(&event, EventOrigin::Elsewhere);
    }

    /// Says again what runs in another program.
    pub(crate) fn repeat(&self, of: &str) {
        let mut fan = self.fan.lock();
        let runs = fan.running.values().filter(|run| run.of.as_deref() == Some(of));
        let events: Vec<AppEvent> = runs.flat_map(LiveRun::events).collect();
        for event in events {
            fan.push(&event, EventOrigin::Elsewhere);
        }
    }

    /// Forgets what another program ran; was there anything?
    pub(crate) fn forget_all_of(&self, of: &str) -> bool {
        let mut fan = self.fan.lock();
        let before = fan.running.len();
        fan.running.retain(|_, run| run.of.as_deref() != Some(of));
        fan.running.len() < before
    }

    /// Forgets a run of this program that has ended in any way.
    pub(crate) fn forget(&self, thread_id: &str) {
        let mut fan = self.fan.lock();
        if fan.running.get(thread_id).is_some_and(|run| run.of.is_none()) {
            fan.running.remove(thread_id);
        }
    }

    /// Returns the other program that reports a run of a thread.
    pub(crate) fn elsewhere(&self, thread_id: &str) -> Option<String> {
        self.fan.lock().running.get(thread_id)?.of.clone()
    }

    /// Returns the tasks of a thread that are working at this moment.
    pub(crate) fn working(&self, thread_id: &str) -> HashSet<String> {
        let fan = self.fan.lock();
        let run = fan.running.get(thread_id);
        run.map(|run| run.tasks.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// Signals to interfaces that events are missing. Their pending events about threads are dropped, because they
    /// apply the events of a batch after what they read again: the beginning of a run whose end nobody reports would
    /// remain for good.
    pub(crate) fn gap(&self) {
        let fan = self.fan.lock();
        for queue in fan.queues.iter().filter_map(Weak::upgrade) {
            if queue.scope == EventScope::All {
                let mut waiting = queue.waiting.lock();
                waiting.events.retain(|event| event.thread_id().is_none());
                waiting.text = 0;
                waiting.lost = true;
                let runs = fan.running.values();
                runs.flat_map(LiveRun::events)
                    .for_each(|event| waiting.push(event));
            }
        }
    }

    /// Returns whether an interface is listening.
    pub(crate) fn has_subscribers(&self) -> bool {
        let fan = self.fan.lock();
        let mut queues = fan.queues.iter().filter_map(Weak::upgrade);
        queues.any(|queue| queue.scope == EventScope::All)
    }

    /// Begins to listen: what runs now, and everything from now on.
    pub(crate) fn subscribe(&self) -> Subscription {
        self.listen(EventScope::All)
    }

    /// Begins to listen to what happens in this program.
    pub(crate) fn subscribe_own(&self) -> Subscription {
        self.listen(EventScope::Own)
    }

    fn listen(&self, scope: EventScope) -> Subscription {
        let queue = Arc::new(Queue {
            scope,
            ..Queue::default()
        });
        let mut fan = self.fan.lock();
        {
            let mut waiting = queue.waiting.lock();
            let runs = fan.running.values();
            for run in runs.filter(|run| scope == EventScope::All || run.of.is_none()) {
                run.events().for_each(|event| waiting.push(event));
            }
        }
        fan.queues.push(Arc::downgrade(&queue));
        Subscription {
            queue,
            seq: 0,
            last: None,
        }
    }

    /// Ends every subscription once it has been drained.
    pub(crate) fn close(&self) {
        for queue in self
            .fan
            .lock()
            .queues
            .drain(..)
            .filter_map(|queue| queue.upgrade())
        {
            queue.waiting.lock().closed = true;
            queue.notify.notify_one();
        }
    }
}

impl Backlog {
    fn push(&mut self, event: AppEvent) {
        let size = match &event {
            AppEvent::Token { piece, .. } => piece.text().len(),
            _ => 0,
        };
        if self.events.len() >= MAX_EVENTS || self.text + size > MAX_TEXT {
            self.events.clear();
            self.text = 0;
            self.lost = true;
        }
        self.text += size;
        if let AppEvent::Token {
            task_id,
            message_id,
            piece,
            ..
        } = &event
        {
            // Only across other text: a piece must not move before the start or behind the end of a task.
            for earlier in self.events.iter_mut().rev().take(MAX_LOOK_BACK) {
                match earlier {
                    AppEvent::Token {
                        task_id: t,
                        message_id: m,
                        piece: before,
                        ..
                    } => {
                        if t == task_id && m == message_id && before.join(piece) {
                            return;
                        }
                    }
                    _ => break,
                }
            }
        }
        self.events.push_back(event);
    }
}

/// A reader's end.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
    seq: u32,
    last: Option<Instant>,
}

impl Subscription {
    /// Returns the next batch, at most one per frame; `None` when the workbench has shut down. Nothing is lost when the
    /// returned future is dropped before it is ready.
    pub async fn next(&mut self) -> Option<EventBatch> {
        loop {
            let (empty, closed) = {
                let waiting = self.queue.waiting.lock();
                (waiting.events.is_empty(), waiting.closed)
            };
            if !empty {
                if let Some(last) = self.last {
                    tokio::time::sleep_until(last + FRAME).await;
                }
                return Some(self.take());
            }
            if closed {
                return None;
            }
            self.queue.notify.notified().await;
        }
    }

    fn take(&mut self) -> EventBatch {
        let mut waiting = self.queue.waiting.lock();
        let events = waiting.events.drain(..).collect();
        waiting.text = 0;
        self.seq += 1 + u32::from(std::mem::take(&mut waiting.lost));
        self.last = Some(Instant::now());
        EventBatch {
            seq: self.seq,
            events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::TokenPiece;

    fn token(task: &str, text: &str) -> AppEvent {
        AppEvent::Token {
            thread_id: "t".into(),
            task_id: task.into(),
            node: "n".into(),
            message_id: task.into(),
            at: 0.0,
            piece: TokenPiece::Text { text: text.into() },
        }
    }

    fn print(batch: &EventBatch) -> String {
        let events = batch.events.iter().map(|event| match event {
            AppEvent::Token { task_id, piece, .. } => format!("{task_id}:{}", piece.text()),
            AppEvent::Inbox { waiting } => format!("inbox {waiting}"),
            other => format!("{other:?}"),
        });
        format!("{} [{}]", batch.seq, events.collect::<Vec<_>>().join(", "))
    }

    #[tokio::test(start_paused = true)]
    async fn events_come_in_frames_and_text_is_merged() {
        let hub = Hub::default();
        let mut reader = hub.subscribe();
        hub.publish(AppEvent::Inbox { waiting: 1 });
        assert_eq!(
            print(&reader.next().await.unwrap()),
            "1 [inbox 1]",
            "the first batch does not wait"
        );
        let begun = Instant::now();
        for piece in ["a", "b", "c"] {
            hub.publish(token("x", piece));
            hub.publish(token("y", piece));
        }
        hub.publish(AppEvent::Inbox { waiting: 2 });
        hub.publish(token("x", "d"));
        assert_eq!(
            print(&reader.next().await.unwrap()),
            "2 [x:abc, y:abc, inbox 2, x:d]"
        );
        assert!(begun.elapsed() >= FRAME, "two batches came within one frame");
        hub.close();
        assert!(
            reader.next().await.is_none(),
            "a closed hub ends its subscriptions"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_a_gap_and_memory_stays_bounded() {
        let hub = Hub::default();
        let mut reader = hub.subscribe();
        for n in 0..3 * MAX_EVENTS as u32 + 5 {
            hub.publish(AppEvent::Inbox { waiting: n });
        }
        let batch = reader.next().await.unwrap();
        assert_eq!(batch.seq, 2, "the reader must see that batch 1 is missing");
        assert!(batch.events.len() <= MAX_EVENTS);
        assert!(
            matches!(batch.events.last(), Some(AppEvent::Inbox { waiting }) if *waiting == 3 * MAX_EVENTS as u32 + 4),
            "the newest event is kept"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn streamed_text_is_bounded_too() {
        let hub = Hub::default();
        let mut reader = hub.subscribe();
        let page = "x".repeat(1 << 20);
        for _ in 0..9 {
            hub.publish(token("x", &page));
        }
        let batch = reader.next().await.unwrap();
        assert_eq!(batch.seq, 2, "too much text is a gap");
        assert!(reader.queue.waiting.lock().text <= MAX_TEXT);
    }

    #[tokio::test(start_paused = true)]
    async fn as_much_as_fits_is_kept() {
        let hub = Hub::default();
        let mut reader = hub.subscribe();
        for n in 0..MAX_EVENTS as u32 {
            hub.publish(AppEvent::Inbox { waiting: n });
        }
        let batch = reader.next().await.unwrap();
        assert_eq!(
            (batch.seq, batch.events.len()),
            (1, MAX_EVENTS),
            "a full queue is no gap"
        );
        hub.publish(token("x", &"x".repeat(MAX_TEXT - 1)));
        hub.publish(token("y", "y"));
        let batch = reader.next().await.unwrap();
        assert_eq!((batch.seq, batch.events.len()), (2, 2));
        hub.publish(token("x", &"x".repeat(MAX_TEXT)));
        hub.publish(token("y", "y"));
        let batch = reader.next().await.unwrap();
        assert_eq!(batch.seq, 4, "one letter more is a gap");
        assert_eq!(print(&batch), "4 [y:y]");
        // What was lost is counted from nothing again.
        hub.publish(token("x", &"x".repeat(MAX_TEXT - 1)));
        assert_eq!(reader.next().await.unwrap().seq, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn text_is_merged_only_with_pieces_of_its_own_message() {
        let hub = Hub::default();
        let mut reader = hub.subscribe();
        let other = |text: &str| {
            let mut event = token("x", text);
            if let AppEvent::Token { message_id, .. } = &mut event {
                *message_id = "second".into();
            }
            event
        };
        hub.publish(token("x", "a"));
        hub.publish(other("b"));
        hub.publish(token("x", "c"));
        hub.publish(other("d"));
        assert_eq!(print(&reader.next().await.unwrap()), "1 [x:ac, x:bd]");
    }

    #[tokio::test]
    async fn a_subscription_that_was_dropped_is_not_served() {
        let hub = Hub::default();
        assert!(!hub.has_subscribers());
        let reader = hub.subscribe();
        assert!(hub.has_subscribers());
        drop(reader);
        assert!(!hub.has_subscribers());
        hub.publish(AppEvent::Storage);
        assert_eq!(hub.fan.lock().queues.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_of_a_program_that_is_gone_does_not_wait_behind_the_gap() {
        let run = |id: &str| RunView {
            run_id: format!("run of {id}"),
            thread_id: id.into(),
            status: RunStatus::Running,
            started_at: "2026-01-01T00:00:00.000+00:00".into(),
            ended_at: None,
            problem: None,
            stop: None,
            summary: None,
            program: None,
        };
        let hub = Hub::default();
        let mut reader = hub.subscribe();
        hub.relay("gone", AppEvent::Run { run: run("lost") });
        hub.relay("there", AppEvent::Run { run: run("kept") });
        hub.publish(AppEvent::Inbox { waiting: 1 });
        assert!(hub.forget_all_of("gone"));
        hub.gap();
        let batch = reader.next().await.unwrap();
        assert_eq!(batch.seq, 2, "the reader sees a gap");
        let runs: Vec<&str> = (batch.events.iter())
            .filter_map(|event| match event {
                AppEvent::Run { run } => Some(&*run.thread_id),
                _ => None,
            })
            .collect();
        assert_eq!(runs, ["kept"], "and what runs now");
        assert!(
            batch
                .events
                .iter()
                .any(|event| matches!(event, AppEvent::Inbox { waiting: 1 }))
        );
    }
}
