//! Questions that wait for a person or for a time: their list, one of them, and their deadlines.

pub(crate) mod deadlines;
pub(crate) mod list;
pub(crate) mod question;
