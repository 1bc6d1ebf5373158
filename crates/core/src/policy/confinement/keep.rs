//! What stays as it is in a place that may be written.
//!
//! Everything on the way to it has to stay, too: were a directory moved away or a link replaced, another could be put in
//! its place, with another in it of what is kept. A mount point can be neither removed nor renamed, so whatever is to stay
//! is mounted over itself; that holds for a symbolic link as well.

use super::{Draft, MOST_LINKS, c_path, identity, parts};
use crate::policy::profile::Protection;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wharf_shim::confine::Mount;

/// Follows a path from the writable place that it begins in, and keeps what is met in writable places. Where a link leads
/// out of them, nobody can write anyway.
pub(super) fn keep(draft: &Draft<'_>, path: &Path, mounts: &mut Vec<Mount>) -> Result<(), String> {
    let Some(place) = draft.around(path) else { return Ok(()) };
    let mut at = place.to_owned();
    let mut rest = parts(path.strip_prefix(place).unwrap_or(path));
    let strict = draft.terms.protection == Protection::Strict;
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
                    push(Mount::Link { path: c_path(&at)?, is: identity(&at)? }, mounts);
                }
                at = follow(&at, &mut rest)?;
            }
            Ok(meta) if meta.is_dir() && !rest.is_empty() => {
                if counts {
                    push(Mount::Fixed { path: c_path(&at)?, is: identity(&at)? }, mounts);
                }
            }
            // Nothing can be below a file, and no directory in the place of one that is kept.
            Ok(meta) if counts => {
                let path = c_path(&at)?;
                // It may be another terminal's stand-in, and must then not go before this one does.
                let mount = match meta.is_dir() && strict {
                    true => Mount::Placeholder { path },
                    false => Mount::ReadOnly { path, is: identity(&at)? },
                };
                push(mount, mounts);
                return Ok(());
            }
            Ok(_) => return Ok(()),
            // The first that is missing stands for the rest.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if counts && strict {
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

/// Were it moved away, another could be put in its place.
pub(super) fn fix(path: &Path, mounts: &mut Vec<Mount>) -> Result<(), String> {
    push(Mount::Fixed { path: c_path(path)?, is: identity(path)? }, mounts);
    Ok(())
}

fn push(mount: Mount, mounts: &mut Vec<Mount>) {
    if !mounts.contains(&mount) {
        mounts.push(mount);
    }
}
