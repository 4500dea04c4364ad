//! Values as graphs keep them, and values that a backend may stumble over.

use proptest::prelude::*;
use superstep::value::Object;
use superstep::{Value, json};

use crate::random::Random;

/// Generates JSON, a few levels deep.
pub fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no others", |n| n.is_finite())
            .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        odd().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop_oneof!["[a-z]{1,3}", odd().boxed()], inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Object>())),
        ]
    })
}

/// Generates texts that have a special meaning somewhere.
fn odd() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "\0",
        "a\0b",
        "\u{feff}",
        "\u{1f600}",
        "'; DROP TABLE items; --",
        "\\u0000",
        "\r\n",
        "null",
        "1.0",
        "{}",
        "$ref",
        "__overwrite__",
        "\u{202e}",
        "\u{7f}\u{1b}[0m",
    ])
    .prop_map(str::to_owned)
}

/// Generates JSON of any size: mostly small, sometimes a text, a list or a nest that a backend treats differently.
pub fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (0_i64..5).prop_map(Value::from),
        8 => any_json(),
        1 => (0_u64..4, 100_usize..6_000).prop_map(|(seed, length)| Value::from(noise(seed, length))),
        1 => (0_u64..4, 100_usize..6_000).prop_map(|(seed, length)| json!({"text": "so on ".repeat(length / 6), "n": seed})),
        1 => (1_usize..100).prop_map(|depth| (0..depth).fold(json!("core"), |inner, _| vec![inner].into())),
        1 => (0_i64..3, 1_usize..200).prop_map(|(from, length)| (from..from + length as i64).map(Value::from).collect::<superstep::value::List>().into()),
    ]
}

/// Generates text that no compression makes smaller; there are few enough different texts that equal ones meet.
fn noise(seed: u64, length: usize) -> String {
    let mut random = Random::new(seed);
    let letter = |_| char::from(b' ' + random.below(94) as u8);
    (0..length).map(letter).collect()
}
