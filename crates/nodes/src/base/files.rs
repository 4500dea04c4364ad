//! Reading files that somebody else may have made: regular files only, and no more of them than is wanted.
//!
//! A pipe in the place of a graph would be waited for without an end, and a device gives bytes without one.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The most bytes of a graph that is opened; one of 100,000 nodes has half as many.
pub const MAX_GRAPH: u64 = 64 << 20;
/// Most bytes of a file that the program itself writes into the data folder: a graph within JSON, all of it escaped.
const MAX_OWN_FILE: u64 = 4 * MAX_GRAPH;

/// Two writes that are this close may leave one stamp: file systems count time in steps of up to two seconds.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// The identity of a file, to find out whether it is still the one that was read. Where the system has them, the time that
/// no program sets and the file's number belong to it: a copy that keeps the time of its original is another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    /// Device, number, and when anything of it was changed, since 1970.
    #[cfg(unix)]
    inode: (u64, u64, Duration),
}

impl Stamp {
    /// Reads the stamp of the file as it is now; `None` when it does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        Self::read(path).ok()
    }

    /// Reads the stamp of the file as it is now.
    pub fn read(path: &Path) -> io::Result<Self> {
        let facts = std::fs::metadata(path)?;
        Ok(Self {
            modified: facts.modified().ok(),
            size: facts.len(),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt as _;
                let seconds = u64::try_from(facts.ctime()).unwrap_or_default();
                let nanos = u32::try_from(facts.ctime_nsec()).unwrap_or_default();
                (facts.dev(), facts.ino(), Duration::new(seconds, nanos))
            },
        })
    }

    /// Returns whether any write after this moment gives another stamp. Until then the content says more.
    pub fn is_final(&self, at: SystemTime) -> bool {
        #[cfg(unix)]
        let changed = Some(SystemTime::UNIX_EPOCH + self.inode.2);
        #[cfg(not(unix))]
        let changed = self.modified;
        let distance = changed.map(|changed| match at.duration_since(changed) {
            Ok(age) => age,
            // The clock of another machine, or a time that somebody set.
            Err(ahead) => ahead.duration(),
        });
        distance.is_none_or(|distance| distance >= COARSEST_CLOCK)
    }
}

/// Opens a regular file, without waiting for anybody.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe that nobody writes to is opened at once.
        let flags = rustix::fs::OFlags::NONBLOCK.bits();
        options.custom_flags(flags.cast_signed());
    }
    let file = options.open(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(file),
        kind if kind.is_dir() => Err(io::Error::new(ErrorKind::IsADirectory, "it is no regular file")),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Reads a file of at most `largest` bytes.
pub fn read_bytes(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .take(largest.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= largest {
        return Ok(bytes);
    }
    let unit = if largest >> 20 > 0 {
        (20, "MiB")
    } else {
        (10, "KiB")
    };
    let message = format!("it is larger than {} {}", largest >> unit.0, unit.1);
    Err(io::Error::new(ErrorKind::FileTooLarge, message))
}

/// Reads a file of text of at most `largest` bytes.
pub fn read_text(path: &Path, largest: u64) -> io::Result<String> {
    let bytes = read_bytes(path, largest)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// Reads a file that the program itself writes, of at most 256 MB: in its place there may be anything, as a pipe.
pub fn read_own(path: &Path) -> io::Result<String> {
    read_text(path, MAX_OWN_FILE)
}

/// Reads the beginning of a file of text: at most `most` bytes, whole characters.
pub fn read_beginning(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let (valid, is_cut) = (
                error.utf8_error().valid_up_to(),
                error.utf8_error().error_len().is_none(),
            );
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            match (is_cut, String::from_utf8(bytes)) {
                (true, Ok(text)) => Ok(text),
                _ => Err(io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_read_within_a_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        fs::write(&path, "späte").expect("written");
        assert_eq!(read_text(&path, 6).expect("fits"), "späte");
        let error = read_text(&path, 5).expect_err("one byte too many");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_beginning(&path, 3).expect("cut"), "sp", "no half character");
        assert_eq!(read_beginning(&path, 4).expect("cut"), "spä");
        assert_eq!(read_beginning(&path, 100).expect("whole"), "späte");
        fs::write(&path, [b'a', 0xff, b'b']).expect("written");
        assert_eq!(
            read_text(&path, 9).expect_err("bytes").kind(),
            ErrorKind::InvalidData
        );
        assert_eq!(
            read_beginning(&path, 9).expect_err("bytes").kind(),
            ErrorKind::InvalidData
        );
        assert_eq!(read_bytes(&path, 9).expect("any bytes"), [b'a', 0xff, b'b']);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("it runs").success());
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/zero", &device).expect("linked");
        for path in [pipe.as_path(), &device, folder.path()] {
            let error = read_bytes(path, 100).expect_err("no regular file");
            assert!(
                matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory),
                "{error}"
            );
            assert!(read_beginning(path, 100).is_err());
        }
    }
}
