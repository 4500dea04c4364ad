//! What decodes the values of hashes is given bytes that nobody stored, as in [`crate::codec::fuzz`].

use super::{reader, server, state, store};
use crate::codec::fuzz::{FuzzBytes, record, rounds};

/// Reads bytes as everything that a hash of ours holds.
fn decoded(bytes: &[u8]) {
    let id = superstep::CheckpointId::from("a");
    let texts = [(state::index_key("", &id), bytes.to_vec())].into();
    let _ = state::Resolved::of("", &id, &texts);
    let _ = state::Start::read(bytes);
    let _ = state::value_of(1, &[(1, bytes.to_vec())].into());
    let _ = reader::pending(&[bytes.to_vec()]);
    let _ = state::index_parts(bytes);
    let _ = store::kept(&(Vec::new(), String::new()), bytes);
    let _ = server::placed(bytes);
}

#[test]
fn values_of_hashes() {
    let record = record().to_string();
    let held = record.replace("{\"set\":[4,1]}", "{\"at\":[4,17]}");
    let held = held.replace("{\"add\":[5,2,[1,{\"x\":\"y\"}]]}", "{\"at\":[5,18]}");
    let mut fuzz = FuzzBytes(0xA076_1D64_78BD_642F);
    for _ in 0..rounds() {
        let bytes = match fuzz.below(2) {
            0 => fuzz.spoil(record.as_bytes()),
            _ => fuzz.spoil(held.as_bytes()),
        };
        for line in [
            "\n",
            "+0190a000-0000-7000-8000-000000000000\n",
            "4 2 1 0 0 9\n",
            "0 99\n\u{1}",
        ] {
            decoded(&[line.as_bytes(), &bytes].concat());
        }
    }
}
