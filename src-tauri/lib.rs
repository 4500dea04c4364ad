//! The desktop host.
