//! `--record`: every terminal as a film, in the format of asciinema (asciicast, version 3).
//!
//! A task for each terminal reads its journal as it grows and writes a file at its own pace; the command never waits for
//! it. What is beyond a bound is left out, and the film says so.

use crate::exit_code;
use crate::report::{self, Failure};
use crate::show;
use crate::utc;
use serde_json::json;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::task::JoinSet;
use wharf_acp::Event;
use wharf_core::{ControlError, Decoder, Reader, Step, Terminal};

/// Bytes of output in a film at most.
const MOST: u64 = 64 << 20;
/// Read at once.
const PIECE: usize = 64 << 10;
/// How long films may take to be finished after everything has ended.
const FINISH: Duration = Duration::from_secs(5);
/// For whoever has no screen: players need a size.
const SCREEN: (u16, u16) = (80, 24);

/// Records into a directory.
#[derive(Debug)]
pub(super) struct Recorder {
    dir: PathBuf,
    films: Mutex<JoinSet<()>>,
}

impl Recorder {
    /// Makes the directory if there is none.
    pub(super) fn open(dir: &Path) -> Result<Self, Failure> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        // Found out now, and not when the first film is to be made, which nobody would notice.
        let probe = dir.join(format!(".wharf-{}", std::process::id()));
        let usable = made.and_then(|()| File::create(&probe)).and_then(|_| std::fs::remove_file(&probe));
        usable.map_err(|error| {
            let why =
                if dir.is_file() { "it is a file, not a directory".to_owned() } else { error.to_string() };
            Failure::new(format!("cannot record into {}: {why}", dir.display()))
        })?;
        Ok(Self { dir: dir.to_owned(), films: Mutex::default() })
    }

    pub(super) fn note(&self, event: &Event) {
        let Event::Created { terminal, .. } = event else { return };
        let mut films = self.films.lock().unwrap_or_else(PoisonError::into_inner);
        while films.try_join_next().is_some() {}
        let name = format!("{}-{}.cast", utc::stamp(SystemTime::now()), terminal.id());
        films.spawn(film(terminal.clone(), self.dir.join(name)));
    }

    /// Waits for the films of terminals that have ended.
    pub(super) async fn finish(&self) {
        let films = std::mem::take(&mut *self.films.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = tokio::time::timeout(FINISH, films.join_all()).await;
    }
}

async fn film(terminal: Terminal, path: PathBuf) {
    if let Err(error) = record(&terminal, path.clone()).await {
        report::say(&format!("cannot record {}: {error}", path.display()));
    }
}

async fn record(terminal: &Terminal, path: PathBuf) -> io::Result<()> {
    let mut film = Film::begin(terminal, path).await?;
    let mut reader = terminal.reader(0);
    while let Some((bytes, gap)) = next(&mut reader, terminal).await.map_err(io::Error::other)? {
        film.output(&bytes, gap).await?;
    }
    let all = terminal.look().map_err(io::Error::other)?.end;
    film.end(all.saturating_sub(reader.offset()), exit(terminal)).await
}

/// More output, and how much was dropped before it; nothing at the end or when it is enough.
async fn next(reader: &mut Reader, terminal: &Terminal) -> Result<Option<(Vec<u8>, u64)>, ControlError> {
    if reader.offset() >= MOST {
        terminal.wait().await?;
        return Ok(None);
    }
    match reader.next(PIECE).await? {
        Step::Output(chunk) => Ok(Some((chunk.bytes, chunk.gap))),
        Step::Ended | Step::Closed => Ok(None),
    }
}

/// The status as a shell would have it.
fn exit(terminal: &Terminal) -> Option<u8> {
    match terminal.look().ok()?.phase {
        wharf_core::Phase::Ended(ended) => Some(exit_code::of(&ended)),
        _ => None,
    }
}

/// One file.
struct Film {
    file: File,
    /// When the last event was: times in the file are counted from there.
    last: Instant,
    decoder: Decoder,
    lines: Lines,
}

/// How lines end in what is recorded.
enum Lines {
    /// As a screen needs it.
    Screen,
    /// With a newline alone, and whether the last was a carriage return.
    Pipe { returned: bool },
}

impl Film {
    async fn begin(terminal: &Terminal, path: PathBuf) -> io::Result<Self> {
        let meta = terminal.meta();
        let (cols, rows) = meta.size.unwrap_or(SCREEN);
        let line = meta.command_line();
        let header = json!({
            "version": 3,
            "term": { "cols": cols, "rows": rows },
            "timestamp": meta.created_ms / 1000,
            "command": line,
            "title": format!("{}: {}", meta.origin, show::one_line(&line, 80)),
        });
        let file =
            blocking(move || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)).await?;
        let lines = if meta.size.is_some() { Lines::Screen } else { Lines::Pipe { returned: false } };
        let film = Self { file, last: Instant::now(), decoder: Decoder::new(), lines };
        film.write(format!("{header}\n")).await?;
        Ok(film)
    }

    async fn output(&mut self, bytes: &[u8], gap: u64) -> io::Result<()> {
        if gap > 0 {
            let text = format!("\r\n[{} bytes were dropped here]\r\n", show::count(gap));
            self.event("o", &text).await?;
        }
        let text = self.decoder.push(bytes);
        let text = self.lines.end(text);
        self.event("o", &text).await
    }

    async fn end(mut self, left_out: u64, code: Option<u8>) -> io::Result<()> {
        let mut rest = self.decoder.finish();
        if left_out > 0 {
            rest += &format!("\r\n[{} more bytes are not in this recording]\r\n", show::count(left_out));
        }
        self.event("o", &rest).await?;
        match code {
            Some(code) => self.event("x", &code.to_string()).await,
            None => Ok(()),
        }
    }

    async fn event(&mut self, code: &str, data: &str) -> io::Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        let interval = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        self.write(format!("[{interval:.6}, \"{code}\", {}]\n", json!(data))).await
    }

    /// Aside: a slow disk is nobody else's trouble.
    async fn write(&self, text: String) -> io::Result<()> {
        let mut file = self.file.try_clone()?;
        blocking(move || file.write_all(text.as_bytes())).await
    }
}

impl Lines {
    fn end(&mut self, text: String) -> String {
        let Self::Pipe { returned } = self else { return text };
        let mut ended = String::with_capacity(text.len() + text.len() / 32);
        for c in text.chars() {
            if c == '\n' && !*returned {
                ended.push('\r');
            }
            *returned = c == '\r';
            ended.push(c);
        }
        ended
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_pipe_end_as_a_screen_needs_it_however_they_are_cut() {
        let mut lines = Lines::Pipe { returned: false };
        let shown: String =
            ["a\nb\r", "\n", "\n"].into_iter().map(|text| lines.end(text.to_owned())).collect();
        assert_eq!(shown, "a\r\nb\r\n\r\n");
        assert_eq!(Lines::Screen.end("a\nb".to_owned()), "a\nb");
    }
}
