//! What is a cache and what is not, by a table; and which are made where, by real directories and links.

use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn places(environment: &[(&str, &str)]) -> Places {
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Places { home: Some("/users/u".into()), environment, ..Places::default() }
}

fn writes(places: &Places, path: &str) -> bool {
    caches(places).iter().any(|cache| Path::new(path).starts_with(cache))
}

#[test]
fn caches_are_writable_and_what_is_beside_them_is_not() {
    let places =
        places(&[("PATH", "/usr/bin:/users/u/.cargo/bin:/users/u/.local/bin:/users/u/.local/share/pnpm")]);
    let writable = [
        "/users/u/.cache/pip/x",
        "/users/u/.cache/huggingface/hub/x",
        "/users/u/.cache/uv",
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
        "/users/u/.cache",
        "/users/u/.cache/p10k-instant-prompt-u.zsh",
        "/users/u/.cache/nvim/luac/x",
        "/users/u/.cache/zsh",
        "/users/u/.cache/pre-commit/db.db",
        "/users/u/.cache/node/corepack/x",
        "/users/u/.cache/mozilla",
        "/users/u/.cache/huggingface",
        "/users/u/.cache/huggingface/token",
        "/users/u/.cache/huggingface/modules/x.py",
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
        assert!(!hidden.iter().any(|secret| secret.starts_with(&cache)), "{}", cache.display());
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
    for path in ["/opt/cargo/registry/x", "/data/go/pkg/mod", "/data/cache/pip/x", "/users/u/.npm"] {
        assert!(writes(&moved, path), "{path}");
    }
    for path in
        ["/users/u/.cargo/registry", "/opt/cargo/bin", "/users/u/.cache/pip", "/data/go/bin", "/x/y/pkg/mod"]
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
    let places = places(&[("PATH", "/usr/bin:/users/u/.cache/uv/bin:/users/u/.cargo/bin")]);
    assert!(writes(&places, "/users/u/.cache/uv/x"));
    assert_eq!(executables(&places), [Path::new("/users/u/.cache/uv/bin")]);
}

/// A home with tools of these names.
fn home_with(programs: &[&str]) -> (tempfile::TempDir, PathBuf, Places) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (home, bin) = (base.join("home"), base.join("bin"));
    for path in [&home, &bin] {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    for program in programs {
        fs::write(bin.join(program), "").unwrap();
    }
    let environment = vec![("PATH".into(), bin.into())];
    let places = Places { home: Some(home.clone()), environment, ..Places::default() };
    (dir, home, places)
}

fn all_below(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            all.extend(all_below(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        }
        all.push(name);
    }
    all.sort();
    all
}

#[test]
fn the_caches_of_installed_tools_are_made_and_no_others() {
    let (_dir, home, places) = home_with(&["npm", "go"]);
    make(&places);
    let expected = [".cache", ".cache/go-build", ".npm", "go", "go/pkg", "go/pkg/mod", "go/pkg/sumdb"];
    assert_eq!(all_below(&home), expected);
    for name in expected {
        assert_eq!(home.join(name).metadata().unwrap().permissions().mode() & 0o7777, 0o700, "{name}");
    }
    fs::write(home.join(".npm/kept"), "").unwrap();
    make(&places);
    assert!(home.join(".npm/kept").exists());
    assert_eq!(all_below(&home).len(), expected.len() + 1);
}

#[test]
fn no_cache_is_made_through_a_link() {
    let (dir, home, places) = home_with(&["npm", "go", "cargo"]);
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, home.join(".cache")).unwrap();
    symlink(&elsewhere, home.join("go")).unwrap();
    symlink(elsewhere.join("missing"), home.join(".npm")).unwrap();
    make(&places);
    assert_eq!(all_below(&elsewhere), [""; 0]);
    assert_eq!(all_below(&home), [".cache", ".cargo", ".cargo/git", ".cargo/registry", ".npm", "go"]);
    assert!(!home.join(".npm").exists(), "the link leads nowhere, as before");
}

#[test]
fn no_cache_is_made_where_strangers_can_write() {
    let (_dir, home, places) = home_with(&["npm", "go"]);
    fs::create_dir(home.join("go")).unwrap();
    fs::set_permissions(home.join("go"), PermissionsExt::from_mode(0o777)).unwrap();
    make(&places);
    assert_eq!(all_below(&home), [".cache", ".cache/go-build", ".npm", "go"]);
    let (_dir, home, places) = home_with(&["npm", "go"]);
    fs::set_permissions(&home, PermissionsExt::from_mode(0o1777)).unwrap();
    make(&places);
    assert_eq!(all_below(&home), [""; 0]);
}

#[test]
fn a_cache_that_a_variable_names_is_made_at_the_end_of_its_path_only() {
    let (dir, home, mut places) = home_with(&["go", "uv", "pip3"]);
    let base = dir.path().canonicalize().unwrap();
    fs::create_dir(base.join("data")).unwrap();
    symlink("data", base.join("link")).unwrap();
    for (name, below) in
        [("GOCACHE", "data/go"), ("UV_CACHE_DIR", "data/deep/uv"), ("PIP_CACHE_DIR", "link/pip")]
    {
        places.environment.push((name.into(), base.join(below).into()));
    }
    make(&places);
    assert_eq!(all_below(&base.join("data")), ["go"]);
    assert!(home.join("go/pkg/mod").is_dir());
}
