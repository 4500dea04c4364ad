//! What a run of a document may make at most.

use serde_json::{Map, Value as Json, json};

use crate::Document;

/// A bound of a run, as a document may set it.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) default: usize,
    /// Most that a document may ask for.
    pub(crate) most: usize,
    pub(crate) description: &'static str,
}

/// The fields of `limits`.
pub(crate) const FIELDS: [Field; 3] = [
    Field {
        name: "packets",
        default: 10_000,
        most: 1_000_000,
        description: "Packets (Send, `each`) that one super-step may make.",
    },
    Field {
        name: "packet_mb",
        default: 256,
        most: 4096,
        description: "Size in memory of the packets of a super-step together, in megabytes.",
    },
    Field {
        name: "state_mb",
        default: 1024,
        most: 16_384,
        description: "Size in memory of the state, in megabytes.",
    },
];

/// Limits on what a run of a document may produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Packets that one super-step may make.
    pub packets: usize,
    /// Their size together, in megabytes.
    pub packet_mb: usize,
    /// Size of the state, in megabytes.
    pub state_mb: usize,
}

impl Document {
    /// Returns the limits on what a run may produce.
    pub fn limits(&self) -> Limits {
        let head = self.head();
        let [packets, packet_mb, state_mb] = FIELDS.map(|field| {
            let asked = head.get("limits").and_then(|limits| limits.get(field.name));
            let asked = asked.and_then(Json::as_u64).filter(|asked| *asked > 0);
            asked.map_or(field.default, |asked| {
                usize::try_from(asked).unwrap_or(usize::MAX).min(field.most)
            })
        });
        Limits {
            packets,
            packet_mb,
            state_mb,
        }
    }
}

/// Returns the JSON Schema of `limits`.
pub(crate) fn schema() -> Json {
    let field = |field: &Field| {
        let schema = json!({
            "type": "integer", "minimum": 1, "maximum": field.most, "default": field.default,
            "description": field.description,
        });
        (field.name.to_owned(), schema)
    };
    json!({
        "type": "object",
        "description": "What a run may make at most.",
        "properties": FIELDS.iter().map(field).collect::<Map<_, _>>(),
        "additionalProperties": false
    })
}
