//! Every backend, put through everything.

#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod between;
mod claims;
mod continuing;
mod damage;
mod disks;
mod embeddings;
mod faults;
mod histories;
mod kills;
mod network;
mod power;
mod pruning;
mod trips;
