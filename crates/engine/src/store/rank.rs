//! How well an item fits a query, for backends that have no search of their own.

/// Computes the cosine of the angle between two vectors; 0 where one of them has no direction or their lengths differ.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let (mut dot, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (f64::from(*a), f64::from(*b));
        dot += a * b;
        aa += a * a;
        bb += b * b;
    }
    if aa > 0.0 && bb > 0.0 {
        (dot / (aa * bb).sqrt()).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

/// Returns the score of an item with these vectors: its best one counts. None when it has none.
pub fn by_vectors<'a>(query: &[f32], vectors: impl IntoIterator<Item = &'a Vec<f32>>) -> Option<f64> {
    vectors
        .into_iter()
        .map(|vector| cosine(query, vector))
        .max_by(f64::total_cmp)
}

/// Scores of documents, given by their words, for the distinct words of a query; none where no word occurs.
///
/// Okapi BM25: a word counts more the fewer documents have it, less each time it is repeated, and less in a document
/// that is longer than the others.
pub fn by_words<'a>(query: &[String], documents: impl IntoIterator<Item = &'a [String]>) -> Vec<Option<f64>> {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let mut found = vec![0_u32; query.len()];
    let mut lengths = 0_usize;
    // For each document, how often each word of the query occurs.
    let counted: Vec<(usize, Vec<u32>)> = documents
        .into_iter()
        .map(|words| {
            let mut counts = vec![0_u32; query.len()];
            for word in words {
                if let Some(place) = query.iter().position(|asked| asked == word) {
                    counts[place] += 1;
                }
            }
            counts
                .iter()
                .zip(&mut found)
                .for_each(|(count, found)| *found += u32::from(*count > 0));
            lengths += words.len();
            (words.len(), counts)
        })
        .collect();
    let documents = counted.len() as f64;
    let average = (lengths as f64 / documents.max(1.0)).max(1.0);
    let weights: Vec<f64> = found
        .iter()
        .map(|found| (1.0 + (documents - f64::from(*found) + 0.5) / (f64::from(*found) + 0.5)).ln())
        .collect();
    let score = |(length, counts): (usize, Vec<u32>)| {
        let damped = K1 * (1.0 - B + B * length as f64 / average);
        let sum = counts.iter().zip(&weights).map(|(count, weight)| {
            let count = f64::from(*count);
            weight * count * (K1 + 1.0) / (count + damped)
        });
        counts.iter().any(|count| *count > 0).then(|| sum.sum())
    };
    counted.into_iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::super::words;
    use super::*;

    #[test]
    fn the_angle_counts_and_not_the_length() {
        assert!((cosine(&[1.0, 0.0], &[5.0, 0.0]) - 1.0).abs() < 1e-9);
        assert!(cosine(&[1.0, 0.0], &[0.0, 2.0]).abs() < 1e-9);
        assert!((cosine(&[1.0, 1.0], &[-2.0, -2.0]) + 1.0).abs() < 1e-9);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), 0.0);
        assert_eq!(
            by_vectors(&[1.0, 0.0], &[vec![0.0, 1.0], vec![1.0, 0.0]]),
            Some(1.0)
        );
        assert_eq!(by_vectors(&[1.0, 0.0], &[]), None);
    }

    #[test]
    fn rare_words_and_short_documents_come_first() {
        let documents = [
            "the cat sat on the mat",
            "the dog",
            "the cat",
            "a bird of the sea",
        ]
        .map(words);
        let scores = by_words(&words("the cat"), documents.iter().map(Vec::as_slice));
        assert!(
            scores[2] > scores[0] && scores[0] > scores[1] && scores[1] > scores[3],
            "{scores:?}"
        );
        let lengths = ["cat", "cat one two three four five"].map(words);
        let scores = by_words(&words("cat"), lengths.iter().map(Vec::as_slice));
        assert!(
            scores[0] > scores[1],
            "what is said in fewer words is said more: {scores:?}"
        );
        let none = by_words(&words("whale"), documents.iter().map(Vec::as_slice));
        assert_eq!(none, [None, None, None, None]);
    }
}
