//! The words of a text, as every backend indexes and looks for them.
//!
//! One rule for all of them, so that a query finds the same items in memory, in SQLite and in PostgreSQL: a backend
//! is handed words, and its own way of cutting text is never asked.

use unicode_normalization::UnicodeNormalization;

/// Returns the words of a text, in order: folded to lower case without accents, cut at everything that is neither
/// letter nor digit. Scripts that are written without spaces give each character and each pair of neighbours.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut last: Option<char> = None;
    for c in fold(text) {
        if is_dense(c) {
            flush(&mut word, &mut found);
            if let Some(last) = last {
                found.push([last, c].into_iter().collect());
            }
            found.push(c.to_string());
            last = Some(c);
            continue;
        }
        last = None;
        if is_part(c) {
            word.push(c);
        } else {
            flush(&mut word, &mut found);
        }
    }
    flush(&mut word, &mut found);
    found
}

/// Returns the words that a query asks for, each once. Pairs of neighbours are used where they say more than single
/// characters.
pub(super) fn asked(query: &str) -> Vec<String> {
    let words = words(query);
    let pair = |word: &String| word.chars().nth(1).is_some() && word.chars().all(is_dense);
    let paired: String = words
        .iter()
        .filter(|word| pair(word))
        .map(String::as_str)
        .collect();
    let mut asked: Vec<String> = Vec::new();
    for word in words {
        let single = word.chars().count() == 1 && word.chars().all(|c| is_dense(c) && paired.contains(c));
        if !single && !asked.contains(&word) {
            asked.push(word);
        }
    }
    asked
}

fn flush(word: &mut String, found: &mut Vec<String>) {
    if !word.is_empty() {
        found.push(std::mem::take(word));
    }
}

/// Folds text to lower case, with compatible forms joined and accents dropped.
pub(super) fn fold(text: &str) -> impl Iterator<Item = char> + '_ {
    text.nfkd()
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        .nfc()
        .flat_map(char::to_lowercase)
}

fn is_part(c: char) -> bool {
    // Vowel signs of Indic scripts are marks, not letters, and belong to their word.
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}

/// Returns whether the character is of a script without spaces between words: Han, Kana, Thai, Lao, Khmer, Burmese.
fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && is_part(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_cut() {
        assert_eq!(
            words("Café-Crème, 3½ litres (naïve) ﬁn"),
            ["cafe", "creme", "31", "2", "litres", "naive", "fin"]
        );
        assert_eq!(words("don't user_id x2"), ["don", "t", "user", "id", "x2"]);
        assert_eq!(words("ΑΘΉΝΑ Straße"), ["αθηνα", "straße"]);
        assert_eq!(words("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert_eq!(words("東京都 Tokyo"), ["東", "東京", "京", "京都", "都", "tokyo"]);
        assert_eq!(words("  …!? "), Vec::<String>::new());
        assert_eq!(words("한국어 문서"), ["한국어", "문서"]);
    }

    #[test]
    fn a_query_asks_for_each_word_once() {
        assert_eq!(asked("the cat and the dog"), ["the", "cat", "and", "dog"]);
        assert_eq!(asked("東京"), ["東京"]);
        assert_eq!(asked("東"), ["東"]);
    }
}
