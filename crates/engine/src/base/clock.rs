//! Time comes in through this trait, so that tests and replays decide what time it is.

use std::fmt::Debug;

/// A source of wall-clock time.
pub trait Clock: Debug + Send + Sync {
    /// Returns the milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| {
                u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
            })
    }
}

/// Formats a time as ISO-8601 in UTC with milliseconds, e.g. `2026-11-21T09:30:00.123+00:00`.
pub fn iso8601(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    // Civil-from-days (proleptic Gregorian), era arithmetic on 400-year cycles.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let mp = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (s, milli) = (rest / 1000, rest % 1000);
    // Every checkpoint has one, and the formatting machinery takes several times as long as these digits.
    let mut text = String::with_capacity(29);
    let mut put = |number: u64, digits: u32, behind: &str| {
        for digit in (0..digits).rev() {
            text.push(char::from(b'0' + (number / 10_u64.pow(digit) % 10) as u8));
        }
        text.push_str(behind);
    };
    put(year, if year < 10_000 { 4 } else { year.ilog10() + 1 }, "-");
    put(month, 2, "-");
    put(day, 2, "T");
    put(s / 3600, 2, ":");
    put(s / 60 % 60, 2, ":");
    put(s % 60, 2, ".");
    put(milli, 3, "+00:00");
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn iso8601_matches_known_instants() {
        assert_eq!(super::iso8601(0), "1970-01-01T00:00:00.000+00:00");
        assert_eq!(super::iso8601(951_827_696_789), "2000-02-29T12:34:56.789+00:00");
        assert_eq!(super::iso8601(1_795_253_400_123), "2026-11-21T09:30:00.123+00:00");
        assert_eq!(
            super::iso8601(253_402_300_800_000),
            "10000-01-01T00:00:00.000+00:00"
        );
    }
}
