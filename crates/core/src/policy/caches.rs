//! What commands may write besides the roots: the caches of build tools, without which every build starts from nothing.
//!
//! A cache holds no credentials, nothing that is on `PATH`, and nothing that a person's shell, editor or git runs by itself:
//! `~/.cargo/registry`, not `~/.cargo`; the store of pnpm, not its home; of `~/.cache` what is named here, and not the
//! files of shells (`p10k-instant-prompt-*.zsh` is read by the next shell), editors (`nvim/luac`, `jedi`, JetBrains),
//! browsers and desktops beside it. Also left out, since their programs do with what is there: `pre-commit`, whose
//! environments are the hooks of other repositories; `node/corepack` and `bazelisk`, which hold the package managers
//! themselves. Tools that keep theirs in the project need nothing (mypy, ruff, pytest, eslint).
//!
//! A cache is shared with builds outside the sandbox, so a command can put things there which another build will use. That
//! is the price of a warm cache; a profile that does not want to pay it has no caches.
//!
//! A sandbox cannot open what does not exist. So the caches of a tool that is installed are [made](make) before the first
//! command, empty, as the tool itself would do it.

#[cfg(test)]
mod tests;

use super::places::Places;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What of `~/.cache` belongs to builds, and the program for whose sake it is made if it is missing.
const CACHE_HOME: &[(&str, &str)] = &[
    // Python. Of Hugging Face and PyTorch what is downloaded, without tokens and without code.
    ("pip", "pip3"),
    ("uv", "uv"),
    ("pypoetry", "poetry"),
    ("pdm", "pdm"),
    ("pipenv", "pipenv"),
    ("black", ""),
    ("pylint", ""),
    ("matplotlib", ""),
    ("huggingface/hub", ""),
    ("huggingface/datasets", ""),
    ("huggingface/xet", ""),
    ("torch/hub/checkpoints", ""),
    ("torch/kernels", ""),
    // JavaScript, with the browsers that tests drive.
    ("yarn", "yarn"),
    ("pnpm", "pnpm"),
    ("deno", "deno"),
    ("node-gyp", "node"),
    ("typescript", ""),
    ("next-swc", ""),
    ("prisma", ""),
    ("electron", ""),
    ("electron-builder", ""),
    ("ms-playwright", ""),
    ("puppeteer", ""),
    ("Cypress", ""),
    // Go, Rust, C and others that compile. All of a build of Bazel is there, nothing of it in the project.
    ("go-build", "go"),
    ("golangci-lint", ""),
    ("gopls", ""),
    ("staticcheck", ""),
    ("sccache", "sccache"),
    ("ccache", "ccache"),
    ("zig", "zig"),
    ("bazel", "bazel"),
    ("vcpkg", ""),
    ("CPM", ""),
    ("clangd", ""),
    ("dune", "dune"),
    ("cabal", ""),
    ("ghcide", ""),
    ("org.swift.swiftpm", ""),
    ("coursier/v1", ""),
    ("rebar3/hex", ""),
    ("elixir_make", ""),
    ("composer", "composer"),
    ("rubocop_cache", ""),
    ("R", ""),
    // What builds of documents and pictures make again and again.
    ("fontconfig", ""),
    ("mesa_shader_cache", ""),
    ("mesa_shader_cache_db", ""),
    ("Tectonic", ""),
    ("typst", ""),
    ("helm", ""),
];

/// Where a tool keeps things elsewhere: the variable that moves it, its usual place under home, what of it is a cache (all
/// of it if nothing is said), and the program for whose sake it is made.
const TOOLS: &[(&str, &str, &[&str], &str)] = &[
    ("CARGO_HOME", ".cargo", &["registry", "git"], "cargo"),
    // Not `.global-cache-journal`, which is there for moments only: a sandbox that was to have it could not be set up.
    ("CARGO_HOME", ".cargo", &[".package-cache", ".package-cache-mutate", ".global-cache"], ""),
    ("GOPATH", "go", &["pkg/mod", "pkg/sumdb"], "go"),
    (
        "GRADLE_USER_HOME",
        ".gradle",
        &["caches", "wrapper", "native", "notifications", "kotlin", ".tmp"],
        "gradle",
    ),
    ("NUGET_PACKAGES", ".nuget/packages", &[], "dotnet"),
    ("XDG_DATA_HOME", ".local/share", &["NuGet/http-cache", "NuGet/v3-cache"], "dotnet"),
    ("XDG_DATA_HOME", ".local/share", &["pnpm/store"], "pnpm"),
    ("PNPM_HOME", ".local/share/pnpm", &["store"], ""),
    ("BUN_INSTALL", ".bun", &["install/cache"], "bun"),
    ("CONAN_HOME", ".conan2", &["p"], ""),
    ("HEX_HOME", ".hex", &["packages", "cache.ets"], ""),
    ("PUB_CACHE", ".pub-cache", &["hosted", "hosted-hashes", "git", "_temp"], ""),
    ("STACK_ROOT", ".stack", &["pantry"], ""),
    ("CABAL_DIR", ".cabal", &["packages", "store"], ""),
    ("CCACHE_DIR", ".ccache", &[], ""),
    ("SCCACHE_DIR", ".sccache", &[], ""),
    ("TF_PLUGIN_CACHE_DIR", ".terraform.d/plugin-cache", &[], ""),
    ("NPM_CONFIG_CACHE", ".npm", &[], "npm"),
    ("YARN_CACHE_FOLDER", ".yarn/berry", &["cache", "index", "metadata"], "yarn"),
    ("HF_HOME", ".cache/huggingface", &["hub", "datasets", "xet"], ""),
];

/// Under home, and no variable moves them.
const HOME: &[(&str, &str)] = &[
    (".pnpm-store", ""),
    (".m2/repository", "mvn"),
    (".m2/wrapper", ""),
    (".ivy2/cache", ""),
    (".sbt/boot", ""),
    (".composer/cache", ""),
];

/// Whole directories that exist only if a variable names them.
const NAMED: &[(&str, &str)] = &[
    ("GOCACHE", "go"),
    ("GOMODCACHE", "go"),
    ("UV_CACHE_DIR", "uv"),
    ("PIP_CACHE_DIR", "pip3"),
    ("POETRY_CACHE_DIR", "poetry"),
    ("npm_config_cache", "npm"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("DENO_DIR", "deno"),
    ("PLAYWRIGHT_BROWSERS_PATH", ""),
];

/// One of them.
struct Cache {
    path: PathBuf,
    /// For whose sake it is made; empty if it is not.
    program: &'static str,
}

/// The caches, sorted. What lies in a hidden place, or is itself a place of programs, is none.
pub(crate) fn caches(places: &Places) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = listed(places).into_iter().map(|cache| cache.path).collect();
    all.sort();
    all.dedup();
    all
}

fn listed(places: &Places) -> Vec<Cache> {
    let mut all: Vec<Cache> = Vec::new();
    let mut add = |path, program| all.push(Cache { path, program });
    if let Some(home) = places.moved("XDG_CACHE_HOME", ".cache") {
        CACHE_HOME.iter().for_each(|(name, program)| add(home.join(name), *program));
    }
    for (variable, usual, names, program) in TOOLS {
        let Some(place) = places.moved(variable, usual) else { continue };
        names.iter().for_each(|name| add(place.join(name), *program));
        if names.is_empty() {
            add(place, *program);
        }
    }
    for (name, program) in HOME {
        places.home.iter().for_each(|home| add(home.join(name), *program));
    }
    for (variable, program) in NAMED {
        places.located(variable).into_iter().for_each(|path| add(path, *program));
    }
    all.retain(|cache| is_cache(&cache.path, places));
    all
}

/// Makes those that are missing and whose tool is installed. What cannot be made is none: the tool says so itself.
pub(crate) fn make(places: &Places) {
    let search = places.search();
    let is_installed = |program: &str| search.iter().any(|dir| dir.join(program).exists());
    for Cache { path, program } in listed(places) {
        if !program.is_empty() && path.symlink_metadata().is_err() && is_installed(program) {
            let _ = make_one(&path, places.home.as_deref());
        }
    }
}

/// Below home as deep as it takes, elsewhere only what is missing at the end of the path. Every directory on the way must
/// be the person's own and writable by no strangers, and none a link: who could put one there could have directories made
/// anywhere.
fn make_one(path: &Path, home: Option<&Path>) -> rustix::io::Result<()> {
    let base = home.filter(|home| path.starts_with(home)).or_else(|| path.parent());
    let base = base.ok_or(rustix::io::Errno::INVAL)?;
    let below = path.strip_prefix(base).map_err(|_| rustix::io::Errno::INVAL)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The way to a home is the machine's matter, and on some there is a link in it.
    let resolve = if Some(base) == home { ResolveFlags::empty() } else { ResolveFlags::NO_SYMLINKS };
    let mut at = rustix::fs::openat2(rustix::fs::CWD, base, flags, Mode::empty(), resolve)?;
    is_own(&at)?;
    for part in below {
        match rustix::fs::mkdirat(&at, part, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        at = rustix::fs::openat(&at, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
        is_own(&at)?;
    }
    Ok(())
}

fn is_own(dir: &OwnedFd) -> rustix::io::Result<()> {
    let stat = rustix::fs::fstat(dir.as_fd())?;
    // A group of one's own is usual on many machines, and then its right to write as well.
    let strangers = if stat.st_gid == rustix::process::getegid().as_raw() { 0o002 } else { 0o022 };
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & strangers == 0;
    if is_own { Ok(()) } else { Err(rustix::io::Errno::PERM) }
}

/// A variable can point anywhere; it must not open what is closed for a reason.
fn is_cache(path: &Path, places: &Places) -> bool {
    let is_hidden = places.hidden().holding(path).is_some();
    let is_program = places.search().iter().any(|dir| path.starts_with(dir));
    let holds_policy =
        [Some(&places.config), places.policy.as_ref()].into_iter().flatten().any(|own| own.starts_with(path));
    let holds_secret = places.hidden().reaches_into(path);
    !is_hidden && !is_program && !holds_policy && !holds_secret
}

/// Directories of `PATH` that lie in a cache: to be kept read-only, or a command could replace the person's programs.
pub(crate) fn executables(places: &Places) -> Vec<PathBuf> {
    let caches = places.caches();
    let mut inside = places.search();
    inside.retain(|dir| caches.iter().any(|cache| dir.starts_with(cache)));
    inside.sort();
    inside.dedup();
    inside
}
