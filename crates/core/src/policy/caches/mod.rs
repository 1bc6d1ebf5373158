//! What commands may write besides the roots: the caches of build tools, without which every build starts from nothing.
//!
//! A cache holds no credentials and nothing that is on `PATH`: `~/.cargo/registry`, not `~/.cargo`; the store of pnpm, not
//! its home; of `~/.cache` what is named here, and not the files of shells (`p10k-instant-prompt-*.zsh` is read by the
//! next shell), editors (`nvim/luac`, `jedi`, JetBrains), browsers and desktops beside it. Also left out, since their
//! programs do with what is there: `pre-commit`, whose environments are the hooks of other repositories; `typescript`,
//! in which editors install packages; `node/corepack` and `bazelisk`, which hold the package managers themselves. Tools
//! that keep theirs in the project need nothing (mypy, ruff, pytest, eslint).
//!
//! Some are shared with builds outside the sandbox, so a command can put things there which another build will use. That
//! is the price of a warm cache; a profile that does not want to pay it has no caches. What a person's tools would run
//! without a build, or link into places from which it is run, is layered: found as it is, and written for the session
//! alone. Where no layers can be had it is not written, and tools are told of a cache of the session.

mod make;
mod table;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) use make::make;
pub(crate) use tools::{Tools, Where};

use super::existing::Tree;
use super::places::Places;
use std::path::PathBuf;
use table::Line;

/// All of them, whether they exist or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Caches {
    /// Written as they are.
    pub(crate) shared: Tree,
    /// Written in layers.
    pub(crate) layered: Tree,
    /// The same inside shared ones.
    pub(crate) inner: Tree,
    /// What in a shared one stays as it is, sorted: directories of programs, and settings. One that could be made there
    /// makes it a cache that is layered.
    pub(crate) kept: Vec<PathBuf>,
}

/// How a cache is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shared,
    Layered,
    Inner,
}

/// One of them.
#[derive(Debug)]
struct Cache {
    path: PathBuf,
    kind: Kind,
    /// For whose sake it is made; empty if it is not.
    program: &'static str,
}

/// The caches. What lies in a hidden place, or is itself a place of programs, is none.
pub(crate) fn caches(places: &Places) -> Caches {
    let all = listed(places);
    let of = |kind| all.iter().filter(move |cache| cache.kind == kind).map(|cache| &cache.path);
    let shared: Vec<&PathBuf> = of(Kind::Shared).collect();
    let mut kept = places.search();
    kept.extend(table::KEPT.iter().flat_map(|line| paths(line, places)));
    kept.retain(|path| shared.iter().any(|cache| path.starts_with(cache)));
    kept.sort();
    kept.dedup();
    Caches {
        shared: Tree::new(of(Kind::Shared)),
        layered: Tree::new(of(Kind::Layered)),
        inner: Tree::new(of(Kind::Inner)),
        kept,
    }
}

fn listed(places: &Places) -> Vec<Cache> {
    let kinds = [(table::SHARED, Kind::Shared), (table::LAYERED, Kind::Layered), (table::INNER, Kind::Inner)];
    let mut all: Vec<Cache> = Vec::new();
    for (lines, kind) in kinds {
        for line in lines {
            all.extend(paths(line, places).into_iter().map(|path| Cache { path, kind, program: line.3 }));
        }
    }
    all.retain(|cache| is_cache(cache, places));
    all
}

/// What a line means here.
fn paths((variable, usual, names, _): &Line, places: &Places) -> Vec<PathBuf> {
    let Some(place) = places.moved(variable, usual) else { return Vec::new() };
    match names {
        [] => vec![place],
        names => names.iter().map(|name| place.join(name)).collect(),
    }
}

/// A variable can point anywhere; it must not open what is closed for a reason.
fn is_cache(Cache { path, kind, .. }: &Cache, places: &Places) -> bool {
    let is_hidden = places.hidden().holding(path).is_some();
    let is_program = *kind == Kind::Shared && places.search().iter().any(|dir| path.starts_with(dir));
    let holds_policy =
        [Some(&places.config), places.policy.as_ref()].into_iter().flatten().any(|own| own.starts_with(path));
    let holds_secret = places.hidden().reaches_into(path);
    !is_hidden && !is_program && !holds_policy && !holds_secret
}

/// Where Bazel's servers say how they are asked to run something: in every output base. Whoever reads that runs it
/// outside.
pub(crate) fn servers(places: &Places) -> Vec<PathBuf> {
    let Some(bazel) = places.moved("", ".cache/bazel") else { return Vec::new() };
    let below = |dir: PathBuf| dir.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let bases = below(bazel).flat_map(below).map(|base| base.join("server"));
    bases.filter(|server| server.symlink_metadata().is_ok_and(|meta| meta.is_dir())).collect()
}
