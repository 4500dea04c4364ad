//! The words of texts and queries, as the full-text index takes them. A search never fails on what a user typed: only the
//! words of the query reach FTS5.

/// Words of a query that are used.
const MAX_WORDS: usize = 32;

/// Words that say nothing about what is looked for; ignored unless the query has no others.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "did", "do", "does", "for", "from",
    "had", "has", "have", "how", "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our",
    "should", "so", "that", "the", "their", "then", "there", "they", "this", "to", "was", "we", "were",
    "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Returns whether the character belongs to a script that is written without spaces between words.
fn unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Prepares the text for indexing: Chinese and Japanese characters are separated, because nothing else separates their
/// words.
pub(super) fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        if unspaced(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}

/// Returns the words of the query, each quoted, any of which may match; `None` if there is no word. In a run of Chinese
/// or Japanese characters, each pair of neighbours is a word.
pub(super) fn match_expression(query: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for part in query.split(|c: char| !c.is_alphanumeric()) {
        let signs: Vec<char> = part.chars().collect();
        for run in signs.chunk_by(|a, b| unspaced(*a) == unspaced(*b)) {
            match run {
                [one] if unspaced(*one) => words.push(one.to_string()),
                [first, ..] if unspaced(*first) => {
                    words.extend(run.windows(2).map(|pair| format!("{} {}", pair[0], pair[1])));
                }
                run => words.push(run.iter().collect::<String>().to_lowercase()),
            }
        }
    }
    let telling: Vec<&String> = words
        .iter()
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect();
    let mut chosen = if telling.is_empty() {
        words.iter().collect()
    } else {
        telling
    };
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|word| seen.insert(word.as_str()));
    chosen.truncate(MAX_WORDS);
    (!chosen.is_empty()).then(|| {
        chosen
            .iter()
            .map(|word| format!("\"{word}\""))
            .collect::<Vec<_>>()
            .join(" OR ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_words_and_pairs_of_signs() {
        assert_eq!(
            match_expression("E-bike 电池abc").unwrap(),
            "\"e\" OR \"bike\" OR \"电 池\" OR \"abc\""
        );
        assert_eq!(match_expression("How do I bleed it?").unwrap(), "\"bleed\"");
        assert_eq!(
            match_expression("what is it").unwrap(),
            "\"what\" OR \"is\" OR \"it\""
        );
        assert_eq!(match_expression("\"*^ -"), None);
    }
}
