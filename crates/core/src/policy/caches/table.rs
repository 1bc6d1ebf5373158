//! Which directories are caches of which tools, and what of them is more than that.
//!
//! A line is the variable that moves a directory, its usual place under home, what of it is meant (all of it if nothing is
//! said), and the program for whose sake it is made if it is missing. Where there is no usual place, it exists only if the
//! variable names it. What is usually in `~/.cache` or `~/.local/share` goes with the variables that move those.

/// One line.
pub(super) type Line = (&'static str, &'static str, &'static [&'static str], &'static str);

/// Shared with builds outside. What is put here is used by the next build: packages as they were downloaded, compiled
/// objects, indexes. Nothing in it is run, or linked into something that is, unless somebody builds.
pub(super) const SHARED: &[Line] = &[
    // Python. Of Hugging Face and PyTorch what is downloaded, without tokens and without code.
    ("PIP_CACHE_DIR", ".cache/pip", &[], "pip3"),
    ("POETRY_CACHE_DIR", ".cache/pypoetry", &["artifacts", "cache"], "poetry"),
    ("PIPENV_CACHE_DIR", ".cache/pipenv", &[], "pipenv"),
    ("", ".cache/matplotlib", &[], ""),
    ("HF_HOME", ".cache/huggingface", &["hub", "datasets", "xet"], ""),
    ("", ".cache/torch", &["hub/checkpoints", "kernels"], ""),
    // JavaScript.
    ("NPM_CONFIG_CACHE", ".npm", &["_cacache", "_logs"], "npm"),
    ("npm_config_cache", "", &["_cacache", "_logs"], "npm"),
    ("", ".cache/yarn", &[], "yarn"),
    ("YARN_GLOBAL_FOLDER", ".yarn/berry", &["index", "metadata"], "yarn"),
    ("", ".cache/node-gyp", &[], "node"),
    ("", ".cache/electron", &[], ""),
    // Go, Rust, C and others that compile.
    ("GOCACHE", ".cache/go-build", &[], "go"),
    ("GOPATH", "go", &["pkg/mod/cache/download", "pkg/sumdb"], "go"),
    ("GOMODCACHE", "", &["cache/download"], "go"),
    ("", ".cache/golangci-lint", &[], ""),
    ("", ".cache/gopls", &[], ""),
    ("", ".cache/staticcheck", &[], ""),
    ("CARGO_HOME", ".cargo", &["registry/cache"], "cargo"),
    // Not `.global-cache-journal`, which is there for moments only: a sandbox that was to have it could not be set up.
    ("CARGO_HOME", ".cargo", &[".package-cache", ".package-cache-mutate", ".global-cache"], ""),
    ("SCCACHE_DIR", ".cache/sccache", &[], "sccache"),
    ("", ".sccache", &[], ""),
    ("CCACHE_DIR", ".ccache", &[], ""),
    ("", ".cache/ccache", &[], "ccache"),
    ("", ".cache/vcpkg", &[], ""),
    ("", ".cache/clangd", &[], ""),
    ("", ".cache/cabal", &[], ""),
    ("CABAL_DIR", ".cabal", &["packages"], ""),
    ("STACK_ROOT", ".stack", &["pantry"], ""),
    ("", ".cache/ghcide", &[], ""),
    ("GRADLE_USER_HOME", ".gradle", &["notifications", ".tmp"], "gradle"),
    ("", ".local/share/NuGet", &["http-cache", "v3-cache"], "dotnet"),
    ("HEX_HOME", ".hex", &["packages", "cache.ets"], ""),
    ("", ".cache/rebar3/hex", &[], ""),
    ("", ".cache/elixir_make", &[], ""),
    ("PUB_CACHE", ".pub-cache", &["hosted-hashes", "_temp"], ""),
    ("COMPOSER_CACHE_DIR", ".cache/composer", &["files", "repo"], "composer"),
    ("", ".composer/cache", &["files", "repo"], ""),
    ("", ".cache/rubocop_cache", &[], ""),
    // What builds of documents and pictures make again and again. Of Helm not the plugins.
    ("", ".cache/fontconfig", &[], ""),
    ("", ".cache/mesa_shader_cache", &[], ""),
    ("", ".cache/mesa_shader_cache_db", &[], ""),
    ("", ".cache/Tectonic", &[], ""),
    ("", ".cache/typst", &[], ""),
    ("", ".cache/helm", &["repository"], ""),
];

/// Written for the session alone: tools, editors and agents run what is in it by themselves, or link it into places from
/// which they do.
pub(super) const LAYERED: &[Line] = &[
    // Environments and commands that are started from here: of `uvx`, `npx`, `pnpm dlx`, Poetry.
    ("UV_CACHE_DIR", ".cache/uv", &[], "uv"),
    ("POETRY_CACHE_DIR", ".cache/pypoetry", &[], "poetry"),
    ("NPM_CONFIG_CACHE", ".npm", &[], "npm"),
    ("npm_config_cache", "", &[], "npm"),
    ("", ".cache/pnpm", &[], "pnpm"),
    ("DENO_DIR", ".cache/deno", &[], "deno"),
    // Stores whose files are linked into projects.
    ("PDM_CACHE_DIR", ".cache/pdm", &[], "pdm"),
    ("XDG_DATA_HOME", ".local/share", &["pnpm/store"], "pnpm"),
    ("PNPM_HOME", ".local/share/pnpm", &["store"], ""),
    ("", ".pnpm-store", &[], ""),
    ("BUN_INSTALL", ".bun", &["install/cache"], "bun"),
    ("YARN_GLOBAL_FOLDER", ".yarn/berry", &["cache"], "yarn"),
    ("YARN_CACHE_FOLDER", "", &[], "yarn"),
    ("DUNE_CACHE_ROOT", ".cache/dune", &[], "dune"),
    ("", ".cache/R", &[], ""),
    // Code that language servers run on opening a project: build scripts, plugins, annotation processors, analyzers.
    ("CARGO_HOME", ".cargo", &["registry", "git"], "cargo"),
    ("ZIG_GLOBAL_CACHE_DIR", ".cache/zig", &[], "zig"),
    ("CPM_SOURCE_CACHE", ".cache/CPM", &[], ""),
    ("NUGET_PACKAGES", ".nuget/packages", &[], "dotnet"),
    ("GRADLE_USER_HOME", ".gradle", &["caches", "native", "kotlin"], "gradle"),
    ("", ".m2/repository", &[], "mvn"),
    ("", ".ivy2/cache", &[], ""),
    ("COURSIER_CACHE", ".cache/coursier/v1", &[], ""),
    ("PUB_CACHE", ".pub-cache", &["hosted", "git"], ""),
    // The tools themselves, toolchains, and programs that tests and servers of agents drive.
    ("GOPATH", "go", &["pkg/mod"], "go"),
    ("GOMODCACHE", "", &[], "go"),
    ("GRADLE_USER_HOME", ".gradle", &["wrapper"], "gradle"),
    ("", ".m2/wrapper", &[], ""),
    ("", ".sbt/boot", &[], ""),
    ("", ".cache/bazel", &[], "bazel"),
    ("", ".cache/next-swc", &[], ""),
    ("", ".cache/prisma", &[], ""),
    ("ELECTRON_BUILDER_CACHE", ".cache/electron-builder", &[], ""),
    ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", &[], ""),
    ("PUPPETEER_CACHE_DIR", ".cache/puppeteer", &[], ""),
    ("CYPRESS_CACHE_FOLDER", ".cache/Cypress", &[], ""),
    ("TF_PLUGIN_CACHE_DIR", ".terraform.d/plugin-cache", &[], ""),
    ("CONAN_HOME", ".conan2", &["p"], ""),
    ("CABAL_DIR", ".cabal", &["store"], ""),
    // Repositories in which git is run, and does what their configuration says.
    ("COMPOSER_CACHE_DIR", ".cache/composer", &[], "composer"),
    ("", ".composer/cache", &[], ""),
    ("", ".cache/org.swift.swiftpm", &[], ""),
];

/// The same in the middle of what is shared: where Go keeps its toolchains as they were downloaded.
pub(super) const INNER: &[Line] = &[
    ("GOPATH", "go", &["pkg/mod/cache/download/golang.org"], "go"),
    ("GOMODCACHE", "", &["cache/download/golang.org"], "go"),
];

/// What stays as it is in a cache, and must not be made there: settings that name programs. What is usually in `~/.cache`
/// has its settings elsewhere.
pub(super) const KEPT: &[Line] = &[("CCACHE_DIR", ".ccache", &["ccache.conf"], "")];

/// Where a cache cannot be written, tools that let themselves be told use one of the session instead: the place, which
/// variables tell them, and what of the place is usable there all the same.
pub(super) const MOVED: &[(&str, &str, &[&str], &[&str])] = &[
    ("UV_CACHE_DIR", ".cache/uv", &["UV_CACHE_DIR"], &[]),
    ("POETRY_CACHE_DIR", ".cache/pypoetry", &["POETRY_CACHE_DIR"], &["artifacts", "cache"]),
    ("PDM_CACHE_DIR", ".cache/pdm", &["PDM_CACHE_DIR"], &[]),
    ("NPM_CONFIG_CACHE", ".npm", &["NPM_CONFIG_CACHE", "npm_config_cache"], &["_cacache"]),
    ("npm_config_cache", "", &["NPM_CONFIG_CACHE", "npm_config_cache"], &["_cacache"]),
    // Not the variables that begin with npm's name, of which npm itself says every time that it does not know them.
    ("", ".cache/pnpm", &["pnpm_config_cache_dir"], &[]),
    ("PNPM_HOME", ".local/share/pnpm", &["PNPM_HOME"], &[]),
    ("BUN_INSTALL", ".bun", &["BUN_INSTALL_CACHE_DIR"], &[]),
    ("YARN_GLOBAL_FOLDER", ".yarn/berry", &["YARN_GLOBAL_FOLDER"], &["index", "metadata"]),
    ("YARN_CACHE_FOLDER", "", &["YARN_CACHE_FOLDER"], &[]),
    ("DENO_DIR", ".cache/deno", &["DENO_DIR"], &[]),
    ("GOPATH", "go", &["GOMODCACHE"], &[]),
    ("GOMODCACHE", "", &["GOMODCACHE"], &[]),
    (
        "CARGO_HOME",
        ".cargo",
        &["CARGO_HOME"],
        &["registry/cache", ".package-cache", "config.toml", "config", "bin"],
    ),
    ("CCACHE_DIR", ".ccache", &["CCACHE_DIR"], &[]),
    ("ZIG_GLOBAL_CACHE_DIR", ".cache/zig", &["ZIG_GLOBAL_CACHE_DIR"], &[]),
    ("DUNE_CACHE_ROOT", ".cache/dune", &["DUNE_CACHE_ROOT"], &[]),
    ("NUGET_PACKAGES", ".nuget/packages", &["NUGET_PACKAGES"], &[]),
    ("GRADLE_USER_HOME", ".gradle", &["GRADLE_USER_HOME"], &["init.d", "init.gradle", "init.gradle.kts"]),
    ("COURSIER_CACHE", ".cache/coursier/v1", &["COURSIER_CACHE"], &[]),
    ("COMPOSER_CACHE_DIR", ".cache/composer", &["COMPOSER_CACHE_DIR"], &["files", "repo"]),
    ("TF_PLUGIN_CACHE_DIR", ".terraform.d/plugin-cache", &["TF_PLUGIN_CACHE_DIR"], &[]),
];

/// What tells tools to copy: a link cannot lead out of a layer, nor out of temporary files, and they would say so every time.
pub(super) const COPIED: &[(&str, &str, &str, &str)] = &[
    ("UV_CACHE_DIR", ".cache/uv", "UV_LINK_MODE", "copy"),
    ("DUNE_CACHE_ROOT", ".cache/dune", "DUNE_CACHE_STORAGE_MODE", "copy"),
];

/// Caches that are made again in no time and that their tools run (`pickle`), so that each session has its own.
pub(super) const OWN: &[(&str, &str)] = &[("BLACK_CACHE_DIR", "black"), ("PYLINTHOME", "pylint")];
