//! Turning texts into vectors.

use std::fmt;

use async_trait::async_trait;
use xxhash_rust::xxh3::xxh3_64;

use super::error::StoreError;
use super::words::{fold, words};

/// A model that turns texts into vectors whose angles say how much they have in common.
#[async_trait]
pub trait Embedding: Send + Sync {
    /// Returns the name of the embedding; vectors of different ones cannot be compared.
    fn name(&self) -> &str;
    /// Returns the length of the embedding's vectors.
    fn dims(&self) -> usize;
    /// Computes a vector for each text, in their order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, StoreError>;
}

impl fmt::Debug for dyn Embedding + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embedding({})", self.name())
    }
}

/// An embedding without a model: words and pieces of words, hashed.
///
/// It needs no download and no network, and knows nothing about meaning: texts are near each other when they are
/// spelled alike. It finds `invoice 4711` for `Invoices: 4711` despite endings, accents and typing errors; it does
/// not find `car` for `automobile`, nor a text in another language. Give a model's embedding where that is needed.
#[derive(Clone, Debug)]
pub struct HashedNgrams {
    name: String,
    dims: usize,
}

impl Default for HashedNgrams {
    fn default() -> Self {
        Self::new(512)
    }
}

/// Lengths of the pieces of a word, in characters.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;

impl HashedNgrams {
    /// Creates an embedding with vectors of this length, at least 16. The longer they are, the less often two pieces
    /// are taken for one.
    pub fn new(dims: usize) -> Self {
        let dims = dims.max(16);
        Self {
            name: format!("hashed-ngrams-{dims}"),
            dims,
        }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dims];
        let mut add = |piece: &str, weight: f32| {
            let hash = xxh3_64(piece.as_bytes());
            let place = usize::try_from(hash >> 1).unwrap_or(usize::MAX) % vector.len();
            vector[place] += if hash & 1 == 0 { weight } else { -weight };
        };
        let folded: String = fold(text).collect();
        for word in words(&folded) {
            let bounded: Vec<char> = std::iter::once('^').chain(word.chars()).chain(['$']).collect();
            // A long word says more than a short one. Its pieces together say more than it does whole, because
            // endings and typing errors leave most of them as they are.
            let weight = (bounded.len() as f32 - 2.0).sqrt();
            let pieces: Vec<String> = PIECES
                .flat_map(|size| bounded.windows(size).map(|piece| piece.iter().collect()))
                .collect();
            let share = weight / (pieces.len().max(1) as f32).sqrt();
            add(&word, weight / 2.0);
            pieces.iter().for_each(|piece| add(piece, share));
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|x| *x /= length);
        }
        vector
    }
}

#[async_trait]
impl Embedding for HashedNgrams {
    fn name(&self) -> &str {
        &self.name
    }
    fn dims(&self) -> usize {
        self.dims
    }
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, StoreError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank::cosine;
    use super::*;

    #[test]
    fn what_is_spelled_alike_is_near() {
        let ngrams = HashedNgrams::default();
        let near = |a: &str, b: &str| cosine(&ngrams.vector(a), &ngrams.vector(b));
        assert!((near("Straße 12", "straße 12") - 1.0).abs() < 1e-5);
        assert!(near("unpaid invoices", "the invoice was not paid") > 0.2);
        assert!(near("organisation", "organization") > 0.4);
        assert!(near("coffee without sugar", "the train is late") < 0.15);
        assert_eq!(near("", "x"), 0.0);
    }

    #[test]
    fn a_longer_word_counts_more() {
        let ngrams = HashedNgrams::default();
        let share = |word: &str| cosine(&ngrams.vector("ox catalogues"), &ngrams.vector(word));
        // Lengths with both ends are 4 and 12, so the weights are the roots of 2 and 10.
        let expected = (10.0_f64 / 2.0).sqrt();
        let found = share("catalogues") / share("ox");
        assert!((found / expected - 1.0).abs() < 0.1, "{found} and {expected}");
    }
}
