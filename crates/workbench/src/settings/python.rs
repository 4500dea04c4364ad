//! The Python interpreter that programs of a graph run in. The variable that the app was started with comes first, then
//! what was chosen in the settings, then the project's virtual environment, then the computer's interpreter.

use std::path::{Path, PathBuf};

use superstep_nodes::python::INTERPRETER;

use crate::Workbench;
use crate::base::files;

/// Returns the interpreter for a setting; a virtual environment may be named by its folder.
pub(crate) fn program(named: &str) -> Option<String> {
    let named = named.trim();
    if named.is_empty() {
        return None;
    }
    if Path::new(named).components().count() == 1 && !named.starts_with('~') {
        return Some(named.to_owned());
    }
    let path = files::absolute(named).unwrap_or_else(|_| PathBuf::from(named));
    let path = match path.is_dir() {
        true if cfg!(windows) => path.join("Scripts/python.exe"),
        true => path.join("bin/python"),
        false => path,
    };
    Some(path.to_string_lossy().into_owned())
}

pub(crate) fn by_variable() -> Option<String> {
    std::env::var(INTERPRETER)
        .ok()
        .filter(|name| !name.trim().is_empty())
}

impl Workbench {
    /// Returns the environment's variables, with the interpreter that was chosen in the settings.
    pub(crate) fn variables(&self) -> impl Fn(&str) -> Option<String> + Send + Sync + use<> {
        let chosen = self.preferences.settings().python.as_deref().and_then(program);
        move |name| match name {
            INTERPRETER => by_variable().or_else(|| chosen.clone()),
            name => std::env::var(name).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_environment_is_named_by_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let inside = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        let named = program(&dir.path().to_string_lossy()).unwrap();
        assert_eq!(Path::new(&named), dir.path().join(inside));
        assert_eq!(program(" python3.12 ").as_deref(), Some("python3.12"));
        assert_eq!(program("  "), None);
    }
}
