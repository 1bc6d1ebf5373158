//! The rules of a sandbox: what may be read, written and controlled. Everything else is refused.

use super::view::is_copy;
use super::{Draft, SHARED_MEMORY, Spot, TEMPORARY, c_path, identity, is_within};
use crate::policy::existing::Found;
use crate::policy::machine::Means;
use crate::policy::profile::{Reads, Use};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use wharf_shim::confine::{Absent, Access, Identity, Rule};

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
        let closed = Closed::new(closed, Vec::new());
        for spot in &self.stores.shared {
            // What mounts do not hide must not come back as something that may be written.
            add_around(spot, &closed, Access::Write, &mut rules)?;
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
        let closed = Closed::new(closed, more);
        for root in self.ground.roots.iter().map(Spot::of_root) {
            match self.terms.roots {
                Use::Write => rules.push(known(&root, Access::Write)?),
                Use::Read => add_around(&root, &closed, Access::Read, rules)?,
            }
        }
        // What is too wide to be written is read, where not everything is.
        let wide = self.ground.roots.wide().iter().filter(|root| root.path() != Path::new("/"));
        for root in wide.filter(|_| self.terms.reads == Reads::System) {
            match self.means {
                Means::Mounts { .. } => rules.push(rule(root.path(), Access::Read)?),
                Means::Rules { .. } => {
                    add_around(&Spot::of_root(root), &closed, Access::Read, rules)?;
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
        let closed = Closed::new(&self.hidden, self.could_hold_more());
        let real = |path: &Path| fs::canonicalize(path).ok();
        let tops: Vec<PathBuf> = match self.terms.reads {
            Reads::Everything => children(Path::new("/")),
            Reads::System => SYSTEM.iter().filter_map(|path| real(Path::new(path))).collect(),
        };
        let mut paths = Vec::new();
        let read: Vec<PathBuf> = self.terms.read.iter().filter_map(|path| real(path)).collect();
        for top in tops.iter().chain(&read).filter(|top| *top != Path::new("/dev")) {
            around(top, &closed, &mut paths);
        }
        paths.sort();
        paths.dedup();
        let one = |path: &PathBuf| Ok(Rule { is: identity(path).ok(), ..rule(path, Access::Read)? });
        paths.iter().map(one).collect()
    }
}

/// A rule for a place, or for everything in it around what is hidden.
fn add_around(spot: &Spot, closed: &Closed<'_>, access: Access, rules: &mut Vec<Rule>) -> Result<(), String> {
    let mut parts = Vec::new();
    around(&spot.path, closed, &mut parts);
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

/// What no rule may reach.
struct Closed<'a> {
    hidden: &'a [Found],
    /// Directories in which more of it could appear.
    more: Vec<&'a Path>,
    /// Every directory around one of these. A rule is for an inode, by whatever name it was given: were one of these given a
    /// rule by a second name, it would hold for all that is in it by the first.
    around: HashSet<Identity>,
}

impl<'a> Closed<'a> {
    fn new(hidden: &'a [Found], more: Vec<&'a Path>) -> Self {
        let paths = hidden.iter().map(|found| found.real.as_path()).chain(more.iter().copied());
        let ancestors: BTreeSet<&Path> = paths.flat_map(|path| path.ancestors().skip(1)).collect();
        let around = ancestors.into_iter().filter_map(|path| identity(path).ok()).collect();
        Self { hidden, more, around }
    }

    /// Whether a rule for a directory would be one for something of it, also for what is put there later.
    fn is_in(&self, path: &Path) -> bool {
        self.hidden.iter().any(|secret| is_within(&secret.real, path))
            || self.more.iter().any(|dir| is_within(dir, path))
            || identity(path).is_ok_and(|is| self.around.contains(&is))
    }

    fn is_hidden(&self, path: &Path) -> bool {
        self.hidden.iter().any(|secret| secret.real == path)
    }
}

/// `path`, or if something in it is closed, everything in it around that.
fn around(path: &Path, closed: &Closed<'_>, out: &mut Vec<PathBuf>) {
    if closed.hidden.iter().any(|secret| is_within(path, &secret.real)) {
        return;
    }
    if !closed.is_in(path) {
        out.push(path.to_owned());
        return;
    }
    for child in children(path) {
        if !child.file_name().is_some_and(|name| is_copy(name, |of| closed.is_hidden(&path.join(of)))) {
            around(&child, closed, out);
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
