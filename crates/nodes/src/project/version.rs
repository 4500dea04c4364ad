//! What a graph consists of at a moment: its document, the graph files that it runs, and the programs of the project that
//! these import by name. Nothing of the project is run to find it out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use superstep::Value;
use superstep::checkpoint::GraphVersion;
use superstep::value::Object;
use superstep_document::{Document, Section};

use super::graph_files::{find, run_by};
use super::imports;
use super::{Environment, PYTHON_ENVIRONMENTS};
use crate::base::files::{self, Stamp};
use crate::base::secrets;

/// Largest file that is kept.
const MAX_FILE: u64 = 1 << 20;
/// Bytes of all files together that are kept.
const MAX_BYTES: usize = 8 << 20;
/// Files that are kept.
const MAX_FILES: usize = 500;
/// Packages that are named.
const MAX_PACKAGES: usize = 2_000;

/// Documents and files of which a graph consists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphSources {
    /// The document's text.
    pub document: String,
    /// Texts of the other files, by their path from the project's folder.
    pub files: BTreeMap<String, String>,
    /// Files that are not kept, because they are too large or too many.
    pub left_out: BTreeSet<String>,
    /// Python packages of the project's own environment, with their versions.
    pub packages: BTreeMap<String, String>,
    /// Something was taken out that is a secret: the texts are to be read, and not to be run.
    pub redacted: bool,
}

/// Identifies what a document says, whatever its layout is.
pub fn document_hash(document: &Document) -> String {
    let mut json = match document.source() {
        Some(text) => Json::String(text.to_owned()),
        None => document.to_json(),
    };
    if let Some(members) = json.as_object_mut() {
        members.remove(Section::Layout.field());
    }
    short(Sha256::new().chain_update(json.to_string()))
}

fn short(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl GraphSources {
    /// Collects what a document consists of, and the files that were looked at for it, in their state then.
    pub fn of(document: &Document, environment: &Environment) -> (Self, Vec<(PathBuf, Stamp)>) {
        let mut gathering = Gathering {
            root: environment.root().and_then(|root| root.canonicalize().ok()),
            sources: Self::default(),
            seen: BTreeSet::new(),
            stamps: Vec::new(),
            bytes: 0,
            python: false,
        };
        gathering.sources.document = gathering.shown(
            document
                .source()
                .map_or_else(|| document.to_text(), str::to_owned),
        );
        gathering.document(document, environment);
        if gathering.python {
            gathering.packages();
        }
        (gathering.sources, gathering.stamps)
    }

    /// Converts the sources to the form that a thread keeps.
    pub fn version(&self) -> GraphVersion {
        let (document, _) = Document::parse(&self.document);
        let hash = document_hash(&document);
        let facts: Object = [
            ("document", Value::from(hash.as_str())),
            ("nodes", (document.section(Section::Nodes).len() as i64).into()),
            ("edges", (document.section(Section::Edges).len() as i64).into()),
        ]
        .into_iter()
        .collect();
        GraphVersion::new(self.id(&hash), self.content()).facts(facts)
    }

    fn id(&self, document: &str) -> String {
        if self.files.is_empty() && self.left_out.is_empty() && self.packages.is_empty() {
            return document.to_owned();
        }
        let pairs = self.files.iter().chain(&self.packages);
        let hash = pairs.fold(Sha256::new().chain_update(document), |hash, (name, what)| {
            hash.chain_update(name)
                .chain_update([0])
                .chain_update(what)
                .chain_update([0])
        });
        let left_out = self.left_out.iter();
        short(left_out.fold(hash, |hash, name| hash.chain_update(name).chain_update([1])))
    }

    fn content(&self) -> Value {
        let pairs = |pairs: &BTreeMap<String, String>| -> Object {
            let pairs = pairs.iter();
            pairs.map(|(name, what)| (name.as_str(), what.as_str())).collect()
        };
        let mut content = Object::new();
        content.insert("document", self.document.as_str());
        if !self.files.is_empty() {
            content.insert("files", pairs(&self.files));
        }
        if !self.packages.is_empty() {
            content.insert("packages", pairs(&self.packages));
        }
        if !self.left_out.is_empty() {
            let names: Vec<Value> = self.left_out.iter().map(|name| name.as_str().into()).collect();
            content.insert("left_out", Value::from(names));
        }
        if self.redacted {
            content.insert("redacted", true);
        }
        content.into()
    }

    /// Reads the sources that a thread keeps; `None` for those of another kind of program.
    pub fn read(content: &Value) -> Option<Self> {
        let pairs = |name: &str| -> BTreeMap<String, String> {
            let pairs = content.get(name).and_then(Value::as_object);
            let pairs = pairs.into_iter().flat_map(|pairs| pairs.iter());
            pairs
                .filter_map(|(name, what)| Some((name.to_string(), what.as_str()?.to_owned())))
                .collect()
        };
        let left_out = content.get("left_out").and_then(Value::as_array);
        let left_out = left_out.into_iter().flat_map(|names| names.iter());
        Some(Self {
            document: content.get("document")?.as_str()?.to_owned(),
            files: pairs("files"),
            left_out: left_out
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect(),
            packages: pairs("packages"),
            redacted: content.get("redacted").and_then(Value::as_bool) == Some(true),
        })
    }

    /// Returns the document.
    pub fn document(&self) -> Document {
        Document::parse(&self.document).0
    }

    /// Returns the graph that a node runs from a file here, as this file is seen from the graph file `at` (`None`: the
    /// outermost one, in `folder`).
    pub fn nested(&self, from: &str, named: &str) -> Option<(String, Document)> {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        let path = imports::joined(folder, named)?;
        let text = self.files.get(&path)?;
        Some((path, Document::parse(text).0))
    }
}

/// Files on the way to a [`GraphSources`].
struct Gathering {
    root: Option<PathBuf>,
    sources: GraphSources,
    seen: BTreeSet<PathBuf>,
    stamps: Vec<(PathBuf, Stamp)>,
    bytes: usize,
    python: bool,
}

impl Gathering {
    fn shown(&mut self, text: String) -> String {
        match secrets::redact(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(redacted) => {
                self.sources.redacted |= redacted != text;
                redacted
            }
        }
    }

    /// Takes a file along, once; its text is to be looked through.
    fn take(&mut self, file: &Path) -> Option<String> {
        let name = file.strip_prefix(self.root.as_deref()?).ok()?;
        let parts: Option<Vec<&str>> = name.iter().map(|part| part.to_str()).collect();
        let name = parts?.join("/");
        if !self.seen.insert(file.to_owned()) {
            return None;
        }
        let stamp = Stamp::of(file)?;
        self.stamps.push((file.to_owned(), stamp));
        let text = files::read_text(file, MAX_FILE).ok();
        let fits =
            |text: &String| self.bytes + text.len() <= MAX_BYTES && self.sources.files.len() < MAX_FILES;
        let Some(text) = text.filter(fits) else {
            self.sources.left_out.insert(name);
            return None;
        };
        self.bytes += text.len();
        let shown = self.shown(text.clone());
        self.sources.files.insert(name, shown);
        Some(text)
    }

    fn document(&mut self, document: &Document, environment: &Environment) {
        let Some(folder) = environment
            .folder
            .as_deref()
            .and_then(|folder| folder.canonicalize().ok())
        else {
            return;
        };
        for (_, spec) in document.nodes() {
            for named in run_by(&spec) {
                let Ok(file) = find(environment, named) else {
                    continue;
                };
                if let Some(text) = self.take(&file) {
                    self.document(&Document::parse(&text).0, &environment.at(&file));
                }
            }
            for value in spec.config.values() {
                self.setting(value, &folder);
            }
            self.python |= spec.config.get("language").and_then(Json::as_str) == Some("python");
        }
    }

    /// Collects programs in a setting, and files that it names.
    fn setting(&mut self, value: &Json, folder: &Path) {
        match value {
            Json::String(text) if text.ends_with(".py") => {
                if let Some(file) = self.inside(&folder.join(text)) {
                    self.python(&file);
                }
            }
            Json::String(text) if text.contains("import") => {
                self.scripts(text, folder);
                self.modules(text, folder);
            }
            Json::Array(items) => items.iter().for_each(|item| self.setting(item, folder)),
            Json::Object(fields) => fields.values().for_each(|field| self.setting(field, folder)),
            _ => {}
        }
    }

    /// Returns the file if it belongs to the project.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let file = path.canonicalize().ok()?;
        (file.is_file() && file.starts_with(self.root.as_deref()?)).then_some(file)
    }

    /// Collects JavaScript that a text imports.
    fn scripts(&mut self, text: &str, folder: &Path) {
        for named in imports::of_javascript(text) {
            let Some(file) = self.inside(&folder.join(named)) else {
                continue;
            };
            if let Some(text) = self.take(&file) {
                self.scripts(&text, file.parent().unwrap_or(folder));
            }
        }
    }

    fn python(&mut self, file: &Path) {
        self.python = true;
        if let Some(text) = self.take(file) {
            self.modules(&text, file.parent().unwrap_or(file));
        }
    }

    /// Collects the project's Python modules that a text imports.
    fn modules(&mut self, text: &str, folder: &Path) {
        let Some(root) = self.root.clone() else { return };
        for named in imports::of_python(text) {
            let places = match named.up {
                0 => vec![folder.to_owned(), root.clone()],
                up => folder
                    .ancestors()
                    .nth(up - 1)
                    .map(Path::to_owned)
                    .into_iter()
                    .collect(),
            };
            for place in places {
                let found: Vec<PathBuf> = named
                    .files()
                    .filter_map(|file| self.inside(&place.join(file)))
                    .collect();
                found.iter().for_each(|file| self.python(file));
                if !found.is_empty() {
                    break;
                }
            }
        }
    }

    /// Collects what is installed in the project's own environment, by the names of its folders.
    fn packages(&mut self) {
        let Some(root) = self.root.clone() else { return };
        for folder in PYTHON_ENVIRONMENTS.map(|name| root.join(name)) {
            let libraries = std::fs::read_dir(folder.join("lib"))
                .into_iter()
                .flatten()
                .flatten();
            let of_unix = libraries.map(|entry| entry.path().join("site-packages"));
            for place in of_unix.chain([folder.join("Lib/site-packages")]) {
                let Some(stamp) = Stamp::of(&place) else { continue };
                self.stamps.push((place.clone(), stamp));
                let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
                let named = entries.filter_map(|entry| {
                    let name = entry.file_name().to_str()?.strip_suffix(".dist-info")?.to_owned();
                    let (name, version) = name.rsplit_once('-')?;
                    Some((name.to_owned(), version.to_owned()))
                });
                self.sources.packages.extend(named.take(MAX_PACKAGES));
            }
            if !self.sources.packages.is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn graph(nodes: &str) -> String {
        format!(r#"{{"format": "superstep/1", "nodes": {nodes}, "edges": []}}"#)
    }

    #[test]
    fn what_a_graph_runs_and_imports_is_found_and_nothing_outside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        write(folder.path(), "secret.js", "export const key = 1");
        write(
            &root,
            "inner.json",
            &graph(
                r#"{"b": {"kind": "code", "config": {"source": "import {c} from './lib/c.mjs'\nexport default () => c"}}}"#,
            ),
        );
        write(
            &root,
            "lib/c.mjs",
            "import \"./d.js\"\nimport x from '../../secret.js'\nexport const c = 1",
        );
        write(&root, "lib/d.js", "");
        write(&root, "lib/unused.js", "");
        write(
            &root,
            "nodes/work.py",
            "import json, helpers\nfrom .near import thing\nfrom nodes.deep import more\n",
        );
        write(&root, "nodes/near.py", "");
        write(&root, "nodes/deep/__init__.py", "");
        write(&root, "nodes/deep/more.py", "");
        write(&root, "helpers.py", "");
        write(
            &root,
            ".venv/lib/python3.12/site-packages/numpy-2.1.0.dist-info/METADATA",
            "",
        );
        let outer = graph(
            r#"{"a": {"kind": "graph", "config": {"graph": "inner.json"}},
               "p": {"kind": "code", "config": {"language": "python", "module": "nodes/work.py", "function": "f"}}}"#,
        );
        let (document, _) = Document::parse(&outer);
        let environment = Environment::new(Some(root.clone()));
        let (sources, stamps) = GraphSources::of(&document, &environment);
        let names: Vec<&str> = sources.files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "helpers.py",
                "inner.json",
                "lib/c.mjs",
                "lib/d.js",
                "nodes/deep/__init__.py",
                "nodes/deep/more.py",
                "nodes/near.py",
                "nodes/work.py"
            ]
        );
        assert_eq!(
            sources.packages,
            BTreeMap::from([("numpy".to_owned(), "2.1.0".to_owned())])
        );
        assert_eq!(
            stamps.len(),
            names.len() + 1,
            "a change of any of them is noticed"
        );
        let kept = sources.version();
        assert_eq!(GraphSources::read(&kept.content).as_ref(), Some(&sources));
        assert_ne!(&*kept.id, document_hash(&document).as_str(), "the files count");
        write(&root, "lib/d.js", "1");
        let (changed, _) = GraphSources::of(&document, &environment);
        assert_ne!(
            changed.version().id,
            kept.id,
            "a module that is imported by another one counts"
        );
        assert_eq!(
            sources
                .nested("graph.json", "inner.json")
                .map(|(path, _)| path)
                .as_deref(),
            Some("inner.json")
        );
    }

    #[test]
    fn moving_a_node_is_no_other_version() {
        let at = |x: u32, prompt: &str| {
            let text = format!(
                r#"{{"format": "superstep/1", "nodes": {{"a": {{"kind": "assign", "config": {{"p": "{prompt}"}}}}}}, "edges": [], "layout": {{"a": [{x}, 0]}}}}"#
            );
            document_hash(&Document::parse(&text).0)
        };
        assert_eq!(at(0, "x"), at(100, "x"));
        assert_ne!(at(0, "x"), at(0, "y"));
    }

    #[test]
    fn a_draft_is_its_document() {
        let (document, _) = Document::parse(&graph(
            r#"{"a": {"kind": "graph", "config": {"graph": "inner.json"}}}"#,
        ));
        let (sources, stamps) = GraphSources::of(&document, &Environment::new(None));
        assert!(sources.files.is_empty() && stamps.is_empty());
        assert_eq!(&*sources.version().id, document_hash(&document).as_str());
    }
}
