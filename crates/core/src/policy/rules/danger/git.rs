//! git: options that run programs, and subcommands that may be aliases.
//!
//! An alias is a subcommand that git itself does not have, and an alias may run anything. So a subcommand that is not
//! listed here counts as one.

use super::{has_long, has_short};

/// Subcommands that look and record, and whose own options are checked below.
const KNOWN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "prune",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// Subcommands that run programs, or change what git will run.
const RUNNING: &[(&str, &str)] = &[
    ("bisect", "`git bisect run` runs a command"),
    ("config", "it changes what git will run"),
    ("credential", "it runs credential helpers"),
    ("daemon", "it serves repositories"),
    ("difftool", "it runs another program"),
    ("filter-branch", "it runs shell commands"),
    ("for-each-repo", "it runs commands in other repositories"),
    ("hook", "it runs hooks"),
    ("instaweb", "it runs a web server"),
    ("maintenance", "it registers background work"),
    ("mergetool", "it runs another program"),
    ("send-email", "it runs other programs"),
    ("submodule", "`git submodule foreach` runs a command"),
];

const RUNS: &str = "it makes git run another program";

pub(super) fn check(args: &[Vec<u8>], put: &mut impl FnMut(usize, &'static str)) {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match arg.as_slice() {
            b"-C" => at += 1,
            b"--no-pager" | b"-P" | b"--bare" | b"--no-optional-locks" | b"--literal-pathspecs" => {}
            b"--no-replace-objects" | b"--version" | b"--help" | b"-v" | b"-h" | b"--no-lazy-fetch" => {}
            b"-c" | b"--config-env" => {
                put(at, "it changes git's configuration, which can name programs to run");
                at += 1;
            }
            b"--git-dir" | b"--work-tree" | b"--namespace" | b"--super-prefix" | b"--attr-source" => {
                put(at, "it makes git read another place's configuration");
                at += 1;
            }
            [b'-', ..] => put(at, "it changes git's configuration or the programs that it runs"),
            _ => return subcommand(args, at, put),
        }
        at += 1;
    }
}

fn subcommand(args: &[Vec<u8>], at: usize, put: &mut impl FnMut(usize, &'static str)) {
    let name = String::from_utf8_lossy(&args[at]);
    if let Some((_, why)) = RUNNING.iter().find(|(known, _)| *known == name) {
        put(at, why);
    } else if !KNOWN.contains(&&*name) {
        put(at, "it may be an alias, and an alias can run anything");
    }
    for (n, arg) in args.iter().enumerate().skip(at + 1) {
        if let Some(why) = option(&name, arg) {
            put(n, why);
        }
    }
}

fn option(subcommand: &str, arg: &[u8]) -> Option<&'static str> {
    const LONG: &[&str] = &[
        "upload-pack",
        "receive-pack",
        "exec",
        "ext-diff",
        "open-files-in-pager",
        "extcmd",
        "template",
        "config",
    ];
    let short = match subcommand {
        "clone" => "uc",
        "rebase" => "x",
        "grep" => "O",
        "archive" => "o",
        _ => "",
    };
    if has_long(arg, LONG) || has_short(arg, short) {
        return Some(RUNS);
    }
    if has_long(arg, &["output", "output-directory"])
        && matches!(subcommand, "diff" | "log" | "show" | "archive")
    {
        return Some("it writes a file of its choice");
    }
    // `ext::sh -c …` is an address that is a command.
    let is_command = arg.starts_with(b"ext::") || arg.starts_with(b"fd::");
    is_command.then_some("this address is a command")
}
