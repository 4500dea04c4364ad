//! Tags and metadata of runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Tags and metadata entries that identify a run. Every checkpoint of the run has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunLabels {
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Metadata: texts by key.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}
