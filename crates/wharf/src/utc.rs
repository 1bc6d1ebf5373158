//! Moments as text, in UTC: nobody's time zone is in a log that several read.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment, as RFC 3339 has it: `2026-11-16T00:54:13.250Z`.
pub(crate) fn timestamp(moment: SystemTime) -> String {
    let (since, [year, month, day, hour, minute, second]) = parts(moment);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The same for the name of a file, which sorts: `20261116T005413Z`.
pub(crate) fn stamp(moment: SystemTime) -> String {
    let (_, [year, month, day, hour, minute, second]) = parts(moment);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// A clock before 1970 is one that was never set.
fn parts(moment: SystemTime) -> (Duration, [u64; 6]) {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let [year, month, day] = date(seconds / 86_400);
    let time = seconds % 86_400;
    (since, [year, month, day, time / 3600, time / 60 % 60, time % 60])
}

/// The date so many days after 1970-01-01. Years begin in March here, so that the odd day is their last.
fn date(days: u64) -> [u64; 3] {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    [era * 400 + year_of_era + u64::from(month <= 2), month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_what_the_calendar_says() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.250Z"),
            (951_782_399, "2000-02-28T23:59:59.250Z"),
            (951_782_400, "2000-02-29T00:00:00.250Z"),
            (951_868_800, "2000-03-01T00:00:00.250Z"),
            (1_798_761_599, "2026-12-31T23:59:59.250Z"),
            (4_107_542_400, "2100-03-01T00:00:00.250Z"),
        ] {
            let moment = UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 250);
            assert_eq!(timestamp(moment), text);
        }
        assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(951_782_399)), "20000228T235959Z");
    }
}
