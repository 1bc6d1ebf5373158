//! Policies in files: a person's own, which must be theirs, and a project's, which lies where agents write.

use crate::policy::{Places, Policy, PolicyError};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A policy is a page or two.
const LONGEST: u64 = 1 << 20;
/// Of a policy, wherever it lies.
const NAME: &str = "policy.toml";

impl Policy {
    /// From a person's file. Refused unless it is theirs, or root's, and nobody else can write it: who can, decides what runs.
    /// `home` is what `~` means in it.
    pub fn read(file: &Path, home: &Path) -> Result<Self, PolicyError> {
        let failed = |error: io::Error| PolicyError {
            file: file.to_owned(),
            line: None,
            what: format!("the policy cannot be read: {error}"),
            fix: "make it a readable file, or remove it".to_owned(),
        };
        let open = File::open(file).map_err(failed)?;
        let meta = open.metadata().map_err(failed)?;
        let own = rustix::process::geteuid().as_raw();
        if !meta.is_file() || (meta.uid() != own && meta.uid() != 0) || meta.mode() & 0o022 != 0 {
            return Err(PolicyError {
                file: file.to_owned(),
                line: None,
                what: "the policy could have been written by somebody else".to_owned(),
                fix: format!("chown it to yourself and chmod 644 {}", file.display()),
            });
        }
        Self::parse(&text_of(open).map_err(failed)?, file, home)
    }

    /// The person's own, if there is one in the configuration; else what is built in.
    pub fn usual(places: &Places) -> Result<Self, PolicyError> {
        let home = places.home.clone().unwrap_or_else(|| PathBuf::from("/nonexistent"));
        let file = places.config.join(NAME);
        if file.exists() { Self::read(&file, &home) } else { Self::built_in(&home) }
    }

    /// The same as a project's own file tightens it; nothing new if there is none.
    pub(super) fn of_project(&self, directory: &Path) -> Result<Option<Self>, PolicyError> {
        match project_file(directory) {
            Ok(None) => Ok(None),
            Ok(Some((file, text))) => self.tightened(&text, &file).map(Some),
            Err((file, error)) => Err(PolicyError {
                file,
                line: None,
                what: format!("the project's policy cannot be read: {error}"),
                fix: "make it a readable file, or remove it".to_owned(),
            }),
        }
    }
}

type Found = Result<Option<(PathBuf, String)>, (PathBuf, io::Error)>;

/// A project's own file. It lies where agents write, so no link in it is followed.
fn project_file(directory: &Path) -> Found {
    let below = directory.join(".wharf");
    let file = below.join(NAME);
    let failed = |error: io::Error| (file.clone(), error);
    let plain = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let dir = rustix::fs::open(&below, plain | OFlags::DIRECTORY, Mode::empty());
    let Some(dir) = present(dir).map_err(failed)? else { return Ok(None) };
    let fd = rustix::fs::openat(&dir, NAME, plain, Mode::empty());
    let Some(fd) = present(fd).map_err(failed)? else { return Ok(None) };
    let open = File::from(fd);
    if !open.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is not a file")));
    }
    let text = text_of(open).map_err(failed)?;
    Ok(Some((file, text)))
}

fn present(opened: Result<OwnedFd, Errno>) -> io::Result<Option<OwnedFd>> {
    match opened {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// What was cut is half a policy.
fn text_of(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST { Err(io::Error::other("it is longer than 1 MiB")) } else { Ok(text) }
}
