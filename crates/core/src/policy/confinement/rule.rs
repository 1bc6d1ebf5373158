//! The rules of a sandbox: what may be read, written and controlled. Everything else is refused.

use super::view::is_copy;
use super::{Draft, SHARED_MEMORY, Spot, TEMPORARY, c_path, identity, is_within};
use crate::policy::existing::Found;
use crate::policy::machine::Means;
use crate::policy::profile::{Reads, Use};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use wharf_shim::confine::{Absent, Access, Rule};

/// What comes with the system and belongs to nobody.
const SYSTEM: [&str; 15] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/proc",
    "/sys", "/var/lib", "/srv",
];
/// Devices that programs cannot do without and that lead nowhere.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// Only where they are the sandbox's own: other programs' terminals can be typed into.
const TERMINALS: &str = "/dev/pts";

impl Draft<'_> {
    pub(super) fn rules(&self) -> Result<Vec<Rule>, String> {
        let spaces = matches!(self.means, Means::Mounts { .. });
        let mut rules = match self.terms.reads {
            Reads::Everything if spaces => readable_around_mounts(),
            Reads::System if spaces => self.system_around_mounts()?,
            _ => self.readable_without_mounts()?,
        };
        // Where mounts do not hide it.
        let closed = if spaces { &[][..] } else { &self.hidden };
        for path in DEVICES.into_iter().chain(spaces.then_some(TERMINALS)) {
            rules.push(rule(Path::new(path), Access::Device)?);
        }
        self.add_roots(closed, &mut rules)?;
        if spaces {
            for path in TEMPORARY.iter().chain(&[SHARED_MEMORY]).map(Path::new) {
                rules.push(rule(path, Access::Write)?);
            }
        } else {
            rules.push(known(&self.temp, Access::Write)?);
        }
        if self.terms.roots == Use::Write {
            for spot in &self.ground.repositories {
                rules.push(known(spot, Access::Write)?);
            }
        }
        for spot in &self.stores.shared {
            // What mounts do not hide must not come back as something that may be written.
            add_around(spot, closed, &[], Access::Write, &mut rules)?;
        }
        // A layer is not what was seen before it was there.
        for spot in &self.stores.layered {
            rules.push(rule(&spot.path, Access::Write)?);
        }
        Ok(rules)
    }

    fn add_roots(&self, closed: &[Found], rules: &mut Vec<Rule>) -> Result<(), String> {
        let more = match self.means {
            Means::Rules { .. } => self.could_hold_more(),
            Means::Mounts { .. } => Vec::new(),
        };
        for root in self.ground.roots.iter().map(Spot::of_root) {
            match self.terms.roots {
                Use::Write => rules.push(known(&root, Access::Write)?),
                Use::Read => add_around(&root, closed, &more, Access::Read, rules)?,
            }
        }
        // What is too wide to be written is read, where not everything is.
        let wide = self.ground.roots.wide().iter().filter(|root| root.path() != Path::new("/"));
        for root in wide.filter(|_| self.terms.reads == Reads::System) {
            match self.means {
                Means::Mounts { .. } => rules.push(rule(root.path(), Access::Read)?),
                Means::Rules { .. } => {
                    add_around(&Spot::of_root(root), &self.hidden, &more, Access::Read, rules)?;
                }
            }
        }
        Ok(())
    }

    /// What comes with the system. Mounts hide what is hidden in it, so it is not what was seen before them.
    fn system_around_mounts(&self) -> Result<Vec<Rule>, String> {
        let read = self.terms.read.iter().map(PathBuf::as_path);
        SYSTEM.iter().map(Path::new).chain(read).map(|path| rule(path, Access::Read)).collect()
    }

    /// What may be read, with hidden things left out by naming everything around them.
    fn readable_without_mounts(&self) -> Result<Vec<Rule>, String> {
        let more = self.could_hold_more();
        let real = |path: &Path| fs::canonicalize(path).ok();
        let tops: Vec<PathBuf> = match self.terms.reads {
            Reads::Everything => children(Path::new("/")),
            Reads::System => SYSTEM.iter().filter_map(|path| real(Path::new(path))).collect(),
        };
        let mut paths = Vec::new();
        let read: Vec<PathBuf> = self.terms.read.iter().filter_map(|path| real(path)).collect();
        for top in tops.iter().chain(&read).filter(|top| *top != Path::new("/dev")) {
            around(top, &self.hidden, &more, &mut paths);
        }
        paths.sort();
        paths.dedup();
        let one = |path: &PathBuf| Ok(Rule { is: identity(path).ok(), ..rule(path, Access::Read)? });
        paths.iter().map(one).collect()
    }
}

/// A rule for a place, or for everything in it around what is hidden.
fn add_around(
    spot: &Spot,
    hidden: &[Found],
    more: &[&Path],
    access: Access,
    rules: &mut Vec<Rule>,
) -> Result<(), String> {
    let mut parts = Vec::new();
    around(&spot.path, hidden, more, &mut parts);
    for path in parts {
        let is = if path == spot.path { spot.is } else { identity(&path)? };
        rules.push(known(&Spot { path, is }, access)?);
    }
    Ok(())
}

/// Everything but devices, which are named one by one: root could read a disk as a file.
fn readable_around_mounts() -> Vec<Rule> {
    let list = rule(Path::new("/"), Access::List);
    let tops = children(Path::new("/")).into_iter().filter(|path| path != Path::new("/dev"));
    list.into_iter().chain(tops.filter_map(|path| rule(&path, Access::Read).ok())).collect()
}

/// `path`, or if something in it is hidden, everything in it around that.
fn around(path: &Path, hidden: &[Found], more: &[&Path], out: &mut Vec<PathBuf>) {
    if hidden.iter().any(|secret| is_within(path, &secret.real)) {
        return;
    }
    // A rule for a directory is one for everything that is ever put into it.
    let holds = hidden.iter().any(|secret| is_within(&secret.real, path));
    if !holds && !more.iter().any(|dir| is_within(dir, path)) {
        out.push(path.to_owned());
        return;
    }
    let is_hidden = |name: &OsStr| hidden.iter().any(|secret| secret.real == path.join(name));
    for child in children(path) {
        if !child.file_name().is_some_and(|name| is_copy(name, is_hidden)) {
            around(&child, hidden, more, out);
        }
    }
}

/// What is in a directory, without links: where these lead is judged there.
fn children(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_real = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    entries.filter(is_real).map(|entry| entry.path()).collect()
}

/// A rule for what may be missing.
fn rule(path: &Path, access: Access) -> Result<Rule, String> {
    Ok(Rule { path: c_path(path)?, access, is: None, absent: Absent::Skip })
}

/// A rule for exactly what was seen.
fn known(spot: &Spot, access: Access) -> Result<Rule, String> {
    Ok(Rule { path: c_path(&spot.path)?, access, is: Some(spot.is), absent: Absent::Fail })
}
