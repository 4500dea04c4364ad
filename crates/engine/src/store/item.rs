//! What a store gives back.

use serde::{Deserialize, Serialize};

use crate::base::clock::iso8601;
use crate::value::{List, Object, Value};

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Where it is.
    pub namespace: Vec<String>,
    /// Its name there.
    pub key: String,
    /// What was put.
    pub value: Object,
    /// When the key was first put, in milliseconds since the Unix epoch.
    pub created_at: u64,
    /// When the value was put, in milliseconds since the Unix epoch.
    pub updated_at: u64,
    /// When it expires, in milliseconds since the Unix epoch; reading it may put that off.
    pub expires_at: Option<u64>,
    /// In answers to a search with a query: how well it fits, higher is better. The cosine of the best vector in a
    /// search by meaning; a number that compares only within one answer in a search by words.
    pub score: Option<f64>,
}

impl Item {
    /// Converts the item to JSON; times are ISO-8601 text, `expires_at` and `score` are present only when there is one.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        let labels: List = self
            .namespace
            .iter()
            .map(|label| Value::from(label.as_str()))
            .collect();
        object.insert("namespace", labels);
        object.insert("key", self.key.as_str());
        object.insert("value", self.value.clone());
        object.insert("created_at", iso8601(self.created_at));
        object.insert("updated_at", iso8601(self.updated_at));
        if let Some(expires_at) = self.expires_at {
            object.insert("expires_at", iso8601(expires_at));
        }
        if let Some(score) = self.score {
            object.insert("score", score);
        }
        Value::Object(object)
    }
}
