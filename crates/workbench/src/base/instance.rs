//! Which process is alive. Two windows, or a window and the command line, may share a data folder; what a process
//! leaves behind when it dies (a run that says it is running, a draft that says it is open) must be distinguished from what
//! another living process is doing. Each process holds a lock on a file of its own: the system lets go of the lock
//! when the process ends, however it ends.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the names of sockets end in.
pub(crate) const SOCKET_ENDING: &str = "sock";

/// This process's presence in a data folder.
#[derive(Debug)]
pub struct Instance {
    id: String,
    /// Names the folder, so that an id is known to be of a process of this one.
    folder: String,
    dir: PathBuf,
    lock: File,
}

impl Instance {
    /// Says that this process uses a data folder, until it is dropped.
    pub fn enter(data_dir: &Path) -> io::Result<Self> {
        let dir = data_dir.join("instances");
        fs::create_dir_all(&dir)?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        // Locked before it has its name: somebody who sweeps meanwhile takes an unlocked one for that of a dead process.
        let unfinished = dir.join(format!("{id}.new"));
        let lock = File::create_new(&unfinished)?;
        lock.try_lock().map_err(io::Error::from)?;
        fs::rename(&unfinished, dir.join(format!("{id}.lock")))?;
        let folder = name_of(&dir)?;
        let instance = Instance {
            id,
            folder,
            dir,
            lock,
        };
        instance.sweep();
        Ok(instance)
    }

    /// Removes what processes left behind that ended without a word.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if let Some(id) = entry.file_name().to_string_lossy().strip_suffix(".lock") {
                self.is_other_alive(id);
            }
        }
    }

    /// Returns the prefix of the ids of holders of this folder.
    pub(crate) fn prefix(&self) -> String {
        format!("{}:", self.folder)
    }

    /// Returns the id of the instance, another one for each start.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the data folder.
    pub(crate) fn data_dir(&self) -> &Path {
        self.dir.parent().unwrap_or(&self.dir)
    }

    /// Notes where this process takes connections of others.
    pub(crate) fn serves_at(&self, socket: &Path) -> io::Result<()> {
        (&self.lock).write_all(socket.as_os_str().as_encoded_bytes())
    }

    /// Returns whether another process with this id is alive.
    pub(crate) fn is_other_alive(&self, id: &str) -> bool {
        if id == self.id || id.is_empty() || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return false;
        }
        let path = self.dir.join(format!("{id}.lock"));
        let Ok(file) = File::open(&path) else { return false };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => false,
            Ok(()) => {
                // The socket of a process that was killed is still there.
                if let Some(socket) = socket_in(&path, id) {
                    let _ = fs::remove_file(socket);
                }
                let _ = fs::remove_file(path);
                false
            }
        }
    }
}

/// Checks by its name whether a path is the socket of an instance. Nothing else is connected to, or removed.
pub(crate) fn is_socket_of(path: &Path, id: &str) -> bool {
    path.is_absolute()
        && path.extension() == Some(OsStr::new(SOCKET_ENDING))
        && path.file_stem() == Some(OsStr::new(id))
}

/// Returns the socket that is recorded in the file of an instance.
fn socket_in(lock: &Path, id: &str) -> Option<PathBuf> {
    let socket = PathBuf::from(superstep_nodes::files::read_own(lock).ok()?);
    is_socket_of(&socket, id).then_some(socket)
}

/// Returns the sockets where the processes of a data folder accept connections, by instance. Some may have ended.
pub(crate) fn sockets(data_dir: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(data_dir.join("instances"));
    let noted = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_suffix(".lock")?.to_owned();
        let socket = socket_in(&entry.path(), &id)?;
        Some((id, socket))
    };
    entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(noted)
        .collect()
}

/// Returns the name of a folder of instances, which the first process makes up.
fn name_of(dir: &Path) -> io::Result<String> {
    let path = dir.join("folder");
    if let Ok(name) = superstep_nodes::files::read_own(&path)
        && !name.is_empty()
    {
        return Ok(name);
    }
    let own = uuid::Uuid::new_v4().simple().to_string();
    let unfinished = dir.join(format!("folder.{own}"));
    fs::write(&unfinished, &own)?;
    // Of two processes that come first at the same time, both read what the second wrote or each its own: then the claims
    // of one are not known as dead to the other, and end by themselves.
    fs::rename(&unfinished, &path)?;
    superstep_nodes::files::read_own(&path)
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.dir.join(format!("{}.lock", self.id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_alive_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let one = Instance::enter(dir.path()).unwrap();
        let two = Instance::enter(dir.path()).unwrap();
        assert!(one.is_other_alive(two.id()) && !one.is_other_alive(one.id()));
        let gone = two.id().to_owned();
        drop(two);
        fs::write(dir.path().join("instances/00ff.lock"), "").unwrap();
        drop(Instance::enter(dir.path()).unwrap());
        let left: Vec<_> = fs::read_dir(dir.path().join("instances"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name() != "folder")
            .collect();
        assert_eq!(left.len(), 1, "only the living one is left: {left:?}");
        assert!(!one.is_other_alive(&gone) && !one.is_other_alive("../x") && !one.is_other_alive(""));
    }
}
