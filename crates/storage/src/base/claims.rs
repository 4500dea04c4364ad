//! What a server's refusal of a claim means.

use std::time::{Duration, Instant};

use serde_json::Value as Json;
use superstep::{ClaimId, ClaimUse, ClaimView, Holder, StorageError, ThreadId};

/// A claim that the server said a run of this program holds.
#[derive(Clone, Debug)]
pub(crate) struct HeldClaim {
    claim: ClaimId,
    since: Instant,
}

impl HeldClaim {
    /// Returns what a commit knows of the thread's claim once the server has accepted what it `shows`: nothing if that
    /// ended the claim, or was accepted beside the claim of another run.
    pub(crate) fn after(shows: &ClaimUse, since: Instant) -> Option<Self> {
        let beside = shows.take.as_ref().is_some_and(|take| take.beside_own);
        (!shows.ends && !beside).then(|| Self {
            claim: shows.claim.clone(),
            since,
        })
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn is(&self, claim: &ClaimId) -> bool {
        self.claim == *claim
    }

    /// Returns whether a commit need not show its claim: the claim is the same, nothing about it changes, and it lasts
    /// for at least half of its length.
    pub(crate) fn covers(&self, shows: &ClaimUse) -> bool {
        let changes = shows.take.is_some() || shows.ends;
        !changes && shows.claim == self.claim && self.since.elapsed() < shows.length / 6
    }
}

/// Reads the claim that a server says the thread has, in `detail`: of a run that holds it, or of one that has taken it.
pub(crate) fn of_claim(thread: &ThreadId, is_busy: bool, detail: &Json) -> Option<StorageError> {
    let text = |key: &str| detail.get(key).and_then(Json::as_str);
    let holder = text("holder")
        .zip(text("name"))
        .map(|(id, name)| Holder::new(id, name));
    if !is_busy {
        return Some(StorageError::Superseded {
            thread: thread.clone(),
            by: holder.map(Box::new),
        });
    }
    // Lua knows one kind of number.
    let number = |key: &str| detail.get(key).and_then(Json::as_f64).unwrap_or(0.0) as u64;
    let held = ClaimView {
        claim: ClaimId::from(text("claim")?),
        number: number("number"),
        holder: holder?,
        remaining: Duration::from_millis(number("remaining")),
        ended: false,
    };
    Some(StorageError::busy(thread, held))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_of_both_servers_are_read() {
        let thread = ThreadId::from("t");
        for (number, remaining) in [(json!(3), json!(1500)), (json!(3.0), json!(1500.0))] {
            let detail =
                json!({"claim": "c", "number": number, "holder": "h", "name": "n", "remaining": remaining});
            let Some(StorageError::Busy { held, .. }) = of_claim(&thread, true, &detail) else {
                panic!("{detail} is not read");
            };
            assert_eq!((held.number, held.remaining), (3, Duration::from_millis(1500)));
            let superseded = of_claim(&thread, false, &detail).map(|error| error.to_string());
            assert!(superseded.is_some_and(|text| text.starts_with("n went on with thread t")));
        }
        assert!(of_claim(&thread, true, &json!({})).is_none());
        let deleted = of_claim(&thread, false, &json!({})).map(|error| error.to_string());
        assert!(deleted.is_some_and(|text| text.contains("was deleted")));
    }
}
