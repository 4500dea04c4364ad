//! Claims: what commits show, as `claims.lua` reads it, and what it says when it refuses.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value as Json;
use superstep::ThreadId;
use superstep::checkpoint::{ClaimId, ClaimUse, ClaimView, Holder, StorageError, TakeOver};

use super::server::{CLAIMS, Server, number, parts, text};
use crate::base::claims::{busy, superseded};

/// Builds the arguments of a claim that only has to belong to the thread.
pub(super) fn staying(claim: &ClaimId) -> Vec<Vec<u8>> {
    vec![b"3".to_vec(), claim.as_str().as_bytes().to_vec()]
}

/// Builds the arguments of what ends a claim and everything that it was for.
pub(super) fn last_arguments(shown: Option<&ClaimUse>) -> Vec<Vec<u8>> {
    arguments(shown, true)
}

/// Builds the arguments of what a commit shows. `ended` means that a later commit of the same call ends the claim: a
/// call that arrives twice is accepted once more.
pub(super) fn arguments(shown: Option<&ClaimUse>, ended: bool) -> Vec<Vec<u8>> {
    let flag = |flag: bool| if flag { "1" } else { "0" };
    let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let Some(shown) = shown else { return words(&["0"]) };
    let length = shown.length.as_millis().to_string();
    let kind = if shown.take.is_some() { "2" } else { "1" };
    let mut arguments: Vec<Vec<u8>> =
        words(&[kind, shown.claim.as_str(), &length, flag(shown.ends), flag(ended)]);
    if let Some(take) = &shown.take {
        let (over, only) = match &take.over {
            TakeOver::Never => ("never", ""),
            TakeOver::Only(claim) => ("only", claim.as_str()),
            TakeOver::Always => ("always", ""),
        };
        let onto = take.onto.as_ref();
        let onto = onto.map(|onto| format!("={}", onto.as_ref().map_or("", |id| id.as_str())));
        let seen = take.seen.map(|seen| seen.to_string());
        arguments.extend(words(&[
            &take.holder.id,
            &take.holder.name,
            over,
            only,
            flag(take.beside_own),
            &onto.unwrap_or_default(),
            &seen.unwrap_or_default(),
        ]));
    }
    arguments
}

/// Converts a refusal into an error: `busy` or `old`, and the detail.
pub(super) fn refusal(thread: &ThreadId, kind: &str, detail: &str) -> Option<StorageError> {
    let detail: Json = serde_json::from_str(detail).ok()?;
    match kind {
        "busy" => busy(thread, &detail),
        "old" => Some(superseded(thread, &detail)),
        _ => None,
    }
}

impl Server {
    pub(super) async fn claims(
        &self,
        threads: &[ThreadId],
    ) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        let mut found = HashMap::new();
        if threads.is_empty() {
            return Ok(found);
        }
        let keys = threads
            .iter()
            .map(|thread| self.keys.of("facts", thread))
            .collect();
        let rows = parts(self.run(&CLAIMS, keys, Vec::new(), "reading claims").await?);
        for (thread, row) in threads.iter().zip(rows) {
            let mut row = parts(row).into_iter();
            let (Some(claim), Some(holder), Some(name)) = (row.next(), row.next(), row.next()) else {
                continue;
            };
            let mut numbers = row.map(number);
            let mut next = || numbers.next().unwrap_or(0).unsigned_abs();
            let view = ClaimView {
                claim: ClaimId::from(text(claim)),
                holder: Holder::new(text(holder), text(name)),
                number: next(),
                remaining: Duration::from_millis(next()),
                ended: next() == 1,
            };
            found.insert(thread.clone(), view);
        }
        Ok(found)
    }

    /// Returns whether a run holds the thread.
    pub(super) async fn is_claimed(&self, thread: &ThreadId) -> Result<bool, StorageError> {
        let found = self.claims(std::slice::from_ref(thread)).await?;
        Ok(found.get(thread).is_some_and(ClaimView::is_live))
    }
}
