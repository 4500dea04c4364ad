//! What the user chose.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Light, dark, or as the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Settings, kept in the data folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// Let the canvas follow a run.
    pub follow: bool,
    /// The user has seen the first-start screen.
    pub welcomed: bool,
    /// What the user is called, for questions that are meant for certain people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// Applied at every start and once a day; absent keeps everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub retention: Option<super::RetentionRule>,
}
