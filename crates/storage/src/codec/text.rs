//! Texts that are mostly of one form and are then stored as a number or as bytes.

/// Returns the bytes of an id that is a UUID in its usual form; other ids are stored as their text.
pub(crate) fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    // Only the canonical form comes back from bytes as the same text.
    let canonical = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    canonical.then(|| uuid::Uuid::try_parse(text).ok().map(uuid::Uuid::into_bytes))?
}

/// Returns the milliseconds of a time stamp in the engine's form; others are stored as their text.
pub(crate) fn millis(ts: &str) -> Option<i64> {
    let field = |from: usize, to: usize| ts.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    // Days from civil, the inverse of the engine's iso8601.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let seconds = days * 86_400 + field(11, 13)? * 3_600 + field(14, 16)? * 60 + field(17, 19)?;
    let ms = seconds * 1_000 + field(20, 23)?;
    (superstep::run::iso8601(u64::try_from(ms).ok()?) == ts).then_some(ms)
}
