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
            /// Returns the id's text.
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
    /// Creates a random id.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string().into())
    }
}

impl TaskId {
    /// Creates the id that owns writes of an input command rather than of a task.
    pub fn null() -> Self {
        Self("00000000-0000-0000-0000-000000000000".into())
    }
    /// Returns whether this is [`TaskId::null`].
    pub fn is_null(&self) -> bool {
        &*self.0 == "00000000-0000-0000-0000-000000000000"
    }
}

/// Maker of checkpoint ids that never sort before an id they follow, even when the clock is set back.
#[derive(Debug)]
pub struct CheckpointIds {
    clock: Arc<dyn Clock>,
    last: Mutex<LastId>,
    aside: Option<Mutex<IdRange>>,
}

/// Places in the order of ids beside a checkpoint: what is made there never becomes the newest of its thread.
#[derive(Debug)]
struct IdRange {
    /// Everything before the random part.
    start: u128,
    last: u128,
    /// Ids are smaller than this one.
    end: u128,
}

/// Bits of an id's random part.
const RANDOM: u32 = 62;
/// The most room between two ids of a branch aside.
const STRIDE: u64 = 1 << 24;
/// The least room of a branch: less is left beside one of four million checkpoints.
const LEAST: u128 = 1 << 40;

impl IdRange {
    fn next(&mut self, random: u64) -> u128 {
        let room = self.end.saturating_sub(self.last).saturating_sub(1);
        // Where no room is left ids stop growing evenly, and do not leave the place.
        let step = u128::from(random % STRIDE).min(room / 2).max(1);
        self.last += step;
        self.last
    }
}

/// The place in time of the newest id, and where its random part comes from: asking the system for random bytes takes
/// longer than a whole super-step, so it is asked once.
#[derive(Debug)]
struct LastId {
    place: (u64, u16),
    /// The same of ids that follow those of another program, which are ordered in another way and stand far after all that
    /// are made from the time: ids of other threads do not follow them.
    far: (u64, u16),
    seed: u128,
    made: u64,
}

impl CheckpointIds {
    /// Creates a maker of ids stamped with `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            last: Mutex::new(LastId {
                place: (0, 0),
                far: (0, 0),
                seed: uuid::Uuid::new_v4().as_u128(),
                made: 0,
            }),
            aside: None,
        }
    }

    /// Creates a maker of ids that sort after `after` (where it is named) and before `before`, in a range of their own
    /// that nothing else uses: those of a branch that must be no newer than its thread. `None` for ids that leave no
    /// such room.
    pub(crate) fn aside(
        clock: Arc<dyn Clock>,
        after: Option<&CheckpointId>,
        before: &CheckpointId,
    ) -> Option<Self> {
        let number = |id: &CheckpointId| Some(uuid::Uuid::parse_str(id.as_str()).ok()?.as_u128());
        let upper = number(before)?;
        let (from, end) = match after {
            // What follows a checkpoint in time differs from it before its random part.
            Some(after) => {
                let after = number(after)?;
                (after, (((after >> RANDOM) + 1) << RANDOM).min(upper))
            }
            None => ((upper >> RANDOM) << RANDOM, upper),
        };
        let room = end.checked_sub(from).filter(|room| *room > LEAST)?;
        let random = u128::from(uuid::Uuid::new_v4().as_u64_pair().1);
        let start = from + 1 + random % (room / 2);
        Some(Self {
            aside: Some(Mutex::new(IdRange {
                start,
                last: start,
                end,
            })),
            ..Self::new(clock)
        })
    }

    /// Returns whether this maker made the id aside.
    pub(crate) fn made(&self, id: &CheckpointId) -> bool {
        self.made_aside()
            .is_some_and(|(first, last)| first < *id && *id <= last)
    }

    /// Returns the range of all ids that this maker made aside: greater than the first, and at most the second.
    pub(crate) fn made_aside(&self) -> Option<(CheckpointId, CheckpointId)> {
        let aside = self.aside.as_ref()?.lock();
        let id = |number: u128| CheckpointId::new(uuid_text(uuid::Uuid::from_u128(number)));
        Some((id(aside.start), id(aside.last)))
    }

    /// Makes all later ids greater than this one.
    pub fn follow(&self, id: &CheckpointId) {
        if let Some(place) = time_of(id) {
            let mut last = self.last();
            match is_far(place, self.clock.now_ms()) {
                true => last.far = last.far.max(place),
                false => last.place = last.place.max(place),
            }
        }
    }

    fn last(&self) -> parking_lot::MutexGuard<'_, LastId> {
        self.last.lock()
    }

    /// Creates an id that is greater than `after` and than every id made before; than those that follow another program's
    /// ids only when `after` does so, too.
    pub fn next(&self, after: Option<&CheckpointId>) -> CheckpointId {
        // 12 bits of counter within a millisecond keep the order; past them the next millisecond is borrowed.
        let successor = |(ms, n): (u64, u16)| if n < 0x0fff { (ms, n + 1) } else { (ms + 1, 0) };
        let floor = after.and_then(time_of);
        let now = self.clock.now_ms();
        let mut last = self.last();
        let (ms, count) = match floor.filter(|floor| is_far(*floor, now)) {
            Some(floor) => {
                last.far = successor(last.far).max(successor(floor));
                last.far
            }
            None => {
                last.place = (now, 0)
                    .max(successor(last.place))
                    .max(floor.map_or((0, 0), successor));
                last.place
            }
        };
        last.made += 1;
        let random = xxhash_rust::xxh3::xxh3_64_with_seed(&last.seed.to_le_bytes(), last.made);
        if let Some(aside) = &self.aside {
            let number = aside.lock().next(random);
            return CheckpointId::new(uuid_text(uuid::Uuid::from_u128(number)));
        }
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&random.to_be_bytes());
        bytes[8] = 0x80 | bytes[8] & 0x3f;
        bytes[..6].copy_from_slice(&ms.to_be_bytes()[2..]);
        bytes[6] = 0x70 | (count >> 8) as u8;
        bytes[7] = (count & 0xff) as u8;
        CheckpointId::new(uuid_text(uuid::Uuid::from_bytes(bytes)))
    }
}

/// Formats a UUID in its usual form, with one allocation.
pub(crate) fn uuid_text(id: uuid::Uuid) -> Arc<str> {
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    Arc::from(&*id.hyphenated().encode_lower(&mut text))
}

/// Milliseconds of a hundred years: no clock is so wrong.
const FAR: u64 = 3_155_760_000_000;

/// Returns whether a place is none in time: it is that of an id of another kind.
fn is_far(place: (u64, u16), now: u64) -> bool {
    place.0 > now.saturating_add(FAR)
}

/// Returns the place in time of an id that was made here. Of a UUID of another kind, as other programs make them, it is the
/// place after which an id that is made here sorts after that one.
fn time_of(id: &CheckpointId) -> Option<(u64, u16)> {
    let id = uuid::Uuid::parse_str(id.as_str()).ok()?;
    let b = id.as_bytes();
    let ms = u64::from_be_bytes([0, 0, b[0], b[1], b[2], b[3], b[4], b[5]]);
    let count = u16::from(b[6] & 0x0f) << 8 | u16::from(b[7]);
    match b[6] >> 4 {
        // The kind stands before the count, and sorts with it.
        0..=7 => Some((ms, count)),
        _ => Some((ms + 1, 0)),
    }
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

    #[test]
    fn ids_after_those_of_another_program_are_greater_and_stay_apart() {
        let ids = CheckpointIds::new(Arc::new(crate::base::clock::SystemClock));
        let own = ids.next(None);
        for other in [
            "1f1eccbc-15db-66ad-bfff-e2af800e7e7d",
            "1f1eccc0-cb86-6291-ffff-d0a71e0f30d2",
            "4e0b1c4f-3cbf-4b2b-8d3c-f99d7021b53b",
            "4e0b1c4f-3cbf-8b2b-8d3c-f99d7021b53b",
        ] {
            let other = CheckpointId::from(other);
            let mut before = other;
            for _ in 0..5_000 {
                let next = ids.next(Some(&before));
                assert!(next > before, "{next} follows {before}");
                before = next;
            }
        }
        let later = ids.next(Some(&own));
        assert!(
            later > own && later.as_str() < "1",
            "ids of other threads are made from the time: {later}"
        );
        ids.follow(&"7f1eccbc-15db-66ad-bfff-e2af800e7e7d".into());
        assert!(ids.next(None).as_str() < "1");
        let younger = ids.next(Some(&"4e0b1c4f-3cbf-4b2b-8d3c-f99d7021b53b".into()));
        assert!(younger.as_str() > "7f1eccbc-15db-66ad");
    }

    #[test]
    fn ids_aside_stay_between_a_checkpoint_and_what_followed_it() {
        let clock: Arc<dyn Clock> = Arc::new(crate::base::clock::SystemClock);
        let ids = CheckpointIds::new(clock.clone());
        let (first, second, third) = (ids.next(None), ids.next(None), ids.next(None));
        let aside = CheckpointIds::aside(clock.clone(), Some(&second), &third).expect("there is room");
        let made: Vec<_> = (0..10_000).map(|_| aside.next(Some(&third))).collect();
        assert!(
            made.is_sorted_by(|a, b| a < b),
            "each is greater than the one before"
        );
        assert!(second < made[0] && made[9_999] < third);
        assert!(made.iter().all(|id| aside.made(id)) && !aside.made(&second) && !aside.made(&third));
        let again = CheckpointIds::aside(clock.clone(), Some(&second), &third).expect("there is room");
        assert!(
            !aside.made(&again.next(None)),
            "two branches have stretches of their own"
        );
        let before = CheckpointIds::aside(clock.clone(), None, &first).expect("there is room");
        assert!(
            before.next(Some(&third)) < first,
            "also before the first of a thread"
        );
        assert!(
            CheckpointIds::aside(clock, None, &"one".into()).is_none(),
            "what is no UUID has no room"
        );
    }
}
