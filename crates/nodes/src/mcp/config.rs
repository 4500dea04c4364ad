//! `.mcp.json`: which MCP servers a project has, in the form that other MCP clients read too.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::error::McpError;
use crate::base::access::Access;
use crate::base::files;
use crate::base::references::{TextPiece, names, pieces, several_lines};
use crate::base::text::origin;
use crate::models::Variables;
use crate::project::Environment;
use superstep_document::suggest;

/// The file, in the project's folder.
const FILE: &str = ".mcp.json";
/// Largest file that is read.
pub(super) const MAX_FILE: u64 = 1024 * 1024;

/// Way to reach a server, as declared in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerConfig {
    /// A program that is started, and spoken to through its standard input and output.
    Program {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<String>,
    },
    /// A server at an address, by streamable HTTP.
    Address {
        url: String,
        headers: BTreeMap<String, String>,
        oauth: OAuthConfig,
    },
}

/// Data by which the authorization server of an address knows this program; nothing of it is needed where a server lets
/// programs register themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OAuthConfig {
    /// Name under which the program was registered.
    pub(super) client_id: Option<String>,
    pub(super) client_secret: Option<String>,
    /// Port of the address that the browser is sent back to; any, without it.
    pub(super) callback_port: Option<u16>,
    /// What is asked for, separated by spaces, in place of what the server names.
    pub(super) scopes: Option<String>,
}

/// The same with variables filled in.
pub(crate) type FilledServerConfig = ServerConfig;

/// Where the file has the servers.
pub(super) const SERVERS: &str = "mcpServers";

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct ServerEntry {
    #[serde(rename = "type")]
    ty: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    oauth: Option<OAuthConfig>,
}

/// Returns a project's folder and the file that declares its servers.
pub(super) fn file(environment: &Environment) -> Result<(PathBuf, PathBuf), McpError> {
    let root = environment.root().ok_or(McpError::NoProject)?;
    Ok((root.to_owned(), root.join(FILE)))
}

fn read(path: &Path) -> Result<BTreeMap<String, serde_json::Value>, String> {
    let text = files::read_text(path, MAX_FILE).map_err(|e| e.to_string())?;
    let file: File = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok(file.servers)
}

/// Returns the server with this name, as declared in the file.
pub(crate) fn declared(environment: &Environment, name: &str) -> Result<(PathBuf, ServerConfig), McpError> {
    let (root, path) = file(environment)?;
    if !path.is_file() {
        return Err(McpError::NoFile {
            server: name.to_owned(),
            path,
        });
    }
    let broken = |cause: String| McpError::Broken {
        path: path.clone(),
        cause,
    };
    let servers = read(&path).map_err(broken)?;
    let Some(entry) = servers.get(name) else {
        let names = || servers.keys().map(String::as_str);
        return Err(McpError::Unknown {
            server: name.to_owned(),
            near: suggest::nearest(name, names()).map(str::to_owned),
            known: suggest::listing(names()),
            path,
        });
    };
    let declared = entry_of(name, entry).map_err(broken)?;
    Ok((root, declared))
}

pub(super) fn entry_of(name: &str, entry: &serde_json::Value) -> Result<ServerConfig, String> {
    let entry: ServerEntry =
        serde_json::from_value(entry.clone()).map_err(|e| format!("the server `{name}`: {e}"))?;
    let http = match entry.ty.as_deref() {
        None => entry.command.is_none() && entry.url.is_some(),
        Some("stdio") => false,
        Some("http" | "streamable-http" | "streamableHttp") => true,
        Some("sse") => {
            return Err(format!(
                "the server `{name}` is of type sse, which MCP has replaced by `\"type\": \"http\"`; most servers answer at another address for it, such as /mcp"
            ));
        }
        Some(other) => {
            return Err(format!(
                "the server `{name}` is of the unknown type {other:?}; types are stdio and http"
            ));
        }
    };
    match (http, entry.command, entry.url) {
        (true, _, Some(url)) => Ok(ServerConfig::Address {
            url,
            headers: entry.headers,
            oauth: entry.oauth.unwrap_or_default(),
        }),
        (false, Some(command), _) if !command.trim().is_empty() => Ok(ServerConfig::Program {
            command,
            args: entry.args,
            env: entry.env,
            cwd: entry.cwd,
        }),
        (true, ..) => Err(format!("the server `{name}` has no `url`")),
        (false, ..) => Err(format!("the server `{name}` has no `command`, and no `url`")),
    }
}

impl ServerConfig {
    fn texts(&self) -> Vec<&str> {
        match self {
            ServerConfig::Program {
                command,
                args,
                env,
                cwd,
            } => [command]
                .into_iter()
                .chain(args)
                .chain(env.values())
                .chain(cwd)
                .map(String::as_str)
                .collect(),
            ServerConfig::Address { url, headers, .. } => [url]
                .into_iter()
                .chain(headers.values())
                .map(String::as_str)
                .collect(),
        }
    }

    /// Returns what the server touches, so that a person can allow it. A program counts with its arguments and
    /// variables: allowing one `npx` does not allow all of them.
    pub(crate) fn accesses(&self, name: &str, environment: &Environment) -> Vec<Access> {
        let mut accesses = vec![Access::Mcp(name.to_owned())];
        let shown = &environment.shown_variables;
        let texts = self.texts();
        let variables = texts.iter().flat_map(|text| names(text));
        match self {
            ServerConfig::Program {
                command,
                args,
                env,
                cwd,
            } => {
                accesses.extend(variables.map(|name| Access::Variable(name.to_owned())));
                // Where it runs is a path, so it is filled in before it is looked at, and shown as it is.
                let cwd = (cwd.as_ref()).map(|cwd| filled(name, cwd, shown).unwrap_or_else(|_| cwd.clone()));
                if let Some(cwd) = &cwd
                    && let Some(root) = environment.root()
                    && let Some(outside) = outside(root, cwd)
                {
                    accesses.push(Access::Folder(outside));
                }
                accesses.push(Access::Program(command_line(cwd.as_deref(), env, command, args)));
            }
            ServerConfig::Address { url, .. } => {
                // A secret is no part of what is shown: where it would choose the host, that may be any.
                let filled = as_shown(url, shown);
                let server = match reqwest::Url::parse(&filled) {
                    Ok(url) if url.has_host() && names(origin(&filled)).next().is_none() => {
                        Access::of_url(&url)
                    }
                    _ => Access::Host("*".into()),
                };
                accesses.extend(variables.map(|name| Access::key_to(name, &server)));
                accesses.push(server);
            }
        }
        accesses
    }

    /// Returns how to launch the server, with its variables filled in.
    pub(crate) fn launch(
        &self,
        name: &str,
        environment: &Environment,
    ) -> Result<FilledServerConfig, McpError> {
        let fill = |text: &String| filled(name, text, &environment.variables);
        let one_line = |header: &String, text: &String| {
            let variables = &environment.variables;
            match names(text).find(|name| variables(name).is_some_and(|value| several_lines(&value))) {
                Some(variable) => Err(McpError::SecretLines {
                    server: name.to_owned(),
                    variable: variable.to_owned(),
                    header: header.clone(),
                }),
                None => Ok(()),
            }
        };
        let all = |map: &BTreeMap<String, String>| {
            map.iter()
                .map(|(key, value)| Ok((key.clone(), fill(value)?)))
                .collect::<Result<BTreeMap<_, _>, McpError>>()
        };
        Ok(match self {
            ServerConfig::Program {
                command,
                args,
                env,
                cwd,
            } => ServerConfig::Program {
                command: fill(command)?,
                args: args.iter().map(fill).collect::<Result<_, _>>()?,
                env: all(env)?,
                cwd: cwd.as_ref().map(fill).transpose()?,
            },
            ServerConfig::Address { url, headers, oauth } => {
                for (header, text) in headers {
                    one_line(header, text)?;
                }
                ServerConfig::Address {
                    url: fill(url)?,
                    headers: all(headers)?,
                    oauth: OAuthConfig {
                        client_id: oauth.client_id.as_ref().map(fill).transpose()?,
                        client_secret: oauth.client_secret.as_ref().map(fill).transpose()?,
                        ..oauth.clone()
                    },
                }
            }
        })
    }
}

/// Formats a program as a grant names it: a shell command line, each word quoted where necessary. No two programs that
/// differ in a word, in their folder or in their variables have the same line.
fn command_line(cwd: Option<&str>, env: &BTreeMap<String, String>, command: &str, args: &[String]) -> String {
    let mut line = cwd.map_or_else(String::new, |cwd| format!("cd {} && ", quoted(cwd, WORD)));
    for (name, value) in env {
        line.push_str(&format!(
            "{}={} ",
            quoted(name, WORD),
            quoted(&hidden(value), ARGUMENT)
        ));
    }
    line.push_str(&quoted(command, WORD));
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg, ARGUMENT));
    }
    line
}

/// Marks that need no quotes in any word of a command line.
const WORD: &str = "_-+./:@%,#${}";
/// Marks that need no quotes after the command, where `=` makes no assignment.
const ARGUMENT: &str = "_-+./:@%,#${}=";

/// Quotes a word for a shell if it holds more than letters, digits and these marks.
fn quoted(word: &str, marks: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Formats a value of the environment as a grant names it. A variable is named, and is asked for separately; anything
/// else may be a key, which no list of grants may contain, so it is identified by its hash.
fn hidden(value: &str) -> String {
    match pieces(value).as_slice() {
        [
            TextPiece::Text(""),
            TextPiece::Variable { .. },
            TextPiece::Text(""),
        ]
        | [TextPiece::Text("")] => value.to_owned(),
        _ => {
            let hash = Sha256::digest(value.as_bytes());
            // Who writes the file may look for two values of one hash: half of its bits are out of reach for that.
            let shown: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            format!("#{shown}")
        }
    }
}

/// Returns a text with the variables that people may see; others stay as they are written.
fn as_shown(text: &str, variables: &Variables) -> String {
    let mut shown = String::new();
    for piece in pieces(text) {
        match piece {
            TextPiece::Text(text) => shown.push_str(text),
            TextPiece::Variable { name, default } => match (variables(name), default) {
                (Some(value), _) if !value.is_empty() => shown.push_str(&value),
                (_, Some(default)) => shown.push_str(default),
                (Some(_), None) => {}
                (None, None) => shown.push_str(&format!("${{{name}}}")),
            },
        }
    }
    shown
}

fn filled(server: &str, text: &str, variables: &Variables) -> Result<String, McpError> {
    let mut filled = String::new();
    for piece in pieces(text) {
        match piece {
            TextPiece::Text(text) => filled.push_str(text),
            TextPiece::Variable { name, default } => match (variables(name), default) {
                (Some(value), _) if !value.is_empty() => filled.push_str(&value),
                (_, Some(default)) => filled.push_str(default),
                (Some(_), None) => {}
                (None, None) => {
                    return Err(McpError::NoVariable {
                        server: server.to_owned(),
                        variable: name.to_owned(),
                    });
                }
            },
        }
    }
    Ok(filled)
}

/// Returns the folder if it is not inside the project.
fn outside(root: &Path, folder: &str) -> Option<String> {
    let root = real(root);
    let wanted = real(&root.join(folder));
    (!wanted.starts_with(root)).then(|| wanted.display().to_string())
}

/// Resolves the links of a path as far as it exists, and `..` behind that.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::ParentDir)) => {
            let mut parent = real(parent);
            parent.pop();
            parent
        }
        (Some(parent), Some(Component::Normal(name))) => real(parent).join(name),
        (Some(parent), _) => real(parent),
        (None, _) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> (tempfile::TempDir, Environment) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let environment = Environment::new(Some(folder.path().to_owned()))
            .with_variables(|name| (name == "KEY").then(|| "k-1".to_owned()));
        (folder, environment)
    }

    #[test]
    fn servers_are_read_as_other_clients_write_them() {
        let (_folder, environment) = project(
            r#"{"mcpServers": {
                "files": {"command": "npx", "args": ["-y", "pkg", "${HOME_DIR:-/data}"], "env": {"TOKEN": "${KEY}"}, "cwd": "/"},
                "far": {"type": "http", "url": "https://Example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"}},
                "near": {"url": "http://127.0.0.1:99/mcp"},
                "old": {"type": "sse", "url": "https://example.org/sse"},
                "needs": {"command": "run", "args": ["${ABSENT}"]},
                "literal": {"command": "run", "args": ["${not a name}", "$HOME", "${open"]}
            }}"#,
        );
        let (_, files) = declared(&environment, "files").unwrap();
        assert_eq!(
            files.accesses("files", &environment),
            [
                Access::Mcp("files".into()),
                Access::Variable("HOME_DIR".into()),
                Access::Variable("KEY".into()),
                Access::Folder("/".into()),
                Access::Program("cd / && TOKEN=${KEY} npx -y pkg ${HOME_DIR:-/data}".into()),
            ]
        );
        let ServerConfig::Program { args, env, .. } = files.launch("files", &environment).unwrap() else {
            panic!("a program");
        };
        assert_eq!((args[2].as_str(), env["TOKEN"].as_str()), ("/data", "k-1"));
        let (_, far) = declared(&environment, "far").unwrap();
        assert!(
            far.accesses("far", &environment)
                .contains(&Access::Host("example.org".into()))
        );
        assert!(
            far.accesses("far", &environment)
                .contains(&Access::Key("KEY@example.org".into()))
        );
        let ServerConfig::Address { headers, .. } = far.launch("far", &environment).unwrap() else {
            panic!("an address");
        };
        assert_eq!(headers["Authorization"], "Bearer k-1");
        let (_, near) = declared(&environment, "near").unwrap();
        assert!(
            near.accesses("near", &environment)
                .contains(&Access::Host("127.0.0.1:99".into()))
        );
        let (_, literal) = declared(&environment, "literal").unwrap();
        assert_eq!(literal.launch("literal", &environment).unwrap(), literal);
        let text = |name: &str| match declared(&environment, name) {
            Ok((_, server)) => server.launch(name, &environment).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(text("old").contains("type sse"), "{}", text("old"));
        assert!(text("needs").contains("ABSENT"), "{}", text("needs"));
        assert!(text("file").contains("Did you mean `files`?"), "{}", text("file"));
    }

    #[test]
    fn a_header_takes_no_secret_of_several_lines() {
        let (_folder, environment) = project(
            r#"{"mcpServers": {
                "far": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${LINES}"}},
                "run": {"command": "run", "env": {"KEY": "${LINES}"}}
            }}"#,
        );
        let environment = environment.with_secrets(std::sync::Arc::new(|name| {
            (name == "LINES").then(|| "-----BEGIN KEY-----\nlines-4711\n-----END KEY-----\n".to_owned())
        }));
        let (_, far) = declared(&environment, "far").unwrap();
        let error = far.launch("far", &environment).unwrap_err();
        assert!(error.is_settings());
        assert_eq!(
            error.to_string(),
            "the secret LINES has several lines, and the header Authorization of the MCP server `far` takes one. \
             Name a secret of one line in the header, such as a token"
        );
        let (_, run) = declared(&environment, "run").unwrap();
        let ServerConfig::Program { env, .. } = run.launch("run", &environment).unwrap() else {
            panic!("a program");
        };
        assert!(
            env["KEY"].contains("\nlines-4711\n"),
            "a variable takes all lines"
        );
    }

    #[test]
    fn a_secret_is_no_part_of_what_a_person_is_shown() {
        let (_folder, environment) = project(
            r#"{"mcpServers": {
                "far": {"url": "https://${HIDDEN}.example.org/mcp", "headers": {"A": "${HIDDEN}"}},
                "near": {"url": "https://${KEY}.example.org/${HIDDEN}"},
                "run": {"command": "run", "args": ["${HIDDEN}"], "env": {"A": "${HIDDEN}"}, "cwd": "${HIDDEN}"}
            }}"#,
        );
        let environment = environment.with_secrets(std::sync::Arc::new(|name| {
            (name == "HIDDEN").then(|| "hidden-4711".to_owned())
        }));
        let accesses = |name: &str| {
            let (_, server) = declared(&environment, name).unwrap();
            let launch = server.launch(name, &environment).unwrap();
            assert!(format!("{launch:?}").contains("hidden-4711"), "{launch:?}");
            server.accesses(name, &environment)
        };
        let anywhere = [
            Access::Mcp("far".into()),
            Access::Key("HIDDEN@*".into()),
            Access::Key("HIDDEN@*".into()),
            Access::Host("*".into()),
        ];
        assert_eq!(accesses("far"), anywhere);
        // What the environment says is shown, as where a program runs.
        assert!(accesses("near").contains(&Access::Host("k-1.example.org".into())));
        let program = accesses("run");
        assert!(
            program.contains(&Access::Program(
                "cd ${HIDDEN} && A=${HIDDEN} run ${HIDDEN}".into()
            )),
            "{program:?}"
        );
        assert!(!format!("{program:?}").contains("4711"));
    }

    #[test]
    fn another_environment_is_another_program() {
        let program = |env: &str| {
            let (_folder, environment) = project(&format!(
                r#"{{"mcpServers": {{"x": {{"command": "run", "args": ["a"], "env": {env}}}}}}}"#
            ));
            let (_, server) = declared(&environment, "x").unwrap();
            match server.accesses("x", &environment).pop() {
                Some(Access::Program(program)) => program,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(program("{}"), "run a");
        let shown = program(r#"{"NODE_OPTIONS": "--require ./one.js", "B": "${KEY}"}"#);
        assert!(
            shown.starts_with("B=${KEY} NODE_OPTIONS=#") && shown.ends_with(" run a"),
            "{shown}"
        );
        assert!(!shown.contains("one.js"), "a value may be a key: {shown}");
        let hash = shown.split_once('#').unwrap().1.split(' ').next().unwrap();
        assert_eq!(hash.len(), 32, "128 bits keep values apart: {shown}");
        assert_ne!(
            shown,
            program(r#"{"NODE_OPTIONS": "--require ./two.js", "B": "${KEY}"}"#)
        );
        assert_ne!(shown, program(r#"{"NODE_OPTIONS": "--require ./one.js"}"#));
    }

    #[test]
    fn what_differs_is_another_program() {
        let line = |server: serde_json::Value| {
            let file = serde_json::json!({"mcpServers": {"x": server}});
            let (_folder, environment) = project(&file.to_string());
            let (_, server) = declared(&environment, "x").unwrap();
            match server.accesses("x", &environment).pop() {
                Some(Access::Program(program)) => program,
                other => panic!("{other:?}"),
            }
        };
        let server = |command: &str, args: &[&str], env: serde_json::Value, cwd: Option<&str>| {
            line(serde_json::json!({"command": command, "args": args, "env": env, "cwd": cwd}))
        };
        let none = || serde_json::json!({});
        let lines = [
            server("echo", &["-y", "@mcp/server", "notes"], none(), None),
            server("echo -y @mcp/server notes", &[], none(), None),
            server("echo -y @mcp/server", &["notes"], none(), None),
            server("sh", &["-c", "true touch X"], none(), None),
            server("sh", &["-c", "true", "touch", "X"], none(), None),
            server("sh", &["-c", "true", "touch", "X", ""], none(), None),
            server("sh", &["x"], serde_json::json!({"A": "${MY_KEY}"}), None),
            server("A=${MY_KEY}", &["sh", "x"], none(), None),
            server("A=${MY_KEY} sh", &["x"], none(), None),
            server("sh", &["x"], serde_json::json!({"A=${MY_KEY} B": ""}), None),
            server("./s.sh", &[], none(), None),
            server("./s.sh", &[], none(), Some("sub")),
            server("cd", &["sub", "&&", "./s.sh"], none(), None),
            server("'./s.sh'", &[], none(), None),
            server("./s.sh", &["it's"], none(), None),
            server("./s.sh", &["its"], none(), None),
        ];
        let different: std::collections::BTreeSet<&String> = lines.iter().collect();
        assert_eq!(different.len(), lines.len(), "{lines:#?}");
        assert_eq!(lines[11], "cd sub && ./s.sh");
    }

    #[test]
    fn where_a_program_runs_is_looked_at_with_its_variables() {
        let folders = |cwd: &str| {
            let file = serde_json::json!({"mcpServers": {"x": {"command": "./s.sh", "cwd": cwd}}});
            let (_folder, environment) = project(&file.to_string());
            let (_, server) = declared(&environment, "x").unwrap();
            let accesses = server.accesses("x", &environment);
            let outside = accesses.iter().any(|access| matches!(access, Access::Folder(_)));
            (outside, accesses.last().unwrap().to_string())
        };
        let (outside, program) = folders("${NOPE:-/}");
        assert!(outside && program == "the program cd / && ./s.sh", "{program}");
        assert!(folders("../not-there").0, "it does not exist yet");
        assert!(folders("not-there/../../x").0);
        assert!(!folders("sub/../other").0 && !folders("sub").0);
    }

    #[test]
    fn what_is_wrong_with_the_file_is_reported() {
        assert!(matches!(
            declared(&Environment::new(None), "x"),
            Err(McpError::NoProject)
        ));
        let empty = tempfile::tempdir().unwrap();
        let environment = Environment::new(Some(empty.path().to_owned()));
        assert!(matches!(
            declared(&environment, "x"),
            Err(McpError::NoFile { .. })
        ));
        for (text, part) in [
            ("{", "EOF"),
            (r#"{"mcpServers": {"x": {}}}"#, "no `command`"),
            (r#"{"mcpServers": {"x": {"type": "http"}}}"#, "no `url`"),
            (r#"{"mcpServers": {"x": {"type": "pigeon"}}}"#, "pigeon"),
            (r#"{"mcpServers": {"x": {"command": 1}}}"#, "expected a string"),
        ] {
            let (_folder, environment) = project(text);
            let error = declared(&environment, "x").unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
