//! Reasons why a LangGraph server does not do what it was asked, with what to do about them.

use std::fmt;
use std::time::Duration;

use crate::base::access::AccessDenied;

/// Reason why a LangGraph server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentServerError {
    /// The text names no server.
    Address {
        /// Cause.
        cause: String,
    },
    /// A secret that a header names has no value.
    Secret {
        /// The header.
        header: String,
        /// Name of the secret.
        secret: String,
    },
    /// Its owner has not allowed it.
    AccessDenied(AccessDenied),
    /// It cannot be reached, or has broken off.
    Unreachable {
        /// Its address.
        server: String,
        /// Cause.
        cause: String,
    },
    /// Something else answers there.
    NotOne {
        /// The address.
        server: String,
        /// What shows it.
        cause: String,
    },
    /// It says nothing more.
    Stalls {
        /// Its address.
        server: String,
        /// What it was asked.
        what: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// It says no.
    Refused {
        /// Its address.
        server: String,
        /// What it was asked.
        what: &'static str,
        /// Status of the answer.
        status: u16,
        /// What it says about it.
        detail: String,
    },
    /// What it says is larger than is read.
    TooLarge {
        /// Its address.
        server: String,
        /// What it was asked.
        what: &'static str,
        /// The limit, as a text.
        limit: String,
    },
    /// What it says is no answer.
    Garbled {
        /// Its address.
        server: String,
        /// What it was asked.
        what: &'static str,
        /// Cause.
        cause: String,
    },
    /// It answers about something else than it was asked about.
    OtherIds {
        /// Its address.
        server: String,
        /// What it was asked.
        what: &'static str,
        /// Id that was expected.
        asked: String,
        /// Id that came.
        said: String,
    },
    /// It has no such assistant, or several and none was named.
    Assistant {
        /// Its address.
        server: String,
        /// The one that was named.
        named: Option<String>,
        /// Those that it has.
        names: Vec<String>,
    },
    /// Its threads have other ids.
    ThreadId {
        /// The id.
        id: String,
    },
    /// Events of a run do not come any more.
    Lost {
        /// Its address.
        server: String,
        /// The run.
        run: String,
        /// Cause.
        cause: String,
    },
    /// A run was asked to stop and has not.
    NotStopped {
        /// Its address.
        server: String,
        /// The run.
        run: String,
        /// The limit.
        limit: Duration,
    },
}

/// What is said of names of assistants, before the others are left out.
const MAX_NAMES: usize = 20;

impl fmt::Display for AgentServerError {
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { cause } => write!(
                f,
                "This is no address of a LangGraph server: {cause}. Write http://HOST:PORT, with \
                 ?x-api-key=${{NAME}} where it wants a key, which is the value of the secret NAME."
            ),
            Self::Secret { header, secret } => write!(
                f,
                "The header {header} is the secret {secret}, which has no value. Set the environment variable {secret}, or keep \
                 the secret under this name."
            ),
            Self::AccessDenied(denied) => write!(f, "{denied}."),
            Self::Unreachable { server, cause } => write!(
                f,
                "The LangGraph server {server} cannot be reached: {cause}. Check its address, and whether it runs (`langgraph dev`)."
            ),
            Self::NotOne { server, cause } => write!(
                f,
                "There is no LangGraph server at {server}: {cause}. Give the address that `langgraph dev` prints as API."
            ),
            Self::Stalls { server, what, limit } => write!(
                f,
                "The LangGraph server {server} has said nothing for {} s ({what}). It may be busy, or hang: look at what it prints.",
                limit.as_secs_f64()
            ),
            Self::Refused {
                server,
                what,
                status,
                detail,
            } => {
                write!(
                    f,
                    "The LangGraph server {server} refuses ({what}): {status} {detail}."
                )?;
                match status {
                    401 | 403 => f.write_str(
                        " Give the key that it wants, as ?x-api-key=${NAME} behind the address or with --header.",
                    ),
                    409 => f.write_str(" Wait for the run of this thread, or stop it."),
                    _ => Ok(()),
                }
            }
            Self::TooLarge { server, what, limit } => write!(
                f,
                "The LangGraph server {server} says more than is read ({what}): the limit is {limit}."
            ),
            Self::Garbled { server, what, cause } => write!(
                f,
                "The LangGraph server {server} says what is no answer ({what}): {cause}. It may be of a release that is not known \
                 here, or a proxy answers in its place."
            ),
            Self::OtherIds {
                server,
                what,
                asked,
                said,
            } => write!(
                f,
                "The LangGraph server {server} answers about {said:?} where {asked:?} was asked about ({what}). Nothing of it is \
                 shown. A proxy may mix up answers."
            ),
            Self::Assistant { server, named, names } => {
                match named {
                    Some(named) => write!(f, "The LangGraph server {server} has no assistant {named:?}.")?,
                    None if names.is_empty() => {
                        return write!(f, "The LangGraph server {server} has no assistants.");
                    }
                    None => write!(f, "The LangGraph server {server} has several assistants.")?,
                }
                let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
                if !shown.is_empty() {
                    write!(f, " Name one of: {}", shown.join(", "))?;
                    let more = names.len() - shown.len();
                    f.write_str(&match more {
                        0 => ".".to_owned(),
                        more => format!(" and {more} more."),
                    })?;
                }
                Ok(())
            }
            Self::ThreadId { id } => write!(
                f,
                "A LangGraph server names its threads by UUIDs, and {id:?} is none. Leave --thread out for a new thread."
            ),
            Self::Lost { server, run, cause } => write!(
                f,
                "The events of run {run} do not come any more from the LangGraph server {server}: {cause}. The run may go on there; \
                 its thread shows what it has stored."
            ),
            Self::NotStopped { server, run, limit } => write!(
                f,
                "Run {run} of the LangGraph server {server} was asked to stop, and has not within {} s. It may go on there.",
                limit.as_secs_f64()
            ),
        }
    }
}

impl std::error::Error for AgentServerError {}

impl AgentServerError {
    /// Returns a short name of the reason in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "server-address",
            Self::Secret { .. } => "server-secret",
            Self::AccessDenied(_) => "access-denied",
            Self::Unreachable { .. } => "server-unreachable",
            Self::NotOne { .. } => "server-other",
            Self::Stalls { .. } => "server-stalls",
            Self::Refused { .. } => "server-refused",
            Self::TooLarge { .. } => "server-too-large",
            Self::Garbled { .. } => "server-garbled",
            Self::OtherIds { .. } => "server-other-ids",
            Self::Assistant { .. } => "server-assistant",
            Self::ThreadId { .. } => "server-thread-id",
            Self::Lost { .. } => "server-lost",
            Self::NotStopped { .. } => "server-not-stopped",
        }
    }

    /// Returns whether what was typed is wrong, and not what the server does.
    pub fn is_of_request(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::Secret { .. }
                | Self::AccessDenied(_)
                | Self::Assistant { .. }
                | Self::ThreadId { .. }
        )
    }

    /// Returns whether the same request may succeed a moment later.
    pub(in crate::programs) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Stalls { .. } => true,
            Self::Refused { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            _ => false,
        }
    }

    /// Returns whether the server says that there is no such thing.
    pub(in crate::programs) fn is_absent(&self) -> bool {
        // An id that is no UUID is of nothing there.
        matches!(
            self,
            Self::Refused {
                status: 404 | 422,
                ..
            }
        )
    }
}
