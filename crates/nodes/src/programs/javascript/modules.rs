//! Modules of a program: JavaScript files within the project's folder, and nothing else.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module};

use super::FILE;
use crate::base::files;

/// Largest module that is read.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Folders of the modules of a graph's programs.
#[derive(Clone, Debug)]
pub struct Files {
    /// The project's folder; nothing outside of it is read.
    root: Arc<Path>,
    /// The graph's folder, where its programs import from.
    folder: Arc<Path>,
}

impl Files {
    /// Creates the modules under `root` for programs of a graph in `folder`. `None` if there are no such folders.
    pub fn new(root: &Path, folder: &Path) -> Option<Self> {
        let (root, folder) = (root.canonicalize().ok()?, folder.canonicalize().ok()?);
        folder.starts_with(&root).then(|| Self {
            root: root.into(),
            folder: folder.into(),
        })
    }

    /// Returns the project's folder and the graph's.
    pub(super) fn folders(&self) -> (&Path, &Path) {
        (&self.root, &self.folder)
    }

    /// Creates the same modules in another process, which trusts that the folders were checked.
    pub(super) fn in_folders(root: PathBuf, folder: PathBuf) -> Self {
        Self {
            root: root.into(),
            folder: folder.into(),
        }
    }

    /// Finds the file that `name` means in `base`, as a path from the root with `/`.
    pub(super) fn find(&self, base: &str, name: &str) -> Result<String, String> {
        if !(name.starts_with("./") || name.starts_with("../")) {
            return Err(
                "programs import files of the project only, by a path such as `./lib/text.js`".to_owned(),
            );
        }
        let from = if base == FILE {
            self.folder.to_path_buf()
        } else {
            self.root.join(base).parent().unwrap_or(&self.root).to_path_buf()
        };
        let file = flat(&from.join(name));
        let kind = file.extension().and_then(|kind| kind.to_str());
        if !matches!(kind, Some("js" | "mjs")) {
            return Err("programs import files that end in `.js` or `.mjs`".to_owned());
        }
        // A path that leads out is not even looked for, so that nobody learns what is there.
        let outside = || "it is outside of the project's folder".to_owned();
        if !file.starts_with(&self.root) {
            return Err(outside());
        }
        let file = file
            .canonicalize()
            .map_err(|_| "there is no such file".to_owned())?;
        let inside = file.strip_prefix(&self.root).map_err(|_| outside())?;
        let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
        parts
            .map(|parts| parts.join("/"))
            .ok_or_else(|| "its name is no text".to_owned())
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let file = self.root.join(name);
        files::read_text(&file, MAX_FILE).map_err(|error| error.to_string())
    }
}

/// Removes `.` and `..` from the path.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                flat.pop();
            }
            part => flat.push(part),
        }
    }
    flat
}

/// Both halves of importing.
#[derive(Clone)]
pub(super) enum Imports {
    /// Files of a project; without folders nothing is found.
    Of(Option<Files>),
    /// Every module is there and empty: for programs that are read and not run.
    Unread,
}

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        let found = match self {
            Imports::Of(Some(files)) => files.find(base, name),
            Imports::Of(None) => Err("this graph is in no folder yet; save it first".to_owned()),
            Imports::Unread => Ok(name.to_owned()),
        };
        found.map_err(|cause| Error::new_resolving_message(base, name, cause))
    }
}

impl Loader for Imports {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let text = match self {
            Imports::Of(Some(files)) => files.read(name),
            Imports::Of(None) => Err("this graph is in no folder yet".to_owned()),
            Imports::Unread => Ok(String::new()),
        };
        let text = text.map_err(|cause| Error::new_loading_message(name, cause))?;
        Module::declare(ctx.clone(), name, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn nothing_outside_of_the_project_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("graphs/lib")).unwrap();
        fs::write(folder.path().join("secret.js"), "export const key = 1").unwrap();
        fs::write(root.join("graphs/lib/a.js"), "").unwrap();
        fs::write(root.join("top.mjs"), "").unwrap();
        fs::write(root.join("data.json"), "{}").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join("secret.js"), root.join("link.js")).unwrap();
        let files = Files::new(&root, &root.join("graphs")).unwrap();
        assert_eq!(files.find(FILE, "./lib/a.js").as_deref(), Ok("graphs/lib/a.js"));
        assert_eq!(
            files.find("graphs/lib/a.js", "../../top.mjs").as_deref(),
            Ok("top.mjs")
        );
        for (name, cause) in [
            ("../../secret.js", "outside"),
            ("../../../../../../etc/passwd.js", "outside"),
            ("/etc/passwd", "by a path"),
            ("fs", "by a path"),
            ("../data.json", "end in"),
            ("./none.js", "no such file"),
            #[cfg(unix)]
            ("../link.js", "outside"),
        ] {
            let message = files.find(FILE, name).unwrap_err();
            assert!(message.contains(cause), "{name}: {message}");
        }
        assert!(Files::new(&root.join("graphs"), folder.path()).is_none());
    }
}
