//! What passes and what does not, however it is cut.

mod any;
mod hostile;
mod ordinary;

use super::{Quiet, Reports};

fn passed(bytes: &[u8]) -> Vec<u8> {
    Quiet::new(Reports::Mouse).pass(bytes)
}

/// The same, after it was seen that it does not matter where the bytes are cut.
#[track_caller]
fn however_cut(bytes: &[u8]) -> Vec<u8> {
    let whole = passed(bytes);
    for cut in 0..=bytes.len() {
        let mut filter = Quiet::new(Reports::Mouse);
        let mut shown = filter.pass(&bytes[..cut]);
        shown.extend(filter.pass(&bytes[cut..]));
        assert_eq!(shown, whole, "{} cut at {cut}", bytes.escape_ascii());
    }
    whole
}
