//! The walk through a command and all that it would run: wrappers, shells, lines and their parts.
//!
//! Rules that ask or deny are tried on everything that is met. Rules that allow are tried once, on the command itself
//! (see [`super::Rules::judge`]): nothing here grants anything.

use super::line::{Command, Dialect, MAX_PARTS, Redirect, parse};
use super::shape::{Count, Shape, Word};
use super::shell::{Shell, Task, task};
use super::wrapper::{Inner, Site, Wrapped, unwrap};
use super::{Decision, Found, Matches, Rules};

/// How deep wrappers and lines may be in each other.
const MAX_NESTING: usize = 8;
/// Matches and notes that are kept; every rule that matches stays in the list at least once.
const MAX_LISTED: usize = 200;
/// How much of a part is shown.
const SHOWN: usize = 200;

pub(super) struct Walk<'r> {
    rules: &'r Rules,
    pub(super) out: Matches,
    parts: usize,
}

/// What a command's standard input is, if that is written beside it.
type Here<'a> = Option<&'a Word>;

impl<'r> Walk<'r> {
    pub(super) fn new(rules: &'r Rules) -> Walk<'r> {
        Walk { rules, out: Matches::default(), parts: 0 }
    }

    pub(super) fn note(&mut self, note: String) {
        if self.out.notes.len() < MAX_LISTED && !self.out.notes.contains(&note) {
            self.out.notes.push(note);
        }
    }

    pub(super) fn unreadable(&mut self, note: String) {
        self.out.unreadable = true;
        self.doubt(note);
    }

    pub(super) fn unknown(&mut self, note: String) {
        self.out.unknown = true;
        self.doubt(note);
    }

    fn doubt(&mut self, note: String) {
        if self.out.doubts.len() < MAX_LISTED && !self.out.doubts.contains(&note) {
            self.out.doubts.push(note.clone());
        }
        self.note(note);
    }

    pub(super) fn found(&mut self, found: Found) {
        let is_known =
            |known: &Found| known.rule == found.rule && (known.part == found.part || found.rule.is_none());
        let is_full = self.out.found.len() >= MAX_LISTED;
        if !self.out.found.iter().any(|known| is_known(known) || is_full && known.rule == found.rule) {
            self.out.found.push(found);
        }
    }

    pub(super) fn assign(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name).into_owned();
        if !name.is_empty() && !self.out.assigns.contains(&name) {
            self.out.assigns.push(name);
        }
    }

    /// A command, word by word, and all that it runs.
    pub(super) fn command(&mut self, words: &[Word], depth: usize, site: Site, here: Here<'_>) {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return self.unreadable("it has more than 2,000 parts".to_owned());
        }
        if depth > MAX_NESTING {
            return self.too_deep(words);
        }
        let Some((name, args)) = words.split_first() else { return };
        if base_of(name).iter().all(Option::is_none) && !name.shape.is_empty() {
            self.unknown(format!("which command `{}` runs cannot be known", show(words)));
            // It may be empty, or a wrapper's name.
            return self.command(args, depth, site, here);
        }
        let head = split_head(name).map(|(first, more)| (first, [&[more], args].concat()));
        let (name, args) = head.as_ref().map_or((name, args), |(first, args)| (first, args.as_slice()));
        self.try_rules(name, args, words);
        let Some(base) = base_of(name).iter().copied().collect::<Option<Vec<u8>>>() else {
            return self.unknown(format!("which command `{}` runs cannot be known", show(words)));
        };
        self.inside(&base, args, depth, site, here);
    }

    fn too_deep(&mut self, words: &[Word]) {
        self.found(Found {
            rule: None,
            name: "built in: too deeply nested".to_owned(),
            decision: Decision::Deny,
            part: show(words),
            reason: Some("commands are nested in each other more than 8 deep".to_owned()),
        });
    }

    fn try_rules(&mut self, name: &Word, args: &[Word], words: &[Word]) {
        for (index, rule) in self.rules.list.iter().enumerate() {
            if rule.decision > Decision::Allow && rule.pattern.may_match(name, args) {
                self.found(rule.found(index, show(words)));
            }
        }
    }

    /// What the command runs in turn.
    fn inside(&mut self, name: &[u8], args: &[Word], depth: usize, site: Site, here: Here<'_>) {
        if let Some(shell) = Shell::named(name) {
            return self.shell(shell, args, depth, site, here);
        }
        if site == Site::Line && self.builtin(name, args, depth) {
            return;
        }
        if let Some(wrapped) = unwrap(name, args, site) {
            self.wrapped(wrapped, args, depth, site, here);
        }
    }

    fn wrapped(&mut self, wrapped: Wrapped, args: &[Word], depth: usize, site: Site, here: Here<'_>) {
        for (_, name) in &wrapped.assigns {
            self.set(name, None, depth);
        }
        for inner in wrapped.inner {
            match inner {
                Inner::Command { words, .. } => self.command(&words, depth + 1, site, here),
                Inner::Line { line, .. } => {
                    self.text(&line, Dialect::Posix, &format!("the line that `{}` runs", show(args)), depth);
                }
                Inner::Unsure { from } => self.every_reading(&args[from..], depth, site),
            }
        }
    }

    /// It is not known where the command begins: it may be anywhere, and any word may be a line.
    fn every_reading(&mut self, args: &[Word], depth: usize, site: Site) {
        self.note(format!("where the command in `{}` begins is not known; every word is tried", show(args)));
        for at in 0..args.len() {
            self.command(&args[at..], depth + 1, site, None);
            if let Some(text) = args[at].text().filter(|text| text.iter().any(u8::is_ascii_whitespace)) {
                self.line(&text, Dialect::Posix, depth + 1);
            }
        }
    }

    fn shell(&mut self, shell: Shell, args: &[Word], depth: usize, site: Site, here: Here<'_>) {
        match (task(args), shell) {
            (Task::Line { line, .. }, Shell::Known(dialect)) => {
                self.text(&args[line], dialect, &format!("the line `{}`", args[line].show()), depth);
                // `sh -c '"$@"' sh rm x`: what follows the line's own name may be run by it.
                if let Some(rest) = args.get(line + 2..).filter(|rest| !rest.is_empty()) {
                    self.command(rest, depth + 1, site, None);
                }
            }
            (Task::Line { .. }, Shell::Foreign) => {
                self.unreadable("the line is for a shell whose language is not read here".to_owned());
            }
            (Task::Unsure { from }, _) => {
                self.unknown(format!("what a shell is asked to run in `{}` cannot be known", show(args)));
                self.every_reading(&args[from..], depth, site);
            }
            (Task::Input, _) if site == Site::Line => self.input(shell, depth, here),
            (Task::Input | Task::Script, _) => {}
        }
    }

    /// A shell that reads its commands from its input.
    fn input(&mut self, shell: Shell, depth: usize, here: Here<'_>) {
        match (here.and_then(Word::text), shell) {
            (Some(text), Shell::Known(dialect)) => self.line(&text, dialect, depth + 1),
            _ => self.unknown("a shell reads its commands from its input".to_owned()),
        }
    }

    /// Words that are joined and read as a line.
    pub(super) fn text_of(&mut self, args: &[Word], what: &str, depth: usize) {
        let shapes: Vec<Shape> = args.iter().map(|word| word.shape.clone()).collect();
        let is_known = args.iter().all(|word| word.count == Count::One);
        let count = if is_known { Count::One } else { Count::Split };
        let joined = Word { shape: shapes.join(&Some(b' ')), count };
        self.text(&joined, Dialect::Posix, &format!("what `{what} {}` runs", show(args)), depth);
    }

    /// A word that is read as a line. Where not all of it is known, what is known of it still counts.
    pub(super) fn text(&mut self, word: &Word, dialect: Dialect, what: &str, depth: usize) {
        if word.text().is_none() {
            self.unknown(format!("{what} cannot be known"));
        }
        if let Some(text) = word.with_variables().text() {
            self.line(&text, dialect, depth + 1);
        }
    }

    /// A shell line: every part of it.
    pub(super) fn line(&mut self, line: &[u8], dialect: Dialect, depth: usize) {
        if depth > MAX_NESTING {
            return self.too_deep(&[Word::known(line)]);
        }
        let parsed = parse(line, dialect);
        for Command { assigns, words, redirects } in &parsed.commands {
            assigns.iter().for_each(|assign| self.set(&assign.name, assign.value.as_deref(), depth));
            let here = redirects.iter().rev().find_map(|redirect| match redirect {
                Redirect::Here(body) => parsed.bodies.get(*body),
                Redirect::File(_) => None,
            });
            self.command(words, depth, Site::Line, here);
        }
        if parsed.runs_values {
            self.unknown("an expansion or a subscript runs a text as a command".to_owned());
        }
        if let Some(trouble) = parsed.trouble {
            self.unreadable(format!("the line cannot be read: {trouble}"));
        }
    }
}

/// What stands behind the last slash of a name.
fn base_of(name: &Word) -> &[Option<u8>] {
    let from = name.shape.iter().rposition(|byte| *byte == Some(b'/')).map_or(0, |at| at + 1);
    &name.shape[from..]
}

/// A name that is cut by an expansion, as `rm${IFS}-rf` is: what is known of its first word, and the rest.
fn split_head(name: &Word) -> Option<(Word, Word)> {
    let gap = name.shape.iter().position(Option::is_none).filter(|_| name.count == Count::Split)?;
    if gap == 0 {
        // `${IFS}rm`: nothing may stand before the end.
        let end = name.shape.iter().rposition(Option::is_none)?;
        return Some((Word { shape: name.shape[end..].to_vec(), count: Count::One }, Word::anything()));
    }
    Some((Word { shape: name.shape[..=gap].to_vec(), count: Count::One }, Word::anything()))
}

/// Words for people, cut where they are long.
pub(super) fn show(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        if text.len() > SHOWN {
            break;
        }
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(&word.show());
    }
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
