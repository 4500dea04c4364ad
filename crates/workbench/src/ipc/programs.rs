//! The other programs of a data folder.

use parking_lot::Mutex;

use super::Listener;
use super::changes::Watch;
use super::follow::Followed;

/// State of the talk with other programs of the data folder.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// What they change.
    pub(crate) changes: Watch,
    /// Those that are listened to.
    pub(crate) followed: Followed,
    /// Lets them talk to this one.
    pub(crate) listener: Mutex<Option<Listener>>,
}
