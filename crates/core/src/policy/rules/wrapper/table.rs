//! The table of wrappers and their options.

/// What stands behind a wrapper's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A command, word by word.
    Command,
    /// Variables to set, then a command.
    Assigns,
    /// A command to which more arguments are added.
    Extended,
    /// Words that are joined to a line for a shell.
    Joined,
    /// A line in each word.
    Lines,
    /// Arguments for a program that an option names, or else for this one, among further options.
    Arguments(Option<&'static str>),
    /// Nothing that runs.
    Nothing,
}

/// A wrapper and its options.
pub(super) struct Wrapper {
    pub(super) names: &'static [&'static str],
    /// Subcommands, of which the first operand must be one if there are any.
    pub(super) subcommands: &'static [&'static str],
    /// Short options without and with a value; `-` if that is none of the operands.
    pub(super) flags: &'static str,
    pub(super) values: &'static str,
    /// Short options whose value is attached or not there.
    pub(super) attached: &'static str,
    /// Long options without and with a value in the next argument. A value behind `=` needs no entry.
    pub(super) long_flags: &'static [&'static str],
    pub(super) long_values: &'static [&'static str],
    /// Options with more than one value.
    pub(super) several: &'static [(&'static str, usize)],
    /// Options whose value is a shell line.
    pub(super) lines: &'static [&'static str],
    /// Options whose value is a program.
    pub(super) programs: &'static [&'static str],
    /// Arguments before the command.
    pub(super) operands: usize,
    pub(super) rest: Rest,
}

pub(super) const PLAIN: Wrapper = Wrapper {
    names: &[],
    subcommands: &[],
    flags: "",
    values: "",
    attached: "",
    long_flags: &[],
    long_values: &[],
    several: &[],
    lines: &[],
    programs: &[],
    operands: 0,
    rest: Rest::Command,
};

/// Wrappers that run programs from anywhere.
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["env"],
        flags: "i0v-",
        values: "uC",
        long_flags: &["ignore-environment", "null", "debug", "list-signal-handling"],
        long_values: &["unset", "chdir"],
        rest: Rest::Assigns,
        ..PLAIN
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        flags: "vfp",
        values: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { names: &["nice"], values: "n", long_values: &["adjustment"], ..PLAIN },
    Wrapper {
        names: &["ionice"],
        flags: "t",
        values: "cnpPu",
        long_flags: &["ignore"],
        long_values: &["class", "classdata", "pid"],
        ..PLAIN
    },
    Wrapper { names: &["setsid"], flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper { names: &["stdbuf"], values: "ioe", long_values: &["input", "output", "error"], ..PLAIN },
    Wrapper {
        names: &["xargs", "gxargs"],
        flags: "0prtox",
        values: "aEILnPsdJRS",
        attached: "eil",
        long_flags: &[
            "null",
            "interactive",
            "no-run-if-empty",
            "verbose",
            "exit",
            "open-tty",
            "show-limits",
            "eof",
            "max-lines",
            "replace",
        ],
        long_values: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
        rest: Rest::Extended,
        ..PLAIN
    },
    Wrapper {
        names: &["sudo"],
        flags: "AbEHKknPSB-",
        values: "ughpCrtTUDR",
        long_flags: &[
            "preserve-env",
            "non-interactive",
            "background",
            "set-home",
            "stdin",
            "reset-timestamp",
        ],
        long_values: &["user", "group", "host", "prompt", "chdir", "chroot", "close-from", "command-timeout"],
        rest: Rest::Assigns,
        ..PLAIN
    },
    Wrapper { names: &["doas"], flags: "nLs", values: "uCa", ..PLAIN },
    Wrapper {
        names: &["su", "runuser"],
        flags: "lmpfP-",
        values: "gGw",
        long_flags: &["login", "preserve-environment", "fast", "pty"],
        long_values: &["group", "supp-group", "whitelist-environment"],
        lines: &["-c", "--command", "--session-command"],
        programs: &["-s", "--shell"],
        operands: 1,
        rest: Rest::Arguments(Some("sh")),
        ..PLAIN
    },
    Wrapper { names: &["sg"], flags: "-", lines: &["-c"], operands: 1, rest: Rest::Joined, ..PLAIN },
    Wrapper { names: &["chpst"], flags: "vVP012", values: "uUbe/nlLmdofpcrtC", ..PLAIN },
    Wrapper {
        names: &["proot"],
        flags: "0",
        values: "rbmwvkiRS",
        long_flags: &["root-id"],
        long_values: &["rootfs", "bind", "mount", "pwd", "cwd", "verbose", "kernel-release", "change-id"],
        lines: &["-q", "--qemu"],
        ..PLAIN
    },
    Wrapper {
        names: &["start-stop-daemon"],
        flags: "SKTHVbCmtoqv",
        values: "pnugcsrdNPIkOR",
        long_flags: &[
            "start",
            "stop",
            "status",
            "background",
            "notify-await",
            "no-close",
            "make-pidfile",
            "remove-pidfile",
            "test",
            "oknodo",
            "quiet",
            "verbose",
        ],
        long_values: &[
            "pid",
            "ppid",
            "pidfile",
            "name",
            "user",
            "group",
            "chuid",
            "signal",
            "chroot",
            "chdir",
            "nicelevel",
            "procsched",
            "iosched",
            "umask",
            "notify-timeout",
            "output",
            "retry",
        ],
        programs: &["-x", "--exec", "-a", "--startas"],
        rest: Rest::Arguments(None),
        ..PLAIN
    },
    Wrapper {
        names: &["ld.so"],
        long_flags: &["list", "verify", "inhibit-cache", "list-tunables", "list-diagnostics"],
        long_values: &[
            "library-path",
            "glibc-hwcaps-prepend",
            "glibc-hwcaps-mask",
            "inhibit-rpath",
            "audit",
            "preload",
            "argv0",
        ],
        ..PLAIN
    },
    Wrapper { names: &["ssh-agent"], flags: "csDdkTUu", values: "aEOPt", ..PLAIN },
    Wrapper { names: &["logsave"], flags: "asv", operands: 1, ..PLAIN },
    Wrapper { names: &["chronic"], flags: "ev", ..PLAIN },
    Wrapper { names: &["ifne"], flags: "n", ..PLAIN },
    Wrapper { names: &["busybox", "toybox", "nohup", "fakeroot", "unbuffer", "torsocks"], ..PLAIN },
    Wrapper {
        names: &["chroot"],
        long_flags: &["skip-chdir"],
        long_values: &["groups", "userspec"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["unshare"],
        flags: "imnpuUCTfrc",
        values: "RwSG",
        long_flags: &[
            "ipc",
            "mount",
            "net",
            "pid",
            "uts",
            "user",
            "cgroup",
            "time",
            "fork",
            "map-root-user",
            "mount-proc",
            "map-current-user",
            "keep-caps",
            "kill-child",
            "map-auto",
        ],
        long_values: &["root", "wd", "setuid", "setgid", "propagation", "setgroups", "map-user", "map-group"],
        ..PLAIN
    },
    Wrapper {
        names: &["nsenter"],
        flags: "aimnpuUCTFeZ",
        values: "tSG",
        long_flags: &[
            "all",
            "ipc",
            "mount",
            "net",
            "pid",
            "uts",
            "user",
            "cgroup",
            "no-fork",
            "preserve-credentials",
        ],
        long_values: &["target", "setuid", "setgid"],
        ..PLAIN
    },
    Wrapper {
        names: &["flock"],
        flags: "sxeunoFv",
        values: "wE",
        long_flags: &["shared", "exclusive", "unlock", "nonblock", "close", "no-fork", "verbose"],
        long_values: &["timeout", "wait", "conflict-exit-code"],
        lines: &["-c", "--command"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["watch"],
        flags: "bcCdeghptwx",
        values: "nqs",
        long_flags: &["beep", "color", "differences", "errexit", "chgexit", "precise", "no-title", "exec"],
        long_values: &["interval", "equexit"],
        rest: Rest::Joined,
        ..PLAIN
    },
    Wrapper {
        names: &["time", "gtime"],
        flags: "apqvV",
        values: "fo",
        long_flags: &["append", "portability", "quiet", "verbose"],
        long_values: &["format", "output"],
        ..PLAIN
    },
    Wrapper {
        names: &["parallel"],
        flags: "0kqtuX",
        values: "jaINnL",
        long_flags: &["keep-order", "dry-run", "null", "will-cite", "line-buffer", "ungroup", "bar"],
        long_values: &["jobs", "arg-file", "delay", "timeout", "joblog", "colsep"],
        rest: Rest::Joined,
        ..PLAIN
    },
    Wrapper {
        names: &["strace", "ltrace"],
        flags: "cCdDfFhiknqrtTvVwxyYzZ",
        values: "abeEIoOpPsSuUX",
        ..PLAIN
    },
    Wrapper {
        names: &["script"],
        flags: "aefqt",
        values: "EIoOTBm",
        long_flags: &["append", "return", "flush", "force", "quiet"],
        lines: &["-c", "--command"],
        rest: Rest::Nothing,
        ..PLAIN
    },
    Wrapper {
        names: &["ssh"],
        flags: "46AaCfGgKkMNnqsTtVvXxYy",
        values: "BbcDEeFIiJLlmOoPpQRSWw",
        operands: 1,
        rest: Rest::Joined,
        ..PLAIN
    },
    Wrapper { names: &["taskset", "chrt", "setarch"], operands: 1, ..PLAIN },
    Wrapper {
        names: &[
            "prlimit",
            "setpriv",
            "systemd-run",
            "linux32",
            "linux64",
            "numactl",
            "valgrind",
            "rlwrap",
            "bwrap",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["firejail", "proxychains", "proxychains4", "xvfb-run", "dbus-run-session", "entr"],
        ..PLAIN
    },
];

/// `runuser` with `-u`: a command, and no shell.
pub(super) const RUNUSER: Wrapper = Wrapper {
    names: &["runuser"],
    flags: "lmpfP-",
    values: "gGsuw",
    long_flags: &["login", "preserve-environment", "fast", "pty"],
    long_values: &["group", "supp-group", "shell", "user", "whitelist-environment"],
    lines: &["-c", "--command", "--session-command"],
    ..PLAIN
};

/// Words of a shell that run what stands behind them.
pub(super) const IN_LINES: &[Wrapper] = &[
    Wrapper { names: &["command"], flags: "pvV", ..PLAIN },
    Wrapper { names: &["exec"], flags: "cl", values: "a", ..PLAIN },
    Wrapper { names: &["builtin", "nocorrect", "noglob", "-"], ..PLAIN },
    // `jobs -x`; without it the operands are jobs, which no rule names.
    Wrapper { names: &["jobs"], flags: "lnprsx", ..PLAIN },
    Wrapper { names: &["repeat"], operands: 1, ..PLAIN },
];
