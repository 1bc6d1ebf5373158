//! Every kind of name with its two verdicts: whether it is inherited, and whether a request may set it.

use super::*;
use std::os::unix::ffi::OsStringExt;

/// Inherited, and may be set.
const BOTH: &[(&str, &str)] = &[
    ("PATH", "/usr/bin:/bin"),
    ("HOME", "/users/u"),
    ("USER", "u"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "C"),
    ("LC_WHATEVER", "C"),
    ("TZ", "Europe/Berlin"),
    ("TERM", "xterm"),
    ("NO_COLOR", "1"),
    ("CLICOLOR_FORCE", "1"),
    ("XDG_CONFIG_HOME", "/users/u/.config"),
    ("XDG_CACHE_HOME", "/users/u/.cache"),
    ("http_proxy", "http://proxy:3128"),
    ("HTTPS_PROXY", "http://user:word@proxy:3128"),
    ("no_proxy", "localhost"),
    ("ALL_PROXY", "socks5h://user:word@proxy:1080"),
    ("SSL_CERT_FILE", "/etc/ssl/cert.pem"),
    ("NODE_EXTRA_CA_CERTS", "/etc/ssl/own.pem"),
    ("GIT_SSL_CAINFO", "/etc/ssl/own.pem"),
    ("GIT_AUTHOR_NAME", "U"),
    ("GIT_COMMITTER_EMAIL", "u@example.org"),
    ("CARGO_HOME", "/users/u/.cargo"),
    ("RUSTUP_TOOLCHAIN", "stable"),
    ("RUSTFLAGS", "-D warnings"),
    ("GOPATH", "/users/u/go"),
    ("GOPROXY", "https://proxy.example"),
    ("JAVA_HOME", "/usr/lib/jvm/x"),
    ("VIRTUAL_ENV", "/w/.venv"),
    ("CONDA_PREFIX", "/opt/conda"),
    ("PIP_INDEX_URL", "https://pypi.example/simple"),
    ("npm_config_registry", "https://npm.example"),
    ("CC", "clang"),
    ("CFLAGS", "-O2"),
    ("CMAKE_PREFIX_PATH", "/opt/x"),
    ("MAKEFLAGS", "-j4 -k"),
    ("GOFLAGS", "-mod=vendor -count=1"),
    ("CI", "true"),
    ("PAGER", "cat"),
    ("EDITOR", "true"),
    ("SHELL", "/bin/bash"),
];

/// Inherited because the person set it; a request may not set it to that.
const INHERITED: &[(&str, &str)] = &[
    ("EDITOR", "nvim"),
    ("VISUAL", "code --wait"),
    ("PAGER", "sh -c id"),
    ("SHELL", "/w/my-shell"),
    ("MAKEFLAGS", "-j4 --eval=$(shell,id)"),
    ("GOFLAGS", "-toolexec=/w/x"),
];

/// Not inherited, and a request may set it.
const SETTABLE: &[(&str, &str)] = &[
    ("PWD", "/w"),
    ("TMPDIR", "/tmp"),
    ("COLUMNS", "80"),
    ("XDG_RUNTIME_DIR", "/run/user/1000"),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
    ("SSH_AUTH_SOCK", "/tmp/ssh/agent"),
    ("DISPLAY", ":0"),
    ("WSL_INTEROP", "/run/WSL/1_interop"),
    ("OPENAI_API_KEY", "sk-1"),
    ("GITHUB_TOKEN", "ghp"),
    ("AWS_SECRET_ACCESS_KEY", "x"),
    ("LC_API_KEY", "x"),
    ("CONDA_TOKEN", "x"),
    ("CMAKE_SIGNING_PASSWORD", "x"),
    ("DATABASE_URL", "postgres://u:p@h/db"),
    ("PIP_INDEX_URL", "https://user:word@pypi.example/simple"),
    ("GOPROXY", "https://token@proxy.example,direct"),
    ("LC_URL", "https://u:p@h"),
    ("MY_VARIABLE", "1"),
    ("RUST_LOG", "debug"),
    ("NODE_ENV", "test"),
    ("DEBUG", "*"),
    ("MALLOC_ARENA_MAX", "2"),
    ("PYTHONUNBUFFERED", "1"),
    ("PYTHONWARNINGS", "ignore"),
    ("PYTHONBREAKPOINT", "0"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", ""),
    ("MANPAGER", "less -R"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_INDEX_FILE", "/w/.git/other-index"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", "/bin/false"),
    ("BROWSER", "none"),
    ("LESSOPEN", ""),
    ("GIT_TEMPLATE_DIR", ""),
    ("LESS", "-FRX"),
    ("RUSTC_WRAPPER", "sccache"),
    ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-C target-cpu=native"),
    ("npm_config_loglevel", "silent"),
    ("LDX", "1"),
    ("ENVIRONMENT", "test"),
];

/// Neither: code.
const NEITHER: &[(&str, &str)] = &[
    ("LD_PRELOAD", "/w/x.so"),
    ("LD_LIBRARY_PATH", "/w"),
    ("LD_AUDIT", "/w/x.so"),
    ("LD_PRELOAD", ""),
    ("DYLD_INSERT_LIBRARIES", "x"),
    ("GLIBC_TUNABLES", "x"),
    ("GCONV_PATH", "/w"),
    ("BASH_ENV", "/w/x"),
    ("ENV", "/w/x"),
    ("SHELLOPTS", "xtrace"),
    ("BASHOPTS", "x"),
    ("PS4", "$(id)"),
    ("PS1", "$(id)"),
    ("PROMPT_COMMAND", "id"),
    ("BASH_FUNC_ls%%", "() { id; }"),
    ("CDPATH", "/w"),
    ("IFS", "x"),
    ("GLOBIGNORE", "*"),
    ("ZDOTDIR", "/w"),
    ("FPATH", "/w"),
    ("NODE_OPTIONS", "--require /w/x.js"),
    ("NODE_PATH", "/w"),
    ("PYTHONSTARTUP", "/w/x.py"),
    ("PYTHONPATH", "/w"),
    ("PYTHONHOME", "/w"),
    ("PYTHONUSERBASE", "/w"),
    ("PERL5OPT", "-Mx"),
    ("PERL5LIB", "/w"),
    ("RUBYOPT", "-rx"),
    ("RUBYLIB", "/w"),
    ("LUA_INIT_5_4", "os.execute('id')"),
    ("PHPRC", "/w"),
    ("JAVA_TOOL_OPTIONS", "-javaagent:x"),
    ("_JAVA_OPTIONS", "-javaagent:x"),
    ("CLASSPATH", "/w"),
    ("DOTNET_STARTUP_HOOKS", "/w/x.dll"),
    ("COMPlus_Thing", "1"),
    ("GIT_SSH", "/w/x"),
    ("GIT_SSH_COMMAND", "id"),
    ("GIT_PROXY_COMMAND", "id"),
    ("GIT_EXTERNAL_DIFF", "id"),
    ("GIT_EXEC_PATH", "/w"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_GLOBAL", "/w/x"),
    ("GIT_CONFIG_PARAMETERS", "'alias.x'='!id'"),
    ("GIT_DIR", "/w/x"),
    ("GIT_COMMON_DIR", "/w/x"),
    ("GIT_ALLOW_PROTOCOL", "ext"),
    ("GIT_SOMETHING_NEW", "1"),
    ("MAKEFILES", "/w/x"),
    ("RUSTC", "/w/x"),
    ("RUSTC_WORKSPACE_WRAPPER", "/w/x"),
    ("CARGO_BUILD_RUSTC_WRAPPER", "/w/x"),
    ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "/w/x"),
    ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "/w/x"),
    ("CMAKE_C_COMPILER_LAUNCHER", "/w/x"),
    ("CMAKE_TOOLCHAIN_FILE", "/w/x"),
    ("npm_config_script_shell", "/w/x"),
    ("NPM_CONFIG_SCRIPT_SHELL", "/w/x"),
    ("npm_config_node-options", "--require x"),
    ("HOSTALIASES", "/w/x"),
    ("RES_OPTIONS", "x"),
    ("OPENSSL_CONF", "/w/x"),
    ("TERMINFO", "/w"),
    ("KUBECONFIG", "/w/x"),
    ("TAR_OPTIONS", "--to-command=id"),
];

/// Neither: fine with another value.
const NEITHER_WITH_THIS: &[(&str, &str)] = &[
    ("GIT_PAGER", "sh -c id"),
    ("GIT_PAGER", "cat;id"),
    ("GIT_PAGER", " cat"),
    ("GIT_EDITOR", "/w/x"),
    ("MANPAGER", "less -k/w/x"),
    ("KUBE_EDITOR", "vim"),
    ("GIT_ASKPASS", "/w/x"),
    ("BROWSER", "/w/x"),
    ("LESSOPEN", "|id"),
    ("GIT_TEMPLATE_DIR", "/w"),
    ("LESS", "--lesskey-content=x"),
    ("LESS", "-R -k/w/x"),
    ("RUSTC_WRAPPER", "/w/sccache"),
    ("PYTHONWARNINGS", "all:0:antigravity.x:0:0"),
    ("PYTHONBREAKPOINT", "os.system"),
];

/// Neither, ever.
const OWN_NAMES: &[(&str, &str)] = &[("WHARF_TERMINAL", "x"), ("WHARF_STATE_DIR", "/w"), ("WHARF_", "")];

fn verdict(environment: &Environment, name: &str, value: &str) -> (bool, &'static str) {
    let offered = [(OsString::from(name), OsString::from(value))];
    let inherited = environment.inherit(&offered) == offered;
    (
        inherited,
        environment
            .judge(name.as_ref(), value.as_ref())
            .map_or_else(|refused| code(&refused), |()| "allowed"),
    )
}

#[test]
fn every_name_has_its_two_verdicts() {
    let environment = Environment::default();
    let tables = [
        (BOTH, (true, "allowed")),
        (INHERITED, (true, "env_dangerous_value")),
        (SETTABLE, (false, "allowed")),
        (NEITHER, (false, "env_dangerous")),
        (NEITHER_WITH_THIS, (false, "env_dangerous_value")),
        (OWN_NAMES, (false, "env_reserved")),
    ];
    for (table, expected) in tables {
        for (name, value) in table {
            assert_eq!(verdict(&environment, name, value), expected, "{name}={value}");
        }
    }
    assert!(tables.iter().map(|(table, _)| table.len()).sum::<usize>() >= 160);
}

#[test]
fn a_policy_passes_more_but_by_a_pattern_no_secret_and_no_code() {
    let pass = ["MY_*", "GIT_*", "LD_*", "*_TOKEN", "EXACT_TOKEN", "LD_LIBRARY_PATH", "DATABASE_URL"]
        .map(String::from);
    let environment = Environment::new(&pass, &[]).unwrap();
    let cases = [
        ("MY_TOOL", "1", true),
        ("MY_API_KEY", "1", false),
        ("MY_URL", "https://h", true),
        ("MY_URL", "https://u:p@h", false),
        ("GIT_TERMINAL_PROMPT", "0", true),
        ("GIT_SSH_COMMAND", "ssh -v", false),
        ("LD_PRELOAD", "x", false),
        ("LD_LIBRARY_PATH", "/opt/lib", true),
        ("OTHER_TOKEN", "x", false),
        ("EXACT_TOKEN", "x", true),
        ("DATABASE_URL", "postgres://u:p@h", true),
        ("OTHER", "1", false),
        ("WHARF_X", "1", false),
    ];
    for (name, value, passes) in cases {
        assert_eq!(verdict(&environment, name, value).0, passes, "{name}={value}");
    }
    // Passing what is the person's own permits nothing to a request.
    assert_eq!(verdict(&environment, "LD_LIBRARY_PATH", "/w").1, "env_dangerous");
}

#[test]
fn a_policy_permits_dangerous_names_to_requests() {
    let allow = ["NODE_OPTIONS", "PYTHON*", "GIT_PAGER"].map(String::from);
    let environment = Environment::new(&[], &allow).unwrap();
    let cases = [
        ("NODE_OPTIONS", "--require x", "allowed"),
        ("NODE_PATH", "x", "env_dangerous"),
        ("PYTHONPATH", "src", "allowed"),
        ("GIT_PAGER", "delta", "allowed"),
        ("PAGER", "delta", "env_dangerous_value"),
        ("WHARF_X", "", "env_reserved"),
    ];
    for (name, value, expected) in cases {
        // What a request may set is not therefore inherited.
        assert_eq!(verdict(&environment, name, value).1, expected, "{name}");
    }
    assert!(!verdict(&environment, "NODE_OPTIONS", "x").0);
    assert!(Environment::new(&[], &["*".into()]).is_err());
}

#[test]
fn a_refusal_says_which_name_why_and_what_to_do_and_never_the_value() {
    let refused =
        Environment::default().judge("LD_PRELOAD".as_ref(), "/hidden/place.so".as_ref()).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("LD_PRELOAD") && text.contains("loads code") && text.contains("`allow`"), "{text}");
    assert!(!text.contains("hidden"), "{text}");
    let pairs = [("A", "1"), ("PS4", "x"), ("ENV", "y")].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(Environment::default().judge_all(&pairs).unwrap_err().name, "PS4");
}

#[test]
fn names_and_values_that_are_no_text_are_judged_too() {
    let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let environment = Environment::default();
    assert!(environment.judge(&bytes(b"LD_\xff"), OsStr::new("x")).is_err());
    assert!(environment.judge(&bytes(b"X\xff"), &bytes(b"\xff")).is_ok());
    assert!(environment.judge(OsStr::new("PAGER"), &bytes(b"cat\xff")).is_err());
    assert_eq!(environment.inherit(&[(bytes(b"PATH"), bytes(b"/\xff"))]).len(), 1);
    assert_eq!(environment.inherit(&[(bytes(b"PATH\xff"), bytes(b"/"))]).len(), 0);
}

/// In a word.
fn code(refused: &Refused) -> &'static str {
    match refused.why {
        Why::Own => "env_reserved",
        Why::Dangerous(_) => "env_dangerous",
        Why::Value(_) => "env_dangerous_value",
    }
}
