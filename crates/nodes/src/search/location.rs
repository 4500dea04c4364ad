//! Where documents are: inside the project, or elsewhere by their whole path and with a grant.

use std::path::{Component, Path, PathBuf};

use super::SearchError;
use crate::base::access::Access;

/// A folder or file with documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPlace {
    /// Where it really is, links followed.
    pub path: PathBuf,
    /// What reading it touches, when it is outside of the project.
    pub access: Option<Access>,
}

/// Resolves the place that `name` means for a graph in `folder`, whose files are bounded by `root`.
///
/// A relative name stays inside the graph's folder, whatever links lie on the way. An absolute one may lead anywhere, and
/// outside of the project it is marked, so that its owner can be asked.
pub fn resolve(folder: Option<&Path>, root: Option<&Path>, name: &str) -> Result<SearchPlace, SearchError> {
    let given = Path::new(name.trim());
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|_| SearchError::Missing(path.to_owned()))
    };
    if given.is_absolute() {
        let path = real(given)?;
        let inside = [root, folder]
            .into_iter()
            .flatten()
            .filter_map(|root| root.canonicalize().ok())
            .any(|root| path.starts_with(root));
        return Ok(SearchPlace {
            access: (!inside).then(|| access(&path)),
            path,
        });
    }
    let folder = folder.ok_or(SearchError::NoGraphFolder)?;
    let plain = given
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !plain || name.contains('\\') {
        return Err(SearchError::Outside(name.to_owned()));
    }
    let (own, path) = (real(folder)?, real(&folder.join(given))?);
    if !path.starts_with(&own) {
        return Err(SearchError::Outside(name.to_owned()));
    }
    Ok(SearchPlace { path, access: None })
}

/// Creates the access for reading at `path`.
pub(crate) fn access(path: &Path) -> Access {
    Access::Folder(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_and_what_is_outside() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        for folder in ["project/graph/docs", "secret"] {
            std::fs::create_dir_all(real.join(folder)).unwrap();
        }
        std::fs::write(real.join("secret/b.md"), "y").unwrap();
        let (root, graph) = (real.join("project"), real.join("project/graph"));
        let find = |name: &str| resolve(Some(&graph), Some(&root), name);
        for inside in ["docs", "./docs", ".", &graph.join("docs").display().to_string()] {
            assert_eq!(find(inside).unwrap().access, None, "{inside}");
        }
        for outside in ["../secret", "docs/../../secret", "..", "..\\secret"] {
            assert!(matches!(find(outside), Err(SearchError::Outside(_))), "{outside}");
        }
        let secret = real.join("secret");
        let found = find(&secret.display().to_string()).unwrap();
        assert_eq!(found.access, Some(Access::Folder(secret.display().to_string())));
        assert!(matches!(find("nowhere"), Err(SearchError::Missing(_))));
        assert!(matches!(
            resolve(None, None, "docs"),
            Err(SearchError::NoGraphFolder)
        ));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, graph.join("link")).unwrap();
            assert!(
                matches!(find("link"), Err(SearchError::Outside(_))),
                "a link leads outside"
            );
            // Named by its whole path, a link is what it leads to.
            let through = find(&graph.join("link").display().to_string()).unwrap();
            assert_eq!(through.access, Some(Access::Folder(secret.display().to_string())));
        }
    }
}
