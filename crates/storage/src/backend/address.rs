//! Addresses: which backend they name, which file or folder, and what stands behind the question mark.

use std::path::{Path, PathBuf};

use superstep::checkpoint::StorageError;

use super::{Backend, Location, OF_PATHS};
use crate::base::{Address, Open, Synchronous, shown};

/// Splits an address into its scheme and what follows it.
fn split(url: &str) -> (&str, &str) {
    match url.split_once(':') {
        // A single letter before the colon is a Windows drive.
        Some((scheme, rest)) if scheme.len() > 1 && is_scheme(scheme) => {
            (scheme, rest.strip_prefix("//").unwrap_or(rest))
        }
        _ => (OF_PATHS.scheme(), url),
    }
}

fn is_scheme(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric()) || Backend::named(text).is_some()
}

fn refusal(url: &str, cause: &str, remedy: &str) -> StorageError {
    StorageError::Backend {
        what: format!("opening storage {:?}", shown(url)),
        cause: cause.to_owned(),
        remedy: remedy.to_owned(),
    }
}

/// Finds the backend of an address by its scheme.
pub(super) fn backend_of(url: &str) -> Result<Backend, StorageError> {
    let (scheme, _) = split(url);
    let unknown = || {
        let mut cause = format!("no backend is called {scheme:?}");
        if url.contains("mongodb") {
            cause += "; threads that LangGraph keeps in MongoDB are not read";
        }
        refusal(url, &cause, &remedy())
    };
    Backend::named(scheme).ok_or_else(unknown)
}

/// Reads an address; gives what opens it.
pub(crate) fn read(url: &str) -> Result<(Open, Address), StorageError> {
    let refused = |cause: &str, remedy: &str| Err(refusal(url, cause, remedy));
    let backend = backend_of(url)?;
    let (_, rest) = split(url);
    let Some(open) = backend.opener() else {
        let feature = format!(
            "Build superstep-storage with its feature `{}`. ",
            backend.scheme()
        );
        return refused(
            &format!("this program was built without {}", backend.title()),
            &(feature + &remedy()),
        );
    };
    let whole = |path: PathBuf, synchronous| Address {
        url: url.to_owned(),
        path,
        synchronous,
    };
    if let Some(server) = crate::langgraph::server_of(url) {
        return match Backend::named(split(server).0) {
            Some(Backend::Postgres) => Ok((open, whole(PathBuf::new(), Synchronous::Full))),
            _ => refused(
                &format!(
                    "threads that LangGraph keeps in {} are not read",
                    saver_of(server)
                ),
                "SqliteSaver's files and PostgresSaver's databases are: langgraph:PATH, langgraph:postgres://…",
            ),
        };
    }
    let missing = match backend.location() {
        Location::Process | Location::Server => return Ok((open, whole(PathBuf::new(), Synchronous::Full))),
        Location::File => "file",
        Location::Folder => "folder",
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path.trim().is_empty() {
        let remedy = match backend.location() {
            Location::File => format!(
                "Give a path, as in {}, or use {}",
                backend.example(),
                Backend::Memory.form()
            ),
            _ => format!("Give a folder, as in {}", backend.example()),
        };
        return refused(&format!("it names no {missing}"), &remedy);
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
    Ok((open, whole(path.into(), synchronous)))
}

/// Names the server of an address that is none of ours.
fn saver_of(server: &str) -> &str {
    let scheme = server.split_once("://").map_or(server, |(scheme, _)| scheme);
    match scheme {
        "redis" | "rediss" => "Redis",
        scheme if scheme.starts_with("mongodb") => "MongoDB",
        "mysql" | "mariadb" => "MySQL",
        scheme => scheme,
    }
}

/// Lists every backend that can be opened, as a remedy.
fn remedy() -> String {
    let built_in = Backend::ALL.iter().filter(|backend| backend.is_built_in());
    let (memory, others): (Vec<Backend>, _) = built_in.partition(|backend| !backend.is_durable());
    let forms = memory.into_iter().chain(others).map(Backend::short_form);
    let forms: Vec<String> = forms.collect();
    format!("Use {} or the path of a SQLite file", forms.join(", "))
}

/// Returns whether the file or folder does not exist yet, so that opening would create it.
pub(crate) fn is_new(path: &Path) -> bool {
    match path.metadata() {
        // A folder that somebody made for it.
        Ok(found) if found.is_dir() => path.read_dir().is_ok_and(|mut entries| entries.next().is_none()),
        Ok(found) => found.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Returns the file or folder that an address names; `None` for memory and for servers.
pub fn path_of(url: &str) -> Result<Option<PathBuf>, StorageError> {
    Ok(read(url)?.1.path().map(Path::to_owned))
}

/// Returns the address by which a file is opened: where one is named as a SQLite file and is, by its content, the database
/// of a LangGraph program, that of [`Backend::Langgraph`]; every other address as it is.
pub fn recognized(url: &str) -> String {
    match read(url) {
        Ok((_, address)) if Backend::of(url).is_ok_and(|backend| backend == OF_PATHS) => {
            match crate::langgraph::is_one(&address.path) {
                true => format!("{}:{}", Backend::Langgraph.scheme(), address.path.display()),
                false => url.to_owned(),
            }
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_say_how_safe_a_commit_is() {
        use Synchronous::{Full, Normal};
        for (url, path, synchronous) in [
            ("a.db", "a.db", Full),
            ("sqlite:a.db?synchronous=full", "a.db", Full),
            ("/x y/a.db?synchronous=normal", "/x y/a.db", Normal),
            ("sqlite:///a.db", "/a.db", Full),
            ("file:threads?synchronous=normal", "threads", Normal),
            ("C:\\a.db", "C:\\a.db", Full),
            ("memory:", "", Full),
        ] {
            let (.., address) = read(url).expect("an address");
            assert_eq!(
                (address.path, address.synchronous),
                (path.into(), synchronous),
                "{url}"
            );
        }
    }

    #[test]
    fn what_is_no_address_does_not_become_a_file() {
        for (url, expected) in [
            ("langgraph:redis://:hunter4@h/0", "keeps in Redis are not read"),
            (
                "langgraph:mongodb+srv://u:hunter4@h/db",
                "keeps in MongoDB are not read",
            ),
            ("langgraph:mysql://h/db", "keeps in MySQL are not read"),
            ("mongodb://h/db", "keeps in MongoDB are not read"),
            ("langgraph:", "names no file"),
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
            let error = read(url).map(drop).expect_err(url).to_string();
            assert!(
                error.contains(expected) && !error.contains("hunter4"),
                "{url}: {error}"
            );
        }
    }
}
