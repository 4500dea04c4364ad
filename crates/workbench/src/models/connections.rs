//! Connections to model servers, as Settings show and change them. They stand in `models.json`; their keys do not: those
//! are in the system's keychain or in environment variables.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use superstep_nodes::models::{Connection, Providers, key_variable, provider_names};
use superstep_nodes::{Access, Grants, ModelSettings};

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::models::secrets::Secrets;
use crate::wire::{
    ConnectionKey, ConnectionList, ConnectionTested, ConnectionView, Empty, Problem, ProviderView,
    RemoveConnection, SaveConnection,
};
use superstep_document::{Text, text};

/// Longest wait for a server that is tested.
const TEST: Duration = Duration::from_secs(20);
/// Models that a test names.
const MAX_SHOWN: usize = 200;

fn account(connection: &str) -> String {
    format!("model-connection:{connection}")
}

/// Reads the key of a connection from the keychain.
pub fn key_of(secrets: &dyn Secrets, connection: &str) -> Option<String> {
    secrets.get(&account(connection)).unwrap_or_else(|cause| {
        tracing::warn!(connection, "its key was not read: {cause}");
        None
    })
}

fn keychain(message: Text) -> Problem {
    Problem::new("keychain", message).remedy(text!(
        "Keep the key in an environment variable instead, and name the variable here."
    ))
}

/// Refuses what cannot be a connection.
fn checked(request: &SaveConnection) -> Result<(), Problem> {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if request.name.is_empty() || request.name.len() > 64 || !request.name.chars().all(letter) {
        return Err(Problem::invalid(text!(
            "{name} cannot be the name of a connection.",
            name = format!("{:?}", request.name)
        ))
        .remedy(text!("Take up to 64 letters, digits, `-`, `_` and `.`.")));
    }
    if request.name == "scripted" {
        return Err(
            Problem::invalid(text!("`scripted` is the model that comes with Superstep."))
                .remedy(text!("Take another name.")),
        );
    }
    if let ConnectionKey::Variable { name } = &request.key
        && (name.trim().is_empty() || name.contains(['=', ' ', '\0']))
    {
        return Err(Problem::invalid(text!(
            "{name} cannot be the name of a variable.",
            name = format!("{name:?}")
        ))
        .remedy(text!("Write one such as OPENAI_API_KEY.")));
    }
    let text = connection(request).check(&request.name);
    text.map_err(|cause| {
        Problem::invalid(text!("This is no connection: {cause}.", cause)).remedy(text!("Correct it."))
    })
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

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl Workbench {
    fn models_file(&self) -> std::path::PathBuf {
        self.instance.data_dir().join(ModelSettings::FILE)
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
                (_, true) => (
                    ConnectionKey::Keychain,
                    key_of(&**self.keys.named.keychain(), name).is_some(),
                ),
                (Some(variable), _) => (
                    ConnectionKey::Variable {
                        name: variable.clone(),
                    },
                    self.keys.named.variable(variable).is_some(),
                ),
                (None, _) => (
                    ConnectionKey::Usual,
                    connection.base_url.is_none()
                        && key_variable(&connection.provider)
                            .is_some_and(|name| self.keys.named.variable(&name).is_some()),
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
            keychain_problem: self.keys.named.keychain().problem(),
            file: self.models_file().to_string_lossy().into_owned(),
        })
    }

    /// Changes the connections in the file; what else is in it stays.
    fn change_connections(&self, change: impl FnOnce(&mut Map<String, Json>)) -> Result<(), Problem> {
        self.change_models("connections", change)
    }

    /// Changes a part of the file of model settings; what else is in it stays.
    pub(crate) fn change_models(
        &self,
        part: &str,
        change: impl FnOnce(&mut Map<String, Json>),
    ) -> Result<(), Problem> {
        let file = self.models_file();
        let _writing = self.preferences.writing.lock();
        if let Some(problem) = self.models().problem {
            return Err(Problem::new(
                "file-error",
                format!("Nothing was changed: {problem}"),
            ));
        }
        let text = match superstep_nodes::files::read_own(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => "{}".to_owned(),
            Err(error) => return Err(Problem::file(text!("read"), &file, &error)),
        };
        let mut whole: Json = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        let broken = || {
            Problem::new(
                "file-error",
                text!(
                    "{path} is no object with `{part}`.",
                    path = file.display().to_string(),
                    part
                ),
            )
        };
        let all = whole
            .as_object_mut()
            .ok_or_else(broken)?
            .entry(part)
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .ok_or_else(broken)?;
        change(all);
        let text = files::json_bytes(&whole)?;
        files::write_atomic(&file, &text).map_err(|e| Problem::file(text!("write"), &file, &e))?;
        Ok(())
    }

    pub(crate) async fn connections_list(self: &Arc<Self>, _: Empty) -> Result<ConnectionList, Problem> {
        let this = self.clone();
        blocking(move || this.connection_list()).await?
    }

    pub(crate) async fn save_connection(
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
                    text!("There is a connection `{name}` already.", name = &request.name),
                )
                .remedy(text!("Take another name.")));
            }
            // The key goes first: a connection without its key is worse than a key without its connection.
            if request.key == ConnectionKey::Keychain {
                let moved = previous.and_then(|previous| key_of(&**this.keys.named.keychain(), previous));
                let given = request
                    .secret
                    .as_deref()
                    .map(str::trim)
                    .filter(|secret| !secret.is_empty());
                if let Some(secret) = given.or(moved.as_deref()) {
                    superstep_nodes::secrets::note(secret);
                    let kept = this.keys.named.keychain().set(&account(&request.name), secret);
                    kept.map_err(|cause| keychain(text!("The key was not kept: {cause}.", cause)))?;
                } else if key_of(&**this.keys.named.keychain(), &request.name).is_none() {
                    return Err(
                        Problem::invalid(text!("There is no key to put into the keychain."))
                            .remedy(text!("Give the key, or name an environment variable.")),
                    );
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
                    this.keys
                        .named
                        .keychain()
                        .remove(&account(name))
                        .map_err(|cause| keychain(text!("The key was not removed: {cause}.", cause)))?;
                }
            }
            this.connection_list()
        })
        .await?
    }

    pub(crate) async fn remove_connection(
        self: &Arc<Self>,
        request: RemoveConnection,
    ) -> Result<ConnectionList, Problem> {
        let this = self.clone();
        blocking(move || {
            let known = this.models().connections.get(&request.name).cloned();
            this.change_connections(|all| drop(all.shift_remove(&request.name)))?;
            if known.is_some_and(|known| known.keychain) {
                let removed = this.keys.named.keychain().remove(&account(&request.name));
                removed.map_err(|cause| keychain(text!("The key was not removed: {cause}.", cause)))?;
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
            (None, true) => blocking(move || key_of(&**this.keys.named.keychain(), &stored)).await?,
            (None, false) => None,
        };
        let mut settings = ModelSettings::default();
        settings
            .connections
            .insert(request.name.clone(), connection(&request));
        // The person asks, and no graph.
        let grants = Grants::these([Access::Connection(request.name.clone())]);
        let named = self.keys.named.clone();
        let providers = Providers::new(Arc::new(move |name| named.variable(name)), Arc::new(settings))
            .with_keychain(Arc::new(move |_| secret.clone()))
            .with_grants(grants);
        let failed = |message: String| ConnectionTested {
            works: false,
            message: capital(&message),
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
                        .take(MAX_SHOWN)
                        .map(|model| format!("{}::{model}", request.name))
                        .collect(),
                },
            },
        )
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a test tells one story")]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Mutex;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::Options;

    const KEY: &str = "sk-marked-91b2c3";

    #[derive(Debug, Default)]
    struct Memory(Mutex<BTreeMap<String, String>>);

    impl Secrets for Memory {
        fn problem(&self) -> Option<String> {
            None
        }
        fn get(&self, name: &str) -> Result<Option<String>, String> {
            Ok(self.0.lock().unwrap().get(name).cloned())
        }
        fn set(&self, name: &str, secret: &str) -> Result<(), String> {
            self.0.lock().unwrap().insert(name.into(), secret.into());
            Ok(())
        }
        fn remove(&self, name: &str) -> Result<(), String> {
            self.0.lock().unwrap().remove(name);
            Ok(())
        }
    }

    /// Starts a server that lists models for the holder of the key; its answer to any other key repeats that key.
    async fn server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut bytes = [0; 8192];
                let read = socket.read(&mut bytes).await.unwrap();
                let request = String::from_utf8_lossy(&bytes[..read]).into_owned();
                let (status, body) = match request.contains(&format!("Bearer {KEY}\r\n")) {
                    true => ("200 OK", json!({"data": [{"id": "small"}, {"id": "large"}]})),
                    false => (
                        "401 No",
                        json!({"error": {"message": format!("unknown key in {request}")}}),
                    ),
                };
                let body = body.to_string();
                let answer = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        url
    }

    fn no_file_holds(folder: &Path, text: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => no_file_holds(&path, text),
                // A socket holds nothing.
                false if !path.is_file() => {}
                false => {
                    let bytes = std::fs::read(&path).unwrap();
                    assert!(
                        !String::from_utf8_lossy(&bytes).contains(text),
                        "{}",
                        path.display()
                    );
                }
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn connections_are_kept_in_the_file_and_their_keys_in_the_keychain() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(ModelSettings::FILE);
        std::fs::write(
            &file,
            r#"{"private_hosts": ["127.0.0.1:1"], "prices": {"a::b": {"input": 1.0, "output": 2.0}}}"#,
        )
        .unwrap();
        let secrets = Arc::new(Memory::default());
        let workbench = Workbench::open(Options::new(dir.path().to_owned()).secrets(secrets.clone()))
            .await
            .unwrap();
        let url = server().await;
        let call = async |command: &str, request: Json| workbench.call(command, request).await;
        let office = |name: &str, secret: Json| {
            let mut request =
                json!({"name": name, "provider": "openai", "baseUrl": url, "key": {"type": "keychain"}});
            if !secret.is_null() {
                request["secret"] = secret;
            }
            request
        };

        // Tried before it is saved: with the wrong key, then with the right one.
        let tested = call("connections.test", office("office", json!("sk-wrong-7777")))
            .await
            .unwrap();
        let message = tested["message"].as_str().unwrap();
        assert!(
            tested["works"] == false && message.contains("Settings") && !message.contains("sk-wrong-7777"),
            "{message}"
        );
        let tested = call("connections.test", office("office", json!(KEY)))
            .await
            .unwrap();
        assert_eq!(
            tested["models"],
            json!(["office::small", "office::large"]),
            "{tested}"
        );
        let refused = call("connections.save", office("office", Json::Null))
            .await
            .unwrap_err();
        assert!(refused.message.contains("no key"), "{}", refused.message);

        let saved = call("connections.save", office("office", json!(KEY)))
            .await
            .unwrap();
        assert_eq!(saved["connections"][0]["hasKey"], true);
        let refused = call("connections.save", office("office", json!(KEY)))
            .await
            .unwrap_err();
        assert_eq!(refused.code, "conflict");
        // The key that is there serves a later test, and moves with the name.
        let mut renamed = office("home", Json::Null);
        renamed["previous"] = json!("office");
        assert_eq!(
            call("connections.test", renamed.clone()).await.unwrap()["works"],
            true
        );
        call("connections.save", renamed).await.unwrap();
        let names: Vec<String> = secrets.0.lock().unwrap().keys().cloned().collect();
        assert_eq!(names, ["model-connection:home"]);
        assert_eq!(key_of(&*secrets, "home").as_deref(), Some(KEY));

        let written: Json = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(
            written,
            json!({"private_hosts": ["127.0.0.1:1"], "prices": {"a::b": {"input": 1.0, "output": 2.0}},
                "connections": {"home": {"provider": "openai", "base_url": url, "keychain": true}}}),
            "what else is in the file stays"
        );
        assert_eq!(workbench.models().problem, None);
        for (wrong, part) in [
            (
                json!({"name": "a::b", "provider": "openai", "key": {"type": "usual"}}),
                "name",
            ),
            (
                json!({"name": "a", "provider": "opnai", "key": {"type": "usual"}}),
                "openai",
            ),
            (
                json!({"name": "a", "provider": "openai", "baseUrl": "ftp://x", "key": {"type": "usual"}}),
                "http",
            ),
            (
                json!({"name": "a", "provider": "openai", "key": {"type": "variable", "name": " "}}),
                "variable",
            ),
        ] {
            let problem = call("connections.save", wrong).await.unwrap_err();
            assert!(problem.message.contains(part), "{}", problem.message);
        }
        let left = call("connections.remove", json!({"name": "home"})).await.unwrap();
        assert_eq!(left["connections"], json!([]));
        assert!(secrets.0.lock().unwrap().is_empty());
        no_file_holds(dir.path(), KEY);

        std::fs::write(&file, "{\"connections\": ").unwrap();
        let problem = call("connections.save", office("office", json!(KEY)))
            .await
            .unwrap_err();
        assert!(problem.message.contains("cannot be read"), "{}", problem.message);
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "{\"connections\": ",
            "it is not written over"
        );
    }
}
