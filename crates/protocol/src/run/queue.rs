//! What waits for the readers of a run.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{Projected, Projection};

/// A graph's place in the run: `node:task` segments.
pub(super) type Path = Arc<[String]>;

/// Queue of items for one reader.
#[derive(Debug)]
pub(super) struct Queue {
    wants: Vec<Projection>,
    items: Mutex<VecDeque<(Path, Projected)>>,
    is_closed: AtomicBool,
}

impl Queue {
    pub(super) fn new(wants: &[Projection]) -> Arc<Self> {
        Arc::new(Queue {
            wants: wants.to_vec(),
            items: Mutex::default(),
            is_closed: AtomicBool::new(false),
        })
    }
    pub(super) fn pop(&self) -> Option<(Path, Projected)> {
        self.items.lock().pop_front()
    }
    /// Returns whether there is something to read, or nothing more will come.
    pub(super) fn is_ready(&self) -> bool {
        self.is_closed.load(Ordering::Acquire) || !self.items.lock().is_empty()
    }
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

/// Those who read the same place; those that went away are forgotten.
#[derive(Debug, Default)]
pub(super) struct Readers(Vec<Weak<Queue>>);

impl Readers {
    pub(super) fn add(&mut self, queue: &Arc<Queue>) {
        self.0.push(Arc::downgrade(queue));
    }
    pub(super) fn deliver(&mut self, path: &Path, item: &Projected) {
        let kind = item.projection();
        self.0.retain(|reader| {
            let Some(queue) = reader.upgrade() else {
                return false;
            };
            if queue.wants.contains(&kind) {
                queue.items.lock().push_back((path.clone(), item.clone()));
            }
            true
        });
    }
    pub(super) fn close(&mut self) {
        for queue in self.0.drain(..).filter_map(|reader| reader.upgrade()) {
            queue.close();
        }
    }
}
