//! `.mcp.json` as an editor shows and changes it. What another client wrote beside what is changed stays as it is.

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use super::config::{self, ServerConfig};
use crate::base::{files, references};
use crate::project::Environment;

/// A server of a project, as its file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredServer {
    /// Its name.
    pub name: String,
    /// How it is reached, or what is wrong with the entry.
    pub how: Result<ServerAddress, String>,
    /// Variables of the environment that a program is given, or headers that are sent to an address.
    pub variables: Vec<DeclaredVariable>,
}

/// A variable of a program's environment, or a header of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredVariable {
    /// Its name.
    pub name: String,
    /// Its text, when it names a secret. What is written out may be a key, and is shown to nobody: without a text, what the
    /// file has stays.
    pub value: Option<String>,
}

/// Way to reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// A program that is started.
    Program {
        /// Its name or path.
        command: String,
        /// What it is given.
        args: Vec<String>,
    },
    /// A server at an address.
    Address {
        /// The address.
        url: String,
    },
}

/// Reads the file of a project, and the servers that it declares, in its order.
pub fn declared_servers(environment: &Environment) -> Result<(PathBuf, Vec<DeclaredServer>), String> {
    let (_, path) = config::file(environment).map_err(|error| error.to_string())?;
    if !path.exists() {
        return Ok((path, Vec::new()));
    }
    let text = files::read_text(&path, config::MAX_FILE).map_err(|error| error.to_string())?;
    let whole: Json =
        serde_json::from_str(&text).map_err(|error| format!("{} is no JSON: {error}", path.display()))?;
    let servers = whole[config::SERVERS].as_object().into_iter().flatten();
    let found = servers.map(|(name, entry)| DeclaredServer {
        name: name.clone(),
        variables: config::entry_of(name, entry).map_or_else(|_| Vec::new(), |declared| shown(&declared)),
        how: config::entry_of(name, entry).map(|declared| match declared {
            ServerConfig::Program { command, args, .. } => ServerAddress::Program { command, args },
            ServerConfig::Address { url, .. } => ServerAddress::Address { url },
        }),
    });
    Ok((path, found.collect()))
}

fn shown(declared: &ServerConfig) -> Vec<DeclaredVariable> {
    let (ServerConfig::Program { env: all, .. } | ServerConfig::Address { headers: all, .. }) = declared;
    let variable = |(name, value): (&String, &String)| DeclaredVariable {
        name: name.clone(),
        value: Some(value.clone()).filter(|value| references::names(value).next().is_some()),
    };
    all.iter().map(variable).collect()
}

/// Returns the entry's variables or headers as they are to be written.
fn with_variables(
    before: Option<&Json>,
    variables: &[DeclaredVariable],
) -> Result<Map<String, Json>, String> {
    let mut all = Map::new();
    for variable in variables {
        let name = variable.name.trim();
        if name.is_empty() || name.chars().any(|c| c.is_control() || c == '=') {
            return Err(format!("{name:?} cannot be the name of a variable or header."));
        }
        let kept = || before.and_then(|before| before.get(name)).cloned();
        let value = variable.value.clone().map(Json::from).or_else(kept);
        all.insert(name.to_owned(), value.unwrap_or_else(|| json!("")));
    }
    Ok(all)
}

/// Returns the file with a server declared in it, ready to be written. Without `variables`, an existing server keeps its
/// variables and headers; with them it has these.
pub fn with_server(
    environment: &Environment,
    name: &str,
    how: &ServerAddress,
    variables: Option<&[DeclaredVariable]>,
) -> Result<(PathBuf, String), String> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err("A server needs a name.".to_owned());
    }
    let (root, path) = config::file(environment).map_err(|error| error.to_string())?;
    let mut whole = json!({});
    if path.exists() {
        // A link that somebody put there must not have another file written over.
        let real = path
            .canonicalize()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let root = root
            .canonicalize()
            .map_err(|error| format!("{}: {error}", root.display()))?;
        if !real.starts_with(&root) {
            return Err(format!(
                "{} is a link that leads out of the project.",
                path.display()
            ));
        }
        let text = files::read_text(&path, config::MAX_FILE).map_err(|error| error.to_string())?;
        whole = serde_json::from_str(&text)
            .map_err(|error| format!("{} is no JSON: {error}. Correct it first.", path.display()))?;
    }
    let entries = whole
        .as_object_mut()
        .map(|whole| whole.entry(config::SERVERS).or_insert_with(|| json!({})));
    let Some(Json::Object(entries)) = entries else {
        return Err(format!(
            "{} declares no servers by name. Correct it first.",
            path.display()
        ));
    };
    let entry = entries.entry(name.to_owned()).or_insert_with(|| json!({}));
    if !entry.is_object() {
        *entry = json!({});
    }
    let fields: &[&str] = &["type", "command", "args", "url"];
    if let Json::Object(entry) = entry {
        for field in fields {
            entry.shift_remove(*field);
        }
        match how {
            ServerAddress::Program { command, args } => {
                entry.insert("command".to_owned(), json!(command));
                entry.insert("args".to_owned(), json!(args));
            }
            ServerAddress::Address { url } => {
                entry.insert("type".to_owned(), json!("http"));
                entry.insert("url".to_owned(), json!(url));
            }
        }
        if let Some(variables) = variables {
            let (own, other) = match how {
                ServerAddress::Program { .. } => ("env", "headers"),
                ServerAddress::Address { .. } => ("headers", "env"),
            };
            let all = with_variables(entry.get(own), variables)?;
            entry.shift_remove(other);
            match all.is_empty() {
                true => drop(entry.shift_remove(own)),
                false => drop(entry.insert(own.to_owned(), Json::Object(all))),
            }
        }
        config::entry_of(name, &Json::Object(entry.clone()))?;
    }
    let text = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
    Ok((path, text + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(file: Option<&str>) -> (tempfile::TempDir, Environment) {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = file {
            std::fs::write(folder.path().join(".mcp.json"), text).unwrap();
        }
        let environment = Environment::new(Some(folder.path().to_owned()));
        (folder, environment)
    }

    #[test]
    fn what_another_client_wrote_stays() {
        let (_folder, environment) = project(Some(
            r#"{"inputs": [1], "mcpServers": {"old": {"command": "npx", "env": {"A": "1"}}, "bad": {"type": "sse", "url": "x"}}}"#,
        ));
        let (_, servers) = declared_servers(&environment).unwrap();
        assert_eq!(
            servers.iter().map(|server| &*server.name).collect::<Vec<_>>(),
            ["old", "bad"]
        );
        assert!(
            servers[1].how.is_err(),
            "its entry cannot be used, and it is listed"
        );
        let how = ServerAddress::Program {
            command: "uvx".to_owned(),
            args: vec!["tool".to_owned()],
        };
        let (path, text) = with_server(&environment, "old", &how, None).unwrap();
        std::fs::write(path, &text).unwrap();
        let whole: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(whole["inputs"], json!([1]));
        assert_eq!(
            whole["mcpServers"]["old"],
            json!({"env": {"A": "1"}, "command": "uvx", "args": ["tool"]})
        );
        assert_eq!(declared_servers(&environment).unwrap().1[0].how, Ok(how));
    }

    #[test]
    fn variables_name_secrets_and_what_is_written_out_stays_and_is_not_shown() {
        let (_folder, environment) = project(Some(
            r#"{"mcpServers": {"old": {"command": "npx", "env": {"TOKEN": "written-out", "KEY": "a ${MY_KEY}", "GONE": "1"}}}}"#,
        ));
        let variable = |name: &str, value: Option<&str>| DeclaredVariable {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        let (_, servers) = declared_servers(&environment).unwrap();
        let found = [
            variable("GONE", None),
            variable("KEY", Some("a ${MY_KEY}")),
            variable("TOKEN", None),
        ];
        assert_eq!(servers[0].variables, found);
        let how = ServerAddress::Program {
            command: "npx".to_owned(),
            args: Vec::new(),
        };
        let entry = |how: &ServerAddress, variables: &[DeclaredVariable]| {
            let (_, text) = with_server(&environment, "old", how, Some(variables))?;
            let whole: Json = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            Ok::<_, String>(whole["mcpServers"]["old"].clone())
        };
        let changed = [variable("TOKEN", None), variable("NEW", Some("${OTHER}"))];
        assert_eq!(
            entry(&how, &changed).unwrap()["env"],
            json!({"TOKEN": "written-out", "NEW": "${OTHER}"})
        );
        assert!(entry(&how, &[]).unwrap().get("env").is_none());
        let address = ServerAddress::Address {
            url: "https://example.org/mcp".to_owned(),
        };
        let header = [variable("Authorization", Some("Bearer ${KEY}"))];
        assert_eq!(
            entry(&address, &header).unwrap(),
            json!({"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}})
        );
        assert!(entry(&how, &[variable("A=B", Some("x"))]).is_err());
    }

    #[test]
    fn a_project_without_a_file_gets_one_and_a_broken_file_stays_as_it_is() {
        let (_folder, environment) = project(None);
        assert_eq!(declared_servers(&environment).unwrap().1, []);
        let address = ServerAddress::Address {
            url: "https://example.org/mcp".to_owned(),
        };
        let (_, text) = with_server(&environment, "web", &address, None).unwrap();
        assert!(text.contains(r#""type": "http""#), "{text}");
        assert!(with_server(&environment, " ", &address, None).is_err());
        let (_folder, broken) = project(Some("{ not json"));
        assert!(with_server(&broken, "web", &address, None).is_err());
        assert!(declared_servers(&broken).is_err());
        assert!(
            with_server(&Environment::new(None), "web", &address, None).is_err(),
            "a draft has no project"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_written_through() {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("other.json");
        std::fs::write(&target, "{}").unwrap();
        let (folder, environment) = project(None);
        std::os::unix::fs::symlink(&target, folder.path().join(".mcp.json")).unwrap();
        let address = ServerAddress::Address {
            url: "https://example.org/mcp".to_owned(),
        };
        let error = with_server(&environment, "web", &address, None).unwrap_err();
        assert!(error.contains("out of the project"), "{error}");
    }
}
