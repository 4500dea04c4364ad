//! Files: atomic writes, fingerprints, and the listing behind the in-app file dialog.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{FileEntry, FileList, Problem};
use superstep_document::{Text, text};

/// A file in the making: nobody sees it before it is finished, and it is gone when it is dropped before.
#[derive(Debug)]
pub struct Staged {
    /// Where the content goes.
    pub file: File,
    temporary: PathBuf,
    target: PathBuf,
    finished: bool,
}

impl Staged {
    /// Begins a file beside the one that it is to replace.
    pub fn begin(path: &Path) -> io::Result<Self> {
        // A link stays a link: what it points to is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if let Ok(facts) = fs::metadata(&target) {
            if !facts.is_file() && !facts.is_dir() {
                // A device or a pipe in its place would be gone for every program of the machine.
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is no regular file",
                ));
            }
            // Who may write into the folder could replace it nevertheless.
            if facts.is_file() && !may_write(&target, &facts) {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
            }
        }
        let folder = folder_of(&target);
        fs::create_dir_all(folder)?;
        let name = target
            .file_name()
            .ok_or(io::ErrorKind::InvalidInput)?
            .to_string_lossy();
        let temporary = folder.join(format!(".{name}.{}.tmp", uuid::Uuid::new_v4().simple()));
        Ok(Self {
            file: File::create_new(&temporary)?,
            temporary,
            target,
            finished: false,
        })
    }

    /// Puts it in place of the old one; a crash leaves either the old file or the new one.
    pub fn finish(mut self) -> io::Result<()> {
        self.seal()?;
        fs::rename(&self.temporary, &self.target)?;
        self.end();
        Ok(())
    }

    /// Puts it in place of a file with these bytes, or of none. Returns `false` when there is another one in that moment,
    /// which stays.
    fn finish_over(mut self, old: Option<&[u8]>) -> io::Result<bool> {
        self.seal()?;
        let is_in_place = self.exchange(old)?;
        if is_in_place {
            self.end();
        }
        Ok(is_in_place)
    }

    /// Takes the place of the old file, and looks at what was really there.
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn exchange(&mut self, old: Option<&[u8]>) -> io::Result<bool> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        use std::os::unix::fs::MetadataExt as _;
        let (temporary, target) = (self.temporary.clone(), self.target.clone());
        let rename = |flags| renameat_with(CWD, &temporary, CWD, &target, flags);
        let Some(old) = old else {
            return match rename(RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.replace(None),
                Err(error) => Err(error.into()),
            };
        };
        match rename(RenameFlags::EXCHANGE) {
            Ok(()) => {}
            // Nothing is lost by writing a file again that was just removed.
            Err(Errno::NOENT) => return self.exchange(None),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return self.replace(Some(old)),
            Err(error) => return Err(error.into()),
        }
        let found = fs::read(&temporary);
        if found.as_ref().is_ok_and(|found| found == old) {
            fs::remove_file(&temporary)?;
            return Ok(true);
        }
        rename(RenameFlags::EXCHANGE)?;
        // A third program may have written between the two: its file takes its place again, and none is removed.
        let number = |facts: io::Result<fs::Metadata>| facts.ok().map(|facts| facts.ino());
        if number(fs::metadata(&temporary)) != number(self.file.metadata()) {
            self.finished = true;
            rename(RenameFlags::EXCHANGE)?;
        }
        found.map(|_| false)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn exchange(&mut self, old: Option<&[u8]>) -> io::Result<bool> {
        self.replace(old)
    }

    /// Takes the place of the old file where two cannot be exchanged: it is looked at just before.
    fn replace(&self, old: Option<&[u8]>) -> io::Result<bool> {
        let now = match fs::read(&self.target) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now.as_deref() != old {
            return Ok(false);
        }
        fs::rename(&self.temporary, &self.target)?;
        Ok(true)
    }

    /// Gives the new file the rights of the old one, and what is in it to the disk.
    fn seal(&self) -> io::Result<()> {
        if let Ok(old) = fs::metadata(&self.target) {
            #[cfg(unix)]
            own_as(&self.file, &old);
            self.file.set_permissions(old.permissions())?;
        }
        self.file.sync_all()
    }

    fn end(&mut self) {
        self.finished = true;
        // The rename itself survives a power cut only once the folder is flushed; not every platform can open a folder.
        if let Ok(folder) = File::open(folder_of(&self.target)) {
            let _ = folder.sync_all();
        }
    }
}

/// Returns whether this user may write a file. For an administrator, too, one is read-only that nobody may write.
fn may_write(path: &Path, facts: &fs::Metadata) -> bool {
    #[cfg(unix)]
    if matches!(
        rustix::fs::access(path, rustix::fs::Access::WRITE_OK),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS)
    ) {
        return false;
    }
    let _ = path;
    !facts.permissions().readonly()
}

/// Gives a file to the owner and the group of another one, as far as this user may.
#[cfg(unix)]
fn own_as(file: &File, old: &fs::Metadata) {
    use rustix::fs::fchown;
    use rustix::process::{Gid, Uid};
    use std::os::unix::fs::MetadataExt as _;
    let Ok(new) = file.metadata() else { return };
    if new.gid() != old.gid() {
        let _ = fchown(file, None, Some(Gid::from_raw(old.gid())));
    }
    if new.uid() != old.uid() {
        let _ = fchown(file, Some(Uid::from_raw(old.uid())), None);
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Writes so that a reader, or a crash, sees either the old file or the new one.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut staged = Staged::begin(path)?;
    staged.file.write_all(bytes)?;
    staged.finish()
}

/// Writes over a file with these bytes, or where there is none, like [`write_atomic`]. Returns `false`, and writes nothing,
/// when another program was there first.
pub(crate) fn write_over(path: &Path, bytes: &[u8], old: Option<&[u8]>) -> io::Result<bool> {
    let mut staged = Staged::begin(path)?;
    staged.file.write_all(bytes)?;
    staged.finish_over(old)
}

/// Makes a data folder that nobody else may enter. One that is there stays as it is: its owner may share it.
pub fn make_data_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Writes a file like [`write_atomic`], for content that only its owner may read.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut staged = Staged::begin(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        staged.file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    staged.file.write_all(bytes)?;
    staged.finish()
}

/// Reads a JSON file of the data folder; one that is not there is the default. `remedy` says what to do about one that
/// cannot be read as JSON.
pub(crate) fn read_json<T: DeserializeOwned + Default>(path: &Path, remedy: Text) -> Result<T, Problem> {
    let text = match superstep_nodes::files::read_own(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(Problem::file(text!("read"), path, &error)),
    };
    serde_json::from_str(&text).map_err(|error| {
        let message = text!(
            "{path} cannot be read: {error}.",
            path = path.display().to_string(),
            error = error.to_string()
        );
        Problem::new("file-error", message).remedy(remedy)
    })
}

/// Serializes a value as the content of a JSON file of the data folder.
pub(crate) fn json_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|error| Problem::new("internal", error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Identifier of a file's content, to notice changes made outside.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Fingerprint(String);

impl Fingerprint {
    pub(crate) fn of(text: &str) -> Self {
        Fingerprint(format!(
            "{:032x}-{}",
            xxhash_rust::xxh3::xxh3_128(text.as_bytes()),
            text.len()
        ))
    }

    /// Returns the identifier as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the milliseconds since the epoch.
pub(crate) fn now_ms() -> u64 {
    superstep::run::Clock::now_ms(&superstep::run::SystemClock)
}

/// Returns the current time as text.
pub(crate) fn now() -> String {
    superstep::run::iso8601(now_ms())
}

fn modified(metadata: &fs::Metadata) -> String {
    let ms = metadata
        .modified()
        .unwrap_or(SystemTime::UNIX_EPOCH)
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(0));
    superstep::run::iso8601(ms)
}

/// Expands `~/` and makes the path absolute, without touching the disk beyond the current folder's name.
pub(crate) fn absolute(path: &str) -> Result<PathBuf, Problem> {
    let path = path.trim();
    if path.is_empty() {
        return Err(Problem::invalid(text!("The path is empty.")).remedy(text!("Name a file.")));
    }
    let home = || std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    let expanded = match path.strip_prefix("~/") {
        Some(rest) => home().map_or_else(|| PathBuf::from(path), |home| PathBuf::from(home).join(rest)),
        None if path == "~" => home().map_or_else(|| PathBuf::from(path), PathBuf::from),
        None => PathBuf::from(path),
    };
    std::path::absolute(&expanded).map_err(|e| Problem::file(text!("find"), &expanded, &e))
}

/// Returns whether the path is a JSON file whose beginning names our format. Reads at most 4 KiB.
pub(crate) fn is_graph_file(path: &Path) -> bool {
    superstep_nodes::files::read_beginning(path, 4096).is_ok_and(|head| head.contains("\"superstep/"))
}

/// Endings of SQLite files.
const DATABASES: [&str; 3] = ["sqlite", "sqlite3", "db"];

/// Lists folders first, then JSON files, tables and databases, by name; hidden ones are omitted.
pub(crate) fn list(dir: &Path) -> Result<FileList, Problem> {
    let read = fs::read_dir(dir).map_err(|e| Problem::file(text!("list"), dir, &e))?;
    let mut entries: Vec<FileEntry> = read
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            // Follows links; a dangling one is left out.
            let metadata = fs::metadata(&path).ok()?;
            let is_dir = metadata.is_dir();
            let ends = |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
            let is_json = ends("json") || ends("jsonl");
            let is_database = DATABASES.iter().any(|ending| ends(ending));
            if name.starts_with('.') || !(is_dir || is_json || is_database || ends("csv")) {
                return None;
            }
            let is_graph = if is_dir {
                is_graph_file(&path.join("graph.json"))
            } else {
                is_json && is_graph_file(&path)
            };
            let path = path.to_string_lossy().into_owned();
            Some(FileEntry {
                name,
                path,
                is_dir,
                is_graph,
                modified: modified(&metadata),
            })
        })
        .collect();
    entries.sort_by_cached_key(|e| (!e.is_dir, e.name.to_lowercase()));
    Ok(FileList {
        dir: dir.to_string_lossy().into_owned(),
        parent: dir.parent().map(|p| p.to_string_lossy().into_owned()),
        entries,
    })
}

/// Copies a folder with what is in it; what is already there stays.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if !target.exists() {
            // Written and not copied: a read-only installation must not give read-only files.
            write_atomic(&target, &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let refused = Staged::begin(&link).unwrap_err();
        assert_eq!(refused.to_string(), "it is no regular file");
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[cfg(unix)]
    #[test]
    fn what_another_program_writes_in_the_same_moment_stays() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("graph.json");
        let staged = || {
            let mut staged = Staged::begin(&path).unwrap();
            staged.file.write_all(b"ours").unwrap();
            staged
        };
        let holds = || fs::read(&path).ok();
        // There was no file, and now there is one.
        let late = staged();
        fs::write(&path, "theirs").unwrap();
        assert!(!late.finish_over(None).unwrap());
        assert_eq!(holds().as_deref(), Some(&b"theirs"[..]));
        // There was another one, replaced or written in place.
        let late = staged();
        fs::write(&path, "theirs again").unwrap();
        assert!(!late.finish_over(Some(b"theirs")).unwrap());
        assert_eq!(holds().as_deref(), Some(&b"theirs again"[..]));
        let late = staged();
        fs::write(dir.path().join("next"), "third").unwrap();
        fs::rename(dir.path().join("next"), &path).unwrap();
        assert!(!late.finish_over(Some(b"theirs again")).unwrap());
        assert_eq!(holds().as_deref(), Some(&b"third"[..]));
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        // The one that was read is written over, with its rights, also when it has just been removed.
        let mode = || fs::metadata(&path).unwrap().mode() & 0o777;
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        assert!(staged().finish_over(Some(b"third")).unwrap());
        assert_eq!((holds().as_deref(), mode()), (Some(&b"ours"[..]), 0o640));
        let late = staged();
        fs::remove_file(&path).unwrap();
        assert!(late.finish_over(Some(b"ours")).unwrap());
        assert_eq!(holds().as_deref(), Some(&b"ours"[..]));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        // Where two files cannot be exchanged, the same holds of what is there when it is looked at.
        assert!(!staged().replace(Some(b"theirs")).unwrap());
        assert!(staged().replace(Some(b"ours")).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_file_is_not_replaced_though_its_folder_may_be_written() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("graph.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let refused = write_atomic(&path, b"new").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn an_atomic_write_replaces_the_file_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/graph.json");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let names: Vec<_> = fs::read_dir(dir.path().join("deep"))
            .unwrap()
            .flatten()
            .map(|e| e.file_name())
            .collect();
        assert_eq!(names, ["graph.json"], "a temporary file was left behind");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("graph.json");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("inside"), "kept").unwrap();
        assert!(
            write_atomic(&folder, b"text").is_err(),
            "a folder cannot be replaced by a file"
        );
        assert_eq!(fs::read_to_string(folder.join("inside")).unwrap(), "kept");
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "a temporary file was left behind"
        );
    }

    #[test]
    fn a_json_file_that_is_not_there_is_the_default_and_a_broken_one_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("numbers.json");
        let read = || read_json::<Vec<u32>>(&path, Text::from("Delete it.".to_owned()));
        assert_eq!(read().unwrap(), Vec::<u32>::new());
        fs::write(&path, json_bytes(&[1, 2]).unwrap()).unwrap();
        assert_eq!(read().unwrap(), [1, 2]);
        fs::write(&path, "[1,").unwrap();
        let broken = read().unwrap_err();
        assert_eq!(broken.code, "file-error");
        assert!(
            broken.message.contains("numbers.json cannot be read"),
            "{broken:?}"
        );
        assert_eq!(broken.remedy.as_deref(), Some("Delete it."));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_ne!(read().unwrap_err().remedy.as_deref(), Some("Delete it."));
    }

    #[test]
    fn the_listing_has_folders_first_and_knows_graphs() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("zoo")).unwrap();
        fs::write(dir.path().join("zoo/graph.json"), r#"{"format":"superstep/1"}"#).unwrap();
        fs::write(dir.path().join("a.json"), "{}").unwrap();
        fs::write(dir.path().join("b.json"), r#"{ "format": "superstep/1" }"#).unwrap();
        fs::write(dir.path().join("notes.txt"), "").unwrap();
        fs::write(dir.path().join("c.sqlite"), "").unwrap();
        fs::write(dir.path().join(".hidden.json"), "{}").unwrap();
        let list = list(dir.path()).unwrap();
        let seen: Vec<_> = list
            .entries
            .iter()
            .map(|e| (e.name.as_str(), e.is_dir, e.is_graph))
            .collect();
        assert_eq!(
            seen,
            [
                ("zoo", true, true),
                ("a.json", false, false),
                ("b.json", false, true),
                ("c.sqlite", false, false)
            ]
        );
        assert_eq!(
            super::list(&dir.path().join("none")).unwrap_err().code,
            "not-found"
        );
    }
}
