//! Variables that change what code runs: what a loader preloads, a shell sources, an interpreter imports, a tool calls.
//!
//! The list cannot be complete, and nothing rests on its being so: it keeps a command what it looks like to the rules and
//! to the person who is asked. For git it is the other way round: what is not known to be harmless is refused, because
//! most of its variables name a program or a file that names one.
//!
//! Some variables are only dangerous with some values. `PAGER=cat` is what every agent sets, `PAGER='sh -c …'` is code.

use super::pattern::any;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What is dangerous about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Danger {
    /// Any value of it.
    Always(&'static str),
    /// Any value that is not known to be harmless.
    Unless(Harmless, &'static str),
}

/// Values that change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Harmless {
    /// These.
    Values(&'static [&'static str]),
    /// Any number of these words, with spaces between them. A `#` at the end of a word is a number.
    Words(&'static [&'static str]),
    /// A shell, by its name or where systems have it.
    Shell,
}

const LOADED: &str = "it loads code into the programs that are started";
const SHELL: &str = "a shell reads or runs it before the command";
const INTERPRETER: &str = "an interpreter loads or runs what it names";
const GIT: &str = "git runs or obeys what it names";
const CALLED: &str = "programs run what it names";
const OBEYED: &str = "it names a file or options that can make a program run others";
const NAMES: &str = "it changes where names of hosts lead";

const ALWAYS: &[(&str, &[&str])] = &[
    (
        LOADED,
        &["LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH GETCONF_DIR MALLOC_TRACE TZDIR \
             OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES KRB5_CONFIG GTK_MODULES GTK_PATH GIO_MODULE_DIR \
             GIO_EXTRA_MODULES QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH GST_PLUGIN_PATH* \
             LIBGL_DRIVERS_PATH CAML_LD_LIBRARY_PATH TERMINFO TERMINFO_DIRS TERMCAP SSH_SK_PROVIDER"],
    ),
    (
        SHELL,
        &["BASH_ENV ENV SHELLOPTS BASHOPTS BASH_FUNC_* BASH_LOADABLES_PATH BASH_XTRACEFD PS0 PS1 PS2 \
             PS3 PS4 PROMPT_COMMAND CDPATH GLOBIGNORE EXECIGNORE FIGNORE IFS ZDOTDIR FPATH MODULE_PATH \
             INPUTRC KSH_ENV fish_function_path"],
    ),
    (
        INTERPRETER,
        &["NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS BUN_INSPECT_PRELOAD \
             PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONUSERBASE PYTHONPYCACHEPREFIX \
             PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTEST_PLUGINS PYTEST_ADDOPTS COVERAGE_PROCESS_START \
             IPYTHONDIR PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERL_MM_OPT PERL_MB_OPT RUBYOPT \
             RUBYLIB RUBYSHELL GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH LUA_INIT* LUA_PATH* \
             LUA_CPATH* PHPRC PHP_INI_SCAN_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS \
             CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS KOTLIN_COMPILER_OPTS SBT_OPTS ANT_OPTS ANT_ARGS \
             DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE CORECLR_* COR_* COMPlus_* \
             R_PROFILE* R_ENVIRON* R_LIBS* JULIA_LOAD_PATH JULIA_DEPOT_PATH ERL_LIBS ERL_FLAGS ERL_AFLAGS \
             ERL_ZFLAGS ELIXIR_ERL_OPTIONS GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH EMACSLOADPATH VIMINIT \
             GVIMINIT EXINIT VIMRUNTIME R_HOME TCLLIBPATH"],
    ),
    (
        CALLED,
        &["RUSTC RUSTDOC RUSTC_WORKSPACE_WRAPPER CARGO CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_* \
             CARGO_BUILD_RUSTDOC CARGO_ALIAS_* CARGO_CREDENTIAL_ALIAS_* *_CREDENTIAL_PROVIDER \
             *_CREDENTIAL_PROVIDERS GOPACKAGESDRIVER GOTOOLDIR GCC_EXEC_PREFIX COMPILER_PATH \
             CCACHE_PREFIX CCACHE_PREFIX_CPP CCACHE_COMPILER *_COMPILER_LAUNCHER *_LINKER_LAUNCHER \
             SSH_SK_HELPER SSH_PKCS11_HELPER RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH HGMERGE \
             PIP_PYTHON FZF_DEFAULT_COMMAND LESSEDIT MANROFFSEQ"],
    ),
    (
        OBEYED,
        &["MAKEFILES GNUMAKEFLAGS CMAKE_TOOLCHAIN_FILE CMAKE_PROJECT_TOP_LEVEL_INCLUDES GOENV LESSKEY* \
             MANOPT MANPATH TAR_OPTIONS ZIPOPT WGETRC RIPGREP_CONFIG_PATH FZF_DEFAULT_OPTS \
             FZF_DEFAULT_OPTS_FILE HGRCPATH PSQLRC DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE \
             TF_CLI_CONFIG_FILE ANSIBLE_CONFIG ANSIBLE_LIBRARY NIX_CONFIG NIX_USER_CONF_FILES \
             PIP_CONFIG_FILE MAILCAPS"],
    ),
    (NAMES, &["HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN", "RESOLV_HOST_CONF", "NIS_PATH"]),
];

/// What pagers and editors are set to so that nobody waits for a person. `less` with its usual flags is one of them;
/// any flag would not do, because `-k` reads a file that can name a program.
const QUIET: Harmless = Harmless::Values(&[
    "",
    "cat",
    "true",
    "false",
    ":",
    "less",
    "more",
    "less -R",
    "less -F",
    "less -X",
    "less -FR",
    "less -RF",
    "less -FX",
    "less -FRX",
    "less -RFX",
    "/bin/cat",
    "/usr/bin/cat",
    "/bin/true",
    "/usr/bin/true",
    "/bin/false",
    "/usr/bin/false",
    "/usr/bin/less",
]);
const NOBODY: Harmless = Harmless::Values(&[
    "",
    "true",
    "false",
    "echo",
    "none",
    ":",
    "/bin/true",
    "/usr/bin/true",
    "/bin/false",
    "/bin/echo",
]);
const NOTHING: Harmless = Harmless::Values(&[""]);

const UNLESS: &[(Harmless, &str, &[&str])] = &[
    (QUIET, CALLED, &["*PAGER", "EDITOR", "VISUAL", "*_EDITOR", "HGEDITOR", "FCEDIT"]),
    (NOBODY, CALLED, &["GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "BROWSER", "GH_BROWSER"]),
    (NOTHING, CALLED, &["LESSOPEN", "LESSCLOSE", "GIT_TEMPLATE_DIR"]),
    (
        Harmless::Words(&[
            "R", "-R", "F", "-F", "X", "-X", "FRX", "-FRX", "FR", "-FR", "RF", "-RF", "-S", "-i", "-M", "-FX",
        ]),
        OBEYED,
        &["LESS"],
    ),
    (Harmless::Shell, CALLED, &["SHELL"]),
    (Harmless::Values(&["", "sccache", "ccache", "cachepot"]), CALLED, &["RUSTC_WRAPPER"]),
    (Harmless::Values(&["", "0"]), INTERPRETER, &["PYTHONBREAKPOINT"]),
    // Anything longer can name a class, which is imported.
    (
        Harmless::Values(&["", "ignore", "default", "error", "always", "once", "module"]),
        INTERPRETER,
        &["PYTHONWARNINGS"],
    ),
    (
        Harmless::Words(&[
            "-j",
            "-j#",
            "j#",
            "--jobs=#",
            "-k",
            "-s",
            "-w",
            "-l#",
            "--no-print-directory",
            "--silent",
        ]),
        OBEYED,
        &["MAKEFLAGS", "MFLAGS"],
    ),
    (
        Harmless::Words(&[
            "-mod=mod",
            "-mod=vendor",
            "-mod=readonly",
            "-count=#",
            "-p=#",
            "-v",
            "-race",
            "-trimpath",
            "-modcacherw",
            "-buildvcs=false",
            "-buildvcs=true",
            "-buildvcs=auto",
            "-short",
        ]),
        OBEYED,
        &["GOFLAGS"],
    ),
];

/// Variables of git that name neither a program nor a file that could name one. Those of build servers are among them.
const GIT_HARMLESS: &[&str] =
    &["GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL \
     GIT_COMMITTER_DATE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT GIT_MERGE_VERBOSITY \
     GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS \
     GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_ADVICE GIT_FLUSH GIT_PROGRESS_DELAY GIT_CONFIG_NOSYSTEM \
     GIT_DEFAULT_HASH GIT_DEFAULT_BRANCH GIT_INDEX_FILE GIT_NO_REPLACE_OBJECTS GIT_NO_LAZY_FETCH \
     GIT_DIFF_OPTS GIT_REFLOG_ACTION GIT_TRACE GIT_TRACE_* GIT_CURL_VERBOSE GIT_HTTP_LOW_SPEED_LIMIT \
     GIT_HTTP_LOW_SPEED_TIME GIT_HTTP_USER_AGENT GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_LFS_SKIP_SMUDGE \
     GIT_PAGER_IN_USE GIT_BRANCH GIT_COMMIT GIT_COMMIT_* GIT_LOCAL_BRANCH GIT_HASH GIT_SHA GIT_REV \
     GIT_REVISION GIT_TAG GIT_URL GIT_VERSION GIT_DIRTY GIT_DEPTH"];

/// npm reads its settings from names in any case, with `-` for `_`.
const NPM: &[&str] =
    &["SCRIPT_SHELL SHELL NODE_OPTIONS GIT EDITOR VIEWER BROWSER INIT_MODULE GLOBALCONFIG USERCONFIG \
     ONLOAD_SCRIPT NODE_GYP PYTHON"];

/// What is dangerous about setting that name, if anything is.
pub(super) fn look_up(name: &OsStr) -> Option<Danger> {
    let name = name.as_bytes();
    if let Some((harmless, why, _)) = UNLESS.iter().find(|(_, _, names)| any(names, name)) {
        return Some(Danger::Unless(*harmless, why));
    }
    if let Some((why, _)) = ALWAYS.iter().find(|(_, names)| any(names, name)) {
        return Some(Danger::Always(why));
    }
    if name.starts_with(b"GIT_") && !any(GIT_HARMLESS, name) {
        return Some(Danger::Always(GIT));
    }
    let runs_target = any(&["*_RUNNER", "*_LINKER"], name) && name.starts_with(b"CARGO_TARGET_");
    (runs_target || is_npm(name)).then_some(Danger::Always(CALLED))
}

fn is_npm(name: &[u8]) -> bool {
    let name: Vec<u8> = name.iter().map(|byte| byte.to_ascii_uppercase()).collect();
    let name: Vec<u8> = name.iter().map(|byte| if *byte == b'-' { b'_' } else { *byte }).collect();
    name.strip_prefix(b"NPM_CONFIG_").is_some_and(|setting| any(NPM, setting))
}

impl Harmless {
    /// Whether this value is one of them.
    pub(super) fn covers(self, value: &OsStr) -> bool {
        let Some(value) = value.to_str() else { return false };
        match self {
            Self::Values(values) => values.contains(&value),
            Self::Words(words) => value.split(' ').all(|word| word.is_empty() || is_one(words, word)),
            Self::Shell => is_shell(value),
        }
    }
}

fn is_one(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| match known.strip_suffix('#') {
        Some(start) => word.strip_prefix(start).is_some_and(is_number),
        None => *known == word,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "nu"];
const SHELL_PLACES: &[&str] = &["", "/bin/", "/usr/bin/", "/usr/local/bin/", "/run/current-system/sw/bin/"];

fn is_shell(value: &str) -> bool {
    SHELL_PLACES.iter().any(|place| value.strip_prefix(place).is_some_and(|name| SHELLS.contains(&name)))
}
