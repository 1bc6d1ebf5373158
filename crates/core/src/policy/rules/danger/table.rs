//! The table: programs, what to look for among their arguments, and why.

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// These letters in a group of short options, these long options.
    Options { short: &'static str, long: &'static [&'static str] },
    /// Arguments that begin so.
    Starts(&'static [&'static str]),
    /// These words.
    Words(&'static [&'static str]),
    /// Arguments with these in them, in any case of letters.
    Contains(&'static [&'static str]),
    /// These letters in a first argument without a dash.
    First(&'static str),
    /// `NAME=value`.
    Assigns,
    /// Any argument.
    Every,
    /// A sed script that does more than print and replace.
    Sed,
    /// An awk program that does more than compute.
    Awk,
}

/// One line of the table.
pub(super) struct Row {
    pub(super) names: &'static [&'static str],
    pub(super) check: Check,
    pub(super) why: &'static str,
}

const fn row(names: &'static [&'static str], check: Check, why: &'static str) -> Row {
    Row { names, check, why }
}

const fn options(short: &'static str, long: &'static [&'static str]) -> Check {
    Check::Options { short, long }
}

/// Why, for rows that share it.
const RUNS: &str = "it runs another program";
const WRITES: &str = "it writes a file of its choice";
const READS_OPTIONS: &str = "it reads more options from a file";
const CODE: &str = "it runs code from the command line";

pub(super) const TABLE: &[Row] = &[
    row(&["find", "gfind"], Check::Starts(&["-exec", "-ok"]), RUNS),
    row(&["find", "gfind"], Check::Words(&["-delete"]), "it deletes what it finds"),
    row(&["find", "gfind"], Check::Starts(&["-fprint", "-fls"]), WRITES),
    row(&["fd", "fdfind"], options("xX", &["exec", "exec-batch"]), RUNS),
    row(
        &["tar", "gtar", "bsdtar"],
        options(
            "IF",
            &[
                "to-command",
                "checkpoint-action",
                "use-compress-program",
                "rsh-command",
                "rmt-command",
                "info-script",
            ],
        ),
        RUNS,
    ),
    row(&["tar", "gtar", "bsdtar"], options("", &["new-volume-script"]), RUNS),
    row(&["tar", "gtar", "bsdtar"], Check::First("IF"), RUNS),
    row(
        &["ssh", "scp", "sftp"],
        Check::Contains(&["proxycommand", "localcommand", "knownhostscommand", "proxyusefdpass"]),
        RUNS,
    ),
    row(
        &["ssh", "scp", "sftp"],
        Check::Contains(&["securitykeyprovider", "pkcs11provider", "include"]),
        RUNS,
    ),
    row(&["ssh", "scp", "sftp"], options("F", &[]), READS_OPTIONS),
    row(&["ssh"], options("EI", &[]), "it writes a log, or loads a library"),
    row(&["scp", "sftp"], options("SD", &[]), RUNS),
    row(&["ssh-keygen", "ssh-add"], options("DsSPw", &[]), "it loads a library"),
    row(
        &["sed", "gsed"],
        options("if", &["in-place", "file"]),
        "it changes files, or reads its script from one",
    ),
    row(&["sed", "gsed"], Check::Sed, "its script may run programs (`e`) or write files (`w`)"),
    row(
        &["awk", "gawk", "mawk", "nawk"],
        options("fiElD", &["file", "include", "exec", "load", "debug"]),
        CODE,
    ),
    row(&["awk", "gawk", "mawk", "nawk"], Check::Awk, "its program may run others or write files"),
    row(&["sort", "gsort"], options("", &["compress-program"]), RUNS),
    row(&["sort", "gsort"], options("o", &["output"]), WRITES),
    row(&["split", "gsplit"], options("", &["filter"]), RUNS),
    row(
        &["man"],
        options("PHlTXZtC", &["pager", "html", "local-file", "config-file", "gxditview", "ditroff"]),
        RUNS,
    ),
    row(
        &["less", "more", "most"],
        Check::Starts(&["+", "-k", "-o", "-O", "-T", "--lesskey", "--log", "--LOG"]),
        RUNS,
    ),
    row(
        &[
            "vi",
            "vim",
            "view",
            "nvim",
            "ex",
            "ed",
            "emacs",
            "nano",
            "gdb",
            "lldb",
            "sqlite3",
            "ftp",
            "expect",
            "osascript",
        ],
        Check::Every,
        "it can run any command from within",
    ),
    row(&["rg"], options("z", &["pre", "hostname-bin", "search-zip"]), RUNS),
    row(&["ag", "ack", "bat", "batcat", "delta"], options("", &["pager"]), RUNS),
    row(
        &["npm", "pnpm", "yarn", "bun"],
        Check::Starts(&["--prefix", "-C", "--cwd", "--dir"]),
        "it runs scripts of another place",
    ),
    row(
        &["npm", "pnpm", "yarn", "bun"],
        options(
            "",
            &[
                "script-shell",
                "node-options",
                "userconfig",
                "globalconfig",
                "shell",
                "git",
                "editor",
                "viewer",
            ],
        ),
        RUNS,
    ),
    row(
        &["npm", "pnpm", "yarn", "bun"],
        Check::Words(&[
            "run",
            "run-script",
            "exec",
            "x",
            "dlx",
            "explore",
            "init",
            "create",
            "config",
            "set",
            "edit",
        ]),
        "it runs scripts or packages, or changes what is run",
    ),
    row(&["npx", "bunx", "pnpx", "uvx", "pipx"], Check::Every, "it fetches programs and runs them"),
    row(
        &["make", "gmake"],
        options("fICE", &["file", "makefile", "include-dir", "directory", "eval"]),
        "it takes its commands from elsewhere",
    ),
    row(&["make", "gmake"], Check::Assigns, "it changes a variable of the makefile, such as SHELL or CC"),
    row(&["cargo"], options("ZC", &["config", "manifest-path"]), "it changes what is built or run"),
    row(&["cargo"], Check::Starts(&["+"]), "it chooses another toolchain"),
    row(
        &["go"],
        Check::Starts(&["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "-overlay", "-C"]),
        RUNS,
    ),
    row(
        &["go"],
        Check::Words(&["generate", "run", "tool", "env", "telemetry"]),
        "it runs code, or changes what is run",
    ),
    row(
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        Check::Starts(&[
            "-wrapper", "-fplugin", "-B", "-specs", "--specs", "@", "-Xclang", "-load", "--config",
        ]),
        RUNS,
    ),
    row(
        &["ld", "ld.bfd", "ld.lld", "gold"],
        Check::Starts(&["-plugin", "--plugin", "@"]),
        "it loads a library",
    ),
    row(
        &["curl"],
        options(
            "oOKcDJT",
            &[
                "output",
                "remote-name",
                "config",
                "cookie-jar",
                "dump-header",
                "trace",
                "libcurl",
                "engine",
                "upload-file",
                "output-dir",
                "stderr",
                "hsts",
                "alt-svc",
                "etag-save",
            ],
        ),
        "it writes or sends files, or reads more options",
    ),
    row(
        &["wget"],
        options(
            "OPeoaiB",
            &[
                "output-document",
                "directory-prefix",
                "execute",
                "use-askpass",
                "config",
                "post-file",
                "body-file",
                "output-file",
                "append-output",
            ],
        ),
        "it runs, writes or sends more than it is asked to",
    ),
    row(
        &["rsync"],
        options("eM", &["rsh", "rsync-path", "config", "daemon", "remote-option", "write-batch", "log-file"]),
        RUNS,
    ),
    row(&["zip"], Check::Starts(&["-TT", "--unzip-command", "-T", "--test"]), RUNS),
    row(&["tcpdump"], options("zwF", &["postrotate-command"]), RUNS),
    row(&["ip"], Check::Words(&["exec", "-b", "-batch", "-force"]), RUNS),
    row(&["dd"], Check::Starts(&["of="]), WRITES),
    row(&["strace", "ltrace", "time"], options("oO", &["output"]), WRITES),
    row(&["python", "python3", "python2", "pypy3"], options("cmi", &[]), CODE),
    row(
        &["node", "nodejs", "deno"],
        options(
            "epr",
            &["eval", "print", "require", "import", "loader", "experimental-loader", "env-file", "inspect"],
        ),
        CODE,
    ),
    row(&["perl"], options("eEMmIdx", &[]), CODE),
    row(&["ruby"], options("erIC", &["require"]), CODE),
    row(&["php"], options("rBREdzc", &["run", "process-code"]), CODE),
    row(&["lua", "luajit", "tclsh", "Rscript", "R", "julia"], options("ele", &["eval", "load"]), CODE),
    row(
        &["java"],
        Check::Starts(&["-agent", "-javaagent", "-XX:OnError", "-XX:OnOutOfMemoryError", "@", "-XX:Flags"]),
        CODE,
    ),
    row(
        &["sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh"],
        Check::Starts(&["--rcfile", "--init-file"]),
        CODE,
    ),
    row(
        &["sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh"],
        Check::Words(&["-s", "-i", "/dev/stdin"]),
        CODE,
    ),
    row(
        &["openssl"],
        Check::Starts(&["-engine", "-provider", "-config", "-out"]),
        "it loads a library or writes a file",
    ),
    row(&["nmap"], Check::Starts(&["--script", "-o", "--resume", "--datadir"]), CODE),
    row(
        &["psql", "mysql", "mariadb"],
        Check::Contains(&["\\!", "\\o", "\\g", "\\copy", "system", "program"]),
        RUNS,
    ),
    row(&["psql"], options("oLf", &["output", "log-file", "file"]), WRITES),
    row(&["xmllint", "xsltproc"], options("o", &["output", "load-trace"]), WRITES),
    row(&["date", "hostname"], options("sFb", &["set", "file"]), "it changes the system"),
    row(
        &["gh"],
        Check::Words(&["alias", "extension", "ext", "config", "api", "browse"]),
        "it changes what is run, or asks anything of the service",
    ),
];
