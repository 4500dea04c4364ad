//! Words that a person looks for: how they are read, which texts have them, and what of a text is shown. A word is found at
//! the beginning of words, in any case; what is in quotes is found as it stands. Scripts without spaces between words are
//! found anywhere. The index knows the same [`tokens`], so that it leaves out no text in which a word is found.

use std::borrow::Cow;
use std::ops::Range;

use crate::wire::SnippetPart;

/// Characters of a snippet, and those of them before the first word.
const MAX_SNIPPET: usize = 160;
const MAX_BEFORE: usize = 40;
/// Words that are marked in a snippet.
const MAX_MARKS: usize = 20;

/// Words of a query: all of them are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    terms: Vec<String>,
}

/// Returns whether the letter belongs to a script in which letters stand for themselves, without spaces between words.
fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Folds a letter for comparison: each becomes exactly one letter, so that places stay the same.
fn folded_letter(c: char) -> char {
    match c {
        c if c.is_whitespace() => ' ',
        c => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Folds a text for comparison; the number of letters stays the same.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let same = |byte: u8| !byte.is_ascii_uppercase() && (byte == b' ' || !byte.is_ascii_whitespace());
        if text.bytes().all(same) {
            return Cow::Borrowed(text);
        }
    }
    Cow::Owned(text.chars().map(folded_letter).collect())
}

/// Splits a folded text into words as the index keeps them.
pub(super) fn tokens(folded: &str) -> impl Iterator<Item = &str> {
    let words = folded.split(|c: char| !c.is_alphanumeric());
    words.flat_map(|word| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = match is_ideographic(first) {
                true => first.len_utf8(),
                false => rest.find(is_ideographic).unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(end);
            rest = after;
            Some(token)
        })
    })
}

/// Returns whether a word may begin at this place.
fn begins(folded: &str, at: usize) -> bool {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_ideographic(c));
    !(letter(folded[at..].chars().next()) && letter(folded[..at].chars().next_back()))
}

/// Returns the places of a word in a folded text.
fn places<'a>(folded: &'a str, term: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let found = folded.match_indices(term).filter(|(at, _)| begins(folded, *at));
    found.map(|(at, term)| at..at + term.len())
}

impl Words {
    /// Parses the words that a person entered; `None` when there are none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut terms = Vec::new();
        for (place, part) in text.split(['"', '“', '”', '„']).enumerate() {
            // Between the first quote and the next is a phrase; one that is not closed yet is one, too.
            if place % 2 == 1 {
                terms.push(fold(part.trim()).into_owned());
            } else {
                terms.extend(part.split_whitespace().map(|word| fold(word).into_owned()));
            }
        }
        terms.retain(|term| !term.is_empty());
        terms.dedup();
        (!terms.is_empty()).then_some(Self { terms })
    }

    pub(super) fn count(&self) -> usize {
        self.terms.len()
    }

    /// Returns the words, folded.
    pub(super) fn terms(&self) -> &[String] {
        &self.terms
    }

    /// Returns a flag for each word: whether the folded text has it.
    pub(super) fn present(&self, folded: &str) -> Vec<bool> {
        let is_in = |term: &String| places(folded, term).next().is_some();
        self.terms.iter().map(is_in).collect()
    }

    /// Returns the excerpt of a text to show: the surroundings of the first of the words, with the words marked.
    pub(super) fn snippet(&self, text: &str) -> Vec<SnippetPart> {
        let folded = fold(text);
        let mut marks: Vec<Range<usize>> = (self.terms.iter())
            .flat_map(|term| places(&folded, term).take(MAX_MARKS))
            .collect();
        marks.sort_by_key(|mark| (mark.start, std::cmp::Reverse(mark.end)));
        let letters = |at: usize| folded[..at].chars().count();
        let mut last = 0;
        let marks: Vec<Range<usize>> = (marks.into_iter())
            .filter_map(|mark| {
                let mark = letters(mark.start)..letters(mark.end);
                let apart = mark.start >= last;
                last = last.max(mark.end);
                apart.then_some(mark)
            })
            .collect();
        let first = marks.first().map_or(0, |mark| mark.start);
        let from = first.saturating_sub(MAX_BEFORE);
        let shown: Vec<char> = text.chars().skip(from).take(MAX_SNIPPET + 1).collect();
        let cut = shown.len() > MAX_SNIPPET;
        let end = from + shown.len().min(MAX_SNIPPET);
        let mut parts: Vec<SnippetPart> = Vec::new();
        let mut add = |range: Range<usize>, hit: bool| {
            let (start, stop) = (
                range.start.clamp(from, end) - from,
                range.end.clamp(from, end) - from,
            );
            let piece: String = shown[start..stop]
                .iter()
                .map(|c| if c.is_whitespace() { ' ' } else { *c })
                .collect();
            if !piece.is_empty() {
                parts.push(SnippetPart { text: piece, hit });
            }
        };
        let mut at = from;
        for mark in marks {
            add(at..mark.start, false);
            add(mark.clone(), true);
            at = mark.end;
        }
        add(at..end, false);
        let plain = |text: &str| SnippetPart {
            text: text.to_owned(),
            hit: false,
        };
        if from > 0 {
            parts.insert(0, plain("…"));
        }
        if cut {
            parts.push(plain("…"));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Words {
        Words::read(text).expect("words")
    }

    fn has(query: &str, text: &str) -> bool {
        read(query).present(&fold(text)).iter().all(|present| *present)
    }

    #[test]
    fn texts_are_compared_in_small_letters_with_plain_spaces() {
        for (text, folded) in [
            ("ABC", "abc"),
            ("a\tb", "a b"),
            ("plain text", "plain text"),
            ("ÉTÉ", "été"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn words_are_found_at_the_beginning_of_words_in_any_case() {
        for (query, text, found) in [
            ("refund", "A REFUND was due", true),
            ("ref", "A refund was due", true),
            ("fund", "A refund was due", false),
            ("due refund", "A refund was due", true),
            ("due never", "A refund was due", false),
            ("\"refund was\"", "A refund\nwas due", true),
            ("\"was refund\"", "A refund was due", false),
            ("straße", "in der Straße 5", true),
            ("5", "in der Straße 5", true),
            ("-5", "saw -5 there", true),
            ("a-12", "order A-12b", true),
            ("検索", "全文検索する", true),
            ("“refund was”", "A refund\nwas due", true),
            ("“was refund”", "A refund was due", false),
            ("İ", "İstanbul", true),
        ] {
            assert_eq!(has(query, text), found, "{query} in {text}");
        }
        assert_eq!(Words::read("  \"\" "), None);
        assert_eq!(read("\"not closed").terms(), ["not closed"]);
    }

    #[test]
    fn what_is_found_has_the_tokens_of_the_words() {
        for (query, text) in [
            ("a-12", "order A-12b"),
            ("検索", "全文検索する"),
            ("\"refund was\"", "A refund\nwas due"),
            ("İ", "İstanbul"),
            ("x1検", "x1検"),
        ] {
            let folded = fold(text).into_owned();
            let kept: Vec<&str> = tokens(&folded).collect();
            for term in read(query).terms() {
                for token in tokens(term) {
                    assert!(
                        kept.iter().any(|kept| kept.starts_with(token)),
                        "{token} of {query} is none of {kept:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_snippet_marks_the_words_and_is_bounded() {
        let text = |parts: &[SnippetPart]| -> String {
            let mark = |part: &SnippetPart| match part.hit {
                true => format!("[{}]", part.text),
                false => part.text.clone(),
            };
            parts.iter().map(mark).collect()
        };
        assert_eq!(
            text(&read("refund due").snippet("A Refund\nwas due, a refund!")),
            "A [Refund] was [due], a [refund]!"
        );
        assert_eq!(text(&read("re refund").snippet("refund")), "[refund]");
        let long = format!("{}Needle{}", "x ".repeat(100), " y".repeat(200));
        let shown = text(&read("needle").snippet(&long));
        assert!(
            shown.starts_with("…x ") && shown.contains("[Needle]") && shown.ends_with('…'),
            "{shown}"
        );
        assert!(shown.chars().count() <= MAX_SNIPPET + 4, "{shown}");
        assert_eq!(text(&read("ß").snippet("İİİ ßa")), "İİİ [ß]a");
    }
}
