//! What kinds of programs take keys: by their names, and where a name says nothing, by their screens.

use crate::view::Picture;

/// Programs that are driven alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Pager,
    Editor,
    Shell,
    Repl,
}

const PAGERS: &[&str] =
    &["less", "more", "most", "pager", "pg", "lv", "man", "zless", "zmore", "bat", "batcat", "moar"];

const VI: &[&str] = &[
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "rvim",
    "rview",
    "ex",
    "vim.basic",
    "vim.tiny",
    "vim.nox",
    "nvi",
    "elvis",
];
const NANO: &[&str] = &["nano", "rnano", "pico"];
const EMACS: &[&str] = &["emacs", "emacs-nox", "emacs-gtk", "mg", "jove", "zile"];
const EDITORS: &[&str] =
    &["joe", "jed", "micro", "hx", "helix", "kak", "ne", "mcedit", "ed", "editor", "tilde"];

const SHELLS: &[&str] = &["bash", "sh", "rbash"];

/// Those that have a line editor and nothing else. Interpreters that also run other people's programs are not here: a
/// menu written in Python is no Python prompt. Their prompts are known by their signs.
const REPLS: &[&str] = &[
    "psql",
    "sqlite3",
    "mysql",
    "mariadb",
    "redis-cli",
    "mongosh",
    "gdb",
    "lldb",
    "irb",
    "pry",
    "ghci",
    "utop",
    "fish",
    "ksh",
    "mksh",
    "bc",
    "sftp",
    "lftp",
    "octave-cli",
    "gnuplot",
    "ipython",
    "ipython3",
    "bpython",
    "clickhouse",
];

/// Programs that ask for a password before they do as another user.
const GATES: &[&str] =
    &["sudo", "sudo-rs", "su", "su-rs", "doas", "passwd", "pkexec", "login", "newgrp", "chsh", "chfn"];

pub(super) fn is_gate(name: &str) -> bool {
    GATES.contains(&name)
}

/// What a program that takes keys is, if that can be told.
pub(super) fn family(name: &str, picture: &Picture) -> Option<Family> {
    let is = |names: &[&str]| names.contains(&name);
    if is(PAGERS) {
        Some(Family::Pager)
    } else if [VI, NANO, EMACS, EDITORS].into_iter().any(is) {
        Some(Family::Editor)
    } else if is(SHELLS) {
        Some(Family::Shell)
    } else if is(REPLS) {
        Some(Family::Repl)
    } else {
        by_screen(picture)
    }
}

/// Rows beyond a file's end that make a screen an editor's.
const EMPTY_ROWS: usize = 3;

fn by_screen(picture: &Picture) -> Option<Family> {
    let last = picture.rows.last().map_or("", |row| row.trim_end());
    let bottom = picture.rows.len().saturating_sub(1);
    let inverse = |row: usize, text: &str| {
        picture.highlights.iter().any(|part| usize::from(part.row) == row && part.text.contains(text))
    };
    let paging = inverse(bottom, "(END)") || inverse(bottom, "--More--") || picture.alternate && last == ":";
    if paging {
        return Some(Family::Pager);
    }
    let beyond = picture.rows.iter().filter(|row| *row == "~").count() >= EMPTY_ROWS;
    let editing = beyond || last.starts_with("-- INSERT --") || inverse(0, "GNU nano");
    (picture.alternate && editing).then_some(Family::Editor)
}

/// How one gets out of an editor.
pub(super) fn how_to_leave(name: &str) -> &'static str {
    let is = |names: &[&str]| names.contains(&name);
    if is(NANO) {
        "C-x leaves and asks whether to save"
    } else if is(EMACS) {
        "C-x C-c leaves and asks whether to save, C-x C-s saves"
    } else if is(VI) {
        "Escape, then `:q!` and Enter leaves without saving, `:wq` and Enter saves and leaves"
    } else {
        "an editor has the screen: its keys go by name (Escape, C-x, C-c, C-q)"
    }
}
