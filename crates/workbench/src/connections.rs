//! Connections to model servers, as Settings show and change them. They stand in `models.json`; their keys do not: those
//! are in the system's keychain or in environment variables.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use superstep_nodes::provider::{Connection, Providers, key_variable, provider_names};
use superstep_nodes::{Access, Grants, ModelSettings};

use crate::Workbench;
use crate::documents::blocking;
use crate::files;
use crate::secrets::Secrets;
use crate::wire::{
    ConnectionKey, ConnectionList, ConnectionTested, ConnectionView, Empty, Problem, ProviderView,
    RemoveConnection, SaveConnection,
};

/// Longest wait for a server that is tested.
const TEST: Duration = Duration::from_secs(20);
/// Models that a test tells.
const SHOWN: usize = 200;

fn account(connection: &str) -> String {
    format!("model-connection:{connection}")
}

/// The key of a connection, from the keychain.
pub fn key_of(secrets: &dyn Secrets, connection: &str) -> Option<String> {
    secrets.get(&account(connection)).unwrap_or_else(|cause| {
        tracing::warn!(connection, "its key was not read: {cause}");
        None
    })
}

fn keychain(doing: &str, cause: &str) -> Problem {
    Problem::new("keychain", format!("The key was not {doing}: {cause}."))
        .remedy("Keep the key in an environment variable instead, and name the variable here.")
}

/// Refuses what cannot be a connection.
fn checked(request: &SaveConnection) -> Result<(), Problem> {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if request.name.is_empty() || request.name.len() > 64 || !request.name.chars().all(letter) {
        return Err(
            Problem::invalid(format!("{:?} cannot be the name of a connection.", request.name))
                .remedy("Take up to 64 letters, digits, `-`, `_` and `.`."),
        );
    }
    if request.name == "scripted" {
        return Err(
            Problem::invalid("`scripted` is the model that comes with Superstep.")
                .remedy("Take another name."),
        );
    }
    if let ConnectionKey::Variable { name } = &request.key
        && (name.trim().is_empty() || name.contains(['=', ' ', '\0']))
    {
        return Err(
            Problem::invalid(format!("{name:?} cannot be the name of a variable."))
                .remedy("Write one such as OPENAI_API_KEY."),
        );
    }
    let text = connection(request).check(&request.name);
    text.map_err(|cause| Problem::invalid(format!("This is no connection: {cause}.")).remedy("Correct it."))
}

fn connection(request: &SaveConnection) -> Connection {
    let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Connection {
        provider: request.provider.clone(),
        base_url: request.base_url.as_deref().and_then(filled),
        key_variable: match &request.key {
            ConnectionKey::Variable { name } => filled(name),
            _ => None,
        },
        keychain: request.key == ConnectionKey::Keychain,
    }
}

/// Puts a connection, or nothing, in place of what is there, and leaves everything else as it is.
fn put(all: &mut Map<String, Json>, name: &str, connection: &Connection) {
    let entry = all.entry(name).or_insert_with(|| json!({}));
    if !entry.is_object() {
        *entry = json!({});
    }
    let Some(entry) = entry.as_object_mut() else {
        return;
    };
    entry.insert("provider".into(), connection.provider.clone().into());
    let fields = [
        ("base_url", connection.base_url.clone().map(Json::from)),
        ("key_variable", connection.key_variable.clone().map(Json::from)),
        ("keychain", connection.keychain.then_some(Json::Bool(true))),
    ];
    for (field, value) in fields {
        match value {
            Some(value) => drop(entry.insert(field.into(), value)),
            None => drop(entry.shift_remove(field)),
        }
    }
}

impl Workbench {
    fn models_file(&self) -> std::path::PathBuf {
        self.data_dir.join(ModelSettings::FILE)
    }

    fn connection_list(&self) -> Result<ConnectionList, Problem> {
        let settings = self.models();
        if let Some(problem) = &settings.problem {
            return Err(Problem::new(
                "file-error",
                format!("Connections cannot be shown: {problem}"),
            ));
        }
        let view = |(name, connection): (&String, &Connection)| {
            let (key, has_key) = match (&connection.key_variable, connection.keychain) {
                (_, true) => (ConnectionKey::Keychain, key_of(&*self.secrets, name).is_some()),
                (Some(variable), _) => (
                    ConnectionKey::Variable {
                        name: variable.clone(),
                    },
                    std::env::var_os(variable).is_some(),
                ),
                (None, _) => (
                    ConnectionKey::Usual,
                    connection.base_url.is_none()
                        && key_variable(&connection.provider)
                            .is_some_and(|name| std::env::var_os(name).is_some()),
                ),
            };
            ConnectionView {
                name: name.clone(),
                provider: connection.provider.clone(),
                base_url: connection.base_url.clone(),
                key,
                has_key,
            }
        };
        Ok(ConnectionList {
            connections: settings.connections.iter().map(view).collect(),
            providers: provider_names()
                .into_iter()
                .map(|name| ProviderView {
                    variable: key_variable(&name),
                    name,
                })
                .collect(),
            keychain_problem: self.secrets.problem(),
            file: self.models_file().to_string_lossy().into_owned(),
        })
    }

    /// Changes the connections in the file; what else is in it stays.
    fn change_connections(&self, change: impl FnOnce(&mut Map<String, Json>)) -> Result<(), Problem> {
        let file = self.models_file();
        let _writing = self
            .settings_writing
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(problem) = self.models().problem {
            return Err(Problem::new(
                "file-error",
                format!("Nothing was changed: {problem}"),
            ));
        }
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => "{}".to_owned(),
            Err(error) => return Err(Problem::file("read", &file, &error)),
        };
        let mut whole: Json = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        let broken = || {
            Problem::new(
                "file-error",
                format!("{} is no object with `connections`.", file.display()),
            )
        };
        let all = whole
            .as_object_mut()
            .ok_or_else(broken)?
            .entry("connections")
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .ok_or_else(broken)?;
        change(all);
        let mut text =
            serde_json::to_vec_pretty(&whole).map_err(|e| Problem::new("internal", e.to_string()))?;
        text.push(b'\n');
        files::write_atomic(&file, &text).map_err(|e| Problem::file("write", &file, &e))
    }

    pub(crate) async fn connections_list(self: &Arc<Self>, _: Empty) -> Result<ConnectionList, Problem> {
        let this = self.clone();
        blocking(move || this.connection_list()).await?
    }

    pub(crate) async fn connections_save(
        self: &Arc<Self>,
        request: SaveConnection,
    ) -> Result<ConnectionList, Problem> {
        checked(&request)?;
        let this = self.clone();
        blocking(move || {
            let previous = request
                .previous
                .as_deref()
                .filter(|previous| *previous != request.name);
            let known = this.models().connections;
            if known.contains_key(&request.name) && request.previous.as_deref() != Some(request.name.as_str())
            {
                return Err(Problem::new(
                    "conflict",
                    format!("There is a connection `{}` already.", request.name),
                )
                .remedy("Take another name."));
            }
            // The key goes first: a connection without its key is worse than a key without its connection.
            if request.key == ConnectionKey::Keychain {
                let moved = previous.and_then(|previous| key_of(&*this.secrets, previous));
                let given = request
                    .secret
                    .as_deref()
                    .map(str::trim)
                    .filter(|secret| !secret.is_empty());
                if let Some(secret) = given.or(moved.as_deref()) {
                    superstep_nodes::secrets::note(secret);
                    let kept = this.secrets.set(&account(&request.name), secret);
                    kept.map_err(|cause| keychain("kept", &cause))?;
                } else if key_of(&*this.secrets, &request.name).is_none() {
                    return Err(Problem::invalid("There is no key to put into the keychain.")
                        .remedy("Give the key, or name an environment variable."));
                }
            }
            this.change_connections(|all| {
                if let Some(entry) = previous.and_then(|previous| all.shift_remove(previous)) {
                    all.insert(request.name.clone(), entry);
                }
                put(all, &request.name, &connection(&request));
            })?;
            for name in previous
                .into_iter()
                .chain((request.key != ConnectionKey::Keychain).then_some(&*request.name))
            {
                if known.get(name).is_some_and(|known| known.keychain) {
                    this.secrets
                        .remove(&account(name))
                        .map_err(|cause| keychain("removed", &cause))?;
                }
            }
            this.connection_list()
        })
        .await?
    }

    pub(crate) async fn connections_remove(
        self: &Arc<Self>,
        request: RemoveConnection,
    ) -> Result<ConnectionList, Problem> {
        let this = self.clone();
        blocking(move || {
            let known = this.models().connections.get(&request.name).cloned();
            this.change_connections(|all| drop(all.shift_remove(&request.name)))?;
            if known.is_some_and(|known| known.keychain) {
                let removed = this.secrets.remove(&account(&request.name));
                removed.map_err(|cause| keychain("removed", &cause))?;
            }
            this.connection_list()
        })
        .await?
    }

    /// Asks the server of a connection, saved or not, which models it has.
    pub(crate) async fn connections_test(
        self: &Arc<Self>,
        request: SaveConnection,
    ) -> Result<ConnectionTested, Problem> {
        checked(&request)?;
        let this = self.clone();
        let stored = request.previous.clone().unwrap_or_else(|| request.name.clone());
        let given = request.secret.clone().filter(|secret| !secret.trim().is_empty());
        let secret = match (given, request.key == ConnectionKey::Keychain) {
            (Some(secret), _) => Some(secret.trim().to_owned()),
            (None, true) => blocking(move || key_of(&*this.secrets, &stored)).await?,
            (None, false) => None,
        };
        let mut settings = ModelSettings::default();
        settings
            .connections
            .insert(request.name.clone(), connection(&request));
        // The person asks, and no graph.
        let grants = Grants::these([Access::Connection(request.name.clone())]);
        let providers = Providers::new(Arc::new(|name| std::env::var(name).ok()), Arc::new(settings))
            .with_keychain(Arc::new(move |_| secret.clone()))
            .with_grants(grants);
        let failed = |message: String| ConnectionTested {
            works: false,
            message,
            models: Vec::new(),
        };
        Ok(
            match tokio::time::timeout(TEST, providers.models_of(&request.name)).await {
                Err(_) => failed(format!("There was no answer within {} s.", TEST.as_secs())),
                Ok(Err(error)) => failed(error.to_string()),
                Ok(Ok(None)) => failed(format!(
                    "`{}` has no list of models to ask for. Run a graph to see whether it answers.",
                    request.provider
                )),
                Ok(Ok(Some(models))) => ConnectionTested {
                    works: true,
                    message: match models.len() {
                        0 => "The server answered; it offers no models.".to_owned(),
                        1 => "The server answered; it offers one model.".to_owned(),
                        count => format!("The server answered; it offers {count} models."),
                    },
                    models: models
                        .into_iter()
                        .take(SHOWN)
                        .map(|model| format!("{}::{model}", request.name))
                        .collect(),
                },
            },
        )
    }
}
