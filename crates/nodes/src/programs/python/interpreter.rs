//! Which Python is the project's.

use std::env;
use std::path::{Path, PathBuf};

use super::{INTERPRETER, PythonError};
use crate::project::{Environment, PYTHON_ENVIRONMENTS};
use superstep_document::Text;

/// Variables that every worker is given, when this process has them.
const VARIABLES: [&str; 17] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "USER",
    "USERPROFILE",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "COMSPEC",
];

/// An interpreter.
#[derive(Debug)]
pub(crate) struct Interpreter {
    pub(crate) program: PathBuf,
    /// As the project's owner is asked for it.
    pub(crate) named: String,
}

/// Location of a project's interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpreterLocation {
    /// The program.
    pub program: PathBuf,
    /// It is of the project's own virtual environment.
    pub of_project: bool,
}

/// Finds the interpreter that programs of a project run in, or returns why there is none and what to do. Nothing is
/// started.
pub fn find(environment: &Environment) -> Result<InterpreterLocation, (Text, Text)> {
    let interpreter = interpreter(environment).map_err(|error| (error.missing(), error.remedy()))?;
    let of_project = environment
        .root()
        .is_some_and(|root| interpreter.program.starts_with(root));
    Ok(InterpreterLocation {
        program: interpreter.program,
        of_project,
    })
}

/// Returns the configured interpreter, otherwise the one of the project's virtual environment, otherwise the
/// computer's.
pub(crate) fn interpreter(environment: &Environment) -> Result<Interpreter, PythonError> {
    let configured = (environment.shown_variables)(INTERPRETER).filter(|name| !name.trim().is_empty());
    if let Some(named) = configured {
        let path = Path::new(&named);
        let found = if path.components().count() > 1 {
            path.is_file().then(|| path.to_path_buf())
        } else {
            on_path(&named)
        };
        let program = found.ok_or_else(|| PythonError::Configured(named.clone()))?;
        return Ok(Interpreter { program, named });
    }
    let root = environment.root().ok_or(PythonError::NoProject)?;
    let inside = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    for folder in PYTHON_ENVIRONMENTS {
        let program = root.join(folder).join(inside);
        if program.is_file() {
            return Ok(Interpreter {
                program,
                named: format!("{folder}/{inside}"),
            });
        }
    }
    for named in ["python3", "python"] {
        if let Some(program) = on_path(named) {
            return Ok(Interpreter {
                program,
                named: named.to_owned(),
            });
        }
    }
    Err(PythonError::NotFound)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    let names = if cfg!(windows) {
        vec![format!("{name}.exe")]
    } else {
        vec![name.to_owned()]
    };
    let places = env::split_paths(&paths).flat_map(|folder| {
        names
            .iter()
            .map(move |name| folder.join(name))
            .collect::<Vec<_>>()
    });
    places
        // On Windows a stub of this name leads to a shop.
        .filter(|program| !program.to_string_lossy().contains("WindowsApps"))
        .find(|program| program.is_file())
}

/// Returns the variables of a worker's environment besides the declared ones.
pub(crate) fn variables() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    VARIABLES
        .iter()
        .filter_map(|name| Some((*name, env::var_os(name)?)))
}
