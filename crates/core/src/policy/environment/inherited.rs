//! What passes from wharf's own environment into a command's, and what looks like a secret.
//!
//! Left out on purpose: `PWD` and `TMPDIR` (set for the command itself), `COLUMNS` and `LINES` (they would be those of
//! another terminal), `XDG_RUNTIME_DIR`, `DBUS_*`, `SSH_AUTH_SOCK`, `DISPLAY` and `WSL_INTEROP` (ways to programs outside
//! the sandbox).

use super::pattern::any;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;

/// The person, the language, the terminal.
const PERSON: &[&str] =
    &["PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR \
     CLICOLOR_FORCE EDITOR VISUAL PAGER CI DEBIAN_FRONTEND WSL_DISTRO_NAME XDG_CONFIG_HOME XDG_DATA_HOME \
     XDG_CACHE_HOME XDG_STATE_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS"];

/// Who commits. Names one by one: a pattern would pass `GIT_AUTHOR_…` of the future, whatever it does.
const IDENTITY: &[&str] =
    &["GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL \
     GIT_COMMITTER_DATE EMAIL"];

/// Which certificates are trusted: files, not keys.
const CERTIFICATES: &[&str] =
    &["SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO \
     GIT_SSL_CAPATH NIX_SSL_CERT_FILE AWS_CA_BUNDLE PIP_CERT CARGO_HTTP_CAINFO DENO_CERT"];

/// Where tools and their caches are, and how they build. The person's own values, so flags pass that a request may not
/// set freely (`MAKEFLAGS`, `GOFLAGS`).
const TOOLS: &[&str] = &[
    // Rust.
    "CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT CARGO_TARGET_DIR \
     CARGO_BUILD_JOBS CARGO_BUILD_TARGET CARGO_INCREMENTAL CARGO_NET_OFFLINE CARGO_NET_GIT_FETCH_WITH_CLI \
     CARGO_TERM_COLOR RUSTFLAGS RUSTDOCFLAGS RUST_BACKTRACE",
    // Go.
    "GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOPROXY GOPRIVATE GONOPROXY GONOSUMDB GOSUMDB GOFLAGS \
     GOTOOLCHAIN GOOS GOARCH CGO_ENABLED",
    // Java and Android.
    "JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR ANDROID_HOME \
     ANDROID_SDK_ROOT ANDROID_NDK_HOME KOTLIN_HOME SCALA_HOME",
    // JavaScript. The registry passes only without a login in it.
    "NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR DENO_INSTALL \
     N_PREFIX COREPACK_HOME NPM_CONFIG_REGISTRY npm_config_registry NPM_CONFIG_CACHE npm_config_cache \
     NPM_CONFIG_PREFIX npm_config_prefix NPM_CONFIG_CAFILE npm_config_cafile YARN_CACHE_FOLDER \
     PLAYWRIGHT_BROWSERS_PATH",
    // Python. The same for an index.
    "PYENV_ROOT PYENV_VERSION VIRTUAL_ENV VIRTUAL_ENV_PROMPT PIP_INDEX_URL PIP_EXTRA_INDEX_URL \
     PIP_CACHE_DIR UV_INDEX_URL UV_DEFAULT_INDEX UV_CACHE_DIR UV_PYTHON_INSTALL_DIR UV_TOOL_DIR \
     UV_LINK_MODE PIPX_HOME POETRY_HOME POETRY_CACHE_DIR WORKON_HOME HF_HOME",
    // Ruby, .NET, Haskell, OCaml, Erlang.
    "RBENV_ROOT RBENV_VERSION DOTNET_ROOT DOTNET_CLI_HOME DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO \
     NUGET_PACKAGES GHCUP_INSTALL_BASE_PREFIX STACK_ROOT CABAL_DIR OPAMROOT OPAM_SWITCH_PREFIX HEX_HOME \
     MIX_HOME",
    // C and C++.
    "CC CXX CPP AR LD NM RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH \
     CPLUS_INCLUDE_PATH LIBRARY_PATH MAKEFLAGS PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR \
     CCACHE_DIR SCCACHE_DIR CONAN_HOME VCPKG_ROOT CUDA_HOME CUDA_PATH SOURCE_DATE_EPOCH SDKROOT",
    // Whole systems of packages.
    "NIX_PATH NIX_PROFILES IN_NIX_SHELL LOCALE_ARCHIVE HOMEBREW_PREFIX HOMEBREW_CELLAR \
     HOMEBREW_REPOSITORY ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR SPACK_ROOT TF_PLUGIN_CACHE_DIR",
];

/// Many at once. What is dangerous or looks like a secret does not pass by these.
const MANY: &[&str] = &["LC_*", "CONDA_*", "CMAKE_*"];

const PROXIES: &[&str] = &["http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"];

/// Every variable of every command is looked up here.
static NAMED: LazyLock<HashSet<&[u8]>> = LazyLock::new(|| {
    let lists = [PERSON, IDENTITY, CERTIFICATES, TOOLS].into_iter().flatten();
    lists.flat_map(|list| list.split_ascii_whitespace()).map(str::as_bytes).collect()
});

/// On the list by its own name.
pub(super) fn is_named(name: &OsStr) -> bool {
    NAMED.contains(name.as_bytes())
}

/// On the list by a pattern.
pub(super) fn is_matched(name: &OsStr) -> bool {
    any(MANY, name.as_bytes())
}

/// Both spellings are in use, and programs differ in which of them they read.
pub(super) fn is_proxy(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let is_upper = |proxy: &str| proxy.bytes().map(|byte| byte.to_ascii_uppercase()).eq(name.iter().copied());
    PROXIES.iter().any(|proxy| proxy.as_bytes() == name || is_upper(proxy))
}

/// Anywhere in a name.
const SECRET: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATE_KEY"];

/// As one of its parts: `AUTH` is a secret, `AUTHOR` is not.
const SECRET_PART: &[&str] =
    &["*KEY", "*KEYS", "AUTH", "OAUTH", "PASS", "PAT", "PIN", "DSN", "COOKIE", "JWT", "LOGIN"];

/// Whether a name looks like that of a secret. Also what a log asks before it shows a value.
pub(crate) fn is_secret(name: &OsStr) -> bool {
    let name = name.as_bytes().to_ascii_uppercase();
    let holds = |word: &&str| name.windows(word.len()).any(|part| part == word.as_bytes());
    SECRET.iter().any(holds)
        || name.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| any(SECRET_PART, part))
}

/// Whether a value holds an address with a login: `https://user:word@host`, `https://token@host`.
pub(super) fn has_login(value: &OsStr) -> bool {
    let value = value.as_bytes();
    let schemes = value.windows(3).enumerate().filter(|(_, part)| part == b"://");
    schemes.into_iter().any(|(at, _)| {
        let rest = &value[at + 3..];
        let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b' ' | b','));
        rest[..end.unwrap_or(rest.len())].contains(&b'@')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_found_in_an_address_and_nowhere_else() {
        for with in ["https://u:p@h", "http://token@h/x", "a,https://h/,https://u:p@h/", "direct https://u@h"]
        {
            assert!(has_login(OsStr::new(with)), "{with}");
        }
        for without in
            ["https://h/a@b", "https://h?x=u@v", "a@b", "https://h", "://", "", "me@example.org https://h"]
        {
            assert!(!has_login(OsStr::new(without)), "{without}");
        }
    }

    #[test]
    fn what_looks_like_a_secret_is_told_from_what_does_not() {
        let secret = [
            "API_KEY",
            "OPENAI_API_KEY",
            "APIKEY",
            "github_token",
            "GH_PAT",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "MYSQL_PASS",
            "NPM_CONFIG__AUTH",
            "npm_config_//r.example/:_authToken",
            "SSH_AUTH_SOCK",
            "SENTRY_DSN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SSHKEY",
            "SSH_KEYS",
        ];
        for name in secret {
            assert!(is_secret(OsStr::new(name)), "{name}");
        }
        for name in
            ["GIT_AUTHOR_NAME", "PATH", "KEYBOARD", "COMPASS", "PASSENGER", "AUTHORITY", "PATIENT", "SPINNER"]
        {
            assert!(!is_secret(OsStr::new(name)), "{name}");
        }
        for list in [PERSON, IDENTITY, CERTIFICATES, TOOLS, PROXIES] {
            let mut names = list.iter().flat_map(|names| names.split_ascii_whitespace());
            assert_eq!(names.find(|name| is_secret(OsStr::new(name))), None);
        }
    }
}
