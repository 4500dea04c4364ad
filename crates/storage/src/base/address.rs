//! Addresses as backends are given them, and as messages show them.

use std::path::{Path, PathBuf};

/// Events that an acknowledged commit survives. Both levels survive the death of the process and never damage the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// A power cut may lose the last commits (not damage the file).
    Normal,
    /// A power cut loses nothing that was acknowledged; every commit waits for the disk.
    #[default]
    Full,
}

/// An address that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// All of it.
    pub(crate) url: String,
    /// The file or folder; empty for memory and for servers.
    pub(crate) path: PathBuf,
    pub(crate) synchronous: Synchronous,
}

impl Address {
    /// Returns the file or folder.
    pub(crate) fn path(&self) -> Option<&Path> {
        (!self.path.as_os_str().is_empty()).then_some(&*self.path)
    }
}

/// Returns the URL without its password.
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
}
