//! The checkpoints that a run makes.

use super::Loop;
use super::persist::StoreTime;
use crate::base::clock::iso8601;
use crate::checkpoint::types::{Metadata, Put, Source, VISITS};
use crate::state::delta::CheckpointUse;
use crate::stream::error::RunError;

impl Loop {
    /// Makes and stores the checkpoint of the state as it is now; the next step starts from it.
    pub(super) async fn put(&mut self, source: Source) -> Result<(), RunError> {
        let step = self.progress.step;
        self.progress.loaded = false;
        self.progress.step += 1;
        // Nothing of the user's runs between an input and what START makes of it, and nobody knows of it.
        let time =
            match source == Source::Input && !self.setup.plan.start_routes() && !self.wants_checkpoints() {
                true => StoreTime::WithNext,
                false => StoreTime::AtOnce,
            };
        let visits = self.stored_visits();
        let Some(persister) = &mut self.persister else {
            return Ok(());
        };
        self.progress.metadata = Metadata {
            source,
            step,
            parents: self.setup.shared.parents.clone(),
            user: (*self.setup.shared.stored).clone(),
        };
        if let Some(visits) = visits {
            self.progress.metadata.user.insert(VISITS, visits);
        }
        // A nested checkpoint is younger than the one it belongs to, also when the clock was set back.
        let around = self
            .setup
            .shared
            .parents
            .iter()
            .filter_map(|(_, id)| id.as_str())
            .max();
        let base = self.live.base.as_ref().map(|base| &base.id);
        let after = match around {
            Some(around) if base.is_none_or(|base| base.as_str() < around) => Some(around.into()),
            _ => base.cloned(),
        };
        if base.is_none() && !self.setup.plan.deltas.is_empty() && persister.needs_stub() {
            let now = iso8601(self.setup.shared.clock.now_ms());
            persister.keep_stub(crate::state::delta::stub(
                self.setup.shared.ids.next(after.as_ref()),
                now,
            ));
        }
        let id = self.setup.shared.ids.next(after.as_ref());
        let ts = iso8601(self.setup.shared.clock.now_ms());
        let usage = match persister.waits_for_end() {
            true => CheckpointUse::Provisional,
            false => CheckpointUse::Base,
        };
        if usage == CheckpointUse::Provisional && self.setup.plan.deltas.is_empty() {
            // Only the last one is stored, so only that one is made. What deltas count goes from one to the next.
            persister.close_step();
            self.progress.current = id;
            self.progress.unmade = Some(ts);
            return Ok(());
        }
        let (checkpoint, changes, seen) = self.live.checkpoint(
            id.clone(),
            ts,
            self.progress.metadata.clone(),
            self.progress.updated.as_deref(),
            usage,
        );
        // What the checkpoint counts is shown with it.
        self.progress.metadata.user = checkpoint.metadata.user.clone();
        self.progress.current = id;
        let put = Put {
            checkpoint,
            changes,
            seen,
        };
        persister.checkpoint(put, time).await
    }

    /// Makes the last checkpoint of a run that stores no other. The state is as it was when its step ended.
    pub(super) fn make_last(&mut self) {
        let (Some(ts), Some(persister)) = (self.progress.unmade.take(), &mut self.persister) else {
            return;
        };
        let (id, metadata) = (self.progress.current.clone(), self.progress.metadata.clone());
        let (checkpoint, changes, seen) = self.live.checkpoint(
            id,
            ts,
            metadata,
            self.progress.updated.as_deref(),
            CheckpointUse::Provisional,
        );
        persister.keep_last(Put {
            checkpoint,
            changes,
            seen,
        });
    }
}
