//! Turns what PostgreSQL says into what the user can do about it.

use std::error::Error as _;

use superstep::checkpoint::StorageError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::claims::refusal;

/// A failure inside this module: PostgreSQL's own, or one that is already worded.
#[derive(Debug)]
pub(crate) enum PostgresFault {
    Sql(Error),
    Storage(StorageError),
    /// The connection was rebuilt while something was planned, or others removed what it builds on: nothing was done,
    /// and what was known is not known now.
    Stale,
}

impl From<Error> for PostgresFault {
    fn from(error: Error) -> Self {
        PostgresFault::Sql(error)
    }
}

impl From<StorageError> for PostgresFault {
    fn from(error: StorageError) -> Self {
        PostgresFault::Storage(error)
    }
}

impl PostgresFault {
    pub(super) fn corrupt(place: impl Into<String>, cause: impl ToString) -> Self {
        PostgresFault::Storage(StorageError::Corrupt {
            place: place.into(),
            cause: cause.to_string(),
        })
    }

    /// Returns whether the connection is lost: the request may or may not have been executed.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            PostgresFault::Sql(error) => is_lost(error),
            PostgresFault::Storage(_) | PostgresFault::Stale => false,
        }
    }

    /// Returns whether nothing was done because another program was faster: what is known is outdated, or the two
    /// blocked each other.
    pub(super) fn is_overtaken(&self) -> bool {
        let error = match self {
            PostgresFault::Sql(error) => error,
            PostgresFault::Stale => return true,
            PostgresFault::Storage(_) => return false,
        };
        let again = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ];
        error
            .code()
            .is_some_and(|code| again.contains(code) || code.code() == "SS001")
    }

    /// Returns whether the user, or the server, may not write.
    pub(super) fn is_refused(&self) -> bool {
        let PostgresFault::Sql(error) = self else {
            return false;
        };
        let refused = [
            SqlState::INSUFFICIENT_PRIVILEGE,
            SqlState::READ_ONLY_SQL_TRANSACTION,
        ];
        error.code().is_some_and(|code| refused.contains(code))
    }

    /// Converts the fault into the error for the caller; `what` says what was being done, `place` on which database.
    pub(crate) fn worded(self, what: &str, place: &str) -> StorageError {
        match self {
            PostgresFault::Storage(error) => error,
            PostgresFault::Sql(error) => {
                refusal(&error).unwrap_or_else(|| worded(&error, what, place, remedy(&error)))
            }
            PostgresFault::Stale => StorageError::Backend {
                what: format!("{what} ({place})"),
                cause: "the connection was cut, or others removed what it builds on, again and again"
                    .to_owned(),
                remedy: "Check the network and the server, and try again; what was acknowledged is stored"
                    .to_owned(),
            },
        }
    }
}

impl PostgresFault {
    /// Converts the fault of a role that only reads tables of another program into the error for the caller.
    pub(crate) fn worded_reading(self, what: &str, place: &str) -> StorageError {
        match self {
            PostgresFault::Sql(error) => {
                let of_reading = reading_remedy(&error);
                worded(&error, what, place, of_reading.unwrap_or_else(|| remedy(&error)))
            }
            other => other.worded(what, place),
        }
    }
}

fn is_lost(error: &Error) -> bool {
    let ended = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::DATABASE_DROPPED,
    ];
    let cut = error
        .source()
        .is_some_and(|source| source.downcast_ref::<std::io::Error>().is_some());
    error.is_closed() || cut || error.code().is_some_and(|code| ended.contains(code))
}

/// Returns whether the error passes by itself when a server restarts.
pub(super) fn is_passing(error: &Error) -> bool {
    error.code() == Some(&SqlState::CANNOT_CONNECT_NOW)
        || error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
        || is_lost(error)
        || error
            .source()
            .and_then(|source| source.downcast_ref::<std::io::Error>())
            .is_some_and(|error| {
                use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
                matches!(
                    error.kind(),
                    ConnectionAborted | ConnectionRefused | ConnectionReset
                )
            })
}

/// Returns the message of PostgreSQL, or of the connection to it.
pub(super) fn cause(error: &Error) -> String {
    if let Some(reply) = error.as_db_error() {
        let detail = reply.detail().map(|detail| format!(" ({detail})"));
        return format!("{}{}", reply.message(), detail.unwrap_or_default());
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn class(error: &Error) -> &str {
    error
        .code()
        .map_or("", |code| code.code().get(..2).unwrap_or_default())
}

/// Returns the remedy of what a client finds before the server says anything, and that only it can know.
fn client_remedy(error: &Error) -> Option<&'static str> {
    // The client library has no other sign of them than its words.
    let cause = cause(error);
    if cause.contains("password missing") {
        return Some("The server wants a password, and the address has none; give it one");
    }
    let is_tls = cause.contains("TLS") || cause.contains("certificate");
    is_tls.then_some("Check sslmode and sslrootcert in the URL, and whether the server offers TLS")
}

/// Returns the remedy for who only reads, where it is another than for who writes as well.
fn reading_remedy(error: &Error) -> Option<&'static str> {
    Some(match error.code() {
        None => match client_remedy(error) {
            None => "Check that the server runs and can be reached, and try again",
            own => return own,
        },
        Some(code) => match *code {
            SqlState::INSUFFICIENT_PRIVILEGE => {
                "Let the role read them: GRANT SELECT ON checkpoints, checkpoint_blobs, checkpoint_writes TO role"
            }
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                "Check the user and the password, and pg_hba.conf on the server"
            }
            SqlState::INVALID_CATALOG_NAME => "Check the name of the database behind the host",
            SqlState::UNDEFINED_TABLE => {
                "The program's tables were there when the database was opened, and are gone; open it again"
            }
            _ if class(error) == "57" => "The server is stopping or starting; try again",
            _ => return None,
        },
    })
}

fn remedy(error: &Error) -> &'static str {
    let class = class(error);
    match error.code() {
        None => client_remedy(error)
            .unwrap_or("Check that the server runs and can be reached; what was acknowledged is stored"),
        Some(code) => match *code {
            SqlState::DISK_FULL => {
                "Free some disk space on the server and try again; what was stored before is untouched"
            }
            SqlState::READ_ONLY_SQL_TRANSACTION => {
                "The server only reads (a standby, or default_transaction_read_only is on); give the address of the primary"
            }
            SqlState::INSUFFICIENT_PRIVILEGE => {
                "Grant the user the rights on the schema and its tables, or use another user"
            }
            SqlState::TOO_MANY_CONNECTIONS => "Close other programs, or raise max_connections on the server",
            SqlState::INVALID_CATALOG_NAME => {
                "Make the database with `createdb`, or name another one in the URL"
            }
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                "Check the user and the password in the URL, and pg_hba.conf on the server"
            }
            SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED | SqlState::T_R_DEADLOCK_DETECTED => {
                "Another program holds what is needed, or a time limit is too short; try again"
            }
            SqlState::DUPLICATE_TABLE | SqlState::DUPLICATE_OBJECT => {
                "The schema has tables of another program; name another one in the URL with ?schema=NAME"
            }
            SqlState::CHARACTER_NOT_IN_REPERTOIRE | SqlState::UNTRANSLATABLE_CHARACTER => {
                "PostgreSQL text cannot hold the character U+0000; leave it out of ids, names and metadata"
            }
            SqlState::PROGRAM_LIMIT_EXCEEDED => {
                "A name is longer than PostgreSQL can index (about 2,700 bytes); use a shorter one"
            }
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
                "The database is damaged; restore a backup, or see `pg_amcheck` and `REINDEX`"
            }
            _ if class == "57" => {
                "The server is stopping or starting; try again, what was acknowledged is stored"
            }
            _ if class == "53" => "The server lacks memory, disk or connections; make room and try again",
            _ => "Try again; if it stays, report it with this message",
        },
    }
}

fn worded(error: &Error, what: &str, place: &str, remedy: &str) -> StorageError {
    StorageError::Backend {
        what: format!("{what} ({place})"),
        cause: cause(error),
        remedy: remedy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_is_lost_when_it_is_cut_and_not_by_any_error() {
        let wrong = "port=none"
            .parse::<tokio_postgres::Config>()
            .expect_err("no port");
        assert!(!is_lost(&wrong) && !is_passing(&wrong), "{wrong}");
        // Nobody listens there any more.
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a port")
            .port();
        let url = format!("postgres://nobody@127.0.0.1:{port}/none");
        let refused = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
        let refused = refused.err().expect("nobody answers");
        assert!(is_lost(&refused) && is_passing(&refused), "{refused}");
    }
}
