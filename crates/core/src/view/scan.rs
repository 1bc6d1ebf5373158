//! Cuts a terminal's output into marks and the bytes that an emulator may see.
//!
//! A state machine over the same grammar as the emulator's own parser, so that both agree on where each sequence ends:
//! `ESC` ends whatever was open, 8-bit controls are text (the emulator reads UTF-8), `CAN` and `SUB` cancel. Only whole
//! sequences are passed on, whatever the pieces they came in.
//!
//! What surprises: a string that nobody ends. A terminal swallows everything after a stray `ESC ]`; an agent would lose
//! the rest of its output. So a string that has gone on for [`PATIENCE`] is over at its next line feed, and what follows
//! is output again. Titles with a line feed in them are shorter, and pictures and clipboards of that size have none.

use super::allowance::Allowance;
use super::guard::{self, Verdict};

const ESC: u8 = 0x1b;
/// Ends a string, whatever it says.
const BEL: u8 = 0x07;

/// The longest body of a mark; a longer one is no mark.
const MAX_BODY: usize = 64 * 1024;
/// The longest control sequence that is passed on. Thirty-two parameters, all that the emulator counts, fit.
const MAX_SEQUENCE: usize = 256;
/// After so many bytes of a string, a line feed ends it.
const PATIENCE: usize = 4096;

/// What a [`Scanner`] found, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// For an emulator: bounded in what it can cost, without marks, and never a part of a sequence.
    Bytes(&'a [u8]),
    /// A mark with the right nonce.
    Mark {
        /// What it says.
        body: &'a str,
        /// The offset of its first byte.
        start: u64,
        /// The offset after its last byte.
        end: u64,
    },
}

/// Stands in front of every emulator: finds marks, and bounds what bytes can cost.
#[derive(Debug, Clone)]
pub struct Scanner {
    /// What a mark begins with, from its `ESC` on; nothing without a nonce.
    prefix: Vec<u8>,
    state: State,
    /// The sequence that has begun in an earlier piece, as far as it was worth keeping.
    held: Vec<u8>,
    /// Where that sequence began.
    began: u64,
    /// How long it is by now, kept or not.
    length: usize,
    /// The offset that should come next.
    next: u64,
    /// How often characters may still be repeated.
    repeats: Allowance,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    /// After `ESC`.
    Escape,
    /// After `ESC` and intermediates.
    Intermediate,
    /// After `ESC [`.
    Control,
    /// In a string, which only `ESC ]` lets a bell end.
    String {
        bell: Bell,
    },
    /// After an `ESC` in a string, which may be the first half of its end.
    Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bell {
    Ends,
    Rings,
}

/// What one byte did to a sequence.
enum Step {
    /// It goes on.
    On(State),
    /// It is complete with this byte.
    Done,
    /// It came to nothing, this byte included.
    Void,
    /// It came to nothing, and this byte begins another.
    Again,
    /// It came to nothing, and the byte before this one has begun another.
    Reopen,
    /// It came to nothing, and this byte is text.
    Text,
}

impl Scanner {
    /// Knows the marks of that nonce; without one, none.
    #[must_use]
    pub fn new(nonce: Option<&str>) -> Self {
        let prefix = nonce.map(|nonce| format!("\x1b]6973;{nonce};").into_bytes()).unwrap_or_default();
        let repeats = Allowance::default();
        Self { prefix, state: State::Ground, held: Vec::new(), began: 0, length: 0, next: 0, repeats }
    }

    /// The bytes at that offset. Sequences may be cut anywhere between two calls.
    pub fn feed(&mut self, at: u64, bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
        if at != self.next {
            // Bytes are missing here: what had begun before cannot be continued.
            self.forget();
        }
        self.next = at + bytes.len() as u64;
        // `from` is where the bytes begin that were not handed on yet.
        let (mut from, mut position) = (0, 0);
        while position < bytes.len() {
            if self.state == State::Ground {
                match memchr::memchr(ESC, &bytes[position..]) {
                    Some(found) => position += found,
                    None => break,
                }
                self.begin(at + position as u64);
                position += 1;
                continue;
            }
            let byte = bytes[position];
            self.length += 1;
            let step = self.step(byte);
            let reopens = matches!(step, Step::Reopen);
            let end = position + usize::from(matches!(step, Step::On(_) | Step::Done | Step::Void));
            match step {
                Step::On(state) => self.state = state,
                Step::Done => self.finish(at, bytes, end, &mut from, each),
                Step::Void | Step::Again | Step::Text | Step::Reopen => {
                    hand(&bytes[from..self.start_in(at).max(from)], each);
                    from = end;
                    self.forget();
                }
            }
            if reopens {
                from = position.saturating_sub(1);
                self.reopen(at + position as u64, position);
            }
            position = end;
        }
        self.hold(at, bytes, from, each);
    }

    fn begin(&mut self, offset: u64) {
        self.state = State::Escape;
        self.began = offset;
        self.length = 1;
    }

    /// The `ESC` before that offset has begun a sequence; it may lie in an earlier piece.
    fn reopen(&mut self, offset: u64, position: usize) {
        self.begin(offset.saturating_sub(1));
        if position == 0 {
            self.held.push(ESC);
        }
    }

    fn forget(&mut self) {
        self.state = State::Ground;
        self.held.clear();
        self.length = 0;
    }

    /// Where in the bytes at that offset the sequence begins: at zero if it began before them.
    fn start_in(&self, at: u64) -> usize {
        usize::try_from(self.began.saturating_sub(at)).unwrap_or(0)
    }

    fn step(&self, byte: u8) -> Step {
        match (self.state, byte) {
            (State::Ground, _) => Step::Text,
            (State::Ending, b'\\') => Step::Done,
            // The string was ended by the beginning of something else: then it was no mark, and is dropped.
            (State::Ending, _) => Step::Reopen,
            (State::String { .. }, ESC) => Step::On(State::Ending),
            (_, ESC) => Step::Again,
            (_, 0x18 | 0x1a) => Step::Void,
            (State::String { bell: Bell::Ends }, BEL) => Step::Done,
            (State::String { .. }, b'\n') if self.length > PATIENCE => Step::Text,
            (State::String { .. }, _) => Step::On(self.state),
            (_, b'\n') if self.length > MAX_SEQUENCE => Step::Text,
            (State::Control, 0x40..=0x7e) => Step::Done,
            (State::Control, _) => Step::On(self.state),
            (State::Escape, b'[') => Step::On(State::Control),
            (State::Escape, b']') => Step::On(State::String { bell: Bell::Ends }),
            (State::Escape, b'P' | b'X' | b'^' | b'_') => Step::On(State::String { bell: Bell::Rings }),
            (State::Escape | State::Intermediate, 0x20..=0x2f) => Step::On(State::Intermediate),
            (State::Escape | State::Intermediate, 0x30..=0x7e) => Step::Done,
            (State::Escape | State::Intermediate, _) => Step::On(self.state),
        }
    }

    /// A sequence is complete: handed on with the text around it if it may pass as it is, or else by itself.
    fn finish(
        &mut self,
        at: u64,
        bytes: &[u8],
        end: usize,
        from: &mut usize,
        each: &mut dyn FnMut(Piece<'_>),
    ) {
        let start = self.start_in(at);
        let whole = self.began >= at;
        if !whole {
            self.keep(&bytes[..end]);
        }
        let sequence = if whole { &bytes[start..end] } else { &self.held[..] };
        // What was too long to keep is judged by its length alone.
        self.repeats.earn(self.began + self.length as u64);
        let verdict = match self.length {
            length if length == sequence.len() => judge(&self.prefix, sequence, &mut self.repeats),
            _ => Judgement::Drop,
        };
        match verdict {
            Judgement::Pass if whole => {}
            judgement => {
                hand(&bytes[*from..start.max(*from)], each);
                *from = end;
                match judgement {
                    Judgement::Pass => hand(sequence, each),
                    Judgement::Replace(other) => hand(&other, each),
                    Judgement::Mark(body) => {
                        each(Piece::Mark { body, start: self.began, end: at + end as u64 });
                    }
                    Judgement::Drop => {}
                }
            }
        }
        self.forget();
    }

    /// The end of a piece: text goes out, a sequence that is still open stays.
    fn hold(&mut self, at: u64, bytes: &[u8], from: usize, each: &mut dyn FnMut(Piece<'_>)) {
        let start = if self.state == State::Ground { bytes.len() } else { self.start_in(at) };
        hand(&bytes[from..start.max(from)], each);
        if self.state != State::Ground {
            let start = start.max(from);
            self.keep(&bytes[start..]);
        }
    }

    /// Keeps more of a sequence, as long as something can come of it.
    fn keep(&mut self, more: &[u8]) {
        let mut so_far = self.held.iter().chain(more).zip(&self.prefix);
        let may_be_mark = !self.prefix.is_empty() && so_far.all(|(one, other)| one == other);
        let most = if may_be_mark { self.prefix.len() + MAX_BODY + 2 } else { MAX_SEQUENCE };
        let room = most.saturating_sub(self.held.len());
        self.held.extend_from_slice(&more[..more.len().min(room)]);
    }
}

enum Judgement<'a> {
    Pass,
    Drop,
    Replace(Vec<u8>),
    Mark(&'a str),
}

fn judge<'a>(prefix: &[u8], sequence: &'a [u8], repeats: &mut Allowance) -> Judgement<'a> {
    if let Some(body) = mark(prefix, sequence) {
        return Judgement::Mark(body);
    }
    if sequence.len() > MAX_SEQUENCE {
        return Judgement::Drop;
    }
    match guard::judge(sequence, repeats) {
        Verdict::Pass => Judgement::Pass,
        Verdict::Drop => Judgement::Drop,
        Verdict::Replace(other) => Judgement::Replace(other),
    }
}

fn mark<'a>(prefix: &[u8], sequence: &'a [u8]) -> Option<&'a str> {
    if prefix.is_empty() {
        return None;
    }
    let rest = sequence.strip_prefix(prefix)?;
    let body = rest.strip_suffix(b"\x07").or_else(|| rest.strip_suffix(b"\x1b\\"))?;
    (body.len() <= MAX_BODY).then(|| std::str::from_utf8(body).ok())?
}

fn hand(bytes: &[u8], each: &mut dyn FnMut(Piece<'_>)) {
    if !bytes.is_empty() {
        each(Piece::Bytes(bytes));
    }
}
