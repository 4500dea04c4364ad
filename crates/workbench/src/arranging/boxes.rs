//! What is arranged, boxes and the links between them, and what that may cost.

/// Something to be placed.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its size, with the room that its labels need.
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Where links come in, from its top.
    pub(crate) port: f64,
    /// It stands before, or behind, everything else.
    pub(crate) end: Option<End>,
}

/// Which end of the drawing a box is.
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

/// What an arrangement may cost, in visits of a link or a box; and what is called with how much of it is done.
pub(crate) struct Budget<'a> {
    left: u64,
    total: u64,
    on_progress: &'a dyn Fn(u64, u64) -> bool,
}

impl<'a> Budget<'a> {
    /// `on_progress` answers whether to go on.
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
