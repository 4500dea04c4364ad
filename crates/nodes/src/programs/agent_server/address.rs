//! Addresses of LangGraph servers: where one is, the headers that it is sent, and the assistant that is meant.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::base::access::{Access, Grants};
use crate::base::references::{self, TextPiece, pieces};
use crate::base::secrets;
use crate::base::text::percent_encoded;
use crate::models::Variables;
use crate::programs::agent_server_error::AgentServerError;

/// The scheme of the address under which the threads of a server are a database.
pub const SCHEME: &str = "agent-server";
/// Headers of an address.
const MAX_HEADERS: usize = 16;

/// Address of a LangGraph server, as `http://HOST:PORT`. Behind a question mark stand headers, whose values name secrets
/// (`?x-api-key=${NAME}`), and behind a `#` the assistant that is meant. No value of a secret is ever part of it.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentAddress {
    /// Without headers and assistant.
    base: Url,
    /// Names and values, in which secrets are named.
    headers: Vec<(HeaderName, String)>,
    assistant: Option<String>,
}

impl fmt::Debug for AgentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentAddress").field(&self.named()).finish()
    }
}

impl fmt::Display for AgentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.as_str().trim_end_matches('/'))
    }
}

/// Returns what follows the scheme of a database, or else the text.
fn without_scheme(text: &str) -> &str {
    let rest = text.split_at_checked(SCHEME.len());
    let rest = rest.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME));
    rest.and_then(|(_, rest)| rest.strip_prefix(':')).unwrap_or(text)
}

impl AgentAddress {
    /// Returns whether a text names a server, or tries to.
    pub fn is_named_by(text: &str) -> bool {
        let text = text.trim();
        let begins = |scheme: &str| {
            let head = text.split_at_checked(scheme.len());
            head.is_some_and(|(head, _)| head.eq_ignore_ascii_case(scheme))
        };
        ["http://", "https://", "agent-server:"]
            .iter()
            .any(|scheme| begins(scheme))
    }

    /// Reads an address, also one that is a database's.
    pub fn parse(text: &str) -> Result<Self, AgentServerError> {
        let text = without_scheme(text.trim());
        let unfit = |cause: &str| AgentServerError::Address {
            cause: cause.to_owned(),
        };
        let mut base = Url::parse(text).map_err(|error| unfit(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none_or(str::is_empty) {
            return Err(unfit("it is not http://HOST:PORT or https://HOST"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(unfit("it has a user or a password, which a server does not take"));
        }
        let given: Vec<(String, String)> = (base.query_pairs())
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let assistant = base.fragment().map(decoded).filter(|name| !name.is_empty());
        base.set_query(None);
        base.set_fragment(None);
        let path = base.path().trim_end_matches('/').to_owned();
        base.set_path(&path);
        let mut address = Self {
            base,
            headers: Vec::new(),
            assistant,
        };
        for (name, value) in given {
            address.add_header(&name, &value)?;
        }
        Ok(address)
    }

    /// Adds headers, each as `NAME: VALUE`.
    pub fn with_headers<'a>(
        mut self,
        headers: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, AgentServerError> {
        for header in headers {
            let Some((name, value)) = header.split_once(':') else {
                return Err(AgentServerError::Address {
                    cause: "a header is not NAME: VALUE".to_owned(),
                });
            };
            self.add_header(name.trim(), value.trim())?;
        }
        Ok(self)
    }

    /// Sets the assistant that is meant; `None` leaves that of the address.
    pub fn with_assistant(mut self, assistant: Option<&str>) -> Self {
        if let Some(assistant) = assistant {
            self.assistant = Some(assistant.to_owned());
        }
        self
    }

    fn add_header(&mut self, name: &str, value: &str) -> Result<(), AgentServerError> {
        let unfit = |cause: String| Err(AgentServerError::Address { cause });
        let Ok(header) = name.parse::<HeaderName>() else {
            return unfit("behind its question mark stands what is no header's name".to_owned());
        };
        if self.headers.len() == MAX_HEADERS {
            return unfit(format!("it has more than {MAX_HEADERS} headers"));
        }
        // What is written out here would be shown and kept with the address.
        if references::names(value).next().is_none() {
            return unfit(format!(
                "the value of the header {header} is written out; name a secret or an environment variable, as {header}=${{NAME}}"
            ));
        }
        self.headers.push((header, value.to_owned()));
        Ok(())
    }

    /// Returns the assistant that is meant.
    pub fn assistant(&self) -> Option<&str> {
        self.assistant.as_deref()
    }

    /// Returns whether the server is on this computer.
    pub fn is_on_loopback(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns the address with everything that names it again.
    pub fn named(&self) -> String {
        let mut text = self.to_string();
        for (n, (name, value)) in self.headers.iter().enumerate() {
            text.push(if n == 0 { '?' } else { '&' });
            text.push_str(&format!("{name}={}", encoded(value)));
        }
        if let Some(assistant) = &self.assistant {
            text.push('#');
            text.push_str(&percent_encoded(assistant));
        }
        text
    }

    /// Returns the address of its threads as a database.
    pub fn database(&self) -> String {
        let server = Self {
            assistant: None,
            ..self.clone()
        };
        format!("{SCHEME}:{}", server.named())
    }

    /// Returns the name under which its grants are kept.
    pub fn project(&self) -> String {
        self.to_string()
    }

    /// Returns what has to be allowed: the server, unless it is on this computer, and the secrets that it is sent.
    pub fn wanted(&self) -> BTreeSet<Access> {
        let server = Access::of_url(&self.base);
        let names = self
            .headers
            .iter()
            .flat_map(|(_, value)| references::names(value));
        let mut wanted: BTreeSet<Access> = names.map(|name| Access::key_to(name, &server)).collect();
        if !self.is_on_loopback() {
            wanted.insert(server);
        }
        wanted
    }

    /// Returns the grants with which its server is reached, where those that are given allow it.
    pub(super) fn permitted(&self, grants: &Grants) -> Result<Grants, AgentServerError> {
        let server = Access::of_url(&self.base);
        if !self.is_on_loopback() && !grants.reach(&server) {
            grants.require(&server).map_err(AgentServerError::AccessDenied)?;
        }
        for (_, value) in &self.headers {
            for name in references::names(value) {
                grants
                    .require_key(name, &server)
                    .map_err(AgentServerError::AccessDenied)?;
            }
        }
        Ok(Grants::these([server]))
    }

    /// Creates the headers, with the values of the secrets that they name.
    pub(super) fn headers(&self, variables: &Variables) -> Result<HeaderMap, AgentServerError> {
        let mut headers = HeaderMap::new();
        for (name, text) in &self.headers {
            let mut whole = String::new();
            for piece in pieces(text) {
                match piece {
                    TextPiece::Text(text) => whole.push_str(text),
                    TextPiece::Variable {
                        name: variable,
                        default,
                    } => {
                        let value = variables(variable).or_else(|| default.map(str::to_owned));
                        let value = value.ok_or_else(|| AgentServerError::Secret {
                            header: name.to_string(),
                            secret: variable.to_owned(),
                        })?;
                        secrets::note(value.trim());
                        whole.push_str(value.trim());
                    }
                }
            }
            let mut value = HeaderValue::from_str(&whole).map_err(|_| AgentServerError::Address {
                cause: format!("the secret of the header {name} has characters that headers cannot have"),
            })?;
            value.set_sensitive(true);
            headers.insert(name.clone(), value);
        }
        Ok(headers)
    }

    /// Creates the address of an endpoint; the path is encoded already.
    pub(super) fn at(&self, path: &str) -> Result<Url, AgentServerError> {
        let whole = format!("{self}{path}");
        whole.parse().map_err(
            |error: <Url as std::str::FromStr>::Err| AgentServerError::Address {
                cause: error.to_string(),
            },
        )
    }
}

/// Encodes a header's value; references stay readable.
fn encoded(value: &str) -> String {
    let parts = pieces(value).into_iter().map(|piece| match piece {
        TextPiece::Text(text) => percent_encoded(text),
        TextPiece::Variable { name, default: None } => format!("${{{name}}}"),
        TextPiece::Variable {
            name,
            default: Some(default),
        } => percent_encoded(&format!("${{{name}:-{default}}}")),
    });
    parts.collect()
}

/// Decodes `%XX` of a fragment.
fn decoded(text: &str) -> String {
    let pair = format!("a={}", text.replace('+', "%2B"));
    let Ok(url) = Url::parse(&format!("http://h/?{pair}")) else {
        return text.to_owned();
    };
    url.query_pairs()
        .next()
        .map_or_else(|| text.to_owned(), |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_address_is_read_and_named_again() {
        for (text, named, database) in [
            (
                "http://127.0.0.1:2024",
                "http://127.0.0.1:2024",
                "agent-server:http://127.0.0.1:2024",
            ),
            (
                " agent-server:http://localhost:2024/ ",
                "http://localhost:2024",
                "agent-server:http://localhost:2024",
            ),
            (
                "https://h.example/team/?x-api-key=${KEY}#my support",
                "https://h.example/team?x-api-key=${KEY}#my%20support",
                "agent-server:https://h.example/team?x-api-key=${KEY}",
            ),
            (
                "https://h.example?authorization=Bearer%20${KEY}&x-team=${TEAM:-a}",
                "https://h.example?authorization=Bearer%20${KEY}&x-team=%24%7BTEAM%3A-a%7D",
                "agent-server:https://h.example?authorization=Bearer%20${KEY}&x-team=%24%7BTEAM%3A-a%7D",
            ),
        ] {
            assert!(AgentAddress::is_named_by(text));
            let address = AgentAddress::parse(text).unwrap();
            assert_eq!(
                (address.named().as_str(), address.database().as_str()),
                (named, database)
            );
            assert_eq!(AgentAddress::parse(named).unwrap(), address, "{text}");
        }
        let meant = AgentAddress::parse("http://h:1#my%20support").unwrap();
        assert_eq!(meant.assistant(), Some("my support"));
        assert!(!AgentAddress::is_named_by("agent.py:graph") && !AgentAddress::is_named_by("https"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_secrets() {
        for (text, says) in [
            ("http://", "empty host"),
            ("agent-server:ftp://h", "http://HOST:PORT"),
            ("agent-server:", "relative URL"),
            ("http://me:hunter4@h", "password"),
            ("http://h?x-api-key=hunter4", "written out"),
            ("http://h?a b=${KEY}", "no header's name"),
        ] {
            let error = AgentAddress::parse(text).unwrap_err().to_string();
            assert!(
                error.contains(says) && !error.contains("hunter4"),
                "{text}: {error}"
            );
        }
        let address = AgentAddress::parse("http://h").unwrap();
        let error = address
            .with_headers(["x-api-key hunter4"])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("NAME: VALUE") && !error.contains("hunter4"),
            "{error}"
        );
    }

    #[test]
    fn what_has_to_be_allowed_is_the_server_elsewhere_and_every_secret() {
        let wanted = |text: &str| {
            let address = AgentAddress::parse(text).unwrap();
            address.wanted().iter().map(Access::key).collect::<Vec<_>>()
        };
        assert!(wanted("http://127.0.0.1:2024").is_empty());
        assert!(wanted("http://localhost:2024").is_empty() && wanted("http://[::1]:2024").is_empty());
        assert_eq!(wanted("http://10.0.0.1:2024"), ["host:10.0.0.1:2024"]);
        assert_eq!(
            wanted("http://localhost:1?x-api-key=${KEY}"),
            ["key:KEY@localhost:1"]
        );
        assert_eq!(
            wanted("https://h.example?x-api-key=${KEY}"),
            ["host:h.example", "key:KEY@h.example"]
        );
        let address = AgentAddress::parse("https://h.example?x-api-key=${KEY}").unwrap();
        let refused =
            |grants: &Grants| matches!(address.permitted(grants), Err(AgentServerError::AccessDenied(_)));
        assert!(refused(&Grants::none()) && refused(&Grants::these([Access::host("h.example", None)])));
        assert!(!refused(&Grants::these(address.wanted())));
    }

    #[test]
    fn headers_get_the_values_of_their_secrets() {
        let address = AgentAddress::parse("https://h.example")
            .and_then(|address| address.with_headers(["Authorization: Bearer ${KEY}"]))
            .unwrap();
        let variables: Variables =
            Arc::new(|name| (name == "KEY").then(|| " agent-address-secret\n".to_owned()));
        let headers = address.headers(&variables).unwrap();
        assert_eq!(headers["authorization"], "Bearer agent-address-secret");
        assert!(!format!("{headers:?} {address:?}").contains("agent-address-secret"));
        let none: Variables = Arc::new(|_| None);
        let error = address.headers(&none).unwrap_err().to_string();
        assert!(
            error.contains("KEY") && error.contains("authorization"),
            "{error}"
        );
    }
}
