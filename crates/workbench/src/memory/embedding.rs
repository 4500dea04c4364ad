//! How the long-term memory of a data folder works: what makes the vectors that its items are found by, and how long they
//! live. A model that makes vectors is asked for as the person's own: no graph chose it, so no graph's grants bound it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use superstep::store::{Embedding, HashedNgrams, StoreConfig, StoreError, TtlConfig, VectorIndex};
use superstep_nodes::models::{Providers, Variables};
use superstep_nodes::search::NGRAMS;
use superstep_nodes::{Grants, ModelSettings};

use crate::Workbench;
use crate::models::connections::key_of;
use crate::models::named::NamedSecrets;
use crate::settings;
use crate::storage::database::Reopened;
use crate::wire::{MemorySettings, Problem};

/// Texts that a model gets at once.
const BATCH: usize = 64;

/// A model that makes vectors, with the connections as the file has them at the time.
struct ModelEmbedding {
    model: String,
    dims: usize,
    settings: PathBuf,
    variables: Variables,
    keychain: Variables,
    /// As long as the connections stay the same, so do their client and its open connections.
    providers: Mutex<Option<(ModelSettings, Arc<Providers>)>>,
}

impl fmt::Debug for ModelEmbedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelEmbedding")
            .field("model", &self.model)
            .field("dims", &self.dims)
            .finish_non_exhaustive()
    }
}

impl ModelEmbedding {
    fn new(model: &str, dims: usize, data_dir: &Path, secrets: &Arc<NamedSecrets>) -> Self {
        let (named, keychain) = (secrets.clone(), secrets.keychain().clone());
        Self {
            model: model.to_owned(),
            dims,
            settings: data_dir.join(ModelSettings::FILE),
            variables: Arc::new(move |name| named.variable(name)),
            keychain: Arc::new(move |connection| key_of(&*keychain, connection)),
            providers: Mutex::default(),
        }
    }

    fn providers(&self) -> Arc<Providers> {
        let settings = ModelSettings::load(&self.settings);
        let mut kept = self.providers.lock();
        if let Some((of, providers)) = &*kept
            && *of == settings
        {
            return providers.clone();
        }
        let made = || Providers::new(self.variables.clone(), Arc::new(settings.clone()));
        let grants = Grants::these(made().accesses(&self.model));
        let providers = Arc::new(made().with_keychain(self.keychain.clone()).with_grants(grants));
        *kept = Some((settings, providers.clone()));
        providers
    }

    fn failed(&self, cause: &str) -> StoreError {
        StoreError::Embedding {
            name: self.model.clone(),
            // The sentence that it is part of has a period of its own.
            cause: cause.trim_end_matches('.').to_owned(),
            remedy: "Or choose in Settings, Storage and memory, what a search finds items by".to_owned(),
        }
    }
}

#[async_trait]
impl Embedding for ModelEmbedding {
    fn name(&self) -> &str {
        &self.model
    }

    fn dims(&self) -> usize {
        self.dims
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, StoreError> {
        let providers = self.providers();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let found = providers.embed(&self.model, batch.to_vec()).await;
            vectors.extend(found.map_err(|error| self.failed(&error.to_string()))?);
        }
        Ok(vectors)
    }
}

/// Builds the configuration that a store is opened with.
fn config_of(memory: &MemorySettings, data_dir: &Path, secrets: &Arc<NamedSecrets>) -> StoreConfig {
    let embed = match (memory.embedding.as_deref(), memory.dims) {
        (Some(NGRAMS), _) => Some(Arc::new(HashedNgrams::default()) as Arc<dyn Embedding>),
        // Without a length nobody ever asked it, and the file was written by hand.
        (Some(model), Some(dims)) => {
            Some(Arc::new(ModelEmbedding::new(model, dims as usize, data_dir, secrets)) as Arc<dyn Embedding>)
        }
        (Some(model), None) => {
            tracing::warn!(
                model,
                "the length of its vectors is not known; memory is searched by words"
            );
            None
        }
        (None, _) => None,
    };
    StoreConfig::default()
        .ttl(
            TtlConfig::default()
                .default_ttl(
                    memory
                        .ttl_minutes
                        .map(|minutes| Duration::from_secs(60 * u64::from(minutes))),
                )
                .refresh_on_read(memory.refresh_on_read),
        )
        .index(embed.map(VectorIndex::new))
}

/// Builds the configuration that the long-term memory of a data folder's database is opened with, from its settings.
pub fn store_config(data_dir: &Path, secrets: &Arc<NamedSecrets>) -> StoreConfig {
    let memory = settings::memory(data_dir).unwrap_or_default();
    config_of(&memory, data_dir, secrets)
}

/// Returns the settings in normal form: values equal to the defaults are left out.
fn meant(memory: MemorySettings) -> MemorySettings {
    let named = memory.embedding.map(|name| name.trim().to_owned());
    MemorySettings {
        embedding: named.filter(|name| !name.is_empty()),
        dims: None,
        ttl_minutes: memory.ttl_minutes.filter(|minutes| *minutes > 0),
        ..memory
    }
}

impl Workbench {
    /// Returns settings of long-term memory that can be used, and a store that follows them: a model must return a
    /// vector first.
    pub(crate) async fn usable_memory(
        &self,
        memory: Option<MemorySettings>,
    ) -> Result<(Option<MemorySettings>, Reopened), Problem> {
        let mut memory = memory.map(meant).unwrap_or_default();
        if let Some(model) = memory.embedding.as_deref().filter(|name| *name != NGRAMS) {
            let embedding = ModelEmbedding::new(model, 0, self.instance.data_dir(), &self.keys.named);
            let vectors = embedding.embed(&["How long is a vector?".to_owned()]).await;
            let vectors = vectors?;
            let length = vectors.first().map_or(0, Vec::len);
            memory.dims = u32::try_from(length).ok().filter(|length| *length > 0);
        }
        let config = config_of(&memory, self.instance.data_dir(), &self.keys.named);
        let reopened = self.database.reopened(config).await?;
        let kept = Some(memory).filter(|memory| *memory != MemorySettings::default());
        Ok((kept, reopened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(embedding: Option<&str>, dims: Option<u32>) -> MemorySettings {
        MemorySettings {
            embedding: embedding.map(str::to_owned),
            dims,
            ..MemorySettings::default()
        }
    }

    fn config(memory: &MemorySettings) -> StoreConfig {
        let secrets = NamedSecrets::of(Path::new("/none"), Arc::new(crate::Keychain));
        config_of(memory, Path::new("/none"), &Arc::new(secrets))
    }

    #[test]
    fn memory_finds_by_meaning_when_it_is_known_what_makes_the_vectors() {
        let usual = config(&MemorySettings::default());
        assert!(usual.index.is_none() && usual.ttl.default.is_none());
        assert!(config(&settings(Some(NGRAMS), None)).index.is_some());
        assert!(config(&settings(Some("office::small"), Some(8))).index.is_some());
        assert!(config(&settings(Some("office::small"), None)).index.is_none());
    }

    #[test]
    fn items_live_as_long_as_the_settings_say() {
        for refresh in [false, true] {
            let memory = MemorySettings {
                ttl_minutes: Some(3),
                refresh_on_read: refresh,
                ..MemorySettings::default()
            };
            let ttl = config(&memory).ttl;
            assert_eq!(
                (ttl.default, ttl.refresh_on_read),
                (Some(Duration::from_secs(180)), refresh)
            );
        }
    }

    #[test]
    fn what_is_as_usual_is_not_reported() {
        let memory = MemorySettings {
            ttl_minutes: Some(0),
            refresh_on_read: false,
            ..settings(Some("  "), Some(4))
        };
        let kept = meant(memory);
        assert_eq!((kept.embedding, kept.dims, kept.ttl_minutes), (None, None, None));
        assert!(!kept.refresh_on_read);
        let kept = meant(MemorySettings {
            ttl_minutes: Some(1),
            ..settings(Some(" a "), None)
        });
        assert_eq!(
            (kept.embedding.as_deref(), kept.ttl_minutes),
            (Some("a"), Some(1))
        );
    }
}
