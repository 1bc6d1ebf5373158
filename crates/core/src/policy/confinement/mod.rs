//! From a profile to what the shim enforces: which mounts, which rules, which sockets.
//!
//! Reads the file system to see what is there, and looks at each thing once: what was seen goes with its identity to the
//! shim. What an agent can have put into a root is never believed: a cache inside a root, or behind a link that lies in
//! one, gets no rule of its own.

mod basis;
mod keep;
mod mount;
mod rule;
mod store;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use basis::Basis;
pub(crate) use view::Drawn;

use super::caches::{Tools, servers};
use super::existing::{Found, Holding, Sighting, find, is_within};
use super::machine::{self, Extra, Means};
use super::places::Places;
use super::profile::{Network, Profile, Reads, Terms, UnixSockets, Use};
use super::repository;
use super::roots::{Root, Roots};
use super::sockets;
use rustix::fs::{Access, AtFlags, CWD, FileType};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use store::Stores;
use wharf_shim::confine::{self, Confine, IDENTIFYING, Identity, Metadata, OwnNet, Sockets};

/// Where temporary files go when nobody asks.
pub(super) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
const SHARED_MEMORY: &str = "/dev/shm";

/// What a sandbox is made on.
pub(super) struct Ground<'a> {
    pub(super) roots: &'a Roots,
    pub(super) places: &'a Places,
    /// The session's own directory for temporary files.
    pub(super) temp: &'a Path,
    /// Directories that belong to the roots' repositories, written like roots.
    repositories: Vec<Spot>,
    /// Hooks of these repositories.
    hooks: Vec<PathBuf>,
    /// What holds them in place.
    pins: Vec<PathBuf>,
    /// Whether each root, in their order, is a part of a working tree of git.
    in_git: Vec<bool>,
    /// What a person should know.
    pub(super) doubts: Vec<String>,
}

/// A place, by its real path, and what was seen there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spot {
    path: PathBuf,
    is: Identity,
}

/// Everything that one sandbox is made of.
struct Draft<'a> {
    terms: &'a Terms,
    means: Means,
    ground: &'a Ground<'a>,
    temp: Spot,
    /// What is there and is to be hidden.
    hidden: Vec<Found>,
    /// Directories in which more of it could appear.
    holding: Vec<Holding>,
    /// What may be written besides the roots.
    stores: Stores,
    /// All that is written as it is, but for temporary files.
    writable: Vec<Spot>,
}

impl<'a> Ground<'a> {
    /// Looks at what is there.
    pub(super) fn survey(roots: &'a Roots, places: &'a Places, temp: &'a Path) -> Self {
        let (mut repositories, mut hooks, mut pins, mut doubts) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut in_git = Vec::new();
        for root in roots.iter() {
            let found = repository::look(root, roots, places);
            in_git.push(found.is_in_git);
            let spot = |dir: super::roots::Directory| Spot { path: dir.path, is: dir.identity };
            repositories.extend(found.write.into_iter().map(spot));
            doubts.extend(found.doubts.iter().map(ToString::to_string));
            hooks.extend(found.protect);
            pins.extend(found.pin);
        }
        Self { roots, places, temp, repositories, hooks, pins, in_git, doubts }
    }
}

/// For a person whose machine cannot hold a sandbox.
const WAYS_OUT: &str =
    "`wharf doctor` says what to do about it, and with `--sandbox open` commands run without a sandbox";

/// A sandbox that can be had here.
pub(super) struct Confinement {
    pub(super) confine: Confine,
    /// What it was drawn up from, if it can be known later whether that is still so.
    pub(super) basis: Option<Basis>,
    /// Where the command finds its temporary directory.
    pub(super) temporary: PathBuf,
    /// What it should hold and does not here.
    pub(super) missing: Vec<Extra>,
    /// What is in force, in one line.
    pub(super) note: String,
    /// What tools are told of their caches.
    pub(super) tools: Tools,
}

/// The sandbox for one command, or why it cannot be had. None for `open`.
pub(super) fn confine(profile: &Profile, ground: &Ground<'_>) -> Result<Option<Confinement>, String> {
    let Some(terms) = &profile.terms else { return Ok(None) };
    let machine = ground.places.machine();
    let means = machine.choose(terms.namespaces).map_err(|unable| format!("{unable}; {WAYS_OUT}"))?;
    let (draft, missing) = (Draft::new(terms, means, ground)?, machine.missing(terms, means));
    let mut basis = Basis::default();
    let confine = match means {
        Means::Mounts { landlock } => Confine {
            name: profile.name.clone(),
            namespaces: confine::Namespaces::Mount {
                net: own_net(terms, &missing),
                user: machine::own_user(landlock),
            },
            landlock,
            mounts: draft.mounts(&mut basis)?,
            rules: if landlock == 0 { Vec::new() } else { draft.rules()? },
            sockets: match terms.network {
                Network::On | Network::Loopback => Sockets::UnixAndNetwork,
                Network::Off => Sockets::Unix,
            },
            metadata: Metadata::Usual,
        },
        Means::Rules { landlock } => Confine {
            name: profile.name.clone(),
            namespaces: confine::Namespaces::None,
            landlock,
            mounts: Vec::new(),
            rules: draft.rules()?,
            sockets: match (terms.network, terms.unix_sockets) {
                (Network::On, UnixSockets::Auto) => Sockets::Network,
                (Network::On, UnixSockets::On) => Sockets::UnixAndNetwork,
                (Network::Off | Network::Loopback, UnixSockets::Auto) => Sockets::None,
                (Network::Off | Network::Loopback, UnixSockets::On) => Sockets::Unix,
            },
            // Where builds run they must be able to make files executable, and no mount keeps them from doing so
            // elsewhere; a profile that writes nothing does without.
            metadata: match terms.roots {
                Use::Read => Metadata::Refused,
                Use::Write => Metadata::Usual,
            },
        },
    };
    basis.look_around(&confine.rules, ground.places.listings());
    let temporary = match means {
        Means::Mounts { .. } => PathBuf::from(TEMPORARY[0]),
        Means::Rules { .. } => ground.temp.to_owned(),
    };
    let tools = match terms.roots {
        Use::Write => draft.stores.tools(ground, &temporary),
        Use::Read => Tools::default(),
    };
    let note = note(profile, terms, ground, (means, &temporary));
    Ok(Some(Confinement { confine, basis: basis.known(), temporary, missing, tools, note }))
}

/// For whoever wonders why a command fails, human or model.
fn note(profile: &Profile, terms: &Terms, ground: &Ground<'_>, (means, temporary): (Means, &Path)) -> String {
    let name = |path: &Path| path.display().to_string();
    let mut places = Vec::new();
    if terms.roots == Use::Write {
        places.extend(ground.roots.iter().map(|root| name(root.path())));
        places.extend(ground.repositories.iter().map(|spot| name(&spot.path)));
        places.extend(terms.write.iter().filter(|path| path.exists()).map(|path| name(path)));
    }
    places.push(name(temporary));
    places.extend((terms.roots == Use::Write).then(|| "tool caches".to_owned()));
    let last = places.pop().unwrap_or_default();
    let writes = if places.is_empty() { last } else { format!("{} and {last}", places.join(", ")) };
    let mut reads = match (terms.reads, means) {
        (Reads::Everything, Means::Mounts { .. }) => {
            "keys, credentials and sockets of other programs are hidden"
        }
        (Reads::Everything, Means::Rules { .. }) => "keys and credentials are hidden; no Unix sockets",
        (Reads::System, _) => "reads only the project and the system",
    }
    .to_owned();
    if !terms.show.is_empty() {
        let shown: Vec<String> = terms.show.iter().map(|path| name(path)).collect();
        reads += &format!(", but for {}", shown.join(", "));
    }
    if terms.roots == Use::Write && !ground.hooks.is_empty() && matches!(means, Means::Mounts { .. }) {
        reads += "; git hooks stay as they are";
    }
    let network = match terms.network {
        Network::On => "",
        Network::Off => "; no network",
        Network::Loopback => "; only a loopback network of its own",
    };
    let wide = ground.roots.wide().iter().find_map(|root| root.check_width(ground.places).err());
    let wide = match wide {
        Some(wide) if wide.is_shared() => "; /tmp is its own here and goes with it".to_owned(),
        Some(wide) => format!("; {wide}"),
        None => String::new(),
    };
    format!("sandbox {}: writes only in {writes}; {reads}{network}{wide}", profile.name)
}

/// Where a loopback of its own cannot be had, there is no network at all.
fn own_net(terms: &Terms, missing: &[Extra]) -> OwnNet {
    match terms.network {
        Network::On => OwnNet::No,
        Network::Loopback if !missing.contains(&Extra::Loopback) => OwnNet::Loopback,
        Network::Off | Network::Loopback => OwnNet::Down,
    }
}

impl<'a> Draft<'a> {
    fn new(terms: &'a Terms, means: Means, ground: &'a Ground<'a>) -> Result<Self, String> {
        let temp = find(ground.temp).ok_or_else(|| format!("{} is gone", ground.temp.display()))?;
        let Sighting { found: mut hidden, holding } = hidden(terms, ground);
        let stores = Stores::look(terms, means, ground, &hidden);
        hide_servers(ground, &stores, &mut hidden);
        let roots: Vec<Spot> = match terms.roots {
            Use::Write => ground.roots.iter().map(Spot::of_root).chain(ground.repositories.clone()).collect(),
            Use::Read => Vec::new(),
        };
        let writable = roots.into_iter().chain(stores.shared.iter().cloned()).collect();
        let temp = Spot { path: temp.real, is: temp.is };
        Ok(Self { terms, means, ground, temp, hidden, holding, stores, writable })
    }

    /// The innermost writable place that something lies in. Nothing for what is in a layer: what becomes of it there is the
    /// session's own matter.
    fn around(&self, path: &Path) -> Option<&Path> {
        let length = |place: &Path| place.as_os_str().len();
        let layer = Self::innermost(&self.stores.layered, path).map_or(0, length);
        Self::innermost(&self.writable, path).filter(|place| length(place) >= layer)
    }

    fn innermost<'b>(spots: &'b [Spot], path: &Path) -> Option<&'b Path> {
        let around = spots.iter().filter(|spot| spot.path != path && is_within(path, &spot.path));
        around.map(|spot| spot.path.as_path()).max_by_key(|path| path.as_os_str().len())
    }
}

impl Spot {
    fn of_root(root: &Root) -> Self {
        Self { path: root.path().to_owned(), is: root.identity() }
    }
}

/// What is there and is to be hidden, and where more of it could appear, sorted.
fn hidden(terms: &Terms, ground: &Ground<'_>) -> Sighting {
    // As they are written: where a link leads may be the agent's doing. Wharf's own is always hidden.
    let own = |path: &Path| ground.places.own().any(|own| own == path);
    let is_shown = |path: &Path| terms.show.iter().any(|shown| shown == path) && !own(path);
    let mut seen = ground.places.hidden().look_around(is_shown);
    let hidden = &mut seen.found;
    hidden.extend(terms.hide.iter().filter_map(|path| find(path)));
    hidden.extend(foreign_sockets(ground).into_iter().filter(|socket| !is_shown(&socket.written)));
    hidden.sort_by(|one, other| one.real.cmp(&other.real));
    // What is inside something hidden is hidden with it.
    hidden.dedup_by(|later, earlier| is_within(&later.real, &earlier.real));
    if !rustix::process::geteuid().is_root() {
        hidden.retain(is_reachable);
    }
    seen
}

/// Those of Bazel, unless they are in a layer, where they begin empty.
fn hide_servers(ground: &Ground<'_>, stores: &Stores, hidden: &mut Vec<Found>) {
    let found = servers(ground.places).into_iter().filter_map(|server| find(&server));
    let layered = |found: &Found| stores.layered.iter().any(|layer| is_within(&found.real, &layer.path));
    hidden.extend(found.filter(|found| !layered(found)));
    hidden.sort_by(|one, other| one.real.cmp(&other.real));
    hidden.dedup_by(|later, earlier| is_within(&later.real, &earlier.real));
}

/// Sockets of programs that listen outside the roots: connecting to one is judged by nobody else.
fn foreign_sockets(ground: &Ground<'_>) -> Vec<Found> {
    let inside = |path: &Path| {
        is_within(path, ground.temp) || ground.roots.iter().any(|root| is_within(path, root.path()))
    };
    let is_socket = |found: &Found| found.kind == FileType::Socket && !inside(&found.real);
    sockets::bound().iter().filter_map(|path| find(path)).filter(is_socket).collect()
}

/// What the user cannot open anyway, and cannot make so, needs no hiding. Passwords of the machine are such, and without
/// them `/etc` is one rule instead of two hundred where there are no mounts.
fn is_reachable(found: &Found) -> bool {
    let wanted = match found.kind {
        FileType::Directory => [Access::READ_OK, Access::EXEC_OK],
        _ => [Access::READ_OK, Access::WRITE_OK],
    };
    let may = |wanted| rustix::fs::accessat(CWD, &found.real, wanted, AtFlags::EACCESS);
    let is_own = || {
        let own = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(&found.real).is_ok_and(|meta| meta.uid() == own)
    };
    wanted.into_iter().any(|wanted| may(wanted) != Err(Errno::ACCESS)) || is_own()
}

/// How many links there may be on the way, as for the kernel.
const MOST_LINKS: usize = 40;

/// The real place of every link that is met on the way along a path, and of its end. None if it leads nowhere.
fn way(path: &Path) -> Option<Vec<PathBuf>> {
    let (mut at, mut met) = (PathBuf::from("/"), Vec::new());
    let mut rest: Vec<PathBuf> = parts(path);
    while let Some(part) = rest.pop() {
        if part == Path::new("..") {
            at.pop();
            continue;
        }
        at.push(part);
        if fs::symlink_metadata(&at).ok()?.is_symlink() {
            met.push(at.clone());
            let target = fs::read_link(&at).ok()?;
            at = if target.is_absolute() { PathBuf::from("/") } else { at.parent()?.to_owned() };
            rest.extend(parts(&target));
        }
        if met.len() > MOST_LINKS {
            return None;
        }
    }
    met.push(at);
    Some(met)
}

/// The last first, so that the next is at the end.
fn parts(path: &Path) -> Vec<PathBuf> {
    let is_part = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().rev().filter(is_part).map(|part| PathBuf::from(part.as_os_str())).collect()
}

fn identity(path: &Path) -> Result<Identity, String> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, IDENTIFYING)
        .map_err(|errno| format!("{}: {errno}", path.display()))?;
    Ok(Identity::of_stat(&stat))
}

fn c_path(path: &Path) -> Result<CString, String> {
    let bytes: &OsStr = path.as_os_str();
    CString::new(bytes.as_bytes()).map_err(|_| format!("{path:?} contains a NUL byte"))
}
