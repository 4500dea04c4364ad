//! Times as people and servers write them, in milliseconds since the Unix epoch.

use chrono::DateTime;
use superstep::Value;

/// Reads RFC 3339: `2026-11-21T09:30:00Z`, with a fraction or an offset; the seconds may be missing, and a date alone is
/// its midnight in UTC.
fn read(text: &str) -> Option<i64> {
    let whole = match (text.len(), text.as_bytes().get(16)) {
        (10, _) => format!("{text}T00:00:00Z"),
        (_, Some(b':')) => text.to_owned(),
        _ => format!("{}:00{}", text.get(..16)?, text.get(16..)?),
    };
    Some(DateTime::parse_from_rfc3339(&whole).ok()?.timestamp_millis())
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
    use superstep::json;
    use superstep::run::iso8601;

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
