//! What may be written besides the roots: what a profile names, and the caches of tools, each as it is or in a layer.

use super::{Ground, Spot, find, is_within, way};
use crate::policy::caches::{Tools, Where, servers};
use crate::policy::existing::Found;
use crate::policy::machine::Means;
use crate::policy::profile::{Terms, Use};
use crate::policy::roots::check_width;
use std::path::{Path, PathBuf};

/// The places.
#[derive(Debug, Default)]
pub(super) struct Stores {
    /// Written as they are, sorted, none in another.
    pub(super) shared: Vec<Spot>,
    /// Written in layers, sorted.
    pub(super) layered: Vec<Spot>,
    /// The names of the layered ones.
    names: Vec<PathBuf>,
    /// The names of those that would be layered if that could be had.
    lost: Vec<PathBuf>,
}

impl Stores {
    /// What is there. `hidden` is what commands do not see.
    pub(super) fn look(terms: &Terms, means: Means, ground: &Ground<'_>, hidden: &[Found]) -> Self {
        let own = straight(terms.write.iter().filter_map(|path| find(path)).collect(), ground);
        if terms.roots == Use::Read {
            return Self { shared: outermost(own), ..Self::default() };
        }
        let caches = ground.places.caches();
        let in_root = |path: &Path| in_root(path, ground);
        let look = |tree: &crate::policy::existing::Tree| straight(tree.look(in_root), ground);
        let layered: Vec<Found> = look(&caches.layered).into_iter().chain(look(&caches.inner)).collect();
        let (demoted, mut shared): (Vec<Found>, _) =
            look(&caches.shared).into_iter().partition(|cache| can_be_planted(cache, &caches.kept, means));
        // What a profile names is written as it is.
        let is_own = |found: &Found| own.iter().any(|own| is_within(&found.real, &own.real));
        let layered = layered.into_iter().chain(demoted).filter(|found| !is_own(found));
        // What is hidden is found by its identity, and in a layer everything has another.
        let holds_hidden = |found: &Found| hidden.iter().any(|it| is_within(&it.real, &found.real));
        let layers = matches!(means, Means::Mounts { .. }) && ground.places.machine().layers.is_ok();
        let (mut layered, lost): (Vec<Found>, Vec<Found>) =
            layered.partition(|found| layers && !holds_hidden(found));
        // What is in one that cannot be layered is not written by way of what is around it.
        shared.retain(|cache| !lost.iter().any(|lost| is_within(&lost.real, &cache.real)));
        shared.extend(own);
        layered.sort_by(|one, other| one.real.cmp(&other.real));
        layered.dedup_by(|later, earlier| later.real == earlier.real);
        let names = |all: &[Found]| all.iter().map(|found| found.written.clone()).collect();
        let (names, lost) = (names(&layered), names(&lost));
        Self { shared: outermost(shared), layered: layered.into_iter().map(spot).collect(), names, lost }
    }

    /// What tools are told of them.
    pub(super) fn tools(&self, ground: &Ground<'_>, inside: &Path) -> Tools {
        Tools::new(ground.places, &self.names, &self.lost, Where { real: ground.temp, inside })
    }

    /// Directories in a layer that begin empty, by their paths from there.
    pub(super) fn fresh(&self, layer: &Path, ground: &Ground<'_>) -> Vec<PathBuf> {
        let real = servers(ground.places).into_iter().filter_map(|server| Some(find(&server)?.real));
        real.filter_map(|server| Some(server.strip_prefix(layer).ok()?.to_owned())).collect()
    }
}

/// Whether something that stays as it is could be put into a cache: where there are no mounts, also in its place.
fn can_be_planted(cache: &Found, kept: &[PathBuf], means: Means) -> bool {
    let inside = |path: &&PathBuf| path.starts_with(&cache.written) || path.starts_with(&cache.real);
    let missing = |path: &PathBuf| path.symlink_metadata().is_err();
    kept.iter().filter(inside).any(|path| matches!(means, Means::Rules { .. }) || missing(path))
}

fn in_root(path: &Path, ground: &Ground<'_>) -> bool {
    ground.roots.iter().any(|root| is_within(path, root.path()))
}

/// Not inside a root: there it may be written anyway, and a link there is the agent's. A name that leads through a root, by
/// whatever links, is one that an agent can lead elsewhere.
fn straight(mut all: Vec<Found>, ground: &Ground<'_>) -> Vec<Found> {
    let in_root = |path: &Path| in_root(path, ground);
    let is_straight = |found: &Found| {
        found.real == found.written
            || way(&found.written).is_some_and(|way| !way.iter().any(|at| in_root(at)))
    };
    all.retain(|found| {
        !in_root(&found.written) && is_straight(found) && check_width(&found.real, ground.places).is_ok()
    });
    all
}

fn outermost(mut all: Vec<Found>) -> Vec<Spot> {
    all.sort_by(|one, other| one.real.cmp(&other.real));
    all.dedup_by(|later, earlier| is_within(&later.real, &earlier.real));
    all.into_iter().map(spot).collect()
}

fn spot(found: Found) -> Spot {
    Spot { path: found.real, is: found.is }
}
