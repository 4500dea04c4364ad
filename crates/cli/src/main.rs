//! The superstep command line.
fn main() {}
