//! What a node says about the state keys that it reads, in runs that record it.

use superstep::{NodeContext, Value};

/// Says that every key is noted when the node reads it: by an expression, by a template or by [`read`]. Called before a
/// node begins that uses its input in no other way.
pub(crate) fn track_reads(context: &NodeContext) {
    if let Some(recorder) = context.recorder() {
        recorder.tracks_reads();
    }
}

/// Reads a key of the state.
pub(crate) fn read<'a>(context: &NodeContext, state: &'a Value, key: &str) -> Option<&'a Value> {
    match context.recorder() {
        Some(recorder) => recorder.read(state, key),
        None => state.get(key),
    }
}
