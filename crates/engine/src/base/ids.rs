//! Names and ids. Ids are text: they sort, print and travel as they are.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::base::clock::Clock;

/// The name of a node or channel.
pub type Name = Arc<str>;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);
        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<Arc<str>>) -> Self { Self(text.into()) }
            /// The id's text.
            pub fn as_str(&self) -> &str { &self.0 }
        }
        impl From<&str> for $name { fn from(s: &str) -> Self { Self(s.into()) } }
        impl From<String> for $name { fn from(s: String) -> Self { Self(s.into()) } }
        impl From<&$name> for crate::Value { fn from(id: &$name) -> Self { crate::Value::String(id.0.clone()) } }
        impl Borrow<str> for $name { fn borrow(&self) -> &str { &self.0 } }
        impl fmt::Display for $name { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) } }
        impl fmt::Debug for $name { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) } }
    };
}

text_id! {
    /// A thread: one conversation or case, a tree of checkpoints.
    ThreadId
}
text_id! {
    /// A checkpoint; UUIDv7, so text order is creation order.
    CheckpointId
}
text_id! {
    /// A task of a super-step; a hash of the checkpoint and the task's path, so a re-read gives the same id.
    TaskId
}
text_id! {
    /// A question asked by a task; 32 hex digits.
    InterruptId
}

text_id! {
    /// A claim of a run on its thread; another one for each run.
    ClaimId
}

impl ClaimId {
    /// A new one.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string().into())
    }
}

impl TaskId {
    /// The owner of writes that come from an input command rather than from a task.
    pub fn null() -> Self {
        Self("00000000-0000-0000-0000-000000000000".into())
    }
    /// True for [`TaskId::null`].
    pub fn is_null(&self) -> bool {
        &*self.0 == "00000000-0000-0000-0000-000000000000"
    }
}

/// Makes checkpoint ids that never sort before an id they follow, even when the clock is set back.
#[derive(Debug)]
pub struct CheckpointIds {
    clock: Arc<dyn Clock>,
    last: Mutex<Last>,
}

/// The place in time of the newest id, and where its random part comes from: asking the system for random bytes takes
/// longer than a whole super-step, so it is asked once.
#[derive(Debug)]
struct Last {
    place: (u64, u16),
    seed: u128,
    made: u64,
}

impl CheckpointIds {
    /// Ids stamped with `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            last: Mutex::new(Last {
                place: (0, 0),
                seed: uuid::Uuid::new_v4().as_u128(),
                made: 0,
            }),
        }
    }

    /// Ids made from now on are greater than this one.
    pub fn follow(&self, id: &CheckpointId) {
        if let Some(place) = time_of(id) {
            let mut last = self.last();
            last.place = last.place.max(place);
        }
    }

    fn last(&self) -> parking_lot::MutexGuard<'_, Last> {
        self.last.lock()
    }

    /// A new id, greater than every id made before and than `after`.
    pub fn next(&self, after: Option<&CheckpointId>) -> CheckpointId {
        // 12 bits of counter within a millisecond keep the order; past them the next millisecond is borrowed.
        let successor = |(ms, n): (u64, u16)| if n < 0x0fff { (ms, n + 1) } else { (ms + 1, 0) };
        let floor = after.and_then(time_of);
        let mut last = self.last();
        last.place = (self.clock.now_ms(), 0)
            .max(successor(last.place))
            .max(floor.map_or((0, 0), successor));
        let (ms, count) = last.place;
        last.made += 1;
        let random = xxhash_rust::xxh3::xxh3_64_with_seed(&last.seed.to_le_bytes(), last.made);
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&random.to_be_bytes());
        bytes[8] = 0x80 | bytes[8] & 0x3f;
        bytes[..6].copy_from_slice(&ms.to_be_bytes()[2..]);
        bytes[6] = 0x70 | (count >> 8) as u8;
        bytes[7] = (count & 0xff) as u8;
        CheckpointId::new(uuid_text(uuid::Uuid::from_bytes(bytes)))
    }
}

/// A UUID in its usual form, made in one allocation.
pub(crate) fn uuid_text(id: uuid::Uuid) -> Arc<str> {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    Arc::from(&*id.hyphenated().encode_lower(&mut text))
}

fn time_of(id: &CheckpointId) -> Option<(u64, u16)> {
    let id = uuid::Uuid::parse_str(id.as_str()).ok()?;
    let b = id.as_bytes();
    let ms = u64::from_be_bytes([0, 0, b[0], b[1], b[2], b[3], b[4], b[5]]);
    (b[6] >> 4 == 7).then(|| (ms, u16::from(b[6] & 0x0f) << 8 | u16::from(b[7])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_end_differently() {
        let ids = CheckpointIds::new(Arc::new(crate::base::clock::SystemClock));
        let end = || ids.next(None).as_str().rsplit('-').next().map(str::to_owned);
        let ends: std::collections::HashSet<_> = (0..100).map(|_| end()).collect();
        assert_eq!(ends.len(), 100);
    }
}
