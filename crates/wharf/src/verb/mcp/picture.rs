//! A screen for a model: its rows as text, and where things are on it, counted from 1 as lines are.

use super::answer::{Cursor, Highlight, Screen};
use wharf_core::view::Picture;

pub(super) fn text(picture: &Picture) -> String {
    picture.rows.join("\n")
}

pub(super) fn screen(picture: &Picture) -> Screen {
    let highlights = picture.highlights.iter().map(|mark| Highlight {
        row: mark.row + 1,
        from: mark.from + 1,
        to: mark.to,
        text: mark.text.clone(),
    });
    Screen {
        rows: picture.size.rows,
        cols: picture.size.cols,
        cursor: Cursor { row: picture.cursor.0 + 1, col: picture.cursor.1 + 1 },
        highlights: highlights.collect(),
    }
}
