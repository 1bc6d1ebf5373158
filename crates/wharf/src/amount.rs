//! Durations, sizes and the like, as people write them.

pub(crate) use wharf_core::amount::{duration, size};
use wharf_core::{Size, signal as signals};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_has_at_least_one_cell() {
        assert_eq!(screen("100x30"), Ok(Size { cols: 100, rows: 30 }));
        for text in ["", "80", "0x24", "80x0", "80x24x2", "axb", "99999x1"] {
            assert!(screen(text).is_err(), "{text}");
        }
    }
}
