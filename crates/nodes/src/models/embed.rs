//! Vectors of texts from a model server.

use std::time::Duration;

use super::answer::TokenUsage;
use super::call_span::CallSpan;
use super::{ModelError, Providers, Service};

/// Longest wait for the vectors of one batch.
const PATIENCE: Duration = Duration::from_secs(120);

impl Providers {
    /// Computes a vector for each text, in their order, with a model that makes embeddings.
    pub async fn embed(&self, model: &str, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ModelError> {
        let service = self.service(model).await?;
        let mut span = CallSpan::embeddings(&service.called());
        let embedded = embedded(service, model, texts).await;
        match &embedded {
            Ok((_, usage)) => span.counted(usage.as_ref()),
            Err(error) => span.failed(error),
        }
        embedded.map(|(vectors, _)| vectors)
    }
}

async fn embedded(
    service: Service<'_>,
    model: &str,
    texts: Vec<String>,
) -> Result<(Vec<Vec<f32>>, Option<TokenUsage>), ModelError> {
    let Service {
        client,
        target,
        asked,
        ..
    } = service;
    let wanted = texts.len();
    let answer = tokio::time::timeout(PATIENCE, client.genai.embed_batch(target, texts, None)).await;
    let answer = answer
        .map_err(|_| ModelError::Timeout {
            model: model.to_owned(),
            limit: PATIENCE,
        })?
        .map_err(|e| asked.classify(&e))?;
    let mut found = answer.embeddings;
    found.sort_by_key(|embedding| embedding.index);
    let vectors: Vec<Vec<f32>> = found.into_iter().map(|embedding| embedding.vector).collect();
    let dims = vectors.first().map_or(0, Vec::len);
    if vectors.len() != wanted || dims == 0 || vectors.iter().any(|vector| vector.len() != dims) {
        return Err(asked.failed(format!(
            "it gave {} vectors for {wanted} texts, or vectors of different lengths",
            vectors.len()
        )));
    }
    Ok((vectors, TokenUsage::of(&answer.usage)))
}
