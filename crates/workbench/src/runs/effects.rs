//! What is chosen for effects that were done already, and the list of them.

use std::sync::Arc;

use superstep::run::{EffectPolicy, StateRef};
use superstep::{CheckpointId, RunConfig};

use crate::Workbench;
use crate::session::effects_after;
use crate::wire::{EffectChoice, EffectList, FindEffects, NestedCheckpointRef, Problem, StartRun};

impl From<EffectChoice> for EffectPolicy {
    fn from(choice: EffectChoice) -> Self {
        match choice {
            EffectChoice::Reuse => EffectPolicy::Reuse,
            EffectChoice::Again => EffectPolicy::Again,
            EffectChoice::Stop => EffectPolicy::Stop,
            EffectChoice::Ask => EffectPolicy::Ask,
        }
    }
}

/// Sets how the run treats effects that were already done, as the request says; where it says nothing, a person is
/// asked.
pub(crate) fn choose(request: &StartRun, config: &mut RunConfig) {
    config.effects = EffectPolicy::Ask;
    let chosen = request.effects.iter();
    config.effects_of = chosen
        .map(|(node, choice)| (node.as_str().into(), (*choice).into()))
        .collect();
}

impl Workbench {
    pub(crate) async fn run_effects(self: &Arc<Self>, request: FindEffects) -> Result<EffectList, Problem> {
        // What the nodes of an attached program do outside of it, it does not say.
        if self.attached().is_some() {
            return Ok(EffectList::default());
        }
        self.refuse_foreign()?;
        let built = self
            .built_for(
                &request.thread_id,
                request.graph_id.as_deref(),
                request.checkpoint_id.as_deref(),
            )
            .await?;
        let live = StateRef::live(request.thread_id);
        let at = match request.within {
            Some(NestedCheckpointRef { ns, checkpoint_id }) => {
                live.within(ns).checkpoint(CheckpointId::from(checkpoint_id))
            }
            None => live.checkpoint(request.checkpoint_id.map(CheckpointId::from)),
        };
        effects_after(&built.graph, &built.source.document, &*self.saver(), &at).await
    }
}
