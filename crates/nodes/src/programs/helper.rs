//! Helper processes: the same executable, started once more for one kind of work, so that
//! the work can be limited, and ended by force, without the program that wants it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Variable that names the work an executable is started for.
const WORK: &str = "SUPERSTEP_WORK";

/// Has this program said that it serves when it is asked?
static SERVES: AtomicBool = AtomicBool::new(false);

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelperWork {
    /// Reads PDF and HTML.
    Documents,
    /// Runs JavaScript.
    JavaScript,
    /// Runs another program, and ends what that has started.
    ProcessGroup,
}

impl HelperWork {
    const ALL: [HelperWork; 3] = [
        HelperWork::Documents,
        HelperWork::JavaScript,
        HelperWork::ProcessGroup,
    ];

    fn name(self) -> &'static str {
        match self {
            HelperWork::Documents => "documents",
            HelperWork::JavaScript => "javascript",
            HelperWork::ProcessGroup => "family",
        }
    }

    /// Returns the work that this program was started for; an error if it belongs to another release.
    pub(crate) fn asked() -> Option<Result<Self, OsString>> {
        let asked = std::env::var_os(WORK)?;
        let work = Self::ALL.into_iter().find(|work| asked == work.name());
        Some(work.ok_or(asked))
    }

    /// Returns the variable that requests this work, with its value.
    pub(crate) fn variable(self) -> (&'static str, &'static str) {
        (WORK, self.name())
    }
}

/// An executable that serves when it is asked: it calls [`serve_if_asked`](crate::serve_if_asked) before anything else.
#[derive(Clone, Debug)]
pub struct HelperProgram {
    /// The file.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

impl HelperProgram {
    /// Notes that this program serves when it is asked.
    pub(crate) fn promise() {
        SERVES.store(true, Ordering::Relaxed);
    }

    /// Returns this program as a helper; `None` if it does not call [`serve_if_asked`](crate::serve_if_asked): it would
    /// do its own work twice.
    pub fn this() -> Option<Self> {
        if !SERVES.load(Ordering::Relaxed) {
            return None;
        }
        // The file of that name may be another one by now, after an update, or gone.
        let own = PathBuf::from("/proc/self/exe");
        let path = match cfg!(target_os = "linux") && own.exists() {
            true => own,
            false => std::env::current_exe().ok()?,
        };
        Some(Self {
            path,
            args: Vec::new(),
        })
    }
}
