//! Durations and sizes, as people write them.

use std::time::Duration;

/// `500ms`, `30s`, `5m`, `2h`, `7d`; a number alone is seconds.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("write 500ms, 30s, 5m, 2h, 7d, or seconds"),
    };
    let number = decimal(number)?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "too long")
}

/// `64K`, `10M`, `1G`; a number alone is bytes.
pub fn size(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = split(text);
    let shift = match unit.trim_end_matches(['B', 'b']).trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err("write 64K, 10M, 1G, or bytes"),
    };
    let unit = 1_u64 << shift;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit).ok_or("too large");
    }
    let bytes = decimal(number)? * unit as f64;
    // Half of all numbers of bytes is a limit that no disk comes near.
    if bytes < (u64::MAX / 2) as f64 { Ok(bytes as u64) } else { Err("too large") }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..at], text[at..].trim_start())
}

fn decimal(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "a number is missing")
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
}
