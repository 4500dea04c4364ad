//! What every backend has in common beside its format: addresses, opening, files that vanish, what cannot be read.

mod address;
mod blocking;
#[cfg(any(feature = "postgres", feature = "redis"))]
pub(crate) mod claims;
mod opening;
pub(crate) mod presence;
pub(crate) mod quarantine;

pub(crate) use address::Address;
pub use address::{Synchronous, shown};
pub(crate) use blocking::blocking;
pub(crate) use opening::{OPENING, Open, Opened, Stores};
