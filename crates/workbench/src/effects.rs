//! What a run would do again to the world outside of its graph.

use std::sync::Arc;

use crate::Workbench;
use crate::wire::{EffectList, FindEffects, Problem};

impl Workbench {
    pub(crate) async fn run_effects(self: &Arc<Self>, request: FindEffects) -> Result<EffectList, Problem> {
        let _ = request;
        Ok(EffectList::default())
    }
}
