//! Settings and recent graphs: small JSON files in the data folder. A file that cannot be read is set aside under
//! another name and the defaults are taken; a workbench never refuses to start because of them.

pub(crate) mod python;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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
}

fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    let text = match fs::read_to_string(path) {
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
    meant(read(&data_dir.join("settings.json"))).name
}

/// Reads the settings of a data folder's long-term memory.
pub(crate) fn memory(data_dir: &Path) -> Option<MemorySettings> {
    read::<Settings>(&data_dir.join("settings.json")).memory
}

impl Preferences {
    pub(crate) fn load(dir: &Path) -> Self {
        Preferences {
            dir: dir.to_path_buf(),
            settings: Mutex::new(meant(read(&dir.join("settings.json")))),
            recents: Mutex::new(read(&dir.join("recents.json"))),
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.lock().clone()
    }

    pub(crate) fn set(&self, settings: Settings) -> Result<Settings, Problem> {
        let settings = meant(settings);
        let mut current = self.settings.lock();
        write(&self.dir.join("settings.json"), &settings)?;
        *current = settings.clone();
        Ok(settings)
    }

    /// Takes over what another program wrote.
    pub(crate) fn read_again(&self) {
        // Locked first: what is set meanwhile is newer than what was read.
        let mut current = self.settings.lock();
        *current = meant(read(&self.dir.join("settings.json")));
    }

    pub(crate) fn recents(&self) -> Vec<Recent> {
        self.recents
            .lock()
            .iter()
            .map(|opened| Recent {
                path: opened.path.to_string_lossy().into_owned(),
                name: opened.name.clone(),
                opened_at: opened.opened_at.clone(),
                exists: opened.path.is_file(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Theme;

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
