//! Connections to model servers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Location of a connection's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ConnectionKey {
    /// It is the provider's own variable, or there is none.
    Usual,
    /// In this environment variable.
    Variable {
        /// Its name.
        name: String,
    },
    /// In the system's keychain.
    Keychain,
}

/// A connection.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    /// What graphs call it.
    pub name: String,
    /// The protocol it speaks.
    pub provider: String,
    /// Where it is; absent: where the provider is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
    /// Where its key is.
    pub key: ConnectionKey,
    /// There is a key in that place.
    pub has_key: bool,
}

/// A provider that connections may speak to.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderView {
    /// Name.
    pub name: String,
    /// The variable that holds its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub variable: Option<String>,
}

/// Answer of the commands that change connections: all of them.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionList {
    /// By name.
    pub connections: Vec<ConnectionView>,
    /// Protocols.
    pub providers: Vec<ProviderView>,
    /// Why the system's keychain cannot be used here; absent when it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub keychain_problem: Option<String>,
    /// The file that they are in.
    pub file: String,
}

/// `connections.save` and `connections.test`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveConnection {
    /// What graphs call it.
    pub name: String,
    /// Its name so far, when it has another one from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub previous: Option<String>,
    /// The protocol it speaks.
    pub provider: String,
    /// Where it is; absent: where the provider is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
    /// Where its key is.
    pub key: ConnectionKey,
    /// The key for the keychain; absent keeps the one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub secret: Option<String>,
}

/// `connections.remove`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RemoveConnection {
    /// The connection.
    pub name: String,
}

/// Answer of `connections.test`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionTested {
    /// The server answered and took the key.
    pub works: bool,
    /// What came of it, in words.
    pub message: String,
    /// Models that it offers, as graphs name them.
    pub models: Vec<String>,
}

/// Price of a model, in US dollars per million tokens. Also `prices.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// The model as graphs name it.
    pub model: String,
    /// What is sent.
    pub input: f64,
    /// What is answered.
    pub output: f64,
    /// What is sent and was kept by the provider; like `input` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cached: Option<f64>,
    /// What is sent to be kept by the provider; like `input` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cache_write: Option<f64>,
}

/// `prices.remove`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RemovePrice {
    /// The model.
    pub model: String,
}

/// Answer of the commands about prices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PriceList {
    /// Those that the person set; they go before the others.
    pub own: Vec<ModelPrice>,
    /// Those that come with Superstep.
    pub listed: Vec<ModelPrice>,
    /// The day on which those were looked up.
    pub taken: String,
}
