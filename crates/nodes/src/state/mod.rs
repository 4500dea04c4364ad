//! The state keys of a document as the engine has them: channels, and the types that updates are held against.

pub(crate) mod channel;
pub(crate) mod reads;
pub mod schema;
