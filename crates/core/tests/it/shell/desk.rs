//! A home directory, a store and shells in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wharf_core::shell::{self, Because, Kind, RunError, Shell, ShellError, Until};
use wharf_core::{Size, Spec, unrestricted};
use wharf_testing::{GUARD, Place, guarded};

/// All shells that there is an integration for, by their names.
pub(super) const KINDS: [Kind; 3] = [Kind::Bash, Kind::Zsh, Kind::Sh];

pub(super) struct Desk {
    pub(super) place: Place,
    pub(super) home: PathBuf,
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) id: u64,
    pub(super) text: String,
    pub(super) code: Option<i32>,
    pub(super) cwd: PathBuf,
    pub(super) because: Because,
}

impl Desk {
    pub(super) fn new() -> Self {
        let place = Place::process();
        let home = place.dir().join("home");
        fs::create_dir(&home).unwrap();
        let desk = Self { place, home };
        // Without one, zsh asks whether it should make one.
        desk.file(".zshrc", "");
        desk
    }

    pub(super) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn spec(&self, kind: Kind) -> Spec {
        self.spec_of(kind, &self.home)
    }

    /// A shell of somebody whose home is there.
    pub(super) fn spec_of(&self, kind: Kind, home: &Path) -> Spec {
        let program = match kind {
            Kind::Bash => "/bin/bash",
            Kind::Zsh => "/bin/zsh",
            Kind::Sh => "/bin/dash",
        };
        let spec = shell::spec(kind, Path::new(program), "default", "seat", Size { cols: 80, rows: 24 });
        let spec = self.place.marked(spec).preset(shell::PRESETS).cwd(home);
        spec.env("HOME", home).env("TMPDIR", home).env("LANG", "C.UTF-8").env("PS1", "$ ")
    }

    /// A home with that file in it.
    pub(super) fn home_with(&self, name: &str, text: &str) -> PathBuf {
        let count = fs::read_dir(self.place.dir()).unwrap().count();
        let home = self.place.dir().join(format!("home-{count}"));
        fs::create_dir(&home).unwrap();
        fs::write(home.join(name), text).unwrap();
        home
    }

    pub(super) async fn open(&self, kind: Kind) -> Shell {
        self.try_open(self.spec(kind)).await.unwrap()
    }

    pub(super) async fn try_open(&self, spec: Spec) -> Result<Shell, ShellError> {
        let grant = unrestricted(spec).unwrap();
        guarded(Shell::open(&self.place.store, grant, GUARD)).await
    }
}

pub(super) fn deadline() -> Instant {
    Instant::now() + GUARD - Duration::from_secs(2)
}

/// Runs a command to its end.
pub(super) async fn run(shell: &Shell, text: &str) -> Done {
    match try_run(shell, text).await {
        Ok(done) => done,
        Err(error) => panic!("{text:?}: {error:?}\n{:?}", shell.picture().rows),
    }
}

pub(super) async fn try_run(shell: &Shell, text: &str) -> Result<Done, RunError> {
    let command = guarded(shell.run(text, "agent")).await?;
    let because = guarded(shell.wait(Until::End, deadline())).await;
    let status = shell.status();
    let known = shell.commands().into_iter().find(|known| known.id == command.id).unwrap();
    let lines = shell.lines(command.id, 1).await.unwrap();
    Ok(Done { id: command.id, text: lines.lines.join("\n"), code: known.exit_code, cwd: status.cwd, because })
}

/// What a command printed, whatever else became of it.
pub(super) async fn said(shell: &Shell, text: &str) -> String {
    run(shell, text).await.text
}

/// Returns when the prompt is on the screen. What a job prints while it is being printed is part of no command's output,
/// nor of what is printed between commands.
pub(super) async fn at_prompt(shell: &Shell) {
    let deadline = deadline();
    // Ours, or what the machine's own file for bash makes of it.
    let is_prompt = |row: &str| row == "$" || row.contains('@') && row.ends_with(['$', '#']);
    let is_there = || {
        let rows = shell.picture().rows;
        rows.iter().rfind(|row| !row.is_empty()).is_some_and(|row| is_prompt(row.trim_end()))
    };
    while !is_there() {
        assert!(Instant::now() < deadline, "{:?}", shell.picture().rows);
        tokio::task::yield_now().await;
    }
}

/// Presses a key.
pub(super) async fn press(shell: &Shell, key: &str) {
    let key = wharf_core::key::Key::parse(key).unwrap();
    guarded(shell.press(&key, "agent")).await.unwrap();
}

/// Types a line.
pub(super) async fn send(shell: &Shell, text: &str) {
    guarded(shell.send(text, shell::Enter::Press, "agent")).await.unwrap();
}

/// Waits for the end, or whatever comes before it.
pub(super) async fn wait(shell: &Shell) -> Because {
    guarded(shell.wait(Until::End, deadline())).await
}

/// Begins a command and waits until it has printed that line.
pub(super) async fn run_until(shell: &Shell, text: &str, line: &'static str) {
    guarded(shell.run(text, "agent")).await.unwrap();
    wharf_testing::until(shell.terminal(), line).await;
}

pub(super) fn awaits(because: &Because) -> &str {
    match because {
        Because::Awaiting(awaiting) => awaiting.kind.code(),
        other => panic!("{other:?}"),
    }
}

/// All of them, at the same time.
pub(super) async fn together(tasks: impl IntoIterator<Item = impl Future<Output = ()>>) {
    let mut tasks: Vec<_> = tasks.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|context| {
        tasks.retain_mut(|task| task.as_mut().poll(context).is_pending());
        if tasks.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
