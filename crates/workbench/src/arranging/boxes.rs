//! What is arranged, boxes and the links between them, and what that may cost.

/// A box to be placed.
#[derive(Clone, Debug)]
pub(crate) struct LayoutBox {
    /// Its size, with the room that its labels need.
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Where links come in, from its top.
    pub(crate) port: f64,
    /// It stands before, or behind, everything else.
    pub(crate) end: Option<End>,
}

/// End of the drawing at which a box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    First,
    Last,
}

/// A link between two boxes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Where it leaves, from the top of its box.
    pub(crate) port: f64,
}

/// Limit on the cost of an arrangement, in visits of a link or a box; and the callback that receives the progress.
pub(crate) struct Budget<'a> {
    left: u64,
    total: u64,
    on_progress: &'a dyn Fn(u64, u64) -> bool,
}

impl<'a> Budget<'a> {
    /// Creates a budget; `on_progress` returns whether to continue.
    pub(crate) fn new(total: u64, on_progress: &'a dyn Fn(u64, u64) -> bool) -> Self {
        Budget {
            left: total,
            total,
            on_progress,
        }
    }

    /// Takes from what is left. `Ok(false)` when there is not that much, an error when nobody wants the result any more.
    pub(super) fn spend(&mut self, work: usize) -> Result<bool, Stopped> {
        let work = work as u64;
        if !(self.on_progress)(self.total - self.left, self.total) {
            return Err(Stopped);
        }
        let enough = work <= self.left;
        self.left = self.left.saturating_sub(work);
        Ok(enough)
    }
}

/// Somebody has stopped it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stopped;
