//! Counts of the packets that a step makes.

use crate::graph::plan::ChannelIx;
use crate::graph::writes::Channel;
use crate::policy::bounds::{Beyond, Bound, Bounds};
use crate::stream::metrics::weight;
use crate::value::Value;

/// The packets that the tasks of one step have made so far.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    count: usize,
    bytes: usize,
}

impl Packets {
    /// Counts the packets among the writes of a task; `queue` is the channel that they are written to.
    pub(crate) fn add(
        &mut self,
        bounds: &Bounds,
        queue: ChannelIx,
        writes: &[(Channel, Value)],
    ) -> Option<Beyond> {
        if bounds.packets.is_none() && bounds.packet_bytes.is_none() {
            return None;
        }
        for (_, packet) in writes
            .iter()
            .filter(|(channel, _)| *channel == Channel::Known(queue))
        {
            self.count += 1;
            if let Some(limit) = bounds.packets.filter(|limit| self.count > *limit) {
                return Some(Beyond(Bound::Packets, limit));
            }
            if let Some(limit) = bounds.packet_bytes {
                self.bytes = self.bytes.saturating_add(weight(packet));
                if self.bytes > limit {
                    return Some(Beyond(Bound::PacketBytes, limit));
                }
            }
        }
        None
    }
}
