//! What real programs have printed, replayed: the lines and the screen that come out are beside each recording.
//!
//! All were recorded on a terminal of 24 rows and 80 columns that answered nothing. `git-*`, `less*`, `vim*` and the
//! like are those programs; `docker-like`, `apt-like` and `spinner` draw as theirs do.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use wharf_core::Size;
use wharf_core::view::{Display, Piece, Scanner, Stream};

const SIZE: Size = Size { cols: 80, rows: 24 };

fn recordings() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "bytes")).collect();
    files.sort();
    files
}

/// Everything that the views say about it, as text.
fn replay(bytes: &[u8], piece: usize) -> String {
    let (mut scanner, mut stream, mut display) =
        (Scanner::new(Some("n")), Stream::new(SIZE), Display::new(SIZE));
    let (mut at, mut lines) = (0, Vec::new());
    for part in bytes.chunks(piece) {
        scanner.feed(at, part, &mut |piece| {
            if let Piece::Bytes(bytes) = piece {
                stream.feed(bytes);
                display.feed(bytes);
            }
        });
        lines.extend(stream.take_finished());
        at += part.len() as u64;
    }
    lines.extend(stream.open_lines());
    describe(&lines, &mut display)
}

fn describe(lines: &[String], display: &mut Display) -> String {
    let mut text = String::from("--- lines\n");
    // A bar at the end shows blanks that editors would cut.
    let ended =
        |line: &String| if line.ends_with([' ', '\t']) { format!("{line}|\n") } else { format!("{line}\n") };
    text.extend(lines.iter().map(ended));
    let picture = display.picture();
    let (row, column) = picture.cursor;
    let cursor = if picture.cursor_visible { "shown" } else { "hidden" };
    let screen = if picture.alternate { "alternate" } else { "normal" };
    writeln!(text, "--- screen: {screen}, cursor {cursor} at {row},{column}").unwrap();
    text.extend(picture.rows.iter().map(ended));
    text.push_str("--- inverted\n");
    for highlight in &picture.highlights {
        writeln!(text, "{},{}-{}: {}", highlight.row, highlight.from, highlight.to, highlight.text).unwrap();
    }
    writeln!(text, "--- answers\n{}", display.take_replies().escape_ascii()).unwrap();
    text
}

/// Compares, and leaves what came out where it can be looked at and taken over.
fn check(path: &Path, piece: usize, came_out: &str) {
    let expected = path.with_extension("txt");
    if fs::read_to_string(&expected).is_ok_and(|text| text == came_out) {
        return;
    }
    let name = expected.file_name().unwrap();
    let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&actual, came_out).unwrap();
    panic!("in pieces of {piece}: diff {} {}", expected.display(), actual.display());
}

#[test]
fn recordings_of_real_programs_come_out_as_expected_however_they_are_cut() {
    let recordings = recordings();
    assert!(recordings.len() >= 30, "only {} recordings", recordings.len());
    for path in recordings {
        let bytes = fs::read(&path).unwrap();
        for piece in [1, 7, 4096] {
            check(&path, piece, &replay(&bytes, piece));
        }
    }
}

#[test]
fn the_screen_of_every_recording_can_be_painted_again() {
    for path in recordings() {
        let bytes = fs::read(&path).unwrap();
        let display = displayed(&bytes);
        let painting = display.repaint();
        let (before, modes) = (display.picture(), display.modes());
        let screen = if modes.alternate { "\x1b[?1049h" } else { "" };
        let cursor = if before.cursor_visible { "" } else { "\x1b[?25l" };
        let again = displayed(format!("{screen}{}{cursor}{}", painting.cells, painting.pen).as_bytes());
        assert_eq!(again.picture(), before, "{}", path.display());
        assert_eq!(again.repaint(), painting, "{}", path.display());
    }
}

fn displayed(bytes: &[u8]) -> Display {
    let (mut scanner, mut display) = (Scanner::new(None), Display::new(SIZE));
    scanner.feed(0, bytes, &mut |piece| {
        if let Piece::Bytes(bytes) = piece {
            display.feed(bytes);
        }
    });
    display
}
