//! The engine's channel of a state key.

use superstep::graph::BinaryOp;
use superstep::{ChannelSpec, Value};
use superstep_document::{ChannelKind, Reducer, StateKey};

/// Returns the channel of a state key.
pub(crate) fn channel(key: &StateKey) -> ChannelSpec {
    let initial = key.initial().map(Value::from);
    let starting = |spec: ChannelSpec| match &initial {
        Some(value) => spec.with_default(value.clone()),
        None => spec,
    };
    match key.channel {
        ChannelKind::Kept => {}
        ChannelKind::Ephemeral => return ChannelSpec::ephemeral(),
        ChannelKind::Any => return ChannelSpec::any_value(),
        ChannelKind::Topic => return ChannelSpec::topic(),
        ChannelKind::Untracked => return starting(ChannelSpec::untracked()),
    }
    let op = match key.reducer {
        Reducer::Overwrite => return starting(ChannelSpec::last_value()),
        Reducer::AddMessages => return starting(ChannelSpec::add_messages()),
        Reducer::Add => BinaryOp::Add,
        Reducer::Multiply => BinaryOp::Multiply,
        Reducer::Min => BinaryOp::Min,
        Reducer::Max => BinaryOp::Max,
        Reducer::And => BinaryOp::And,
        Reducer::Or => BinaryOp::Or,
        Reducer::Append => BinaryOp::Append,
        Reducer::Merge => BinaryOp::Merge,
        Reducer::Union => BinaryOp::Union,
    };
    ChannelSpec::binary(op, initial)
}
