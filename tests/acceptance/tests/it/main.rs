//! One test binary: building several would link everything several times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod backends;
mod boundaries;
mod breakpoints;
mod claims;
mod crash;
mod documents;
mod effects;
mod exchanges;
mod inbox;
mod memory;
mod models;
mod programs;
mod questions;
mod records;
mod retention;
mod runs;
mod trial;
mod two_minutes;
mod upkeep;
mod within;
