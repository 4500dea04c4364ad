//! Where sockets are: in a private folder of the data folder, or, because the address of a socket is short, in one of the
//! user's other private folders.

use std::path::{Path, PathBuf};

use crate::base::instance::SOCKET_ENDING;

/// Bytes that fit into the address of a socket on every system, without the zero at the end.
const MAX_PATH: usize = 103;

/// Returns a path for the socket of an instance; its folder exists and is private.
pub(crate) fn of(data_dir: &Path, id: &str) -> std::io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let user = rustix::process::geteuid().as_raw();
    let name = format!("{id}.{SOCKET_ENDING}");
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folders = [
        Some(data_dir.join("sockets")),
        runtime
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join("superstep")),
        Some(std::env::temp_dir().join(format!("superstep-sockets-{user}"))),
        Some(PathBuf::from(format!("/tmp/superstep-sockets-{user}"))),
    ];
    let mut refused = None;
    for folder in folders.into_iter().flatten() {
        let path = folder.join(&name);
        if path.as_os_str().as_bytes().len() > MAX_PATH {
            continue;
        }
        match private(&folder) {
            Ok(()) => return Ok(path),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| std::io::Error::other("every folder for sockets has too long a path")))
}

/// Makes a folder that only this user may enter, or sees that it is one.
fn private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let facts = std::fs::symlink_metadata(folder)?;
    let ours = facts.is_dir() && facts.uid() == rustix::process::geteuid().as_raw();
    match ours && facts.mode() & 0o077 == 0 {
        true => Ok(()),
        false => Err(std::io::Error::other(format!(
            "{} is not a folder that only you may enter; delete it, or take the rights of others away",
            folder.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::base::instance::is_socket_of;

    #[test]
    fn a_folder_that_others_may_enter_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let sockets = dir.path().join("sockets");
        assert_eq!(of(dir.path(), "ab").unwrap(), sockets.join("ab.sock"));
        let mode = std::fs::metadata(&sockets).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::set_permissions(&sockets, PermissionsExt::from_mode(0o755)).unwrap();
        assert_ne!(of(dir.path(), "ab").unwrap().parent(), Some(&*sockets));
        std::fs::remove_dir(&sockets).unwrap();
        std::os::unix::fs::symlink("/tmp", &sockets).unwrap();
        assert_ne!(of(dir.path(), "ab").unwrap().parent(), Some(&*sockets), "a link");
    }

    #[test]
    fn a_long_path_falls_back_to_a_short_one() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("x".repeat(90));
        std::fs::create_dir(&long).unwrap();
        let place = of(&long, "ab").unwrap();
        assert!(
            place.as_os_str().len() <= MAX_PATH && !place.starts_with(&long),
            "{place:?}"
        );
        assert!(
            is_socket_of(&place, "ab")
                && !is_socket_of(&place, "a")
                && !is_socket_of(Path::new("ab.sock"), "ab")
        );
    }
}
