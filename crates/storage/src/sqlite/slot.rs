//! Where values are.

use std::sync::Arc;

use crate::codec::plan;

/// Location of a channel's value.
#[derive(Clone, Debug)]
pub(super) enum SqliteSlot {
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

impl plan::StoredSlot for SqliteSlot {
    fn row(&self) -> i64 {
        match self {
            SqliteSlot::Text(_) => 0,
            SqliteSlot::Row(row, _) => *row,
        }
    }

    fn text(&self) -> Option<&Arc<[u8]>> {
        match self {
            SqliteSlot::Text(text) => Some(text),
            SqliteSlot::Row(..) => None,
        }
    }
}
