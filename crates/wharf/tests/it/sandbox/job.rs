//! One piece of ordinary work: a script that is run in the open and in a sandbox, and comes to the same.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::Profile;
use super::cast::{Surroundings, User};
use super::ground::Ground;
use crate::harness::{Done, finish};
use std::path::{Path, PathBuf};

pub(crate) struct Job {
    /// Programs without which there is nothing to be done.
    pub(crate) needs: &'static [&'static str],
    /// What was there before: run by the host, in the root.
    pub(crate) before: &'static str,
    /// The work, for bash, in the root. It stops at the first thing that fails.
    pub(crate) script: &'static str,
    /// All that it prints.
    pub(crate) prints: &'static str,
    pub(crate) on: Stream,
}

/// Nothing to be done.
pub(crate) const PLAIN: Job = Job { needs: &[], before: "", script: "", prints: "", on: Stream::Pipe };

/// What the work is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Pipe,
    Pty,
}

/// Where rustc and cargo are that build this. Not those of a version manager, which want a home.
const TOOLCHAIN: &str = env!("CARGO");

impl Job {
    /// Does it as everybody who can.
    pub(crate) fn is_done_in(&self, profile: Profile) {
        for user in [User::Root, User::Ordinary] {
            match user.missing().map(str::to_owned).or_else(|| self.missing(user)) {
                Some(why) => say(&format!("skipped as {user:?}: {why}")),
                None => self.is_done_by(user, profile),
            }
        }
    }

    fn is_done_by(&self, user: User, profile: Profile) {
        self.is_done_on(&workshop(user), user, profile);
    }

    /// Does it on a ground that is there.
    pub(crate) fn is_done_on(&self, ground: &Ground, user: User, profile: Profile) {
        let before = bash(ground, Profile::Open, self.before, Stream::Pipe);
        assert_eq!(before.code, Some(0), "the preparation as {user:?}: {before:?}");
        let done = bash(ground, profile, self.script, self.on);
        let said = done.out.replace('\r', "");
        let as_whom = format!("as {user:?} in {}: {said}\n{}", profile.name(), done.err);
        assert_eq!((done.code, said.as_str()), (Some(0), self.prints), "{as_whom}");
    }

    pub(crate) fn missing(&self, user: User) -> Option<String> {
        let absent = self.needs.iter().find(|program| find(program, user).is_none())?;
        Some(format!("{absent} is not here for this user"))
    }
}

/// A ground with the home of a fresh machine: a name for git, and nothing yet of where tools keep things.
pub(crate) fn workshop(user: User) -> Ground {
    workshop_in(user, Surroundings::Usual)
}

/// The same on another class of machine.
pub(crate) fn workshop_in(user: User, surroundings: Surroundings) -> Ground {
    let ground = Ground::new(user, surroundings);
    ground.write(
        "home/.gitconfig",
        "[user]\nname = A Person\nemail = person@example.org\n[init]\ndefaultBranch = main\n",
    );
    ground
}

pub(crate) fn bash(ground: &Ground, profile: Profile, script: &str, on: Stream) -> Done {
    let mut words = match on {
        Stream::Pipe => vec![],
        Stream::Pty => vec!["--pty"],
    };
    words.extend(["--", "/bin/bash", "-ec", script]);
    let path = std::env::join_paths(places()).unwrap();
    finish(ground.run(profile, &words).env("PATH", path).spawn().unwrap())
}

/// Where programs are looked for: last among those that `cargo xtask peers` has installed, if it was run.
fn places() -> Vec<PathBuf> {
    let (toolchain, built) = (Path::new(TOOLCHAIN).parent().unwrap(), Path::new(env!("CARGO_BIN_EXE_wharf")));
    let peers = built.ancestors().nth(2).unwrap().join("peers");
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let claude = "agents/node_modules/@anthropic-ai/claude-code-linux-x64";
    let installed = ["venv/bin", "node_modules/.bin", claude].map(|dir| peers.join(dir));
    std::iter::once(toolchain.to_owned()).chain(system).chain(installed).collect()
}

/// A program that this user can reach.
fn find(program: &str, user: User) -> Option<PathBuf> {
    let found = places().into_iter().map(|place| place.join(program)).find(|path| path.is_file())?;
    let mut test = user.command(Surroundings::Usual, "test");
    let status = test.arg("-x").arg(&found).stderr(std::process::Stdio::null()).status();
    status.is_ok_and(|status| status.success()).then_some(found)
}

#[expect(clippy::print_stderr, reason = "a test that shows less than it could says so")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
