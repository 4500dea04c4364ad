//! Namespaces of threads, and the statement that reads the heads in them.

use superstep::{CheckpointId, Name, ThreadId};

/// A namespace of a thread.
pub(super) struct Space {
    pub(super) row: i64,
    pub(super) thread: ThreadId,
    pub(super) ns: Name,
}

impl Space {
    pub(super) fn place(&self, id: &CheckpointId) -> String {
        let ns = if self.ns.is_empty() {
            String::new()
        } else {
            format!(" (namespace {})", self.ns)
        };
        format!("Checkpoint {id} of thread {}{ns}", self.thread)
    }
}

/// Statement that reads heads: `p` is the parent of `c`. More columns follow those of a head.
macro_rules! head {
    ($from:literal) => {
        head!("", $from)
    };
    ($more:literal, $from:literal) => {
        concat!(
            "SELECT c.seq, c.id, c.parent, p.id, c.ts, c.source, c.step, c.meta, c.next, c.updated,
             (SELECT count(*) FROM writes w WHERE w.checkpoint = c.seq AND w.status > 0 AND w.status & 1),
             (SELECT count(*) FROM writes w WHERE w.checkpoint = c.seq AND w.status > 0 AND w.status & 2)",
            $more,
            " FROM ",
            $from,
            " "
        )
    };
}
pub(super) use head;
