//! Following a shell: one task reads its journal as it grows, and nobody else changes what is known of it.
//!
//! Bytes pass the scanner, which takes out the marks for [`Track`]; what is left goes to the screen and to the lines of
//! the command that runs. Who joins late reads the marks of everything that is kept, which is quick, and paints only the
//! end of it.

use super::duty::Duty;
use super::mark::Mark;
use super::render::Render;
use super::track::{self, Seen, Track};
use super::{ShellMeta, State};
use crate::error::ReadError;
use crate::spec::Size;
use crate::terminal::{Input, Phase, Step, Terminal};
use crate::view::{Display, Piece, Scanner};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{mpsc, watch};

/// Read at a time: small enough that nobody waits long for the lock.
const CHUNK: usize = 64 * 1024;
/// Answers that wait to be sent. A program that asks without reading gets no more.
const ANSWERS: usize = 16;
/// Of a long output, so much is painted on the screen of somebody who joins.
const PAINTED: u64 = 4 << 20;

/// What all handles of one shell share.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) terminal: Terminal,
    pub(super) meta: ShellMeta,
    /// The shell's process.
    pub(super) pid: i32,
    /// Written by the follower alone; others look, and hold it for moments.
    view: Mutex<View>,
    /// Goes up with everything that changes the view.
    changed: watch::Sender<u64>,
    /// Held by whoever gives it a command: who did last, and by what.
    pub(super) turn: tokio::sync::Mutex<Option<(String, Input)>>,
    /// What of others' typing has been told, by who was told.
    pub(super) told: Mutex<std::collections::HashMap<String, super::ToldTyped>>,
}

/// What is known of a shell.
#[derive(Debug)]
pub(super) struct View {
    scanner: Scanner,
    pub(super) track: Track,
    pub(super) display: Display,
    /// The newest command's output, with its number.
    pub(super) render: Option<(u64, Render)>,
    /// How many lines each command has printed that was followed to its end.
    counts: BTreeMap<u64, u64>,
    /// Offset up to which everything was looked at.
    pub(super) seen: u64,
    size: Size,
    /// The arguments of the shell's process when it told of itself last.
    pub(super) words: Option<Vec<u8>>,
    /// When something was printed last.
    pub(super) printed: Instant,
}

impl Core {
    /// What a journal says up to now. Reads files; for where blocking is allowed.
    pub(super) fn join(terminal: Terminal, meta: ShellMeta) -> Result<Self, ReadError> {
        let pid = terminal.pid()?.unwrap_or(0);
        let look = terminal.look()?;
        let size = look.size.unwrap_or_default();
        let mut view = View::new(&terminal, &meta, size);
        view.catch_up(&terminal, &meta, pid, look.first, look.end)?;
        Ok(Self {
            view: Mutex::new(view),
            changed: watch::Sender::new(0),
            turn: tokio::sync::Mutex::default(),
            told: Mutex::default(),
            terminal,
            meta,
            pid,
        })
    }

    pub(super) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    pub(super) fn state(&self) -> State {
        self.view().track.state()
    }

    /// The command that runs.
    fn running(&self) -> Option<u64> {
        let view = self.view();
        view.track.last().filter(|last| last.output.1.is_none()).map(|last| last.id)
    }

    /// The end is on record.
    fn exit(&self) {
        if let Ok(Phase::Ended(ended)) = self.terminal.look().map(|look| look.phase) {
            self.view().track.exit(ended, Seen::Now(Instant::now()));
            self.tell();
        }
    }
}

impl View {
    fn new(terminal: &Terminal, meta: &ShellMeta, size: Size) -> Self {
        Self {
            scanner: Scanner::new(Some(&meta.nonce)),
            track: Track::new(terminal.meta().cwd.clone()),
            display: Display::new(size),
            render: None,
            counts: BTreeMap::new(),
            seen: 0,
            size,
            words: None,
            printed: Instant::now(),
        }
    }

    /// Learns the marks of what is kept, then paints from the newest prompt or command on.
    fn catch_up(
        &mut self,
        terminal: &Terminal,
        meta: &ShellMeta,
        pid: i32,
        first: u64,
        end: u64,
    ) -> Result<(), ReadError> {
        let mut scanner = Scanner::new(Some(&meta.nonce));
        let (mut at, mut anchor) = (first, first);
        let track = &mut self.track;
        while at < end {
            let chunk = terminal.read(at, CHUNK.min(usize::try_from(end - at).unwrap_or(CHUNK)))?;
            if chunk.bytes.is_empty() {
                break;
            }
            scanner.feed(chunk.at, &chunk.bytes, &mut |piece| {
                let Piece::Mark { body, start, end } = piece else { return };
                let Some(mark) = Mark::parse(body, pid) else { return };
                if matches!(mark, Mark::Prompt { .. } | Mark::Began { .. }) {
                    anchor = start;
                }
                track.mark(mark, start, end, Seen::Later);
            });
            at = chunk.at + chunk.bytes.len() as u64;
        }
        self.words = arguments(pid);
        self.paint(terminal, meta, anchor, at)?;
        if let Phase::Ended(ended) = terminal.look()?.phase {
            self.track.exit(ended, Seen::Later);
        }
        Ok(())
    }

    fn paint(&mut self, terminal: &Terminal, meta: &ShellMeta, from: u64, end: u64) -> Result<(), ReadError> {
        self.render = match (self.track.state(), self.track.last()) {
            (State::Running, Some(last)) => Some((last.id, Render::new(self.size))),
            _ => None,
        };
        self.scanner = Scanner::new(Some(&meta.nonce));
        let mut at = from;
        while at < end {
            let chunk = terminal.read(at, CHUNK.min(usize::try_from(end - at).unwrap_or(CHUNK)))?;
            if chunk.bytes.is_empty() {
                break;
            }
            let Self { scanner, display, render, .. } = self;
            let is_near = end - chunk.at <= PAINTED;
            scanner.feed(chunk.at, &chunk.bytes, &mut |piece| {
                let Piece::Bytes(bytes) = piece else { return };
                if let Some((_, render)) = render {
                    render.feed(bytes);
                }
                if is_near {
                    display.feed(bytes);
                }
            });
            at = chunk.at + chunk.bytes.len() as u64;
        }
        // Whoever asked these questions has been answered, or is gone.
        self.display.take_replies();
        self.seen = end;
        Ok(())
    }

    /// What was printed next; what is to be answered.
    fn feed(&mut self, pid: i32, at: u64, bytes: &[u8], now: Instant) -> Vec<u8> {
        let Self { scanner, track, display, render, counts, size, words, .. } = self;
        scanner.feed(at, bytes, &mut |piece| match piece {
            Piece::Bytes(bytes) => {
                display.feed(bytes);
                if let Some((id, render)) = render
                    && track.last().is_some_and(|last| last.id == *id && last.output.1.is_none())
                {
                    render.feed(bytes);
                }
            }
            Piece::Mark { body, start, end } => {
                let Some(mark) = Mark::parse(body, pid) else { return };
                // Only before the first one, and where it says so, the process has been another.
                if matches!(mark, Mark::Prompt { is_new, .. } if is_new || track.kind().is_none()) {
                    *words = arguments(pid);
                }
                if matches!(mark, Mark::Began { .. }) {
                    // The shell's own editor is done with it; a program that was killed may have left it so.
                    display.feed(b"\x1b[?2004l");
                }
                track.mark(mark, start, end, Seen::Now(now));
                let newest = track.last().filter(|last| last.output.1.is_none()).map(|last| last.id);
                if newest.is_some() && newest != render.as_ref().map(|(id, _)| *id) {
                    let next = newest.map(|id| (id, Render::new(*size)));
                    if let Some((id, over)) = std::mem::replace(render, next) {
                        counts.insert(id, over.lines());
                    }
                    if counts.len() > track::MOST {
                        counts.pop_first();
                    }
                }
            }
        });
        self.seen = at + bytes.len() as u64;
        self.printed = now;
        self.display.take_replies()
    }

    /// So much was let go by the journal before it was read: what was half read is gone.
    fn lose(&mut self, bytes: u64, nonce: &str) {
        self.scanner = Scanner::new(Some(nonce));
        let open = self.track.last().filter(|last| last.output.1.is_none()).map(|last| last.id);
        if let Some((_, render)) = self.render.as_mut().filter(|(id, _)| Some(*id) == open) {
            render.lose(bytes);
        }
    }

    pub(super) fn resize(&mut self, size: Option<Size>) {
        let Some(size) = size.filter(|size| *size != self.size) else { return };
        self.size = size;
        self.display.resize(size);
        if let Some((_, render)) = &mut self.render {
            render.resize(size);
        }
    }

    /// How many lines a command has printed, if that is known.
    pub(super) fn count(&self, command: u64) -> Option<u64> {
        let newest = self.render.as_ref().filter(|(id, _)| *id == command);
        newest.map(|(_, render)| render.lines()).or_else(|| self.counts.get(&command).copied())
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }
}

/// The arguments that a process was begun with; other ones after it has replaced itself.
pub(super) fn arguments(pid: i32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/cmdline")).ok()
}

/// Follows until nothing can come any more.
pub(super) async fn follow(core: Arc<Core>) {
    let (answers, inbox) = mpsc::channel(ANSWERS);
    let answering = tokio::spawn(answer(core.clone(), inbox));
    let mut reader = core.terminal.reader(core.view().seen);
    let mut duty = None;
    let mut is_over = false;
    loop {
        let step = if is_over { reader.next_until_closed(CHUNK).await } else { reader.next(CHUNK).await };
        match step {
            Ok(Step::Output(chunk)) => {
                let size = core.terminal.size().ok().flatten();
                let owed = {
                    let mut view = core.view();
                    view.resize(size);
                    if chunk.gap > 0 {
                        view.lose(chunk.gap, &core.meta.nonce);
                    }
                    view.feed(core.pid, chunk.at, &chunk.bytes, Instant::now())
                };
                core.tell();
                // A program that never stops printing leaves others their turn.
                tokio::task::yield_now().await;
                if !owed.is_empty() {
                    duty = duty.or_else(|| Duty::try_take(&core.terminal).ok().flatten());
                    if duty.is_some() {
                        // Whoever asks faster than it reads does not wait for the answer.
                        let _ = answers.try_send((core.running(), owed));
                    }
                }
            }
            Ok(Step::Ended) => {
                core.exit();
                is_over = true;
            }
            // An error means that it was released, or cannot be read: nothing more is to be learned.
            Ok(Step::Closed) | Err(_) => {
                core.exit();
                break;
            }
        }
    }
    answering.abort();
}

/// Sends answers, beside the follower: a program that does not read must not keep it from reading.
async fn answer(core: Arc<Core>, mut inbox: mpsc::Receiver<(Option<u64>, Vec<u8>)>) {
    let Ok(mut input) = core.terminal.input("terminal") else { return };
    while let Some((asker, bytes)) = inbox.recv().await {
        // Whoever asked is gone, and the prompt would take the answer for typing.
        if asker != core.running() {
            continue;
        }
        if input.send(&bytes).await.is_err() {
            return;
        }
    }
}
