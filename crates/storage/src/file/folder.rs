//! The folder: who may use it, what it is called on disk, and what its errors mean.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use superstep::ThreadId;
use superstep::checkpoint::StorageError;

use crate::base::handles::{MORE_HANDLES, is_lack_of_handles};
use crate::base::unwritable::{is_refusal, remedy_of_refusal};

/// Highest layout of the folder that this release knows: since the second, long lines are compressed; since the
/// third, questions can be withdrawn.
const SCHEMA: i64 = 3;
const ABOUT: &str = "superstep.json";
const LOCK: &str = "lock";
/// A lock that somebody holds is waited for so long.
const LOCK_WAIT: Duration = Duration::from_millis(500);
/// File names are cut here; most systems stop at 255 bytes.
const MAX_LENGTH: usize = 180;
/// Ending of a file that is being written and then takes another's place.
pub(super) const UNFINISHED: &str = "new";

/// A folder that this process alone uses.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Held for as long as the folder is open; the system lets go of it when the process dies. `None` when the folder
    /// can only be read.
    lock: Option<File>,
    /// Questions of older releases that a new input came after are withdrawn.
    settled: bool,
}

/// Contents of the file about a folder, besides its schema.
struct About {
    /// The questions of older releases that a new input came after are withdrawn.
    settled: bool,
}

impl Folder {
    /// Opens or makes the folder.
    pub(crate) fn open(path: &Path) -> Result<Self, StorageError> {
        let about = path.join(ABOUT);
        let known = about.exists();
        if !known && !is_new(path)? {
            return Err(StorageError::Backend {
                what: format!("opening the folder {}", path.display()),
                cause: "it holds other files".to_owned(),
                remedy: "Choose a new or empty folder".to_owned(),
            });
        }
        if !known {
            let threads = path.join("threads");
            make(&threads).map_err(|error| failed("making the folder", &threads, &error))?;
        }
        let lock = match lock(path) {
            Err(error) if known && is_refusal(&error) => None,
            other => Some(other.map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => in_use(path),
                _ => failed("opening", path, &error),
            })?),
        };
        let mut folder = Self {
            path: path.to_path_buf(),
            lock,
            settled: !known,
        };
        // No line of an older layout is rewritten. An older release, which cannot read what comes, gets an error.
        let (mut current, mut settled) = (false, !known);
        if known {
            let (schema, noted) = folder.schema(&about)?;
            (current, settled) = (schema == SCHEMA, noted);
        }
        folder.settled = settled;
        if !current && folder.is_ours() {
            folder.write_about(About { settled })?;
        }
        Ok(folder)
    }

    fn write_about(&self, About { settled }: About) -> Result<(), StorageError> {
        let text =
            format!("{{\"format\": \"superstep threads\", \"schema\": {SCHEMA}, \"settled\": {settled}}}\n");
        self.replace(&self.path.join(ABOUT), text.as_bytes())
    }

    /// Returns whether the questions of older releases that a new input came after are withdrawn. Where nothing may be
    /// written, there is nothing to do about them.
    pub(super) fn is_settled(&self) -> bool {
        self.settled || !self.is_ours()
    }

    /// Notes that they are, for the next opening.
    pub(super) fn set_settled(&self) -> Result<(), StorageError> {
        self.write_about(About { settled: true })
    }

    /// Reads the schema, and whether questions are settled.
    fn schema(&self, about: &Path) -> Result<(i64, bool), StorageError> {
        let text = fs::read(about).map_err(|error| failed("reading", about, &error))?;
        let about = serde_json::from_slice::<serde_json::Value>(&text).ok();
        let schema = about.as_ref().and_then(|about| about.get("schema")?.as_i64());
        let settled = about.as_ref().and_then(|about| about.get("settled")?.as_bool());
        match schema {
            Some(found @ 1..=SCHEMA) => Ok((found, settled.unwrap_or(false))),
            Some(found) if found > SCHEMA => Err(StorageError::NewerSchema {
                place: self.path.display().to_string(),
                found,
                supported: SCHEMA,
            }),
            _ => Err(StorageError::Backend {
                what: format!("opening the folder {}", self.path.display()),
                cause: format!("{ABOUT} does not say what the folder is"),
                remedy: "Choose another folder, or restore that file".to_owned(),
            }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the folder may be changed.
    pub(super) fn is_ours(&self) -> bool {
        self.lock.is_some()
    }

    /// Puts a file with this content in the place of another, whole or not at all, also when the power is cut.
    pub(crate) fn replace(&self, path: &Path, content: &[u8]) -> Result<(), StorageError> {
        Unfinished::write(path, content)?.place()
    }

    /// Returns the journal of a thread.
    pub(super) fn journal(&self, thread: &ThreadId) -> PathBuf {
        self.path.join("threads").join(file_name(thread.as_str()))
    }

    /// Returns the files of threads; a thread whose name is not complete in the file name is read from the file.
    pub(super) fn journals(&self) -> Result<Vec<(Option<ThreadId>, PathBuf)>, StorageError> {
        let journals = self.ending_in("jsonl")?.into_iter().map(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            (stem.and_then(thread_name).map(ThreadId::from), path)
        });
        Ok(journals.collect())
    }

    /// Removes what a process that died did not finish.
    pub(super) fn clear(&self) -> Result<(), StorageError> {
        if !self.is_ours() {
            return Ok(());
        }
        for path in self.ending_in(UNFINISHED)? {
            fs::remove_file(&path).map_err(|error| failed("deleting", &path, &error))?;
        }
        Ok(())
    }

    fn ending_in(&self, ending: &str) -> Result<Vec<PathBuf>, StorageError> {
        let threads = self.path.join("threads");
        let read = || {
            let mut found = Vec::new();
            for entry in fs::read_dir(&threads)? {
                let path = entry?.path();
                if path.extension().is_some_and(|found| found == ending) {
                    found.push(path);
                }
            }
            Ok(found)
        };
        read().map_err(|error| failed("listing", &threads, &error))
    }
}

/// A file that is written beside another and then takes its place. Until then the other stays as it is; a file that does
/// not come so far is removed.
#[derive(Debug)]
pub(super) struct Unfinished {
    path: PathBuf,
    place: PathBuf,
    file: Option<File>,
}

impl Unfinished {
    /// Writes it, so that it outlives a power cut.
    pub(super) fn write(place: &Path, content: &[u8]) -> Result<Self, StorageError> {
        // Several may be written at once for one place.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut path = place.as_os_str().to_owned();
        path.push(format!(".{}.{UNFINISHED}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let mut unfinished = Self {
            path: PathBuf::from(path),
            place: place.to_path_buf(),
            file: None,
        };
        let file = File::create(&unfinished.path).map_err(|error| failed("writing", place, &error))?;
        unfinished.file = Some(file);
        unfinished.append(content)?;
        Ok(unfinished)
    }

    /// Adds to it.
    pub(super) fn append(&mut self, content: &[u8]) -> Result<(), StorageError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(content).and_then(|()| file.sync_all());
        written.map_err(|error| failed("writing", &self.place, &error))
    }

    /// Puts it in the place of the other.
    pub(super) fn place(mut self) -> Result<(), StorageError> {
        // It is closed first: not every system renames an open file.
        self.file = None;
        let placed = fs::rename(&self.path, &self.place).and_then(|()| sync_folder(&self.place));
        placed.map_err(|error| failed("writing", &self.place, &error))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.file = None;
        // Where it took the other's place there is nothing of this name any more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Keeps a copy of a damaged file beside it.
pub(super) fn keep_copy(path: &Path) -> Result<PathBuf, StorageError> {
    let free = |n: &u32| !path.with_extension(format!("damaged.{n}")).exists();
    let n = (1..).find(free).unwrap_or_default();
    let copy = path.with_extension(format!("damaged.{n}"));
    fs::copy(path, &copy).map_err(|error| failed("copying to", &copy, &error))?;
    Ok(copy)
}

/// Makes the name of a new or removed file outlive a power cut.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        // Elsewhere a folder cannot be opened, and the system keeps its names by itself.
        Some(parent) if cfg!(unix) => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

/// Makes a folder with those around it, so that it outlives a power cut.
fn make(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let new: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(&path)?;
    new.into_iter().try_for_each(sync_folder)
}

fn is_new(path: &Path) -> Result<bool, StorageError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.all(|entry| {
            // Left by a process that died while it made the folder.
            let name = entry.map(|entry| entry.file_name());
            name.is_ok_and(|name| name == LOCK || name == "threads" || is_unfinished_about(&name))
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(failed("opening the folder", path, &error)),
    }
}

/// Returns whether this is an unfinished `superstep.json`.
fn is_unfinished_about(name: &std::ffi::OsStr) -> bool {
    let name = Path::new(name);
    let beside = |path: &Path| path.file_stem().map(PathBuf::from);
    name.extension().is_some_and(|ending| ending == UNFINISHED)
        && beside(name)
            .and_then(|numbered| beside(&numbered))
            .is_some_and(|place| place == Path::new(ABOUT))
}

fn lock(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path.join(LOCK))?;
    wait_for_lock(&file)?;
    file.set_len(0)?;
    file.rewind()?;
    // For a person who wonders; the lock itself is the system's.
    writeln!(file, "process {}", std::process::id())?;
    Ok(file)
}

/// Waits for the lock. A process that starts a program shares its locks with it until that program has begun, so a
/// folder that was just closed may seem to be in use. Nobody who works with it releases it this soon.
fn wait_for_lock(file: &File) -> io::Result<()> {
    let until = Instant::now() + LOCK_WAIT;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOCK_WAIT / 50),
            done => return Ok(done?),
        }
    }
}

fn in_use(path: &Path) -> StorageError {
    let mut holder = String::new();
    let _ = File::open(path.join(LOCK)).and_then(|mut file| file.read_to_string(&mut holder));
    let holder = match holder.trim() {
        "" => "another program".to_owned(),
        process => format!("another program ({process})"),
    };
    StorageError::Backend {
        what: format!("opening the folder {}", path.display()),
        cause: format!("{holder} has it open, and a folder has one user at a time"),
        remedy:
            "Close the other program, choose another folder, or use SQLite, which several programs can share"
                .to_owned(),
    }
}

/// Converts the system's error, and adds what to do about it.
pub(super) fn failed(what: &str, path: &Path, error: &io::Error) -> StorageError {
    let remedy = match error.kind() {
        _ if is_refusal(error) => {
            return StorageError::Backend {
                what: format!("{what} {}", path.display()),
                cause: error.to_string(),
                remedy: remedy_of_refusal(error, "the folder and its files", "another folder"),
            };
        }
        _ if is_lack_of_handles(error) => MORE_HANDLES,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Free some disk space and try again; what was stored before is untouched"
        }
        io::ErrorKind::FileTooLarge => {
            "Let the program write larger files (`ulimit -f`), or choose a folder on a disk that takes them, and try again; \
             what was stored before is untouched"
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            "Check that the folder is where it was and may be read and written"
        }
        _ => "Check the disk; what was stored before is untouched",
    };
    StorageError::Backend {
        what: format!("{what} {}", path.display()),
        cause: error.to_string(),
        remedy: remedy.to_owned(),
    }
}

/// Names that Windows keeps for devices, whatever their ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Returns the file name of a thread: its name, with everything but small letters, digits, `-`, `_` and `.` as `%` and
/// two digits, because some systems do not distinguish upper and lower case. A very long name is cut and ends in a
/// hash.
fn file_name(thread: &str) -> String {
    let device = DEVICES.iter().any(|name| {
        let rest = thread.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.len() == 1)
    });
    let mut name = String::with_capacity(thread.len() + 8);
    for (at, byte) in thread.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' if at > 0 || !(device || byte == b'.') => {
                name.push(char::from(byte));
            }
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    if name.len() > MAX_LENGTH {
        name.truncate(MAX_LENGTH / 2);
        name.push_str(&format!(
            "~{:032x}",
            xxhash_rust::xxh3::xxh3_128(thread.as_bytes())
        ));
    }
    name + ".jsonl"
}

/// Returns the thread of a file name without its extension; `None` if it was cut.
fn thread_name(stem: &str) -> Option<String> {
    if stem == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(stem.len());
    let mut rest = stem.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'~' => return None,
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                bytes.push((high * 16 + low) as u8);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_whose_making_was_cut_off_is_made_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("threads");
        fs::create_dir_all(path.join("threads")).unwrap();
        fs::write(path.join(LOCK), "process 1\n").unwrap();
        // As a process that is killed while it writes leaves it.
        std::mem::forget(Unfinished::write(&path.join(ABOUT), b"{\"for").unwrap());
        assert!(!path.join(ABOUT).exists());
        Folder::open(&path).unwrap();
        assert!(path.join(ABOUT).exists());
        fs::remove_file(path.join(ABOUT)).unwrap();
        fs::write(path.join("thesis.json.0.new"), "").unwrap();
        let refused = Folder::open(&path).unwrap_err().to_string();
        assert!(refused.contains("it holds other files"), "{refused}");
    }

    #[test]
    fn file_names_keep_threads_apart_and_give_their_names_back() {
        let long = "long ".repeat(100);
        let names = [
            "",
            "t",
            "T",
            "t ",
            "%",
            "%74",
            "a.b",
            ".hidden",
            "..",
            "con",
            "CON",
            "con.x",
            "com1",
            "conversation",
            "0190a000-0000-7000-8000-000000000001",
            "a/b\\c:d|e",
            "нить",
            "~",
            &long,
        ];
        let mut seen = std::collections::HashSet::new();
        for name in names {
            let file = file_name(name);
            assert!(
                file.len() < 255 && !file.starts_with('.') && !file.contains(['/', '\\', ':']),
                "{file}"
            );
            assert!(seen.insert(file.to_lowercase()), "{name:?} shares {file}");
            let back = thread_name(file.strip_suffix(".jsonl").expect("the ending"));
            assert_eq!(back.as_deref(), (name != long).then_some(name), "{file}");
        }
        assert_eq!(
            file_name("0190a000-0000-7000-8000-000000000001"),
            "0190a000-0000-7000-8000-000000000001.jsonl"
        );
        assert!(!file_name("con").starts_with("con") && file_name("conversation") == "conversation.jsonl");
    }
}
