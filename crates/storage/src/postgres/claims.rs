//! Claims: what commits show, as the function `show_claims` reads it, and what it says when it refuses.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep::ThreadId;
use superstep::checkpoint::{ClaimId, ClaimUse, ClaimView, Holder, StorageError, TakeOver};
use tokio_postgres::Error;

use super::fault::PostgresFault;
use super::reader::View;
use crate::base::claims::{busy, superseded};

/// Claims shown by the commits of a statement, by thread, in their order.
#[derive(Debug, Default)]
pub(super) struct Shown(Vec<(ThreadId, ClaimUse, bool)>);

impl Shown {
    /// Adds what a commit shows; `stores` when something else is in it.
    /// Adds what a deletion shows.
    pub(super) fn add_deletion(&mut self, thread: &ThreadId, shown: &ClaimUse) {
        self.add(thread, shown, true);
    }

    /// Adds what a commit shows, which `stores` something or only changes the claim.
    pub(super) fn add(&mut self, thread: &ThreadId, shown: &ClaimUse, stores: bool) {
        let before = self.0.iter_mut().rev().find(|(of, ..)| of == thread);
        match before {
            // Several commits of a run are one to the database. A statement that is repeated is accepted once more.
            Some((_, before, stored)) if before.claim == shown.claim => {
                before.ends |= shown.ends;
                before.length = shown.length;
                *stored |= stores;
            }
            _ => self.0.push((thread.clone(), shown.clone(), stores)),
        }
    }

    /// Adds what comes after.
    pub(super) fn merge(&mut self, other: Self) {
        for (thread, shown, stores) in other.0 {
            self.add(&thread, &shown, stores);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the last claim shown for each thread.
    pub(super) fn last(&self) -> HashMap<ThreadId, ClaimUse> {
        let shown = self.0.iter();
        shown
            .map(|(thread, shown, _)| (thread.clone(), shown.clone()))
            .collect()
    }

    /// Returns whether a claim of the thread is shown.
    pub(super) fn names(&self, thread: &ThreadId) -> bool {
        self.0.iter().any(|(of, ..)| of == thread)
    }

    /// Builds the text for the database, ordered by thread so that two programs cannot wait for each other.
    pub(super) fn text(mut self) -> String {
        self.0.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        let all: Vec<Json> = self
            .0
            .iter()
            .map(|(thread, shown, stores)| {
                let take = shown.take.as_ref().map(|take| {
                    let (over, only) = match &take.over {
                        TakeOver::Never => ("never", None),
                        TakeOver::Only(claim) => ("only", Some(claim.as_str())),
                        TakeOver::Always => ("always", None),
                    };
                    json!({
                        "holder": &*take.holder.id,
                        "name": &*take.holder.name,
                        "over": over,
                        "only": only,
                        "beside_own": take.beside_own,
                        // An empty text stands for no checkpoint.
                        "onto": take.onto.as_ref().map(|onto| onto.as_ref().map_or("", |id| id.as_str())),
                        "seen": take.seen,
                    })
                });
                let mut text = json!({
                    "thread": thread.as_str(),
                    "claim": shown.claim.as_str(),
                    "length": shown.length.as_millis() as u64,
                    "ends": shown.ends,
                    "stored": stores,
                });
                if let (Some(take), Some(text)) = (take, text.as_object_mut()) {
                    text.insert("take".to_owned(), take);
                }
                text
            })
            .collect();
        Json::Array(all).to_string()
    }
}

/// Converts a refusal of `show_claims` into an error; returns `None` for other errors.
pub(super) fn refusal(error: &Error) -> Option<StorageError> {
    let reply = error.as_db_error()?;
    let code = reply.code().code();
    if !matches!(code, "SS002" | "SS003") {
        return None;
    }
    let detail: Json = serde_json::from_str(reply.detail()?).ok()?;
    let thread = ThreadId::from(detail.get("thread")?.as_str()?);
    match code {
        "SS002" => busy(&thread, &detail),
        _ => Some(superseded(&thread, &detail)),
    }
}

impl View {
    pub(super) async fn claims(
        &mut self,
        threads: &[ThreadId],
    ) -> Result<HashMap<ThreadId, ClaimView>, PostgresFault> {
        let threads: Vec<&str> = threads.iter().map(ThreadId::as_str).collect();
        let rows = self
            .session
            .query(
                "SELECT thread, claim, number, holder, name, until, greatest(until - claim_clock(), 0)
                 FROM claims WHERE thread = ANY($1)",
                &[&threads],
            )
            .await?;
        let mut found = HashMap::new();
        for row in &rows {
            let claim = ClaimView {
                claim: ClaimId::from(row.try_get::<_, &str>(1)?),
                number: row.try_get::<_, i64>(2)?.unsigned_abs(),
                holder: Holder::new(row.try_get::<_, &str>(3)?, row.try_get::<_, &str>(4)?),
                remaining: Duration::from_millis(row.try_get::<_, i64>(6)?.unsigned_abs()),
                ended: row.try_get::<_, i64>(5)? == 0,
            };
            found.insert(ThreadId::from(row.try_get::<_, &str>(0)?), claim);
        }
        Ok(found)
    }
}
