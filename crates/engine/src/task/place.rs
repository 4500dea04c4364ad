//! Where a task stands in its step, and the id that follows from it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::Write as _;

use smallvec::SmallVec;

use super::Head;
use crate::base::ids::{CheckpointId, TaskId, uuid_text};

pub(super) fn packet_path(index: usize) -> String {
    format!("~__pregel_push, {index:010}, {:010}", 0)
}

/// Where a task stands among the tasks of its step: pulled nodes by name, then packets by index.
pub(crate) enum Place<'a> {
    Packet(usize),
    Of(&'a Head),
    Text(&'a str),
}

impl Place<'_> {
    /// The order of the texts, without making them where the numbers tell.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Place::Packet(a), Place::Packet(b)) => a.cmp(b),
            (a, b) => a.text().cmp(&b.text()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Place::Packet(index) => packet_path(*index).into(),
            Place::Of(head) => (&**head.path_text()).into(),
            Place::Text(text) => (*text).into(),
        }
    }
}

/// Stands between the parts that a task's id is made from.
const BETWEEN: u8 = 0x1f;

/// A UUID-looking hash: the same checkpoint and path always give the same id.
pub(super) fn task_id(
    (ns, checkpoint, step): (&str, &CheckpointId, i64),
    name: &str,
    kind: &str,
    rest: impl IntoIterator<Item: AsRef<str>>,
) -> TaskId {
    let mut text: SmallVec<[u8; 256]> = SmallVec::new();
    text.extend_from_slice(checkpoint.as_str().as_bytes());
    text.push(BETWEEN);
    text.extend_from_slice(ns.as_bytes());
    text.push(BETWEEN);
    let mut digits = [0; 20];
    let mut room = &mut digits[..];
    // The longest number has twenty characters.
    let _ = write!(room, "{step}");
    let left = room.len();
    text.extend_from_slice(&digits[..digits.len() - left]);
    for part in [name, kind] {
        text.push(BETWEEN);
        text.extend_from_slice(part.as_bytes());
    }
    for part in rest {
        text.push(BETWEEN);
        text.extend_from_slice(part.as_ref().as_bytes());
    }
    let hash = xxhash_rust::xxh3::xxh3_128(&text);
    TaskId::new(uuid_text(uuid::Uuid::from_u128(hash)))
}

/// The id under which an update of an edit is filed when no task of its node waits.
pub(crate) fn derived_task_id(checkpoint: &CheckpointId, step: i64, position: usize) -> TaskId {
    task_id(("", checkpoint, step), "", "update", [position.to_string()])
}
