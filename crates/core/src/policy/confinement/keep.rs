//! What stays as it is in a place that may be written, whether it exists or not.
//!
//! Everything on the way to it has to stay, too: were a directory moved away or a link replaced, another could be put in
//! its place, with another in it of what is kept. A mount point can be neither removed nor renamed, so whatever is to stay
//! is mounted over itself; that holds for a symbolic link as well.

use super::{Draft, MOST_LINKS, c_path, identity, parts};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use wharf_shim::confine::{Identity, Mount};

/// Follows a path from the writable place that it begins in, and keeps what is met in writable places. Where a link leads
/// out of them, nobody can write anyway.
pub(super) fn keep(draft: &Draft<'_>, path: &Path, mounts: &mut Vec<Mount>) -> Result<(), String> {
    let Some(place) = draft.around(path) else { return Ok(()) };
    let mut at = place.to_owned();
    let mut rest = parts(path.strip_prefix(place).unwrap_or(path));
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == Path::new("..") {
            at.pop();
            continue;
        }
        at.push(part);
        let counts = draft.around(&at).is_some();
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(format!(
                        "{} leads in circles and cannot be protected; remove it",
                        path.display()
                    ));
                }
                if counts {
                    push(Mount::Link { path: c_path(&at)?, is: is(&meta) }, mounts);
                }
                at = follow(&at, &mut rest)?;
            }
            Ok(meta) if meta.is_dir() && !rest.is_empty() => {
                if counts {
                    push(Mount::Fixed { path: c_path(&at)?, is: is(&meta) }, mounts);
                }
            }
            // Nothing can be below a file, and no directory in the place of one that is kept.
            Ok(meta) if counts => return last(&at, &meta, mounts),
            Ok(_) => return Ok(()),
            // The first that is missing stands for the rest.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if counts {
                    push(Mount::Placeholder { path: c_path(&at)? }, mounts);
                }
                return Ok(());
            }
            Err(error) => return Err(format!("{} cannot be protected: {error}", at.display())),
        }
    }
    Ok(())
}

/// Goes on at where a link leads: answers from where, and puts its parts before the others.
fn follow(link: &Path, rest: &mut Vec<PathBuf>) -> Result<PathBuf, String> {
    let target = fs::read_link(link).map_err(|error| format!("{}: {error}", link.display()))?;
    rest.extend(parts(&target));
    let from = if target.is_absolute() { None } else { link.parent() };
    Ok(from.unwrap_or(Path::new("/")).to_owned())
}

fn last(at: &Path, meta: &Metadata, mounts: &mut Vec<Mount>) -> Result<(), String> {
    let path = c_path(at)?;
    let mount = match meta.is_dir() {
        // It may be another terminal's stand-in, and must then not go before this one does.
        true => Mount::Placeholder { path },
        false => Mount::ReadOnly { path, is: is(meta) },
    };
    push(mount, mounts);
    Ok(())
}

/// Were it moved away, another could be put in its place.
pub(super) fn fix(path: &Path, mounts: &mut Vec<Mount>) -> Result<(), String> {
    push(Mount::Fixed { path: c_path(path)?, is: identity(path)? }, mounts);
    Ok(())
}

fn is(meta: &Metadata) -> Identity {
    Identity { dev: meta.dev(), ino: meta.ino() }
}

fn push(mount: Mount, mounts: &mut Vec<Mount>) {
    if !mounts.contains(&mount) {
        mounts.push(mount);
    }
}
