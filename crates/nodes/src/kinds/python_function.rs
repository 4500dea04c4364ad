//! Functions of Python in settings: what is wrong with one, what it touches, and how it is built.

use superstep_document::Reducer;

use crate::base::access::Access;
use crate::base::files;
use crate::programs::python::{MAX_FILE, PythonError, PythonFunction, PythonWork, inside, interpreter};
use crate::registry::{BuildSite, Site};
use superstep_document::text;

impl PythonFunction {
    /// Says what is wrong with it, and what it touches.
    pub(crate) fn check(&self, site: &mut Site<'_>, base: &str) {
        let at = |field: &str| format!("{}/{field}", base);
        match (self.module(), self.source()) {
            (Some(module), None) => self.check_file(site, module, base),
            (None, Some(_)) => {}
            (None, None) => site.error(
                "missing-setting",
                &at("source"),
                text!("There is no Python function."),
                text!("Write its source, or name a module of the project and a function in it."),
            ),
            (Some(_), Some(_)) => site.error(
                "python-twice",
                &at("module"),
                text!("There are both a module and a source."),
                text!("Remove one of them."),
            ),
        }
        let Some(environment) = site.environment() else {
            return;
        };
        let named = match interpreter(environment) {
            Ok(found) => found.named,
            Err(error) => {
                let code = match error {
                    PythonError::NoProject => "graph-not-saved",
                    _ => "python-missing",
                };
                let message = error.missing();
                let remedy = match code {
                    "graph-not-saved" => PythonError::NoProject.remedy(),
                    _ => PythonError::NotFound.remedy(),
                };
                site.error(code, base, message, remedy);
                "python3".to_owned()
            }
        };
        let missing: Vec<String> = self
            .variables
            .iter()
            .filter(|name| (environment.variables)(name).is_none())
            .cloned()
            .collect();
        site.reaches(Access::Program(named));
        for name in &self.variables {
            site.reaches(Access::Variable(name.clone()));
        }
        for name in missing {
            let message = text!("The secret or environment variable {name} has no value.", name);
            site.warning(
                "missing-variable",
                &at("variables"),
                message,
                text!("Enter a value in Settings under Secrets, or set the variable before Superstep is started."),
            );
        }
    }

    fn check_file(&self, site: &mut Site<'_>, module: &str, base: &str) {
        let at = |field: &str| format!("{}/{field}", base);
        let Some(function) = self.function.as_deref().filter(|name| !name.trim().is_empty()) else {
            let remedy = text!("Name one of the functions in the module.");
            site.error(
                "missing-setting",
                &at("function"),
                text!("The setting `function` is missing."),
                remedy,
            );
            return;
        };
        let Some(environment) = site.environment() else {
            return;
        };
        let path = match inside(environment, module) {
            Ok(path) => path,
            Err(PythonError::NoProject) => return,
            Err(error) => {
                let remedy = text!("Name a Python file of the project, by its path from the graph's folder.");
                site.error("missing-module", &at("module"), error.to_string(), remedy);
                return;
            }
        };
        let Ok(text) = files::read_text(&path, MAX_FILE) else {
            return;
        };
        let first = function.split('.').next().unwrap_or(function);
        let stands = text.lines().any(|line| {
            let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.into_iter().any(|word| word == first)
        });
        if !stands {
            let message = text!("{module} has no function `{function}`.", module, function);
            site.error(
                "missing-function",
                &at("function"),
                message,
                text!("Correct the name, or write the function."),
            );
        }
    }

    /// Returns the text of the function's file or source, for guessing the state keys that it uses.
    pub(crate) fn text(&self, site: &Site<'_>) -> Option<String> {
        match (self.source(), self.module()) {
            (Some(source), _) => Some(source.to_owned()),
            (None, Some(module)) => {
                let path = inside(site.environment()?, module).ok()?;
                files::read_text(&path, MAX_FILE).ok()
            }
            (None, None) => None,
        }
    }
}

impl PythonWork {
    /// Creates the function, ready to be called by the node that is being built.
    pub(crate) fn build(function: PythonFunction, site: &BuildSite<'_>) -> Self {
        let messages = site.keys.names().filter(|name| {
            site.keys
                .get(name)
                .is_some_and(|key| key.reducer == Reducer::AddMessages)
        });
        let messages = messages.map(str::to_owned).collect();
        let keys = site.keys.names().map(str::to_owned).collect();
        Self::new(
            function,
            site.environment.clone(),
            site.pythons.clone(),
            messages,
            keys,
        )
    }
}
