//! The Python interpreter that programs of a graph run in. The variable that the app was started with comes first, then
//! what was chosen in the settings, then the project's virtual environment, then the computer's interpreter.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use superstep_nodes::python::{self, INTERPRETER};

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::wire::{Problem, PythonChosenBy, PythonView, ReadPython};

/// Returns the interpreter for a setting; a virtual environment may be named by its folder.
fn program(named: &str) -> Option<String> {
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

fn by_variable() -> Option<String> {
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

    pub(crate) async fn python_find(self: &Arc<Self>, request: ReadPython) -> Result<PythonView, Problem> {
        let source = match &request.graph_id {
            Some(id) => Some(self.document(id)?.source()),
            None => None,
        };
        let folder = source.and_then(|source| Some(source.path?.parent()?.to_path_buf()));
        let this = self.clone();
        blocking(move || {
            let chosen = this.preferences.settings().python;
            let by = match (by_variable(), chosen.as_deref().and_then(program)) {
                (Some(_), _) => Some(PythonChosenBy::Variable),
                (None, Some(_)) => Some(PythonChosenBy::Settings),
                (None, None) => None,
            };
            // Without a project there is still the computer's interpreter to report.
            let folder = folder.unwrap_or_else(|| this.graphs_dir.clone());
            match python::find(&this.environment(Some(folder))) {
                Ok(found) => PythonView {
                    program: Some(found.program.to_string_lossy().into_owned()),
                    chosen_by: by.unwrap_or(if found.of_project {
                        PythonChosenBy::Project
                    } else {
                        PythonChosenBy::Computer
                    }),
                    problem: None,
                },
                Err((message, remedy)) => PythonView {
                    program: None,
                    chosen_by: by.unwrap_or(PythonChosenBy::Computer),
                    problem: Some(Problem::new("no-python", message).remedy(remedy)),
                },
            }
        })
        .await
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
