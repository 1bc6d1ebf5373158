//! From a profile to what the shim enforces: which mounts, which rules, which sockets.
//!
//! Reads the file system to see what is there. What an agent can have put into a root is never believed: a link in the
//! place of something protected is refused, and a cache inside a root gets no rule of its own.

use super::existing::existing;
use super::places::Places;
use super::profile::{Namespaces, Network, Profile, Reads, Terms, Use};
use super::protected::{self, When};
use super::repository::{self, Shape};
use super::roots::{Root, Roots, check_width};
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use wharf_shim::confine::{self, Absent, Access, Confine, Identity, Metadata, Mount, OwnNet, Rule, Sockets};

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
/// Where temporary files go when nobody asks.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
const SHARED_MEMORY: &str = "/dev/shm";
/// A browser needs some; it is memory.
const SHARED_MEMORY_SIZE: u64 = 256 << 20;

/// What a sandbox is made on.
pub(super) struct Ground<'a> {
    pub(super) roots: &'a Roots,
    pub(super) places: &'a Places,
    /// The session's own directory for temporary files.
    pub(super) temp: &'a Path,
    /// Directories that belong to the roots' repositories, written like roots.
    repositories: Vec<PathBuf>,
    /// Hooks of these repositories.
    hooks: Vec<PathBuf>,
    /// What holds them in place.
    pins: Vec<PathBuf>,
    /// What a person should know.
    pub(super) doubts: Vec<String>,
}

impl<'a> Ground<'a> {
    /// Looks at what is there.
    pub(super) fn survey(roots: &'a Roots, places: &'a Places, temp: &'a Path) -> Self {
        let (mut repositories, mut hooks, mut pins, mut doubts) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for root in roots.iter() {
            let found = repository::look(root, roots, places);
            repositories.extend(found.write.into_iter().map(|directory| directory.path));
            doubts.extend(found.doubts.iter().map(ToString::to_string));
            // Where there is no repository yet, `git init` has to be able to make one.
            if found.shape != Shape::None {
                hooks.extend(found.protect);
                pins.extend(found.pin);
            }
        }
        Self { roots, places, temp, repositories, hooks, pins, doubts }
    }
}

/// Whether a profile is enforced with a mount namespace.
pub(super) fn needs_namespaces(terms: &Terms) -> bool {
    terms.namespaces == Namespaces::Auto
}

/// Where the command finds its temporary directory.
pub(super) fn temporary<'a>(terms: &Terms, ground: &Ground<'a>) -> &'a Path {
    if needs_namespaces(terms) { Path::new(TEMPORARY[0]) } else { ground.temp }
}

/// The sandbox for one command, or why it cannot be had. None for `open`.
pub(super) fn confine(profile: &Profile, ground: &Ground<'_>) -> Result<Option<Confine>, String> {
    let Some(terms) = &profile.terms else { return Ok(None) };
    let (hidden, besides) = (hidden(terms, ground), besides(terms, ground));
    let spaces = needs_namespaces(terms);
    let mounts = if spaces { mounts(terms, ground, &hidden, &besides)? } else { Vec::new() };
    let mut rules = match terms.reads {
        Reads::Everything if spaces => readable_around_mounts(),
        _ => readable_without_mounts(terms, &hidden)?,
    };
    for path in DEVICES.into_iter().chain(spaces.then_some(TERMINALS)) {
        rules.push(rule(Path::new(path), Access::Device)?);
    }
    rules.extend(writable(terms, ground, &hidden, &besides)?);
    Ok(Some(Confine {
        name: profile.name.clone(),
        namespaces: match (spaces, terms.network) {
            (false, _) => confine::Namespaces::None,
            (true, Network::On) => confine::Namespaces::Mount { net: OwnNet::No },
            (true, Network::Off) => confine::Namespaces::Mount { net: OwnNet::Down },
            (true, Network::Loopback) => confine::Namespaces::Mount { net: OwnNet::Loopback },
        },
        mounts,
        rules,
        sockets: match (spaces, terms.network) {
            (true, Network::On | Network::Loopback) => Sockets::UnixAndNetwork,
            (true, Network::Off) => Sockets::Unix,
            (false, Network::On | Network::Loopback) => Sockets::Network,
            (false, Network::Off) => Sockets::None,
        },
        // Where builds run they must be able to make files executable. Mounts keep them from doing so elsewhere; without
        // mounts, a profile that writes nothing does without.
        metadata: match terms.roots {
            Use::Read if !spaces => Metadata::Refused,
            _ => Metadata::Usual,
        },
    }))
}

/// Real paths of what is there and is to be hidden.
fn hidden(terms: &Terms, ground: &Ground<'_>) -> Vec<PathBuf> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    // As they are written: where a link leads may be the agent's doing. Wharf's own is always hidden.
    let usual = ground.places.secrets().iter().filter(|path| !terms.show.contains(path));
    let own: Vec<PathBuf> = ground.places.own().map(Path::to_owned).collect();
    let there = existing(usual.chain(&terms.hide).chain(&own));
    let mut hidden: Vec<PathBuf> = there.into_iter().filter_map(|path| real(path)).collect();
    hidden.sort();
    hidden.dedup();
    // What is inside something hidden is hidden with it.
    let all = hidden.clone();
    hidden.retain(|path| !all.iter().any(|other| other != path && path.starts_with(other)));
    hidden
}

fn mounts(
    terms: &Terms,
    ground: &Ground<'_>,
    hidden: &[PathBuf],
    besides: &[PathBuf],
) -> Result<Vec<Mount>, String> {
    let mut mounts = vec![Mount::Everything];
    for onto in TEMPORARY.iter().filter_map(|onto| fs::canonicalize(onto).ok()) {
        let (from, is) = (c_path(ground.temp)?, identity(ground.temp)?);
        mounts.push(Mount::Over { from, is, onto: c_path(&onto)? });
    }
    if Path::new(SHARED_MEMORY).is_dir() {
        mounts.push(Mount::Fresh { path: c_path(Path::new(SHARED_MEMORY))?, bytes: SHARED_MEMORY_SIZE });
    }
    mounts.push(Mount::Terminals);
    mounts.extend(brought_back(terms, ground, besides)?);
    let writable = writable_places(terms, ground, besides);
    for path in hidden {
        hold(path, &writable, &mut mounts)?;
        mounts.push(Mount::Hide { path: c_path(path)? });
    }
    if terms.protects() {
        protect_all(terms, ground, &mut mounts)?;
    }
    for path in ground.places.executables().iter().chain(&ground.places.programs) {
        let Ok(real) = fs::canonicalize(path) else { continue };
        if writable.iter().any(|place| real.starts_with(place)) {
            hold(&real, &writable, &mut mounts)?;
            mounts.push(protect(&real)?);
        }
    }
    Ok(mounts)
}

/// Everything that can be written.
fn writable_places(terms: &Terms, ground: &Ground<'_>, besides: &[PathBuf]) -> Vec<PathBuf> {
    let roots = match terms.roots {
        Use::Write => ground.roots.iter().map(|root| root.path().to_owned()).collect(),
        Use::Read => Vec::new(),
    };
    roots.into_iter().chain(ground.repositories.iter().cloned()).chain(besides.iter().cloned()).collect()
}

/// Has every directory between a writable one and something in it stay where it is: what is hidden or kept by its name
/// could be moved away with them.
fn hold(path: &Path, writable: &[PathBuf], mounts: &mut Vec<Mount>) -> Result<(), String> {
    let around = writable.iter().filter(|place| *place != path && path.starts_with(place));
    let Some(place) = around.max_by_key(|place| place.components().count()) else { return Ok(()) };
    for part in between(place, path) {
        fix(part, mounts)?;
    }
    Ok(())
}

/// What is writable, and what lies where temporary files go, which have a place of their own now.
fn brought_back(terms: &Terms, ground: &Ground<'_>, besides: &[PathBuf]) -> Result<Vec<Mount>, String> {
    let is_covered = |path: &Path| TEMPORARY.iter().any(|onto| path.starts_with(onto));
    // Rules for temporary files reach what is mounted among them, so only what may be read comes back.
    let home = match terms.reads {
        Reads::Everything => ground.places.home.as_deref().and_then(|home| fs::canonicalize(home).ok()),
        Reads::System => None,
    };
    let read = home.into_iter().chain(match terms.roots {
        Use::Read => ground.roots.iter().map(|root| root.path().to_owned()).collect(),
        Use::Write => Vec::new(),
    });
    let mut all: Vec<(PathBuf, Use)> =
        read.filter(|path| is_covered(path)).map(|path| (path, Use::Read)).collect();
    if terms.roots == Use::Write {
        let roots = ground.roots.iter().map(|root| root.path().to_owned());
        all.extend(roots.chain(ground.repositories.iter().cloned()).map(|path| (path, Use::Write)));
    }
    all.extend(besides.iter().map(|path| (path.clone(), Use::Write)));
    // Outer ones first, so that they do not cover the inner ones.
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.dedup_by(|(later, _), (earlier, _)| later == earlier);
    let places = writable_places(terms, ground, besides);
    let mut mounts = Vec::new();
    for (path, what) in all {
        let (is, path) = (identity(&path)?, c_path(&path)?);
        match what {
            // It comes back as it was, and the rule for temporary files reaches what is mounted among them.
            Use::Read => {
                mounts.extend([Mount::Again { path: path.clone(), is }, Mount::ReadOnly { path, is }])
            }
            Use::Write => {
                let real = Path::new(OsStr::from_bytes(path.as_bytes()));
                hold(real, &places, &mut mounts)?;
                mounts.push(Mount::Writable { path: path.clone(), is });
            }
        }
    }
    Ok(mounts)
}

/// What may be written besides the roots, by its real path. Not inside a root: there it may be written anyway, and a link
/// there is the agent's.
fn besides(terms: &Terms, ground: &Ground<'_>) -> Vec<PathBuf> {
    let caches = match terms.roots {
        Use::Write => ground.places.caches().to_vec(),
        Use::Read => Vec::new(),
    };
    let in_root = |path: &Path| ground.roots.iter().any(|root| path.starts_with(root.path()));
    let mut all: Vec<PathBuf> = caches.into_iter().chain(terms.write.iter().cloned()).collect();
    all.retain(|path| !in_root(path));
    let outer = all.clone();
    all.retain(|path| !outer.iter().any(|other| other != path && path.starts_with(other)));
    // A name that leads through a root, by whatever links, is one that an agent can lead elsewhere.
    let through_root =
        |path: &Path| path.ancestors().any(|part| fs::canonicalize(part).is_ok_and(|real| in_root(&real)));
    let there = existing(&all).into_iter().filter(|path| !through_root(path));
    let is_narrow = |path: &PathBuf| check_width(path, ground.places).is_ok();
    there.filter_map(|path| fs::canonicalize(path).ok()).filter(is_narrow).collect()
}

/// What must stay as it is in a writable root.
fn protect_all(terms: &Terms, ground: &Ground<'_>, mounts: &mut Vec<Mount>) -> Result<(), String> {
    for root in ground.roots.iter().map(Root::path) {
        for path in protected_in(root, terms) {
            for part in between(root, &path) {
                fix(part, mounts)?;
            }
            mounts.push(protect(&path)?);
        }
    }
    if terms.protect.is_none() {
        for pin in &ground.pins {
            fix(pin, mounts)?;
        }
        for hooks in &ground.hooks {
            mounts.push(protect(hooks)?);
        }
    }
    Ok(())
}

/// The profile's own list, or the usual one.
fn protected_in(root: &Path, terms: &Terms) -> Vec<PathBuf> {
    if let Some(names) = &terms.protect {
        return names.iter().map(|name| root.join(name)).collect();
    }
    let usual = protected::protected().iter().map(|usual| (root.join(usual.name), usual.when));
    let counts = |(path, when): &(PathBuf, When)| *when == When::Always || fs::symlink_metadata(path).is_ok();
    usual.filter(counts).map(|(path, _)| path).collect()
}

/// Directories between a root and something in it, the outermost first.
fn between<'a>(root: &Path, path: &'a Path) -> Vec<&'a Path> {
    let mut parts: Vec<&Path> = path.ancestors().skip(1).take_while(|part| *part != root).collect();
    parts.reverse();
    parts
}

/// Were it moved away, another could be put in its place, with another in it of what is protected.
fn fix(path: &Path, mounts: &mut Vec<Mount>) -> Result<(), String> {
    let mount = Mount::Fixed { path: c_path(path)?, is: identity(path)? };
    if !mounts.contains(&mount) {
        mounts.push(mount);
    }
    Ok(())
}

/// As it is, or not there: in both cases it stays so.
fn protect(path: &Path) -> Result<Mount, String> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Err(format!(
            "{} is a symbolic link, which cannot be protected; remove it, or name what is to be protected in a profile",
            path.display()
        )),
        Ok(meta) if meta.is_file() => {
            let is = Identity { dev: meta.dev(), ino: meta.ino() };
            Ok(Mount::ReadOnly { path: c_path(path)?, is })
        }
        // A directory that is there may be another terminal's, and must then not go before this one does.
        _ => Ok(Mount::Placeholder { path: c_path(path)? }),
    }
}

/// Everything but devices, which are named one by one: root could read a disk as a file.
fn readable_around_mounts() -> Vec<Rule> {
    let list = rule(Path::new("/"), Access::List);
    let tops = children(Path::new("/")).into_iter().filter(|path| path != Path::new("/dev"));
    list.into_iter().chain(tops.filter_map(|path| rule(&path, Access::Read).ok())).collect()
}

/// What may be read, with hidden things left out by naming everything around them.
fn readable_without_mounts(terms: &Terms, hidden: &[PathBuf]) -> Result<Vec<Rule>, String> {
    let tops: Vec<PathBuf> = match terms.reads {
        Reads::Everything => children(Path::new("/")),
        Reads::System => SYSTEM.iter().filter_map(|path| fs::canonicalize(path).ok()).collect(),
    };
    let mut paths = Vec::new();
    let read: Vec<PathBuf> = terms.read.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    for top in tops.iter().chain(&read).filter(|top| *top != Path::new("/dev")) {
        around(top, hidden, &mut paths);
    }
    paths.sort();
    paths.dedup();
    let one = |path: &PathBuf| Ok(Rule { is: identity(path).ok(), ..rule(path, Access::Read)? });
    paths.iter().map(one).collect()
}

/// `path`, or if something in it is hidden, everything in it around that.
fn around(path: &Path, hidden: &[PathBuf], out: &mut Vec<PathBuf>) {
    if hidden.iter().any(|secret| path.starts_with(secret)) {
        return;
    }
    if !hidden.iter().any(|secret| secret.starts_with(path)) {
        out.push(path.to_owned());
        return;
    }
    for child in children(path) {
        around(&child, hidden, out);
    }
}

/// What is in a directory, without links: where these lead is judged there.
fn children(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_real = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    entries.filter(is_real).map(|entry| entry.path()).collect()
}

fn writable(
    terms: &Terms,
    ground: &Ground<'_>,
    hidden: &[PathBuf],
    besides: &[PathBuf],
) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    let access = match terms.roots {
        Use::Write => Access::Write,
        Use::Read => Access::Read,
    };
    for root in ground.roots.iter() {
        let mut parts = vec![root.path().to_owned()];
        if terms.roots == Use::Read && !needs_namespaces(terms) {
            parts.clear();
            around(root.path(), hidden, &mut parts);
        }
        for part in parts {
            rules.push(known(&part, access)?);
        }
    }
    if needs_namespaces(terms) {
        for path in TEMPORARY.iter().chain(&[SHARED_MEMORY]).map(Path::new) {
            rules.push(rule(path, Access::Write)?);
        }
    } else {
        rules.push(known(ground.temp, Access::Write)?);
    }
    if terms.roots == Use::Write {
        for path in &ground.repositories {
            rules.push(known(path, Access::Write)?);
        }
    }
    for path in besides {
        // What mounts do not hide must not come back as something that may be written.
        let mut parts = Vec::new();
        around(path, if needs_namespaces(terms) { &[] } else { hidden }, &mut parts);
        for part in parts {
            rules.push(known(&part, Access::Write)?);
        }
    }
    Ok(rules)
}

/// A rule for what may be missing.
fn rule(path: &Path, access: Access) -> Result<Rule, String> {
    Ok(Rule { path: c_path(path)?, access, is: None, absent: Absent::Skip })
}

/// A rule for exactly what is there now.
fn known(path: &Path, access: Access) -> Result<Rule, String> {
    Ok(Rule { path: c_path(path)?, access, is: Some(identity(path)?), absent: Absent::Fail })
}

fn identity(path: &Path) -> Result<Identity, String> {
    let meta = fs::symlink_metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Identity { dev: meta.dev(), ino: meta.ino() })
}

fn c_path(path: &Path) -> Result<CString, String> {
    let bytes: &OsStr = path.as_os_str();
    CString::new(bytes.as_bytes()).map_err(|_| format!("{path:?} contains a NUL byte"))
}
