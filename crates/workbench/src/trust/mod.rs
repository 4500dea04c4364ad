//! What graphs may touch outside of themselves, by project: the folder of a graph file, or an unsaved draft. It is kept in
//! the user's data folder and never in a project, so that no project can bring its own. The window, the server and the
//! command line share the file; it is read again each time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use superstep_document::Document;
use superstep_nodes::{Access, Environment, Grants};

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::wire::{
    AccessView, Empty, GrantTrust, GrantView, Problem, RevokeTrust, TrustList, TrustProject, Want,
};
use superstep_document::text;

/// Access that was allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// What.
    pub access: Access,
    /// When.
    pub at: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct GrantsFile {
    #[serde(default)]
    projects: BTreeMap<String, Vec<Granted>>,
    /// Fields of a newer release, which stay in the file.
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

/// Accesses that a graph wants, each with the nodes that want it.
pub type WantedAccess = BTreeMap<Access, BTreeSet<String>>;

/// The file of what was allowed.
#[derive(Debug)]
pub struct Trust {
    file: PathBuf,
    writing: Mutex<()>,
}

impl Trust {
    /// Name of the file in the data folder.
    pub const FILE: &'static str = "trust.json";

    /// Opens the record of what was allowed in the data folder.
    pub fn of(data_dir: &Path) -> Self {
        Self {
            file: data_dir.join(Self::FILE),
            writing: Mutex::default(),
        }
    }

    /// Returns the project that a graph file belongs to: its folder, by its name with all links resolved.
    pub fn project_of(file: &Path) -> String {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let folder = (folder.canonicalize())
            .or_else(|_| std::path::absolute(folder))
            .unwrap_or_else(|_| folder.to_owned());
        project_name(&folder)
    }

    /// Returns the accesses that the nodes of a document want.
    pub fn wanted(
        registry: &superstep_nodes::Registry,
        document: &Document,
        environment: &Environment,
    ) -> WantedAccess {
        let mut wanted = WantedAccess::new();
        for (record, accesses) in registry.accesses(document, environment) {
            let node = record.strip_prefix("node:").unwrap_or(&record);
            for access in accesses {
                wanted.entry(access).or_default().insert(node.to_owned());
            }
        }
        wanted
    }

    fn read(&self) -> Result<GrantsFile, Problem> {
        let remedy = text!("Correct the file, or delete it: then every project is asked about again.");
        files::read_json(&self.file, remedy)
    }

    /// Reads what was allowed, by project.
    pub fn projects(&self) -> Result<BTreeMap<String, Vec<Granted>>, Problem> {
        Ok(self.read()?.projects)
    }

    /// Returns what was allowed in a project. A file that cannot be read allows nothing.
    pub fn granted(&self, project: &str) -> Vec<Granted> {
        let kept = self.read().unwrap_or_else(|problem| {
            tracing::warn!(%problem, "nothing is allowed");
            GrantsFile::default()
        });
        kept.projects.get(project).cloned().unwrap_or_default()
    }

    /// Returns what was allowed in a project, in the form that is enforced on graphs.
    pub fn grants(&self, project: &str) -> Grants {
        Grants::these(self.granted(project).into_iter().map(|granted| granted.access))
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Vec<Granted>>)) -> Result<(), Problem> {
        let _writing = self.writing.lock();
        let mut kept = self.read()?;
        change(&mut kept.projects);
        kept.projects.retain(|_, granted| !granted.is_empty());
        let text = files::json_bytes(&kept)?;
        files::write_private(&self.file, &text).map_err(|e| Problem::file(text!("write"), &self.file, &e))
    }

    /// Allows something in a project.
    pub fn allow(&self, project: &str, accesses: impl IntoIterator<Item = Access>) -> Result<(), Problem> {
        let at = files::now();
        self.change(|projects| {
            let granted = projects.entry(project.to_owned()).or_default();
            for access in accesses {
                if granted.iter().all(|known| known.access != access) {
                    granted.push(Granted {
                        access,
                        at: at.clone(),
                    });
                }
            }
            granted.sort_by(|a, b| a.access.cmp(&b.access));
        })
    }

    /// Takes back what was allowed in a project: these, or everything.
    pub fn revoke(&self, project: &str, accesses: Option<&[Access]>) -> Result<(), Problem> {
        self.change(|projects| match accesses {
            None => drop(projects.remove(project)),
            Some(accesses) => {
                if let Some(granted) = projects.get_mut(project) {
                    granted.retain(|known| !accesses.contains(&known.access));
                }
            }
        })
    }
}

/// Begins the name of a project whose folder is not UTF-8; every other name is an absolute path.
const NOT_UTF8: &str = "not-utf-8:";

/// Returns the unique name of a folder: bytes that are not UTF-8 are written as `%FF`, and so is the `%` beside them.
fn project_name(folder: &Path) -> String {
    if let Some(name) = folder.to_str() {
        return name.to_owned();
    }
    let mut name = NOT_UTF8.to_owned();
    for chunk in folder.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}

fn grant_view(granted: &Granted) -> GrantView {
    GrantView {
        access: AccessView::from(&granted.access),
        at: granted.at.clone(),
    }
}

pub(crate) fn project_view(project: &str, granted: &[Granted]) -> TrustProject {
    TrustProject {
        project: project.to_owned(),
        exists: Path::new(project).is_dir()
            || project.starts_with("draft-")
            // Its bytes are not worth finding again: it is listed as it is.
            || project.starts_with(NOT_UTF8),
        granted: granted.iter().map(grant_view).collect(),
    }
}

pub(crate) fn wants<'a>(
    wanted: impl IntoIterator<Item = (&'a Access, &'a BTreeSet<String>)>,
    grants: &Grants,
) -> Vec<Want> {
    let want = |(access, nodes): (&Access, &BTreeSet<String>)| Want {
        access: AccessView::from(access),
        inside: access.inside(),
        granted: grants.allow(access),
        nodes: nodes.iter().cloned().collect(),
    };
    wanted.into_iter().map(want).collect()
}

impl Workbench {
    /// Builds the environment of a graph in this folder.
    pub(crate) fn environment(&self, folder: Option<PathBuf>) -> Environment {
        let secrets = self.keys.named.keychain().clone();
        Environment::new(folder)
            .with_variables(self.variables())
            .with_secrets(self.keys.named.lookup())
            .with_logins(self.keys.logins.clone())
            .with_models(self.models())
            .with_keychain(Arc::new(move |connection| {
                crate::models::connections::key_of(&*secrets, connection)
            }))
    }

    pub(crate) async fn trust_list(self: &Arc<Self>, _: Empty) -> Result<TrustList, Problem> {
        let this = self.clone();
        let projects = blocking(move || this.trust.projects()).await??;
        Ok(TrustList {
            projects: projects
                .iter()
                .map(|(project, granted)| project_view(project, granted))
                .collect(),
        })
    }

    pub(crate) async fn trust_grant(self: &Arc<Self>, request: GrantTrust) -> Result<TrustProject, Problem> {
        let this = self.clone();
        blocking(move || {
            let accesses = request.accesses.into_iter().map(Access::from);
            this.trust.allow(&request.project, accesses)?;
            Ok(project_view(
                &request.project,
                &this.trust.granted(&request.project),
            ))
        })
        .await?
    }

    pub(crate) async fn trust_revoke(
        self: &Arc<Self>,
        request: RevokeTrust,
    ) -> Result<TrustProject, Problem> {
        let this = self.clone();
        blocking(move || {
            let accesses: Option<Vec<Access>> = request
                .accesses
                .map(|accesses| accesses.into_iter().map(Access::from).collect());
            this.trust.revoke(&request.project, accesses.as_deref())?;
            Ok(project_view(
                &request.project,
                &this.trust.granted(&request.project),
            ))
        })
        .await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> Access {
        Access::Host(name.into())
    }

    #[test]
    fn what_is_allowed_is_kept_by_project_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let trust = Trust::of(dir.path());
        let (a, b) = ("/p/a", "/p/b");
        trust
            .allow(a, [host("x.org"), Access::Variable("KEY".into())])
            .unwrap();
        trust.allow(a, [host("x.org"), host("y.org")]).unwrap();
        trust.allow(b, [host("z.org")]).unwrap();
        let again = Trust::of(dir.path());
        assert_eq!(again.granted(a).len(), 3, "nothing stands twice");
        assert!(again.grants(a).allow(&host("y.org")) && !again.grants(a).allow(&host("z.org")));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir.path().join(Trust::FILE))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        again.revoke(a, Some(&[host("x.org")])).unwrap();
        assert!(!trust.grants(a).allow(&host("x.org")) && trust.grants(a).allow(&host("y.org")));
        again.revoke(a, None).unwrap();
        assert_eq!(trust.projects().unwrap().keys().collect::<Vec<_>>(), [b]);
    }

    #[test]
    fn fields_of_a_newer_release_stay_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(Trust::FILE);
        std::fs::write(&file, r#"{"projects": {}, "people": ["Ada"]}"#).unwrap();
        Trust::of(dir.path()).allow("/p/a", [host("x.org")]).unwrap();
        let stored: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(stored["people"], serde_json::json!(["Ada"]));
        assert_eq!(stored["projects"].as_object().unwrap().len(), 1);
    }

    #[test]
    fn a_broken_file_allows_nothing_and_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(Trust::FILE);
        std::fs::write(&file, "{\"projects\": ").unwrap();
        let trust = Trust::of(dir.path());
        assert_eq!(trust.grants("/p"), Grants::none());
        let problem = trust.allow("/p", [host("x.org")]).unwrap_err();
        assert!(problem.remedy.unwrap().contains("delete it"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"projects\": ");
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_are_not_utf_8_share_no_name() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &[u8]| project_name(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        let folders: [&[u8]; 5] = [
            b"/p\xff",
            b"/p\xfe",
            b"/p%FF",
            b"/p%FF\xff",
            "/p\u{fffd}".as_bytes(),
        ];
        let names: BTreeSet<String> = folders.into_iter().map(name).collect();
        assert_eq!(names.len(), folders.len(), "{names:?}");
        assert!(names.contains("/p%FF") && names.contains("not-utf-8:/p%FF"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_project_is_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(
            Trust::project_of(&real.join("graph.json")),
            Trust::project_of(&link.join("graph.json"))
        );
    }

    #[test]
    fn a_file_without_a_folder_is_in_the_current_one() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(Trust::project_of(Path::new("graph.json")), here.to_string_lossy());
        assert_eq!(
            Trust::project_of(Path::new("/none/at/all/graph.json")),
            "/none/at/all"
        );
    }
}
