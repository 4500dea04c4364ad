//! What every backend has in common beside its format: addresses, opening, files that vanish, what cannot be read.

mod address;
mod blocking;
#[cfg(any(feature = "postgres", feature = "redis"))]
pub(crate) mod claims;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod execution;
pub(crate) mod handles;
mod no_store;
mod opening;
pub(crate) mod presence;
pub(crate) mod quarantine;
pub(crate) mod unwritable;

pub(crate) use address::Address;
pub use address::{Synchronous, shown};
pub(crate) use blocking::blocking;
#[cfg(any(feature = "postgres", feature = "redis"))]
pub(crate) use execution::Execution;
pub(crate) use no_store::NoStore;
pub(crate) use opening::{OPENING, Open, OpenMode, Opened, Stores};
pub use unwritable::{may_be_written, open_to_read, refusal_to_write};
