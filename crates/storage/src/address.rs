//! Addresses: which backend they name, which file or folder, and what stands behind the question mark.

use std::path::{Path, PathBuf};

use superstep::StorageError;

use crate::Synchronous;

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Nothing that stays.
    Memory,
    /// A SQLite file.
    Sqlite(PathBuf, Synchronous),
    /// A folder of files.
    File(PathBuf, Synchronous),
    /// A PostgreSQL server, which reads its address itself.
    Postgres,
    /// A Redis server, which reads its address itself.
    Redis,
}

impl Address {
    pub(crate) fn read(url: &str) -> Result<Self, StorageError> {
        let refused = |cause: &str, remedy: &str| {
            Err(StorageError::Backend {
                what: format!("opening storage {:?}", shown(url)),
                cause: cause.to_owned(),
                remedy: remedy.to_owned(),
            })
        };
        let (scheme, rest) = match url.split_once(':') {
            // A single letter before the colon is a Windows drive.
            Some((scheme, rest)) if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                (scheme, rest.strip_prefix("//").unwrap_or(rest))
            }
            _ => ("sqlite", url),
        };
        match scheme {
            "memory" => return Ok(Self::Memory),
            "postgres" | "postgresql" => return Ok(Self::Postgres),
            "redis" | "rediss" => return Ok(Self::Redis),
            "sqlite" | "file" => {}
            other => {
                return refused(
                    &format!("no backend is called {other:?}"),
                    "Use memory:, sqlite:PATH, file:FOLDER, postgres://…, redis://… or the path of a SQLite file",
                );
            }
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        if path.trim().is_empty() {
            return match scheme {
                "sqlite" => refused(
                    "it names no file",
                    "Give a path, as in sqlite:threads.db, or use memory:",
                ),
                _ => refused("it names no folder", "Give a folder, as in file:threads"),
            };
        }
        if path == ":memory:" {
            return refused("SQLite's own memory is gone with each connection", "Use memory:");
        }
        if ["host=", "dbname=", "password="]
            .iter()
            .any(|word| path.contains(word))
        {
            return refused(
                "it looks like the settings of a PostgreSQL connection",
                "Write them as postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            );
        }
        let mut synchronous = Synchronous::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            synchronous = match pair {
                "synchronous=full" => Synchronous::Full,
                "synchronous=normal" => Synchronous::Normal,
                other => {
                    return refused(
                        &format!("{other:?} cannot be understood"),
                        "Give synchronous=full or synchronous=normal after the question mark; a path may not hold one",
                    );
                }
            };
        }
        Ok(match scheme {
            "file" => Self::File(path.into(), synchronous),
            _ => Self::Sqlite(path.into(), synchronous),
        })
    }

    /// The file or folder.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path, _) | Self::File(path, _) => Some(path),
            _ => None,
        }
    }

    /// True when the file or folder is not there: opening it would make it.
    pub(crate) fn is_new(&self) -> bool {
        self.path().is_some_and(|path| match path.metadata() {
            // A folder that somebody made for it.
            Ok(found) if found.is_dir() => path.read_dir().is_ok_and(|mut entries| entries.next().is_none()),
            Ok(found) => found.len() == 0,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        })
    }
}

/// The file or folder that an address names; none for memory and for servers.
pub fn path_of(url: &str) -> Result<Option<PathBuf>, StorageError> {
    Ok(Address::read(url)?.path().map(Path::to_owned))
}

/// A URL without its password.
pub fn shown(url: &str) -> String {
    // A question mark before the host belongs to a password that should have been written as %3F.
    let host = url.rfind('@').filter(|_| url.contains("://")).unwrap_or(0);
    let (url, query) = match url[host..].find('?') {
        Some(at) => (&url[..host + at], Some(&url[host + at + 1..])),
        None => (url, None),
    };
    let mut text = match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.rfind('@').unwrap_or(0);
            let (authority, path) = rest.split_at(rest[host..].find('/').map_or(rest.len(), |at| host + at));
            match authority.rsplit_once('@') {
                Some((user, host)) if user.contains(':') => {
                    let user = user.split_once(':').map_or(user, |(user, _)| user);
                    format!("{scheme}://{user}:…@{host}{path}")
                }
                _ => url.to_owned(),
            }
        }
        // Settings of a connection, which are refused, must not be repeated either.
        None => match url.split_once("password=") {
            Some((before, after)) => {
                let end = after.find(char::is_whitespace).unwrap_or(after.len());
                format!("{before}password=…{}", &after[end..])
            }
            None => url.to_owned(),
        },
    };
    for (n, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        text.push(if n == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, _)) if name.to_ascii_lowercase().contains("password") => {
                text.push_str(name);
                text.push_str("=…");
            }
            _ => text.push_str(pair),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (url, safe) in [
            (
                "postgres://me:se:c@ret@host:5432/db?x=1",
                "postgres://me:…@host:5432/db?x=1",
            ),
            ("redis://:secret@host", "redis://:…@host"),
            ("redis://:se?cret@host/0?prefix=a", "redis://:…@host/0?prefix=a"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            (
                "postgres://host/db?user=me&password=secret&sslmode=require",
                "postgres://host/db?user=me&password=…&sslmode=require",
            ),
            (
                "postgres://host/db?sslpassword=secret",
                "postgres://host/db?sslpassword=…",
            ),
            (
                "host=localhost password=hunter4 port=1",
                "host=localhost password=… port=1",
            ),
            ("sqlite:/a@b.db", "sqlite:/a@b.db"),
        ] {
            assert_eq!(shown(url), safe);
        }
    }

    #[test]
    fn addresses_of_files_say_how_safe_a_commit_is() {
        use Synchronous::{Full, Normal};
        for (url, address) in [
            ("a.db", Address::Sqlite("a.db".into(), Full)),
            (
                "sqlite:a.db?synchronous=full",
                Address::Sqlite("a.db".into(), Full),
            ),
            (
                "/x y/a.db?synchronous=normal",
                Address::Sqlite("/x y/a.db".into(), Normal),
            ),
            ("sqlite:///a.db", Address::Sqlite("/a.db".into(), Full)),
            (
                "file:threads?synchronous=normal",
                Address::File("threads".into(), Normal),
            ),
            ("C:\\a.db", Address::Sqlite("C:\\a.db".into(), Full)),
            ("memory:", Address::Memory),
            ("postgres://h/db?x", Address::Postgres),
        ] {
            assert_eq!(Address::read(url).expect("an address"), address, "{url}");
        }
    }

    #[test]
    fn what_is_no_address_does_not_become_a_file() {
        for (url, said) in [
            ("", "names no file"),
            (" ", "names no file"),
            ("sqlite:", "names no file"),
            ("file:", "names no folder"),
            ("sqlite::memory:", "Use memory:"),
            (":memory:", "Use memory:"),
            ("a.db?mode=ro", "synchronous=full or synchronous=normal"),
            (
                "sqlite:a.db?synchronous=off",
                "\"synchronous=off\" cannot be understood",
            ),
            ("host=h password=hunter4", "postgres://USER:PASSWORD@HOST"),
            ("mysql://h/db", "no backend is called \"mysql\""),
        ] {
            let error = Address::read(url).expect_err(url).to_string();
            assert!(
                error.contains(said) && !error.contains("hunter4"),
                "{url}: {error}"
            );
        }
    }
}
