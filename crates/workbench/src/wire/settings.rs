//! What the user chose.

use std::collections::BTreeMap;

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

/// Language of the interface. Logs, the API and the command line stay English.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// As the system says.
    #[default]
    System,
    /// English.
    En,
    /// Simplified Chinese.
    Zh,
}

/// Settings, kept in the data folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// Language of the interface.
    pub language: Language,
    /// Let the canvas follow a run.
    pub follow: bool,
    /// The user has seen the first-start screen.
    pub welcomed: bool,
    /// What the user is called, for questions that are meant for certain people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// Seconds in which an answer can be taken back, at most an hour; absent means 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hold_s: Option<u32>,
    /// The Python interpreter of all projects, or the folder of a virtual environment; absent leaves it to each project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub python: Option<String>,
    /// Applied at every start and once a day; absent keeps everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub retention: Option<super::RetentionRule>,
    /// Keep an index of the words in all threads, so that searches need not read them; absent keeps one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub index_threads: Option<bool>,
    /// How long-term memory works; absent finds by words and keeps forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub memory: Option<MemorySettings>,
    /// Searches over threads that have a name; at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<SavedQuery>>", optional)]
    pub queries: Vec<SavedQuery>,
    /// Keys of the commands whose shortcuts the user changed, as `Mod+Shift+P`; none takes the shortcut away.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, Vec<String>>>", optional)]
    pub shortcuts: BTreeMap<String, Vec<String>>,
}

/// A search over threads that has a name: a filter of the list of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct SavedQuery {
    /// Its name, which no other one has.
    pub name: String,
    /// Words.
    pub words: String,
    /// Conditions and columns, as they were written.
    pub conditions: Vec<SavedCondition>,
}

/// A condition of a saved search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct SavedCondition {
    /// `where`, `passed`, `atEnd`, `status`, `since`, `graph` or `column`.
    pub kind: String,
    /// What it says.
    pub value: String,
}

/// Settings of long-term memory, whichever database it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct MemorySettings {
    /// What makes the vectors that items are found by: `ngrams`, or a model as graphs name it. Without it they are found by
    /// their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub embedding: Option<String>,
    /// The length of the model's vectors. It is asked when the model is chosen, and what an interface sends is not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dims: Option<u32>,
    /// Minutes that an item lives whose put does not say; without it forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ttl_minutes: Option<u32>,
    /// Reading an item gives it its full time again, unless the read says otherwise.
    pub refresh_on_read: bool,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            embedding: None,
            dims: None,
            ttl_minutes: None,
            refresh_on_read: true,
        }
    }
}

/// `python.find`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadPython {
    /// An open document, whose project may have an environment of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
}

/// Source of the choice of the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum PythonChosenBy {
    /// The environment of the program, in `SUPERSTEP_PYTHON`.
    Variable,
    /// The user, in the settings.
    Settings,
    /// The project has a virtual environment.
    Project,
    /// Nobody: it is the computer's.
    Computer,
}

/// Answer of `python.find`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PythonView {
    /// The interpreter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub program: Option<String>,
    /// Who chose it.
    pub chosen_by: PythonChosenBy,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<super::Problem>,
}
