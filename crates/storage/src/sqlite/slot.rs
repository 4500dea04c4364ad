//! Where values are.

use std::sync::Arc;

use crate::codec::record::Delta;

/// Where a channel's value is.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// In the delta, as JSON text.
    Text(Arc<[u8]>),
    /// In a row of its own, with the rows that it builds on.
    Row(i64, Shape),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Not looked up yet.
    Unread,
    Plain,
    List(Link),
}

/// The newest row of a list's chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) len: usize,
    pub(super) level: i64,
    pub(super) run: i64,
    /// Length of the JSON of the list; `None` when an older release stored a part of it.
    pub(super) size: Option<u64>,
}

impl Slot {
    /// The row for a delta, which gets the text if there is no row.
    pub(super) fn note(&self, name: i64, delta: &mut Delta) -> i64 {
        match self {
            Slot::Text(text) => {
                delta.texts.insert(name, text.clone());
                0
            }
            Slot::Row(row, _) => *row,
        }
    }

    /// Bytes that it takes in a delta.
    pub(super) fn texts(&self) -> i64 {
        match self {
            Slot::Text(text) => text.len() as i64,
            Slot::Row(..) => 0,
        }
    }
}
