//! What a server's refusal of a claim means.

use std::time::{Duration, Instant};

use serde_json::Value as Json;
use superstep::ThreadId;
use superstep::checkpoint::{ClaimId, ClaimUse, ClaimView, Holder, StorageError};

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

fn holder(detail: &Json) -> Option<Holder> {
    let text = |key: &str| detail.get(key).and_then(Json::as_str);
    Some(Holder::new(text("holder")?, text("name")?))
}

/// Creates the error of a claim that another run has taken, which a server names in `detail`.
pub(crate) fn superseded(thread: &ThreadId, detail: &Json) -> StorageError {
    StorageError::Superseded {
        thread: thread.clone(),
        by: holder(detail).map(Box::new),
    }
}

/// Creates the error of a thread that another run holds, whose claim a server gives in `detail`.
pub(crate) fn busy(thread: &ThreadId, detail: &Json) -> Option<StorageError> {
    // Lua knows one kind of number.
    let number = |key: &str| detail.get(key).and_then(Json::as_f64).unwrap_or(0.0) as u64;
    let held = ClaimView {
        claim: ClaimId::from(detail.get("claim")?.as_str()?),
        number: number("number"),
        holder: holder(detail)?,
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
            let Some(StorageError::Busy { held, .. }) = busy(&thread, &detail) else {
                panic!("{detail} is not read");
            };
            assert_eq!((held.number, held.remaining), (3, Duration::from_millis(1500)));
            let superseded = superseded(&thread, &detail).to_string();
            assert!(superseded.starts_with("n went on with thread t"));
        }
        assert!(busy(&thread, &json!({})).is_none());
        let deleted = superseded(&thread, &json!({})).to_string();
        assert!(deleted.contains("was deleted"));
    }
}
