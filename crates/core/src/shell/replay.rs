//! The lines of any command's output, rendered again from the journal.
//!
//! One pass, of which nothing is held but what is on the screen; two where the journal has let go of the beginning, so that
//! lines keep their numbers. Reads files, so it runs where blocking is allowed; it
//! ends when whoever waits for it is gone.

use super::follow::{Core, View};
use super::render::End;
use super::{Kind, Line, Passed};
use crate::error::ReadError;
use crate::spec::Size;
use crate::view::{Piece, Scanner, Stream};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Read from the journal at a time.
const CHUNK: usize = 256 * 1024;

/// What is to be rendered.
pub(super) struct Replay {
    core: Arc<Core>,
    /// Parts of the journal, one after the other one output.
    stretches: Vec<(u64, u64)>,
    end: End,
    size: Size,
    typing: Typing,
    /// How many lines it has, if that is known.
    lines: Option<u64>,
}

/// What is typed to give a command to a shell that has no line editor, which its terminal echoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Typing {
    /// There is none: it is within a command, or the shell does not echo.
    Never,
    /// There may be some.
    Outside,
    Inside,
}

type Each<'a> = &'a mut dyn FnMut(Line<'_>) -> ControlFlow<()>;

/// Set when nobody waits any more.
struct Leave(Arc<AtomicBool>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Replay {
    /// Of a command as it stands (0: what was printed outside of commands).
    pub(super) fn of(core: &Arc<Core>, view: &View, command: u64) -> Result<Self, ReadError> {
        let found = view.track.commands().find(|known| known.id == command);
        let stretches: Vec<_> = match found {
            Some(found) => vec![found.output],
            None if command == 0 => view.track.loose().collect(),
            None => return Err(ReadError::NotFound),
        };
        let is_open = stretches.last().is_some_and(|last| last.1.is_none());
        // Not beyond what the marks have been read of.
        let bound = |(start, end): (u64, Option<u64>)| (start, end.unwrap_or(view.seen).max(start));
        let echoes = view.track.kind().unwrap_or(core.meta.kind) == Kind::Sh;
        Ok(Self {
            core: core.clone(),
            stretches: stretches.into_iter().map(bound).collect(),
            end: if is_open { End::Open } else { End::Over },
            size: view.size(),
            typing: if command == 0 && echoes { Typing::Outside } else { Typing::Never },
            lines: view.count(command),
        })
    }

    /// Goes over the lines from that one on.
    pub(super) async fn pass<S: Send + 'static>(
        self,
        from: u64,
        mut state: S,
        mut each: impl FnMut(&mut S, Line<'_>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<Passed<S>, ReadError> {
        let gone = Arc::new(AtomicBool::new(false));
        let _leave = Leave(gone.clone());
        let task = tokio::task::spawn_blocking(move || {
            let dropped = self.run(&gone, &mut |line| match line.number < from {
                true => ControlFlow::Continue(()),
                false => each(&mut state, line),
            })?;
            Ok(Passed { state, dropped })
        });
        task.await.map_err(|error| ReadError::Io(io::Error::other(error)))?
    }

    /// How many bytes are gone for good.
    fn run(&self, gone: &AtomicBool, each: Each<'_>) -> Result<u64, ReadError> {
        self.render(self.before(gone)?, gone, each)
    }

    /// How many lines were before the first that is kept. What is kept has to be counted for that, so it is not asked
    /// where nothing is missing.
    fn before(&self, gone: &AtomicBool) -> Result<u64, ReadError> {
        let Some((lines, (start, _))) = self.lines.zip(self.stretches.first()) else { return Ok(0) };
        if self.core.terminal.look()?.first <= *start {
            return Ok(0);
        }
        let mut kept = 0;
        self.render(0, gone, &mut |line| {
            kept = line.number;
            ControlFlow::Continue(())
        })?;
        Ok(lines.saturating_sub(kept))
    }

    fn render(&self, before: u64, gone: &AtomicBool, each: Each<'_>) -> Result<u64, ReadError> {
        let mut stream = Stream::new(self.size);
        let (mut number, mut dropped) = (before, 0);
        let mut typing = self.typing;
        let mut one = |text: &str, is_finished| {
            if gone.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            // Lines that are left out have no numbers.
            if typing.covers(text) {
                return ControlFlow::Continue(());
            }
            number += 1;
            each(Line { number, text, is_finished })
        };
        for stretch in &self.stretches {
            let mut feed = |bytes: &[u8]| {
                stream.feed(bytes);
                stream.take_finished().iter().try_for_each(|line| one(line, true))
            };
            let (lost, is_over) = self.read(*stretch, gone, &mut feed)?;
            dropped += lost;
            if is_over.is_break() {
                return Ok(dropped);
            }
        }
        // Of an output that is over nothing can change.
        let _ = stream.open_lines().iter().try_for_each(|line| one(line, self.end == End::Over));
        Ok(dropped)
    }

    /// Gives the bytes of a stretch, as a scanner lets them pass; how many are gone.
    fn read(
        &self,
        (start, end): (u64, u64),
        gone: &AtomicBool,
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(u64, ControlFlow<()>), ReadError> {
        let mut scanner = Scanner::new(Some(&self.core.meta.nonce));
        let (mut at, mut dropped) = (start, 0);
        let mut flow = ControlFlow::Continue(());
        while at < end && flow.is_continue() && !gone.load(Ordering::Relaxed) {
            let most = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
            let chunk = self.core.terminal.read(at, most)?;
            // What is gone may be all of it, and more.
            dropped += chunk.gap.min(end - at);
            let room = usize::try_from(end.saturating_sub(chunk.at)).unwrap_or(usize::MAX);
            let bytes = &chunk.bytes[..chunk.bytes.len().min(room)];
            if bytes.is_empty() {
                break;
            }
            scanner.feed(chunk.at, bytes, &mut |piece| {
                if let (Piece::Bytes(bytes), true) = (piece, flow.is_continue()) {
                    flow = each(bytes);
                }
            });
            at = chunk.at + bytes.len() as u64;
        }
        Ok((dropped, flow))
    }
}

impl Typing {
    /// Whether that line, the next, is part of it.
    fn covers(&mut self, line: &str) -> bool {
        if *self == Self::Outside && line.contains("__wharf_take;") {
            *self = Self::Inside;
        }
        let covers = *self == Self::Inside;
        if covers && line == "#." {
            *self = Self::Outside;
        }
        covers
    }
}
