//! The mounts of a sandbox, in the order in which they are made: all read-only, what is written back again, what is
//! hidden, what stays as it is.

use super::basis::Basis;
use super::keep::{fix, keep};
use super::view::{self, Views};
use super::{Draft, SHARED_MEMORY, Spot, TEMPORARY, c_path, find, identity, is_within};
use crate::policy::existing::Found;
use crate::policy::machine::Means;
use crate::policy::profile::{Protection, Reads, Use};
use crate::policy::protected::{self, When};
use crate::policy::roots::Root;
use crate::policy::temporary::layers;
use rustix::fs::{AtFlags, FileType};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use wharf_shim::confine::{Hidden, Identity, Mount};

/// A browser needs some; it is memory.
const SHARED_MEMORY_SIZE: u64 = 256 << 20;

/// How something comes back.
#[derive(Debug, Clone, Copy)]
enum How {
    Read,
    Written,
    Layered,
}

impl Draft<'_> {
    pub(super) fn mounts(&self, basis: &mut Basis) -> Result<Vec<Mount>, String> {
        let mut mounts = vec![Mount::Everything];
        if self.means == (Means::Mounts { landlock: 0 }) {
            mounts.push(view::devices()?);
        }
        let mut covered = Vec::new();
        for onto in TEMPORARY.iter().filter_map(|onto| find(Path::new(onto))) {
            let from = c_path(&self.temp.path)?;
            mounts.push(Mount::Over { from, is: self.temp.is, onto: c_path(&onto.real)? });
            covered.push(onto.real);
        }
        let memory = find(Path::new(SHARED_MEMORY)).filter(|found| found.kind == FileType::Directory);
        if let Some(Found { real, .. }) = memory {
            mounts.push(Mount::Fresh { path: c_path(&real)?, bytes: SHARED_MEMORY_SIZE });
            covered.push(real);
        }
        mounts.push(Mount::Terminals);
        let back = self.back(&covered);
        let is_gone = |path: &Path| {
            covered.iter().any(|outer| is_within(path, outer))
                && !back.iter().any(|(spot, _)| is_within(path, &spot.path))
        };
        let viewed = self.lay_out(&back, self.views(is_gone), basis, &mut mounts)?;
        let is_gone = |path: &Path| is_gone(path) || path.parent().is_some_and(|dir| viewed.contains(dir));
        self.hide(is_gone, basis, &mut mounts)?;
        if self.terms.protects() {
            self.protect(&mut mounts)?;
        }
        for path in self.ground.places.caches().kept.iter().chain(&self.ground.places.programs) {
            let real = find(path).map_or_else(|| path.clone(), |found| found.real);
            keep(self, &real, &mut mounts)?;
        }
        Ok(mounts)
    }

    /// What is writable, and what lies where temporary files go, which have a place of their own now.
    fn back(&self, covered: &[PathBuf]) -> Vec<(Spot, How)> {
        let is_covered = |path: &Path| covered.iter().any(|outer| is_within(path, outer));
        // Rules for temporary files reach what is mounted among them, so only what may be read comes back.
        let home = match self.terms.reads {
            Reads::Everything => self.ground.places.real_home(),
            Reads::System => None,
        };
        let home = home.filter(|home| is_covered(home)).and_then(find);
        let home = home.map(|home| Spot { path: home.real, is: home.is });
        let roots: Vec<Spot> = match self.terms.roots {
            Use::Read => self.ground.roots.iter().map(Spot::of_root).collect(),
            Use::Write => Vec::new(),
        };
        // A directory that is too wide to be written is read, but for those that are covered themselves.
        let wide = self.ground.roots.wide().iter().map(Spot::of_root);
        let wide = wide.filter(|spot| !covered.contains(&spot.path));
        let read = home.into_iter().chain(roots).chain(wide).filter(|spot| is_covered(&spot.path));
        let mut all: Vec<(Spot, How)> = read.map(|spot| (spot, How::Read)).collect();
        all.extend(self.writable.iter().map(|spot| (spot.clone(), How::Written)));
        all.extend(self.stores.layered.iter().map(|spot| (spot.clone(), How::Layered)));
        // Outer ones first, so that they do not cover the inner ones.
        all.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
        all.dedup_by(|(later, _), (earlier, _)| later.path == earlier.path);
        all
    }

    /// What comes back, and views, each after what it lies in. Answers which directories have got a view.
    fn lay_out(
        &self,
        back: &[(Spot, How)],
        mut views: Views,
        basis: &mut Basis,
        mounts: &mut Vec<Mount>,
    ) -> Result<BTreeSet<PathBuf>, String> {
        let mut viewed = BTreeSet::new();
        let (drawn, listings) = (self.ground.places.drawn(), self.ground.places.listings());
        let mut show = |(path, left_out): (PathBuf, BTreeSet<OsString>), mounts: &mut Vec<Mount>| {
            if let Some((view, listing)) = drawn.view(&path, left_out, self.means, listings)? {
                basis.listed(listing);
                mounts.push(view);
                viewed.insert(path);
            }
            Ok::<_, String>(())
        };
        for (spot, how) in back {
            while let Some(first) = views.first_entry().filter(|first| *first.key() < spot.path) {
                show(first.remove_entry(), mounts)?;
            }
            self.bring_back(spot, *how, mounts)?;
        }
        views.into_iter().try_for_each(|view| show(view, mounts))?;
        Ok(viewed)
    }

    fn bring_back(&self, Spot { path, is }: &Spot, how: How, mounts: &mut Vec<Mount>) -> Result<(), String> {
        let (place, is) = (c_path(path)?, *is);
        match how {
            // It comes back as it was, and the rule for temporary files reaches what is mounted among them.
            How::Read => {
                mounts
                    .extend([Mount::Again { path: place.clone(), is }, Mount::ReadOnly { path: place, is }]);
            }
            How::Written => {
                self.hold(path, mounts)?;
                mounts.push(Mount::Writable { path: place, is });
            }
            How::Layered => {
                self.hold(path, mounts)?;
                let upper = layers(self.ground.temp).join(format!("{:x}-{:x}", is.dev, is.ino));
                let fresh = self.stores.fresh(path, self.ground);
                let fresh = fresh.iter().map(|below| c_path(below)).collect::<Result<_, _>>()?;
                mounts.push(Mount::Layer { path: place, is, upper: c_path(&upper)?, fresh });
            }
        }
        Ok(())
    }

    /// But for what other mounts have covered already: sockets of agents often lie among temporary files.
    fn hide(
        &self,
        is_gone: impl Fn(&Path) -> bool,
        basis: &mut Basis,
        mounts: &mut Vec<Mount>,
    ) -> Result<(), String> {
        let mut last: Option<(&Path, Identity)> = None;
        for found in self.hidden.iter().filter(|found| !is_gone(&found.real)) {
            self.hold(&found.real, mounts)?;
            let is = match found.real.parent().filter(|_| self.may_be_written_anew(found)) {
                None => Hidden::Exactly(found.is),
                Some(parent) => {
                    let is = match last {
                        Some((known, is)) if known == parent => is,
                        _ => identity(parent)?,
                    };
                    last = Some((parent, is));
                    basis.hidden(found.is);
                    Hidden::In(is)
                }
            };
            mounts.push(Mount::Hide { path: c_path(&found.real)?, is });
        }
        Ok(())
    }

    /// Histories, settings and sockets are put in place anew by the programs that they belong to. Where a command can do
    /// that, too, nothing but what was seen will do.
    fn may_be_written_anew(&self, found: &Found) -> bool {
        found.kind != FileType::Directory && self.around(&found.real).is_none()
    }

    /// Has every directory between a writable one and something in it stay where it is: what is hidden or kept by its name
    /// could be moved away with them.
    fn hold(&self, path: &Path, mounts: &mut Vec<Mount>) -> Result<(), String> {
        let Some(place) = self.around(path) else { return Ok(()) };
        let mut between: Vec<&Path> = path.ancestors().skip(1).take_while(|part| *part != place).collect();
        between.reverse();
        between.into_iter().try_for_each(|part| fix(part, mounts))
    }

    /// What must stay as it is in a writable root.
    fn protect(&self, mounts: &mut Vec<Mount>) -> Result<(), String> {
        for (root, in_git) in self.ground.roots.iter().zip(&self.ground.in_git) {
            for path in self.protected_in(root, *in_git) {
                keep(self, &path, mounts)?;
            }
        }
        if self.terms.protect.is_none() {
            for pin in &self.ground.pins {
                fix(pin, mounts)?;
            }
            for hooks in &self.ground.hooks {
                keep(self, hooks, mounts)?;
            }
        }
        Ok(())
    }

    /// The profile's own list, or the usual one. In a working tree of git that is git's to change: a checkout, a stash or a
    /// clean that finds a mount in its way does half of its work.
    fn protected_in(&self, root: &Root, in_git: bool) -> Vec<PathBuf> {
        if let Some(names) = &self.terms.protect {
            return names.iter().map(|name| root.path().join(name)).collect();
        }
        let strict = self.terms.protection == Protection::Strict;
        if in_git && !strict {
            return Vec::new();
        }
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let is_there = |name| rustix::fs::statat(&root.directory().fd, name, flags).is_ok();
        let counts =
            |usual: &&protected::Protected| (strict && usual.when == When::Always) || is_there(usual.name);
        protected::protected().iter().filter(counts).map(|usual| root.path().join(usual.name)).collect()
    }
}
