//! What a graph reaches outside of itself, and what its owner lets it reach.
//!
//! Kinds say in their checks what a node would touch ([`Site::reaches`](crate::registry::Site::reaches)), so that a person is
//! shown the list before anything runs; while they run they ask the [`Grants`] again, because an address may be made of
//! state. Without a grant nothing is reached.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::base::error_class;

/// A resource outside of a graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "what", content = "name", rename_all = "snake_case")]
pub enum Access {
    /// A server, as `HOST` or `HOST:PORT` in lower case; `*` is any public one, for addresses that are made of state.
    Host(String),
    /// A folder outside of the project, as an absolute path.
    Folder(String),
    /// A program that is started, such as the project's Python.
    Program(String),
    /// An MCP server, by its name in the project's configuration.
    Mcp(String),
    /// A connection to a model server, with the key that is sent there.
    Connection(String),
    /// An environment variable that a program is given.
    Variable(String),
    /// An environment variable that is sent to a server as its key, as `NAME@HOST` or `NAME@HOST:PORT`: who lets a key go
    /// to one server has not let it go to another.
    Key(String),
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::Host(host) if host == "*" => f.write_str("any public server"),
            Access::Host(host) => write!(f, "the server {host}"),
            Access::Folder(path) => write!(f, "the folder {path}"),
            Access::Program(program) => write!(f, "the program {program}"),
            Access::Mcp(name) => write!(f, "the MCP server {name}"),
            Access::Connection(name) => write!(f, "the model connection {name}"),
            Access::Variable(name) => write!(f, "the environment variable {name}"),
            Access::Key(name) => match name.split_once('@') {
                Some((name, "*")) => write!(f, "the key {name}, sent to any public server"),
                Some((name, host)) => write!(f, "the key {name}, sent to {host}"),
                None => write!(f, "the key {name}"),
            },
        }
    }
}

impl FromStr for Access {
    type Err = UnknownAccess;

    /// Parses `WHAT:NAME`, such as `host:api.example.com`.
    fn from_str(text: &str) -> Result<Self, UnknownAccess> {
        let unknown = || UnknownAccess(text.to_owned());
        let (what, name) = text.split_once(':').ok_or_else(unknown)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(unknown());
        }
        Ok(match what {
            "host" => Access::Host(name.to_lowercase()),
            "folder" => Access::Folder(name.to_owned()),
            "program" => Access::Program(name.to_owned()),
            "mcp" => Access::Mcp(name.to_owned()),
            "connection" => Access::Connection(name.to_owned()),
            "variable" => Access::Variable(name.to_owned()),
            "key" => match name.rsplit_once('@') {
                Some((variable, host)) if !variable.is_empty() && !host.is_empty() => {
                    Access::Key(format!("{variable}@{}", host.to_lowercase()))
                }
                _ => return Err(unknown()),
            },
            _ => return Err(unknown()),
        })
    }
}

/// Text that names no access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names nothing that can be allowed. Write WHAT:NAME, where WHAT is host, folder, program, mcp, connection, variable or key, e.g. host:api.example.com or key:MY_KEY@api.example.com"
)]
pub struct UnknownAccess(
    /// The text.
    pub String,
);

impl Access {
    /// Returns the access as `WHAT:NAME`, which [`str::parse`] reads.
    pub fn key(&self) -> String {
        let (what, name) = match self {
            Access::Host(name) => ("host", name),
            Access::Folder(name) => ("folder", name),
            Access::Program(name) => ("program", name),
            Access::Mcp(name) => ("mcp", name),
            Access::Connection(name) => ("connection", name),
            Access::Variable(name) => ("variable", name),
            Access::Key(name) => ("key", name),
        };
        format!("{what}:{name}")
    }

    /// Creates a server from the parts of its address.
    pub fn host(host: &str, port: Option<u16>) -> Self {
        let host = host.to_lowercase();
        Access::Host(match port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        })
    }

    /// Returns the server of an address. The port is part of it when it is not the usual one, and always inside the own
    /// network, where one machine has many services.
    pub fn of_url(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        match is_inside(host) {
            true => Self::host(host, url.port_or_known_default()),
            false => Self::host(host, url.port()),
        }
    }

    /// Creates a variable that is sent to a server as its key.
    pub fn key_to(variable: &str, server: &Access) -> Self {
        let host = match server {
            Access::Host(host) => host,
            _ => "*",
        };
        Access::Key(format!("{variable}@{host}"))
    }

    /// Returns the environment variable whose value is used.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Access::Variable(name) => Some(name),
            Access::Key(name) => name.rsplit_once('@').map(|(variable, _)| variable),
            _ => None,
        }
    }

    /// Returns whether this is a server inside the own network, as far as its name shows.
    pub fn inside(&self) -> bool {
        match self {
            Access::Host(host) => is_inside(name_of(host)),
            _ => false,
        }
    }
}

/// Returns `HOST` of `HOST:PORT`; an IPv6 address keeps its brackets.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Endings of names that are only known inside a network.
const INSIDE: [&str; 9] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "arpa",
];

/// Returns whether the name itself says that it is inside the own network. A public name may still lead there: that is
/// checked when it is resolved.
fn is_inside(host: &str) -> bool {
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    if let Ok(ip) = host.parse::<IpAddr>() {
        return !crate::base::web::is_public(ip);
    }
    match host.rsplit_once('.') {
        Some((_, last)) => INSIDE.contains(&last.to_lowercase().as_str()),
        None => host != "*",
    }
}

/// The accesses that are allowed. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants(GrantSet);

#[derive(Clone, Debug, PartialEq, Eq)]
enum GrantSet {
    All,
    These(Arc<BTreeSet<Access>>),
}

impl Default for GrantSet {
    fn default() -> Self {
        GrantSet::These(Arc::default())
    }
}

impl Grants {
    /// Creates grants that allow nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates grants that allow everything: for graphs of one's own.
    pub fn all() -> Self {
        Self(GrantSet::All)
    }

    /// Creates grants that allow these accesses and nothing else.
    pub fn these(accesses: impl IntoIterator<Item = Access>) -> Self {
        Self(GrantSet::These(Arc::new(accesses.into_iter().collect())))
    }

    /// Returns whether the access is allowed. A server that is allowed without a port is allowed on every port.
    pub fn allow(&self, access: &Access) -> bool {
        let GrantSet::These(given) = &self.0 else {
            return true;
        };
        if given.contains(access) {
            return true;
        }
        let without_port = |name: &str| Some(name.rsplit_once(':')?.0.to_owned());
        match access {
            Access::Host(host) => without_port(host).is_some_and(|host| given.contains(&Access::Host(host))),
            Access::Key(sent) => without_port(sent).is_some_and(|sent| given.contains(&Access::Key(sent))),
            _ => false,
        }
    }

    /// Returns whether exactly this server is named, by a name that says where it is. Only then is one inside the own
    /// network reached: allowing `api.example.com` means a public server, wherever its name leads.
    pub fn name(&self, host: &Access) -> bool {
        matches!(&self.0, GrantSet::These(_)) && host.inside() && self.allow(host)
    }

    /// Returns whether this server may be asked, because it or every public one is allowed.
    pub fn reach(&self, host: &Access) -> bool {
        self.allow(host) || (!host.inside() && self.allow(&Access::Host("*".into())))
    }

    /// Refuses to send a variable to a server as its key, unless it may go there, or to every public server.
    pub fn require_key(&self, variable: &str, server: &Access) -> Result<(), AccessDenied> {
        let sent = Access::key_to(variable, server);
        if !server.inside() && self.allow(&Access::Key(format!("{variable}@*"))) {
            return Ok(());
        }
        self.require(&sent)
    }

    /// Returns the accesses of `wanted` that are not allowed.
    pub fn missing<'a>(&self, wanted: impl IntoIterator<Item = &'a Access>) -> BTreeSet<Access> {
        let missing = wanted.into_iter().filter(|access| !self.allow(access));
        missing.cloned().collect()
    }

    /// Refuses what is not allowed.
    pub fn require(&self, access: &Access) -> Result<(), AccessDenied> {
        if self.allow(access) {
            Ok(())
        } else {
            Err(AccessDenied(access.clone()))
        }
    }
}

/// The graph wanted what its owner has not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the graph wants to use {0}, which is not allowed in this project. If you know why it does, allow it in the project's trust settings, or with `superstep trust GRAPH --allow {key}`",
    key = .0.key()
)]
pub struct AccessDenied(
    /// What it wanted.
    pub Access,
);

impl AccessDenied {
    /// Class name of the error in a run: that of the type.
    pub const CLASS: &'static str = error_class::ACCESS_DENIED;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_unless_it_is_named() {
        let host = Access::host("API.example.com", Some(443));
        assert!(!Grants::none().allow(&host));
        assert!(Grants::all().allow(&host));
        let grants = Grants::these([Access::host("api.example.com", None)]);
        assert!(grants.allow(&host));
        assert!(!grants.allow(&Access::host("example.com", Some(443))));
        assert!(!grants.allow(&Access::Program("python3".into())));
        let only_port = Grants::these([host.clone()]);
        assert!(only_port.allow(&host));
        assert!(!only_port.allow(&Access::host("api.example.com", Some(80))));
    }

    #[test]
    fn servers_are_named_by_their_addresses() {
        for (url, host, inside) in [
            ("https://API.example.com/v1", "api.example.com", false),
            ("https://example.com:8443/", "example.com:8443", false),
            ("http://93.184.216.34/", "93.184.216.34", false),
            ("http://127.0.0.1/", "127.0.0.1:80", true),
            ("http://0x7f000001:99/", "127.0.0.1:99", true),
            ("https://localhost/", "localhost:443", true),
            ("http://[::1]:8080/", "[::1]:8080", true),
            ("http://[fd00::1]/", "[fd00::1]:80", true),
            ("http://router/", "router:80", true),
            ("http://db.internal./", "db.internal.:80", true),
        ] {
            let access = Access::of_url(&url.parse().unwrap());
            assert_eq!(access, Access::Host(host.into()), "{url}");
            assert_eq!(access.inside(), inside, "{url}");
            let grants = Grants::these([access.clone()]);
            assert_eq!(
                grants.name(&access),
                inside,
                "{url}: a public name never opens the own network"
            );
            assert!(grants.reach(&access));
            assert!(!Grants::all().name(&access), "{url}: everything names nothing");
            let public = Grants::these([Access::Host("*".into())]);
            assert_eq!(public.reach(&access), !inside, "{url}");
        }
    }

    #[test]
    fn accesses_are_written_and_read() {
        for text in [
            "host:[::1]:8080",
            "folder:/a:b",
            "program:python3",
            "mcp:files",
            "connection:mine",
            "variable:KEY",
            "key:KEY@api.example.com:8443",
            "key:KEY@*",
        ] {
            let access: Access = text.parse().unwrap();
            assert_eq!(access.key(), text);
        }
        for wrong in [
            "",
            "host",
            "host:",
            "hosts:a",
            "mcp: ",
            "key:KEY",
            "key:@a.org",
            "key:KEY@",
        ] {
            let error = wrong.parse::<Access>().unwrap_err().to_string();
            assert!(error.contains("WHAT:NAME"), "{error}");
        }
    }

    #[test]
    fn a_key_goes_to_the_server_that_it_was_allowed_for() {
        let server = |name: &str| Access::Host(name.into());
        let grants = Grants::these(["key:KEY@one.org".parse().unwrap(), server("two.org")]);
        assert_eq!(grants.require_key("KEY", &server("one.org")), Ok(()));
        assert_eq!(grants.require_key("KEY", &server("one.org:8443")), Ok(()));
        for (variable, host) in [
            ("KEY", "two.org"),
            ("OTHER", "one.org"),
            ("KEY", "one.org.evil.org"),
        ] {
            let denied = grants.require_key(variable, &server(host)).unwrap_err();
            assert_eq!(denied.0, Access::Key(format!("{variable}@{host}")));
        }
        let anywhere = Grants::these(["key:KEY@*".parse().unwrap()]);
        assert_eq!(anywhere.require_key("KEY", &server("two.org")), Ok(()));
        assert!(anywhere.require_key("KEY", &server("127.0.0.1:80")).is_err());
    }

    #[test]
    fn what_is_missing_is_reported_in_full() {
        let wanted = [Access::Mcp("files".into()), Access::Variable("KEY".into())];
        let missing = Grants::these([Access::Mcp("files".into())]).missing(&wanted);
        assert_eq!(missing, BTreeSet::from([Access::Variable("KEY".into())]));
        let denied = Grants::none().require(&wanted[0]).unwrap_err();
        assert!(denied.to_string().contains("the MCP server files"), "{denied}");
        assert!(
            matches!(superstep::NodeError::from(denied), superstep::NodeError::Failed(failed) if &*failed.class == AccessDenied::CLASS)
        );
    }
}
