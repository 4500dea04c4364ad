//! Every backend, put through everything.

mod histories;
mod kills;
