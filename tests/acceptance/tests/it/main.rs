//! One test binary: building several would link everything several times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod agent_server;
mod backends;
mod boundaries;
mod changed;
mod crash;
mod features;
mod finding;
mod layers;
mod naming;
mod pages;
mod seen_server;
mod setup;
mod texts;
mod two_minutes;
