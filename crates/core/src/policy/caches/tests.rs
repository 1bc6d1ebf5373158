//! What is a cache and what is not, by a table; and which are made where, by real directories and links.

use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn places(environment: &[(&str, &str)]) -> Places {
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Places { home: Some("/users/u".into()), environment, ..Places::default() }
}

/// How a path is written: as the innermost of all caches that it is in.
fn kind(places: &Places, path: &str) -> Option<Kind> {
    let all = listed(places);
    let around = all.iter().filter(|cache| Path::new(path).starts_with(&cache.path));
    around.max_by_key(|cache| cache.path.as_os_str().len()).map(|cache| cache.kind)
}

fn writes(places: &Places, path: &str) -> bool {
    kind(places, path) == Some(Kind::Shared)
}

#[test]
fn caches_are_writable_and_what_is_beside_them_is_not() {
    let places =
        places(&[("PATH", "/usr/bin:/users/u/.cargo/bin:/users/u/.local/bin:/users/u/.local/share/pnpm")]);
    let writable = [
        "/users/u/.cache/pip/x",
        "/users/u/.cache/huggingface/hub/x",
        "/users/u/.cache/go-build",
        "/users/u/.cargo/registry/cache/x",
        "/users/u/.cargo/.package-cache",
        "/users/u/.npm/_cacache",
        "/users/u/go/pkg/mod/cache/download/example.org/x",
        "/users/u/.cache/pypoetry/artifacts/x",
        "/users/u/.cache/helm/repository/x",
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
        assert_eq!(kind(&places, path), None, "{path}");
    }
}

/// Tools and places: what the tool, or what starts it, runs or links from there without a build.
#[test]
fn what_tools_run_by_themselves_is_written_for_the_session_alone() {
    let places = places(&[("PATH", "/usr/bin:/users/u/.local/share/pnpm"), ("GOMODCACHE", "/data/mod")]);
    let layered = [
        ("npx", "/users/u/.npm/_npx/1234/node_modules/.bin/server"),
        ("uv, uvx", "/users/u/.cache/uv/archive-v0/x/module.py"),
        ("poetry", "/users/u/.cache/pypoetry/virtualenvs/other-py3/bin/python"),
        ("pnpm dlx", "/users/u/.cache/pnpm/dlx/x"),
        ("pnpm", "/users/u/.local/share/pnpm/store/v10/files/00/x"),
        ("bun", "/users/u/.bun/install/cache/x"),
        ("yarn PnP", "/users/u/.yarn/berry/cache/x.zip"),
        ("deno", "/users/u/.cache/deno/npm/x"),
        ("rust-analyzer", "/users/u/.cargo/registry/src/index/x-1.0/build.rs"),
        ("rust-analyzer", "/users/u/.cargo/git/checkouts/x/build.rs"),
        ("go", "/users/u/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.25.0.linux-amd64/bin/go"),
        ("go", "/users/u/go/pkg/mod/cache/download/golang.org/toolchain/@v/x.zip"),
        ("go", "/users/u/go/pkg/mod/cache/vcs/x/config"),
        ("go", "/data/mod/golang.org/toolchain@v0.0.1-go1.25.0.linux-amd64/bin/go"),
        ("go", "/data/mod/cache/download/golang.org/toolchain/@v/x.zip"),
        ("gradlew", "/users/u/.gradle/wrapper/dists/x"),
        ("gradle", "/users/u/.gradle/native/x/libnative-platform.so"),
        ("an editor with gradle", "/users/u/.gradle/caches/modules-2/x"),
        ("mvnw", "/users/u/.m2/wrapper/dists/x"),
        ("an editor with maven", "/users/u/.m2/repository/x"),
        ("sbt", "/users/u/.sbt/boot/x"),
        ("coursier", "/users/u/.cache/coursier/v1/x.jar"),
        ("bazel", "/users/u/.cache/bazel/_bazel_u/install/x/server.jar"),
        ("an editor with dotnet", "/users/u/.nuget/packages/x/analyzers/x.dll"),
        ("cabal", "/users/u/.cabal/store/ghc/x/bin/x"),
        ("zls", "/users/u/.cache/zig/o/x/build"),
        ("ocamllsp", "/users/u/.cache/dune/db/files/x"),
        ("renv", "/users/u/.cache/R/renv/cache/x"),
        ("a server of an agent", "/users/u/.cache/ms-playwright/chromium-1/chrome"),
        ("terraform", "/users/u/.terraform.d/plugin-cache/x"),
        ("git", "/users/u/.cache/composer/vcs/x/config"),
    ];
    for (tool, path) in layered {
        assert!(matches!(kind(&places, path), Some(Kind::Layered | Kind::Inner)), "{tool}: {path}");
    }
    let not = [
        ("tsserver", "/users/u/.cache/typescript/5.9/.npmrc"),
        ("black", "/users/u/.cache/black/25.1.0/cache.x.pickle"),
        ("pylint", "/users/u/.cache/pylint/x.stats"),
        ("helm", "/users/u/.cache/helm/plugins/x"),
        ("gradle", "/users/u/.gradle/daemon/8.10/registry.bin"),
    ];
    for (tool, path) in not {
        assert_eq!(kind(&places, path), None, "{tool}: {path}");
    }
    assert_eq!(caches(&places).kept, [Path::new("/users/u/.ccache/ccache.conf")]);
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
    assert_eq!(caches(&places).kept, [Path::new("/users/u/.ccache/ccache.conf")]);
    let hidden = places.secrets();
    for Cache { path: cache, .. } in listed(&places) {
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
    for path in [
        "/opt/cargo/registry/cache/x",
        "/data/go/pkg/mod/cache/download",
        "/data/cache/pip/x",
        "/users/u/.npm/_cacache",
    ] {
        assert!(writes(&moved, path), "{path}");
    }
    for path in [
        "/users/u/.cargo/registry/cache",
        "/opt/cargo/bin",
        "/users/u/.cache/pip",
        "/data/go/bin",
        "/x/y/pkg/mod",
    ] {
        assert_eq!(kind(&moved, path), None, "{path}");
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
        assert!(!listed(&places).iter().any(|cache| cache.path == Path::new(value)), "{value}");
    }
    let in_cache = places(&[("SSH_AUTH_SOCK", "/users/u/.cache/agent/sock")]);
    assert!(writes(&in_cache, "/users/u/.cache/pip"));
    let places = places(&[("PIP_CACHE_DIR", "/users/u/.deno/bin/x"), ("PATH", "/users/u/.deno/bin")]);
    assert_eq!(kind(&places, "/users/u/.deno/bin/x"), None);
}

#[test]
fn programs_inside_a_cache_are_named() {
    let places =
        places(&[("PATH", "/usr/bin:/users/u/.cache/pip/bin:/users/u/.cargo/bin:/users/u/.cache/uv/bin")]);
    assert!(writes(&places, "/users/u/.cache/pip/x"));
    assert!(caches(&places).kept.contains(&PathBuf::from("/users/u/.cache/pip/bin")));
    assert_eq!(caches(&places).kept.len(), 2);
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
    let expected = [
        ".cache",
        ".cache/go-build",
        ".npm",
        ".npm/_cacache",
        ".npm/_logs",
        "go",
        "go/pkg",
        "go/pkg/mod",
        "go/pkg/mod/cache",
        "go/pkg/mod/cache/download",
        "go/pkg/mod/cache/download/golang.org",
        "go/pkg/sumdb",
    ];
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
    assert_eq!(
        all_below(&home),
        [".cache", ".cargo", ".cargo/git", ".cargo/registry", ".cargo/registry/cache", ".npm", "go"]
    );
    assert!(!home.join(".npm").exists(), "the link leads nowhere, as before");
}

#[test]
fn no_cache_is_made_where_strangers_can_write() {
    let (_dir, home, places) = home_with(&["npm", "go"]);
    fs::create_dir(home.join("go")).unwrap();
    fs::set_permissions(home.join("go"), PermissionsExt::from_mode(0o777)).unwrap();
    make(&places);
    assert_eq!(all_below(&home), [".cache", ".cache/go-build", ".npm", ".npm/_cacache", ".npm/_logs", "go"]);
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
