//! The graph that a person names: `agent.py:graph`, a `langgraph.json`, or one entry of it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::AttachError;
use crate::base::files;
use crate::project::PYTHON_ENVIRONMENTS;

/// Name of the file in which a project lists its graphs.
const CONFIG: &str = "langgraph.json";
/// Largest such file, in bytes.
const MAX_CONFIG: u64 = 1024 * 1024;
/// Files that only the folder of a project has.
const OF_PROJECT: [&str; 5] = [
    CONFIG,
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
];
/// Endings of programs that are no Python.
const JAVASCRIPT: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// A graph of a LangGraph program, by the module and the name that it has there.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachTarget {
    named: String,
    root: PathBuf,
    place: ModulePlace,
    folders: Vec<PathBuf>,
    env: Option<Json>,
}

/// A module, and the name of a graph in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ModulePlace {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    name: String,
}

/// The settings of a `langgraph.json` that are used.
#[derive(Deserialize)]
struct LanggraphConfig {
    #[serde(default)]
    graphs: BTreeMap<String, GraphEntry>,
    #[serde(default)]
    dependencies: Vec<Json>,
    env: Option<Json>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GraphEntry {
    Place(String),
    Described { path: String },
}

impl GraphEntry {
    fn place(&self) -> &str {
        match self {
            GraphEntry::Place(place) | GraphEntry::Described { path: place } => place,
        }
    }
}

impl AttachTarget {
    /// Returns whether the text has the form of a program's graph; nothing is read.
    pub fn is_named_by(text: &str) -> bool {
        let (path, name) = divided(text);
        let path = Path::new(path);
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("py") => true,
            Some(ending) if JAVASCRIPT.contains(&ending) => name.is_some(),
            _ => path.file_name().is_some_and(|file| file == CONFIG),
        }
    }

    /// Finds the graph that a text names; paths begin at `here`.
    pub fn find(text: &str, here: &Path) -> Result<Self, AttachError> {
        let (path, name) = divided(text);
        let given = here.join(path);
        let file = match given.is_dir() {
            true => given.join(CONFIG),
            false => given,
        };
        let ending = file.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("json") => Self::of_config(text, &file, name),
            Some(ending) if JAVASCRIPT.contains(&ending) => Err(AttachError::JavaScript { file }),
            Some("py") => {
                let file = real(&file)?;
                let name = name.ok_or_else(|| AttachError::Unnamed { file: file.clone() })?;
                let root = root_of(&file);
                // What `python agent.py` would find, and what the project's root has.
                let folders = file.parent().map(Path::to_path_buf).into_iter().collect();
                Ok(Self {
                    named: text.to_owned(),
                    root,
                    place: ModulePlace {
                        file: Some(file),
                        module: None,
                        name: name.to_owned(),
                    },
                    folders,
                    env: None,
                })
            }
            _ => Err(AttachError::Form {
                text: text.to_owned(),
            }),
        }
    }

    fn of_config(text: &str, file: &Path, entry: Option<&str>) -> Result<Self, AttachError> {
        let file = real(file)?;
        let unfit = |cause: String| AttachError::Config {
            file: file.clone(),
            cause,
        };
        let read = files::read_text(&file, MAX_CONFIG).map_err(|error| unfit(error.to_string()))?;
        let read = read.trim_start_matches('\u{feff}');
        let config: LanggraphConfig =
            superstep_document::read_json(read.as_bytes()).map_err(|error| unfit(error.to_string()))?;
        let names = || config.graphs.keys().cloned().collect::<Vec<_>>();
        let chosen = match entry {
            Some(entry) => config.graphs.get(entry),
            None if config.graphs.len() == 1 => config.graphs.values().next(),
            None => None,
        };
        let chosen = chosen.ok_or_else(|| AttachError::Entry {
            file: file.clone(),
            entry: entry.map(str::to_owned),
            names: names(),
        })?;
        let root = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let (path, name) = divided(chosen.place());
        let Some(name) = name else {
            return Err(unfit(format!("{:?} names no graph", chosen.place())));
        };
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        let place = match ending {
            Some(ending) if JAVASCRIPT.contains(&ending) => {
                return Err(AttachError::JavaScript {
                    file: root.join(path),
                });
            }
            Some("py") => ModulePlace {
                file: Some(real(&root.join(path))?),
                module: None,
                name: name.to_owned(),
            },
            _ => ModulePlace {
                file: None,
                module: Some(path.to_owned()),
                name: name.to_owned(),
            },
        };
        Ok(Self {
            named: text.to_owned(),
            folders: folders_of(&config.dependencies, &root),
            env: config.env,
            root,
            place,
        })
    }

    /// Returns the text that named it.
    pub fn named(&self) -> &str {
        &self.named
    }

    /// Returns the folder of the project: its interpreter is looked for there, and its grants are kept under it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the file of the graph, unless the project names a module.
    pub fn file(&self) -> Option<&Path> {
        self.place.file.as_deref()
    }

    /// Returns the name of the graph in its module.
    pub fn name(&self) -> &str {
        &self.place.name
    }

    /// Creates the request that opens it.
    pub(super) fn request(&self) -> serde_json::Map<String, Json> {
        let request = serde_json::json!({
            "root": self.root,
            "place": self.place,
            "folders": self.folders,
            "env": self.env,
        });
        match request {
            Json::Object(request) => request,
            _ => serde_json::Map::new(),
        }
    }
}

/// Splits `agent.py:graph`; a drive's letter is no file.
fn divided(text: &str) -> (&str, Option<&str>) {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '\\']);
    match text.rsplit_once(':') {
        Some((path, name)) if path.len() > 1 && is_name(name) => (path, Some(name)),
        _ => (text, None),
    }
}

fn real(file: &Path) -> Result<PathBuf, AttachError> {
    let found = file.canonicalize().ok().filter(|file| file.is_file());
    found.ok_or_else(|| AttachError::NoFile {
        file: file.to_owned(),
    })
}

/// Returns the folders among the dependencies of a project; the others are packages.
fn folders_of(dependencies: &[Json], root: &Path) -> Vec<PathBuf> {
    let texts = dependencies.iter().filter_map(Json::as_str);
    let folders = texts.filter(|text| text.starts_with('.'));
    let folders = folders.filter_map(|text| root.join(text).canonicalize().ok());
    let found: Vec<PathBuf> = folders
        .flat_map(|folder| [folder.join("src"), folder])
        .filter(|folder| folder.is_dir())
        .collect();
    found
}

/// Returns the nearest folder above a file that is a project's, otherwise the file's own.
fn root_of(file: &Path) -> PathBuf {
    let own = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let is_project = |folder: &&Path| {
        let has = |name: &str| folder.join(name).exists();
        OF_PROJECT.iter().any(|name| has(name))
            || PYTHON_ENVIRONMENTS
                .iter()
                .any(|name| folder.join(name).join("pyvenv.cfg").is_file())
    };
    // Neither a home nor the root of a disk is a project.
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let project = own
        .ancestors()
        .filter(|folder| {
            folder
                .components()
                .any(|part| matches!(part, Component::Normal(_)))
        })
        .take_while(|folder| home.as_deref() != Some(*folder))
        .find(is_project);
    project.map_or_else(|| own.clone(), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_text_is_divided_at_the_name_of_the_graph() {
        assert_eq!(divided("agent.py:graph"), ("agent.py", Some("graph")));
        assert_eq!(divided("a:b/agent.py:graph"), ("a:b/agent.py", Some("graph")));
        assert_eq!(divided("a:b/agent.py"), ("a:b/agent.py", None));
        assert_eq!(divided("C:agent.py"), ("C:agent.py", None));
        assert_eq!(divided("agent.py:"), ("agent.py:", None));
        for (text, is) in [
            ("agent.py:graph", true),
            ("agent.py", true),
            ("langgraph.json", true),
            ("x/langgraph.json:a", true),
            ("graph.json", false),
            ("graph.json:a", false),
            ("agent.ts:graph", true),
            ("threads.db", false),
        ] {
            assert_eq!(AttachTarget::is_named_by(text), is, "{text}");
        }
    }

    #[test]
    fn the_project_of_a_file_is_the_folder_with_its_settings() {
        let folder = folder(&[
            ("pyproject.toml", ""),
            ("src/shop/agent.py", ""),
            ("other/.venv/pyvenv.cfg", ""),
            ("other/agent.py", ""),
        ]);
        let root = folder.path().canonicalize().unwrap();
        let found = AttachTarget::find("src/shop/agent.py:graph", &root).unwrap();
        assert_eq!(found.root(), root);
        assert_eq!(found.name(), "graph");
        assert_eq!(found.file(), Some(&*root.join("src/shop/agent.py")));
        let other = AttachTarget::find("other/agent.py:graph", &root).unwrap();
        assert_eq!(other.root(), root.join("other"));
    }

    #[test]
    fn entries_of_a_langgraph_json_are_found() {
        let config = r#"{"dependencies": [".", "langchain"], "env": ".env", "graphs": {
            "a": "./agent.py:graph", "b": {"path": "shop.agent:make"}, "c": "./web/agent.ts:graph", "d": "agent.py"}}"#;
        let folder = folder(&[("langgraph.json", config), ("agent.py", "")]);
        let root = folder.path().canonicalize().unwrap();
        let a = AttachTarget::find("langgraph.json:a", &root).unwrap();
        assert_eq!(a.file(), Some(&*root.join("agent.py")));
        assert_eq!(a.request()["env"], ".env");
        assert_eq!(a.folders, std::slice::from_ref(&root));
        let b = AttachTarget::find("langgraph.json:b", &root).unwrap();
        assert_eq!(
            b.request()["place"],
            serde_json::json!({"module": "shop.agent", "name": "make"})
        );
        let why = |text: &str| AttachTarget::find(text, &root).unwrap_err();
        assert!(matches!(why("langgraph.json:c"), AttachError::JavaScript { .. }));
        assert!(matches!(why("langgraph.json:d"), AttachError::Config { .. }));
        let AttachError::Entry { names, entry, .. } = why("langgraph.json") else {
            panic!("one of several is named");
        };
        assert_eq!((names.len(), entry), (4, None));
        assert!(matches!(why("langgraph.json:x"), AttachError::Entry { .. }));
        assert!(matches!(why("none.py:graph"), AttachError::NoFile { .. }));
        assert!(matches!(why("agent.py"), AttachError::Unnamed { .. }));
        assert!(matches!(why("agent.toml:graph"), AttachError::Form { .. }));
    }

    #[test]
    fn the_only_entry_needs_no_name() {
        let folder = folder(&[
            ("langgraph.json", r#"{"graphs": {"a": "./agent.py:graph"}}"#),
            ("agent.py", ""),
        ]);
        assert_eq!(AttachTarget::find(".", folder.path()).unwrap().name(), "graph");
        std::fs::write(folder.path().join("langgraph.json"), "{").unwrap();
        let why = AttachTarget::find(".", folder.path()).unwrap_err();
        assert!(matches!(why, AttachError::Config { .. }), "{why}");
    }
}
