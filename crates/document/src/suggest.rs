//! "Did you mean …": the nearest known name to a mistyped one, for every message that names something unknown.

use crate::words::{Join, Text, text};

/// Returns the known name that is nearest to `wrong`, if it is near enough to be a typing error.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Of a short name, one changed letter makes another name.
    let limit = match wrong.chars().count() {
        0..=2 => 0,
        letters => letters / 3,
    };
    nearest_within(wrong, known, limit)
}

/// Returns the nearest name of the same document: one letter may differ in a short one too, and four at most in a long
/// one.
pub(crate) fn nearest_record<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(
        wrong,
        known,
        (wrong.to_lowercase().chars().count() / 3).clamp(1, 4),
    )
}

/// Returns the known name from which `wrong` differs least, by at most `limit` letters left out, added, replaced or
/// swapped.
fn nearest_within<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let letters = wrong.chars().count();
    known
        .into_iter()
        .filter_map(|name| {
            let other = name.to_lowercase();
            // At least that many letters are missing in one of them.
            let near = other.chars().count().abs_diff(letters) <= limit;
            near.then(|| (strsim::osa_distance(&wrong, &other), name))
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns " Did you mean `x`?", or nothing.
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Text {
    nearest(wrong, known).map_or_else(Text::default, |name| text!(" Did you mean `{name}`?", name))
}

/// Returns "`a`, `b` and 7 more", or "none".
pub fn listing<'a>(names: impl IntoIterator<Item = &'a str>) -> Text {
    const MAX_SHOWN: usize = 12;
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() {
        return text!("none");
    }
    let shown = names.iter().take(MAX_SHOWN).map(|name| format!("`{name}`"));
    let shown = Text::list(Join::Comma, shown);
    match names.len().checked_sub(MAX_SHOWN) {
        Some(count @ 1..) => text!("{shown} and {count} more", shown, count),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["category", "request", "decision"];
        assert_eq!(nearest("categry", known), Some("category"), "a missing letter");
        assert_eq!(nearest("reqeust", known), Some("request"), "two letters swapped");
        assert_eq!(nearest("Decision", known), Some("decision"), "case");
        assert_eq!(nearest("colour", known), None, "another word");
        assert_eq!(nearest("n", ["t"]), None, "another letter");
        assert_eq!(nearest("N", ["n"]), Some("n"), "case of a short name");
        assert_eq!(nearest_record("n", ["t"]), Some("t"), "the only record it can be");
        let (wrong, right) = ("zzzzzsummary_of_a_conversation", "summary_of_a_conversation");
        assert_eq!(nearest(wrong, [right]), Some(right), "five letters of many");
        assert_eq!(nearest_record(wrong, [right]), None, "five letters");
        assert_eq!(did_you_mean("x", []), "");
        assert_eq!(listing(["a", "b"]), "`a`, `b`");
    }
}
