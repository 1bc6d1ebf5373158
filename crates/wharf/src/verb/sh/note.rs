//! A line of wharf's own on a screen that belongs to somebody else.
//!
//! It stands below the cursor and is taken away before anything is printed there. For some seconds it is put back after
//! each piece of output, so that it can be read where much is printed; then it goes with the next.
//!
//! To write it the cursor is saved and restored, and a terminal has one place for that. While a program has something
//! there, nothing is written.

use crate::{interact, show};
use std::time::{Duration, Instant};

/// Long enough to read a line.
const READABLE: Duration = Duration::from_secs(4);

/// Which screen a program uses: on the alternate one there is no room below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Screen {
    Normal,
    Alternate,
}

/// What is to be read at the moment.
#[derive(Debug, Default)]
pub(super) struct Note {
    text: Option<(String, Instant)>,
    /// It is on the screen, below the cursor.
    below: bool,
    /// A program has saved the cursor and not restored it.
    saved: bool,
}

impl Note {
    /// What shows a new one.
    pub(super) fn put(&mut self, text: String, screen: Screen) -> Vec<u8> {
        let mut bytes = self.erase();
        self.text = Some((text, Instant::now()));
        bytes.extend(self.draw(screen));
        bytes
    }

    /// Output with the note out of its way. `screen` is the one after it.
    pub(super) fn around(&mut self, output: &[u8], screen: Screen) -> Vec<u8> {
        let mut bytes = self.erase();
        bytes.extend_from_slice(output);
        for pair in output.windows(2) {
            match pair {
                b"\x1b7" => self.saved = true,
                b"\x1b8" => self.saved = false,
                _ => {}
            }
        }
        if self.text.as_ref().is_some_and(|(_, since)| since.elapsed() > READABLE) {
            self.text = None;
        }
        // A full-screen program paints its own screen; there it is said once.
        if screen == Screen::Normal {
            bytes.extend(self.draw(screen));
        }
        bytes
    }

    /// What takes it away.
    pub(super) fn erase(&mut self) -> Vec<u8> {
        if std::mem::take(&mut self.below) { b"\x1b7\x1b[B\r\x1b[2K\x1b8".to_vec() } else { Vec::new() }
    }

    fn draw(&mut self, screen: Screen) -> Vec<u8> {
        let Some((text, _)) = self.text.as_ref().filter(|_| !self.saved) else { return Vec::new() };
        let columns = interact::window().map_or(80, |size| usize::from(size.cols));
        let line = show::one_line(text, columns.saturating_sub(1));
        match screen {
            // Down and up again makes sure that there is a line below.
            Screen::Normal => {
                self.below = true;
                format!("\n\x1b[A\x1b7\x1b[B\r\x1b[2K\x1b[0;2m{line}\x1b[0m\x1b8").into_bytes()
            }
            Screen::Alternate => format!("\x1b7\x1b[999;1H\x1b[2K\x1b[0;7m{line}\x1b[0m\x1b8").into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn it_is_out_of_the_way_of_output_and_comes_back_while_it_is_new() {
        let mut note = Note::default();
        assert_eq!(note.around(b"before", Screen::Normal), b"before");
        assert!(text(note.put("read me".to_owned(), Screen::Normal)).contains("read me"));
        let shown = text(note.around(b"output", Screen::Normal));
        let (erased, output) = (shown.find("\x1b[2K").unwrap(), shown.find("output").unwrap());
        assert!(erased < output && output < shown.find("read me").unwrap(), "{shown:?}");
    }

    #[test]
    fn when_it_is_old_it_goes_with_the_next_output() {
        let mut note = Note::default();
        note.put("read me".to_owned(), Screen::Normal);
        note.text.as_mut().unwrap().1 = Instant::now().checked_sub(2 * READABLE).unwrap();
        let shown = text(note.around(b"output", Screen::Normal));
        assert!(shown.ends_with("output") && shown.contains("\x1b[2K"), "{shown:?}");
        assert_eq!(note.around(b"more", Screen::Normal), b"more");
    }

    #[test]
    fn a_cursor_that_a_program_has_saved_stays_saved() {
        let mut note = Note::default();
        note.put("read me".to_owned(), Screen::Normal);
        assert!(text(note.around(b"\x1b7saved", Screen::Normal)).ends_with("saved"));
        assert_eq!(note.around(b"meanwhile", Screen::Normal), b"meanwhile");
        assert!(text(note.around(b"\x1b8restored", Screen::Normal)).contains("read me"));
    }

    #[test]
    fn on_a_full_screen_it_is_said_once() {
        let mut note = Note::default();
        assert!(text(note.put("read me".to_owned(), Screen::Alternate)).contains("read me"));
        assert_eq!(note.around(b"painted", Screen::Alternate), b"painted");
    }
}
