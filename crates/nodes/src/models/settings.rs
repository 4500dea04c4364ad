//! What a person sets up once for all graphs: named connections to model servers, and prices.
//!
//! The file lies outside of every project. A connection says where a key is sent, so a graph that came from somebody
//! else must not be able to bring one along.

use std::path::{Path, PathBuf};

use genai::adapter::AdapterKind;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::error::{KeyPlace, ModelError, variable_of};
use super::prices::{self, Price};
use superstep_document::{Text, suggest, text};

/// A named way to a model server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The protocol it speaks: `openai` for every compatible server, `anthropic`, `gemini`, `ollama` …
    pub provider: String,
    /// Where it is; without one, where the provider is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Environment variable that holds its key. Without one: the provider's own variable, or none at all when there is
    /// a `base_url`, because the provider's key is no business of another server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// Its key is in the system's keychain, under the connection's name; `key_variable` is asked when it is not there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keychain: bool,
}

/// Returns the names of the providers whose protocols a connection may use.
pub fn provider_names() -> Vec<String> {
    let names = AdapterKind::all().iter().map(AdapterKind::as_lower_str);
    names.map(str::to_owned).collect()
}

/// Returns the environment variable that holds a provider's key.
pub fn key_variable(provider: &str) -> Option<String> {
    let kind = AdapterKind::from_lower_str(provider)?;
    kind.default_key_env_name().map(str::to_owned)
}

impl Connection {
    /// Says what is wrong with it.
    pub fn check(&self, name: &str) -> Result<(), String> {
        self.protocol(name).map(drop)
    }

    /// Returns the provider whose protocol the connection uses, and the server's address.
    pub(super) fn protocol(&self, name: &str) -> Result<(AdapterKind, Option<String>), String> {
        let Some(kind) = AdapterKind::from_lower_str(&self.provider) else {
            let known = AdapterKind::all().iter().map(AdapterKind::as_lower_str);
            return Err(format!(
                "connection `{name}` has the unknown provider `{}`.{} Servers that speak OpenAI's protocol are `openai`",
                self.provider,
                suggest::did_you_mean(&self.provider, known)
            ));
        };
        let base_url = match &self.base_url {
            None => None,
            Some(url) => Some(base_url(url).map_err(|cause| {
                format!("connection `{name}` has the `base_url` {url:?}, which {cause}; write one such as http://127.0.0.1:8000/v1/")
            })?),
        };
        Ok((kind, base_url))
    }
}

/// Converts an address to one that paths can be appended to.
pub(super) fn base_url(url: &str) -> Result<String, String> {
    let url = url.trim();
    let parsed = reqwest::Url::parse(url).map_err(|e| format!("is no address ({e})"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err("is neither http nor https".into());
    }
    Ok(if url.ends_with('/') {
        url.to_owned()
    } else {
        format!("{url}/")
    })
}

/// Connections and prices, from a file such as
/// `{"connections": {"mine": {"provider": "openai", "base_url": "http://127.0.0.1:8000/v1/"}}}`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Connections by name; one with a provider's name takes its place.
    #[serde(default)]
    pub connections: IndexMap<String, Connection>,
    /// Prices by model, `PROVIDER::NAME` or `CONNECTION::NAME`; they go before the ones that come with Superstep.
    #[serde(default)]
    pub prices: IndexMap<String, Price>,
    /// Hosts inside the own network that HTTP tools may reach, as `HOST` or `HOST:PORT`.
    #[serde(default)]
    pub private_hosts: Vec<String>,
    /// Where it was read.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Why the file could not be read.
    #[serde(skip)]
    pub problem: Option<String>,
}

impl ModelSettings {
    /// Name of the file in the app's data folder.
    pub const FILE: &'static str = "models.json";

    /// Reads a file; one that is missing is empty. A file that cannot be read is reported when a model is asked.
    pub fn load(file: &Path) -> Self {
        let read = match crate::files::read_own(file) {
            Ok(text) => serde_json::from_str::<Self>(&text).map_err(|e| e.to_string()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(e.to_string()),
        };
        let (mut settings, problem) = match read {
            Ok(settings) => (settings, None),
            Err(cause) => {
                let problem = format!(
                    "the file of model settings {} cannot be read: {cause}. Correct it, or remove it.",
                    file.display()
                );
                (Self::default(), Some(problem))
            }
        };
        settings.file = Some(file.to_owned());
        settings.problem = problem;
        settings
    }

    /// Returns the person's own price of a model, as a graph names it.
    pub fn own_price(&self, model: &str) -> Option<Price> {
        prices::find(&self.prices, model, None).map(|priced| priced.price)
    }

    /// Returns the route for a model name such as `openai::gpt-4o-mini` or `my-server::llama3`.
    pub(super) fn route(&self, model: &str) -> Result<ModelRoute, ModelError> {
        if let Some(problem) = &self.problem {
            return Err(ModelError::BadSettings {
                cause: problem.clone(),
            });
        }
        let named = model
            .split_once("::")
            .filter(|(_, name)| !name.trim().is_empty())
            .and_then(|(prefix, name)| Some((prefix, name, self.connections.get(prefix)?)));
        let Some((prefix, name, connection)) = named else {
            let kind = provider_of(model).map_err(|error| self.explained(error))?;
            return Ok(ModelRoute {
                kind,
                name: model.to_owned(),
                label: kind.as_str().to_owned(),
                connection: None,
                base_url: None,
                keychain: false,
                variable: kind.default_key_env_name().map(str::to_owned),
            });
        };
        let (kind, base_url) = connection
            .protocol(prefix)
            .map_err(|cause| ModelError::BadSettings {
                cause: format!("{cause}. Correct it in {}.", self.place()),
            })?;
        let own = connection.key_variable.clone();
        let variable = own.or_else(|| match base_url {
            Some(_) => None,
            None if connection.keychain => None,
            None => kind.default_key_env_name().map(str::to_owned),
        });
        Ok(ModelRoute {
            kind,
            name: format!("{}::{name}", kind.as_lower_str()),
            label: format!("the connection `{prefix}`"),
            connection: Some(prefix.to_owned()),
            base_url,
            keychain: connection.keychain,
            variable,
        })
    }

    /// Says what is wrong with a model's name.
    pub(crate) fn knows(&self, model: &str) -> Result<(), ModelError> {
        self.route(model).map(drop)
    }

    fn place(&self) -> String {
        self.file.as_ref().map_or_else(
            || "the model settings".to_owned(),
            |file| file.display().to_string(),
        )
    }

    /// Says which connections there are, and how to make the missing one.
    fn explained(&self, error: ModelError) -> ModelError {
        let ModelError::UnknownProvider { model, mut hint } = error else {
            return error;
        };
        if let Some((prefix, name)) = model.split_once("::").filter(|(_, name)| !name.is_empty()) {
            let near = suggest::nearest(prefix, self.connections.keys().map(String::as_str));
            match near {
                Some(near) => hint = text!(" Did you mean `{near}::{name}`?", near, name),
                None if hint.is_empty() => {
                    hint = text!(
                        " To make the connection, add `{prefix}` in Settings under Model connections, or \"{prefix}\": {\"provider\": \"openai\", \"base_url\": \"http://…/v1/\", \"key_variable\": \"…\"} to `connections` in {place}.",
                        prefix,
                        place = self.place()
                    );
                }
                None => {}
            }
        }
        ModelError::UnknownProvider { model, hint }
    }
}

/// Destination of a model's requests.
#[derive(Clone, Debug)]
pub(super) struct ModelRoute {
    pub(super) kind: AdapterKind,
    /// The model as the provider layer takes it.
    pub(super) name: String,
    /// The provider or connection, for people.
    pub(super) label: String,
    /// The connection.
    pub(super) connection: Option<String>,
    /// Where it is, when that is not where the provider is.
    pub(super) base_url: Option<String>,
    /// The key is in the keychain, under the connection's name.
    pub(super) keychain: bool,
    /// Variable of its key.
    pub(super) variable: Option<String>,
}

impl ModelRoute {
    /// Returns where the key is kept, for people.
    pub(super) fn key_place(&self) -> KeyPlace {
        match (&self.connection, &self.variable) {
            (Some(connection), _) if self.keychain => KeyPlace::Keychain(connection.clone()),
            (_, Some(variable)) => KeyPlace::Variable(variable.clone()),
            _ => KeyPlace::Variable(variable_of(self.kind)),
        }
    }
}

/// Returns the provider meant by a model name such as `openai::gpt-4o-mini`.
pub fn provider_of(model: &str) -> Result<AdapterKind, ModelError> {
    let known = || AdapterKind::all().iter().map(AdapterKind::as_lower_str);
    let unknown = |hint: Text| ModelError::UnknownProvider {
        model: model.to_owned(),
        hint,
    };
    let Some((namespace, name)) = model.split_once("::") else {
        let hint = if suggest::nearest(model, ["scripted"]).is_some() {
            text!(" Did you mean `scripted`?")
        } else {
            // Bare names would silently fall back to a local Ollama.
            AdapterKind::from_model(model).map_or_else(
                |_| Text::default(),
                |kind| match kind {
                    AdapterKind::Ollama => Text::default(),
                    kind => text!(
                        " Did you mean `{provider}::{model}`?",
                        provider = kind.as_lower_str(),
                        model
                    ),
                },
            )
        };
        return Err(unknown(hint));
    };
    if name.trim().is_empty() {
        return Err(unknown(Text::default()));
    }
    match AdapterKind::from_lower_str(namespace) {
        Some(kind) => Ok(kind),
        None => match AdapterKind::from_model(model) {
            // Namespaces of genai that are no provider name of their own.
            Ok(kind) if kind != AdapterKind::Ollama => Ok(kind),
            _ => Err(unknown(suggest::did_you_mean(namespace, known()))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_understood() {
        assert_eq!(provider_of("openai::gpt-4o-mini"), Ok(AdapterKind::OpenAI));
        assert_eq!(provider_of("ollama::llama3.2"), Ok(AdapterKind::Ollama));
        for (wrong, part) in [
            ("opnai::gpt-4o", "Did you mean `openai`?"),
            ("scriptd", "Did you mean `scripted`?"),
            ("gpt-4o-mini", "Did you mean `openai::gpt-4o-mini`?"),
            (
                "claude-sonnet-4-5",
                "Did you mean `anthropic::claude-sonnet-4-5`?",
            ),
            ("openai::", "PROVIDER::NAME"),
            ("", "PROVIDER::NAME"),
        ] {
            let text = provider_of(wrong).unwrap_err().to_string();
            assert!(text.contains(part), "{wrong}: {text}");
        }
    }

    #[test]
    fn connections_lead_to_their_servers() {
        let settings: ModelSettings = serde_json::from_str(
            r#"{"connections": {
                "mine": {"provider": "openai", "base_url": "http://127.0.0.1:8000/v1"},
                "keyed": {"provider": "openai", "base_url": "https://example.org/v1/", "key_variable": "MINE"},
                "work": {"provider": "anthropic", "key_variable": "WORK_KEY"},
                "openai": {"provider": "openai"},
                "odd": {"provider": "opnai"}, "where": {"provider": "ollama", "base_url": "localhost:11434"}}}"#,
        )
        .unwrap();
        let route = settings.route("mine::llama3").unwrap();
        assert_eq!(
            (route.kind, route.name.as_str(), route.base_url.as_deref()),
            (
                AdapterKind::OpenAI,
                "openai::llama3",
                Some("http://127.0.0.1:8000/v1/")
            )
        );
        assert_eq!(
            route.variable, None,
            "the provider's key is not for another server"
        );
        assert_eq!(settings.route("keyed::a::b").unwrap().name, "openai::a::b");
        assert_eq!(
            settings.route("keyed::x").unwrap().variable.as_deref(),
            Some("MINE")
        );
        assert_eq!(
            settings.route("work::claude").unwrap().variable.as_deref(),
            Some("WORK_KEY")
        );
        let own = settings.route("openai::gpt-4o").unwrap();
        assert_eq!(own.variable.as_deref(), Some("OPENAI_API_KEY"));
        for (wrong, part) in [
            ("odd::x", "Did you mean `openai`?"),
            ("where::x", "neither http nor https"),
            ("mien::x", "Did you mean `mine::x`?"),
            ("elsewhere::x", "\"elsewhere\": {\"provider\": \"openai\""),
        ] {
            let text = settings.route(wrong).unwrap_err().to_string();
            assert!(text.contains(part), "{wrong}: {text}");
        }
    }

    #[test]
    fn a_broken_file_is_reported_when_a_model_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(ModelSettings::FILE);
        assert_eq!(ModelSettings::load(&file).problem, None, "no file, no problem");
        std::fs::write(&file, r#"{"conections": {}}"#).unwrap();
        let text = ModelSettings::load(&file)
            .route("openai::gpt-4o")
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("models.json") && text.contains("conections"),
            "{text}"
        );
    }
}
