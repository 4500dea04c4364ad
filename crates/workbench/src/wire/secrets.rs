//! Named secrets: variables whose values a person entered. Values go in and never come out.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Place where the value of a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum SecretPlace {
    /// An environment variable that the program was started with.
    Environment,
    /// The system's keychain.
    Keychain,
    /// The memory of the program, until it is closed.
    UntilClosed,
}

/// Place where a new value is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum KeptSecret {
    /// The system's keychain.
    #[default]
    Keychain,
    /// The memory of the program, until it is closed.
    UntilClosed,
}

/// A secret, without its value.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    /// The name that graphs use.
    pub name: String,
    /// Where its value comes from; absent when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<SecretPlace>,
    /// A value was entered here, so it can be removed.
    pub kept: bool,
}

/// Answer of the commands about secrets: all of them.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretList {
    /// By name.
    pub secrets: Vec<SecretView>,
    /// Why the system's keychain cannot be used here; absent when it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub keychain_problem: Option<String>,
    /// The file with their names.
    pub file: String,
}

/// `secrets.list`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListSecrets {
    /// An open graph whose variables are listed too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Other names that are asked about.
    #[serde(default)]
    pub names: Vec<String>,
}

/// `secrets.set`
#[derive(Clone, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetSecret {
    /// The name that graphs use.
    pub name: String,
    /// The value.
    pub value: String,
    /// Where it is kept.
    #[serde(default)]
    pub keep: KeptSecret,
}

impl std::fmt::Debug for SetSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetSecret")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// `secrets.remove`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RemoveSecret {
    /// The secret.
    pub name: String,
}
