//! One test binary: building several would link everything several times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod backends;
mod boundaries;
mod crash;
mod layers;
mod pages;
mod setup;
mod texts;
mod two_minutes;
