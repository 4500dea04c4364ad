//! Chains of deltas: when a checkpoint is stored as a snapshot instead of one more delta.

use super::ChannelState;

/// Most deltas between two snapshots of versions, unless the graph is so wide that a snapshot is long itself.
const SNAPSHOT_EVERY: i64 = 64;

/// Deltas since the last snapshot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeltaChain {
    /// Their number; 0 for a snapshot.
    pub(crate) depth: i64,
    /// Their bytes.
    pub(crate) weight: i64,
}

impl DeltaChain {
    /// Returns the chain with another delta of this many bytes, after which the state is `state`; `None` when a snapshot is
    /// due instead. `texts` are the bytes of values that a snapshot would repeat.
    ///
    /// A snapshot is due when it costs little against the deltas since the last one, and at the latest after as many as
    /// take longer to read than a snapshot: more in a wide graph, so that a snapshot's share of each commit does not
    /// grow with the graph.
    pub(crate) fn with<S: Clone>(self, bytes: usize, state: &ChannelState<S>, texts: i64) -> Option<Self> {
        // A damaged file may say anything.
        let (depth, weight) = (
            self.depth.saturating_add(1),
            self.weight.saturating_add(bytes as i64),
        );
        let (channels, nodes) = (state.versions.len(), state.seen.len());
        let snapshot = (6 * channels + 8 * nodes) as i64 + texts;
        let due = depth >= SNAPSHOT_EVERY.max((channels + nodes) as i64 / 8) || weight > 3 * snapshot;
        (!due).then_some(Self { depth, weight })
    }
}

#[cfg(test)]
mod tests {
    use superstep::checkpoint::ChannelVersions;

    use super::*;

    fn wide(channels: usize, nodes: usize) -> ChannelState<i64> {
        let mut state = ChannelState::default();
        for n in 0..channels {
            state.set(format!("channel {n}").into(), Some(1), Some(1));
        }
        for n in 0..nodes {
            state.see(format!("node {n}").into(), Some(ChannelVersions::new()));
        }
        state
    }

    #[test]
    fn snapshots_are_rarer_in_wide_graphs_and_never_cost_much() {
        for (channels, nodes, every) in [(0, 0, 64), (10, 10, 64), (640, 640, 160), (1000, 24, 128)] {
            let state = wide(channels, nodes);
            let chain = |depth| DeltaChain { depth, weight: 0 };
            assert!(
                chain(every - 2).with(0, &state, 0).is_some(),
                "{channels} {nodes}"
            );
            assert!(
                chain(every - 1).with(0, &state, 0).is_none(),
                "{channels} {nodes}"
            );
        }
        let (state, chain) = (wide(10, 10), DeltaChain::default());
        assert!(
            chain.with(3 * 140, &state, 0).is_some(),
            "the deltas are not yet three times as long"
        );
        assert!(chain.with(3 * 140 + 1, &state, 0).is_none());
        assert!(
            chain.with(3 * 140 + 1, &state, 1000).is_some(),
            "it would repeat long values"
        );
    }
}
