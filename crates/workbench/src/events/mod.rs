//! What happens, on its way to every connected interface.

pub(crate) mod hub;
