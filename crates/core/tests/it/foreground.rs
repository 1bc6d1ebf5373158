//! Waiting for input, by real programs on real PTYs: who does, who does not, and for what.
//!
//! That somebody does not wait has no event; those who do not are looked at as often as a waiting call would in half a
//! second.

pub(crate) mod confined;
mod kind;
mod quiet;

use std::time::Duration;
use wharf_core::foreground::{Awaiting, Foreground, Kind, Pace};
use wharf_core::view::{Display, Piece, Scanner};
use wharf_core::{Chunk, Reader, Size, Spec, Step, Terminal};
use wharf_testing::{Place, guarded};

const SIZE: Size = Size { cols: 80, rows: 24 };

/// Not whichever comes first on the path: a version manager's is a shell script first.
const PYTHON: &str = "/usr/bin/python3";

/// Looks after which somebody who was not seen waiting is believed not to: about 300 ms of silence.
const LOOKS: usize = 5;

/// A terminal that is looked at as a waiting call does.
struct Watched {
    terminal: Terminal,
    reader: Reader,
    scanner: Scanner,
    display: Display,
    pace: Pace,
}

impl Watched {
    async fn start(place: &Place, spec: Spec) -> Self {
        let terminal =
            place.start(spec.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").pty(SIZE)).await;
        Self::of(terminal)
    }

    async fn line(place: &Place, line: &str) -> Self {
        Self::start(place, place.marked(Spec::shell_line("/bin/bash", line))).await
    }

    async fn python(place: &Place, script: &str) -> Self {
        Self::start(place, place.marked(Spec::argv(PYTHON, ["-u", "-c", script]))).await
    }

    fn of(terminal: Terminal) -> Self {
        let (scanner, display) = (Scanner::new(None), Display::new(SIZE));
        Self { reader: terminal.reader(0), terminal, scanner, display, pace: Pace::default() }
    }

    fn show(&mut self, chunk: &Chunk) {
        let display = &mut self.display;
        self.scanner.feed(chunk.at, &chunk.bytes, &mut |piece| match piece {
            Piece::Bytes(bytes) => display.feed(bytes),
            Piece::Mark { .. } => {}
        });
    }

    fn text(&self) -> String {
        self.display.picture().rows.join("\n")
    }

    /// Looks once, after it was quiet for as long as the pace says.
    async fn look(&mut self) -> (Foreground, Option<Awaiting>) {
        loop {
            match tokio::time::timeout(self.pace.pause(), self.reader.next(1 << 16)).await {
                Ok(Ok(Step::Output(chunk))) => {
                    self.show(&chunk);
                    self.pace.moved();
                }
                Ok(step) => panic!("{step:?} on {:?}", self.text()),
                Err(_) => {
                    let now = guarded(self.terminal.foreground()).await.unwrap();
                    return (now.clone(), self.pace.look(now, &self.display.picture()));
                }
            }
        }
    }

    /// Waits until somebody waits.
    async fn awaiting(&mut self) -> Awaiting {
        let seen = async {
            loop {
                if let (_, Some(awaiting)) = self.look().await {
                    return awaiting;
                }
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), seen).await {
            Ok(awaiting) => awaiting,
            Err(_) => panic!("nobody waits: {:?} {:?}", self.look().await, self.text()),
        }
    }

    /// Waits until the program has said this, and makes sure that nobody waits then.
    async fn nobody_after(&mut self, said: &str) {
        let heard = async {
            while !self.text().contains(said) {
                match self.reader.next(1 << 16).await.unwrap() {
                    Step::Output(chunk) => self.show(&chunk),
                    step => panic!("{step:?} before {said:?}"),
                }
            }
        };
        guarded(heard).await;
        for _ in 0..LOOKS {
            let (seen, awaiting) = guarded(self.look()).await;
            assert_eq!(awaiting, None, "{said:?}: {seen:?}");
        }
    }

    async fn type_in(&mut self, text: &str) {
        guarded(self.terminal.input("test").unwrap().send(text.as_bytes())).await.unwrap();
        self.pace.moved();
    }
}

fn assert_waits(awaiting: &Awaiting, kind: Kind, program: &str, prompt: &str) {
    let all = (awaiting.kind, awaiting.program.as_str(), awaiting.prompt.contains(prompt));
    assert_eq!(all, (kind, program, true), "{awaiting:?}, {prompt:?} expected");
}
