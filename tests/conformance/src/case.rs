//! Case files, and the list of differences that are meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::diff::Difference;
use crate::format;

/// Returns the folder of this package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A case file.
#[derive(Clone, Debug)]
pub struct Case {
    /// `theme/name`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub value: Value,
}

fn invalid(path: &Path, why: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()))
}

fn read(path: &Path) -> io::Result<Value> {
    serde_json::from_str(&fs::read_to_string(path)?).map_err(|why| invalid(path, why))
}

impl Case {
    /// Reads a file; the name is what stands below `cases/`, or the path itself.
    pub fn read(path: &Path) -> io::Result<Case> {
        let below = path.strip_prefix(root().join("cases")).unwrap_or(path);
        Ok(Case {
            name: below.with_extension("").to_string_lossy().replace('\\', "/"),
            path: path.to_owned(),
            value: read(path)?,
        })
    }
    /// Writes the file in its stable form.
    pub fn write(&self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.path, format::text(&self.value))
    }
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            into.push(path);
        }
    }
    Ok(())
}

/// Reads the cases that are named, by `theme/name`, `theme`, or file; all when none is named.
pub fn cases(wanted: &[String]) -> io::Result<Vec<Case>> {
    let mut paths = Vec::new();
    collect(&root().join("cases"), &mut paths)?;
    paths.sort();
    let all: Vec<Case> = paths
        .iter()
        .map(|path| Case::read(path))
        .collect::<Result<_, _>>()?;
    if wanted.is_empty() || wanted == ["all"] {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for name in wanted {
        let before = chosen.len();
        let matching = |case: &&Case| case.name == *name || case.name.starts_with(&format!("{name}/"));
        chosen.extend(all.iter().filter(matching).cloned());
        if chosen.len() == before {
            let path = Path::new(name);
            if !path.is_file() {
                return Err(invalid(path, "there is no case and no file of that name"));
            }
            chosen.push(Case::read(path)?);
        }
    }
    Ok(chosen)
}

/// Cases in which the engine is meant to do something else, with the reason. They are checked to still differ.
#[derive(Clone, Debug, Default)]
pub struct Deviations(BTreeMap<String, Deviation>);

/// Why, and where in the record, a case is meant to differ.
#[derive(Clone, Debug)]
pub struct Deviation {
    /// Why.
    pub reason: String,
    places: Vec<String>,
}

impl Deviation {
    /// Returns the differences that are not intended.
    pub fn others<'a>(&self, found: &'a [Difference]) -> Vec<&'a Difference> {
        let meant = |place: &str| {
            self.places.is_empty()
                || self.places.iter().any(|meant| {
                    let mut parts = place.split('.');
                    meant
                        .split('.')
                        .all(|part| parts.next().is_some_and(|found| part == "*" || part == found))
                })
        };
        found
            .iter()
            .filter(|difference| !meant(&difference.place))
            .collect()
    }
}

impl Deviations {
    /// Reads `deviations.json`.
    pub fn read() -> io::Result<Self> {
        let path = root().join("deviations.json");
        let value = read(&path)?;
        let mut all = BTreeMap::new();
        for (name, entry) in value.as_object().into_iter().flatten() {
            let reason = entry["reason"]
                .as_str()
                .ok_or_else(|| invalid(&path, format!("{name} has no reason")))?;
            let places = entry["places"].as_array().into_iter().flatten();
            let deviation = Deviation {
                reason: reason.to_owned(),
                places: places.filter_map(Value::as_str).map(str::to_owned).collect(),
            };
            all.insert(name.clone(), deviation);
        }
        Ok(Self(all))
    }
    /// Returns the intended deviation of this case.
    pub fn of(&self, case: &str) -> Option<&Deviation> {
        self.0.get(case)
    }
    /// Returns the names of the cases.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
    /// Takes out of the engine's record what it adds in every case: the node of an edit in the checkpoint's metadata,
    /// which lists of checkpoints show.
    pub fn everywhere(record: &mut Value) {
        match record {
            Value::Array(items) => items.iter_mut().for_each(Self::everywhere),
            Value::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    if let ("metadata", Value::Object(metadata)) = (key.as_str(), &mut *value) {
                        metadata.shift_remove("as_node");
                    }
                    Self::everywhere(value);
                }
            }
            _ => {}
        }
    }
}
