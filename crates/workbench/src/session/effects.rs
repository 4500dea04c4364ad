//! What a run would do again to the world outside of its graph.

use superstep::checkpoint::WaitingQuery;
use superstep::graph::Effect;
use superstep::run::{EffectDone, EffectState as Came, StateRef};
use superstep::{Checkpointer, Graph};
use superstep_document::Document;

use crate::base::values;
use crate::wire::{EffectList, EffectState, EffectView, Problem};

/// Returns the effects on the outside world that a run from a checkpoint (None: from the newest) would repeat, and the
/// questions that would keep waiting on another branch. The graph has the checkpointer, and was built from the
/// document.
pub async fn effects_after(
    graph: &Graph,
    document: &Document,
    saver: &dyn Checkpointer,
    at: &StateRef,
) -> Result<EffectList, Problem> {
    let done = graph.effects_after(at).await?;
    let query = WaitingQuery::new().thread(at.thread.clone());
    let waiting = saver.waiting(&query).await?;
    let elsewhere = waiting
        .iter()
        .filter(|waiting| at.checkpoint_id.as_ref() != Some(&waiting.checkpoint));
    Ok(EffectList {
        effects: done.into_iter().map(|done| view(document, done)).collect(),
        questions_left: elsewhere.map(|waiting| waiting.tasks).sum(),
    })
}

fn view(document: &Document, done: EffectDone) -> EffectView {
    // What is in a nested graph is not in this document.
    let spec = document
        .nodes()
        .find(|(id, _)| done.path.is_empty() && *id == &*done.node);
    EffectView {
        kind: spec.map(|(_, spec)| spec.kind).unwrap_or_default(),
        node: done.node.to_string(),
        path: done.path.iter().map(ToString::to_string).collect(),
        effect: match done.effect {
            Effect::Once | Effect::Idempotent => Some(done.effect.as_str().to_owned()),
            _ => None,
        },
        times: done.times,
        last_at: done.at,
        state: match done.state {
            Came::Done => EffectState::Done,
            Came::Failed => EffectState::Failed,
            Came::Begun => EffectState::Begun,
        },
        checkpoint_id: done.checkpoint.to_string(),
        reusable: done.result.is_some(),
        result: done.result.as_ref().map(values::view),
    }
}
