//! Who answers where the nodes of a run ask models. It is chosen for a run, not in the graph, and kept in the metadata of
//! the thread's checkpoints: whatever goes on from one of them goes on with the same models, in every host.

pub(crate) mod connections;
pub(crate) mod logins;
pub(crate) mod named;
pub(crate) mod prices;
pub(crate) mod secrets;

use std::path::Path;
use std::sync::Arc;

use superstep::Value;
use superstep::checkpoint::CheckpointHead;
use superstep::value::Object;
use superstep_nodes::Environment;
use superstep_nodes::models::Recording;

use crate::session::{RECORDED_MODELS, SCRIPTED_MODELS};
use crate::wire::{ModelRecording, RunModels};

/// The word of each.
const RECORDINGS: [(ModelRecording, &str, Recording); 3] = [
    (ModelRecording::Record, "record", Recording::Record),
    (ModelRecording::Replay, "replay", Recording::Replay),
    (ModelRecording::Off, "off", Recording::Off),
];

/// Secrets and logins of a data folder, as the keychain keeps them.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) named: Arc<named::NamedSecrets>,
    pub(crate) logins: Arc<logins::KeptLogins>,
}

impl Keys {
    /// Opens those of a data folder.
    pub(crate) fn of(data_dir: &Path, keychain: Arc<dyn secrets::Secrets>) -> Self {
        Self {
            named: Arc::new(named::NamedSecrets::of(data_dir, keychain.clone())),
            logins: Arc::new(logins::KeptLogins::of(data_dir, keychain)),
        }
    }
}

impl RunModels {
    /// Reads the choice from the metadata of a checkpoint.
    pub fn of(metadata: &Object) -> Self {
        let text = |name: &str| metadata.get(name).and_then(Value::as_str);
        Self {
            scripted: text(SCRIPTED_MODELS).map(str::to_owned),
            recording: text(RECORDED_MODELS)
                .and_then(|word| RECORDINGS.into_iter().find(|(_, known, _)| *known == word))
                .map(|(recording, ..)| recording),
        }
    }

    /// Puts it into the metadata of checkpoints.
    pub fn note(&self, metadata: &mut Object) {
        if let Some(model) = &self.scripted {
            metadata.insert(SCRIPTED_MODELS, model.as_str());
        }
        if let Some((_, word, _)) = self.entry() {
            metadata.insert(RECORDED_MODELS, word);
        }
    }

    fn entry(&self) -> Option<(ModelRecording, &'static str, Recording)> {
        let recording = self.recording?;
        RECORDINGS.into_iter().find(|(known, ..)| *known == recording)
    }

    /// Returns these choices; those that are open are taken from `before`.
    pub fn or(self, before: Self) -> Self {
        Self {
            scripted: self.scripted.or(before.scripted),
            recording: self.recording.or(before.recording),
        }
    }

    /// Returns whether nothing is chosen, so that the nodes decide.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the choices without a model whose name is empty.
    pub fn cleaned(self) -> Self {
        let named = self.scripted.map(|model| model.trim().to_owned());
        Self {
            scripted: named.filter(|model| !model.is_empty()),
            ..self
        }
    }

    /// Returns the environment that the nodes receive, with these choices set.
    pub fn within(&self, environment: Environment) -> Environment {
        Environment {
            stand_in: self.scripted.clone(),
            recording: self.entry().map(|(.., recording)| recording),
            ..environment
        }
    }
}

/// Returns the choice that a checkpoint stores, for interfaces.
pub(crate) fn chosen(head: &CheckpointHead) -> Option<RunModels> {
    Some(RunModels::of(&head.metadata.user)).filter(|models| !models.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_tells_who_answered() {
        for models in [
            RunModels::default(),
            RunModels {
                scripted: Some("office::small".into()),
                recording: Some(ModelRecording::Record),
            },
            RunModels {
                scripted: None,
                recording: Some(ModelRecording::Replay),
            },
        ] {
            let mut metadata = Object::new();
            models.note(&mut metadata);
            assert_eq!(metadata.is_empty(), models.is_empty());
            assert_eq!(RunModels::of(&metadata), models);
        }
        let blank = RunModels {
            scripted: Some("  ".into()),
            recording: None,
        };
        assert!(blank.cleaned().is_empty());
    }
}
