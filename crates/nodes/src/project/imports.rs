//! What programs import by name, read from their text: enough to keep the files that belong to a graph, without running
//! or parsing anything.

use std::path::{Component, Path};

/// Finds the relative paths that JavaScript imports or exports from.
pub(super) fn of_javascript(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in ["from", "import"] {
        for (at, _) in text.match_indices(word) {
            let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
            if text[..at].chars().next_back().is_some_and(is_letter) {
                continue;
            }
            let rest = text[at + word.len()..].trim_start();
            let rest = rest.strip_prefix('(').map_or(rest, str::trim_start);
            let Some(quote) = rest.chars().next().filter(|letter| matches!(letter, '"' | '\'')) else {
                continue;
            };
            let named = rest[1..].split(quote).next().unwrap_or_default();
            if named.starts_with("./") || named.starts_with("../") {
                found.push(named);
            }
        }
    }
    found
}

/// A module that Python imports.
#[derive(Debug, PartialEq)]
pub(super) struct PythonImport {
    /// Dots before its name: 1 is the folder of the file, 2 the one around that.
    pub(super) up: usize,
    path: String,
}

impl PythonImport {
    /// Returns the possible files of the module.
    pub(super) fn files(&self) -> impl Iterator<Item = String> {
        let path = &self.path;
        [format!("{path}.py"), format!("{path}/__init__.py")].into_iter()
    }
}

/// Finds the modules that Python imports, including those that a name imported from a package may be.
pub(super) fn of_python(text: &str) -> Vec<PythonImport> {
    let mut found = Vec::new();
    let mut add = |up: usize, module: &str| {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
        if !module.is_empty() && module.chars().all(is_name) && !module.contains("..") {
            found.push(PythonImport {
                up,
                path: module.replace('.', "/"),
            });
        }
    };
    for line in text.lines().map(str::trim) {
        let names = |list: &str| -> Vec<String> {
            let list = list.trim_matches(['(', ')', ' ', '\\']);
            let names = list.split(',').filter_map(|name| name.split_whitespace().next());
            names.map(str::to_owned).collect()
        };
        if let Some(list) = line.strip_prefix("import ") {
            names(list).iter().for_each(|name| add(0, name));
        } else if let Some((module, list)) = line
            .strip_prefix("from ")
            .and_then(|rest| rest.split_once(" import "))
        {
            let module = module.trim();
            let name = module.trim_start_matches('.');
            let up = module.len() - name.len();
            add(up, name);
            for item in names(list) {
                match name {
                    "" => add(up, &item),
                    name => add(up, &format!("{name}.{item}")),
                }
            }
        }
    }
    found
}

/// Resolves a relative path in a folder, both with `/`; `None` if it leads out.
pub(super) fn joined(folder: &Path, named: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.iter().filter_map(|part| part.to_str()).collect();
    for part in Path::new(named).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(part) => parts.push(part.to_str()?),
            _ => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_of_javascript_are_relative_paths_after_a_word() {
        let text = "import a from './a.js'; import './b.mjs'\nexport * from \"../c.js\"; await import( './d.js' )\n\
                    reimport './no.js'; import fs from 'fs'; platform './no.js'";
        let mut found = of_javascript(text);
        found.sort_unstable();
        assert_eq!(found, ["../c.js", "./a.js", "./b.mjs", "./d.js"]);
        assert!(of_javascript("import '").is_empty());
    }

    #[test]
    fn imports_of_python_are_modules_and_what_may_be_in_them() {
        let found = of_python(
            "import os, a.b as c\n  from ..d import (e)\nfrom . import f\nfrom g.h import *\nimported = 1",
        );
        let found: Vec<(usize, &str)> = found.iter().map(|one| (one.up, one.path.as_str())).collect();
        assert_eq!(
            found,
            [(0, "os"), (0, "a/b"), (2, "d"), (2, "d/e"), (1, "f"), (0, "g/h")]
        );
    }

    #[test]
    fn paths_are_joined_and_lead_nowhere_outside() {
        assert_eq!(joined(Path::new("a/b"), "../c.json").as_deref(), Some("a/c.json"));
        assert_eq!(joined(Path::new(""), "./c.json").as_deref(), Some("c.json"));
        assert_eq!(joined(Path::new(""), "../c.json"), None);
        assert_eq!(joined(Path::new(""), "/c.json"), None);
    }
}
