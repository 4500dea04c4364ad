//! What turns chunks and queries into vectors.

use std::sync::Arc;

use superstep::store::{Embedding, HashedNgrams};

use super::SearchError;
use crate::models::Providers;

/// The embedding that needs no model and no network. It knows spelling and nothing about meaning.
pub const NGRAMS: &str = "ngrams";

/// Texts that are turned into vectors at once.
pub(super) const BATCH: usize = 64;

/// Converter of texts to vectors.
#[derive(Clone, Debug)]
pub enum Embedder {
    /// By spelling, offline.
    Ngrams(HashedNgrams),
    /// By a model.
    Model {
        /// Who asks it.
        providers: Arc<Providers>,
        /// As graphs name it.
        model: String,
    },
}

impl Embedder {
    /// Creates the embedding that a setting names.
    pub fn of(name: &str, providers: &Arc<Providers>) -> Self {
        match name {
            "" | NGRAMS => Embedder::Ngrams(HashedNgrams::default()),
            model => Embedder::Model {
                providers: providers.clone(),
                model: model.to_owned(),
            },
        }
    }

    /// Returns the name of the embedding. Vectors of different names cannot be compared.
    pub fn name(&self) -> &str {
        match self {
            Embedder::Ngrams(ngrams) => ngrams.name(),
            Embedder::Model { model, .. } => model,
        }
    }

    /// Computes a vector for each text, in their order.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, SearchError> {
        match self {
            Embedder::Ngrams(ngrams) => ngrams
                .embed(&texts)
                .await
                .map_err(|e| SearchError::Index(e.to_string())),
            Embedder::Model { providers, model } => Ok(providers.embed(model, texts).await?),
        }
    }
}
