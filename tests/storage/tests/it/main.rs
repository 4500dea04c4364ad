//! Every backend, put through everything.

mod histories;
