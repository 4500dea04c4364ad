//! Settings and recent graphs: small JSON files in the data folder. A file that cannot be read is set aside under
//! another name and the defaults are taken; a workbench never refuses to start because of them. Settings of a newer release,
//! which this one does not know or cannot read, stay in the file.

pub(crate) mod python;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use superstep_nodes::agent_server::AgentAddress;
use superstep_nodes::attach::AttachTarget;

use crate::base::files;
use crate::wire::{MemorySettings, Problem, Recent, Settings};
use superstep_document::text;

/// Recent graphs that are remembered.
const MAX_RECENTS: usize = 40;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    path: PathBuf,
    name: String,
    opened_at: String,
}

/// Settings of the user, and the recently opened graphs.
#[derive(Debug)]
pub(crate) struct Preferences {
    dir: PathBuf,
    settings: Mutex<Settings>,
    recents: Mutex<Vec<Opened>>,
    /// Held while the file of model settings is changed.
    pub(crate) writing: Mutex<()>,
}

fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    let text = match superstep_nodes::files::read_own(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return T::default(),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "cannot be read; the defaults are taken");
            return T::default();
        }
    };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        let aside = path.with_extension(format!("broken-{}.json", files::now_ms()));
        tracing::warn!(path = %path.display(), aside = %aside.display(), %error, "is broken; it is set aside");
        let _ = fs::rename(path, aside);
        T::default()
    })
}

fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), Problem> {
    let text = files::json_bytes(value)?;
    files::write_atomic(path, &text).map_err(|e| Problem::file(text!("write"), path, &e))
}

/// Reads the settings, without the fields that only a newer release can read.
fn read_settings(dir: &Path) -> Settings {
    let path = dir.join("settings.json");
    let mut readable = Map::new();
    let mut settings = Settings::default();
    for (name, value) in read::<Map<String, Json>>(&path) {
        readable.insert(name.clone(), value);
        match Settings::deserialize(Json::Object(readable.clone())) {
            Ok(read) => settings = read,
            Err(error) => {
                tracing::warn!(path = %path.display(), name, %error, "a setting cannot be read; its default is taken");
                readable.remove(&name);
            }
        }
    }
    meant(settings)
}

/// Writes what changed into the file, and leaves there what did not.
fn write_settings(dir: &Path, before: &Settings, after: &Settings) -> Result<(), Problem> {
    let path = dir.join("settings.json");
    let fields = |settings: &Settings| match serde_json::to_value(settings) {
        Ok(Json::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (before, after) = (fields(before), fields(after));
    let mut file: Map<String, Json> = read(&path);
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        file.remove(name);
    }
    for (name, value) in after {
        if before.get(&name) != Some(&value) || !file.contains_key(&name) {
            file.insert(name, value);
        }
    }
    write(&path, &file)
}

/// Returns the settings in normal form: an emptied field counts as absent.
fn meant(settings: Settings) -> Settings {
    let given = |text: Option<String>| {
        text.map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    };
    Settings {
        name: given(settings.name),
        python: given(settings.python),
        ..settings
    }
}

/// Returns the name of the user of a data folder, for questions that are meant for certain people.
pub fn person(data_dir: &Path) -> Option<String> {
    read_settings(data_dir).name
}

/// Reads the settings of a data folder's long-term memory.
pub(crate) fn memory(data_dir: &Path) -> Option<MemorySettings> {
    read_settings(data_dir).memory
}

impl Preferences {
    pub(crate) fn load(dir: &Path) -> Self {
        Preferences {
            dir: dir.to_path_buf(),
            settings: Mutex::new(read_settings(dir)),
            recents: Mutex::new(read(&dir.join("recents.json"))),
            writing: Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.lock().clone()
    }

    pub(crate) fn set(&self, settings: Settings) -> Result<Settings, Problem> {
        let settings = meant(settings);
        let mut current = self.settings.lock();
        write_settings(&self.dir, &current, &settings)?;
        *current = settings.clone();
        Ok(settings)
    }

    /// Takes over what another program wrote.
    pub(crate) fn read_again(&self) {
        // Locked first: what is set meanwhile is newer than what was read.
        let mut current = self.settings.lock();
        *current = read_settings(&self.dir);
    }

    pub(crate) fn recents(&self) -> Vec<Recent> {
        self.recents
            .lock()
            .iter()
            .map(|opened| Recent {
                path: opened.path.to_string_lossy().into_owned(),
                name: opened.name.clone(),
                opened_at: opened.opened_at.clone(),
                exists: opened.path.is_file() || is_program(&opened.path),
            })
            .collect()
    }

    /// Puts a graph first. A list that cannot be written is no reason to refuse the graph.
    pub(crate) fn opened(&self, path: &Path, name: &str) {
        let mut recents = self.recents.lock();
        recents.retain(|opened| opened.path != path);
        recents.insert(
            0,
            Opened {
                path: path.into(),
                name: name.into(),
                opened_at: files::now(),
            },
        );
        recents.truncate(MAX_RECENTS);
        if let Err(problem) = write(&self.dir.join("recents.json"), &*recents) {
            tracing::warn!(%problem, "the list of recent graphs was not written");
        }
    }
}

/// Returns whether a path names a graph of a LangGraph program that is there, or of a server, which only a request would find out.
fn is_program(path: &Path) -> bool {
    let named = path.to_string_lossy();
    if AgentAddress::is_named_by(&named) {
        return true;
    }
    AttachTarget::is_named_by(&named) && AttachTarget::find(&named, Path::new("")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Language, Theme};

    #[test]
    fn settings_survive_and_a_broken_file_is_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let preferences = Preferences::load(dir.path());
        preferences
            .set(Settings {
                theme: Theme::Dark,
                ..Settings::default()
            })
            .unwrap();
        assert_eq!(Preferences::load(dir.path()).settings().theme, Theme::Dark);
        fs::write(dir.path().join("settings.json"), "{ \"theme\": ").unwrap();
        assert_eq!(Preferences::load(dir.path()).settings().theme, Theme::System);
        let aside = fs::read_dir(dir.path()).unwrap().flatten().any(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("settings.broken-")
        });
        assert!(aside, "the broken file must be kept");
    }

    /// Reading a pipe would wait for ever.
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_no_settings_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success());
        let preferences = Preferences::load(dir.path());
        assert_eq!(preferences.settings().theme, Theme::System);
        assert!(preferences.set(Settings::default()).is_err());
        assert!(!fs::metadata(&file).unwrap().is_file());
    }

    #[test]
    fn settings_of_a_newer_release_stay_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        let newer =
            r#"{"theme": "sepia", "language": "zh", "name": "Ada", "follow": true, "orbit": {"speed": 3}}"#;
        fs::write(&file, newer).unwrap();
        let preferences = Preferences::load(dir.path());
        let settings = preferences.settings();
        assert_eq!((settings.theme, settings.language), (Theme::System, Language::Zh));
        assert_eq!((settings.name.as_deref(), settings.follow), (Some("Ada"), true));
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            newer,
            "reading writes nothing"
        );

        let changed = Settings {
            name: None,
            welcomed: true,
            ..settings
        };
        preferences.set(changed).unwrap();
        let stored: Json = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let expected = serde_json::json!({
            "theme": "sepia", "language": "zh", "follow": true, "welcomed": true, "orbit": {"speed": 3}
        });
        assert_eq!(stored, expected);
        let themed = Settings {
            theme: Theme::Dark,
            ..preferences.settings()
        };
        preferences.set(themed).unwrap();
        assert_eq!(Preferences::load(dir.path()).settings().theme, Theme::Dark);
    }

    #[test]
    fn what_is_set_while_the_file_is_read_again_stays() {
        let dir = tempfile::tempdir().unwrap();
        let preferences = Preferences::load(dir.path());
        for round in 0..300 {
            let name = Some(format!("round {round}"));
            std::thread::scope(|scope| {
                scope.spawn(|| preferences.read_again());
                let settings = Settings {
                    name: name.clone(),
                    ..Settings::default()
                };
                preferences.set(settings).unwrap();
            });
            assert_eq!(preferences.settings().name, name);
        }
    }

    #[test]
    fn a_field_that_was_emptied_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let preferences = Preferences::load(dir.path());
        let settings = Settings {
            name: Some("  ".into()),
            python: Some(" python3 ".into()),
            ..Settings::default()
        };
        let kept = preferences.set(settings).unwrap();
        assert_eq!((kept.name, kept.python.as_deref()), (None, Some("python3")));
        fs::write(dir.path().join("settings.json"), r#"{"name": ""}"#).unwrap();
        assert_eq!(person(dir.path()), None);
        assert_eq!(Preferences::load(dir.path()).settings().name, None);
    }

    #[test]
    fn a_graph_that_is_opened_again_moves_to_the_front() {
        let dir = tempfile::tempdir().unwrap();
        let preferences = Preferences::load(dir.path());
        let file = dir.path().join("a.json");
        fs::write(&file, "{}").unwrap();
        preferences.opened(&file, "A");
        preferences.opened(Path::new("/nowhere/b.json"), "B");
        preferences.opened(&file, "A2");
        let seen: Vec<_> = Preferences::load(dir.path())
            .recents()
            .into_iter()
            .map(|r| (r.name, r.exists))
            .collect();
        assert_eq!(seen, [("A2".to_owned(), true), ("B".to_owned(), false)]);
    }
}
