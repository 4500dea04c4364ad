//! "Did you mean …": the nearest known name to a mistyped one, for every message that names something unknown.

/// The known name that is nearest to `wrong`, when it is near enough to be a slip of the fingers.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Of a short name, one changed letter makes another name.
    let letters = wrong.chars().count();
    let limit = match letters {
        0..=2 => 0,
        letters => (letters / 3).max(1),
    };
    known
        .into_iter()
        // At least that many letters are missing in one of them.
        .filter(|name| name.chars().count().abs_diff(letters) <= limit)
        .map(|name| (distance(&wrong.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// " Did you mean `x`?", or nothing.
pub(crate) fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, known).map_or_else(String::new, |name| format!(" Did you mean `{name}`?"))
}

/// "`a`, `b` and 7 more", or "none".
pub(crate) fn listing<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() {
        return "none".into();
    }
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours count one each.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
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
        assert_eq!(did_you_mean("x", []), "");
        assert_eq!(listing(["a", "b"]), "`a`, `b`");
    }
}
