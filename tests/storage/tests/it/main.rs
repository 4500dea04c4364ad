//! Every backend, put through everything.

mod faults;
mod histories;
mod kills;
