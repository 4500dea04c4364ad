//! The steps of undo, kept beside the autosaves so that they are there when a graph is opened again. They are patches, and
//! fit exactly one text: they are kept with its fingerprint and given up when the graph is another one.

use std::sync::Arc;

use super::autosave::{MAX_STEPS, Steps};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::Fingerprint;
use crate::wire::{Empty, GraphRef, KeepSteps, KeptSteps, Problem};
use superstep_document::text;

impl Workbench {
    pub(crate) async fn graph_keep_steps(self: &Arc<Self>, request: KeepSteps) -> Result<Empty, Problem> {
        let open = self.document(&request.graph_id)?;
        let _io = open.io.lock().await;
        let (document, slot) = {
            let state = open.state.lock();
            // A later edit keeps them with itself.
            if state.rev != request.rev || state.closed || state.document.source().is_some() {
                return Ok(Empty {});
            }
            (state.document.clone(), state.slot.clone())
        };
        blocking(move || {
            let steps = Steps {
                of: Fingerprint::of(&document.to_text()),
                steps: request.steps,
            };
            let bytes = serde_json::to_vec(&steps.steps).map_or(usize::MAX, |text| text.len());
            if u64::try_from(bytes).unwrap_or(u64::MAX) > MAX_STEPS {
                return Err(Problem::invalid(text!("These steps are too large to be kept."))
                    .remedy(text!("Leave the oldest ones out.")));
            }
            slot.write_steps(&steps)
                .map_err(|e| Problem::at(text!("keep the steps of undo in"), text!("the data folder"), &e))
        })
        .await??;
        Ok(Empty {})
    }

    pub(crate) async fn graph_steps(self: &Arc<Self>, request: GraphRef) -> Result<KeptSteps, Problem> {
        let open = self.document(&request.graph_id)?;
        let _io = open.io.lock().await;
        let (document, slot) = {
            let state = open.state.lock();
            (state.document.clone(), state.slot.clone())
        };
        blocking(move || {
            let Some(kept) = slot.read_steps() else {
                return KeptSteps::default();
            };
            if kept.of == Fingerprint::of(&document.to_text()) {
                return KeptSteps {
                    steps: Some(kept.steps),
                    dropped: false,
                };
            }
            let _ = slot.clear_steps();
            KeptSteps {
                steps: None,
                dropped: true,
            }
        })
        .await
    }
}
