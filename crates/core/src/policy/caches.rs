//! What commands may write besides the roots: the caches of build tools, without which every build starts from nothing.
//!
//! A cache holds no credentials and nothing that is on `PATH`: `~/.cargo/registry`, not `~/.cargo`; the store of pnpm,
//! not its home. The exception is `~/.cache` itself, where some tools do keep a token or a socket: those are on the list of
//! what is hidden, and whoever cannot hide them by a mount has to leave those files out. What a person has put on `PATH` inside a cache is
//! listed by [`executables`], to be kept as it is.
//!
//! A cache is shared with builds outside the sandbox, so a command can put things there which another build will use. That
//! is the price of a warm cache; a profile that does not want to pay it has no caches.

use super::places::Places;
use std::path::{Path, PathBuf};

/// Where a tool keeps things: the variable that moves it, its usual place under home, and what of it is a cache (all of it
/// if nothing is said).
const TOOLS: &[(&str, &str, &[&str])] = &[
    ("XDG_CACHE_HOME", ".cache", &[]),
    (
        "CARGO_HOME",
        ".cargo",
        &[
            "registry",
            "git",
            ".package-cache",
            ".package-cache-mutate",
            ".global-cache",
            ".global-cache-journal",
        ],
    ),
    ("GOPATH", "go", &["pkg/mod", "pkg/sumdb"]),
    (
        "GRADLE_USER_HOME",
        ".gradle",
        &["caches", "wrapper", "daemon", "native", "notifications", "kotlin", ".tmp"],
    ),
    ("NUGET_PACKAGES", ".nuget/packages", &[]),
    ("XDG_DATA_HOME", ".local/share", &["NuGet/http-cache", "NuGet/v3-cache", "pnpm/store"]),
    ("PNPM_HOME", ".local/share/pnpm", &["store"]),
    ("BUN_INSTALL", ".bun", &["install/cache"]),
    ("CONAN_HOME", ".conan2", &["p"]),
    ("HEX_HOME", ".hex", &["packages", "cache.ets"]),
    ("PUB_CACHE", ".pub-cache", &["hosted", "hosted-hashes", "git", "_temp"]),
    ("STACK_ROOT", ".stack", &["pantry"]),
    ("CABAL_DIR", ".cabal", &["packages", "store"]),
    ("CCACHE_DIR", ".ccache", &[]),
    ("SCCACHE_DIR", ".sccache", &[]),
    ("TF_PLUGIN_CACHE_DIR", ".terraform.d/plugin-cache", &[]),
    ("NPM_CONFIG_CACHE", ".npm", &[]),
    ("YARN_CACHE_FOLDER", ".yarn/berry", &["cache", "index", "metadata"]),
];

/// Under home, and no variable moves them.
const HOME: &[&str] =
    &[".pnpm-store", ".m2/repository", ".m2/wrapper", ".ivy2/cache", ".sbt/boot", ".composer/cache"];

/// Whole directories that exist only if a variable names them.
const NAMED: &[&str] = &[
    "GOCACHE",
    "GOMODCACHE",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "POETRY_CACHE_DIR",
    "npm_config_cache",
    "YARN_CACHE_FOLDER",
    "DENO_DIR",
    "PLAYWRIGHT_BROWSERS_PATH",
];

/// The caches, sorted. What lies in a hidden place, or is itself a place of programs, is none.
pub(crate) fn caches(places: &Places) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for (variable, usual, names) in TOOLS {
        let Some(place) = places.moved(variable, usual) else { continue };
        let whole = names.is_empty().then(|| place.clone());
        all.extend(names.iter().map(|name| place.join(name)).chain(whole));
    }
    all.extend(places.home.iter().flat_map(|home| HOME.iter().map(|name| home.join(name))));
    all.extend(NAMED.iter().filter_map(|variable| places.located(variable)));
    let hidden = places.secrets();
    all.retain(|path| is_cache(path, places, hidden));
    all.sort();
    all.dedup();
    all
}

/// A variable can point anywhere; it must not open what is closed for a reason.
fn is_cache(path: &Path, places: &Places, hidden: &[PathBuf]) -> bool {
    let is_hidden = hidden.iter().any(|secret| path.starts_with(secret));
    let is_program = places.search().iter().any(|dir| path.starts_with(dir));
    let holds_policy =
        [Some(&places.config), places.policy.as_ref()].into_iter().flatten().any(|own| own.starts_with(path));
    let holds_secret = hidden.iter().any(|secret| secret.starts_with(path));
    let may_hold = places.moved("XDG_CACHE_HOME", ".cache").is_some_and(|home| home == path);
    !is_hidden && !is_program && !holds_policy && (!holds_secret || may_hold)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn places(environment: &[(&str, &str)]) -> Places {
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Places { home: Some("/users/u".into()), environment, ..Places::default() }
    }

    fn writes(places: &Places, path: &str) -> bool {
        caches(places).iter().any(|cache| Path::new(path).starts_with(cache))
    }

    #[test]
    fn caches_are_writable_and_what_is_beside_them_is_not() {
        let places = places(&[(
            "PATH",
            "/usr/bin:/users/u/.cargo/bin:/users/u/.local/bin:/users/u/.local/share/pnpm",
        )]);
        let writable = [
            "/users/u/.cache/pip/x",
            "/users/u/.cache/go-build",
            "/users/u/.cargo/registry/index",
            "/users/u/.cargo/git/db",
            "/users/u/.cargo/.package-cache",
            "/users/u/.npm/_cacache",
            "/users/u/go/pkg/mod/x",
            "/users/u/.m2/repository/x",
            "/users/u/.gradle/caches/x",
            "/users/u/.nuget/packages/x",
            "/users/u/.bun/install/cache/x",
            "/users/u/.ccache/x",
        ];
        for path in writable {
            assert!(writes(&places, path), "{path}");
        }
        let not = [
            "/users/u/.cargo",
            "/users/u/.cargo/bin/cargo",
            "/users/u/.cargo/config.toml",
            "/users/u/.cargo/credentials.toml",
            "/users/u/.cargo/env",
            "/users/u/.npmrc",
            "/users/u/go/bin/x",
            "/users/u/go/src",
            "/users/u/.m2/settings.xml",
            "/users/u/.gradle/gradle.properties",
            "/users/u/.gradle/init.d/x",
            "/users/u/.bun/bin/bun",
            "/users/u/.hex/hex.config",
            "/users/u/.local/share/pnpm/x",
            "/users/u/.local/bin/x",
            "/users/u/.rustup/toolchains",
            "/users/u",
            "/users/u/.bashrc",
            "/users/u/.yarn/bin",
            "/users/u/.deno/bin/x",
            "/users/u/.local/share/uv/tools",
            "/users/u/.nuget/NuGet/NuGet.Config",
        ];
        for path in not {
            assert!(!writes(&places, path), "{path}");
        }
    }

    #[test]
    fn no_cache_holds_credentials_or_what_is_on_path() {
        let usual = [
            "/users/u/.cargo/bin",
            "/users/u/.local/bin",
            "/users/u/go/bin",
            "/users/u/.bun/bin",
            "/users/u/.deno/bin",
            "/users/u/.yarn/bin",
            "/users/u/.dotnet/tools",
            "/users/u/.pub-cache/bin",
            "/users/u/.cabal/bin",
            "/users/u/.composer/vendor/bin",
            "/users/u/.npm-global/bin",
            "/usr/bin",
            "/users/u/.local/share/uv/tools/x/bin",
            "/users/u/.nvm/versions/node/v22/bin",
            "/users/u/.pyenv/shims",
            "/users/u/.krew/bin",
            "/users/u/.mix/escripts",
        ];
        let places = places(&[("PATH", &usual.join(":"))]);
        assert_eq!(executables(&places), Vec::<PathBuf>::new());
        let hidden = places.secrets();
        for cache in caches(&places) {
            let mut held = hidden.iter().filter(|secret| secret.starts_with(&cache));
            let known = |secret: &PathBuf| secret.starts_with("/users/u/.cache/huggingface");
            assert!(held.all(known), "{}", cache.display());
            assert!(!hidden.iter().any(|secret| cache.starts_with(secret)), "{}", cache.display());
        }
    }

    #[test]
    fn a_variable_moves_a_cache_but_opens_nothing_that_is_closed() {
        let moved = places(&[
            ("CARGO_HOME", "/opt/cargo"),
            ("GOPATH", "/data/go:/x/y"),
            ("XDG_CACHE_HOME", "/data/cache"),
        ]);
        for path in ["/opt/cargo/registry/x", "/data/go/pkg/mod", "/data/cache/x", "/users/u/.npm"] {
            assert!(writes(&moved, path), "{path}");
        }
        for path in
            ["/users/u/.cargo/registry", "/opt/cargo/bin", "/users/u/.cache", "/data/go/bin", "/x/y/pkg/mod"]
        {
            assert!(!writes(&moved, path), "{path}");
        }
        for value in [
            "/users/u/.ssh",
            "/users/u/.ssh/x",
            "/users/u",
            "/",
            "relative",
            "/etc/ssh",
            "/users/u/.docker",
            "/run",
        ] {
            let places = places(&[("PIP_CACHE_DIR", value)]);
            assert!(!caches(&places).contains(&PathBuf::from(value)), "{value}");
        }
        let in_cache = places(&[("SSH_AUTH_SOCK", "/users/u/.cache/agent/sock")]);
        assert!(writes(&in_cache, "/users/u/.cache/pip"));
        let places = places(&[("DENO_DIR", "/users/u/.deno/bin/x"), ("PATH", "/users/u/.deno/bin")]);
        assert!(!writes(&places, "/users/u/.deno/bin/x"));
    }

    #[test]
    fn programs_inside_a_cache_are_named() {
        let places = places(&[("PATH", "/usr/bin:/users/u/.cache/.bun/bin:/users/u/.cargo/bin")]);
        assert!(writes(&places, "/users/u/.cache/x"));
        assert_eq!(executables(&places), [Path::new("/users/u/.cache/.bun/bin")]);
    }
}
