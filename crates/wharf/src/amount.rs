//! Durations, sizes and the like, as people write them.

use std::time::Duration;
use wharf_core::{Size, signal as signals};

/// `500ms`, `30s`, `5m`, `2h`, `7d`; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("write 500ms, 30s, 5m, 2h, 7d, or seconds".to_owned()),
    };
    let number = decimal(number)?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "too long".to_owned())
}

/// `64K`, `10M`, `1G`; a number alone is bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let shift = match unit.trim_end_matches(['B', 'b']).trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err("write 64K, 10M, 1G, or bytes".to_owned()),
    };
    let unit = 1_u64 << shift;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit).ok_or_else(|| "too large".to_owned());
    }
    let bytes = decimal(number)? * unit as f64;
    // Half of all numbers of bytes is a limit that no disk comes near.
    if bytes < (u64::MAX / 2) as f64 { Ok(bytes as u64) } else { Err("too large".to_owned()) }
}

/// `80x24`.
pub(crate) fn screen(text: &str) -> Result<Size, String> {
    let parsed = text.split_once(['x', 'X']).and_then(|(cols, rows)| {
        let (cols, rows) = (cols.parse().ok()?, rows.parse().ok()?);
        (cols > 0 && rows > 0).then_some(Size { cols, rows })
    });
    parsed.ok_or_else(|| "write columns and rows like 80x24".to_owned())
}

/// `INT`, `SIGINT`, `2`.
pub(crate) fn signal(text: &str) -> Result<i32, String> {
    signals::number(text).ok_or_else(|| "write a name like TERM or a number".to_owned())
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..at], text[at..].trim_start())
}

fn decimal(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "a number is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("1.5s", 1500),
            ("5m", 300_000),
            ("2h", 7_200_000),
            ("7d", 604_800_000),
            ("3", 3000),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1s", "5 parsecs", "1e99", "1.2.3s", "99999999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in
            [("12", 12), ("64K", 65_536), ("64KiB", 65_536), ("1.5M", 1_572_864), ("1G", 1 << 30), ("0", 0)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "-1", "1X", "99999999999999G"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_screen_has_at_least_one_cell() {
        assert_eq!(screen("100x30"), Ok(Size { cols: 100, rows: 30 }));
        for text in ["", "80", "0x24", "80x0", "80x24x2", "axb", "99999x1"] {
            assert!(screen(text).is_err(), "{text}");
        }
    }
}
