//! Times as people and servers write them, in milliseconds since the Unix epoch.

use chrono::{NaiveDate, NaiveTime};
use superstep::Value;

/// Reads RFC 3339: `2026-11-21T09:30:00Z`, with a fraction or an offset; a date alone is its midnight in UTC.
fn read(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let mark = |at: usize, of: &[u8]| text.as_bytes().get(at).is_some_and(|b| of.contains(b));
    if !mark(4, b"-") || !mark(7, b"-") {
        return None;
    }
    let part = |from, to| u32::try_from(number(from, to)?).ok();
    let year = i32::try_from(number(0, 4)?).ok()?;
    let date = NaiveDate::from_ymd_opt(year, part(5, 7)?, part(8, 10)?)?;
    let midnight = date.and_time(NaiveTime::MIN).and_utc().timestamp_millis();
    if text.len() == 10 {
        return Some(midnight);
    }
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let second = if mark(16, b":") { number(17, 19)? } else { 0 };
    if !mark(10, b"Tt ") || !mark(13, b":") || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(if mark(16, b":") { 19 } else { 16 }..)?;
    let (millis, zone) = match rest.strip_prefix('.') {
        Some(more) => {
            let end = more.find(|c: char| !c.is_ascii_digit()).unwrap_or(more.len());
            let digits = format!("{:0<3}", more.get(..end.min(3))?);
            if end == 0 {
                return None;
            }
            (digits.parse::<i64>().ok()?, more.get(end..)?)
        }
        None => (0, rest),
    };
    let offset = match zone.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let part = |range: std::ops::Range<usize>| zone.get(range)?.parse::<i64>().ok();
            let minutes = part(1..3)? * 60 + part(4..6)?;
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    Some(midnight + ((hour * 60 + minute - offset) * 60 + second) * 1000 + millis)
}

/// Reads a time, in milliseconds: RFC 3339 text, or seconds since the Unix epoch.
pub(crate) fn millis(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => u64::try_from(read(text.trim())?).ok(),
        Value::Number(_) => {
            let seconds = value.as_f64()?;
            // Beyond the year 9999 nothing is meant.
            (0.0..=2.6e11)
                .contains(&seconds)
                .then_some((seconds * 1000.0) as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use superstep::{iso8601, json};

    use super::*;

    #[test]
    fn times_are_read() {
        for (text, shown) in [
            ("2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000+00:00"),
            ("2026-11-21t10:30:00.5+01:00", "2026-11-21T09:30:00.500+00:00"),
            (
                "2026-11-21 04:00:00.123456-05:30",
                "2026-11-21T09:30:00.123+00:00",
            ),
            ("2024-02-29", "2024-02-29T00:00:00.000+00:00"),
            ("2000-02-29T23:59Z", "2000-02-29T23:59:00.000+00:00"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000+00:00"),
        ] {
            assert_eq!(
                millis(&json!(text)).map(iso8601).as_deref(),
                Some(shown),
                "{text}"
            );
        }
        assert_eq!(millis(&json!(1_795_253_400)), Some(1_795_253_400_000));
        assert_eq!(millis(&json!(1.5)), Some(1500));
        for wrong in [
            json!("tomorrow"),
            json!("2026-02-30"),
            json!("2026-13-01"),
            json!("2026-11-21T25:00:00Z"),
            json!("2026-11-21T09:30:00"),
            json!("2026-11-21T09:30:00.Z"),
            json!("1960-01-01"),
            json!("€€€€€"),
            json!(-1),
            json!(1e300),
            json!(null),
            json!([]),
        ] {
            assert_eq!(millis(&wrong), None, "{wrong}");
        }
    }
}
