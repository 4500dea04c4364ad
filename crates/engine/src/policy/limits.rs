//! How many tasks of one kind, or of one node, work at once, over all runs of a graph.
//!
//! Runs take turns: a free place goes to the run that has waited longest for its turn, not to the task that has
//! waited longest, so a run with a thousand waiting tasks does not hold up a run with one.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::base::ids::Name;

/// Limits by node kind; for one node see [`NodeOptions::concurrency`](crate::NodeOptions::concurrency). Clones share their places, so one value given to several graphs limits them together.
///
/// A task holds its place while it works, not while it waits between two attempts. A node that runs other graphs
/// holds its place meanwhile: do not limit it together with the nodes inside those graphs.
#[derive(Clone, Default)]
pub struct Limits(Arc<HashMap<Name, Arc<Permits>>>);

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.0.iter().map(|(name, kind)| (name, kind.limit)))
            .finish()
    }
}

impl Limits {
    /// Creates a value without limits.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the limit of a kind: at most `limit` tasks of its nodes run at once; at least one. To be called before the
    /// value is cloned.
    pub fn kind(self, name: impl Into<Name>, limit: usize) -> Self {
        let mut kinds = Arc::unwrap_or_clone(self.0);
        kinds.insert(name.into(), Arc::new(Permits::new(limit.max(1))));
        Self(Arc::new(kinds))
    }
    /// Returns the gate of a kind for one run; None when the kind is not limited.
    pub(crate) fn gate(&self, kind: &str, run: &str) -> Option<Gate> {
        Some(Gate::new(self.0.get(kind)?.clone(), run))
    }
}

/// The places that the tasks of a kind, or of a node, share.
pub(crate) struct Permits {
    limit: usize,
    queue: Mutex<Queue>,
}

struct Queue {
    free: usize,
    /// Runs that wait, in the order of their turns.
    turns: VecDeque<Name>,
    waiting: HashMap<Name, VecDeque<oneshot::Sender<Permit>>>,
}

impl Permits {
    pub(crate) fn new(limit: usize) -> Self {
        let queue = Mutex::new(Queue {
            free: limit,
            turns: VecDeque::new(),
            waiting: HashMap::new(),
        });
        Self { limit, queue }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    /// Returns the task whose turn it is; None when none waits, in which case the place becomes free.
    fn next(&self) -> Option<oneshot::Sender<Permit>> {
        let mut queue = self.lock();
        while let Some(run) = queue.turns.pop_front() {
            let waiting = queue.waiting.get_mut(&run);
            let next = waiting.and_then(VecDeque::pop_front);
            if queue.waiting.get(&run).is_some_and(VecDeque::is_empty) {
                queue.waiting.remove(&run);
            } else {
                queue.turns.push_back(run);
            }
            if next.is_some() {
                return next;
            }
        }
        queue.free += 1;
        None
    }
}

/// The gate at which the tasks of one run wait for one of the places.
#[derive(Clone)]
pub(crate) struct Gate {
    places: Arc<Permits>,
    run: Name,
}

impl Gate {
    pub(crate) fn new(places: Arc<Permits>, run: &str) -> Self {
        let run = run.into();
        Self { places, run }
    }
    /// Takes a place if one is free.
    pub(crate) fn enter_now(&self) -> Option<Permit> {
        let mut queue = self.places.lock();
        queue.free = queue.free.checked_sub(1)?;
        Some(Permit(Some(self.places.clone())))
    }
    /// Waits for a place.
    pub(crate) async fn enter(&self) -> Permit {
        let turn = {
            let mut queue = self.places.lock();
            if queue.free > 0 {
                queue.free -= 1;
                return Permit(Some(self.places.clone()));
            }
            let (sender, turn) = oneshot::channel();
            if !queue.waiting.contains_key(&self.run) {
                queue.turns.push_back(self.run.clone());
            }
            queue
                .waiting
                .entry(self.run.clone())
                .or_default()
                .push_back(sender);
            turn
        };
        // A sender is only dropped with the place it sent.
        turn.await.unwrap_or(Permit(None))
    }
}

/// One of the places; given on when dropped.
pub(crate) struct Permit(Option<Arc<Permits>>);

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(places) = self.0.take() else { return };
        while let Some(next) = places.next() {
            match next.send(Permit(Some(places.clone()))) {
                Ok(()) => return,
                // That task is gone. Its place must not be given on twice.
                Err(mut unwanted) => unwanted.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn runs_take_turns() {
        let limits = Limits::new().kind("model", 1);
        let (wide, narrow) = (limits.gate("model", "wide"), limits.gate("model", "narrow"));
        let (wide, narrow) = (wide.unwrap(), narrow.unwrap());
        let first = wide.enter().now_or_never().unwrap();
        let mut queued: Vec<_> = (0..3).map(|_| Box::pin(wide.enter())).collect();
        let mut other = Box::pin(narrow.enter());
        for waiting in queued.iter_mut().chain([&mut other]) {
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        drop(first);
        let second = queued.remove(0).now_or_never().unwrap();
        drop(second);
        let third = other
            .now_or_never()
            .expect("the other run has its turn before the rest of the wide one");
        // Who no longer waits is passed over.
        drop(queued.remove(0));
        drop(third);
        let last = queued.remove(0).now_or_never().unwrap();
        drop(last);
        assert!(wide.enter().now_or_never().is_some(), "the place is free again");
        assert!(limits.gate("tool", "wide").is_none());
    }
}
