//! JSON of other programs: answers of servers, values of code, messages of tools.

pub(crate) use superstep_document::{read_json, without_halves};
