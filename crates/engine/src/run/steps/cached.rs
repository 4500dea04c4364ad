//! Results that are kept from one run to another.

use super::Loop;
use super::persist::StoreTime;
use super::report::UpdateSource;
use crate::graph::writes::{Channel, Writes, resolve};
use crate::policy::cache::{CacheKey, CachePolicy, CachedWrites};
use crate::stream::error::RunError;

impl Loop {
    fn cache_key(&self, place: usize) -> Option<CacheKey> {
        self.setup.cache.as_ref()?;
        let task = &self.open.tasks[place];
        Some(self.cache_policy(place)?.key_of(&task.name, &task.input))
    }

    fn cache_policy(&self, place: usize) -> Option<&CachePolicy> {
        match self.open.tasks[place].node {
            Some(node) => self.setup.plan.node(node).more().cache.as_ref(),
            None => {
                let own = self.open.calls.options(place)?.cache.as_ref();
                own.or_else(|| self.setup.plan.of_calls()?.cache.as_ref())
            }
        }
    }

    /// Gives tasks whose results are kept those results, as if they had run.
    pub(super) async fn take_all_cached(&mut self) -> Result<(), RunError> {
        for place in 0..self.open.tasks.len() {
            self.take_cached(place).await?;
        }
        Ok(())
    }

    /// Gives one task its kept result. False when there is none, so that it is to run.
    pub(super) async fn take_cached(&mut self, place: usize) -> Result<bool, RunError> {
        let task = &self.open.tasks[place];
        let works = self.pinned(place).is_none() && !self.is_beyond(task);
        if !works || !task.writes.is_empty() || self.is_held(place) {
            return Ok(false);
        }
        let (Some(cache), Some(key)) = (self.setup.cache.clone(), self.cache_key(place)) else {
            return Ok(false);
        };
        let kept = match cache.get(&key).await {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(false),
            Err(error) => {
                tracing::warn!(node = %key.place, "the cache gave no result, so the node runs: {error}");
                return Ok(false);
            }
        };
        let writes: Writes = kept
            .into_iter()
            .map(|(channel, value)| (resolve(&self.setup.plan, &channel), value))
            .collect();
        let head = self.open.tasks[place].head.clone();
        let record = self.record_pending(&head, &writes);
        if let Some(persister) = &mut self.persister {
            persister.task(record, StoreTime::AtOnce).await?;
        }
        self.emit_update(&self.open.tasks[place], &writes, UpdateSource::Stored)
            .await;
        self.open.tasks[place].writes = writes;
        Ok(true)
    }

    /// Keeps what a finished task wrote, if its node's results are kept.
    pub(super) async fn keep_result(&self, place: usize, writes: &Writes) {
        if self.pinned(place).is_some() {
            return;
        }
        let (Some(cache), Some(key)) = (&self.setup.cache, self.cache_key(place)) else {
            return;
        };
        let name = |channel: &Channel| match channel {
            Channel::Known(index) => self.setup.plan.channel(*index).name.clone(),
            Channel::Named(name) => name.clone(),
        };
        let kept: CachedWrites = writes
            .iter()
            .map(|(channel, value)| (name(channel), value.clone()))
            .collect();
        let policy = self.cache_policy(place);
        let node = key.place.clone();
        if let Err(error) = cache
            .set(key, kept, policy.and_then(|policy| policy.expires()))
            .await
        {
            tracing::warn!(%node, "the cache did not take a result: {error}");
        }
    }
}
