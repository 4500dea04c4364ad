//! Programs of our own that run beside this one: the same executable, started once more for one kind of work, so that
//! the work can be limited, and ended by force, without the program that wants it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{family, sandbox, search::reader};

/// Variable that names the work an executable is started for.
const WORK: &str = "SUPERSTEP_WORK";

/// Has this program said that it serves when it is asked?
static SERVES: AtomicBool = AtomicBool::new(false);

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Reads PDF and HTML.
    Documents,
    /// Runs JavaScript.
    JavaScript,
    /// Runs another program, and ends what that has started.
    Family,
}

impl Work {
    const ALL: [Work; 3] = [Work::Documents, Work::JavaScript, Work::Family];

    fn name(self) -> &'static str {
        match self {
            Work::Documents => "documents",
            Work::JavaScript => "javascript",
            Work::Family => "family",
        }
    }

    /// The variable that asks for it, with its value.
    pub(crate) fn variable(self) -> (&'static str, &'static str) {
        (WORK, self.name())
    }
}

/// An executable that serves when it is asked: it calls [`serve_if_asked`] before anything else.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

impl Program {
    /// This program once more; none when it does not call [`serve_if_asked`], because then it would do its own work twice.
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

/// Does the work that this program was started for beside another one, and ends the process; otherwise returns at once.
///
/// Programs that run graphs call this at the head of `main`, before they start threads or read anything: from then on
/// JavaScript runs in processes that can be ended, and PDF and HTML are read.
pub fn serve_if_asked() {
    SERVES.store(true, Ordering::Relaxed);
    serve_as_asked();
}

/// Does the work that this program was started for, without the promise that it always would: for test programs, which
/// are started with the arguments that lead to this call.
#[doc(hidden)]
pub fn serve_as_asked() {
    let Some(asked) = std::env::var_os(WORK) else {
        return;
    };
    let work = Work::ALL.into_iter().find(|work| asked == work.name());
    let served = match work {
        Some(Work::Documents) => reader::work(),
        Some(Work::JavaScript) => sandbox::work(),
        Some(Work::Family) => family::work(),
        // An executable that was replaced by another release.
        None => false,
    };
    std::process::exit(i32::from(!served));
}
