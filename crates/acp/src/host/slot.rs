//! How many terminals may run at the same time: of all sessions together, and of those in one directory, for which a
//! project may want fewer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Everybody's places.
#[derive(Debug, Default)]
pub(super) struct Slots {
    taken: Mutex<HashMap<Option<PathBuf>, Arc<()>>>,
}

/// One terminal's place; free again when this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    _all: Arc<()>,
    _directory: Arc<()>,
}

impl Slots {
    /// A place among all and among those of a directory, or how many there are.
    pub(super) fn take(
        &self,
        all: Option<usize>,
        directory: &Path,
        there: Option<usize>,
    ) -> Result<Slot, usize> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // Directories where nothing runs any more are forgotten.
        taken.retain(|_, running| Arc::strong_count(running) > 1);
        let mut one = |key, most: Option<usize>| {
            let running: &mut Arc<()> = taken.entry(key).or_default();
            // One of them is the table's own.
            match most.filter(|most| Arc::strong_count(running) > *most) {
                Some(most) => Err(most),
                None => Ok(running.clone()),
            }
        };
        Ok(Slot { _all: one(None, all)?, _directory: one(Some(directory.to_owned()), there)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_among_all_and_in_its_directory() {
        let slots = Slots::default();
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        let first = slots.take(Some(3), a, Some(1)).unwrap();
        assert_eq!(slots.take(Some(3), a, Some(1)).unwrap_err(), 1);
        let others = [slots.take(Some(3), b, None).unwrap(), slots.take(Some(3), a, Some(2)).unwrap()];
        assert_eq!(slots.take(Some(3), b, None).unwrap_err(), 3);
        drop(first);
        assert_eq!(slots.take(Some(3), a, Some(1)).unwrap_err(), 1);
        let again = slots.take(Some(3), b, None).unwrap();
        drop((others, again));
        slots.take(Some(1), a, Some(1)).unwrap();
        assert_eq!(slots.take(Some(0), a, None).unwrap_err(), 0);
    }
}
