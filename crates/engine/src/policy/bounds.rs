//! Bounds of what a run may make, for hosts that run graphs of other people.

use std::fmt;

/// Bounds of a run; nothing is bounded by default. A graph inside another has the same bounds for itself.
///
/// A run that meets one fails with [`RunError::Bound`](crate::RunError::Bound) before the super-step takes effect, and
/// its thread can go on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Packets (`Send`) that one super-step may make. Edges make none.
    pub packets: Option<usize>,
    /// Size of these packets together, in bytes of memory.
    pub packet_bytes: Option<usize>,
    /// Size of the state, in bytes of memory.
    pub state_bytes: Option<usize>,
}

impl Bounds {
    /// Bounds the packets that one super-step may make.
    pub fn packets(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.packets = limit.into();
        self
    }
    /// Bounds the size of these packets together, in bytes.
    pub fn packet_bytes(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.packet_bytes = limit.into();
        self
    }
    /// Bounds the size of the state, in bytes.
    pub fn state_bytes(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.state_bytes = limit.into();
        self
    }
}

/// A bound that a run met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// [`Bounds::packets`].
    Packets,
    /// [`Bounds::packet_bytes`].
    PacketBytes,
    /// [`Bounds::state_bytes`].
    StateBytes,
}

/// The bound that would be exceeded, and its `limit`.
pub(crate) struct Beyond(pub(crate) Bound, pub(crate) usize);

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Beyond(bound, limit) = self;
        let mb = || limit.div_ceil(1024 * 1024);
        match bound {
            Bound::Packets => write!(f, "The step makes more than {limit} packets (Send)"),
            Bound::PacketBytes => write!(f, "The packets (Send) of the step take more than {} MB", mb()),
            Bound::StateBytes => write!(f, "The state takes more than {} MB", mb()),
        }
    }
}
